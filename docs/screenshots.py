"""Take the pictures of every page that docs/images keeps: light and dark, 1280 and 1024 pixels wide.

    python docs/screenshots.py [--home DIR] [--only PAGE ...] [--out docs/images]

Without --home the guided demo's recipe runs first on the sample project (about ten minutes on two cores), and three
made-up annotators score 60 of its pairs, so that no page is empty. Needs Chromium and the `dev` extra.
"""

import argparse
import io
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from augsbert_core import jobs  # noqa: E402
from augsbert_core.learn.lessons import LESSONS  # noqa: E402
from augsbert_core.options import TaskOptions  # noqa: E402
from augsbert_core.steps import learn_recipe  # noqa: E402
from augsbert_core.steps.make_task import create_now  # noqa: E402
from augsbert_core.steps.sample_project import open_sample_project  # noqa: E402
from augsbert_core.storage import annotation_tasks, annotations, runs, silver_sets  # noqa: E402
from augsbert_core.storage.database import Workspace, open_workspace  # noqa: E402
from augsbert_core.storage.records import Project  # noqa: E402
from tests.browser.conftest import FLAGS, Server  # noqa: E402

THEMES, WIDTHS = ("light", "dark"), (1280, 1024)
TALLEST = 2000
"""Pixels of a picture: what comes below is the end of a long page."""
QUALITY = 55
MINUTE = 60_000
SCORED = "Second look at silver"
PEOPLE = {"ada": 0.1, "ben": 0.35, "cleo": 0.6}
"""Made-up annotators → the spread of their errors, in points of the scale from 0 to 5."""


def seed(workspace: Workspace) -> Project:
    """The sample project with a whole loop, and an annotation task that three people are through with."""
    project = open_sample_project(workspace)
    if not any(run.state == "done" for run in runs.list_runs(workspace, project.id, "batch")):
        jobs.run_in_foreground(
            workspace, project.id, "batch", learn_recipe.loop_plan(), report=_tell
        )
    if not annotation_tasks.list_tasks(workspace, project.id):
        (silver, *_) = silver_sets.list_silver_sets(workspace, project.id)
        told = TaskOptions(
            name=SCORED,
            source="silver",
            silver_set_id=silver.id,
            n_pairs=60,
            n_scores=len(PEOPLE),
        )
        task = create_now(workspace, project, told)
        rng = np.random.default_rng(7)
        for person, spread in PEOPLE.items():
            _score_all(workspace, task, person, spread, rng)
        told = TaskOptions(
            name="Where silver is thin",
            source="silver",
            silver_set_id=silver.id,
            queue="density-gap",
        )
        create_now(workspace, project, told)
    return project


def _score_all(
    workspace: Workspace, task: int, person: str, spread: float, rng: np.random.Generator
) -> None:
    item = annotations.next_item(workspace, task, person)
    while item is not None:
        about = 5 * (item.suggestion or 0.0)
        score = float(np.clip(np.round(2 * (about + rng.normal(0, spread))) / 2, 0, 5)) / 5
        item = annotations.save(
            workspace, task, item.id, person, score=score, seconds=float(rng.uniform(3, 12))
        )


def _tell(fraction: float, message: str, *_: object) -> None:
    print(f"\r{fraction:4.0%} {message[:100]:100}", end="", flush=True)


# What is done on a page before its picture is taken


def as_it_is(page: Page) -> None:
    """Nothing."""


def button(name: str) -> Callable[[Page], None]:
    """Press a button by its name."""

    def press(page: Page) -> None:
        page.get_by_role("button", name=name).first.click()

    return press


def seventh_step(page: Page) -> None:
    """The step of the guided demo that asks whether silver helped, with its answer."""
    page.get_by_text(LESSONS[6].short).first.click()
    settle(page)
    show = page.get_by_role("button", name="Show without predicting")
    if show.count():
        show.click()
    expect(page.get_by_text("What happened here?").first).to_be_visible(timeout=MINUTE)


def three_sets(page: Page) -> None:
    """The densities of BM25 pairs, of random pairs and of a KDE set beside those of gold (fig. 4 of the paper)."""
    for name in ("BM25 top-3", "Random pairs"):
        page.get_by_role("combobox", name="Compare with").click()
        page.get_by_role("option", name=re.compile(name)).first.click()
        settle(page)
    page.keyboard.press("Escape")
    expect(page.locator(".js-plotly-plot").first).to_contain_text("Random", timeout=MINUTE)


PAGES: dict[str, tuple[str, Callable[[Page], None]]] = {
    "start": ("", as_it_is),
    "learn": ("learn", seventh_step),
    "gold": ("gold", as_it_is),
    "annotate": ("annotate?view=annotate", as_it_is),
    "agreement": ("annotate?view=agreement&task={scored_task}", as_it_is),
    "cross-encoder": ("cross_encoder", as_it_is),
    "sample": ("sample", as_it_is),
    "silver": ("silver", three_sets),
    "one-by-one": ("silver", button("Review one by one")),
    "train": ("train", as_it_is),
    "compare": ("compare", as_it_is),
    "try": ("try", as_it_is),
    "experiments": ("experiments", as_it_is),
    "jobs": ("jobs", as_it_is),
}
"""Name of the picture → page, and what is done there first."""


def settle(page: Page) -> None:
    """Wait until the page stands."""
    page.wait_for_timeout(800)
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0, timeout=3 * MINUTE)
    page.wait_for_timeout(800)


@dataclass(frozen=True)
class Place:
    """A running app with something to show. scored_task: the annotation task that three people are through with."""

    url: str
    project_id: int
    scored_task: int

    def address(self, path: str) -> str:
        """Where a page is found."""
        path = path.format(scored_task=self.scored_task)
        return (
            f"{self.url}/{path}{'&' if '?' in path else '?'}project={self.project_id}&annotator=ada"
        )


def take(browser: Browser, place: Place, out: Path, name: str, theme: str, width: int) -> Path:
    """One picture of one page."""
    path, act = PAGES[name]
    page = browser.new_page(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if theme == "dark" else "light",
    )
    page.set_default_timeout(MINUTE)
    page.goto(place.address(path))
    expect(page.get_by_role("heading").first).to_be_visible(timeout=MINUTE)
    settle(page)
    act(page)
    settle(page)
    expect(page.get_by_test_id("stException")).to_have_count(0)
    height = page.evaluate("document.querySelector('[data-testid=\"stMain\"]').scrollHeight")
    page.set_viewport_size({"width": width, "height": max(900, min(height, TALLEST))})
    settle(page)
    page.mouse.move(0, 0)
    page.evaluate("document.querySelector('[data-testid=\"stMain\"]').scrollTo(0, 0)")
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    page.close()
    file = out / f"{name}-{theme}-{width}.webp"
    picture.save(file, quality=QUALITY, method=6)
    return file


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--home", type=Path, help="a workspace that was made by this script before")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images")
    parser.add_argument("--only", nargs="*", choices=sorted(PAGES), default=list(PAGES))
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder:
        home = asked.home or Path(folder)
        workspace = open_workspace(home)
        project = seed(workspace)
        tasks = annotation_tasks.list_tasks(workspace, project.id)
        scored = next(task.id for task in tasks if task.name == SCORED)
        server = Server(home)
        server.start()
        place = Place(server.url, project.id, scored)
        try:
            with sync_playwright() as play:
                browser = play.chromium.launch(executable_path=chromium, args=FLAGS)
                for name in asked.only:
                    for theme in THEMES:
                        for width in WIDTHS:
                            file = take(browser, place, asked.out, name, theme, width)
                            print(f"{file.name}: {file.stat().st_size / 1024:.0f} KiB", flush=True)
                browser.close()
        finally:
            server.kill()


if __name__ == "__main__":
    main()
