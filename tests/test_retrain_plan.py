"""Retrain the labeler with people's decisions, label again, train the same student: the plan, and the whole of it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from augsbert_core import jobs
from augsbert_core.cli import main
from augsbert_core.errors import WorkbenchError
from augsbert_core.options import (
    BatchOptions,
    BiEncoderOptions,
    CrossEncoderOptions,
    KeepOptions,
    LabelOptions,
    SampleOptions,
)
from augsbert_core.steps.batch import check_batch
from augsbert_core.steps.compare import comparison
from augsbert_core.steps.plans import retrain
from augsbert_core.steps.plans.estimate import estimated_seconds
from augsbert_core.steps.plans.retrain import plan_words, retraining, unplanned_text
from augsbert_core.steps.relabelled import outcome, relabelled
from augsbert_core.storage import runs, silver_bins, silver_sets
from augsbert_core.storage.database import Workspace, reading, writing
from augsbert_core.storage.edits import Scope, edit_log
from augsbert_core.storage.records import Project
from augsbert_core.storage.reviews import review_silver_pair
from tests.pages.seeding import finished_run, silver_set, student
from tests.tiny import tiny_bert


def keys(plan: BatchOptions) -> list[str]:
    return [run.key for run in plan.runs]


def told(plan: BatchOptions, key: str) -> dict[str, Any]:
    return json.loads(next(run.options for run in plan.runs if run.key == key))


def decide(workspace: Workspace, set_id: int, **changes: Any) -> list[int]:
    """Correct the two highest pairs of a set, accept the next; returns the ids of its pairs, highest first."""
    with reading(workspace) as db:
        rows = db.execute(
            "SELECT id FROM silver_pair WHERE silver_set_id = ? ORDER BY score DESC, id", [set_id]
        )
        pairs = [row[0] for row in rows]
    for pair_id in pairs[:2]:
        review_silver_pair(workspace, pair_id, correction=0.05, status="corrected", actor="Ada")
    review_silver_pair(workspace, pairs[2], status="accepted", actor="Ada")
    return pairs


def test_the_plan_takes_labeler_labelling_and_student_as_they_were(
    workspace: Workspace, project: Project
) -> None:
    set_id = silver_set(workspace, project)
    decide(workspace, set_id)
    student_id = student(workspace, project, silver_set_id=set_id, learning_rate=3e-4)
    plan = retrain(workspace, project, set_id)
    found = silver_sets.get_silver_set(workspace, set_id)
    assert plan.kind == "retrain"
    assert keys(plan) == ["labeler", "silver", "student", "measured"]
    labeler = told(plan, "labeler")
    assert labeler == json.loads(json.dumps(labeler)) | {"corrections_of": set_id}
    assert labeler["base"] == CrossEncoderOptions().base
    label = told(plan, "silver")
    assert label["labeler"] == "run:{labeler.run_id}"
    assert (label["candidate_set_id"], label["decisions_from"]) == (found.candidate_set_id, set_id)
    assert told(plan, "student")["learning_rate"] == 3e-4
    assert told(plan, "student")["silver_set_id"] == "{silver.silver_set_id}"
    targets = told(plan, "measured")["targets"]
    assert {"run:{labeler.run_id}", f"run:{found.labeler_run_id}", f"run:{student_id}"} <= set(
        targets
    )
    assert [known.run_id for known in plan.known] == [found.labeler_run_id, student_id]
    check_batch(workspace, project, plan)
    words = " ".join(plan_words(retraining(workspace, project, set_id)))
    assert "2 corrected and 1 accepted pairs" in words
    assert f"the student of run {student_id} again" in words
    assert estimated_seconds(workspace, project, plan) > 0


def test_without_a_student_the_labelers_alone_are_compared(
    workspace: Workspace, project: Project
) -> None:
    set_id = silver_set(workspace, project)
    decide(workspace, set_id)
    plan = retrain(workspace, project, set_id, seed=7)
    assert keys(plan) == ["labeler", "silver", "measured"]
    assert {told(plan, key)["seed"] for key in keys(plan)} == {7}
    assert any("No student" in note for note in plan.notes)


def test_every_run_is_told_and_epochs_and_student_can_be_chosen(
    workspace: Workspace, project: Project
) -> None:
    set_id = silver_set(workspace, project)
    decide(workspace, set_id)
    student(workspace, project, silver_set_id=set_id)
    start = retraining(workspace, project, set_id)
    plan = retrain(workspace, project, set_id)
    assert len(plan_words(start)) == len(plan.runs) == 4
    assert "Measure the labelers and students before and after" in plan_words(start)[-1]
    fast = retrain(workspace, project, set_id, epochs=1, with_student=False)
    assert keys(fast) == ["labeler", "silver", "measured"]
    assert (told(fast, "labeler")["epochs"], told(fast, "labeler")["max_steps"]) == (1, None)
    words = plan_words(start, epochs=1, with_student=False)
    assert len(words) == 3
    assert "for 1 epoch." in words[0]
    assert unplanned_text(start, with_student=False) == "No student is trained."
    assert any("as asked" in note for note in fast.notes)


def test_pairs_that_gold_holds_are_said_to_be_left_out(
    workspace: Workspace, project: Project
) -> None:
    set_id = silver_set(workspace, project)
    pairs = decide(workspace, set_id)
    with writing(workspace) as db:
        db.execute(
            "INSERT INTO gold_pair (project_id, run_id, sentence1_id, sentence2_id, score, raw_score, split,"
            " source_file, source_line) SELECT ?, (SELECT min(run_id) FROM gold_pair), sentence1_id, sentence2_id, 1,"
            " 5, 'train', 'later.csv', 1 FROM silver_pair WHERE id = ?",
            [project.id, pairs[2]],
        )
    start = retraining(workspace, project, set_id)
    assert (start.n_corrected, start.n_accepted, start.n_known) == (2, 0, 1)
    said = "1 corrected or accepted pair more is left out: 1 is gold already."
    assert said in plan_words(start)[0]
    assert said in retrain(workspace, project, set_id).notes[0]


def test_a_kept_set_is_kept_again_by_its_rule(workspace: Workspace, project: Project) -> None:
    pool = silver_set(workspace, project)
    with reading(workspace) as db:
        ids = [row[0] for row in db.execute("SELECT id FROM silver_pair")]
    import numpy as np

    options = KeepOptions(pool, rule="kde", c=0.5)
    run_id = finished_run(workspace, project, "keep", options)
    kept = silver_sets.add_kept_set(
        workspace, project.id, run_id, pool, rule="kde", pair_ids=np.array(ids[:5])
    )
    decide(workspace, kept)
    student(workspace, project, silver_set_id=kept)
    plan = retrain(workspace, project, kept)
    assert keys(plan) == ["labeler", "silver", "kept", "student", "measured"]
    assert (told(plan, "kept")["c"], told(plan, "kept")["silver_set_id"]) == (
        0.5,
        "{silver.silver_set_id}",
    )
    assert told(plan, "student")["silver_set_id"] == "{kept.silver_set_id}"


def test_nothing_to_learn_from_is_refused(workspace: Workspace, project: Project) -> None:
    set_id = silver_set(workspace, project)
    with pytest.raises(WorkbenchError, match="no corrected or accepted pair"):
        retrain(workspace, project, set_id)
    with pytest.raises(WorkbenchError, match="There is no silver set 77"):
        retrain(workspace, project, 77)


@pytest.fixture
def run(workspace: Workspace, project: Project) -> Callable[[str, object], dict[str, Any]]:
    return lambda step, options: jobs.run_in_foreground(workspace, project.id, step, options)


def test_the_whole_loop_runs_and_ends_in_a_comparison(
    workspace: Workspace,
    project: Project,
    run: Callable[[str, object], dict[str, Any]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    base = tiny_bert(tmp_path / "base")
    cross = CrossEncoderOptions(base=base, epochs=2, batch_size=4, warm_start="off", hidden=8)
    labeler = run("train-cross-encoder", cross)
    chosen = run("sample", SampleOptions(strategy="random", n_pairs=12))
    labelled = run(
        "label",
        LabelOptions(chosen["candidate_set_id"], f"run:{labeler['run_id']}", both_orders=True),
    )
    old = labelled["silver_set_id"]
    before = run(
        "train-bi-encoder",
        BiEncoderOptions(base=base, layers=1, silver_set_id=old, epochs=1, batch_size=4),
    )
    pairs = decide(workspace, old)
    review_silver_pair(workspace, pairs[3], status="rejected", actor="Ada")

    result = run("batch", retrain(workspace, project, old, device="cpu"))

    children = {child["key"]: child for child in result["summary"]["rows"]}
    new_labeler = runs.get_run(workspace, children["labeler"]["run_id"])
    assert json.loads(new_labeler.options) == json.loads(
        runs.get_run(workspace, labeler["run_id"]).options
    ) | {"corrections_of": old, "device": "cpu"}
    assert new_labeler.metrics["n_corrections"] == 3
    assert new_labeler.metrics["n_gold"] == 5 + 3
    new = max(one.id for one in silver_sets.list_silver_sets(workspace, project.id))
    made = silver_sets.get_silver_set(workspace, new)
    assert (made.n_pairs, made.labeler_run_id) == (12, new_labeler.id)
    assert made.passes_per_pair == 2
    counts = silver_bins.silver_status_counts(workspace, new)
    assert counts["rejected"] == 1
    # An accepted score that the new labeler does not give is a correction now.
    assert counts["corrected"] + counts["accepted"] == 3
    (edit,) = edit_log(workspace, Scope.silver(new))
    assert edit.actor == f"carried over from silver set {old}"
    student_run = runs.get_run(workspace, children["student"]["run_id"])
    assert json.loads(student_run.options)["silver_set_id"] == new
    groups = {group["group"]: group for group in result["summary"]["groups"]}
    for name in (
        "Labeler before", "Labeler with corrections", "Student before", "Student of the new labels",
    ):  # fmt: skip
        assert name in groups
    assert children[f"run:{before['run_id']}"]["test_score"] is not None
    names = comparison(workspace, project.id).rows["name"].tolist()
    assert any(f"corrections of silver set {old}" in name for name in names)

    found = relabelled(workspace, old, new)
    assert found.n_pairs == 12
    assert (found.n_corrected, found.n_used) == (2, 2)
    word, sentences = outcome(found)
    assert word == "unknown"
    assert "All 2 corrected pairs were used for training" in sentences

    # What is corrected after the training was not used for it.
    for pair_id in pairs[5:9]:
        _correct_later(workspace, pair_id)
    found = relabelled(workspace, old, new)
    assert (found.n_corrected, found.n_used) == (6, 2)
    assert found.corrections.n == 4

    told_home = ["--home", str(workspace.home)]
    with pytest.raises(SystemExit) as ended:
        main([*told_home, "relabelled", str(old), str(new), "--json"])
    assert ended.value.code == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["n_pairs"], shown["n_used"], shown["corrections"]["n"]) == (12, 2, 4)
    assert len(shown["changes"]) == 10


def _correct_later(workspace: Workspace, pair_id: int) -> None:
    """A correction of tomorrow."""
    review_silver_pair(workspace, pair_id, correction=0.9, status="corrected", actor="Ada")
    with writing(workspace) as db:
        db.execute(
            "UPDATE edit SET at = '2999-01-01T00:00:00+00:00' WHERE id ="
            " (SELECT max(edit_id) FROM edit_change WHERE pair_id = ?)",
            [pair_id],
        )


def test_the_command_queues_the_plan(
    workspace: Workspace, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    set_id = silver_set(workspace, project)
    decide(workspace, set_id)
    told_home = ["--home", str(workspace.home)]
    with pytest.raises(SystemExit) as ended:
        main([*told_home, "retrain", str(set_id), "--no-wait", "--json"])
    assert ended.value.code == 0
    assert json.loads(capsys.readouterr().out)["n_runs"] == 3
