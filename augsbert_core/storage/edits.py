"""Undo and redo of human edits, without limit: what one person decided, in a silver set or in the gold of a project.

Table `edit` holds one row per decision, `edit_change` what it replaced in each pair. The log only grows: undo and redo
change the state of an edit and add a row of their own. No one's undo changes a pair that someone else has decided on
since.
"""

from dataclasses import dataclass
from typing import Any

from sqlite_utils import Database

from augsbert_core.errors import WorkbenchError
from augsbert_core.pairs import ScoreRange
from augsbert_core.storage import edit_changes
from augsbert_core.storage.database import Workspace, now, reading, writing
from augsbert_core.storage.edit_changes import Scope
from augsbert_core.storage.edit_log import (
    EditRow,
    HistoryRow,
    actors,
    count_edits,
    described,
    edit_log,
    pair_history,
)

__all__ = [
    "EditRow",
    "HistoryRow",
    "Overwritten",
    "Scope",
    "UndoState",
    "actors",
    "count_edits",
    "edit_log",
    "pair_history",
    "redo",
    "undo",
    "undo_state",
]

MOST_NAMED = 1000
"""Of so many pairs it is looked up who has changed them since."""


class Overwritten(WorkbenchError):
    """Someone else has since decided on pairs of an edit. n_pairs: how many; n_all: of the edit; names: who."""

    def __init__(self, action: str, n_pairs: int, n_all: int, names: list[str]) -> None:
        who = " and ".join(names) or "Someone"
        has = "have" if len(names) > 1 else "has"
        what = "this pair" if n_all == 1 else f"{n_pairs:,} of the {n_all:,} pairs of this edit"
        rest = (
            "leave those as they are and go on with the others"
            if n_pairs < n_all
            else "leave it as it is and go on with the edit before"
            if n_all == 1
            else "leave them as they are and go on with the edit before"
        )
        super().__init__(
            f"{who} {has} changed {what} since. Nothing was {action}; correct what is wrong in the table, or {rest}."
        )
        self.n_pairs, self.n_all, self.names = n_pairs, n_all, names


@dataclass(frozen=True)
class UndoState:
    """What the next undo and the next redo of a person would take back or do again; None: nothing."""

    undo: str | None
    redo: str | None


def undo(
    workspace: Workspace, scope: Scope, actor: str, *, leave_overwritten: bool = False
) -> str | None:
    """Take back this actor's latest edit in the scope; returns what happened, None when none is left.

    leave_overwritten: pairs that someone else has decided on since stay as they are, the others go back.
    Overwritten: there are such pairs, and nothing was changed.
    """
    return _turn(workspace, scope, actor, UNDO, leave_overwritten)


def redo(
    workspace: Workspace, scope: Scope, actor: str, *, leave_overwritten: bool = False
) -> str | None:
    """Do the edit again that this actor took back last; returns what happened, None when there is none.

    An edit that the actor made since then leaves nothing to redo. leave_overwritten, Overwritten: as for `undo`.
    """
    return _turn(workspace, scope, actor, REDO, leave_overwritten)


def undo_state(workspace: Workspace, scope: Scope, actor: str) -> UndoState:
    """What undo and redo would do for this actor."""
    with reading(workspace) as db:
        found = [_next(db, scope, actor, way) for way in (UNDO, REDO)]
        return UndoState(*(None if one is None else described(db, one) for one in found))


@dataclass(frozen=True)
class _Way:
    """One of the two ways: from the state and values that it expects to those that it leaves."""

    kind: str
    done: str
    state_from: str
    state_to: str
    expected: str
    wanted: str
    order: str


UNDO = _Way("undo", "undone", "applied", "undone", "after", "before", "DESC")
REDO = _Way("redo", "redone", "undone", "applied", "before", "after", "ASC")


def _next(db: Database, scope: Scope, actor: str, way: _Way) -> Any:
    """The edit that is undone or redone next, None when there is none."""
    return db.execute(
        f"SELECT * FROM edit WHERE {scope.where} AND actor = :actor AND state = :state"
        f" ORDER BY id {way.order} LIMIT 1",
        {"owner": scope.owner_id, "actor": actor, "state": way.state_from},
    ).fetchone()


def _turn(
    workspace: Workspace, scope: Scope, actor: str, way: _Way, leave_overwritten: bool
) -> str | None:
    with writing(workspace) as db:
        edit_changes.project_of(db, scope)
        edit = _next(db, scope, actor, way)
        if edit is None:
            return None
        what = described(db, edit)
        _gather(db, scope, edit["id"], way)
        _mark_decided_by_others(db, scope, edit, actor)
        n_all = edit_changes.n_gathered(db)
        query = "SELECT count(*) FROM temp.change WHERE is_overwritten"
        n_left = int(db.execute(query).fetchone()[0])
        names = _names(db, scope, edit["id"], actor) if n_left else []
        if n_left and not leave_overwritten:
            raise Overwritten(way.done, n_left, n_all, names)
        db.execute("DELETE FROM temp.change WHERE is_overwritten")
        edit_changes.write_changes(db, scope)
        db.execute("UPDATE edit SET state = ? WHERE id = ?", [way.state_to, edit["id"]])
        db.execute(
            "INSERT INTO edit (project_id, silver_set_id, subject, kind, actor, at, summary, n_changes, state,"
            " target_edit_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'logged', ?)",
            [edit["project_id"], edit["silver_set_id"], scope.subject, way.kind, actor, now(), edit["summary"],
             n_all - n_left, edit["id"]],
        )  # fmt: skip
        return _sentence(db, scope, way, what, n_all, n_left, names)


def _gather(db: Database, scope: Scope, edit_id: int, way: _Way) -> None:
    """Gather what the pairs of an edit have now, and what they get; marked where they have not what is expected."""
    edit_changes.start(db)
    values = f"{way.wanted}_score, {way.wanted}_status"
    score, status = f"{way.expected}_score", f"{way.expected}_status"
    if scope.is_silver:
        db.execute(
            f"{edit_changes.SILVER_COLUMNS} SELECT pair_id, correction, status, {values},"
            f" correction IS NOT {score} OR status IS NOT {status}, score,"
            " coalesce(rank, 0) FROM edit_change CROSS JOIN silver_pair ON silver_pair.id = pair_id"
            " WHERE edit_id = ? AND silver_set_id = ?",
            [edit_id, scope.owner_id],
        )
        return
    low, high = db.execute(
        "SELECT score_low, score_high FROM project WHERE id = ?", [scope.owner_id]
    ).fetchone()
    # What was there before comes back bit for bit; it need not be what the scale makes of the raw score.
    unit = "before_unit" if way is UNDO else "iif(raw_score IS after_score, score, NULL)"
    db.execute(
        "INSERT INTO temp.change (pair_id, before_score, before_status, after_score, after_status, is_overwritten,"
        f" before_unit, after_unit) SELECT pair_id, raw_score, raw_label, {values},"
        f" raw_score IS NOT {score} OR raw_label IS NOT {status}, score, {unit}"
        " FROM edit_change CROSS JOIN gold_pair ON gold_pair.id = pair_id WHERE edit_id = ? AND project_id = ?",
        [edit_id, scope.owner_id],
    )
    rows = db.execute(
        "SELECT pair_id, after_score FROM temp.change WHERE after_unit IS NULL"
    ).fetchall()
    scale = ScoreRange(low, high)
    db.conn.executemany(
        "UPDATE temp.change SET after_unit = ? WHERE pair_id = ?",
        [(scale.to_unit(raw), pair_id) for pair_id, raw in rows],
    )


# The smaller side comes first: the pairs of this edit, or those of the later ones.
OTHERS_SQL = """
UPDATE temp.change SET is_overwritten = 1 WHERE pair_id IN (
  SELECT pair_id FROM edit CROSS JOIN edit_change ON edit_id = edit.id
  WHERE {scope} AND edit.id > :edit AND state = 'applied' AND actor <> :actor)
"""
OTHERS_OF_FEW_SQL = """
UPDATE temp.change SET is_overwritten = 1 WHERE EXISTS (
  SELECT 1 FROM edit_change AS later CROSS JOIN edit ON edit.id = later.edit_id
  WHERE later.pair_id = change.pair_id AND later.edit_id > :edit AND {scope}
    AND state = 'applied' AND actor <> :actor)
"""


def _mark_decided_by_others(db: Database, scope: Scope, edit: Any, actor: str) -> None:
    """Mark the gathered pairs on which somebody else has made a later edit that stands."""
    query = OTHERS_OF_FEW_SQL if edit["n_changes"] <= MOST_NAMED else OTHERS_SQL
    values = {"owner": scope.owner_id, "edit": edit["id"], "actor": actor}
    db.execute(query.format(scope=scope.where), values)


NAMES_SQL = """
SELECT DISTINCT (
  SELECT actor FROM edit_change AS later CROSS JOIN edit ON edit.id = later.edit_id
  WHERE later.pair_id = change.pair_id AND {scope} AND actor <> :actor AND later.edit_id <> :edit
  ORDER BY (edit.id > :edit AND state = 'applied') DESC, edit.id DESC LIMIT 1) AS name
FROM (SELECT pair_id FROM temp.change WHERE is_overwritten LIMIT :most) AS change
"""


def _names(db: Database, scope: Scope, edit_id: int, actor: str) -> list[str]:
    """Who else has had the marked pairs in hand, those who decided on them last."""
    values = {"owner": scope.owner_id, "actor": actor, "edit": edit_id, "most": MOST_NAMED}
    rows = db.execute(NAMES_SQL.format(scope=scope.where), values).fetchall()
    return sorted(name for (name,) in rows if name)


def _sentence(
    db: Database, scope: Scope, way: _Way, what: str, n_all: int, n_left: int, names: list[str]
) -> str:
    """What an undo or redo did, for people."""
    who = " and ".join(names) or "someone"
    if n_left == n_all > 0:
        which = "the pair" if n_all == 1 else f"all {n_all:,} pairs"
        return f"Left {which} as decided by {who}: {what}"
    if n_all == 1:
        back = "Back to" if way is UNDO else "Again"
        return f"{back} {_value(db, scope)}"
    left = f"; {_pairs(n_left)} {'stays' if n_left == 1 else 'stay'} as decided by {who}"
    return f"{way.done.capitalize()} on {_pairs(n_all - n_left)}{left if n_left else ''}: {what}"


def _pairs(number: int) -> str:
    return "1 pair" if number == 1 else f"{number:,} pairs"


def _value(db: Database, scope: Scope) -> str:
    """What the one gathered pair has now, and its first sentence."""
    row = db.execute(
        "SELECT after_score, after_status, text FROM temp.change"
        f" JOIN {scope.subject} AS pair ON pair.id = pair_id JOIN sentence ON sentence.id = sentence1_id"
    ).fetchone()
    value = row["after_status"] if scope.is_silver else f"{row['after_score']:g}"
    return f"{value}: {row['text'][:60]}"
