"""Training the labeler: a cross-encoder with one output and binary cross-entropy on soft labels."""

from pathlib import Path

import numpy as np

from augsbert_core.models.catalog import load_cross_encoder
from augsbert_core.models.devices import claim_device
from augsbert_core.models.inference import pair_logits, sigmoid
from augsbert_core.models.tokens import tokenize_rows
from augsbert_core.models.training import (
    CHECKPOINT_SECONDS,
    TrainingResult,
    TrainingTask,
    check_training,
    fingerprint,
    run_training,
)
from augsbert_core.models.vocabulary import TrainedVocabulary
from augsbert_core.options import CrossEncoderOptions
from augsbert_core.pairs import ScoredPairs
from augsbert_core.progress import Report, ShouldStop, never, silent, stop_if


def train_cross_encoder(
    train: ScoredPairs,
    dev: ScoredPairs,
    options: CrossEncoderOptions,
    folder: Path,
    *,
    task: str,
    device: str,
    report: Report = silent,
    should_stop: ShouldStop = never,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
) -> TrainingResult:
    """Train a cross-encoder on scored pairs and save the one that does best on dev to folder/"model".

    task: "regression" (Spearman) or "classification" (F1 at the best threshold). Called again on the
    folder of an interrupted run, it goes on from the last complete checkpoint.
    Raises WorkbenchError without training pairs, Stopped when asked to stop.
    """
    metric = check_training(train, task)
    stop_if(should_stop)
    report(0.0, f"Loading {options.base}")
    device = claim_device(device)
    model = load_cross_encoder(
        options.base, device, max_length=options.max_length, for_training=True, seed=options.seed
    )
    from sentence_transformers.cross_encoder import CrossEncoderTrainingArguments
    from torch.nn import BCEWithLogitsLoss

    from augsbert_core.models.trainer import PairCollator, PairLoss, PairTrainer

    report(0.0, f"Tokenising {len(train) + len(dev):,} pairs")
    rows, dev_rows = (
        tokenize_rows(
            model,
            list(zip(pairs.sentences1, pairs.sentences2, strict=True)),
            should_stop=should_stop,
        )
        for pairs in (train, dev)
    )
    vocabulary = TrainedVocabulary(model, rows)

    def predict(should_stop: ShouldStop) -> np.ndarray:
        return sigmoid(pair_logits(model, dev_rows, should_stop=should_stop))

    return run_training(
        TrainingTask(
            trainer_class=PairTrainer,
            arguments_class=CrossEncoderTrainingArguments,
            model=model,
            loss=PairLoss(model, BCEWithLogitsLoss()),
            collator=PairCollator(vocabulary.renumber(rows), train.scores),
            lengths=rows.lengths,
            vocabulary=vocabulary,
            predict=predict,
            dev_scores=dev.scores,
            metric=metric,
            fingerprint=fingerprint(options, train, dev),
        ),
        options,
        folder,
        device=device,
        report=report,
        should_stop=should_stop,
        checkpoint_seconds=checkpoint_seconds,
    )
