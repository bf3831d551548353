"""What a trial of a labeler has shown: what it is, and what its scores look like."""

import numpy as np
import streamlit as st

from augsbert_core import charts
from augsbert_core.metrics import share_interval
from augsbert_core.options import LabelOptions, PreviewOptions, from_json
from augsbert_core.steps.preview import fact_lines
from augsbert_core.storage.records import Project, Run
from augsbert_core.storage.runs import list_runs
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.figures import draw
from augsbert_core.ui.widgets import as_text


def preview_panel(bench: Bench, project: Project, options: LabelOptions | None) -> None:
    """The facts of this labeler and the scores of its newest trial on this candidate set, where there are any."""
    if options is None:
        return
    runs = [
        (run, told)
        for run in list_runs(bench.workspace, project.id, "preview")
        if (told := from_json(PreviewOptions, run.options)).labeler == options.labeler
    ]
    checked = [run for run, _ in runs if "facts" in run.metrics]
    if checked:
        _show_facts(checked[0])
    for run, told in runs:
        if (told.candidate_set_id, told.both_orders) == (
            options.candidate_set_id,
            options.both_orders,
        ):
            scores = np.array(run.metrics.get("scores", []), dtype=np.float64)
            _show_preview(project, scores)
            return


def _show_facts(run: Run) -> None:
    with st.container(border=True):
        st.markdown("**What this labeler is**")
        for line in fact_lines(run.metrics):
            st.caption(as_text(line))


def _show_preview(project: Project, scores: np.ndarray) -> None:
    if not len(scores):
        return
    scale = project.score_range
    with st.container(border=True):
        st.markdown("**Preview of the silver scores**")
        draw(
            charts.histogram_figure({"silver": scores}, scale),
            key="preview-scores",
            alt="Histogram of the previewed silver scores over the scale of the project",
            config={"displaylogo": False},
        )
        share, low, high = share_interval(int(np.sum(scores >= 0.5)), len(scores))
        st.caption(
            f"{len(scores):,} candidates drawn at random and scored; no silver set was made. Scores of "
            f"{scale.to_raw(0.5):g} or more: {share:.0%} (95 % interval {low:.0%} to {high:.0%}), so expect "
            "about that share of the whole set."
        )
