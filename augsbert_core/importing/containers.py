"""Files inside files: what a gzip or zip archive holds, unpacked in memory and within bounds.

Archives are known by their first bytes, never by their name. Names of members are shown and compared, never opened
as paths. An Excel workbook is a zip archive, too, and is left as it is.
"""

import gzip
import io
import lzma
import stat
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import IO, NamedTuple

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.file_names import shown_name

UNPACKED_LIMIT = 2 * 1024**3
"""How many bytes an archive may unpack to."""
_HARMLESS_BYTES = 64 * 1024**2
_BOMB_RATIO = 200
_CHUNK = 1024**2
_GZIP_START = b"\x1f\x8b"
_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_DATA_ENDINGS = frozenset(
    [
        ".csv",
        ".tsv",
        ".tab",
        ".txt",
        ".psv",
        ".dat",
        ".json",
        ".jsonl",
        ".ndjson",
        ".parquet",
        ".pq",
        ".xlsx",
        ".xlsm",
    ]
)
_PAPERS = ("readme", "license", "licence", "copying", "notice", "changelog", "citation", "metadata")
_OFFICE = (
    ("word/", "a Word document", "Copy its table into a spreadsheet, save that as CSV or .xlsx"),
    ("ppt/", "a PowerPoint presentation", "Save its table as CSV or .xlsx"),
    ("xl/workbook.bin", "a binary Excel workbook (.xlsb)", "Save it as .xlsx or CSV"),
    ("xl/", "", ""),
)
# Everything that zipfile and the decompressors raise for archives that are damaged or not what they claim to be.
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    gzip.BadGzipFile,
    EOFError,
    OSError,
    struct.error,
    UnicodeError,
    ValueError,
    OverflowError,
    IndexError,
)


class Unpacked(NamedTuple):
    """The bytes to read, the name for messages, notes, the names of all data files, and which one this is.

    sheet: what was asked for and is no member of the archive, so that it must be inside of this file.
    """

    data: bytes
    name: str
    notes: list[str]
    members: list[str]
    member: str = ""
    sheet: str | None = None


def unpack(data: bytes, name: str, sheet: str | None = None) -> Unpacked:
    """The one file to read: the data themselves, or what a gzip or zip archive holds.

    sheet: the name of a member of a zip archive; None takes the only one that can hold a table. Bytes of any other
    format, Excel workbooks included, come back as they are. WorkbenchError: the archive is damaged, has a password,
    unpacks to too much, holds archives, or holds several files and none was named.
    """
    if is_gzip(data):
        inner = _gunzip(data, name)
        _refuse_nested(inner, name, "another archive")
        return Unpacked(inner, name, ["Unpacked with gzip."], [], "", sheet)
    if not is_zip(data):
        return Unpacked(data, name, [], [], "", sheet)
    with _open_zip(data, name) as archive:
        if _is_workbook(archive, name):
            _refuse_large(archive, name)
            return Unpacked(data, name, [], [], "", sheet)
        files, links = _files_in(archive)
        tables = _with_tables(list(files))
        member, rest = _choose(list(files), tables, sheet, name)
        inner = _read_member(archive, files[member], name, _Budget(name, len(data)))
    _refuse_nested(inner, name, f"another archive ({_short(member)})")
    others = [other for other in tables if other != member]
    note = f"{_short(member)} was read from the zip archive"
    note += f"; {_listed(others)} {'was' if len(others) == 1 else 'were'} not." if others else "."
    notes = [note]
    if links:
        verb = "is a link and was" if len(links) == 1 else "are links and were"
        notes.append(f"{_listed(links)} {verb} not followed.")
    known = tables if member in tables else [*tables, member]
    return Unpacked(inner, f"{name}/{_short(member)}", notes, known, member, rest)


def members(data: bytes) -> list[str]:
    """The files of a zip archive that can hold a table; [] for anything else, damaged archives included."""
    if not is_zip(data):
        return []
    try:
        with _open_zip(data, "") as archive:
            return [] if _is_workbook(archive, "") else _with_tables(list(_files_in(archive)[0]))
    except WorkbenchError:
        return []


def expand(data: bytes, name: str) -> list[tuple[str, bytes]]:
    """Every file with a table that an archive holds, as (name, data); the file itself when it is no archive.

    The names of members are free of folders and control characters, and no two are the same; the file's own is as
    `shown_name` writes it. Links are left out. WorkbenchError: as `unpack`.
    """
    name = shown_name(name)
    if not is_zip(data):
        unpacked = unpack(data, name)
        plain = name[:-3] if is_gzip(data) and name.lower().endswith(".gz") else name
        return [(plain, unpacked.data)]
    with _open_zip(data, name) as archive:
        if _is_workbook(archive, name):
            _refuse_large(archive, name)
            return [(name, data)]
        files, _ = _files_in(archive)
        chosen = _with_tables(list(files)) or list(files)
        if not chosen:
            raise _holds_nothing(name)
        budget = _Budget(name, len(data))
        found = [_read_member(archive, files[member], name, budget) for member in chosen]
    for member, inner in zip(chosen, found, strict=True):
        _refuse_nested(inner, name, f"another archive ({_short(member)})")
    return list(zip(_flat_names(chosen), found, strict=True))


def is_gzip(data: bytes) -> bool:
    return data.startswith(_GZIP_START)


def is_zip(data: bytes) -> bool:
    """Whether the bytes begin as a zip archive does, and as an Excel workbook does."""
    return data.startswith(_ZIP_STARTS)


class _Budget:
    """Counts unpacked bytes, and stops before they are too many for the memory or for the archive's size."""

    def __init__(self, name: str, packed: int) -> None:
        self.name, self.packed, self.unpacked = name, packed, 0

    def spend(self, count: int) -> None:
        self.unpacked += count
        if self.unpacked > UNPACKED_LIMIT:
            raise WorkbenchError(
                f"{self.name} unpacks to more than {UNPACKED_LIMIT // 1024**3} GB. "
                "Unpack it and import a part of it."
            )
        if self.unpacked > max(_HARMLESS_BYTES, _BOMB_RATIO * self.packed):
            raise WorkbenchError(
                f"{self.name} unpacks to more than {_BOMB_RATIO} times its size, as only broken or malicious archives "
                "do. If you trust it, unpack it yourself and import what is inside."
            )


def _read_all(stream: IO[bytes] | gzip.GzipFile, budget: _Budget) -> bytes:
    out = io.BytesIO()
    while chunk := stream.read(_CHUNK):
        budget.spend(len(chunk))
        out.write(chunk)
    return out.getvalue()


def _gunzip(data: bytes, name: str) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            return _read_all(stream, _Budget(name, len(data)))
    except EOFError:
        raise WorkbenchError(
            f"{name} is a gzip archive that ends too early. Download or copy it again."
        ) from None
    except _DAMAGED:
        raise WorkbenchError(
            f"{name} is a damaged gzip archive. Download or pack it again."
        ) from None


def _open_zip(data: bytes, name: str) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(io.BytesIO(data))
    except (*_DAMAGED, NotImplementedError):
        raise WorkbenchError(
            f"{name} is a damaged zip archive. Download or pack it again."
        ) from None


def _is_workbook(archive: zipfile.ZipFile, name: str) -> bool:
    """Whether this is an Excel workbook; WorkbenchError when it is another office document."""
    names = archive.namelist()
    if "[Content_Types].xml" in names:
        for start, what, remedy in _OFFICE:
            if any(member.startswith(start) for member in names):
                if what:
                    raise WorkbenchError(
                        f"{name} cannot be read: it is {what}. {remedy} and import that."
                    )
                return True
    if "mimetype" in names and "content.xml" in names:
        raise WorkbenchError(
            f"{name} cannot be read: it is an OpenDocument file. Save it as .xlsx or CSV and import that."
        )
    if any(member in names for member in ("Index/Document.iwa", "Index.zip", "index.apxl")):
        raise WorkbenchError(
            f"{name} cannot be read: it is an Apple Numbers or Pages document. Export it as CSV or .xlsx and import that."
        )
    return False


def _files_in(archive: zipfile.ZipFile) -> tuple[dict[str, zipfile.ZipInfo], list[str]]:
    """The members that a person packed, by a name that is safe to show and that no other has; and the links."""
    found: dict[str, zipfile.ZipInfo] = {}
    links: list[str] = []
    for info in archive.infolist():
        parts = info.filename.replace("\\", "/").split("/")
        hidden = any(part.startswith((".", "__MACOSX")) and part != ".." for part in parts)
        hidden = hidden or parts[-1].lower() in ("thumbs.db", "desktop.ini")
        if info.is_dir() or not parts[-1] or hidden:
            continue
        name = _shown(info.filename)
        if stat.S_ISLNK(info.external_attr >> 16):
            links.append(name)  # What it holds is the name of another file.
        else:
            found[_free(name, found)] = info
    return found, links


def _free(name: str, taken: dict[str, zipfile.ZipInfo]) -> str:
    """A name that is not taken: of two members "a.csv" the second is "a (2).csv"."""
    if name not in taken:
        return name
    stem, dot, ending = name.rpartition(".")
    number = 2
    while (other := f"{stem} ({number}){dot}{ending}" if stem else f"{name} ({number})") in taken:
        number += 1
    return other


def _shown(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in text)


def _with_tables(names: list[str]) -> list[str]:
    """The members that look as if they held a table: by their ending, and not a readme."""
    paths = [PurePosixPath(name.lower().replace("\\", "/")) for name in names]
    return [
        name
        for name, path in zip(names, paths, strict=True)
        if (path.suffix in _DATA_ENDINGS or path.suffix == ".gz")
        and not path.name.startswith(_PAPERS)
    ]


def _choose(
    names: list[str], tables: list[str], sheet: str | None, name: str
) -> tuple[str, str | None]:
    """The member to read, and the sheet to look for inside of it."""
    if not names:
        raise _holds_nothing(name)
    one = tables if len(tables) == 1 else names if len(names) == 1 else []
    if sheet is None:
        if one:
            return one[0], None
        raise WorkbenchError(
            f"{name} holds {len(tables or names)} files: {_listed(tables or names)}. Choose one of them "
            "(--sheet NAME), or unpack the archive."
        )
    for same in (
        lambda member: member == sheet,
        lambda member: member.lower() == sheet.lower(),
        lambda member: PurePosixPath(member.lower()).name == sheet.lower(),
    ):
        if len(found := [member for member in names if same(member)]) == 1:
            return found[0], None
    if one and one[0].lower().endswith((".xlsx", ".xlsm")):
        return one[0], sheet  # Then it is a sheet of this workbook that was named.
    raise WorkbenchError(
        f"{name} holds no file {_short(_shown(sheet))!r}, but {_listed(tables or names)}. Choose one of these."
    )


def _read_member(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, budget: _Budget
) -> bytes:
    shown = _short(_shown(info.filename))
    if info.flag_bits & 0x41:
        raise WorkbenchError(
            f"{name} is protected with a password. Unpack it and import what is inside."
        )
    try:
        with archive.open(info) as stream:
            return _read_all(stream, budget)
    except NotImplementedError:
        raise WorkbenchError(
            f"{name}: {shown} is packed in a way that is not known here. Unpack it and import what is inside."
        ) from None
    except (*_DAMAGED, RuntimeError):
        raise WorkbenchError(
            f"{name} is a damaged zip archive: {shown} cannot be unpacked. Download or pack it again."
        ) from None


def _refuse_large(archive: zipfile.ZipFile, name: str) -> None:
    """WorkbenchError when the parts of a workbook unpack to too much; zipfile reads no more than is declared."""
    for info in archive.infolist():
        _Budget(name, info.compress_size).spend(info.file_size)
    budget = _Budget(name, sum(info.compress_size for info in archive.infolist()))
    budget.spend(sum(info.file_size for info in archive.infolist()))


def _refuse_nested(data: bytes, name: str, what: str) -> None:
    if is_gzip(data):
        nested = True
    elif is_zip(data):
        with _open_zip(data, name) as archive:
            nested = not _is_workbook(archive, name)
            _refuse_large(archive, name)
    else:
        nested = False
    if nested:
        raise WorkbenchError(f"{name} holds {what}. Unpack it once and import what is inside.")


def _holds_nothing(name: str) -> WorkbenchError:
    return WorkbenchError(
        f"{name} is a zip archive without any file. Choose one that holds a table."
    )


def _flat_names(names: Sequence[str]) -> list[str]:
    """Names without folders; the folders are joined on with "-" where names would be the same."""
    parts = [
        [part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")]
        or ["file"]
        for name in names
    ]
    last = Counter(some[-1] for some in parts)
    flat = [some[-1] if last[some[-1]] == 1 else "-".join(some) for some in parts]
    seen: set[str] = set()
    for place, name in enumerate(flat):
        number = 2
        while flat[place] in seen:
            flat[place] = f"{number}-{name}"
            number += 1
        seen.add(flat[place])
    return flat


def _short(name: str) -> str:
    return name if len(name) <= 80 else f"…{name[-79:]}"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(_short(name) for name in names[:12])
    return shown + (f" and {len(names) - 12} more" if len(names) > 12 else "")
