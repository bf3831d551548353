"""How well scores agree with gold, with intervals. An undefined value is None, never 0 and never NaN."""

from augsbert_core.metrics.bootstrap import (
    RESAMPLES,
    Difference,
    Statistic,
    bootstrap_interval,
    difference_of,
    interval,
    paired_bootstrap,
    paired_bootstrap_interval,
    replicates,
    resamples_for,
)
from augsbert_core.metrics.classification import (
    ThresholdCurve,
    accuracy_at,
    accuracy_best_threshold,
    auc_at,
    average_precision,
    f1_at,
    f1_best_threshold,
    majority_class,
    share_interval,
    threshold_curve,
    triplet_accuracy,
)
from augsbert_core.metrics.correlation import (
    mean_absolute_error,
    mean_squared_error,
    pearson,
    spearman,
)
from augsbert_core.metrics.overlap import jaccard

__all__ = [
    "RESAMPLES",
    "Difference",
    "Statistic",
    "ThresholdCurve",
    "accuracy_at",
    "accuracy_best_threshold",
    "auc_at",
    "average_precision",
    "bootstrap_interval",
    "difference_of",
    "f1_at",
    "f1_best_threshold",
    "interval",
    "jaccard",
    "majority_class",
    "mean_absolute_error",
    "mean_squared_error",
    "paired_bootstrap",
    "paired_bootstrap_interval",
    "pearson",
    "replicates",
    "resamples_for",
    "share_interval",
    "spearman",
    "threshold_curve",
    "triplet_accuracy",
]
