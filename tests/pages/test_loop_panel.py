"""Retraining with corrections, and what it changed, on the Silver page."""

import json

from streamlit.testing.v1 import AppTest

from augsbert_core.options import BatchOptions, from_json
from augsbert_core.storage import silver_sets
from augsbert_core.storage.database import Workspace, reading
from augsbert_core.storage.records import Project
from augsbert_core.storage.reviews import review_silver_pair
from augsbert_core.ui.widgets import WORD_JOINER
from tests.pages.seeding import (
    button,
    finished_run,
    open_page,
    queued,
    shown_text,
    silver_set,
    student,
)
from tests.silver_pairs import LabelOptions


def plain_text(page: AppTest) -> str:
    """All prose on a page, without what `as_text` adds."""
    return shown_text(page).replace("\\", "").replace(WORD_JOINER, "")


def review(workspace: Workspace, set_id: int, *statuses: str) -> None:
    """Decide on the first pairs of a set."""
    with reading(workspace) as db:
        rows = db.execute(
            "SELECT id FROM silver_pair WHERE silver_set_id = ? ORDER BY id", [set_id]
        ).fetchall()
    for (pair_id,), status in zip(rows, statuses, strict=False):
        correction = 0.9 if status == "corrected" else None
        review_silver_pair(workspace, pair_id, correction=correction, status=status, actor="Ada")


def labelled_again(workspace: Workspace, project: Project, old: int, add: float) -> int:
    """The pairs of a set with scores that differ by as much, and its decisions."""
    found = silver_sets.get_silver_set(workspace, old)
    options = LabelOptions(found.candidate_set_id, "run:1", decisions_from=old)
    run_id = finished_run(workspace, project, "label", options)
    new = silver_sets.open_silver_set(
        workspace, project.id, run_id, candidate_set_id=found.candidate_set_id, labeler="run:1",
        labeler_run_id=None,
    )  # fmt: skip
    with reading(workspace) as db:
        rows = db.execute(
            "SELECT sentence1_id, sentence2_id, rank, sampler_score, score FROM silver_pair WHERE silver_set_id = ?",
            [old],
        ).fetchall()
    silver_sets.add_silver_scores(
        workspace, new, [(*row[:4], min(row[4] + add, 1.0), 0.0) for row in rows]
    )
    return new


def test_the_plan_is_told_in_words_and_queued_with_one_click(workspace, project):
    set_id = silver_set(workspace, project)
    page = open_page("silver", project)
    assert "no corrected or accepted pair" in plain_text(page)
    review(workspace, set_id, "corrected", "accepted", "rejected")
    student_id = student(workspace, project, silver_set_id=set_id)
    page = open_page("silver", project)
    text = plain_text(page)
    assert "1. Train a cross-encoder on the gold pairs and 1 corrected and 1 accepted pairs" in text
    assert f"Train the student of run {student_id} again" in text
    assert "4 runs, about" in text
    button(page, "Retrain and relabel").click().run()
    ((step, options),) = queued(workspace, project)
    plan = from_json(BatchOptions, options)
    assert (step, plan.kind) == ("batch", "retrain")
    assert json.loads(plan.runs[0].options)["corrections_of"] == set_id


def test_a_relabelled_set_shows_what_changed(workspace, project):
    old = silver_set(workspace, project)
    review(workspace, old, "corrected")
    labelled_again(workspace, project, old, add=0.1)
    page = open_page("silver", project)
    text = plain_text(page)
    assert not page.exception
    assert "6 pairs in both sets" in text
    assert "changed by 0.50 [0.50, 0.50] on average" in text
    tables = [table.value for table in page.dataframe if "moved" in table.value]
    assert len(tables[0]) == 6
    assert (tables[0]["change"] - 0.5).abs().max() < 1e-9
    # The newest set was made from the older one's decisions, so the two are compared at once.
    assert next(one for one in page.toggle if "change per pair" in one.label).value


def test_training_is_told_how_to_take_the_decisions(workspace, project):
    set_id = silver_set(workspace, project)
    review(workspace, set_id, "corrected", "accepted", "rejected")
    page = open_page("train", project)
    assert "In this set: 1 corrected, 1 accepted, 1 rejected." in plain_text(page)
    next(one for one in page.checkbox if one.label == "Corrections count as gold").check().run()
    next(one for one in page.checkbox if one.label == "Keep rejected pairs").check().run()
    button(page, "Train both").click().run()
    options = [json.loads(each) for _, each in queued(workspace, project)]
    assert (options[0]["promote"], options[0]["keep_rejected"]) == (True, True)
    assert (options[1]["promote"], options[1]["silver_set_id"]) == (False, None)  # the twin


def test_a_set_without_decisions_asks_nothing(workspace, project):
    silver_set(workspace, project)
    page = open_page("train", project)
    assert "Corrections count as gold" not in [one.label for one in page.checkbox]


def test_the_labeler_can_learn_from_the_corrections_of_a_set(workspace, project):
    set_id = silver_set(workspace, project)
    review(workspace, set_id, "corrected", "accepted")
    page = open_page("cross_encoder", project)
    chosen = next(one for one in page.selectbox if one.label == "Corrections that join gold")
    assert f"Silver set {set_id}: 1 corrected, 1 accepted" in chosen.options
    chosen.select_index(1).run()
    assert not page.exception
    button(page, "Train the cross-encoder").click().run()
    ((_, options),) = queued(workspace, project)
    assert json.loads(options)["corrections_of"] == set_id
