"""Undo, redo, and the log of who decided what: for a silver set, and for the gold pairs of a project."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import pandas as pd
import streamlit as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.pairs import ScoreRange
from augsbert_core.storage import edits
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.edit_details import EditDetail, edit_details
from augsbert_core.ui.notices import Refused
from augsbert_core.ui.widgets import as_text, bar_for_long_work, table_pager, time_text

LOG_ROWS = 50
LOG_COLUMNS = [
    "When",
    "Who",
    "What",
    "New score",
    "Sentence 1",
    "Sentence 2",
    "Pairs",
    "Taken back",
]
ROW_PIXELS = 66
"""Room for three lines; text wraps in rows above 64 pixels."""
EVERYBODY = "Everybody"
OVERWRITTEN = "edits-overwritten"

Direction = Literal["undo", "redo"]
Tell = Callable[[str], None]
"""Called with what was done, or as `Refused` with why nothing was; it draws what has changed anew."""

KEYS: dict[Direction, str] = {"undo": "u", "redo": "shift+u"}
STATES = {"applied": "", "undone": "undone", "dropped": "undone", "logged": ""}
"""State of an edit → what the log says of it."""

KINDS = {"undo": "Undo · ", "redo": "Redo · "}
"""Kind of an edit → what its words begin with."""


def edit_buttons(
    workspace: Workspace, scope: edits.Scope, actor: str, tell: Tell, *, keys: bool = False
) -> None:
    """Undo and Redo of one person's own edits, each saying what it would do.

    keys: also by U and Shift + U. Not where keys are typed into a table: the browser cannot tell the two apart.
    """
    state = edits.undo_state(workspace, scope, actor)
    turns: tuple[tuple[Direction, str | None], ...] = (("undo", state.undo), ("redo", state.redo))
    for direction, what in turns:
        st.button(
            direction.capitalize(),
            # Where the key is shown, there is no room for a picture too.
            icon=None if keys else f":material/{direction}:",
            key=f"{direction}-edit",
            disabled=what is None,
            shortcut=KEYS[direction] if keys else None,
            help=_tooltip(direction, what),
            on_click=take_back,
            args=(workspace, scope, actor, direction, tell),
        )


def _tooltip(direction: Direction, what: str | None) -> str:
    if what is None:
        return (
            "There is nothing of yours to take back."
            if direction == "undo"
            else "There is nothing of yours that was taken back."
        )
    return as_text(f"{direction.capitalize()}: {what}")


def take_back(
    workspace: Workspace,
    scope: edits.Scope,
    actor: str,
    direction: Direction,
    tell: Tell,
    leave_overwritten: bool = False,
) -> None:
    """Undo or redo the last edit of a person; for the callback of a button.

    What someone has since overwritten is told and offered to be left as it is.
    """
    st.session_state.pop(OVERWRITTEN, None)
    act = edits.undo if direction == "undo" else edits.redo
    try:
        done = act(
            workspace,
            scope,
            actor,
            leave_overwritten=leave_overwritten,
            report=bar_for_long_work(),
        )
        tell(done or f"There is nothing to {direction}.")
    except edits.Overwritten as error:
        st.session_state[OVERWRITTEN] = (
            scope,
            actor,
            direction,
            str(error),
            error.n_pairs < error.n_all,
        )
        tell("")
    except WorkbenchError as error:
        tell(Refused(error))


def overwritten_notice(workspace: Workspace, scope: edits.Scope, actor: str, tell: Tell) -> None:
    """Why an edit was not taken back, and a button that takes back the rest of it."""
    kept = st.session_state.get(OVERWRITTEN)
    if kept is None or kept[:2] != (scope, actor):
        return
    direction, why, has_rest = kept[2:]
    with st.container(border=True, key="edits-overwritten"):
        st.warning(as_text(why), icon=":material/block:")
        with st.container(horizontal=True):
            st.button(
                f"{direction.capitalize()} the other pairs"
                if has_rest
                else "Go on with the edit before",
                icon=f":material/{direction}:",
                key="edits-take-rest",
                on_click=take_back,
                args=(workspace, scope, actor, direction, tell, True),
                help="Pairs that someone else has since decided on stay as they are.",
            )
            st.button(
                "Leave all as it is",
                key="edits-leave",
                type="tertiary",
                on_click=st.session_state.pop,
                args=(OVERWRITTEN, None),
                help="Nothing is taken back, neither these pairs nor the others.",
            )


def edit_log_panel(
    workspace: Workspace, scope: edits.Scope, key: str, scale: ScoreRange | None = None
) -> None:
    """Who did what, when, to which pair or how many, and what was taken back; read only while it is open.

    scale: of scores that are kept in [0, 1]; None where they are raw ones.
    """
    panel = st.expander(
        "Log of decisions", icon=":material/history:", key=f"{key}-log", on_change="rerun"
    )
    if not panel.open:
        return
    with panel:
        people = edits.actors(workspace, scope)
        if not people:
            st.caption("Nobody has decided anything here yet.")
            return
        chosen = st.selectbox(
            "Person",
            [EVERYBODY, *people],
            key=f"{key}-log-actor",
            persist_state="session",
            help="Whose decisions are listed; undo takes back your own only.",
        )
        actor = "" if chosen == EVERYBODY else chosen
        total = edits.count_edits(workspace, scope, actor=actor)
        offset = table_pager(total, f"{key}-log-{actor}", LOG_ROWS)
        rows = edits.edit_log(workspace, scope, actor=actor, offset=offset, limit=LOG_ROWS)
        details = edit_details(workspace, scope, [row.id for row in rows])
        st.dataframe(
            log_frame(rows, details, scale),
            hide_index=True,
            row_height=ROW_PIXELS,
            height=min(40 + ROW_PIXELS * len(rows), 470),
            column_config={
                "When": st.column_config.TextColumn(width=120),
                "Who": st.column_config.TextColumn(width=90),
                "What": st.column_config.TextColumn(width=190),
                "New score": st.column_config.TextColumn(
                    width=75,
                    alignment="right",
                    help="What the pair has since; empty for several pairs.",
                ),
                "Sentence 1": st.column_config.TextColumn("Sentence 1", width=200),
                "Sentence 2": st.column_config.TextColumn("Sentence 2", width=200),
                "Pairs": st.column_config.NumberColumn(format="localized", width=60),
                "Taken back": st.column_config.TextColumn(width=85),
            },
            alt="Log of edits, newest first",
        )


def log_frame(
    rows: Sequence[edits.EditRow],
    details: Mapping[int, EditDetail],
    scale: ScoreRange | None = None,
) -> pd.DataFrame:
    """The log as people read it, newest first. details: of the edits of one pair. scale: as in `edit_log_panel`."""
    return pd.DataFrame(
        [_log_row(row, details.get(row.id), scale) for row in rows], columns=LOG_COLUMNS
    )


def _log_row(
    row: edits.EditRow, detail: EditDetail | None, scale: ScoreRange | None
) -> tuple[str, str, str, str, str, str, int, str]:
    what, score, first, second = row.summary, "", f"{row.n_changes:,} pairs", ""
    if detail is not None:
        first, second = detail.sentence1, detail.sentence2
        # The summary begins with what was done and goes on with the first sentence, which has its own column.
        what = detail.status if scale is not None else row.summary.split(": ", 1)[0]
        if detail.score is not None:
            score = f"{detail.score if scale is None else scale.to_raw(detail.score):.2f}"
    elif row.n_changes == 1:
        first = "1 pair"
    what = KINDS.get(row.kind, "") + what
    state = STATES[row.state]
    return time_text(row.at), row.actor, what, score, first, second, row.n_changes, state
