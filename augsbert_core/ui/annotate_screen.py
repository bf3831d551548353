"""What one window of the Annotate page shows, and what its keys do.

What was scored is in the store; a window keeps the pair on its screen alone, so that a refresh, a restart or another
window loses nothing.
"""

import time
from dataclasses import dataclass, field

import streamlit as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.scales import level_labels
from augsbert_core.storage import annotations
from augsbert_core.storage.annotation_tasks import get_task
from augsbert_core.storage.annotations import Decision, Item
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.projects import get_project
from augsbert_core.ui.annotate_keys import TOO_SOON, KeyGuard, score_label
from augsbert_core.ui.widgets import flash

SCREEN = "annotate-screen"

SHORT_TEXT = 40
"""So many characters of a sentence say which pair is meant."""


@dataclass
class Screen:
    """The pair on the screen of one window.

    item: None when there is none left; last_id: the pair that was shown last. guard: which keys count, by the monotonic
    clock. seen: the model's suggestion was shown with this pair. help: the keys are shown. told: what to say about the
    last key.
    """

    task_id: int
    annotator: str
    item: Item | None = None
    last_id: int | None = None
    guard: KeyGuard = field(default_factory=KeyGuard)
    seen: bool = False
    help: bool = False
    told: str = ""
    is_error: bool = False

    def show(self, item: Item | None) -> None:
        """Have this pair on the screen from now on."""
        if item is None or self.item is None or item.id != self.item.id:
            self.seen = False
            self.guard.new_pair()
        self.item = item
        if item is not None:
            self.last_id = item.id

    def drawn(self) -> None:
        """The view is drawn to its end: from now on the pair can be read."""
        self.guard.drawn(time.monotonic())

    def tell(self, text: str, *, is_error: bool = False) -> None:
        """Say something until the next key."""
        self.told, self.is_error = text, is_error

    @property
    def seconds(self) -> float | None:
        """How long the pair has been on the screen."""
        shown_at = self.guard.shown_at
        return None if shown_at is None else time.monotonic() - shown_at


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
    soon after it that nobody can have seen it, or that is held down, does nothing, and it is said so.
    """
    screen: Screen | None = st.session_state.get(SCREEN)
    if screen is None:
        return
    refused = ""
    if action in GUARDED:
        refused = screen.guard.refusal((action, score), time.monotonic(), judges=action in JUDGING)
    if item_id != (screen.item.id if screen.item else None):
        refused = refused or TOO_SOON
    if refused:
        screen.tell(refused)
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
        seen=(screen.item.state, screen.item.score),
    )


def _score(workspace: Workspace, screen: Screen, score: float | None) -> None:
    screen.show(_save(workspace, screen, "score", score))


def _skip(workspace: Workspace, screen: Screen, _: float | None) -> None:
    screen.show(_save(workspace, screen, "skip"))
    screen.tell("Skipped.")


def _flag(workspace: Workspace, screen: Screen, _: float | None) -> None:
    screen.show(_save(workspace, screen, "flag"))


def _undo(workspace: Workspace, screen: Screen, _: float | None) -> None:
    last = annotations.last_decision(workspace, screen.task_id, screen.annotator)
    item = annotations.undo(workspace, screen.task_id, screen.annotator)
    if item is None:
        screen.tell("You have nothing to undo in this task.")
    else:
        screen.show(item)
        screen.tell(_taken_back(workspace, last, item))


def _taken_back(workspace: Workspace, last: Decision | None, item: Item) -> str:
    """Says which decision is gone: it need not be the one that was meant, when a key before did not count."""
    first = item.shown[0]
    text = first if len(first) <= SHORT_TEXT else f"{first[:SHORT_TEXT].rstrip()}…"
    what = "your last decision"
    if last is not None and last.item_id == item.id:  # else another window was quicker
        what = {"skip": "the skip", "flag": "the change of the flag"}.get(last.action, "")
        if last.score is not None:
            task = get_task(workspace, item.task_id)
            scale = get_project(workspace, task.project_id).score_range
            labels = level_labels(task.scale, task.levels, scale)
            what = f"the score {score_label(task, labels, last.score)}"
    return f"Undone: {what} on “{text}”."


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
"""They decide on the pair that is shown."""

GUARDED = (*JUDGING, "undo")
"""Held down, they would decide on, or take back, pair after pair."""
