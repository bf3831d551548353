"""The Train page: the student's recipe, its data, and the twin that keeps the comparison fair."""

import json

from augsbert_core.options import BUNDLED_MODEL
from augsbert_core.storage import reviews, silver_pages
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.projects import create_project
from augsbert_core.storage.records import Project
from tests.pages.seeding import button, metric, open_page, queued, shown_text, silver_set, student


def test_without_gold_pairs_the_page_points_to_the_import(workspace: Workspace) -> None:
    page = open_page("train", create_project(workspace, "New"))
    assert "no gold pairs to train on yet" in shown_text(page)
    assert not page.button


def test_gold_alone_can_be_trained_on_before_there_is_silver(
    workspace: Workspace, project: Project
) -> None:
    page = open_page("train", project)
    assert metric(page, "Pairs to train on") == "5"
    assert not page.checkbox
    button(page, "Train").click().run()
    [(step, told)] = queued(workspace, project)
    assert step == "train-bi-encoder"
    assert json.loads(told)["silver_set_id"] is None
    assert json.loads(told)["base"] == BUNDLED_MODEL


def test_a_new_student_has_the_projects_number_of_layers(project: Project) -> None:
    page = open_page("train", project)
    assert page.number_input(key=f"train-{project.id}-layers").value == project.student_layers


def test_silver_comes_with_a_gold_only_twin_of_as_many_steps(
    workspace: Workspace, project: Project
) -> None:
    set_id = silver_set(workspace, project)
    page = open_page("train", project)
    page.number_input(key=f"train-{project.id}-batch_size").set_value(2)
    page.number_input(key=f"train-{project.id}-epochs").set_value(3).run()
    assert metric(page, "Optimiser steps") == "18"  # (5 gold + 6 silver) / 2, rounded up, × 3
    button(page, "Train both").click().run()

    augmented, twin = (json.loads(told) for _, told in queued(workspace, project))
    assert (augmented["silver_set_id"], augmented["max_steps"]) == (set_id, None)
    assert (twin["silver_set_id"], twin["max_steps"]) == (None, 18)
    assert twin["batch_size"] == augmented["batch_size"]


def test_a_twin_that_waits_already_is_not_trained_twice(
    workspace: Workspace, project: Project
) -> None:
    silver_set(workspace, project)
    page = open_page("train", project)
    button(page, "Train both").click().run()
    assert "exists or is at work already" in shown_text(page)
    button(page, "Train").click().run()
    assert len(queued(workspace, project)) == 2, "an equal job that waits is not queued twice"


def test_rejected_pairs_do_not_count(workspace: Workspace, project: Project) -> None:
    set_id = silver_set(workspace, project)
    pair = silver_pages.silver_page(workspace, set_id, silver_pages.SilverFilter())["id"][0]
    reviews.review_silver_pair(workspace, int(pair), status="rejected", actor="reviewer")
    page = open_page("train", project)
    assert metric(page, "Pairs to train on") == "10"


def test_incomplete_silver_sets_are_not_offered(workspace: Workspace, project: Project) -> None:
    silver_set(workspace, project, labelled=2)
    page = open_page("train", project)
    data = next(found for found in page.selectbox if found.label == "Training data")
    assert data.options == ["Gold pairs only"]
    assert "no complete silver set" in shown_text(page)


def test_trained_students_are_listed(workspace: Workspace, project: Project) -> None:
    set_id = silver_set(workspace, project)
    plain, augmented = (
        student(workspace, project),
        student(workspace, project, silver_set_id=set_id),
    )
    page = open_page("train", project)
    table = page.dataframe[0].value
    assert table["Run"].tolist() == [augmented, plain]
    assert table["Silver"].tolist() == [6, 0]
    assert table["Data"].tolist() == [f"gold + silver {set_id}", "gold only"]
