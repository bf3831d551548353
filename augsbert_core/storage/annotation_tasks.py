"""Annotation tasks: the pairs that people score or put in order, made at once and then only answered."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sqlite_utils import Database

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import TaskOptions
from augsbert_core.pairs import ScoreRange
from augsbert_core.scales import SCALES, Level
from augsbert_core.storage.database import Workspace, now, reading, writing
from augsbert_core.storage.deletion import remove_unused_run
from augsbert_core.storage.records import AnnotationTask, record

LONGEST_NAME = 80

MOST_SCORES = 1000
"""People who score a pair; a task of more would never end."""

MOST_STRATUM = 1000
"""The highest number of a stratum; audits have five."""


@dataclass(frozen=True)
class ItemRows:
    """Pairs for a task as columns of one length, in the order in which they are to be scored.

    first, second: sentence ids, in any order. source_pair_ids: of silver_pair or gold_pair, by the task's source.
    suggestions: a model's score in [0, 1], NaN for none. reasons: why each was chosen. strata, stratum_sizes: the part
    of the silver set that a pair was drawn from, and how many pairs it has. None: nothing is known of any pair.
    """

    first: np.ndarray
    second: np.ndarray
    source_pair_ids: np.ndarray | None = None
    suggestions: np.ndarray | None = None
    reasons: Sequence[str] | None = None
    strata: np.ndarray | None = None
    stratum_sizes: np.ndarray | None = None

    def __post_init__(self) -> None:
        columns = (
            self.second, self.source_pair_ids, self.suggestions, self.reasons, self.strata,
            self.stratum_sizes,
        )  # fmt: skip
        if any(column is not None and len(column) != len(self.first) for column in columns):
            raise ValueError("all columns of a task's pairs must have one length")

    def __len__(self) -> int:
        return len(self.first)


def create_task(
    workspace: Workspace,
    project_id: int,
    run_id: int,
    told: TaskOptions,
    levels: Sequence[Level],
    items: ItemRows,
    tuples: np.ndarray | None = None,
) -> int:
    """Write a task with its pairs and tuples, all or nothing; returns its id. A run has one task: again, it is the same.

    tuples: for best-worst: places in items, int, shape (tuples, 4), in the order to be answered. WorkbenchError: there
    is no pair, a pair is there twice, the name is too long, the number of people is none, or the pairs of an audit have
    no strata that it can be counted up from.
    """
    if (tuples is None) != (told.kind == "scores"):
        raise ValueError(f"tuples do not go with a task of kind {told.kind!r}")
    name = _checked_name(told.name) if told.name.strip() else ""
    if not 1 <= told.n_scores <= MOST_SCORES:
        raise WorkbenchError(
            f"Scores per pair are {told.n_scores:,}. Give a number from 1 to {MOST_SCORES:,}."
        )
    _check_strata(items, is_audit=told.purpose == "audit")
    rows = _item_values(items)
    with writing(workspace) as db:
        known = db.execute("SELECT id FROM annotation_task WHERE run_id = ?", [run_id]).fetchone()
        if known:
            return int(known[0])
        values = {
            "project": project_id,
            "run": run_id,
            "set": told.silver_set_id,
            "name": name or _free_name(db, project_id, told.purpose),
            "levels": json.dumps([asdict(level) for level in levels]),
            "now": now(),
            **{key: getattr(told, key) for key in TOLD},
        }
        task_id = int(db.execute(INSERT_TASK_SQL, values).lastrowid or 0)
        db.conn.executemany(INSERT_ITEM_SQL, ((task_id, *row) for row in rows))
        if tuples is not None:
            _add_tuples(db, task_id, tuples)
    return task_id


TOLD = ("kind", "purpose", "source", "queue", "scale", "n_scores", "seed")

INSERT_TASK_SQL = """
INSERT INTO annotation_task (project_id, run_id, silver_set_id, name, kind, purpose, source, queue, scale, levels,
  n_scores, seed, created_at)
VALUES (:project, :run, :set, :name, :kind, :purpose, :source, :queue, :scale, :levels, :n_scores, :seed, :now)
"""

INSERT_ITEM_SQL = """
INSERT INTO annotation_item (task_id, position, sentence1_id, sentence2_id, source_pair_id, suggestion, reason,
  stratum, stratum_size)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


def _check_strata(items: ItemRows, *, is_audit: bool) -> None:
    if items.strata is None or items.stratum_sizes is None or items.suggestions is None:
        if is_audit:
            raise WorkbenchError(
                "The pairs of an audit need the labeler's scores and the score regions that they were drawn from. Draw "
                "them with the queue score-strata."
            )
        return
    if is_audit and not np.isfinite(np.asarray(items.suggestions, dtype=np.float64)).all():
        raise WorkbenchError("A pair of an audit has no score of the labeler. Label the set first.")
    if not are_strata(np.asarray(items.strata), np.asarray(items.stratum_sizes)):
        raise WorkbenchError("A stratum has two sizes, or fewer pairs than were drawn from it.")


def are_strata(strata: np.ndarray, sizes: np.ndarray) -> bool:
    """Whether each stratum of a sample has one size, and is as large as what was drawn from it."""
    if not len(strata) or strata.min() < 0 or strata.max() > MOST_STRATUM:
        return not len(strata)
    _, place, counts = np.unique(strata, return_inverse=True, return_counts=True)
    largest = np.zeros(len(counts), dtype=np.float64)
    np.maximum.at(largest, place, sizes)
    return bool((largest[place] == sizes).all() and (largest >= counts).all())


def _item_values(items: ItemRows) -> list[tuple[object, ...]]:
    """The values of `INSERT_ITEM_SQL` after the task, in order."""
    n_items = len(items)
    if not n_items:
        raise WorkbenchError("No pair is left for this task. Choose another source or queue.")
    first = np.minimum(items.first, items.second).astype(np.int64).tolist()
    second = np.maximum(items.first, items.second).astype(np.int64).tolist()
    if len(set(zip(first, second, strict=True))) < n_items:
        raise WorkbenchError("A pair is in this task twice. Each can be scored once only.")

    def whole(column: np.ndarray | None) -> list[int | None]:
        return [None] * n_items if column is None else np.asarray(column).astype(np.int64).tolist()

    suggestions: list[float | None] = [None] * n_items
    if items.suggestions is not None:
        values = np.asarray(items.suggestions, dtype=np.float64)
        suggestions = [
            value if known else None
            for value, known in zip(values.tolist(), np.isfinite(values).tolist(), strict=True)
        ]
    return list(
        zip(
            range(n_items),
            first,
            second,
            whole(items.source_pair_ids),
            suggestions,
            [""] * n_items if items.reasons is None else items.reasons,
            whole(items.strata),
            whole(items.stratum_sizes),
            strict=True,
        )
    )


def _add_tuples(db: Database, task_id: int, tuples: np.ndarray) -> None:
    rows = db.execute(
        "SELECT id FROM annotation_item WHERE task_id = ? ORDER BY position", [task_id]
    )
    ids = np.array([row[0] for row in rows], dtype=np.int64)
    members = ids[np.asarray(tuples, dtype=np.int64)].tolist()
    db.conn.executemany(
        "INSERT INTO best_worst_tuple (task_id, position, item1_id, item2_id, item3_id, item4_id)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        ((task_id, position, *row) for position, row in enumerate(members)),
    )


def _free_name(db: Database, project_id: int, purpose: str) -> str:
    """ "Task 3", or "Audit 3": the third task of the project, or the first number after it that no task has."""
    rows = db.execute("SELECT name FROM annotation_task WHERE project_id = ?", [project_id])
    names = {row[0] for row in rows}
    word = "Audit" if purpose == "audit" else "Task"
    number = len(names) + 1
    while f"{word} {number}" in names:
        number += 1
    return f"{word} {number}"


def list_tasks(workspace: Workspace, project_id: int) -> list[AnnotationTask]:
    """The tasks of a project, newest first."""
    with reading(workspace) as db:
        rows = db.execute(
            f"{TASK_SQL} WHERE task.project_id = ? ORDER BY task.id DESC", [project_id]
        )
        return [_task(row) for row in rows]


def get_task(workspace: Workspace, task_id: int) -> AnnotationTask:
    """The task with this id. WorkbenchError when it is gone."""
    with reading(workspace) as db:
        row = db.execute(f"{TASK_SQL} WHERE task.id = ?", [task_id]).fetchone()
    if row is None:
        raise task_is_gone(task_id)
    return _task(row)


def task_is_gone(task_id: int) -> WorkbenchError:
    """What to say about a task that is not there."""
    return WorkbenchError(
        f"Annotation task {task_id} does not exist (any more). Choose another one."
    )


# Of a tuple and a judge the last row counts; it has a best pair unless the tuple was skipped or nothing is left of it.
TASK_SQL = """
SELECT task.*, project.score_low, project.score_high,
  (SELECT count(*) FROM annotation_item WHERE task_id = task.id) AS n_items,
  (SELECT count(*) FROM best_worst_tuple WHERE task_id = task.id) AS n_tuples,
  CASE kind WHEN 'scores'
    THEN (SELECT count(*) FROM annotation WHERE task_id = task.id AND state = 'scored')
    ELSE (SELECT count(*) FROM best_worst_answer WHERE best_item_id IS NOT NULL AND id IN
      (SELECT max(id) FROM best_worst_answer WHERE task_id = task.id GROUP BY tuple_id, annotator))
  END AS n_answers
FROM annotation_task AS task JOIN project ON project.id = task.project_id AND NOT project.deleting
"""


def _task(row: Any) -> AnnotationTask:
    values = dict(row)
    values["levels"] = tuple(Level(**level) for level in json.loads(values["levels"]))
    values["score_range"] = raw_range(
        values["scale"], ScoreRange(values["score_low"], values["score_high"])
    )
    return record(AnnotationTask, values)


def raw_range(scale: str, of_project: ScoreRange) -> ScoreRange:
    """The scale of the raw scores of a task; "0-1" is shown as the project's own, words run from 0 to 1."""
    if scale == "0-1":
        return of_project
    return SCALES[scale][0] if scale in SCALES else ScoreRange(0.0, 1.0)


def close_task(workspace: Workspace, task_id: int) -> None:
    """Let a task take no more scores; those given stay, and can be adjudicated and merged."""
    _change(workspace, task_id, "closed = 1")


def reopen_task(workspace: Workspace, task_id: int) -> None:
    """Let a closed task take scores again."""
    _change(workspace, task_id, "closed = 0")


def rename_task(workspace: Workspace, task_id: int, name: str) -> None:
    """Give a task another name. WorkbenchError: blank or too long."""
    _change(workspace, task_id, "name = ?", _checked_name(name))


def _change(workspace: Workspace, task_id: int, assignment: str, *values: object) -> None:
    with writing(workspace) as db:
        changed = db.execute(
            f"UPDATE annotation_task SET {assignment} WHERE id = ?", [*values, task_id]
        ).rowcount
    if not changed:
        raise task_is_gone(task_id)


def delete_task(workspace: Workspace, task_id: int) -> int:
    """Remove a task with every score and answer that people gave in it; returns how many went.

    What was merged to gold stays. Nothing brings the scores back: ask before.
    """
    with writing(workspace) as db:
        row = db.execute(f"{TASK_SQL} WHERE task.id = ?", [task_id]).fetchone()
        if row is None:
            raise task_is_gone(task_id)
        db.execute("DELETE FROM annotation_task WHERE id = ?", [task_id])
        db.execute("DELETE FROM job WHERE run_id = ? AND finished_at IS NOT NULL", [row["run_id"]])
        remove_unused_run(db, row["run_id"])
    return int(row["n_answers"])


def _checked_name(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise WorkbenchError(f"A task needs a name of 1 to {LONGEST_NAME} printable characters.")
    return name
