"""Let the labeler score a candidate set: silver pairs."""

from typing import Any

from augsbert_core.errors import WorkbenchError
from augsbert_core.models import catalog
from augsbert_core.options import LabelOptions
from augsbert_core.progress import stretch
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.models import (
    calibrations,
    labeler_members,
    normal_labeler,
    passes_per_pair,
    run_number,
)
from augsbert_core.steps.scoring import open_labeler, score_pending, take_over_scores
from augsbert_core.storage import candidates, reviews, runs, silver_columns, silver_sets
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import CandidateSet, Project


def check_labelling(workspace: Workspace, project: Project, options: LabelOptions) -> CandidateSet:
    """The candidate set of a labelling.

    WorkbenchError: it is missing or another project's, the labeler is no model, or cannot be calibrated, or there is
    no silver set to take decisions from.
    """
    chosen = own_candidates(workspace, project, options.candidate_set_id)
    check_labeler(workspace, project, options.labeler)
    if options.decisions_from is not None:
        decided = silver_sets.get_silver_set(workspace, options.decisions_from)
        if decided.project_id != project.id:
            raise WorkbenchError(f"Silver set {decided.id} belongs to another project.")
    return chosen


def own_candidates(workspace: Workspace, project: Project, set_id: int) -> CandidateSet:
    """A candidate set of this project. WorkbenchError: it is missing or another project's."""
    chosen = candidates.get_candidate_set(workspace, set_id)
    if chosen.project_id != project.id:
        raise WorkbenchError(f"Candidate set {chosen.id} belongs to another project.")
    return chosen


def check_labeler(workspace: Workspace, project: Project, text: str) -> None:
    """WorkbenchError: the labeler is no model, or a bi-encoder that cannot be calibrated."""
    calibrations(workspace, labeler_members(workspace, project, text))


def check_at_hand(workspace: Workspace, project: Project, text: str) -> None:
    """WorkbenchError: a model that the labeler names is not on this machine and cannot be fetched."""
    for member in labeler_members(workspace, project, text):
        if run_number(member.text) is None:  # a run's model was looked for before
            catalog.resolve_model(member.location)


def label(context: StepContext, options: LabelOptions) -> dict[str, Any]:
    """Score every candidate that has no score yet, committing every few seconds.

    Scores that the same labeler has given to a pair in another silver set are taken over, so a larger
    top-k costs only its new pairs. At the end people's decisions on another set are carried over, if asked. Stopped or killed, it continues with what is left: no pair is lost or
    scored twice.
    """
    workspace, project = context.workspace, context.project
    chosen = check_labelling(workspace, project, options)
    labeler_text = normal_labeler(options.labeler)
    per_pair = passes_per_pair(
        labeler_members(workspace, project, labeler_text), options.both_orders
    )
    check_at_hand(workspace, project, labeler_text)
    set_id = silver_sets.open_silver_set(
        workspace,
        project.id,
        context.run.id,
        candidate_set_id=chosen.id,
        labeler=labeler_text,
        labeler_run_id=run_number(labeler_text),
        passes_per_pair=per_pair,
    )
    context.report(0.0, "Looking for pairs that this labeler has scored before")
    reused = take_over_scores(context, labeler_text, set_id)
    seconds = float(context.run.metrics.get("seconds", 0.0))
    if silver_sets.get_silver_set(workspace, set_id).n_pairs < chosen.n_pairs:
        context.report(0.0, "Loading the labeler")
        labeler = open_labeler(
            context, labeler_text, max_length=options.max_length, both_orders=options.both_orders
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
    n_new = n_scored - reused
    carried = {}
    if options.decisions_from is not None:
        carried["n_carried"] = carry_decisions(context, options.decisions_from, set_id)
    silver_columns.prepare(workspace, set_id, stretch(context.report, 0.99, 1.0))
    return {
        "silver_set_id": set_id,
        "n_scored": n_scored,
        "n_reused": reused,
        "n_passes": n_new * per_pair,
        "passes_per_pair": per_pair,
        "seconds": seconds,
        "pairs_per_second": n_new / seconds if seconds and n_new else None,
        "labeler": labeler_text,
        "both_orders": options.both_orders,
        "calibration": runs.get_run(workspace, context.run.id).metrics.get("calibration"),
        **carried,
    }


def carry_decisions(context: StepContext, from_set_id: int, set_id: int) -> int:
    """Take over what people decided on pairs that both sets have; returns how many. The log says where from."""
    return reviews.carry_over(
        context.workspace,
        from_set_id,
        set_id,
        f"carried over from silver set {from_set_id}",
        report=stretch(context.report, 0.98, 0.99),
        should_stop=context.should_stop,
    )
