"""Which part of the Annotate page is open, and on which task: kept in the address and over a change of page.

And how fast somebody is, in words.
"""

from collections.abc import Sequence

import streamlit as st

from augsbert_core.explain.phrases import many
from augsbert_core.storage.records import AnnotationTask, Project
from augsbert_core.ui.widgets import as_text

VIEW = "annotate-view"
NEXT_VIEW = "annotate-view-next"
VIEWS = {
    "annotate": ":material/edit_note: Annotate",
    "agreement": ":material/groups: Agreement",
    "setup": ":material/tune: Set up",
}


def choose_view() -> str:
    """Annotate, agreement or set up; as the address says, else as it was left."""
    wanted = st.session_state.pop(NEXT_VIEW, None)
    if wanted is None and VIEW not in st.session_state:
        wanted = st.query_params.get("view", "")
    if wanted in VIEWS:
        st.session_state[VIEW] = wanted
    view = st.segmented_control(
        "View",
        list(VIEWS),
        format_func=VIEWS.__getitem__,
        key=VIEW,
        required=True,
        default=None if VIEW in st.session_state else "annotate",
        label_visibility="collapsed",
        persist_state="session",
    )
    st.query_params["view"] = str(view)
    return str(view)


def open_view(view: str, project: Project | None = None, task_id: int | None = None) -> None:
    """Have this view open at the next run, and this task; for buttons."""
    st.session_state[NEXT_VIEW] = view
    if project is not None and task_id is not None:
        st.session_state[task_key(project)] = task_id
        st.query_params["task"] = str(task_id)


def score_button() -> None:
    """The way from a view without scores to the pairs that wait for one."""
    st.button(
        "Score pairs now",
        type="primary",
        icon=":material/edit_note:",
        on_click=open_view,
        args=("annotate",),
        help="Opens the next pair of this task that waits for your score.",
    )


def task_key(project: Project) -> str:
    """Where the session keeps the open task of a project."""
    return f"annotate-task-{project.id}"


def choose_task(project: Project, tasks: Sequence[AnnotationTask]) -> AnnotationTask:
    """The open task: that of the address, else the one open before, else the newest that is not closed."""
    by_id = {task.id: task for task in tasks}
    key = task_key(project)
    linked = st.query_params.get("task", "")
    if linked.isdecimal():
        if int(linked) in by_id:
            st.session_state[key] = int(linked)
        else:
            st.warning(f"Task {linked} is not in this project (any more).", icon=":material/error:")
    if st.session_state.get(key) not in by_id:
        still_open = [task.id for task in tasks if not task.closed]
        st.session_state[key] = (still_open or list(by_id))[0]

    # A box of choices keeps the focus, and takes the keys that are meant for the pair; a menu gives it back.
    wanted = st.menu_button(
        as_text(by_id[st.session_state[key]].name),
        list(by_id),
        format_func=lambda task_id: task_title(by_id[task_id]),
        key=f"{key}-menu",
        icon=":material/assignment:",
        help="Choose another task.",
    )
    if wanted in by_id and wanted != st.session_state[key]:
        open_view(st.session_state.get(VIEW, "annotate"), project, wanted)
        st.rerun()
    st.query_params["task"] = str(st.session_state[key])
    return by_id[st.session_state[key]]


def task_title(task: AnnotationTask) -> str:
    """A task in a list: its name, its size, and what kind; not how far it is, which each key changes."""
    size = many(task.n_tuples, "tuple") if task.kind == "best-worst" else many(task.n_items, "pair")
    kind = " · audit" if task.purpose == "audit" else ""
    kind += " · best-worst" if task.kind == "best-worst" else ""
    state = " · closed" if task.closed else ""
    return as_text(f"{task.name} · {size}{kind}{state}")


def pace_text(per_hour: float, noun: str) -> str:
    """How fast somebody works, "720 pairs an hour (5.0 s each)": both from the time at work."""
    return f"{per_hour:,.0f} {noun}s an hour ({3600 / per_hour:.1f} s each)"
