"""Train the student: on gold, silver or both, by a recipe of one stage or several."""

import streamlit as st

from augsbert_core import jobs, ui
from augsbert_core.options import BiEncoderOptions
from augsbert_core.steps.recipes import gold_only_twin
from augsbert_core.storage.projects import count_project
from augsbert_core.storage.runs import list_runs
from augsbert_core.ui import (
    recipes,
    seed_study_panel,
    student_result,
    students,
    training_plan,
)

STEP = students.STEP

bench = ui.open_bench()
ui.page_header(
    "Train",
    "A bi-encoder turns each sentence into one vector on its own, so millions can be compared in no time; but it "
    "needs more scored pairs than people can write. Train it on **gold and silver** together (paper §3.1), and "
    "once on gold alone, to know what silver adds.",
)
project = ui.need_project(bench)
ui.tell_missing_models(bench, project)
counts = count_project(bench.workspace, project.id)
if not training_plan.has_data(bench, project, counts):
    ui.empty_state(
        "There are no gold pairs to train on yet. A bi-encoder learns from scored pairs, gold and silver, and its "
        "checkpoints are chosen on gold: import some into the training split, or score some by hand.",
        page="gold",
        label="Import gold pairs",
        also=[("annotate", "Score pairs by hand")],
    )
    st.stop()

form, facts = st.columns([3, 1], gap="medium")
options, planned = None, ()
with form, st.container(border=True), ui.user_errors():
    options = students.student_inputs(bench, project)
if options is not None:
    with form:
        planned = training_plan.planned_stages(bench, project, options)
with form, st.container(border=True, horizontal=True, vertical_alignment="center"):
    twin = None
    if options is not None and planned and students.can_have_twin(options, counts):
        twin = gold_only_twin(options, [stage.n_steps for stage in planned])
        twin = twin if students.twin_input(bench, project, twin) else None
    elif options is not None and options.patience and options.silver_set_id is not None:
        st.caption(students.NO_TWIN_YET)
    st.space("stretch")
    start = st.button(
        "Train both" if twin else "Train",
        type="primary",
        icon=":material/play_arrow:",
        disabled=not planned,
        help="Queue the training; it goes on with the browser closed.",
    )
if options is not None and planned:
    with facts, st.container(border=True, height="stretch"):
        students.show_plan(bench, project, counts, planned, options)
    if start and twin:
        with ui.user_errors():
            jobs.enqueue(bench.workspace, project.id, STEP, options)
            ui.launch(bench, STEP, twin)
    elif start:
        ui.launch(bench, STEP, options)

ui.job_panel(bench, [STEP])

st.subheader("Trained bi-encoders", anchor=False)
trained = list_runs(bench.workspace, project.id, STEP)
if trained:
    recipes.runs_table(trained, BiEncoderOptions)
    st.caption("Dev scores chose the checkpoints, so they flatter. Judge on the test split.")
    ui.page_link("compare", "Compare on the test split")
    student_result.explain_newest(bench, project, trained)
    training_plan.export_section(bench, project, trained)
else:
    ui.empty_state(
        "None yet. Press “Train” or “Train both” above. One on gold alone belongs beside every one with silver: it is what silver "
        "has to beat."
    )
if options is not None:
    seed_study_panel.seed_study_section(bench, project, options)
