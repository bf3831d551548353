"""Training curves."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from augsbert_core.charts.look import COLORS, CURVE_TITLES, FAINT, finish


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
    finish(figure, height=240, hover="closest")
    return figure.update_layout(showlegend=False, margin={"t": 30})
