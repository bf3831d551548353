"""Run steps as jobs: queue them, one worker process each, one job per device at a time.

Whoever looks at the queue tends it: pages, commands and every worker that ends. So the queue goes on with
no browser open, and a restarted app finds all jobs as they are.

`python -m augsbert_core.jobs --home DIR JOB` is the worker.
"""

import argparse
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from augsbert_core import classroom, processes, worker
from augsbert_core.errors import Stopped, WorkbenchError
from augsbert_core.fence import FENCE
from augsbert_core.options import to_json
from augsbert_core.processes import this_process
from augsbert_core.progress import Report, silent
from augsbert_core.storage import deletion, projects, queue, runs, uploads
from augsbert_core.storage.classroom import set_closing
from augsbert_core.storage.database import BUSY_SECONDS, Workspace, is_no_room, open_workspace
from augsbert_core.storage.records import Job

GRACE_SECONDS = 15.0
"""A worker that was asked to stop may be ended by force when it has not reacted after this long."""

NO_DEVICE = "none"
"""The lane of short steps that need no device of their own."""

TAIL_BYTES = 64 * 1024

_asked: dict[tuple[Path, int, int], float] = {}
"""When this process first asked an attempt of a job to stop, on the monotonic clock."""


def enqueue(
    workspace: Workspace, project_id: int, step: str, options: Any, *, shared: bool = False
) -> Job:
    """Have a step carried out in the background, as soon as its device is free.

    shared: it may run beside other shared jobs on its device, such as several on one large card; it never runs
    beside one that is not shared. Asked for again while an equal job runs or waits (a double click), it returns
    that one.
    """
    job = queue.same_active_job(workspace, project_id, step, to_json(options))
    job = job or _add(workspace, project_id, step, options, shared=shared)
    tend(workspace)
    return queue.get_job(workspace, job.id)


def run_in_foreground(
    workspace: Workspace, project_id: int, step: str, options: Any, report: Report = silent
) -> dict[str, Any]:
    """Wait for the device and carry a step out in this process; returns its result and `run_id`.

    WorkbenchError: the step failed; the job row holds the details. Stopped: Ctrl-C, or cancelled from
    elsewhere.
    """
    job = _add(workspace, project_id, step, options, in_foreground=True)
    try:
        _wait_for_turn(workspace, job, report)
        job = queue.get_job(workspace, job.id)
        return {"run_id": job.run_id} | worker.carry_out(workspace, job, report, at_terminal=True)
    except (Stopped, KeyboardInterrupt):
        queue.finish_job(workspace, job.id, "cancelled", message="Cancelled")
        raise Stopped(
            f"Job {job.id} was cancelled. `augsbert jobs resume {job.id}` goes on with it."
        ) from None
    except WorkbenchError:
        raise
    except Exception as error:
        raise WorkbenchError(
            f"{worker.explain(error)} `augsbert jobs show {job.id}` has the details."
        ) from error
    finally:
        tend(workspace)


def tend(workspace: Workspace, *, patience: float = 1.0) -> None:
    """Close the jobs of dead processes and start what can start. Cheap, and safe from many processes.

    In a class this is done for everybody. patience: seconds to wait for another process that tends the class.
    """
    processes.reap()
    deletion.sweep_in_background(workspace)
    room = classroom.classroom_of(workspace)
    if room is not None:
        classroom.tend(room, workspace, _close_dead, _start, patience)
        return
    active = queue.active_jobs(workspace)
    _close_dead(workspace, active)
    if any(job.state == "queued" for job in active):
        for job in queue.next_background_jobs(workspace):
            _start(workspace, job)


def cancel(workspace: Workspace, job_id: int) -> None:
    """Ask a job to stop; asked again after GRACE_SECONDS without an effect, end its process."""
    job = queue.get_job(workspace, job_id)
    if can_be_forced(workspace, job):
        processes.end(job)
        queue.finish_job(
            workspace, job_id, "cancelled", message="Cancelled by force; resume to go on from here"
        )
    elif job.state in queue.ACTIVE:
        _asked.setdefault((workspace.home, job.id, job.attempt), time.monotonic())
        if job.state == "running":
            worker.stop_file(workspace, job_id).touch()
        queue.ask_to_cancel(workspace, job_id)
    tend(workspace)


def stop_class(room: classroom.Classroom) -> int:
    """Let no job of the class start any more and ask all to stop; returns how many are still at work.

    Called again, it ends those by force that have not reacted after GRACE_SECONDS.
    """
    set_closing(room, True)
    for desk in classroom.jobs_of_class(room):
        for job in desk.active:
            cancel(desk.workspace, job.id)
    return sum(len(desk.active) for desk in classroom.jobs_of_class(room))


def can_be_forced(workspace: Workspace, job: Job) -> bool:
    """True when a stopping job had its time to react: `cancel` would now end its process.

    The time counts from this process's first `cancel` of the attempt, so a restarted app asks anew.
    """
    asked = _asked.get((workspace.home, job.id, job.attempt))
    return (
        job.state == "cancelling"
        and asked is not None
        and time.monotonic() - asked >= GRACE_SECONDS
    )


def resume(workspace: Workspace, job_id: int) -> Job:
    """Queue an interrupted, failed or cancelled job again, in the background, from where it stopped.

    WorkbenchError: the job is at work, waiting or done.
    """
    queue.queue_again(workspace, job_id)
    tend(workspace)
    return queue.get_job(workspace, job_id)


def discard_job(workspace: Workspace, job_id: int) -> None:
    """Remove a job that ended without a result, with its run, files and log.

    The runs of a batch that are done stay, as runs of their own. WorkbenchError: the job is active, or done (its results would go with it).
    """
    unfinished = queue.unfinished_children(workspace, job_id)
    waiting = uploads.waiting_uploads(workspace, [queue.get_job(workspace, job_id).run_id])
    run_id = queue.delete_job(workspace, job_id)
    if run_id is None:
        raise WorkbenchError(
            f"Job {job_id} cannot be removed: only an interrupted, failed or cancelled one can."
        )
    _remove_files(workspace, [run_id, *unfinished], [job_id])
    uploads.forget_uploads(workspace, waiting)


def discard_project(workspace: Workspace, project_id: int) -> None:
    """Remove a project with its models and logs. WorkbenchError: one of its jobs is at work."""
    project_jobs = queue.list_jobs(workspace, project_id, limit=1_000_000)
    waiting = uploads.waiting_uploads(
        workspace, [job.run_id for job in project_jobs if job.step == "import-files"]
    )
    job_ids = [job.id for job in project_jobs]
    _remove_files(workspace, projects.delete_project(workspace, project_id), job_ids)
    uploads.forget_uploads(workspace, waiting)


def log_tail(workspace: Workspace, job: Job, lines: int = 60) -> str:
    """The last lines of a worker's log, "" when there is none; reads only the end of the file."""
    path = workspace.home / job.log_path if job.log_path else None
    if path is None or not path.is_file():
        return ""
    with path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - TAIL_BYTES))
        text = stream.read().decode("utf-8", errors="replace")
    if size > TAIL_BYTES:
        text = text.partition("\n")[2] or text
    # A progress bar rewrites its line after "\r": only what it shows in the end counts.
    shown = [line.rstrip("\r").rpartition("\r")[2] for line in text.rstrip().split("\n")]
    return "\n".join(shown[-lines:])


def _add(
    workspace: Workspace,
    project_id: int,
    step: str,
    options: Any,
    *,
    in_foreground: bool = False,
    shared: bool = False,
) -> Job:
    from augsbert_core.steps import STEPS, describe

    if step not in STEPS:
        raise ValueError(f"step must be one of {', '.join(STEPS)}, not {step!r}")
    STEPS[step].check(workspace, projects.get_project(workspace, project_id), options)
    device = NO_DEVICE
    if STEPS[step].uses_device(options):
        from augsbert_core.models.devices import resolve_device

        device = resolve_device(options.device)
    run_id = runs.add_run(
        workspace, project_id, step, describe(step, options), to_json(options), options.seed
    )
    owner: dict[str, Any] = dict(this_process()) if in_foreground else {}
    job_id = queue.add_job(
        workspace,
        project_id,
        run_id,
        step,
        device,
        in_foreground=in_foreground,
        shared=shared,
        **owner,
    )
    # After the database was replaced, ids begin anew: no file of an old run may be taken for a checkpoint.
    _remove_files(workspace, [run_id], [job_id])
    return queue.get_job(workspace, job_id)


def _wait_for_turn(workspace: Workspace, job: Job, report: Report) -> None:
    """Return when the job is claimed for this process. Stopped: it was cancelled while it waited."""
    next_beat = 0.0
    while not _claim(workspace, job.id):
        if time.monotonic() >= next_beat:
            next_beat = time.monotonic() + worker.BEAT_SECONDS
            tend(workspace)
            if queue.beat(workspace, job.id) != "queued":
                raise Stopped
            ahead = [f"job {other.id}" for other in queue.jobs_ahead(workspace, job)]
            report(0.0, f"Waiting for {', '.join(ahead) or 'its turn'}")
        time.sleep(0.3)


def _start(workspace: Workspace, job: Job) -> None:
    """Start a worker for a queued job and claim the job in its name.

    When another process was quicker, the claim fails and the surplus worker leaves by itself.
    """
    log = workspace.logs / f"job-{job.id}.log"
    queue.set_log(workspace, job.id, log.relative_to(workspace.home).as_posix())
    try:
        pid = processes.start_worker(["--home", str(workspace.home.resolve()), str(job.id)], log)
    except OSError as error:
        queue.finish_job(
            workspace,
            job.id,
            "failed",
            message="Failed",
            error=worker.DISK_FULL
            if is_no_room(error)
            else f"No worker process could be started ({error}). Free some memory, then resume.",
        )
        return
    queue.claim_job(
        workspace,
        job.id,
        host=this_process()["host"],
        pid=pid,
        pid_started=processes.start_time(pid),
    )


def _close_dead(workspace: Workspace, active: list[Job]) -> None:
    for job in active:
        # A job that waits in the background has no process yet.
        if (job.state != "queued" or job.in_foreground) and not processes.is_alive(job):
            _close_abandoned(workspace, job)


def _close_abandoned(workspace: Workspace, job: Job) -> None:
    if job.state == "cancelling":
        queue.finish_job(
            workspace, job.id, "cancelled", message="Cancelled; resume to go on from here"
        )
        return
    queue.finish_job(
        workspace,
        job.id,
        "interrupted",
        message="Interrupted; resume to go on from here",
        error=(
            "The process of this job ended without a word: it was killed, ran out of memory or disk "
            "space, or the machine was restarted. Resume the job: it goes on from what it has saved."
        ),
    )


def _remove_files(workspace: Workspace, run_ids: list[int], job_ids: list[int]) -> None:
    for run_id in run_ids:
        shutil.rmtree(workspace.run_folder(run_id), ignore_errors=True)
    for job_id in job_ids:
        (workspace.logs / f"job-{job_id}.log").unlink(missing_ok=True)
        worker.stop_file(workspace, job_id).unlink(missing_ok=True)


def _claim(workspace: Workspace, job_id: int) -> bool:
    room = classroom.classroom_of(workspace)
    if room is not None:
        return classroom.claim(room, workspace, job_id, this_process())
    return queue.claim_job(workspace, job_id, **this_process())


def _is_mine(workspace: Workspace, job_id: int) -> bool:
    """True when this process has the job: claimed in its name by whoever started it, or by itself now."""
    own = this_process()
    if _claim(workspace, job_id):
        return True
    job = queue.get_job(workspace, job_id)
    return (job.host, job.pid, job.state) in (
        (own["host"], own["pid"], "running"),
        (own["host"], own["pid"], "cancelling"),
    )


def main(arguments: list[str] | None = None) -> int:
    """The worker: carry out one job, then tend the queue. Exit code 1 when the job did not end well."""
    parser = argparse.ArgumentParser(prog="python -m augsbert_core.jobs", description=main.__doc__)
    parser.add_argument("--home", type=Path, required=True, help="the workspace folder")
    parser.add_argument("job", type=int)
    given = parser.parse_args(arguments)
    workspace = open_workspace(given.home)
    if classroom.classroom_of(workspace) is not None:
        os.environ[FENCE] = str(workspace.home)
        processes.give_way()
    if not _is_mine(workspace, given.job):
        return 0
    job = queue.get_job(workspace, given.job)
    print(f"Job {job.id}, {job.step}, attempt {job.attempt}, on {job.device}", flush=True)
    try:
        worker.carry_out(workspace, job)
    except Stopped:
        return 1
    except Exception as error:  # noqa: BLE001
        # Recorded with its traceback already; the log gets the sentence.
        print(worker.explain(error), file=sys.stderr)
        return 1
    finally:
        tend(workspace, patience=BUSY_SECONDS)  # perhaps nobody else looks at the queue
    return 0


if __name__ == "__main__":
    sys.exit(main())
