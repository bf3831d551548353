"""The Sample page: choose candidate pairs, look at them, and have them labelled."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from augsbert_core.options import PreviewOptions
from augsbert_core.sampling import STRATEGY_NAMES
from augsbert_core.storage.candidates import list_candidate_sets, shared_candidates
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.projects import create_project
from augsbert_core.storage.records import Project
from tests.pages.seeding import (
    bm25_set,
    button,
    candidate_set,
    finished_run,
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
    page.number_input(key=f"sample-{project.id}-random-n_pairs").set_value(4)
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
    assert f"Pairs that other sets hold too: 6 (100%) in set {first}." in shown_text(page)
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
    [known] = list_candidate_sets(workspace, project.id)
    larger = candidate_set(workspace, project, n_pairs=12)
    shared = shared_candidates(workspace, larger)[known.id]
    page = open_page("sample", project)
    assert metric(page, "Cross-encoder passes") == str(12 - shared)
    assert f"{shared} pairs have a score from this labeler already" in shown_text(page)
    seconds = round((12 - shared) / 3)
    assert f"About {seconds} s at 3 pairs per second, its speed last time" in shown_text(page)

    page.selectbox(key=label_set_key(page)).set_value(known.id).run()
    assert metric(page, "Cross-encoder passes") == "0"
    assert "Nothing is left to score" in shown_text(page)


def label_set_key(page: AppTest) -> str:
    """The key of the box that chooses what is labelled; it holds the newest set's number."""
    return next(box.key for box in page.selectbox if (box.key or "").startswith("sample-label-set"))


def test_a_speed_that_is_unknown_is_not_made_up(workspace: Workspace, project: Project) -> None:
    labeler(workspace, project)
    candidate_set(workspace, project)
    page = open_page("sample", project)
    assert "not known yet" in shown_text(page)
    assert "A preview of 200 pairs measures it" in shown_text(page)


def test_a_preview_is_queued_and_its_histogram_shown(
    workspace: Workspace, project: Project
) -> None:
    run_id, set_id = labeler(workspace, project), candidate_set(workspace, project)
    page = open_page("sample", project)
    button(page, "Preview 200 labels").click().run()
    [(step, told)] = queued(workspace, project)
    assert (step, json.loads(told)["n_pairs"]) == ("preview", 200)

    finished_run(
        workspace,
        project,
        "preview",
        PreviewOptions(set_id, f"run:{run_id}"),
        scores=[0.1] * 150 + [0.9] * 50,
        pairs_per_second=2.0,
    )
    page = open_page("sample", project)
    assert "200 candidates drawn at random" in shown_text(page)
    assert "25% (95 % interval 20% to 31%)" in shown_text(page)
    assert "its speed in the preview" in shown_text(page)
    assert page.get("plotly_chart")


@pytest.mark.parametrize("strategy", STRATEGY_NAMES)
def test_every_strategy_can_be_chosen_and_queued(
    workspace: Workspace, project: Project, strategy: str
) -> None:
    run_id = labeler(workspace, project)
    page = open_page("sample", project)
    page.button_group(key=f"sample-{project.id}-strategy").set_value(strategy).run()
    assert not page.exception
    stratified = strategy == "stratified-kde"
    button(page, "Sample and label" if stratified else "Sample pairs").click().run()
    [(step, told)] = queued(workspace, project)
    options = json.loads(told)
    if stratified:
        assert (step, options["labeler"]) == ("sample-stratified", f"run:{run_id}")
    else:
        assert (step, options["strategy"]) == ("sample", strategy)


def test_sizes_at_smaller_top_k_are_counted_from_the_ranks(
    workspace: Workspace, project: Project
) -> None:
    bm25_set(workspace, project, top_k=6)
    page = open_page("sample", project)
    assert int(metric(page, "k = 3")) <= int(metric(page, "k = 5")) <= 21
    assert metric(page, "k = 18") == "–"
    assert "sample with k = 18 to see the rest" in shown_text(page)


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
