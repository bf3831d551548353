"""Start: the projects, and how far the open one has come."""

import streamlit as st

from augsbert_core import ui
from augsbert_core.storage.projects import count_project
from augsbert_core.storage.queue import active_jobs
from augsbert_core.ui.checklist import NOTHING, checklist, show_checklist
from augsbert_core.ui.projects import backup_button, new_project_buttons, project_rows

bench = ui.open_bench()
ui.page_header(
    "AugSBERT Workbench",
    "A bi-encoder compares sentences fast, but needs many scored pairs. Augmented SBERT lets an accurate "
    "cross-encoder score new pairs (*silver*) beside the ones people scored (*gold*), and this workbench "
    "shows, step by step and on your own data, whether that helps.",
)
new_project_buttons(bench)

if bench.project is None:
    st.caption("On the sample project the whole loop takes 10 to 20 minutes on two cores.")
    ui.page_link("learn", "New to the method? Learn it in eight steps")
    st.subheader("The loop", anchor=False)
    show_checklist(checklist(NOTHING), links=False)
    st.stop()

ui.tell_missing_models(bench, bench.project)
busy = [job for job in active_jobs(bench.workspace) if job.project_id == bench.project.id]
st.subheader(f"The loop in {ui.as_text(bench.project.name)}", anchor=False)
show_checklist(
    checklist(count_project(bench.workspace, bench.project.id), {job.step for job in busy})
)

if busy:
    st.subheader("At work", anchor=False)
    ui.job_panel(bench, sorted({job.step for job in busy}), ended=False)

with st.container(horizontal=True, vertical_alignment="bottom"):
    st.subheader("Projects", anchor=False, width="stretch")
    backup_button(bench.workspace)
project_rows(bench)
