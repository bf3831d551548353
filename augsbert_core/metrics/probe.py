"""How much of a task is in frozen embeddings: logistic regression on them, as SentEval did."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

STRENGTHS = tuple(2.0**power for power in range(-2, 9, 2))
"""Inverse regularisation strengths that are tried, on dev or on an inner split."""


@dataclass(frozen=True)
class ProbeResult:
    """accuracy: on test, or the mean over folds. sd: between folds, None without folds. majority: on the same rows."""

    accuracy: float
    sd: float | None
    majority: float
    n_train: int
    n_test: int
    strength: float


def probe_splits(
    features: np.ndarray, labels: np.ndarray, splits: Sequence[str], *, seed: int
) -> ProbeResult:
    """Fit on train with the strength that is best on dev (or on a tenth of train without dev), judge on test.

    features: (rows, dimensions). splits: "train", "dev" or "test" for each row; train and test must be there.
    """
    where = np.asarray(splits)
    train, dev, test = (np.flatnonzero(where == name) for name in ("train", "dev", "test"))
    strength = _best_strength(features, labels, train, dev, seed)
    accuracy = _accuracy(features, labels, train, test, strength, seed)
    majority = _majority(labels, train, test)
    return ProbeResult(accuracy, None, majority, len(train), len(test), strength)


def probe_folds(features: np.ndarray, labels: np.ndarray, *, folds: int, seed: int) -> ProbeResult:
    """Cross-validate: each fold is judged once by a model that has not seen it.

    The strength is chosen within the first fold's training rows and kept. labels: every class has at least
    `folds` rows, or scikit-learn warns and folds lack it.
    """
    from sklearn.model_selection import StratifiedKFold

    parts = list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(features, labels))
    strength = _best_strength(features, labels, parts[0][0], np.zeros(0, dtype=np.int64), seed)
    accuracies = [_accuracy(features, labels, train, test, strength, seed) for train, test in parts]
    majority = float(np.mean([_majority(labels, train, test) for train, test in parts]))
    spread = float(np.std(accuracies, ddof=1)) if folds > 1 else None
    n_train = len(parts[0][0])
    return ProbeResult(float(np.mean(accuracies)), spread, majority, n_train, len(labels), strength)


def _best_strength(
    features: np.ndarray, labels: np.ndarray, train: np.ndarray, dev: np.ndarray, seed: int
) -> float:
    if not len(dev):
        shuffled = np.random.default_rng(seed).permutation(train)
        cut = max(len(shuffled) // 10, 1)
        dev, train = shuffled[:cut], shuffled[cut:]
    if len(np.unique(labels[train])) < 2:
        return 1.0
    found = [_accuracy(features, labels, train, dev, one, seed) for one in STRENGTHS]
    return STRENGTHS[int(np.argmax(found))]


def _accuracy(
    features: np.ndarray,
    labels: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    strength: float,
    seed: int,
) -> float:
    from sklearn.linear_model import LogisticRegression

    model: Any = LogisticRegression(C=strength, max_iter=1000, random_state=seed)
    model.fit(features[train], labels[train])
    return float(np.mean(model.predict(features[test]) == labels[test]))


def _majority(labels: np.ndarray, train: np.ndarray, test: np.ndarray) -> float:
    classes, counts = np.unique(labels[train], return_counts=True)
    return float(np.mean(labels[test] == classes[np.argmax(counts)]))
