"""A class: who sits where, by what code and token, and the way from one group to the next.

Codes and tokens are stored as hashes only; a name never becomes a path.
"""

import secrets
import sqlite3
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from augsbert_core.errors import WorkbenchError
from augsbert_core.storage.class_database import (
    Busy,
    Classroom,
    Seat,
    begin_class,
    fits,
    hashed,
    is_closing_in,
    migrations,
    present_class,
    seat_from,
    token_hash,
    writing_soon,
)
from augsbert_core.storage.database import (
    Database,
    WorkspaceFull,
    WorkspaceLost,
    is_no_room,
    making,
    now,
    reading,
    writing,
)

LONGEST_NAME = 60
MOST_SEATS = 200
"""In one class: a script at the door cannot fill the disk with folders."""

TRIES = 5
"""Wrong codes in a row before a seat is locked, for LOCK_MINUTES, then twice as long each time."""

LOCK_MINUTES = 10

TEACHER = "Teacher"
TEACHER_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
NO_NAME = "Type your name first."


def open_classroom(home: Path, tell: Callable[[str], None] = print) -> Classroom:
    """Create the class database, or bring it up to date, and see that there is a class.

    tell: hears of workspaces that the database does not know; they are moved to a folder of their own,
    `class-lost-2026-11-30`. WorkbenchError: the folder cannot be written, or the database is damaged.
    """
    room = Classroom(home)
    try:
        home.mkdir(parents=True, exist_ok=True)
        with making(room) as db:
            if migrations.pending(db):
                migrations.apply(db)
            if present_class(db) is None:
                begin_class(db)
    except sqlite3.DatabaseError as error:
        raise WorkbenchError(
            f"The class in {home} cannot be opened ({error}). {_cure(room)} To begin a new class instead, move "
            f"{room.database.name} away: the workspaces of the old one are kept."
        ) from error
    except OSError as error:
        if is_no_room(error):
            raise WorkspaceFull from error
        raise WorkbenchError(
            f"The class in {home} cannot be opened ({error}). Choose another folder with --home."
        ) from error
    _put_away(room)
    if lost := _put_lost_away(room):
        tell(
            f"{room.database} knows nothing of {len(lost)} workspace{'s' if len(lost) != 1 else ''} in {room.desks}: it "
            f"was lost or replaced. {'They are' if len(lost) != 1 else 'It is'} kept in {lost[0].parent}."
        )
    return room


def _cure(room: Classroom) -> str:
    return f"Stop the server, put a backup of {room.database.name} in its place and start again."


# --- the door --------------------------------------------------------------------------------------


def clean_name(name: str) -> str:
    """A name as it is shown: one line, printable, no space around it, not too long."""
    plain = "".join(c if c.isprintable() else " " for c in unicodedata.normalize("NFKC", name))
    return " ".join(plain.split())[:LONGEST_NAME].strip()


def is_taken(room: Classroom, name: str) -> bool:
    """Whether somebody in the present class has this name. WorkbenchError: it is no name."""
    with reading(room) as db:
        return _seat_named(db, name) is not None


def take_seat(room: Classroom, name: str) -> tuple[str, str]:
    """Give a newcomer a seat; returns the token that opens it and the four-digit code for picking it up again.

    WorkbenchError: the name is taken, empty or the teacher's; the class is full or about to end.
    """
    key = _key(name)
    if key == _key(TEACHER):
        raise WorkbenchError(f"{TEACHER} is the teacher's name. Type your own.")
    code = f"{secrets.randbelow(10_000):04d}"
    stored = hashed(code)
    with writing(room) as db:
        if is_closing_in(db):
            raise WorkbenchError("This class is about to end. Come in when the next one begins.")
        if _seat_named(db, name) is not None:
            raise WorkbenchError(
                f"{clean_name(name)} is here already. If that is you, type your code; if not, add to your name."
            )
        n_seats = db.execute(
            "SELECT count(*) FROM seat WHERE class_id = ? AND NOT is_teacher", [present_class(db)]
        ).fetchone()[0]
        if n_seats >= MOST_SEATS:
            raise WorkbenchError(f"The class is full: {MOST_SEATS} seats are taken.")
        number = _add_seat(db, clean_name(name), key, stored)
        return _new_token(db, number), code


def pick_up_seat(room: Classroom, name: str, code: str) -> str:
    """The token for a seat that was taken before.

    WorkbenchError: nobody has this name, the code is wrong, or it was wrong too often.
    """
    with writing(room) as db:
        row = _seat_named(db, name)
        wrong = "" if row is None else _refusal(db, row, code)
        token = _new_token(db, row["number"]) if row is not None and not wrong else ""
    if row is None:
        raise WorkbenchError(f"Nobody in this class is called {clean_name(name)}.")
    if wrong:  # raised out here: the count of wrong codes stays
        raise WorkbenchError(wrong)
    return token


def _refusal(db: Database, row: sqlite3.Row, code: str) -> str:
    """Why a code does not open a seat, "" when it does; counts what was wrong."""
    if row["locked_until"] and row["locked_until"] > now():
        minutes = _minutes_until(row["locked_until"])
        return (
            f"Too many wrong codes for this name: wait {minutes} minute{'s' if minutes != 1 else ''}, or ask "
            "your teacher for a new code."
        )
    if fits(code.strip(), row["code"]):
        db.execute(
            "UPDATE seat SET wrong = 0, locked_until = NULL WHERE number = ?", [row["number"]]
        )
        return ""
    wrong = row["wrong"] + 1
    rounds, left = divmod(wrong, TRIES)
    locked = None
    if not left:
        locked = _later(minutes=LOCK_MINUTES * 2 ** min(rounds - 1, 10))
    db.execute(
        "UPDATE seat SET wrong = ?, locked_until = ? WHERE number = ?",
        [wrong, locked, row["number"]],
    )
    if locked:
        return "That is not the code, and it was wrong too often: wait, or ask your teacher for a new code."
    more = TRIES - left
    return f"That is not the code of {row['name']}. {more} more {'try' if more == 1 else 'tries'}."


def sit_as_teacher(room: Classroom, code: str) -> str:
    """The token of the teacher's seat. WorkbenchError: the code is not the one printed at the start.

    Wrong codes are not counted: with a limit, any student could keep the teacher out, and there are too many codes for
    all of them to be tried.
    """
    with writing(room) as db:
        right = db.execute("SELECT teacher_code FROM settings").fetchone()[0]
        token = _new_token(db, _teacher_seat(db)) if fits(_letters(code), right) else ""
    if not token:
        raise WorkbenchError(
            "That is not the teacher code. It was printed where the class was started."
        )
    return token


def seat_of(room: Classroom, token: str) -> Seat | None:
    """The seat that a token opens, None when it opens none in the present class.

    WorkbenchError: the database of the class was damaged or removed since the class was opened.
    """
    try:
        with reading(room) as db:
            row = db.execute(
                "SELECT seat.* FROM token JOIN seat ON seat.number = token.seat"
                " JOIN class ON class.id = seat.class_id WHERE token.hash = ? AND class.ended_at IS NULL",
                [token_hash(token)],
            ).fetchone()
    except (sqlite3.DatabaseError, WorkspaceLost) as error:
        cause = "it is gone" if isinstance(error, WorkspaceLost) else str(error)
        raise WorkbenchError(
            f"The class cannot be read from {room.database} ({cause}). Everybody's work is kept in {room.desks}. "
            f"{_cure(room)}"
        ) from error
    return seat_from(row) if row else None


def mark_seen(room: Classroom, number: int) -> None:
    """Note that somebody is at the seat now; nothing while another process writes, as it is noted again soon."""
    with suppress(Busy), writing_soon(room, 0.1) as db:
        db.execute("UPDATE seat SET seen_at = ? WHERE number = ?", [now(), number])


def leave_seat(room: Classroom, token: str) -> None:
    """Make a token worthless; the seat and its other tokens stay."""
    with writing(room) as db:
        db.execute("DELETE FROM token WHERE hash = ?", [token_hash(token)])


def new_code(room: Classroom, number: int, *, keep: str = "") -> str:
    """Give a seat a new code, unlock it, and make its tokens worthless but for `keep`. Returns the code.

    WorkbenchError: there is no such seat in this class, or it is the teacher's.
    """
    code = f"{secrets.randbelow(10_000):04d}"
    stored = hashed(code)
    with writing(room) as db:
        changed = db.execute(
            "UPDATE seat SET code = ?, wrong = 0, locked_until = NULL"
            " WHERE number = ? AND class_id = ? AND NOT is_teacher",
            [stored, number, present_class(db)],
        ).rowcount
        if not changed:
            raise WorkbenchError("There is no such seat in this class.")
        db.execute("DELETE FROM token WHERE seat = ? AND hash <> ?", [number, token_hash(keep)])
    return code


# --- the class -------------------------------------------------------------------------------------


def begin_teaching(room: Classroom, most_jobs: int | None) -> str:
    """Set how many jobs run at once (None: one per device) and make a new teacher code, which it returns.

    Whoever sat down as teacher before has to type the new code.
    """
    code = "".join(secrets.choice(TEACHER_LETTERS) for _ in range(8))
    stored = hashed(code)
    with writing(room) as db:
        db.execute(
            "UPDATE settings SET most_jobs = ?, teacher_code = ?",
            [most_jobs, stored],
        )
        db.execute("DELETE FROM token WHERE seat IN (SELECT number FROM seat WHERE is_teacher)")
    return f"{code[:4]}-{code[4:]}"


def list_seats(room: Classroom) -> list[Seat]:
    """All seats of the present class, the teacher's too, by name."""
    with reading(room) as db:
        rows = db.execute(
            "SELECT * FROM seat WHERE class_id = ? ORDER BY key", [present_class(db)]
        ).fetchall()
    return [seat_from(row) for row in rows]


def most_jobs(room: Classroom) -> int | None:
    """How many jobs of the class run at once; None: one per device."""
    with reading(room) as db:
        found = db.execute("SELECT most_jobs FROM settings").fetchone()[0]
    return None if found is None else int(found)


def is_closing(room: Classroom) -> bool:
    """Whether the class is about to end: no job starts, nobody comes in."""
    with reading(room) as db:
        return is_closing_in(db)


def set_closing(room: Classroom, closing: bool) -> None:
    """Let no more jobs start and nobody new come in, or let them again."""
    with writing(room) as db:
        db.execute("UPDATE class SET closing = ? WHERE ended_at IS NULL", [closing])


def begin_next_class(room: Classroom, token: str) -> str:
    """End the present class and begin another; returns the teacher's token in the new one.

    The workspaces are moved to a folder of their own, `class-1-2026-11-30`, and nothing is deleted. The caller sees
    to it that no job is at work. WorkbenchError: the token is not a teacher's.
    """
    with writing(room) as db:
        ending = present_class(db)
        is_teacher = db.execute(
            "SELECT 1 FROM token JOIN seat ON seat.number = token.seat"
            " WHERE token.hash = ? AND seat.class_id = ? AND seat.is_teacher",
            [token_hash(token), ending],
        ).fetchone()
        if not is_teacher:
            raise WorkbenchError("Only the teacher begins the next class.")
        archive = f"class-{ending}-{now()[:10]}"
        db.execute(
            "UPDATE class SET ended_at = ?, archive = ?, closing = 0 WHERE id = ?",
            [now(), archive, ending],
        )
        db.execute("DELETE FROM token")
        begin_class(db)
        fresh = _new_token(db, _teacher_seat(db))
    _put_away(room)
    return fresh


def _put_away(room: Classroom) -> None:
    """Move the folders of past classes out of the way; what cannot be moved now is moved at the next start."""
    with reading(room) as db:
        rows = db.execute(
            "SELECT seat.folder, class.archive FROM seat JOIN class ON class.id = seat.class_id"
            " WHERE class.ended_at IS NOT NULL"
        ).fetchall()
    for folder, archive in rows:
        here, there = room.desks / folder, room.home / archive / folder
        if here.is_dir() and not there.exists():
            with suppress(OSError):  # a program has a file of it open, where that stops a move
                there.parent.mkdir(exist_ok=True)
                here.rename(there)


def _put_lost_away(room: Classroom) -> list[Path]:
    """Move workspaces that no seat of any class has out of the way; returns where they are now.

    Somebody removed or replaced the database. Whoever takes a seat has a row before there is a folder.
    """
    found = sorted(room.desks.glob("*/workbench.db"))  # before the rows are read, for their sake
    with reading(room) as db:
        known = {row[0] for row in db.execute("SELECT folder FROM seat")}
    away = room.home / f"class-lost-{now()[:10]}"
    moved = []
    for path in found:
        here, there = path.parent, away / path.parent.name
        if here.name not in known and not there.exists():
            with suppress(OSError):  # as above
                away.mkdir(exist_ok=True)
                here.rename(there)
                moved.append(there)
    return moved


# --- rows ---------------------------------------------------------------------------------------


def _key(name: str) -> str:
    cleaned = clean_name(name)
    if not cleaned:
        raise WorkbenchError(NO_NAME)
    return cleaned.casefold()


def _seat_named(db: Database, name: str) -> sqlite3.Row | None:
    found: sqlite3.Row | None = db.execute(
        "SELECT * FROM seat WHERE class_id = ? AND key = ? AND NOT is_teacher",
        [present_class(db), _key(name)],
    ).fetchone()
    return found


def _teacher_seat(db: Database) -> int:
    row = db.execute(
        "SELECT number FROM seat WHERE class_id = ? AND is_teacher", [present_class(db)]
    ).fetchone()
    return int(row[0]) if row else _add_seat(db, TEACHER, _key(TEACHER), None, is_teacher=True)


def _add_seat(
    db: Database, name: str, key: str, code: str | None, *, is_teacher: bool = False
) -> int:
    cursor = db.execute(
        "INSERT INTO seat (class_id, name, key, folder, code, is_teacher, came_at, seen_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [present_class(db), name, key, secrets.token_hex(8), code, is_teacher, now(), now()],
    )
    number = int(cursor.lastrowid or 0)
    # The random part: nobody can name the folder of somebody else, wherever a page takes a folder's name.
    db.execute("UPDATE seat SET folder = ? || '-' || folder WHERE number = ?", [number, number])
    return number


def _new_token(db: Database, number: int) -> str:
    token = secrets.token_urlsafe(24)
    db.execute("INSERT INTO token (hash, seat) VALUES (?, ?)", [token_hash(token), number])
    return token


def _letters(code: str) -> str:
    return "".join(c for c in code.casefold() if c.isalnum())


def _later(*, minutes: int) -> str:
    return (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat(timespec="seconds")


def _minutes_until(moment: str) -> int:
    seconds = (datetime.fromisoformat(moment) - datetime.now(UTC)).total_seconds()
    return max(1, -int(-seconds // 60))
