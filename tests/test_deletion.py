"""Large things go in two moves: out of sight at once, removed bit by bit."""

import threading
from dataclasses import dataclass

import pytest

from augsbert_core.errors import WorkbenchError
from augsbert_core.storage import (
    candidates,
    deletion,
    projects,
    queue,
    runs,
    silver_sets,
)
from augsbert_core.storage.database import Workspace, reading
from augsbert_core.storage.records import Project
from augsbert_core.storage.reviews import review_silver_pair
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
)


@pytest.fixture
def labelled(workspace: Workspace, project: Project) -> int:
    return sixty_pairs(workspace, project)


@pytest.fixture
def slow_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep that takes few rows at a time, and a deletion that leaves all of it to later."""
    monkeypatch.setattr(deletion, "AT_ONCE_SECONDS", 0.0)
    monkeypatch.setattr(deletion, "FIRST_CHUNK", 7)
    monkeypatch.setattr(deletion, "HOLD_SECONDS", 0.0)
    monkeypatch.setattr(deletion, "FEWEST", 7)


@pytest.mark.usefixtures("slow_sweep")
def test_a_deleted_set_is_out_of_sight_before_it_is_gone(
    workspace: Workspace, project: Project, labelled: int
) -> None:
    other = kept_of(workspace, project, labelled, [all_pairs(workspace, labelled)[0]["id"]])
    silver_sets.delete_silver_set(workspace, labelled)
    assert len(all_pairs(workspace, labelled)) == 60
    assert [found.id for found in silver_sets.list_silver_sets(workspace, project.id)] == [other]
    assert projects.count_project(workspace, project.id).silver_pairs == 1
    assert runs.list_runs(workspace, project.id, "label") == []
    with pytest.raises(WorkbenchError, match="no silver set"):
        silver_sets.get_silver_set(workspace, labelled)

    assert not deletion.sweep(workspace, 0.01)
    assert 0 < len(all_pairs(workspace, labelled)) < 60  # as a process that dies half-way leaves it
    assert deletion.sweep(workspace)
    assert len(all_pairs(workspace, labelled)) == 0
    assert stored_bins(workspace) == recounted(workspace)


@pytest.mark.usefixtures("slow_sweep")
def test_the_rest_is_removed_in_the_background(workspace: Workspace, labelled: int) -> None:
    deletion.sweep_in_background(workspace)
    silver_sets.delete_silver_set(workspace, labelled)
    deletion.sweep_in_background(workspace)
    deletion.sweep_in_background(workspace)
    for thread in threading.enumerate():
        if thread.name == "sweep":
            thread.join(20)
    assert all_pairs(workspace, labelled) == []


@pytest.mark.usefixtures("slow_sweep")
def test_a_deleted_project_frees_its_name_at_once(
    workspace: Workspace, project: Project, labelled: int
) -> None:
    projects.delete_project(workspace, project.id)
    assert projects.list_projects(workspace) == []
    assert projects.find_project(workspace, project.name) is None
    again = projects.create_project(workspace, project.name)
    assert deletion.sweep(workspace)
    assert projects.list_projects(workspace) == [again]
    with reading(workspace) as db:
        for table in (
            "sentence",
            "gold_pair",
            "run",
            "candidate_pair",
            "silver_pair",
            "silver_bin",
        ):
            assert db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 0, table


@pytest.mark.usefixtures("slow_sweep")
def test_removing_a_job_that_was_half_labelled_hides_its_pairs(
    workspace: Workspace, project: Project
) -> None:
    chosen = candidate_set(workspace, project, corpus(workspace, project, 20), 60)
    set_id = silver_set(workspace, project, chosen)
    run_id = silver_sets.get_silver_set(workspace, set_id).run_id
    job_id = queue.add_job(workspace, project.id, run_id, "label", "cpu")
    label(workspace, set_id, [0.5] * 30)
    queue.finish_job(workspace, job_id, "cancelled", message="")
    assert queue.delete_job(workspace, job_id) == run_id
    assert queue.list_jobs(workspace, project.id) == []
    assert silver_sets.list_silver_sets(workspace, project.id) == []
    assert deletion.sweep(workspace)
    with pytest.raises(WorkbenchError):
        runs.get_run(workspace, run_id)
    assert candidates.get_candidate_set(workspace, chosen).n_pairs == 60


@dataclass(frozen=True)
class Stratified:
    """What a run of sample-stratified leaves: candidates and a pool of its own, and what others made of it."""

    run_id: int
    job_id: int
    chosen: int
    pool: int
    kept: int
    others: int


@pytest.fixture
def stratified(workspace: Workspace, project: Project) -> Stratified:
    chosen = candidate_set(workspace, project, corpus(workspace, project, 20), 60)
    run_id = candidates.get_candidate_set(workspace, chosen).run_id
    job_id = queue.add_job(workspace, project.id, run_id, "sample-stratified", "cpu")
    pool = silver_sets.open_silver_set(
        workspace,
        project.id,
        run_id,
        candidate_set_id=chosen,
        labeler="run:1",
        labeler_run_id=None,
    )
    label(workspace, pool, [number / 64 for number in range(60)])
    kept = kept_of(
        workspace, project, pool, [pair["id"] for pair in all_pairs(workspace, pool)[:9]]
    )
    others = silver_set(workspace, project, chosen, "model:other")
    label(workspace, others, [0.25] * 60)
    first = all_pairs(workspace, others)[0]["id"]
    review_silver_pair(workspace, first, correction=0.75, status="corrected", actor="ann")
    return Stratified(run_id, job_id, chosen, pool, kept, others)


def sizes(workspace: Workspace, project: Project) -> dict[int, int]:
    return {
        found.id: len(all_pairs(workspace, found.id))
        for found in silver_sets.list_silver_sets(workspace, project.id)
    }


@pytest.mark.parametrize("gone", ["pool", "kept", "others"])
def test_of_several_sets_on_the_same_candidates_only_the_deleted_one_goes(
    workspace: Workspace, project: Project, stratified: Stratified, gone: str
) -> None:
    queue.finish_job(workspace, stratified.job_id, "done", message="")
    expected = {stratified.pool: 60, stratified.kept: 9, stratified.others: 60}
    deleted = getattr(stratified, gone)
    del expected[deleted]
    silver_sets.delete_silver_set(workspace, deleted)
    assert deletion.sweep(workspace)
    assert sizes(workspace, project) == expected
    assert all_pairs(workspace, deleted) == []
    assert stored_bins(workspace) == recounted(workspace)
    assert candidates.get_candidate_set(workspace, stratified.chosen).n_pairs == 60
    runs.get_run(workspace, stratified.run_id)
    if gone != "others":
        assert all_pairs(workspace, stratified.others)[0]["correction"] == 0.75


def test_the_run_goes_with_the_last_of_its_sets(
    workspace: Workspace, project: Project, stratified: Stratified
) -> None:
    queue.finish_job(workspace, stratified.job_id, "done", message="")
    for set_id in (stratified.pool, stratified.kept, stratified.others):
        silver_sets.delete_silver_set(workspace, set_id)
    candidates.delete_candidate_set(workspace, stratified.chosen)
    assert deletion.sweep(workspace)
    left = runs.list_runs(workspace, project.id, state=None)
    assert {run.step for run in left} == {"import"}


@pytest.mark.parametrize("user", ["kept", "others"])
def test_removing_a_job_leaves_the_sets_that_others_have_built_upon(
    workspace: Workspace, project: Project, stratified: Stratified, user: str
) -> None:
    queue.finish_job(workspace, stratified.job_id, "failed", message="")
    silver_sets.delete_silver_set(
        workspace, stratified.others if user == "kept" else stratified.kept
    )
    before = sizes(workspace, project)
    assert queue.delete_job(workspace, stratified.job_id) == stratified.run_id
    assert deletion.sweep(workspace)
    assert queue.list_jobs(workspace, project.id) == []
    assert sizes(workspace, project) == before
    assert candidates.get_candidate_set(workspace, stratified.chosen).n_pairs == 60


def test_removing_a_job_takes_candidates_that_nobody_else_uses(
    workspace: Workspace, project: Project, stratified: Stratified
) -> None:
    queue.finish_job(workspace, stratified.job_id, "failed", message="")
    silver_sets.delete_silver_set(workspace, stratified.kept)
    silver_sets.delete_silver_set(workspace, stratified.others)
    waiting = runs.add_run(workspace, project.id, "label", "l", "{}", 1)
    other_job = queue.add_job(workspace, project.id, waiting, "label", "cpu")
    with pytest.raises(WorkbenchError, match=f"Job {other_job} .* not done"):
        queue.delete_job(workspace, stratified.job_id)  # it may be about to label them

    queue.finish_job(workspace, other_job, "cancelled", message="")
    queue.delete_job(workspace, stratified.job_id)
    assert deletion.sweep(workspace)
    assert sizes(workspace, project) == {}
    with pytest.raises(WorkbenchError):
        runs.get_run(workspace, stratified.run_id)
