"""The Sample page: choose candidate pairs, look at them, and have them labelled."""

import json

from augsbert_core.storage.candidates import list_candidate_sets
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.projects import create_project
from augsbert_core.storage.records import Project
from tests.pages.seeding import (
    button,
    candidate_set,
    labeler,
    metric,
    open_page,
    queued,
    shown_text,
    silver_set,
)


def test_without_sentences_the_page_points_to_the_import(workspace: Workspace) -> None:
    page = open_page("sample", create_project(workspace, "New"))
    assert "no sentences to pair yet" in shown_text(page)
    assert not page.button


def test_the_cost_is_known_before_sampling(workspace: Workspace, project: Project) -> None:
    page = open_page("sample", project)
    size = int(metric(page, "Sentences to pair"))
    assert size == 7  # sentences of the training pairs only
    assert metric(page, "Pairs at most") == "21"  # 7 · 6 / 2 is less than 7 · 5

    page.number_input(key=f"sample-{project.id}-top_k").set_value(2).run()
    assert metric(page, "Pairs at most") == "14"
    assert "No candidate pairs yet" in shown_text(page)


def test_sampling_is_queued_with_the_parameters_of_the_strategy(
    workspace: Workspace, project: Project
) -> None:
    page = open_page("sample", project)
    page.button_group(key=f"sample-{project.id}-strategy").set_value("random").run()
    page.number_input(key=f"sample-{project.id}-n_pairs").set_value(4)
    button(page, "Sample pairs").click().run()

    [(step, told)] = queued(workspace, project)
    options = json.loads(told)
    assert step == "sample"
    assert (options["strategy"], options["n_pairs"]) == ("random", 4)


def test_a_sampling_job_is_shown_while_it_waits_and_not_once_it_is_done(
    workspace: Workspace, project: Project
) -> None:
    candidate_set(workspace, project)
    page = open_page("sample", project)
    assert not [found for found in page.button if found.label == "Cancel"]
    button(page, "Sample pairs").click().run()
    assert [found for found in page.button if found.label == "Cancel"]


def test_candidate_sets_are_listed_with_overlap_and_notices_as_plain_text(
    workspace: Workspace, project: Project
) -> None:
    first, second = candidate_set(workspace, project), candidate_set(workspace, project)
    page = open_page("sample", project)
    table = page.dataframe[0].value
    assert table["Set"].tolist() == [second, first]
    assert table["Pairs"].tolist() == [6, 6]
    assert "One \\*notice\\*" in shown_text(page)
    assert f"6 of its pairs (100%) are in set {first} too." in shown_text(page)
    assert len(page.dataframe[1].value) == 6


def test_labelling_says_what_it_costs_and_is_queued(workspace: Workspace, project: Project) -> None:
    run_id, set_id = labeler(workspace, project), candidate_set(workspace, project)
    page = open_page("sample", project)
    assert metric(page, "Cross-encoder passes") == "6"
    button(page, "Label the candidates").click().run()

    [(step, told)] = queued(workspace, project)
    options = json.loads(told)
    assert step == "label"
    assert (options["candidate_set_id"], options["labeler"]) == (set_id, f"run:{run_id}")


def test_without_a_labeler_there_is_nothing_to_press(
    workspace: Workspace, project: Project
) -> None:
    candidate_set(workspace, project)
    page = open_page("sample", project)
    assert button(page, "Label the candidates").disabled
    assert "train one, or type the name of another" in shown_text(page)


def test_the_time_is_estimated_from_the_labelers_last_speed(
    workspace: Workspace, project: Project
) -> None:
    silver_set(workspace, project)
    page = open_page("sample", project)
    assert "About 2 s at 3 pairs per second" in shown_text(page)


def test_a_set_is_deleted_after_asking_but_not_while_it_has_labels(
    workspace: Workspace, project: Project
) -> None:
    silver_set(workspace, project)
    free = candidate_set(workspace, project)
    page = open_page("sample", project)
    page.button(key=f"delete-candidates-{free}").click().run()
    [labelled] = list_candidate_sets(workspace, project.id)

    page.button(key=f"delete-candidates-{labelled.id}").click().run()
    assert "Delete the silver set first" in page.error[0].value
    assert len(list_candidate_sets(workspace, project.id)) == 1
