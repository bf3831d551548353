"""Live jobs on a page: progress, curves, log, cancel and resume. Everything is read from the job row."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal

import streamlit as st

from augsbert_core import jobs
from augsbert_core.options import BatchOptions, from_json
from augsbert_core.steps import STEPS
from augsbert_core.storage.projects import list_projects
from augsbert_core.storage.queue import ACTIVE, RESUMABLE, get_job, jobs_ahead, list_jobs
from augsbert_core.storage.records import Job, Run
from augsbert_core.storage.runs import get_run
from augsbert_core.ui.batch_children import batch_children, show_curves
from augsbert_core.ui.bench import Bench, tend_jobs
from augsbert_core.ui.door import class_wait, in_class
from augsbert_core.ui.widgets import as_text, duration_text, flash, user_errors

POLL_SECONDS = 1.5
LOG_HEIGHT = 260

STATES: dict[str, tuple[str, Any, str]] = {
    "queued": ("Waiting", "gray", ":material/hourglass_empty:"),
    "running": ("Running", "primary", ":material/play_circle:"),
    "cancelling": ("Stopping", "orange", ":material/stop_circle:"),
    "cancelled": ("Cancelled", "gray", ":material/cancel:"),
    "failed": ("Failed", "red", ":material/error:"),
    "interrupted": ("Interrupted", "orange", ":material/power_off:"),
    "done": ("Done", "green", ":material/check_circle:"),
}
"""Job state → word on the screen, colour, icon."""

METRIC_NAMES = {"spearman": "Spearman", "f1": "F1"}
OUTCOMES = {
    "n_steps": "steps",
    "n_candidates": "candidates",
    "n_scored": "pairs scored",
    "pairs_per_second": "pairs/s",
}


def launch(bench: Bench, step: str, options: Any, *, shared: bool = False) -> None:
    """Queue a step of the open project and draw the page anew; a user error is shown instead.

    shared: it may run beside other shared jobs on its device.
    """
    with user_errors():
        if bench.project is None:
            raise ValueError("launch needs an open project")
        jobs.enqueue(bench.workspace, bench.project.id, step, options, shared=shared)
        flash(f"{STEPS[step].title}: queued", ":material/play_circle:")
        st.rerun()


def job_panel(
    bench: Bench, steps: Sequence[str], *, ended: bool = True, batches: str | None = None
) -> None:
    """The jobs of these steps in the open project: all that are active, and the last one that ended.

    ended: leave the last one out when False. batches: of the batches, only those of this kind.
    Reads the job rows every 1.5 s while one is active, then draws the whole page once more.
    """
    project_id = bench.project.id if bench.project else None

    def shown() -> list[Job]:
        ours = [
            job
            for job in list_jobs(bench.workspace, project_id)
            if job.step in steps and (batches is None or batch_kind(bench, job) in (None, batches))
        ]
        active = [job for job in ours if job.state in ACTIVE]
        last = [job for job in ours if job.state not in ACTIVE][:1]
        return active + (last if ended else [])

    _live(bench, shown)


def batch_kind(bench: Bench, job: Job) -> str | None:
    """What kind of batch a job is; None for other jobs."""
    if job.step != "batch":
        return None
    return from_json(BatchOptions, get_run(bench.workspace, job.run_id).options).kind


def job_details(bench: Bench, job_id: int) -> None:
    """One job in full, live while it is active."""
    _live(bench, lambda: [get_job(bench.workspace, job_id)], removable=True)


def _live(bench: Bench, shown: Any, removable: bool = False) -> None:
    was_active = any(job.state in ACTIVE for job in shown())

    @st.fragment(run_every=POLL_SECONDS if was_active else None)
    def panel() -> None:
        tend_jobs(bench.workspace)
        cards = shown()
        if was_active and not any(job.state in ACTIVE for job in cards):
            st.rerun()
        for job in cards:
            _card(bench, job, removable)

    panel()


def _card(bench: Bench, job: Job, removable: bool) -> None:
    run = get_run(bench.workspace, job.run_id)
    word, color, icon = STATES[job.state]
    with st.container(border=True, key=f"job-{job.id}"):
        with st.container(horizontal=True, wrap=False, vertical_alignment="center"):
            st.markdown(f"**{as_text(run.name)}**", width="stretch")
            st.badge(word, icon=icon, color=color)
            _buttons(bench, job, removable)
        if job.state in ACTIVE or 0 < job.progress < 1:
            share = min(max(job.progress, 0.0), 1.0)
            st.progress(share, text=as_text(progress_text(bench, job)))
        st.caption(as_text(" · ".join([facts(job), *outcome(run)])))
        if job.error:
            st.error(as_text(job.error), icon=":material/error:")
        if job.step == "batch":
            batch_children(bench.workspace, run)
        else:
            show_curves(bench.workspace, run.id)
        _log(bench, job)


def progress_text(bench: Bench, job: Job) -> str:
    """What an active job says, and how far it is; of a waiting one, which job of which project it waits for.

    In a class other people's jobs are counted and not named.
    """
    if job.state == "queued":
        if in_class():
            place = class_wait(bench.workspace, job)
            return f"{job.message} · {place}" if place else job.message
        if ahead := jobs_ahead(bench.workspace, job):
            return _waiting_text(bench, job, ahead)
    return f"{job.message} · {min(max(job.progress, 0.0), 1.0):.0%}"


def _waiting_text(bench: Bench, job: Job, ahead: Sequence[Job]) -> str:
    first, n_more = ahead[0], len(ahead) - 1
    text = f"Waiting for job {first.id}, {first.name}"
    if first.project_id != job.project_id:
        names = {project.id: project.name for project in list_projects(bench.workspace)}
        text += f", of the project {names.get(first.project_id, 'that is being deleted')}"
    return text + (f", and {n_more} more" if n_more else "")


def facts(job: Job) -> str:
    """Job number, device, elapsed and remaining time in one line."""
    parts = [f"Job {job.id}", *([job.device] if job.device != jobs.NO_DEVICE else [])]
    if job.started_at:
        end = datetime.fromisoformat(job.finished_at) if job.finished_at else datetime.now(UTC)
        elapsed = (end - datetime.fromisoformat(job.started_at)).total_seconds()
        parts.append(duration_text(elapsed))
        # A resumed job did not start at zero, so its pace says nothing about the rest.
        if (
            job.state == "running"
            and job.attempt == 1
            and job.progress > 0.03
            and elapsed > 3
            and "left" not in job.message
        ):
            left = elapsed * (1 - job.progress) / job.progress
            parts.append(f"about {duration_text(left)} left")
    if job.attempt > 1:
        parts.append(f"attempt {job.attempt}")
    return " · ".join(parts)


def outcome(run: Run) -> list[str]:
    """What came out of a finished run, in a few words."""
    found = run.metrics
    if run.state != "done":
        return []
    parts = []
    if found.get("dev_score") is not None:
        name = METRIC_NAMES.get(found.get("metric", ""), "score")
        parts.append(f"dev {name} × 100: {100 * found['dev_score']:.1f}")
    for key, words in OUTCOMES.items():
        if isinstance(found.get(key), int | float):
            parts.append(f"{found[key]:,.0f} {words}")
    if isinstance(found.get("n_runs"), int):
        parts.append(f"{found['n_runs']:,} runs")
    if isinstance(found.get("rows"), list):
        parts.append(f"{len(found['rows'])} measurements")
    return parts


def _buttons(bench: Bench, job: Job, removable: bool) -> None:
    with user_errors():
        if job.state in ("queued", "running") and st.button(
            "Cancel",
            key=f"cancel-{job.id}",
            icon=":material/stop:",
            help="It stops after the batch at hand and can be resumed from its last checkpoint.",
        ):
            jobs.cancel(bench.workspace, job.id)
            st.rerun()
        if jobs.can_be_forced(bench.workspace, job) and st.button(
            "End its process",
            key=f"force-{job.id}",
            icon=":material/dangerous:",
            help="It has not reacted to the wish to stop. Work since its last checkpoint is lost.",
        ):
            jobs.cancel(bench.workspace, job.id)
            st.rerun()
        if job.state in RESUMABLE and st.button(
            "Resume",
            key=f"resume-{job.id}",
            icon=":material/replay:",
            type="primary",
            help="Training goes on from its last checkpoint, labelling with the pairs that have no score yet.",
        ):
            jobs.resume(bench.workspace, job.id)
            st.rerun()
        if removable and job.state in RESUMABLE:
            _remove(bench, job)


def _remove(bench: Bench, job: Job) -> None:
    with st.popover(
        "Remove",
        key=f"remove-{job.id}",
        icon=":material/delete:",
        help="Take an ended job off the list, after asking once more.",
    ):
        st.markdown("Its checkpoints and its log go too; it cannot be resumed any more.")
        if st.button(
            "Remove for good",
            key=f"remove-now-{job.id}",
            type="primary",
            help="Frees the disk that its checkpoints take; finished runs and their models stay.",
        ):
            jobs.discard_job(bench.workspace, job.id)
            flash(f"Job {job.id} removed", ":material/delete:")
            st.rerun()


def _log(bench: Bench, job: Job) -> None:
    log = st.expander("Log", key=f"log-{job.id}", icon=":material/terminal:", on_change="rerun")
    if log.open:
        text = jobs.log_tail(bench.workspace, job) or (
            "Nothing yet." if job.state in ACTIVE else "Nothing was logged."
        )
        height: int | Literal["content"] = LOG_HEIGHT if text.count("\n") > 10 else "content"
        log.code(text, language=None, height=height)
    if job.details:
        with st.expander("Traceback", icon=":material/bug_report:", key=f"traceback-{job.id}"):
            st.code(job.details, language=None)
