"""Commands that carry a whole project to another workspace."""

from pathlib import Path
from typing import Annotated

import typer

from augsbert_core.cli.console import AsJson, ProjectName, open_home, progress, show
from augsbert_core.cli.data import named
from augsbert_core.cli.exporting import export


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    export.command("project")(export_project)
    app.command("import-project")(import_project)


def export_project(
    context: typer.Context,
    project: ProjectName,
    output: Annotated[Path, typer.Option(help="A new file that ends in .zip.")],
    as_json: AsJson = False,
) -> None:
    """Write a project into one archive that another workspace can import; models stay here."""
    from augsbert_core.exporting.files import expanded, size_text
    from augsbert_core.steps.project_archive import export_project as write

    workspace = open_home(context)
    target = expanded(output)
    with progress("Export project", quiet=as_json) as report:
        manifest = write(workspace, named(workspace, project).id, target, report)
    n_bytes = target.stat().st_size
    result = {"output": str(target), "n_bytes": n_bytes, "counts": manifest.counts}
    gold, runs = manifest.counts["gold_pairs"], manifest.counts["runs"]
    show(
        result,
        [
            f"{target}: {size_text(n_bytes)}, {gold:,} gold pairs, {manifest.counts['silver_pairs']:,} silver pairs, "
            f"{runs:,} runs. Trained models are not in it."
        ],
        as_json=as_json,
    )


def import_project(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .zip of `export project`.")],
    name: Annotated[
        str | None,
        typer.Option(
            help="Name of the new project.", show_default="its own, with (2) when that is taken"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Bring in a project that `export project` has written, all of it or nothing."""
    from augsbert_core.exporting.files import expanded
    from augsbert_core.steps.project_archive import import_project as bring_in

    workspace = open_home(context)
    with progress("Import project", quiet=as_json) as report:
        done = bring_in(workspace, expanded(file), name, report)
    show(
        {"project_id": done.project_id, "project": done.name, "counts": done.counts},
        [
            f"{done.name}: {done.counts['gold_pairs']:,} gold pairs, {done.counts['silver_pairs']:,} silver pairs, "
            f"{done.counts['runs']:,} runs. Its models stay where they were trained."
        ],
        as_json=as_json,
    )
