"""Files out: CSV that spreadsheets open without running what is in it."""

import csv
import io
import math
from collections.abc import Iterable, Sequence
from typing import TextIO

from augsbert_core.storage.tables import Rejected

# A spreadsheet takes a cell that starts with one of these for a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def safe_cell(text: str) -> str:
    """The text with a single quote before it when a spreadsheet would take it for a formula."""
    return "'" + text if text.startswith(FORMULA_STARTS) else text


def write_csv(
    file: TextIO,
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    safe: bool = True,
    delimiter: str = ",",
) -> int:
    """Write a header and rows to an open text file; returns the number of rows.

    Numbers stay numbers, None and non-finite numbers become empty cells. safe: texts are escaped by
    `safe_cell`; switch it off for files that programs read. Open files with newline="".
    """
    writer = csv.writer(file, delimiter=delimiter)
    writer.writerow([_cell(name, safe) for name in header])
    n_rows = 0
    for row in rows:
        writer.writerow([_cell(value, safe) for value in row])
        n_rows += 1
    return n_rows


def to_csv(
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    safe: bool = True,
    delimiter: str = ",",
) -> bytes:
    """The file of `write_csv` as UTF-8 bytes, with the byte order mark that Excel needs when safe."""
    file = io.StringIO(newline="")
    write_csv(file, header, rows, safe=safe, delimiter=delimiter)
    return file.getvalue().encode("utf-8-sig" if safe else "utf-8")


def rejected_csv(rejected: Iterable[Rejected]) -> bytes:
    """The rows that an import could not use, with line number and reason, as spreadsheet-safe CSV."""
    return to_csv(
        ("line", "reason", "text"), ((row.line, row.reason, row.text) for row in rejected)
    )


def _cell(value: object, safe: bool) -> object:
    if isinstance(value, str):
        return safe_cell(value) if safe else value
    if isinstance(value, float) and not math.isfinite(value):
        return ""
    return value
