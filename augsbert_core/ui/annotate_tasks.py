"""The tasks of a project: how far each is, and what can be done with it."""

from pathlib import Path

import streamlit as st

from augsbert_core.explain.phrases import many
from augsbert_core.exporting.files import to_csv
from augsbert_core.queues import QUEUES
from augsbert_core.storage import annotation_tasks
from augsbert_core.storage.annotation_rows import raw_rows
from augsbert_core.storage.annotations import annotators
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import AnnotationTask, Project
from augsbert_core.storage.runs import get_run
from augsbert_core.ui.annotate_form import KINDS, SCALE_NAMES, SOURCES
from augsbert_core.ui.annotate_views import open_view
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.downloads import file_stem, made_or_told, show_told
from augsbert_core.ui.widgets import as_text, flash, table_pager, time_text, user_errors

PAGE_ROWS = 20


def task_rows(bench: Bench, project: Project, tasks: list[AnnotationTask]) -> None:
    """One row per task, newest first, with all that can be done with it."""
    offset = (
        table_pager(len(tasks), f"annotate-tasks-{project.id}", PAGE_ROWS)
        if len(tasks) > PAGE_ROWS
        else 0
    )
    for task in tasks[offset : offset + PAGE_ROWS]:
        with st.container(border=True, key=f"task-{task.id}"):
            _row(bench, project, task)


def _row(bench: Bench, project: Project, task: AnnotationTask) -> None:
    with st.container(horizontal=True, wrap=False, vertical_alignment="center"):
        st.markdown(_words(task), width="stretch")
        if task.closed:
            st.badge("closed", icon=":material/lock:", color="gray")
        if st.button(
            "Open",
            key=f"open-task-{task.id}",
            icon=":material/edit_note:",
            help="Shows the next pair of this task that waits for your score.",
        ):
            open_view("annotate", project, task.id)
            st.rerun()
        close = "Reopen" if task.closed else "Close"
        action = st.menu_button(
            "More",
            ["Rename", close, "Export raw scores", "Delete"],
            key=f"more-task-{task.id}",
            icon=":material/more_horiz:",
            type="tertiary",
            help="Rename it, close it so that nobody scores any more, take its raw scores out, or delete it.",
        )
    st.progress(min(1.0, task.n_answers / task.n_wanted) if task.n_wanted else 0.0)
    if notices := get_run(bench.workspace, task.run_id).metrics.get("notices"):
        st.caption(as_text(" ".join(notices)))
    if action == "Rename":
        _rename(bench.workspace, task)
    elif action == "Export raw scores":
        _export(bench.workspace, project, task)
    elif action == "Delete":
        _delete(bench.workspace, task)
    elif action == close:
        with user_errors():
            change = annotation_tasks.reopen_task if task.closed else annotation_tasks.close_task
            change(bench.workspace, task.id)
            flash(f"{'Reopened' if task.closed else 'Closed'} {task.name}")
            st.rerun()


def _words(task: AnnotationTask) -> str:
    noun = "score" if task.kind == "scores" else "answer"
    queue = QUEUES[task.queue].title.lower() if task.queue in QUEUES else task.queue
    facts = [
        f"{task.n_answers:,} of {many(task.n_wanted, noun)}",
        f"{many(task.n_items, 'pair')} from {SOURCES[task.source].lower()}, {queue}",
        SCALE_NAMES[task.scale].lower() if task.kind == "scores" else KINDS[task.kind].lower(),
        f"made {time_text(task.created_at)}",
    ]
    audit = " :blue-badge[audit]" if task.purpose == "audit" else ""
    told = " · ".join(facts).replace(":", "\\:")
    return f"**{as_text(task.name)}**{audit}  \n:small[:gray[{told}]]"


@st.dialog("Rename task", icon=":material/edit:")
def _rename(workspace: Workspace, task: AnnotationTask) -> None:
    with st.form("rename-task", border=False):
        name = st.text_input(
            "Name",
            value=task.name,
            max_chars=annotation_tasks.LONGEST_NAME,
            help="How the task is listed; scores and order of the pairs stay.",
        )
        if st.form_submit_button(
            "Rename", type="primary", help="Saves the new name for all annotators."
        ):
            with user_errors():
                annotation_tasks.rename_task(workspace, task.id, name)
                flash(f"Renamed to {' '.join(name.split())}")
                st.rerun()


@st.dialog("Export raw scores", icon=":material/download:")
def _export(workspace: Workspace, project: Project, task: AnnotationTask) -> None:
    st.markdown(
        "One row per score as it stands: annotator, score, the order in which the sentences were shown, seconds, and "
        "whether the model's suggestion had been seen."
        if task.kind == "scores"
        else "One row per answer as it stands: judge, best and worst pair, the four pairs in the order on the screen, "
        "and seconds."
    )
    safe = st.toggle(
        "Safe for spreadsheets",
        True,
        help="Texts that a spreadsheet would take for a formula get a quote before them.",
    )
    told: list[str] = []

    def made(path: Path) -> None:
        path.write_bytes(to_csv(*raw_rows(workspace, task.id), safe=safe))

    name = f"{file_stem(project.name)}-{file_stem(task.name)}-raw.csv"
    st.download_button(
        "Download CSV",
        lambda: made_or_told(made, name, told),
        file_name=name,
        mime="text/csv",
        icon=":material/download:",
        type="primary",
        on_click="ignore",
        help="One row per score, or per answer on four pairs: who gave it, when, and the pair.",
    )
    show_told(told)


@st.dialog("Delete task", icon=":material/delete:")
def _delete(workspace: Workspace, task: AnnotationTask) -> None:
    noun = "score" if task.kind == "scores" else "answer"
    people = annotators(workspace, task.id) if task.kind == "scores" else []
    by = f" by {many(len(people), 'annotator')}" if people else ""
    st.markdown(
        f"This removes **{as_text(task.name)}** with **{many(task.n_answers, noun)}**{by} for good. Pairs that were "
        "merged to gold stay there."
    )
    if st.button(
        "Delete for good",
        type="primary",
        icon=":material/delete:",
        help="There is no way back; export the raw scores first if they may still be of use.",
    ):
        with user_errors():
            n_gone = annotation_tasks.delete_task(workspace, task.id)
            flash(f"Deleted {task.name} with {many(n_gone, noun)}", ":material/delete:")
            st.query_params.pop("task", None)
            st.rerun()
