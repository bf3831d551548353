"""What pages say without room on the disk, without their database, and in errors that no page has caught."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from augsbert_core import jobs
from augsbert_core.storage.database import Workspace, WorkspaceFull
from augsbert_core.ui.widgets import PAGES, as_text
from tests import full_disk
from tests.full_disk import SENTENCE
from tests.pages.conftest import ROOT, Loop, words_on

OpenPage = Callable[..., AppTest]


def errors_on(app: AppTest) -> list[str]:
    assert not app.exception
    return [error.value for error in app.error]


@pytest.mark.parametrize("page", PAGES)
def test_without_room_even_for_reading_every_page_says_so_once(
    open_page: OpenPage, loop: Loop, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    full_disk.no_room_at_all(monkeypatch)
    assert errors_on(open_page(page, project=loop.project.id)) == [as_text(SENTENCE)]


@pytest.mark.parametrize("page", PAGES)
def test_a_database_that_is_gone_is_a_sentence_on_every_page(
    open_page: OpenPage, workspace: Workspace, page: str
) -> None:
    assert not open_page(page).exception  # opened once: the workspace is remembered
    for path in workspace.home.glob("workbench.db*"):
        path.rename(workspace.home / f"moved-{path.name}")
    (told,) = errors_on(open_page(page))
    assert as_text("is gone. Put it back") in told
    assert not workspace.database.exists()


def test_a_page_can_be_read_while_there_is_no_room_to_start_a_job(
    open_page: OpenPage, loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tend(_workspace: Workspace) -> None:
        raise WorkspaceFull

    monkeypatch.setattr(jobs, "tend", tend)
    app = open_page("start", project=loop.project.id)
    assert errors_on(app) == [as_text(SENTENCE)]
    assert "1 silver set, 6 pairs" in words_on(app)


def test_an_action_without_room_says_so_and_works_again_with_room(
    open_page: OpenPage, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page("start")
    with monkeypatch.context() as patch:
        full_disk.no_room_to_write(patch)
        app.button[0].click().run()
        assert as_text(SENTENCE) in errors_on(app)
    app = open_page("start")
    app.button[0].click().run()
    assert errors_on(app) == []


def uncaught() -> None:
    import errno

    import streamlit as st

    from augsbert_core.errors import WorkbenchError
    from augsbert_core.ui import last_resort

    last_resort.install()
    last_resort.install()

    def fail(kind: str) -> None:
        raise {
            "disk": OSError(errno.ENOSPC, "No space left on device"),
            "user": WorkbenchError("Type *a* name."),
            "bug": ValueError("unexpected"),
        }[kind]

    for kind in ("disk", "user", "bug"):
        st.button(f"call {kind}", on_click=fail, args=(kind,))
        if st.button(f"page {kind}"):
            fail(kind)

    @st.fragment
    def part() -> None:
        for kind in ("disk", "user", "bug"):
            if st.button(f"part {kind}"):
                fail(kind)

    part()


@pytest.mark.parametrize("place", ["call", "page", "part"])
def test_what_nobody_has_caught_is_told_wherever_it_happens(place: str) -> None:
    def pressed(kind: str) -> AppTest:
        app = AppTest.from_function(uncaught).run()
        label = f"{place} {kind}"
        return next(button for button in app.button if button.label == label).click().run()

    assert errors_on(pressed("disk")) == [as_text(SENTENCE)]
    assert errors_on(pressed("user")) == [as_text("Type *a* name.")]
    bug = pressed("bug")
    assert len(bug.exception) == 1, "a bug stays a bug"
    assert not bug.error


def test_the_menu_is_there_without_room(monkeypatch: pytest.MonkeyPatch) -> None:
    full_disk.no_room_at_all(monkeypatch)
    monkeypatch.setenv("AUGSBERT_CLASSROOM", "1")
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    assert as_text(SENTENCE) in errors_on(app)
