"""Batches of runs: several seeds, sweeps, trials, learning curves, another domain."""

import streamlit as st

from augsbert_core import ui
from augsbert_core.storage.projects import count_project, list_projects
from augsbert_core.ui import experiment_results as results
from augsbert_core.ui import experiments

bench = ui.open_bench()
ui.page_header(
    "Experiments",
    "Several runs as one job in the background, so that a difference can be told from luck: every run is kept as if "
    "it had been started alone, and a batch that was interrupted goes on where it stopped.",
)
project = ui.need_project(bench)
others = [found.id for found in list_projects(bench.workspace) if found.id != project.id]
has_gold = count_project(bench.workspace, project.id).train > 0
if not has_gold and not any(count_project(bench.workspace, other).train for other in others):
    ui.empty_state(
        "There are no gold pairs to learn from yet. An experiment trains the same models several times on them, to "
        "tell a difference from luck: import some into the training split first.",
        page="gold",
        label="Import gold pairs",
        also=[("annotate", "Score pairs by hand")],
    )
    st.stop()

kind = experiments.choose_kind()
form, facts = st.columns([3, 1], gap="medium")
with form, st.container(border=True):
    planned = experiments.plan_input(bench, project, kind)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.space("stretch")
        experiments.start_button(bench, planned)
with facts, st.container(border=True, height="stretch"):
    if planned is not None:
        experiments.show_cost(bench, planned)

ui.job_panel(bench, ["batch"], ended=False)

st.subheader("Results", anchor=False)
found = results.past_experiments(bench, project)
if found:
    results.show_experiment(bench, found)
else:
    ui.empty_state(
        "None yet. Choose an experiment above and press “Start”; what it has found so far shows here, run by run: means, "
        "deviations, and what differs."
    )
