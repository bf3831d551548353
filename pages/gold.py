"""Gold: import scored sentence pairs, and look at them."""

import streamlit as st

from augsbert_core import ui
from augsbert_core.storage.projects import count_project
from augsbert_core.ui.gold_import import (
    KINDS_WITHOUT_SCORES,
    import_panel,
    import_without_scores,
    show_reports,
)
from augsbert_core.ui.gold_overview import imports, overview
from augsbert_core.ui.label_errors import label_errors_panel
from augsbert_core.ui.last_job import needs_a_look

bench = ui.open_bench()
ui.page_header(
    "Gold",
    "Gold pairs are sentence pairs that people have scored. The training split teaches the models, dev picks "
    "the best checkpoint, and test, which nothing else may touch, says in the end how good they are.",
)
project = ui.need_project(bench)

tabs = ("Gold pairs", "Import gold pairs", "Import unlabelled text", "Imports", "Label errors")
wanted = st.session_state.pop("gold-tab-next", None)
if wanted is None and "gold-tab" not in st.session_state:
    wanted = tabs[0] if count_project(bench.workspace, project.id).gold else tabs[1]
if wanted is not None:
    # Not as a default: that changes with the first gold pairs, and would take the user to another tab.
    st.session_state["gold-tab"] = wanted
pairs_tab, import_tab, unlabelled_tab, imports_tab, errors_tab = st.tabs(
    tabs, key="gold-tab", on_change="rerun"
)

if pairs_tab.open:
    with pairs_tab:
        show_reports(bench, whole=False)
        overview(bench, project)

if import_tab.open:
    with import_tab:
        st.markdown(
            "Files with two sentences and a score per row, whatever their columns are called. You see how each file "
            "was understood, and can overrule it; nothing is written before you have looked."
        )
        import_panel(bench, project, "pairs")

if unlabelled_tab.open:
    with unlabelled_tab:
        import_without_scores(bench, project, list(KINDS_WITHOUT_SCORES))

if imports_tab.open:
    with imports_tab:
        show_reports(bench)
        if needs_a_look(bench, "import-files"):
            ui.job_panel(bench, ["import-files"])
        imports(bench, project)

if errors_tab.open:
    with errors_tab:
        label_errors_panel(bench, project)
