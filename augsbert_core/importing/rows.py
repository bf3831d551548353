"""Files in: the rows of a table to gold pairs, unlabelled pairs or sentences.

Nothing is dropped silently: of each table, rows kept + rows rejected is the number of its rows.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TypeVar

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.column_names import NLI_LABELS, SPLIT_WORDS, nli_label
from augsbert_core.importing.columns import Columns, allowed_widths
from augsbert_core.importing.pair_rows import NO_SPLIT, PairRows
from augsbert_core.importing.scores import parse_scores
from augsbert_core.importing.table import Table
from augsbert_core.importing.texts import is_blank, number_sentences
from augsbert_core.pairs import SPLITS, ScoreRange

_SHOWN_CHARACTERS = 200
Usable = TypeVar("Usable")


@dataclass(frozen=True, slots=True)
class Rejected:
    """One row that cannot be used. reason: "What is wrong: the value"; text: the row's beginning."""

    line: int
    reason: str
    text: str


class _Unusable(Exception):
    """Why the row at hand is rejected."""


def pair_rows(
    table: Table,
    columns: Columns,
    score_range: ScoreRange,
    labels: Mapping[str, float] | None = None,
) -> tuple[PairRows, list[Rejected]]:
    """The scored pairs of a table, scores divided by the declared range, and the rows rejected.

    labels: scores written as words, `tidy_word` → raw score. A row is rejected when it is ragged, a sentence is
    blank, the score is no finite number in the range, or the split is unknown. Texts are kept as they are: None,
    NA, nan and null are words.
    """
    second, score = columns.sentence2, columns.score
    if second is None or score is None:
        raise ValueError("gold rows need the columns of both sentences and of the score")
    whole, rejects = _whole_rows(table, columns)
    rows = [table.rows[place] for place in whole] if rejects else table.rows

    def column(position: int | None) -> list[str] | None:
        return None if position is None else cells_of(position)

    def cells_of(position: int) -> list[str]:
        return list(map(itemgetter(position), rows))

    firsts, seconds, cells = cells_of(columns.sentence1), cells_of(second), cells_of(score)
    parsed = parse_scores(cells, labels or {})
    splits, unknown = _splits(column(columns.split), len(rows))
    inside = (parsed.values >= score_range.low) & (parsed.values <= score_range.high)
    good = inside & (splits != _UNKNOWN_SPLIT)
    known = number_sentences([firsts, seconds])
    blank = np.fromiter(map(is_blank, known.keys), dtype=bool, count=len(known.keys))
    if blank.any():
        good &= ~blank[known.places].any(axis=0)
    for place in np.flatnonzero(~good).tolist():
        rejects[whole[place]] = _why_not(
            firsts[place],
            seconds[place],
            parsed.reasons.get(cells[place], ""),
            float(parsed.values[place]),
            score_range,
            unknown[place] if unknown else "",
            (
                _bytes_in(table, columns.sentence1),
                _bytes_in(table, second),
                _bytes_in(table, score),
            ),
        )
    kept = PairRows(
        np.asarray(table.line_numbers, dtype=np.int64)[np.array(whole, dtype=np.int64)],
        firsts,
        seconds,
        parsed.values,
        (parsed.values - score_range.low) / (score_range.high - score_range.low),
        splits,
        np.zeros(len(rows), dtype=np.int32),
        [group.strip() for group in column(columns.group) or []] or None,
        parsed.words if columns.word is None else _unless_blank(column(columns.word)),
        [name.strip() for name in column(columns.source_id) or []] or None,
    )
    kept.__dict__["numbered"] = known  # the sentences are numbered once
    if not good.all():
        kept = kept.take(np.flatnonzero(good))
    return kept, [_rejected(table, place, rejects[place]) for place in sorted(rejects)]


def _unless_blank(cells: list[str] | None) -> list[str] | None:
    words = [cell.strip() for cell in cells or []]
    return words if any(words) else None


_UNKNOWN_SPLIT = -2


def _splits(cells: list[str] | None, n_rows: int) -> tuple[np.ndarray, list[str] | None]:
    """Positions in SPLITS, NO_SPLIT for blank cells, _UNKNOWN_SPLIT for other words; and the cells."""
    if cells is None:
        return np.full(n_rows, NO_SPLIT, dtype=np.int8), None
    numbers: dict[str, int] = {}
    for cell in set(cells):
        word = cell.strip().lower()
        split = SPLIT_WORDS.get(word)
        numbers[cell] = SPLITS.index(split) if split else (_UNKNOWN_SPLIT if word else NO_SPLIT)
    found = np.fromiter(map(numbers.__getitem__, cells), dtype=np.int8, count=n_rows)
    return found, cells


def _why_not(
    first: str,
    second: str,
    score_reason: str,
    value: float,
    scale: ScoreRange,
    split: str,
    with_bytes: tuple[str, str, str],
) -> str:
    """The first fault of a row. with_bytes: of the columns of sentences and score, the names of those with bytes."""
    for text, what, column in zip(
        (first, second), ("Sentence 1", "Sentence 2"), with_bytes[:2], strict=True
    ):
        if column and not text:
            return _no_text(what, column)
    if score_reason:
        return _no_text("Score", with_bytes[2]) if with_bytes[2] else score_reason
    if not scale.low <= value <= scale.high:
        return f"Score is outside {scale}: {_digits(value)}"
    for text, what in ((first, "Sentence 1"), (second, "Sentence 2")):
        if is_blank(text):
            return f"{what} is blank: {text[:20]!r}"
    return f"Split is none of train, dev, test: {split[:40]!r}"


def _digits(value: float) -> str:
    """A number with as many digits as tell it from its neighbours: 5, 5.0000000001, 1e+300."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def _whole_rows(table: Table, columns: Columns) -> tuple[list[int], dict[int, str]]:
    """The places of the rows of a usual width, and of each other row why it is not used."""
    widths, last = allowed_widths(table), columns.used[-1]
    if all(width in widths and width > last for width in set(map(len, table.rows))):
        return list(range(len(table.rows))), {}
    whole: list[int] = []
    rejects: dict[int, str] = {}
    for place, row in enumerate(table.rows):
        try:
            _require_width(table, row, widths, last)
            whole.append(place)
        except _Unusable as error:
            rejects[place] = str(error)
    return whole, rejects


def _rejected(table: Table, place: int, reason: str) -> Rejected:
    row = table.rows[place]
    text = (table.delimiter or ",").join(row[:_SHOWN_CHARACTERS])[:_SHOWN_CHARACTERS]
    return Rejected(int(table.line_numbers[place]), reason, text)


def unlabelled_rows(
    table: Table, columns: Columns
) -> tuple[list[tuple[int, str, str]], list[Rejected]]:
    """(line, sentence 1, sentence 2) of each usable row, and the rows rejected."""
    second = columns.sentence2
    if second is None:
        raise ValueError("unlabelled rows need the columns of both sentences")

    sentence = _reader_of_sentences(table)

    def read(line: int, row: list[str]) -> tuple[int, str, str]:
        first_text = sentence(row[columns.sentence1], "Sentence 1", columns.sentence1)
        return line, first_text, sentence(row[second], "Sentence 2", second)

    return _read_rows(table, columns, read)


def sentence_rows(table: Table, columns: Columns) -> tuple[list[tuple[int, str]], list[Rejected]]:
    """(line, sentence) of each usable row, and the rows rejected."""

    sentence = _reader_of_sentences(table)

    def read(line: int, row: list[str]) -> tuple[int, str]:
        return line, sentence(row[columns.sentence1], "Sentence", columns.sentence1)

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

    sentence = _reader_of_sentences(table)

    def read(line: int, row: list[str]) -> tuple[int, str, str, str]:
        premise = sentence(row[columns.sentence1], "Premise", columns.sentence1)
        return line, premise, sentence(row[second], "Hypothesis", second), _nli_label(row[label])

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
    """(line, anchor, positive, negative) of each usable row, and the rows rejected.

    Of an NLI file, whose columns have a label and no negative, these are its `nli_rows`: `triplets_from_nli` makes
    triplets of them.
    """
    if columns.negative is None and columns.label is not None:
        return nli_rows(table, columns)
    second, negative = columns.sentence2, columns.negative
    if second is None or negative is None:
        raise ValueError("triplets need the columns of anchor, positive and negative")

    sentence = _reader_of_sentences(table)

    def read(line: int, row: list[str]) -> tuple[int, str, str, str]:
        anchor = sentence(row[columns.sentence1], "Anchor", columns.sentence1)
        positive = sentence(row[second], "Positive", second)
        return line, anchor, positive, sentence(row[negative], "Negative", negative)

    return _read_rows(table, columns, read)


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


def require_rows(kept: Sized, rejected: Sequence[Rejected], name: str) -> None:
    """WorkbenchError, with the commonest reason and its first line, when no row of a file is usable."""
    if len(kept) or not rejected:
        return
    kinds = Counter(row.reason.partition(": ")[0] for row in rejected)
    kind, count = kinds.most_common(1)[0]
    first = next(row for row in rejected if row.reason.partition(": ")[0] == kind)
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
    for place, (line, row) in enumerate(zip(table.line_numbers, table.rows, strict=True)):
        try:
            _require_width(table, row, widths, last)
            kept.append(read(line, row))
        except _Unusable as error:
            rejected.append(_rejected(table, place, str(error)))
    return kept, rejected


def _require_width(table: Table, row: list[str], widths: frozenset[int], last: int) -> None:
    if table.format == "json" and table.header is not None and len(row) not in widths:
        # Objects have as many cells as there are keys in the file: only a broken line has not.
        raise _Unusable(f"Line is no JSON: {row[0][:40]!r}")
    if len(row) not in widths:
        _check_width(row, widths)
    if len(row) <= last:
        raise _Unusable(f"Row has no column {last} (counted from 0): {len(row)} columns")


def _check_width(row: list[str], widths: frozenset[int]) -> None:
    # Spreadsheets pad rows with empty cells on the right; anything else may have shifted the cells.
    if len(row) > max(widths) and not any(map(str.strip, row[max(widths) :])):
        return
    usual = " to ".join(str(width) for width in sorted({min(widths), max(widths)}))
    raise _Unusable(f"Row does not have {usual} column{'' if usual == '1' else 's'}: {len(row)}")


def _reader_of_sentences(table: Table) -> Callable[[str, str, int], str]:
    """(cell, what it is, column) → the sentence; `_Unusable` when there is none."""

    def sentence(text: str, what: str, column: int) -> str:
        if not is_blank(text):
            return text
        if not text and (name := _bytes_in(table, column)):
            raise _Unusable(_no_text(what, name))
        raise _Unusable(f"{what} is blank: {text[:20]!r}")

    return sentence


def _bytes_in(table: Table, column: int) -> str:
    """The name of a column that holds bytes which are no text; "" for any other."""
    if column not in table.no_text:
        return ""
    return (table.header[column] if table.header else "")[:40] or str(column)


def _no_text(what: str, column: str) -> str:
    return f"{what} is no text, its column holds bytes: {column!r}"
