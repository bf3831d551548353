"""All figures of one model on one split: the main one, its interval, and those beside it."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from augsbert_core import metrics

MAJORITY_THRESHOLD = 0.5
"""The majority class is 0 or 1, so no threshold is chosen for it: on dev it would turn 0 into 1."""


@dataclass(frozen=True)
class Figures:
    """metric: "spearman" or "f1". threshold: of F1, chosen on dev. details: further figures by name."""

    metric: str
    value: float | None
    interval: tuple[float, float] | None
    threshold: float | None = None
    details: dict[str, Any] = field(default_factory=dict)


def regression_figures(gold: np.ndarray, predicted: np.ndarray, *, seed: int) -> Figures:
    """Spearman, and beside it Pearson, MSE and MAE."""
    details = {
        "pearson": metrics.pearson(gold, predicted),
        "mse": metrics.mean_squared_error(gold, predicted),
        "mae": metrics.mean_absolute_error(gold, predicted),
    }
    value = metrics.spearman(gold, predicted)
    return Figures(
        "spearman", value, _interval("spearman", None, gold, predicted, seed), None, details
    )


def classification_figures(
    gold: np.ndarray,
    predicted: np.ndarray,
    dev: tuple[np.ndarray, np.ndarray],
    *,
    threshold: float | None = None,
    seed: int,
) -> Figures:
    """F1 at the threshold that is best on dev, and beside it accuracy, average precision and AUC(0.05).

    dev: gold and predicted scores of the dev pairs. threshold: use this one instead. "accuracy" is at the
    threshold of F1, "threshold_accuracy" at the one that is best for accuracy on dev.
    """
    if threshold is None:
        _, threshold = metrics.f1_best_threshold(*dev)
    _, for_accuracy = metrics.accuracy_best_threshold(*dev)
    curve = metrics.threshold_curve(*dev)
    details = {
        "accuracy": None if threshold is None else metrics.accuracy_at(gold, predicted, threshold),
        "threshold_accuracy": None
        if for_accuracy is None
        else metrics.accuracy_at(gold, predicted, for_accuracy),
        "average_precision": metrics.average_precision(gold, predicted),
        "auc05": metrics.auc_at(gold, predicted),
        "dev_curve": None
        if curve is None
        else {
            name: np.round(getattr(curve, name), 6).tolist()
            for name in ("threshold", "f1", "precision", "recall")
        },
    }
    if threshold is None:  # no positive dev pair to choose one on
        return Figures("f1", None, None, None, details)
    value = statistic("f1", threshold)(gold, predicted)
    interval = _interval("f1", threshold, gold, predicted, seed)
    return Figures("f1", value, interval, threshold, details)


def statistic(metric: str, threshold: float | None) -> metrics.Statistic:
    """The function behind a metric's name; "f1" classifies at the threshold."""
    if metric == "spearman":
        return metrics.spearman
    return partial(metrics.f1_at, threshold=0.5 if threshold is None else threshold)


def _interval(
    metric: str, threshold: float | None, gold: np.ndarray, predicted: np.ndarray, seed: int
) -> tuple[float, float] | None:
    return metrics.bootstrap_interval(
        statistic(metric, threshold),
        gold,
        predicted,
        resamples=metrics.resamples_for(len(gold)),
        seed=seed,
    )
