"""Scoring pairs by hand: whose turn it is, what is saved, and what can be taken back."""

import dataclasses
import multiprocessing
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import TaskOptions
from augsbert_core.scales import SCALES
from augsbert_core.storage import (
    annotation_standing,
    annotation_tasks,
    annotations,
    gold,
    projects,
    runs,
)
from augsbert_core.storage.annotation_turns import is_swapped
from augsbert_core.storage.annotations import GivenScore, Item
from augsbert_core.storage.database import Workspace, open_workspace, reading, writing
from augsbert_core.storage.records import Project
from tests.annotating import add_task
from tests.conftest import workspace_with

NOON = "2026-01-31T12:00:00+00:00"
LATER = "2026-01-31T12:09:00+00:00"
MUCH_LATER = "2026-01-31T12:30:00+00:00"


def item(workspace: Workspace, task_id: int, annotator: str, **when: Any) -> Item:
    """The next pair, which must be there."""
    found = annotations.next_item(workspace, task_id, annotator, **when)
    assert found is not None
    return found


def rows(workspace: Workspace, query: str, *values: object) -> list[tuple[Any, ...]]:
    with reading(workspace) as db:
        return [tuple(row) for row in db.execute(query, values)]


# --- tasks -----------------------------------------------------------------------------------------------


def test_a_task_is_listed_with_what_it_was_told(workspace: Workspace) -> None:
    task_id = add_task(workspace, 3, name="  First   round ", n_scores=2, queue="threshold")
    task = annotation_tasks.get_task(workspace, task_id)
    assert (task.name, task.n_scores, task.queue) == ("First round", 2, "threshold")
    assert (task.n_items, task.n_tuples, task.n_answers, task.n_wanted) == (3, 0, 0, 6)
    assert task.levels == SCALES["0-5"][1]
    assert (task.score_range.low, task.score_range.high) == (0, 5)
    assert not task.closed
    other = add_task(workspace, 1, purpose="audit", source="silver")
    assert [one.name for one in annotation_tasks.list_tasks(workspace, task.project_id)] == [
        "Audit 2",
        "First round",
    ]
    annotation_tasks.rename_task(workspace, other, "Look again")
    assert annotation_tasks.get_task(workspace, other).name == "Look again"
    with pytest.raises(WorkbenchError, match="1 to 80"):
        annotation_tasks.rename_task(workspace, other, " ")


def test_a_run_has_one_task_however_often_it_is_carried_out(workspace: Workspace) -> None:
    project = projects.create_project(workspace, "P")
    run_id = runs.add_run(workspace, project.id, "annotate", "n", "{}", 1)
    with writing(workspace) as db:
        for number in (1, 2):
            db.execute(
                "INSERT INTO sentence (id, project_id, key, text) VALUES (?, ?, ?, ?)",
                [number, project.id, f"s{number}", f"S{number}"],
            )
    one = annotation_tasks.ItemRows(np.array([2]), np.array([1]))
    told = (workspace, project.id, run_id, TaskOptions(), SCALES["0-5"][1], one)
    assert annotation_tasks.create_task(*told) == annotation_tasks.create_task(*told)
    assert len(annotation_tasks.list_tasks(workspace, project.id)) == 1


@pytest.mark.parametrize(
    ("pairs", "said"), [([], "No pair is left"), ([(1, 2), (2, 1)], "in this task twice")]
)
def test_a_task_needs_pairs_that_differ(
    workspace: Workspace, pairs: list[tuple[int, int]], said: str
) -> None:
    project = projects.create_project(workspace, "P")
    run_id = runs.add_run(workspace, project.id, "annotate", "n", "{}", 1)
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    items = annotation_tasks.ItemRows(first, second)
    with pytest.raises(WorkbenchError, match=said):
        annotation_tasks.create_task(
            workspace, project.id, run_id, TaskOptions(), SCALES["0-5"][1], items
        )


def test_a_closed_task_takes_no_more_scores_until_it_is_opened_again(workspace: Workspace) -> None:
    task_id = add_task(workspace, 3)
    first = item(workspace, task_id, "ann")
    annotations.save(workspace, task_id, first.id, "ann", score=1.0)
    annotation_tasks.close_task(workspace, task_id)
    assert annotations.next_item(workspace, task_id, "ann") is None
    for attempt in (
        lambda: annotations.save(workspace, task_id, first.id, "ann", score=0.5),
        lambda: annotations.undo(workspace, task_id, "ann"),
        lambda: annotations.add_scores(workspace, task_id, "ann", [GivenScore(first.id, 0.5)]),
    ):
        with pytest.raises(WorkbenchError, match="closed"):
            attempt()
    assert annotations.score_matrix(workspace, task_id).scores[0, 0] == 1.0
    annotation_tasks.reopen_task(workspace, task_id)
    assert annotations.save(workspace, task_id, first.id, "ann", score=0.5) is not None


def test_a_key_in_a_window_that_is_behind_does_not_replace_a_score(workspace: Workspace) -> None:
    task_id = add_task(workspace, 3)
    shown = item(workspace, task_id, "ann")
    seen = (shown.state, shown.score)
    annotations.save(workspace, task_id, shown.id, "ann", score=0.5, seen=seen)
    with pytest.raises(WorkbenchError, match="in another window"):
        annotations.save(workspace, task_id, shown.id, "ann", score=1.0, seen=seen)
    assert annotations.score_matrix(workspace, task_id).scores[0, 0] == 0.5
    annotations.save(workspace, task_id, shown.id, "ann", score=1.0, seen=("scored", 0.5))
    assert annotations.score_matrix(workspace, task_id).scores[0, 0] == 1.0


def test_deleting_a_task_says_how_many_scores_went(workspace: Workspace) -> None:
    task_id, other = add_task(workspace, 4), add_task(workspace, 2)
    project_id = annotation_tasks.get_task(workspace, task_id).project_id
    ids = annotations.score_matrix(workspace, task_id).items["item_id"].tolist()
    annotations.add_scores(workspace, task_id, "ann", [GivenScore(one, 0.5) for one in ids[:3]])
    annotations.save(workspace, task_id, ids[0], "bob", action="skip")
    assert annotation_tasks.delete_task(workspace, task_id) == 3
    assert [one.id for one in annotation_tasks.list_tasks(workspace, project_id)] == [other]
    for table in ("annotation_item", "annotation", "annotation_event"):
        assert not rows(workspace, f"SELECT 1 FROM {table} WHERE task_id = ?", task_id)
    assert [run.id for run in runs.list_runs(workspace, project_id, state=None)] == [
        annotation_tasks.get_task(workspace, other).run_id
    ]
    for gone in (
        annotation_tasks.get_task,
        annotation_tasks.delete_task,
        annotation_tasks.close_task,
    ):
        with pytest.raises(WorkbenchError, match="does not exist"):
            gone(workspace, task_id)


def test_sentences_of_a_task_outlive_the_import_that_brought_them(
    workspace: Workspace, project: Project
) -> None:
    run_id = runs.add_run(workspace, project.id, "annotate", "n", "{}", 1)
    first, second = gold.gold_pair_ids(workspace, project.id)
    items = annotation_tasks.ItemRows(first[:2], second[:2])
    told = TaskOptions(source="gold")
    task_id = annotation_tasks.create_task(
        workspace, project.id, run_id, told, SCALES["0-5"][1], items
    )
    texts = annotations.score_matrix(workspace, task_id).items["sentence1"].tolist()
    (imported,) = runs.list_runs(workspace, project.id, "import")
    gold.remove_import(workspace, imported.id)
    assert annotations.score_matrix(workspace, task_id).items["sentence1"].tolist() == texts
    projects.delete_project(workspace, project.id)
    for table in ("annotation_task", "annotation_item", "sentence"):
        assert not rows(workspace, f"SELECT 1 FROM {table}")


def test_a_guideline_is_kept_with_the_project(workspace: Workspace) -> None:
    project = projects.create_project(workspace, "P")
    projects.set_guideline(workspace, project.id, "  5: **the same** meaning\n")
    assert projects.get_project(workspace, project.id).guideline == "5: **the same** meaning"
    with pytest.raises(WorkbenchError, match="20,001 characters"):
        projects.set_guideline(workspace, project.id, "x" * 20_001)
    with pytest.raises(WorkbenchError, match="does not exist"):
        projects.set_guideline(workspace, 99, "x")


# --- whose turn it is ------------------------------------------------------------------------------------


def test_pairs_come_by_position_and_the_same_one_until_it_is_scored(workspace: Workspace) -> None:
    task_id = add_task(workspace, 3)
    first = item(workspace, task_id, "ann")
    assert (first.position, first.state, first.reason) == (0, "open", "reason 0")
    assert item(workspace, task_id, "ann") == first
    second = annotations.save(workspace, task_id, first.id, "ann", score=0.8)
    assert second is not None
    assert (second.position, second.suggestion) == (1, 0.25)
    third = annotations.save(workspace, task_id, second.id, "ann", score=0.2)
    assert third is not None
    assert annotations.save(workspace, task_id, third.id, "ann", score=0.2) is None
    assert annotations.next_item(workspace, task_id, "ann") is None


def test_two_people_get_different_pairs_without_waiting(workspace: Workspace) -> None:
    task_id = add_task(workspace, 5)
    met: list[int] = []
    on_screen = {name: annotations.next_item(workspace, task_id, name) for name in ("ann", "bob")}
    while any(on_screen.values()):
        for name, shown in on_screen.items():
            if shown is not None:
                met.append(shown.position)
                on_screen[name] = annotations.save(workspace, task_id, shown.id, name, score=0.5)
    assert sorted(met) == [0, 1, 2, 3, 4]
    assert annotation_tasks.get_task(workspace, task_id).n_answers == 5


def test_a_pair_goes_to_as_many_people_as_are_to_score_it(workspace: Workspace) -> None:
    task_id = add_task(workspace, 1, n_scores=2)
    shown = item(workspace, task_id, "ann")
    annotations.save(workspace, task_id, shown.id, "ann", score=0.5)
    assert item(workspace, task_id, "bob").id == shown.id
    assert annotations.next_item(workspace, task_id, "cleo") is None
    for _ in range(2):  # skipped once, it comes back to him
        annotations.save(workspace, task_id, shown.id, "bob", action="skip")
    assert item(workspace, task_id, "cleo").id == shown.id


def test_a_claim_holds_for_ten_minutes_and_a_late_score_is_kept(workspace: Workspace) -> None:
    task_id = add_task(workspace, 1)
    shown = item(workspace, task_id, "ann", at=NOON)
    assert annotations.next_item(workspace, task_id, "bob", at=LATER) is None
    assert item(workspace, task_id, "bob", at=MUCH_LATER) == dataclasses.replace(
        shown, swapped=is_swapped(42, "bob", shown.id)
    )
    assert annotations.next_item(workspace, task_id, "ann", at=MUCH_LATER) is None
    annotations.save(workspace, task_id, shown.id, "bob", score=0.25, at=MUCH_LATER)
    annotations.save(workspace, task_id, shown.id, "ann", score=0.75, at=MUCH_LATER)
    assert annotations.score_matrix(workspace, task_id).scores[:, 0].tolist() == [0.75, 0.25]


def test_skipped_pairs_come_back_once_after_all_others(workspace: Workspace) -> None:
    task_id = add_task(workspace, 3)
    order = []
    shown = annotations.next_item(workspace, task_id, "ann")
    while shown is not None:
        order.append((shown.position, shown.state))
        action = "score" if shown.position == 1 else "skip"
        score = 0.5 if action == "score" else None
        shown = annotations.save(workspace, task_id, shown.id, "ann", action=action, score=score)
    assert [position for position, _ in order] == [0, 1, 2, 0, 2]
    done = annotations.progress(workspace, task_id, "ann")
    assert (done.done, done.skipped, done.left) == (1, 2, 0)
    # What one person skips is there for others.
    assert item(workspace, task_id, "bob").position == 0


def test_the_order_on_the_screen_is_stable_and_recorded(workspace: Workspace) -> None:
    task_id = add_task(workspace, 60)
    ids = annotations.score_matrix(workspace, task_id).items["item_id"].tolist()
    orders = {}
    for name in ("ann", "bob"):
        seen = [annotations.get_item(workspace, task_id, name, one) for one in ids]
        orders[name] = [one.swapped for one in seen]
        assert 15 < sum(orders[name]) < 45
        assert all(
            one.shown
            == ((one.sentence2, one.sentence1) if one.swapped else (one.sentence1, one.sentence2))
            for one in seen
        )
    assert orders["ann"] != orders["bob"]
    annotations.save(workspace, task_id, ids[0], "ann", action="flag")
    annotations.add_scores(workspace, task_id, "ann", [GivenScore(one, 0.5) for one in ids])
    events = rows(workspace, "SELECT item_id, swapped FROM annotation_event ORDER BY id")
    recorded = [bool(swapped) for _, swapped in events]
    assert recorded == [orders["ann"][0], *orders["ann"]]
    # A hash, not a draw: this very order on every machine.
    assert [is_swapped(42, "ann", number) for number in range(8)] == SWAPPED_FOR_ANN


SWAPPED_FOR_ANN = [False, True, False, True, True, False, True, True]


# --- what is saved ---------------------------------------------------------------------------------------


def test_a_key_pressed_twice_replaces_the_score_and_loses_nothing(workspace: Workspace) -> None:
    task_id = add_task(workspace, 3)
    shown = item(workspace, task_id, "ann")
    after = [
        annotations.save(workspace, task_id, shown.id, "ann", score=score) for score in (0.2, 0.9)
    ]
    assert after[0] == after[1]
    matrix = annotations.score_matrix(workspace, task_id)
    np.testing.assert_array_equal(matrix.scores, [[0.9, np.nan, np.nan]])
    events = rows(workspace, "SELECT action, score FROM annotation_event ORDER BY id")
    assert events == [("score", 0.2), ("score", 0.9)]


def test_a_flag_stands_beside_the_score_and_keeps_the_pair(workspace: Workspace) -> None:
    task_id = add_task(workspace, 2)
    shown = item(workspace, task_id, "ann")
    flagged = annotations.save(workspace, task_id, shown.id, "ann", action="flag")
    assert flagged == dataclasses.replace(shown, flagged=True)
    annotations.save(workspace, task_id, shown.id, "ann", score=0.5)
    scored = annotations.get_item(workspace, task_id, "ann", shown.id)
    assert (scored.state, scored.score, scored.flagged) == ("scored", 0.5, True)
    assert annotations.progress(workspace, task_id, "ann").flagged == 1
    assert annotations.score_matrix(workspace, task_id).items["flags"].tolist() == [1, 0]
    off = annotations.save(workspace, task_id, shown.id, "ann", action="flag")
    assert off is not None
    assert (off.flagged, off.score) == (False, 0.5)


def test_a_flag_outlives_the_claim_on_its_pair(workspace: Workspace) -> None:
    task_id = add_task(workspace, 3)
    first = item(workspace, task_id, "ann")
    later = annotations.neighbour(workspace, task_id, "ann", first.id, 2)
    assert later is not None
    annotations.save(workspace, task_id, later.id, "ann", action="flag")
    assert item(workspace, task_id, "ann").id == first.id
    assert annotations.get_item(workspace, task_id, "ann", later.id).flagged
    # It is a mark, no claim: the pair is free for others.
    assert [
        annotations.add_scores(workspace, task_id, "bob", [GivenScore(first.id + 1, 0.5)]),
        item(workspace, task_id, "bob").id,
    ] == [1, later.id]


def test_once_a_suggestion_was_seen_it_stays_seen(workspace: Workspace) -> None:
    task_id = add_task(workspace, 1)
    with writing(workspace) as db:
        db.execute("UPDATE annotation_item SET suggestion = 0.7")
    shown = item(workspace, task_id, "ann")
    annotations.save(workspace, task_id, shown.id, "ann", score=0.5, suggestion_seen=True)
    annotations.undo(workspace, task_id, "ann")
    annotations.save(workspace, task_id, shown.id, "ann", score=0.4)
    assert annotations.score_matrix(workspace, task_id).seen.tolist() == [[True]]


def test_where_no_model_has_scored_nothing_was_seen(workspace: Workspace) -> None:
    task_id = add_task(workspace, 1)
    with writing(workspace) as db:
        db.execute("UPDATE annotation_item SET suggestion = NULL")
    shown = item(workspace, task_id, "ann")
    annotations.save(workspace, task_id, shown.id, "ann", score=0.5, suggestion_seen=True)
    assert annotations.score_matrix(workspace, task_id).seen.tolist() == [[False]]


@pytest.mark.parametrize("score", [None, -0.1, 1.1, float("nan"), float("inf")])
def test_a_score_outside_the_scale_is_refused(workspace: Workspace, score: float | None) -> None:
    task_id = add_task(workspace, 1)
    shown = item(workspace, task_id, "ann")
    with pytest.raises(WorkbenchError, match="must lie in the scale"):
        annotations.save(workspace, task_id, shown.id, "ann", score=score)
    with pytest.raises(WorkbenchError, match="must lie in the scale"):
        annotations.adjudicate(workspace, shown.id, -1.0 if score is None else score, "ann")
    assert not rows(workspace, "SELECT 1 FROM annotation_event")


def test_nothing_is_saved_without_a_name_or_for_a_pair_of_another_task(
    workspace: Workspace,
) -> None:
    task_id, other = add_task(workspace, 1), add_task(workspace, 1)
    foreign = item(workspace, other, "ann")
    with pytest.raises(WorkbenchError, match=r"is not \(any more\) in"):
        annotations.save(workspace, task_id, foreign.id, "ann", score=0.5)
    with pytest.raises(WorkbenchError, match="needs a name"):
        annotations.next_item(workspace, task_id, " ")
    with pytest.raises(ValueError, match="action"):
        annotations.save(workspace, task_id, foreign.id, "ann", action="erase")
    scores = [GivenScore(foreign.id - 1, 0.5), GivenScore(foreign.id, 0.5)]
    with pytest.raises(WorkbenchError, match=r"is not \(any more\) in"):
        annotations.add_scores(workspace, task_id, "ann", scores)
    assert not rows(workspace, "SELECT 1 FROM annotation_event")


# --- back and forth --------------------------------------------------------------------------------------


def test_undo_takes_back_ones_own_decisions_one_by_one(workspace: Workspace) -> None:
    task_id = add_task(workspace, 3, n_scores=2)
    first = item(workspace, task_id, "ann")
    second = annotations.save(workspace, task_id, first.id, "ann", score=0.2)
    assert second is not None
    annotations.save(workspace, task_id, second.id, "ann", action="skip")
    annotations.save(workspace, task_id, first.id, "ann", score=0.9)
    annotations.save(workspace, task_id, first.id, "bob", score=1.0)

    back = annotations.undo(workspace, task_id, "ann")
    assert back is not None
    assert (back.id, back.state, back.score) == (first.id, "scored", 0.2)
    assert annotations.undo(workspace, task_id, "ann") == second
    assert item(workspace, task_id, "ann") == second
    assert annotations.undo(open_workspace(workspace.home), task_id, "ann") == first
    assert annotations.undo(workspace, task_id, "ann") is None
    matrix = annotations.score_matrix(workspace, task_id)
    assert (matrix.annotators, matrix.scores[0, 0]) == (["bob"], 1.0)
    # The log tells it all.
    told = rows(
        workspace, "SELECT action FROM annotation_event WHERE annotator = 'ann' ORDER BY id"
    )
    assert [action for (action,) in told] == ["score", "skip", "score", "undo", "undo", "undo"]


def test_arrows_move_through_pairs_met_and_open_ones_and_change_nothing(
    workspace: Workspace,
) -> None:
    task_id = add_task(workspace, 6)
    first = item(workspace, task_id, "ann")
    others = item(workspace, task_id, "bob")
    here = annotations.save(workspace, task_id, first.id, "ann", score=0.5)
    assert here is not None
    before = rows(workspace, "SELECT * FROM annotation")

    def step(by: int, start: Item) -> Item | None:
        return annotations.neighbour(workspace, task_id, "ann", start.id, by)

    assert (first.position, others.position, here.position) == (0, 1, 2)
    back = step(-1, here)  # over bob's pair
    assert back is not None
    assert (back.id, back.score) == (first.id, 0.5)
    assert step(-1, back) is None
    assert step(0, here) == here
    ahead = [step(by, here) for by in (1, 2, 3, 4)]
    assert [one.position if one else None for one in ahead] == [3, 4, 5, None]
    assert rows(workspace, "SELECT * FROM annotation") == before


def test_progress_counts_pairs_and_time_at_work(workspace: Workspace) -> None:
    task_id = add_task(workspace, 6, n_scores=2)
    shown = item(workspace, task_id, "ann")
    for seconds in (10.0, 4000.0, None):
        following = annotations.save(
            workspace, task_id, shown.id, "ann", score=0.5, seconds=seconds
        )
        assert following is not None
        shown = following
    annotations.save(workspace, task_id, shown.id, "ann", action="skip", seconds=50.0)
    done = annotations.progress(workspace, task_id, "ann")
    assert (done.n_items, done.done, done.left, done.skipped) == (6, 3, 3, 1)
    assert (done.all_done, done.all_wanted) == (3, 12)
    # The break counts as five minutes; a pair without a time counts for nothing.
    assert done.pairs_per_hour == pytest.approx(2 * 3600 / (10 + 300 + 50))
    assert done.median_seconds == pytest.approx(2005.0)
    assert annotations.progress(workspace, task_id, "bob").left == 6
    (everyone,) = annotations.annotators(workspace, task_id)
    assert (everyone.annotator, everyone.scored, everyone.skipped) == ("ann", 3, 1)
    assert everyone.pairs_per_hour == done.pairs_per_hour
    assert everyone.last_at


def test_a_guideline_that_someone_else_saved_is_not_overwritten(workspace: Workspace) -> None:
    project = projects.create_project(workspace, "P")
    projects.set_guideline(workspace, project.id, "ann's", seen="")
    with pytest.raises(projects.GuidelineChanged) as error:
        projects.set_guideline(workspace, project.id, "bob's", seen="")
    assert error.value.text == "ann's"
    assert projects.get_project(workspace, project.id).guideline == "ann's"
    projects.set_guideline(workspace, project.id, "bob's", seen="ann's")
    assert projects.get_project(workspace, project.id).guideline == "bob's"


def test_counts_stay_true_whatever_people_do(workspace: Workspace) -> None:
    """What is kept in memory against what stands in the store, over a long game of four people."""
    task_id = add_task(workspace, 12, n_scores=2)
    rng = np.random.default_rng(7)
    people = ["ann", "bob", "cleo", "dan"]
    here: dict[str, annotations.Item | None] = dict.fromkeys(people)
    for turn in range(160):
        name = people[rng.integers(4)]
        shown = here[name] or annotations.next_item(workspace, task_id, name)
        move = ["score", "score", "skip", "flag", "undo", "again"][rng.integers(6)]
        if move == "undo":
            shown = annotations.undo(workspace, task_id, name) or shown
        elif shown is not None and move != "again":
            score = 0.5 if move == "score" else None
            shown = annotations.save(
                workspace, task_id, shown.id, name, action=move, score=score, seconds=float(turn)
            )
        here[name] = shown
        kept = annotations.progress(workspace, task_id, name)
        annotation_standing._known.clear()
        assert annotations.progress(workspace, task_id, name) == kept
        with reading(workspace) as db:
            rows = db.execute(
                "SELECT sum(state = 'scored'), sum(state = 'scored' AND annotator = ?),"
                " sum(state = 'skipped' AND annotator = ?), sum(flagged AND annotator = ?)"
                " FROM annotation",
                [name] * 3,
            ).fetchone()
        told = (kept.all_done, kept.done, kept.skipped, kept.flagged)
        assert told == tuple(count or 0 for count in rows)


def test_what_is_left_is_what_would_still_come(workspace: Workspace) -> None:
    task_id = add_task(workspace, 7, n_scores=1)
    for name, n_pairs in (("ann", 2), ("bob", 1)):
        for _ in range(n_pairs):
            shown = item(workspace, task_id, name)
            annotations.save(workspace, task_id, shown.id, name, score=0.5)
    counted = annotations.progress(workspace, task_id, "ann").left
    come = 0
    shown_now = annotations.next_item(workspace, task_id, "ann")
    while shown_now is not None:
        come += 1
        shown_now = annotations.save(workspace, task_id, shown_now.id, "ann", score=0.5)
    assert counted == come == 3  # bob has one of the four others before him


def test_adjudication_stands_beside_the_scores_and_in_the_log(workspace: Workspace) -> None:
    task_id = add_task(workspace, 2, n_scores=2)
    shown = item(workspace, task_id, "ann")
    annotations.save(workspace, task_id, shown.id, "ann", score=0.2)
    annotation_tasks.close_task(workspace, task_id)
    annotations.adjudicate(workspace, shown.id, 0.6, "cleo")
    matrix = annotations.score_matrix(workspace, task_id)
    assert matrix.items["adjudicated_score"].tolist()[0] == 0.6
    assert matrix.items["adjudicator"].tolist() == ["cleo", ""]
    assert matrix.scores[0, 0] == 0.2
    annotations.adjudicate(workspace, shown.id, None, "cleo")
    assert annotations.score_matrix(workspace, task_id).items["adjudicated_score"].isna().all()
    actions = rows(workspace, "SELECT action, annotator, score FROM annotation_event ORDER BY id")
    assert actions[1:] == [("adjudicate", "cleo", 0.6), ("adjudicate", "cleo", None)]
    with pytest.raises(WorkbenchError, match="does not exist"):
        annotations.adjudicate(workspace, 999, 0.5, "cleo")


# --- the state is what the events say ----------------------------------------------------------------------

MOVES = st.lists(
    st.tuples(
        st.sampled_from(["ann", "bob"]),
        st.sampled_from(["next", "score", "skip", "flag", "undo"]),
        st.integers(0, 3),
        st.sampled_from([0.0, 0.5, 1.0]),
    ),
    max_size=30,
)


def replayed(workspace: Workspace) -> dict[tuple[int, str], tuple[Any, ...]]:
    """What the log amounts to, worked out another way than by the store: every event in turn, undo from a stack."""
    stacks: dict[str, list[tuple[Any, ...]]] = {}
    for event_id, item_id, name, action, score, flagged, undone in rows(
        workspace,
        "SELECT id, item_id, annotator, action, score, flagged, undone_event_id FROM annotation_event ORDER BY id",
    ):
        stack = stacks.setdefault(name, [])
        if action == "undo":
            assert stack.pop()[0] == undone
        else:
            stack.append((event_id, item_id, action, score, flagged))
    states: dict[tuple[int, str], tuple[Any, ...]] = {}
    for name, stack in stacks.items():
        for _, item_id, action, score, flagged in stack:
            state, before, _ = states.get((item_id, name), ("open", None, 0))
            if action != "flag":
                state, before = ("scored", score) if action == "score" else ("skipped", None)
            states[item_id, name] = (state, before, flagged)
    return {key: state for key, state in states.items() if state != ("open", None, 0)}


def stored(workspace: Workspace) -> dict[tuple[int, str], tuple[Any, ...]]:
    found = rows(workspace, "SELECT item_id, annotator, state, score, flagged FROM annotation")
    states = {
        (item_id, name): ("open" if state == "claimed" else state, score, flagged)
        for item_id, name, state, score, flagged in found
    }
    return {key: state for key, state in states.items() if state != ("open", None, 0)}


def on_screens(workspace: Workspace) -> list[tuple[int, str]]:
    """Who has which pair before them."""
    claims = "SELECT item_id, annotator FROM annotation WHERE state = 'claimed' AND at <> ''"
    return [(item_id, name) for item_id, name in rows(workspace, claims)]


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(moves=MOVES)
def test_the_state_is_what_the_events_say_and_undo_leads_back_to_nothing(
    empty_database: Path, moves: list[Any]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        workspace = workspace_with(empty_database, Path(folder))
        task_id = add_task(workspace, 4, n_scores=2)
        ids = annotations.score_matrix(workspace, task_id).items["item_id"].tolist()
        for name, move, place, score in moves:
            if move == "next":
                annotations.next_item(workspace, task_id, name)
            elif move == "undo":
                annotations.undo(workspace, task_id, name)
            else:
                value = score if move == "score" else None
                annotations.save(workspace, task_id, ids[place], name, action=move, score=value)
            names = [name for _, name in on_screens(workspace)]
            assert len(names) == len(set(names))
            expected = replayed(workspace)
            for key in on_screens(workspace):
                # A skipped pair that has come back is open while it is on the screen.
                state, _, flagged = expected.pop(key, ("open", None, 0))
                assert state in ("open", "skipped")
                if flagged:
                    expected[key] = ("open", None, 1)
            assert stored(workspace) == expected
        for name in ("ann", "bob"):
            while annotations.undo(workspace, task_id, name) is not None:
                pass
        assert stored(workspace) == {} == replayed(workspace)


# --- many at once ------------------------------------------------------------------------------------------


def _annotate(home: Path, task_id: int, name: str, n_each: int, times: Any) -> None:
    """The scores of one person, one after the other, through the store."""
    workspace = open_workspace(home)
    slowest = 0.0
    shown = annotations.next_item(workspace, task_id, name)
    for number in range(n_each):
        assert shown is not None
        begun = time.perf_counter()
        shown = annotations.save(
            workspace, task_id, shown.id, name, score=(number % 11) / 10, seconds=1.0
        )
        slowest = max(slowest, time.perf_counter() - begun)
    times.put((name, slowest))


def _train(home: Path, run_id: int, job_id: int, stop: Any, written: Any) -> None:
    """Write as a labelling and training job does: scores in transactions of 0.15 s, curves, progress."""
    workspace = open_workspace(home)
    step = 0
    while not stop.is_set():
        with writing(workspace) as db:
            until = time.perf_counter() + 0.15
            while time.perf_counter() < until:
                step += 1
                db.execute(
                    "INSERT INTO metric (run_id, name, step, value) VALUES (?, 'loss', ?, ?)",
                    [run_id, step, 1 / step],
                )
        with writing(workspace) as db:
            db.execute("UPDATE job SET progress = ? WHERE id = ?", [step % 100 / 100, job_id])
        time.sleep(0.03)
    written.put(step)


@pytest.mark.alone
@pytest.mark.parametrize(("n_scores", "n_each"), [(1, 500), (2, 150)])
def test_two_people_and_a_job_write_at_once_and_nothing_is_lost(
    workspace: Workspace, n_scores: int, n_each: int
) -> None:
    # Two pairs more than are scored: whoever is done first keeps one on the screen.
    task_id = add_task(workspace, 2 * n_each // n_scores + 2, n_scores=n_scores)
    project_id = annotation_tasks.get_task(workspace, task_id).project_id
    job_id, run_id = _running_job(workspace, project_id)
    context = multiprocessing.get_context("spawn")
    times, written, stop = context.Queue(), context.Queue(), context.Event()
    job = context.Process(target=_train, args=(workspace.home, run_id, job_id, stop, written))
    people = [
        context.Process(target=_annotate, args=(workspace.home, task_id, name, n_each, times))
        for name in ("ann", "bob")
    ]
    for process in (job, *people):
        process.start()
    for process in people:
        process.join(timeout=240)
    stop.set()
    n_points = written.get(timeout=60)
    job.join(timeout=60)
    assert [process.exitcode for process in (job, *people)] == [0, 0, 0]
    slowest = dict(times.get(timeout=10) for _ in people)
    print(
        f"longest save beside a job: {max(slowest.values()) * 1000:.0f} ms, {n_points:,} points written"
    )

    events = rows(workspace, "SELECT item_id, annotator, action FROM annotation_event")
    assert len(events) == len(set(events)) == 2 * n_each
    matrix = annotations.score_matrix(workspace, task_id)
    assert (~np.isnan(matrix.scores)).sum(axis=1).tolist() == [n_each, n_each]
    per_pair = (~np.isnan(matrix.scores)).sum(axis=0)
    assert per_pair.max() == n_scores
    assert (per_pair > 0).sum() == 2 * n_each // n_scores
    for name in ("ann", "bob"):
        given_scores = rows(
            workspace,
            "SELECT score FROM annotation_event WHERE annotator = ? ORDER BY id",
            name,
        )
        assert [score for (score,) in given_scores] == [
            (number % 11) / 10 for number in range(n_each)
        ]
    assert rows(workspace, "SELECT count(*) FROM metric") == [(n_points,)]


def _running_job(workspace: Workspace, project_id: int) -> tuple[int, int]:
    """A job in the queue to write for: its id, and that of its run."""
    with writing(workspace) as db:
        run_id = runs.insert_run(db, project_id, "label", "Label", "{}", 1)
        job_id = db.execute(
            "INSERT INTO job (project_id, run_id, step, device, state, created_at)"
            " VALUES (?, ?, 'label', 'cpu', 'running', ?)",
            [project_id, run_id, NOON],
        ).lastrowid
    return int(job_id or 0), run_id
