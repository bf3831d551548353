"""The Cross-encoder page: a recipe, its cost, and the labelers trained so far."""

import json

import pytest

from augsbert_core.storage.database import Workspace
from augsbert_core.storage.projects import create_project
from augsbert_core.storage.records import Project
from tests.pages.seeding import button, labeler, metric, open_page, queued, shown_text


def test_without_a_project_the_page_points_to_start(workspace: Workspace) -> None:
    page = open_page("cross_encoder", None)
    assert "There is no project yet" in shown_text(page)
    assert not page.metric


def test_without_gold_pairs_the_page_points_to_the_import(workspace: Workspace) -> None:
    page = open_page("cross_encoder", create_project(workspace, "New"))
    assert "no gold pairs to train on yet" in shown_text(page)
    assert not page.button


def test_the_steps_follow_the_recipe_at_once(workspace: Workspace, project: Project) -> None:
    page = open_page("cross_encoder", project)
    assert metric(page, "Gold pairs to train on") == "5"
    assert metric(page, "Dev pairs") == "3"

    page.number_input(key=f"cross-{project.id}-batch_size").set_value(2)
    page.number_input(key=f"cross-{project.id}-epochs").set_value(4).run()

    assert metric(page, "Optimiser steps") == "12"  # 5 pairs make 3 batches of 2


def test_the_papers_recipe_is_one_click_and_what_is_shown_is_queued(
    workspace: Workspace, project: Project
) -> None:
    page = open_page("cross_encoder", project)
    button(page, "Paper's recipe").click().run()
    page.number_input(key=f"cross-{project.id}-seed").set_value(7)
    button(page, "Train the cross-encoder").click().run()

    assert not page.exception
    [(step, told)] = queued(workspace, project)
    options = json.loads(told)
    assert step == "train-cross-encoder"
    assert options["learning_rate"] == 1e-5
    assert options["batch_size"] == 16
    assert options["base"] == "google-bert/bert-base-uncased"
    assert options["seed"] == 7


def test_trained_labelers_are_listed_with_their_scores(
    workspace: Workspace, project: Project
) -> None:
    run_id = labeler(workspace, project)
    page = open_page("cross_encoder", project)
    [row] = page.dataframe[0].value.to_dict("records")
    assert (row["Run"], row["Seed"], row["Steps"]) == (run_id, 42, 6)
    assert row["Dev"] == pytest.approx(77.6)
    assert row["Time"] == "1 min 01 s"
