"""Commands about projects and what goes into them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from augsbert_core.cli.console import AsJson, ProjectName, Seed, open_home, progress, show, table
from augsbert_core.errors import WorkbenchError
from augsbert_core.options import ImportOptions

if TYPE_CHECKING:
    from augsbert_core.steps.import_data import ImportReport
    from augsbert_core.storage.database import Workspace
    from augsbert_core.storage.records import Project

SHOWN_REJECTS = 20


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command("import")(import_file)
    app.command()(projects)
    app.command()(rename)
    app.command()(delete)
    app.command()(backup)


def import_file(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="CSV or TSV, with or without a header.")],
    project: ProjectName,
    kind: Annotated[
        Literal["pairs", "unlabelled-pairs", "sentences", "nli", "triplets"],
        typer.Option(
            help="Scored gold pairs, pairs to be labelled, sentences to sample from, NLI pairs (premise, "
            "hypothesis, label), or triplets (anchor, positive, negative)."
        ),
    ] = "pairs",
    limit: Annotated[int | None, typer.Option(min=1, help="Read only the first N rows.")] = None,
    task: Annotated[
        Literal["regression", "classification"] | None,
        typer.Option(
            help="What the scores are.", show_default="classification when all scores are 0 or 1"
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,SCORE",
            help="Names or 0-based positions, in the order in which --kind names them.",
            show_default="guessed",
        ),
    ] = None,
    score_range: Annotated[
        str | None,
        typer.Option(
            metavar="LO:HI",
            help="Lowest and highest possible score, 0:5 for STS. Needed for scores, unless the project has it.",
            show_default=False,
        ),
    ] = None,
    split: Annotated[
        Literal["train", "dev", "test"] | None,
        typer.Option(
            help="Put all rows in this split.",
            show_default="the file's split column, else --ratios",
        ),
    ] = None,
    ratios: Annotated[
        str, typer.Option(metavar="TRAIN:DEV:TEST", help="Random split of rows without one.")
    ] = "80:10:10",
    split_column: Annotated[str | None, typer.Option(help="Column that names the split.")] = None,
    group_column: Annotated[str | None, typer.Option(help="Column that names a group.")] = None,
    repeats: Annotated[
        Literal["keep", "mean", "first", "drop"],
        typer.Option(help="What to do with pairs that occur more than once."),
    ] = "keep",
    seed: Seed = 42,
    as_json: AsJson = False,
) -> None:
    """Read a file into a project, which is made when there is none of that name."""
    options = ImportOptions(
        kind=kind,
        task=task,
        columns=tuple(name.strip() for name in columns.split(",")) if columns else None,
        split_column=split_column,
        group_column=group_column,
        score_range=_score_range(score_range, task),
        split=split or "",
        ratios=_ratios(ratios),
        repeats=repeats,
        limit=limit,
        seed=seed,
    )
    try:
        content = file.read_bytes()
    except OSError as error:
        raise WorkbenchError(f"{file} cannot be read ({error.strerror}).") from error
    report = _import(open_home(context), project, content, file.name, options, as_json=as_json)
    show(_as_json(report, project), _import_lines(report, project), as_json=as_json)


def _import(
    workspace: "Workspace",
    name: str,
    content: bytes,
    file_name: str,
    options: ImportOptions,
    *,
    as_json: bool,
) -> "ImportReport":
    """Import into the project of that name; a project made for a file that is no good goes again."""
    from dataclasses import replace

    from augsbert_core.steps.import_data import import_file as carry_out
    from augsbert_core.storage.projects import (
        count_project,
        create_project,
        delete_project,
        find_project,
    )

    existing = find_project(workspace, name)
    project = existing or create_project(workspace, name)
    if options.score_range is None and count_project(workspace, project.id).gold:
        options = replace(options, score_range=(project.score_low, project.score_high))
    try:
        with progress(f"Import {file_name}", quiet=as_json) as report:
            return carry_out(workspace, project.id, content, file_name, options, report)
    except BaseException:
        if existing is None:
            delete_project(workspace, project.id)
        raise


def _score_range(text: str | None, task: str | None) -> tuple[float, float] | None:
    from augsbert_core.pairs import ScoreRange

    if text is None:
        return (0.0, 1.0) if task == "classification" else None
    try:
        scale = ScoreRange.parse(text)
    except WorkbenchError as error:
        raise typer.BadParameter(str(error)) from None
    return scale.low, scale.high


def _ratios(text: str) -> tuple[float, float, float]:
    try:
        train, dev, test = (float(part) for part in text.split(":"))
    except ValueError:
        raise typer.BadParameter(
            f"Ratios {text!r} were not understood. Write three numbers, for example 80:10:10."
        ) from None
    return train, dev, test


def _as_json(report: "ImportReport", project: str) -> dict[str, Any]:
    return {
        "project": project,
        "run_id": report.run_id,
        "rows_read": report.rows_read,
        "pairs_kept": report.pairs_kept,
        "rejected": len(report.rejected),
        "rejected_rows": [
            {"line": row.line, "reason": row.reason, "text": row.text} for row in report.rejected
        ],
        "collapsed": report.collapsed,
        "repeated_rows": report.repeats.n_rows_repeated,
        "conflicting_pairs": report.repeats.n_conflicting,
        "splits": report.splits,
        "notes": report.notes,
    }


def _import_lines(report: "ImportReport", project: str) -> list[str]:
    lines = [
        f"{project}: {report.rows_read:,} rows read, {report.pairs_kept:,} kept, "
        f"{len(report.rejected):,} rejected."
    ]
    if report.splits:
        lines.append(", ".join(f"{split} {count:,}" for split, count in report.splits.items()))
    if report.repeats.n_rows_repeated:
        lines.append(
            f"{report.repeats.n_rows_repeated:,} rows repeat an earlier pair; "
            f"{report.repeats.n_conflicting:,} pairs have differing scores; "
            f"{report.collapsed:,} rows were collapsed."
        )
    lines += report.notes
    lines += [f"  line {row.line}: {row.reason}" for row in report.rejected[:SHOWN_REJECTS]]
    if len(report.rejected) > SHOWN_REJECTS:
        lines.append(f"  … and {len(report.rejected) - SHOWN_REJECTS:,} more (--json lists all).")
    return lines


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
