"""What all figures share: colours with a meaning, the score axis, and the finish."""

import numpy as np
import plotly.graph_objects as go

from augsbert_core.pairs import ScoreRange

COLORS = {
    "gold": "#C4830F",
    "silver": "#4688BC",
    "silver2": "#8A7FC7",
    "silver3": "#2F9484",
    "cross-encoder": "#A463B8",
    "neutral": "#868E96",
    "loss": "#868E96",
    "dev_score": "#2F9484",
    "learning_rate": "#8A7FC7",
}
"""One colour per concept, each with a contrast of at least 3 against the light and the dark ground.

Too little for small text on one of the two: texts in figures take the colour of the page. Gold and silver stay apart
for eyes that lack one kind of cone (tests/test_accessibility.py)."""

GOLD_SHADES = {"train": "#C4830F", "dev": "#9A6B12", "test": "#B5793A"}
"""The splits are all gold, so they are shades of it; bars of theirs have patterns, too."""

SPLIT_PATTERNS = {"dev": "/", "test": "x"}
"""Shades of one colour are hard to tell apart, patterns are not."""

OTHER_GOLDS = ("#B5793A", "#A88A1C", "#9A6B12", "#B1704A")
"""The gold pairs of other projects; always drawn dashed."""

SILVER_HUES = ("#4688BC", "#8A7FC7", "#2F9484", "#6F86A1", "#4C8F9D", "#6C82C4")
"""Cool hues for several silver sets; the first is the open set's."""

KIND_COLORS = {
    "untrained": COLORS["neutral"],
    "jaccard": COLORS["neutral"],
    "majority": COLORS["neutral"],
    "other data": COLORS["neutral"],
    "source only": COLORS["silver3"],
    "off the shelf": COLORS["neutral"],
    "gold-only": COLORS["gold"],
    "gold-only, seeds tried": COLORS["gold"],
    "gold-only, equal steps": COLORS["gold"],
    "adapted": COLORS["silver"],
    "augsbert": COLORS["silver"],
    "cross-encoder student": COLORS["silver2"],
    "cross-encoder": COLORS["cross-encoder"],
    "labelers": COLORS["cross-encoder"],
}
"""The colour of each kind of row of the compare table."""

CURVE_TITLES = {
    "loss": "Training loss",
    "dev_score": "Score on dev × 100",
    "learning_rate": "Learning rate",
    "pairs_per_second": "Pairs per second",
}

FAINT = "rgba(134,142,150,0.25)"

LEGEND_BELOW = {"margin": {"t": 34}, "legend": {"y": -0.2, "yanchor": "top"}}
"""For figures whose legend may be long: above, it would lie under Plotly's buttons."""

HIDDEN = {"marker": {"opacity": 0}}
"""How the invisible points of a line look, selected or not. Plotly selects points only."""


def color_of(role: str) -> str:
    """The colour of a role; a colour itself is passed through."""
    return role if role.startswith("#") else COLORS.get(role, COLORS["silver2"])


def fade(color: str, opacity: float) -> str:
    """A hex colour, made transparent."""
    red, green, blue = _channels(color)
    return f"rgba({red},{green},{blue},{opacity})"


def ramp(steps: int, start: str = "#6498B4", end: str = "#3A6FA6") -> list[str]:
    """So many colours from pale to deep, by default of silver: for values that have an order."""
    shares = np.linspace(0.0, 1.0, steps) if steps > 1 else np.array([0.5])
    first, last = np.array(_channels(start)), np.array(_channels(end))
    return [
        "#" + "".join(f"{round(channel):02X}" for channel in first + share * (last - first))
        for share in shares
    ]


def _channels(color: str) -> tuple[int, int, int]:
    red, green, blue = (int(color[start : start + 2], 16) for start in (1, 3, 5))
    return red, green, blue


def plain(text: str) -> str:
    """Plotly reads a few HTML tags in labels; names of users' files and models must not become markup."""
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def raw_scores(unit: np.ndarray, score_range: ScoreRange) -> np.ndarray:
    """Scores in [0, 1] on the raw scale."""
    return score_range.low + np.asarray(unit) * (score_range.high - score_range.low)


def counts_at(values: np.ndarray, bins: int, weights: np.ndarray | None = None) -> np.ndarray:
    """How many scores in [0, 1] are nearest to each of 0, 1/bins, …, 1; ties go up.

    Bars stand on scores that people give (halves, fifths), never between them.
    """
    places = np.floor(np.clip(values, 0.0, 1.0) * bins + 0.5 + 1e-9).astype(np.int64)
    return np.bincount(places, weights=weights, minlength=bins + 1)


def score_axis(
    figure: go.Figure, score_range: ScoreRange, bins: int | None = None, **place: int
) -> None:
    """The declared scale; with bins, half a bar more at both ends, whose bars are centred there."""
    margin = (score_range.high - score_range.low) / bins / 2 if bins else 0.0
    figure.update_xaxes(
        title="Score",
        range=[score_range.low - margin, score_range.high + margin],
        showgrid=False,
        zeroline=False,
        **place,
    )


def selectable(figure: go.Figure) -> None:
    """Let a drag over the figure mark a range of scores."""
    figure.update_layout(dragmode="select", selectdirection="h")


def finish(figure: go.Figure, *, height: int, hover: str) -> go.Figure:
    """Transparent ground, faint grid, legend above."""
    figure.update_layout(
        height=height,
        hovermode=hover,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "title": ""},
        uirevision="keep",
    )
    figure.update_yaxes(gridcolor=FAINT, zeroline=False)
    return figure
