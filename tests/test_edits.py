"""Undo and redo: nothing is lost, nobody takes back what others decided, and the log only grows."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.storage import (
    correction_export,
    deletion,
    edit_changes,
    edits,
    gold,
    gold_edits,
    projects,
    reviews,
    runs,
    silver_bins,
    silver_sets,
)
from augsbert_core.storage.database import Workspace, backup, open_workspace, reading, writing
from augsbert_core.storage.edits import Overwritten, Scope, UndoState
from augsbert_core.storage.records import Project
from tests.old_edits import old_database
from tests.silver_pairs import (
    all_pairs,
    candidate_set,
    corpus,
    label,
    recounted,
    silver_set,
    sixty_pairs,
    stored_bins,
)

N_PAIRS = 10

places = st.integers(0, N_PAIRS - 1)
parts = st.sampled_from([1, 3, N_PAIRS])
bulk_statuses = st.sampled_from(reviews.BULK_STATUSES)
scores = st.sampled_from([0.0, 0.125, 1 / 3, 0.5, 0.9, 1.0])
EDITS = st.one_of(
    st.tuples(st.just("correct"), places, scores),
    st.tuples(st.just("review"), places, bulk_statuses),
    st.tuples(st.just("bulk"), st.sets(places), bulk_statuses),
    st.tuples(st.just("rescale"), st.sets(places), st.sampled_from([(0.0, 0.5), (0.3, 1.2)])),
    st.tuples(st.just("carry")),
)


def two_sets(workspace: Workspace) -> tuple[int, int]:
    """Two silver sets of the same ten pairs; people have decided on some pairs of the second."""
    project = projects.create_project(workspace, "P")
    candidates = candidate_set(workspace, project, corpus(workspace, project, 5), N_PAIRS)
    sets = [silver_set(workspace, project, candidates, f"run:{number}") for number in (1, 2)]
    for set_id, shift in zip(sets, (0.0, 0.05), strict=True):
        label(workspace, set_id, [shift + number / 12 for number in range(N_PAIRS)])
    ids = [pair["id"] for pair in all_pairs(workspace, sets[1])]
    reviews.review_silver_pair(workspace, ids[0], status="accepted", actor="Eve")
    reviews.review_silver_pair(workspace, ids[2], correction=0.7, status="corrected", actor="Eve")
    reviews.review_silver_pair(workspace, ids[4], status="rejected", actor="Eve")
    return sets[0], sets[1]


def carry_out(workspace: Workspace, sets: tuple[int, int], actor: str, edit: tuple) -> None:
    """One edit of the first set by this actor."""
    ids = np.array([pair["id"] for pair in all_pairs(workspace, sets[0])])
    name, *told = edit
    if name == "correct":
        reviews.review_silver_pair(
            workspace, int(ids[told[0]]), correction=told[1], status="corrected", actor=actor
        )
    elif name == "review":
        reviews.review_silver_pair(workspace, int(ids[told[0]]), status=told[1], actor=actor)
    elif name == "bulk":
        chosen = ids[sorted(told[0])]
        reviews.review_many(workspace, sets[0], chosen, status=told[1], actor=actor, summary="b")
    elif name == "rescale":
        low, high = told[1]
        chosen = ids[sorted(told[0])]
        reviews.rescale_many(
            workspace, sets[0], chosen, low=low, high=high, actor=actor, summary="r"
        )
    else:
        reviews.carry_over(workspace, sets[1], sets[0], actor)


def state(workspace: Workspace) -> tuple[Any, ...]:
    """Everything but the log and the revisions: pairs, counts, sizes."""
    with reading(workspace) as db:
        pairs = db.execute("SELECT * FROM silver_pair ORDER BY id").fetchall()
        sizes = db.execute("SELECT id, n_pairs FROM silver_set ORDER BY id").fetchall()
    return [tuple(row) for row in pairs], stored_bins(workspace), [tuple(row) for row in sizes]


def log(workspace: Workspace) -> list[tuple[Any, ...]]:
    """What never changes in the log: all but the state of an edit."""
    with reading(workspace) as db:
        rows = db.execute(
            "SELECT edit.id, actor, kind, at, summary, n_changes, target_edit_id, pair_id, before_score,"
            " before_status, after_score, after_status FROM edit LEFT JOIN edit_change ON edit_id = edit.id"
            " ORDER BY edit.id, pair_id"
        )
        return [tuple(row) for row in rows]


def until_none(turn: Callable[[], str | None]) -> int:
    """Undo or redo as often as there is something to; returns how often that was."""
    done = 0
    while turn() is not None:
        done += 1
    return done


@contextmanager
def parts_of(n_pairs: int) -> Iterator[None]:
    """Edits of more pairs than these are carried out in parts of so many, without a pause."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AT_ONCE", "FIRST_PART", "FEWEST"):
            patch.setattr(edit_changes, name, n_pairs)
        patch.setattr(edit_changes, "PAUSE_SECONDS", 0.0)
        yield


@cache
def template() -> tuple[bytes, tuple[int, int]]:
    """The database of a workspace with `two_sets`, and their numbers."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = open_workspace(Path(folder))
        sets = two_sets(workspace)
        backup(workspace, workspace.home / "copy.db")
        return (workspace.home / "copy.db").read_bytes(), sets


def in_new_workspace(
    check: Callable[[Workspace, tuple[int, int]], None], part: int = N_PAIRS
) -> None:
    database, sets = template()
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(Path(folder))
        workspace.database.write_bytes(database)
        with parts_of(part):
            check(workspace, sets)


@settings(deadline=None, max_examples=15)
@given(st.lists(EDITS, max_size=8), parts)
def test_all_undone_is_the_start_and_all_redone_is_the_end(
    sequence: list[tuple], part: int
) -> None:
    def check(workspace: Workspace, sets: tuple[int, int]) -> None:
        scope = Scope.silver(sets[0])
        states = [state(workspace)]
        for edit in sequence:
            carry_out(workspace, sets, "ann", edit)
            if state(workspace) != states[-1]:
                states.append(state(workspace))
            assert stored_bins(workspace) == recounted(workspace)
        for expected in reversed(states[:-1]):
            assert edits.undo(workspace, scope, "ann")
            assert state(workspace) == expected
        assert edits.undo(workspace, scope, "ann") is None
        assert edits.undo_state(workspace, scope, "ann").undo is None
        for expected in states[1:]:
            assert edits.redo(workspace, scope, "ann")
            assert state(workspace) == expected
        assert edits.redo(workspace, scope, "ann") is None
        assert until_none(lambda: edits.undo(workspace, scope, "ann")) == len(states) - 1
        assert state(workspace) == states[0]

    in_new_workspace(check, part)


def attempt(
    workspace: Workspace, scope: Scope, name: str, actor: str, *, leave_overwritten: bool
) -> str | Overwritten | None:
    """What an undo or redo says, or why it is refused."""
    turn = edits.undo if name == "undo" else edits.redo
    try:
        return turn(workspace, scope, actor, leave_overwritten=leave_overwritten)
    except Overwritten as error:
        return error


TURNS = st.tuples(st.sampled_from(["undo", "redo"]), st.booleans())
PEOPLE = st.sampled_from(["ann", "ben", "cleo"])


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(PEOPLE, st.one_of(EDITS, TURNS)), max_size=16), parts)
def test_nobody_takes_back_what_others_have_decided(
    sequence: list[tuple[str, tuple]], part: int
) -> None:
    """The model: who decided on a pair, latest last; an undo may remove the actor's own decision from the end alone."""

    def check(workspace: Workspace, sets: tuple[int, int]) -> None:
        scope = Scope.silver(sets[0])
        decided: dict[int, list[str]] = {pair["id"]: [] for pair in all_pairs(workspace, sets[0])}
        for actor, (name, *told) in sequence:
            before, was = state(workspace), log(workspace)
            values = {pair["id"]: pair for pair in all_pairs(workspace, sets[0])}
            if name in ("undo", "redo"):
                done = attempt(workspace, scope, name, actor, leave_overwritten=told[0])
                if isinstance(done, Overwritten):
                    assert not told[0]
                    assert done.n_pairs > 0
                    assert actor not in done.names
                    assert (state(workspace), log(workspace)) == (before, was)
                    continue
                assert (log(workspace) == was) == (done is None)
            else:
                carry_out(workspace, sets, actor, (name, *told))
            for pair in all_pairs(workspace, sets[0]):
                if pair == values[pair["id"]]:
                    continue
                if name == "undo":
                    assert decided[pair["id"]].pop() == actor
                else:
                    decided[pair["id"]].append(actor)
            assert log(workspace)[: len(was)] == was, "the log only grows"
            assert stored_bins(workspace) == recounted(workspace)

    in_new_workspace(check, part)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.one_of(EDITS, TURNS), max_size=16), parts)
def test_undo_and_redo_walk_along_what_one_has_done(sequence: list[tuple], part: int) -> None:
    """The model: a list of states and a place in it; an edit cuts off what lies ahead."""

    def check(workspace: Workspace, sets: tuple[int, int]) -> None:
        scope = Scope.silver(sets[0])
        path, at = [state(workspace)], 0
        for name, *told in sequence:
            if name == "undo":
                assert (edits.undo(workspace, scope, "ann") is None) == (at == 0)
                at = max(at - 1, 0)
            elif name == "redo":
                assert (edits.redo(workspace, scope, "ann") is None) == (at == len(path) - 1)
                at = min(at + 1, len(path) - 1)
            else:
                carry_out(workspace, sets, "ann", (name, *told))
                if state(workspace) != path[at]:
                    path = [*path[: at + 1], state(workspace)]
                    at += 1
            assert state(workspace) == path[at]
            offered = edits.undo_state(workspace, scope, "ann")
            assert (offered.undo is None, offered.redo is None) == (at == 0, at == len(path) - 1)

    in_new_workspace(check, part)


class Killed(BaseException):
    """The process ends here."""


def killed_after(n_parts: int) -> Callable[[], bool]:
    """A `should_stop` that ends everything after so many parts."""
    left = [n_parts]

    def should_stop() -> bool:
        if not left[0]:
            raise Killed
        left[0] -= 1
        return False

    return should_stop


def in_force(workspace: Workspace, actor: str) -> set[int]:
    """The pairs on which a decision of this person stands, by the log."""
    with reading(workspace) as db:
        query = "SELECT pair_id FROM edit JOIN edit_change ON edit_id = edit.id WHERE actor = ? AND in_force"
        return {row[0] for row in db.execute(query, [actor])}


@settings(deadline=None, max_examples=20)
@given(
    st.sampled_from([("bulk", "rejected"), ("rescale", (0.3, 1.2))]),
    st.lists(st.tuples(st.sampled_from(["undo", "redo"]), st.integers(1, 4)), max_size=6),
    st.integers(1, 4),
)
def test_whatever_is_killed_between_its_parts_can_be_gone_on_with(
    edit: tuple[str, Any], turns: list[tuple[str, int]], n_parts: int
) -> None:
    def check(workspace: Workspace, sets: tuple[int, int]) -> None:
        scope, start = Scope.silver(sets[0]), state(workspace)
        told: dict[str, Any] = {
            "actor": "ann",
            "summary": "s",
            "should_stop": killed_after(n_parts),
        }
        ids = ids_of(workspace, sets[0])
        with suppress(Killed):
            if edit[0] == "bulk":
                reviews.review_many(workspace, sets[0], ids, status=edit[1], **told)
            else:
                low, high = edit[1]
                reviews.rescale_many(workspace, sets[0], ids, low=low, high=high, **told)
        n_done = min(3 * n_parts, N_PAIRS)
        assert [row.n_changes for row in edits.edit_log(workspace, scope)] == [n_done]
        end = state(workspace)
        assert edits.undo(workspace, scope, "ann")
        assert state(workspace) == start
        assert edits.redo(workspace, scope, "ann")
        assert state(workspace) == end
        for name, stop in turns:
            with suppress(Killed):
                turn = edits.undo if name == "undo" else edits.redo
                turn(workspace, scope, "ann", should_stop=killed_after(stop))
            assert stored_bins(workspace) == recounted(workspace)
            changed = [
                pair for pair in all_pairs(workspace, sets[0]) if pair["status"] != "unreviewed"
            ]
            assert {pair["id"] for pair in changed} == in_force(workspace, "ann")
        if edits.undo_state(workspace, scope, "ann").undo:
            assert edits.undo(workspace, scope, "ann")
        assert state(workspace) == start
        assert edits.redo(workspace, scope, "ann")
        assert state(workspace) == end
        with suppress(Killed):
            edits.undo(workspace, scope, "ann", should_stop=killed_after(1))
        reviews.review_silver_pair(workspace, int(ids[0]), status="flagged", actor="ann")
        assert edits.undo_state(workspace, scope, "ann").redo is None
        until_none(lambda: edits.undo(workspace, scope, "ann"))
        assert state(workspace) == start

    in_new_workspace(check, 3)


# --- by example ----------------------------------------------------------------------------------------


@pytest.fixture
def silver(workspace: Workspace, project: Project) -> int:
    return sixty_pairs(workspace, project)


def another_set(workspace: Workspace, project: Project, set_id: int) -> int:
    """The same sixty pairs, scored by someone else."""
    candidates = silver_sets.get_silver_set(workspace, set_id).candidate_set_id
    other = silver_set(workspace, project, candidates, "run:2")
    label(workspace, other, [0.5] * 60)
    return other


def ids_of(workspace: Workspace, set_id: int) -> np.ndarray:
    return np.array([pair["id"] for pair in all_pairs(workspace, set_id)])


def test_an_edit_of_many_pairs_is_one_row_of_the_log(workspace: Workspace, silver: int) -> None:
    ids = ids_of(workspace, silver)
    told = {"actor": "ann", "summary": "low scores"}
    assert reviews.review_many(workspace, silver, ids[:20], status="rejected", **told) == 20
    assert reviews.review_many(workspace, silver, ids[:30], status="rejected", **told) == 10
    assert reviews.review_many(workspace, silver, ids[:30], status="rejected", **told) == 0
    scope = Scope.silver(silver)
    assert edits.undo(workspace, scope, "ann") == "Undone on 10 pairs: low scores"
    assert edits.undo_state(workspace, scope, "ann") == UndoState("low scores", "low scores")
    rows = edits.edit_log(workspace, scope)
    assert [(row.kind, row.n_changes, row.state) for row in rows] == [
        ("undo", 10, "logged"), ("bulk-review", 10, "undone"), ("bulk-review", 20, "applied"),
    ]  # fmt: skip
    assert rows[0].target_edit_id == rows[1].id
    assert edits.count_edits(workspace, scope) == 3
    assert edits.count_edits(workspace, scope, actor="ben") == 0
    assert edits.edit_log(workspace, scope, offset=1, limit=1) == rows[1:2]
    assert edits.actors(workspace, scope) == ["ann"]


def test_pairs_of_other_sets_are_passed_over(
    workspace: Workspace, project: Project, silver: int
) -> None:
    other = another_set(workspace, project, silver)
    both = np.concatenate([ids_of(workspace, silver)[:2], ids_of(workspace, other)[:3]])
    told = {"status": "flagged", "actor": "ann", "summary": "s"}
    assert reviews.review_many(workspace, silver, both, **told) == 2
    assert silver_bins.silver_status_counts(workspace, other)["flagged"] == 0
    assert edits.undo(workspace, Scope.silver(other), "ann") is None


def test_accepting_goes_back_to_the_labelers_score_and_rejecting_keeps_a_correction(
    workspace: Workspace, silver: int
) -> None:
    first, second, third = (int(one) for one in ids_of(workspace, silver)[:3])
    for pair in (first, second):
        reviews.review_silver_pair(workspace, pair, correction=1.0, status="corrected", actor="a")
    for pair, status in ((first, "accepted"), (second, "rejected"), (third, "rejected")):
        reviews.review_many(
            workspace, silver, np.array([pair]), status=status, actor="a", summary=status
        )
    found = {
        pair["id"]: (pair["status"], pair["correction"]) for pair in all_pairs(workspace, silver)
    }
    assert found[first] == ("accepted", None)
    assert found[second] == ("rejected", 1.0)
    changed = reviews.rescale_many(
        workspace, silver, np.array([first, second, third]), low=0.5, high=2.0, actor="a", summary="r"
    )  # fmt: skip
    assert changed == 1, "rejected pairs stay as they are"
    with pytest.raises(ValueError, match="corrected"):
        reviews.review_many(workspace, silver, np.array([first]), status="corrected", actor="a", summary="")  # fmt: skip
    with pytest.raises(WorkbenchError, match="below the highest"):
        reviews.rescale_many(workspace, silver, np.array([first]), low=0.5, high=0.5, actor="a", summary="")  # fmt: skip


def test_decisions_are_carried_over_to_pairs_that_nobody_has_decided_on(
    workspace: Workspace,
) -> None:
    to, origin = two_sets(workspace)
    new, old = all_pairs(workspace, to), all_pairs(workspace, origin)
    reviews.review_silver_pair(workspace, new[4]["id"], status="flagged", actor="ann")
    assert reviews.carry_over(workspace, origin, to, "ann") == 2
    found = [(pair["status"], pair["correction"]) for pair in all_pairs(workspace, to)]
    assert found[0] == ("corrected", old[0]["score"]), "the new labeler says something else"
    assert found[2] == ("corrected", 0.7)
    assert found[4] == ("flagged", None)
    (row, _) = edits.edit_log(workspace, Scope.silver(to))
    assert (row.kind, row.summary) == ("carry-over", f"Decisions of silver set {origin}")
    with pytest.raises(WorkbenchError, match="another"):
        reviews.carry_over(workspace, to, to, "ann")
    with pytest.raises(WorkbenchError, match="Silver set 99"):
        reviews.carry_over(workspace, 99, to, "ann")


def test_the_reason_of_a_refusal_names_who_and_how_many(workspace: Workspace, silver: int) -> None:
    ids, scope = ids_of(workspace, silver), Scope.silver(silver)
    reviews.review_many(workspace, silver, ids, status="rejected", actor="ann", summary="all")
    reviews.review_many(workspace, silver, ids[:2], status="accepted", actor="ben", summary="two")
    reviews.review_many(workspace, silver, ids[2:3], status="flagged", actor="cleo", summary="one")
    with pytest.raises(Overwritten, match="ben and cleo have changed 3 of the 60 pairs") as caught:
        edits.undo(workspace, scope, "ann")
    assert (caught.value.n_pairs, caught.value.n_all) == (3, 60)
    done = edits.undo(workspace, scope, "ann", leave_overwritten=True)
    assert done == "Undone on 57 pairs; 3 pairs stay as decided by ben and cleo: all"
    with pytest.raises(Overwritten, match="Nothing was redone"):
        edits.redo(workspace, scope, "ann")
    assert edits.redo(workspace, scope, "ann", leave_overwritten=True)
    assert silver_bins.silver_status_counts(workspace, silver)["rejected"] == 57


def test_the_same_value_decided_anew_by_someone_else_is_theirs(
    workspace: Workspace, silver: int
) -> None:
    """Ben flags the pair and rejects it again: it has the value that Ann gave it, but it is Ben's."""
    pair, scope = int(ids_of(workspace, silver)[0]), Scope.silver(silver)
    for actor, status in (("ann", "rejected"), ("ben", "flagged"), ("ben", "rejected")):
        reviews.review_silver_pair(workspace, pair, status=status, actor=actor)
    with pytest.raises(Overwritten, match="ben has changed this pair since"):
        edits.undo(workspace, scope, "ann")
    assert edits.undo(workspace, scope, "ann", leave_overwritten=True) == (
        "Left the pair as decided by ben: rejected: sentence 0"
    )
    assert edits.undo_state(workspace, scope, "ann").undo is None, (
        "and so earlier ones can be undone"
    )


def test_the_history_of_a_pair(workspace: Workspace, silver: int) -> None:
    ids, scope = ids_of(workspace, silver), Scope.silver(silver)
    pair = int(ids[0])
    reviews.review_silver_pair(workspace, pair, correction=0.5, status="corrected", actor="ann")
    reviews.review_many(workspace, silver, ids[:9], status="rejected", actor="ben", summary="b")
    edits.undo(workspace, scope, "ben")
    edits.redo(workspace, scope, "ben")
    rows = edits.pair_history(workspace, "silver_pair", pair)
    assert [(row.actor, row.kind, row.before_status, row.after_status) for row in rows] == [
        ("ann", "review", "unreviewed", "corrected"),
        ("ben", "bulk-review", "corrected", "rejected"),
        ("ben", "undo", "rejected", "corrected"),
        ("ben", "redo", "corrected", "rejected"),
    ]
    assert [row.after_score for row in rows] == [0.5, 0.5, 0.5, 0.5]
    assert edits.pair_history(workspace, "gold_pair", pair) == []


def test_others_save_between_the_parts_of_an_edit(workspace: Workspace, silver: int) -> None:
    """What they decide on meanwhile is left alone, by the edit and by its undo; all numbers fit at any moment."""
    ids, scope, seen = ids_of(workspace, silver), Scope.silver(silver), []

    def ben_saves(fraction: float, *_: Any) -> None:
        counts = silver_bins.silver_status_counts(workspace, silver)
        seen.append((round(60 * fraction), counts["rejected"]))
        assert stored_bins(workspace) == recounted(workspace)
        if fraction < 1:
            pair = int(ids[-len(seen)])
            reviews.review_silver_pair(workspace, pair, status="accepted", actor="ben")

    def cleo_saves(*_: Any) -> None:
        if not edits.count_edits(workspace, scope, actor="cleo"):
            reviews.review_silver_pair(workspace, int(ids[50]), status="flagged", actor="cleo")

    told: dict[str, Any] = {"status": "rejected", "actor": "ann", "summary": "all"}
    with parts_of(20):
        assert reviews.review_many(workspace, silver, ids, **told, report=ben_saves) == 58
        assert seen == [(20, 20), (40, 40), (60, 58)]
        assert [row.n_changes for row in edits.edit_log(workspace, scope, actor="ann")] == [58]
        done = edits.undo(workspace, scope, "ann", report=cleo_saves)
    assert done == "Undone on 57 pairs; 1 pair stays as decided by cleo: all"
    assert silver_bins.silver_status_counts(workspace, silver) == {
        "unreviewed": 57, "corrected": 0, "accepted": 2, "rejected": 0, "flagged": 1,
    }  # fmt: skip


def test_an_edit_that_is_taken_back_in_another_window_ends(
    workspace: Workspace, silver: int
) -> None:
    ids, scope = ids_of(workspace, silver), Scope.silver(silver)
    told: dict[str, Any] = {"status": "rejected", "actor": "ann", "summary": "all"}
    with parts_of(20), pytest.raises(WorkbenchError, match="when 20 of 60 pairs were done"):
        reviews.review_many(
            workspace, silver, ids, **told, report=lambda *_: edits.undo(workspace, scope, "ann")
        )
    assert silver_bins.silver_status_counts(workspace, silver)["unreviewed"] == 60
    assert edits.undo_state(workspace, scope, "ann") == UndoState(None, "all")


def test_a_large_edit_is_refused_before_anything_is_changed(
    workspace: Workspace, silver: int
) -> None:
    ids, scope = ids_of(workspace, silver), Scope.silver(silver)
    with parts_of(20):
        reviews.review_many(workspace, silver, ids, status="rejected", actor="ann", summary="all")
        reviews.review_silver_pair(workspace, int(ids[-1]), status="flagged", actor="ben")
        before = state(workspace)
        with pytest.raises(Overwritten, match="ben has changed 1 of the 60 pairs"):
            edits.undo(workspace, scope, "ann")
    assert state(workspace) == before


def test_the_history_tells_how_far_an_undo_that_was_killed_has_come(
    workspace: Workspace, silver: int
) -> None:
    ids, scope = ids_of(workspace, silver), Scope.silver(silver)
    with parts_of(20):
        reviews.review_many(workspace, silver, ids, status="rejected", actor="ann", summary="all")
        with pytest.raises(Killed):
            edits.undo(workspace, scope, "ann", should_stop=killed_after(2))
        rows = edits.edit_log(workspace, scope)
        assert [(row.kind, row.n_changes, row.state) for row in rows] == [
            ("undo", 40, "logged"), ("bulk-review", 60, "applied"),
        ]  # fmt: skip
        for pair, kinds in ((ids[39], ["bulk-review", "undo"]), (ids[40], ["bulk-review"])):
            found = edits.pair_history(workspace, "silver_pair", int(pair))
            assert [row.kind for row in found] == kinds
        assert edits.undo_state(workspace, scope, "ann") == UndoState("all", "all")
        assert edits.undo(workspace, scope, "ann") == "Undone on 60 pairs: all"
    assert [row.n_changes for row in edits.edit_log(workspace, scope)] == [60, 60]


def test_what_an_undo_has_left_is_there_already(workspace: Workspace, silver: int) -> None:
    """Bob rejects, Ann accepts, Bob leaves it so, Ann takes hers back: it is Bob's again, and he can take it back."""
    pair, scope = int(ids_of(workspace, silver)[0]), Scope.silver(silver)
    for actor, status in (("bob", "rejected"), ("ann", "accepted")):
        reviews.review_silver_pair(workspace, pair, status=status, actor=actor)
    assert str(edits.undo(workspace, scope, "bob", leave_overwritten=True)).startswith("Left")
    assert edits.undo(workspace, scope, "ann") == "Back to rejected: sentence 0"
    assert edits.undo_state(workspace, scope, "bob") == UndoState(None, "rejected: sentence 0")
    assert edits.redo(workspace, scope, "bob") == (
        "There already, nothing was changed: rejected: sentence 0"
    )
    assert edits.undo(workspace, scope, "bob") == "Back to unreviewed: sentence 0"


def test_a_deleted_set_takes_its_log_along(
    workspace: Workspace, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletion, "FIRST_CHUNK", 7)
    monkeypatch.setattr(deletion, "FEWEST", 7)
    one = sixty_pairs(workspace, project)
    other = another_set(workspace, project, one)
    for set_id in (one, other):
        told = {"status": "rejected", "actor": "ann", "summary": "all"}
        reviews.review_many(workspace, set_id, ids_of(workspace, set_id), **told)
        edits.undo(workspace, Scope.silver(set_id), "ann")
    silver_sets.delete_silver_set(workspace, one)
    with pytest.raises(WorkbenchError, match=f"Silver set {one} does not exist"):
        edits.redo(workspace, Scope.silver(one), "ann")
    deletion.sweep(workspace)
    assert edits.count_edits(workspace, Scope.silver(one)) == 0
    assert edits.redo(workspace, Scope.silver(other), "ann") == "Redone on 60 pairs: all"
    with reading(workspace) as db:
        assert db.execute("SELECT count(*) FROM edit_change").fetchone()[0] == 60
    projects.delete_project(workspace, project.id)
    deletion.sweep(workspace)
    with reading(workspace) as db:
        assert db.execute("SELECT count(*) FROM edit").fetchone()[0] == 0


# --- gold ----------------------------------------------------------------------------------------------


def gold_rows(workspace: Workspace, project: Project) -> list[dict[str, Any]]:
    with reading(workspace) as db:
        query = (
            "SELECT id, score, raw_score, raw_label FROM gold_pair WHERE project_id = ? ORDER BY id"
        )
        return [dict(row) for row in db.execute(query, [project.id])]


def test_a_gold_score_comes_back_bit_for_bit(workspace: Workspace, project: Project) -> None:
    first = gold_rows(workspace, project)[0]
    with writing(workspace) as db:  # as the mean of repeated rows may be, or a word
        query = "UPDATE gold_pair SET score = ?, raw_score = ?, raw_label = 'alike' WHERE id = ?"
        db.execute(query, [0.1 + 0.2, 1.4999999, first["id"]])
    start, scope = gold_rows(workspace, project), Scope.gold(project.id)
    gold_edits.set_gold_score(workspace, first["id"], 4.0, actor="ann")
    changed = gold_rows(workspace, project)
    assert changed[0] == {"id": first["id"], "score": 0.8, "raw_score": 4.0, "raw_label": ""}
    assert changed[1:] == start[1:]
    assert str(edits.undo(workspace, scope, "ann")).startswith("Back to 1.5: ")
    assert gold_rows(workspace, project) == start
    assert str(edits.redo(workspace, scope, "ann")).startswith("Again 4: ")
    assert gold_rows(workspace, project) == changed


def test_a_gold_score_that_was_looked_at(workspace: Workspace, project: Project) -> None:
    first, second, third = gold_rows(workspace, project)[:3]
    scope = Scope.gold(project.id)
    gold_edits.keep_gold_score(workspace, first["id"], actor="ann")
    gold_edits.set_gold_score(workspace, second["id"], second["raw_score"], actor="ann")
    gold_edits.set_gold_score(workspace, third["id"], 2.5, actor="ann")
    edits.undo(workspace, scope, "ann")
    looked_at = gold_edits.looked_at(workspace, project.id, "2020-01-01T00:00:00+00:00")
    assert looked_at == {first["id"], second["id"]}
    assert gold_edits.looked_at(workspace, project.id, "2199-01-01T00:00:00+00:00") == set()
    kinds = [row.kind for row in edits.edit_log(workspace, scope)]
    assert kinds == ["undo", "set-gold", "keep-gold", "keep-gold"]
    (row,) = edits.pair_history(workspace, "gold_pair", first["id"])
    assert row.before_score == row.after_score == first["raw_score"]


def test_a_gold_score_that_others_have_confirmed_is_theirs(
    workspace: Workspace, project: Project
) -> None:
    pair, scope = gold_rows(workspace, project)[0]["id"], Scope.gold(project.id)
    gold_edits.set_gold_score(workspace, pair, 2.5, actor="ann")
    gold_edits.keep_gold_score(workspace, pair, actor="ben")
    with pytest.raises(Overwritten, match="ben"):
        edits.undo(workspace, scope, "ann")
    assert edits.undo(workspace, scope, "ben")
    assert edits.undo(workspace, scope, "ann")


def test_gold_scores_that_cannot_be(workspace: Workspace, project: Project) -> None:
    first = gold_rows(workspace, project)[0]
    for score in (-0.1, 5.5, float("nan")):
        with pytest.raises(WorkbenchError, match="from 0 to 5"):
            gold_edits.set_gold_score(workspace, first["id"], score, actor="ann")
    with pytest.raises(WorkbenchError, match="another window"):
        gold_edits.set_gold_score(workspace, first["id"], 1.0, actor="ann", seen=(0.123, ""))
    gold_edits.set_gold_score(
        workspace, first["id"], 1.0, actor="ann", seen=(first["raw_score"], "")
    )
    with pytest.raises(WorkbenchError, match="does not exist any more"):
        gold_edits.keep_gold_score(workspace, 999, actor="ann")


def test_a_removed_import_takes_its_edits_along(workspace: Workspace, project: Project) -> None:
    """Numbers of gold pairs come back: an undo must not meet another pair."""
    (imported,) = runs.list_runs(workspace, project.id, "import")
    before = gold_rows(workspace, project)
    gold_edits.set_gold_score(workspace, before[0]["id"], 2.5, actor="ann")
    edits.undo(workspace, Scope.gold(project.id), "ann")
    gold_edits.keep_gold_score(workspace, before[1]["id"], actor="ann")
    gold.remove_import(workspace, imported.id)
    assert edits.count_edits(workspace, Scope.gold(project.id)) == 0
    assert edits.undo_state(workspace, Scope.gold(project.id), "ann") == UndoState(None, None)
    with reading(workspace) as db:
        assert db.execute("SELECT count(*) FROM edit_change").fetchone()[0] == 0


# --- workspaces of before ------------------------------------------------------------------------------


def test_an_older_workspace_keeps_its_history_and_its_undo(tmp_path: Path) -> None:
    home = tmp_path / "old"
    home.mkdir()
    old_database(home / "workbench.db")
    workspace = open_workspace(home)
    scope = Scope.silver(7)
    rows = edits.edit_log(workspace, scope)
    assert [(row.actor, row.kind, row.state, row.summary) for row in reversed(rows)] == [
        ("Ada", "review", "applied", "corrected: A"),
        ("Ada", "review", "dropped", "flagged: A"),
        ("Ada", "undo", "logged", "flagged: A"),
        ("Ben", "review", "applied", "rejected: A"),
        ("Ben", "review", "applied", "rejected: B"),
    ]
    project = projects.get_project(workspace, 5)
    exported = list(correction_export.correction_rows(workspace, 5, project.score_range))
    assert [(row[8], row[5], row[7], row[10]) for row in exported] == [
        ("Ada", 2.5, "corrected", None),
        ("Ada", 2.5, "flagged", "2025-01-03T12:00:00+00:00"),
        ("Ben", 1.25, "rejected", None),
        ("Ben", 3.75, "rejected", None),
    ]
    assert correction_export.count_corrections(workspace, 5) == 4
    with pytest.raises(Overwritten, match="Ben"):
        edits.undo(workspace, scope, "Ada")
    assert edits.undo(workspace, scope, "Ben") == "Back to unreviewed: B"
    assert edits.undo(workspace, scope, "Ben") == "Back to corrected: A"
    assert edits.undo(workspace, scope, "Ada") == "Back to unreviewed: A"
    assert edits.undo(workspace, scope, "Ada") is None
    assert {pair["status"] for pair in all_pairs(workspace, 7)} == {"unreviewed"}
    assert stored_bins(workspace) == recounted(workspace)
