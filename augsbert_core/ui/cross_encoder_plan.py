"""What a cross-encoder would be trained on, and what stands in its way."""

import math
from dataclasses import replace

import streamlit as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import CrossEncoderOptions, from_json, to_json
from augsbert_core.steps.negatives import NegativesPlan, plan_negatives
from augsbert_core.steps.recipe_checks import count_gold_rows, count_silver_rows
from augsbert_core.steps.truncation import expect_truncation, expected_warning
from augsbert_core.steps.warm_start import SMALL_GOLD, expect_warm_start
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.gold_samples import count_queries
from augsbert_core.storage.projects import ProjectCounts, get_project
from augsbert_core.storage.records import Project
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.cross_encoder_form import DEFAULTS, PAGE, RANKING
from augsbert_core.ui.recipes import keep, number, optimiser_steps
from augsbert_core.ui.widgets import as_text, user_errors

NEGATIVES = {"random": "Random pairs", "mined": "Mined with BM25"}


def negatives_input(
    bench: Bench, project: Project, counts: ProjectCounts, options: CrossEncoderOptions
) -> CrossEncoderOptions:
    """For gold of positives alone: why that cannot be trained on, and the negatives that could join."""
    with st.container(border=True):
        st.markdown(
            f":material/balance: **All {counts.train:,} gold pairs are positives.** A cross-encoder trained on "
            "them alone learns to say yes to any pair. Choose negatives made of your training sentences, or import "
            "pairs that people judged as negatives."
        )
        left, right = st.columns([2, 1], vertical_alignment="bottom")
        with left:
            kind = st.segmented_control(
                "Negatives",
                list(NEGATIVES),
                format_func=NEGATIVES.__getitem__,
                help="Random pairs are negatives with near certainty, and easy. Mined ones share words with each "
                "other, so they teach more, but some may be positives that nobody has marked; gold pairs never "
                "come back as negatives.",
                **keep(PAGE, project, "negatives", None),
            )
        with right:
            ratio = number(
                "Negatives per positive", 0.1, 100.0, 1.0,
                "1 makes the classes equal. Real data has far more negatives; more of them cost time.",
                **keep(PAGE, project, "negatives_per_positive", DEFAULTS.negatives_per_positive),
            )  # fmt: skip
        told = replace(options, negatives=kind or "none", negatives_per_positive=ratio)
        plan = _plan(bench, project, counts, told) if kind else None
        if plan is not None:
            st.caption(_plan_text(plan, kind or ""))
    return told


def _plan_text(plan: NegativesPlan, kind: str) -> str:
    up_to = "up to " if kind == "mined" else ""
    text = (
        f"**{plan.n_positives:,} positives + {up_to}{plan.n_negatives:,} negatives = {up_to}{plan.n_rows:,} rows**, "
        f"{plan.ratio:.2g} to 1, made of {plan.n_sentences:,} training sentences."
    )
    if plan.n_dev_negatives:
        text += (
            f" The {plan.n_dev_positives:,} dev pairs get {up_to}{plan.n_dev_negatives:,} negatives of their own "
            "sentences, so that the dev score means something."
        )
    return text


def _plan(
    bench: Bench, project: Project, counts: ProjectCounts, options: CrossEncoderOptions
) -> NegativesPlan | None:
    data = (str(bench.workspace.home), counts.train, counts.dev, counts.test)
    relevant = replace(
        DEFAULTS,
        negatives=options.negatives,
        negatives_per_positive=options.negatives_per_positive,
        gold_limit=options.gold_limit,
    )
    return _cached_plan(bench.workspace, project.id, to_json(relevant), data)


@st.cache_data(max_entries=32, show_spinner="Counting pairs …")
def _cached_plan(
    _workspace: Workspace, project_id: int, options: str, data: tuple[object, ...]
) -> NegativesPlan | None:
    """data: tells whether the gold pairs are the same."""
    project = get_project(_workspace, project_id)
    return plan_negatives(_workspace, project, from_json(CrossEncoderOptions, options))


def show_plan(
    bench: Bench,
    project: Project,
    counts: ProjectCounts,
    classes: tuple[int, int],
    options: CrossEncoderOptions,
) -> None:
    """What will be trained on, and for how long."""
    n_gold = 0
    if options.use_gold:
        n_gold = count_gold_rows(bench.workspace, project, options, counts.train)
    n_silver = count_silver_rows(bench.workspace, options)
    n_added = _n_negatives(bench, project, counts, classes, options)
    n_rows = n_gold + n_silver + n_added
    parts = [f"{n_silver:,} silver"] if n_silver else []
    parts += [f"{n_added:,} negatives made"] if n_added else []
    st.metric(
        "Pairs to train on" if n_silver else "Gold pairs to train on",
        f"{n_rows:,}" if n_silver else f"{n_gold:,}",
        delta=" + ".join(parts) or None,
        delta_color="off",
        delta_arrow="off",
        help="The train split, and what joins it.",
    )
    if project.task == "classification" and options.use_gold and sum(classes) > 0:
        _class_facts(classes, n_added)
    st.metric(
        "Dev pairs",
        f"{counts.dev:,}",
        help="The checkpoint with the best score on the dev split is kept.",
    )
    warm = _warm_steps(options, n_gold + n_silver + n_added)
    steps = optimiser_steps(
        n_rows * (2 if options.both_orders else 1),
        batch_size=options.batch_size,
        epochs=options.epochs,
        max_steps=options.max_steps,
    )
    st.metric(
        "Optimiser steps",
        f"{steps:,}",
        delta=f"+ {warm:,} warm start" if warm else None,
        delta_color="off",
        delta_arrow="off",
        help="Pairs ÷ batch size, rounded up, × epochs. A ranking loss makes about as many: its batches hold "
        "whole queries.",
    )
    if options.seeds > 1:
        times = options.seeds * options.seed_stop + 1 - options.seed_stop
        st.caption(f"{options.seeds} seeds begin, one ends: {times:.1f} times the work of one.")


def _class_facts(classes: tuple[int, int], n_added: int) -> None:
    n_negatives, n_positives = classes[0] + n_added, classes[1]
    st.metric(
        "Positives",
        f"{n_positives / (n_positives + n_negatives):.0%}",
        delta=f"negatives {n_negatives / n_positives:.2g} : 1"
        if n_negatives and n_positives
        else None,
        delta_color="off",
        delta_arrow="off",
        help="The share of positives among the gold pairs and the negatives that join them; below it, "
        "negatives for each positive.",
    )


def _n_negatives(
    bench: Bench,
    project: Project,
    counts: ProjectCounts,
    classes: tuple[int, int],
    options: CrossEncoderOptions,
) -> int:
    if options.negatives == "none" or not options.use_gold or classes[0]:
        return 0
    plan = _plan(bench, project, counts, options)
    return plan.n_negatives if plan else 0


def _warm_steps(options: CrossEncoderOptions, n_rows: int) -> int:
    """Optimiser steps of the warm start; 0 without one, or when only a download would tell."""
    try:
        wanted = expect_warm_start(options, n_rows)
    except WorkbenchError:  # `notices` says why
        return 0
    if not wanted:
        return 0
    return math.ceil(
        options.warm_start_pairs * (2 if options.both_orders else 1) / options.batch_size
    )


def notices(
    bench: Bench, project: Project, counts: ProjectCounts, options: CrossEncoderOptions
) -> None:
    """What is worth knowing before the start: the warm start, queries, long pairs, no dev pairs."""
    st.caption(f":material/wb_sunny: {_warm_text(bench, counts, options)}")
    if options.loss in RANKING:
        _query_notice(bench, project, options)
    if options.use_gold:
        with user_errors():
            _length_notice(bench, project, options)
    if not counts.dev:
        st.warning(
            "There are no dev pairs, so the last checkpoint is kept, good or bad. Put some gold pairs "
            "into the dev split on the Gold page.",
            icon=":material/warning:",
        )


def _length_notice(bench: Bench, project: Project, options: CrossEncoderOptions) -> None:
    share = expect_truncation(bench.workspace, project, options.base, options.max_length)
    warning = expected_warning(share, options.max_length)
    if warning:
        st.warning(warning, icon=":material/content_cut:")
    elif share:
        st.caption(
            f":material/content_cut: {share:.1%} of the gold pairs are longer than {options.max_length} tokens."
        )


def _warm_text(bench: Bench, counts: ProjectCounts, options: CrossEncoderOptions) -> str:
    n_rows = counts.train if options.use_gold else 0
    n_rows += count_silver_rows(bench.workspace, options)
    try:
        wanted = expect_warm_start(options, n_rows)
    except WorkbenchError as error:
        return as_text(str(error))
    pairs = f"{options.warm_start_pairs:,} pairs"
    if options.warm_start == "off":
        return "No warm start: the new head learns from the training pairs alone."
    if wanted is None:
        return "Whether the base is a sentence encoder, and so has a warm start, shows once it is downloaded."
    if wanted:
        why = (
            f", as {n_rows:,} are fewer than {SMALL_GOLD:,}" if options.warm_start == "auto" else ""
        )
        return f"Warm start: the base's own cosines of {pairs} of your sentences come first{why}."
    if n_rows >= SMALL_GOLD:
        return (
            f"No warm start: {n_rows:,} pairs are enough for the new head (from {SMALL_GOLD:,} on)."
        )
    return "No warm start: the base is no sentence encoder, so its cosines say nothing."


def _query_notice(bench: Bench, project: Project, options: CrossEncoderOptions) -> None:
    if options.silver_set_id is None:
        n_queries, n_candidates, n_rows = count_queries(
            bench.workspace, project.id, "train", both_orders=options.both_orders
        )
        if not n_queries:
            st.warning(
                "A ranking loss needs first sentences with at least two candidates of different scores, and "
                "your gold has none. Choose cross-entropy or squared error.",
                icon=":material/warning:",
            )
            return
        left_out = n_rows - n_candidates
        st.caption(
            f":material/sort: {n_queries:,} queries with {n_candidates:,} candidates; "
            f"{left_out:,} of {n_rows:,} rows order nothing and are left out."
        )
    st.caption(
        ":material/info: The score of a ranking labeler is the sigmoid of what orders candidates. It is not on the "
        "scale of your gold scores, so silver scores made with it are not either."
    )
