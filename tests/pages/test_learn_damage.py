"""The guided demo with shipped results that are missing or damaged, and with a job in the way of its reset."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from augsbert_core import bundle, jobs
from augsbert_core.learn.lessons import LESSONS
from augsbert_core.options import LabelOptions
from augsbert_core.steps import learn, learn_results
from augsbert_core.steps import learn_recipe as recipe
from augsbert_core.steps import learn_shapes as shapes
from augsbert_core.steps.sample_project import open_sample_project
from augsbert_core.storage import batches, lessons, projects, queue, runs
from augsbert_core.storage.database import Workspace
from augsbert_core.ui import learn_parts
from augsbert_core.ui.identity import person
from tests.pages.conftest import words_on
from tests.pages.seeding import button, finished_run

WHOLE = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in (bundle.root() / "sample_data" / "precomputed").glob("*.json")
}


def nulled(value: Any) -> Any:
    """The same table, with nothing in the place of every number."""
    if isinstance(value, dict):
        return {name: nulled(each) for name, each in value.items()}
    if isinstance(value, list):
        return [nulled(each) for each in value]
    return None if isinstance(value, int | float) else value


def renamed(value: Any) -> Any:
    """The same numbers under the names of another version."""
    if isinstance(value, dict):
        return {f"the_{name}": renamed(each) for name, each in value.items()}
    return [renamed(each) for each in value] if isinstance(value, list) else value


DAMAGE: dict[str, Callable[[dict[str, Any]], str | None]] = {
    "missing": lambda whole: None,
    "truncated": lambda whole: json.dumps(whole)[:400],
    "null": lambda whole: "null",
    "a number": lambda whole: "3",
    "a list": lambda whole: json.dumps([whole]),
    "empty table": lambda whole: "{}",
    "no made": lambda whole: json.dumps({**whole, "made": None}),
    "other schema": lambda whole: json.dumps({**renamed(whole), "made": whole["made"]}),
    "other names within": lambda whole: json.dumps({
        name: part if name == "made" else renamed(part) if name != "dev" else {"seeds": part}
        for name, part in whole.items()}),
    "parts of another kind": lambda whole: json.dumps({
        name: part if name == "made" else "many" for name, part in whole.items()}),
    "nulls": lambda whole: json.dumps({
        name: part if name == "made" else nulled(part) for name, part in whole.items()}),
}  # fmt: skip
"""Kind of damage → what is in the file then; None when there is no file."""


@pytest.fixture
def ship(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str | None], None]:
    """Put a file in the place of shipped results: ship("loop", "{}"); all four are missing at first."""
    folder = tmp_path / "installed" / "sample_data" / "precomputed"
    folder.mkdir(parents=True)
    root = SimpleNamespace(root=lambda: tmp_path / "installed")
    monkeypatch.setattr(learn_results, "bundle", root)
    monkeypatch.setattr(learn, "neighbours_of", lambda *_, **__: ([], []))

    def ship(name: str, text: str | None) -> None:
        if text is not None:
            (folder / f"{name}.json").write_text(text, encoding="utf-8")

    return ship


def lives(page: AppTest) -> str:
    """What the page says; it has its lesson, the other steps, class tools with the hand-out, and the reset."""
    assert not page.exception, page.exception
    assert {one.proto.label for one in page.get("download_button")} == {"Markdown", "HTML to print"}
    assert page.button(key="learn-reset-now")
    assert page.button(key="learn-back")
    return words_on(page).replace("\\", "")


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("lesson", LESSONS[2:], ids=lambda lesson: lesson.key)
def test_a_step_goes_on_without_its_results(
    workspace: Workspace, open_page: Callable[..., AppTest], ship: Callable, lesson, damage: str
) -> None:
    for name, whole in WHOLE.items():
        ship(name, DAMAGE[damage](whole))
    open_sample_project(workspace)
    name = "adaptation" if lesson.key == "adaptation" else "loop"
    page = open_page("learn", lesson=lesson.key)
    for state in ("not yet revealed", "revealed before"):
        text = lives(page)
        assert (f"{name}.json cannot be read" in text) == (damage != "missing"), state
        assert "There are no precomputed results for this step" in text, state
        assert not page.button(key=f"learn-recompute-{name}").disabled, state
        if state == "not yet revealed":
            assert page.button(key=f"learn-skip-{lesson.key}").disabled
            page.radio[0].set_value(next(iter(lesson.choices))).run()
            assert page.button(key=f"learn-reveal-{lesson.key}").disabled
            assert not lessons.progress_of(workspace, person()), "nothing to judge, nothing kept"
            lessons.reveal_lesson(workspace, person(), lesson.key, "", {"right": ""})
            page.run()


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("damage", [one for one in DAMAGE if one != "missing"])
def test_damaged_results_are_named_with_the_remedy(ship: Callable, name: str, damage: str) -> None:
    ship(name, json.dumps(WHOLE[name]))
    assert learn_results.shipped(name) == WHOLE[name], "whole ones are read"
    ship(name, DAMAGE[damage](WHOLE[name]))
    with pytest.raises(
        learn_results.WorkbenchError, match=rf"{name}\.json cannot be read.*Install"
    ):
        learn_results.shipped(name)


@pytest.mark.parametrize("damage", ["missing", "truncated", "nulls"])
@pytest.mark.parametrize("lesson", ["labeler", "student"])
def test_figures_stay_where_the_table_is_lost(
    workspace: Workspace,
    open_page: Callable[..., AppTest],
    ship: Callable,
    lesson: str,
    damage: str,
) -> None:
    for name, whole in WHOLE.items():
        ship(name, DAMAGE[damage](whole) if name == "loop" else json.dumps(whole))
    open_sample_project(workspace)
    lessons.reveal_lesson(workspace, person(), lesson, "", {"right": ""})
    page = open_page("learn", lesson=lesson)
    figure = {"labeler": "more_gold", "student": "seeds"}[lesson]
    assert {"more_gold": "gold pairs the labeler", "seeds": "seeds end between"}[figure] in lives(
        page
    )


@pytest.mark.parametrize(("lesson", "figure"), [("labeler", "curve"), ("student", "seeds")])
def test_a_damaged_figure_leaves_the_table(
    workspace: Workspace,
    open_page: Callable[..., AppTest],
    ship: Callable,
    lesson: str,
    figure: str,
) -> None:
    for name, whole in WHOLE.items():
        ship(name, "[]" if name == figure else json.dumps(whole))
    open_sample_project(workspace)
    lessons.reveal_lesson(workspace, person(), lesson, "", {"right": ""})
    page = open_page("learn", lesson=lesson)
    assert f"{figure}.json cannot be read" in lives(page)
    assert not page.button(key=f"learn-recompute-{figure}").disabled
    assert any(one.label == "What happened here?" for one in page.expander)


def test_results_that_do_not_answer_the_question_keep_no_prediction(
    workspace: Workspace, open_page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    open_sample_project(workspace)
    page = open_page("learn", lesson="gold")
    page.radio[0].set_value("low").run()
    monkeypatch.setattr(learn_parts, "right_answer", lambda *_: "")
    page.button(key="learn-reveal-gold").click().run()
    assert "nothing was kept" in lives(page)
    assert not lessons.progress_of(workspace, person())


@pytest.mark.parametrize(
    "lost", [("student-full",), ("labeler",), ("student-bm25", "student-full")]
)
def test_a_table_without_a_row_asks_nothing_it_cannot_judge(
    workspace: Workspace, open_page: Callable[..., AppTest], ship: Callable, lost: tuple[str, ...]
) -> None:
    rows = [row for row in WHOLE["loop"]["rows"] if row["key"] not in lost]
    ship("loop", json.dumps({**WHOLE["loop"], "rows": rows}))
    open_sample_project(workspace)
    lesson = "labeler" if lost == ("labeler",) else "student"
    page = open_page("learn", lesson=lesson)
    assert page.button(key=f"learn-skip-{lesson}").disabled
    lessons.reveal_lesson(workspace, person(), lesson, "", {"right": ""})
    lives(page.run())


# --- live results --------------------------------------------------------------------------------------


def test_live_results_go_on_without_what_was_removed_since(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = open_sample_project(workspace)
    batch = finished_run(workspace, project, "batch", recipe.loop_plan())
    silver = finished_run(workspace, project, "label", LabelOptions(1, "run:1"), silver_set_id=99)
    kept = {
        "silver-bm25": runs.get_run(workspace, silver),
        "silver-kde": runs.get_run(workspace, silver),
    }
    monkeypatch.setattr(learn_results, "children_done", lambda *_: kept)
    found = learn_results.loop_results(workspace, project, runs.get_run(workspace, batch))
    assert "strategies" not in found, "their candidates are gone"
    assert not found["judged"], "the silver set is gone"


def test_only_parts_that_cannot_be_shown_are_left_out() -> None:
    whole = WHOLE["loop"]
    assert shapes.sound("loop", whole) == whole
    undefined = [{**whole["rows"][0], "value": None}]
    for part, broken in (("rows", undefined), ("pool", [0, 0]), ("labeler", {}), ("judged", [{}])):
        left = shapes.sound("loop", {**whole, part: broken})
        assert set(whole) - set(left) == {part}
    open_ends = [{**whole["rows"][0], "low": None, "high": None, "difference": None}]
    assert shapes.sound("loop", {"rows": open_ends}) == {"rows": open_ends}
    short = {**WHOLE["seeds"], "fractions": [0.5, 1.0]}
    assert "dev" not in shapes.sound("seeds", short), "a column for each share of the steps"


# --- the reset -------------------------------------------------------------------------------------------


def names(workspace: Workspace) -> set[str]:
    return {project.name for project in projects.list_projects(workspace)}


def test_a_reset_removes_nothing_while_a_job_is_in_the_way(
    workspace: Workspace, open_page: Callable[..., AppTest]
) -> None:
    open_sample_project(workspace)
    target, plan = recipe.plan_for(workspace, "adaptation")
    job = jobs.enqueue(workspace, target.id, "batch", plan)
    lessons.reveal_lesson(workspace, person(), "gold", "low", {"right": "low"})
    before = names(workspace)
    assert len(before) == 3
    page = open_page("learn")
    page.checkbox(key="learn-reset-project").set_value(True).run()
    button(page, "Forget them").click().run()
    (error,) = page.error
    assert error.value.startswith(
        "Nothing was removed: job 1 of the project “Sample: target topics”"
    )
    assert "Jobs page" in error.value
    assert names(workspace) == before
    assert lessons.progress_of(workspace, person())

    queue.finish_job(workspace, getattr(job, "id", job), "cancelled", message="cancelled")
    button(page, "Forget them").click().run()
    assert not page.exception
    assert not names(workspace)
    assert not lessons.progress_of(workspace, person())


def test_a_batch_elsewhere_that_trains_in_the_sample_is_in_the_way_too(
    workspace: Workspace,
) -> None:
    sample = open_sample_project(workspace)
    mine = projects.create_project(workspace, "Mine")
    run_id = runs.add_run(workspace, mine.id, "batch", "A batch", "{}", 1)
    queue.add_job(workspace, mine.id, run_id, "batch", "cpu")
    recipe.refuse_while_at_work(workspace)
    batches.open_child(
        workspace, run_id, "a", project_id=sample.id, step="sample", name="Its first run",
        options="{}", seed=1, device=None, versions={},
    )  # fmt: skip
    with pytest.raises(learn_results.WorkbenchError, match=f"project “{sample.name}” is not done"):
        recipe.refuse_while_at_work(workspace)
