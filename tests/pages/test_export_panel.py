"""The export panel: what can be taken out of the workbench from the pages."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from augsbert_core.models import hub
from augsbert_core.storage import runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project
from tests.pages.seeding import (
    button,
    finished_run,
    labeler,
    queued,
    shown_text,
    student,
)

PANEL = """
from augsbert_core import ui
from augsbert_core.storage.runs import get_run
from augsbert_core.ui.export_panel import export_panel
bench = ui.open_bench()
export_panel(bench, get_run(bench.workspace, {run_id}))
"""

OpenPanel = Callable[[int], AppTest]


@pytest.fixture
def open_panel(project: Project) -> OpenPanel:
    """The panel of a run, on a page of its own."""

    def open_panel(run_id: int) -> AppTest:
        page = AppTest.from_string(PANEL.format(run_id=run_id), default_timeout=60)
        page.query_params["project"] = str(project.id)
        page.run()
        assert not page.exception
        return page

    return open_panel


@pytest.fixture
def run_id(workspace: Workspace, project: Project) -> int:
    """A trained bi-encoder whose folder holds two small files."""
    made = student(workspace, project)
    folder = workspace.home / "models" / "none"
    (folder / "model.safetensors").write_bytes(b"x" * 2000)
    (folder / "config.json").write_text("{}")
    return made


def labels(page: AppTest) -> list[str]:
    """The labels of the download buttons."""
    return [found.proto.label for found in page.get("download_button")]


def test_a_model_a_recipe_and_a_script_can_be_downloaded(
    run_id: int, open_panel: OpenPanel
) -> None:
    assert labels(open_panel(run_id)) == [
        "Model (.zip)",
        "Recipe (.toml)",
        "Script (.py)",
        "Gold (.jsonl)",
    ]


def test_a_model_that_is_gone_is_told(
    workspace: Workspace, project: Project, open_panel: OpenPanel
) -> None:
    made = student(workspace, project)
    (workspace.home / "models" / "none").rmdir()
    page = open_panel(made)
    assert "is gone" in shown_text(page)
    assert not labels(page)


def test_made_negatives_switch_the_script_off(
    workspace: Workspace, project: Project, open_panel: OpenPanel
) -> None:
    made = labeler(workspace, project)
    runs.update_run(workspace, made, metrics={"negatives": "random"})
    script = open_panel(made).get("download_button")[2]
    assert script.proto.disabled
    assert "random negatives" in script.proto.help


def test_reproduce_queues_a_job_and_shows_what_came_out(
    workspace: Workspace, project: Project, run_id: int, open_panel: OpenPanel
) -> None:
    page = open_panel(run_id)
    button(page, "Reproduce").click().run()
    [(step, told)] = queued(workspace, project)
    assert (step, json.loads(told)["run_id"]) == ("reproduce", run_id)

    from augsbert_core.options import ReproduceOptions

    finished_run(
        workspace, project, "reproduce", ReproduceOptions(run_id),
        reproduced_run_id=run_id, sentence="All 5 weights are identical.",
    )  # fmt: skip
    assert "All 5 weights are identical" in shown_text(open_panel(run_id))


def test_a_push_needs_a_yes_and_forgets_the_token(
    workspace: Workspace, run_id: int, open_panel: OpenPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    pushed: list[tuple[list[str], str, str, bool]] = []

    def push(
        files: list[Any], repo: str, token: str, *, private: bool, endpoint: str | None
    ) -> str:
        pushed.append(([name for name, _ in files], repo, token, private))
        return f"https://hub/{repo}"

    monkeypatch.setattr(hub, "push", push)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    page = open_panel(run_id)
    page.session_state[f"push-{run_id}"] = True
    page.run()
    assert list(page.dataframe[0].value["File"]) == [
        "README.md",
        "config.json",
        "model.safetensors",
    ]

    def fill(sure: bool) -> None:
        page.text_input(key=f"push-repo-{run_id}").input("owner/model")
        page.text_input(key=f"push-token-{run_id}").input("hf_secret")
        if sure:
            page.checkbox(key=f"push-sure-{run_id}").check()
        button(page, "Push").click().run()

    fill(sure=False)
    assert "Nothing was sent" in shown_text(page)
    assert not pushed
    fill(sure=True)
    assert not page.exception
    assert pushed == [
        (["README.md", "config.json", "model.safetensors"], "owner/model", "hf_secret", True)
    ]
    assert "hub" in shown_text(page)
    stored = b"".join(path.read_bytes() for path in workspace.home.glob("workbench.db*"))
    assert b"hf_secret" not in stored


def test_the_card_is_shown_when_asked_for(run_id: int, open_panel: OpenPanel) -> None:
    page = open_panel(run_id)
    assert not page.code
    page.session_state[f"export-card-{run_id}"] = True
    page.run()
    assert "pipeline_tag: sentence-similarity" in page.code[0].value


def test_a_made_file_leaves_nothing_behind() -> None:
    from augsbert_core.ui.downloads import made_file

    places: list[Path] = []

    def write(path: Path) -> None:
        places.append(path)
        path.write_bytes(b"x")

    assert made_file(write, "a.zip") == b"x"
    assert not places[0].parent.exists()
