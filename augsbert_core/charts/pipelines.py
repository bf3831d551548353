"""The two pipelines of the paper as diagrams whose stations light up one after the other (figures 2 and 3)."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import plotly.graph_objects as go

from augsbert_core.charts.look import COLORS, fade

HEIGHT = 320
HALF_WIDTH, HALF_HEIGHT = 0.43, 0.36
"""Of a box; stations stand 1 apart."""


@dataclass(frozen=True)
class Box:
    """A station's box: the step that lights it, its centre, its colour role, and its lines of text."""

    step: int
    x: float
    y: float
    role: str
    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Arrow:
    """A line through these points, an arrowhead at the last one; lit with its step."""

    step: int
    role: str
    points: tuple[tuple[float, float], ...]
    label: str = ""


@dataclass(frozen=True)
class Pipeline:
    """What is drawn, and one sentence per step for those who hear it."""

    title: str
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    steps: tuple[str, ...]


_TOP, _BOTTOM, _MIDDLE = 1.0, 0.0, 0.5
_RIGHT, _LEFT = HALF_WIDTH, -HALF_WIDTH
_UP, _DOWN = HALF_HEIGHT, -HALF_HEIGHT
_OVER = _TOP + HALF_HEIGHT + 0.16


def _boxes(
    gold: tuple[str, ...], sentences: tuple[str, ...], student: tuple[str, ...]
) -> tuple[Box, ...]:
    return (
        Box(1, 0, _TOP, "gold", "Gold pairs", gold),
        Box(2, 1, _TOP, "cross-encoder", "Cross-encoder", ("learns from gold:", "the labeler")),
        Box(3, 0, _BOTTOM, "neutral", "Sentences", sentences),
        Box(3, 1, _BOTTOM, "neutral", "Candidate pairs", ("chosen by a", "strategy")),
        Box(4, 2, _BOTTOM, "silver", "Silver pairs", ("scored by", "the labeler")),
        Box(5, 3, _MIDDLE, "silver3", "Bi-encoder", student),
    )


_ARROWS = (
    Arrow(2, "cross-encoder", ((_RIGHT, _TOP), (1 + _LEFT, _TOP))),
    Arrow(3, "neutral", ((_RIGHT, _BOTTOM), (1 + _LEFT, _BOTTOM))),
    Arrow(4, "silver", ((1 + _RIGHT, _BOTTOM), (2 + _LEFT, _BOTTOM))),
    Arrow(4, "cross-encoder", ((1 + _RIGHT, _TOP), (2, _TOP), (2, _UP)), "labels"),
    Arrow(5, "silver", ((2 + _RIGHT, _BOTTOM), (3, _BOTTOM), (3, _MIDDLE + _DOWN))),
)

PIPELINES = {
    "augsbert": Pipeline(
        title="Augmented SBERT",
        boxes=_boxes(
            ("scored by", "people"), ("all that", "gold has"), ("learns from", "gold and silver")
        ),
        arrows=(
            *_ARROWS,
            Arrow(5, "gold", ((0, _TOP + _UP), (0, _OVER), (3, _OVER), (3, _MIDDLE + _UP))),
        ),
        steps=(
            "People score gold pairs.",
            "The cross-encoder learns from gold and becomes the labeler.",
            "A strategy chooses candidate pairs among all sentences.",
            "The labeler scores the candidates: they become silver pairs.",
            "The bi-encoder learns from gold and silver.",
        ),
    ),
    "adaptation": Pipeline(
        title="Augmented SBERT for a domain without gold",
        boxes=_boxes(
            ("of another", "domain"), ("of your", "domain"), ("learns from", "silver alone")
        ),
        arrows=_ARROWS,
        steps=(
            "People have scored gold pairs of another domain.",
            "The cross-encoder learns from them and becomes the labeler.",
            "A strategy chooses candidate pairs among the sentences of the new domain.",
            "The labeler scores the candidates: they become silver pairs of the new domain.",
            "The bi-encoder learns from silver alone.",
        ),
    ),
}
"""By kind, as `pipeline_figure` takes it."""

LAST_STEP = 5


@lru_cache(maxsize=4 * 2 * (LAST_STEP + 1))
def pipeline_figure(kind: str, lit: int, *, ink: str | None = None) -> go.Figure:
    """A pipeline with all stations up to step `lit` lit and that of `lit` framed: 0 none, 5 the whole.

    The same figure for everybody who asks, as Plotly takes long to check it: change a copy only.
    The stations have no numbers: beside the eight steps of the guided demo these would be a second count.
    kind: "augsbert" or "adaptation". ink: the text colour, None leaves it to the page. Readable from 600 pixels wide. ValueError for another kind or step.
    """
    pipeline = _checked(kind, lit)
    top = _OVER if kind == "augsbert" else _TOP + HALF_HEIGHT
    hidden = {"visible": False, "fixedrange": True}
    # All at once: Plotly checks every shape anew for each one that is added to a figure.
    figure = go.Figure([_texts(pipeline, lit, ink, on=on) for on in (False, True)])
    figure.update_layout(
        shapes=[_line(arrow, lit) for arrow in pipeline.arrows]
        + [_rectangle(box, lit) for box in pipeline.boxes],
        annotations=[_head(arrow, lit) for arrow in pipeline.arrows],
        height=HEIGHT if kind == "augsbert" else HEIGHT - 20,
        margin={"l": 2, "r": 2, "t": 4, "b": 4},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        showlegend=False,
        hovermode=False,
        dragmode=False,
        xaxis={**hidden, "range": [-HALF_WIDTH - 0.02, 3 + HALF_WIDTH + 0.02]},
        yaxis={**hidden, "range": [-HALF_HEIGHT - 0.06, top + 0.06]},
    )
    return figure


def pipeline_description(kind: str, lit: int) -> str:
    """The diagram in words: which steps are lit, and which come next."""
    pipeline = _checked(kind, lit)
    done, rest = pipeline.steps[:lit], pipeline.steps[lit:]
    parts = [f"{pipeline.title}, a diagram of {LAST_STEP} stations."]
    if done:
        parts.append("Lit: " + " ".join(done))
    if rest:
        parts.append("Not yet lit: " + " ".join(rest))
    return " ".join(parts)


def _checked(kind: str, lit: int) -> Pipeline:
    if kind not in PIPELINES:
        raise ValueError(f"There is no pipeline {kind!r}: {', '.join(PIPELINES)}.")
    if not 0 <= lit <= LAST_STEP:
        raise ValueError(f"A pipeline is lit up to step 0 to {LAST_STEP}, not {lit}.")
    return PIPELINES[kind]


def _rectangle(box: Box, lit: int) -> dict[str, Any]:
    """A box; that of the current step with a heavy frame."""
    color, on, now = COLORS[box.role], box.step <= lit, box.step == lit
    return {
        "type": "rect",
        "x0": box.x - HALF_WIDTH,
        "x1": box.x + HALF_WIDTH,
        "y0": box.y - HALF_HEIGHT,
        "y1": box.y + HALF_HEIGHT,
        "fillcolor": fade(color, 0.34 if now else 0.16) if on else "rgba(0,0,0,0)",
        "line": {
            "color": color if on else fade(COLORS["neutral"], 0.7),
            "width": 3.5 if now else 1.75 if on else 1.25,
            "dash": "solid" if on else "dot",
        },
        "layer": "below",
    }


def _pen(arrow: Arrow, lit: int) -> tuple[str, float]:
    """Colour and width."""
    on = arrow.step <= lit
    return COLORS[arrow.role] if on else fade(COLORS["neutral"], 0.6), 2.5 if on else 1.25


def _along(arrow: Arrow, share: float) -> tuple[float, float]:
    """A place on the last piece of an arrow."""
    (ax, ay), (x, y) = arrow.points[-2:]
    return ax + share * (x - ax), ay + share * (y - ay)


def _line(arrow: Arrow, lit: int) -> dict[str, Any]:
    """The line of an arrow as one path into its last piece; the head is over the end of it."""
    color, width = _pen(arrow, lit)
    points = (*arrow.points[:-1], _along(arrow, 0.5))
    path = " L ".join(f"{at[0]:g},{at[1]:g}" for at in points)
    return {
        "type": "path",
        "path": f"M {path}",
        "line": {"color": color, "width": width},
        "layer": "below",
    }


def _head(arrow: Arrow, lit: int) -> dict[str, Any]:
    color, width = _pen(arrow, lit)
    (ax, ay), (x, y) = _along(arrow, 0.35), arrow.points[-1]
    return {
        "x": x,
        "y": y,
        "ax": ax,
        "ay": ay,
        "xref": "x",
        "yref": "y",
        "axref": "x",
        "ayref": "y",
        "text": "",
        "showarrow": True,
        "arrowhead": 2,
        "arrowsize": 1.1,
        "arrowwidth": width,
        "arrowcolor": color,
    }


def _texts(pipeline: Pipeline, lit: int, ink: str | None, *, on: bool) -> dict[str, Any]:
    """The texts of lit stations (on), bold and full, or those of the others, a little paler."""
    boxes = [box for box in pipeline.boxes if (box.step <= lit) == on]
    texts = ["<br>".join([f"<b>{box.title}</b>" if on else box.title, *box.lines]) for box in boxes]
    arrows = [arrow for arrow in pipeline.arrows if arrow.label and (arrow.step <= lit) == on]
    return {
        "type": "scatter",
        "x": [box.x for box in boxes] + [arrow.points[0][0] + 0.3 for arrow in arrows],
        "y": [box.y for box in boxes] + [arrow.points[0][1] + 0.1 for arrow in arrows],
        "text": texts + [arrow.label for arrow in arrows],
        "mode": "text",
        "textfont": {"size": 12, "color": ink},
        "opacity": 1.0 if on else 0.8,
        "cliponaxis": False,
        "hoverinfo": "skip",
    }
