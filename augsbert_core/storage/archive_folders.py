"""Folders that an export or import of a project works in, and what is left of those whose process was killed."""

import contextlib
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from augsbert_core.storage.database import Workspace

PREFIXES = (".export-", ".import-")

OWNER = "owner"
"""A small database that the owner of a folder keeps locked. The system lets go of the lock when a process ends, in
whatever way, so no pid has to be compared with another one."""

YOUNG_SECONDS = 3600.0
"""A folder whose owner has not got as far as its lock is left alone for so long."""


@contextmanager
def working_folder(workspace: Workspace, prefix: str) -> Iterator[Path]:
    """A new folder in the workspace that is gone afterwards; those of dead processes go now.

    prefix: one of `PREFIXES`.
    """
    sweep_folders(workspace)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=workspace.home) as name:
        folder = Path(name)
        with closing(sqlite3.connect(folder / OWNER, isolation_level=None)) as lock:
            lock.execute("PRAGMA locking_mode = EXCLUSIVE")
            lock.execute("PRAGMA journal_mode = MEMORY")
            lock.execute("BEGIN EXCLUSIVE")
            lock.execute("CREATE TABLE lock (held)")
            lock.execute("COMMIT")
            yield folder


def sweep_folders(workspace: Workspace) -> list[str]:
    """Remove the folders whose owner is dead; returns their names. Never raises: it tidies, no more."""
    removed = []
    with contextlib.suppress(OSError):
        for folder in sorted(workspace.home.iterdir()):
            if folder.name.startswith(PREFIXES) and _is_abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)
                removed.append(folder.name)
    return removed


def _is_abandoned(folder: Path) -> bool:
    """Whether nobody holds the lock. An owner's file has content from the moment on at which it is locked."""
    owner = folder / OWNER
    try:
        if folder.is_symlink() or not folder.is_dir():
            return False
        if not owner.is_file() or not owner.stat().st_size:
            return time.time() - folder.stat().st_mtime > YOUNG_SECONDS
        with closing(sqlite3.connect(owner, isolation_level=None, timeout=0)) as lock:
            lock.execute("BEGIN EXCLUSIVE")
        return True
    except (OSError, sqlite3.Error):
        return False
