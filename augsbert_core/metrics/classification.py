"""How well scores tell positive pairs from negative ones: at a threshold, over all, and in triplets.

gold01 is 1 for positive pairs (0.5 and above counts). Every figure is None when a value is not finite.
"""

from dataclasses import dataclass

import numpy as np


def f1_best_threshold(gold01: np.ndarray, scores: np.ndarray) -> tuple[float | None, float | None]:
    """The largest F1 of "positive when score ≥ threshold" over all thresholds, and its threshold.

    The threshold lies half-way between neighbouring scores; of equal F1 the highest threshold is taken.
    (None, None) without a positive pair.
    """
    positive, scores, finite = _classified(gold01, scores)
    n_positive = int(positive.sum())
    if not finite or not n_positive:
        return None, None
    levels, hits, chosen = _cuts(positive, scores)
    f1 = 2.0 * hits / (chosen + n_positive)
    best = int(np.argmax(f1))
    return float(f1[best]), _between(levels, best)


def f1_at(gold01: np.ndarray, scores: np.ndarray, threshold: float) -> float | None:
    """F1 of "positive when score ≥ threshold"; None without a positive pair."""
    positive, scores, finite = _classified(gold01, scores)
    if not finite or not positive.any():
        return None
    chosen = scores >= threshold
    return float(2.0 * np.sum(chosen & positive) / (chosen.sum() + positive.sum()))


def accuracy_best_threshold(
    gold01: np.ndarray, scores: np.ndarray
) -> tuple[float | None, float | None]:
    """The largest accuracy of "positive when score ≥ threshold" and its threshold, as `f1_best_threshold`.

    A threshold above all scores counts too. (None, None) without pairs.
    """
    positive, scores, finite = _classified(gold01, scores)
    if not finite or not len(positive):
        return None, None
    levels, hits, chosen = _cuts(positive, scores)
    n_negative = len(positive) - int(positive.sum())
    right = np.concatenate([[n_negative], hits + n_negative - (chosen - hits)])
    best = int(np.argmax(right))
    threshold = float(np.nextafter(levels[0], np.inf)) if best == 0 else _between(levels, best - 1)
    return float(right[best] / len(positive)), threshold


def accuracy_at(gold01: np.ndarray, scores: np.ndarray, threshold: float) -> float | None:
    """The share of pairs that "positive when score ≥ threshold" gets right; None without pairs."""
    positive, scores, finite = _classified(gold01, scores)
    if not finite or not len(positive):
        return None
    return float(np.mean((scores >= threshold) == positive))


def average_precision(gold01: np.ndarray, scores: np.ndarray) -> float | None:
    """The area under the precision-recall steps; None without a positive pair."""
    positive, scores, finite = _classified(gold01, scores)
    n_positive = int(positive.sum())
    if not finite or not n_positive:
        return None
    _, hits, chosen = _cuts(positive, scores)
    return float(np.sum(np.diff(hits, prepend=0) / n_positive * (hits / chosen)))


def auc_at(gold01: np.ndarray, scores: np.ndarray, max_fpr: float = 0.05) -> float | None:
    """The area under the ROC curve for false-positive rates 0 to max_fpr, divided by max_fpr: in [0, 1].

    Not standardised after McClish: chance gives max_fpr / 2. Pairs of equal score are one step of the curve.
    None unless there are positive and negative pairs.
    """
    positive, scores, finite = _classified(gold01, scores)
    n_positive = int(positive.sum())
    n_negative = len(positive) - n_positive
    if not finite or not n_positive or not n_negative:
        return None
    _, hits, chosen = _cuts(positive, scores)
    tpr = np.concatenate([[0.0], hits / n_positive])
    fpr = np.concatenate([[0.0], (chosen - hits) / n_negative])
    inside = fpr <= max_fpr
    last = int(inside.sum())
    x, y = fpr[inside], tpr[inside]
    if last < len(fpr) and x[-1] < max_fpr:
        share = (max_fpr - fpr[last - 1]) / (fpr[last] - fpr[last - 1])
        x = np.append(x, max_fpr)
        y = np.append(y, tpr[last - 1] + share * (tpr[last] - tpr[last - 1]))
    return float(np.trapezoid(y, x) / max_fpr)


@dataclass(frozen=True)
class ThresholdCurve:
    """What each threshold gives on the same pairs; parallel arrays, thresholds ascending."""

    threshold: np.ndarray
    f1: np.ndarray
    precision: np.ndarray
    recall: np.ndarray


def threshold_curve(
    gold01: np.ndarray, scores: np.ndarray, points: int = 201
) -> ThresholdCurve | None:
    """F1, precision and recall at the scores themselves, at most `points` of them; None without a positive pair.

    Thresholds are spread evenly over the ranks of the scores, the lowest and the highest among them.
    """
    positive, scores, finite = _classified(gold01, scores)
    n_positive = int(positive.sum())
    if not finite or not n_positive:
        return None
    levels, hits, chosen = _cuts(positive, scores)
    kept = np.unique(np.linspace(0, len(levels) - 1, min(points, len(levels))).round().astype(int))
    kept = kept[::-1]
    return ThresholdCurve(
        threshold=levels[kept],
        f1=2.0 * hits[kept] / (chosen[kept] + n_positive),
        precision=hits[kept] / chosen[kept],
        recall=hits[kept] / n_positive,
    )


def majority_class(gold01: np.ndarray) -> float | None:
    """The more frequent class, 1.0 or 0.0 (1.0 of equals): the answer of a model that reads nothing.

    None without pairs.
    """
    gold = np.asarray(gold01, dtype=np.float64)
    return None if not len(gold) else float(np.mean(gold >= 0.5) >= 0.5)


def triplet_accuracy(positive: np.ndarray, negative: np.ndarray) -> float | None:
    """The share of triplets whose anchor is more like the positive than the negative; a tie is wrong.

    positive, negative: sim(anchor, positive) and sim(anchor, negative). None without triplets.
    """
    near, far = np.asarray(positive, dtype=np.float64), np.asarray(negative, dtype=np.float64)
    if near.shape != far.shape:
        raise ValueError(f"positive has shape {near.shape}, negative {far.shape}")
    if not len(near) or not (np.isfinite(near).all() and np.isfinite(far).all()):
        return None
    return float(np.mean(near > far))


def share_interval(count: int, n: int, level: float = 0.95) -> tuple[float, float, float]:
    """A share with its Wilson interval: (count / n, low, high). n must be at least 1."""
    from scipy.stats import binomtest

    interval = binomtest(count, n).proportion_ci(level, method="wilson")
    return count / n, float(interval.low), float(interval.high)


def _classified(gold01: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """Positive flags, scores, and whether every value is finite."""
    gold, scores = np.asarray(gold01, dtype=np.float64), np.asarray(scores, dtype=np.float64)
    if gold.shape != scores.shape:
        raise ValueError(f"gold has shape {gold.shape}, scores {scores.shape}")
    finite = bool(np.isfinite(gold).all() and np.isfinite(scores).all())
    return gold >= 0.5, scores, finite


def _cuts(positive: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each distinct score, highest first: the score, and how many positives and pairs reach it."""
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    last_of_level = np.append(np.flatnonzero(np.diff(ordered)), len(ordered) - 1)
    return ordered[last_of_level], np.cumsum(positive[order])[last_of_level], last_of_level + 1


def _between(levels: np.ndarray, place: int) -> float:
    """Half-way between a level and the next lower one, or the lowest level itself."""
    if place + 1 == len(levels):
        return float(levels[place])
    # Half of each, since the sum of two huge scores can overflow.
    middle = 0.5 * levels[place] + 0.5 * levels[place + 1]
    return float(middle) if middle > levels[place + 1] else float(levels[place])
