"""Figures of the ideas that the guided demo teaches; each has its description for those who cannot see it."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from augsbert_core.charts import look
from augsbert_core.charts.look import COLORS, FAINT, fade, plain, raw_scores
from augsbert_core.charts.pipelines import LAST_STEP, pipeline_description, pipeline_figure
from augsbert_core.pairs import ScoreRange
from augsbert_core.sampling.kde import acceptance

__all__ = [
    "LAST_STEP",
    "Neighbour",
    "acceptance_description",
    "acceptance_figure",
    "neighbours_description",
    "neighbours_figure",
    "pipeline_description",
    "pipeline_figure",
]

UNIT = ScoreRange(0.0, 1.0)
KEPT = COLORS["silver3"]
LINE_LENGTH, MOST_LINES, ROW_HEIGHT = 33, 2, 52
"""Of a neighbour's text: characters a line, lines, and pixels from one to the next."""


@dataclass(frozen=True)
class Neighbour:
    """A sentence found for another. score: as the search gave it (BM25 score, cosine)."""

    text: str
    score: float


def acceptance_figure(
    gold_counts: Sequence[float] | np.ndarray,
    silver_counts: Sequence[float] | np.ndarray,
    c: float,
    score_range: ScoreRange = UNIT,
) -> go.Figure:
    """Above both densities and what is kept of silver, below the chance Q_c(s) = min(1, c · F_gold(s) / F_silver(s)).

    gold_counts, silver_counts: pairs (or densities) at as many scores evenly spaced from the lowest to the
    highest. c: above 0, at most 1. ValueError for lengths that differ, or without any pair.
    """
    gold, silver, chance = _densities(gold_counts, silver_counts, c)
    raw = raw_scores(np.linspace(0.0, 1.0, len(gold)), score_range)
    width = score_range.high - score_range.low
    figure = go.Figure()
    lines = (
        ("Gold", gold, COLORS["gold"], 0.2),
        ("Silver", silver, COLORS["silver"], 0.14),
        ("Kept of silver", silver * chance, KEPT, 0.38),
    )
    for name, heights, color, opacity in lines:
        figure.add_scatter(
            x=raw,
            y=heights / width,
            name=name,
            mode="lines",
            line={"color": color, "width": 2.5},
            fill="tozeroy",
            fillcolor=fade(color, opacity),
            hovertemplate="%{y:.3f}",
        )
    figure.add_scatter(
        x=raw,
        y=chance,
        name="Chance of being kept",
        mode="lines",
        line={"color": COLORS["cross-encoder"], "width": 2.5},
        fill="tozeroy",
        fillcolor=fade(COLORS["cross-encoder"], 0.16),
        hovertemplate="%{y:.0%}",
        showlegend=False,
        yaxis="y2",
    )
    look.score_axis(figure, score_range)
    look.finish(figure, height=440, hover="x unified")
    return figure.update_layout(
        **look.LEGEND_BELOW,
        xaxis={"anchor": "y2", "hoverformat": ".2f"},
        yaxis={"domain": [0.42, 1.0], "title": "Density", "rangemode": "tozero"},
        yaxis2={
            "domain": [0.0, 0.32],
            "range": [0, 1.04],
            "title": "Kept",
            "tickformat": ".0%",
            "tickvals": [0, 0.5, 1],
            "gridcolor": FAINT,
            "zeroline": False,
        },
    )


def acceptance_description(
    gold_counts: Sequence[float] | np.ndarray,
    silver_counts: Sequence[float] | np.ndarray,
    c: float,
    score_range: ScoreRange = UNIT,
) -> str:
    """What c keeps, in words: the share of all silver pairs, and where the chance is highest and lowest."""
    gold, silver, chance = _densities(gold_counts, silver_counts, c)
    raw = raw_scores(np.linspace(0.0, 1.0, len(gold)), score_range)
    kept = float((silver * chance).sum() / silver.sum())
    there = np.flatnonzero(silver > 0)
    most, least = there[np.argmax(chance[there])], there[np.argmin(chance[there])]
    at = [f"score {raw[place]:.2g} ({100 * chance[place]:.0f} %)" for place in (most, least)]
    return (
        f"Densities of gold and silver scores, and the chance that a silver pair is kept with c = {c:g}. "
        f"{100 * kept:.1f} % of the silver pairs are kept; the chance is highest at {at[0]}, lowest at {at[1]}."
    )


def neighbours_figure(
    bm25: Sequence[Neighbour],
    semantic: Sequence[Neighbour],
    titles: tuple[str, str] = ("BM25: shared words", "Semantic: shared meaning"),
    *,
    ink: str | None = None,
) -> go.Figure:
    """The neighbours that two searches find for one sentence, best first; those in both are joined and filled.

    Long texts are cut; the whole text shows on hover. ink: the text colour, None leaves it to the page.
    """
    figure = go.Figure()
    rows = max(len(bm25), len(semantic), 1)
    common = _common(bm25, semantic)
    for first, second in common:
        figure.add_shape(
            type="line",
            x0=0.44,
            x1=0.56,
            y0=-first,
            y1=-second,
            line={"color": KEPT, "width": 2.5},
            layer="below",
        )
    sides = ((bm25, 0.0, {first for first, _ in common}), (semantic, 0.56, {s for _, s in common}))
    for found, left, shared in sides:
        for rank in range(len(found)):
            _draw_neighbour(figure, rank, left, rank in shared)
        places = [-rank for rank in range(len(found))]
        lines = [_broken(neighbour.text, LINE_LENGTH, MOST_LINES) for neighbour in found]
        _write(figure, left + 0.008, places, [str(rank + 1) for rank in range(len(found))], ink)
        _write(figure, left + 0.036, places, lines, ink)
        figure.add_scatter(
            x=[left + 0.22] * len(found),
            y=places,
            mode="markers",
            marker={"size": 30, "opacity": 0},
            text=[_broken(neighbour.text, 60, 12) for neighbour in found],
            customdata=[neighbour.score for neighbour in found],
            hovertemplate="%{text}<br>score %{customdata:.3f}<extra></extra>",
        )
    for title, place in zip(titles, (0.0, 0.56), strict=True):
        _write(figure, place - 0.005, [0.75], [f"<b>{plain(title)}</b>"], ink)
    hidden = {"visible": False, "fixedrange": True}
    look.finish(figure, height=40 + ROW_HEIGHT * rows, hover="closest")
    return figure.update_layout(
        showlegend=False,
        dragmode=False,
        margin={"l": 2, "r": 2, "t": 2, "b": 2},
        xaxis={**hidden, "range": [-0.005, 1.005]},
        yaxis={**hidden, "range": [-rows + 0.45, 1.0]},
    )


def neighbours_description(
    sentence: str,
    bm25: Sequence[Neighbour],
    semantic: Sequence[Neighbour],
    titles: tuple[str, str] = ("BM25", "Semantic search"),
) -> str:
    """Both lists in words, and how many neighbours they share."""
    parts = [f"Neighbours of “{sentence}”."]
    for title, found in zip(titles, (bm25, semantic), strict=True):
        ranked = "; ".join(
            f"{rank}. {neighbour.text}" for rank, neighbour in enumerate(found, start=1)
        )
        parts.append(f"{title}: {ranked or 'none'}.")
    shared = len(_common(bm25, semantic))
    parts.append(f"{shared} {'is' if shared == 1 else 'are'} in both lists.")
    return " ".join(parts)


def _densities(
    gold_counts: Sequence[float] | np.ndarray, silver_counts: Sequence[float] | np.ndarray, c: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Both as densities of mean 1 over the scale, and Q_c at each score."""
    gold = np.asarray(gold_counts, dtype=np.float64)
    silver = np.asarray(silver_counts, dtype=np.float64)
    if gold.shape != silver.shape or gold.ndim != 1 or len(gold) < 2:
        raise ValueError(f"Counts at the same scores are needed: {gold.shape}, {silver.shape}.")
    if not (gold.sum() > 0 and silver.sum() > 0):
        raise ValueError("There must be gold and silver pairs.")
    gold, silver = gold / gold.mean(), silver / silver.mean()
    return gold, silver, acceptance(gold, silver, c)


def _draw_neighbour(figure: go.Figure, rank: int, left: float, shared: bool) -> None:
    """One neighbour's box, filled when the other search found it too."""
    figure.add_shape(
        type="rect",
        x0=left,
        x1=left + 0.44,
        y0=-rank - 0.43,
        y1=-rank + 0.43,
        fillcolor=fade(KEPT, 0.22) if shared else "rgba(0,0,0,0)",
        line={
            "color": KEPT if shared else fade(COLORS["neutral"], 0.45),
            "width": 2 if shared else 1,
        },
        layer="below",
    )


def _write(
    figure: go.Figure,
    x: float,
    heights: Sequence[float],
    texts: Sequence[str],
    ink: str | None,
) -> None:
    """Texts below each other, aligned at their left."""
    figure.add_scatter(
        x=[x] * len(texts),
        y=list(heights),
        text=list(texts),
        mode="text",
        textposition="middle right",
        textfont={"size": 12, "color": ink},
        cliponaxis=False,
        hoverinfo="skip",
    )


def _broken(text: str, length: int, most: int) -> str:
    """A text in short lines, cut with an ellipsis; no markup of its own."""
    lines = textwrap.wrap(text, length, max_lines=most, placeholder=" …")
    return "<br>".join(plain(line) for line in lines)


def _common(first: Sequence[Neighbour], second: Sequence[Neighbour]) -> list[tuple[int, int]]:
    """Where the same sentence stands in both lists, as (rank there, rank here) from 0."""
    places = {neighbour.text: rank for rank, neighbour in enumerate(second)}
    return [
        (rank, places[neighbour.text])
        for rank, neighbour in enumerate(first)
        if neighbour.text in places
    ]
