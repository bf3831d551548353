"""The Compare page in parts: the verdict, the table, and the notes below it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from augsbert_core import explain
from augsbert_core.exporting.files import to_csv
from augsbert_core.steps.compare import Comparison, Grouped
from augsbert_core.steps.verdict import JUDGED, Verdict, p_text
from augsbert_core.ui.recipes import METRIC_NAMES, count_column
from augsbert_core.ui.what_happened import what_happened
from augsbert_core.ui.widgets import as_text, duration_text

DETAILS = {
    "pearson": ("Pearson", "Linear correlation × 100.", 100, "%.1f"),
    "mse": (
        "MSE",
        "Mean squared distance from gold on the scale 0 to 1. Cosines are compared as they are, clipped to [0, 1].",
        1,
        "%.3f",
    ),
    "mae": (
        "MAE",
        "Mean distance from gold on the scale 0 to 1. Cosines are compared as they are, clipped to [0, 1].",
        1,
        "%.3f",
    ),
    "accuracy": (
        "Accuracy",
        "Share of pairs right at the F1 threshold from dev, × 100.",
        100,
        "%.1f",
    ),
    "threshold_accuracy": (
        "Best accuracy",
        "Share of pairs right at the threshold that is best for accuracy on dev, × 100.",
        100,
        "%.1f",
    ),
    "average_precision": ("AP", "Area under the precision-recall steps × 100.", 100, "%.1f"),
    "auc05": (
        "AUC(0.05)",
        "Area under the ROC curve up to 5 % false positives, divided by 0.05, × 100; chance is 2.5.",
        100,
        "%.1f",
    ),
    "triplet_accuracy": (
        "Triplets",
        "Share of the project's triplets whose positive is nearer to the anchor than the negative, × 100.",
        100,
        "%.1f",
    ),
}
"""Further figures → heading, help, factor, format."""

FEW_VERDICTS = 2


def show_verdicts(found: Sequence[Verdict]) -> None:
    """The honest sentences, coloured by what the intervals say; many of them as a list in one frame."""
    if len(found) <= FEW_VERDICTS:
        for one in found:
            show_verdict(one)
        return
    with st.container(border=True, key="verdicts"):
        # What is certain first; of equals, the newest.
        for one in sorted(found, key=lambda one: _mood(one)[1] == "gray"):
            icon, color = _mood(one)
            st.markdown(f":{color}[:material/{icon}:] {as_text(one.sentence)}")


def show_verdict(found: Verdict) -> None:
    """One sentence in a box of its own."""
    icon, color = _mood(found)
    box = {"green": st.success, "red": st.error}.get(color, st.info)
    box(as_text(found.sentence), icon=f":material/{icon}:")


def _mood(found: Verdict) -> tuple[str, str]:
    if found.low is None or found.high is None:
        return "balance", "gray"
    if found.low > 0:
        return "trending_up", "green"
    return ("trending_down", "red") if found.high < 0 else ("trending_flat", "gray")


def show_table(table: Comparison, found: Grouped) -> None:
    """Every row with its score, its difference to gold-only, and what it cost."""
    rows = found.rows
    shown = pd.DataFrame(
        {
            "Model": rows["name"],
            "Score": 100 * rows["value"],
            "Spread": 100 * rows["sd"],
            "Interval": _ranges(rows["low"], rows["high"]),
            "Difference": 100 * rows["difference"],
            "Difference interval": _ranges(rows["difference_low"], rows["difference_high"], "+.1f"),
            "p": [
                "" if pd.isna(p) else p_text(p).removeprefix("p ").removeprefix("= ")
                for p in rows["p"]
            ],
            "Against": [_against(row) for row in rows.to_dict("records")],
            "Gold": rows["n_gold"],
            "Silver": rows["n_silver"],
            "Passes": rows["passes"],
            "Steps": rows["n_steps"],
            "Training": [
                "" if pd.isna(one) else duration_text(float(one)) for one in rows["seconds"]
            ],
            "Seeds": [
                _seeds(seeds, runs) for seeds, runs in zip(rows["seeds"], rows["runs"], strict=True)
            ],
            **_details(rows),
            "Comparable": ["yes" if fits else "no" for fits in rows["comparable"]],
            "Runs": [", ".join(map(str, one)) for one in rows["runs"]],
        }
    )
    st.dataframe(
        shown,
        hide_index=True,
        placeholder="",
        height=38 + 35 * len(shown),
        column_config=_columns(table, found),
        alt="Models with their scores and intervals",
    )


def _columns(table: Comparison, found: Grouped) -> dict[str, Any]:
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    metric = METRIC_NAMES.get(table.metric, table.metric)
    return {
        "Model": text(width=300, pinned=True),
        "Score": number(
            f"{metric} × 100",
            format="%.1f",
            width=120,
            help=f"On the {table.split} split, the mean over seeds. Empty where it is undefined: the model gave every "
            "pair the same score, or there are fewer than three pairs.",
        ),
        "Spread": number("± sd", format="%.1f", width=60, help="Standard deviation between seeds."),
        "Interval": text(
            "95 % interval", width=110, help="Bootstrap over pairs of the mean over seeds."
        ),
        "Difference": number(
            "Δ gold only",
            format="%+.1f",
            width=95,
            help="Score minus that of the gold-only row named under “Against”.",
        ),
        "Difference interval": text(
            "Δ 95 % interval",
            width=120,
            help="Paired bootstrap: both sides on the same 10,000 resamples of the pairs.",
        ),
        "p": text(
            width=70,
            help="Two-sided, from the same resamples; not corrected for the number of rows.",
        ),
        "Against": text(width=130, help="Which gold-only row the difference is measured from."),
        "Gold": count_column("Gold pairs trained on."),
        "Silver": count_column("Silver pairs trained on."),
        "Passes": count_column("Cross-encoder passes spent on labels: the cost of the silver set."),
        "Steps": count_column("Optimiser steps."),
        "Training": text(width=90, help="Time spent training, the mean over seeds."),
        "Seeds": text("Seed" if found.single else "Seeds", width=80),
        "Comparable": text(width=95),
        "Runs": text("Run" if found.single else "Runs", width=80),
        **{
            heading: number(format=shape, width=95, help=what)
            for heading, what, _, shape in DETAILS.values()
        },
    }


def _details(rows: pd.DataFrame) -> dict[str, list[float | None]]:
    """The further figures that any row has, as columns."""
    present = {name for one in rows["details"] for name in one}
    return {
        heading: [None if one.get(name) is None else factor * one[name] for one in rows["details"]]
        for name, (heading, _, factor, _) in DETAILS.items()
        if name in present
    }


def _ranges(lows: pd.Series, highs: pd.Series, shape: str = ".1f") -> list[str]:
    return [
        ""
        if pd.isna(low) or pd.isna(high)
        else _minus(f"{100 * low:{shape}} to {100 * high:{shape}}")
        for low, high in zip(lows, highs, strict=True)
    ]


def _minus(text: str) -> str:
    """A true minus sign, which is as wide as a plus."""
    return text.replace("-", "−")


def _against(row: Mapping[Any, Any]) -> str:
    if pd.isna(row["reference"]):
        return ""
    if pd.isna(row["equal_steps"]):
        return "equal steps" if "equal steps" in row["reference"] else "gold only"
    return "equal steps" if row["equal_steps"] else "gold only, other steps"


def _seeds(seeds: Sequence[int], runs: Sequence[int]) -> str:
    if not runs:
        return ""
    return str(seeds[0]) if len(seeds) == 1 else f"{len(seeds)}: {', '.join(map(str, seeds))}"


def show_notes(found: Grouped) -> None:
    """What to keep in mind, which scores are undefined, and why some rows are not comparable."""
    for note in found.notes:
        st.caption(f":material/info: {as_text(note)}")
    undefined = found.rows.loc[found.rows["value"].isna(), "name"]
    if len(undefined):
        st.caption(
            f":material/block: {as_text('; '.join(undefined))}: the score is undefined. The model gave every pair the "
            "same score, or there are fewer than three pairs."
        )
    for why, rows in found.rows[~found.rows["comparable"]].groupby("why_not", sort=False):
        names = "; ".join(rows["name"])
        st.caption(
            f":material/radio_button_unchecked: {as_text(names)}: not comparable, {as_text(str(why))}."
        )


def explain_table(table: Comparison, found: Grouped) -> None:
    """Why silver helped or not, in plain sentences. found: one row per recipe."""
    what_happened(explained(table, found.as_json()), "compare")


def explained(table: Comparison, rows: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """The newest model with silver beside its gold-only model, the labelers, and itself before training."""
    fair = [row for row in rows if row["comparable"] and row["value"] is not None]
    judged = [row for row in fair if row["kind"] in JUDGED and row["difference"] is not None]
    ours = max(judged, key=lambda row: max(row["runs"]), default=None)

    def best(*kinds: str) -> float | None:
        return max((row["value"] for row in fair if row["kind"] in kinds), default=None)

    if ours is None:
        return explain.compared(
            split=table.split, n_pairs=table.n_pairs, difference=None, low=None, high=None,
            silver_score=None, gold_score=best("gold-only", "gold-only, equal steps"),
            labeler_score=best("cross-encoder", "labelers"), untrained_score=None,
        )  # fmt: skip
    size = (ours["base"], ours["layers"])
    return explain.compared(
        split=table.split,
        n_pairs=table.n_pairs,
        difference=ours["difference"],
        low=ours["difference_low"],
        high=ours["difference_high"],
        silver_score=ours["value"],
        gold_score=next(row["value"] for row in rows if row["name"] == ours["reference"]),
        labeler_score=best("cross-encoder", "labelers"),
        untrained_score=next(
            (
                row["value"]
                for row in fair
                if row["kind"] == "untrained" and (row["base"], row["layers"]) == size
            ),
            None,
        ),
    )


def table_csv(table: Comparison, found: Grouped) -> bytes:
    """The table for a spreadsheet, with the split in every row; what is undefined is empty."""
    return to_csv(*table_rows(table, found))


def table_rows(table: Comparison, found: Grouped) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The table as names and plain rows, with the split in every row; None where something is undefined."""
    rows = found.rows.assign(split=table.split).drop(columns="details")
    for name in DETAILS:
        values = [one.get(name) for one in found.rows["details"]]
        if any(value is not None for value in values):
            rows[name] = values
    for name in ("seeds", "runs", "targets", "silver_sets"):
        rows[name] = [" ".join(map(str, one)) for one in rows[name]]
    plain = rows.astype(object).where(rows.notna(), None)
    return list(plain.columns), [
        tuple(_python(cell) for cell in row) for row in plain.itertuples(index=False, name=None)
    ]


def _python(cell: Any) -> Any:
    """A number of numpy as one of Python."""
    return cell.item() if isinstance(cell, np.generic) else cell
