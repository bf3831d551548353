"""The lab on the Silver page: what a rule or a top-k would keep, and the job that keeps it."""

import json

import numpy as np
import pytest

from augsbert_core.options import KeepOptions
from augsbert_core.steps.keep import plan_keep
from augsbert_core.storage import gold, reviews, silver_pages, silver_sets
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project
from augsbert_core.storage.silver_bins import SilverScores
from augsbert_core.storage.silver_filters import SilverFilter
from augsbert_core.ui import keep_numbers
from tests.pages.lab_seeding import (
    figure,
    kept_set,
    lab_project,
    low_scores,
    names,
    no_job_waits,
    scored_set,
    table,
    view,
)
from tests.pages.seeding import button, finished_run, metric, open_page, queued, shown_text


@pytest.fixture
def lab(workspace: Workspace) -> Project:
    return lab_project(workspace)


# Keep


def test_c_and_bandwidth_change_what_is_kept_and_no_job_appears(
    workspace: Workspace, lab: Project
) -> None:
    scored_set(workspace, lab, low_scores())
    page = view(open_page("silver", lab), lab, "keep")
    all_that_fits = int(metric(page, "Pairs kept").replace(",", ""))
    assert float(metric(page, "KL(gold‖kept)")) > 0
    assert names(page) == [
        "Pool",
        "Gold (train)",
        "Kept, expected",
        "Kept",
        "Chance of being kept",
    ]

    page.select_slider(key=f"keep-{lab.id}-c").set_value(0.1).run()
    fewer = int(metric(page, "Pairs kept").replace(",", ""))
    assert 0 < fewer < all_that_fits / 3
    assert abs(fewer - int(metric(page, "Expected").replace(",", ""))) < 60
    assert button(page, f"Keep these {fewer:,} pairs as a silver set")

    page.select_slider(key=f"density-{lab.id}-bandwidth").set_value(0.3).run()
    assert int(metric(page, "Pairs kept").replace(",", "")) != fewer
    path = figure(page, 1)["data"]
    assert {trace["name"] for trace in path} == {
        "Expected",
        "Realised with this seed",
        "The c that is set",
    }
    assert no_job_waits(workspace)


def test_a_set_of_which_all_is_rejected_has_nothing_to_keep(
    workspace: Workspace, lab: Project
) -> None:
    set_id = scored_set(workspace, lab, low_scores())
    ids = silver_pages.filtered_ids(workspace, set_id, SilverFilter())
    reviews.review_many(workspace, set_id, ids, status="rejected", actor="ann", summary="all")
    page = view(open_page("silver", lab), lab, "keep")
    assert not page.exception
    assert "all are rejected" in shown_text(page)


def test_the_exact_match_says_what_it_would_keep(workspace: Workspace, lab: Project) -> None:
    scored_set(workspace, lab, low_scores())
    page = view(open_page("silver", lab), lab, "keep")
    exact = next(found for found in page.button if found.label.startswith("Exact c ="))
    exact.click().run()
    c = page.select_slider(key=f"keep-{lab.id}-c").value
    assert 0 < c < 0.2
    assert f"What c = {c:.3g} keeps" in shown_text(page)
    assert float(metric(page, "KL expected")) == pytest.approx(0.0, abs=2e-3)
    assert no_job_waits(workspace)


def test_keeping_queues_the_rule_with_its_parameters(workspace: Workspace, lab: Project) -> None:
    set_id = scored_set(workspace, lab, low_scores())
    page = view(open_page("silver", lab), lab, "keep")
    page.select_slider(key=f"keep-{lab.id}-c").set_value(0.1).run()
    page.selectbox(key=f"density-{lab.id}-kernel").set_value("epanechnikov").run()
    page.button(key="keep-launch").click().run()
    ((step, options),) = queued(workspace, lab)
    told = json.loads(options)
    assert (step, told["silver_set_id"], told["rule"], told["c"]) == ("keep", set_id, "kde", 0.1)
    assert (told["kernel"], told["bandwidth"], told["seed"]) == ("epanechnikov", None, 42)


def test_naming_a_number_of_pairs_sets_c(workspace: Workspace, lab: Project) -> None:
    scored_set(workspace, lab, low_scores())
    page = view(open_page("silver", lab), lab, "keep")
    everything = int(metric(page, "Pairs kept").replace(",", ""))
    page.number_input(key=f"keep-{lab.id}-c-wanted").set_value(300).run()
    assert not page.exception
    assert int(metric(page, "Expected").replace(",", "")) == 300
    assert (
        abs(int(metric(page, "Pairs kept").replace(",", "")) - 300) < 80
    )  # chance, about 4.6 sigma
    assert everything > 600
    assert no_job_waits(workspace)


def test_a_kept_set_is_tuned_from_its_pool(workspace: Workspace, lab: Project) -> None:
    pool = scored_set(workspace, lab, low_scores())
    kept = kept_set(workspace, lab, KeepOptions(pool, c=0.1))
    page = open_page("silver", lab)
    assert names(page)[1] == f"Silver set {kept} (Random pairs; KDE, c = 0.1)"
    view(page, lab, "keep")
    page.button(key="keep-launch").click().run()
    ((_, options),) = queued(workspace, lab)
    assert json.loads(options)["silver_set_id"] == pool


def test_classes_keep_all_positives_and_golds_share(workspace: Workspace) -> None:
    project = lab_project(
        workspace, "Classes", scores=[0, 1, 0], scale=(0.0, 1.0), task="classification"
    )
    trained = finished_run(
        workspace, project, "train-cross-encoder", KeepOptions(0), threshold=0.437
    )
    scores = low_scores()
    set_id = scored_set(workspace, project, scores, labeler_run=trained)
    page = view(open_page("silver", project), project, "keep")
    positives = int(np.sum(scores >= 0.437))
    assert metric(page, "Positives kept") == f"{positives:,}"
    assert metric(page, "Share of positives") == "33%"
    assert "The labeler's own, from dev pairs: 0.437" in shown_text(page)

    page.button(key="keep-launch").click().run()
    ((_, options),) = queued(workspace, project)
    told = json.loads(options)
    assert (told["rule"], told["threshold"]) == ("classification", 0.437)
    assert told["silver_set_id"] == set_id

    page.slider(key=f"keep-{project.id}-threshold-{set_id}").set_value(0.6).run()
    assert metric(page, "Positives kept") == f"{int(np.sum(scores >= 0.6)):,}"
    page.button_group(key=f"keep-{project.id}-rule").set_value("kde").run()
    assert "There is no density to match" in shown_text(page)


def test_more_is_kept_along_the_path(workspace: Workspace, lab: Project) -> None:
    pool = scored_set(workspace, lab, low_scores())
    found = silver_sets.get_silver_set(workspace, pool)
    scores = keep_numbers.pool_scores(workspace, found)
    gold_scores = gold.gold_scores(workspace, lab.id, ["train"])
    plan = plan_keep(gold_scores, scores, KeepOptions(pool))
    path = keep_numbers.realised_path(workspace, found, scores, plan, KeepOptions(pool))
    assert np.all(np.diff(path.n_kept) >= 0)
    assert path.n_kept[-1] == plan.n_kept
    assert path.n_kept[-1] > path.n_kept[0] > 0
    # The first set of somebody else in a class has the same number, and often the same state.
    theirs = Workspace(workspace.home / "elsewhere")
    half = SilverScores(scores.ids[::2], scores.codes[::2], scores.scores[::2], scores.ranks[::2])
    path = keep_numbers.realised_path(theirs, found, half, plan, KeepOptions(pool))
    assert 0 < path.n_kept[-1] < plan.n_kept


# Top-k


def test_larger_k_shows_pairs_share_and_what_to_sample_next(
    workspace: Workspace, lab: Project
) -> None:
    ranks = np.arange(1800) % 9 + 1
    scored_set(workspace, lab, 1 - ranks / 10, strategy="bm25", top_k=9)
    page = view(open_page("silver", lab), lab, "top-k")
    rows = table(page)
    assert rows["k"].tolist() == [3, 5, 7, 9, 12, 18]
    assert rows["Pairs"].tolist()[:4] == [600, 1000, 1400, 1800]
    assert rows["Note"].tolist()[4:] == ["sample with k = 12 to see", "sample with k = 18 to see"]
    assert rows["≥ 2.5, %"].tolist()[:2] == [100.0, 100.0]
    assert "only the pairs that are new are scored" in shown_text(page)
    assert names(page) == ["k = 3", "k = 5", "k = 7", "k = 9", "Gold (train)"]


def test_keeping_up_to_a_rank_is_queued(workspace: Workspace, lab: Project) -> None:
    set_id = scored_set(workspace, lab, low_scores(1800), strategy="bm25", top_k=9)
    page = view(open_page("silver", lab), lab, "top-k")
    page.select_slider(key=f"top-k-{lab.id}-k-{set_id}").set_value(7).run()
    button(page, "Keep rank ≤ 7 as a silver set: 1,400 pairs").click().run()
    ((step, options),) = queued(workspace, lab)
    told = json.loads(options)
    assert (step, told["rule"], told["max_rank"]) == ("keep", "top-k", 7)


def test_random_pairs_teach_what_top_k_is_and_offer_a_set_that_has_one(
    workspace: Workspace, lab: Project
) -> None:
    ranked = scored_set(workspace, lab, low_scores(900), strategy="bm25")
    scored_set(workspace, lab, low_scores(900))
    page = view(open_page("silver", lab), lab, "top-k")
    assert "These pairs have no rank" in shown_text(page)
    page.button(key=f"top-k-open-{ranked}").click().run()
    assert table(page)["Pairs"].tolist()[0] == 300
