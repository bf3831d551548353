"""Which part of the Annotate page is open, and on which task: kept in the address and over a change of page."""

from collections.abc import Sequence

import streamlit as st

from augsbert_core.storage.records import AnnotationTask, Project

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

    def follow() -> None:
        st.query_params["task"] = str(st.session_state[key])

    chosen = st.selectbox(
        "Task",
        list(by_id),
        format_func=lambda task_id: task_title(by_id[task_id]),
        key=key,
        on_change=follow,
        persist_state="session",
    )
    st.query_params["task"] = str(chosen)
    return by_id[chosen]


def task_title(task: AnnotationTask) -> str:
    """A task in a list: its name, how far it is, and what kind."""
    kind = " · audit" if task.purpose == "audit" else ""
    kind += " · best-worst" if task.kind == "best-worst" else ""
    state = " · closed" if task.closed else ""
    return f"{task.name} · {task.n_answers:,} of {task.n_wanted:,}{kind}{state}"
