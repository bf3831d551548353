"""What the Compare page can start: measure what is missing, train missing baselines, try embeddings elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd
import streamlit as st

from augsbert_core.options import BiEncoderOptions, EvaluateOptions, TransferOptions, from_json
from augsbert_core.steps.compare import Comparison, equal_step_options, model_target
from augsbert_core.steps.recipes import uses
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.queue import active_jobs
from augsbert_core.storage.runs import list_runs
from augsbert_core.storage.uploads import keep_upload
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.job_panel import job_panel, launch
from augsbert_core.ui.last_job import needs_a_look
from augsbert_core.ui.widgets import as_text


@dataclass(frozen=True)
class Baseline:
    """A training run that a fair comparison still lacks."""

    label: str
    why: str
    options: BiEncoderOptions


def missing_baselines(workspace: Workspace, project_id: int) -> list[Baseline]:
    """The gold-only runs that the newest AugSBERT run has to be compared with and that do not exist yet."""
    students = list_runs(workspace, project_id, "train-bi-encoder", state=None)
    recipes = {run.id: from_json(BiEncoderOptions, run.options) for run in students}
    augmented = [r for r in students if r.state == "done" and _is_augmented(recipes[r.id])]
    if not augmented:
        return []
    newest = augmented[0]
    ours = recipes[newest.id]
    alike = [
        run
        for run in students
        if run.state in ("done", "started")
        and recipes[run.id].silver_set_id is None
        and (recipes[run.id].base, recipes[run.id].layers) == (ours.base, ours.layers)
    ]
    steps = newest.metrics.get("n_steps")
    has_twin = any(
        steps in (run.metrics.get("n_steps"), recipes[run.id].max_steps) for run in alike
    )
    has_plain = any(recipes[run.id].max_steps != steps for run in alike)
    missing = []
    if not steps:
        return []
    twin = equal_step_options(workspace, newest.id)
    if not has_plain:
        plain = replace(twin, max_steps=None, stages=_unlimited(twin))
        missing.append(
            Baseline(
                "Train the gold-only baseline",
                "The lower bound: the same recipe on gold pairs alone.",
                plain,
            )
        )
    if not has_twin:
        missing.append(
            Baseline(
                f"Train gold-only for {steps:,} steps",
                "The fair opponent: gold pairs alone, for as many optimiser steps as the AugSBERT run.",
                twin,
            )
        )
    return missing


def _is_augmented(options: BiEncoderOptions) -> bool:
    return options.silver_set_id is not None and uses(options, "gold") and uses(options, "silver")


def _unlimited(options: BiEncoderOptions) -> tuple:
    return tuple(replace(stage, max_steps=None) for stage in options.stages)


def action_buttons(bench: Bench, table: Comparison, baselines: Sequence[Baseline]) -> None:
    """Measure what is missing, train missing baselines, or add a model by name."""
    busy = any(
        job.step == "evaluate" and bench.project and job.project_id == bench.project.id
        for job in active_jobs(bench.workspace)
    )
    if table.missing and st.button(
        f"Measure {len(table.missing)} missing model{'' if len(table.missing) == 1 else 's'}",
        type="primary",
        icon=":material/straighten:",
        disabled=busy,
        help="They are being measured now."
        if busy
        else f"Score the {table.n_pairs:,} {table.split} pairs with every model that has no row yet.",
    ):
        launch(bench, "evaluate", EvaluateOptions(targets=table.missing, split=table.split))
    for number, baseline in enumerate(baselines):
        if st.button(
            baseline.label,
            icon=":material/model_training:",
            help=baseline.why,
            key=f"baseline-{number}",
        ):
            launch(bench, "train-bi-encoder", baseline.options)
    _add_model(bench, table)


def _add_model(bench: Bench, table: Comparison) -> None:
    with st.popover(
        "Add a model",
        icon=":material/add:",
        help="Measure any other model on the same pairs, to stand as a row of the table.",
    ):
        name = st.text_input(
            "Bi-encoder by name",
            placeholder="sentence-transformers/all-mpnet-base-v2",
            help="Any sentence-transformers model on the hub, or a folder. It is measured as it is, untrained.",
        )
        if st.button(
            "Measure it",
            disabled=not name.strip(),
            help="Scores the pairs of this split in the background; a model from the hub is downloaded first.",
        ):
            _measure(bench, table, model_target(name.strip()))
        other = st.text_input(
            "Something else",
            placeholder="run:12, cross:NAME, run:3 + run:7, majority",
            help="A run of any project (for example one trained on a source domain alone), a cross-encoder by name, the "
            "mean of several labelers, or the majority baseline.",
        )
        if st.button(
            "Measure this",
            disabled=not other.strip(),
            help="Scores the same pairs in the background and adds a row to the table.",
        ):
            _measure(bench, table, other.strip())


def _measure(bench: Bench, table: Comparison, target: str) -> None:
    launch(bench, "evaluate", EvaluateOptions(targets=(target,), split=table.split))


def transfer_panel(bench: Bench, table: Comparison) -> None:
    """Try the embeddings of the project's models on another task: a file of labelled texts."""
    panel = st.expander(
        "Transfer to another task", icon=":material/move_up:", key="transfer", on_change="rerun"
    )
    if not panel.open or bench.project is None:
        return
    with panel:
        st.caption(
            "Logistic regression on frozen embeddings, as SentEval did: is what the model has learnt of use elsewhere? "
            "A CSV or TSV file with a text and a label column; with a split column (train, dev, test) it is used, "
            "otherwise the texts are cross-validated."
        )
        encoders = [
            target
            for target, model in table.models.items()
            if model.base is not None and model.kind not in ("source only",)
        ]
        names = {target: _name(table, target) for target in encoders}
        with st.form("transfer-form", border=False):
            upload = st.file_uploader(
                "Labelled texts",
                type=["csv", "tsv", "txt"],
                help="A CSV or TSV file with a column of texts and one of classes, such as topics or sentiments.",
            )
            chosen = st.multiselect(
                "Models",
                encoders,
                default=encoders[:8],
                format_func=names.__getitem__,
                help="The bi-encoders whose embeddings are tried; none of them is trained any further.",
            )
            folds = st.number_input("Folds", 2, 50, 10, help="Parts of the cross-validation.")
            started = st.form_submit_button(
                "Measure transfer",
                icon=":material/straighten:",
                help="Queues one job for all chosen models; the accuracies are listed below.",
            )
        if started and upload is None:
            st.warning("Choose a file first.", icon=":material/upload_file:")
        elif started and upload is not None:
            path = keep_upload(bench.workspace, upload.name, upload.getvalue())
            options = TransferOptions(targets=tuple(chosen), data=str(path), folds=int(folds))
            launch(bench, "transfer", options)
        if needs_a_look(bench, "transfer"):
            job_panel(bench, ["transfer"])
        _transfer_results(bench)


def _name(table: Comparison, target: str) -> str:
    model = table.models[target]
    return f"{model.name} · run {model.run.id}" if model.run else model.name


def _transfer_results(bench: Bench) -> None:
    """Accuracy of every model, per file, the newest first."""
    if bench.project is None:
        return
    for run in list_runs(bench.workspace, bench.project.id, "transfer")[:3]:
        found = run.metrics
        how = "its own splits" if found.get("folds") is None else f"{found['folds']} folds"
        st.markdown(f"**{as_text(found['file'])}** · {found['n_texts']:,} texts, {how}")
        rows = pd.DataFrame(found["rows"])
        st.dataframe(
            pd.DataFrame(
                {
                    "Model": rows["name"],
                    "Accuracy × 100": (100 * rows["accuracy"]).round(1),
                    "± between folds": (100 * rows["sd"].astype(float)).round(1),
                    "Majority class": (100 * rows["majority"]).round(1),
                    "Tested on": rows["n_test"],
                }
            ),
            hide_index=True,
            placeholder="",
            alt="Results on other data",
        )
