"""Who labels which candidates, what that costs, and a trial before it."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from augsbert_core import charts
from augsbert_core.metrics import share_interval
from augsbert_core.models.devices import resolve_device
from augsbert_core.options import LabelOptions, PreviewOptions, from_json
from augsbert_core.storage.known_scores import count_known_scores
from augsbert_core.storage.records import CandidateSet, Project, Run
from augsbert_core.storage.runs import list_runs
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.candidate_sets import set_label
from augsbert_core.ui.recipes import device_input, keep, score_100, whole
from augsbert_core.ui.widgets import duration_text

PAGE = "sample"
PREVIEW_PAIRS = 200


def labeler_input(project: Project, labelers: Sequence[Run], name: str = "labeler") -> str | None:
    """Choose a labeler, or type the name of one; None until there is one."""
    names = {f"run:{run.id}": _labeler_label(run) for run in labelers}
    chosen = st.selectbox(
        "Labeler",
        list(names),
        format_func=lambda name: names.get(name, name),
        accept_new_options=True,
        placeholder="Type a cross-encoder's name or folder",
        help="A cross-encoder that you trained, or any with one output: type its name on the hub, for "
        "example cross-encoder/stsb-roberta-base, or its folder.",
        key=f"{PAGE}-{project.id}-{name}-{labelers[0].id if labelers else 0}",
    )
    return chosen.strip() if chosen and chosen.strip() else None


def label_inputs(
    bench: Bench, project: Project, sets: Sequence[CandidateSet], labelers: Sequence[Run]
) -> LabelOptions | None:
    """Which candidates are scored, by whom; None until a labeler is named."""
    by_id = {chosen.id: chosen for chosen in sets}
    left, right = st.columns(2)
    with left:
        set_id = st.selectbox(
            "Candidate set",
            list(by_id),
            format_func=lambda number: set_label(bench, by_id[number]),
            key=f"{PAGE}-label-set-{sets[0].id}",
        )
    with right:
        labeler = labeler_input(project, labelers)
    with left:
        batch_size = whole(
            "Batch size", 1, 1024, 16, "Pairs per forward pass. It changes the speed, not the scores.",
            **keep(PAGE, project, "label-batch", 64),
        )  # fmt: skip
    with right:
        device = device_input(f"{PAGE}-label", project)
    if not labeler or set_id is None:
        return None
    return LabelOptions(
        candidate_set_id=set_id, labeler=labeler, batch_size=batch_size, device=device
    )


def label_buttons(options: LabelOptions | None) -> tuple[bool, bool]:
    """Whether to label now, and whether to preview now."""
    with st.container(horizontal=True):
        label_now = st.button(
            "Label the candidates",
            type="primary",
            icon=":material/auto_awesome:",
            disabled=options is None,
        )
        preview_now = st.button(
            f"Preview {PREVIEW_PAIRS} labels",
            icon=":material/preview:",
            disabled=options is None,
            help="Scores a random draw of the candidates, to see what the silver scores will look like and to "
            "measure the speed. It makes no silver set.",
        )
    return label_now, preview_now


def preview_options(options: LabelOptions) -> PreviewOptions:
    """The trial that goes with a labelling."""
    return PreviewOptions(
        candidate_set_id=options.candidate_set_id,
        labeler=options.labeler,
        n_pairs=PREVIEW_PAIRS,
        batch_size=options.batch_size,
        device=options.device,
    )


def cost_panel(bench: Bench, project: Project, options: LabelOptions | None, n_pairs: int) -> None:
    """Passes that are still to be made, and how long they take with this labeler on this device."""
    known = 0
    if options:
        known = count_known_scores(bench.workspace, options.candidate_set_id, options.labeler)
    passes = n_pairs - known
    st.metric("Cross-encoder passes", f"{passes:,}", help="One per candidate pair: the cost.")
    if known:
        st.caption(f"{known:,} pairs have a score from this labeler already; it is taken over.")
    st.caption(_time_text(bench, project, options, passes))


def _time_text(bench: Bench, project: Project, options: LabelOptions | None, passes: int) -> str:
    """How long labelling will take, from what this labeler did on this device before."""
    if not passes:
        return "Nothing is left to score: labelling these takes seconds."
    measured = last_speed(bench, project, options.labeler, options.device) if options else None
    if measured is None:
        return (
            "How long that takes is not known yet: this labeler has not scored anything on this device. "
            f"A preview of {PREVIEW_PAIRS} pairs measures it."
        )
    speed, where = measured
    return f"About {duration_text(passes / speed)} at {speed:,.0f} pairs per second, its speed {where}, and some seconds to load it."


def last_speed(
    bench: Bench, project: Project, labeler: str, device: str = "auto"
) -> tuple[float, str] | None:
    """Pairs per second of a labeler on a device when it last scored something, and when that was."""
    device = resolve_device(device)
    runs = [
        *((run, "last time") for run in list_runs(bench.workspace, project.id, "label")),
        *((run, "in the preview") for run in list_runs(bench.workspace, project.id, "preview")),
    ]
    for run, where in runs:
        speed = run.metrics.get("pairs_per_second")
        told = from_json(LabelOptions, run.options)
        if speed and run.device == device and told.labeler == labeler:
            return float(speed), where
    return None


def preview_panel(bench: Bench, project: Project, options: LabelOptions | None) -> None:
    """The scores of the newest trial of this candidate set by this labeler, if there was one."""
    if options is None:
        return
    for run in list_runs(bench.workspace, project.id, "preview"):
        told = from_json(PreviewOptions, run.options)
        if (told.candidate_set_id, told.labeler) == (options.candidate_set_id, options.labeler):
            _show_preview(project, np.array(run.metrics.get("scores", []), dtype=np.float64))
            return


def _show_preview(project: Project, scores: np.ndarray) -> None:
    if not len(scores):
        return
    scale = project.score_range
    with st.container(border=True):
        st.markdown("**Preview of the silver scores**")
        st.plotly_chart(
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


def _labeler_label(run: Run) -> str:
    score = score_100(run)
    tail = "" if score is None else f" · dev {score:.1f}"
    return f"Run {run.id} · {run.name}{tail}"
