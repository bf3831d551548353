"""Commands that decide on many silver pairs at once, take that back, and show who decided what."""

import getpass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from augsbert_core.cli.console import AsJson, open_home, show, table
from augsbert_core.errors import WorkbenchError
from augsbert_core.person_names import checked_person, clean_line

if TYPE_CHECKING:
    from augsbert_core.pairs import ScoreRange
    from augsbert_core.storage.database import Workspace
    from augsbert_core.storage.silver_filters import SilverFilter

SilverSetId = Annotated[
    int, typer.Argument(metavar="SET", min=1, max=2**62, help="The silver set.")
]
Actor = Annotated[
    str, typer.Option(help="Whose decision it is.", show_default="the name of your account")
]
Status = Literal["accepted", "rejected", "flagged", "unreviewed"]
LeaveChanged = Annotated[
    bool,
    typer.Option(
        "--leave-changed", help="Leave pairs that someone else has decided on since as they are."
    ),
]
MOST_SHOWN = 1000


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command()(review)
    app.command("undo-review")(undo_review)
    app.command("redo-review")(redo_review)
    app.command("review-log")(review_log)


def review(
    context: typer.Context,
    silver_set: SilverSetId,
    status: Annotated[Status | None, typer.Option(help="What the pairs become.")] = None,
    rescale: Annotated[
        str | None,
        typer.Option(
            metavar="LO:HI",
            help="Instead: correct the pairs by mapping the labeler's whole scale onto this part of it.",
        ),
    ] = None,
    min_score: Annotated[
        float | None, typer.Option(help="Only pairs that score at least this, on the scale.")
    ] = None,
    max_score: Annotated[
        float | None, typer.Option(help="Only pairs that score at most this.")
    ] = None,
    with_status: Annotated[
        list[str] | None,
        typer.Option(metavar="STATUS", help="Only pairs of this status; may be repeated."),
    ] = None,
    min_rank: Annotated[
        int | None, typer.Option(min=1, help="Only pairs of this sampler rank or a later one.")
    ] = None,
    max_rank: Annotated[int | None, typer.Option(min=1, help="Or an earlier one.")] = None,
    text: Annotated[str, typer.Option(help="Only pairs with this text in a sentence.")] = "",
    actor: Actor = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Count the pairs that pass, and change nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Accept, reject, flag or rescale every pair of a silver set that passes a filter, as one edit."""
    from augsbert_core.storage import projects, reviews, silver_sets
    from augsbert_core.storage.silver_bins import STATUSES
    from augsbert_core.storage.silver_filters import SilverFilter
    from augsbert_core.storage.silver_pages import filtered_ids

    if (status is None) == (rescale is None):
        raise typer.BadParameter("Give one of --status and --rescale.", param_hint="'--status'")
    if unknown := [word for word in with_status or () if word not in STATUSES]:
        raise typer.BadParameter(
            f"{unknown[0]!r} is none of {', '.join(STATUSES)}.", param_hint="'--with-status'"
        )
    workspace = open_home(context)
    found = silver_sets.get_silver_set(workspace, silver_set)
    scale = projects.get_project(workspace, found.project_id).score_range
    onto = None if rescale is None else _part_of(scale, rescale)
    chosen = SilverFilter(
        low=0.0 if min_score is None else _unit(scale, min_score, "--min-score"),
        high=1.0 if max_score is None else _unit(scale, max_score, "--max-score"),
        statuses=tuple(with_status or ()),
        min_rank=min_rank,
        max_rank=max_rank,
        text=text,
    )
    ids = filtered_ids(workspace, silver_set, chosen)
    what = f"rescaled to {rescale}" if status is None else str(status)
    result: dict[str, Any] = {"silver_set_id": silver_set, "n_found": len(ids), "n_changed": 0}
    if dry_run or not len(ids):
        line = (
            f"{len(ids):,} pairs of silver set {silver_set} pass the filter; nothing was changed."
        )
        show(result, [line], as_json=as_json)
        return
    question = f"{len(ids):,} pairs of silver set {silver_set} become {what}. Go on?"
    if not yes and not typer.confirm(question, err=True):
        raise WorkbenchError("Nothing was changed.")
    who, summary = _who(actor), f"{what}: {_in_words(chosen, scale)}"
    if onto is not None:
        low, high = onto
        n_changed = reviews.rescale_many(
            workspace, silver_set, ids, low=low, high=high, actor=who, summary=summary
        )
    else:
        n_changed = reviews.review_many(
            workspace, silver_set, ids, status=str(status), actor=who, summary=summary
        )
    line = f"{n_changed:,} pairs {what}; `augsbert undo-review {silver_set}` takes it back."
    if n_changed < len(ids):
        line += f" {len(ids) - n_changed:,} stay as they were."
    show(result | {"n_changed": n_changed}, [line], as_json=as_json)


def undo_review(
    context: typer.Context,
    silver_set: SilverSetId,
    actor: Actor = "",
    leave_changed: LeaveChanged = False,
) -> None:
    """Take back your latest decision in a silver set; again, the one before."""
    _turn(open_home(context), "undo", silver_set, actor, leave_changed)


def redo_review(
    context: typer.Context,
    silver_set: SilverSetId,
    actor: Actor = "",
    leave_changed: LeaveChanged = False,
) -> None:
    """Do the decision again that you took back last."""
    _turn(open_home(context), "redo", silver_set, actor, leave_changed)


def _turn(
    workspace: "Workspace", which: str, silver_set: int, actor: str, leave_changed: bool
) -> None:
    from augsbert_core.storage import edits

    name = _who(actor)
    turn = edits.undo if which == "undo" else edits.redo
    try:
        done = turn(
            workspace, edits.Scope.silver(silver_set), name, leave_overwritten=leave_changed
        )
    except edits.Overwritten as error:
        raise WorkbenchError(
            f"{error} --leave-changed leaves what others have changed as it is."
        ) from None
    typer.echo(done or f"{name} has nothing to {which} in silver set {silver_set}.")


def review_log(
    context: typer.Context,
    silver_set: SilverSetId,
    actor: Annotated[str, typer.Option(help="Only what this person did.")] = "",
    last: Annotated[
        int, typer.Option(min=1, max=MOST_SHOWN, help="So many rows, newest first.")
    ] = 50,
    as_json: AsJson = False,
) -> None:
    """Show who decided what in a silver set, newest first, with what was undone and redone."""
    from dataclasses import asdict

    from augsbert_core.storage import edits, silver_sets

    workspace = open_home(context)
    silver_sets.get_silver_set(workspace, silver_set)
    scope = edits.Scope.silver(silver_set)
    actor = clean_line(actor, len(actor))
    rows = edits.edit_log(workspace, scope, actor=actor, limit=last)
    n_rows = edits.count_edits(workspace, scope, actor=actor)
    if as_json or not rows:
        result = {"n_edits": n_rows, "edits": [asdict(row) for row in rows]}
        show(result, ["Nobody has decided on a pair of this set yet."], as_json=as_json)
        return
    headings = {
        "id": ">Edit", "at": "When", "actor": "Who", "kind": "What", "n_changes": ">Pairs", "state": "State",
        "summary": "Details",
    }  # fmt: skip
    table(
        headings,
        [{key: _cell(getattr(row, key)) for key in headings} for row in rows],
    )
    if n_rows > len(rows):
        typer.echo(f"{n_rows - len(rows):,} earlier rows; --last shows more.")


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _who(actor: str) -> str:
    """The name that decisions are kept under. WorkbenchError: it cannot be read, or is too long."""
    return checked_person(actor or account())


def account() -> str:
    """The name of the account that the command runs under."""
    try:
        return getpass.getuser() or "reviewer"
    except (OSError, KeyError):  # no account name, as in some containers
        return "reviewer"


def _unit(scale: "ScoreRange", raw: float, option: str) -> float:
    """A score of the project's scale in [0, 1]."""
    try:
        return scale.to_unit(raw)
    except ValueError:
        raise typer.BadParameter(
            f"{raw:g} is not on the project's scale, {scale}.", param_hint=f"'{option}'"
        ) from None


def _part_of(scale: "ScoreRange", text: str) -> tuple[float, float]:
    """The lowest and highest score that --rescale names, in [0, 1]."""
    from augsbert_core.pairs import ScoreRange

    wanted = ScoreRange.parse(text)
    return _unit(scale, wanted.low, "--rescale"), _unit(scale, wanted.high, "--rescale")


def _in_words(chosen: "SilverFilter", scale: "ScoreRange") -> str:
    """What a filter lets pass, for the log."""
    parts = []
    if (chosen.low, chosen.high) != (0.0, 1.0):
        parts.append(f"score {scale.to_raw(chosen.low):g} to {scale.to_raw(chosen.high):g}")
    if chosen.statuses:
        parts.append(f"status {' or '.join(chosen.statuses)}")
    if chosen.has_ranks:
        ends = (chosen.min_rank or 1, "any" if chosen.max_rank is None else chosen.max_rank)
        parts.append(f"rank {ends[0]} to {ends[1]}")
    if chosen.text.strip():
        parts.append(f"text {chosen.text.strip()[:60]!r}")
    return ", ".join(parts) or "all pairs"
