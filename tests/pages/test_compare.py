"""The Compare page: one honest table on one split."""

import json
import math

import pytest

from augsbert_core.options import BUNDLED_MODEL
from augsbert_core.steps.compare import comparison
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.projects import create_project
from augsbert_core.storage.records import Project
from augsbert_core.ui import compare_view
from tests.pages.seeding import button, measure, open_page, queued, shown_text, silver_set, student

UNTRAINED = f"model:{BUNDLED_MODEL}@layers=2"


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


def test_rows_are_times_100_with_intervals_and_costs(
    workspace: Workspace, project: Project, measured: dict[str, int]
) -> None:
    page = open_page("compare", project)
    rows = {row["Model"]: row for row in page.dataframe[0].value.to_dict("records")}
    ours = rows[f"AugSBERT · 6 silver · run {measured['augmented']}"]
    assert ours["Score"] == pytest.approx(75.0)
    assert ours["Interval"] == "65.0 – 85.0"
    assert (ours["Silver"], ours["Passes"], ours["Steps"], ours["Seed"]) == (6, 6, 6, "42")
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
    missing = compare_view.missing_baselines(workspace, project.id)
    assert [(found.options.silver_set_id, found.options.max_steps) for found in missing] == [
        (None, None),
        (None, 6),
    ]


def test_undefined_scores_are_said_to_be_undefined_and_are_not_drawn(
    workspace: Workspace, project: Project, measured: dict[str, int]
) -> None:
    measure(workspace, project, f"run:{measured['gold']}", None)
    page = open_page("compare", project)
    assert page.dataframe[0].proto.placeholder == "undefined"
    rows = {row["Model"]: row for row in page.dataframe[0].value.to_dict("records")}
    assert math.isnan(rows[f"Gold only · run {measured['gold']}"]["Score"])
    spec = json.loads(page.get("plotly_chart")[0].proto.spec)
    assert not any("Gold only" in name for trace in spec["data"] for name in trace["y"])


def test_rows_that_are_not_comparable_say_why(
    workspace: Workspace, project: Project, measured: dict[str, int]
) -> None:
    other = student(workspace, project, seed=7)
    measure(workspace, project, f"run:{other}", 0.71)
    page = open_page("compare", project)
    rows = {row["Model"]: row for row in page.dataframe[0].value.to_dict("records")}
    assert rows[f"Gold only · run {other}"]["Comparable"] == "no"
    assert "is not comparable" in shown_text(page)
    assert "seed 7" in shown_text(page)


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
    text = compare_view.table_csv(comparison(workspace, project.id, "test")).decode("utf-8-sig")
    header, first, *_ = text.splitlines()
    row = dict(zip(header.split(","), first.replace(", first", "; first").split(","), strict=True))
    assert row["split"] == "test"
    assert row["value"] == ""
