"""Where the rows are in a JSON document: an array, an object of columns, or an object around a list."""

from typing import Any

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.cells import counted

_PAIR_KEYS = ("set", "pair")


def find_items(
    document: Any, name: str, sheet: str | None, notes: list[str]
) -> tuple[list[Any], str, tuple[str, ...]]:
    """The rows of a document (objects, arrays or single values), the list that they came from, and the lists there are.

    sheet: which list is read when an object holds several; None takes the first. WorkbenchError: there is no such
    list, or the document is a single value.
    """
    if isinstance(document, list):
        return document, "", ()
    if not isinstance(document, dict):
        raise WorkbenchError(
            f"{name} holds a single value, not rows. Save the rows as a list of objects: "
            '[{"sentence1": …, "sentence2": …, "score": …}, …].'
        )
    if (split := _split_frame(document)) is not None:
        return split, "", ()
    if len(document) == 1 and _is_pair(document):
        return [document], "", ()
    if (columns := _columns(document)) is not None:
        return columns, "", ()
    tables = {key: value for key, value in document.items() if _is_table(key, value, document)}
    if tables:
        return _choose(tables, name, sheet, notes)
    if (records := _keyed_records(document)) is not None:
        return records, "", ()
    return ([document] if any(value != [] for value in document.values()) else []), "", ()


def _is_pair(document: dict[str, Any]) -> bool:
    key, value = next(iter(document.items()))
    return key in _PAIR_KEYS and _is_two_texts(value)


def _is_two_texts(value: Any) -> bool:
    return isinstance(value, list) and [type(one) for one in value] == [str, str]


def _split_frame(document: dict[str, Any]) -> list[Any] | None:
    """{"columns": [names], "data": [rows]}, which pandas writes as orient="split"."""
    names, rows = document.get("columns"), document.get("data")
    if not isinstance(names, list) or not isinstance(rows, list):
        return None
    if not all(isinstance(one, str) for one in names) or len(set(names)) < len(names):
        return None
    if not all(isinstance(row, list) and len(row) == len(names) for row in rows):
        return None
    return [dict(zip(names, row, strict=True)) for row in rows]


def _columns(document: dict[str, Any]) -> list[Any] | None:
    """An object of columns, each a list of values or, as pandas writes them, an object by row number."""
    columns = list(document.values())
    if not columns:
        return None
    if all(isinstance(column, dict) and column for column in columns):
        keys = list(columns[0])
        if not all(key.isdigit() for key in keys) or any(list(one) != keys for one in columns):
            return None
        columns = [list(column.values()) for column in columns]
    elif not all(isinstance(column, list) and column for column in columns):
        return None
    if len({len(column) for column in columns}) > 1:
        return None
    if any(isinstance(column[0], dict) for column in columns):
        return None
    if all(isinstance(column[0], list) for column in columns):
        return None  # {"data": [[…], …]} holds rows, not a column of lists.
    return [dict(zip(document, row, strict=True)) for row in zip(*columns, strict=True)]


def _is_table(key: str, value: Any, document: dict[str, Any]) -> bool:
    """Whether a value is a list of rows: of objects, of arrays, or the only list there is."""
    if not isinstance(value, list) or not value:
        return False
    if key == "features" and isinstance(document.get("rows"), list):
        return False  # The dataset viewer of Hugging Face lists the columns beside the rows.
    if all(isinstance(one, dict) for one in value) or all(isinstance(one, list) for one in value):
        return True
    others = [one for name, one in document.items() if name != key]
    is_alone = len(value) > 2 and not any(isinstance(one, list | dict) for one in others)
    return is_alone and all(isinstance(one, str) for one in value)


def _choose(
    tables: dict[str, list[Any]], name: str, sheet: str | None, notes: list[str]
) -> tuple[list[Any], str, tuple[str, ...]]:
    names = tuple(tables)
    chosen = names[0] if sheet is None or len(names) == 1 else sheet
    if chosen not in tables:
        raise WorkbenchError(
            f"{name} has no list named {chosen!r}. It has: {', '.join(one[:40] for one in names[:20])}."
        )
    if len(names) > 1:
        others = ", ".join(one[:40] for one in names[:20] if one != chosen)
        notes.append(f"The rows are those of the list {chosen[:40]!r}; not read: {others}.")
    return _viewer_rows(tables[chosen], notes), chosen, names if len(names) > 1 else ()


def _viewer_rows(items: list[Any], notes: list[str]) -> list[Any]:
    """Rows as the dataset viewer of Hugging Face gives them: {"row_idx": 0, "row": {…}, "truncated_cells": []}."""
    if not all(isinstance(one, dict) and isinstance(one.get("row"), dict) for one in items):
        return items
    if n_cut := sum(bool(one.get("truncated_cells")) for one in items):
        rows = counted(n_cut, "row has", "rows have")
        notes.append(f"{rows} cells that the dataset viewer cut short.")
    return [one["row"] for one in items]


def _keyed_records(document: dict[str, Any]) -> list[Any] | None:
    """An object of objects with the same keys is one row for each; names that are no row numbers become a column."""
    records = list(document.values())
    if len(records) < 2 or not all(isinstance(one, dict) and one for one in records):
        return None
    keys = set(records[0])
    if any(set(one) != keys for one in records):
        return None
    if all(key.isdigit() for key in document):
        return records
    column = "key" if "key" not in keys else "key of the row"
    return [{column: key, **record} for key, record in document.items()]
