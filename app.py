"""The AugSBERT Workbench: page titles, icons and order."""

import streamlit as st

from augsbert_core import ui

st.set_page_config(
    page_title="AugSBERT Workbench",
    page_icon=ui.FAVICON,
    layout="wide",
    initial_sidebar_state=ui.SIDEBAR_WIDTH,
)


def page(name: str, title: str, icon: str) -> st.Page:
    """One page of the loop: its file, and how the menu shows it."""
    return st.Page(
        f"pages/{name}.py",
        title=title,
        icon=f":material/{icon}:",
        url_path=name,
        default=name == "start",
    )


st.navigation(
    {
        "Data": [
            page("start", "Start", "home"),
            page("gold", "Gold", "verified"),
            page("annotate", "Annotate", "edit_note"),
        ],
        "Loop": [
            page("cross_encoder", "Cross-encoder", "compare_arrows"),
            page("sample", "Sample", "casino"),
            page("silver", "Silver", "auto_awesome"),
            page("train", "Train", "model_training"),
        ],
        "Results": [
            page("compare", "Compare", "leaderboard"),
            page("try", "Try", "search"),
            page("experiments", "Experiments", "science"),
            page("jobs", "Jobs", "pending_actions"),
        ],
    },
    expanded=True,
).run()
