"""A project as one file: export it, and bring in one that was exported elsewhere."""

from functools import partial

import streamlit as st

from augsbert_core.exporting.archive_files import Manifest
from augsbert_core.exporting.files import size_text
from augsbert_core.steps.project_archive import (
    count_lines,
    export_project,
    import_project,
    look_into,
)
from augsbert_core.storage.archives import project_bytes
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project
from augsbert_core.ui.bench import open_project
from augsbert_core.ui.downloads import file_stem, made_or_told, show_told
from augsbert_core.ui.widgets import as_text, bar_report, flash, time_text, user_errors

LARGE = 1_000_000_000
"""From so many bytes on, the command line is the better way: the browser's copy is held in memory."""


@st.dialog("Export project", icon=":material/archive:")
def export_dialog(workspace: Workspace, project: Project) -> None:
    """What goes into the archive and what stays, and the button that makes it."""
    st.markdown(
        f"One file with all of **{as_text(project.name)}**: sentences, gold, candidates, silver with its corrections "
        "and who made them, finished runs, recipes and measurements. Trained models, logs and uploads stay here."
    )
    st.caption("Another workspace takes it with “Import a project”.")
    name = f"{file_stem(project.name)}.zip"
    n_bytes = project_bytes(workspace, project.id)
    if n_bytes >= LARGE:
        st.info(
            f"It takes about {size_text(n_bytes)}, which is much for a browser. Use the command: "
            f"`augsbert export project --project NAME --output {name}`.",
            icon=":material/terminal:",
        )
    told: list[str] = []
    st.download_button(
        "Download the archive",
        data=partial(made_or_told, partial(export_project, workspace, project.id), name, told),
        file_name=name,
        mime="application/zip",
        icon=":material/download:",
        type="primary",
        on_click="ignore",
        key=f"export-project-{project.id}",
        help="Made when you press, of the project as it is then.",
    )
    show_told(told)


def import_project_button(workspace: Workspace) -> None:
    """The button that opens the import of an archive."""
    if st.button(
        "Import a project",
        icon=":material/unarchive:",
        key="import-project",
        help="A .zip file that “Export project” has made. Headless: `augsbert import-project FILE`.",
    ):
        import_dialog(workspace)


@st.dialog("Import a project", icon=":material/unarchive:")
def import_dialog(workspace: Workspace) -> None:
    """Choose an archive, see what is in it, and bring it in."""
    limit = int(st.get_option("server.maxUploadSize"))
    file = st.file_uploader(
        f"Archive of a project (.zip, up to {limit} MB; larger ones with `augsbert import-project FILE`)",
        type="zip",
        key="import-project-file",
        help="Made by “Export project”. It holds pairs, scores, decisions and results, but no trained models.",
    )
    if file is None:
        st.caption("You see what is in it before anything is written.")
        return
    with user_errors():
        manifest = look_into(file)
        st.markdown(_facts(manifest))
        name = st.text_input(
            "Name", value=manifest.project, max_chars=80, help="A name that is taken gets a number."
        )
        if st.button(
            "Import",
            type="primary",
            icon=":material/unarchive:",
            key="import-project-go",
            help="Checks the archive and adds it as a project of its own; no other project changes.",
        ):
            own = " ".join(name.split())
            bar = st.progress(0.0, "Checking the archive")
            done = import_project(
                workspace,
                file,
                None if own == manifest.project else own,
                report=bar_report(bar),
            )
            open_project(done.project_id)
            flash(f"Imported {done.name}")
            st.rerun()


def _facts(manifest: Manifest) -> str:
    counts = "\n".join(f"- {as_text(line)}" for line in count_lines(manifest)) or "- nothing yet"
    made = f"exported {time_text(manifest.created_at)} by version {manifest.workbench_version}"
    return f"**{as_text(manifest.project)}**, {as_text(made)}\n\n{counts}"
