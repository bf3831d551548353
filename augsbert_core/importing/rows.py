"""Files in: the rows of a table to gold pairs, unlabelled pairs or sentences.

Nothing is dropped silently: of each table, rows kept + rows rejected is the number of its rows.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.column_names import NLI_LABELS, SPLIT_WORDS, nli_label, parse_number
from augsbert_core.importing.columns import (
    KINDS,
    Columns,
    allowed_widths,
    choose_columns,
    find_column,
    guess_columns,
)
from augsbert_core.importing.delimited import Table, read_table
from augsbert_core.importing.repeats import (
    POLICIES,
    Repeats,
    apply_repeats_policy,
    find_repeats,
    split_by_ratio,
    text_pair_key,
)
from augsbert_core.pairs import ScoreRange

__all__ = [
    "KINDS",
    "POLICIES",
    "Columns",
    "GoldRow",
    "Rejected",
    "Repeats",
    "Table",
    "apply_repeats_policy",
    "choose_columns",
    "find_column",
    "find_repeats",
    "gold_rows",
    "guess_columns",
    "guess_score_range",
    "guess_task",
    "limit_rows",
    "nli_rows",
    "read_table",
    "require_rows",
    "sentence_rows",
    "split_by_ratio",
    "text_pair_key",
    "triplet_rows",
    "unlabelled_rows",
]

_OFFERED_RANGES = ((0, 1), (-1, 1), (1, 5), (0, 4), (0, 5))
_SHOWN_CHARACTERS = 200
Usable = TypeVar("Usable")


@dataclass(frozen=True, slots=True)
class GoldRow:
    """One usable row of scored pairs. score: in [0, 1]; split: "" when the file gives none."""

    line: int
    sentence1: str
    sentence2: str
    raw_score: float
    score: float
    split: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True)
class Rejected:
    """One row that cannot be used. reason: "What is wrong: the value"; text: the row's beginning."""

    line: int
    reason: str
    text: str


class _Unusable(Exception):
    """Why the row at hand is rejected."""


def gold_rows(
    table: Table, columns: Columns, score_range: ScoreRange
) -> tuple[list[GoldRow], list[Rejected]]:
    """The scored pairs of a table, scores divided by the declared range, and the rows rejected.

    A row is rejected when it is ragged, a sentence is blank, the score is no finite number in the
    range, or the split is unknown. Texts are kept as they are: None, NA, nan and null are words.
    """
    second, score = columns.sentence2, columns.score
    if second is None or score is None:
        raise ValueError("gold rows need the columns of both sentences and of the score")

    def read(line: int, row: list[str]) -> GoldRow:
        raw = _score(row[score])
        try:
            unit = score_range.to_unit(raw)
        except ValueError:
            raise _Unusable(f"Score is outside {score_range}: {raw:g}") from None
        return GoldRow(
            line,
            _sentence(row[columns.sentence1], "Sentence 1"),
            _sentence(row[second], "Sentence 2"),
            raw,
            unit,
            "" if columns.split is None else _split(row[columns.split]),
            "" if columns.group is None else row[columns.group].strip(),
        )

    return _read_rows(table, columns, read)


def unlabelled_rows(
    table: Table, columns: Columns
) -> tuple[list[tuple[int, str, str]], list[Rejected]]:
    """(line, sentence 1, sentence 2) of each usable row, and the rows rejected."""
    second = columns.sentence2
    if second is None:
        raise ValueError("unlabelled rows need the columns of both sentences")

    def read(line: int, row: list[str]) -> tuple[int, str, str]:
        first_text = _sentence(row[columns.sentence1], "Sentence 1")
        return line, first_text, _sentence(row[second], "Sentence 2")

    return _read_rows(table, columns, read)


def sentence_rows(table: Table, columns: Columns) -> tuple[list[tuple[int, str]], list[Rejected]]:
    """(line, sentence) of each usable row, and the rows rejected."""

    def read(line: int, row: list[str]) -> tuple[int, str]:
        return line, _sentence(row[columns.sentence1], "Sentence")

    return _read_rows(table, columns, read)


def nli_rows(
    table: Table, columns: Columns
) -> tuple[list[tuple[int, str, str, str]], list[Rejected]]:
    """(line, premise, hypothesis, label) of each usable row, and the rows rejected.

    Labels are `NLI_LABELS` as words in any case, or 0, 1, 2 in that order; "-" (no agreement) is rejected.
    """
    second, label = columns.sentence2, columns.label
    if second is None or label is None:
        raise ValueError("NLI rows need the columns of premise, hypothesis and label")

    def read(line: int, row: list[str]) -> tuple[int, str, str, str]:
        premise = _sentence(row[columns.sentence1], "Premise")
        return line, premise, _sentence(row[second], "Hypothesis"), _nli_label(row[label])

    return _read_rows(table, columns, read)


def _nli_label(cell: str) -> str:
    word = nli_label(cell)
    if word is not None:
        return word
    if cell.strip() in ("-", "-1"):
        raise _Unusable(f"People did not agree on a label: {cell.strip()!r}")
    raise _Unusable(f"Label is none of {', '.join(NLI_LABELS)}, 0, 1, 2: {cell[:40]!r}")


def triplet_rows(
    table: Table, columns: Columns
) -> tuple[list[tuple[int, str, str, str]], list[Rejected]]:
    """(line, anchor, positive, negative) of each usable row, and the rows rejected."""
    second, negative = columns.sentence2, columns.negative
    if second is None or negative is None:
        raise ValueError("triplets need the columns of anchor, positive and negative")

    def read(line: int, row: list[str]) -> tuple[int, str, str, str]:
        anchor = _sentence(row[columns.sentence1], "Anchor")
        positive = _sentence(row[second], "Positive")
        return line, anchor, positive, _sentence(row[negative], "Negative")

    return _read_rows(table, columns, read)


def guess_score_range(table: Table, columns: Columns) -> ScoreRange | None:
    """The usual scale that the observed scores fit best: something to offer, never to apply unasked.

    One of 0:1, -1:1, 1:5, 0:4, 0:5, or None when the scores fit none of them.
    """
    if columns.score is None:
        return None
    numbers = [parse_number(row[columns.score]) for row in table.rows if len(row) > columns.score]
    scores = [number for number in numbers if number is not None and math.isfinite(number)]
    if not scores:
        return None
    lowest, highest = min(scores), max(scores)
    for low, high in _OFFERED_RANGES:
        # Scores up to 3.8 are more likely a part of 0:5 than of 0:4, so 4 itself must occur.
        if low <= lowest and highest <= high and ((low, high) != (0, 4) or highest == high):
            return ScoreRange(low, high)
    return None


def guess_task(rows: Sequence[GoldRow]) -> str:
    """ "classification" when all raw scores are 0 or 1, else "regression"."""
    return (
        "classification" if rows and all(row.raw_score in (0, 1) for row in rows) else "regression"
    )


def limit_rows(table: Table, limit: int | None) -> Table:
    """The first `limit` rows of a table (all when None); the notes say how many were left out."""
    if limit is None or limit >= len(table.rows):
        return table
    if limit < 1:
        raise WorkbenchError(f"Limit {limit} leaves no rows. Give a number of at least 1.")
    note = f"Only the first {limit} of {len(table.rows)} rows were read, as asked."
    return replace(
        table,
        rows=table.rows[:limit],
        line_numbers=table.line_numbers[:limit],
        notes=[*table.notes, note],
    )


def require_rows(kept: Sequence[object], rejected: Sequence[Rejected], name: str) -> None:
    """WorkbenchError, with the commonest reason and its first line, when no row of a file is usable."""
    if kept or not rejected:
        return
    kinds = Counter(row.reason.partition(":")[0] for row in rejected)
    kind, count = kinds.most_common(1)[0]
    first = next(row for row in rejected if row.reason.partition(":")[0] == kind)
    raise WorkbenchError(
        f"No row of {name} can be used. {count} of {len(rejected)} rows have the same fault, first "
        f"on line {first.line}: {first.reason}. Check the columns, the score range and the delimiter."
    )


def _read_rows(
    table: Table, columns: Columns, read: Callable[[int, list[str]], Usable]
) -> tuple[list[Usable], list[Rejected]]:
    """Apply `read` to each row of a usual width; `_Unusable` and ragged rows become `Rejected`."""
    widths, last = allowed_widths(table), columns.used[-1]
    kept: list[Usable] = []
    rejected: list[Rejected] = []
    for line, row in zip(table.line_numbers, table.rows, strict=True):
        try:
            if len(row) not in widths:
                _check_width(row, widths)
            if len(row) <= last:
                raise _Unusable(f"Row has no column {last} (counted from 0): {len(row)} columns")
            kept.append(read(line, row))
        except _Unusable as error:
            text = (table.delimiter or ",").join(row[:_SHOWN_CHARACTERS])[:_SHOWN_CHARACTERS]
            rejected.append(Rejected(line, str(error), text))
    return kept, rejected


def _check_width(row: list[str], widths: frozenset[int]) -> None:
    # Spreadsheets pad rows with empty cells on the right; anything else may have shifted the cells.
    if len(row) > max(widths) and not any(map(str.strip, row[max(widths) :])):
        return
    usual = " to ".join(str(width) for width in sorted({min(widths), max(widths)}))
    raise _Unusable(f"Row does not have {usual} column{'' if usual == '1' else 's'}: {len(row)}")


def _sentence(text: str, what: str) -> str:
    if not text or text.isspace():
        raise _Unusable(f"{what} is blank: {text[:20]!r}")
    return text


def _score(cell: str) -> float:
    value = parse_number(cell)
    if value is not None and math.isfinite(value):
        return value
    if not cell.strip():
        raise _Unusable(f"Score is missing: {cell[:20]!r}")
    raise _Unusable(f"Score is not a number: {cell[:40]!r}")


def _split(cell: str) -> str:
    word = cell.strip().lower()
    if word and word not in SPLIT_WORDS:
        raise _Unusable(f"Split is none of train, dev, test: {cell[:40]!r}")
    return SPLIT_WORDS.get(word, "")
