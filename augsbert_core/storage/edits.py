"""Undo and redo of human edits, without limit: what one person decided, in a silver set or in the gold of a project.

Table `edit` holds one row per decision, `edit_change` what it replaced in each pair. The log only grows: undo and redo
change the state of an edit and add a row of their own. No one's undo changes a pair that someone else has decided on
since.

Large edits are taken back in parts, each a write transaction of its own. Of each pair `edit_change.in_force` tells how
far that has come: a turn that was broken off goes on with the next undo or redo. An undo leaves a pair in force that it
leaves as it is, for it still has (perhaps below someone else's decision) what the edit gave it.
"""

from dataclasses import dataclass, field
from typing import Any

from sqlite_utils import Database

from augsbert_core.errors import WorkbenchError
from augsbert_core.pairs import ScoreRange
from augsbert_core.person_names import checked_person
from augsbert_core.progress import Report, ShouldStop, never, silent, stop_if
from augsbert_core.storage import edit_changes
from augsbert_core.storage.database import Workspace, now, reading, writing_often
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
    workspace: Workspace,
    scope: Scope,
    actor: str,
    *,
    leave_overwritten: bool = False,
    report: Report = silent,
    should_stop: ShouldStop = never,
) -> str | None:
    """Take back this actor's latest edit in the scope; returns what happened, None when none is left.

    leave_overwritten: pairs that someone else has decided on since stay as they are, the others go back.
    Overwritten: there are such pairs, and nothing was changed. A large edit goes back in parts; pairs on which someone
    decides meanwhile stay as they are. Stopped: should_stop said so, and the next undo takes back the rest.
    """
    told = (leave_overwritten, report, should_stop)
    return _turn(workspace, scope, checked_person(actor), UNDO, *told)


def redo(
    workspace: Workspace,
    scope: Scope,
    actor: str,
    *,
    leave_overwritten: bool = False,
    report: Report = silent,
    should_stop: ShouldStop = never,
) -> str | None:
    """Do the edit again that this actor took back last; returns what happened, None when there is none.

    An edit that the actor made since then leaves nothing to redo. The rest is as for `undo`.
    """
    told = (leave_overwritten, report, should_stop)
    return _turn(workspace, scope, checked_person(actor), REDO, *told)


def undo_state(workspace: Workspace, scope: Scope, actor: str) -> UndoState:
    """What undo and redo would do for this actor."""
    with reading(workspace) as db:
        found = [_next(db, scope, checked_person(actor), way) for way in (UNDO, REDO)]
        return UndoState(*(None if one is None else described(db, one) for one in found))


@dataclass(frozen=True)
class _Way:
    """One of the two ways: from the state and values that it expects to those that it leaves.

    in_force: whether its changes stand before it. half: edits that the other way has not finished with.
    """

    kind: str
    done: str
    state_from: str
    state_to: str
    in_force: int
    expected: str
    wanted: str
    order: str
    half: str


UNDO = _Way(
    "undo", "undone", "applied", "undone", 1, "after", "before", "DESC",
    half=f"state = 'undone' AND {edit_changes.TURN_SQL} IS 'redo'",
)  # fmt: skip
REDO = _Way(
    "redo", "redone", "undone", "applied", 0, "before", "after", "ASC",
    half="state = 'applied' AND id = (SELECT iif(kind = 'undo', target_edit_id, NULL) FROM edit"
    " WHERE {scope} AND actor = :actor ORDER BY id DESC LIMIT 1)",
)  # fmt: skip


def _next(db: Database, scope: Scope, actor: str, way: _Way) -> Any:
    """The edit that is undone or redone next, None when there is none."""
    return db.execute(
        f"SELECT * FROM edit WHERE {scope.where} AND actor = :actor"
        f" AND (state = :state OR ({way.half.format(scope=scope.where)})) ORDER BY id {way.order} LIMIT 1",
        {"owner": scope.owner_id, "actor": actor, "state": way.state_from},
    ).fetchone()


@dataclass
class _Found:
    """What a turn has met: all pairs, those that stay as someone else decided, those with nothing to do; and who."""

    n_all: int = 0
    n_left: int = 0
    n_there: int = 0
    names: set[str] = field(default_factory=set)


def _turn(
    workspace: Workspace,
    scope: Scope,
    actor: str,
    way: _Way,
    leave_overwritten: bool,
    report: Report,
    should_stop: ShouldStop,
) -> str | None:
    with writing_often(workspace) as begin:
        with begin(looking=True) as db:
            edit_changes.project_of(db, scope)
            edit = _next(db, scope, actor, way)
            if edit is None:
                return None
            last_turn = _last_turn(db, edit["id"])
            what, planned = described(db, edit), _Found()
            _gather(db, scope, edit, way, (-1, edit_changes.last_of(db, edit["id"], -1, -1)[1]))
            _look(db, scope, edit, way, actor, planned)
        if planned.n_left and not leave_overwritten:
            raise Overwritten(way.done, planned.n_left, planned.n_all, sorted(planned.names))
        found, pace, above = _Found(), edit_changes.Pace(), -1
        at_once = planned.n_all <= edit_changes.AT_ONCE
        turn, state = last_turn, edit["state"]
        while True:
            stop_if(should_stop)
            with begin() if at_once else pace.part(begin) as db:
                edit_changes.project_of(db, scope)
                _check_unchanged(db, edit["id"], turn, state)
                if above < 0:
                    turn, state = _begin_turn(db, edit, way, last_turn), way.state_from
                n_part = -1 if at_once else pace.n_pairs
                n_rows, last = edit_changes.last_of(db, edit["id"], above, n_part)
                _gather(db, scope, edit, way, (above, last))
                _look(db, scope, edit, way, actor, found)
                if at_once and found.n_left and not leave_overwritten:
                    raise Overwritten(way.done, found.n_left, found.n_all, sorted(found.names))
                _write(db, scope, edit["id"], turn, way)
                finished = n_rows < n_part or at_once
                if finished:
                    db.execute("UPDATE edit SET state = ? WHERE id = ?", [way.state_to, edit["id"]])
                    if turn == last_turn:
                        found.n_there = 0  # what it has done before it was broken off
                    return _sentence(db, scope, way, what, turn, found)
            above = last
            report(found.n_all / planned.n_all, f"{found.n_all:,} of {planned.n_all:,} pairs")


def _last_turn(db: Database, edit_id: int) -> int:
    """The row of the latest undo or redo of an edit, 0 when there was none."""
    query = "SELECT coalesce(max(id), 0) FROM edit WHERE target_edit_id = ?"
    return int(db.execute(query, [edit_id]).fetchone()[0])


def _check_unchanged(db: Database, edit_id: int, turn: int, state: str) -> None:
    """WorkbenchError: the same person has done something else with this edit meanwhile."""
    row = db.execute("SELECT state FROM edit WHERE id = ?", [edit_id]).fetchone()
    if row is None or (row[0], _last_turn(db, edit_id)) != (state, turn):
        raise WorkbenchError(
            "This edit was undone or redone in another window meanwhile. Look at the table, then go on from there."
        )


def _begin_turn(db: Database, edit: Any, way: _Way, last_turn: int) -> int:
    """The row of this turn: a new one, or that of the same turn when it was broken off."""
    if edit["state"] == way.state_from:
        query = "SELECT kind FROM edit WHERE id = ?"
        row = db.execute(query, [last_turn]).fetchone()
        if row is not None and row[0] == way.kind:
            return last_turn
    else:
        db.execute("UPDATE edit SET state = ? WHERE id = ?", [way.state_from, edit["id"]])
    made = db.execute(
        "INSERT INTO edit (project_id, silver_set_id, subject, kind, actor, at, summary, n_changes, state,"
        " target_edit_id) VALUES (?, ?, ?, ?, ?, ?, ?, 0, 'logged', ?)",
        [edit["project_id"], edit["silver_set_id"], edit["subject"], way.kind, edit["actor"], now(),
         edit["summary"], edit["id"]],
    )  # fmt: skip
    return int(made.lastrowid or 0)


def _write(db: Database, scope: Scope, edit_id: int, turn: int, way: _Way) -> None:
    """Turn the gathered pairs that nothing is in the way of, and count them."""
    db.execute("DELETE FROM temp.change WHERE is_overwritten OR is_there")
    edit_changes.write_changes(db, scope)
    db.execute(
        "UPDATE edit_change SET in_force = ? WHERE edit_id = ? AND pair_id IN (SELECT pair_id FROM temp.change)",
        [1 - way.in_force, edit_id],
    )
    n_done = edit_changes.n_gathered(db)
    db.execute("UPDATE edit SET n_changes = n_changes + ? WHERE id = ?", [n_done, turn])


Part = tuple[int, int]
"""The pairs of an edit with ids above the first and up to the second number."""


def _gather(db: Database, scope: Scope, edit: Any, way: _Way, part: Part) -> None:
    """Gather what pairs of an edit have now, and what they get; marked where they have not what is expected."""
    edit_changes.start(db)
    values = f"{way.wanted}_score, {way.wanted}_status"
    score, status = f"{way.expected}_score", f"{way.expected}_status"
    there = f"in_force <> {way.in_force}"
    where = "edit_id = ? AND pair_id > ? AND pair_id <= ?"
    bound = [edit["id"], *part, scope.owner_id]
    if scope.is_silver:
        db.execute(
            f"{edit_changes.SILVER_COLUMNS.rstrip().removesuffix(')')}, is_there)"
            f" SELECT pair_id, correction, status, {values},"
            f" NOT {there} AND (correction IS NOT {score} OR status IS NOT {status}), score,"
            f" coalesce(rank, 0), {there} FROM edit_change CROSS JOIN silver_pair ON silver_pair.id = pair_id"
            f" WHERE {where} AND silver_set_id = ?",
            bound,
        )
        return
    low, high = db.execute(
        "SELECT score_low, score_high FROM project WHERE id = ?", [scope.owner_id]
    ).fetchone()
    # What was there before comes back bit for bit; it need not be what the scale makes of the raw score.
    unit = "before_unit" if way is UNDO else "iif(raw_score IS after_score, score, NULL)"
    db.execute(
        "INSERT INTO temp.change (pair_id, before_score, before_status, after_score, after_status, is_overwritten,"
        f" before_unit, after_unit, is_there) SELECT pair_id, raw_score, raw_label, {values},"
        f" NOT {there} AND (raw_score IS NOT {score} OR raw_label IS NOT {status}), score, {unit}, {there}"
        f" FROM edit_change CROSS JOIN gold_pair ON gold_pair.id = pair_id WHERE {where} AND project_id = ?",
        bound,
    )
    rows = db.execute(
        "SELECT pair_id, after_score FROM temp.change WHERE after_unit IS NULL"
    ).fetchall()
    scale = ScoreRange(low, high)
    db.conn.executemany(
        "UPDATE temp.change SET after_unit = ? WHERE pair_id = ?",
        [(scale.to_unit(raw), pair_id) for pair_id, raw in rows],
    )


# The smaller side comes first: the pairs of this edit, or those of the later ones. What an undo has done with already
# is nothing to it; a redo tells whose decision lies over what stands below it.
OTHERS_SQL = """
UPDATE temp.change SET is_overwritten = 1 WHERE {which} AND pair_id IN (
  SELECT pair_id FROM edit CROSS JOIN edit_change ON edit_id = edit.id
  WHERE {scope} AND edit.id > :edit AND state <> 'logged' AND actor <> :actor AND in_force
    AND pair_id BETWEEN (SELECT min(pair_id) FROM temp.change) AND (SELECT max(pair_id) FROM temp.change))
"""
OTHERS_OF_FEW_SQL = """
UPDATE temp.change SET is_overwritten = 1 WHERE {which} AND EXISTS (
  SELECT 1 FROM edit_change AS later CROSS JOIN edit ON edit.id = later.edit_id
  WHERE later.pair_id = change.pair_id AND later.edit_id > :edit AND {scope}
    AND state <> 'logged' AND actor <> :actor AND in_force)
"""


def _look(db: Database, scope: Scope, edit: Any, way: _Way, actor: str, found: _Found) -> None:
    """Mark the gathered pairs on which somebody else has made a later edit that stands, and count all marks."""
    n_all = edit_changes.n_gathered(db)
    query = OTHERS_OF_FEW_SQL if n_all <= MOST_NAMED else OTHERS_SQL
    values = {"owner": scope.owner_id, "edit": edit["id"], "actor": actor}
    which = "NOT is_there" if way is UNDO else "TRUE"
    db.execute(query.format(scope=scope.where, which=which), values)
    n_left, n_there = db.execute(
        "SELECT coalesce(sum(is_overwritten), 0), coalesce(sum(is_there AND NOT is_overwritten), 0) FROM temp.change"
    ).fetchone()
    found.n_all += n_all
    found.n_left += n_left
    found.n_there += n_there
    if n_left:
        found.names.update(_names(db, scope, edit["id"], actor))


NAMES_SQL = """
SELECT DISTINCT (
  SELECT actor FROM edit_change AS later CROSS JOIN edit ON edit.id = later.edit_id
  WHERE later.pair_id = change.pair_id AND {scope} AND actor <> :actor AND later.edit_id <> :edit
  ORDER BY (edit.id > :edit AND in_force) DESC, edit.id DESC LIMIT 1) AS name
FROM (SELECT pair_id FROM temp.change WHERE is_overwritten LIMIT :most) AS change
"""


def _names(db: Database, scope: Scope, edit_id: int, actor: str) -> list[str]:
    """Who else has had the marked pairs in hand, those who decided on them last."""
    values = {"owner": scope.owner_id, "actor": actor, "edit": edit_id, "most": MOST_NAMED}
    rows = db.execute(NAMES_SQL.format(scope=scope.where), values).fetchall()
    return [name for (name,) in rows if name]


def _sentence(db: Database, scope: Scope, way: _Way, what: str, turn: int, found: _Found) -> str:
    """What an undo or redo did, for people."""
    who = " and ".join(sorted(found.names)) or "someone"
    n_done = int(db.execute("SELECT n_changes FROM edit WHERE id = ?", [turn]).fetchone()[0])
    if found.n_left == found.n_all > 0:
        which = "the pair" if found.n_all == 1 else f"all {found.n_all:,} pairs"
        return f"Left {which} as decided by {who}: {what}"
    if found.n_there == found.n_all > 0:
        return f"{'Undone' if way is UNDO else 'There'} already, nothing was changed: {what}"
    if found.n_all == 1:
        back = "Back to" if way is UNDO else "Again"
        return f"{back} {_value(db, scope)}"
    rest = ""
    if found.n_there and way is REDO:
        rest = f"; on {_pairs(found.n_there)} it was there already"
    if found.n_left:
        stay = "stays" if found.n_left == 1 else "stay"
        rest += f"; {_pairs(found.n_left)} {stay} as decided by {who}"
    return f"{way.done.capitalize()} on {_pairs(n_done)}{rest}: {what}"


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
