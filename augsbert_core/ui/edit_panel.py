"""Undo, redo, and the log of who decided what: for a silver set, and for the gold pairs of a project."""

from collections.abc import Callable, Sequence
from typing import Literal

import pandas as pd
import streamlit as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.storage import edits
from augsbert_core.storage.database import Workspace
from augsbert_core.ui.notices import Refused
from augsbert_core.ui.widgets import as_text, table_pager, time_text

LOG_ROWS = 50
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
        done = act(workspace, scope, actor, leave_overwritten=leave_overwritten)
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
            )


def edit_log_panel(workspace: Workspace, scope: edits.Scope, key: str) -> None:
    """Who did what, when, to how many pairs, and what was taken back; read only while it is open."""
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
            "Person", [EVERYBODY, *people], key=f"{key}-log-actor", persist_state="session"
        )
        actor = "" if chosen == EVERYBODY else chosen
        total = edits.count_edits(workspace, scope, actor=actor)
        offset = table_pager(total, f"{key}-log-{actor}", LOG_ROWS)
        rows = edits.edit_log(workspace, scope, actor=actor, offset=offset, limit=LOG_ROWS)
        st.dataframe(
            log_frame(rows),
            hide_index=True,
            height="content" if len(rows) <= 10 else 400,
            column_config={
                "When": st.column_config.TextColumn(width=150),
                "Who": st.column_config.TextColumn(width=120),
                "What": st.column_config.TextColumn(width=420),
                "Pairs": st.column_config.NumberColumn(format="localized", width=70),
                "": st.column_config.TextColumn(width=110),
            },
        )


def log_frame(rows: Sequence[edits.EditRow]) -> pd.DataFrame:
    """The log as people read it, newest first."""
    columns = ["When", "Who", "What", "Pairs", ""]
    return pd.DataFrame(
        [
            (
                time_text(row.at),
                row.actor,
                KINDS.get(row.kind, "") + row.summary,
                row.n_changes,
                STATES[row.state],
            )
            for row in rows
        ],
        columns=columns,
    )
