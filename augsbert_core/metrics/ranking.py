"""How well candidates are ordered for their queries: nDCG, reciprocal rank, recall."""

from dataclasses import dataclass

import numpy as np

from augsbert_core.metrics.bootstrap import RESAMPLES, Difference, difference_of

_CELLS_PER_CHUNK = 1 << 22


def dcg(gains: np.ndarray, k: int) -> float:
    """Discounted cumulative gain of the first k of a ranked list: Σ gain / log2(rank + 1)."""
    top = np.asarray(gains, dtype=np.float64)[:k]
    return float(np.sum(top / np.log2(np.arange(2, len(top) + 2))))


def ndcg(ranked_gains: np.ndarray, all_gains: np.ndarray, k: int = 10) -> float | None:
    """DCG of a ranked list over that of the best order of everything that is judged.

    ranked_gains: gain of each item of the list, the first first; 0 for an item without judgement. all_gains:
    the gains of all judged items, found or not, so that a list which misses some cannot reach 1. Linear gains,
    as scikit-learn's ndcg_score has them. None when no gain is above 0.
    """
    best = dcg(np.sort(np.asarray(all_gains, dtype=np.float64))[::-1], k)
    return dcg(ranked_gains, k) / best if best > 0 else None


def reciprocal_rank(is_relevant: np.ndarray) -> float:
    """1 / rank of the first relevant item of a ranked list, 0 when there is none."""
    hits = np.flatnonzero(is_relevant)
    return 1.0 / (int(hits[0]) + 1) if len(hits) else 0.0


def recall(is_relevant: np.ndarray, n_relevant: int) -> float | None:
    """The share of all relevant items that are in a list; None when there are none."""
    return float(np.sum(is_relevant)) / n_relevant if n_relevant else None


@dataclass(frozen=True)
class Mean:
    """A mean over queries with its 95 % bootstrap interval."""

    value: float
    low: float
    high: float


def query_mean(values: np.ndarray, *, resamples: int = RESAMPLES, seed: int) -> Mean | None:
    """The mean of one value per query, with the percentile interval over resampled queries; None of none."""
    if not len(values):
        return None
    low, high = np.quantile(_resampled_means(values, resamples, seed), [0.025, 0.975])
    return Mean(float(np.mean(values)), float(low), float(high))


def query_difference(
    first: np.ndarray, second: np.ndarray, *, resamples: int = RESAMPLES, seed: int
) -> Difference | None:
    """How far the mean of first is above that of second, both on the same resampled queries; None of none."""
    if first.shape != second.shape:
        raise ValueError("first and second must have one value for each query")
    if not len(first):
        return None
    gaps = np.asarray(first, dtype=np.float64) - second
    return difference_of(float(gaps.mean()), _resampled_means(gaps, resamples, seed))


def _resampled_means(values: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = np.asarray(values, dtype=np.float64)
    at_once = max(_CELLS_PER_CHUNK // len(values), 1)
    parts = [
        values[rng.integers(0, len(values), size=(min(at_once, resamples - start), len(values)))]
        .mean(axis=1)
        for start in range(0, resamples, at_once)
    ]  # fmt: skip
    return np.concatenate(parts)
