"""Best-worst answers by key: two picks a tuple, saved with the second, taken back one by one."""

from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from augsbert_core.storage import annotation_tasks, best_worst_answers, projects
from augsbert_core.storage.annotation_rows import raw_rows
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import AnnotationTask, Project
from augsbert_core.ui import annotate_keys, best_worst_view
from tests.annotated import add_task, item_ids, made_up_pairs
from tests.pages.conftest import words_on

TUPLES = np.array([[0, 1, 2, 3], [4, 5, 6, 7], [0, 2, 4, 6]])


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test reads four pairs at once."""
    for name in ("QUIET_SECONDS", "REPEAT_SECONDS"):
        monkeypatch.setattr(annotate_keys, name, 0.0)


@pytest.fixture
def task(workspace: Workspace, project: Project) -> AnnotationTask:
    return add_task(workspace, project, made_up_pairs(8), tuples=TUPLES, n_scores=1)


@pytest.fixture
def view(open_page: Callable[..., AppTest], project: Project, task: AnnotationTask) -> AppTest:
    app = open_page("annotate", project=project.id, task=task.id, view="annotate", annotator="Zoe")
    assert not app.exception
    return app


def press(app: AppTest, *names: str) -> AppTest:
    """Press buttons one after the other: "1" to "4", back, skip, undo."""
    for name in names:
        app = app.button(f"tuple-pick-{name}" if name.isdigit() else f"tuple-{name}").click().run()
        assert not app.exception
    return app


def question(app: AppTest) -> str:
    return next(str(found.value) for found in app.get("html") if "aug-ask" in str(found.value))


def test_two_keys_save_an_answer_and_show_the_next_tuple(
    view: AppTest, workspace: Workspace, task: AnnotationTask
) -> None:
    first = best_worst_answers.next_tuple(workspace, task.id, "Zoe")
    assert first is not None
    assert "<b>most</b>" in question(view)
    app = press(view, "3")
    assert "<b>least</b>" in question(app)
    assert app.button("tuple-pick-3").disabled
    assert not len(best_worst_answers.answers(workspace, task.id))
    app = press(app, "1")
    assert "<b>most</b>" in question(app)
    given = best_worst_answers.answers(workspace, task.id)
    items = item_ids(workspace, task)
    assert [items[given.best[0]], items[given.worst[0]]] == [
        first.pairs[2].item_id,
        first.pairs[0].item_id,
    ]
    assert given.judges.tolist() == ["Zoe"]
    now = best_worst_answers.next_tuple(workspace, task.id, "Zoe")
    assert now is not None
    assert now.id != first.id


def test_back_takes_the_first_pick_back(
    view: AppTest, workspace: Workspace, task: AnnotationTask
) -> None:
    app = press(view, "3", "back")
    assert "<b>most</b>" in question(app)
    assert app.button("tuple-back").disabled
    press(app, "1", "3")
    given = best_worst_answers.answers(workspace, task.id)
    assert len(given) == 1


def test_undo_takes_back_a_pick_and_then_answers(
    view: AppTest, workspace: Workspace, task: AnnotationTask
) -> None:
    app = press(view, "1", "2", "1", "2", "4", "undo")
    assert len(best_worst_answers.answers(workspace, task.id)) == 2
    app = press(app, "undo")
    assert len(best_worst_answers.answers(workspace, task.id)) == 1
    app = press(app, "undo", "undo")
    assert not len(best_worst_answers.answers(workspace, task.id))
    assert "nothing to undo" in words_on(app)


def test_a_skipped_tuple_comes_back_at_the_end(
    view: AppTest, workspace: Workspace, task: AnnotationTask
) -> None:
    put_off = best_worst_answers.next_tuple(workspace, task.id, "Zoe")
    app = press(view, "skip", "1", "2", "1", "2")
    now = best_worst_answers.next_tuple(workspace, task.id, "Zoe")
    assert put_off is not None
    assert now is not None
    assert now.id == put_off.id
    app = press(app, "1", "4")
    assert "No tuple is left for you" in words_on(app)
    assert len(best_worst_answers.answers(workspace, task.id)) == 3
    app = press(app, "undo")
    assert "<b>most</b>" in question(app)


def test_answers_are_there_after_a_refresh(
    view: AppTest,
    open_page: Callable[..., AppTest],
    project: Project,
    task: AnnotationTask,
) -> None:
    press(view, "1", "2")
    app = open_page("annotate", project=project.id, task=task.id, annotator="Zoe")
    assert any("1 of 3 tuples answered by you" in str(bar.proto) for bar in app.get("progress"))


def test_a_key_that_comes_too_soon_does_nothing(
    view: AppTest, workspace: Workspace, task: AnnotationTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(annotate_keys, "QUIET_SECONDS", 3600.0)
    app = press(view, "1")
    assert "<b>most</b>" in question(app)
    assert "Key ignored: the pair had only just appeared" in words_on(app)
    press(app, "skip")
    progress = best_worst_answers.tuple_progress(workspace, task.id, "Zoe")
    assert progress.skipped == 0


def test_undo_says_which_tuple_it_was(view: AppTest) -> None:
    app = press(view, "1", "2", "undo")
    assert "Undone: what you said on tuple 1" in words_on(app)


def test_name_guideline_and_keys_are_there_as_for_scores(
    open_page: Callable[..., AppTest],
    workspace: Workspace,
    project: Project,
    task: AnnotationTask,
) -> None:
    projects.set_guideline(workspace, project.id, "The same deed is **similar**.")
    app = open_page("annotate", project=project.id, task=task.id, annotator="Zoe")
    assert next(box for box in app.text_input if box.label == "Your name").value == "Zoe"
    assert "The same deed" in words_on(app)
    app = press(app, "help")
    assert any("aug-keys" in str(found.value) for found in app.get("html"))


def test_the_export_carries_the_sentences(
    view: AppTest, workspace: Workspace, task: AnnotationTask
) -> None:
    first = best_worst_answers.next_tuple(workspace, task.id, "Zoe")
    assert first is not None
    press(view, "3", "1", "skip")
    names, rows = raw_rows(workspace, task.id)
    answered, skipped = sorted(
        (dict(zip(names, row, strict=True)) for row in rows), key=lambda row: str(row["action"])
    )
    assert (answered["best"], answered["worst"]) == (3, 1)
    assert answered["pair3_sentence1"] == first.pairs[2].sentence1
    assert answered["pair1_sentence2"] == first.pairs[0].sentence2
    assert (skipped["best"], skipped["best_item"]) == (None, None)
    assert skipped["pair4_sentence2"]


def test_a_closed_task_asks_nothing(
    view: AppTest, workspace: Workspace, task: AnnotationTask
) -> None:
    annotation_tasks.close_task(workspace, task.id)
    app = press(view, "1")
    assert "takes no more answers" in words_on(app)


def test_sentences_are_shown_as_text(workspace: Workspace, project: Project) -> None:
    shown = best_worst_view.card_html(
        2, best_worst_answers.TuplePair(1, "<script>a</script>", "A & b"), is_best=True
    )
    assert "<script>" not in shown
    assert "&amp;" in shown
    assert "best" in shown
