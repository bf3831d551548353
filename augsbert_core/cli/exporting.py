"""Commands that take models, silver sets and recipes out of the workbench, and that do a run again."""

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from augsbert_core.cli.console import AsJson, ProjectName, open_home, run_step, show
from augsbert_core.cli.data import named
from augsbert_core.errors import WorkbenchError

if TYPE_CHECKING:
    from augsbert_core.exporting.files import Entry
    from augsbert_core.storage.records import Project

# An option that can be given again takes its choices from an enum alone.
Split = StrEnum("Split", ["train", "dev", "test"])
Status = StrEnum("Status", ["unreviewed", "corrected", "accepted", "rejected", "flagged"])
RunId = Annotated[
    int, typer.Option("--run", metavar="ID", min=1, max=2**62, help="A training run.")
]
Output = Annotated[Path, typer.Option(help="A new folder, or a new file that ends in .zip.")]
TextOutput = Annotated[
    Path | None, typer.Option(help="A new file.", show_default="printed on the terminal")
]
Table = Annotated[
    Path,
    typer.Option(
        help="A new file that ends in .csv, .tsv, .jsonl, .parquet or .xlsx, or a new dataset folder."
    ),
]
FORMAT = typer.Option(
    "--format",
    help="Whatever the ending says; dataset: a folder that datasets.load_from_disk opens.",
    show_default="by the ending",
)
Kind = Annotated[Literal["csv", "tsv", "jsonl", "parquet", "xlsx", "dataset"] | None, FORMAT]
Safe = Annotated[
    bool | None,
    typer.Option(
        "--safe/--no-safe",
        help="Put a ' before texts that a spreadsheet would run as formulas.",
        show_default="on for csv and xlsx",
    ),
]
Low = Annotated[
    float | None,
    typer.Option(help="Only pairs scored at least this, on the raw scale.", show_default=False),
]
High = Annotated[
    float | None,
    typer.Option(help="Only pairs scored at most this, on the raw scale.", show_default=False),
]
Text = Annotated[
    str, typer.Option(help="Only pairs with this text in a sentence.", show_default=False)
]

export = typer.Typer(
    help="Take a model, a silver set, gold pairs, corrections, a recipe or a script out of the workbench.",
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.add_typer(export, name="export")
    app.command()(push)
    app.command()(reproduce)


@export.command("model")
def export_model(
    context: typer.Context, run: RunId, output: Output, as_json: AsJson = False
) -> None:
    """Write a trained model with its model card."""
    from augsbert_core.exporting.files import size_text
    from augsbert_core.steps.export import export_model as write

    target = _target(output)
    entries = write(open_home(context), run, target)
    n_bytes = sum(entry.size or 0 for entry in entries)
    result = {"run_id": run, "output": str(target), "n_files": len(entries), "n_bytes": n_bytes}
    show(result, [f"{target}: {len(entries)} files, {size_text(n_bytes)}."], as_json=as_json)


@export.command("silver")
def export_silver(
    context: typer.Context,
    silver: Annotated[int, typer.Option(metavar="ID", min=1, max=2**62, help="A silver set.")],
    output: Annotated[
        Path,
        typer.Option(
            help="A new file that ends in .csv, .tsv, .jsonl, .parquet or .xlsx; or a .zip file or folder with CSV, "
            "JSON lines and a data card."
        ),
    ],
    kind: Annotated[
        Literal["csv", "tsv", "jsonl", "parquet", "xlsx", "dataset", "zip"] | None,
        FORMAT,
    ] = None,
    safe: Safe = None,
    status: Annotated[
        list[Status] | None,
        typer.Option(help="Only pairs of this status; can be given again.", show_default="all"),
    ] = None,
    min_rank: Annotated[
        int | None, typer.Option(min=1, help="Only pairs from this rank on.", show_default=False)
    ] = None,
    max_rank: Annotated[
        int | None, typer.Option(min=1, help="Only pairs up to this rank.", show_default=False)
    ] = None,
    low: Low = None,
    high: High = None,
    text: Text = "",
    as_json: AsJson = False,
) -> None:
    """Write a silver set with scores, statuses, ranks and corrections, or the part that filters let through."""
    from augsbert_core.steps.export_data import export_silver as write
    from augsbert_core.storage.projects import get_project
    from augsbert_core.storage.silver_filters import SilverFilter
    from augsbert_core.storage.silver_sets import get_silver_set

    workspace = open_home(context)
    project = get_project(workspace, get_silver_set(workspace, silver).project_id)
    lowest, highest = _in_unit(project, low, high)
    chosen = SilverFilter(
        low=lowest,
        high=highest,
        statuses=tuple(one.value for one in status or ()),
        min_rank=min_rank,
        max_rank=max_rank,
        text=text,
    )
    target = _target(output)
    n_pairs = write(workspace, silver, target, chosen=chosen, kind=kind, safe=safe)
    _show_written(target, n_pairs, "pairs", {"silver_set_id": silver}, as_json=as_json)


@export.command("gold")
def export_gold(
    context: typer.Context,
    project: ProjectName,
    output: Table,
    kind: Kind = None,
    safe: Safe = None,
    split: Annotated[
        list[Split] | None,
        typer.Option(help="Only pairs of this split; can be given again.", show_default="all"),
    ] = None,
    low: Low = None,
    high: High = None,
    text: Text = "",
    as_json: AsJson = False,
) -> None:
    """Write the gold pairs with scores, splits and groups, or the part that filters let through."""
    from augsbert_core.steps.export_data import export_gold as write
    from augsbert_core.storage.gold import GoldFilter

    workspace = open_home(context)
    found = named(workspace, project)
    lowest, highest = _in_unit(found, low, high)
    chosen = GoldFilter(
        splits=tuple(one.value for one in split or ()), low=lowest, high=highest, text=text
    )
    target = _target(output)
    n_pairs = write(workspace, found.id, target, chosen=chosen, kind=kind, safe=safe)
    _show_written(target, n_pairs, "pairs", {}, as_json=as_json)


@export.command("corrections")
def export_corrections(
    context: typer.Context,
    project: ProjectName,
    output: Table,
    kind: Kind = None,
    safe: Safe = None,
    annotator: Annotated[
        str, typer.Option(help="Only decisions of this person.", show_default="of all")
    ] = "",
    since: Annotated[
        str,
        typer.Option(
            metavar="DAY",
            help="Only decisions from this day or moment on (2026-01-31, UTC).",
            show_default=False,
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Write every human decision on silver pairs, oldest first: scores before and after, who and when."""
    from augsbert_core.steps.export_data import export_corrections as write

    workspace = open_home(context)
    target = _target(output)
    n_rows = write(
        workspace,
        named(workspace, project).id,
        target,
        annotator=annotator,
        since=since,
        kind=kind,
        safe=safe,
    )
    _show_written(target, n_rows, "corrections", {}, as_json=as_json)


def _target(output: Path) -> Path:
    """Where to write to, with a leading ~ read."""
    from augsbert_core.exporting.files import expanded

    return expanded(output)


def _in_unit(project: "Project", low: float | None, high: float | None) -> tuple[float, float]:
    """Bounds on the project's own scale as bounds from 0 to 1. WorkbenchError: nothing lies between them."""
    lowest = project.score_low if low is None else low
    highest = project.score_high if high is None else high
    if not lowest <= highest:
        raise WorkbenchError(
            f"No score lies between {lowest:g} and {highest:g}: the scale of {project.name} is "
            f"{project.score_range}. Give --low and --high on that scale."
        )
    width = project.score_high - project.score_low
    return (lowest - project.score_low) / width, (highest - project.score_low) / width


def _show_written(
    target: Path, n_rows: int, what: str, more: dict[str, int], *, as_json: bool
) -> None:
    result = {**more, "output": str(target), f"n_{what}": n_rows}
    show(result, [f"{target}: {n_rows:,} {what}."], as_json=as_json)


@export.command("recipe")
def export_recipe(context: typer.Context, run: RunId, output: TextOutput = None) -> None:
    """Write what a training run was told, as TOML."""
    from augsbert_core.exporting.files import Entry
    from augsbert_core.steps.export import recipe_text

    text = recipe_text(open_home(context), run)
    _write_or_print([Entry("recipe.toml", text.encode("utf-8"))], output)


@export.command("script")
def export_script(context: typer.Context, run: RunId, output: TextOutput = None) -> None:
    """Write a Python script that trains the recipe of a run with sentence-transformers alone."""
    from augsbert_core.steps.export import script_entries

    _write_or_print(script_entries(open_home(context), run), output)


def _write_or_print(entries: list["Entry"], output: Path | None) -> None:
    """The first entry goes to the output, further ones beside it."""
    from augsbert_core.exporting.files import check_new_file, entry_bytes, write_file

    if output is None:
        typer.echo(entry_bytes(entries[0]).decode("utf-8"), nl=False)
        for entry in entries[1:]:
            typer.echo(f"It needs {entry.name} too: give --output.", err=True)
        return
    target = _target(output)
    places = [target, *(target.with_name(entry.name) for entry in entries[1:])]
    for place in places:
        check_new_file(place)
    for entry, place in zip(entries, places, strict=True):
        write_file(entry, place)
        typer.echo(f"{place}")


def push(
    context: typer.Context,
    run: RunId,
    repo: Annotated[str, typer.Option(metavar="OWNER/NAME", help="The repository on the hub.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the files and their sizes; needs no network.")
    ] = False,
    public: Annotated[
        bool, typer.Option("--public", help="Make a new repository public.", show_default="private")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Upload without asking once more.")] = False,
    as_json: AsJson = False,
) -> None:
    """Upload a trained model with its card to the Hugging Face hub.

    The token is read from HF_TOKEN, or asked for; it is stored nowhere.
    """
    from augsbert_core.exporting.files import size_text
    from augsbert_core.options import PushOptions
    from augsbert_core.steps.export import check_push, push_files, push_model

    workspace = open_home(context)
    options = PushOptions(run_id=run, repo=repo, private=not public)
    check_push(options)
    files = push_files(workspace, run)
    total = f"{len(files)} files, {size_text(sum(size for _, size in files))}"
    result = {"run_id": run, "repo": repo, "private": not public, "files": dict(files)}
    if dry_run:
        lines = [*(f"{size_text(size):>10}  {name}" for name, size in files), f"{total}. Not sent."]
        show({**result, "address": None}, lines, as_json=as_json)
        return
    where = f"{repo} ({'public' if public else 'private'})"
    _confirm(f"Upload {total} to {where}?", yes=yes)
    address = push_model(workspace, options, _token())
    show({**result, "address": address}, [f"{address}: {total}."], as_json=as_json)


def _confirm(question: str, *, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise WorkbenchError(f"{question} Nobody is there to answer: say --yes to confirm.")
    typer.confirm(question, abort=True, err=True)


def _token() -> str:
    """The token from the environment, else from the terminal, where it is not shown."""
    found = os.environ.get("HF_TOKEN", "")
    if not found and sys.stdin.isatty():
        found = typer.prompt("Token with write access", hide_input=True, err=True)
    return found


def reproduce(
    context: typer.Context,
    run: Annotated[int, typer.Argument(metavar="RUN", min=1, max=2**62, help="A finished run.")],
    as_json: AsJson = False,
) -> None:
    """Carry a run out again with its own options and seed, and report in what the two differ."""
    from augsbert_core.steps.reproduce import reproduce_options
    from augsbert_core.storage.projects import get_project
    from augsbert_core.storage.runs import get_run

    workspace = open_home(context)
    project = get_project(workspace, get_run(workspace, run).project_id)
    options = reproduce_options(workspace, run)
    result = run_step(workspace, project, "reproduce", options, as_json=as_json)
    show(result, [result["sentence"]], as_json=as_json)
