"""What an audit sample says about a labeler on a whole silver set."""

import numpy as np
import pytest

from augsbert_core.metrics.audit import audit_figures, error_change, weighted_spearman
from augsbert_core.metrics.correlation import spearman

FIGURES = ("mae", "bias", "rank_correlation", "wrong_positives", "wrong_of_positives")
N_PAIRS, N_STRATA = 4000, 5


def silver(seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores of a labeler that is a little too high, of people (tenths), and strata by the labeler's score."""
    rng = np.random.default_rng(seed)
    human = np.round(rng.beta(0.6, 1.6, N_PAIRS), 1)
    labeler = np.clip(human + rng.normal(0.05, 0.15, N_PAIRS), 0, 1)
    return labeler, human, np.minimum((labeler * N_STRATA).astype(int), N_STRATA - 1)


def truth(labeler: np.ndarray, human: np.ndarray, threshold: float) -> dict[str, float]:
    wrong = (labeler >= threshold) & (human < threshold)
    return {
        "mae": float(np.abs(labeler - human).mean()),
        "bias": float((labeler - human).mean()),
        "rank_correlation": float(spearman(human, labeler) or 0.0),
        "wrong_positives": float(wrong.mean()),
        "wrong_of_positives": float(wrong.sum() / (labeler >= threshold).sum()),
    }


def drawn(stratum: np.ndarray, per_stratum: int, rng: np.random.Generator) -> np.ndarray:
    return np.concatenate(
        [
            rng.choice(np.flatnonzero(stratum == one), per_stratum, replace=False)
            for one in range(N_STRATA)
        ]
    )


def test_estimates_are_unbiased_and_intervals_hold_the_truth_as_often_as_they_say():
    labeler, human, stratum = silver()
    sizes = np.bincount(stratum)[stratum]
    real = truth(labeler, human, 0.5)
    estimates: dict[str, list[float]] = {name: [] for name in FIGURES}
    held = dict.fromkeys(FIGURES, 0)
    n_studies = 400
    for study in range(n_studies):
        rng = np.random.default_rng(1000 + study)
        rows = drawn(stratum, 10, rng)
        found = audit_figures(
            labeler[rows], human[rows], stratum[rows], sizes[rows],
            threshold=0.5, rng=rng, resamples=600,
        )  # fmt: skip
        for name in FIGURES:
            one = getattr(found, name)
            estimates[name].append(one.value)
            held[name] += one.low <= real[name] <= one.high
    for name in FIGURES:
        of_mean = np.std(estimates[name]) / np.sqrt(n_studies)
        # A rank correlation of few pairs has a small bias of its own.
        slack = 0.01 if name == "rank_correlation" else 0.0
        assert abs(np.mean(estimates[name]) - real[name]) < 3 * of_mean + slack, name
        assert 0.93 <= held[name] / n_studies <= 0.975, (name, held[name] / n_studies)


def test_the_figures_equal_a_slow_obvious_reference():
    labeler, human, stratum = silver(2)
    rows = drawn(stratum, 6, np.random.default_rng(0))
    sizes = np.bincount(stratum)
    found = audit_figures(
        labeler[rows], human[rows], stratum[rows], sizes[stratum[rows]],
        threshold=0.4, rng=np.random.default_rng(1), resamples=50,
    )  # fmt: skip
    whole = sizes.sum()
    mae = bias = wrong = positives = 0.0
    for one in range(N_STRATA):
        of_it = [row for row in rows if stratum[row] == one]
        for row in of_it:
            share = sizes[one] / len(of_it) / whole
            mae += share * abs(labeler[row] - human[row])
            bias += share * (labeler[row] - human[row])
            positives += share * (labeler[row] >= 0.4)
            wrong += share * (labeler[row] >= 0.4 and human[row] < 0.4)
    assert found.mae.value == pytest.approx(mae)
    assert found.bias.value == pytest.approx(bias)
    assert found.wrong_positives.value == pytest.approx(wrong)
    assert found.wrong_of_positives.value == pytest.approx(wrong / positives)
    assert (found.n_scored, found.n_drawn, found.n_pairs) == (30, 30, N_PAIRS)


def test_a_pair_with_a_whole_weight_counts_in_ranks_as_if_it_were_there_so_often():
    rng = np.random.default_rng(4)
    first, second = rng.integers(0, 5, 20) / 4, rng.integers(0, 9, 20) / 8
    times = rng.integers(1, 6, 20)
    found = weighted_spearman(times[None, :].astype(float), first, second)[0]
    assert found == pytest.approx(spearman(np.repeat(first, times), np.repeat(second, times)))


def test_a_constant_side_has_no_rank_correlation():
    found = audit_figures(
        np.full(8, 0.5), np.arange(8) / 8, np.zeros(8, int), np.full(8, 100),
        rng=np.random.default_rng(0),
    )  # fmt: skip
    assert found.rank_correlation.value is None
    assert found.mae.value is not None
    # Without a threshold nothing is said about positives.
    assert found.wrong_positives.value is None


def test_strata_without_a_score_are_told():
    stratum = np.array([0, 0, 1, 1, 2, 2])
    human = np.array([0.1, 0.2, np.nan, np.nan, 0.9, 0.8])
    found = audit_figures(
        np.array([0.1, 0.3, 0.5, 0.5, 0.9, 0.9]), human, stratum, np.array([70, 70, 20, 20, 10, 10]),
        threshold=0.5, rng=np.random.default_rng(0),
    )  # fmt: skip
    assert found.unscored_strata == (1,)
    assert found.covered == pytest.approx(0.8)
    assert found.n_scored == 4


def test_without_scores_every_figure_is_none():
    found = audit_figures(
        np.array([0.2, 0.4]), np.full(2, np.nan), np.array([0, 1]), np.array([5, 5]),
        threshold=0.5, rng=np.random.default_rng(0),
    )  # fmt: skip
    for name in FIGURES:
        one = getattr(found, name)
        assert (one.value, one.low, one.high) == (None, None, None), name


def test_a_single_score_has_a_value_but_no_interval():
    found = audit_figures(
        np.array([0.2]), np.array([0.5]), np.array([0]), np.array([900]),
        rng=np.random.default_rng(0),
    )  # fmt: skip
    assert found.mae.value == pytest.approx(0.3)
    assert found.mae.low is None


def test_a_set_that_was_scored_throughout_leaves_nothing_open():
    labeler, human = np.linspace(0, 1, 12), np.linspace(0, 1, 12)[::-1]
    found = audit_figures(
        labeler, human, np.repeat([0, 1], 6), np.full(12, 6),
        threshold=0.5, rng=np.random.default_rng(0),
    )  # fmt: skip
    for one in (found.mae, found.bias, found.wrong_positives, found.wrong_of_positives):
        assert one.low == pytest.approx(one.value)
        assert one.high == pytest.approx(one.value)


def test_no_wrong_positive_among_few_pairs_does_not_mean_none_in_the_set():
    score = np.linspace(0.5, 1.0, 20)
    found = audit_figures(
        score, score, np.zeros(20, int), np.full(20, 10_000),
        threshold=0.5, rng=np.random.default_rng(0),
    )  # fmt: skip
    assert found.wrong_positives.value == 0.0
    assert found.wrong_positives.low == 0.0
    assert 0.05 < found.wrong_positives.high < 0.25


def test_no_wrong_positive_in_strata_scored_throughout_is_no_census_of_the_set():
    # Three pairs of the region of positives are all there are of it; the other region may hold more.
    labeler = np.array([0.9, 0.8, 0.7, 0.1, 0.2, 0.3])
    stratum, sizes = np.array([1, 1, 1, 0, 0, 0]), np.array([3, 3, 3, 900, 900, 900])
    found = audit_figures(
        labeler, labeler, stratum, sizes, threshold=0.5, rng=np.random.default_rng(0)
    )
    assert not found.is_census
    assert (found.wrong_of_positives.value, found.wrong_of_positives.low) == (0.0, 0.0)
    assert found.wrong_of_positives.high > 0.2
    human = np.array([0.9, 0.2, 0.7, 0.1, 0.2, 0.3])
    share = audit_figures(
        labeler, human, stratum, sizes, threshold=0.5, rng=np.random.default_rng(0)
    ).wrong_of_positives
    assert share.value == pytest.approx(1 / 3)
    assert share.low < share.value < share.high


@pytest.mark.parametrize("n", [1, 4])
def test_a_census_is_called_one(n):
    labeler = np.linspace(0.6, 1.0, n)
    found = audit_figures(
        labeler,
        labeler,
        np.zeros(n, int),
        np.full(n, n),
        threshold=0.5,
        rng=np.random.default_rng(0),
    )
    assert found.is_census
    for one in (found.mae, found.wrong_positives, found.wrong_of_positives):
        assert (one.value, one.low, one.high, one.is_census) == (0.0, 0.0, 0.0, True)


def test_equal_errors_are_told_from_a_census():
    labeler, sizes = np.array([0.2, 0.4, 0.6]), np.full(3, 300)
    for away, equal in (([0.1, -0.1, 0.1], True), ([0.1, -0.3, 0.1], False)):
        found = audit_figures(
            labeler, labeler + away, np.zeros(3, int), sizes, rng=np.random.default_rng(0)
        )
        assert (found.equal_errors, found.is_census) == (equal, False)


def test_a_stratum_with_two_sizes_or_too_small_a_one_is_refused():
    for sizes in ([5, 6], [1, 1]):
        with pytest.raises(ValueError, match="stratum 0 of 2 pairs"):
            audit_figures(
                np.zeros(2), np.zeros(2), np.zeros(2, int), np.array(sizes),
                rng=np.random.default_rng(0),
            )  # fmt: skip


def test_the_change_of_error_is_measured_on_the_same_pairs():
    rng = np.random.default_rng(5)
    human = rng.random(60)
    before = human + rng.normal(0, 0.3, 60)
    after = human + 0.9 * (before - human)  # each pair a tenth closer
    found = error_change(before, after, human, rng=rng)
    assert found.n == 60
    assert found.before.value == pytest.approx(np.abs(before - human).mean())
    assert found.change.value == pytest.approx(-0.1 * found.before.value)
    # Paired: far narrower than either mean's own interval.
    assert found.change.high < 0
    assert found.change.high - found.change.low < (found.before.high - found.before.low) / 5
