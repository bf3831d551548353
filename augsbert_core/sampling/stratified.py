"""Stratified KDE: score a pool that already follows the gold density, so that little of it is thrown away.

Plain KDE scores random pairs, nearly all of which are dissimilar, and keeps the few whose score is as
common among the gold pairs (paper, section 3.1). The cosine of a cheap bi-encoder tells beforehand, roughly,
which score a pair will get. So: count the pairs of the corpus by cosine (`stratify`), score a few of every
cosine bin, estimate p(score | cosine bin) (`score_shares`), and ask how many pairs of each bin make the
pool's density follow the gold density (`plan_pool`). The pool is drawn in rounds (`next_draw`), each with a
better estimate. The pairs of a bin are drawn in a fixed random order: what has been drawn says all
about what comes next.
"""

from dataclasses import dataclass

import numpy as np

from augsbert_core.density import density, trapezoid_widths

SCORE_BINS = 64
"""Scores are counted in this many bins for the estimate, which the kernel then smooths."""

BORROWED = 6.0
"""How many pairs the scores of neighbouring bins count for in a bin's own estimate."""

REACH = 1.5
"""How far a bin borrows: the weight of another bin falls by 1/e over so many bins."""

EXTRA_ROUNDS = 3
"""Rounds after the last planned one, should the pool still fall short."""

MAX_STEPS = 150
"""Of the expectation maximisation; it mostly needs far fewer."""

_LEAST = 1e-9


@dataclass(frozen=True)
class Goal:
    """What the pool is for.

    n_keep: pairs wanted after Q_c. c: as in `kde.acceptance`. max_passes: never score more pairs. pilot:
    pairs of the first round. rounds: how many more.
    """

    n_keep: int
    c: float
    max_passes: int
    pilot: int
    rounds: int


@dataclass(frozen=True)
class Target:
    """The gold density at the grid's points, and the bandwidth it was estimated with."""

    grid: np.ndarray
    gold: np.ndarray
    bandwidth: float


@dataclass(frozen=True)
class Plan:
    """How many pairs of each cosine bin the pool should hold in the end, and what Q_c would keep of it.

    counts: float64 (bins,). kept: expected number.
    """

    counts: np.ndarray
    kept: float


def pilot_draw(free: np.ndarray, n_pairs: int) -> np.ndarray:
    """n_pairs shared out evenly over the cosine bins, never more than a bin has free.

    What does not divide goes to the higher bins, where scores differ most.
    """
    wanted = min(n_pairs, int(free.sum()))
    level = int(_water_level(free, wanted))
    counts = np.minimum(free, level)
    for place in np.flatnonzero(free > level)[::-1][: wanted - int(counts.sum())]:
        counts[place] += 1
    return counts


def score_shares(bins: np.ndarray, scores: np.ndarray, n_bins: int) -> np.ndarray:
    """p(score bin | cosine bin) from scored pairs: float64 (n_bins, SCORE_BINS), each row sums to 1.

    The prior of a bin is a Dirichlet worth BORROWED pairs, whose shares are those of the bins near it; so
    a bin without scored pairs takes its neighbours' word. Without any scored pair all scores are equally
    likely.
    """
    column = np.minimum((np.asarray(scores) * SCORE_BINS).astype(np.int64), SCORE_BINS - 1)
    counts = np.bincount(bins * SCORE_BINS + column, minlength=n_bins * SCORE_BINS)
    counts = counts.reshape(n_bins, SCORE_BINS).astype(np.float64)
    if not counts.any():
        return np.full((n_bins, SCORE_BINS), 1.0 / SCORE_BINS)
    distance = np.abs(np.subtract.outer(np.arange(n_bins), np.arange(n_bins)))
    # From the nearest bin with pairs on, else far bins would underflow to no prior at all.
    nearest = np.where(counts.any(axis=1), distance + np.eye(n_bins), np.inf)
    nearest = np.where(np.isfinite(nearest.min(axis=1)), nearest.min(axis=1), 0.0)[:, None]
    nearness = np.exp(-np.maximum(distance - nearest, 0.0) / REACH) * (distance > 0)
    borrowed = nearness @ counts
    total = borrowed.sum(axis=1, keepdims=True)
    prior = np.divide(borrowed, total, out=np.zeros_like(borrowed), where=total > 0)
    shares = counts + BORROWED * prior
    return shares / shares.sum(axis=1, keepdims=True)


def score_densities(shares: np.ndarray, grid: np.ndarray, bandwidth: float) -> np.ndarray:
    """Each bin's score density at the grid's points, smoothed as the pool's will be: (n_bins, points)."""
    centres = (np.arange(SCORE_BINS) + 0.5) / SCORE_BINS
    return np.array([density(centres, grid, bandwidth, weights=row) for row in shares])


def plan_pool(
    densities: np.ndarray,
    target: Target,
    drawn: np.ndarray,
    exist: np.ndarray,
    goal: Goal,
    n_more: int,
) -> Plan:
    """The smallest pool from which Q_c should keep n_more pairs more than from the drawn ones.

    densities: from `score_densities`. drawn ≤ counts ≤ exist holds in each bin. Among the pools of one
    size the one with the least KL(gold‖pool) is taken. When n_more is out of reach: the largest pool that
    `goal.max_passes` allows.
    """
    low = int(drawn.sum())
    high = max(low, int(min(goal.max_passes, exist.sum())))
    now = _plan_of_size(densities, target, drawn, exist, low, drawn, goal.c)
    best = _plan_of_size(densities, target, drawn, exist, high, exist, goal.c)
    while best.kept > now.kept + n_more and high - low > max(1, high // 500):
        middle = (low + high) // 2
        plan = _plan_of_size(densities, target, drawn, exist, middle, best.counts, goal.c)
        if plan.kept >= now.kept + n_more:
            high, best = middle, plan
        else:
            low = middle
    return best


def _plan_of_size(
    densities: np.ndarray,
    target: Target,
    drawn: np.ndarray,
    exist: np.ndarray,
    size: int,
    start: np.ndarray,
    c: float,
) -> Plan:
    """The pool of this size with the least KL(gold‖pool), by expectation maximisation.

    The pairs that each bin contributes to the gold density (E step) are the counts it should have (M
    step), scaled and cut to its bounds so that they add up to the size; no step raises KL.
    """
    widths = trapezoid_widths(target.grid)
    gold = widths * target.gold / float(widths @ target.gold)
    counts = _fit_to_bounds(np.maximum(start, _LEAST), drawn, exist, size)
    for _ in range(MAX_STEPS):
        mixture = np.maximum(counts @ densities, _LEAST)
        pull = counts * (densities @ (gold / mixture))
        # A bin that came to nothing could never come back.
        updated = _fit_to_bounds(np.maximum(pull, _LEAST), drawn, exist, size)
        moved = float(np.abs(updated - counts).sum())
        counts = updated
        if moved < 1e-3 * max(size, 1):
            break
    kept = np.minimum((counts @ densities) * widths, c * size * gold)
    return Plan(counts, float(kept.sum()))


def _fit_to_bounds(
    shares: np.ndarray, low: np.ndarray, high: np.ndarray, total: float
) -> np.ndarray:
    """shares · λ cut to [low, high], with the λ for which they add up to total (or as near as can be)."""
    if total >= high.sum():
        return high.astype(np.float64)
    if total <= low.sum():
        return low.astype(np.float64)
    # The sum is piecewise linear in λ: find the piece by its corners, then the place on it.
    corners = np.sort(np.concatenate([low / shares, high / shares]))
    first, last = 0, len(corners) - 1
    while last - first > 1:
        middle = (first + last) // 2
        if np.clip(shares * corners[middle], low, high).sum() < total:
            first = middle
        else:
            last = middle
    below = np.clip(shares * corners[first], low, high)
    above = np.clip(shares * corners[last], low, high)
    gap = above.sum() - below.sum()
    return below + (above - below) * ((total - below.sum()) / gap if gap > 0 else 0.0)


def next_draw(
    bins: np.ndarray,
    scores: np.ndarray,
    free: np.ndarray,
    target: Target,
    goal: Goal,
    round_number: int,
    n_kept: int,
) -> np.ndarray:
    """How many pairs of each cosine bin to score next; all zero when the pool is done.

    bins, scores: of the pairs scored so far. free: pairs of each bin that could still be drawn. n_kept:
    what Q_c keeps of the scored pairs at present. round_number: 0 is the pilot; the last planned round
    draws all that the plan says, those before it their share.
    """
    left = min(goal.max_passes - len(scores), int(free.sum()))
    is_done = round_number > goal.rounds + EXTRA_ROUNDS or (len(scores) and n_kept >= goal.n_keep)
    if left <= 0 or is_done:
        return np.zeros(len(free), dtype=np.int64)
    if not len(scores):
        return pilot_draw(free, min(max(goal.pilot, 1), left))
    drawn = np.bincount(bins, minlength=len(free))
    shares = score_shares(bins, scores, len(free))
    densities = score_densities(shares, target.grid, target.bandwidth)
    plan = plan_pool(densities, target, drawn, drawn + free, goal, goal.n_keep - n_kept)
    rounds_left = max(goal.rounds - max(round_number, 1) + 1, 1)
    return _whole_counts(np.maximum(plan.counts - drawn, 0.0) / rounds_left, free, left)


def _whole_counts(wanted: np.ndarray, free: np.ndarray, at_most: int) -> np.ndarray:
    """Counts in whole pairs: rounded so that their sum is that of `wanted`, within both bounds."""
    total = min(int(np.ceil(wanted.sum() - 1e-6)), at_most)
    counts = np.minimum(np.floor(wanted).astype(np.int64), free)
    counts = counts if counts.sum() <= total else np.zeros_like(counts)
    open_bins = np.argsort(-(wanted - counts), kind="stable")
    open_bins = open_bins[(free > counts)[open_bins]][: max(total - int(counts.sum()), 0)]
    counts[open_bins] += 1
    return counts


def _water_level(free: np.ndarray, total: int) -> int:
    """The largest level for which min(free, level) adds up to at most total."""
    low, high = 0, max(int(free.max(initial=0)), 1)
    while low < high:
        middle = (low + high + 1) // 2
        if np.minimum(free, middle).sum() <= total:
            low = middle
        else:
            high = middle - 1
    return low
