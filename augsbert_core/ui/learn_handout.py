"""The facts of a hand-out, gathered from a session's answers and the numbers it saw."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from augsbert_core.learn import paper
from augsbert_core.learn.answers import BELOW, share_below
from augsbert_core.learn.figure_words import SERIES, point_gap
from augsbert_core.learn.handout import HandoutFacts, LessonFacts
from augsbert_core.learn.lessons import LESSONS, Lesson
from augsbert_core.learn.paper import STRATEGIES
from augsbert_core.learn.shown import PAIRED, difference_text, hundred, interval, signed_interval
from augsbert_core.steps import learn
from augsbert_core.steps import learn_results as results
from augsbert_core.steps.learn_results import BESIDE_FULL
from augsbert_core.storage.lessons import LessonProgress
from augsbert_core.ui.learn_parts import seconds_text, shipped_or_none
from augsbert_core.ui.learn_students import full_name_of, name_of

FIGURE_OF = {"labeler": "curve", "student": "seeds"}
"""Lesson → the results of its figure."""


UNTRAINED = {
    "untrained-small": "Untrained small student (2 of 6 layers)",
    "untrained-full": "Untrained full student (all 6 layers)",
}


def handout_facts(
    person: str, progress: Mapping[str, LessonProgress], now: datetime
) -> HandoutFacts:
    """One entry per lesson, with results only where they were revealed."""
    shipped = {name: shipped_or_none(name) or {} for name in results.RESULTS}
    return HandoutFacts(
        title="Augmented SBERT, step by step",
        person=person,
        date=f"{now:%d %B %Y}",
        lessons=tuple(_lesson(lesson, progress.get(lesson.key), shipped) for lesson in LESSONS),
        footer="Made with the AugSBERT Workbench on its bundled sample.",
    )


def _lesson(
    lesson: Lesson, given: LessonProgress | None, shipped: Mapping[str, dict[str, Any]]
) -> LessonFacts:
    notes = " ".join(lesson.notes)
    if misprints := paper.misprints_for(lesson.key):
        notes += " Misprints: " + " ".join(
            f"{one.text} ({one.source}.) {one.note}" for one in misprints
        )
    if given is None:
        return LessonFacts(lesson.title, " ".join(lesson.idea), lesson.question, teacher_note=notes)
    right = str(given.details.get("right", ""))
    rows, note = _rows(lesson.key, given.details, shipped)
    return LessonFacts(
        title=lesson.title,
        idea=" ".join(lesson.idea),
        question=lesson.question,
        answer=lesson.choices.get(given.answer, ""),
        right=given.answer == right if given.answer and right else None,
        correct=lesson.choices.get(right, ""),
        rows=tuple(rows),
        rows_note=note,
        paper=tuple(paper.facts_for(lesson.key)),
        teacher_note=notes,
    )


def _rows(
    key: str, details: Mapping[str, Any], shipped: Mapping[str, dict[str, Any]]
) -> tuple[list[tuple[str, str]], str]:
    """What was seen, as texts, and where it is from."""
    loop = shipped["loop"]
    made = f"Precomputed with the demo's recipe on {loop['made']['date']}." if loop else ""
    strategies = loop.get("strategies") or {}
    if key == "encoders" and "times" in details:
        times = learn.Times(**details["times"])
        return [
            ("Bi-encoder, all pairs of 10,000 sentences", seconds_text(times.all_bi)),
            ("Cross-encoder, all pairs of 10,000 sentences", seconds_text(times.all_cross)),
            ("Cross-encoder against bi-encoder", f"{times.times:,.0f} times as long"),
        ], "Measured in this session; the cross-encoder's time is extrapolated."
    if key == "gold" and "thirds" in details:
        counts = details["thirds"]
        names = {"low": "lowest", "middle": "middle", "high": "highest"}
        return [
            (f"Gold pairs in the {names[one]} third", str(n)) for one, n in counts.items()
        ], "Counted in this session."
    if key == "sampling":
        return [
            (f"{STRATEGIES[name]}: scored below 1 of 5", f"{share_below(one['bins'], BELOW):.0%}")
            for name, one in strategies.items()
        ], made
    if key == "labelling" and details.get("judged"):
        return [
            (
                f"{pair['sentence1']} / {pair['sentence2']}",
                f"you {5 * pair['mine']:.1f}, labeler {5 * pair['score']:.1f}"
                if pair["mine"] is not None
                else f"not scored by you, labeler {5 * pair['score']:.1f}",
            )
            for pair in details["judged"]
        ], "Your scores from this session, on the scale from 0 to 5."
    if key == "density":
        return [
            (f"{STRATEGIES[name]}: distance to gold", f"{5 * one['distance']:.2f} of 5 points")
            for name, one in strategies.items()
            if one.get("distance") is not None
        ], made
    if key in ("labeler", "student", "adaptation"):
        source = shipped["adaptation"] if key == "adaptation" else loop
        wanted = ("labeler", "untrained-small", "untrained-full") if key == "labeler" else None
        rows = [
            (_row_name(key, row), _row_value(row, source["rows"], key))
            for row in sorted(source.get("rows") or [], key=lambda row: row["key"] in BESIDE_FULL)
            if (wanted is None or row["key"] in wanted) and row["low"] is not None
        ] + _figure_rows(key, shipped)
        # The table's file may be missing, and the figure's be there.
        figure = shipped.get(FIGURE_OF.get(key, ""), {})
        made_of = source.get("made") or figure.get("made") or {}
        date = made_of["date"] if rows else ""
        return (
            rows,
            f"Spearman × 100 on test with 95 % intervals; precomputed on {date}. {_WHY_NARROW}"
            if rows
            else "",
        )
    return [], ""


_WHY_NARROW = PAIRED.replace("Bars", "In brackets after a score").replace("**", "")


def _row_name(lesson: str, row: Mapping[str, Any]) -> str:
    if lesson == "adaptation":
        return name_of(row, adaptation=True)
    return full_name_of(row) if lesson == "student" else UNTRAINED.get(row["key"], name_of(row))


def _row_value(row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], lesson: str) -> str:
    """The score with its interval and, where it is held against another row of the lesson, the difference with its own."""
    told = f"{hundred(row['value'])} ({interval(row['low'], row['high'])})"
    points, span = (
        difference_text(row, rows),
        signed_interval(row["difference_low"], row["difference_high"]),
    )
    if lesson == "labeler" or not points or not span:
        return told
    against = "the student of the old topics" if lesson == "adaptation" else "gold only"
    return f"{told}; {points} ({span}) against {against}"


def _figure_rows(key: str, shipped: Mapping[str, dict[str, Any]]) -> list[tuple[str, str]]:
    """The numbers of the figure that the lesson has besides, if it has one."""
    points, seeds = shipped["curve"].get("points") or [], shipped["seeds"]
    if key == "labeler":
        return [
            (
                f"With {point['n_gold']:,} gold pairs: {SERIES[point['series']]}",
                hundred(point["value"]) + _point_more(points, point),
            )
            for point in points
        ]
    if key == "student" and seeds.get("dev"):
        ends = [100 * row[-1] for row in seeds["dev"]]
        told = f"{len(ends)} seeds of the small student on gold, dev at the end"
        return [(told, f"{min(ends):.1f} to {max(ends):.1f}")]
    return []


def _point_more(points: Sequence[Mapping[str, Any]], point: Mapping[str, Any]) -> str:
    more = point_gap(points, point)
    span = signed_interval(point.get("difference_low"), point.get("difference_high"))
    return f"; {more} ({span}) against gold alone" if more and span else ""
