"""What one window of the Annotate page shows, and what its keys do.

What was scored is in the store; a window keeps the pair on its screen alone, so that a refresh, a restart or another
window loses nothing.
"""

import time
from dataclasses import dataclass

import streamlit as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.storage import annotations
from augsbert_core.storage.annotations import Item
from augsbert_core.storage.database import Workspace
from augsbert_core.ui.widgets import flash

SCREEN = "annotate-screen"

QUIET_SECONDS = 0.3
"""Nobody reads a pair in less: a key pressed sooner was meant for the pair before, or is held down."""


@dataclass
class Screen:
    """The pair on the screen of one window.

    item: None when there is none left; last_id: the pair that was shown last. shown_at, drawn_at: moments of the
    monotonic clock when the pair was there for the first time, and when the view was last drawn to its end; None
    before. seen: the model's suggestion was shown with this pair. help: the keys are shown. told: what to say about the
    last key.
    """

    task_id: int
    annotator: str
    item: Item | None = None
    last_id: int | None = None
    shown_at: float | None = None
    drawn_at: float | None = None
    seen: bool = False
    help: bool = False
    told: str = ""
    is_error: bool = False

    def show(self, item: Item | None) -> None:
        """Have this pair on the screen from now on."""
        if item is None or self.item is None or item.id != self.item.id:
            self.shown_at, self.seen = None, False
        self.item, self.drawn_at = item, None
        if item is not None:
            self.last_id = item.id

    def drawn(self) -> None:
        """The view is drawn to its end: from now on the pair can be read."""
        self.drawn_at = time.monotonic()
        if self.shown_at is None:
            self.shown_at = self.drawn_at

    def tell(self, text: str, *, is_error: bool = False) -> None:
        """Say something until the next key."""
        self.told, self.is_error = text, is_error

    def has_been_read(self) -> bool:
        """Whether a key can be meant for the pair that is shown; one that comes too soon starts the wait anew."""
        drawn_at, self.drawn_at = self.drawn_at, None  # the view is drawn again after each key
        return drawn_at is not None and time.monotonic() - drawn_at >= QUIET_SECONDS

    @property
    def seconds(self) -> float | None:
        """How long the pair has been on the screen."""
        return None if self.shown_at is None else time.monotonic() - self.shown_at


def open_screen(workspace: Workspace, task_id: int, annotator: str) -> Screen:
    """The screen of this window; with another task or another name it begins with that one's next pair."""
    screen: Screen | None = st.session_state.get(SCREEN)
    if screen is None or (screen.task_id, screen.annotator) != (task_id, annotator):
        screen = Screen(task_id, annotator)
        screen.show(annotations.next_item(workspace, task_id, annotator))
        st.session_state[SCREEN] = screen
    return screen


def forget_screen() -> None:
    """Read the next pair from the store at the next run."""
    st.session_state.pop(SCREEN, None)


def press(workspace: Workspace, action: str, item_id: int | None, score: float | None) -> None:
    """Do what a key is for; the callback of every button of the work view.

    item_id: the pair that the button was drawn for. A key that reaches the server after the next pair is there, or so
    soon after it that nobody can have read it, does nothing.
    """
    screen: Screen | None = st.session_state.get(SCREEN)
    if screen is None or item_id != (screen.item.id if screen.item else None):
        return
    if action in JUDGING and not screen.has_been_read():
        return
    screen.tell("")
    try:
        ACTIONS[action](workspace, screen, score)
    except WorkbenchError as error:
        # The pair may be gone, or the task closed: begin with what is there now.
        forget_screen()
        fresh = Screen(screen.task_id, screen.annotator, help=screen.help)
        fresh.tell(str(error), is_error=True)
        try:
            fresh.show(annotations.next_item(workspace, screen.task_id, screen.annotator))
        except WorkbenchError:
            flash(str(error), ":material/error:")
            return
        st.session_state[SCREEN] = fresh


def _save(
    workspace: Workspace, screen: Screen, action: str, score: float | None = None
) -> Item | None:
    assert screen.item is not None  # noqa: S101 (for the type checker; `press` has compared it)
    return annotations.save(
        workspace,
        screen.task_id,
        screen.item.id,
        screen.annotator,
        action=action,
        score=score,
        seconds=screen.seconds,
        suggestion_seen=screen.seen,
    )


def _score(workspace: Workspace, screen: Screen, score: float | None) -> None:
    screen.show(_save(workspace, screen, "score", score))


def _skip(workspace: Workspace, screen: Screen, _: float | None) -> None:
    screen.show(_save(workspace, screen, "skip"))
    screen.tell("Skipped.")


def _flag(workspace: Workspace, screen: Screen, _: float | None) -> None:
    screen.show(_save(workspace, screen, "flag"))


def _undo(workspace: Workspace, screen: Screen, _: float | None) -> None:
    item = annotations.undo(workspace, screen.task_id, screen.annotator)
    if item is None:
        screen.tell("You have nothing to undo in this task.")
    else:
        screen.show(item)
        screen.tell("Undone.")


def _move(workspace: Workspace, screen: Screen, step: int) -> None:
    item = None
    if screen.last_id is not None:
        here = 0 if screen.item is None and step < 0 else step
        item = annotations.neighbour(
            workspace, screen.task_id, screen.annotator, screen.last_id, here
        )
    if item is None and step > 0:
        item = annotations.next_item(workspace, screen.task_id, screen.annotator)
    if item is None and step < 0:
        screen.tell("There is no pair before this one.")
    else:
        screen.show(item)  # after the last one: nothing is left


def _back(workspace: Workspace, screen: Screen, _: float | None) -> None:
    _move(workspace, screen, -1)


def _forward(workspace: Workspace, screen: Screen, _: float | None) -> None:
    _move(workspace, screen, 1)


def _toggle_help(workspace: Workspace, screen: Screen, _: float | None) -> None:
    screen.help = not screen.help


def _suggest(workspace: Workspace, screen: Screen, _: float | None) -> None:
    screen.seen = True


ACTIONS = {
    "score": _score,
    "skip": _skip,
    "flag": _flag,
    "undo": _undo,
    "back": _back,
    "forward": _forward,
    "suggest": _suggest,
    "help": _toggle_help,
}
JUDGING = ("score", "skip", "flag")
