"""A disk without room, and a database that is gone: one sentence, whatever was being done; what was saved stays."""

import errno
import shutil
import sqlite3
from pathlib import Path

import pytest

from augsbert_core import worker
from augsbert_core.cli import main
from augsbert_core.errors import WorkbenchError
from augsbert_core.options import SampleOptions, to_json
from augsbert_core.storage import projects, queue, runs
from augsbert_core.storage.database import (
    Begin,
    Workspace,
    WorkspaceFull,
    WorkspaceLost,
    open_workspace,
    reading,
    trouble_of,
    writing,
    writing_often,
)
from augsbert_core.storage.records import Project
from tests import full_disk
from tests.full_disk import LONG, SENTENCE, files_in, sqlite_error


def test_what_finds_no_room_is_told_and_what_was_saved_stays(
    workspace: Workspace, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        full_disk.no_room_to_write(patch)
        with pytest.raises(WorkspaceFull, match=SENTENCE):
            projects.set_guideline(workspace, project.id, LONG)
        assert projects.get_project(workspace, project.id) == project
    projects.set_guideline(workspace, project.id, LONG)
    assert projects.get_project(workspace, project.id).guideline == LONG


def test_without_room_for_its_small_files_not_even_reading_works(
    workspace: Workspace, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    full_disk.no_room_at_all(monkeypatch)
    with pytest.raises(WorkspaceFull, match=SENTENCE):
        projects.list_projects(workspace)
    with pytest.raises(WorkspaceFull, match=SENTENCE):
        open_workspace(workspace.home)


def test_other_errors_of_the_disk_are_not_taken_for_a_full_one(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    full_disk.no_room_at_all(monkeypatch, free=10**8)
    with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
        projects.list_projects(workspace)


def _write_twice(begin: Begin) -> None:
    with begin() as db:
        db.execute("UPDATE project SET guideline = 'half'")
        db.execute("UPDATE project SET name = 'new'")


@pytest.mark.parametrize("statement", ["COMMIT", "UPDATE project SET name = 'new'"])
@pytest.mark.parametrize("rolls_back", [True, False])
def test_a_transaction_without_room_is_taken_back_whole(
    workspace: Workspace,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    statement: str,
    rolls_back: bool,
) -> None:
    with monkeypatch.context() as patch:
        full_disk.fails_at(patch, statement, rolls_back=rolls_back)
        with writing_often(workspace) as begin:
            for _ in range(2):  # the connection is fit for the next one
                with pytest.raises(WorkspaceFull):
                    _write_twice(begin)
    assert projects.get_project(workspace, project.id) == project


def test_a_new_workspace_on_a_full_disk_does_not_send_people_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mkdir(*_arguments: object, **_how: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "mkdir", mkdir)
    with pytest.raises(WorkspaceFull, match=SENTENCE):
        open_workspace(tmp_path / "new")


def test_a_database_that_is_gone_is_not_replaced_by_an_empty_one(
    workspace: Workspace, project: Project
) -> None:
    for path in workspace.home.glob("workbench.db*"):
        path.rename(workspace.home / path.name.replace("workbench", "moved"))
    for use in (reading, writing):
        with pytest.raises(WorkspaceLost, match=r"workbench\.db is gone"), use(workspace):
            pass
    assert not workspace.database.exists()
    (workspace.home / "moved.db").rename(workspace.database)
    assert projects.list_projects(workspace) == [project]


def test_every_error_of_disk_or_database_has_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    assert trouble_of(OSError(errno.ENOSPC, "No space left on device")) == SENTENCE
    assert trouble_of(sqlite_error("database or disk is full", sqlite3.SQLITE_FULL)) == SENTENCE
    assert "go back to a backup" in trouble_of(sqlite_error("malformed", sqlite3.SQLITE_CORRUPT))
    assert trouble_of(WorkbenchError("Type a name.")) == "Type a name."
    for other in (OSError(errno.EACCES, "denied"), ValueError("full")):
        assert trouble_of(other) == ""
    broken = sqlite_error("disk I/O error", sqlite3.SQLITE_IOERR_WRITE)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: full_disk.Usage(9, 9, 0))
    assert trouble_of(broken) == SENTENCE


@pytest.mark.parametrize(
    "error",
    [
        WorkspaceFull(),
        OSError(errno.ENOSPC, "No space left on device"),
        sqlite_error("database or disk is full", sqlite3.SQLITE_FULL),
        RuntimeError("[enforce fail] . No space left on device"),
    ],
)
def test_a_job_without_room_says_how_to_go_on(error: Exception) -> None:
    told = worker.explain(error)
    assert told.startswith(SENTENCE)
    assert "resume the job" in told


def test_a_job_that_finds_no_room_fails_with_that_sentence(
    workspace: Workspace, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = runs.add_run(workspace, project.id, "sample", "s", to_json(SampleOptions()), 1)
    job_id = queue.add_job(workspace, project.id, run_id, "sample", "cpu")
    assert queue.claim_job(workspace, job_id, host="test", pid=1, pid_started=1.0)

    def step(*_arguments: object) -> dict[str, object]:
        with monkeypatch.context() as patch:
            full_disk.no_room_to_write(patch)
            projects.set_guideline(workspace, project.id, LONG)
        return {}

    monkeypatch.setattr(worker, "_call_step", step)
    with pytest.raises(WorkspaceFull):
        worker.carry_out(workspace, queue.get_job(workspace, job_id))
    job = queue.get_job(workspace, job_id)
    assert (job.state, job.error) == ("failed", worker.DISK_FULL)
    assert job.details is None


@pytest.mark.parametrize("room", ["none", "to read"])
def test_a_command_on_a_full_disk_says_so_and_nothing_else(
    workspace: Workspace,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    room: str,
) -> None:
    gold = tmp_path / "gold.csv"
    rows = [f"One {LONG[:500]} {n},Two {n},1" for n in range(300)]
    gold.write_text("\n".join(["sentence1,sentence2,score", *rows]), encoding="utf-8")
    if room == "none":
        full_disk.no_room_at_all(monkeypatch)
    else:
        full_disk.no_room_to_write(monkeypatch)
    before = files_in(workspace.home)
    with pytest.raises(SystemExit) as ended:
        main(["--home", str(workspace.home), "import", str(gold), "--project", project.name])
    assert ended.value.code == 1
    assert capsys.readouterr().err.splitlines()[-1] == SENTENCE
    assert {name for name in files_in(workspace.home) if name.endswith(".db")} <= before


def test_a_damaged_database_in_a_command_is_one_line(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def damaged(_workspace: Workspace) -> list[Project]:
        raise sqlite_error("database disk image is malformed", sqlite3.SQLITE_CORRUPT)

    monkeypatch.setattr(projects, "list_projects", damaged)
    with pytest.raises(SystemExit) as ended:
        main(["--home", str(workspace.home), "projects"])
    assert ended.value.code == 1
    assert "go back to a backup" in capsys.readouterr().err
