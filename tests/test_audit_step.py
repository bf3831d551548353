"""Drawing an audit of a silver set, scoring it, and what is said next to the set afterwards."""

import numpy as np
import pytest

from augsbert_core.charts.audit import audit_figure
from augsbert_core.errors import WorkbenchError
from augsbert_core.metrics.audit import audit_figures
from augsbert_core.steps.audit import audit_line, audit_report, audit_tasks, draw_audit, task_report
from augsbert_core.storage import annotations, projects
from augsbert_core.storage.annotation_tasks import delete_task, get_task
from augsbert_core.storage.database import Workspace, writing
from augsbert_core.storage.records import Project
from augsbert_core.storage.reviews import review_silver_pair
from augsbert_core.storage.score_matrices import adjudicate, score_matrix
from tests import silver_pairs


@pytest.fixture
def set_id(workspace: Workspace, project: Project) -> int:
    """300 pairs scored evenly over the scale."""
    ids = silver_pairs.corpus(workspace, project, 30)
    made = silver_pairs.silver_set(
        workspace, project, silver_pairs.candidate_set(workspace, project, ids, 300)
    )
    silver_pairs.label(workspace, made, np.linspace(0, 1, 300).tolist())
    return made


def score_all(workspace: Workspace, task_id: int, annotator: str, too_high: float = 0.1) -> int:
    """Score every pair of a task as someone who finds the labeler too high; returns how many."""
    suggestions = score_matrix(workspace, task_id).items.set_index("item_id")["suggestion"]
    item, n = annotations.next_item(workspace, task_id, annotator), 0
    while item is not None:
        human = min(max(round(10 * (suggestions[item.id] - too_high)) / 10, 0.0), 1.0)
        item = annotations.save(workspace, task_id, item.id, annotator, score=human)
        n += 1
    return n


def test_pairs_that_the_scorer_reviewed_before_are_counted(workspace, project, set_id):
    known = [1, 2, 3]
    for pair_id, actor in zip(known, ("ann", "ann", "ben"), strict=True):
        review_silver_pair(workspace, int(pair_id), status="accepted", actor=actor)
    task_id = draw_audit(workspace, project, set_id, n_pairs=300)
    score_all(workspace, task_id, "ann")
    report = task_report(workspace, set_id, get_task(workspace, task_id))
    assert report.n_known == 2, "ben has not scored here"
    assert "2 scored pairs were reviewed one by one before" in audit_line(report)


def test_an_audit_is_drawn_from_all_score_regions_and_is_blind(workspace, project, set_id):
    task = get_task(workspace, draw_audit(workspace, project, set_id, n_pairs=50))
    assert (task.purpose, task.source, task.silver_set_id) == ("audit", "silver", set_id)
    assert (task.n_items, task.scale, task.name) == (50, "0-5", f"Audit of silver set {set_id}")
    items = score_matrix(workspace, task.id).items
    assert items["stratum"].value_counts().tolist() == [10] * 5
    assert items.groupby("stratum")["stratum_size"].first().sum() == 300
    # What the annotators read about a pair does not give the labeler's score away.
    assert items["reason"].nunique() == 1


def test_a_report_estimates_the_labelers_error_for_the_whole_set(workspace, project, set_id):
    assert audit_report(workspace, set_id) is None
    task_id = draw_audit(workspace, project, set_id)
    assert audit_report(workspace, set_id) is None  # nobody has scored yet
    assert task_report(workspace, set_id, get_task(workspace, task_id)).n_scored == 0
    assert score_all(workspace, task_id, "Ada") == 50
    report = audit_report(workspace, set_id)
    assert (report.n_scored, report.n_drawn, report.annotators) == (50, 50, ("Ada",))
    assert report.figures.bias.value == pytest.approx(0.1, abs=0.03)
    assert report.figures.bias.low > 0
    sample = report.sample
    again = audit_figures(
        sample["labeler"].to_numpy(), sample["human"].to_numpy(), sample["stratum"].to_numpy(int),
        sample["stratum_size"].to_numpy(float), threshold=0.5, rng=np.random.default_rng(42),
    )  # fmt: skip
    assert report.figures == again
    assert not report.own_threshold
    line = audit_line(report)
    mae = report.figures.mae
    assert line.startswith(
        f"Audited: 50 pairs, MAE {5 * mae.value:.2f} [{5 * mae.low:.2f}, {5 * mae.high:.2f}] on 0–5, bias +"
    )
    assert "Nothing is known" not in line


def test_a_half_done_audit_says_how_much_it_does_not_know(workspace, project, set_id):
    task_id = draw_audit(workspace, project, set_id, n_pairs=5)
    item = annotations.next_item(workspace, task_id, "Ada")
    annotations.save(workspace, task_id, item.id, "Ada", score=0.4)
    line = audit_line(audit_report(workspace, set_id))
    assert "Audited: 1 of 5 pairs" in line
    assert "(no interval)" in line
    assert "Nothing is known about 4 score regions without a score, 80% of the pairs." in line


def test_the_mean_of_several_people_counts_and_an_adjudicated_score_more(
    workspace, project, set_id
):
    task_id = draw_audit(workspace, project, set_id, n_pairs=5, n_scores=2)
    for annotator, score in (("Ada", 0.2), ("Ben", 0.6)):
        item = annotations.next_item(workspace, task_id, annotator)
        while item is not None:
            item = annotations.save(workspace, task_id, item.id, annotator, score=score)
    settled = int(score_matrix(workspace, task_id).items["item_id"][0])
    adjudicate(workspace, settled, 0.9, "Cleo")
    report = audit_report(workspace, set_id)
    assert report.sample["human"].tolist() == pytest.approx([0.9, 0.4, 0.4, 0.4, 0.4])
    assert report.annotators == ("Ada", "Ben")


def test_later_corrections_do_not_change_what_the_labeler_said(workspace, project, set_id):
    task_id = draw_audit(workspace, project, set_id, n_pairs=20)
    score_all(workspace, task_id, "Ada")
    before = audit_report(workspace, set_id)
    pair_id = int(before.sample["source_pair_id"][0])
    review_silver_pair(workspace, pair_id, correction=1.0, status="corrected", actor="Ada")
    assert audit_report(workspace, set_id).figures == before.figures


def test_the_newest_audit_with_scores_counts(workspace, project, set_id):
    first = draw_audit(workspace, project, set_id, n_pairs=10)
    score_all(workspace, first, "Ada")
    second = draw_audit(workspace, project, set_id, n_pairs=20)
    assert [task.id for task in audit_tasks(workspace, set_id)] == [second, first]
    assert get_task(workspace, second).name == f"Audit of silver set {set_id} (2)"
    assert audit_report(workspace, set_id).task.id == first
    score_all(workspace, second, "Ada")
    assert audit_report(workspace, set_id).task.id == second
    pairs = [set(score_matrix(workspace, task).items["source_pair_id"]) for task in (first, second)]
    assert pairs[0] != pairs[1]
    delete_task(workspace, second)
    assert audit_report(workspace, set_id).task.id == first


def test_an_audit_needs_a_set_of_the_project(workspace, project, set_id):
    with pytest.raises(WorkbenchError, match="There is no silver set 99"):
        draw_audit(workspace, project, 99)
    other = projects.create_project(workspace, "Other")
    with pytest.raises(WorkbenchError, match="belongs to another project"):
        draw_audit(workspace, other, set_id)


def test_the_chart_has_a_point_per_scored_pair_and_a_line_where_both_agree(
    workspace, project, set_id
):
    task_id = draw_audit(workspace, project, set_id, n_pairs=10)
    score_all(workspace, task_id, "Ada")
    report = audit_report(workspace, set_id)
    sample = report.sample.copy()
    sample.loc[0, "human"] = np.nan
    figure = audit_figure(
        sample["labeler"].to_numpy(), sample["human"].to_numpy(), sample["stratum"].to_numpy(int),
        [("<b>a</b>", "b" * 99)] * 10, project.score_range, 0.5,
    )  # fmt: skip
    line, *regions = figure.data
    assert list(line.x) == list(line.y) == [0.0, 5.0]
    assert sum(len(region.x) for region in regions) == 9
    assert regions[0].text[0].startswith("&lt;b&gt;a")
    assert "…" in regions[0].text[0]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE annotation_item SET stratum = NULL, stratum_size = NULL",
        "UPDATE annotation_item SET stratum = NULL, stratum_size = NULL WHERE position = 0",
        "UPDATE annotation_item SET stratum_size = position + 1",
        "UPDATE annotation_item SET stratum_size = 1",
        "UPDATE annotation_item SET stratum = -3",
    ],
)
def test_strata_that_cannot_be_are_one_stratum_of_the_whole_set(
    workspace, project, set_id, statement
):
    task_id = draw_audit(workspace, project, set_id, n_pairs=10)
    score_all(workspace, task_id, "Ada")
    with writing(workspace) as db:
        db.execute(statement)
    report = audit_report(workspace, set_id)
    assert report.figures.n_pairs == 300
    assert report.figures.mae.low < report.figures.mae.value < report.figures.mae.high
    assert set(report.sample["stratum"]) == {0}
    assert set(report.sample["stratum_size"]) == {300}
    assert audit_line(report).startswith("Audited: 10 pairs, MAE")


def test_a_pair_of_which_the_labeler_said_nothing_counts_as_not_scored(workspace, project, set_id):
    task_id = draw_audit(workspace, project, set_id, n_pairs=10)
    score_all(workspace, task_id, "Ada")
    with writing(workspace) as db:
        db.execute("UPDATE annotation_item SET suggestion = NULL WHERE position = 3")
    report = audit_report(workspace, set_id)
    assert (report.figures.n_scored, report.figures.n_drawn) == (9, 10)
    assert np.isfinite(report.figures.mae.value)


def test_one_scored_pair_is_said_to_say_little(workspace, project, set_id):
    task_id = draw_audit(workspace, project, set_id, n_pairs=1)
    score_all(workspace, task_id, "Ada")
    line = audit_line(audit_report(workspace, set_id))
    assert line.startswith("Audited: 1 pair, MAE")
    assert "(no interval)" in line
    assert "One scored pair says nothing about how far other pairs differ." in line


def test_equal_errors_are_told(workspace, project, set_id):
    task_id = draw_audit(workspace, project, set_id, n_pairs=6)
    with writing(workspace) as db:
        db.execute("UPDATE annotation_item SET suggestion = 0.5")
    item = annotations.next_item(workspace, task_id, "Ada")
    while item is not None:
        item = annotations.save(workspace, task_id, item.id, "Ada", score=0.7)
    line = audit_line(audit_report(workspace, set_id))
    assert "All 6 scored pairs are equally far from what people say" in line


def test_a_set_that_was_scored_throughout_is_a_census(workspace, project):
    ids = silver_pairs.corpus(workspace, project, 5)
    few = silver_pairs.silver_set(
        workspace, project, silver_pairs.candidate_set(workspace, project, ids, 4)
    )
    silver_pairs.label(workspace, few, [0.1, 0.5, 0.7, 0.9])
    task_id = draw_audit(workspace, project, few)
    score_all(workspace, task_id, "Ada", too_high=0.0)
    line = audit_line(audit_report(workspace, few))
    assert line.startswith(
        "Audited: all 4 pairs, MAE 0.00 on 0–5, bias +0.00, Spearman 1.00, wrong"
    )
    assert "positives 0 % of the labeler's positives (a census: nothing is estimated)." in line
    assert "95 %" not in line
    assert "[" not in line
