"""Figures of what training depends on: the number of gold pairs (figure 1), and the seed alone (figure 6)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from augsbert_core.charts import experiments, look
from augsbert_core.charts.look import COLORS, fade


def learning_curve_figure(
    points: pd.DataFrame, paper_points: pd.DataFrame | None = None, title: str = "Score × 100"
) -> go.Figure:
    """Scores against the number of gold pairs, one line per series; the paper's, where given, dashed and grey.

    points, paper_points: columns series, n_gold, value, low, high (0 to 1; low and high may be missing).
    """
    figure = experiments.learning_curve_figure(points, title)
    if paper_points is not None and len(paper_points):
        theirs = experiments.learning_curve_figure(paper_points, title)
        theirs.update_traces(
            line={"color": COLORS["neutral"], "dash": "dash", "width": 2},
            marker={"color": COLORS["neutral"], "symbol": "diamond-open", "size": 8},
        )
        for trace in theirs.data:
            trace.name = f"Paper: {trace.name}"
            figure.add_trace(trace)
    return figure.update_layout(**look.LEGEND_BELOW)


def learning_curve_description(
    points: pd.DataFrame, paper_points: pd.DataFrame | None = None
) -> str:
    """Each line's first and last point in words."""
    parts = ["Score × 100 against the number of gold training pairs."]
    for whose, frame in (("", points), ("Paper, ", paper_points)):
        if frame is None:
            continue
        for series in dict.fromkeys(frame["series"]):
            line = frame[frame["series"] == series].sort_values("n_gold")
            first, last = line.iloc[0], line.iloc[-1]
            parts.append(
                f"{whose}{series}: {100 * first['value']:.1f} with {first['n_gold']:,.0f} pairs"
                + (
                    f", {100 * last['value']:.1f} with {last['n_gold']:,.0f}."
                    if len(line) > 1
                    else "."
                )
            )
    return " ".join(parts)


def seed_spread_figure(
    dev: Sequence[Sequence[float]] | np.ndarray,
    fractions: Sequence[float],
    stop: float = 0.2,
    seeds: Sequence[int] | None = None,
) -> go.Figure:
    """Dev score of each seed along training, their spread as a band, and where the paper chooses among them.

    dev: one row per seed, scores 0 to 1 at each of the fractions (shares of all steps, ascending). Gold is the seed
    that is best at `stop`, a diamond the seed that is best at the end. seeds: their numbers; None counts from 1.
    """
    scores, shares = _seeds(dev, fractions)
    names = _names(seeds, len(scores))
    chosen, best, _ = _chosen_and_best(scores, fractions, stop)
    figure = go.Figure()
    figure.add_scatter(
        x=[*shares, *reversed(shares)],
        y=[*scores.max(axis=0), *scores.min(axis=0)[::-1]],
        fill="toself",
        fillcolor=fade(COLORS["neutral"], 0.16),
        line={"width": 0},
        mode="lines",
        hoverinfo="skip",
        name="Spread of the seeds",
    )
    order = [row for row in range(len(scores)) if row != chosen] + [chosen]
    for position, row in enumerate(order):
        color = COLORS["gold"] if row == chosen else COLORS["neutral"]
        figure.add_scatter(
            x=shares,
            y=scores[row],
            mode="lines+markers",
            line={"color": color, "width": 3 if row == chosen else 1.5},
            marker={"size": 7 if row == chosen else 5},
            name=f"Best at {100 * stop:g} %" if row == chosen else "Other seeds",
            showlegend=row == chosen or position == 0,
            hovertemplate=f"seed {names[row]} · %{{x:.0f}} % · %{{y:.1f}}<extra></extra>",
        )
    figure.add_scatter(
        x=[shares[-1]],
        y=[scores[best, -1]],
        mode="markers",
        marker={
            "symbol": "diamond",
            "size": 13,
            "color": COLORS["gold"] if best == chosen else COLORS["cross-encoder"],
        },
        name="Best at the end",
        hovertemplate=f"seed {names[best]} · best at the end · %{{y:.1f}}<extra></extra>",
    )
    figure.add_vline(
        x=100 * stop,
        line={"dash": "dot", "width": 1.5, "color": COLORS["neutral"]},
        annotation={"text": "choice", "font": {"size": 12}},
        annotation_position="top right",
    )
    figure.update_xaxes(title="Share of the steps", ticksuffix=" %", range=[0, 103], showgrid=False)
    figure.update_yaxes(title="Dev score × 100")
    look.finish(figure, height=360, hover="closest")
    return figure.update_layout(**look.LEGEND_BELOW)


def seed_spread_description(
    dev: Sequence[Sequence[float]] | np.ndarray,
    fractions: Sequence[float],
    stop: float = 0.2,
    seeds: Sequence[int] | None = None,
) -> str:
    """How far the seeds lie apart at the choice and at the end, and whether the choice was the best one."""
    scores, _ = _seeds(dev, fractions)
    names = _names(seeds, len(scores))
    chosen, best, at = _chosen_and_best(scores, fractions, stop)
    then, end = np.ptp(scores[:, at]), np.ptp(scores[:, -1])
    verdict = (
        "It is the best at the end, too."
        if chosen == best
        else f"At the end seed {names[best]} is {scores[best, -1] - scores[chosen, -1]:.1f} points better."
    )
    return (
        f"Dev score × 100 of {len(scores)} seeds along training. At {100 * fractions[at]:.0f} % of the steps they "
        f"lie {then:.1f} points apart, at the end {end:.1f}. Seed {names[chosen]} is best at the choice. {verdict}"
    )


def _seeds(
    dev: Sequence[Sequence[float]] | np.ndarray, fractions: Sequence[float]
) -> tuple[np.ndarray, list[float]]:
    """Scores × 100, one row per seed, and the fractions in percent."""
    scores = 100 * np.asarray(dev, dtype=np.float64)
    if scores.ndim != 2 or not scores.size or scores.shape[1] != len(fractions):
        raise ValueError(f"One score per seed and fraction is needed, not {scores.shape}.")
    return scores, [100 * fraction for fraction in fractions]


def _names(seeds: Sequence[int] | None, n: int) -> list[int]:
    return list(range(1, n + 1)) if seeds is None else list(seeds)


def _chosen_and_best(
    scores: np.ndarray, fractions: Sequence[float], stop: float
) -> tuple[int, int, int]:
    """The seed that is best at the choice, the one that is best at the end, and the column of the choice."""
    at = int(np.argmin([abs(fraction - stop) for fraction in fractions]))
    return int(np.argmax(scores[:, at])), int(np.argmax(scores[:, -1])), at
