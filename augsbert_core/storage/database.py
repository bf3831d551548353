"""Open the workspace: a folder with the database, the models and the logs.

Connections are short: one per operation (the server of a class uses them again: `idle_connections`). WAL lets readers go
on while one writer writes; a write takes BEGIN IMMEDIATE, so that two writers queue up instead of failing half-way.
"""

import errno
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from sqlite_utils import Database

from augsbert_core.errors import WorkbenchError
from augsbert_core.storage.idle_connections import IDLE, file_key
from augsbert_core.storage.schema import is_up_to_date, migrate

__all__ = [
    "Begin",
    "Database",
    "Workspace",
    "WorkspaceBusy",
    "WorkspaceFull",
    "WorkspaceLost",
    "backup",
    "columns",
    "default_home",
    "is_no_room",
    "joining",
    "making",
    "now",
    "open_workspace",
    "reading",
    "trouble_of",
    "writing",
    "writing_often",
]

BUSY_SECONDS = 60.0
"""How long a write waits for another one; the longest write, an import, takes seconds."""

ASK_AGAIN_SECONDS = 0.004

ROOM_BYTES = 1 << 20
"""With less room than this on the disk, a file that cannot be made or grown is taken for a sign of a full disk."""

NO_ROOM = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}
"""What SQLite says, besides SQLITE_FULL, when not even the small files beside a database find room."""


class WorkspaceBusy(WorkbenchError):
    """A write could not begin, because somebody else was writing all the time."""

    def __init__(self) -> None:
        super().__init__(
            "The workspace is busy: another long write is going on in it. Nothing was saved; wait for it to end and try "
            "again."
        )


class WorkspaceFull(WorkbenchError):
    """The disk has no room for what was to be written, or even for what SQLite needs to read."""

    def __init__(self) -> None:
        super().__init__(
            "The disk that holds the workspace is full. Make room and try again; what was saved stays."
        )


class WorkspaceLost(WorkbenchError):
    """The database was there when the workspace was opened, and is no longer."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"The database {path} is gone. Put it back, or a backup of it; without it, the next start begins a new one. "
            "Files beside it are kept."
        )


@dataclass(frozen=True)
class Workspace:
    """Where everything of one user lives: `AUGSBERT_HOME`, default ./workspace."""

    home: Path

    @property
    def database(self) -> Path:
        return self.home / "workbench.db"

    @property
    def models(self) -> Path:
        return self.home / "models"

    @property
    def logs(self) -> Path:
        return self.home / "logs"

    def run_folder(self, run_id: int) -> Path:
        """Where a training run keeps its model and checkpoints."""
        return self.models / f"run-{run_id}"


def default_home() -> Path:
    """The workspace folder that the environment names."""
    return Path(os.environ.get("AUGSBERT_HOME", "workspace")).expanduser().resolve()


def open_workspace(home: Path | None = None) -> Workspace:
    """Create the folder and bring its database up to date; cheap when both are there already.

    WorkbenchError: the folder cannot be written, or the database was made by a newer version. WorkspaceFull: there is no
    room.
    """
    workspace = Workspace(home or default_home())
    try:
        for folder in (workspace.home, workspace.models, workspace.logs):
            folder.mkdir(parents=True, exist_ok=True)
        if workspace.database.exists():
            with reading(workspace) as db:  # it does not wait for somebody else's long import
                if is_up_to_date(db):
                    return workspace
        with making(workspace) as db:
            migrate(db)
    except (OSError, sqlite3.DatabaseError) as error:
        if is_no_room(error):
            raise WorkspaceFull from error
        raise WorkbenchError(
            f"The workspace {workspace.home} cannot be used ({error}). "
            "Choose another folder with AUGSBERT_HOME or --home."
        ) from error
    return workspace


def is_no_room(error: BaseException, folder: Path | None = None) -> bool:
    """Whether an error means that a disk is full. folder: on the disk in question, for words that may mean other things."""
    if isinstance(error, OSError):
        return error.errno == errno.ENOSPC
    if not isinstance(error, sqlite3.Error):
        return False
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in NO_ROOM and folder is not None:
        with suppress(OSError):
            return shutil.disk_usage(folder).free < ROOM_BYTES
    return code == sqlite3.SQLITE_FULL


def trouble_of(error: BaseException) -> str:
    """One sentence about an error of the disk or the database, "" for any other error."""
    if isinstance(error, WorkbenchError):
        return str(error)
    if is_no_room(error, default_home()):
        return str(WorkspaceFull())
    if isinstance(error, sqlite3.DatabaseError):
        return f"The workspace's database cannot be used ({error}). Try again; if it stays so, go back to a backup of it."
    return ""


@contextmanager
def _told(workspace: Workspace) -> Iterator[None]:
    """Say in our words that the disk is full."""
    try:
        yield
    except sqlite3.Error as error:
        if is_no_room(error, workspace.home):
            raise WorkspaceFull from error
        raise


def _connect(workspace: Workspace, *, make: bool = False) -> sqlite3.Connection:
    """A connection to a database that is there; SQLite would make an empty one else. make: it may be missing."""
    if not make and not workspace.database.exists():
        raise WorkspaceLost(workspace.database)
    with _told(workspace):
        return _connected(workspace)


def _connected(workspace: Workspace) -> sqlite3.Connection:
    connection = sqlite3.connect(
        workspace.database,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,  # one thread at a time: IdleConnections
    )
    try:
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA cache_size = -65536")
        connection.execute("PRAGMA temp_store = MEMORY")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def reading(workspace: Workspace) -> Iterator[Database]:
    """A short connection for reading; every statement in it sees one state of the database.

    WorkspaceFull: there is no room, not even for reading. WorkspaceLost: the database is gone.
    """
    with _told(workspace):
        key = file_key(workspace.database)
        connection = IDLE.take(key) or _connect(workspace)
        try:
            connection.execute("BEGIN")
            yield Database(connection, execute_plugins=False)
            connection.execute("ROLLBACK")
        except BaseException:
            connection.close()
            raise
        IDLE.give_back(key, connection)


@contextmanager
def writing(workspace: Workspace, patience: float = BUSY_SECONDS) -> Iterator[Database]:
    """One write transaction: all of it is kept, or, when the block raises, none of it.

    patience: seconds to wait for others who write. WorkspaceBusy: they wrote all that time. WorkspaceFull: there is no
    room. WorkspaceLost: the database is gone.
    """
    with writing_often(workspace, patience) as begin, begin() as db:
        yield db


@contextmanager
def making(workspace: Workspace) -> Iterator[Database]:
    """A write transaction in a database that is made when it is missing."""
    with writing_often(workspace, make=True) as begin, begin() as db:
        yield db


@contextmanager
def joining(store: Workspace | Database) -> Iterator[Database]:
    """The caller's own write transaction when it hands one in, else one of its own."""
    if isinstance(store, Database):
        yield store
    else:
        with writing(store) as db:
            yield db


Begin = Callable[..., AbstractContextManager[Database]]


@contextmanager
def writing_often(
    workspace: Workspace,
    patience: float = BUSY_SECONDS,
    *,
    make: bool = False,
) -> Iterator[Begin]:
    """Several write transactions over one connection, which keeps what it has read: `with begin() as db`.

    `begin(looking=True)` sees one state of the database and writes temporary tables alone; others write meanwhile.
    make: the database may be missing.
    """
    with _told(workspace), closing(_connect(workspace, make=make)) as connection:

        @contextmanager
        def begin(*, looking: bool = False) -> Iterator[Database]:
            with _told(workspace):
                if looking:
                    connection.execute("BEGIN")
                else:
                    _begin(connection, patience)
                try:
                    yield Database(connection, execute_plugins=False)
                    connection.execute("COMMIT")
                except BaseException:
                    # Without room, SQLite may have ended it by itself.
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise

        yield begin


def _begin(connection: sqlite3.Connection, patience: float) -> None:
    """Begin to write, waiting `patience` seconds for others at most. WorkspaceBusy: they wrote all that time.

    SQLite itself asks ever more seldom, up to every 0.1 s, and a job that writes a lot pauses for less than that: whoever
    sits at a page would wait for seconds.
    """
    until = time.monotonic() + patience
    connection.execute("PRAGMA busy_timeout = 0")
    while True:
        try:
            connection.execute("BEGIN IMMEDIATE")
            break
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            if time.monotonic() > until:
                raise WorkspaceBusy from None
            time.sleep(ASK_AGAIN_SECONDS)
    connection.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000:.0f}")


def columns(
    db: Database, query: str, values: Sequence[Any] | dict[str, Any], dtype: type
) -> np.ndarray:
    """The rows of a query as one array of shape (columns, rows), without a Python object per row.

    dtype: one for all columns; float64 holds ids exactly, too. NULLs are an error.
    """
    cursor = db.conn.cursor()
    cursor.row_factory = None
    rows = cursor.execute(query, values)
    table: np.ndarray = np.fromiter(chain.from_iterable(rows), dtype=dtype)
    return table.reshape(-1, len(rows.description)).T


def backup(workspace: Workspace, target: Path) -> None:
    """Copy the database to `target` while others go on using it (SQLite's online backup).

    WorkbenchError: target exists or cannot be written.
    """
    try:
        if target.exists():
            raise WorkbenchError(f"{target} exists already. Name a new file for the backup.")
        with (
            closing(_connect(workspace)) as source,
            closing(sqlite3.connect(target)) as copy,
        ):
            source.backup(copy)
    except (OSError, ValueError, sqlite3.OperationalError) as error:
        raise WorkbenchError(f"The backup {target} cannot be written ({error}).") from error


def now() -> str:
    """The present moment as the database stores it: UTC, ISO 8601, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
