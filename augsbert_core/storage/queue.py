"""The job queue in the database: who runs, who waits, who asked to stop.

Every change of state is one guarded UPDATE in a write transaction, so that two windows, a worker and
the command line cannot both win.
"""

from dataclasses import asdict

from sqlite_utils import Database

from augsbert_core.errors import WorkbenchError
from augsbert_core.storage import deletion
from augsbert_core.storage.database import Workspace, now, reading, writing
from augsbert_core.storage.records import Job, record

JOB_SQL = "SELECT job.*, run.name FROM job JOIN run ON run.id = job.run_id"
ACTIVE = ("queued", "running", "cancelling")
RESUMABLE = ("interrupted", "failed", "cancelled")


def add_job(
    workspace: Workspace,
    project_id: int,
    run_id: int,
    step: str,
    device: str,
    *,
    in_foreground: bool = False,
    shared: bool = False,
    host: str | None = None,
    pid: int | None = None,
    pid_started: float | None = None,
) -> int:
    """Queue a job for a run. A foreground job names the process that waits to carry it out itself.

    shared: it may run beside other shared jobs on its device.
    """
    with writing(workspace) as db:
        cursor = db.execute(
            "INSERT INTO job (project_id, run_id, step, device, in_foreground, shared, host, pid,"
            " pid_started, message, created_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'Waiting for its turn', ?)",
            [
                project_id,
                run_id,
                step,
                device,
                in_foreground,
                shared,
                host,
                pid,
                pid_started,
                now(),
            ],
        )
        return int(cursor.lastrowid or 0)


def get_job(workspace: Workspace, job_id: int) -> Job:
    """The job with this id. WorkbenchError when there is none."""
    with reading(workspace) as db:
        row = db.execute(f"{JOB_SQL} WHERE job.id = ?", [job_id]).fetchone()
    if row is None:
        raise WorkbenchError(f"There is no job {job_id} (any more).")
    return record(Job, row)


def list_jobs(workspace: Workspace, project_id: int | None = None, limit: int = 100) -> list[Job]:
    """Jobs, newest first."""
    with reading(workspace) as db:
        rows = db.execute(
            f"{JOB_SQL} WHERE :project IS NULL OR job.project_id = :project"
            " ORDER BY job.id DESC LIMIT :limit",
            {"project": project_id, "limit": limit},
        )
        return [record(Job, row) for row in rows]


def active_jobs(workspace: Workspace) -> list[Job]:
    """Jobs of all projects that run or wait, oldest first."""
    with reading(workspace) as db:
        rows = db.execute(
            f"{JOB_SQL} WHERE job.state IN ('queued', 'running', 'cancelling') ORDER BY job.id"
        )
        return [record(Job, row) for row in rows]


# A shared job minds only jobs that are not: neither one at work nor one that was there before it.
MAY_START_SQL = """
  job.state = 'queued'
  AND NOT EXISTS (SELECT 1 FROM job AS other WHERE other.device = job.device
    AND other.state IN ('running', 'cancelling') AND NOT (job.shared AND other.shared))
  AND NOT EXISTS (SELECT 1 FROM job AS earlier WHERE earlier.device = job.device
    AND earlier.state = 'queued' AND earlier.id < job.id AND NOT (job.shared AND earlier.shared))
"""

CLAIM_SQL = f"""
UPDATE job SET state = 'running', attempt = attempt + 1, host = :host, pid = :pid,
  pid_started = :pid_started, heartbeat = :now, started_at = :now, finished_at = NULL,
  error = NULL, details = NULL, message = 'Starting'
WHERE id = :job AND {MAY_START_SQL}
"""


def claim_job(
    workspace: Workspace, job_id: int, *, host: str, pid: int, pid_started: float
) -> bool:
    """Take a queued job if its device is free and no earlier job waits for it; True when it is ours."""
    values = {
        "job": job_id,
        "host": host,
        "pid": pid,
        "pid_started": pid_started,
        "now": now(),
    }
    with writing(workspace) as db:
        claimed = db.execute(CLAIM_SQL, values).rowcount == 1
        if claimed:
            _set_run_state(db, job_id, "started")
    return claimed


def next_background_jobs(workspace: Workspace) -> list[Job]:
    """The jobs that can start now: for each free device the first in its queue, and shared ones beside each other.

    None whose turn it is in the foreground: that one starts itself.
    """
    return [job for job in startable_jobs(workspace) if not job.in_foreground]


def startable_jobs(workspace: Workspace) -> list[Job]:
    """The jobs whose turn it is within the workspace, those of the foreground too, oldest first."""
    with reading(workspace) as db:
        rows = db.execute(f"{JOB_SQL} WHERE {MAY_START_SQL} ORDER BY job.id")
        return [record(Job, row) for row in rows]


def jobs_ahead(workspace: Workspace, job: Job) -> list[Job]:
    """The jobs of all projects that a queued job waits for: those that hold its device, then those that come before it."""
    with reading(workspace) as db:
        rows = db.execute(f"{JOB_SQL} WHERE {AHEAD_SQL}", asdict(job))
        return [record(Job, row) for row in rows]


AHEAD_SQL = """
job.device = :device AND job.id != :id AND NOT (job.shared AND :shared)
  AND (job.state IN ('running', 'cancelling') OR (job.state = 'queued' AND job.id < :id))
ORDER BY job.state = 'queued', job.id
"""


def beat(workspace: Workspace, job_id: int) -> str:
    """Say that the worker lives; returns the job's state, in which it finds a wish to stop."""
    with writing(workspace) as db:
        db.execute("UPDATE job SET heartbeat = ? WHERE id = ?", [now(), job_id])
        row = db.execute("SELECT state FROM job WHERE id = ?", [job_id]).fetchone()
    return str(row[0]) if row else "cancelling"


def set_progress(workspace: Workspace, job_id: int, fraction: float, message: str) -> None:
    """Record how far a running job has come."""
    with writing(workspace) as db:
        db.execute(
            "UPDATE job SET progress = ?, message = ?, heartbeat = ? WHERE id = ?",
            [min(max(fraction, 0.0), 1.0), message, now(), job_id],
        )


def set_log(workspace: Workspace, job_id: int, log_path: str) -> None:
    """Record where the worker writes its log."""
    with writing(workspace) as db:
        db.execute("UPDATE job SET log_path = ? WHERE id = ?", [log_path, job_id])


def finish_job(
    workspace: Workspace,
    job_id: int,
    state: str,
    *,
    message: str,
    error: str | None = None,
    details: str | None = None,
) -> None:
    """Close a job and its run. state: done, failed, cancelled or interrupted.

    A job that is no longer running (another process declared it interrupted) is left as it is.
    """
    with writing(workspace) as db:
        closed = db.execute(
            "UPDATE job SET state = :state, message = :message, error = :error, details = :details,"
            " finished_at = :now, progress = CASE WHEN :state = 'done' THEN 1 ELSE progress END"
            " WHERE id = :job AND state IN ('queued', 'running', 'cancelling')",
            {
                "job": job_id,
                "state": state,
                "message": message,
                "error": error,
                "details": details,
                "now": now(),
            },
        ).rowcount
        if closed:
            _set_run_state(db, job_id, state)


def ask_to_cancel(workspace: Workspace, job_id: int) -> None:
    """Cancel a job: at once while it waits, at its next step while it runs; nothing once it has ended."""
    with writing(workspace) as db:
        waiting = db.execute(
            "UPDATE job SET state = 'cancelled', message = 'Cancelled before it began', finished_at = ?"
            " WHERE id = ? AND state = 'queued'",
            [now(), job_id],
        ).rowcount
        if waiting:
            _set_run_state(db, job_id, "cancelled")
        db.execute(
            "UPDATE job SET state = 'cancelling', message = 'Stopping' WHERE id = ? AND state = 'running'",
            [job_id],
        )


def queue_again(workspace: Workspace, job_id: int, *, in_foreground: bool = False) -> None:
    """Queue an interrupted, failed or cancelled job once more; it continues where it stopped.

    WorkbenchError: the job is at work, waiting or done.
    """
    with writing(workspace) as db:
        queued = db.execute(
            "UPDATE job SET state = 'queued', message = 'Waiting for its turn', error = NULL,"
            " details = NULL, finished_at = NULL, in_foreground = ? WHERE id = ?"
            " AND state IN ('interrupted', 'failed', 'cancelled')",
            [in_foreground, job_id],
        ).rowcount
        if not queued:
            raise WorkbenchError(
                f"Job {job_id} cannot be resumed: only an interrupted, failed or cancelled one can."
            )
        _set_run_state(db, job_id, "started")


def refuse_while_at_work(db: Database, project_id: int, wish: str) -> None:
    """WorkbenchError when a job of the project runs or waits: it may be about to read what should go.

    A batch of another project counts too once it has begun a run in this one.
    """
    row = db.execute(
        "SELECT id FROM job WHERE state IN ('queued', 'running', 'cancelling') AND (project_id = :project"
        " OR run_id IN (SELECT parent_run_id FROM run WHERE project_id = :project))",
        {"project": project_id},
    ).fetchone()
    if row:
        raise WorkbenchError(
            f"Job {row[0]} of this project is not done. Wait for it or cancel it on the Jobs page, "
            f"then {wish}."
        )


def same_active_job(workspace: Workspace, project_id: int, step: str, options: str) -> Job | None:
    """A job that runs or waits and was told exactly the same, if there is one. options: JSON."""
    with reading(workspace) as db:
        row = db.execute(
            f"{JOB_SQL} WHERE job.project_id = ? AND job.step = ? AND run.options = ?"
            " AND job.state IN ('queued', 'running') ORDER BY job.id LIMIT 1",
            [project_id, step, options],
        ).fetchone()
    return record(Job, row) if row else None


BUILT_UPON_SQL = """
SELECT EXISTS (SELECT 1 FROM silver_set WHERE run_id <> :run AND NOT deleting AND (
  candidate_set_id IN (SELECT id FROM candidate_set WHERE run_id = :run)
  OR pool_set_id IN (SELECT id FROM silver_set WHERE run_id = :run)))
"""


def delete_job(workspace: Workspace, job_id: int) -> int | None:
    """Remove a job that has ended without a result, with its run; returns the run's id, None if refused.

    When other runs have labelled its candidates or kept some of its silver pairs, only the job goes: the
    run's sets stay and can be deleted by themselves. Of a batch, the runs that are not done go too; see
    `unfinished_children`. WorkbenchError: candidates would go that a job at work may be about to read.
    """
    with writing(workspace) as db:
        row = db.execute(
            "SELECT run_id, project_id FROM job WHERE id = ?"
            " AND state IN ('interrupted', 'failed', 'cancelled')",
            [job_id],
        ).fetchone()
        if row is None:
            return None
        run_id = int(row["run_id"])
        leaving = [run_id, *_unfinished_children(db, run_id)]
        for number in leaving:
            _hide_sets(db, number, row["project_id"])
        db.execute("DELETE FROM job WHERE id = ?", [job_id])
        for number in leaving:
            deletion.remove_unused_run(db, number)  # one with sets goes when they are swept
    deletion.sweep(workspace, deletion.AT_ONCE_SECONDS)
    return run_id


def unfinished_children(workspace: Workspace, job_id: int) -> list[int]:
    """The runs of a batch that have begun and are not done: what goes with its job."""
    with reading(workspace) as db:
        row = db.execute("SELECT run_id FROM job WHERE id = ?", [job_id]).fetchone()
        return _unfinished_children(db, row[0]) if row else []


def _unfinished_children(db: Database, run_id: int) -> list[int]:
    rows = db.execute("SELECT id FROM run WHERE parent_run_id = ? AND state <> 'done'", [run_id])
    return [int(row[0]) for row in rows.fetchall()]


def _hide_sets(db: Database, run_id: int, project_id: int) -> None:
    """Mark the sets of a run for removal, unless others were built upon them."""
    if db.execute(BUILT_UPON_SQL, {"run": run_id}).fetchone()[0]:
        return
    if db.execute("SELECT 1 FROM candidate_set WHERE run_id = ?", [run_id]).fetchone():
        refuse_while_at_work(db, project_id, "remove the job with its candidates")
    deletion.hide_silver_sets(db, "run_id = ?", [run_id])
    deletion.hide_candidate_sets(db, "run_id = ?", [run_id])


def _set_run_state(db: Database, job_id: int, state: str) -> None:
    """Bring a job's run into a state; the run of a batch that was at work ends with it."""
    finished = None if state == "started" else now()
    db.execute(
        "UPDATE run SET state = ?, finished_at = ? WHERE id = (SELECT run_id FROM job WHERE id = ?)",
        [state, finished, job_id],
    )
    if state not in ("started", "done"):
        db.execute(
            "UPDATE run SET state = ?, finished_at = ? WHERE state = 'started'"
            " AND parent_run_id = (SELECT run_id FROM job WHERE id = ?)",
            [state, finished, job_id],
        )
