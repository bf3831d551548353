"""The scores of two labelers on the same pairs: points while they are few, a density of squares beyond."""

import numpy as np
import plotly.graph_objects as go

from augsbert_core.charts.look import COLORS, FAINT, fade, finish, raw_scores
from augsbert_core.pairs import ScoreRange

MOST_POINTS = 20_000
CELLS = 64


def relabelled_figure(
    old: np.ndarray, new: np.ndarray, human: np.ndarray, score_range: ScoreRange
) -> go.Figure:
    """Old score across, new score up, and the line on which nothing changed.

    old, new, human: same length, in [0, 1], shown on the raw scale; human is NaN where nobody scored. More than
    `MOST_POINTS` pairs are counted in `CELLS` × `CELLS` squares; pairs with a human score are drawn on top, each with a
    line to where people put it, up to `MOST_MARKED` of them.
    """
    figure = go.Figure()
    if len(old) > MOST_POINTS:
        _add_density(figure, old, new, score_range)
    else:
        figure.add_scattergl(
            x=raw_scores(old, score_range),
            y=raw_scores(new, score_range),
            mode="markers",
            name="One pair",
            marker={"size": 5, "color": fade(COLORS["silver"], 0.35)},
            hovertemplate="old %{x:.2f} · new %{y:.2f}<extra></extra>",
        )
    ends = [score_range.low, score_range.high]
    figure.add_scatter(
        x=ends, y=ends, mode="lines", name="No change", hoverinfo="skip",
        line={"color": COLORS["neutral"], "width": 1.5, "dash": "dash"},
    )  # fmt: skip
    _add_people(figure, old, new, human, score_range)
    margin = 0.03 * (score_range.high - score_range.low)
    limits = [score_range.low - margin, score_range.high + margin]
    figure.update_xaxes(title="Old score", range=limits, gridcolor=FAINT, zeroline=False)
    figure.update_yaxes(title="New score", range=limits)
    return finish(figure, height=440, hover="closest")


MOST_MARKED = 300


def _add_density(
    figure: go.Figure, old: np.ndarray, new: np.ndarray, score_range: ScoreRange
) -> None:
    edges = np.linspace(0.0, 1.0, CELLS + 1)
    counts, _, _ = np.histogram2d(old, new, bins=(edges, edges))
    middles = raw_scores((edges[:-1] + edges[1:]) / 2, score_range)
    # The logarithm shows the rare large changes beside the many small ones.
    shown = np.where(counts.T > 0, np.log10(np.maximum(counts.T, 1)), np.nan)
    figure.add_heatmap(
        x=middles,
        y=middles,
        z=shown,
        customdata=counts.T,
        colorscale=[[0, fade(COLORS["silver"], 0.15)], [1, "#3A6FA6"]],
        showscale=False,
        hovertemplate="old about %{x:.2f} · new about %{y:.2f}<br>%{customdata:,} pairs<extra></extra>",
    )


def _add_people(
    figure: go.Figure, old: np.ndarray, new: np.ndarray, human: np.ndarray, score_range: ScoreRange
) -> None:
    known = np.flatnonzero(np.isfinite(human))
    known = known[np.argsort(-np.abs(new[known] - old[known]), kind="stable")][:MOST_MARKED]
    if not len(known):
        return
    x, y, people = (raw_scores(values[known], score_range) for values in (old, new, human))
    gaps = np.full(len(known), np.nan)
    figure.add_scatter(
        x=np.column_stack([x, x, gaps]).ravel(),
        y=np.column_stack([y, people, gaps]).ravel(),
        mode="lines",
        name="to people's score",
        line={"color": fade(COLORS["gold"], 0.5), "width": 1},
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=x,
        y=y,
        mode="markers",
        name="Scored by people",
        marker={"size": 8, "color": COLORS["gold"]},
        customdata=people,
        hovertemplate="old %{x:.2f} · new %{y:.2f} · people %{customdata:.2f}<extra></extra>",
    )
