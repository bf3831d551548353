"""Train the student on gold, or on gold and silver."""

from dataclasses import replace

import streamlit as st

from augsbert_core import jobs, ui
from augsbert_core.options import BiEncoderOptions
from augsbert_core.storage.projects import count_project
from augsbert_core.storage.runs import list_runs
from augsbert_core.ui import recipes, students

STEP = students.STEP

bench = ui.open_bench()
ui.page_header(
    "Train",
    "A bi-encoder turns each sentence into one vector on its own, so millions can be compared in no time; but it "
    "needs more scored pairs than people can write. Train it on **gold and silver** together (paper §3.1), and "
    "once on gold alone, to know what silver adds.",
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
    options = students.student_inputs(bench, project)
n_silver = students.count_training_silver(bench, options.silver_set_id)
steps = recipes.optimiser_steps(
    counts.train + n_silver,
    batch_size=options.batch_size,
    epochs=options.epochs,
    max_steps=options.max_steps,
)
twin = replace(options, silver_set_id=None, max_steps=steps)
with form, st.container(border=True, horizontal=True, vertical_alignment="center"):
    with_twin = options.silver_set_id is not None and students.twin_input(bench, project, twin)
    st.space("stretch")
    start = st.button(
        "Train both" if with_twin else "Train",
        type="primary",
        icon=":material/play_arrow:",
    )
with facts, st.container(border=True, height="stretch"):
    students.show_plan(counts.train, n_silver, counts.dev, steps, options)
if start:
    if with_twin:
        with ui.user_errors():
            jobs.enqueue(bench.workspace, project.id, STEP, options)
            ui.launch(bench, STEP, twin)
    else:
        ui.launch(bench, STEP, options)

ui.job_panel(bench, [STEP])

st.subheader("Trained bi-encoders", anchor=False)
trained = list_runs(bench.workspace, project.id, STEP)
if trained:
    recipes.runs_table(trained, BiEncoderOptions)
    st.caption("Dev scores chose the checkpoints, so they flatter. Judge on the test split.")
    ui.page_link("compare", "Compare on the test split")
else:
    ui.empty_state("None yet. Train one on gold alone first if there are no silver pairs so far.")
