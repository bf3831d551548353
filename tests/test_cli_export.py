"""`augsbert export gold|silver|corrections`: every format, the filters of the pages, and files that come back equal."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from augsbert_core import processes
from augsbert_core.importing.reading import read_table
from augsbert_core.storage import projects, reviews
from augsbert_core.storage.database import Workspace, open_workspace
from augsbert_core.storage.records import Project
from tests import silver_pairs
from tests.conftest import GOLD_CSV
from tests.test_cli import Terminal

RANGE = ("--score-range", "0:5")


@pytest.fixture
def augsbert(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Terminal:
    """A command line with the tiny gold pairs, one of them a formula, in project "P"."""
    terminal = Terminal(tmp_path / "home", capsys)
    gold = GOLD_CSV.replace("The train has a delay.", "=1+1")
    (tmp_path / "gold.csv").write_text(gold, encoding="utf-8")
    terminal.json("import", tmp_path / "gold.csv", "-p", "P", *RANGE)
    return terminal


@pytest.fixture
def workspace(augsbert: Terminal) -> Workspace:
    return open_workspace(augsbert.home)


@pytest.fixture
def project(workspace: Workspace) -> Project:
    return projects.project_named(workspace, "P")


@pytest.fixture
def silver(workspace: Workspace, project: Project) -> int:
    """Sixty pairs of ranks 1 to 3 scored 0, 1/64 …; the first was corrected to 1, the second rejected."""
    set_id = silver_pairs.sixty_pairs(workspace, project)
    first, second = silver_pairs.all_pairs(workspace, set_id)[:2]
    reviews.review_silver_pair(
        workspace, first["id"], correction=1.0, status="corrected", actor="ann"
    )
    reviews.review_silver_pair(workspace, second["id"], status="rejected", actor="bob")
    return set_id


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


# --- gold -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".tsv", ".jsonl", ".parquet", ""])
def test_what_a_machine_format_holds_is_imported_again_as_it_was(
    augsbert: Terminal, tmp_path: Path, ending: str
) -> None:
    target = tmp_path / f"out{ending}"
    assert augsbert.json("export", "gold", "-p", "P", "--output", target)["n_pairs"] == 11
    again = augsbert.json("import", target, "-p", "Again", *RANGE)
    assert again["splits"] == {"train": 5, "dev": 3, "test": 3}

    kept = []
    for name in ("P", "Again"):
        augsbert.json("export", "gold", "-p", name, "--output", tmp_path / f"{name}.jsonl")
        rows = lines(tmp_path / f"{name}.jsonl")
        kept.append([(r["sentence1"], r["sentence2"], r["score"], r["split"]) for r in rows])
    assert kept[0] == kept[1]
    assert "=1+1" in {row[1] for row in kept[0]}


def test_spreadsheets_are_safe_unless_told_otherwise(augsbert: Terminal, tmp_path: Path) -> None:
    for name, told, cell in (
        ("a.csv", (), "'=1+1"),
        ("b.csv", ("--no-safe",), "=1+1"),
        ("c.xlsx", (), "'=1+1"),
        ("d.tsv", (), "=1+1"),
        ("e.tsv", ("--safe",), "'=1+1"),
        ("f.jsonl", (), "=1+1"),
    ):
        target = tmp_path / name
        augsbert.json("export", "gold", "-p", "P", "--output", target, "--split", "test", *told)
        table = read_table(target.read_bytes(), name)
        assert table.header is not None
        assert table.rows[0][table.header.index("sentence2")] == cell, name


def test_gold_is_filtered_on_the_scale_that_people_know(augsbert: Terminal, tmp_path: Path) -> None:
    def scores(name: str, *told: object) -> list[float]:
        augsbert.json("export", "gold", "-p", "P", "--output", tmp_path / name, *told)
        return [row["score"] for row in lines(tmp_path / name)]

    assert scores("all.jsonl", "--low", 4) == [4.5, 4.0, 4.0, 5.0]
    assert scores("some.jsonl", "--low", 2, "--high", 3.5, "--split", "train") == [2.0, 3.5]
    assert len(scores("two.jsonl", "--split", "dev", "--split", "test")) == 6
    assert scores("text.jsonl", "--text", "GUITAR") == [2.0, 3.5]
    code, _, err = augsbert(
        *("export", "gold", "-p", "P", "--output", tmp_path / "no.csv", "--low", 4, "--high", 1)
    )
    assert code == 1
    assert "0:5" in err
    assert not (tmp_path / "no.csv").exists()


def test_the_format_can_be_named(augsbert: Terminal, tmp_path: Path) -> None:
    target = tmp_path / "gold.data"
    code, _, err = augsbert("export", "gold", "-p", "P", "--output", target)
    assert code == 1
    assert ".parquet" in err
    assert augsbert("export", "gold", "-p", "P", "--output", target, "--format", "jsonl")[0] == 0
    assert len(lines(target)) == 11
    again = augsbert("export", "gold", "-p", "P", "--output", target, "--format", "jsonl")
    assert (again[0], "exists already" in again[2]) == (1, True)
    assert augsbert("export", "gold", "-p", "P", "--output", target, "--format", "doc")[0] == 2


# --- silver -----------------------------------------------------------------------------------------


def test_a_silver_set_is_filtered_as_on_its_page(
    augsbert: Terminal, silver: int, tmp_path: Path
) -> None:
    def rows(name: str, *told: object) -> list[dict]:
        output = ("--silver", silver, "--output", tmp_path / name)
        n_pairs = augsbert.json("export", "silver", *output, *told)["n_pairs"]
        found = lines(tmp_path / name)
        assert len(found) == n_pairs
        return found

    assert len(rows("all.jsonl")) == 60
    assert {row["rank"] for row in rows("rank.jsonl", "--min-rank", 2, "--max-rank", 2)} == {2}
    reviewed = rows("reviewed.jsonl", "--status", "corrected", "--status", "rejected")
    assert [(row["status"], row["annotator"]) for row in reviewed] == [
        ("corrected", "ann"),
        ("rejected", "bob"),
    ]
    high = rows("high.jsonl", "--low", 4.5)
    assert min(row["score"] for row in high) >= 4.5
    assert 5.0 in {row["score"] for row in high}, "the corrected pair"
    found = rows("text.jsonl", "--text", "sentence 13")
    assert found
    assert all("sentence 13" in row["sentence1"] + row["sentence2"] for row in found)


@pytest.mark.parametrize("name", ["s.csv", "s.tsv", "s.xlsx", "s.parquet", "s.jsonl"])
def test_a_silver_set_is_written_in_every_format(
    augsbert: Terminal, silver: int, tmp_path: Path, name: str
) -> None:
    code, out, _ = augsbert("export", "silver", "--silver", silver, "--output", tmp_path / name)
    assert (code, out) == (0, f"{tmp_path / name}: 60 pairs.\n")
    table = read_table((tmp_path / name).read_bytes(), name)
    assert table.header is not None
    assert {"sentence1", "sentence2", "score", "status", "labeler"} <= set(table.header)
    assert len(table.rows) == 60


def test_a_folder_holds_a_card_unless_a_dataset_is_asked_for(
    augsbert: Terminal, silver: int, tmp_path: Path
) -> None:
    augsbert.json("export", "silver", "--silver", silver, "--output", tmp_path / "card")
    assert (tmp_path / "card" / "README.md").is_file()
    told = ("--format", "dataset")
    augsbert.json("export", "silver", "--silver", silver, "--output", tmp_path / "set", *told)
    assert (tmp_path / "set" / "dataset_info.json").is_file()


# --- corrections ------------------------------------------------------------------------------------


def test_corrections_say_who_changed_what(augsbert: Terminal, silver: int, tmp_path: Path) -> None:
    target = tmp_path / "corrections.csv"
    code, out, _ = augsbert("export", "corrections", "-p", "P", "--output", target)
    assert (code, out) == (0, f"{target}: 2 corrections.\n")
    with target.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["annotator"], row["old_score"], row["new_score"]) for row in rows] == [
        ("ann", "0.0", "5.0"),
        ("bob", rows[1]["old_score"], rows[1]["old_score"]),
    ]
    only = ("--annotator", "bob", "--output", tmp_path / "bob.jsonl")
    assert augsbert.json("export", "corrections", "-p", "P", *only)["n_corrections"] == 1
    late = ("--since", "2999-01-01", "--output", tmp_path / "late.jsonl")
    assert augsbert.json("export", "corrections", "-p", "P", *late)["n_corrections"] == 0
    wrong = ("--since", "yesterday", "--output", tmp_path / "no.jsonl")
    code, _, err = augsbert("export", "corrections", "-p", "P", *wrong)
    assert (code, "2026-01-31" in err) == (1, True)


# --- targets ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["x" * 300 + ".csv", "gold.csv/x.csv", "~nobody-here/x.csv"])
def test_a_target_that_cannot_be_is_one_sentence(
    augsbert: Terminal, tmp_path: Path, name: str
) -> None:
    target = name if name.startswith("~") else tmp_path / name
    code, out, err = augsbert("export", "gold", "-p", "P", "--output", target)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gold.csv", "home"]


def test_two_exports_to_one_file_at_once_do_not_mix(augsbert: Terminal, tmp_path: Path) -> None:
    told = ["export", "gold", "-p", "P", "--output", str(tmp_path / "out.csv"), "--json"]
    splits = [("--split", "train"), ("--split", "dev"), ()]
    commands = [
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                "augsbert_core.cli",
                "--home",
                str(augsbert.home),
                *told,
                *split,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=processes.worker_environment(),
        )
        for split in splits
    ]
    ended = [(*command.communicate(timeout=120), command.returncode) for command in commands]
    [winner] = [json.loads(out) for out, _, code in ended if code == 0]
    assert [err.count("exists already") for _, err, code in ended if code == 1] == [1, 1]
    assert len(csv_rows(tmp_path / "out.csv")) == winner["n_pairs"]


def csv_rows(path: Path) -> list[dict]:
    return list(csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines()))
