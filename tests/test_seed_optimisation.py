"""Seed optimisation: the chosen seed ends as if it had been trained alone; and the study of how early it shows."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau

from augsbert_core.charts.seed_study import seed_study_figure
from augsbert_core.errors import Stopped, WorkbenchError
from augsbert_core.options import (
    BiEncoderOptions,
    CrossEncoderOptions,
    SeedStudyOptions,
    Stage,
    to_json,
)
from augsbert_core.seeds import kendall, rank_agreement
from augsbert_core.steps.seed_optimisation import Trial, best_trial
from augsbert_core.steps.seed_study import check_seed_study
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project
from tests.tiny_training import assert_same_weights, make_base
from tests.training_lab import context_of, lab_project, run_step

Lab = tuple[Workspace, Project, int]
STEPS = {"train-bi-encoder": BiEncoderOptions, "train-cross-encoder": CrossEncoderOptions}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return lab_project(tmp_path_factory.mktemp("lab"))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_base(tmp_path_factory.mktemp("base"))


def told(step: str, base: str, **changes: Any) -> Any:
    """Two epochs of 3 steps; dropout is on."""
    made = STEPS[step](base=base, epochs=2, batch_size=8, learning_rate=2e-3, max_length=32)
    made = replace(made, warm_start="off") if isinstance(made, CrossEncoderOptions) else made
    return replace(made, **changes)


@pytest.mark.parametrize("step", STEPS)
def test_the_chosen_seed_ends_like_an_uninterrupted_training(
    lab: Lab, base: str, step: str
) -> None:
    workspace, project, _ = lab
    options = told(step, base, seeds=3, seed_stop=0.4)
    context = context_of(workspace, project, step, options)
    result = run_step(context, options)
    trials = {trial["seed"]: trial["dev_score"] for trial in result["seed_trials"]}
    assert list(trials) == [42, 43, 44]
    assert trials[result["chosen_seed"]] == max(trials.values())
    alone = told(step, base, seed=result["chosen_seed"])
    other = context_of(workspace, project, step, alone)
    expected = run_step(other, alone)
    assert_same_weights(context.folder, other.folder)
    assert result["dev_score"] == expected["dev_score"]
    assert result["n_steps"] == expected["n_steps"] == 6
    assert result["seconds"] > 0
    assert [path.name for path in context.folder.iterdir()] == ["model"], (
        "nothing of other seeds is left"
    )


def test_an_interrupted_seed_optimisation_goes_on_where_it_was(lab: Lab, base: str) -> None:
    """Stopped in the second trial, then once more while the chosen seed goes on."""
    workspace, project, _ = lab
    step = "train-bi-encoder"
    options = told(step, base, seeds=2, seed_stop=0.4, checkpoint_seconds=0.0)
    seen: list[str] = []

    def stop_when(text: str) -> Any:
        return lambda: any(text in message for message in seen[-1:])

    def report(fraction, message, metrics=None, step=None) -> None:
        seen.append(message)

    context = context_of(
        workspace, project, step, options, report, stop_when("Seed 43, 2 of 2 · Step 1")
    )
    with pytest.raises(Stopped):
        run_step(context, options)
    trial = json.loads((context.folder / "seed-trials" / "42.json").read_text(encoding="utf-8"))
    seen.clear()
    again = context_of(
        workspace, project, step, options, report, stop_when("goes on · Step 4"), context.run.id
    )
    with pytest.raises(Stopped):
        run_step(again, options)
    assert not any("Seed 42, 1 of 2" in message for message in seen), "a finished trial is read"
    result = run_step(context_of(workspace, project, step, options, run_id=context.run.id), options)
    assert result["seed_trials"][0] == {"seed": 42, "dev_score": trial["dev_score"]}
    whole = context_of(workspace, project, step, options)
    expected = run_step(whole, options)
    assert result["seed_trials"] == expected["seed_trials"]
    assert_same_weights(context.folder, whole.folder)


def test_curves_show_the_chosen_seed_alone(lab: Lab, base: str) -> None:
    workspace, project, _ = lab
    options = told("train-bi-encoder", base, seeds=2, seed_stop=0.5)
    losses: list[int] = []
    fractions: list[float] = []

    def report(fraction, message, metrics=None, step=None) -> None:
        fractions.append(fraction)
        if metrics and "loss" in metrics:
            losses.append(step)

    run_step(context_of(workspace, project, "train-bi-encoder", options, report), options)
    assert losses == [1, 2, 3, 4, 5, 6]
    assert min(fractions) >= 0
    assert max(fractions) <= 1


def test_an_undefined_dev_score_is_never_the_best() -> None:
    trials = [Trial(1, None, 1.0), Trial(2, -0.5, 1.0), Trial(3, -0.5, 1.0)]
    assert best_trial(trials).seed == 2
    assert best_trial(trials[:1]).seed == 1


# --- the study ---


def test_kendall_is_scipys_tau_b() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        first, second = rng.integers(0, 5, size=(2, 8)).astype(float)
        expected = kendalltau(first, second).statistic
        found = kendall(first, second)
        assert found == pytest.approx(expected) if np.isfinite(expected) else found is None
    assert kendall(np.array([1.0, 2.0]), np.array([1.0, 2.0])) is None


def test_agreement_grows_when_scores_settle() -> None:
    rng = np.random.default_rng(1)
    final = rng.normal(size=12)
    columns = [final + rng.normal(scale=noise, size=12) for noise in (5.0, 0.05)]
    found = rank_agreement(np.column_stack([*columns, final]), np.random.default_rng(0), 300)
    assert found.spearman[0] < 0.8 < found.spearman[1] < found.spearman[2] == 1.0
    assert found.kendall[2] == 1.0
    assert found.regret[2] == 0.0 <= found.regret[1] <= found.regret[0]
    for low, value, high in zip(
        found.spearman_low, found.spearman, found.spearman_high, strict=True
    ):
        assert low <= value <= high
    assert (
        found.spearman_high[0] - found.spearman_low[0]
        > found.spearman_high[1] - found.spearman_low[1]
    )


def test_too_few_or_equal_seeds_have_no_order() -> None:
    found = rank_agreement(np.array([[0.1, 0.2], [0.3, 0.4]]), np.random.default_rng(0))
    assert found.spearman == found.kendall == found.spearman_low == [None, None]
    level = rank_agreement(np.array([[0.5, 0.2], [0.5, 0.4], [0.5, 0.3]]), np.random.default_rng(0))
    assert level.spearman == [None, 1.0]
    assert level.kendall[0] is None
    assert level.spearman_low[0] is None
    with pytest.raises(ValueError, match="finite"):
        rank_agreement(np.array([[np.nan, 1.0]]), np.random.default_rng(0))


def test_a_study_trains_every_seed_to_the_end(lab: Lab, base: str) -> None:
    workspace, project, _ = lab
    recipe = to_json(told("train-bi-encoder", base, patience=1))
    options = SeedStudyOptions(recipe=recipe, seeds=3, fractions=(0.5,), seed=5)
    seen: list[str] = []

    def report(fraction, message, metrics=None, step=None) -> None:
        seen.append(message)

    context = context_of(
        workspace, project, "seed-study", options, report,
        lambda: any("Seed 6, 2 of 3 · Step 2" in text for text in seen),
    )  # fmt: skip
    with pytest.raises(Stopped):
        run_step(context, options)
    seen.clear()
    again = context_of(workspace, project, "seed-study", options, report, run_id=context.run.id)
    result = run_step(again, options)
    assert not any(text.startswith("Seed 5,") for text in seen), "a finished seed is read"
    assert result["seeds"] == [5, 6, 7]
    assert result["fractions"] == [0.5, 1.0]
    assert np.array(result["dev"]).shape == (3, 2)
    assert result["spearman"][1] == pytest.approx(1.0)
    assert not list(context.folder.glob("seed-*/")), "no model is kept"

    alone = told("train-bi-encoder", base, seed=6)
    expected = run_step(context_of(workspace, project, "train-bi-encoder", alone), alone)
    assert result["dev"][1][1] == dict(expected["dev_curve"])[6]

    figure = seed_study_figure(result["fractions"], result["seeds"], result["dev"], result)
    assert {trace.name for trace in figure.data} >= {"Seed 5", "Spearman", "Kendall"}


@pytest.mark.parametrize(
    ("study", "sentence"),
    [
        (SeedStudyOptions(seeds=2), "2 seeds have no order"),
        (SeedStudyOptions(fractions=(0.5, 1.0)), "must lie between 0 and 1"),
        (SeedStudyOptions(model="oracle"), "'oracle' is no model to study"),
        (SeedStudyOptions(recipe="[]"), "is not the JSON of a model's options"),
        (
            SeedStudyOptions(recipe=to_json(BiEncoderOptions(stages=(Stage(), Stage())))),
            "needs a recipe of one stage",
        ),
    ],
)
def test_a_study_that_says_nothing_is_refused(
    lab: Lab, study: SeedStudyOptions, sentence: str
) -> None:
    workspace, project, _ = lab
    with pytest.raises(WorkbenchError, match=sentence):
        check_seed_study(workspace, project, study)


def test_a_study_of_cross_encoders(lab: Lab, base: str, tmp_path: Path) -> None:
    workspace, project, _ = lab
    recipe = to_json(told("train-cross-encoder", base, max_steps=2))
    options = SeedStudyOptions(recipe=recipe, model="cross-encoder", seeds=3, fractions=(0.5,))
    result = run_step(context_of(workspace, project, "seed-study", options), options)
    assert result["n_steps"] == 2
    assert len(result["dev"]) == 3
