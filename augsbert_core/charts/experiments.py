"""Results of batches: scores of several seeds side by side, and scores against the number of gold pairs."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from augsbert_core.charts.look import COLORS, FAINT, fade, finish, plain

SERIES_COLORS = {
    "Gold-only": COLORS["gold"],
    "Gold-only, equal steps": COLORS["gold"],
    "AugSBERT": COLORS["silver"],
    "Adapted (silver only)": COLORS["silver"],
    "Cross-encoder": COLORS["cross-encoder"],
    "Source cross-encoder": COLORS["cross-encoder"],
    "In-domain gold (upper bound)": COLORS["gold"],
    "Source only (lower bound)": "#9A6B12",
}
"""Group or series of a batch → colour; any other is neutral."""

ROW_HEIGHT = 34


def seeds_figure(scores: pd.DataFrame, title: str) -> go.Figure:
    """One line per group: every seed as a faint dot, the mean as a diamond, ± one standard deviation.

    scores: columns group, value (0 to 1), seed; one row per run. title: of the score axis.
    """
    figure = go.Figure()
    groups = list(dict.fromkeys(scores["group"]))
    for group in reversed(groups):
        members = scores[scores["group"] == group]
        values = 100 * members["value"].to_numpy(dtype=float)
        color = SERIES_COLORS.get(group.partition(" · ")[0], COLORS["neutral"])
        name = plain(group)
        deviation = float(np.std(values, ddof=1)) if len(values) > 1 else None
        seeds = ["" if pd.isna(seed) else f"seed {seed:.0f}" for seed in members["seed"]]
        figure.add_scatter(
            x=values,
            y=[name] * len(values),
            text=seeds,
            mode="markers",
            marker={"size": 9, "color": fade(color, 0.45)},
            hovertemplate="%{text} · %{x:.1f}<extra></extra>",
        )
        figure.add_scatter(
            x=[float(np.mean(values))],
            y=[name],
            mode="markers",
            marker={"size": 12, "color": color, "symbol": "diamond"},
            error_x=None
            if deviation is None
            else {"type": "data", "array": [deviation], "color": color, "thickness": 2},
            hovertemplate=(
                "%{x:.1f}"
                + ("" if deviation is None else f" ± {deviation:.1f}")
                + "<extra></extra>"
            ),
        )
    figure.update_xaxes(title=title, gridcolor=FAINT, zeroline=False)
    finish(figure, height=90 + ROW_HEIGHT * max(len(groups), 2), hover="closest")
    return figure.update_layout(showlegend=False).update_yaxes(showgrid=False, automargin=True)


def learning_curve_figure(points: pd.DataFrame, title: str) -> go.Figure:
    """Scores against the number of gold pairs, one line per series (paper, figure 1).

    points: columns series, n_gold, value, low, high (0 to 1; low and high may be missing), in any order.
    """
    figure = go.Figure()
    for series in dict.fromkeys(points["series"]):
        line = points[points["series"] == series].sort_values("n_gold")
        color = SERIES_COLORS.get(series.partition(" · ")[0], COLORS["neutral"])
        values = 100 * line["value"].to_numpy(dtype=float)
        above = np.nan_to_num(100 * line["high"].to_numpy(dtype=float) - values)
        below = np.nan_to_num(values - 100 * line["low"].to_numpy(dtype=float))
        figure.add_scatter(
            x=line["n_gold"],
            y=values,
            name=plain(series),
            mode="lines+markers",
            line={"color": color, "width": 2},
            marker={"size": 7},
            error_y={
                "type": "data",
                "array": above,
                "arrayminus": below,
                "color": fade(color, 0.6),
                "thickness": 1.5,
            },
            hovertemplate="%{x:,} gold pairs · %{y:.1f}",
        )
    figure.update_xaxes(title="Gold training pairs", rangemode="tozero", showgrid=False)
    figure.update_yaxes(title=title)
    return finish(figure, height=380, hover="closest")
