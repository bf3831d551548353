"""The labeler: a cross-encoder that scores candidate pairs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from augsbert_core.models.catalog import load_cross_encoder
from augsbert_core.models.inference import run_rows, sigmoid
from augsbert_core.models.tokens import tokenize_rows
from augsbert_core.progress import ShouldStop, never, stop_if

# Tokenised together and sorted by length once more, in batches.
BATCHES_AT_ONCE = 32


@dataclass(frozen=True)
class Labeler:
    """A cross-encoder with one trained output, loaded on a device."""

    location: str
    device: str
    model: Any


def load_labeler(location: str, device: str, max_length: int | None = None) -> Labeler:
    """Load a trained cross-encoder by name or folder.

    Raises WorkbenchError when it has no trained head or more than one output.
    """
    return Labeler(location, device, load_cross_encoder(location, device, max_length=max_length))


def label_batches(
    labeler: Labeler,
    sentences1: list[str],
    sentences2: list[str],
    *,
    batch_size: int = 64,
    should_stop: ShouldStop = never,
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Score pairs in batches of like length, the longest first, each pair exactly once.

    Yields (positions in the input, raw logits, scores in [0, 1]): int64 and two float32 arrays. The
    sigmoid is taken once, in float32, whatever activation the model was saved with.
    Raises Stopped between batches.
    """
    characters = np.array([len(a) + len(b) for a, b in zip(sentences1, sentences2, strict=True)])
    order = np.argsort(-characters, kind="stable")
    for start in range(0, len(order), batch_size * BATCHES_AT_ONCE):
        stop_if(should_stop)
        chunk = order[start : start + batch_size * BATCHES_AT_ONCE]
        rows = tokenize_rows(labeler.model, [(sentences1[i], sentences2[i]) for i in chunk])
        for places, values in run_rows(
            labeler.model, rows, "scores", batch_size=batch_size, should_stop=should_stop
        ):
            logits = values.reshape(-1)
            yield chunk[places], logits, sigmoid(logits)
