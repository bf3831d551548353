"""Best-worst scaling: designs, counting, split-half reliability, and simulated studies with a known truth."""

from collections import Counter
from itertools import combinations, permutations
from math import ceil, comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from augsbert_core.best_worst import (
    appearances,
    count_tuples,
    design,
    expected_recovery,
    find_noise,
    next_tuple,
    recovery,
    remaining_tuples,
    score,
    simulate,
    spearman_brown,
    split_half_reliability,
    to_unit,
    tuple_order,
)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def meetings(tuples: np.ndarray) -> Counter:
    """How often two pairs share a tuple."""
    return Counter(
        frozenset(two) for row in tuples.tolist() for two in combinations(sorted(row), 2)
    )


# Designs


@settings(max_examples=60, deadline=None)
@given(
    n_pairs=st.integers(4, 60),
    tuples_per_pair=st.floats(0.1, 4),
    size=st.integers(2, 4),
    seed=st.integers(0, 2**32 - 1),
)
def test_every_design_is_fair(n_pairs: int, tuples_per_pair: float, size: int, seed: int) -> None:
    tuples = design(n_pairs, tuples_per_pair, rng(seed), size)
    assert tuples.shape == (count_tuples(n_pairs, tuples_per_pair, size), size)
    shown = appearances(tuples, n_pairs)
    assert len(shown) == n_pairs
    assert shown.min() >= 1
    assert shown.max() - shown.min() <= 1
    assert all(len(set(row)) == size for row in tuples.tolist())
    assert len({frozenset(row) for row in tuples.tolist()}) == len(tuples)


@settings(max_examples=20, deadline=None)
@given(n_pairs=st.integers(60, 300), seed=st.integers(0, 2**32 - 1))
def test_no_two_pairs_meet_twice_where_there_is_room(n_pairs: int, seed: int) -> None:
    assert max(meetings(design(n_pairs, 2, rng(seed))).values()) == 1


def test_thirteen_pairs_meet_exactly_once_each() -> None:
    """13 tuples of 13 pairs have exactly one meeting for any two (the projective plane of order 3)."""
    met = meetings(design(13, 1, rng()))
    assert len(met) == comb(13, 2)
    assert set(met.values()) == {1}


def test_where_pairs_must_meet_again_they_meet_evenly() -> None:
    met = meetings(design(20, 2, rng()))
    # 240 meetings of 190 kinds: none is missing and none comes a third time.
    assert Counter(met.values()) == {1: 140, 2: 50}


def test_a_large_design_meets_nobody_twice() -> None:
    tuples = design(10_000, 2, rng())
    assert tuples.shape == (20_000, 4)
    assert set(appearances(tuples, 10_000)) == {8}
    assert max(meetings(tuples).values()) == 1


def test_a_design_depends_on_the_seed_alone() -> None:
    assert np.array_equal(design(50, 2, rng(3)), design(50, 2, rng(3)))
    assert not np.array_equal(design(50, 2, rng(3)), design(50, 2, rng(4)))


def test_a_pair_stands_in_every_place_of_a_tuple_about_equally_often() -> None:
    tuples = design(8, 8, rng(1))
    places = [np.mean(tuples[:, place]) for place in range(4)]
    assert np.allclose(places, 3.5, atol=0.9)
    assert (np.diff(np.sort(tuples, axis=1)) > 0).all()
    assert (np.diff(tuples, axis=1) < 0).any()


@pytest.mark.parametrize(
    ("n_pairs", "tuples_per_pair", "expected"),
    [
        (200, 2, 400),
        (200, 1.5, 300),
        (30, 0.1, 8),  # every pair at least once
        (10, 0.3, 3),
        (4, 2, 1),  # there is only one
        (6, 100, 15),  # all that there are
    ],
)
def test_how_many_tuples_a_design_has(n_pairs: int, tuples_per_pair: float, expected: int) -> None:
    assert count_tuples(n_pairs, tuples_per_pair) == expected


@pytest.mark.parametrize("n_tuples_per_pair", [1.5, 2, 2.4])
def test_nearly_all_tuples_are_still_dealt_evenly(n_tuples_per_pair: float) -> None:
    shown = appearances(design(6, n_tuples_per_pair, rng()), 6)
    assert np.ptp(shown) <= 1


@pytest.mark.parametrize(
    ("n_pairs", "tuples_per_pair", "size", "complaint"),
    [
        (3, 2, 4, "at least 4 pairs, not 3"),
        (0, 2, 4, "at least 4 pairs, not 0"),
        (10, 0, 4, "positive number, not 0"),
        (10, float("nan"), 4, "positive number, not nan"),
        (10, float("inf"), 4, "positive number, not inf"),
        (10, 2, 1, "at least 2 pairs, not 1"),
    ],
)
def test_an_impossible_design_is_refused(
    n_pairs: int, tuples_per_pair: float, size: int, complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        design(n_pairs, tuples_per_pair, rng(), size)


# One judge's way through a design


def test_a_judge_sees_each_tuple_once_and_resumes_where_they_stopped() -> None:
    order = tuple_order(30, rng(7))
    answered: list[int] = []
    while (shown := next_tuple(tuple_order(30, rng(7)), answered)) is not None:
        answered.append(shown)
    assert answered == order.tolist()
    assert sorted(answered) == list(range(30))
    assert not np.array_equal(order, tuple_order(30, rng(8)))


def test_what_remains_keeps_its_order() -> None:
    order = np.array([3, 0, 2, 1])
    assert remaining_tuples(order, {0, 1}).tolist() == [3, 2]
    assert remaining_tuples(order, set()).tolist() == [3, 0, 2, 1]
    assert remaining_tuples(order, {0, 1, 2, 3}).tolist() == []
    assert next_tuple(order, {3}) == 0


# Counting


def test_scores_are_best_minus_worst_over_appearances() -> None:
    """The counting of Kiritchenko and Mohammad (2016): share of times best minus share of times worst.

    Six terms, three tuples, two judges each, counted by hand.
    """
    tuples = [[0, 1, 2, 3]] * 2 + [[0, 1, 4, 5]] * 2 + [[2, 3, 4, 5]] * 2
    best = [0, 0, 0, 1, 2, 4]
    worst = [3, 2, 5, 5, 5, 3]
    #  term          0     1    2      3     4    5
    #  best          3     1    1      0     1    0
    #  worst         0     0    1      2     0    3    of 4 appearances each
    expected = [3 / 4, 1 / 4, 0.0, -2 / 4, 1 / 4, -3 / 4]
    scores = score(np.array(tuples), np.array(best), np.array(worst), 6)
    assert scores.tolist() == expected
    assert to_unit(scores).tolist() == [0.875, 0.625, 0.5, 0.25, 0.625, 0.125]


def test_a_pair_nobody_judged_has_no_score() -> None:
    scores = score(np.array([[0, 1, 2, 3]]), np.array([2]), np.array([0]), 5)
    assert scores[:4].tolist() == [-1.0, 0.0, 1.0, 0.0]
    assert np.isnan(scores[4])
    assert np.isnan(to_unit(scores)[4])
    assert np.isnan(score(np.empty((0, 4)), np.array([]), np.array([]), 3)).all()


@settings(max_examples=50, deadline=None)
@given(data=st.data(), n_pairs=st.integers(4, 15))
def test_counting_agrees_with_a_dictionary(data: st.DataObject, n_pairs: int) -> None:
    answer = st.permutations(range(n_pairs)).map(lambda order: order[:4])
    tuples = data.draw(st.lists(answer, min_size=1, max_size=30))
    chosen = st.sampled_from(list(permutations(range(4), 2)))
    choices = [data.draw(chosen) for _ in tuples]
    best = [row[choice[0]] for row, choice in zip(tuples, choices, strict=True)]
    worst = [row[choice[1]] for row, choice in zip(tuples, choices, strict=True)]

    counted: dict[int, list[int]] = {}
    for row, top, bottom in zip(tuples, best, worst, strict=True):
        for pair in row:
            counted.setdefault(pair, []).append((pair == top) - (pair == bottom))
    expected = [
        sum(counted[pair]) / len(counted[pair]) if pair in counted else np.nan
        for pair in range(n_pairs)
    ]
    found = score(np.array(tuples), np.array(best), np.array(worst), n_pairs)
    np.testing.assert_array_equal(found, expected)
    assert np.nanmin(found) >= -1
    assert np.nanmax(found) <= 1


@pytest.mark.parametrize(
    ("best", "worst", "n_pairs", "complaint"),
    [
        ([7], [0], 9, r"answer 0: best 7 is not in \[0, 1, 2, 3\]"),
        ([0], [7], 9, r"answer 0: worst 7 is not in \[0, 1, 2, 3\]"),
        ([1], [1], 9, "answer 0: 1 is both best and worst"),
        ([0], [1], 3, "pair numbers 0 to 3, but 3 pairs"),
        ([0, 1], [1, 0], 9, r"tuples \(1, 4\), best \(2,\)"),
    ],
)
def test_an_answer_that_cannot_be_is_refused(
    best: list[int], worst: list[int], n_pairs: int, complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        score(np.array([[0, 1, 2, 3]]), np.array(best), np.array(worst), n_pairs)


# Split-half reliability


def answers(*rows: tuple[list[int], str, int, int]) -> tuple[np.ndarray, ...]:
    """Answers as columns: tuples, judges, best, worst."""
    return tuple(np.array(column) for column in zip(*rows, strict=True))


def test_judges_who_agree_are_fully_reliable() -> None:
    study = simulate(20, 2, judges=4, noise=0.0, rng=rng())
    columns = (study.tuples, study.judges, study.best, study.worst)
    found = split_half_reliability(*columns, 20, rng(1))
    assert found is not None
    assert found.mean == pytest.approx(1.0)
    assert found.deviation == pytest.approx(0.0)
    assert found.corrected == pytest.approx(1.0)
    assert (found.splits, found.tuples_used, found.tuples_left_out) == (100, 40, 0)
    assert found.pairs_used == 20


def test_two_judges_can_be_split_in_one_way_only() -> None:
    """With two judges of one tuple, every split compares the one with the other: worked out by hand."""
    columns = answers(([0, 1, 2, 3], "ann", 0, 3), ([3, 2, 1, 0], "bob", 0, 2))
    found = split_half_reliability(*columns, 4, rng(), n_splits=10)
    # Scores 1, 0, 0, −1 and 1, 0, −1, 0: ranks 4, 2.5, 2.5, 1 and 4, 2.5, 1, 2.5, so r = 2.25 / 4.5.
    assert found is not None
    assert found.mean == pytest.approx(0.5)
    assert found.deviation == pytest.approx(0.0)
    assert found.corrected == pytest.approx(2 / 3)
    assert found.tuples_used == 1


def test_a_tuple_with_one_judge_is_left_out_and_counted() -> None:
    both = [([0, 1, 2, 3], "ann", 0, 3), ([0, 1, 2, 3], "bob", 0, 2)]
    alone = ([4, 5, 6, 7], "ann", 4, 7)
    found = split_half_reliability(*answers(*both, alone), 8, rng())
    assert found is not None
    assert (found.tuples_used, found.tuples_left_out, found.pairs_used) == (1, 1, 4)
    assert found.mean == pytest.approx(0.5)


def test_without_a_second_judge_there_is_no_reliability() -> None:
    alone = [([0, 1, 2, 3], "ann", 0, 3), ([4, 5, 6, 7], "bob", 4, 7)]
    assert split_half_reliability(*answers(*alone), 8, rng()) is None
    nothing = (np.empty((0, 4)), np.array([]), np.array([]), np.array([]))
    assert split_half_reliability(*nothing, 8, rng()) is None


def test_the_splits_depend_on_the_generator_alone() -> None:
    study = simulate(30, 2, judges=5, noise=0.5, rng=rng())
    columns = (study.tuples, study.judges, study.best, study.worst)
    found = split_half_reliability(*columns, 30, rng(1))
    assert found == split_half_reliability(*columns, 30, rng(1))
    assert found != split_half_reliability(*columns, 30, rng(2))


def test_a_split_halves_the_judges_of_every_tuple() -> None:
    """Against a plain loop over tuples, averaged over many splits of three or four judges."""
    study = simulate(12, 1, judges=4, noise=0.6, rng=rng(5))
    # One judge short on half of the tuples.
    kept = ~((study.judges == 3) & (np.arange(len(study.judges)) % 8 == 7))
    columns = [column[kept] for column in (study.tuples, study.judges, study.best, study.worst)]
    tuples, _, best, worst = columns
    found = split_half_reliability(*columns, 12, rng(), n_splits=600)
    assert found is not None

    by_tuple: dict[tuple[int, ...], list[int]] = {}
    for row, shown in enumerate(tuples.tolist()):
        by_tuple.setdefault(tuple(shown), []).append(row)
    assert {len(rows) for rows in by_tuple.values()} == {3, 4}
    chance, values = rng(9), []
    for _ in range(600):
        halves: tuple[list[int], list[int]] = ([], [])
        for rows in by_tuple.values():
            shuffled = chance.permutation(rows).tolist()
            middle = len(rows) // 2
            extra = int(chance.integers(0, 2)) if len(rows) % 2 else 0
            halves[0].extend(shuffled[: middle + extra])
            halves[1].extend(shuffled[middle + extra :])
        one, other = (score(tuples[half], best[half], worst[half], 12) for half in halves)
        values.append(spearmanr(one, other).statistic)
    assert found.mean == pytest.approx(np.mean(values), abs=0.03)
    assert found.deviation == pytest.approx(np.std(values), abs=0.03)


def test_a_judge_has_one_answer_per_tuple() -> None:
    twice = answers(([0, 1, 2, 3], "ann", 0, 3), ([2, 3, 0, 1], "ann", 0, 2))
    with pytest.raises(ValueError, match="judge ann answered one tuple 2 times"):
        split_half_reliability(*twice, 4, rng())


def test_reliability_refuses_what_does_not_fit() -> None:
    tuples, judges, best, worst = answers(([0, 1, 2, 3], "ann", 0, 3), ([0, 1, 2, 3], "bob", 0, 2))
    with pytest.raises(ValueError, match="2 answers, but 1 judges"):
        split_half_reliability(tuples, judges[:1], best, worst, 4, rng())
    with pytest.raises(ValueError, match="at least one split"):
        split_half_reliability(tuples, judges, best, worst, 4, rng(), n_splits=0)


def test_the_correction_to_all_judges() -> None:
    assert spearman_brown(0.66) == pytest.approx(0.7952, abs=1e-4)
    assert spearman_brown(0.0) == 0.0
    assert spearman_brown(1.0) == 1.0
    assert spearman_brown(-0.2) is None


# Simulated studies


def test_a_judge_without_noise_picks_the_extremes() -> None:
    truth = np.linspace(0, 1, 12)
    study = simulate(12, 1, judges=2, noise=0.0, rng=rng(), truth=truth)
    assert len(study.tuples) == 24
    # Ever more similar pairs: the highest number is the best.
    assert np.array_equal(study.best, study.tuples.max(axis=1))
    assert np.array_equal(study.worst, study.tuples.min(axis=1))
    with pytest.raises(ValueError, match=r"truth has shape \(3,\), but there are 12 pairs"):
        simulate(12, 1, 2, 0.0, rng(), truth=truth[:3])


def test_judges_without_noise_give_the_order_back_when_all_tuples_are_asked() -> None:
    study = simulate(9, 1000, judges=1, noise=0.0, rng=rng())
    assert len(study.tuples) == comb(9, 4)
    # The i-th of 9 is best where the other three come from the i below it, worst where from the 8 − i above.
    expected = [(comb(i, 3) - comb(8 - i, 3)) / comb(8, 3) for i in range(9)]
    scores = score(study.tuples, study.best, study.worst, 9)
    assert scores[np.argsort(study.truth)].tolist() == expected
    assert recovery(study) == pytest.approx(1.0)


def test_the_noise_found_gives_the_reliability_asked_for() -> None:
    noise = find_noise(0.66, n_pairs=100, judges=4, studies=4)
    assert noise == find_noise(0.66, n_pairs=100, judges=4, studies=4)
    halves = []
    for seed in range(20, 26):
        study = simulate(100, 2, 4, noise, rng(seed))
        columns = (study.tuples, study.judges, study.best, study.worst)
        found = split_half_reliability(*columns, 100, rng(seed), n_splits=20)
        assert found is not None
        halves.append(found.mean)
    assert np.mean(halves) == pytest.approx(0.66, abs=0.06)
    assert find_noise(0.9, n_pairs=100, judges=4, studies=2) < noise


@pytest.mark.parametrize(
    ("target", "judges", "complaint"),
    [(1.0, 4, "between 0 and 1"), (0.0, 4, "between 0 and 1"), (0.66, 1, "at least 2 judges")],
)
def test_a_reliability_that_cannot_be_is_refused(
    target: float, judges: int, complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        find_noise(target, judges=judges)


@pytest.mark.parametrize(("noise", "judges"), [(0.0, 1), (0.6, 4)])
def test_a_study_recovers_the_order_as_well_as_its_counts_allow(noise: float, judges: int) -> None:
    recovered, allowed = [], []
    for seed in range(8):
        study = simulate(100, 2, judges, noise, rng(seed))
        recovered.append(recovery(study))
        allowed.append(expected_recovery(study.truth, 2, judges, noise, rng(100 + seed)))
    assert np.mean(recovered) == pytest.approx(np.mean(allowed), abs=0.015)


def test_more_tuples_recover_more() -> None:
    values = [recovery(simulate(100, number, 4, 0.6, rng(2))) for number in (0.5, 2, 8)]
    assert values == sorted(values)
    assert values[-1] > 0.94


def test_the_smallest_number_of_tuples_shows_each_pair_once() -> None:
    for n_pairs in (4, 5, 6, 7, 8, 9):
        tuples = design(n_pairs, 0.01, rng())
        assert len(tuples) == ceil(n_pairs / 4)
        assert set(tuples.reshape(-1).tolist()) == set(range(n_pairs))
