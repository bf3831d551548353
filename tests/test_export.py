"""Models, silver sets and scripts leave the workbench: whole, usable, and without anybody's sentences."""

import csv
import getpass
import json
import os
import socket
import subprocess
import sys
import tomllib
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from augsbert_core import jobs
from augsbert_core.errors import WorkbenchError
from augsbert_core.exporting.files import Entry, write_folder, write_zip
from augsbert_core.options import (
    BiEncoderOptions,
    CrossEncoderOptions,
    EvaluateOptions,
    ImportOptions,
    from_json,
)
from augsbert_core.pairs import SPLITS
from augsbert_core.steps import export, export_data
from augsbert_core.steps.card_facts import model_facts
from augsbert_core.steps.import_data import import_file
from augsbert_core.storage import gold, projects, reviews, runs
from augsbert_core.storage.database import Workspace, open_workspace, writing
from augsbert_core.storage.records import Project
from tests import silver_pairs
from tests.conftest import GOLD_CSV
from tests.tiny import tiny_bert

FILE_NAME = "my-secret-file.csv"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workspace, Project, dict[str, int]]:
    """A project with a trained and measured bi-encoder (attention pooling) and a cross-encoder."""
    home = tmp_path_factory.mktemp("home")
    workspace = open_workspace(home)
    made = projects.create_project(workspace, "Secret project")
    import_file(
        workspace, made.id, GOLD_CSV.encode(), FILE_NAME, ImportOptions(score_range=(0.0, 5.0))
    )
    project = projects.get_project(workspace, made.id)
    base = tiny_bert(home / "base", GOLD_CSV.splitlines())
    told = {"base": base, "epochs": 1, "batch_size": 2, "max_length": 32}
    found = {}
    for name, step, options in (
        ("bi", "train-bi-encoder", BiEncoderOptions(**told, pooling="attention")),
        ("cross", "train-cross-encoder", CrossEncoderOptions(**told, warm_start="off")),
    ):
        result = jobs.run_in_foreground(workspace, project.id, step, options)
        found[name] = result["run_id"]
    targets = (f"run:{found['bi']}", f"model:{base}", "jaccard")
    jobs.run_in_foreground(workspace, project.id, "evaluate", EvaluateOptions(targets=targets))
    return workspace, project, found


def test_an_exported_model_holds_nobodys_words(trained, tmp_path: Path) -> None:
    workspace, project, run_ids = trained
    for name, run_id in run_ids.items():
        folder = tmp_path / name
        export.export_model(workspace, run_id, folder)
        assert not list(folder.rglob("*.bin"))
        texts = {
            path: path.read_text(encoding="utf-8")
            for path in folder.rglob("*")
            if path.suffix in (".md", ".json")
        }
        secrets = [
            str(workspace.home),
            str(tmp_path),
            socket.gethostname(),
            FILE_NAME,
            project.name,
        ]
        secrets += [str(Path.home()) + os.sep, f"{os.sep}{getpass.getuser()}{os.sep}"]
        for split in SPLITS:
            pairs = gold.scored_pairs(workspace, project.id, split)
            secrets += [*pairs.sentences1, *pairs.sentences2]
        for path, text in texts.items():
            for secret in secrets:
                assert secret not in text, f"{path.name} holds {secret!r}"


def test_the_card_shows_the_scores_of_the_compare_table(trained) -> None:
    workspace, _, run_ids = trained
    facts = model_facts(workspace, run_ids["bi"])
    names = [score.name for score in facts.scores]
    assert names[0] == "**this model**"
    assert names[facts.baseline or 0] == "its base, untrained (cosine)"
    assert "word overlap (Jaccard)" in names
    assert facts.base is None, "a folder is no name on the hub"
    assert (facts.n_gold, facts.n_dev, facts.n_test) == (5, 3, 3)
    assert facts.data_hash == runs.get_run(workspace, run_ids["bi"]).data_hash


def test_a_folder_and_a_zip_hold_the_same_model(trained, tmp_path: Path) -> None:
    workspace, _, run_ids = trained
    export.export_model(workspace, run_ids["cross"], tmp_path / "model")
    export.export_model(workspace, run_ids["cross"], tmp_path / "model.zip")
    with zipfile.ZipFile(tmp_path / "model.zip") as archive:
        names = set(archive.namelist())
        for name in names:
            assert archive.read(name) == (tmp_path / "model" / name).read_bytes(), name
        weights = archive.getinfo("model.safetensors")
        assert weights.compress_type == zipfile.ZIP_STORED
        assert weights.external_attr >> 16 == 0o644
    on_disk = {
        p.relative_to(tmp_path / "model").as_posix()
        for p in (tmp_path / "model").rglob("*")
        if p.is_file()
    }
    assert names == on_disk
    assert "README.md" in names
    for target in ("model", "model.zip"):
        with pytest.raises(WorkbenchError, match="exists already"):
            export.export_model(workspace, run_ids["cross"], tmp_path / target)


def test_the_exported_models_load_as_their_cards_say(trained, tmp_path: Path) -> None:
    from sentence_transformers import CrossEncoder, SentenceTransformer

    workspace, _, run_ids = trained
    for name, run_id in run_ids.items():
        export.export_model(workspace, run_id, tmp_path / name)
    card = (tmp_path / "bi" / "README.md").read_text(encoding="utf-8")
    assert "augsbert_core.models.attention_pooling.AttentionPooling" in card
    assert 'SentenceTransformer("path/to/this/folder", trust_remote_code=True)' in card
    student = SentenceTransformer(str(tmp_path / "bi"), device="cpu", trust_remote_code=True)
    assert student.encode(["One sentence.", "Another one."]).shape == (2, 32)
    assert "trust_remote_code" not in (tmp_path / "cross" / "README.md").read_text(encoding="utf-8")
    labeler = CrossEncoder(str(tmp_path / "cross"), device="cpu")
    assert 0 <= labeler.predict([("One sentence.", "Another one.")])[0] <= 1


def test_a_recipe_can_be_read_back(trained) -> None:
    workspace, _, run_ids = trained
    for run_id, options_class in (
        (run_ids["bi"], BiEncoderOptions),
        (run_ids["cross"], CrossEncoderOptions),
    ):
        told = from_json(options_class, runs.get_run(workspace, run_id).options)
        read = tomllib.loads(export.recipe_text(workspace, run_id))
        assert from_json(options_class, json.dumps(read)) == told


RUNNER = """
import runpy, sys
gold, base, *scripts = sys.argv[1:]
for script in scripts:
    folder = script.rsplit("/", 1)[0]
    sys.path.insert(0, folder)
    sys.argv = [script, "--base", base, "--gold", gold, "--output", folder + "/model"]
    runpy.run_path(script, run_name="__main__")
assert not [name for name in sys.modules if name.startswith("augsbert_core")]
"""


def test_the_scripts_train_without_the_workbench(trained, tmp_path: Path) -> None:
    """Both scripts in one process, which costs the imports once."""
    workspace, project, run_ids = trained
    export_data.export_gold(workspace, project.id, tmp_path / "gold.jsonl")
    for name, run_id in run_ids.items():
        export.export_script(workspace, run_id, tmp_path / name)
        text = (tmp_path / name / "train.py").read_text(encoding="utf-8")
        assert str(workspace.home) not in text
    assert (tmp_path / "bi" / "attention_pooling.py").is_file()
    scripts = [str(tmp_path / name / "train.py") for name in run_ids]
    base = str(workspace.home / "base")
    result = subprocess.run(
        [sys.executable, "-c", RUNNER, str(tmp_path / "gold.jsonl"), base, *scripts],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": "", "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    assert "test_spearman_cosine" in result.stdout
    for name in run_ids:
        assert (tmp_path / name / "model" / "model.safetensors").is_file()


def test_made_negatives_cannot_be_a_script(trained) -> None:
    workspace, _, run_ids = trained
    run = runs.get_run(workspace, run_ids["cross"])
    assert export.script_refusal(run) is None
    refusal = export.script_refusal(replace(run, metrics={"negatives": "mined"}))
    assert refusal is not None
    assert "mined" in refusal


# --- silver sets and gold ---------------------------------------------------------------------------


@pytest.fixture
def silver(workspace: Workspace, project: Project) -> int:
    """Sixty pairs; one was corrected, one looks like a formula, one has an uncertain label."""
    set_id = silver_pairs.sixty_pairs(workspace, project)
    first = silver_pairs.all_pairs(workspace, set_id)[0]
    reviews.review_silver_pair(
        workspace, first["id"], correction=1.0, status="corrected", actor="me"
    )
    with writing(workspace) as db:
        db.execute("UPDATE sentence SET text = '=1+1' WHERE id = ?", [first["sentence1_id"]])
        db.execute("UPDATE silver_pair SET order_gap = 0.25 WHERE id = ?", [first["id"]])
    return set_id


def test_a_silver_set_as_csv_and_json_lines(
    workspace: Workspace, silver: int, tmp_path: Path
) -> None:
    assert export_data.export_silver(workspace, silver, tmp_path / "s.csv") == 60
    export_data.export_silver(workspace, silver, tmp_path / "s.jsonl")
    assert (tmp_path / "s.csv").read_bytes().startswith(b"\xef\xbb\xbf"), "Excel needs the mark"
    with (tmp_path / "s.csv").open(encoding="utf-8-sig", newline="") as file:
        table = list(csv.DictReader(file))
    lines = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text("utf-8").splitlines()]
    assert len(table) == len(lines) == 60
    assert (table[0]["sentence1"], lines[0]["sentence1"]) == ("'=1+1", "=1+1")
    assert lines[0] == {
        "sentence1": "=1+1", "sentence2": "sentence 1", "score": 5.0, "scaled_score": 1.0, "labeler_score": 0.0,
        "status": "corrected", "correction": 5.0, "rank": 1, "strategy": "BM25 top-5", "labeler": "run 1",
        "order_gap": 0.25, "annotator": "me", "reviewed_at": lines[0]["reviewed_at"],
    }  # fmt: skip
    assert "order_gap" not in lines[1], "unknown is left out"
    assert "label_spread" not in table[0], "no pair has one"


def test_a_silver_zip_has_a_card_with_counts(
    workspace: Workspace, silver: int, tmp_path: Path
) -> None:
    export_data.export_silver(workspace, silver, tmp_path / "s.zip")
    with zipfile.ZipFile(tmp_path / "s.zip") as archive:
        assert sorted(archive.namelist()) == ["README.md", "silver.csv", "silver.jsonl"]
        card = archive.read("README.md").decode()
        assert len(archive.read("silver.jsonl").splitlines()) == 60
    assert "| corrected | 1 |" in card
    assert "| unreviewed | 59 |" in card
    assert "labeler: run 1, 60 labels" in card
    assert "| 4.69 to 5 | 1 | 1.7 |" in card, "the corrected pair"
    assert "sentence 1" not in card
    with pytest.raises(WorkbenchError, match="exists already"):
        export_data.export_silver(workspace, silver, tmp_path / "s.zip")


def test_a_labelers_folder_is_not_named(
    workspace: Workspace, project: Project, tmp_path: Path
) -> None:
    candidates = silver_pairs.candidate_set(
        workspace, project, silver_pairs.corpus(workspace, project, 5), 3
    )
    set_id = silver_pairs.silver_set(workspace, project, candidates, str(tmp_path))
    silver_pairs.label(workspace, set_id, [0.1, 0.5, 0.9])
    card = export_data.silver_entries(workspace, set_id)[0].source
    assert isinstance(card, bytes)
    assert str(tmp_path) not in card.decode()
    assert "a model from a folder of its own" in card.decode()


def test_gold_keeps_its_order_scale_and_splits(
    workspace: Workspace, project: Project, tmp_path: Path
) -> None:
    assert export_data.export_gold(workspace, project.id, tmp_path / "g.jsonl") == 11
    lines = [json.loads(line) for line in (tmp_path / "g.jsonl").read_text("utf-8").splitlines()]
    assert lines[0] == {
        "sentence1": "A cat sleeps on the sofa.", "sentence2": "A cat is asleep on the couch.",
        "score": 4.5, "scaled_score": 0.9, "split": "train", "source_file": "gold.csv", "source_line": 2,
    }  # fmt: skip
    assert [line["split"] for line in lines] == ["train"] * 5 + ["dev"] * 3 + ["test"] * 3


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    def fail(file: object) -> None:
        raise OSError("no space left")

    entries = [Entry("a.txt", b"a"), Entry("b/c.txt", fail)]
    for write, name in ((write_folder, "folder"), (write_zip, "file.zip")):
        with pytest.raises(WorkbenchError, match="no space left"):
            write(entries, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_run_without_a_model_is_refused(workspace: Workspace, project: Project) -> None:
    run_id = runs.add_run(workspace, project.id, "sample", "s", "{}", 1)
    with pytest.raises(WorkbenchError, match="which has no model"):
        export.model_entries(workspace, run_id)
    with pytest.raises(WorkbenchError, match="trains a model"):
        export.recipe_text(workspace, run_id)
