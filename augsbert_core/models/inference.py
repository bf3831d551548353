"""Token rows through a model: longest first, without gradients, one batch at a time."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from augsbert_core.models.tokens import TokenRows, distinct, tokenize_rows
from augsbert_core.progress import Report, ShouldStop, never, silent, stop_if

# What a layer leaves behind for the next one then stays in the processor's cache, and is small enough for
# the C library to keep: larger pieces go back to the operating system and cost a page fault per 4 KiB.
CPU_TOKENS = 1024


def run_rows(
    model: Any,
    rows: TokenRows,
    output: str,
    *,
    batch_size: int = 64,
    half: bool = False,
    should_stop: ShouldStop = never,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Run rows through a model in batches of like length, the longest first.

    output: the feature to take, "sentence_embedding" or "scores". batch_size: at most so many rows; on a
    CPU also at most `CPU_TOKENS` tokens, padding included. half: compute in float16 on a CUDA card. Yields
    (positions in rows, float32 array with one row each). Raises Stopped between batches.
    """
    import torch

    model.eval()
    device = torch.device(model.device).type
    n_workers = torch.get_num_threads() if device == "cpu" else 1
    if n_workers > 1:
        yield from _run_side_by_side(model, rows, output, batch_size, n_workers, should_stop)
        return
    half = half and device == "cuda"
    for positions in _batches(rows, batch_size, device):
        stop_if(should_stop)
        values = _forward(model, rows, positions, output, half=half)
        if half and not np.isfinite(values).all():
            half = False  # a few models leave float16's range: from here on in float32
            values = _forward(model, rows, positions, output)
        yield positions, values


def _batches(rows: TokenRows, batch_size: int, device: str) -> Iterator[np.ndarray]:
    """Positions of like length, the longest first."""
    order = np.argsort(-rows.lengths, kind="stable")
    start = 0
    while start < len(order):
        n_rows = batch_size
        if device == "cpu":
            n_rows = max(1, min(batch_size, CPU_TOKENS // max(int(rows.lengths[order[start]]), 1)))
        yield order[start : start + n_rows]
        start += n_rows


def _run_side_by_side(
    model: Any,
    rows: TokenRows,
    output: str,
    batch_size: int,
    n_workers: int,
    should_stop: ShouldStop,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """One batch per core, in order: cores that share one batch wait for each other at every operation."""
    import torch

    waiting: deque[tuple[np.ndarray, Future[np.ndarray]]] = deque()
    pool = ThreadPoolExecutor(n_workers, initializer=torch.set_num_threads, initargs=(1,))
    try:
        for positions in _batches(rows, batch_size, "cpu"):
            stop_if(should_stop)
            waiting.append((positions, pool.submit(_forward, model, rows, positions, output)))
            if len(waiting) > n_workers:
                done, values = waiting.popleft()
                yield done, values.result()
        for done, values in waiting:
            yield done, values.result()
    finally:
        pool.shutdown(cancel_futures=True)
        # The setting of a worker is the default of every later thread.
        torch.set_num_threads(n_workers)


def _forward(
    model: Any, rows: TokenRows, positions: np.ndarray, output: str, *, half: bool = False
) -> np.ndarray:
    import torch

    # Not held across a yield: the modes would leak into the caller's own code.
    with torch.inference_mode():
        features = _to_device(rows.features(positions), model.device)
        with torch.autocast(torch.device(model.device).type, torch.float16, enabled=half):
            values = model(features)[output]
        return values.float().cpu().numpy()


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
