"""Densities against scikit-learn with the reflection written out, and their divergence."""

import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import KernelDensity

from augsbert_core.density import (
    CONSTANT_BANDWIDTH,
    density,
    kl_divergence,
    silverman_bandwidth,
    unit_grid,
)

SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=40).map(np.array)


def reflected_reference(scores, grid, bandwidth, weights=None):
    """scikit-learn's kernel density of the scores and their mirror images at 0 and 1."""
    images = np.concatenate([scores, -scores, 2 - scores])
    tripled = None if weights is None else np.tile(weights, 3)
    kde = KernelDensity(bandwidth=bandwidth).fit(images[:, None], sample_weight=tripled)
    return 3 * np.exp(kde.score_samples(grid[:, None]))


@pytest.mark.parametrize("bandwidth", [0.003, 0.02, 0.1])
def test_a_density_is_scikit_learns_with_reflection(bandwidth):
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.beta(1, 3, 300), [0.0, 0.0, 1.0, 0.5]])
    grid = unit_grid()
    expected = reflected_reference(scores, grid, bandwidth)
    np.testing.assert_allclose(density(scores, grid, bandwidth), expected, rtol=0, atol=1e-6)


def test_weights_count_like_repeated_scores():
    scores, weights = np.array([0.1, 0.4, 0.95]), np.array([1.0, 3.0, 2.0])
    grid = unit_grid(101)
    repeated = np.repeat(scores, [1, 3, 2])
    np.testing.assert_allclose(
        density(scores, grid, 0.05, weights), density(repeated, grid, 0.05), atol=1e-12
    )
    np.testing.assert_allclose(
        density(scores, grid, 0.05, weights),
        reflected_reference(scores, grid, 0.05, weights),
        atol=1e-6,
    )


@settings(deadline=None)
@given(SCORES, st.floats(0.01, 3))
def test_a_density_integrates_to_one(scores, bandwidth):
    grid = unit_grid(1025)
    values = density(scores, grid, bandwidth)
    assert np.all(values >= 0)
    assert np.trapezoid(values, grid) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(
    "scores", [[0.5], [0.7] * 20, [0.0, 1.0], [0] * 9 + [1] * 3, [0.0], [1.0, 1.0]]
)
def test_constant_single_and_binary_scores_give_spikes_with_their_whole_mass(scores):
    grid = unit_grid()
    assert np.trapezoid(density(np.array(scores), grid), grid) == pytest.approx(1, abs=1e-3)


def test_a_very_wide_kernel_is_uniform():
    np.testing.assert_allclose(density(np.array([0.1]), unit_grid(), 50.0), 1.0)


def test_no_scores_have_no_density():
    assert density(np.array([]), unit_grid(9)).tolist() == [0] * 9
    assert density(np.array([0.5]), unit_grid(9), weights=np.array([0.0])).tolist() == [0] * 9


@pytest.mark.parametrize(("bandwidth", "n"), [(0.001, 5_000), (0.01, 20_000), (0.05, 100_000)])
def test_binning_many_scores_changes_less_than_a_thousandth_of_the_peak(bandwidth, n):
    scores = np.random.default_rng(1).beta(2, 5, n)
    grid = unit_grid(65)
    # Small enough portions are not binned; a density of all is the mean of theirs.
    portion = max(int((1 << 21) / (8.6 / math.pi / bandwidth + 1)), 1)
    parts = [scores[i : i + portion] for i in range(0, len(scores), portion)]
    exact = sum(len(part) * density(part, grid, bandwidth) for part in parts) / len(scores)
    error = np.abs(density(scores, grid, bandwidth) - exact).max()
    assert 0 < error < 1e-3 * exact.max()


def test_a_million_scores_take_well_under_a_second():
    scores = np.random.default_rng(2).beta(2, 5, 1_000_000)
    start = time.perf_counter()
    density(scores, unit_grid(512))
    assert time.perf_counter() - start < 2


def test_silverman_uses_the_real_size_and_spread():
    scores = np.random.default_rng(3).normal(0.5, 0.1, 1000).clip(0, 1)
    spread = min(scores.std(ddof=1), np.subtract(*np.percentile(scores, [75, 25])) / 1.34)
    assert silverman_bandwidth(scores) == pytest.approx(0.9 * spread * 1000**-0.2)
    assert silverman_bandwidth(0.5 + (scores - 0.5) / 2) == pytest.approx(
        silverman_bandwidth(scores) / 2
    )


def test_silverman_has_a_floor_and_survives_equal_quartiles():
    for scores in ([], [0.3], [0.3] * 50):
        assert silverman_bandwidth(np.array(scores)) == CONSTANT_BANDWIDTH
    mostly_zero = np.array([0.0] * 80 + [1.0] * 20)
    assert silverman_bandwidth(mostly_zero) == pytest.approx(
        0.9 * mostly_zero.std(ddof=1) * 100**-0.2
    )


@pytest.mark.parametrize("bad", [[0.5, 1.2], [-0.1], [float("nan")]])
def test_scores_outside_the_unit_interval_are_refused(bad):
    with pytest.raises(ValueError, match=r"not in \[0, 1\]"):
        density(np.array(bad), unit_grid())


def test_bandwidths_and_weights_that_make_no_sense_are_refused():
    for bandwidth in (0.0, -1.0, math.nan, 1e-5):
        with pytest.raises(ValueError, match="bandwidth"):
            density(np.array([0.5]), unit_grid(), bandwidth)
    with pytest.raises(ValueError, match="weights"):
        density(np.array([0.5]), unit_grid(), weights=np.array([-1.0]))


def test_kl_of_two_known_densities():
    grid = unit_grid(4001)
    # KL(Beta(2,1) ‖ uniform) = ln 2 − 1/2.
    assert kl_divergence(2 * grid, np.ones(4001), grid) == pytest.approx(
        math.log(2) - 0.5, abs=1e-4
    )


@settings(deadline=None)
@given(SCORES, SCORES)
def test_kl_is_zero_for_equal_densities_and_never_negative(first, second):
    grid = unit_grid()
    p, q = density(first, grid), density(second, grid)
    assert kl_divergence(p, p, grid) == 0
    assert kl_divergence(p, 5 * p, grid) == pytest.approx(0, abs=1e-12)
    assert kl_divergence(p, q, grid) >= 0


def test_kl_uses_the_floor_where_q_is_empty():
    grid = unit_grid(1001)
    left, right = (grid < 0.5).astype(float), (grid >= 0.5).astype(float)
    assert kl_divergence(left, right, grid, floor=1e-6) == pytest.approx(math.log(2e6), rel=1e-3)
    assert kl_divergence(left, right, grid, floor=1e-3) < kl_divergence(left, right, grid)


def test_kl_without_mass_is_undefined():
    grid = unit_grid(9)
    assert math.isnan(kl_divergence(np.ones(9), np.zeros(9), grid))
    assert math.isnan(kl_divergence(np.zeros(9), np.ones(9), grid))
