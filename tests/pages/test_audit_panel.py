"""The audit of a silver set on its page, and next to the set elsewhere."""

from streamlit.testing.v1 import AppTest

from augsbert_core.cards import data_card
from augsbert_core.steps.card_facts import silver_facts
from augsbert_core.storage import annotations
from augsbert_core.storage.annotation_tasks import get_task, list_tasks
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project
from augsbert_core.storage.score_matrices import score_matrix
from augsbert_core.ui.audit_panel import audit_caption
from augsbert_core.ui.widgets import WORD_JOINER
from tests.pages.seeding import (
    button,
    labeler,
    measure,
    metric,
    open_page,
    shown_text,
    silver_set,
    student,
)


def plain_text(page: AppTest) -> str:
    """All prose on a page, without what `as_text` adds."""
    return shown_text(page).replace("\\", "").replace(WORD_JOINER, "")


def score(workspace: Workspace, task_id: int, human: float = 0.4) -> None:
    """Someone gives every pair of the task the same score."""
    item = annotations.next_item(workspace, task_id, "Ada")
    while item is not None:
        item = annotations.save(workspace, task_id, item.id, "Ada", score=human)


def draw(page, n_pairs: int):
    """Press the button, with so many pairs."""
    inputs = [one for one in page.number_input if one.label == "Pairs to audit"]
    inputs[0].set_value(n_pairs)
    label = next(one.label for one in page.button if "audit" in one.label)
    return button(page, label).click().run()


def test_an_audit_is_drawn_scored_and_read(workspace: Workspace, project: Project):
    set_id = silver_set(workspace, project)
    page = open_page("silver", project)
    assert "estimated for the **whole** set" in plain_text(page)
    page = draw(page, 6)
    assert not page.exception
    (task,) = list_tasks(workspace, project.id)
    assert (task.purpose, task.silver_set_id, task.n_items) == ("audit", set_id, 6)
    assert page.get("progress")[0].proto.text == "0 of 6 scores"
    assert audit_caption(workspace, project, set_id) == ""
    score(workspace, task.id)
    page = open_page("silver", project)
    items = score_matrix(workspace, task.id).items
    mae = 5 * (items["suggestion"] - 0.4).abs().mean()  # every pair of the set was drawn
    assert metric(page, "Mean absolute error") == f"{mae:.2f}"
    assert "Scored by Ada" in plain_text(page)
    worst = next(one.value for one in page.dataframe if "People" in one.value)
    assert list(worst.columns) == ["People", "Labeler", "Sentence 1", "Sentence 2"]
    line = audit_caption(workspace, project, set_id)
    assert line.startswith(f"Audited: all 6 pairs, MAE {mae:.2f} on 0–5, bias")
    assert "A census: every pair of the set was scored" in plain_text(page)


def test_another_audit_can_be_drawn_and_earlier_ones_stay(workspace, project):
    silver_set(workspace, project)
    page = draw(open_page("silver", project), 3)
    first = list_tasks(workspace, project.id)[0].id
    score(workspace, first)
    page = draw(open_page("silver", project), 3)
    assert not page.exception
    assert len(list_tasks(workspace, project.id)) == 2
    assert get_task(workspace, first).n_answers == 3


def test_the_audit_stands_where_a_silver_set_is_chosen_for_training(workspace, project):
    silver_set(workspace, project)
    draw(open_page("silver", project), 6)
    score(workspace, list_tasks(workspace, project.id)[0].id)
    assert "Audited: all 6 pairs" in plain_text(open_page("train", project))
    page = open_page("cross_encoder", project)
    data = next(one for one in page.selectbox if one.label == "Training data")
    assert "Audited" not in plain_text(page)  # gold alone
    data.select_index(1).run()
    assert "Audited: all 6 pairs" in plain_text(page)


def test_an_incomplete_set_waits(workspace, project):
    silver_set(workspace, project, labelled=4)
    page = open_page("silver", project)
    assert button(page, "Draw an audit").disabled
    assert "waits until the set is complete" in plain_text(page)


def test_a_project_without_silver_shows_no_audit(workspace, project):
    labeler(workspace, project)
    assert "Audit" not in plain_text(open_page("silver", project))


def test_the_audit_stands_under_the_comparison_and_in_the_card_of_the_set(workspace, project):
    set_id = silver_set(workspace, project)
    draw(open_page("silver", project), 6)
    score(workspace, list_tasks(workspace, project.id)[0].id)
    run_id = student(workspace, project, silver_set_id=set_id)
    measure(workspace, project, f"run:{run_id}", 0.8)
    line = audit_caption(workspace, project, set_id)
    assert f"Silver set {set_id}. {line}" in plain_text(open_page("compare", project))
    facts = silver_facts(workspace, set_id)
    assert facts.audit == line
    assert f"## Audit\n\n{line}" in data_card(facts)
