"""Merge the scores of a task into gold: say how, see what would come in, then write it."""

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from augsbert_core import charts
from augsbert_core.explain.phrases import many
from augsbert_core.pairs import SPLITS, ScoreRange
from augsbert_core.steps.merge_annotations import MergePlan, MergeResult, merge, plan_merge
from augsbert_core.steps.merged_scores import WAYS
from augsbert_core.storage import annotations
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.gold import gold_scores
from augsbert_core.storage.projects import count_project
from augsbert_core.storage.records import AnnotationTask, Project
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.figures import draw
from augsbert_core.ui.identity import person
from augsbert_core.ui.import_splits import DEALT_BY
from augsbert_core.ui.widgets import as_text, page_link, user_errors

DEAL = "deal"
WHERE = {DEAL: "Deal out", **{split: f"All to {split}" for split in SPLITS}}
NEW_COLOR = charts.COLORS["silver3"]
SHOWN_CHANGES = 200
FEWEST_DEV = 10


def merge_panel(bench: Bench, project: Project, task: AnnotationTask) -> None:
    """Choose how, preview, write. What was written is said until the next choice."""
    done: MergeResult | None = st.session_state.get(f"merged-{task.id}")
    if done is not None:
        _success(task, done)
    told = _choices(task, _any_settled(bench.workspace, task))
    key = f"merge-preview-{task.id}"
    if st.button(
        "Preview",
        icon=":material/preview:",
        key=f"merge-look-{task.id}",
        disabled=told is None,
        help="Counts what would come into gold and draws its density; nothing is written.",
    ):
        st.session_state[key] = told
        st.session_state.pop(f"merged-{task.id}", None)
        st.rerun()
    if told is None or st.session_state.get(key) != told:
        st.caption("Nothing is written before you have seen what would come in.")
        return
    with user_errors():
        plan = plan_merge(bench.workspace, project, task.id, **told)
        _preview(bench, project, task, plan, told)


def _any_settled(workspace: Workspace, task: AnnotationTask) -> bool:
    if task.kind == "best-worst":
        return False
    items = annotations.score_matrix(workspace, task.id).items
    return bool(items["adjudicated_score"].notna().any())


def _choices(task: AnnotationTask, any_settled: bool) -> dict[str, Any] | None:
    """The keyword arguments of `plan_merge`; None while they cannot be used.

    any_settled: somebody has settled a pair, so that the settled scores are what is usually wanted.
    """
    told: dict[str, Any] = {}
    with st.container(border=True):
        top = st.columns(3, gap="medium")
        with top[0]:
            if task.kind == "best-worst":
                st.selectbox(
                    "One score of several",
                    ["Best-worst counts"],
                    disabled=True,
                    help="A pair's score is how often it was the most similar of four less how often it was the "
                    "least, scaled to 0 to 1.",
                )
            else:
                told["how"] = st.selectbox(
                    "One score of several",
                    list(WAYS),
                    index=list(WAYS).index("adjudicated") if any_settled else 0,
                    format_func=WAYS.__getitem__,
                    # A choice made before the first pair was settled does not stand in the way.
                    key=f"merge-how-{task.id}{'-settled' if any_settled else ''}",
                    persist_state="session",
                    help="Adjudicated: the settled score; where nobody settled, the mean if all scores are at most a "
                    "tenth of the scale apart (on two levels: equal), else the pair is left out.",
                )
        with top[1]:
            told["min_scores"] = int(
                st.number_input(
                    "Judged at least so often" if task.kind == "best-worst" else "Scores at least",
                    1,
                    50,
                    1,
                    key=f"merge-min-{task.id}",
                    persist_state="session",
                    help="Pairs with fewer are left out for now; merge again when there are more.",
                )
            )
        with top[2]:
            if task.source == "gold":
                st.selectbox(
                    "What becomes of gold",
                    ["Its pairs get these scores"],
                    disabled=True,
                    help="Each pair stays in its split; undo on the Gold page brings the old scores back.",
                )
                return told
            where = st.selectbox(
                "Train, dev and test",
                list(WHERE),
                format_func=WHERE.__getitem__,
                key=f"merge-where-{task.id}",
                persist_state="session",
                help="Where the new gold pairs go. A new project needs all three; added test pairs make earlier "
                "test scores incomparable.",
            )
        if where != DEAL:
            return told | {"split": where}
        bottom = st.columns([3, 1, 1, 1, 1], gap="small")
        told["split_way"] = bottom[0].selectbox(
            "How",
            [way for way in DEALT_BY if way != "groups"],
            format_func=DEALT_BY.__getitem__,
            key=f"merge-way-{task.id}",
            persist_state="session",
            help="Pairs are linked when they share a sentence, with each other or with gold that is there. Linked pairs "
            "in one split keep test honest; pairs linked with gold go where gold has most of them.",
        )
        ratios = tuple(
            float(
                column.number_input(
                    f"{split.capitalize()} %",
                    0,
                    100,
                    share,
                    key=f"merge-{split}-{task.id}",
                    persist_state="session",
                    help="The share of the new pairs for this split; only the proportions matter.",
                )
            )
            for column, split, share in zip(bottom[1:4], SPLITS, (80, 10, 10), strict=True)
        )
        told["seed"] = int(
            bottom[4].number_input(
                "Seed",
                0,
                2**31 - 1,
                42,
                key=f"merge-seed-{task.id}",
                persist_state="session",
                help="Decides which pair is dealt where; the same number deals the same.",
            )
        )
        if not sum(ratios):
            st.warning("Give at least one split a share.", icon=":material/pie_chart:")
            return None
        return told | {"ratios": ratios}


def _preview(
    bench: Bench, project: Project, task: AnnotationTask, plan: MergePlan, told: dict[str, Any]
) -> None:
    with st.container(border=True, key="merge-preview"):
        with st.container(horizontal=True):
            if task.source == "gold":
                st.metric("Gold pairs that change", f"{len(plan.changes):,}", border=True)
            else:
                st.metric("New gold pairs", f"{len(plan.rows):,}", border=True)
                for split in SPLITS:
                    st.metric(split.capitalize(), f"{plan.splits.get(split, 0):,}", border=True)
            st.metric("Left out", f"{sum(plan.left_out.values()):,}", border=True)
        for reason, count in plan.left_out.items():
            st.markdown(f":material/filter_alt: {many(count, 'pair')}: {as_text(reason)}.")
        if len(plan.rows):
            _density(bench, project, plan)
        if plan.changes:
            _changes(plan, plan.score_range)
        if warned := dev_warning(plan, count_project(bench.workspace, project.id).dev):
            st.warning(warned, icon=":material/model_training:")
        for note in plan.notes:
            st.caption(f":material/info: {as_text(note)}")
        if plan.is_empty:
            st.info("With these choices nothing would come into gold.", icon=":material/block:")
            return
        label = (
            f"Change {many(len(plan.changes), 'gold pair')}"
            if task.source == "gold"
            else f"Add {many(len(plan.rows), 'pair')} to gold"
        )
        st.button(
            label,
            type="primary",
            icon=":material/verified:",
            key=f"merge-write-{task.id}",
            on_click=_write,
            args=(bench, project, task, told),
            help="Writes what the preview shows. It can be taken back on the Gold page.",
        )


def dev_warning(plan: MergePlan, n_dev: int) -> str:
    """That dev would be too small to choose by, "" where it is not. n_dev: dev pairs that are there."""
    n_dev += plan.splits.get("dev", 0)
    if not len(plan.rows) or n_dev >= FEWEST_DEV:
        return ""
    cannot = (
        f"with {many(n_dev, 'pair')} it cannot"
        if n_dev < 3
        else f"with {many(n_dev, 'pair')} that is mostly luck"
    )
    return (
        f"Dev would have {many(n_dev, 'pair')}. Dev chooses the epoch that is kept; {cannot}. Give dev a larger share, or "
        "add pairs to it."
    )


def _density(bench: Bench, project: Project, plan: MergePlan) -> None:
    there = gold_scores(bench.workspace, project.id)
    new = {
        split: plan.rows.scores[plan.rows.splits == number]
        for number, split in enumerate(SPLITS)
        if split in plan.splits
    }
    columns = st.columns(2 if len(there) else 1, gap="medium")
    with columns[0]:
        st.markdown("**New pairs**")
        _histogram(plan, new, "new")
    if len(there):
        with columns[1]:
            st.markdown("**Gold with them**")
            _histogram(plan, {"gold now": there, "new": plan.rows.scores}, "both")
    low, high = plan.score_range.low, plan.score_range.high
    first = (
        ""
        if len(there)
        else f" These are the first gold pairs: the project becomes one for {plan.task}."
    )
    st.caption(
        f"Scores on the scale of gold, {low:g} to {high:g}; mean of the new pairs "
        f"{low + (high - low) * float(np.mean(plan.rows.scores)):.2f}.{first}"
    )


def _histogram(plan: MergePlan, values: dict[str, np.ndarray], what: str) -> None:
    figure = charts.histogram_figure(values, plan.score_range)
    colors = {"gold now": charts.COLORS["gold"], "new": NEW_COLOR}
    for trace in figure.data:
        if trace.name in colors:
            trace.marker.color = colors[trace.name]
    draw(
        figure,
        key=f"merge-density-{what}-{plan.annotation_task.id}",
        config={"displayModeBar": False},
        alt=f"How many pairs have which score: {what}",
    )


def _changes(plan: MergePlan, scale: ScoreRange) -> None:
    st.dataframe(
        pd.DataFrame(
            {
                "Sentence 1": change.sentence1,
                "Sentence 2": change.sentence2,
                "Gold now": change.before,
                "New": change.after,
            }
            for change in sorted(plan.changes, key=lambda c: -abs(c.after - c.before))[
                :SHOWN_CHANGES
            ]
        ),
        hide_index=True,
        height=min(40 + 35 * len(plan.changes), 320),
        column_config={
            name: st.column_config.NumberColumn(format="%.2f") for name in ("Gold now", "New")
        },
        alt="Gold pairs that would change",
    )
    apart = [abs(change.after - change.before) for change in plan.changes]
    st.caption(
        f"Largest changes first; mean change {np.mean(apart):.2f} on the scale of {scale.low:g} to {scale.high:g}. "
        "One press of Undo on the Gold page takes all of them back."
    )


def _write(bench: Bench, project: Project, task: AnnotationTask, told: dict[str, Any]) -> None:
    with user_errors():
        done = merge(bench.workspace, project, task.id, **told, actor=person())
        st.session_state[f"merged-{task.id}"] = done
        st.session_state.pop(f"merge-preview-{task.id}", None)


def _success(task: AnnotationTask, done: MergeResult) -> None:
    parts = []
    if done.n_added:
        shares = ", ".join(f"{n:,} {split}" for split, n in done.splits.items())
        parts.append(
            f"{many(done.n_added, 'pair')} of {task.name} {'is' if done.n_added == 1 else 'are'} gold now ({shares})."
        )
    if done.n_changed:
        parts.append(f"{many(done.n_changed, 'gold pair')} got another score.")
    left = sum(done.left_out.values())
    if left:
        parts.append(f"{many(left, 'pair')} left out.")
    if done.run_id is not None:
        parts.append("To take it back, remove this import on the Gold page, tab Imports.")
    with st.container(border=True, key="merge-done"):
        st.success(as_text(" ".join(parts)), icon=":material/check_circle:")
        with st.container(horizontal=True):
            page_link("gold", "See the gold pairs")
            page_link("train", "Train on them")
