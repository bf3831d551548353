"""Logistic regression on frozen embeddings."""

import numpy as np

from augsbert_core.metrics.probe import probe_folds, probe_splits


def test_a_probe_finds_what_is_in_the_features_and_nothing_else():
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 3, 240)
    telling = np.eye(3)[labels] + 0.2 * rng.normal(size=(240, 3))
    found = probe_folds(telling, labels, folds=4, seed=1)
    assert found.accuracy > 0.95
    assert (found.n_train, found.n_test) == (180, 240)
    assert found.sd is not None
    nothing = probe_folds(rng.normal(size=(240, 3)), labels, folds=4, seed=1)
    assert nothing.accuracy < 0.5


def test_a_probe_judges_on_test_rows_alone():
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 2, 200)
    features = labels[:, None] + 0.1 * rng.normal(size=(200, 2))
    splits = ["train"] * 120 + ["dev"] * 40 + ["test"] * 40
    features[160:] = 1 - features[160:]
    found = probe_splits(features, labels, splits, seed=1)
    assert found.accuracy == 0.0, "the test rows are the other way round"
    assert (found.n_train, found.n_test, found.sd) == (120, 40, None)
    assert found.majority == np.mean(labels[160:] == (labels[:120].mean() >= 0.5))
