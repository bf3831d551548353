"""The runs of a batch: opened once, found again after a crash, closed one by one."""

import json
from collections.abc import Mapping
from typing import Any

from augsbert_core.storage.database import Workspace, now, reading, writing
from augsbert_core.storage.records import Run, record
from augsbert_core.storage.runs import get_run, insert_run


def children(workspace: Workspace, run_id: int) -> list[Run]:
    """The runs that a batch has begun so far, in their order."""
    with reading(workspace) as db:
        rows = db.execute("SELECT * FROM run WHERE parent_run_id = ? ORDER BY id", [run_id])
        return [record(Run, row) for row in rows]


def find_child(workspace: Workspace, parent_run_id: int, key: str) -> Run | None:
    """The run that a batch has begun under this key, None before it has."""
    with reading(workspace) as db:
        row = db.execute(
            "SELECT * FROM run WHERE parent_run_id = ? AND child_key = ?", [parent_run_id, key]
        ).fetchone()
    return record(Run, row) if row else None


def open_child(
    workspace: Workspace,
    parent_run_id: int,
    key: str,
    *,
    project_id: int,
    step: str,
    name: str,
    options: str,
    seed: int,
    device: str | None,
    versions: Mapping[str, str],
) -> tuple[Run, bool]:
    """The run of one child, and whether it is new: one that was begun before goes on, its options stay.

    options: JSON without references.
    """
    known = find_child(workspace, parent_run_id, key)
    with writing(workspace) as db:
        run_id = known.id if known else insert_run(db, project_id, step, name, options, seed)
        db.execute(
            "UPDATE run SET parent_run_id = ?, child_key = ?, state = 'started', finished_at = NULL,"
            " device = ?, versions = ? WHERE id = ?",
            [parent_run_id, key, device, json.dumps(versions), run_id],
        )
    return get_run(workspace, run_id), known is None


def close_child(
    workspace: Workspace, run_id: int, state: str, metrics: Mapping[str, Any] | None = None
) -> None:
    """End a child's run. state: "done" or "failed"; the end of the job closes one that was stopped."""
    with writing(workspace) as db:
        db.execute(
            "UPDATE run SET state = ?, finished_at = ?, metrics = json_patch(metrics, ?) WHERE id = ?",
            [state, now(), json.dumps(metrics or {}), run_id],
        )
