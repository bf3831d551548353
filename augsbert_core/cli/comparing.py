"""Commands that measure models and compare them."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from augsbert_core.cli.console import (
    AsJson,
    Device,
    ProjectName,
    Seed,
    open_home,
    run_step,
    score_text,
    show,
    table,
)
from augsbert_core.cli.data import named
from augsbert_core.options import EvaluateOptions

if TYPE_CHECKING:
    from augsbert_core.storage.database import Workspace
    from augsbert_core.storage.records import Project

Split = Annotated[
    Literal["train", "dev", "test"], typer.Option(help="Which gold pairs to measure on.")
]


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command()(evaluate)
    app.command()(compare)


def evaluate(
    context: typer.Context,
    project: ProjectName,
    run: Annotated[
        int | None, typer.Option(metavar="ID", min=1, max=2**62, help="A trained run.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help='An untrained model, or "jaccard".')
    ] = None,
    layers: Annotated[
        int | None, typer.Option(min=1, help="With --model: keep the first N layers.")
    ] = None,
    split: Split = "test",
    seed: Seed = 42,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Measure a trained run, an untrained model, or word overlap on gold pairs."""
    if (run is None) == (model is None):
        raise typer.BadParameter("Give either --run ID or --model NAME.")
    if layers is not None and model in (None, "jaccard"):
        raise typer.BadParameter("--layers goes with --model NAME.")
    if run is not None:
        target = f"run:{run}"
    elif model == "jaccard":
        target = "jaccard"
    else:
        target = f"model:{model}" + (f"@layers={layers}" if layers else "")
    options = EvaluateOptions(targets=(target,), split=split, seed=seed, device=device)
    workspace = open_home(context)
    result = run_step(workspace, named(workspace, project), "evaluate", options, as_json=as_json)
    row = {"run_id": result["run_id"], **result["rows"][0]}
    line = f"{target} on {split}: {score_text(row['metric'], row['value'])}{interval_text(row)}"
    show(row, [line], as_json=as_json)


def interval_text(row: dict[str, Any]) -> str:
    """The 95 % interval of a row, times 100, or nothing."""
    if row.get("low") is None or row.get("high") is None:
        return ""
    return f" ({row['low'] * 100:.1f} to {row['high'] * 100:.1f})"


def compare(
    context: typer.Context,
    project: ProjectName,
    split: Split = "test",
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Compare all models of a project; what has not been measured yet is measured first."""
    workspace = open_home(context)
    show_comparison(workspace, named(workspace, project), split, device=device, as_json=as_json)


def show_comparison(
    workspace: "Workspace",
    project: "Project",
    split: str,
    *,
    device: str = "auto",
    as_json: bool,
    extra: dict[str, Any] | None = None,
) -> None:
    """Measure what is missing, then print the compare table and the verdict."""
    from augsbert_core.steps.compare import as_json_rows, comparison
    from augsbert_core.steps.verdict import verdicts

    found = comparison(workspace, project.id, split)
    if found.missing:
        options = EvaluateOptions(split=split, device=device)
        run_step(workspace, project, "evaluate", options, as_json=as_json)
        found = comparison(workspace, project.id, split)
    rows = as_json_rows(found)
    judged = verdicts(workspace, project.id, found)
    if as_json:
        result = {
            "project": project.name,
            "split": found.split,
            "metric": found.metric,
            "n_pairs": found.n_pairs,
            "rows": rows,
            "verdict": judged[0].sentence,
            "verdicts": [asdict(one) for one in judged],
            "notes": list(found.notes),
        }
        show(result | (extra or {}), [], as_json=True)
        return
    typer.echo(f"{project.name}: {found.n_pairs:,} {found.split} pairs")
    _comparison_table(found.metric, rows)
    for line in (*found.notes, *(one.sentence for one in judged)):
        typer.echo(line)


def _comparison_table(metric: str, rows: list[dict[str, Any]]) -> None:
    headings = {
        "name": "Model", "kind": "Kind", "value": f">{metric.capitalize()}×100", "interval": ">95 % interval",
        "n_gold": ">Gold", "n_silver": ">Silver", "passes": ">Passes", "n_steps": ">Steps",
        "seconds": ">Seconds", "seed": ">Seed", "why_not": "Not comparable",
    }  # fmt: skip
    if all(row["comparable"] for row in rows):
        headings.pop("why_not")
    table(
        headings,
        [
            {
                **{key: "" if row.get(key) is None else str(row[key]) for key in headings},
                "value": "undefined" if row["value"] is None else f"{row['value'] * 100:.1f}",
                "interval": interval_text(row).strip(" ()"),
                "seconds": "" if row["seconds"] is None else f"{row['seconds']:.0f}",
            }
            for row in rows
        ],
    )
