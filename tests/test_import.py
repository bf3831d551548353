"""From a file's bytes to rows in the store."""

import sqlite3
from pathlib import Path

import pytest

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import ImportOptions
from augsbert_core.steps.import_data import import_file, plan_import
from augsbert_core.steps.import_plan import SourceFile, join_plans, read_source
from augsbert_core.steps.sample_project import open_sample_project
from augsbert_core.storage import candidates, gold, projects, sentences
from augsbert_core.storage.database import Workspace, reading
from augsbert_core.storage.records import Project
from tests.conftest import GOLD_CSV, STSB

FIVE = ImportOptions(score_range=(0.0, 5.0))


def bring_in(workspace: Workspace, project: Project, text: str, **options: object):
    chosen = ImportOptions(**{"score_range": (0.0, 5.0), **options})
    return import_file(workspace, project.id, text.encode(), "file.csv", chosen)


@pytest.fixture
def empty(workspace: Workspace) -> Project:
    return projects.create_project(workspace, "Empty")


def test_scores_are_scaled_by_the_declared_range_and_kept_raw(
    workspace: Workspace, project: Project
) -> None:
    page, total = gold.gold_page(workspace, project.id, gold.GoldFilter())
    assert total == 11
    assert page.loc[0, ["raw_score", "score"]].tolist() == [4.5, 0.9]
    assert (project.score_low, project.score_high, project.task) == (0.0, 5.0, "regression")


def test_the_direction_of_a_pair_is_kept_for_display(workspace: Workspace, empty: Project) -> None:
    text = "sentence1,sentence2,score\nfirst,second,1\nthird,first,2\n"
    bring_in(workspace, empty, text, split="train")
    pairs = gold.scored_pairs(workspace, empty.id, "train")
    assert pairs.sentences1 == ["first", "third"]
    assert pairs.sentences2 == ["second", "first"]


def test_every_row_is_kept_or_rejected_with_its_line(workspace: Workspace, empty: Project) -> None:
    text = "sentence1,sentence2,score\na,b,1\nc,,2\nd,e,9\nf,g,high\nNone,NA,5\n"
    report = bring_in(workspace, empty, text, split="train")
    assert (report.rows_read, report.pairs_kept) == (5, 2)
    assert [row.line for row in report.rejected] == [3, 4, 5]


def test_repeats_are_kept_and_counted_unless_a_policy_is_picked(
    workspace: Workspace, empty: Project
) -> None:
    text = "sentence1,sentence2,score\na,b,1\nb,a,3\nc,d,2\n"
    plan = plan_import(text.encode(), "f.csv", FIVE)
    assert (len(plan.rows), plan.repeats.n_rows_repeated, plan.repeats.n_conflicting) == (3, 1, 1)
    mean = plan_import(text.encode(), "f.csv", ImportOptions(score_range=(0, 5), repeats="mean"))
    assert [row.raw_score for row in mean.rows] == [2.0, 2.0]
    assert mean.collapsed == 1


def test_an_undeclared_range_is_offered_never_applied(workspace: Workspace, empty: Project) -> None:
    with pytest.raises(WorkbenchError, match="--score-range 0:5"):
        import_file(workspace, empty.id, GOLD_CSV.encode(), "gold.csv", ImportOptions())
    assert projects.count_project(workspace, empty.id).gold == 0


def test_a_second_file_must_have_the_scale_of_the_first(
    workspace: Workspace, project: Project
) -> None:
    text = "sentence1,sentence2,score\nx,y,0.4\n"
    with pytest.raises(WorkbenchError, match="0 to 5"):
        bring_in(workspace, project, text, score_range=(0.0, 1.0), split="train")


def test_the_same_file_does_not_come_in_twice(workspace: Workspace, project: Project) -> None:
    with pytest.raises(WorkbenchError, match="already"):
        import_file(workspace, project.id, GOLD_CSV.encode(), "other name.csv", FIVE)


def test_binary_scores_make_a_classification_project(workspace: Workspace, empty: Project) -> None:
    bring_in(workspace, empty, "q1,q2,label\na,b,1\nc,d,0\n", score_range=(0.0, 1.0), split="train")
    assert projects.get_project(workspace, empty.id).task == "classification"
    with pytest.raises(WorkbenchError, match="line 2"):
        bring_in(workspace, empty, "q1,q2,label\na,b,2\n", task="classification")


def test_random_splits_follow_the_ratios_and_the_seed(workspace: Workspace, empty: Project) -> None:
    text = "sentence1,sentence2,score\n" + "".join(f"a{i},b{i},1\n" for i in range(200))
    first = plan_import(text.encode(), "f.csv", FIVE)
    again = plan_import(text.encode(), "f.csv", FIVE)
    other = plan_import(text.encode(), "f.csv", ImportOptions(score_range=(0, 5), seed=7))
    assert first.splits == {"train": 160, "dev": 20, "test": 20}
    assert first.rows == again.rows
    assert first.rows != other.rows


def test_a_split_column_can_be_left_unread() -> None:
    own = plan_import(GOLD_CSV.encode(), "f.csv", FIVE)
    random = plan_import(
        GOLD_CSV.encode(), "f.csv", ImportOptions(score_range=(0, 5), split_column="")
    )
    assert own.splits == {"train": 5, "dev": 3, "test": 3}
    assert random.splits != own.splits
    assert sum(random.splits.values()) == 11


def test_an_import_that_fails_while_writing_leaves_nothing(
    workspace: Workspace, empty: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gold, "INSERT_SQL", gold.INSERT_SQL.replace("gold_pair", "no_such_table"))
    with pytest.raises(sqlite3.OperationalError):
        bring_in(workspace, empty, GOLD_CSV)
    with reading(workspace) as db:
        for table in ("gold_pair", "sentence", "run"):
            assert db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 0


def test_an_import_can_be_taken_back(workspace: Workspace, project: Project) -> None:
    report = bring_in(
        workspace,
        project,
        "sentence1,sentence2,score\nA cat sleeps on the sofa.,new,1\n",
        split="dev",
    )
    assert gold.remove_import(workspace, report.run_id) == 1
    assert projects.count_project(workspace, project.id).gold == 11
    _ids, texts = sentences.sampling_corpus(workspace, project.id, use_unlabelled=True)
    assert "new" not in texts
    assert "A cat sleeps on the sofa." in texts


def test_held_out_sentences_never_enter_the_corpus(workspace: Workspace, project: Project) -> None:
    bring_in(workspace, project, "sentence\nThe train is late.\nA new one.\n", kind="sentences")
    _, without = sentences.sampling_corpus(workspace, project.id, use_unlabelled=False)
    _, with_new = sentences.sampling_corpus(workspace, project.id, use_unlabelled=True)
    assert set(with_new) - set(without) == {"A new one."}
    assert "The train is late." not in with_new


def test_uploaded_pairs_become_candidates_without_gold_and_held_out_ones(
    workspace: Workspace, project: Project
) -> None:
    text = (
        "sentence1,sentence2\n"
        "Two dogs run across a field.,A boy plays the guitar.\n"  # new
        "A boy plays the guitar.,Two dogs run across a field.\n"  # repeated the other way round
        "A cat is asleep on the couch.,A cat sleeps on the sofa.\n"  # gold, the other way round
        "The train is late.,A new one.\n"  # a test sentence
        "same,same\n"
    )
    report = bring_in(workspace, project, text, kind="unlabelled-pairs")
    (made,) = candidates.list_candidate_sets(workspace, project.id)
    assert (report.rows_read, report.pairs_kept, made.n_pairs, made.strategy) == (
        5,
        1,
        1,
        "uploaded",
    )
    assert len(made.notices) == 4


def test_the_sample_project_is_made_once(workspace: Workspace) -> None:
    first = open_sample_project(workspace)
    counts = projects.count_project(workspace, first.id)
    assert (counts.train, counts.dev, counts.test) == (483, 160, 321)
    assert counts.unlabelled_sentences == 529
    assert open_sample_project(workspace) == first
    assert gold.gold_report(workspace, first.id).sentences_in_two_splits == 0


@pytest.mark.skipif(not STSB.is_dir(), reason="the STS Benchmark files are not beside the project")
@pytest.mark.parametrize(("split", "rows"), [("train", 5749), ("dev", 1500), ("test", 1379)])
def test_the_sts_benchmark_comes_in_whole(
    workspace: Workspace, empty: Project, split: str, rows: int
) -> None:
    data = Path(STSB / f"sts-{split}.tsv").read_bytes()
    report = import_file(
        workspace, empty.id, data, "sts.tsv", ImportOptions(score_range=(0, 5), split=split)
    )
    assert (report.rows_read, report.pairs_kept, len(report.rejected)) == (rows, rows, 0)
    if split == "train":
        assert (report.repeats.n_rows_repeated, report.repeats.n_conflicting) == (57, 13)


def test_a_second_import_is_held_against_the_splits_that_are_there(
    workspace: Workspace, project: Project
) -> None:
    text = "sentence1,sentence2,score\nThe train is late.,new,1\nfresh,other,2\n"
    told = {"score_range": (0.0, 5.0), "split": "train"}
    held = gold.split_keys(workspace, project.id)
    assert "The train is late." in held["test"]
    plan = join_plans(
        [read_source(SourceFile("b.csv", text.encode(), ImportOptions(**told)))], held
    )
    assert [(leak.earlier, leak.later, leak.rows_by_sentence) for leak in plan.held_leaks] == [
        ("train", "test", 1)
    ]
    report = import_file(
        workspace, project.id, text.encode(), "b.csv", ImportOptions(**told, leaks="sentences")
    )
    assert (report.pairs_kept, report.leaked) == (1, 1)
