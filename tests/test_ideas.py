"""Figures of the ideas: what is drawn, and that each says the same in words."""

import re

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from augsbert_core.charts import idea_curves, ideas
from augsbert_core.charts.ideas import Neighbour
from augsbert_core.charts.look import COLORS
from augsbert_core.charts.pipelines import PIPELINES
from augsbert_core.pairs import ScoreRange

SCORES = pd.DataFrame(
    [("Gold-only", 200, 0.7, 0.65, 0.75), ("Gold-only", 100, 0.6, None, None)],
    columns=["series", "n_gold", "value", "low", "high"],
)
GOLD, SILVER = [10, 10, 10, 10], [70, 20, 10, 0]


def texts(figure) -> list[str]:
    return [text for trace in figure.data if trace.mode == "text" for text in trace.text]


@pytest.mark.parametrize("kind", PIPELINES)
@pytest.mark.parametrize("lit", range(ideas.LAST_STEP + 1))
def test_a_pipeline_is_lit_up_to_its_step(kind: str, lit: int) -> None:
    figure = ideas.pipeline_figure(kind, lit)
    boxes = [shape for shape in figure.layout.shapes if shape.type == "rect"]
    steps = [box.step for box in PIPELINES[kind].boxes]
    assert sum(box.line.dash == "solid" for box in boxes) == sum(step <= lit for step in steps)
    assert sum(box.line.width > 3 for box in boxes) == steps.count(lit)
    assert not any(re.match(r"(<b>)?\d", text) for text in texts(figure)), (
        "no second count of steps"
    )
    bold = [text for text in texts(figure) if text.startswith("<b>")]
    assert len(bold) == sum(step <= lit for step in steps)


@pytest.mark.parametrize("kind", PIPELINES)
def test_a_pipeline_in_words(kind: str) -> None:
    none, some = ideas.pipeline_description(kind, 0), ideas.pipeline_description(kind, 2)
    assert "Lit:" not in none
    lit, unlit = some.split("Not yet lit:")
    assert "becomes the labeler" in lit
    assert "silver pairs" in unlit
    assert "Not yet" not in ideas.pipeline_description(kind, ideas.LAST_STEP)


def test_everybody_gets_the_same_pipeline_which_streamlit_leaves_as_it_is() -> None:
    figure = ideas.pipeline_figure("augsbert", 3, ink="#123456")
    before = figure.to_json()
    st.plotly_chart(figure, key="shown-in-a-test")
    assert ideas.pipeline_figure("augsbert", 3, ink="#123456") is figure
    assert figure.to_json() == before


def test_only_the_in_domain_student_also_learns_from_gold() -> None:
    to_student = {
        kind: {arrow.role for arrow in pipeline.arrows if arrow.step == ideas.LAST_STEP}
        for kind, pipeline in PIPELINES.items()
    }
    assert to_student == {"augsbert": {"gold", "silver"}, "adaptation": {"silver"}}


def test_texts_fit_their_boxes_at_600_pixels() -> None:
    for pipeline in PIPELINES.values():
        for box in pipeline.boxes:
            lines = [f"{box.step} · {box.title}", *box.lines]
            assert max(len(line) for line in lines) <= 19
            assert len(lines) <= 3


def test_a_pipeline_or_step_that_there_is_not() -> None:
    with pytest.raises(ValueError, match="adaptation"):
        ideas.pipeline_figure("other", 1)
    with pytest.raises(ValueError, match="0 to 5, not 6"):
        ideas.pipeline_description("augsbert", 6)


def test_the_learning_curve_has_ours_and_beside_it_the_papers_in_grey() -> None:
    theirs = SCORES.assign(series="Cross-encoder")
    ours, paper = idea_curves.learning_curve_figure(SCORES, theirs).data
    assert (list(ours.x), list(ours.y)) == ([100, 200], [60, 70])
    assert (paper.name, paper.line.color) == ("Paper: Cross-encoder", COLORS["neutral"])
    assert len(idea_curves.learning_curve_figure(SCORES).data) == 1
    said = idea_curves.learning_curve_description(SCORES, theirs)
    assert "Gold-only: 60.0 with 100 pairs, 70.0 with 200." in said
    assert "Paper, Cross-encoder: 60.0" in said


def test_acceptance_is_the_smaller_of_1_and_c_times_gold_over_silver() -> None:
    *_, kept, chance = ideas.acceptance_figure(GOLD, SILVER, 0.5).data
    assert list(chance.y) == pytest.approx([0.5 * 25 / 70, 0.5 * 25 / 20, 1.0, 1.0])
    assert list(kept.y) == pytest.approx(list(np.array([2.8, 0.8, 0.4, 0.0]) * chance.y))
    assert list(chance.x) == pytest.approx([0, 1 / 3, 2 / 3, 1])


def test_acceptance_on_the_raw_scale_and_in_words() -> None:
    scale = ScoreRange(0, 5)
    figure = ideas.acceptance_figure(GOLD, SILVER, 1.0, scale)
    assert list(figure.data[0].x) == pytest.approx([0, 5 / 3, 10 / 3, 5])
    said = ideas.acceptance_description(GOLD, SILVER, 1.0, scale)
    assert "55.0 % of the silver pairs are kept" in said
    assert "lowest at score 0 (36 %)" in said


def test_acceptance_needs_pairs_at_the_same_scores() -> None:
    with pytest.raises(ValueError, match="same scores"):
        ideas.acceptance_figure([1, 2], [1, 2, 3], 1.0)
    with pytest.raises(ValueError, match="gold and silver"):
        ideas.acceptance_figure([0, 0], [1, 2], 1.0)


def test_common_neighbours_are_joined_and_filled() -> None:
    bm25 = [Neighbour("a cat", 9.0), Neighbour("<b>mats</b>", 4.0)]
    semantic = [Neighbour("a kitten", 0.9), Neighbour("a cat", 0.8)]
    figure = ideas.neighbours_figure(bm25, semantic)
    (line,) = [shape for shape in figure.layout.shapes if shape.type == "line"]
    assert (line.y0, line.y1) == (0, -1)
    boxes = [shape for shape in figure.layout.shapes if shape.type == "rect"]
    assert sum(box.line.width == 2 for box in boxes) == 2
    assert "&lt;b&gt;mats&lt;/b&gt;" in texts(figure)
    said = ideas.neighbours_description("the cat", bm25, semantic)
    assert "BM25: 1. a cat; 2. <b>mats</b>." in said
    assert said.endswith("1 is in both lists.")


def test_long_neighbours_are_cut_and_whole_on_hover() -> None:
    long = Neighbour("word " * 40 + "end", 1.0)
    figure = ideas.neighbours_figure([long], [])
    assert not any("end" in text for text in texts(figure))
    assert any("…" in text for text in texts(figure))
    assert any(
        "end" in trace.text[0] for trace in figure.data if trace.mode == "markers" and trace.text
    )
    assert "Semantic search: none." in ideas.neighbours_description("x", [long], [])


def test_the_seed_that_is_best_at_the_choice_is_gold() -> None:
    dev, fractions = [[0.5, 0.6, 0.7], [0.4, 0.65, 0.68]], [0.1, 0.2, 1.0]
    figure = idea_curves.seed_spread_figure(dev, fractions)
    (gold,) = [trace for trace in figure.data if trace.line.color == COLORS["gold"]]
    assert list(gold.y) == pytest.approx([40, 65, 68])
    assert figure.data[-1].y[0] == pytest.approx(70)
    said = idea_curves.seed_spread_description(dev, fractions)
    assert "At 20 % of the steps they lie 5.0 points apart, at the end 2.0." in said
    assert "Seed 2 is best at the choice. At the end seed 1 is 2.0 points better." in said
    named = idea_curves.seed_spread_description(dev, fractions, seeds=[42, 43])
    assert "Seed 43 is best at the choice. At the end seed 42 is" in named
    hovers = [
        trace.hovertemplate
        for trace in idea_curves.seed_spread_figure(dev, fractions, seeds=[42, 43]).data
    ]
    assert sum("seed 42" in str(hover) for hover in hovers) == 2, "its line and the diamond"


def test_a_choice_that_was_the_best_one_and_scores_that_do_not_fit() -> None:
    said = idea_curves.seed_spread_description([[0.5, 0.7], [0.4, 0.6]], [0.2, 1.0])
    assert said.endswith("It is the best at the end, too.")
    with pytest.raises(ValueError, match="One score per seed"):
        idea_curves.seed_spread_figure([[0.5, 0.7]], [0.2])
