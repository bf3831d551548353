"""Token rows through a model: longest first, without gradients, one batch at a time."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from augsbert_core.models.tokens import TokenRows, distinct, tokenize_rows
from augsbert_core.progress import Report, ShouldStop, never, silent, stop_if


def run_rows(
    model: Any,
    rows: TokenRows,
    output: str,
    *,
    batch_size: int = 64,
    should_stop: ShouldStop = never,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Run rows through a model in batches of like length, the longest first.

    output: the feature to take, "sentence_embedding" or "scores". Yields (positions in rows, float32
    array with one row each). Raises Stopped between batches.
    """
    import torch

    model.eval()
    order = np.argsort(-rows.lengths, kind="stable")
    for start in range(0, len(order), batch_size):
        stop_if(should_stop)
        positions = order[start : start + batch_size]
        # Not held across the yield: the mode would leak into the caller's own code.
        with torch.inference_mode():
            features = _to_device(rows.features(positions), model.device)
            values = model(features)[output].float().cpu().numpy()
        yield positions, values


def pair_logits(
    model: Any, rows: TokenRows, *, batch_size: int = 64, should_stop: ShouldStop = never
) -> np.ndarray:
    """The raw output of a cross-encoder for each pair row: float32, no activation."""
    logits = np.zeros(len(rows), dtype=np.float32)
    for positions, values in run_rows(
        model, rows, "scores", batch_size=batch_size, should_stop=should_stop
    ):
        logits[positions] = values.reshape(-1)
    return logits


def embed_rows(
    model: Any,
    rows: TokenRows,
    *,
    batch_size: int = 64,
    report: Report = silent,
    should_stop: ShouldStop = never,
) -> np.ndarray:
    """The unit-length embedding of each row: float32, shape (rows, dimensions); zero stays zero."""
    embeddings = np.zeros((0, 0), dtype=np.float32)
    done = 0
    for positions, values in run_rows(
        model, rows, "sentence_embedding", batch_size=batch_size, should_stop=should_stop
    ):
        if not done:
            embeddings = np.zeros((len(rows), values.shape[1]), dtype=np.float32)
        norms = np.linalg.norm(values, axis=1, keepdims=True)
        embeddings[positions] = values / np.where(norms > 0, norms, 1.0)
        done += len(positions)
        report(done / len(rows), f"Embedded {done:,} of {len(rows):,} sentences")
    return embeddings


def pair_cosines(
    model: Any,
    sentences1: list[str],
    sentences2: list[str],
    *,
    report: Report = silent,
    should_stop: ShouldStop = never,
) -> np.ndarray:
    """The cosine of each pair's embeddings, in [-1, 1]; every distinct sentence is embedded once."""
    texts, places = distinct([*sentences1, *sentences2])
    embeddings = embed_rows(
        model, tokenize_rows(model, texts), report=report, should_stop=should_stop
    )
    return row_cosines(embeddings, places.reshape(2, -1))


def row_cosines(embeddings: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Dot products of unit rows. places: int64, shape (2, pairs), positions in embeddings."""
    if not places.size:
        return np.zeros(0, dtype=np.float32)
    first, second = embeddings[places[0]], embeddings[places[1]]
    return np.clip(np.einsum("ij,ij->i", first, second), -1.0, 1.0)


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """Logits to scores in [0, 1], once and in float32: half precision would tie strong pairs at 1."""
    import torch

    return torch.sigmoid(torch.from_numpy(np.asarray(logits, dtype=np.float32))).numpy()


def _to_device(features: dict[str, Any], device: Any) -> dict[str, Any]:
    return {
        key: value.to(device) if hasattr(value, "to") else value for key, value in features.items()
    }
