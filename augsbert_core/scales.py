"""The scales that people score pairs on: levels, each with a key of the keyboard.

Streamlit keeps C and R for itself and refuses "?"; s, f, u, h and the arrows move through a queue, m shows the
model's suggestion.
"""

import math
from collections.abc import Sequence

from augsbert_core.errors import WorkbenchError
from augsbert_core.options.annotating import Level
from augsbert_core.pairs import ScoreRange

__all__ = [
    "RESERVED_KEYS",
    "SCALES",
    "Level",
    "custom_levels",
    "level_labels",
    "offered_scales",
    "scale_levels",
]

RESERVED_KEYS = frozenset("crsfuhm?")

LONGEST_LABEL = 30
"""Characters of the longest word on a scale; more does not fit on a button."""


def _numbered(labels: Sequence[str], keys: str) -> tuple[Level, ...]:
    top = len(labels) - 1
    return tuple(
        Level(label, place / top, key)
        for place, (label, key) in enumerate(zip(labels, keys, strict=True))
    )


SCALES: dict[str, tuple[ScoreRange, tuple[Level, ...]]] = {
    "0-5": (
        ScoreRange(0, 5),
        _numbered(["0", "0.5", "1", "1.5", "2", "2.5", "3", "3.5", "4", "4.5", "5"], "0q1w2e3t4y5"),
    ),
    "0-1": (
        ScoreRange(0, 1),
        _numbered([f"{tenth / 10:g}" for tenth in range(11)], "0123456789x"),
    ),
    "binary": (ScoreRange(0, 1), (Level("no", 0.0, "n"), Level("yes", 1.0, "y"))),
}
"""Name → the scale of raw scores, and its levels, lowest first."""


def offered_scales(task: str, score_range: ScoreRange, *, has_gold: bool) -> list[str]:
    """The scales that people can choose from, the one that fits a project first, "custom" last.

    has_gold: the project's range is that of its gold pairs; without any it may still become another one. From 0 to 5 the
    tenths would be the half steps again, and are left out.
    """
    if task == "classification":
        first = "binary"
    elif not has_gold or score_range == SCALES["0-5"][0]:
        first = "0-5"
    else:
        first = "0-1"
    names = [name for name in SCALES if name != "0-1" or score_range != SCALES["0-5"][0]]
    return [first, *(name for name in names if name != first), "custom"]


def level_labels(scale: str, levels: Sequence[Level], score_range: ScoreRange) -> list[str]:
    """What people read on the levels of a scale: those of "0-1" are shown on the project's range, others as named."""
    if scale != "0-1":
        return [level.label for level in levels]
    return [f"{round(score_range.to_raw(level.score), 6):g}" for level in levels]


def custom_levels(words: Sequence[tuple[str, float]]) -> tuple[Level, ...]:
    """Levels for words with scores in [0, 1], lowest first, with the keys 1, 2, 3, …

    WorkbenchError: fewer than two words, more than nine, one that is blank, too long, not to be read or there twice, or a
    score outside.
    """
    levels = [(label.strip(), float(score)) for label, score in words]
    if not 2 <= len(levels) <= 9:
        raise WorkbenchError(f"A scale of words has two to nine labels, not {len(levels)}.")
    for label, score in levels:
        if not label:
            raise WorkbenchError("A label of the scale is blank. Give each a word.")
        if len(label) > LONGEST_LABEL or not label.isprintable():
            raise WorkbenchError(
                f"The label {label[:LONGEST_LABEL]!a} of the scale has more than {LONGEST_LABEL} characters, or some "
                "that cannot be shown. Give another word."
            )
        if not (math.isfinite(score) and 0.0 <= score <= 1.0):
            raise WorkbenchError(f"The score of {label!r} is {score:g}. Give one from 0 to 1.")
    names = [label.casefold() for label, _ in levels]
    if len(set(names)) < len(names):
        raise WorkbenchError("Two labels of the scale are the same word. Name each differently.")
    ordered = sorted(levels, key=lambda level: level[1])
    return tuple(
        Level(label, score, str(number)) for number, (label, score) in enumerate(ordered, 1)
    )


def scale_levels(scale: str, levels: Sequence[Level] = ()) -> tuple[Level, ...]:
    """The levels of a scale by name, or those given for "custom". WorkbenchError: there is no such scale."""
    if scale == "custom":
        return custom_levels([(level.label, level.score) for level in levels])
    if scale not in SCALES:
        raise WorkbenchError(f"There is no scale {scale!r}. Choose {', '.join(SCALES)} or custom.")
    return SCALES[scale][1]
