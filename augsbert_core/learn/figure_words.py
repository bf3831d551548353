"""What the two figures of the guided demo show, in sentences made from their numbers alone."""

from collections.abc import Mapping, Sequence
from typing import Any

from augsbert_core.learn.shown import gap, gap_text, hundred, signed

Points = Sequence[Mapping[str, Any]]

SERIES = {
    "labeler": "labeler",
    "gold": "student on gold",
    "silver": "student on gold + silver",
}
"""The models of the figure of training size, by the key of their points."""

CLEAR = 0.5
"""Points below which a change is not called one."""


def sizes_of(points: Points) -> list[int]:
    """The numbers of gold pairs, growing."""
    return sorted({int(point["n_gold"]) for point in points})


def line_of(points: Points, series: str) -> dict[int, Mapping[str, Any]]:
    """The points of one series by number of gold pairs, growing."""
    ours = [point for point in points if point["series"] == series]
    return {
        int(point["n_gold"]): point for point in sorted(ours, key=lambda point: point["n_gold"])
    }


def more_gold_sentence(points: Points) -> str:
    """What more gold does for labeler and student, from the fewest pairs to all of them; "" with fewer than two sizes."""
    parts = []
    for series in ("labeler", "gold"):
        line = list(line_of(points, series).values())
        if len(line) < 2:
            return ""
        first, last = line[0], line[-1]
        gained = gap(last["value"], first["value"])
        word = "gains" if gained > CLEAR else "loses" if gained < -CLEAR else "hardly moves:"
        parts.append(
            f"the {SERIES[series]} {word} {signed(gained)} points ({_hundred(first)} → {_hundred(last)})"
        )
    sizes = sizes_of(points)
    return f"From {sizes[0]:,} to {sizes[-1]:,} gold pairs {parts[0]}, {parts[1]}."


def needs_less_sentence(points: Points) -> str:
    """With how many pairs the labeler is as good as the student with all; "" when either is missing."""
    labeler, student = line_of(points, "labeler"), line_of(points, "gold")
    if not labeler or not student:
        return ""
    most, best = list(student.items())[-1]
    enough = next((n for n, point in labeler.items() if point["value"] >= best["value"]), None)
    if enough is None:
        return (
            f"At no size does the labeler reach what the student has with all {most:,} ({_hundred(best)}): here it "
            "does not need less data, as the paper says of its cross-encoder."
        )
    if enough >= most:
        return f"The labeler too needs all {most:,} pairs to reach what the student has with them ({_hundred(best)})."
    return (
        f"With {enough:,} pairs the labeler is as good as the student is with all {most:,} ({_hundred(labeler[enough])} "
        f"and {_hundred(best)}): it needs less gold, as in the paper. The two are not equals, though: the labeler has all "
        "6 layers and a warm start, the student 2 layers and none."
    )


def lead_sentence(points: Points, series: str) -> str:
    """At how many sizes a series is ahead of the student on gold, and at how many beyond the interval; "" without any."""
    line = [point for point in line_of(points, series).values() if "difference" in point]
    if not line:
        return ""
    ahead = [point for point in line if point["difference"] > 0]
    sure = [point for point in line if (point["difference_low"] or 0) > 0]
    behind = [point for point in line if (point["difference_high"] or 0) < 0]
    more = f"with a 95 % interval of the difference above 0 at {_at(sure)}"
    if behind:
        more += f", clearly behind at {_at(behind)}"
    return f"The {SERIES[series]} is ahead of the student on gold alone at {len(ahead)} of {len(line)} sizes, {more}."


def before_gold_sentence(found: Mapping[str, Any]) -> str:
    """Where both models begin without gold; "" when it was not measured."""
    warm, untrained = found.get("warm"), found.get("untrained")
    if not warm or not untrained:
        return ""
    return (
        f"The labeler does not begin at nothing: warmed up on the base model’s own cosines it stands at {_hundred(warm)} "
        f"before it sees gold, the untrained small student at {_hundred(untrained)}. The paper’s cross-encoder had no "
        "such start."
    )


def ends_sentence(dev: Sequence[Sequence[float]]) -> str:
    """How far seeds lie apart on dev at the end. dev: one row per seed, two rows or more."""
    ends = [row[-1] for row in dev]
    return (
        f"These {len(ends)} seeds end between {hundred(min(ends))} and {hundred(max(ends))} on dev, "
        f"**{gap(max(ends), min(ends)):.1f} points** apart, though nothing but chance differs."
    )


def choice_sentence(
    dev: Sequence[Sequence[float]], fractions: Sequence[float], stop: float, seeds: Sequence[int]
) -> str:
    """What going on with the seed that is best at `stop` would cost at the end."""
    place = min(range(len(fractions)), key=lambda at: abs(fractions[at] - stop))
    chosen = max(range(len(dev)), key=lambda row: dev[row][place])
    best = max(range(len(dev)), key=lambda row: dev[row][-1])
    mean = sum(row[-1] for row in dev) / len(dev)
    won = 100 * (dev[chosen][-1] - mean)
    begun = f"After {100 * fractions[place]:.0f} % of the steps seed {seeds[chosen]} is best."
    if chosen == best:
        return (
            f"{begun} It is the best at the end, too: {signed(won)} points against the mean seed."
        )
    cost = 100 * (dev[best][-1] - dev[chosen][-1])
    return (
        f"{begun} At the end seed {seeds[best]} is, by {cost:.1f} points; against the mean seed the early choice is "
        f"worth {signed(won)}."
    )


def anecdote_sentence(test: Sequence[float | None], points: float | None) -> str:
    """How the spread on test compares with what silver was found to add. points: the difference as it is shown."""
    known = [value for value in test if value is not None]
    if len(known) < 2:
        return ""
    low, high = min(known), max(known)
    wide = gap(high, low)
    told = f"On test they lie between {hundred(low)} and {hundred(high)}, {wide:.1f} points apart."
    if points is None:
        return told
    if abs(points) > wide:
        return (
            f"{told} BM25 silver changed the small student by {signed(points)}: more than all these seeds differ, so luck "
            "with the seed alone does not explain it. Yet it was one seed."
        )
    return (
        f"{told} BM25 silver changed the small student by {signed(points)}: no more than two seeds may differ, so one run "
        "of each is an anecdote."
    )


def point_gap(points: Points, point: Mapping[str, Any]) -> str:
    """How far a point lies from gold alone of its size, of the numbers shown: "+3.1"; "" when it is not held against it."""
    theirs = line_of(points, "gold").get(int(point["n_gold"]))
    if "difference" not in point or theirs is None:
        return ""
    return gap_text(point["value"], theirs["value"])


def _hundred(point: Mapping[str, Any]) -> str:
    return hundred(point["value"])


def _at(points: Points) -> str:
    if not points:
        return "none of them"
    return ", ".join(f"{int(point['n_gold']):,}" for point in points) + " pairs"
