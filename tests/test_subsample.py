"""Fewer rows: at random, or equally many of each score or group, always in the order of the file."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.pair_rows import GoldRow, PairRows
from augsbert_core.importing.subsample import fair_shares, subsample
from augsbert_core.options import ImportOptions


def rows_of(scores, groups=None, split=""):
    return PairRows.of(
        [
            GoldRow(at, f"s{at}", f"t{at}", score, score, split, groups[at] if groups else "")
            for at, score in enumerate(scores)
        ]
    )


def lines(rows):
    return [row.line for row in rows]


BINARY = rows_of([1.0 if n % 4 == 0 else 0.0 for n in range(400)])


def test_random_rows_are_drawn_once_each_and_stay_in_order():
    chosen, notes = subsample(BINARY, ImportOptions(limit=100, subsample="random", seed=1))
    assert len(set(lines(chosen))) == 100
    assert lines(chosen) == sorted(lines(chosen))
    assert notes == ["Kept 100 of 400 rows, drawn at random."]
    again, _ = subsample(BINARY, ImportOptions(limit=100, subsample="random", seed=1))
    other, _ = subsample(BINARY, ImportOptions(limit=100, subsample="random", seed=2))
    assert again == chosen != other


def test_every_row_can_be_drawn():
    seen = set()
    for seed in range(60):
        chosen, _ = subsample(
            rows_of([0.5] * 8), ImportOptions(limit=2, subsample="random", seed=seed)
        )
        seen.update(lines(chosen))
    assert seen == set(range(8))


def test_labels_are_balanced():
    chosen, notes = subsample(BINARY, ImportOptions(limit=120, subsample="balanced"))
    assert Counter(row.score for row in chosen) == {0.0: 60, 1.0: 60}
    assert lines(chosen) == sorted(lines(chosen))
    assert notes == ["Kept 120 of 400 rows, equally many of each score: 60 of 0, 60 of 1."]
    other, _ = subsample(BINARY, ImportOptions(limit=120, subsample="balanced", seed=7))
    assert other != chosen


def test_where_a_class_has_too_few_the_others_make_up_for_it():
    chosen, notes = subsample(BINARY, ImportOptions(limit=300, subsample="balanced"))
    assert Counter(row.score for row in chosen) == {0.0: 200, 1.0: 100}
    assert "200 of 0, 100 of 1" in notes[0]
    assert "the others make up for it" in notes[0]


def test_one_class_alone_is_a_random_draw():
    chosen, _ = subsample(rows_of([1.0] * 9), ImportOptions(limit=4, subsample="balanced"))
    assert len(chosen) == 4


def test_graded_scores_are_balanced_over_fifths_of_the_scale():
    rows = rows_of([*[0.1] * 50, *[0.2] * 30, 0.59, 0.6, *[0.7] * 40, 0.8, *[1.0] * 20])
    chosen, notes = subsample(rows, ImportOptions(limit=60, subsample="balanced"))
    parts = Counter(min(int(row.score * 5), 4) for row in chosen)
    assert parts == {0: 15, 1: 15, 2: 1, 3: 15, 4: 14}
    assert "1 of 0.4–0.6" in notes[0]


def test_groups_are_balanced_and_rows_without_one_are_a_group():
    groups = [("news", "forum", "")[min(n % 6, 2)] for n in range(120)]
    chosen, notes = subsample(
        rows_of([0.5] * 120, groups), ImportOptions(limit=30, subsample="groups")
    )
    assert Counter(row.group for row in chosen) == {"news": 10, "forum": 10, "": 10}
    assert notes == [
        "Kept 30 of 120 rows, equally many of each group: 10 of news, 10 of forum, 10 of (none)."
    ]


def test_of_many_groups_the_note_says_from_how_many_to_how_many():
    groups = [f"g{n % 40}" for n in range(400)]
    _, notes = subsample(rows_of([0.5] * 400, groups), ImportOptions(limit=90, subsample="groups"))
    assert notes == ["Kept 90 of 400 rows, equally many of each group: 2 to 3 of each of 40."]
    _, notes = subsample(rows_of([0.5] * 400, groups), ImportOptions(limit=80, subsample="groups"))
    assert notes == ["Kept 80 of 400 rows, equally many of each group: 2 of each of 40."]


def test_rows_keep_their_splits():
    rows = rows_of([0.5] * 10, split="dev")
    chosen, _ = subsample(rows, ImportOptions(limit=4, subsample="random"))
    assert {row.split for row in chosen} == {"dev"}


@pytest.mark.parametrize(
    "options",
    [
        ImportOptions(subsample="random"),
        ImportOptions(limit=400, subsample="random"),
        ImportOptions(limit=999, subsample="balanced"),
        # The first rows are taken from the table, where it is read.
        ImportOptions(limit=10, subsample="first"),
    ],
)
def test_nothing_is_left_out_when_nothing_has_to_be(options):
    assert subsample(BINARY, options) == (BINARY, [])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (ImportOptions(limit=0, subsample="random"), "Limit 0 leaves no rows. Give a number of at"),
        (ImportOptions(limit=-5, subsample="first"), "Limit -5 leaves no rows"),
        (ImportOptions(subsample="last"), "'last' is none of first, random, balanced, groups"),
        (ImportOptions(limit=5, subsample="groups"), "No row has a group. Choose the column"),
    ],
)
def test_what_cannot_be_asked_for_is_named(options, message):
    with pytest.raises(WorkbenchError, match=message):
        subsample(BINARY, options)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=8), st.data())
def test_shares_are_fair(sizes, data):
    limit = data.draw(st.integers(0, sum(sizes)))
    shares = fair_shares(np.array(sizes), limit)
    assert shares.sum() == limit
    assert (shares <= sizes).all()
    # Whoever has less than another by more than one has given all it has.
    assert all(
        share == size for share, size in zip(shares, sizes, strict=True) if share < shares.max() - 1
    )


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.3, 0.5, 1.0]), st.sampled_from("abc")), max_size=40),
    st.sampled_from(["random", "balanced", "groups"]),
    st.integers(1, 50),
)
def test_there_are_as_many_rows_as_asked_for_while_there_are_enough(cells, way, limit):
    rows = rows_of([score for score, _ in cells], [group for _, group in cells])
    chosen, notes = subsample(rows, ImportOptions(limit=limit, subsample=way))
    assert len(chosen) == min(limit, len(rows))
    assert lines(chosen) == sorted(set(lines(chosen)))
    assert all(row == rows[row.line] for row in chosen)
    assert bool(notes) == (len(chosen) < len(rows))
