"""How many pairs have which score, along the declared scale."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from augsbert_core.charts.look import (
    GOLD_SHADES,
    SPLIT_PATTERNS,
    color_of,
    counts_at,
    finish,
    plain,
    raw_scores,
    score_axis,
)
from augsbert_core.pairs import ScoreRange


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
        color = GOLD_SHADES.get(name, color_of(name))
        figure.add_bar(
            x=places,
            y=counts,
            name=plain(name),
            marker={
                "color": color,
                "line": {"color": color, "width": 1},
                "pattern": {
                    "shape": SPLIT_PATTERNS.get(name, ""),
                    "size": 6,
                    "solidity": 0.4,
                    "fillmode": "replace",
                },
            },
            hovertemplate="score about %{x:.2f} · %{y:,} pairs",
        )
    score_axis(figure, score_range, bins)
    figure.update_yaxes(title="Pairs")
    figure.update_layout(barmode="stack", bargap=0.08)
    return finish(figure, height=280, hover="closest")
