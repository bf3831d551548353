"""Agreement with gold against scipy and scikit-learn; undefined is None."""

import math
import time
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, average_precision_score, f1_score, roc_curve

from augsbert_core.metrics import (
    accuracy_at,
    accuracy_best_threshold,
    auc_at,
    average_precision,
    bootstrap_interval,
    difference_of,
    f1_at,
    f1_best_threshold,
    jaccard,
    majority_class,
    mean_absolute_error,
    mean_squared_error,
    paired_bootstrap,
    paired_bootstrap_interval,
    pearson,
    replicates,
    resamples_for,
    spearman,
    threshold_curve,
    triplet_accuracy,
)

COLUMNS = st.integers(3, 40).flatmap(
    lambda n: st.tuples(
        *[st.lists(st.integers(0, 9), min_size=n, max_size=n).map(np.array) for _ in range(2)]
    )
)
CLASSIFIED = st.lists(
    st.tuples(st.integers(0, 1), st.one_of(st.floats(-3, 3), st.integers(-2, 2))),
    min_size=1,
    max_size=30,
).map(lambda rows: (np.array([g for g, _ in rows]), np.array([float(s) for _, s in rows])))


@given(COLUMNS)
def test_correlations_equal_scipys_with_ties(columns):
    gold, predicted = columns
    if len(set(gold.tolist())) == 1 or len(set(predicted.tolist())) == 1:
        assert spearman(gold, predicted) is None
        assert pearson(gold, predicted) is None
        return
    assert spearman(gold, predicted) == pytest.approx(
        scipy.stats.spearmanr(gold, predicted).statistic, abs=1e-12
    )
    assert pearson(gold, predicted) == pytest.approx(
        scipy.stats.pearsonr(gold, predicted).statistic, abs=1e-12
    )


@pytest.mark.parametrize("statistic", [spearman, pearson])
@pytest.mark.parametrize(
    ("gold", "predicted"),
    [
        ([], []),
        ([0, 1], [0, 1]),
        ([0.1, 0.1, 0.1], [1, 2, 3]),
        ([1, 2, 3], [0.1 + 0.2] * 3),
        ([1, 2, math.nan], [1, 2, 3]),
        ([1, 2, 3], [1, 2, math.inf]),
    ],
)
def test_undefined_correlations_are_none(statistic, gold, predicted):
    assert statistic(np.array(gold), np.array(predicted)) is None


def test_perfect_agreement_is_exactly_one():
    gold = np.array([0.1, 0.5, 0.7, 0.9])
    assert spearman(gold, gold**3) == 1.0
    assert pearson(gold, -gold) == pytest.approx(-1.0)
    assert pearson(gold * 1e-200, gold * 1e200) == pytest.approx(1.0)


@given(CLASSIFIED)
def test_the_best_threshold_beats_every_other(classified):
    gold, scores = classified
    f1, threshold = f1_best_threshold(gold, scores)
    if not gold.any():
        assert (f1, threshold) == (None, None)
        return
    best = max(f1_score(gold, scores >= cut, zero_division=0) for cut in scores)
    assert f1 == pytest.approx(best)
    assert f1_at(gold, scores, threshold) == pytest.approx(best)


def test_the_threshold_lies_between_two_scores():
    gold, scores = np.array([0, 0, 1, 1]), np.array([0.1, 0.2, 0.6, 0.9])
    assert f1_best_threshold(gold, scores) == (1.0, pytest.approx(0.4))
    close = np.nextafter(0.5, 1)
    assert f1_best_threshold(np.array([0, 1]), np.array([0.5, close])) == (1.0, close)


@given(CLASSIFIED, st.floats(-3, 3))
def test_f1_at_a_threshold_and_average_precision_equal_scikit_learns(classified, threshold):
    gold, scores = classified
    if not gold.any():
        assert f1_at(gold, scores, threshold) is None
        assert average_precision(gold, scores) is None
        return
    assert f1_at(gold, scores, threshold) == pytest.approx(
        f1_score(gold, scores >= threshold, zero_division=0)
    )
    assert average_precision(gold, scores) == pytest.approx(average_precision_score(gold, scores))


def test_scores_that_are_not_numbers_leave_f1_undefined():
    gold, scores = np.array([0, 1, 1]), np.array([0.1, math.nan, 0.9])
    assert f1_best_threshold(gold, scores) == (None, None)
    assert f1_at(gold, scores, 0.5) is None
    assert average_precision(gold, scores) is None


def test_columns_of_two_lengths_are_a_programmers_error():
    for statistic in (spearman, pearson, average_precision, f1_best_threshold):
        with pytest.raises(ValueError, match="shape"):
            statistic(np.zeros(3), np.zeros(4))


@settings(max_examples=40)
@given(CLASSIFIED, st.floats(-3, 3))
def test_accuracy_equals_scikit_learns_and_no_threshold_beats_the_best(classified, threshold):
    gold, scores = classified
    assert accuracy_at(gold, scores, threshold) == pytest.approx(
        accuracy_score(gold, scores >= threshold)
    )
    best, chosen = accuracy_best_threshold(gold, scores)
    cuts = [*scores, scores.max() + 1]
    assert best == pytest.approx(max(accuracy_score(gold, scores >= cut) for cut in cuts))
    assert accuracy_at(gold, scores, chosen) == pytest.approx(best)


@given(CLASSIFIED, st.sampled_from([0.05, 0.3, 1.0]))
def test_partial_auc_is_scikit_learns_curve_integrated_and_not_standardised(classified, max_fpr):
    gold, scores = classified
    if len(set(gold.tolist())) < 2:
        assert auc_at(gold, scores, max_fpr) is None
        return
    fpr, tpr, _ = roc_curve(gold, scores, drop_intermediate=False)
    # A vertical step: at one rate the curve takes its highest value.
    grid = np.unique(np.concatenate([fpr[fpr <= max_fpr], [0.0, max_fpr]]))
    area = 0.0
    for left, right in pairwise(grid):
        upper = tpr[np.flatnonzero(fpr <= left)[-1]]
        after = np.flatnonzero(fpr > left)[0]
        slope = (tpr[after] - upper) / (fpr[after] - fpr[np.flatnonzero(fpr <= left)[-1]])
        area += (right - left) * (upper + slope * (right - left) / 2)
    assert auc_at(gold, scores, max_fpr) == pytest.approx(area / max_fpr)


def test_partial_auc_of_perfect_and_of_constant_scores():
    gold = np.array([0] * 100 + [1] * 20)
    assert auc_at(gold, gold.astype(float)) == 1.0
    assert auc_at(gold, np.zeros(120)) == pytest.approx(0.025), "chance is half of 0.05"
    # Three of 20 positives above every negative, the rest below them all.
    scores = np.where(gold == 1, -1.0, 0.0)
    scores[-3:] = 1.0
    assert auc_at(gold, scores) == pytest.approx(3 / 20)


def test_distances_clip_cosines_to_the_unit_scale():
    gold, cosines = np.array([0.0, 0.5, 1.0]), np.array([-0.4, 0.7, 1.0])
    assert mean_squared_error(gold, cosines) == pytest.approx(0.04 / 3)
    assert mean_absolute_error(gold, cosines) == pytest.approx(0.2 / 3)
    assert mean_squared_error(np.array([]), np.array([])) is None
    assert mean_absolute_error(gold, np.array([0.1, math.nan, 0.2])) is None


def test_the_threshold_curve_holds_the_best_f1():
    rng = np.random.default_rng(1)
    gold = (rng.random(500) < 0.3).astype(float)
    scores = 0.4 * gold + rng.random(500)
    curve = threshold_curve(gold, scores, points=1000)
    best, threshold = f1_best_threshold(gold, scores)
    assert curve.f1.max() == pytest.approx(best)
    assert curve.threshold[np.argmax(curve.f1)] >= threshold
    assert np.all(np.diff(curve.threshold) > 0)
    assert np.all(np.diff(curve.recall) <= 0)
    at = 123
    assert curve.f1[at] == pytest.approx(f1_at(gold, scores, curve.threshold[at]))
    assert len(threshold_curve(gold, scores, points=50).f1) == 50
    assert threshold_curve(np.zeros(5), np.arange(5.0)) is None


def test_triplets_and_the_majority():
    assert triplet_accuracy(np.array([0.9, 0.5, 0.4]), np.array([0.1, 0.5, 0.6])) == 1 / 3
    assert triplet_accuracy(np.array([]), np.array([])) is None
    assert majority_class(np.array([0, 0, 1])) == 0.0
    assert majority_class(np.array([0, 1])) == 1.0
    assert majority_class(np.array([])) is None


# --- bootstrap ------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=30)
@given(COLUMNS)
def test_resampling_all_at_once_equals_one_by_one(columns):
    gold, predicted = columns
    for statistic in (spearman, pearson):
        fast = bootstrap_interval(statistic, gold, predicted, resamples=60, seed=5)
        slow = bootstrap_interval(
            lambda g, p, statistic=statistic: statistic(g, p),
            gold,
            predicted,
            resamples=60,
            seed=5,
        )
        assert fast == (None if slow is None else pytest.approx(slow, abs=1e-9))


def test_the_interval_depends_on_the_seed_only():
    rng = np.random.default_rng(0)
    gold = rng.random(50)
    predicted = gold + rng.normal(0, 0.3, 50)
    first = bootstrap_interval(spearman, gold, predicted, seed=1)
    assert first == bootstrap_interval(spearman, gold, predicted, seed=1)
    assert first != bootstrap_interval(spearman, gold, predicted, seed=2)
    low, high = first
    assert low < spearman(gold, predicted) < high
    narrow = bootstrap_interval(spearman, gold, predicted, level=0.5, seed=1)
    assert low < narrow[0] < narrow[1] < high


def test_the_interval_covers_the_true_correlation_about_as_often_as_it_says():
    rng = np.random.default_rng(11)
    covered = 0
    for seed in range(200):
        x, noise = rng.normal(size=(2, 100))
        low, high = bootstrap_interval(pearson, x, 0.6 * x + 0.8 * noise, resamples=400, seed=seed)
        covered += low <= 0.6 <= high
    assert 0.88 <= covered / 200 <= 0.99


def test_any_statistic_of_two_columns_can_be_resampled():
    rng = np.random.default_rng(4)
    gold = (rng.random(200) < 0.4).astype(float)
    scores = np.clip(gold * 0.3 + rng.random(200) * 0.7, 0, 1)
    low, high = bootstrap_interval(lambda g, s: f1_at(g, s, 0.5), gold, scores, seed=9)
    assert 0 < low < f1_at(gold, scores, 0.5) < high < 1


def test_an_undefined_statistic_has_no_interval():
    assert bootstrap_interval(spearman, np.ones(9), np.arange(9), seed=1) is None
    assert bootstrap_interval(spearman, np.array([]), np.array([]), seed=1) is None
    # Defined on the pairs themselves, but more than half of the resamples miss the one positive pair.
    gold = np.array([1.0, 0, 0, 0])

    def only_with_two_positives_or_all(g: np.ndarray, s: np.ndarray) -> float | None:
        return 0.5 if np.array_equal(g, gold) or g.sum() > 1 else None

    assert bootstrap_interval(only_with_two_positives_or_all, gold, gold, seed=1) is None


def test_the_sts_benchmark_test_set_takes_less_than_two_seconds():
    rng = np.random.default_rng(6)
    gold = rng.integers(0, 26, 1379) / 25
    predicted = gold + rng.normal(0, 0.3, 1379)
    start = time.perf_counter()
    bootstrap_interval(spearman, gold, predicted, resamples=1000, seed=1)
    assert time.perf_counter() - start < 2


# --- jaccard --------------------------------------------------------------------------------------------


def test_jaccard_is_the_share_of_words_in_common():
    overlaps = jaccard(
        ["A plane takes off", "a a a b", "", "👍", "我喜欢猫"],
        ["a plane LANDS", "b a", "", "👍", "我喜欢狗"],
    )
    assert overlaps.tolist() == [2 / 5, 1.0, 0.0, 0.0, 2 / 4]
    assert jaccard([], []).shape == (0,)
    with pytest.raises(ValueError, match="one length"):
        jaccard(["a"], [])


def test_the_paired_interval_is_narrower_than_two_separate_ones_and_centred() -> None:
    """Two models with a common error: resampling the same pairs takes the common part out."""
    rng = np.random.default_rng(0)
    gold = rng.random(400)
    common = gold + 0.3 * rng.normal(size=400)
    better, worse = common + 0.02 * rng.normal(size=400), common + 0.2 * rng.normal(size=400)
    low, high = paired_bootstrap_interval((spearman, spearman), gold, (better, worse), seed=1)
    difference = spearman(gold, better) - spearman(gold, worse)
    apart = [bootstrap_interval(spearman, gold, predicted, seed=1) for predicted in (better, worse)]
    assert 0 < low < difference < high
    assert high - low < min(top - bottom for bottom, top in apart)


def test_the_paired_interval_of_a_model_with_itself_is_zero() -> None:
    rng = np.random.default_rng(0)
    gold, predicted = rng.random(50), rng.random(50)
    assert paired_bootstrap_interval(
        (spearman, spearman), gold, (predicted, predicted), seed=1
    ) == (0.0, 0.0)


def test_the_paired_interval_matches_a_plain_loop_for_f1() -> None:
    rng = np.random.default_rng(0)
    gold = (rng.random(60) > 0.5).astype(float)
    first, second = rng.random(60), rng.random(60)

    def at_half(labels: np.ndarray, scores: np.ndarray) -> float | None:
        return f1_at(labels, scores, 0.5)

    interval = paired_bootstrap_interval(
        (at_half, at_half), gold, (first, second), resamples=200, seed=3
    )
    rows = np.random.default_rng(3).integers(0, 60, size=(200, 60))
    differences = [at_half(gold[row], first[row]) - at_half(gold[row], second[row]) for row in rows]
    assert interval == pytest.approx(np.quantile(differences, [0.025, 0.975]))


def test_the_paired_interval_covers_the_true_difference_as_often_as_it_says() -> None:
    """Two models whose correlations with gold are known, 400 draws of 100 pairs."""
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(400):
        gold, shared, own1, own2 = rng.normal(size=(4, 100))
        first = 0.8 * gold + 0.6 * (0.6 * shared + 0.8 * own1)
        second = 0.6 * gold + 0.8 * (0.6 * shared + 0.8 * own2)
        low, high = paired_bootstrap_interval(
            (pearson, pearson), gold, (first, second), resamples=300, seed=7
        )
        covered += low <= 0.8 - 0.6 <= high
    assert 0.93 <= covered / 400 <= 0.97


def test_p_is_small_for_a_real_difference_and_one_for_none() -> None:
    rng = np.random.default_rng(0)
    gold = rng.random(300)
    good, bad = gold + 0.1 * rng.normal(size=300), gold + 1.0 * rng.normal(size=300)
    found = paired_bootstrap((spearman, spearman), gold, (good, bad), resamples=2000, seed=1)
    assert found.difference == pytest.approx(spearman(gold, good) - spearman(gold, bad))
    assert found.low < found.difference < found.high
    assert found.p == pytest.approx(2 / 2001), "no resample on the other side, plus one"
    same = paired_bootstrap((spearman, spearman), gold, (good, good), resamples=2000, seed=1)
    assert (same.difference, same.p) == (0.0, 1.0)
    assert paired_bootstrap((spearman, spearman), gold, (good, np.ones(300)), seed=1) is None


def test_p_counts_the_smaller_side_twice() -> None:
    differences = np.array([-1.0, -2.0, *np.linspace(0.1, 1, 97)])
    assert difference_of(0.5, differences).p == pytest.approx(2 * 3 / 100)
    assert difference_of(0.5, np.array([np.nan, np.nan, 1.0])) is None


@settings(deadline=None, max_examples=30)
@given(CLASSIFIED)
def test_many_resamples_of_f1_and_accuracy_equal_one_by_one(classified):
    gold, scores = classified
    for function in (f1_at, accuracy_at):
        at_once = partial(function, threshold=0.5)
        fast, slow = replicates(
            [at_once, lambda g, s, at_once=at_once: at_once(g, s)],
            gold,
            [scores, scores],
            resamples=40,
            seed=5,
        )
        np.testing.assert_allclose(fast, slow, atol=1e-6)


def test_very_many_pairs_get_fewer_resamples():
    assert resamples_for(1_379) == 10_000
    assert resamples_for(100_000) == 2_000
    assert resamples_for(10**7) == 1_000
