"""How well scores follow gold scores: rank and linear correlation, and distances on the unit scale."""

import numpy as np

_MIN_PAIRS = 3


def spearman(gold: np.ndarray, predicted: np.ndarray) -> float | None:
    """Spearman's rank correlation, ties at their average rank.

    None for fewer than 3 pairs, a constant column, or a value that is not finite.
    """
    columns = _correlatable(gold, predicted)
    return None if columns is None else pearson(ranks(columns[0]), ranks(columns[1]))


def pearson(gold: np.ndarray, predicted: np.ndarray) -> float | None:
    """Pearson's correlation; None in the same cases as `spearman`."""
    columns = _correlatable(gold, predicted)
    if columns is None:
        return None
    x, y = (standard(column) for column in columns)
    norm = float(np.sqrt((x @ x) * (y @ y)))
    return float(np.clip(x @ y / norm, -1.0, 1.0)) if norm > 0 else None


def mean_squared_error(gold: np.ndarray, predicted: np.ndarray) -> float | None:
    """The mean squared distance of scores from gold; scores are taken as they are, clipped to [0, 1].

    None without pairs or for a value that is not finite.
    """
    apart = _distances(gold, predicted)
    return None if apart is None else float(np.mean(apart**2))


def mean_absolute_error(gold: np.ndarray, predicted: np.ndarray) -> float | None:
    """The mean distance of scores from gold, as in `mean_squared_error`."""
    apart = _distances(gold, predicted)
    return None if apart is None else float(np.mean(np.abs(apart)))


def ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 1, ties at their average."""
    _, group, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2.0)[group]


def standard(values: np.ndarray) -> np.ndarray:
    """Centred and divided by the largest deviation, so that no square can overflow or vanish."""
    centred = values - values.mean()
    largest = np.abs(centred).max()
    return centred / largest if largest > 0 else centred


def _correlatable(gold: np.ndarray, predicted: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    x, y = _columns(gold, predicted)
    if len(x) < _MIN_PAIRS or not (np.isfinite(x).all() and np.isfinite(y).all()):
        return None
    # The extremes tell constants apart exactly; a variance would only be nearly zero.
    return None if x.min() == x.max() or y.min() == y.max() else (x, y)


def _distances(gold: np.ndarray, predicted: np.ndarray) -> np.ndarray | None:
    x, y = _columns(gold, predicted)
    if not len(x) or not (np.isfinite(x).all() and np.isfinite(y).all()):
        return None
    return np.clip(y, 0.0, 1.0) - x


def _columns(gold: np.ndarray, predicted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.asarray(gold, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    if x.shape != y.shape:
        raise ValueError(f"gold has shape {x.shape}, predicted {y.shape}")
    return x, y
