"""Runs and their step-wise metrics."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlite_utils import Database

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.rows import Rejected
from augsbert_core.storage.database import Workspace, now, reading, writing
from augsbert_core.storage.evaluations import add_evaluation, list_evaluations
from augsbert_core.storage.records import Run
from augsbert_core.storage.records import record as record_of
from augsbert_core.storage.rejects import add_rejects

__all__ = [
    "ImportRecord",
    "KnownFile",
    "add_evaluation",
    "add_metrics",
    "add_run",
    "count_missing_models",
    "find_import",
    "get_run",
    "import_mark",
    "insert_finished_run",
    "insert_run",
    "list_evaluations",
    "list_runs",
    "read_metrics",
    "refuse_known_file",
    "runs_with_model",
    "update_run",
]


def add_run(
    workspace: Workspace, project_id: int, step: str, name: str, options: str, seed: int
) -> int:
    """Record what a step is told before it begins; returns the run's id. options: JSON."""
    with writing(workspace) as db:
        return insert_run(db, project_id, step, name, options, seed)


def insert_run(db: Database, project_id: int, step: str, name: str, options: str, seed: int) -> int:
    """`add_run` inside a transaction that writes more than the run."""
    cursor = db.execute(
        "INSERT INTO run (project_id, step, name, options, seed, created_at)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        [project_id, step, name, options, seed, now()],
    )
    return int(cursor.lastrowid or 0)


def insert_finished_run(
    db: Database, project_id: int, record: "ImportRecord", metrics: Mapping[str, Any]
) -> int:
    """The run of an import, done at the moment its rows are written; returns its id.

    WorkbenchError: a file with the same bytes is in the project already, or the project is gone.
    """
    if not db.execute(
        "SELECT 1 FROM project WHERE id = ? AND NOT deleting", [project_id]
    ).fetchone():
        raise WorkbenchError(f"Project {project_id} does not exist (any more). Choose another one.")
    refuse_known_file(db, project_id, record.content_hash)
    run_id = insert_run(db, project_id, "import", record.name, record.options, record.seed)
    db.execute(
        "UPDATE run SET state = 'done', finished_at = ?, data_hash = ?, metrics = ?, parent_run_id = ? WHERE id = ?",
        [now(), record.content_hash, json.dumps(metrics), record.parent_run_id, run_id],
    )
    add_rejects(db, run_id, record.rejected)
    return run_id


def import_mark(workspace: Workspace, project_id: int) -> tuple[int, int]:
    """Two numbers that change whenever an import comes or goes, and with it gold: how many there are, the newest."""
    with reading(workspace) as db:
        row = db.execute(
            "SELECT count(*), coalesce(max(id), 0) FROM run WHERE project_id = ? AND step = 'import'",
            [project_id],
        ).fetchone()
    return int(row[0]), int(row[1])


def count_missing_models(workspace: Workspace, project_id: int) -> int:
    """How many finished trainings have no model in the workspace: those of a project that was imported."""
    with reading(workspace) as db:
        rows = db.execute(
            "SELECT model_path FROM run WHERE project_id = ? AND state = 'done'"
            " AND step IN ('train-cross-encoder', 'train-bi-encoder')",
            [project_id],
        ).fetchall()
    return sum(not path or not (workspace.home / path).is_dir() for (path,) in rows)


@dataclass(frozen=True)
class ImportRecord:
    """What is kept of an import besides its rows.

    content_hash: of the file's bytes. parent_run_id: the run of the background job that imports it.
    """

    name: str
    options: str
    seed: int
    content_hash: str
    rejected: Sequence[Rejected] = ()
    parent_run_id: int | None = None


def find_import(workspace: Workspace, project_id: int, content_hash: str) -> Run | None:
    """The import of a file with the same bytes into this project, if there was one."""
    with reading(workspace) as db:
        row = db.execute(FIND_IMPORT_SQL, [project_id, content_hash]).fetchone()
    return record_of(Run, row) if row else None


FIND_IMPORT_SQL = (
    "SELECT * FROM run WHERE project_id = ? AND step = 'import' AND data_hash = ? LIMIT 1"
)


class KnownFile(WorkbenchError):
    """A file with the same bytes is in the project already."""


def refuse_known_file(store: Workspace | Database, project_id: int, content_hash: str) -> None:
    """KnownFile: a file with the same bytes is in the project already."""
    if isinstance(store, Database):
        row = store.execute(FIND_IMPORT_SQL, [project_id, content_hash]).fetchone()
        earlier = record_of(Run, row) if row else None
    else:
        earlier = find_import(store, project_id, content_hash)
    if earlier is not None:
        raise KnownFile(
            f"This file is in the project already (imported as {earlier.name!r}, {earlier.created_at[:10]}). "
            f"To import it in another way, remove that import first: on the Gold page, tab Imports, or with "
            f"`augsbert remove-import {earlier.id}`."
        )


def get_run(workspace: Workspace, run_id: int) -> Run:
    """The run with this id. WorkbenchError when there is none."""
    with reading(workspace) as db:
        row = db.execute("SELECT * FROM run WHERE id = ?", [run_id]).fetchone()
    if row is None:
        raise WorkbenchError(f"There is no run {run_id}. `augsbert jobs` lists the runs there are.")
    return record_of(Run, row)


def list_runs(
    workspace: Workspace,
    project_id: int,
    step: str | None = None,
    state: str | None = "done",
) -> list[Run]:
    """The runs of a project, newest first; state None lists all."""
    with reading(workspace) as db:
        rows = db.execute(
            "SELECT * FROM run WHERE project_id = :project"
            " AND (:step IS NULL OR step = :step) AND (:state IS NULL OR state = :state)"
            " AND id NOT IN (SELECT run_id FROM silver_set WHERE deleting)"
            " AND id NOT IN (SELECT run_id FROM candidate_set WHERE deleting)"
            " ORDER BY id DESC",
            {"project": project_id, "step": step, "state": state},
        )
        return [record_of(Run, row) for row in rows]


def runs_with_model(workspace: Workspace, project_id: int, step: str) -> list[Run]:
    """The finished runs of a step whose model is in the workspace; imported projects bring none."""
    return [
        run
        for run in list_runs(workspace, project_id, step)
        if run.model_path and (workspace.home / run.model_path).is_dir()
    ]


def update_run(
    workspace: Workspace,
    run_id: int,
    *,
    data_hash: str | None = None,
    device: str | None = None,
    metrics: Mapping[str, Any] | None = None,
    versions: Mapping[str, str] | None = None,
    model_path: str | None = None,
) -> None:
    """Add what became known while the run was at work; metrics are merged, the rest is set once given."""
    with writing(workspace) as db:
        db.execute(
            "UPDATE run SET data_hash = coalesce(?, data_hash), device = coalesce(?, device),"
            " versions = coalesce(?, versions), model_path = coalesce(?, model_path),"
            " metrics = json_patch(metrics, ?) WHERE id = ?",
            [
                data_hash,
                device,
                json.dumps(versions) if versions is not None else None,
                model_path,
                json.dumps(metrics or {}),
                run_id,
            ],
        )


def add_metrics(
    workspace: Workspace, run_id: int, points: Iterable[tuple[str, int, float]]
) -> None:
    """Append (name, step, value) points to a run's curves; a repeated step overwrites."""
    with writing(workspace) as db:
        db.conn.executemany(
            "INSERT OR REPLACE INTO metric (run_id, name, step, value) VALUES (?, ?, ?, ?)",
            [(run_id, name, step, value) for name, step, value in points],
        )


def read_metrics(workspace: Workspace, run_id: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """A run's curves: name → (steps, values)."""
    with reading(workspace) as db:
        rows = db.execute(
            "SELECT name, step, value FROM metric WHERE run_id = ? ORDER BY name, step",
            [run_id],
        ).fetchall()
    curves: dict[str, list[tuple[int, float]]] = {}
    for name, step, value in rows:
        curves.setdefault(name, []).append((step, value))
    return {
        name: (
            np.array([step for step, _ in points]),
            np.array([value for _, value in points]),
        )
        for name, points in curves.items()
    }
