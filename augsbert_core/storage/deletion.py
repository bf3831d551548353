"""Large things go in two moves: hidden at once, then removed in short transactions.

A million silver pairs take seconds to remove, and whoever writes meanwhile would have to wait for all of
them. So a deletion only marks its rows; `sweep` removes what is marked, and goes on where an earlier sweep
stopped, whoever calls it.
"""

import threading
import time
from collections.abc import Sequence
from typing import Any

from sqlite_utils import Database

from augsbert_core.storage.database import Workspace, reading, writing_often

HOLD_SECONDS = 0.15
"""About how long one transaction of a sweep removes rows; writing them out takes about as long again ..."""

PAUSE_SECONDS = 0.03
"""... and then other writers get this long to begin."""

AT_ONCE_SECONDS = 1.0
"""How long a deletion itself sweeps; small things are gone by then."""

FIRST_CHUNK, FEWEST = 5_000, 500


def hide_silver_sets(db: Database, where: str, values: Sequence[Any]) -> None:
    """Mark silver sets for removal. Sets that were kept of them stay, without a pool."""
    sets = f"SELECT id FROM silver_set WHERE {where}"
    db.execute(
        f"DELETE FROM job WHERE run_id IN (SELECT run_id FROM silver_set WHERE {where})", values
    )
    db.execute(f"UPDATE silver_set SET pool_set_id = NULL WHERE pool_set_id IN ({sets})", values)
    _keep_silver_ids(db)
    db.execute(
        "UPDATE annotation_item SET source_pair_id = NULL WHERE task_id IN"
        f" (SELECT id FROM annotation_task WHERE silver_set_id IN ({sets}))",
        values,
    )
    db.execute(f"UPDATE silver_set SET deleting = 1 WHERE {where}", values)


def _keep_silver_ids(db: Database) -> None:
    """Note the highest id of a silver pair, as SQLite does for other tables: no id comes back."""
    query = "DELETE FROM sqlite_sequence WHERE name = 'silver_pair' RETURNING seq"
    last = [row[0] for row in db.execute(query).fetchall()]
    found = db.execute("SELECT coalesce(max(id), 0) FROM silver_pair").fetchone()[0]
    db.execute(
        "INSERT INTO sqlite_sequence (name, seq) VALUES ('silver_pair', ?)", [max(found, *last, 0)]
    )


def hide_candidate_sets(db: Database, where: str, values: Sequence[Any]) -> None:
    """Mark candidate sets, whose silver sets are gone or marked, for removal."""
    db.execute(
        f"DELETE FROM job WHERE run_id IN (SELECT run_id FROM candidate_set WHERE {where})", values
    )
    db.execute(f"UPDATE candidate_set SET deleting = 1 WHERE {where}", values)


def hide_project(db: Database, project_id: int) -> None:
    """Mark a project with all its sets for removal; its name is free again."""
    hide_silver_sets(db, "project_id = ?", [project_id])
    hide_candidate_sets(db, "project_id = ?", [project_id])
    db.execute("DELETE FROM job WHERE project_id = ?", [project_id])
    # No one can type this character, so no name of theirs can be in the way.
    db.execute("UPDATE project SET deleting = 1, name = char(127) || id WHERE id = ?", [project_id])


PENDING_SQL = """
SELECT EXISTS (SELECT 1 FROM silver_set WHERE deleting)
  OR EXISTS (SELECT 1 FROM candidate_set WHERE deleting) OR EXISTS (SELECT 1 FROM project WHERE deleting)
"""


def sweep(workspace: Workspace, seconds: float | None = None) -> bool:
    """Remove what is marked, for about so many seconds (None: to the end); True when nothing is left.

    Cheap when nothing is marked. Several may sweep at a time.
    """
    if not _is_pending(workspace):
        return True
    begun = time.monotonic()
    n_rows = FIRST_CHUNK
    with writing_often(workspace) as begin:
        while seconds is None or time.monotonic() - begun < seconds:
            with begin() as db:
                held_since = time.monotonic()
                finished = _remove_some(db, n_rows)
                held = time.monotonic() - held_since
            if finished:
                return True
            n_rows = int(min(max(n_rows * HOLD_SECONDS / max(held, 1e-3), FEWEST), n_rows * 4))
            time.sleep(PAUSE_SECONDS)
    return False


def _is_pending(workspace: Workspace) -> bool:
    with reading(workspace) as db:
        return bool(db.execute(PENDING_SQL).fetchone()[0])


ITS_TASKS = "task_id IN (SELECT id FROM annotation_task WHERE project_id = ?)"

OF_PROJECT = {
    "annotation_event": ITS_TASKS,
    "best_worst_answer": ITS_TASKS,
    "annotation_item": ITS_TASKS,
    **dict.fromkeys(("gold_pair", "nli_pair", "triplet", "sentence"), "project_id = ?"),
}
"""The large tables of a project whose rows have ids, in the order in which they are emptied."""


def _remove_some(db: Database, n_rows: int) -> bool:
    """Remove about n_rows rows of what is marked, silver before candidates before projects.

    True when nothing is left.
    """
    for pairs, sets in (("silver_pair", "silver_set"), ("candidate_pair", "candidate_set")):
        marked = db.execute(f"SELECT id, run_id FROM {sets} WHERE deleting ORDER BY id").fetchall()
        for set_id, run_id in marked:
            if sets == "silver_set":
                n_rows -= _remove_edits(db, "silver_set_id = ?", set_id, n_rows)
            n_rows -= 0 if n_rows <= 0 else _remove_pairs(db, pairs, f"{sets}_id", set_id, n_rows)
            if n_rows <= 0:
                return False
            db.execute(f"DELETE FROM {sets} WHERE id = ?", [set_id])
            remove_unused_run(db, run_id)
    for (project_id,) in db.execute("SELECT id FROM project WHERE deleting ORDER BY id").fetchall():
        n_rows -= _remove_edits(db, "project_id = ?", project_id, n_rows)
        if n_rows <= 0:
            return False
        for table, where in OF_PROJECT.items():
            n_rows -= db.execute(
                f"DELETE FROM {table} WHERE id IN (SELECT id FROM {table} WHERE {where} LIMIT ?)",
                [project_id, n_rows],
            ).rowcount
            if n_rows <= 0:
                return False
        db.execute("DELETE FROM run WHERE project_id = ?", [project_id])
        db.execute("DELETE FROM project WHERE id = ?", [project_id])
    return True


def _remove_pairs(db: Database, table: str, owner: str, set_id: int, n_rows: int) -> int:
    """Remove up to n_rows pairs of a set, in the order in which they lie on the disk."""
    end = db.execute(
        f"SELECT sentence1_id, sentence2_id FROM {table} WHERE {owner} = ?"
        " ORDER BY sentence1_id, sentence2_id LIMIT 1 OFFSET ?",
        [set_id, n_rows],
    ).fetchone()
    if end is None:
        return db.execute(f"DELETE FROM {table} WHERE {owner} = ?", [set_id]).rowcount
    return db.execute(
        f"DELETE FROM {table} WHERE {owner} = ? AND (sentence1_id, sentence2_id) < (?, ?)",
        [set_id, *end],
    ).rowcount


def _remove_edits(db: Database, where: str, owner: int, n_rows: int) -> int:
    """Remove edits with up to n_rows of their changes; returns how many rows went."""
    left = n_rows
    for (edit_id,) in db.execute(
        f"SELECT id FROM edit WHERE {where} ORDER BY id", [owner]
    ).fetchall():
        left -= db.execute(
            "DELETE FROM edit_change WHERE edit_id = ?1 AND pair_id IN"
            " (SELECT pair_id FROM edit_change WHERE edit_id = ?1 LIMIT ?2)",
            [edit_id, left],
        ).rowcount
        if left <= 0:
            break
    query = f"""DELETE FROM edit WHERE {where}
      AND NOT EXISTS (SELECT 1 FROM edit_change WHERE edit_id = coalesce(target_edit_id, edit.id))"""
    return n_rows - left + max(db.execute(query, [owner]).rowcount, 0)


# A run may own both candidates and silver (sample-stratified), and with a run all that it owns would go.
UNUSED_RUN_SQL = """
DELETE FROM run WHERE id = :run AND NOT EXISTS (SELECT 1 FROM silver_set WHERE run_id = :run)
  AND NOT EXISTS (SELECT 1 FROM candidate_set WHERE run_id = :run)
  AND NOT EXISTS (SELECT 1 FROM job WHERE run_id = :run)
"""


def remove_unused_run(db: Database, run_id: int) -> None:
    """Remove a run, unless it still owns a set (marked ones count) or a job."""
    db.execute(UNUSED_RUN_SQL, {"run": run_id})


_sweeping = threading.Lock()


def sweep_in_background(workspace: Workspace) -> None:
    """Start a thread that sweeps to the end, unless nothing is marked or one of this process is at it.

    It may die with the process: what is left stays marked.
    """
    if _is_pending(workspace) and _sweeping.acquire(blocking=False):
        threading.Thread(
            target=_sweep_and_release, args=(workspace,), name="sweep", daemon=True
        ).start()


def _sweep_and_release(workspace: Workspace) -> None:
    try:
        sweep(workspace)
    finally:
        _sweeping.release()
