"""Commands about the queue."""

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from augsbert_core.cli.console import AsJson, open_home, progress, show, table
from augsbert_core.errors import Stopped, WorkbenchError

if TYPE_CHECKING:
    from augsbert_core.storage.database import Workspace
    from augsbert_core.storage.records import Job

POLL_SECONDS = 0.5

JobId = Annotated[int, typer.Argument(metavar="ID", min=1, max=2**62, help="The job's number.")]

commands = typer.Typer(help="List the jobs, and cancel, resume or inspect one.")


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.add_typer(commands, name="jobs")


@commands.callback(invoke_without_command=True)
def jobs(
    context: typer.Context,
    project: Annotated[
        str | None, typer.Option("--project", "-p", help="Only of this project.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most N, the newest first.")] = 50,
    as_json: AsJson = False,
) -> None:
    """List the jobs, newest first."""
    if context.invoked_subcommand is not None:
        return
    from augsbert_core.cli.data import named
    from augsbert_core.jobs import tend
    from augsbert_core.storage.projects import list_projects
    from augsbert_core.storage.queue import list_jobs

    workspace = open_home(context)
    tend(workspace)
    project_id = named(workspace, project).id if project else None
    names = {known.id: known.name for known in list_projects(workspace)}
    listed = [
        _as_json(job, names[job.project_id]) for job in list_jobs(workspace, project_id, limit)
    ]
    if as_json or not listed:
        show({"jobs": listed}, ["There is no job yet."], as_json=as_json)
        return
    headings = {
        "id": ">Job", "project": "Project", "step": "Step", "run_id": ">Run", "state": "State",
        "percent": ">Progress", "device": "Device", "told": "Message",
    }  # fmt: skip
    shown: list[dict[str, Any]] = [
        {**row, "percent": f"{row['progress']:.0%}", "told": row["error"] or row["message"]}
        for row in listed
    ]
    table(headings, [{key: str(row[key]) for key in headings} for row in shown])


@commands.command("show")
def show_job(context: typer.Context, job_id: JobId, as_json: AsJson = False) -> None:
    """Everything about one job, with the end of its log."""
    from augsbert_core.jobs import log_tail, tend
    from augsbert_core.storage.projects import get_project
    from augsbert_core.storage.queue import get_job

    workspace = open_home(context)
    tend(workspace)
    job = get_job(workspace, job_id)
    log = log_tail(workspace, job)
    lines = [_line(job), *filter(None, [job.error, job.details, log])]
    project = get_project(workspace, job.project_id)
    show({**_as_json(job, project.name), "log": log}, lines, as_json=as_json)


@commands.command()
def cancel(context: typer.Context, job_id: JobId, as_json: AsJson = False) -> None:
    """Stop a job; when it does not react within 15 seconds, end its process."""
    from augsbert_core import jobs as queue_of_jobs
    from augsbert_core.storage.queue import ACTIVE, get_job

    workspace = open_home(context)
    job = get_job(workspace, job_id)
    if job.state not in ACTIVE:
        raise WorkbenchError(f"Job {job_id} has ended already ({job.state}).")
    queue_of_jobs.cancel(workspace, job_id)
    while (job := get_job(workspace, job_id)).state in ACTIVE:
        time.sleep(POLL_SECONDS)
        queue_of_jobs.tend(workspace)
        if queue_of_jobs.can_be_forced(workspace, job):
            queue_of_jobs.cancel(workspace, job_id)
    _show_end(workspace, job, as_json=as_json)


@commands.command()
def resume(
    context: typer.Context,
    job_id: JobId,
    wait: Annotated[
        bool, typer.Option(help="Follow the job to its end; Ctrl-C then cancels it.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Go on with an interrupted, failed or cancelled job from where it stopped, in the background."""
    from augsbert_core import jobs as queue_of_jobs

    workspace = open_home(context)
    job = queue_of_jobs.resume(workspace, job_id)
    if wait:
        job = _follow(workspace, job, quiet=as_json)
    _show_end(workspace, job, as_json=as_json)
    if job.state == "failed":
        raise WorkbenchError(job.error or f"Job {job_id} failed.")


@commands.command()
def remove(context: typer.Context, job_id: JobId) -> None:
    """Remove a job that ended without a result, with its files."""
    from augsbert_core.jobs import discard_job

    discard_job(open_home(context), job_id)
    typer.echo(f"Job {job_id} is removed.")


def _follow(workspace: "Workspace", job: "Job", *, quiet: bool) -> "Job":
    """Watch a job until it ends."""
    from augsbert_core import jobs as queue_of_jobs
    from augsbert_core.storage.queue import ACTIVE, get_job

    try:
        with progress(f"Job {job.id}, {job.step}", quiet=quiet) as report:
            while job.state in ACTIVE:
                report(job.progress, job.message)
                time.sleep(POLL_SECONDS)
                queue_of_jobs.tend(workspace)
                job = get_job(workspace, job.id)
    except KeyboardInterrupt:
        queue_of_jobs.cancel(workspace, job.id)
        raise Stopped(f"Job {job.id} was cancelled.") from None
    return job


def _show_end(workspace: "Workspace", job: "Job", *, as_json: bool) -> None:
    from augsbert_core.storage.projects import get_project

    project = get_project(workspace, job.project_id)
    show(_as_json(job, project.name), [_line(job)], as_json=as_json)


def _line(job: "Job") -> str:
    return f"Job {job.id} ({job.step}, run {job.run_id}): {job.state}, {job.progress:.0%}. {job.message}"


def _as_json(job: "Job", project: str) -> dict[str, Any]:
    return {**asdict(job), "project": project}
