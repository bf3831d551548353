"""Several runs as one job, in order: each is a run of its own, as if it had been started alone."""

import shutil
from collections import Counter
from dataclasses import replace
from typing import Any

from augsbert_core.errors import Stopped, WorkbenchError
from augsbert_core.options import BatchOptions, PlannedRun, from_json
from augsbert_core.progress import stop_if
from augsbert_core.steps.batch_summary import save_summary
from augsbert_core.steps.child_report import ChildReport
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.references import referred, resolved
from augsbert_core.storage import batches, projects, queue, runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.plain import plain
from augsbert_core.storage.records import Project, Run

MOST_RUNS = 200
"""More runs than this are refused: they would take days, and the best of so many on dev means little."""


def batch(context: StepContext, options: BatchOptions) -> dict[str, Any]:
    """Carry out the planned runs that are not done yet, then sum them up.

    Stopped or killed, it goes on with the run it was at, from that run's own checkpoints. A run that fails
    stops the batch; resumed, the batch tries it again.
    """
    results: dict[str, dict[str, Any]] = {}
    reached = _stored_progress(context)
    for number, planned in enumerate(options.runs):
        found = batches.find_child(context.workspace, context.run.id, planned.key)
        if found is None or found.state != "done":
            found = _carry_out(context, options, number, results, reached)
            save_summary(context, options)
        results[planned.key] = {"run_id": found.id, "seed": found.seed} | found.metrics
    result = {"n_runs": len(options.runs), "summary": save_summary(context, options)}
    if options.kind == "will-silver-help":
        from augsbert_core.steps.outcome import silver_outcome

        result |= silver_outcome(context)
    return result


def _stored_progress(context: StepContext) -> float:
    """How far the batch had come when it was stopped, with the share of the run it was at; 0 when it is new."""
    ours = (job for job in queue.active_jobs(context.workspace) if job.run_id == context.run.id)
    return next((job.progress for job in ours), 0.0)


def _carry_out(
    context: StepContext,
    options: BatchOptions,
    number: int,
    results: dict[str, dict[str, Any]],
    reached: float,
) -> Run:
    from augsbert_core.steps import STEPS

    planned = options.runs[number]
    stop_if(context.should_stop)
    told = resolved(planned, results)
    child_options: Any = from_json(STEPS[planned.step].options_class, told)
    child = _open(context, planned, told, child_options)
    total = len(options.runs)
    title = f"{number + 1} of {total} · {child_title(planned, child.seed)}"
    step = STEPS[planned.step]
    report = ChildReport(
        context.workspace,
        child.id,
        context.report,
        low=number / total,
        high=(number + 1) / total,
        title=title,
        reached=reached,
    )
    try:
        with report:
            report(0.0, "Starting")
            own = replace(
                context,
                project=_project_of(context.workspace, context.project, planned),
                run=child,
                device=child.device or "cpu",
                report=report,
            )
            result = plain(step.function(own, child_options))
    except Stopped:
        raise
    except WorkbenchError as error:
        batches.close_child(context.workspace, child.id, "failed")
        raise WorkbenchError(f"{title} (run {child.id}) failed: {error}") from error
    except Exception as error:
        batches.close_child(context.workspace, child.id, "failed")
        error.add_note(f"{title} (run {child.id}) failed:")
        raise
    batches.close_child(context.workspace, child.id, "done", result)
    return runs.get_run(context.workspace, child.id)


def _open(context: StepContext, planned: PlannedRun, told: str, child_options: Any) -> Run:
    from augsbert_core.steps import STEPS, describe

    uses_device = STEPS[planned.step].uses_device(child_options)
    child, is_new = batches.open_child(
        context.workspace,
        context.run.id,
        planned.key,
        project_id=planned.project_id or context.project.id,
        step=planned.step,
        name=describe(planned.step, child_options),
        options=told,
        seed=child_options.seed,
        device=context.device if uses_device else None,
        versions=context.run.versions,
    )
    if is_new:
        # After the database was replaced, ids begin anew: no file of an old run may be taken for a checkpoint.
        shutil.rmtree(context.workspace.run_folder(child.id), ignore_errors=True)
    return child


def child_title(planned: PlannedRun, seed: int) -> str:
    """What a run of a batch is called while it is at work, "Train bi-encoder, seed 43"."""
    from augsbert_core.steps import STEPS

    step = STEPS.get(planned.step)
    return f"{step.title if step else planned.step}, seed {seed}"


def check_batch(workspace: Workspace, project: Project, options: BatchOptions) -> None:
    """WorkbenchError: nothing is planned, too much, a reference leads nowhere, or a run cannot begin.

    What a run is told that depends on others can only be checked when its turn comes.
    """
    from augsbert_core.steps import STEPS

    if not options.runs:
        raise WorkbenchError("The batch has no runs. Plan at least one.")
    if len(options.runs) > MOST_RUNS:
        raise WorkbenchError(
            f"The batch has {len(options.runs):,} runs; {MOST_RUNS} are the most. "
            "Take fewer values, or fewer seeds."
        )
    twice = [key for key, n in Counter(run.key for run in options.runs).items() if n > 1]
    if twice:
        raise WorkbenchError(f"Two runs of the batch are called {twice[0]!r}. Name each once.")
    known: set[str] = set()
    for planned in options.runs:
        if planned.step not in STEPS or planned.step == "batch":
            raise WorkbenchError(f"Run {planned.key!r}: {planned.step!r} is no step of a batch.")
        needed = referred(planned)
        if missing := [key for key in needed if key not in known]:
            raise WorkbenchError(
                f"Run {planned.key!r} needs the result of {missing[0]!r}, which is no earlier run."
            )
        if not needed:
            _check_child(workspace, project, planned)
        known.add(planned.key)


def _check_child(workspace: Workspace, project: Project, planned: PlannedRun) -> None:
    from augsbert_core.steps import STEPS

    step = STEPS[planned.step]
    child_options: Any = from_json(step.options_class, planned.options)
    try:
        step.check(workspace, _project_of(workspace, project, planned), child_options)
    except WorkbenchError as error:
        raise WorkbenchError(f"Run {planned.key!r} of the batch cannot begin: {error}") from error


def _project_of(workspace: Workspace, project: Project, planned: PlannedRun) -> Project:
    if planned.project_id in (None, project.id):
        return project
    return projects.get_project(workspace, planned.project_id or 0)


def batch_uses_device(options: BatchOptions) -> bool:
    """Whether any of the runs takes the CPU or GPU for long."""
    from augsbert_core.steps import STEPS

    return any(
        STEPS[planned.step].uses_device(
            from_json(STEPS[planned.step].options_class, planned.options)
        )
        for planned in options.runs
        if planned.step in STEPS
    )
