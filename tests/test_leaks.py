"""What splits share is counted, and left out of the earlier one on request."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.leaks import Leak, drop_leaks, find_leaks, leaks_with
from augsbert_core.importing.pair_rows import GoldRow, PairRows
from augsbert_core.pairs import SPLITS, sentence_key, text_pair_key


def rows_of(*cells):
    return PairRows.of(
        [
            GoldRow(line, first, second, 0.5, 0.5, split)
            for line, (first, second, split) in enumerate(cells, start=1)
        ]
    )


def keys_of(row):
    return {sentence_key(row.sentence1), sentence_key(row.sentence2)}


def pair_of(row):
    return text_pair_key(row.sentence1, row.sentence2)


LEAKY = rows_of(
    ("a", "b", "train"),
    ("b ", "c", "train"),
    ("d", "e", "train"),
    ("x", "y", "train"),
    ("d", "f", "dev"),
    ("b", "a", "test"),
    ("b", "a", "test"),
    ("g", "f", "test"),
)


def test_pairs_and_sentences_in_two_splits_are_counted_once_and_their_rows_each():
    assert find_leaks(LEAKY) == [
        Leak("train", "dev", pairs=0, sentences=1, rows_by_pair=0, rows_by_sentence=1),
        Leak("train", "test", pairs=1, sentences=2, rows_by_pair=1, rows_by_sentence=2),
        Leak("dev", "test", pairs=0, sentences=1, rows_by_pair=0, rows_by_sentence=1),
    ]


def test_splits_that_share_nothing_have_no_leak():
    assert find_leaks(rows_of(("a", "b", "train"), ("c", "d", "test"), ("a", "e", ""))) == []
    assert find_leaks(PairRows.empty()) == []


@pytest.mark.parametrize(
    ("policy", "left"),
    [
        ("keep", [1, 2, 3, 4, 5, 6, 7, 8]),
        ("pairs", [2, 3, 4, 5, 6, 7, 8]),
        # "d" was held out in dev alone, which has left: train may keep it.
        ("sentences", [3, 4, 6, 7, 8]),
    ],
)
def test_leaks_leave_the_earlier_split(policy, left):
    tight, gone = drop_leaks(LEAKY, policy)
    assert [row.line for row in tight] == left
    assert gone == len(LEAKY) - len(left)


def test_an_unknown_policy_is_named():
    with pytest.raises(WorkbenchError, match="'all' is none of keep, pairs, sentences"):
        drop_leaks(LEAKY, "all")


letters = st.sampled_from(["a", "b", "b ", "c", "d", "e", "f", "g", "h", "i"])
some_rows = st.lists(st.tuples(letters, letters, st.sampled_from(["", *SPLITS])), max_size=20).map(
    lambda cells: rows_of(*cells)
)


def slowly_found(rows):
    """Every row of one split held against every row of the other."""
    found = []
    for earlier, later in (("train", "dev"), ("train", "test"), ("dev", "test")):
        one = [row for row in rows if row.split == earlier]
        two = [row for row in rows if row.split == later]
        pairs = {pair_of(row) for row in one} & {pair_of(row) for row in two}
        sentences = {key for row in one for key in keys_of(row)}
        sentences &= {key for row in two for key in keys_of(row)}
        if sentences:
            by_pair = sum(pair_of(row) in pairs for row in one)
            by_sentence = sum(bool(keys_of(row) & sentences) for row in one)
            found.append(Leak(earlier, later, len(pairs), len(sentences), by_pair, by_sentence))
    return found


@given(some_rows)
def test_leaks_are_those_that_a_comparison_of_all_rows_finds(rows):
    assert find_leaks(rows) == slowly_found(rows)


@given(some_rows, st.sampled_from(["pairs", "sentences"]))
def test_no_leak_is_left_and_no_row_goes_that_could_stay(rows, policy):
    tight, gone = drop_leaks(rows, policy)
    share = keys_of if policy == "sentences" else (lambda row: {pair_of(row)})
    rank = {split: number for number, split in enumerate(["", *SPLITS])}
    left = list(tight)
    assert gone == len(rows) - len(left)
    for row in rows:
        leaks = row.split and any(
            rank[other.split] > rank[row.split] and share(other) & share(row) for other in left
        )
        assert (row in left) == (not leaks)
    assert [row.line for row in left] == sorted(row.line for row in left)
    assert all(leak.pairs == 0 for leak in find_leaks(tight))
    if policy == "sentences":
        assert find_leaks(tight) == []


@given(some_rows)
def test_what_shares_a_pair_shares_a_sentence(rows):
    by_pair, by_sentence = (drop_leaks(rows, policy)[0] for policy in ("pairs", "sentences"))
    assert {row.line for row in by_sentence} <= {row.line for row in by_pair}


def test_a_second_file_can_share_sentences_with_what_is_there():
    held = {"test": {"b", "q"}, "train": {"g", "x"}, "dev": set()}
    assert leaks_with(LEAKY, held) == [
        Leak("train", "test", pairs=0, sentences=2, rows_by_pair=0, rows_by_sentence=3)
    ]
    assert leaks_with(LEAKY, {}) == []
    assert leaks_with(PairRows.empty(), held) == []


@given(some_rows, st.dictionaries(st.sampled_from(SPLITS), st.sets(letters.map(str.strip))))
def test_leaks_with_what_is_there_are_those_that_a_comparison_finds(rows, held):
    wanted = []
    for earlier, later in (("train", "dev"), ("train", "test"), ("dev", "test")):
        other = {earlier: held.get(later, set()), later: held.get(earlier, set())}
        shared = [keys_of(row) & other[row.split] for row in rows if row.split in other]
        if any(shared):
            n_rows = sum(bool(keys) for keys in shared)
            wanted.append(Leak(earlier, later, 0, len(set().union(*shared)), 0, n_rows))
    assert leaks_with(rows, held) == wanted


def test_sentences_held_already_keep_rows_of_earlier_splits_out():
    rows = PairRows.of(
        [
            GoldRow(1, "a", "b", 1, 1, "train"),
            GoldRow(2, "c", "d", 1, 1, "train"),
            GoldRow(3, "e", "f", 1, 1, "dev"),
            GoldRow(4, "g", "h", 1, 1, "test"),
        ]
    )
    held = {"dev": {"a"}, "test": {"e"}, "train": {"g"}}
    kept, gone = drop_leaks(rows, "sentences", held)
    assert ([row.line for row in kept], gone) == ([2, 4], 2)
    assert drop_leaks(rows, "pairs", held)[1] == 0
    assert drop_leaks(rows, "keep", held)[1] == 0
    assert [(leak.earlier, leak.later, leak.sentences) for leak in leaks_with(rows, held)] == [
        ("train", "dev", 1),
        ("train", "test", 1),
        ("dev", "test", 1),
    ]
