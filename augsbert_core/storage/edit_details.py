"""The one pair of an edit, for the log and for going back to it; edits of many pairs have none."""

from collections.abc import Sequence
from dataclasses import dataclass

from augsbert_core.storage.database import Workspace, reading
from augsbert_core.storage.edit_changes import Scope


@dataclass(frozen=True)
class EditDetail:
    """What one row of the log did to its one pair. score: what it has since, a silver pair's in [0, 1], a gold pair's
    raw. status: a silver pair's status, a gold pair's raw label."""

    pair_id: int
    sentence1: str
    sentence2: str
    score: float | None
    status: str


def edit_details(
    workspace: Workspace, scope: Scope, edit_ids: Sequence[int]
) -> dict[int, EditDetail]:
    """The pairs of some edits, undos and redos by their id; those of no pair or of several are left out."""
    marks = ", ".join("?" * len(edit_ids))
    own = "pair.score" if scope.is_silver else "NULL"
    with reading(workspace) as db:
        rows = db.execute(DETAIL_SQL.format(marks=marks, table=scope.subject, own=own), edit_ids)
        return {row[0]: EditDetail(*tuple(row)[1:]) for row in rows.fetchall()}


DETAIL_SQL = """
SELECT edit.id, pair_id, first.text, second.text,
  coalesce(iif(edit.kind = 'undo', before_score, after_score), {own}),
  iif(edit.kind = 'undo', before_status, after_status)
FROM edit
JOIN edit AS done ON done.id = coalesce(edit.target_edit_id, edit.id)
JOIN edit_change ON edit_change.edit_id = done.id
JOIN {table} AS pair ON pair.id = pair_id
JOIN sentence AS first ON first.id = pair.sentence1_id
JOIN sentence AS second ON second.id = pair.sentence2_id
WHERE edit.id IN ({marks}) AND done.n_changes = 1
"""
