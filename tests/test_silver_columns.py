"""The columns of a silver set: computed once, kept in a file that is believed only where it is right."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augsbert_core.metrics import jaccard
from augsbert_core.storage import (
    sentence_search,
    silver_columns,
    silver_pages,
    silver_sets,
    silver_words,
)
from augsbert_core.storage.database import Workspace, open_workspace, reading
from augsbert_core.storage.projects import create_project
from augsbert_core.storage.records import Project
from augsbert_core.storage.silver_columns import COLUMNS, SilverColumns
from augsbert_core.storage.silver_filters import SilverFilter
from augsbert_core.words import tokenize
from tests.silver_pairs import all_pairs, candidate_set, corpus, label, silver_set, sixty_pairs

SENTENCE = st.lists(
    st.sampled_from(["a", "b", "c", "the", "dog's", "École", "猫が魚", "?!", "２"]), max_size=8
).map(" ".join)


@given(
    pairs=st.lists(st.tuples(SENTENCE, SENTENCE), max_size=20), chunk=st.sampled_from([1, 3, 100])
)
def test_words_and_overlap_are_those_of_each_pair_by_itself(
    pairs: list[tuple[str, str]], chunk: int
) -> None:
    texts = sorted({text for pair in pairs for text in pair})
    first, second = (
        np.array([texts.index(pair[side]) for pair in pairs], dtype=np.int64) for side in (0, 1)
    )
    sets = silver_words.WordSets.of(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(silver_words, "CHUNK", chunk)
        overlaps = silver_words.overlaps(sets, first, second)
    sides = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    assert overlaps == pytest.approx(jaccard(*sides))
    longer = [max(map(len, tokenize(pair))) for pair in pairs]
    assert silver_words.longer_lengths(sets, first, second).tolist() == longer


def columns_of(workspace: Workspace, set_id: int) -> SilverColumns:
    with reading(workspace) as db:
        return silver_columns.columns_of(workspace, db, set_id)


def files(workspace: Workspace) -> list[str]:
    folder = workspace.home / "cache"
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("silver-"))


def new_process() -> None:
    """Nothing is at hand any more."""
    silver_columns._at_hand.clear()


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows were computed each time that columns were."""
    sizes: list[int] = []
    of_rows = silver_columns._of_rows

    def spy(db: object, rows: np.ndarray) -> SilverColumns:
        sizes.append(rows.shape[1])
        return of_rows(db, rows)  # type: ignore[arg-type]

    monkeypatch.setattr(silver_columns, "_of_rows", spy)
    return sizes


def same(one: SilverColumns, other: SilverColumns) -> bool:
    return all(
        np.array_equal(
            getattr(one, name),
            getattr(other, name),
            equal_nan=name in ("order_gaps", "label_spreads"),
        )
        for name in COLUMNS
    )


def test_columns_hold_what_the_database_holds(workspace: Workspace, project: Project) -> None:
    set_id = sixty_pairs(workspace, project)
    found = columns_of(workspace, set_id)
    stored = sorted(
        all_pairs(workspace, set_id), key=lambda pair: (pair["sentence1_id"], pair["sentence2_id"])
    )
    assert found.ids.tolist() == [pair["id"] for pair in stored]
    assert found.first.tolist() == [pair["sentence1_id"] for pair in stored]
    assert found.second.tolist() == [pair["sentence2_id"] for pair in stored]
    assert found.scores.tolist() == [pair["score"] for pair in stored]
    assert found.ranks.tolist() == [pair["rank"] for pair in stored]
    assert np.isnan(found.order_gaps).all()
    assert set(found.words.tolist()) == {2}
    assert found.overlaps == pytest.approx(np.full(60, 1 / 3))


def test_the_file_serves_the_next_process(
    workspace: Workspace, project: Project, computed: list[int]
) -> None:
    set_id = sixty_pairs(workspace, project)
    first = columns_of(workspace, set_id)
    assert files(workspace) == [f"silver-{set_id}-60.npy"]
    assert columns_of(workspace, set_id) is first
    new_process()
    assert same(columns_of(workspace, set_id), first)
    assert computed == [60, 32], "once, and then a few to see whether the file is right"


def test_a_deleted_file_is_made_anew(workspace: Workspace, project: Project) -> None:
    set_id = sixty_pairs(workspace, project)
    first = columns_of(workspace, set_id)
    shutil.rmtree(workspace.home / "cache")
    new_process()
    assert same(columns_of(workspace, set_id), first)
    assert files(workspace) == [f"silver-{set_id}-60.npy"]


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def change_a_number(path: Path) -> None:
    held = bytearray(path.read_bytes())
    held[-5] ^= 255
    path.write_bytes(bytes(held))


def other_format(path: Path) -> None:
    np.save(path, np.arange(60))


def pickled(path: Path) -> None:
    np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def zipped(path: Path) -> None:
    np.savez(path.with_suffix(".npz"), a=np.arange(3))
    os.replace(path.with_suffix(".npz"), path)


def text(path: Path) -> None:
    path.write_text("not an array")


@pytest.mark.parametrize(
    "damage",
    [cut, change_a_number, other_format, pickled, empty, zipped, text],
    ids=lambda f: f.__name__,
)
def test_a_broken_file_is_made_anew(workspace: Workspace, project: Project, damage) -> None:
    set_id = sixty_pairs(workspace, project)
    first = columns_of(workspace, set_id)
    path = workspace.home / "cache" / f"silver-{set_id}-60.npy"
    whole = path.read_bytes()
    damage(path)
    new_process()
    assert same(columns_of(workspace, set_id), first)
    assert path.read_bytes() == whole


def test_the_file_of_another_workspace_is_not_believed(
    workspace: Workspace, project: Project, tmp_path: Path
) -> None:
    """It has the right name and is whole, but the pairs are others."""
    set_id = sixty_pairs(workspace, project)
    other = open_workspace(tmp_path / "other")
    own = create_project(other, "Other")
    pool = candidate_set(other, own, corpus(other, own, 20), 60)
    other_id = silver_set(other, own, pool)
    label(other, other_id, [0.5] * 60)
    columns_of(other, other_id)
    (workspace.home / "cache").mkdir()
    target = workspace.home / "cache" / f"silver-{set_id}-60.npy"
    shutil.copy(other.home / "cache" / f"silver-{other_id}-60.npy", target)
    assert other_id == set_id
    assert columns_of(workspace, set_id).scores.tolist() == [number / 64 for number in range(60)]


def test_a_set_that_grows_is_computed_only_where_it_is_new(
    workspace: Workspace, project: Project, computed: list[int]
) -> None:
    ids = corpus(workspace, project, 20)
    set_id = silver_set(workspace, project, candidate_set(workspace, project, ids, 60))
    waiting = silver_sets.unscored_pairs(workspace, set_id)
    rows = [(*pair, 1, None, 0.5, 0.5) for pair in waiting.ids]
    silver_sets.add_silver_scores(workspace, set_id, rows[40:])
    assert len(columns_of(workspace, set_id)) == 20
    silver_sets.add_silver_scores(workspace, set_id, rows[:40])
    grown = columns_of(workspace, set_id)
    assert computed == [20, 40]
    assert files(workspace) == [f"silver-{set_id}-60.npy"]
    silver_columns.forget(workspace, set_id)
    assert same(columns_of(workspace, set_id), grown)


def test_without_a_place_for_the_file_the_table_works_all_the_same(
    workspace: Workspace, project: Project
) -> None:
    set_id = sixty_pairs(workspace, project)
    (workspace.home / "cache").write_text("somebody's file")
    assert silver_pages.count_silver(workspace, set_id, SilverFilter(min_words=2)) == 60
    assert silver_pages.count_silver(workspace, set_id, SilverFilter(text="sentence 1")) == 39


def test_files_go_with_their_sets(workspace: Workspace, project: Project) -> None:
    """Those of sets that went another way, with their project, go when the next one is written."""
    first, second, third = (
        sixty_pairs(workspace, create_project(workspace, name)) for name in "ABC"
    )
    columns_of(workspace, first)
    columns_of(workspace, second)
    silver_sets.delete_silver_set(workspace, first)
    assert files(workspace) == [f"silver-{second}-60.npy"]
    (workspace.home / "cache" / "silver-99-5.npy").write_bytes(b"of a set that is gone")
    columns_of(workspace, third)
    assert files(workspace) == [f"silver-{second}-60.npy", f"silver-{third}-60.npy"]


def test_a_set_is_made_ready_before_anybody_looks(
    workspace: Workspace, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_id = sixty_pairs(workspace, project)
    said: list[str] = []
    silver_columns.prepare(workspace, set_id, lambda fraction, message, *_: said.append(message))
    assert said[-1] == "The silver table is ready"
    assert files(workspace) == [f"silver-{set_id}-60.npy"]

    def refuse(*_: object) -> np.ndarray:
        raise AssertionError("every sentence is indexed already")

    scan = sentence_search._scan
    monkeypatch.setattr(
        sentence_search,
        "_scan",
        lambda db, project_id, needle, after: (
            scan(db, project_id, needle, after) if after else refuse()
        ),
    )
    assert silver_pages.count_silver(workspace, set_id, SilverFilter(text="sentence 19")) == 3


def test_a_file_that_is_cut_short_while_in_use_harms_nobody(
    workspace: Workspace, project: Project
) -> None:
    set_id = sixty_pairs(workspace, project)
    before = columns_of(workspace, set_id)
    new_process()
    in_use = columns_of(workspace, set_id)
    (name,) = files(workspace)
    os.truncate(workspace.home / "cache" / name, 100)
    assert same(in_use, before)
