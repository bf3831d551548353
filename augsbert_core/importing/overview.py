"""What the rows of an import look like: scores, lengths, and the sentences that come up most."""

from typing import Any

import numpy as np

from augsbert_core.importing.texts import Numbered

SCORE_BINS = 20
LENGTH_EDGES = (0, 5, 10, 15, 20, 30, 40, 60, 80, 120, 200, 400)
"""Words of a sentence: from this edge to below the next; the last is open."""
TOP_REPEATED = 10
_SHOWN_CHARACTERS = 300


def describe_rows(known: Numbered, scores: np.ndarray | None) -> dict[str, Any]:
    """Histograms and repeated sentences, as JSON holds them.

    known: the sentences of the rows. scores: in [0, 1], or None. Keys: "sentences" (distinct ones), "lengths"
    (cells per part of LENGTH_EDGES), "longest" (words), "repeated" ([text, how often] of the sentences in most cells),
    and "scores" (rows per SCORE_BINS equal parts of the scale) when there are scores.
    """
    counts = _cells(known)
    words = _words(known)
    parts = np.searchsorted(LENGTH_EDGES, words, side="right") - 1
    lengths = np.bincount(parts, weights=counts, minlength=len(LENGTH_EDGES))
    top = np.argsort(-counts, kind="stable")[:TOP_REPEATED].tolist()
    found: dict[str, Any] = {
        "sentences": len(known.keys),
        "lengths": [int(count) for count in lengths],
        "longest": int(words.max()) if len(words) else 0,
        "repeated": [
            [known.spellings[at][:_SHOWN_CHARACTERS], int(counts[at])]
            for at in top
            if counts[at] > 1
        ],
    }
    if scores is not None:
        bins = np.minimum((scores * SCORE_BINS).astype(np.int64), SCORE_BINS - 1)
        found["scores"] = np.bincount(bins, minlength=SCORE_BINS).tolist()
    return found


def _cells(known: Numbered) -> np.ndarray:
    """How many cells hold each sentence."""
    return np.bincount(known.places.ravel(), minlength=len(known.keys))


def _words(known: Numbered) -> np.ndarray:
    """How many words each sentence has."""
    return np.fromiter(
        (key.count(" ") + 1 for key in known.keys), dtype=np.int64, count=len(known.keys)
    )
