"""Shared words: the score that needs no model."""

from collections.abc import Sequence

import numpy as np

from augsbert_core.sampling.tokenize import tokenize


def jaccard(sentences1: Sequence[str], sentences2: Sequence[str]) -> np.ndarray:
    """Shared words over all words of each pair, in [0, 1]; 0 when neither sentence has a word."""
    if len(sentences1) != len(sentences2):
        raise ValueError("sentences1 and sentences2 must have one length")
    overlaps = np.zeros(len(sentences1))
    for i, (first, second) in enumerate(
        zip(tokenize(sentences1), tokenize(sentences2), strict=True)
    ):
        union = len(set(first) | set(second))
        overlaps[i] = len(set(first) & set(second)) / union if union else 0.0
    return overlaps
