"""The Experiments page, second half: what came out of one experiment."""

import json
from typing import Any

import pandas as pd
import streamlit as st

from augsbert_core import charts, explain
from augsbert_core.steps.batch_summary import summary_csv
from augsbert_core.steps.plans.parts import AUGMENTED, GOLD_ONLY, LABELER
from augsbert_core.storage.records import Project, Run
from augsbert_core.storage.runs import list_runs
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.downloads import file_stem, show_figure
from augsbert_core.ui.recipes import METRIC_NAMES, count_column
from augsbert_core.ui.what_happened import what_happened
from augsbert_core.ui.widgets import as_text, time_text

NAMES = {"dev_score": "Dev", "test_score": "Test", "auc05": "AUC(0.05)"}


def past_experiments(bench: Bench, project: Project) -> list[Run]:
    """The batches of a project that have a result to show, newest first."""
    return [
        run
        for run in list_runs(bench.workspace, project.id, "batch", state=None)
        if (run.metrics.get("summary") or {}).get("groups")
    ]


def show_experiment(bench: Bench, found: list[Run]) -> None:
    """Choose one of the experiments and see its outcome, figure and tables."""
    names = {run.id: f"Run {run.id} · {run.name} · {time_text(run.created_at)}" for run in found}
    chosen = st.selectbox(
        "Experiment",
        list(names),
        format_func=names.__getitem__,
        key=f"result-{found[0].id}",
        help="Each batch of runs that has results, the newest first.",
    )
    run = next((one for one in found if one.id == chosen), found[0])
    told = run.metrics["summary"]
    if told["n_done"] < told["n_planned"]:
        st.info(
            f"{told['n_done']} of {told['n_planned']} runs are done; these are their results.",
            icon=":material/hourglass_top:",
        )
    show_outcome(run.metrics.get("outcome"))
    score = main_score(told)
    with st.container(border=True):
        _figure(run, told, score)
    _groups_table(told)
    for note in told["notes"]:
        st.caption(as_text(note))
    what_happened(explained(told, score), f"experiment-{run.id}")
    with st.expander("Every run", icon=":material/list:"):
        _rows_table(told)
    _downloads(run, told)


def show_outcome(outcome: dict[str, Any] | None) -> None:
    """The sentence of "Will silver help?", coloured by what its interval says, with the time of a full run."""
    if not outcome:
        return
    text = as_text(outcome["sentence"])
    if outcome.get("helps") is None:
        st.info(text, icon=":material/trending_flat:")
    elif outcome["helps"]:
        st.success(text, icon=":material/trending_up:")
    else:
        st.error(text, icon=":material/trending_down:")
    st.caption(as_text(outcome["estimate_sentence"]))


def main_score(told: dict[str, Any]) -> str:
    """The score that the figure shows: on test when it was measured, else on dev."""
    measured = any(group["test_score"] is not None for group in told["groups"])
    return "test_score" if measured else "dev_score"


def metric_name(told: dict[str, Any]) -> str:
    """The metric of the scores, "Spearman" or "F1"."""
    metrics = {group["metric"] for group in told["groups"] if group["metric"]}
    return METRIC_NAMES.get(metrics.pop(), "Score") if len(metrics) == 1 else "Score"


def seed_scores(told: dict[str, Any], score: str) -> pd.DataFrame:
    """One row per run that has the score: group, value, seed."""
    return pd.DataFrame(
        [
            {"group": row["group"], "value": row[score], "seed": row["seed"]}
            for row in told["rows"]
            if row[score] is not None
        ],
        columns=["group", "value", "seed"],
    )


def curve_points(told: dict[str, Any], score: str) -> pd.DataFrame:
    """The points of a learning curve: series, n_gold, value, low, high.

    The interval is ± one standard deviation over seeds; with one seed, that of the test pairs if they were
    measured.
    """
    points = []
    for group in told["groups"]:
        if group[score] is None or not group["n_gold"] or " · " not in group["group"]:
            continue
        value, deviation = group[score], group[f"{score}_sd"]
        low = high = None
        if deviation is not None:
            low, high = value - deviation, value + deviation
        elif score == "test_score":
            row = next(row for row in told["rows"] if row["group"] == group["group"])
            low, high = row["test_low"], row["test_high"]
        series = group["group"].partition(" · ")[0]
        points.append((series, group["n_gold"], value, low, high))
    return pd.DataFrame(points, columns=["series", "n_gold", "value", "low", "high"])


def groups_frame(told: dict[str, Any]) -> pd.DataFrame:
    """One row per group: name, seeds, "mean ± standard deviation" of each score, sizes and time."""
    rows = []
    for group in told["groups"]:
        best = "★ " if group["group"] == told.get("best") else ""
        row = {"Model": best + group["group"], "Seeds": group["n"]}
        for name, title in NAMES.items():
            if any(other[name] is not None for other in told["groups"]):
                row[title] = mean_text(group[name], group[f"{name}_sd"])
        row |= {
            "Gold": group["n_gold"], "Silver": group["n_silver"], "Passes": group["passes"],
            "Steps": group["n_steps"], "Seconds": group["seconds"],
        }  # fmt: skip
        rows.append(row)
    return pd.DataFrame(rows)


def mean_text(mean: float | None, deviation: float | None) -> str:
    """A score times 100 with its standard deviation, "71.7 ± 0.4"; without one when there is one seed."""
    if mean is None:
        return ""
    return f"{100 * mean:.1f}" + ("" if deviation is None else f" ± {100 * deviation:.1f}")


def explained(told: dict[str, Any], score: str) -> tuple[str, ...]:
    """What an experiment has shown in plain sentences; nothing before two models have a score."""
    split = NAMES[score].lower()
    if told["kind"] == "learning-curve":
        points = curve_points(told, score)
        return explain.learning_curve(
            points=[
                (str(series), int(n_gold), float(value))
                for series, n_gold, value in zip(
                    points["series"], points["n_gold"], points["value"], strict=True
                )
            ],
            split=split,
            with_silver=AUGMENTED,
            without="Gold-only",
        )
    two = _two_that_matter(told["groups"], score)
    if two is None:
        return ()
    first, second = (
        explain.Group(one["group"], one["n"], one[score], one[f"{score}_sd"]) for one in two
    )
    return explain.two_groups(first=first, second=second, split=split)


def _two_that_matter(
    groups: list[dict[str, Any]], score: str
) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """With and without silver where an experiment has both, else the best two of its trained models."""
    trained = {
        one["group"]: one
        for one in groups
        if one[score] is not None and one["n_steps"] and one["group"] != LABELER
    }
    if AUGMENTED in trained and GOLD_ONLY in trained:
        return trained[AUGMENTED], trained[GOLD_ONLY]
    best = sorted(trained.values(), key=lambda one: -float(one[score]))[:2]
    return (best[0], best[1]) if len(best) == 2 else None


def _figure(run: Run, told: dict[str, Any], score: str) -> None:
    split = NAMES[score].lower()
    axis = f"{metric_name(told)} × 100 on {split}"
    points = curve_points(told, score) if told["kind"] == "learning-curve" else pd.DataFrame()
    if len(points):
        figure = charts.learning_curve_figure(points, axis)
        alt = f"{axis} against the number of gold pairs, one line for each way of training."
    else:
        figure = charts.seeds_figure(seed_scores(told, score), axis)
        alt = f"{axis}: a dot for each seed, a diamond for the mean of each model."
    title = f"{axis}: {run.name}"
    show_figure(figure, key=f"experiment-{run.id}", title=as_text(title), name=run.name, alt=alt)


def _groups_table(told: dict[str, Any]) -> None:
    metric = metric_name(told)
    st.dataframe(
        groups_frame(told),
        hide_index=True,
        placeholder="",
        column_config={
            "Model": st.column_config.TextColumn(width=230),
            "Seeds": st.column_config.NumberColumn(width=60),
            "Dev": st.column_config.TextColumn(f"Dev {metric} × 100", width=140),
            "Test": st.column_config.TextColumn(f"Test {metric} × 100", width=140),
            "AUC(0.05)": st.column_config.TextColumn("AUC(0.05) × 100", width=130),
            "Gold": count_column("Gold pairs trained on, on average."),
            "Silver": count_column("Silver pairs trained on, on average."),
            "Passes": count_column("Cross-encoder passes behind the silver pairs, on average."),
            "Steps": count_column("Optimiser steps, on average."),
            "Seconds": st.column_config.NumberColumn(
                "Seconds", format="%.0f", width=80, help="Training time, on average."
            ),
        },
        alt="Results of the experiment by model",
    )
    if any(group["n"] > 1 for group in told["groups"]):
        st.caption("Mean ± standard deviation over the seeds (n − 1).")


def _rows_table(told: dict[str, Any]) -> None:
    shown = [
        {
            "Run": row["run_id"], "Model": row["group"], "Seed": row["seed"],
            **{title: None if row[name] is None else 100 * row[name] for name, title in NAMES.items()},
            **row["differs"],
        }
        for row in told["rows"]
    ]  # fmt: skip
    frame = pd.DataFrame(shown).dropna(axis="columns", how="all")
    scores = {title: st.column_config.NumberColumn(format="%.1f") for title in NAMES.values()}
    numbers = {name: st.column_config.NumberColumn(format="%d") for name in ("Run", "Seed")}
    st.dataframe(
        frame,
        hide_index=True,
        placeholder="",
        column_config=scores | numbers,
        alt="Results of the experiment by run",
    )


def _downloads(run: Run, told: dict[str, Any]) -> None:
    stem = file_stem(run.name)
    with st.container(horizontal=True):
        for name, content, mime, why in (
            (
                "summary.csv",
                summary_csv(told),
                "text/csv",
                "Every run, and the mean and standard deviation of each group, for a spreadsheet.",
            ),
            (
                "summary.json",
                json.dumps(told, indent=2).encode(),
                "application/json",
                "All that this page shows of the experiment, for scripts.",
            ),
        ):
            st.download_button(
                name,
                content,
                file_name=f"{stem}-{name}",
                mime=mime,
                icon=":material/download:",
                key=f"{name}-{run.id}",
                on_click="ignore",
                help=why,
            )
