"""nDCG against scikit-learn, reciprocal rank, recall, and intervals over queries."""

import numpy as np
import pytest
from sklearn.metrics import ndcg_score

from augsbert_core.metrics.ranking import (
    ndcg,
    query_difference,
    query_mean,
    recall,
    reciprocal_rank,
)


@pytest.mark.parametrize("seed", range(20))
def test_ndcg_equals_that_of_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    gains = rng.choice([0.0, 0.2, 0.5, 1.0], size=30) + 0.1 * (np.arange(30) == 0)
    scores = rng.permutation(30).astype(float)
    for k in (1, 5, 10, 30):
        expected = ndcg_score([gains], [scores], k=k)
        assert ndcg(gains[np.argsort(-scores)], gains, k) == pytest.approx(expected, abs=1e-12)


def test_a_list_that_misses_judged_items_cannot_reach_one() -> None:
    """The items that were not found stand last for scikit-learn."""
    gains, scores = np.array([1.0, 0.0, 0.8, 0.5]), np.array([4.0, 3.0, 0.0, 0.0])
    found = ndcg(np.array([1.0, 0.0]), gains, 2)
    assert found == pytest.approx(ndcg_score([gains], [scores], k=2))
    assert found is not None
    assert found < 1


def test_ndcg_without_a_gain_is_undefined() -> None:
    assert ndcg(np.zeros(3), np.zeros(3)) is None


def test_reciprocal_rank_and_recall() -> None:
    assert reciprocal_rank(np.array([False, False, True, True])) == pytest.approx(1 / 3)
    assert reciprocal_rank(np.array([False])) == 0.0
    assert recall(np.array([True, False, True]), 4) == 0.5
    assert recall(np.array([False]), 0) is None


def test_a_paired_difference_is_sharper_than_two_intervals() -> None:
    rng = np.random.default_rng(0)
    hard = rng.uniform(0, 1, 300)
    better = np.clip(hard + rng.normal(0.05, 0.05, 300), 0, 1)
    first, second = query_mean(better, seed=1), query_mean(hard, seed=1)
    gap = query_difference(better, hard, seed=1)
    assert first is not None
    assert second is not None
    assert gap is not None
    assert first.low < second.high  # the two intervals overlap ...
    assert gap.low > 0
    assert gap.p < 0.001
    assert gap.difference == pytest.approx(first.value - second.value)


def test_intervals_cover_the_true_mean_about_as_often_as_they_say() -> None:
    rng = np.random.default_rng(3)
    covered = 0
    for number in range(200):
        mean = query_mean(rng.beta(2, 2, 60), resamples=400, seed=number)
        assert mean is not None
        covered += mean.low <= 0.5 <= mean.high
    assert 0.89 <= covered / 200 <= 0.99


def test_no_queries_have_no_mean() -> None:
    assert query_mean(np.zeros(0), seed=0) is None
    assert query_difference(np.zeros(0), np.zeros(0), seed=0) is None
