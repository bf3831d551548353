"""Let the labeler score a candidate set: silver pairs."""

import time
from typing import Any

from augsbert_core.errors import WorkbenchError
from augsbert_core.models import labeling
from augsbert_core.options import LabelOptions
from augsbert_core.progress import never, stop_if
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.models import run_model, run_number
from augsbert_core.storage import candidates, runs, silver
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import CandidateSet, Project

COMMIT_SECONDS = 3.0
"""Scores are committed this often, so a crash costs at most these seconds of labelling."""


def check_labelling(workspace: Workspace, project: Project, options: LabelOptions) -> CandidateSet:
    """The candidate set. WorkbenchError: it is missing or another project's, or the labeler is no model."""
    chosen = candidates.get_candidate_set(workspace, options.candidate_set_id)
    if chosen.project_id != project.id:
        raise WorkbenchError(f"Candidate set {chosen.id} belongs to another project.")
    run_model(workspace, project, options.labeler, "train-cross-encoder")
    return chosen


def label(context: StepContext, options: LabelOptions) -> dict[str, Any]:
    """Score every candidate that has no score yet, committing every few seconds.

    Stopped or killed, it continues with what is left: no pair is lost or scored twice.
    """
    workspace, project = context.workspace, context.project
    chosen = check_labelling(workspace, project, options)
    trained = run_model(workspace, project, options.labeler, "train-cross-encoder")
    location = trained or options.labeler
    context.report(0.0, "Loading the labeler")
    labeler = labeling.load_labeler(location, context.device, options.max_length)
    set_id = silver.open_silver_set(
        context.workspace,
        context.project.id,
        context.run.id,
        candidate_set_id=chosen.id,
        labeler=options.labeler,
        labeler_run_id=run_number(options.labeler),
    )
    seconds = _score_all(context, options, labeler, set_id, chosen.n_pairs)
    n_scored = silver.get_silver_set(context.workspace, set_id).n_pairs
    if n_scored < chosen.n_pairs:
        raise WorkbenchError(
            f"{chosen.n_pairs - n_scored:,} of {chosen.n_pairs:,} candidates have lost their sentences. "
            "Sample again."
        )
    return {
        "silver_set_id": set_id,
        "n_scored": n_scored,
        "seconds": seconds,
        "pairs_per_second": n_scored / seconds if seconds else None,
        "labeler": options.labeler,
    }


def _score_all(
    context: StepContext,
    options: LabelOptions,
    labeler: labeling.Labeler,
    set_id: int,
    n_pairs: int,
) -> float:
    """Score what is left, chunk by chunk; returns the seconds spent scoring, earlier attempts included."""
    spent_before = float(context.run.metrics.get("seconds", 0.0))
    done = done_before = silver.get_silver_set(context.workspace, set_id).n_pairs
    begun = last_commit = time.monotonic()
    while pending := silver.unscored_pairs(context.workspace, set_id):
        rows: list[tuple] = []
        # Stopping is decided here, after a commit, so that no finished score is thrown away.
        for positions, logits, scores in labeling.label_batches(
            labeler,
            pending.sentences1,
            pending.sentences2,
            batch_size=options.batch_size,
            should_stop=never,
        ):
            rows.extend(
                (*pending.ids[position], *pending.origin[position], float(score), float(logit))
                for position, logit, score in zip(positions, logits, scores, strict=True)
            )
            done += len(positions)
            elapsed = time.monotonic() - begun
            if time.monotonic() - last_commit > COMMIT_SECONDS or context.should_stop():
                _commit(context, set_id, rows, spent_before + elapsed)
                rows, last_commit = [], time.monotonic()
                stop_if(context.should_stop)
            _report_speed(context, done, n_pairs, (done - done_before) / elapsed)
        _commit(context, set_id, rows, spent_before + time.monotonic() - begun)
    return spent_before + time.monotonic() - begun


def _commit(context: StepContext, set_id: int, rows: list[tuple], seconds: float) -> None:
    silver.add_silver_scores(context.workspace, set_id, rows)
    runs.update_run(context.workspace, context.run.id, metrics={"seconds": seconds})


def _report_speed(context: StepContext, done: int, total: int, per_second: float) -> None:
    remaining = (total - done) / per_second if per_second else 0.0
    context.report(
        done / total,
        f"Labelled {done:,} of {total:,} pairs · {per_second:,.0f} pairs/s · {remaining:,.0f} s left",
        {"pairs_per_second": per_second},
        done,
    )
