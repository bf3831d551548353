"""Training a cross-encoder, the labeler or a student that reads pairs: one output on both sentences together."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from augsbert_core.models.catalog import load_cross_encoder
from augsbert_core.models.devices import claim_device
from augsbert_core.models.inference import pair_logits, sigmoid
from augsbert_core.models.pair_losses import (
    NOT_CALIBRATED,
    PAIR_LOSSES,
    Queries,
    check_loss,
    group_by_query,
    positive_weight,
)
from augsbert_core.models.tokens import PairRows, TokenRows, pair_rows, tokenize_rows
from augsbert_core.models.training import (
    TrainingResult,
    TrainingTask,
    check_training,
    fingerprint,
    run_training,
)
from augsbert_core.models.truncation import WARN_ABOVE, count_truncated
from augsbert_core.models.vocabulary import TrainedVocabulary
from augsbert_core.options import CrossEncoderOptions
from augsbert_core.pairs import ScoredPairs, TrainingRows
from augsbert_core.progress import Report, ShouldStop, never, silent, stop_if, stretch


@dataclass(frozen=True)
class CrossEncoderResult(TrainingResult):
    """What training a cross-encoder came to.

    pos_weight: the weight that positive rows had, or None. truncated_share: the share of training pairs that are
    longer than the window, in [0, 1]. n_left_out: rows that a ranking loss had no use for. notes: sentences
    that a reader of the score must know.
    """

    pos_weight: float | None = None
    truncated_share: float = 0.0
    n_left_out: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Plan:
    """The loss, its batches, and what one item of a batch is: a row, or a query with all its candidates.

    items_per_batch, rows_per_item: a batch holds about as many rows as the options ask for.
    """

    loss: Any
    collator: Any
    lengths: np.ndarray
    items_per_batch: int
    rows_per_item: float = 1.0
    facts: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def train_cross_encoder(
    train: ScoredPairs | TrainingRows,
    dev: ScoredPairs,
    options: CrossEncoderOptions,
    folder: Path,
    *,
    task: str,
    device: str,
    report: Report = silent,
    should_stop: ShouldStop = never,
    checkpoint_seconds: float | None = None,
    stop_at: float | None = None,
) -> CrossEncoderResult:
    """Train a cross-encoder on scored pairs and save the one that does best on dev to folder/"model".

    task: "regression" (Spearman) or "classification" (F1 at the best threshold). Called again on the
    folder of an interrupted run, it goes on from the last complete checkpoint. stop_at: as in `run_training`.
    Row weights count in the losses "bce" and "mse"; batches of the other losses hold whole queries.
    Raises WorkbenchError without training pairs or when loss and rows do not fit, Stopped when asked to stop.
    """
    metric = check_training(train, task)
    rows = _training_rows(train, options)
    target = _target(rows, options, task)
    stop_if(should_stop)
    report(0.0, f"Loading {options.base}")
    device = claim_device(device)
    model = load_cross_encoder(
        options.base,
        device,
        max_length=options.max_length,
        for_training=True,
        layers=options.layers,
        hidden=options.hidden,
        seed=options.seed,
    )
    from sentence_transformers.cross_encoder import CrossEncoderTrainingArguments

    from augsbert_core.models.trainer import PairTrainer

    report(0.0, f"Tokenising {len(rows) + len(dev):,} pairs")
    tokens = pair_rows(model, rows, should_stop=should_stop)
    dev_pairs = list(zip(dev.sentences1, dev.sentences2, strict=True))
    dev_tokens = tokenize_rows(model, dev_pairs, should_stop=should_stop)
    cut, warning = _check_length(model, rows, tokens)
    vocabulary = TrainedVocabulary(model, tokens)
    plan = _plan(model, rows, tokens, vocabulary.renumber(tokens), options, target)

    def predict(should_stop: ShouldStop) -> np.ndarray:
        return sigmoid(pair_logits(model, dev_tokens, should_stop=should_stop))

    result = run_training(
        TrainingTask(
            trainer_class=PairTrainer,
            arguments_class=CrossEncoderTrainingArguments,
            model=model,
            loss=plan.loss,
            collator=plan.collator,
            lengths=plan.lengths,
            vocabulary=vocabulary,
            predict=predict,
            dev_scores=dev.scores,
            metric=metric,
            fingerprint=fingerprint(options, train, dev),
        ),
        replace(options, batch_size=plan.items_per_batch),
        folder,
        device=device,
        report=stretch(report, 0.0, 1.0, note=warning.partition(";")[0]),
        should_stop=should_stop,
        checkpoint_seconds=checkpoint_seconds,
        stop_at=stop_at,
    )
    told = vars(result) | {
        "examples_per_second": result.examples_per_second * plan.rows_per_item,
        "n_rows": round(len(plan.lengths) * plan.rows_per_item),
    }
    notes = (*((warning,) if warning else ()), *plan.notes)
    return CrossEncoderResult(**told, **plan.facts, truncated_share=cut, notes=notes)


def _training_rows(train: ScoredPairs | TrainingRows, options: CrossEncoderOptions) -> TrainingRows:
    """The rows that are trained on, both orders of them if asked for."""
    rows = TrainingRows.from_pairs(train) if isinstance(train, ScoredPairs) else train
    return rows + rows.swapped() if options.both_orders else rows


@dataclass(frozen=True)
class _Target:
    """What the rows are to teach. pos_weight: for "bce". queries: for ranking losses."""

    pos_weight: float | None = None
    queries: Queries | None = None


def _target(rows: TrainingRows, options: CrossEncoderOptions, task: str) -> _Target:
    """WorkbenchError: loss and rows do not fit."""
    if check_loss(options).reads == "queries":
        return _Target(queries=group_by_query(rows))
    return _Target(pos_weight=positive_weight(rows.labels, task) if options.pos_weight else None)


def _plan(
    model: Any,
    rows: TrainingRows,
    tokens: TokenRows | PairRows,
    numbered: TokenRows | PairRows,
    options: CrossEncoderOptions,
    target: _Target,
) -> _Plan:
    """numbered: the tokens in the ids that the model has while it is trained."""
    from augsbert_core.models import pair_batches

    queries = target.queries
    if queries is None:
        loss = PAIR_LOSSES[options.loss].build(target.pos_weight)
        return _Plan(
            loss=pair_batches.PairLoss(model, loss),
            collator=pair_batches.PairCollator(numbered, rows.labels, rows.weights),
            lengths=tokens.lengths,
            items_per_batch=options.batch_size,
            facts={"pos_weight": target.pos_weight},
        )
    per_query = len(queries.rows) / len(queries)
    left_out = (
        f"{queries.n_left_out:,} of {len(rows):,} rows were left out: their query has one candidate, or "
        "candidates of one score."
    )
    return _Plan(
        loss=pair_batches.RankingLoss(model, options.loss),
        collator=pair_batches.QueryCollator(numbered, rows.labels, queries),
        lengths=np.maximum.reduceat(tokens.lengths[queries.rows], queries.starts[:-1]),
        items_per_batch=max(1, round(options.batch_size / per_query)),
        rows_per_item=per_query,
        facts={"n_left_out": queries.n_left_out},
        notes=(NOT_CALIBRATED, *((left_out,) if queries.n_left_out else ())),
    )


def _check_length(
    model: Any, rows: TrainingRows, tokens: TokenRows | PairRows
) -> tuple[float, str]:
    """The share of truncated pairs, and a warning where it is high, else ""."""
    read = model.max_seq_length
    if not read:
        return 0.0, ""
    if isinstance(tokens, PairRows):
        share = float(np.mean(tokens.lengths > read))
    else:
        pairs = list(zip(*rows.columns(), strict=True))
        share = count_truncated(model, pairs, tokens, read) / len(pairs)
    return share, truncation_warning(share, read) if share > WARN_ABOVE else ""


def truncation_warning(share: float, read: int) -> str:
    """What to know and do when many pairs are longer than the window."""
    return (
        f"{share:.1%} of the training pairs are longer than the {read} tokens that are read of a pair; "
        "their ends are cut off. A longer input costs time but reads them."
    )
