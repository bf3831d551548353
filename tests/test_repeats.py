"""Repeated pairs are counted and handled by policy; splits keep what belongs together together."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.pair_rows import GoldRow, PairRows
from augsbert_core.importing.repeats import (
    POLICIES,
    apply_repeats_policy,
    find_repeats,
    list_repeats,
)
from augsbert_core.importing.splitting import split_rows
from augsbert_core.options import ImportOptions
from augsbert_core.pairs import text_pair_key

PAIRS = [("a", "b"), ("b ", "a"), ("c", "d"), ("a", "b"), ("e", "e"), ("c", "d")]
SCORES = [0.2, 0.4, 1.0, 0.2, 1.0, 1.0]
ROWS = PairRows.of(
    [
        GoldRow(line, first, second, score * 5, score)
        for line, ((first, second), score) in enumerate(zip(PAIRS, SCORES, strict=True), start=1)
    ]
)


def rows_of(keys, scores=None):
    scores = scores or [0.5] * len(keys)
    return PairRows.of(
        [
            GoldRow(line, first, second, score, score)
            for line, ((first, second), score) in enumerate(zip(keys, scores, strict=True))
        ]
    )


def split_pairs(keys, ratios, seed):
    """The split of each pair, and what was said."""
    split, notes = split_rows(rows_of(keys), ImportOptions(ratios=ratios, seed=seed))
    return [row.split for row in split], " ".join(notes)


def test_a_pair_of_texts_has_no_direction():
    assert text_pair_key("b  c", "a") == text_pair_key("a", " b c") == ("a", "b c")


def test_repeats_are_counted_either_way_round():
    repeats = find_repeats(ROWS)
    assert ROWS.pairs.tolist() == [0, 0, 1, 0, 2, 1]
    assert repeats.n_rows_repeated == 3
    assert repeats.n_pairs_repeated == 2
    assert repeats.n_conflicting == 1
    assert repeats.n_identical == 1
    assert find_repeats(rows_of(PAIRS)).n_conflicting == 0
    assert find_repeats(PairRows.empty()).n_rows_repeated == 0


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


def test_a_mean_keeps_what_its_first_row_says_but_not_a_word_for_another_score():
    rows = PairRows.of(
        [
            GoldRow(1, "a", "b", 1.0, 1.0, "dev", "g", "entailment", "x"),
            GoldRow(2, "b", "a", 0.0, 0.0, "train", "h", "contradiction", "y"),
            GoldRow(3, "c", "d", 0.5, 0.5, "test", "", "neutral"),
            GoldRow(4, "d", "c", 0.5, 0.5, "train", "", "neutral"),
        ]
    )
    assert list(apply_repeats_policy(rows, "mean")) == [
        GoldRow(1, "a", "b", 0.5, 0.5, "dev", "g", "", "x"),
        GoldRow(3, "c", "d", 0.5, 0.5, "test", "", "neutral"),
    ]
    assert rows.labels == ["entailment", "contradiction", "neutral", "neutral"]


def test_a_mean_of_equal_scores_is_that_score_to_the_last_digit():
    assert sum([0.1] * 3) / 3 != 0.1
    (row,) = apply_repeats_policy(rows_of([("a", "b")] * 3, [0.1] * 3), "mean")
    assert (row.raw_score, row.score) == (0.1, 0.1)


words = st.sampled_from(["a", "b", "a b", " a", "a  b", "c", "\u00e9", "e\u0301", "d"])
some_rows = st.lists(
    st.builds(
        lambda first, second, raw, split, label: (first, second, raw, split, label),
        words,
        words,
        st.integers(0, 5),
        st.sampled_from(["", "train", "dev", "test"]),
        st.sampled_from(["", "low", "high"]),
    ),
    max_size=25,
).map(
    lambda cells: [
        GoldRow(line, first, second, raw, raw / 5, split, label=label)
        for line, (first, second, raw, split, label) in enumerate(cells, start=3)
    ]
)


@given(some_rows, st.sampled_from(POLICIES))
def test_repeats_are_what_a_dictionary_of_pairs_says(rows, policy):
    by_pair = defaultdict(list)
    for row in rows:
        by_pair[text_pair_key(row.sentence1, row.sentence2)].append(row)

    found = find_repeats(PairRows.of(rows))
    assert found.n_rows_repeated == sum(len(group) - 1 for group in by_pair.values())
    assert found.n_pairs_repeated == sum(len(group) > 1 for group in by_pair.values())
    assert found.n_conflicting == sum(
        len({row.raw_score for row in group}) > 1 for group in by_pair.values()
    )
    assert found.n_identical == sum(
        first == second for first, second in by_pair for _ in by_pair[first, second]
    )

    left = apply_repeats_policy(PairRows.of(rows), policy)
    if policy == "keep":
        assert list(left) == rows
    elif policy == "first":
        assert list(left) == [group[0] for group in by_pair.values()]
    elif policy == "drop":
        assert list(left) == [group[0] for group in by_pair.values() if len(group) == 1]
    else:
        assert len(left) == len(by_pair)
        for row, group in zip(left, by_pair.values(), strict=True):
            first = group[0]
            mean = sum(other.raw_score for other in group) / len(group)
            assert row.raw_score == pytest.approx(mean)
            assert row.score == pytest.approx(mean / 5)
            assert row.label == (first.label if row.raw_score == first.raw_score else "")
            assert (row.line, row.sentence1, row.sentence2, row.split) == (
                first.line, first.sentence1, first.sentence2, first.split,
            )  # fmt: skip


def test_pairs_that_share_sentences_stay_in_one_split():
    keys = [(f"s{n}", f"t{n // 4}") for n in range(400)]
    splits, note = split_pairs(keys, (80, 10, 10), seed=1)
    assert Counter(splits) == {"train": 320, "dev": 40, "test": 40}
    homes = {}
    for (first, second), split in zip(keys, splits, strict=True):
        assert homes.setdefault(first, split) == homes.setdefault(second, split) == split
    assert "no sentence is in two splits" in note
    assert split_pairs(keys, (80, 10, 10), seed=1)[0] == splits
    assert split_pairs(keys, (80, 10, 10), seed=2)[0] != splits


def test_pairs_that_hang_together_are_split_by_pair_and_the_note_says_so():
    keys = [("hub", f"s{n % 90}") for n in range(100)]
    splits, note = split_pairs(keys, (60, 20, 20), seed=1)
    assert Counter(splits) == {"train": 60, "dev": 20, "test": 20}
    assert splits[:10] == splits[90:]
    assert "100 of 100 rows are linked" in note
    turned, _ = split_pairs([(second, first) for first, second in keys], (60, 20, 20), seed=1)
    assert turned == splits


def test_few_rows_still_give_every_split_one():
    splits, _ = split_pairs([("a", "b"), ("c", "d"), ("e", "f")], (80, 10, 10), seed=0)
    assert sorted(splits) == ["dev", "test", "train"]
    assert split_pairs([("a", "b")], (80, 10, 10), seed=0)[0] == ["train"]
    assert split_pairs([], (80, 10, 10), seed=0)[0] == []


def test_a_ratio_of_zero_leaves_a_split_empty():
    splits, _ = split_pairs([(f"a{n}", f"b{n}") for n in range(50)], (90, 0, 10), seed=3)
    assert Counter(splits) == {"train": 45, "test": 5}


@pytest.mark.parametrize("ratios", [(80, 20), (0, 0, 0), (-1, 1, 1), (float("nan"), 1, 1)])
def test_impossible_ratios_are_a_user_error(ratios):
    with pytest.raises(WorkbenchError, match="Give t"):
        split_pairs([("a", "b")], ratios, seed=0)


def test_a_pair_that_comes_a_great_many_times_still_links_its_sentences():
    rows = rows_of([("a", "b")] * 256 + [("b", "c")])
    splits, _ = split_rows(rows, ImportOptions(split_way="components", ratios=(50, 25, 25)))
    assert len(np.unique(splits.splits)) == 1


def test_repeated_pairs_are_listed_those_with_differing_scores_first():
    rows = PairRows.of(
        [
            GoldRow(2, "a", "b", 1, 0.2),
            GoldRow(3, "c", "d", 3, 0.6),
            GoldRow(4, "b", "a", 1, 0.2),
            GoldRow(5, "e", "f", 5, 1.0),
            GoldRow(6, "c", " d", 4, 0.8),
            GoldRow(7, "g", "g", 4, 0.8),
            GoldRow(8, "g", "g", 4, 0.8),
        ]
    )
    listed = list_repeats(rows, 100)
    assert [(row.pair, row.line, row.is_reversed, row.differs) for row in listed] == [
        (1, 3, False, True),
        (1, 6, False, True),
        (2, 2, False, False),
        (2, 4, True, False),
        (3, 7, False, False),
        (3, 8, False, False),
    ]
    assert [row.line for row in list_repeats(rows, 3)] == [3, 6]
    assert [row.line for row in list_repeats(rows, 1)] == [3]
    assert list_repeats(PairRows.empty(), 5) == []
