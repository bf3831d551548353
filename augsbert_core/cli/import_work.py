"""What `augsbert import` does once it knows what is wanted: find the project, plan the files, write them."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from augsbert_core.cli.console import open_home, progress
from augsbert_core.errors import WorkbenchError
from augsbert_core.options import ImportOptions

if TYPE_CHECKING:
    from augsbert_core.progress import Report
    from augsbert_core.steps.import_data import ImportReport
    from augsbert_core.steps.import_plan import ImportPlan
    from augsbert_core.storage.database import Workspace
    from augsbert_core.storage.records import Project

PLANNED = 0.45
"""The share of an import that is over once the files are understood."""

TRIES = 5
"""How often an import makes or joins a project that others take back meanwhile."""


def carry_out(
    context: typer.Context,
    files: list[str],
    project: str | None,
    options: ImportOptions,
    *,
    by_name: bool,
    dry_run: bool,
    quiet: bool,
) -> tuple["ImportPlan", "ImportReport | None"]:
    """Plan the files and, unless this is a dry run, write them; a project made for files that are no good goes again."""
    from augsbert_core.cli.import_sources import open_files, plan_given
    from augsbert_core.importing.reading import without_cycles
    from augsbert_core.progress import stretch
    from augsbert_core.steps.import_data import refuse_known_files
    from augsbert_core.storage.gold import split_keys

    workspace, existing = _find(context, project, dry_run=dry_run)
    options = _with_range(workspace, existing, options)
    title = f"Import {files[0]}" + (f" and {len(files) - 1} more" if len(files) > 1 else "")
    held = split_keys(workspace, existing.id) if workspace and existing else {}
    with progress(title, quiet=quiet) as told, without_cycles():
        given = open_files(files, options.sheet)
        plan = plan_given(given, options, stretch(told, 0.0, PLANNED), held, by_name=by_name)
        if workspace and project and not dry_run:
            done = _write(workspace, project, existing, plan, stretch(told, PLANNED, 1.0))
            return plan, done
    if workspace and existing:
        refuse_known_files(workspace, existing.id, plan)
    return plan, None


def _find(
    context: typer.Context, name: str | None, *, dry_run: bool
) -> tuple["Workspace | None", "Project | None"]:
    """The workspace and the project of that name, as far as they are there; a dry run makes neither."""
    from augsbert_core.storage.database import Workspace, default_home
    from augsbert_core.storage.projects import find_project

    if name is None:
        return None, None
    if dry_run:
        home: Path | None = context.obj
        there = Workspace(home.expanduser().resolve() if home else default_home())
        if not there.database.is_file():
            return None, None
    workspace = open_home(context)
    return workspace, find_project(workspace, name)


def _with_range(
    workspace: "Workspace | None", project: "Project | None", options: ImportOptions
) -> ImportOptions:
    """The options with the score range of a project that has gold pairs, where none was told."""
    from dataclasses import replace

    from augsbert_core.storage.projects import count_project

    if (
        workspace is None
        or project is None
        or options.score_range is not None
        or not count_project(workspace, project.id).gold
    ):
        return options
    return replace(options, score_range=(project.score_low, project.score_high))


def _write(
    workspace: "Workspace",
    name: str,
    existing: "Project | None",
    plan: "ImportPlan",
    report: "Report",
) -> "ImportReport":
    from augsbert_core.steps.import_data import import_plan
    from augsbert_core.storage.projects import (
        delete_if_empty,
        find_or_create_project,
        find_project,
    )

    for _ in range(TRIES):
        project, is_new = (existing, False) if existing else find_or_create_project(workspace, name)
        try:
            return import_plan(workspace, project.id, plan, report)
        except BaseException as error:
            if is_new:
                delete_if_empty(workspace, project.id)
            elif (
                isinstance(error, WorkbenchError)
                and not existing
                and find_project(workspace, name) is None
            ):
                continue  # another command had made the project, and took it back when its own files were no good
            raise
    raise WorkbenchError(f"Other commands make and remove project {name!r} again and again.")
