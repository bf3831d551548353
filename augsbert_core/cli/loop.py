"""Commands that carry out the steps of the loop."""

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

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
from augsbert_core.options import (
    BiEncoderOptions,
    CrossEncoderOptions,
    EvaluateOptions,
    LabelOptions,
    SampleOptions,
)

if TYPE_CHECKING:
    from augsbert_core.storage.database import Workspace
    from augsbert_core.storage.records import Project

CROSS = CrossEncoderOptions()
BI = BiEncoderOptions()
SAMPLE = SampleOptions()

Split = Annotated[
    Literal["train", "dev", "test"], typer.Option(help="Which gold pairs to measure on.")
]
Epochs = Annotated[int, typer.Option(min=1, help="Passes over the training pairs.")]
MaxSteps = Annotated[
    int | None, typer.Option(min=1, help="Stop after N optimiser steps, whatever the epochs.")
]
BatchSize = Annotated[int, typer.Option(min=1, help="Pairs per optimiser step.")]
LearningRate = Annotated[float, typer.Option(min=0.0, max=1, help="Highest learning rate.")]
MaxLength = Annotated[
    int, typer.Option(min=8, help="Longer input is cut off after this many tokens.")
]
Base = Annotated[str, typer.Option(help="Model to start from: a folder or a hub name.")]

train = typer.Typer(
    help="Train the labeler (cross-encoder) or the student (bi-encoder).", no_args_is_help=True
)


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command()(sample)
    app.add_typer(train, name="train")
    app.command()(label)
    app.command()(evaluate)
    app.command()(compare)


@train.command("cross-encoder")
def train_cross_encoder(
    context: typer.Context,
    project: ProjectName,
    base: Base = CROSS.base,
    epochs: Epochs = CROSS.epochs,
    max_steps: MaxSteps = None,
    batch_size: BatchSize = CROSS.batch_size,
    learning_rate: LearningRate = CROSS.learning_rate,
    warmup_ratio: Annotated[float, typer.Option(min=0.0, max=1.0)] = CROSS.warmup_ratio,
    weight_decay: Annotated[float, typer.Option(min=0.0)] = CROSS.weight_decay,
    max_length: MaxLength = CROSS.max_length,
    seed: Seed = CROSS.seed,
    device: Device = CROSS.device,
    as_json: AsJson = False,
) -> None:
    """Train the labeler on the gold training pairs. (The paper: --learning-rate 1e-5 on BERT-base.)"""
    options = CrossEncoderOptions(
        base=base,
        epochs=epochs,
        max_steps=max_steps,
        batch_size=batch_size,
        learning_rate=learning_rate,
        warmup_ratio=warmup_ratio,
        weight_decay=weight_decay,
        max_length=max_length,
        seed=seed,
        device=device,
    )
    workspace = open_home(context)
    result = run_step(
        workspace, named(workspace, project), "train-cross-encoder", options, as_json=as_json
    )
    show(result, training_lines(result), as_json=as_json)


@train.command("bi-encoder")
def train_bi_encoder(
    context: typer.Context,
    project: ProjectName,
    base: Base = BI.base,
    layers: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Keep the first N transformer layers; 0 keeps all.",
            show_default="as the project says",
        ),
    ] = None,
    silver: Annotated[
        int | None,
        typer.Option(
            metavar="ID", min=1, max=2**62, help="Train on gold + this silver set, not gold only."
        ),
    ] = None,
    equal_steps: Annotated[
        int | None,
        typer.Option(
            metavar="RUN",
            help="Gold-only twin of this AugSBERT run: its recipe, as many optimiser steps, no silver. "
            "Other training options are ignored.",
        ),
    ] = None,
    epochs: Epochs = BI.epochs,
    max_steps: MaxSteps = None,
    batch_size: BatchSize = BI.batch_size,
    learning_rate: LearningRate = BI.learning_rate,
    schedule: Annotated[
        Literal["warmup", "constant"], typer.Option(help="Linear warm-up and decay, or constant.")
    ] = "warmup",
    warmup_ratio: Annotated[float, typer.Option(min=0.0, max=1.0)] = BI.warmup_ratio,
    weight_decay: Annotated[float, typer.Option(min=0.0)] = BI.weight_decay,
    max_length: MaxLength = BI.max_length,
    seed: Seed = BI.seed,
    device: Device = BI.device,
    as_json: AsJson = False,
) -> None:
    """Train the student on gold pairs, or on gold + silver pairs."""
    workspace = open_home(context)
    chosen = named(workspace, project)
    options = BiEncoderOptions(
        base=base,
        layers=chosen.student_layers if layers is None else (layers or None),
        silver_set_id=silver,
        epochs=epochs,
        max_steps=max_steps,
        batch_size=batch_size,
        learning_rate=learning_rate,
        schedule=schedule,
        warmup_ratio=warmup_ratio,
        weight_decay=weight_decay,
        max_length=max_length,
        seed=seed,
        device=device,
    )
    if equal_steps is not None:
        options = replace(twin_options(workspace, chosen, equal_steps), device=device)
    result = run_step(workspace, chosen, "train-bi-encoder", options, as_json=as_json)
    show(result, training_lines(result), as_json=as_json)


def twin_options(workspace: "Workspace", project: "Project", run_id: int) -> BiEncoderOptions:
    """The gold-only twin of an AugSBERT run. WorkbenchError: the run is none of this project's."""
    from augsbert_core.errors import WorkbenchError
    from augsbert_core.steps.compare import equal_step_options
    from augsbert_core.storage.runs import get_run

    run = get_run(workspace, run_id)
    if (run.project_id, run.step, run.state) != (project.id, "train-bi-encoder", "done"):
        raise WorkbenchError(
            f"Run {run_id} is not a finished bi-encoder of project {project.name!r}."
        )
    return equal_step_options(workspace, run_id)


def training_lines(result: dict[str, Any]) -> list[str]:
    """A training result for people."""
    return [
        f"Run {result['run_id']}: {score_text(result.get('metric'), result.get('dev_score'))} on dev, "
        f"{result.get('n_steps', 0):,} steps in {result.get('seconds') or 0:.0f} s."
    ]


def score_text(metric: str | None, value: float | None) -> str:
    """A score as the tables show it, times 100; "undefined" when there is none."""
    return f"{metric or 'score'} {'undefined' if value is None else f'{value * 100:.1f}'}"


def sample(
    context: typer.Context,
    project: ProjectName,
    strategy: Annotated[str, typer.Option(help="bm25 or random.")] = SAMPLE.strategy,
    top_k: Annotated[int, typer.Option(min=1, help="bm25: partners per sentence.")] = SAMPLE.top_k,
    variant: Annotated[
        Literal["okapi", "lucene"], typer.Option(help="bm25: how rare words are weighted.")
    ] = "okapi",
    k1: Annotated[float | None, typer.Option(help="bm25.", show_default="the variant's")] = None,
    b: Annotated[float | None, typer.Option(help="bm25.", show_default="the variant's")] = None,
    n_pairs: Annotated[int | None, typer.Option(min=1, help="random: how many pairs.")] = None,
    unlabelled: Annotated[
        bool, typer.Option("--unlabelled", help="Sample from unlabelled sentences too.")
    ] = SAMPLE.use_unlabelled,
    seed: Seed = SAMPLE.seed,
    as_json: AsJson = False,
) -> None:
    """Choose candidate pairs for the labeler."""
    from augsbert_core.sampling import SAMPLERS

    if strategy not in SAMPLERS:
        raise typer.BadParameter(
            f"{strategy!r} is none of {', '.join(SAMPLERS)}.", param_hint="'--strategy'"
        )
    options = SampleOptions(
        strategy=strategy,
        top_k=top_k,
        variant=variant,
        k1=k1,
        b=b,
        n_pairs=n_pairs,
        use_unlabelled=unlabelled,
        seed=seed,
    )
    workspace = open_home(context)
    result = run_step(workspace, named(workspace, project), "sample", options, as_json=as_json)
    lines = [
        f"Candidate set {result['candidate_set_id']}: {result['n_candidates']:,} pairs.",
        *result.get("notices", []),
    ]
    show(result, lines, as_json=as_json)


def label(
    context: typer.Context,
    project: ProjectName,
    candidates: Annotated[
        int, typer.Option(metavar="ID", min=1, max=2**62, help="The candidate set to label.")
    ],
    labeler: Annotated[
        str,
        typer.Option(
            metavar="RUN|MODEL", help="A trained run's number, or a cross-encoder's name or folder."
        ),
    ],
    batch_size: Annotated[int, typer.Option(min=1, help="Pairs scored at once.")] = 64,
    max_length: Annotated[
        int | None,
        typer.Option(min=8, help="Cut longer pairs.", show_default="the labeler's"),
    ] = None,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Let the labeler score a candidate set: a new silver set."""
    options = LabelOptions(
        candidate_set_id=candidates,
        labeler=f"run:{labeler}" if labeler.isdigit() else labeler,
        batch_size=batch_size,
        max_length=max_length,
        device=device,
    )
    workspace = open_home(context)
    result = run_step(workspace, named(workspace, project), "label", options, as_json=as_json)
    line = (
        f"Silver set {result['silver_set_id']}: {result['n_scored']:,} pairs scored "
        f"in {result['seconds']:.0f} s."
    )
    show(result, [line], as_json=as_json)


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
