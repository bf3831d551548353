"""Keeping a part of a pool: the densities before and after, the rule itself, and what c trades."""

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from augsbert_core.charts import look
from augsbert_core.charts.look import COLORS, FAINT, HIDDEN, fade, raw_scores
from augsbert_core.pairs import ScoreRange

KEPT = COLORS["silver3"]
PATH_TITLES = {"kl": "KL(gold‖kept), nats", "n_kept": "Pairs kept"}
RULE_DOMAIN, DENSITY_DOMAIN = [0.0, 0.17], [0.27, 1.0]


def keep_figure(
    grid: np.ndarray,
    gold: np.ndarray,
    pool: np.ndarray,
    expected: np.ndarray,
    kept: np.ndarray | None,
    acceptance: np.ndarray,
    score_range: ScoreRange,
    *,
    selectable: bool = False,
) -> go.Figure:
    """Gold, pool and kept densities on one axis, and below them Q_c(s), the chance of being kept.

    All arrays are values at the grid's points; densities have area 1 on [0, 1]. kept: None when no pair is.
    """
    raw, width = raw_scores(grid, score_range), score_range.high - score_range.low
    figure = go.Figure()
    lines: list[tuple[str, np.ndarray | None, str, str, float]] = [
        ("Pool", pool, COLORS["silver"], "solid", 0.16),
        ("Gold (train)", gold, COLORS["gold"], "solid", 0.22),
        ("Kept, expected", expected, KEPT, "dot", 0.0),
        ("Kept", kept, KEPT, "solid", 0.0),
    ]
    for name, heights, color, dash, opacity in lines:
        if heights is None:
            continue
        figure.add_scatter(
            x=raw,
            y=heights / width,
            name=name,
            mode="lines+markers" if selectable else "lines",
            marker={"opacity": 0, "size": 1},
            selected=HIDDEN,
            unselected=HIDDEN,
            line={"color": color, "width": 2.5, "dash": dash},
            fill="tozeroy" if opacity else None,
            fillcolor=fade(color, opacity) if opacity else None,
            hovertemplate="%{y:.3f}",
        )
    figure.add_scatter(
        x=raw,
        y=acceptance,
        name="Chance of being kept",
        mode="lines",
        line={"color": COLORS["neutral"], "width": 1.5},
        fill="tozeroy",
        fillcolor=fade(COLORS["neutral"], 0.25),
        hovertemplate="%{y:.2f}",
        meta="Q_c(s)",
        showlegend=False,
        yaxis="y2",
    )
    look.score_axis(figure, score_range)
    if selectable:
        look.selectable(figure)
    look.finish(figure, height=430, hover="x unified")
    return figure.update_layout(
        **look.LEGEND_BELOW,
        xaxis={"anchor": "y2", "hoverformat": ".2f"},
        yaxis={
            "domain": DENSITY_DOMAIN,
            "title": "Density",
            "rangemode": "tozero",
            "showticklabels": False,
        },
        yaxis2={
            "domain": RULE_DOMAIN,
            "title": "Q<sub>c</sub>(s)",
            "range": [0, 1.06],
            "tickvals": [0, 1],
            "fixedrange": True,
        },
    )


def class_figure(
    pool: tuple[np.ndarray, np.ndarray],
    kept: tuple[np.ndarray, np.ndarray],
    threshold: float,
    score_range: ScoreRange,
    *,
    selectable: bool = False,
    bins: int = 25,
) -> go.Figure:
    """How many pairs of the pool have which score, and how many of them stay; the threshold is a line.

    pool, kept: (distinct scores in [0, 1], how often each occurs).
    """
    places = raw_scores(np.linspace(0.0, 1.0, bins + 1), score_range)
    figure = go.Figure()
    for name, (scores, counts), color, opacity in (
        ("Pool", pool, COLORS["silver"], 0.3),
        ("Kept", kept, KEPT, 0.9),
    ):
        figure.add_bar(
            x=places,
            y=look.counts_at(scores, bins, counts),
            name=name,
            marker={"color": fade(color, opacity)},
            hovertemplate="score about %{x:.2f} · %{y:,.0f} pairs",
        )
    figure.add_vline(
        x=raw_scores(np.array(threshold), score_range).item(),
        line={"dash": "dash", "width": 1.5, "color": COLORS["cross-encoder"]},
        annotation={
            "text": "positive from here",
            "font": {"size": 12},
            "xanchor": "left",
        },
        annotation_position="top",
    )
    look.score_axis(figure, score_range, bins)
    figure.update_yaxes(title="Pairs", rangemode="tozero")
    figure.update_layout(barmode="overlay", bargap=0.08)
    if selectable:
        look.selectable(figure)
    look.finish(figure, height=360, hover="x unified")
    return figure.update_layout(xaxis_hoverformat=".2f", **look.LEGEND_BELOW)


@dataclass(frozen=True)
class Path:
    """What comes out along c: parallel arrays of c, pairs kept, and KL(gold‖kept) in nats."""

    c: np.ndarray
    n_kept: np.ndarray
    kl: np.ndarray


def path_figure(expected: Path, realised: Path, present: Path, pool_kl: float | None) -> go.Figure:
    """What c trades: KL(gold‖kept) in one panel, pairs kept in the other, both along c.

    expected: a line. realised: what chance gave at some c, as points. present: the c that is set, one
    point. pool_kl: KL(gold‖pool), a dashed line: what keeping everything costs.
    """
    figure = make_subplots(
        rows=1,
        cols=2,
        subplot_titles=list(PATH_TITLES.values()),
        horizontal_spacing=0.1,
    )
    for column, field in enumerate(PATH_TITLES, start=1):
        form = ":,.0f" if field == "n_kept" else ":.3f"
        for name, path, style in (
            ("Expected", expected, {"mode": "lines", "line": {"color": KEPT, "width": 2.5}}),
            ("Realised with this seed", realised, _dots("circle-open", 8, 2)),
            ("The c that is set", present, _dots("circle", 13, 0)),
        ):
            values = getattr(path, field).astype(np.float64)
            there = np.isfinite(values) & ((values > 0) if field == "n_kept" else True)
            figure.add_scatter(
                x=path.c[there],
                y=values[there],
                name=name,
                legendgroup=name,
                showlegend=column == 1,
                hovertemplate=f"c = %{{x:.3g}}: %{{y{form}}}",
                meta=PATH_TITLES[field],
                cliponaxis=False,
                row=1,
                col=column,
                **style,
            )
    if pool_kl is not None:
        figure.add_hline(
            y=pool_kl,
            row=1,
            col=1,
            line={"dash": "dash", "width": 1.5, "color": COLORS["silver"]},
            annotation={"text": "the whole pool", "font": {"size": 12}},
            annotation_position="top left",
        )
    figure.update_xaxes(title="c", type="log", dtick=1, gridcolor=FAINT, zeroline=False)
    figure.update_annotations(font_size=13)
    look.finish(figure, height=270, hover="closest")
    figure.update_yaxes(rangemode="tozero", row=1, col=1)
    figure.update_yaxes(type="log", dtick=1, row=1, col=2)
    return figure.update_layout(
        legend={"y": -0.28, "yanchor": "top", "x": 0}, margin={"t": 30, "b": 50}
    )


def _dots(symbol: str, size: int, line: int) -> dict:
    color = KEPT if symbol.endswith("open") else COLORS["cross-encoder"]
    return {
        "mode": "markers",
        "marker": {"symbol": symbol, "size": size, "color": color, "line": {"width": line}},
    }
