"""Files out: CSV that spreadsheets open without running what is in it, JSON lines, folders and zip files."""

import csv
import errno
import io
import json
import math
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.rows import Rejected

# A spreadsheet takes a cell that starts with one of these for a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def safe_cell(text: str) -> str:
    """The text with a single quote before it when a spreadsheet would take it for a formula."""
    return "'" + text if text.startswith(FORMULA_STARTS) else text


def write_csv(
    file: TextIO,
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    safe: bool = True,
    delimiter: str = ",",
) -> int:
    """Write a header and rows to an open text file; returns the number of rows.

    Numbers stay numbers, None and non-finite numbers become empty cells. safe: texts are escaped by
    `safe_cell`; switch it off for files that programs read. Open files with newline="".
    """
    writer = csv.writer(file, delimiter=delimiter)
    writer.writerow([_cell(name, safe) for name in header])
    n_rows = 0
    for row in rows:
        writer.writerow([_cell(value, safe) for value in row])
        n_rows += 1
    return n_rows


def to_csv(
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    safe: bool = True,
    delimiter: str = ",",
) -> bytes:
    """The file of `write_csv` as UTF-8 bytes, with the byte order mark that Excel needs when safe."""
    file = io.StringIO(newline="")
    write_csv(file, header, rows, safe=safe, delimiter=delimiter)
    return file.getvalue().encode("utf-8-sig" if safe else "utf-8")


def rejected_csv(rejected: Iterable[Rejected]) -> bytes:
    """The rows that an import could not use, with line number and reason, as spreadsheet-safe CSV."""
    return to_csv(
        ("line", "reason", "text"), ((row.line, row.reason, row.text) for row in rejected)
    )


def write_json_lines(file: TextIO, header: Sequence[str], rows: Iterable[Sequence[object]]) -> int:
    """Write one JSON object per row, texts as they are, cells that are None left out; returns the number of rows."""
    n_rows = 0
    for row in rows:
        cells = {name: value for name, value in zip(header, row, strict=True) if value is not None}
        file.write(json.dumps(cells, ensure_ascii=False) + "\n")
        n_rows += 1
    return n_rows


@dataclass(frozen=True)
class Entry:
    """One file of an export. name: its place, with forward slashes.

    source: a file to copy, the content, or a function that writes it to an open text file.
    """

    name: str
    source: Path | bytes | Callable[[TextIO], object]

    @property
    def size(self) -> int | None:
        """In bytes; None when it is only known once written."""
        if isinstance(self.source, Path):
            return self.source.stat().st_size
        return len(self.source) if isinstance(self.source, bytes) else None


def size_text(n_bytes: int) -> str:
    """Bytes for people, "62.5 MB"."""
    size = float(n_bytes)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def entry_bytes(entry: Entry) -> bytes:
    """The content of a small entry."""
    if isinstance(entry.source, Path):
        return entry.source.read_bytes()
    if isinstance(entry.source, bytes):
        return entry.source
    text = io.StringIO(newline="")
    entry.source(text)
    return text.getvalue().encode("utf-8")


def write_file(entry: Entry, path: Path) -> None:
    """Write one file, whole or not at all. WorkbenchError: it is there already, or cannot be written."""
    with whole_file(path) as partial:
        _put(entry, partial)


UNFINISHED = ".augsbert-unfinished-"
"""How the folders begin that hold what is being written, each beside its target."""


def expanded(path: Path) -> Path:
    """The path with a leading ~ as the home folder it stands for. WorkbenchError: there is no such user."""
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise WorkbenchError(
            f"{_shown(path)} begins with the home of someone who is not known here. Write the folder out."
        ) from error


def check_new_file(path: Path) -> None:
    """WorkbenchError: there is such a file already, or it could not be written. Makes nothing."""
    with _explained(path):
        _check_place(path)
    if os.path.lexists(path):
        raise _taken(path)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A place to write a new file to, which gets its name only when all went well; else nothing is left.

    Further files may be written beside that place; they go again. WorkbenchError: there is such a file already,
    also when another has made it meanwhile, or it cannot be written.
    """
    check_new_file(path)
    with _unfinished(path) as work:
        partial = work / "file"
        yield partial
        try:
            _name_file(partial, path)
        except FileExistsError as error:
            raise _taken(path) from error


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A new folder to write to, which gets its name only when all went well; else nothing is left.

    WorkbenchError: the folder holds something already, also when another has filled it meanwhile, or cannot be
    written.
    """
    with _explained(folder):
        _check_place(folder)
        if os.path.lexists(folder) and (not folder.is_dir() or any(folder.iterdir())):
            raise _not_empty(folder)
    target = folder.resolve() if folder.is_dir() else folder
    with _unfinished(target) as work:
        partial = work / "folder"
        partial.mkdir()
        yield partial
        with suppress(OSError):  # an empty one gives way; one that was filled meanwhile does not
            target.rmdir()
        try:
            os.rename(partial, target)
        except OSError as error:
            if error.errno in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
                raise _not_empty(folder) from error
            raise


def _taken(path: Path) -> WorkbenchError:
    return WorkbenchError(f"{_shown(path)} exists already. Name a new file.")


def _not_empty(folder: Path) -> WorkbenchError:
    return WorkbenchError(f"{_shown(folder)} exists already and is not empty. Name a new folder.")


def _name_file(partial: Path, path: Path) -> None:
    """Give a finished file its name. FileExistsError: another has that name; it stays as it is."""
    try:
        os.link(partial, path)
    except FileExistsError:
        raise
    except OSError:
        # This disk has no second names for a file: claim the name first, which only one can.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        try:
            os.replace(partial, path)
        except OSError:
            path.unlink(missing_ok=True)
            raise


def _check_place(path: Path) -> None:
    """OSError, WorkbenchError: a name on the way is none, or there is no folder, or none that we may write to."""
    try:
        os.lstat(path)
    except ValueError as error:  # NUL, or half a character
        raise WorkbenchError(
            f"{_shown(path)} is no name for a file ({error}). Choose another name."
        ) from error
    except FileNotFoundError:
        pass
    else:
        return
    place, names = path, []
    while not os.path.lexists(place) and place != place.parent:
        names.append(place.name)
        place = place.parent
    for name in names:
        with suppress(FileNotFoundError):
            os.lstat(place / name)  # too long, for one
    if not place.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(place))
    if not os.access(place, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))


@contextmanager
def _unfinished(target: Path) -> Iterator[Path]:
    """A folder of our own beside the target, on the same disk; it goes again in any case."""
    with _explained(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            prefix=UNFINISHED, dir=target.parent, ignore_cleanup_errors=True
        ) as work:
            yield Path(work)


def _put(entry: Entry, target: Path) -> None:
    if isinstance(entry.source, Path):
        shutil.copyfile(entry.source, target)
    elif isinstance(entry.source, bytes):
        target.write_bytes(entry.source)
    else:
        with target.open("w", encoding="utf-8", newline="") as file:
            entry.source(file)


def write_folder(entries: Iterable[Entry], folder: Path) -> None:
    """Write the files into a new folder, whole or not at all.

    WorkbenchError: the folder holds something already, or cannot be written.
    """
    with whole_folder(folder) as partial:
        for entry in entries:
            target = partial / entry.name
            target.parent.mkdir(parents=True, exist_ok=True)
            _put(entry, target)


def write_zip(entries: Iterable[Entry], path: Path) -> None:
    """Write the files into a zip file, whole or not at all, file by file and never one whole in memory.

    Weights are stored as they are, since they do not get smaller. WorkbenchError: there is such a file already,
    or it cannot be written.
    """
    with whole_file(path) as partial:
        pack_zip(entries, partial)


def pack_zip(entries: Iterable[Entry], path: Path) -> None:
    """The zip file of `write_zip`, straight to a path of ours. OSError: it cannot be written."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in entries:
            _add_to_zip(archive, entry)


def _add_to_zip(archive: zipfile.ZipFile, entry: Entry) -> None:
    info = zipfile.ZipInfo(entry.name)
    info.external_attr = (
        0o644 << 16
    )  # a model's weights may be private to their owner; a copy is not
    is_packed = entry.name.endswith(".safetensors")
    info.compress_type = zipfile.ZIP_STORED if is_packed else zipfile.ZIP_DEFLATED
    with archive.open(info, "w", force_zip64=True) as target:
        if isinstance(entry.source, Path):
            with entry.source.open("rb") as source:
                shutil.copyfileobj(source, target, 1 << 20)
        elif isinstance(entry.source, bytes):
            target.write(entry.source)
        else:
            text = io.TextIOWrapper(target, encoding="utf-8", newline="")
            entry.source(text)
            text.flush()
            text.detach()


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn a full disk or a forbidden folder into one sentence."""
    try:
        yield
    except OSError as error:
        raise WorkbenchError(
            f"{_shown(path)} cannot be written ({_reason(error, path)}). Choose another place."
        ) from error


def _reason(error: OSError, path: Path) -> str:
    """What went wrong, and where, unless that is the target or the folder of ours beside it."""
    if error.strerror is None:
        return str(error)
    place = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else ""
    told = place and place != str(path) and UNFINISHED not in place
    return f"{error.strerror}: {_shown(Path(place))}" if told else error.strerror


def _shown(path: Path) -> str:
    """The path for people; what cannot be printed as an escape."""
    return str(path) if str(path).isprintable() else repr(str(path))


def _cell(value: object, safe: bool) -> object:
    if isinstance(value, str):
        return safe_cell(value) if safe else value
    if isinstance(value, float) and not math.isfinite(value):
        return ""
    return value
