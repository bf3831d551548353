"""Numbers as the guided demo shows them: whoever subtracts what is on the page finds the difference that is on the page."""

from collections.abc import Mapping, Sequence
from typing import Any

PAIRED = (
    "Bars: 95 % interval of each score by itself. The interval beside a difference is another one: both models are scored "
    "on the **same test pairs**, so pairs that happen to be hard pull both down, and that luck cancels. It is therefore "
    "narrower: two scores’ intervals may overlap although their difference is clear."
)
"""Below every figure of scores with differences beside it."""


def hundred(value: float) -> str:
    """A score up to 1 as it is shown: × 100, one decimal."""
    return f"{100 * value:.1f}"


def gap(value: float, other: float) -> float:
    """value − other in points, of both as they are shown."""
    return round(float(hundred(value)) - float(hundred(other)), 1) + 0.0


def signed(points: float) -> str:
    """Points with their sign: "+3.5", "−0.2"."""
    return f"{points:+.1f}".replace("-", "−")


def gap_text(value: float, other: float) -> str:
    """`gap` with its sign."""
    return signed(gap(value, other))


def interval(low: float | None, high: float | None) -> str:
    """Both ends of a score's interval, × 100; "" when it is not known."""
    return "" if low is None or high is None else f"{hundred(low)} to {hundred(high)}"


def signed_interval(low: float | None, high: float | None) -> str:
    """Both ends of a difference's interval in points; "" when it is not known."""
    return "" if low is None or high is None else f"{signed(100 * low)} to {signed(100 * high)}"


def difference_of(row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> float | None:
    """A row's difference to its reference in points, of the numbers shown; None when it has none.

    A reference that is not among the rows is not shown: then the difference itself is rounded.
    """
    if row["difference"] is None:
        return None
    theirs = next((one for one in rows if one["name"] == row.get("reference")), None)
    if theirs is None or theirs["value"] is None:
        return round(100 * row["difference"], 1) + 0.0
    return gap(row["value"], theirs["value"])


def difference_text(row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """`difference_of` with its sign; "" without one."""
    points = difference_of(row, rows)
    return "" if points is None else signed(points)
