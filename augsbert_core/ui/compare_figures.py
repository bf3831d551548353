"""The figures of the Compare page, one at a time: scores, agreement with gold, thresholds, learning curves."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from augsbert_core import charts, metrics
from augsbert_core.steps.compare import Comparison, Grouped
from augsbert_core.steps.compare.curves import learning_points
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.gold import scored_pairs
from augsbert_core.storage.records import Project
from augsbert_core.ui.figures import draw
from augsbert_core.ui.recipes import METRIC_NAMES

VIEWS = {
    "scores": "Scores",
    "agreement": "Model against gold",
    "threshold": "Threshold",
    "learning": "Learning curves",
}

CONFIG = {"displaylogo": False}


def show_figures(workspace: Workspace, project: Project, table: Comparison, found: Grouped) -> None:
    """Let the reader choose a figure; only that one is computed."""
    offered = [name for name in VIEWS if name != "threshold" or project.task == "classification"]
    view = st.segmented_control(
        "Figure",
        offered,
        format_func=VIEWS.__getitem__,
        default="scores",
        required=True,
        key="compare-view",
        persist_state="session",
        help="One figure at a time, from the stored predictions of the models in the table.",
    )
    with st.container(border=True):
        if view == "agreement":
            show_agreement(workspace, project, table)
        elif view == "threshold":
            show_threshold(table)
        elif view == "learning":
            show_learning(table, found)
        else:
            show_scores(table, found)


def show_scores(table: Comparison, found: Grouped) -> None:
    """Dots with intervals, one per row."""
    metric = METRIC_NAMES.get(table.metric, table.metric)
    references = found.rows["reference"].dropna()
    reference = None
    if len(references):
        # The row that most others are held against.
        name = references.mode().iloc[0]
        reference = float(found.rows.loc[found.rows["name"] == name, "value"].iloc[0])
    draw(
        charts.comparison_figure(found.rows, f"{metric} on {table.split}", reference=reference),
        key=f"compare-figure-{table.split}-{found.single}",
        config=CONFIG,
        alt=f"{metric} of each model on the {table.split} split with 95 % intervals",
    )
    resamples = metrics.resamples_for(table.n_pairs)
    seeds = (
        " Thick bars: ± standard deviation between seeds." if found.rows["sd"].notna().any() else ""
    )
    st.caption(
        f"{metric} on the {table.n_pairs:,} {table.split} pairs, times 100. Thin bars: 95 % bootstrap interval, from "
        f"resampling the pairs {resamples:,} times; it tells how much a score depends on which pairs were drawn, not "
        f"on the training seed.{seeds} Hollow marks are not comparable with the rest."
    )


def _choose(table: Comparison, key: str) -> dict[str, Any] | None:
    """One measured model, the best first; None when none has a score."""
    rows = table.rows[table.rows["value"].notna()].sort_values("value", ascending=False)
    targets = list(rows["target"])
    if not targets:
        st.caption("No model has a defined score on this split.")
        return None
    names = {row["target"]: _run_name(row) for row in rows.to_dict("records")}
    target = st.selectbox(
        "Model",
        targets,
        format_func=names.__getitem__,
        key=key,
        help="Whose predictions the figure shows; the best is first.",
    )
    return {**table.measured[target], "kind": table.models[target].kind}


def _run_name(row: Mapping[Any, Any]) -> str:
    run = "" if pd.isna(row["run_id"]) else f" · run {int(row['run_id'])}"
    return f"{row['name']}{run} ({100 * row['value']:.1f})"


def show_agreement(workspace: Workspace, project: Project, table: Comparison) -> None:
    """A point per pair: the model's score against the gold score."""
    chosen = _choose(table, "compare-agreement")
    if chosen is None:
        return
    if chosen["data_hash"] != table.data_hash:
        st.caption(
            "This model was measured on gold pairs that have changed since. Measure it again."
        )
        return
    gold = scored_pairs(workspace, project.id, table.split).scores
    predicted = np.asarray(chosen["predictions"], dtype=np.float64)
    color = charts.KIND_COLORS.get(chosen["kind"], charts.COLORS["silver"])
    draw(
        charts.agreement_figure(gold, predicted, project.score_range, color=color),
        key=f"agreement-{chosen['id']}",
        config=CONFIG,
        alt="Score of the model against the gold score, one point per pair",
    )
    drawn = min(len(gold), charts.MOST_POINTS)
    st.caption(
        f"{drawn:,} of {len(gold):,} {table.split} pairs. The line joins the mean gold scores of ten equal parts of all "
        "pairs by the model's score. A line that only climbs means a good order, which is what Spearman's correlation "
        "measures; a straight one means that distances between scores can be trusted too."
    )


def show_threshold(table: Comparison) -> None:
    """F1, precision and recall on dev against the threshold."""
    chosen = _choose(table, "compare-threshold")
    if chosen is None:
        return
    curve = chosen["details"].get("dev_curve")
    if not curve:
        st.caption("No threshold curve was stored with this measurement. Measure the model again.")
        return
    draw(
        charts.threshold_figure(curve, chosen["threshold"]),
        key=f"threshold-{chosen['id']}",
        config=CONFIG,
        alt="F1, precision and recall on dev against the decision threshold",
    )
    st.caption(
        "On the dev pairs. The threshold with the best F1 here decides on the other splits; a flat top means that its "
        "exact place matters little."
    )


def show_learning(table: Comparison, found: Grouped) -> None:
    """The score against the number of gold pairs, with and without silver."""
    points = learning_points(found)
    if points.empty:
        st.caption(
            "A learning curve needs the same recipe on two sizes of gold or more. The Experiments page plans such runs, "
            "and `augsbert train bi-encoder --gold-limit N` makes one."
        )
        return
    metric = METRIC_NAMES.get(table.metric, table.metric)
    draw(
        charts.learning_curve_figure(points, f"{metric} on {table.split} × 100"),
        key=f"learning-{table.split}",
        config=CONFIG,
        alt=f"{metric} against the number of gold pairs",
    )
    st.caption(
        "Bars: ± standard deviation between seeds, or the bootstrap interval where there is one seed. Where the curve "
        "with silver meets the one without, gold is no longer scarce."
    )
