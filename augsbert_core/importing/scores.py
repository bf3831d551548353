"""Scores as files write them: numbers in either notation, or words; and the scale that they fit."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.column_names import parse_number
from augsbert_core.pairs import ScoreRange

_OFFERED_RANGES = ((0, 1), (-1, 1), (1, 5), (0, 4), (0, 5))

WORD_SCORES: tuple[dict[str, float], ...] = (
    dict.fromkeys(("duplicate", "duplicates", "paraphrase", "similar", "same", "yes", "true", "positive"), 1.0)
    | dict.fromkeys(
        ("not duplicate", "non duplicate", "not paraphrase", "non paraphrase", "not similar", "dissimilar",
         "different", "no", "false", "negative"),
        0.0,
    ),
    {"entailment": 1.0, "neutral": 0.5, "contradiction": 0.0},
)  # fmt: skip
"""What well-known words say on the scale from 0 to 1; `tidy_word` of a cell is looked up."""


@dataclass(frozen=True)
class ParsedScores:
    """The scores of a column. values: float64, NaN where there is none. reasons: cell → why it is unusable.

    words: the cells that were words, "" elsewhere; None when none was.
    """

    values: np.ndarray
    words: list[str] | None
    reasons: dict[str, str]


def tidy_word(cell: str) -> str:
    """A label without case, and with one kind of gap: "Not_Duplicate" and "not duplicate" are one."""
    return " ".join(cell.replace("_", " ").replace("-", " ").lower().split())


def read_labels(told: Iterable[str]) -> dict[str, float]:
    """ "word=score" of each label as a mapping. WorkbenchError names what was not understood."""
    labels: dict[str, float] = {}
    for text in told:
        word, equals, number = text.rpartition("=")
        value = parse_number(number)
        if not equals or not tidy_word(word) or value is None or not math.isfinite(value):
            raise WorkbenchError(
                f"Label {text!r} was not understood. Write the word, an equals sign and its score, for example duplicate=1."
            )
        labels[tidy_word(word)] = value
    return labels


def known_labels(cells: Sequence[str]) -> dict[str, float]:
    """The well-known words of a column with their scores, when its words are all well known; else nothing."""
    words = {tidy_word(cell) for cell in set(cells) if cell.strip() and parse_number(cell) is None}
    for scale in WORD_SCORES:
        if words and words <= set(scale):
            return {word: scale[word] for word in sorted(words)}
    return {}


def parse_scores(cells: Sequence[str], labels: Mapping[str, float]) -> ParsedScores:
    """The number in each cell, or the score of its word; each distinct cell is looked at once."""
    found: dict[str, float] = {}
    words: dict[str, str] = {}
    reasons: dict[str, str] = {}
    for cell in set(cells):
        value = parse_number(cell)
        if value is None and (word := tidy_word(cell)) in labels:
            value, words[cell] = labels[word], cell.strip()
        if value is not None and math.isfinite(value):
            found[cell] = value
            continue
        found[cell] = math.nan
        reasons[cell] = (
            f"Score is not a number: {cell[:40]!r}"
            if cell.strip()
            else f"Score is missing: {cell[:20]!r}"
        )
    values = np.fromiter(map(found.__getitem__, cells), dtype=np.float64, count=len(cells))
    return ParsedScores(values, [words.get(cell, "") for cell in cells] if words else None, reasons)


def guess_range(values: np.ndarray) -> ScoreRange | None:
    """The usual scale that the observed scores fit best: something to offer, never to apply unasked.

    One of 0:1, -1:1, 1:5, 0:4, 0:5, or None when the scores fit none of them.
    """
    finite = values[np.isfinite(values)]
    if not len(finite):
        return None
    lowest, highest = float(finite.min()), float(finite.max())
    for low, high in _OFFERED_RANGES:
        # Scores up to 3.8 are more likely a part of 0:5 than of 0:4, so 4 itself must occur.
        if low <= lowest and highest <= high and ((low, high) != (0, 4) or highest == high):
            return ScoreRange(low, high)
    return None
