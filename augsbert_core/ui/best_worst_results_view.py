"""What the answers of a best-worst task amount to: counts, reliability, scores, and the way into gold."""

import numpy as np
import pandas as pd
import streamlit as st

from augsbert_core import charts, explain
from augsbert_core.charts.annotators import appearances_figure
from augsbert_core.explain.phrases import many
from augsbert_core.pairs import ScoreRange
from augsbert_core.steps.best_worst_results import (
    PAPER_RELIABILITY,
    RECOMMENDED_TUPLES,
    BestWorstResults,
    best_worst_results,
)
from augsbert_core.storage.records import AnnotationTask, Project
from augsbert_core.ui.annotate_views import score_button
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.figures import draw
from augsbert_core.ui.merge_panel import merge_panel
from augsbert_core.ui.view_switch import view_switch
from augsbert_core.ui.what_happened import what_happened
from augsbert_core.ui.widgets import as_text, empty_state

VIEWS = {"results": "Results", "pairs": "Pairs", "merge": "Merge into gold"}
PLOT = {"displayModeBar": False}
MOST_ROWS = 2_000


def best_worst_results_view(bench: Bench, project: Project, task: AnnotationTask) -> None:
    """Show how often pairs were judged, how reliable the order is, the scores, and merge them into gold."""
    found = best_worst_results(bench.workspace, task.id)
    if not found.n_answers:
        place = empty_state(
            "Nobody has answered a tuple of this task yet. As answers come in, this view shows how often each pair "
            "won, how far its score can be trusted, and takes the scores into gold."
        )
        with place:
            score_button()
        return
    view = view_switch(VIEWS, key=f"best-worst-results-{task.id}")
    if view == "merge":
        merge_panel(bench, project, task)
    elif view == "pairs":
        _pairs(found)
    else:
        _results(task, found)


def _results(task: AnnotationTask, found: BestWorstResults) -> None:
    n_pairs = len(found.items)
    judged = found.appearances > 0
    with st.container(horizontal=True):
        st.metric("Answers", f"{found.n_answers:,} of {task.n_wanted:,}", border=True)
        st.metric("Judges", f"{len(found.judges):,}", border=True)
        st.metric("Pairs judged", f"{int(judged.sum()):,} of {n_pairs:,}", border=True)
        st.metric(
            "Tuples per pair",
            f"{found.tuples_per_pair:.3g}",
            border=True,
            help=f"Of the design; {RECOMMENDED_TUPLES} are recommended.",
        )
    with st.container(border=True):
        _reliability(found)
    left, right = st.columns(2, gap="medium")
    with left, st.container(border=True, height="stretch"):
        st.markdown("**Scores of the pairs**")
        draw(
            charts.histogram_figure(
                {"Best-worst score": found.scores[judged]}, ScoreRange(0.0, 1.0), bins=20
            ).update_traces(marker_color=charts.COLORS["gold"]),
            key="best-worst-scores",
            config=PLOT,
            alt="How many pairs have which best-worst score",
        )
        st.caption(
            "(times most similar − times least similar) / times judged, put on 0 to 1. Scores say where a pair stands "
            "among the pairs of this task: 0.5 is the middle of them, not of a scale of meaning."
        )
    with right, st.container(border=True, height="stretch"):
        st.markdown("**How often pairs were judged**")
        draw(
            appearances_figure(found.appearances),
            key="best-worst-appearances",
            config=PLOT,
            alt="How many pairs were judged how often",
        )
        low, high = int(found.appearances.min()), int(found.appearances.max())
        often = (
            f"Each {low:,} times"
            if low == high
            else (f"{np.mean(found.appearances):.1f} times on average, {low:,} to {high:,}")
        )
        st.caption(
            f"{often}. A pair judged n times has one of 2n + 1 scores, so that few judgements make a coarse scale."
        )
    counts = " · ".join(f"{name} {count:,}" for name, count in found.judges.items())
    st.caption(f"Answers: {as_text(counts)}.")
    what_happened(
        explain.best_worst(
            n_judges=len(found.judges),
            n_pairs=int(judged.sum()),
            reliability=found.reliability.mean if found.reliability else None,
        ),
        "best-worst",
    )


def _reliability(found: BestWorstResults) -> None:
    reliability = found.reliability
    if reliability is None:
        st.markdown("**Split-half reliability is undefined**")
        st.caption(f":material/info: {as_text(found.reason)}")
    else:
        above = reliability.mean >= PAPER_RELIABILITY
        st.markdown(
            f"**Split-half reliability is {reliability.mean:.2f} ± {reliability.deviation:.2f}**, "
            f"{'at or above' if above else 'below'} the {PAPER_RELIABILITY} of the paper's best-worst set."
        )
        corrected = (
            f" Carried over to all judges (Spearman-Brown): {reliability.corrected:.2f}; published values are "
            "without this."
            if reliability.corrected is not None
            else ""
        )
        left_out = (
            f" {many(reliability.tuples_left_out, 'tuple')} with one judge "
            f"{'says' if reliability.tuples_left_out == 1 else 'say'} nothing here."
            if reliability.tuples_left_out
            else ""
        )
        st.caption(
            f"The judges of each tuple are split in two halves, both halves are scored, and their scores are correlated "
            f"(Spearman): mean and standard deviation over {reliability.splits} random splits, from "
            f"{reliability.tuples_used:,} tuples and {reliability.pairs_used:,} pairs.{left_out}{corrected}"
        )
    fewer = (
        ": with more, the same pairs would come into a truer order"
        if found.tuples_per_pair < RECOMMENDED_TUPLES
        else ""
    )
    st.caption(
        f":material/lightbulb: {RECOMMENDED_TUPLES} tuples per pair are recommended: in a simulated study of 200 pairs "
        "they are the fewest with which unsure judges reach 95 % of the correlation with the truth that judges without "
        f"noise reach (docs/results.md). This task has {found.tuples_per_pair:.3g}{fewer}."
    )


def _pairs(found: BestWorstResults) -> None:
    order = np.argsort(-np.nan_to_num(found.scores, nan=-1.0), kind="stable")[:MOST_ROWS]
    rows = found.items.iloc[order]
    st.dataframe(
        pd.DataFrame(
            {
                "Sentence 1": rows["sentence1"],
                "Sentence 2": rows["sentence2"],
                "Score": found.scores[order],
                "Times judged": found.appearances[order],
            }
        ),
        hide_index=True,
        row_height=56,
        height=min(40 + 56 * len(order), 560),
        column_config={
            "Sentence 1": st.column_config.TextColumn(width="medium"),
            "Sentence 2": st.column_config.TextColumn(width="medium"),
            "Score": st.column_config.ProgressColumn(
                min_value=0.0, max_value=1.0, format="%.2f", color="yellow"
            ),
        },
        alt="Pairs with their best-worst scores",
    )
    n_pairs = len(found.items)
    more = f"; the first {MOST_ROWS:,} are shown" if n_pairs > MOST_ROWS else ""
    st.caption(f"{n_pairs:,} pairs, the most similar first{more}.")
