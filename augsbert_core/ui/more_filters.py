"""The less common filters of a silver set, and the job that lets a student score its pairs."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from augsbert_core.options import StudentScoresOptions
from augsbert_core.steps import try_it
from augsbert_core.storage import edits
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project, SilverSet
from augsbert_core.storage.silver_filters import SilverFilter
from augsbert_core.storage.silver_student import Student
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.job_panel import launch
from augsbert_core.ui.widgets import as_text


def more_filters(
    bench: Bench,
    project: Project,
    found: SilverSet,
    known: Sequence[str],
    student: Student | None,
) -> SilverFilter:
    """The less common filters, behind a button that says how many are on."""
    scale = project.score_range
    width = scale.high - scale.low
    number = _bounds_on(found.id)
    label = "More filters" + (f" :primary-badge[{number}]" if number else "")
    with st.popover(
        label,
        icon=":material/tune:",
        key=f"silver-more-{found.id}",
        help="By length, word overlap, doubts of the labeler, distance to a student, or who decided.",
    ):
        left, right = st.columns(2)
        least = _whole(left, "Words from", "min_words", found.id, WORDS_HELP)
        most = _whole(right, "Words up to", "max_words", found.id, WORDS_HELP)
        key = _defaulted(found.id, "overlap", (0.0, 1.0))
        st.slider(
            "Word overlap",
            0.0,
            1.0,
            step=0.01,
            key=key,
            persist_state="session",
            help="Words that both sentences have, as a share of all their words: 0 none, 1 the same words.",
        )
        lowest, highest = st.session_state[key]
        gap = spread = None
        if "order_gap" in known:
            gap = _share("Order gap from", "min_gap", found.id, width, ORDER_GAP_HELP)
        if "label_spread" in known:
            spread = _share("Spread from", "min_spread", found.id, width, SPREAD_HELP)
        apart = None
        if student is not None:
            apart = _share(
                "Labeler and student apart from", "min_disagreement", found.id, width, APART_HELP
            )
            st.caption(as_text(f"Student: {model_name(bench, project, student.model)}"))
        person = _person_input(bench.workspace, found.id)
        student_button(bench, project, found, student)
    return SilverFilter(
        min_words=least,
        max_words=most,
        min_overlap=lowest if lowest > 0 else None,
        max_overlap=highest if highest < 1 else None,
        min_gap=gap,
        min_spread=spread,
        min_disagreement=apart,
        edited_by=person,
    )


def model_name(bench: Bench, project: Project, target: str) -> str:
    """A model as people know it; its target when it is not in the workspace any more."""
    names = {choice.target: choice.label for choice in try_it.choices(bench.workspace, project)}
    return names.get(target, target.removeprefix("model:"))


WORDS_HELP = "Words of the longer sentence."
ORDER_GAP_HELP = "How far apart the scores of (A, B) and (B, A) are, on the project's scale: large where the labeler is unsure."
SPREAD_HELP = (
    "Standard deviation between the scorers whose mean is the label, on the project's scale."
)
APART_HELP = "How far the student's score is from the labeler's, on the project's scale."
MORE: dict[str, Any] = {
    "min_words": None,
    "max_words": None,
    "overlap": (0.0, 1.0),
    "min_gap": None,
    "min_spread": None,
    "min_disagreement": None,
    "edited_by": "",
}
"""Name of each of the less common filters → its value when it is off."""


def filter_key(set_id: int, name: str) -> str:
    """The state key of a filter."""
    return f"silver-{name}-{set_id}"


def _defaulted(set_id: int, name: str, default: Any) -> str:
    st.session_state.setdefault(filter_key(set_id, name), default)
    return filter_key(set_id, name)


def _bounds_on(set_id: int) -> int:
    return sum(
        st.session_state.get(filter_key(set_id, name), off) not in (off, None)
        for name, off in MORE.items()
    )


def _whole(place: Any, label: str, name: str, set_id: int, help_text: str) -> int | None:
    value = place.number_input(
        label,
        1,
        value=None,
        placeholder="any",
        key=filter_key(set_id, name),
        persist_state="session",
        help=help_text,
    )
    return None if value is None else int(value)


def _share(label: str, name: str, set_id: int, width: float, help_text: str) -> float | None:
    """A distance on the project's scale; returned as a share of it."""
    value = st.number_input(
        label,
        0.0,
        width,
        value=None,
        step=width / 50,
        format="%.2f",
        placeholder="any",
        key=filter_key(set_id, name),
        persist_state="session",
        help=help_text,
    )
    return value / width if value else None


def _person_input(workspace: Workspace, set_id: int) -> str:
    people = edits.actors(workspace, edits.Scope.silver(set_id))
    if not people:
        return ""
    key = _defaulted(set_id, "edited_by", "")
    if st.session_state[key] not in people:
        st.session_state[key] = ""
    return st.selectbox(
        "Decided by",
        ["", *people],
        format_func=lambda name: name or "anybody or nobody",
        key=key,
        persist_state="session",
        help="Pairs that a decision of this person stands for.",
    )


def student_button(
    bench: Bench, project: Project, found: SilverSet, student: Student | None
) -> None:
    """Let a model score the pairs of the set, so that they can be sorted by where it and the labeler disagree."""
    if not found.is_complete:
        return
    models = {
        choice.target: choice.label
        for choice in try_it.choices(bench.workspace, project)
        if choice.target != found.labeler
    }
    st.divider()
    if student is None:
        st.caption(
            "With the scores of a student, pairs can be filtered and sorted by how far it is from the labeler."
        )
    model = st.selectbox(
        "Student",
        list(models),
        format_func=models.__getitem__,
        key=f"silver-student-{found.id}",
        persist_state="session",
        help="The model whose cosines are held against the labeler's scores, to find pairs that one of them gets "
        "wrong.",
    )
    if st.button(
        "Score these pairs with a student" if student is None else "Score them with this one",
        icon=":material/school:",
        key=f"silver-student-go-{found.id}",
        width="stretch",
        help="One job over the whole set; its labels do not change.",
    ):
        launch(bench, "student-scores", StudentScoresOptions(found.id, model=model))
