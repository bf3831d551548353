"""Bytes of a file to text: which encoding, and a clear word when it is not text at all."""

import codecs
import re
from dataclasses import dataclass

from augsbert_core.errors import WorkbenchError

REPLACEMENT = "\ufffd"
_AS_TABLE = "Save its table as CSV, TSV or .xlsx and import that."
_UNPACK = "Unpack it and import what is inside."
_FOREIGN_STARTS = (
    (
        b"\xd0\xcf\x11\xe0",
        "an old Excel or Word document, or one with a password",
        "Save it as .xlsx or CSV without a password and import that.",
    ),
    (b"%PDF-", "a PDF document", _AS_TABLE),
    (b"SQLite format 3\x00", "an SQLite database", "Export the table as CSV and import that."),
    (b"\x89PNG", "an image", _AS_TABLE),
    (b"\xff\xd8\xff", "an image", _AS_TABLE),
    (b"GIF87a", "an image", _AS_TABLE),
    (b"GIF89a", "an image", _AS_TABLE),
    (b"{\\rtf", "an RTF document", _AS_TABLE),
    (b"\x93NUMPY", "a NumPy array", _AS_TABLE),
    (b"\x89HDF\r\n", "an HDF5 file", _AS_TABLE),
    (b"\xfd7zXZ\x00", "an xz archive", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive", _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    (b"Rar!\x1a\x07", "a RAR archive", _UNPACK),
    (b"\x5d\x00\x00\x80\x00", "an LZMA archive", _UNPACK),
    (b"\x1f\x9d", "a compressed file (.Z)", _UNPACK),
    (
        b"version https://git-lfs.github.com/spec/",
        "a pointer to a file in Git LFS, not the file itself",
        "Fetch the file with git lfs pull, or download it again.",
    ),
)
_BZIP2 = re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)")
_XML_SHEET = re.compile(rb"<office:document\b|<\?mso-application\s+progid=.Excel|<Workbook\s+xmlns")
_WEB_PAGE = re.compile(rb"\s*(?:<!doctype html|<html[\s>])", re.IGNORECASE)
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
_HIGH_BYTE = re.compile(rb"[\x80-\xff]")
_UNDEFINED_IN_CP1252 = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
# What no Western European text has: three and more accented letters in a row; four signs; and inside a word signs, undefined
# bytes, or a capital after a small letter. Apostrophes, dashes and dots do stand between letters.
_ODD_IN_CP1252 = re.compile(
    rb"[\x8a\x8c\x8e\x9a\x9c\x9e\x9f\xc0-\xd6\xd8-\xf6\xf8-\xff\x81\x83\x8d\x8f\x90\x9d\xaa\xb2\xb3\xb5\xb9\xba]{3,}"
    rb"|[\x80-\xff]{4,}"
    rb"|(?<=[a-z\xdf-\xf6\xf8-\xff])[\x81-\x84\x86-\x90\x93\x94\x98\x9b\x9d\x9f-\xac\xae\xaf\xb1-\xb6\xb8-\xd6\xd8-\xde](?=[a-z\xdf-\xf6\xf8-\xff])"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_SAMPLE_BYTES = 256 * 1024
# Encodings of one byte a character, and of the Far East, by the languages they are used for.
OLDER_ENCODINGS = {
    "cp1252": "Western European",
    "cp1250": "Central European",
    "cp1251": "Cyrillic",
    "cp1253": "Greek",
    "cp1254": "Turkish",
    "cp1255": "Hebrew",
    "cp1256": "Arabic",
    "cp1257": "Baltic",
    "koi8_r": "Cyrillic, KOI8-R",
    "cp932": "Japanese, Shift-JIS",
    "euc_jp": "Japanese, EUC-JP",
    "gb18030": "Simplified Chinese",
    "big5": "Traditional Chinese",
    "cp949": "Korean, EUC-KR",
    "mac_roman": "Western European, old Mac",
    "cp850": "Western European, DOS",
}


@dataclass(frozen=True)
class Decoded:
    """The text of a file, the encoding that gave it, and what a user should know about it."""

    text: str
    encoding: str
    notes: list[str]


def decode(data: bytes, name: str, encoding: str | None = None) -> Decoded:
    """The text of a file without byte order mark, NUL bytes and lone surrogates; what was mended is in the notes.

    encoding: None looks for a byte order mark, then tries UTF-16 without a mark, UTF-8, and the likeliest of
    `OLDER_ENCODINGS`. WorkbenchError when the file is empty, is not text, or is not in the encoding that was named.
    """
    refuse_other_formats(data, name)
    if encoding is not None:
        decoded = _decode_as(data, name, encoding)
    else:
        decoded = _decode_guessing(data, name)
    text, mended = mend(decoded.text.removeprefix("\ufeff"))
    if not text or text.isspace():
        raise WorkbenchError(f"{name} is empty. Choose a file with at least one row.")
    return Decoded(text, decoded.encoding, [*decoded.notes, *mended])


def mend(text: str) -> tuple[str, list[str]]:
    """A text without NUL and without lone surrogates, neither of which can be stored; the notes count them."""
    notes = []
    if n_nul := text.count("\0"):
        text = text.replace("\0", "")
        notes.append(f"{_count(n_nul, 'NUL byte was', 'NUL bytes were')} removed.")
    if _has_surrogates(text):
        text = _SURROGATE_PAIR.sub(_joined, text)
        text, n_lone = _SURROGATE.subn("", text)
        if n_lone:
            notes.append(f"{_count(n_lone, 'lone surrogate was', 'lone surrogates were')} removed.")
    return text, notes


def _has_surrogates(text: str) -> bool:
    if text.isascii():
        return False
    try:
        text.encode("utf-8")  # Much faster than a search.
    except UnicodeEncodeError:
        return True
    return False


def _joined(pair: re.Match[str]) -> str:
    return pair.group().encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def refuse_other_formats(data: bytes, name: str) -> None:
    """WorkbenchError, with what to do, when the bytes are those of a format that no reader here knows."""
    for start, what, remedy in _FOREIGN_STARTS:
        if data.startswith(start):
            raise _foreign(name, what, remedy)
    if data[257:262] == b"ustar" or _is_old_tar(data):
        raise _foreign(name, "a tar archive", _UNPACK)
    if _BZIP2.match(data):
        raise _foreign(name, "a bzip2 archive", _UNPACK)
    if data[:200].lstrip(b"\xef\xbb\xbf \r\n").startswith(b"<?xml") and _XML_SHEET.search(
        data[:2000]
    ):
        raise _foreign(
            name, "a spreadsheet saved as XML", "Save it as .xlsx or CSV and import that."
        )
    if _WEB_PAGE.match(data[:1000]):
        raise _foreign(name, "a web page", "Download the file itself and import that.")


def _is_old_tar(data: bytes) -> bool:
    """Whether the first block is the head of a tar archive without a mark: its sum is written in it."""
    if len(data) < 512 or not data[0]:
        return False
    written = data[148:156].strip(b" \0")
    if not re.fullmatch(rb"[0-7]{1,7}", written):
        return False
    return int(written, 8) == sum(data[:148]) + 8 * ord(" ") + sum(data[156:512])


def _foreign(name: str, what: str, remedy: str) -> WorkbenchError:
    return WorkbenchError(f"{name} cannot be read: it is {what}. {remedy}")


def _decode_as(data: bytes, name: str, encoding: str) -> Decoded:
    unknown = WorkbenchError(
        f"Encoding {encoding[:40]!r} is not known, so {name} was not read. Use a name such as utf-8, utf-16 or cp1252."
    )
    try:
        return Decoded(data.decode(encoding), encoding, [])
    except UnicodeError as error:
        raise WorkbenchError(
            f"{name} cannot be read as {encoding}: {error}. Name another encoding, or none at all."
        ) from None
    except (LookupError, ValueError):
        raise unknown from None


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
    return (
        _utf8_with_surrogates(data)
        or _damaged_utf8(data, first_bad)
        or _older(data, name, first_bad)
    )


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


def wide_encoding(head: bytes) -> str:
    """ "utf-16-le" or "utf-16-be" when the beginning of a text without a mark has NUL bytes as these have, else ""."""
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) < 0.1 * len(head) / 2 or min(even, odd) > max(even, odd) / 10:
        return ""
    return "utf-16-le" if odd > even else "utf-16-be"


def _utf16_without_mark(data: bytes) -> Decoded | None:
    """UTF-16 shows as NUL bytes on one side of most byte pairs, and reads as text with spaces."""
    encoding = wide_encoding(data[:65_536])
    if not encoding:
        return None
    whole = data[: len(data) // 2 * 2]
    notes = [f"Read as {encoding.upper()}, though it has no byte order mark."]
    if len(whole) < len(data):
        notes.append("The last byte is half a character and was left out.")
    try:
        text = whole.decode(encoding)
    except UnicodeDecodeError:
        text = whole.decode(encoding, "replace")
        n_bad = text.count(REPLACEMENT)
        if n_bad > 0.01 * len(text):
            return None
        notes.append(f"{_broken(n_bad)}.")
    # Single-byte text misread as UTF-16 turns into ideographs and has none of these.
    n_gaps = sum(text.count(gap) for gap in " \t\n,;")
    return None if n_gaps < 0.02 * len(text) else Decoded(text, encoding, notes)


def _refuse_binary(data: bytes, name: str, at_most: float) -> None:
    """WorkbenchError when a larger share of the bytes than this are NUL or other control codes."""
    n_control = len(data) - len(data.translate(None, _CONTROL_BYTES)) + data.count(0)
    if n_control > 8 and n_control > at_most * len(data):
        raise _not_text(name, f"{n_control} of its {len(data)} bytes are control codes")


def _utf8_with_surrogates(data: bytes) -> Decoded | None:
    """UTF-8 whose only fault is that surrogates were written as characters, as some programs do."""
    try:
        return Decoded(data.decode("utf-8", "surrogatepass"), "utf-8", [])
    except UnicodeDecodeError:
        return None


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


def _older(data: bytes, name: str, first_bad: int) -> Decoded:
    """Text in one of the encodings from before UTF-8."""
    likely = likely_encodings(_sample(data, first_bad))
    for encoding in (*likely, "cp1252"):
        try:
            return Decoded(data.decode(encoding), encoding, [_read_as(encoding)])
        except UnicodeDecodeError:
            continue
    text = data.decode(likely[0], "replace")
    n_bad = text.count(REPLACEMENT)
    if likely[0] != "cp1252" and n_bad <= 0.03 * len(text):
        return Decoded(text, likely[0], [_read_as(likely[0]), f"{_broken(n_bad)}."])
    undefined = _UNDEFINED_IN_CP1252.search(data)
    place = undefined.start() if undefined else first_bad
    line = data.count(b"\n", 0, place) + 1
    raise _not_text(name, f"byte 0x{data[place]:02x} on line {line} is neither UTF-8 nor cp1252")


def _read_as(encoding: str) -> str:
    title = f"{encoding} ({OLDER_ENCODINGS[encoding]})"
    if encoding == "cp1252":
        return f"Read as {title}, because it is not UTF-8."
    return f"Read as {title}, which fits best: it is not UTF-8. If letters look wrong, choose another encoding."


def likely_encodings(sample: bytes) -> list[str]:
    """The older encodings that a sample can be in, the likeliest first; cp1252 where it reads plausibly.

    sample: bytes that are not UTF-8.
    """
    n_high = len(sample) - len(sample.translate(None, _HIGH_BYTES))
    # A handful of bytes beyond ASCII is nothing to judge by.
    n_odd = sum(map(len, _ODD_IN_CP1252.findall(sample)))
    is_western = n_odd < max(2, 0.12 * n_high) and not _UNDEFINED_IN_CP1252.search(sample)
    if n_high < 4 or is_western:
        return [_cousin_of_cp1252(sample, n_high)]
    # The sample may end in the middle of a character of up to four bytes, or have a broken one in either half.
    half = sample.rfind(b"\n", 0, len(sample) // 2) + 1
    for part in (sample, sample[:-1], sample[:-2], sample[half:], sample[:half]):
        if found := _fitting(part):
            return found
    return ["cp1252"]


def _fitting(sample: bytes) -> list[str]:
    """The older encodings, cp1252 aside, that read a sample as some language, the best first."""
    from charset_normalizer import from_bytes

    others = [encoding for encoding in OLDER_ENCODINGS if encoding != "cp1252"]
    found: dict[str, float] = {}
    for match in from_bytes(sample, cp_isolation=others, enable_fallback=False):
        for encoding in (match.encoding, *match.could_be_from_charset):
            if encoding in others and not _is_misread(sample, encoding):
                found.setdefault(encoding, match.chaos)
    return sorted(found, key=found.__getitem__)


def _cousin_of_cp1252(sample: bytes, n_high: int) -> str:
    """cp1252, or an encoding that differs in a few letters only which no Western language uses so often."""

    def share(letters: bytes) -> float:
        return sum(map(sample.count, (bytes([letter]) for letter in letters))) / n_high

    # ğ, ı, ş stand where Icelandic has ð, ý, þ; Icelandic has á, í, ó, ú as well.
    if share(b"\xf0\xfd\xfe") > 0.2 and share(b"\xe1\xed\xf3\xfa") < 0.05:
        return "cp1254"
    # č, ě, ř, ľ stand where others have è, ì, ø, ¾; who has those has no š and ž.
    if share(b"\x9a\x9e") > 0.05 and share(b"\xe8\xec\xf8\xbe") > 0.08:
        return "cp1250"
    # ő stands where Portuguese and Estonian have õ; those have ã, ç or ä as well.
    if share(b"\xf5") > 0.04 and share(b"\xe1\xe9") > 0.3 and share(b"\xe3\xe4\xe7") < 0.03:
        return "cp1250"
    return "cp1252"


def _is_misread(sample: bytes, encoding: str) -> bool:
    """Whether Chinese was read as Shift-JIS, full of half-width katakana, or as Korean, full of rare hanja."""
    telling = {"cp932": ("\uff61", "\uff9f"), "cp949": ("\u4e00", "\u9fff")}.get(encoding)
    if telling is None:
        return False
    wide = [letter for letter in sample.decode(encoding, "replace") if letter > "\x7f"]
    return sum(telling[0] <= letter <= telling[1] for letter in wide) > 0.2 * len(wide)


def _sample(data: bytes, first: int) -> bytes:
    """Up to 256 kB of the places that have bytes beyond ASCII; no character is cut in two, but perhaps the last."""
    if len(data) <= _SAMPLE_BYTES:
        return data
    parts, size, at = [], 0, first
    while size < _SAMPLE_BYTES and (high := _HIGH_BYTE.search(data, at)):
        start = max(at, high.start() - 500)  # What comes before is ASCII, and may be cut anywhere.
        end = min(high.start() + 4000, len(data))
        # None of these bytes is ever the second half of a character.
        gap = max(data.rfind(gap, high.start(), end) for gap in (b"\n", b" ", b",", b"\t", b";"))
        if gap < 0:
            parts.append(data[start : start + _SAMPLE_BYTES])
            break
        parts.append(data[start:gap])
        size += gap - start
        at = gap
    return b"\n".join(parts)


def _not_text(name: str, why: str) -> WorkbenchError:
    return WorkbenchError(
        f"{name} cannot be read as text: {why}. Save the table as CSV or TSV in UTF-8 and import that."
    )


def _broken(n: int) -> str:
    return _count(n, "character is", "characters are") + f" broken and shown as {REPLACEMENT}"


def _count(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"
