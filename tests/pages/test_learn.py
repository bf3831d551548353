"""The guided demo: predict, reveal, go on; what was answered is remembered."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from augsbert_core.learn.lessons import LESSONS
from augsbert_core.steps import learn, learn_results
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


def test_a_reset_forgets_the_answers_after_a_confirmation(
    workspace: Workspace, open_page: Callable[..., AppTest]
) -> None:
    open_sample_project(workspace)
    lessons.reveal_lesson(workspace, person(), "encoders", "10", {"right": "1000"})
    page = open_page("learn")
    assert lessons.progress_of(workspace, person()), "nothing is forgotten before the confirmation"
    button(page, "Forget them").click().run()
    assert not lessons.progress_of(workspace, person())
