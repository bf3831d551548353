"""The audit of a silver set: pairs that people score blind, and what they say about the labeler."""

from collections.abc import Iterable

import pandas as pd
import streamlit as st
from streamlit.errors import StreamlitAPIException

from augsbert_core import explain
from augsbert_core.charts.audit import audit_figure
from augsbert_core.errors import WorkbenchError
from augsbert_core.explain.phrases import many
from augsbert_core.steps.audit import (
    N_PAIRS,
    AuditReport,
    audit_sentence,
    audit_tasks,
    draw_audit,
    estimate_text,
    gaps_text,
    scaled_text,
    share_text,
    task_report,
)
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import AnnotationTask, Project, SilverSet
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.figures import draw
from augsbert_core.ui.last_job import needs_a_look
from augsbert_core.ui.what_happened import what_happened
from augsbert_core.ui.widgets import as_text, flash, time_text, user_errors

MOST_PAIRS = 1000
WORST = 10
ROW_PIXELS = 66
"""Room for three lines; text wraps in rows above 64 pixels."""
TABLE_PIXELS = 370


def audit_panel(bench: Bench, project: Project, found: SilverSet) -> None:
    """Draw an audit of a silver set, go on with it, and read its figures."""
    tasks = audit_tasks(bench.workspace, found.id)
    title = "Audit: how far is the labeler from people?"
    with st.expander(title, icon=":material/fact_check:", expanded=_is_open(bench, tasks)):
        if not tasks:
            st.markdown(
                "Score some pairs of this set without seeing the labeler's score. As many are drawn from each score "
                "region, and from them the labeler's errors are estimated for the **whole** set, with 95 % intervals."
            )
            _draw(bench, project, found, tasks)
            return
        task = tasks[0]
        if len(tasks) > 1:
            names = {one.id: f"{one.name} · {time_text(one.created_at)}" for one in tasks}
            chosen = st.selectbox(
                "Audit", list(names), format_func=names.__getitem__, key=f"audit-{found.id}",
                help="The newest with scores is what is shown next to this set elsewhere.",
            )  # fmt: skip
            task = next((one for one in tasks if one.id == chosen), task)
        report = task_report(bench.workspace, found.id, task)
        _progress(report)
        if report.n_scored:
            _figures(report)
        _draw(bench, project, found, tasks)


def audit_caption(workspace: Workspace, project: Project, set_id: int) -> str:
    """One sentence about the audit of a silver set, "" when there is none with scores."""
    try:
        return audit_sentence(workspace, set_id)
    except WorkbenchError:  # the set has been deleted meanwhile
        return ""


def audit_captions(workspace: Workspace, project: Project, set_ids: Iterable[int]) -> None:
    """Write what audits say about several silver sets, a line for each that has one."""
    for set_id in sorted(set(set_ids)):
        if text := audit_caption(workspace, project, set_id):
            st.caption(f":material/fact_check: {as_text(f'Silver set {set_id}. {text}')}")


def _is_open(bench: Bench, tasks: list[AnnotationTask]) -> bool:
    return bool(tasks and not tasks[0].closed) or needs_a_look(bench, "annotate")


def _progress(report: AuditReport) -> None:
    task = report.task
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(
            min(task.n_answers / max(task.n_wanted, 1), 1.0),
            text=f"{task.n_answers:,} of {task.n_wanted:,} scores",
        )
        if not task.closed:
            words = "Go on scoring" if task.n_answers else "Score the pairs"
            task_link(task.id, words if task.n_answers < task.n_wanted else "Look at the scores")
    if report.annotators:
        st.caption(as_text(f"Scored by {', '.join(report.annotators)}."))


def task_link(task_id: int, label: str) -> None:
    """A link to one task on the page Annotate."""
    query = {**st.query_params.to_dict(), "task": str(task_id)}
    try:
        st.page_link(
            "pages/annotate.py", label=label, icon=":material/edit_note:", width="content",
            query_params=query,
        )  # fmt: skip
    except StreamlitAPIException:
        # The page was started on its own, without app.py: a plain link reaches the other one.
        st.markdown(f":material/edit_note: [{label}](annotate?task={task_id})")


def _figures(report: AuditReport) -> None:
    found, scale = report.figures, report.score_range
    cells = st.columns(4)
    named: list[tuple[str, str, str, str]] = [
        (
            "Mean absolute error", scaled_text(found.mae, scale),
            "How far the labeler is from people on average, in points of the scale.", "",
        ),
        (
            "Bias", scaled_text(found.bias, scale, sign=True),
            "Labeler minus people, in points of the scale: above 0 the labeler scores too high.", "",
        ),
        (
            "Rank correlation", estimate_text(found.rank_correlation),
            "Spearman's, each pair weighed by how many pairs of the set it stands for.", "",
        ),
        (
            "Wrong positives", share_text(found.wrong_of_positives),
            f"Of the pairs that the labeler puts at {_threshold(report)} or above, the share that people put below; "
            f"{share_text(found.wrong_positives)} of the whole set.", " %",
        ),
    ]  # fmt: skip
    for cell, (label, text, help_text, unit) in zip(cells, named, strict=True):
        value, _, interval = text.partition(" [")
        cell.metric(
            label, value, f"95 %: [{interval}{unit}" if interval else None, delta_color="off", delta_arrow="off",
            help=f"{help_text} Below: 95 % interval." if interval else help_text,
        )  # fmt: skip
    own = "the labeler's own, from dev" if report.own_threshold else "the middle of the scale"
    basis = (
        "A census: every pair of the set was scored, so nothing is estimated."
        if found.is_census
        else f"Estimated for {many(found.n_pairs, 'pair')} of the set from {found.n_scored:,} scored."
    )
    unit = f"Mean absolute error and bias are in points of the scale {scale.low:g}–{scale.high:g}."
    st.caption(as_text(f"{basis} Threshold {_threshold(report)}: {own}. {unit}"))
    if gaps := gaps_text(report):
        st.warning(as_text(gaps), icon=":material/warning:")
    _chart(report)
    order = found.rank_correlation
    what_happened(
        explain.audit(
            n_scored=found.n_scored,
            n_pairs=found.n_pairs,
            mae=explain.Estimate(found.mae.value, found.mae.low, found.mae.high),
            bias=explain.Estimate(found.bias.value, found.bias.low, found.bias.high),
            rank=explain.Estimate(order.value, order.low, order.high),
            scale=scale,
            is_census=found.is_census,
        ),
        f"audit-{report.task.id}",
    )


def _threshold(report: AuditReport) -> str:
    threshold = report.figures.threshold
    return "" if threshold is None else f"{report.score_range.to_raw(threshold):.2f}"


def _chart(report: AuditReport) -> None:
    sample = report.sample
    texts = list(zip(sample["sentence1"], sample["sentence2"], strict=True))
    draw(
        audit_figure(
            sample["labeler"].to_numpy(float),
            sample["human"].to_numpy(float),
            sample["stratum"].to_numpy(int),
            texts,
            report.score_range,
            report.figures.threshold,
            seed=report.task.seed,
        ),
        key=f"audit-chart-{report.task.id}",
        alt="Score of the labeler against the score of people, one point per audited pair",
    )
    scored = sample[sample["human"].notna()]
    away = (scored["labeler"] - scored["human"]).abs()
    worst = scored.loc[away.sort_values(ascending=False, kind="stable").index[:WORST]]
    st.markdown("**Largest differences**")
    to_raw = report.score_range.to_raw
    st.dataframe(
        pd.DataFrame(
            {
                "People": [to_raw(value) for value in worst["human"]],
                "Labeler": [to_raw(value) for value in worst["labeler"]],
                "Sentence 1": worst["sentence1"],
                "Sentence 2": worst["sentence2"],
            }
        ),
        hide_index=True,
        row_height=ROW_PIXELS,
        height=min(40 + ROW_PIXELS * len(worst), TABLE_PIXELS),
        column_config={
            name: st.column_config.NumberColumn(format="%.2f", width=60)
            for name in ("People", "Labeler")
        }
        | {name: st.column_config.TextColumn(width=265) for name in ("Sentence 1", "Sentence 2")},
        alt="Audited pairs on which people and labeler differ most",
    )


def _draw(bench: Bench, project: Project, found: SilverSet, tasks: list[AnnotationTask]) -> None:
    with st.form(f"draw-audit-{found.id}", border=False, enter_to_submit=False):
        left, middle, right = st.columns([1, 1, 2], vertical_alignment="bottom")
        n_pairs = left.number_input(
            "Pairs to audit", 1, MOST_PAIRS, min(N_PAIRS, max(found.n_pairs, 1)), step=10,
            help="50 pairs give an interval of about a third of the error itself; four times as many halve it.",
        )  # fmt: skip
        n_scores = middle.number_input(
            "People per pair", 1, 9, 1, help="Several people's scores are averaged."
        )
        drawn = right.form_submit_button(
            "Draw another audit" if tasks else "Draw an audit",
            icon=":material/casino:",
            type="secondary" if tasks else "primary",
            disabled=not found.is_complete,
            help="Other pairs are drawn; earlier audits stay." if tasks else "Takes a moment.",
        )
    if not found.is_complete:
        st.caption("An audit waits until the set is complete.")
    if drawn:
        with user_errors():
            draw_audit(
                bench.workspace, project, found.id, int(n_pairs or 1), n_scores=int(n_scores or 1)
            )
            flash(f"Audit of {many(int(n_pairs or 1), 'pair')} drawn", ":material/fact_check:")
            st.rerun()
