"""Whose turn it is in a class to start a job, held by one process at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from augsbert_core.storage.class_database import (
    Classroom,
    Seat,
    is_closing_in,
    present_class,
    seat_from,
    writing_soon,
)
from augsbert_core.storage.database import BUSY_SECONDS, Database, reading, writing


def mark_busy(room: Classroom, folder: str) -> None:
    """Note that the desk in this folder has jobs."""
    with writing(room) as db:
        db.execute("UPDATE seat SET busy = 1 WHERE folder = ?", [folder])


def busy_seats(room: Classroom) -> list[Seat]:
    """The seats that may have jobs which run or wait, whoever has waited longest since their last start first."""
    with reading(room) as db:
        return _busy_seats(db)


@dataclass(frozen=True)
class Turn:
    """The right to start jobs for the class, held by one process at a time."""

    seats: list[Seat]
    most_jobs: int | None
    closing: bool
    _db: Database

    def started(self, seat: Seat) -> None:
        """A job of this seat has started: it goes to the end of the line."""
        self._db.execute(
            "UPDATE seat SET last_turn = (SELECT max(last_turn) + 1 FROM seat) WHERE number = ?",
            [seat.number],
        )

    def idle(self, seat: Seat) -> None:
        """The seat has no jobs that run or wait."""
        self._db.execute("UPDATE seat SET busy = 0 WHERE number = ?", [seat.number])


@contextmanager
def turn(room: Classroom, patience: float = BUSY_SECONDS) -> Iterator[Turn]:
    """Hold the class's turn. A write transaction: it ends with its process, however that ends.

    Busy: another process has held it for all of `patience` seconds.
    """
    with writing_soon(room, patience) as db:
        found = db.execute("SELECT most_jobs FROM settings").fetchone()[0]
        yield Turn(_busy_seats(db), found, is_closing_in(db), db)


def _busy_seats(db: Database) -> list[Seat]:
    rows = db.execute(
        "SELECT * FROM seat WHERE busy AND class_id = ? ORDER BY last_turn, number",
        [present_class(db)],
    )
    return [seat_from(row) for row in rows.fetchall()]
