"""Likely label errors on the Gold page: start the search, fix with one key, keep, take back, move."""

import json
from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from augsbert_core.options import ImportOptions, LabelErrorsOptions
from augsbert_core.pairs import ScoreRange
from augsbert_core.scales import RESERVED_KEYS
from augsbert_core.steps.import_data import import_file
from augsbert_core.storage import gold_edits, out_of_fold, projects, queue, runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project
from augsbert_core.ui.label_errors import fixing_levels
from tests.pages.conftest import add_job, words_on

OpenPage = Callable[..., AppTest]


@pytest.fixture
def searched(workspace: Workspace) -> Project:
    """Twenty-six gold pairs, of which the search found the one scored 0, the one scored 5, and few others."""
    made = projects.create_project(workspace, "Searched")
    rows = [f"sentence {i} *b*,sentence {i} <i>again</i>,{i % 6},train" for i in range(24)]
    rows += ["a test,one more test,0,test", "a dev,one more dev,1,dev"]
    csv = "sentence1,sentence2,score,split\n" + "\n".join(rows)
    import_file(workspace, made.id, csv.encode(), "g.csv", ImportOptions(score_range=(0.0, 5.0)))
    job = add_job(workspace, made, "label-errors", LabelErrorsOptions(folds=2))
    gold = out_of_fold.gold_rows(workspace, made.id)
    scores = gold.scores.copy()
    scores[0], scores[5] = 0.97, 0.03  # scored 0 and 5
    scores[24] = 0.9
    folds = np.where(np.arange(26) < 24, np.arange(26) % 2 + 1, 0)
    out_of_fold.save_scores(workspace, job.run_id, gold.ids, folds, gold.scores, scores)
    runs.update_run(
        workspace,
        job.run_id,
        metrics={"folds": 2, "n_scored": 26, "spearman": 0.8, "notices": ["One *notice*."]},
    )
    return projects.get_project(workspace, made.id)


def open_tab(open_page: OpenPage, project: Project, **query: object) -> AppTest:
    app = open_page("gold", project=project.id, **query)
    app.session_state["gold-tab"] = "Label errors"
    app.run()
    assert not app.exception
    return app


def raw_scores(workspace: Workspace, project: Project) -> list[float]:
    rows = out_of_fold.gold_rows(workspace, project.id)
    now = out_of_fold.present_scores(workspace, rows.ids.tolist())
    return [now[number][0] for number in rows.ids.tolist()]


def html(app: AppTest) -> str:
    return "\n".join(str(element.proto.body) for element in app.get("html"))


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception
    return app


def test_the_most_doubtful_pair_comes_first_with_both_scores(
    open_page: OpenPage, searched: Project
) -> None:
    app = open_tab(open_page, searched)
    words = words_on(app)
    assert "26 of the 26 most doubtful pairs" in words
    assert "**1.** Gold" in words
    assert "One \\*notice\\*\\." in words
    shown = html(app)
    assert "&lt;i&gt;again&lt;/i&gt;" in shown
    assert "<i>again" not in shown
    table = app.dataframe[0].value
    assert len(table) == 10
    assert table["Apart"].is_monotonic_decreasing
    assert set(table["Gold"][:3]) >= {0.0, 5.0}


def test_a_key_sets_a_new_gold_score_and_brings_the_next_pair(
    open_page: OpenPage, workspace: Workspace, searched: Project
) -> None:
    app = open_tab(open_page, searched, annotator="Ada")
    first = app.dataframe[0].value.iloc[0]
    place = raw_scores(workspace, searched)
    press(app, "fix-4")  # on this scale, the key 4 is the score 4
    now = raw_scores(workspace, searched)
    changed = [(before, after) for before, after in zip(place, now, strict=True) if before != after]
    assert changed == [(first["Gold"], 4.0)]
    assert "25 of the 26" in words_on(app)
    assert "**2.** Gold" in words_on(app)
    assert app.dataframe[0].value["Looked at"].tolist()[:2] == ["✓", ""]

    press(app, "fix-keep")
    assert raw_scores(workspace, searched) == now
    assert "24 of the 26" in words_on(app)

    press(app, "undo-edit")
    press(app, "undo-edit")
    assert raw_scores(workspace, searched) == place
    assert "26 of the 26" in words_on(app)
    assert gold_edits.looked_at(workspace, searched.id, "2000") == set()


def test_arrows_move_and_the_table_follows(open_page: OpenPage, searched: Project) -> None:
    app = open_tab(open_page, searched)
    press(app, "fix-next")
    assert "**2.** Gold" in words_on(app)
    press(app, "fix-back")
    press(app, "fix-back")
    assert "**1.** Gold" in words_on(app)
    for _ in range(10):
        press(app, "fix-next")
    assert "**11.** Gold" in words_on(app)
    assert app.dataframe[0].value["Rank"].iloc[0] == 11


def test_a_score_that_changed_in_another_window_is_not_overwritten(
    open_page: OpenPage, workspace: Workspace, searched: Project
) -> None:
    app = open_tab(open_page, searched)
    other = open_tab(open_page, searched)
    press(other, "fix-3")
    before = raw_scores(workspace, searched)
    press(app, "fix-4")
    assert raw_scores(workspace, searched) == before
    assert "changed in another window" in words_on(app)


def test_a_pair_of_test_is_marked(open_page: OpenPage, searched: Project) -> None:
    app = open_tab(open_page, searched)
    splits = app.dataframe[0].value["Split"].tolist()
    for _ in range(splits.index("test")):
        press(app, "fix-next")
    assert "A test pair" in words_on(app)


def test_the_form_starts_a_job_with_what_was_told(
    open_page: OpenPage, workspace: Workspace, searched: Project
) -> None:
    app = open_tab(open_page, searched)
    app.number_input(key=f"label-errors-{searched.id}-folds").set_value(3)
    start = next(button for button in app.button if button.label == "Start the search")
    start.click().run()
    assert not app.exception
    job = queue.list_jobs(workspace, searched.id)[0]
    assert (job.step, job.state) == ("label-errors", "queued")
    told = json.loads(runs.get_run(workspace, job.run_id).options)
    assert told["folds"] == 3


def test_few_pairs_are_warned_of_and_fewer_still_refused(
    open_page: OpenPage, searched: Project, project: Project
) -> None:
    assert "With 24 training pairs the models are weak" in words_on(open_tab(open_page, searched))
    assert "needs 10 gold training pairs or more" in words_on(open_tab(open_page, project))


def test_when_the_pairs_are_gone_the_panel_says_so(
    open_page: OpenPage, workspace: Workspace, searched: Project
) -> None:
    from augsbert_core.storage.database import writing

    with writing(workspace) as db:
        db.execute("UPDATE gold_pair SET id = id + 1000")
    assert "The gold pairs of the last search are gone" in words_on(open_tab(open_page, searched))


@pytest.mark.parametrize(
    ("task", "low", "high", "labels"),
    [
        ("regression", 0.0, 5.0, ["0", "0.5", "5"]),
        ("regression", 1.0, 4.0, ["1", "1.3", "4"]),
        ("classification", 0.0, 1.0, ["no", "yes", "yes"]),
    ],
)
def test_keys_are_those_of_the_scale_of_the_project(
    searched: Project, task: str, low: float, high: float, labels: list[str]
) -> None:
    from dataclasses import replace

    levels = fixing_levels(replace(searched, task=task, score_low=low, score_high=high))
    assert [levels[0][1], levels[1][1], levels[-1][1]] == labels
    assert (levels[0][2], levels[-1][2]) == (low, high)
    assert all(level.key not in RESERVED_KEYS | {"k"} for level, _, _ in levels)
    assert ScoreRange(low, high).to_unit(levels[1][2]) == pytest.approx(levels[1][0].score)
