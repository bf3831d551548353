"""The guided demo: complete texts, answers computed from results, shipped results that agree with the recipe."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from augsbert_core.learn import answers, figure_words, paper, shown
from augsbert_core.learn.lessons import LESSONS
from augsbert_core.options import from_json
from augsbert_core.steps import STEPS, learn, learn_results
from augsbert_core.steps import learn_recipe as recipe
from augsbert_core.steps.references import referred
from augsbert_core.steps.sample_project import open_sample_project
from augsbert_core.storage import gold, lessons, projects
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.projects import count_project
from augsbert_core.ui.widgets import PAGES

SHIPPED = tuple(learn_results.RESULTS)


# --- texts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.key)
def test_every_lesson_is_complete(lesson) -> None:
    assert len(lesson.idea) == 3
    for sentence in lesson.idea:
        assert sentence.endswith((".", "?")), "one sentence each"
    assert lesson.task
    assert lesson.question.endswith("?")
    assert len(lesson.choices) >= 3
    assert lesson.page in PAGES
    assert lesson.notes
    assert paper.facts_for(lesson.key)


def test_there_are_eight_lessons_with_names_of_their_own() -> None:
    assert len(LESSONS) == 8
    assert len({lesson.key for lesson in LESSONS}) == len({lesson.short for lesson in LESSONS}) == 8


# --- right answers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("times", "choice"),
    [
        (8, "Less than 30 times"),
        (29.4, "Less than 30 times"),
        (29.6, "30 to 300 times"),
        (300.4, "30 to 300 times"),
        (900, "300 to 3,000 times"),
        (3_000.4, "300 to 3,000 times"),
        (7_223, "More than 3,000 times"),
    ],
)
def test_the_choice_holds_the_number_that_is_shown(times: float, choice: str) -> None:
    assert LESSONS[0].choices[answers.slower(times)] == choice


def test_the_minutes_of_all_steps_add_up_to_a_class() -> None:
    minutes = [re.match(r"(\d+) minutes", lesson.notes[0]) for lesson in LESSONS]
    assert sum(int(found[1]) for found in minutes if found) == 45
    assert all(minutes)


def test_the_share_below_a_limit_counts_whole_bins() -> None:
    assert answers.share_below([1, 0, 0, 1, 0, 0, 0, 0, 0, 2], 0.2) == 0.25
    assert answers.share_below([], 0.2) == 0.0


@pytest.mark.parametrize(
    ("share", "choice"), [(0.05, "10"), (0.1, "30"), (0.49, "50"), (0.7, "100")]
)
def test_a_share_falls_under_one_choice(share: float, choice: str) -> None:
    assert answers.share_choice(share) == choice


def test_silver_has_helped_only_beyond_the_interval() -> None:
    better = {"difference_low": 0.01, "difference_high": 0.04}
    unclear = {"difference_low": -0.01, "difference_high": 0.04}
    worse = {"difference_low": -0.04, "difference_high": -0.01}
    assert answers.who_is_helped(better, unclear) == "small"
    assert answers.who_is_helped(worse, better) == "full"
    assert answers.who_is_helped(better, better) == "both"
    assert answers.who_is_helped(unclear, worse) == "neither"
    assert answers.who_is_helped(better, None) == ""
    assert answers.outcome({"difference_low": None, "difference_high": None}) == ""


def test_the_right_answer_follows_the_results() -> None:
    few, many = [9, 1, 0, 0, 0], [1, 1, 1, 1, 6]
    strategies = {
        "random": {"bins": few, "distance": 0.4},
        "bm25": {"bins": many, "distance": 0.1},
    }
    assert answers.right_answer("sampling", {"strategies": strategies}) == "random"
    assert answers.right_answer("density", {"strategies": strategies}) == "bm25"
    assert answers.right_answer("gold", {"gold": [0.1, 0.9, 0.95]}) == "high"
    rows = [
        {"key": "labeler", "kind": "cross-encoder", "value": 0.75},
        {"key": "untrained-small", "kind": "untrained", "value": 0.60},
    ]
    assert answers.right_answer("labeler", {"rows": rows}) == "much"
    assert answers.right_answer("labeler", {}) == ""


# --- the recipe and its shipped results ----------------------------------------------------------------


def test_the_recipe_can_begin_on_the_sample(workspace: Workspace) -> None:
    project = open_sample_project(workspace)
    plan = recipe.loop_plan()
    STEPS["batch"].check(workspace, project, plan)
    keys = {run.key for run in plan.runs}
    assert {key for run in plan.runs for key in referred(run)} <= keys
    steps = {
        from_json(STEPS[run.step].options_class, run.options).max_steps
        for run in plan.runs
        if run.key.startswith("student-") and run.key != "student-full"
    }
    assert steps == {recipe.STEPS}, "no student wins by taking more steps"


def test_the_topics_become_a_source_and_a_target_without_dev(workspace: Workspace) -> None:
    source, target = recipe.adaptation_projects(workspace)
    assert recipe.adaptation_projects(workspace) == (source, target), "made once"
    ours, theirs = (count_project(workspace, project.id) for project in (source, target))
    assert ours.gold + theirs.gold == 964
    assert (theirs.dev, theirs.test > 100) == (0, True)
    plan = recipe.adaptation_plan(workspace, source, target)
    STEPS["batch"].check(workspace, target, plan)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_results_say_what_they_are_from(name: str) -> None:
    found = learn_results.shipped(name)
    assert found is not None
    made = found["made"]
    assert made["n_done"] == made["n_runs"], "made by the whole recipe"
    assert made["seed"] == recipe.SEED
    assert {"torch", "sentence-transformers"} <= set(made["versions"])
    path = Path(__file__).parent.parent / "sample_data" / "precomputed" / f"{name}.json"
    assert path.stat().st_size < 60_000


def test_shipped_results_answer_every_question(workspace: Workspace) -> None:
    project = open_sample_project(workspace)
    loop, other = (learn_results.shipped(name) or {} for name in ("loop", "adaptation"))
    found = {
        **loop,
        "gold": gold.gold_scores(workspace, project.id, ["train"]).tolist(),
        "times": 1000.0,
    }
    for lesson in LESSONS:
        known = other if lesson.key == "adaptation" else found
        assert answers.right_answer(lesson.key, known) in lesson.choices, lesson.key


def test_the_figures_batches_can_begin_and_are_found_again(workspace: Workspace) -> None:
    for name in ("curve", "seeds"):
        project, plan = recipe.plan_for(workspace, name)
        STEPS["batch"].check(workspace, project, plan)
        assert plan.title == recipe.TITLES[name]
    with pytest.raises(ValueError, match="other"):
        recipe.plan_for(workspace, "other")


def test_every_labeler_of_the_curve_goes_on_from_one_warm_start(workspace: Workspace) -> None:
    _, plan = recipe.plan_for(workspace, "curve")
    first, *others = [run for run in plan.runs if run.step == "train-cross-encoder"]
    assert first.key == recipe.WARM
    assert all(referred(run) == [recipe.WARM] for run in others)
    sizes = [json.loads(run.options)["gold_limit"] for run in others]
    assert sizes == [60, 121, 242, 483]
    (measured,) = [run for run in plan.runs if run.step == "evaluate"]
    assert len(json.loads(measured.options)["targets"]) == 2 + 3 * len(sizes) + 1


def test_the_shipped_curve_has_all_models_at_every_size() -> None:
    found = learn_results.shipped("curve") or {}
    sizes = figure_words.sizes_of(found["points"])
    assert sizes[-1] == 483
    for series in figure_words.SERIES:
        assert list(figure_words.line_of(found["points"], series)) == sizes
    for point in found["points"]:
        assert point["low"] < point["value"] < point["high"]
    gold_only = figure_words.line_of(found["points"], "gold")
    labeler = figure_words.line_of(found["points"], "labeler")
    for n, point in labeler.items():
        assert point["difference"] == pytest.approx(point["value"] - gold_only[n]["value"])


def test_the_shipped_seeds_are_one_recipe_to_its_end() -> None:
    found = learn_results.shipped("seeds") or {}
    assert found["seeds"] == [recipe.SEED + place for place in range(recipe.N_SEEDS)]
    assert found["fractions"][-1] == 1.0
    assert all(len(row) == len(found["fractions"]) for row in found["dev"])
    assert all(0 < score < 1 for score in found["test"])
    # The first seed is the curve's last point: the same training, measured twice.
    curve = learn_results.shipped("curve") or {}
    last = figure_words.line_of(curve["points"], "gold")[483]
    assert found["test"][0] == pytest.approx(last["value"], abs=0.003)


def test_every_row_is_held_against_gold_only_training_of_its_size() -> None:
    rows = {row["key"]: row for row in (learn_results.shipped("loop") or {})["rows"]}
    for key, row in rows.items():
        twin = rows["gold-full" if key in learn_results.BESIDE_FULL else "gold-small"]
        if row is twin:
            assert row["difference"] is None
            continue
        assert row["difference"] == pytest.approx(row["value"] - twin["value"]), key
        assert row["difference_low"] < row["difference"] < row["difference_high"], key


def test_shipped_counts_are_those_of_the_samplers(workspace: Workspace) -> None:
    """The samplers do not depend on the machine, so they choose as many pairs here as when the file was made."""
    project = open_sample_project(workspace)
    loop = learn_results.shipped("loop") or {}
    made = learn.run_samplers(workspace, project)
    for one in made.found:
        shipped = loop["strategies"][one.strategy]
        assert one.n_pairs == pytest.approx(shipped["n_candidates"], rel=0.01), one.strategy
        assert sum(shipped["bins"]) == shipped["n_pairs"]
    distance = learn_results.distances_to_gold(
        gold.gold_scores(workspace, project.id, ["train"]), loop["strategies"]["bm25"]["bins"]
    )
    assert distance["distance"] == pytest.approx(loop["strategies"]["bm25"]["distance"])


def test_damaged_results_are_an_error_for_people(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = learn_results.shipped("loop") or {}
    monkeypatch.setattr(learn_results.bundle, "root", lambda: tmp_path)
    assert learn_results.shipped("loop") is None
    whole["strategies"]["kde"]["kl"] = np.nan
    learn_results.write_shipped(tmp_path / "sample_data" / "precomputed", "loop", whole)
    assert (learn_results.shipped("loop") or {})["strategies"]["kde"]["kl"] is None
    (tmp_path / "sample_data" / "precomputed" / "loop.json").write_text("{", encoding="utf-8")
    with pytest.raises(learn_results.WorkbenchError, match="cannot be read"):
        learn_results.shipped("loop")


def test_whoever_subtracts_the_numbers_shown_finds_the_difference_shown() -> None:
    assert shown.gap_text(0.72537, 0.60752) == "+11.7", "72.5 and 60.8"
    assert shown.gap_text(0.72537, 0.76266) == "−3.8", "72.5 and 76.3"
    assert shown.gap_text(0.5, 0.50004) == "+0.0"
    for name in ("loop", "adaptation"):
        rows = (learn_results.shipped(name) or {})["rows"]
        for row in rows:
            told = shown.difference_text(row, rows)
            theirs = next((one for one in rows if one["name"] == row["reference"]), None)
            assert bool(told) == (theirs is not None)
            if theirs:
                tenths = [round(10 * float(shown.hundred(one["value"]))) for one in (row, theirs)]
                assert round(10 * float(told.replace("−", "-"))) == tenths[0] - tenths[1]
    elsewhere = {"value": 0.7, "difference": 0.0126, "reference": "not in the table"}
    assert shown.difference_text(elsewhere, []) == "+1.3"
    assert shown.difference_text({"difference": None}, []) == ""


def test_a_sampler_is_timed_when_all_it_needs_is_loaded(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = open_sample_project(workspace)
    clock = [0.0]
    monkeypatch.setattr(learn.time, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(learn, "_prepared", [])
    monkeypatch.setattr(learn, "_embedded", lambda *_: (np.empty(0), 2.0))
    runs = []

    def sampler(corpus: Any, options: Any) -> list[int]:
        runs.append(len(corpus))
        # The first run prepares, the second is the step's own first one.
        clock[0] += 40 if len(runs) <= 2 else 1
        return [1, 2, 3]

    monkeypatch.setattr(learn, "SAMPLERS", dict.fromkeys(recipe.STRATEGIES, sampler))
    made = learn.run_samplers(workspace, project)
    assert [one.seconds for one in made.found] == [1.0] * len(recipe.STRATEGIES)
    assert made.embed_seconds == 2.0
    assert runs[0] < 10, "a few sentences are enough to prepare"
    learn.run_samplers(workspace, project)
    assert runs.count(runs[0]) == 1, "prepared once"


def test_neighbours_by_words_share_words(workspace: Workspace) -> None:
    project = open_sample_project(workspace)
    sentence = "Learning a language takes patience and practice."
    words, meaning = learn.neighbours_of(workspace, project, sentence, top_k=3)
    assert len(words) == len(meaning) == 3
    own = set(sentence.lower().strip(".").split())
    assert all(own & set(near.text.lower().strip(".").split()) for near in words)
    assert [near.score for near in meaning] == sorted(
        (near.score for near in meaning), reverse=True
    )


def test_both_models_are_timed(workspace: Workspace) -> None:
    project = open_sample_project(workspace)
    times = learn.time_encoders(workspace, project, *learn_results.EXAMPLE)
    assert times.score is None, "there is no trained cross-encoder yet"
    assert times.all_cross > times.all_bi
    assert times.all_cross == pytest.approx(49_995_000 / times.pairs_per_second)


def test_a_class_that_presses_at_once_has_one_clock(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = open_sample_project(workspace)
    measured = []
    measure = learn._measure

    def counted(*arguments: Any) -> learn.Speeds:
        assert learn._clock.locked(), "nobody else computes meanwhile"
        measured.append(arguments)
        return measure(*arguments)

    monkeypatch.setattr(learn, "_measure", counted)
    monkeypatch.setattr(learn, "_speeds", {})
    pairs = [("A dog runs.", "A dog runs."), ("A dog runs.", "Bread is baked."), ("One.", "Two.")]
    with ThreadPoolExecutor(len(pairs)) as class_:
        times = list(class_.map(lambda pair: learn.time_encoders(workspace, project, *pair), pairs))
    assert len(measured) == 1
    assert len({one.pairs_per_second for one in times}) == 1
    assert times[0].cosine == pytest.approx(1)
    assert len({round(one.cosine, 4) for one in times}) == 3, "everybody's own pair is scored"

    monkeypatch.setattr(learn, "FRESH_SECONDS", 0)
    learn.time_encoders(workspace, project, *pairs[0])
    assert len(measured) == 2


# --- progress ------------------------------------------------------------------------------------------


def test_a_prediction_is_kept_and_cannot_be_changed(workspace: Workspace) -> None:
    lessons.reveal_lesson(workspace, "ann", "gold", "low", {"right": "high"})
    lessons.reveal_lesson(workspace, "ann", "gold", "high", {"right": "high"})
    lessons.reveal_lesson(workspace, "bob", "gold", "high", {"right": "high"})
    kept = lessons.progress_of(workspace, "ann")["gold"]
    assert (kept.answer, kept.details) == ("low", {"right": "high"})
    assert kept.revealed_at
    assert [one.person for one in lessons.everyones_progress(workspace)] == ["ann", "bob"]


def test_forgetting_one_person_leaves_the_others(workspace: Workspace) -> None:
    for person in ("ann", "bob"):
        lessons.reveal_lesson(workspace, person, "gold", "low", {})
    assert lessons.forget_lessons(workspace, "ann") == 1
    assert not lessons.progress_of(workspace, "ann")
    assert lessons.forget_lessons(workspace) == 1
    assert not lessons.everyones_progress(workspace)


def test_progress_belongs_to_no_project(workspace: Workspace) -> None:
    project = open_sample_project(workspace)
    lessons.reveal_lesson(workspace, "ann", "gold", "low", {})
    projects.delete_project(workspace, project.id)
    assert json.dumps(lessons.progress_of(workspace, "ann")["gold"].answer) == '"low"'
