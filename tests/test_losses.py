"""The losses of a bi-encoder: which rows they read, and that training with them works."""

from dataclasses import replace

import numpy as np
import pytest

from augsbert_core.errors import WorkbenchError
from augsbert_core.models.losses import LOSSES, WEIGHTED_LOSSES, build_loss, rows_for
from augsbert_core.options import BiEncoderOptions
from augsbert_core.pairs import ScoredPairs, TrainingRows
from tests.tiny import tiny_pairs
from tests.tiny_training import DEV, make_base, nli_rows, options, train, triplet_rows

PAIRS = TrainingRows.from_pairs(
    ScoredPairs(
        ["cat", "cat", "cat", "dog", "bird"],
        ["kitten", "tiger", "car", "puppy", "plane"],
        np.array([0.9, 0.5, 0.1, 0.8, 0.2]),
    )
)
NLI = TrainingRows(
    ["p", "yes", "no", "perhaps", "q", "true"],
    np.array([[0, 0, 0, 4], [1, 2, 3, 5]]),
    np.array([1, 0, 2, 1]),
)
TRIPLETS = TrainingRows(["a", "b", "c"], np.array([[0], [1], [2]]), np.zeros(1))


def told(**changes) -> BiEncoderOptions:
    return replace(BiEncoderOptions(), **changes)


def rows_read(loss: str, rows: TrainingRows, **changes) -> list[tuple[str, ...]]:
    return list(zip(*rows_for(loss, rows, told(**changes)).columns(), strict=True))


# --- which rows ------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["cosine", "cosent", "angle"])
def test_losses_on_scores_read_all_scored_pairs(loss):
    chosen = rows_for(loss, PAIRS, told())
    assert chosen.columns() == PAIRS.columns()
    assert chosen.labels.tolist() == PAIRS.labels.tolist()


def test_symmetric_adds_the_pairs_the_other_way_round():
    chosen = rows_for("cosine", PAIRS, told(symmetric=True))
    first, second = PAIRS.columns()
    assert chosen.columns() == [first + second, second + first]
    assert chosen.labels.tolist() == [*PAIRS.labels, *PAIRS.labels]


def test_a_ranking_loss_reads_positives_only():
    assert rows_read("mnrl", PAIRS) == [("cat", "kitten"), ("dog", "puppy")]
    assert rows_read("mnrl", PAIRS, positive_from=0.5)[1] == ("cat", "tiger")
    assert len(rows_read("mnrl", PAIRS, symmetric=True)) == 4
    # Sentences of other pairs are not even tokenised.
    assert rows_for("mnrl", PAIRS, told()).texts == ["cat", "dog", "kitten", "puppy"]


@pytest.mark.parametrize(("loss", "hard"), [("mnrl", True), ("triplet", False)])
def test_hard_negatives_are_low_pairs_of_the_same_anchor(loss, hard):
    """dog has no negative, so its positive stays out; tiger lies in between and never enters."""
    assert rows_read(loss, PAIRS, hard_negatives=hard) == [("cat", "kitten", "car")]


def test_either_sentence_of_a_scored_pair_may_be_the_anchor():
    pairs = ScoredPairs(["b", "n"], ["a", "a"], np.array([0.9, 0.1]))
    rows = TrainingRows.from_pairs(pairs)
    assert rows_read("triplet", rows) == [("a", "b", "n")]


def test_the_negatives_of_an_anchor_take_turns_the_hardest_first():
    pairs = ScoredPairs(
        ["a"] * 5, ["p1", "p2", "p3", "n1", "n2"], np.array([0.8, 0.9, 1.0, 0.1, 0.2])
    )
    rows = TrainingRows.from_pairs(pairs)
    assert rows_read("triplet", rows) == [("a", "p1", "n2"), ("a", "p2", "n1"), ("a", "p3", "n2")]


def test_nli_pairs_are_classes_positives_or_triplets():
    chosen = rows_for("softmax", NLI, told(symmetric=True))
    assert chosen.labels.tolist() == [1, 0, 2, 1]  # entailment has a direction: no swapping
    assert rows_read("mnrl", NLI) == [("p", "yes"), ("q", "true")]
    assert rows_read("mnrl", NLI, hard_negatives=True) == [("p", "yes", "no")]
    assert rows_read("triplet", NLI) == [("p", "yes", "no")]


@pytest.mark.parametrize("loss", ["mnrl", "triplet"])
def test_triplets_are_read_as_they_are(loss):
    assert rows_read(loss, TRIPLETS) == [("a", "b", "c")]


@pytest.mark.parametrize(
    ("loss", "rows", "changes", "message"),
    [
        ("hinge", PAIRS, {}, "'hinge' is no loss. Choose one of cosine"),
        ("mnrl", PAIRS, {"positive_from": 0.95}, "none of the 5 pairs .* at least 0.95"),
        ("triplet", PAIRS, {"negative_below": 0.05}, "three columns.* 2 positives and 0 neg"),
        ("mnrl", PAIRS, {"positive_from": 0.2, "hard_negatives": True}, "would be both"),
        ("softmax", PAIRS, {}, "these rows have scores"),
        ("cosine", NLI, {}, "NLI pairs with classes"),
        ("cosent", TRIPLETS, {}, "rows are triplets"),
        ("softmax", replace(NLI, labels=np.array([1, 0, 3, 1])), {}, "there is a 3"),
        ("cosent", replace(PAIRS, weights=np.full(5, 0.5)), {}, "weight other than 1 .0.5."),
        ("cosine", replace(PAIRS, weights=np.zeros(5)), {}, "not all 0"),
    ],
)
def test_rows_that_do_not_suit_the_loss_are_refused_with_the_reason(loss, rows, changes, message):
    with pytest.raises(WorkbenchError, match=message):
        rows_for(loss, rows, told(**changes))


def test_weights_of_one_are_no_weights():
    assert rows_for("cosent", replace(PAIRS, weights=np.ones(5)), told()).weights is None
    assert set(WEIGHTED_LOSSES) <= set(LOSSES)


# --- batches ---------------------------------------------------------------------------------------


def test_no_sentence_occurs_twice_in_a_batch_of_a_ranking_loss():
    from augsbert_core.models.trainer import DistinctBatchSampler

    rng = np.random.default_rng(0)
    places = rng.integers(0, 60, size=(3, 205))
    lengths = rng.integers(3, 40, size=205)

    def batches(seed: int, epoch: int) -> list[list[int]]:
        sampler = DistinctBatchSampler(range(205), 8, lengths=lengths, places=places, seed=seed)
        sampler.set_epoch(epoch)
        assert len(list(sampler)) == len(sampler) == 26
        return list(sampler)

    for epoch in range(3):
        made = batches(1, epoch)
        drawn = [row for batch in made for row in batch]
        assert len(set(drawn)) == len(drawn) > 195
        for batch in made:
            sentences = [set(places[:, row]) for row in batch]
            assert sum(map(len, sentences)) == len(set.union(*sentences))
    assert batches(1, 0) == batches(1, 0) != batches(1, 1)


def test_an_anchor_of_all_rows_leaves_one_row_per_batch():
    from augsbert_core.models.trainer import DistinctBatchSampler

    places = np.array([[0] * 6, range(1, 7)])
    sampler = DistinctBatchSampler(range(6), 4, lengths=np.ones(6), places=places)
    assert [len(batch) for batch in sampler] == [1, 1]


# --- values ----------------------------------------------------------------------------------------


def loss_of(rows: TrainingRows, embeddings: np.ndarray) -> float:
    """The cosine loss of a batch that holds all rows. embeddings: one per text."""
    import torch

    from augsbert_core.models.bi_encoder import _mean_one
    from augsbert_core.models.trainer import EmbeddingLoss

    class Model(torch.nn.Module):
        def forward(self, features):
            return {"sentence_embedding": features["given"]}

    model = Model()
    chosen = rows_for("cosine", rows, told())
    given = torch.from_numpy(embeddings[rows.places.reshape(-1)])
    labels = {"values": torch.from_numpy(chosen.labels)}
    weights = _mean_one(chosen.weights)
    if weights is not None:
        labels["weights"] = torch.from_numpy(weights)
    loss = EmbeddingLoss(model, build_loss("cosine", model, told(), chosen))
    return float(loss({"given": given}, labels))


def test_rows_of_weight_0_change_nothing_and_weight_2_counts_twice():
    embeddings = np.random.default_rng(0).normal(size=(len(PAIRS.texts), 4))
    weights = np.array([1, 0, 2, 0, 1], dtype=np.float32)
    twice = [0, 2, 2, 4]
    without = TrainingRows(PAIRS.texts, PAIRS.places[:, twice], PAIRS.labels[twice])
    weighted = loss_of(replace(PAIRS, weights=weights), embeddings)
    assert weighted == pytest.approx(loss_of(without, embeddings), rel=1e-6)
    assert weighted != pytest.approx(loss_of(PAIRS, embeddings), rel=1e-2)


# --- training --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> str:
    return make_base(tmp_path_factory.mktemp("base"))


SCORED = TrainingRows.from_pairs(tiny_pairs(48, 1))


@pytest.mark.parametrize(
    ("loss", "rows"),
    [
        ("cosine", replace(SCORED, weights=np.linspace(0.5, 1.5, 48))),
        ("cosent", SCORED),
        ("angle", SCORED),
        ("mnrl", triplet_rows(48)),
        ("softmax", nli_rows(48)),
        ("triplet", triplet_rows(48)),
    ],
)
def test_training_lowers_every_loss(loss, rows, base, tmp_path):
    losses = []

    def report(fraction, message, metrics=None, step=None):
        if metrics and "loss" in metrics:
            losses.append(metrics["loss"])

    chosen = options("bi_encoder", base, loss=loss, epochs=6, learning_rate=3e-3)
    result = train("bi_encoder", chosen, tmp_path, rows, DEV, report=report)
    assert (result.n_rows, result.n_steps) == (48, 36)
    assert np.mean(losses[-6:]) < np.mean(losses[:6])
    assert (tmp_path / "model" / "model.safetensors").is_file()
    assert not list((tmp_path / "model").rglob("loss*"))
