"""The scores of one pair on the scale of the project: a line with dots, and what each dot is."""

import html
from collections.abc import Sequence
from dataclasses import dataclass

from augsbert_core.charts.look import COLORS
from augsbert_core.pairs import ScoreRange

TICKS = 5
"""The scale is divided in so many parts."""


@dataclass(frozen=True)
class Mark:
    """A score in [0, 1] on the strip. label: what it is, "" for marks that are explained with another.

    is_tick: a thin stroke instead of a dot, for scores of other pairs.
    """

    label: str
    score: float
    role: str
    is_tick: bool = False


ROLES = {
    "labeler": COLORS["silver"],
    "student": COLORS["silver2"],
    "correction": COLORS["silver3"],
    "gold": COLORS["gold"],
}
"""Who says so → its colour."""


def strip_html(scale: ScoreRange, marks: Sequence[Mark]) -> str:
    """The strip as HTML; labels are escaped. Dots that come later lie on top."""
    spoken = ", ".join(_words(scale, mark) for mark in marks if mark.label)
    legend = "".join(
        f'<span style="display:inline-flex;align-items:center;gap:0.4rem">{_sample(mark)}'
        f"<span>{html.escape(_words(scale, mark))}</span></span>"
        for mark in marks
        if mark.label
    )
    ticks = "".join(_tick(scale, part / TICKS) for part in range(TICKS + 1))
    # Ticks first: the pair's own scores lie over those of others.
    ordered = sorted(marks, key=lambda mark: not mark.is_tick)
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:0.2rem 1.2rem;font-size:0.9rem">'
        f'{legend}</div><div role="img" aria-label="{html.escape(spoken)}" '
        'style="position:relative;height:46px;margin:0 10px">'
        '<div style="position:absolute;left:0;right:0;top:15px;height:3px;border-radius:2px;'
        'background:color-mix(in srgb, currentColor 22%, transparent)"></div>'
        f"{ticks}{''.join(_dot(mark) for mark in ordered)}</div>"
    )


def _words(scale: ScoreRange, mark: Mark) -> str:
    return mark.label if mark.is_tick else f"{mark.label} {scale.to_raw(mark.score):.2f}"


def _sample(mark: Mark) -> str:
    color = ROLES[mark.role]
    shape = (
        "width:4px;height:14px;border-radius:1px"
        if mark.is_tick
        else "width:11px;height:11px;border-radius:50%"
    )
    return f'<span style="{shape};background:{color};flex:none"></span>'


def _tick(scale: ScoreRange, place: float) -> str:
    return (
        f'<div style="position:absolute;left:{100 * place:.2f}%;top:27px;transform:translateX(-50%);'
        f'font-size:0.75rem;opacity:0.7">{scale.to_raw(place):g}</div>'
    )


def _dot(mark: Mark) -> str:
    color, left = ROLES[mark.role], 100 * min(max(mark.score, 0.0), 1.0)
    shape = (
        "top:7px;width:4px;height:19px;border-radius:1px;opacity:0.85"
        if mark.is_tick
        else "top:9px;width:15px;height:15px;border-radius:50%;"
        "box-shadow:0 0 0 2px color-mix(in srgb, currentColor 12%, transparent)"
    )
    return (
        f'<div style="position:absolute;left:{left:.2f}%;transform:translateX(-50%);{shape};'
        f'background:{color}"></div>'
    )
