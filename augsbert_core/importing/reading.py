"""Bytes of a file to a table, whatever format it is in."""

import codecs
import gc
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from augsbert_core.importing.containers import is_zip, unpack
from augsbert_core.importing.decoding import refuse_other_formats, wide_encoding
from augsbert_core.importing.delimited import read_delimited
from augsbert_core.importing.file_names import shown_name
from augsbert_core.importing.table import Table
from augsbert_core.options import ImportOptions

DEFAULT = ImportOptions()
_JSON_ENDINGS = (".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz", ".ndjson.gz")
_HEAD = 65_536
_LINES_LOOKED_BACK = 200


@contextmanager
def without_cycles() -> Iterator[None]:
    """Let Python look for no reference cycles in the block, which makes none but lists by the hundred thousand.

    Looking through them again and again takes a tenth of the time of a large import.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def read_table(
    data: bytes, name: str, options: ImportOptions = DEFAULT, head_bytes: int | None = None
) -> Table:
    """Read a file as the options say; what they leave open is found out, and the notes say what was found.

    Every row of the file is in the table's rows, in its header, or counted in the notes. head_bytes: for a preview,
    read only so much of the beginning of a text file, up to the end of a line. WorkbenchError: the file is empty,
    damaged, in no format that is known, or has no row below its header.
    """
    unpacked = unpack(data, shown_name(name), options.sheet)
    data, name, notes = unpacked.data, unpacked.name, list(unpacked.notes)
    options = replace(options, sheet=unpacked.sheet)
    refuse_other_formats(data, name)
    kind = find_format(data, name)
    if head_bytes is not None and (kind == "text" or (kind == "json" and _is_json_lines(data))):
        head = cut_head(data, head_bytes)
        if len(head) < len(data):
            data = head
            notes.append(f"Only the first {_size(data)} were looked at for this preview.")
    table = _read(data, name, kind, options)
    notes = [*notes, *table.notes, *_about_columns(table)]
    if unpacked.member and (len(unpacked.members) > 1 or not table.sheet):
        table = replace(table, sheet=unpacked.member, sheets=tuple(unpacked.members))
    return replace(table, notes=notes)


def _size(data: bytes) -> str:
    n_kilobytes = max(len(data) / 1000, 0.1)
    return f"{n_kilobytes / 1000:.1f} MB" if n_kilobytes >= 100 else f"{n_kilobytes:.1f} kB"


def find_format(data: bytes, name: str) -> str:
    """ "parquet", "excel", "json" or "text": by the content, and by the name only where JSON is concerned."""
    from augsbert_core.importing.json_tables import looks_like_json
    from augsbert_core.importing.parquet import looks_like_parquet

    if looks_like_parquet(data):
        return "parquet"
    if is_zip(data):
        return "excel"
    if name.lower().endswith(_JSON_ENDINGS) or looks_like_json(data):
        return "json"
    return "text"


def cut_head(data: bytes, limit: int) -> bytes:
    """The beginning of a text up to the last line end within `limit` bytes; all of it where no line ends there.

    Of the last line ends one is preferred that has an even number of double quotes before it: it is not inside a
    quoted cell.
    """
    if len(data) <= limit:
        return data
    unit, width = _line_end(data)
    n_quotes, counted, end, first = data.count(b'"', 0, limit), limit, limit, 0
    for _ in range(_LINES_LOOKED_BACK):
        place = _find_back(data, unit, width, end)
        if place < 0:
            break
        after = place + width
        n_quotes -= data.count(b'"', after, counted)
        if n_quotes % 2 == 0:
            return data[:after]
        counted, end, first = after, place, first or after
    return data[:first] if first else data


def _line_end(data: bytes) -> tuple[bytes, int]:
    """The bytes that end a line, and how many bytes a character takes at least."""
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        encoding, width = "utf-32-le" if data[0] else "utf-32-be", 4
    elif data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding, width = "utf-16-le" if data[0] == 0xFF else "utf-16-be", 2
    elif guess := wide_encoding(data[:_HEAD]):
        encoding, width = guess, 2
    else:
        encoding, width = "ascii", 1
    end = "\n".encode(encoding)
    return (end if end in data else "\r".encode(encoding)), width


def _find_back(data: bytes, unit: bytes, width: int, end: int) -> int:
    """Where the last line end before `end` stands, at a place where a character begins; -1 for nowhere."""
    place = data.rfind(unit, 0, end)
    while place > 0 and place % width:
        place = data.rfind(unit, 0, place + width - 1)
    return place


def _head_text(data: bytes) -> str:
    """The beginning of a file as text, good enough to tell JSON from a table."""
    head = data[:_HEAD]
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return head.decode("utf-16", "replace")
    if head.startswith(codecs.BOM_UTF8):
        return head.decode("utf-8-sig", "replace")
    return head.decode(wide_encoding(head) or "utf-8", "replace").removeprefix("\ufeff")


def _is_json_lines(data: bytes) -> bool:
    line, _, rest = _head_text(data).lstrip().partition("\n")
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return bool(rest)


def _read(data: bytes, name: str, kind: str, options: ImportOptions) -> Table:
    # Each reader brings libraries that only its format needs.
    if kind == "parquet":
        from augsbert_core.importing.parquet import read_parquet

        return read_parquet(data, name, options)
    if kind == "excel":
        from augsbert_core.importing.excel import read_excel

        return read_excel(data, name, options)
    if kind == "json":
        from augsbert_core.importing.json_tables import read_json

        return read_json(data, name, options)
    return read_delimited(
        data,
        name,
        delimiter=options.delimiter,
        header=options.header,
        quoting=options.quoting,
        encoding=options.encoding,
    )


def _about_columns(table: Table) -> list[str]:
    """A note when columns share a name, so that they can be told apart by position only."""
    seen: dict[str, int] = {}
    for column in table.header or []:
        seen[column] = seen.get(column, 0) + 1
    twice = [column for column, count in seen.items() if count > 1 and column]
    if not twice:
        return []
    shown = ", ".join(repr(column[:40]) for column in twice[:5])
    return [f"Several columns are called {shown}; they can be told apart by their positions only."]
