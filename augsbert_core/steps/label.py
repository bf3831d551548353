"""Let the labeler score a candidate set: silver pairs."""

from typing import Any

from augsbert_core.errors import WorkbenchError
from augsbert_core.models import labeling
from augsbert_core.options import LabelOptions
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.models import run_model, run_number
from augsbert_core.steps.scoring import score_pending
from augsbert_core.storage import candidates, known_scores, runs, silver_sets
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import CandidateSet, Project


def check_labelling(workspace: Workspace, project: Project, options: Any) -> CandidateSet:
    """The candidate set of LabelOptions or PreviewOptions.

    WorkbenchError: it is missing or another project's, or the labeler is no model.
    """
    chosen = candidates.get_candidate_set(workspace, options.candidate_set_id)
    if chosen.project_id != project.id:
        raise WorkbenchError(f"Candidate set {chosen.id} belongs to another project.")
    run_model(workspace, project, options.labeler, "train-cross-encoder")
    return chosen


def label(context: StepContext, options: LabelOptions) -> dict[str, Any]:
    """Score every candidate that has no score yet, committing every few seconds.

    Scores that the same labeler run has given to a pair in another silver set are taken over, so a larger
    top-k costs only its new pairs. Stopped or killed, it continues with what is left: no pair is lost or
    scored twice.
    """
    workspace, project = context.workspace, context.project
    chosen = check_labelling(workspace, project, options)
    trained = run_model(workspace, project, options.labeler, "train-cross-encoder")
    set_id = silver_sets.open_silver_set(
        workspace,
        project.id,
        context.run.id,
        candidate_set_id=chosen.id,
        labeler=options.labeler,
        labeler_run_id=run_number(options.labeler),
    )
    context.report(0.0, "Looking for pairs that this labeler has scored before")
    reused = known_scores.copy_known_scores(workspace, set_id)
    reused += int(context.run.metrics.get("n_reused", 0))
    runs.update_run(workspace, context.run.id, metrics={"n_reused": reused})
    seconds = float(context.run.metrics.get("seconds", 0.0))
    if silver_sets.get_silver_set(workspace, set_id).n_pairs < chosen.n_pairs:
        context.report(0.0, "Loading the labeler")
        labeler = labeling.load_labeler(
            trained or options.labeler, context.device, options.max_length
        )
        seconds = score_pending(
            context, labeler, set_id, chosen.n_pairs, batch_size=options.batch_size
        )
    n_scored = silver_sets.get_silver_set(workspace, set_id).n_pairs
    if n_scored < chosen.n_pairs:
        raise WorkbenchError(
            f"{chosen.n_pairs - n_scored:,} of {chosen.n_pairs:,} candidates have lost their sentences. "
            "Sample again."
        )
    n_passes = n_scored - reused
    return {
        "silver_set_id": set_id,
        "n_scored": n_scored,
        "n_reused": reused,
        "seconds": seconds,
        "pairs_per_second": n_passes / seconds if seconds and n_passes else None,
        "labeler": options.labeler,
    }
