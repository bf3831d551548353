"""Find the model that a step was told to use: a run of this project, or a name."""

from augsbert_core.errors import WorkbenchError
from augsbert_core.storage import runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project

MOST_DIGITS = 18
"""No run has a longer number; SQLite holds none above 2⁶³ − 1."""


def run_number(target: str) -> int | None:
    """The run id in "run:ID", None for anything else. WorkbenchError: no run can have this number."""
    kind, _, number = target.partition(":")
    if kind != "run" or not (number.isascii() and number.isdigit()):
        return None
    digits = number.lstrip("0") or "0"
    if len(digits) > MOST_DIGITS:
        raise WorkbenchError(
            f"There is no run {digits[:MOST_DIGITS]}…, a number of {len(digits)} digits. "
            "`augsbert jobs` lists the runs there are."
        )
    return int(digits)


def run_model(
    workspace: Workspace, project: Project, target: str, step: str | None = None
) -> str | None:
    """The model folder of "run:ID", None when the target names no run.

    WorkbenchError: the run is missing, of another project, unfinished, of another step than `step`, or
    its folder is gone.
    """
    run_id = run_number(target)
    if run_id is None:
        return None
    run = runs.get_run(workspace, run_id)
    if run.project_id != project.id:
        raise WorkbenchError(f"Run {run_id} belongs to another project.")
    if step is not None and run.step != step:
        raise WorkbenchError(f"Run {run_id} is a {run.step} run; here a {step} run is needed.")
    if run.state != "done" or not run.model_path:
        raise WorkbenchError(f"Run {run_id} has no finished model (its state is {run.state!r}).")
    folder = workspace.home / run.model_path
    if not folder.is_dir():
        raise WorkbenchError(f"The model folder of run {run_id} is gone ({run.model_path}).")
    return str(folder)
