"""The search for sentences by a text: the index finds what reading every sentence finds, whatever happens to it."""

import itertools
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augsbert_core.storage import projects, runs, sentence_search, sentences, short_search
from augsbert_core.storage.database import Workspace, open_workspace, reading, writing
from augsbert_core.storage.records import Project
from augsbert_core.storage.sentence_search import bring_up_to_date, matching_sentences

TEXTS = [
    "A man plays the guitar.",
    "Two dogs run.",
    "école fermée",
    "ÉCOLE ouverte",
    "猫が魚を食べる",
]


def add(workspace: Workspace, project: Project, texts: list[str]) -> None:
    """Import sentences for sampling."""
    record = runs.ImportRecord("s.txt", "{}", 1, str(texts))
    sentences.add_unlabelled_sentences(workspace, project.id, texts, record=record, metrics={})


def slowly(workspace: Workspace, project: Project, text: str) -> list[int]:
    """What a search means: each sentence is looked at."""
    with reading(workspace) as db:
        rows = db.execute("SELECT id, text FROM sentence WHERE project_id = ?", [project.id])
        return sorted(row_id for row_id, held in rows if text.lower() in held.lower())


def found(workspace: Workspace, project: Project, text: str) -> list[int]:
    ids = matching_sentences(workspace, project.id, text)
    assert ids.dtype == np.int64
    return ids.tolist()


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the workspace were large: every sentence is indexed, in small batches."""
    monkeypatch.setattr(sentence_search, "FEW", 0)
    monkeypatch.setattr(sentence_search, "BATCH", 7)
    monkeypatch.setattr(sentence_search, "AT_ONCE_SECONDS", 1e9)


@pytest.fixture
def no_reading(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """From which sentence on each search had to read the sentences themselves."""
    begun: list[int] = []
    scan = sentence_search._scan

    def spy(db: object, project_id: int, needle: str, after: int) -> np.ndarray:
        begun.append(after)
        return scan(db, project_id, needle, after)  # type: ignore[arg-type]

    monkeypatch.setattr(sentence_search, "_scan", spy)
    return begun


def newest(workspace: Workspace) -> int:
    with reading(workspace) as db:
        return int(db.execute("SELECT max(id) FROM sentence").fetchone()[0])


LETTERS = st.characters(codec="utf-8", exclude_characters="\0")
PIECES = st.sampled_from(
    ["abc", "ABC", "ß", "SS", "İ", "i̇", "ΣΑΣ", "σας", "猫が", '"', "*", "AND", "NEAR(", "  ", "😀", "\ufffd", "\uffff", "e\u0301", "é"]
)  # fmt: skip
TEXT = st.lists(PIECES | st.text(LETTERS, max_size=3), max_size=6).map("".join)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """One workspace for many projects, whose sentences are in one index."""
    return open_workspace(tmp_path_factory.mktemp("search"))


NUMBERS = itertools.count()


@given(texts=st.lists(TEXT, max_size=12), needles=st.lists(TEXT, min_size=1, max_size=4))
@settings(max_examples=40)
def test_the_index_finds_what_looking_at_every_sentence_finds(
    shared: Workspace, texts: list[str], needles: list[str]
) -> None:
    project = projects.create_project(shared, f"Search {next(NUMBERS)}")
    add(shared, project, texts)
    bring_up_to_date(shared)
    for needle in [*needles, *(text[1:5] for text in texts), *(text.swapcase() for text in texts)]:
        assert found(shared, project, needle) == slowly(shared, project, needle), needle


def test_special_characters_are_looked_for_as_they_are(
    workspace: Workspace, project: Project, at_once: None
) -> None:
    held = [
        'say "hi" AND go',
        "100 % sure_about*",
        "NEAR(a b)",
        "col:umn",
        "back\\slash",
        "it's -x ^y",
    ]
    add(workspace, project, held)
    for text in (
        '"hi" AND',
        "% sure_",
        "about*",
        "NEAR(a",
        "col:u",
        "k\\sl",
        "t's -x",
        'x" OR "y',
        "^y",
    ):
        assert found(workspace, project, text) == slowly(workspace, project, text), text
    assert len(found(workspace, project, "% sure_")) == 1
    assert found(workspace, project, "%%%") == []


def test_sentences_of_other_projects_and_deleted_ones_are_not_found(
    workspace: Workspace, project: Project, at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = projects.create_project(workspace, "Other")
    add(workspace, other, ["A man plays the piano."])
    add(workspace, project, TEXTS)
    for checked in (5_000, 0):
        monkeypatch.setattr(sentence_search, "CHECKED", checked)
        assert found(workspace, project, "man plays") == slowly(workspace, project, "man plays")
    assert len(found(workspace, other, "man plays")) == 1
    with writing(workspace) as db:
        db.execute("DELETE FROM sentence WHERE text LIKE '%guitar%' OR text LIKE '%piano%'")
    for checked in (5_000, 0):
        monkeypatch.setattr(sentence_search, "CHECKED", checked)
        assert found(workspace, project, "man plays the") == []
        assert found(workspace, other, "man plays") == []


def test_only_sentences_that_are_not_indexed_yet_are_read(
    workspace: Workspace, project: Project, at_once: None, no_reading: list[int]
) -> None:
    add(workspace, project, [f"sentence {number}" for number in range(40)])
    assert len(found(workspace, project, "sentence 3")) == 11
    assert no_reading == [newest(workspace)]
    add(workspace, project, ["sentence 333"])
    assert len(found(workspace, project, "SENTENCE 3")) == 12
    assert no_reading[1] == newest(workspace)


def test_a_few_new_sentences_are_read_and_not_indexed(
    workspace: Workspace, project: Project, no_reading: list[int]
) -> None:
    """... so that a small workspace has no index at all."""
    add(workspace, project, TEXTS)
    assert len(found(workspace, project, "école")) == 2
    assert no_reading == [0]
    bring_up_to_date(workspace)
    assert len(found(workspace, project, "école")) == 2
    assert no_reading == [0, newest(workspace)]


def test_a_search_stops_indexing_after_a_while_and_reads_the_rest(
    workspace: Workspace,
    project: Project,
    at_once: None,
    no_reading: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sentence_search, "AT_ONCE_SECONDS", -1.0)
    add(workspace, project, [f"sentence {number}" for number in range(40)])
    assert len(found(workspace, project, "sentence 3")) == 11
    assert no_reading == [0]


def test_short_texts_are_found_too(workspace: Workspace, project: Project, at_once: None) -> None:
    add(workspace, project, TEXTS)
    for text in ("", "a", "É", "猫", "が魚", ".", "zz"):
        assert found(workspace, project, text) == slowly(workspace, project, text)


@pytest.fixture
def read_from(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """After which sentence each search for a short text read the store."""
    begun: list[int] = []
    read = short_search._read

    def spy(db: object, project_id: int, after: int) -> short_search._Texts:
        begun.append(after)
        return read(db, project_id, after)  # type: ignore[arg-type]

    monkeypatch.setattr(short_search, "_read", spy)
    return begun


def test_short_texts_are_looked_for_in_what_was_read_once(
    workspace: Workspace, project: Project, read_from: list[int]
) -> None:
    add(workspace, project, TEXTS)
    assert len(found(workspace, project, "É")) == 2
    first = newest(workspace)
    add(workspace, project, ["Éa", "no such letter"])
    assert len(found(workspace, project, "éa")) == 1
    assert len(found(workspace, project, "É")) == 3
    assert read_from == [0, first, newest(workspace)], "only what came in since"
    with writing(workspace) as db:
        db.execute("DELETE FROM sentence WHERE text = 'Éa'")
    assert len(found(workspace, project, "é")) == 2


def test_projects_are_told_apart_by_a_search_for_short_texts(
    workspace: Workspace, project: Project
) -> None:
    other = projects.create_project(workspace, "Other")
    add(workspace, project, ["xy"])
    add(workspace, other, ["xy", "Xz"])
    for _ in range(2):
        assert len(found(workspace, project, "x")) == 1
        assert len(found(workspace, other, "x")) == 2


def test_what_was_read_before_a_backup_came_back_is_not_believed(
    workspace: Workspace, project: Project, tmp_path: Path
) -> None:
    add(workspace, project, TEXTS)
    other = open_workspace(tmp_path / "other")
    own = projects.create_project(other, "Own")
    add(other, own, [f"zq {number}" for number in range(5)])
    assert found(workspace, project, "zq") == []
    with sqlite3.connect(other.database) as backup, sqlite3.connect(workspace.database) as present:
        backup.backup(present)
    assert found(workspace, own, "zq") == slowly(workspace, own, "zq")
    assert len(found(workspace, own, "zq")) == 5


def test_of_a_large_project_no_texts_are_kept(
    workspace: Workspace, project: Project, read_from: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(short_search, "MOST_SENTENCES", 3)
    add(workspace, project, TEXTS)
    for _ in range(2):
        assert len(found(workspace, project, "É")) == 2
    assert read_from == [0, 0]


def test_long_texts_are_compared_to_their_end(
    workspace: Workspace, project: Project, at_once: None
) -> None:
    long = "many words " * 60
    add(workspace, project, [long + "end", long + "other end"])
    assert len(found(workspace, project, long)) == 2
    assert len(found(workspace, project, long + "END")) == 1


@pytest.mark.parametrize("damage", ["deleted", "no database", "cut", "folder"])
def test_a_broken_index_is_made_anew(
    workspace: Workspace, project: Project, at_once: None, no_reading: list[int], damage: str
) -> None:
    add(workspace, project, TEXTS)
    assert len(found(workspace, project, "école")) == 2
    path = workspace.home / "cache" / "search.db"
    if damage == "deleted":
        shutil.rmtree(path.parent)
    elif damage == "no database":
        path.write_bytes(b"nothing of the kind" * 1000)
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:5000])
    else:
        shutil.rmtree(path.parent)
        path.mkdir(parents=True)
    for _ in range(3):
        assert len(found(workspace, project, "école")) == 2
    if damage != "folder":
        assert no_reading[-1] == newest(workspace), "the index is whole again"


def test_the_index_of_another_workspace_is_not_believed(
    workspace: Workspace, project: Project, at_once: None, no_reading: list[int], tmp_path: Path
) -> None:
    """A cache folder that was copied, or that stayed when a backup was put in place of the database."""
    add(workspace, project, TEXTS)
    other = open_workspace(tmp_path / "other")
    own = projects.create_project(other, "Own")
    add(other, own, [f"other words {number}" for number in range(30)])
    assert len(found(other, own, "words")) == 30
    shutil.copytree(other.home / "cache", workspace.home / "cache")
    assert found(workspace, project, "words") == []
    assert len(found(workspace, project, "école")) == 2
    assert no_reading[-1] == newest(workspace)


def test_while_another_process_writes_the_index_sentences_are_read(
    workspace: Workspace, project: Project, at_once: None, no_reading: list[int]
) -> None:
    add(workspace, project, TEXTS)
    bring_up_to_date(workspace)
    indexed = newest(workspace)
    add(workspace, project, ["école nouvelle"])
    with sqlite3.connect(workspace.home / "cache" / "search.db") as index:
        index.execute("BEGIN IMMEDIATE")
        assert len(found(workspace, project, "école")) == 3
        assert no_reading == [indexed], "the old ones from the index, the new one read"
        index.execute("ROLLBACK")
    assert len(found(workspace, project, "école")) == 3
    assert no_reading[-1] == newest(workspace)


SEARCHER = """
import sys
from pathlib import Path
from augsbert_core.storage import sentence_search
from augsbert_core.storage.database import Workspace
sentence_search.FEW, sentence_search.BATCH, sentence_search.AT_ONCE_SECONDS = 0, 20, 0.02
workspace = Workspace(Path(sys.argv[1]))
found = {len(sentence_search.matching_sentences(workspace, int(sys.argv[2]), "sentence 7")) for _ in range(15)}
print(found)
"""


def test_processes_that_search_at_once_do_not_fail_each_other(
    workspace: Workspace, project: Project
) -> None:
    add(workspace, project, [f"sentence {number}" for number in range(1000)])
    command = [sys.executable, "-c", SEARCHER, str(workspace.home), str(project.id)]
    root = Path(__file__).parent.parent
    at_work = [
        subprocess.Popen(
            command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    for process in at_work:
        out, err = process.communicate(timeout=240)
        assert (out.strip(), err) == ("{111}", "")
