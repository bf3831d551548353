"""Commands around the labeler: look at one, judge those at hand, try one, let one score a candidate set."""

import re
from typing import Annotated, Any, Literal

import typer

from augsbert_core.cli.console import (
    AsJson,
    Device,
    ProjectName,
    Seed,
    open_home,
    progress,
    run_step,
    show,
    table,
)
from augsbert_core.cli.data import named
from augsbert_core.options import GateOptions, LabelOptions, PreviewOptions

Candidates = Annotated[int, typer.Option(metavar="ID", min=1, max=2**62, help="The candidate set.")]
Labeler = Annotated[
    str,
    typer.Option(
        metavar="RUN|MODEL",
        help="A trained run's number, a cross-encoder's name or folder, or several to average, \"3 + 7\".",
    ),
]
BatchSize = Annotated[int, typer.Option(min=1, help="Pairs scored at once.")]
BothOrders = Annotated[
    bool,
    typer.Option(
        "--both-orders",
        help="Cross-encoders read (A, B) and (B, A): twice the passes, and a gap that tells uncertain pairs.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command("check-labeler")(check_labeler)
    app.command()(gate)
    app.command()(preview)
    app.command()(label)


def model_name(given: str) -> str:
    """A run's number, with or without "run:", as "run:ID" without leading zeros; all else as it is."""
    number = given.removeprefix("run:")
    is_number = number.isascii() and number.isdigit()
    return f"run:{number.lstrip('0') or '0'}" if is_number else given


def labeler_name(given: str) -> str:
    """As `model_name`, for each of several joined by "+"; a plus within a name joins nothing."""
    parts = re.split(r"\s+\+\s+", given.strip())
    if re.fullmatch(r"(run:)?\d+(\s*\+\s*(run:)?\d+)+", given.strip(), flags=re.ASCII):
        parts = [part.strip() for part in given.split("+")]
    return " + ".join(model_name(part) for part in parts)


def check_labeler(
    context: typer.Context,
    project: ProjectName,
    labeler: Labeler,
    seed: Seed = 42,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Look at a labeler before it labels: its head, activation and window, and its scores on 32 gold dev pairs."""
    from augsbert_core import jobs
    from augsbert_core.steps.preview import fact_lines

    options = PreviewOptions(None, labeler_name(labeler), seed=seed, device=device)
    workspace = open_home(context)
    chosen = named(workspace, project)
    with progress("Check labeler", quiet=as_json) as report:
        result = jobs.run_in_foreground(workspace, chosen.id, "preview", options, report)
    show(result, fact_lines(result), as_json=as_json)


def gate(
    context: typer.Context,
    project: ProjectName,
    labelers: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RUN|MODEL",
            help="One to judge, as for label; may be repeated. Without it: the newest trained ones and the "
            "mean of the best two.",
        ),
    ] = None,
    baseline: Annotated[
        int | None,
        typer.Option(
            metavar="RUN", min=1, max=2**62, help="The gold-only student.", show_default="the best"
        ),
    ] = None,
    split: Annotated[
        Literal["dev", "test"], typer.Option(help="Which gold pairs to judge on.")
    ] = "dev",
    seed: Seed = 42,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Judge labelers on gold before they label: is any better than the gold-only student?"""
    options = GateOptions(
        labelers=tuple(labeler_name(given) for given in labelers or ()),
        baseline=None if baseline is None else f"run:{baseline}",
        split=split,
        seed=seed,
        device=device,
    )
    workspace = open_home(context)
    chosen = named(workspace, project)
    result = run_step(workspace, chosen, "gate", options, as_json=as_json)
    if as_json:
        show(result, [], as_json=True)
        return
    gate_table(result)
    show(result, [*result["notes"], result["sentence"]], as_json=False)


def gate_table(result: dict[str, Any]) -> None:
    """The judged labelers, the student and its untrained base, as a table."""
    from augsbert_core.steps.gate import gate_cells

    headings = {
        "scorer": "Scorer", "value": f">{result['metric'].capitalize()}×100", "interval": ">95 % interval",
        "difference": ">Minus student", "apart": ">95 % interval ",
    }  # fmt: skip
    table(headings, gate_cells(result))


def preview(
    context: typer.Context,
    project: ProjectName,
    candidates: Candidates,
    labeler: Labeler,
    n_pairs: Annotated[int, typer.Option(min=1, max=100_000, help="How many to score.")] = 200,
    both_orders: BothOrders = False,
    batch_size: BatchSize = 64,
    seed: Seed = 42,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Score a few candidates by way of trial: the spread of the scores and the labeler's speed."""
    from augsbert_core.steps.preview import fact_lines

    options = PreviewOptions(
        candidate_set_id=candidates,
        labeler=labeler_name(labeler),
        n_pairs=n_pairs,
        both_orders=both_orders,
        batch_size=batch_size,
        seed=seed,
        device=device,
    )
    workspace = open_home(context)
    result = run_step(workspace, named(workspace, project), "preview", options, as_json=as_json)
    low, high = result["high_share_interval"]
    lines = [
        *fact_lines(result),
        f"{result['n_previewed']:,} pairs scored at {result['pairs_per_second'] or 0:,.0f} pairs per second; no silver "
        "set was made.",
        f"In the upper half of the scale: {result['high_share']:.0%} (95 % interval {low:.0%} to {high:.0%}).",
    ]
    show(result, lines, as_json=as_json)


def label(
    context: typer.Context,
    project: ProjectName,
    candidates: Candidates,
    labeler: Labeler,
    both_orders: BothOrders = False,
    batch_size: BatchSize = 64,
    max_length: Annotated[
        int | None,
        typer.Option(min=8, help="Cut longer pairs.", show_default="the labeler's"),
    ] = None,
    decisions_from: Annotated[
        int | None,
        typer.Option(
            metavar="ID",
            min=1,
            max=2**62,
            help="Carry over what people decided on the pairs of this silver set.",
            show_default="none",
        ),
    ] = None,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Let the labeler score a candidate set: a new silver set."""
    options = LabelOptions(
        candidate_set_id=candidates,
        labeler=labeler_name(labeler),
        both_orders=both_orders,
        decisions_from=decisions_from,
        batch_size=batch_size,
        max_length=max_length,
        device=device,
    )
    workspace = open_home(context)
    result = run_step(workspace, named(workspace, project), "label", options, as_json=as_json)
    show(result, [label_line(result)], as_json=as_json)


def label_line(result: dict[str, Any]) -> str:
    """What a labelling has made, and what it cost."""
    known = f", {result['n_reused']:,} of them known before" if result["n_reused"] else ""
    passes = (
        ""
        if result["passes_per_pair"] == 1
        else f" with {result['n_passes']:,} cross-encoder passes"
    )
    carried = result.get("n_carried")
    decisions = f" {carried:,} decisions were carried over." if carried is not None else ""
    return (
        f"Silver set {result['silver_set_id']}: {result['n_scored']:,} pairs scored{passes} "
        f"in {result['seconds']:.0f} s{known}.{decisions}"
    )
