"""Which earlier runs an experiment takes its recipes and labelers from."""

from augsbert_core.options import (
    BiEncoderOptions,
    CrossEncoderOptions,
    from_json,
    student_defaults,
)
from augsbert_core.storage import runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project, Run


def student_runs(workspace: Workspace, project: Project) -> list[Run]:
    """Finished bi-encoders with a recipe of their own: those that were started alone first, newest first.

    Gold-only twins are left out: their number of steps is another run's.
    """
    trained = runs.list_runs(workspace, project.id, "train-bi-encoder")
    told = {run.id: from_json(BiEncoderOptions, run.options) for run in trained}
    steps_with_silver = {
        run.metrics.get("n_steps") for run in trained if told[run.id].silver_set_id is not None
    }
    own = [
        run
        for run in trained
        if told[run.id].silver_set_id is not None
        or told[run.id].max_steps is None
        or told[run.id].max_steps not in steps_with_silver
    ]
    return _lone_first(own)


def labeler_runs(workspace: Workspace, project: Project) -> list[Run]:
    """Finished cross-encoders that saw all gold pairs: those that were started alone first, newest first."""
    trained = runs.list_runs(workspace, project.id, "train-cross-encoder")
    return _lone_first(
        [run for run in trained if from_json(CrossEncoderOptions, run.options).gold_limit is None]
    )


def newest_recipe(workspace: Workspace, project: Project) -> BiEncoderOptions:
    """The recipe of the first of `student_runs`; without one the defaults for the project's layers."""
    for run in student_runs(workspace, project):
        return from_json(BiEncoderOptions, run.options)
    return student_defaults(project.student_layers)


def newest_labeler(workspace: Workspace, project: Project) -> CrossEncoderOptions:
    """The recipe of the first of `labeler_runs`, else the defaults."""
    for run in labeler_runs(workspace, project):
        return from_json(CrossEncoderOptions, run.options)
    return CrossEncoderOptions()


def _lone_first(found: list[Run]) -> list[Run]:
    return sorted(found, key=lambda run: (run.parent_run_id is not None, -run.id))
