"""The Sample page: choose candidate pairs, look at them, and have them labelled."""

import json
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from augsbert_core import bundle
from augsbert_core.options import GateOptions, ImportOptions, LabelOptions, PreviewOptions
from augsbert_core.sampling import STRATEGY_NAMES
from augsbert_core.steps.import_data import import_file
from augsbert_core.storage import gold, runs
from augsbert_core.storage.candidates import (
    add_candidate_set,
    list_candidate_sets,
    shared_candidates,
)
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.projects import create_project
from augsbert_core.storage.records import Project
from augsbert_core.storage.sentences import sampling_corpus
from augsbert_core.ui.labelling_form import check_options
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


def labeler_box(page: AppTest) -> Any:
    """The box that chooses who labels the candidates."""
    return next(
        box for box in page.selectbox if box.label == "Labeler" and "stratified" not in box.key
    )


def test_every_scorer_is_offered_and_the_gates_recommendation_marked(
    workspace: Workspace, project: Project
) -> None:
    first, second = labeler(workspace, project), labeler(workspace, project)
    candidate_set(workspace, project)
    pairs = gold.scored_pairs(workspace, project.id, "dev")
    finished_run(
        workspace,
        project,
        "gate",
        GateOptions(),
        split="dev",
        data_hash=gold.data_hash(pairs),
        recommended=f"run:{first}",
    )
    page = open_page("sample", project)
    offered = labeler_box(page).options
    assert [name.split(" · ")[0] for name in offered] == [
        f"Run {second}",
        f"Run {first}",
        f"Mean of run {first} + run {second}",
    ]
    assert ["recommended by the gate" in name for name in offered] == [False, True, False]


def test_both_orders_of_a_mean_cost_four_passes_a_pair(
    workspace: Workspace, project: Project
) -> None:
    first, second = labeler(workspace, project), labeler(workspace, project)
    candidate_set(workspace, project)
    page = open_page("sample", project)
    labeler_box(page).set_value(f"run:{first} + run:{second}").run()
    assert metric(page, "Cross-encoder passes") == "12"
    page.toggle(key=f"sample-{project.id}-both-orders").set_value(True).run()
    assert metric(page, "Cross-encoder passes") == "24"
    assert "4 for each of 6 pairs" in shown_text(page)
    button(page, "Label the candidates").click().run()

    [(_, told)] = queued(workspace, project)
    options = json.loads(told)
    assert (options["labeler"], options["both_orders"]) == (f"run:{first} + run:{second}", True)


def with_typed_labeler(project: Project, text: str) -> AppTest:
    """The page with a labeler that is none of those offered, which AppTest cannot type itself."""
    key = labeler_box(open_page("sample", project)).key
    page = AppTest.from_file(str(bundle.root() / "pages" / "sample.py"), default_timeout=60)
    page.query_params["project"] = str(project.id)
    page.session_state[key] = text
    page.run()
    assert not page.exception
    return page


def test_a_labeler_that_does_not_exist_is_named(workspace: Workspace, project: Project) -> None:
    labeler(workspace, project)
    candidate_set(workspace, project)
    page = with_typed_labeler(project, "run:999")
    assert "There is no run 999" in page.error[0].value


def test_a_labeler_from_elsewhere_can_be_checked_and_its_facts_are_shown(
    workspace: Workspace, project: Project
) -> None:
    labeler(workspace, project)
    set_id = candidate_set(workspace, project)
    page = open_page("sample", project)
    assert not [found for found in page.button if found.label == "Check this labeler"]
    assert button(with_typed_labeler(project, "org/judge"), "Check this labeler")
    asked = check_options(LabelOptions(set_id, "org/judge"))
    assert (asked.candidate_set_id, asked.labeler) == (None, "org/judge")

    numbers = {"min": -3.0, "median": 0.5, "max": 4.0}
    finished_run(
        workspace,
        project,
        "preview",
        asked,
        facts=[
            {"location": "org/judge", "n_outputs": 1, "activation": "Identity", "max_length": 512,
             "n_tokens": 30_000, "n_parameters": 22_000_000}
        ],
        gold={"n_pairs": 3, "raw": numbers, "score": numbers, "spearman": 0.5},
    )  # fmt: skip
    text = shown_text(with_typed_labeler(project, "org/judge"))
    text = text.replace("\\", "").replace("\u2060", "")
    assert "1 output, saved with Identity" in text
    assert "raw scores -3.00 to 4.00" in text


def test_a_project_of_unlabelled_sentences_alone_samples_them_for_people(
    workspace: Workspace,
) -> None:
    bare = create_project(workspace, "Bare")
    data = b"sentence\nA plane lands.\nA dog runs.\nIt rains.\nA man cooks.\n"
    import_file(workspace, bare.id, data, "s.csv", ImportOptions(kind="sentences"))
    page = open_page("sample", bare)
    assert page.button_group(key=f"sample-{bare.id}-strategy").value == "cosine-strata"
    assert metric(page, "Sentences to pair") == "4"
    assert "made of the 4 unlabelled sentences" in shown_text(page)
    assert not page.toggle
    page.number_input(key=f"sample-{bare.id}-cosine-strata-n_pairs").set_value(3)
    button(page, "Sample pairs").click().run()
    assert not page.exception
    [(step, told)] = queued(workspace, bare)
    options = json.loads(told)
    assert (step, options["strategy"], options["n_pairs"]) == ("sample", "cosine-strata", 3)
    assert options["use_unlabelled"]


def test_without_gold_the_next_step_is_to_annotate(workspace: Workspace) -> None:
    bare = create_project(workspace, "Bare")
    data = b"sentence\nA plane lands.\nA dog runs.\nIt rains.\nA man cooks.\n"
    import_file(workspace, bare.id, data, "s.csv", ImportOptions(kind="sentences"))
    ids, _ = sampling_corpus(workspace, bare.id, use_unlabelled=True)
    run_id = runs.add_run(workspace, bare.id, "sample", "s", "{}", 1)
    add_candidate_set(
        workspace, bare.id, run_id, strategy="cosine-strata", corpus_size=4,
        first=ids[:2], second=ids[2:], sampler_score=np.array([0.2, 0.7]),
    )  # fmt: skip
    page = open_page("sample", bare)
    assert "Score some of these pairs by hand" in shown_text(page)
