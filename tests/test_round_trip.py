"""What is exported to a machine format and imported again is equal: texts, direction, order, scores, splits, ids."""

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from augsbert_core.exporting.files import to_csv
from augsbert_core.exporting.tables import KINDS
from augsbert_core.importing.dataset_folders import read_dataset_folder
from augsbert_core.importing.texts import is_blank
from augsbert_core.options import ImportOptions
from augsbert_core.pairs import SPLITS
from augsbert_core.steps.export_data import export_gold, export_silver
from augsbert_core.steps.import_data import SourceFile, import_file, import_files
from augsbert_core.storage import projects
from augsbert_core.storage.database import Workspace, open_workspace
from augsbert_core.storage.gold import scored_pairs
from augsbert_core.storage.gold_export import COLUMNS, gold_export_rows
from augsbert_core.storage.records import Project
from tests import silver_pairs

HEADER = ("sentence1", "sentence2", "score", "split", "group", "source_id")
MACHINE_KINDS = ("jsonl", "parquet", "dataset", "csv", "tsv")
N_COMPARED = [column.name for column in COLUMNS].index("source_file")
"""Columns that must come back; the names and lines of the files are other ones."""

NASTY = [
    "NA", "None", "nan", "null", "=1+1", "+1", "-1", "@SUM(A1)", "'quoted'", '"', '""', '"a", "b"', 'He said "hi"',
    "tab\there", "line\nbreak", "line\r\nbreak", "carriage\rreturn", "a,b;c|d", "two  spaces", "a\u00a0b",
    "zero\u200bwidth", "\u200bedge\u200b", "e\u0301", "\u00e9", "👩‍👩‍👧 emoji", "שלום עולם", "مرحبا, عالم", "漢字", "\u2028line\u2028sep",
    "next\u0085line", "form\x0cfeed", "\ufeffmark", "0", "1.5", "true", "[1, 2]", '{"a": 1}', "\\", "\\n", "#N/A", "long " * 2000,
]  # fmt: skip

SENTENCES = st.one_of(
    st.sampled_from(NASTY),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30),
    st.text("ab \t\n\"',;=\\", min_size=1, max_size=12),
).filter(lambda text: not is_blank(text))
WORDS = st.one_of(st.just(""), st.sampled_from(NASTY), st.text("abc 1", max_size=5))
RANGES = st.sampled_from([(0.0, 1.0), (0.0, 5.0), (1.0, 5.0), (-1.0, 1.0)])


@st.composite
def gold_tables(draw: st.DrawFn) -> tuple[tuple[float, float], list[tuple[Any, ...]]]:
    """A score range, and rows in the order of HEADER."""
    low, high = draw(RANGES)
    scores = st.one_of(st.floats(low, high), st.sampled_from([low, high, (low + high) / 3]))
    splits = st.sampled_from(["train", "dev", "test", ""])
    row = st.tuples(SENTENCES, SENTENCES, scores, splits, WORDS, WORDS)
    return (low, high), draw(st.lists(row, min_size=1, max_size=8))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """One workspace for all examples, each of which has projects of its own."""
    return open_workspace(tmp_path_factory.mktemp("home"))


numbers = itertools.count()


def new_project(workspace: Workspace) -> int:
    return projects.create_project(workspace, f"Round {next(numbers)}").id


def compared(workspace: Workspace, project_id: int) -> list[tuple[Any, ...]]:
    """Every gold pair of a project, with all that must come back."""
    return [row[:N_COMPARED] for row in gold_export_rows(workspace, project_id)]


def options_for(score_range: tuple[float, float]) -> ImportOptions:
    return ImportOptions(
        score_range=score_range, split_column="split", group_column="group", id_column="source_id"
    )


def again(score_range: tuple[float, float]) -> ImportOptions:
    """What a user must say of an exported file: the scale; its columns are recognised."""
    return ImportOptions(score_range=score_range)


def files_of(path: Path) -> list[tuple[str, bytes]]:
    """(name, content) of an exported file or dataset folder, as an import takes them."""
    return read_dataset_folder(path) if path.is_dir() else [(path.name, path.read_bytes())]


def round_trip(
    workspace: Workspace, folder: Path, kind: str, project_id: int, told: ImportOptions
) -> int:
    """Export a project's gold pairs and import them into a new project, which is returned."""
    target = folder / f"round-{next(numbers)}{KINDS[kind].suffix}"
    export_gold(workspace, project_id, target, kind=kind, safe=False)
    other = new_project(workspace)
    import_files(
        workspace, other, [SourceFile(name, data, told) for name, data in files_of(target)]
    )
    return other


@pytest.mark.parametrize("kind", MACHINE_KINDS)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=gold_tables())
@example(table=((0.0, 5.0), [("NA", "tab\there", 5 / 3, "dev", "", "")]))
@example(
    table=((0.0, 1.0), [("=1+1", '"', 0.1 + 0.2, "", "g", "7"), ("'", "=1+1", 1.0, "", "", "")])
)
def test_gold_comes_back_as_it_was(
    shared: Workspace, tmp_path: Path, kind: str, table: tuple[Any, list[tuple[Any, ...]]]
) -> None:
    """The first import is what counts: how it normalises a table is tested elsewhere."""
    score_range, rows = table
    first = new_project(shared)
    data = to_csv(HEADER, rows, safe=False)
    import_file(shared, first, data, "gold.csv", options_for(score_range))
    second = round_trip(shared, tmp_path, kind, first, again(score_range))
    assert compared(shared, second) == compared(shared, first)


@pytest.mark.parametrize("kind", MACHINE_KINDS)
def test_every_nasty_text_survives_in_both_places(
    workspace: Workspace, tmp_path: Path, kind: str
) -> None:
    """All at once, so that the guesses of the importer have much to be misled by."""
    turned = [*NASTY[7:], *NASTY[:7]]
    rows = [
        (one, other, number / len(NASTY), SPLITS[number % 3], other, f"{number:03d}")
        for number, (one, other) in enumerate(zip(NASTY, turned, strict=True))
    ]
    first = new_project(workspace)
    data = to_csv(HEADER, rows, safe=False)
    import_file(workspace, first, data, "gold.csv", options_for((0.0, 1.0)))
    assert len(compared(workspace, first)) == len(NASTY)
    second = round_trip(workspace, tmp_path, kind, first, again((0.0, 1.0)))
    assert compared(workspace, second) == compared(workspace, first)


@pytest.mark.parametrize("kind", MACHINE_KINDS)
def test_scores_written_as_words_come_back_with_their_words(
    workspace: Workspace, tmp_path: Path, kind: str
) -> None:
    told = ImportOptions(
        score_range=(0.0, 5.0), labels=("alike=5", "so so=2.5", "unlike=0"), split="train"
    )
    data = b"sentence1,sentence2,score\nA cat,A dog,unlike\nA cat,A tom,Alike\nA dog,A tom,so_so\n"
    first = new_project(workspace)
    import_file(workspace, first, data, "words.csv", told)
    assert [row[6] for row in compared(workspace, first)] == ["unlike", "Alike", "so_so"]
    by_number = ImportOptions(score_range=(0.0, 5.0))
    third = round_trip(workspace, tmp_path, kind, first, by_number)
    assert compared(workspace, third) == compared(workspace, first)
    (tmp_path / "by word").mkdir()
    tmp_path = tmp_path / "by word"
    by_word = replace(told, columns=("sentence1", "sentence2", "label"), split="")
    second = round_trip(workspace, tmp_path, kind, first, by_word)
    assert compared(workspace, second) == compared(workspace, first)


@pytest.mark.parametrize("kind", MACHINE_KINDS)
def test_a_silver_set_can_be_imported_as_gold(
    workspace: Workspace, project: Project, tmp_path: Path, kind: str
) -> None:
    set_id = silver_pairs.sixty_pairs(workspace, project)
    target = tmp_path / f"silver{KINDS[kind].suffix}"
    export_silver(workspace, set_id, target, kind=kind)
    stored = silver_pairs.stored_pairs(workspace, set_id)
    other = new_project(workspace)
    told = ImportOptions(score_range=(0.0, 5.0), split="train")
    import_files(
        workspace, other, [SourceFile(name, data, told) for name, data in files_of(target)]
    )
    pairs = scored_pairs(workspace, other, "train")
    assert (pairs.sentences1, pairs.sentences2) == (stored.sentences1, stored.sentences2)
    assert pairs.scores == pytest.approx(stored.scores, abs=1e-7)


def test_a_spreadsheet_keeps_its_escapes(workspace: Workspace, tmp_path: Path) -> None:
    """What was escaped for a spreadsheet is not undone: nobody can tell it from a text that began with a quote."""
    first, second = new_project(workspace), new_project(workspace)
    told = again((0.0, 1.0))
    data = to_csv(HEADER, [("=1+1", "two", 0.5, "dev", "", "")], safe=False)
    import_file(workspace, first, data, "gold.csv", told)
    export_gold(workspace, first, tmp_path / "g.csv")
    import_file(workspace, second, (tmp_path / "g.csv").read_bytes(), "g.csv", told)
    assert compared(workspace, second)[0][:3] == ("'=1+1", "two", 0.5)
