"""A project leaves Start as one file, and comes in from one."""

import contextlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import ImportOptions
from augsbert_core.steps.import_data import import_file
from augsbert_core.steps.project_archive import export_project, import_project, look_into
from augsbert_core.storage import projects
from augsbert_core.storage.database import Workspace, open_workspace
from augsbert_core.storage.records import Project
from augsbert_core.ui import project_archive
from augsbert_core.ui.downloads import made_or_told
from augsbert_core.ui.widgets import PAGES
from tests import test_project_archive
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


# --- archives that someone has changed --------------------------------------------------------------

CHANGED_PAGES = ("gold", "compare", "train", "cross_encoder", "silver", "experiments")

INSTEAD: tuple[Any, ...] = (
    None, [], {}, "x", "", 0, 1, -1, True, 0.5, 1e300, 10**400, 1e15, 1e-320, 2**53, [1], {"a": 1}, ["x"], "run:99",
)  # fmt: skip


@pytest.fixture(scope="module")
def rich_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of a project with something of everything."""
    folder = tmp_path_factory.mktemp("rich")
    origin = open_workspace(folder / "origin")
    project = test_project_archive.rich_project(origin).project
    export_project(origin, project.id, folder / "rich.zip")
    return folder / "rich.zip"


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of everything in a JSON value, lists and objects included."""
    if path:
        yield path
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, item in items:
        yield from leaves(item, (*path, key))


def replaced(value: Any, path: Sequence[Any], new: Any) -> Any:
    """The value with something else in one place."""
    changed = json.loads(json.dumps(value))
    at = changed
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = new
    return changed


@settings(
    max_examples=40, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(data=st.data())
def test_a_changed_archive_is_refused_or_does_no_harm(
    open_page: OpenPage,
    workspace: Workspace,
    rich_archive: Path,
    tmp_path_factory: pytest.TempPathFactory,
    data: st.DataObject,
) -> None:
    """Whatever stands in one place of a run's options or results: one sentence, or pages that show it."""
    folder = tmp_path_factory.mktemp("changed")
    database = folder / "project.db"
    database.write_bytes(test_project_archive.members_of(rich_archive)["project.db"])
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        column = data.draw(st.sampled_from(["metrics", "options"]))
        rows = connection.execute(
            f"SELECT id, {column} FROM run WHERE {column} <> '{{}}'"
        ).fetchall()
        run_id, text = data.draw(st.sampled_from(rows))
        path = data.draw(st.sampled_from(list(leaves(json.loads(text)))))
        changed = replaced(json.loads(text), path, data.draw(st.sampled_from(INSTEAD)))
        values = [json.dumps(changed), run_id]
        connection.execute(f"UPDATE run SET {column} = ? WHERE id = ?", values)
    archive = test_project_archive.rewritten(rich_archive, folder, database=database.read_bytes())
    known = projects.list_projects(workspace)
    with contextlib.suppress(WorkbenchError):
        import_project(workspace, archive)
    new = [one for one in projects.list_projects(workspace) if one not in known]
    for page in CHANGED_PAGES if new else ():
        app = open_page(page, project=new[0].id)
        assert not app.exception, f"{column} {path}: {changed}"


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
    told: list[str] = []
    data = made_or_told(partial(export_project, workspace, project.id), "tiny.zip", told)
    path = tmp_path / "tiny.zip"
    path.write_bytes(data)
    assert look_into(path).project == "Tiny"
    with pytest.raises(WorkbenchError):
        made_or_told(partial(export_project, workspace, 999), "x.zip", told)
    assert "does not exist" in told[0]
