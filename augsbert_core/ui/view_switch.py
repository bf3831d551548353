"""The row of buttons with which one of several views of a page is chosen."""

from collections.abc import Mapping

import streamlit as st


def view_switch(views: Mapping[str, str], key: str) -> str:
    """Let one of some views be chosen, the first to begin with, and keep the choice in the session.

    views: name in the code → words on the screen.
    """
    return st.segmented_control(
        "View",
        list(views),
        format_func=views.__getitem__,
        default=next(iter(views)),
        required=True,
        key=key,
        label_visibility="collapsed",
        persist_state="session",
    )
