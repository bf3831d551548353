"""What a model says against what people said, pair by pair."""

import numpy as np
import plotly.graph_objects as go

from augsbert_core.charts.look import COLORS, FAINT, fade, finish, raw_scores
from augsbert_core.pairs import ScoreRange

MOST_POINTS = 2_000
MOST_BINS = 10
FEWEST_IN_BIN = 5


def agreement_figure(
    gold: np.ndarray,
    predicted: np.ndarray,
    score_range: ScoreRange,
    *,
    color: str = COLORS["silver"],
    seed: int = 0,
) -> go.Figure:
    """A point per pair, the model's score across and the gold score up, with the mean gold score of each tenth.

    gold, predicted: same length; gold in [0, 1], shown on the raw scale. At most `MOST_POINTS` pairs are drawn,
    chosen with the seed; the line of means is of all pairs. A model that orders pairs well gives a line that only
    climbs; where it is straight, distances between scores mean the same everywhere.
    """
    places = np.arange(len(gold))
    if len(places) > MOST_POINTS:
        places = np.random.default_rng(seed).choice(len(places), MOST_POINTS, replace=False)
    raw = raw_scores(np.asarray(gold, dtype=np.float64), score_range)
    figure = go.Figure()
    figure.add_scattergl(
        x=predicted[places],
        y=raw[places],
        mode="markers",
        name="One pair",
        marker={"size": 6, "color": fade(color, 0.35)},
        hovertemplate="model %{x:.2f} · gold %{y:.2f}",
    )
    middles, means = calibration_line(raw, np.asarray(predicted, dtype=np.float64))
    if len(middles):
        figure.add_scatter(
            x=middles,
            y=means,
            mode="lines+markers",
            name="Mean gold score of a tenth of the pairs",
            line={"color": COLORS["gold"], "width": 3},
            marker={"size": 8},
            hovertemplate="model about %{x:.2f} · mean gold %{y:.2f}",
        )
    figure.update_xaxes(title="Score of the model", gridcolor=FAINT, zeroline=False)
    margin = 0.03 * (score_range.high - score_range.low)
    figure.update_yaxes(
        title="Gold score", range=[score_range.low - margin, score_range.high + margin]
    )
    return finish(figure, height=440, hover="closest")


def calibration_line(gold: np.ndarray, predicted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean score of the model and mean gold score in tenths of the pairs by the model's score.

    Fewer parts where there are not `FEWEST_IN_BIN` pairs for each; none for fewer than twice that many pairs.
    """
    n_bins = min(MOST_BINS, len(gold) // FEWEST_IN_BIN)
    if n_bins < 2 or not np.isfinite(predicted).all():
        return np.zeros(0), np.zeros(0)
    parts = np.array_split(np.argsort(predicted, kind="stable"), n_bins)
    return (
        np.array([predicted[part].mean() for part in parts]),
        np.array([gold[part].mean() for part in parts]),
    )
