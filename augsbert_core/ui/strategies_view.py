"""The Strategies view: the table of all silver sets, sortable, and its CSV (paper, table 11)."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from augsbert_core import explain
from augsbert_core.exporting.files import to_csv
from augsbert_core.steps.compare import comparison
from augsbert_core.steps.spreads import STATED
from augsbert_core.steps.strategies import strategy_rows
from augsbert_core.storage.records import Project, SilverSet
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.recipes import METRIC_NAMES
from augsbert_core.ui.what_happened import what_happened

SHOWN = ("Set", "Strategy", "Score", "Interval", "Pairs", "Passes", "KL", "Seconds", "Labeler")
"""The columns of the table, but for the share of high scores; the CSV has all."""


def strategies_view(bench: Bench, project: Project, sets: Sequence[SilverSet]) -> None:
    """The table, sortable by its headers, and its CSV."""
    table = comparison(bench.workspace, project.id)
    rows = strategy_rows(bench.workspace, project, sets, table)
    metric = METRIC_NAMES.get(table.metric, table.metric)
    middle = f"≥ {project.score_range.to_raw(0.5):g}, %"
    frame = pd.DataFrame(rows)
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown("**What each strategy cost, and what it was worth**", width="stretch")
            st.download_button(
                "CSV",
                partial(rows_csv, rows, metric, middle),
                file_name=f"strategies-project-{project.id}.csv",
                mime="text/csv",
                icon=":material/download:",
                on_click="ignore",
                help="This table.",
            )
        st.dataframe(
            frame.rename(columns={"High": middle}),
            hide_index=True,
            placeholder="–",
            column_order=[*SHOWN[:7], middle, *SHOWN[7:]],
            height=38 + 35 * len(frame),
            column_config=_columns(metric, middle),
            alt="Silver sets side by side",
        )
        st.caption(
            f"Click a header to sort. {STATED} KL with Gaussian kernels, each bandwidth by the robust rule; of "
            "fewer than 200 pairs it says little. Passes count pairs whose score was known before, seconds do not. "
            f"Scores: {metric} × 100 on the {table.n_pairs:,} test pairs, of the newest bi-encoder trained on the "
            "set; 95 % bootstrap interval."
        )
        if not any(row["Score"] is not None for row in rows):
            st.caption(
                ":material/info: No bi-encoder trained on these sets has been measured yet. Train one, then "
                "measure it on the Compare page, and its score stands here."
            )
        what_happened(
            explain.strategies(
                n_sets=len(sets),
                scored=[
                    (row["Set"], row["Score"] / 100, row["Passes"])
                    for row in rows
                    if row["Set"] is not None and row["Score"] is not None
                ],
            ),
            "strategies",
        )


def rows_csv(rows: Sequence[dict[str, Any]], metric: str, middle: str) -> bytes:
    """The table as CSV that spreadsheets open safely."""
    names = {"High": middle, "Score": f"{metric} × 100", "KL": "KL(gold‖set), nats"}
    return to_csv([names.get(name, name) for name in rows[0]], (list(row.values()) for row in rows))


def _columns(metric: str, middle: str) -> dict[str, Any]:
    column = st.column_config
    return {
        "Set": column.NumberColumn(format="%d", width=45, help="The silver set."),
        "Strategy": column.TextColumn(width=225),
        "Pairs": column.NumberColumn(
            format="localized", width=70, help="Silver pairs, rejected ones left out."
        ),
        "Passes": column.NumberColumn(
            format="localized",
            width=70,
            help="Cross-encoder passes: for a kept set, those for pairs that were not kept too.",
        ),
        "Seconds": column.NumberColumn(
            format="%.0f",
            width=70,
            help="Time that the labeler took, for pairs that it had not scored before.",
        ),
        "KL": column.NumberColumn(
            "KL(gold‖set)",
            format="%.3f",
            width=100,
            help=f"KL(gold‖set) in nats; 0 is the same density. {STATED}",
        ),
        middle: column.NumberColumn(
            format="%.1f",
            width=70,
            help="Positives: the share of pairs in the upper half of the scale.",
        ),
        "Labeler": column.TextColumn(width=90),
        "Score": column.NumberColumn(
            "Score",
            format="%.1f",
            width=65,
            help=f"{metric} × 100 of the newest bi-encoder trained on gold and this set, on the test split.",
        ),
        "Interval": column.TextColumn("95 %", width=95, help="Bootstrap interval over test pairs."),
        "Run": column.NumberColumn(format="%d", width=55, help="The bi-encoder's run."),
    }
