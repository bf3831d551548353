"""The Experiments page, first half: choose an experiment, say how large, see what it costs, start it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import streamlit as st

from augsbert_core import jobs
from augsbert_core.errors import WorkbenchError
from augsbert_core.models.devices import available_devices
from augsbert_core.options import (
    BatchOptions,
    BiEncoderOptions,
    CrossEncoderOptions,
    SampleOptions,
)
from augsbert_core.steps.names import BATCH_NAMES
from augsbert_core.steps.plans import (
    GRIDS,
    domain_adaptation,
    learning_curve,
    multi_run,
    sweep,
    will_silver_help,
)
from augsbert_core.steps.plans.estimate import estimated_seconds
from augsbert_core.steps.plans.recipes import labeler_runs, newest_labeler
from augsbert_core.storage.candidates import list_candidate_sets
from augsbert_core.storage.projects import count_project, list_projects
from augsbert_core.storage.records import Project
from augsbert_core.ui.bench import Bench, open_project
from augsbert_core.ui.experiment_inputs import (
    PAGE,
    number_list,
    recipe_input,
    seeds_input,
    silver_inputs,
)
from augsbert_core.ui.recipes import device_input, keep, whole
from augsbert_core.ui.widgets import about_text, as_text, flash, user_errors

WHY = {
    "multi-run": "One seed is one throw of the dice. The same recipe over several seeds gives a mean and a standard "
    "deviation: a difference within it may be luck.",
    "sweep": "Other learning rates, batch sizes or numbers of neighbours, compared on dev. The test split stays out of "
    "it, so that it can still judge the winner.",
    "will-silver-help": "A small trial in the background: a labeler, a thousand silver pairs, a student with them and "
    "one without at as many steps, measured on dev. It ends in one sentence and says how long a full run takes.",
    "learning-curve": "How the score grows with the gold pairs (paper, figure 1), without silver and with it: whether "
    "more labelling by people would pay.",
    "domain-adaptation": "No gold pairs in this domain, but plenty in another? The other project's labeler labels "
    "pairs of this one, and a student learns from those alone (paper, section 3.2).",
}
"""Kind of experiment → why one would."""


@dataclass(frozen=True)
class Planned:
    """A plan, and the project that it belongs to."""

    project: Project
    options: BatchOptions


def choose_kind() -> str:
    """The kind of experiment, with the reason for it."""
    kind = st.segmented_control(
        "Experiment",
        list(WHY),
        format_func=BATCH_NAMES.__getitem__,
        default="multi-run",
        required=True,
        key="experiment-kind",
        persist_state="session",
        help="A question that one training cannot answer: its runs are queued as one job and summed up in a "
        "table.",
    )
    chosen = kind or "multi-run"
    st.markdown(WHY[chosen])
    return chosen


def plan_input(bench: Bench, project: Project, kind: str) -> Planned | None:
    """The inputs of an experiment and the plan they make; None, with the reason, when they make none."""
    try:
        return FORMS[kind](bench, project)
    except WorkbenchError as error:
        st.error(as_text(str(error)), icon=":material/error:")
        return None


def show_cost(bench: Bench, planned: Planned) -> None:
    """How many runs, and how long they take at the speed of earlier ones."""
    options = planned.options
    trained = sum(run.step.startswith("train-") for run in options.runs)
    st.metric(
        "Models to train",
        trained,
        delta=f"{len(options.runs)} runs in all",
        delta_color="off",
        delta_arrow="off",
    )
    seconds = estimated_seconds(bench.workspace, planned.project, options)
    st.metric(
        "Time, about",
        "not known yet" if seconds is None else about_text(seconds),
        help="Training and labelling at the speed of the newest such runs of this project; sampling and measuring "
        "come on top.",
    )
    for note in options.notes:
        st.caption(as_text(note))


def start_button(bench: Bench, planned: Planned | None) -> None:
    """Start the experiment as one background job."""
    shared = any(name.startswith("cuda") for name in available_devices()) and st.checkbox(
        "Share the card",
        help="Let other shared jobs run on the same card at the same time. They need its memory together.",
        key="experiment-shared",
        persist_state="session",
    )
    if st.button(
        "Start",
        type="primary",
        icon=":material/play_arrow:",
        disabled=planned is None,
        help="Queues all runs as one job. Stopped, it can be resumed, and finished runs are not done again.",
    ) and (planned is not None):
        with user_errors():
            jobs.enqueue(
                bench.workspace, planned.project.id, "batch", planned.options, shared=shared
            )
            open_project(planned.project.id)
            flash(f"{BATCH_NAMES[planned.options.kind]}: queued", ":material/play_circle:")
            st.rerun()


def _seeds_form(bench: Bench, project: Project) -> Planned:
    left, right = st.columns(2)
    with left:
        recipe = recipe_input(bench, project)
    with right:
        num_runs, seed_step = seeds_input(project, default=3)
    silver = silver_inputs(bench, project, recipe)
    device = device_input(PAGE, project)
    return Planned(
        project,
        multi_run(
            replace(silver.recipe, device=device),
            cross=silver.cross,
            candidates=silver.candidates,
            labeler=silver.labeler,
            num_runs=num_runs,
            seed_step=seed_step,
            split="test" if count_project(bench.workspace, project.id).test else "",
        ),
    )


def _sweep_form(bench: Bench, project: Project) -> Planned:
    left, right = st.columns(2)
    with left:
        what = st.segmented_control(
            "Of the",
            ["bi-encoder", "cross-encoder"],
            required=True,
            help="Which training is repeated with other values: that of the student, or that of the labeler.",
            **keep(PAGE, project, "sweep-of", "bi-encoder"),
        )
    with right:
        grid = st.selectbox(
            "Values",
            [name for name in GRIDS if name != "top-k" or what == "bi-encoder"],
            format_func={
                "top-k": "Top-k of the paper", "bert": "BERT's grid", "rates": "Learning rates",
            }.__getitem__,
            key=f"{PAGE}-{project.id}-grid",
            help="A list to begin with; every number of it can be changed below.",
        )  # fmt: skip
    preset = GRIDS[grid]
    st.caption(as_text(f"These are {preset.source}."))
    recipe: BiEncoderOptions | CrossEncoderOptions = (
        recipe_input(bench, project)
        if what == "bi-encoder"
        else newest_labeler(bench.workspace, project)
    )
    rates, sizes, ks = st.columns(3)
    with rates:
        learning_rates = number_list(
            project, "Learning rates", "rates", grid, preset.learning_rates, float
        )
    with sizes:
        batch_sizes = number_list(project, "Batch sizes", "sizes", grid, preset.batch_sizes, int)
    with ks:
        top_ks: list[int] = []
        if what == "bi-encoder":
            top_ks = number_list(project, "Top-k", "ks", grid, preset.top_ks, int)
    num_runs, seed_step = seeds_input(project, default=1, name="sweep")
    labelers = labeler_runs(bench.workspace, project) if top_ks else []
    return Planned(
        project,
        sweep(
            replace(recipe, device=device_input(PAGE, project)),
            learning_rates=learning_rates,
            batch_sizes=batch_sizes,
            top_ks=top_ks,
            labeler=f"run:{labelers[0].id}" if labelers else "",
            num_runs=num_runs,
            seed_step=seed_step,
        ),
    )


def _silver_help_form(bench: Bench, project: Project) -> Planned:
    left, right = st.columns(2)
    with left:
        n_silver = whole(
            "Silver pairs", 50, 1_000_000, 500,
            "Drawn at random from the BM25 candidates; more pairs show smaller effects and take longer.",
            **keep(PAGE, project, "n_silver", 1000),
        )  # fmt: skip
    with right:
        seed = whole(
            "Seed", 0, 2**31 - 1, 1, "Of everything random.", **keep(PAGE, project, "seed", 42)
        )
    device = device_input(PAGE, project)
    return Planned(
        project,
        will_silver_help(bench.workspace, project, n_silver=n_silver, seed=seed, device=device),
    )


def _curve_form(bench: Bench, project: Project) -> Planned:
    left, right = st.columns(2)
    with left:
        recipe = recipe_input(bench, project)
    with right:
        num_runs, seed_step = seeds_input(project, default=2, name="curve")
    shares = st.pills(
        "Parts of the gold pairs",
        [0.05, 0.1, 0.25, 0.5, 0.75, 1.0],
        selection_mode="multi",
        format_func=lambda share: f"{share:.0%}",
        help="How many of the training pairs the runs of each point get, drawn with their seed; all are measured "
        "on the same pairs.",
        **keep(PAGE, project, "shares", [0.1, 0.25, 0.5, 1.0]),
    )
    silver = silver_inputs(bench, project, recipe, can_name_labeler=False)
    counts = count_project(bench.workspace, project.id)
    return Planned(
        project,
        learning_curve(
            replace(silver.recipe, device=device_input(PAGE, project)),
            counts.train,
            fractions=shares,
            num_runs=num_runs,
            seed_step=seed_step,
            cross=silver.cross,
            candidates=silver.candidates,
            split="test" if counts.test else "",
        ),
    )


def _adaptation_form(bench: Bench, project: Project) -> Planned:
    names = {found.id: found for found in list_projects(bench.workspace)}
    with_gold = [number for number in names if count_project(bench.workspace, number).train]
    sources = [number for number in with_gold if number != project.id] or with_gold
    if len(names) < 2:
        raise WorkbenchError(
            "There is one project only. Import the other domain as a project of its own."
        )
    left, right = st.columns(2)
    with left:
        source = st.selectbox(
            "From (source, has gold)",
            sources,
            format_func=lambda number: names[number].name,
            help="Its labeler labels the pairs; without one it is trained there first.",
            key=f"{PAGE}-{project.id}-source",
        )
    with right:
        targets = sorted(names, key=lambda number: number != project.id)
        target = st.selectbox(
            "To (target, gold needed for measuring only)",
            targets,
            format_func=lambda number: names[number].name,
            key=f"{PAGE}-{project.id}-target",
            help="The domain to adapt to: its sentences are paired and labelled, its gold pairs train nothing.",
        )
    if source is None or target is None:
        raise WorkbenchError("No project has gold training pairs. Import some first.")
    recipe = recipe_input(bench, names[source])
    sets = {found.id: found for found in list_candidate_sets(bench.workspace, target)}
    chosen = st.selectbox(
        "Pairs of the target to label",
        [None, *sets],
        format_func=lambda number: (
            "BM25 top-5, sampled anew"
            if number is None
            else f"Candidate set {number}: {sets[number].n_pairs:,} pairs, {sets[number].strategy}"
        ),
        key=f"{PAGE}-{target}-target-candidates",
        help="The candidates that the source's labeler scores; the students learn from these silver pairs alone.",
    )
    num_runs, seed_step = seeds_input(project, default=1, name="adapt")
    device = device_input(PAGE, project)
    candidates = chosen or SampleOptions(use_unlabelled=True, seed=recipe.seed)
    return Planned(
        names[target],
        domain_adaptation(
            bench.workspace,
            names[source],
            names[target],
            bi=replace(recipe, device=device),
            candidates=candidates,
            num_runs=num_runs,
            seed_step=seed_step,
        ),
    )


FORMS: dict[str, Callable[[Bench, Project], Planned]] = {
    "multi-run": _seeds_form,
    "sweep": _sweep_form,
    "will-silver-help": _silver_help_form,
    "learning-curve": _curve_form,
    "domain-adaptation": _adaptation_form,
}
"""Kind of experiment → its inputs."""
