"""Training: what comes out of it, and small data."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from augsbert_core.errors import WorkbenchError
from augsbert_core.metrics import f1_at, spearman
from augsbert_core.models.catalog import load_bi_encoder, load_cross_encoder
from augsbert_core.models.evaluation import score_pairs
from augsbert_core.models.model_folders import count_layers
from augsbert_core.models.training import TrainingResult, count_steps, dev_steps
from augsbert_core.options import BiEncoderOptions
from augsbert_core.pairs import TrainingRows
from tests.tiny import tiny_pairs
from tests.tiny_training import (
    DEV,
    KINDS,
    NO_DEV,
    TRAIN,
    assert_same_weights,
    make_base,
    options,
    train,
    train_both,
    weights,
)


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> str:
    return make_base(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def uninterrupted(base, tmp_path_factory) -> dict[str, tuple[Path, TrainingResult]]:
    return train_both(base, tmp_path_factory.mktemp("uninterrupted"))


@pytest.mark.parametrize("kind", KINDS)
def test_training_says_what_it_did(kind, uninterrupted):
    _, result = uninterrupted[kind]
    assert result.n_steps == 18
    assert result.metric == "spearman"
    assert result.threshold is None
    assert result.device == "cpu"
    assert result.seconds > 0
    assert result.examples_per_second > 0
    assert result.n_rows == 44
    assert result.dev_score == max(score for _, score in result.dev_curve)
    assert [step for step, _ in result.dev_curve] == [4, 9, 14, 18]


@pytest.mark.parametrize("kind", KINDS)
def test_the_saved_model_scores_what_was_promised(kind, uninterrupted):
    """Also shows that the sigmoid is not doubled and that all words are back in the vocabulary."""
    folder, result = uninterrupted[kind]
    pairs = (DEV.sentences1, DEV.sentences2)
    scores = score_pairs(kind, str(folder / "model"), pairs, device="cpu")
    assert spearman(DEV.scores, scores) == pytest.approx(result.dev_score, abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_model_is_left_and_it_has_no_pickle_and_no_card(kind, uninterrupted):
    folder, _ = uninterrupted[kind]
    assert [path.name for path in folder.iterdir()] == ["model"]
    names = {path.name for path in (folder / "model").rglob("*")}
    assert "model.safetensors" in names
    assert not {name for name in names if name.endswith((".bin", ".pt", ".md"))}


def test_a_trained_cross_encoder_reloads_with_one_output_and_one_sigmoid(uninterrupted):
    folder, _ = uninterrupted["cross_encoder"]
    model = load_cross_encoder(str(folder / "model"), "cpu")
    assert model.num_labels == 1
    assert type(model.activation_fn).__name__ == "Sigmoid"


@pytest.mark.parametrize("kind", KINDS)
def test_rows_train_like_the_pairs_they_were_made_of(kind, base, tmp_path, uninterrupted):
    train(kind, options(kind, base), tmp_path, TrainingRows.from_pairs(TRAIN))
    assert_same_weights(tmp_path, uninterrupted[kind][0])


def test_training_lowers_the_loss(base, tmp_path):
    losses = []

    def report(fraction, message, metrics=None, step=None):
        if metrics and "loss" in metrics:
            losses.append(metrics["loss"])

    train("bi_encoder", options("bi_encoder", base, epochs=8), tmp_path, report=report)
    assert np.mean(losses[-5:]) < np.mean(losses[:5])


def test_a_student_keeps_its_few_layers(base, tmp_path):
    train("bi_encoder", options("bi_encoder", base, layers=1, max_steps=2), tmp_path)
    assert count_layers(tmp_path / "model", "it") == 1
    assert (
        len(load_bi_encoder(str(tmp_path / "model"), "cpu").transformers_model.encoder.layer) == 1
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_best_model_on_dev_is_kept_not_the_last(kind, base, tmp_path):
    reported: dict[int, float] = {}

    def report(fraction, message, metrics=None, step=None):
        if metrics and "dev_score" in metrics:
            reported[step] = metrics["dev_score"]

    # A rate so high that training soon does more harm than good.
    wild = options(kind, base, epochs=4, learning_rate=3e-2, max_steps=20)
    result = train(kind, wild, tmp_path, report=report)
    assert len(reported) == 4
    assert max(reported) == 20
    assert result.dev_score == max(reported.values())
    assert reported[result.best_step] == result.dev_score
    scores = score_pairs(
        kind, str(tmp_path / "model"), (DEV.sentences1, DEV.sentences2), device="cpu"
    )
    assert spearman(DEV.scores, scores) == pytest.approx(result.dev_score, abs=1e-6)


def test_progress_is_told_with_losses_rates_and_dev_scores(base, tmp_path):
    told: list[tuple[float, dict, int]] = []

    def report(fraction, message, metrics=None, step=None):
        assert message
        assert "\n" not in message
        told.append((fraction, metrics or {}, step))

    train("bi_encoder", options("bi_encoder", base), tmp_path, report=report)
    fractions = [fraction for fraction, _, _ in told]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert {name for _, metrics, _ in told for name in metrics} == {
        "loss",
        "learning_rate",
        "dev_score",
    }
    assert all(step for _, metrics, step in told if metrics)


def test_nothing_is_printed(base, tmp_path, capfd):
    train("cross_encoder", options("cross_encoder", base, max_steps=3), tmp_path)
    captured = capfd.readouterr()
    assert captured.out == ""
    assert "Loading weights" not in captured.err


def test_no_global_generator_is_left_changed(base, tmp_path):
    import random

    import torch

    before = random.getstate(), np.random.get_state()[1].copy(), torch.random.get_rng_state()
    train("cross_encoder", options("cross_encoder", base, max_steps=2), tmp_path)
    assert random.getstate() == before[0]
    assert np.array_equal(np.random.get_state()[1], before[1])
    assert torch.equal(torch.random.get_rng_state(), before[2])


def test_the_seed_decides_the_result(base, tmp_path, uninterrupted):
    chosen = options("cross_encoder", base)
    train("cross_encoder", chosen, tmp_path / "same")
    assert_same_weights(tmp_path / "same", uninterrupted["cross_encoder"][0])
    train("cross_encoder", replace(chosen, seed=7), tmp_path / "other")
    one, other = weights(tmp_path / "same"), weights(tmp_path / "other")
    assert any(not np.array_equal(one[name], other[name]) for name in one)


# --- classification --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_classification_keeps_f1_and_the_threshold_it_was_reached_at(kind, base, tmp_path):
    data = replace(TRAIN, scores=(TRAIN.scores > 0.25).astype(float))
    dev = replace(DEV, scores=(DEV.scores > 0.25).astype(float))
    result = train(kind, options(kind, base), tmp_path, data, dev, task="classification")
    assert result.metric == "f1"
    scores = score_pairs(
        kind, str(tmp_path / "model"), (DEV.sentences1, DEV.sentences2), device="cpu"
    )
    assert f1_at(dev.scores, scores, result.threshold) == pytest.approx(result.dev_score, abs=1e-3)


# --- edge cases ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_without_dev_pairs_the_last_model_is_kept(kind, base, tmp_path):
    result = train(kind, options(kind, base, max_steps=5), tmp_path, dev=NO_DEV)
    assert result.dev_score is None
    assert result.threshold is None
    assert result.best_step == result.n_steps == 5
    assert (tmp_path / "model" / "model.safetensors").is_file()


def test_an_undefined_dev_score_never_ranks_best(base, tmp_path):
    """All dev scores equal: Spearman is undefined, and NaN must not win."""
    constant = replace(DEV, scores=np.full(len(DEV), 0.5))
    result = train("bi_encoder", options("bi_encoder", base, max_steps=4), tmp_path, dev=constant)
    assert result.dev_score is None
    assert result.best_step == 4


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 3])
def test_fewer_pairs_than_a_batch_are_enough(kind, n, base, tmp_path):
    result = train(kind, options(kind, base), tmp_path, tiny_pairs(n), tiny_pairs(n))
    assert result.n_steps == 3  # one step per epoch


def test_no_training_pairs_are_a_user_error(base, tmp_path):
    with pytest.raises(WorkbenchError, match="no training pairs"):
        train("bi_encoder", options("bi_encoder", base), tmp_path, data=NO_DEV)


def test_steps_come_from_max_steps_or_from_the_epochs():
    assert count_steps(33, BiEncoderOptions(epochs=2, batch_size=16)) == 6
    assert count_steps(33, BiEncoderOptions(epochs=2, batch_size=16, max_steps=100)) == 100


def test_dev_scores_are_spread_evenly_and_end_with_the_last_step():
    assert dev_steps(100, 16, 150) == {10, 20, 30, 40, 50, 60, 70, 80, 90, 100}
    assert dev_steps(2, 16, 150) == {1, 2}
    assert dev_steps(377, 16, 150) >= {377}
    assert dev_steps(100, 16, 0) == set()


def test_a_large_dev_set_is_scored_less_often():
    """No more dev pairs than training pairs, but never fewer than 3 scores to choose from."""
    assert len(dev_steps(375, 16, 1500)) == 4
    assert dev_steps(30, 16, 1500) == {10, 20, 30}


def test_a_labeler_made_from_a_sentence_encoder_reloads_and_scores_the_same(
    uninterrupted, base, tmp_path
):
    encoder = str(uninterrupted["bi_encoder"][0] / "model")
    chosen = options("cross_encoder", encoder, max_steps=6)
    result = train("cross_encoder", chosen, tmp_path)
    pairs = (DEV.sentences1, DEV.sentences2)
    scores = score_pairs("cross_encoder", str(tmp_path / "model"), pairs, device="cpu")
    assert spearman(DEV.scores, scores) == pytest.approx(result.dev_score, abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_a_training_that_diverges_fails_with_the_reason(
    kind: str, base: str, tmp_path: Path
) -> None:
    with pytest.raises(WorkbenchError, match="diverged"):
        train(kind, options(kind, base, learning_rate=1e36), tmp_path)
