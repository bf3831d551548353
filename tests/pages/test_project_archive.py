"""A project leaves Start as one file, and comes in from one."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from augsbert_core.options import ImportOptions
from augsbert_core.steps.import_data import import_file
from augsbert_core.steps.project_archive import export_project, import_project, look_into
from augsbert_core.storage import projects
from augsbert_core.storage.database import Workspace, open_workspace
from augsbert_core.storage.records import Project
from augsbert_core.ui import project_archive
from augsbert_core.ui.widgets import PAGES
from tests.conftest import GOLD_CSV
from tests.pages import seeding

OpenPage = Callable[..., AppTest]


@pytest.fixture
def travelled(workspace: Workspace, tmp_path: Path) -> Path:
    """The archive of a project of another workspace, with labels and two students."""
    origin = open_workspace(tmp_path / "origin")
    made = projects.create_project(origin, "Far *away*")
    import_file(origin, made.id, GOLD_CSV.encode(), "g.csv", ImportOptions(score_range=(0.0, 5.0)))
    silver = seeding.silver_set(origin, made)
    for run_id in (
        seeding.student(origin, made),
        seeding.student(origin, made, silver_set_id=silver),
    ):
        seeding.measure(origin, made, f"run:{run_id}", 0.6)
    path = tmp_path / "far.zip"
    export_project(origin, made.id, path)
    return path


def import_page(home: str) -> None:
    """Nothing but the dialog: AppTest runs whole pages, on which a dialog closes at the next click."""
    from pathlib import Path

    from augsbert_core.storage.database import Workspace
    from augsbert_core.ui.project_archive import import_dialog

    import_dialog(Workspace(Path(home)))


def chosen(workspace: Workspace, name: str, data: bytes) -> AppTest:
    """The dialog after a file was chosen in it."""
    app = AppTest.from_function(import_page, kwargs={"home": str(workspace.home)}).run()
    return app.file_uploader[0].upload(name, data, "application/zip").run()


def test_start_offers_the_import(open_page: OpenPage) -> None:
    app = open_page("start")
    app.button(key="import-project").click().run()
    assert not app.exception
    assert "200 MB" in app.file_uploader[0].label


def test_what_is_in_an_archive_is_shown_before_it_comes_in(
    workspace: Workspace, travelled: Path
) -> None:
    app = chosen(workspace, "far.zip", travelled.read_bytes())
    assert not app.exception
    shown = " ".join(block.value for block in app.markdown).replace("\\", "")
    assert "Far *away*" in shown
    assert "11 gold pairs" in shown
    assert "6 silver pairs" in shown
    assert projects.list_projects(workspace) == []
    app.button(key="import-project-go").click().run()
    assert not app.exception
    (done,) = projects.list_projects(workspace)
    assert done.name == "Far *away*"
    assert app.session_state["project_id"] == done.id


def test_a_name_can_be_chosen_and_a_taken_one_is_one_sentence(
    workspace: Workspace, project: Project, travelled: Path
) -> None:
    app = chosen(workspace, "far.zip", travelled.read_bytes())
    app.text_input[0].set_value(project.name)
    app.button(key="import-project-go").click().run()
    assert "already" in app.error[0].value
    assert len(projects.list_projects(workspace)) == 1
    app.text_input[0].set_value("Mine")
    app.button(key="import-project-go").click().run()
    assert {one.name for one in projects.list_projects(workspace)} == {project.name, "Mine"}


def test_a_file_that_is_no_archive_is_one_sentence(workspace: Workspace) -> None:
    app = chosen(workspace, "x.zip", b"PK, but not really")
    assert not app.exception
    assert len(app.error) == 1
    assert not [button for button in app.button if button.key == "import-project-go"]


@pytest.mark.parametrize("page", PAGES)
def test_every_page_shows_a_project_whose_models_stayed_behind(
    open_page: OpenPage, workspace: Workspace, travelled: Path, page: str
) -> None:
    done = import_project(workspace, travelled)
    app = open_page(page, project=done.project_id)
    assert not app.exception


def export_page(home: str, project_id: int) -> None:
    """Nothing but the dialog, as the menu of a project opens it."""
    from pathlib import Path

    from augsbert_core.storage.database import Workspace
    from augsbert_core.storage.projects import get_project
    from augsbert_core.ui.project_archive import export_dialog

    workspace = Workspace(Path(home))
    export_dialog(workspace, get_project(workspace, project_id))


def test_the_export_says_what_stays_and_when_to_use_the_command(
    workspace: Workspace, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = {"home": str(workspace.home), "project_id": project.id}
    app = AppTest.from_function(export_page, kwargs=words).run()
    assert not app.exception
    assert "models, logs and uploads stay here" in app.markdown[0].value
    assert not app.info
    monkeypatch.setattr(project_archive, "project_bytes", lambda *_: 2_000_000_000)
    assert "augsbert export project" in app.run().info[0].value


def test_the_download_is_the_archive(
    workspace: Workspace, project: Project, tmp_path: Path
) -> None:
    data = project_archive._archive_bytes(workspace, project.id, "tiny.zip")
    path = tmp_path / "tiny.zip"
    path.write_bytes(data)
    assert look_into(path).project == "Tiny"
    assert b"does not exist" in project_archive._archive_bytes(workspace, 999, "x.zip")
