"""Commands about projects as a whole."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from augsbert_core.cli.console import AsJson, ProjectName, open_home, show, table
from augsbert_core.errors import WorkbenchError

if TYPE_CHECKING:
    from augsbert_core.storage.database import Workspace
    from augsbert_core.storage.records import Project


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command()(projects)
    app.command("imports")(list_imports)
    app.command()(remove_import)
    app.command()(rename)
    app.command()(delete)
    app.command()(backup)


def projects(context: typer.Context, as_json: AsJson = False) -> None:
    """List the projects and how far each has come."""
    from dataclasses import asdict

    from augsbert_core.storage.projects import count_project, list_projects

    workspace = open_home(context)
    listed = [
        {**asdict(project), **asdict(count_project(workspace, project.id))}
        for project in list_projects(workspace)
    ]
    if as_json or not listed:
        show({"projects": listed}, ["There is no project yet."], as_json=as_json)
        return
    headings = {
        "name": "Project", "task": "Task", "train": ">Train", "dev": ">Dev", "test": ">Test",
        "cross_encoders": ">Cross-encoders", "candidate_sets": ">Candidate sets",
        "silver_sets": ">Silver sets", "bi_encoders": ">Bi-encoders",
    }  # fmt: skip
    table(headings, [{key: str(row[key]) for key in headings} for row in listed])


def list_imports(context: typer.Context, project: ProjectName, as_json: AsJson = False) -> None:
    """List the imports of a project, newest first."""
    from augsbert_core.storage.runs import list_runs

    workspace = open_home(context)
    listed = [
        {
            "run_id": run.id,
            "file": run.name,
            "at": run.created_at,
            "kind": run.metrics.get("kind", "pairs"),
            "rows_read": run.metrics.get("rows_read"),
            "kept": run.metrics.get("pairs_kept"),
            "rejected": run.metrics.get("rejected"),
        }
        for run in list_runs(workspace, named(workspace, project).id, "import")
    ]
    if as_json or not listed:
        show({"imports": listed}, ["Nothing was imported yet."], as_json=as_json)
        return
    headings = {
        "run_id": ">Import", "file": "File", "at": "When", "kind": "Kind", "rows_read": ">Rows read",
        "kept": ">Kept", "rejected": ">Rejected",
    }  # fmt: skip
    table(headings, [{key: str(row[key]) for key in headings} for row in listed])


def remove_import(
    context: typer.Context,
    import_id: Annotated[
        int,
        typer.Argument(metavar="IMPORT", min=1, max=2**62, help="As `augsbert imports` lists it."),
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Take an import back, with the sentences that nothing else uses."""
    from augsbert_core.storage import gold
    from augsbert_core.storage.runs import get_run

    workspace = open_home(context)
    run = get_run(workspace, import_id)
    if run.step != "import":
        raise WorkbenchError(f"Run {import_id} is no import. `augsbert imports` lists them.")
    if not yes and not typer.confirm(f"Remove {run.name!r} with all its rows?"):
        raise WorkbenchError("Nothing was removed.")
    gold.remove_import(workspace, import_id)
    typer.echo(f"{run.name} is removed.")


def rename(context: typer.Context, project: ProjectName, name: str) -> None:
    """Give a project another name."""
    from augsbert_core.storage.projects import rename_project

    workspace = open_home(context)
    rename_project(workspace, named(workspace, project).id, name)
    typer.echo(f"{project} is now called {name}.")


def delete(
    context: typer.Context,
    project: ProjectName,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Remove a project with its pairs, models and results."""
    from augsbert_core import jobs

    workspace = open_home(context)
    chosen = named(workspace, project)
    if not yes and not typer.confirm(
        f"Remove {chosen.name!r} with all its pairs, models and results?"
    ):
        raise WorkbenchError("Nothing was removed.")
    jobs.discard_project(workspace, chosen.id)
    typer.echo(f"{chosen.name} is removed.")


def backup(context: typer.Context, file: Path) -> None:
    """Copy the database to FILE while the app may go on using it. Models and logs are not copied."""
    from augsbert_core.storage.database import backup as copy

    copy(open_home(context), file)
    typer.echo(f"The database is saved in {file}.")


def named(workspace: "Workspace", project: str) -> "Project":
    """The project of that name. WorkbenchError that lists the projects there are."""
    from augsbert_core.storage.projects import project_named

    return project_named(workspace, project)
