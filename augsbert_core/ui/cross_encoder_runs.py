"""What came of a trained cross-encoder, and the way out of the workbench for it."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from augsbert_core import explain
from augsbert_core.options import CrossEncoderOptions, from_json
from augsbert_core.storage.records import Project, Run
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.cross_encoder_form import DEFAULTS, PAGE
from augsbert_core.ui.what_happened import what_happened
from augsbert_core.ui.widgets import as_text


def closer_look(bench: Bench, project: Project, trained: Sequence[Run], n_dev: int) -> None:
    """One of the trained cross-encoders, the newest at first: what was particular about it, and its export.

    n_dev: gold pairs of the dev split.
    """
    from augsbert_core.ui.export_panel import export_panel

    names = {run.id: f"Run {run.id}: {run.name}" for run in trained}
    with st.container(border=True):
        chosen = st.selectbox(
            "A closer look at",
            list(names),
            format_func=names.__getitem__,
            help="What was particular about a run, and what to take out of the workbench.",
            key=f"{PAGE}-{project.id}-look-{trained[0].id}",  # a new run is shown at once
        )
        run = next((run for run in trained if run.id == chosen), trained[0])
        facts, warnings = run_facts(run)
        st.caption(as_text(" · ".join(facts) or "Trained as the default recipe says"))
        for warning in warnings:
            st.warning(as_text(warning), icon=":material/warning:")
        what_happened(explained(run, n_dev), "labeler")
        with st.expander("Export this model", icon=":material/ios_share:"):
            export_panel(bench, run)


def explained(run: Run, n_dev: int) -> tuple[str, ...]:
    """What the training of a run has brought, in plain sentences. n_dev: gold pairs of the dev split."""
    found: Mapping[str, Any] = run.metrics
    return explain.labeler(
        metric=str(found.get("metric") or ""),
        dev_score=found.get("dev_score"),
        n_dev=n_dev + int(found.get("n_dev_negatives") or 0),
        curve=[(int(step), float(score)) for step, score in found.get("dev_curve") or []],
        n_steps=int(found.get("n_steps") or 0),
        best_step=int(found.get("best_step") or found.get("n_steps") or 0),
    )


def run_facts(run: Run) -> tuple[list[str], list[str]]:
    """What was particular about a trained cross-encoder: (facts, warnings)."""
    found: Mapping[str, Any] = run.metrics
    options = from_json(CrossEncoderOptions, run.options)
    facts: list[str] = []
    if options.max_steps:
        facts.append(f"stopped after {options.max_steps:,} steps")
    elif options.epochs != DEFAULTS.epochs:
        facts.append(f"{options.epochs:,} epoch{'' if options.epochs == 1 else 's'}")
    if options.batch_size != DEFAULTS.batch_size:
        facts.append(f"batches of {options.batch_size:,}")
    if options.learning_rate != DEFAULTS.learning_rate:
        facts.append(f"learning rate {options.learning_rate:g}")
    if options.gold_limit:
        facts.append(f"{options.gold_limit:,} gold pairs only")
    if options.warm_start == "off":
        facts.append("no warm start")
    if found.get("warm_start_pairs"):
        facts.append(f"warm start on {found['warm_start_pairs']:,} pairs")
    if options.hidden:
        facts.append(f"{options.hidden} hidden units")
    if options.layers:
        facts.append(f"{options.layers} layers")
    if options.loss != DEFAULTS.loss:
        facts.append(f"loss {options.loss}")
    if options.both_orders:
        facts.append("both orders")
    if found.get("pos_weight"):
        facts.append(f"positives weigh {found['pos_weight']:.2f}")
    if found.get("n_negatives"):
        facts.append(f"{found['n_negatives']:,} {found.get('negatives')} negatives made")
    if found.get("n_dev_negatives"):
        facts.append(f"{found['n_dev_negatives']:,} negatives made for dev")
    if found.get("chosen_seed") is not None:
        facts.append(f"seed {found['chosen_seed']} of {len(found.get('seed_trials') or [])} tried")
    if found.get("truncated_share"):
        facts.append(f"{found['truncated_share']:.1%} of the pairs were cut off")
    warnings: Sequence[str] = found.get("notes") or []
    note = found.get("negatives_note")
    return facts, [*warnings, *([note] if note else [])]
