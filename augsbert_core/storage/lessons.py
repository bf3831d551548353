"""How far people have come on the Learn page: their predictions, and what was measured for them.

The rows belong to a person, not to a project, so they stay behind when a project is archived.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from augsbert_core.storage.database import Workspace, now, reading, writing


@dataclass(frozen=True)
class LessonProgress:
    """One person at one lesson.

    answer: the predicted choice, "" when it was skipped. revealed_at: when the result was shown, None before.
    details: numbers that were measured at that moment.
    """

    person: str
    lesson: str
    answer: str
    answered_at: str
    revealed_at: str | None
    details: dict[str, Any]


def progress_of(workspace: Workspace, person: str) -> dict[str, LessonProgress]:
    """What a person has answered so far, by lesson."""
    found = _select(workspace, "WHERE person = ?", [person])
    return {one.lesson: one for one in found}


def everyones_progress(workspace: Workspace) -> list[LessonProgress]:
    """What everybody has answered so far, by person, the oldest answer first."""
    return _select(workspace, "", [])


def reveal_lesson(
    workspace: Workspace, person: str, lesson: str, answer: str, details: Mapping[str, Any]
) -> None:
    """Keep a prediction with the result that was shown then; the first answer stays, as a prediction must.

    Asked again, only the details are replaced.
    """
    with writing(workspace) as db:
        moment = now()
        db.execute(
            "INSERT INTO lesson_progress (person, lesson, answer, answered_at, revealed_at, details)"
            " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET details = excluded.details",
            [person, lesson, answer, moment, moment, json.dumps(details)],
        )


def forget_lessons(workspace: Workspace, person: str | None = None) -> int:
    """Forget what one person answered, or, without a name, what everybody did; returns the number of answers."""
    where, values = ("WHERE person = ?", [person]) if person is not None else ("", [])
    with writing(workspace) as db:
        return int(db.execute(f"DELETE FROM lesson_progress {where}", values).rowcount)


def _select(workspace: Workspace, where: str, values: list[str]) -> list[LessonProgress]:
    with reading(workspace) as db:
        rows = db.execute(
            "SELECT person, lesson, answer, answered_at, revealed_at, details FROM lesson_progress"
            f" {where} ORDER BY person, answered_at, lesson",
            values,
        ).fetchall()
    return [LessonProgress(**{**dict(row), "details": json.loads(row["details"])}) for row in rows]
