"""Repeated pairs are counted and handled by policy; splits keep what belongs together together."""

from collections import Counter

import pytest

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.rows import (
    GoldRow,
    apply_repeats_policy,
    find_repeats,
    split_by_ratio,
    text_pair_key,
)

PAIRS = [("a", "b"), ("b ", "a"), ("c", "d"), ("a", "b"), ("e", "e"), ("c", "d")]
SCORES = [0.2, 0.4, 1.0, 0.2, 1.0, 1.0]
ROWS = [
    GoldRow(line, first, second, score * 5, score)
    for line, ((first, second), score) in enumerate(zip(PAIRS, SCORES, strict=True), start=1)
]


def test_a_pair_of_texts_has_no_direction():
    assert text_pair_key("b  c", "a") == text_pair_key("a", " b c") == ("a", "b c")


def test_repeats_are_counted_either_way_round():
    repeats = find_repeats(PAIRS, SCORES)
    assert repeats.groups == [0, 0, 1, 0, 2, 1]
    assert repeats.n_rows_repeated == 3
    assert repeats.n_pairs_repeated == 2
    assert repeats.n_conflicting == 1
    assert repeats.n_identical == 1
    assert find_repeats(PAIRS).n_conflicting == 0
    assert find_repeats([]).n_rows_repeated == 0


@pytest.mark.parametrize(
    ("policy", "left"),
    [
        ("keep", [(line, score) for line, score in enumerate(SCORES, start=1)]),
        ("first", [(1, 0.2), (3, 1.0), (5, 1.0)]),
        ("mean", [(1, pytest.approx(0.8 / 3)), (3, 1.0), (5, 1.0)]),
        ("drop", [(5, 1.0)]),
    ],
)
def test_policies(policy, left):
    rows = apply_repeats_policy(ROWS, policy)
    assert [(row.line, row.score) for row in rows] == left
    assert [row.raw_score for row in rows] == pytest.approx([5 * row.score for row in rows])


def test_an_unknown_policy_is_named():
    with pytest.raises(WorkbenchError, match="'median' is none of keep, mean, first, drop"):
        apply_repeats_policy(ROWS, "median")


def test_pairs_that_share_sentences_stay_in_one_split():
    keys = [(f"s{n}", f"t{n // 4}") for n in range(400)]
    splits, note = split_by_ratio(keys, (80, 10, 10), seed=1)
    assert Counter(splits) == {"train": 320, "dev": 40, "test": 40}
    homes = {}
    for (first, second), split in zip(keys, splits, strict=True):
        assert homes.setdefault(first, split) == homes.setdefault(second, split) == split
    assert "no sentence is in two splits" in note
    assert split_by_ratio(keys, (80, 10, 10), seed=1)[0] == splits
    assert split_by_ratio(keys, (80, 10, 10), seed=2)[0] != splits


def test_pairs_that_hang_together_are_split_by_pair_and_the_note_says_so():
    keys = [("hub", f"s{n % 90}") for n in range(100)]
    splits, note = split_by_ratio(keys, (60, 20, 20), seed=1)
    assert Counter(splits) == {"train": 60, "dev": 20, "test": 20}
    assert splits[:10] == splits[90:]
    assert "100 of 100 rows are linked" in note
    turned, _ = split_by_ratio([(second, first) for first, second in keys], (60, 20, 20), seed=1)
    assert turned == splits


def test_few_rows_still_give_every_split_one():
    splits, _ = split_by_ratio([("a", "b"), ("c", "d"), ("e", "f")], (80, 10, 10), seed=0)
    assert sorted(splits) == ["dev", "test", "train"]
    assert split_by_ratio([("a", "b")], (80, 10, 10), seed=0)[0] == ["train"]
    assert split_by_ratio([], (80, 10, 10), seed=0)[0] == []


def test_a_ratio_of_zero_leaves_a_split_empty():
    splits, _ = split_by_ratio([(f"a{n}", f"b{n}") for n in range(50)], (90, 0, 10), seed=3)
    assert Counter(splits) == {"train": 45, "test": 5}


@pytest.mark.parametrize("ratios", [(80, 20), (0, 0, 0), (-1, 1, 1), (float("nan"), 1, 1)])
def test_impossible_ratios_are_a_user_error(ratios):
    with pytest.raises(WorkbenchError, match="Give t"):
        split_by_ratio([("a", "b")], ratios, seed=0)
