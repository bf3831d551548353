"""Imports in the background: all or nothing, and no file left behind."""

import errno
import os
import threading
import time
from pathlib import Path

import pytest

from augsbert_core import jobs, processes, worker
from augsbert_core.errors import Stopped, WorkbenchError
from augsbert_core.options import ImportedFile, ImportFilesOptions, ImportOptions, to_json
from augsbert_core.steps import import_data
from augsbert_core.steps.import_data import SourceFile, import_files
from augsbert_core.storage import gold, projects, queue, uploads
from augsbert_core.storage.database import Workspace, open_workspace, reading, writing
from augsbert_core.storage.records import Project
from augsbert_core.storage.uploads import keep_upload

GOOD = b"sentence1,sentence2,score\na,b,1\nc,d,2\n,e,3\n"
MORE = b"sentence1,sentence2,score\nf,g,4\n"


@pytest.fixture
def empty(workspace: Workspace) -> Project:
    return projects.create_project(workspace, "Empty")


def told(workspace: Workspace, *contents: bytes) -> ImportFilesOptions:
    files = []
    for number, content in enumerate(contents):
        path = keep_upload(workspace, f"part {number}.csv", content)
        options = to_json(ImportOptions(score_range=(0.0, 5.0), split="train"))
        relative = path.relative_to(workspace.home).as_posix()
        files.append(ImportedFile(relative, f"part {number}.csv", options))
    return ImportFilesOptions(files=tuple(files))


def left_behind(workspace: Workspace) -> list[Path]:
    return [path for path in (workspace.home / "uploads").rglob("*") if path.is_file()]


def test_a_background_import_brings_all_files_and_forgets_the_uploads(
    workspace: Workspace, empty: Project
) -> None:
    done = jobs.run_in_foreground(workspace, empty.id, "import-files", told(workspace, GOOD, MORE))
    assert (done["rows_read"], done["pairs_kept"], done["rejected"]) == (4, 3, 1)
    assert len(done["import_run_ids"]) == 2
    assert projects.count_project(workspace, empty.id).train == 3
    assert left_behind(workspace) == []


def test_when_one_file_is_no_good_none_comes_in(workspace: Workspace, empty: Project) -> None:
    with pytest.raises(WorkbenchError, match=r"part 1\.csv"):
        jobs.run_in_foreground(workspace, empty.id, "import-files", told(workspace, GOOD, b""))
    assert projects.count_project(workspace, empty.id).gold == 0
    (job,) = queue.list_jobs(workspace)
    assert job.state == "failed"
    assert len(left_behind(workspace)) == 2
    jobs.discard_job(workspace, job.id)
    assert left_behind(workspace) == []


def test_files_that_another_import_is_to_read_stay(workspace: Workspace, empty: Project) -> None:
    other = projects.create_project(workspace, "Other")
    options = told(workspace, GOOD)
    for project in (empty, other):
        broken = ImportFilesOptions(files=(*options.files, *told(workspace, b" ").files))
        with pytest.raises(WorkbenchError):
            jobs.run_in_foreground(workspace, project.id, "import-files", broken)
    first, second = queue.list_jobs(workspace)
    jobs.discard_job(workspace, first.id)
    assert len(left_behind(workspace)) == 2
    jobs.discard_project(workspace, projects.get_project(workspace, second.project_id).id)
    assert left_behind(workspace) == []


@pytest.mark.parametrize("at", [0, 1, 2, 3, 4])
def test_cancelled_at_any_moment_an_import_leaves_no_trace(
    workspace: Workspace, empty: Project, at: int
) -> None:
    sources = [
        SourceFile(f"{number}.csv", content, ImportOptions(score_range=(0.0, 5.0), split="dev"))
        for number, content in enumerate((GOOD, MORE))
    ]
    looks = iter(range(1000))
    with pytest.raises(Stopped):
        import_files(workspace, empty.id, sources, should_stop=lambda: next(looks) >= at)
    with reading(workspace) as db:
        for table in ("gold_pair", "sentence", "run", "import_reject"):
            assert db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 0


def test_an_upload_outside_the_workspace_is_never_read(
    workspace: Workspace, empty: Project
) -> None:
    outside = ImportedFile("../secret.csv", "x.csv", to_json(ImportOptions()))
    with pytest.raises(WorkbenchError, match="no longer there"):
        jobs.enqueue(workspace, empty.id, "import-files", ImportFilesOptions(files=(outside,)))


def test_killed_just_after_its_rows_came_in_a_job_is_resumed_to_done(
    workspace: Workspace, empty: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget = uploads.forget_uploads

    def die(*_args: object, **_named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(uploads, "forget_uploads", die)
    with pytest.raises(Stopped):
        jobs.run_in_foreground(workspace, empty.id, "import-files", told(workspace, GOOD))
    assert projects.count_project(workspace, empty.id).train == 2
    monkeypatch.setattr(uploads, "forget_uploads", forget)
    (job,) = queue.list_jobs(workspace)
    queue.queue_again(workspace, job.id)
    assert queue.claim_job(workspace, job.id, **processes.this_process())
    result = worker.carry_out(workspace, queue.get_job(workspace, job.id))
    assert (result["rows_read"], result["pairs_kept"], result["rejected"]) == (3, 2, 1)
    assert projects.count_project(workspace, empty.id).train == 2
    assert queue.get_job(workspace, job.id).state == "done"
    assert left_behind(workspace) == []


def test_a_damaged_upload_is_written_anew_and_never_read(workspace: Workspace) -> None:
    path = keep_upload(workspace, "pairs.csv", GOOD)
    relative = path.relative_to(workspace.home).as_posix()
    path.write_bytes(GOOD[:20])
    with pytest.raises(WorkbenchError, match="damaged"):
        uploads.read_upload(workspace, relative)
    assert keep_upload(workspace, "pairs.csv", GOOD) == path
    assert uploads.read_upload(workspace, relative) == GOOD
    assert left_behind(workspace) == [path]


@pytest.mark.parametrize(
    "name", ["ü" * 300 + ".csv", "../../x.csv", "..\\x.csv", ".", "a" * 400, "文" * 90 + ".xlsx"]
)
def test_any_name_can_be_kept(workspace: Workspace, name: str) -> None:
    path = keep_upload(workspace, name, GOOD)
    assert (workspace.home / "uploads") in path.parents
    assert len(path.name.encode()) <= 120
    assert path.suffix == Path(name).suffix


def test_a_full_disk_is_told_in_a_sentence(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(WorkbenchError, match=r"pairs\.csv cannot be kept .*No space left"):
        keep_upload(workspace, "pairs.csv", GOOD)
    assert left_behind(workspace) == []


def test_nothing_comes_into_a_project_that_is_being_deleted(
    workspace: Workspace, empty: Project
) -> None:
    with writing(workspace) as db:
        db.execute("UPDATE project SET deleting = 1 WHERE id = ?", [empty.id])
    for kind, text in (("pairs", GOOD), ("sentences", b"sentence\na\n")):
        options = ImportOptions(kind=kind, score_range=(0.0, 5.0))
        with pytest.raises(WorkbenchError, match="does not exist"):
            import_files(workspace, empty.id, [SourceFile("f.csv", text, options)])


def test_more_rows_than_others_can_wait_for_are_refused(
    workspace: Workspace, empty: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_data, "MOST_ROWS", 1)
    with pytest.raises(WorkbenchError, match="2 rows are too many"):
        import_files(
            workspace, empty.id, [SourceFile("f.csv", GOOD, ImportOptions(score_range=(0.0, 5.0)))]
        )


def test_an_import_can_be_cancelled_while_it_writes_and_nobody_else_can(
    workspace: Workspace, empty: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gold, "CHUNK", 50)
    rows = "".join(f"a{n},b{n},1\n" for n in range(50_000))
    options = told(workspace, b"sentence1,sentence2,score\n" + rows.encode())
    writes, ended = threading.Event(), []

    def listen(fraction: float, message: str, *_: object) -> None:
        if "pairs written" in message:
            writes.set()
            time.sleep(0.005)  # five seconds in all

    def work() -> None:
        try:
            jobs.run_in_foreground(workspace, empty.id, "import-files", options, listen)
        except Stopped as stopped:
            ended.append(stopped)

    thread = threading.Thread(target=work)
    thread.start()
    assert writes.wait(60)
    jobs.cancel(workspace, queue.list_jobs(workspace)[0].id)
    thread.join(60)
    assert ended
    (job,) = queue.list_jobs(workspace)
    assert job.state == "cancelled"
    with reading(workspace) as db:
        for table in ("gold_pair", "sentence", "import_reject"):
            assert db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 0
    jobs.discard_job(workspace, job.id)
    assert left_behind(workspace) == []
    assert list(workspace.logs.iterdir()) == []


def test_a_workspace_opens_while_somebody_writes(workspace: Workspace) -> None:
    with writing(workspace):
        began = time.monotonic()
        open_workspace(workspace.home)
        assert time.monotonic() - began < 5  # a write would wait for a minute
