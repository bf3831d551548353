"""Connections that a class's server uses again: never to another file than the one that is there."""

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from augsbert_core.storage import database, projects
from augsbert_core.storage.database import (
    Workspace,
    WorkspaceLost,
    open_workspace,
    reading,
)
from augsbert_core.storage.idle_connections import (
    IDLE,
    KEPT_SECONDS,
    MOST_OF_ONE,
    IdleConnections,
    file_key,
)


@pytest.fixture
def kept() -> Iterator[None]:
    IDLE.keep()
    yield
    IDLE.keep(keeps=False)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The databases of which a connection was opened."""
    found = []
    connected = database._connected

    def note(workspace: Workspace) -> sqlite3.Connection:
        found.append(workspace.database)
        return connected(workspace)

    monkeypatch.setattr(database, "_connected", note)
    return found


def names(workspace: Workspace) -> list[str]:
    with reading(workspace) as db:
        return [row[0] for row in db.execute("SELECT name FROM project ORDER BY name")]


def add(workspace: Workspace, name: str) -> None:
    projects.create_project(workspace, name)


@pytest.mark.usefixtures("kept")
def test_the_next_reader_takes_it_and_sees_what_others_wrote(
    tmp_path: Path, opened: list[Path]
) -> None:
    workspace = open_workspace(tmp_path)
    assert names(workspace) == []
    add(workspace, "one")
    opened.clear()
    assert names(workspace) == ["one"]
    assert names(workspace) == ["one"]
    assert opened == []


def test_without_a_class_each_reader_has_its_own(tmp_path: Path, opened: list[Path]) -> None:
    workspace = open_workspace(tmp_path)
    opened.clear()
    names(workspace), names(workspace)
    assert len(opened) == 2
    assert not list(tmp_path.glob("workbench.db-*"))


@pytest.mark.usefixtures("kept")
def test_another_file_in_its_place_is_read_anew(tmp_path: Path) -> None:
    mine, other = open_workspace(tmp_path / "mine"), open_workspace(tmp_path / "other")
    add(mine, "mine")
    add(other, "other")
    assert names(mine) == ["mine"]
    IDLE.keep(keeps=False)
    IDLE.keep()
    assert names(mine) == ["mine"]
    shutil.copy(other.database, tmp_path / "copy")
    for beside in mine.home.glob("workbench.db-*"):
        beside.unlink()
    (tmp_path / "copy").replace(mine.database)
    assert names(mine) == ["other"]
    mine.database.unlink()
    with pytest.raises(WorkspaceLost):
        names(mine)


@pytest.mark.usefixtures("kept")
def test_after_an_error_it_is_not_used_again(tmp_path: Path, opened: list[Path]) -> None:
    workspace = open_workspace(tmp_path)
    IDLE.keep(keeps=False)
    IDLE.keep()
    with pytest.raises(ZeroDivisionError), reading(workspace):
        raise ZeroDivisionError
    opened.clear()
    names(workspace)
    assert opened == [workspace.database]


@pytest.mark.usefixtures("kept")
def test_one_reader_inside_another_has_a_connection_of_its_own(tmp_path: Path) -> None:
    workspace = open_workspace(tmp_path)
    with reading(workspace) as outer:
        add(workspace, "new")
        outer.execute("SELECT 1 FROM project").fetchall()
        with reading(workspace) as inner:
            assert inner.conn is not outer.conn


def test_only_some_wait_and_not_for_long(tmp_path: Path) -> None:
    now = [0.0]
    path = tmp_path / "some.db"
    path.touch()
    key = file_key(path)
    idle = IdleConnections(clock=lambda: now[0])
    idle.keep()
    made = [sqlite3.connect(path) for _ in range(MOST_OF_ONE + 1)]
    for connection in made:
        idle.give_back(key, connection)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        made[-1].execute("SELECT 1")
    assert idle.take(key) is made[-2]
    now[0] = KEPT_SECONDS + 1
    idle.give_back(key, made[-2])
    assert idle.take(key) is made[-2]
    assert idle.take(key) is None
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        made[0].execute("SELECT 1")


def test_a_missing_file_has_no_key(tmp_path: Path) -> None:
    assert file_key(tmp_path / "none.db") is None
