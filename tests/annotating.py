"""Annotation tasks for tests: a few sentences, paired one with the next."""

import numpy as np

from augsbert_core.options import TaskOptions, to_json
from augsbert_core.scales import SCALES
from augsbert_core.storage import annotation_tasks, projects, runs
from augsbert_core.storage.database import Workspace, writing


def add_task(
    workspace: Workspace,
    n_pairs: int,
    *,
    project_name: str = "P",
    tuples: list[tuple[int, int, int, int]] | None = None,
    **told: object,
) -> int:
    """A task of pairs (0, 1), (1, 2), … in this order; returns its id."""
    project, _ = projects.find_or_create_project(workspace, project_name)
    kind = "scores" if tuples is None else "best-worst"
    options = TaskOptions(kind=kind, **told)  # type: ignore[arg-type]
    run_id = runs.add_run(workspace, project.id, "annotate", "Task", to_json(options), 42)
    with writing(workspace) as db:
        start = db.execute("SELECT coalesce(max(id), 0) + 1 FROM sentence").fetchone()[0]
        db.conn.executemany(
            "INSERT INTO sentence (id, project_id, key, text) VALUES (?, ?, ?, ?)",
            [
                (start + n, project.id, f"{run_id}.{n}", f"Sentence {run_id}.{n}.")
                for n in range(n_pairs + 1)
            ],
        )
    first = np.arange(start, start + n_pairs)
    is_audit = options.purpose == "audit"
    items = annotation_tasks.ItemRows(
        first=first + 1,
        second=first,
        suggestions=np.where((first % 2 == 0) | is_audit, 0.25, np.nan),
        reasons=[f"reason {n}" for n in range(n_pairs)],
        strata=np.zeros(n_pairs, int) if is_audit else None,
        stratum_sizes=np.full(n_pairs, n_pairs) if is_audit else None,
    )
    return annotation_tasks.create_task(
        workspace,
        project.id,
        run_id,
        options,
        SCALES["0-5"][1],
        items,
        None if tuples is None else np.array(tuples),
    )
