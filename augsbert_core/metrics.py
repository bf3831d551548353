"""How well scores agree with gold, with intervals. An undefined value is None, never 0 and never NaN."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from augsbert_core.sampling.tokenize import tokenize

Statistic = Callable[[np.ndarray, np.ndarray], float | None]

_MIN_PAIRS = 3
_CELLS_PER_CHUNK = 1 << 21


def spearman(gold: np.ndarray, predicted: np.ndarray) -> float | None:
    """Spearman's rank correlation, ties at their average rank.

    None for fewer than 3 pairs, a constant column, or a value that is not finite.
    """
    columns = _correlatable(gold, predicted)
    return None if columns is None else pearson(_ranks(columns[0]), _ranks(columns[1]))


def pearson(gold: np.ndarray, predicted: np.ndarray) -> float | None:
    """Pearson's correlation; None in the same cases as `spearman`."""
    columns = _correlatable(gold, predicted)
    if columns is None:
        return None
    x, y = (_standard(column) for column in columns)
    norm = float(np.sqrt((x @ x) * (y @ y)))
    return float(np.clip(x @ y / norm, -1.0, 1.0)) if norm > 0 else None


def f1_best_threshold(gold01: np.ndarray, scores: np.ndarray) -> tuple[float | None, float | None]:
    """The largest F1 of "positive when score ≥ threshold" over all thresholds, and its threshold.

    The threshold lies half-way between neighbouring scores; of equal F1 the highest threshold is taken.
    gold01: 1 for positive pairs (0.5 and above counts). (None, None) without a positive pair or when a
    value is not finite.
    """
    positive, scores = _classified(gold01, scores)
    n_positive = int(positive.sum())
    if not n_positive:
        return None, None
    levels, hits, chosen = _cuts(positive, scores)
    f1 = 2.0 * hits / (chosen + n_positive)
    best = int(np.argmax(f1))
    threshold = float(levels[best])
    if best + 1 < len(levels):
        # Half of each, since the sum of two huge scores can overflow.
        middle = 0.5 * levels[best] + 0.5 * levels[best + 1]
        threshold = float(middle) if middle > levels[best + 1] else threshold
    return float(f1[best]), threshold


def f1_at(gold01: np.ndarray, scores: np.ndarray, threshold: float) -> float | None:
    """F1 of "positive when score ≥ threshold"; None without a positive pair or for a non-finite value."""
    positive, scores = _classified(gold01, scores)
    if not positive.any():
        return None
    chosen = scores >= threshold
    return float(2.0 * np.sum(chosen & positive) / (chosen.sum() + positive.sum()))


def average_precision(gold01: np.ndarray, scores: np.ndarray) -> float | None:
    """The area under the precision-recall steps; None without a positive pair or for a non-finite value."""
    positive, scores = _classified(gold01, scores)
    n_positive = int(positive.sum())
    if not n_positive:
        return None
    _, hits, chosen = _cuts(positive, scores)
    return float(np.sum(np.diff(hits, prepend=0) / n_positive * (hits / chosen)))


def bootstrap_interval(
    statistic: Statistic,
    gold: np.ndarray,
    predicted: np.ndarray,
    *,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int,
) -> tuple[float, float] | None:
    """The percentile bootstrap interval of a statistic over resampled pairs.

    None when the statistic is undefined on the pairs themselves or on half of the resamples; other
    undefined resamples are left out. `spearman` and `pearson` take all resamples at once.
    """
    gold, predicted = np.asarray(gold, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    if statistic(gold, predicted) is None:
        return None
    return _interval(_replicates(statistic, gold, predicted, resamples, seed), level)


def paired_bootstrap_interval(
    statistics: tuple[Statistic, Statistic],
    gold: np.ndarray,
    predictions: tuple[np.ndarray, np.ndarray],
    *,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int,
) -> tuple[float, float] | None:
    """The percentile bootstrap interval of first minus second, both on the same resampled pairs.

    None when the difference is undefined on half of the resamples.
    """
    gold = np.asarray(gold, dtype=np.float64)
    first, second = (
        _replicates(statistic, gold, np.asarray(predicted, dtype=np.float64), resamples, seed)
        for statistic, predicted in zip(statistics, predictions, strict=True)
    )
    return _interval(first - second, level)


def _replicates(
    statistic: Statistic, gold: np.ndarray, predicted: np.ndarray, resamples: int, seed: int
) -> np.ndarray:
    """The statistic on each resample; the same seed and number of pairs give the same resamples."""
    if not len(gold):
        return np.full(resamples, np.nan)
    resampled = _FAST_RESAMPLED.get(statistic, partial(_resampled, statistic))
    return np.concatenate(
        [resampled(gold, predicted, rows) for rows in _resampled_rows(len(gold), resamples, seed)]
    )


def _interval(values: np.ndarray, level: float) -> tuple[float, float] | None:
    defined = values[np.isfinite(values)]
    if 2 * len(defined) <= len(values):
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def share_interval(count: int, n: int, level: float = 0.95) -> tuple[float, float, float]:
    """A share with its Wilson interval: (count / n, low, high). n must be at least 1."""
    from scipy.stats import binomtest

    interval = binomtest(count, n).proportion_ci(level, method="wilson")
    return count / n, float(interval.low), float(interval.high)


def jaccard(sentences1: Sequence[str], sentences2: Sequence[str]) -> np.ndarray:
    """Shared words over all words of each pair, in [0, 1]; 0 when neither sentence has a word."""
    if len(sentences1) != len(sentences2):
        raise ValueError("sentences1 and sentences2 must have one length")
    overlaps = np.zeros(len(sentences1))
    for i, (first, second) in enumerate(
        zip(tokenize(sentences1), tokenize(sentences2), strict=True)
    ):
        union = len(set(first) | set(second))
        overlaps[i] = len(set(first) & set(second)) / union if union else 0.0
    return overlaps


def _correlatable(gold: np.ndarray, predicted: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    x, y = np.asarray(gold, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    if x.shape != y.shape:
        raise ValueError(f"gold has shape {x.shape}, predicted {y.shape}")
    if len(x) < _MIN_PAIRS or not (np.isfinite(x).all() and np.isfinite(y).all()):
        return None
    # The extremes tell constants apart exactly; a variance would only be nearly zero.
    return None if x.min() == x.max() or y.min() == y.max() else (x, y)


def _standard(values: np.ndarray) -> np.ndarray:
    """Centred and divided by the largest deviation, so that no square can overflow or vanish."""
    centred = values - values.mean()
    largest = np.abs(centred).max()
    return centred / largest if largest > 0 else centred


def _ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 1, ties at their average."""
    _, group, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2.0)[group]


def _classified(gold01: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positive flags and scores; no flag at all when a value is not finite, which callers answer by None."""
    gold, scores = np.asarray(gold01, dtype=np.float64), np.asarray(scores, dtype=np.float64)
    if gold.shape != scores.shape:
        raise ValueError(f"gold has shape {gold.shape}, scores {scores.shape}")
    if not (np.isfinite(gold).all() and np.isfinite(scores).all()):
        return np.zeros(len(gold), dtype=bool), scores
    return gold >= 0.5, scores


def _cuts(positive: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each distinct score, highest first: the score, and how many positives and pairs reach it."""
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    last_of_level = np.append(np.flatnonzero(np.diff(ordered)), len(ordered) - 1)
    return ordered[last_of_level], np.cumsum(positive[order])[last_of_level], last_of_level + 1


def _resampled_rows(n: int, resamples: int, seed: int) -> Iterator[np.ndarray]:
    """Resampled positions, shape (some, n), a bounded number at a time, `resamples` in all."""
    rng = np.random.default_rng(seed)
    at_once = max(_CELLS_PER_CHUNK // n, 1)
    for start in range(0, resamples, at_once):
        yield rng.integers(0, n, size=(min(at_once, resamples - start), n))


def _resampled(
    statistic: Statistic, gold: np.ndarray, predicted: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    values = (statistic(gold[row], predicted[row]) for row in rows)
    return np.array([np.nan if value is None else value for value in values])


def _resampled_pearson(gold: np.ndarray, predicted: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return _row_correlations(_standard(gold)[rows], _standard(predicted)[rows])


def _resampled_spearman(gold: np.ndarray, predicted: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return _row_correlations(_resampled_ranks(gold, rows), _resampled_ranks(predicted, rows))


def _resampled_ranks(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The ranks of values[rows] within each row, without sorting any row.

    How often each distinct value was drawn gives its average rank.
    """
    distinct, group = np.unique(values, return_inverse=True)
    n_rows, width = len(rows), len(distinct)
    cells = group[rows] + width * np.arange(n_rows)[:, None]
    counts = np.bincount(cells.reshape(-1), minlength=n_rows * width).reshape(n_rows, width)
    ranks = np.cumsum(counts, axis=1) - (counts - 1) / 2.0
    return ranks.reshape(-1)[cells]


def _row_correlations(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Pearson's correlation of each row, NaN where a row of x or y is constant."""
    constant = (np.ptp(x, axis=1) == 0) | (np.ptp(y, axis=1) == 0)
    x = x - x.mean(axis=1, keepdims=True)
    y = y - y.mean(axis=1, keepdims=True)
    norms = np.sqrt(np.sum(x * x, axis=1) * np.sum(y * y, axis=1))
    norms[constant] = np.nan
    return np.sum(x * y, axis=1) / norms


_FAST_RESAMPLED: dict[Statistic, Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]] = {
    spearman: _resampled_spearman,
    pearson: _resampled_pearson,
}
