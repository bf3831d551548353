"""The density lab as a user drives it: sliders and a drag change what is shown, and nothing starts."""

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from augsbert_core.storage import queue
from augsbert_core.storage.database import Workspace, open_workspace
from tests.browser.conftest import Server
from tests.browser.test_journey import MINUTE, settle
from tests.pages.lab_seeding import lab_project, low_scores, scored_set

pytestmark = pytest.mark.browser


def jobs(workspace: Workspace) -> list[int]:
    """All jobs there ever were."""
    return [job.id for job in queue.list_jobs(workspace)]


def slider(page: Page, name: str) -> Locator:
    return page.get_by_test_id("stSlider").filter(has_text=re.compile(rf"^{name}")).first


def nudge(page: Page, name: str, key: str, times: int) -> None:
    """Move a slider with the keyboard."""
    handle = slider(page, name).get_by_role("slider").first
    handle.focus()
    for _ in range(times):
        page.keyboard.press(key)
    settle(page)


def line(page: Page, number: int) -> Locator:
    """A curve of the first figure as the browser draws it."""
    lines = page.locator(".js-plotly-plot").first.locator(".scatterlayer .js-line")
    expect(lines.nth(number)).to_be_attached(timeout=MINUTE)
    return lines.nth(number)


def path_of(curve: Locator) -> str:
    return curve.get_attribute("d") or ""


def metric(page: Page, label: str) -> Locator:
    return (
        page.get_by_test_id("stMetric").filter(has_text=label).first.get_by_test_id("stMetricValue")
    )


def steady_text(page: Page, place: Locator) -> str:
    """The text of a place once it no longer changes: a slider that was moved by many steps answers some of them."""
    for _ in range(30):
        settle(page)
        text = place.inner_text()
        page.wait_for_timeout(1000)
        settle(page)
        if place.inner_text() == text:
            return text
    raise AssertionError(f"{place} changes for ever")


def rows_shown(page: Page) -> Locator:
    """How many pairs pass the filters of the review table, in words."""
    return page.get_by_text(re.compile(r"^(Rows .* of [\d,]+|[\d,]+ rows?)$")).last


@pytest.mark.timeout(300)
def test_sliders_and_a_drag_answer_without_a_job(browser: Browser, server: Server) -> None:
    workspace = open_workspace(server.home)
    project = lab_project(workspace)
    scored_set(workspace, project, low_scores())
    before = jobs(workspace)
    page = browser.new_page(viewport={"width": 1280, "height": 1100})
    page.set_default_timeout(MINUTE)
    page.goto(f"{server.url}/silver?project={project.id}")
    expect(page.locator(".js-plotly-plot").first).to_contain_text("Gold", timeout=MINUTE)
    settle(page)

    narrow = path_of(line(page, 1))
    nudge(page, "Bandwidth h", "ArrowRight", 8)
    expect(page.get_by_text(re.compile("bandwidth 0[.].* of the scale")).first).to_be_visible()
    # A wider kernel draws another curve.
    expect(line(page, 1)).not_to_have_attribute("d", narrow, timeout=MINUTE)

    drag_over_upper_half(page)
    expect(rows_shown(page)).not_to_contain_text("3,000", timeout=MINUTE)
    settle(page)
    upper = int(re.findall(r"[\d,]+", rows_shown(page).inner_text())[-1].replace(",", ""))
    assert upper == pytest.approx(int((low_scores() > 0.5).sum()), rel=0.1)

    page.get_by_role("radio", name=re.compile("Keep")).or_(
        page.get_by_role("button", name=re.compile("Keep .KDE"))
    ).first.click()
    settle(page)
    many = metric(page, "Pairs kept").inner_text()
    kept_line = path_of(line(page, 3))
    nudge(page, "c", "ArrowLeft", 20)
    expect(metric(page, "Pairs kept")).not_to_have_text(many, timeout=MINUTE)
    fewer = steady_text(page, metric(page, "Pairs kept"))
    assert int(fewer.replace(",", "")) < int(many.replace(",", ""))
    expect(line(page, 3)).not_to_have_attribute("d", kept_line, timeout=MINUTE)
    expect(page.get_by_role("button", name=f"Keep these {fewer} pairs")).to_be_enabled()

    nudge(page, "Bandwidth h", "ArrowRight", 8)
    expect(metric(page, "Pairs kept")).not_to_have_text(fewer, timeout=MINUTE)
    assert jobs(workspace) == before, "moving sliders starts nothing"
    page.close()


def drag_over_upper_half(page: Page) -> None:
    """Drag over the plot from the middle of the scale to its end."""
    settle(page)
    plot = page.locator(".js-plotly-plot").first
    # Not scroll_into_view_if_needed: it gives up when the figure is drawn anew meanwhile.
    plot.evaluate("element => element.scrollIntoView({block: 'center'})")
    settle(page)
    box = plot.locator(".nsewdrag").first.bounding_box()
    assert box is not None
    height = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, height)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.8, height, steps=8)
    page.mouse.move(box["x"] + box["width"] - 2, height, steps=8)
    page.mouse.up()
    settle(page)
