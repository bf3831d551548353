"""What the functions of this package accept: scores in [0, 1], and how often each of them occurs."""

import numpy as np

_TOLERANCE = 1e-9  # scores may miss [0, 1] by rounding


def checked_scores(scores: np.ndarray) -> np.ndarray:
    """The scores as float64 in [0, 1]; ValueError when one is outside or not a number."""
    scores = np.asarray(scores, dtype=np.float64)
    if not scores.size:
        return scores
    low, high = scores.min(), scores.max()
    if not (low >= -_TOLERANCE and high <= 1 + _TOLERANCE):
        outside = ~((scores >= -_TOLERANCE) & (scores <= 1 + _TOLERANCE))
        count, example = int(np.sum(outside)), scores[outside][0]
        raise ValueError(
            f"{count} of {len(scores)} scores are not in [0, 1], for example {example}"
        )
    return scores if low >= 0 and high <= 1 else np.clip(scores, 0.0, 1.0)


def checked_weights(weights: np.ndarray | None, n: int) -> np.ndarray | None:
    """The weights as float64, None where every score counts once; ValueError when they make no sense."""
    if weights is None:
        return None
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (n,) or not np.all((weights >= 0) & np.isfinite(weights)):
        raise ValueError(f"weights must be {n} non-negative numbers")
    return weights


def total_weight(weights: np.ndarray | None, n: int) -> float:
    """How many scores there are, counting each as often as it occurs."""
    return float(n) if weights is None else float(weights.sum())


def shared_out(scores: np.ndarray, weights: np.ndarray | None, n_bins: int) -> np.ndarray:
    """The weight at n_bins + 1 evenly spaced nodes of [0, 1], each score shared between its two neighbours.

    The nearer neighbour gets the larger part, so that the mean of the scores stays what it is.
    """
    position = scores * n_bins
    left = position.astype(np.int64)  # a score of 1 has all of its weight here, at the last node
    position -= left
    if weights is not None:
        position *= weights
    to_right = np.bincount(left, position, minlength=n_bins + 1)
    binned = np.bincount(left, weights, minlength=n_bins + 1) - to_right
    binned[1:] += to_right[:-1]
    return binned
