"""A workspace whose jobs count numbers instead of training models."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from augsbert_core import processes
from augsbert_core.storage import projects, queue
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project
from tests import fake_steps
from tests.conftest import workspace_with


@pytest.fixture(autouse=True)
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "augsbert_core.steps", sys.modules.get("augsbert_core.steps"))
    fake_steps.fake_package()
    monkeypatch.setattr(processes, "WORKER_COMMAND", fake_steps.worker_command())


@pytest.fixture
def workspace(tmp_path: Path, empty_database: Path) -> Iterator[Workspace]:
    workspace = workspace_with(empty_database, tmp_path / "workspace")
    yield workspace
    for job in queue.active_jobs(workspace):
        if job.pid not in (None, os.getpid()):
            processes.end(job)


@pytest.fixture
def project(workspace: Workspace) -> Project:
    return projects.create_project(workspace, "Numbers")
