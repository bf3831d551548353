"""The export popovers of the pages Gold, Silver and Compare: what they offer is what the table shows."""

import json
from collections.abc import Callable
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from augsbert_core.errors import WorkbenchError
from augsbert_core.exporting import formats
from augsbert_core.storage import reviews
from augsbert_core.storage.database import Workspace, reading
from augsbert_core.storage.records import Project
from augsbert_core.ui import data_export
from tests.pages.seeding import measure, open_page, shown_text, silver_set

Offered = list[tuple[str, Callable[[], bytes], bool]]


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> Offered:
    """(file name, what makes its content, whether it is switched off) of every download of the last run."""
    found: Offered = []

    def download_button(label: str, data: Any, **told: Any) -> None:
        found.append((told["file_name"], data, told.get("disabled", False)))

    monkeypatch.setattr(st, "download_button", download_button)
    return found


def opened(page: AppTest, key: str, offered: Offered) -> AppTest:
    """The page with a popover open."""
    page.session_state[key] = True
    offered.clear()
    page.run()
    assert not page.exception
    return page


def test_gold_is_offered_as_the_table_shows_it(
    workspace: Workspace, project: Project, offered: Offered
) -> None:
    key = f"export-gold-{project.id}"
    page = opened(open_page("gold", project), key, offered)
    assert "All of them: 11 gold pairs" in shown_text(page)
    page.button_group(key="gold-splits").set_value(["dev"])
    page.selectbox(key=f"{key}-kind").set_value("jsonl")
    page = opened(page, key, offered)
    assert "With the filters of the table: 3 gold pairs" in shown_text(page)
    [(name, make, _)] = offered
    assert name == "gold.jsonl"
    assert [json.loads(line)["split"] for line in make().splitlines()] == ["dev"] * 3


def test_each_format_has_its_own_switch(
    workspace: Workspace, project: Project, offered: Offered
) -> None:
    key = f"export-gold-{project.id}"
    page = opened(open_page("gold", project), key, offered)
    assert page.toggle(key=f"{key}-safe-csv").value
    assert offered[0][1]().startswith(b"\xef\xbb\xbf")
    page.toggle(key=f"{key}-safe-csv").set_value(False)
    opened(page, key, offered)
    assert offered[0][1]().startswith(b"sentence1")
    page.selectbox(key=f"{key}-kind").set_value("parquet")
    opened(page, key, offered)
    assert not page.toggle(key=f"{key}-safe-parquet").value
    assert offered[0][1]().startswith(b"PAR1")
    page.selectbox(key=f"{key}-kind").set_value("dataset")
    opened(page, key, offered)
    assert (offered[0][0], offered[0][1]()[:2]) == ("gold-dataset.zip", b"PK")


def test_excel_is_not_offered_for_more_than_a_sheet_holds(
    workspace: Workspace, project: Project, offered: Offered, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_export, "EXCEL_ROWS", 10)
    monkeypatch.setattr(data_export, "LARGE", 11)
    key = f"export-gold-{project.id}"
    page = opened(open_page("gold", project), key, offered)
    assert "augsbert export gold --project" in shown_text(page)
    page.selectbox(key=f"{key}-kind").set_value("xlsx")
    opened(page, key, offered)
    assert [off for _, _, off in offered] == [True]


def test_silver_is_offered_as_the_table_shows_it_and_corrections_once_there_are_some(
    workspace: Workspace, project: Project, offered: Offered
) -> None:
    set_id = silver_set(workspace, project)
    key = f"export-silver-{set_id}"
    page = opened(open_page("silver", project), key, offered)
    names = [name for name, _, _ in offered if name.startswith(("silver", "corrections"))]
    assert names == [f"silver-set-{set_id}.csv"]
    with reading(workspace) as db:
        [pair_id] = db.execute("SELECT min(id) FROM silver_pair").fetchone()
    reviews.review_silver_pair(
        workspace, pair_id, correction=1.0, status="corrected", actor="reviewer"
    )
    page.button_group(key=f"silver-status-{set_id}").set_value(["corrected"])
    page = opened(page, key, offered)
    made = {name: make for name, make, _ in offered if name.startswith(("silver", "corrections"))}
    assert list(made) == [f"silver-set-{set_id}.csv", "corrections.csv"]
    assert "With the filters of the table: 1 silver pair." in shown_text(page)
    assert len(made[f"silver-set-{set_id}.csv"]().splitlines()) == 2
    assert b"reviewer" in made["corrections.csv"]()
    page.selectbox(key=f"{key}-kind").set_value("zip")
    opened(page, key, offered)
    archives = [make() for name, make, _ in offered if name == f"silver-set-{set_id}.zip"]
    assert [content[:2] for content in archives] == [b"PK"]


def test_the_comparison_is_offered_in_three_formats(
    workspace: Workspace, project: Project, offered: Offered
) -> None:
    measure(workspace, project, "jaccard", 0.4)
    page = opened(open_page("compare", project), "export-compare", offered)
    for kind, start in (("csv", b"\xef\xbb\xbf"), ("jsonl", b"{"), ("parquet", b"PAR1")):
        page.selectbox(key="export-compare-kind").set_value(kind)
        opened(page, "export-compare", offered)
        [content] = [make() for name, make, _ in offered if name == f"compare-test.{kind}"]
        assert content.startswith(start)
        if kind == "jsonl":
            row = json.loads(content.splitlines()[0])
            assert (row["split"], row["value"], row["comparable"]) == ("test", 0.4, True)


def test_why_an_export_fails_is_told_below_its_button(
    workspace: Workspace, project: Project, offered: Offered, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[list[str]] = []
    monkeypatch.setattr(data_export, "show_told", told.append)
    monkeypatch.setattr(formats, "EXCEL_CHARACTERS", 20)
    key = f"export-gold-{project.id}"
    page = opened(open_page("gold", project), key, offered)
    page.selectbox(key=f"{key}-kind").set_value("xlsx")
    opened(page, key, offered)
    [(_, make, _)] = offered
    assert told[-1] == []
    with pytest.raises(WorkbenchError):
        make()
    [why] = told[-1]
    assert "an Excel cell holds 20" in why

    def below_the_button(why: str) -> None:
        from augsbert_core.ui.downloads import show_told

        show_told([why])

    shown = AppTest.from_function(below_the_button, args=(why,)).run()
    assert "an Excel cell holds 20" in shown.error[0].value.replace("\\", "")
    # Nothing is said of an export that went well afterwards.
    monkeypatch.setattr(formats, "EXCEL_CHARACTERS", 32_767)
    assert make().startswith(b"PK")
    assert told[-1] == []
