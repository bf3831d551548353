"""A file as it was understood: rows of cells, and what there is to say about the reading."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Table:
    """The rows of a file as it was understood.

    rows: cells as text, ragged rows included. line_numbers: where each row starts, counted from 1: lines of a text
    file, rows of a sheet, records of JSON and Parquet. header: the column names, or None. delimiter: "" when each
    line is one cell. format: "text", "json", "parquet", "excel" or "dataset". sheet: which sheet, archive member
    or dataset split was read, and sheets: those there were. no_text: columns
    that hold bytes which are no text, so that cells of theirs are empty. notes: plain sentences about everything that was
    decided or mended.
    """

    rows: list[list[str]]
    line_numbers: Sequence[int]
    header: list[str] | None
    delimiter: str = ""
    quoting: bool = False
    encoding: str = ""
    notes: list[str] = field(default_factory=list)
    format: str = "text"
    sheet: str = ""
    sheets: tuple[str, ...] = ()
    no_text: frozenset[int] = frozenset()
