"""Scores from best-worst answers by counting (Kiritchenko and Mohammad, 2016).

An answer is one row: the pairs of the tuple that was shown (`design[rows]`), the best and the worst of them. Several
judges of one tuple are several rows.
"""

import numpy as np


def appearances(tuples: np.ndarray, n_pairs: int) -> np.ndarray:
    """How many of the answers each pair appears in. tuples: pair numbers, shape (answers, size)."""
    return np.bincount(np.asarray(tuples, dtype=np.int64).reshape(-1), minlength=n_pairs)


def score(tuples: np.ndarray, best: np.ndarray, worst: np.ndarray, n_pairs: int) -> np.ndarray:
    """(times best − times worst) / appearances for each pair, from −1 to 1; NaN for a pair that never appeared.

    tuples: pair numbers, shape (answers, size); best, worst: pair numbers, shape (answers,). ValueError when an
    answer names a pair that was not shown, or the same one as best and worst.
    """
    tuples, best, worst = checked_answers(tuples, best, worst, n_pairs)
    shown = appearances(tuples, n_pairs)
    balance = np.bincount(best, minlength=n_pairs) - np.bincount(worst, minlength=n_pairs)
    return np.divide(balance, shown, out=np.full(n_pairs, np.nan), where=shown > 0)


def to_unit(scores: np.ndarray) -> np.ndarray:
    """Scores from [−1, 1] on [0, 1]: (x + 1) / 2; NaN stays NaN."""
    return (np.asarray(scores, dtype=np.float64) + 1.0) / 2.0


def checked_answers(
    tuples: np.ndarray, best: np.ndarray, worst: np.ndarray, n_pairs: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The answers as integer arrays; ValueError, with the first wrong row, as in `score`."""
    tuples, best, worst = (np.asarray(column, dtype=np.int64) for column in (tuples, best, worst))
    if not len(tuples):
        tuples = tuples.reshape(0, 1)
    if tuples.ndim != 2 or best.shape != (len(tuples),) or worst.shape != (len(tuples),):
        raise ValueError(f"tuples {tuples.shape}, best {best.shape} and worst {worst.shape}")
    if tuples.size and not (tuples.min() >= 0 and tuples.max() < n_pairs):
        raise ValueError(f"pair numbers {tuples.min()} to {tuples.max()}, but {n_pairs} pairs")
    for name, column in (("best", best), ("worst", worst)):
        absent = np.flatnonzero(~(tuples == column[:, None]).any(axis=1))
        if len(absent):
            row = absent[0]
            raise ValueError(f"answer {row}: {name} {column[row]} is not in {tuples[row].tolist()}")
    same = np.flatnonzero(best == worst)
    if len(same):
        raise ValueError(f"answer {same[0]}: {best[same[0]]} is both best and worst")
    return tuples, best, worst
