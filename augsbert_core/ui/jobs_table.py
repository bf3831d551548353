"""All jobs of the workspace in one live table."""

from datetime import UTC, datetime

import pandas as pd
import streamlit as st

from augsbert_core.jobs import NO_DEVICE
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.projects import list_projects
from augsbert_core.storage.queue import ACTIVE, list_jobs
from augsbert_core.storage.records import Job
from augsbert_core.ui.bench import Bench, tend_jobs
from augsbert_core.ui.job_panel import POLL_SECONDS, STATES
from augsbert_core.ui.widgets import duration_text

MARKS = {
    "queued": "◷",
    "running": "▶",
    "cancelling": "◼",
    "cancelled": "○",
    "failed": "✕",
    "interrupted": "!",
    "done": "✓",
}


def jobs_table(bench: Bench) -> None:
    """All jobs, newest first; refreshed while one is active."""
    was_active = any(job.state in ACTIVE for job in list_jobs(bench.workspace))

    @st.fragment(run_every=POLL_SECONDS if was_active else None)
    def table() -> None:
        tend_jobs(bench.workspace)
        listed = list_jobs(bench.workspace)
        if was_active and not any(job.state in ACTIVE for job in listed):
            st.rerun()
        st.dataframe(
            jobs_frame(bench.workspace, listed),
            hide_index=True,
            key="jobs-table",
            column_config={
                "job": st.column_config.NumberColumn("Job", width=45),
                "state": st.column_config.TextColumn("State", width=105),
                "project": st.column_config.TextColumn("Project", width=140),
                "step": st.column_config.TextColumn("Step", width=130),
                "progress": st.column_config.ProgressColumn(
                    "Progress", format="percent", width=110
                ),
                "device": st.column_config.TextColumn("Device", width=60),
                "started": st.column_config.DatetimeColumn(
                    "Started", format="D MMM, HH:mm", width=105
                ),
                "time": st.column_config.TextColumn("Time", width=80),
            },
            alt="Jobs, newest first",
        )

    table()


def pick_job(bench: Bench) -> int | None:
    """A menu of the jobs, newest first; returns the id of the chosen one, None when it is gone."""
    # Without the state: the browser keeps showing the words under which a job was picked.
    names = {job.id: f"Job {job.id} · {job.name}" for job in list_jobs(bench.workspace)}
    if st.session_state.get("picked-job") not in names:
        st.session_state.pop("picked-job", None)
        running = [
            job.id for job in list_jobs(bench.workspace) if job.state in ("running", "cancelling")
        ]
        if running:
            st.session_state["picked-job"] = running[-1]
    return st.selectbox(
        "Job in detail",
        list(names),
        format_func=names.__getitem__,
        key="picked-job",
        width=420,
        help="Its curve, log and buttons are shown below.",
    )


def jobs_frame(workspace: Workspace, listed: list[Job]) -> pd.DataFrame:
    """One row per job: number, state, project, step, progress, device, start, time taken."""
    names = {project.id: project.name for project in list_projects(workspace)}
    return pd.DataFrame(
        [
            {
                "job": job.id,
                "state": f"{MARKS[job.state]} {STATES[job.state][0]}",
                "project": names.get(job.project_id, ""),
                "step": job.name,
                "progress": round(job.progress, 2),
                "device": "" if job.device == NO_DEVICE else job.device,
                "started": _local(job.started_at),
                "time": _elapsed(job),
            }
            for job in listed
        ]
    )


def _local(stored: str | None) -> datetime | None:
    return datetime.fromisoformat(stored).astimezone().replace(tzinfo=None) if stored else None


def _elapsed(job: Job) -> str:
    if not job.started_at:
        return ""
    end = datetime.fromisoformat(job.finished_at) if job.finished_at else datetime.now(UTC)
    return duration_text((end - datetime.fromisoformat(job.started_at)).total_seconds())
