"""What the guided demo's figures are drawn from: the runs of a batch that are done, and what their numbers say in words."""

import pytest

from augsbert_core.learn import figure_words
from augsbert_core.steps import learn_figures
from augsbert_core.steps import learn_recipe as recipe
from augsbert_core.steps.plans.parts import baselines
from augsbert_core.steps.sample_project import open_sample_project
from augsbert_core.storage import runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Run
from tests.pages import seeding

# --- from runs to points -------------------------------------------------------------------------------


def test_points_of_the_curve_are_held_against_gold_alone_of_the_same_size(
    workspace: Workspace,
) -> None:
    project = open_sample_project(workspace)
    done: dict[str, Run] = {}
    for n, values in ((60, (0.65, 0.61)), (483, (0.72, 0.68))):
        made = seeding.labeler(workspace, project), seeding.student(workspace, project)
        for key, run_id, value in zip(("labeler", "gold"), made, values, strict=True):
            done[f"{key}-{n}-42"] = runs.get_run(workspace, run_id)
            seeding.measure(workspace, project, f"run:{run_id}", value)
    seeding.measure(workspace, project, baselines(recipe.small_student())[0], 0.6)
    assert learn_figures.curve_parts(workspace, project, done) == {}, "not measured yet"

    found = learn_figures.curve_parts(workspace, project, {**done, "measured": done["gold-60-42"]})
    assert [(one["series"], one["n_gold"], one["value"]) for one in found["points"]] == [
        ("gold", 60, 0.61), ("gold", 483, 0.68), ("labeler", 60, 0.65), ("labeler", 483, 0.72),
    ]  # fmt: skip
    gold_only, *_, labeler = found["points"]
    assert "difference" not in gold_only
    assert labeler["difference"] == pytest.approx(0.04)
    assert found["untrained"]["value"] == 0.6
    assert "warm" not in found
    assert found["n_test"] == 321


def test_seeds_are_compared_at_the_steps_that_all_have_reached(workspace: Workspace) -> None:
    project = open_sample_project(workspace)
    done: dict[str, Run] = {}
    curves = {42: [(20, 0.6), (100, 0.66), (200, 0.68)], 43: [(20, 0.61), (200, 0.65)]}
    for seed, curve in curves.items():
        run_id = seeding.student(workspace, project, seed=seed)
        runs.add_metrics(workspace, run_id, [("dev_score", *point) for point in curve])
        done[f"student-{seed}"] = runs.get_run(workspace, run_id)
    first = done["student-42"].id
    seeding.measure(workspace, project, f"run:{first}", 0.67)
    found = learn_figures.seeds_parts(workspace, project, done)
    assert found["seeds"] == [42, 43]
    assert found["fractions"] == [0.1, 1.0]
    assert found["dev"] == [[0.6, 0.68], [0.61, 0.65]]
    assert found["test"] == [0.67, None]
    assert found["n_steps"] == 200
    only = {"student-42": done["student-42"]}
    assert learn_figures.seeds_parts(workspace, project, only) == {}, "one seed has no spread"


# --- from points to words --------------------------------------------------------------------------------


def points(**lines: list[tuple[int, float]]) -> list[dict]:
    return [
        {"series": series, "n_gold": n, "value": value}
        for series, line in lines.items()
        for n, value in line
    ]


def test_more_gold_is_said_to_help_only_where_it_did() -> None:
    found = points(labeler=[(60, 0.65), (483, 0.725)], gold=[(483, 0.668), (60, 0.666)])
    assert figure_words.more_gold_sentence(found) == (
        "From 60 to 483 gold pairs the labeler gains +7.5 points (65.0 → 72.5), the student on gold hardly moves: +0.2 "
        "points (66.6 → 66.8)."
    )
    assert figure_words.more_gold_sentence(points(labeler=[(60, 0.6)], gold=[(60, 0.5)])) == ""


def test_who_needs_less_gold_is_read_from_the_lines() -> None:
    student = [(60, 0.62), (483, 0.668)]
    less = figure_words.needs_less_sentence(points(labeler=[(60, 0.67), (483, 0.7)], gold=student))
    assert less.startswith("With 60 pairs the labeler is as good as the student is with all 483")
    all_of_it = points(labeler=[(60, 0.6), (483, 0.7)], gold=student)
    assert "needs all 483 pairs" in figure_words.needs_less_sentence(all_of_it)
    never = points(labeler=[(60, 0.5), (483, 0.6)], gold=student)
    assert "does not need less data" in figure_words.needs_less_sentence(never)
    assert figure_words.needs_less_sentence(points(gold=student)) == ""


def test_a_lead_counts_beyond_its_interval() -> None:
    ahead = {"difference": 0.03, "difference_low": 0.01, "difference_high": 0.05}
    unclear = {"difference": 0.01, "difference_low": -0.01, "difference_high": 0.03}
    behind = {"difference": -0.03, "difference_low": -0.05, "difference_high": -0.01}
    line = [
        {"series": "silver", "n_gold": n, "value": 0.7, **one}
        for n, one in ((60, behind), (120, unclear), (483, ahead))
    ]
    said = figure_words.lead_sentence(line, "silver")
    assert "ahead of the student on gold alone at 2 of 3 sizes" in said
    assert "beyond" not in said
    assert "interval of the difference above 0 at 483 pairs, clearly behind at 60 pairs" in said
    assert figure_words.lead_sentence(line, "labeler") == ""


def test_the_labelers_head_start_is_told() -> None:
    said = figure_words.before_gold_sentence({"warm": {"value": 0.64}, "untrained": {"value": 0.6}})
    assert "64.0 before it sees gold" in said
    assert figure_words.before_gold_sentence({"untrained": {"value": 0.6}}) == ""


def test_seeds_in_words() -> None:
    dev, fractions = [[0.60, 0.70], [0.62, 0.68], [0.58, 0.66]], [0.2, 1.0]
    assert "end between 66.0 and 70.0 on dev, **4.0 points** apart" in figure_words.ends_sentence(
        dev
    )
    choice = figure_words.choice_sentence(dev, fractions, 0.2, [42, 43, 44])
    assert choice == (
        "After 20 % of the steps seed 43 is best. At the end seed 42 is, by 2.0 points; against the mean seed the early "
        "choice is worth +0.0."
    )
    assert "the best at the end, too" in figure_words.choice_sentence(
        dev[:1] + dev[2:], fractions, 0.2, [42, 44]
    )


def test_a_gain_is_held_against_the_spread_of_seeds() -> None:
    test = [0.66, None, 0.68]
    assert "more than all these seeds differ" in figure_words.anecdote_sentence(test, 3.5)
    assert "an anecdote" in figure_words.anecdote_sentence(test, 1.0)
    assert figure_words.anecdote_sentence(test, None).endswith("2.0 points apart.")
    assert figure_words.anecdote_sentence([0.6], 1.0) == ""
