"""Choose candidate pairs, and have them labelled."""

import streamlit as st

from augsbert_core import ui
from augsbert_core.steps.labelers import scorers_at_hand
from augsbert_core.storage.candidates import list_candidate_sets
from augsbert_core.storage.projects import count_project
from augsbert_core.storage.runs import runs_with_model
from augsbert_core.storage.sentences import corpus_size
from augsbert_core.storage.silver_sets import list_silver_sets
from augsbert_core.ui import candidate_sets, labelling_form
from augsbert_core.ui import sampling_forms as forms
from augsbert_core.ui.augment_form import augment_form
from augsbert_core.ui.gold_import import bring_your_own
from augsbert_core.ui.last_job import needs_a_look
from augsbert_core.ui.preview_panel import preview_panel
from augsbert_core.ui.retrieval_panel import negatives_panel
from augsbert_core.ui.sampling_size import size_panel

bench = ui.open_bench()
ui.page_header(
    "Sample",
    "From n sentences one can make n(n−1)/2 pairs, almost all of them unrelated; which of them are labelled "
    "decides what the bi-encoder can learn (paper §3.1 and §6.1). Choose **candidate pairs** with a strategy, "
    "then let the labeler score them: each costs one pass of the cross-encoder. People can score them, too.",
)
project = ui.need_project(bench)
counts = count_project(bench.workspace, project.id)
if not counts.train and not counts.unlabelled_sentences:
    ui.empty_state(
        "There are no sentences to pair yet. Candidates are made of the sentences of gold training pairs and of "
        "unlabelled text: import gold pairs, or bring your own sentences below.",
        page="gold",
        label="Import gold pairs",
    )
    bring_your_own(bench, project, open_at_first=True)
    st.stop()
bring_your_own(bench, project, open_at_first=False)

labelers = scorers_at_hand(bench.workspace, project)
encoders = runs_with_model(bench.workspace, project.id, "train-bi-encoder")
silver_sets = list_silver_sets(bench.workspace, project.id)

st.subheader("1 · Choose candidate pairs", anchor=False)
left, right = st.columns([2.6, 1], gap="medium")
with left, st.container(border=True):
    step, options, start = forms.strategy_form(
        project,
        counts.unlabelled_sentences,
        labelers,
        encoders,
        silver_sets,
        has_gold=bool(counts.train),
    )
with right, st.container(border=True, height="stretch"):
    newest = labelers[0].labeler if labelers else ""
    speed = labelling_form.last_speed(bench, project, newest)
    size_panel(
        options,
        lambda use_unlabelled: corpus_size(
            bench.workspace, project.id, use_unlabelled=use_unlabelled
        ),
        speed[0] if speed else None,
    )
if start and options:
    ui.launch(bench, step, options)

if needs_a_look(bench, "sample", "sample-stratified"):
    ui.job_panel(bench, ["sample", "sample-stratified"])
sets = list_candidate_sets(bench.workspace, project.id)
if not sets:
    ui.empty_state(
        "No candidate pairs yet. Press “Sample pairs” above: it takes seconds and costs no label. Each set is listed "
        "here with its overlaps, ready to be scored by the labeler or by people."
    )
    augment_form(bench, project)
    negatives_panel(bench, project)
    st.stop()

candidate_sets.candidate_table(bench, sets, silver_sets)
candidate_sets.show_notices(sets[0])
candidate_sets.explain_newest(sets, silver_sets)
with st.expander("Look at the pairs", icon=":material/visibility:"):
    candidate_sets.candidate_details(bench, sets)

st.subheader("2 · Let the labeler score them", anchor=False)
left, right = st.columns([2.6, 1], gap="medium")
with left, st.container(border=True):
    label_options = labelling_form.label_inputs(bench, project, sets, labelers)
    pressed = labelling_form.label_buttons(label_options)
    if not counts.train:
        st.info(
            "There is no gold yet to train a labeler on. Score some of these pairs by hand: they become your gold pairs.",
            icon=":material/draw:",
        )
        ui.page_link("annotate", "Annotate these pairs")
    elif not labelers:
        st.caption("There is no labeler of your own yet: train one, or type the name of another.")
        ui.page_link("cross_encoder", "Train a cross-encoder")
with right, st.container(border=True, height="stretch"):
    n_pairs = next(
        (s.n_pairs for s in sets if label_options and s.id == label_options.candidate_set_id),
        sets[0].n_pairs,
    )
    labelling_form.cost_panel(bench, project, label_options, n_pairs)
if pressed.label and label_options:
    ui.launch(bench, "label", label_options)
if pressed.preview and label_options:
    ui.launch(bench, "preview", labelling_form.preview_options(label_options))
if pressed.check and label_options:
    ui.launch(bench, "preview", labelling_form.check_options(label_options))

if needs_a_look(bench, "preview"):
    ui.job_panel(bench, ["preview"])
preview_panel(bench, project, label_options)
ui.job_panel(bench, ["label"])
labelling_form.explain_newest(bench, project, silver_sets, labelers)
if counts.silver_sets:
    ui.page_link("silver", "Look at the silver labels")
augment_form(bench, project)
negatives_panel(bench, project)
