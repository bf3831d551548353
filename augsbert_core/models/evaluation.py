"""What a model says about pairs: the numbers that metrics compare with gold."""

from collections.abc import Sequence

import numpy as np

from augsbert_core.metrics import jaccard
from augsbert_core.models.catalog import load_bi_encoder
from augsbert_core.models.inference import embed_rows, pair_cosines
from augsbert_core.models.labeling import LabelerPart, label_batches, load_labeler
from augsbert_core.models.tokens import tokenize_rows
from augsbert_core.progress import Report, ShouldStop, never, silent, stop_if

KINDS = ("bi_encoder", "cross_encoder", "labeler", "jaccard")


def score_pairs(
    kind: str,
    location: str | None,
    pairs: tuple[list[str], list[str]],
    *,
    device: str,
    layers: int | None = None,
    parts: Sequence[LabelerPart] = (),
    report: Report = silent,
    should_stop: ShouldStop = never,
) -> np.ndarray:
    """One number per pair: a cosine in [-1, 1], a labeler's score in [0, 1], or the word overlap.

    kind: one of `KINDS`. location: model name or folder; None for jaccard and for a labeler, which is the mean of
    its `parts`. layers: measure a bi-encoder cut to its first so many layers. Raises Stopped between batches.
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")
    stop_if(should_stop)
    sentences1, sentences2 = pairs
    if kind == "jaccard":
        return jaccard(sentences1, sentences2)
    if kind == "labeler":
        return _label_all(parts, device, sentences1, sentences2, report, should_stop)
    if location is None:
        raise ValueError(f"a {kind} needs a location")
    report(0.0, f"Loading {location}")
    if kind == "cross_encoder":
        return _label_all(location, device, sentences1, sentences2, report, should_stop)
    model = load_bi_encoder(location, device, layers=layers)
    return pair_cosines(model, sentences1, sentences2, report=report, should_stop=should_stop)


def embed_texts(
    location: str,
    texts: list[str],
    *,
    device: str,
    layers: int | None = None,
    should_stop: ShouldStop = never,
) -> np.ndarray:
    """Unit-length embeddings of a bi-encoder: float32, shape (texts, dimensions)."""
    model = load_bi_encoder(location, device, layers=layers)
    return embed_rows(model, tokenize_rows(model, texts), should_stop=should_stop)


def _label_all(
    told: str | Sequence[LabelerPart],
    device: str,
    sentences1: list[str],
    sentences2: list[str],
    report: Report,
    should_stop: ShouldStop,
) -> np.ndarray:
    labeler = load_labeler(told, device)
    scores = np.zeros(len(sentences1), dtype=np.float32)
    done = 0
    for positions, _, values in label_batches(
        labeler, sentences1, sentences2, should_stop=should_stop
    ):
        scores[positions] = values
        done += len(positions)
        report(done / len(scores), f"Scored {done:,} of {len(scores):,} pairs")
    return scores
