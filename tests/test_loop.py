"""The real steps in real workers, with tiny models: the whole loop, and kill -9 in the midst of it."""

import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from augsbert_core import jobs
from augsbert_core.errors import WorkbenchError
from augsbert_core.options import (
    BiEncoderOptions,
    CrossEncoderOptions,
    EvaluateOptions,
    LabelOptions,
    SampleOptions,
)
from augsbert_core.steps.compare import comparison, equal_step_options
from augsbert_core.steps.sample_project import open_sample_project
from augsbert_core.steps.verdict import verdicts
from augsbert_core.storage import queue, runs, silver_sets
from augsbert_core.storage.database import Workspace, reading
from augsbert_core.storage.records import Job, Project
from tests.tiny import tiny_bert, tiny_cross_encoder
from tests.tiny_training import assert_same_weights

needs_sigkill = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")


@pytest.fixture
def project(workspace: Workspace) -> Project:
    return open_sample_project(workspace)


@pytest.fixture(autouse=True)
def _one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums are added up in one order, so that equal trainings give equal weights."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def wait_until(is_true: Callable[[], bool], seconds: float = 120) -> None:
    for _ in range(int(seconds * 20)):
        if is_true():
            return
        time.sleep(0.05)
    raise AssertionError(f"not in {seconds} s")


def finish(workspace: Workspace, job: Job) -> dict:
    """Wait for a job; its run's metrics."""
    wait_until(lambda: queue.get_job(workspace, job.id).state not in queue.ACTIVE)
    ended = queue.get_job(workspace, job.id)
    assert ended.state == "done", (ended.error, ended.details)
    return runs.get_run(workspace, job.run_id).metrics


def kill_worker(workspace: Workspace, job: Job) -> None:
    """kill -9, then let the app notice."""
    os.kill(queue.get_job(workspace, job.id).pid or 0, signal.SIGKILL)

    def is_found_dead() -> bool:
        jobs.tend(workspace)
        return queue.get_job(workspace, job.id).state == "interrupted"

    wait_until(is_found_dead)


def test_the_whole_loop_ends_in_a_table_and_a_verdict(
    workspace: Workspace, project: Project, tmp_path: Path
) -> None:
    base = tiny_bert(tmp_path / "base")

    def run(step: str, options: object) -> dict:
        return jobs.run_in_foreground(workspace, project.id, step, options)

    labeler = run("train-cross-encoder", CrossEncoderOptions(base=base, epochs=1))
    chosen = run("sample", SampleOptions(top_k=1))
    labelled = run("label", LabelOptions(chosen["candidate_set_id"], f"run:{labeler['run_id']}"))
    student = BiEncoderOptions(
        base=base, layers=1, silver_set_id=labelled["silver_set_id"], epochs=1
    )
    augmented = run("train-bi-encoder", student)
    run("train-bi-encoder", equal_step_options(workspace, augmented["run_id"]))
    run("train-bi-encoder", BiEncoderOptions(base=base, layers=1, epochs=1))
    measured = run("evaluate", EvaluateOptions())

    assert labelled["n_scored"] == chosen["n_candidates"] > 100
    assert augmented["n_silver"] == labelled["n_scored"]
    table = comparison(workspace, project.id)
    assert table.missing == ()
    assert Counter(table.rows["kind"]) == {
        "untrained": 1,
        "off the shelf": 1,
        "jaccard": 1,
        "gold-only": 1,
        "gold-only, equal steps": 1,
        "augsbert": 1,
        "cross-encoder": 1,
    }
    assert table.rows["comparable"].all()
    assert len(measured["rows"]) == 7
    rows = table.rows[table.rows["value"].notna()]
    assert (rows["low"] <= rows["value"]).all()
    assert (rows["value"] <= rows["high"]).all()
    (verdict,) = verdicts(workspace, project.id, table)
    assert verdict.low <= verdict.difference <= verdict.high
    assert "as many steps" in verdict.sentence


@needs_sigkill
def test_killed_labelling_loses_no_pair_and_scores_none_twice(
    workspace: Workspace, project: Project, tmp_path: Path
) -> None:
    """Killed twice at random moments. (silver_pair is unique per pair, so a second score would fail.)"""
    moments = random.Random()
    labeler = tiny_cross_encoder(tmp_path / "labeler")
    chosen = jobs.run_in_foreground(
        workspace, project.id, "sample", SampleOptions(strategy="random", n_pairs=5_000)
    )
    job = jobs.enqueue(
        workspace,
        project.id,
        "label",
        LabelOptions(chosen["candidate_set_id"], labeler, batch_size=1),
    )
    scored = [0]
    for _ in range(2):
        wait_until(lambda: _count(workspace, project) > scored[-1])
        time.sleep(moments.uniform(0, 1))
        kill_worker(workspace, job)
        scored.append(_count(workspace, project))
        jobs.resume(workspace, job.id)
    result = finish(workspace, job)

    assert 0 < scored[1] < scored[2] < 5_000, "the kills came too late to show anything"
    assert result["n_scored"] == 5_000
    with reading(workspace) as db:
        distinct = db.execute(
            "SELECT count(*) FROM (SELECT DISTINCT sentence1_id, sentence2_id FROM silver_pair)"
        ).fetchone()[0]
    assert distinct == 5_000


def _count(workspace: Workspace, project: Project) -> int:
    return sum(made.n_pairs for made in silver_sets.list_silver_sets(workspace, project.id))


@needs_sigkill
@pytest.mark.parametrize("step", ["train-cross-encoder", "train-bi-encoder"])
def test_killed_training_ends_like_an_uninterrupted_one(
    workspace: Workspace, project: Project, tmp_path: Path, step: str
) -> None:
    base = tiny_bert(tmp_path / "base")
    options = (
        CrossEncoderOptions(base=base, epochs=3)
        if step == "train-cross-encoder"
        else BiEncoderOptions(base=base, epochs=3)
    )
    job = jobs.enqueue(workspace, project.id, step, options)
    wait_until(lambda: queue.get_job(workspace, job.id).progress > 0)
    time.sleep(random.Random().uniform(0, 0.5))
    kill_worker(workspace, job)
    jobs.resume(workspace, job.id)
    resumed = finish(workspace, job)
    assert queue.get_job(workspace, job.id).attempt == 2

    whole = jobs.run_in_foreground(workspace, project.id, step, options)
    assert resumed["n_steps"] == whole["n_steps"]
    assert resumed["dev_score"] == whole["dev_score"]
    assert_same_weights(workspace.run_folder(job.run_id), workspace.run_folder(whole["run_id"]))


def test_cancelled_labelling_keeps_what_is_scored_and_goes_on(
    workspace: Workspace, project: Project, tmp_path: Path
) -> None:
    labeler = tiny_cross_encoder(tmp_path / "labeler")
    chosen = jobs.run_in_foreground(
        workspace, project.id, "sample", SampleOptions(strategy="random", n_pairs=4_000)
    )
    job = jobs.enqueue(
        workspace,
        project.id,
        "label",
        LabelOptions(chosen["candidate_set_id"], labeler, batch_size=4),
    )
    wait_until(lambda: queue.get_job(workspace, job.id).progress > 0)
    jobs.cancel(workspace, job.id)
    begun = time.monotonic()
    wait_until(lambda: queue.get_job(workspace, job.id).state not in queue.ACTIVE)
    assert time.monotonic() - begun < 5
    assert queue.get_job(workspace, job.id).state == "cancelled"
    kept = _count(workspace, project)
    assert kept > 0
    with pytest.raises(WorkbenchError, match="in part"):
        jobs.run_in_foreground(
            workspace, project.id, "train-bi-encoder", BiEncoderOptions(silver_set_id=1)
        )
    jobs.resume(workspace, job.id)
    assert finish(workspace, job)["n_scored"] == 4_000


def test_a_duplicate_questions_project_is_measured_by_f1(
    workspace: Workspace, tmp_path: Path
) -> None:
    from augsbert_core.bundle import root
    from augsbert_core.options import ImportOptions
    from augsbert_core.steps.import_data import import_file
    from augsbert_core.storage import projects

    project = projects.create_project(workspace, "Questions")
    data = (root() / "sample_data" / "duplicate_questions.csv").read_bytes()
    options = ImportOptions(score_range=(0.0, 1.0))
    import_file(workspace, project.id, data, "questions.csv", options)
    base = tiny_bert(tmp_path / "base")
    trained = jobs.run_in_foreground(
        workspace, project.id, "train-bi-encoder", BiEncoderOptions(base=base, epochs=1)
    )
    result = jobs.run_in_foreground(
        workspace,
        project.id,
        "evaluate",
        EvaluateOptions(targets=(f"run:{trained['run_id']}", "jaccard")),
    )
    assert trained["metric"] == "f1"
    assert {row["metric"] for row in result["rows"]} == {"f1"}
    assert all(0 < row["low"] <= row["value"] <= row["high"] < 1 for row in result["rows"])
    table = comparison(workspace, project.id)
    assert table.metric == "f1"
    assert np.isfinite(table.rows["value"]).all()
