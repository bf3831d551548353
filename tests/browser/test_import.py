"""The import doctor as a user clicks it: overrule what was found, look, import, and take the reject list away."""

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from augsbert_core.storage import runs
from augsbert_core.storage.database import Workspace, open_workspace, reading
from augsbert_core.storage.projects import count_project, create_project
from augsbert_core.storage.records import Project
from tests.browser.conftest import ROOT, Server

pytestmark = pytest.mark.browser

MINUTE = 60_000
STSB = ROOT.parent / "shared" / "data" / "stsb"
SPLITS = {"train": 5749, "dev": 1500, "test": 1379}


def settle(page: Page) -> None:
    """Wait until nothing runs on the page, and nothing went wrong on it."""
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0, timeout=MINUTE)
    expect(page.get_by_test_id("stException")).to_have_count(0)


def open_import(browser: Browser, server: Server, project: Project) -> Page:
    page = browser.new_page(viewport={"width": 1280, "height": 1000}, accept_downloads=True)
    page.set_default_timeout(MINUTE)
    page.goto(f"{server.url}/gold?project={project.id}")
    expect(page.get_by_test_id("stFileUploader")).to_be_visible(timeout=MINUTE)
    settle(page)
    return page


def upload(page: Page, *files: Path) -> None:
    page.get_by_test_id("stFileUploader").locator("input[type=file]").set_input_files(files)
    expect(page.get_by_text("How the file was read")).to_be_visible(timeout=MINUTE)
    settle(page)


def pick(page: Page, label: str, option: str | re.Pattern[str]) -> None:
    """Choose in the selectbox with this label."""
    box = page.get_by_test_id("stSelectbox").filter(
        has=page.get_by_test_id("stWidgetLabel").get_by_text(label, exact=True)
    )
    choice = page.get_by_role("option", name=option)
    for _ in range(4):
        box.locator("input").click()
        try:
            choice.click(timeout=MINUTE / 6)
            break
        except PlaywrightTimeout:
            # A list that opened while the page drew itself anew has closed again.
            settle(page)
    settle(page)


def table_with(page: Page, heading: str | re.Pattern[str]) -> Locator:
    """The table that has a column of this name."""
    column = page.locator("[role=columnheader]").filter(has_text=heading)
    return page.get_by_test_id("stDataFrame").filter(has=column).first


def metric(page: Page, label: str) -> Locator:
    found = page.get_by_test_id("stMetric").filter(has_text=label).first
    return found.get_by_test_id("stMetricValue")


def press(page: Page, name: str | re.Pattern[str]) -> None:
    page.get_by_role("button", name=name).first.click()


@pytest.mark.timeout(300)
def test_swapped_columns_are_put_right_in_the_page(
    browser: Browser, server: Server, tmp_path: Path
) -> None:
    workspace = open_workspace(server.home)
    project = create_project(workspace, "Swapped")
    file = tmp_path / "ratings.csv"
    good = "".join(f'{n % 6},{n % 3},"The dog, {n}.","A cat {n}."\n' for n in range(30))
    file.write_text(good + 'nine,1,"A.","B."\n3,1,"   ","C."\n4,1,"D."\n', encoding="utf-8")
    page = open_import(browser, server, project)
    upload(page, file)

    expect(page.get_by_text("The columns were not recognised")).to_be_visible(timeout=MINUTE)
    expect(table_with(page, re.compile("^Column 1$"))).to_be_attached(timeout=MINUTE)
    # The second column of numbers is taken for the score first, and the preview shows that it is wrong.
    pick(page, "Score", re.compile(r"^Column 2 "))
    pick(page, "Sentence 1", re.compile(r"^Column 3 "))
    pick(page, "Sentence 2", re.compile(r"^Column 4 "))
    stored = table_with(page, "0 to 1")
    expect(stored.locator("[role=gridcell]").filter(has_text="The dog, 5.")).to_be_attached(
        timeout=MINUTE
    )
    expect(table_with(page, "Score ← Column 2")).to_be_attached(timeout=MINUTE)
    cells = stored.locator("[role=gridcell]")
    expect(cells.filter(has_text=re.compile(r"^0[.]80*$"))).to_have_count(0, timeout=MINUTE)
    pick(page, "Score", re.compile(r"^Column 1 "))
    expect(table_with(page, "Score ← Column 1")).to_be_attached(timeout=MINUTE)
    expect(page.get_by_text("Scores look like 0 to 5")).to_be_visible(timeout=MINUTE)
    # The fifth row: score 4, which is 0.8 on the scale of all steps.
    expect(cells.filter(has_text=re.compile(r"^0[.]80*$")).first).to_be_attached(timeout=MINUTE)

    expect(metric(page, "Rows read")).to_have_text("33", timeout=MINUTE)
    expect(metric(page, "Kept")).to_have_text("30", timeout=MINUTE)
    expect(metric(page, "Rejected")).to_have_text("3", timeout=MINUTE)
    assert count_project(workspace, project.id).gold == 0, "nothing is written before"
    press(page, re.compile("Import 30 gold pairs"))
    expect(page.get_by_text("33 rows read, 30 kept, 3 rejected")).to_be_visible(timeout=MINUTE)
    settle(page)
    assert count_project(workspace, project.id).gold == 30

    with page.expect_download() as waiting:
        press(page, "Rejected rows as CSV")
    with open(waiting.value.path(), encoding="utf-8-sig", newline="") as downloaded:
        rows = list(csv.DictReader(downloaded))
    assert [(row["line"], row["reason"].partition(":")[0]) for row in rows] == [
        ("31", "Score is not a number"),
        ("32", "Sentence 1 is blank"),
        ("33", "Row does not have 4 columns"),
    ]
    assert rows[0]["text"] == "nine,1,A.,B."
    page.close()


@pytest.mark.timeout(300)
def test_the_sts_benchmark_comes_in_whole(browser: Browser, server: Server) -> None:
    files = [STSB / f"sts-{split}.tsv" for split in SPLITS]
    if not all(file.is_file() for file in files):
        pytest.skip(f"the STS Benchmark is not at {STSB}")
    workspace = open_workspace(server.home)
    project = create_project(workspace, "STS Benchmark")
    page = open_import(browser, server, project)
    upload(page, *files)

    expect(page.get_by_text("Recognised as STS Benchmark").first).to_be_visible(timeout=MINUTE)
    expect(page.get_by_text("5,749 train · 1,500 dev · 1,379 test")).to_be_visible(timeout=MINUTE)
    expect(table_with(page, "Group ← Column 1")).to_be_attached(timeout=MINUTE)
    press(page, re.compile("Import 8,628 gold pairs"))
    expect(page.get_by_text("8,628 rows read, 8,628 kept, 0 rejected")).to_be_visible(
        timeout=2 * MINUTE
    )
    settle(page)
    counts = count_project(workspace, project.id)
    assert {split: getattr(counts, split) for split in SPLITS} == SPLITS
    assert len(runs.list_runs(workspace, project.id, "import")) == 3
    assert genres(workspace, project) == {"main-captions", "main-forums", "main-news", "main-forum"}
    page.close()


def genres(workspace: Workspace, project: Project) -> set[str]:
    """The groups of the gold pairs."""
    with reading(workspace) as db:
        found = db.execute(
            "SELECT DISTINCT group_name FROM gold_pair WHERE project_id = ?", [project.id]
        )
        return {str(name) for (name,) in found}
