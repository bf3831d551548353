"""Score the pairs of a silver set with another model, so that it can be held against the labeler."""

from typing import Any

from augsbert_core.options import StudentScoresOptions
from augsbert_core.steps.context import StepContext
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project


def check_student_scores(
    workspace: Workspace, project: Project, options: StudentScoresOptions
) -> None:
    """WorkbenchError: what is asked for cannot be done."""
    raise NotImplementedError


def score_with_student(context: StepContext, options: StudentScoresOptions) -> dict[str, Any]:
    """Carry it out."""
    raise NotImplementedError
