"""A page without data says what belongs there, and leads to the step that brings it."""

import pytest

from augsbert_core.storage import projects
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project
from tests.pages.seeding import button, candidate_set, labeler, open_page, shown_text

LOOP = ("gold", "annotate", "cross_encoder", "sample", "silver", "train", "compare", "try", "experiments")  # fmt: skip


def link_to(page: str) -> str:
    """A link to a page, as it is written where there is no menu."""
    return f"]({page})"


@pytest.mark.parametrize("page", [*LOOP, "jobs"])
def test_without_a_project_every_page_leads_to_the_start(page: str, workspace: Workspace) -> None:
    words = shown_text(open_page(page, None))
    assert ("A project holds one task" in words) or ("Create a project first" in words)
    assert link_to("start") in words


@pytest.mark.parametrize(
    ("page", "what", "ways"),
    [
        ("annotate", "takes its pairs from candidates, from silver or from gold", ["sample"]),
        ("cross_encoder", "learns what a score means", ["gold", "annotate"]),
        ("sample", "Candidates are made of the sentences", ["gold"]),
        ("silver", "The labeler is a cross-encoder trained on gold", ["sample", "cross_encoder"]),
        ("train", "learns from scored pairs, gold and silver", ["gold", "annotate"]),
        ("compare", "none of them has learnt from", ["gold", "annotate"]),
        ("try", "finds the nearest of the sentences", ["gold", "train"]),
        ("experiments", "to tell a difference from luck", ["gold", "annotate"]),
        ("jobs", "can be stopped and resumed", ["cross_encoder"]),
        ("classroom", "augsbert app --classroom", ["learn"]),
    ],
)
def test_an_empty_project_is_told_what_belongs_where(
    page: str, what: str, ways: list[str], workspace: Workspace
) -> None:
    words = shown_text(open_page(page, projects.create_project(workspace, "Empty")))
    assert what in words
    for way in ways:
        assert link_to(way) in words, f"no way to {way}"


def test_gold_leads_to_the_import_and_to_people(workspace: Workspace) -> None:
    app = open_page("gold", projects.create_project(workspace, "Empty"))
    app.session_state["gold-tab"] = "Gold pairs"
    app.run()
    words = shown_text(app)
    assert "Gold pairs are sentence pairs that people have scored" in words
    assert link_to("annotate") in words
    button(app, "Import gold pairs").click().run()
    assert app.session_state["gold-tab"] == "Import gold pairs"


def test_imports_say_what_they_will_list(workspace: Workspace) -> None:
    app = open_page("gold", projects.create_project(workspace, "Empty"))
    app.session_state["gold-tab"] = "Imports"
    app.run()
    assert "can be taken back as a whole" in shown_text(app)
    assert button(app, "Import gold pairs")


def test_candidates_without_a_score_lead_to_the_labeler(
    workspace: Workspace, project: Project
) -> None:
    candidate_set(workspace, project)
    assert link_to("cross_encoder") in shown_text(open_page("silver", project))
    labeler(workspace, project)
    words = shown_text(open_page("silver", project))
    assert "Let the labeler score a candidate set first" in words
    assert link_to("cross_encoder") not in words


@pytest.mark.parametrize(
    ("page", "what"),
    [
        ("cross_encoder", "Press “Train the cross-encoder” above"),
        ("sample", "Press “Sample pairs” above"),
        ("train", "Press “Train” or “Train both” above"),
        ("compare", "Nothing has been measured on the test split yet"),
        ("experiments", "press “Start”"),
    ],
)
def test_a_list_without_runs_names_the_button_that_fills_it(
    page: str, what: str, workspace: Workspace, project: Project
) -> None:
    assert what in shown_text(open_page(page, project))
