"""Several spreads of scores on one axis, each as a density or as spikes (paper, figs. 4 and 5)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from augsbert_core.charts import look
from augsbert_core.charts.look import HIDDEN, fade, plain, raw_scores
from augsbert_core.pairs import ScoreRange

RUG_POINTS = 200
"""The rug shows so many pairs of each curve at most."""

RUG_HEIGHT = 0.045


@dataclass(frozen=True)
class Curve:
    """One spread of scores. scores, counts: distinct scores in [0, 1] and how often each occurs.

    heights: its density at the figure's grid, area 1 on [0, 1]; None draws a spike at each score.
    """

    name: str
    color: str
    scores: np.ndarray
    counts: np.ndarray
    heights: np.ndarray | None
    dash: bool = False


def overlay_figure(
    grid: np.ndarray,
    curves: Sequence[Curve],
    score_range: ScoreRange,
    *,
    fill: bool = True,
    histogram: bool = False,
    rug: bool = False,
    selectable: bool = False,
    bins: int = 20,
    height: int = 340,
) -> go.Figure:
    """Densities with fill and line on the raw scale; areas are 1 on it.

    Spikes show the share of pairs with a score, on an axis of their own when there are densities too.
    rug: ticks for RUG_POINTS pairs of each curve. selectable: dragging marks a range of scores.
    """
    figure = go.Figure()
    smooth = [curve for curve in curves if curve.heights is not None]
    spiky = [curve for curve in curves if curve.heights is None]
    if histogram:
        for curve in smooth:
            _add_bars(figure, curve, score_range, bins)
    for curve in curves:
        if curve.heights is None:
            _add_spikes(figure, curve, score_range, axis="y3" if smooth else "y")
        else:
            _add_line(figure, grid, curve, score_range, fill=fill, points=selectable)
    look.score_axis(figure, score_range)
    figure.update_layout(barmode="overlay", bargap=0.06)
    if selectable:
        look.selectable(figure)
    look.finish(figure, height=height, hover="x unified" if smooth else "closest")
    figure.update_layout(
        **look.LEGEND_BELOW,
        xaxis_hoverformat=".2f",
        yaxis={
            "title": "Density" if smooth else "Share of pairs, %",
            "rangemode": "tozero",
            "showticklabels": not smooth,
        },
    )
    if smooth and spiky:
        figure.update_layout(
            yaxis3={
                "title": "Share of pairs, %",
                "overlaying": "y",
                "side": "right",
                "range": [0, 105],
                "tickmode": "array",
                "tickvals": [0, 25, 50, 75, 100],
                "showgrid": False,
                "zeroline": False,
            }
        )
    if rug:
        _add_rugs(figure, curves, score_range)
    return figure


def _add_line(
    figure: go.Figure,
    grid: np.ndarray,
    curve: Curve,
    score_range: ScoreRange,
    *,
    fill: bool,
    points: bool,
) -> None:
    heights = np.zeros(len(grid)) if curve.heights is None else curve.heights
    figure.add_scatter(
        x=raw_scores(grid, score_range),
        y=heights / (score_range.high - score_range.low),
        name=plain(curve.name),
        legendgroup=plain(curve.name),
        # Invisible points make a line selectable.
        mode="lines+markers" if points else "lines",
        marker={"opacity": 0, "size": 1},
        selected=HIDDEN,
        unselected=HIDDEN,
        line={"color": curve.color, "width": 2.5, "dash": "dash" if curve.dash else "solid"},
        fill="tozeroy" if fill else None,
        fillcolor=fade(curve.color, 0.1 if curve.dash else 0.22),
        hovertemplate="%{y:.3f}",
    )


def _add_bars(figure: go.Figure, curve: Curve, score_range: ScoreRange, bins: int) -> None:
    """Bars whose area is 1. The two at the ends stand half outside the scale, so they count double."""
    counts = look.counts_at(curve.scores, bins, curve.counts).astype(np.float64)
    counts[[0, -1]] *= 2.0
    width = (score_range.high - score_range.low) / bins
    figure.add_bar(
        x=raw_scores(np.linspace(0.0, 1.0, bins + 1), score_range),
        y=counts / (max(float(np.sum(curve.counts)), 1.0) * width),
        name=plain(curve.name),
        legendgroup=plain(curve.name),
        showlegend=False,
        meta="Density, histogram",
        marker={
            "color": fade(curve.color, 0.18),
            "line": {"width": 1, "color": fade(curve.color, 0.45)},
        },
        hoverinfo="skip",
    )


def _add_spikes(figure: go.Figure, curve: Curve, score_range: ScoreRange, axis: str) -> None:
    """A stem with a head at each score, as high as the share of pairs that have it."""
    there = curve.counts > 0
    x = raw_scores(curve.scores[there], score_range)
    shares = 100 * curve.counts[there] / max(float(curve.counts.sum()), 1.0)
    if not len(x):
        return
    figure.add_scatter(
        x=x,
        y=shares,
        name=plain(curve.name),
        mode="markers",
        marker={"color": curve.color, "size": 11, "line": {"width": 2, "color": curve.color}},
        error_y={
            "type": "data",
            "symmetric": False,
            "array": np.zeros(len(x)),
            "arrayminus": shares,
            "thickness": 3,
            "width": 0,
            "color": curve.color,
        },
        cliponaxis=False,
        hovertemplate="score about %{x:.2f}: %{y:.1f} % of the pairs",
        yaxis=axis,
    )


def _add_rugs(figure: go.Figure, curves: Sequence[Curve], score_range: ScoreRange) -> None:
    """Ticks below the curves, one line each, of every n-th pair in the order of scores."""
    shown = [curve for curve in curves if np.sum(curve.counts) > 0]
    if not shown:
        return
    for line, curve in enumerate(reversed(shown)):
        scores = rug_scores(curve.scores, curve.counts)
        figure.add_scatter(
            x=raw_scores(scores, score_range),
            y=np.full(len(scores), line),
            mode="markers",
            marker={
                "symbol": "line-ns",
                "size": 9,
                "line": {"width": 1, "color": fade(curve.color, 0.55)},
            },
            name=plain(curve.name),
            showlegend=False,
            hoverinfo="skip",
            yaxis="y2",
        )
    top = RUG_HEIGHT * len(shown)
    figure.update_layout(
        yaxis={"domain": [top + 0.02, 1.0]},
        yaxis2={
            "domain": [0.0, top],
            "range": [-0.6, len(shown) - 0.4],
            "showticklabels": False,
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
        },
        xaxis={"anchor": "y2"},
    )


def rug_scores(scores: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The scores of at most RUG_POINTS pairs, evenly spaced in the order of scores."""
    total = int(np.sum(counts))
    places = (
        np.arange(total)
        if total <= RUG_POINTS
        else (np.arange(RUG_POINTS) + 0.5) * total / RUG_POINTS
    )
    order = np.argsort(scores, kind="stable")
    ends = np.cumsum(np.asarray(counts)[order])
    return np.asarray(scores)[order][np.searchsorted(ends, places, side="right")]
