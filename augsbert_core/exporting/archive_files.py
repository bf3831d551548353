"""Project archives as zip files: what may be in one, and a reader that trusts none of it.

An archive holds manifest.json, project.db, README.md, recipes/run-N.toml and cards/….md. Whoever reads one has
it from somewhere else: names, sizes and hashes are checked before anything is unpacked, and nothing is unpacked
under a name that the archive chose.
"""

import hashlib
import json
import re
import stat
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import IO, Any, BinaryIO

from augsbert_core.errors import WorkbenchError
from augsbert_core.exporting.files import Entry, write_zip
from augsbert_core.progress import Report, ShouldStop, never, silent, stop_if

FORMAT, FORMAT_VERSION = "augsbert-project", 1
MANIFEST, DATABASE = "manifest.json", "project.db"

MEMBERS = re.compile(
    r"manifest\.json|project\.db|README\.md|recipes/run-\d{1,18}\.toml|cards/[a-z]+(-\d{1,18})?\.md"
)
FOLDERS = {"recipes/", "cards/"}
"""What a tool that packs an unpacked archive again may add."""

MOST_MEMBERS = 50_000
LARGEST_MANIFEST = 16 << 20
LARGEST_TEXTS = 256 << 20
LARGEST_DATABASE = 64 << 30
HARMLESS, MOST_RATIO = 32 << 20, 200
"""A larger member that grows by more than this factor is no database of sentences, but made to fill a disk."""

CHUNK = 1 << 20

Source = Path | BinaryIO


@dataclass(frozen=True)
class Manifest:
    """What an archive says of itself. members: name → sha256 of its bytes. migrations: of project.db, in order."""

    project: str
    workbench_version: str
    created_at: str
    migrations: tuple[str, ...]
    counts: dict[str, int]
    members: dict[str, str] = field(default_factory=dict)


# --- writing ---------------------------------------------------------------------------------------


def write_archive(path: Path, manifest: Manifest, members: Mapping[str, Path | bytes]) -> None:
    """Write an archive, whole or not at all; the hashes of the members are added to the manifest.

    WorkbenchError: the file is there already, does not end in .zip, or cannot be written.
    """
    if path.suffix.lower() != ".zip":
        raise WorkbenchError(f"{path} does not end in .zip. Name a new .zip file for the archive.")
    told = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "workbench_version": manifest.workbench_version,
        "created_at": manifest.created_at,
        "project": manifest.project,
        "migrations": list(manifest.migrations),
        "counts": manifest.counts,
        "members": {name: {"sha256": _hash_of(source)} for name, source in members.items()},
    }
    text = json.dumps(told, indent=2, ensure_ascii=False).encode("utf-8")
    entries = [Entry(MANIFEST, text), *(Entry(*member) for member in members.items())]
    try:
        write_zip(entries, path)
    except OSError as error:
        raise WorkbenchError(
            f"{path} cannot be written ({error}). Choose another place."
        ) from error


def _hash_of(source: Path | bytes) -> str:
    if isinstance(source, bytes):
        return hashlib.sha256(source).hexdigest()
    with source.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --- reading ---------------------------------------------------------------------------------------


def read_manifest(source: Source) -> Manifest:
    """What an archive says of itself, after its list of files was checked; nothing is unpacked.

    WorkbenchError: it is no archive of a project, damaged, made to do harm, or of a newer format.
    """
    with _opened(source) as archive:
        return _manifest(archive, _members(archive))


def unpack_database(
    source: Source, target: Path, report: Report = silent, should_stop: ShouldStop = never
) -> Manifest:
    """Write the archive's database to `target`, a path of ours, and check the bytes of every member.

    WorkbenchError: as for `read_manifest`, and when a member is not the one that the manifest speaks of.
    """
    with _opened(source) as archive:
        members = _members(archive)
        manifest = _manifest(archive, members)
        with target.open("wb") as file:
            for name, info in members.items():
                if name != MANIFEST:
                    kept = file if name == DATABASE else None
                    found = _unpack(archive, info, kept, report, should_stop)
                    if found != manifest.members[name]:
                        raise WorkbenchError(
                            f"{name} in the archive is not the file that was exported: its content has changed. "
                            "Export the project again."
                        )
    return manifest


def unpacked_size(source: Source) -> int:
    """How many bytes the archive's database says it takes."""
    with _opened(source) as archive:
        return _members(archive)[DATABASE].file_size


@contextmanager
def _opened(source: Source) -> Iterator[zipfile.ZipFile]:
    """The zip file, with all that can go wrong in it as one sentence."""
    if not isinstance(source, Path):
        source.seek(0)
    try:
        with zipfile.ZipFile(source) as archive:
            yield archive
    except FileNotFoundError as error:
        raise WorkbenchError(
            f"There is no file {source}. Name a project archive (.zip)."
        ) from error
    except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, NotImplementedError) as error:
        raise _damaged(error) from error
    except OSError as error:
        raise WorkbenchError(f"The archive cannot be read ({error}).") from error
    except (RuntimeError, ValueError, OverflowError) as error:
        # zipfile's own words for passwords and for sizes that cannot be
        raise _damaged(error) from error
    except Exception as error:
        if type(error).__module__ != "zlib":
            raise
        raise _damaged(error) from error


def _damaged(error: Exception) -> WorkbenchError:
    return WorkbenchError(
        f"This is no project archive, or it is damaged ({error}). Choose a .zip file that the workbench exported."
    )


def _members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """The files of an archive by name, after a look at each one's name, kind and size."""
    infos = archive.infolist()
    if len(infos) > MOST_MEMBERS:
        raise WorkbenchError(f"The archive holds {len(infos):,} files, more than any project has.")
    found: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        name = info.orig_filename  # as it stands in the file; zipfile cuts at NUL
        if name in FOLDERS and not info.file_size:
            continue
        _check_member(name, info)
        if name in found:
            raise WorkbenchError(f"The archive holds {name} twice. Export the project again.")
        found[name] = info
    for name in (MANIFEST, DATABASE):
        if name not in found:
            raise WorkbenchError(
                f"The archive has no {name}, so it is no project archive. Choose a .zip file that "
                "`augsbert export project` has written."
            )
    texts = sum(info.file_size for name, info in found.items() if name != DATABASE)
    if texts > LARGEST_TEXTS:
        raise WorkbenchError("The cards and recipes of the archive are larger than any could be.")
    return found


def _check_member(name: str, info: zipfile.ZipInfo) -> None:
    if not MEMBERS.fullmatch(name):
        raise WorkbenchError(
            f"The archive holds a file {name[:80]!r}, which no project archive has. Nothing was unpacked."
        )
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise WorkbenchError(f"{name} in the archive is a link or a device, not a file.")
    if info.flag_bits & 0x1:
        raise WorkbenchError(f"{name} in the archive has a password. Pack it without one.")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise WorkbenchError(f"{name} in the archive is packed in a way that exports never are.")
    most = {MANIFEST: LARGEST_MANIFEST, DATABASE: LARGEST_DATABASE}.get(name, LARGEST_TEXTS)
    grows = info.file_size > HARMLESS and info.file_size > MOST_RATIO * max(info.compress_size, 1)
    if info.file_size > most or grows:
        raise WorkbenchError(
            f"{name} in the archive would unpack to {info.file_size:,} bytes from {info.compress_size:,}, "
            "which no project does. Nothing was unpacked."
        )


def _unpack(
    archive: zipfile.ZipFile,
    info: zipfile.ZipInfo,
    target: IO[bytes] | None,
    report: Report,
    should_stop: ShouldStop,
) -> str:
    """Read a member to its end and return its sha256; target: where the bytes go, if anywhere."""
    digest, n_read = hashlib.sha256(), 0
    with archive.open(info) as member:
        while chunk := member.read(CHUNK):
            stop_if(should_stop)
            n_read += len(chunk)
            if n_read > info.file_size:
                raise WorkbenchError(f"{info.filename} in the archive is longer than it says.")
            digest.update(chunk)
            if target is not None:
                target.write(chunk)
                report(n_read / max(info.file_size, 1), "Unpacking the archive")
    if n_read != info.file_size:
        raise WorkbenchError(f"{info.filename} in the archive ends too early. Export it again.")
    return digest.hexdigest()


# --- the manifest ----------------------------------------------------------------------------------


def _manifest(archive: zipfile.ZipFile, members: Mapping[str, zipfile.ZipInfo]) -> Manifest:
    with archive.open(members[MANIFEST]) as file:
        data = file.read(LARGEST_MANIFEST + 1)
    try:
        told = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise WorkbenchError(f"{MANIFEST} in the archive is no JSON. Export it again.") from error
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise WorkbenchError(
            "This zip file is no project archive: its manifest names another format. Choose a .zip file that "
            "`augsbert export project` has written."
        )
    version: Any = told.get("format_version")
    if not _is_count(version) or version < 1:
        raise _unreadable("format_version")
    if version > FORMAT_VERSION:
        raise WorkbenchError(
            f"The archive was made by a newer workbench (format {version}; this one reads up to {FORMAT_VERSION}). "
            "Update the workbench, then import it."
        )
    manifest = _built(told)
    if manifest.members.keys() != members.keys() - {MANIFEST}:
        odd = sorted(manifest.members.keys() ^ (members.keys() - {MANIFEST}))[0]
        raise WorkbenchError(
            f"The archive and its manifest do not agree on {odd[:80]!r}. Export the project again."
        )
    return manifest


def _built(told: Mapping[str, Any]) -> Manifest:
    """The manifest after a look at the type of every value."""
    texts = {}
    for name in ("project", "workbench_version", "created_at"):
        value = told.get(name)
        if not isinstance(value, str) or len(value) > 200 or not value.isprintable():
            raise _unreadable(name)
        texts[name] = value
    if not _is_moment(texts["created_at"]):
        raise _unreadable("created_at")
    migrations, counts, members = (told.get(name) for name in ("migrations", "counts", "members"))
    if not _are_texts(migrations):
        raise _unreadable("migrations")
    if not isinstance(counts, dict) or not all(map(_is_count, counts.values())):
        raise _unreadable("counts")
    if not isinstance(members, dict) or not all(
        isinstance(one, dict) and isinstance(one.get("sha256"), str) for one in members.values()
    ):
        raise _unreadable("members")
    hashes = {name: one["sha256"] for name, one in members.items()}
    return Manifest(**texts, migrations=tuple(migrations or ()), counts=counts, members=hashes)


def _is_moment(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**62


def _unreadable(name: str) -> WorkbenchError:
    return WorkbenchError(f"{MANIFEST} in the archive has no proper {name!r}. Export it again.")
