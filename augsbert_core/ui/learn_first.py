"""Steps 1 to 4 of the Learn page: both kinds of model, gold, the labeler, and the five ways to choose pairs."""

from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from augsbert_core import charts
from augsbert_core.charts import ideas
from augsbert_core.learn.answers import BELOW, row_of, share_below, thirds
from augsbert_core.learn.paper import STRATEGIES
from augsbert_core.learn.shown import gap, gap_text, hundred, interval
from augsbert_core.options import KeepOptions
from augsbert_core.progress import Report
from augsbert_core.steps import learn
from augsbert_core.steps import learn_recipe as recipe
from augsbert_core.steps import learn_results as results
from augsbert_core.steps.spreads import GRID, gold_spread
from augsbert_core.storage import gold
from augsbert_core.ui.learn_figures import training_size
from augsbert_core.ui.learn_parts import (
    Found,
    Room,
    found_of,
    ink,
    judging,
    missing_results,
    predict,
    recompute,
    seconds_text,
    shipped_or_none,
    show_damage,
    show_missing,
    side_by_side,
    what_happened,
    with_part,
)
from augsbert_core.ui.widgets import as_text, bar_report, score_text, user_errors


def encoders(room: Room) -> None:
    """Step 1: one pair by both models, then the clock, and all pairs of 10,000 sentences."""
    first, second = st.columns(2)
    one = first.text_input(
        "Sentence 1", results.EXAMPLE[0], key="learn-sentence1", max_chars=400,
        help="Both models compare this sentence with the other one.",
    )  # fmt: skip
    other = second.text_input(
        "Sentence 2", results.EXAMPLE[1], key="learn-sentence2", max_chars=400,
        help="Both models compare this sentence with the other one.",
    )  # fmt: skip

    def measure(report: Report) -> dict[str, Any]:
        times = learn.time_encoders(room.workspace, room.project, one, other, report)
        return {"known": {"times": times.times}, "pair": [one, other], "times": asdict(times)}

    answered = predict(room, measure, action="Time both models")
    if answered is None or "times" not in answered.details:
        return
    times = learn.Times(**answered.details["times"])
    left, right = st.columns(2, border=True)
    with left:
        st.markdown(":material/bolt: **Bi-encoder**")
        st.metric(
            "Cosine of your pair", f"{times.cosine:.2f}", help="From −1 to 1; no calibrated score."
        )
        st.metric(f"All pairs of {learn.MANY:,} sentences", seconds_text(times.all_bi))
        st.caption(
            f"{times.sentences_per_second:,.0f} sentences per second, each read once; then {learn.N_ALL_PAIRS:,} "
            f"cosines in {seconds_text(times.compare_seconds)}, all measured."
        )
    with right:
        st.markdown(":material/compare_arrows: **Cross-encoder**")
        score, where = _cross_score(room, times, answered.details["pair"])
        st.metric("Score of your pair", score, help=where)
        st.metric(f"All pairs of {learn.MANY:,} sentences", seconds_text(times.all_cross))
        st.caption(
            f"{times.pairs_per_second:,.0f} pairs per second, measured on {times.n_timed} pairs of the sample; "
            f"{learn.N_ALL_PAIRS:,} pairs at this speed, extrapolated."
        )
    st.caption(
        f"Your pair: “{as_text(answered.details['pair'][0])}” and “{as_text(answered.details['pair'][1])}” · "
        f"Measured on this machine ({times.device}); {where}"
    )
    what_happened(
        f"On this machine the cross-encoder would need **{seconds_text(times.all_cross)}** for all pairs, the "
        f"bi-encoder **{seconds_text(times.all_bi)}**: the cross-encoder takes **{times.times:,.0f} times** as long. For a "
        f"single pair they hardly differ ({seconds_text(times.pair_cross)} and {seconds_text(times.pair_bi)}).",
        "The difference comes from counting: 10,000 sentences are read 10,000 times by the one, and in "
        f"{learn.N_ALL_PAIRS:,} pairs by the other. The network is the same size in both.",
    )


def _cross_score(room: Room, times: learn.Times, pair: list[str]) -> tuple[str, str]:
    if times.score is not None:
        return _of_scale(room, times.score), "scored by the labeler trained in this workspace."
    shipped = shipped_or_none("loop")
    if shipped and shipped.get("example", {}).get("pair") == pair:
        score = _of_scale(room, shipped["example"]["score"])
        return score, (
            f"the cross-encoder’s score is a stored one of the trained labeler, from {shipped['made']['date']}."
        )
    return (
        "not trained yet",
        "the cross-encoder was timed untrained, so it has no score yet: train it in step 3.",
    )


def _of_scale(room: Room, score: float) -> str:
    """A score with the scale it is on, as it stands beside a cosine."""
    scale = room.project.score_range
    return f"{score_text(room.project, score)} on {scale.low:g} to {scale.high:g}"


def gold_data(room: Room) -> None:
    """Step 2: read gold pairs, and see how their scores are spread."""
    pairs = gold.scored_pairs(room.workspace, room.project.id, "train")
    scores = pairs.scores
    if not len(scores):
        st.info(
            "No gold pair is left in the training split. “Reset for the next group” can bring the whole sample back.",
            icon=":material/info:",
        )
        return
    _read_gold(room, pairs.sentences1, pairs.sentences2, scores)

    def look(report: Report) -> dict[str, Any]:
        return {"known": {"gold": scores.tolist()}, "thirds": thirds(scores.tolist())}

    if predict(room, look) is None:
        return
    ours = gold_spread("Gold (train)", scores, KeepOptions(0))
    counts = thirds(scores.tolist())
    st.plotly_chart(
        charts.overlay_figure(
            GRID, [ours.curve()], room.project.score_range, histogram=True, rug=True, height=320
        ),
        key="learn-gold-figure",
        alt=f"Density of {ours.n} gold training scores: {counts['low']} in the lowest third, "
        f"{counts['middle']} in the middle, {counts['high']} in the highest.",
    )
    st.caption(
        f"{ours.n:,} gold training pairs: {counts['low']} in the lowest third of the scale, {counts['middle']} in "
        f"the middle and {counts['high']} in the highest."
    )
    what_happened(
        f"The curve is a kernel density estimate of the {ours.n:,} scores, reflected at both ends of the scale so that "
        f"no mass lies outside; its bandwidth is {ours.bandwidth or 0:.3f} of the scale. The bars count the pairs.",
        f"The fullest third has {max(counts.values())} pairs and the emptiest {min(counts.values())}: gold was put "
        "together so that all scores occur. Pairs drawn blindly look nothing like this: step 4.",
    )


def _read_gold(room: Room, first: list[str], second: list[str], scores: np.ndarray) -> None:
    order = np.argsort(scores, kind="stable")
    places = [int(order[int(share * (len(order) - 1))]) for share in (0.06, 0.3, 0.5, 0.7, 0.94)]
    shown = st.toggle(
        "Show the scores", key="learn-gold-scores", help="Guess each score before you look."
    )
    frame = pd.DataFrame(
        {
            "Sentence 1": [first[at] for at in places],
            "Sentence 2": [second[at] for at in places],
            "Score": [score_text(room.project, scores[at]) if shown else "?" for at in places],
        }
    )
    order_seen = [2, 4, 0, 3, 1]
    st.dataframe(
        frame.iloc[order_seen],
        hide_index=True,
        column_config={
            name: st.column_config.TextColumn(width=width)
            for name, width in zip(frame.columns, (275, 275, 70), strict=True)
        },
        row_height=72,
        height=38 + 72 * len(frame),
        alt="Gold pairs with their scores",
    )


def labeler(room: Room) -> None:
    """Step 3: the cross-encoder's learning curve, and where it stands on test."""
    show_damage()
    found = with_part(found_of(room), "labeler")
    known = judging(found, room.lesson)

    def look(report: Report) -> dict[str, Any]:
        return {"known": {"rows": known[0].values["rows"]}}

    answered = predict(room, look, missing=missing_results(known))
    if answered is not None and not found:
        show_missing(room)
    else:
        if answered is not None:
            side_by_side(found, _show_labeler)
        recompute(room)
    if answered is not None:
        training_size(room)


def _show_labeler(found: Found) -> None:
    ours = found.values["labeler"]
    rows = found.values.get("rows") or []
    trained, small, full = (
        row_of(rows, key) for key in ("labeler", "untrained-small", "untrained-full")
    )
    cells = st.columns(3)
    if trained and small and full:
        cells[0].metric("Labeler, test", _points(trained), help="Spearman × 100 on 321 test pairs.")
        cells[1].metric(
            "Untrained, 2 layers", _points(small), help="The small student before training."
        )
        cells[2].metric(
            "Untrained, all layers", _points(full), help="The full student before training."
        )
    steps, values = (np.array(column) for column in zip(*ours["curve"], strict=True))
    figure = charts.curves_figure({"dev_score": (steps, values)})
    margin = 0.04 * (steps[-1] - steps[0]) or 1
    st.plotly_chart(
        figure.update_xaxes(range=[steps[0] - margin, steps[-1] + margin]),
        key=f"learn-labeler-{found.origin}",
        alt=f"Spearman × 100 of the labeler on dev along training; best {100 * ours['dev_score']:.1f}.",
    )
    st.caption(
        f"Best checkpoint on dev: {100 * ours['dev_score']:.1f}. The curve begins after the warm start on the base model’s cosines"
        + (f" · trained in {seconds_text(ours['seconds'])}" if ours.get("seconds") else "")
    )
    if trained and small and full:
        what_happened(
            f"The labeler reaches **{_points(trained)}** on test (95 % interval {_range(trained)}): "
            f"{gap_text(trained['value'], small['value'])} points against the untrained small student, "
            f"{gap_text(trained['value'], full['value'])} against the untrained full one.",
            _teaches(trained, small, row_of(rows, "gold-small")),
            "Whether it has something to teach the full student, which was tuned on a billion sentence pairs before, is "
            "the question of step 7.",
        )


def _teaches(trained: Any, small: Any, gold_only: Any) -> str:
    """Whether the labeler knows more than the small student has learnt from the same gold."""
    if gold_only is None:
        more = "has" if (trained["low"] or -1.0) > small["value"] else "may have"
        return f"So it {more} something to teach the small student."
    ahead = gap(trained["value"], gold_only["value"])
    told = f"From the same gold the small student gets to {_points(gold_only)}"
    if ahead <= 0:
        return f"{told}, no less: here the labeler has little to teach it."
    return f"{told}, {ahead:.1f} points below: that much the labeler could pass on to it."


def _points(row: Any) -> str:
    return hundred(row["value"])


def _range(row: Any) -> str:
    return interval(row["low"], row["high"]) or "not known"


def sampling(room: Room) -> None:
    """Step 4: the five samplers live, the labeler's scores of what they chose, and neighbours of a sentence."""
    show_damage()
    found = with_part(found_of(room), "strategies")
    whole = [one for one in found if len(one.values["strategies"]) == len(recipe.STRATEGIES)]

    def run(report: Report) -> dict[str, Any]:
        made = learn.run_samplers(room.workspace, room.project, report)
        return {"known": {"strategies": whole[0].values["strategies"]}, "sampling": asdict(made)}

    if room.revealed is None:
        learn.prepare_samplers_soon()
    answered = predict(room, run, action="Run the five samplers", missing=missing_results(whole))
    if answered is None:
        recompute(room)
        return
    _show_samplers(answered.details.get("sampling") or {})
    if not whole:
        show_missing(room)
        _neighbours(room)
        return
    side_by_side(whole, _show_below)
    made = answered.details.get("sampling") or {"n_sentences": 0, "n_possible": 0}
    shares = {
        name: share_below(one["bins"], BELOW) for name, one in whole[0].values["strategies"].items()
    }
    what_happened(
        f"The {made['n_sentences']:,} training sentences make {made['n_possible']:,} possible pairs. Of random ones, "
        f"**{shares['random']:.0%}** are scored below 1 of 5, because two sentences drawn blindly "
        f"have nothing in common; of BM25's neighbours {shares['bm25']:.0%}, of semantic ones "
        f"{shares['semantic']:.0%}.",
        "The KDE rule starts from random pairs too, but keeps only those whose score is as common in gold "
        f"({shares['kde']:.0%} below 1 of 5): it pays for labels of pairs that it then throws away.",
    )
    _neighbours(room)
    recompute(room)


def _show_samplers(made: dict[str, Any]) -> None:
    if not made:
        return
    frame = pd.DataFrame(
        {
            "Strategy": [STRATEGIES[one["strategy"]] for one in made["found"]],
            "Pairs chosen": [one["n_pairs"] for one in made["found"]],
            "Time": [seconds_text(one["seconds"]) for one in made["found"]],
            "Note": [
                "a random pool: all are labelled, a part is kept" if one["pool"] else ""
                for one in made["found"]
            ],
        }
    )
    st.markdown(":material/computer: **The samplers, just now on this machine**")
    st.dataframe(
        frame,
        hide_index=True,
        column_config={
            "Pairs chosen": st.column_config.NumberColumn(
                format="localized", help="Candidate pairs, before anything is scored."
            ),
        },
        alt="Pairs that each strategy chooses",
    )
    st.caption(
        f"{made['n_sentences']:,} sentences, {made['n_possible']:,} possible pairs. Times are of the second run of each, "
        "after loading. Both semantic strategies need the sentences embedded before: "
        f"{seconds_text(made['embed_seconds'])} on top, once."
    )


BELOW_TITLE = "Scored below 1 of 5"


def _show_below(found: Found) -> None:
    strategies = found.values["strategies"]
    frame = pd.DataFrame(
        {
            "Strategy": [STRATEGIES[name] for name in strategies],
            BELOW_TITLE: [100 * share_below(one["bins"], BELOW) for one in strategies.values()],
            "Pairs": [one["n_pairs"] for one in strategies.values()],
            "Labelled": [one["passes"] for one in strategies.values()],
        }
    )
    st.dataframe(
        frame,
        hide_index=True,
        column_config={
            BELOW_TITLE: st.column_config.ProgressColumn(
                format="%.0f %%", min_value=0.0, max_value=100.0, color="blue",
                help="Share of the silver pairs that the labeler scores in the lowest fifth of the scale.",
            ),
            "Pairs": st.column_config.NumberColumn(format="localized", help="Silver pairs that the strategy has in the end."),
            "Labelled": st.column_config.NumberColumn(
                format="localized", help="Pairs that the labeler had to score for them."
            ),
        },
        alt="Share of low scores by strategy",
    )  # fmt: skip


def _neighbours(room: Room) -> None:
    texts = learn.corpus_sentences(room.workspace, room.project)
    st.markdown(":material/join_inner: **Neighbours of one sentence: words against meaning**")
    chosen = st.selectbox(
        "Sentence",
        texts,
        index=0,
        key="learn-neighbours",
        help="Type to search the training sentences.",
    )
    bar = st.empty()
    with user_errors():
        words, meaning = learn.neighbours_of(
            room.workspace, room.project, chosen, report=bar_report(bar)
        )
        bar.empty()
        by_words, by_meaning = (
            [ideas.Neighbour(near.text, near.score) for near in side] for side in (words, meaning)
        )
        st.plotly_chart(
            ideas.neighbours_figure(by_words, by_meaning, ink=ink()),
            key="learn-neighbours-figure",
            alt=ideas.neighbours_description(chosen, by_words, by_meaning),
            config={"displayModeBar": False},
        )
        st.caption(
            "Joined boxes: both searches found the sentence. Hover for the whole text and the score."
        )
