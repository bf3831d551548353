"""The guided demo: predict, reveal, go on; what was answered is remembered."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from augsbert_core.learn.lessons import LESSONS
from augsbert_core.steps import learn, learn_results
from augsbert_core.steps import learn_recipe as recipe
from augsbert_core.steps.sample_project import open_sample_project
from augsbert_core.storage import lessons, projects
from augsbert_core.storage.database import Workspace
from augsbert_core.ui.identity import person
from tests.pages.conftest import words_on
from tests.pages.seeding import button, queued, shown_text

TIMES = learn.Times(
    cosine=0.6, score=None, pair_bi=0.01, pair_cross=0.02, sentences_per_second=500.0,
    pairs_per_second=200.0, compare_seconds=2.0, n_timed=96, device="cpu",
)  # fmt: skip


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No clock, no model: what is measured live is made up, the rest is the real page."""
    monkeypatch.setattr(learn, "time_encoders", lambda *_: TIMES)
    found = tuple(
        learn.Sampled(name, 100, 0.1)
        for name in ("random", "kde", "bm25", "semantic", "bm25+semantic")
    )
    monkeypatch.setattr(learn, "run_samplers", lambda *_: learn.Sampling(966, 466_095, 1.0, found))
    near = [learn.Near("A cat sleeps.", 3.0)]
    monkeypatch.setattr(learn, "neighbours_of", lambda *_, **__: (near, near))


def answer(page: AppTest, choice: str) -> None:
    """Predict a choice and reveal the result."""
    page.radio[0].set_value(choice).run()
    next(found for found in page.button if str(found.key).startswith("learn-reveal-")).click().run()
    assert not page.exception, page.exception


def test_an_empty_workspace_begins_with_the_sample(
    workspace: Workspace, open_page: Callable[..., AppTest]
) -> None:
    page = open_page("learn")
    button(page, "Begin").click().run()
    assert not page.exception
    assert projects.list_projects(workspace)[0].is_sample
    assert "Two ways to compare sentences" in words_on(page)
    assert page.radio[0].label == LESSONS[0].question


def test_all_eight_steps_can_be_answered_and_are_remembered(
    workspace: Workspace, open_page: Callable[..., AppTest], quick: None
) -> None:
    open_sample_project(workspace)
    page = open_page("learn")
    for lesson in LESSONS:
        assert page.radio[0].label == lesson.question
        answer(page, next(iter(lesson.choices)))
        text = words_on(page)
        assert "What the paper found" in text
        assert "You predicted" in text, lesson.key
        assert any(one.label == "What happened here?" for one in page.expander), lesson.key
        if lesson is not LESSONS[-1]:
            button(page, f"Next: {LESSONS[LESSONS.index(lesson) + 1].short}").click().run()
    assert "All eight steps are done" in shown_text(page)
    kept = lessons.progress_of(workspace, person())
    assert len(kept) == len(LESSONS)
    assert {one.details["right"] for one in kept.values()} <= {
        key for lesson in LESSONS for key in lesson.choices
    }

    again = open_page("learn", lesson="encoders")
    assert not again.radio, "an answer is given once"
    assert "You predicted" in words_on(again)


def test_the_result_is_hidden_until_it_was_predicted(
    workspace: Workspace, open_page: Callable[..., AppTest], quick: None
) -> None:
    open_sample_project(workspace)
    page = open_page("learn", lesson="sampling")
    reveal = next(found for found in page.button if found.key == "learn-reveal-sampling")
    assert reveal.disabled
    assert not page.dataframe
    next(found for found in page.button if found.key == "learn-skip-sampling").click().run()
    assert "Not predicted" in words_on(page)
    assert page.dataframe


def test_a_restart_goes_on_at_the_first_step_that_is_not_done(
    workspace: Workspace, open_page: Callable[..., AppTest]
) -> None:
    open_sample_project(workspace)
    for lesson in LESSONS[:2]:
        lessons.reveal_lesson(workspace, person(), lesson.key, "low", {"right": "low"})
    assert open_page("learn").radio[0].label == LESSONS[2].question


def revealed(workspace: Workspace, lesson: str, open_page: Callable[..., AppTest]) -> AppTest:
    """The page of a lesson whose result was revealed before."""
    open_sample_project(workspace)
    lessons.reveal_lesson(workspace, person(), lesson, "", {"right": ""})
    return open_page("learn", lesson=lesson)


def test_scores_against_training_size_follow_the_chosen_number_of_pairs(
    workspace: Workspace, open_page: Callable[..., AppTest]
) -> None:
    page = revealed(workspace, "labeler", open_page)
    points = (learn_results.shipped("curve") or {})["points"]
    at = {
        n: [f"{100 * point['value']:.1f}" for point in points if point["n_gold"] == n]
        for n in (60, 483)
    }
    shown = [one.value for one in page.metric if "·" in one.label]
    assert sorted(shown) == sorted(at[60]), "the fewest pairs at first"
    page.select_slider(key="learn-curve-size").set_value(483).run()
    assert sorted(one.value for one in page.metric if "·" in one.label) == sorted(at[483])
    assert "From 60 to 483 gold pairs" in words_on(page)
    page.toggle(key="learn-curve-bars").set_value(False).run()
    assert not page.exception
    page.button_group(key="learn-curve-models").set_value([]).run()
    assert not page.exception
    assert "Choose a model above" in words_on(page)


def test_one_seed_has_no_spread_and_several_have(
    workspace: Workspace, open_page: Callable[..., AppTest]
) -> None:
    page = revealed(workspace, "student", open_page)
    n = len((learn_results.shipped("seeds") or {})["seeds"])
    assert f"These {n} seeds end between" in words_on(page)
    page.select_slider(key="learn-seeds-stop").set_value(0.5).run()
    assert "After 50 % of the steps" in words_on(page)
    page.select_slider(key="learn-seeds-many").set_value(1).run()
    assert not page.exception
    assert "nothing to hold it against" in words_on(page)


def test_the_figures_are_computed_here_when_asked_for(
    workspace: Workspace, open_page: Callable[..., AppTest]
) -> None:
    page = revealed(workspace, "labeler", open_page)
    page.button(key="learn-recompute-curve").click().run()
    assert not page.exception
    ((step, told),) = queued(workspace, projects.list_projects(workspace)[0])
    assert step == "batch"
    assert recipe.CURVE_TITLE in told
    assert page.button(key="learn-recompute-curve").disabled
    assert not page.button(key="learn-recompute-loop").disabled, "another batch"


def test_results_without_a_stored_copy_wait_for_the_recipe(
    workspace: Workspace, open_page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learn_results, "shipped", lambda name: None)
    open_sample_project(workspace)
    page = open_page("learn", lesson="student")
    assert "no precomputed results" in words_on(page)
    button(page, "Recompute here").click().run()
    assert not page.exception
    project = projects.list_projects(workspace)[0]
    ((step, told),) = queued(workspace, project)
    assert step == "batch"
    assert "Guided demo" in told


def test_teacher_notes_are_shown_when_asked_for(
    workspace: Workspace, open_page: Callable[..., AppTest]
) -> None:
    open_sample_project(workspace)
    page = open_page("learn", lesson="gold")
    assert LESSONS[1].notes[0] not in words_on(page)
    page.toggle(key="learn-notes").set_value(True).run()
    assert LESSONS[1].notes[0] in words_on(page)
    assert "1" in page.query_params["notes"]
    page.toggle(key="learn-notes").set_value(False).run()
    assert "notes" not in page.query_params


def test_a_refresh_keeps_the_teacher_notes(
    workspace: Workspace, open_page: Callable[..., AppTest]
) -> None:
    open_sample_project(workspace)
    page = open_page("learn", lesson="student", notes="1")
    assert page.toggle(key="learn-notes").value
    assert LESSONS[6].notes[0] in words_on(page)
    assert "Misprint in the paper" in words_on(page)


def test_a_slider_that_nobody_moved_is_no_score(
    workspace: Workspace, open_page: Callable[..., AppTest]
) -> None:
    open_sample_project(workspace)
    page = open_page("learn", lesson="labelling")
    page.select_slider(key="learn-mine-1").set_value(4.0).run()
    answer(page, "10")
    kept = lessons.progress_of(workspace, person())["labelling"].details["judged"]
    assert [pair["mine"] for pair in kept] == [None, 0.8, None]
    assert list(page.dataframe[0].value["You"]) == ["not scored", "4.00", "not scored"]
    assert "On the 1 pair that you scored" in words_on(page)


def test_the_table_names_the_origin_of_the_labeler_and_says_which_interval_counts(
    workspace: Workspace, open_page: Callable[..., AppTest]
) -> None:
    page = revealed(workspace, "adaptation", open_page)
    assert "Labeler of the old topics" in list(page.dataframe[0].value["Model"])
    assert "same test pairs" in words_on(page)


def test_a_reset_forgets_the_answers_after_a_confirmation(
    workspace: Workspace, open_page: Callable[..., AppTest]
) -> None:
    open_sample_project(workspace)
    lessons.reveal_lesson(workspace, person(), "encoders", "10", {"right": "1000"})
    page = open_page("learn")
    assert lessons.progress_of(workspace, person()), "nothing is forgotten before the confirmation"
    button(page, "Forget them").click().run()
    assert not lessons.progress_of(workspace, person())
