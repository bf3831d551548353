"""The compare table: honest rows, fair baselines, a plain verdict."""

import numpy as np
import pytest

from augsbert_core.metrics import spearman
from augsbert_core.options import (
    BiEncoderOptions,
    CrossEncoderOptions,
    ImportOptions,
    to_json,
)
from augsbert_core.steps.compare import (
    Comparison,
    as_json_rows,
    comparison,
    equal_step_options,
    model_target,
)
from augsbert_core.steps.import_data import import_file
from augsbert_core.steps.models import run_number
from augsbert_core.steps.verdict import verdicts
from augsbert_core.storage import gold, projects, runs
from augsbert_core.storage.database import Workspace, writing
from augsbert_core.storage.records import Project

UNTRAINED = model_target("sentence-transformers/all-MiniLM-L6-v2", 2)


@pytest.fixture
def project(workspace: Workspace) -> Project:
    """60 training and 200 test pairs of one score range."""
    made = projects.create_project(workspace, "P", student_layers=2)
    rng = np.random.default_rng(0)
    for split, count in (("train", 60), ("test", 200)):
        rows = "".join(f"{split} a{i},{split} b{i},{rng.random():.4f}\n" for i in range(count))
        options = ImportOptions(score_range=(0.0, 1.0), split=split)
        import_file(
            workspace, made.id, f"sentence1,sentence2,score\n{rows}".encode(), split, options
        )
    return projects.get_project(workspace, made.id)


def add_student(workspace: Workspace, project: Project, *, silver: int | None, steps: int, **facts):
    told = {"seed": facts.pop("seed", 42), **facts.pop("told", {})}
    options = BiEncoderOptions(layers=2, silver_set_id=silver, **told)
    run_id = runs.add_run(
        workspace,
        project.id,
        "train-bi-encoder",
        f"student {steps}",
        to_json(options),
        options.seed,
    )
    train = gold.scored_pairs(workspace, project.id, "train")
    known = {
        "n_steps": steps,
        "n_gold": len(train),
        "n_silver": 500 if silver else 0,
        "gold_hash": gold.data_hash(train),
    }
    runs.update_run(workspace, run_id, metrics={**known, **facts}, model_path="models/none")
    finish(workspace, run_id)
    return run_id


def finish(workspace: Workspace, run_id: int) -> None:
    with writing(workspace) as db:
        db.execute("UPDATE run SET state = 'done' WHERE id = ?", [run_id])


def measure(workspace: Workspace, project: Project, target: str, noise: float, seed: int = 0):
    """Store an evaluation whose predictions are the gold scores with some noise."""
    pairs = gold.scored_pairs(workspace, project.id, "test")
    predictions = pairs.scores + noise * np.random.default_rng(seed).normal(size=len(pairs))
    run_id = runs.add_run(workspace, project.id, "evaluate", "e", "{}", 42)
    runs.add_evaluation(
        workspace,
        project.id,
        run_id,
        target=target,
        target_run_id=run_number(target),
        split="test",
        metric="spearman",
        value=None if noise == np.inf else spearman(pairs.scores, predictions),
        interval=(0.0, 1.0),
        threshold=None,
        seconds=1.0,
        data_hash=gold.data_hash(pairs),
        predictions=predictions,
    )


def kinds(table: Comparison) -> dict[str, str]:
    return dict(zip(table.rows["target"], table.rows["kind"], strict=True))


def test_the_untrained_model_and_word_overlap_are_always_asked_for(
    workspace: Workspace, project: Project
) -> None:
    table = comparison(workspace, project.id)
    assert table.rows.empty
    assert set(table.missing) == {
        "jaccard",
        UNTRAINED,
        model_target("sentence-transformers/all-MiniLM-L6-v2"),
    }
    assert "No model trained with silver" in verdicts(workspace, project.id, table)[0].sentence


def test_rows_are_told_apart_by_what_they_learned_from(
    workspace: Workspace, project: Project
) -> None:
    short = add_student(workspace, project, silver=None, steps=20)
    augmented = add_student(workspace, project, silver=7, steps=90)
    twin = add_student(workspace, project, silver=None, steps=90)
    targets = [f"run:{run}" for run in (short, augmented, twin)]
    for target in (*targets, UNTRAINED, "jaccard"):
        measure(workspace, project, target, 0.3)
    table = comparison(workspace, project.id)
    assert kinds(table) == {
        UNTRAINED: "untrained",
        "jaccard": "jaccard",
        targets[0]: "gold-only",
        targets[2]: "gold-only, equal steps",
        targets[1]: "augsbert",
    }
    assert table.rows["comparable"].all()
    assert table.missing == (model_target("sentence-transformers/all-MiniLM-L6-v2"),)


def test_the_twin_of_a_run_has_its_steps_and_no_silver(
    workspace: Workspace, project: Project
) -> None:
    augmented = add_student(workspace, project, silver=7, steps=90)
    assert equal_step_options(workspace, augmented) == BiEncoderOptions(layers=2, max_steps=90)


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [(0.05, 1.0, "helped"), (1.0, 0.05, "hurt"), (0.3, 0.3, "no clear difference")],
)
def test_the_verdict_says_what_the_interval_says(
    workspace: Workspace, project: Project, ours: float, theirs: float, expected: str
) -> None:
    augmented = add_student(workspace, project, silver=7, steps=90)
    twin = add_student(workspace, project, silver=None, steps=90)
    measure(workspace, project, f"run:{augmented}", ours, seed=1)
    measure(workspace, project, f"run:{twin}", theirs, seed=2)
    (said,) = verdicts(workspace, project.id, comparison(workspace, project.id))
    assert expected in said.sentence
    assert said.low < said.difference < said.high


def test_silver_does_not_win_by_step_count_unnoticed(
    workspace: Workspace, project: Project
) -> None:
    augmented = add_student(workspace, project, silver=7, steps=90)
    short = add_student(workspace, project, silver=None, steps=20)
    measure(workspace, project, f"run:{augmented}", 0.1)
    measure(workspace, project, f"run:{short}", 1.0)
    table = comparison(workspace, project.id)
    assert any("as many steps" in note for note in table.notes)
    assert "20 steps, not 90" in verdicts(workspace, project.id, table)[0].sentence


def test_an_undefined_score_is_null_and_decides_nothing(
    workspace: Workspace, project: Project
) -> None:
    augmented = add_student(workspace, project, silver=7, steps=90)
    measure(workspace, project, f"run:{augmented}", np.inf)
    table = comparison(workspace, project.id)
    (row,) = as_json_rows(table)
    assert row["value"] is None
    assert verdicts(workspace, project.id, table)[0].difference is None


def test_rows_of_other_data_or_seeds_are_marked(workspace: Workspace, project: Project) -> None:
    usual = [add_student(workspace, project, silver=None, steps=20 + i) for i in range(2)]
    other_seed = add_student(workspace, project, silver=None, steps=30, seed=7)
    other_gold = add_student(workspace, project, silver=None, steps=40, gold_hash="changed")
    for run in (*usual, other_seed, other_gold):
        measure(workspace, project, f"run:{run}", 0.3)
    rows = comparison(workspace, project.id).rows.set_index("run_id")
    assert rows.loc[usual, "comparable"].all()
    assert "seed 7" in rows.loc[other_seed, "why_not"]
    assert rows.loc[other_gold, "why_not"] == "trained on other gold pairs"


def test_new_test_pairs_make_old_scores_stale(workspace: Workspace, project: Project) -> None:
    measure(workspace, project, "jaccard", 0.3)
    text = b"sentence1,sentence2,score\nnew,pair,1\nnewer,pair,0.5\n"
    import_file(
        workspace, project.id, text, "more", ImportOptions(score_range=(0, 1), split="test")
    )
    table = comparison(workspace, project.id)
    assert "jaccard" in table.missing
    assert table.rows["why_not"].tolist() == ["measured on other gold pairs"]


def test_a_cross_encoder_is_listed_as_the_upper_bound(
    workspace: Workspace, project: Project
) -> None:
    options = to_json(CrossEncoderOptions())
    run_id = runs.add_run(workspace, project.id, "train-cross-encoder", "ce", options, 42)
    finish(workspace, run_id)
    measure(workspace, project, f"run:{run_id}", 0.1)
    table = comparison(workspace, project.id)
    assert kinds(table) == {f"run:{run_id}": "cross-encoder"}
    assert table.rows["why_not"].tolist() == ["trained on other gold pairs"]


def test_each_silver_set_is_judged_by_its_newest_model(
    workspace: Workspace, project: Project
) -> None:
    twin = add_student(workspace, project, silver=None, steps=90)
    measure(workspace, project, f"run:{twin}", 0.4)
    for silver_set, noise in ((7, 2.0), (7, 0.05), (8, 2.0)):
        run = add_student(workspace, project, silver=silver_set, steps=90)
        measure(workspace, project, f"run:{run}", noise, seed=run)
    newest, older = verdicts(workspace, project.id, comparison(workspace, project.id))
    assert "silver set 8" in newest.sentence
    assert "hurt" in newest.sentence
    assert "silver set 7" in older.sentence
    assert "helped" in older.sentence
