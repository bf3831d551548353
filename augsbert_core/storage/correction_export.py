"""The human edits of silver pairs, read from the log of edits: as rows of a file, and who was last at a pair."""

from collections.abc import Generator
from datetime import UTC, datetime
from typing import Any

from sqlite_utils import Database

from augsbert_core.errors import WorkbenchError
from augsbert_core.exporting.tables import COUNT, NUMBER, Column
from augsbert_core.pairs import ScoreRange
from augsbert_core.storage.database import Workspace, reading

COLUMNS = (
    Column("silver_set", COUNT),
    Column("sentence1"),
    Column("sentence2"),
    Column("labeler_score", NUMBER, "the labeler's own, on the project's scale"),
    Column("old_score", NUMBER, "what the pair counted with before the edit"),
    Column("new_score", NUMBER, "and after it"),
    Column("old_status"),
    Column("new_status"),
    Column("annotator"),
    Column("at", meaning="when, in UTC"),
    Column("undone_at", meaning="when the edit was taken back; empty while it stands"),
)


def correction_rows(
    workspace: Workspace,
    project_id: int,
    scale: ScoreRange,
    *,
    annotator: str = "",
    since: str = "",
) -> Generator[tuple[Any, ...]]:
    """Every decision of a person on a silver pair of the project, oldest first, in the order of `COLUMNS`.

    annotator: of this person alone. since: from this day or moment on, ISO 8601, UTC where it names no zone.
    Decisions on pairs of deleted silver sets went with the sets. WorkbenchError: since is no such text.
    """
    values = {"project": project_id, "annotator": annotator, "since": moment(since)}
    with reading(workspace) as db:
        for row in db.execute(CORRECTIONS_SQL, values):
            corrections = (None, row["before_score"], row["after_score"])
            scores = (row["score"] if one is None else one for one in corrections)
            yield (
                row["silver_set_id"],
                row["sentence1"],
                row["sentence2"],
                *(float(f"{scale.to_raw(score):.7g}") for score in scores),
                row["before_status"],
                row["after_status"],
                row["actor"],
                row["at"],
                row["undone_at"],
            )


def moment(text: str) -> str:
    """A day or moment as the log writes it; "" stays "". WorkbenchError: the text is neither."""
    if not text.strip():
        return ""
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise WorkbenchError(
            f"{text!r} is no day or moment. Write it as 2026-01-31 or 2026-01-31T12:00."
        ) from None
    found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    return found.isoformat(timespec="seconds")


DECISIONS = "edit.subject = 'silver_pair' AND edit.state <> 'logged'"

CORRECTIONS_SQL = f"""
SELECT edit.silver_set_id, first.text AS sentence1, second.text AS sentence2, score, before_score, before_status,
  after_score, after_status, edit.actor, edit.at,
  iif(edit.state = 'applied', NULL, (SELECT max(undo.at) FROM edit AS undo WHERE undo.target_edit_id = edit.id
    AND undo.kind = 'undo')) AS undone_at
FROM edit
JOIN silver_set ON silver_set.id = edit.silver_set_id AND NOT silver_set.deleting
JOIN edit_change ON edit_id = edit.id
JOIN silver_pair ON silver_pair.id = pair_id
JOIN sentence AS first ON first.id = sentence1_id
JOIN sentence AS second ON second.id = sentence2_id
WHERE {DECISIONS} AND edit.project_id = :project
  AND :annotator IN ('', edit.actor) AND edit.at >= :since
ORDER BY edit.id, pair_id
"""

COUNT_SQL = f"""
SELECT coalesce(sum(edit.n_changes), 0)
FROM edit JOIN silver_set ON silver_set.id = edit.silver_set_id AND NOT silver_set.deleting
WHERE {DECISIONS} AND edit.project_id = ?
"""


def count_corrections(workspace: Workspace, project_id: int) -> int:
    """How many decisions `correction_rows` has for the whole project."""
    with reading(workspace) as db:
        return int(db.execute(COUNT_SQL, [project_id]).fetchone()[0])


def reviewers(db: Database, set_id: int) -> dict[tuple[int, int], tuple[str, str]]:
    """Who decided last on each pair of a silver set, and when: sentence ids → (annotator, moment).

    A kept set took over the decisions that its pool had when it was made. Decisions taken back do not count.
    """
    row = db.execute(
        "SELECT pool_set_id, created_at FROM silver_set WHERE id = ?", [set_id]
    ).fetchone()
    found: dict[tuple[int, int], tuple[str, str]] = {}
    if row is not None and row["pool_set_id"] is not None:
        found = {
            pair: (actor, at)
            for pair, (actor, at) in reviewers(db, row["pool_set_id"]).items()
            if at <= row["created_at"]
        }
    for first, second, actor, at in db.execute(REVIEWS_SQL, [set_id]):
        found[first, second] = (actor, at)
    return found


REVIEWS_SQL = f"""
SELECT sentence1_id, sentence2_id, actor, at
FROM edit JOIN edit_change ON edit_id = edit.id JOIN silver_pair ON silver_pair.id = pair_id
WHERE edit.silver_set_id = ? AND {DECISIONS} AND state = 'applied'
ORDER BY edit.id
"""
