"""Train the labeler."""

import streamlit as st

from augsbert_core import ui
from augsbert_core.options import CrossEncoderOptions
from augsbert_core.storage.projects import count_project
from augsbert_core.storage.runs import list_runs
from augsbert_core.ui import recipes

PAGE, STEP = "cross", "train-cross-encoder"
DEFAULTS = CrossEncoderOptions()
PAPER = {"base": recipes.BASES[1], "batch_size": 16, "learning_rate": 1e-5}
USUAL = {
    name: getattr(DEFAULTS, name) for name in ("base", "epochs", "batch_size", "learning_rate")
}

bench = ui.open_bench()
ui.page_header(
    "Cross-encoder",
    "A cross-encoder reads both sentences of a pair together, which makes it the better judge, but far too "
    "slow for search: every pair costs a full pass. Trained on your gold pairs it becomes the **labeler** "
    "that scores new pairs, from which a fast bi-encoder then learns (paper §3.1).",
)
project = ui.need_project(bench)
counts = count_project(bench.workspace, project.id)
if not counts.train:
    ui.empty_state(
        "There are no gold pairs to train on yet. Import some into the training split first.",
        page="gold",
        label="Import gold pairs",
    )
    st.stop()

form, facts = st.columns([3, 1], gap="medium")
with form, st.container(border=True):
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**Recipe**", width="stretch")
        st.button(
            "Paper's recipe",
            icon=":material/article:",
            on_click=recipes.fill,
            args=(PAGE, project, PAPER),
            help="BERT-base with learning rate 1e-5 and batch 16 (paper §5). BERT-base is downloaded, and "
            "so small a rate needs thousands of gold pairs or many epochs.",
        )
        st.button(
            "Our default",
            icon=":material/restart_alt:",
            on_click=recipes.fill,
            args=(PAGE, project, USUAL),
            help="The small bundled model with a higher learning rate and more epochs: "
            "quick on a CPU and better on few gold pairs.",
        )
    base = recipes.base_input(PAGE, project, DEFAULTS.base)
    options = CrossEncoderOptions(base=base, **recipes.common_inputs(PAGE, project, DEFAULTS))
    start = st.button("Train the cross-encoder", type="primary", icon=":material/play_arrow:")

steps = recipes.optimiser_steps(counts.train, batch_size=options.batch_size, epochs=options.epochs)
with facts, st.container(border=True, height="stretch"):
    st.metric("Gold pairs to train on", f"{counts.train:,}", help="The train split.")
    st.metric(
        "Dev pairs",
        f"{counts.dev:,}",
        help="The checkpoint with the best score on the dev split is kept.",
    )
    st.metric("Optimiser steps", f"{steps:,}", help="Pairs ÷ batch size, rounded up, × epochs.")
if not counts.dev:
    st.warning(
        "There are no dev pairs, so the last checkpoint is kept, good or bad. Put some gold pairs "
        "into the dev split on the Gold page.",
        icon=":material/warning:",
    )
if start:
    ui.launch(bench, STEP, options)

ui.job_panel(bench, [STEP])

st.subheader("Trained labelers", anchor=False)
labelers = list_runs(bench.workspace, project.id, STEP)
if labelers:
    recipes.runs_table(labelers, CrossEncoderOptions)
    st.caption("Compare only runs with the same dev pairs. Next: choose pairs for the labeler.")
    ui.page_link("sample", "Sample candidate pairs")
else:
    ui.empty_state("None yet. The first one takes a few minutes on a CPU.")
