"""The labeler gate on a page: is any labeler at hand better than the gold-only student?"""

from typing import Any

import pandas as pd
import streamlit as st

from augsbert_core import explain
from augsbert_core.options import BatchOptions, GateOptions, from_json
from augsbert_core.steps.gate import gate_cells
from augsbert_core.steps.labelers import latest_gate, scorers_at_hand
from augsbert_core.storage.queue import list_jobs
from augsbert_core.storage.records import Project, Run
from augsbert_core.storage.runs import list_runs
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.job_panel import batch_kind, job_panel, launch
from augsbert_core.ui.last_job import needs_a_look
from augsbert_core.ui.recipes import METRIC_NAMES
from augsbert_core.ui.what_happened import what_happened
from augsbert_core.ui.widgets import as_text, user_errors

TRIAL = "will-silver-help"
N_SILVER = 1000


def gate_panel(bench: Bench, project: Project) -> None:
    """The latest verdict on the labelers, a button to judge them anew, and the trial of the whole loop."""
    found = latest_gate(bench.workspace, project)
    at_hand = scorers_at_hand(bench.workspace, project)
    with st.container(border=True):
        st.markdown("**Labeler gate: is a labeler better than the gold-only student?**")
        if found is None:
            st.caption(
                "Silver labels can only teach what the labeler knows better than a student trained on gold alone. "
                "The gate compares both on the dev pairs before a label is made."
            )
        else:
            _show_verdict(found.metrics["verdict"], found.metrics["sentence"])
            _show_table(found.metrics)
            what_happened(explained(found.metrics), "gate")
        _show_trial(latest_trial(bench, project))
        _buttons(bench, project, has_labeler=bool(at_hand))
    if needs_a_look(bench, "gate"):
        job_panel(bench, ["gate"])
    if _trial_needs_a_look(bench, project):
        job_panel(bench, ["batch"], batches=TRIAL)


def _buttons(bench: Bench, project: Project, *, has_labeler: bool) -> None:
    with st.container(horizontal=True):
        trial = st.button(
            "Will silver help on my data?",
            type="primary",
            icon=":material/science:",
            help=f"One job in the background: trains a labeler if there is none, labels {N_SILVER:,} pairs, trains a "
            "small student with them and one on gold alone for as many steps, measures both on dev, and says what a "
            "full run would take.",
        )
        check = st.button(
            "Check the labelers",
            icon=":material/door_front:",
            disabled=not has_labeler,
            help="Scores the dev pairs with the newest labelers, the mean of the best two, the gold-only student and "
            "its untrained base. What has been measured before is not computed again.",
        )
    if check:
        launch(bench, "gate", GateOptions())
    if trial:
        _launch_trial(bench, project)


def _launch_trial(bench: Bench, project: Project) -> None:
    from augsbert_core.steps.plans import will_silver_help

    options = None
    with user_errors():
        options = will_silver_help(bench.workspace, project, n_silver=N_SILVER)
    if options is not None:
        launch(bench, "batch", options)


def _show_verdict(verdict: str, sentence: str) -> None:
    text = as_text(sentence)
    if verdict == "better":
        st.success(text, icon=":material/trending_up:")
    elif verdict == "not better":
        st.error(text, icon=":material/trending_down:")
    else:
        st.info(text, icon=":material/trending_flat:")


def _show_table(found: dict[str, Any]) -> None:
    metric = METRIC_NAMES.get(found["metric"], found["metric"])
    rows = pd.DataFrame(gate_cells(found))
    st.dataframe(
        rows,
        hide_index=True,
        height=38 + 35 * len(rows),
        column_config={
            "scorer": st.column_config.TextColumn("Scorer", width="medium"),
            "value": st.column_config.TextColumn(f"{metric} × 100"),
            "interval": st.column_config.TextColumn("95 % interval"),
            "difference": st.column_config.TextColumn(
                "Minus student", help="Of the gold-only student, on the same resampled pairs."
            ),
            "apart": st.column_config.TextColumn("95 % interval of it"),
        },
        alt="Labelers measured on dev",
    )
    notes = " ".join(as_text(note) for note in found.get("notes", []))
    st.caption(
        f"On {found['n_pairs']:,} {found['split']} pairs, best first. {notes} Intervals: bootstrap over the pairs; "
        "they say nothing about other seeds."
    )


def explained(found: dict[str, Any]) -> tuple[str, ...]:
    """What the metrics of a gate mean, in plain sentences."""
    best: dict[str, Any] = next(iter(found["rows"]), {})
    return explain.gate(
        verdict=found["verdict"],
        n_pairs=found["n_pairs"],
        split=found["split"],
        difference=best.get("difference"),
        low=best.get("difference_low"),
        high=best.get("difference_high"),
        labeler_score=best.get("value"),
        untrained_score=(found.get("untrained") or {}).get("value"),
    )


def _trial_needs_a_look(bench: Bench, project: Project) -> bool:
    """As `needs_a_look`, of the trials alone: other batches have pages of their own."""
    jobs = [
        job for job in list_jobs(bench.workspace, project.id) if batch_kind(bench, job) == TRIAL
    ]
    return bool(jobs) and jobs[0].state != "done"


def latest_trial(bench: Bench, project: Project) -> Run | None:
    """The newest finished trial "Will silver help on my data?"."""
    return next(
        (
            run
            for run in list_runs(bench.workspace, project.id, "batch")
            if from_json(BatchOptions, run.options).kind == TRIAL
        ),
        None,
    )


def _show_trial(run: Run | None) -> None:
    outcome = run.metrics.get("outcome") if run else None
    if not outcome:
        return
    text = as_text(f"Trial of {outcome['n_silver']:,} silver pairs: {outcome['sentence']}")
    if outcome.get("helps") is None:
        st.info(text, icon=":material/trending_flat:")
    elif outcome["helps"]:
        st.success(text, icon=":material/trending_up:")
    else:
        st.error(text, icon=":material/trending_down:")
    if outcome.get("estimate_sentence"):
        st.caption(as_text(outcome["estimate_sentence"]))
