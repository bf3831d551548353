"""The projects of the workspace: create, open, rename, delete, back up."""

import tempfile
from pathlib import Path

import streamlit as st

from augsbert_core import jobs
from augsbert_core.errors import WorkbenchError
from augsbert_core.explain.phrases import many
from augsbert_core.pairs import ScoreRange
from augsbert_core.steps.sample_project import open_sample_project
from augsbert_core.storage.database import Workspace, backup
from augsbert_core.storage.projects import (
    count_project,
    create_project,
    list_projects,
    rename_project,
)
from augsbert_core.storage.records import Project
from augsbert_core.ui.bench import Bench, open_project
from augsbert_core.ui.project_archive import export_dialog, import_project_button
from augsbert_core.ui.widgets import as_text, flash, time_text, user_errors

TASK_NAMES = {
    "regression": "Similarity scores",
    "classification": "Yes or no",
}
TASK_HELP = {
    "regression": "Graded scores, such as 0 to 5 for semantic similarity. Measured by Spearman's ρ.",
    "classification": "Labels 0 or 1, such as duplicate questions. Measured by F1.",
}


def new_project_buttons(bench: Bench) -> None:
    """Open the sample project in one click, or create an empty one."""
    has_sample = any(project.is_sample for project in list_projects(bench.workspace))
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button(
            "Open the sample project",
            icon=":material/school:",
            type="primary" if bench.project is None else "secondary",
            help="Everyday sentence pairs written and scored for this workbench, ready to run.",
        ):
            with user_errors(), st.spinner("Importing the sample", show_time=True):
                project = open_sample_project(bench.workspace)
                open_project(project.id)
                flash(f"{'Opened' if has_sample else 'Created'} {project.name}")
                st.rerun()
        if st.button(
            "New project",
            icon=":material/add:",
            key="new-project",
            help="For another task, domain or scale: pairs, models and results are kept apart.",
        ):
            _create(bench.workspace)
        import_project_button(bench.workspace)


@st.dialog("New project", icon=":material/add:")
def _create(workspace: Workspace) -> None:
    with st.form("create-project", border=False):
        name = st.text_input(
            "Name",
            max_chars=80,
            placeholder="For example: product questions",
            help="How it is listed, and part of the names of exported files; it can be changed later.",
        )
        task = st.radio(
            "What do the scores say?",
            list(TASK_NAMES),
            format_func=TASK_NAMES.__getitem__,
            captions=list(TASK_HELP.values()),
            help="Decides what dev and test measure, and with it which checkpoint is kept.",
        )
        st.caption("The score range is asked when you import the first gold pairs.")
        if st.form_submit_button(
            "Create", type="primary", help="Opens an empty project; its gold pairs come next."
        ):
            with user_errors():
                project = create_project(
                    workspace, name, task=task, score_range=ScoreRange(0.0, 1.0)
                )
                open_project(project.id)
                flash(f"Created {project.name}")
                st.rerun()


def project_rows(bench: Bench) -> None:
    """One row per project: what it holds, and what can be done with it."""
    for project in list_projects(bench.workspace):
        is_open = bench.project is not None and project.id == bench.project.id
        with st.container(
            border=True,
            horizontal=True,
            wrap=False,
            vertical_alignment="center",
            key=f"project-{project.id}",
        ):
            st.markdown(_words(bench.workspace, project), width="stretch")
            if is_open:
                st.badge("open", icon=":material/check:", color="primary")
            elif st.button(
                "Open",
                key=f"open-{project.id}",
                icon=":material/folder_open:",
                help="All pages then show this project.",
            ):
                open_project(project.id)
                st.rerun()
            action = st.menu_button(
                "More",
                ["Rename", "Export project", "Delete"],
                key=f"more-{project.id}",
                icon=":material/more_horiz:",
                type="tertiary",
                help="Rename it, take it to another computer as one file, or delete it.",
            )
            if action == "Rename":
                _rename(bench.workspace, project)
            elif action == "Export project":
                export_dialog(bench.workspace, project)
            elif action == "Delete":
                _delete(bench.workspace, project)


def _words(workspace: Workspace, project: Project) -> str:
    counts = count_project(workspace, project.id)
    sample = " :blue-badge[sample]" if project.is_sample else ""
    parts = [TASK_NAMES[project.task]]
    if counts.gold:
        parts.append(f"{many(counts.gold, 'gold pair')} scored {project.score_range}")
    if counts.silver_pairs:
        parts.append(many(counts.silver_pairs, "silver pair"))
    parts.append(f"created {time_text(project.created_at)}")
    facts = " · ".join(parts).replace(":", "\\:")
    return f"**{as_text(project.name)}**{sample}  \n:small[:gray[{facts}]]"


@st.dialog("Rename project", icon=":material/edit:")
def _rename(workspace: Workspace, project: Project) -> None:
    with st.form("rename-project", border=False):
        name = st.text_input(
            "Name",
            value=project.name,
            max_chars=80,
            help="Pairs, models and results stay as they are.",
        )
        if st.form_submit_button(
            "Rename", type="primary", help="Saves the new name; links to the project go on working."
        ):
            with user_errors():
                rename_project(workspace, project.id, name)
                flash(f"Renamed to {' '.join(name.split())}")
                st.rerun()


@st.dialog("Delete project", icon=":material/delete:")
def _delete(workspace: Workspace, project: Project) -> None:
    counts = count_project(workspace, project.id)
    st.markdown(
        f"This removes **{as_text(project.name)}** for good: {many(counts.gold, 'gold pair')}, "
        f"{many(counts.silver_pairs, 'silver pair')}, its models and its results."
    )
    typed = st.text_input(
        "Type the name of the project to confirm",
        key=f"typed-{project.id}",
        help="Capitals do not matter; it only has to be the right project.",
    )
    confirmed = typed.strip().casefold() == project.name.casefold()
    if st.button(
        "Delete for good",
        type="primary",
        icon=":material/delete:",
        disabled=not confirmed,
        help="There is no way back but a backup or an exported archive.",
    ):
        with user_errors():
            jobs.discard_project(workspace, project.id)
            flash(f"Deleted {project.name}", ":material/delete:")
            st.rerun()


def backup_button(workspace: Workspace) -> None:
    """Download a copy of the database, made while others go on using it."""
    st.download_button(
        "Back up",
        data=lambda: _backup_bytes(workspace),
        file_name="augsbert-backup.db",
        mime="application/vnd.sqlite3",
        icon=":material/download:",
        on_click="ignore",
        help="Downloads the database with all projects, scores, corrections and results; trained models "
        "stay in the workspace folder. Headless: `augsbert backup FILE`.",
    )


def _backup_bytes(workspace: Workspace) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "backup.db"
        try:
            backup(workspace, target)
        except WorkbenchError as error:
            return str(error).encode()
        return target.read_bytes()
