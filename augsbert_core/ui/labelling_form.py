"""Who labels which candidates, what that costs, and a trial before it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from augsbert_core import explain
from augsbert_core.models.devices import resolve_device
from augsbert_core.options import LabelOptions, PreviewOptions, from_json
from augsbert_core.steps.labelers import ScorerAtHand, recommended_labeler
from augsbert_core.steps.models import (
    JOIN,
    Member,
    calibration_hash,
    calibrations,
    labeler_members,
    normal_labeler,
    passes_per_pair,
    run_number,
)
from augsbert_core.storage.known_scores import count_known_scores
from augsbert_core.storage.records import CandidateSet, Project, SilverSet
from augsbert_core.storage.runs import list_runs
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.candidate_sets import set_label
from augsbert_core.ui.recipes import device_input, keep, whole
from augsbert_core.ui.what_happened import what_happened
from augsbert_core.ui.widgets import duration_text, user_errors

PAGE = "sample"
PREVIEW_PAIRS = 200


def labeler_input(
    project: Project,
    labelers: Sequence[ScorerAtHand],
    name: str = "labeler",
    recommended: str | None = None,
) -> str | None:
    """Choose a labeler, or type the name of one; None until there is one.

    recommended: what the gate has found best; marked, and offered even when it is no longer at hand by itself.
    """
    names = {one.labeler: scorer_label(one) for one in labelers}
    if recommended is not None:
        known = names.get(recommended, recommended.replace("run:", "run "))
        names[recommended] = f"{known} · recommended by the gate"
    chosen = st.selectbox(
        "Labeler",
        list(names),
        format_func=lambda name: names.get(name, name),
        accept_new_options=True,
        placeholder="Type a cross-encoder's name or folder",
        help="Any scorer: a cross-encoder that you trained, a bi-encoder (its cosines are calibrated on gold), or "
        "the mean of several, typed as 3 + 7. Or a cross-encoder with one output from elsewhere: type its name on "
        "the hub, for example cross-encoder/stsb-roberta-base, or its folder.",
        key=f"{PAGE}-{project.id}-{name}-{labelers[0].labeler if labelers else 0}",
    )
    return chosen.strip() if chosen and chosen.strip() else None


def scorer_label(one: ScorerAtHand) -> str:
    """A scorer in a list: run, recipe, dev score."""
    if one.kind == "average":
        return one.name
    score = "" if one.dev_score is None else f" · dev {100 * one.dev_score:.1f}"
    calibrated = " · calibrated cosine" if one.kind == "bi_encoder" else ""
    return f"Run {run_number(one.labeler)} · {one.name}{score}{calibrated}"


def label_inputs(
    bench: Bench,
    project: Project,
    sets: Sequence[CandidateSet],
    labelers: Sequence[ScorerAtHand],
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
            help="The sampled pairs that get a silver score; the newest set is first.",
        )
    with right:
        best = recommended_labeler(bench.workspace, project)
        labeler = labeler_input(project, labelers, recommended=best)
    with left:
        batch_size = whole(
            "Batch size", 1, 1024, 16, "Pairs per forward pass. It changes the speed, not the scores.",
            **keep(PAGE, project, "label-batch", 64),
        )  # fmt: skip
    with right:
        device = device_input(f"{PAGE}-label", project)
    cosines = {one.labeler for one in labelers if one.kind == "bi_encoder"}
    both_orders = labeler not in cosines and st.toggle(
        "Score both orders and take the mean",
        help="The cross-encoder reads (A, B) and (B, A), in twice the passes; a cosine is the same in both orders. "
        "The gap between the two, stored with each pair, shows where the labeler is unsure.",
        **keep(PAGE, project, "both-orders", False),
    )
    if not labeler or set_id is None:
        return None
    return LabelOptions(
        candidate_set_id=set_id,
        labeler=labeler,
        both_orders=both_orders,
        batch_size=batch_size,
        device=device,
    )


@dataclass(frozen=True)
class Pressed:
    """Which button was pressed."""

    label: bool
    preview: bool
    check: bool


def label_buttons(options: LabelOptions | None) -> Pressed:
    """Label the candidates, preview some labels, or look at a labeler from elsewhere."""
    with st.container(horizontal=True):
        label_now = st.button(
            "Label the candidates",
            type="primary",
            icon=":material/auto_awesome:",
            disabled=options is None,
            help="Queues one pass of the labeler over all pairs of the set; the scores become a silver set.",
        )
        preview_now = st.button(
            f"Preview {PREVIEW_PAIRS} labels",
            icon=":material/preview:",
            disabled=options is None,
            help="Scores a random draw of the candidates, to see what the silver scores will look like and to "
            "measure the speed. It makes no silver set.",
        )
        check_now = (
            options is not None
            and not _is_trained_here(options.labeler)
            and st.button(
                "Check this labeler",
                icon=":material/fact_check:",
                help="Loads it and looks: one output, the activation it was saved with, how many tokens it reads, "
                "and its scores on up to 32 gold dev pairs.",
            )
        )
    return Pressed(label_now, preview_now, check_now)


def _is_trained_here(labeler: str) -> bool:
    return all(
        part.strip().isdigit() or run_number(part) is not None for part in labeler.split(JOIN)
    )


def preview_options(options: LabelOptions) -> PreviewOptions:
    """The trial that goes with a labelling."""
    return PreviewOptions(
        candidate_set_id=options.candidate_set_id,
        labeler=options.labeler,
        n_pairs=PREVIEW_PAIRS,
        both_orders=options.both_orders,
        batch_size=options.batch_size,
        device=options.device,
    )


def check_options(options: LabelOptions) -> PreviewOptions:
    """A look at the labeler alone."""
    return PreviewOptions(candidate_set_id=None, labeler=options.labeler, device=options.device)


def cost_panel(bench: Bench, project: Project, options: LabelOptions | None, n_pairs: int) -> None:
    """Passes that are still to be made, and how long they take with this labeler on this device."""
    members: list[Member] = []
    known = 0
    if options:
        with user_errors():
            members = labeler_members(bench.workspace, project, options.labeler)
            known = _count_known(bench, options, members)
        if not members:
            return
    per_pair = passes_per_pair(members, bool(options and options.both_orders)) if members else 1
    n_left = n_pairs - known
    st.metric(
        "Cross-encoder passes",
        f"{n_left * per_pair:,}",
        help="The cost: one per candidate pair, cross-encoder and order.",
    )
    if per_pair > 1:
        st.caption(f"{per_pair} for each of {n_left:,} pairs.")
    if any(member.kind == "bi_encoder" for member in members):
        st.caption("A bi-encoder embeds each sentence once instead, which is quick.")
    if known:
        st.caption(f"{known:,} pairs have a score from this labeler already; it is taken over.")
    st.caption(_time_text(bench, project, options, n_left))


def explain_newest(
    bench: Bench,
    project: Project,
    silver_sets: Sequence[SilverSet],
    labelers: Sequence[ScorerAtHand],
) -> None:
    """What the newest labelling has made, in plain sentences."""
    newest = next((one for one in silver_sets if one.rule is None and one.n_pairs), None)
    if newest is None:
        return
    known = next((one for one in labelers if one.labeler == newest.labeler), None)
    checked = next(iter(list_runs(bench.workspace, project.id, "gate")), None)
    rows = checked.metrics.get("rows", []) if checked else []
    row: dict[str, Any] = next((one for one in rows if one["labeler"] == newest.labeler), {})
    what_happened(
        explain.labels(
            silver_set=newest.id,
            n_pairs=newest.n_pairs,
            n_candidates=newest.n_candidates,
            passes=newest.passes,
            metric="f1" if project.task == "classification" else "spearman",
            dev_score=known.dev_score if known else None,
            gate_verdict=row.get("verdict", ""),
            gate_difference=row.get("difference"),
        ),
        "labels",
    )


def _count_known(bench: Bench, options: LabelOptions, members: Sequence[Member]) -> int:
    return count_known_scores(
        bench.workspace,
        options.candidate_set_id,
        normal_labeler(options.labeler),
        options.max_length,
        options.both_orders,
        calibration_hash(calibrations(bench.workspace, members)),
    )


def _time_text(bench: Bench, project: Project, options: LabelOptions | None, n_pairs: int) -> str:
    """How long labelling will take, from what this labeler did on this device before."""
    if not n_pairs:
        return "Nothing is left to score: labelling these takes seconds."
    measured = None
    if options:
        measured = last_speed(
            bench, project, options.labeler, options.device, both_orders=options.both_orders
        )
    if measured is None:
        return (
            "How long that takes is not known yet: this labeler has not scored anything on this device. "
            f"A preview of {PREVIEW_PAIRS} pairs measures it."
        )
    speed, where = measured
    return f"About {duration_text(n_pairs / speed)} at {speed:,.0f} pairs per second, its speed {where}, and some seconds to load it."


def last_speed(
    bench: Bench,
    project: Project,
    labeler: str,
    device: str = "auto",
    *,
    both_orders: bool = False,
) -> tuple[float, str] | None:
    """Pairs per second of a labeler on a device when it last scored something, and when that was.

    A speed that was measured with one order counts half with both, and the other way round.
    """
    device = resolve_device(device)
    runs = [
        *((run, "last time") for run in list_runs(bench.workspace, project.id, "label")),
        *((run, "in the preview") for run in list_runs(bench.workspace, project.id, "preview")),
    ]
    for run, where in runs:
        speed = run.metrics.get("pairs_per_second")
        told = from_json(LabelOptions, run.options)
        if speed and run.device == device and told.labeler == labeler:
            factor = (2.0 if told.both_orders else 1.0) / (2.0 if both_orders else 1.0)
            return float(speed) * factor, where
    return None
