"""Agreement as the Annotate page shows it: figures, worst pairs, adjudication by key, the way into gold."""

from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from augsbert_core.storage import annotations, gold
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import AnnotationTask, Project
from augsbert_core.ui.adjudication import ruler_html
from tests.annotated import NONE, add_task, answer_all, give, gold_ids, item_ids, made_up_pairs
from tests.pages.conftest import words_on

OpenPage = Callable[..., AppTest]
SCORES = {"Ann": [1, 2, 3, 5, 0], "Bea": [2, 2, 5, NONE, 0]}


@pytest.fixture
def task(workspace: Workspace, project: Project) -> AnnotationTask:
    """Five pairs; on the third Ann and Bea are 2 apart, on the first 1."""
    made = add_task(workspace, project, made_up_pairs(5), name="Round 1", n_scores=2)
    give(workspace, made, SCORES)
    return made


@pytest.fixture
def view(open_page: OpenPage, project: Project) -> Callable[[AnnotationTask], AppTest]:
    def view(task: AnnotationTask) -> AppTest:
        app = open_page(
            "annotate", project=project.id, task=task.id, view="agreement", annotator="Zoe"
        )
        assert not app.exception
        return app

    return view


def part(app: AppTest, task: AnnotationTask, name: str) -> AppTest:
    """Open one part of the view."""
    (control,) = [
        one
        for one in app.get("button_group")
        if one.key in (f"agreement-view-{task.id}", f"best-worst-results-{task.id}")
    ]
    app = control.set_value(name).run()
    assert not app.exception
    return app


def settled(workspace: Workspace, task: AnnotationTask) -> list[float]:
    """Adjudicated scores, −1 where there is none."""
    items = annotations.score_matrix(workspace, task.id).items
    return [round(score, 6) for score in items["adjudicated_score"].fillna(-1.0)]


def test_the_figures_say_how_to_read_agreement(
    view: Callable[..., AppTest], task: AnnotationTask
) -> None:
    app = view(task)
    words = words_on(app)
    assert "Krippendorff's α is 0.77" in words
    assert "0.667" in words
    assert {metric.label: metric.value for metric in app.metric} == {
        "Pairs scored": "5 of 5",
        "By two or more": "4",
        "Annotators": "2",
        "Pairs that differ": "2",
        "Flagged": "0",
    }
    assert len(app.get("plotly_chart")) == 4
    assert "suggestion" not in words


def test_a_score_given_after_the_suggestion_is_warned_of(
    view: Callable[..., AppTest], workspace: Workspace, project: Project
) -> None:
    task = add_task(
        workspace, project, made_up_pairs(2), n_scores=2, suggestions=np.array([0.5, 0.5])
    )
    give(workspace, task, {"Ann": [1, 2], "Bea": [1, 3]}, seen=["Ann"])
    assert "2 of 4 scores" in view(task).warning[0].value.replace("\\", "")


def test_nobody_and_one_person(
    view: Callable[..., AppTest], workspace: Workspace, project: Project
) -> None:
    task = add_task(workspace, project, made_up_pairs(2), n_scores=2)
    assert "Nobody has scored a pair of this task yet" in words_on(view(task))
    give(workspace, task, {"Ann": [1, 2]})
    app = view(task)
    assert "Only one person has scored" in app.info[0].value
    assert len(app.get("plotly_chart")) == 1


def test_the_worst_pair_is_on_top(view: Callable[..., AppTest], task: AnnotationTask) -> None:
    app = part(view(task), task, "worst")
    table = app.dataframe[0].value
    assert table["Apart"].tolist() == [2.0, 1.0]
    assert table["Ann"].tolist() == ["3", "1"]
    assert table["Bea"].tolist() == ["5", "2"]
    assert "Settled" not in table.columns


def test_a_key_settles_the_worst_pair_and_shows_the_next(
    view: Callable[..., AppTest], workspace: Workspace, task: AnnotationTask
) -> None:
    app = part(view(task), task, "adjudicate")
    key = f"adjudicate-{task.id}-apart"
    app = app.button(f"{key}-level-t").click().run()  # t is 3.5
    assert settled(workspace, task) == [-1, -1, 0.7, -1, -1]
    app = app.button(f"{key}-mean").click().run()
    assert settled(workspace, task) == [0.3, -1, 0.7, -1, -1]
    matrix = annotations.score_matrix(workspace, task.id)
    assert matrix.items["adjudicator"][2] == "Zoe"
    assert matrix.annotators == ["Ann", "Bea"]  # who settles has not scored
    app = app.button(f"{key}-undo").click().run()
    app = app.button(f"{key}-undo").click().run()
    assert settled(workspace, task) == [-1] * 5
    assert app.button(f"{key}-undo").disabled
    assert app.button(f"{key}-previous").disabled


def test_who_settles_is_said_and_an_annotator_of_the_pair_is_warned(
    open_page: OpenPage, workspace: Workspace, project: Project, task: AnnotationTask
) -> None:
    third = open_page(
        "annotate", project=project.id, task=task.id, view="agreement", annotator="Zoe"
    )
    third = part(third, task, "adjudicate")
    assert "You settle as Zoe" in words_on(third).replace("\\", "")
    assert not third.info
    one = open_page("annotate", project=project.id, task=task.id, view="agreement", annotator="Ann")
    one = part(one, task, "adjudicate")
    assert "Ann is one of the annotators of this pair" in one.info[0].value.replace("\\", "")


def test_settled_scores_are_merged_unless_something_else_is_chosen_and_a_small_dev_is_warned_of(
    view: Callable[..., AppTest], workspace: Workspace, project: Project, task: AnnotationTask
) -> None:
    app = part(view(task), task, "merge")
    assert app.selectbox(key=f"merge-how-{task.id}").value == "mean"
    annotations.adjudicate(workspace, item_ids(workspace, task)[2], 0.4, "Zoe")
    app = part(view(task), task, "merge")
    assert app.selectbox(key=f"merge-how-{task.id}-settled").value == "adjudicated"
    app.selectbox(f"merge-where-{task.id}").set_value("train").run()
    app = app.button(f"merge-look-{task.id}").click().run()
    assert any("Dev chooses the epoch" in one.value for one in app.warning)


def test_arrows_move_without_settling(
    view: Callable[..., AppTest], workspace: Workspace, task: AnnotationTask
) -> None:
    app = part(view(task), task, "adjudicate")
    key = f"adjudicate-{task.id}-apart"
    app = app.button(f"{key}-next").click().run()
    assert app.button(f"{key}-next").disabled
    app = app.button(f"{key}-level-2").click().run()
    assert settled(workspace, task) == [0.4, -1, -1, -1, -1]


def test_a_settled_pair_can_be_left_open_again(
    view: Callable[..., AppTest], workspace: Workspace, task: AnnotationTask
) -> None:
    annotations.adjudicate(workspace, item_ids(workspace, task)[2], 0.4, "Ann")
    app = part(view(task), task, "adjudicate")
    app.button(f"adjudicate-{task.id}-apart-open").click().run()
    assert settled(workspace, task) == [-1] * 5


def test_a_preview_writes_nothing_and_the_button_does(
    view: Callable[..., AppTest], workspace: Workspace, project: Project, task: AnnotationTask
) -> None:
    before = len(gold_ids(workspace, project))
    app = part(view(task), task, "merge")
    app.selectbox(f"merge-where-{task.id}").set_value("train").run()
    app = app.button(f"merge-look-{task.id}").click().run()
    assert {metric.label: metric.value for metric in app.metric}["New gold pairs"] == "5"
    assert len(gold_ids(workspace, project)) == before
    app = app.button(f"merge-write-{task.id}").click().run()
    assert not app.exception
    assert "5 pairs of Round 1 are gold now" in app.success[0].value.replace("\\", "")
    page, total = gold.gold_page(workspace, project.id, gold.GoldFilter(text="sofa 0"))
    assert total == 1
    assert page["raw_score"].tolist() == [1.5]
    app = app.button(f"merge-look-{task.id}").click().run()
    assert "nothing would come into gold" in words_on(app)


def test_best_worst_results(
    view: Callable[..., AppTest], workspace: Workspace, project: Project
) -> None:
    tuples = np.array([[0, 1, 2, 3], [4, 5, 6, 7], [0, 2, 4, 6], [1, 3, 5, 7]])
    task = add_task(workspace, project, made_up_pairs(8), tuples=tuples, n_scores=2)
    assert "Nobody has answered" in words_on(view(task))
    truth = {item: float(place) for place, item in enumerate(item_ids(workspace, task))}
    answer_all(workspace, task, "Ann", truth)
    app = view(task)
    assert "Only one person has answered" in words_on(app).replace("\\", "")
    answer_all(workspace, task, "Bea", truth)
    app = view(task)
    assert "Split-half reliability is 1.00" in words_on(app)
    assert "0.66" in words_on(app)
    assert "4 tuples per pair are recommended" in words_on(app)
    table = part(app, task, "pairs").dataframe[0].value
    assert table["Score"].tolist()[0] == 1.0
    assert table["Times judged"].tolist() == [4] * 8


def test_names_on_the_ruler_are_text(project: Project) -> None:
    shown = ruler_html({"<b>Ann</b>": 0.5}, 1.0, project.score_range)
    assert "&lt;b&gt;Ann&lt;/b&gt; · 2.5" in shown
    assert "settled · 5" in shown
    assert "settled by &lt;i&gt;Z · 5" in ruler_html({}, 1.0, project.score_range, "<i>Z")
