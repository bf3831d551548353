"""KDE: which pairs of a scored pool are kept so that their scores follow gold's."""

import math
import time

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from augsbert_core.density import density, kl_divergence, unit_grid
from augsbert_core.options import SampleOptions
from augsbert_core.pairs import pair_codes
from augsbert_core.sampling.corpus import Corpus
from augsbert_core.sampling.kde import (
    acceptance,
    c_for,
    c_that_keeps,
    exact_match_c,
    expected_kept,
    expected_path,
    joining_c,
    keep_by_class,
    keep_by_density,
    pair_uniforms,
    realised_path,
    sample_kde,
)
from augsbert_core.sampling.random import sample_random

GRID = unit_grid()
BETAS = st.tuples(st.floats(0.5, 8), st.floats(0.5, 8), st.integers(0, 10**6))
SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=60).map(np.array)
CS = st.floats(1e-4, 100)


def drawn_density(beta):
    a, b, seed = beta
    return density(np.random.default_rng(seed).beta(a, b, 400), GRID)


DENSITIES = BETAS.map(drawn_density)


def some_codes(n, seed=0):
    rng = np.random.default_rng(seed)
    return pair_codes(np.arange(n), n + rng.permutation(n))


def paper_like(seed, n_pool=50_000):
    """Gold from Beta(2, 2), a pool from Beta(1, 3): densities, pool scores and pair codes."""
    rng = np.random.default_rng(seed)
    grid = unit_grid(513)
    scores = rng.beta(1, 3, n_pool)
    gold = density(rng.beta(2, 2, 5000), grid)
    return grid, gold, density(scores, grid), scores, some_codes(n_pool, seed)


def draws_from(values, grid, n, rng):
    """n scores from a density that is given on a grid."""
    cumulative = np.append(0.0, np.cumsum((values[1:] + values[:-1]) * np.diff(grid)))
    return np.interp(rng.random(n), cumulative / cumulative[-1], grid)


# The pool


def test_the_pool_is_a_random_draw_clamped_to_what_there_is():
    corpus = Corpus(["a", "b", "c", "d"], np.arange(4), pair_codes(np.array([1]), np.array([0])))
    pool = sample_kde(corpus, SampleOptions(strategy="kde", n_pairs=3, seed=1))
    assert len(pool) == 3
    everything = sample_kde(corpus, SampleOptions(strategy="kde", n_pairs=99, seed=1))
    pairs = list(zip(everything.first.tolist(), everything.second.tolist(), strict=True))
    assert pairs == [(0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert "from 99 to 5" in everything.notices[0]


def codes_of(found):
    return pair_codes(found.first, found.second).tolist()


def test_pool_and_random_pairs_of_one_seed_are_different_draws():
    corpus = Corpus([str(number) for number in range(300)], np.arange(300), np.empty(0, np.int64))
    options = SampleOptions(strategy="kde", n_pairs=500, seed=7)
    pool, random = sample_kde(corpus, options), sample_random(corpus, options)
    shared = set(codes_of(pool)) & set(codes_of(random))
    assert len(shared) < 40
    assert np.array_equal(pool.first, sample_kde(corpus, options).first)


# The acceptance curve


def test_acceptance_is_the_papers_rule_at_c_1():
    gold, pool = np.array([1.0, 1.0, 2.0, 0.0, 1.0, 0.0]), np.array([2.0, 1.0, 1.0, 1.0, 0.0, 0.0])
    assert acceptance(gold, pool, 1.0).tolist() == [0.5, 1, 1, 0, 1, 0]
    assert acceptance(gold, pool, 0.1).tolist() == pytest.approx([0.05, 0.1, 0.2, 0, 1, 0])


@settings(deadline=None)
@given(DENSITIES, DENSITIES, CS, st.floats(1, 10))
def test_acceptance_is_a_probability_and_grows_with_c(gold, pool, c, factor):
    smaller, larger = acceptance(gold, pool, c), acceptance(gold, pool, c * factor)
    assert np.all((smaller >= 0) & (smaller <= larger) & (larger <= 1))


@pytest.mark.parametrize("c", [0.0, -1.0, math.nan, math.inf])
def test_a_c_that_is_no_positive_number_is_refused(c):
    with pytest.raises(ValueError, match="c must be a positive number"):
        acceptance(np.ones(9), np.ones(9), c)
    with pytest.raises(ValueError, match="c must be a positive number"):
        keep_by_density(np.ones(1), np.ones(1, int), GRID, np.ones(257), np.ones(257), c, 0)


# What is expected


def test_the_exact_match_c_matches_exactly_and_still_keeps_pairs():
    gold, pool = 6 * GRID * (1 - GRID), 0.5 + GRID
    c = exact_match_c(gold, pool)
    expected = expected_kept(gold, pool, c, GRID)
    assert expected.fraction == pytest.approx(c, rel=1e-3)
    assert expected.kl == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(expected.density, gold, atol=1e-3)
    assert expected_kept(gold, pool, 4 * c, GRID).kl > 1e-3


def test_no_c_matches_exactly_where_the_pool_lacks_scores_that_gold_has():
    gold, pool = np.ones(257), 2.0 * (GRID < 0.5)
    assert exact_match_c(gold, pool) == 0
    # Half of gold is never met: about ln 2 less than half of ln(1e-6).
    assert expected_kept(gold, pool, 1e-6, GRID).kl > 5


def test_where_both_densities_are_empty_the_exact_match_is_not_spoilt():
    gold, pool = 2.0 * (GRID < 0.5), 2.0 * (GRID < 0.5)
    assert exact_match_c(gold + 1e-9, pool) == pytest.approx(1)


@settings(deadline=None)
@given(DENSITIES, DENSITIES)
def test_the_expected_kl_and_fraction_fall_monotonically_as_c_falls(gold, pool):
    fractions, kls = expected_path(gold, pool, GRID, np.geomspace(1e-3, 100, 40))
    assert np.all(np.diff(fractions) >= -1e-12)
    # The floor of the divergence bends it by less than this.
    assert np.all(np.diff(kls) >= -1e-4)
    assert np.all((fractions >= 0) & (fractions <= 1 + 1e-12))


def test_the_expected_kl_falls_strictly_for_gold_beta_2_2_and_a_pool_of_beta_1_3():
    grid, gold, pool, _, _ = paper_like(0)
    cs = np.geomspace(2 * exact_match_c(gold, pool), 3, 40)
    fractions, kls = expected_path(gold, pool, grid, cs)
    assert np.all(np.diff(kls) > 0)
    assert np.all(np.diff(fractions) > 0)
    single = expected_kept(gold, pool, cs[7], grid)
    assert (fractions[7], kls[7]) == (single.fraction, single.kl)


@pytest.mark.parametrize("empty", ["gold", "pool"])
def test_gold_or_a_pool_without_mass_keeps_nothing(empty):
    gold = np.zeros(257) if empty == "gold" else np.ones(257)
    pool = np.zeros(257) if empty == "pool" else np.ones(257)
    expected = expected_kept(gold, pool, 1.0, GRID)
    assert expected.fraction == 0
    assert not np.any(expected.density)
    assert math.isnan(expected.kl)
    assert c_for(10, 100, gold, pool, GRID) == 1
    assert math.isnan(exact_match_c(gold, pool)) == (empty == "gold")


@settings(deadline=None)
@given(DENSITIES, DENSITIES, st.floats(1e-5, 1))
@example(drawn_density((8.0, 4.0, 988)), drawn_density((0.5, 3.0, 0)), 0.5)
def test_c_for_is_the_inverse_of_the_expected_fraction(gold, pool, wanted):
    c = c_for(wanted * 1000, 1000, gold, pool, GRID)
    most = expected_kept(gold, pool, 1e15, GRID).fraction
    assert expected_kept(gold, pool, c, GRID).fraction == pytest.approx(min(wanted, most), rel=1e-6)


def test_c_for_wants_at_least_one_pair():
    with pytest.raises(ValueError, match="n_keep"):
        c_for(0, 100, np.ones(257), np.ones(257), GRID)


# What is kept


@pytest.mark.parametrize("seed", range(4))
def test_the_realised_kl_is_within_sampling_error_of_the_expected_one(seed):
    grid, gold, pool, scores, codes = paper_like(seed)
    joining = joining_c(scores, codes, grid, gold, pool, seed)
    c = c_that_keeps(joining, 2000)
    kept = keep_by_density(scores, codes, grid, gold, pool, c, seed)
    assert kept.sum() == 2000
    expected = expected_kept(gold, pool, c, grid)
    # The expectation knows 2,000 to be few: sqrt(2000) = 45 is one standard deviation.
    assert expected.fraction * len(scores) == pytest.approx(2000, abs=4 * 45)

    realised = kl_divergence(gold, density(scores[kept], grid), grid)
    rng = np.random.default_rng(100 + seed)
    samples = [draws_from(expected.density, grid, 2000, rng) for _ in range(100)]
    kls = [kl_divergence(gold, density(sample, grid), grid) for sample in samples]
    assert realised == pytest.approx(np.mean(kls), abs=3.5 * np.std(kls))
    # As a number: sampling and smoothing are worth less than 0.01 here, the whole pool 0.56.
    assert realised == pytest.approx(expected.kl, abs=0.01)
    assert kl_divergence(gold, pool, grid) > 0.5


@settings(deadline=None)
@given(SCORES, DENSITIES, DENSITIES, CS, st.floats(1, 10), st.integers(0, 2**40))
def test_a_larger_c_only_adds_pairs(scores, gold, pool, c, factor, seed):
    codes = some_codes(len(scores), seed)
    fewer = keep_by_density(scores, codes, GRID, gold, pool, c, seed)
    more = keep_by_density(scores, codes, GRID, gold, pool, c * factor, seed)
    assert not np.any(fewer & ~more)


@settings(deadline=None)
@given(SCORES, DENSITIES, DENSITIES, CS, st.randoms())
def test_the_choice_depends_neither_on_the_order_nor_on_the_other_pairs(
    scores, gold, pool, c, random
):
    codes = some_codes(len(scores))
    kept = keep_by_density(scores, codes, GRID, gold, pool, c, 7)
    by_class = keep_by_class(scores, codes, 0.5, 0.4, 7)
    order = np.array(random.sample(range(len(scores)), len(scores)))
    shuffled = scores[order], codes[order]
    assert np.array_equal(keep_by_density(*shuffled, GRID, gold, pool, c, 7), kept[order])
    assert np.array_equal(keep_by_class(*shuffled, 0.5, 0.4, 7), by_class[order])
    part = slice(0, len(scores) // 2)
    alone = keep_by_density(scores[part], codes[part], GRID, gold, pool, c, 7)
    assert np.array_equal(alone, kept[part])


def test_pairs_are_kept_with_the_probability_of_their_score():
    grid, gold, pool, scores, codes = paper_like(9)
    kept = keep_by_density(scores, codes, grid, gold, pool, 0.4, 9)
    chance = np.interp(scores, grid, acceptance(gold, pool, 0.4))
    for low in np.arange(0, 0.8, 0.1):
        inside = (scores >= low) & (scores < low + 0.1)
        error = math.sqrt(np.sum((chance * (1 - chance))[inside]))
        assert kept[inside].sum() == pytest.approx(chance[inside].sum(), abs=4 * error + 1)


def test_pairs_at_scores_that_gold_lacks_are_never_kept():
    gold, pool = 2.0 * (GRID > 0.5), np.ones(257)
    scores = np.random.default_rng(0).random(1000)
    kept = keep_by_density(scores, some_codes(1000), GRID, gold, pool, 1e9, 0)
    assert np.array_equal(kept, scores > 0.5)


def test_an_uneven_grid_gives_the_same_choice():
    grid, gold, pool, scores, codes = paper_like(3, 5000)
    even = keep_by_density(scores, codes, grid, gold, pool, 0.3, 3)
    uneven = np.sort(np.append(grid, [0.1234, 0.777]))
    curves = (np.interp(uneven, grid, curve) for curve in (gold, pool))
    assert np.array_equal(keep_by_density(scores, codes, uneven, *curves, 0.3, 3), even)


@pytest.mark.parametrize("n_keep", [1, 17, 900])
def test_c_that_keeps_a_number_of_pairs_keeps_that_number(n_keep):
    grid, gold, pool, scores, codes = paper_like(1, 1000)
    c = c_that_keeps(joining_c(scores, codes, grid, gold, pool, 5), n_keep)
    assert keep_by_density(scores, codes, grid, gold, pool, c, 5).sum() == n_keep


def test_c_that_keeps_more_than_there_are_keeps_all_it_can():
    assert c_that_keeps(np.array([0.5, np.inf, 0.1]), 3) > 0.5
    with pytest.raises(ValueError, match="cannot be kept"):
        c_that_keeps(np.array([np.inf]), 1)
    with pytest.raises(ValueError, match="cannot be kept"):
        c_that_keeps(np.array([0.5]), 0)


def test_the_realised_path_tells_what_keeping_at_each_c_would_give():
    grid, gold, pool, scores, codes = paper_like(2, 20_000)
    joining = joining_c(scores, codes, grid, gold, pool, 2)
    cs = np.array([1e-9, 0.05, 0.3, 1.0])
    fractions, kls = realised_path(scores, joining, gold, grid, cs)
    assert (fractions[0], math.isnan(kls[0])) == (0, True)
    for c, fraction, kl in zip(cs[1:], fractions[1:], kls[1:], strict=True):
        kept = keep_by_density(scores, codes, grid, gold, pool, c, 2)
        assert fraction == np.mean(kept)
        assert kl == pytest.approx(kl_divergence(gold, density(scores[kept], grid), grid), abs=1e-4)
    # More than a thousand pairs are kept, so expectation and reality lie close together.
    expected = expected_path(gold, pool, grid, cs[1:])
    np.testing.assert_allclose(fractions[1:], expected[0], rtol=0.1)
    np.testing.assert_allclose(kls[1:], expected[1], atol=0.02)
    with pytest.raises(ValueError, match="ascend"):
        realised_path(scores, joining, gold, grid, cs[::-1])


def test_the_realised_path_of_no_pairs_is_empty():
    fractions, kls = realised_path(np.empty(0), np.empty(0), np.ones(257), GRID, np.array([0.1, 1]))
    assert fractions.tolist() == [0, 0]
    assert np.isnan(kls).all()


# The rule for classification


@settings(deadline=None)
@given(SCORES, st.floats(0, 1), st.floats(0, 1), st.integers(-5, 2**40))
@example(np.array([0.0]), 1.0, 5e-324, 0)
def test_all_positives_are_kept_and_negatives_meet_the_gold_ratio(scores, threshold, share, seed):
    codes = some_codes(len(scores))
    keep = keep_by_class(scores, codes, threshold, share, seed)
    positive = scores >= threshold
    assert np.all(keep[positive])
    negatives_kept = int(keep[~positive].sum())
    if share > 0 and negatives_kept < np.sum(~positive):
        wanted = positive.sum() * (1 - share) / share
        assert abs(negatives_kept - wanted) <= 0.5


def test_the_class_rule_at_its_extremes():
    scores, codes = np.array([0.9, 0.2, 0.1, 0.3]), some_codes(4)
    assert keep_by_class(scores, codes, 0.5, 1.0, 0).tolist() == [True, False, False, False]
    assert keep_by_class(scores, codes, 0.5, 0.5, 0).sum() == 2
    assert keep_by_class(scores, codes, 0.5, 0.01, 0).all()  # too few negatives: all are kept
    assert keep_by_class(scores, codes, 0.5, 0.0, 0).all()
    assert not keep_by_class(scores, codes, 0.95, 0.5, 0).any()  # no positives
    with pytest.raises(ValueError, match="gold_positive_share"):
        keep_by_class(scores, codes, 0.5, 1.5, 0)


def test_which_negatives_are_kept_is_chance_that_the_seed_decides():
    scores, codes = np.append(np.ones(100), np.zeros(9900)), some_codes(10_000)
    first, second = (keep_by_class(scores, codes, 0.5, 0.1, seed)[100:] for seed in (1, 2))
    assert first.sum() == second.sum() == 900
    assert np.sum(first & second) == pytest.approx(900 * 900 / 9900, abs=4 * 9)


# Numbers of pairs


@pytest.mark.parametrize("seed", [0, 1, 42, -1, 2**63])
@pytest.mark.parametrize("pattern", ["rows", "columns", "scattered"])
def test_pair_uniforms_are_uniform_for_every_pattern_of_codes(seed, pattern):
    n = np.arange(20_000)
    first = {"rows": np.zeros_like(n), "columns": n, "scattered": n * 7919 % 20_011}[pattern]
    second = {"rows": n + 1, "columns": np.full_like(n, 30_000), "scattered": n + 50_000}[pattern]
    numbers = pair_uniforms(pair_codes(first, second), seed)
    assert np.all((numbers >= 0) & (numbers < 1))
    assert len(np.unique(numbers)) == len(numbers)
    assert kstest(numbers, "uniform").pvalue > 1e-4
    # Neighbouring codes are independent: the correlation's standard deviation is 0.007.
    assert abs(np.corrcoef(numbers[1:], numbers[:-1])[0, 1]) < 0.03
    other = pair_uniforms(pair_codes(first, second), seed + 1)
    assert abs(np.corrcoef(numbers, other)[0, 1]) < 0.03
    assert abs(np.corrcoef(numbers[1:], other[:-1])[0, 1]) < 0.03


def splitmix64(number):
    """The published mixing step on a Python integer."""
    mask = 2**64 - 1
    number = (number + 0x9E3779B97F4A7C15) & mask
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & mask
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & mask
    return number ^ (number >> 31)


def test_a_pairs_number_never_changes():
    """Kept sets of earlier versions stay what they are: these numbers were written down once."""
    assert splitmix64(0) == 0xE220A8397B1DCDAF  # the published first draw for seed 0
    codes = pair_codes(np.array([1, 5, 7]), np.array([2, 3, 900_000]))
    numbers = pair_uniforms(codes, 42).tolist()
    mixed = [splitmix64(splitmix64(code) ^ splitmix64(42)) for code in codes.tolist()]
    assert numbers == [(bits >> 11) * 2.0**-53 for bits in mixed]
    assert numbers == [0.24345046094529244, 0.5938291849862347, 0.7289435402286337]
    assert pair_uniforms(codes[::-1], 42).tolist() == numbers[::-1]


def test_a_million_scores_take_less_than_a_tenth_of_a_second():
    grid, gold, pool, scores, codes = paper_like(0, 1_000_000)
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        keep_by_density(scores, codes, grid, gold, pool, 0.5, 1)
        keep_by_class(scores, codes, 0.7, 0.3, 1)
        seconds.append(time.perf_counter() - start)
    # Measured 0.06 s; other work on the machine may take three quarters of it.
    assert min(seconds) < 0.25
