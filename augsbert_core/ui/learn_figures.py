"""The two figures of what training depends on: the number of gold pairs in step 3, the seed in step 7."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from augsbert_core.charts import idea_curves
from augsbert_core.learn import figure_words as words
from augsbert_core.learn.answers import row_of
from augsbert_core.learn.paper import BESIDE_FIGURE, FIGURES
from augsbert_core.learn.shown import PAIRED, difference_of, hundred, signed_interval
from augsbert_core.steps import learn_recipe as recipe
from augsbert_core.ui.learn_parts import (
    Found,
    Room,
    fact_text,
    found_of,
    recompute,
    show_damage,
    side_by_side,
    what_happened,
    with_part,
)

LINES = {
    "labeler": "Cross-encoder · labeler",
    "gold": "Gold-only · small student",
    "silver": "AugSBERT · small student",
}
"""Series → its name in the figure; what comes before the dot gives the colour."""

STOP = 0.2
"""The share of the steps after which the paper chooses among its seeds."""


def training_size(room: Room) -> None:
    """Fig. 1: scores against the number of gold pairs, with the models and the size to choose."""
    with st.container(border=True, key="learn-figure-curve"):
        _training_size(room)


def _training_size(room: Room) -> None:
    found = with_part(found_of(room, "curve"), "points")
    st.markdown(":material/show_chart: **How much gold does each of them need?**")
    show_damage("curve")
    if not found:
        st.caption("There are no precomputed results for this figure: have it computed here.")
        recompute(room, "curve")
        return
    sizes = words.sizes_of(found[0].values["points"])
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    shown = left.pills(
        "Models", list(LINES), selection_mode="multi", default=list(LINES), format_func=LINES.__getitem__,
        key="learn-curve-models", help="Whose scores are drawn; the AugSBERT student also learns from the labeler’s silver pairs.",
    )  # fmt: skip
    size = right.select_slider(
        "Gold pairs", sizes, value=sizes[0], key="learn-curve-size",
        help="The numbers below are those of training on this many gold pairs.",
    )  # fmt: skip
    bars = st.toggle(
        "95 % intervals", value=True, key="learn-curve-bars",
        help="Between which scores each model lies when the test pairs are drawn anew; the bars of all models overlap.",
    )  # fmt: skip
    side_by_side(found, lambda one: _show_curve(one, shown, size, bars), stacked=True)
    _explain_curve(found[-1])
    _paper("labeler")
    recompute(room, "curve")


def _show_curve(found: Found, shown: Sequence[str], size: int, bars: bool) -> None:
    points = found.values["points"]
    cells = st.columns(len(LINES))
    for cell, (series, name) in zip(cells, LINES.items(), strict=True):
        point = words.line_of(points, series).get(size)
        if point is None:
            continue
        more = words.point_gap(points, point)
        cell.metric(
            name,
            hundred(point["value"]),
            # A metric knows the direction by this minus alone.
            f"{more.replace('−', '-')} against gold only" if more else None,
            delta_color="off",
            help=f"Spearman × 100 on {found.values['n_test']} test pairs after training on {size:,} gold pairs"
            + (f"; 95 % interval of the difference {_range(point)}." if more else "."),
        )
    frame = curve_frame(found.values, shown)
    if frame.empty:
        st.caption("Choose a model above to see its line.")
        return
    drawn = frame if bars else frame.assign(low=None, high=None)
    figure = idea_curves.learning_curve_figure(drawn, title="Spearman × 100 on test")
    most = int(frame["n_gold"].max())
    st.plotly_chart(
        figure.update_xaxes(range=[-0.03 * most, 1.04 * most]),
        key=f"learn-curve-{found.origin}",
        alt=idea_curves.learning_curve_description(frame),
    )
    st.caption(
        f"Parts of the gold training pairs drawn with seed {found.made['seed']}, one run per point; students take "
        f"{recipe.CURVE_STEPS} steps at every size. At 0 gold pairs: the untrained student, and the labeler after its warm "
        f"start. {PAIRED}"
    )


def curve_frame(values: Mapping[str, Any], shown: Sequence[str]) -> pd.DataFrame:
    """The points of the figure; labeler and gold-only student also before any gold."""
    starts = {"labeler": values.get("warm"), "gold": values.get("untrained")}
    rows = [
        {"series": series, "n_gold": 0, **start} for series, start in starts.items() if start
    ] + list(values["points"])
    return pd.DataFrame(
        [
            {"series": LINES[row["series"]], **{name: row[name] for name in ("n_gold", "value", "low", "high")}}
            for row in rows
            if row["series"] in shown
        ],
        columns=["series", "n_gold", "value", "low", "high"],
    )  # fmt: skip


def _explain_curve(found: Found) -> None:
    points = found.values["points"]
    first = " ".join(
        text for text in (words.more_gold_sentence(points), words.needs_less_sentence(points)) if text
    )  # fmt: skip
    st.markdown(first)
    told = [
        words.lead_sentence(points, "labeler"),
        words.before_gold_sentence(found.values),
        words.lead_sentence(points, "silver"),
        f"One run per point and {found.values['n_test']} test pairs: a single point may well lie some points too high or "
        "too low, the course of the lines says more.",
    ]
    what_happened(*(text for text in told if text))


def seed_spread(room: Room) -> None:
    """Fig. 6: one student with several seeds, how many of them and when to choose among them."""
    with st.container(border=True, key="learn-figure-seeds"):
        _seed_spread(room)


def _seed_spread(room: Room) -> None:
    found = with_part(found_of(room, "seeds"), "dev")
    st.markdown(":material/casino: **The same training, other seeds: how much is luck?**")
    show_damage("seeds")
    if not found:
        st.caption("There are no precomputed results for this figure: have it computed here.")
        recompute(room, "seeds")
        return
    n_seeds = len(found[0].values["seeds"])
    fractions = found[0].values["fractions"]
    left, right = st.columns(2)
    many = left.select_slider(
        "Seeds", list(range(1, n_seeds + 1)), value=n_seeds, key="learn-seeds-many",
        help="So many of the trained seeds are shown, in order; with one there is no spread to see.",
    )  # fmt: skip
    stop = right.select_slider(
        "Choose after", fractions[:-1], format_func=lambda share: f"{share:.0%}",
        value=min(fractions[:-1], key=lambda share: abs(share - STOP)), key="learn-seeds-stop",
        help="Seed optimisation goes on with the seed that is best on dev at this share of the steps; the paper takes 20 %.",
    )  # fmt: skip
    side_by_side(found, lambda one: _show_seeds(one, many, stop), stacked=True)
    _explain_seeds(room, found[-1], many, stop)
    _paper("student")
    recompute(room, "seeds")


def _show_seeds(found: Found, many: int, stop: float) -> None:
    values = found.values
    seeds, dev = values["seeds"][:many], values["dev"][:many]
    ends = [100 * row[-1] for row in dev]
    tested = [100 * value for value in values["test"][:many] if value is not None]
    cells = st.columns(3)
    cells[0].metric("Seeds", len(dev), help="Trainings that differ in the seed alone.")
    cells[1].metric(
        "Dev at the end", _span(ends), help="Spearman × 100 on dev of the worst and the best seed."
    )
    if tested:
        cells[2].metric(
            "Test", _span(tested), help="Spearman × 100 on test of the worst and the best seed."
        )
    st.plotly_chart(
        idea_curves.seed_spread_figure(dev, values["fractions"], stop, seeds),
        key=f"learn-seeds-{found.origin}",
        alt=idea_curves.seed_spread_description(dev, values["fractions"], stop, seeds),
    )
    st.caption(
        f"The small student on {values['n_gold']:,} gold pairs, {values['n_steps']:,} steps, "
        f"{'seed' if many == 1 else 'seeds'} {seeds[0]}{'' if many == 1 else f' to {seeds[-1]}'}. On test each seed is "
        "measured with its best checkpoint on dev."
    )


def _explain_seeds(room: Room, found: Found, many: int, stop: float) -> None:
    values = found.values
    dev = values["dev"][:many]
    if many < 2:
        st.markdown(
            f"One seed: {100 * dev[0][-1]:.1f} on dev, and nothing to hold it against. Move “Seeds” to see what "
            "might have come out."
        )
        return
    st.markdown(words.ends_sentence(dev))
    silver = with_part(found_of(room), "rows")
    row = row_of(silver[0].values["rows"], "student-bm25") if silver else None
    told = [
        words.choice_sentence(dev, values["fractions"], stop, values["seeds"]),
        words.anecdote_sentence(
            values["test"][:many], difference_of(row, silver[0].values["rows"]) if row else None
        ),
        "The same weights, the same pairs, the same steps: the seed only orders the pairs and draws the dropout. That is "
        "enough to move a score measured on few pairs.",
    ]
    what_happened(*(text for text in told if text))


def _span(values: Sequence[float]) -> str:
    low, high = f"{min(values):.1f}", f"{max(values):.1f}"
    return low if low == high else f"{low} – {high}"


def _range(point: Mapping[str, Any]) -> str:
    return signed_interval(point.get("difference_low"), point.get("difference_high")) or "not known"


def _paper(lesson: str) -> None:
    fact = FIGURES[BESIDE_FIGURE[lesson]]
    st.markdown(f":material/menu_book: **The paper:** {fact_text(fact)}")
