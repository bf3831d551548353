"""The command that looks for gold scores that are likely wrong."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from augsbert_core.cli.console import (
    AsJson,
    Device,
    ProjectName,
    Seed,
    open_home,
    run_step,
    show,
    table,
)
from augsbert_core.cli.data import named
from augsbert_core.errors import WorkbenchError
from augsbert_core.options import LabelErrorsOptions

if TYPE_CHECKING:
    from augsbert_core.storage.records import Project

USUAL = LabelErrorsOptions()
SHORT = 60  # characters of a sentence in the table

COLUMNS = (
    "rank", "apart", "gold", "expected", "split", "source_file", "source_line", "sentence1", "sentence2",
)  # fmt: skip


HEADINGS = {
    "rank": ">Rank",
    "gold": ">Gold",
    "expected": ">Expected",
    "apart": ">Apart",
    "split": "Split",
    "sentence1": "Sentence 1",
    "sentence2": "Sentence 2",
}


def register(app: typer.Typer) -> None:
    """Add this command to the app."""
    app.command("label-errors")(label_errors)


def label_errors(
    context: typer.Context,
    project: ProjectName,
    folds: Annotated[int, typer.Option(min=2, max=20, help="Models to train.")] = USUAL.folds,
    base: Annotated[
        str, typer.Option(help="Model to start from: a folder or a hub name.")
    ] = USUAL.base,
    layers: Annotated[
        int | None, typer.Option(min=1, help="Keep the first N transformer layers.")
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="Passes of each model.")] = USUAL.epochs,
    batch_size: Annotated[
        int, typer.Option(min=1, help="Pairs per optimiser step.")
    ] = USUAL.batch_size,
    learning_rate: Annotated[
        float, typer.Option(min=0.0, max=1, help="Highest learning rate.")
    ] = USUAL.learning_rate,
    top: Annotated[int, typer.Option(min=1, help="Print the N most doubtful pairs.")] = 20,
    last: Annotated[
        bool, typer.Option("--last", help="Train nothing: print what the last search found.")
    ] = False,
    csv_file: Annotated[
        Path | None, typer.Option("--csv", help="Write all pairs, ranked, to this CSV file.")
    ] = None,
    seed: Seed = USUAL.seed,
    device: Device = USUAL.device,
    as_json: AsJson = False,
) -> None:
    """Find gold scores that are likely wrong: models that have not seen a pair contradict them."""
    from augsbert_core.steps.label_errors import HOW_RANKED, ranked_errors
    from augsbert_core.storage import out_of_fold, runs

    workspace = open_home(context)
    chosen = named(workspace, project)
    if csv_file is not None and csv_file.exists():
        raise WorkbenchError(f"{str(csv_file)!r} exists already. Name a new file.")
    if last:
        run = out_of_fold.newest_search(workspace, chosen.id)
        if run is None:
            raise WorkbenchError("There was no search for label errors yet. Leave out --last.")
        result: dict[str, Any] = {"run_id": run.id, **run.metrics}
    else:
        options = LabelErrorsOptions(
            folds=folds,
            base=base,
            layers=layers,
            epochs=epochs,
            batch_size=batch_size,
            learning_rate=learning_rate,
            seed=seed,
            device=device,
        )
        result = run_step(workspace, chosen, "label-errors", options, as_json=as_json)
        run = runs.get_run(workspace, int(result["run_id"]))
    found = ranked_errors(workspace, run)
    rows = _rows(chosen, found.to_dict("records"))
    if csv_file is not None:
        _write(csv_file, rows)
    lines = [
        f"{result.get('n_scored', len(found)):,} gold pairs scored by models that had not seen them.",
        *result.get("notices", []),
        *([f"All of them, ranked, are in {str(csv_file)!r}."] if csv_file is not None else []),
    ]
    show(result | {"pairs": rows[:top]}, lines, as_json=as_json)
    if not as_json:
        table(HEADINGS, _cells(rows[:top]))
        typer.echo(HOW_RANKED)


def _rows(project: "Project", found: Sequence[Mapping[Any, Any]]) -> list[dict[str, Any]]:
    """The pairs as people of the project write their scores."""
    scale = project.score_range
    return [
        {
            "rank": rank,
            "apart": round(row["gap"] * (scale.high - scale.low), 3),
            "gold": row["raw_score"],
            "expected": round(scale.to_raw(row["expected"]), 3),
            **{name: row[name] for name in COLUMNS[4:]},
        }
        for rank, row in enumerate(found, 1)
    ]


def _cells(rows: list[dict[str, Any]]) -> list[dict[str, str]]:
    return [
        {
            "rank": str(row["rank"]),
            "gold": f"{row['gold']:g}",
            "expected": f"{row['expected']:.2f}",
            "apart": f"{row['apart']:.2f}",
            "split": row["split"],
            "sentence1": row["sentence1"][:SHORT],
            "sentence2": row["sentence2"][:SHORT],
        }
        for row in rows
    ]


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    from augsbert_core.exporting.files import to_csv

    try:
        path.write_bytes(to_csv(COLUMNS, ([row[name] for name in COLUMNS] for row in rows)))
    except OSError as error:
        raise WorkbenchError(
            f"{str(path)!r} cannot be written ({error.strerror}). Name another file."
        ) from error
