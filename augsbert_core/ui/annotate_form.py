"""A new annotation task: which pairs, in which order, on which scale, by how many people."""

from typing import Any

import pandas as pd
import streamlit as st

from augsbert_core import best_worst
from augsbert_core.errors import WorkbenchError
from augsbert_core.explain.phrases import many
from augsbert_core.options import BUNDLED_MODEL, TaskOptions
from augsbert_core.queues import QUEUES
from augsbert_core.scales import (
    LONGEST_LABEL,
    Level,
    custom_levels,
    level_labels,
    offered_scales,
    scale_levels,
)
from augsbert_core.steps import model_label
from augsbert_core.steps.make_task import check_task, create_now, needs_model
from augsbert_core.storage.annotation_tasks import get_task
from augsbert_core.storage.candidates import get_candidate_set, list_candidate_sets
from augsbert_core.storage.projects import ProjectCounts
from augsbert_core.storage.records import Project
from augsbert_core.storage.runs import get_run, runs_with_model
from augsbert_core.storage.silver_sets import get_silver_set, list_silver_sets
from augsbert_core.ui.annotate_keys import key_caps
from augsbert_core.ui.annotate_views import open_view
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.candidate_sets import set_label
from augsbert_core.ui.job_panel import launch
from augsbert_core.ui.recipes import keep, whole
from augsbert_core.ui.silver_filters import set_title
from augsbert_core.ui.widgets import as_text, duration_text, flash, page_link, user_errors

PAGE = "annotate"

SOURCES = {
    "candidates": "Candidate pairs",
    "silver": "Silver pairs",
    "gold": "Gold pairs again",
}
SOURCE_HELP = {
    "candidates": "Pairs that were sampled, or uploaded without scores. They can become gold pairs.",
    "silver": "Pairs that a labeler has scored already: people check it, and their scores can become gold.",
    "gold": "Pairs that have a gold score: people score them again, blind to the first score.",
}
KINDS = {"scores": "A score for each pair", "best-worst": "Best and worst of four"}
KIND_HELP = {
    "scores": "One pair at a time, on a scale. Fast, and each pair has its score at once.",
    "best-worst": "Four pairs at a time: which is the most similar, which the least? People agree far better on this "
    "than on numbers; scores come from how often a pair wins (the paper's BWS data set was made so).",
}
SCALE_NAMES = {
    "0-5": "0 to 5 in half steps",
    "0-1": "Eleven steps",
    "binary": "No or yes",
    "custom": "Words of my own",
}
TUPLE_SECONDS = 15
"""What an answer on four pairs takes, about."""

WORDS = [("different", 0.0), ("related", 0.5), ("same meaning", 1.0)]
"""Levels to begin with, scores in [0, 1]."""


def new_task(bench: Bench, project: Project, counts: ProjectCounts) -> None:
    """The form; a task that needs no model is made at once and opened, another one by a job."""
    sources = _sources(bench, project, counts)
    if not sources:
        st.markdown(
            "There are no pairs to score yet. A task takes its pairs from candidates, from silver or from gold: import "
            "sentences and sample pairs of them, or upload pairs without scores."
        )
        page_link("sample", "Sample pairs, or upload your own")
        return
    told: dict[str, Any] = {}
    told |= _source_inputs(bench, project, counts, sources)
    told |= _queue_inputs(bench, project, told["source"])
    told |= _kind_inputs(project, counts)
    if told["kind"] == "best-worst":
        st.markdown(
            tuples_text(
                min(told["n_pairs"], _n_there(bench, counts, told)), told["tuples_per_pair"]
            )
        )
    try:
        options = TaskOptions(**told)
        check_task(bench.workspace, project, options)
    except WorkbenchError as error:
        st.caption(f":red[:material/error: {as_text(str(error))}]")
        options = None
    if (
        st.button(
            "Make the task",
            type="primary",
            icon=":material/add_task:",
            disabled=options is None,
            help="Chooses the pairs now and fixes their order; the pool stays as it is.",
        )
        and options is not None
    ):
        _make(bench, project, options)


def _make(bench: Bench, project: Project, options: TaskOptions) -> None:
    with user_errors():
        if needs_model(bench.workspace, project, options):
            launch(bench, "annotate", options)
            return
        task_id = create_now(bench.workspace, project, options)
        st.session_state.pop(f"{PAGE}-{project.id}-name", None)
        flash("The task is ready", ":material/edit_note:")
        run = get_run(bench.workspace, get_task(bench.workspace, task_id).run_id)
        for notice in run.metrics.get("notices", []):
            flash(notice, ":material/info:")
        open_view("annotate", project, task_id)
        st.rerun()


def _sources(bench: Bench, project: Project, counts: ProjectCounts) -> dict[str, str]:
    """The sources that hold pairs, with their numbers."""
    found = {}
    sets = [one for one in list_candidate_sets(bench.workspace, project.id) if one.n_pairs]
    if sets:
        found["candidates"] = many(len(sets), "set")
    silver = [one for one in list_silver_sets(bench.workspace, project.id) if one.n_pairs]
    if silver:
        found["silver"] = many(len(silver), "set")
    if counts.gold:
        found["gold"] = many(counts.gold, "pair")
    return found


def _source_inputs(
    bench: Bench, project: Project, counts: ProjectCounts, sources: dict[str, str]
) -> dict[str, Any]:
    kept = keep(PAGE, project, "source", next(iter(sources)))
    if st.session_state[kept["key"]] not in sources:
        st.session_state[kept["key"]] = next(iter(sources))
    left, right = st.columns([1, 1.6])
    with left:
        source = st.selectbox(
            "Pairs from",
            list(sources),
            format_func=lambda name: f"{SOURCES[name]} ({sources[name]})",
            help="What is scored by people: new pairs, a labeler's work, or gold once more.",
            **kept,
        )
    told: dict[str, Any] = {"source": source}
    with right:
        if source == "candidates":
            told["candidate_set_id"] = _candidate_set(bench, project)
        elif source == "silver":
            told["silver_set_id"] = _silver_set(bench, project)
        else:
            told["split"] = st.selectbox(
                "Split",
                ["", "train", "dev", "test"],
                format_func=lambda split: (
                    f"All ({counts.gold:,} pairs)"
                    if not split
                    else f"{split} ({getattr(counts, split):,} pairs)"
                ),
                help="Which gold pairs are scored again. Errors in test distort every result, so begin there.",
                **keep(PAGE, project, "split", ""),
            )
    st.caption(SOURCE_HELP[source])
    return told


def _candidate_set(bench: Bench, project: Project) -> int:
    sets = [one for one in list_candidate_sets(bench.workspace, project.id) if one.n_pairs]
    by_id = {one.id: one for one in sets}
    return st.selectbox(
        "Candidate set",
        list(by_id),
        format_func=lambda number: f"{set_label(bench, by_id[number])}",
        key=f"{PAGE}-{project.id}-candidates-{sets[0].id}",
        help="The sampled pairs, still without a score, from which the task takes its pairs.",
    )


def _silver_set(bench: Bench, project: Project) -> int:
    sets = [one for one in list_silver_sets(bench.workspace, project.id) if one.n_pairs]
    by_id = {one.id: one for one in sets}
    return st.selectbox(
        "Silver set",
        list(by_id),
        format_func=lambda number: set_title(by_id[number]),
        key=f"{PAGE}-{project.id}-silver-{sets[0].id}",
        help="The labelling run whose pairs people look at; their scores are later compared with the labeler's.",
    )


def _queue_inputs(bench: Bench, project: Project, source: str) -> dict[str, Any]:
    queues = [name for name, queue in QUEUES.items() if source in queue.sources]
    left, middle, right = st.columns([1.4, 0.8, 1.2])
    with left:
        queue = st.selectbox(
            "Which pairs, and in which order",
            queues,
            format_func=lambda name: QUEUES[name].title,
            key=f"{PAGE}-{project.id}-queue-{source}",
            persist_state="session",
            help="A person's hour holds some hundred pairs. Chance gives honest estimates; the other orders look "
            "for the pairs that teach most.",
        )
    told: dict[str, Any] = {"queue": queue}
    with middle:
        told["n_pairs"] = whole(
            "Number of pairs", 1, 1_000_000, 50,
            "How many pairs are in the task. 100 pairs take some 15 minutes.",
            **keep(PAGE, project, "n_pairs", 100),
        )  # fmt: skip
    with right:
        if queue == "threshold":
            told["threshold"] = _threshold(project)
        elif "students" in QUEUES[queue].needs or (
            source == "candidates" and "scores" in QUEUES[queue].needs
        ):
            told["student"] = _student(bench, project)
        else:
            told["seed"] = whole(
                "Seed", 0, 2**31 - 1, 1, "The same seed draws the same pairs.",
                **keep(PAGE, project, "seed", 42),
            )  # fmt: skip
    st.caption(QUEUES[queue].help)
    return told


def _n_there(bench: Bench, counts: ProjectCounts, told: dict[str, Any]) -> int:
    """The pairs of the source, those included that the task leaves out."""
    if told["source"] == "candidates":
        return get_candidate_set(bench.workspace, told["candidate_set_id"]).n_pairs
    if told["source"] == "silver":
        return get_silver_set(bench.workspace, told["silver_set_id"]).n_pairs
    return int(getattr(counts, told["split"] or "gold"))


def tuples_text(n_pairs: int, tuples_per_pair: float) -> str:
    """What a best-worst task asks of each person, in words."""
    if n_pairs < best_worst.TUPLE_SIZE:
        return f"Best and worst of four needs {best_worst.TUPLE_SIZE} pairs at least."
    n_tuples = best_worst.count_tuples(n_pairs, tuples_per_pair)
    meets = best_worst.TUPLE_SIZE * n_tuples / n_pairs
    return (
        f"{many(n_pairs, 'pair')} make **{many(n_tuples, 'tuple')}** of four to answer, so each pair is met in "
        f"about {meets:.0f} of them: **{duration_text(n_tuples * TUPLE_SECONDS)}** for one person, at "
        f"{TUPLE_SECONDS} s each."
    )


def _threshold(project: Project) -> float | None:
    scale = project.score_range
    raw = st.number_input(
        "Threshold",
        scale.low,
        scale.high,
        value=None,
        step=(scale.high - scale.low) / 100,
        placeholder="the labeler's own",
        format="%g",
        help="The score from which on a pair counts as similar. Empty takes the threshold that the labeler was "
        "measured with, or the middle of the scale.",
        key=f"{PAGE}-{project.id}-threshold",
        persist_state="session",
    )
    return None if raw is None else scale.to_unit(raw)


def _student(bench: Bench, project: Project) -> str:
    runs = runs_with_model(bench.workspace, project.id, "train-bi-encoder")
    names = {f"run:{run.id}": f"Run {run.id}" for run in runs}
    names[BUNDLED_MODEL] = f"Pretrained {model_label(BUNDLED_MODEL)}"
    chosen = st.selectbox(
        "Bi-encoder",
        list(names),
        format_func=lambda name: names.get(name, name),
        accept_new_options=True,
        help="Its cosine is the second opinion, or the estimate for pairs that no labeler has scored. Type the name "
        "or the folder of another one.",
        key=f"{PAGE}-{project.id}-student-{len(names)}",
    )
    return (chosen or BUNDLED_MODEL).strip()


def _kind_inputs(project: Project, counts: ProjectCounts) -> dict[str, Any]:
    left, middle, right = st.columns([1.4, 0.8, 1.2])
    with left:
        kind = st.selectbox(
            "What people do",
            list(KINDS),
            format_func=KINDS.__getitem__,
            help="Give numbers, or only compare; comparing takes longer and gives a finer order.",
            **keep(PAGE, project, "kind", "scores"),
        )
    told: dict[str, Any] = {"kind": kind}
    with middle:
        told["n_scores"] = whole(
            "Scores per pair" if kind == "scores" else "Answers per tuple", 1, 50, 1,
            "How many people score each pair. Two or more are needed to measure how well they agree.",
            **keep(PAGE, project, "n_scores", 1),
        )  # fmt: skip
    with right:
        told["name"] = st.text_input(
            "Name",
            max_chars=80,
            placeholder="as the number of the task",
            key=f"{PAGE}-{project.id}-name",
            help="How the task is listed, and part of the name of its exported file.",
        )
    st.caption(KIND_HELP[kind])
    if kind == "best-worst":
        told["tuples_per_pair"] = st.slider(
            "Tuples per pair",
            1.0,
            12.0,
            step=0.5,
            help="So many times as many groups of four as there are pairs; as each holds four, a pair is met in four "
            "times as many. At 4 (16 meetings) the order is nearly as good as with more.",
            **keep(PAGE, project, "tuples_per_pair", 4.0),
        )
        return told
    scales = offered_scales(project.task, project.score_range, has_gold=counts.gold > 0)
    told["scale"] = st.pills(
        "Scale",
        scales,
        format_func=lambda name: (
            f"{project.score_range.low:g} to {project.score_range.high:g} in eleven steps"
            if name == "0-1"
            else SCALE_NAMES[name]
        ),
        required=True,
        help="The levels people choose among; levels finer than they can tell apart only add noise.",
        **keep(PAGE, project, "scale", scales[0]),
    )
    if told["scale"] == "custom":
        told["levels"] = _words(project)
        return told
    levels = scale_levels(told["scale"])
    labels = level_labels(told["scale"], levels, project.score_range)
    st.html(key_caps([level.key for level in levels], labels))
    return told


def _words(project: Project) -> tuple[Level, ...]:
    """Labels with their scores, edited as a table on the project's own range; () while it is no scale."""
    scale = project.score_range
    start = pd.DataFrame(
        {
            "Label": [word for word, _ in WORDS],
            "Score": [scale.to_raw(score) for _, score in WORDS],
        }
    )
    edited = st.data_editor(
        start,
        num_rows="dynamic",
        hide_index=True,
        width=420,
        key=f"{PAGE}-{project.id}-words",
        column_config={
            "Label": st.column_config.TextColumn(max_chars=LONGEST_LABEL, required=True),
            "Score": st.column_config.NumberColumn(
                min_value=scale.low, max_value=scale.high, required=True, format="%g"
            ),
        },
        alt="Words for the levels of the scale, can be edited",
    )
    rows = edited.dropna()
    words = [
        (str(label), scale.to_unit(float(score)))
        for label, score in zip(rows["Label"], rows["Score"], strict=True)
    ]
    return custom_levels(words)
