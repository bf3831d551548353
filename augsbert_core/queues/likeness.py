"""How alike two pairs are by their words: the TF-IDF cosine of both sentences taken together."""

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from augsbert_core.words import tokenize


def word_likeness(
    texts: Sequence[str], places: np.ndarray, mistakes: Sequence[tuple[str, str]]
) -> Callable[[np.ndarray], np.ndarray]:
    """A `Similarity` between pairs of sentences and mistakes, in [0, 1]; rare words count more than common ones.

    texts: distinct sentences. places: int64, shape (2, pairs), positions in texts. mistakes: the sentences of each. A
    pair without a known word is like nothing.
    """
    weights, told = _tf_idf(texts, mistakes)
    own = _row_products(weights, weights)
    told_norms = np.sqrt(_row_products(told, told))
    turned = told.T.tocsr()

    def likeness(rows: np.ndarray) -> np.ndarray:
        first, second = places[0, rows], places[1, rows]
        ones, others = weights[first], weights[second]
        norms = np.sqrt(own[first] + own[second] + 2.0 * _row_products(ones, others))
        shared = ((ones + others) @ turned).toarray()
        scale = norms[:, None] * told_norms[None, :]
        return np.divide(shared, scale, out=np.zeros_like(shared), where=scale > 0)

    return likeness


def _tf_idf(texts: Sequence[str], mistakes: Sequence[tuple[str, str]]) -> tuple[Any, Any]:
    """Word counts × idf: of each text, and of both sentences of each mistake together. Sparse rows."""
    from scipy.sparse import csr_matrix, diags

    words: dict[str, int] = {}
    tokens = tokenize(chain(texts, (text for pair in mistakes for text in pair)))
    columns = np.fromiter(
        (words.setdefault(word, len(words)) for row in tokens for word in row), dtype=np.int32
    )
    starts = np.concatenate([[0], np.cumsum([len(row) for row in tokens])]).astype(np.int64)
    counts = csr_matrix(
        (np.ones(len(columns), dtype=np.float32), columns, starts),
        shape=(len(tokens), max(len(words), 1)),
    )
    counts.sum_duplicates()
    has_word = np.bincount(counts.indices, minlength=counts.shape[1])
    idf = np.log((1.0 + len(tokens)) / (1.0 + has_word)) + 1.0
    weighted = (counts @ diags(idf)).tocsr()
    pairs = weighted[len(texts) :]
    return weighted[: len(texts)], pairs[0::2] + pairs[1::2]


def _row_products(ones: Any, others: Any) -> np.ndarray:
    return np.asarray(ones.multiply(others).sum(axis=1), dtype=np.float64).reshape(-1)
