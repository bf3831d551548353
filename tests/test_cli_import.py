"""`augsbert import`: several files at once, every option, dry runs, reports, and no trace of what went wrong."""

import csv
import gzip
import io
import json
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from augsbert_core import processes
from augsbert_core.exporting import files
from augsbert_core.options import ImportOptions
from augsbert_core.steps import import_data
from augsbert_core.storage import gold, projects
from augsbert_core.storage.database import open_workspace, reading
from tests.conftest import GOLD_CSV, STSB
from tests.test_cli import Terminal

HEADER, *ROWS = GOLD_CSV.splitlines()
RANGE = ("--score-range", "0:5")


@pytest.fixture
def augsbert(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(tmp_path / "home", capsys)


@pytest.fixture
def three(tmp_path: Path) -> list[Path]:
    """train.csv, dev.csv and test.csv, none of which has a split column."""
    paths = []
    for split in ("train", "dev", "test"):
        rows = [row.rpartition(",")[0] for row in ROWS if row.endswith(split)]
        paths.append(tmp_path / f"{split}.csv")
        paths[-1].write_text("\n".join(["sentence1,sentence2,score", *rows]), encoding="utf-8")
    return paths


def write(path: Path, *lines: str, header: str = "sentence1,sentence2,score") -> Path:
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


def stored(augsbert: Terminal, name: str = "P") -> list[tuple]:
    """Split, raw score and group of each gold pair of a project, as stored."""
    workspace = open_workspace(augsbert.home)
    found = projects.find_project(workspace, name)
    assert found is not None
    page, _ = gold.gold_page(workspace, found.id, gold.GoldFilter())
    return [tuple(row) for row in page[["split", "raw_score", "group_name"]].to_numpy().tolist()]


# --- several files ----------------------------------------------------------------------------------


def test_files_come_in_together_and_their_names_say_the_split(
    augsbert: Terminal, three: list[Path]
) -> None:
    result = augsbert.json("import", *three, "-p", "P", *RANGE)
    assert result["splits"] == {"train": 5, "dev": 3, "test": 3}
    assert [(file["name"], file["kept"], file["splits"]) for file in result["files"]] == [
        ("train.csv", 5, {"train": 5}),
        ("dev.csv", 3, {"dev": 3}),
        ("test.csv", 3, {"test": 3}),
    ]
    assert "All its rows are dev, as the file's name says." in result["files"][1]["notes"]
    # Each file is an import of its own, which can be taken back.
    assert len({file["run_id"] for file in result["files"]}) == 3


def test_people_read_what_the_names_were_taken_for(augsbert: Terminal, three: list[Path]) -> None:
    code, out, _ = augsbert("import", *three, "-p", "P", *RANGE)
    assert code == 0
    assert "  All its rows are test, as the file's name says." in out
    assert "P: 11 rows read, 11 kept, 0 rejected.\ntrain 5, dev 3, test 3\n" in out


@pytest.mark.parametrize(
    "told", [("--split", "train"), ("--ratios", "100:0:0"), ("--split-way", "pairs")]
)
def test_whoever_says_the_split_is_obeyed_before_the_names(
    augsbert: Terminal, three: list[Path], told: tuple[str, str]
) -> None:
    result = augsbert.json("import", *three, "-p", "P", *RANGE, *told)
    assert "as the file's name says" not in " ".join(result["notes"])
    if told[0] != "--split-way":
        assert result["splits"] == {"train": 11}


def test_a_split_column_is_believed_before_a_file_name(
    augsbert: Terminal, tmp_path: Path, three: list[Path]
) -> None:
    (tmp_path / "my-test.csv").write_text(GOLD_CSV.replace("train is", "train was"))
    result = augsbert.json("import", three[0], tmp_path / "my-test.csv", "-p", "P", *RANGE)
    assert result["files"][1]["splits"] == {"train": 5, "dev": 3, "test": 3}


def test_a_split_column_that_is_left_unread_gives_way_to_the_name(
    augsbert: Terminal, tmp_path: Path, three: list[Path]
) -> None:
    (tmp_path / "my-test.csv").write_text(GOLD_CSV.replace("train is", "train was"))
    files = (three[0], tmp_path / "my-test.csv")
    result = augsbert.json("import", *files, "-p", "P", *RANGE, "--split-column", "")
    assert result["files"][1]["splits"] == {"test": 11}


def test_the_name_of_a_single_file_says_nothing(augsbert: Terminal, three: list[Path]) -> None:
    result = augsbert.json("import", three[0], "-p", "P", *RANGE, "--ratios", "0:0:1")
    assert result["splits"] == {"test": 5}


def test_when_one_file_is_no_good_none_comes_in(
    augsbert: Terminal, three: list[Path], tmp_path: Path
) -> None:
    bad = write(tmp_path / "bad.csv", "A cat.,A dog.,seven", "A cat.,A cow.,eight")
    code, out, err = augsbert("import", *three, bad, "-p", "P", *RANGE)
    assert (code, out) == (1, "")
    assert "No row of bad.csv can be used" in err
    assert augsbert.json("projects")["projects"] == []
    twice = augsbert("import", three[0], three[0], "-p", "P", *RANGE)
    assert (twice[0], "named twice" in twice[2]) == (1, True)


def test_a_project_that_was_there_stays_when_a_file_is_no_good(
    augsbert: Terminal, three: list[Path], tmp_path: Path
) -> None:
    augsbert.json("import", three[0], "-p", "P", *RANGE, "--split", "train")
    again = augsbert("import", *three, "-p", "P")
    assert (again[0], "in the project already" in again[2]) == (1, True)
    assert augsbert.json("projects")["projects"][0]["train"] == 5
    assert augsbert.json("projects")["projects"][0]["dev"] == 0


def test_files_of_one_name_are_told_apart_by_their_folders(
    augsbert: Terminal, three: list[Path], tmp_path: Path
) -> None:
    paths = []
    for path in three:
        (tmp_path / path.stem).mkdir()
        paths.append(path.rename(tmp_path / path.stem / "pairs.csv"))
    result = augsbert.json("import", *paths, "-p", "P", *RANGE)
    assert [file["name"] for file in result["files"]] == [str(path) for path in paths]


# --- where files come from --------------------------------------------------------------------------


def test_standard_input_is_read(augsbert: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GOLD_CSV.encode())))
    result = augsbert.json("import", "-", "-p", "P", *RANGE)
    assert (result["pairs_kept"], result["files"][0]["name"]) == (11, "standard input")


def test_an_archive_of_several_files_is_all_of_them(
    augsbert: Terminal, three: list[Path], tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "gold.zip", "w") as archive:
        for path in three:
            archive.write(path, f"gold/{path.name}")
        archive.writestr("gold/README.txt", "About these files.")
    result = augsbert.json("import", tmp_path / "gold.zip", "-p", "P", *RANGE)
    assert result["splits"] == {"train": 5, "dev": 3, "test": 3}
    assert any("gold.zip holds 3 files: train.csv" in note for note in result["notes"])
    # The name of one of them asks for that one alone.
    told = ("--sheet", "dev.csv", "--split", "dev")
    one = augsbert.json("import", tmp_path / "gold.zip", "-p", "Q", *RANGE, *told)
    assert (one["pairs_kept"], one["files"][0]["sheet"]) == (3, "gold/dev.csv")


def test_packed_files_and_other_formats_need_no_option(augsbert: Terminal, tmp_path: Path) -> None:
    (tmp_path / "gold.csv.gz").write_bytes(gzip.compress(GOLD_CSV.encode()))
    names = HEADER.split(",")
    lines = [json.dumps(dict(zip(names, row, strict=True))) for row in csv.reader(ROWS)]
    (tmp_path / "gold.jsonl").write_text("\n".join(lines), encoding="utf-8")
    for name in ("gold.csv.gz", "gold.jsonl"):
        result = augsbert.json("import", tmp_path / name, "-p", name, *RANGE)
        assert result["splits"] == {"train": 5, "dev": 3, "test": 3}, name


def test_a_dataset_folder_comes_in_split_by_split(augsbert: Terminal, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    rows = [dict(zip(HEADER.split(","), row, strict=True)) for row in csv.reader(ROWS)]
    splits = {
        split: datasets.Dataset.from_list(
            [
                {
                    "sentence1": r["sentence1"],
                    "sentence2": r["sentence2"],
                    "score": float(r["score"]),
                }
                for r in rows
                if r["split"] == ours
            ]
        )
        for split, ours in (("train", "train"), ("validation", "dev"), ("test", "test"))
    }
    datasets.DatasetDict(splits).save_to_disk(str(tmp_path / "dataset"))
    result = augsbert.json("import", tmp_path / "dataset", "-p", "P", *RANGE)
    assert result["splits"] == {"train": 5, "dev": 3, "test": 3}
    one = augsbert.json(
        *("import", tmp_path / "dataset", "-p", "Q", *RANGE),
        *("--sheet", "validation", "--split", "dev"),
    )
    assert one["pairs_kept"] == 3
    code, _, err = augsbert("import", tmp_path / "dataset", "-p", "R", *RANGE, "--sheet", "held")
    assert (code, "no split or file 'held', but dataset/train.parquet" in err) == (1, True)
    (tmp_path / "folder").mkdir()
    assert augsbert("import", tmp_path / "folder", "-p", "R", *RANGE)[0] == 1


def test_parallel_files_are_read_line_by_line(augsbert: Terminal, tmp_path: Path) -> None:
    (tmp_path / "STS.input.news.txt").write_text("A cat.\tA dog.\nOne.\tTwo.\nNo.\tScore.\n")
    (tmp_path / "STS.gs.news.txt").write_text("4.5\n2\n\n")
    files = (tmp_path / "STS.input.news.txt", tmp_path / "STS.gs.news.txt")
    result = augsbert.json("import", *files, "-p", "P", *RANGE, "--split", "test")
    assert (result["rows_read"], result["pairs_kept"], result["rejected"]) == (3, 2, 1)
    assert any("Read together, line by line" in note for note in result["notes"])


def test_a_hub_dataset_is_named_with_its_revision(
    augsbert: Terminal, three: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from augsbert_core.importing import dataset_hub

    asked = []

    def files(name: str, revision: str | None = None) -> list[tuple[str, bytes]]:
        asked.append((name, revision))
        return [(path.name, path.read_bytes()) for path in three]

    monkeypatch.setattr(dataset_hub, "hub_dataset_files", files)
    result = augsbert.json("import", "hub:somebody/stsb@v2", "-p", "P", *RANGE)
    assert asked == [("somebody/stsb", "v2")]
    assert result["splits"] == {"train": 5, "dev": 3, "test": 3}


# --- options ----------------------------------------------------------------------------------------


def test_how_a_file_is_read_can_be_overruled(augsbert: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "odd.txt"
    path.write_bytes('4;"Füße";Schuhe;k1\n2;Hände;"Handschuhe";k2\n'.encode("cp1252"))
    told = ("--encoding", "cp1252", "--delimiter", "semicolon", "--no-header", "--no-quoting")
    more = ("--columns", "1,2,0", "--id-column", "3", "--ratios", "1:0:0")
    code, out, _ = augsbert("import", path, "-p", "P", *RANGE, *told, *more)
    assert code == 0
    assert "odd.txt: semicolon-separated, no header, cp1252" in out
    assert "sentence 1 = column 1, sentence 2 = column 2, score = column 0, id = column 3" in out
    with reading(open_workspace(augsbert.home)) as db:
        texts = {row[0] for row in db.execute("SELECT text FROM sentence")}
    assert texts == {'"Füße"', "Schuhe", "Hände", '"Handschuhe"'}


def test_groups_and_splits_are_read_from_the_columns_named(
    augsbert: Terminal, tmp_path: Path
) -> None:
    path = write(
        tmp_path / "g.csv",
        "A.,B.,1,news,train",
        "C.,D.,2,forum,test",
        header="sentence1,sentence2,score,origin,part",
    )
    told = ("--group-column", "origin", "--split-column", "part")
    augsbert.json("import", path, "-p", "P", *RANGE, *told)
    assert sorted(stored(augsbert)) == [("test", 2.0, "forum"), ("train", 1.0, "news")]


def test_scores_written_as_words_mean_what_is_said(augsbert: Terminal, tmp_path: Path) -> None:
    path = write(tmp_path / "w.csv", "A.,B.,great", "C.,D.,poor", "E.,F.,great")
    told = ("--label", "great=5", "--label", "poor=1", "--split", "train", "--score-range", "1:5")
    result = augsbert.json("import", path, "-p", "P", *told)
    assert result["files"][0]["labels"] == {"great": 5.0, "poor": 1.0}
    assert [row[1] for row in stored(augsbert)] == [5.0, 1.0, 5.0]


def test_whole_groups_go_where_they_are_sent(augsbert: Terminal, tmp_path: Path) -> None:
    rows = [f"Text {n}.,Other {n}.,{n % 5},{'abcd'[n % 4]}" for n in range(40)]
    path = write(tmp_path / "t.csv", *rows, header="sentence1,sentence2,score,topic")
    told = ("--split-way", "groups", "--group-split", "a=test", "--group-split", "b=dev")
    augsbert.json("import", path, "-p", "P", *RANGE, *told)
    splits = {(split, group) for split, _, group in stored(augsbert)}
    assert {("test", "a"), ("dev", "b")} <= splits
    assert len(splits) == 4, "a group is in two splits"


def test_a_subsample_is_drawn_with_the_seed(augsbert: Terminal, tmp_path: Path) -> None:
    rows = [f"Text {n}.,Other {n}.,{int(n < 30)}" for n in range(300)]
    path = write(tmp_path / "s.csv", *rows)
    told = ("--task", "classification", "--split", "train", "--limit", 40)

    def drawn(*more: object) -> dict:
        return augsbert.json("import", path, "--dry-run", *told, *more)

    balanced = drawn("--subsample", "balanced")
    assert (balanced["pairs_kept"], balanced["left_out"]) == (40, 260)
    assert (balanced["overview"]["scores"][0], balanced["overview"]["scores"][-1]) == (20, 20)
    first = drawn()
    assert first["overview"]["scores"][-1] == 30
    one, same, other = (drawn("--subsample", "random", "--seed", seed) for seed in (1, 1, 2))
    assert one["preview"] == same["preview"] != other["preview"]


def test_leaks_are_told_with_their_cure_and_cured_when_asked(
    augsbert: Terminal, tmp_path: Path
) -> None:
    train = write(tmp_path / "train.csv", "A b.,C d.,1", "E f.,G h.,2", "I j.,K l.,3")
    test = write(tmp_path / "test.csv", "C d.,A b.,1", "E f.,M n.,4")
    code, out, _ = augsbert("import", train, test, "--dry-run", *RANGE)
    assert code == 0
    assert "train and test share 1 pair and 3 sentences" in out
    assert "--leaks pairs 1" in out
    assert "--leaks sentences leaves 2 rows of train out" in out
    for leaks, leaked in (("pairs", 1), ("sentences", 2)):
        result = augsbert.json("import", train, test, "--dry-run", *RANGE, "--leaks", leaks)
        assert (result["leaked"], result["pairs_kept"]) == (leaked, 5 - leaked)
    assert result["leaks"] == []


@pytest.mark.parametrize(
    "wrong",
    [
        ("--label", "great"),
        ("--ratios", "80-20"),
        ("--score-range", "5"),
        ("--subsample", "some"),
        ("--limit", "0"),
        ("--leaks", "all"),
    ],
)
def test_an_option_that_is_not_understood_is_a_usage_error(
    augsbert: Terminal, three: list[Path], wrong: tuple[str, str]
) -> None:
    assert augsbert("import", three[0], "-p", "P", *wrong)[0] == 2


def test_only_a_dry_run_needs_no_project(augsbert: Terminal, three: list[Path]) -> None:
    code, _, err = augsbert("import", three[0], *RANGE)
    assert code == 2
    assert "--project" in err
    assert augsbert("import", three[0], "--dry-run")[0] == 0


# --- dry runs, rejects and reports ------------------------------------------------------------------


def test_a_dry_run_shows_everything_and_writes_nothing(augsbert: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "gold.csv"
    path.write_text(GOLD_CSV + "Half a pair.,,3,train\n", encoding="utf-8")
    code, out, _ = augsbert("import", path, "--dry-run")
    assert code == 0
    assert "1 rejected. Sentence 2 is blank: line 13 ('')" in out
    assert "gold.csv: comma-separated, header" in out
    assert "sentence 1 = sentence1, sentence 2 = sentence2, score = score, split = split" in out
    assert "A cat sleeps on the sofa. | A cat is asleep on the couch. | 4.5 | train" in out
    assert out.endswith("Nothing was written.\n")
    assert not augsbert.home.exists()
    # With a project named, its folder is not made either.
    assert augsbert("import", path, "-p", "P", "--dry-run")[0] == 0
    assert not augsbert.home.exists()


def test_a_dry_run_offers_the_range_that_an_import_needs(
    augsbert: Terminal, three: list[Path]
) -> None:
    out = augsbert("import", *three, "--dry-run")[1]
    assert "The scores look like 0:5. An import needs to be told: --score-range 0:5" in out
    result = augsbert.json("import", *three, "--dry-run")
    assert (result["score_range"], result["guessed_range"]) == (None, "0:5")
    assert "look like" not in augsbert("import", *three, "--dry-run", *RANGE)[1]


def test_a_dry_run_knows_the_project(augsbert: Terminal, three: list[Path]) -> None:
    augsbert.json("import", three[0], "-p", "P", *RANGE, "--split", "train")
    result = augsbert.json("import", three[1], "-p", "P", "--dry-run", "--split", "dev")
    assert result["score_range"] == "0:5"
    code, _, err = augsbert("import", three[0], "-p", "P", "--dry-run")
    assert (code, "in the project already" in err) == (1, True)


def test_programs_get_twenty_rows_of_a_dry_run(augsbert: Terminal, tmp_path: Path) -> None:
    path = write(tmp_path / "many.csv", *(f"Text {n}.,Other {n}.,{n / 10}" for n in range(50)))
    rows = augsbert.json("import", path, "--dry-run", "--split", "test")["preview"]
    assert len(rows) == 20
    assert rows[3] == {
        "sentence1": "Text 3.", "sentence2": "Other 3.", "score": 0.3, "split": "test", "group": "",
    }  # fmt: skip


@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
def test_rejects_and_report_are_files(
    augsbert: Terminal, tmp_path: Path, dry: tuple[str, ...]
) -> None:
    faults = ["One.,Two.,9", "=1+1,Two.,x", "One.,,3", "One.,Two.,8"]
    good = write(tmp_path / "good.csv", "A cat.,A dog.,1")
    bad = write(tmp_path / "bad.csv", "A cow.,A dog.,4.5", *faults)
    rejects, report = tmp_path / "rejects.csv", tmp_path / "report.json"
    where = ("--rejects", rejects, "--report", report, "--split", "train", "-p", "P", *dry)
    code, out, _ = augsbert("import", good, bad, *RANGE, *where)
    assert code == 0
    assert "2 rejected. Score is outside 0:5: bad.csv line 3 (9), bad.csv line 6 (8)" in out

    rows = list(csv.DictReader(rejects.read_text(encoding="utf-8-sig").splitlines()))
    assert [(row["file"], row["line"]) for row in rows] == [
        ("bad.csv", str(n)) for n in (3, 4, 5, 6)
    ]
    assert rows[1]["text"].startswith("'=1+1"), "safe in a spreadsheet"

    record = json.loads(report.read_text(encoding="utf-8"))
    assert (record["rows_read"], record["pairs_kept"], record["rejected"]) == (6, 2, 4)
    assert record["rejected_by_reason"][0] == {
        "reason": "Score is outside 0:5",
        "rows": 2,
        "lines": [{"file": "bad.csv", "line": 3}, {"file": "bad.csv", "line": 6}],
    }
    assert {"notes", "splits", "repeats", "leaks", "overview", "rejected_rows"} <= set(record)
    assert record["dry_run"] is bool(dry)
    assert (record["run_id"] is None) is bool(dry)

    # A second time nothing is imported, because the files are there.
    code, _, err = augsbert("import", good, "-p", "Q", *RANGE, "--rejects", rejects)
    assert (code, "exists already" in err) == (1, True)
    assert "Q" not in str(augsbert.json("projects"))


def test_a_file_cannot_write_to_the_terminal_in_its_own_hand(
    augsbert: Terminal, tmp_path: Path
) -> None:
    header = "sentence1,sentence2,score,\x1b[5mgroup"
    lines = ("\x1b[31mRed.,Other.,1,\x1b[0m", "One.,Two.,\x1b[2J,")
    path = write(tmp_path / "esc.csv", *lines, header=header)
    code, out, err = augsbert("import", path, "--dry-run", *RANGE)
    assert code == 0
    assert "\x1b" not in out + err


@pytest.mark.parametrize(
    ("kind", "content", "first"),
    [
        ("sentences", "A cat sleeps.\nA dog barks.\n", {"sentence": "A cat sleeps."}),
        ("unlabelled-pairs", "A.\tB.\nC.\tD.\n", {"sentence1": "A.", "sentence2": "B."}),
        ("nli", "A.\tB.\tneutral\nC.\tD.\tentailment\n",
         {"premise": "A.", "hypothesis": "B.", "label": "neutral"}),
        ("triplets", "A b.\tC.\tD e.\nF.\tG.\tH.\n",
         {"anchor": "A b.", "positive": "C.", "negative": "D e."}),
    ],
)  # fmt: skip
def test_other_kinds_are_previewed_and_imported(
    augsbert: Terminal, tmp_path: Path, kind: str, content: str, first: dict[str, str]
) -> None:
    (tmp_path / "a.tsv").write_text(content, encoding="utf-8")
    (tmp_path / "b.tsv").write_text(content.lower(), encoding="utf-8")
    files = (tmp_path / "a.tsv", tmp_path / "b.tsv", "--kind", kind)
    result = augsbert.json("import", *files, "--dry-run")
    assert result["preview"][0] == first
    assert augsbert.json("import", *files, "-p", "P")["rows_read"] == 4


# --- what is asked for and cannot be ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rejects", "report", "why"),
    [
        ("r.json", "r.json", "both name"),
        ("r.json", "sub/../r.json", "both name"),
        ("r", "r/report.json", "would be a folder for the other"),
        ("gold.csv/r.csv", "r.json", "cannot be written"),
        ("r.csv", "x" * 300, "cannot be written"),
    ],
)
def test_files_that_cannot_be_written_are_refused_before_the_import(
    augsbert: Terminal, tmp_path: Path, rejects: str, report: str, why: str
) -> None:
    path = write(tmp_path / "gold.csv", "A cat.,A dog.,1")
    where = ("--rejects", f"{tmp_path}/{rejects}", "--report", f"{tmp_path}/{report}")
    (tmp_path / "sub").mkdir()
    code, out, err = augsbert("import", path, "-p", "P", *RANGE, *where)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert why in err
    assert augsbert.json("projects")["projects"] == []


def test_a_report_that_fails_says_that_the_rows_are_in(
    augsbert: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "_put", full)
    path = write(tmp_path / "gold.csv", "A cat.,A dog.,1")
    told = ("--split", "train", "--report", tmp_path / "r.json")
    code, _, err = augsbert("import", path, "-p", "P", *RANGE, *told)
    assert code == 1
    assert "No space left on device" in err
    assert "The rows have come in all the same." in err
    assert len(stored(augsbert)) == 1


@pytest.mark.parametrize("name", ["x" * 300 + ".csv", "a\0b.csv", "~nobody-here/x.csv"])
def test_a_file_name_that_cannot_be_is_one_sentence(augsbert: Terminal, name: str) -> None:
    code, out, err = augsbert("import", name, "-p", "P", *RANGE)
    assert (code, out, err.count("\n")) == (1, "", 1)


# --- several imports at once --------------------------------------------------------------------------


def test_imports_at_once_share_the_project_that_one_of_them_makes(
    augsbert: Terminal, tmp_path: Path
) -> None:
    open_workspace(augsbert.home)
    paths = [write(tmp_path / f"{n}.csv", f"A cat {n}.,A dog {n}.,1") for n in range(4)]
    begin = tmp_path / "begin"
    script = f"""
import sys, time, pathlib
from augsbert_core.cli import import_sources, main
planned = import_sources.plan_given

def wait(*arguments, **told):
    plan = planned(*arguments, **told)
    print("planned", file=sys.stderr, flush=True)
    while not pathlib.Path({str(begin)!r}).exists():
        time.sleep(0.01)
    return plan

import_sources.plan_given = wait
main(sys.argv[1:])
"""
    told = ["--home", str(augsbert.home), "import", "-p", "Same", "--split", "train", *RANGE]
    commands = [
        subprocess.Popen(
            [sys.executable, "-c", script, *told, "--json", str(path)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=processes.worker_environment(),
        )
        for path in paths
    ]
    for command in commands:
        assert command.stderr is not None
        assert command.stderr.readline() == "planned\n"
    begin.touch()
    assert [command.communicate(timeout=120)[1] for command in commands] == [""] * 4
    assert len(stored(augsbert, "Same")) == 4


def test_a_failed_import_leaves_a_project_that_others_have_come_into(
    augsbert: Terminal, three: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    written = import_data.import_plan

    def others_first(workspace, project_id, *told):
        monkeypatch.undo()
        import_data.import_file(
            workspace, project_id, GOLD_CSV.encode(), "other.csv", ImportOptions(score_range=(0, 5))
        )
        return written(workspace, project_id, *told)

    monkeypatch.setattr(import_data, "import_plan", others_first)
    code, _, err = augsbert("import", *three, "-p", "P", "--score-range", "0:6")
    assert (code, "own" in err) == (1, True)
    assert len(stored(augsbert)) == 11


def test_an_import_goes_on_when_the_command_that_made_its_project_fails(
    augsbert: Terminal, three: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = projects.find_or_create_project

    def made_and_taken_back(workspace, name):
        made(workspace, name)
        found = made(workspace, name)
        if not tries:
            assert projects.delete_if_empty(workspace, found[0].id)
        tries.append(name)
        return found

    tries: list[str] = []

    monkeypatch.setattr(projects, "find_or_create_project", made_and_taken_back)
    assert augsbert.json("import", *three, "-p", "P", *RANGE)["pairs_kept"] == 11
    assert len(stored(augsbert)) == 11


# --- Ctrl-C -----------------------------------------------------------------------------------------

SLOW_IMPORT = """
import sys, time
from augsbert_core.cli import main
from augsbert_core.storage import gold

written = gold.insert_finished_run

def slow(*arguments, **told):
    run_id = written(*arguments, **told)
    print("written", file=sys.stderr, flush=True)
    time.sleep(600)
    return run_id

gold.insert_finished_run = slow
main(sys.argv[1:])
"""


def test_ctrl_c_leaves_no_trace(augsbert: Terminal, three: list[Path]) -> None:
    told = ["--home", str(augsbert.home), "import", *map(str, three), "-p", "P", "--json", *RANGE]
    command = subprocess.Popen(
        [sys.executable, "-c", SLOW_IMPORT, *told],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=processes.worker_environment(),
        # Tests that run in the background of a script would hand on that Ctrl-C is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert command.stderr is not None
    assert command.stderr.readline() == "written\n"
    command.send_signal(signal.SIGINT)
    out, err = command.communicate(timeout=60)
    assert (command.returncode, out, err) == (130, "", "Cancelled.\n")
    assert augsbert.json("projects")["projects"] == []
    # The same import then goes through.
    assert augsbert.json("import", *three, "-p", "P", *RANGE)["pairs_kept"] == 11


# --- the real thing ---------------------------------------------------------------------------------


@pytest.mark.skipif(not STSB.is_dir(), reason="the STS Benchmark files are not here")
def test_the_sts_benchmark_comes_in_at_once(augsbert: Terminal) -> None:
    files = [STSB / f"sts-{split}.tsv" for split in ("train", "dev", "test")]
    result = augsbert.json("import", *files, "-p", "STS-B", *RANGE)
    assert result["splits"] == {"train": 5749, "dev": 1500, "test": 1379}
    assert result["rejected"] == 0
    assert [file["columns"]["group"] for file in result["files"]] == ["column 0"] * 3
    workspace = open_workspace(augsbert.home)
    with reading(workspace) as db:
        groups = dict(
            db.execute("SELECT group_name, count(*) FROM gold_pair GROUP BY group_name").fetchall()
        )
    assert set(groups) == {"main-captions", "main-forums", "main-forum", "main-news"} & set(groups)
    assert sum(groups.values()) == 8628
