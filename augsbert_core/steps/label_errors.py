"""Find gold scores that are likely wrong: score each gold pair with models that have not seen it."""

from typing import Any

from augsbert_core.options import LabelErrorsOptions
from augsbert_core.steps.context import StepContext
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project


def check_label_errors(workspace: Workspace, project: Project, options: LabelErrorsOptions) -> None:
    """WorkbenchError: what is asked for cannot be done."""
    raise NotImplementedError


def find_label_errors(context: StepContext, options: LabelErrorsOptions) -> dict[str, Any]:
    """Carry it out."""
    raise NotImplementedError
