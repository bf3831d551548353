"""Whose turn it is at which pair: what annotating, its progress and its results have in common.

An annotator goes through the pairs of a task by position. A pair is open to them while they have not scored or
skipped it and fewer than n_scores others have scored it or have it on the screen; that claim holds for
`CLAIM_MINUTES`. Who comes back later saves a score all the same: it is kept beside the others. A pair that was skipped
comes back once, after all others.
"""

import hashlib
import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlite_utils import Database

from augsbert_core.errors import WorkbenchError
from augsbert_core.person_names import checked_person
from augsbert_core.storage.annotation_tasks import task_is_gone
from augsbert_core.storage.database import now

CLAIM_MINUTES = 10
"""So long a pair is kept for the annotator who has it on the screen."""

MOST_SECONDS = 1e9
"""More than a pair can be on a screen; a clock that ran wild says no more than this."""


@dataclass(frozen=True)
class Turn:
    """One annotator at one task at one moment. fresh_since: older claims do not count."""

    db: Database
    task: dict[str, Any]
    annotator: str
    at: str
    fresh_since: str

    @property
    def values(self) -> dict[str, Any]:
        """What the queries of this module bind."""
        return {
            "task": self.task["id"],
            "annotator": self.annotator,
            "fresh": self.fresh_since,
            "n": self.task["n_scores"],
        }


def turn(
    db: Database, task_id: int, annotator: str, at: str | None = None, kind: str = "scores"
) -> Turn:
    """The turn of an annotator; at: the moment as `database.now` gives it, None: now.

    WorkbenchError: the task is gone or of another kind, or the annotator has no name.
    """
    row = db.execute("SELECT * FROM annotation_task WHERE id = ?", [task_id]).fetchone()
    if row is None:
        raise task_is_gone(task_id)
    if row["kind"] != kind:
        what = "scored pair by pair" if row["kind"] == "scores" else "answered four pairs at a time"
        raise WorkbenchError(f"{row['name']} is {what}.")
    at = at or now()
    fresh = datetime.fromisoformat(at) - timedelta(minutes=CLAIM_MINUTES)
    return Turn(db, dict(row), checked_person(annotator), at, fresh.isoformat(timespec="seconds"))


def refuse_closed(turn: Turn) -> None:
    """WorkbenchError: the task takes no more scores."""
    if turn.task["closed"]:
        raise WorkbenchError(
            f"{turn.task['name']} is closed and takes no more scores. Nothing was saved; reopen it to go on."
        )


def checked_score(score: float | None) -> float:
    """WorkbenchError: there is no score, or it is not in [0, 1]."""
    if score is None or not math.isfinite(score) or not 0.0 <= score <= 1.0:
        raise WorkbenchError(
            f"A score must lie in the scale, from 0 to 1 inside; {score} does not."
        )
    return float(score)


def known_seconds(seconds: float | None) -> float | None:
    """How long something took as it is kept: from 0 to `MOST_SECONDS`, None where nobody knows."""
    if seconds is None or not math.isfinite(seconds):
        return None
    return min(max(float(seconds), 0.0), MOST_SECONDS)


def stable_number(*parts: object) -> int:
    """The same whole number for the same parts on every machine and at every start."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8])


def is_swapped(seed: int, annotator: str, item_id: int) -> bool:
    """Whether this annotator sees the second sentence first: for half of all pairs, always the same ones."""
    return stable_number(seed, annotator, item_id) % 2 == 1


OTHERS = """
(SELECT count(*) FROM annotation WHERE item_id = item.id AND annotator <> :annotator
  AND (state = 'scored' OR (state = 'claimed' AND at > :fresh)))
"""
"""How many others have scored a pair, or have it before them."""

STANDING_EVENT = """
NOT EXISTS (SELECT 1 FROM annotation_event AS undo WHERE undo.item_id = event.item_id
  AND undo.annotator = event.annotator AND undone_event_id = event.id)
"""
