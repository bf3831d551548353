"""Who sits in front of the screen: the name that decisions and annotations are kept under."""

import getpass

import streamlit as st

from augsbert_core.person_names import clean_line
from augsbert_core.ui.widgets import as_text

KEY = "annotator"
LONGEST_NAME = 60


def person() -> str:
    """The signed-in user, else the name typed in this session or carried by its address, else the account's name.

    The name is kept in the address of the page, so that a refresh or a restart does not lose it.
    """
    if signed_in := _signed_in():
        return signed_in
    name = clean_name(st.session_state.get(KEY) or st.query_params.get(KEY, ""))
    if name:
        st.query_params[KEY] = name
        st.session_state[KEY] = name
    return name or _account()


def clean_name(name: str) -> str:
    """A name as it is kept: one line that can be read, no space around it, not too long."""
    return clean_line(name, LONGEST_NAME)


def name_button() -> str:
    """A button that shows who is at work; the name is changed behind it. Returns the name.

    A field that keeps the focus would take the keys that are meant for the page, so it is gone once the name is taken.
    """
    name = person()
    if _signed_in():
        st.caption(f":material/person: {as_text(name)}")
        return name
    field, popover = f"{KEY}-new-{name}", f"{KEY}-popover"

    def take() -> None:
        st.session_state[KEY] = clean_name(st.session_state[field]) or name
        st.session_state[popover] = False

    with (
        st.popover(
            as_text(name),
            icon=":material/person:",
            help="Your name. Scores and decisions are kept under it.",
            key=popover,
            on_change="rerun",
        ),
        st.form(f"{KEY}-form", border=False),
    ):
        st.text_input(
            "Your name",
            value=name,
            key=field,
            max_chars=LONGEST_NAME,
            help="Undo takes back your own decisions alone. The name stays in the address of the page.",
        )
        st.form_submit_button(
            "Take this name",
            type="primary",
            on_click=take,
            help="Decisions and scores are kept under this name from now on; earlier ones keep theirs.",
        )
    return person()


def _signed_in() -> str:
    user = getattr(st, "user", None)
    if user is None or not getattr(user, "is_logged_in", False):
        return ""
    return clean_name(str(user.get("email") or user.get("name") or ""))


def _account() -> str:
    try:
        return clean_name(getpass.getuser()) or "reviewer"
    except (OSError, KeyError):  # no account name, as in some containers
        return "reviewer"
