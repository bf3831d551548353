"""A run carried out again: the same weights, scores and pairs, or a plain word on what has changed."""

import numpy as np
import pytest

from augsbert_core import jobs
from augsbert_core.errors import Stopped, WorkbenchError
from augsbert_core.models.inspection import compare_weights
from augsbert_core.options import (
    BiEncoderOptions,
    EvaluateOptions,
    ImportOptions,
    LabelOptions,
    ReproduceOptions,
    SampleOptions,
)
from augsbert_core.options.exporting import AGAIN
from augsbert_core.progress import never, silent
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.import_data import import_file
from augsbert_core.steps.reproduce import reproduce, reproduce_options, sentence
from augsbert_core.storage import batches, runs
from augsbert_core.storage.database import Workspace, writing
from augsbert_core.storage.records import Project
from tests.conftest import GOLD_CSV
from tests.tiny import tiny_bert, tiny_cross_encoder


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny_bert(tmp_path_factory.mktemp("base"), GOLD_CSV.splitlines())


def do(workspace: Workspace, project: Project, step: str, options: object) -> dict:
    return jobs.run_in_foreground(workspace, project.id, step, options)


def student(base: str) -> BiEncoderOptions:
    return BiEncoderOptions(base=base, epochs=2, batch_size=2, max_length=32)


def again(workspace: Workspace, project: Project, run_id: int) -> dict:
    return do(workspace, project, "reproduce", reproduce_options(workspace, run_id))


def test_a_training_gives_the_same_weights_and_score(
    workspace: Workspace, project: Project, base: str
) -> None:
    first = do(workspace, project, "train-bi-encoder", student(base))["run_id"]
    found = again(workspace, project, first)
    new = runs.get_run(workspace, found["new_run_id"])
    assert (new.step, new.state, new.child_key) == ("train-bi-encoder", "done", AGAIN)
    assert new.parent_run_id == found["run_id"]
    assert new.options == runs.get_run(workspace, first).options
    assert found["weights"]["identical"]
    assert (found["score"], found["data_equal"], found["versions"]) == (0.0, True, {})
    assert "weights are identical. The dev score is the same." in found["sentence"]
    assert found["sentence"].endswith("Data and versions are the same.")


def test_changed_data_and_versions_are_named(
    workspace: Workspace, project: Project, base: str
) -> None:
    first = do(workspace, project, "train-bi-encoder", student(base))["run_id"]
    more = "sentence1,sentence2,score,split\nA new one.,A newer one.,3,train\n"
    import_file(
        workspace, project.id, more.encode(), "more.csv", ImportOptions(score_range=(0.0, 5.0))
    )
    with writing(workspace) as db:
        db.execute(
            "UPDATE run SET versions = json_set(versions, '$.torch', '1.0') WHERE id = ?", [first]
        )
    found = again(workspace, project, first)
    assert (found["data_equal"], found["gold_equal"]) == (False, False)
    assert not found["weights"]["identical"]
    assert 0 < found["weights"]["largest"] < 1
    assert "training data has changed since: the gold pairs" in found["sentence"]
    assert "torch 1.0 →" in found["sentence"]


def test_candidates_labels_and_measurements(
    workspace: Workspace, project: Project, tmp_path, base: str
) -> None:
    labeler = tiny_cross_encoder(tmp_path / "labeler", GOLD_CSV.splitlines())
    sampled = do(workspace, project, "sample", SampleOptions(strategy="random", n_pairs=8))
    told = LabelOptions(sampled["candidate_set_id"], labeler)
    labelled = do(workspace, project, "label", told)
    measured = do(workspace, project, "evaluate", EvaluateOptions(targets=("jaccard",)))

    found = again(workspace, project, sampled["run_id"])
    assert "The 8 candidate pairs are the same." in found["sentence"]
    found = again(workspace, project, labelled["run_id"])
    assert found["pairs"]["n_common"] == 8
    assert "The 8 silver pairs are the same. All their scores are the same." in found["sentence"]
    new = runs.get_run(workspace, found["new_run_id"])
    assert new.metrics["n_reused"] == 0, "scores that are taken over prove nothing"
    assert (
        "All measurements are the same."
        in again(workspace, project, measured["run_id"])["sentence"]
    )

    with writing(workspace) as db:
        db.execute(
            "UPDATE silver_pair SET score = min(score + 0.25, 1), final_score = min(score + 0.25, 1)"
            " WHERE silver_set_id = ?",
            [labelled["silver_set_id"]],
        )
    found = again(workspace, project, labelled["run_id"])
    assert 0 < found["pairs"]["largest"] <= 0.25 + 1e-6
    assert "scores differ, by up to" in found["sentence"]


def test_stopped_it_goes_on_with_the_run_that_it_had_begun(
    workspace: Workspace, project: Project, base: str
) -> None:
    first = do(workspace, project, "train-bi-encoder", student(base))["run_id"]
    options = ReproduceOptions(first)
    run_id = runs.add_run(workspace, project.id, "reproduce", "again", "{}", 1)
    context = StepContext(workspace, project, runs.get_run(workspace, run_id), "cpu", silent, never)
    asked = iter([False, False, False, True])
    stopping = StepContext(
        workspace, project, context.run, "cpu", silent, lambda: next(asked, True)
    )
    with pytest.raises(Stopped):
        reproduce(stopping, options)
    begun = batches.children(workspace, run_id)
    found = reproduce(context, options)
    assert [found["new_run_id"]] == [run.id for run in batches.children(workspace, run_id)]
    assert [run.id for run in begun] == [found["new_run_id"]]
    assert found["weights"]["identical"]
    assert reproduce(context, options)["new_run_id"] == found["new_run_id"], "done once"


def test_what_cannot_be_repeated_is_refused(workspace: Workspace, project: Project) -> None:
    run_id = runs.add_run(workspace, project.id, "train-bi-encoder", "t", "{}", 1)
    with pytest.raises(WorkbenchError, match="not finished"):
        again(workspace, project, run_id)
    run_id = runs.add_run(workspace, project.id, "import", "i", "{}", 1)
    with pytest.raises(WorkbenchError, match="cannot be reproduced"):
        again(workspace, project, run_id)
    with pytest.raises(WorkbenchError, match="no run 99"):
        again(workspace, project, 99)


def test_the_largest_difference_of_weights(tmp_path) -> None:
    from safetensors.numpy import save_file

    numbers = {"a": np.zeros((2, 3), np.float32), "b": np.ones(4, np.float32)}
    for name, change in (("one", 0.0), ("two", 0.5)):
        (tmp_path / name).mkdir()
        changed = {**numbers, "b": numbers["b"] + np.array([0, 0, 0, change], np.float32)}
        save_file(changed, tmp_path / name / "model.safetensors")
    found = compare_weights(tmp_path / "one", tmp_path / "two")
    assert (found.n_weights, found.n_different, found.largest) == (10, 1, 0.5)
    assert compare_weights(tmp_path / "one", tmp_path / "one").is_identical
    save_file({"a": numbers["a"]}, tmp_path / "two" / "model.safetensors")
    assert compare_weights(tmp_path / "one", tmp_path / "two").largest is None
    (tmp_path / "empty").mkdir()
    with pytest.raises(WorkbenchError, match="no weights"):
        compare_weights(tmp_path / "one", tmp_path / "empty")


def test_the_runs_of_a_batch_are_told_one_by_one(workspace: Workspace, project: Project) -> None:
    ids = [runs.add_run(workspace, project.id, "batch", "b", "{}", 1) for _ in range(2)]
    first, second = (runs.get_run(workspace, run_id) for run_id in ids)
    same = {"weights": None, "score": 0.0, "pairs": None, "measurements": None, "children": None}
    found = {
        **same, "score": None, "children": {"gold": same, "silver": {**same, "score": -0.01}},
        "data_equal": None, "gold_equal": None, "versions": {}, "devices": [None, None],
    }  # fmt: skip
    assert sentence(first, second, found) == (
        f"Run {first.id} was carried out again as run {second.id}. gold: The dev score is the same.; "
        "silver: The dev score differs by -1.00 points. Versions are the same."
    )
