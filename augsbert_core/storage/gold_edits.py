"""Human edits of gold scores: set anew or confirmed, logged, undone by `edits`."""

from typing import Any

from sqlite_utils import Database

from augsbert_core.errors import WorkbenchError
from augsbert_core.pairs import ScoreRange
from augsbert_core.storage import edit_changes
from augsbert_core.storage.database import Workspace, reading, writing
from augsbert_core.storage.edit_changes import Scope
from augsbert_core.storage.edit_log import pair_summary

PAIR_SQL = """
SELECT gold_pair.*, score_low, score_high, text FROM gold_pair
JOIN project ON project.id = gold_pair.project_id JOIN sentence ON sentence.id = sentence1_id
WHERE gold_pair.id = ? AND NOT deleting
"""


def set_gold_score(
    workspace: Workspace,
    gold_pair_id: int,
    raw_score: float,
    *,
    actor: str,
    seen: tuple[float, str] | None = None,
) -> None:
    """Give a gold pair another score, on the project's scale; the word that the file had for it goes.

    The score that it has already confirms it, as `keep_gold_score` does. seen: raw score and raw label that the
    decision was made on. WorkbenchError: they have changed since, the score is not on the scale, or the pair is gone.
    """
    with writing(workspace) as db:
        row = _pair(db, gold_pair_id)
        if seen is not None and seen != (row["raw_score"], row["raw_label"]):
            raise WorkbenchError(
                "The score of this pair was changed in another window meanwhile. Nothing was saved; look at the pair "
                "as it is now."
            )
        scale = ScoreRange(row["score_low"], row["score_high"])
        try:
            unit = scale.to_unit(raw_score)
        except ValueError:
            raise WorkbenchError(
                f"A score of this project lies from {scale.low:g} to {scale.high:g}; {raw_score:g} does not. "
                "Nothing was saved."
            ) from None
        if raw_score == row["raw_score"]:
            _save(db, row, row["raw_score"], row["raw_label"], row["score"], "keep-gold", actor)
        else:
            _save(db, row, float(raw_score), "", unit, "set-gold", actor)


def keep_gold_score(workspace: Workspace, gold_pair_id: int, *, actor: str) -> None:
    """Log that someone has looked at a gold pair and its score is right. WorkbenchError: the pair is gone."""
    with writing(workspace) as db:
        row = _pair(db, gold_pair_id)
        _save(db, row, row["raw_score"], row["raw_label"], row["score"], "keep-gold", actor)


def looked_at(workspace: Workspace, project_id: int, since: str) -> set[int]:
    """Ids of gold pairs whose score someone has set or confirmed at or after a moment (UTC, as the store writes it).

    What was undone does not count.
    """
    scope = Scope.gold(project_id)
    with reading(workspace) as db:
        rows = db.execute(
            "SELECT DISTINCT pair_id FROM edit JOIN edit_change ON edit_id = edit.id"
            f" WHERE {scope.where} AND state = 'applied' AND at >= :since",
            {"owner": project_id, "since": since},
        )
        return {int(pair_id) for (pair_id,) in rows}


def _pair(db: Database, gold_pair_id: int) -> Any:
    row = db.execute(PAIR_SQL, [gold_pair_id]).fetchone()
    if row is None:
        raise WorkbenchError("This gold pair does not exist any more: its import was removed.")
    return row


def _save(
    db: Database, row: Any, raw_score: float, label: str, unit: float, kind: str, actor: str
) -> None:
    edit_changes.start(db)
    db.execute(
        "INSERT INTO temp.change (pair_id, before_score, before_status, after_score, after_status, before_unit,"
        " after_unit) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [row["id"], row["raw_score"], row["raw_label"], raw_score, label, row["score"], unit],
    )
    what = f"{row['raw_score']:g} confirmed" if kind == "keep-gold" else f"{raw_score:g}"
    summary = pair_summary(what, row["text"])
    edit_changes.save_edit(db, Scope.gold(row["project_id"]), kind, actor, summary)
