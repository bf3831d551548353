"""Human decisions on silver pairs: saved at once, logged, and taken back one by one."""

import json

from sqlite_utils import Database

from augsbert_core.errors import WorkbenchError
from augsbert_core.storage.database import Workspace, now, writing
from augsbert_core.storage.silver_bins import STATUSES, count_in, score_bin


def review_silver_pair(
    workspace: Workspace,
    pair_id: int,
    *,
    correction: float | None = None,
    status: str,
    actor: str,
    seen: tuple[float | None, str] | None = None,
) -> None:
    """Save one human decision on one silver pair at once, and log what it replaced.

    correction: in [0, 1], with status "corrected"; None keeps the labeler's score. seen: the correction
    and status that the decision was made on. WorkbenchError: someone has changed them since.
    """
    if status not in STATUSES:
        raise ValueError(f"status must be one of {STATUSES}, not {status!r}")
    if correction is not None and not 0.0 <= correction <= 1.0:
        raise WorkbenchError(f"A corrected score must lie in the scale; {correction:g} does not.")
    with writing(workspace) as db:
        row = db.execute(
            "SELECT silver_pair.correction, silver_pair.status, project_id FROM silver_pair"
            " JOIN silver_set ON silver_set.id = silver_set_id"
            " WHERE silver_pair.id = ? AND NOT deleting",
            [pair_id],
        ).fetchone()
        if row is None:
            raise WorkbenchError("This silver pair does not exist any more: its set was deleted.")
        before = {"correction": row["correction"], "status": row["status"]}
        after = {"correction": correction, "status": status}
        if seen is not None and seen != (row["correction"], row["status"]):
            raise WorkbenchError(
                "This pair was changed in another window meanwhile. Nothing was saved; the table now "
                "shows the pair as it is."
            )
        if before == after:
            return
        _set_decision(db, pair_id, correction, status)
        db.execute(
            "INSERT INTO event (project_id, at, actor, kind, subject, subject_id, before, after)"
            " VALUES (?, ?, ?, 'review', 'silver_pair', ?, ?, ?)",
            [
                row["project_id"],
                now(),
                actor,
                pair_id,
                json.dumps(before),
                json.dumps(after),
            ],
        )


def undo_last_review(workspace: Workspace, set_id: int, actor: str) -> str | None:
    """Take back this actor's latest decision in a silver set; returns what happened, None when none is left.

    Undoing is itself an event: the log only grows. WorkbenchError: someone has changed the pair since.
    """
    with writing(workspace) as db:
        event = db.execute(LAST_REVIEW_SQL, {"set": set_id, "actor": actor}).fetchone()
        if event is None:
            return None
        before, after = json.loads(event["before"]), json.loads(event["after"])
        current = db.execute(
            "SELECT correction, status FROM silver_pair WHERE id = ?",
            [event["subject_id"]],
        ).fetchone()
        if dict(current) != after:
            raise WorkbenchError(
                "This pair has been changed by someone else since. Correct it in the table instead."
            )
        _set_decision(db, event["subject_id"], before["correction"], before["status"])
        db.execute(
            "INSERT INTO event (project_id, at, actor, kind, subject, subject_id, before, after)"
            " VALUES (?, ?, ?, 'undo', 'event', ?, ?, ?)",
            [
                event["project_id"],
                now(),
                actor,
                event["id"],
                event["after"],
                event["before"],
            ],
        )
        text = db.execute(
            "SELECT first.text FROM silver_pair JOIN sentence AS first ON first.id = sentence1_id"
            " WHERE silver_pair.id = ?",
            [event["subject_id"]],
        ).fetchone()[0]
    return f"Back to {before['status']}: {text[:60]}"


LAST_REVIEW_SQL = """
SELECT event.* FROM event JOIN silver_pair ON silver_pair.id = event.subject_id
WHERE event.kind = 'review' AND event.subject = 'silver_pair' AND event.actor = :actor
  AND silver_set_id = :set
  AND NOT EXISTS (SELECT 1 FROM event AS undo WHERE undo.kind = 'undo' AND undo.subject = 'event'
    AND undo.subject_id = event.id)
ORDER BY event.id DESC LIMIT 1
"""


def _set_decision(db: Database, pair_id: int, correction: float | None, status: str) -> None:
    """Change a pair, and move it to where it counts from now on."""
    pair = "SELECT silver_set_id, status, coalesce(rank, 0) AS rank, final_score FROM silver_pair WHERE id = ?"
    before = db.execute(pair, [pair_id]).fetchone()
    db.execute(
        "UPDATE silver_pair SET correction = ?1, status = ?2, final_score = coalesce(?1, score) WHERE id = ?3",
        [correction, status, pair_id],
    )
    after = db.execute(pair, [pair_id]).fetchone()
    count_in(
        db,
        before["silver_set_id"],
        [
            (row["status"], row["rank"], score_bin(row["final_score"]), change)
            for row, change in ((before, -1), (after, 1))
        ],
    )
