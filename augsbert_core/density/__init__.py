"""Densities of scores on [0, 1], how wide their kernels are, and how far apart two of them are."""

from augsbert_core.density.bandwidths import (
    BANDWIDTH_RULES,
    CONSTANT_BANDWIDTH,
    bandwidth,
    likelihoods,
)
from augsbert_core.density.distances import (
    KL_FLOOR,
    kl_divergence,
    ks_distance,
    trapezoid_widths,
    wasserstein_distance,
)
from augsbert_core.density.estimate import density, unit_grid
from augsbert_core.density.kernels import KERNELS, MIN_BANDWIDTH

__all__ = [
    "BANDWIDTH_RULES",
    "CONSTANT_BANDWIDTH",
    "KERNELS",
    "KL_FLOOR",
    "MIN_BANDWIDTH",
    "bandwidth",
    "density",
    "kl_divergence",
    "ks_distance",
    "likelihoods",
    "trapezoid_widths",
    "unit_grid",
    "wasserstein_distance",
]
