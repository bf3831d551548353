"""Figures: arrays and frames in, Plotly figures out.

Backgrounds are transparent and text colours are left to the page, so that one figure reads well on a light and on
a dark screen. Gold is always the same amber, silver always the same steel blue.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from augsbert_core.pairs import ScoreRange

COLORS = {
    "gold": "#D9951A",
    "silver": "#4F8FC0",
    "silver2": "#8A7FC7",
    "silver3": "#3FA796",
    "cross-encoder": "#B0609C",
    "neutral": "#8B929A",
    "loss": "#8B929A",
    "dev_score": "#3FA796",
    "learning_rate": "#8A7FC7",
}
"""One colour per concept, each with a contrast of at least 2.5 against white and against near-black."""

GOLD_SHADES = {"train": "#D9951A", "dev": "#B8763A", "test": "#EBC76B"}
"""The splits are all gold, so they are shades of it."""

KIND_COLORS = {
    "untrained": COLORS["neutral"],
    "jaccard": COLORS["neutral"],
    "off the shelf": COLORS["neutral"],
    "gold-only": COLORS["gold"],
    "gold-only, equal steps": COLORS["gold"],
    "augsbert": COLORS["silver"],
    "cross-encoder": COLORS["cross-encoder"],
}
"""The colour of each kind of row of the compare table."""

CURVE_TITLES = {
    "loss": "Training loss",
    "dev_score": "Score on dev × 100",
    "learning_rate": "Learning rate",
    "pairs_per_second": "Pairs per second",
}

FAINT = "rgba(139,146,154,0.25)"


def density_figure(
    grid: np.ndarray,
    curves: Mapping[str, tuple[np.ndarray, str]],
    score_range: ScoreRange,
    *,
    selectable: bool = False,
) -> go.Figure:
    """Score densities over each other, as in fig. 4 of the paper.

    grid: points in [0, 1]. curves: name → (density on the grid with area 1 on [0, 1], role), role a key of
    COLORS. The axis shows the raw scale, and heights are converted so that the areas stay 1 on it.
    selectable: dragging over the plot marks a range of scores.
    """
    raw, width = _raw(grid, score_range), score_range.high - score_range.low
    figure = go.Figure()
    for name, (heights, role) in curves.items():
        figure.add_scatter(
            x=raw,
            y=heights / width,
            name=_plain(name),
            mode="lines+markers" if selectable else "lines",
            # Plotly selects points only; invisible ones make a line selectable.
            marker={"opacity": 0, "size": 1},
            selected={"marker": {"opacity": 0}},
            unselected={"marker": {"opacity": 0}},
            line={"color": _color(role), "width": 2.5},
            fill="tozeroy",
            fillcolor=_fade(_color(role), 0.22),
            hovertemplate="score %{x:.2f} · density %{y:.3f}",
        )
    _score_axis(figure, score_range)
    figure.update_yaxes(title="Density", rangemode="tozero", showticklabels=False)
    if selectable:
        figure.update_layout(dragmode="select", selectdirection="h")
    return _finish(figure, height=340, hover="x unified")


def shares_figure(
    samples: Mapping[str, tuple[np.ndarray, np.ndarray, str]],
    score_range: ScoreRange,
    *,
    bins: int = 20,
) -> go.Figure:
    """The share of pairs in each bin of the scale, side by side: for scores that have no smooth density.

    samples: name → (scores in [0, 1], how often each occurs, role).
    """
    places = _raw(np.linspace(0.0, 1.0, bins + 1), score_range)
    figure = go.Figure()
    for name, (scores, weights, role) in samples.items():
        counts = _counts(scores, bins, weights)
        figure.add_bar(
            x=places,
            y=100 * counts / max(float(counts.sum()), 1.0),
            name=_plain(name),
            marker={"color": _fade(_color(role), 0.85)},
            hovertemplate="score about %{x:.2f} · %{y:.1f} %",
        )
    _score_axis(figure, score_range, bins)
    figure.update_yaxes(title="Share of pairs, %", rangemode="tozero")
    figure.update_layout(barmode="group", bargap=0.1)
    return _finish(figure, height=340, hover="closest")


def histogram_figure(
    values_by_name: Mapping[str, np.ndarray], score_range: ScoreRange, *, bins: int = 20
) -> go.Figure:
    """How many pairs have which score, stacked bars along the declared scale.

    values_by_name: scores in [0, 1] per name; the names of splits are drawn in shades of gold.
    """
    places = _raw(np.linspace(0.0, 1.0, bins + 1), score_range)
    figure = go.Figure()
    for name, values in values_by_name.items():
        counts = _counts(values, bins)
        figure.add_bar(
            x=places,
            y=counts,
            name=_plain(name),
            marker={"color": GOLD_SHADES.get(name, _color(name))},
            hovertemplate="score about %{x:.2f} · %{y:,} pairs",
        )
    _score_axis(figure, score_range, bins)
    figure.update_yaxes(title="Pairs")
    figure.update_layout(barmode="stack", bargap=0.08)
    return _finish(figure, height=280, hover="closest")


def _counts(values: np.ndarray, bins: int, weights: np.ndarray | None = None) -> np.ndarray:
    """How many scores in [0, 1] are nearest to each of 0, 1/bins, …, 1; ties go up.

    Bars stand on scores that people give (halves, fifths), never between them.
    """
    places = np.floor(np.clip(values, 0.0, 1.0) * bins + 0.5 + 1e-9).astype(np.int64)
    return np.bincount(places, weights=weights, minlength=bins + 1)


def curves_figure(curves: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> go.Figure:
    """Training curves side by side, one panel each: name → (optimiser steps, values).

    "loss" and "dev_score" come first; the learning rate is left out when there is anything else to see.
    """
    names = [name for name in CURVE_TITLES if name in curves and len(curves[name][0])]
    names += sorted(name for name in curves if name not in CURVE_TITLES and len(curves[name][0]))
    if len(names) > 1:
        names = [name for name in names if name != "learning_rate"]
    titles = [CURVE_TITLES.get(name, name.replace("_", " ")) for name in names]
    figure = make_subplots(
        rows=1, cols=max(len(names), 1), subplot_titles=titles, horizontal_spacing=0.09
    )
    for column, name in enumerate(names, start=1):
        steps, values = curves[name]
        values = 100 * values if name == "dev_score" else values
        few = len(steps) <= 40
        figure.add_scatter(
            x=steps,
            y=values,
            name=titles[column - 1],
            mode="lines+markers" if few else "lines",
            line={"color": COLORS.get(name, COLORS["silver"]), "width": 2},
            marker={"size": 5},
            hovertemplate="step %{x:,} · %{y:.4g}",
            row=1,
            col=column,
        )
    for column, name in enumerate(names, start=1):
        title = "Pairs labelled" if name == "pairs_per_second" else "Optimiser step"
        figure.update_xaxes(title=title, row=1, col=column)
    figure.update_xaxes(showgrid=False, rangemode="tozero")
    figure.update_yaxes(gridcolor=FAINT, zeroline=False)
    figure.update_annotations(font_size=13)
    _finish(figure, height=240, hover="closest")
    return figure.update_layout(showlegend=False, margin={"t": 30})


def comparison_figure(rows: pd.DataFrame, metric: str) -> go.Figure:
    """One dot per model with its 95 % interval, times 100; the untrained model is a dashed line through all.

    rows: name, kind, value (None when undefined), low, high, comparable. Undefined values have no dot. Rows
    that are not comparable are drawn hollow. metric: its name for the axis.
    """
    shown = rows[rows["value"].notna()]
    figure = go.Figure()
    for kind in dict.fromkeys(shown["kind"]):
        part = shown[shown["kind"] == kind]
        values = 100 * part["value"].astype(float)
        color = KIND_COLORS.get(kind, COLORS["silver2"])
        figure.add_scatter(
            x=values,
            y=[_plain(name) for name in part["name"]],
            name=_plain(kind),
            mode="markers",
            marker={
                "size": 13,
                "color": color,
                "symbol": [_symbol(kind, bool(fit)) for fit in part["comparable"]],
                "line": {"width": 2, "color": color},
            },
            error_x={
                "type": "data",
                "array": (100 * part["high"].astype(float) - values).fillna(0.0),
                "arrayminus": (values - 100 * part["low"].astype(float)).fillna(0.0),
                "thickness": 2,
                "width": 6,
                "color": color,
            },
            hovertemplate="%{y}: %{x:.1f}",
        )
    for value in shown.loc[shown["kind"] == "untrained", "value"].head(1):
        figure.add_vline(
            x=100 * float(value),
            line={"dash": "dash", "width": 1.5, "color": COLORS["neutral"]},
            annotation={"text": "untrained", "font": {"color": COLORS["neutral"], "size": 12}},
            annotation_position="top",
        )
    order = [_plain(name) for name in shown["name"]]
    figure.update_yaxes(
        categoryorder="array", categoryarray=order[::-1], automargin=True, gridcolor=FAINT
    )
    figure.update_xaxes(title=f"{metric} × 100", gridcolor=FAINT, zeroline=False)
    _finish(figure, height=130 + 38 * max(len(order), 2), hover="closest")
    return figure.update_layout(showlegend=False, margin={"t": 30})


def _symbol(kind: str, comparable: bool) -> str:
    shape = {"gold-only, equal steps": "diamond", "cross-encoder": "square"}.get(kind, "circle")
    return shape if comparable else f"{shape}-open"


def _raw(unit: np.ndarray, score_range: ScoreRange) -> np.ndarray:
    return score_range.low + np.asarray(unit) * (score_range.high - score_range.low)


def _color(role: str) -> str:
    return COLORS.get(role, COLORS["silver2"])


def _fade(color: str, opacity: float) -> str:
    red, green, blue = (int(color[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def _plain(text: str) -> str:
    """Plotly reads a few HTML tags in labels; names of users' files and models must not become markup."""
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _score_axis(figure: go.Figure, score_range: ScoreRange, bins: int | None = None) -> None:
    """The declared scale; with bins, half a bar more at both ends, whose bars are centred there."""
    margin = (score_range.high - score_range.low) / bins / 2 if bins else 0.0
    figure.update_xaxes(
        title="Score",
        range=[score_range.low - margin, score_range.high + margin],
        showgrid=False,
        zeroline=False,
    )


def _finish(figure: go.Figure, *, height: int, hover: str) -> go.Figure:
    figure.update_layout(
        height=height,
        hovermode=hover,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "title": ""},
        uirevision="keep",
    )
    figure.update_yaxes(gridcolor=FAINT, zeroline=False)
    return figure
