"""Scores of pairs by each kind of model, and what the evaluate and transfer steps make of them."""

import sys
from pathlib import Path

import numpy as np
import pytest

from augsbert_core import metrics
from augsbert_core.errors import Stopped, WorkbenchError
from augsbert_core.metrics import jaccard
from augsbert_core.models.catalog import load_bi_encoder
from augsbert_core.models.evaluation import embed_texts, score_pairs
from augsbert_core.models.labeling import LabelerPart
from augsbert_core.models.mteb_tasks import check_mteb
from augsbert_core.options import EvaluateOptions, ImportOptions, TransferOptions, to_json
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.evaluate import check_evaluation, evaluate
from augsbert_core.steps.import_data import import_file
from augsbert_core.steps.targets import parse_target
from augsbert_core.steps.transfer import check_transfer, transfer
from augsbert_core.storage import evaluations, gold, projects, runs
from augsbert_core.storage.database import Workspace, writing
from augsbert_core.storage.labelled_texts import read_labelled_texts
from augsbert_core.storage.records import Project
from tests.tiny import tiny_bert, tiny_cross_encoder, tiny_texts

FIRST, SECOND = tiny_texts(50, 1), tiny_texts(50, 2)


@pytest.fixture(scope="module")
def bert(tmp_path_factory) -> str:
    return tiny_bert(tmp_path_factory.mktemp("bert"))


def test_a_bi_encoder_gives_the_cosine_of_its_embeddings(bert):
    model = load_bi_encoder(bert, "cpu")
    a, b = (model.encode(texts, normalize_embeddings=True) for texts in (FIRST, SECOND))
    cosines = score_pairs("bi_encoder", bert, (FIRST, SECOND), device="cpu")
    np.testing.assert_allclose(cosines, (a * b).sum(axis=1), atol=1e-5)


def test_a_sentence_is_as_like_itself_as_can_be(bert):
    cosines = score_pairs("bi_encoder", bert, (FIRST, FIRST), device="cpu")
    np.testing.assert_allclose(cosines, 1.0, atol=1e-6)


def test_a_shortened_model_scores_differently(bert):
    whole = score_pairs("bi_encoder", bert, (FIRST, SECOND), device="cpu")
    short = score_pairs("bi_encoder", bert, (FIRST, SECOND), device="cpu", layers=1)
    assert not np.allclose(whole, short, atol=1e-3)


def test_a_cross_encoder_gives_scores_between_0_and_1(tmp_path):
    name = tiny_cross_encoder(tmp_path)
    reports: list[float] = []
    scores = score_pairs(
        "cross_encoder",
        name,
        (FIRST, SECOND),
        device="cpu",
        report=lambda fraction, *rest: reports.append(fraction),
    )
    assert scores.shape == (50,)
    assert ((scores > 0) & (scores < 1)).all()
    assert reports[0] == 0.0
    assert reports[-1] == 1.0


def test_word_overlap_needs_no_model():
    overlap = score_pairs("jaccard", None, (FIRST, SECOND), device="cpu")
    assert np.array_equal(overlap, jaccard(FIRST, SECOND))


def test_no_pairs_give_no_scores(bert):
    assert score_pairs("bi_encoder", bert, ([], []), device="cpu").shape == (0,)


def test_stopping_is_heard(bert):
    with pytest.raises(Stopped):
        score_pairs("bi_encoder", bert, (FIRST, SECOND), device="cpu", should_stop=lambda: True)


def test_an_unknown_kind_is_a_programming_error():
    with pytest.raises(ValueError, match="kind"):
        score_pairs("oracle", None, ([], []), device="cpu")


def test_a_labeler_is_the_mean_of_its_parts(bert, tmp_path):
    name = tiny_cross_encoder(tmp_path)
    alone = score_pairs("cross_encoder", name, (FIRST, SECOND), device="cpu")
    twice = (LabelerPart(name), LabelerPart(name))
    mean = score_pairs("labeler", None, (FIRST, SECOND), device="cpu", parts=twice)
    np.testing.assert_allclose(mean, alone, atol=1e-5)


# --- the step -------------------------------------------------------------------------------------------


def project_of(workspace: Workspace, task: str) -> Project:
    """30 pairs in each split; in classification the positive ones share a word, and a third is positive."""
    made = projects.create_project(workspace, task, task=task)
    rng = np.random.default_rng(0)
    for split in ("train", "dev", "test"):
        rows = []
        for number, (first, second) in enumerate(
            zip(tiny_texts(30, 3), tiny_texts(30, 4), strict=True)
        ):
            score = float(number % 3 == 0) if task == "classification" else rng.random()
            shared = f" {split} {number}" if score > 0.5 else f" {number}"
            rows.append(f"{split} {first}{shared}\t{second} {number}{shared}\t{score:.3f}\n")
        options = ImportOptions(score_range=(0.0, 1.0), split=split, task=task)
        text = "sentence1\tsentence2\tscore\n" + "".join(rows)
        import_file(workspace, made.id, text.encode(), split, options)
    return projects.get_project(workspace, made.id)


def context_of(workspace: Workspace, project: Project, step: str, options: object) -> StepContext:
    run = runs.add_run(workspace, project.id, step, step, to_json(options), 42)
    return StepContext(workspace, project, runs.get_run(workspace, run))


def measured(workspace: Workspace, project: Project, *targets: str, split: str = "test") -> dict:
    """What the step stores about targets, by target."""
    options = EvaluateOptions(targets=targets, split=split)
    evaluate(context_of(workspace, project, "evaluate", options), options)
    return {
        one["target"]: one for one in evaluations.list_evaluations(workspace, project.id, split)
    }


def test_regression_has_pearson_and_distances_besides(workspace: Workspace) -> None:
    project = project_of(workspace, "regression")
    found = measured(workspace, project, "jaccard", "majority")
    pairs = gold.scored_pairs(workspace, project.id, "test")
    overlap = jaccard(pairs.sentences1, pairs.sentences2)
    assert found["jaccard"]["value"] == pytest.approx(metrics.spearman(pairs.scores, overlap))
    assert found["jaccard"]["details"] == {
        "pearson": pytest.approx(metrics.pearson(pairs.scores, overlap)),
        "mse": pytest.approx(np.mean((overlap - pairs.scores) ** 2)),
        "mae": pytest.approx(np.mean(np.abs(overlap - pairs.scores))),
    }
    mean = gold.scored_pairs(workspace, project.id, "train").scores.mean()
    majority = found["majority"]
    assert majority["value"] is None, "a constant orders nothing"
    assert majority["details"]["pearson"] is None
    assert majority["details"]["mse"] == pytest.approx(np.mean((mean - pairs.scores) ** 2))


def test_classification_chooses_its_thresholds_on_dev(workspace: Workspace) -> None:
    project = project_of(workspace, "classification")
    found = measured(workspace, project, "jaccard", "majority")
    dev, test = (gold.scored_pairs(workspace, project.id, split) for split in ("dev", "test"))
    on_dev, on_test = (jaccard(pairs.sentences1, pairs.sentences2) for pairs in (dev, test))
    _, threshold = metrics.f1_best_threshold(dev.scores, on_dev)
    one = found["jaccard"]
    assert one["threshold"] == pytest.approx(threshold)
    assert one["value"] == pytest.approx(metrics.f1_at(test.scores, on_test, threshold))
    details = one["details"]
    assert details["accuracy"] == pytest.approx(
        metrics.accuracy_at(test.scores, on_test, threshold)
    )
    assert details["auc05"] == pytest.approx(metrics.auc_at(test.scores, on_test))
    assert details["average_precision"] == pytest.approx(
        metrics.average_precision(test.scores, on_test)
    )
    curve = details["dev_curve"]
    assert max(curve["f1"]) == pytest.approx(metrics.f1_at(dev.scores, on_dev, threshold), abs=1e-6)

    majority = found["majority"]
    assert majority["value"] == 0.0, "two thirds are negative, so it finds no positive pair"
    assert majority["details"]["accuracy"] == pytest.approx(2 / 3)


def test_a_run_of_another_project_is_measured_on_this_one(workspace: Workspace, bert: str) -> None:
    source, target = project_of(workspace, "regression"), projects.create_project(workspace, "News")
    text = "sentence1,sentence2,score\na man eats,a man is eating,0.9\na dog,a cat,0.3\na car,a red car,0.7\n"
    import_file(
        workspace, target.id, text.encode(), "t", ImportOptions(score_range=(0, 1), split="test")
    )
    run = runs.add_run(workspace, source.id, "train-bi-encoder", "source", "{}", 42)
    runs.update_run(workspace, run, model_path=bert)
    with writing(workspace) as db:
        db.execute("UPDATE run SET state = 'done' WHERE id = ?", [run])
    found = measured(workspace, projects.get_project(workspace, target.id), f"run:{run}")
    assert found[f"run:{run}"]["target_run_id"] == run
    assert found[f"run:{run}"]["n_pairs"] == 3


def test_triplets_are_judged_by_the_way(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = project_of(workspace, "regression")
    rows = "anchor,positive,negative\n" + "".join(
        f"red car {i},red car {i} here,blue sea {i}\n"
        if i % 4
        else f"red {i},sea {i + 100},red {i} car\n"
        for i in range(8)
    )
    import_file(workspace, project.id, rows.encode(), "t", ImportOptions(kind="triplets"))
    found = measured(workspace, project, "jaccard")
    assert found["jaccard"]["details"]["triplet_accuracy"] == pytest.approx(6 / 8)
    assert found["jaccard"]["details"]["n_triplets"] == 8

    monkeypatch.setattr(sys.modules[evaluate.__module__], "MOST_TRIPLETS", 5)
    options = EvaluateOptions(targets=("jaccard",))
    result = evaluate(context_of(workspace, project, "evaluate", options), options)
    assert result["rows"][0]["details"]["n_triplets"] == 5
    assert "5 of 8 triplets" in result["notices"][0]


def test_a_target_is_read_or_refused(workspace: Workspace) -> None:
    project = project_of(workspace, "regression")
    assert parse_target(workspace, project, "cross:a/b").kind == "cross_encoder"
    assert parse_target(workspace, project, "model:a/b@layers=2").layers == 2
    assert parse_target(workspace, project, "majority").kind == "majority"
    with pytest.raises(WorkbenchError, match="not something to evaluate"):
        parse_target(workspace, project, "bert")
    with pytest.raises(WorkbenchError, match="no run 98"):
        check_evaluation(workspace, project, EvaluateOptions(targets=("run:99 + run:98",)))


# --- transfer -------------------------------------------------------------------------------------------


def test_frozen_embeddings_are_tried_on_labelled_texts(
    workspace: Workspace, bert: str, tmp_path: Path
) -> None:
    project = projects.create_project(workspace, "P")
    path = tmp_path / "topics.csv"
    texts = [("a red car", "car"), ("the sea is blue", "sea"), ("my dog sleeps", "dog")]
    path.write_text(
        "text,label\n"
        + "".join(f"{text} {i},{label}\n" for i in range(12) for text, label in texts)
    )
    options = TransferOptions((f"model:{bert}",), str(path), folds=3)
    found = transfer(context_of(workspace, project, "transfer", options), options)
    assert (found["n_texts"], found["n_classes"], found["folds"]) == (36, 3, 3)
    (row,) = found["rows"]
    assert row["accuracy"] > 0.9, "even random weights tell these words apart"
    assert row["majority"] == pytest.approx(1 / 3)
    assert embed_texts(bert, ["a", "b"], device="cpu").shape == (2, 32)

    with pytest.raises(WorkbenchError, match="Use 2 to 12 folds"):
        check_transfer(workspace, project, TransferOptions((f"model:{bert}",), str(path), folds=50))
    with pytest.raises(WorkbenchError, match="has no embeddings"):
        check_transfer(workspace, project, TransferOptions(("jaccard",), str(path)))


def test_labelled_texts_are_read_with_their_splits(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("split\tsentence\tclass\ntrain\tgood\t1\nvalidation\tbad\t0\ntest\tfine\t1\n")
    found = read_labelled_texts(path)
    assert found.texts == ["good", "bad", "fine"]
    assert found.labels == ["1", "0", "1"]
    assert found.splits == ["train", "dev", "test"]
    path.write_text("sentence\tclass\ngood\t1\n\t0\n")
    with pytest.raises(WorkbenchError, match="line 3"):
        read_labelled_texts(path)
    path.write_text("sentence\tclass\ngood\t1\nbad\t1\n")
    with pytest.raises(WorkbenchError, match="Two classes"):
        read_labelled_texts(path)


def test_without_mteb_one_sentence_says_how_to_get_it() -> None:
    with pytest.raises(WorkbenchError, match=r"MTEB is not installed.*augsbert-workbench\[mteb\]"):
        check_mteb()
