"""The six kernels of scikit-learn's KernelDensity, and smoothing with any of them through a transform."""

import math
from collections.abc import Callable

import numpy as np
from scipy.fft import dct, irfft, rfft

MIN_BANDWIDTH = 1e-3
WIDEST_REFLECTED = 64.0  # reflected kernels of this and any larger bandwidth are flat on [0, 1]

_REACH = 9.0  # bandwidths after which a Gaussian is nothing (exp(−81 / 2) < 1e-17)

Kernel = Callable[[np.ndarray], np.ndarray]


def _gaussian(distance: np.ndarray) -> np.ndarray:
    return np.exp(-0.5 * distance * distance) / math.sqrt(2.0 * math.pi)


def _tophat(distance: np.ndarray) -> np.ndarray:
    return np.where(distance < 1.0, 0.5, 0.0)


def _epanechnikov(distance: np.ndarray) -> np.ndarray:
    return 0.75 * np.maximum(1.0 - distance * distance, 0.0)


def _exponential(distance: np.ndarray) -> np.ndarray:
    return 0.5 * np.exp(-distance)


def _linear(distance: np.ndarray) -> np.ndarray:
    return np.maximum(1.0 - distance, 0.0)


def _cosine(distance: np.ndarray) -> np.ndarray:
    return math.pi / 4.0 * np.cos(math.pi / 2.0 * np.minimum(distance, 1.0))


# Name as in KernelDensity: the kernel of bandwidth 1, of area 1, at distances of at least 0.
KERNELS: dict[str, Kernel] = {
    "gaussian": _gaussian,
    "tophat": _tophat,
    "epanechnikov": _epanechnikov,
    "exponential": _exponential,
    "linear": _linear,
    "cosine": _cosine,
}


def checked_kernel(kernel: str, bandwidth: float) -> None:
    """ValueError when there is no such kernel, or when the bandwidth is no number from MIN_BANDWIDTH on."""
    if kernel not in KERNELS:
        raise ValueError(f"kernel must be one of {', '.join(KERNELS)}, not {kernel!r}")
    if not (math.isfinite(bandwidth) and bandwidth >= MIN_BANDWIDTH):
        raise ValueError(f"bandwidth must be at least {MIN_BANDWIDTH:g}, not {bandwidth:g}")


def kernel_values(distance: np.ndarray, bandwidth: float, kernel: str, reflect: bool) -> np.ndarray:
    """The kernel at distances in [0, 1]; with reflect, the sum of its copies at every multiple of 2.

    Mirroring a score at 0 and at 1 again and again puts copies of it at ± score + 2k for all integers k.
    """
    function = KERNELS[kernel]
    if not reflect:
        return function(distance / bandwidth) / bandwidth
    bandwidth = min(bandwidth, WIDEST_REFLECTED)
    if kernel == "exponential":  # the copies are two geometric series
        ends = np.exp(-distance / bandwidth) + np.exp((distance - 2.0) / bandwidth)
        return ends / (-2.0 * bandwidth * math.expm1(-2.0 / bandwidth))
    reach = bandwidth * (_REACH if kernel == "gaussian" else 1.0)
    values = function(distance / bandwidth)
    shift = 2.0
    while shift - 1.0 < reach:
        values += function((shift - distance) / bandwidth)
        values += function((shift + distance) / bandwidth)
        shift += 2.0
    return values / bandwidth


def mirrored(total: np.ndarray) -> np.ndarray:
    """The distance in [0, 1] of a grid point from the nearest copy of a mirror image.

    total: grid point + score, in [0, 2].
    """
    return np.minimum(total, 2.0 - total)


def smoothed(weight: np.ndarray, bandwidth: float, kernel: str, reflect: bool) -> np.ndarray:
    """The sum of kernels of the weights at evenly spaced nodes of [0, 1], at these same nodes.

    One convolution on a circle of twice the length, so time and memory grow with the nodes alone:
    mirrored weights fill its second half under reflection, zeros without.
    """
    n_bins = len(weight) - 1
    at_nodes = kernel_values(np.arange(n_bins + 1) / n_bins, bandwidth, kernel, reflect)
    spectrum = dct(at_nodes, type=1)
    if not reflect:
        return irfft(rfft(weight, 2 * n_bins) * spectrum, 2 * n_bins)[: n_bins + 1]
    doubled_ends = weight.copy()
    doubled_ends[[0, -1]] *= 2.0  # each is its own mirror image
    return dct(dct(doubled_ends, type=1) * spectrum, type=1) / (2 * n_bins)
