"""Steps 5 and 6 of the Learn page: labelling, and whether silver looks like gold."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from augsbert_core import charts
from augsbert_core import density as densities
from augsbert_core.charts import ideas
from augsbert_core.learn.answers import share_below
from augsbert_core.learn.paper import STRATEGIES
from augsbert_core.options import KeepOptions
from augsbert_core.progress import Report
from augsbert_core.sampling import kde
from augsbert_core.steps import learn_recipe as recipe
from augsbert_core.steps.spreads import GRID, Spread, bin_centres, gold_spread, spread
from augsbert_core.storage import gold
from augsbert_core.ui.learn_parts import (
    Found,
    Room,
    found_of,
    missing_results,
    predict,
    recompute,
    show_damage,
    show_missing,
    side_by_side,
    what_happened,
    with_part,
)
from augsbert_core.ui.widgets import as_text, score_text

SETTINGS = KeepOptions(0)
UNSCORED = "not scored"

HUES = {
    "random": charts.COLORS["neutral"],
    "kde": charts.COLORS["silver2"],
    "bm25": charts.COLORS["silver"],
    "semantic": charts.COLORS["silver3"],
    "bm25+semantic": charts.COLORS["silver3"],
}
"""The union has the colour of semantic search, dashed."""


def labelling(room: Room) -> None:
    """Step 5: score pairs oneself, then see the labeler's scores of them and of all BM25 pairs."""
    show_damage()
    found = with_part(with_part(found_of(room), "judged"), "strategies")
    known = [one for one in found if "bm25" in one.values["strategies"]]
    if room.revealed is None and known:
        _judge(room, known[0].values["judged"])

    def look(report: Report) -> dict[str, Any]:
        values = known[0].values
        mine = [
            {
                **pair,
                "mine": _scored(room, place),
            }
            for place, pair in enumerate(_three(values["judged"]))
        ]
        return {"known": {"strategies": values["strategies"]}, "judged": mine}

    answered = predict(
        room, look, action="Compare with the labeler", missing=missing_results(known)
    )
    if answered is None:
        recompute(room)
        return
    mine = answered.details.get("judged") or []
    if mine:
        _compare_scores(room, mine)
    if not known:
        show_missing(room)
        return
    side_by_side(known, lambda one: _show_silver(room, one))
    bins = known[0].values["strategies"]["bm25"]["bins"]
    gaps = [abs(pair["mine"] - pair["score"]) for pair in mine if pair["mine"] is not None]
    width = room.project.score_range.high - room.project.score_range.low
    what_happened(
        f"The labeler read {sum(bins):,} BM25 pairs and put **{1 - share_below(bins, 0.5):.0%}** of them in the upper half "
        "of the scale. Shared words do not make sentences alike, which is why so many of them are low.",
        (
            f"On the {len(gaps)} pair{'s' if len(gaps) != 1 else ''} that you scored, you and the labeler were "
            f"{width * float(np.mean(gaps)):.1f} points of {width:g} apart on average. "
            if gaps
            else ""
        )
        + "Where you disagree, one of you is wrong, or both, and silver carries the labeler’s side into the student. "
        "On the Silver page such pairs are corrected.",
    )
    recompute(room)


def _three(judged: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """A middling, a high and a low one of the pairs."""
    n = len(judged)
    return [judged[place] for place in dict.fromkeys([n // 2, n - 2, 1]) if 0 <= place < n]


def _judge(room: Room, judged: Sequence[Mapping[str, Any]]) -> None:
    scale = room.project.score_range
    for place, pair in enumerate(_three(judged)):
        with st.container(border=True, key=f"learn-judge-{place}"):
            words, slider = st.columns([3, 2], vertical_alignment="center")
            words.markdown(f"{as_text(pair['sentence1'])}  \n{as_text(pair['sentence2'])}")
            slider.select_slider(
                f"Your score of pair {place + 1}", [UNSCORED, *np.linspace(scale.low, scale.high, 11).tolist()],
                key=f"learn-mine-{place}", format_func=lambda step: step if step == UNSCORED else f"{step:g}",
                help="At the left it counts as not scored. 0 unrelated · 1 same topic · 2 some details shared · 3 roughly equivalent · 4 all but a detail · "
                "5 same meaning.",
            )  # fmt: skip


def _scored(room: Room, place: int) -> float | None:
    """The score from 0 to 1 that a slider was moved to; None when nobody moved it."""
    step = st.session_state[f"learn-mine-{place}"]
    return None if step == UNSCORED else room.project.score_range.to_unit(step)


def _compare_scores(room: Room, mine: Sequence[Mapping[str, Any]]) -> None:
    frame = pd.DataFrame(
        {
            "Sentence 1": [pair["sentence1"] for pair in mine],
            "Sentence 2": [pair["sentence2"] for pair in mine],
            "You": [
                UNSCORED if pair["mine"] is None else score_text(room.project, pair["mine"])
                for pair in mine
            ],
            "Labeler": [score_text(room.project, pair["score"]) for pair in mine],
        }
    )
    narrow, wide = (st.column_config.TextColumn(width=width) for width in (80, 230))
    st.dataframe(
        frame,
        hide_index=True,
        row_height=72,
        column_config={"Sentence 1": wide, "Sentence 2": wide, "You": narrow, "Labeler": narrow},
        alt="Your scores beside the labeler's",
    )


def _spread_of(name: str, bins: Sequence[int], color: str, dash: bool = False) -> Spread:
    return spread(name, color, bin_centres(len(bins)), np.array(bins), SETTINGS, dash=dash)


def _show_silver(room: Room, found: Found) -> None:
    bins = found.values["strategies"]["bm25"]["bins"]
    ours = gold_spread(
        "Gold (train)", gold.gold_scores(room.workspace, room.project.id, ["train"]), SETTINGS
    )
    silver = _spread_of("Silver, BM25", bins, charts.COLORS["silver"])
    st.plotly_chart(
        charts.overlay_figure(
            GRID, [ours.curve(), silver.curve()], room.project.score_range, height=300
        ),
        key=f"learn-silver-{found.origin}",
        alt=f"Density of {sum(bins)} BM25 silver scores beside gold; {1 - share_below(bins, 0.5):.0%} of silver lies "
        "in the upper half of the scale.",
    )


def density(room: Room) -> None:
    """Step 6: all five densities beside gold (fig. 4), and the KDE rule with its c."""
    show_damage()
    found = with_part(with_part(found_of(room), "pool"), "strategies")
    whole = [one for one in found if _is_whole(one.values["strategies"])]

    def look(report: Report) -> dict[str, Any]:
        return {"known": {"strategies": whole[0].values["strategies"]}}

    if predict(room, look, missing=missing_results(whole)) is None:
        recompute(room)
        return
    if not whole:
        show_missing(room)
        return
    scores = gold.gold_scores(room.workspace, room.project.id, ["train"])
    side_by_side(whole, lambda one: _show_densities(room, scores, one))
    strategies = whole[0].values["strategies"]
    far_of = {name: one["distance"] for name, one in strategies.items()}
    _acceptance(room, scores, whole[-1])
    near, far = (
        min(far_of, key=lambda name: far_of[name]),
        max(far_of, key=lambda name: far_of[name]),
    )
    highest = max(place + 1 for place, n in enumerate(whole[0].values["pool"]) if n) / len(
        whole[0].values["pool"]
    )
    what_happened(
        f"**{STRATEGIES[near]}** lies closest to gold: on average a score would have to move by "
        f"{_points_of(room, far_of[near])}. **{STRATEGIES[far]}** is farthest with {_points_of(room, far_of[far])}.",
        f"The KDE rule kept {strategies['kde']['n_pairs']:,} of {sum(whole[0].values['pool']):,} labelled random pairs "
        f"and came closer than random pairs do ({_points_of(room, far_of['kde'])} against "
        f"{_points_of(room, far_of['random'])}). It cannot make pairs that are not there: the most alike of these random "
        f"pairs is scored {score_text(room.project, highest)}. The paper drew hundreds of thousands.",
    )
    recompute(room)


def _is_whole(strategies: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether all strategies are there with their distances; without gold there is none."""
    distances = [one["distance"] for one in strategies.values()]
    return len(distances) == len(recipe.STRATEGIES) and None not in distances


def _show_densities(room: Room, scores: np.ndarray, found: Found) -> None:
    strategies = found.values["strategies"]
    shown = st.multiselect(
        "Strategies", list(strategies), default=list(strategies),
        format_func=lambda name: STRATEGIES[name], key=f"learn-shown-{found.origin}",
        help="Which silver densities are drawn beside gold.",
    )  # fmt: skip
    curves = [gold_spread("Gold (train)", scores, SETTINGS).curve()]
    curves += [
        _spread_of(
            STRATEGIES[name], strategies[name]["bins"], HUES[name], name == recipe.STRATEGIES[-1]
        ).curve()
        for name in shown
    ]
    st.plotly_chart(
        charts.overlay_figure(GRID, curves, room.project.score_range, fill=False, height=380),
        key=f"learn-densities-{found.origin}",
        alt="Densities of gold and of the silver scores of each strategy. "
        + "; ".join(
            f"{STRATEGIES[name]}: distance {_points_of(room, one['distance'])}"
            for name, one in strategies.items()
        ),
    )
    frame = pd.DataFrame(
        {
            "Strategy": [STRATEGIES[name] for name in strategies],
            "Distance": [
                (room.project.score_range.high - room.project.score_range.low) * one["distance"]
                for one in strategies.values()
            ],
            "KL": [one["kl"] for one in strategies.values()],
            "Pairs": [one["n_pairs"] for one in strategies.values()],
            "Labelled": [one["passes"] for one in strategies.values()],
        }
    ).sort_values("Distance")
    st.dataframe(
        frame,
        hide_index=True,
        column_config={
            "Distance": st.column_config.NumberColumn(
                format="%.2f",
                help="Wasserstein: points of the scale by which scores must move, on average, to lie like gold.",
            ),
            "KL": st.column_config.NumberColumn(
                format="%.2f",
                help="KL(gold‖silver) in nats: large where gold has pairs and silver hardly any.",
            ),
            "Pairs": st.column_config.NumberColumn(
                format="localized", help="Silver pairs that the strategy has in the end."
            ),
            "Labelled": st.column_config.NumberColumn(
                format="localized", help="Pairs that the labeler had to score for them."
            ),
        },
        alt="Distance to gold by strategy",
    )


def _points_of(room: Room, share: float) -> str:
    """A distance in shares of the scale, in points of the project's own."""
    width = room.project.score_range.high - room.project.score_range.low
    return f"{width * share:.2f} of {width:g} points"


def _gap(value: float, other: float) -> str:
    """The difference of two numbers as both are shown, with the minus by which a metric knows the direction."""
    return f"{round(value, 2) - round(other, 2):+.2f}"


def _acceptance(room: Room, scores: np.ndarray, found: Found) -> None:
    pool_bins = found.values["pool"]
    ours = gold_spread("Gold", scores, SETTINGS)
    pool = _spread_of("Pool", pool_bins, charts.COLORS["silver"])
    if ours.heights is None or pool.heights is None:
        return
    st.markdown(":material/tune: **The KDE rule: which random pairs stay?**")
    c = st.select_slider(
        "c: how much of the pool may stay", [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0], value=1.0, key="learn-c",
        help="A pair of score s is kept with the chance min(1, c · gold density ÷ pool density); 1 is the paper's rule.",
    )  # fmt: skip
    expected = kde.expected_kept(ours.heights, pool.heights, c, GRID)
    n_pool = sum(pool_bins)
    cells = st.columns(3)
    cells[0].metric("Random pairs labelled", f"{n_pool:,}")
    cells[1].metric(
        "Kept, expected",
        f"{expected.fraction * n_pool:,.0f}",
        help="Pairs of the pool that the rule keeps.",
    )
    if expected.fraction > 0:
        kept, before = (
            float(densities.wasserstein_distance(GRID, ours.heights, GRID, heights))
            for heights in (expected.density, pool.heights)
        )
        width = room.project.score_range.high - room.project.score_range.low
        cells[2].metric(
            "Distance to gold, points", f"{width * kept:.2f}",
            f"{_gap(width * kept, width * before)} against the whole pool", delta_color="inverse",
            help=f"By how much scores must move, on average, to lie like gold; for the whole pool {width * before:.2f}. The "
            "pool is drawn for KDE by itself: another draw than the strategy “Random” above, so both differ a little.",
        )  # fmt: skip
    st.plotly_chart(
        ideas.acceptance_figure(ours.heights, pool.heights, c, room.project.score_range),
        key="learn-acceptance",
        alt=ideas.acceptance_description(ours.heights, pool.heights, c, room.project.score_range),
    )
