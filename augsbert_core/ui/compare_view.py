"""The Compare page in parts: labels, figure, table, and what is still to be trained or measured."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd
import streamlit as st

from augsbert_core import charts
from augsbert_core.options import BiEncoderOptions, EvaluateOptions, from_json
from augsbert_core.steps.compare import Comparison, equal_step_options, model_target
from augsbert_core.steps.verdict import Verdict
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.exports import to_csv
from augsbert_core.storage.runs import list_runs
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.job_panel import launch
from augsbert_core.ui.recipes import METRIC_NAMES, count_column
from augsbert_core.ui.widgets import as_text, duration_text

KIND_NAMES = {
    "untrained": "Untrained",
    "off the shelf": "Off the shelf",
    "jaccard": "Word overlap",
    "gold-only": "Gold only",
    "gold-only, equal steps": "Gold only, equal steps",
    "augsbert": "AugSBERT",
    "cross-encoder": "Cross-encoder",
}


def row_label(row: pd.Series) -> str:
    """A short name for a row, different from all others: kind, size of silver, run."""
    if pd.isna(row["run_id"]):
        return str(row["name"])
    silver = f" · {int(row['n_silver']):,} silver" if row["n_silver"] else ""
    return f"{KIND_NAMES.get(row['kind'], row['kind'])}{silver} · run {int(row['run_id'])}"


def show_verdict(found: Verdict) -> None:
    """The honest sentence, coloured by what the interval says."""
    text = as_text(found.sentence)
    if found.low is None or found.high is None:
        st.info(text, icon=":material/balance:")
    elif found.low > 0:
        st.success(text, icon=":material/trending_up:")
    elif found.high < 0:
        st.error(text, icon=":material/trending_down:")
    else:
        st.info(text, icon=":material/trending_flat:")


def show_figure(table: Comparison) -> None:
    """Dots with intervals, one per measured model."""
    rows = table.rows.assign(name=table.rows.apply(row_label, axis=1))
    metric = METRIC_NAMES.get(table.metric, table.metric)
    st.plotly_chart(
        charts.comparison_figure(rows, f"{metric} on {table.split}"),
        key=f"compare-figure-{table.split}",
        config={"displaylogo": False},
        alt=f"{metric} of each model on the {table.split} split with 95 % intervals",
    )
    st.caption(
        f"Each dot is one model's {metric} on the {table.n_pairs:,} {table.split} pairs, times 100. Bars: 95 % "
        "bootstrap interval, from resampling the pairs 1,000 times; it tells how much the score depends on which "
        "pairs were drawn, not on the training seed. Hollow dots are not comparable with the rest."
    )


def show_table(table: Comparison) -> None:
    """Every row with what it cost."""
    rows = table.rows
    shown = pd.DataFrame(
        {
            "Model": rows.apply(row_label, axis=1),
            "Score": 100 * rows["value"],
            "Interval": [
                "" if pd.isna(low) or pd.isna(high) else f"{100 * low:.1f} – {100 * high:.1f}"
                for low, high in zip(rows["low"], rows["high"], strict=True)
            ],
            "Gold": rows["n_gold"],
            "Silver": rows["n_silver"],
            "Passes": rows["passes"],
            "Steps": rows["n_steps"],
            "Training": [
                "" if pd.isna(seconds) else duration_text(float(seconds))
                for seconds in rows["seconds"]
            ],
            "Seed": ["" if pd.isna(seed) else str(int(seed)) for seed in rows["seed"]],
            "Comparable": ["yes" if fits else "no" for fits in rows["comparable"]],
            "Details": rows["name"],
        }
    )
    st.dataframe(
        shown,
        hide_index=True,
        placeholder="undefined",
        height=38 + 35 * len(shown),
        column_config={
            "Model": st.column_config.TextColumn(width="medium", pinned=True),
            "Score": st.column_config.NumberColumn(
                f"{METRIC_NAMES.get(table.metric, table.metric)} × 100",
                format="%.1f",
                help=f"On the {table.split} split. Undefined: the model gave every pair the same score, or there "
                "are fewer than three pairs.",
            ),
            "Interval": st.column_config.TextColumn("95 % interval"),
            "Gold": count_column("Gold pairs trained on."),
            "Silver": count_column("Silver pairs trained on."),
            "Passes": count_column(
                "Cross-encoder passes spent on labels: the cost of the silver set."
            ),
            "Steps": count_column("Optimiser steps."),
            "Training": st.column_config.TextColumn(help="Time spent training.", width="small"),
            "Seed": st.column_config.TextColumn(width="small"),
        },
    )


def show_notes(table: Comparison) -> None:
    """What to keep in mind, and why some rows are not comparable."""
    for note in table.notes:
        st.caption(f":material/info: {as_text(note)}")
    for _, row in table.rows[~table.rows["comparable"]].iterrows():
        st.caption(
            f":material/radio_button_unchecked: {as_text(row_label(row))} is not comparable: "
            f"{as_text(row['why_not'])}."
        )


def table_csv(table: Comparison) -> bytes:
    """The table for a spreadsheet, with the split in every row; what is undefined is empty."""
    rows = (
        table.rows.assign(split=table.split)
        .astype(object)
        .where(table.rows.assign(split=0).notna(), None)
    )
    return to_csv(list(rows.columns), rows.itertuples(index=False, name=None))


@dataclass(frozen=True)
class Baseline:
    """A training run that a fair comparison still lacks."""

    label: str
    why: str
    options: BiEncoderOptions


def missing_baselines(workspace: Workspace, project_id: int) -> list[Baseline]:
    """The gold-only runs that the newest AugSBERT run has to be compared with and that do not exist yet."""
    students = list_runs(workspace, project_id, "train-bi-encoder", state=None)
    recipes = {run.id: from_json(BiEncoderOptions, run.options) for run in students}
    augmented = [
        r for r in students if r.state == "done" and recipes[r.id].silver_set_id is not None
    ]
    if not augmented:
        return []
    newest = augmented[0]
    ours = recipes[newest.id]
    alike = [
        run
        for run in students
        if run.state in ("done", "started")
        and recipes[run.id].silver_set_id is None
        and (recipes[run.id].base, recipes[run.id].layers) == (ours.base, ours.layers)
    ]
    steps = newest.metrics.get("n_steps")
    has_twin = any(
        steps in (run.metrics.get("n_steps"), recipes[run.id].max_steps) for run in alike
    )
    has_plain = any(recipes[run.id].max_steps != steps for run in alike)
    missing = []
    if not has_plain:
        missing.append(
            Baseline(
                "Train the gold-only baseline",
                "The lower bound: the same recipe on gold pairs alone.",
                replace(ours, silver_set_id=None, max_steps=None),
            )
        )
    if not has_twin and steps:
        missing.append(
            Baseline(
                f"Train gold-only for {steps:,} steps",
                "The fair opponent: gold pairs alone, for as many optimiser steps as the AugSBERT run.",
                equal_step_options(workspace, newest.id),
            )
        )
    return missing


def action_buttons(bench: Bench, table: Comparison, baselines: Sequence[Baseline]) -> None:
    """Measure what is missing, train missing baselines, or add a model by name."""
    if table.missing and st.button(
        f"Measure {len(table.missing)} missing model{'' if len(table.missing) == 1 else 's'}",
        type="primary",
        icon=":material/straighten:",
        help=f"Score the {table.n_pairs:,} {table.split} pairs with every model that has no row yet.",
    ):
        launch(bench, "evaluate", EvaluateOptions(targets=table.missing, split=table.split))
    for number, baseline in enumerate(baselines):
        if st.button(
            baseline.label,
            icon=":material/model_training:",
            help=baseline.why,
            key=f"baseline-{number}",
        ):
            launch(bench, "train-bi-encoder", baseline.options)
    with st.popover("Add a model", icon=":material/add:"):
        name = st.text_input(
            "Bi-encoder by name",
            placeholder="sentence-transformers/all-mpnet-base-v2",
            help="Any sentence-transformers model on the hub, or a folder. It is measured as it is, untrained.",
        )
        if st.button("Measure it", disabled=not name.strip()):
            target = model_target(name.strip())
            launch(bench, "evaluate", EvaluateOptions(targets=(target,), split=table.split))
