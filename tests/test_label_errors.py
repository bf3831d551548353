"""Likely label errors in gold: models that have not seen a pair disagree with its score."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from augsbert_core import jobs
from augsbert_core.cli import app
from augsbert_core.errors import Stopped, WorkbenchError
from augsbert_core.metrics.folds import grouped_folds
from augsbert_core.models import cross_encoder
from augsbert_core.options import ImportOptions, LabelErrorsOptions
from augsbert_core.pairs import pair_codes
from augsbert_core.steps import STEPS
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.import_data import import_file
from augsbert_core.steps.label_errors import ranked_errors
from augsbert_core.storage import out_of_fold, projects, runs
from augsbert_core.storage.database import open_workspace
from tests.tiny import WORDS, tiny_bert

WRONG = (3, 25, 47, 68, 90, 111)
N_TRAIN, N_DEV = 120, 20


def easy_csv(wrong=WRONG):
    """Pairs that are alike when the first sentence says "red", and not when it says "blue"; some scored upside down."""
    rng = np.random.default_rng(4)
    lines = ["sentence1,sentence2,score,split"]
    for number in range(N_TRAIN + N_DEV):
        red = bool(rng.random() < 0.5)
        words = [" ".join(rng.choice(WORDS[:10], 3)) for _ in range(2)]
        score = 5 * (red != (number in wrong))
        split = "train" if number < N_TRAIN else "dev"
        lines.append(
            f"{'red red' if red else 'blue blue'} {words[0]} n{number},{words[1]} m{number},{score},{split}"
        )
    return "\n".join(lines).encode()


def options(base, **changes):
    told = LabelErrorsOptions(folds=3, base=base, epochs=8, batch_size=8, learning_rate=3e-3, device="cpu")  # fmt: skip
    return replace(told, **changes)


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """A project with six wrong scores among 120 that were easy to give, and a finished search."""
    home = tmp_path_factory.mktemp("searched")
    base = tiny_bert(home / "bert", [" ".join(WORDS)])
    workspace = open_workspace(home / "home")
    made = projects.create_project(workspace, "Easy")
    import_file(workspace, made.id, easy_csv(), "easy.csv", ImportOptions(score_range=(0.0, 5.0)))
    project = projects.get_project(workspace, made.id)
    told = []
    result = jobs.run_in_foreground(
        workspace, project.id, "label-errors", options(base), lambda share, *_: told.append(share)
    )
    return workspace, project, base, result, told


def test_planted_errors_rank_above_other_pairs(searched):
    workspace, _, _, result, _ = searched
    found = ranked_errors(workspace, runs.get_run(workspace, result["run_id"]))
    assert len(found) == N_TRAIN + N_DEV
    wrong = {f" n{number}" for number in WRONG}
    ranks = [
        rank
        for rank, text in enumerate(found["sentence1"])
        if any(text.endswith(mark) for mark in wrong)
    ]
    assert sum(rank < len(WRONG) for rank in ranks) >= len(WRONG) - 1
    assert max(ranks) < 12
    assert found["gap"].is_monotonic_decreasing
    np.testing.assert_allclose(found["gap"], np.abs(found["gold_score"] - found["expected"]))


def test_the_run_says_what_it_did_and_keeps_no_model(searched):
    workspace, project, _, result, told = searched
    assert result["n_pairs"] == N_TRAIN
    assert result["n_scored"] == N_TRAIN + N_DEV
    assert result["folds"] == 3
    assert result["spearman"] > 0.5
    assert result["notices"] == []
    assert told == sorted(told)
    run = out_of_fold.newest_search(workspace, project.id)
    assert run.id == result["run_id"]
    assert not list(workspace.run_folder(run.id).iterdir())
    scores = out_of_fold.read_scores(workspace, run)
    by_split = scores.groupby("split")["fold"].agg(set).to_dict()
    assert by_split == {"train": {1, 2, 3}, "dev": {out_of_fold.WITHOUT_FOLD}}


def test_the_command_prints_and_writes_the_ranked_pairs(searched, tmp_path):
    workspace, _, _, result, _ = searched
    target = tmp_path / "doubtful.csv"
    arguments = ["--home", str(workspace.home), "label-errors", "-p", "Easy", "--last"]
    done = CliRunner().invoke(app, [*arguments, "--top", "3", "--csv", str(target)])
    assert done.exit_code == 0, done.output
    assert "140 gold pairs scored by models that had not seen them" in done.output
    rows = list(csv.DictReader(target.read_text("utf-8-sig").splitlines()))
    assert len(rows) == N_TRAIN + N_DEV
    assert rows[0]["sentence1"] in done.output
    assert rows[3]["sentence1"] not in done.output
    assert float(rows[0]["apart"]) == pytest.approx(
        abs(float(rows[0]["gold"]) - float(rows[0]["expected"])), abs=0.01
    )
    told = json.loads(CliRunner().invoke(app, [*arguments, "--json", "--top", "2"]).output)
    assert told["run_id"] == result["run_id"]
    assert [pair["rank"] for pair in told["pairs"]] == [1, 2]
    again = CliRunner().invoke(app, [*arguments, "--csv", str(target)])
    assert "exists already" in str(again.exception)


class Interrupted(Exception):
    """Stands for a power cut."""


def test_a_search_goes_on_fold_by_fold(searched, monkeypatch):
    workspace, project, base, _, _ = searched
    told = options(base, epochs=1, seed=7)
    run_id = runs.add_run(workspace, project.id, "label-errors", "again", "{}", 7)
    context = StepContext(workspace, project, runs.get_run(workspace, run_id))
    train = cross_encoder.train_cross_encoder
    calls = []

    def counted(*arguments, **named):
        calls.append(1)
        if len(calls) == 2:
            raise Interrupted
        return train(*arguments, **named)

    monkeypatch.setattr(cross_encoder, "train_cross_encoder", counted)
    with pytest.raises(Interrupted):
        STEPS["label-errors"].function(context, told)
    before = out_of_fold.read_scores(workspace, context.run)
    assert set(before["fold"]) == {1}
    STEPS["label-errors"].function(context, told)
    assert len(calls) == 4  # one that was finished, one that broke, and the two that were missing
    after = out_of_fold.read_scores(workspace, context.run)
    merged = before.merge(after, on="gold_pair_id", suffixes=("_before", "_after"))
    np.testing.assert_array_equal(merged["model_score_before"], merged["model_score_after"])
    assert len(after) == N_TRAIN + N_DEV


def test_stopping_is_heeded_between_folds(searched):
    workspace, project, base, _, _ = searched
    run_id = runs.add_run(workspace, project.id, "label-errors", "stopped", "{}", 1)
    context = StepContext(
        workspace, project, runs.get_run(workspace, run_id), should_stop=lambda: True
    )
    with pytest.raises(Stopped):
        STEPS["label-errors"].function(context, options(base))


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"folds": 1}, "The number of folds is 1"),
        ({"folds": 5}, "there are 5. With 5 folds it takes 10 or more"),
        ({"epochs": 0, "folds": 2}, "there are 5"),
    ],
)
def test_what_cannot_be_done_is_said_before(workspace, project, told, message):
    with pytest.raises(WorkbenchError, match=message):
        STEPS["label-errors"].check(workspace, project, LabelErrorsOptions(**told))


# --- folds ----------------------------------------------------------------------------------------


def test_no_sentence_is_in_two_folds_where_that_can_be_done():
    rng = np.random.default_rng(1)
    cluster = rng.integers(0, 40, size=200)
    first = cluster * 10 + rng.integers(0, 5, size=200)
    second = cluster * 10 + rng.integers(5, 10, size=200)
    found = grouped_folds(first, second, 5, np.random.default_rng(2))
    assert found.by == "sentences"
    homes = {}
    for fold, *sentences in zip(found.fold.tolist(), first.tolist(), second.tolist(), strict=True):
        for sentence in sentences:
            assert homes.setdefault(sentence, fold) == fold
    sizes = np.bincount(found.fold)
    assert len(sizes) == 5
    assert sizes.max() - sizes.min() <= 6


def test_a_sentence_that_connects_all_pairs_splits_them_pair_by_pair():
    first, second = np.zeros(30, dtype=int), np.repeat(np.arange(1, 16), 2)
    found = grouped_folds(first, second, 3, np.random.default_rng(2))
    assert (found.by, found.largest) == ("pairs", 1.0)
    assert np.bincount(found.fold).tolist() == [10, 10, 10]
    codes = pair_codes(first, second)
    assert all(len(set(found.fold[codes == code])) == 1 for code in codes)
    with pytest.raises(ValueError, match="30 pairs cannot be dealt into 31 folds"):
        grouped_folds(first, second, 31, np.random.default_rng(2))


def test_scores_outside_train_are_means_but_for_pairs_that_train_has_too(workspace):
    from augsbert_core.steps.label_errors import _means, _plan

    made = projects.create_project(workspace, "Leaky")
    rows = [f"a{i},b{i},{i % 6},train" for i in range(12)]
    rows += ["b3,a3,4,test", "c,d,1,test"]
    csv = "sentence1,sentence2,score,split\n" + "\n".join(rows)
    import_file(workspace, made.id, csv.encode(), "g.csv", ImportOptions(score_range=(0.0, 5.0)))
    plan = _plan(workspace, projects.get_project(workspace, made.id), LabelErrorsOptions(folds=3))
    others = np.array([[0.1, 0.1], [0.2, 0.2], [0.6, 0.6]])
    _, scores = _means(plan, others)
    home = plan.folds.fold[3]
    assert scores.tolist() == pytest.approx([others[home, 0], 0.3])
    assert plan.folds.by == "sentences"
