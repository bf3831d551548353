"""Changes of silver and gold pairs: gathered in a temporary table, written at once, and logged as one edit.

A change is gathered with what the pair has now ("before") and what it will have ("after"). Of a silver pair that is
its correction and status, of a gold pair its raw score and its raw label. Everything here works on sets of rows: an
edit can change a million pairs.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlite_utils import Database

from augsbert_core.errors import WorkbenchError
from augsbert_core.storage.bulk import MANY
from augsbert_core.storage.database import columns, now
from augsbert_core.storage.silver_bins import SCORE_BINS, STATUSES, count_in

SILVER_KINDS = ("review", "bulk-review", "rescale", "carry-over")
GOLD_KINDS = ("set-gold", "keep-gold")
LOGGED_KINDS = ("undo", "redo")

FEW = 4
"""A part of a set this many times smaller than the set is looked up pair by pair."""


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
# is_overwritten: an undo or redo finds something else than it expects.
CHANGE_SQL = """
CREATE TEMP TABLE IF NOT EXISTS change (
  pair_id INTEGER PRIMARY KEY,
  before_score REAL, before_status TEXT NOT NULL, after_score REAL, after_status TEXT NOT NULL,
  before_unit REAL, after_unit REAL, is_overwritten INTEGER NOT NULL DEFAULT 0,
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
    project_id = project_of(db, scope)
    n_changes = n_gathered(db)
    if not n_changes:
        return 0
    db.execute(
        f"UPDATE edit SET state = 'dropped' WHERE {scope.where} AND actor = :actor AND state = 'undone'",
        {"owner": scope.owner_id, "actor": actor},
    )
    set_id = scope.owner_id if scope.is_silver else None
    edit_id = db.execute(
        "INSERT INTO edit (project_id, silver_set_id, subject, kind, actor, at, summary, n_changes)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [project_id, set_id, scope.subject, kind, actor, now(), summary, n_changes],
    ).lastrowid
    db.execute(
        "INSERT INTO edit_change (edit_id, pair_id, before_score, before_status, after_score, after_status,"
        " before_unit) SELECT ?, pair_id, before_score, before_status, after_score, after_status, before_unit"
        " FROM temp.change ORDER BY pair_id",
        [edit_id],
    )
    write_changes(db, scope)
    return n_changes


def write_changes(db: Database, scope: Scope) -> None:
    """Give the gathered pairs what they have after the change, and bring all that is counted up to date."""
    if not scope.is_silver:
        db.execute(WRITE_GOLD_SQL)
        return
    n_changes = n_gathered(db)
    if n_changes:
        query = "SELECT EXISTS (SELECT 1 FROM temp.change WHERE before_score IS NOT after_score)"
        has_scores = bool(db.execute(query).fetchone()[0])
        with _without_indexes(db, n_changes, has_scores):
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


@contextmanager
def _without_indexes(db: Database, n_changes: int, has_scores: bool) -> Iterator[None]:
    """Change pairs in the block. When they are many of all, the indexes that it changes are built anew after it."""
    query = "SELECT coalesce(sum(n_pairs), 0) FROM silver_set"
    if n_changes < MANY or n_changes * 2 < db.execute(query).fetchone()[0]:
        yield
        return
    names = ("silver_pair_reviewed", "silver_pair_by_score", "silver_pair_by_second")
    statements = [
        db.execute("SELECT sql FROM sqlite_master WHERE name = ?", [name]).fetchone()[0]
        for name in names[: None if has_scores else 1]
    ]
    for name, _ in zip(names, statements, strict=False):
        db.execute(f"DROP INDEX {name}")
    yield
    for statement in statements:
        db.execute(statement)


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
