"""Bytes of a file to text: which encoding, and a clear word when it is not text at all."""

import codecs
from dataclasses import dataclass

from augsbert_core.errors import WorkbenchError

REPLACEMENT = "\ufffd"
_BINARY_STARTS = (
    (b"PK\x03\x04", "a zip archive or an Excel workbook"),
    (b"\xd0\xcf\x11\xe0", "an old Excel or Word document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"%PDF-", "a PDF document"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\x89PNG", "an image"),
)
_BYTE_ORDER_MARKS = (
    # The mark of UTF-32 begins with the mark of UTF-16, so it is looked for first.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)
_CONTROL_BYTES = bytes(sorted((set(range(1, 32)) - set(b"\t\n\x0b\x0c\r")) | {127}))
_HIGH_BYTES = bytes(range(128, 256))


@dataclass(frozen=True)
class Decoded:
    """The text of a file, the encoding that gave it, and what a user should know about it."""

    text: str
    encoding: str
    notes: list[str]


def decode(data: bytes, name: str, encoding: str | None = None) -> Decoded:
    """The text of a file without byte order mark and NUL bytes; what was mended is in the notes.

    encoding: None looks for a byte order mark, then tries UTF-16 without a mark, UTF-8, and cp1252.
    WorkbenchError when the file is empty, is not text, or is not in the encoding that was named.
    """
    _refuse_other_formats(data, name)
    if encoding is not None:
        decoded = _decode_as(data, name, encoding)
    else:
        decoded = _decode_guessing(data, name)
    text, notes = decoded.text.removeprefix("\ufeff"), list(decoded.notes)
    if n_nul := text.count("\0"):
        text = text.replace("\0", "")
        notes.append(f"{_count(n_nul, 'NUL byte was', 'NUL bytes were')} removed.")
    if not text or text.isspace():
        raise WorkbenchError(f"{name} is empty. Choose a file with at least one row.")
    return Decoded(text, decoded.encoding, notes)


def _refuse_other_formats(data: bytes, name: str) -> None:
    for start, what in _BINARY_STARTS:
        if data.startswith(start):
            raise _not_text(name, f"it is {what}")
    if data.startswith(b"PAR1") and data.endswith(b"PAR1"):
        raise _not_text(name, "it is a Parquet file")


def _decode_as(data: bytes, name: str, encoding: str) -> Decoded:
    try:
        return Decoded(data.decode(encoding), encoding, [])
    except LookupError:
        raise WorkbenchError(
            f"Encoding {encoding!r} is not known. Use a name such as utf-8, utf-16 or cp1252."
        ) from None
    except UnicodeError as error:
        raise WorkbenchError(
            f"{name} cannot be read as {encoding}: {error}. Name another encoding, or none at all."
        ) from None


def _decode_guessing(data: bytes, name: str) -> Decoded:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _decode_marked(data, name, encoding)
    if wide := _utf16_without_mark(data):
        return wide
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        _refuse_binary(data, name, at_most=0.03)
        first_bad = error.start
    else:
        if "\0" in text:
            _refuse_binary(data, name, at_most=0.3)
        return Decoded(text, "utf-8", [])
    return _damaged_utf8(data, first_bad) or _cp1252(data, name)


def _decode_marked(data: bytes, name: str, encoding: str) -> Decoded:
    """A file with a byte order mark; a few broken characters are replaced and counted."""
    note = f"Read as {encoding.removesuffix('-sig').upper()}, as its byte order mark says."
    text = data.decode(encoding, "replace")
    try:
        data.decode(encoding)
        return Decoded(text, encoding, [note])
    except UnicodeError:
        n_bad = text.count(REPLACEMENT)
    if n_bad > 8 and n_bad > 0.03 * len(text):
        raise _not_text(name, f"it starts like {encoding} text but is not")
    return Decoded(text, encoding, [note, f"{_broken(n_bad)}."])


def _utf16_without_mark(data: bytes) -> Decoded | None:
    """UTF-16 shows as NUL bytes on one side of most byte pairs, and reads as text with spaces."""
    sample = data[:65_536]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if (
        len(data) % 2
        or max(even, odd) < 0.1 * len(sample) / 2
        or min(even, odd) > max(even, odd) / 10
    ):
        return None
    encoding = "utf-16-le" if odd > even else "utf-16-be"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    # Single-byte text misread as UTF-16 turns into ideographs and has none of these.
    n_gaps = sum(text.count(gap) for gap in " \t\n,;")
    if n_gaps < 0.02 * len(text):
        return None
    return Decoded(
        text, encoding, [f"Read as {encoding.upper()}, though it has no byte order mark."]
    )


def _refuse_binary(data: bytes, name: str, at_most: float) -> None:
    """WorkbenchError when a larger share of the bytes than this are NUL or other control codes."""
    n_control = len(data) - len(data.translate(None, _CONTROL_BYTES)) + data.count(0)
    if n_control > 8 and n_control > at_most * len(data):
        raise _not_text(name, f"{n_control} of its {len(data)} bytes are control codes")


def _damaged_utf8(data: bytes, first_bad: int) -> Decoded | None:
    """UTF-8 in which a few bytes are broken: the good multi-byte characters outnumber the bad."""
    text = data.decode("utf-8", "replace")
    n_bad = text.count(REPLACEMENT) - data.count(REPLACEMENT.encode())
    n_ascii = len(data.translate(None, _HIGH_BYTES))
    n_good = len(text) - n_ascii - n_bad
    if n_good <= n_bad:
        return None
    line = data.count(b"\n", 0, first_bad) + 1
    return Decoded(text, "utf-8", [f"{_broken(n_bad)}, the first on line {line}."])


def _cp1252(data: bytes, name: str) -> Decoded:
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _not_text(
            name,
            f"byte 0x{data[error.start]:02x} on line {line} is neither UTF-8 nor cp1252",
        ) from None
    return Decoded(text, "cp1252", ["Read as cp1252 (Western European), because it is not UTF-8."])


def _not_text(name: str, why: str) -> WorkbenchError:
    return WorkbenchError(
        f"{name} cannot be read as text: {why}. Save the table as CSV or TSV in UTF-8 and import that."
    )


def _broken(n: int) -> str:
    return _count(n, "character is", "characters are") + f" broken and shown as {REPLACEMENT}"


def _count(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"
