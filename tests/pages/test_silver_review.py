"""The review on the Silver page: filters, pairs one by one, decisions on many, undo, and the log."""

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from streamlit.elements.lib.shortcut_utils import normalize_shortcut

from augsbert_core.pairs import ScoreRange
from augsbert_core.storage import edits, reviews, silver_pages, silver_student
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project
from augsbert_core.storage.silver_filters import SilverFilter
from augsbert_core.ui import edit_panel, notices, silver_bulk, silver_detail, silver_walk
from augsbert_core.ui.more_filters import filter_key
from augsbert_core.ui.score_strip import Mark, strip_html
from augsbert_core.ui.silver_detail import near_html
from augsbert_core.ui.silver_filters import filter_words, range_key, sorts_of
from augsbert_core.ui.silver_review import mode_key
from tests.pages.lab_seeding import lab_project, scored_set
from tests.pages.seeding import button, queued, shown_text, silver_set, student

STS = ScoreRange(0.0, 5.0)
Open = Callable[..., Any]


@pytest.fixture
def silver(workspace: Workspace, project: Project) -> int:
    """Six pairs, scored 0.5, 1.25, 2.00, 2.75, 3.50 and 4.25."""
    return silver_set(workspace, project)


def one_by_one(open_page: Open, project: Project, set_id: int, name: str = "ada") -> Any:
    """The page with the pairs one by one."""
    page = open_page("silver", project=project.id, annotator=name)
    page.button(key=f"{mode_key(set_id)}-switch").click().run()
    assert not page.exception
    return page


def press(page: Any, name: str) -> Any:
    """Click a button of the panel, as its key does."""
    page.button(key=f"silver-walk-{name}").click().run()
    assert not page.exception
    return page


def stored(workspace: Workspace, set_id: int) -> list[tuple[float, str]]:
    """(final score, status) of every pair, the labeler's highest first."""
    page = silver_pages.silver_page(workspace, set_id, SilverFilter())
    page = page.sort_values("score", ascending=False)
    return list(zip(page["final_score"].round(3), page["status"], strict=True))


def statuses(workspace: Workspace, set_id: int) -> list[str]:
    return [status for _, status in stored(workspace, set_id)]


def table(page: Any) -> list[dict[str, Any]]:
    """The rows of the review table."""
    return page.dataframe[-1].value.to_dict("records")


# One by one


def test_every_decision_is_saved_and_the_next_pair_is_there(
    workspace: Workspace, project: Project, silver: int, open_page: Open
) -> None:
    page = one_by_one(open_page, project, silver)
    assert "**Pair 1** of 6" in shown_text(page)
    press(page, "accepted")
    assert "**Pair 2** of 6" in shown_text(page)
    press(page, "rejected")
    press(page, "level-1.5")
    press(page, "flagged")
    assert stored(workspace, silver)[:4] == [
        (0.85, "accepted"),
        (0.7, "rejected"),
        (0.3, "corrected"),
        (0.4, "flagged"),
    ]
    assert "**Pair 5** of 6" in shown_text(page)
    press(page, "left")
    press(page, "left")
    assert "Saved: flagged" in shown_text(page)
    press(page, "unreviewed")
    assert statuses(workspace, silver)[2] == "unreviewed"
    log = edits.edit_log(workspace, edits.Scope.silver(silver))
    assert {row.actor for row in log} == {"ada"}
    assert len(log) == 5


def status_words(page: Any) -> str:
    """The line of numbers beside the pairs."""
    return next(one.value for one in page.caption if re.search(r"unreviewed \d", one.value))


def test_every_key_brings_the_numbers_up_to_date_and_they_follow_the_text(
    workspace: Workspace, project: Project, silver: int, open_page: Open
) -> None:
    page = one_by_one(open_page, project, silver)
    assert "unreviewed 6" in status_words(page)
    press(page, "accepted")
    press(page, "rejected")
    for told in ("unreviewed 4", "accepted 1", "rejected 1"):
        assert told in status_words(page)
    assert f" {silver}" not in page.button_group(key=filter_key(silver, "status")).options
    first = silver_pages.silver_page(workspace, silver, SilverFilter()).iloc[0]
    page.text_input(key=filter_key(silver, "text")).set_value(str(first["sentence1"])).run()
    chosen = SilverFilter(text=str(first["sentence1"]))
    expected = silver_pages.count_statuses(workspace, silver, chosen)
    assert sum(expected.values()) < 6
    for status, number in expected.items():
        assert f"{status} {number}" in status_words(page)
    page.button(key=f"{mode_key(silver)}-switch").click().run()
    shown = page.button_group(key=filter_key(silver, "status")).options
    for status, number in expected.items():
        assert any(f"{status} {number}" in str(option) for option in shown)


def test_the_pair_comes_before_the_densities(
    workspace: Workspace, project: Project, silver: int, open_page: Open
) -> None:
    page = open_page("silver", project=project.id)
    assert page.get("plotly_chart")
    page = one_by_one(open_page, project, silver)
    assert not page.get("plotly_chart"), "not drawn until it is asked for"
    page.session_state["silver-lab"] = True
    page.run()
    assert page.get("plotly_chart")


def test_undo_opens_the_pair_that_was_undone(
    workspace: Workspace, project: Project, silver: int, open_page: Open
) -> None:
    page = one_by_one(open_page, project, silver)
    press(page, "accepted")
    press(page, "right")
    press(page, "right")
    assert "**Pair 4** of 6" in shown_text(page)
    page.button(key="undo-edit").click().run()
    assert "**Pair 1** of 6" in shown_text(page)
    assert statuses(workspace, silver) == ["unreviewed"] * 6
    assert "unreviewed 6" in status_words(page)


def test_the_end_of_the_filter_is_said(
    workspace: Workspace, project: Project, silver: int, open_page: Open
) -> None:
    page = one_by_one(open_page, project, silver)
    press(page, "left")
    assert "This is the first pair" in shown_text(page)
    for _ in range(6):
        press(page, "accepted")
    assert "that was the last pair of this filter" in shown_text(page)
    assert statuses(workspace, silver) == ["accepted"] * 6


def test_pairs_that_leave_the_filter_do_not_hide_others(
    workspace: Workspace,
    project: Project,
    silver: int,
    open_page: Open,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(silver_walk, "PAGE_ROWS", 2)
    page = one_by_one(open_page, project, silver)
    page.button_group(key=filter_key(silver, "status")).set_value(["unreviewed"]).run()
    for _ in range(6):
        press(page, "accepted")
    assert statuses(workspace, silver) == ["accepted"] * 6, "each was shown once"
    assert "that was the last pair of this filter" in shown_text(page)
    page = one_by_one(open_page, project, silver)
    page.button_group(key=filter_key(silver, "status")).set_value(["unreviewed"]).run()
    assert "No pair passes these filters" in shown_text(page)


def test_all_that_is_known_of_a_pair_is_shown(
    workspace: Workspace, project: Project, silver: int, open_page: Open
) -> None:
    pair = int(silver_pages.silver_page(workspace, silver, SilverFilter())["id"][0])
    reviews.review_silver_pair(workspace, pair, status="corrected", correction=0.5, actor="Ben")
    reviews.review_silver_pair(workspace, pair, status="flagged", actor="Ben", correction=0.5)
    page = one_by_one(open_page, project, silver)
    while "Labeler 4.25" not in html_of(page):
        press(page, "right")
    assert "Corrected 2.50" in html_of(page)
    assert "Nearest gold pairs" in shown_text(page)
    text = shown_text(page).replace("\u2060", "").replace("\\", "")
    assert "word overlap" in text
    assert "Ben · corrected 2.50" in text
    assert "Ben · flagged 2.50" in text


def html_of(page: Any) -> str:
    return "\n".join(str(block.proto.body) for block in page.get("html"))


def test_the_second_of_two_quick_keys_is_not_taken_for_a_pair_that_was_not_seen(
    workspace: Workspace, silver: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    state: dict[str, Any] = {}
    monkeypatch.setattr(silver_walk.st, "session_state", state)
    path = silver_walk.Path(workspace, silver, SilverFilter(), silver_pages.HIGH_FIRST)
    walk = silver_walk.start_at(path, 0)
    assert walk is not None
    seen = silver_pages.silver_detail(workspace, walk.pair_id)
    for _ in range(2):
        silver_detail.decide_on(STS, path, "ada", seen, "rejected", None)
    assert statuses(workspace, silver)[:2] == ["rejected", "unreviewed"]
    assert walk.place == 2


def test_a_pair_changed_meanwhile_is_not_overwritten(
    workspace: Workspace, silver: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    state: dict[str, Any] = {}
    monkeypatch.setattr(silver_walk.st, "session_state", state)
    path = silver_walk.Path(workspace, silver, SilverFilter(), silver_pages.HIGH_FIRST)
    walk = silver_walk.start_at(path, 0)
    assert walk is not None
    seen = silver_pages.silver_detail(workspace, walk.pair_id)
    reviews.review_silver_pair(workspace, seen.id, status="flagged", actor="ben")
    silver_detail.decide_on(STS, path, "ada", seen, "accepted", None)
    assert statuses(workspace, silver)[0] == "flagged"
    assert isinstance(state[notices.NOTICE], notices.Refused)
    again = silver_walk.present_walk(path)
    assert again is not None
    assert again.pair_id == seen.id


@pytest.mark.parametrize("scale", [STS, ScoreRange(0, 1), ScoreRange(-1, 1), ScoreRange(1, 7)])
def test_every_level_has_a_key_of_its_own(scale: ScoreRange) -> None:
    levels = silver_detail.levels_of(scale)
    keys = [level.key for level in levels]
    keys += [key for _, key, _ in silver_detail.DECISIONS.values()]
    keys += [*edit_panel.KEYS.values(), "left", "right"]
    assert len({normalize_shortcut(key) for key in keys}) == len(keys)
    assert (levels[0].score, levels[-1].score) == (0.0, 1.0)
    assert float(levels[-1].label) == scale.high


def test_the_strip_and_the_gold_pairs_show_texts_as_they_are() -> None:
    from augsbert_core.steps.nearest_gold import NearGold

    strip = strip_html(STS, [Mark("<i>Labeler</i>", 0.5, "labeler")])
    assert "&lt;i&gt;Labeler&lt;/i&gt; 2.50" in strip
    rows = near_html([NearGold("<b>a</b>", "b", 2.0, 0.5)])
    assert "&lt;b&gt;a&lt;/b&gt;" in rows
    assert "2.00" in rows


# Filters


def test_less_common_filters_are_counted_and_cleared(
    workspace: Workspace, project: Project, silver: int, open_page: Open
) -> None:
    page = open_page("silver", project=project.id)
    words = silver_pages.silver_page(workspace, silver, SilverFilter())["words"]
    page.number_input(key=filter_key(silver, "min_words")).set_value(int(words.max())).run()
    assert len(table(page)) == int((words == words.max()).sum()) < 6
    assert page.button(key=f"silver-clear-{silver}").disabled is False
    page.slider(key=range_key(silver)).set_range(0.0, 1.0)
    page.slider(key=filter_key(silver, "overlap")).set_range(0.0, 0.99).run()
    page.button(key=f"silver-clear-{silver}").click().run()
    assert len(table(page)) == 6
    assert page.button(key=f"silver-clear-{silver}").disabled


def test_pairs_that_a_person_decided_on_are_found(
    workspace: Workspace, project: Project, silver: int, open_page: Open
) -> None:
    ids = silver_pages.silver_page(workspace, silver, SilverFilter())["id"]
    reviews.review_silver_pair(workspace, int(ids[2]), status="accepted", actor="Ben")
    page = open_page("silver", project=project.id)
    page.selectbox(key=filter_key(silver, "edited_by")).set_value("Ben").run()
    assert [row["status"] for row in table(page)] == ["accepted"]


def test_a_student_is_asked_for_its_scores_and_then_held_against_the_labeler(
    workspace: Workspace, open_page: Open
) -> None:
    project = lab_project(workspace)
    silver = scored_set(workspace, project, np.linspace(0.1, 0.85, 6))
    run_id = student(workspace, project)
    page = open_page("silver", project=project.id)
    assert "Largest disagreement" not in page.selectbox(key=f"silver-sort-{silver}").options
    button(page, "Score these pairs with a student").click().run()
    [(step, options)] = queued(workspace, project)
    assert step == "student-scores"
    assert json.loads(options)["silver_set_id"] == silver
    assert json.loads(options)["model"] == f"run:{run_id}"

    scores = np.array([0.1, 0.1, 0.1, 0.1, 0.1, 0.9])
    silver_student.save_scores(workspace, silver, f"run:{run_id}", run_id, scores)
    page = open_page("silver", project=project.id)
    page.selectbox(key=f"silver-sort-{silver}").set_value("Largest disagreement").run()
    shown = table(page)
    apart = [abs(row["labeler"] - row["student"]) for row in shown]
    assert apart == sorted(apart, reverse=True)
    page.number_input(key=filter_key(silver, "min_disagreement")).set_value(1.0).run()
    assert len(table(page)) == sum(gap >= 1.0 for gap in apart) < 6


def test_orders_by_what_is_not_known_are_not_offered() -> None:
    few = sorts_of(has_ranks=False, known=(), has_student=False)
    assert "Sampler rank" not in few
    assert "Largest order gap" not in few
    assert sorts_of(True, ("order_gap", "label_spread"), True) == list(silver_pages.SORTS)


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        (SilverFilter(), "all pairs"),
        (SilverFilter(low=0.5), "scores 2.50 to 5.00"),
        (
            SilverFilter(statuses=("unreviewed", "flagged"), text=" dog ", max_rank=3),
            "unreviewed or flagged, ranks up to 3, with “dog”",
        ),
        (
            SilverFilter(min_words=4, max_words=9, min_overlap=0.2, min_gap=0.1, edited_by="Ben"),
            "words 4 to 9, word overlap from 0.2, order gap from 0.5, decided by Ben",
        ),
        (SilverFilter(min_disagreement=0.4), "labeler and student apart from 2"),
    ],
)
def test_a_filter_in_words(chosen: SilverFilter, words: str) -> None:
    assert filter_words(chosen, STS) == words


# Many at once


def open_bulk(page: Any, set_id: int, action: str) -> Any:
    page.session_state[f"silver-bulk-{set_id}"] = True
    page.run()
    page.session_state[f"silver-bulk-{set_id}"] = True
    page.button_group(key=f"silver-bulk-action-{set_id}").set_value(action).run()
    assert not page.exception
    return page


def confirm(page: Any, set_id: int) -> Any:
    page.session_state[f"silver-bulk-{set_id}"] = True
    [box] = [box for box in page.checkbox if box.label.startswith("I mean")]
    box.check().run()
    page.session_state[f"silver-bulk-{set_id}"] = True
    page.button(key=f"silver-bulk-go-{set_id}").click().run()
    assert not page.exception
    return page


def test_all_pairs_of_a_filter_are_rejected_after_their_number_was_confirmed_and_come_back(
    workspace: Workspace, project: Project, silver: int, open_page: Open
) -> None:
    page = open_page("silver", project=project.id, annotator="ada")
    page.slider(key=range_key(silver)).set_range(2.5, 5.0).run()
    open_bulk(page, silver, "reject")
    assert "**3 pairs** · scores 2" in shown_text(page).replace("\\", "")
    assert page.button(key=f"silver-bulk-go-{silver}").disabled
    confirm(page, silver)
    assert statuses(workspace, silver) == ["rejected"] * 3 + ["unreviewed"] * 3
    [row] = edits.edit_log(workspace, edits.Scope.silver(silver))
    assert (row.summary, row.n_changes) == ("Rejected: scores 2.50 to 5.00", 3)

    button(page, "Undo").click().run()
    assert statuses(workspace, silver) == ["unreviewed"] * 6
    button(page, "Redo").click().run()
    assert statuses(workspace, silver) == ["rejected"] * 3 + ["unreviewed"] * 3


def test_scores_are_rescaled_on_the_scale_of_the_project(
    workspace: Workspace, project: Project, silver: int, open_page: Open
) -> None:
    page = open_page("silver", project=project.id, annotator="ada")
    open_bulk(page, silver, "rescale")
    page.session_state[f"silver-bulk-{silver}"] = True
    page.number_input(key=f"silver-bulk-low-{silver}").set_value(1.0).run()
    confirm(page, silver)
    assert stored(workspace, silver)[0] == (pytest.approx(0.2 + 0.8 * 0.85), "corrected")
    assert stored(workspace, silver)[-1] == (pytest.approx(0.2 + 0.8 * 0.1), "corrected")


def test_other_pairs_than_the_confirmed_ones_are_not_touched(
    workspace: Workspace, silver: int
) -> None:
    told: list[str] = []
    chosen = SilverFilter(statuses=("unreviewed",))
    counted = silver_pages.filtered_ids(workspace, silver, chosen)

    def reject() -> None:
        silver_bulk.do_all(
            workspace, silver, chosen, STS, "reject", counted, None, "ada", told.append
        )

    first, second = counted[:2].tolist()
    reviews.review_silver_pair(workspace, first, status="accepted", actor="ben")
    reject()
    assert "The filter has 5 pairs, not 6 by now" in told[-1]
    # As many as were confirmed, but not the same ones.
    counted = counted[counted != first]
    reviews.review_silver_pair(workspace, second, status="accepted", actor="ben")
    reviews.review_silver_pair(workspace, first, status="unreviewed", actor="ben")
    reject()
    assert "The filter has others by now" in told[-1]
    assert all(isinstance(text, notices.Refused) for text in told)
    assert statuses(workspace, silver).count("rejected") == 0


def test_an_edit_that_someone_has_overwritten_is_taken_back_only_as_far_as_it_stands(
    workspace: Workspace, project: Project, silver: int, open_page: Open
) -> None:
    ids = silver_pages.filtered_ids(workspace, silver, SilverFilter())
    reviews.review_many(
        workspace, silver, ids, status="rejected", actor="ada", summary="Rejected all"
    )
    reviews.review_silver_pair(workspace, int(ids[0]), status="accepted", actor="Ben")
    page = open_page("silver", project=project.id, annotator="ada")
    button(page, "Undo").click().run()
    assert "Ben has changed 1 of the 6 pairs of this edit since" in shown_text(page).replace(
        "\\", ""
    )
    assert statuses(workspace, silver).count("rejected") == 5, "nothing was changed"
    button(page, "Undo the other pairs").click().run()
    assert sorted(statuses(workspace, silver)) == ["accepted"] + ["unreviewed"] * 5
    assert "edits-take-rest" not in [one.key for one in page.button]


# The log


def test_the_log_says_who_did_what_and_what_was_undone(
    workspace: Workspace, project: Project, silver: int, open_page: Open
) -> None:
    ids = silver_pages.filtered_ids(workspace, silver, SilverFilter())
    scope = edits.Scope.silver(silver)
    reviews.review_silver_pair(workspace, int(ids[0]), status="flagged", actor="Ben")
    reviews.review_many(
        workspace, silver, ids[:4], status="rejected", actor="ada", summary="Rejected 4 pairs"
    )
    edits.undo(workspace, scope, "ada")
    page = open_page("silver", project=project.id, annotator="ada")
    page.session_state[f"silver-{silver}-log"] = True
    page.run()
    log = page.dataframe[-1].value
    assert log["Who"].tolist() == ["ada", "ada", "Ben"]
    assert log["What"].tolist() == ["Undo · Rejected 4 pairs", "Rejected 4 pairs", "flagged"]
    assert log["Pairs"].tolist() == [4, 4, 1]
    assert log["Taken back"].tolist() == ["", "undone", ""]
    pair = silver_pages.silver_detail(workspace, int(ids[0]))
    assert log["New score"].tolist() == ["", "", f"{5 * pair.score:.2f}"]
    assert log["Sentence 1"].tolist() == ["4 pairs", "4 pairs", pair.sentence1]
    assert log["Sentence 2"].tolist() == ["", "", pair.sentence2]
    page.session_state[f"silver-{silver}-log"] = True
    page.selectbox(key=f"silver-{silver}-log-actor").set_value("Ben").run()
    assert page.dataframe[-1].value["Who"].tolist() == ["Ben"]


def test_eleven_levels_on_a_scale_of_the_projects_own(
    workspace: Workspace, open_page: Open
) -> None:
    project = lab_project(workspace, scale=(1.0, 2.0))
    set_id = scored_set(workspace, project, np.linspace(0.1, 0.9, 9))
    page = one_by_one(open_page, project, set_id)
    press(page, "level-1.3")
    assert stored(workspace, set_id)[0] == (0.3, "corrected")
