"""Fixtures that most tests share."""

import os
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


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return open_workspace(tmp_path / "home")


@pytest.fixture
def project(workspace: Workspace) -> Project:
    """A project with 5 training, 3 dev and 3 test pairs, scored 0 to 5."""
    made = projects.create_project(workspace, "Tiny")
    options = ImportOptions(score_range=(0.0, 5.0))
    import_file(workspace, made.id, GOLD_CSV.encode(), "gold.csv", options)
    return projects.get_project(workspace, made.id)


@pytest.fixture
def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
