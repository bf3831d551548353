"""How wide a kernel should be: rules from the real number and spread of the scores."""

import numpy as np

from augsbert_core.density.inputs import checked_scores, checked_weights, total_weight
from augsbert_core.density.kernels import checked_kernel, kernel_values, mirrored, smoothed

CONSTANT_BANDWIDTH = 0.01  # a spike that a grid of 257 points still shows
WIDEST_CANDIDATE = 1.0

BANDWIDTH_RULES = ("robust", "silverman", "scott", "cross-validated")

_CANDIDATES = 33  # a step is a factor of 1.15
_LIKELIHOOD_BINS = 1 << 13  # 1/80 of the smallest candidate
_LIKELIHOOD_FLOOR = 1e-12  # of a density; what a transform cannot tell from 0


def bandwidth(
    rule: str,
    scores: np.ndarray,
    weights: np.ndarray | None = None,
    kernel: str = "gaussian",
    reflect: bool = True,
) -> float:
    """The bandwidth that a rule gives for scores in [0, 1], never below CONSTANT_BANDWIDTH.

    rule, with n the number of scores and σ their standard deviation:
    "robust": Silverman's 0.9 · min(σ, IQR / 1.34) · n^(−1/5); where half of the scores are equal (IQR 0),
    σ alone counts. "silverman": σ · (3n/4)^(−1/5). "scott": σ · n^(−1/5). These three do not look at the
    kernel; the last two are scipy.stats.gaussian_kde's. "cross-validated": see `likelihoods`.

    weights: how often each score occurs; the answer is that of the repeated scores, time and memory do
    not grow with the counts. CONSTANT_BANDWIDTH is the answer for constant, single and no scores.
    """
    if rule not in BANDWIDTH_RULES:
        raise ValueError(
            f"bandwidth rule must be one of {', '.join(BANDWIDTH_RULES)}, not {rule!r}"
        )
    checked_kernel(kernel, CONSTANT_BANDWIDTH)
    scores = checked_scores(scores)
    weights = checked_weights(weights, len(scores))
    n = total_weight(weights, len(scores))
    if n <= 1.0:
        return CONSTANT_BANDWIDTH
    if rule == "cross-validated":
        candidates, values = likelihoods(scores, weights, kernel, reflect)
        return float(candidates[np.argmax(values)])
    spread = _deviation(scores, weights, n)
    if rule == "robust":
        low, high = _quartiles(scores, weights, n)
        spread = 0.9 * (min(spread, (high - low) / 1.34) if high > low else spread)
    elif rule == "silverman":
        spread *= 0.75**-0.2
    return max(spread * n**-0.2, CONSTANT_BANDWIDTH)


def likelihoods(
    scores: np.ndarray,
    weights: np.ndarray | None = None,
    kernel: str = "gaussian",
    reflect: bool = True,
) -> tuple[np.ndarray, np.ndarray]:
    """Candidate bandwidths, and the mean log density of each score under all the others.

    This is cross-validation with as many folds as scores, which needs no draw of folds and does not
    depend on the order: the density of the others is that of all less the score's own kernel (and its
    mirror images). Candidates are log-spaced from CONSTANT_BANDWIDTH to WIDEST_CANDIDATE. Scores are
    first moved to the nearest of 8,193 nodes, so a million of them take a few milliseconds. A score out of
    reach of all the others has the log of 1e-12, not −∞. Scores on a few levels (ties) favour the
    smallest candidate, as under any likelihood.
    """
    scores = checked_scores(scores)
    weights = checked_weights(weights, len(scores))
    candidates = np.geomspace(CONSTANT_BANDWIDTH, WIDEST_CANDIDATE, _CANDIDATES)
    nearest = np.rint(scores * _LIKELIHOOD_BINS).astype(np.int64)
    counts = np.bincount(nearest, weights, minlength=_LIKELIHOOD_BINS + 1).astype(np.float64)
    n = counts.sum()
    if n <= 1.0:
        raise ValueError("cross-validation needs two scores")
    taken = np.flatnonzero(counts)
    own_distance = mirrored(2.0 * taken / _LIKELIHOOD_BINS)
    values = np.empty(len(candidates))
    for i, candidate in enumerate(candidates):
        own = kernel_values(np.zeros(1), candidate, kernel, reflect)
        if reflect:
            own = own + kernel_values(own_distance, candidate, kernel, reflect)
        others = (smoothed(counts, candidate, kernel, reflect)[taken] - own) / (n - 1.0)
        values[i] = counts[taken] @ np.log(np.maximum(others, _LIKELIHOOD_FLOOR)) / n
    return candidates, values


def _deviation(scores: np.ndarray, weights: np.ndarray | None, n: float) -> float:
    """The standard deviation with n − 1 below the line."""
    if weights is None:
        return float(np.std(scores, ddof=1))
    mean = weights @ scores / n
    return float(np.sqrt(weights @ (scores - mean) ** 2 / (n - 1.0)))


def _quartiles(scores: np.ndarray, weights: np.ndarray | None, n: float) -> tuple[float, float]:
    """numpy's 25th and 75th percentile of the repeated scores."""
    if weights is None:
        low, high = np.percentile(scores, [25, 75])
        return float(low), float(high)
    order = np.argsort(scores)
    cumulative = np.cumsum(weights[order])
    position = np.array([0.25, 0.75]) * (n - 1.0)
    below = np.floor(position)
    # The score number m of the repeated ones is the first whose cumulative weight exceeds m.
    last = len(scores) - 1
    left = scores[order[np.minimum(np.searchsorted(cumulative, below, "right"), last)]]
    right = scores[order[np.minimum(np.searchsorted(cumulative, below + 1, "right"), last)]]
    low, high = left + (position - below) * (right - left)
    return float(low), float(high)
