"""Commands about what people said in an annotation task: how far they agree, merging to gold, and the raw scores."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from augsbert_core.cli.console import AsJson, Seed, open_home, show, table
from augsbert_core.cli.exporting import Kind, Safe, Table, export
from augsbert_core.options import TaskOptions

if TYPE_CHECKING:
    from augsbert_core.steps.agreement import Figure

TASK = TaskOptions()
TaskId = Annotated[
    int, typer.Argument(metavar="TASK", min=1, max=2**62, help="Number of the task.")
]


def register(annotate: typer.Typer) -> None:
    """Add these commands to `augsbert annotate`, and one to `augsbert export`."""
    annotate.command("agreement")(agreement)
    annotate.command("merge")(merge)
    export.command("annotations")(export_annotations)


def agreement(context: typer.Context, task: TaskId, as_json: AsJson = False) -> None:
    """How far the annotators of a task agree: Krippendorff's α, Fleiss' κ, rank correlation, and each of them."""
    from augsbert_core.steps.agreement import agreement as measure
    from augsbert_core.storage.annotation_progress import annotators
    from augsbert_core.storage.annotation_tasks import get_task

    workspace = open_home(context)
    report = measure(workspace, task)
    scale = get_task(workspace, task).score_range
    width, on_scale = scale.high - scale.low, f"{scale.low:g}–{scale.high:g}"
    people = [asdict(person) for person in annotators(workspace, task)]
    figures = {
        "Krippendorff's α, interval": report.alpha_interval,
        "Krippendorff's α, nominal": report.alpha_nominal,
        "Fleiss' κ": report.fleiss,
        "Mean pairwise Spearman": report.mean_spearman,
    }
    if as_json:
        named_figures = {name: asdict(figure) for name, figure in figures.items()}
        named_figures["Mean distance"] = _stretched(
            asdict(report.mean_apart), ("value", "interval"), width
        )
        result = {
            "task_id": task,
            "figures": named_figures,
            "unit": f"points of the scale {on_scale}, of mean distance, mean, bias and spread",
            "annotators": [
                _stretched(asdict(person), ("bias", "spread"), width)
                | {"mean": None if person.mean is None else scale.to_raw(person.mean)}
                for person in report.annotators
            ],
            "progress": people,
            "reading": report.reading,
            "anchoring": report.anchoring,
        }
        show(result, [], as_json=True)
        return
    lines = [f"{name}: {_figure_text(figure)}" for name, figure in figures.items()]
    lines.append(f"Mean distance, on {on_scale}: {_figure_text(report.mean_apart, width)}")
    lines.append("In brackets: 95 % bootstrap intervals over pairs.")
    warned = [report.anchoring] if report.anchoring else []
    show({}, [*lines, report.reading, *warned], as_json=False)
    headings = {
        "name": "Annotator", "n_scores": ">Scores", "n_shared": ">Shared", "bias": f">Bias, on {on_scale}",
        "spread": f">Spread, on {on_scale}",
    }  # fmt: skip
    rows = [
        {
            "name": person.name,
            "n_scores": str(person.n_scores),
            "n_shared": str(person.n_shared),
            "bias": "" if person.bias is None else f"{width * person.bias:+.2f}",
            "spread": "" if person.spread is None else f"{width * person.spread:.2f}",
        }
        for person in report.annotators
    ]
    table(headings, rows)


def _figure_text(figure: "Figure", width: float = 1.0) -> str:
    """A measure with its interval, "0.770 [0.512, 0.901] on 4 pairs". width: of the scale that it is in points of."""
    if figure.value is None:
        return figure.reason
    told = "(no interval)"
    if figure.interval is not None:
        low, high = (width * end for end in figure.interval)
        told = f"[{low:.3f}, {high:.3f}]"
    return f"{width * figure.value:.3f} {told} on {figure.n_pairs:,} pairs"


def _stretched(facts: dict[str, Any], names: Sequence[str], width: float) -> dict[str, Any]:
    """Facts with some in points of a scale so wide instead of parts of it."""
    changed: dict[str, Any] = {}
    for name in names:
        value = facts[name]
        if isinstance(value, tuple):
            changed[name] = [width * end for end in value]
        else:
            changed[name] = None if value is None else width * value
    return facts | changed


def merge(
    context: typer.Context,
    task: TaskId,
    how: Annotated[
        Literal["mean", "median", "adjudicated"],
        typer.Option(help="adjudicated: those settled, and those on which all agree."),
    ] = "mean",
    min_scores: Annotated[int, typer.Option(min=1, help="Leave out pairs with fewer scores.")] = 1,
    split: Annotated[
        Literal["train", "dev", "test"] | None,
        typer.Option(help="Put all pairs there.", show_default="dealt out"),
    ] = None,
    keep_gold: Annotated[
        bool, typer.Option("--keep-gold", help="Leave the scores of pairs that are gold already.")
    ] = False,
    seed: Seed = TASK.seed,
    as_json: AsJson = False,
) -> None:
    """Make gold pairs of a task's scores; the scores of each person are kept."""
    from augsbert_core.steps.merge_annotations import merge as merge_to_gold
    from augsbert_core.storage.annotation_tasks import get_task
    from augsbert_core.storage.projects import get_project

    workspace = open_home(context)
    project = get_project(workspace, get_task(workspace, task).project_id)
    done = merge_to_gold(
        workspace,
        project,
        task,
        how=how,
        min_scores=min_scores,
        split=split or "",
        seed=seed,
        replace_gold=not keep_gold,
    )
    dealt = ", ".join(f"{count:,} {name}" for name, count in done.splits.items())
    lines = [
        f"{done.n_added:,} pairs added{f' ({dealt})' if dealt else ''}, {done.n_changed:,} changed.",
        *(f"{count:,} {reason}." for reason, count in done.left_out.items()),
        *done.notes,
    ]
    show({"task_id": task, **asdict(done)}, lines, as_json=as_json)


def export_annotations(
    context: typer.Context,
    task: TaskId,
    output: Table,
    kind: Kind = None,
    safe: Safe = None,
    as_json: AsJson = False,
) -> None:
    """Write what each annotator decided, one row each: score, order shown, seconds, flags, suggestion seen."""
    from augsbert_core.exporting.files import expanded
    from augsbert_core.exporting.formats import write_table
    from augsbert_core.exporting.tables import typed_columns
    from augsbert_core.storage.annotation_rows import raw_rows

    target = expanded(output)
    names, rows = raw_rows(open_home(context), task)
    columns = typed_columns(names, rows or [(None,) * len(names)])
    n_rows = write_table(target, columns, rows, kind, safe)
    result = {"task_id": task, "output": str(target), "n_rows": n_rows}
    show(result, [f"{target}: {n_rows:,} rows."], as_json=as_json)
