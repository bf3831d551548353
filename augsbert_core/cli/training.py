"""Commands that train the labeler and the student."""

from dataclasses import replace
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
)
from augsbert_core.cli.data import named
from augsbert_core.options import BiEncoderOptions, CrossEncoderOptions

if TYPE_CHECKING:
    from augsbert_core.storage.database import Workspace
    from augsbert_core.storage.records import Project

CROSS = CrossEncoderOptions()
BI = BiEncoderOptions()

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
    app.add_typer(train, name="train")


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
