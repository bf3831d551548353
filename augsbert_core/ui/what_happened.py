"""The expander below a result that explains it with its own numbers."""

from collections.abc import Sequence

import streamlit as st

from augsbert_core.ui.widgets import READING_WIDTH, as_text

LABEL = "What happened here?"


def what_happened(sentences: Sequence[str], key: str) -> None:
    """Plain sentences behind a question; nothing where there are none. key: tells this result from others on a page."""
    if not sentences:
        return
    with (
        st.expander(LABEL, icon=":material/help:", key=f"what-happened-{key}"),
        st.container(width=READING_WIDTH),
    ):
        st.markdown("\n".join(f"- {as_text(sentence)}" for sentence in sentences))
