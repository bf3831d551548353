"""Densities of scores on [0, 1], and how far apart two of them are."""

import math

import numpy as np
from scipy.fft import dct

MIN_BANDWIDTH = 1e-3
CONSTANT_BANDWIDTH = 0.01  # a spike that a grid of 257 points still shows

_EXACT_CELLS = 1 << 21  # cosines taken one by one up to here, through bins beyond
_TOLERANCE = 1e-9  # scores may miss [0, 1] by rounding


def unit_grid(points: int = 257) -> np.ndarray:
    """Evenly spaced points from 0 to 1, both included."""
    return np.linspace(0.0, 1.0, points)


def silverman_bandwidth(scores: np.ndarray) -> float:
    """Silverman's rule 0.9 · min(σ, IQR / 1.34) · n^(−1/5) from the real n and spread of the scores.

    Where half of the scores are equal (IQR 0) σ alone counts. Never below CONSTANT_BANDWIDTH, which is
    also the answer for constant, single and no scores.
    """
    scores = _checked_scores(scores)
    if len(scores) < 2:
        return CONSTANT_BANDWIDTH
    spread = float(np.std(scores, ddof=1))
    low, high = np.percentile(scores, [25, 75])
    if high > low:
        spread = min(spread, float(high - low) / 1.34)
    return max(0.9 * spread * len(scores) ** -0.2, CONSTANT_BANDWIDTH)


def density(
    scores: np.ndarray,
    grid: np.ndarray,
    bandwidth: float | None = None,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """The Gaussian kernel density of scores in [0, 1], reflected at 0 and 1, at the grid's points.

    It integrates to 1 over [0, 1] for any bandwidth. bandwidth: None takes `silverman_bandwidth`; below
    MIN_BANDWIDTH is a ValueError. weights: non-negative, one per score, any sum. No scores, or no weight,
    give zero everywhere.

    Reflecting a kernel at both ends again and again is the same as its cosine series, in which a Gaussian
    of bandwidth h damps the k-th term by exp(−(πkh)² / 2). Many scores are first put in bins narrower
    than h / 32, which changes the density by less than 0.1 % of its peak.
    """
    scores = _checked_scores(scores)
    grid = np.asarray(grid, dtype=np.float64)
    mass = _normalised_weights(weights, len(scores))
    if mass is None:
        return np.zeros(len(grid))
    bandwidth = silverman_bandwidth(scores) if bandwidth is None else bandwidth
    if not (math.isfinite(bandwidth) and bandwidth >= MIN_BANDWIDTH):
        raise ValueError(f"bandwidth must be at least {MIN_BANDWIDTH:g}, not {bandwidth:g}")

    n_terms = math.ceil(8.6 / (math.pi * bandwidth))  # the next term is damped below 1e-16
    frequencies = math.pi * np.arange(1, n_terms + 1)
    if n_terms * len(scores) <= _EXACT_CELLS:
        means = np.cos(np.outer(frequencies, scores)) @ mass
    else:
        means = _binned_cosine_means(scores, mass, bandwidth)[1 : n_terms + 1]
    damped = means * np.exp(-0.5 * (frequencies * bandwidth) ** 2)
    values = 1.0 + 2.0 * (np.cos(np.outer(grid, frequencies)) @ damped)
    return np.maximum(values, 0.0)


def kl_divergence(p: np.ndarray, q: np.ndarray, grid: np.ndarray, floor: float = 1e-6) -> float:
    """KL(p‖q) in nats of two densities given at the grid's points (ascending).

    Both are normalised by the trapezoid rule, raised to at least `floor`, and normalised again, so that
    an empty stretch of q costs much but not infinitely much. NaN when p or q is zero everywhere.
    """
    grid = np.asarray(grid, dtype=np.float64)
    steps = np.diff(grid)
    widths = (np.append(steps, 0.0) + np.insert(steps, 0, 0.0)) / 2.0
    raised_p, raised_q = _raised(p, widths, floor), _raised(q, widths, floor)
    if raised_p is None or raised_q is None:
        return math.nan
    return max(float(np.sum(widths * raised_p * np.log(raised_p / raised_q))), 0.0)


def _raised(values: np.ndarray, widths: np.ndarray, floor: float) -> np.ndarray | None:
    """Normalised values of at least `floor`, None when they have no mass."""
    values = np.asarray(values, dtype=np.float64)
    total = float(widths @ values)
    if not total > 0:
        return None
    raised = np.maximum(values / total, floor)
    return raised / (widths @ raised)


def _checked_scores(scores: np.ndarray) -> np.ndarray:
    scores = np.asarray(scores, dtype=np.float64)
    outside = ~((scores >= -_TOLERANCE) & (scores <= 1 + _TOLERANCE))
    if np.any(outside):
        count, example = int(np.sum(outside)), scores[outside][0]
        raise ValueError(
            f"{count} of {len(scores)} scores are not in [0, 1], for example {example}"
        )
    return np.clip(scores, 0.0, 1.0)


def _normalised_weights(weights: np.ndarray | None, n: int) -> np.ndarray | None:
    """Weights that sum to 1, or None when there is nothing to weigh."""
    mass = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    if len(mass) != n or not np.all(mass >= 0):
        raise ValueError(f"weights must be {n} non-negative numbers")
    total = float(mass.sum())
    return mass / total if total > 0 else None


def _binned_cosine_means(scores: np.ndarray, mass: np.ndarray, bandwidth: float) -> np.ndarray:
    """The weighted means of cos(πk · score) for k = 0, 1, …, from scores shared out to nearby bins."""
    n_bins = 1 << math.ceil(math.log2(max(32 / bandwidth, 1 << 12)))
    position = scores * n_bins
    left = np.minimum(position.astype(np.int64), n_bins - 1)
    to_right = (position - left) * mass
    binned = np.bincount(left, mass - to_right, minlength=n_bins + 1) + np.bincount(
        left + 1, to_right, minlength=n_bins + 1
    )
    # The transform counts inner points twice and end points once.
    binned[0] *= 2.0
    binned[-1] *= 2.0
    return dct(binned, type=1) / 2.0
