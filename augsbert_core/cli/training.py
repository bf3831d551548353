"""Commands that train the student, show recipes, and study seeds."""

from dataclasses import fields, replace
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
from augsbert_core.options import BiEncoderOptions, SeedStudyOptions, student_defaults

if TYPE_CHECKING:
    from augsbert_core.storage.database import Workspace
    from augsbert_core.storage.records import Project

BI = BiEncoderOptions()
STUDY = SeedStudyOptions()
FRACTIONS = ",".join(f"{fraction:g}" for fraction in STUDY.fractions)

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
Layers = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Keep the first N transformer layers; 0 keeps all.",
        show_default="as the project says",
    ),
]
Silver = Annotated[
    int | None,
    typer.Option(
        metavar="ID", min=1, max=2**62, help="Train on gold + this silver set, not gold only."
    ),
]
Recipe = Annotated[
    str | None,
    typer.Option(
        metavar="PRESET|FILE",
        help="A preset (`augsbert recipes`) or a TOML file to begin with; other options overrule it.",
    ),
]

SilverScores = Annotated[
    Literal["corrected", "raw"],
    typer.Option(
        help="Silver scores as people corrected them, or raw, as the labeler gave them all."
    ),
]
KeepRejected = Annotated[
    bool, typer.Option("--keep-rejected", help="Train on silver pairs that people rejected too.")
]
Promote = Annotated[
    bool,
    typer.Option(
        "--promote", help="Corrected and accepted silver pairs count as gold, not as silver."
    ),
]

train = typer.Typer(
    help="Train the labeler (cross-encoder) or the student (bi-encoder).", no_args_is_help=True
)
recipes = typer.Typer(help="Training recipes with a name.", invoke_without_command=True)


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.add_typer(train, name="train")
    app.add_typer(recipes, name="recipes")
    app.command("seed-study")(seed_study)


@train.command("bi-encoder")
def train_bi_encoder(
    context: typer.Context,
    project: ProjectName,
    recipe: Recipe = None,
    base: Base = BI.base,
    layers: Layers = None,
    silver: Silver = None,
    silver_only: Annotated[
        bool, typer.Option("--silver-only", help="Leave gold out of training (paper §3.2).")
    ] = False,
    equal_steps: Annotated[
        int | None,
        typer.Option(
            metavar="RUN",
            help="Gold-only twin of this AugSBERT run: its recipe, as many optimiser steps, no silver. "
            "Other training options are ignored.",
        ),
    ] = None,
    gold_limit: Annotated[
        int | None, typer.Option(min=1, help="Only so many gold pairs, drawn with the seed.")
    ] = None,
    mixing: Annotated[
        Literal["shuffled", "silver-first"],
        typer.Option(help="Gold and silver together, or silver first and then gold."),
    ] = "shuffled",
    silver_weight: Annotated[
        float, typer.Option(min=0.0, help="Weight of a silver row in the loss; gold has 1.")
    ] = BI.silver_weight,
    gold_repeats: Annotated[
        int, typer.Option(min=1, help="How often each gold pair is in the training data.")
    ] = BI.gold_repeats,
    silver_scores: SilverScores = "corrected",
    keep_rejected: KeepRejected = False,
    promote: Promote = False,
    symmetric: Annotated[
        bool, typer.Option("--symmetric", help="Train on (A, B) and (B, A).")
    ] = False,
    pooling: Annotated[
        str, typer.Option(help="own, mean, cls, max, weightedmean or attention.")
    ] = BI.pooling,
    loss: Annotated[
        str, typer.Option(help="cosine, cosent, angle, mnrl, softmax or triplet.")
    ] = BI.loss,
    scale: Annotated[
        float, typer.Option(min=0.0, help="Scale of cosines in mnrl, cosent and angle.")
    ] = BI.scale,
    positive_from: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="mnrl, triplet: positive from this score on.")
    ] = BI.positive_from,
    negative_below: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="mnrl, triplet: hard negative below this.")
    ] = BI.negative_below,
    hard_negatives: Annotated[
        bool, typer.Option("--hard-negatives", help="mnrl with a negative in each row.")
    ] = False,
    epochs: Epochs = BI.epochs,
    max_steps: MaxSteps = None,
    batch_size: BatchSize = BI.batch_size,
    learning_rate: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=1,
            help="Highest learning rate.",
            show_default="2e-5; 1e-4 for students of up to 3 layers",
        ),
    ] = BI.learning_rate,
    schedule: Annotated[
        Literal["warmup", "constant"], typer.Option(help="Linear warm-up and decay, or constant.")
    ] = "constant",
    warmup_ratio: Annotated[float, typer.Option(min=0.0, max=1.0)] = BI.warmup_ratio,
    weight_decay: Annotated[float, typer.Option(min=0.0)] = BI.weight_decay,
    max_length: MaxLength = BI.max_length,
    patience: Annotated[
        int, typer.Option(min=0, help="Stop after N dev scores without a better one; 0 never.")
    ] = BI.patience,
    checkpoint_seconds: Annotated[
        float, typer.Option(min=0.0, help="At least so often a checkpoint is written.")
    ] = BI.checkpoint_seconds,
    first_stage: Annotated[
        int, typer.Option(min=1, help="Begin at this stage of the recipe, from --base.")
    ] = BI.first_stage,
    seeds: Annotated[
        int, typer.Option(min=1, help="Seed optimisation over so many seeds; 1 for none.")
    ] = BI.seeds,
    seed_stop: Annotated[
        float, typer.Option(help="Share of the steps after which seeds are compared.")
    ] = BI.seed_stop,
    seed: Seed = BI.seed,
    device: Device = BI.device,
    as_json: AsJson = False,
) -> None:
    """Train the student on gold pairs, gold + silver, or silver alone, in one stage or by a recipe."""
    workspace = open_home(context)
    chosen = named(workspace, project)
    if equal_steps is not None:
        options = replace(twin_options(workspace, chosen, equal_steps), device=device)
    else:
        options = told_options(context, chosen, recipe)
    result = run_step(workspace, chosen, "train-bi-encoder", options, as_json=as_json)
    show(result, training_lines(result), as_json=as_json)


def told_options(
    context: typer.Context, project: "Project", recipe: str | None
) -> BiEncoderOptions:
    """What a command line asks for: the recipe, overruled by what was typed."""
    told = {
        name: value
        for name, value in context.params.items()
        if name in {field.name for field in fields(BiEncoderOptions)} and _was_typed(context, name)
    }
    if _was_typed(context, "silver"):
        told["silver_set_id"] = context.params["silver"]
    if context.params.get("silver_only"):
        told["use_gold"] = False
    if "layers" in told:
        told["layers"] = told["layers"] or None
    begun = student_defaults(told.get("layers", project.student_layers))
    return replace(read_recipe(recipe, begun) if recipe else begun, **told)


def _was_typed(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def read_recipe(name: str, options: BiEncoderOptions) -> BiEncoderOptions:
    """A preset applied to the options, or the options in a TOML file."""
    from augsbert_core.errors import WorkbenchError
    from augsbert_core.exporting.files import expanded
    from augsbert_core.steps.recipes import PRESETS, apply_preset, from_toml

    if name in PRESETS:
        return apply_preset(name, options)
    path = expanded(Path(name))
    if not path.is_file():
        raise WorkbenchError(
            f"{name!r} is neither a preset nor a file. Presets are {', '.join(PRESETS)}."
        )
    try:
        return from_toml(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise WorkbenchError(f"{name} is not text in UTF-8. Save it as UTF-8.") from None


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
    metric = result.get("metric")
    lines = [
        f"Run {result['run_id']}: {score_text(metric, result.get('dev_score'))} on dev, "
        f"{result.get('n_steps', 0):,} steps in {result.get('seconds') or 0:.0f} s."
    ]
    if result.get("n_corrections"):
        lines.append(f"  {result['n_corrections']:,} corrected or accepted pairs joined gold.")
    if result.get("n_leaks"):
        lines.append(f"  {result['n_leaks']:,} of them are dev or test gold and were left out.")
    stages = result.get("stages") or []
    if len(stages) > 1:
        lines += [
            f"  Stage {number}, {stage['loss']} on {stage['data']}: {stage['n_rows']:,} rows, "
            f"{stage['n_steps']:,} steps, {score_text(metric, stage['dev_score'])}"
            for number, stage in enumerate(stages, 1)
        ]
    if result.get("seed_trials"):
        trials = ", ".join(
            f"{trial['seed']} {score_text(metric, trial['dev_score'])}"
            for trial in result["seed_trials"]
        )
        lines.append(f"  Seed {result['chosen_seed']} went on. Dev at the stop: {trials}.")
    return lines


@recipes.callback()
def list_recipes(context: typer.Context) -> None:
    """List the recipes that have a name."""
    from augsbert_core.steps.recipes import PRESETS

    if context.invoked_subcommand is not None:
        return
    rows = [
        {"name": name, "needs": " + ".join(preset.needs), "why": preset.why}
        for name, preset in PRESETS.items()
    ]
    table({"name": "Recipe", "needs": "Needs", "why": "What it does"}, rows)


@recipes.command("show")
def show_recipe(name: Annotated[str, typer.Argument(help="A name that `recipes` lists.")]) -> None:
    """Print a recipe as TOML, to be edited and given to `train bi-encoder --recipe FILE`."""
    from augsbert_core.steps.recipes import apply_preset, to_toml

    typer.echo(to_toml(apply_preset(name, BI)), nl=False)


def seed_study(
    context: typer.Context,
    project: ProjectName,
    recipe: Recipe = None,
    silver: Silver = None,
    layers: Layers = None,
    base: Base = BI.base,
    epochs: Epochs = BI.epochs,
    max_steps: MaxSteps = None,
    batch_size: BatchSize = BI.batch_size,
    learning_rate: LearningRate = BI.learning_rate,
    seeds: Annotated[int, typer.Option(min=3, help="Train so many to the end.")] = STUDY.seeds,
    fractions: Annotated[
        str, typer.Option(help="Shares of the steps at which dev is scored, with commas.")
    ] = FRACTIONS,
    seed: Seed = STUDY.seed,
    device: Device = STUDY.device,
    as_json: AsJson = False,
) -> None:
    """Train every seed to the end and say how early their order on dev is the final one (figure 6)."""
    from augsbert_core.options import to_json

    workspace = open_home(context)
    chosen = named(workspace, project)
    told = replace(told_options(context, chosen, recipe), seeds=1)
    options = SeedStudyOptions(
        recipe=to_json(told),
        seeds=seeds,
        fractions=read_fractions(fractions),
        seed=seed,
        device=device,
    )
    result = run_step(workspace, chosen, "seed-study", options, as_json=as_json)
    show(result, [], as_json=as_json)
    if not as_json:
        table(
            {"share": ">Share of steps", "spearman": ">Spearman", "kendall": ">Kendall", "regret": ">Lost × 100"},
            [
                {
                    "share": f"{share:.0%}",
                    "spearman": _rank_text(result["spearman"][place]),
                    "kendall": _rank_text(result["kendall"][place]),
                    "regret": f"{100 * result['regret'][place]:.2f}",
                }
                for place, share in enumerate(result["fractions"])
            ],
        )  # fmt: skip


def read_fractions(text: str) -> tuple[float, ...]:
    """ "0.1,0.2" as numbers. WorkbenchError: it is something else."""
    from augsbert_core.errors import WorkbenchError

    try:
        return tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise WorkbenchError(
            f"{text!r} is no list of fractions. Write numbers between 0 and 1 with commas, such as 0.1,0.2."
        ) from None


def _rank_text(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"
