"""How long a plan will take, from the speed of earlier runs of the workspace."""

import json
import math
from collections.abc import Callable
from typing import Any

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import BatchOptions, PlannedRun
from augsbert_core.steps.references import REFERENCE
from augsbert_core.storage import runs
from augsbert_core.storage.candidates import get_candidate_set
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.projects import count_project
from augsbert_core.storage.promotions import vouched_pairs
from augsbert_core.storage.records import Project, Run
from augsbert_core.storage.sentences import corpus_size
from augsbert_core.storage.silver_sets import get_silver_set

DISTINCT = 0.7
"""Of sentences × top-k pairs about this share are left when those that were found from both sides count once."""

Counts = dict[str, float]


def estimated_seconds(workspace: Workspace, project: Project, plan: BatchOptions) -> float | None:
    """Seconds of training and labelling that a plan will take; None when no such run was measured before.

    The speed is that of the newest run of the same step, with the same base and layers if there is one.
    Sampling and measuring are left out: they take seconds.
    """
    pairs: Counts = {}
    steps: Counts = {}
    total = 0.0
    for planned in plan.runs:
        told = json.loads(planned.options)
        if planned.step in ("sample", "draw"):
            pairs[planned.key] = _n_candidates(workspace, project, told, pairs)
        elif planned.step == "keep":
            pairs[planned.key] = _size(told["silver_set_id"], pairs, lambda number: number)
        elif planned.step == "label":
            pairs[planned.key] = _size(
                told["candidate_set_id"],
                pairs,
                lambda number: get_candidate_set(workspace, number).n_pairs,
            )
            speed = _pairs_per_second(workspace, project)
            if speed is None:
                return None
            total += pairs[planned.key] / speed
        elif planned.step.startswith("train-"):
            steps[planned.key] = _n_steps(workspace, project, planned, told, pairs, steps)
            pace = _seconds_per_step(workspace, project, planned.step, told)
            if pace is None:
                return None
            total += steps[planned.key] * pace
    return total


def _size(value: Any, known: Counts, stored: Callable[[int], int]) -> float:
    """A number of pairs: of an earlier run of the plan, or of a stored set."""
    if isinstance(value, str):
        found = REFERENCE.search(value)
        return known.get(found[1], 0.0) if found else 0.0
    try:
        return float(stored(int(value)))
    except WorkbenchError:
        return 0.0


def _n_candidates(
    workspace: Workspace, project: Project, told: dict[str, Any], pairs: Counts
) -> float:
    if "candidate_set_id" in told:
        whole = _size(
            told["candidate_set_id"],
            pairs,
            lambda number: get_candidate_set(workspace, number).n_pairs,
        )
        return min(whole, told["n_pairs"])
    if told["n_pairs"]:
        return float(told["n_pairs"])
    n = corpus_size(workspace, project.id, use_unlabelled=told["use_unlabelled"])
    return min(DISTINCT * n * told["top_k"], n * (n - 1) / 2)


def _n_steps(
    workspace: Workspace,
    project: Project,
    planned: PlannedRun,
    told: dict[str, Any],
    pairs: Counts,
    steps: Counts,
) -> float:
    if isinstance(told["max_steps"], str):
        return _size(told["max_steps"], steps, lambda number: number)
    if told["max_steps"]:
        return float(told["max_steps"])
    rows = 0.0
    if told["use_gold"]:
        n_gold = count_project(workspace, planned.project_id or project.id).train
        rows = min(n_gold, told["gold_limit"] or n_gold)
    if told["silver_set_id"] is not None:
        rows += _size(
            told["silver_set_id"], pairs, lambda number: get_silver_set(workspace, number).n_pairs
        )
    if isinstance(decided := told.get("corrections_of"), int):
        rows += len(vouched_pairs(workspace, decided).pairs)
    return math.ceil(rows / told["batch_size"]) * told["epochs"]


def _newest(
    workspace: Workspace, project: Project, step: str, is_like: Callable[[Run], bool]
) -> Run | None:
    found = [
        run for run in runs.list_runs(workspace, project.id, step) if run.metrics.get("seconds")
    ]
    return next(filter(is_like, found), found[0] if found else None)


def _seconds_per_step(
    workspace: Workspace, project: Project, step: str, told: dict[str, Any]
) -> float | None:
    """Per optimiser step, in proportion to the batch size."""

    def is_like(run: Run) -> bool:
        other = json.loads(run.options)
        return (other.get("base"), other.get("layers")) == (told["base"], told["layers"])

    run = _newest(workspace, project, step, is_like)
    if run is None or not run.metrics.get("n_steps"):
        return None
    pace = float(run.metrics["seconds"]) / float(run.metrics["n_steps"])
    return pace * told["batch_size"] / json.loads(run.options)["batch_size"]


def _pairs_per_second(workspace: Workspace, project: Project) -> float | None:
    for run in runs.list_runs(workspace, project.id, "label"):
        if run.metrics.get("pairs_per_second"):
            return float(run.metrics["pairs_per_second"])
    return None
