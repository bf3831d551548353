"""Best-worst answers: which tuple comes to whom, what is saved, and what can be taken back."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from augsbert_core import best_worst
from augsbert_core.errors import WorkbenchError
from augsbert_core.storage import annotation_tasks, annotations, best_worst_answers
from augsbert_core.storage.best_worst_answers import TupleItem
from augsbert_core.storage.database import Workspace, open_workspace, reading
from tests.annotating import add_task
from tests.conftest import workspace_with

FOUR = [(0, 1, 2, 3), (2, 3, 4, 5), (4, 5, 0, 1), (0, 2, 4, 1)]


def first(workspace: Workspace, task_id: int, judge: str) -> TupleItem:
    """The next tuple, which must be there."""
    found = best_worst_answers.next_tuple(workspace, task_id, judge)
    assert found is not None
    return found


def answer(workspace: Workspace, shown: TupleItem, judge: str, **more: Any) -> TupleItem | None:
    """The pair that was made first is best, the last one worst."""
    items = sorted(pair.item_id for pair in shown.pairs)
    return best_worst_answers.save_answer(
        workspace, shown.task_id, shown.id, judge, items[0], items[-1], **more
    )


def answer_all(workspace: Workspace, task_id: int, judge: str) -> list[int]:
    """The tuples that came, in their order."""
    met = []
    shown = best_worst_answers.next_tuple(workspace, task_id, judge)
    while shown is not None:
        met.append(shown.id)
        shown = answer(workspace, shown, judge)
    return met


def test_every_judge_answers_every_tuple_in_an_order_of_their_own(workspace: Workspace) -> None:
    task_id = add_task(workspace, 6, tuples=FOUR * 5, n_scores=2)
    orders = {judge: answer_all(workspace, task_id, judge) for judge in ("ann", "bob")}
    assert orders["ann"] != orders["bob"]
    assert sorted(orders["ann"]) == sorted(orders["bob"])
    assert len(set(orders["ann"])) == 20
    # Each tuple has its two judges now.
    assert best_worst_answers.next_tuple(workspace, task_id, "cleo") is None
    task = annotation_tasks.get_task(workspace, task_id)
    assert (task.n_tuples, task.n_answers, task.n_wanted) == (20, 40, 40)


def test_the_pairs_of_a_tuple_are_shuffled_for_each_judge_and_stay_so(workspace: Workspace) -> None:
    task_id = add_task(workspace, 6, tuples=FOUR)
    shown = first(workspace, task_id, "ann")
    assert first(workspace, task_id, "ann") == shown
    orders = {
        tuple(pair.item_id for pair in found.pairs)
        for judge in ("ann", "bob", "cleo", "dan", "eve", "fay")
        for found in [best_worst_answers.get_tuple(workspace, task_id, judge, shown.id)]
    }
    assert len(orders) > 1
    assert len({frozenset(order) for order in orders}) == 1
    texts = annotations.score_matrix(workspace, task_id).items.set_index("item_id")["sentence1"]
    assert all(pair.sentence1 == texts[pair.item_id] for pair in shown.pairs)
    answer(workspace, shown, "ann")
    with reading(workspace) as db:
        (recorded,) = db.execute("SELECT shown FROM best_worst_answer").fetchone()
    assert recorded == str([pair.item_id for pair in shown.pairs])


def test_the_answers_are_what_the_scores_are_counted_from(workspace: Workspace) -> None:
    task_id = add_task(workspace, 6, tuples=FOUR, n_scores=2)
    assert len(best_worst_answers.answers(workspace, task_id)) == 0
    for judge in ("ann", "bob"):
        answer_all(workspace, task_id, judge)
    found = best_worst_answers.answers(workspace, task_id)
    assert found.tuples.tolist() == [list(FOUR[number // 2]) for number in range(8)]
    assert found.best.tolist() == [0, 0, 2, 2, 0, 0, 0, 0]
    assert found.worst.tolist() == [3, 3, 5, 5, 5, 5, 4, 4]
    assert sorted(found.judges.tolist()) == ["ann"] * 4 + ["bob"] * 4
    scores = best_worst.score(found.tuples, found.best, found.worst, len(found.item_ids))
    np.testing.assert_allclose(scores, [1, 0, 1 / 3, -1 / 2, -1 / 3, -1])
    reliability = best_worst.split_half_reliability(
        found.tuples, found.judges, found.best, found.worst, 6, np.random.default_rng(1), 5
    )
    assert reliability is not None
    assert reliability.mean == pytest.approx(1.0)


def test_a_later_answer_replaces_the_earlier_one(workspace: Workspace) -> None:
    task_id = add_task(workspace, 6, tuples=FOUR)
    shown = first(workspace, task_id, "ann")
    one, two = shown.pairs[0].item_id, shown.pairs[1].item_id
    for best, worst in ((one, two), (two, one)):
        best_worst_answers.save_answer(workspace, task_id, shown.id, "ann", best, worst)
    found = best_worst_answers.answers(workspace, task_id)
    assert [found.item_ids[place] for place in (*found.best, *found.worst)] == [two, one]
    again = best_worst_answers.get_tuple(workspace, task_id, "ann", shown.id)
    assert (again.state, again.best_item_id, again.worst_item_id) == ("answered", two, one)


def test_undo_takes_back_ones_own_answers_one_by_one(workspace: Workspace) -> None:
    task_id = add_task(workspace, 6, tuples=FOUR, n_scores=2)
    shown = first(workspace, task_id, "ann")
    one, two = shown.pairs[0].item_id, shown.pairs[1].item_id
    best_worst_answers.save_answer(workspace, task_id, shown.id, "ann", one, two)
    best_worst_answers.save_answer(workspace, task_id, shown.id, "ann", two, one)
    answer(workspace, shown, "bob")

    back = best_worst_answers.undo_answer(open_workspace(workspace.home), task_id, "ann")
    assert back is not None
    assert (back.id, back.state, back.best_item_id) == (shown.id, "answered", one)
    assert len(best_worst_answers.answers(workspace, task_id)) == 2
    assert best_worst_answers.undo_answer(workspace, task_id, "ann") == shown
    assert best_worst_answers.undo_answer(workspace, task_id, "ann") is None
    assert best_worst_answers.answers(workspace, task_id).judges.tolist() == ["bob"]
    assert first(workspace, task_id, "ann") == shown


def test_a_skipped_tuple_comes_back_once_after_all_others(workspace: Workspace) -> None:
    task_id = add_task(workspace, 6, tuples=FOUR)
    shown = first(workspace, task_id, "ann")
    following = best_worst_answers.skip_tuple(workspace, task_id, shown.id, "ann", seconds=3)
    assert following is not None
    come = answer_all(workspace, task_id, "ann")
    assert come[-1] == shown.id
    assert len(come) == 4

    other = first(workspace, task_id_2 := add_task(workspace, 4, tuples=[(0, 1, 2, 3)]), "ann")
    back = best_worst_answers.skip_tuple(workspace, task_id_2, other.id, "ann")
    assert back is not None
    assert (back.id, back.state) == (other.id, "skipped")
    assert best_worst_answers.skip_tuple(workspace, task_id_2, other.id, "ann") is None
    told = best_worst_answers.tuple_progress(workspace, task_id_2, "ann")
    assert (told.done, told.skipped, told.left) == (0, 1, 0)


def test_arrows_move_through_the_tuples(workspace: Workspace) -> None:
    task_id = add_task(workspace, 6, tuples=FOUR)
    shown = first(workspace, task_id, "ann")
    following = answer(workspace, shown, "ann")
    assert following is not None
    assert (shown.number, following.number) == (1, 2)
    move = best_worst_answers.neighbour_tuple
    back = move(workspace, task_id, "ann", following.id, -1)
    assert back is not None
    assert (back.id, back.state) == (shown.id, "answered")
    assert move(workspace, task_id, "ann", shown.id, -1) is None
    assert move(workspace, task_id, "ann", shown.id, 1) == following
    assert move(workspace, task_id, "ann", shown.id, 4) is None


def test_progress_counts_tuples_and_time(workspace: Workspace) -> None:
    task_id = add_task(workspace, 6, tuples=FOUR, n_scores=2)
    shown = first(workspace, task_id, "ann")
    following = answer(workspace, shown, "ann", seconds=20.0)
    assert following is not None
    answer(workspace, following, "ann", seconds=40.0)
    answer(workspace, first(workspace, task_id, "bob"), "bob")
    told = best_worst_answers.tuple_progress(workspace, task_id, "ann")
    assert (told.n_tuples, told.done, told.left, told.all_done, told.all_wanted) == (4, 2, 2, 3, 8)
    assert (told.tuples_per_hour, told.median_seconds) == (120.0, 30.0)


def test_an_answer_that_cannot_be_is_refused(workspace: Workspace) -> None:
    task_id = add_task(workspace, 6, tuples=FOUR)
    shown = first(workspace, task_id, "ann")
    one = shown.pairs[0].item_id
    inside = {pair.item_id for pair in shown.pairs}
    items = best_worst_answers.answers(workspace, task_id).item_ids
    outside = next(item for item in items if item not in inside)
    save = best_worst_answers.save_answer
    with pytest.raises(WorkbenchError, match="two different"):
        save(workspace, task_id, shown.id, "ann", one, one)
    with pytest.raises(WorkbenchError, match="not in this tuple"):
        save(workspace, task_id, shown.id, "ann", one, outside)
    with pytest.raises(WorkbenchError, match="is not"):
        save(workspace, task_id, 999, "ann", one, outside)
    with pytest.raises(WorkbenchError, match="four pairs at a time"):
        annotations.next_item(workspace, task_id, "ann")
    annotation_tasks.close_task(workspace, task_id)
    with pytest.raises(WorkbenchError, match="closed"):
        answer(workspace, shown, "ann")
    with pytest.raises(WorkbenchError, match="closed"):
        best_worst_answers.undo_answer(workspace, task_id, "ann")
    assert best_worst_answers.next_tuple(workspace, task_id, "ann") is None
    assert len(best_worst_answers.answers(workspace, task_id)) == 0


def test_deleting_a_task_takes_its_answers(workspace: Workspace) -> None:
    task_id = add_task(workspace, 6, tuples=FOUR, n_scores=2)
    answer_all(workspace, task_id, "ann")
    assert annotation_tasks.delete_task(workspace, task_id) == 4
    with reading(workspace) as db:
        for table in ("best_worst_tuple", "best_worst_answer", "annotation_item"):
            assert not db.execute(f"SELECT 1 FROM {table}").fetchall()


MOVES = st.lists(
    st.tuples(
        st.sampled_from(["ann", "bob"]),
        st.sampled_from(["answer", "skip", "undo"]),
        st.integers(0, 3),
        st.permutations(range(4)),
    ),
    max_size=20,
)


@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(moves=MOVES)
def test_what_counts_is_what_was_not_taken_back(empty_database: Path, moves: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        workspace = workspace_with(empty_database, Path(folder))
        task_id = add_task(workspace, 6, tuples=FOUR, n_scores=2)
        with reading(workspace) as db:
            ids = [
                row[0] for row in db.execute("SELECT id FROM best_worst_tuple ORDER BY position")
            ]
        items = best_worst_answers.answers(workspace, task_id).item_ids
        stacks: dict[str, list[tuple[int, int | None, int | None]]] = {"ann": [], "bob": []}
        for judge, move, number, order in moves:
            best, worst = FOUR[number][order[0]], FOUR[number][order[1]]
            if move == "undo":
                undone = best_worst_answers.undo_answer(workspace, task_id, judge)
                assert (undone is None) == (not stacks[judge])
                if stacks[judge]:
                    stacks[judge].pop()
            elif move == "skip":
                best_worst_answers.skip_tuple(workspace, task_id, ids[number], judge)
                stacks[judge].append((number, None, None))
            else:
                best_worst_answers.save_answer(
                    workspace, task_id, ids[number], judge, items[best], items[worst]
                )
                stacks[judge].append((number, best, worst))
            expected = {
                (judge, number): (best, worst)
                for judge, stack in stacks.items()
                for number, best, worst in stack
            }
            found = best_worst_answers.answers(workspace, task_id)
            columns = (found.judges, found.tuples, found.best, found.worst)
            assert {
                (judge, FOUR.index(tuple(shown))): (best, worst)
                for judge, shown, best, worst in zip(
                    *(one.tolist() for one in columns), strict=True
                )
            } == {key: value for key, value in expected.items() if value[0] is not None}
