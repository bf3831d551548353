"""Human decisions on silver pairs, one or many at a time: saved at once, logged as one edit, undone by `edits`."""

import json
import math
from collections.abc import Sequence

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.progress import Report, ShouldStop, never, silent
from augsbert_core.storage import edit_changes
from augsbert_core.storage.database import Database, Workspace, reading, writing
from augsbert_core.storage.edit_changes import Scope
from augsbert_core.storage.edit_log import pair_summary
from augsbert_core.storage.silver_bins import STATUSES

BULK_STATUSES = ("accepted", "rejected", "flagged", "unreviewed")
"""What many pairs at once can become; to correct them, rescale them."""


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
            "SELECT correction, status, silver_set_id, text FROM silver_pair"
            " JOIN silver_set ON silver_set.id = silver_set_id"
            " JOIN sentence ON sentence.id = sentence1_id"
            " WHERE silver_pair.id = ? AND NOT deleting",
            [pair_id],
        ).fetchone()
        if row is None:
            raise WorkbenchError("This silver pair does not exist any more: its set was deleted.")
        if seen is not None and seen != (row["correction"], row["status"]):
            raise WorkbenchError(
                "This pair was changed in another window meanwhile. Nothing was saved; the table now "
                "shows the pair as it is."
            )
        edit_changes.choose(db, np.array([pair_id]))
        values = {"correction": correction, "status": status}
        edit_changes.gather_silver(db, row["silver_set_id"], ":correction", ":status", values)
        scope = Scope.silver(row["silver_set_id"])
        edit_changes.save_edit(db, scope, "review", actor, pair_summary(status, row["text"]))


def review_many(
    workspace: Workspace,
    set_id: int,
    pair_ids: np.ndarray,
    *,
    status: str,
    actor: str,
    summary: str,
    report: Report = silent,
    should_stop: ShouldStop = never,
) -> int:
    """Give many pairs of a silver set one status, as one edit; returns how many that changed.

    status: one of BULK_STATUSES. "unreviewed" and "accepted" go back to the labeler's score; "flagged" and
    "rejected" keep a correction. pair_ids: those of other sets are passed over. summary: what the log says. Large edits
    are carried out in parts: see `edit_changes.carry_out`.
    """
    if status not in BULK_STATUSES:
        raise ValueError(f"status must be one of {BULK_STATUSES}, not {status!r}")
    correction = "NULL" if status in ("unreviewed", "accepted") else "correction"

    def gather(db: Database) -> None:
        edit_changes.choose(db, pair_ids)
        edit_changes.gather_silver(db, set_id, correction, ":status", {"status": status})

    return edit_changes.carry_out(
        workspace, Scope.silver(set_id), "bulk-review", actor, summary, gather,
        report=report, should_stop=should_stop,
    )  # fmt: skip


def rescale_many(
    workspace: Workspace,
    set_id: int,
    pair_ids: np.ndarray,
    *,
    low: float,
    high: float,
    actor: str,
    summary: str,
    report: Report = silent,
    should_stop: ShouldStop = never,
) -> int:
    """Correct many pairs by mapping the labeler's scores from [0, 1] onto [low, high]; returns how many changed.

    The map is linear, and what leaves [0, 1] is clipped. Rejected pairs stay as they are; earlier corrections give
    way. One edit, in parts as `review_many`. WorkbenchError: low is not below high.
    """
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise WorkbenchError("Rescaling needs a lowest score that is below the highest.")
    correction = "min(max(:low + score * (:high - :low), 0.0), 1.0)"

    def gather(db: Database) -> None:
        edit_changes.choose(db, pair_ids)
        edit_changes.gather_silver(
            db,
            set_id,
            f"iif(status = 'rejected', correction, {correction})",
            "iif(status = 'rejected', status, 'corrected')",
            {"low": float(low), "high": float(high)},
        )

    return edit_changes.carry_out(
        workspace, Scope.silver(set_id), "rescale", actor, summary, gather,
        report=report, should_stop=should_stop,
    )  # fmt: skip


def reviewed_before(
    workspace: Workspace, set_id: int, people: Sequence[str], moment: str
) -> set[int]:
    """The pairs of a set that some people decided on one by one before a moment, the labeler's score in view."""
    with reading(workspace) as db:
        rows = db.execute(BEFORE_SQL, [set_id, moment, json.dumps(list(people))]).fetchall()
    return {row[0] for row in rows}


BEFORE_SQL = """
SELECT DISTINCT pair_id FROM edit JOIN edit_change ON edit_id = edit.id
WHERE silver_set_id = ? AND kind = 'review' AND at <= ? AND actor IN (SELECT value FROM json_each(?))
"""


def carry_over(
    workspace: Workspace,
    from_set_id: int,
    to_set_id: int,
    actor: str,
    *,
    report: Report = silent,
    should_stop: ShouldStop = never,
) -> int:
    """Repeat the decisions on one silver set in another, on pairs that both have; returns how many changed.

    One edit in the other set, where pairs that somebody has decided on stay as they are. An accepted score that the
    other labeler does not give is a correction there. Many are carried over in parts, as in `review_many`. WorkbenchError: one of the sets is gone, or both are one.
    """
    if from_set_id == to_set_id:
        raise WorkbenchError("Decisions are carried over to another silver set. Choose another.")

    def gather(db: Database) -> None:
        edit_changes.project_of(db, Scope.silver(from_set_id))
        edit_changes.start(db)
        db.execute(
            f"{edit_changes.SILVER_COLUMNS} {CARRY_SQL}", {"from": from_set_id, "to": to_set_id}
        )

    return edit_changes.carry_out(
        workspace, Scope.silver(to_set_id), "carry-over", actor,
        f"Decisions of silver set {from_set_id}", gather, report=report, should_stop=should_stop,
    )  # fmt: skip


CARRY_SQL = """
SELECT new.id, new.correction, new.status,
  iif(old.status = 'accepted', iif(old.final_score = new.score, NULL, old.final_score), old.correction),
  iif(old.status = 'accepted' AND old.final_score <> new.score, 'corrected', old.status),
  0, new.score, coalesce(new.rank, 0)
FROM silver_pair AS old INDEXED BY silver_pair_reviewed CROSS JOIN silver_pair AS new USING (sentence1_id, sentence2_id)
WHERE old.silver_set_id = :from AND old.status <> 'unreviewed'
  AND new.silver_set_id = :to AND new.status = 'unreviewed' AND new.correction IS NULL
"""
