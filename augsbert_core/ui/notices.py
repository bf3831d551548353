"""What the last decision on a silver set did, kept until the next one."""

import streamlit as st

from augsbert_core.ui.widgets import as_text

NOTICE = "silver-notice"
HOW_TO = "Select a score or a status and type, or open a pair. Every edit is saved at once."


class Refused(str):
    """A notice that says why nothing was saved."""

    __slots__ = ()


def tell(text: str) -> None:
    """Keep what was done, or as `Refused` why nothing was, for `show_notice`."""
    st.session_state[NOTICE] = text


def show_notice(how_to: str = HOW_TO) -> None:
    """What the last edit, undo or redo did; how_to: how to begin, as long as there was none."""
    text = st.session_state.get(NOTICE)
    if isinstance(text, Refused):
        st.warning(as_text(text), icon=":material/block:")
    elif text:
        st.caption(f":material/check: {as_text(text)}")
    else:
        st.caption(f":material/edit: {how_to}")
