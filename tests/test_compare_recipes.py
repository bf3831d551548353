"""The compare table by recipe: one row for runs that differ in their seeds alone."""

import numpy as np
import pytest

from augsbert_core import metrics
from augsbert_core.cli.markdown import as_markdown
from augsbert_core.metrics import spearman
from augsbert_core.options import (
    CrossEncoderOptions,
    KeepOptions,
    LabelOptions,
    SampleOptions,
    Stage,
    to_json,
)
from augsbert_core.steps.compare import (
    comparison,
    equal_step_options,
    grouped,
)
from augsbert_core.steps.compare.curves import learning_points
from augsbert_core.steps.compare.recipe_keys import RecipeKeys
from augsbert_core.steps.verdict import verdicts
from augsbert_core.storage import candidates, gold, projects, runs, silver_sets
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project
from tests.test_compare import add_student, finish, kinds, measure, project

__all__ = ["project"]


def add_silver_set(workspace: Workspace, project: Project, seed: int, top_k: int = 5) -> int:
    """A silver set of BM25 pairs, labelled by a cross-encoder of this seed."""
    labeler = runs.add_run(
        workspace,
        project.id,
        "train-cross-encoder",
        "ce",
        to_json(CrossEncoderOptions(seed=seed)),
        seed,
    )
    options = SampleOptions(top_k=top_k, seed=seed)
    sampling = runs.add_run(workspace, project.id, "sample", "s", to_json(options), seed)
    set_id = candidates.add_candidate_set(
        workspace,
        project.id,
        sampling,
        strategy="bm25",
        corpus_size=4,
        first=np.array([1]),
        second=np.array([2]),
        rank=np.array([1]),
        sampler_score=np.array([1.0]),
    )
    told = LabelOptions(set_id, f"run:{labeler}", seed=seed)
    run_id = runs.add_run(workspace, project.id, "label", "l", to_json(told), seed)
    silver = silver_sets.open_silver_set(
        workspace,
        project.id,
        run_id,
        candidate_set_id=set_id,
        labeler=f"run:{labeler}",
        labeler_run_id=labeler,
    )
    for one in (labeler, sampling, run_id):
        finish(workspace, one)
    return silver


@pytest.fixture
def seeded(workspace: Workspace, project: Project) -> dict[str, list[int]]:
    """Three seeds of gold-only, of its equal-step twin, and of AugSBERT, each with a labeler of its own."""
    found: dict[str, list[int]] = {"gold": [], "twin": [], "ours": [], "sets": []}
    for seed in (42, 43, 44):
        silver = add_silver_set(workspace, project, seed)
        # Silver sets of other labelers differ a little in size.
        steps = 90 + seed % 2
        found["sets"].append(silver)
        found["gold"].append(add_student(workspace, project, silver=None, steps=20, seed=seed))
        found["ours"].append(add_student(workspace, project, silver=silver, steps=steps, seed=seed))
        twin = {"max_steps": steps}
        found["twin"].append(
            add_student(workspace, project, silver=None, steps=steps, seed=seed, told=twin)
        )
    for kind, noise in (("gold", 0.5), ("twin", 0.4), ("ours", 0.2)):
        for run in found[kind]:
            measure(workspace, project, f"run:{run}", noise, seed=run)
    return found


def rows_of(workspace: Workspace, project: Project, **told: bool) -> dict[str, dict]:
    table = comparison(workspace, project.id)
    return {row["name"]: row for row in grouped(workspace, project.id, table, **told).as_json()}


def test_runs_that_differ_in_their_seeds_alone_are_one_row(
    workspace: Workspace, project: Project, seeded: dict[str, list[int]]
) -> None:
    rows = rows_of(workspace, project)
    first, *_, last = seeded["sets"]
    name = f"AugSBERT · BM25 top-5 (silver sets {first}, {first + 1}, {last})"
    assert list(rows) == ["Gold only", "Gold only, equal steps", name]
    ours = rows[name]
    singles = comparison(workspace, project.id).rows.set_index("run_id")
    values = singles.loc[seeded["ours"], "value"]
    assert ours["value"] == pytest.approx(values.mean())
    assert ours["sd"] == pytest.approx(values.std(ddof=1))
    assert (ours["n_seeds"], ours["seeds"]) == (3, [42, 43, 44])
    assert ours["low"] < ours["value"] < ours["high"]
    assert all(row["comparable"] for row in rows.values()), "another seed is no other recipe"


def test_the_difference_is_that_of_the_means_on_the_same_resamples(
    workspace: Workspace, project: Project, seeded: dict[str, list[int]]
) -> None:
    rows = rows_of(workspace, project)
    ours = next(row for row in rows.values() if row["kind"] == "augsbert")
    twin = rows["Gold only, equal steps"]
    assert (ours["reference"], ours["equal_steps"]) == ("Gold only, equal steps", True)
    assert ours["difference"] == pytest.approx(ours["value"] - twin["value"])
    table = comparison(workspace, project.id)
    scores = gold.scored_pairs(workspace, project.id, "test").scores
    members = seeded["ours"] + seeded["twin"]
    drawn = metrics.replicates(
        [spearman] * 6,
        scores,
        [table.measured[f"run:{run}"]["predictions"] for run in members],
        seed=42,
    )
    expected = metrics.difference_of(
        ours["difference"], drawn[:3].mean(axis=0) - drawn[3:].mean(axis=0)
    )
    assert (ours["difference_low"], ours["difference_high"], ours["p"]) == pytest.approx(
        (expected.low, expected.high, expected.p), abs=1e-5
    )
    assert rows["Gold only"]["reference"] == "Gold only, equal steps"
    assert twin["difference"] is None, "a row is not held against itself"
    assert ours["p_adjusted"] == pytest.approx(min(1, 2 * ours["p"])), (
        "Holm: two tests, the smaller p"
    )


def test_the_verdict_speaks_of_recipes_and_seeds(
    workspace: Workspace, project: Project, seeded: dict[str, list[int]]
) -> None:
    (said,) = verdicts(workspace, project.id, comparison(workspace, project.id))
    assert "BM25 top-5" in said.sentence
    assert "helped" in said.sentence
    assert "mean of 3 seeds each" in said.sentence
    assert said.n_seeds == 3


def test_single_runs_can_be_asked_for(
    workspace: Workspace, project: Project, seeded: dict[str, list[int]]
) -> None:
    rows = rows_of(workspace, project, single=True)
    assert len(rows) == 9
    assert f"Gold only · run {seeded['gold'][0]}" in rows
    assert {row["n_seeds"] for row in rows.values()} == {1}


def test_a_repeat_of_a_run_is_no_second_seed(workspace: Workspace, project: Project) -> None:
    runs_of_one_seed = [add_student(workspace, project, silver=None, steps=20) for _ in range(2)]
    for run in runs_of_one_seed:
        measure(workspace, project, f"run:{run}", 0.3)
    (row,) = rows_of(workspace, project).values()
    assert (row["n_seeds"], row["runs"]) == (1, [runs_of_one_seed[1]])


def test_other_options_and_other_strategies_are_other_rows(
    workspace: Workspace, project: Project
) -> None:
    near = add_silver_set(workspace, project, 42)
    wide = add_silver_set(workspace, project, 42, top_k=7)
    for silver, told in ((near, {}), (wide, {}), (near, {"learning_rate": 5e-5})):
        run = add_student(workspace, project, silver=silver, steps=90, told=told)
        measure(workspace, project, f"run:{run}", 0.3, seed=run)
    assert set(rows_of(workspace, project)) == {
        f"AugSBERT · BM25 top-5 (silver set {near}) · lr 2e-5",
        f"AugSBERT · BM25 top-5 (silver set {near}) · lr 5e-5",
        f"AugSBERT · BM25 top-7 (silver set {wide})",
    }


def test_a_recipe_goes_down_to_the_labeler(workspace: Workspace, project: Project) -> None:
    sets = [add_silver_set(workspace, project, seed) for seed in (42, 43)]
    recipes = RecipeKeys(workspace, with_seeds=False)
    assert recipes.of_silver_set(sets[0]) == recipes.of_silver_set(sets[1])
    exact = RecipeKeys(workspace, with_seeds=True)
    assert exact.of_silver_set(sets[0]) != exact.of_silver_set(sets[1])
    kept = [
        runs.add_run(workspace, project.id, "keep", "k", to_json(KeepOptions(one, c=c)), 42)
        for one, c in ((sets[0], 1.0), (sets[1], 1.0), (sets[1], 2.0))
    ]
    assert recipes.of_run(kept[0]) == recipes.of_run(kept[1]) != recipes.of_run(kept[2])


def test_one_seed_and_many_differences_are_pointed_out(
    workspace: Workspace, project: Project
) -> None:
    twin = add_student(workspace, project, silver=None, steps=90)
    measure(workspace, project, f"run:{twin}", 0.3)
    for silver in range(7, 12):
        run = add_student(workspace, project, silver=silver, steps=90)
        measure(workspace, project, f"run:{run}", 0.3, seed=run)
    notes = " ".join(grouped(workspace, project.id, comparison(workspace, project.id)).notes)
    assert "Every model here was trained with one seed" in notes
    assert "5 differences are tested" in notes
    assert "Holm" in notes


def test_students_are_told_apart_by_what_they_were_trained_on(
    workspace: Workspace, project: Project
) -> None:
    elsewhere = projects.create_project(workspace, "News")
    source = add_student(workspace, elsewhere, silver=None, steps=50)
    adapted = add_student(workspace, project, silver=7, steps=70, told={"use_gold": False})
    tried = add_student(workspace, project, silver=None, steps=20, told={"seeds": 5})
    student = runs.add_run(
        workspace,
        project.id,
        "train-cross-encoder",
        "ces",
        to_json(CrossEncoderOptions(silver_set_id=7)),
        42,
    )
    finish(workspace, student)
    for run in (source, adapted, tried, student):
        measure(workspace, project, f"run:{run}", 0.3, seed=run)
    measure(workspace, project, "majority", np.inf)
    measure(workspace, project, "run:1 + run:2", 0.3)
    table = comparison(workspace, project.id)
    assert kinds(table) == {
        "majority": "majority",
        f"run:{source}": "source only",
        f"run:{adapted}": "adapted",
        f"run:{tried}": "gold-only, seeds tried",
        f"run:{student}": "cross-encoder student",
        "run:1 + run:2": "labelers",
    }
    rows = grouped(workspace, project.id, table).rows.set_index("name")
    references = rows["reference"]
    assert references["Silver only · silver set 7"] == "Source only: student 50 (project News)"
    assert list(rows.index) == [
        "Mean score",
        "Source only: student 50 (project News)",
        "Gold only, best of 5 seeds on dev",
        "Silver only · silver set 7",
        "Cross-encoder student · silver set 7",
        "Mean of run 1 + run 2",
    ]


def test_less_gold_makes_a_learning_curve(workspace: Workspace, project: Project) -> None:
    for limit, noise in ((20, 0.5), (40, 0.4), (None, 0.3)):
        for seed in (42, 43):
            run = add_student(
                workspace,
                project,
                silver=None,
                steps=limit or 60,
                seed=seed,
                told={"gold_limit": limit},
                n_gold=limit or 60,
                gold_hash=f"drawn with {seed}" if limit else gold_hash(workspace, project),
            )
            measure(workspace, project, f"run:{run}", noise, seed=run)
    table = comparison(workspace, project.id)
    found = grouped(workspace, project.id, table)
    points = learning_points(found)
    assert sorted(points["n_gold"]) == [20, 40, 60]
    assert set(points["series"]) == {"Gold-only"}
    assert (points["low"] < points["value"]).all()
    whys = dict(zip(found.rows["name"], found.rows["why_not"], strict=True))
    assert whys["Gold only · 20 gold pairs"] == "trained on 20 of 60 gold pairs"
    assert whys["Gold only"] == ""


def gold_hash(workspace: Workspace, project: Project) -> str:
    return gold.data_hash(gold.scored_pairs(workspace, project.id, "train"))


def test_the_twin_of_a_staged_run_trains_each_stage_as_long_on_gold(
    workspace: Workspace, project: Project
) -> None:
    told = {
        "stages": (Stage("silver", epochs=1), Stage("gold", epochs=2)),
        "seeds": 5,
        "silver_weight": 0.5,
    }
    steps = [{"data": "silver", "n_steps": 70}, {"data": "gold", "n_steps": 20}]
    run = add_student(workspace, project, silver=7, steps=90, told=told, stages=steps)
    twin = equal_step_options(workspace, run)
    assert [(stage.data, stage.max_steps) for stage in twin.stages] == [("gold", 70), ("gold", 20)]
    assert (twin.silver_set_id, twin.silver_weight, twin.seeds) == (None, 1.0, 5)


def test_the_table_can_be_pasted_into_a_document(
    workspace: Workspace, project: Project, seeded: dict[str, list[int]]
) -> None:
    table = comparison(workspace, project.id)
    found = grouped(workspace, project.id, table)
    said = verdicts(workspace, project.id, table, found)
    text = as_markdown(
        {
            "n_pairs": table.n_pairs,
            "split": "test",
            "metric": table.metric,
            "groups": found.as_json(),
            "verdicts": [{"sentence": one.sentence} for one in said],
        }
    )
    lines = text.splitlines()
    assert lines[2].startswith("| model | score | 95 % interval | Δ gold-only |")
    assert len({line.count("|") for line in lines[2:7]}) == 1
    ours = next(line for line in lines if "AugSBERT" in line)
    assert " ± " in ours
    assert ours.endswith("| 3 |")
    assert "> AugSBERT" in text
