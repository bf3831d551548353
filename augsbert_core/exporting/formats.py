"""Tables out: CSV, TSV, JSON lines, Parquet, Excel and dataset folders, row by row and whole or not at all.

A program that reads a machine format (all but CSV and Excel, unless the escaping is switched on) gets every text
back as it was, to the last character.
"""

import re
import zipfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from augsbert_core.errors import WorkbenchError
from augsbert_core.exporting.files import (
    Entry,
    pack_zip,
    whole_file,
    whole_folder,
    write_csv,
    write_json_lines,
)
from augsbert_core.exporting.tables import (
    COUNT,
    FLAG,
    NUMBER,
    TEXT,
    Column,
    Row,
    batches,
    is_safe,
    kind_of,
    plain_rows,
)

if TYPE_CHECKING:
    import pyarrow as pa

BATCH = 20_000
"""So many rows are in memory at once where a format is written in pieces."""

EXCEL_ROWS = 1_048_575
"""The rows that an Excel sheet holds below its header."""

EXCEL_CHARACTERS = 32_767
"""The longest text, in UTF-16 units, that an Excel cell holds."""

Rows = Iterable[list[object]]


def write_table(
    target: Path,
    columns: Sequence[Column],
    rows: Iterable[Row],
    kind: str | None = None,
    safe: bool | None = None,
) -> int:
    """Write rows to a new file or folder, whole or not at all, and return their number.

    rows: are taken one by one, so a million of them need not be in memory. kind: a key of `KINDS`; None goes by the
    ending of the target. A dataset whose target ends in .zip becomes a zip file with the folder in it. safe: texts
    that a spreadsheet would take for formulas get a ' before them; None: in CSV and Excel alone.
    WorkbenchError: the target is there already or cannot be written, the kind is unknown, or Excel cannot hold it.
    """
    kind = kind_of(target, kind)
    safe = is_safe(kind, safe)
    prepared = plain_rows(rows, safe=safe)
    if kind == "dataset":
        return _write_dataset(target, columns, prepared)
    with whole_file(target) as partial:
        if kind == "csv" and safe:
            return _write_csv(partial, columns, prepared, encoding="utf-8-sig")
        return WRITERS[kind](partial, columns, prepared)


# --- text files --------------------------------------------------------------------------------------


def _write_csv(
    path: Path,
    columns: Sequence[Column],
    rows: Rows,
    *,
    delimiter: str = ",",
    encoding: str = "utf-8",
) -> int:
    """Excel needs the byte order mark of utf-8-sig to read UTF-8. Cells are escaped before, so not here."""
    with path.open("w", encoding=encoding, newline="") as file:
        return write_csv(file, _names(columns), rows, safe=False, delimiter=delimiter)


def _write_tsv(path: Path, columns: Sequence[Column], rows: Rows) -> int:
    """Tabs, quotes and line ends in a text survive: such cells are quoted as in CSV."""
    return _write_csv(path, columns, rows, delimiter="\t")


def _write_json_lines(path: Path, columns: Sequence[Column], rows: Rows) -> int:
    with path.open("w", encoding="utf-8", newline="") as file:
        return write_json_lines(file, _names(columns), rows)


# --- Arrow: Parquet and datasets -----------------------------------------------------------------------


def _schema(columns: Sequence[Column]) -> "pa.Schema":
    import pyarrow as pa

    types = {TEXT: pa.string(), NUMBER: pa.float64(), COUNT: pa.int64(), FLAG: pa.bool_()}
    return pa.schema([(column.name, types[column.type]) for column in columns])


def _write_batches(writer: Any, schema: "pa.Schema", rows: Rows) -> int:
    """Hand rows to a writer of Parquet or of an Arrow stream, batch by batch."""
    import pyarrow as pa

    n_rows = 0
    for batch in batches(rows, BATCH):
        arrays = [
            pa.array(cells, type=field.type)
            for field, cells in zip(schema, zip(*batch, strict=True), strict=True)
        ]
        writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
        n_rows += len(batch)
    return n_rows


def _write_parquet(path: Path, columns: Sequence[Column], rows: Rows) -> int:
    import pyarrow.parquet as pq

    schema = _schema(columns)
    with pq.ParquetWriter(path, schema) as writer:
        return _write_batches(writer, schema, rows)


def _write_dataset(target: Path, columns: Sequence[Column], rows: Rows) -> int:
    """A folder that `datasets.load_from_disk` opens, or a zip file of it.

    One table in the order of the rows: with a dataset per split, the order between splits would be lost.
    """
    if target.suffix.lower() == ".zip":
        return _write_dataset_zip(target, columns, rows)
    with whole_folder(target) as partial:
        return _fill_dataset(partial, columns, rows)


def _write_dataset_zip(target: Path, columns: Sequence[Column], rows: Rows) -> int:
    with whole_file(target) as partial:
        folder = partial.with_name("dataset")
        folder.mkdir()
        n_rows = _fill_dataset(folder, columns, rows)
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        pack_zip(
            [Entry(f"{target.stem}/{path.relative_to(folder).as_posix()}", path) for path in files],
            partial,
        )
    return n_rows


def _fill_dataset(folder: Path, columns: Sequence[Column], rows: Rows) -> int:
    """The rows go to an Arrow file first, which the datasets library then maps into memory and copies."""
    import datasets
    import pyarrow as pa

    schema = _schema(columns)
    stream = folder.with_name(folder.name + ".arrow")
    were_off = datasets.are_progress_bars_disabled()
    try:
        with pa.OSFile(str(stream), "wb") as sink, pa.ipc.new_stream(sink, schema) as writer:
            n_rows = _write_batches(writer, schema, rows)
        datasets.disable_progress_bars()
        mapped = datasets.Dataset.from_file(str(stream))
        # Left to itself, the library writes no file for no rows, and cannot open that again.
        mapped.save_to_disk(str(folder), num_shards=None if n_rows else 1)
        del mapped  # before its file
    finally:
        if not were_off:
            datasets.enable_progress_bars()
        stream.unlink(missing_ok=True)
    return n_rows


# --- Excel ---------------------------------------------------------------------------------------------

_NOT_IN_XML = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)|[\x00-\x08\x0b-\x1f\ufffe\uffff]")


def excel_text(text: str) -> str:
    """The text as Excel files write it: what XML cannot hold as _xHHHH_, as the Office Open XML standard has it.

    A text that has such a sequence of its own gets its underscore escaped, so that Excel shows every text as it is.
    """
    return _NOT_IN_XML.sub(lambda found: f"_x{ord(found.group()):04X}_", text)


def _write_xlsx(path: Path, columns: Sequence[Column], rows: Rows) -> int:
    """Texts are strings in the sheet itself, whatever they begin with: never formulas, errors or links."""
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell

    book = Workbook(write_only=True)
    sheet = book.create_sheet("pairs")

    def cell(value: object, n_rows: int, name: str) -> object:
        if not isinstance(value, (str, float)):
            return value
        made = WriteOnlyCell(sheet)
        if isinstance(value, float):
            made._value, made.data_type = repr(value), "n"  # openpyxl would round to 16 digits
        else:
            _refuse_long(value, n_rows, name)
            made._value, made.data_type = excel_text(value), "s"
        return made

    names, n_rows = _names(columns), 0
    try:
        sheet.append([cell(name, 0, name) for name in names])
        for row in rows:
            n_rows += 1
            refuse_rows("xlsx", n_rows)
            sheet.append(
                [cell(value, n_rows, name) for value, name in zip(row, names, strict=True)]
            )
        _save_book(book, path)
    except BaseException as error:
        _forget_sheet(sheet)
        if type(error).__module__.startswith("lxml"):
            # Where it is installed, openpyxl writes with it, and this is its word for a full disk.
            raise OSError(str(error)) from error
        raise
    return n_rows


def _save_book(book: Any, path: Path) -> None:
    """As openpyxl's own way, which leaves the file open when the disk is full."""
    from openpyxl.writer.excel import ExcelWriter

    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        book.properties.modified = datetime.now(UTC).replace(tzinfo=None)
        ExcelWriter(book, archive).write_data()


def _forget_sheet(sheet: Any) -> None:
    """Remove the temporary file in which openpyxl keeps a sheet, else until the process ends."""
    # The sheet may be closed or broken; whatever that raises would hide what went wrong before.
    with suppress(Exception):
        sheet.close()
    with suppress(Exception):
        sheet._writer.cleanup()


def refuse_rows(kind: str, n_rows: int) -> None:
    """WorkbenchError: so many rows are more than this kind of file holds."""
    if kind == "xlsx" and n_rows > EXCEL_ROWS:
        raise WorkbenchError(
            f"An Excel sheet holds {EXCEL_ROWS:,} rows and these are more. Choose CSV, JSON lines or Parquet, or "
            "export a part with the filters."
        )


def _refuse_long(text: str, n_rows: int, name: str) -> None:
    if len(text) <= EXCEL_CHARACTERS // 2:
        return
    length = len(text.encode("utf-16-le", "surrogatepass")) // 2
    if length > EXCEL_CHARACTERS:
        raise WorkbenchError(
            f"Row {n_rows:,}, {name}: the text has {length:,} characters and an Excel cell holds "
            f"{EXCEL_CHARACTERS:,}. Choose CSV, JSON lines or Parquet."
        )


def _names(columns: Sequence[Column]) -> list[str]:
    return [column.name for column in columns]


WRITERS: dict[str, Callable[[Path, Sequence[Column], Rows], int]] = {
    "csv": _write_csv,
    "tsv": _write_tsv,
    "jsonl": _write_json_lines,
    "parquet": _write_parquet,
    "xlsx": _write_xlsx,
}
"""Kind of file → what writes it to a path; a dataset, which is a folder, is written apart."""
