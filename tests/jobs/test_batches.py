"""Several runs as one job: in order, found again after a crash, summed up."""

import json
import os
import random
import signal
import time
from typing import Any

import pytest

from augsbert_core import jobs, processes
from augsbert_core.errors import WorkbenchError
from augsbert_core.options import BatchOptions, PlannedRun, to_json
from augsbert_core.steps.references import resolved
from augsbert_core.storage import batches, projects, queue, runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Job, Project
from tests.fake_steps import CountOptions
from tests.jobs.waiting import wait_for, wait_until


def counting(key: str, **told: Any) -> PlannedRun:
    return PlannedRun(key, "count", to_json(CountOptions(**told)))


def a_batch(*planned: PlannedRun) -> BatchOptions:
    return BatchOptions(runs=planned)


def states(workspace: Workspace, job: Job) -> dict[str, str]:
    found = batches.children(workspace, job.run_id)
    return {str(child.child_key): child.state for child in found}


def numbers(workspace: Workspace, run_id: int) -> list[int]:
    path = workspace.run_folder(run_id) / "numbers.txt"
    return [int(line.split()[0]) for line in path.read_text().splitlines()] if path.exists() else []


def test_each_run_of_a_batch_is_a_run_of_its_own_with_the_results_of_a_lone_one(
    workspace: Workspace, project: Project
) -> None:
    second = PlannedRun("b", "count", json.dumps({"target": "{a.counted}", "seed": 7}))
    heard: list[tuple[float, str]] = []
    result = jobs.run_in_foreground(
        workspace,
        project.id,
        "batch",
        a_batch(counting("a", target=4), second),
        lambda fraction, message, *_rest: heard.append((fraction, message)),
    )
    lone = jobs.run_in_foreground(workspace, project.id, "count", CountOptions(target=4))

    first, second_run = batches.children(workspace, result["run_id"])
    alone = runs.get_run(workspace, lone["run_id"])
    assert (first.state, first.child_key, first.parent_run_id) == ("done", "a", result["run_id"])
    for name in ("step", "name", "options", "seed", "metrics", "versions", "device", "project_id"):
        assert getattr(first, name) == getattr(alone, name), name
    assert json.loads(second_run.options)["target"] == 4, "a number stays a number"
    assert second_run.seed == 7
    curves, its_own = (runs.read_metrics(workspace, run.id) for run in (first, alone))
    assert curves["loss"][1].tolist() == its_own["loss"][1].tolist() == [1, 1 / 2, 1 / 3, 1 / 4]
    assert not runs.read_metrics(workspace, result["run_id"]), "the batch itself has no curves"
    assert (0.75, "2 of 2 · Count, seed 7: Counted to 2") in heard


def test_a_killed_batch_goes_on_with_the_run_it_was_at(
    workspace: Workspace, project: Project
) -> None:
    options = a_batch(counting("a", target=2), counting("b", target=30, pause=0.03), counting("c"))
    job = jobs.enqueue(workspace, project.id, "batch", options)
    wait_until(lambda: states(workspace, job).get("b") and _reached(workspace, job, "b") > 3)
    time.sleep(random.Random(3).uniform(0, 0.2))
    os.kill(queue.get_job(workspace, job.id).pid or 0, signal.SIGKILL)

    def is_found_dead() -> bool:
        jobs.tend(workspace)
        return queue.get_job(workspace, job.id).state == "interrupted"

    wait_until(is_found_dead)
    assert states(workspace, job) == {"a": "done", "b": "interrupted"}
    before = [child.id for child in batches.children(workspace, job.run_id)]

    jobs.resume(workspace, job.id)
    wait_for(workspace, job, "done")
    found = batches.children(workspace, job.run_id)
    assert [child.id for child in found][:2] == before, "the same runs, found again"
    assert [child.state for child in found] == ["done"] * 3
    assert numbers(workspace, found[1].id) == list(range(1, 31)), "none counted twice"
    assert found[1].metrics["resumed_at"] > 3
    assert numbers(workspace, found[0].id) == [1, 2]


def _reached(workspace: Workspace, job: Job, key: str) -> int:
    child = batches.find_child(workspace, job.run_id, key)
    return len(numbers(workspace, child.id)) if child else 0


def test_a_cancelled_batch_stops_its_run_and_can_be_resumed_or_removed(
    workspace: Workspace, project: Project
) -> None:
    options = a_batch(counting("a", target=1), counting("b", target=1000, pause=0.02))
    job = jobs.enqueue(workspace, project.id, "batch", options)
    wait_until(lambda: _reached(workspace, job, "b") > 1)
    jobs.cancel(workspace, job.id)
    wait_for(workspace, job, "cancelled")
    assert states(workspace, job) == {"a": "done", "b": "cancelled"}

    done, stopped = batches.children(workspace, job.run_id)
    jobs.discard_job(workspace, job.id)
    kept = runs.get_run(workspace, done.id)
    assert (kept.state, kept.parent_run_id, kept.child_key) == ("done", None, "a")
    assert numbers(workspace, done.id) == [1]
    with pytest.raises(WorkbenchError, match="no run"):
        runs.get_run(workspace, stopped.id)
    assert not workspace.run_folder(stopped.id).exists()


@pytest.mark.parametrize(
    ("ending", "reason"),
    [("user error", "There are no gold pairs"), ("out of memory", "ran out of memory")],
)
def test_a_run_that_fails_stops_the_batch_which_says_which_and_why(
    workspace: Workspace, project: Project, ending: str, reason: str
) -> None:
    options = a_batch(counting("a", target=1, seed=5, ending=ending), counting("b"))
    with pytest.raises(
        WorkbenchError, match=rf"1 of 2 · Count, seed 5 \(run \d+\) failed: .*{reason}"
    ):
        jobs.run_in_foreground(workspace, project.id, "batch", options)
    job = queue.list_jobs(workspace)[0]
    assert (job.state, states(workspace, job)) == ("failed", {"a": "failed"})
    assert reason in (job.error or "")


@pytest.mark.parametrize(
    ("planned", "message"),
    [
        ([], "no runs"),
        ([counting("a"), counting("a")], "called 'a'"),
        ([PlannedRun("a", "batch", "{}")], "no step of a batch"),
        ([PlannedRun("a", "count", '{"target": "{b.counted}"}'), counting("b")], "no earlier run"),
        ([counting(f"run {n}") for n in range(201)], "200 are the most"),
    ],
)
def test_a_batch_that_cannot_work_is_not_queued(
    workspace: Workspace, project: Project, planned: list[PlannedRun], message: str
) -> None:
    with pytest.raises(WorkbenchError, match=message):
        jobs.enqueue(workspace, project.id, "batch", a_batch(*planned))
    assert queue.list_jobs(workspace) == []


def test_references_take_results_as_they_are_or_within_a_text() -> None:
    planned = PlannedRun("c", "x", json.dumps({"n": "{a.n}", "by": ["run:{a.run_id}", "{b.name}"]}))
    results = {"a": {"n": 3, "run_id": 12}, "b": {"name": "two words"}}
    assert json.loads(resolved(planned, results)) == {"n": 3, "by": ["run:12", "two words"]}
    with pytest.raises(WorkbenchError, match="needs 'n' of run 'a'"):
        resolved(planned, {"a": {"run_id": 12}, "b": {"name": ""}})


def test_a_project_with_a_run_of_anothers_batch_cannot_be_deleted_meanwhile(
    workspace: Workspace, project: Project
) -> None:
    other = projects.create_project(workspace, "Other")
    parent = runs.add_run(workspace, project.id, "batch", "batch", "{}", 0)
    job_id = queue.add_job(workspace, project.id, parent, "batch", "cpu")
    queue.claim_job(workspace, job_id, **processes.this_process())
    child, is_new = batches.open_child(
        workspace, parent, "there", project_id=other.id, step="count", name="", options="{}",
        seed=0, device=None, versions={},
    )  # fmt: skip
    assert (is_new, child.project_id) == (True, other.id)
    with pytest.raises(WorkbenchError, match=f"Job {job_id} "):
        projects.delete_project(workspace, other.id)
    queue.finish_job(workspace, job_id, "cancelled", message="")
    assert runs.get_run(workspace, child.id).state == "cancelled"
    projects.delete_project(workspace, other.id)


def test_a_resumed_batch_begins_where_it_stood(workspace: Workspace, project: Project) -> None:
    from augsbert_core.steps import StepContext
    from augsbert_core.steps.batch import batch

    options = a_batch(counting("a", target=4), counting("b", target=2))
    run_id = runs.add_run(workspace, project.id, "batch", "batch", to_json(options), 0)
    job_id = queue.add_job(workspace, project.id, run_id, "batch", "cpu")
    queue.claim_job(workspace, job_id, **processes.this_process())
    queue.set_progress(workspace, job_id, 0.3, "1 of 2 · Count, seed 0: Counted to 2")
    heard: list[float] = []
    context = StepContext(
        workspace=workspace,
        project=project,
        run=runs.get_run(workspace, run_id),
        device="cpu",
        report=lambda fraction, *_rest: heard.append(fraction),
        should_stop=lambda: False,
    )
    batch(context, options)
    assert heard == [0.3, 0.3, 0.3, 0.375, 0.5, 0.5, 0.75, 1.0]
