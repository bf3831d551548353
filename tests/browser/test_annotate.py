"""Annotation as people do it: keys only, two windows at once, and everything there after a reload."""

import re

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from augsbert_core.options import ImportOptions, TaskOptions
from augsbert_core.steps.import_data import import_file
from augsbert_core.steps.make_task import create_now
from augsbert_core.storage import annotation_tasks, annotations, candidates, projects
from augsbert_core.storage.database import Workspace, open_workspace
from augsbert_core.storage.records import Project
from tests.browser.conftest import Server
from tests.browser.test_journey import MINUTE, settle
from tests.conftest import GOLD_CSV

pytestmark = pytest.mark.browser

READING = 600
"""Milliseconds that the test "reads" a pair before a key: a key that comes at once does not count."""

ODD = ["Is <b>bold</b> :smile: **text** shown?", "<script>alert(1)</script> & [a](b) costs $5$"]


def annotation_task(server: Server, n_pairs: int = 20) -> tuple[Workspace, Project, int]:
    """A task over uploaded pairs, the first of which is full of markup."""
    workspace = open_workspace(server.home)
    made = projects.create_project(workspace, "By hand")
    import_file(
        workspace, made.id, GOLD_CSV.encode(), "gold.csv", ImportOptions(score_range=(0.0, 5.0))
    )
    project = projects.get_project(workspace, made.id)
    rows = "\n".join(
        [ODD[0] + "\t" + ODD[1]]
        + [f"Number {n} is here.\tNumber {n} was there." for n in range(1, n_pairs)]
    )
    import_file(
        workspace, project.id, rows.encode(), "pairs.tsv", ImportOptions(kind="unlabelled-pairs")
    )
    (found,) = candidates.list_candidate_sets(workspace, project.id)
    options = TaskOptions(candidate_set_id=found.id, n_pairs=n_pairs, name="By hand")
    return workspace, project, create_now(workspace, project, options)


def open_task(browser: Browser, server: Server, project: Project, task: int, who: str) -> Page:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(MINUTE)
    page.goto(f"{server.url}/annotate?project={project.id}&task={task}&annotator={who}")
    expect(page.locator(".aug-sentence").first).to_be_visible(timeout=MINUTE)
    expect(page.locator(".st-key-annotate-help button").first).to_be_visible(timeout=MINUTE)
    settle(page)
    return page


def pair_on(page: Page) -> str:
    return "\n".join(page.locator(".aug-sentence").all_inner_texts())


def key(page: Page, name: str) -> None:
    """Read for a moment, then press a key."""
    page.wait_for_timeout(READING)
    page.keyboard.press(name)


def score(page: Page, name: str) -> None:
    """Press the key of a level and wait until another pair is there."""
    before = pair_on(page)
    key(page, name)
    expect(page.locator(".aug-pair")).not_to_have_text(
        re.compile(re.escape(before.splitlines()[0])), timeout=MINUTE
    )
    settle(page)


def given(workspace: Workspace, task: int, who: str) -> list[float]:
    """The scores of one annotator on the scale 0 to 5, in the order of the task."""
    matrix = annotations.score_matrix(workspace, task)
    row = matrix.scores[matrix.annotators.index(who)]
    return [round(5 * float(value), 6) for value in row[~np.isnan(row)]]


@pytest.mark.timeout(300)
def test_ten_pairs_are_scored_with_keys_only(browser: Browser, server: Server) -> None:
    workspace, project, task = annotation_task(server)
    page = open_task(browser, server, project, task, "Ada")
    for name in ("0", "q", "1", "t", "5"):
        score(page, name)
    key(page, "h")
    expect(page.locator(".aug-keys")).to_contain_text("Skip", timeout=MINUTE)
    key(page, "h")
    expect(page.locator(".aug-keys")).to_have_count(0, timeout=MINUTE)
    key(page, "f")
    expect(page.get_by_text(re.compile("1 flagged"))).to_be_visible(timeout=MINUTE)
    score(page, "s")
    score(page, "2")
    last = pair_on(page)
    score(page, "3")
    key(page, "u")
    expect(page.get_by_text("Undone: the score 3 on")).to_be_visible(timeout=MINUTE)
    assert pair_on(page) == last
    score(page, "4")
    key(page, "ArrowLeft")
    expect(page.get_by_text("You gave")).to_contain_text("4", timeout=MINUTE)
    assert pair_on(page) == last
    key(page, "ArrowRight")
    expect(page.get_by_text("You gave")).to_have_count(0, timeout=MINUTE)
    for name in ("w", "e", "y"):
        score(page, name)
    assert given(workspace, task, "Ada") == [0, 0.5, 1, 3.5, 5, 2, 4, 1.5, 2.5, 4.5]
    now_shown = pair_on(page)

    page.reload()
    expect(page.locator(".aug-sentence").first).to_be_visible(timeout=MINUTE)
    settle(page)
    expect(page.get_by_text(re.compile("^10 done"))).to_contain_text(
        "1 skipped · 1 flagged", timeout=MINUTE
    )
    assert pair_on(page) == now_shown
    expect(page.get_by_role("button", name="Ada")).to_be_visible(timeout=MINUTE)
    page.get_by_role("link", name="Gold", exact=True).click()
    expect(page.get_by_role("heading", name="Gold", exact=True)).to_be_visible(timeout=MINUTE)
    page.get_by_role("link", name="Annotate").click()
    expect(page.locator(".aug-sentence").first).to_be_visible(timeout=MINUTE)
    settle(page)
    assert pair_on(page) == now_shown
    page.close()


@pytest.mark.timeout(300)
def test_a_key_that_is_held_down_scores_one_pair(browser: Browser, server: Server) -> None:
    workspace, project, task = annotation_task(server)
    page = open_task(browser, server, project, task, "Ada")
    page.wait_for_timeout(READING)
    for _ in range(15):
        page.keyboard.down("3")  # as the keyboard repeats it
        page.wait_for_timeout(30)
    page.keyboard.up("3")
    expect(page.get_by_text("Key ignored: it is held down")).to_be_visible(timeout=MINUTE)
    settle(page)
    assert given(workspace, task, "Ada") == [3]
    page.close()


@pytest.mark.timeout(300)
def test_keys_work_after_another_task_and_another_name(browser: Browser, server: Server) -> None:
    workspace, project, task = annotation_task(server)
    again = create_now(workspace, project, TaskOptions(source="gold", n_pairs=5, name="Again"))
    page = open_task(browser, server, project, task, "Ada")
    page.get_by_role("button", name="By hand").click()
    page.get_by_text("Again · 5 pairs").click()
    expect(page.get_by_role("button", name="Again")).to_be_visible(timeout=MINUTE)
    expect(page.get_by_text(re.compile("^0 done.*5 left"))).to_be_visible(timeout=MINUTE)
    settle(page)
    score(page, "2")
    assert given(workspace, again, "Ada") == [2]
    page.get_by_role("button", name="Ada").click()
    field = page.get_by_label("Your name", exact=True)
    field.fill("Bob")
    field.press("Enter")
    expect(page.get_by_role("button", name="Bob")).to_be_visible(timeout=MINUTE)
    expect(field).to_have_count(0, timeout=MINUTE)
    expect(page.get_by_text(re.compile("^0 done"))).to_be_visible(timeout=MINUTE)
    settle(page)
    score(page, "3")
    assert given(workspace, again, "Bob") == [3]
    assert "annotator=Bob" in page.url
    page.close()


@pytest.mark.timeout(300)
def test_two_people_in_two_windows_lose_nothing(browser: Browser, server: Server) -> None:
    workspace, project, task = annotation_task(server)
    ada = open_task(browser, server, project, task, "Ada")
    ben = open_task(browser, server, project, task, "Ben")
    for mine, theirs in zip("01234", "5qwet", strict=True):
        assert pair_on(ada) != pair_on(ben)
        ada.wait_for_timeout(READING)
        before = pair_on(ada), pair_on(ben)
        ada.keyboard.press(mine)  # both at once
        ben.keyboard.press(theirs)
        for page, old in ((ada, before[0]), (ben, before[1])):
            expect(page.locator(".aug-pair")).not_to_have_text(
                re.compile(re.escape(old.splitlines()[0])), timeout=MINUTE
            )
            settle(page)
    assert given(workspace, task, "Ada") == [0, 1, 2, 3, 4]
    assert sorted(given(workspace, task, "Ben")) == [0.5, 1.5, 2.5, 3.5, 5]
    matrix = annotations.score_matrix(workspace, task)
    assert (~np.isnan(matrix.scores)).sum(axis=0).max() == 1, "no pair was scored by both"
    ada.close()
    ben.close()


@pytest.mark.timeout(300)
def test_markup_in_texts_is_shown_as_text(browser: Browser, server: Server) -> None:
    _, project, task = annotation_task(server, n_pairs=1)
    page = open_task(browser, server, project, task, "Ada")
    assert sorted(page.locator(".aug-sentence").all_inner_texts()) == sorted(ODD)
    assert page.locator(".aug-pair script, .aug-pair b, .aug-pair a, .aug-pair img").count() == 0
    expect(page.locator(".aug-note")).to_have_text(re.compile("nothing is marked"))
    score_key = page.get_by_role("button", name=re.compile("^5")).first
    expect(score_key).to_contain_text("5")
    key(page, "5")
    expect(page.get_by_text("All done")).to_be_visible(timeout=MINUTE)
    page.close()


@pytest.mark.timeout(300)
def test_a_task_is_closed_exported_and_deleted(browser: Browser, server: Server) -> None:
    workspace, project, task = annotation_task(server)
    item = annotations.next_item(workspace, task, "Ada")
    assert item is not None
    annotations.save(workspace, task, item.id, "Ada", score=0.7, seconds=4.0)
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(MINUTE)
    page.goto(f"{server.url}/annotate?project={project.id}&view=setup")

    def choose(action: str) -> None:
        page.get_by_role("button", name="More").first.click()
        page.get_by_text(action, exact=True).last.click()

    choose("Close")
    expect(page.get_by_text("Closed By hand")).to_be_visible(timeout=MINUTE)
    assert annotation_tasks.get_task(workspace, task).closed
    choose("Export raw scores")
    with page.expect_download() as downloaded:
        page.get_by_role("button", name="Download CSV").click()
    lines = downloaded.value.path().read_text("utf-8-sig").splitlines()
    assert lines[0].startswith("item,position,annotator,state,score,label,flagged,order,seconds")
    assert re.search(r",1,Ada,scored,0\.7,3\.5,0,[12]-[12],4\.0,,0,", lines[1])
    assert len(lines) == 2
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    expect(page.get_by_role("dialog")).to_have_count(0, timeout=MINUTE)
    choose("Delete")
    expect(page.get_by_text("1 score")).to_be_visible(timeout=MINUTE)
    page.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_text("From unlabelled sentences")).to_be_visible(timeout=MINUTE)
    assert annotation_tasks.list_tasks(workspace, project.id) == []
    page.close()
