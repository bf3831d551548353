"""The workspace: migrations, transactions, silver pairs and their review."""

import multiprocessing
import sqlite3
import threading
from pathlib import Path

import numpy as np
import pytest

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import LabelOptions, SampleOptions, to_json
from augsbert_core.storage import (
    candidates,
    edits,
    gold,
    projects,
    queue,
    reviews,
    runs,
    sentences,
    silver_bins,
    silver_pages,
    silver_sets,
)
from augsbert_core.storage.database import (
    Workspace,
    WorkspaceBusy,
    backup,
    open_workspace,
    reading,
    writing,
)
from augsbert_core.storage.records import Project
from tests.silver_pairs import training_pairs


@pytest.fixture
def silver_set(workspace: Workspace, project: Project) -> int:
    """Four candidates of the training sentences, labelled 0.1, 0.4, 0.6 and 0.9."""
    ids, _ = sentences.sampling_corpus(workspace, project.id, use_unlabelled=False)
    run_id = runs.add_run(
        workspace, project.id, "sample", "bm25", to_json(SampleOptions()), seed=42
    )
    set_id = candidates.add_candidate_set(
        workspace,
        project.id,
        run_id,
        strategy="bm25",
        corpus_size=len(ids),
        first=ids[:4],
        second=ids[4:5].repeat(4),
        rank=np.array([1, 2, 1, 3]),
        sampler_score=np.array([4.0, 3.0, 2.0, 1.0]),
    )
    run_id = runs.add_run(
        workspace, project.id, "label", "labels", to_json(LabelOptions(set_id, "x")), seed=42
    )
    silver_id = silver_sets.open_silver_set(
        workspace, project.id, run_id, candidate_set_id=set_id, labeler="x", labeler_run_id=None
    )
    pending = silver_sets.unscored_pairs(workspace, silver_id)
    rows = [
        (*pair, *origin, score, score * 10 - 5)
        for pair, origin, score in zip(
            pending.ids, pending.origin, (0.1, 0.4, 0.6, 0.9), strict=True
        )
    ]
    silver_sets.add_silver_scores(workspace, silver_id, rows)
    with writing(workspace) as db:
        db.execute("UPDATE run SET state = 'done' WHERE id = ?", [run_id])
    return silver_id


def page(workspace: Workspace, set_id: int, **chosen: object):
    return silver_pages.silver_page(workspace, set_id, silver_pages.SilverFilter(**chosen))


def test_opening_twice_applies_migrations_once(tmp_path: Path) -> None:
    workspace = open_workspace(tmp_path)
    open_workspace(tmp_path)
    with reading(workspace) as db:
        assert db.execute("SELECT count(*) FROM _sqlite_migrations").fetchone()[0] == 7
        assert db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


def _open(folder: Path) -> None:
    open_workspace(folder)


def test_four_processes_can_open_a_new_workspace_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_open, args=(tmp_path / "new",)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0, 0, 0]


def test_a_database_of_a_newer_version_is_refused(workspace: Workspace) -> None:
    with writing(workspace) as db:
        db.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at)"
            " VALUES ('augsbert', 'from_the_future', '2030')"
        )
    with pytest.raises(WorkbenchError, match="newer version"):
        open_workspace(workspace.home)


def test_a_folder_that_is_no_database_gives_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "workbench.db").write_bytes(b"this is not a database" * 100)
    with pytest.raises(WorkbenchError, match="AUGSBERT_HOME"):
        open_workspace(tmp_path)


def test_who_waits_too_long_for_a_long_write_is_told(workspace: Workspace) -> None:
    with (
        writing(workspace),
        pytest.raises(WorkspaceBusy, match="another long write is going on") as told,
        writing(workspace, patience=0.02),
    ):
        pass
    assert isinstance(told.value, WorkbenchError)
    with writing(workspace, patience=0.02):
        pass  # it can be tried again


def test_a_failing_write_leaves_nothing(workspace: Workspace) -> None:
    with pytest.raises(ZeroDivisionError), writing(workspace) as db:  # noqa: PT012
        db.execute(
            "INSERT INTO project (name, task, score_low, score_high, created_at)"
            " VALUES ('x', 'regression', 0, 1, '')"
        )
        raise ZeroDivisionError
    assert projects.list_projects(workspace) == []


def test_writers_wait_for_each_other(workspace: Workspace) -> None:
    """Twenty threads write at once: none fails with "database is locked", none is lost."""
    threads = [
        threading.Thread(target=projects.create_project, args=(workspace, f"P{number}"))
        for number in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(projects.list_projects(workspace)) == 20


def test_project_names_are_unique_in_any_case(workspace: Workspace) -> None:
    projects.create_project(workspace, "News")
    with pytest.raises(WorkbenchError, match="already"):
        projects.create_project(workspace, " news ")
    with pytest.raises(WorkbenchError, match="1 to 80"):
        projects.create_project(workspace, "   ")


def test_a_project_can_be_renamed_and_found(workspace: Workspace, project: Project) -> None:
    projects.rename_project(workspace, project.id, "Better name")
    assert projects.project_named(workspace, "better NAME").id == project.id
    with pytest.raises(WorkbenchError, match="Better name"):
        projects.project_named(workspace, "Tiny")


def test_deleting_a_project_takes_all_of_it_and_nothing_else(
    workspace: Workspace, project: Project, silver_set: int
) -> None:
    other = projects.create_project(workspace, "Other")
    projects.delete_project(workspace, project.id)
    assert projects.list_projects(workspace) == [other]
    with reading(workspace) as db:
        for table in (
            "sentence",
            "gold_pair",
            "candidate_pair",
            "silver_pair",
            "run",
            "silver_set",
        ):
            assert db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 0, table


def test_a_backup_is_a_whole_database(
    workspace: Workspace, project: Project, tmp_path: Path
) -> None:
    backup(workspace, tmp_path / "copy.db")
    copy = sqlite3.connect(tmp_path / "copy.db")
    assert copy.execute("SELECT count(*) FROM gold_pair").fetchone()[0] == 11
    assert copy.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    copy.close()
    with pytest.raises(WorkbenchError, match="exists already"):
        backup(workspace, tmp_path / "copy.db")


def test_metrics_come_back_as_curves(workspace: Workspace, project: Project) -> None:
    run_id = runs.add_run(workspace, project.id, "train-bi-encoder", "r", "{}", 1)
    runs.add_metrics(
        workspace, run_id, [("loss", 1, 0.5), ("loss", 2, 0.25), ("dev_score", 2, 0.7)]
    )
    curves = runs.read_metrics(workspace, run_id)
    assert curves["loss"][1].tolist() == [0.5, 0.25]
    assert curves["dev_score"][0].tolist() == [2]


def test_run_metrics_are_merged(workspace: Workspace, project: Project) -> None:
    run_id = runs.add_run(workspace, project.id, "label", "r", "{}", 1)
    runs.update_run(workspace, run_id, metrics={"seconds": 2.0})
    runs.update_run(workspace, run_id, metrics={"n_scored": 7}, device="cpu")
    run = runs.get_run(workspace, run_id)
    assert (run.metrics, run.device) == ({"seconds": 2.0, "n_scored": 7}, "cpu")


def test_a_pair_cannot_be_scored_twice(workspace: Workspace, silver_set: int) -> None:
    assert len(silver_sets.unscored_pairs(workspace, silver_set)) == 0
    first = page(workspace, silver_set).iloc[0]
    with reading(workspace) as db:
        ids = db.execute(
            "SELECT sentence1_id, sentence2_id FROM silver_pair WHERE id = ?", [int(first["id"])]
        ).fetchone()
    with pytest.raises(sqlite3.IntegrityError):
        silver_sets.add_silver_scores(workspace, silver_set, [(*ids, None, None, 0.5, 0.0)])


def test_the_silver_table_filters_and_sorts(workspace: Workspace, silver_set: int) -> None:
    assert page(workspace, silver_set)["score"].tolist() == [0.9, 0.6, 0.4, 0.1]
    assert page(workspace, silver_set, low=0.4, high=0.6)["score"].tolist() == [0.6, 0.4]
    assert page(workspace, silver_set, max_rank=1)["rank"].tolist() == [1, 1]
    assert len(page(workspace, silver_set, text="GUITAR")) == silver_pages.count_silver(
        workspace, silver_set, silver_pages.SilverFilter(text="guitar")
    )
    assert page(workspace, silver_set, text="100% _ '").empty


def test_a_correction_replaces_the_score_everywhere_and_can_be_undone(
    workspace: Workspace, silver_set: int
) -> None:
    pair_id = int(page(workspace, silver_set).iloc[0]["id"])
    reviews.review_silver_pair(workspace, pair_id, correction=0.2, status="corrected", actor="ann")
    assert page(workspace, silver_set, low=0.2, high=0.2)["id"].tolist() == [pair_id]
    assert sorted(training_pairs(workspace, silver_set).scores) == [
        0.1,
        0.2,
        0.4,
        0.6,
    ]
    assert (
        silver_bins.silver_score_counts(workspace, silver_set)[int(0.2 * silver_bins.SCORE_BINS)]
        == 1
    )
    assert edits.undo(workspace, edits.Scope.silver(silver_set), "ann")
    assert page(workspace, silver_set).iloc[0]["final_score"] == 0.9
    assert edits.undo(workspace, edits.Scope.silver(silver_set), "ann") is None


def test_rejected_pairs_do_not_train(workspace: Workspace, silver_set: int) -> None:
    pair_id = int(page(workspace, silver_set).iloc[0]["id"])
    reviews.review_silver_pair(workspace, pair_id, status="rejected", actor="ann")
    assert len(training_pairs(workspace, silver_set)) == 3
    assert silver_bins.silver_score_counts(workspace, silver_set).sum() == 3
    assert silver_bins.silver_status_counts(workspace, silver_set)["rejected"] == 1


def test_undo_never_takes_back_what_someone_else_did(workspace: Workspace, silver_set: int) -> None:
    pair_id = int(page(workspace, silver_set).iloc[0]["id"])
    reviews.review_silver_pair(workspace, pair_id, correction=0.2, status="corrected", actor="ann")
    reviews.review_silver_pair(workspace, pair_id, correction=0.3, status="corrected", actor="ben")
    with pytest.raises(WorkbenchError, match="ben has changed this pair since"):
        edits.undo(workspace, edits.Scope.silver(silver_set), "ann")
    assert edits.undo(workspace, edits.Scope.silver(silver_set), "ben")
    assert page(workspace, silver_set, low=0.2, high=0.2)["id"].tolist() == [pair_id]


def test_the_log_of_human_edits_only_grows(workspace: Workspace, silver_set: int) -> None:
    pair_id = int(page(workspace, silver_set).iloc[0]["id"])
    reviews.review_silver_pair(workspace, pair_id, correction=0.2, status="corrected", actor="ann")
    edits.undo(workspace, edits.Scope.silver(silver_set), "ann")
    with reading(workspace) as db:
        rows = db.execute("SELECT kind, actor, state FROM edit ORDER BY id").fetchall()
    assert [tuple(row) for row in rows] == [
        ("review", "ann", "undone"),
        ("undo", "ann", "logged"),
    ]


def test_labelled_candidates_cannot_be_deleted_under_their_silver_set(
    workspace: Workspace, project: Project, silver_set: int
) -> None:
    (made,) = candidates.list_candidate_sets(workspace, project.id)
    with pytest.raises(WorkbenchError, match="silver set first"):
        candidates.delete_candidate_set(workspace, made.id)
    silver_sets.delete_silver_set(workspace, silver_set)
    candidates.delete_candidate_set(workspace, made.id)
    assert candidates.list_candidate_sets(workspace, project.id) == []
    with reading(workspace) as db:
        assert db.execute("SELECT count(*) FROM candidate_pair").fetchone()[0] == 0


def test_gold_search_takes_the_text_as_typed(workspace: Workspace, project: Project) -> None:
    _, total = gold.gold_page(workspace, project.id, gold.GoldFilter(text="SOFA"))
    assert total == 2
    _, total = gold.gold_page(workspace, project.id, gold.GoldFilter(text="%"))
    assert total == 0
    _, total = gold.gold_page(workspace, project.id, gold.GoldFilter(splits=("dev", "test")))
    assert total == 6


def test_a_decision_made_on_an_old_view_is_refused(workspace: Workspace, silver_set: int) -> None:
    """Window A looked before window B corrected: A's click must not wipe the correction."""
    pair_id = int(page(workspace, silver_set).iloc[0]["id"])
    old_view = (None, "unreviewed")
    reviews.review_silver_pair(
        workspace, pair_id, correction=0.2, status="corrected", actor="ben", seen=old_view
    )
    with pytest.raises(WorkbenchError, match="another window"):
        reviews.review_silver_pair(workspace, pair_id, status="flagged", actor="ann", seen=old_view)
    assert page(workspace, silver_set, low=0.2, high=0.2)["status"].tolist() == ["corrected"]


@pytest.mark.parametrize("what", ["import", "candidates", "silver", "project"])
def test_nothing_goes_while_a_job_of_the_project_may_need_it(
    workspace: Workspace, project: Project, silver_set: int, what: str
) -> None:
    run_id = runs.add_run(workspace, project.id, "train-bi-encoder", "r", "{}", 1)
    queue.add_job(workspace, project.id, run_id, "train-bi-encoder", "cpu")
    (imported,) = runs.list_runs(workspace, project.id, "import")
    remove = {
        "import": lambda: gold.remove_import(workspace, imported.id),
        "candidates": lambda: candidates.delete_candidate_set(workspace, 1),
        "silver": lambda: silver_sets.delete_silver_set(workspace, silver_set),
        "project": lambda: projects.delete_project(workspace, project.id),
    }[what]
    with pytest.raises(WorkbenchError, match="cancel it"):
        remove()


def test_candidates_of_vanished_sentences_are_refused(
    workspace: Workspace, project: Project
) -> None:
    run_id = runs.add_run(workspace, project.id, "sample", "s", "{}", 1)
    with pytest.raises(WorkbenchError, match="Sample again"):
        candidates.add_candidate_set(
            workspace,
            project.id,
            run_id,
            strategy="bm25",
            corpus_size=2,
            first=np.array([1]),
            second=np.array([999_999]),
        )
    assert candidates.list_candidate_sets(workspace, project.id) == []


def test_ids_of_sentences_never_come_back(workspace: Workspace, project: Project) -> None:
    """What a deleted project's ids pointed at can never turn into another project's text."""
    projects.delete_project(workspace, project.id)
    with writing(workspace) as db:
        other = db.execute(
            "INSERT INTO project (name, task, score_low, score_high, created_at)"
            " VALUES ('o', 'regression', 0, 1, '')"
        ).lastrowid
        new = db.execute(
            "INSERT INTO sentence (project_id, key, text) VALUES (?, 'k', 't')", [other]
        ).lastrowid
    assert new > 15
