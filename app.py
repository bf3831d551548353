"""The AugSBERT Workbench: page titles, icons and order."""

import streamlit as st

from augsbert_core import ui

st.set_page_config(
    page_title="AugSBERT Workbench",
    page_icon=ui.FAVICON,
    layout="wide",
    initial_sidebar_state=ui.SIDEBAR_WIDTH,
)


def page(name: str, title: str, icon: str, *, hidden: bool = False) -> st.Page:
    """One page of the loop: its file, and how the menu shows it."""
    return st.Page(
        f"pages/{name}.py",
        title=title,
        icon=f":material/{icon}:",
        url_path=name,
        default=name == "start",
        visibility="hidden" if hidden else "visible",
    )


def class_pages() -> dict[str, list[st.Page]]:
    """The teacher's page; without a class there is none."""
    if not ui.in_class():
        return {}
    return {"Class": [page("classroom", "Classroom", "groups", hidden=not ui.is_teacher())]}


st.navigation(
    {
        "Data": [
            page("start", "Start", "home"),
            page("learn", "Learn", "school"),
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
    }
    | class_pages(),
    expanded=True,
).run()
