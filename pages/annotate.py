"""Annotate: people score pairs with the keyboard, agree, and their scores become gold."""

import streamlit as st

from augsbert_core import ui
from augsbert_core.storage.annotation_tasks import list_tasks
from augsbert_core.storage.projects import count_project
from augsbert_core.ui.agreement_view import agreement_view
from augsbert_core.ui.annotate_setup import first_steps, setup_view
from augsbert_core.ui.annotate_views import choose_task, choose_view
from augsbert_core.ui.annotate_work import work_view
from augsbert_core.ui.best_worst_view import best_worst_view
from augsbert_core.ui.identity import name_button

bench = ui.open_bench()
ui.page_header(
    "Annotate",
    "Score sentence pairs by hand, with the keyboard alone: each key saves at once. Several people can work side by "
    "side; see how well they agree, then merge their scores to **gold pairs**.",
)
project = ui.need_project(bench)
tasks = list_tasks(bench.workspace, project.id)
if not tasks:
    counts = count_project(bench.workspace, project.id)
    first_steps(counts)
    setup_view(bench, project, tasks, counts)
    st.stop()

head = st.container(horizontal=True, gap="small", vertical_alignment="center")
with head:
    view = choose_view()
if view == "setup":
    setup_view(bench, project, tasks, count_project(bench.workspace, project.id))
    st.stop()
with head:
    task = choose_task(project, tasks)
    annotator = name_button() if view == "annotate" else ""
if view == "agreement":
    agreement_view(bench, project, task)
    st.stop()
if task.kind == "best-worst":
    best_worst_view(bench, project, task, annotator)
else:
    work_view(bench, project, task.id, annotator)
