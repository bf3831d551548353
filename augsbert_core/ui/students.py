"""The Train page in parts: the student's recipe, its data, and the gold-only twin."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import streamlit as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import BiEncoderOptions, Stage, from_json, student_defaults
from augsbert_core.steps.recipe_checks import StagePlan, count_gold_rows, count_silver_rows
from augsbert_core.steps.recipes import PRESETS, apply_preset, stages_of, uses
from augsbert_core.storage.projects import ProjectCounts
from augsbert_core.storage.records import Project
from augsbert_core.storage.runs import list_runs
from augsbert_core.storage.silver_sets import list_silver_sets
from augsbert_core.ui import stage_editor
from augsbert_core.ui.advanced_training import advanced_inputs, loss_inputs
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.recipes import base_input, common_inputs, fill, keep
from augsbert_core.ui.silver_choice import silver_choice_inputs
from augsbert_core.ui.silver_filters import set_title
from augsbert_core.ui.training_words import DATA, MIXES
from augsbert_core.ui.widgets import as_text

PAGE, STEP = "train", "train-bi-encoder"
DEFAULTS = BiEncoderOptions()
OWN = "own"
GOLD_ONLY = 0
"""In place of the number of a silver set: a select box shows None as nothing chosen."""

NO_TWIN_YET = (
    "With early stopping the number of steps is known only afterwards: train the gold-only baseline with as "
    "many steps from the Compare page then."
)


def preset_input(bench: Bench, project: Project) -> None:
    """Choose a recipe with a name; it fills the inputs below, which stay free to change."""
    chosen = st.selectbox(
        "Recipe",
        [OWN, *PRESETS],
        format_func=lambda name: "Own settings" if name == OWN else PRESETS[name].title,
        help="A recipe fills the inputs below; all of them can be changed afterwards.",
        on_change=_take_preset,
        args=(bench, project),
        **keep(PAGE, project, "preset", OWN),
    )
    if chosen and chosen != OWN:
        preset = PRESETS[chosen]
        needs = " and ".join(DATA[kind] for kind in preset.needs)
        st.caption(as_text(f"{preset.why} It needs {needs}."))


def _take_preset(bench: Bench, project: Project) -> None:
    name = st.session_state[f"{PAGE}-{project.id}-preset"]
    if name not in PRESETS:
        stage_editor.set_stages(PAGE, project, ())
        return
    preset, made = PRESETS[name], apply_preset(name, DEFAULTS)
    told = {key: value for key, value in preset.told.items() if key != "silver_set_id"}
    _fill(project, told, made)
    stage_editor.set_stages(PAGE, project, preset.stages)
    newest = next(iter(complete_sets(bench, project)), GOLD_ONLY)
    key = _data_key(bench, project)
    if "silver" in preset.needs and not st.session_state.get(key):
        st.session_state[key] = newest
    elif "silver_set_id" in preset.told or preset.stages:
        st.session_state[key] = GOLD_ONLY


def _fill(project: Project, told: Mapping[str, Any], made: BiEncoderOptions) -> None:
    """Values into inputs; gold and silver share one of their own."""
    mix = made.mixing if made.use_gold else "silver-only"
    plain = {k: v for k, v in told.items() if k not in ("mixing", "use_gold", "stages")}
    fill(PAGE, project, {**plain, "mix": mix})


def _present_stages(bench: Bench, project: Project) -> tuple[Stage, ...]:
    """The recipe of the inputs as stages, for a table that is switched on."""
    newest = next(iter(complete_sets(bench, project)), GOLD_ONLY)
    chosen = st.session_state.get(_data_key(bench, project), newest)
    loss = st.session_state.get(f"{PAGE}-{project.id}-loss") or DEFAULTS.loss
    if chosen == GOLD_ONLY:
        return (Stage("gold", loss),)
    mix = st.session_state.get(f"{PAGE}-{project.id}-mix", "shuffled")
    if mix == "silver-first":
        return Stage("silver", loss), Stage("gold", loss)
    return (Stage("silver" if mix == "silver-only" else "gold+silver", loss),)


def take_options(bench: Bench, project: Project, options: BiEncoderOptions) -> None:
    """Put whole options into the inputs of the page. WorkbenchError: they name a silver set that is not here."""
    set_id = options.silver_set_id
    if set_id is not None and set_id not in complete_sets(bench, project):
        raise WorkbenchError(
            f"The recipe names silver set {set_id}, which this project does not have complete. Take out the "
            "line silver_set_id, or give the number of another set."
        )
    told = {field.name: getattr(options, field.name) for field in fields(options)}
    del told["silver_set_id"]
    _fill(project, told, options)
    fill(PAGE, project, {"preset": OWN})
    st.session_state[_data_key(bench, project)] = set_id or GOLD_ONLY
    stage_editor.set_stages(PAGE, project, options.stages)


def student_inputs(bench: Bench, project: Project) -> BiEncoderOptions:
    """The recipe of a bi-encoder. WorkbenchError: its table of stages holds none."""
    preset_input(bench, project)
    basic = st.container()
    advanced = st.expander("Advanced", icon=":material/tune:")
    staged = st.expander("Stages and recipe file", icon=":material/format_list_numbered:")
    begin_with = _present_stages(bench, project)
    with staged:
        stages = stage_editor.stage_table(PAGE, project, begin_with)
    with basic:
        told = _data_inputs(bench, project, staged=bool(stages))
        left, right = st.columns([2, 1])
        with left:
            told["base"] = base_input(PAGE, project, DEFAULTS.base)
        with right:
            told["layers"] = _layers_input(project)
        if stages and told["silver_set_id"] and not any("silver" in one.data for one in stages):
            st.caption(
                f":material/info: None of the stages trains on silver set {told['silver_set_id']}."
            )
        told |= loss_inputs(PAGE, project, [stage.loss for stage in stages])
        told |= common_inputs(PAGE, project, student_defaults(project.student_layers))
    with advanced:
        begun = BiEncoderOptions(**told, stages=stages)
        told |= advanced_inputs(PAGE, project, begun)
    options = BiEncoderOptions(**told, stages=stages)
    with staged:
        stage_editor.recipe_file(
            PAGE, project, options, lambda found: take_options(bench, project, found)
        )
    return options


def _layers_input(project: Project) -> int | None:
    return st.number_input(
        "Student layers",
        1,
        48,
        placeholder="all",
        help="Keep only the first layers of the base model, for a smaller, faster student; empty keeps all. On few "
        "gold pairs the full sentence-tuned model already judges better than the labeler trained from it, so "
        "silver has nothing to teach it; a small student has room to learn.",
        **keep(PAGE, project, "layers", project.student_layers),
    )


def complete_sets(bench: Bench, project: Project) -> dict[int, Any]:
    """The silver sets that can be trained on, newest first."""
    found = list_silver_sets(bench.workspace, project.id)
    return {each.id: each for each in found if each.is_complete and each.n_pairs}


def _data_key(bench: Bench, project: Project) -> str:
    newest = max(complete_sets(bench, project), default=0)
    return f"{PAGE}-{project.id}-data-{newest}"  # a new set is offered at once


def _data_inputs(bench: Bench, project: Project, *, staged: bool) -> dict[str, Any]:
    """Gold only, or one of the complete silver sets, the newest at first, and how the two meet."""
    complete = complete_sets(bench, project)
    n_all = len(list_silver_sets(bench.workspace, project.id))
    number = st.selectbox(
        "Training data",
        [*complete, GOLD_ONLY],
        format_func=lambda number: (
            "Gold pairs only"
            if number == GOLD_ONLY
            else f"Gold + {_lower_first(set_title(complete[number]))}"
        ),
        help="Silver pairs count with their corrections, and rejected ones are left out, unless you choose otherwise.",
        key=_data_key(bench, project),
    )
    chosen = number or None
    if not complete:
        st.caption("There is no complete silver set yet, so this trains on gold alone.")
    elif waiting := n_all - len(complete):
        st.caption(
            f"{waiting} silver set{'' if waiting == 1 else 's'} not shown: labelling is not complete."
        )
    if chosen is None or staged:
        told = silver_choice_inputs(bench, PAGE, project, chosen, may_promote=True)
        return {"silver_set_id": chosen, **told}
    mix = st.segmented_control(
        "Gold and silver",
        list(MIXES),
        format_func=MIXES.__getitem__,
        required=True,
        help="Shuffled: the paper's way. Silver first: gold has the last word, as a stage of its own. "
        "Silver only: for a domain without gold of its own (paper §3.2).",
        **keep(PAGE, project, "mix", "shuffled"),
    )
    return {
        "silver_set_id": chosen,
        "use_gold": mix != "silver-only",
        "mixing": "silver-first" if mix == "silver-first" else "shuffled",
        **silver_choice_inputs(bench, PAGE, project, chosen, may_promote=mix != "silver-only"),
    }


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


def twin_input(bench: Bench, project: Project, twin: BiEncoderOptions) -> bool:
    """Ask whether the gold-only twin is trained too; off when there is one already."""
    exists = any(
        run.state in ("done", "started") and from_json(BiEncoderOptions, run.options) == twin
        for run in list_runs(bench.workspace, project.id, STEP, state=None)
    )
    if exists:
        st.caption(
            ":material/check: The gold-only baseline with as many steps exists or is at work already."
        )
        return False
    return st.checkbox(
        "Also train the gold-only baseline with as many steps",
        help="More pairs mean more optimiser steps, and about half of the naive gain of silver comes from those "
        "alone. The twin trains on gold for the same number of steps, so the comparison is fair.",
        **keep(PAGE, project, "twin", True),
    )


def can_have_twin(options: BiEncoderOptions, counts: ProjectCounts) -> bool:
    """Whether a gold-only twin can be planned: with early stopping its steps are known only afterwards."""
    return uses(options, "silver") and counts.train > 0 and not options.patience


def show_plan(
    bench: Bench,
    project: Project,
    counts: ProjectCounts,
    planned: Sequence[StagePlan],
    options: BiEncoderOptions,
) -> None:
    """What will be trained on, and for how long."""
    n_gold = n_silver = 0
    if uses(options, "gold"):
        n_gold = count_gold_rows(bench.workspace, project, options, counts.train)
    if uses(options, "silver"):
        n_silver = count_silver_rows(bench.workspace, options)
    others = sum(stage.n_rows for stage in planned if stage.data in ("nli", "triplets"))
    parts = [f"{n_silver:,} silver"] if n_silver else []
    parts += [f"{others:,} NLI or triplet rows"] if others else []
    st.metric(
        "Pairs to train on",
        f"{n_gold + n_silver + others:,}",
        delta=", ".join(parts) or "gold only",
        delta_color="off",
        delta_arrow="off",
    )
    st.metric(
        "Dev pairs",
        f"{counts.dev:,}",
        help="The checkpoint with the best score on the dev split is kept.",
    )
    st.metric(
        "Optimiser steps",
        f"{sum(stage.n_steps for stage in planned):,}",
        help="Rows ÷ batch size, rounded up, × epochs, or the fixed number of steps; of all stages.",
    )
    first = options.first_stage
    if len(planned) > 1 or sum(stage.n_rows for stage in planned) != n_gold + n_silver + others:
        for number, stage in enumerate(planned, first):
            st.caption(
                f"**{number}.** {DATA[stage.data]}, {stage.loss}: {stage.n_rows:,} rows, "
                f"{stage.n_steps:,} steps"
            )
    if options.seeds > 1:
        rest = replace(options, seeds=1)
        st.caption(
            f"{options.seeds} seeds begin, one ends: "
            f"{options.seeds * options.seed_stop + 1 - options.seed_stop:.1f} times the work of "
            f"{len(stages_of(rest))} training."
        )
