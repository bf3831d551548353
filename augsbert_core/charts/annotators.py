"""Several people, one set of pairs: how they use the scale, where they differ, how far they agree."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from augsbert_core.charts.look import COLORS, FAINT, fade, finish, plain, raw_scores, score_axis
from augsbert_core.pairs import ScoreRange

TENTATIVE, RELIABLE = 0.667, 0.8
"""From here conclusions are tentative, and from here reliable (Krippendorff 2004, p. 241)."""

LONGEST_NAME = 22
MOST_VALUES = 21
_LARGEST = 34.0
_ROW = 46


@dataclass(frozen=True)
class Coefficient:
    """One measure of agreement: its name, its value, and its interval where there is one."""

    name: str
    value: float
    interval: tuple[float, float] | None = None


def coefficients_figure(coefficients: Sequence[Coefficient]) -> go.Figure:
    """A dot per measure with its interval, beside the two marks that Krippendorff gives for reading them.

    The axis runs from 0, or from below it where a value or an interval does, to 1.
    """
    rows = list(coefficients)[::-1]
    ends = [row.value for row in rows] + [row.interval[0] for row in rows if row.interval]
    low = min([0.0, *ends])
    figure = go.Figure()
    figure.add_vrect(x0=TENTATIVE, x1=RELIABLE, fillcolor=fade(COLORS["gold"], 0.10), line_width=0)
    figure.add_vrect(x0=RELIABLE, x1=1.02, fillcolor=fade(COLORS["silver3"], 0.14), line_width=0)
    for place, word in (
        ((low + TENTATIVE) / 2, "too low"),
        ((TENTATIVE + RELIABLE) / 2, "tentative"),
        ((RELIABLE + 1.0) / 2, "reliable"),
    ):
        figure.add_annotation(
            x=place, y=1.0, yref="paper", yanchor="bottom", text=word, showarrow=False, opacity=0.75
        )
    figure.add_scatter(
        x=[row.value for row in rows],
        y=[plain(row.name) for row in rows],
        mode="markers",
        marker={"size": 13, "color": COLORS["gold"]},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [row.interval[1] - row.value if row.interval else 0.0 for row in rows],
            "arrayminus": [row.value - row.interval[0] if row.interval else 0.0 for row in rows],
            "color": COLORS["gold"],
            "thickness": 2,
            "width": 5,
        },
        customdata=[_interval_words(row) for row in rows],
        hovertemplate="%{y}: %{x:.3f}%{customdata}<extra></extra>",
        showlegend=False,
    )
    figure.update_xaxes(range=[low - 0.02, 1.02], gridcolor=FAINT, zeroline=low < 0)
    figure.update_yaxes(automargin=True, showgrid=False, range=[-0.6, len(rows) - 0.4])
    finish(figure, height=70 + 38 * len(rows), hover="closest")
    return figure.update_layout(margin={"t": 26})


def _interval_words(row: Coefficient) -> str:
    if row.interval is None:
        return ""
    return f"<br>95 % interval {row.interval[0]:.3f} to {row.interval[1]:.3f}"


def scores_by_annotator_figure(
    names: Sequence[str], scores: np.ndarray, score_range: ScoreRange
) -> go.Figure:
    """A row per annotator: bubbles as large as the share of that annotator's scores, a line at the mean.

    scores: (annotators, pairs), in [0, 1], NaN where not scored. Where there are more than `MOST_VALUES` different
    scores, they are put to the nearest of twenty-one.
    """
    table = np.asarray(scores, dtype=np.float64)
    given = table[~np.isnan(table)]
    if len(np.unique(np.round(given, 9))) > MOST_VALUES:
        table = np.round(table * (MOST_VALUES - 1)) / (MOST_VALUES - 1)
    figure, labels = go.Figure(), labels_of(names)
    for row, own in enumerate(table):
        mine = own[~np.isnan(own)]
        if not len(mine):
            continue
        values, counts = np.unique(np.round(mine, 9), return_counts=True)
        shares = counts / len(mine)
        figure.add_scatter(
            x=raw_scores(values, score_range),
            y=[labels[row]] * len(values),
            mode="markers",
            marker={
                "size": np.maximum(_LARGEST * np.sqrt(shares / 0.5).clip(max=1.0), 4.0),
                "color": fade(COLORS["gold"], 0.55),
                "line": {"color": COLORS["gold"], "width": 1},
            },
            customdata=np.stack([counts, 100 * shares], axis=1),
            hovertemplate=f"{plain(names[row])} gave %{{x:.4~g}}: %{{customdata[0]:,}} times "
            "(%{customdata[1]:.0f} %)<extra></extra>",
            showlegend=False,
        )
        figure.add_scatter(
            x=[float(raw_scores(mine.mean(), score_range))],
            y=[labels[row]],
            mode="markers",
            marker={
                "symbol": "line-ns",
                "size": 26,
                "line": {"width": 3, "color": COLORS["cross-encoder"]},
            },
            hovertemplate=f"{plain(names[row])}: mean %{{x:.2f}} of {len(mine):,} scores"
            "<extra></extra>",
            showlegend=False,
        )
    score_axis(figure, score_range, bins=12)
    _whole_ticks(figure, score_range)
    _rows(figure, names)
    return finish(figure, height=90 + _ROW * len(names), hover="closest")


def bias_figure(
    names: Sequence[str],
    biases: Sequence[float | None],
    spreads: Sequence[float | None],
    score_range: ScoreRange,
) -> go.Figure:
    """A dot per annotator: how much higher than the others they score on the same pairs, and how evenly (± SD).

    biases, spreads: in [0, 1], drawn on the raw scale; an annotator without a shared pair has an empty row.
    """
    width = score_range.high - score_range.low
    known = [place for place, bias in enumerate(biases) if bias is not None]
    values = [width * float(biases[place] or 0.0) for place in known]
    bars = [width * float(spreads[place] or 0.0) for place in known]
    reach = max([abs(v) + b for v, b in zip(values, bars, strict=True)] or [0.0])
    reach = 1.1 * max(reach, 0.05 * width)
    figure, labels = go.Figure(), labels_of(names)
    figure.add_vline(x=0, line={"color": COLORS["neutral"], "width": 1, "dash": "dot"})
    figure.add_scatter(
        x=values,
        y=[labels[place] for place in known],
        mode="markers",
        marker={"size": 12, "color": COLORS["cross-encoder"]},
        error_x={
            "type": "data",
            "array": bars,
            "color": fade(COLORS["cross-encoder"], 0.6),
            "thickness": 2,
            "width": 5,
        },
        customdata=bars,
        hovertemplate="%{y}: %{x:+.2f} on average, ± %{customdata:.2f}<extra></extra>",
        showlegend=False,
    )
    figure.update_xaxes(
        title="Own score minus the others' mean", range=[-reach, reach], gridcolor=FAINT
    )
    _rows(figure, names)
    return finish(figure, height=90 + _ROW * len(names), hover="closest")


def two_annotators_figure(
    first: np.ndarray, second: np.ndarray, names: tuple[str, str], score_range: ScoreRange
) -> go.Figure:
    """Bubbles as large as the number of pairs that two annotators scored so; on the diagonal they agree.

    first, second: same length, in [0, 1], NaN where not scored.
    """
    both = ~(np.isnan(first) | np.isnan(second))
    points = np.round(np.stack([first[both], second[both]], axis=1), 9)
    places, counts = np.unique(points, axis=0, return_counts=True)
    low, high = score_range.low, score_range.high
    figure = go.Figure()
    figure.add_scatter(
        x=[low, high],
        y=[low, high],
        mode="lines",
        line={"color": COLORS["neutral"], "dash": "dot", "width": 1},
        hoverinfo="skip",
        showlegend=False,
    )
    if len(places):
        x, y = raw_scores(places[:, 0], score_range), raw_scores(places[:, 1], score_range)
        figure.add_scatter(
            x=x,
            y=y,
            mode="markers",
            marker={
                "size": np.maximum(_LARGEST * np.sqrt(counts / counts.max()), 7.0),
                "color": fade(COLORS["gold"], 0.5),
                "line": {"color": COLORS["gold"], "width": 1},
            },
            customdata=counts,
            hovertemplate="%{customdata:,} pairs: %{x:.4~g} and %{y:.4~g}<extra></extra>",
            showlegend=False,
        )
    margin = 0.08 * (high - low)
    axis = {"range": [low - margin, high + margin], "gridcolor": FAINT, "zeroline": False}
    figure.update_xaxes(title=short(names[0]), **axis)
    figure.update_yaxes(title=short(names[1]), **axis)
    _whole_ticks(figure, score_range)
    return finish(figure, height=380, hover="closest")


def appearances_figure(appearances: np.ndarray) -> go.Figure:
    """How many pairs of a best-worst task were judged so often. appearances: counts, one per pair."""
    values, pairs = np.unique(np.asarray(appearances, dtype=np.int64), return_counts=True)
    figure = go.Figure()
    figure.add_bar(
        x=values,
        y=pairs,
        marker={"color": COLORS["gold"]},
        hovertemplate="judged %{x} times: %{y:,} pairs<extra></extra>",
        showlegend=False,
    )
    figure.update_xaxes(title="Times judged", showgrid=False, tickformat="d")
    if len(values) and int(values.max()) - int(values.min()) < MOST_VALUES:
        # A single bar must not fill the figure.
        margin = max(0.8, 4 - (values.max() - values.min()) / 2)
        figure.update_xaxes(dtick=1, range=[values.min() - margin, values.max() + margin])
    figure.update_yaxes(title="Pairs", tickformat=",d", rangemode="tozero")
    figure.update_layout(bargap=0.2)
    return finish(figure, height=280, hover="closest")


def labels_of(names: Sequence[str]) -> list[str]:
    """Names as labels of rows: short, and each another one, as rows of one label would be one row."""
    labels: list[str] = []
    for name in names:
        label, number = short(name), 2
        while label in labels:
            label, number = f"{short(name)} ({number})", number + 1
        labels.append(label)
    return labels


def short(name: str) -> str:
    """A name that fits beside a figure, harmless as a label."""
    cut = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
    return plain(cut)


def _whole_ticks(figure: go.Figure, score_range: ScoreRange) -> None:
    """A tick at every whole number of a short scale."""
    span = score_range.high - score_range.low
    if span == int(span) and 2 <= span <= 10:
        figure.update_xaxes(dtick=1, tick0=score_range.low)


def _rows(figure: go.Figure, names: Sequence[str]) -> None:
    """One row per name, the first on top."""
    labels = labels_of(names)
    figure.update_yaxes(
        type="category",
        categoryorder="array",
        categoryarray=labels[::-1],
        range=[-0.6, len(labels) - 0.4],
        automargin=True,
        showgrid=False,
    )
