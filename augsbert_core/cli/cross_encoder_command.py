"""The command that trains a cross-encoder."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import typer

from augsbert_core.cli.console import AsJson, Device, ProjectName, Seed, open_home, run_step, show
from augsbert_core.cli.data import named
from augsbert_core.cli.training import (
    Base,
    BatchSize,
    Epochs,
    KeepRejected,
    LearningRate,
    MaxLength,
    MaxSteps,
    Promote,
    SilverScores,
    train,
    training_lines,
)
from augsbert_core.options import CrossEncoderOptions

CROSS = CrossEncoderOptions()

LossName = Literal["bce", "mse", "ranknet", "lambda", "listnet"]


def register(app: typer.Typer) -> None:
    """Add this command to `augsbert train`."""
    train.command("cross-encoder")(train_cross_encoder)


def train_cross_encoder(
    context: typer.Context,
    project: ProjectName,
    base: Base = CROSS.base,
    layers: Annotated[
        int | None,
        typer.Option(min=1, help="Keep the first N transformer layers.", show_default="all"),
    ] = None,
    hidden: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Units of a hidden layer in the head (the paper tried 200 and 400).",
            show_default="none",
        ),
    ] = None,
    loss: Annotated[
        LossName,
        typer.Option(
            help="bce and mse learn each score; ranknet, lambda and listnet learn the order of a query's "
            "candidates."
        ),
    ] = "bce",
    pos_weight: Annotated[
        bool, typer.Option(help="Weigh positives by negatives ÷ positives (0/1 gold, loss bce).")
    ] = CROSS.pos_weight,
    both_orders: Annotated[
        bool, typer.Option(help="Train on (A, B) and on (B, A).")
    ] = CROSS.both_orders,
    silver: Annotated[
        int | None,
        typer.Option(metavar="ID", min=1, max=2**62, help="Train on this silver set too."),
    ] = None,
    gold: Annotated[
        bool, typer.Option(help="Train on gold; --no-gold trains on --silver alone.")
    ] = CROSS.use_gold,
    gold_limit: Annotated[
        int | None, typer.Option(min=1, help="Take only so many gold pairs.", show_default="all")
    ] = None,
    silver_weight: Annotated[
        float, typer.Option(min=0.0, help="Weight of a silver pair in the loss; gold has 1.")
    ] = CROSS.silver_weight,
    silver_scores: SilverScores = "corrected",
    keep_rejected: KeepRejected = False,
    promote: Promote = False,
    corrections_of: Annotated[
        int | None,
        typer.Option(
            metavar="ID",
            min=1,
            max=2**62,
            help="What people corrected and accepted in this silver set joins gold.",
            show_default="none",
        ),
    ] = None,
    negatives: Annotated[
        Literal["none", "random", "mined"],
        typer.Option(
            help="Negatives for gold of one class: random or BM25-mined pairs of its sentences."
        ),
    ] = "none",
    negatives_per_positive: Annotated[
        float, typer.Option(min=0.01, max=1000.0, help="So many negatives for each positive.")
    ] = CROSS.negatives_per_positive,
    warm_start: Annotated[
        Literal["auto", "on", "off"],
        typer.Option(
            help="Learn the base encoder's own cosines before gold; auto: when gold is small."
        ),
    ] = "auto",
    warm_start_pairs: Annotated[
        int, typer.Option(min=2, help="Pairs of the warm start.")
    ] = CROSS.warm_start_pairs,
    epochs: Epochs = CROSS.epochs,
    max_steps: MaxSteps = None,
    batch_size: BatchSize = CROSS.batch_size,
    learning_rate: LearningRate = CROSS.learning_rate,
    warmup_ratio: Annotated[float, typer.Option(min=0.0, max=1.0)] = CROSS.warmup_ratio,
    weight_decay: Annotated[float, typer.Option(min=0.0)] = CROSS.weight_decay,
    max_length: MaxLength = CROSS.max_length,
    patience: Annotated[
        int,
        typer.Option(min=0, help="Stop after N dev scores without a better one; 0: never early."),
    ] = CROSS.patience,
    seeds: Annotated[
        int, typer.Option(min=1, help="Seed optimisation: try N seeds, finish the best.")
    ] = CROSS.seeds,
    seed_stop: Annotated[
        float, typer.Option(min=0.01, max=1.0, help="The share of steps after which seeds compare.")
    ] = CROSS.seed_stop,
    checkpoint_seconds: Annotated[
        float, typer.Option(min=1.0, help="Write a checkpoint at least so often.")
    ] = CROSS.checkpoint_seconds,
    seed: Seed = CROSS.seed,
    device: Device = CROSS.device,
    as_json: AsJson = False,
) -> None:
    """Train the labeler on the gold training pairs. (The paper: --learning-rate 1e-5 on BERT-base.)"""
    options = CrossEncoderOptions(
        base=base,
        layers=layers,
        hidden=hidden,
        loss=loss,
        pos_weight=pos_weight,
        both_orders=both_orders,
        warm_start=warm_start,
        warm_start_pairs=warm_start_pairs,
        negatives=negatives,
        negatives_per_positive=negatives_per_positive,
        use_gold=gold,
        gold_limit=gold_limit,
        silver_set_id=silver,
        silver_weight=silver_weight,
        silver_scores=silver_scores,
        keep_rejected=keep_rejected,
        promote=promote,
        corrections_of=corrections_of,
        epochs=epochs,
        max_steps=max_steps,
        batch_size=batch_size,
        learning_rate=learning_rate,
        warmup_ratio=warmup_ratio,
        weight_decay=weight_decay,
        max_length=max_length,
        patience=patience,
        checkpoint_seconds=checkpoint_seconds,
        seeds=seeds,
        seed_stop=seed_stop,
        seed=seed,
        device=device,
    )
    workspace = open_home(context)
    result = run_step(
        workspace, named(workspace, project), "train-cross-encoder", options, as_json=as_json
    )
    show(result, [*training_lines(result), *notes(result)], as_json=as_json)


def notes(result: Mapping[str, Any]) -> list[str]:
    """What a reader of the score must know besides it."""
    said = list(result.get("notes") or [])
    if result.get("warm_start_pairs"):
        said.insert(0, f"Warm start on {result['warm_start_pairs']:,} pairs scored by the base.")
    if result.get("n_negatives"):
        said.append(f"{result['n_negatives']:,} {result.get('negatives')} negatives joined gold.")
    if result.get("n_dev_negatives"):
        said.append(
            f"{result['n_dev_negatives']:,} negatives joined the dev pairs, so its score is of both."
        )
    if result.get("negatives_note"):
        said.append(str(result["negatives_note"]))
    return said
