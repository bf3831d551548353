"""Start: an empty workspace, projects, and the checklist."""

import json
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from augsbert_core.storage.database import Workspace
from augsbert_core.storage.projects import create_project, list_projects
from augsbert_core.storage.records import Project
from augsbert_core.ui.checklist import NOTHING, checklist
from augsbert_core.ui.widgets import PAGES
from tests.pages.conftest import ROOT, Loop, words_on

OpenPage = Callable[..., AppTest]


def states(counts: object, busy: tuple[str, ...] = ()) -> dict[str, str]:
    return {item.title: item.state for item in checklist(counts, busy)}


def test_an_empty_workspace_offers_the_sample_and_explains_the_loop(open_page: OpenPage) -> None:
    app = open_page("start")
    assert not app.exception
    labels = [button.label for button in app.button]
    assert labels == ["Open the sample project", "New project", "Import a project"]
    assert "7. Compare" in words_on(app)


def test_one_click_opens_the_sample_project(open_page: OpenPage, workspace: Workspace) -> None:
    app = open_page("start")
    app.button[0].click().run()
    assert not app.exception
    (sample,) = list_projects(workspace)
    assert sample.is_sample
    assert app.query_params["project"] == str(sample.id)
    assert "The loop in Sample" in words_on(app)
    app.button[0].click().run()
    assert len(list_projects(workspace)) == 1, "a second click opens the one there is"


def test_the_project_of_the_link_is_open(
    open_page: OpenPage, workspace: Workspace, project: Project
) -> None:
    other = create_project(workspace, "Newer")
    assert open_page("start").session_state["project_id"] == other.id
    app = open_page("start", project=project.id)
    assert app.session_state["project_id"] == project.id
    assert app.sidebar.selectbox[0].value == project.id


def test_a_link_to_a_project_that_is_gone_falls_back(open_page: OpenPage, project: Project) -> None:
    app = open_page("start", project=999)
    assert not app.exception
    assert app.session_state["project_id"] == project.id
    assert open_page("start", project="1; DROP TABLE").session_state["project_id"] == project.id


def test_projects_can_be_opened_from_their_row(
    open_page: OpenPage, workspace: Workspace, project: Project
) -> None:
    create_project(workspace, "Newer")
    app = open_page("start")
    app.button(key=f"open-{project.id}").click().run()
    assert app.session_state["project_id"] == project.id


def test_names_are_shown_as_text(open_page: OpenPage, workspace: Workspace) -> None:
    create_project(workspace, "<b>bold</b> *x* [a](http://b)")
    shown = words_on(open_page("start"))
    assert "<b>" not in shown
    assert "*x*" not in shown
    assert "](http" not in shown


def test_the_checklist_marks_what_comes_next() -> None:
    assert states(NOTHING)["Gold pairs"] == "next"
    gold = replace(NOTHING, train=5, dev=3, test=3)
    assert states(gold)["Gold pairs"] == "done"
    assert states(gold)["Cross-encoder"] == "next"
    assert states(gold)["Silver labels"] == "later"
    assert list(states(gold).values()).count("next") == 1


def test_gold_without_a_test_split_is_not_done() -> None:
    (gold, *_) = checklist(replace(NOTHING, train=5, dev=3))
    assert gold.state == "next"
    assert "no test pairs yet" in gold.counts


def test_a_step_at_work_takes_the_place_of_the_next_one() -> None:
    gold = replace(NOTHING, train=5, dev=3, test=3)
    found = states(gold, ("train-cross-encoder",))
    assert found["Cross-encoder"] == "busy"
    assert "next" not in found.values()


def test_inspecting_is_optional() -> None:
    labelled = replace(
        NOTHING, train=5, dev=3, test=3, cross_encoders=1, candidate_sets=1, silver_sets=1,
        silver_pairs=6,
    )  # fmt: skip
    assert states(labelled)["Inspect"] == "optional"
    assert states(labelled)["Bi-encoder"] == "next"


def test_a_seeded_loop_leaves_only_the_comparison(open_page: OpenPage, loop: Loop) -> None:
    app = open_page("start")
    assert not app.exception
    shown = words_on(app)
    assert "1 silver set, 6 pairs" in shown
    assert "**7. Compare** :primary-badge[next]" in shown


def test_a_workspace_that_cannot_be_used_is_a_sentence(
    open_page: OpenPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("AUGSBERT_HOME", str(tmp_path / "file"))
    app = open_page("start")
    assert not app.exception
    assert "cannot be used" in app.error[0].value


def test_the_app_opens_on_start_and_finds_every_page() -> None:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    assert not app.exception
    assert app.title[0].value == "AugSBERT Workbench"
    assert {path.stem for path in (ROOT / "pages").glob("*.py")} == set(PAGES)


def test_the_server_keeps_to_itself() -> None:
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config["server"]["address"] == "localhost"
    assert config["server"]["enableXsrfProtection"] is True
    assert config["browser"]["gatherUsageStats"] is False
    assert config["client"]["showErrorDetails"] == "none"
    assert "http" not in json.dumps(config["theme"]), "fonts come with Streamlit, not from the net"
