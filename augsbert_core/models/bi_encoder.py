"""Training the bi-encoder: cosine similarity against the score, mean pooling."""

from pathlib import Path

import numpy as np

from augsbert_core.models.catalog import load_bi_encoder
from augsbert_core.models.devices import claim_device
from augsbert_core.models.inference import embed_rows, row_cosines
from augsbert_core.models.tokens import distinct, tokenize_rows
from augsbert_core.models.training import (
    CHECKPOINT_SECONDS,
    TrainingResult,
    TrainingTask,
    check_training,
    fingerprint,
    run_training,
)
from augsbert_core.models.vocabulary import TrainedVocabulary
from augsbert_core.options import BiEncoderOptions
from augsbert_core.pairs import ScoredPairs
from augsbert_core.progress import Report, ShouldStop, never, silent, stop_if


def train_bi_encoder(
    train: ScoredPairs,
    dev: ScoredPairs,
    options: BiEncoderOptions,
    folder: Path,
    *,
    task: str,
    device: str,
    report: Report = silent,
    should_stop: ShouldStop = never,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
) -> TrainingResult:
    """Train a bi-encoder on scored pairs and save the one that does best on dev to folder/"model".

    task: "regression" (Spearman) or "classification" (F1 at the best threshold). Called again on the
    folder of an interrupted run, it goes on from the last complete checkpoint.
    Raises WorkbenchError without training pairs, Stopped when asked to stop.
    """
    metric = check_training(train, task)
    stop_if(should_stop)
    report(0.0, f"Loading {options.base}")
    device = claim_device(device)
    model = load_bi_encoder(
        options.base, device, layers=options.layers, max_length=options.max_length
    )
    from sentence_transformers.sentence_transformer.losses import CosineSimilarityLoss
    from sentence_transformers.sentence_transformer.training_args import (
        SentenceTransformerTrainingArguments,
    )

    from augsbert_core.models.trainer import BiEncoderTrainer, EmbeddingCollator, EmbeddingLoss

    texts, places = distinct([*train.sentences1, *train.sentences2])
    places = places.reshape(2, -1)
    dev_texts, dev_places = distinct([*dev.sentences1, *dev.sentences2])
    report(0.0, f"Tokenising {len(texts) + len(dev_texts):,} sentences")
    rows = tokenize_rows(model, texts, should_stop=should_stop)
    dev_rows = tokenize_rows(model, dev_texts, should_stop=should_stop)
    vocabulary = TrainedVocabulary(model, rows)

    def predict(should_stop: ShouldStop) -> np.ndarray:
        embeddings = embed_rows(model, dev_rows, should_stop=should_stop)
        return row_cosines(embeddings, dev_places.reshape(2, -1))

    return run_training(
        TrainingTask(
            trainer_class=BiEncoderTrainer,
            arguments_class=SentenceTransformerTrainingArguments,
            model=model,
            loss=EmbeddingLoss(model, CosineSimilarityLoss(model)),
            collator=EmbeddingCollator(vocabulary.renumber(rows), places, train.scores),
            lengths=_grouping_lengths(rows.lengths[places]),
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


def _grouping_lengths(lengths: np.ndarray) -> np.ndarray:
    """One number per pair that sorts by the longer sentence, then by the shorter. lengths: shape (2, n)."""
    longest = int(lengths.max(initial=0)) + 1
    return lengths.max(axis=0) * longest + lengths.min(axis=0)
