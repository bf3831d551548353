"""Text files to tables: delimiter, quoting and header, found by trying and told in the notes."""

import re

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.column_names import count_known_names, is_number, looks_like_header
from augsbert_core.importing.decoding import decode
from augsbert_core.importing.quoting import Reading, read_text
from augsbert_core.importing.table import Table
from augsbert_core.importing.text_heads import sample_of, without_hint

DELIMITERS = ("\t", ",", ";", "|")
_COMMENTS = re.compile(r"(?:#[^\r\n]*(?:\r\n?|\n)){1,10}")
_DELIMITER_NAMES = {
    "\\t": "\t",
    "tab": "\t",
    "comma": ",",
    "semicolon": ";",
    "pipe": "|",
    "none": "",
}


def read_delimited(
    data: bytes,
    name: str,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    quoting: bool | None = None,
    encoding: str | None = None,
) -> Table:
    """Read a CSV or TSV file; what is None is found out, and the notes say what was found.

    Every line of the file is in a row, in the header, or counted as blank in the notes.
    WorkbenchError when the file is empty, not text, or has no row below its header.
    """
    decoded = decode(data, name, encoding)
    text, notes = decoded.text, decoded.notes
    if delimiter is not None:
        delimiter = _check_delimiter(delimiter)
    text, n_skipped, hint = without_hint(text, notes)
    delimiter = hint if delimiter is None else delimiter
    if not n_skipped:
        text, n_skipped = _without_comments(text, name, delimiter, quoting, notes)
    if delimiter is None:
        delimiter = _guess_delimiter(text, name, quoting)
    reading, quoted = read_text(text, delimiter, quoting, notes, n_skipped)
    names = None
    if header is None:
        header = bool(reading.rows) and looks_like_header(reading.rows[0], reading.rows[1:200])
        if header:
            notes.append(f"The first line was read as the header: {_shown(reading.rows[0])}.")
    if header and reading.rows:
        names = [cell.strip() for cell in reading.rows[0]]
    first = 1 if header else 0
    if len(reading.rows) <= first:
        raise WorkbenchError(
            f"{name} has no rows{f' below its header ({_shown(names)})' if names else ''}. "
            "Choose a file with at least one row."
        )
    return Table(
        reading.rows[first:],
        list(reading.lines[first:]),
        names,
        delimiter,
        quoted,
        decoded.encoding,
        notes,
    )


def _shown(cells: list[str]) -> str:
    shown = ", ".join(cell[:40] for cell in cells[:12])
    return shown + (", …" if len(cells) > 12 else "")


def _check_delimiter(delimiter: str) -> str:
    delimiter = _DELIMITER_NAMES.get(delimiter, delimiter)
    if len(delimiter) > 1 or delimiter in ('"', "\n", "\r", "\0"):
        raise WorkbenchError(
            f"Delimiter {delimiter!r} cannot be used. Give one character, for example , or ; or tab."
        )
    return delimiter


def _without_comments(
    text: str, name: str, delimiter: str | None, quoting: bool | None, notes: list[str]
) -> tuple[str, int]:
    """The text with the lines above a table that begin with # emptied, and how many these were.

    Lines that can be the header or rows of the table stay.
    """
    if not text.startswith("#"):
        return text, 0
    head = _COMMENTS.match(text)
    lines = head[0].splitlines() if head else []
    rest = text[head.end() :] if head else text
    if not lines or rest.startswith("#"):
        return text, 0
    if delimiter is None:
        delimiter = _guess_delimiter(rest, name, quoting)
    reading, _ = read_text(sample_of(rest), delimiter, quoting, [])
    if not delimiter or reading.width < 2 or reading.share < 0.9:
        return text, 0
    if count_known_names(reading.rows[0]) < 2:
        fitting = [len(line.split(delimiter)) == reading.width for line in lines]
        lines = lines[: fitting.index(True)] if any(fitting) else lines
    if not lines:
        return text, 0
    for _ in lines:
        text = text[re.search(r"\r\n?|\n", text).end() :]  # type: ignore[union-attr]
    some = "line that begins" if len(lines) == 1 else "lines that begin"
    notes.append(
        f"{len(lines)} {some} with # above the table {'was' if len(lines) == 1 else 'were'} skipped."
    )
    return "\n" * len(lines) + text, len(lines)


def _guess_delimiter(text: str, name: str, quoting: bool | None) -> str:
    """The delimiter under which the head of the file is most regular; "" when it is one column."""
    sample = sample_of(text)
    is_txt = name.lower().removesuffix(".gz").endswith(".txt")
    best, best_rank = "", (0, False, False, False, 0.0, 0)
    for delimiter in DELIMITERS:
        if delimiter not in sample:
            continue
        reading, _ = read_text(sample, delimiter, quoting, [])
        n_known = count_known_names(reading.rows[0]) if reading.rows else 0
        # Running text has commas, too: a .txt file needs better evidence than that.
        is_prose = is_txt and delimiter != "\t" and not n_known
        is_title = n_known and len(reading.rows[0]) == 1
        is_regular = reading.width >= 2 and reading.share >= 0.5
        # A header in known words says what the columns are, whatever else stands among the rows.
        if not (is_regular or _has_rows_below_header(reading, n_known)) or is_prose or is_title:
            continue
        rank = (
            n_known,
            delimiter == "\t",
            len(reading.rows[0])
            == reading.width,  # what stands in numbers and texts is not in the header
            _has_number_column(reading),
            round(reading.share, 1),
            reading.width,
        )
        if rank > best_rank:
            best, best_rank = delimiter, rank
    return best


def _has_rows_below_header(reading: Reading, n_known: int) -> bool:
    width = len(reading.rows[0]) if reading.rows else 0
    return n_known >= 2 and width == n_known and sum(len(row) == width for row in reading.rows) > 1


def _has_number_column(reading: Reading) -> bool:
    """Whether some column holds numbers, but for a few cells, as a column of scores does."""
    rows = [row[:50] for row in reading.rows[1:200] or reading.rows if len(row) == reading.width]
    return any(sum(map(is_number, cells)) >= 0.9 * len(cells) for cells in zip(*rows, strict=True))
