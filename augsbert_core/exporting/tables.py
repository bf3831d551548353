"""What a table is that leaves the workbench: named and typed columns, and the kinds of file that can hold it."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from augsbert_core.errors import WorkbenchError
from augsbert_core.exporting.files import safe_cell

TEXT, NUMBER, COUNT, FLAG = "text", "number", "count", "flag"
"""Types of a column: strings, float64, int64, and yes or no. Any cell can be None."""

Row = Sequence[object]


@dataclass(frozen=True)
class Column:
    """One column of an export. type: TEXT, NUMBER, COUNT or FLAG. meaning: what is in it, where the name does not say."""

    name: str
    type: str = TEXT
    meaning: str = ""


@dataclass(frozen=True)
class FileKind:
    """A kind of file. suffix: "" is a folder. safe: whether texts are escaped for spreadsheets unless told otherwise."""

    label: str
    suffix: str
    mime: str
    safe: bool
    what_for: str


KINDS = {
    "csv": FileKind("CSV", ".csv", "text/csv", True, "for spreadsheets"),
    "xlsx": FileKind(
        "Excel",
        ".xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        True,
        "for spreadsheets",
    ),
    "tsv": FileKind(
        "TSV", ".tsv", "text/tab-separated-values", False, "tab separated, for programs"
    ),
    "jsonl": FileKind(
        "JSON lines", ".jsonl", "application/jsonl", False, "one object a line, for programs"
    ),
    "parquet": FileKind(
        "Parquet", ".parquet", "application/vnd.apache.parquet", False, "small, with column types"
    ),
    "dataset": FileKind(
        "Dataset folder", "", "application/zip", False, "opened by datasets.load_from_disk"
    ),
}
"""Kind of file → what is known of it, in the order in which they are offered."""


def kind_of(target: Path, kind: str | None, kinds: Iterable[str] = tuple(KINDS)) -> str:
    """The kind of file that is asked for: as named, else by the ending of the target; a dataset when it has none.

    WorkbenchError: it is none of these kinds.
    """
    known = tuple(kinds)
    if kind is not None:
        if kind not in known:
            raise WorkbenchError(f"Format {kind!r} is none of {', '.join(known)}.")
        return kind
    suffix = target.suffix.lower()
    if not suffix and "dataset" in known:
        return "dataset"
    by_suffix = {found.suffix: name for name, found in KINDS.items() if name in known}
    by_suffix |= {f".{name}": name for name in known if name not in KINDS}
    if suffix not in by_suffix:
        endings = ", ".join(ending for ending in by_suffix if ending)
        raise WorkbenchError(
            f"The ending of {target.name} says no format. Name a file that ends in one of {endings}, "
            f"or say the format: {', '.join(known)}."
        )
    return by_suffix[suffix]


def is_safe(kind: str, safe: bool | None) -> bool:
    """Whether texts are escaped for spreadsheets: as told, else as is usual for the kind of file."""
    return KINDS[kind].safe if safe is None else safe


def plain_rows(rows: Iterable[Row], *, safe: bool) -> Iterator[list[object]]:
    """The rows with None for numbers that are not finite; safe: texts escaped by `safe_cell`."""
    for row in rows:
        yield [_plain(value, safe) for value in row]


def typed_columns(names: Sequence[str], rows: Sequence[Row]) -> list[Column]:
    """The columns of rows whose types are not known beforehand; a column of several types is of text."""
    types = {bool: FLAG, int: COUNT, float: NUMBER}
    columns = []
    for name, cells in zip(names, zip(*rows, strict=True), strict=True):
        seen = {type(cell) for cell in cells if cell is not None}
        if seen == {int, float}:
            seen = {float}
        columns.append(Column(name, types.get(seen.pop(), TEXT) if len(seen) == 1 else TEXT))
    return columns


def _plain(value: object, safe: bool) -> object:
    if isinstance(value, str):
        return safe_cell(value) if safe else value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def batches(rows: Iterable[list[object]], size: int) -> Iterator[list[list[object]]]:
    """The rows in lists of so many, the last one shorter; none at all when there are no rows."""
    batch: list[list[object]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
