"""Gold, silver and corrections leave as CSV, TSV, JSON lines, Parquet, Excel and dataset folders."""

import csv
import errno
import json
import os
import resource
import tempfile
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pyarrow.parquet as pq
import pytest

from augsbert_core.errors import WorkbenchError
from augsbert_core.exporting import formats
from augsbert_core.exporting.formats import excel_text, write_table
from augsbert_core.exporting.tables import (
    COUNT,
    FLAG,
    KINDS,
    NUMBER,
    TEXT,
    Column,
    kind_of,
    typed_columns,
)
from augsbert_core.steps.export_data import export_corrections, export_gold, export_silver
from augsbert_core.storage import edits, projects, reviews
from augsbert_core.storage.database import Workspace, writing
from augsbert_core.storage.gold import GoldFilter
from augsbert_core.storage.records import Project
from augsbert_core.storage.silver_filters import SilverFilter
from tests import silver_pairs

COLUMNS = [Column("text"), Column("score", NUMBER), Column("rank", COUNT)]
TEXTS = ["=1+1", "-1", "tab\there", 'He said "hi"', "line\nbreak", "NA", "漢字 👩‍👧", "#N/A", "'x"]
ROWS = [(text, number / 7, number) for number, text in enumerate(TEXTS)]


def read_back(path: Path, kind: str) -> list[tuple[Any, ...]]:
    """The rows of a file as other programs read them."""
    if kind == "dataset":
        import datasets

        return [tuple(row.values()) for row in datasets.load_from_disk(str(path))]
    if kind == "parquet":
        return [tuple(row.values()) for row in pq.read_table(path).to_pylist()]
    if kind == "jsonl":
        lines = path.read_text("utf-8").split("\n")[:-1]
        return [tuple(json.loads(line).values()) for line in lines]
    if kind == "xlsx":
        sheet = openpyxl.load_workbook(path).active
        return list(sheet.iter_rows(min_row=2, values_only=True))
    told: dict[str, Any] = {"keep_default_na": False, "float_precision": "round_trip"}
    frame = pd.read_csv(path, sep="\t" if kind == "tsv" else ",", **told)
    return list(frame.itertuples(index=False, name=None))


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_gives_other_programs_the_same_rows(tmp_path: Path, kind: str) -> None:
    target = tmp_path / f"out{KINDS[kind].suffix}"
    assert write_table(target, COLUMNS, iter(ROWS), safe=False) == len(ROWS)
    assert read_back(target, kind) == ROWS
    assert [path.name for path in tmp_path.iterdir()] == [target.name], "nothing else is left"


@pytest.mark.parametrize("kind", KINDS)
def test_spreadsheets_get_escaped_texts_and_programs_do_not(tmp_path: Path, kind: str) -> None:
    target = tmp_path / f"out{KINDS[kind].suffix}"
    write_table(target, COLUMNS, [("=1+1", -0.5, None), ("a", 0.5, 1)])
    texts = [row[0] for row in read_back(target, kind)]
    assert texts == (["'=1+1", "a"] if kind in ("csv", "xlsx") else ["=1+1", "a"])
    assert read_back(target, kind)[0][1] == -0.5, "numbers are never escaped"


def test_every_format_can_be_told_otherwise(tmp_path: Path) -> None:
    write_table(tmp_path / "safe.jsonl", COLUMNS, [("@a", 0.5, 1)], safe=True)
    assert read_back(tmp_path / "safe.jsonl", "jsonl") == [("'@a", 0.5, 1)]
    write_table(tmp_path / "plain.csv", COLUMNS, [("@a", 0.5, 1)], safe=False)
    assert (tmp_path / "plain.csv").read_bytes() == b"text,score,rank\r\n@a,0.5,1\r\n"


def test_unknown_values_are_null_or_empty(tmp_path: Path) -> None:
    rows = [(None, float("nan"), None), ("a", float("inf"), 2**62)]
    write_table(tmp_path / "n.parquet", COLUMNS, rows)
    assert read_back(tmp_path / "n.parquet", "parquet") == [(None, None, None), ("a", None, 2**62)]
    assert [str(field.type) for field in pq.read_schema(tmp_path / "n.parquet")] == [
        "string", "double", "int64",
    ]  # fmt: skip
    write_table(tmp_path / "n.jsonl", COLUMNS, rows)
    assert (tmp_path / "n.jsonl").read_text() == f'{{}}\n{{"text": "a", "rank": {2**62}}}\n'
    write_table(tmp_path / "n.csv", COLUMNS, rows, safe=False)
    assert (tmp_path / "n.csv").read_bytes().splitlines()[1:] == [b",,", b"a,,%d" % 2**62]


def test_no_rows_are_a_header_or_an_empty_dataset(tmp_path: Path) -> None:
    for kind, found in KINDS.items():
        assert write_table(tmp_path / f"none{found.suffix}", COLUMNS, [], kind) == 0
    assert read_back(tmp_path / "none", "dataset") == []
    assert pq.read_table(tmp_path / "none.parquet").column_names == ["text", "score", "rank"]


def test_a_dataset_can_be_one_zip_file(tmp_path: Path) -> None:
    write_table(tmp_path / "gold.zip", COLUMNS, ROWS, "dataset")
    assert [path.name for path in tmp_path.iterdir()] == ["gold.zip"]
    with zipfile.ZipFile(tmp_path / "gold.zip") as archive:
        archive.extractall(tmp_path)
    assert read_back(tmp_path / "gold", "dataset") == ROWS


# --- Excel -------------------------------------------------------------------------------------------


def test_excel_gets_strings_and_never_formulas(tmp_path: Path) -> None:
    write_table(tmp_path / "f.xlsx", COLUMNS, ROWS, safe=False)
    sheet = openpyxl.load_workbook(tmp_path / "f.xlsx").active
    assert {cell.data_type for cell in sheet["A"]} == {"s"}
    assert {cell.data_type for cell in sheet["B"][1:]} == {"n"}
    with zipfile.ZipFile(tmp_path / "f.xlsx") as archive:
        content = archive.read("xl/worksheets/sheet1.xml")
    assert b"<f>" not in content
    assert b"_rels" not in b"".join(
        name.encode() for name in archive.namelist() if "sheets/" in name
    )


def test_what_xml_cannot_hold_is_written_as_the_standard_says(tmp_path: Path) -> None:
    text = "bell\x07, return\r, no\uffffcharacter, and _x0041_ as typed"
    assert excel_text(text) == (
        "bell_x0007_, return_x000D_, no_xFFFF_character, and _x005F_x0041_ as typed"
    )
    assert excel_text("tab\tand\nline _x_ stay") == "tab\tand\nline _x_ stay"
    write_table(tmp_path / "c.xlsx", COLUMNS, [(text, 0.0, 0)])
    assert openpyxl.load_workbook(tmp_path / "c.xlsx").active["A2"].value is not None


def test_excel_refuses_what_it_would_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_table(tmp_path / "most.xlsx", COLUMNS, [("x" * 32_767, 0.0, 0)])
    for too_long in ("x" * 32_768, "𝄞" * 16_384):
        with pytest.raises(WorkbenchError, match=r"Row 2, text: .* 32,768 characters.*Parquet"):
            write_table(tmp_path / "long.xlsx", COLUMNS, [ROWS[0], (too_long, 0.0, 0)])
    monkeypatch.setattr(formats, "EXCEL_ROWS", 3)
    with pytest.raises(WorkbenchError, match="holds 3 rows"):
        write_table(tmp_path / "many.xlsx", COLUMNS, ROWS)
    assert [path.name for path in tmp_path.iterdir()] == ["most.xlsx"]


# --- whole or not at all, and row by row ----------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_an_export_that_fails_leaves_nothing(tmp_path: Path, kind: str) -> None:
    def rows() -> Iterator[tuple[Any, ...]]:
        yield ROWS[0]
        raise WorkbenchError("The set was deleted meanwhile.")

    with pytest.raises(WorkbenchError, match="deleted meanwhile"):
        write_table(tmp_path / f"out{KINDS[kind].suffix}", COLUMNS, rows())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", [*KINDS, "dataset.zip"])
def test_a_full_disk_is_one_sentence(
    tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file may be larger than this; writing more fails as on a full disk."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    kind, _, suffix = kind.partition(".")
    target = tmp_path / f"out{'.zip' if suffix else KINDS[kind].suffix}"
    rows = [(f"{number * 7919 % 10_007} text", number / 7, number) for number in range(10_000)]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        with pytest.raises(WorkbenchError, match=r"out\S* cannot be written \(.*too large"):
            write_table(target, COLUMNS, rows, kind)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == [temporary]
    assert list(temporary.iterdir()) == []


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("part", ["xl/worksheets/sheet1.xml", "xl/workbook.xml"])
def test_a_disk_that_is_full_when_a_workbook_is_saved_is_one_sentence(
    tmp_path: Path, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(archive: zipfile.ZipFile, *arguments: Any, **told: Any) -> None:
        if part in map(str, arguments):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(zipfile.ZipFile, "write", full)
    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    with pytest.raises(WorkbenchError, match=r"cannot be written \(No space left on device\)"):
        write_table(tmp_path / "out.xlsx", COLUMNS, ROWS)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    for kind, found in KINDS.items():
        target = tmp_path / f"{kind}{found.suffix}"
        write_table(target, COLUMNS, ROWS)
        with pytest.raises(WorkbenchError, match="exists already"):
            write_table(target, COLUMNS, [])
        assert len(read_back(target, kind)) == len(ROWS)


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet", "dataset"])
def test_rows_are_not_gathered_in_memory(tmp_path: Path, kind: str, monkeypatch: Any) -> None:
    """The peak of a large file is that of a small one."""
    monkeypatch.setattr(formats, "BATCH", 500)
    write_table(tmp_path / f"warm{KINDS[kind].suffix}", COLUMNS, ROWS)
    peaks = []
    for n_rows in (1_000, 10_000):
        rows = (("some text " * 10 + str(number), 0.5, number) for number in range(n_rows))
        tracemalloc.start()
        write_table(tmp_path / f"out-{n_rows}{KINDS[kind].suffix}", COLUMNS, rows)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0] + 100_000


def test_the_ending_names_the_format() -> None:
    assert [kind_of(Path(f"x{end}"), None) for end in (".csv", ".JSONL", "")] == [
        "csv", "jsonl", "dataset",
    ]  # fmt: skip
    assert kind_of(Path("x.txt"), "tsv") == "tsv"
    with pytest.raises(WorkbenchError, match=r"x\.txt says no format.*\.parquet"):
        kind_of(Path("x.txt"), None)
    with pytest.raises(WorkbenchError, match="'xls' is none of csv"):
        kind_of(Path("x.xls"), "xls")


def test_columns_of_a_finished_table_get_types() -> None:
    rows = [("a", 1, 1, True, None, "x"), (None, 2, 0.5, None, None, 1)]
    types = [column.type for column in typed_columns("abcdef", rows)]
    assert types == [TEXT, COUNT, NUMBER, FLAG, TEXT, TEXT]


# --- gold, silver and corrections ----------------------------------------------------------------------


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_gold_goes_out_as_the_table_shows_it(
    workspace: Workspace, project: Project, tmp_path: Path
) -> None:
    chosen = GoldFilter(splits=("train", "dev"), low=0.7, text="THE")
    assert export_gold(workspace, project.id, tmp_path / "g.jsonl", chosen=chosen) == 3
    found = records(tmp_path / "g.jsonl")
    assert [(row["score"], row["scaled_score"], row["split"]) for row in found] == [
        (4.5, 0.9, "train"), (3.5, 0.7, "train"), (4.0, 0.8, "dev"),
    ]  # fmt: skip
    assert [row["source_line"] for row in found] == [2, 6, 7]


@pytest.mark.parametrize("kind", KINDS)
def test_gold_has_one_header_in_every_format(
    workspace: Workspace, project: Project, tmp_path: Path, kind: str
) -> None:
    target = tmp_path / f"gold{KINDS[kind].suffix}"
    assert export_gold(workspace, project.id, target, kind=kind) == 11
    names = [
        "sentence1", "sentence2", "score", "scaled_score", "split", "group", "label", "source_id",
        "source_file", "source_line",
    ]  # fmt: skip
    if kind == "dataset":
        import datasets

        assert datasets.load_from_disk(str(target)).column_names == names
    elif kind == "parquet":
        assert pq.read_schema(target).names == names
    elif kind == "xlsx":
        assert [cell.value for cell in openpyxl.load_workbook(target).active[1]] == names
    elif kind != "jsonl":
        with target.open(encoding="utf-8-sig", newline="") as file:
            assert next(csv.reader(file, delimiter="\t" if kind == "tsv" else ",")) == names


def test_gold_of_a_project_that_is_not_there(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(WorkbenchError, match="99"):
        export_gold(workspace, 99, tmp_path / "g.csv")


@pytest.fixture
def reviewed(workspace: Workspace, project: Project) -> tuple[int, list[dict[str, Any]]]:
    """A silver set of sixty pairs: ann corrected one, bea flagged one, and ann took one decision back."""
    set_id = silver_pairs.sixty_pairs(workspace, project)
    pairs = silver_pairs.all_pairs(workspace, set_id)
    for place, actor, correction, status in (
        (3, "bea", None, "accepted"),
        (3, "ann", 0.5, "corrected"),
        (5, "bea", None, "flagged"),
        (7, "ann", 1.0, "corrected"),
    ):
        reviews.review_silver_pair(
            workspace, pairs[place]["id"], correction=correction, status=status, actor=actor
        )
    edits.undo(workspace, edits.Scope.silver(set_id), "ann")
    return set_id, pairs


def test_silver_tells_who_reviewed_what(
    workspace: Workspace, reviewed: tuple[int, list[dict[str, Any]]], tmp_path: Path
) -> None:
    set_id, _ = reviewed
    export_silver(workspace, set_id, tmp_path / "s.jsonl")
    found = records(tmp_path / "s.jsonl")
    assert (found[3]["annotator"], found[3]["correction"], found[3]["status"]) == (
        "ann", 2.5, "corrected",
    )  # fmt: skip
    assert (found[3]["score"], found[3]["scaled_score"]) == (2.5, 0.5)
    assert (found[5]["annotator"], "correction" in found[5]) == ("bea", False)
    assert "annotator" not in found[7], "its review was taken back"
    assert found[3]["reviewed_at"].endswith("+00:00")


FILTERS = [
    SilverFilter(low=0.25, high=0.5),
    SilverFilter(statuses=("corrected", "flagged")),
    SilverFilter(statuses=("unreviewed",), max_rank=1),
    SilverFilter(text="Sentence 1"),
    SilverFilter(text="sentence 6", statuses=("flagged",)),
    SilverFilter(text="sentence 3", statuses=("unreviewed", "flagged"), min_rank=2),
]


@pytest.mark.parametrize("chosen", FILTERS, ids=repr)
def test_silver_goes_out_as_the_table_shows_it(
    workspace: Workspace,
    reviewed: tuple[int, list[dict[str, Any]]],
    tmp_path: Path,
    chosen: SilverFilter,
) -> None:
    from augsbert_core.storage.silver_pages import AS_SAMPLED, silver_page

    set_id, _ = reviewed
    shown = silver_page(workspace, set_id, chosen, sort=AS_SAMPLED, limit=100)
    n_pairs = export_silver(workspace, set_id, tmp_path / "s.parquet", chosen=chosen)
    found = pq.read_table(tmp_path / "s.parquet").to_pylist()
    assert 0 < n_pairs == len(found) == len(shown) < 60
    for column, name in (("sentence1",) * 2, ("sentence2",) * 2, ("scaled_score", "final_score")):
        assert [row[column] for row in found] == shown[name].tolist()


def test_sampler_ranks_are_columns_where_any_is_known(
    workspace: Workspace, reviewed: tuple[int, list[dict[str, Any]]], tmp_path: Path
) -> None:
    set_id, _ = reviewed
    export_silver(workspace, set_id, tmp_path / "none.csv")
    assert "bm25_rank" not in (tmp_path / "none.csv").read_text("utf-8-sig").splitlines()[0]
    with writing(workspace) as db:
        db.execute("UPDATE candidate_pair SET bm25_rank = 4 WHERE rank = 1")
    export_silver(workspace, set_id, tmp_path / "some.jsonl")
    found = records(tmp_path / "some.jsonl")
    assert [row.get("bm25_rank") for row in found[:4]] == [4, None, None, 4]


def test_a_kept_set_knows_who_reviewed_its_pool(
    workspace: Workspace,
    project: Project,
    reviewed: tuple[int, list[dict[str, Any]]],
    tmp_path: Path,
) -> None:
    set_id, pairs = reviewed
    kept = silver_pairs.kept_of(workspace, project, set_id, [pairs[3]["id"], pairs[4]["id"]])
    export_silver(workspace, kept, tmp_path / "k.jsonl")
    assert [row.get("annotator") for row in records(tmp_path / "k.jsonl")] == ["ann", None]


def test_an_archive_of_a_part_says_so(
    workspace: Workspace, reviewed: tuple[int, list[dict[str, Any]]], tmp_path: Path
) -> None:
    set_id, _ = reviewed
    chosen = SilverFilter(high=0.5)
    n_pairs = export_silver(workspace, set_id, tmp_path / "s", chosen=chosen)
    card = (tmp_path / "s" / "README.md").read_text("utf-8")
    assert f"hold {n_pairs} of them, chosen with a filter" in card
    assert len(records(tmp_path / "s" / "silver.jsonl")) == n_pairs < 60
    with pytest.raises(WorkbenchError, match="Leave the switch out"):
        export_silver(workspace, set_id, tmp_path / "s.zip", safe=True)


def test_corrections_are_every_decision_in_its_order(
    workspace: Workspace,
    project: Project,
    reviewed: tuple[int, list[dict[str, Any]]],
    tmp_path: Path,
) -> None:
    set_id, _ = reviewed
    assert export_corrections(workspace, project.id, tmp_path / "c.jsonl") == 4
    found = records(tmp_path / "c.jsonl")
    names = ("annotator", "old_status", "new_status", "old_score", "new_score")
    labelers = [row["labeler_score"] for row in found]
    assert [tuple(row[name] for name in names) for row in found] == [
        ("bea", "unreviewed", "accepted", labelers[0], labelers[0]),
        ("ann", "accepted", "corrected", labelers[0], 2.5),
        ("bea", "unreviewed", "flagged", labelers[2], labelers[2]),
        ("ann", "unreviewed", "corrected", labelers[3], 5.0),
    ]
    assert ["undone_at" in row for row in found] == [False, False, False, True]
    assert {row["silver_set"] for row in found} == {set_id}


def test_corrections_of_one_person_or_from_one_day_on(
    workspace: Workspace,
    project: Project,
    reviewed: tuple[int, list[dict[str, Any]]],
    tmp_path: Path,
) -> None:
    def count(name: str, **told: str) -> int:
        return export_corrections(workspace, project.id, tmp_path / f"{name}.csv", **told)

    with writing(workspace) as db:
        db.execute("UPDATE edit SET at = '2026-01-0' || id || 'T12:00:00+00:00' WHERE id < 5")
    assert count("ann", annotator="ann") == 2
    assert count("nobody", annotator="an") == 0
    assert count("day", since="2026-01-03") == 2
    assert count("moment", since="2026-01-03T14:30:00+02:00") == 1
    with pytest.raises(WorkbenchError, match="'yesterday' is no day or moment"):
        count("bad", since="yesterday")
    assert not (tmp_path / "bad.csv").exists()


def test_other_projects_corrections_stay_there(
    workspace: Workspace, reviewed: tuple[int, list[dict[str, Any]]], tmp_path: Path
) -> None:
    other = projects.create_project(workspace, "Other")
    assert export_corrections(workspace, other.id, tmp_path / "c.tsv") == 0
