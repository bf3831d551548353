"""A disk without room, for tests: SQLite says what it says on a real one."""

import shutil
import sqlite3
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest

from augsbert_core.storage import database
from augsbert_core.storage.database import BUSY_SECONDS, Workspace

SENTENCE = (
    "The disk that holds the workspace is full. Make room and try again; what was saved stays."
)
LONG = "x" * 19_000
"""Needs more room than a database has left in its last pages."""

Usage = namedtuple("Usage", "total used free")


def no_room_to_write(patch: pytest.MonkeyPatch) -> None:
    """Databases can be read, but not grow."""
    connected = database._connected

    def full(workspace: Workspace) -> sqlite3.Connection:
        connection = connected(workspace)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    patch.setattr(database, "_connected", full)


def no_room_at_all(patch: pytest.MonkeyPatch, free: int = 0) -> None:
    """Not even the small files beside a database find room, without which it cannot be read."""

    def full(_workspace: Workspace) -> sqlite3.Connection:
        raise sqlite_error("disk I/O error", sqlite3.SQLITE_IOERR_SHMSIZE)

    patch.setattr(database, "_connected", full)
    patch.setattr(shutil, "disk_usage", lambda _path: Usage(10**9, 10**9 - free, free))


def fails_at(patch: pytest.MonkeyPatch, statement: str, *, rolls_back: bool = False) -> None:
    """The disk is full when a statement comes. rolls_back: SQLite has taken the transaction back then."""

    class Failing(sqlite3.Connection):
        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            if sql == statement:
                if rolls_back:
                    super().execute("ROLLBACK")
                raise sqlite_error("database or disk is full", sqlite3.SQLITE_FULL)
            return super().execute(sql, *values)

    def connected(workspace: Workspace) -> sqlite3.Connection:
        connection = sqlite3.connect(
            workspace.database, timeout=BUSY_SECONDS, isolation_level=None, factory=Failing
        )
        connection.row_factory = sqlite3.Row
        return connection

    patch.setattr(database, "_connected", connected)


def sqlite_error(text: str, code: int) -> sqlite3.OperationalError:
    """An error as SQLite raises it."""
    error = sqlite3.OperationalError(text)
    error.sqlite_errorcode = code
    return error


def files_in(folder: Path) -> set[str]:
    """The names of what lies in a folder."""
    return {path.name for path in folder.iterdir()}
