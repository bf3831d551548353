"""Keep the part of a scored pool that follows gold (paper, §3.1), with the answer before the deed."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from augsbert_core import charts, explain
from augsbert_core.options import KeepOptions
from augsbert_core.sampling import kde
from augsbert_core.steps.keep import KeepPlan, labeler_threshold, plan_keep
from augsbert_core.steps.spreads import GRID, STATED, gold_spread
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.gold import gold_scores
from augsbert_core.storage.records import Project, SilverSet
from augsbert_core.storage.silver_bins import SilverScores
from augsbert_core.storage.silver_sets import get_silver_set
from augsbert_core.ui import keep_numbers
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.density_controls import density_inputs, settings_text
from augsbert_core.ui.density_lab import GOLD_NAME, share_text
from augsbert_core.ui.downloads import show_figure
from augsbert_core.ui.job_panel import launch
from augsbert_core.ui.recipes import keep
from augsbert_core.ui.silver_filters import short_title
from augsbert_core.ui.what_happened import what_happened
from augsbert_core.ui.widgets import user_errors

PAGE = "keep"

FEW = 200
"""Of fewer pairs a density, and so KL, says little."""

RULES = {"kde": "Density", "classification": "Class"}

OnRange = Callable[[float, float], None]

Places = tuple[DeltaGenerator, DeltaGenerator, DeltaGenerator]
"""Where the facts, the figures and the controls of a rule are drawn."""


def keep_lab(bench: Bench, project: Project, found: SilverSet, on_range: OnRange) -> None:
    """The rule with its parameters beside what it would keep; a button makes that a silver set."""
    pool = _pool_input(bench.workspace, found)
    if not pool.is_complete:
        st.info("Keeping waits until the set is labelled in full.", icon=":material/hourglass_top:")
        return
    gold = gold_scores(bench.workspace, project.id, ["train"])
    if not len(gold):
        st.info("There are no gold training pairs to match.", icon=":material/info:")
        return
    scores = keep_numbers.pool_scores(bench.workspace, pool)
    facts = st.container(horizontal=True)
    left, right = st.columns([2, 1], gap="medium")
    with right, st.container(border=True, height="stretch", gap="small"):
        rule = _rule_input(project)
        below = st.container(gap="small")
    with user_errors():
        if rule == "classification":
            _by_class(bench, project, pool, gold, scores, (facts, left, below), on_range)
        else:
            _by_density(bench, project, pool, gold, scores, (facts, left, below), on_range)


def _pool_input(workspace: Workspace, found: SilverSet) -> SilverSet:
    """The set itself, or for a kept set the pool that it came from, whose scores are all still there."""
    if found.pool_set_id is None:
        return found
    pool = get_silver_set(workspace, found.pool_set_id)
    chosen = st.segmented_control(
        f"{short_title(found)} was kept from {short_title(pool)}. Keep from",
        [pool.id, found.id],
        format_func=lambda number: (
            f"its pool, set {number}" if number == pool.id else f"set {number} itself"
        ),
        required=True,
        default=pool.id,
        key=f"{PAGE}-pool-{found.id}",
        help="All scores of the pool are stored, so another c, kernel or seed costs nothing.",
    )
    return found if chosen == found.id else pool


def _rule_input(project: Project) -> str:
    is_classes = project.task == "classification"
    return st.segmented_control(
        "Rule",
        list(RULES),
        format_func=RULES.__getitem__,
        required=True,
        width="stretch",
        help="Density: a pair of score s stays with probability Q_c(s) = min(1, c · F_gold(s) / "
        "F_pool(s)) (paper §3.1). Class: all pairs at or above a threshold stay, and as many negatives as "
        "make the share of positives that of gold; the paper's rule for classes.",
        **keep(PAGE, project, "rule", "classification" if is_classes else "kde"),
    )


def _seed_input(project: Project) -> int:
    return int(
        st.number_input(
            "Seed",
            0,
            2**31 - 1,
            step=1,
            help="Chance is one fixed number per pair and seed, so a larger c only adds pairs.",
            **keep(PAGE, project, "seed", 42),
        )
    )


def _by_density(
    bench: Bench,
    project: Project,
    pool: SilverSet,
    gold: np.ndarray,
    scores: SilverScores,
    places: Places,
    on_range: OnRange,
) -> None:
    facts, left, controls = places
    with controls:
        place_of_c = st.container(gap="small")
        settings = density_inputs(project, gold)
        seed = _seed_input(project)
    note = gold_spread(GOLD_NAME, gold, settings).note
    if note:
        with left:
            st.info(
                f"{note} There is no density to match: choose the other rule.",
                icon=":material/info:",
            )
        return
    if not len(scores):
        with left:
            st.info(
                "No pair of this set is left to keep: all are rejected. Put some back in the review below, or choose "
                "another set.",
                icon=":material/info:",
            )
        return
    options = replace(settings, silver_set_id=pool.id, rule="kde", c=1.0, seed=seed)
    c_key = f"{PAGE}-{project.id}-c"
    plan = plan_keep(
        gold, scores, replace(options, c=float(st.session_state.setdefault(c_key, 1.0)))
    )
    with place_of_c:
        c = _c_input(c_key, plan, len(scores))
    with controls:
        _launch_button(bench, plan, replace(options, c=c))
    with facts:
        _kde_facts(plan, len(scores))
    if 0 < plan.n_kept < FEW:
        with left:
            st.warning(
                f"Only {plan.n_kept:,} pairs are kept. So few leave gaps by chance, and KL differs from seed to seed: "
                "do not choose c by KL alone.",
                icon=":material/density_small:",
            )
    with left, st.container(border=True, gap="small"):
        show_figure(
            charts.keep_figure(
                GRID,
                plan.gold,
                plan.pool,
                plan.expected.density if plan.expected else np.zeros(len(GRID)),
                plan.kept,
                kde.acceptance(plan.gold, plan.pool, c),
                project.score_range,
                selectable=True,
            ),
            key=f"silver-keep-{pool.id}",
            title=f"What c = {c:.3g} keeps",
            name=f"kept-from-silver-set-{pool.id}",
            alt="Densities of gold, pool and kept pairs, and the chance of being kept, over the scale",
            on_range=on_range,
            scale=project.score_range,
        )
        st.caption(
            "Below: the chance Q(s) that a pair of score s is kept. Where the pool has too few pairs for gold, all "
            f"are kept. {settings_text(settings)}"
        )
    with left:
        _path(bench.workspace, scores, plan, options, pool, c)
        what_happened(
            explain.kept_by_density(
                n_kept=plan.n_kept,
                n_pool=len(scores),
                kl=plan.kl,
                pool_kl=plan.pool_kl,
                short=keep_numbers.short_share(plan, c),
            ),
            "keep",
        )


def _c_input(key: str, plan: KeepPlan, n_pool: int) -> float:
    """The slider for c, and a button that sets the c of an exact match."""
    exact = keep_numbers.exact_c(plan)
    choices = sorted({*keep_numbers.CS, st.session_state[key]})
    c = st.select_slider(
        "c",
        choices,
        format_func=lambda value: f"{value:.3g}",
        key=key,
        persist_state="session",
        help="How much is kept. 1 is the paper's rule. A smaller c keeps fewer pairs, and these follow gold more "
        "closely, because fewer stretches of the scale run out of pairs.",
    )
    wanted = f"{key}-wanted"
    st.number_input(
        "Or: pairs to keep, about",
        1,
        n_pool,
        value=None,
        placeholder="sets c",
        key=wanted,
        on_change=lambda: _set_c(key, st.session_state[wanted], n_pool, plan),
        help="Sets c so that about so many pairs are expected to be kept; never above the paper's c = 1.",
    )
    fraction = (
        float(kde.expected_kept(plan.gold, plan.pool, exact, GRID).fraction) if exact else 0.0
    )
    st.button(
        f"Exact c = {exact:.2g} keeps about {n_pool * fraction:,.0f}",
        icon=":material/target:",
        on_click=lambda: st.session_state.update({key: exact}),
        disabled=exact <= 0.0 or n_pool * fraction < 1,
        width="stretch",
        help="c = min F_pool(s) / F_gold(s): the largest c at which the kept pairs should follow gold everywhere. "
        "One score at which gold has pairs and the pool has hardly any is enough to make it keep nothing."
        if exact > 0
        else "No c matches exactly: somewhere on the scale gold has pairs and the pool has none.",
    )
    return float(c)


def _set_c(key: str, wanted: int | None, n_pool: int, plan: KeepPlan) -> None:
    """Move the slider to the c that is expected to keep so many pairs; for a callback."""
    if wanted:
        st.session_state[key] = min(kde.c_for(wanted, n_pool, plan.gold, plan.pool, GRID), 1.0)


def _kde_facts(plan: KeepPlan, n_pool: int) -> None:
    expected = plan.expected.fraction * n_pool if plan.expected else 0.0
    st.metric(
        "Pairs kept",
        f"{plan.n_kept:,}",
        delta=f"of {n_pool:,}",
        delta_color="off",
        delta_arrow="off",
        help="What this seed keeps: exactly the pairs that the button below would store.",
    )
    st.metric(
        "Expected",
        f"{expected:,.0f}",
        delta=f"{plan.expected.fraction:.1%} of the pool" if plan.expected else None,
        delta_color="off",
        delta_arrow="off",
        help="The sum of the chances of all pairs, from the pool's density.",
    )
    st.metric(
        "KL(gold‖kept)",
        "–" if plan.kl is None else f"{plan.kl:.3f}",
        delta="" if plan.pool_kl is None else f"whole pool {plan.pool_kl:.2f}",
        delta_color="off",
        delta_arrow="off",
        help=f"How far the kept pairs are from gold. {STATED}",
    )
    st.metric(
        "KL expected",
        f"{plan.expected.kl:.3f}" if plan.expected and np.isfinite(plan.expected.kl) else "–",
        delta="before chance",
        delta_color="off",
        delta_arrow="off",
        help="Of the density F_pool · Q_c, which endlessly many pairs would have. Few kept pairs scatter "
        f"around it. {STATED}",
    )


def _path(
    workspace: Workspace,
    scores: SilverScores,
    plan: KeepPlan,
    options: KeepOptions,
    pool: SilverSet,
    c: float,
) -> None:
    """What other values of c would give, in two panels."""
    n_pool = len(scores)
    present = charts.Path(
        np.array([c]),
        np.array([plan.n_kept]),
        np.array([np.nan if plan.kl is None else plan.kl]),
    )
    with st.container(border=True, height="stretch", gap="small"):
        show_figure(
            charts.path_figure(
                keep_numbers.expected_path(plan, n_pool, c),
                keep_numbers.realised_path(workspace, pool, scores, plan, options),
                present,
                plan.pool_kl,
            ),
            key=f"silver-path-{pool.id}",
            title="What c trades: closeness against size",
            name=f"path-of-c-silver-set-{pool.id}",
            alt="KL from gold to the kept pairs, and the number of kept pairs, along c",
        )
        st.caption(
            f"Lines: expected from the pool's density times Q. Rings: what seed {options.seed} gives, with the "
            f"pool's bandwidth; so few pairs that they leave gaps lie above the line. {STATED}"
        )


def _launch_button(bench: Bench, plan: KeepPlan, options: KeepOptions) -> None:
    if st.button(
        f"Keep these {plan.n_kept:,} pairs as a silver set",
        key=f"{PAGE}-launch",
        type="primary",
        icon=":material/filter_alt:",
        disabled=not plan.n_kept,
        width="stretch",
        help="Copies their scores, corrections and statuses into a set of its own; nothing is scored, and the "
        "pool stays as it is. To undo, delete the new set.",
    ):
        launch(bench, "keep", options)
    st.caption(
        "Moving a slider stores nothing. To undo a kept set, delete it: the pool keeps all its scores."
        if plan.n_kept
        else "Nothing would be kept. Raise c, or label a larger pool."
    )


def _by_class(
    bench: Bench,
    project: Project,
    pool: SilverSet,
    gold: np.ndarray,
    scores: SilverScores,
    places: Places,
    on_range: OnRange,
) -> None:
    facts, left, controls = places
    scale = project.score_range
    own = labeler_threshold(bench.workspace, pool)
    step = (scale.high - scale.low) / 200
    start = scale.low + round((scale.to_raw(0.5 if own is None else own) - scale.low) / step) * step
    with controls:
        raw = st.slider(
            "Positive from",
            scale.low,
            scale.high,
            step=step,
            help="The score from which a pair counts as positive. It starts at the labeler's own threshold, "
            "chosen on the dev pairs."
            if own is not None
            else "The score from which a pair counts as positive. This labeler has no threshold from dev pairs, "
            "so it starts in the middle.",
            **keep(PAGE, project, f"threshold-{pool.id}", float(start)),
        )
        if own is not None:
            st.caption(f"The labeler's own, from dev pairs: {scale.to_raw(own):.3g}.")
        seed = _seed_input(project)
    # The slider's steps must not move the labeler's own threshold.
    threshold = own if own is not None and abs(raw - start) < step / 2 else scale.to_unit(raw)
    options = KeepOptions(pool.id, rule="classification", threshold=threshold, seed=seed)
    plan = plan_keep(gold, scores, options, labeler_threshold=own)
    with controls:
        _launch_button(bench, plan, options)
    positives = int(np.sum(scores.scores[plan.mask] >= threshold))
    with facts:
        _class_facts(plan, positives, gold, len(scores))
    with left, st.container(border=True, height="stretch", gap="small"):
        show_figure(
            charts.class_figure(
                np.unique(scores.scores, return_counts=True),
                np.unique(scores.scores[plan.mask], return_counts=True),
                threshold,
                scale,
                selectable=True,
            ),
            key=f"silver-classes-{pool.id}",
            title="All positives, and negatives at gold's ratio",
            name=f"kept-classes-from-silver-set-{pool.id}",
            alt="Histogram of the scores of pool and kept pairs with the threshold",
            on_range=on_range,
            scale=scale,
        )
        st.caption(
            "All pairs from the threshold on stay; of the others so many, drawn at random, that positives are as "
            "frequent as among gold training pairs."
        )
    with left:
        what_happened(
            explain.kept_by_class(
                n_kept=plan.n_kept,
                positives=positives,
                gold_share=float(np.mean(gold >= 0.5)),
                threshold=f"{scale.to_raw(threshold):.3g}",
            ),
            "keep",
        )


def _class_facts(plan: KeepPlan, positives: int, gold: np.ndarray, n_pool: int) -> None:
    share = positives / plan.n_kept if plan.n_kept else None
    st.metric(
        "Pairs kept", f"{plan.n_kept:,}", delta=f"of {n_pool:,}",
        delta_color="off", delta_arrow="off",
        help="Exactly the pairs that the button below would store.",
    )  # fmt: skip
    st.metric("Positives kept", f"{positives:,}", help="All that the pool has.")
    st.metric("Negatives kept", f"{plan.n_kept - positives:,}", help="Drawn at random.")
    st.metric(
        "Share of positives",
        share_text(share),
        delta=f"gold {float(np.mean(gold >= 0.5)):.0%}",
        delta_color="off",
        delta_arrow="off",
        help="It equals gold's when the pool has negatives enough.",
    )
