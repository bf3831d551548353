"""Jobs: everything that runs, waits or has run in this workspace."""

import streamlit as st

from augsbert_core import ui
from augsbert_core.storage.queue import list_jobs
from augsbert_core.ui.jobs_table import jobs_table, pick_job

bench = ui.open_bench()
ui.page_header(
    "Jobs",
    "Every step that takes long runs as a job in a process of its own, one per device at a time, so the "
    "pages never wait and closing the browser stops nothing. A job that was interrupted can be resumed from "
    "its last checkpoint.",
)

if not list_jobs(bench.workspace, limit=1):
    ui.empty_state(
        "No jobs yet. Training, labelling, measuring and large imports show here, with their progress and log, and can "
        "be stopped and resumed. "
        + (
            "Train a cross-encoder to start the first one."
            if bench.project
            else "Create a project first, or open the sample."
        ),
        page="cross_encoder" if bench.project else "start",
        label="Go to Cross-encoder" if bench.project else "Go to Start",
    )
    st.stop()

jobs_table(bench)
job_id = pick_job(bench)
if job_id is not None:
    ui.job_details(bench, job_id)
