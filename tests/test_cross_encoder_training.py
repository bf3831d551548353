"""Training a cross-encoder: losses, head, layers, both orders, weights, truncation."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from augsbert_core.errors import WorkbenchError
from augsbert_core.metrics import spearman
from augsbert_core.models import truncation
from augsbert_core.models.catalog import load_bi_encoder, load_cross_encoder
from augsbert_core.models.labeling import label_batches, load_labeler
from augsbert_core.models.model_folders import count_hidden, count_layers, count_outputs
from augsbert_core.pairs import ScoredPairs, TrainingRows
from tests.tiny import tiny_cross_encoder
from tests.tiny_training import DEV, NO_DEV, TRAIN, assert_same_weights, make_base, options, weights
from tests.tiny_training import train as train_any


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> str:
    return make_base(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def encoder(base, tmp_path_factory) -> str:
    """A sentence encoder: it pools its tokens."""
    folder = str(tmp_path_factory.mktemp("encoder"))
    load_bi_encoder(base, "cpu").save_pretrained(folder, create_model_card=False)
    return folder


def told(base: str, **changes):
    return options("cross_encoder", base, **changes)


def train(chosen, folder: Path, data=TRAIN, **kwargs):
    return train_any("cross_encoder", chosen, folder, data, **kwargs)


def scores_of(folder: Path, pairs: ScoredPairs) -> np.ndarray:
    """What the saved model says when it is loaded as a labeler."""
    scores = np.zeros(len(pairs))
    labeler = load_labeler(str(folder / "model"), "cpu")
    for places, _, values in label_batches(labeler, pairs.sentences1, pairs.sentences2):
        scores[places] = values
    return scores


def classes(data: ScoredPairs) -> ScoredPairs:
    return replace(data, scores=(data.scores > 0.3).astype(float))


def searches(n: int) -> ScoredPairs:
    """Queries with four candidates each."""
    queries = TRAIN.sentences1[:n]
    first = [query for query in queries for _ in range(4)]
    scores = [
        len(set(a.split()) & set(b.split())) / 10 + 0.01 * (place % 4)
        for place, (a, b) in enumerate(zip(first, TRAIN.sentences2[: 4 * n], strict=True))
    ]
    return ScoredPairs(first, TRAIN.sentences2[: 4 * n], np.array(scores))


@pytest.mark.parametrize("loss", ["mse", "ranknet", "lambda", "listnet"])
def test_each_loss_trains_a_labeler(loss, encoder, tmp_path):
    result = train(told(encoder, loss=loss), tmp_path, searches(10), dev=NO_DEV)
    assert result.n_rows == 40
    assert result.n_steps == 15  # 3 epochs of 5 batches: 8 rows, or 2 queries of 4
    scores = scores_of(tmp_path, searches(10))
    assert 0 <= scores.min() < scores.max() <= 1
    before = weights_of(encoder)
    assert any(not np.array_equal(before[name], value) for name, value in weights(tmp_path).items())


def weights_of(folder: str) -> dict[str, np.ndarray]:
    from safetensors.numpy import load_file

    return load_file(Path(folder) / "model.safetensors")


def test_a_ranking_labeler_says_that_its_score_is_no_gold_score(encoder, tmp_path):
    odd = searches(5) + ScoredPairs(["cat"], ["dog"], np.array([0.5]))
    result = train(told(encoder, loss="listnet", max_steps=2), tmp_path, odd)
    assert result.n_left_out == 1
    assert any("not on the scale of the gold scores" in note for note in result.notes)
    assert any("1 of 21 rows were left out" in note for note in result.notes)


def test_listwise_batches_hold_whole_queries(base):
    from augsbert_core.models.pair_batches import QueryCollator
    from augsbert_core.models.pair_losses import group_by_query
    from augsbert_core.models.tokens import tokenize_rows

    rows = TrainingRows.from_pairs(searches(3))
    model = load_cross_encoder(base, "cpu", for_training=True)
    tokens = tokenize_rows(model, list(zip(*rows.columns(), strict=True)))
    batch = QueryCollator(tokens, rows.labels, group_by_query(rows))([{"row": 2}, {"row": 0}])
    assert batch["label"]["sizes"].tolist() == [4, 4]
    np.testing.assert_allclose(batch["label"]["scores"], rows.labels[[8, 9, 10, 11, 0, 1, 2, 3]])


@pytest.mark.parametrize("kind", ["plain", "pooled"])
def test_a_hidden_layer_in_the_head_is_saved_and_loaded_without_our_code(
    kind, base, encoder, tmp_path
):
    from sentence_transformers import CrossEncoder

    start = base if kind == "plain" else encoder
    result = train(told(start, hidden=200), tmp_path)
    folder = tmp_path / "model"
    assert (count_outputs(folder), count_hidden(folder)) == (1, 200)
    plain = CrossEncoder(str(folder), device="cpu")
    assert [type(module).__name__ for module in plain] == [
        *("Transformer", "Pooling", "Dense", "Dense")
    ]
    assert type(plain[2].activation_function).__name__ == "Tanh"
    assert plain[1].pooling_mode == ("cls" if kind == "plain" else "mean")
    expected = plain.predict(list(zip(DEV.sentences1, DEV.sentences2, strict=True)))
    np.testing.assert_allclose(scores_of(tmp_path, DEV), expected, atol=1e-5)
    assert spearman(DEV.scores, expected) == pytest.approx(result.dev_score, abs=1e-5)


def test_a_trained_head_is_not_thrown_away_for_another(encoder, tmp_path):
    train(told(encoder, hidden=7, max_steps=1), tmp_path)
    trained = str(tmp_path / "model")
    assert load_cross_encoder(trained, "cpu", for_training=True, hidden=7).num_labels == 1
    with pytest.raises(WorkbenchError, match="head with 7 hidden units, so it cannot get 9"):
        load_cross_encoder(trained, "cpu", for_training=True, hidden=9)
    linear = tiny_cross_encoder(tmp_path / "linear")
    with pytest.raises(WorkbenchError, match="with no hidden layer, so it cannot get 9"):
        load_cross_encoder(linear, "cpu", for_training=True, hidden=9)


@pytest.mark.parametrize("hidden", [None, 5])
def test_only_the_first_layers_are_kept(hidden, base, encoder, tmp_path):
    for kind, start in {"plain": base, "pooled": encoder}.items():
        folder = tmp_path / kind
        train(told(start, layers=1, hidden=hidden, max_steps=1), folder)
        assert count_layers(folder / "model", "it") == 1
        kept = {name for name in weights(folder) if "encoder.layer" in name}
        assert kept
        assert all("layer.0." in name for name in kept)
        again = load_cross_encoder(str(folder / "model"), "cpu", for_training=True, layers=1)
        assert again.num_labels == 1
        scores_of(folder, DEV)


def test_both_orders_double_the_rows(base, tmp_path):
    chosen = told(base, both_orders=True, epochs=1)
    result = train(chosen, tmp_path / "both")
    assert (result.n_rows, result.n_steps) == (88, 11)
    turned = ScoredPairs(TRAIN.sentences2, TRAIN.sentences1, TRAIN.scores)
    train(replace(chosen, both_orders=False), tmp_path / "by-hand", TRAIN + turned)
    assert_same_weights(tmp_path / "both", tmp_path / "by-hand")


@pytest.mark.parametrize("loss", ["bce", "mse"])
def test_rows_of_weight_zero_teach_nothing(loss, base, tmp_path):
    """In one batch, without decay: the same as if they were not there, at half the pace of the loss."""
    wrong = replace(TRAIN, scores=1 - TRAIN.scores)
    weightless = TrainingRows.from_pairs(TRAIN) + TrainingRows.from_pairs(wrong, weight=0.0)
    chosen = told(base, loss=loss, max_steps=3, batch_size=88, warmup_ratio=0.0)
    losses: dict[str, list[float]] = {"weighed": [], "alone": []}

    def listen(name: str):
        def report(fraction, message, metrics=None, step=None):
            if metrics and "loss" in metrics:
                losses[name].append(metrics["loss"])

        return report

    still = without_dropout(base, tmp_path / "still")
    for name, data in {"weighed": weightless, "alone": TRAIN}.items():
        folder = tmp_path / name
        train(replace(chosen, base=still), folder, data, dev=NO_DEV, report=listen(name))
    np.testing.assert_allclose(2 * np.array(losses["weighed"]), losses["alone"], rtol=1e-2)


def without_dropout(base: str, folder: Path) -> str:
    import shutil

    shutil.copytree(base, folder)
    config = json.loads((folder / "config.json").read_text())
    config |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (folder / "config.json").write_text(json.dumps(config))
    return str(folder)


def test_the_weight_of_positives_is_computed_reported_and_used(base, tmp_path):
    data = classes(TRAIN)
    n_positives = int(data.scores.sum())
    chosen = told(base, max_steps=4)
    for name, pos_weight in (("weighed", True), ("plain", False)):
        result = train(
            replace(chosen, pos_weight=pos_weight), tmp_path / name, data, task="classification"
        )
        expected = (len(data) - n_positives) / n_positives
        assert result.pos_weight == (pytest.approx(expected) if pos_weight else None)
    assert expected > 1.5
    higher = scores_of(tmp_path / "weighed", DEV) > scores_of(tmp_path / "plain", DEV)
    assert higher.mean() > 0.9


def test_a_weight_of_positives_on_graded_scores_is_refused_before_anything_is_loaded(tmp_path):
    chosen = told("no/such-model", pos_weight=True)
    with pytest.raises(WorkbenchError, match="graded scores"):
        train(chosen, tmp_path)


# --- truncation ------------------------------------------------------------------------------------


def test_the_share_of_pairs_that_are_too_long_is_counted_with_the_special_tokens(base):
    pairs = [("cat " * words, "dog") for words in (1, 5, 6, 20)]  # 5, 9, 10 and 24 tokens
    assert truncation.truncated_share(base, pairs, 9) == 0.5
    assert truncation.truncated_share(base, pairs, 10) == 0.25
    assert (
        truncation.truncated_share(base, [("cat " * 80, "dog")], 500) == 1.0
    )  # the model reads 64
    assert truncation.truncated_share(base, [], 9) == 0.0


def test_counting_tokens_needs_no_torch(base):
    import subprocess
    import sys

    program = (
        "import sys; from augsbert_core.models.truncation import truncated_share\n"
        f"truncated_share({base!r}, [('cat', 'dog')], 9); print('torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


def test_training_says_when_many_pairs_lose_their_end(base, tmp_path):
    messages: list[str] = []

    def report(fraction, message, metrics=None, step=None):
        messages.append(message)

    chosen = told(base, max_steps=1, max_length=9)
    result = train(chosen, tmp_path / "short", report=report)
    pairs = list(zip(TRAIN.sentences1, TRAIN.sentences2, strict=True))
    assert result.truncated_share == truncation.truncated_share(base, pairs, 9) > 0.03
    assert any("are longer than the 9 tokens" in note for note in result.notes)
    assert any("are longer than the 9 tokens" in message for message in messages)

    messages.clear()
    result = train(replace(chosen, max_length=64), tmp_path / "long", report=report)
    assert result.truncated_share == 0
    assert result.notes == ()
    assert not any("longer" in message for message in messages)


# --- pausing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["bce", "lambda"])
def test_a_paused_training_goes_on_as_if_it_had_never_stopped(loss, encoder, tmp_path):
    """Dropout on, batches by length: the weights in the end are those of an uninterrupted training."""
    chosen = told(encoder, loss=loss, hidden=5)
    data = searches(10)
    train(chosen, tmp_path / "whole", data)
    paused = train(chosen, tmp_path / "paused", data, stop_at=0.4)
    assert paused.n_steps == 6
    assert not (tmp_path / "paused" / "model").exists()
    train(chosen, tmp_path / "paused", data)
    assert_same_weights(tmp_path / "whole", tmp_path / "paused")
