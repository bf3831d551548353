"""Choose the pairs of an annotation task, put them in order, and say why each is there."""

from typing import Any

from augsbert_core.options import TaskOptions
from augsbert_core.steps.context import StepContext
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project


def check_task(workspace: Workspace, project: Project, options: TaskOptions) -> None:
    """WorkbenchError: what is asked for cannot be done."""
    raise NotImplementedError


def make_task(context: StepContext, options: TaskOptions) -> dict[str, Any]:
    """Carry it out."""
    raise NotImplementedError


def task_uses_device(options: TaskOptions) -> bool:
    """Whether a model has to run."""
    raise NotImplementedError
