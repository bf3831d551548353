"""The seed study on the Train page: launch it with the present recipe, and read its result."""

from dataclasses import replace

import pandas as pd
import streamlit as st

from augsbert_core import explain
from augsbert_core.charts.seed_study import seed_study_figure
from augsbert_core.options import BiEncoderOptions, SeedStudyOptions, from_json, to_json
from augsbert_core.steps.recipes import stages_of
from augsbert_core.storage.records import Project, Run
from augsbert_core.storage.runs import list_runs
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.figures import draw
from augsbert_core.ui.job_panel import job_panel, launch
from augsbert_core.ui.last_job import needs_a_look
from augsbert_core.ui.recipes import METRIC_NAMES, keep, whole
from augsbert_core.ui.what_happened import what_happened
from augsbert_core.ui.widgets import as_text, duration_text, time_text

PAGE, STEP = "train", "seed-study"
DEFAULTS = SeedStudyOptions()


def seed_study_section(bench: Bench, project: Project, options: BiEncoderOptions) -> None:
    """An expander with the study's inputs, its job while it runs, and the newest result."""
    studies = list_runs(bench.workspace, project.id, STEP)
    with st.expander(
        "Seed study",
        icon=":material/scatter_plot:",
        expanded=needs_a_look(bench, STEP),
    ):
        st.markdown(
            "How early does the dev score of a seed tell how it will end? Every seed is trained to the end with the "
            "recipe above, and the order of the seeds at each point is compared with their final order "
            "(paper §5, figure 6). Where the line is high, seed optimisation may stop its trials."
        )
        _launch(bench, project, options)
        if needs_a_look(bench, STEP):
            job_panel(bench, [STEP])
        if studies:
            _result(project, studies)


def _launch(bench: Bench, project: Project, options: BiEncoderOptions) -> None:
    left, middle, right = st.columns([1, 3, 1], vertical_alignment="bottom")
    with left:
        seeds = whole(
            "Seeds to study", 3, 50, 1,
            "So many trainings to the end, one after another. Few seeds give wide bands.",
            **keep(PAGE, project, "study_seeds", DEFAULTS.seeds),
        )  # fmt: skip
    with middle:
        shares = st.multiselect(
            "Compare at",
            [5, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90],
            format_func=lambda share: f"{share} %",
            help="The shares of the steps at which the dev pairs are scored; the end always is.",
            **keep(PAGE, project, "study_at", [round(100 * each) for each in DEFAULTS.fractions]),
        )
    one_stage = len(stages_of(options)) == 1
    with right:
        started = st.button(
            "Study seeds",
            icon=":material/play_arrow:",
            disabled=not shares or not one_stage,
            help=f"Train {seeds} seeds to the end: about {seeds} times one training. No model is kept.",
        )
    if not one_stage:
        st.caption("A study needs a recipe of one stage; the one above has several.")
    if started:
        told = SeedStudyOptions(
            recipe=to_json(replace(options, seeds=1)),
            seeds=seeds,
            fractions=tuple(share / 100 for share in sorted(shares)),
            seed=options.seed,
            device=options.device,
        )
        launch(bench, STEP, told)


def _result(project: Project, studies: list[Run]) -> None:
    """The figure and the table of one study; the newest at first."""
    names = {run.id: f"Run {run.id}: {run.name}, {time_text(run.finished_at)}" for run in studies}
    chosen = studies[0].id
    if len(studies) > 1:
        chosen = st.selectbox(
            "Study",
            list(names),
            format_func=names.__getitem__,
            help="Earlier studies of this project.",
            key=f"train-{project.id}-study",
        )
    run = next((run for run in studies if run.id == chosen), studies[0])
    found = run.metrics
    told = from_json(SeedStudyOptions, run.options)
    recipe = from_json(BiEncoderOptions, told.recipe)
    metric = METRIC_NAMES.get(found["metric"], "score")
    st.caption(
        as_text(
            f"{len(found['seeds'])} seeds, {found['n_steps']:,} steps each, dev {metric}, "
            f"{duration_text(found['seconds'])}; learning rate {recipe.learning_rate:g}, batch {recipe.batch_size}."
        )
    )
    draw(
        seed_study_figure(found["fractions"], found["seeds"], found["dev"], found),
        key=f"study-{run.id}",
        alt="Dev scores of the seeds along training, how well their order predicts the final one, and what is lost",
    )
    st.caption(
        "Bands: 95 % over resampled seeds. The golden line is the seed that ended best. Lost: how much final score, "
        "times 100, going on with the seed that is best at that point would cost."
    )
    st.dataframe(
        pd.DataFrame(
            {
                "Share of steps": [f"{share:.0%}" for share in found["fractions"]],
                "Spearman": found["spearman"],
                "Kendall": found["kendall"],
                "Lost": [100 * lost for lost in found["regret"]],
            }
        ),
        hide_index=True,
        placeholder="undefined",
        column_config={
            name: st.column_config.NumberColumn(format="%.2f")
            for name in ("Spearman", "Kendall", "Lost")
        },
        alt="How well early scores predict the final order of seeds",
    )
    what_happened(
        explain.seed_study(
            fractions=found["fractions"],
            spearman=found["spearman"],
            regret=found["regret"],
            finals=[scores[-1] for scores in found["dev"] if scores],
        ),
        f"study-{run.id}",
    )
