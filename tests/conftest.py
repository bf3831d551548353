"""Fixtures that most tests share."""

import os
import shutil
import socket
from pathlib import Path

import hypothesis
import pytest

from augsbert_core.options import ImportOptions
from augsbert_core.steps.import_data import import_file
from augsbert_core.storage import projects
from augsbert_core.storage.database import Workspace, open_workspace
from augsbert_core.storage.records import Project

# No test may reach for a model hub, whatever the machine could.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

# How long an example may take says more about the machine than about the code.
hypothesis.settings.register_profile("any machine", deadline=None)
hypothesis.settings.load_profile("any machine")

STSB = Path(__file__).parent.parent.parent / "shared" / "data" / "stsb"

GOLD_CSV = (
    "sentence1,sentence2,score,split\n"
    "A cat sleeps on the sofa.,A cat is asleep on the couch.,4.5,train\n"
    "A cat sleeps on the sofa.,Two dogs run across a field.,0.5,train\n"
    "Two dogs run across a field.,Two dogs are running outside.,4,train\n"
    "A boy plays the guitar.,A girl plays the piano.,2,train\n"
    "A boy plays the guitar.,A boy is playing an instrument.,3.5,train\n"
    "It rains in the city.,The city is wet from the rain.,4,dev\n"
    "It rains in the city.,A man cooks dinner.,0,dev\n"
    "He cooks dinner at home.,A man makes pasta.,2.5,dev\n"
    "The train is late.,The train has a delay.,5,test\n"
    "The train is late.,She buys a red car.,0,test\n"
    "She drives to work.,A woman is driving.,3,test\n"
)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `-m alone` or `-m browser`, pass over files without that marker: to import all of them takes as long as some of
    the tests."""
    marker = config.option.markexpr
    if marker not in ("alone", "browser") or collection_path.suffix != ".py":
        return None
    return f"mark.{marker}" not in collection_path.read_text(encoding="utf-8") or None


LONGEST = (
    "tests/browser/test_journey.py",
    "tests/browser/test_learn.py",
    "tests/test_loop.py",
    "tests/test_stratified_step.py",
)
"""Begun first, so that at the end no core waits for one of them."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def place(item: pytest.Item) -> int:
        file = item.nodeid.partition("::")[0]
        return LONGEST.index(file) if file in LONGEST else len(LONGEST)

    items.sort(key=place)


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database without a row: to copy it takes a tenth of the time that all migrations take."""
    return open_workspace(tmp_path_factory.mktemp("empty")).database


@pytest.fixture(scope="session")
def tiny_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with the project that `project` promises, and nothing else."""
    workspace = open_workspace(tmp_path_factory.mktemp("tiny"))
    import_tiny_project(workspace)
    return workspace.database


def import_tiny_project(workspace: Workspace) -> None:
    made = projects.create_project(workspace, "Tiny")
    options = ImportOptions(score_range=(0.0, 5.0))
    import_file(workspace, made.id, GOLD_CSV.encode(), "gold.csv", options)


def workspace_with(database: Path, home: Path) -> Workspace:
    """A new workspace that begins with a copy of a database that nobody has open."""
    home.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(database, home / "workbench.db")
    return open_workspace(home)


@pytest.fixture
def workspace(tmp_path: Path, empty_database: Path) -> Workspace:
    return workspace_with(empty_database, tmp_path / "home")


@pytest.fixture
def project(workspace: Workspace, empty_database: Path, tiny_database: Path) -> Project:
    """A project with 5 training, 3 dev and 3 test pairs, scored 0 to 5."""
    untouched = workspace.database.read_bytes() == empty_database.read_bytes()
    if untouched and not list(workspace.home.glob("*-wal")):
        shutil.copyfile(tiny_database, workspace.database)
    else:
        import_tiny_project(workspace)
    return next(one for one in projects.list_projects(workspace) if one.name == "Tiny")


@pytest.fixture
def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
