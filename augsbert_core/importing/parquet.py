"""Parquet, Feather and Arrow files to tables."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.arrow_reading import (
    ARROW_FILE,
    ARROW_STREAM,
    ENCRYPTED,
    PARQUET,
    check_size,
    open_arrow,
)
from augsbert_core.importing.arrow_sizes import written_bytes
from augsbert_core.importing.cells import Mender, as_text, counted, rows_of_columns
from augsbert_core.importing.json_records import two_columns
from augsbert_core.importing.table import Table
from augsbert_core.options import ImportOptions

if TYPE_CHECKING:
    import pyarrow as pa

_MAX_NESTING = 8
_ROW_NUMBERS = re.compile(r"__index_level_\d+__")


def looks_like_parquet(data: bytes) -> bool:
    """Whether a file begins as Parquet, Feather or Arrow files do."""
    return data.startswith((PARQUET, ENCRYPTED, ARROW_FILE, ARROW_STREAM))


def read_parquet(data: bytes, name: str, options: ImportOptions) -> Table:
    """Read a Parquet, Feather or Arrow file as rows of cells, nested fields as "outer.inner".

    line_numbers: rows counted from 1. Class labels of a Hugging Face dataset are written as their names; values that
    cannot be written, dates in the year 300,000 and bytes that are no text, are left empty and counted in the notes.
    WorkbenchError: the file is damaged, encrypted, too large, or has no rows.
    """
    with _damage_told(name):
        return _as_table(open_arrow(data, name), name)


def read_arrow(data: bytes, name: str) -> "pa.Table":
    """The Arrow table that a Parquet, Feather or Arrow file holds, checked; errors as `read_parquet`."""
    with _damage_told(name):
        return open_arrow(data, name)


@contextmanager
def _damage_told(name: str) -> Iterator[None]:
    try:
        yield
    except WorkbenchError:
        raise
    except Exception as error:  # noqa: BLE001 (damage shows as errors of a dozen kinds, in the values too)
        why = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
        raise WorkbenchError(
            f"{name} is damaged or incomplete and cannot be read ({why}). Save or download it again."
        ) from None


def _as_table(table: "pa.Table", name: str) -> Table:
    notes: list[str] = []
    mender = Mender()
    labels = _class_labels(table.schema.metadata)
    texts: dict[str, list[str]] = {}
    bytes_only: set[str] = set()
    n_bytes = n_characters = 0
    for key, column in _flat_columns(table, notes):
        n_bytes += _bytes_to_write(column, key, name)
        check_size(name, table.num_rows, table.num_columns, n_bytes)
        for name_of_column, cells, has_bytes in _texts(key, column, labels.get(key), notes, mender):
            n_characters += sum(map(len, cells))
            check_size(name, table.num_rows, table.num_columns, n_characters)
            name_of_column = _free(name_of_column, texts)
            texts[name_of_column] = cells
            if has_bytes:
                bytes_only.add(name_of_column)
    if not table.num_rows or not texts:
        raise WorkbenchError(f"{name} has no rows. Choose a file with at least one row.")
    rows = rows_of_columns(list(texts.values()))
    header = mender.mend(list(texts))
    return Table(
        rows,
        range(1, len(rows) + 1),
        header,
        notes=[*notes, *mender.notes],
        format="parquet",
        no_text=frozenset(place for place, key in enumerate(texts) if key in bytes_only),
    )


def _bytes_to_write(column: "pa.ChunkedArray", key: str, name: str) -> int:
    """What the texts of a column will take; those of a dictionary are made once and shared by the rows."""
    import pyarrow as pa

    try:
        if not pa.types.is_dictionary(column.type):
            return written_bytes(column)
        return sum(written_bytes(pa.chunked_array([one])) for one in _dictionaries(column))
    except ValueError as error:
        if isinstance(error, pa.ArrowException):
            raise
        raise WorkbenchError(
            f"{name} cannot be read: in column {key}, {error}. Save it as Parquet with plain columns."
        ) from None


def _dictionaries(column: "pa.ChunkedArray") -> "list[pa.Array]":
    """The dictionary of each chunk, one for all that share it."""
    found: list[pa.Array] = []
    for chunk in column.chunks:
        if not found or not chunk.dictionary.equals(found[-1]):
            found.append(chunk.dictionary)
    return found


def _flat_columns(table: "pa.Table", notes: list[str]) -> Iterator[tuple[str, "pa.ChunkedArray"]]:
    """Every column by name, fields of structs as "outer.inner"; pandas' row numbers are left out."""
    import pyarrow as pa

    for _ in range(_MAX_NESTING):
        if not any(
            pa.types.is_struct(field.type) and field.type.num_fields for field in table.schema
        ):
            break
        table = table.flatten()
    for place, key in enumerate(table.column_names):
        if _ROW_NUMBERS.fullmatch(key) and table.num_columns > 1:
            notes.append(f"Column {key}, which holds row numbers of pandas, was left out.")
            continue
        yield key, table.column(place)


def _texts(
    key: str,
    column: "pa.ChunkedArray",
    labels: Sequence[str] | None,
    notes: list[str],
    mender: Mender,
) -> list[tuple[str, list[str], bool]]:
    """A column as one or two named columns of text, and whether each holds bytes that are no text."""
    import pyarrow as pa

    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        column = pa.chunked_array([chunk.storage for chunk in column.chunks], kind.storage_type)
        kind = column.type
    if labels is not None and pa.types.is_integer(kind):
        return [(key, mender.mend(_label_texts(column, key, labels, notes)), False)]
    lost = _Lost()
    if pa.types.is_dictionary(kind):
        found = [(key, _dictionary_texts(column, lost, mender))]
    elif pa.types.is_float16(kind) or pa.types.is_float32(kind):
        # As Python floats, 0.8 would become 0.800000011920929.
        values: list[Any] = [
            None if value is None else single
            for chunk in column.chunks
            for value, single in zip(
                chunk.to_pylist(), chunk.to_numpy(zero_copy_only=False), strict=True
            )
        ]
        found = [(key, [as_text(value) for value in values])]
    else:
        values = _python_values(column, lost)
        pairs = two_columns(values) if pa.types.is_nested(kind) else None
        if pairs:
            found = [(f"{key}.{at}", mender.mend(cells)) for at, cells in enumerate(pairs)]
        else:
            found = [(key, mender.mend(_value_texts(values, lost)))]
    notes += lost.notes(key, len(column))
    return [(title, cells, lost.n_bytes > 0) for title, cells in found]


class _Lost:
    """Counts the cells of a column that cannot be written as text."""

    def __init__(self) -> None:
        self.n_bytes = self.n_values = 0

    def notes(self, key: str, n_rows: int) -> list[str]:
        notes = []
        if self.n_bytes >= n_rows:
            notes.append(
                f"Column {key} holds binary data that is no text; its cells were left empty."
            )
        elif self.n_bytes:
            cells = counted(self.n_bytes, "of its cells; it was", "of its cells; they were")
            notes.append(f"Column {key} holds binary data that is no text in {cells} left empty.")
        if self.n_values:
            cells = counted(self.n_values, "cell of", "cells of")
            notes.append(
                f"{cells} column {key} {'was' if self.n_values == 1 else 'were'} left empty: no date or time "
                "outside of the years 1 to 9999, nor with an unknown time zone, can be written."
            )
        return notes


def _python_values(column: "pa.ChunkedArray", lost: _Lost) -> list[Any]:
    import pyarrow as pa

    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        # Python's datetime has no nanoseconds, and refuses them.
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
    try:
        return column.to_pylist()
    except UnicodeDecodeError:
        raise
    except (ValueError, OverflowError):
        return [_python_value(value, lost) for value in column]


def _python_value(value: Any, lost: _Lost) -> Any:
    try:
        return value.as_py()
    except (ValueError, OverflowError):
        lost.n_values += 1
        return None


def _value_texts(values: Sequence[Any], lost: _Lost) -> list[str]:
    try:
        return [value if type(value) is str else as_text(value) for value in values]
    except ValueError:
        return [_value_text(value, lost) for value in values]


def _value_text(value: Any, lost: _Lost) -> str:
    try:
        return as_text(value)
    except ValueError:
        lost.n_bytes += 1
        return ""


def _dictionary_texts(column: "pa.ChunkedArray", lost: _Lost, mender: Mender) -> list[str]:
    """Each distinct value is made a text once, and shared by its rows."""
    import pyarrow as pa

    cells: list[str] = []
    known: list[str] = []
    faulty: set[int] = set()
    last = None
    for chunk in column.chunks:
        if last is None or not chunk.dictionary.equals(last):
            last = chunk.dictionary
            values = _python_values(pa.chunked_array([last]), unwritten := _Lost())
            known = mender.mend(_value_texts(values, unwritten))
            faulty = (
                {at for at, text in enumerate(known) if not text and values[at] not in ("", b"")}
                if unwritten.n_bytes or unwritten.n_values
                else set()
            )
        places = chunk.indices.to_pylist()
        cells += ["" if place is None else known[place] for place in places]
        if faulty:
            n_faulty = sum(place in faulty for place in places)
            if unwritten.n_bytes:
                lost.n_bytes += n_faulty
            else:
                lost.n_values += n_faulty
    return cells


def _label_texts(
    column: "pa.ChunkedArray", key: str, labels: Sequence[str], notes: list[str]
) -> list[str]:
    """Class numbers as the names that the dataset gives them; numbers without a name, -1 among them, stay numbers."""
    shown = ", ".join(f"{place} = {label[:40]}" for place, label in enumerate(labels[:8]))
    notes.append(f"Column {key} was written as the names of its classes: {shown}.")
    return [
        as_text(value) if value is None or not 0 <= value < len(labels) else labels[value]
        for value in column.to_pylist()
    ]


def _class_labels(metadata: dict[bytes, bytes] | None) -> dict[str, list[str]]:
    """Column → class names, of the columns that a Hugging Face dataset declares as classes; names that are only
    numbers say nothing and are left out."""
    try:
        features = json.loads((metadata or {}).get(b"huggingface", b"{}"))["info"]["features"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return {}
    found: dict[str, list[str]] = {}
    for key, feature in features.items() if isinstance(features, dict) else ():
        if not isinstance(feature, dict) or feature.get("_type") != "ClassLabel":
            continue
        names = feature.get("names")
        if (
            isinstance(names, list)
            and all(isinstance(one, str) for one in names)
            and not all(one.lstrip("-").isdigit() for one in names)
        ):
            found[key] = names
    return found


def _free(key: str, taken: dict[str, list[str]]) -> str:
    """A column name that is not taken; the second column of the same name is "name (2)"."""
    if key not in taken:
        return key
    number = 2
    while f"{key} ({number})" in taken:
        number += 1
    return f"{key} ({number})"
