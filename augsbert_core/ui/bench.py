"""The bench: what every page opens first. Workspace, project, and a look at the jobs."""

import time
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from augsbert_core import jobs
from augsbert_core.errors import WorkbenchError
from augsbert_core.storage.class_database import classroom_of
from augsbert_core.storage.database import Workspace, WorkspaceFull, open_workspace
from augsbert_core.storage.projects import list_projects
from augsbert_core.storage.queue import active_jobs
from augsbert_core.storage.records import Project
from augsbert_core.storage.runs import count_missing_models
from augsbert_core.ui import door, last_resort
from augsbert_core.ui.style import FAVICON, dress_page
from augsbert_core.ui.widgets import (
    as_text,
    empty_state,
    page_link,
    show_flashes,
    user_errors,
)

TEND_SECONDS = 1.0
BADGE_SECONDS = 3.0


@dataclass(frozen=True)
class Bench:
    """The open workspace and the project that the pages work on, None before there is one."""

    workspace: Workspace
    project: Project | None


def open_bench(*, for_teacher: bool = False) -> Bench:
    """Open the workspace, find the project and draw the sidebar: the first line of every page.

    for_teacher: in a class, its door asks for the teacher code first.
    """
    st.set_page_config(layout="wide", page_icon=FAVICON)
    _insist_on_app()
    dress_page()
    last_resort.install()
    try:
        workspace = _workspace(door.enter(for_teacher=for_teacher).home)
        trouble = _tend_if_possible(workspace)
        project = _choose_project(list_projects(workspace))
        _job_badge(workspace)
        door.seat_panel()
    except WorkbenchError as error:
        st.error(as_text(str(error)), icon=":material/folder_off:")
        st.stop()
    if trouble is not None:
        st.error(as_text(str(trouble)), icon=":material/disc_full:")
    show_flashes()
    return Bench(workspace, project)


def _tend_if_possible(workspace: Workspace) -> WorkspaceFull | None:
    """Look after the queue. Without room for that, what is saved can be read still, and some of it be deleted."""
    try:
        tend_jobs(workspace)
    except WorkspaceFull as error:
        return error
    return None


def _insist_on_app() -> None:
    """Start over through app.py when Streamlit runs the page alone.

    A fresh server whose first visit is a deep link takes pages/ for the whole app, until the first
    st.navigation of any session; the menu and the icons would be missing.
    """
    if PagesManager.uses_pages_directory:
        PagesManager.uses_pages_directory = False
        st.rerun()


def need_project(bench: Bench) -> Project:
    """The open project; without one the page ends here and says what to do."""
    if bench.project is None:
        empty_state(
            "There is no project yet. A project holds one task: its gold pairs, and the silver pairs, models and "
            "results that come of them. Create one, or open the sample project, which has all it takes.",
            page="start",
            label="Go to Start",
            also=[("learn", "Learn the method first")],
        )
        st.stop()
    return bench.project


def tell_missing_models(bench: Bench, project: Project) -> None:
    """Say that models of the project are elsewhere, when they are."""
    if missing := count_missing_models(bench.workspace, project.id):
        st.info(
            f"{missing:,} trained {'model of this project is' if missing == 1 else 'models of this project are'} not "
            "in this workspace: a project is imported with its results, but without its models. Train again what you "
            "want to use.",
            icon=":material/cloud_off:",
        )


def open_project(project_id: int | None) -> None:
    """Make this the project that all pages work on."""
    st.session_state["project_id"] = project_id


@st.cache_resource(show_spinner=False)
def _workspace(home: Path) -> Workspace:
    return open_workspace(home)


@st.cache_resource(show_spinner=False)
def _last_tended(home: Path) -> dict[str, float]:
    return {"at": 0.0}


def tend_jobs(workspace: Workspace) -> None:
    """Look after the queue, at most once a second however many pages are open."""
    door.check_seat(workspace)
    room = classroom_of(workspace)  # a class is tended as a whole
    last = _last_tended(room.home if room else workspace.home)
    if time.monotonic() - last["at"] >= TEND_SECONDS:
        last["at"] = time.monotonic()
        jobs.tend(workspace)


def _choose_project(projects: list[Project]) -> Project | None:
    """The project of this session, of the link that was followed, or the newest; shown in the sidebar."""
    by_id = {project.id: project for project in projects}
    chosen = st.session_state.get("project_id")
    if chosen not in by_id:
        linked = st.query_params.get("project", "")
        chosen = int(linked) if linked.isdecimal() else None
    if chosen not in by_id:
        chosen = max(by_id, default=None)
    open_project(chosen)
    if chosen is None:
        st.query_params.pop("project", None)
        st.sidebar.caption("No project yet")
        return None
    st.query_params["project"] = str(chosen)
    st.session_state["project_choice"] = chosen
    st.sidebar.selectbox(
        "Project",
        list(by_id),
        format_func=lambda project_id: by_id[project_id].name,
        key="project_choice",
        on_change=lambda: open_project(st.session_state["project_choice"]),
        help="All pages show this one: a task with gold pairs, silver sets, models and results of its own.",
    )
    return by_id[chosen]


def _job_badge(workspace: Workspace) -> None:
    """How many jobs are at work, in the sidebar; looks again by itself while there are any."""
    busy = bool(active_jobs(workspace))

    @st.fragment(run_every=BADGE_SECONDS if busy else None)
    def badge() -> None:
        jobs_now = []
        with user_errors():
            tend_jobs(workspace)
            jobs_now = active_jobs(workspace)
        running = sum(job.state != "queued" for job in jobs_now)
        if running or jobs_now:
            waiting = len(jobs_now) - running
            text = f"{running} running" + (f", {waiting} waiting" if waiting else "")
            page_link("jobs", text, icon="spinner", stretch=True)

    with st.sidebar:
        badge()
