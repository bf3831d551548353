"""Densities against scikit-learn with the reflection written out, and their divergence."""

import math
import time

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import gaussian_kde
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut
from sklearn.neighbors import KernelDensity

from augsbert_core.density import (
    BANDWIDTH_RULES,
    CONSTANT_BANDWIDTH,
    KERNELS,
    bandwidth,
    density,
    kl_divergence,
    ks_distance,
    likelihoods,
    unit_grid,
    wasserstein_distance,
)

SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=40).map(np.array)
COUNTED = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 9)), min_size=1, max_size=30).map(
    lambda pairs: (np.array([s for s, _ in pairs]), np.array([w for _, w in pairs]))
)
SMOOTH = [name for name in KERNELS if name != "tophat"]


def reference(scores, grid, bandwidth, weights=None, kernel="gaussian", reflect=True, mirrors=1):
    """scikit-learn's kernel density of the scores, and of their mirror images at 0 and 1."""
    shifts = 2 * np.arange(-mirrors, mirrors + 1)[:, None]
    images = np.concatenate([shifts + scores, shifts - scores]).ravel() if reflect else scores
    copies = len(images) // len(scores)
    tiled = None if weights is None else np.tile(weights, copies)
    kde = KernelDensity(bandwidth=bandwidth, kernel=kernel)
    kde.fit(images[:, None], sample_weight=tiled)
    return copies * np.exp(kde.score_samples(grid[:, None]))


def mixed_scores(n, seed=0):
    """Beta scores with a lump inside and at both ends."""
    rng = np.random.default_rng(seed)
    lumps = [np.full(n // 20, 0.3137), np.zeros(n // 50), np.ones(n // 50)]
    return np.concatenate([rng.beta(2, 4, n), *lumps])


@pytest.mark.parametrize("reflect", [True, False])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("h", [0.003, 0.02, 0.1, 1.4])
def test_a_density_is_scikit_learns(h, kernel, reflect):
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.beta(1, 3, 300), [0.0, 0.0, 1.0, 0.5]])
    grid = (
        unit_grid() if kernel != "tophat" else rng.random(257)
    )  # off the steps, where "<" is "<="
    expected = reference(scores, grid, h, kernel=kernel, reflect=reflect, mirrors=10)
    ours = density(scores, grid, h, kernel=kernel, reflect=reflect)
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("reflect", [True, False])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("h", [0.01, 0.06])
def test_many_scores_through_bins_stay_within_a_thousandth_of_the_peak(h, kernel, reflect):
    scores, grid = mixed_scores(20_000), unit_grid(64)  # too many cells to go one by one
    expected = reference(scores, grid, h, kernel=kernel, reflect=reflect)
    error = np.abs(density(scores, grid, h, kernel=kernel, reflect=reflect) - expected).max()
    assert error < (1e-4 if kernel in SMOOTH else 1e-3) * expected.max()


def test_steps_of_the_tophat_may_move_by_a_five_hundredth_of_a_bandwidth():
    scores = np.full(10_000, 0.5)
    grid = np.linspace(0.35, 0.45, 2001)
    ours = density(scores, grid, 0.1, kernel="tophat")
    exact = reference(scores[:1], grid, 0.1, kernel="tophat")
    assert np.abs(ours - exact).max() > 0.1 * exact.max()  # at the step itself
    away = np.abs(grid - 0.4) > 0.1 / 500
    np.testing.assert_allclose(ours[away], exact[away], atol=1e-9)


def test_weights_count_like_repeated_scores():
    scores, weights = np.array([0.1, 0.4, 0.95]), np.array([1.0, 3.0, 2.0])
    grid = unit_grid(101)
    repeated = np.repeat(scores, [1, 3, 2])
    np.testing.assert_allclose(
        density(scores, grid, 0.05, weights), density(repeated, grid, 0.05), atol=1e-12
    )
    np.testing.assert_allclose(
        density(scores, grid, 0.05, weights),
        reference(scores, grid, 0.05, weights),
        atol=1e-6,
    )


@settings(deadline=None)
@given(COUNTED, st.sampled_from(list(KERNELS)), st.booleans(), st.floats(0.005, 2))
def test_counted_scores_are_repeated_scores(counted, kernel, reflect, h):
    scores, counts = counted
    grid = unit_grid(33)
    repeated = density(np.repeat(scores, counts), grid, h, kernel=kernel, reflect=reflect)
    counted_once = density(scores, grid, h, counts, kernel=kernel, reflect=reflect)
    np.testing.assert_allclose(counted_once, repeated, atol=1e-9)


@settings(deadline=None)
@given(SCORES, st.floats(0.01, 3), st.sampled_from(list(KERNELS)))
def test_a_reflected_density_integrates_to_one(scores, h, kernel):
    # Trapezoids are exact for a Gaussian and miss corners and steps of the others by the grid's width.
    grid = unit_grid(2049)
    values = density(scores, grid, h, kernel=kernel)
    assert np.all(values >= 0)
    tolerance = {"gaussian": 1e-9, "tophat": 0.05}.get(kernel, 1e-3)
    assert np.trapezoid(values, grid) == pytest.approx(1, abs=tolerance)


@pytest.mark.parametrize("kernel", KERNELS)
def test_without_reflection_area_is_lost_at_the_ends(kernel):
    grid = unit_grid(2049)
    lost = density(np.array([0.0]), grid, 0.05, kernel=kernel, reflect=False)
    assert np.trapezoid(lost, grid) == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(
    "scores", [[0.5], [0.7] * 20, [0.0, 1.0], [0] * 9 + [1] * 3, [0.0], [1.0, 1.0]]
)
def test_constant_single_and_binary_scores_give_spikes_with_their_whole_mass(scores):
    grid = unit_grid()
    assert np.trapezoid(density(np.array(scores), grid), grid) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("h", [50.0, 1e12])
def test_a_very_wide_reflected_kernel_is_uniform(kernel, h):
    values = density(np.array([0.1]), unit_grid(), h, kernel=kernel)
    np.testing.assert_allclose(values, 1.0, atol=0.02 if kernel == "tophat" else 1e-3)


def test_no_scores_have_no_density():
    assert density(np.array([]), unit_grid(9)).tolist() == [0] * 9
    assert density(np.array([0.5]), unit_grid(9), weights=np.array([0.0])).tolist() == [0] * 9


def test_where_no_kernel_reaches_the_density_is_zero_and_not_noise():
    scores = np.random.default_rng(4).uniform(0.6, 0.7, 50_000)
    for kernel in ("gaussian", "linear"):
        for reflect in (True, False):
            values = density(scores, unit_grid(), 0.01, kernel=kernel, reflect=reflect)
            assert not np.any(values[:120])


@pytest.mark.parametrize(("h", "n"), [(0.001, 5_000), (0.01, 20_000), (0.05, 100_000)])
def test_binning_many_scores_changes_less_than_a_thousandth_of_the_peak(h, n):
    scores = np.random.default_rng(1).beta(2, 5, n)
    grid = unit_grid(65)
    # Small enough portions are not binned; a density of all is the mean of theirs.
    portion = max(int((1 << 21) / (8.6 / math.pi / h + 1)), 1)
    parts = [scores[i : i + portion] for i in range(0, len(scores), portion)]
    exact = sum(len(part) * density(part, grid, h) for part in parts) / len(scores)
    error = np.abs(density(scores, grid, h) - exact).max()
    assert 0 < error < 1e-3 * exact.max()


def test_a_million_scores_take_well_under_a_second():
    scores = np.random.default_rng(2).beta(2, 5, 1_000_000)
    start = time.perf_counter()
    density(scores, unit_grid(512))
    assert time.perf_counter() - start < 2


def test_the_robust_rule_is_silvermans_with_the_real_size_and_spread():
    scores = np.random.default_rng(3).normal(0.5, 0.1, 1000).clip(0, 1)
    spread = min(scores.std(ddof=1), np.subtract(*np.percentile(scores, [75, 25])) / 1.34)
    assert bandwidth("robust", scores) == pytest.approx(0.9 * spread * 1000**-0.2)
    assert bandwidth("robust", 0.5 + (scores - 0.5) / 2) == pytest.approx(
        bandwidth("robust", scores) / 2
    )


@pytest.mark.parametrize("rule", ["scott", "silverman"])
def test_scott_and_silverman_are_scipys(rule):
    scores = np.random.default_rng(3).beta(2, 3, 500)
    expected = gaussian_kde(scores, rule).factor * scores.std(ddof=1)
    assert bandwidth(rule, scores) == pytest.approx(expected)


@settings(deadline=None)
@given(COUNTED, st.sampled_from(BANDWIDTH_RULES), st.sampled_from(list(KERNELS)))
def test_a_rule_on_counted_scores_is_the_rule_on_repeated_scores(counted, rule, kernel):
    scores, counts = counted
    repeated = bandwidth(rule, np.repeat(scores, counts), None, kernel)
    assert bandwidth(rule, scores, counts, kernel) == pytest.approx(repeated, rel=1e-9)
    assert repeated >= CONSTANT_BANDWIDTH


@pytest.mark.parametrize("rule", BANDWIDTH_RULES)
def test_rules_have_a_floor_for_constant_scores(rule):
    for scores in ([], [0.3], [0.3] * 50, [1.0, 1.0]):
        assert bandwidth(rule, np.array(scores)) == CONSTANT_BANDWIDTH
    assert bandwidth(rule, np.array([0.2, 0.9]), np.array([0, 0])) == CONSTANT_BANDWIDTH


def test_the_robust_rule_survives_equal_quartiles():
    mostly_zero = np.array([0.0] * 80 + [1.0] * 20)
    assert bandwidth("robust", mostly_zero) == pytest.approx(
        0.9 * mostly_zero.std(ddof=1) * 100**-0.2
    )


def test_counts_in_the_billions_cost_nothing():
    scores, counts = unit_grid(512), np.full(512, 10**9)
    start = time.perf_counter()
    for rule in BANDWIDTH_RULES:
        assert bandwidth(rule, scores, counts) == CONSTANT_BANDWIDTH
    assert time.perf_counter() - start < 1


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")  # of means of −∞
@pytest.mark.parametrize("kernel", KERNELS)
def test_cross_validated_likelihoods_are_grid_searchs(kernel):
    scores = np.random.default_rng(6).beta(2, 3, 40)
    candidates, ours = likelihoods(scores, kernel=kernel, reflect=False)
    search = GridSearchCV(
        KernelDensity(kernel=kernel), {"bandwidth": candidates[::4]}, cv=LeaveOneOut()
    )
    theirs = search.fit(scores[:, None]).cv_results_["mean_test_score"]
    seen = np.isfinite(theirs)  # theirs is −∞ where a score is out of reach of the others
    tolerance = 0.02 if kernel == "tophat" else 5e-3
    np.testing.assert_allclose(ours[::4][seen], theirs[seen], atol=tolerance)
    chosen = candidates[::4][np.argmax(ours[::4])]
    assert theirs[candidates[::4] == chosen] >= theirs.max() - tolerance


def test_the_cross_validated_choice_holds_under_folds_of_ten():
    scores = np.random.default_rng(7).beta(2, 3, 200)
    chosen = bandwidth("cross-validated", scores, reflect=False)
    candidates, _ = likelihoods(scores)
    folds = KFold(10, shuffle=True, random_state=0)
    search = GridSearchCV(KernelDensity(), {"bandwidth": candidates}, cv=folds).fit(scores[:, None])
    per_score = search.cv_results_["mean_test_score"] / (len(scores) / 10)
    assert per_score[candidates == chosen] >= per_score.max() - 0.005


def test_a_reflected_likelihood_leaves_the_mirror_images_of_a_score_out_too():
    scores = np.array([0.01, 0.02, 0.05, 0.4, 0.97, 1.0])
    candidates, values = likelihoods(scores)
    for candidate, value in list(zip(candidates, values, strict=True))[::8]:
        log_densities = [
            np.log(density(np.delete(scores, i), scores[i : i + 1], candidate))
            for i in range(len(scores))
            if density(np.delete(scores, i), scores[i : i + 1], candidate) > 1e-12
        ]
        missing = len(scores) - len(log_densities)
        expected = (np.sum(log_densities) + missing * np.log(1e-12)) / len(scores)
        assert value == pytest.approx(expected, abs=0.05)


def test_two_clusters_are_resolved_by_cross_validation_and_blurred_by_scott():
    rng = np.random.default_rng(8)
    scores = np.concatenate([rng.normal(0.2, 0.02, 500), rng.normal(0.8, 0.02, 500)])
    assert bandwidth("cross-validated", scores) < 0.02 < bandwidth("scott", scores)


@pytest.mark.parametrize("bad", [[0.5, 1.2], [-0.1], [float("nan")]])
def test_scores_outside_the_unit_interval_are_refused(bad):
    with pytest.raises(ValueError, match=r"not in \[0, 1\]"):
        density(np.array(bad), unit_grid())


def test_bandwidths_and_weights_that_make_no_sense_are_refused():
    for h in (0.0, -1.0, math.nan, math.inf, 1e-5):
        with pytest.raises(ValueError, match="bandwidth"):
            density(np.array([0.5]), unit_grid(), h)
    for weights in ([-1.0], [math.nan], [1.0, 1.0]):
        with pytest.raises(ValueError, match="weights"):
            density(np.array([0.5]), unit_grid(), weights=np.array(weights))


def test_unknown_kernels_and_rules_and_grids_beyond_the_scale_are_refused():
    with pytest.raises(ValueError, match="kernel must be one of gaussian, tophat"):
        density(np.array([0.5]), unit_grid(), 0.1, kernel="triweight")
    with pytest.raises(ValueError, match="rule must be one of robust"):
        bandwidth("normal", np.array([0.5]))
    with pytest.raises(ValueError, match="grid"):
        density(np.array([0.5]), np.array([0.0, 1.5]), 0.1)


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


@settings(deadline=None)
@given(COUNTED, COUNTED)
def test_distances_are_scipys(first, second):
    repeated = [np.repeat(*counted) for counted in (first, second)]
    if not all(map(len, repeated)):
        assert math.isnan(wasserstein_distance(*first, *second))
        assert math.isnan(ks_distance(*first, *second))
        return
    assert wasserstein_distance(*first, *second) == pytest.approx(
        scipy.stats.wasserstein_distance(*repeated), abs=1e-12
    )
    assert ks_distance(*first, *second) == pytest.approx(
        scipy.stats.ks_2samp(*repeated, method="asymp").statistic, abs=1e-12
    )
    unweighted = wasserstein_distance(repeated[0], None, repeated[1], None)
    assert unweighted == pytest.approx(wasserstein_distance(*first, *second), abs=1e-12)


def test_distances_of_two_known_sets():
    halves, ends = np.array([0.5, 0.5]), np.array([0.0, 1.0])
    assert wasserstein_distance(halves, None, ends, None) == 0.5
    assert ks_distance(halves, None, ends, None) == 0.5
    assert ks_distance(ends, np.array([3, 1]), ends, np.array([1, 3])) == 0.5
