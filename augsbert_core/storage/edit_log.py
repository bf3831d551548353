"""Reading the log of human edits: newest first, by person, and for one pair."""

from dataclasses import dataclass
from typing import Any

from sqlite_utils import Database

from augsbert_core.storage.database import Workspace, reading
from augsbert_core.storage.edit_changes import Scope

LONGEST_SHOWN = 60
"""So much of a sentence stands in the log."""


@dataclass(frozen=True)
class EditRow:
    """One row of the log. state: applied, undone, dropped (undone, then something else was decided) or, for kinds
    "undo" and "redo", logged.

    n_changes: how many pairs it changed. target_edit_id: what an undo took back or a redo did again.
    """

    id: int
    at: str
    actor: str
    kind: str
    summary: str
    n_changes: int
    state: str
    target_edit_id: int | None


@dataclass(frozen=True)
class HistoryRow:
    """One change of one pair. Scores: a silver pair's correction in [0, 1] (None: none), a gold pair's raw score;
    statuses: a gold pair's raw label.
    """

    edit_id: int
    at: str
    actor: str
    kind: str
    state: str
    before_score: float | None
    before_status: str
    after_score: float | None
    after_status: str


def edit_log(
    workspace: Workspace, scope: Scope, *, actor: str = "", offset: int = 0, limit: int = 100
) -> list[EditRow]:
    """A page of the edits, undos and redos in a scope, newest first. actor: of this person alone."""
    where, values = _chosen(scope, actor)
    with reading(workspace) as db:
        rows = db.execute(
            f"SELECT * FROM edit WHERE {where} ORDER BY id DESC LIMIT :limit OFFSET :offset",
            {**values, "limit": limit, "offset": offset},
        ).fetchall()
        return [
            EditRow(
                row["id"], row["at"], row["actor"], row["kind"], described(db, row), row["n_changes"],
                row["state"], row["target_edit_id"],
            )
            for row in rows
        ]  # fmt: skip


def count_edits(workspace: Workspace, scope: Scope, *, actor: str = "") -> int:
    """How many rows the log of a scope has."""
    where, values = _chosen(scope, actor)
    with reading(workspace) as db:
        found = db.execute(f"SELECT count(*) FROM edit WHERE {where}", values).fetchone()
    return int(found[0])


def actors(workspace: Workspace, scope: Scope) -> list[str]:
    """Who has made edits in a scope, by name."""
    query = f"SELECT DISTINCT actor FROM edit WHERE {scope.where} ORDER BY actor"
    with reading(workspace) as db:
        return [actor for (actor,) in db.execute(query, {"owner": scope.owner_id})]


def _chosen(scope: Scope, actor: str) -> tuple[str, dict[str, Any]]:
    where = f"{scope.where} AND (:actor = '' OR edit.actor = :actor)"
    return where, {"owner": scope.owner_id, "actor": actor}


def described(db: Database, edit: Any) -> str:
    """What a row of table edit says in the log; edits without words of their own name their pair or their kind."""
    if edit["summary"]:
        return str(edit["summary"])
    edit_id = edit["target_edit_id"] or edit["id"]
    pairs = "silver_pair" if edit["subject"] == "silver_pair" else "gold_pair"
    row = db.execute(
        f"SELECT after_status, text FROM edit_change JOIN {pairs} AS pair ON pair.id = pair_id"
        " JOIN sentence ON sentence.id = sentence1_id WHERE edit_id = ? LIMIT 1",
        [edit_id],
    ).fetchone()
    if row is None or edit["n_changes"] > 1:
        return f"{edit['kind']} of {edit['n_changes']:,} pairs"
    return pair_summary(row["after_status"] or edit["kind"], row["text"])


def pair_summary(what: str, text: str) -> str:
    """What the log says of an edit of one pair."""
    return f"{what}: {text[:LONGEST_SHOWN]}"


def pair_history(workspace: Workspace, subject: str, pair_id: int) -> list[HistoryRow]:
    """All that people did with one pair, oldest first. subject: "silver_pair" or "gold_pair".

    An undo or redo that left the pair as it was, because someone else had decided on it, is among them; one that was
    broken off before it came to the pair is not.
    """
    with reading(workspace) as db:
        rows = db.execute(HISTORY_SQL, {"subject": subject, "pair": pair_id}).fetchall()
    return [HistoryRow(**dict(row)) for row in rows]


HISTORY_SQL = """
SELECT edit.id AS edit_id, at, actor, kind, state, before_score, before_status, after_score, after_status
FROM edit_change JOIN edit ON edit.id = edit_id
WHERE pair_id = :pair AND subject = :subject
UNION ALL
SELECT turn.id, turn.at, turn.actor, turn.kind, turn.state,
  iif(turn.kind = 'undo', after_score, before_score), iif(turn.kind = 'undo', after_status, before_status),
  iif(turn.kind = 'undo', before_score, after_score), iif(turn.kind = 'undo', before_status, after_status)
FROM edit_change JOIN edit AS done ON done.id = edit_id JOIN edit AS turn ON turn.target_edit_id = done.id
WHERE pair_id = :pair AND turn.subject = :subject AND NOT (in_force = (turn.kind = 'undo')
  AND done.state = iif(turn.kind = 'undo', 'applied', 'undone')
  AND turn.id = (SELECT max(id) FROM edit AS latest WHERE latest.target_edit_id = done.id))
ORDER BY 1
"""
