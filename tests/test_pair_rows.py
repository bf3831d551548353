"""Rows as columns: what was worked out about their sentences stays right, whatever is taken of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augsbert_core.importing.pair_rows import (
    NO_SPLIT,
    GoldRow,
    PairRows,
    join_rows,
    number_in_order,
)
from augsbert_core.importing.texts import Numbered, is_blank, number_sentences
from augsbert_core.pairs import sentence_key, text_pair_key

ROWS = [
    GoldRow(2, "One  dog.", "A cat.", 5.0, 1.0, "train", "pets", "yes", "p1"),
    GoldRow(3, "A cat.", "One dog. ", 0.0, 0.0),
    GoldRow(7, "A fish.", "A fish.", 2.5, 0.5, "test"),
]

cells = st.text(st.sampled_from("ab \t\n\u00a0\u2003é\u0301e\x1f\x00"), max_size=5)
texts = st.one_of(cells, st.text(max_size=6))


def slowly_numbered(columns):
    """What `number_sentences` promises, in the plainest way."""
    keys, spellings, numbered = [], [], []
    for row in zip(*columns, strict=True):
        for cell in row:
            if sentence_key(cell) not in keys:
                keys.append(sentence_key(cell))
                spellings.append(cell.strip())
        numbered.append([keys.index(sentence_key(cell)) for cell in row])
    return keys, spellings, [list(column) for column in zip(*numbered, strict=True)]


def as_lists(known: Numbered):
    return known.keys, known.spellings, known.places.tolist() if known.places.size else []


def test_a_sentence_has_one_number_however_it_is_written():
    known = number_sentences([["One  dog.", "A cat."], ["A cat.", " One dog."]])
    assert known.keys == ["One dog.", "A cat."]
    assert known.spellings == ["One  dog.", "A cat."]
    assert known.places.tolist() == [[0, 1], [1, 0]]
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    assert number_sentences([[decomposed, composed]]).places.tolist() == [[0, 0]]


def test_columns_of_unequal_length_are_a_mistake():
    with pytest.raises(ValueError, match="zip"):
        number_sentences([["a"], []])


@given(st.lists(st.tuples(texts, texts), max_size=12))
def test_sentences_are_numbered_as_they_first_appear(pairs):
    columns = [[first for first, _ in pairs], [second for _, second in pairs]]
    known = number_sentences(columns)
    assert as_lists(known) == slowly_numbered(columns)
    assert known.places.shape == (2, len(pairs))
    assert known.places.dtype == np.int64


@given(st.lists(texts, max_size=12))
def test_one_column_of_sentences_is_numbered_alike(column):
    assert as_lists(number_sentences([column])) == slowly_numbered([column])


@given(texts)
def test_the_key_of_a_key_is_itself(text):
    assert sentence_key(sentence_key(text)) == sentence_key(text)


@pytest.mark.parametrize(
    ("text", "blank"),
    [
        ("", True), (" \t", True), ("\u00a0", True), ("\u200b", True), ("\ufeff ", True), ("\x00", True),
        ("\x07 \x1b", True), ("\u00ad", True), (".", False), (" a", False), ("\x00a", False), ("NA", False),
        ("é", False), ("\u0301", False),
    ],
)  # fmt: skip
def test_blank_is_what_shows_nothing(text, blank):
    assert is_blank(text) == blank


def test_rows_come_back_as_they_went_in():
    rows = PairRows.of(ROWS)
    assert list(rows) == ROWS
    assert rows[1] == ROWS[1]
    assert rows.splits.tolist() == [0, NO_SPLIT, 2]
    assert len(PairRows.empty()) == 0
    assert PairRows.of(ROWS[1:]).groups is None


def test_a_pair_has_one_number_either_way_round():
    rows = PairRows.of([ROWS[2], *ROWS])
    assert rows.pairs.tolist() == [0, 1, 1, 0]
    assert rows.codes[1] == rows.codes[2] != rows.codes[0]


some_rows = st.lists(
    st.builds(
        GoldRow,
        st.integers(1, 99),
        cells,
        cells,
        st.sampled_from([0.0, 2.5, 5.0]),
        st.sampled_from([0.0, 0.5, 1.0]),
        st.sampled_from(["", "train", "dev", "test"]),
        st.sampled_from(["", "g"]),
        st.sampled_from(["", "yes"]),
        st.sampled_from(["", "id"]),
    ),
    max_size=8,
)


@given(some_rows, st.data(), st.booleans())
def test_rows_that_are_taken_know_their_own_sentences(rows, data, known_before):
    whole = PairRows.of(rows)
    if known_before:
        assert len(whole.pairs) == len(rows)
    places = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=8) if rows else st.just([]))
    taken = whole.take(np.array(places, dtype=np.int64))
    chosen = [rows[place] for place in places]
    afresh = PairRows.of(chosen)
    assert list(taken) == chosen
    assert as_lists(taken.numbered) == as_lists(afresh.numbered)
    assert taken.codes.tolist() == afresh.codes.tolist()
    assert taken.pairs.tolist() == afresh.pairs.tolist()
    assert (taken.groups is None) == (not any(row.group for row in chosen))


@given(some_rows)
def test_pairs_are_numbered_as_they_first_appear(rows):
    numbers: dict[tuple[str, str], int] = {}
    wanted = [
        numbers.setdefault(text_pair_key(row.sentence1, row.sentence2), len(numbers))
        for row in rows
    ]
    assert PairRows.of(rows).pairs.tolist() == wanted


@given(st.lists(some_rows, max_size=3))
def test_rows_of_several_files_follow_one_another(parts):
    joined = join_rows([PairRows.of(rows, source) for source, rows in enumerate(parts)])
    assert list(joined) == [row for rows in parts for row in rows]
    assert joined.sources.tolist() == [at for at, rows in enumerate(parts) for _ in rows]


def test_other_splits_scores_and_sources_leave_the_sentences_known():
    rows = PairRows.of(ROWS)
    known, pairs = rows.numbered, rows.pairs
    halves = np.full(3, 0.5)
    changed = rows.with_splits(np.array([2, 1, 0])).with_scores(halves, halves, None).from_source(4)
    assert changed.numbered is known
    assert changed.pairs is pairs
    assert [(row.split, row.score, row.label) for row in changed] == [
        ("test", 0.5, ""), ("dev", 0.5, ""), ("train", 0.5, ""),
    ]  # fmt: skip
    assert changed.sources.tolist() == [4, 4, 4]
    assert list(rows) == ROWS


def test_keys_are_numbered_in_order():
    assert number_in_order(np.array([7, 3, 7, 9, 3])).tolist() == [0, 1, 0, 2, 1]
    assert number_in_order(np.array([], dtype=np.int64)).tolist() == []
