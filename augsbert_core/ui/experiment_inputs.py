"""Inputs that several experiments share: the recipe, the seeds, the silver, lists of values."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from augsbert_core.options import (
    BiEncoderOptions,
    CrossEncoderOptions,
    SampleOptions,
    from_json,
)
from augsbert_core.steps import model_label
from augsbert_core.steps.plans.parts import Number, numbers_in
from augsbert_core.steps.plans.recipes import (
    labeler_runs,
    newest_labeler,
    newest_recipe,
    student_runs,
)
from augsbert_core.storage.candidates import list_candidate_sets
from augsbert_core.storage.records import Project
from augsbert_core.storage.silver_sets import list_silver_sets
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.candidate_sets import describe
from augsbert_core.ui.recipes import keep, whole

PAGE = "experiments"
MOST_RECIPES = 30


SILVER_CHOICES = {
    "reseeded": "A labeler per seed",
    "labeler": "One labeler",
    "set": "A silver set",
    "none": "No silver",
}


@dataclass(frozen=True)
class SilverChoice:
    """Where the silver of an experiment comes from; the recipe names the set when one is taken as it is."""

    recipe: BiEncoderOptions
    cross: CrossEncoderOptions | None = None
    candidates: SampleOptions | int | None = None
    labeler: str = ""


def recipe_input(bench: Bench, project: Project) -> BiEncoderOptions:
    """The student's recipe: that of an earlier bi-encoder, the newest at first; the defaults without one."""
    trained = student_runs(bench.workspace, project)[:MOST_RECIPES]
    if not trained:
        recipe = newest_recipe(bench.workspace, project)
        st.caption(
            f"Student: {recipe_text(recipe)}, the defaults. Train one on the Train page to choose another recipe."
        )
        return recipe
    recipes = {run.id: from_json(BiEncoderOptions, run.options) for run in trained}
    chosen = st.selectbox(
        "Student's recipe",
        list(recipes),
        format_func=lambda number: f"Run {number}: {recipe_text(recipes[number])}",
        help="Base model, layers, epochs, rates and loss of an earlier bi-encoder. Its data are chosen below.",
        key=f"{PAGE}-{project.id}-recipe-{trained[0].id}",
    )
    return recipes[chosen if chosen in recipes else trained[0].id]


def recipe_text(options: BiEncoderOptions) -> str:
    """A recipe in a few words."""
    layers = f", {options.layers} layers" if options.layers else ""
    length = f"{options.max_steps:,} steps" if options.max_steps else f"{options.epochs} epochs"
    return f"{model_label(options.base)}{layers}, {length}, batch {options.batch_size}"


def seeds_input(project: Project, *, default: int, name: str = "seeds") -> tuple[int, int]:
    """How many seeds, and how far apart."""
    left, right = st.columns(2)
    with left:
        number = whole(
            "Seeds", 1, 50, 1, "So many runs of each recipe, which differ in their seed alone.",
            **keep(PAGE, project, f"{name}-runs", default),
        )  # fmt: skip
    with right:
        step = whole(
            "Seed step", 1, 1000, 1, "From one seed to the next; the first is the recipe's.",
            **keep(PAGE, project, f"{name}-step", 1),
        )  # fmt: skip
    return number, step


def silver_inputs(
    bench: Bench, project: Project, recipe: BiEncoderOptions, *, can_name_labeler: bool = True
) -> SilverChoice:
    """Whether the students learn from silver, and who labels it."""
    sets = [
        found.id
        for found in list_silver_sets(bench.workspace, project.id)
        if found.is_complete and found.n_pairs
    ]
    labelers = labeler_runs(bench.workspace, project)
    possible = {"reseeded": True, "labeler": bool(labelers) and can_name_labeler, "set": bool(sets)}
    choices = [name for name in SILVER_CHOICES if possible.get(name, True)]
    how = st.segmented_control(
        "Silver",
        choices,
        format_func=SILVER_CHOICES.__getitem__,
        required=True,
        help="A labeler per seed shows the whole spread of the method, at the price of training it each time.",
        **keep(PAGE, project, "silver" if can_name_labeler else "curve-silver", "reseeded"),
    )
    plain = replace(recipe, silver_set_id=None)
    if how == "none" or how not in choices:
        return SilverChoice(plain)
    if how == "set":
        chosen = st.selectbox(
            "Silver set",
            sets,
            key=f"{PAGE}-{project.id}-set-{sets[0]}",
            format_func="Set {}".format,
            help="The one labelling run that all students of the experiment learn from; only their own seed then "
            "varies.",
        )
        return SilverChoice(replace(recipe, silver_set_id=chosen))
    candidates = candidates_input(bench, project, recipe.seed)
    if how == "reseeded":
        return SilverChoice(plain, newest_labeler(bench.workspace, project), candidates)
    by = st.selectbox(
        "Labeler",
        [run.id for run in labelers],
        format_func=lambda number: f"Run {number}",
        key=f"{PAGE}-{project.id}-labeler-{labelers[0].id}",
        help="The trained cross-encoder that labels the candidates once, for all students.",
    )
    return SilverChoice(plain, None, candidates, f"run:{by}")


def candidates_input(bench: Bench, project: Project, seed: int) -> SampleOptions | int:
    """An existing candidate set, the newest at first, or BM25 candidates sampled anew."""
    sets = {found.id: found for found in list_candidate_sets(bench.workspace, project.id)}
    chosen = st.selectbox(
        "Candidates",
        [*sets, None],
        format_func=lambda number: (
            "BM25 top-5, sampled anew"
            if number is None
            else f"Candidate set {number}: {describe(bench, sets[number])}, {sets[number].n_pairs:,} pairs"
        ),
        key=f"{PAGE}-{project.id}-candidates-{max(sets, default=0)}",
        help="The unscored pairs that become silver. Sampled anew, they are drawn with the seed of the recipe.",
    )
    return chosen or SampleOptions(seed=seed)


def number_list(
    project: Project,
    label: str,
    name: str,
    grid: str,
    default: Sequence[Number],
    kind: Callable[[str], Number],
) -> list[Number]:
    """Numbers in a text field, with commas or spaces between them. WorkbenchError names one that is none."""
    text = st.text_input(
        label,
        placeholder="the recipe's own",
        help="Numbers with commas or spaces between them, each tried with each of the other lists. Empty takes "
        "what the recipe has.",
        **keep(PAGE, project, f"{name}-{grid}", ", ".join(f"{value:g}" for value in default)),
    )
    return numbers_in(text, kind, label)
