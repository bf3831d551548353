"""What all steps of the Learn page share: the room they work in, predicting, shipped beside live results."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from augsbert_core import jobs
from augsbert_core.errors import WorkbenchError
from augsbert_core.learn import paper
from augsbert_core.learn.answers import right_answer
from augsbert_core.learn.lessons import Lesson
from augsbert_core.progress import Report
from augsbert_core.steps import learn_recipe as recipe
from augsbert_core.steps import learn_results as results
from augsbert_core.steps import learn_shapes as shapes
from augsbert_core.storage import projects
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.lessons import LessonProgress, reveal_lesson
from augsbert_core.storage.queue import active_jobs
from augsbert_core.storage.records import Project
from augsbert_core.storage.runs import get_run
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.job_panel import job_panel
from augsbert_core.ui.widgets import as_text, bar_report, duration_text, flash, user_errors

LIVE, SHIPPED = "live", "shipped"

MINUTES = {
    "loop": "10 to 20 minutes on two cores",
    "adaptation": "about 5 minutes on two cores",
    "curve": "about 10 minutes on two cores",
    "seeds": "about 5 minutes on two cores",
}

KINDS = {
    "loop": "custom", "adaptation": "domain-adaptation", "curve": "learning-curve", "seeds": "multi-run",
}  # fmt: skip
"""Name of the results → kind of the batch that makes them, so that each button shows its own job."""


@dataclass(frozen=True)
class Room:
    """Where a lesson takes place. bench: with the sample project open, whatever the other pages work on."""

    bench: Bench
    person: str
    lesson: Lesson
    progress: Mapping[str, LessonProgress]

    @property
    def workspace(self) -> Workspace:
        return self.bench.workspace

    @property
    def project(self) -> Project:
        if self.bench.project is None:
            raise ValueError("the Learn page opens the sample project first")
        return self.bench.project

    @property
    def revealed(self) -> LessonProgress | None:
        return self.progress.get(self.lesson.key)


@dataclass(frozen=True)
class Found:
    """Results of the recipe. origin: "shipped" or "live". values: as `steps.learn_results` makes them."""

    origin: str
    values: Mapping[str, Any]

    @property
    def made(self) -> Mapping[str, Any]:
        return self.values["made"]


def found_of(room: Room, name: str = "loop") -> list[Found]:
    """The shipped results, and what this workspace has found with the same recipe; either may be missing.

    Damaged shipped results are missing too: `show_damage` says so.
    """
    shipped, _ = _shipped(name)
    found = [Found(SHIPPED, shipped)] if shipped else []
    project = _project_of(room, name)
    batch = results.newest_batch(room.workspace, project, name) if project else None
    if project is not None and batch is not None:
        n_done = len(results.children_done(room.workspace, batch))
        if n_done:
            live = _live(room.workspace.home, name, project.id, batch.id, n_done)
            found.append(Found(LIVE, live))
    return found


def _shipped(name: str) -> tuple[dict[str, Any] | None, str]:
    """The shipped results, and why they cannot be read."""
    try:
        return results.shipped(name), ""
    except WorkbenchError as error:
        return None, str(error)


def shipped_or_none(name: str) -> dict[str, Any] | None:
    """The shipped results; None when they are missing or damaged."""
    return _shipped(name)[0]


def show_damage(name: str = "loop") -> None:
    """One sentence where shipped results are there and cannot be read; the step goes on without them."""
    _, damage = _shipped(name)
    if damage:
        st.error(as_text(damage), icon=":material/error:")


def _project_of(room: Room, name: str) -> Project | None:
    if name != "adaptation":
        return room.project
    return projects.find_project(room.workspace, recipe.TARGET_NAME)


@st.cache_data(show_spinner="Reading the results", max_entries=60)
def _live(home: Path, name: str, project_id: int, batch_id: int, n_done: int) -> dict[str, Any]:
    """n_done: part of the key, so that new results are read."""
    workspace = Workspace(home)
    project, batch = projects.get_project(workspace, project_id), get_run(workspace, batch_id)
    return shapes.sound(name, results.RESULTS[name](workspace, project, batch))


def with_part(found: list[Found], part: str) -> list[Found]:
    """Those that have this part already."""
    return [one for one in found if one.values.get(part)]


def judging(found: list[Found], lesson: Lesson) -> list[Found]:
    """Those from which the right answer of a lesson can be told."""
    return [one for one in found if right_answer(lesson.key, one.values)]


def show_missing(room: Room, name: str = "loop") -> None:
    """What stands in the place of results that are gone, though the step was revealed before."""
    st.info(missing_results([]), icon=":material/info:")
    recompute(room, name)


def missing_results(known: list[Found]) -> str:
    """Why there is nothing to reveal; "" when there is."""
    return (
        ""
        if known
        else "There are no precomputed results for this step: press “Recompute here” first."
    )


def origin_badge(found: Found) -> None:
    """Where a result comes from, so that nobody takes a stored number for a measured one."""
    made = found.made
    if found.origin == SHIPPED:
        st.badge(
            f"Precomputed with this recipe on {made['date']}",
            icon=":material/inventory_2:",
            color="gray",
            help=f"Seed {made['seed']}, {made['device']}, "
            + ", ".join(
                f"{name} {version}"
                for name, version in sorted((made.get("versions") or {}).items())
            ),
        )
    else:
        st.badge(
            f"Computed here, run {made['run_id']}",
            icon=":material/computer:",
            color="green",
            help=f"Seed {made['seed']}, {made['n_done']} of {made['n_runs']} runs done.",
        )


def side_by_side(
    found: list[Found], draw: Callable[[Found], None], *, stacked: bool = False
) -> None:
    """The shipped result and, when there is one, the live result beside it (stacked: below it)."""
    places = (
        [st.container() for _ in found] if stacked or len(found) < 2 else st.columns(len(found))
    )
    for place, one in zip(places, found, strict=True):
        with place:
            origin_badge(one)
            draw(one)


def recompute(room: Room, name: str = "loop") -> None:
    """A button that runs the recipe here, in the background, with its job below while it is at work."""
    project = _project_of(room, name)
    batch = results.newest_batch(room.workspace, project, name) if project else None
    busy = batch is not None and any(job.run_id == batch.id for job in active_jobs(room.workspace))
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(
            "Recompute here",
            key=f"learn-recompute-{name}",
            icon=":material/refresh:",
            disabled=busy,
            help="Trains, samples, labels and measures on this machine with the same recipe, as jobs in the background. "
            "The result then stands beside the precomputed one.",
        )
        st.caption(f"{MINUTES[name].capitalize()}, in the background: go on meanwhile.")
    if pressed:
        with user_errors():
            owner, plan = recipe.plan_for(room.workspace, name)
            jobs.enqueue(room.workspace, owner.id, "batch", plan)
            flash("The recipe runs in the background", ":material/play_circle:")
            st.rerun()
    if busy and project is not None:
        job_panel(Bench(room.workspace, project), ["batch"], ended=False, batches=KINDS[name])


def predict(
    room: Room,
    compute: Callable[[Report], dict[str, Any]],
    *,
    action: str = "Reveal the result",
    missing: str = "",
) -> LessonProgress | None:
    """The question, answered before the result is shown; returns the answer once it is there.

    compute: makes the numbers that are kept with the answer; those under "known" decide what is right.
    missing: why there is no result to reveal yet.
    """
    if room.revealed is not None:
        _verdict(room, room.revealed)
        return room.revealed
    lesson = room.lesson
    with st.container(border=True, key=f"learn-question-{lesson.key}"):
        st.markdown(":primary[:material/psychology:] **Predict first**")
        choice = st.radio(
            lesson.question,
            list(lesson.choices),
            format_func=lambda key: lesson.choices[key],
            index=None,
            key=f"learn-choice-{lesson.key}",
            help="Your prediction is kept, and cannot be changed afterwards: being wrong teaches more.",
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            reveal = st.button(
                action,
                key=f"learn-reveal-{lesson.key}",
                type="primary",
                icon=":material/visibility:",
                disabled=choice is None or bool(missing),
                help="Choose an answer first."
                if choice is None
                else "Keeps your prediction and shows the result beside what the paper found.",
            )
            skip = st.button(
                "Show without predicting",
                key=f"learn-skip-{lesson.key}",
                type="tertiary",
                disabled=bool(missing),
                help="Goes on to the result; the step then counts as done, without a prediction.",
            )
        if missing:
            st.caption(missing)
    if reveal or skip:
        bar = st.progress(0.0, text="Working")
        with user_errors():
            details = compute(bar_report(bar))
            known = details.pop("known", {})
            details["right"] = right_answer(lesson.key, known)
            if not details["right"]:
                raise WorkbenchError(
                    "These results do not say which answer is right, so nothing was kept. Press “Recompute here”, or "
                    "install again."
                )
            reveal_lesson(
                room.workspace, room.person, lesson.key, (choice or "") if reveal else "", details
            )
            st.rerun()
        bar.empty()
    return None


def _verdict(room: Room, given: LessonProgress) -> None:
    lesson, right = room.lesson, given.details.get("right", "")
    with st.container(border=True, key=f"learn-answer-{lesson.key}"):
        st.markdown(f":small[:gray[{as_text(lesson.question)}]]")
        found = as_text(lesson.choices.get(right, "The results do not say"))
        if not given.answer:
            st.markdown(f":material/visibility: Not predicted · found: **{found}**")
            return
        mine = as_text(lesson.choices.get(given.answer, given.answer))
        if given.answer == right:
            st.markdown(
                f":green[:material/check_circle:] You predicted **{mine}**, and that is right."
            )
        else:
            st.markdown(
                f":orange[:material/lightbulb:] You predicted **{mine}** · found: **{found}**"
            )


def what_happened(*paragraphs: str) -> None:
    """An expander that explains a result with the user's numbers."""
    with st.expander("What happened here?", icon=":material/help:"):
        for text in paragraphs:
            st.markdown(text)


def paper_facts(lesson: Lesson) -> None:
    """What the paper found, with the place where it stands and what to mind."""
    with st.container(border=True, key=f"learn-paper-{lesson.key}"):
        st.markdown(":material/menu_book: **What the paper found**")
        beside = paper.BESIDE_FIGURE.get(lesson.key)
        for fact in paper.facts_for(lesson.key):
            if beside is None or fact is not paper.FIGURES[beside]:
                st.markdown(fact_text(fact, "  \n"))


def fact_text(fact: paper.Fact, between: str = " ") -> str:
    """A fact with the place where it stands, small, as Markdown."""
    note = f" {as_text(fact.note)}" if fact.note else ""
    return f"{as_text(fact.text)}{between}:small[:gray[{as_text(fact.source)}.{note}]]"


def ink() -> str:
    """The text colour for figures that are read as text: the page's own, by its theme."""
    return "#EDEBE6" if st.context.theme.type == "dark" else "#24292E"


def seconds_text(seconds: float) -> str:
    """A time for people, from milliseconds to years."""
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    days = seconds / 86_400
    if days < 2:
        return duration_text(seconds)
    return f"{days:.0f} days" if days < 700 else f"{days / 365.25:.1f} years"
