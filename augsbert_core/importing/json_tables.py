"""JSON and JSON Lines to tables: whatever shape the rows have, they become rows of cells."""

import json
import re
from typing import Any

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.cells import counted
from augsbert_core.importing.decoding import decode
from augsbert_core.importing.json_records import Broken, rows_of_items
from augsbert_core.importing.json_shapes import find_items
from augsbert_core.importing.table import Table
from augsbert_core.options import ImportOptions

_SNIFFED_BYTES = 65_536
_SNIFFED_LINES = 5
_OPENING = re.compile(
    r'\{\s*("(?:[^"\\]|\\.)*"\s*:|\}|$)|\[\s*(\[|\{|"(?:[^"\\]|\\.)*"\s*[,\]]|\]|$)'
)
_SPACE = re.compile(r"[ \t\n\r]*")


def looks_like_json(data: bytes) -> bool:
    """Whether a file begins as an object or array of JSON does, or holds one on each line."""
    text = _head(data).lstrip("\ufeff \t\r\n")
    if not text:
        return False
    if text[0] in "{[":
        try:
            _, end = _decoder().raw_decode(text)
        except (ValueError, RecursionError):
            if _OPENING.match(text):
                return True
        else:
            rest = text[end:].lstrip(" \t")
            return not rest or rest[0] in "\r\n{["
    lines = [line for line in text.splitlines()[:-1] if line.strip()][:_SNIFFED_LINES]
    return len(lines) > 1 and sum(map(_is_object, lines)) * 2 >= len(lines)


def _head(data: bytes) -> str:
    head = data[:_SNIFFED_BYTES]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return head.decode("utf-16", "ignore")
    # JSON begins with ASCII, so NUL bytes among the first two tell UTF-16 without a mark.
    if head[1:2] == b"\0":
        return head.decode("utf-16-le", "ignore")
    if head[:1] == b"\0":
        return head.decode("utf-16-be", "ignore")
    return head.decode("utf-8", "replace")


def _is_object(line: str) -> bool:
    try:
        return isinstance(_decoder().decode(line), dict)
    except (ValueError, RecursionError):
        return False


def read_json(data: bytes, name: str, options: ImportOptions) -> Table:
    """Read JSON, or JSON Lines, as rows of cells.

    Rows are objects, whose keys become the header (nested ones "outer.inner"), or arrays. line_numbers: lines of JSON
    Lines, else records counted from 1. A line that is no JSON becomes a row of one cell, so that it is rejected as
    ragged. WorkbenchError: broken JSON, more than half of the lines broken, or nothing that could be rows.
    """
    decoded = decode(data, name, options.encoding)
    notes = list(decoded.notes)
    decoder = _decoder(notes)
    try:
        rows, numbers, header, sheet, sheets = _read(decoded.text, name, options, decoder, notes)
    except RecursionError:
        raise WorkbenchError(
            f"{name} is nested too deeply to be a table. Save the rows as a flat list of objects."
        ) from None
    if not rows:
        raise WorkbenchError(f"{name} has no rows. Choose a file with at least one row.")
    decoder.note_repeated_keys()
    return Table(
        rows,
        numbers,
        header,
        encoding=decoded.encoding,
        notes=notes,
        format="json",
        sheet=sheet,
        sheets=sheets,
    )


class _Decoder(json.JSONDecoder):
    """Reads leniently (raw tabs in texts) and counts the objects that name a key twice."""

    def __init__(self, notes: list[str]) -> None:
        super().__init__(strict=False, object_pairs_hook=self._object)
        self.notes = notes
        self.n_repeated = 0

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            self.n_repeated += 1
        return found

    def note_repeated_keys(self) -> None:
        if self.n_repeated:
            objects = counted(self.n_repeated, "object names", "objects name")
            self.notes.append(f"{objects} a key more than once; the last value was kept.")


def _decoder(notes: list[str] | None = None) -> _Decoder:
    return _Decoder([] if notes is None else notes)


def _read(
    text: str, name: str, options: ImportOptions, decoder: _Decoder, notes: list[str]
) -> tuple[list[list[str]], list[int], list[str] | None, str, tuple[str, ...]]:
    """Rows, their numbers, header, the list that was chosen, and the lists there are."""
    document, values = _parse(text, name, decoder)
    sheet = ""
    sheets: tuple[str, ...] = ()
    if values is None and isinstance(document, dict) and _is_one_line(text, name):
        values = [(1, document)]
    if values is None:
        items, sheet, sheets = find_items(document, name, options.sheet, notes)
        values = list(enumerate(items, start=1))
    elif n_broken := sum(isinstance(value, Broken) for _, value in values):
        lines = counted(n_broken, "line is", "lines are")
        notes.append(
            f"{lines} no JSON and cannot be used; the first is line {_first_broken(values)}."
        )
    rows, numbers, header = rows_of_items(values, name, options.header, notes)
    return rows, numbers, header, sheet, sheets


def _is_one_line(text: str, name: str) -> bool:
    """Whether a file that calls itself JSON Lines has one line, which then is one row."""
    return "\n" not in text.strip() and re.search(r"\.(jsonl|ndjson)\b", name.lower()) is not None


def _first_broken(values: list[tuple[int, Any]]) -> int:
    return next(line for line, value in values if isinstance(value, Broken))


def _parse(text: str, name: str, decoder: _Decoder) -> tuple[Any, list[tuple[int, Any]] | None]:
    """The document, or the values on its lines with their line numbers."""
    if _starts_with_a_whole_line(text, decoder):
        return None, _read_lines(text, name, decoder, None)
    try:
        return decoder.decode(text), None
    except json.JSONDecodeError as error:
        fault = error
    except ValueError:  # an integer of more digits than Python reads
        raise _too_long_number(name) from None
    if fault.msg == "Extra data" and (values := _read_stream(text, decoder)) is not None:
        return None, values
    return None, _read_lines(text, name, decoder, fault)


def _starts_with_a_whole_line(text: str, decoder: _Decoder) -> bool:
    """Whether the first line that is not blank is JSON by itself and others follow."""
    body = text.lstrip()
    line, _, rest = body.partition("\n" if "\n" in body else "\r")
    return bool(rest.strip()) and not isinstance(_value(line, decoder), Broken)


def _read_lines(
    text: str, name: str, decoder: _Decoder, fault: json.JSONDecodeError | None
) -> list[tuple[int, Any]]:
    """The value on each line that is not blank. fault: why the text is no single document; it is told when lines
    are none either."""
    # Not str.splitlines: it would also cut at U+2028, which JSON allows inside a text.
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    values: list[tuple[int, Any]] = []
    n_broken = n_rows = 0
    for number, line in enumerate(lines, start=1):
        if not line or line.isspace():
            continue
        value = _value(line, decoder)
        if isinstance(value, Broken):
            n_broken += 1
        elif isinstance(value, dict | list):
            n_rows += 1
        values.append((number, value))
    if fault is not None and n_rows * 2 < len(values):
        raise _broken(name, fault.lineno, fault.colno, fault.msg)
    if n_broken * 2 > len(values):
        number = _first_broken(values)
        try:
            decoder.decode(lines[number - 1])
        except json.JSONDecodeError as error:
            raise _broken(name, number, error.colno, error.msg, n_broken, len(values)) from None
        except ValueError:
            raise _too_long_number(name) from None
    return values


def _value(line: str, decoder: _Decoder) -> Any:
    """The value that a line holds, or the line as Broken."""
    try:
        value, end = decoder.raw_decode(line, _SPACE.match(line).end())  # type: ignore[union-attr]
    except (ValueError, RecursionError):
        return Broken(line)
    return value if _SPACE.fullmatch(line, end) else Broken(line)


def _read_stream(text: str, decoder: _Decoder) -> list[tuple[int, Any]] | None:
    """Objects or arrays that follow each other without commas, as jq writes them; None when it is not that."""
    values = []
    line = 1
    at = 0
    while (start := _SPACE.match(text, at).end()) < len(text):  # type: ignore[union-attr]
        line += text.count("\n", at, start)
        try:
            value, at = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            return None
        if not isinstance(value, dict | list):
            return None
        values.append((line, value))
        line += text.count("\n", start, at)
    return values


def _broken(
    name: str, line: int, column: int, why: str, n_broken: int = 0, n_lines: int = 0
) -> WorkbenchError:
    share = f" {n_broken} of its {n_lines} lines are broken." if n_broken else ""
    return WorkbenchError(
        f"{name} is not valid JSON: line {line}, column {column}: {why[:1].lower()}{why[1:]}.{share} "
        "Mend the file there, or save the table again as JSON, JSON Lines or CSV."
    )


def _too_long_number(name: str) -> WorkbenchError:
    return WorkbenchError(
        f"{name} holds a number of several thousand digits, which cannot be read. "
        "Write it as a text in quotes, or shorten it."
    )
