"""Values of JSON to rows of text cells, nested objects flattened."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.cells import Mender, as_text, rows_of_columns
from augsbert_core.importing.column_names import looks_like_header

MAX_COLUMNS = 2_000
MAX_CELLS = 60_000_000
_MAX_DEPTH = 8
_SHOWN_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Broken:
    """A line that is no JSON."""

    line: str


def rows_of_items(
    values: Sequence[tuple[int, Any]], name: str, header: bool | None, notes: list[str]
) -> tuple[list[list[str]], list[int], list[str] | None]:
    """Rows, the number of each, and the header, of (number, value) in order.

    Objects give the header: the union of their keys in order of appearance; what an object lacks is "". Among
    objects, any other value is a ragged row. Arrays are rows as they are; header: whether the first of them holds
    the column names, None finds out. Single values are rows of one cell.
    """
    numbers = [number for number, _ in values]
    items = [value for _, value in values]
    mender = Mender()
    names: list[str] | None
    if any(isinstance(item, dict) for item in items):
        names, rows = _rows_of_objects(items, name, mender)
    else:
        rows = _rows_of_arrays(items, mender)
        names = _header_of_arrays(rows, header, notes)
        if names is not None:
            rows, numbers = rows[1:], numbers[1:]
    notes += mender.notes
    return rows, numbers, names


def _rows_of_arrays(items: Sequence[Any], mender: Mender) -> list[list[str]]:
    width = max((len(item) for item in items if isinstance(item, list)), default=1)
    return [
        mender.mend([as_text(cell) for cell in item])
        if isinstance(item, list)
        else _single(item, width, mender)
        for item in items
    ]


def _single(item: Any, width: int, mender: Mender) -> list[str]:
    """A value that is no array as a row; a broken line as one that is ragged whatever the usual width."""
    if not isinstance(item, Broken):
        return mender.mend([as_text(item)])
    return mender.mend(_ragged(item.line, width))


def _ragged(text: str, width: int) -> list[str]:
    return [text[:_SHOWN_CHARACTERS], *([""] if width == 1 else [])]


def _header_of_arrays(
    rows: list[list[str]], header: bool | None, notes: list[str]
) -> list[str] | None:
    if not rows:
        return None
    if header is None:
        header = looks_like_header(rows[0], rows[1:200])
        if header:
            shown = ", ".join(cell[:40] for cell in rows[0][:12])
            notes.append(f"The first row was read as the header: {shown}.")
    return [cell.strip() for cell in rows[0]] if header else None


def _rows_of_objects(
    items: Sequence[Any], name: str, mender: Mender
) -> tuple[list[str], list[list[str]]]:
    columns, places = _fill_columns(items, name)
    texts = _texts_of_columns(columns, mender)
    names = mender.mend([key or "(no name)" for key in texts])
    rows: list[list[str]] = rows_of_columns(list(texts.values()))
    if len(places) == len(items):
        return names, rows
    whole = dict(zip(places, rows, strict=True))
    every = []
    for place, item in enumerate(items):
        row = whole.get(place)
        if row is None:
            text = item.line if isinstance(item, Broken) else as_text(item)
            row = mender.mend(_ragged(text, len(names)))
        every.append(row)
    return names, every


def _fill_columns(items: Sequence[Any], name: str) -> tuple[dict[str, list[Any]], list[int]]:
    """Column name → the values of all objects, None where an object lacks the key; and the objects' places."""
    columns: dict[str, list[Any]] = {}
    places = []
    n_rows = 0
    for place, item in enumerate(items):
        if not isinstance(item, dict):
            continue
        places.append(place)
        flat = item
        for value in item.values():
            if type(value) is dict:
                flat = _flatten(item)
                break
        for key, value in flat.items():
            column = columns.get(key)
            if column is None:
                column = columns[key] = [None] * n_rows
                _check_size(name, len(columns), len(items))
            column.append(value)
        n_rows += 1
        if len(flat) < len(columns):
            for column in columns.values():
                if len(column) < n_rows:
                    column.append(None)
    return columns or {"": [None] * n_rows}, places


def _check_size(name: str, n_columns: int, n_rows: int) -> None:
    if n_columns > MAX_COLUMNS or n_columns * n_rows > MAX_CELLS:
        raise WorkbenchError(
            f"The objects of {name} have more than {n_columns - 1:,} different keys in {n_rows:,} rows, too many for "
            'the columns of a table. Save the rows as a list of objects with the same keys: [{"sentence1": …}, …].'
        )


def _flatten(item: dict[str, Any]) -> dict[str, Any]:
    """Inner objects as keys "outer.inner", down to a depth where names would be of no use."""
    flat: dict[str, Any] = {}
    _flatten_into(flat, "", item, _MAX_DEPTH)
    return flat


def _flatten_into(flat: dict[str, Any], prefix: str, item: dict[str, Any], depth: int) -> None:
    for key, value in item.items():
        if isinstance(value, dict) and value and depth:
            _flatten_into(flat, f"{prefix}{key}.", value, depth - 1)
            continue
        full = prefix + key
        while full in flat:  # {"a.b": 1, "a": {"b": 2}}
            full += "'"
        flat[full] = value


def _texts_of_columns(columns: dict[str, list[Any]], mender: Mender) -> dict[str, list[str]]:
    """Values as text; a column of lists of two texts each becomes two columns, "set.0" and "set.1"."""
    texts: dict[str, list[str]] = {}
    for key, values in columns.items():
        if pairs := two_columns(values):
            for position, cells in enumerate(pairs):
                texts[_free(f"{key}.{position}", columns)] = mender.mend(cells)
        else:
            texts[key] = mender.mend(
                [value if type(value) is str else as_text(value) for value in values]
            )
    return texts


def _free(key: str, taken: dict[str, list[Any]]) -> str:
    while key in taken:
        key += "'"
    return key


def two_columns(values: Sequence[Any]) -> tuple[list[str], list[str]] | None:
    """The first and the second texts of a column in which each value, None aside, is a list of two texts."""
    first: list[str] = []
    second: list[str] = []
    for value in values:
        if value is None:
            first.append("")
            second.append("")
        elif type(value) is list and len(value) == 2 and all(type(one) is str for one in value):
            first.append(value[0])
            second.append(value[1])
        else:
            return None
    return (first, second) if any(value is not None for value in values) else None
