"""What the teacher sees of a class: who has come how far, and what was predicted, in numbers."""

import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from augsbert_core.errors import WorkbenchError
from augsbert_core.exporting.files import to_csv
from augsbert_core.storage import queue
from augsbert_core.storage.class_database import Classroom, Seat
from augsbert_core.storage.classroom import list_seats
from augsbert_core.storage.database import Workspace, open_workspace
from augsbert_core.storage.lessons import LessonProgress, everyones_progress

HERE_SECONDS = 300
"""Somebody seen so lately counts as present: whoever reads a page for a while is still here."""


@dataclass(frozen=True)
class StudentProgress:
    """One student: the answers on the Learn page, the latest last, and the jobs that run or wait."""

    seat: Seat
    answers: tuple[LessonProgress, ...]
    running: int
    waiting: int

    @property
    def is_here(self) -> bool:
        seen = datetime.fromisoformat(self.seat.seen_at)
        return (datetime.now(UTC) - seen).total_seconds() < HERE_SECONDS


def class_progress(room: Classroom) -> list[StudentProgress]:
    """All students of the present class by name; one whose workspace cannot be read has done nothing yet."""
    return [_progress(room, seat) for seat in list_seats(room) if not seat.is_teacher]


def predictions(students: Sequence[StudentProgress]) -> dict[str, Counter[str]]:
    """For each lesson how many students chose what; those who skipped it are not counted.

    Whoever changed name counts once, with the first answer.
    """
    found: dict[str, Counter[str]] = {}
    for student in students:
        counted = set()
        for one in student.answers:
            if one.answer and one.lesson not in counted:
                counted.add(one.lesson)
                found.setdefault(one.lesson, Counter())[one.answer] += 1
    return found


def n_revealed(student: StudentProgress) -> int:
    """How many lessons a student has seen the result of."""
    return len({one.lesson for one in student.answers if one.revealed_at})


def overview_csv(students: Sequence[StudentProgress], lessons: Sequence[str]) -> bytes:
    """The overview as a file for a spreadsheet: a row per student, a column per lesson with the answer."""
    header = ("student", "came", "last seen", "lessons done", "running", "waiting", *lessons)
    rows = []
    for student in students:
        answers: dict[str, str] = {}
        for one in student.answers:
            answers.setdefault(one.lesson, one.answer or "skipped")
        rows.append(
            (
                student.seat.name,
                student.seat.came_at,
                student.seat.seen_at,
                n_revealed(student),
                student.running,
                student.waiting,
                *(answers.get(lesson) for lesson in lessons),
            )
        )
    return to_csv(header, rows)


def _progress(room: Classroom, seat: Seat) -> StudentProgress:
    workspace = seat.workspace(room)
    answers: list[LessonProgress] = []
    states: list[str] = []
    if workspace.database.is_file():
        answers, states = _read(workspace, busy=seat.busy)
    waiting = states.count("queued")
    return StudentProgress(seat, tuple(answers), len(states) - waiting, waiting)


def _read(workspace: Workspace, *, busy: bool) -> tuple[list[LessonProgress], list[str]]:
    """The overview asks for everybody every few seconds, so a workspace is opened with all its checks only when needed."""
    try:
        return _rows(workspace, busy=busy)
    except sqlite3.DatabaseError:  # made by an older version, or just being made
        pass
    try:
        open_workspace(workspace.home)
    except WorkbenchError:
        return [], []
    return _rows(workspace, busy=busy)


def _rows(workspace: Workspace, *, busy: bool) -> tuple[list[LessonProgress], list[str]]:
    answers = sorted(everyones_progress(workspace), key=lambda one: one.answered_at)
    return answers, [job.state for job in queue.active_jobs(workspace)] if busy else []
