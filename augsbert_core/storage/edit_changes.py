"""Changes of silver and gold pairs: gathered in a temporary table, written at once, and logged as one edit.

A change is gathered with what the pair has now ("before") and what it will have ("after"). Of a silver pair that is
its correction and status, of a gold pair its raw score and its raw label. Everything here works on sets of rows: an
edit can change a million pairs.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlite_utils import Database

from augsbert_core.errors import WorkbenchError
from augsbert_core.person_names import LONGEST_SUMMARY, checked_person, clean_line
from augsbert_core.progress import Report, ShouldStop, never, silent, stop_if
from augsbert_core.storage.database import Begin, Workspace, columns, now, writing_often
from augsbert_core.storage.silver_bins import SCORE_BINS, STATUSES, count_in

SILVER_KINDS = ("review", "bulk-review", "rescale", "carry-over")
GOLD_KINDS = ("set-gold", "keep-gold", "merge-gold")
LOGGED_KINDS = ("undo", "redo")

FEW = 4
"""A part of a set this many times smaller than the set is looked up pair by pair."""


AT_ONCE = 20_000
"""More pairs than these are changed in several write transactions."""

FIRST_PART, FEWEST = 4_000, 2_000

HOLD_SECONDS = 0.2
"""About how long one of them takes, before it is written out ..."""

PAUSE_SECONDS = 0.03
"""... and then other writers get this long to begin."""


@dataclass(frozen=True)
class Scope:
    """What undo and redo look at: one silver set, or the gold pairs of one project."""

    subject: str
    owner_id: int

    @classmethod
    def silver(cls, set_id: int) -> "Scope":
        """The pairs of a silver set."""
        return cls("silver_pair", set_id)

    @classmethod
    def gold(cls, project_id: int) -> "Scope":
        """The gold pairs of a project."""
        return cls("gold_pair", project_id)

    @property
    def is_silver(self) -> bool:
        return self.subject == "silver_pair"

    @property
    def where(self) -> str:
        """The edits of this scope, as SQL on table edit; it takes :owner."""
        if self.is_silver:
            return "edit.silver_set_id = :owner"
        return (
            "edit.project_id = :owner AND edit.silver_set_id IS NULL AND edit.subject = 'gold_pair'"
        )


def project_of(db: Database, scope: Scope) -> int:
    """The project that a scope belongs to. WorkbenchError: the set or project is gone."""
    table, column = ("silver_set", "project_id") if scope.is_silver else ("project", "id")
    query = f"SELECT {column} FROM {table} WHERE id = ? AND NOT deleting"
    row = db.execute(query, [scope.owner_id]).fetchone()
    if row is None:
        what = "Silver set" if scope.is_silver else "Project"
        raise WorkbenchError(f"{what} {scope.owner_id} does not exist (any more). Choose another.")
    return int(row[0])


# labeler, rank: of silver pairs. before_unit, after_unit: of gold pairs, scores in [0, 1].
# is_overwritten: an undo or redo finds something else than it expects. is_there: it has nothing to do.
CHANGE_SQL = """
CREATE TEMP TABLE IF NOT EXISTS change (
  pair_id INTEGER PRIMARY KEY,
  before_score REAL, before_status TEXT NOT NULL, after_score REAL, after_status TEXT NOT NULL,
  before_unit REAL, after_unit REAL, is_overwritten INTEGER NOT NULL DEFAULT 0, is_there INTEGER NOT NULL DEFAULT 0,
  labeler REAL, rank INTEGER)
"""

SILVER_COLUMNS = """
INSERT INTO temp.change (pair_id, before_score, before_status, after_score, after_status, is_overwritten,
  labeler, rank)
"""


def start(db: Database) -> None:
    """An empty table of changes."""
    db.execute(CHANGE_SQL)
    db.execute("DELETE FROM temp.change")


def choose(db: Database, pair_ids: np.ndarray) -> None:
    """Put ids of pairs in a temporary table `chosen`, each once."""
    db.execute("CREATE TEMP TABLE IF NOT EXISTS chosen (id INTEGER PRIMARY KEY)")
    db.execute("DELETE FROM temp.chosen")
    ids = np.unique(np.asarray(pair_ids, dtype=np.int64))
    db.conn.executemany("INSERT INTO temp.chosen VALUES (?)", ((one,) for one in ids.tolist()))


def gather_silver(
    db: Database, set_id: int, after_score: str, after_status: str, values: dict[str, Any]
) -> None:
    """Gather the chosen pairs of a silver set that a decision changes.

    after_score, after_status: SQL on the columns of silver_pair, with values.
    """
    start(db)
    db.execute(
        f"{SILVER_COLUMNS} SELECT id, correction, status, {after_score}, {after_status}, 0,"
        " score, coalesce(rank, 0) FROM temp.chosen CROSS JOIN silver_pair USING (id)"
        f" WHERE silver_set_id = :set AND (correction IS NOT ({after_score}) OR status IS NOT ({after_status}))",
        {**values, "set": set_id},
    )


def n_gathered(db: Database) -> int:
    """How many changes are gathered."""
    return int(db.execute("SELECT count(*) FROM temp.change").fetchone()[0])


def save_edit(db: Database, scope: Scope, kind: str, actor: str, summary: str) -> int:
    """Write what is gathered, and log it as one edit of this actor; returns how many pairs it changed.

    What the actor has undone in the scope can no longer be redone. Nothing gathered: nothing is logged.
    """
    project_of(db, scope)
    n_changes = n_gathered(db)
    if n_changes:
        edit_id = _add_edit(db, scope, kind, actor, summary)
        _add_changes(db, scope, edit_id, n_changes)
    return n_changes


# The latest turn of an edit tells whether one was broken off: then it does not fit the edit's state.
TURN_SQL = "(SELECT kind FROM edit AS turn WHERE turn.target_edit_id = edit.id ORDER BY turn.id DESC LIMIT 1)"


def _add_edit(db: Database, scope: Scope, kind: str, actor: str, summary: str) -> int:
    actor, summary = checked_person(actor), clean_line(summary, LONGEST_SUMMARY)
    # A redo that was broken off has changed pairs, which must stay within reach of an undo.
    db.execute(
        f"UPDATE edit SET state = iif({TURN_SQL} IS 'redo', 'applied', 'dropped')"
        f" WHERE {scope.where} AND actor = :actor AND state = 'undone'",
        {"owner": scope.owner_id, "actor": actor},
    )
    set_id = scope.owner_id if scope.is_silver else None
    edit_id = db.execute(
        "INSERT INTO edit (project_id, silver_set_id, subject, kind, actor, at, summary)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        [project_of(db, scope), set_id, scope.subject, kind, actor, now(), summary],
    ).lastrowid
    return int(edit_id or 0)


def _add_changes(db: Database, scope: Scope, edit_id: int, n_changes: int) -> None:
    db.execute(
        "INSERT INTO edit_change (edit_id, pair_id, before_score, before_status, after_score, after_status,"
        " before_unit) SELECT ?, pair_id, before_score, before_status, after_score, after_status, before_unit"
        " FROM temp.change ORDER BY pair_id",
        [edit_id],
    )
    write_changes(db, scope)
    db.execute("UPDATE edit SET n_changes = n_changes + ? WHERE id = ?", [n_changes, edit_id])


# --- in parts ------------------------------------------------------------------------------------------


class Pace:
    """How many pairs the next write transaction takes on: so many as keep others waiting for a moment only."""

    def __init__(self) -> None:
        self.n_pairs = min(FIRST_PART, AT_ONCE)

    @contextmanager
    def part(self, begin: Begin) -> Iterator[Database]:
        """One write transaction, and a pause after it in which others can begin theirs."""
        with begin() as db:
            since = time.monotonic()
            yield db
            held = time.monotonic() - since
        wanted = self.n_pairs * HOLD_SECONDS / max(held, 1e-3)
        self.n_pairs = int(min(max(wanted, FEWEST), self.n_pairs * 2, AT_ONCE))
        time.sleep(PAUSE_SECONDS)


def carry_out(
    workspace: Workspace,
    scope: Scope,
    kind: str,
    actor: str,
    summary: str,
    gather: Callable[[Database], None],
    *,
    report: Report = silent,
    should_stop: ShouldStop = never,
) -> int:
    """One edit of silver pairs, of many in parts; returns how many pairs it changed.

    gather: fills the table of changes. It runs before anything is locked; a pair that someone else has decided on
    since then is left alone. After each part the log is whole: the edit counts what it has changed, and can be undone.
    WorkbenchError: the set is gone, or the edit was taken back meanwhile. Stopped: should_stop said so.
    """
    checked_person(actor)
    with writing_often(workspace) as begin:
        with begin(looking=True) as db:
            project_of(db, scope)
            gather(db)
            n_planned = n_gathered(db)
            if not n_planned:
                return 0
            db.execute("DROP TABLE IF EXISTS temp.plan")
            db.execute("ALTER TABLE temp.change RENAME TO plan")
            start(db)
        if n_planned <= AT_ONCE:
            with begin() as db:
                _gather_planned(db, scope, -1, n_planned)
                return save_edit(db, scope, kind, actor, summary)
        edit_id, last, n_seen, n_done, pace = 0, -1, 0, 0, Pace()
        while n_seen < n_planned:
            stop_if(should_stop)
            with pace.part(begin) as db:
                project_of(db, scope)
                edit_id = edit_id or _add_edit(db, scope, kind, actor, summary)
                if not db.execute(STANDS_SQL, [edit_id]).fetchone():
                    raise WorkbenchError(
                        f"This edit was taken back in another window when {n_done:,} of {n_planned:,} pairs were "
                        "done. The others stay as they are."
                    )
                n_part, last = _gather_planned(db, scope, last, pace.n_pairs)
                n_changes = n_gathered(db)
                _add_changes(db, scope, edit_id, n_changes)
            n_seen, n_done = n_seen + n_part, n_done + n_changes
            report(n_seen / n_planned, f"{n_seen:,} of {n_planned:,} pairs")
        if not n_done:  # all planned pairs were someone else's by then
            with begin() as db:
                db.execute("DELETE FROM edit WHERE id = ?", [edit_id])
        return n_done


STANDS_SQL = f"SELECT 1 FROM edit WHERE id = ? AND state = 'applied' AND {TURN_SQL} IS NULL"

PLANNED_SQL = """
INSERT INTO temp.change SELECT plan.* FROM temp.plan CROSS JOIN silver_pair ON silver_pair.id = pair_id
WHERE pair_id > ? AND pair_id <= ? AND silver_set_id = ? AND correction IS before_score AND status IS before_status
"""


def _gather_planned(db: Database, scope: Scope, above: int, n_pairs: int) -> tuple[int, int]:
    """Gather the next part of the plan, where pairs still are what they were; how many it has, and its last id."""
    part, last = _end_of(db, "temp.plan WHERE pair_id > ?", [above], n_pairs)
    start(db)
    db.execute(PLANNED_SQL, [above, last, scope.owner_id])
    return part, last


def last_of(db: Database, edit_id: int, above: int, n_pairs: int) -> tuple[int, int]:
    """Of the next n_pairs changes of an edit (-1: all), by id: how many there are, and the last id."""
    return _end_of(db, "edit_change WHERE edit_id = ? AND pair_id > ?", [edit_id, above], n_pairs)


def _end_of(db: Database, rows: str, values: list[int], n_rows: int) -> tuple[int, int]:
    query = f"SELECT pair_id FROM {rows} ORDER BY pair_id LIMIT ?"
    found = db.execute(
        f"SELECT count(*), max(pair_id) FROM ({query})", [*values, n_rows]
    ).fetchone()
    return int(found[0]), int(found[1] if found[0] else values[-1])


# --- writing -------------------------------------------------------------------------------------------


def write_changes(db: Database, scope: Scope) -> None:
    """Give the gathered pairs what they have after the change, and bring all that is counted up to date."""
    if not scope.is_silver:
        db.execute(WRITE_GOLD_SQL)
        return
    n_changes = n_gathered(db)
    if n_changes:
        query = "SELECT EXISTS (SELECT 1 FROM temp.change WHERE before_score IS NOT after_score)"
        has_scores = bool(db.execute(query).fetchone()[0])
        _write_silver(db, scope.owner_id, n_changes, has_scores)
        count_in(db, scope.owner_id, _moved(db))


def _write_silver(db: Database, set_id: int, n_changes: int, has_scores: bool) -> None:
    query = "SELECT n_pairs FROM silver_set WHERE id = ?"
    few = n_changes * FEW < db.execute(query, [set_id]).fetchone()[0]
    # Few pairs are looked up one by one; many are met while the set is read as it lies.
    where = "+silver_set_id = ? AND id IN" if few else "silver_set_id = ? AND +id IN"
    columns, values = "status", "after_status"
    if has_scores:
        columns = "(status, correction, final_score)"
        values = "after_status, after_score, coalesce(after_score, score)"
    db.execute(
        f"UPDATE silver_pair SET {columns} = (SELECT {values} FROM temp.change WHERE pair_id = id)"
        f" WHERE {where} (SELECT pair_id FROM temp.change)",
        [set_id],
    )


WRITE_GOLD_SQL = """
UPDATE gold_pair SET raw_score = after_score, raw_label = after_status, score = after_unit
FROM temp.change WHERE gold_pair.id = pair_id
"""

STATUS_NUMBER = " ".join(f"WHEN '{status}' THEN {number}" for number, status in enumerate(STATUSES))
MOVED_SQL = f"""
SELECT rank, coalesce(before_score, labeler), CASE before_status {STATUS_NUMBER} END,
  coalesce(after_score, labeler), CASE after_status {STATUS_NUMBER} END FROM temp.change
"""


def _moved(db: Database) -> list[tuple[str, int, int, int]]:
    """What `count_in` needs: (status, rank, bin, how many more), for whatever the changes move."""
    ranks, *sides = columns(db, MOVED_SQL, [], np.float64)
    moved: Counter[tuple[str, int, int]] = Counter()
    for (scores, statuses), change in ((sides[:2], -1), (sides[2:], 1)):
        bins = np.minimum((scores * SCORE_BINS).astype(np.int64), SCORE_BINS - 1)
        status_bins = statuses.astype(np.int64) * SCORE_BINS + bins
        cells, counts = np.unique(
            ranks.astype(np.int64) * len(STATUSES) * SCORE_BINS + status_bins, return_counts=True
        )
        for cell, count in zip(cells.tolist(), counts.tolist(), strict=True):
            rest, place = divmod(cell, SCORE_BINS)
            rank, status = divmod(rest, len(STATUSES))
            moved[STATUSES[status], rank, place] += change * count
    return [(*cell, n_pairs) for cell, n_pairs in moved.items() if n_pairs]
