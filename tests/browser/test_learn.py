"""The guided demo from an empty workspace to the last step, as a student clicks through it alone."""

import time

import pytest
from playwright.sync_api import Browser, Page, expect

from augsbert_core.learn.lessons import LESSONS, Lesson
from augsbert_core.storage import lessons
from augsbert_core.storage.database import Workspace
from tests.browser.conftest import Server
from tests.browser.test_journey import MINUTE, open_page, settle

pytestmark = pytest.mark.browser

SIX_MINUTES = 360


def predict(page: Page, lesson: Lesson, choice: str) -> None:
    """Choose an answer and have the result revealed."""
    expect(page.get_by_role("radiogroup", name=lesson.question)).to_be_visible(timeout=MINUTE)
    page.locator(".stRadio").get_by_text(lesson.choices[choice], exact=True).click()
    reveal = page.locator(f".st-key-learn-reveal-{lesson.key}").get_by_role("button")
    expect(reveal).to_be_enabled(timeout=MINUTE)
    reveal.click()
    expect(page.get_by_text("What the paper found", exact=True)).to_be_visible(timeout=2 * MINUTE)
    settle(page)


@pytest.mark.timeout(600)
def test_all_eight_steps_from_an_empty_workspace(browser: Browser, server: Server) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(MINUTE)
    page.goto(server.url)
    begun = time.monotonic()
    open_page(page, "Learn")
    page.get_by_role("button", name="Begin").click()
    waits = {}
    for place, lesson in enumerate(LESSONS):
        expect(page.get_by_role("heading", name=f"{place + 1}. {lesson.title}")).to_be_visible()
        asked = time.monotonic()
        predict(page, lesson, next(iter(lesson.choices)))
        waits[lesson.key] = time.monotonic() - asked
        if lesson is not LESSONS[-1]:
            page.get_by_role("button", name=f"Next: {LESSONS[place + 1].short}").click()
            settle(page)
    expect(page.get_by_text("All eight steps are done")).to_be_visible()
    seconds = time.monotonic() - begun

    # Refreshed, the page still knows; and the final table of the seventh step can be read.
    page.reload()
    page.get_by_text(f"✓ {LESSONS[6].short}", exact=True).click()
    expect(page.get_by_role("heading", name=LESSONS[6].title)).to_be_visible()
    settle(page)
    seeds = page.locator(".st-key-learn-figure-seeds")
    expect(seeds).to_contain_text("seeds end between")
    expect(seeds.locator(".js-plotly-plot")).to_contain_text("Best at 20 %")
    figure = page.locator(".js-plotly-plot", has_text="Gold only, as many steps").first
    for name in ("Untrained", "AugSBERT · BM25", "Labeler"):
        expect(figure).to_contain_text(name)
    print(f"\nAll eight steps: {seconds:.0f} s. Waits: {waits}\n{figure.inner_text()}")
    kept = lessons.everyones_progress(Workspace(server.home))
    assert {one.lesson for one in kept} == {lesson.key for lesson in LESSONS}
    assert all(
        one.details["right"] in LESSONS[0].choices for one in kept if one.lesson == "encoders"
    )
    assert seconds < SIX_MINUTES, waits
