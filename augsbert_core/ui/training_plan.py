"""What a training would read, what is missing for it, and what to do with the models that came out."""

from collections.abc import Sequence

import streamlit as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import BiEncoderOptions, from_json, to_json
from augsbert_core.steps import STEPS
from augsbert_core.steps.recipe_checks import StagePlan, plan
from augsbert_core.steps.recipes import stages_of
from augsbert_core.storage import gold
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.nli import count_nli
from augsbert_core.storage.projects import ProjectCounts, get_project
from augsbert_core.storage.records import Project, Run
from augsbert_core.storage.silver_sets import get_silver_set
from augsbert_core.storage.triplets import count_triplets
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.widgets import as_text, page_link

STEP = "train-bi-encoder"


def has_data(bench: Bench, project: Project, counts: ProjectCounts) -> bool:
    """Whether there is anything that a bi-encoder could be trained on."""
    return bool(
        counts.train
        or counts.silver_pairs
        or sum(count_nli(bench.workspace, project.id).values())
        or count_triplets(bench.workspace, project.id)
    )


def planned_stages(
    bench: Bench, project: Project, options: BiEncoderOptions
) -> tuple[StagePlan, ...]:
    """The stages with their rows and steps; () with a warning on the page when something is missing."""
    try:
        STEPS[STEP].check(bench.workspace, project, options)
        return _plan(bench, project, options)
    except WorkbenchError as error:
        st.warning(as_text(str(error)), icon=":material/warning:")
        if "Gold page" in str(error):
            page_link("gold", "Import data")
        return ()


def _plan(bench: Bench, project: Project, options: BiEncoderOptions) -> tuple[StagePlan, ...]:
    reads_rows = any(stage.loss in ("mnrl", "triplet") for stage in stages_of(options))
    if not reads_rows:
        return plan(bench.workspace, project, options)
    revision = 0
    if options.silver_set_id is not None:
        revision = get_silver_set(bench.workspace, options.silver_set_id).revision
    pairs = gold.scored_pairs(bench.workspace, project.id, "train")
    data = (
        str(bench.workspace.home),
        revision,
        gold.data_hash(pairs),
        *count_nli(bench.workspace, project.id).values(),
        count_triplets(bench.workspace, project.id),
    )
    return _plan_by_rows(bench.workspace, project.id, to_json(options), data)


@st.cache_data(max_entries=16, show_spinner="Reading the training rows …")
def _plan_by_rows(
    _workspace: Workspace, project_id: int, options: str, data: tuple[object, ...]
) -> tuple[StagePlan, ...]:
    """The plan of losses that choose their rows. data: tells whether what they choose from is the same."""
    project = get_project(_workspace, project_id)
    return plan(_workspace, project, from_json(BiEncoderOptions, options))


def export_section(bench: Bench, project: Project, trained: Sequence[Run]) -> None:
    """Choose a trained model and take it out of the workbench."""
    from augsbert_core.ui.export_panel import export_panel

    with st.expander("Export a model", icon=":material/ios_share:"):
        names = {run.id: f"Run {run.id}: {run.name}" for run in trained}
        chosen = st.selectbox(
            "Model",
            list(names),
            format_func=names.__getitem__,
            help="The model that is exported, with a card that says how it was made and how it did.",
            key=f"train-{project.id}-export",
        )
        run = next((run for run in trained if run.id == chosen), trained[0])
        export_panel(bench, run)
