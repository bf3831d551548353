"""The project's own guideline: shown beside each pair, written in Markdown, saved at once."""

import re

import streamlit as st

from augsbert_core.storage.projects import (
    LONGEST_GUIDELINE,
    GuidelineChanged,
    get_project,
    set_guideline,
)
from augsbert_core.storage.records import Project
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.widgets import WORD_JOINER, user_errors

EXAMPLE = """How close in meaning are the two sentences?

- **5** the same meaning, in other words
- **4** the same but for a detail that does not matter
- **3** roughly the same, but something important differs
- **2** not the same, but they share some details
- **1** not the same, only the topic is shared
- **0** nothing in common

Take a half step when you waver between two."""
"""The scale of the STS shared tasks (Agirre et al. 2012), as a start."""

ASIDE_PIXELS = 330


def guideline_aside(bench: Bench, project: Project) -> None:
    """The guideline beside a pair, with a way to change it in place."""
    text = _read(bench, project)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**Guideline**", width="stretch")
        with st.popover(
            "Edit",
            icon=":material/edit:",
            type="tertiary",
            width="content",
            help="What each score means, for all annotators of this project.",
        ):
            _editor(bench, project, "aside", text)
    if not text:
        st.caption("None yet. Say what each score means, so that all annotators mean the same.")
        return
    with st.container(height=ASIDE_PIXELS if len(text) > 500 else "content", border=False):
        st.markdown(without_images(text))


@st.fragment
def guideline_panel(bench: Bench, project: Project) -> None:
    """Write the guideline with a preview beside it."""
    text = _read(bench, project)
    left, right = st.columns(2, gap="medium")
    with left:
        _editor(bench, project, "panel", text)
        if not text:
            st.button(
                "Begin with the scale of the STS tasks",
                icon=":material/content_paste:",
                on_click=_save,
                args=(bench, project, EXAMPLE, text),
                help="Puts in the six levels of SemEval's similarity tasks, from 0, unrelated, to 5, the same "
                "meaning. Change them to fit your pairs.",
            )
    with right:
        st.caption("As annotators see it")
        with st.container(border=True, height=300):
            st.markdown(without_images(text) or "*Nothing yet.*")


def without_images(text: str) -> str:
    """Markdown that loads nothing by itself: an image becomes a link, which has to be clicked.

    A guideline may come from elsewhere in an archive, and an image would tell its owner who reads it, and when.
    """
    # All syntaxes of images begin with these two characters side by side, whatever is around them.
    return re.sub(r"!(?=\[)", f"!{WORD_JOINER}", text)


def _read(bench: Bench, project: Project) -> str:
    """As it is now: another window may have changed it."""
    return get_project(bench.workspace, project.id).guideline


def _editor(bench: Bench, project: Project, place: str, text: str) -> None:
    _clash(bench, project, place, text)
    # With every text that is saved, here or elsewhere, it is a new field that begins with that text.
    key = f"guideline-{place}-{project.id}-{hash(text)}"
    st.session_state.setdefault(key, text)
    st.text_area(
        "Guideline (Markdown)",
        key=key,
        height=300,
        max_chars=LONGEST_GUIDELINE,
        on_change=lambda: _save(bench, project, st.session_state[key], text),
        help="Saved as soon as you leave the field. Markdown is obeyed, but images are links; HTML is shown as text.",
    )


def _save(bench: Bench, project: Project, text: str, seen: str) -> None:
    """Save a text that was made from the guideline `seen`; one that others have saved since is not overwritten."""
    with user_errors():
        try:
            set_guideline(bench.workspace, project.id, text, seen=seen)
        except GuidelineChanged:
            st.session_state[_clash_key(project)] = text
            st.toast("Not saved: the guideline was changed elsewhere", icon=":material/block:")
            return
        st.session_state.pop(_clash_key(project), None)
        st.toast("Guideline saved", icon=":material/check_circle:")


def _clash_key(project: Project) -> str:
    return f"guideline-not-saved-{project.id}"


def _clash(bench: Bench, project: Project, place: str, text: str) -> None:
    """Say that someone else saved a guideline while this one was written, and show this one. text: theirs."""
    mine = st.session_state.get(_clash_key(project))
    if mine is None:
        return
    st.warning(
        "The guideline was changed elsewhere meanwhile, so yours was not saved. Theirs is in the field, yours is here:",
        icon=":material/block:",
    )
    st.code(mine, language=None, wrap_lines=True)
    with st.container(horizontal=True):
        st.button(
            "Replace theirs with mine",
            key=f"guideline-{place}-mine",
            on_click=lambda: _save(bench, project, mine, text),
            help="Saves your text; what was written meanwhile is lost.",
        )
        st.button(
            "Drop mine",
            key=f"guideline-{place}-theirs",
            on_click=st.session_state.pop,
            args=(_clash_key(project), None),
            help="The text that was saved meanwhile stays; yours is lost.",
        )
