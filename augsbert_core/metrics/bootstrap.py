"""Intervals and differences by resampling pairs (the bootstrap).

A resample is held as how often each pair was drawn, not as a list of positions. Pairs sorted by a model's score
once then give the ranks of every resample by one cumulative sum, and the gold side serves all models.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from augsbert_core.metrics.classification import accuracy_at, f1_at
from augsbert_core.metrics.correlation import pearson, spearman, standard

Statistic = Callable[[np.ndarray, np.ndarray], float | None]

RESAMPLES = 10_000
"""Resamples behind an interval or a p value, unless there are very many pairs (`resamples_for`)."""

# A chunk of counts for 1,379 pairs then stays in the processor's cache.
_CELLS_PER_CHUNK = 1 << 18
_CELLS_IN_ALL = 200_000_000


def resamples_for(n_pairs: int) -> int:
    """`RESAMPLES` up to 20,000 pairs, fewer above, so that time stays bounded; never under 1,000."""
    return int(min(RESAMPLES, max(1_000, _CELLS_IN_ALL // max(n_pairs, 1))))


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
    undefined resamples are left out.
    """
    gold, predicted = np.asarray(gold, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    if statistic(gold, predicted) is None:
        return None
    (values,) = replicates([statistic], gold, [predicted], resamples=resamples, seed=seed)
    return interval(values, level)


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
    first, second = replicates(statistics, gold, predictions, resamples=resamples, seed=seed)
    return interval(first - second, level)


@dataclass(frozen=True)
class Difference:
    """First minus second, with the 95 % interval of the paired bootstrap and its two-sided p."""

    difference: float
    low: float
    high: float
    p: float


def paired_bootstrap(
    statistics: tuple[Statistic, Statistic],
    gold: np.ndarray,
    predictions: tuple[np.ndarray, np.ndarray],
    *,
    resamples: int = RESAMPLES,
    seed: int,
) -> Difference | None:
    """How far apart two models are on the same pairs; None when either is undefined."""
    values = [
        statistic(gold, predicted)
        for statistic, predicted in zip(statistics, predictions, strict=True)
    ]
    if values[0] is None or values[1] is None:
        return None
    first, second = replicates(statistics, gold, predictions, resamples=resamples, seed=seed)
    return difference_of(values[0] - values[1], first - second)


def difference_of(observed: float, differences: np.ndarray) -> Difference | None:
    """An observed difference with the interval and p of its replicates; None when half are undefined.

    p = 2 · min(share ≤ 0, share ≥ 0), each share with one more resample on its side, at most 1.
    """
    found = interval(differences)
    if found is None:
        return None
    defined = differences[np.isfinite(differences)]
    tail = min(np.sum(defined <= 0), np.sum(defined >= 0))
    p = min(2.0 * (float(tail) + 1.0) / (len(defined) + 1.0), 1.0)
    return Difference(observed, *found, p)


def interval(values: np.ndarray, level: float = 0.95) -> tuple[float, float] | None:
    """The percentile interval of replicates; None when half of them are undefined (NaN)."""
    defined = values[np.isfinite(values)]
    if 2 * len(defined) <= len(values):
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def replicates(
    statistics: Sequence[Statistic],
    gold: np.ndarray,
    predictions: Sequence[np.ndarray],
    *,
    resamples: int = RESAMPLES,
    seed: int,
) -> np.ndarray:
    """Each model's statistic on each resample of the pairs: shape (models, resamples), NaN where undefined.

    All models are measured on the same resamples; the same seed and number of pairs give the same ones.
    `spearman`, `pearson` and `f1_at` and `accuracy_at` with a threshold take many resamples at once.
    """
    gold = np.asarray(gold, dtype=np.float64)
    columns = [np.asarray(predicted, dtype=np.float64) for predicted in predictions]
    found = np.full((len(columns), resamples), np.nan)
    if not len(gold):
        return found
    makers: dict[Statistic, Any] = {}
    for statistic in statistics:
        makers.setdefault(_kernel(statistic)[0], _kernel(statistic)[0](gold))
    models = [
        (makers[_kernel(statistic)[0]], makers[_kernel(statistic)[0]].model(column, **told))
        for statistic, column in zip(statistics, columns, strict=True)
        for told in [_kernel(statistic)[1]]
    ]
    start = 0
    for rows in _resampled_rows(len(gold), resamples, seed):
        drawn = _Drawn(rows, len(gold))
        for side in makers.values():
            side.draw(drawn)
        for place, (side, model) in enumerate(models):
            found[place, start : start + len(rows)] = side.measure(model, drawn)
        start += len(rows)
    return found


class _Drawn:
    """Some resamples. rows: positions, shape (resamples, pairs); counts: shape (pairs, resamples)."""

    def __init__(self, rows: np.ndarray, n: int) -> None:
        self.rows = rows
        cells = rows + n * np.arange(len(rows))[:, None]
        counts = np.bincount(cells.reshape(-1), minlength=len(rows) * n).reshape(len(rows), n)
        # Counts and ranks are exact in float32, and half as much to move; sums are good to five digits.
        self.counts = np.ascontiguousarray(counts.T, dtype=np.float32)


class _Ordered:
    """A column sorted once. order: its positions by value; starts: where each distinct value begins."""

    def __init__(self, values: np.ndarray) -> None:
        self.order = np.argsort(values, kind="stable")
        ordered = values[self.order]
        self.starts = np.concatenate([[0], np.flatnonzero(np.diff(ordered)) + 1])
        self.group = np.cumsum(np.isin(np.arange(len(values)), self.starts)) - 1
        self.is_finite = bool(np.isfinite(values).all())

    def by_level(self, cells: np.ndarray) -> np.ndarray:
        """Cells (pairs, resamples), summed for each distinct value, ascending."""
        ordered = cells[self.order]
        if len(self.starts) == len(self.order):
            return ordered
        return np.add.reduceat(ordered, self.starts, axis=0)


class _Spearman:
    """Spearman over resamples: Pearson of the ranks that the counts give."""

    def __init__(self, gold: np.ndarray) -> None:
        self.gold = _Ordered(gold)

    def model(self, predicted: np.ndarray) -> _Ordered:
        return _Ordered(predicted)

    def draw(self, drawn: _Drawn) -> None:
        levels = self.gold.by_level(drawn.counts)
        centred = _centred_ranks(levels)
        self.norm = np.einsum("ij,ij,ij->j", levels, centred, centred)
        of_pairs = np.empty_like(drawn.counts)
        of_pairs[self.gold.order] = centred[self.gold.group]
        self.weighted = of_pairs * drawn.counts

    def measure(self, model: _Ordered, drawn: _Drawn) -> np.ndarray:
        levels = model.by_level(drawn.counts)
        centred = _centred_ranks(levels)
        both = np.einsum("ij,ij->j", model.by_level(self.weighted), centred)
        own = np.einsum("ij,ij,ij->j", levels, centred, centred)
        is_finite = model.is_finite and self.gold.is_finite
        return _correlation(both, self.norm, own) if is_finite else np.full(len(both), np.nan)


def _centred_ranks(levels: np.ndarray) -> np.ndarray:
    """The average rank of each distinct value, minus the mean rank. levels: how often it was drawn."""
    found = np.cumsum(levels, axis=0)
    shift = found[-1] / np.float32(2.0)
    found -= levels * np.float32(0.5)
    found -= shift
    return found


def _correlation(both: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Covariance over the norms, NaN where a side is constant."""
    norms = first.astype(np.float64) * second
    # Ranks are halves and their squares exact, so a constant side is exactly 0.
    return np.divide(both, np.sqrt(norms), out=np.full(len(both), np.nan), where=norms > 0)


class _Pearson:
    """Pearson over resamples, column by column of the drawn rows."""

    def __init__(self, gold: np.ndarray) -> None:
        self.gold = standard(gold)

    def model(self, predicted: np.ndarray) -> np.ndarray:
        return standard(predicted)

    def draw(self, drawn: _Drawn) -> None:
        self.drawn_gold = self.gold[drawn.rows]

    def measure(self, model: np.ndarray, drawn: _Drawn) -> np.ndarray:
        return _row_correlations(self.drawn_gold, model[drawn.rows])


def _row_correlations(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Pearson's correlation of each row, NaN where a row of x or y is constant."""
    constant = (np.ptp(x, axis=1) == 0) | (np.ptp(y, axis=1) == 0)
    x = x - x.mean(axis=1, keepdims=True)
    y = y - y.mean(axis=1, keepdims=True)
    norms = np.sqrt(np.sum(x * x, axis=1) * np.sum(y * y, axis=1))
    norms[constant] = np.nan
    return np.sum(x * y, axis=1) / norms


class _AtThreshold:
    """F1 or accuracy at a threshold: how often the four kinds of pairs were drawn decides."""

    def __init__(self, gold: np.ndarray) -> None:
        self.positive = gold >= 0.5
        self.is_finite = bool(np.isfinite(gold).all())

    def model(self, predicted: np.ndarray, threshold: float) -> np.ndarray:
        chosen = predicted >= threshold
        sides = [chosen & self.positive, chosen, self.positive, chosen == self.positive]
        flags = np.array(sides, dtype=np.float32)
        is_finite = self.is_finite and np.isfinite(predicted).all()
        return flags if is_finite else np.full_like(flags, np.nan)

    def draw(self, drawn: _Drawn) -> None:
        pass

    def measure(self, model: np.ndarray, drawn: _Drawn) -> np.ndarray:
        hits, chosen, positive, _ = (model @ drawn.counts).astype(np.float64)
        return np.divide(
            2.0 * hits, chosen + positive, out=np.full(len(hits), np.nan), where=positive > 0
        )


class _AccuracyAt(_AtThreshold):
    def measure(self, model: np.ndarray, drawn: _Drawn) -> np.ndarray:
        return (model[3] @ drawn.counts).astype(np.float64) / drawn.rows.shape[1]


class _OneByOne:
    """Any statistic, one resample after the other."""

    def __init__(self, gold: np.ndarray) -> None:
        self.gold = gold

    def model(self, predicted: np.ndarray, statistic: Statistic) -> tuple[Statistic, np.ndarray]:
        return statistic, predicted

    def draw(self, drawn: _Drawn) -> None:
        pass

    def measure(self, model: tuple[Statistic, np.ndarray], drawn: _Drawn) -> np.ndarray:
        statistic, predicted = model
        values = (statistic(self.gold[row], predicted[row]) for row in drawn.rows)
        return np.array([np.nan if value is None else value for value in values])


def _kernel(statistic: Statistic) -> tuple[Any, dict[str, Any]]:
    """Which class measures a statistic, and what its models are told."""
    if statistic in _KERNELS:
        return _KERNELS[statistic], {}
    if isinstance(statistic, partial) and not statistic.args and statistic.func in _AT_THRESHOLD:
        return _AT_THRESHOLD[statistic.func], statistic.keywords
    return _OneByOne, {"statistic": statistic}


_KERNELS: dict[Statistic, Any] = {spearman: _Spearman, pearson: _Pearson}
_AT_THRESHOLD: dict[Any, Any] = {f1_at: _AtThreshold, accuracy_at: _AccuracyAt}


def _resampled_rows(n: int, resamples: int, seed: int) -> Iterator[np.ndarray]:
    """Resampled positions, shape (some, n), a bounded number at a time, `resamples` in all."""
    rng = np.random.default_rng(seed)
    at_once = max(_CELLS_PER_CHUNK // n, 1)
    for start in range(0, resamples, at_once):
        yield rng.integers(0, n, size=(min(at_once, resamples - start), n))
