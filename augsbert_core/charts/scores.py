"""How scores are spread: densities, shares and counts along the declared scale."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from augsbert_core.charts.look import (
    GOLD_SHADES,
    color_of,
    counts_at,
    fade,
    finish,
    plain,
    raw_scores,
    score_axis,
)
from augsbert_core.charts.spreads import Curve, overlay_figure
from augsbert_core.pairs import ScoreRange


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
    nothing = np.array([])
    drawn = [
        Curve(name, color_of(role), nothing, nothing, heights)
        for name, (heights, role) in curves.items()
    ]
    return overlay_figure(grid, drawn, score_range, selectable=selectable)


def shares_figure(
    samples: Mapping[str, tuple[np.ndarray, np.ndarray, str]],
    score_range: ScoreRange,
    *,
    bins: int = 20,
) -> go.Figure:
    """The share of pairs in each bin of the scale, side by side: for scores that have no smooth density.

    samples: name → (scores in [0, 1], how often each occurs, role).
    """
    places = raw_scores(np.linspace(0.0, 1.0, bins + 1), score_range)
    figure = go.Figure()
    for name, (scores, weights, role) in samples.items():
        counts = counts_at(scores, bins, weights)
        figure.add_bar(
            x=places,
            y=100 * counts / max(float(counts.sum()), 1.0),
            name=plain(name),
            marker={"color": fade(color_of(role), 0.85)},
            hovertemplate="score about %{x:.2f} · %{y:.1f} %",
        )
    score_axis(figure, score_range, bins)
    figure.update_yaxes(title="Share of pairs, %", rangemode="tozero")
    figure.update_layout(barmode="group", bargap=0.1)
    return finish(figure, height=340, hover="closest")


def histogram_figure(
    values_by_name: Mapping[str, np.ndarray], score_range: ScoreRange, *, bins: int = 20
) -> go.Figure:
    """How many pairs have which score, stacked bars along the declared scale.

    values_by_name: scores in [0, 1] per name; the names of splits are drawn in shades of gold.
    """
    places = raw_scores(np.linspace(0.0, 1.0, bins + 1), score_range)
    figure = go.Figure()
    for name, values in values_by_name.items():
        counts = counts_at(values, bins)
        figure.add_bar(
            x=places,
            y=counts,
            name=plain(name),
            marker={"color": GOLD_SHADES.get(name, color_of(name))},
            hovertemplate="score about %{x:.2f} · %{y:,} pairs",
        )
    score_axis(figure, score_range, bins)
    figure.update_yaxes(title="Pairs")
    figure.update_layout(barmode="stack", bargap=0.08)
    return finish(figure, height=280, hover="closest")
