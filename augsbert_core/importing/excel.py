"""Excel workbooks to tables."""

import io
import re
from dataclasses import dataclass, field
from datetime import datetime, time
from typing import Any

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.cells import Mender, as_text, counted
from augsbert_core.importing.column_names import looks_like_header
from augsbert_core.importing.table import Table
from augsbert_core.importing.xlsx_archive import check_workbook, damaged, looks_like_excel
from augsbert_core.importing.xlsx_parser import MAX_ROWS, sheet_parser
from augsbert_core.options import ImportOptions

__all__ = ["looks_like_excel", "read_excel"]

_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_MAX_CELLS = 60_000_000


@dataclass
class _Sheet:
    """The cells of a sheet: row number → values from the first column on, empty rows left out."""

    title: str
    rows: dict[int, list[Any]] = field(default_factory=dict)
    last_row: int = 0
    n_unsaved: int = 0
    merged: list[tuple[int, int, int, int]] = field(default_factory=list)
    """First row, last row, first and last column (0-based) of each merged range."""

    @property
    def is_table(self) -> bool:
        """Whether there are two rows and two columns at least."""
        return len(self.rows) > 1 and max(map(len, self.rows.values())) > 1


def read_excel(data: bytes, name: str, options: ImportOptions) -> Table:
    """Read one sheet of an Excel workbook (.xlsx) as rows of cells.

    The sheet that `options.sheet` names, else the first visible one with two rows and two columns. Cells hold what
    was last computed. line_numbers: rows of the sheet. WorkbenchError: no such sheet, an empty one, a password, an
    older kind of workbook, or a damaged or unsafe one.
    """
    check_workbook(data, name)
    try:
        sheet, titles = _open(data, name, options.sheet)
    except WorkbenchError:
        raise
    except Exception as error:  # noqa: BLE001 (a damaged workbook makes openpyxl fail in unrelated ways)
        raise damaged(name, error) from None
    notes: list[str] = []
    if len(titles) > 1:
        others = ", ".join(title for title in titles if title != sheet.title)
        notes.append(f"Sheet {sheet.title!r} was read; the others are {others[:200]}.")
    rows, numbers = _texts(sheet, notes)
    header, first = _header(rows, numbers, options.header, notes)
    if len(rows) <= first:
        below = " below its header" if header else ""
        raise WorkbenchError(
            f"Sheet {sheet.title!r} of {name} has no rows{below}. Choose a sheet with at least one row"
            f"{': ' + ', '.join(titles)[:200] if len(titles) > 1 else ''}."
        )
    _fit(rows, header)
    return Table(
        rows[first:],
        numbers[first:],
        header,
        notes=notes,
        format="excel",
        sheet=sheet.title,
        sheets=tuple(titles),
    )


def _open(data: bytes, name: str, wanted: str | None) -> tuple[_Sheet, list[str]]:
    """The chosen sheet and the titles of all sheets."""
    from openpyxl import load_workbook

    workbook = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
    try:
        sheets = workbook.worksheets
        titles = [sheet.title for sheet in sheets]
        if not sheets:
            raise WorkbenchError(
                f"{name} has no sheets that can be read. Open it in a spreadsheet program and save it as .xlsx or CSV."
            )
        if wanted is not None:
            return _read(workbook, sheets[_find(titles, wanted, name)], name), titles
        visible = [sheet for sheet in sheets if sheet.sheet_state == "visible"] or sheets
        first: _Sheet | None = None
        for sheet in visible:
            found = _read(workbook, sheet, name)
            if found.is_table:
                return found, titles
            if first is None or (found.rows and not first.rows):
                first = found
        return first or _Sheet(titles[0]), titles
    finally:
        workbook.close()


def _find(titles: list[str], wanted: str, name: str) -> int:
    for same in (str.strip, str.lower):
        for place, title in enumerate(titles):
            if title == wanted or same(title) == same(wanted.strip()):
                return place
    raise WorkbenchError(
        f"{name} has no sheet {wanted!r}. Its sheets are: {', '.join(titles)[:300]}."
    )


def _read(workbook: Any, worksheet: Any, name: str) -> _Sheet:
    """Every cell of a sheet that holds a value.

    The rows come from openpyxl's parser rather than from its sheet, which would make up all the empty rows above a
    row numbered two billion, and forgets merged cells and formulas without a result.
    """
    sheet = _Sheet(worksheet.title)
    n_cells = 0
    with worksheet._get_source() as source:
        parser = sheet_parser()(
            source,
            worksheet._shared_strings,
            data_only=True,
            epoch=workbook.epoch,
            date_formats=workbook._date_formats,
            timedelta_formats=workbook._timedelta_formats,
        )
        for number, cells in parser.parse():
            if number > MAX_ROWS:
                raise ValueError(f"a row has the number {number}")
            values: list[Any] = []
            for column, value in cells:
                if value is None or value == "":
                    continue
                place = column - 1
                if place >= len(values):
                    values += [None] * (place + 1 - len(values))
                values[place] = value
            if values:
                sheet.rows[number] = values
                n_cells += len(values)
            sheet.last_row = max(sheet.last_row, number)
            if n_cells > _MAX_CELLS:
                raise WorkbenchError(
                    f"Sheet {sheet.title!r} of {name} spans more than {_MAX_CELLS:,} cells. Save the columns that are "
                    "needed as CSV and import that."
                )
        sheet.n_unsaved = parser.n_unsaved
        if parser.merged_cells is not None:
            sheet.merged = [
                (area.min_row, area.max_row, area.min_col - 1, area.max_col - 1)
                for area in parser.merged_cells.mergeCell
            ]
    return sheet


def _texts(sheet: _Sheet, notes: list[str]) -> tuple[list[list[str]], list[int]]:
    """The rows as text with their numbers; empty rows are counted, merged cells filled, odd characters removed."""
    numbers = sorted(sheet.rows)
    if not numbers:
        return [], []
    n_empty = numbers[-1] - numbers[0] + 1 - len(numbers)
    if n_empty:
        notes.append(f"{counted(n_empty, 'empty row was', 'empty rows were')} skipped.")
    if numbers[0] > 1:
        notes.append(f"The table begins in row {numbers[0]}.")
    if sheet.n_unsaved:
        cells = counted(sheet.n_unsaved, "cell holds a formula", "cells hold formulas")
        notes.append(
            f"{cells} whose result was never saved: read as empty; open the workbook in a spreadsheet program "
            "and save it."
        )
    numbers = _without_titles(sheet, numbers, notes)
    _fill_merged(sheet, set(numbers), notes)
    mender = Mender()
    rows = [mender.mend([_text(value) for value in sheet.rows[number]]) for number in numbers]
    notes += mender.notes
    return _without_empty_columns(rows, notes), numbers


def _text(value: Any) -> str:
    if isinstance(value, str):
        # "_x000D_" is how a workbook writes a character that XML cannot hold.
        return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), value) if "_x" in value else value
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    return as_text(value)


def _without_titles(sheet: _Sheet, numbers: list[int], notes: list[str]) -> list[int]:
    """The rows without titles above the table: leading rows of one cell, followed by a row that names the columns."""
    n_titles = 0
    while n_titles < min(len(numbers) - 2, 10) and _n_filled(sheet.rows[numbers[n_titles]]) == 1:
        n_titles += 1
    if not n_titles:
        return numbers
    rows = [[_text(value) for value in sheet.rows[number]] for number in numbers[n_titles:][:200]]
    if len(rows[0]) < 2 or not looks_like_header(rows[0], rows[1:]):
        return numbers
    for number in numbers[:n_titles]:
        shown = next(_text(value) for value in sheet.rows[number] if value is not None)[:60]
        notes.append(f"Row {number} stands above the table and was left out: {shown}")
    return numbers[n_titles:]


def _n_filled(values: list[Any]) -> int:
    return sum(value is not None for value in values)


def _fill_merged(sheet: _Sheet, kept: set[int], notes: list[str]) -> None:
    """Merged cells hold their value in the top-left one only; the others are given it too."""
    width = max(map(len, sheet.rows.values()))
    n_filled = 0
    for first_row, last_row, first, last in sheet.merged:
        corner = sheet.rows.get(first_row, [])
        value = corner[first] if first < len(corner) else None
        if value is None:
            continue
        rows = range(first_row, min(last_row, sheet.last_row) + 1)
        for number in rows if len(rows) < len(kept) else kept & set(rows):
            if number not in kept:
                continue
            row = sheet.rows[number]
            row += [None] * (min(last + 1, width) - len(row))
            for place in range(first, min(last + 1, width)):
                if row[place] is None:
                    row[place] = value
                    n_filled += 1
    if n_filled:
        notes.append(
            f"The values of merged cells were repeated in the cells that they cover, {n_filled} in all."
        )


def _without_empty_columns(rows: list[list[str]], notes: list[str]) -> list[list[str]]:
    """The rows from the first column in which any of them has a value."""
    empty = min(next(place for place, cell in enumerate(row) if cell) for row in rows if any(row))
    if not empty:
        return rows
    notes.append(f"{counted(empty, 'empty column was', 'empty columns were')} skipped on the left.")
    return [row[empty:] for row in rows]


def _header(
    rows: list[list[str]], numbers: list[int], wanted: bool | None, notes: list[str]
) -> tuple[list[str] | None, int]:
    """The header, and how many rows it takes."""
    if not rows or wanted is False:
        return None, 0
    if wanted is None:
        width = len(rows[0])
        others = [[*row, *[""] * (width - len(row))] for row in rows[1:200]]
        if not looks_like_header(rows[0], others):
            return None, 0
        shown = ", ".join(cell[:40] for cell in rows[0][:12])
        notes.append(f"Row {numbers[0]} was read as the header: {shown}.")
    return [cell.strip() for cell in rows[0]], 1


def _fit(rows: list[list[str]], header: list[str] | None) -> None:
    """Give each row the width of the table: cells that are empty at its end are not in the file."""
    width = len(header) if header else max(map(len, rows))
    for row in rows:
        row += [""] * (width - len(row))
