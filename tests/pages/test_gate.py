"""The labeler gate on a page: verdict, table, and its two buttons."""

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from augsbert_core.options import BatchOptions, GateOptions
from augsbert_core.storage import gold
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project
from tests.pages.seeding import button, finished_run, labeler, queued, shown_text


def panel_page() -> None:
    from augsbert_core import ui
    from augsbert_core.ui.gate_panel import gate_panel

    bench = ui.open_bench()
    gate_panel(bench, ui.need_project(bench))


@pytest.fixture
def open_panel(project: Project) -> Any:
    def open_panel() -> AppTest:
        page = AppTest.from_function(panel_page, default_timeout=60)
        page.query_params["project"] = str(project.id)
        page.run()
        assert not page.exception
        return page

    return open_panel


def judged(workspace: Workspace, project: Project, verdict: str, data_hash: str = "") -> int:
    """A gate that has judged run 3."""
    pairs = gold.scored_pairs(workspace, project.id, "dev")
    sentence = f"This labeler (run 3) is {verdict} than the gold-only student on dev."
    row = {
        "labeler": "run:3", "value": 0.81, "low": 0.7, "high": 0.9,
        "difference": 0.021, "difference_low": 0.004, "difference_high": 0.04,
    }  # fmt: skip
    return finished_run(
        workspace,
        project,
        "gate",
        GateOptions(),
        split="dev",
        metric="spearman",
        n_pairs=len(pairs),
        data_hash=data_hash or gold.data_hash(pairs),
        rows=[row],
        student={"target": "run:2", "value": 0.79, "low": 0.6, "high": 0.9},
        untrained={"target": "model:org/base@layers=2", "value": None},
        recommended="run:3",
        verdict=verdict,
        sentence=sentence,
        notes=["Checkpoints were chosen on dev, so dev scores flatter all trained models."],
    )


def test_before_the_first_check_the_panel_says_what_the_gate_is_for(
    workspace: Workspace, open_panel: Any
) -> None:
    page = open_panel()
    assert "before a label is made" in shown_text(page)
    assert button(page, "Check the labelers").disabled
    assert not page.dataframe


def test_a_check_is_queued(workspace: Workspace, project: Project, open_panel: Any) -> None:
    labeler(workspace, project)
    page = open_panel()
    button(page, "Check the labelers").click().run()
    [(step, told)] = queued(workspace, project)
    assert (step, json.loads(told)["split"]) == ("gate", "dev")


@pytest.mark.parametrize(
    ("verdict", "colour"), [("better", "success"), ("not better", "error"), ("unclear", "info")]
)
def test_the_verdict_is_coloured_and_its_figures_are_beside_it(
    workspace: Workspace, project: Project, open_panel: Any, verdict: str, colour: str
) -> None:
    judged(workspace, project, verdict)
    page = open_panel()
    [shown] = getattr(page, colour)
    assert f"is {verdict} than the gold" in shown.value
    table = page.dataframe[0].value
    assert table["scorer"].tolist() == [
        "run 3",
        "Gold-only student (run 2)",
        "Untrained (base, 2 layers)",
    ]
    assert table["value"].tolist() == ["81.0", "79.0", "undefined"]
    assert table["apart"].tolist() == ["+0.4 to +4.0", "", ""]
    assert "dev scores flatter" in shown_text(page).replace("\\", "")


def test_a_verdict_on_other_gold_is_not_shown(
    workspace: Workspace, project: Project, open_panel: Any
) -> None:
    judged(workspace, project, "better", data_hash="of other pairs")
    page = open_panel()
    assert not page.success
    assert not page.dataframe


def test_the_trial_is_one_job_and_its_outcome_is_shown(
    workspace: Workspace, project: Project, open_panel: Any
) -> None:
    page = open_panel()
    button(page, "Will silver help on my data?").click().run()
    [(step, told)] = queued(workspace, project)
    assert (step, json.loads(told)["kind"]) == ("batch", "will-silver-help")

    outcome = {
        "helps": True,
        "sentence": "Silver helped by 2.0 points.",
        "n_silver": 1000,
        "estimate_sentence": "A full run takes about 20 min.",
    }
    finished_run(
        workspace, project, "batch", BatchOptions(kind="will-silver-help"), outcome=outcome
    )
    page = open_panel()
    assert "Trial of 1,000 silver pairs" in page.success[0].value
    assert "about 20 min" in shown_text(page)


def test_only_trials_among_the_batches_are_shown(
    workspace: Workspace, project: Project, open_panel: Any
) -> None:
    finished_run(workspace, project, "batch", BatchOptions(kind="multi-run"), state="cancelled")
    assert not [found for found in open_panel().button if found.label == "Resume"]
    trial = BatchOptions(kind="will-silver-help")
    finished_run(workspace, project, "batch", trial, state="cancelled")
    finished_run(workspace, project, "batch", BatchOptions(kind="multi-run"))
    assert len([found for found in open_panel().button if found.label == "Resume"]) == 1
