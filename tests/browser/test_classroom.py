"""Two students and a teacher in real browsers, on one server."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from augsbert_core.fence import FENCE
from augsbert_core.storage import classroom, projects
from augsbert_core.storage.class_database import Classroom
from tests.browser.conftest import Server
from tests.browser.test_journey import MINUTE, open_page, settle

pytestmark = pytest.mark.browser


@pytest.fixture
def class_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("AUGSBERT_CLASSROOM", "1")
    monkeypatch.setenv(FENCE, str(tmp_path / "home" / "class"))
    made = Server(tmp_path / "home")
    made.start()
    yield made
    made.kill()


def visitor(browser: Browser, url: str) -> Page:
    """A browser of somebody's own, at the door."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.set_default_timeout(MINUTE)
    page.goto(url)
    expect(page.get_by_role("heading", name="Come in")).to_be_visible(timeout=MINUTE)
    settle(page)
    return page


def come_in(page: Page, name: str) -> str:
    """Type a name at the door; returns the code."""
    page.get_by_label("Your name", exact=True).fill(name)
    page.get_by_role("button", name="Come in").click()
    expect(page.get_by_role("heading", name="Your code")).to_be_visible()
    code = page.get_by_test_id("stCode").inner_text().strip()
    page.get_by_role("button", name="I have written it down").click()
    expect(page.get_by_text("No project yet", exact=True)).to_be_visible()
    settle(page)
    return code


@pytest.mark.timeout(400)
def test_two_students_work_apart_and_the_teacher_sees_both(
    browser: Browser, class_server: Server
) -> None:
    room = Classroom(class_server.home)
    ada = visitor(browser, class_server.url)
    code = come_in(ada, "Ada")
    ada.get_by_role("button", name="Open the sample project").click()
    expect(ada.get_by_text("483 train · 160 dev · 321 test")).to_be_visible(timeout=MINUTE)

    bob = visitor(browser, f"{class_server.url}/gold?project=1")
    come_in(bob, "Bob")
    open_page(bob, "Jobs")
    assert "seat=" in bob.url, "the seat stays in the address from page to page"
    expect(bob.get_by_text("No project yet", exact=True)).to_be_visible()

    class_server.kill()
    class_server.start()
    ada.reload()
    expect(ada.get_by_text("483 train · 160 dev · 321 test")).to_be_visible(timeout=MINUTE)

    elsewhere = visitor(browser, class_server.url)
    elsewhere.get_by_label("Your name", exact=True).fill("ada")
    elsewhere.get_by_role("button", name="Come in").click()
    elsewhere.get_by_label("Your code", exact=True).fill(code)
    elsewhere.get_by_role("button", name="Go on with my work").click()
    expect(elsewhere.get_by_text("483 train · 160 dev · 321 test")).to_be_visible(timeout=MINUTE)

    teacher = visitor(browser, f"{class_server.url}/classroom")
    teacher.get_by_label("Teacher code", exact=True).fill(classroom.begin_teaching(room, None))
    teacher.get_by_role("button", name="Open the overview").click()
    expect(teacher.get_by_text("2 of 2").first).to_be_visible(timeout=MINUTE)
    expect(
        teacher.get_by_test_id("stSidebarNav").get_by_role("link", name="Classroom")
    ).to_be_visible()
    expect(ada.get_by_test_id("stSidebarNav").get_by_role("link", name="Classroom")).to_have_count(
        0
    )

    seats = [seat for seat in classroom.list_seats(room) if not seat.is_teacher]
    held = [projects.list_projects(seat.workspace(room)) for seat in seats]
    assert [len(found) for found in held] == [1, 0]

    teacher.get_by_role("button", name="Reset for the next group").click()
    teacher.get_by_text("This group is done").click()
    teacher.get_by_role("button", name="Begin the next class").click()
    expect(teacher.get_by_text("Nobody is here yet")).to_be_visible(timeout=MINUTE)
    ada.reload()
    expect(ada.get_by_role("heading", name="Come in")).to_be_visible(timeout=MINUTE)
    assert len(list(room.home.glob("class-1-*/*/workbench.db"))) == 3
