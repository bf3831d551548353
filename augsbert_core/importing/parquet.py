"""Parquet, Feather and Arrow files to tables."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.cells import Mender, as_text, rows_of_columns
from augsbert_core.importing.json_records import MAX_CELLS, MAX_COLUMNS, two_columns
from augsbert_core.importing.table import Table
from augsbert_core.options import ImportOptions

if TYPE_CHECKING:
    import pyarrow as pa

_PARQUET, _ENCRYPTED, _ARROW_FILE, _ARROW_STREAM = b"PAR1", b"PARE", b"ARROW1", b"\xff\xff\xff\xff"
_MAX_BYTES = 2 * 1024**3
_MAX_NESTING = 8
_ROW_NUMBERS = re.compile(r"__index_level_\d+__")


def looks_like_parquet(data: bytes) -> bool:
    """Whether a file begins as Parquet, Feather or Arrow files do."""
    return data.startswith((_PARQUET, _ENCRYPTED, _ARROW_FILE, _ARROW_STREAM))


def read_parquet(data: bytes, name: str, options: ImportOptions) -> Table:
    """Read a Parquet, Feather or Arrow file as rows of cells, nested fields as "outer.inner".

    line_numbers: rows counted from 1. Class labels of a Hugging Face dataset are written as their names. WorkbenchError:
    the file is damaged, encrypted, too large, or has no rows.
    """
    with _damage_told(name):
        return _as_table(_read_bytes(data, name), name)


def read_arrow(data: bytes, name: str) -> "pa.Table":
    """The Arrow table that a Parquet, Feather or Arrow file holds, checked; errors as `read_parquet`."""
    with _damage_told(name):
        return _read_bytes(data, name)


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
    n_characters = 0
    for key, column in _flat_columns(table, notes):
        for name_of_column, cells in _texts(key, column, labels.get(key), notes):
            n_characters += sum(map(len, cells))
            _check_size(name, table.num_rows, table.num_columns, n_characters)
            texts[_free(name_of_column, texts)] = mender.mend(cells)
    if not table.num_rows or not texts:
        raise WorkbenchError(f"{name} has no rows. Choose a file with at least one row.")
    rows = rows_of_columns(list(texts.values()))
    header = mender.mend(list(texts))
    return Table(
        rows, range(1, len(rows) + 1), header, notes=[*notes, *mender.notes], format="parquet"
    )


def _read_bytes(data: bytes, name: str) -> "pa.Table":
    if data.startswith(_ENCRYPTED):
        raise WorkbenchError(f"{name} is encrypted. Save it without encryption and import that.")
    table = _open(data, name)
    # Before anything else: broken offsets in an Arrow file would read outside its buffers.
    table.validate(full=True)
    _check_size(name, table.num_rows, table.num_columns, table.nbytes)
    return table


def _open(data: bytes, name: str) -> "pa.Table":
    import pyarrow as pa
    import pyarrow.ipc
    import pyarrow.parquet as pq

    source = pa.BufferReader(data)
    if data.startswith(_ARROW_FILE):
        return pa.ipc.open_file(source).read_all()
    if data.startswith(_ARROW_STREAM):
        return pa.ipc.open_stream(source).read_all()
    file = pq.ParquetFile(source)
    schema, metadata = file.schema_arrow, file.metadata
    n_bytes = sum(
        metadata.row_group(place).total_byte_size for place in range(metadata.num_row_groups)
    )
    _check_size(name, metadata.num_rows, len(schema), n_bytes)
    # Texts stay dictionaries: a few kilobytes of repeated text would else swell to gigabytes.
    texts = [field.name for field in schema if pa.types.is_string(field.type)]
    return pq.ParquetFile(pa.BufferReader(data), read_dictionary=texts).read()


def _check_size(name: str, n_rows: int, n_columns: int, n_bytes: int) -> None:
    if n_rows * n_columns > MAX_CELLS or n_columns > MAX_COLUMNS or n_bytes > _MAX_BYTES:
        raise WorkbenchError(
            f"{name} is too large to be read at once: {n_rows:,} rows of {n_columns:,} columns, "
            f"{n_bytes / 1024**3:.1f} GB. Save the columns that are needed, in several files of fewer rows."
        )


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
    key: str, column: "pa.ChunkedArray", labels: Sequence[str] | None, notes: list[str]
) -> list[tuple[str, list[str]]]:
    """A column as one or two named columns of text."""
    import pyarrow as pa

    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        column = pa.chunked_array([chunk.storage for chunk in column.chunks], kind.storage_type)
        kind = column.type
    if pa.types.is_dictionary(kind):
        return [(key, _dictionary_texts(column, key, notes))]
    if labels is not None and pa.types.is_integer(kind):
        return [(key, _label_texts(column, key, labels, notes))]
    if pa.types.is_float16(kind) or pa.types.is_float32(kind):
        # As Python floats, 0.8 would become 0.800000011920929.
        values: list[Any] = [
            None if value is None else single
            for chunk in column.chunks
            for value, single in zip(
                chunk.to_pylist(), chunk.to_numpy(zero_copy_only=False), strict=True
            )
        ]
        return [(key, [as_text(value) for value in values])]
    values = _python_values(column)
    if pa.types.is_nested(kind) and (pairs := two_columns(values)):
        return [(f"{key}.{position}", cells) for position, cells in enumerate(pairs)]
    return [(key, _value_texts(values, key, notes))]


def _python_values(column: "pa.ChunkedArray") -> list[Any]:
    import pyarrow as pa

    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        # Python's datetime has no nanoseconds, and refuses them.
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
    return column.to_pylist()


def _value_texts(values: Sequence[Any], key: str, notes: list[str]) -> list[str]:
    try:
        return [value if type(value) is str else as_text(value) for value in values]
    except ValueError:
        notes.append(f"Column {key} holds binary data that is no text; its cells were left empty.")
        return [""] * len(values)


def _dictionary_texts(column: "pa.ChunkedArray", key: str, notes: list[str]) -> list[str]:
    """Each distinct value is made a text once, and shared by its rows."""
    cells: list[str] = []
    for chunk in column.chunks:
        known = _value_texts(_python_values_of(chunk.dictionary), key, notes)
        cells += ["" if place is None else known[place] for place in chunk.indices.to_pylist()]
    return cells


def _python_values_of(array: "pa.Array") -> list[Any]:
    import pyarrow as pa

    return _python_values(pa.chunked_array([array]))


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
