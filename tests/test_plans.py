"""Plans: what runs, in which order, told what. And what the summary makes of them."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from augsbert_core import jobs
from augsbert_core.errors import WorkbenchError
from augsbert_core.options import (
    BatchOptions,
    BiEncoderOptions,
    CrossEncoderOptions,
    SampleOptions,
    from_json,
    to_json,
)
from augsbert_core.steps.batch import check_batch
from augsbert_core.steps.batch_summary import mean_and_deviation, summary, summary_csv
from augsbert_core.steps.outcome import outcome_sentence
from augsbert_core.steps.plans import (
    GRIDS,
    domain_adaptation,
    learning_curve,
    multi_run,
    sweep,
    will_silver_help,
)
from augsbert_core.steps.plans.estimate import estimated_seconds
from augsbert_core.steps.plans.recipes import newest_recipe, student_runs
from augsbert_core.storage import batches, projects, runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project
from tests.pages.seeding import finished_run, labeler, measure
from tests.tiny import tiny_bert

BI = BiEncoderOptions(layers=2, max_steps=None, seed=42)


def keys(plan: BatchOptions) -> list[str]:
    return [run.key for run in plan.runs]


def told(plan: BatchOptions, key: str) -> dict[str, Any]:
    return json.loads(next(run.options for run in plan.runs if run.key == key))


def test_several_seeds_reseed_labeler_and_student_and_sample_once() -> None:
    plan = multi_run(
        BI, cross=CrossEncoderOptions(), candidates=SampleOptions(), num_runs=2, seed_step=10
    )
    assert keys(plan) == [
        "candidates",
        *("labeler-42", "silver-42", "student-42", "gold-42", "measured-42"),
        *("labeler-52", "silver-52", "student-52", "gold-52", "measured-52"),
    ]
    assert told(plan, "labeler-52")["seed"] == told(plan, "student-52")["seed"] == 52
    assert told(plan, "silver-52")["labeler"] == "run:{labeler-52.run_id}"
    assert told(plan, "student-52")["silver_set_id"] == "{silver-52.silver_set_id}"
    assert told(plan, "gold-52")["max_steps"] == "{student-52.n_steps}"
    assert told(plan, "gold-52")["silver_set_id"] is None
    assert "run:{student-52.run_id}" in told(plan, "measured-52")["targets"]
    assert from_json(BatchOptions, to_json(plan)) == plan


def test_a_given_labeler_labels_once_and_the_plan_says_what_its_spread_lacks() -> None:
    plan = multi_run(BI, candidates=3, labeler="run:9", num_runs=2, gold_only=False, split="")
    assert keys(plan) == ["silver", "student-42", "student-43"]
    assert (told(plan, "silver")["candidate_set_id"], told(plan, "silver")["labeler"]) == (
        3,
        "run:9",
    )
    assert "not the labeler's" in plan.notes[0]
    with pytest.raises(WorkbenchError, match="No labeler"):
        multi_run(BI, candidates=3)


def test_gold_alone_over_seeds_has_no_twin() -> None:
    assert keys(multi_run(BI, num_runs=2, split="")) == ["student-42", "student-43"]


def test_a_sweep_tries_every_combination_and_labels_each_top_k_once() -> None:
    plan = sweep(BI, learning_rates=[1e-5, 1.5e-5], top_ks=[3, 5], labeler="run:9")
    assert keys(plan)[:4] == ["candidates-3", "silver-3", "candidates-5", "silver-5"]
    assert [run.group for run in plan.runs[4:]] == [
        "rate 1e-5, batch 16, top-3",
        "rate 1e-5, batch 16, top-5",
        "rate 1.5e-5, batch 16, top-3",
        "rate 1.5e-5, batch 16, top-5",
    ]
    assert told(plan, "silver-5")["candidate_set_id"] == "{candidates-5.candidate_set_id}"
    assert told(plan, plan.runs[-1].key)["silver_set_id"] == "{silver-5.silver_set_id}"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "needs values"),
        ({"learning_rates": [0.0]}, "0 is no learning rate"),
        ({"batch_sizes": [0]}, "0 is no batch size"),
        ({"top_ks": [3]}, "needs a labeler"),
        ({"batch_sizes": range(1, 42), "num_runs": 5}, "205 runs; 200 are the most"),
    ],
)
def test_a_sweep_that_makes_no_sense_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(WorkbenchError, match=message):
        sweep(BI, **values)


def test_every_grid_says_where_its_values_come_from() -> None:
    assert GRIDS["top-k"].top_ks == (3, 5, 7, 9, 12, 18)
    assert all(grid.source for grid in GRIDS.values())


def test_a_learning_curve_limits_gold_for_labeler_student_and_twin_alike() -> None:
    plan = learning_curve(
        BI, 200, fractions=[0.5, 0.1], cross=CrossEncoderOptions(), candidates=7, split=""
    )
    assert keys(plan) == [
        *("labeler-20-42", "silver-20-42", "student-20-42", "gold-20-42"),
        *("labeler-100-42", "silver-100-42", "student-100-42", "gold-100-42"),
    ]
    assert {told(plan, key)["gold_limit"] for key in keys(plan)[4:] if "silver" not in key} == {100}
    assert plan.runs[0].group == "Cross-encoder · 20 gold"
    fixed = learning_curve(BiEncoderOptions(silver_set_id=4), 200, split="")
    assert "flatters at the small sizes" in fixed.notes[0]
    with pytest.raises(WorkbenchError, match=r"1\.5 is no fraction"):
        learning_curve(BI, 200, fractions=[1.5])


def test_the_trial_takes_the_newest_labeler_and_leaves_the_test_split_alone(
    workspace: Workspace, project: Project
) -> None:
    untrained = will_silver_help(workspace, project, n_silver=50)
    assert keys(untrained)[0] == "labeler"
    run_id = labeler(workspace, project)
    plan = will_silver_help(workspace, project, n_silver=50)
    assert keys(plan) == [
        "gate", "candidates", "drawn", "silver", "student", "gold", "measured"
    ]  # fmt: skip
    assert told(plan, "silver")["labeler"] == f"run:{run_id}"
    assert told(plan, "silver")["candidate_set_id"] == "{drawn.candidate_set_id}"
    assert told(plan, "measured")["split"] == "dev"
    (workspace.models / "none").mkdir(exist_ok=True)
    check_batch(workspace, project, plan)
    with pytest.raises(WorkbenchError, match="no gold training pairs"):
        will_silver_help(workspace, projects.create_project(workspace, "Empty"))


def test_domain_adaptation_trains_on_silver_alone_between_two_bounds(
    workspace: Workspace, project: Project
) -> None:
    target = projects.create_project(workspace, "Target")
    run_id = labeler(workspace, project)
    plan = domain_adaptation(workspace, project, target, bi=BI)
    assert keys(plan) == ["candidates", "silver", "source-42", "student-42"]
    assert told(plan, "candidates")["use_unlabelled"] is True
    assert told(plan, "silver")["labeler"] == f"run:{run_id}"
    assert told(plan, "student-42")["use_gold"] is False
    assert next(run for run in plan.runs if run.key == "source-42").project_id == project.id
    assert len(plan.notes) == 3, "no upper bound, no dev, no test: all are said"

    known = finished_run(workspace, project, "train-bi-encoder", BI)
    back = domain_adaptation(workspace, project, target, bi=BI)
    assert "source-42" not in keys(back), "a run with the same recipe is taken as it is"
    assert [(one.run_id, one.group) for one in back.known] == [
        (run_id, "Source cross-encoder"), (known, "Source only (lower bound)")
    ]  # fmt: skip
    parent = runs.add_run(workspace, target.id, "batch", "batch", to_json(back), 42)
    groups = {group["group"] for group in summary(workspace, parent, back)["groups"]}
    assert groups == {"Source cross-encoder", "Source only (lower bound)"}
    with pytest.raises(WorkbenchError, match="same project"):
        domain_adaptation(workspace, project, project)
    with pytest.raises(WorkbenchError, match="no gold training pairs"):
        domain_adaptation(workspace, target, project)


def test_the_summary_averages_over_seeds_with_n_minus_one(
    workspace: Workspace, project: Project
) -> None:
    plan = multi_run(BI, num_runs=2, split="test")
    parent = runs.add_run(workspace, project.id, "batch", "batch", to_json(plan), 42)
    results = {}
    for planned, score in zip(plan.runs[::2], (0.70, 0.74), strict=True):
        child = _child(workspace, project, parent, planned.key, planned.step, planned.options)
        batches.close_child(workspace, child, "done", {"dev_score": score, "n_gold": 5})
        results[planned.key] = {"run_id": child}
        measure(workspace, project, f"run:{child}", score - 0.1)
    evaluated = json.dumps({"targets": [f"run:{found['run_id']}" for found in results.values()]})
    child = _child(workspace, project, parent, "measured-42", "evaluate", evaluated)
    batches.close_child(workspace, child, "done")

    found = summary(workspace, parent, plan)
    (group,) = found["groups"]
    assert (group["group"], group["n"]) == ("Gold-only", 2)
    assert group["dev_score"] == pytest.approx(0.72)
    assert group["dev_score_sd"] == pytest.approx(0.0282842712)
    assert group["test_score"] == pytest.approx(0.62)
    lines = list(csv.DictReader(io.StringIO(summary_csv(found).decode("utf-8-sig"))))
    assert [line["row"] for line in lines] == ["run", "run", "mean of 2", "standard deviation"]
    assert [line["seed"] for line in lines] == ["42", "43", "", ""]


def _child(
    workspace: Workspace, project: Project, parent: int, key: str, step: str, options: str
) -> int:
    child, _ = batches.open_child(
        workspace, parent, key, project_id=project.id, step=step, name=key, options=options,
        seed=json.loads(options).get("seed", 42), device="cpu", versions={},
    )  # fmt: skip
    return child.id


def test_the_best_of_a_sweep_is_marked_with_a_warning(
    workspace: Workspace, project: Project
) -> None:
    plan = sweep(BI, learning_rates=[1e-5, 1e-4])
    parent = runs.add_run(workspace, project.id, "batch", "batch", to_json(plan), 42)
    for planned, score in zip(plan.runs, (0.6, 0.7), strict=True):
        child = _child(workspace, project, parent, planned.key, planned.step, planned.options)
        batches.close_child(workspace, child, "done", {"dev_score": score})
    found = summary(workspace, parent, plan)
    assert found["best"] == "rate 1e-4, batch 16"
    assert [row["differs"] for row in found["rows"]] == [
        {"learning_rate": 1e-5},
        {"learning_rate": 1e-4},
    ]
    assert "The best of 2 settings on dev flatters" in found["notes"][0]


def test_one_value_has_no_deviation() -> None:
    assert mean_and_deviation([0.5, None]) == (0.5, None)
    assert mean_and_deviation([]) == (None, None)


@pytest.mark.parametrize(
    ("helps", "interval", "words"),
    [
        (True, (0.01, 0.03), "likely to help"),
        (False, (-0.03, -0.01), "likely to hurt"),
        (None, (-0.01, 0.02), "No clear difference"),
    ],
)
def test_the_outcome_is_one_plain_sentence(
    helps: bool | None, interval: tuple[float, float], words: str
) -> None:
    sentence = outcome_sentence(helps, 0.5 * sum(interval), interval, 1000, 1500)
    assert words in sentence
    assert f"{100 * interval[0]:+.1f} to {100 * interval[1]:+.1f}" in sentence


def test_the_time_of_a_plan_follows_from_earlier_runs(
    workspace: Workspace, project: Project
) -> None:
    plan = multi_run(BI, num_runs=3, split="")
    assert estimated_seconds(workspace, project, plan) is None, "nothing was measured yet"
    finished_run(
        workspace, project, "train-bi-encoder", BI, n_steps=100, seconds=50.0, dev_score=0.5
    )
    # 5 gold pairs are 1 step of 16, for 4 epochs.
    assert estimated_seconds(workspace, project, plan) == pytest.approx(3 * 4 * 0.5)


def test_recipes_come_from_runs_of_their_own_not_from_twins_or_parts_of_batches(
    workspace: Workspace, project: Project
) -> None:
    own = finished_run(workspace, project, "train-bi-encoder", replace(BI, epochs=9))
    finished_run(
        workspace, project, "train-bi-encoder", replace(BI, silver_set_id=1, epochs=9), n_steps=70
    )
    finished_run(workspace, project, "train-bi-encoder", replace(BI, max_steps=70), n_steps=70)
    parent = runs.add_run(workspace, project.id, "batch", "batch", "{}", 42)
    child = _child(workspace, project, parent, "a", "train-bi-encoder", to_json(BI))
    batches.close_child(workspace, child, "done")
    assert [run.id for run in student_runs(workspace, project)] == [own + 1, own, child]
    assert newest_recipe(workspace, project).epochs == 9


def test_two_seeds_with_a_tiny_model_end_in_means_and_a_csv(
    workspace: Workspace, project: Project, tmp_path: Path
) -> None:
    base = tiny_bert(tmp_path / "base")
    plan = multi_run(
        BiEncoderOptions(base=base, layers=1, epochs=1, batch_size=4),
        cross=CrossEncoderOptions(base=base, epochs=1, warm_start="off"),
        candidates=SampleOptions(strategy="random", n_pairs=6),
        num_runs=2,
    )
    result = jobs.run_in_foreground(workspace, project.id, "batch", plan)

    groups = {group["group"]: group for group in result["summary"]["groups"]}
    assert {"Cross-encoder", "AugSBERT", "Gold-only, equal steps", "Jaccard"} <= set(groups)
    student, twin = groups["AugSBERT"], groups["Gold-only, equal steps"]
    assert (student["n"], student["n_gold"], student["n_silver"]) == (2, 5, 6)
    assert (twin["n_silver"], twin["n_steps"]) == (0, student["n_steps"])
    children = {run.child_key: run for run in batches.children(workspace, result["run_id"])}
    assert len(children) == len(plan.runs)
    assert children["labeler-42"].seed != children["labeler-43"].seed
    scores = [children[f"student-{seed}"].metrics["dev_score"] for seed in (42, 43)]
    assert student["dev_score"] == pytest.approx(sum(scores) / 2)
    folder = workspace.run_folder(result["run_id"])
    assert (
        json.loads((folder / "summary.json").read_text())["groups"] == result["summary"]["groups"]
    )
    assert "mean of 2" in (folder / "summary.csv").read_text(encoding="utf-8-sig")


def test_the_trial_with_a_tiny_model_ends_in_an_outcome_with_the_time_of_a_full_run(
    workspace: Workspace, project: Project, tmp_path: Path
) -> None:
    base = tiny_bert(tmp_path / "base")
    plan = will_silver_help(
        workspace,
        project,
        n_silver=4,
        bi=BiEncoderOptions(base=base, layers=1, epochs=1, batch_size=4),
        cross=CrossEncoderOptions(base=base, epochs=1, warm_start="off"),
        sample=SampleOptions(strategy="random", n_pairs=8),
    )
    outcome = jobs.run_in_foreground(workspace, project.id, "batch", plan)["outcome"]
    assert (outcome["split"], outcome["n_pairs"], outcome["n_silver"]) == ("dev", 3, 4)
    assert outcome["sentence"]
    estimate = outcome["estimate"]
    assert estimate["n_pairs"] == 8
    assert estimate["n_steps"] == 4, "5 gold and 8 silver pairs in batches of 4"
    assert estimate["seconds"] == pytest.approx(
        8 * estimate["seconds_per_pass"] + 4 * estimate["seconds_per_step"]
    )
