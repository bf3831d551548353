"""Best-worst scaling by keyboard: four pairs, the most and the least similar of them.

A tuple takes two keys: the most similar pair, then the least similar. The answer is saved with the second, and the next
tuple is there at once. Only the fragment runs again after a key; what is answered is in the store, so that a refresh or
a restart loses no more than the first half of one answer.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import streamlit as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.explain.phrases import many
from augsbert_core.storage import best_worst_answers
from augsbert_core.storage.annotation_tasks import get_task
from augsbert_core.storage.best_worst_answers import TupleItem, TuplePair, TupleProgress
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import AnnotationTask, Project
from augsbert_core.ui.annotate_guideline import guideline_aside
from augsbert_core.ui.annotate_keys import HELD_DOWN, TOO_SOON, TUPLE_KEYS, KeyGuard, keys_html
from augsbert_core.ui.annotate_views import pace_text
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.pair_view import marked_pair
from augsbert_core.ui.widgets import as_text

SCREEN = "best-worst-screen"


@dataclass
class Screen:
    """What one window shows. shown: the tuple, None when there is none left; best: the item picked as most similar.

    shown_at: a moment of the monotonic clock; guard: which keys count, by the same clock. help: the keys are shown.
    told: what to say about the last key.
    """

    task_id: int
    annotator: str
    shown: TupleItem | None = None
    best: int | None = None
    shown_at: float = 0.0
    guard: KeyGuard = field(default_factory=KeyGuard)
    help: bool = False
    told: str = ""
    is_error: bool = False

    def show(self, found: TupleItem | None) -> None:
        """Have this tuple on the screen from now on, nothing picked."""
        self.shown, self.best = found, None
        self.shown_at = time.monotonic()
        self.guard.new_pair()

    def tell(self, text: str, *, is_error: bool = False) -> None:
        """Say something until the next key."""
        self.told, self.is_error = text, is_error

    @property
    def seconds(self) -> float:
        """How long the tuple has been on the screen."""
        return time.monotonic() - self.shown_at


def best_worst_view(bench: Bench, project: Project, task: AnnotationTask, annotator: str) -> None:
    """Ask an annotator for one tuple after another, each answer saved at once."""
    _work(bench, project, task.id, annotator)


@st.fragment
def _work(bench: Bench, project: Project, task_id: int, annotator: str) -> None:
    workspace = bench.workspace
    try:
        task = get_task(workspace, task_id)
        screen = open_screen(workspace, task_id, annotator)
        done = best_worst_answers.tuple_progress(workspace, task_id, annotator)
    except WorkbenchError as error:
        st.warning(as_text(str(error)), icon=":material/error:")
        st.button(
            "Look again",
            icon=":material/refresh:",
            on_click=forget_screen,
            help="Reads the task anew: somebody may have closed or deleted it.",
        )
        return
    _progress_row(done)
    if task.closed:
        st.info("This task is closed: it takes no more answers.", icon=":material/lock:")
        return
    if screen.shown is None:
        _finished(done)
        work = st.container()
    else:
        work, aside = st.columns([3, 1], gap="medium")
        with aside:
            guideline_aside(bench, project)
    with work:
        if screen.shown is not None:
            _question(screen)
            _cards(workspace, screen, screen.shown)
        _actions(workspace, screen)
        _say(screen)
        if screen.help:
            st.html(keys_html(TUPLE_KEYS))
    screen.guard.drawn(time.monotonic())


# --- what is shown ----------------------------------------------------------------------------------


def _progress_row(done: TupleProgress) -> None:
    mine = done.done + done.left
    parts = [f"{done.done:,} of {many(mine, 'tuple')} answered by you"]
    if done.skipped:
        parts.append(f"{done.skipped:,} put off")
    if done.tuples_per_hour:
        parts.append(pace_text(done.tuples_per_hour, "tuple"))
    parts.append(f"everyone: {done.all_done:,} of {done.all_wanted:,}")
    st.progress(done.done / mine if mine else 1.0, text=" · ".join(parts))


def _question(screen: Screen) -> None:
    """Which of the two questions is open, said so that it cannot be missed."""
    first = screen.best is None
    steps = (
        ("1", "Most similar", first, not first),
        ("2", "Least similar", not first, False),
    )
    marks = "".join(
        f'<span class="aug-step{" now" if now else ""}{" done" if done else ""}">'
        f"<b>{'✓' if done else number}</b>{name}</span>"
        for number, name, now, done in steps
    )
    asked = (
        "Which pair is the <b>most</b> similar in meaning?"
        if first
        else "And which of the other three is the <b>least</b> similar?"
    )
    st.html(
        f'{STYLE}<div class="aug-ask"><div class="aug-steps">{marks}</div><span>{asked}</span></div>'
    )


def _cards(workspace: Workspace, screen: Screen, shown: TupleItem) -> None:
    rows = [st.columns(2, gap="small"), st.columns(2, gap="small")]
    for number, pair in enumerate(shown.pairs, 1):
        is_best = pair.item_id == screen.best
        with (
            rows[(number - 1) // 2][(number - 1) % 2],
            st.container(border=True, height="stretch", key=f"tuple-card-{number}"),
        ):
            st.html(card_html(number, pair, is_best))
            st.button(
                "Most similar" if is_best or screen.best is None else "Least similar",
                icon=":material/check:" if is_best else None,
                key=f"tuple-pick-{number}",
                shortcut=str(number),
                type="primary" if is_best else "secondary",
                disabled=is_best,
                width="stretch",
                on_click=pick,
                args=(workspace, shown.id, screen.best, pair.item_id),
            )


def card_html(number: int, pair: TuplePair, is_best: bool) -> str:
    """One pair of a tuple: its key, and both sentences with the words that differ marked; texts are escaped."""
    first, second, note = marked_pair(pair.sentence1, pair.sentence2)
    long = max(len(pair.sentence1), len(pair.sentence2)) > 200
    badge = f'<span class="aug-key{" best" if is_best else ""}">{number}</span>'
    return (
        f'<div class="aug-tuple-pair{" long" if long else ""}">{badge}<div>'
        f'<p dir="auto">{first}</p><p dir="auto">{second}</p>{note}</div></div>'
    )


def _finished(done: TupleProgress) -> None:
    with st.container(border=True, key="tuples-done"):
        if not done.done and not done.all_done:
            st.markdown(":material/inbox: There is no tuple for you in this task.")
            return
        st.markdown(
            f":material/check_circle: **No tuple is left for you.** You answered {done.done:,}; everyone together "
            f"{done.all_done:,} of {done.all_wanted:,}."
        )
        st.caption("The scores that the answers give are in the view Agreement.")


def _actions(workspace: Workspace, screen: Screen) -> None:
    """Back, skip and undo; a button that cannot do anything is not shown as if it could."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.button(
            "Back",
            icon=":material/arrow_back:",
            key="tuple-back",
            shortcut="Backspace",
            disabled=screen.best is None,
            on_click=back,
            help="Pick another pair as the most similar.",
        )
        st.button(
            "Skip",
            icon=":material/skip_next:",
            key="tuple-skip",
            shortcut="s",
            disabled=screen.shown is None,
            on_click=skip,
            args=(workspace, screen.shown.id if screen.shown else 0),
            help="It comes back once, after all others.",
        )
        st.button(
            "Undo",
            icon=":material/undo:",
            key="tuple-undo",
            shortcut="u",
            on_click=undo,
            args=(workspace,),
            help="Take back your last pick, or your last answer; again for the one before.",
        )
        st.button(
            "Help",
            icon=":material/keyboard:",
            key="tuple-help",
            shortcut="h",
            on_click=toggle_help,
            help="Show all keys, or hide them.",
        )
        st.caption("Keys: 1 to 4 pick. Each answer is saved at once.", width="content")


def _say(screen: Screen) -> None:
    if screen.told:
        if screen.is_error:
            st.warning(as_text(screen.told), icon=":material/block:")
        elif screen.told in (TOO_SOON, HELD_DOWN):
            st.markdown(f":orange[:material/keyboard_off: {as_text(screen.told)}]")
        else:
            st.caption(f":material/check: {as_text(screen.told)}")


# --- what keys do -----------------------------------------------------------------------------------


def open_screen(workspace: Workspace, task_id: int, annotator: str) -> Screen:
    """The screen of this window; with another task or another name it begins with that one's next tuple."""
    screen: Screen | None = st.session_state.get(SCREEN)
    if screen is None or (screen.task_id, screen.annotator) != (task_id, annotator):
        screen = Screen(task_id, annotator)
        screen.show(best_worst_answers.next_tuple(workspace, task_id, annotator))
        st.session_state[SCREEN] = screen
    return screen


def forget_screen() -> None:
    """Read the next tuple from the store at the next run."""
    st.session_state.pop(SCREEN, None)


def pick(workspace: Workspace, tuple_id: int, best: int | None, item_id: int) -> None:
    """Take a pair as the most similar, or, when that is picked already, as the least similar, and save.

    tuple_id, best: what the button was drawn for. A key that reaches the server after the next tuple is there, or so
    soon after it that nobody can have seen it, or that is held down, does nothing, and it is said so.
    """
    screen: Screen | None = st.session_state.get(SCREEN)
    if screen is None or screen.shown is None:
        return
    places = [pair.item_id for pair in screen.shown.pairs]
    place = places.index(item_id) if item_id in places else None
    refused = screen.guard.refusal(place, time.monotonic(), judges=best is None)
    if (screen.shown.id, screen.best) != (tuple_id, best):
        refused = refused or TOO_SOON
    if refused:
        screen.tell(refused)
        return
    screen.tell("")
    if best is None:
        screen.best = item_id
        return
    _store(
        screen,
        lambda: best_worst_answers.save_answer(
            workspace,
            screen.task_id,
            tuple_id,
            screen.annotator,
            best,
            item_id,
            seconds=screen.seconds,
        ),
    )


def back() -> None:
    """Take the first pick back."""
    screen: Screen | None = st.session_state.get(SCREEN)
    if screen is not None:
        screen.best = None
        screen.tell("")


def skip(workspace: Workspace, tuple_id: int) -> None:
    """Put the tuple off."""
    screen: Screen | None = st.session_state.get(SCREEN)
    if screen is None or screen.shown is None:
        return
    refused = screen.guard.refusal("skip", time.monotonic())
    if screen.shown.id != tuple_id:
        refused = refused or TOO_SOON
    if refused:
        screen.tell(refused)
        return
    _store(
        screen,
        lambda: best_worst_answers.skip_tuple(
            workspace, screen.task_id, tuple_id, screen.annotator, seconds=screen.seconds
        ),
    )
    if not screen.is_error:
        screen.tell("Skipped.")


def undo(workspace: Workspace) -> None:
    """Take back the last thing done: a pick, else the last answer or skip."""
    screen: Screen | None = st.session_state.get(SCREEN)
    if screen is None:
        return
    if refused := screen.guard.refusal("undo", time.monotonic(), judges=False):
        screen.tell(refused)
        return
    if screen.best is not None:
        back()
        return
    screen.tell("")
    try:
        found = best_worst_answers.undo_answer(workspace, screen.task_id, screen.annotator)
    except WorkbenchError as error:
        screen.tell(str(error), is_error=True)
        return
    if found is None:
        screen.tell("You have nothing to undo in this task.")
    else:
        screen.show(found)
        # The tuple need not be the one that was meant, when a key before did not count.
        screen.tell(f"Undone: what you said on tuple {found.number}, which is shown again.")


def toggle_help() -> None:
    """Show all keys, or hide them."""
    screen: Screen | None = st.session_state.get(SCREEN)
    if screen is not None:
        screen.help = not screen.help


def _store(screen: Screen, save: Callable[[], TupleItem | None]) -> None:
    """Save and show the next tuple; when that is refused, say why and keep the tuple on the screen."""
    try:
        screen.show(save())
        screen.tell("")
    except WorkbenchError as error:
        screen.best = None
        screen.tell(str(error), is_error=True)


STYLE = """
<style>
.aug-ask { font-size: 1.15rem; display: flex; flex-wrap: wrap; gap: 0.5rem 1.2rem; align-items: center; }
.aug-steps { display: flex; gap: 0.4rem; }
.aug-step { font-size: 0.9rem; padding: 0.15rem 0.75rem 0.15rem 0.3rem; border-radius: 1rem; opacity: 0.75;
  border: 1px solid color-mix(in srgb, currentColor 25%, transparent); }
.aug-step b { display: inline-block; min-width: 1.35rem; text-align: center; margin-right: 0.25rem; }
.aug-step.now { opacity: 1; border-color: #2c8c86; background: color-mix(in srgb, #2c8c86 20%, transparent); }
.aug-step.done { opacity: 0.9; border-color: #2c8c86; }
.aug-tuple-pair { display: flex; gap: 0.8rem; align-items: flex-start; min-height: 6.2rem; }
.aug-tuple-pair > div { flex: 1; min-width: 0; }
.aug-tuple-pair p { font-family: 'Source Serif', Georgia, serif; font-size: 1.15rem; line-height: 1.45; margin: 0;
  overflow-wrap: anywhere; white-space: pre-wrap; unicode-bidi: plaintext; max-height: 22vh; overflow: auto; }
.aug-tuple-pair.long p { font-size: 1rem; }
.aug-tuple-pair p + p { margin-top: 0.5rem; padding-top: 0.5rem;
  border-top: 1px solid color-mix(in srgb, currentColor 14%, transparent); }
.aug-key { flex: none; width: 1.7rem; height: 1.7rem; line-height: 1.6rem; text-align: center; border-radius: 0.4rem;
  font-weight: 600; border: 1px solid color-mix(in srgb, currentColor 35%, transparent); }
[class*="st-key-tuple-card-"]:has(.aug-key.best) { border-color: #2c8c86; box-shadow: inset 0 0 0 1px #2c8c86; }
.aug-key.best { color: #fff; background: #1f7a74; border-color: #1f7a74; }
</style>
"""
