"""Train the labeler on gold, and the student on gold or gold + silver."""

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.models import bi_encoder, cross_encoder
from augsbert_core.models.training import TrainingResult
from augsbert_core.options import BiEncoderOptions, CrossEncoderOptions
from augsbert_core.pairs import ScoredPairs
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.warm_start import forget, wants_warm_start, warm_start
from augsbert_core.storage import gold, runs, silver_sets
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project


def train_cross_encoder(context: StepContext, options: CrossEncoderOptions) -> dict[str, Any]:
    """Train the labeler on the gold training pairs and keep its best checkpoint on dev."""
    train = check_training(context.workspace, context.project, options)
    begun = None
    if wants_warm_start(options, len(train)):
        begun = warm_start(context, options)
    told = replace(options, base=begun.location) if begun else options
    result = _train(context, told, train, cross_encoder.train_cross_encoder)
    forget(context.folder)
    finished = _finish(
        context, result, n_gold=len(train), n_silver=0, gold_hash=gold.data_hash(train)
    )
    return finished | {"warm_start_pairs": begun.n_pairs if begun else 0}


def train_bi_encoder(context: StepContext, options: BiEncoderOptions) -> dict[str, Any]:
    """Train the student on gold, or on gold + a complete silver set with its corrections."""
    train = check_training(context.workspace, context.project, options)
    gold_hash, n_gold, passes = gold.data_hash(train), len(train), 0
    if options.silver_set_id is not None:
        passes = silver_sets.get_silver_set(context.workspace, options.silver_set_id).passes
        train = train + silver_sets.silver_training_pairs(context.workspace, options.silver_set_id)
    result = _train(context, options, train, bi_encoder.train_bi_encoder)
    return _finish(
        context,
        result,
        n_gold=n_gold,
        n_silver=len(train) - n_gold,
        gold_hash=gold_hash,
        passes=passes,
        data_hash=gold.data_hash(train),
    )


def _train(
    context: StepContext,
    options: CrossEncoderOptions | BiEncoderOptions,
    train: ScoredPairs,
    trainer: Callable[..., TrainingResult],
) -> TrainingResult:
    """Hand the pairs to a trainer of `models`, with the gold dev pairs and what the context holds."""
    return trainer(
        train,
        gold.scored_pairs(context.workspace, context.project.id, "dev"),
        options,
        context.folder,
        task=context.project.task,
        device=context.device,
        report=context.report,
        should_stop=context.should_stop,
    )


def check_training(
    workspace: Workspace, project: Project, options: CrossEncoderOptions | BiEncoderOptions
) -> ScoredPairs:
    """The gold training pairs. WorkbenchError: there are none, of one class only, or no such silver set."""
    train = gold.scored_pairs(workspace, project.id, "train")
    if not len(train):
        raise WorkbenchError(
            f"Project {project.name!r} has no gold pairs in the training split. "
            "Import some on the Gold page first."
        )
    if project.task == "classification" and len(np.unique(train.scores)) < 2:
        raise WorkbenchError(
            "All gold training pairs have the same label. A model trained on one class cannot tell "
            "pairs apart: import pairs of the other class too."
        )
    if isinstance(options, BiEncoderOptions) and options.silver_set_id is not None:
        _check_silver(workspace, project, options.silver_set_id)
    return train


def _check_silver(workspace: Workspace, project: Project, set_id: int) -> None:
    chosen = silver_sets.get_silver_set(workspace, set_id)
    if chosen.project_id != project.id:
        raise WorkbenchError(f"Silver set {set_id} belongs to another project.")
    if not chosen.is_complete:
        raise WorkbenchError(
            f"Silver set {set_id} is only labelled in part ({chosen.n_pairs:,} of "
            f"{chosen.n_candidates:,} pairs). Resume its job on the Jobs page, then train."
        )


def _finish(
    context: StepContext,
    result: TrainingResult,
    *,
    n_gold: int,
    n_silver: int,
    gold_hash: str,
    passes: int = 0,
    data_hash: str | None = None,
) -> dict[str, Any]:
    model_path = str((context.folder / "model").relative_to(context.workspace.home))
    runs.update_run(
        context.workspace,
        context.run.id,
        data_hash=data_hash or gold_hash,
        device=result.device,
        model_path=model_path,
    )
    return {
        "run_id": context.run.id,
        **asdict(result),
        "n_gold": n_gold,
        "n_silver": n_silver,
        "passes": passes,
        "gold_hash": gold_hash,
    }
