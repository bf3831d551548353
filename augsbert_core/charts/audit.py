"""What the labeler gave against what people gave, for the pairs of an audit."""

import numpy as np
import plotly.graph_objects as go

from augsbert_core.charts.look import (
    COLORS,
    FAINT,
    finish,
    plain,
    ramp,
    raw_scores,
)
from augsbert_core.pairs import ScoreRange

LONGEST_TEXT = 60


def audit_figure(
    labeler: np.ndarray,
    human: np.ndarray,
    stratum: np.ndarray,
    texts: list[tuple[str, str]],
    score_range: ScoreRange,
    threshold: float | None = None,
    *,
    seed: int = 0,
) -> go.Figure:
    """A point per scored pair, people's score across and the labeler's up, with the line on which both agree.

    labeler, human: same length, in [0, 1], shown on the raw scale; pairs without a human score (NaN) are left out.
    Points are darker the higher their stratum. People's scores stand on the levels of a scale, so points are moved
    sideways a little, by the seed, never off the scale nor over the threshold. threshold: pairs in the marked corner
    are wrong positives.
    """
    known = np.flatnonzero(np.isfinite(human))
    people, model = raw_scores(human[known], score_range), raw_scores(labeler[known], score_range)
    span = score_range.high - score_range.low
    shift = np.random.default_rng(seed).uniform(-0.008, 0.008, len(known)) * span
    limit = None if threshold is None else raw_scores(np.array([threshold]), score_range)[0]
    shown = _on_their_side(people, people + shift, score_range, limit)
    strata = np.unique(stratum)
    shades = dict(zip(strata.tolist(), ramp(len(strata)), strict=True))
    figure = go.Figure()
    ends = [score_range.low, score_range.high]
    figure.add_scatter(
        x=ends, y=ends, mode="lines", name="Both agree", hoverinfo="skip",
        line={"color": COLORS["gold"], "width": 2, "dash": "dash"},
    )  # fmt: skip
    for one in strata.tolist():
        of_it = np.flatnonzero(stratum[known] == one)
        if not len(of_it):
            continue
        names = [_pair_text(*texts[row]) for row in known[of_it].tolist()]
        figure.add_scatter(
            x=shown[of_it],
            y=model[of_it],
            mode="markers",
            name=f"Score region {one + 1}",
            marker={"size": 10, "color": shades[one], "line": {"width": 1, "color": "white"}},
            customdata=np.array([people[of_it]]).T,
            text=names,
            hovertemplate="%{text}<br>people %{customdata[0]:.2f} · labeler %{y:.2f}<extra></extra>",
        )
    if limit is not None:
        _mark_wrong_positives(figure, limit, ends)
    margin = 0.03 * span
    limits = [score_range.low - margin, score_range.high + margin]
    figure.update_xaxes(title="People", range=limits, gridcolor=FAINT, zeroline=False)
    figure.update_yaxes(title="Labeler", range=limits)
    return finish(figure, height=420, hover="closest")


def _on_their_side(
    people: np.ndarray, moved: np.ndarray, score_range: ScoreRange, limit: float | None
) -> np.ndarray:
    """Moved points, mirrored where they would leave the scale or cross the threshold: a point shows what it is."""
    moved = np.where(moved < score_range.low, 2 * score_range.low - moved, moved)
    moved = np.where(moved > score_range.high, 2 * score_range.high - moved, moved)
    if limit is None:
        return moved
    crossed = (people < limit) != (moved < limit)
    # Exactly on the threshold is a positive, so it moves up; others stay where they are.
    up = np.where(people == limit, 2 * limit - moved, people)
    return np.where(crossed, up, moved)


def _mark_wrong_positives(figure: go.Figure, threshold: float, ends: list[float]) -> None:
    figure.add_shape(
        type="rect", x0=ends[0], x1=threshold, y0=threshold, y1=ends[1],
        fillcolor=FAINT, line={"width": 0}, layer="below",
    )  # fmt: skip
    figure.add_annotation(
        x=ends[0], y=ends[1], xanchor="left", yanchor="top", showarrow=False, text="wrong positives",
    )  # fmt: skip


def _pair_text(first: str, second: str) -> str:
    return "<br>".join(
        plain(text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…")
        for text in (first, second)
    )
