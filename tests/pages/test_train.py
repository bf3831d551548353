"""The Train page: the student's recipe, its data, and the twin that keeps the comparison fair."""

import json
import sys
import types
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import BUNDLED_MODEL, BiEncoderOptions, SeedStudyOptions, Stage
from augsbert_core.steps.recipes import PRESETS, to_toml
from augsbert_core.storage import reviews, silver_pages
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.projects import create_project
from augsbert_core.storage.records import Project, Run
from augsbert_core.ui.stage_editor import frame_of, stages_of_frame
from tests.pages.seeding import (
    button,
    finished_run,
    metric,
    open_page,
    queued,
    shown_text,
    silver_set,
    student,
)
from tests.test_nli_import import NLI, bring_in


@pytest.fixture(autouse=True)
def exported(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The runs that the export panel was asked to show, in place of the panel itself."""
    shown: list[int] = []
    panel = types.ModuleType("augsbert_core.ui.export_panel")

    def export_panel(bench: Any, run: Run) -> None:
        shown.append(run.id)

    panel.export_panel = export_panel  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, panel.__name__, panel)
    return shown


def put(page: AppTest, name: str, project: Project, value: Any) -> None:
    """Put a value into the input of an option, without drawing the page anew."""
    for kind in (page.selectbox, page.number_input, page.checkbox, page.toggle):
        for found in kind:
            if found.key == f"train-{project.id}-{name}":
                found.set_value(value)
                return
    raise AssertionError(f"there is no input for {name}")


def choose(page: AppTest, name: str, project: Project, value: Any) -> AppTest:
    """Set an input of the page by the name of its option."""
    put(page, name, project, value)
    return page.run()


def told(workspace: Workspace, project: Project) -> BiEncoderOptions:
    """The options of the newest job that waits."""
    from augsbert_core.options import from_json

    return from_json(BiEncoderOptions, queued(workspace, project)[-1][1])


def test_without_gold_pairs_the_page_points_to_the_import(workspace: Workspace) -> None:
    page = open_page("train", create_project(workspace, "New"))
    assert "no gold pairs to train on yet" in shown_text(page)
    assert not page.button


def test_gold_alone_can_be_trained_on_before_there_is_silver(
    workspace: Workspace, project: Project
) -> None:
    page = open_page("train", project)
    assert metric(page, "Pairs to train on") == "5"
    assert not [box for box in page.checkbox if "baseline" in box.label], "no silver, no twin"
    button(page, "Train").click().run()
    [(step, told)] = queued(workspace, project)
    assert step == "train-bi-encoder"
    assert json.loads(told)["silver_set_id"] is None
    assert json.loads(told)["base"] == BUNDLED_MODEL


def test_a_new_student_has_the_projects_number_of_layers(project: Project) -> None:
    page = open_page("train", project)
    assert page.number_input(key=f"train-{project.id}-layers").value == project.student_layers


def test_silver_comes_with_a_gold_only_twin_of_as_many_steps(
    workspace: Workspace, project: Project
) -> None:
    set_id = silver_set(workspace, project)
    page = open_page("train", project)
    page.number_input(key=f"train-{project.id}-batch_size").set_value(2)
    page.number_input(key=f"train-{project.id}-epochs").set_value(3).run()
    assert metric(page, "Optimiser steps") == "18"  # (5 gold + 6 silver) / 2, rounded up, × 3
    button(page, "Train both").click().run()

    augmented, twin = (json.loads(told) for _, told in queued(workspace, project))
    assert (augmented["silver_set_id"], augmented["max_steps"]) == (set_id, None)
    assert (twin["silver_set_id"], twin["max_steps"]) == (None, 18)
    assert twin["batch_size"] == augmented["batch_size"]


def test_a_twin_that_waits_already_is_not_trained_twice(
    workspace: Workspace, project: Project
) -> None:
    silver_set(workspace, project)
    page = open_page("train", project)
    button(page, "Train both").click().run()
    assert "exists or is at work already" in shown_text(page)
    button(page, "Train").click().run()
    assert len(queued(workspace, project)) == 2, "an equal job that waits is not queued twice"


def test_rejected_pairs_do_not_count(workspace: Workspace, project: Project) -> None:
    set_id = silver_set(workspace, project)
    pair = silver_pages.silver_page(workspace, set_id, silver_pages.SilverFilter())["id"][0]
    reviews.review_silver_pair(workspace, int(pair), status="rejected", actor="reviewer")
    page = open_page("train", project)
    assert metric(page, "Pairs to train on") == "10"


def test_incomplete_silver_sets_are_not_offered(workspace: Workspace, project: Project) -> None:
    silver_set(workspace, project, labelled=2)
    page = open_page("train", project)
    data = next(found for found in page.selectbox if found.label == "Training data")
    assert data.options == ["Gold pairs only"]
    assert "no complete silver set" in shown_text(page)


def test_trained_students_are_listed(
    workspace: Workspace, project: Project, exported: list[int]
) -> None:
    set_id = silver_set(workspace, project)
    plain, augmented = (
        student(workspace, project),
        student(workspace, project, silver_set_id=set_id),
    )
    page = open_page("train", project)
    table = next(frame.value for frame in page.dataframe if "Run" in frame.value)
    assert table["Run"].tolist() == [augmented, plain]
    assert table["Silver"].tolist() == [6, 0]
    assert table["Data"].tolist() == [f"gold + silver {set_id}", "gold only"]
    assert exported == [augmented], "the newest model is offered for export"


# --- recipes ---


def test_a_preset_fills_the_inputs_and_says_why(workspace: Workspace, project: Project) -> None:
    page = choose(open_page("train", project), "preset", project, "symmetric")
    assert "mostly adds volume" in shown_text(page)
    button(page, "Train").click().run()
    made = told(workspace, project)
    assert (made.symmetric, made.learning_rate, made.epochs) == (True, 1e-5, 2)
    assert (made.schedule, made.warmup_ratio, made.stages) == ("warmup", 0.1, ())


def test_a_preset_without_its_data_says_what_is_missing(
    workspace: Workspace, project: Project
) -> None:
    page = choose(open_page("train", project), "preset", project, "sts_nli")
    assert "trains on NLI pairs, and project" in shown_text(page)
    assert button(page, "Train").disabled
    assert not page.metric


def test_a_staged_preset_is_planned_stage_by_stage(workspace: Workspace, project: Project) -> None:
    bring_in(workspace, project, NLI, "nli")
    page = choose(open_page("train", project), "preset", project, "sts_nli")
    assert (
        metric(page, "Optimiser steps") == "5"
    )  # 4 NLI pairs in one batch, 5 gold pairs in one, 4 times
    assert "**1.** NLI pairs, softmax: 4 rows, 1 steps" in shown_text(page)
    button(page, "Train").click().run()
    assert told(workspace, project).stages == PRESETS["sts_nli"].stages

    page = choose(page, "preset", project, "sts")
    button(page, "Train").click().run()
    assert told(workspace, project).stages == (), "another preset takes the stages away"


def test_silver_can_come_first_or_alone(workspace: Workspace, project: Project) -> None:
    set_id = silver_set(workspace, project)
    page = choose(open_page("train", project), "preset", project, "silver_gold")
    assert "**2.** gold pairs, cosine: 5 rows" in shown_text(page)
    button(page, "Train both").click().run()
    first, twin = (json.loads(made) for _, made in queued(workspace, project))
    assert (first["mixing"], first["silver_set_id"]) == ("silver-first", set_id)
    assert (twin["mixing"], twin["silver_set_id"], twin["max_steps"]) == ("shuffled", None, 8)

    page.segmented_control(key=f"train-{project.id}-mix").set_value("silver-only").run()
    assert metric(page, "Pairs to train on") == "6"
    button(page, "Train both").click().run()
    alone = json.loads(queued(workspace, project)[2][1])
    assert (alone["use_gold"], alone["mixing"]) == (False, "shuffled")


def test_advanced_options_reach_the_job(workspace: Workspace, project: Project) -> None:
    page = open_page("train", project)
    opening = {"loss": "mnrl", "seeds": 4}
    wanted = {
        "scale": 30.0, "positive_from": 0.6, "negative_below": 0.2, "pooling": "cls",
        "patience": 3, "gold_repeats": 2, "gold_limit": 4, "seed_stop": 0.5,
        "weight_decay": 0.1, "warmup_ratio": 0.2, "checkpoint_seconds": 60.0, "max_steps": 9,
        "schedule": "warmup", "symmetric": True,
    }  # fmt: skip
    for asked in (opening, wanted):
        for name, value in asked.items():
            put(page, name, project, value)
        page.run()
    assert "4 seeds begin, one ends" in shown_text(page)
    button(page, "Train").click().run()
    made = told(workspace, project)
    wanted |= opening
    assert {name: getattr(made, name) for name in wanted} == wanted


def test_what_a_loss_cannot_do_is_said_before_training(
    workspace: Workspace, project: Project
) -> None:
    page = choose(open_page("train", project), "loss", project, "softmax")
    assert "cannot learn from gold" in shown_text(page)
    page = choose(page, "loss", project, "mnrl")
    page = choose(page, "positive_from", project, 1.0)
    assert "learns from positives" in shown_text(page)
    assert button(page, "Train").disabled


def test_with_early_stopping_no_twin_is_planned(workspace: Workspace, project: Project) -> None:
    silver_set(workspace, project)
    page = choose(open_page("train", project), "patience", project, 2)
    assert not [box for box in page.checkbox if "baseline" in box.label]
    assert "early stopping" in shown_text(page)


def test_a_recipe_as_text_fills_the_inputs(workspace: Workspace, project: Project) -> None:
    page = open_page("train", project)
    stages = (Stage("gold", "cosent", epochs=2, scale=10.0), Stage("gold", "cosine"))
    mine = BiEncoderOptions(layers=1, learning_rate=1.5e-5, stages=stages, seed=7)
    area = page.text_area[0]
    assert "base = " in area.value
    area.set_value(to_toml(mine))
    button(page, "Use this text").click().run()
    assert not page.exception
    button(page, "Train").click().run()
    assert told(workspace, project) == mine


def test_a_mistake_in_the_text_is_one_sentence_and_changes_nothing(
    workspace: Workspace, project: Project
) -> None:
    page = open_page("train", project)
    page.text_area[0].set_value('epochs = "many"')
    button(page, "Use this text").click().run()
    assert "is not a whole number" in page.error[0].value
    assert page.number_input(key=f"train-{project.id}-epochs").value == 4
    page.text_area[0].set_value('loss = "foo"')
    button(page, "Use this text").click().run()
    assert "is not known" in page.error[0].value
    page.text_area[0].set_value("silver_set_id = 9")
    button(page, "Use this text").click().run()
    assert "silver set 9" in page.error[0].value


def test_stages_begin_with_the_recipe_that_was_there(
    workspace: Workspace, project: Project
) -> None:
    silver_set(workspace, project)
    page = open_page("train", project)
    before = metric(page, "Pairs to train on"), metric(page, "Optimiser steps")
    page.toggle(key=f"train-{project.id}-staged").set_value(True).run()
    assert (metric(page, "Pairs to train on"), metric(page, "Optimiser steps")) == before


def test_stages_that_were_switched_off_do_not_come_back(
    workspace: Workspace, project: Project
) -> None:
    silver_set(workspace, project)
    page = open_page("train", project)
    toggle = f"train-{project.id}-staged"
    page.toggle(key=toggle).set_value(True).run()
    page.toggle(key=toggle).set_value(False).run()
    page.selectbox(key=f"train-{project.id}-data-1").set_value(0).run()
    before = metric(page, "Pairs to train on")
    page.toggle(key=toggle).set_value(True).run()
    assert metric(page, "Pairs to train on") == before


def test_the_table_of_stages_gives_back_what_it_shows() -> None:
    stages = PRESETS["sts_nli_mnrl_cosent"].stages
    frame = frame_of(stages)
    assert stages_of_frame(frame) == stages
    frame.loc[2, "Order"] = 0
    assert stages_of_frame(frame) == (stages[2], stages[0], stages[1])
    frame.loc[3] = {"Order": None, "Data": "triplets", "Loss": "triplet"}
    assert stages_of_frame(frame)[-1] == Stage("triplets", "triplet")
    frame.loc[4] = {"Data": "gold"}
    with pytest.raises(WorkbenchError, match="Stage 5 has no loss"):
        stages_of_frame(frame)


# --- seeds ---


def test_a_seed_study_takes_the_recipe_above(workspace: Workspace, project: Project) -> None:
    page = choose(open_page("train", project), "epochs", project, 2)
    button(page, "Study seeds").click().run()
    [(step, made)] = queued(workspace, project)
    assert step == "seed-study"
    assert json.loads(json.loads(made)["recipe"])["epochs"] == 2
    assert json.loads(made)["fractions"] == [0.1, 0.2, 0.3, 0.4, 0.6, 0.8]


def test_a_finished_study_is_drawn(workspace: Workspace, project: Project) -> None:
    lists = {name: [0.5, 1.0] for name in ("spearman", "kendall", "spearman_low", "kendall_low")}
    lists |= {name: [0.9, 1.0] for name in ("spearman_high", "kendall_high")}
    finished_run(
        workspace, project, "seed-study", SeedStudyOptions(), seeds=[1, 2, 3], fractions=[0.2, 1.0],
        dev=[[0.5, 0.6], [0.4, 0.7], [0.3, 0.5]], n_steps=10, seconds=30.0, regret=[0.1, 0.0], **lists,
    )  # fmt: skip
    page = open_page("train", project)
    table = next(frame.value for frame in page.dataframe if "Lost" in frame.value)
    assert table["Share of steps"].tolist() == ["20%", "100%"]
    assert table["Lost"].tolist() == [10.0, 0.0]
    assert "3 seeds, 10 steps each" in shown_text(page)
