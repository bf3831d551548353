"""Scores as files write them: numbers in either notation, or words; and the scale that they fit."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.column_names import parse_number
from augsbert_core.pairs import ScoreRange

WORD_SCORES: tuple[dict[str, float], ...] = (
    dict.fromkeys(
        ("duplicate", "duplicates", "paraphrase", "paraphrases", "similar", "same", "equivalent", "related", "match",
         "yes", "true", "positive"),
        1.0,
    )
    | dict.fromkeys(
        ("not duplicate", "non duplicate", "no duplicate", "not duplicates", "not paraphrase", "non paraphrase",
         "no paraphrase", "not paraphrases", "not similar", "dissimilar", "different", "not equivalent",
         "non equivalent", "not related", "unrelated", "no match", "mismatch", "no", "false", "negative"),
        0.0,
    ),
    {"entailment": 1.0, "neutral": 0.5, "contradiction": 0.0, "contradictory": 0.0},
    {"entailment": 1.0, "not entailment": 0.0},
)  # fmt: skip
"""What well-known words say on the scale from 0 to 1; `tidy_word` of a cell is looked up."""

_MOST = 0.9
_NUMBER = r"[+\-\N{MINUS SIGN}]?\d+(?:[.,]\d+)?"
_FAULTS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.DOTALL), what)
    for pattern, what in (
        (
            r"[+\-]?\d{1,3}(?:[\s,.'\N{RIGHT SINGLE QUOTATION MARK}]\d{3})+(?:[.,]\d+)?",
            "a thousands separator, write it without",
        ),
        (rf"%\s*{_NUMBER}|{_NUMBER}\s*%", "a percent sign, write the number alone"),
        (
            rf"{_NUMBER}\s*(?:/|of|out of|von|sur|de)\s*{_NUMBER}",
            "its scale beside it, write the number alone",
        ),
        (rf"{_NUMBER}[^\w.,]*[^\W\d_]\D*", "words beside it, write the number alone"),
    )
)
"""How numbers are written that we do not read, and what such a score has; in the order of the search."""


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
    """ "word=score" of each label as a mapping. WorkbenchError names what was not understood, or has two scores."""
    labels: dict[str, float] = {}
    for text in told:
        word, equals, number = text.rpartition("=")
        value = parse_number(number)
        if not equals or not tidy_word(word) or value is None or not math.isfinite(value):
            raise WorkbenchError(
                f"Label {text!r} was not understood. Write the word, an equals sign and its score, for example duplicate=1."
            )
        before = labels.setdefault(tidy_word(word), value)
        if before != value:
            raise WorkbenchError(
                f"Label {tidy_word(word)!r} has two scores, {before!r} and {value!r}. Case and gaps make no difference; "
                "give each label one score."
            )
    return labels


def known_labels(cells: Sequence[str]) -> dict[str, float]:
    """The well-known words of a column with their scores on the scale from 0 to 1; {} when it is not one of words.

    Nearly all of its words must be of one of `WORD_SCORES`, and its numbers, if any, within 0 and 1: a stray "no"
    among ratings from 0 to 5 is no rating.
    """
    words: Counter[str] = Counter()
    for cell, count in Counter(cells).items():
        value = parse_number(cell)
        if value is None and cell.strip():
            words[tidy_word(cell)] += count
        elif value is not None and math.isfinite(value) and not 0 <= value <= 1:
            return {}
    for scale in WORD_SCORES:
        known = sorted(word for word in words if word in scale)
        if known and sum(words[word] for word in known) >= _MOST * words.total():
            return {word: scale[word] for word in known}
    return {}


def labels_on(labels: Mapping[str, float], scale: ScoreRange) -> dict[str, float]:
    """Labels of the scale from 0 to 1 on another: what means 1 means its highest score there."""
    return {word: scale.to_raw(value) for word, value in labels.items()}


def parse_scores(cells: Sequence[str], labels: Mapping[str, float]) -> ParsedScores:
    """The number in each cell, or the score of its word; each distinct cell is looked at once."""
    found: dict[str, float] = {}
    words: dict[str, str] = {}
    reasons: dict[str, str] = {}
    for cell in set(cells):
        value = parse_number(cell)
        if value is None and labels and (word := tidy_word(cell)) in labels:
            value, words[cell] = labels[word], cell.strip()
        if value is not None and math.isfinite(value):
            found[cell] = value
            continue
        found[cell] = math.nan
        reasons[cell] = _why_no_score(cell)
    values = np.fromiter(map(found.__getitem__, cells), dtype=np.float64, count=len(cells))
    return ParsedScores(values, [words.get(cell, "") for cell in cells] if words else None, reasons)


def _why_no_score(cell: str) -> str:
    text = cell.strip()
    if not text:
        return f"Score is missing: {cell[:20]!r}"
    if any(c.isdecimal() and not c.isascii() for c in text):
        return f"Score has digits other than 0 to 9: {cell[:40]!r}"
    if len(text) <= 40:
        for pattern, what in _FAULTS:
            if pattern.fullmatch(text):
                return f"Score has {what}: {cell[:40]!r}"
    return f"Score is not a number: {cell[:40]!r}"


def guess_range(values: np.ndarray) -> ScoreRange | None:
    """The usual scale that the observed scores fit best: something to offer, never to apply unasked.

    0:1 and -1:1 when no score is beyond; 1:5 when none is below 1; from 0 upwards 0:3 when all of 0, 1, 2, 3 and
    nothing between them occur, 0:4 when 4 is the highest score, else 0:5; 0:100 when scores above 50 occur and a tenth is above 5. When
    that fits nothing, one score in fifty may be a slip: the scale that holds the others. None when the scores fit
    none of these.
    """
    finite = np.sort(values[np.isfinite(values)])
    n_slips = len(finite) // SCORES_PER_SLIP
    for slips in range(n_slips + 1):
        for low in range(slips + 1):
            found = _fitting_range(finite[low : len(finite) - (slips - low)])
            if found is not None:
                return found
        if slips == MOST_SLIPS:
            break
    return None


SCORES_PER_SLIP, MOST_SLIPS = 50, 20


def _fitting_range(finite: np.ndarray) -> ScoreRange | None:
    """The usual scale that these scores, in ascending order, all fit."""
    if not len(finite):
        return None
    lowest, highest = float(finite.min()), float(finite.max())
    for low, high in ((0, 1), (-1, 1), (1, 5)):
        if low <= lowest and highest <= high:
            return ScoreRange(low, high)
    if lowest < 0 or highest > 100:
        return None
    if highest > 5:
        # One score of 99 among ratings up to 5 is a slip, not a percentage.
        is_percent = highest > 50 and (finite > 5).mean() >= 0.1
        return ScoreRange(0, 100) if is_percent else None
    # Scores up to 3.8 are more likely a part of 0:5 than of 0:4, so the end of a shorter scale must occur.
    if highest == 3 and np.unique(finite).tolist() == [0, 1, 2, 3]:
        return ScoreRange(0, 3)
    return ScoreRange(0, 4 if highest == 4 else 5)
