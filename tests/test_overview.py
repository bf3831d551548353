"""What the rows look like, as a plain count of their cells has it."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from augsbert_core.importing.overview import (
    LENGTH_EDGES,
    SCORE_BINS,
    TOP_REPEATED,
    describe_rows,
)
from augsbert_core.importing.texts import number_sentences
from augsbert_core.pairs import sentence_key

sentences = st.one_of(
    st.sampled_from(["a", "b", "a  b", "a b", " c", "d\te f"]),
    st.integers(1, 500).map(lambda n: "w " * n),
)
columns = st.lists(st.tuples(sentences, sentences), max_size=30).map(
    lambda rows: [[first for first, _ in rows], [second for _, second in rows]]
)


def in_rows(columns):
    """All cells, row by row."""
    return [cell for row in zip(*columns, strict=True) for cell in row]


def test_rows_are_described():
    known = number_sentences([["a b", "c", "c  "], ["c", "a  b", "d e f g h"]])
    found = describe_rows(known, np.array([0.0, 1.0, 0.49]))
    assert found["sentences"] == 3
    assert found["lengths"] == [5, 1, *[0] * (len(LENGTH_EDGES) - 2)]
    assert found["longest"] == 5
    assert found["repeated"] == [["c", 3], ["a b", 2]]
    assert found["scores"] == [1, *[0] * 8, 1, *[0] * 9, 1]
    assert "scores" not in describe_rows(known, None)


def test_no_rows_are_described_too():
    found = describe_rows(number_sentences([[], []]), np.array([]))
    assert found == {
        "sentences": 0,
        "lengths": [0] * len(LENGTH_EDGES),
        "longest": 0,
        "repeated": [],
        "scores": [0] * SCORE_BINS,
    }


@given(columns, st.data())
def test_the_counts_are_those_of_counting_cells(columns, data):
    n_rows = len(columns[0])
    scores = data.draw(st.lists(st.floats(0, 1), min_size=n_rows, max_size=n_rows))
    keys = [sentence_key(cell) for cell in in_rows(columns)]
    counts = Counter(keys)
    words = [len(key.split(" ")) for key in keys]
    found = describe_rows(number_sentences(columns), np.array(scores))
    assert found["sentences"] == len(counts)
    ends = [*LENGTH_EDGES[1:], 10**9]
    assert found["lengths"] == [
        sum(low <= n < high for n in words) for low, high in zip(LENGTH_EDGES, ends, strict=True)
    ]
    assert found["longest"] == max(words, default=0)
    # Of equally frequent sentences those that come first are named, and so they are by a Counter.
    top = [(key, count) for key, count in counts.most_common(TOP_REPEATED) if count > 1]
    assert [(sentence_key(text), n) for text, n in found["repeated"]] == [
        (sentence_key(key[:300]), n) for key, n in top
    ]
    assert found["scores"] == [
        sum(low == min(int(score * SCORE_BINS), SCORE_BINS - 1) for score in scores)
        for low in range(SCORE_BINS)
    ]
