"""The Compare page: one honest table on one split."""

import json
import math
from typing import Any

import pytest

from augsbert_core.options import BUNDLED_MODEL
from augsbert_core.steps.compare import comparison, grouped
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.projects import create_project
from augsbert_core.storage.records import Project
from augsbert_core.ui import compare_actions, compare_view
from tests.pages.seeding import button, measure, open_page, queued, shown_text, silver_set, student

UNTRAINED = f"model:{BUNDLED_MODEL}@layers=2"


def rows_by_run(page: Any) -> dict[str, dict[str, Any]]:
    """The rows of the table by the runs that they are made of, "3" or "3, 5"."""
    return {row["Runs"]: row for row in page.dataframe[0].value.to_dict("records")}


@pytest.fixture
def measured(workspace: Workspace, project: Project) -> dict[str, int]:
    """An untrained model, a gold-only run and an AugSBERT run with twice its steps, all measured."""
    set_id = silver_set(workspace, project)
    found = {
        "gold": student(workspace, project, n_steps=3),
        "augmented": student(workspace, project, n_steps=6, silver_set_id=set_id),
    }
    measure(workspace, project, UNTRAINED, 0.5)
    measure(workspace, project, f"run:{found['gold']}", 0.7)
    measure(workspace, project, f"run:{found['augmented']}", 0.75)
    return found


def test_without_test_pairs_the_page_points_to_the_import(workspace: Workspace) -> None:
    page = open_page("compare", create_project(workspace, "New"))
    assert "no gold pairs in the test split" in shown_text(page)


def test_before_anything_is_measured_the_page_offers_to_measure(
    workspace: Workspace, project: Project
) -> None:
    page = open_page("compare", project)
    assert "Nothing has been measured on the test split yet" in shown_text(page)
    missing = comparison(workspace, project.id, "test").missing
    button(page, f"Measure {len(missing)} missing models").click().run()

    [(step, told)] = queued(workspace, project)
    assert step == "evaluate"
    assert json.loads(told)["split"] == "test"
    assert json.loads(told)["targets"] == list(missing)
    again = button(page, f"Measure {len(missing)} missing models")
    assert (again.disabled, again.help) == (True, "They are being measured now.")


def test_rows_are_times_100_with_intervals_and_costs(
    workspace: Workspace, project: Project, measured: dict[str, int]
) -> None:
    page = open_page("compare", project)
    ours = rows_by_run(page)[str(measured["augmented"])]
    assert ours["Model"] == "AugSBERT · Random pairs (silver set 1)"
    assert ours["Score"] == pytest.approx(75.0)
    assert ours["Interval"] == "65.0 to 85.0"
    assert (ours["Silver"], ours["Passes"], ours["Steps"], ours["Seeds"]) == (6, 6, 6, "42")
    assert ours["Difference"] == pytest.approx(5.0)
    assert ours["Against"] == "gold only, other steps"
    assert "bootstrap interval" in shown_text(page)
    assert "on the 3 test pairs" in shown_text(page)


def test_the_fair_opponent_is_trained_with_one_click(
    workspace: Workspace, project: Project, measured: dict[str, int]
) -> None:
    page = open_page("compare", project)
    button(page, "Train gold-only for 6 steps").click().run()

    [(step, told)] = queued(workspace, project)
    assert step == "train-bi-encoder"
    assert json.loads(told)["max_steps"] == 6
    assert json.loads(told)["silver_set_id"] is None
    assert not [found for found in page.button if found.label.startswith("Train gold-only")]


def test_a_lone_augmented_run_lacks_both_baselines(workspace: Workspace, project: Project) -> None:
    set_id = silver_set(workspace, project)
    student(workspace, project, n_steps=6, silver_set_id=set_id)
    missing = compare_actions.missing_baselines(workspace, project.id)
    assert [(found.options.silver_set_id, found.options.max_steps) for found in missing] == [
        (None, None),
        (None, 6),
    ]


def test_undefined_scores_are_said_to_be_undefined_and_are_not_drawn(
    workspace: Workspace, project: Project, measured: dict[str, int]
) -> None:
    measure(workspace, project, f"run:{measured['gold']}", None)
    page = open_page("compare", project)
    row = rows_by_run(page)[str(measured["gold"])]
    assert row["Model"] == "Gold only"
    assert math.isnan(row["Score"])
    assert "Gold only: the score is undefined" in shown_text(page)
    spec = json.loads(page.get("plotly_chart")[0].proto.spec)
    assert not any("Gold only" in name for trace in spec["data"] for name in trace["y"])


def test_rows_that_are_not_comparable_say_why(
    workspace: Workspace, project: Project, measured: dict[str, int]
) -> None:
    other = student(workspace, project, seed=7, learning_rate=5e-5)
    measure(workspace, project, f"run:{other}", 0.71)
    page = open_page("compare", project)
    row = rows_by_run(page)[str(other)]
    assert row["Model"] == "Gold only · lr 5e-5"
    assert row["Comparable"] == "no"
    assert "not comparable" in shown_text(page)
    assert "seed 7" in shown_text(page)


def test_runs_of_other_seeds_are_one_row_until_single_runs_are_asked_for(
    workspace: Workspace, project: Project, measured: dict[str, int]
) -> None:
    other = student(workspace, project, seed=7)
    measure(workspace, project, f"run:{other}", 0.74)
    page = open_page("compare", project)
    row = rows_by_run(page)[f"{other}, {measured['gold']}"]
    assert (row["Seeds"], row["Comparable"]) == ("2: 7, 42", "yes")
    assert row["Score"] == pytest.approx(72.0)
    assert row["Spread"] == pytest.approx(2.828, abs=1e-3)

    page.toggle(key="compare-single").set_value(True).run()
    rows = rows_by_run(page)
    assert rows[str(other)]["Score"] == pytest.approx(74.0)
    assert rows[str(measured["gold"])]["Score"] == pytest.approx(70.0)


def test_the_other_figures_are_drawn_when_they_are_chosen(
    workspace: Workspace, project: Project, measured: dict[str, int]
) -> None:
    page = open_page("compare", project)
    assert [box.label for box in page.selectbox] == ["Project"]
    page.button_group(key="compare-view").set_value("agreement").run()
    assert "mean gold scores" in shown_text(page)
    assert "Model" in [box.label for box in page.selectbox]
    page.button_group(key="compare-view").set_value("learning").run()
    assert "needs the same recipe on two sizes of gold" in shown_text(page)


def test_anything_that_scores_pairs_can_be_measured(workspace: Workspace, project: Project) -> None:
    page = open_page("compare", project)
    page.text_input[1].set_value("majority").run()
    button(page, "Measure this").click().run()
    [(_, told)] = queued(workspace, project)
    assert json.loads(told)["targets"] == ["majority"]


def test_another_model_is_measured_by_name(workspace: Workspace, project: Project) -> None:
    page = open_page("compare", project)
    page.text_input[0].set_value("somebody/model").run()
    button(page, "Measure it").click().run()
    [(_, told)] = queued(workspace, project)
    assert json.loads(told)["targets"] == ["model:somebody/model"]


def test_dev_scores_come_with_a_warning(
    workspace: Workspace, project: Project, measured: dict[str, int]
) -> None:
    measure(workspace, project, UNTRAINED, 0.4, split="dev")
    page = open_page("compare", project)
    page.button_group(key="compare-split").set_value("dev").run()
    assert page.dataframe[0].value["Score"].tolist() == [pytest.approx(40.0)]
    assert "optimistic" in shown_text(page)


def test_the_csv_names_the_split_and_leaves_undefined_scores_empty(
    workspace: Workspace, project: Project, measured: dict[str, int]
) -> None:
    measure(workspace, project, UNTRAINED, None)
    table = comparison(workspace, project.id, "test")
    found = grouped(workspace, project.id, table)
    text = compare_view.table_csv(table, found).decode("utf-8-sig")
    header, first, *_ = text.splitlines()
    row = dict(zip(header.split(","), first.replace(", first", "; first").split(","), strict=True))
    assert row["split"] == "test"
    assert row["value"] == ""
