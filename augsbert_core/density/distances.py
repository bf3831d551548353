"""How far apart two sets of scores, or their densities, are."""

import math

import numpy as np

from augsbert_core.density.inputs import checked_weights, total_weight

KL_FLOOR = 1e-6


def trapezoid_widths(grid: np.ndarray) -> np.ndarray:
    """The length of the scale that each grid point stands for, so that `widths @ values` is an integral."""
    steps = np.diff(np.asarray(grid, dtype=np.float64))
    return (np.append(steps, 0.0) + np.insert(steps, 0, 0.0)) / 2.0


def kl_divergence(p: np.ndarray, q: np.ndarray, grid: np.ndarray, floor: float = KL_FLOOR) -> float:
    """KL(p‖q) in nats of two densities given at the grid's points (ascending).

    Both are normalised by the trapezoid rule, raised to at least `floor`, and normalised again, so that
    an empty stretch of q costs much but not infinitely much. NaN when p or q is zero everywhere.
    """
    widths = trapezoid_widths(grid)
    raised_p, raised_q = _raised(p, widths, floor), _raised(q, widths, floor)
    if raised_p is None or raised_q is None:
        return math.nan
    return max(float(np.sum(widths * raised_p * np.log(raised_p / raised_q))), 0.0)


def wasserstein_distance(
    scores1: np.ndarray,
    weights1: np.ndarray | None,
    scores2: np.ndarray,
    weights2: np.ndarray | None,
) -> float:
    """How far scores must move on average to turn one set into the other (earth mover's distance).

    weights: how often each score occurs; None counts each once. NaN when a set is empty.
    """
    points, gap = _cumulative_gap(scores1, weights1, scores2, weights2)
    return float(np.abs(gap[:-1]) @ np.diff(points)) if len(points) else math.nan


def ks_distance(
    scores1: np.ndarray,
    weights1: np.ndarray | None,
    scores2: np.ndarray,
    weights2: np.ndarray | None,
) -> float:
    """The largest difference of the two sets' shares of scores up to some value (Kolmogorov–Smirnov).

    weights: how often each score occurs; None counts each once. NaN when a set is empty.
    """
    points, gap = _cumulative_gap(scores1, weights1, scores2, weights2)
    return float(np.abs(gap).max()) if len(points) else math.nan


def _cumulative_gap(
    scores1: np.ndarray,
    weights1: np.ndarray | None,
    scores2: np.ndarray,
    weights2: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray]:
    """The distinct scores, and the first set's share up to each less the second's; empty without mass."""
    n1, n2 = len(scores1), len(scores2)
    weights1, weights2 = checked_weights(weights1, n1), checked_weights(weights2, n2)
    total1, total2 = total_weight(weights1, n1), total_weight(weights2, n2)
    if not (total1 > 0 and total2 > 0):
        return np.empty(0), np.empty(0)
    points, positions = np.unique(np.concatenate([scores1, scores2]), return_inverse=True)
    share1 = np.bincount(positions[:n1], weights1, minlength=len(points)) / total1
    share2 = np.bincount(positions[n1:], weights2, minlength=len(points)) / total2
    return points, np.cumsum(share1 - share2)


def _raised(values: np.ndarray, widths: np.ndarray, floor: float) -> np.ndarray | None:
    """Normalised values of at least `floor`, None when they have no mass."""
    values = np.asarray(values, dtype=np.float64)
    total = float(widths @ values)
    if not total > 0:
        return None
    raised = np.maximum(values / total, floor)
    return raised / (widths @ raised)
