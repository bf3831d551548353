"""The right answers of the guided demo, computed from results as plain numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

from augsbert_core.learn.shown import gap

BELOW = 0.2
"""The question of the five samplers asks for pairs with less than this share of the scale."""

TIMES = {"10": 30, "100": 300, "1000": 3000}
"""Choice → up to how many times it goes; what is more falls under the last one."""


def slower(times: float) -> str:
    """The choice that a number of times falls under, rounded as it is shown: "10", "100", "1000", "10000"."""
    shown = round(times)
    if shown < TIMES["10"]:
        return "10"
    return next((key for key, most in TIMES.items() if key != "10" and shown <= most), "10000")


def thirds(scores: Sequence[float]) -> dict[str, int]:
    """How many scores in [0, 1] lie in the lowest, the middle and the highest third."""
    counts = {"low": 0, "middle": 0, "high": 0}
    for score in scores:
        counts["low" if score < 1 / 3 else "middle" if score < 2 / 3 else "high"] += 1
    return counts


def largest(values: Mapping[str, float | None]) -> str:
    """The key of the largest value; "" when none is known."""
    known = {key: value for key, value in values.items() if value is not None}
    return max(known, key=lambda key: known[key]) if known else ""


def smallest(values: Mapping[str, float | None]) -> str:
    """The key of the smallest value; "" when none is known."""
    return largest({key: None if value is None else -value for key, value in values.items()})


def lead(labeler: float, untrained: float) -> str:
    """How far the labeler is above the untrained model, in words of the question; both are scores up to 1."""
    points = gap(labeler, untrained)
    return "worse" if points <= 2 else "some" if points <= 10 else "much"


def share_choice(share: float) -> str:
    """The choice that a share from 0 to 1 falls under."""
    return next((key for key in ("10", "30", "50") if 100 * share < int(key)), "100")


def share_below(counts: Sequence[int], limit: float) -> float:
    """The share of pairs whose score is below a limit, from counts in equal bins of [0, 1]."""
    total = sum(counts)
    edge = limit * len(counts)
    below = sum(count for place, count in enumerate(counts) if place + 1 <= edge + 1e-9)
    return below / total if total else 0.0


def outcome(row: Mapping[str, Any] | None) -> str:
    """What a row of the compare table says about silver: "better", "worse", "unclear"; "" without a difference."""
    if row is None or row.get("difference_low") is None or row.get("difference_high") is None:
        return ""
    return (
        "better"
        if row["difference_low"] > 0
        else "worse"
        if row["difference_high"] < 0
        else "unclear"
    )


def who_is_helped(small: Mapping[str, Any] | None, full: Mapping[str, Any] | None) -> str:
    """For which student silver helps by more than the interval; "" unless both are known."""
    outcomes = outcome(small), outcome(full)
    if not all(outcomes):
        return ""
    helped = (outcomes[0] == "better", outcomes[1] == "better")
    return {
        (True, True): "both", (True, False): "small", (False, True): "full", (False, False): "neither",
    }[helped]  # fmt: skip


def row_of(rows: Sequence[Mapping[str, Any]], key: str) -> Mapping[str, Any] | None:
    """The row of the shipped or live table that has this key."""
    return next((row for row in rows if row["key"] == key), None)


def right_answer(lesson: str, found: Mapping[str, Any]) -> str:
    """The right choice of a lesson from what was found; "" where that does not say.

    found: "times" (how many times slower), "gold" (scores), "rows" of the compare table with "key", and
    "strategies" (name → bins, distance), as far as the lesson needs them.
    """
    strategies, rows = found.get("strategies") or {}, found.get("rows") or []
    if lesson == "encoders" and found.get("times"):
        return slower(found["times"])
    if lesson == "gold" and len(found.get("gold", ())):
        return largest({key: float(n) for key, n in thirds(found["gold"]).items()})
    if lesson == "labeler":
        labeler, untrained = row_of(rows, "labeler"), row_of(rows, "untrained-small")
        if labeler and untrained:
            return lead(labeler["value"], untrained["value"])
    if lesson == "sampling":
        return largest({name: share_below(one["bins"], BELOW) for name, one in strategies.items()})
    if lesson == "labelling" and "bm25" in strategies:
        return share_choice(1 - share_below(strategies["bm25"]["bins"], 0.5))
    if lesson == "density":
        return smallest({name: one.get("distance") for name, one in strategies.items()})
    if lesson == "student":
        return who_is_helped(row_of(rows, "student-bm25"), row_of(rows, "student-full"))
    if lesson == "adaptation":
        return outcome(next((row for row in rows if row["kind"] == "adapted"), None))
    return ""
