"""A figure in words: its main numbers, for those who cannot see it."""

import html
import re
from typing import Any

import numpy as np
import plotly.graph_objects as go

MOST_TRACES = 12
"""More curves than that are counted instead of told."""

MOST_POINTS_TOLD = 8
"""So many values are told one by one; of longer curves the ends and the peak."""


def numbers_of(figure: go.Figure) -> str:
    """The main numbers of every curve of a figure, "Gold: 5 at 0, 12 at 2.5; …" as plain text; "" without any.

    A curve that is drawn in two places (a line and its band) is told once, under its name.
    """
    told: dict[str, str] = {}
    for trace in figure.data:
        words = _words(trace)
        if words and trace.hoverinfo != "skip":
            told.setdefault(_name(trace), words)
    parts = [f"{name}: {words}" if name else words for name, words in told.items()]
    rest = len(parts) - MOST_TRACES
    shown = "; ".join(parts[:MOST_TRACES])
    return shown + (f"; and {rest} more" if rest > 0 else "")


def _name(trace: Any) -> str:
    name = _text(trace.name)
    measure = _text(trace.meta) if isinstance(trace.meta, str) else ""
    return f"{name}, {measure}" if name and measure else name or measure


def _words(trace: Any) -> str:
    if trace.type == "heatmap":
        return _heatmap_words(trace)
    if trace.type not in ("bar", "scatter", "scattergl") or trace.x is None or trace.y is None:
        return ""
    mode = getattr(trace, "mode", None)
    if mode == "text":
        return ""
    sideways = getattr(trace, "orientation", None) == "h" or not _is_numeric(trace.y)
    places, values = (trace.y, trace.x) if sideways else (trace.x, trace.y)
    if not _is_numeric(values):
        return ""
    heights = _numbers(values)
    there = np.flatnonzero(np.isfinite(heights))
    if not len(there):
        return ""
    at = [_place(places, index) for index in there]
    heights = heights[there]
    if trace.type == "bar":
        return _bar_words(heights, at)
    if len(heights) <= MOST_POINTS_TOLD:
        return ", ".join(
            f"{_short(value)} at {place}" for value, place in zip(heights, at, strict=True)
        )
    if mode == "markers":
        return (
            f"{len(heights):,} points, {_short(heights.min())} to {_short(heights.max())}, "
            f"on average {_short(heights.mean())}"
        )
    top = int(np.argmax(heights))
    return (
        f"{_short(heights[0])} at {at[0]}, {_short(heights[-1])} at {at[-1]}, "
        f"highest {_short(heights[top])} at {at[top]}"
    )


def _bar_words(heights: np.ndarray, at: list[str]) -> str:
    if len(heights) <= MOST_POINTS_TOLD:
        return ", ".join(
            f"{_short(value)} at {place}" for value, place in zip(heights, at, strict=True)
        )
    top = int(np.argmax(heights))
    return f"{_short(heights.sum())} in all, most at {at[top]} ({_short(heights[top])})"


def _heatmap_words(trace: Any) -> str:
    values = np.asarray(trace.z, dtype=np.float64)
    if not np.isfinite(values).any():
        return ""
    row, column = np.unravel_index(int(np.nanargmax(values)), values.shape)
    return (
        f"{_short(float(np.nansum(values)))} in all, most ({_short(values[row, column])}) at "
        f"{_place(trace.x, column)} and {_place(trace.y, row)}"
    )


def _place(places: Any, index: Any) -> str:
    value = places[index] if places is not None else index
    if isinstance(value, str):
        return _text(value)
    return _short(float(value))


def _is_numeric(values: Any) -> bool:
    return np.asarray(values).dtype.kind in "iufb" or all(
        value is None or isinstance(value, int | float) for value in values
    )


def _numbers(values: Any) -> np.ndarray:
    return np.array([np.nan if value is None else float(value) for value in values])


def _short(value: float) -> str:
    """A number as one would say it: 1,204 · 12.3 · 0.045."""
    if abs(value) >= 1000 or float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _text(label: str | None) -> str:
    """A label of Plotly without its markup."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", label or "")).split())
