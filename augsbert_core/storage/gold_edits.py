"""Human edits of gold scores: set anew or confirmed, logged, undone by `edits`."""

from collections.abc import Sequence
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
        unit = _unit(row, raw_score)
        if raw_score == row["raw_score"]:
            _save(db, row, row["raw_score"], row["raw_label"], row["score"], "keep-gold", actor)
        else:
            _save(db, row, float(raw_score), "", unit, "set-gold", actor)


def set_gold_scores(
    workspace: Workspace,
    project_id: int,
    gold_pair_ids: Sequence[int],
    raw_scores: Sequence[float],
    *,
    actor: str,
    summary: str,
    seen: Sequence[float] | None = None,
) -> int:
    """Give many gold pairs other scores as one edit, all of them or none; returns how many got another one.

    The words that the files had for them go. seen: the raw scores that were decided on. WorkbenchError: one of them
    has changed since, a score is not on the project's scale, or a pair is gone or of another project.
    """
    befores: Sequence[float | None] = [None] * len(gold_pair_ids) if seen is None else seen
    with writing(workspace) as db:
        edit_changes.start(db)
        for pair_id, raw_score, before in zip(gold_pair_ids, raw_scores, befores, strict=True):
            row = _pair(db, pair_id)
            if row["project_id"] != project_id:
                raise WorkbenchError(f"Gold pair {pair_id} belongs to another project.")
            if before is not None and before != row["raw_score"]:
                raise WorkbenchError(
                    "Gold scores were changed in another window meanwhile. Nothing was saved; look at what would "
                    "change now."
                )
            unit = _unit(row, raw_score)
            if raw_score != row["raw_score"]:
                _gather(db, row, float(raw_score), "", unit)
        return edit_changes.save_edit(db, Scope.gold(project_id), "merge-gold", actor, summary)


def decided_after(workspace: Workspace, task_id: int) -> set[int]:
    """Gold pairs of a task whose score someone set or confirmed by hand when the task had its scores for them.

    What was undone does not count, nor what an earlier merge wrote.
    """
    with reading(workspace) as db:
        return {int(row[0]) for row in db.execute(DECIDED_AFTER_SQL, {"task": task_id})}


DECIDED_AFTER_SQL = """
SELECT DISTINCT source_pair_id FROM annotation_item AS item
JOIN annotation_task AS task ON task.id = item.task_id
CROSS JOIN edit_change ON pair_id = source_pair_id
JOIN edit ON edit.id = edit_id
WHERE item.task_id = :task AND task.source = 'gold' AND subject = 'gold_pair' AND edit.project_id = task.project_id
  AND (edit.kind = 'set-gold' OR edit.kind = 'keep-gold') AND state = 'applied' AND edit.at >= max(
    coalesce((SELECT max(at) FROM annotation WHERE item_id = item.id AND state = 'scored'), ''),
    coalesce((SELECT max(at) FROM annotation_event WHERE item_id = item.id AND action = 'adjudicate'), ''),
    coalesce((SELECT max(at) FROM best_worst_tuple AS tuple JOIN best_worst_answer ON tuple_id = tuple.id
      WHERE tuple.task_id = :task AND item.id IN (item1_id, item2_id, item3_id, item4_id)), ''))
"""


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


def _unit(row: Any, raw_score: float) -> float:
    """The score in [0, 1]. WorkbenchError: it is not on the scale."""
    scale = ScoreRange(row["score_low"], row["score_high"])
    try:
        return scale.to_unit(raw_score)
    except ValueError:
        raise WorkbenchError(
            f"A score of this project lies from {scale.low:g} to {scale.high:g}; {raw_score:g} does not. "
            "Nothing was saved."
        ) from None


def _gather(db: Database, row: Any, raw_score: float, label: str, unit: float) -> None:
    db.execute(
        "INSERT INTO temp.change (pair_id, before_score, before_status, after_score, after_status, before_unit,"
        " after_unit) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [row["id"], row["raw_score"], row["raw_label"], raw_score, label, row["score"], unit],
    )


def _save(
    db: Database, row: Any, raw_score: float, label: str, unit: float, kind: str, actor: str
) -> None:
    edit_changes.start(db)
    _gather(db, row, raw_score, label, unit)
    what = f"{row['raw_score']:g} confirmed" if kind == "keep-gold" else f"{raw_score:g}"
    summary = pair_summary(what, row["text"])
    edit_changes.save_edit(db, Scope.gold(row["project_id"]), kind, actor, summary)
