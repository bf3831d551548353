"""Agreement of annotators: published examples, other implementations, and slow obvious references."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import cohen_kappa_score

from augsbert_core.metrics.annotators import (
    AnnotatorBias,
    RankAgreement,
    annotator_bias_and_spread,
    disagreement,
    distinct_pairs,
    mean_pairwise_spearman,
    merge,
)
from augsbert_core.metrics.correlation import spearman
from augsbert_core.metrics.kappa import (
    category_counts,
    cohen_kappa,
    fleiss_kappa,
    weighted_fleiss_kappa,
)
from augsbert_core.metrics.krippendorff import LEVELS, krippendorff_alpha, krippendorff_interval

NONE = np.nan

# Krippendorff (2011), section C: four observers, twelve units, five values, missing data.
OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3],
        [NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE],
    ]
)

# Fleiss (1971) as tabled in many textbooks: ten subjects, fourteen raters, five categories.
FOURTEEN_RATERS = np.array(
    [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
)

# Few levels, so that ties, agreement and constant tables come up often.
TABLES = st.tuples(st.integers(1, 5), st.integers(1, 8)).flatmap(
    lambda shape: arrays(
        np.float64, shape, elements=st.sampled_from([NONE, NONE, 0.0, 0.1, 0.3, 0.5, 1.0])
    )
)


# --- Krippendorff's α ---


@pytest.mark.parametrize(
    ("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_of_the_published_four_observers(level: str, published: float) -> None:
    alpha = krippendorff_alpha(OBSERVERS, level)
    assert alpha == pytest.approx(published, abs=0.0005)


def test_alpha_of_the_published_two_observers() -> None:
    """Krippendorff (2011), sections A and B: binary and nominal data, nothing missing."""
    binary = np.array([[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]])
    # The letters a to e.
    letters = np.array([list(b"aabbdcccedda"), list(b"babbbccceddd")])
    assert krippendorff_alpha(binary, "nominal") == pytest.approx(0.095, abs=0.0005)
    assert krippendorff_alpha(letters, "nominal") == pytest.approx(0.692, abs=0.0005)


def slow_alpha(scores: np.ndarray, level: str) -> float | None:
    """Every ordered two of scores of a pair, against every ordered two of all scores that can be paired."""
    units = [column[~np.isnan(column)] for column in scores.T]
    units = [unit for unit in units if len(unit) > 1]
    every = [value for unit in units for value in unit]
    n = len(every)

    def difference(c: float, k: float) -> float:
        if level == "nominal":
            return float(c != k)
        if level == "interval":
            return (c - k) ** 2
        low, high = min(c, k), max(c, k)
        between = sum(low <= value <= high for value in every)
        return (between - (every.count(c) + every.count(k)) / 2) ** 2 if c != k else 0.0

    expected = sum(difference(c, k) for c, k in permutations(every, 2)) / max(n * (n - 1), 1)
    observed = sum(
        difference(c, k) / (len(unit) - 1) for unit in units for c, k in permutations(unit, 2)
    )
    return 1 - observed / n / expected if expected > 0 else None


@pytest.mark.parametrize("level", LEVELS)
@settings(max_examples=60)
@given(scores=TABLES)
@example(scores=OBSERVERS)
@example(scores=np.full((2, 3), 0.1))
def test_alpha_equals_its_definition(level: str, scores: np.ndarray) -> None:
    expected = slow_alpha(scores, level)
    alpha = krippendorff_alpha(scores, level)
    assert alpha == (None if expected is None else pytest.approx(expected, abs=1e-12))


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_equals_that_of_another_implementation(level: str) -> None:
    peer = pytest.importorskip("krippendorff")
    rng = np.random.default_rng(0)
    for _ in range(10):
        scores = np.clip(rng.normal(rng.integers(0, 6, 40), 1, (4, 40)).round(), 0, 5)
        scores[rng.random(scores.shape) < 0.4] = NONE
        expected = peer.alpha(reliability_data=scores, level_of_measurement=level)
        assert krippendorff_alpha(scores, level) == pytest.approx(expected, abs=1e-12)


def test_alpha_takes_scores_that_are_all_different() -> None:
    rng = np.random.default_rng(1)
    scores = rng.random(25) + rng.normal(0, 0.1, (3, 25))
    for level in LEVELS:
        expected = slow_alpha(scores, level)
        assert krippendorff_alpha(scores, level) == pytest.approx(expected, abs=1e-12)


def test_alpha_does_not_depend_on_unit_or_order() -> None:
    alpha = krippendorff_alpha(OBSERVERS)
    assert krippendorff_alpha(OBSERVERS[::-1, ::-1] * 1e200 + 1e200) == pytest.approx(alpha)
    assert krippendorff_alpha(OBSERVERS * 1e-200) == pytest.approx(alpha)
    # A monotone change keeps the ordinal α, a renaming the nominal one.
    ordinal, nominal = (krippendorff_alpha(OBSERVERS, level) for level in ("ordinal", "nominal"))
    assert krippendorff_alpha(np.exp(OBSERVERS), "ordinal") == pytest.approx(ordinal)
    assert krippendorff_alpha(OBSERVERS * 2 % 5, "nominal") == pytest.approx(nominal)


@pytest.mark.parametrize("level", LEVELS)
def test_perfect_agreement_is_one(level: str) -> None:
    assert krippendorff_alpha(np.tile([0.1, 0.3, 0.7], (3, 1)), level) == 1.0


@pytest.mark.parametrize(
    "scores",
    [
        pytest.param(np.zeros((0, 0)), id="nothing"),
        pytest.param(np.zeros((0, 3)), id="no annotator"),
        pytest.param(np.zeros((2, 0)), id="no pair"),
        pytest.param(np.array([[0.1, 0.5, 0.9]]), id="one annotator"),
        pytest.param(np.array([[0.1, NONE], [NONE, 0.5]]), id="no common pair"),
        pytest.param(np.array([[0.1, 0.1, 0.5], [0.1, 0.1, NONE]]), id="no variation"),
    ],
)
@pytest.mark.parametrize("level", LEVELS)
def test_alpha_and_its_interval_are_undefined(scores: np.ndarray, level: str) -> None:
    assert krippendorff_alpha(scores, level) is None
    assert krippendorff_interval(scores, level, rng=np.random.default_rng(0)) is None


@pytest.mark.parametrize("level", LEVELS)
def test_the_interval_is_that_of_whole_resampled_tables(level: str) -> None:
    """The same draws, with α computed from scratch on each resampled table."""
    found = krippendorff_interval(OBSERVERS, level, resamples=50, rng=np.random.default_rng(3))
    pairable = OBSERVERS[:, np.sum(~np.isnan(OBSERVERS), axis=0) >= 2]
    n, rng = pairable.shape[1], np.random.default_rng(3)
    alphas = [slow_alpha(pairable[:, rng.integers(0, n, size=n)], level) for _ in range(50)]
    assert found == pytest.approx(tuple(np.quantile(np.array(alphas, float), [0.025, 0.975])))


def test_the_interval_covers_alpha_and_narrows_with_pairs() -> None:
    rng = np.random.default_rng(4)
    widths = []
    for n_pairs in (40, 640):
        truth = rng.integers(0, 6, n_pairs)
        scores = np.clip(truth + rng.integers(-1, 2, (3, n_pairs)), 0, 5) / 5
        alpha = krippendorff_alpha(scores)
        found = krippendorff_interval(scores, resamples=200, rng=rng)
        assert alpha is not None
        assert found is not None
        assert found[0] < alpha < found[1]
        widths.append(found[1] - found[0])
    # Sixteen times the pairs, about a quarter of the width.
    assert 2.5 < widths[0] / widths[1] < 6.5


def test_an_interval_repeats_with_its_seed() -> None:
    first, again = (
        krippendorff_interval(OBSERVERS, resamples=100, rng=np.random.default_rng(5))
        for _ in range(2)
    )
    assert first == again


def test_an_interval_leaves_out_resamples_without_variation() -> None:
    scores = np.array([[0.1, 0.1, 0.9], [0.1, 0.1, 0.9]])
    assert krippendorff_interval(scores, rng=np.random.default_rng(6)) == (1.0, 1.0)


def test_an_interval_needs_variation_in_most_resamples() -> None:
    """A resample of two pairs may hold one of them twice; here the only one does."""
    scores = np.array([[0.1, 0.9], [0.1, 0.9]])
    twice, once = (
        next(
            s for s in range(100) if len(set(np.random.default_rng(s).integers(0, 2, size=2))) == n
        )
        for n in (1, 2)
    )
    found = [
        krippendorff_interval(scores, resamples=1, rng=np.random.default_rng(seed))
        for seed in (twice, once)
    ]
    assert found == [None, (1.0, 1.0)]


@pytest.mark.parametrize(
    ("scores", "level", "says"),
    [
        (np.zeros(3), "interval", r"shape \(3,\)"),
        (np.array([[0.0, np.inf]]), "interval", "finite"),
        (OBSERVERS, "ratio", "'ratio'"),
    ],
)
def test_alpha_refuses_what_is_no_score_table(scores: np.ndarray, level: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        krippendorff_alpha(scores, level)


# --- κ ---


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_cohen_kappa_equals_that_of_scikit_learn(weights: str | None) -> None:
    rng = np.random.default_rng(7)
    for size in (2, 3, 6, 11):
        a = rng.integers(0, size, 60)
        b = np.where(rng.random(60) < 0.5, a, rng.integers(0, size, 60))
        expected = cohen_kappa_score(a, b, weights=weights)
        assert cohen_kappa(a, b, weights) == pytest.approx(expected, abs=1e-12)
        scale = list(range(-1, size + 3))
        expected = cohen_kappa_score(a, b, weights=weights, labels=scale)
        found = cohen_kappa(a, b, weights, categories=scale)
        assert found == pytest.approx(expected, abs=1e-12)


def test_cohen_kappa_takes_words_and_leaves_out_what_one_has_not_scored() -> None:
    a, b = np.array(["yes", "no", "yes", "no"]), np.array(["yes", "no", "no", "no"])
    assert cohen_kappa(a, b) == pytest.approx(0.5)
    ones = np.array([1.0, 0.0, 1.0, 0.0, NONE, 1.0])
    others = np.array([1.0, 0.0, 0.0, 0.0, 1.0, NONE])
    assert cohen_kappa(ones, others) == pytest.approx(0.5)


def test_the_order_of_categories_decides_a_weighted_kappa() -> None:
    a, b = np.array(["low", "mid", "high", "high"]), np.array(["low", "high", "high", "high"])
    ordered = cohen_kappa(a, b, "linear", categories=["low", "mid", "high"])
    assert ordered == cohen_kappa(np.array([0, 1, 2, 2]), np.array([0, 2, 2, 2]), "linear")
    assert ordered != cohen_kappa(a, b, "linear")


def test_cohen_kappa_without_a_common_pair_or_a_second_category_is_undefined() -> None:
    assert cohen_kappa(np.array([NONE, 1.0]), np.array([1.0, NONE])) is None
    assert cohen_kappa(np.array([1, 1]), np.array([1, 1]), "quadratic") is None
    # Each used one category, but not the same one: no better than chance.
    assert cohen_kappa(np.array([0, 0]), np.array([1, 1])) == 0.0


def test_cohen_kappa_refuses_what_it_cannot_place() -> None:
    with pytest.raises(ValueError, match=r"3.* is not one of the categories \[0, 1\]"):
        cohen_kappa(np.array([0, 1]), np.array([0, 3]), categories=[0, 1])
    with pytest.raises(ValueError, match="twice"):
        cohen_kappa(np.array([0, 1]), np.array([0, 1]), categories=[0, 1, 1])
    with pytest.raises(ValueError, match="shape"):
        cohen_kappa(np.array([0, 1]), np.array([0]))
    with pytest.raises(ValueError, match="'cubic'"):
        cohen_kappa(np.array([0, 1]), np.array([0, 1]), "cubic")


def test_fleiss_kappa_of_the_published_fourteen_raters() -> None:
    assert fleiss_kappa(FOURTEEN_RATERS) == pytest.approx(0.210, abs=0.0005)


def test_fleiss_kappa_where_pairs_have_different_numbers_of_scores() -> None:
    """By hand: agreement of the first two pairs is 1 and 1/3; the shares are those of all three pairs."""
    counts = np.array([[2, 0], [1, 2], [0, 1], [0, 0]])
    agreed, share = (1 + 1 / 3) / 2, (1 + 1 / 3 + 0) / 3
    by_chance = share**2 + (1 - share) ** 2
    assert fleiss_kappa(counts) == pytest.approx((agreed - by_chance) / (1 - by_chance))


def test_fleiss_kappa_is_undefined_without_two_scores_or_two_categories() -> None:
    assert fleiss_kappa(np.zeros((0, 3))) is None
    assert fleiss_kappa(np.array([[1, 0], [0, 1]])) is None
    assert fleiss_kappa(np.array([[3, 0], [3, 0]])) is None


@pytest.mark.parametrize("counts", [np.array([1, 2]), np.array([[1, -1]]), np.array([[0.5, 1]])])
def test_fleiss_kappa_refuses_what_is_no_count(counts: np.ndarray) -> None:
    with pytest.raises(ValueError, match="counts"):
        fleiss_kappa(counts)


def test_fleiss_kappa_of_weighed_pairs_is_that_of_repeated_ones() -> None:
    rng = np.random.default_rng(2)
    counts = rng.multinomial(3, [0.5, 0.3, 0.2], size=8)
    weights = rng.integers(0, 4, (5, 8))
    for found, times in zip(weighted_fleiss_kappa(weights, counts), weights, strict=True):
        assert found == pytest.approx(fleiss_kappa(np.repeat(counts, times, axis=0)))
    one_category = np.array([[2, 0], [3, 0], [1, 1]])
    assert np.isnan(weighted_fleiss_kappa(np.array([[1, 5, 0]]), one_category)).all()


@pytest.mark.parametrize("people", [2, 3, 60])
def test_pairs_that_are_scored_alike_are_counted(people: int) -> None:
    """Sixty people: so many that no number holds a column."""
    rng = np.random.default_rng(people)
    ways = np.where(rng.random((people, 6)) < 0.3, NONE, rng.integers(0, 3, (people, 6)) / 2)
    ways[0] = np.arange(6) / 5
    which = np.concatenate([np.arange(6), rng.integers(0, 6, 40)])
    found, times = distinct_pairs(ways[:, which])
    np.testing.assert_array_equal(found, ways)
    assert times.tolist() == np.bincount(which).tolist()
    none, no_times = distinct_pairs(np.zeros((people, 0)))
    assert (none.shape, len(no_times)) == ((people, 0), 0)


def test_a_score_table_as_counts_of_categories() -> None:
    scores = np.array([[0.0, 1.0, NONE], [0.0, 0.5, NONE], [1.0, NONE, NONE]])
    categories, counts = category_counts(scores)
    assert categories.tolist() == [0.0, 0.5, 1.0]
    assert counts.tolist() == [[2, 0, 1], [0, 1, 1], [0, 0, 0]]
    categories, counts = category_counts(scores, [1.0, 0.75, 0.5, 0.0])
    assert categories.tolist() == [1.0, 0.75, 0.5, 0.0]
    assert counts.tolist() == [[1, 0, 0, 2], [1, 0, 1, 0], [0, 0, 0, 0]]
    with pytest.raises(ValueError, match=r"0.5.* is not one of"):
        category_counts(scores, [0.0, 1.0])


# --- Annotators and pairs ---


def test_the_mean_rank_correlation_of_annotators() -> None:
    scores = np.array(
        [
            [0.1, 0.2, 0.3, 0.4, NONE],
            [0.2, 0.1, 0.3, 0.9, 0.5],
            [0.5, 0.5, 0.5, NONE, 0.1],
            [NONE, NONE, 0.5, 0.1, NONE],
        ]
    )
    mean, each = mean_pairwise_spearman(scores)
    rho = spearman(scores[0, :4], scores[1, :4])
    assert rho == pytest.approx(0.8)
    assert each == [
        RankAgreement(0, 1, 4, rho),
        RankAgreement(0, 2, 3, None),
        RankAgreement(1, 2, 4, pytest.approx(-np.sqrt(0.6))),
    ]
    assert mean == pytest.approx((0.8 - np.sqrt(0.6)) / 2)


def test_the_mean_rank_correlation_of_too_few_pairs_is_undefined() -> None:
    assert mean_pairwise_spearman(np.array([[0.1, 0.2], [0.1, 0.2]])) == (None, [])


def test_an_annotator_who_scores_high_has_a_bias() -> None:
    scores = np.array(
        [
            [0.1, 0.3, 0.6, NONE],
            [0.1, 0.3, 0.6, 0.9],
            [0.3, 0.4, NONE, NONE],
            [NONE, NONE, NONE, NONE],
        ]
    )
    first, second, high, absent = annotator_bias_and_spread(scores)
    assert first == second
    assert first.n_shared == 3
    # Against the mean of the others: 0.1 − 0.2, 0.3 − 0.35, 0.6 − 0.6.
    assert first.bias == pytest.approx(-0.05)
    assert first.spread == pytest.approx(0.05)
    assert high == AnnotatorBias(pytest.approx(0.15), pytest.approx(np.sqrt(0.005)), 2)
    assert absent == AnnotatorBias(None, None, 0)


@given(scores=TABLES)
@settings(max_examples=60)
def test_bias_and_spread_equal_a_loop(scores: np.ndarray) -> None:
    for row, found in enumerate(annotator_bias_and_spread(scores)):
        apart = []
        for column in scores.T:
            others = [value for i, value in enumerate(column) if i != row and value == value]
            if others and column[row] == column[row]:
                apart.append(column[row] - sum(others) / len(others))
        assert found.n_shared == len(apart)
        assert found.bias == (pytest.approx(np.mean(apart), abs=1e-12) if apart else None)
        spread = pytest.approx(np.std(apart, ddof=1), abs=1e-12) if len(apart) > 1 else None
        assert found.spread == spread


def test_annotators_who_agree_are_exactly_unbiased() -> None:
    """0.1 + 0.1 + 0.1 is not 0.3, and must not become a bias, a spread or another score."""
    scores = np.full((4, 3), 0.1)
    assert annotator_bias_and_spread(scores) == [AnnotatorBias(0.0, 0.0, 3)] * 4
    assert disagreement(scores).spread.tolist() == [0.0, 0.0, 0.0]
    for how in ("mean", "median"):
        assert merge(scores, how)[0].tolist() == [0.1, 0.1, 0.1]


def test_pairs_where_annotators_disagree_come_first() -> None:
    scores = np.array([[0.5, 0.1, NONE, 0.2, 0.3], [0.5, 0.9, 0.1, 0.4, 0.1], [NONE] * 5])
    found = disagreement(scores)
    np.testing.assert_allclose(found.width, [0.0, 0.8, NONE, 0.2, 0.2])
    np.testing.assert_allclose(found.spread, found.width / np.sqrt(2))
    assert found.count.tolist() == [2, 2, 1, 2, 2]
    # 0.4 − 0.2 and 0.3 − 0.1 differ in the last bit only; the pair without two scores is not listed.
    assert found.worst_first.tolist() == [1, 3, 4, 0]


def test_no_pair_with_two_scores_has_no_worst() -> None:
    for scores in (np.zeros((0, 2)), np.zeros((1, 2)), np.zeros((2, 0))):
        assert disagreement(scores).worst_first.tolist() == []


@given(scores=TABLES)
@settings(max_examples=60)
def test_merged_scores_and_spreads_equal_a_loop(scores: np.ndarray) -> None:
    given_scores = [column[~np.isnan(column)] for column in scores.T]
    for how, function in (("mean", np.mean), ("median", np.median)):
        merged, count = merge(scores, how)
        assert count.tolist() == [len(values) for values in given_scores]
        expected = [function(values) if len(values) else NONE for values in given_scores]
        np.testing.assert_allclose(merged, expected, rtol=0, atol=1e-12)
    spreads = [np.std(values, ddof=1) if len(values) > 1 else NONE for values in given_scores]
    found = disagreement(scores)
    np.testing.assert_allclose(found.spread, spreads, rtol=0, atol=1e-12)
    assert sorted(found.worst_first) == [i for i, v in enumerate(given_scores) if len(v) > 1]
    assert np.all(np.diff(found.spread[found.worst_first]) <= 1e-11)


def test_merging_by_median_ignores_one_outlier() -> None:
    scores = np.array([[0.8, 0.2], [0.9, 0.4], [0.0, NONE]])
    merged, count = merge(scores, "median")
    np.testing.assert_allclose(merged, [0.8, 0.3])
    assert count.tolist() == [3, 2]
    with pytest.raises(ValueError, match="'mode'"):
        merge(scores, "mode")
