"""Silver sets in the store: stored counts, kept sets, known scores, candidates, and the migration."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.pairs import pair_codes
from augsbert_core.storage import (
    candidates,
    deletion,
    edits,
    known_scores,
    projects,
    reviews,
    runs,
    sentences,
    silver_bins,
    silver_pages,
    silver_sets,
)
from augsbert_core.storage.database import Workspace, open_workspace, reading
from augsbert_core.storage.records import Project
from augsbert_core.storage.silver_bins import SCORE_BINS, STATUSES
from augsbert_core.storage.silver_pages import SilverFilter
from tests.conftest import workspace_with
from tests.silver_pairs import (
    all_pairs,
    candidate_set,
    corpus,
    kept_of,
    label,
    recounted,
    silver_set,
    sixty_pairs,
    stored_bins,
    training_pairs,
)


@pytest.fixture
def labelled(workspace: Workspace, project: Project) -> int:
    return sixty_pairs(workspace, project)


SCORES = st.one_of(
    st.floats(0, 1), st.integers(0, SCORE_BINS).map(lambda edge: edge / SCORE_BINS), st.just(0.5)
)
ACTION = st.one_of(
    st.tuples(st.just("add"), st.lists(SCORES, min_size=1, max_size=6)),
    st.tuples(st.just("review"), st.integers(0, 50), st.none() | SCORES, st.sampled_from(STATUSES)),
    st.tuples(st.just("undo")),
    st.tuples(st.just("keep"), st.sets(st.integers(0, 20))),
    st.tuples(st.just("delete")),
)


@given(st.lists(ACTION, max_size=12))
@settings(max_examples=25)
def test_stored_counts_equal_a_recount_whatever_is_done(
    empty_database: Path, actions: list[tuple]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        workspace = workspace_with(empty_database, Path(folder))
        project = projects.create_project(workspace, "P")
        ids = corpus(workspace, project, 10)
        pool = silver_set(workspace, project, candidate_set(workspace, project, ids, 40))
        kept: list[int] = []
        revisions: dict[int, int] = {}
        for name, *told in actions:
            pairs = all_pairs(workspace, pool)
            if name == "add":
                label(workspace, pool, told[0][: 40 - len(pairs)])
            elif name == "review" and pairs:
                pair = pairs[told[0] % len(pairs)]["id"]
                reviews.review_silver_pair(
                    workspace, pair, correction=told[1], status=told[2], actor="ann"
                )
            elif name == "undo":
                edits.undo(workspace, edits.Scope.silver(pool), "ann")
            elif name == "keep":
                run_id = runs.add_run(workspace, project.id, "keep", "k", "{}", 1)
                chosen = np.array([pairs[at]["id"] for at in told[0] if at < len(pairs)], dtype=int)
                kept.append(
                    silver_sets.add_kept_set(
                        workspace, project.id, run_id, pool, rule="kde", pair_ids=chosen
                    )
                )
            elif name == "delete" and kept:
                silver_sets.delete_silver_set(workspace, kept.pop())
            assert stored_bins(workspace) == recounted(workspace)
            for found in silver_sets.list_silver_sets(workspace, project.id):
                assert found.n_pairs == len(all_pairs(workspace, found.id))
                assert found.revision >= revisions.get(found.id, 0)
                revisions[found.id] = found.revision


def test_score_counts_at_several_top_k(workspace: Workspace, labelled: int) -> None:
    pair = next(pair for pair in all_pairs(workspace, labelled) if pair["rank"] == 1)
    reviews.review_silver_pair(workspace, pair["id"], status="rejected", actor="ann")
    counts = silver_bins.rank_score_counts(workspace, labelled, [1, 2, 9])
    assert counts.shape == (3, SCORE_BINS)
    assert counts.sum(axis=1).tolist() == [19, 39, 59]
    assert (counts[2] == silver_bins.silver_score_counts(workspace, labelled)).all()


def test_scores_come_as_arrays_without_rejected_pairs(workspace: Workspace, labelled: int) -> None:
    first, second, *_ = all_pairs(workspace, labelled)
    reviews.review_silver_pair(workspace, first["id"], status="rejected", actor="ann")
    reviews.review_silver_pair(
        workspace, second["id"], correction=0.75, status="corrected", actor="ann"
    )
    found = silver_bins.silver_scores(workspace, labelled)
    assert len(found) == 59
    assert (np.diff(found.ids) > 0).all()
    at = found.ids.tolist().index(second["id"])
    assert found.scores[at] == 0.75
    assert found.codes[at] == (second["sentence1_id"] << 31) | second["sentence2_id"]
    assert found.ranks[at] == second["rank"]


def test_a_kept_set_copies_its_pairs_and_outlives_its_pool(
    workspace: Workspace, project: Project, labelled: int
) -> None:
    pairs = all_pairs(workspace, labelled)
    reviews.review_silver_pair(
        workspace, pairs[3]["id"], correction=1.0, status="corrected", actor="ann"
    )
    kept_id = kept_of(workspace, project, labelled, [pairs[3]["id"], pairs[40]["id"]])
    kept = silver_sets.get_silver_set(workspace, kept_id)
    assert (kept.pool_set_id, kept.rule, kept.n_pairs, kept.passes) == (labelled, "kde", 2, 60)
    assert [pair["final_score"] for pair in all_pairs(workspace, kept_id)] == [1.0, 40 / 64]
    again = kept_of(workspace, project, kept_id, [all_pairs(workspace, kept_id)[0]["id"]])
    assert silver_sets.get_silver_set(workspace, again).passes == 60

    silver_sets.delete_silver_set(workspace, labelled)
    kept = silver_sets.get_silver_set(workspace, kept_id)
    assert (kept.pool_set_id, kept.n_pairs, kept.passes) == (None, 2, 60)
    assert len(training_pairs(workspace, kept_id)) == 2


def test_keeping_twice_for_one_run_makes_one_set(
    workspace: Workspace, project: Project, labelled: int
) -> None:
    run_id = runs.add_run(workspace, project.id, "keep", "k", "{}", 1)
    ids = np.array([pair["id"] for pair in all_pairs(workspace, labelled)[:5]])
    made = {
        silver_sets.add_kept_set(
            workspace, project.id, run_id, labelled, rule="kde", pair_ids=chosen
        )
        for chosen in (ids, ids[:2])
    }
    assert len(made) == 1
    assert len(silver_sets.list_silver_sets(workspace, project.id)) == 2
    run_id = runs.add_run(workspace, project.id, "keep", "k", "{}", 1)
    with pytest.raises(ValueError, match="no pairs of set"):
        silver_sets.add_kept_set(
            workspace, project.id, run_id, labelled, rule="kde", pair_ids=np.array([10_000])
        )


def test_known_scores_are_copied_from_the_same_labeler_alone(
    workspace: Workspace, project: Project, labelled: int
) -> None:
    """Sixty of the ninety candidates were scored before: by run 1, texts cut at the model's own length."""
    ids = sentences.sampling_corpus(workspace, project.id, use_unlabelled=True)[0][-20:]
    larger = candidate_set(workspace, project, ids, 90)
    pair = all_pairs(workspace, labelled)[0]
    reviews.review_silver_pair(
        workspace, pair["id"], correction=0.9, status="corrected", actor="ann"
    )

    same = silver_set(workspace, project, larger, "run:1")
    assert known_scores.copy_known_scores(workspace, same) == 60
    assert known_scores.copy_known_scores(workspace, same) == 0
    copied = all_pairs(workspace, same)
    assert (copied[0]["score"], copied[0]["correction"]) == (pair["score"], None)
    assert len(silver_sets.unscored_pairs(workspace, same)) == 30
    for labeler, told in (("run:2", {}), ("a-model", {}), ("run:1", {"max_length": 64})):
        other = silver_set(workspace, project, larger, labeler, **told)
        assert known_scores.copy_known_scores(workspace, other) == 0
    assert stored_bins(workspace) == recounted(workspace)


def test_codes_of_silver_pairs_are_for_exclusion(workspace: Workspace, labelled: int) -> None:
    codes = silver_sets.silver_pair_codes(workspace, [labelled, labelled])
    pairs = all_pairs(workspace, labelled)
    first = np.array([pair["sentence1_id"] for pair in pairs])
    second = np.array([pair["sentence2_id"] for pair in pairs])
    assert codes.tolist() == sorted(pair_codes(first, second).tolist())
    assert silver_sets.silver_pair_codes(workspace, []).tolist() == []


def test_candidates_are_counted_by_rank_and_can_grow(
    workspace: Workspace, project: Project
) -> None:
    ids = corpus(workspace, project, 12)
    set_id = candidate_set(workspace, project, ids, 30)
    assert candidates.rank_counts(workspace, set_id, [1, 2, 3, 9]) == [10, 20, 30, 30]
    first, second = (side[25:40] for side in np.triu_indices(12, k=1))
    size = candidates.append_candidates(
        workspace, set_id, ids[first], ids[second], np.full(15, 4), np.linspace(1, 0, 15)
    )
    assert size == candidates.get_candidate_set(workspace, set_id).n_pairs == 40
    assert candidates.rank_counts(workspace, set_id, [3, 4]) == [30, 40]


def test_shared_candidates_stay_true_when_a_set_grows(
    workspace: Workspace, project: Project
) -> None:
    ids = corpus(workspace, project, 12)
    small, large = (candidate_set(workspace, project, ids, size) for size in (10, 30))
    assert candidates.shared_candidates(workspace, small) == {large: 10}
    first, second = (side[10:20] for side in np.triu_indices(12, k=1))
    candidates.append_candidates(workspace, small, ids[first], ids[second])
    assert candidates.shared_candidates(workspace, large) == {small: 20}
    candidates.delete_candidate_set(workspace, small)
    assert candidates.shared_candidates(workspace, large) == {}


def test_random_candidates_are_drawn_without_replacement(
    workspace: Workspace, project: Project
) -> None:
    set_id = candidate_set(workspace, project, corpus(workspace, project, 12), 30)
    drawn = candidates.random_candidates(workspace, set_id, 10, seed=1)
    assert len(set(zip(*drawn, strict=True))) == 10
    assert candidates.random_candidates(workspace, set_id, 10, seed=1) == drawn
    assert len(candidates.random_candidates(workspace, set_id, 100, seed=1)[0]) == 30


def test_an_edit_of_a_deleted_set_cannot_be_undone_on_another(
    workspace: Workspace, project: Project, labelled: int
) -> None:
    last = max(pair["id"] for pair in all_pairs(workspace, labelled))
    reviews.review_silver_pair(workspace, last, correction=0.0, status="corrected", actor="ann")
    candidate_id = silver_sets.get_silver_set(workspace, labelled).candidate_set_id
    silver_sets.delete_silver_set(workspace, labelled)
    new = silver_set(workspace, project, candidate_id)
    label(workspace, new, [0.5] * 60)
    assert edits.undo(workspace, edits.Scope.silver(new), "ann") is None


def test_no_id_of_a_silver_pair_is_given_twice(workspace: Workspace, project: Project) -> None:
    """A page that still shows a deleted set must not decide on a pair of a newer one."""
    gone = sixty_pairs(workspace, project)
    candidates_id = silver_sets.get_silver_set(workspace, gone).candidate_set_id
    ids = [pair["id"] for pair in all_pairs(workspace, gone)]
    for _ in range(2):
        silver_sets.delete_silver_set(workspace, gone)
        gone = silver_set(workspace, project, candidates_id)
        label(workspace, gone, [0.5] * 60)
        found = [pair["id"] for pair in all_pairs(workspace, gone)]
        assert min(found) > max(ids)
        ids += found
    with pytest.raises(WorkbenchError, match="does not exist any more"):
        reviews.review_silver_pair(workspace, ids[0], status="rejected", actor="stale")
    projects.delete_project(workspace, project.id)
    deletion.sweep(workspace)
    kept = sixty_pairs(workspace, projects.create_project(workspace, "another"))
    assert min(pair["id"] for pair in all_pairs(workspace, kept)) > max(ids)


def test_a_workspace_of_the_first_version_keeps_its_silver_pairs(tmp_path: Path) -> None:
    """Made with the first migration alone, then opened: pairs, counts and ids are as they were."""
    from sqlite_utils import Database

    from augsbert_core.storage import schema

    (tmp_path / "models").mkdir()
    old = Database(tmp_path / "workbench.db")
    for statement in schema.FOUNDATION.split(";\n\n"):
        old.execute(statement)
    old.execute("CREATE TABLE _sqlite_migrations (id INTEGER PRIMARY KEY, migration_set TEXT, name TEXT,"
                " applied_at TEXT, UNIQUE (migration_set, name))")  # fmt: skip
    old.execute("INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('augsbert',"
                " 'foundation', '2026')")  # fmt: skip
    old.execute("INSERT INTO project VALUES (1, 'Old', 'regression', 0, 5, NULL, 0, '2026')")
    old.execute("INSERT INTO run (id, project_id, step, name, options, seed, created_at)"
                " VALUES (1, 1, 'sample', 's', '{}', 1, '2026'), (2, 1, 'label', 'l', '{}', 1, '2026')")  # fmt: skip
    old.execute("INSERT INTO sentence (id, project_id, key, text) VALUES (1, 1, 'a', 'a'), (2, 1, 'b', 'b'),"
                " (3, 1, 'c', 'c')")  # fmt: skip
    old.execute("INSERT INTO candidate_set VALUES (1, 1, 1, 'bm25', 3, 2, '[]', '2026')")
    old.execute("INSERT INTO candidate_pair VALUES (1, 1, 2, 1, 3.0), (1, 1, 3, 2, 2.0)")
    old.execute("INSERT INTO silver_set VALUES (1, 1, 2, 1, 'run:9', NULL, '2026')")
    old.execute("INSERT INTO silver_pair (id, silver_set_id, sentence1_id, sentence2_id, rank, score, raw_score,"
                " correction, status) VALUES (5, 1, 1, 3, 2, 0.5, 0, 0.25, 'corrected'),"
                " (6, 1, 1, 2, 1, 1.0, 0, NULL, 'unreviewed')")  # fmt: skip
    old.conn.commit()
    old.close()

    workspace = open_workspace(tmp_path)
    page = silver_pages.silver_page(workspace, 1, SilverFilter())
    assert page["id"].tolist() == [6, 5]
    assert page["final_score"].tolist() == [1.0, 0.25]
    assert silver_sets.get_silver_set(workspace, 1).n_pairs == 2
    assert stored_bins(workspace) == recounted(workspace)
    assert candidates.rank_counts(workspace, 1, [1, 2]) == [1, 2]
    with reading(workspace) as db:
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
