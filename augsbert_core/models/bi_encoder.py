"""Training the bi-encoder: one stage, with one loss, on pairs or triplets."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from augsbert_core.models.catalog import load_bi_encoder
from augsbert_core.models.devices import claim_device
from augsbert_core.models.inference import embed_rows, row_cosines
from augsbert_core.models.losses import LOSSES, build_loss, rows_for
from augsbert_core.models.pooling import set_pooling
from augsbert_core.models.tokens import TokenRows, distinct, tokenize_rows
from augsbert_core.models.training import (
    TrainingResult,
    TrainingTask,
    check_training,
    fingerprint,
    run_training,
)
from augsbert_core.models.vocabulary import TrainedVocabulary
from augsbert_core.options import BiEncoderOptions
from augsbert_core.pairs import ScoredPairs, TrainingRows
from augsbert_core.progress import Report, ShouldStop, never, silent, stop_if


def train_bi_encoder(
    train: ScoredPairs | TrainingRows,
    dev: ScoredPairs,
    options: BiEncoderOptions,
    folder: Path,
    *,
    task: str,
    device: str,
    report: Report = silent,
    should_stop: ShouldStop = never,
    checkpoint_seconds: float | None = None,
    stop_at: float | None = None,
) -> TrainingResult:
    """Train a bi-encoder and save the one that does best on dev to folder/"model".

    One stage: `options.stages` and `options.seeds` are left to the caller. train: whatever the loss can read;
    `losses.rows_for` chooses the rows and is called here, once.
    task: "regression" (Spearman) or "classification" (F1 at the best threshold). Called again on the
    folder of an interrupted run, it goes on from the last complete checkpoint. checkpoint_seconds and stop_at:
    as in `training.run_training`.
    Raises WorkbenchError without rows that suit the loss, Stopped when asked to stop.
    """
    metric = check_training(train, task)
    stop_if(should_stop)
    given = train if isinstance(train, TrainingRows) else TrainingRows.from_pairs(train)
    chosen = rows_for(options.loss, given, options)
    report(0.0, f"Loading {options.base}")
    device = claim_device(device)
    model = load_bi_encoder(
        options.base, device, layers=options.layers, max_length=options.max_length
    )
    set_pooling(model, options.pooling)
    dev_texts, dev_places = distinct([*dev.sentences1, *dev.sentences2])
    report(0.0, f"Tokenising {len(chosen.texts) + len(dev_texts):,} sentences")
    rows = tokenize_rows(model, chosen.texts, should_stop=should_stop)
    dev_rows = tokenize_rows(model, dev_texts, should_stop=should_stop)

    def predict(should_stop: ShouldStop) -> np.ndarray:
        embeddings = embed_rows(model, dev_rows, should_stop=should_stop)
        return row_cosines(embeddings, dev_places.reshape(2, -1))

    return run_training(
        TrainingTask(
            **_what_is_trained(model, chosen, rows, options),
            predict=predict,
            dev_scores=dev.scores,
            metric=metric,
            fingerprint=fingerprint(options, given, dev),
        ),
        options,
        folder,
        device=device,
        report=report,
        should_stop=should_stop,
        checkpoint_seconds=checkpoint_seconds,
        stop_at=stop_at,
    )


def _what_is_trained(
    model: Any, chosen: TrainingRows, rows: TokenRows, options: BiEncoderOptions
) -> dict[str, Any]:
    """The part of a `TrainingTask` that has to do with the training rows. rows: the tokens of chosen.texts."""
    from sentence_transformers.sentence_transformer.training_args import (
        SentenceTransformerTrainingArguments,
    )

    from augsbert_core.models.trainer import (
        BiEncoderTrainer,
        DistinctBatchSampler,
        EmbeddingCollator,
        EmbeddingLoss,
    )

    vocabulary = TrainedVocabulary(model, rows)
    lengths = _grouping_lengths(rows.lengths[chosen.places])
    others_are_negatives = LOSSES[options.loss].reads == "positives"
    loss = build_loss(options.loss, model, options, chosen)
    return {
        "trainer_class": BiEncoderTrainer,
        "arguments_class": SentenceTransformerTrainingArguments,
        "model": model,
        "loss": EmbeddingLoss(model, loss, len(chosen.places)),
        "collator": EmbeddingCollator(
            vocabulary.renumber(rows), chosen.places, _labels(chosen), _mean_one(chosen.weights)
        ),
        "lengths": lengths,
        "vocabulary": vocabulary,
        "batch_sampler": partial(DistinctBatchSampler, lengths=lengths, places=chosen.places)
        if others_are_negatives
        else None,
    }


def _labels(rows: TrainingRows) -> np.ndarray:
    """Classes as int64, scores as float32."""
    whole = np.issubdtype(rows.labels.dtype, np.integer)
    return rows.labels.astype(np.int64 if whole else np.float32)


def _mean_one(weights: np.ndarray | None) -> np.ndarray | None:
    """Weights that are 1 on average: rows of weight 0 are then as good as left out, and the step size stays."""
    return (
        None if weights is None else (weights / weights.mean(dtype=np.float64)).astype(np.float32)
    )


def _grouping_lengths(lengths: np.ndarray) -> np.ndarray:
    """One number per row that sorts by the longest sentence, then by the shortest.

    lengths: shape (columns, rows).
    """
    longest = int(lengths.max(initial=0)) + 1
    return lengths.max(axis=0) * longest + lengths.min(axis=0)
