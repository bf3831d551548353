"""Cross-encoders that order the candidates of a query."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from augsbert_core.models.catalog import load_cross_encoder
from augsbert_core.models.inference import pair_logits
from augsbert_core.models.labeling import LabelerPart, label_batches, load_labeler
from augsbert_core.models.tokens import tokenize_rows
from augsbert_core.progress import Report, ShouldStop, never, silent


@dataclass(frozen=True)
class NewHead:
    """A cross-encoder before any training: a base with a head drawn from the seed."""

    base: str
    layers: int | None = None
    hidden: int | None = None
    max_length: int | None = None
    seed: int = 42


def score_candidates(
    told: str | Sequence[LabelerPart] | NewHead,
    queries: list[str],
    candidates: list[str],
    *,
    device: str,
    report: Report = silent,
    should_stop: ShouldStop = never,
) -> np.ndarray:
    """One number per (query, candidate), the larger the better: float64, on no common scale.

    told: what `labeling.load_labeler` takes, or an untrained head. Raises Stopped between batches.
    """
    if isinstance(told, NewHead):
        model = load_cross_encoder(
            told.base,
            device,
            for_training=True,
            layers=told.layers,
            hidden=told.hidden,
            max_length=told.max_length,
            seed=told.seed,
        )
        rows = tokenize_rows(
            model, list(zip(queries, candidates, strict=True)), should_stop=should_stop
        )
        return pair_logits(model, rows, should_stop=should_stop).astype(np.float64)
    labeler = load_labeler(told, device)
    scores = np.zeros(len(queries), dtype=np.float64)
    done = 0
    for places, raw, _ in label_batches(labeler, queries, candidates, should_stop=should_stop):
        # The raw logits: sigmoids of strong pairs would tie at 1.
        scores[places] = raw
        done += len(places)
        report(done / len(scores), f"Scored {done:,} of {len(scores):,} candidates")
    return scores
