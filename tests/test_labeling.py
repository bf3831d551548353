"""Labelling: every pair once, longest first, one sigmoid, in float32; calibrated cosines and averages."""

import numpy as np
import pytest

from augsbert_core.calibration import calibrate, cross_calibrated
from augsbert_core.errors import Stopped, WorkbenchError
from augsbert_core.models import inference
from augsbert_core.models.catalog import load_bi_encoder
from augsbert_core.models.labeling import (
    Labeler,
    LabelerPart,
    ScoredBatch,
    label_batches,
    labeler_facts,
    load_labeler,
    score_batches,
)
from tests.tiny import tiny_bert, tiny_cross_encoder, tiny_pairs, tiny_texts


@pytest.fixture(scope="module")
def labeler(tmp_path_factory) -> Labeler:
    return load_labeler(tiny_cross_encoder(tmp_path_factory.mktemp("labeler")), "cpu")


def all_batches(labeler, first, second, **kwargs):
    batches = list(label_batches(labeler, first, second, **kwargs))
    return [np.concatenate([batch[i] for batch in batches]) for i in range(3)]


def test_every_pair_is_scored_exactly_once(labeler):
    first, second = tiny_texts(150, 1), tiny_texts(150, 2)
    positions, logits, scores = all_batches(labeler, first, second, batch_size=8)
    assert sorted(positions) == list(range(150))
    assert logits.dtype == scores.dtype == np.float32
    assert ((scores >= 0) & (scores <= 1)).all()


def test_scores_are_the_models_own_and_do_not_depend_on_the_batch(labeler):
    from sentence_transformers import CrossEncoder

    first, second = tiny_texts(40, 1), tiny_texts(40, 2)
    plain = CrossEncoder(labeler.location, device="cpu")  # without what makes ours faster
    expected = plain.predict(list(zip(first, second, strict=True)), batch_size=1)
    for batch_size in (1, 7, 64):
        positions, _, scores = all_batches(labeler, first, second, batch_size=batch_size)
        np.testing.assert_allclose(scores, expected[positions], atol=1e-5)


def test_the_sigmoid_is_taken_once_whatever_the_model_was_saved_with(labeler):
    import torch

    first, second = tiny_texts(20, 1), tiny_texts(20, 2)
    _, logits, scores = all_batches(labeler, first, second)
    np.testing.assert_allclose(scores, 1 / (1 + np.exp(-logits.astype(np.float64))), rtol=1e-5)
    labeler.model.activation_fn, saved = torch.nn.Identity(), labeler.model.activation_fn
    try:
        assert np.array_equal(all_batches(labeler, first, second)[2], scores)
    finally:
        labeler.model.activation_fn = saved


def test_strong_pairs_stay_apart():
    """In half precision, logits of 8 and 9 would both become 1."""
    assert len(set(inference.sigmoid(np.array([8.0, 8.5, 9.0, 9.5], dtype=np.float16)))) == 4


def test_long_pairs_come_first(labeler):
    first, second = tiny_texts(100, 3), tiny_texts(100, 4)
    sizes = [len(a) + len(b) for a, b in zip(first, second, strict=True)]
    batches = [
        np.mean([sizes[i] for i in positions])
        for positions, _, _ in label_batches(labeler, first, second, batch_size=10)
    ]
    assert batches[0] > batches[-1]


def test_batches_keep_within_the_tokens_that_suit_a_cpu(labeler, monkeypatch):
    """Large batches of long pairs would be slower there, not faster."""
    monkeypatch.setattr(inference, "CPU_TOKENS", 60)
    texts = [" ".join(["cat"] * words) for words in (1, 2, 12, 12, 27, 40)]
    batches = [positions.tolist() for positions, *_ in label_batches(labeler, texts, texts)]
    # 64 tokens (cut off), 57, twice 27, and 7 with 5.
    assert batches == [[5], [4], [2, 3], [1, 0]]
    assert [len(p) for p, *_ in label_batches(labeler, texts, texts, batch_size=1)] == [1] * 6


def test_stopping_takes_effect_between_batches(labeler):
    texts = tiny_texts(60, 5)
    done: list[int] = []
    batches = label_batches(
        labeler, texts, texts, batch_size=10, should_stop=lambda: len(done) >= 20
    )
    for positions, _, _ in (next(batches), next(batches)):
        done += positions.tolist()
    with pytest.raises(Stopped):
        next(batches)


def test_no_pairs_give_no_batches(labeler):
    assert list(label_batches(labeler, [], [])) == []


@pytest.mark.parametrize("weight", [float("nan"), float("inf")])
def test_a_labeler_with_damaged_weights_is_refused(tmp_path, weight):
    import torch

    damaged = load_labeler(tiny_cross_encoder(tmp_path), "cpu")
    with torch.no_grad():
        damaged.model[0].model.classifier.weight.fill_(weight)
    texts = tiny_texts(5, 6)
    with pytest.raises(WorkbenchError, match=r"labeler .* no finite numbers.* train it again"):
        list(label_batches(damaged, texts, texts))


def test_a_bare_transformer_is_no_labeler(tmp_path):
    with pytest.raises(WorkbenchError, match="no trained head"):
        load_labeler(tiny_bert(tmp_path), "cpu")


# --- calibrated, averaged, in both orders ----------------------------------------------------------

GOLD = tiny_pairs(60, 8)
FIRST, SECOND = tiny_texts(24, 1), tiny_texts(24, 2)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> str:
    return tiny_bert(tmp_path_factory.mktemp("encoder"))


def in_order(batches: list[ScoredBatch], name: str) -> np.ndarray:
    """One column of all batches, in the order of the pairs."""
    positions = np.concatenate([batch.positions for batch in batches])
    assert sorted(positions) == list(range(len(positions)))
    return np.concatenate([getattr(batch, name) for batch in batches])[np.argsort(positions)]


def scored(labeler: Labeler, first=FIRST, second=SECOND) -> dict[str, np.ndarray]:
    batches = list(score_batches(labeler, first, second, batch_size=2))
    return {
        name: in_order(batches, name)
        for name in ("raw", "scores", "order_gaps", "spreads")
        if getattr(batches[0], name) is not None
    }


def test_calibration_is_the_isotonic_regression_of_scikit_learn():
    from sklearn.isotonic import IsotonicRegression

    rng = np.random.default_rng(3)
    cosines, asked = rng.uniform(-1, 1, 200), rng.uniform(-1.5, 1.5, 500)
    gold = np.clip(cosines + rng.normal(0, 0.3, 200), 0, 1)
    expected = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(cosines, gold)
    np.testing.assert_allclose(calibrate(cosines, gold)(asked), expected.predict(asked), atol=1e-6)


def test_a_pair_has_no_say_in_its_own_cross_calibrated_score():
    rng = np.random.default_rng(4)
    cosines = rng.uniform(0, 1, 40)
    gold = np.clip(cosines + rng.normal(0, 0.2, 40), 0, 1)
    before = cross_calibrated(cosines, gold, seed=1)
    gold[7] = 1 - gold[7]
    after = cross_calibrated(cosines, gold, seed=1)
    assert after[7] == before[7]
    assert (after != before).any()


def test_a_bi_encoder_labels_by_its_calibrated_cosine(encoder):
    labeler = load_labeler([LabelerPart(encoder, "bi_encoder", GOLD)], "cpu", None, True)
    plain = load_bi_encoder(encoder, "cpu")
    cosines = inference.pair_cosines(plain, FIRST, SECOND)
    own = inference.pair_cosines(plain, GOLD.sentences1, GOLD.sentences2)
    found = scored(labeler)
    np.testing.assert_allclose(found["raw"], cosines, atol=1e-5)
    np.testing.assert_allclose(
        found["scores"], calibrate(own, GOLD.scores)(found["raw"]), atol=1e-6
    )
    assert set(found) == {"raw", "scores"}  # a cosine has one order only


def test_both_orders_give_the_mean_and_the_gap_between_them(labeler):
    both = scored(Labeler(labeler.scorers, "cpu", both_orders=True))
    there, back = scored(labeler), scored(labeler, SECOND, FIRST)
    np.testing.assert_allclose(both["scores"], (there["scores"] + back["scores"]) / 2, atol=1e-5)
    np.testing.assert_allclose(both["raw"], (there["raw"] + back["raw"]) / 2, atol=1e-4)
    gaps = np.abs(there["scores"] - back["scores"])
    np.testing.assert_allclose(both["order_gaps"], gaps, atol=1e-5)
    assert gaps.max() > 0.001


def test_an_average_is_the_mean_of_its_scorers_with_their_spread(labeler, encoder, tmp_path):
    other = tiny_cross_encoder(tmp_path, seed=5)
    parts = [
        LabelerPart(labeler.location),
        LabelerPart(other),
        LabelerPart(encoder, "bi_encoder", GOLD),
    ]
    found = scored(load_labeler(parts, "cpu", None, True))
    alone = [
        scored(load_labeler([part], "cpu", None, part.kind == "cross_encoder"))["scores"]
        for part in parts
    ]
    np.testing.assert_allclose(found["scores"], np.mean(alone, axis=0), atol=1e-5)
    np.testing.assert_array_equal(found["raw"], found["scores"])
    np.testing.assert_allclose(found["spreads"], np.std(alone, axis=0, ddof=1), atol=1e-5)
    # The mean over all scorers, order by order: a cosine adds nothing to the gap.
    orders = [
        [scored(load_labeler(part.location, "cpu"), *pair)["scores"] for part in parts[:2]]
        for pair in ((FIRST, SECOND), (SECOND, FIRST))
    ]
    gaps = np.abs(np.sum(orders[0], axis=0) - np.sum(orders[1], axis=0)) / 3
    np.testing.assert_allclose(found["order_gaps"], gaps, atol=1e-5)


def test_a_labeler_from_elsewhere_is_looked_at_before_use(labeler, tmp_path):
    facts = labeler_facts(labeler.location, labeler.model)
    assert (facts.n_outputs, facts.activation, facts.max_length) == (1, "Sigmoid", 64)
    assert facts.n_parameters > 1000
    assert facts.n_tokens > 50
    with pytest.raises(WorkbenchError, match="3 outputs"):
        load_labeler(tiny_cross_encoder(tmp_path, outputs=3), "cpu")
