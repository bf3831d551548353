"""Krippendorff's α: do annotators agree more than scores drawn by chance would?

α = 1 − observed / expected disagreement. Pairs that were scored alike are counted once with their number, so that
α, and each resample of its interval, costs one pass over the distinct patterns of scores.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from augsbert_core.metrics.annotators import coded_scores, distinct_columns, score_table
from augsbert_core.metrics.bootstrap import interval
from augsbert_core.metrics.correlation import standard

LEVELS = ("interval", "ordinal", "nominal")
"""What a difference of two scores means: its size, its size in ranks, or only that there is one."""

_Disagreement = Callable[[np.ndarray], tuple[float, float]]
"""How often each pattern occurs -> (observed, expected) sums of squared differences."""


FEW = 4
"""Patterns of this many pairs each are drawn as counts, which is quicker."""


def krippendorff_alpha(scores: np.ndarray, level: str = "interval") -> float | None:
    """How far annotators agree beyond chance: 1 is perfect, 0 is chance, below 0 is systematic disagreement.

    scores: (annotators, pairs), NaN where an annotator has not scored a pair; any unit, scores count as equal
    when they are the same float. Pairs with fewer than two scores are ignored. level: one of `LEVELS`. None
    when fewer than two scores can be paired, or when they are all equal: without variation nothing is expected
    to disagree, and α is 0 / 0. ValueError for another shape, an infinite score or an unknown level.
    Source: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section D; the ordinal
    difference there is the difference of average ranks.
    """
    patterns = _patterns(scores)
    return _alpha(patterns, _disagreement(patterns, level), patterns.times)


def krippendorff_interval(
    scores: np.ndarray,
    level: str = "interval",
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    rng: np.random.Generator,
) -> tuple[float, float] | None:
    """The percentile bootstrap interval of α over pairs, annotators kept as they are.

    Drawn with replacement are the pairs with two scores or more, as many as there are; what is expected by
    chance, and the ranks of the ordinal level, are computed anew for each resample. None when α is undefined or
    half of the resamples are; other undefined resamples are left out. Arguments as in `krippendorff_alpha`.
    Source: Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 13.
    """
    patterns = _patterns(scores)
    disagreement = _disagreement(patterns, level)
    if _alpha(patterns, disagreement, patterns.times) is None:
        return None
    n_pairs, n_patterns = len(patterns.of_pair), len(patterns.times)
    values = np.full(resamples, np.nan)
    few = n_patterns * FEW < n_pairs
    for i in range(resamples):
        if few:  # how often each pattern is drawn, without drawing pair by pair
            times = rng.multinomial(n_pairs, patterns.times / n_pairs)
        else:
            drawn = patterns.of_pair[rng.integers(0, n_pairs, size=n_pairs)]
            times = np.bincount(drawn, minlength=n_patterns)
        alpha = _alpha(patterns, disagreement, times)
        values[i] = np.nan if alpha is None else alpha
    return interval(values, confidence)


@dataclass(frozen=True)
class _Patterns:
    """The distinct ways in which pairs were scored, whoever gave which score.

    values: distinct scores, ascending. owner, code, count: pattern `owner` holds `count` times values[code].
    sizes: scores in each pattern, two or more; times: pairs of each pattern; of_pair: pattern of each pair.
    """

    values: np.ndarray
    owner: np.ndarray
    code: np.ndarray
    count: np.ndarray
    sizes: np.ndarray
    times: np.ndarray
    of_pair: np.ndarray

    def totals(self, times: np.ndarray) -> np.ndarray:
        """How often each value occurs when the patterns occur so often."""
        return np.bincount(self.code, times[self.owner] * self.count, len(self.values))

    def per_pattern(self, cells: np.ndarray) -> np.ndarray:
        """The sum of cells (one for each owner and code) in each pattern."""
        return np.bincount(self.owner, cells, len(self.sizes))

    def within(self, places: np.ndarray) -> np.ndarray:
        """The squared differences of the places of each pattern's values, summed over ordered twos."""
        means = self.per_pattern(self.count * places[self.code]) / self.sizes
        apart = places[self.code] - means[self.owner]
        return 2.0 * self.sizes * self.per_pattern(self.count * apart**2)


def _patterns(scores: np.ndarray) -> _Patterns:
    table = score_table(scores)
    table = table[:, np.sum(~np.isnan(table), axis=0) >= 2]
    values, coded = coded_scores(table)
    coded = np.sort(coded, axis=0)
    places, of_pair, times = distinct_columns(coded)
    rows = coded[:, places].T
    held = rows >= 0
    cells = np.nonzero(held)[0] * max(len(values), 1) + rows[held]
    cells, count = np.unique(cells, return_counts=True)
    owner, code = np.divmod(cells, max(len(values), 1))
    return _Patterns(values, owner, code, count, held.sum(axis=1), times, of_pair)


def _alpha(patterns: _Patterns, disagreement: _Disagreement, times: np.ndarray) -> float | None:
    totals = patterns.totals(times)
    # Counted, not measured: an expected disagreement would only be nearly zero.
    if np.count_nonzero(totals) < 2:
        return None
    observed, expected = disagreement(times)
    return float(1.0 - (totals.sum() - 1.0) * observed / expected)


def _disagreement(patterns: _Patterns, level: str) -> _Disagreement:
    if level not in LEVELS:
        raise ValueError(f"level is {level!r}, not one of {', '.join(LEVELS)}")
    makers = {"interval": _interval, "ordinal": _ordinal, "nominal": _nominal}
    return makers[level](patterns)


def _interval(patterns: _Patterns) -> _Disagreement:
    # α does not change with the unit, and in this one no square can overflow or vanish.
    places = standard(patterns.values) if len(patterns.values) else patterns.values
    within = patterns.within(places) / (patterns.sizes - 1)

    def disagreement(times: np.ndarray) -> tuple[float, float]:
        return float(times @ within), _between(places, patterns.totals(times))

    return disagreement


def _ordinal(patterns: _Patterns) -> _Disagreement:
    def disagreement(times: np.ndarray) -> tuple[float, float]:
        totals = patterns.totals(times)
        # Values between two others count in full and the two by half: a difference of average ranks.
        places = np.cumsum(totals) - totals / 2.0
        within = patterns.within(places) / (patterns.sizes - 1)
        return float(times @ within), _between(places, totals)

    return disagreement


def _nominal(patterns: _Patterns) -> _Disagreement:
    unequal = patterns.sizes**2 - patterns.per_pattern(patterns.count**2)
    within = unequal / (patterns.sizes - 1)

    def disagreement(times: np.ndarray) -> tuple[float, float]:
        totals = patterns.totals(times)
        return float(times @ within), float(totals.sum() ** 2 - totals @ totals)

    return disagreement


def _between(places: np.ndarray, totals: np.ndarray) -> float:
    """The squared differences of all values, each at its place, summed over ordered twos."""
    n = totals.sum()
    return float(2.0 * n * (totals @ (places - totals @ places / n) ** 2))
