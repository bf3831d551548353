"""The queue that fills the valleys: pairs from score regions that hold few pairs so far."""

import numpy as np

from augsbert_core.density import density, unit_grid
from augsbert_core.queues.pool import Chosen, Pool

REGIONS = 10
"""Reasons speak of tenths of the scale."""

_BANDWIDTH = 0.03  # narrow: the rules for bandwidths smooth valleys between two peaks away
_REST = 1e-6  # weight of pairs that fill no valley, so that they come last and not never


def choose_density_gap(pool: Pool, n: int, rng: np.random.Generator) -> Chosen:
    """n pairs such that the reference scores and theirs together are spread as evenly as the pool allows.

    Each score has a need, how far the density there is below the level that n more pairs can fill up to, and a pair is
    drawn with a weight of the need over the pool's own density at its score, without replacement, so that what is
    common in the pool is not drawn for that. Without reference scores all scores have one need.
    """
    scores = np.asarray(pool.scores, dtype=np.float64)
    known = np.flatnonzero(np.isfinite(scores))
    if not len(known):
        return Chosen(known, [])
    values = np.clip(scores[known], 0.0, 1.0)
    reference = np.empty(0) if pool.reference is None else np.clip(pool.reference, 0.0, 1.0)
    grid = unit_grid()
    need = valley_need(reference, n, grid)
    own = np.maximum(density(values, grid, _BANDWIDTH), 1e-9)
    weight = np.interp(values, grid, np.maximum(need, _REST * need.max()) / own)
    # Efraimidis and Spirakis: the n largest of u^(1/w) are a weighted draw without replacement.
    keys = np.log1p(-rng.random(len(values))) / weight
    order = np.argsort(-keys, kind="stable")[: min(n, len(known))]
    return Chosen(known[order], _reasons(pool, values, reference, values[order]))


def valley_need(reference: np.ndarray, n: int, grid: np.ndarray) -> np.ndarray:
    """How many pairs per unit of score are missing at each grid point: with them, valleys are filled to one level.

    The areas under it sum up to n. reference: scores in [0, 1].
    """
    if not len(reference):
        return np.full(len(grid), float(n))
    there = density(reference, grid, _BANDWIDTH) * len(reference)
    low, high = float(there.min()), float(there.max()) + n
    for _ in range(60):
        level = (low + high) / 2
        if np.trapezoid(np.maximum(level - there, 0.0), grid) < n:
            low = level
        else:
            high = level
    return np.maximum(high - there, 0.0)


def _reasons(
    pool: Pool, values: np.ndarray, reference: np.ndarray, chosen: np.ndarray
) -> list[str]:
    share = _shares(values)
    held = _shares(reference) if len(reference) else None
    texts = []
    for region in range(REGIONS):
        low, high = (pool.scale.to_raw(edge / REGIONS) for edge in (region, region + 1))
        has = f"{_percent(share[region])} of {pool.pool_name}"
        if held is not None:
            has = f"{_percent(held[region])} of {pool.reference_name} but {has}"
        texts.append(f"score region {low:g}–{high:g} holds {has}")
    return [texts[region] for region in _region(chosen).tolist()]


def _shares(scores: np.ndarray) -> np.ndarray:
    return np.bincount(_region(scores), minlength=REGIONS) / len(scores)


def _region(scores: np.ndarray) -> np.ndarray:
    return np.minimum((scores * REGIONS).astype(np.int64), REGIONS - 1)


def _percent(share: float) -> str:
    if 0 < share < 0.01:
        return "under 1 %"
    return f"{100 * share:.0f} %"
