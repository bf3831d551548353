"""A text cut into rows of cells, with double quotes around cells or in the text.

Which of the two is decided by reading the text both ways. STS Benchmark files are tab-separated without
quoting and have stray double quotes: a quoting reader swallows line ends there (5,711 rows instead
of 5,749), while a real CSV falls apart without quoting.
"""

import contextlib
import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

# The default limit of 131,072 characters a cell is a process-wide setting that turns a long cell into
# an error. It is raised once here, never restored: setting it back and forth would race in threads.
csv.field_size_limit(2**31 - 1)


@dataclass(frozen=True)
class Reading:
    """One way to cut a text into rows. bad_quote: line of the first misplaced quote, 0 for none."""

    rows: list[list[str]]
    lines: Sequence[int]
    n_lines: int
    bad_quote: int = 0

    @cached_property
    def width(self) -> int:
        """The number of cells that most rows have."""
        counts = Counter(map(len, filter(None, self.rows)))
        return max(counts, key=lambda width: (counts[width], width), default=0)

    @cached_property
    def share(self) -> float:
        """The share of rows, blank ones aside, that have the usual number of cells."""
        counts = Counter(map(len, filter(None, self.rows)))
        return counts[self.width] / max(counts.total(), 1)

    def n_bad_lines(self, extra_allowed: bool) -> int:
        """Lines in rows of unusual width; where quotes are misplaced, lines in joined rows too."""
        ends = [*self.lines[1:], self.n_lines + 1]
        return sum(
            end - start
            for row, start, end in zip(self.rows, self.lines, ends, strict=True)
            if 0 < len(row) < self.width
            or (len(row) > self.width and not extra_allowed)
            or (self.bad_quote and end - start > 1)
        )


def read_text(
    text: str, delimiter: str, quoting: bool | None, notes: list[str], n_skipped: int = 0
) -> tuple[Reading, bool]:
    """The rows and whether quoting was used; adds to the notes what a user should know.

    n_skipped: lines that were emptied before, which the notes have told.
    """
    reading, quoted = _choose_quoting(text, delimiter, quoting, notes)
    if quoted and reading.bad_quote:
        notes.append(
            f"A double quote on line {reading.bad_quote} is misplaced or never closed; rows that it "
            "would have joined were read line by line."
        )
        reading = _unjoin(text, reading, delimiter)
    return _without_blank_lines(reading, delimiter, notes, n_skipped), quoted


def _choose_quoting(
    text: str, delimiter: str, quoting: bool | None, notes: list[str]
) -> tuple[Reading, bool]:
    if quoting is True:
        return _read_quoted(text, delimiter), True
    # A quote means something only where a cell begins; elsewhere both readings agree.
    opens = any(start + '"' in text for start in ("\n", "\r", delimiter) if start)
    if quoting is False or not (opens or text.startswith('"')):
        return _read_plain(text, delimiter), False
    quoted = _read_quoted(text, delimiter)
    is_perfect = not quoted.bad_quote and quoted.share == 1.0
    if is_perfect and delimiter != "\t":
        plain, wins = None, True  # No other reading can be better, so none is tried.
    else:
        plain = _read_plain(text, delimiter)
        wins = _quoting_wins(plain, quoted, delimiter)
    n_quoted = _n_rows(quoted)
    if wins or plain is None:
        notes.append(f"Double quotes were read as CSV quoting: {n_quoted} rows.")
        return quoted, True
    n_plain = _n_rows(plain)
    notes.append(
        f"Double quotes were read as part of the text: that keeps {n_plain} rows on {n_plain} lines"
        + (f", a quoting reader finds {n_quoted}." if n_quoted != n_plain else ".")
    )
    return plain, False


def _n_rows(reading: Reading) -> int:
    return sum(map(bool, reading.rows))


def _quoting_wins(plain: Reading, quoted: Reading, delimiter: str) -> bool:
    """Whether the reading with quoting keeps line count and column count better."""
    if _has_wrapped_column(plain):
        return True
    is_tab = delimiter == "\t"
    if quoted.bad_quote and not is_tab and _is_mostly_closed(plain):
        return True
    n_plain, n_quoted = (reading.n_bad_lines(is_tab) for reading in (plain, quoted))
    if quoted.bad_quote or not is_tab:
        return n_quoted < n_plain or (n_quoted == n_plain and not quoted.bad_quote)
    if n_quoted != n_plain:
        return n_quoted < n_plain
    if len(plain.rows) != len(quoted.rows):
        return plain.width != quoted.width
    # Same rows and widths: in a TSV quotes count as quoting only where something needed them.
    doubled = any('""' in cell[1:-1] and _is_wrapped(cell) for row in plain.rows for cell in row)
    # So does a tab inside quotes, which the other reading takes for one column more.
    return doubled or plain.width != quoted.width or quoted.share > plain.share


def _has_wrapped_column(plain: Reading) -> bool:
    """Whether some column is wrapped in quotes nearly throughout, as writers that quote all do."""
    rows = [row for row in plain.rows[:2000] if len(row) == plain.width]
    if plain.width > 1000:
        return False
    shares = [
        sum(_is_wrapped(row[column]) for row in rows) / len(rows) for column in range(plain.width)
    ]
    # In a handful of rows a column may be all quotations by chance, but not every column.
    return min(shares, default=0) == 1 or (len(rows) >= 5 and max(shares) > 0.8)


def _is_mostly_closed(plain: Reading) -> bool:
    """Whether nearly all quotes that open a cell are closed at the end of one, so that the others are slips."""
    n_opened = n_closed = 0
    for row in plain.rows[:2000]:
        is_open = False
        for cell in row[:1000]:
            if cell.startswith('"'):
                n_opened += 1
                is_open = True
            if is_open and cell.endswith('"') and cell != '"':
                n_closed += 1
                is_open = False
    return n_opened >= 5 and n_closed > 0.8 * n_opened


def _is_wrapped(cell: str) -> bool:
    return len(cell) > 1 and cell[0] == cell[-1] == '"'


def _read_plain(text: str, delimiter: str) -> Reading:
    # Not str.splitlines: it would also cut at form feeds and at U+2028 inside sentences.
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not lines[-1]:
        lines.pop()
    rows = [line.split(delimiter) if line else [] for line in lines] if delimiter else _cells(lines)
    return Reading(rows, range(1, len(lines) + 1), len(lines))


def _cells(lines: list[str]) -> list[list[str]]:
    return [[line] if line else [] for line in lines]


def _read_quoted(text: str, delimiter: str) -> Reading:
    try:
        return _collect(text, delimiter, strict=True)
    except _BadQuote as error:
        bad_line = error.line
    lenient = _collect(text, delimiter, strict=False)
    return Reading(lenient.rows, lenient.lines, lenient.n_lines, bad_line)


class _BadQuote(Exception):
    def __init__(self, line: int) -> None:
        self.line = line


def _collect(text: str, delimiter: str, strict: bool) -> Reading:
    delimiter = _csv_delimiter(text, delimiter)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=strict)
    with contextlib.suppress(csv.Error):
        whole = list(reader)
        if reader.line_num == len(whole):  # a row a line: no line has to be counted
            return Reading(whole, range(1, len(whole) + 1), len(whole))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=strict)
    rows: list[list[str]] = []
    lines: list[int] = []
    line = 1
    try:
        for row in reader:
            rows.append(row)
            lines.append(line)
            line = reader.line_num + 1
    except csv.Error:
        raise _BadQuote(line) from None
    return Reading(rows, lines, reader.line_num)


def _csv_delimiter(text: str, delimiter: str) -> str:
    """csv insists on a delimiter; one that the text does not contain leaves one cell a line."""
    unused = (c for c in map(chr, range(0xE000, 0xF900)) if c not in text)
    return delimiter or next(unused, "\U0010fffd")


def _unjoin(text: str, reading: Reading, delimiter: str) -> Reading:
    """Read the lines of joined rows one by one where most then have the usual width.

    One quote that is never closed would otherwise swallow all rows below it.
    """
    physical = list(io.StringIO(text, newline=""))
    delimiter = _csv_delimiter(text, delimiter)
    rows: list[list[str]] = []
    lines: list[int] = []
    ends = [*reading.lines[1:], reading.n_lines + 1]
    for row, start, end in zip(reading.rows, reading.lines, ends, strict=True):
        parts = [row]
        if end - start > 1:
            single = [_one_line(line, delimiter) for line in physical[start - 1 : end - 1]]
            if sum(len(part) == reading.width for part in single) * 2 >= len(single):
                parts = single
        rows.extend(parts)
        lines.extend(range(start, start + len(parts)))
    return Reading(rows, lines, reading.n_lines, reading.bad_quote)


def _one_line(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter), [])


def _without_blank_lines(
    reading: Reading, delimiter: str, notes: list[str], n_skipped: int
) -> Reading:
    # White space alone is a row only where each line is a cell.
    is_blank = [
        not row or (delimiter != "" and len(row) == 1 and row[0].isspace()) for row in reading.rows
    ]
    n_blank = sum(is_blank)
    if not n_blank:
        return reading
    if n_blank > n_skipped:
        n_told = n_blank - n_skipped
        notes.append(f"{n_told} blank line{' was' if n_told == 1 else 's were'} skipped.")
    kept = [place for place, blank in enumerate(is_blank) if not blank]
    return Reading(
        [reading.rows[place] for place in kept],
        [reading.lines[place] for place in kept],
        reading.n_lines,
        reading.bad_quote,
    )
