"""What models scored on the gold pairs of a split, with their predictions."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from augsbert_core.storage.database import Workspace, now, reading, writing


def add_evaluation(
    workspace: Workspace,
    project_id: int,
    run_id: int,
    *,
    target: str,
    target_run_id: int | None,
    split: str,
    metric: str,
    value: float | None,
    interval: tuple[float, float] | None,
    threshold: float | None,
    seconds: float,
    data_hash: str,
    predictions: np.ndarray,
    details: Mapping[str, Any] | None = None,
) -> None:
    """Store one model's score on one split of the present gold pairs; measuring again replaces it.

    details: further figures by name, what is undefined as None; JSON-able.
    """
    low, high = interval or (None, None)
    with writing(workspace) as db:
        db.execute(
            "INSERT OR REPLACE INTO evaluation (project_id, run_id, target, target_run_id, split, metric,"
            " value, low, high, threshold, n_pairs, seconds, data_hash, predictions, details, created_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                project_id,
                run_id,
                target,
                target_run_id,
                split,
                metric,
                value,
                low,
                high,
                threshold,
                len(predictions),
                seconds,
                data_hash,
                predictions.astype("<f4").tobytes(),
                json.dumps(details or {}),
                now(),
            ],
        )


def list_evaluations(workspace: Workspace, project_id: int, split: str) -> list[dict[str, Any]]:
    """All evaluations on a split, oldest first.

    `predictions` is an array in gold order, `details` a dict.
    """
    with reading(workspace) as db:
        rows = db.execute(
            "SELECT * FROM evaluation WHERE project_id = ? AND split = ? ORDER BY id",
            [project_id, split],
        ).fetchall()
    return [
        {
            **dict(row),
            "predictions": np.frombuffer(row["predictions"], dtype="<f4"),
            "details": json.loads(row["details"]),
        }
        for row in rows
    ]
