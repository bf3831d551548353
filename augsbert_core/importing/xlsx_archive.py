"""An Excel workbook as the zip archive that it is: is it one, and is it safe to open?"""

import io
import re
import zipfile

from augsbert_core.errors import WorkbenchError

_ZIP = b"PK\x03\x04"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MAX_BYTES = 1024**3
_MAX_MEMBERS = 10_000
# Sheets of repeated numbers are packed well over 100 times; so small a file never needs so much.
_MAX_RATIO, _RATIO_FROM = 300, 100 * 1024**2
_PIECE = 1 << 20
_ENCODING = re.compile(rb"""^[^<]{0,4}<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]+)["']""")
_MEMBER = re.compile(rb"PK\x03\x04.{26}xl/", re.DOTALL)
_PLAIN_ENCODINGS = {b"utf-8", b"utf8", b"us-ascii", b"ascii", b"iso-8859-1"}


def looks_like_excel(data: bytes) -> bool:
    """Whether a file is an Excel workbook, of the old binary and the password-protected kinds too."""
    if data.startswith(_OLE):
        return any(_utf16(stream) in data for stream in ("Workbook", "Book", "EncryptedPackage"))
    if not data.startswith(_ZIP):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = {name.lower() for name in archive.namelist()}
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        # A truncated archive has lost its list of members, but each has its name before it, too.
        return _MEMBER.search(data) is not None
    return "[content_types].xml" in names and bool({"xl/workbook.xml", "xl/workbook.bin"} & names)


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-le") + b"\0\0"


def check_workbook(data: bytes, name: str) -> None:
    """WorkbenchError: the bytes are no .xlsx workbook, or one that is unsafe to open (it would unpack to gigabytes, or
    its XML defines entities)."""
    if data.startswith(_OLE):
        if _utf16("EncryptedPackage") in data:
            raise WorkbenchError(
                f"{name} is protected with a password. Remove the password in the spreadsheet program and save it again."
            )
        raise WorkbenchError(
            f"{name} is a workbook of the old kind (.xls). Open it in a spreadsheet program and save it as .xlsx or CSV."
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            _check_kind(name, {member.filename.lower() for member in members})
            _check_size(name, members)
            for member in members:
                if member.filename.lower().endswith((".xml", ".rels", ".vml")):
                    _check_xml(archive, member, name)
    except WorkbenchError:
        raise
    except Exception as error:  # noqa: BLE001 (zipfile and its decompressors fail in unrelated ways)
        raise damaged(name, error) from None


def damaged(name: str, error: BaseException) -> WorkbenchError:
    """What to say of a workbook that cannot be read."""
    why = " ".join(str(error).split())[:150].rstrip(".") or type(error).__name__
    return WorkbenchError(
        f"{name} is damaged or incomplete and cannot be read as an Excel workbook ({why}). Open it in a spreadsheet "
        "program and save it again, as .xlsx or CSV."
    )


def _check_kind(name: str, names: set[str]) -> None:
    if "xl/workbook.bin" in names:
        raise WorkbenchError(
            f"{name} is a binary workbook (.xlsb). Open it in a spreadsheet program and save it as .xlsx or CSV."
        )
    if "xl/workbook.xml" not in names:
        raise WorkbenchError(f"{name} is a zip archive, but no Excel workbook.")


def _check_size(name: str, members: list[zipfile.ZipInfo]) -> None:
    # zipfile never unpacks more of a member than its entry declares, so the sum can be trusted.
    unpacked = sum(member.file_size for member in members)
    packed = max(sum(member.compress_size for member in members), 1)
    if (
        unpacked > _MAX_BYTES
        or len(members) > _MAX_MEMBERS
        or (unpacked > _RATIO_FROM and unpacked > _MAX_RATIO * packed)
    ):
        raise WorkbenchError(
            f"{name} would unpack from {packed / 1024**2:,.1f} MB to {unpacked / 1024**2:,.0f} MB, which no honest "
            "workbook of that size does, so it was not opened. Save the sheet as CSV and import that."
        )


def _check_xml(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> None:
    """Workbooks define no entities; a file that does is out to exhaust the memory or to read other files."""
    tail = b""
    with archive.open(member) as stream:
        while piece := stream.read(_PIECE):
            if not tail:
                _check_encoding(piece, name)
            text = tail + piece
            if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
                raise _unsafe(name)
            tail = text[-16:]


def _check_encoding(start: bytes, name: str) -> None:
    """An unusual encoding could hide a definition from a search for its bytes; spreadsheet programs write UTF-8."""
    declared = _ENCODING.match(start)
    is_wide = b"\0" in start[:4] or start.startswith((b"\xff\xfe", b"\xfe\xff"))
    if is_wide or (declared and declared[1].lower() not in _PLAIN_ENCODINGS):
        raise _unsafe(name)


def _unsafe(name: str) -> WorkbenchError:
    return WorkbenchError(
        f"{name} holds XML that no spreadsheet program writes (entity definitions or a rare encoding), so it was not "
        "opened. Save the sheet as CSV and import that."
    )
