"""The command that holds another model against the labeler of a silver set."""

from typing import Annotated

import typer

from augsbert_core.cli.console import AsJson, Device, open_home, run_step, show
from augsbert_core.cli.labelling import BatchSize, model_name
from augsbert_core.options import StudentScoresOptions


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("score-silver")(score_silver)


def score_silver(
    context: typer.Context,
    silver: Annotated[int, typer.Argument(metavar="SET", min=1, max=2**62, help="The silver set.")],
    model: Annotated[
        str,
        typer.Option(
            metavar="TARGET",
            help="run:ID, model:NAME (a bi-encoder) or cross:NAME (a cross-encoder).",
        ),
    ] = StudentScoresOptions.model,
    batch_size: BatchSize = 64,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Score a silver set with another model: where it disagrees with the labeler, a person should look."""
    from augsbert_core.storage.projects import get_project
    from augsbert_core.storage.silver_sets import get_silver_set

    workspace = open_home(context)
    project = get_project(workspace, get_silver_set(workspace, silver).project_id)
    options = StudentScoresOptions(
        silver_set_id=silver,
        model=model_name(model) if model.isdigit() else model,
        batch_size=batch_size,
        device=device,
    )
    result = run_step(workspace, project, "student-scores", options, as_json=as_json)
    line = (
        f"{result['n_pairs']:,} pairs of silver set {silver} scored by {result['model']} in {result['seconds']:.0f} s: "
        f"on average {result['mean_disagreement']:.3f} of the scale from the labeler, {result['n_far_apart']:,} of them "
        "a quarter or more."
    )
    show(result, [line], as_json=as_json)
