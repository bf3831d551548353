"""Scores of files: numbers and words are read, everything else is refused with its reason, scales are offered."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.scores import (
    WORD_SCORES,
    guess_range,
    known_labels,
    labels_on,
    parse_scores,
    read_labels,
    tidy_word,
)
from augsbert_core.pairs import ScoreRange

# Numbers


@pytest.mark.parametrize(
    ("cell", "score"),
    [
        ("4.5", 4.5), (" 4.5\t", 4.5), ("\N{NO-BREAK SPACE}4.5 ", 4.5), ("4,5", 4.5), ("-0,25", -0.25), ("+1", 1),
        ("\N{MINUS SIGN}1", -1), ("\N{MINUS SIGN}0,5", -0.5), (".5", 0.5), ("5.", 5), ("1e-3", 0.001), ("3,600", 3.6),
        ("007", 7),
    ],
)  # fmt: skip
def test_numbers_are_read_in_either_notation(cell, score):
    parsed = parse_scores([cell], {})
    assert (parsed.values.tolist(), parsed.words, parsed.reasons) == ([score], None, {})


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("4.5/5", "Score has its scale beside it, write the number alone"),
        ("4 out of 5", "Score has its scale beside it, write the number alone"),
        ("5 stars", "Score has words beside it, write the number alone"),
        ("4.5 (good)", "Score has words beside it, write the number alone"),
        ("80 %", "Score has a percent sign, write the number alone"),
        ("80.5%", "Score has a percent sign, write the number alone"),
        ("1,234.5", "Score has a thousands separator, write it without"),
        ("1.234,5", "Score has a thousands separator, write it without"),
        ("12\N{NO-BREAK SPACE}345", "Score has a thousands separator, write it without"),
        ("\N{FULLWIDTH DIGIT FOUR}", "Score has digits other than 0 to 9"),
        ("\N{ARABIC-INDIC DIGIT THREE}", "Score has digits other than 0 to 9"),
        ("", "Score is missing"),
        (" \t", "Score is missing"),
        ("high", "Score is not a number"),
        ("nan", "Score is not a number"),
        ("-inf", "Score is not a number"),
        ("1_0", "Score is not a number"),
        ("0x10", "Score is not a number"),
        ("3-4", "Score is not a number"),
        ("\N{BLACK STAR}\N{BLACK STAR}", "Score is not a number"),
        ("1" * 400, "Score is not a number"),
        ("9 " * 5000, "Score is not a number"),
    ],
)
def test_anything_else_is_refused_with_its_reason(cell, reason):
    parsed = parse_scores([cell], {})
    assert np.isnan(parsed.values).all()
    assert parsed.reasons[cell] == f"{reason}: {cell[: 40 if cell.strip() else 20]!r}"


@given(st.lists(st.text(max_size=12) | st.floats(allow_nan=False, allow_infinity=False).map(repr)))
def test_every_cell_has_a_number_or_a_reason(cells):
    parsed = parse_scores(cells, {})
    assert len(parsed.values) == len(cells)
    for cell, value in zip(cells, parsed.values, strict=True):
        assert np.isfinite(value) == (cell not in parsed.reasons)
        if np.isfinite(value):
            assert value == float(cell.replace("\N{MINUS SIGN}", "-").replace(",", "."))


# Words


def test_words_are_read_with_the_labels_that_are_told():
    labels = read_labels(["Not_Duplicate=0", "duplicate=1", "so-so = 0,5"])
    assert labels == {"not duplicate": 0.0, "duplicate": 1.0, "so so": 0.5}
    parsed = parse_scores(["DUPLICATE ", "0.25", "not duplicate", "So-So", "who knows"], labels)
    assert parsed.values[:4].tolist() == [1.0, 0.25, 0.0, 0.5]
    assert parsed.words == ["DUPLICATE", "", "not duplicate", "So-So", ""]
    assert parsed.reasons == {"who knows": "Score is not a number: 'who knows'"}


def test_a_label_with_two_scores_is_refused():
    with pytest.raises(WorkbenchError, match=r"Label 'x' has two scores, 1\.0 and 2\.0"):
        read_labels(("x=1", "X=2"))
    assert read_labels(("x=1", "X=1.0")) == {"x": 1.0}


@pytest.mark.parametrize("told", ["duplicate", "=1", "duplicate=", "duplicate=one", "x=nan"])
def test_a_label_that_is_not_understood_is_named(told):
    with pytest.raises(WorkbenchError, match="for example duplicate=1"):
        read_labels([told])


@pytest.mark.parametrize(
    ("cells", "labels"),
    [
        ("duplicate,not_duplicate", {"duplicate": 1, "not duplicate": 0}),
        ("Yes,NO,yes", {"yes": 1, "no": 0}),
        ("True,False", {"true": 1, "false": 0}),
        ("paraphrase,non-paraphrase", {"paraphrase": 1, "non paraphrase": 0}),
        ("equivalent,not_equivalent", {"equivalent": 1, "not equivalent": 0}),
        ("ENTAILMENT,neutral,contradiction", {"entailment": 1, "neutral": 0.5, "contradiction": 0}),
        ("entailment,not_entailment", {"entailment": 1, "not entailment": 0}),
        ("1,0,yes", {"yes": 1}),
        ("high,low", {}),
        ("yes,maybe", {}),
        ("4.5,no,0.2", {}),
        ("0.5,0.7", {}),
        (",", {}),
    ],
)
def test_well_known_words_have_known_scores(cells, labels):
    assert known_labels(cells.split(",")) == labels


def test_a_few_unknown_words_do_not_hide_the_known_ones():
    cells = ["duplicate", "not_duplicate"] * 10 + ["unsure"]
    labels = known_labels(cells)
    assert labels == {"duplicate": 1, "not duplicate": 0}
    assert list(parse_scores(cells, labels).reasons) == ["unsure"]


def test_words_can_stand_on_any_scale():
    labels = {"duplicate": 1.0, "not duplicate": 0.0, "unsure": 0.5}
    assert labels_on(labels, ScoreRange(1, 5)) == {"duplicate": 5, "not duplicate": 1, "unsure": 3}


def test_the_known_words_are_tidy_and_within_0_and_1():
    for scale in WORD_SCORES:
        assert all(tidy_word(word) == word and 0 <= score <= 1 for word, score in scale.items())


# Scales


@pytest.mark.parametrize(
    ("scores", "offered"),
    [
        ("0 1 1", "0:1"), ("0.2 0.8", "0:1"), ("-1 0.3", "-1:1"), ("1 3 5", "1:5"), ("2 nan 4", "1:5"),
        ("0 3 4", "0:4"), ("0.5 4", "0:4"), ("0 4.8", "0:5"), ("0 3.8", "0:5"), ("0 3", "0:5"), ("3 0 1 2 2", "0:3"),
        ("0 0.5 1 2 3", "0:5"), ("0 1 2", "0:5"), ("0 100", "0:100"), ("12 87.5", "0:100"), ("0 9.5", None),
        ("0 20", None), ("-3 1", None), ("-1 2", None), ("3 101", None), ("nan", None), ("", None),
    ],
)  # fmt: skip
def test_the_range_offered_fits_the_observed_scores(scores, offered):
    values = np.array([float(score) for score in scores.split()])
    assert guess_range(values) == (offered and ScoreRange.parse(offered))


@given(st.lists(st.floats(-2, 120), min_size=1))
def test_no_score_is_outside_of_the_range_offered(scores):
    scale = guess_range(np.array(scores))
    assert scale is None or all(scale.low <= score <= scale.high for score in scores)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([0.5, 2, 4.5, 5] * 50 + [7.5], "0:5"),
        ([0.5, 2, 4.5, 5] * 50 + [-3, 7.5, 99], "0:5"),
        ([0.1, 0.9] * 50 + [5.5], "0:1"),
        ([1, 2, 5] * 20 + [7.5, 8, 9], None),
        ([0.5, 2, 7.5], None),
    ],
)
def test_a_slip_in_fifty_does_not_hide_the_scale(scores: list[float], expected: str | None) -> None:
    found = guess_range(np.array(scores, dtype=float))
    assert (str(found) if found else None) == expected
