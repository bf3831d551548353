"""Commands around annotation tasks: make one, score from a file, write a guideline, close and remove."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from augsbert_core.cli import annotation_results
from augsbert_core.cli.annotation_results import TaskId
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
from augsbert_core.cli.exporting import Kind, Safe, Table
from augsbert_core.errors import WorkbenchError
from augsbert_core.options import TaskOptions
from augsbert_core.options.annotating import AUDIT_QUEUE

if TYPE_CHECKING:
    from augsbert_core.scales import Level
    from augsbert_core.storage.records import AnnotationTask

TASK = TaskOptions()

annotate = typer.Typer(
    help="Have people score pairs: tasks, scores from files, agreement, and merging to gold.",
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.add_typer(annotate, name="annotate")
    annotation_results.register(annotate)


@annotate.command("new")
def new(
    context: typer.Context,
    project: ProjectName,
    name: Annotated[str, typer.Option(help="Name of the task.", show_default="a number")] = "",
    kind: Annotated[
        Literal["scores", "best-worst"],
        typer.Option(help="best-worst: the most and the least similar of four pairs."),
    ] = "scores",
    purpose: Annotated[
        Literal["gold", "audit"], typer.Option(help="To become gold, or to judge a labeler.")
    ] = "gold",
    candidates: Annotated[
        int | None, typer.Option(metavar="ID", min=1, max=2**62, help="Pairs of a candidate set.")
    ] = None,
    silver: Annotated[
        int | None, typer.Option(metavar="ID", min=1, max=2**62, help="Pairs of a silver set.")
    ] = None,
    gold: Annotated[bool, typer.Option("--gold", help="Gold pairs, to be scored again.")] = False,
    split: Annotated[
        Literal["train", "dev", "test"] | None,
        typer.Option(help="gold: of this split alone.", show_default="all"),
    ] = None,
    queue: Annotated[
        str | None,
        typer.Option(
            help="Which pairs, and in which order; `annotate queues` lists them.",
            show_default=f"{TASK.queue}; {AUDIT_QUEUE} for an audit",
        ),
    ] = None,
    pairs: Annotated[int, typer.Option(min=1, help="Pairs to score.")] = TASK.n_pairs,
    scale: Annotated[
        Literal["0-5", "0-1", "binary", "custom"], typer.Option(help="custom: see --level.")
    ] = "0-5",
    level: Annotated[
        list[str] | None,
        typer.Option(metavar="WORD=SCORE", help="custom: a label and its score from 0 to 1; repeat it."),
    ] = None,
    people: Annotated[
        int, typer.Option(min=1, help="So many people score each pair, or answer each tuple.")
    ] = TASK.n_scores,
    tuples_per_pair: Annotated[
        float, typer.Option(min=0.25, help="best-worst: 4-pair tuples per pair.")
    ] = TASK.tuples_per_pair,
    threshold: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="Queue threshold: from 0 to 1.", show_default="the labeler's"),
    ] = None,
    student: Annotated[
        str, typer.Option(metavar="RUN|MODEL", help="The bi-encoder of the queue, where it needs one.")
    ] = TASK.student,
    seed: Seed = TASK.seed,
    device: Device = TASK.device,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Choose pairs for people to score, as a task."""
    from augsbert_core.cli.labelling import model_name
    from augsbert_core.steps.make_task import create_now, needs_model
    from augsbert_core.storage.annotation_tasks import get_task, list_tasks
    from augsbert_core.storage.runs import get_run

    if [candidates is not None, silver is not None, gold].count(True) != 1:
        raise typer.BadParameter(
            "Give one source of pairs.", param_hint="--candidates, --silver or --gold"
        )
    options = TaskOptions(
        name=name,
        kind=kind,
        purpose=purpose,
        source="gold" if gold else "silver" if silver else "candidates",
        candidate_set_id=candidates,
        silver_set_id=silver,
        split=split or "",
        queue=queue or (AUDIT_QUEUE if purpose == "audit" else TASK.queue),
        n_pairs=pairs,
        scale=scale,
        levels=_levels(level or []),
        n_scores=people,
        tuples_per_pair=tuples_per_pair,
        threshold=threshold,
        student=model_name(student),
        seed=seed,
        device=device,
    )  # fmt: skip
    workspace = open_home(context)
    chosen = named(workspace, project)
    if needs_model(workspace, chosen, options):
        run_id = run_step(workspace, chosen, "annotate", options, as_json=as_json)["run_id"]
        (task,) = [one for one in list_tasks(workspace, chosen.id) if one.run_id == run_id]
    else:
        task = get_task(workspace, create_now(workspace, chosen, options))
    what = f"{task.n_items:,} pairs" + (f" in {task.n_tuples:,} tuples" if task.n_tuples else "")
    number = f"Task {task.id}"
    title = number if task.name == number else f"{number}, {task.name}"
    notices = get_run(workspace, task.run_id).metrics.get("notices", [])
    show({**_facts(task), "notices": notices}, [f"{title}: {what}.", *notices], as_json=as_json)


def _levels(told: list[str]) -> "tuple[Level, ...]":
    from augsbert_core.scales import custom_levels

    words = []
    for text in told:
        label, _, score = text.rpartition("=")
        try:
            words.append((label, float(score)))
        except ValueError:
            raise WorkbenchError(
                f"Level {text!r} was not understood. Write it as WORD=SCORE, for example same=1."
            ) from None
    return custom_levels(words) if words else ()


def _facts(task: "AnnotationTask") -> dict[str, Any]:
    facts = asdict(task)
    facts["task_id"] = facts.pop("id")
    return facts


@annotate.command("queues")
def queues(as_json: AsJson = False) -> None:
    """The ways to choose pairs, with what each needs."""
    from augsbert_core.queues import QUEUES

    rows = [
        {"name": name, "sources": " ".join(queue.sources), "help": queue.help}
        for name, queue in QUEUES.items()
    ]
    if as_json:
        show({"queues": rows}, [], as_json=True)
    else:
        table({"name": "Queue", "sources": "For", "help": "What it does"}, rows)


@annotate.command("tasks")
def tasks(context: typer.Context, project: ProjectName, as_json: AsJson = False) -> None:
    """The annotation tasks of a project, newest first, with how far they are."""
    from augsbert_core.storage.annotation_tasks import list_tasks

    workspace = open_home(context)
    found = list_tasks(workspace, named(workspace, project).id)
    if as_json:
        show({"tasks": [_facts(task) for task in found]}, [], as_json=True)
        return
    headings = {
        "id": ">Task", "name": "Name", "kind": "Kind", "purpose": "For", "queue": "Queue",
        "n_items": ">Pairs", "n_answers": ">Answers", "wanted": ">Wanted", "state": "State",
    }  # fmt: skip
    rows = [
        {
            **{key: str(getattr(task, key)) for key in headings if hasattr(task, key)},
            "wanted": str(task.n_wanted),
            "state": "closed" if task.closed else "open",
        }
        for task in found
    ]
    table(headings, rows)


@annotate.command("score")
def score(
    context: typer.Context,
    task: TaskId,
    file: Annotated[Path, typer.Argument(help="A table with score, and item or sentence1 and sentence2.")],
    annotator: Annotated[
        str, typer.Option(help="Whose scores these are.", show_default="the column annotator")
    ] = "",
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Save scores from a file, on the raw scale or as labels; `augsbert annotate sheet` writes one to fill in."""
    from augsbert_core.steps.score_file import add_score_file

    saved = add_score_file(open_home(context), task, file, annotator)
    lines = [f"{name}: {count:,} scores." for name, count in saved.items()]
    show({"task_id": task, "saved": saved}, lines or ["No row has a score."], as_json=as_json)


@annotate.command("sheet")
def sheet(
    context: typer.Context,
    task: TaskId,
    output: Table,
    annotator: Annotated[
        str, typer.Option(help="Who will score: each gets the two sentences in an order of their own.")
    ],
    kind: Kind = None,
    safe: Safe = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Write the pairs of a task that someone has not scored yet, with an empty column for the score."""
    from augsbert_core.exporting.files import expanded
    from augsbert_core.exporting.formats import write_table
    from augsbert_core.exporting.tables import Column
    from augsbert_core.steps.score_file import SHEET_COLUMNS, sheet_rows
    from augsbert_core.storage.annotation_tasks import get_task

    target = expanded(output)
    workspace = open_home(context)
    scale = _scale_text(get_task(workspace, task))
    rows = [(*row, scale) for row in sheet_rows(workspace, task, annotator)]
    n_rows = write_table(target, (*SHEET_COLUMNS, Column("scale")), rows, kind, safe)
    result = {"task_id": task, "output": str(target), "n_rows": n_rows, "scale": scale}
    lines = [f"{target}: {n_rows:,} pairs.", f"Scores: {scale}."]
    show(result, lines, as_json=as_json)


def _scale_text(task: "AnnotationTask") -> str:
    """The scores that a sheet takes, in words."""
    from augsbert_core.scales import level_labels

    labels = level_labels(task.scale, task.levels, task.score_range)
    if task.scale in ("custom", "binary"):
        return f"one of {', '.join(labels)}"
    return f"a number from {labels[0]} to {labels[-1]}"


@annotate.command("guideline")
def guideline(
    context: typer.Context,
    project: ProjectName,
    file: Annotated[
        Path | None,
        typer.Argument(help="Markdown to show beside each pair.", show_default="print what is set"),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Even if there is another guideline already.")
    ] = False,
) -> None:
    """Print the guideline for annotators, or set it from a file."""
    from augsbert_core.storage.projects import GuidelineChanged, set_guideline

    workspace = open_home(context)
    found = named(workspace, project)
    if file is None:
        typer.echo(found.guideline)
        return
    try:
        text = file.expanduser().read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise WorkbenchError(f"{file} cannot be read as UTF-8 text ({error}).") from error
    try:
        set_guideline(workspace, found.id, text, seen=None if replace else "")
    except GuidelineChanged as clash:
        raise WorkbenchError(
            f"{found.name} has another guideline already, of {len(clash.text):,} characters; nothing was changed. Leave out "
            "the file to see it, and say --replace to put yours in its place."
        ) from clash
    typer.echo(f"The guideline of {found.name} has {len(text.strip()):,} characters.")


@annotate.command("close")
def close(context: typer.Context, task: TaskId) -> None:
    """Let a task take no more scores."""
    from augsbert_core.storage.annotation_tasks import close_task

    close_task(open_home(context), task)
    typer.echo(f"Task {task} is closed.")


@annotate.command("reopen")
def reopen(context: typer.Context, task: TaskId) -> None:
    """Let a closed task take scores again."""
    from augsbert_core.storage.annotation_tasks import reopen_task

    reopen_task(open_home(context), task)
    typer.echo(f"Task {task} is open.")


@annotate.command("delete")
def delete(
    context: typer.Context,
    task: TaskId,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Remove a task with every score that people gave in it. Gold that was made of it stays."""
    from augsbert_core.storage.annotation_tasks import delete_task, get_task

    workspace = open_home(context)
    found = get_task(workspace, task)
    question = f"Remove {found.name} with {found.n_answers:,} scores or answers for good?"
    if not yes:
        if not sys.stdin.isatty():
            raise WorkbenchError(f"{question} Nobody is there to answer: say --yes to confirm.")
        if not typer.confirm(question):
            raise WorkbenchError("Nothing was removed.")
    typer.echo(f"Task {task} is removed with {delete_task(workspace, task):,} scores or answers.")
