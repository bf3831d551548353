"""What came in with an import: how its scores and the lengths of its sentences are distributed."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import plotly.graph_objects as go

from augsbert_core.charts.look import COLORS, finish, raw_scores, score_axis
from augsbert_core.pairs import ScoreRange

HEIGHT = 230


def imported_scores_figure(counts: Sequence[int], score_range: ScoreRange) -> go.Figure:
    """How many rows have a score in each of equal parts of the declared scale."""
    edges = raw_scores(np.linspace(0.0, 1.0, len(counts) + 1), score_range)
    figure = go.Figure()
    figure.add_bar(
        x=(edges[:-1] + edges[1:]) / 2,
        y=list(counts),
        width=np.diff(edges),
        customdata=np.stack([edges[:-1], edges[1:]], axis=1),
        marker={"color": COLORS["gold"]},
        hovertemplate="%{customdata[0]:.2f} to %{customdata[1]:.2f} · %{y:,} rows<extra></extra>",
    )
    score_axis(figure, score_range)
    figure.update_yaxes(title="Rows")
    figure.update_layout(bargap=0.06, showlegend=False)
    return finish(figure, height=HEIGHT, hover="closest")


def lengths_figure(
    counts: Sequence[int], edges: Sequence[int], long_from: int | None = None
) -> go.Figure:
    """How many sentences have how many words. long_from: from this many words on, bars are in the colour of a warning.

    counts: per part, from each edge to below the next; the last part is open. Shape: as many as edges.
    """
    names = [f"{max(low, 1)}–{high - 1}" for low, high in pairwise(edges)]
    names.append(f"{edges[-1]}+")
    last = max((place for place, count in enumerate(counts) if count), default=0)
    colors = [
        COLORS["cross-encoder"] if long_from is not None and edge >= long_from else COLORS["silver"]
        for edge in edges
    ]
    shown = slice(0, max(last + 1, 4))
    figure = go.Figure()
    figure.add_bar(
        x=names[shown],
        y=list(counts)[shown],
        marker={"color": colors[shown]},
        hovertemplate="%{x} words · %{y:,} sentences<extra></extra>",
    )
    figure.update_xaxes(
        title="Words in a sentence: from this many on",
        type="category",
        showgrid=False,
        tickvals=names[shown],
        ticktext=[f"{max(edge, 1)}" for edge in edges][shown],
        tickangle=0,
    )
    figure.update_yaxes(title="Sentences")
    figure.update_layout(bargap=0.06, showlegend=False)
    return finish(figure, height=HEIGHT, hover="closest")
