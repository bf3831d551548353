"""The Silver page: the spread of the scores, and corrections that last."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from augsbert_core.errors import WorkbenchError
from augsbert_core.pairs import ScoreRange
from augsbert_core.storage import edits, reviews, silver_pages, silver_sets
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.projects import create_project
from augsbert_core.storage.records import Project
from augsbert_core.storage.silver_pages import SilverFilter
from augsbert_core.ui import edit_panel, notices, silver_detail, silver_filters, silver_table
from tests.pages.seeding import button, metric, open_page, shown_text, silver_set

STS = ScoreRange(0.0, 5.0)


def test_without_silver_the_page_points_to_the_sampling(workspace: Workspace) -> None:
    page = open_page("silver", create_project(workspace, "New"))
    assert "There are no silver pairs yet" in shown_text(page)


def test_gold_and_silver_densities_share_one_raw_axis(
    workspace: Workspace, project: Project
) -> None:
    set_id = silver_set(workspace, project)
    page = open_page("silver", project)
    spec = json.loads(page.get("plotly_chart")[0].proto.spec)
    names = [trace["name"] for trace in spec["data"]]
    assert names == ["Gold (train)", f"Silver set {set_id} (Random pairs)"]
    assert spec["layout"]["xaxis"]["range"] == [0.0, 5.0]
    assert spec["layout"]["dragmode"] == "select"
    assert float(metric(page, "KL(gold‖silver)")) >= 0
    assert metric(page, "Silver pairs") == "6"
    assert metric(page, "Scores ≥ 2.5") == "50%"
    assert "grid of 257 points" in shown_text(page)


def test_incomplete_sets_say_so(workspace: Workspace, project: Project) -> None:
    silver_set(workspace, project, labelled=3)
    page = open_page("silver", project)
    assert "Only 3 of 6 pairs are labelled so far" in shown_text(page)


def shown_rows(page: Any) -> list[dict[str, Any]]:
    """The rows of the review table."""
    return page.dataframe[-1].value.to_dict("records")


def test_the_table_follows_the_score_range_text_and_order(
    workspace: Workspace, project: Project
) -> None:
    set_id = silver_set(workspace, project)
    page = open_page("silver", project)
    assert [row["shown"] for row in shown_rows(page)] == [
        "4.25",
        "3.50",
        "2.75",
        "2.00",
        "1.25",
        "0.50",
    ]

    page.slider(key=silver_filters.range_key(set_id)).set_range(2.0, 4.0)
    page.selectbox(key=f"silver-sort-{set_id}").set_value("Score, low to high").run()
    assert [row["shown"] for row in shown_rows(page)] == ["2.00", "2.75", "3.50"]

    page.text_input(key=f"silver-text-{set_id}").set_value("nowhere to be found").run()
    assert "No pair passes these filters" in shown_text(page)


def test_statuses_are_counted_and_filter_the_table(workspace: Workspace, project: Project) -> None:
    set_id = silver_set(workspace, project)
    pair = int(silver_pages.silver_page(workspace, set_id, SilverFilter())["id"][0])
    reviews.review_silver_pair(workspace, pair, status="flagged", actor="reviewer")
    page = open_page("silver", project)
    pills = page.button_group(key=f"silver-status-{set_id}")
    pills.set_value(["flagged"]).run()
    assert [row["status"] for row in shown_rows(page)] == ["flagged"]


@pytest.mark.parametrize(
    ("changed", "before", "after"),
    [
        ({"shown": "2.5"}, (None, "unreviewed"), (0.5, "corrected")),
        ({"shown": " 0,5 "}, (None, "unreviewed"), (0.1, "corrected")),
        ({"shown": ""}, (0.5, "corrected"), (None, "unreviewed")),
        ({"shown": None}, (0.5, "corrected"), (None, "unreviewed")),
        ({"status": "rejected"}, (0.5, "corrected"), (0.5, "rejected")),
        ({"status": "accepted"}, (0.5, "corrected"), (None, "accepted")),
        ({"status": "corrected"}, (None, "flagged"), (None, "flagged")),
    ],
)
def test_what_an_edit_means(changed: dict, before: tuple, after: tuple) -> None:
    decision = silver_table.decide(changed, *before, STS)
    assert (decision.correction, decision.status) == after


@pytest.mark.parametrize("typed", ["7", "-0.1", "high", "1.000,5", "nan", "inf"])
def test_what_is_no_score_is_refused_by_name(typed: str) -> None:
    with pytest.raises(WorkbenchError, match=f"from 0 to 5; '{typed}' is not"):
        silver_table.decide({"shown": typed}, None, "unreviewed", STS)


class Editor:
    """The review table as the browser drives it: edits pile up until the table starts afresh."""

    def __init__(self, page: Any, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        self.state = {silver_table.VIEW: page.session_state[silver_table.VIEW]}
        self.workspace = workspace
        monkeypatch.setattr(silver_table.st, "session_state", self.state)
        self.state["editor"] = {"edited_rows": {}}

    def edit(self, row: int, **cells: Any) -> None:
        self.state["editor"]["edited_rows"].setdefault(row, {}).update(cells)
        silver_table.save_edits(self.workspace, STS, "editor", "ada")

    def undo(self, set_id: int) -> None:
        scope = edits.Scope.silver(set_id)
        edit_panel.take_back(self.workspace, scope, "ada", "undo", silver_detail.drawn_anew)

    @property
    def starts_afresh(self) -> bool:
        return silver_table.VIEW not in self.state


@pytest.fixture
def editor(
    workspace: Workspace, project: Project, monkeypatch: pytest.MonkeyPatch
) -> tuple[Editor, int]:
    set_id = silver_set(workspace, project)
    page = open_page("silver", project)
    return Editor(page, workspace, monkeypatch), set_id


def stored(workspace: Workspace, set_id: int) -> list[tuple[float | None, str]]:
    """(correction, status) in the order of the labeler's scores, high to low."""
    page = silver_pages.silver_page(workspace, set_id, SilverFilter())
    page = page.sort_values("score", ascending=False)
    corrections = page["correction"].astype(object).where(page["correction"].notna(), None)
    return list(zip(corrections, page["status"], strict=True))


def test_every_edit_in_a_row_of_edits_is_saved(
    workspace: Workspace, editor: tuple[Editor, int]
) -> None:
    table, set_id = editor
    table.edit(0, shown="1.00")
    table.edit(1, shown="2.00")
    table.edit(0, shown="1.50")
    table.edit(2, status="rejected")
    assert stored(workspace, set_id)[:3] == [
        (0.3, "corrected"),
        (0.4, "corrected"),
        (None, "rejected"),
    ]
    assert not table.starts_afresh
    assert table.state[silver_table.VIEW].frame["status"].tolist()[0] == "corrected"


def test_an_undone_edit_does_not_come_back_with_the_next_one(
    workspace: Workspace, editor: tuple[Editor, int]
) -> None:
    table, set_id = editor
    table.edit(0, shown="1.00")
    view = table.state[silver_table.VIEW]
    table.undo(set_id)
    assert table.starts_afresh
    table.state[silver_table.VIEW] = view  # the browser may still send the old edits once
    table.edit(1, shown="2.00")
    assert stored(workspace, set_id)[:2] == [(None, "unreviewed"), (0.4, "corrected")]


def test_going_back_to_the_labelers_score_starts_the_table_afresh(
    workspace: Workspace, editor: tuple[Editor, int]
) -> None:
    table, set_id = editor
    table.edit(0, shown="1.00")
    table.edit(0, status="unreviewed")
    assert table.starts_afresh
    assert stored(workspace, set_id)[0] == (None, "unreviewed")


def test_a_pair_changed_in_another_window_is_not_overwritten(
    workspace: Workspace, editor: tuple[Editor, int]
) -> None:
    table, set_id = editor
    pair = int(table.state[silver_table.VIEW].frame.index[0])
    reviews.review_silver_pair(workspace, pair, correction=0.9, status="corrected", actor="ben")
    table.edit(0, status="flagged")
    assert stored(workspace, set_id)[0] == (0.9, "corrected")
    assert "another window" in table.state[notices.NOTICE]
    assert isinstance(table.state[notices.NOTICE], notices.Refused)
    assert table.starts_afresh


def test_a_correction_survives_a_restart_and_is_undone_and_redone(
    workspace: Workspace, project: Project, open_page: Callable[..., Any]
) -> None:
    set_id = silver_set(workspace, project)
    pair = int(silver_pages.silver_page(workspace, set_id, SilverFilter())["id"][0])
    reviews.review_silver_pair(
        workspace, pair, correction=0.2, status="corrected", actor="ada lovelace"
    )
    page = open_page("silver", project=project.id, annotator="ada lovelace")
    corrected = next(row for row in shown_rows(page) if row["status"] == "corrected")
    assert (corrected["shown"], corrected["labeler"]) == ("1.00", 4.25)

    button(page, "Undo").click().run()
    assert "Back to unreviewed" in shown_text(page)
    assert shown_rows(page)[0]["shown"] == "4.25"
    assert button(page, "Undo").disabled, "nothing of hers is left"

    button(page, "Redo").click().run()
    assert "Again corrected" in shown_text(page)
    assert button(page, "Redo").disabled


def test_nobody_undoes_what_somebody_else_decided(
    workspace: Workspace, project: Project, open_page: Callable[..., Any]
) -> None:
    set_id = silver_set(workspace, project)
    pair = int(silver_pages.silver_page(workspace, set_id, SilverFilter())["id"][0])
    reviews.review_silver_pair(workspace, pair, status="rejected", actor="ada")
    page = open_page("silver", project=project.id, annotator="ben")
    assert button(page, "Undo").disabled
    page = open_page("silver", project=project.id, annotator="ada")
    assert not button(page, "Undo").disabled


def test_a_set_is_deleted_after_asking(workspace: Workspace, project: Project) -> None:
    set_id = silver_set(workspace, project)
    page = open_page("silver", project)
    page.button(key=f"delete-silver-{set_id}").click().run()
    assert silver_sets.list_silver_sets(workspace, project.id) == []
    assert "There are no silver pairs yet" in shown_text(page)
