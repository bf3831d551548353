"""Commands that measure models and compare them."""

from dataclasses import asdict
from pathlib import Path
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
from augsbert_core.cli.markdown import as_cells, as_markdown
from augsbert_core.options import EvaluateOptions, TransferOptions

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
    app.command()(transfer)
    app.command("mteb")(mteb_command)


def evaluate(
    context: typer.Context,
    project: ProjectName,
    run: Annotated[
        int | None,
        typer.Option(metavar="ID", min=1, max=2**62, help="A trained run, of any project."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help='An untrained model, "jaccard" or "majority".'),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            help='Anything else: "cross:NAME", or labelers whose mean counts, "run:3 + run:7".'
        ),
    ] = None,
    layers: Annotated[
        int | None, typer.Option(min=1, help="With --model: keep the first N layers.")
    ] = None,
    split: Split = "test",
    seed: Seed = 42,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Measure a trained run, an untrained model, or a baseline that needs no model, on gold pairs."""
    if sum(one is not None for one in (run, model, target)) != 1:
        raise typer.BadParameter("Give either --run ID, --model NAME or --target TEXT.")
    if layers is not None and model in (None, "jaccard", "majority"):
        raise typer.BadParameter("--layers goes with --model NAME.")
    chosen = target or _target(run, model, layers)
    options = EvaluateOptions(targets=(chosen,), split=split, seed=seed, device=device)
    workspace = open_home(context)
    result = run_step(workspace, named(workspace, project), "evaluate", options, as_json=as_json)
    row = {"run_id": result["run_id"], **result["rows"][0]}
    line = f"{chosen} on {split}: {score_text(row['metric'], row['value'])}{interval_text(row)}"
    show(row, [line, *_figure_lines(row["details"]), *result["notices"]], as_json=as_json)


def _target(run: int | None, model: str | None, layers: int | None) -> str:
    if run is not None:
        return f"run:{run}"
    if model in ("jaccard", "majority"):
        return str(model)
    return f"model:{model}" + (f"@layers={layers}" if layers else "")


def _figure_lines(details: dict[str, Any]) -> list[str]:
    """The further figures on one line; correlations and shares times 100, distances as they are."""
    shown = [
        f"{name} {value:.4f}" if name in ("mse", "mae") else f"{name} {100 * value:.1f}"
        for name, value in details.items()
        if isinstance(value, float)
    ]
    return [", ".join(shown)] if shown else []


def interval_text(row: dict[str, Any]) -> str:
    """The 95 % interval of a row, times 100, or nothing."""
    if row.get("low") is None or row.get("high") is None:
        return ""
    return f" ({row['low'] * 100:.1f} to {row['high'] * 100:.1f})"


def compare(
    context: typer.Context,
    project: ProjectName,
    split: Split = "test",
    runs: Annotated[
        bool, typer.Option("--runs", help="One row per run instead of one per recipe.")
    ] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the table as Markdown, for documents.")
    ] = False,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Compare all models of a project; what has not been measured yet is measured first."""
    workspace = open_home(context)
    show_comparison(
        workspace,
        named(workspace, project),
        split,
        device=device,
        as_json=as_json,
        single=runs,
        markdown=markdown,
    )


def show_comparison(
    workspace: "Workspace",
    project: "Project",
    split: str,
    *,
    device: str = "auto",
    as_json: bool,
    single: bool = False,
    markdown: bool = False,
    extra: dict[str, Any] | None = None,
) -> None:
    """Measure what is missing, then print the compare table and the verdicts.

    As JSON: "rows" are single runs, "groups" are recipes with their differences to gold-only.
    """
    from augsbert_core.steps.compare import as_json_rows, comparison, grouped
    from augsbert_core.steps.verdict import verdicts

    found = comparison(workspace, project.id, split)
    if found.missing:
        options = EvaluateOptions(split=split, device=device)
        run_step(workspace, project, "evaluate", options, as_json=as_json or markdown)
        found = comparison(workspace, project.id, split)
    by_recipe = grouped(workspace, project.id, found)
    judged = verdicts(workspace, project.id, found, by_recipe)
    result = {
        "project": project.name,
        "split": found.split,
        "metric": found.metric,
        "n_pairs": found.n_pairs,
        "rows": as_json_rows(found),
        "groups": by_recipe.as_json(),
        "verdict": judged[0].sentence,
        "verdicts": [asdict(one) for one in judged],
        "notes": list(by_recipe.notes),
    }
    if as_json:
        show(result | (extra or {}), [], as_json=True)
        return
    shown = grouped(workspace, project.id, found, single=True) if single else by_recipe
    if markdown:
        typer.echo(as_markdown({**result, "groups": shown.as_json()}))
        return
    typer.echo(f"{project.name}: {found.n_pairs:,} {found.split} pairs")
    _comparison_table(found.metric, shown.as_json())
    for line in (*by_recipe.notes, *(one.sentence for one in judged)):
        typer.echo(line)


def _comparison_table(metric: str, rows: list[dict[str, Any]]) -> None:
    headings = {
        "name": "Model", "value": f">{metric.capitalize()}×100", "interval": ">95 % interval",
        "difference": ">Δ gold only", "difference_interval": ">95 % interval", "p": ">p", "n_gold": ">Gold",
        "n_silver": ">Silver", "passes": ">Passes", "n_steps": ">Steps", "seconds": ">Seconds",
        "n_seeds": ">Seeds", "why_not": "Not comparable",
    }  # fmt: skip
    if all(row["comparable"] for row in rows):
        headings.pop("why_not")
    table(headings, [as_cells(row) for row in rows])


def transfer(
    context: typer.Context,
    project: ProjectName,
    data: Annotated[
        Path, typer.Option(help="CSV or TSV file of labelled texts.", exists=True, dir_okay=False)
    ],
    run: Annotated[
        list[int] | None, typer.Option(metavar="ID", min=1, max=2**62, help="A trained bi-encoder.")
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A bi-encoder by name.")
    ] = None,
    text: Annotated[str, typer.Option(help="Column of the text.", show_default="guessed")] = "",
    label: Annotated[str, typer.Option(help="Column of the label.", show_default="guessed")] = "",
    folds: Annotated[
        int, typer.Option(min=2, help="Parts, when the file has no split column.")
    ] = 10,
    seed: Seed = 42,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Try frozen embeddings on another task: logistic regression on labelled texts. --run and --model repeat."""
    from augsbert_core.exporting.files import expanded

    targets = (*(f"run:{one}" for one in run or ()), *(f"model:{one}" for one in model or ()))
    options = TransferOptions(
        targets, str(expanded(data).resolve()), text, label, folds, seed, device
    )
    workspace = open_home(context)
    found = run_step(workspace, named(workspace, project), "transfer", options, as_json=as_json)
    lines = [
        f"{row['name']}: accuracy {100 * row['accuracy']:.1f}"
        + (f" ± {100 * row['sd']:.1f}" if row["sd"] is not None else "")
        + f" (majority class {100 * row['majority']:.1f})"
        for row in found["rows"]
    ]
    show(found, lines, as_json=as_json)


def mteb_command(
    context: typer.Context,
    run: Annotated[int, typer.Option(metavar="ID", min=1, max=2**62, help="A trained bi-encoder.")],
    tasks: Annotated[
        list[str], typer.Option(help="A task of MTEB, such as STSBenchmark; repeats.")
    ],
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Measure a bi-encoder on tasks of MTEB, which has to be installed: pip install "augsbert-workbench[mteb]"."""
    from augsbert_core.models.devices import resolve_device
    from augsbert_core.models.mteb_tasks import check_mteb, mteb_scores
    from augsbert_core.steps.targets import trained_bi_encoder
    from augsbert_core.storage.runs import update_run

    check_mteb()
    workspace = open_home(context)
    location = trained_bi_encoder(workspace, run)
    scores = mteb_scores(location, tasks, resolve_device(device))
    update_run(workspace, run, metrics={"mteb": scores})
    lines = [f"{name}: {100 * score:.1f}" for name, score in scores.items()]
    show({"run_id": run, "scores": scores}, lines, as_json=as_json)
