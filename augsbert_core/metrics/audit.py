"""What a small sample that people scored says about a labeler on a whole silver set.

The sample is drawn in strata, so a pair stands for stratum_size / n pairs of its stratum (n: those of it that were
scored). Intervals come from a stratified bootstrap with rescaled weights (Rao, Wu and Yue 1992): n - 1 draws per
stratum, which gives the variance its right size where a stratum holds a handful of pairs, and less of it the more of
a stratum was scored.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

RESAMPLES = 2000
FEWEST_FOR_RANKS = 3
EQUAL = 1e-9
"""Scores that differ by less differ by rounding alone."""

Statistic = Callable[[np.ndarray], np.ndarray]
"""Weights of shape (rows, pairs) in, one value per row out; NaN where undefined."""


@dataclass(frozen=True)
class Estimate:
    """An estimate for the whole set with its interval; None where there is none.

    is_census: every pair of the set was scored, so that nothing is estimated and both ends are the value itself.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    is_census: bool = False


@dataclass(frozen=True)
class AuditFigures:
    """How far a labeler is from people, estimated for a whole silver set. Scores are in [0, 1].

    n_scored of n_drawn pairs have a human score. n_pairs: of the silver set. unscored_strata: strata of the sample
    without a score, about which nothing is known; covered: the share of the set in the others.
    bias: labeler minus people. rank_correlation: Spearman. wrong_positives: pairs at or above the threshold by the
    labeler and below it by people, as a share of the set; wrong_of_positives: as a share of the labeler's positives.
    is_census: every pair of the set was scored. equal_errors: the labeler is equally far from people on every scored
    pair of several, so that intervals of its error have no width and say nothing about other pairs.
    """

    n_scored: int
    n_drawn: int
    n_pairs: int
    unscored_strata: tuple[int, ...]
    covered: float
    threshold: float | None
    mae: Estimate
    bias: Estimate
    rank_correlation: Estimate
    wrong_positives: Estimate
    wrong_of_positives: Estimate
    is_census: bool = False
    equal_errors: bool = False


@dataclass(frozen=True)
class ErrorChange:
    """Mean distances of two labelers from people on the same n pairs, and after minus before."""

    n: int
    before: Estimate
    after: Estimate
    change: Estimate


def audit_figures(
    labeler: np.ndarray,
    human: np.ndarray,
    stratum: np.ndarray,
    stratum_size: np.ndarray,
    *,
    threshold: float | None = None,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> AuditFigures:
    """Estimate a labeler's errors on a silver set from the pairs of an audit.

    All arrays have one entry per drawn pair. human: NaN where nobody has scored yet. stratum: a number per pair;
    stratum_size: pairs of the silver set in it, the same for all pairs of a stratum. threshold: None leaves out what
    is said about positives. ValueError: lengths differ, or a stratum has two sizes or one below its sample.
    """
    labeler, human = np.asarray(labeler, np.float64), np.asarray(human, np.float64)
    stratum, sizes = np.asarray(stratum), np.asarray(stratum_size, np.float64)
    if not labeler.shape == human.shape == stratum.shape == sizes.shape:
        raise ValueError("labeler, human, stratum and stratum_size must have one length")
    known = np.isfinite(human)
    population = _stratum_sizes(stratum, sizes)
    scored = set(stratum[known].tolist())
    total = sum(population.values())
    is_census = bool(known.any()) and int(known.sum()) == int(total)
    labeler, human = labeler[known], human[known]
    design = _Design(stratum[known], sizes[known], resamples, rng)
    away = labeler - human
    limit = np.inf if threshold is None else threshold
    positive, everything = labeler >= limit, np.ones(len(labeler), bool)
    wrong = positive & (human < limit)

    def bootstrapped(statistic: Statistic) -> Estimate:
        return counted(design.estimate(statistic, level))

    def share(among: np.ndarray) -> Estimate:
        if threshold is None:
            return Estimate()
        return counted(design.share(wrong, positive, among, level))

    def counted(one: Estimate) -> Estimate:
        if not is_census or one.value is None:
            return one
        return Estimate(one.value, one.value, one.value, is_census=True)

    return AuditFigures(
        n_scored=len(labeler),
        n_drawn=len(known),
        n_pairs=int(total),
        unscored_strata=tuple(sorted(set(population) - scored)),
        covered=sum(population[one] for one in scored) / total if total else 0.0,
        threshold=threshold,
        mae=bootstrapped(lambda weights: _mean(weights, np.abs(away))),
        bias=bootstrapped(lambda weights: _mean(weights, away)),
        rank_correlation=counted(design.correlation(labeler, human, level)),
        wrong_positives=share(everything),
        wrong_of_positives=share(positive),
        is_census=is_census,
        equal_errors=len(away) > 1 and not is_census and float(np.ptp(np.abs(away))) < EQUAL,
    )


def error_change(
    before: np.ndarray,
    after: np.ndarray,
    human: np.ndarray,
    *,
    rng: np.random.Generator,
    stratum: np.ndarray | None = None,
    stratum_size: np.ndarray | None = None,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> ErrorChange:
    """The mean distance from people before and after, and its change on the same resampled pairs.

    stratum, stratum_size: as in `audit_figures`; without them the pairs count the same, as a sample of very many.
    """
    human = np.asarray(human, np.float64)
    if stratum is None or stratum_size is None:
        stratum, stratum_size = np.zeros(len(human), np.int64), np.full(len(human), np.inf)
    design = _Design(stratum, np.asarray(stratum_size, np.float64), resamples, rng)
    first, second = np.abs(before - human), np.abs(after - human)
    found = [
        design.estimate(lambda weights, apart=apart: _mean(weights, apart), level)  # type: ignore[misc]
        for apart in (first, second, second - first)
    ]
    return ErrorChange(len(human), *found)


def weighted_spearman(weights: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Spearman's correlation of a population in which each pair occurs `weights` times.

    weights: shape (rows, pairs). The rank of a value is the weight below it and half of its own; the ranks' Pearson
    correlation is weighed the same. Whole weights give what repeating the pairs would. NaN: a side is constant.
    """
    x, y = _weighted_ranks(weights, first), _weighted_ranks(weights, second)
    total = weights.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        x = x - (weights * x).sum(axis=1, keepdims=True) / total
        y = y - (weights * y).sum(axis=1, keepdims=True) / total
        norm = (weights * x * x).sum(axis=1) * (weights * y * y).sum(axis=1)
        # Of a constant side all ranks are equal but for rounding.
        norm = np.where(norm > 1e-18 * total[:, 0] ** 6, norm, np.nan)
        return np.clip((weights * x * y).sum(axis=1) / np.sqrt(norm), -1.0, 1.0)


def _weighted_ranks(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    starts = np.flatnonzero(np.concatenate([[True], np.diff(ordered) != 0]))
    group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(values))))
    of_level = np.add.reduceat(weights[:, order], starts, axis=1)
    middle = np.cumsum(of_level, axis=1) - of_level / 2
    found = np.empty_like(weights)
    found[:, order] = middle[:, group]
    return found


def _mean(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((weights @ values) / weights.sum(axis=1))


def _stratum_sizes(stratum: np.ndarray, sizes: np.ndarray) -> dict[int, float]:
    found: dict[int, float] = {}
    names, counts = np.unique(stratum, return_counts=True)
    for name, count in zip(names.tolist(), counts.tolist(), strict=True):
        of_it = np.unique(sizes[stratum == name])
        if len(of_it) != 1 or not of_it[0] >= count:
            raise ValueError(f"stratum {name} of {count} pairs has sizes {of_it.tolist()}")
        found[name] = float(of_it[0])
    return found


class _Design:
    """Scored pairs with their weights, and resampled weights: one row per resample.

    A stratum with a single pair says nothing about its own spread: for the resampling it is joined with its
    neighbour, which makes intervals wider, not narrower.
    """

    def __init__(
        self, stratum: np.ndarray, sizes: np.ndarray, resamples: int, rng: np.random.Generator
    ) -> None:
        n = len(stratum)
        _, place, counts = np.unique(stratum, return_inverse=True, return_counts=True)
        self.n = n
        endless = bool(n) and not np.isfinite(sizes).all()
        self.weights = np.ones(n) if endless else sizes / counts[place] if n else np.zeros(0)
        self.groups = _joined(counts)[place] if n else place
        self.resampled = np.empty((resamples, n))
        self.share_left = np.ones(n)
        for group in np.unique(self.groups):
            rows = np.flatnonzero(self.groups == group)
            size = np.inf if endless else self.weights[rows].sum()
            self.share_left[rows] = max(1.0 - len(rows) / size, 0.0)
            self._resample(rows, rng)

    def _resample(self, rows: np.ndarray, rng: np.random.Generator) -> None:
        n = len(rows)
        if n < 2:
            self.resampled[:, rows] = np.nan
            return
        drawn = rng.multinomial(n - 1, np.full(n, 1 / n), size=len(self.resampled))
        scale = np.sqrt(self.share_left[rows])
        factors = 1.0 + scale * (drawn * n / (n - 1) - 1.0)
        self.resampled[:, rows] = self.weights[rows] * factors

    def _observed(self, statistic: Statistic) -> float | None:
        if not self.n:
            return None
        value = float(statistic(self.weights[None, :])[0])
        return value if np.isfinite(value) else None

    def estimate(self, statistic: Statistic, level: float) -> Estimate:
        """The percentile interval of the resamples, stretched as the few pairs per stratum ask for."""
        value = self._observed(statistic)
        found = self._replicates(statistic)
        if value is None or found is None:
            return Estimate(value)
        low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
        stretch = self._reach(level) / _normal_reach(level)
        return Estimate(
            value, float(value - stretch * (value - low)), float(value + stretch * (high - value))
        )

    def correlation(self, first: np.ndarray, second: np.ndarray, level: float) -> Estimate:
        """Spearman's with the resamples' spread on Fisher's z, where it is nearly normal."""
        if self.n < FEWEST_FOR_RANKS:
            return Estimate()

        def statistic(weights: np.ndarray) -> np.ndarray:
            return weighted_spearman(weights, first, second)

        value, found = self._observed(statistic), self._replicates(statistic)
        if value is None or found is None or abs(value) >= 1.0:
            return Estimate(value)
        reach = self._reach(level) * float(np.std(np.arctanh(np.clip(found, -1 + 1e-9, 1 - 1e-9))))
        middle = np.arctanh(value)
        return Estimate(value, float(np.tanh(middle - reach)), float(np.tanh(middle + reach)))

    def share(
        self, counted: np.ndarray, part: np.ndarray, among: np.ndarray, level: float
    ) -> Estimate:
        """The share of `counted`, all within `part`, of `among`, with Wilson's interval.

        It is that of as many pairs as the sample is worth, by the resamples' spread or by that within the strata with
        their shares drawn to the mean: none counted of five does not mean none in the stratum.
        """
        if not among.any():
            return Estimate()
        whole = float(self.weights @ among)
        value = float(self.weights @ counted) / whole
        if not part.any():
            return Estimate(value, *_wilson(value, self._worth(among), level))
        part_share = float(self.weights @ part) / whole
        if not counted.any() or bool(counted[part].all()):
            bounds = _wilson(value / part_share, self._worth(part), level)
            return Estimate(value, bounds[0] * part_share, bounds[1] * part_share)
        spread = self._shrunk_spread(counted, part) * part_share**2
        found = self._replicates(lambda weights: _mean(weights * among, counted.astype(float)))
        if found is not None:
            spread = max(spread, float(np.var(found)))
        if spread <= 0:  # all positives that were met lie in strata that were scored throughout
            bounds = _wilson(value / part_share, self._worth(part), level)
            return Estimate(value, bounds[0] * part_share, bounds[1] * part_share)
        n = value * (1 - value) / spread * (_normal_reach(level) / self._reach(level)) ** 2
        return Estimate(value, *_wilson(value, max(n, 1.0), level))

    def _worth(self, among: np.ndarray) -> float:
        weights = self.weights * among
        return float(weights.sum() ** 2 / (weights @ weights))

    def _shrunk_spread(self, counted: np.ndarray, part: np.ndarray) -> float:
        """The variance of the share of counted pairs in a part, each stratum's share drawn to the mean by one pair."""
        weights = self.weights * part
        mean = float(weights @ counted / weights.sum())
        variance = 0.0
        for group in np.unique(self.groups[part]):
            rows = (self.groups == group) & part
            n = int(rows.sum())
            share = (float(counted[rows].sum()) + mean) / (n + 1)
            size, left = float(weights[rows].sum()), float(self.share_left[rows].mean())
            variance += size**2 * left * share * (1 - share) / n
        return variance / float(weights.sum()) ** 2

    def _replicates(self, statistic: Statistic) -> np.ndarray | None:
        """The statistic on the resamples where it is defined; None when it is so on half of them or fewer."""
        found = statistic(self.resampled)
        found = found[np.isfinite(found)]
        return found if 2 * len(found) > len(self.resampled) else None

    def _reach(self, level: float) -> float:
        """Student's t for the degrees of freedom of the strata (Satterthwaite), all spreads taken as equal."""
        from scipy.stats import t

        parts, freedoms = [], []
        for group in np.unique(self.groups):
            rows = self.groups == group
            parts.append(float((self.weights[rows] ** 2 * self.share_left[rows]).sum()))
            freedoms.append(max(int(rows.sum()) - 1, 1))
        squares = sum(part**2 / freedom for part, freedom in zip(parts, freedoms, strict=True))
        freedom = sum(parts) ** 2 / squares if squares > 0 else 1e6
        return float(t.ppf((1 + level) / 2, max(freedom, 1.0)))


def _normal_reach(level: float) -> float:
    from scipy.stats import norm

    return float(norm.ppf((1 + level) / 2))


def _joined(counts: np.ndarray) -> np.ndarray:
    """Strata → groups for resampling: a stratum with one pair joins the group before it, the first the next."""
    groups = np.zeros(len(counts), np.int64)
    number = held = 0
    for place, count in enumerate(counts.tolist()):
        if place and (count == 1 or held < 2):
            held += count
        else:
            number += bool(place)
            held = count
        groups[place] = number
    return groups


def _wilson(share: float, n: float, level: float) -> tuple[float, float]:
    z = _normal_reach(level)
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(float(middle - reach), 0.0), min(float(middle + reach), 1.0)
