"""Train the labeler, or a student that reads pairs."""

import streamlit as st

from augsbert_core import ui
from augsbert_core.options import CrossEncoderOptions
from augsbert_core.storage.gold_samples import count_classes
from augsbert_core.storage.projects import count_project
from augsbert_core.storage.runs import list_runs
from augsbert_core.ui import cross_encoder_form as form_parts
from augsbert_core.ui import cross_encoder_plan as plan_parts
from augsbert_core.ui import cross_encoder_runs as runs_parts
from augsbert_core.ui import recipes
from augsbert_core.ui.gate_panel import gate_panel
from augsbert_core.ui.students import complete_sets

STEP = "train-cross-encoder"

bench = ui.open_bench()
ui.page_header(
    "Cross-encoder",
    "A cross-encoder reads both sentences of a pair together, which makes it the better judge, but far too "
    "slow for search: every pair costs a full pass. Trained on your gold pairs it becomes the **labeler** "
    "that scores new pairs, from which a fast bi-encoder then learns (paper §3.1).",
)
project = ui.need_project(bench)
ui.tell_missing_models(bench, project)
counts = count_project(bench.workspace, project.id)
if not counts.train and not complete_sets(bench, project):
    ui.empty_state(
        "There are no gold pairs to train on yet. The labeler learns what a score means from pairs that people have "
        "scored: import some into the training split, or score some by hand.",
        page="gold",
        label="Import gold pairs",
        also=[("annotate", "Score pairs by hand")],
    )
    st.stop()

classes = count_classes(bench.workspace, project.id, "train")
one_class = project.task == "classification" and counts.train > 0 and 0 in classes
form, facts = st.columns([3, 1], gap="medium")
offer = form.container()
with form, st.container(border=True):
    form_parts.presets(project)
    options = form_parts.recipe_inputs(bench, project, classes, has_gold=counts.train > 0)
ready = True
with offer:
    if one_class and options.use_gold and classes[1]:
        options = plan_parts.negatives_input(bench, project, counts, options)
        ready = options.negatives != "none"
    elif one_class and options.use_gold:
        st.error(
            "All gold training pairs are negatives. A cross-encoder trained on them alone learns to say no to any "
            "pair; positives have to come from people. Import some on the Gold page.",
            icon=":material/balance:",
        )
        ready = False
with form, st.container(border=True, horizontal=True, vertical_alignment="center"):
    with st.container(width="stretch", gap="xsmall"):
        plan_parts.notices(bench, project, counts, options)
    start = st.button(
        "Train the cross-encoder",
        type="primary",
        icon=":material/play_arrow:",
        disabled=not ready,
        help="Queue the training; it goes on with the browser closed."
        if ready
        else "Choose negatives first.",
    )
with facts, st.container(border=True):
    plan_parts.show_plan(bench, project, counts, classes, options)
if start:
    ui.launch(bench, STEP, options)

ui.job_panel(bench, [STEP])

st.subheader("Trained cross-encoders", anchor=False)
trained = list_runs(bench.workspace, project.id, STEP)
if trained:
    recipes.runs_table(trained, CrossEncoderOptions)
    st.caption("Compare only runs with the same dev pairs. Next: choose pairs for the labeler.")
    ui.page_link("sample", "Sample candidate pairs")
    runs_parts.closer_look(bench, project, trained, counts.dev)
else:
    ui.empty_state(
        "None yet. Press “Train the cross-encoder” above; the first one takes a few minutes on a CPU. Each is listed "
        "here with its score on dev, and can then label candidate pairs."
    )

gate_panel(bench, project)
