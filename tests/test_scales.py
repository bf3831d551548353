"""Scales: levels with scores and keys."""

from itertools import pairwise

import pytest
from streamlit.elements.lib.shortcut_utils import normalize_shortcut

from augsbert_core.errors import WorkbenchError
from augsbert_core.pairs import ScoreRange
from augsbert_core.scales import (
    RESERVED_KEYS,
    SCALES,
    Level,
    custom_levels,
    level_labels,
    offered_scales,
    scale_levels,
)

WORDS = [("same", 1.0), ("other", 0.0), ("near", 0.5)]


@pytest.mark.parametrize("name", [*SCALES, "custom"])
def test_every_level_has_a_key_of_its_own_that_streamlit_takes(name: str) -> None:
    levels = custom_levels(WORDS) if name == "custom" else SCALES[name][1]
    keys = [level.key for level in levels]
    assert [normalize_shortcut(key) for key in keys] == keys
    assert len(set(keys)) == len(keys)
    assert not RESERVED_KEYS & set(keys)


@pytest.mark.parametrize("name", SCALES)
def test_the_levels_span_the_scale_evenly(name: str) -> None:
    scores = [level.score for level in SCALES[name][1]]
    assert (scores[0], scores[-1]) == (0.0, 1.0)
    steps = [high - low for low, high in pairwise(scores)]
    assert min(steps) == pytest.approx(max(steps))


def test_half_steps_lie_between_the_numbers_on_the_keyboard() -> None:
    levels = {level.label: level for level in SCALES["0-5"][1]}
    assert levels["3"].key == "3"
    assert levels["3.5"] == Level("3.5", 0.7, "t")


@pytest.mark.parametrize("name", ["0-5", "0-1"])
def test_labels_are_the_scores_on_the_scale(name: str) -> None:
    scale, levels = SCALES[name]
    for level in levels:
        assert float(level.label) == pytest.approx(scale.to_raw(level.score))


@pytest.mark.parametrize(
    ("task", "scale", "has_gold", "first"),
    [
        ("regression", ScoreRange(0, 5), True, "0-5"),
        ("regression", ScoreRange(0, 1), True, "0-1"),
        ("regression", ScoreRange(1, 4), True, "0-1"),
        ("regression", ScoreRange(0, 1), False, "0-5"),
        ("classification", ScoreRange(0, 1), True, "binary"),
        ("classification", ScoreRange(0, 1), False, "binary"),
    ],
)
def test_the_scale_that_fits_comes_first(
    task: str, scale: ScoreRange, has_gold: bool, first: str
) -> None:
    offered = offered_scales(task, scale, has_gold=has_gold)
    assert offered[0] == first
    assert offered[-1] == "custom"
    assert len(set(offered)) == len(offered)
    assert ("0-1" in offered) == (scale != ScoreRange(0, 5))  # they would be the half steps again
    assert {"0-5", "binary"} <= set(offered)


def test_tenths_are_shown_on_the_range_of_the_project() -> None:
    levels = SCALES["0-1"][1]
    assert level_labels("0-1", levels, ScoreRange(1, 4))[:3] == ["1", "1.3", "1.6"]
    assert level_labels("0-1", levels, ScoreRange(0, 1)) == [level.label for level in levels]
    assert level_labels("0-5", SCALES["0-5"][1], ScoreRange(0, 1))[-1] == "5"
    assert level_labels("custom", custom_levels(WORDS), ScoreRange(1, 4))[0] == "other"


def test_words_are_ordered_by_their_scores() -> None:
    assert custom_levels([*WORDS, (" twin ", 1)]) == (
        Level("other", 0.0, "1"),
        Level("near", 0.5, "2"),
        Level("same", 1.0, "3"),
        Level("twin", 1.0, "4"),
    )
    assert scale_levels("custom", [Level("b", 1.0, ""), Level("a", 0.0, "")])[0] == Level(
        "a", 0.0, "1"
    )
    assert scale_levels("binary") == SCALES["binary"][1]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([("one", 1.0)], "two to nine labels, not 1"),
        ([(str(number), 0.1) for number in range(10)], "not 10"),
        ([("a", 0.0), (" ", 1.0)], "blank"),
        ([("a", 0.0), ("A", 1.0)], "same word"),
        ([("a", 0.0), ("b", 1.5)], "'b' is 1.5"),
        ([("a", float("nan")), ("b", 1.0)], "from 0 to 1"),
        ([("a" * 31, 0.0), ("b", 1.0)], "more than 30 characters"),
        ([("a\nb", 0.0), ("c", 1.0)], "cannot be shown"),
        ([("a\x00", 0.0), ("c", 1.0)], "cannot be shown"),
        ([("\ud800", 0.0), ("c", 1.0)], "cannot be shown"),
    ],
)
def test_words_that_make_no_scale_are_refused(words: list[tuple[str, float]], why: str) -> None:
    with pytest.raises(WorkbenchError, match=why):
        custom_levels(words)


def test_an_unknown_scale_is_refused() -> None:
    with pytest.raises(WorkbenchError, match="no scale '0-7'"):
        scale_levels("0-7")
