"""The Train page in parts: the student's recipe, its data, and the gold-only twin."""

import streamlit as st

from augsbert_core.options import BiEncoderOptions, from_json
from augsbert_core.storage.records import Project
from augsbert_core.storage.runs import list_runs
from augsbert_core.storage.silver_bins import silver_status_counts
from augsbert_core.storage.silver_sets import list_silver_sets
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.recipes import base_input, common_inputs, keep, optimiser_steps
from augsbert_core.ui.silver_filters import set_title

PAGE, STEP = "train", "train-bi-encoder"
DEFAULTS = BiEncoderOptions()

SCHEDULES = {
    "warmup": "Warm up, then decay (paper)",
    "constant": "Constant",
}


def student_inputs(bench: Bench, project: Project) -> BiEncoderOptions:
    """The recipe of a bi-encoder."""
    silver_set_id = _data_input(bench, project)
    left, right = st.columns([2, 1])
    with left:
        base = base_input(PAGE, project, DEFAULTS.base)
    with right:
        layers = st.number_input(
            "Student layers",
            1,
            48,
            placeholder="all",
            help="Keep only the first layers of the base model: a smaller, faster student. On few gold pairs the "
            "full sentence-tuned model already judges better than the labeler trained from it, so silver "
            "has nothing to teach it; a small student has room to learn. Empty keeps all layers.",
            **keep(PAGE, project, "layers", project.student_layers),
        )
    common = common_inputs(PAGE, project, DEFAULTS)
    left, right = st.columns([2, 1])
    with left:
        schedule = st.segmented_control(
            "Learning rate over time",
            list(SCHEDULES),
            format_func=SCHEDULES.__getitem__,
            required=True,
            help="Warm-up starts with small steps for the first tenth of training, then goes down to zero.",
            **keep(PAGE, project, "schedule", DEFAULTS.schedule),
        )
    with right:
        max_steps = st.number_input(
            "Stop after steps",
            1,
            placeholder="none",
            help="A fixed number of optimiser steps in place of epochs.",
            **keep(PAGE, project, "max_steps", None),
        )
    return BiEncoderOptions(
        base=base,
        layers=layers,
        silver_set_id=silver_set_id,
        max_steps=max_steps,
        schedule=schedule or DEFAULTS.schedule,
        **common,
    )


def _data_input(bench: Bench, project: Project) -> int | None:
    """Gold only, or gold and one of the complete silver sets; the newest set at first."""
    all_sets = list_silver_sets(bench.workspace, project.id)
    complete = {found.id: found for found in all_sets if found.is_complete and found.n_pairs}
    choices: list[int | None] = [*complete, None]
    chosen = st.selectbox(
        "Training data",
        choices,
        format_func=lambda number: (
            "Gold pairs only"
            if number is None
            else f"Gold + {_lower_first(set_title(complete[number]))}"
        ),
        help="Silver pairs count with their corrections; rejected ones are left out.",
        key=f"{PAGE}-{project.id}-data-{max(complete, default=0)}",  # a new set is offered at once
    )
    if not complete:
        st.caption("There is no complete silver set yet, so this trains on gold alone.")
    elif waiting := len(all_sets) - len(complete):
        st.caption(
            f"{waiting} silver set{'' if waiting == 1 else 's'} not shown: labelling is not complete."
        )
    return chosen


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


def count_training_silver(bench: Bench, set_id: int | None) -> int:
    """How many silver pairs a student would learn from: all of the set but the rejected ones."""
    if set_id is None:
        return 0
    counts = silver_status_counts(bench.workspace, set_id)
    return sum(counts.values()) - counts["rejected"]


def twin_input(bench: Bench, project: Project, twin: BiEncoderOptions) -> bool:
    """Ask whether the gold-only twin is trained too; off when there is one already."""
    exists = any(
        run.state in ("done", "started") and from_json(BiEncoderOptions, run.options) == twin
        for run in list_runs(bench.workspace, project.id, STEP, state=None)
    )
    if exists:
        st.caption(
            f":material/check: The gold-only baseline with {twin.max_steps:,} steps exists or is at work already."
        )
        return False
    return st.checkbox(
        "Also train the gold-only baseline with as many steps",
        help="More pairs mean more optimiser steps, and about half of the naive gain of silver comes from those "
        "alone. The twin trains on gold for the same number of steps, so the comparison is fair.",
        **keep(PAGE, project, "twin", True),
    )


def show_plan(
    n_gold: int, n_silver: int, n_dev: int, steps: int, options: BiEncoderOptions
) -> None:
    """What will be trained on, and for how long."""
    st.metric(
        "Pairs to train on",
        f"{n_gold + n_silver:,}",
        delta=f"{n_silver:,} silver" if n_silver else "gold only",
        delta_color="off",
        delta_arrow="off",
    )
    st.metric(
        "Dev pairs",
        f"{n_dev:,}",
        help="The checkpoint with the best score on the dev split is kept.",
    )
    gold_steps = optimiser_steps(n_gold, batch_size=options.batch_size, epochs=options.epochs)
    st.metric(
        "Optimiser steps",
        f"{steps:,}",
        delta=f"gold alone: {gold_steps:,}" if n_silver and not options.max_steps else None,
        delta_color="off",
        delta_arrow="off",
        help="Pairs ÷ batch size, rounded up, × epochs, or the fixed number of steps.",
    )
