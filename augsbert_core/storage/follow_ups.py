"""Runs that another run carries out along the way, such as the keeping that ends a stratified sampling."""

import json
from collections.abc import Mapping
from typing import Any

from augsbert_core.storage.database import Workspace, now, writing
from augsbert_core.storage.runs import insert_run


def open_follow_up(
    workspace: Workspace, parent_run_id: int, *, step: str, name: str, options: str, seed: int
) -> int:
    """The run in which `parent_run_id` carries out another step: made once, found again after a crash.

    options: JSON; those of the latest call stand. The parent's metrics name the run as "STEP_run_id".
    """
    key = f"{step.replace('-', '_')}_run_id"
    with writing(workspace) as db:
        parent = db.execute("SELECT * FROM run WHERE id = ?", [parent_run_id]).fetchone()
        known = json.loads(parent["metrics"]).get(key)
        if known is not None:
            db.execute(
                "UPDATE run SET name = ?, options = ?, seed = ? WHERE id = ?",
                [name, options, seed, known],
            )
            return int(known)
        run_id = insert_run(db, parent["project_id"], step, name, options, seed)
        db.execute(
            "UPDATE run SET metrics = json_patch(metrics, ?) WHERE id = ?",
            [json.dumps({key: run_id}), parent_run_id],
        )
    return run_id


def close_follow_up(workspace: Workspace, run_id: int, metrics: Mapping[str, Any]) -> None:
    """Mark such a run as done, with its results."""
    with writing(workspace) as db:
        db.execute(
            "UPDATE run SET state = 'done', finished_at = ?, metrics = json_patch(metrics, ?) WHERE id = ?",
            [now(), json.dumps(metrics), run_id],
        )
