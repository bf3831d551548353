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


def line(page: Page, plot: int, number: int) -> str:
    """The path of a curve as the browser draws it."""
    lines = page.locator(".js-plotly-plot").nth(plot).locator(".scatterlayer .js-line")
    expect(lines.nth(number)).to_be_attached(timeout=MINUTE)
    return lines.nth(number).get_attribute("d") or ""


def metric(page: Page, label: str) -> Locator:
    return (
        page.get_by_test_id("stMetric").filter(has_text=label).first.get_by_test_id("stMetricValue")
    )


def rows_shown(page: Page) -> int:
    """How many pairs pass the filters of the review table."""
    text = page.get_by_text(re.compile(r"^(Rows .* of [\d,]+|[\d,]+ rows?)$")).last.inner_text()
    return int(re.findall(r"[\d,]+", text)[-1].replace(",", ""))


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

    narrow = line(page, 0, 1)
    nudge(page, "Bandwidth h", "ArrowRight", 8)
    expect(page.get_by_text(re.compile("bandwidth 0[.].* of the scale")).first).to_be_visible()
    assert line(page, 0, 1) != narrow, "a wider kernel draws another curve"

    drag_over_upper_half(page)
    expect(page.get_by_text(re.compile(r"^(Rows .* of|\d+ rows?)")).last).not_to_contain_text(
        "3,000"
    )
    settle(page)
    upper = rows_shown(page)
    assert upper == pytest.approx(int((low_scores() > 0.5).sum()), rel=0.1)

    page.get_by_role("radio", name=re.compile("Keep")).or_(
        page.get_by_role("button", name=re.compile("Keep .KDE"))
    ).first.click()
    settle(page)
    many = metric(page, "Pairs kept").inner_text()
    kept_line = line(page, 0, 3)
    nudge(page, "c", "ArrowLeft", 20)
    expect(metric(page, "Pairs kept")).not_to_have_text(many)
    fewer = metric(page, "Pairs kept").inner_text()
    assert int(fewer.replace(",", "")) < int(many.replace(",", ""))
    assert line(page, 0, 3) != kept_line
    expect(page.get_by_role("button", name=f"Keep these {fewer} pairs")).to_be_enabled()

    nudge(page, "Bandwidth h", "ArrowRight", 8)
    expect(metric(page, "Pairs kept")).not_to_have_text(fewer)
    assert jobs(workspace) == before, "moving sliders starts nothing"
    page.close()


def drag_over_upper_half(page: Page) -> None:
    """Drag over the plot from the middle of the scale to its end."""
    plot = page.locator(".js-plotly-plot").first
    plot.scroll_into_view_if_needed()
    box = plot.locator(".nsewdrag").first.bounding_box()
    assert box is not None
    height = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, height)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.8, height, steps=8)
    page.mouse.move(box["x"] + box["width"] - 2, height, steps=8)
    page.mouse.up()
    settle(page)
