"""Transfer: are a model's embeddings of use for another task? Logistic regression on them (SentEval)."""

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.metrics.probe import probe_folds, probe_splits
from augsbert_core.models import evaluation
from augsbert_core.options import TransferOptions
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.models import run_number
from augsbert_core.steps.targets import Target, parse_target
from augsbert_core.storage import runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.labelled_texts import LabelledTexts, read_labelled_texts
from augsbert_core.storage.records import Project


def check_transfer(
    workspace: Workspace, project: Project, options: TransferOptions
) -> tuple[list[Target], LabelledTexts]:
    """The models and the texts. WorkbenchError: a target is no bi-encoder, or the file cannot be used."""
    if not options.targets:
        raise WorkbenchError("Name at least one bi-encoder: run:ID or model:NAME.")
    targets = [parse_target(workspace, project, text) for text in options.targets]
    for target in targets:
        if target.kind != "bi_encoder":
            raise WorkbenchError(
                f"{target.text} has no embeddings: transfer is measured on bi-encoders."
            )
    texts = read_labelled_texts(Path(options.data), options.text_column, options.label_column)
    rarest, count = min(Counter(texts.labels).items(), key=lambda item: item[1])
    if not texts.splits and not 2 <= options.folds <= count:
        raise WorkbenchError(
            f"{options.folds} folds cannot be made: there are {count:,} texts of the rarest class {rarest!r}, and "
            f"every fold needs one. Use 2 to {count} folds, or more texts."
        )
    return targets, texts


def transfer(context: StepContext, options: TransferOptions) -> dict[str, Any]:
    """Measure every model on the texts: accuracy on the test rows, or cross-validated where there are no splits."""
    targets, texts = check_transfer(context.workspace, context.project, options)
    classes, labels = np.unique(texts.labels, return_inverse=True)
    rows = []
    for number, target in enumerate(targets):
        context.report(number / len(targets), f"Embedding {len(texts):,} texts with {target.text}")
        features = evaluation.embed_texts(
            target.location or "",
            texts.texts,
            device=context.device,
            layers=target.layers,
            should_stop=context.should_stop,
        )
        if texts.splits:
            found = probe_splits(features, labels, texts.splits, seed=options.seed)
        else:
            found = probe_folds(features, labels, folds=options.folds, seed=options.seed)
        rows.append(
            {"target": target.text, "name": _name(context.workspace, target), **asdict(found)}
        )
    return {
        "file": Path(options.data).name,
        "n_texts": len(texts),
        "n_classes": len(classes),
        "folds": None if texts.splits else options.folds,
        "rows": rows,
    }


def _name(workspace: Workspace, target: Target) -> str:
    run_id = run_number(target.text)
    return (
        target.text if run_id is None else f"{runs.get_run(workspace, run_id).name} · run {run_id}"
    )
