"""Calibration: a scorer's own numbers turned into scores in [0, 1] that follow gold."""

from dataclasses import dataclass

import numpy as np

FEWEST_PAIRS = 10
"""A curve through fewer pairs than this would be made of single pairs."""


@dataclass(frozen=True)
class Calibration:
    """A curve that never falls. knots: ascending numbers of the scorer; values: their scores in [0, 1]."""

    knots: np.ndarray
    values: np.ndarray

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        """The scores of a scorer's numbers, float32; beyond the outermost knots the outermost score."""
        scores = np.interp(np.asarray(numbers, dtype=np.float64), self.knots, self.values)
        return scores.astype(np.float32)


def calibrate(numbers: np.ndarray, gold: np.ndarray) -> Calibration:
    """Isotonic regression of gold scores on a scorer's numbers (least squares, never falling).

    numbers: any scale, gold: in [0, 1], same length. ValueError: there is no pair, or a value is not finite.
    """
    from sklearn.isotonic import IsotonicRegression

    numbers, gold = np.asarray(numbers, dtype=np.float64), np.asarray(gold, dtype=np.float64)
    if not len(numbers) or not (np.isfinite(numbers).all() and np.isfinite(gold).all()):
        raise ValueError("calibration needs finite numbers")
    fitted = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(numbers, gold)
    return Calibration(fitted.X_thresholds_, fitted.y_thresholds_)


def cross_calibrated(
    numbers: np.ndarray, gold: np.ndarray, *, folds: int = 5, seed: int
) -> np.ndarray:
    """The calibrated score of each pair by curves that have not seen that pair: float32.

    What a scorer's labels are worth on the very pairs that it is calibrated on; a curve through all of them
    would flatter it. folds: parts of equal size, drawn with `seed`. With fewer than two pairs a fold, all
    pairs share one curve.
    """
    if len(numbers) < 2 * folds:
        return calibrate(numbers, gold)(numbers)
    part = np.random.default_rng(seed).permutation(len(numbers)) % folds
    scores = np.zeros(len(numbers), dtype=np.float32)
    for fold in range(folds):
        seen = part != fold
        scores[~seen] = calibrate(numbers[seen], gold[seen])(numbers[~seen])
    return scores
