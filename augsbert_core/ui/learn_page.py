"""The Learn page: one lesson at a time, where one is, and what a teacher needs."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

import streamlit as st

from augsbert_core import jobs
from augsbert_core.charts import ideas
from augsbert_core.learn import handout, paper
from augsbert_core.learn.lessons import BY_KEY, LESSONS, Lesson
from augsbert_core.steps import learn_recipe as recipe
from augsbert_core.steps.sample_project import SAMPLE_NAME, open_sample_project
from augsbert_core.storage import projects
from augsbert_core.storage.lessons import LessonProgress, forget_lessons, progress_of
from augsbert_core.ui import learn_first, learn_second, learn_students
from augsbert_core.ui.bench import Bench, open_project
from augsbert_core.ui.door import in_class, may_teach
from augsbert_core.ui.identity import person
from augsbert_core.ui.learn_handout import handout_facts
from augsbert_core.ui.learn_parts import Room, fact_text, ink, paper_facts
from augsbert_core.ui.widgets import READING_WIDTH, flash, page_link, user_errors

SHOW = {
    "encoders": learn_first.encoders,
    "gold": learn_first.gold_data,
    "labeler": learn_first.labeler,
    "sampling": learn_first.sampling,
    "labelling": learn_second.labelling,
    "density": learn_second.density,
    "student": learn_students.student,
    "adaptation": learn_students.adaptation,
}

QUERY = "lesson"
NOTES, NOTES_QUERY = "learn-notes", "notes"

ONE_ROW = ".st-key-learn-step button { padding-inline: 0.5rem; }"
"""So that the eight steps stay in one row on a small laptop."""


def learn_page(bench: Bench) -> None:
    """The whole page below its title."""
    project = projects.find_project(bench.workspace, SAMPLE_NAME)
    if project is None:
        _welcome(bench)
        return
    bench = replace(bench, project=project)
    who = person()
    progress = progress_of(bench.workspace, who)
    lesson = _choose(progress)
    _map(lesson, progress)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        number = LESSONS.index(lesson) + 1
        st.subheader(f"{number}. {lesson.title}", anchor=False, width="stretch")
        with user_errors():
            _class_tools(who, progress)
        if may_teach():
            _reset(bench)
    _pipeline(lesson)
    with st.container(width=READING_WIDTH):
        st.markdown("  \n".join(lesson.idea))
        st.markdown(f":primary[:material/touch_app:] **Do:** {lesson.task}")
    if _notes_on():
        with st.container(border=True, key="learn-teacher-notes"):
            st.markdown(":material/school: **For the teacher**")
            notes = list(lesson.notes) + [
                f"Misprint in the paper: {fact_text(fact)}"
                for fact in paper.misprints_for(lesson.key)
            ]
            st.markdown("\n".join(f"- {note}" for note in notes))
    room = Room(bench, who, lesson, progress)
    with user_errors():
        SHOW[lesson.key](room)
    if lesson.key in progress:
        paper_facts(lesson)
        page_link(lesson.page, "Do the same with your own data")
    _walk(lesson, progress)


def _welcome(bench: Bench) -> None:
    with st.container(border=True, key="learn-welcome"):
        st.markdown(
            "**Eight short steps, about 20 minutes alone or 45 in class.** Each has one idea, one thing to do, and one "
            "question to answer before the result is shown. All of it runs on this machine, on the bundled sample "
            "project; nothing leaves it."
        )
        if st.button(
            "Begin", type="primary", icon=":material/school:", key="learn-begin",
            help="Opens the sample project: 964 scored pairs and some sentences without scores.",
        ):  # fmt: skip
            with user_errors():
                open_project(open_sample_project(bench.workspace).id)
                st.rerun()
    st.plotly_chart(
        ideas.pipeline_figure("augsbert", 5, ink=ink()), key="learn-welcome-figure", config={"displayModeBar": False},
        alt=ideas.pipeline_description("augsbert", 5),
    )  # fmt: skip


def _choose(progress: Mapping[str, LessonProgress]) -> Lesson:
    """The lesson of the address, else the first that is not done."""
    asked = st.query_params.get(QUERY, "")
    if asked not in BY_KEY:
        asked = next(
            (lesson.key for lesson in LESSONS if lesson.key not in progress), LESSONS[-1].key
        )
        st.query_params[QUERY] = asked
    return BY_KEY[asked]


def _go(key: str) -> None:
    st.query_params[QUERY] = key


def _map(lesson: Lesson, progress: Mapping[str, LessonProgress]) -> None:
    """All steps in a row: the ones that are done have a tick."""
    st.session_state["learn-step"] = lesson.key
    st.html(f"<style>{ONE_ROW}</style>")
    st.segmented_control(
        "Step",
        [one.key for one in LESSONS],
        format_func=lambda key: (
            ("✓ " if key in progress else f"{LESSONS.index(BY_KEY[key]) + 1} ") + BY_KEY[key].short
        ),
        key="learn-step",
        label_visibility="collapsed",
        required=True,
        on_change=lambda: _go(st.session_state["learn-step"]),
    )


def _pipeline(lesson: Lesson) -> None:
    kind = "adaptation" if lesson.key == "adaptation" else "augsbert"
    st.plotly_chart(
        ideas.pipeline_figure(kind, lesson.pipeline, ink=ink()),
        key=f"learn-pipeline-{lesson.key}",
        config={"displayModeBar": False},
        alt=ideas.pipeline_description(kind, lesson.pipeline),
    )


def _walk(lesson: Lesson, progress: Mapping[str, LessonProgress]) -> None:
    place = LESSONS.index(lesson)
    with st.container(horizontal=True):
        if place > 0:
            st.button(
                "Back", key="learn-back", icon=":material/arrow_back:",
                help=f"Step {place}: {LESSONS[place - 1].title}.",
                on_click=_go, args=[LESSONS[place - 1].key],
            )  # fmt: skip
        if place + 1 < len(LESSONS):
            st.button(
                f"Next: {LESSONS[place + 1].short}", key="learn-next", icon=":material/arrow_forward:",
                type="primary" if lesson.key in progress else "secondary",
                help=f"Step {place + 2}: {LESSONS[place + 1].title.rstrip('?')}. Steps can be skipped and come back to.",
                on_click=_go, args=[LESSONS[place + 1].key],
            )  # fmt: skip
    if len(progress) >= len(LESSONS):
        right = sum(
            one.answer != "" and one.answer == one.details.get("right") for one in progress.values()
        )
        st.success(
            f"All eight steps are done; {right} of {len(LESSONS)} predictions were right. The hand-out is in "
            f"“{_tools_title()}” above.",
            icon=":material/school:",
        )


def _class_tools(who: str, progress: Mapping[str, LessonProgress]) -> None:
    with st.popover(
        _tools_title(), icon=":material/school:",
        help="The hand-out, to print or to keep; for whoever teaches, notes as well.",
    ):  # fmt: skip
        if may_teach():
            _notes_switch()
        name = st.text_input(
            "Name on the hand-out", who, key="learn-handout-name", max_chars=80,
            help="Stands below the title beside the date; leave it empty for none.",
        )  # fmt: skip
        facts = handout_facts(name.strip(), progress, datetime.now().astimezone())
        teacher = _notes_on()
        st.caption(
            "Hand-out of this session: questions, your answers, the numbers seen here, and the paper’s."
        )
        with st.container(horizontal=True):
            st.download_button(
                "Markdown", handout.markdown(facts, teacher=teacher), "augsbert-handout.md", "text/markdown",
                key="learn-handout-md", icon=":material/download:", on_click="ignore",
                help="The hand-out as a text file, to edit or to keep beside one’s notes.",
            )  # fmt: skip
            st.download_button(
                "HTML to print", handout.html(facts, teacher=teacher), "augsbert-handout.html", "text/html",
                key="learn-handout-html", icon=":material/print:", on_click="ignore",
                help="The hand-out as one page for the browser, laid out for A4 paper.",
            )  # fmt: skip


def _tools_title() -> str:
    return "Class tools" if may_teach() else "Hand-out"


def _notes_switch() -> None:
    """The switch of the notes; it is in the address too, so that a refresh leaves it as it is."""
    st.session_state.setdefault(NOTES, st.query_params.get(NOTES_QUERY) == "1")
    on = st.toggle(
        "Teacher notes", key=NOTES, persist_state="session",
        help="Shows timing, questions for the class and pitfalls beside each step.",
    )  # fmt: skip
    if on:
        st.query_params[NOTES_QUERY] = "1"
    else:
        st.query_params.pop(NOTES_QUERY, None)


def _notes_on() -> bool:
    return may_teach() and bool(st.session_state.get(NOTES))


def _reset(bench: Bench) -> None:
    """Forget everything after a confirmation."""
    with st.popover(
        "Reset for the next group", icon=":material/restart_alt:", help="Asks before it forgets."
    ):
        st.markdown(
            "Forgets **everybody’s predictions and measured numbers** of the Learn page in this workspace."
            + (
                " In a class this is your own workspace; “Classroom” begins the next class for everybody."
                if in_class()
                else ""
            )
        )
        also = st.checkbox(
            "Also remove the sample project with all its models and results",
            key="learn-reset-project",
            help="The next group begins from an empty sample. Other projects stay.",
        )
        if st.button(
            "Forget them",
            type="primary",
            key="learn-reset-now",
            help="Everybody begins again at step 1; this cannot be undone.",
        ):
            with user_errors():
                if also:
                    _remove_sample(bench)
                n = forget_lessons(bench.workspace)
                st.query_params.pop(QUERY, None)
                flash(f"{n} answer{'' if n == 1 else 's'} forgotten", ":material/restart_alt:")
                st.rerun()


def _remove_sample(bench: Bench) -> None:
    """All projects of the guided demo, or, while a job is at work in one of them, none."""
    recipe.refuse_while_at_work(bench.workspace)
    for project in recipe.demo_projects(bench.workspace):
        jobs.discard_project(bench.workspace, project.id)
