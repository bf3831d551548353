"""Commands that audit a silver set and close the loop back into training."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from augsbert_core.cli.console import AsJson, Device, open_home, show, table
from augsbert_core.cli.experiments import Shared, Wait, launch_plan

if TYPE_CHECKING:
    from augsbert_core.metrics.audit import Estimate
    from augsbert_core.steps.audit import AuditReport
    from augsbert_core.storage.database import Workspace
    from augsbert_core.storage.records import AnnotationTask, Project

SilverSetId = Annotated[
    int, typer.Argument(metavar="SET", min=1, max=2**62, help="The silver set.")
]
MOST_SHOWN = 1000

audit = typer.Typer(
    help="How far a labeler is from people, from a few pairs that they score blind.",
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.add_typer(audit, name="audit")
    app.command("retrain")(retrain)
    app.command("relabelled")(compare_labels)


@audit.command("draw")
def draw(
    context: typer.Context,
    silver_set: SilverSetId,
    pairs: Annotated[int, typer.Option(min=1, help="Pairs to score.")] = 50,
    people: Annotated[int, typer.Option(min=1, help="So many people score each pair.")] = 1,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, max=2**31 - 1, help="Draws the pairs.", show_default="another per audit"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Draw pairs of a silver set, as many from each score region, as a task to be scored blind."""
    from augsbert_core.explain.phrases import many
    from augsbert_core.steps.audit import draw_audit
    from augsbert_core.storage.annotation_tasks import get_task

    workspace = open_home(context)
    owner = _owner(workspace, silver_set)
    task_id = draw_audit(workspace, owner, silver_set, pairs, seed, n_scores=people)
    task = get_task(workspace, task_id)
    show(
        {"task_id": task_id, "silver_set_id": silver_set, "n_pairs": task.n_items, "scale": task.scale},
        [f"Task {task_id}: {many(task.n_items, 'pair')} of silver set {silver_set} to score on the page Annotate."],
        as_json=as_json,
    )  # fmt: skip


@audit.command("report")
def report(
    context: typer.Context,
    silver_set: SilverSetId,
    as_json: AsJson = False,
) -> None:
    """What the newest audit of a silver set says about its labeler, with 95 % intervals."""
    from augsbert_core.steps.audit import audit_line, audit_report, audit_tasks

    workspace = open_home(context)
    _owner(workspace, silver_set)  # says so when there is no such set
    found = audit_report(workspace, silver_set)
    if found is None:
        drawn = next(iter(audit_tasks(workspace, silver_set)), None)
        result = {
            "silver_set_id": silver_set,
            "task_id": None if drawn is None else drawn.id,
            "n_scored": 0,
            "n_drawn": 0 if drawn is None else drawn.n_items,
        }
        lines = [_no_scores_text(silver_set, drawn)]
    else:
        result, lines = _report_facts(found), [audit_line(found)]
    show(result, lines, as_json=as_json)


def _no_scores_text(set_id: int, drawn: "AnnotationTask | None") -> str:
    """Why there is no report yet. drawn: the newest audit, None without one."""
    if drawn is None:
        return f"Silver set {set_id} has no audit. `augsbert audit draw` draws one."
    return (
        f"An audit of silver set {set_id} is drawn, 0 of {drawn.n_items:,} pairs scored: annotate task {drawn.id} on the "
        "page Annotate."
    )


def _report_facts(found: "AuditReport") -> dict[str, Any]:
    figures = found.figures
    names = ("mae", "bias", "rank_correlation", "wrong_positives", "wrong_of_positives")
    return {
        "silver_set_id": found.set_id,
        "task_id": found.task.id,
        "n_scored": figures.n_scored,
        "n_drawn": figures.n_drawn,
        "n_pairs": figures.n_pairs,
        "n_set": found.n_set,
        "covered": figures.covered,
        "unscored_strata": list(figures.unscored_strata),
        "threshold": figures.threshold,
        "n_seen": found.n_seen,
        "n_known": found.n_known,
        "is_census": figures.is_census,
        "equal_errors": figures.equal_errors,
        **{name: _facts(getattr(figures, name)) for name in names},
    }


def _facts(one: "Estimate") -> dict[str, float | None]:
    return {"value": one.value, "low": one.low, "high": one.high}


def retrain(
    context: typer.Context,
    silver_set: SilverSetId,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=2**31 - 1, help="Of all runs.", show_default="as before"),
    ] = None,
    epochs: Annotated[
        int | None,
        typer.Option(min=1, max=1000, help="Of the labeler.", show_default="as before"),
    ] = None,
    student: Annotated[
        bool, typer.Option("--student/--no-student", help="Train the student again too.")
    ] = True,
    device: Device = "auto",
    wait: Wait = True,
    share_device: Shared = False,
    as_json: AsJson = False,
) -> None:
    """Retrain the labeler with the corrections of a silver set, label its pairs again, and train the same student."""
    from augsbert_core.steps.plans import retrain as planned
    from augsbert_core.steps.plans.retrain import plan_words, retraining, unplanned_text

    workspace = open_home(context)
    chosen = _owner(workspace, silver_set)
    plan = planned(
        workspace, chosen, silver_set, seed=seed, device=device, epochs=epochs, with_student=student
    )
    if not as_json:
        start = retraining(workspace, chosen, silver_set)
        words = plan_words(start, epochs=epochs, with_student=student)
        for number, line in enumerate(words, 1):
            typer.echo(f"{number}. {line}", err=True)
        if missing := unplanned_text(start, with_student=student):
            typer.echo(missing, err=True)
    launch_plan(workspace, chosen, plan, wait=wait, shared=share_device, as_json=as_json)


def compare_labels(
    context: typer.Context,
    old: Annotated[int, typer.Argument(min=1, max=2**62, help="The silver set before.")],
    new: Annotated[int, typer.Argument(min=1, max=2**62, help="The silver set after.")],
    limit: Annotated[
        int, typer.Option(min=0, max=MOST_SHOWN, help="So many of the largest changes.")
    ] = 10,
    as_json: AsJson = False,
) -> None:
    """What changed between two labellings of the same pairs, and whether the labeler came closer to people."""
    from augsbert_core.steps.relabelled import (
        change_page,
        outcome,
        people_text,
        relabelled,
        summary_text,
    )

    workspace = open_home(context)
    found = relabelled(workspace, old, new)
    word, sentences = outcome(found)
    page = change_page(workspace, found, limit=limit)
    rows = page.astype(object).where(page.notna(), None).to_dict("records")
    show(
        {
            "old_set_id": old,
            "new_set_id": new,
            "n_pairs": found.n_pairs,
            "mean_change": _facts(found.mean_change),
            "n_corrected": found.n_corrected,
            "n_used": found.n_used,
            "n_accepted": found.n_accepted,
            "towards": found.towards,
            "away": found.away,
            "outcome": word,
            "changes": rows,
            **{
                name: None
                if one is None
                else {
                    "n": one.n, "before": _facts(one.before), "after": _facts(one.after),
                    "change": _facts(one.change),
                }
                for name, one in (("audited", found.audited), ("corrections", found.corrections))
            },
        },
        [summary_text(found), sentences],
        as_json=as_json,
    )  # fmt: skip
    if not as_json and rows:
        to_raw = found.score_range.to_raw
        table(
            {"old": ">Old", "new": ">New", "human": ">People", "moved": "Moved", "first": "Sentence 1", "second": "Sentence 2"},
            [
                {
                    "old": f"{to_raw(row['old']):.2f}",
                    "new": f"{to_raw(row['new']):.2f}",
                    "human": people_text(row["human"], row["basis"], row["old"], found.score_range),
                    "moved": row["moved"],
                    "first": row["sentence1"],
                    "second": row["sentence2"],
                }
                for row in rows
            ],
        )  # fmt: skip


def _owner(workspace: "Workspace", set_id: int) -> "Project":
    """The project of a silver set. WorkbenchError: there is no such set."""
    from augsbert_core.storage.projects import get_project
    from augsbert_core.storage.silver_sets import get_silver_set

    return get_project(workspace, get_silver_set(workspace, set_id).project_id)
