"""Imports in the background: all or nothing, and no file left behind."""

from pathlib import Path

import pytest

from augsbert_core import jobs
from augsbert_core.errors import Stopped, WorkbenchError
from augsbert_core.options import ImportedFile, ImportFilesOptions, ImportOptions, to_json
from augsbert_core.steps.import_data import SourceFile, import_files
from augsbert_core.storage import projects, queue
from augsbert_core.storage.database import Workspace, reading
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
