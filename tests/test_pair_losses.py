"""The losses of cross-encoders: what each reads, what it computes, and what it refuses."""

import numpy as np
import pytest

from augsbert_core.errors import WorkbenchError
from augsbert_core.models.pair_losses import (
    MOST_CANDIDATES,
    PAIR_LOSSES,
    check_loss,
    group_by_query,
    positive_weight,
)
from augsbert_core.options import CrossEncoderOptions
from augsbert_core.pairs import ScoredPairs, TrainingRows


def rows_of(*rows: tuple[str, str, float]) -> TrainingRows:
    first, second, scores = zip(*rows, strict=True)
    return TrainingRows.from_pairs(ScoredPairs(list(first), list(second), np.array(scores)))


RANKED = rows_of(
    ("q", "a", 1.0),
    ("alone", "a", 1.0),
    ("q", "b", 0.0),
    ("same", "a", 0.5),
    ("r", "c", 0.2),
    ("q", "c", 0.5),
    ("same", "b", 0.5),
    ("r", "d", 0.9),
)


def tensors(*values):
    import torch

    return [torch.tensor(value, dtype=torch.float32) for value in values]


class Echo:
    """A model whose output is what it is handed."""

    def __new__(cls):
        import torch

        class Module(torch.nn.Module):
            device = torch.device("cpu")

            def forward(self, features):
                return {"scores": features["logits"][:, None]}

        return Module()


def test_rows_are_grouped_by_their_first_sentence_and_useless_ones_left_out():
    queries = group_by_query(RANKED)
    assert queries.rows.tolist() == [0, 2, 5, 4, 7]
    assert queries.starts.tolist() == [0, 3, 5]
    assert queries.sizes().tolist() == [3, 2]
    assert queries.n_left_out == 3  # one candidate only, and two of one score


def test_with_both_orders_second_sentences_are_queries_too():
    queries = group_by_query(RANKED + RANKED.swapped())
    texts = [RANKED.texts[place] for place in (RANKED + RANKED.swapped()).places[0, queries.rows]]
    assert set(texts) == {"q", "r", "a", "b", "c"}  # d is in one pair only
    assert len(queries) == 5


def test_data_without_queries_is_refused_with_the_reason():
    with pytest.raises(WorkbenchError, match="None of the 2 rows has one"):
        group_by_query(rows_of(("a", "b", 1.0), ("c", "d", 0.0)))


def test_a_query_too_large_for_memory_is_named():
    n = MOST_CANDIDATES + 1
    many = rows_of(*((f"a long query {'x' * 99}", f"c{i}", i / n) for i in range(n)))
    with pytest.raises(WorkbenchError, match=r"'a long query xxx.* has 513 candidates"):
        group_by_query(many)


def test_the_weight_of_positives_is_negatives_over_positives():
    assert positive_weight(np.array([1, 0, 0, 0, 1, 0]), "classification") == 2.0


@pytest.mark.parametrize(
    ("labels", "task", "reason"),
    [
        ([1, 0], "regression", "graded scores"),
        ([1, 0, 0.4], "classification", "1 of 3 rows lie between"),
        ([1, 1], "classification", "Both classes are needed"),
    ],
)
def test_a_weight_of_positives_that_makes_no_sense_is_refused(labels, task, reason):
    with pytest.raises(WorkbenchError, match=reason):
        positive_weight(np.array(labels), task)


def test_an_unknown_loss_and_a_weight_without_its_loss_are_refused():
    with pytest.raises(WorkbenchError, match="Choose one of bce, mse, ranknet, lambda, listnet"):
        check_loss(CrossEncoderOptions(loss="hinge"))
    with pytest.raises(WorkbenchError, match="belongs to the loss 'bce', not to 'mse'"):
        check_loss(CrossEncoderOptions(loss="mse", pos_weight=True))


def test_cross_entropy_and_squared_error_are_those_of_the_books():
    from augsbert_core.models.pair_batches import PairLoss

    logits, labels = np.array([2.0, -1.0, 0.5]), np.array([0.9, 0.2, 1.0])
    score = 1 / (1 + np.exp(-logits))
    features, told = {"logits": tensors(logits)[0]}, {"scores": tensors(labels)[0]}

    def loss(name, weight=None, **more):
        return float(PairLoss(Echo(), PAIR_LOSSES[name].build(weight))(features, told | more))

    positive, negative = labels * np.log(score), (1 - labels) * np.log(1 - score)
    assert loss("bce") == pytest.approx(-np.mean(positive + negative), rel=1e-5)
    assert loss("bce", 3.0) == pytest.approx(-np.mean(3 * positive + negative), rel=1e-5)
    assert loss("mse") == pytest.approx(np.mean((score - labels) ** 2), rel=1e-5)
    weights = np.array([1.0, 0.5, 0.0])
    weighed = loss("mse", weights=tensors(weights)[0])
    assert weighed == pytest.approx(np.mean(weights * (score - labels) ** 2), rel=1e-5)


def test_a_ranking_loss_compares_candidates_within_their_query_alone():
    """RankNet: the mean of log2(1 + exp(worse - better)) over the pairs that gold orders."""
    import torch

    from augsbert_core.models.pair_batches import RankingLoss

    logits = np.array(
        [1.0, 0.2, 0.4, -3.0, 5.0]
    )  # the first query has three candidates, the second two
    told = {"scores": tensors([1.0, 0.0, 0.5, 0.2, 0.9])[0], "sizes": torch.tensor([3, 2])}
    found = RankingLoss(Echo(), "ranknet")({"logits": tensors(logits)[0]}, told)
    ordered = [(0, 1), (0, 2), (2, 1), (4, 3)]
    expected = np.mean([np.log2(1 + np.exp(logits[b] - logits[a])) for a, b in ordered])
    assert float(found) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    "name", [name for name, kind in PAIR_LOSSES.items() if kind.reads == "queries"]
)
def test_the_right_order_costs_less_than_the_wrong_one(name):
    import torch

    from augsbert_core.models.pair_batches import RankingLoss

    told = {"scores": tensors([1.0, 0.5, 0.0, 0.9, 0.1])[0], "sizes": torch.tensor([3, 2])}
    right, wrong = ([2.0, 0.0, -2.0, 1.0, -1.0], [-2.0, 0.0, 2.0, -1.0, 1.0])
    loss = RankingLoss(Echo(), name)
    costs = [float(loss({"logits": tensors(logits)[0]}, told)) for logits in (right, wrong)]
    assert costs[0] < costs[1]
    assert not PAIR_LOSSES[name].calibrated
