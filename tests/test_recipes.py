"""Recipes: presets, TOML in and out, and what is refused before a job is queued."""

from dataclasses import fields, replace
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.models.losses import LOSSES
from augsbert_core.models.pooling import POOLINGS
from augsbert_core.options import BiEncoderOptions, CrossEncoderOptions, Stage
from augsbert_core.steps.names import describe
from augsbert_core.steps.recipe_checks import FITTING, check_recipe, check_shape, plan
from augsbert_core.steps.recipe_text import AT_LEAST, AT_MOST
from augsbert_core.steps.recipes import (
    PRESETS,
    apply_preset,
    from_toml,
    gold_only_twin,
    left_out,
    stage_options,
    stages_of,
    to_toml,
)
from augsbert_core.steps.train import check_training
from augsbert_core.steps.training_data import DATA
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.projects import create_project
from augsbert_core.storage.records import Project
from augsbert_core.ui import training_words
from tests.pages.seeding import silver_set

DEFAULTS = BiEncoderOptions()


# --- presets and stages ---


def test_the_presets_of_the_field_are_there() -> None:
    assert set(PRESETS) >= {
        "sts", "nli", "nli_mnrl", "sts_nli", "sts_nli_mnrl", "sts_nli_mnrl_cosent", "sts_nli_mnrl_aoe",
        "wikipedia_triplet", "wikipedia_triplet_mnrl", "augsbert", "silver_gold", "symmetric",
    }  # fmt: skip


def test_cosent_comes_after_ranking_and_cosine_with_1_2_and_1_epochs() -> None:
    options = apply_preset("sts_nli_mnrl_cosent", DEFAULTS)
    assert [(stage.data, stage.loss, stage.epochs) for stage in options.stages] == [
        ("nli", "mnrl", 1),
        ("gold", "cosine", 2),
        ("gold", "cosent", 1),
    ]
    last = stage_options(options, options.stages[-1], is_first=False)
    assert (last.scale, last.epochs, last.hard_negatives) == (20.0, 1, True)


def test_symmetric_is_a_low_rate_for_two_epochs() -> None:
    told = apply_preset("symmetric", DEFAULTS)
    assert (told.learning_rate, told.epochs, told.schedule) == (1e-5, 2, "warmup")
    assert (told.warmup_ratio, told.weight_decay, told.symmetric) == (0.1, 0.01, True)


def test_a_preset_leaves_the_student_as_it_is() -> None:
    mine = BiEncoderOptions(base="mine", layers=2, seed=7)
    made = apply_preset("sts_nli", mine)
    assert (made.base, made.layers, made.seed) == ("mine", 2, 7)


def test_an_unknown_preset_is_refused_with_those_that_exist() -> None:
    with pytest.raises(WorkbenchError, match=r"no recipe 'stts'.*sts, nli"):
        apply_preset("stts", DEFAULTS)


def test_plain_options_are_one_stage() -> None:
    assert stages_of(DEFAULTS) == (Stage("gold", "cosine"),)
    assert stages_of(BiEncoderOptions(silver_set_id=3)) == (Stage("gold+silver", "cosine"),)
    only = BiEncoderOptions(silver_set_id=3, use_gold=False, loss="cosent")
    assert stages_of(only) == (Stage("silver", "cosent"),)


def test_a_stage_takes_what_it_does_not_say_from_the_run() -> None:
    run = BiEncoderOptions(learning_rate=3e-5, epochs=9, max_steps=50, layers=2, pooling="cls")
    told = stage_options(run, Stage("gold", "cosine", epochs=2), is_first=False)
    assert (told.learning_rate, told.epochs) == (3e-5, 2)
    assert told.max_steps is None, "a stage's own epochs overrule the run's limit"
    assert (told.layers, told.pooling) == (None, "own"), "the model has been cut before"
    assert stage_options(run, Stage("gold")).max_steps == 50


def test_stages_are_named_in_the_name_of_a_run() -> None:
    told = apply_preset("sts_nli", BiEncoderOptions(base="tiny"))
    assert describe("train-bi-encoder", told) == "Bi-encoder from tiny: NLI, then gold"
    only = BiEncoderOptions(base="tiny", silver_set_id=3, use_gold=False, seeds=5)
    assert describe("train-bi-encoder", only) == (
        "Bi-encoder from tiny: silver set 3 only, best of 5 seeds"
    )


def test_every_loss_and_pooling_has_its_words_and_its_data() -> None:
    assert set(FITTING) == set(LOSSES) == set(training_words.LOSSES) == set(training_words.LOSS_WHY)
    assert set(training_words.POOLINGS) == set(POOLINGS)
    assert set(training_words.DATA) == set(DATA)


# --- the twin ---


def test_the_twin_trains_on_gold_for_as_many_steps() -> None:
    ours = BiEncoderOptions(silver_set_id=3, mixing="silver-first", silver_weight=1.0, patience=2)
    twin = gold_only_twin(ours, [40, 20])
    assert twin == BiEncoderOptions(max_steps=60)


def test_the_twin_of_stages_has_the_same_stages_on_gold() -> None:
    stages = (Stage("nli", "softmax"), Stage("silver", "cosine"), Stage("gold+silver", "cosent"))
    twin = gold_only_twin(BiEncoderOptions(silver_set_id=3, stages=stages, first_stage=2), [30, 20])
    assert twin.silver_set_id is None
    assert [(stage.data, stage.max_steps) for stage in twin.stages] == [
        ("nli", None),
        ("gold", 30),
        ("gold", 20),
    ]


# --- TOML ---


def _values_of(options_class: type) -> dict[str, st.SearchStrategy[Any]]:
    """A strategy per field, within the limits that a recipe may have."""
    made = {}
    hints = get_type_hints(options_class)
    for field in fields(options_class):
        if field.name == "stages":
            continue
        kinds = get_args(hints[field.name]) or (hints[field.name],)
        low, high = AT_LEAST.get(field.name, 0), AT_MOST.get(field.name, 10**6)
        one = {
            int: st.integers(int(low), int(high)),
            float: st.floats(float(low), float(high), allow_nan=False),
            bool: st.booleans(),
            str: st.text(),
            type(None): st.none(),
        }
        made[field.name] = st.one_of(*(one[kind] for kind in kinds))
    return made


RECIPES = st.builds(
    BiEncoderOptions,
    **_values_of(BiEncoderOptions),
    stages=st.lists(st.builds(Stage, **_values_of(Stage)), max_size=3).map(tuple),
)


@settings(max_examples=60)
@given(RECIPES)
def test_any_recipe_comes_back_from_toml_as_it_was(options: BiEncoderOptions) -> None:
    assert from_toml(to_toml(options)) == options


def test_a_short_recipe_has_defaults_for_the_rest() -> None:
    text = 'base = "mine"\nlearning_rate = 1e-5\n[[stages]]\ndata = "nli"\nloss = "softmax"\nscale = 5\n'
    assert from_toml(text) == BiEncoderOptions(
        base="mine", learning_rate=1e-5, stages=(Stage("nli", "softmax", scale=5.0),)
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("seed = 1\nepochs = = 3", r"not valid TOML: invalid value \(at line 2, column 10\)\."),
        ("epoch = 3", "Recipe: 'epoch' is no option. Options are base, layers"),
        ('epochs = "three"', "Recipe, epochs: 'three' is not a whole number."),
        ("epochs = 0", "Recipe, epochs: 0 is too small; the least is 1."),
        ("epochs = true", "Recipe, epochs: True is not a whole number."),
        ("learning_rate = nan", "Recipe, learning_rate: nan is no finite number."),
        ("warmup_ratio = 2", "Recipe, warmup_ratio: 2.0 is too large; the most is 1."),
        ("symmetric = 1", "Recipe, symmetric: 1 is not true or false."),
        ("stages = 3", "write each stage as a table of its own"),
        ("[[stages]]\n[[stages]]\nlr = 1", "Recipe, stage 2: 'lr' is no option."),
        ("[[stages]]\nepochs = 1.5", "Recipe, stage 1, epochs: 1.5 is not a whole number."),
    ],
)
def test_a_mistake_in_a_recipe_is_one_sentence_with_its_place(text: str, sentence: str) -> None:
    with pytest.raises(WorkbenchError, match=sentence) as told:
        from_toml(text)
    assert "\n" not in str(told.value)


# --- what is refused before a job is queued ---


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ({"loss": "hinge"}, "Loss 'hinge' is not known. Choose one of cosine"),
        ({"pooling": "median"}, "Pooling 'median' is not known. Choose one of own"),
        ({"mixing": "stirred"}, "Mixing 'stirred' is not known"),
        ({"loss": "softmax"}, "Loss 'softmax' cannot learn from gold. It learns from nli"),
        ({"stages": (Stage("nli", "softmax"),)}, "trains on NLI pairs, and project 'Tiny' has none"),
        ({"stages": (Stage("triplets", "triplet"),)}, "trains on triplets, and project 'Tiny' has none"),
        ({"stages": (Stage("silver"),)}, "no silver set is chosen"),
        ({"stages": (Stage("gold"), Stage("wine"))}, "Stage 2: data 'wine' is not known"),
        ({"stages": (Stage("gold"),), "first_stage": 2}, "cannot begin at stage 2: the recipe has 1"),
        ({"silver_set_id": 99}, "no silver set 99"),
        ({"use_gold": False}, "silver alone needs a silver set"),
        ({"stages": (Stage("gold"), Stage("gold")), "seeds": 2}, "needs a recipe of one stage; this one has 2"),
        ({"seeds": 2, "seed_stop": 1.0}, "must lie between 0 and 1, not be 1"),
        ({"gold_repeats": 0}, "gold repeats 0 must be above 0"),
        ({"stages": (Stage("gold"),), "mixing": "silver-first"}, "says in each stage what it trains on"),
        ({"gold_limit": 0}, "A limit of 0 gold pairs leaves nothing"),
    ],
)  # fmt: skip
def test_a_recipe_that_cannot_be_trained_is_refused_with_the_remedy(
    workspace: Workspace, project: Project, told: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(WorkbenchError, match=sentence):
        check_recipe(workspace, project, BiEncoderOptions(**told))


def test_weights_need_a_loss_that_knows_them(workspace: Workspace, project: Project) -> None:
    weighed = BiEncoderOptions(silver_set_id=silver_set(workspace, project), silver_weight=0.5)
    check_recipe(workspace, project, weighed)
    with pytest.raises(WorkbenchError, match=r"Loss 'cosent' knows no weights.*not 0\.5"):
        check_recipe(workspace, project, replace(weighed, loss="cosent"))
    check_recipe(workspace, project, replace(weighed, loss="cosent", mixing="silver-first"))


def test_silver_that_is_incomplete_or_of_another_project_is_refused(
    workspace: Workspace, project: Project
) -> None:
    half = silver_set(workspace, project, labelled=2)
    with pytest.raises(WorkbenchError, match="labelled in part"):
        check_recipe(workspace, project, BiEncoderOptions(silver_set_id=half))
    other = create_project(workspace, "Other")
    alone = BiEncoderOptions(silver_set_id=half, use_gold=False)
    with pytest.raises(WorkbenchError, match="belongs to another project"):
        check_recipe(workspace, other, alone)
    judge = CrossEncoderOptions(silver_set_id=half, use_gold=False)
    with pytest.raises(WorkbenchError, match="belongs to another project"):
        check_training(workspace, other, judge)


def test_seeds_need_dev_pairs_to_choose_by(workspace: Workspace) -> None:
    bare = create_project(workspace, "Bare")
    with pytest.raises(WorkbenchError, match="no gold pairs in the training split"):
        check_recipe(workspace, bare, BiEncoderOptions(seeds=2))


def test_the_plan_counts_rows_and_steps_of_each_stage(
    workspace: Workspace, project: Project
) -> None:
    set_id = silver_set(workspace, project)
    mixed = BiEncoderOptions(silver_set_id=set_id, gold_repeats=2, batch_size=4, epochs=3)
    (only,) = plan(workspace, project, mixed)
    assert (only.n_rows, only.n_steps) == (2 * 5 + 6, 4 * 3)
    both = plan(workspace, project, replace(mixed, mixing="silver-first", symmetric=True))
    assert [(stage.data, stage.n_rows) for stage in both] == [("silver", 12), ("gold", 20)]
    (ranked,) = plan(workspace, project, BiEncoderOptions(loss="mnrl", positive_from=0.7))
    assert ranked.n_rows == 3, "three of the five gold pairs score 0.7 or more"


def test_a_recipe_says_which_options_have_their_defaults() -> None:
    assert left_out(to_toml(BiEncoderOptions(layers=2))) == []
    unnamed = left_out("epochs = 2\n[[stages]]\nloss = 'cosine'\n")
    assert "loss" in unnamed
    assert not {"epochs", "layers", "stages"} & {*unnamed}


def test_the_schedule_of_a_stage_is_checked() -> None:
    with pytest.raises(WorkbenchError, match="Schedule 'foo' is not known"):
        check_shape(BiEncoderOptions(stages=(Stage(schedule="foo"),)))


def test_a_recipe_that_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(WorkbenchError, match="nested too deeply"):
        from_toml(f"loss = {'[' * 5000}{']' * 5000}")
