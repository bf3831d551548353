"""What models are trained on, and stages that follow each other on one model."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import BiEncoderOptions, CrossEncoderOptions, Stage
from augsbert_core.pairs import ScoredPairs, TrainingRows
from augsbert_core.steps.recipe_checks import plan
from augsbert_core.steps.recipes import PRESETS, apply_preset, stages_of
from augsbert_core.steps.training_data import read_gold, read_stage
from augsbert_core.storage import gold, reviews, runs, silver_pages
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project
from tests.silver_pairs import stored_pairs
from tests.tiny_training import assert_same_weights, make_base, train
from tests.training_lab import (
    N_DEV,
    N_GOLD,
    N_NLI,
    N_SILVER,
    N_TRIPLETS,
    context_of,
    lab_project,
    run_step,
)

Lab = tuple[Workspace, Project, int]
BI = "train-bi-encoder"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return lab_project(tmp_path_factory.mktemp("lab"))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_base(tmp_path_factory.mktemp("base"))


def told(base: str, **changes: Any) -> BiEncoderOptions:
    """One epoch of 3 steps on gold."""
    options = BiEncoderOptions(base=base, epochs=1, batch_size=8, learning_rate=2e-3, max_length=32)
    return replace(options, **changes)


def rows_of(lab: Lab, options: BiEncoderOptions, data: str) -> TrainingRows:
    workspace, project, _ = lab
    found = read_stage(workspace, project, options, data, read_gold(workspace, project, options))
    return (
        found.rows if isinstance(found.rows, TrainingRows) else TrainingRows.from_pairs(found.rows)
    )


# --- data ---


def test_gold_alone_is_what_the_store_holds(lab: Lab) -> None:
    workspace, project, _ = lab
    pairs = read_gold(workspace, project, BiEncoderOptions())
    found = read_stage(workspace, project, BiEncoderOptions(), "gold", pairs)
    assert isinstance(found.rows, ScoredPairs)
    assert (found.n_gold, found.n_silver, found.passes) == (N_GOLD, 0, 0)
    assert found.data_hash == gold.data_hash(gold.scored_pairs(workspace, project.id, "train"))


def test_a_limit_draws_gold_with_the_seed_and_keeps_the_order_of_the_file(lab: Lab) -> None:
    workspace, project, _ = lab
    drawn = [
        read_gold(workspace, project, BiEncoderOptions(gold_limit=6, seed=seed))
        for seed in (1, 1, 2)
    ]
    everything = gold.scored_pairs(workspace, project.id, "train").sentences1
    places = [everything.index(text) for text in drawn[0].sentences1]
    assert len(places) == 6
    assert places == sorted(places)
    assert drawn[0].sentences1 == drawn[1].sentences1 != drawn[2].sentences1


def test_gold_comes_before_silver_repeated_and_with_its_own_weight(lab: Lab) -> None:
    workspace, project, set_id = lab
    options = BiEncoderOptions(silver_set_id=set_id, gold_repeats=3, silver_weight=0.25)
    pairs = read_gold(workspace, project, options)
    found = read_stage(workspace, project, options, "gold+silver", pairs)
    assert (found.n_gold, found.n_silver, found.passes) == (N_GOLD, N_SILVER, N_SILVER)
    rows = rows_of(lab, options, "gold+silver")
    assert rows.weights is not None
    assert rows.weights.tolist() == [1.0] * 3 * N_GOLD + [0.25] * N_SILVER
    firsts, _ = rows.columns()
    assert firsts[: 3 * N_GOLD] == pairs.sentences1 * 3
    assert np.allclose(rows.labels[:N_GOLD], pairs.scores)


def test_silver_alone_has_no_weights_for_there_is_nothing_to_weigh_against(lab: Lab) -> None:
    options = BiEncoderOptions(silver_set_id=lab[2], silver_weight=0.25)
    rows = rows_of(lab, options, "silver")
    assert rows.weights is None
    assert len(rows) == N_SILVER


def test_rejected_pairs_are_left_out_and_corrections_count(tmp_path: Path) -> None:
    workspace, project, set_id = lab_project(tmp_path)
    ids = silver_pages.silver_page(workspace, set_id, silver_pages.SilverFilter())["id"]
    reviews.review_silver_pair(workspace, int(ids[0]), status="rejected", actor="reviewer")
    options = BiEncoderOptions(silver_set_id=set_id)
    rows = rows_of((workspace, project, set_id), options, "silver")
    assert len(rows) == N_SILVER - 1
    assert np.allclose(rows.labels, stored_pairs(workspace, set_id).scores)


@pytest.mark.parametrize(
    ("data", "n_rows", "n_columns"), [("nli", N_NLI, 2), ("triplets", N_TRIPLETS, 3)]
)
def test_nli_and_triplets_are_read_whole(lab: Lab, data: str, n_rows: int, n_columns: int) -> None:
    assert rows_of(lab, BiEncoderOptions(), data).places.shape == (n_columns, n_rows)


# --- training ---


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_trains(lab: Lab, base: str, name: str) -> None:
    workspace, project, set_id = lab
    preset = PRESETS[name]
    options = apply_preset(name, told(base, max_steps=2))
    stages = tuple(replace(stage, max_steps=2) for stage in options.stages)
    silver = set_id if "silver" in preset.needs else None
    options = replace(options, silver_set_id=silver, stages=stages)
    result = run_step(context_of(workspace, project, BI, options), options)
    made = stages_of(options)
    assert [(each["data"], each["loss"]) for each in result["stages"]] == [
        (stage.data, stage.loss) for stage in made
    ]
    assert [each["n_steps"] for each in result["stages"]] == [2] * len(made)
    assert result["n_gold"] == (N_GOLD if "gold" in preset.needs else 0)
    assert result["n_silver"] == (N_SILVER if silver else 0)
    assert result["n_steps"] == 2 * len(made)
    planned = plan(workspace, project, options)
    assert [stage.n_rows for stage in planned] == [each["n_rows"] for each in result["stages"]]


def test_default_options_train_what_the_trainer_alone_trains(
    lab: Lab, base: str, tmp_path: Path
) -> None:
    workspace, project, _ = lab
    context = context_of(workspace, project, BI, told(base))
    result = run_step(context, told(base))
    pairs, dev = (gold.scored_pairs(workspace, project.id, split) for split in ("train", "dev"))
    train("bi_encoder", told(base), tmp_path, data=pairs, dev=dev)
    assert_same_weights(context.folder, tmp_path)
    assert result["gold_hash"] == gold.data_hash(pairs)
    assert len(dev) == N_DEV


TWO = (Stage("nli", "softmax", epochs=1), Stage("gold", "cosine", epochs=2))


def test_stages_follow_each_other_on_one_model_and_one_curve(lab: Lab, base: str) -> None:
    workspace, project, _ = lab
    points: list[int] = []
    fractions: list[float] = []

    def report(fraction, message, metrics=None, step=None) -> None:
        fractions.append(fraction)
        if metrics and "loss" in metrics:
            points.append(step)

    options = told(base, stages=TWO, epochs=7)
    context = context_of(workspace, project, BI, options, report)
    result = run_step(context, options)
    assert [each["n_steps"] for each in result["stages"]] == [3, 6], (
        "a stage's epochs overrule the run's"
    )
    assert points == list(range(1, 10))
    assert fractions == sorted(fractions)
    steps = [step for step, _ in result["dev_curve"]]
    assert steps == sorted(steps)
    assert steps[-1] == result["n_steps"] == 9
    assert [path.name for path in context.folder.iterdir()] == ["model"]
    assert (result["n_gold"], result["n_nli"]) == (N_GOLD, N_NLI)
    assert runs.get_run(workspace, context.run.id).model_path


class Crash(Exception):
    """Stands for a killed process."""


def test_a_finished_stage_is_not_trained_again(lab: Lab, base: str) -> None:
    workspace, project, _ = lab
    options = told(base, stages=TWO, checkpoint_seconds=0.0)

    def crash_in_stage_2(fraction, message, metrics=None, step=None) -> None:
        if step == 5 and metrics and "loss" in metrics:
            raise Crash

    context = context_of(workspace, project, BI, options, crash_in_stage_2)
    with pytest.raises(Crash):
        run_step(context, options)
    seen: list[int] = []

    def note(fraction, message, metrics=None, step=None) -> None:
        if metrics and "loss" in metrics:
            seen.append(step)

    resumed = run_step(
        context_of(workspace, project, BI, options, note, run_id=context.run.id), options
    )
    assert min(seen) == 5
    whole = context_of(workspace, project, BI, options)
    expected = run_step(whole, options)
    assert_same_weights(context.folder, whole.folder)
    assert resumed["stages"] == expected["stages"]
    assert resumed["dev_curve"] == expected["dev_curve"]


def test_a_recipe_can_begin_at_a_later_stage(lab: Lab, base: str, tmp_path: Path) -> None:
    workspace, project, _ = lab
    later = told(base, stages=TWO, first_stage=2)
    context = context_of(workspace, project, BI, later)
    result = run_step(context, later)
    assert [each["data"] for each in result["stages"]] == ["gold"]
    pairs, dev = (gold.scored_pairs(workspace, project.id, split) for split in ("train", "dev"))
    train("bi_encoder", told(base, epochs=2), tmp_path, data=pairs, dev=dev)
    assert_same_weights(context.folder, tmp_path)


def test_layers_are_cut_once(lab: Lab, base: str) -> None:
    """The second stage would cut a model of one layer, and fail, if it were told the layers again."""
    from augsbert_core.models.catalog import load_bi_encoder

    workspace, project, _ = lab
    options = told(base, stages=TWO, layers=1, pooling="cls", max_steps=None)
    context = context_of(workspace, project, BI, options)
    run_step(context, options)
    model = load_bi_encoder(str(context.folder / "model"), "cpu")
    assert model[0].auto_model.config.num_hidden_layers == 1


def test_silver_first_is_two_stages(lab: Lab, base: str) -> None:
    workspace, project, set_id = lab
    options = told(base, silver_set_id=set_id, mixing="silver-first")
    result = run_step(context_of(workspace, project, BI, options), options)
    assert [(each["data"], each["n_rows"]) for each in result["stages"]] == [
        ("silver", N_SILVER),
        ("gold", N_GOLD),
    ]
    assert (result["n_gold"], result["n_silver"], result["passes"]) == (N_GOLD, N_SILVER, N_SILVER)


def test_a_student_can_learn_from_silver_alone(lab: Lab, base: str) -> None:
    workspace, project, set_id = lab
    options = told(base, silver_set_id=set_id, use_gold=False)
    result = run_step(context_of(workspace, project, BI, options), options)
    assert (result["n_gold"], result["n_silver"]) == (0, N_SILVER)
    assert result["stages"][0]["data"] == "silver"
    everything = gold.scored_pairs(workspace, project.id, "train")
    assert result["gold_hash"] == gold.data_hash(everything), "gold has not changed since"


@pytest.mark.parametrize(("use_gold", "n_gold"), [(True, N_GOLD), (False, 0)])
def test_a_cross_encoder_can_be_the_student(
    lab: Lab, base: str, use_gold: bool, n_gold: int
) -> None:
    workspace, project, set_id = lab
    options = CrossEncoderOptions(
        base=base, layers=1, silver_set_id=set_id, use_gold=use_gold, max_steps=2, warm_start="off"
    )
    context = context_of(workspace, project, "train-cross-encoder", options)
    result = run_step(context, options)
    assert (result["n_gold"], result["n_silver"]) == (n_gold, N_SILVER)
    assert result["warm_start_pairs"] == 0
    assert (context.folder / "model").is_dir()


def test_weights_of_silver_change_what_is_learnt(lab: Lab, base: str) -> None:
    workspace, project, set_id = lab
    losses = []
    for weight in (1.0, 0.1):
        options = told(base, silver_set_id=set_id, silver_weight=weight)
        losses.append(run_step(context_of(workspace, project, BI, options), options)["dev_curve"])
    assert losses[0] != losses[1]


def test_an_unknown_kind_of_data_is_refused(lab: Lab) -> None:
    workspace, project, _ = lab
    with pytest.raises(WorkbenchError, match="'wine' is no training data"):
        read_stage(
            workspace,
            project,
            BiEncoderOptions(),
            "wine",
            read_gold(workspace, project, BiEncoderOptions()),
        )
