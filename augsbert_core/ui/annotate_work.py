"""Score the pairs of a task with the keyboard alone: every key saves at once and brings the next pair.

Only this fragment runs again after a key, not the page around it.
"""

from collections.abc import Sequence

import streamlit as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.queues import QUEUES
from augsbert_core.scales import level_labels
from augsbert_core.storage import annotations
from augsbert_core.storage.annotation_tasks import get_task
from augsbert_core.storage.annotations import Item, Progress
from augsbert_core.storage.records import AnnotationTask, Project
from augsbert_core.ui.annotate_guideline import guideline_aside
from augsbert_core.ui.annotate_keys import (
    HELD_DOWN,
    TOO_SOON,
    help_html,
    keys_of,
    score_label,
    suggestion_text,
)
from augsbert_core.ui.annotate_screen import Screen, forget_screen, open_screen, press
from augsbert_core.ui.annotate_views import open_view, pace_text
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.pair_view import show_pair
from augsbert_core.ui.widgets import as_text, page_link

OPEN_REASONS = ("random", "score-strata")
"""Queues whose reasons say nothing about the score; those of others are shown with the suggestion only."""

STYLE = """<style>
.st-key-annotate-levels button { padding-left: 0.3rem; padding-right: 0.3rem; min-width: 3rem; }
.st-key-annotate-levels button p { font-weight: 600; }
@media (max-width: 1200px) { .st-key-annotate-levels > div { min-width: 14%; } }
</style>"""


@st.fragment
def work_view(bench: Bench, project: Project, task_id: int, annotator: str) -> None:
    """One pair after another for this annotator, each score saved at once."""
    try:
        task = get_task(bench.workspace, task_id)
        screen = open_screen(bench.workspace, task_id, annotator)
        done = annotations.progress(bench.workspace, task_id, annotator)
    except WorkbenchError as error:
        forget_screen()
        st.warning(as_text(str(error)), icon=":material/error:")
        if st.button(
            "Look again",
            icon=":material/refresh:",
            help="Reads the task anew: somebody may have closed or deleted it.",
        ):
            st.rerun()
        return
    st.html(STYLE)
    _progress(done)
    item, labels = screen.item, level_labels(task.scale, task.levels, project.score_range)
    if item is None:
        _nothing_left(task, done)
        pair = st.container()
    else:
        pair, aside = st.columns([3, 1], gap="medium")
        with aside:
            guideline_aside(bench, project)
    with pair:
        if item is not None:
            show_pair(*item.shown)
            _about(task, item, screen, labels)
            _levels(bench, task, item, labels)
        _actions(bench, task, screen)
        if screen.told:
            say(screen.told, is_error=screen.is_error)
        if screen.help:
            st.html(help_html(task, labels))
    screen.drawn()


def say(text: str, *, is_error: bool = False) -> None:
    """What there is to say about the last key; one that was ignored stands out."""
    if is_error:
        st.error(as_text(text))
    elif text in (TOO_SOON, HELD_DOWN):
        st.markdown(f":orange[:material/keyboard_off: {as_text(text)}]")
    else:
        st.caption(as_text(text))


def _progress(done: Progress) -> None:
    total = done.done + done.left
    told = [f"**{done.done:,}** done", f"**{done.left:,}** left"]
    if done.skipped:
        told.append(f"{done.skipped:,} skipped")
    if done.flagged:
        told.append(f"{done.flagged:,} flagged")
    if done.pairs_per_hour is not None:
        told.append(pace_text(done.pairs_per_hour, "pair"))
    if done.all_done != done.done or done.all_wanted != done.n_items:
        told.append(f"everyone: {done.all_done:,} of {done.all_wanted:,} scores")
    st.progress(done.done / total if total else 1.0, text=" · ".join(told))


def _about(task: AnnotationTask, item: Item, screen: Screen, labels: Sequence[str]) -> None:
    """What was decided on the pair, why it is in the queue, and, on demand, what the model says."""
    told = []
    if item.state == "scored" and item.score is not None:
        told.append(f"You gave **{as_text(score_label(task, labels, item.score))}**")
    elif item.state == "skipped":
        told.append("You skipped this pair")
    if item.flagged:
        told.append(":orange[:material/flag: flagged]")
    if task.purpose == "audit":
        told.append(
            "An audit is blind: what the labeler said is shown on the page Silver afterwards"
        )
    elif item.reason and (screen.seen or task.queue in OPEN_REASONS):
        told.append(f"In the queue because: {as_text(item.reason)}")
    elif task.queue in QUEUES:
        told.append(f"Queue: {QUEUES[task.queue].title}. {QUEUES[task.queue].help}")
    if screen.seen and item.suggestion is not None:
        said = as_text(suggestion_text(task, labels, item.suggestion))
        st.markdown(f":blue-badge[:material/lightbulb: The model says **{said}**]")
    st.caption(" · ".join(told) or " ")


def _levels(bench: Bench, task: AnnotationTask, item: Item, labels: Sequence[str]) -> None:
    with st.container(horizontal=True, gap="xsmall", key="annotate-levels"):
        for place, (level, label) in enumerate(zip(task.levels, labels, strict=True)):
            chosen = item.state == "scored" and item.score == level.score
            # The keys of the buttons stay the same from pair to pair, so that the browser keeps listening to them.
            st.button(
                as_text(label),
                key=f"annotate-level-{place}",
                shortcut=level.key,
                type="primary" if chosen else "secondary",
                width="stretch",
                on_click=press,
                args=(bench.workspace, "score", item.id, level.score),
            )


def _actions(bench: Bench, task: AnnotationTask, screen: Screen) -> None:
    item_id = screen.item.id if screen.item else None
    with st.container(horizontal=True, gap="small", key="annotate-actions"):
        for action, label, key, icon, what in keys_of(task):
            off = item_id is None and action in ("skip", "flag", "suggest", "forward")
            if action == "suggest" and screen.item is not None and screen.item.suggestion is None:
                off, what = True, "No model has scored this pair."
            st.button(
                label,
                key=f"annotate-{action}",
                icon=icon,
                shortcut=key,
                help=what,
                type="secondary" if action == "flag" and _flagged(screen) else "tertiary",
                disabled=off,
                on_click=press,
                args=(bench.workspace, action, item_id, None),
            )


def _flagged(screen: Screen) -> bool:
    return screen.item is not None and screen.item.flagged


def _nothing_left(task: AnnotationTask, done: Progress) -> None:
    """What to say and where to go when no pair comes any more."""
    with st.container(border=True, key="annotate-finished"):
        if task.closed:
            st.markdown(
                f"**This task is closed.** It holds {task.n_answers:,} scores and takes no more. Reopen it under "
                "*Set up* to go on."
            )
        elif done.left:
            st.markdown(
                "**The pairs that are left are on the screens of others** at this moment. Look again in some minutes."
            )
        elif done.done or done.skipped:
            st.markdown(
                f"**All done: you have scored {done.done:,} pairs.** Thank you. What comes next:"
            )
        else:
            st.markdown(
                "**There is nothing left to score here**: all pairs have as many scores as were wished for."
            )
        with st.container(horizontal=True):
            if done.left and not task.closed:
                st.button(
                    "Look again",
                    icon=":material/refresh:",
                    on_click=forget_screen,
                    help="Pairs on the screens of others come free when they are scored, or after ten minutes.",
                )
            if task.purpose == "audit":
                page_link("silver", "How good the labeler is: figures of the audit")
            if st.button(
                "Agreement" if task.purpose == "audit" else "Agreement, and merge to gold",
                icon=":material/groups:",
                type="secondary" if task.purpose == "audit" else "primary",
                help="How far people give the same scores, before anyone learns from them.",
            ):
                open_view("agreement")
                st.rerun()
            if st.button(
                "Tasks and guideline",
                icon=":material/tune:",
                help="All tasks of this project, a new one, and what each score means.",
            ):
                open_view("setup")
                st.rerun()
            if task.purpose != "audit":
                page_link("cross_encoder", "Train a cross-encoder")
                page_link("train", "Train a bi-encoder")
