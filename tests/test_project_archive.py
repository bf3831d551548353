"""A project that leaves in an archive arrives whole; an archive that was tampered with does not arrive at all."""

import hashlib
import io
import json
import os
import random
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
import zipfile
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from augsbert_core.cli import app
from augsbert_core.errors import Stopped, WorkbenchError
from augsbert_core.exporting import archive_files
from augsbert_core.options import (
    BatchOptions,
    BiEncoderOptions,
    CrossEncoderOptions,
    GateOptions,
    ImportOptions,
    LabelErrorsOptions,
    LabelOptions,
    ReproduceOptions,
    to_json,
)
from augsbert_core.options.batches import KnownRun, PlannedRun
from augsbert_core.progress import silent
from augsbert_core.scales import custom_levels
from augsbert_core.steps import project_archive
from augsbert_core.steps.compare import comparison, grouped
from augsbert_core.steps.export import recipe_text
from augsbert_core.steps.import_data import import_file
from augsbert_core.steps.labelers import scorers_at_hand
from augsbert_core.steps.project_archive import export_project, import_project, look_into
from augsbert_core.storage import (
    annotation_tasks,
    annotations,
    archive_options,
    archives,
    best_worst_answers,
    candidates,
    edits,
    gold,
    gold_edits,
    nli,
    out_of_fold,
    projects,
    reviews,
    runs,
    silver_bins,
    silver_sets,
    triplets,
)
from augsbert_core.storage.archive_folders import sweep_folders
from augsbert_core.storage.archive_references import Places, is_path, places_in
from augsbert_core.storage.archive_source import COPIED
from augsbert_core.storage.database import Database, Workspace, open_workspace, reading, writing
from augsbert_core.storage.known_scores import count_known_scores
from augsbert_core.storage.records import Project
from augsbert_core.storage.schema import migrate
from tests import annotated, silver_pairs
from tests.conftest import GOLD_CSV
from tests.old_edits import old_database
from tests.pages import seeding

NLI_TSV = (
    "premise\thypothesis\tlabel\nA cat sleeps.\tAn animal sleeps.\tentailment\n"
    "A cat sleeps.\tA cat runs.\tcontradiction\n"
)
TRIPLETS_TSV = "anchor\tpositive\tnegative\nA cat sleeps.\tA cat naps.\tIt rains.\n"


@dataclass(frozen=True)
class Rich:
    """A project with something of everything, and the numbers by which tests find it again."""

    project: Project
    labeler: int
    silver: int
    kept: int
    plain: int
    student: int
    batch: int


def rich_project(workspace: Workspace) -> Rich:
    """Everything that a project can hold; numbers of runs and sets differ from one another."""
    before = projects.create_project(workspace, "Before")
    foreign = [
        seeding.finished_run(workspace, before, "train-cross-encoder", CrossEncoderOptions())
        for _ in range(3)
    ]
    project = projects.create_project(workspace, "Tiny")
    gold_options = ImportOptions(score_range=(0.0, 5.0))
    import_file(workspace, project.id, GOLD_CSV.encode(), "gold.csv", gold_options)
    for name, text, kind in (("nli.tsv", NLI_TSV, "nli"), ("t.tsv", TRIPLETS_TSV, "triplets")):
        import_file(workspace, project.id, text.encode(), name, ImportOptions(kind=kind))
    ids = silver_pairs.corpus(workspace, project, 8)
    silver_pairs.candidate_set(workspace, project, ids, 10)
    silver = seeding.silver_set(workspace, project)
    first, second, third = (row["id"] for row in silver_pairs.all_pairs(workspace, silver)[:3])
    reviews.review_silver_pair(workspace, first, correction=0.9, status="corrected", actor="Ada")
    reviews.review_silver_pair(workspace, second, status="rejected", actor="Ada")
    reviews.review_silver_pair(workspace, third, status="flagged", actor="Ada")
    edits.undo(workspace, edits.Scope.silver(silver), "Ada")
    _judge(workspace, project, silver)
    kept = silver_pairs.kept_of(workspace, project, silver, [first, third])
    with writing(workspace) as db:
        db.execute("UPDATE run SET state = 'done' WHERE step IN ('keep', 'sample')")
    labeler = int(silver_sets.get_silver_set(workspace, silver).labeler_run_id or 0)
    plain = seeding.student(workspace, project)
    student = seeding.student(workspace, project, silver_set_id=silver)
    other = seeding.student(workspace, project, silver_set_id=kept, base="/home/ada/models/small")
    batch = _batch(workspace, project, labeler, student, foreign[0])
    seeding.finished_run(
        workspace, project, "gate", GateOptions((f"run:{labeler}",), f"run:{plain}"),
        recommended=f"run:{labeler}", sentence=f"This labeler (run {labeler}) is better.", split="dev", n_pairs=3,
        verdict="better", student={"target": f"run:{plain}", "value": 0.6}, notes=["Dev flatters."],
        data_hash=gold.data_hash(gold.scored_pairs(workspace, project.id, "dev")),
        rows=[{"labeler": f"run:{labeler}", "value": 0.7, "low": 0.6, "high": 0.8, "verdict": "better"}],
    )  # fmt: skip
    seeding.finished_run(
        workspace, project, "reproduce", ReproduceOptions(student), reproduced_run_id=student,
        new_run_id=other, sentence=f"Run {student} was carried out again as run {other}.",
    )  # fmt: skip
    values = {
        f"run:{labeler}": 0.8,
        f"run:{plain}": 0.6,
        f"run:{student}": 0.7,
        f"run:{other}": 0.5,
    }
    targets = {
        "jaccard": 0.3,
        "cross:two": 0.75,
        "model:/home/ada/models/small": 0.4,
    }
    for target, value in {**values, **targets}.items():
        seeding.measure(workspace, project, target, value)
    with writing(workspace) as db:
        mean = f"run:{labeler} + run:{plain}"
        db.execute("UPDATE evaluation SET target = ? WHERE target = 'cross:two'", [mean])
    runs.add_metrics(workspace, plain, [("loss", 1, 0.5), ("loss", 2, 0.4)])
    return Rich(
        projects.get_project(workspace, project.id), labeler, silver, kept, plain, student, batch
    )


def _judge(workspace: Workspace, project: Project, silver: int) -> None:
    """What people do besides correcting: edits of gold and of many pairs, scores, marks, answers, a guideline."""
    ids = [row["id"] for row in silver_pairs.all_pairs(workspace, silver)]
    reviews.review_many(
        workspace, silver, np.array(ids[3:]), status="flagged", actor="Ben", summary="3 odd pairs"
    )
    reviews.rescale_many(
        workspace, silver, np.array(ids[4:]), low=0.2, high=0.9, actor="Ben", summary="rescaled"
    )
    edits.undo(workspace, edits.Scope.silver(silver), "Ben")
    with reading(workspace) as db:
        query = "SELECT id FROM gold_pair WHERE project_id = ? ORDER BY id"
        golds = [row[0] for row in db.execute(query, [project.id])]
    gold_edits.set_gold_score(workspace, golds[0], 1.25, actor="Ada")
    gold_edits.keep_gold_score(workspace, golds[1], actor="Ada")
    gold_edits.set_gold_score(workspace, golds[2], 4.5, actor="Ben")
    edits.undo(workspace, edits.Scope.gold(project.id), "Ben")
    projects.set_guideline(workspace, project.id, "**How** alike are they?")
    pairs = annotated.made_up_pairs(8)
    task = annotated.add_task(
        workspace, project, pairs[:3], source="silver", silver_set_id=silver, name="Doubts",
        source_pair_ids=np.array(ids[:3]), suggestions=np.array([0.5, 0.25, 1.0]), n_scores=2, queue="order-gap",
    )  # fmt: skip
    item = annotations.next_item(workspace, task.id, "Ada")
    assert item is not None
    annotations.save(
        workspace, task.id, item.id, "Ada", score=0.5, seconds=2.0, suggestion_seen=True
    )
    annotations.save(workspace, task.id, item.id, "Ben", score=0.9)
    annotations.undo(workspace, task.id, "Ben")
    annotations.save(workspace, task.id, item.id + 1, "Ben", action="flag")
    annotations.save(workspace, task.id, item.id + 2, "Ben", action="skip")
    annotations.adjudicate(workspace, item.id, 0.6, "Cleo")
    again = annotated.add_task(
        workspace, project, [("A cat sleeps.", "A cat naps.")], source="gold", scale="custom",
        levels=custom_levels([("other", 0.0), ("same", 1.0)]), source_pair_ids=np.array(golds[:1]),
    )  # fmt: skip
    annotation_tasks.close_task(workspace, again.id)
    four = annotated.add_task(
        workspace, project, pairs[4:], tuples=np.array([[0, 1, 2, 3], [3, 1, 0, 2]])
    )
    first = best_worst_answers.next_tuple(workspace, four.id, "Ada")
    assert first is not None
    best, worst, *_ = (pair.item_id for pair in first.pairs)
    best_worst_answers.save_answer(workspace, four.id, first.id, "Ada", best, worst, seconds=3.5)
    best_worst_answers.skip_tuple(workspace, four.id, first.id, "Ben")
    best_worst_answers.undo_answer(workspace, four.id, "Ben")
    search = seeding.finished_run(workspace, project, "label-errors", LabelErrorsOptions())
    out_of_fold.save_scores(
        workspace,
        search,
        np.array(golds[:2]),
        np.array([1, 0]),
        np.array([0.5, 1.0]),
        np.array([0.25, 0.75]),
    )
    with writing(workspace) as db:
        db.execute("UPDATE run SET state = 'done' WHERE step = 'annotate'")


SUMMED = {
    "dev_score": 0.7, "test_score": None, "auc05": None, "metric": "spearman", "n_gold": 5, "n_silver": 6,
    "passes": 6, "n_steps": 3, "seconds": 12.0,
}  # fmt: skip
"""The numbers of a row and of a group in the summary of a batch."""


def _batch(workspace: Workspace, project: Project, labeler: int, student: int, foreign: int) -> int:
    """A batch with options within options, an earlier run, and a run of another project."""
    told = BatchOptions(
        title="Two runs",
        runs=(
            PlannedRun(
                "label", "label", to_json(LabelOptions(1, f"run:{labeler} + run:{foreign}"))
            ),
            PlannedRun("train", "train-bi-encoder", '{"silver_set_id": "{label.silver_set_id}"}'),
            PlannedRun("elsewhere", "evaluate", "{}", project_id=project.id + 1),
        ),
        known=(KnownRun(student, f"Run {student}"),),
        notes=(f"Compared with run {student}.",),
    )
    batch = seeding.finished_run(
        workspace, project, "batch", told,
        summary={
            "kind": "sweep", "title": "Two runs", "n_planned": 3, "n_done": 1, "best": f"Run {student}",
            "rows": [dict(SUMMED, key=f"run:{student}", run_id=student, group=f"Run {student}", seed=42, test_low=None,
                          test_high=None, differs={"layers": 2})],
            "groups": [dict(SUMMED, group=f"Run {student}", n=1, dev_score_sd=None, test_score_sd=None, auc05_sd=None)],
            "notes": [f"Run {student} was known."],
        },
    )  # fmt: skip
    child = seeding.student(workspace, project)
    with writing(workspace) as db:
        db.execute(
            "UPDATE run SET parent_run_id = ?, child_key = 'train' WHERE id = ?", [batch, child]
        )
    return batch


@dataclass(frozen=True)
class Made:
    """What the tests take copies of: two workspaces, and the archive of the rich project of the first."""

    origin: Path
    elsewhere: Path
    archive: Path
    rich: Rich


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("archives")
    origin, elsewhere = (open_workspace(folder / name) for name in ("origin", "elsewhere"))
    rich = rich_project(origin)
    other = projects.create_project(elsewhere, "Theirs")
    for _ in range(25):
        seeding.finished_run(elsewhere, other, "train-cross-encoder", CrossEncoderOptions())
    silver_pairs.sixty_pairs(elsewhere, other)
    export_project(origin, rich.project.id, folder / "tiny.zip")
    return Made(origin.home, elsewhere.home, folder / "tiny.zip", rich)


@pytest.fixture
def rich(made: Made) -> Rich:
    return made.rich


@pytest.fixture
def archive(made: Made) -> Path:
    return made.archive


@pytest.fixture
def origin(made: Made, tmp_path: Path) -> Workspace:
    """The workspace of the rich project."""
    shutil.copytree(made.origin, tmp_path / "origin")
    return Workspace(tmp_path / "origin")


@pytest.fixture
def elsewhere(made: Made, tmp_path: Path) -> Workspace:
    """Another workspace, which holds a project of its own."""
    shutil.copytree(made.elsewhere, tmp_path / "elsewhere")
    return Workspace(tmp_path / "elsewhere")


# --- what is shown of a project ----------------------------------------------------------------------


def content(workspace: Workspace, project_id: int) -> dict[str, Any]:
    """Rows of a project as people see them: texts and scores, no numbers."""
    project = projects.get_project(workspace, project_id)
    sets = silver_sets.list_silver_sets(workspace, project_id)
    table = grouped(workspace, project_id, comparison(workspace, project_id))
    rows = comparison(workspace, project_id).rows
    return {
        "project": replace(project, id=0, name="", is_sample=False),
        "counts": projects.count_project(workspace, project_id),
        "gold": [scored(gold.scored_pairs(workspace, project_id, split)) for split in ("train", "dev", "test")],
        "gold hash": gold.data_hash(gold.scored_pairs(workspace, project_id, "train")),
        "gold rows": gold_rows(workspace, project_id),
        "nli": nli.count_nli(workspace, project_id),
        "triplets": [
            [rows.texts[place] for place in column]
            for rows in [triplets.triplet_training_rows(workspace, project_id)]
            for column in rows.places
        ],
        "candidates": [
            (one.strategy, one.n_pairs, one.notices, candidates.rank_counts(workspace, one.id, [1, 2, 9]))
            for one in candidates.list_candidate_sets(workspace, project_id)
        ],
        "silver": [
            (one.strategy, one.n_pairs, one.n_candidates, one.rule, one.is_complete, one.revision > 0)
            for one in sets
        ],
        "people": people(workspace, project_id),
        "silver pairs": [silver_texts(workspace, one.id) for one in sets],
        "statuses": [silver_bins.silver_status_counts(workspace, one.id) for one in sets],
        "runs": [
            (run.step, run.seed, run.state, run.device)
            for run in runs.list_runs(workspace, project_id)
            if run.step != "import-files"
        ],
        "table": rows[["kind", "value", "low", "high", "n_gold", "n_silver"]].to_dict("records"),
        "grouped": table.rows[["kind", "value", "n_gold", "n_silver"]].to_dict("records"),
    }  # fmt: skip


def gold_rows(workspace: Workspace, project_id: int) -> list[tuple[Any, ...]]:
    with reading(workspace) as db:
        return [
            tuple(row)
            for row in db.execute(
                "SELECT a.text, b.text, swapped, score, raw_score, split, group_name, source_file, source_line,"
                " raw_label, source_id FROM gold_pair JOIN sentence AS a ON a.id = sentence1_id"
                " JOIN sentence AS b ON b.id = sentence2_id WHERE gold_pair.project_id = ? ORDER BY gold_pair.id",
                [project_id],
            )
        ]


def scored(pairs: Any) -> list[tuple[str, str, float]]:
    return list(zip(pairs.sentences1, pairs.sentences2, pairs.scores.tolist(), strict=True))


def silver_texts(workspace: Workspace, set_id: int) -> list[tuple[Any, ...]]:
    with reading(workspace) as db:
        return [
            tuple(row)
            for row in db.execute(
                "SELECT a.text, b.text, rank, score, raw_score, correction, status, final_score"
                " FROM silver_pair JOIN sentence AS a ON a.id = sentence1_id"
                " JOIN sentence AS b ON b.id = sentence2_id WHERE silver_set_id = ?"
                " ORDER BY sentence1_id, sentence2_id",
                [set_id],
            )
        ]


def people(workspace: Workspace, project_id: int) -> dict[str, list[tuple[Any, ...]]]:
    """What people did: rows of every table of theirs, with texts in place of numbers."""

    def pair(column: str, table: str) -> str:
        return (
            f"(SELECT a.text || ' / ' || b.text FROM {table} AS pair JOIN sentence AS a ON a.id = pair.sentence1_id"
            f" JOIN sentence AS b ON b.id = pair.sentence2_id WHERE pair.id = {column})"
        )

    item, subject = pair("item_id", "annotation_item"), pair("pair_id", "silver_pair")
    its = f"iif(subject = 'silver_pair', {subject}, {pair('pair_id', 'gold_pair')})"
    source = f"iif(source = 'silver', {pair('source_pair_id', 'silver_pair')}, {pair('source_pair_id', 'gold_pair')})"
    tasks = "JOIN annotation_task AS task ON task.id = task_id WHERE project_id = :project"
    four = ", ".join(pair(f"item{number}_id", "annotation_item") for number in range(1, 5))
    shown = "SELECT group_concat(text) FROM json_each(shown) JOIN annotation_item AS i ON i.id = value JOIN sentence ON sentence.id = sentence1_id"
    queries = {
        "edits": "SELECT subject, kind, actor, at, summary, n_changes, state, silver_set_id IS NULL,"
        " target_edit_id - id FROM edit WHERE project_id = :project ORDER BY id",
        "changes": f"SELECT {its}, before_score, before_status, after_score, after_status, before_unit"
        " FROM edit JOIN edit_change ON edit_id = edit.id WHERE project_id = :project ORDER BY edit_id, pair_id",
        "tasks": "SELECT name, kind, purpose, source, queue, scale, levels, n_scores, seed, closed, created_at,"
        " silver_set_id IS NULL FROM annotation_task WHERE project_id = :project ORDER BY id",
        "items": f"SELECT {pair('item.id', 'annotation_item')}, position, suggestion, reason, stratum, adjudicated_score,"
        f" adjudicator, {source} FROM annotation_item AS item {tasks} ORDER BY item.id",
        "events": f"SELECT {item}, annotator, at, action, score, flagged, swapped, suggestion_seen, seconds,"
        f" undone_event_id - event.id FROM annotation_event AS event {tasks} ORDER BY event.id",
        "scores": f"SELECT {item}, annotator, iif(state = 'claimed', '', at), state, score, flagged, swapped,"
        f" suggestion_seen, seconds FROM annotation {tasks} AND (state <> 'claimed' OR flagged) ORDER BY 1, 2",
        "tuples": f"SELECT {four}, position FROM best_worst_tuple AS one {tasks} ORDER BY one.id",
        "answers": f"SELECT annotator, at, action, seconds, ({shown}), {pair('best_item_id', 'annotation_item')},"
        f" {pair('worst_item_id', 'annotation_item')} FROM best_worst_answer AS one {tasks} ORDER BY one.id",
        "out of fold": f"SELECT {pair('gold_pair_id', 'gold_pair')}, fold, gold_score, score FROM out_of_fold"
        " WHERE run_id IN (SELECT id FROM run WHERE project_id = :project) ORDER BY gold_pair_id",
    }  # fmt: skip
    with reading(workspace) as db:
        return {
            name: [tuple(row) for row in db.execute(query, {"project": project_id})]
            for name, query in queries.items()
        }


def everything(workspace: Workspace) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table."""
    with reading(workspace) as db:
        names = [
            row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        return {name: [tuple(row) for row in db.execute(f"SELECT * FROM {name}")] for name in names}


def left_over(workspace: Workspace) -> list[str]:
    return [path.name for path in workspace.home.iterdir() if path.name.startswith(".")]


# --- there and back ----------------------------------------------------------------------------------


def test_an_imported_project_shows_the_same(
    origin: Workspace, rich: Rich, archive: Path, elsewhere: Workspace
) -> None:
    done = import_project(elsewhere, archive)
    assert done.name == "Tiny"
    assert content(elsewhere, done.project_id) == content(origin, rich.project.id)
    assert silver_pairs.stored_bins(elsewhere) == silver_pairs.recounted(elsewhere)
    assert left_over(origin) == left_over(elsewhere) == []


def test_the_same_archive_can_come_in_several_times(
    origin: Workspace, rich: Rich, archive: Path
) -> None:
    before = content(origin, rich.project.id)
    first, second = (import_project(origin, archive) for _ in range(2))
    assert (first.name, second.name) == ("Tiny (2)", "Tiny (3)")
    named = import_project(origin, archive, "  My   copy ")
    assert named.name == "My copy"
    for done in (first, second, named):
        assert content(origin, done.project_id) == before
    assert content(origin, rich.project.id) == before, "the original stays as it is"


def test_what_was_imported_can_be_exported_again(
    archive: Path, origin: Workspace, rich: Rich, elsewhere: Workspace, tmp_path: Path
) -> None:
    done = import_project(elsewhere, archive)
    export_project(elsewhere, done.project_id, tmp_path / "again.zip")
    again = import_project(elsewhere, tmp_path / "again.zip")
    assert content(elsewhere, again.project_id) == content(origin, rich.project.id)


def test_an_empty_project_travels_too(
    workspace: Workspace, elsewhere: Workspace, tmp_path: Path
) -> None:
    empty = projects.create_project(workspace, "Empty", task="classification")
    export_project(workspace, empty.id, tmp_path / "e.zip")
    done = import_project(elsewhere, tmp_path / "e.zip")
    assert projects.get_project(elsewhere, done.project_id).task == "classification"


def test_every_number_is_a_new_one(rich: Rich, archive: Path, elsewhere: Workspace) -> None:
    project_id = import_project(elsewhere, archive).project_id
    found = {
        name: runs.list_runs(elsewhere, project_id, name)
        for name in (
            "train-cross-encoder",
            "train-bi-encoder",
            "label",
            "gate",
            "reproduce",
            "batch",
        )
    }
    labeler = found["train-cross-encoder"][0].id
    child, other, student, plain = (run.id for run in found["train-bi-encoder"])
    kept, silver = silver_sets.list_silver_sets(elsewhere, project_id)
    assert (silver.labeler, silver.labeler_run_id) == (f"run:{labeler}", labeler)
    assert (kept.pool_set_id, kept.rule) == (silver.id, "kde")

    told = json.loads(found["label"][0].options)
    assert (told["labeler"], told["candidate_set_id"]) == (
        f"run:{labeler}",
        silver.candidate_set_id,
    )
    assert json.loads(runs.get_run(elsewhere, student).options)["silver_set_id"] == silver.id
    assert json.loads(runs.get_run(elsewhere, other).options)["silver_set_id"] == kept.id

    gate = found["gate"][0]
    assert json.loads(gate.options)["baseline"] == f"run:{plain}"
    assert gate.metrics["rows"][0]["labeler"] == gate.metrics["recommended"] == f"run:{labeler}"
    assert gate.metrics["sentence"] == f"This labeler (run {labeler}) is better."
    again = found["reproduce"][0].metrics
    assert (again["reproduced_run_id"], again["new_run_id"]) == (student, other)
    assert again["sentence"] == f"Run {student} was carried out again as run {other}."

    batch = found["batch"][0]
    assert runs.get_run(elsewhere, child).parent_run_id == batch.id
    options = json.loads(batch.options)
    inner = json.loads(options["runs"][0]["options"])
    assert re.fullmatch(rf"run:{labeler} \+ run:\d+", inner["labeler"])
    assert options["runs"][1]["options"] == '{"silver_set_id": "{label.silver_set_id}"}'
    assert options["runs"][2]["project_id"] == -1, "another project did not come along"
    assert options["known"] == [{"group": f"Run {student}", "run_id": student}]
    assert options["notes"] == [f"Compared with run {student}."]
    (row,) = batch.metrics["summary"]["rows"]
    assert (row["key"], row["run_id"]) == (f"run:{student}", student)

    targets = {row["target"] for row in runs.list_evaluations(elsewhere, project_id, "test")}
    assert {f"run:{labeler}", f"run:{plain}", f"run:{labeler} + run:{plain}", "jaccard"} <= targets


def test_numbers_of_what_did_not_come_along_name_nothing(
    rich: Rich, archive: Path, elsewhere: Workspace
) -> None:
    """Another project's run 1 is a labeler; here there is a run 1 too, which must not be taken for that one."""
    project_id = import_project(elsewhere, archive).project_id
    batch = runs.list_runs(elsewhere, project_id, "batch")[0]
    inner = json.loads(json.loads(batch.options)["runs"][0]["options"])
    lost = int(inner["labeler"].rpartition(":")[2])
    with pytest.raises(WorkbenchError, match=f"no run {lost}"):
        runs.get_run(elsewhere, lost)
    other = projects.create_project(elsewhere, "Later")
    later = [runs.add_run(elsewhere, other.id, "sample", "s", "{}", 1) for _ in range(5)]
    assert lost not in later


def test_the_recipe_of_a_run_has_the_new_numbers(
    origin: Workspace, rich: Rich, archive: Path, elsewhere: Workspace
) -> None:
    project_id = import_project(elsewhere, archive).project_id
    student = runs.list_runs(elsewhere, project_id, "train-bi-encoder")[2]
    silver = silver_sets.list_silver_sets(elsewhere, project_id)[1]
    was, found = recipe_text(origin, rich.student), recipe_text(elsewhere, student.id)
    assert f"silver_set_id = {silver.id}\n" in found
    assert found == was.replace(f"run {rich.student}", f"run {student.id}").replace(
        f"silver_set_id = {rich.silver}", f"silver_set_id = {silver.id}"
    )
    with zipfile.ZipFile(archive) as file:
        assert file.read(f"recipes/run-{rich.student}.toml").decode() == was


def test_edits_can_still_be_taken_back(rich: Rich, archive: Path, elsewhere: Workspace) -> None:
    project_id = import_project(elsewhere, archive).project_id
    silver = silver_sets.list_silver_sets(elsewhere, project_id)[1]
    assert projects.count_project(elsewhere, project_id).corrections == 2, (
        "the kept set repeats one"
    )
    assert str(edits.undo(elsewhere, edits.Scope.silver(silver.id), "Ada")).startswith(
        "Back to unreviewed"
    )
    assert str(edits.undo(elsewhere, edits.Scope.silver(silver.id), "Ada")).startswith(
        "Back to unreviewed"
    )
    assert edits.undo(elsewhere, edits.Scope.silver(silver.id), "Ada") is None
    assert silver_bins.silver_status_counts(elsewhere, silver.id)["unreviewed"] == 3
    scope = edits.Scope.silver(silver.id)
    assert edits.undo_state(elsewhere, scope, "Ben") == edits.UndoState("3 odd pairs", "rescaled")
    assert edits.redo(elsewhere, scope, "Ben") == "Redone on 2 pairs: rescaled"
    assert edits.undo(elsewhere, scope, "Ben") == "Undone on 2 pairs: rescaled"
    assert edits.undo(elsewhere, scope, "Ben") == "Undone on 3 pairs: 3 odd pairs"
    assert silver_bins.silver_status_counts(elsewhere, silver.id)["unreviewed"] == 6
    assert silver_pairs.stored_bins(elsewhere) == silver_pairs.recounted(elsewhere)
    golds = edits.Scope.gold(project_id)
    assert edits.redo(elsewhere, golds, "Ben") == "Again 4.5: Two dogs run across a field."
    assert edits.undo(elsewhere, golds, "Ada") is not None


def test_known_scores_are_found_again(rich: Rich, archive: Path, elsewhere: Workspace) -> None:
    project_id = import_project(elsewhere, archive).project_id
    silver = silver_sets.list_silver_sets(elsewhere, project_id)[1]
    assert count_known_scores(elsewhere, silver.candidate_set_id, silver.labeler) == 6


def test_models_do_not_come_along(rich: Rich, archive: Path, elsewhere: Workspace) -> None:
    project_id = import_project(elsewhere, archive).project_id
    project = projects.get_project(elsewhere, project_id)
    trained = runs.list_runs(elsewhere, project_id, "train-bi-encoder")
    assert {run.model_path for run in trained} == {None}
    assert scorers_at_hand(elsewhere, project) == []


def test_only_finished_runs_leave(
    workspace: Workspace, project: Project, elsewhere: Workspace, tmp_path: Path
) -> None:
    seeding.silver_set(workspace, project, labelled=3)
    runs.add_run(
        workspace, project.id, "train-bi-encoder", "at work", to_json(BiEncoderOptions()), 1
    )
    export_project(workspace, project.id, tmp_path / "p.zip")
    done = import_project(elsewhere, tmp_path / "p.zip")
    assert silver_sets.list_silver_sets(elsewhere, done.project_id) == []
    steps = [run.step for run in runs.list_runs(elsewhere, done.project_id, state=None)]
    assert sorted(steps) == ["import", "sample", "train-cross-encoder"]


def test_a_set_that_is_whole_leaves_though_its_run_ended_badly(
    origin: Workspace, rich: Rich, elsewhere: Workspace, tmp_path: Path
) -> None:
    run_id = silver_sets.get_silver_set(origin, rich.silver).run_id
    with writing(origin) as db:
        db.execute("UPDATE run SET state = 'cancelled' WHERE id = ?", [run_id])
    export_project(origin, rich.project.id, tmp_path / "p.zip")
    done = import_project(elsewhere, tmp_path / "p.zip")
    assert len(silver_sets.list_silver_sets(elsewhere, done.project_id)) == 2
    assert all(one.is_complete for one in silver_sets.list_silver_sets(elsewhere, done.project_id))


def test_no_folder_of_the_exporter_is_in_the_archive(
    rich: Rich, archive: Path, elsewhere: Workspace
) -> None:
    with zipfile.ZipFile(archive) as file:
        for name in file.namelist():
            assert b"/home/ada" not in file.read(name), name
    project_id = import_project(elsewhere, archive).project_id
    bases = {
        json.loads(run.options)["base"]
        for run in runs.list_runs(elsewhere, project_id, "train-bi-encoder")
    }
    assert "./small" in bases
    targets = {row["target"] for row in runs.list_evaluations(elsewhere, project_id, "test")}
    assert "model:./small" in targets


def test_two_folders_of_one_name_stay_apart() -> None:
    told = [
        {"base": "/a/model"},
        {"labeler": "run:3 + C:\\b\\model"},
        {"targets": ["model:/a/model@layers=2"]},
    ]
    places = places_in(told, ["nlpaug:~/lm"])
    assert places.in_json(told) == [
        {"base": "./model"}, {"labeler": "run:3 + ./model-2"}, {"targets": ["model:./model@layers=2"]},
    ]  # fmt: skip
    assert (
        places.in_text("This labeler (/a/model) and /a/models.")
        == "This labeler (./model) and /a/models."
    )
    assert Places({}).in_text("as it is") == "as it is"
    assert is_path("../x/y")
    assert not is_path("sentence-transformers/all-MiniLM-L6-v2")


def test_the_archive_says_what_it_holds(rich: Rich, archive: Path) -> None:
    manifest = look_into(archive)
    assert manifest.project == "Tiny"
    assert manifest.counts["gold_pairs"] == 11
    assert manifest.counts["silver_pairs"] == 8
    with zipfile.ZipFile(archive) as file:
        names = set(file.namelist())
        readme = file.read("README.md").decode()
    assert {
        f"cards/silver-{rich.silver}.md",
        "cards/gold.md",
        f"recipes/run-{rich.plain}.toml",
    } <= names
    assert "models" in readme
    assert "11 gold pairs" in readme


def test_an_export_never_overwrites(
    origin: Workspace, rich: Rich, archive: Path, tmp_path: Path
) -> None:
    was = archive.read_bytes()
    with pytest.raises(WorkbenchError, match="exists already"):
        export_project(origin, rich.project.id, archive)
    assert archive.read_bytes() == was
    with pytest.raises(WorkbenchError, match=r"\.zip"):
        export_project(origin, rich.project.id, tmp_path / "x.tar")
    with pytest.raises(WorkbenchError, match="does not exist"):
        export_project(origin, 999, tmp_path / "y.zip")
    assert left_over(origin) == []


def test_a_name_that_is_taken_is_refused(origin: Workspace, archive: Path) -> None:
    before = everything(origin)
    with pytest.raises(WorkbenchError, match="already"):
        import_project(origin, archive, "tiny")
    with pytest.raises(WorkbenchError, match="1 to 80"):
        import_project(origin, archive, " ")
    assert everything(origin) == before


@pytest.mark.parametrize("at", [0.1, 0.35, 0.6, 0.9])
def test_a_stopped_import_leaves_nothing(archive: Path, elsewhere: Workspace, at: float) -> None:
    before = everything(elsewhere)

    def interrupt(fraction: float, *_: Any) -> None:
        if fraction >= at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_project(elsewhere, archive, report=interrupt)
    with pytest.raises(Stopped):
        import_project(elsewhere, archive, should_stop=lambda: True)
    assert everything(elsewhere) == before
    assert left_over(elsewhere) == []


def test_an_archive_of_an_older_version_is_brought_up_to_date(
    archive: Path, origin: Workspace, rich: Rich, elsewhere: Workspace, tmp_path: Path
) -> None:
    from augsbert_core.storage.database import Database
    from augsbert_core.storage.schema import migrations

    old = tmp_path / "old.db"
    with sqlite3.connect(old) as connection:
        migrations.apply(Database(connection, execute_plugins=False), stop_before="data_doors")
        connection.execute(
            "INSERT INTO project (id, name, task, score_low, score_high, created_at)"
            " VALUES (5, 'Old', 'regression', 0, 5, '2025-01-01T00:00:00+00:00')"
        )
        connection.execute(
            "INSERT INTO sentence (id, project_id, key, text) VALUES (9, 5, 'A', 'A')"
        )
    connection.close()
    path = rewritten(
        archive,
        tmp_path,
        database=old.read_bytes(),
        migrations=["foundation", "density_lab", "training_lab"],
    )
    done = import_project(elsewhere, path)
    assert (done.name, done.counts["gold_pairs"]) == ("Old", 0)


def test_decisions_of_before_they_were_edits_can_be_taken_back(
    archive: Path, elsewhere: Workspace, tmp_path: Path
) -> None:
    old_database(tmp_path / "old.db")
    known = ["foundation", "density_lab", "training_lab", "data_doors"]
    database = (tmp_path / "old.db").read_bytes()
    done = import_project(
        elsewhere, rewritten(archive, tmp_path, database=database, migrations=known)
    )
    (found,) = silver_sets.list_silver_sets(elsewhere, done.project_id)
    scope = edits.Scope.silver(found.id)
    assert [(row.actor, row.kind, row.state) for row in edits.edit_log(elsewhere, scope)][::-1] == [
        ("Ada", "review", "applied"), ("Ada", "review", "dropped"), ("Ada", "undo", "logged"),
        ("Ben", "review", "applied"), ("Ben", "review", "applied"),
    ]  # fmt: skip
    for actor, what in (
        ("Ben", "unreviewed: B"),
        ("Ben", "corrected: A"),
        ("Ada", "unreviewed: A"),
    ):
        assert edits.undo(elsewhere, scope, actor) == f"Back to {what}"
    assert silver_bins.silver_status_counts(elsewhere, found.id)["unreviewed"] == 3


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE event SET before = '{\"status\": \"hacked\"}' WHERE kind = 'review'",
        'UPDATE event SET after = \'{"status": "flagged", "correction": 7}\' WHERE kind = \'review\'',
        "UPDATE event SET before = '{}' WHERE kind = 'review'",
        "UPDATE event SET after = '[' WHERE kind = 'review'",
        "UPDATE event SET at = 'yesterday'",
        "UPDATE event SET id = 9007199254740993 + id, subject_id = 12 WHERE kind = 'review'",
    ],
)
def test_impossible_decisions_of_an_old_archive_are_refused(
    archive: Path, elsewhere: Workspace, tmp_path: Path, statement: str
) -> None:
    database = tmp_path / "old.db"
    old_database(database)
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute(statement)
    known = ["foundation", "density_lab", "training_lab", "data_doors"]
    path = rewritten(archive, tmp_path, database=database.read_bytes(), migrations=known)
    refused(elsewhere, path, "cannot be used|no time")


def test_every_table_is_handled(workspace: Workspace) -> None:
    """Whoever adds a table decides whether its rows travel."""
    left_behind = {"job", "candidate_overlap", "silver_student", "lesson_progress"}
    made_anew = {"silver_bin"}
    with reading(workspace) as db:
        query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '%sqlite_%'"
        tables = {name for (name,) in db.execute(query)}
    assert tables == {*COPIED, *left_behind, *made_anew}
    assert tables - left_behind == archives.OUT.keys()


# --- archives that nobody should open ----------------------------------------------------------------


def members_of(archive: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(archive) as file:
        return {name: file.read(name) for name in file.namelist()}


def rewritten(archive: Path, folder: Path, *, database: bytes | None = None, **told: Any) -> Path:
    """The archive with another database and other words in its manifest; its hashes are right."""
    members = members_of(archive)
    if database is not None:
        members["project.db"] = database
    manifest = json.loads(members["manifest.json"]) | told
    for name, one in manifest["members"].items():
        one["sha256"] = hashlib.sha256(members[name]).hexdigest()
    members["manifest.json"] = json.dumps(manifest).encode()
    return packed(members, folder)


def packed(members: dict[str, bytes], folder: Path) -> Path:
    path = folder / "changed.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return path


def with_statement(archive: Path, folder: Path, *statements: str) -> Path:
    """The archive after someone has run SQL on its database."""
    database = folder / "changed.db"
    database.write_bytes(members_of(archive)["project.db"])
    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    for statement in statements:
        connection.execute(statement)
    connection.close()
    return rewritten(archive, folder, database=database.read_bytes())


def refused(elsewhere: Workspace, path: Path, words: str) -> None:
    """The archive is refused in one sentence, and nothing of it is left."""
    before = everything(elsewhere)
    with pytest.raises(WorkbenchError, match=words) as caught:
        import_project(elsewhere, path)
    assert "\n" not in str(caught.value)
    assert everything(elsewhere) == before
    assert left_over(elsewhere) == []


@pytest.mark.parametrize(
    "name",
    ["../evil.txt", "/etc/evil", "recipes/../../evil.toml", "..\\evil", "C:\\evil", "C:evil", "evil.py",
     "recipes/run-1.toml/x", "cards/Gold.md ", "recipes/run-1.toml\0.exe", ".", "models/run-1/x.bin"],
)  # fmt: skip
def test_a_file_with_any_other_name_is_refused(
    archive: Path, elsewhere: Workspace, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "named.zip"
    shutil.copy(archive, path)
    placeholder = "x" * len(name)
    with zipfile.ZipFile(path, "a") as file:
        file.writestr(placeholder, b"evil")
    path.write_bytes(path.read_bytes().replace(placeholder.encode(), name.encode()))
    refused(elsewhere, path, "which no project archive has")


def test_a_link_is_refused(archive: Path, elsewhere: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "link.zip"
    shutil.copy(archive, path)
    info = zipfile.ZipInfo("recipes/run-99999.toml")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "a") as file:
        file.writestr(info, b"/etc/passwd")
    refused(elsewhere, path, "link")


def test_a_name_that_comes_twice_is_refused(
    archive: Path, elsewhere: Workspace, tmp_path: Path
) -> None:
    path = tmp_path / "twice.zip"
    shutil.copy(archive, path)
    with zipfile.ZipFile(path, "a") as file, pytest.warns(UserWarning, match="Duplicate"):
        file.writestr("project.db", b"another")
    refused(elsewhere, path, "twice")


def test_a_bomb_is_refused_before_it_is_unpacked(
    archive: Path, elsewhere: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_files, "HARMLESS", 1 << 20)
    path = rewritten(archive, tmp_path, database=bytes(8 << 20))
    refused(elsewhere, path, "would unpack to")
    monkeypatch.setattr(archive_files, "MOST_MEMBERS", 3)
    refused(elsewhere, archive, "more than any project has")
    monkeypatch.setattr(archive_files, "MOST_MEMBERS", 99)
    monkeypatch.setattr(archive_files, "LARGEST_TEXTS", 100)
    refused(elsewhere, archive, "would unpack|larger than any could be")


def test_a_member_that_lies_about_its_size_is_refused(
    archive: Path, elsewhere: Workspace, tmp_path: Path
) -> None:
    with zipfile.ZipFile(archive) as file:
        size = file.getinfo("project.db").file_size
    data = archive.read_bytes().replace(
        size.to_bytes(4, "little"), (size - 4096).to_bytes(4, "little")
    )
    path = tmp_path / "lies.zip"
    path.write_bytes(data)
    refused(elsewhere, path, "damaged|changed|too early|longer")


def test_a_changed_file_is_refused(archive: Path, elsewhere: Workspace, tmp_path: Path) -> None:
    members = members_of(archive)
    refused(
        elsewhere, packed(members | {"README.md": b"other"}, tmp_path), "README.md .* has changed"
    )
    database = members["project.db"].replace(b"A cat sleeps", b"A dog sleeps")
    refused(
        elsewhere, packed(members | {"project.db": database}, tmp_path), "project.db .* has changed"
    )
    members.pop("README.md")
    refused(elsewhere, packed(members, tmp_path), "do not agree on 'README.md'")


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.9, 0.999])
def test_a_truncated_archive_is_refused(
    archive: Path, elsewhere: Workspace, tmp_path: Path, share: float
) -> None:
    data = archive.read_bytes()
    path = tmp_path / "short.zip"
    path.write_bytes(data[: int(share * len(data))])
    refused(elsewhere, path, "damaged")


def test_other_files_are_refused(archive: Path, elsewhere: Workspace, tmp_path: Path) -> None:
    text = tmp_path / "x.zip"
    text.write_text("sentence1,sentence2\n")
    refused(elsewhere, text, "no project archive")
    refused(elsewhere, tmp_path / "none.zip", "no file")
    refused(elsewhere, tmp_path, "cannot be read")
    members = members_of(archive)
    for name in ("manifest.json", "project.db"):
        rest = {key: data for key, data in members.items() if key != name}
        refused(elsewhere, packed(rest, tmp_path), f"no {name}")
    for manifest, words in ((b"{", "no JSON"), (b"[]", "another format"), (b"[" * 100_000, "no JSON"),
                            (b'{"format": "augsbert-project"}', "format_version")):  # fmt: skip
        refused(elsewhere, packed(members | {"manifest.json": manifest}, tmp_path), words)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"format_version": 2}, "newer workbench"),
        ({"format_version": "1"}, "format_version"),
        ({"format_version": True}, "format_version"),
        ({"format": "other"}, "another format"),
        ({"migrations": ["foundation", "time_travel"]}, "newer version"),
        ({"migrations": ["density_lab"]}, "not in order"),
        ({"migrations": "foundation"}, "migrations"),
        ({"migrations": None}, "migrations"),
        ({"counts": {"gold_pairs": -1}}, "counts"),
        ({"counts": {"gold_pairs": "many"}}, "counts"),
        ({"project": 7}, "project"),
        ({"project": "a\nb"}, "project"),
        ({"created_at": ["x"]}, "created_at"),
        ({"created_at": "yesterday"}, "created_at"),
    ],
)
def test_a_manifest_with_other_words_is_refused(
    archive: Path, elsewhere: Workspace, tmp_path: Path, told: dict[str, Any], words: str
) -> None:
    refused(elsewhere, rewritten(archive, tmp_path, **told), words)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM project; END", "trigger named 't'"),
        ("CREATE VIEW v AS SELECT * FROM run", "view named 'v'"),
        ("CREATE TABLE extra (x)", "table named 'extra'"),
        ("CREATE VIRTUAL TABLE v USING fts5(x)", "table named 'v"),
        ("CREATE INDEX i ON run (abs(seed))", "index named 'i'"),
        ("ALTER TABLE run ADD COLUMN more GENERATED ALWAYS AS (abs(seed))", "table 'run' is not"),
        ("DROP TABLE triplet", "'triplet' is not|triplet"),
        ("DROP INDEX run_by_parent", "run_by_parent"),
        ("ANALYZE", "sqlite_stat"),
        ("DELETE FROM _sqlite_migrations", "not in order"),
        ("UPDATE _sqlite_migrations SET name = 'time_travel' WHERE id = 5", "newer version"),
        ("DELETE FROM _sqlite_migrations WHERE name = 'human_loop'", "not in order"),
        ("DELETE FROM project", "0 projects|holds"),
        ("INSERT INTO project (name, task, score_low, score_high, created_at) VALUES ('b', 'regression', 0, 1, '')",
         "2 projects"),
        ("UPDATE sentence SET text = x'00ff' WHERE id = (SELECT min(id) FROM sentence)", "'sentence'"),
        ("UPDATE sentence SET text = CAST(x'ff41' AS TEXT)", "cannot be used"),
        ("UPDATE gold_pair SET sentence1_id = 'x'", "gold_pair"),
        ("UPDATE gold_pair SET score = 7", "cannot be used|not whole"),
        ("UPDATE gold_pair SET raw_score = 9e999", "'gold_pair'"),
        ("UPDATE gold_pair SET sentence1_id = 88888, sentence2_id = 99999", "sentence"),
        ("UPDATE gold_pair SET project_id = 999", "'gold_pair'"),
        ("UPDATE gold_pair SET run_id = 4611686018427387904", "'gold_pair'"),
        ("UPDATE silver_pair SET sentence2_id = 99999 WHERE id = (SELECT min(id) FROM silver_pair)", "sentence"),
        ("UPDATE silver_pair SET rank = 999999999", "'silver_pair'"),
        ("UPDATE silver_pair SET final_score = 0.123", "cannot be used"),
        ("UPDATE silver_pair SET status = 'hacked'", "cannot be used"),
        ("UPDATE silver_set SET rule = 'x'", "'silver_set'"),
        ("UPDATE silver_set SET pool_set_id = id", "'silver_set'"),
        ("UPDATE silver_set SET candidate_set_id = 77", "not in it|cannot be used"),
        ("UPDATE run SET parent_run_id = id", "'run'"),
        ("UPDATE run SET state = 'started'", "'run'"),
        ("UPDATE run SET step = 'launch' WHERE step = 'gate'", "does not know"),
        ("UPDATE run SET options = '[]'", "JSON object"),
        ("UPDATE run SET options = '{\"x\": NaN}'", "JSON object"),
        ("UPDATE run SET options = '{\"seed\": \"x\"}'", "options that this workbench cannot read"),
        ("UPDATE run SET metrics = '{'", "JSON object"),
        ("UPDATE run SET metrics = '{\"x\": 9e999}'", "JSON object"),
        ("UPDATE run SET created_at = 'yesterday'", "no time"),
        ("UPDATE evaluation SET predictions = x'00'", "'evaluation'"),
        ("UPDATE evaluation SET predictions = 'text'", "'evaluation'"),
        ("UPDATE evaluation SET metric = 'luck'", "'evaluation'"),
        ("UPDATE evaluation SET details = '7'", "JSON object"),
        ("UPDATE edit SET kind = 'other'", "'edit'"),
        ("UPDATE edit SET kind = 'set-gold' WHERE subject = 'silver_pair'", "'edit'"),
        ("UPDATE edit SET subject = 'gold_pair'", "'edit'"),
        ("UPDATE edit SET state = 'perhaps'", "'edit'|cannot be used"),
        ("UPDATE edit SET state = 'logged' WHERE kind = 'review'", "'edit'"),
        ("UPDATE edit SET target_edit_id = 123456 WHERE kind = 'undo'", "'edit'"),
        ("UPDATE edit SET target_edit_id = id WHERE kind = 'undo'", "'edit'"),
        ("UPDATE edit SET target_edit_id = 1 WHERE kind = 'bulk-review'", "'edit'"),
        ("UPDATE edit SET actor = 'Eve' WHERE kind = 'undo'", "'edit'"),
        ("UPDATE edit SET actor = printf('%.*c', 300, 'x')", "'edit'"),
        ("UPDATE edit SET n_changes = -1", "'edit'"),
        ("UPDATE edit SET silver_set_id = 123456 WHERE subject = 'silver_pair' AND kind <> 'undo'", "'edit|not in it"),
        ("UPDATE edit SET at = ''", "no time"),
        ("UPDATE edit_change SET pair_id = 123456 + pair_id", "'edit_change'"),
        ("UPDATE edit_change SET edit_id = 123456 + edit_id", "'edit_change'"),
        ("UPDATE edit_change SET before_status = 'hacked'", "'edit_change'"),
        ("UPDATE edit_change SET after_score = 7", "'edit_change'"),
        ("UPDATE edit_change SET before_score = -0.5", "'edit_change'"),
        ("UPDATE edit_change SET before_unit = 0.5 WHERE before_unit IS NULL", "'edit_change'"),
        ("UPDATE edit_change SET before_unit = NULL", "'edit_change'"),
        ("UPDATE edit_change SET after_score = NULL WHERE before_unit IS NOT NULL", "'edit_change'"),
        ("UPDATE annotation_task SET levels = '[]'", "levels"),
        ("UPDATE annotation_task SET levels = '['", "JSON list"),
        ("UPDATE annotation_task SET levels = '[{\"label\": \"a\", \"score\": 0, \"key\": \"a\"}, {\"label\": \"b\",'"
         " || ' \"score\": 7, \"key\": \"b\"}]'", "levels"),
        ("UPDATE annotation_task SET levels = replace(levels, '\"2\"', '\"c\"')", "levels"),
        ("UPDATE annotation_task SET levels = replace(levels, '\"2\"', '\"1\"')", "levels"),
        ("UPDATE annotation_task SET queue = 'magic'", "'annotation_task'"),
        ("UPDATE annotation_task SET scale = 'magic'", "'annotation_task'"),
        ("UPDATE annotation_task SET kind = 'magic'", "cannot be used|'best_worst_tuple'"),
        ("UPDATE annotation_task SET purpose = 'magic'", "cannot be used"),
        ("UPDATE annotation_task SET source = 'magic'", "cannot be used|'annotation_item'"),
        ("UPDATE annotation_task SET n_scores = 0", "cannot be used"),
        ("UPDATE annotation_task SET name = ''", "'annotation_task'"),
        ("UPDATE annotation_task SET silver_set_id = 123456", "not in it"),
        ("UPDATE annotation_task SET run_id = (SELECT id FROM run WHERE step = 'gate') WHERE kind = 'best-worst'",
         "'annotation_task'"),
        ("UPDATE annotation_item SET sentence2_id = 123456", "not in it"),
        ("UPDATE annotation_item SET suggestion = 1.5", "cannot be used"),
        ("UPDATE annotation_item SET adjudicator = NULL", "'annotation_item'"),
        ("UPDATE annotation_item SET adjudicated_score = 3", "cannot be used"),
        ("UPDATE annotation_item SET source_pair_id = 123456", "'annotation_item'"),
        ("UPDATE annotation_item SET reason = printf('%.*c', 20000, 'x')", "'annotation_item'"),
        ("UPDATE annotation_item SET stratum = 1, stratum_size = -1", "'annotation_item'"),
        ("UPDATE annotation_event SET action = 'hacked'", "'annotation_event'"),
        ("UPDATE annotation_event SET score = 2 WHERE action = 'score'", "cannot be used"),
        ("UPDATE annotation_event SET score = NULL", "'annotation_event'"),
        ("UPDATE annotation_event SET undone_event_id = 123456 WHERE action = 'undo'", "'annotation_event'"),
        ("UPDATE annotation_event SET undone_event_id = id", "'annotation_event'"),
        ("UPDATE annotation_event SET annotator = ''", "'annotation_event'"),
        ("UPDATE annotation_event SET seconds = -1", "'annotation_event'"),
        ("UPDATE annotation_event SET at = 'yesterday' WHERE action = 'undo'", "no time"),
        ("UPDATE annotation_event SET item_id = 123456", "'annotation_event'"),
        ("UPDATE annotation_event SET task_id = task_id + 1", "'annotation_event'"),
        ("UPDATE annotation SET state = 'claimed'", "'annotation'"),
        ("UPDATE annotation SET at = '' WHERE state = 'scored'", "'annotation'"),
        ("UPDATE annotation SET score = NULL", "'annotation'"),
        ("UPDATE annotation SET flagged = 7", "'annotation'"),
        ("UPDATE best_worst_tuple SET item1_id = item2_id", "'best_worst_tuple'"),
        ("UPDATE best_worst_tuple SET item1_id = 123456", "'best_worst_tuple'"),
        ("UPDATE best_worst_tuple SET item1_id = (SELECT min(id) FROM annotation_item)", "'best_worst_tuple'"),
        ("UPDATE best_worst_answer SET best_item_id = worst_item_id", "'best_worst_answer'"),
        ("UPDATE best_worst_answer SET best_item_id = NULL", "'best_worst_answer'"),
        ("UPDATE best_worst_answer SET best_item_id = 123456", "'best_worst_answer'"),
        ("UPDATE best_worst_answer SET action = 'skip'", "'best_worst_answer'"),
        ("UPDATE best_worst_answer SET tuple_id = 123456", "'best_worst_answer'"),
        ("UPDATE best_worst_answer SET shown = '[1, 1, 1, 1]'", "order of four"),
        ("UPDATE best_worst_answer SET shown = '[123456, 123457, 123458, 123459]'", "not in it"),
        ("UPDATE best_worst_answer SET shown = '{}'", "order of four"),
        ("UPDATE out_of_fold SET score = 7", "cannot be used"),
        ("UPDATE out_of_fold SET gold_pair_id = 123456 + gold_pair_id", "'out_of_fold'"),
        ("UPDATE out_of_fold SET run_id = (SELECT id FROM run WHERE step = 'gate')", "'out_of_fold'"),
        ("UPDATE project SET guideline = printf('%.*c', 30000, 'x')", "'project'"),
        ("UPDATE project SET score_low = 9, score_high = 1", "'edit_change'"),
        ("UPDATE project SET score_low = 0, score_high = 1e14", "scale"),
        ("UPDATE project SET task = 'other'", "cannot be used"),
        ("UPDATE project SET name = ''", "1 to 80"),
    ],
)  # fmt: skip
def test_a_database_that_was_tampered_with_is_refused(
    archive: Path, elsewhere: Workspace, tmp_path: Path, statement: str, words: str
) -> None:
    refused(elsewhere, with_statement(archive, tmp_path, statement), words)


def changed_run(step: str, column: str, **told: Any) -> str:
    """SQL that changes what the runs of a step were told, or what came out; {} in place of it all without `told`."""
    text = json.dumps(told).replace("'", "''")
    return f"UPDATE run SET {column} = json_patch({column}, '{text}') WHERE step = '{step}'"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE run SET metrics = '{}' WHERE step = 'gate'",
        "UPDATE run SET metrics = json_set(metrics, '$.n_steps', NULL)",
        "UPDATE run SET metrics = '{\"n_steps\": ' || printf('1%0400d', 0) || '}'",
        "UPDATE run SET options = json_set(options, '$.seed', 1e300)",
        "UPDATE run SET options = json_set(options, '$.seed', 9007199254740993) WHERE step = 'label'",
        changed_run("train-bi-encoder", "metrics", n_steps=[]),
        changed_run("train-bi-encoder", "metrics", n_steps=-3),
        changed_run("train-bi-encoder", "metrics", dev_score="good"),
        changed_run("train-bi-encoder", "metrics", dev_score=1e300),
        changed_run("train-bi-encoder", "metrics", seconds={"a": 1}),
        changed_run("train-bi-encoder", "metrics", stages=[{"data": "gold"}]),
        changed_run("train-bi-encoder", "metrics", anything={"deep": [1e300]}),
        changed_run("train-cross-encoder", "metrics", notes="one"),
        changed_run("train-cross-encoder", "metrics", threshold=True),
        changed_run("label", "metrics", pairs_per_second=1e-320),
        changed_run("gate", "metrics", rows=[]),
        changed_run("gate", "metrics", rows=[{"labeler": "run:1"}]),
        changed_run("gate", "metrics", rows=[{"labeler": "run:1", "value": 0.5, "low": 0.4}]),
        changed_run("gate", "metrics", student=[1]),
        changed_run("gate", "metrics", verdict=7),
        changed_run("batch", "metrics", summary=[1]),
        changed_run("batch", "metrics", summary={"groups": [{}]}),
        changed_run("batch", "metrics", summary={"rows": []}),
        changed_run("batch", "metrics", outcome={"sentence": "x"}),
        changed_run("import", "metrics", joint=[]),
        changed_run("import", "metrics", joint={"leaks": [{"earlier": "train"}]}),
        changed_run("import", "metrics", joint={"overview": {"lengths": [1, 2]}}),
        changed_run("import", "metrics", pairs_kept="many"),
        changed_run("train-bi-encoder", "options", batch_size=0),
        changed_run("train-bi-encoder", "options", batch_size=None),
        changed_run("train-bi-encoder", "options", layers=0),
        changed_run("train-bi-encoder", "options", learning_rate=0),
        changed_run("train-bi-encoder", "options", first_stage=9),
        changed_run("train-bi-encoder", "options", loss="magic"),
        changed_run("train-bi-encoder", "options", stages=[{"data": "magic"}]),
        changed_run("train-bi-encoder", "options", scale=10**30),
        "UPDATE run SET metrics = '{\"x\": ' || printf('%.*c', 700, '[') || printf('%.*c', 700, ']') || '}'",
        changed_run("batch", "options", runs=[{"key": "a", "step": "label", "options": "[]"}]),
        "UPDATE silver_set SET rule = 'kde' WHERE rule IS NULL",
        "UPDATE silver_set SET rule = 'top-k' WHERE rule = 'kde'",
        "UPDATE silver_set SET rule = NULL WHERE rule = 'kde'",
        "UPDATE candidate_set SET strategy = 'stratified-kde'",
        "UPDATE evaluation SET n_pairs = 0, predictions = x''",
        "UPDATE evaluation SET n_pairs = 1, predictions = x'0000003f'",
        "UPDATE evaluation SET predictions = CAST(replace(hex(predictions), hex(predictions), "
        "substr('0000807f0000807f0000807f0000807f', 1, 8 * n_pairs)) AS BLOB)",
        "UPDATE evaluation SET metric = 'f1'",
        "UPDATE evaluation SET value = 1e300",
        "UPDATE evaluation SET low = NULL",
        "UPDATE evaluation SET details = '{\"mse\": \"low\"}'",
        "UPDATE evaluation SET details = '{\"dev_curve\": [1]}'",
        "UPDATE run SET created_at = '0001-01-01T00:00:00+00:00'",
        "UPDATE silver_pair SET sampler_score = 1e300",
        "UPDATE project SET score_low = 0, score_high = 5e-324",
        "UPDATE project SET score_low = -1.7e308, score_high = 1.7e308",
        "UPDATE gold_pair SET raw_score = 1e300",
        "UPDATE metric SET value = 1e300",
    ],
)  # fmt: skip
def test_what_the_workbench_never_writes_is_refused(
    archive: Path, elsewhere: Workspace, tmp_path: Path, statement: str
) -> None:
    path = with_statement(archive, tmp_path, statement)
    refused(elsewhere, path, "not what the workbench writes|cannot be|JSON object|cannot read")


def test_words_of_options_are_those_of_the_steps() -> None:
    """Whoever adds a loss or a rule must let it into archives too."""
    from augsbert_core.models.losses import LOSSES
    from augsbert_core.models.pair_losses import PAIR_LOSSES
    from augsbert_core.options import importing
    from augsbert_core.queues import QUEUES
    from augsbert_core.sampling.tokenize import STOP_WORDS
    from augsbert_core.scales import SCALES
    from augsbert_core.steps import (
        negatives,
        recipe_checks,
        training_data,
        warm_start,
    )
    from augsbert_core.steps.keep import RULES

    assert {
        "loss": {*LOSSES, *PAIR_LOSSES},
        "stop_words": set(STOP_WORDS),
        "rule": set(RULES),
        "mixing": set(recipe_checks.MIXINGS),
        "schedule": set(recipe_checks.SCHEDULES),
        "negatives": set(negatives.NEGATIVES),
        "warm_start": set(warm_start.WARM_STARTS),
        "data": set(training_data.DATA),
        "split_way": set(importing.SPLIT_WAYS),
        "subsample": set(importing.SUBSAMPLES),
        "leaks": set(importing.LEAKS),
        "queue": set(QUEUES),
        "scale": {*SCALES, "custom"},
    }.items() <= archive_options.WORDS.items()


def test_a_damaged_database_is_refused(archive: Path, elsewhere: Workspace, tmp_path: Path) -> None:
    database = bytearray(members_of(archive)["project.db"])
    refused(elsewhere, rewritten(archive, tmp_path, database=b""), "no SQLite database")
    refused(
        elsewhere, rewritten(archive, tmp_path, database=bytes(database[:5000])), "cannot be used"
    )
    chance = random.Random(1)
    for _ in range(20):
        changed = bytearray(database)
        for _ in range(200):
            changed[chance.randrange(100, len(changed))] = chance.randrange(256)
        path = rewritten(archive, tmp_path, database=bytes(changed))
        refused(elsewhere, path, "cannot be used|not whole|cannot read|does not know")


def test_a_local_file_cannot_be_smuggled_out(
    archive: Path, elsewhere: Workspace, tmp_path: Path
) -> None:
    """Pages offer the files that some results name: paths from elsewhere must not reach them."""
    told = json.dumps({"jsonl": "/etc/passwd", "csv": "../../secret", "n_queries": 1})
    step = (
        "UPDATE run SET step = 'mine-negatives', options = '{}', metrics = '%s' WHERE step = 'gate'"
    )
    files = "UPDATE run SET step = 'import-files', options = '%s' WHERE step = 'reproduce'"
    upload = json.dumps({"files": [{"path": "../../etc/passwd", "name": "x", "options": "{}"}]})
    path = with_statement(
        archive, tmp_path, step % told, files % upload, "UPDATE run SET model_path = '/etc'"
    )
    project_id = import_project(elsewhere, path).project_id
    (mined,) = runs.list_runs(elsewhere, project_id, "mine-negatives")
    assert mined.metrics == {"n_queries": 1}
    (imported,) = runs.list_runs(elsewhere, project_id, "import-files")
    assert json.loads(imported.options)["files"][0]["path"] == "passwd"
    assert {run.model_path for run in runs.list_runs(elsewhere, project_id)} == {None}


def test_an_archive_in_memory_can_be_read(archive: Path, elsewhere: Workspace) -> None:
    """As the browser hands it over."""
    file = io.BytesIO(archive.read_bytes())
    assert look_into(file).project == "Tiny"
    assert import_project(elsewhere, file).name == "Tiny"


def test_there_must_be_room(
    archive: Path, elsewhere: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(elsewhere.home)._replace(free=1000)
    monkeypatch.setattr(project_archive.shutil, "disk_usage", lambda path: usage)
    refused(elsewhere, archive, "Make room")


# --- the command line, and size ----------------------------------------------------------------------


def command(home: Path, *words: str) -> Any:
    return CliRunner().invoke(app, ["--home", str(home), *words])


def test_the_commands_do_the_same(
    origin: Workspace, rich: Rich, elsewhere: Workspace, tmp_path: Path
) -> None:
    path = tmp_path / "cli.zip"
    told = command(origin.home, "export", "project", "-p", "Tiny", "--output", str(path), "--json")
    assert json.loads(told.stdout)["counts"]["gold_pairs"] == 11
    told = command(elsewhere.home, "import-project", str(path), "--name", "Copy")
    assert told.exit_code == 0
    assert "Copy: 11 gold pairs, 8 silver pairs" in told.stdout
    told = command(elsewhere.home, "import-project", str(path), "--name", "Copy")
    assert isinstance(told.exception, WorkbenchError)


def test_many_silver_pairs_travel_in_bounded_memory(
    workspace: Workspace, project: Project, elsewhere: Workspace, tmp_path: Path
) -> None:
    """Rows go from database to database, never all of them through Python at once."""
    import tracemalloc

    n_pairs = 60_000
    ids = silver_pairs.corpus(workspace, project, 400)
    set_id = silver_pairs.silver_set(
        workspace, project, silver_pairs.candidate_set(workspace, project, ids, n_pairs)
    )
    scores = np.linspace(0, 1, n_pairs).tolist()
    for start in range(0, n_pairs, 30_000):
        silver_pairs.label(workspace, set_id, scores[start : start + 30_000])
    path = tmp_path / "large.zip"
    tracemalloc.start()
    export_project(workspace, project.id, path)
    out = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    done = import_project(elsewhere, path)
    into = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert done.counts["silver_pairs"] == n_pairs
    assert out < 30_000_000
    assert into < 60_000_000


def test_no_index_of_pairs_is_walked_for_every_two_sentences(
    origin: Workspace, rich: Rich, tmp_path: Path
) -> None:
    """That would be quadratic: an export looks at each row of the project once."""
    with closing(sqlite3.connect(tmp_path / "plan.db", isolation_level=None)) as connection:
        migrate(Database(connection, execute_plugins=False))
        connection.execute("ATTACH ? AS home", [str(origin.database)])
        told = {"project": rich.project.id}
        for statement in archives.KEPT_SQL.split(";\n\n"):
            connection.execute(statement, told)
        archives._leave_places_behind(connection, rich.project.id)
        for table in archives.OUT:
            statement = archives._copy_sql(connection, table)
            plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", told)]
            assert not [
                line
                for line in plan
                if re.search(r"\b(sentence1|premise|anchor|subject)_id=", line)
            ]


def test_an_export_of_four_times_as_many_pairs_takes_about_four_times_the_work(
    tmp_path: Path,
) -> None:
    """Work is counted in steps of SQLite, which no machine makes faster or slower."""

    def work(n_pairs: int) -> int:
        home = open_workspace(tmp_path / str(n_pairs))
        project = projects.create_project(home, "P")
        rows = "".join(f"left {n}\tright {n}\t{n % 6}\n" for n in range(n_pairs))
        text = f"sentence1\tsentence2\tscore\n{rows}".encode()
        import_file(home, project.id, text, "g.tsv", ImportOptions(score_range=(0.0, 5.0)))
        ids = silver_pairs.corpus(home, project, n_pairs // 2)
        silver_pairs.candidate_set(home, project, ids, n_pairs)
        runs_of = "UPDATE run SET state = 'done'"
        with writing(home) as db:
            db.execute(runs_of)
        steps = 0

        def count() -> int:
            nonlocal steps
            steps += 1
            return 0

        with closing(sqlite3.connect(tmp_path / f"{n_pairs}.db", isolation_level=None)) as copy:
            copy.set_progress_handler(count, 100)
            archives._copy(copy, home, project.id, silent)
            (n_copied,) = copy.execute("SELECT count(*) FROM gold_pair").fetchone()
            assert n_copied == n_pairs
        return steps

    assert work(1600) < 6 * work(400)


KILLED = """
import os, sys
from pathlib import Path
from augsbert_core.storage.archive_folders import working_folder
from augsbert_core.storage.database import Workspace
with working_folder(Workspace(Path(sys.argv[1])), ".import-") as folder:
    (folder / "project.db").write_bytes(b"half")
    print(folder.name, flush=True)
    sys.stdin.read()
"""


def test_what_a_killed_command_left_goes_with_the_next_one(
    origin: Workspace, rich: Rich, archive: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", KILLED, str(origin.home)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        name = other.stdout.readline().strip()
        export_project(origin, rich.project.id, tmp_path / "meanwhile.zip")
        assert left_over(origin) == [name], "the folder of a process at work stays"
        other.kill()
        other.wait()
    import_project(origin, archive)
    assert left_over(origin) == []


def test_a_folder_without_an_owner_goes_when_it_is_old(workspace: Workspace) -> None:
    young, old = (workspace.home / f".export-{name}" for name in ("young", "old"))
    for folder in (young, old):
        folder.mkdir()
    os.utime(old, (1e9, 1e9))
    assert sweep_folders(workspace) == [".export-old"]
    assert left_over(workspace) == [".export-young"]


@pytest.mark.skipif(os.name == "nt", reason="permissions of folders")
def test_a_place_that_cannot_be_written_is_a_sentence(
    origin: Workspace, rich: Rich, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WorkbenchError, match="cannot be written"):
        export_project(origin, rich.project.id, tmp_path / "file" / "x.zip")
