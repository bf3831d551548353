"""Did silver help? One table and one figure on one split."""

from itertools import chain

import streamlit as st

from augsbert_core import ui
from augsbert_core.steps.compare import comparison, grouped
from augsbert_core.steps.verdict import verdicts
from augsbert_core.storage.projects import count_project
from augsbert_core.ui import compare_actions as actions
from augsbert_core.ui import compare_figures as figures
from augsbert_core.ui import compare_view as view
from augsbert_core.ui.audit_panel import audit_captions
from augsbert_core.ui.data_export import compare_export
from augsbert_core.ui.last_job import needs_a_look
from augsbert_core.ui.retrieval_panel import rerank_panel

SPLITS = {"test": "Test split", "dev": "Dev split"}

bench = ui.open_bench()
ui.page_header(
    "Compare",
    "All models of the project on the same gold pairs, beside the untrained model, plain word overlap, the "
    "gold-only bi-encoder (lower bound) and the cross-encoder (upper bound, paper §6.1). Silver has helped only if "
    "AugSBERT beats gold-only training **with as many steps** by more than the interval.",
)
project = ui.need_project(bench)
ui.tell_missing_models(bench, project)
counts = count_project(bench.workspace, project.id)
with st.container(horizontal=True, vertical_alignment="bottom"):
    split = st.segmented_control(
        "Measured on",
        list(SPLITS),
        format_func=lambda name: f"{SPLITS[name]} ({getattr(counts, name):,})",
        default="test",
        required=True,
        key="compare-split",
        persist_state="session",
        help="Report test scores. Checkpoints are chosen on dev, so dev scores flatter.",
    )
    st.space("stretch")
    buttons = st.container(horizontal=True, width="content")
if not getattr(counts, split):
    ui.empty_state(
        f"There are no gold pairs in the {split} split to measure on. Models are compared on pairs that people have "
        "scored and that none of them has learnt from: import some first.",
        page="gold",
        label="Import gold pairs",
        also=[("annotate", "Score pairs by hand")],
    )
    st.stop()

table = comparison(bench.workspace, project.id, split)
with buttons:
    actions.action_buttons(bench, table, actions.missing_baselines(bench.workspace, project.id))
if needs_a_look(bench, "evaluate"):
    ui.job_panel(bench, ["evaluate"])

if table.rows.empty:
    trained = counts.cross_encoders + counts.bi_encoders
    ui.empty_state(
        f"Nothing has been measured on the {split} split yet. Press “Measure {len(table.missing)} missing "
        f"models” above: it takes seconds per model."
        + ("" if trained else " Trained models join the table as soon as there are any.")
    )
    rerank_panel(bench, project)
    st.stop()

with st.spinner("Resampling the pairs for intervals and differences"):
    by_recipe = grouped(bench.workspace, project.id, table)
view.show_verdicts(verdicts(bench.workspace, project.id, table, by_recipe))
figures.show_figures(bench.workspace, project, table, by_recipe)
single = st.toggle(
    "Single runs",
    key="compare-single",
    help="One row per run. Otherwise runs that differ in nothing but their seed are one row, mean ± standard deviation.",
)
shown = grouped(bench.workspace, project.id, table, single=True) if single else by_recipe
view.show_table(table, shown)
view.show_notes(shown)
view.explain_table(table, by_recipe)
audit_captions(bench.workspace, project, chain.from_iterable(by_recipe.rows["silver_sets"]))
compare_export(table, shown)
actions.transfer_panel(bench, table)
rerank_panel(bench, project)
