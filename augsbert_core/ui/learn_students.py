"""Steps 7 and 8 of the Learn page: did silver help, and a domain without gold; tables with intervals."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from augsbert_core import charts
from augsbert_core.learn.answers import outcome, row_of
from augsbert_core.learn.paper import STRATEGIES
from augsbert_core.learn.shown import (
    PAIRED,
    difference_text,
    gap_text,
    hundred,
    interval,
    signed_interval,
)
from augsbert_core.progress import Report
from augsbert_core.steps import learn_recipe as recipe
from augsbert_core.steps.learn_results import BESIDE_FULL
from augsbert_core.ui.learn_figures import seed_spread
from augsbert_core.ui.learn_parts import (
    Found,
    Room,
    found_of,
    judging,
    missing_results,
    predict,
    recompute,
    show_damage,
    show_missing,
    side_by_side,
    what_happened,
    with_part,
)
from augsbert_core.ui.widgets import as_text

OUTCOMES = {
    "better": "helped",
    "worse": "hurt",
    "unclear": "made no clear difference",
    "": "cannot be judged",
}


def student(room: Room) -> None:
    """Step 7: the table with intervals for the small student, the full student, and the labeler gate."""
    show_damage()
    found = with_part(found_of(room), "rows")
    known = judging(found, room.lesson)

    def look(report: Report) -> dict[str, Any]:
        return {"known": {"rows": known[0].values["rows"]}}

    if predict(room, look, missing=missing_results(known)) is None:
        recompute(room)
        return
    if not found:
        show_missing(room)
        seed_spread(room)
        return
    side_by_side(found, _show_students, stacked=True)
    _explain_students(found[0].values["rows"])
    recompute(room)
    seed_spread(room)


GATE_ICONS = {
    "better": ":green[:material/check_circle:]",
    "ahead": ":gray[:material/help:]",
    "not ahead": ":orange[:material/warning:]",
}

GATE_WORDS = {
    "better": "the labeler knows more, so there is something to pass on.",
    "ahead": "the labeler is ahead, though so few pairs leave room for luck: there may be something to pass on.",
    "not ahead": "the labeler is not ahead, so its labels can add little or nothing.",
}


def _gate_says(gate: Mapping[str, Any]) -> str:
    if (gate["difference_low"] or 0) > 0:
        return "better"
    return "ahead" if (gate["difference"] or 0) > 0 else "not ahead"


def gate_sentence(gate: Mapping[str, Any]) -> str:
    """What the labeler gate measured, of the numbers that are shown; "" when it could not compare."""
    if gate["value"] is None or gate["student"] is None:
        return ""
    span = signed_interval(gate["difference_low"], gate["difference_high"])
    told = (
        f"On {gate['n_pairs'] or 'the'} dev pairs the labeler reaches {hundred(gate['value'])} and the student trained on gold alone "
        f"{hundred(gate['student'])}: {gap_text(gate['value'], gate['student'])} points"
        + (f" (95 % interval of the difference {span})" if span else "")
    )
    return f"{told}: {GATE_WORDS[_gate_says(gate)]}"


def _show_students(found: Found) -> None:
    rows = found.values["rows"]
    st.markdown("**The small student: 2 of 6 layers**")
    _table(
        [row for row in rows if row["key"] not in BESIDE_FULL],
        f"small-{found.origin}",
        recipe.STEPS,
    )
    st.markdown("**The full student: all 6 layers, tuned on sentences before**")
    full = [row for row in rows if row["key"] in BESIDE_FULL]
    _table(full, f"full-{found.origin}", recipe.FULL_STEPS)
    gates = found.values.get("gates") or {}
    for key, title in (("gold-small", "small student"), ("gold-full", "full student")):
        if key in gates:
            gate = gates[key]
            icon = GATE_ICONS[_gate_says(gate)]
            told = gate_sentence(gate) or as_text(gate["sentence"] or "")
            st.markdown(f"{icon} **Labeler gate, {title}:** {told}")


NAMES = {
    "untrained-small": "Untrained", "untrained-full": "Untrained", "jaccard": "Word overlap (no model)",
    "gold-small": "Gold only, as many steps", "gold-full": "Gold only, as many steps",
    "student-full": "AugSBERT · BM25", "labeler": "Labeler (cross-encoder)", "labeler-full": "Labeler (cross-encoder)",
    **{f"student-{name}": f"AugSBERT · {title}" for name, title in STRATEGIES.items()},
}  # fmt: skip

ADAPTATION_NAMES = {
    "source only": "Old topics only (lower bound)",
    "adapted": "AugSBERT: silver of the new topics",
    "gold-only, equal steps": "Gold of the new topics",
    "cross-encoder": "Labeler of the old topics",
}


def name_of(row: Mapping[str, Any], *, adaptation: bool = False) -> str:
    """What a row is called in the lesson. adaptation: in that of the new domain, where the origin of a model counts."""
    if adaptation and row["kind"] in ADAPTATION_NAMES:
        return ADAPTATION_NAMES[row["kind"]]
    return str(NAMES.get(row["key"]) or row["name"])


def full_name_of(row: Mapping[str, Any]) -> str:
    """Of a row of step 7 where both students stand in one table: no two are alike."""
    size = "full" if row["key"] in BESIDE_FULL else "small"
    if row["key"] in ("labeler", "labeler-full", "jaccard"):
        return f"{name_of(row)}, beside the {size} student"
    return f"{size.capitalize()} student · {name_of(row)}"


def _table(
    rows: Sequence[Mapping[str, Any]], key: str, steps: int, against: str = "gold only"
) -> None:
    """Dots with intervals, and the same numbers as a table. against: the row that the others are held against."""
    if not rows:
        st.caption("None of these is measured.")
        return
    adaptation = against != "gold only"
    frame = pd.DataFrame([{**row, "name": name_of(row, adaptation=adaptation)} for row in rows])
    twin = next((row for row in rows if row["kind"].startswith("gold-only")), None)
    reference = float(twin["value"]) if twin and not adaptation else None
    st.plotly_chart(
        charts.comparison_figure(frame.assign(comparable=True), "Spearman", reference=reference),
        key=f"learn-table-figure-{key}",
        alt="Spearman × 100 on test with 95 % intervals: "
        + "; ".join(f"{row['name']} {100 * row['value']:.1f}" for row in frame.to_dict("records")),
    )
    shown = pd.DataFrame(
        {
            "Model": frame["name"],
            "Score": 100 * frame["value"].astype(float),
            "Score’s interval": [interval(row["low"], row["high"]) for row in rows],
            "Difference": [difference_text(row, rows) for row in rows],
            "Difference’s interval": [
                signed_interval(row["difference_low"], row["difference_high"]) for row in rows
            ],
            "Gold": frame["n_gold"],
            "Silver": frame["n_silver"],
        }
    )
    st.dataframe(
        shown,
        hide_index=True,
        height=38 + 35 * len(shown),
        key=f"learn-table-{key}",
        column_config={
            "Model": st.column_config.TextColumn(width=190, pinned=True),
            "Score": st.column_config.NumberColumn(
                format="%.1f", width=55, help="Spearman × 100 on the test pairs."
            ),
            "Score’s interval": st.column_config.TextColumn(
                width=105, help="95 % interval of the score by itself."
            ),
            "Difference": st.column_config.TextColumn(
                width=80,
                help=f"Score minus that of {against}, on the same test pairs; trained students took as many steps.",
            ),
            "Difference’s interval": st.column_config.TextColumn(
                width=140, help="95 % interval of the difference on the same test pairs."
            ),
            "Gold": st.column_config.NumberColumn(
                format="localized", width=50, help="Gold training pairs that the model has seen."
            ),
            "Silver": st.column_config.NumberColumn(
                format="localized", width=55, help="Silver pairs that the model has seen."
            ),
        },
        alt="Students with their scores and intervals",
    )
    st.caption(
        f"“Difference” is against {against}. Every trained student took {steps:,} steps, one seed. {PAIRED}"
    )


def _count(n: int | None) -> str:
    return "an unknown number of" if n is None else f"{n:,}"


def _explain_students(rows: Sequence[Mapping[str, Any]]) -> None:
    small, full = row_of(rows, "student-bm25"), row_of(rows, "student-full")
    if small is None or full is None:
        return
    texts = []
    for title, row in (("small", small), ("full", full)):
        texts.append(
            f"BM25 silver **{OUTCOMES[outcome(row)]}** for the {title} student: {difference_text(row, rows)} points "
            f"({signed_interval(row['difference_low'], row['difference_high'])}) against gold alone with as many steps."
        )
    texts.append(
        "A labeler that is no better than its student hands on its own mistakes. That is why the workbench asks the "
        "labeler gate before anything is labelled."
    )
    what_happened(*texts)


def adaptation(room: Room) -> None:
    """Step 8: silver of a new domain by the labeler of an old one, between both bounds."""
    show_damage("adaptation")
    found = with_part(found_of(room, "adaptation"), "rows")
    known = judging(found, room.lesson)

    def look(report: Report) -> dict[str, Any]:
        return {"known": {"rows": known[0].values["rows"]}}

    if predict(room, look, missing=missing_results(known)) is None:
        recompute(room, "adaptation")
        return
    if not found:
        show_missing(room, "adaptation")
        return
    side_by_side(found, _show_adaptation, stacked=True)
    rows = found[0].values["rows"]
    ours = next((row for row in rows if row["kind"] == "adapted"), None)
    source = next((row for row in rows if row["kind"] == "source only"), None)
    upper = next((row for row in rows if row["kind"].startswith("gold-only")), None)
    if ours is not None and source is not None:
        texts = [
            f"Silver from the old topics’ labeler **{OUTCOMES[outcome(ours)]}** on the new ones: "
            f"{difference_text(ours, rows)} points "
            f"({signed_interval(ours['difference_low'], ours['difference_high'])}) against the student that only knows the "
            f"old topics ({100 * source['value']:.1f}). Not a single score from the new topics was used; "
            f"{_count(ours['n_silver'])} BM25 pairs of their sentences were labelled."
        ]
        if upper is not None:
            low = upper["value"] < ours["value"]
            texts.append(
                f"Gold of the new topics, {_count(upper['n_gold'])} pairs, gives {100 * upper['value']:.1f}"
                + (
                    f": less than silver does. So few pairs make a poor “upper bound”; the old topics have "
                    f"{_count(source['n_gold'])}."
                    if low
                    else ": what silver alone cannot reach."
                )
            )
        what_happened(*texts)
    recompute(room, "adaptation")


def _show_adaptation(found: Found) -> None:
    rows = [row for row in found.values["rows"] if row["value"] is not None]
    _table(rows, f"adaptation-{found.origin}", recipe.ADAPTATION_STEPS, "old topics only")
