"""Gold: import scored sentence pairs, and look at them."""

import streamlit as st

from augsbert_core import ui
from augsbert_core.storage.projects import count_project
from augsbert_core.ui.gold_import import (
    KINDS_WITHOUT_SCORES,
    WHAT_FOR,
    import_panel,
    show_reports,
)
from augsbert_core.ui.gold_overview import imports, overview

bench = ui.open_bench()
ui.page_header(
    "Gold",
    "Gold pairs are sentence pairs that people have scored. The training split teaches the models, dev picks "
    "the best checkpoint, and test, which nothing else may touch, says in the end how good they are.",
)
project = ui.need_project(bench)

tabs = ("Gold pairs", "Import gold pairs", "Import unlabelled text", "Imports")
if (wanted := st.session_state.pop("gold-tab-next", None)) is not None:
    st.session_state["gold-tab"] = wanted
pairs_tab, import_tab, unlabelled_tab, imports_tab = st.tabs(
    tabs,
    key="gold-tab",
    on_change="rerun",
    default=tabs[0] if count_project(bench.workspace, project.id).gold else tabs[1],
)

if pairs_tab.open:
    with pairs_tab:
        show_reports()
        overview(bench, project)

if import_tab.open:
    with import_tab:
        st.markdown(
            "Files with two sentences and a score per row. Nothing is written before you have looked."
        )
        import_panel(bench, project, "pairs")

if unlabelled_tab.open:
    with unlabelled_tab:
        kind = st.segmented_control(
            "What is in the file?",
            list(KINDS_WITHOUT_SCORES),
            default="sentences",
            required=True,
            format_func=KINDS_WITHOUT_SCORES.__getitem__,
            key="unlabelled-kind",
        )
        st.markdown(WHAT_FOR[str(kind)])
        import_panel(bench, project, str(kind))

if imports_tab.open:
    with imports_tab:
        show_reports()
        imports(bench, project)
