"""Identity of sentences and pairs, and score scales."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.pairs import ScoredPairs, ScoreRange, pair_codes, pair_key, sentence_key

IDS = st.integers(0, 2**31 - 1)


@given(IDS, IDS)
def test_a_pair_has_no_direction(first: int, second: int) -> None:
    assert pair_key(first, second) == pair_key(second, first)


@given(st.lists(st.tuples(IDS, IDS), min_size=2, max_size=50))
def test_codes_are_equal_exactly_when_keys_are(pairs: list[tuple[int, int]]) -> None:
    first, second = np.array(pairs).T
    assert len(set(pair_codes(first, second).tolist())) == len({pair_key(*pair) for pair in pairs})


def test_white_space_and_unicode_form_do_not_make_another_sentence() -> None:
    assert sentence_key("  Caf\u00e9\tau  lait ") == sentence_key("Cafe\u0301 au lait")
    assert sentence_key("A cat") != sentence_key("a cat")


def test_raw_scores_are_divided_by_the_declared_range() -> None:
    assert ScoreRange(0, 5).to_unit(0.8) == pytest.approx(0.16)
    assert ScoreRange(1, 5).to_unit(1) == 0
    assert ScoreRange(-1, 1).to_raw(0.75) == pytest.approx(0.5)
    with pytest.raises(ValueError, match="outside"):
        ScoreRange(0, 5).to_unit(5.5)


@pytest.mark.parametrize(
    "text", ["", "5", "5:0", "1:1", "a:b", "nan:1", "0:inf", "-1.7e308:1.7e308", "0:5e-324"]
)
def test_a_bad_range_is_named(text: str) -> None:
    with pytest.raises(WorkbenchError, match="0:5"):
        ScoreRange.parse(text)


def test_columns_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="one length"):
        ScoredPairs(["a"], ["b", "c"], np.array([0.1]))


def test_pairs_add_up_in_order() -> None:
    both = ScoredPairs(["a"], ["b"], np.array([0.1])) + ScoredPairs(["c"], ["d"], np.array([0.2]))
    assert (both.sentences1, both.sentences2, both.scores.tolist()) == (
        ["a", "c"],
        ["b", "d"],
        [0.1, 0.2],
    )
