"""Silver pairs reviewed as a person does it: a drag on the plot, many at once, keys alone, and a restart."""

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from augsbert_core.storage import edits, silver_pages
from augsbert_core.storage.database import Workspace, open_workspace
from augsbert_core.storage.records import Project
from augsbert_core.storage.silver_bins import silver_status_counts
from augsbert_core.storage.silver_filters import SilverFilter
from tests.browser.conftest import Server
from tests.browser.test_density_lab import drag_over_upper_half, rows_shown
from tests.browser.test_journey import MINUTE, settle
from tests.pages.lab_seeding import lab_project, low_scores, scored_set

pytestmark = pytest.mark.browser


def open_silver(page: Page, server: Server, project: Project) -> None:
    """The Silver page, with everything drawn."""
    page.goto(f"{server.url}/silver?project={project.id}&annotator=ada")
    expect(page.locator(".js-plotly-plot").first).to_contain_text("Gold", timeout=MINUTE)
    settle(page)


def press(page: Page, key: str, then: str) -> None:
    """Press a key, and wait for the pair that is open afterwards."""
    page.keyboard.press(key)
    expect(place(page)).to_contain_text(then, timeout=MINUTE)
    settle(page)


def place(page: Page) -> Locator:
    """Which pair is open, in words."""
    return page.get_by_text(re.compile(r"^Pair [\d,]+ of [\d,]+"))


def saved(page: Page, words: str) -> None:
    expect(page.get_by_text(re.compile(words)).first).to_be_visible(timeout=MINUTE)
    settle(page)


def wait_for_rejected(page: Page, workspace: Workspace, set_id: int, number: int) -> None:
    """Wait until so many pairs are rejected and the page says nothing older."""
    for _ in range(MINUTE // 100):
        if silver_status_counts(workspace, set_id)["rejected"] == number:
            break
        page.wait_for_timeout(100)
    assert silver_status_counts(workspace, set_id)["rejected"] == number
    settle(page)


def first_pairs(workspace: Workspace, set_id: int) -> list[tuple[float, str]]:
    """(score, status) of the first pairs, by their scores as labelled."""
    shown = silver_pages.silver_page(workspace, set_id, SilverFilter(), limit=1000)
    shown = shown.sort_values("score", ascending=False)
    return list(zip(shown["final_score"].round(3), shown["status"], strict=True))[:3]


@pytest.mark.timeout(600)
def test_a_review_by_drag_bulk_and_keys_survives_a_restart(
    browser: Browser, server: Server
) -> None:
    workspace = open_workspace(server.home)
    project = lab_project(workspace)
    set_id = scored_set(workspace, project, low_scores(400))
    page = browser.new_page(viewport={"width": 1280, "height": 1400})
    page.set_default_timeout(MINUTE)
    open_silver(page, server, project)

    drag_over_upper_half(page)
    expect(rows_shown(page)).not_to_contain_text("400", timeout=MINUTE)
    settle(page)
    shown = int(re.findall(r"[\d,]+", rows_shown(page).inner_text())[-1])
    assert 0 < shown < 200

    page.get_by_role("button", name=f"All {shown} pairs").click()
    page.get_by_role("radio", name="Reject").or_(
        page.get_by_role("button", name="Reject", exact=True)
    ).last.click()
    go = page.get_by_role("button", name=f"Reject {shown} pairs")
    expect(go).to_be_disabled(timeout=MINUTE)
    page.get_by_text(f"I mean all {shown} pairs").click()
    expect(go).to_be_enabled(timeout=MINUTE)
    settle(page)
    go.click()
    saved(page, f"Rejected {shown} pairs: scores")
    assert silver_status_counts(workspace, set_id)["rejected"] == shown
    page.keyboard.press("Escape")

    page.get_by_role("button", name="Undo").click()
    saved(page, f"Undone on {shown} pairs")
    assert silver_status_counts(workspace, set_id)["rejected"] == 0
    page.get_by_role("button", name="Redo").click()
    saved(page, f"Redone on {shown} pairs")
    assert silver_status_counts(workspace, set_id)["rejected"] == shown

    page.get_by_role("button", name="Review one by one").click()
    expect(place(page)).to_contain_text("Pair 1 of", timeout=MINUTE)
    settle(page)
    press(page, "a", "Pair 2 of")
    press(page, "q", "Pair 3 of")
    press(page, "ArrowRight", "Pair 4 of")
    press(page, "ArrowLeft", "Pair 3 of")
    press(page, "f", "Pair 4 of")
    decided = first_pairs(workspace, set_id)
    assert [status for _, status in decided] == ["accepted", "corrected", "flagged"]
    assert decided[1][0] == 0.1

    page.get_by_text("Filters and order").click()
    page.get_by_label("Text", exact=True).fill("")
    page.get_by_label("Text", exact=True).press_sequentially("axf")
    settle(page)
    assert first_pairs(workspace, set_id) == decided, "letters typed into a field are no decisions"
    page.get_by_label("Text", exact=True).fill("")

    server.kill()
    server.start()
    open_silver(page, server, project)
    assert first_pairs(workspace, set_id) == decided
    page.get_by_role("button", name="Review one by one").click()
    expect(place(page)).to_contain_text("Pair 1 of", timeout=MINUTE)
    settle(page)
    page.keyboard.press("u")
    saved(page, "Back to rejected")
    page.keyboard.press("Shift+U")
    saved(page, "Again flagged")
    for rejected in (shown - 2, shown - 1, shown):
        page.keyboard.press("u")
        wait_for_rejected(page, workspace, set_id, rejected)
    page.keyboard.press("u")
    saved(page, f"Undone on {shown} pairs")
    assert silver_status_counts(workspace, set_id)["unreviewed"] == 400
    assert edits.undo_state(workspace, edits.Scope.silver(set_id), "ada").undo is None
    page.close()
