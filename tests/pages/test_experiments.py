"""Experiments: plan several runs, see what they cost, start them, read what came out."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from augsbert_core import charts
from augsbert_core.options import BatchOptions, BiEncoderOptions, ImportOptions, from_json
from augsbert_core.steps.batch_summary import summary
from augsbert_core.steps.import_data import import_file
from augsbert_core.steps.plans import learning_curve, multi_run
from augsbert_core.storage import batches, projects, queue, runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project, Run
from augsbert_core.ui.experiment_results import curve_points, groups_frame
from tests.pages.conftest import Loop, add_job, words_on

OpenPage = Callable[..., AppTest]
KINDS = ("multi-run", "sweep", "will-silver-help", "learning-curve", "domain-adaptation")


def queued_batches(workspace: Workspace, project: Project) -> list[BatchOptions]:
    found = [job for job in queue.list_jobs(workspace, project.id) if job.step == "batch"]
    return [from_json(BatchOptions, runs.get_run(workspace, job.run_id).options) for job in found]


def start(app: AppTest) -> AppTest:
    button = next(one for one in app.button if one.label == "Start")
    assert not button.disabled
    return button.click().run()


def finished_batch(workspace: Workspace, project: Project, plan: BatchOptions) -> Run:
    """A batch whose trainings are done, with made-up scores that grow from run to run."""
    job = add_job(workspace, project, "batch", plan, name="Several seeds: made up")
    for number, planned in enumerate(plan.runs):
        told = json.loads(planned.options)
        child, _ = batches.open_child(
            workspace, job.run_id, planned.key, project_id=project.id, step=planned.step,
            name=planned.key, options=planned.options, seed=told["seed"], device="cpu", versions={},
        )  # fmt: skip
        facts = {"dev_score": 0.7 + number / 100, "metric": "spearman", "seconds": 60.0}
        facts |= {"n_gold": told["gold_limit"] or 5}
        batches.close_child(workspace, child.id, "done", facts)
        runs.add_metrics(workspace, child.id, [("loss", step, 1 / step) for step in range(1, 4)])
    told = summary(workspace, job.run_id, plan)
    runs.update_run(workspace, job.run_id, metrics={"summary": told, "n_runs": len(plan.runs)})
    return runs.get_run(workspace, job.run_id)


def test_without_gold_the_page_says_what_is_missing(
    open_page: OpenPage, workspace: Workspace
) -> None:
    projects.create_project(workspace, "Empty")
    app = open_page("experiments")
    assert not app.exception
    assert "no gold pairs" in words_on(app)


@pytest.mark.parametrize("kind", KINDS)
def test_every_experiment_can_be_started_with_its_defaults(
    open_page: OpenPage, workspace: Workspace, loop: Loop, kind: str
) -> None:
    (workspace.home / "models" / "none").mkdir(parents=True, exist_ok=True)
    runs.update_run(workspace, loop.cross_encoder_run, model_path="models/none")
    if kind == "domain-adaptation":
        made = projects.create_project(workspace, "Other")
        sentences = b"It snows today.\nSnow falls on the town.\nA cook makes soup.\n"
        told = ImportOptions(kind="sentences")
        import_file(workspace, made.id, sentences, "domain.txt", told)
    app = open_page("experiments", project=loop.project.id)
    app.segmented_control(key="experiment-kind").set_value(kind).run()
    if kind == "domain-adaptation":
        other = projects.project_named(workspace, "Other")
        app.selectbox(key=f"experiments-{loop.project.id}-source").set_value(loop.project.id)
        app.selectbox(key=f"experiments-{loop.project.id}-target").set_value(other.id).run()
    assert not app.exception
    assert not app.error, [one.value for one in app.error]
    app = start(app)
    assert not app.exception
    owner = projects.project_named(workspace, "Other") if "domain" in kind else loop.project
    (plan,) = queued_batches(workspace, owner)
    assert plan.kind == kind
    assert plan.runs


def test_the_recipe_is_that_of_the_newest_bi_encoder(
    open_page: OpenPage, workspace: Workspace, loop: Loop
) -> None:
    recipe = replace(BiEncoderOptions(layers=3), epochs=7)
    add_job(workspace, loop.project, "train-bi-encoder", recipe)
    start(open_page("experiments", project=loop.project.id))
    (plan,) = queued_batches(workspace, loop.project)
    students = [json.loads(run.options) for run in plan.runs if run.key.startswith("student")]
    assert [(told["layers"], told["epochs"], told["seed"]) for told in students] == [
        (3, 7, 42), (3, 7, 43), (3, 7, 44)
    ]  # fmt: skip


def test_a_value_that_is_none_is_named(open_page: OpenPage, loop: Loop) -> None:
    app = open_page("experiments", project=loop.project.id)
    app.segmented_control(key="experiment-kind").set_value("sweep").run()
    app.text_input(key=f"experiments-{loop.project.id}-sizes-top-k").set_value("16, many").run()
    assert "'many' is no number" in app.error[0].value.replace("\\", "")
    assert next(one for one in app.button if one.label == "Start").disabled


def test_results_are_means_with_deviations(
    open_page: OpenPage, workspace: Workspace, project: Project
) -> None:
    plan = multi_run(BiEncoderOptions(), num_runs=2, split="")
    run = finished_batch(workspace, project, plan)
    frame = groups_frame(run.metrics["summary"])
    assert frame[["Model", "Seeds", "Dev"]].to_numpy().tolist() == [["Gold-only", 2, "70.5 ± 0.7"]]
    app = open_page("experiments", project=project.id)
    assert not app.exception
    assert any("70.5 ± 0.7" in str(table.value.to_numpy()) for table in app.dataframe)


def test_a_learning_curve_has_one_line_per_way_of_training() -> None:
    groups = [
        {"group": f"{series} · {n} gold", "n": 2, "n_gold": n, "dev_score": score, "dev_score_sd": sd}
        for series, n, score, sd in (
            ("AugSBERT", 20, 0.6, 0.01), ("AugSBERT", 100, 0.7, 0.02), ("Gold-only", 20, 0.5, None)
        )
    ]  # fmt: skip
    points = curve_points({"groups": groups, "rows": []}, "dev_score")
    assert points["high"].tolist()[:2] == pytest.approx([0.61, 0.72])
    figure = charts.learning_curve_figure(points, "Spearman × 100 on dev")
    assert [trace.name for trace in figure.data] == ["AugSBERT", "Gold-only"]
    assert list(figure.data[0].x) == [20, 100]
    assert list(figure.data[0].y) == pytest.approx([60, 70])


def test_the_jobs_page_lists_the_runs_of_a_batch(
    open_page: OpenPage, workspace: Workspace, project: Project
) -> None:
    plan = learning_curve(BiEncoderOptions(), 5, fractions=[0.4, 1], split="")
    finished_batch(workspace, project, plan)
    app = open_page("jobs")
    assert not app.exception
    children = app.dataframe[1].value
    assert children["What"].tolist() == ["Gold-only · 2 gold", "Gold-only · 5 gold"]
    assert children["State"].tolist() == ["✓ Done", "✓ Done"]
    assert children["Dev"].tolist() == pytest.approx([70, 71])
    assert children["Time"].tolist() == ["1 min 00 s", "1 min 00 s"]
