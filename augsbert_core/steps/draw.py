"""Draw some candidates of a set at random, so that a trial labels a thousand pairs and not a hundred thousand."""

from typing import Any

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import DrawOptions
from augsbert_core.steps.context import StepContext
from augsbert_core.storage import candidates, draws
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import CandidateSet, Project


def check_draw(workspace: Workspace, project: Project, options: DrawOptions) -> CandidateSet:
    """The set to draw from. WorkbenchError: it is missing or another project's, or no pair is wanted."""
    chosen = candidates.get_candidate_set(workspace, options.candidate_set_id)
    if chosen.project_id != project.id:
        raise WorkbenchError(f"Candidate set {chosen.id} belongs to another project.")
    if options.n_pairs < 1:
        raise WorkbenchError(f"{options.n_pairs} pairs cannot be drawn; draw at least 1.")
    return chosen


def draw(context: StepContext, options: DrawOptions) -> dict[str, Any]:
    """Store a random part of a candidate set as a set of its own; done twice for one run, the first set stands."""
    chosen = check_draw(context.workspace, context.project, options)
    drawn = candidates.candidate_set_of_run(context.workspace, context.run.id)
    if drawn is None:
        context.report(0.0, f"Drawing {min(options.n_pairs, chosen.n_pairs):,} pairs")
        set_id = draws.add_drawn_set(
            context.workspace, context.run.id, chosen, options.n_pairs, options.seed
        )
        drawn = candidates.get_candidate_set(context.workspace, set_id)
    return {
        "candidate_set_id": drawn.id,
        "n_candidates": drawn.n_pairs,
        "n_whole": chosen.n_pairs,
        "whole_set_id": chosen.id,
    }
