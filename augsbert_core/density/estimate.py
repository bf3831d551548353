"""Kernel densities of scores on [0, 1]."""

import math

import numpy as np
from scipy.fft import dct

from augsbert_core.density import bandwidths
from augsbert_core.density.inputs import (
    checked_scores,
    checked_weights,
    shared_out,
    total_weight,
)
from augsbert_core.density.kernels import checked_kernel, kernel_values, mirrored, smoothed

_SERIES_CELLS = 1 << 21  # cosines taken one by one up to here, through bins beyond
_KERNEL_CELLS = 1 << 19  # the same for kernels, score by grid point
_BINS_PER_BANDWIDTH = 512
_MIN_BINS = 1 << 12
_NOTHING = 1e-12  # of the peak: below is rounding


def unit_grid(points: int = 257) -> np.ndarray:
    """Evenly spaced points from 0 to 1, both included."""
    return np.linspace(0.0, 1.0, points)


def density(
    scores: np.ndarray,
    grid: np.ndarray,
    bandwidth: float | None = None,
    weights: np.ndarray | None = None,
    kernel: str = "gaussian",
    reflect: bool = True,
) -> np.ndarray:
    """The kernel density of scores in [0, 1] at the grid's points, which lie in [0, 1] too.

    bandwidth: as in scikit-learn's KernelDensity; None takes the rule "robust"; below MIN_BANDWIDTH is a
    ValueError. weights: how often each score occurs. kernel: a name in `KERNELS`. reflect: fold what a
    kernel has beyond 0 and 1 back inside, again and again, so that the density integrates to 1 over
    [0, 1] for any bandwidth; without it some of the area is lost there. No scores, or no weight, give
    zero everywhere.

    Many scores are first shared out to bins narrower than 1/500 of the bandwidth (Gaussian with
    reflection: 1/32). That changes the density by less than 0.1 % of its peak, save for "tophat" right
    at its steps: within 1/500 of a bandwidth of a step, the step of single scores may be on either side.
    """
    scores = checked_scores(scores)
    weights = checked_weights(weights, len(scores))
    grid = np.asarray(grid, dtype=np.float64)
    if grid.size and not (grid.min() >= 0.0 and grid.max() <= 1.0):
        raise ValueError("the grid must lie in [0, 1]")
    if bandwidth is None:
        bandwidth = bandwidths.bandwidth("robust", scores, weights, kernel, reflect)
    checked_kernel(kernel, bandwidth)
    total = total_weight(weights, len(scores))
    if not total > 0:
        return np.zeros(len(grid))
    if kernel == "gaussian" and reflect:
        values = _cosine_series(scores, weights, grid, bandwidth)
    elif len(scores) * len(grid) <= _KERNEL_CELLS:
        values = _one_by_one(scores, weights, grid, bandwidth, kernel, reflect)
    else:
        n_bins = _power_of_two(max(_BINS_PER_BANDWIDTH / bandwidth, _MIN_BINS))
        nodes = smoothed(shared_out(scores, weights, n_bins), bandwidth, kernel, reflect)
        values = np.interp(grid, np.arange(n_bins + 1) / n_bins, nodes)
    values /= total
    return np.where(values > _NOTHING * values.max(initial=0.0), values, 0.0)


def _one_by_one(
    scores: np.ndarray,
    weights: np.ndarray | None,
    grid: np.ndarray,
    bandwidth: float,
    kernel: str,
    reflect: bool,
) -> np.ndarray:
    """The weighted sum of kernels, exact, cell by cell of grid × scores."""
    distance = np.abs(grid[:, None] - scores)
    cells = kernel_values(distance, bandwidth, kernel, reflect)
    if reflect:
        cells += kernel_values(mirrored(grid[:, None] + scores), bandwidth, kernel, reflect)
    return cells.sum(axis=1) if weights is None else cells @ weights


def _cosine_series(
    scores: np.ndarray, weights: np.ndarray | None, grid: np.ndarray, bandwidth: float
) -> np.ndarray:
    """The weighted sum of reflected Gaussians.

    Reflecting a kernel at both ends again and again is the same as its cosine series, in which a Gaussian
    of bandwidth h damps the k-th term by exp(−(πkh)² / 2).
    """
    n_terms = math.ceil(8.6 / (math.pi * bandwidth))  # the next term is damped below 1e-16
    frequencies = math.pi * np.arange(1, n_terms + 1)
    if n_terms * len(scores) <= _SERIES_CELLS:
        cosines = np.cos(np.outer(frequencies, scores))
        sums = cosines.sum(axis=1) if weights is None else cosines @ weights
    else:
        binned = shared_out(scores, weights, _power_of_two(max(32 / bandwidth, _MIN_BINS)))
        # The transform counts inner points twice and end points once.
        binned[[0, -1]] *= 2.0
        sums = (dct(binned, type=1) / 2.0)[1 : n_terms + 1]
    damped = sums * np.exp(-0.5 * (frequencies * bandwidth) ** 2)
    total = total_weight(weights, len(scores))
    return total + 2.0 * (np.cos(np.outer(grid, frequencies)) @ damped)


def _power_of_two(at_least: float) -> int:
    return 1 << math.ceil(math.log2(at_least))
