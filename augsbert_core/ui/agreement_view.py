"""Agreement of the annotators of one task: figures, worst pairs, adjudication, and the way into gold."""

import numpy as np
import pandas as pd
import streamlit as st

from augsbert_core import explain
from augsbert_core.charts import annotators as figures
from augsbert_core.pairs import ScoreRange
from augsbert_core.steps.agreement import AgreementReport, TwoFigures, agreement
from augsbert_core.storage.records import AnnotationTask, Project
from augsbert_core.ui.adjudication import adjudication
from augsbert_core.ui.annotate_views import score_button
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.best_worst_results_view import best_worst_results_view
from augsbert_core.ui.figures import draw
from augsbert_core.ui.merge_panel import merge_panel
from augsbert_core.ui.view_switch import view_switch
from augsbert_core.ui.what_happened import what_happened
from augsbert_core.ui.widgets import as_text, empty_state

VIEWS = {
    "figures": "Figures",
    "worst": "Worst pairs",
    "adjudicate": "Adjudicate",
    "merge": "Merge into gold",
}
PLOT = {"displayModeBar": False}
MOST_ROWS = 500
ROW_PIXELS = 66
"""Room for three lines; text wraps in rows above 64 pixels."""
UNDEFINED = "–"


def agreement_view(bench: Bench, project: Project, task: AnnotationTask) -> None:
    """Show how well the annotators of a task agree, settle where they do not, and merge into gold."""
    if task.kind == "best-worst":
        best_worst_results_view(bench, project, task)
        return
    report = agreement(bench.workspace, task.id)
    if not report.n_scored:
        place = empty_state(
            "Nobody has scored a pair of this task yet. As scores come in, this view shows how well people agree, "
            "where they differ, and takes the scores into gold."
        )
        with place:
            score_button()
        return
    view = view_switch(VIEWS, key=f"agreement-view-{task.id}")
    if view == "worst":
        _worst(task, report)
    elif view == "adjudicate":
        _adjudicate(bench, task, report)
    elif view == "merge":
        merge_panel(bench, project, task)
    else:
        _figures(task, report)


# --- figures ----------------------------------------------------------------------------------------


def _figures(task: AnnotationTask, report: AgreementReport) -> None:
    _counts(report)
    if report.anchoring:
        st.warning(as_text(report.anchoring), icon=":material/anchor:")
    if len(report.annotators) < 2:
        st.info(
            "Only one person has scored, so there is nothing to agree with yet. Let somebody else open this task under "
            "a name of their own; a task made for two scores a pair gives both the same pairs.",
            icon=":material/group_add:",
        )
        _use_of_scale(task, report)
        return
    if not report.n_shared:
        st.info(
            "No pair has scores of two people yet. Make the next task with two or more scores a pair.",
            icon=":material/group:",
        )
        _use_of_scale(task, report)
        return
    with st.container(border=True):
        st.markdown(f"**{_verdict(report)}**  \n{as_text(report.reading)}")
        _coefficients(report, task.score_range)
    left, right = st.columns(2, gap="medium")
    with left, st.container(border=True, height="stretch"):
        _use_of_scale(task, report)
    with right, st.container(border=True, height="stretch"):
        _bias(task, report)
    _two_by_two(task, report)
    low, high = report.alpha_interval.interval or (None, None)
    what_happened(
        explain.agreement(
            n_annotators=len(report.annotators),
            n_shared=report.n_shared,
            alpha=report.alpha_interval.value,
            low=low,
            high=high,
            spearman=report.mean_spearman.value,
        ),
        "agreement",
    )


def _counts(report: AgreementReport) -> None:
    with st.container(horizontal=True):
        st.metric("Pairs scored", f"{report.n_scored:,} of {report.n_pairs:,}", border=True)
        st.metric(
            "By two or more",
            f"{report.n_shared:,}",
            border=True,
            help="Only pairs that two people scored say anything about agreement.",
        )
        st.metric("Annotators", f"{len(report.annotators):,}", border=True)
        st.metric("Pairs that differ", f"{len(report.worst):,}", border=True)
        st.metric("Flagged", f"{len(report.flagged):,}", border=True)


def _verdict(report: AgreementReport) -> str:
    alpha = report.alpha_interval.value
    return "Krippendorff's α is undefined" if alpha is None else f"Krippendorff's α is {alpha:.2f}"


def apart_text(report: AgreementReport, scale: ScoreRange) -> str:
    """How far two annotators' scores of a pair are apart, on the scale of the task, with its interval."""
    found, width = report.mean_apart, scale.high - scale.low
    if found.value is None:
        return f"Mean distance of two scores: undefined. {found.reason}"
    told = "no interval"
    if found.interval is not None:
        told = f"95 %: [{width * found.interval[0]:.2f}, {width * found.interval[1]:.2f}]"
    return (
        f"Mean distance of two scores of a pair {width * found.value:.2f} ({told}) on the scale of {scale.low:g} to "
        f"{scale.high:g}."
    )


def _coefficients(report: AgreementReport, scale: ScoreRange) -> None:
    measures = {
        "α, interval": report.alpha_interval,
        "α, nominal": report.alpha_nominal,
        "Fleiss' κ": report.fleiss,
        "Mean Spearman": report.mean_spearman,
    }
    shown = [
        figures.Coefficient(name, figure.value, figure.interval)
        for name, figure in measures.items()
        if figure.value is not None
    ]
    if shown:
        draw(
            figures.coefficients_figure(shown),
            key="agreement-coefficients",
            config=PLOT,
            alt="Each measure of agreement with its 95 % interval",
        )
    intervals = [
        f"{name} {figure.value:.3f} [{figure.interval[0]:.3f}, {figure.interval[1]:.3f}]"
        if figure.interval is not None
        else f"{name} {figure.value:.3f} (no interval)"
        for name, figure in measures.items()
        if figure.value is not None
    ]
    told = "; ".join(intervals)
    st.caption(as_text(apart_text(report, scale)))
    st.caption(
        f"{told}{'. ' if told else ''}Bars: 95 % bootstrap interval over the {report.n_shared:,} pairs with two scores "
        "or more. Interval α counts how far scores are apart, nominal α and κ only whether they are the same, so on a "
        f"fine scale these are lower. Fleiss' κ: {report.fleiss.n_pairs:,} pairs that everyone scored. Shaded: "
        "from 0.667 tentative, from 0.8 reliable (Krippendorff 2004, Content Analysis, p. 241)."
    )
    for name, figure in measures.items():
        if figure.value is None:
            st.caption(f":material/info: {name} is undefined: {as_text(figure.reason)}")


def _use_of_scale(task: AnnotationTask, report: AgreementReport) -> None:
    st.markdown("**How each uses the scale**")
    draw(
        figures.scores_by_annotator_figure(report.names, report.scores, task.score_range),
        key="agreement-scale",
        config=PLOT,
        alt="How often each annotator gave each score",
    )
    counts = " · ".join(f"{person.name} {person.n_scores:,}" for person in report.annotators)
    st.caption(
        f"Bubbles: share of a person's scores; line: their mean. Scores given: {as_text(counts)}."
    )


def _bias(task: AnnotationTask, report: AgreementReport) -> None:
    st.markdown("**Who scores higher or lower than the others**")
    people = report.annotators
    draw(
        figures.bias_figure(
            report.names,
            [person.bias for person in people],
            [person.spread for person in people],
            task.score_range,
        ),
        key="agreement-bias",
        config=PLOT,
        alt="Bias and spread of each annotator",
    )
    st.caption(
        f"On pairs that others scored too, in points of the scale, {task.score_range.low:g} to {task.score_range.high:g}. "
        "Dot: mean difference (bias). Bar: ± standard deviation of the differences; "
        "long bars mean that someone scores unevenly, which averaging helps. A bias is a matter for the guideline."
    )


def _two_by_two(task: AnnotationTask, report: AgreementReport) -> None:
    twos = report.twos
    if not twos:
        return
    with st.container(border=True):
        st.markdown("**Two at a time**")
        st.dataframe(
            _two_table(twos, task.score_range),
            hide_index=True,
            height="content",
            alt="Agreement of each two annotators",
        )
        left, right = st.columns(2, gap="medium")
        with right:
            chosen = 0
            if len(twos) > 1:
                chosen = st.selectbox(
                    "In the figure",
                    range(len(twos)),
                    format_func=lambda at: f"{twos[at].first} and {twos[at].second}",
                    key=f"agreement-two-{task.id}",
                    help="Whose two scores of each pair the bubbles set against each other.",
                )
            weighted = (
                " Weighted κ counts the square of the distance and is close to interval α."
                if len(report.levels) > 2
                else ""
            )
            st.caption(
                f"Mean distance in points of the scale, {task.score_range.low:g} to {task.score_range.high:g}; figures "
                "of two people have no interval here, their means above have. κ: Cohen's, agreement on the very same level beyond chance."
                f"{weighted} Spearman needs three common pairs.  \nBubbles: as large as the number of pairs that got "
                "these two scores. On the dotted line both gave the same score; a cloud to one side of it is a bias, a "
                "wide cloud is noise."
            )
        with left:
            two = twos[chosen]
            rows = [report.names.index(name) for name in (two.first, two.second)]
            draw(
                figures.two_annotators_figure(
                    report.scores[rows[0]],
                    report.scores[rows[1]],
                    (two.first, two.second),
                    task.score_range,
                ),
                key="agreement-two",
                config=PLOT,
                alt=f"Scores of {two.first} against those of {two.second}",
            )


def _two_table(twos: tuple[TwoFigures, ...], scale: ScoreRange) -> pd.DataFrame:
    width = scale.high - scale.low
    frame = pd.DataFrame(
        {
            "Annotators": f"{two.first} · {two.second}",
            "Pairs": two.n_shared,
            "κ": _number(two.kappa),
            "Weighted κ": _number(two.weighted),
            "Spearman": _number(two.spearman),
            "Mean distance": _number(
                None if two.mean_apart is None else width * two.mean_apart, digits=2
            ),
        }
        for two in twos
    )
    empty = (frame["Weighted κ"] == UNDEFINED).all()
    return frame.drop(columns="Weighted κ") if empty else frame


def _number(value: float | None, digits: int = 3) -> str:
    return UNDEFINED if value is None else f"{value:.{digits}f}"


# --- pairs ------------------------------------------------------------------------------------------


def _worst(task: AnnotationTask, report: AgreementReport) -> None:
    flagged_only = st.toggle(
        "Flagged pairs only",
        key=f"agreement-flagged-{task.id}",
        disabled=not report.flagged,
        help="Pairs that an annotator marked for a second look, whatever their scores.",
    )
    places = list(report.flagged if flagged_only else report.worst)
    if not places:
        empty_state(
            "No pair has scores that differ."
            if report.n_shared
            else "No pair has scores of two people yet, so none can differ. Let a second person score this task, "
            "under a name of their own."
        )
        return
    table = worst_table(report, places[:MOST_ROWS], task.score_range)
    st.dataframe(
        table,
        hide_index=True,
        row_height=ROW_PIXELS,
        height=min(40 + ROW_PIXELS * min(len(places), MOST_ROWS), 40 + 9 * ROW_PIXELS),
        column_config={
            "Sentence 1": st.column_config.TextColumn(width=200),
            "Sentence 2": st.column_config.TextColumn(width=200),
            "Apart": st.column_config.NumberColumn(
                format="%.2f", width=65, help="Highest minus lowest score."
            ),
            "Flags": st.column_config.NumberColumn(width=60, help="How many marked the pair."),
            "Settled": st.column_config.TextColumn(
                width=75, alignment="right", help="The adjudicated score, where there is one."
            ),
            **{
                name: st.column_config.TextColumn(width=70, alignment="right")
                for name in table.columns[3 : 3 + len(report.names)]
            },
        },
        alt="Pairs on which annotators differ most",
    )
    more = (
        f" The first {MOST_ROWS:,} of {len(places):,} are shown." if len(places) > MOST_ROWS else ""
    )
    st.caption(
        f"{len(places):,} {'flagged pairs' if flagged_only else 'pairs whose scores differ, the largest standard deviation first'}."
        f"{more} Settle them in the view Adjudicate."
    )


def worst_table(report: AgreementReport, places: list[int], scale: ScoreRange) -> pd.DataFrame:
    """Pairs with the score of each annotator, on the raw scale; without columns that would be empty."""
    rows = report.items.iloc[places]
    width = scale.high - scale.low
    table = pd.DataFrame(
        {
            "Apart": width * rows["width"],
            "Sentence 1": rows["sentence1"],
            "Sentence 2": rows["sentence2"],
        }
    )
    taken = set(table.columns) | {"Flags", "Settled"}
    for name, own in zip(report.names, report.scores, strict=True):
        label = name
        while label in taken:
            # A person may be called like a column.
            label += " "
        taken.add(label)
        table[label] = _cells(own[places], scale)
    table = table.assign(
        Flags=rows["flags"],
        Settled=_cells(rows["adjudicated_score"].to_numpy(dtype=float), scale),
    )
    # Columns that say nothing make room for the sentences.
    silent = [
        name
        for name, is_silent in (
            ("Flags", not table["Flags"].any()),
            ("Settled", (table["Settled"] == "").all()),
        )
        if is_silent
    ]
    return table.drop(columns=silent)


def _cells(units: np.ndarray, scale: ScoreRange) -> list[str]:
    """Scores as people read them, "" where there is none."""
    return ["" if np.isnan(unit) else f"{scale.to_raw(unit):.4g}" for unit in units.tolist()]


def _adjudicate(bench: Bench, task: AnnotationTask, report: AgreementReport) -> None:
    n_flagged = len(report.flagged)
    offered = {"apart": f"Scores differ ({len(report.worst):,})"}
    if n_flagged:
        offered["flagged"] = f"Flagged ({n_flagged:,})"
    which = "apart"
    if len(offered) > 1:
        which = st.segmented_control(
            "Which pairs",
            list(offered),
            format_func=offered.__getitem__,
            default="apart",
            required=True,
            key=f"adjudicate-which-{task.id}",
            persist_state="session",
            help="Where people give different scores, the farthest apart first, or the pairs that somebody "
            "flagged for a second look.",
        )
    places = report.flagged if which == "flagged" else report.worst
    ids = [int(item) for item in report.items["item_id"].iloc[list(places)]]
    if not ids:
        empty_state(
            "There is nothing to settle: no pair has scores that differ."
            if report.n_shared
            else "There is nothing to settle: no pair has scores of two people yet. Let a second person score this "
            "task, under a name of their own."
        )
        return
    adjudication(bench.workspace, task, ids, which=str(which))
