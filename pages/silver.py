"""The density lab: see how the silver scores are spread, keep a part of them, and correct them."""

from functools import partial

import streamlit as st

from augsbert_core import ui
from augsbert_core.storage.projects import count_project
from augsbert_core.storage.silver_sets import list_silver_sets
from augsbert_core.ui import silver_filters
from augsbert_core.ui.audit_panel import audit_captions, audit_panel
from augsbert_core.ui.density_lab import density_lab
from augsbert_core.ui.keep_lab import keep_lab
from augsbert_core.ui.last_job import needs_a_look
from augsbert_core.ui.loop_panel import loop_panel
from augsbert_core.ui.silver_review import is_one_by_one, silver_review
from augsbert_core.ui.strategies_view import strategies_view
from augsbert_core.ui.topk_lab import topk_lab
from augsbert_core.ui.widgets import READING_WIDTH

bench = ui.open_bench()
ui.page_header("Silver", "")
why = st.empty()
with why.container(width=READING_WIDTH):
    st.markdown(
        "Silver pairs are candidates with the labeler's score. They help only if they cover the scale as the gold "
        "pairs do: compare the densities (paper §6.1, fig. 4), keep the part that follows gold (§3.1), read some "
        "pairs, and correct what is wrong."
    )
project = ui.need_project(bench)
sets = [found for found in list_silver_sets(bench.workspace, project.id) if found.n_pairs]
if not sets:
    counts = count_project(bench.workspace, project.id)
    ui.job_panel(bench, ["label", "sample-stratified"])
    ui.empty_state(
        "There are no silver pairs yet. "
        + (
            "Let the labeler score a candidate set first."
            if counts.candidate_sets
            else "Sample candidate pairs, then let the labeler score them."
        )
        + ("" if counts.cross_encoders else " The labeler is a cross-encoder trained on gold."),
        page="sample",
        label="Sample and label",
        also=[] if counts.cross_encoders else [("cross_encoder", "Train a labeler")],
    )
    st.stop()

found = silver_filters.choose_set(sets)
one_by_one = is_one_by_one(found.id)
if not one_by_one:
    audit_captions(bench.workspace, project, [found.id])
if not found.is_complete:
    st.warning(
        f"Only {found.n_pairs:,} of {found.n_candidates:,} pairs are labelled so far. "
        "Training waits until the set is complete.",
        icon=":material/hourglass_empty:",
    )
    ui.job_panel(bench, ["label", "sample-stratified"])
if needs_a_look(bench, "keep"):
    ui.job_panel(bench, ["keep"])


def lab() -> None:
    """How the scores are spread, and what is kept of them."""
    view = silver_filters.choose_view(project)
    on_range = partial(silver_filters.set_range, found.id, project.score_range)
    if view == "keep":
        keep_lab(bench, project, found, on_range)
    elif view == "top-k":
        topk_lab(bench, project, found, sets)
    elif view == "strategies":
        strategies_view(bench, project, sets)
    else:
        density_lab(bench, project, found, sets, on_range)
    audit_panel(bench, project, found)


if one_by_one:
    # The pair and its keys come first, without scrolling; the lab waits below.
    why.empty()
    silver_review(bench, project, found)
    below = st.expander(
        "Show the densities", icon=":material/area_chart:", key="silver-lab", on_change="rerun"
    )
    if below.open:
        with below:
            lab()
else:
    lab()
    silver_review(bench, project, found)
loop_panel(bench, project, found, sets)
ui.page_link("train", "Train a bi-encoder on these pairs")
