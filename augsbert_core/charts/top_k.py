"""What a larger top-k brings in (paper, tables 9 and 10)."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from augsbert_core.charts import look
from augsbert_core.charts.look import COLORS, FAINT
from augsbert_core.charts.spreads import Curve, overlay_figure
from augsbert_core.pairs import ScoreRange


def top_k_figure(
    grid: np.ndarray,
    gold: np.ndarray | None,
    by_k: Mapping[int, np.ndarray],
    score_range: ScoreRange,
) -> go.Figure:
    """The density of the pairs of rank ≤ k for each k, pale to deep silver, over the gold density.

    gold, by_k: densities at the grid's points, area 1 on [0, 1]; gold None is not drawn.
    """
    nothing = np.array([])
    curves = [
        Curve(f"k = {k}", color, nothing, nothing, heights)
        for (k, heights), color in zip(by_k.items(), look.ramp(len(by_k)), strict=True)
    ]
    figure = overlay_figure(grid, curves, score_range, fill=False, height=430)
    if gold is not None:
        one = Curve("Gold (train)", COLORS["gold"], nothing, nothing, gold)
        figure.add_traces(overlay_figure(grid, [one], score_range).data)
    return figure


def top_k_panels(
    ks: Sequence[int],
    n_pairs: Sequence[int],
    shares: Sequence[float | None],
    middle: float,
    gold_share: float | None,
) -> go.Figure:
    """Pairs per k as bars, and beside them the share of pairs at or above the middle of the scale.

    shares, gold_share: in [0, 1], None where not known. middle: on the raw scale, for the title.
    """
    colors = look.ramp(len(ks))
    names = [str(k) for k in ks]
    titles = ["Pairs", f"Share of scores ≥ {middle:g}, %"]
    figure = make_subplots(rows=1, cols=2, subplot_titles=titles, horizontal_spacing=0.12)
    figure.add_bar(
        x=names,
        y=list(n_pairs),
        marker={"color": colors},
        hovertemplate="k = %{x}: %{y:,} pairs<extra></extra>",
        meta=titles[0],
        row=1,
        col=1,
    )
    figure.add_scatter(
        x=names,
        y=[None if share is None else 100 * share for share in shares],
        mode="lines+markers",
        line={"color": COLORS["silver"], "width": 2},
        marker={"color": colors, "size": 10},
        hovertemplate="k = %{x}: %{y:.1f} %<extra></extra>",
        meta=titles[1],
        row=1,
        col=2,
    )
    if gold_share is not None:
        figure.add_hline(
            y=100 * gold_share,
            row=1,
            col=2,
            line={"dash": "dash", "width": 1.5, "color": COLORS["gold"]},
            annotation={"text": "gold", "font": {"size": 12}},
            annotation_position="top right",
        )
    figure.update_xaxes(title="k", type="category", showgrid=False)
    figure.update_annotations(font_size=13)
    look.finish(figure, height=240, hover="closest")
    figure.update_yaxes(gridcolor=FAINT, rangemode="tozero")
    return figure.update_layout(showlegend=False, margin={"t": 30})
