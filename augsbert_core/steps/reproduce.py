"""Carry a run out again with its own options and seed, and report in what the two differ."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from augsbert_core.errors import Stopped, WorkbenchError
from augsbert_core.models.inspection import compare_weights
from augsbert_core.options import ReproduceOptions, from_json
from augsbert_core.options.exporting import AGAIN
from augsbert_core.progress import stop_if
from augsbert_core.steps.child_report import ChildReport
from augsbert_core.steps.context import StepContext
from augsbert_core.storage import batches, reproductions, runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.plain import plain
from augsbert_core.storage.records import Project, Run

NOT_AGAIN = ("reproduce", "preview")
"""Steps whose runs leave nothing that could be compared."""

SAME = 5e-7
"""Scores of one another within this are called equal: they are stored as float32."""


def check_reproducing(workspace: Workspace, project: Project, options: ReproduceOptions) -> Run:
    """The run that is carried out again.

    WorkbenchError: it is missing, another project's, unfinished, of a step that cannot be repeated, or what it
    needs is not there any more.
    """
    from augsbert_core.steps import STEPS

    run = runs.get_run(workspace, options.run_id)
    if run.project_id != project.id:
        raise WorkbenchError(f"Run {run.id} belongs to another project.")
    if run.step not in STEPS or run.step in NOT_AGAIN:
        raise WorkbenchError(
            f"A {run.step} run cannot be reproduced: it leaves nothing to compare."
        )
    if run.state != "done":
        raise WorkbenchError(
            f"Run {run.id} is not finished (its state is {run.state!r}). Finish it first: there is nothing to "
            "compare a second one with."
        )
    step = STEPS[run.step]
    step.check(workspace, project, from_json(step.options_class, run.options))
    return run


def reproduce_options(workspace: Workspace, run_id: int) -> ReproduceOptions:
    """What reproducing a run is told: its own seed, and the device that it was told to take."""
    run = runs.get_run(workspace, run_id)
    told = json.loads(run.options)
    return ReproduceOptions(run_id, seed=run.seed, device=str(told.get("device") or "auto"))


def reproduce(context: StepContext, options: ReproduceOptions) -> dict[str, Any]:
    """Carry the run out once more, as a new run of the project, and compare the two.

    Stopped or killed, it goes on with the new run from its checkpoints. The result has a sentence for people, the
    new run's id, and the differences: data, versions, score, and weights, silver scores or pairs.
    """
    first = check_reproducing(context.workspace, context.project, options)
    second = batches.find_child(context.workspace, context.run.id, AGAIN)
    if second is None or second.state != "done":
        second = _carry_out(context, first)
    context.report(0.98, "Comparing the two runs")
    found = compare_runs(context.workspace, first, second)
    return {
        "reproduced_run_id": first.id,
        "new_run_id": second.id,
        "sentence": sentence(first, second, found),
        **found,
    }


def _carry_out(context: StepContext, first: Run) -> Run:
    from augsbert_core.steps import STEPS

    step = STEPS[first.step]
    told: Any = from_json(step.options_class, first.options)
    uses_device = step.uses_device(told)
    stop_if(context.should_stop)
    child, is_new = batches.open_child(
        context.workspace,
        context.run.id,
        AGAIN,
        project_id=first.project_id,
        step=first.step,
        name=f"{first.name} (run {first.id} again)",
        options=first.options,
        seed=first.seed,
        device=context.device if uses_device else None,
        versions=context.run.versions,
    )
    if is_new:
        # After the database was replaced, ids begin anew: no file of an old run may be taken for a checkpoint.
        shutil.rmtree(context.workspace.run_folder(child.id), ignore_errors=True)
    report = ChildReport(
        context.workspace, child.id, context.report, low=0.0, high=0.95, title=step.title
    )
    try:
        with report:
            report(0.0, "Starting")
            own = replace(context, run=child, device=child.device or "cpu", report=report)
            result = plain(step.function(own, told))
    except Stopped:
        raise
    except Exception:
        batches.close_child(context.workspace, child.id, "failed")
        raise
    batches.close_child(context.workspace, child.id, "done", result)
    return runs.get_run(context.workspace, child.id)


# --- what differs -----------------------------------------------------------------------------------


def compare_runs(workspace: Workspace, first: Run, second: Run) -> dict[str, Any]:
    """In what two runs of one step differ, as plain values; None where there is nothing to compare."""
    return {
        "data_equal": _equal(first.data_hash, second.data_hash),
        "gold_equal": _equal(first.metrics.get("gold_hash"), second.metrics.get("gold_hash")),
        "versions": {
            name: [first.versions.get(name), second.versions.get(name)]
            for name in sorted({*first.versions, *second.versions})
            if first.versions.get(name) != second.versions.get(name)
        },
        "devices": [first.device, second.device],
        "score": _score_difference(first, second),
        "weights": _weights_difference(workspace, first, second),
        "pairs": _pairs_difference(workspace, first, second),
        "measurements": _measured_difference(first, second),
        "children": _children_difference(workspace, first, second),
    }


def _equal(first: Any, second: Any) -> bool | None:
    return None if first is None or second is None else first == second


def _score_difference(first: Run, second: Run) -> float | None:
    scores = first.metrics.get("dev_score"), second.metrics.get("dev_score")
    return None if None in scores else float(scores[1]) - float(scores[0])  # type: ignore[arg-type]


def _weights_difference(workspace: Workspace, first: Run, second: Run) -> dict[str, Any] | None:
    if not first.model_path or not second.model_path:
        return None
    folders = [workspace.home / path for path in (first.model_path, second.model_path)]
    if not all(folder.is_dir() for folder in folders):
        return None
    found = compare_weights(*folders)
    return {
        "identical": found.is_identical,
        "largest": found.largest,
        "n_different": found.n_different,
        "n_weights": found.n_weights,
    }


def _pairs_difference(workspace: Workspace, first: Run, second: Run) -> dict[str, Any] | None:
    for key, compare in (
        ("silver_set_id", reproductions.silver_difference),
        ("candidate_set_id", reproductions.candidate_difference),
    ):
        ids = first.metrics.get(key), second.metrics.get(key)
        if first.step not in ("train-bi-encoder", "train-cross-encoder") and None not in ids:
            found = compare(workspace, *ids)  # type: ignore[arg-type]
            return {
                "kind": "silver" if key == "silver_set_id" else "candidate",
                "n_first": found.n_first,
                "n_second": found.n_second,
                "n_common": found.n_common,
                "n_different": found.n_different,
                "largest": found.largest,
            }
    return None


def _measured_difference(first: Run, second: Run) -> float | None:
    """The largest difference between measurements of one target; None without measurements."""
    values = [
        {
            row["target"]: row.get("value")
            for row in run.metrics.get("rows") or []
            if "target" in row
        }
        for run in (first, second)
    ]
    gaps = [
        abs(values[1][target] - value)
        for target, value in values[0].items()
        if value is not None and values[1].get(target) is not None
    ]
    return max(gaps, default=None)


def _children_difference(workspace: Workspace, first: Run, second: Run) -> dict[str, Any] | None:
    """The runs of a batch, each against the one of the same name."""
    again = {child.child_key: child for child in batches.children(workspace, second.id)}
    found = {
        str(child.child_key): compare_runs(workspace, child, again[child.child_key])
        for child in batches.children(workspace, first.id)
        if child.child_key in again
    }
    return found or None


# --- for people ---------------------------------------------------------------------------------------


def sentence(first: Run, second: Run, found: Mapping[str, Any]) -> str:
    """What came out, in a few plain sentences."""
    told = [f"Run {first.id} was carried out again as run {second.id}."]
    told += _results(found)
    told += _circumstances(found)
    return " ".join(told)


def _results(found: Mapping[str, Any]) -> Sequence[str]:
    told = []
    weights, pairs, score = found["weights"], found["pairs"], found["score"]
    if weights is not None:
        told.append(_weights_sentence(weights))
    if score is not None:
        told.append(
            "The dev score is the same."
            if abs(score) < SAME
            else f"The dev score differs by {100 * score:+.2f} points."
        )
    if pairs is not None:
        told.append(_pairs_sentence(pairs))
    if found["measurements"] is not None:
        gap = found["measurements"]
        told.append(
            "All measurements are the same."
            if gap < SAME
            else f"Measurements differ by up to {100 * gap:.2f} points."
        )
    if found["children"]:
        parts = [f"{key}: {' '.join(_results(one))}" for key, one in found["children"].items()]
        told.append("; ".join(parts))
    return told or ["There is nothing in it that could be compared."]


def _weights_sentence(weights: Mapping[str, Any]) -> str:
    if weights["identical"]:
        return f"All {weights['n_weights']:,} weights are identical."
    if weights["largest"] is None:
        return "The two models have other parts, so their weights cannot be compared."
    return (
        f"{weights['n_different']:,} of {weights['n_weights']:,} weights differ, by up to "
        f"{weights['largest']:.2g}."
    )


def _pairs_sentence(pairs: Mapping[str, Any]) -> str:
    sizes = pairs["n_first"], pairs["n_second"], pairs["n_common"]
    told = (
        f"The {sizes[0]:,} {pairs['kind']} pairs are the same."
        if len(set(sizes)) == 1
        else f"{sizes[2]:,} {pairs['kind']} pairs are in both, of {sizes[0]:,} and {sizes[1]:,}."
    )
    if pairs["largest"] is None:
        return told
    if pairs["largest"] < SAME:
        return f"{told} All their scores are the same."
    return f"{told} {pairs['n_different']:,} scores differ, by up to {pairs['largest']:.2g} on a scale of 0 to 1."


def _circumstances(found: Mapping[str, Any]) -> Sequence[str]:
    told = []
    if found["data_equal"] is False:
        which = "the gold pairs" if found["gold_equal"] is False else "silver pairs or other data"
        told.append(f"The training data has changed since: {which}.")
    if found["versions"]:
        changed = [f"{name} {was} → {is_}" for name, (was, is_) in found["versions"].items()]
        told.append(f"Versions have changed: {', '.join(changed)}.")
    was, is_ = found["devices"]
    if was != is_ and was is not None:
        told.append(f"The device was {was}, now {is_}.")
    if not told:
        is_known = found["data_equal"] is not None
        told.append("Data and versions are the same." if is_known else "Versions are the same.")
    return told
