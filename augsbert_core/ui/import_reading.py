"""How the bytes of a file become a table: each choice stands at what was found, and can be overruled."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.table import Table
from augsbert_core.options import ImportOptions
from augsbert_core.ui.import_plans import table_of
from augsbert_core.ui.import_sources import Source

ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16 LE",
    "utf-16-be": "UTF-16 BE",
    "cp1252": "cp1252 (Western)",
    "iso-8859-2": "ISO 8859-2 (Central European)",
    "cp1251": "cp1251 (Cyrillic)",
    "koi8-r": "KOI8-R (Cyrillic)",
    "iso-8859-7": "ISO 8859-7 (Greek)",
    "cp1254": "cp1254 (Turkish)",
    "cp1255": "cp1255 (Hebrew)",
    "cp1256": "cp1256 (Arabic)",
    "shift_jis": "Shift JIS (Japanese)",
    "euc_jp": "EUC-JP (Japanese)",
    "gb18030": "GB 18030 (Chinese)",
    "big5": "Big5 (Chinese)",
    "euc_kr": "EUC-KR (Korean)",
}
DELIMITERS = {
    "\t": "Tab",
    ",": "Comma",
    ";": "Semicolon",
    "|": "Pipe |",
    "": "None: one column",
}
HEADER = {True: "First row", False: "None"}
QUOTING = {True: "Around cells", False: "In the text"}
NAMES: dict[str, Mapping[Any, str]] = {
    "encoding": ENCODINGS,
    "delimiter": DELIMITERS,
    "header": HEADER,
    "quoting": QUOTING,
}
TITLES = {
    "encoding": "Encoding",
    "delimiter": "Delimiter",
    "header": "Header",
    "quoting": "Double quotes",
    "sheet": "Part",
}
HELP = {
    "encoding": "How the file writes letters as bytes. Strange characters such as Ã© in the preview mean another one.",
    "delimiter": "What stands between two cells of a row.",
    "header": "Whether the first row names the columns, or holds a pair already.",
    "quoting": "In most CSV files double quotes enclose a cell. In STS files they are part of the sentence: read as "
    "CSV, rows are lost.",
    "sheet": "Which sheet of the workbook, file of the archive, or split of the dataset is read.",
}
FOUND = "found"
"""The choice that leaves it to the workbench. Not None: a selectbox takes that for nothing chosen."""

FIELDS = ("encoding", "delimiter", "header", "quoting", "sheet")


def told_reading(prefix: str, kind: str) -> ImportOptions:
    """How a file is to be read as far as the controls of `prefix` say; they may not be drawn yet."""
    told = {field: st.session_state.get(f"{prefix}-{field}", FOUND) for field in FIELDS}
    overruled = {field: value for field, value in told.items() if value != FOUND}
    return ImportOptions(kind=kind, **overruled)


def readable(
    sources: Sequence[Source], options: Sequence[ImportOptions], large: bool
) -> list[Table | None]:
    """The table of each source, None where it cannot be read."""
    tables: list[Table | None] = []
    for source, told in zip(sources, options, strict=True):
        try:
            tables.append(table_of(source, told, large, len(sources)))
        except WorkbenchError:
            tables.append(None)
    return tables


def have_one_shape(tables: Sequence[Table | None]) -> bool:
    """Whether the columns of the first table are, by name or number, those of all others."""
    shapes = {_shape(table) for table in tables}
    return len(shapes) == 1 and None not in shapes


def _shape(table: Table | None) -> tuple[object, ...] | None:
    if table is None:
        return None
    if table.header is not None:
        return tuple(table.header)
    # The rows of one format may have a few cells more or less, as those of the STS Benchmark have.
    widths = [len(row) for row in table.rows[:1000]]
    return (max(set(widths), key=widths.count) if widths else 0,)


def reading_controls(table: Table | None, options: ImportOptions, prefix: str) -> None:
    """Encoding, delimiter, header, quoting and sheet, as far as the format has them.

    table: as read under `options`, which hold what the controls said before; None when that failed.
    """
    is_text = table is None or table.format == "text"
    sheets = tuple(table.sheets) if table else ()
    if options.sheet is not None and options.sheet not in sheets:
        sheets = (*sheets, options.sheet)
    if not is_text and len(sheets) < 2 and (table is None or table.format != "excel"):
        return
    found = {
        "encoding": table.encoding if table else None,
        "delimiter": table.delimiter if table else None,
        "header": (table.header is not None) if table else None,
        "quoting": table.quoting if table else None,
        "sheet": table.sheet if table else None,
    }
    fields = ["encoding", "delimiter", "header", "quoting"] if is_text else []
    if table is not None and table.format == "excel":
        fields.append("header")
    if len(sheets) > 1:
        fields.append("sheet")
    names = {**NAMES, "sheet": {name: name for name in sheets}}
    # Never fewer than four places: two lone controls would be too wide.
    places = st.columns(max(len(fields), 4))
    for place, what in zip(places, fields, strict=False):
        told = getattr(options, what)
        place.selectbox(
            TITLES[what],
            [FOUND, *names[what]],
            format_func=_naming(names[what], found[what] if told is None else None),
            key=f"{prefix}-{what}",
            help=HELP[what],
            persist_state="session",
        )


def _naming(names: Mapping[Any, str], found: object) -> Callable[[object], str]:
    def name(choice: object) -> str:
        if choice != FOUND:
            return names.get(choice, str(choice))
        if found is None:
            return "Find out"
        return f"{names.get(found, str(found) or 'None')} ✓"

    return name


def with_reading(options: ImportOptions, reading: ImportOptions) -> ImportOptions:
    """Options with the reading choices of others."""
    return replace(options, **{field: getattr(reading, field) for field in FIELDS})
