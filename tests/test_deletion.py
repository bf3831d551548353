"""Large things go in two moves: out of sight at once, removed bit by bit."""

import threading

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
        if thread is not threading.current_thread() and thread.daemon:
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
