"""The figure of a seed study: how early the order of seeds is the final one."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from augsbert_core.charts.look import COLORS, FAINT, fade, finish


def seed_study_figure(
    fractions: Sequence[float],
    seeds: Sequence[int],
    scores: Sequence[Sequence[float]],
    agreement: Mapping[str, Sequence[float | None]],
) -> go.Figure:
    """Left: dev score of each seed along training. Right: rank correlation with the final order.

    fractions: shares of all steps, in (0, 1]. scores: one row per seed, times 100 on the axis.
    agreement: the fields of `augsbert_core.seeds.RankAgreement`.
    """
    shares = [100 * fraction for fraction in fractions]
    figure = make_subplots(
        rows=1,
        cols=2,
        subplot_titles=["Dev score × 100 of each seed", "Rank correlation with the final order"],
        horizontal_spacing=0.1,
    )
    best = max(range(len(seeds)), key=lambda row: scores[row][-1]) if len(seeds) else -1
    for row, seed in enumerate(seeds):
        figure.add_scatter(
            x=shares,
            y=[100 * value for value in scores[row]],
            name=f"Seed {seed}",
            mode="lines+markers",
            line={"color": COLORS["gold"] if row == best else COLORS["neutral"], "width": 2},
            marker={"size": 5},
            showlegend=False,
            hovertemplate=f"seed {seed} · %{{x:.0f}} % · %{{y:.1f}}<extra></extra>",
            row=1,
            col=1,
        )
    for name, title, color in (
        ("spearman", "Spearman", COLORS["silver"]),
        ("kendall", "Kendall", COLORS["cross-encoder"]),
    ):
        _add_band(figure, shares, agreement[f"{name}_low"], agreement[f"{name}_high"], color)
        figure.add_scatter(
            x=shares,
            y=list(agreement[name]),
            name=title,
            mode="lines+markers",
            line={"color": color, "width": 2},
            marker={"size": 6},
            hovertemplate=f"{title} at %{{x:.0f}} %: %{{y:.2f}}<extra></extra>",
            row=1,
            col=2,
        )
    for column in (1, 2):
        figure.update_xaxes(
            title="Share of the steps", ticksuffix=" %", range=[0, 102], row=1, col=column
        )
    figure.update_xaxes(showgrid=False)
    finish(figure, height=320, hover="closest")
    figure.update_yaxes(gridcolor=FAINT, zeroline=False)
    figure.update_yaxes(range=[-1.05, 1.05], row=1, col=2)
    figure.update_annotations(font_size=13)
    return figure.update_layout(margin={"t": 34}, legend={"y": -0.2, "yanchor": "top", "x": 0.6})


def _add_band(
    figure: go.Figure,
    shares: Sequence[float],
    low: Sequence[float | None],
    high: Sequence[float | None],
    color: str,
) -> None:
    """The 95 % band, where it is defined."""
    known = [
        (x, below, above)
        for x, below, above in zip(shares, low, high, strict=True)
        if below is not None and above is not None
    ]
    if not known:
        return
    figure.add_scatter(
        x=[row[0] for row in known] + [row[0] for row in reversed(known)],
        y=[row[1] for row in known] + [row[2] for row in reversed(known)],
        fill="toself",
        fillcolor=fade(color, 0.15),
        line={"width": 0},
        mode="lines",
        hoverinfo="skip",
        showlegend=False,
        row=1,
        col=2,
    )
