"""Train the labeler on gold, and the student on gold or gold + silver."""

from dataclasses import asdict
from typing import Any

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.models import bi_encoder, cross_encoder
from augsbert_core.models.training import TrainingResult
from augsbert_core.options import BiEncoderOptions, CrossEncoderOptions
from augsbert_core.pairs import ScoredPairs
from augsbert_core.steps.context import StepContext
from augsbert_core.storage import gold, runs, silver


def train_cross_encoder(context: StepContext, options: CrossEncoderOptions) -> dict[str, Any]:
    """Train the labeler on the gold training pairs and keep its best checkpoint on dev."""
    train, dev = _gold_for_training(context)
    result = cross_encoder.train_cross_encoder(
        train,
        dev,
        options,
        context.folder,
        task=context.project.task,
        device=context.device,
        report=context.report,
        should_stop=context.should_stop,
    )
    return _finish(context, result, n_gold=len(train), n_silver=0, gold_hash=gold.data_hash(train))


def train_bi_encoder(context: StepContext, options: BiEncoderOptions) -> dict[str, Any]:
    """Train the student on gold, or on gold + a complete silver set with its corrections."""
    train, dev = _gold_for_training(context)
    gold_hash, n_gold, passes = gold.data_hash(train), len(train), 0
    if options.silver_set_id is not None:
        silver_pairs, passes = _silver_for_training(context, options.silver_set_id)
        train = train + silver_pairs
    result = bi_encoder.train_bi_encoder(
        train,
        dev,
        options,
        context.folder,
        task=context.project.task,
        device=context.device,
        report=context.report,
        should_stop=context.should_stop,
    )
    return _finish(
        context,
        result,
        n_gold=n_gold,
        n_silver=len(train) - n_gold,
        gold_hash=gold_hash,
        passes=passes,
        data_hash=gold.data_hash(train),
    )


def _gold_for_training(context: StepContext) -> tuple[ScoredPairs, ScoredPairs]:
    train = gold.scored_pairs(context.workspace, context.project.id, "train")
    dev = gold.scored_pairs(context.workspace, context.project.id, "dev")
    if not len(train):
        raise WorkbenchError(
            f"Project {context.project.name!r} has no gold pairs in the training split. "
            "Import some on the Gold page first."
        )
    if context.project.task == "classification" and len(np.unique(train.scores)) < 2:
        raise WorkbenchError(
            "All gold training pairs have the same label. A model trained on one class cannot tell "
            "pairs apart: import pairs of the other class too."
        )
    return train, dev


def _silver_for_training(context: StepContext, set_id: int) -> tuple[ScoredPairs, int]:
    chosen = silver.get_silver_set(context.workspace, set_id)
    if chosen.project_id != context.project.id:
        raise WorkbenchError(f"Silver set {set_id} belongs to another project.")
    if not chosen.is_complete:
        raise WorkbenchError(
            f"Silver set {set_id} is only labelled in part ({chosen.n_pairs:,} of "
            f"{chosen.n_candidates:,} pairs). Resume its job on the Jobs page, then train."
        )
    return silver.silver_training_pairs(context.workspace, set_id), chosen.n_pairs


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
