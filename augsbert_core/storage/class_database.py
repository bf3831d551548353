"""The class database: its tables, what a class and a seat are, and how codes and tokens are kept.

It lies beside the workspaces that it knows, in a file of its own with its own migrations.
"""

import hashlib
import hmac
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlite_utils import Database, Migrations

from augsbert_core.storage.database import Workspace, WorkspaceBusy, now, writing
from augsbert_core.storage.records import record

migrations = Migrations("augsbert-class")


@migrations()
def seats(db: Database) -> None:
    """Classes, seats, the tokens that open them, and the settings of the server."""
    for statement in SEATS.split(";\n\n"):
        db.execute(statement)


# AUTOINCREMENT: the number of a seat names its folder, in this class and in all that come after.
SEATS = """
CREATE TABLE class (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    began_at TEXT NOT NULL,
    ended_at TEXT,
    closing INTEGER NOT NULL DEFAULT 0,
    archive TEXT
);

CREATE TABLE seat (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    class_id INTEGER NOT NULL REFERENCES class,
    name TEXT NOT NULL,
    key TEXT NOT NULL,
    folder TEXT NOT NULL UNIQUE,
    is_teacher INTEGER NOT NULL DEFAULT 0,
    code TEXT,
    wrong INTEGER NOT NULL DEFAULT 0,
    locked_until TEXT,
    busy INTEGER NOT NULL DEFAULT 0,
    last_turn INTEGER NOT NULL DEFAULT 0,
    came_at TEXT NOT NULL,
    seen_at TEXT NOT NULL,
    UNIQUE (class_id, key)
);

CREATE TABLE token (
    hash TEXT PRIMARY KEY,
    seat INTEGER NOT NULL REFERENCES seat ON DELETE CASCADE
) WITHOUT ROWID;

CREATE TABLE settings (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    most_jobs INTEGER,
    teacher_code TEXT
);

INSERT INTO settings (id) VALUES (1)
"""


@dataclass(frozen=True)
class Classroom(Workspace):
    """A folder that a class shares: its database, and one workspace for each seat."""

    @property
    def database(self) -> Path:
        return self.home / "class.db"

    @property
    def desks(self) -> Path:
        """Where the workspaces of the present class are."""
        return self.home / "class"


@dataclass(frozen=True)
class Seat:
    """Somebody's place in the present class. folder: of the workspace, inside `Classroom.desks`.

    busy: may have jobs that run or wait. last_turn: grows with every start of a job, 0 before the first.
    """

    number: int
    name: str
    folder: str
    is_teacher: bool
    locked_until: str | None
    busy: bool
    last_turn: int
    came_at: str
    seen_at: str

    def workspace(self, room: Classroom) -> Workspace:
        """Its folder; `open_workspace` makes it."""
        return Workspace(room.desks / self.folder)


def classroom_of(workspace: Workspace) -> Classroom | None:
    """The class that a workspace is a desk of, None for any other workspace."""
    home = workspace.home
    if home.parent.name != "class":
        return None
    room = Classroom(home.parent.parent)
    return room if room.database.is_file() else None


class Busy(Exception):
    """Another process holds the class database."""


@contextmanager
def writing_soon(room: Classroom, patience: float) -> Iterator[Database]:
    """A write transaction. Busy: others wrote for all of `patience` seconds."""
    begun = False
    try:
        with writing(room, patience) as db:
            begun = True
            yield db
    except WorkspaceBusy:
        if begun:  # another database
            raise
        raise Busy from None


def seat_from(row: Any) -> Seat:
    """A row of the table as a record."""
    found = record(Seat, row)
    return replace(found, is_teacher=bool(found.is_teacher), busy=bool(found.busy))


def present_class(db: Database) -> int | None:
    """The present class, None before there is one."""
    row = db.execute("SELECT id FROM class WHERE ended_at IS NULL").fetchone()
    return int(row[0]) if row else None


def is_closing_in(db: Database) -> bool:
    """Whether the present class is about to end."""
    return bool(db.execute("SELECT closing FROM class WHERE ended_at IS NULL").fetchone()[0])


def begin_class(db: Database) -> None:
    """Begin a class, when there is none."""
    db.execute("INSERT INTO class (began_at) VALUES (?)", [now()])


def token_hash(token: str) -> str:
    """Tokens are long and random, so one plain digest is enough."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def hashed(code: str) -> str:
    """A code as it is stored: salted, and slow to try."""
    salt = secrets.token_bytes(16)
    return f"{salt.hex()}${_slow_hash(code, salt)}"


def fits(code: str, stored: str | None) -> bool:
    """Whether a code is the stored one."""
    salt, _, digest = (stored or "").partition("$")
    if not digest:
        return False
    return hmac.compare_digest(_slow_hash(code, bytes.fromhex(salt)), digest)


def _slow_hash(code: str, salt: bytes) -> str:
    return hashlib.scrypt(code.encode("utf-8", "replace"), salt=salt, n=2**14, r=8, p=1).hex()
