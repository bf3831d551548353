"""Jobs: queued, carried out one per device, cancelled, killed, found again and resumed."""

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import psutil
import pytest

from augsbert_core import jobs, processes, worker
from augsbert_core.errors import Stopped, WorkbenchError
from augsbert_core.options import to_json
from augsbert_core.storage import queue, runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Job, Project
from tests import fake_steps
from tests.fake_steps import CountOptions
from tests.jobs.waiting import wait_for, wait_until


def numbers(workspace: Workspace, job: Job) -> list[tuple[int, float]]:
    """What the counting step has written: numbers and when."""
    path = workspace.run_folder(job.run_id) / "numbers.txt"
    lines = path.read_text().splitlines() if path.exists() else []
    return [(int(line.split()[0]), float(line.split()[1])) for line in lines]


def test_a_job_is_carried_out_in_a_process_of_its_own_and_leaves_its_results(
    workspace: Workspace, project: Project
) -> None:
    job = jobs.enqueue(workspace, project.id, "count", CountOptions(target=3))
    assert job.state == "running"
    assert job.device == jobs.NO_DEVICE

    job = wait_for(workspace, job, "done", "failed")
    run = runs.get_run(workspace, job.run_id)

    assert job.error is None
    assert (job.state, job.progress, job.attempt) == ("done", 1.0, 1)
    assert job.pid != os.getpid()
    assert (run.state, run.name, run.options) == ("done", "count to 3", to_json(CountOptions()))
    # An undefined number cannot be told in JSON and is left out.
    assert run.metrics == {"counted": 3, "resumed_at": 0}
    assert {"python", "augsbert", "torch", "sentence-transformers"} <= set(run.versions)
    steps, losses = runs.read_metrics(workspace, run.id)["loss"]
    assert steps.tolist() == [1, 2, 3]
    assert losses.tolist() == [1, 1 / 2, 1 / 3]
    assert "counted" in jobs.log_tail(workspace, job)


def test_jobs_of_one_device_run_one_after_the_other_without_anybody_watching(
    workspace: Workspace, project: Project
) -> None:
    options = CountOptions(target=5, pause=0.1)
    first = jobs.enqueue(workspace, project.id, "count", options)
    assert jobs.enqueue(workspace, project.id, "count", options).id == first.id, "a double click"
    second = jobs.enqueue(workspace, project.id, "count", replace(options, seed=2))
    assert second.state == "queued"

    wait_for(workspace, second, "done")
    assert numbers(workspace, first)[-1][1] < numbers(workspace, second)[0][1]


def test_a_killed_worker_is_interrupted_and_its_job_goes_on_where_it_stopped(
    workspace: Workspace, project: Project
) -> None:
    rng = random.Random(7)
    job = jobs.enqueue(workspace, project.id, "count", CountOptions(target=40, pause=0.03))
    for attempt in (1, 2):
        _kill_while_it_counts(workspace, job, rng)
        wait_until(lambda: _tended(workspace, job).state == "interrupted")
        found = queue.get_job(workspace, job.id)
        assert found.attempt == attempt
        assert "Resume" in (found.error or "")
        assert runs.get_run(workspace, job.run_id).state == "interrupted"
        jobs.resume(workspace, job.id)

    job = wait_for(workspace, job, "done")
    assert [number for number, _ in numbers(workspace, job)] == list(range(1, 41))
    assert runs.get_run(workspace, job.run_id).metrics["resumed_at"] > 0


def _kill_while_it_counts(workspace: Workspace, job: Job, rng: random.Random) -> None:
    reached = len(numbers(workspace, job))
    wait_until(lambda: len(numbers(workspace, job)) > reached)
    time.sleep(rng.uniform(0, 0.3))
    os.kill(queue.get_job(workspace, job.id).pid or 0, signal.SIGKILL)


def _tended(workspace: Workspace, job: Job) -> Job:
    jobs.tend(workspace)
    return queue.get_job(workspace, job.id)


def test_cancelling_takes_effect_within_five_seconds(
    workspace: Workspace, project: Project
) -> None:
    job = jobs.enqueue(workspace, project.id, "count", CountOptions(target=1000, pause=0.05))
    waiting = jobs.enqueue(workspace, project.id, "count", CountOptions(target=1))
    wait_until(lambda: numbers(workspace, job))

    asked = time.monotonic()
    jobs.cancel(workspace, job.id)
    job = wait_for(workspace, job, "cancelled")
    assert time.monotonic() - asked < 5
    assert runs.get_run(workspace, job.run_id).state == "cancelled"
    # The worker that ends starts the next one.
    wait_for(workspace, waiting, "done")


def test_a_job_that_waits_is_cancelled_at_once(workspace: Workspace, project: Project) -> None:
    queue.claim_job(workspace, _blocker(workspace, project).id, **processes.this_process())
    job = jobs.enqueue(workspace, project.id, "count", CountOptions())
    jobs.cancel(workspace, job.id)
    assert queue.get_job(workspace, job.id).state == "cancelled"


def _blocker(workspace: Workspace, project: Project) -> Job:
    """A job that this process claims, so that its lane is taken."""
    run_id = runs.add_run(workspace, project.id, "count", "blocker", "{}", 0)
    return queue.get_job(
        workspace, queue.add_job(workspace, project.id, run_id, "count", jobs.NO_DEVICE)
    )


def test_a_worker_that_does_not_react_is_ended_by_a_second_cancel(
    workspace: Workspace, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "TERMINATE_SECONDS", 0.5)
    options = CountOptions(target=10_000, pause=0.05, ending="stubborn")
    job = jobs.enqueue(workspace, project.id, "count", options)
    wait_until(lambda: numbers(workspace, job))
    jobs.cancel(workspace, job.id)
    jobs.cancel(workspace, job.id)
    assert queue.get_job(workspace, job.id).state == "cancelling"

    monkeypatch.setattr(jobs, "GRACE_SECONDS", 0.0)
    assert jobs.can_be_forced(workspace, queue.get_job(workspace, job.id))
    jobs.cancel(workspace, job.id)

    job = queue.get_job(workspace, job.id)
    assert (job.state, job.message) == (
        "cancelled",
        "Cancelled by force; resume to go on from here",
    )
    assert not processes.is_alive(job)


def test_a_worker_told_to_terminate_saves_its_work_and_is_interrupted(
    workspace: Workspace, project: Project
) -> None:
    job = jobs.enqueue(workspace, project.id, "count", CountOptions(target=1000, pause=0.02))
    wait_until(lambda: numbers(workspace, job))
    os.kill(queue.get_job(workspace, job.id).pid or 0, signal.SIGTERM)
    job = wait_for(workspace, job, "interrupted")
    assert job.error is None


def test_failures_are_one_sentence_and_bugs_keep_their_traceback(
    workspace: Workspace, project: Project
) -> None:
    failed = {}
    for ending in ("user error", "bug", "out of memory"):
        with pytest.raises(WorkbenchError):
            jobs.run_in_foreground(
                workspace, project.id, "count", CountOptions(target=1, ending=ending)
            )
        failed[ending] = queue.list_jobs(workspace)[0]

    assert {job.state for job in failed.values()} == {"failed"}
    assert failed["user error"].error == "There are no gold pairs. Import some first."
    assert failed["user error"].details is None
    assert "KeyError: 'no such column'" in (failed["bug"].error or "")
    assert "\n" not in (failed["bug"].error or "")
    assert "Traceback" in (failed["bug"].details or "")
    assert "smaller batch size" in (failed["out of memory"].error or "")
    assert runs.get_run(workspace, failed["bug"].run_id).state == "failed"


def test_a_failure_in_the_background_is_recorded_too(
    workspace: Workspace, project: Project
) -> None:
    job = jobs.enqueue(workspace, project.id, "count", CountOptions(target=1, ending="bug"))
    job = wait_for(workspace, job, "failed")
    assert "KeyError" in (job.error or "")
    assert "Traceback" in (job.details or "")


def test_four_processes_tending_at_once_start_one_worker(
    workspace: Workspace, project: Project
) -> None:
    # Queued as by an app that died before it could start a worker.
    run_id = runs.add_run(
        workspace, project.id, "count", "count", to_json(CountOptions(target=30, pause=0.05)), 0
    )
    job_id = queue.add_job(workspace, project.id, run_id, "count", jobs.NO_DEVICE)
    forked = multiprocessing.get_context("fork")
    together = forked.Barrier(4)

    def tend() -> None:
        together.wait()
        jobs.tend(workspace)

    tenders = [forked.Process(target=tend) for _ in range(4)]
    for tender in tenders:
        tender.start()
    for tender in tenders:
        tender.join()
        assert tender.exitcode == 0
    # A surplus worker may have been started; it leaves by itself.
    wait_until(lambda: numbers(workspace, queue.get_job(workspace, job_id)))
    wait_until(lambda: len(_processes_of(workspace)) == 1)
    job = wait_for(workspace, queue.get_job(workspace, job_id), "done")
    assert job.attempt == 1
    assert [number for number, _ in numbers(workspace, job)] == list(range(1, 31))


def _processes_of(workspace: Workspace) -> list[psutil.Process]:
    """Workers of this workspace."""
    home = str(workspace.home)
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if home in (process.info["cmdline"] or [])
    ]


def test_a_surplus_worker_leaves_a_taken_job_alone(workspace: Workspace, project: Project) -> None:
    job = _blocker(workspace, project)
    queue.claim_job(workspace, job.id, **processes.this_process())
    stray = subprocess.run(
        [*fake_steps.worker_command(), "--home", str(workspace.home), str(job.id)],
        env=processes.worker_environment(),
        capture_output=True,
        check=True,
    )
    assert stray.stdout == b""
    found = queue.get_job(workspace, job.id)
    assert (found.state, found.pid, found.attempt) == ("running", os.getpid(), 1)


def test_a_foreground_job_waits_for_the_background_job_ahead_of_it(
    workspace: Workspace, project: Project
) -> None:
    ahead = jobs.enqueue(workspace, project.id, "count", CountOptions(target=10, pause=0.1))
    heard: list[str] = []
    result = jobs.run_in_foreground(
        workspace,
        project.id,
        "count",
        CountOptions(target=2),
        lambda _fraction, message, *_rest: heard.append(message),
    )
    assert result["counted"] == 2
    assert heard[0] == f"Waiting for job {ahead.id}"
    assert heard[-1] == "Counted to 2"
    job = queue.list_jobs(workspace)[0]
    assert (job.run_id, job.state, job.in_foreground) == (result["run_id"], "done", True)
    assert numbers(workspace, ahead)[-1][1] < numbers(workspace, job)[0][1]


def test_cancelling_from_elsewhere_stops_a_foreground_job(
    workspace: Workspace, project: Project
) -> None:
    def cancel_soon() -> None:
        wait_until(lambda: [job for job in queue.active_jobs(workspace) if job.progress > 0])
        jobs.cancel(workspace, queue.active_jobs(workspace)[0].id)

    other = threading.Thread(target=cancel_soon)
    other.start()
    with pytest.raises(Stopped, match="augsbert jobs resume"):
        jobs.run_in_foreground(
            workspace, project.id, "count", CountOptions(target=10_000, pause=0.02)
        )
    other.join()
    assert queue.list_jobs(workspace)[0].state == "cancelled"


def test_a_foreground_job_whose_owner_died_while_it_waited_is_interrupted(
    workspace: Workspace, project: Project
) -> None:
    owner = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    run_id = runs.add_run(workspace, project.id, "count", "count", to_json(CountOptions()), 0)
    job_id = queue.add_job(
        workspace,
        project.id,
        run_id,
        "count",
        jobs.NO_DEVICE,
        in_foreground=True,
        host=processes.this_process()["host"],
        pid=owner.pid,
        pid_started=processes.start_time(owner.pid),
    )
    jobs.tend(workspace)
    assert queue.get_job(workspace, job_id).state == "queued"

    # Not waited for: a zombie must not be taken for alive.
    owner.kill()
    wait_until(lambda: psutil.Process(owner.pid).status() == psutil.STATUS_ZOMBIE)
    jobs.tend(workspace)
    assert queue.get_job(workspace, job_id).state == "interrupted"
    owner.wait()

    # Resumed, it runs in the background: its owner will not come back.
    jobs.resume(workspace, job_id)
    wait_for(workspace, queue.get_job(workspace, job_id), "done")


def test_a_pid_that_was_used_again_is_a_stranger(workspace: Workspace, project: Project) -> None:
    job = _blocker(workspace, project)
    me = processes.this_process()
    queue.claim_job(workspace, job.id, **me)
    job = queue.get_job(workspace, job.id)
    assert processes.is_alive(job)

    earlier = replace(job, pid_started=me["pid_started"] - 3600)
    # The heart beats: the clock was set. It has long been silent: the worker is dead, the pid reused.
    assert processes.is_alive(earlier)
    assert not processes.is_alive(replace(earlier, heartbeat="2024-01-01T00:00:00+00:00"))
    assert processes.is_alive(replace(job, heartbeat="2024-01-01T00:00:00+00:00"))


def test_processes_of_another_host_are_judged_by_their_heartbeat(
    workspace: Workspace, project: Project
) -> None:
    job = _blocker(workspace, project)
    queue.claim_job(workspace, job.id, host="elsewhere", pid=1, pid_started=0.0)
    job = queue.get_job(workspace, job.id)
    assert processes.is_alive(job)
    assert not processes.is_alive(replace(job, heartbeat="2024-01-01T00:00:00+00:00"))


RESTARTED_APP = """
import sys
from pathlib import Path
from augsbert_core import jobs, processes
from augsbert_core.storage import queue
from augsbert_core.storage.database import open_workspace
from tests import fake_steps

processes.WORKER_COMMAND = fake_steps.worker_command()
workspace = open_workspace(Path(sys.argv[1]))
jobs.tend(workspace)
print(*(job.state for job in queue.list_jobs(workspace)))
"""


def test_a_restarted_app_finds_what_runs_what_died_and_what_waits(
    workspace: Workspace, project: Project
) -> None:
    options = CountOptions(target=1000, pause=0.02, device="cpu")
    dead = jobs.enqueue(workspace, project.id, "count", options)
    waiting = jobs.enqueue(workspace, project.id, "count", replace(options, seed=2))
    running = jobs.enqueue(workspace, project.id, "count-on-device", options)
    wait_until(lambda: numbers(workspace, dead) and numbers(workspace, running))
    os.kill(queue.get_job(workspace, dead.id).pid or 0, signal.SIGKILL)

    restarted = subprocess.run(
        [sys.executable, "-c", RESTARTED_APP, str(workspace.home)],
        capture_output=True,
        text=True,
        check=True,
        env=processes.worker_environment(),
    )
    assert restarted.stdout.split() == ["running", "running", "interrupted"]
    wait_until(lambda: numbers(workspace, waiting))


def test_a_cancelled_job_whose_worker_died_counts_as_cancelled(
    workspace: Workspace, project: Project
) -> None:
    job = _blocker(workspace, project)
    queue.claim_job(workspace, job.id, **{**processes.this_process(), "pid": 2**22 + 1})
    queue.ask_to_cancel(workspace, job.id)
    jobs.tend(workspace)
    assert queue.get_job(workspace, job.id).state == "cancelled"


def test_a_worker_that_cannot_start_fails_the_job_with_a_sentence(
    workspace: Workspace, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "WORKER_COMMAND", ("/no/such/python",))
    job = jobs.enqueue(workspace, project.id, "count", CountOptions())
    assert job.state == "failed"
    assert "No worker process could be started" in (job.error or "")


def test_reports_are_cheap_and_points_that_are_not_finite_are_left_out(
    workspace: Workspace, project: Project
) -> None:
    job = _blocker(workspace, project)
    queue.claim_job(workspace, job.id, **processes.this_process())
    with worker.Pulse(workspace, job) as pulse:
        begun = time.perf_counter()
        for step in range(10_000):
            pulse.report(step / 10_000, f"Step {step}", {"loss": 1.0}, step)
        pulse.report(1.0, "All", {"loss": float("nan"), "dev_score": 0.5})
        assert time.perf_counter() - begun < 0.5
    curves = runs.read_metrics(workspace, job.run_id)
    assert len(curves["loss"][0]) == 10_000
    assert curves["dev_score"][0].tolist() == [10_000]
    job = queue.get_job(workspace, job.id)
    assert (job.progress, job.message) == (1.0, "All")


@pytest.mark.alone
def test_tending_a_quiet_queue_is_cheap(workspace: Workspace, project: Project) -> None:
    job = _blocker(workspace, project)
    queue.claim_job(workspace, job.id, **processes.this_process())
    jobs.enqueue(workspace, project.id, "count", CountOptions())
    times = []
    for _ in range(10):
        begun = time.perf_counter()
        jobs.tend(workspace)
        times.append(time.perf_counter() - begun)
    assert min(times) < 0.02


def test_the_log_tail_reads_only_the_end(workspace: Workspace, project: Project) -> None:
    job = _blocker(workspace, project)
    assert jobs.log_tail(workspace, job) == ""
    queue.set_log(workspace, job.id, "logs/job-1.log")
    job = queue.get_job(workspace, job.id)
    lines = "".join(f"line {number} ä\n" for number in range(200_000))
    (workspace.logs / "job-1.log").write_text(lines + " 10%\r 50%\r100%\n", encoding="utf-8")
    assert jobs.log_tail(workspace, job, lines=2) == "line 199999 ä\n100%"
    assert len(jobs.log_tail(workspace, job, lines=10**6)) <= jobs.TAIL_BYTES


def test_discarding_removes_rows_files_and_logs(workspace: Workspace, project: Project) -> None:
    options = CountOptions(target=1, ending="bug")
    job = wait_for(workspace, jobs.enqueue(workspace, project.id, "count", options), "failed")
    kept = jobs.run_in_foreground(workspace, project.id, "count", CountOptions(target=1))
    jobs.discard_job(workspace, job.id)
    assert not workspace.run_folder(job.run_id).exists()
    assert not (workspace.home / (job.log_path or "")).exists()

    kept_job = queue.list_jobs(workspace)[0]
    with pytest.raises(WorkbenchError, match="cannot be removed"):
        jobs.discard_job(workspace, kept_job.id)
    jobs.discard_project(workspace, project.id)
    assert not workspace.run_folder(kept["run_id"]).exists()
    assert queue.list_jobs(workspace) == []


def test_a_new_run_never_finds_the_files_of_a_deleted_one(
    workspace: Workspace, project: Project
) -> None:
    leftover = workspace.run_folder(1) / "numbers.txt"
    leftover.parent.mkdir(parents=True)
    leftover.write_text("1 0\n2 0\n3 0\n")
    result = jobs.run_in_foreground(workspace, project.id, "count", CountOptions(target=3))
    assert (result["run_id"], result["resumed_at"]) == (1, 0)


def test_shared_jobs_run_side_by_side_and_never_beside_one_that_is_not(
    workspace: Workspace, project: Project
) -> None:
    def queued(seed: int, **how: bool) -> Job:
        options = CountOptions(target=600, pause=0.1, seed=seed)
        return jobs.enqueue(workspace, project.id, "count-on-device", options, **how)

    first, second = queued(1, shared=True), queued(2, shared=True)
    alone, late = queued(3), queued(4, shared=True)
    assert [job.state for job in (first, second)] == ["running", "running"]
    assert (alone.state, alone.shared, late.shared) == ("queued", False, True)
    # The one that will not share waits for both, and the shared one behind it does not overtake it.
    assert late.state == "queued"
    for job in (first, second):
        jobs.cancel(workspace, job.id)
        wait_for(workspace, job, "cancelled")
    alone = wait_for(workspace, alone, "running")
    assert queue.get_job(workspace, late.id).state == "queued"
    jobs.cancel(workspace, alone.id)
    wait_for(workspace, late, "running")
    jobs.cancel(workspace, late.id)
    wait_for(workspace, late, "cancelled")
