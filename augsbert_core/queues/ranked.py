"""Queues that put the pairs first which have most of something; ties are broken at random."""

from collections.abc import Sequence

import numpy as np

from augsbert_core.queues.pool import Chosen, Mistake, Pool

SMALL_MISTAKE = 0.2
"""A correction by less says little about where a labeler goes wrong."""

MOST_MISTAKES = 200
"""Only so many of the largest are looked at, so that a large pool takes seconds."""

_ROWS = 20_000  # of a similarity held at a time


def choose_disagreement(pool: Pool, n: int, rng: np.random.Generator) -> Chosen:
    """The pairs on which the two kinds of scores are furthest apart."""
    scores, students = _array(pool.scores), _array(pool.students)
    chosen = _largest(np.abs(scores - students), n, rng)
    reasons = [
        f"{pool.scorer} {pool.number(scores[place])}, {pool.student} {pool.number(students[place])}"
        for place in chosen
    ]
    return Chosen(chosen, reasons)


def choose_order_gap(pool: Pool, n: int, rng: np.random.Generator) -> Chosen:
    """The pairs whose score changes most when their sentences change places."""
    gaps = _array(pool.order_gaps)
    chosen = _largest(gaps, n, rng)
    return Chosen(chosen, [f"order gap {pool.distance(gaps[place])}" for place in chosen])


def choose_seed_spread(pool: Pool, n: int, rng: np.random.Generator) -> Chosen:
    """The pairs on which the members of the labeler differ most."""
    spreads = _array(pool.spreads)
    chosen = _largest(spreads, n, rng)
    return Chosen(
        chosen, [f"the labeler's members spread by {pool.distance(spreads[at])}" for at in chosen]
    )


def choose_threshold(pool: Pool, n: int, rng: np.random.Generator) -> Chosen:
    """The pairs whose score is nearest to the threshold."""
    if pool.threshold is None:
        raise ValueError("the pool has no threshold")
    apart = np.abs(_array(pool.scores) - pool.threshold)
    chosen = _largest(-apart, n, rng)
    near = pool.number(pool.threshold)
    return Chosen(
        chosen, [f"{pool.distance(apart[at])} from the threshold {near}" for at in chosen]
    )


def choose_like_corrected(pool: Pool, n: int, rng: np.random.Generator) -> Chosen:
    """The pairs most like a large mistake: the largest likeness × |correction − label| counts.

    Pairs like none of them are not chosen.
    """
    if pool.similarity is None:
        raise ValueError("the pool has no similarity")
    worth = large_mistakes(pool.mistakes)
    if not len(worth):
        return Chosen(np.empty(0, dtype=np.int64), [])
    size = np.array([_by_how_much(pool.mistakes[at]) for at in worth])
    best, which = np.full(pool.size, np.nan), np.zeros(pool.size, dtype=np.int64)
    for start in range(0, pool.size, _ROWS):
        rows = np.arange(start, min(start + _ROWS, pool.size))
        found = pool.similarity(rows) if callable(pool.similarity) else pool.similarity[rows]
        likeness = np.nan_to_num(np.asarray(found, dtype=np.float64)[:, worth], nan=0.0) * size
        which[rows] = worth[likeness.argmax(axis=1)]
        best[rows] = likeness.max(axis=1)
    best[best <= 0.0] = np.nan
    chosen = _largest(best, n, rng)
    reasons = []
    for place in chosen:
        mistake = pool.mistakes[which[place]]
        label, correction = pool.number(mistake.label), pool.number(mistake.correction)
        reasons.append(f"like {mistake.text!r}, which was corrected from {label} to {correction}")
    return Chosen(chosen, reasons)


def large_mistakes(mistakes: Sequence[Mistake]) -> np.ndarray:
    """Places of the mistakes worth looking for, largest first: int64; all when none is large."""
    size = np.array([_by_how_much(mistake) for mistake in mistakes])
    order = np.argsort(-size, kind="stable").astype(np.int64)
    large = order[size[order] >= SMALL_MISTAKE]
    return (large if len(large) else order[size[order] > 0])[:MOST_MISTAKES]


def _by_how_much(mistake: Mistake) -> float:
    return abs(mistake.correction - mistake.label)


def _array(values: np.ndarray | None) -> np.ndarray:
    if values is None:
        raise ValueError("the pool lacks values that the queue needs")
    return np.asarray(values, dtype=np.float64)


def _largest(values: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Places of the n largest values, largest first; equal ones in random order, NaN never."""
    shuffled = rng.permutation(len(values))
    shuffled = shuffled[np.isfinite(values[shuffled])]
    if n < len(shuffled) // 8:
        # Most of a large pool need not be sorted: whatever is below the n-th largest is out.
        least = np.partition(values[shuffled], len(shuffled) - n)[len(shuffled) - n]
        shuffled = shuffled[values[shuffled] >= least]
    return shuffled[np.argsort(-values[shuffled], kind="stable")][:n]
