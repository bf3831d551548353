"""The main job of the workbench, from the sample project to the compare table, as a user clicks it."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from augsbert_core.storage import projects, queue, silver_bins, silver_sets
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Job
from tests.browser.conftest import Server

pytestmark = pytest.mark.browser

MINUTE = 60_000


def open_page(page: Page, name: str) -> None:
    """Follow a link of the sidebar, as a user would, and wait until the page stands."""
    settle(page)  # a page that draws itself anew at this moment may swallow the click
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=name, exact=True).click()
    expect(page.get_by_role("heading", name=name, exact=True).first).to_be_visible(timeout=MINUTE)
    settle(page)


def settle(page: Page) -> None:
    """Wait until nothing runs on the page."""
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0, timeout=MINUTE)
    expect(page.get_by_test_id("stException")).to_have_count(0)


def fill_number(page: Page, label: str, value: int) -> None:
    box = page.get_by_label(label, exact=True).first
    box.fill(str(value))
    box.press("Enter")
    settle(page)


def wait_for_job(workspace: Workspace, page: Page, step: str, seconds: int = 240) -> None:
    """Wait until the newest job of a step is done; a failed one shows its sentence."""
    for _ in range(seconds * 2):
        job = next((job for job in queue.list_jobs(workspace) if job.step == step), None)
        if job is not None and job.state not in queue.ACTIVE:
            assert job.state == "done", (job.error, job.details)
            return
        page.wait_for_timeout(500)
    raise AssertionError(f"{step} did not end in {seconds} s: {job}")


@pytest.mark.timeout(600)
def test_the_whole_loop_on_the_sample_project(browser: Browser, server: Server) -> None:
    workspace = Workspace(server.home)
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(MINUTE)
    page.goto(server.url)

    page.get_by_role("button", name="Open the sample project").click()
    expect(page.get_by_text("483 train · 160 dev · 321 test")).to_be_visible(timeout=MINUTE)
    (project,) = projects.list_projects(workspace)

    open_page(page, "Cross-encoder")
    fill_number(page, "Epochs", 1)
    fill_number(page, "Warm start pairs", 100)
    page.get_by_role("button", name="Train the cross-encoder").click()
    wait_for_job(workspace, page, "train-cross-encoder")

    open_page(page, "Sample")
    fill_number(page, "Top-k", 1)
    page.get_by_role("button", name="Sample pairs").click()
    wait_for_job(workspace, page, "sample")
    label = page.get_by_role("button", name="Label the candidates")
    expect(label).to_be_enabled(timeout=MINUTE)
    label.click()
    wait_for_job(workspace, page, "label")

    open_page(page, "Silver")
    expect(page.locator(".js-plotly-plot").first).to_be_visible(timeout=MINUTE)
    expect(page.locator(".js-plotly-plot").first).to_contain_text("Gold")
    expect(page.locator(".js-plotly-plot").first).to_contain_text(re.compile("silver", re.I))
    correct_first_pair(page)
    (silver_set,) = silver_sets.list_silver_sets(workspace, project.id)
    assert silver_bins.silver_status_counts(workspace, silver_set.id)["corrected"] == 1

    open_page(page, "Train")
    fill_number(page, "Epochs", 1)
    page.get_by_role("button", name=re.compile("^Train( both)?$")).click()
    refresh_while_training(workspace, page)
    wait_for_job(workspace, page, "train-bi-encoder", seconds=300)

    open_page(page, "Compare")
    page.get_by_role("button", name=re.compile("missing model")).click()
    wait_for_job(workspace, page, "evaluate")
    expect(page.get_by_text("Jaccard word overlap").first).to_be_attached(timeout=MINUTE)
    body = page.get_by_test_id("stMain")
    expect(body).to_contain_text(
        re.compile(r"silver set 1\b.*(helped|hurt|made no clear difference)")
    )
    expect(body).to_contain_text("test")
    settle(page)

    server.kill()
    server.start()
    page.goto(f"{server.url}/silver?project={project.id}")
    expect(page.get_by_role("heading", name="Silver", exact=True).first).to_be_visible()
    settle(page)
    assert silver_bins.silver_status_counts(workspace, silver_set.id)["corrected"] == 1
    expect(page.get_by_test_id("stMain")).to_contain_text(re.compile("corrected", re.I))
    page.close()


def correct_first_pair(page: Page) -> None:
    """Type a score into the table's first row. The table is a canvas: cells have places, not elements."""
    table = page.get_by_test_id("stDataFrame").last
    settle(page)
    # Its first row into the middle of the window, clear of the bar at the top.
    table.evaluate("element => element.scrollIntoView({block: 'start'})")
    page.get_by_test_id("stMain").evaluate("element => element.scrollBy(0, -200)")
    settle(page)
    box = table.bounding_box()
    assert box is not None
    # Columns stretch with the table: by keyboard from the first sentence to the score, wherever it lies. The column
    # before it opens a pair.
    headings = table.locator("[role=columnheader]")
    expect(headings.filter(has_text="Score")).to_have_count(1, timeout=MINUTE)
    steps = headings.all_text_contents().index("Score") - 1
    editor = page.locator("#portal textarea, #portal input").first
    for _ in range(6):
        page.mouse.click(box["x"] + 100, box["y"] + 35 + 17)
        # Keys that come before the table has the focus are lost.
        page.wait_for_timeout(500)
        for _ in range(steps):
            page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        expect(editor).to_be_visible(timeout=MINUTE)
        if editor.is_enabled():
            break
        # A key that came while the table drew itself anew is lost: another cell was opened.
        page.keyboard.press("Escape")
        settle(page)
    editor.fill("1,25")
    editor.press("Enter")
    expect(page.get_by_text(re.compile(r"Saved: corrected from .* to 1\.25"))).to_be_visible()


def refresh_while_training(workspace: Workspace, page: Page) -> None:
    """Reload in mid-training: the progress is still on the page and the same worker goes on."""
    running: list[Job] = []
    for _ in range(480):
        running = [job for job in queue.list_jobs(workspace) if job.state == "running"]
        if running and running[0].progress > 0.02:
            break
        page.wait_for_timeout(250)
    (before,) = running
    page.reload()
    expect(page.get_by_test_id("stProgress").first).to_be_visible(timeout=MINUTE)
    after = queue.get_job(workspace, before.id)
    assert (after.pid, after.attempt) == (before.pid, before.attempt)
    assert after.progress >= before.progress
    assert after.state in ("running", "done")
