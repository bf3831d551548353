"""Choose candidate pairs, and have them labelled."""

import streamlit as st

from augsbert_core import ui
from augsbert_core.storage.candidates import list_candidate_sets
from augsbert_core.storage.projects import count_project
from augsbert_core.storage.runs import list_runs
from augsbert_core.storage.sentences import corpus_size
from augsbert_core.ui import sampling_forms as forms
from augsbert_core.ui.last_job import needs_a_look

bench = ui.open_bench()
ui.page_header(
    "Sample",
    "From n sentences one can make n(n−1)/2 pairs, almost all of them unrelated; which of them are labelled "
    "decides what the bi-encoder can learn (paper §3.1 and §6.1). Choose **candidate pairs** with a strategy, "
    "then let the labeler score them: each costs one pass of the cross-encoder.",
)
project = ui.need_project(bench)
counts = count_project(bench.workspace, project.id)
if not counts.train and not counts.unlabelled_sentences:
    ui.empty_state(
        "There are no sentences to pair yet. Import gold pairs or unlabelled sentences first.",
        page="gold",
        label="Import sentences",
    )
    st.stop()

st.subheader("1 · Choose candidate pairs", anchor=False)
left, right = st.columns([3, 1], gap="medium")
with left, st.container(border=True):
    options = forms.sample_inputs(project, counts.unlabelled_sentences)
    sample_now = st.button("Sample pairs", type="primary", icon=":material/casino:")
size = corpus_size(bench.workspace, project.id, use_unlabelled=options.use_unlabelled)
with right, st.container(border=True, height="stretch"):
    st.metric(
        "Sentences to pair",
        f"{size:,}",
        help="Training sentences, and unlabelled ones if chosen. Sentences of dev and test never take part.",
    )
    st.metric(
        "Pairs at most",
        forms.expected_pairs(options, size),
        help="Gold pairs are left out, and a pair that is found from both sides counts once.",
    )
if sample_now:
    ui.launch(bench, "sample", options)

if needs_a_look(bench, "sample"):
    ui.job_panel(bench, ["sample"])
sets = list_candidate_sets(bench.workspace, project.id)
if not sets:
    ui.empty_state(
        "No candidate pairs yet. Sample some above: it takes seconds and costs no label."
    )
    st.stop()

forms.show_notices(sets[0])
forms.candidate_table(bench, sets)
with st.expander("Look at the pairs", icon=":material/visibility:"):
    forms.candidate_details(bench, sets)

st.subheader("2 · Let the labeler score them", anchor=False)
labelers = list_runs(bench.workspace, project.id, "train-cross-encoder")
left, right = st.columns([3, 1], gap="medium")
with left, st.container(border=True):
    label_options = forms.label_inputs(bench, project, sets, labelers)
    label_now = st.button(
        "Label the candidates",
        type="primary",
        icon=":material/auto_awesome:",
        disabled=label_options is None,
    )
    if not labelers:
        st.caption("There is no labeler of your own yet: train one, or type the name of another.")
        ui.page_link("cross_encoder", "Train a cross-encoder")
with right, st.container(border=True, height="stretch"):
    passes = next(
        (s.n_pairs for s in sets if label_options and s.id == label_options.candidate_set_id),
        sets[0].n_pairs,
    )
    st.metric("Cross-encoder passes", f"{passes:,}", help="One per candidate pair: the cost.")
    st.caption(forms.cost_text(bench, label_options, passes))
if label_now and label_options:
    ui.launch(bench, "label", label_options)

ui.job_panel(bench, ["label"])
if counts.silver_sets:
    ui.page_link("silver", "Look at the silver labels")
