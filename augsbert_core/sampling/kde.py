"""KDE: keep the pairs of a scored random pool whose scores are distributed as gold's (paper, section 3.1).

A pair of score s is kept with probability Q_c(s) = min(1, c · F_gold(s) / F_pool(s)); c = 1 is the
paper's rule. A smaller c keeps fewer pairs and matches gold more closely, up to `exact_match_c`.
Densities are given at the points of one ascending grid and are linear between them.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from augsbert_core.density import (
    KL_FLOOR,
    density,
    kl_divergence,
    trapezoid_widths,
)
from augsbert_core.density import (
    bandwidth as bandwidth_by_rule,
)
from augsbert_core.options import SampleOptions
from augsbert_core.progress import Report, ShouldStop, never, silent
from augsbert_core.sampling.corpus import Candidates, Corpus
from augsbert_core.sampling.random import sample_random

REALISED_BINS = 512

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)

POOL_STREAM = 1_000_003


@dataclass(frozen=True)
class Expected:
    """What keeping by density is expected to give.

    fraction: the share of the pool that is kept. density: of the kept scores, on the grid. kl:
    KL(gold‖kept) in nats, with the floor of `kl_divergence`; NaN when nothing is kept or gold is empty.
    """

    fraction: float
    density: np.ndarray
    kl: float


def sample_kde(
    corpus: Corpus,
    options: SampleOptions,
    report: Report = silent,
    should_stop: ShouldStop = never,
) -> Candidates:
    """The pool: `options.n_pairs` random pairs, all to be labelled before any is kept (`sample_random`).

    Another draw than that of the random strategy under the same seed, so that the two can be compared.
    """
    own = replace(options, seed=(options.seed + POOL_STREAM) % 2**31)
    return sample_random(corpus, own, report, should_stop)


def acceptance(gold: np.ndarray, pool: np.ndarray, c: float) -> np.ndarray:
    """Q_c = min(1, c · gold / pool) at the grid's points.

    0 where gold is 0, whatever the pool; 1 where gold is not 0 and the pool is.
    """
    _check_c(c)
    gold, pool = np.asarray(gold, dtype=np.float64), np.asarray(pool, dtype=np.float64)
    wanted = c * gold
    accepted = np.ones(len(gold))
    np.divide(wanted, pool, out=accepted, where=wanted < pool)
    return np.where(gold > 0, accepted, 0.0)


def exact_match_c(gold: np.ndarray, pool: np.ndarray) -> float:
    """The c from which downwards kept scores are expected to follow gold exactly: min of pool / gold.

    Only points count where gold is above KL_FLOOR: below, `kl_divergence` does not see it. 0 where the
    pool has no pairs at scores that gold has: then no c matches exactly, and KL falls all the way down.
    NaN when gold is zero everywhere.
    """
    gold, pool = np.asarray(gold, dtype=np.float64), np.asarray(pool, dtype=np.float64)
    counted = gold > KL_FLOOR
    return float(np.min(pool[counted] / gold[counted])) if np.any(counted) else math.nan


def expected_kept(gold: np.ndarray, pool: np.ndarray, c: float, grid: np.ndarray) -> Expected:
    """What is kept of a pool of this density, before a pair is chosen.

    Gold or a pool without mass keeps nothing: fraction 0, a density of zeros, KL NaN.
    """
    widths = trapezoid_widths(grid)
    kept = np.asarray(pool, dtype=np.float64) * acceptance(gold, pool, c)
    kept_mass, pool_mass = float(widths @ kept), float(widths @ pool)
    if not kept_mass > 0:
        return Expected(0.0, np.zeros(len(kept)), math.nan)
    return Expected(kept_mass / pool_mass, kept / kept_mass, kl_divergence(gold, kept, grid))


def expected_path(
    gold: np.ndarray, pool: np.ndarray, grid: np.ndarray, cs: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The expected fraction kept and KL(gold‖kept) for each c; both grow with c."""
    path = [expected_kept(gold, pool, float(c), grid) for c in cs]
    return np.array([e.fraction for e in path]), np.array([e.kl for e in path])


def c_for(
    n_keep: float, n_pool: float, gold: np.ndarray, pool: np.ndarray, grid: np.ndarray
) -> float:
    """The smallest c that is expected to keep n_keep of n_pool pairs.

    Wanting more than any c keeps gives the c that keeps the most: all pairs at scores that gold has. Gold
    or a pool without mass keeps nothing, with any c, and has 1. ValueError unless n_keep > 0.

    The expected number kept is made of straight pieces in c that meet where c · gold = pool at one more
    grid point, so it is inverted exactly.
    """
    if not n_keep > 0:
        raise ValueError(f"n_keep must be positive, not {n_keep}")
    gold, pool = np.asarray(gold, dtype=np.float64), np.asarray(pool, dtype=np.float64)
    shared = (gold > 0) & (pool > 0)
    if not np.any(shared):
        return 1.0
    widths = trapezoid_widths(grid)
    corners = pool[shared] / gold[shared]
    order = np.argsort(corners)
    corners = corners[order]
    whole = np.cumsum((widths * pool)[shared][order])
    # The points still growing at each corner, summed from the far end: a difference of sums would leave
    # rounding errors there, and the corners are huge where gold is tiny.
    growing = np.cumsum((widths * gold)[shared][order][::-1])[::-1]
    kept = (whole + corners * np.append(growing[1:], 0.0)) * n_pool / float(widths @ pool)
    return float(np.interp(n_keep, np.append(0.0, kept), np.append(0.0, corners)))


def pair_uniforms(codes: np.ndarray, seed: int) -> np.ndarray:
    """One fixed number in [0, 1) for each pair and seed, independent of all other pairs and of the order.

    codes: `pairs.pair_codes`. Numbers of different pairs, and of one pair under different seeds, behave
    like independent uniform draws: 53 bits of the mixing function of the generator splitmix64 (Steele,
    Lea & Flood 2014), applied to the code, joined with the mixed seed, and applied again.
    """
    return (_pair_hashes(codes, seed) >> np.uint64(11)) * 2.0**-53


def joining_c(
    scores: np.ndarray,
    codes: np.ndarray,
    grid: np.ndarray,
    gold: np.ndarray,
    pool: np.ndarray,
    seed: int,
) -> np.ndarray:
    """For each pair the c above which it is kept; infinite where gold is 0.

    Pair i, with the uniform number u of its own, is kept when u < Q_c(s), which is when
    c > u · F_pool(s) / F_gold(s). So a larger c only adds pairs, and one array answers for every c.
    """
    gold_at, pool_at = _between(np.asarray(scores, dtype=np.float64), grid, gold, pool)
    joining = pair_uniforms(codes, seed)
    joining *= pool_at
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        joining /= gold_at
    joining[~(gold_at > 0)] = np.inf
    return joining


def c_that_keeps(joining: np.ndarray, n_keep: int) -> float:
    """The c that really keeps n_keep pairs, from their `joining_c`; with too few, the c that keeps most.

    `c_for` needs no scores, but misses the number by a few per cent: a kernel smooths the pool's density.
    """
    reachable = joining[joining < np.inf]
    if n_keep < 1 or not len(reachable):
        raise ValueError(f"{n_keep} pairs cannot be kept of {len(reachable)}")
    last = min(n_keep, len(reachable)) - 1
    return float(np.nextafter(np.partition(reachable, last)[last], np.inf))


def keep_by_density(
    scores: np.ndarray,
    codes: np.ndarray,
    grid: np.ndarray,
    gold: np.ndarray,
    pool: np.ndarray,
    c: float,
    seed: int,
) -> np.ndarray:
    """Which pairs are kept, each with probability Q_c of its score.

    scores: in [0, 1]. codes: `pairs.pair_codes`, same order. gold, pool: densities on the grid. The choice
    for a pair does not depend on the other pairs or on the order, and a larger c keeps the same and more.
    """
    _check_c(c)
    return joining_c(scores, codes, grid, gold, pool, seed) < c


def realised_path(
    scores: np.ndarray,
    joining: np.ndarray,
    gold: np.ndarray,
    grid: np.ndarray,
    cs: np.ndarray,
    *,
    rule: str = "robust",
    bandwidth: float | None = None,
    kernel: str = "gaussian",
    reflect: bool = True,
) -> tuple[np.ndarray, np.ndarray]:
    """The fraction really kept and KL(gold‖kept) for each c (ascending), NaN where none is kept.

    joining: from `joining_c`. The density of the kept scores is estimated like gold's, from their counts
    in 512 equal bins; a bandwidth overrules the rule.
    """
    cs = np.asarray(cs, dtype=np.float64)
    if np.any(np.diff(cs) < 0):
        raise ValueError("the values of c must ascend")
    n_bins = REALISED_BINS
    bins = np.minimum((np.asarray(scores) * n_bins).astype(np.int64), n_bins - 1)
    first_kept_at = np.searchsorted(cs, joining, side="right")
    cells = np.bincount(first_kept_at * n_bins + bins, minlength=(len(cs) + 1) * n_bins)
    counts = np.cumsum(cells.reshape(-1, n_bins)[: len(cs)], axis=0)
    centres = (np.arange(n_bins) + 0.5) / n_bins
    kls = np.full(len(cs), np.nan)
    for i, kept in enumerate(counts):
        width = bandwidth
        if width is None:
            width = bandwidth_by_rule(rule, centres, kept, kernel, reflect)
        kls[i] = kl_divergence(gold, density(centres, grid, width, kept, kernel, reflect), grid)
    return counts.sum(axis=1) / max(len(scores), 1), kls


def keep_by_class(
    scores: np.ndarray,
    codes: np.ndarray,
    threshold: float,
    gold_positive_share: float,
    seed: int,
) -> np.ndarray:
    """Which pairs are kept: all positives, and as many negatives as give gold's share of positives.

    Positives have a score of at least the threshold. The negatives with the smallest `pair_uniforms` are
    kept, so the choice does not depend on the order. Too few negatives are all kept; no positives keep
    nothing; a gold share of 0 keeps everything.
    """
    if not 0 <= gold_positive_share <= 1:
        raise ValueError(f"gold_positive_share must lie in [0, 1], not {gold_positive_share}")
    keep = np.asarray(scores) >= threshold
    negatives = np.flatnonzero(~keep)
    positives = len(keep) - len(negatives)
    wanted = len(negatives)
    if gold_positive_share > 0:
        # Without a positive the odds, infinite for a tiny share, do not matter.
        odds = (1.0 - gold_positive_share) / gold_positive_share if positives else 0.0
        wanted = round(min(positives * odds, wanted))
    if wanted == len(negatives):
        keep[negatives] = True
    elif wanted:
        hashes = _pair_hashes(np.asarray(codes)[negatives], seed)  # no two pairs have the same
        keep[negatives[np.argpartition(hashes, wanted - 1)[:wanted]]] = True
    return keep


def _between(scores: np.ndarray, grid: np.ndarray, *curves: np.ndarray) -> list[np.ndarray]:
    """The curves at the scores, linear between the grid's points."""
    grid = np.asarray(grid, dtype=np.float64)
    steps = np.diff(grid)
    if not np.allclose(steps, steps[:1], rtol=1e-6, atol=0.0):
        return [np.interp(scores, grid, curve) for curve in curves]
    # An even grid needs no search, which for a million scores is most of the time.
    position = (np.clip(scores, grid[0], grid[-1]) - grid[0]) / steps[0]
    left = np.minimum(position.astype(np.int64), len(grid) - 2)
    position -= left
    return [np.take(curve, left) + position * np.take(np.diff(curve), left) for curve in curves]


def _pair_hashes(codes: np.ndarray, seed: int) -> np.ndarray:
    """64 mixed bits for each pair; different pairs have different ones."""
    mixed = np.array(codes, dtype=np.int64).view(np.uint64)
    _mix(mixed)
    mixed ^= _mix(np.array([seed & (2**64 - 1)], dtype=np.uint64))
    return _mix(mixed)


def _mix(numbers: np.ndarray) -> np.ndarray:
    """One step of splitmix64, in place: a one-to-one map of 64-bit numbers without visible pattern."""
    numbers += _GOLDEN
    numbers ^= numbers >> np.uint64(30)
    numbers *= _MIX_1
    numbers ^= numbers >> np.uint64(27)
    numbers *= _MIX_2
    numbers ^= numbers >> np.uint64(31)
    return numbers


def _check_c(c: float) -> None:
    if not 0 < c < math.inf:
        raise ValueError(f"c must be a positive number, not {c}")
