"""The BM25 weight of every word in every sentence, on rank_bm25's statistics."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array

from augsbert_core.errors import WorkbenchError

# Name of the variant: its own k1 and b.
VARIANTS: dict[str, tuple[float, float]] = {"okapi": (1.5, 0.75), "lucene": (1.2, 0.75)}

_IDF_FLOOR = 0.25  # rank_bm25's epsilon: negative idf become this share of the mean idf


class Rows(NamedTuple):
    """The words of each sentence, the rarest first: those of sentence i are at start[i] to start[i + 1].

    start: int64. word: int32. times: float64, how often it has the word. weight: float64, BM25's.
    """

    start: np.ndarray
    word: np.ndarray
    times: np.ndarray
    weight: np.ndarray


class Postings(NamedTuple):
    """The same weights by word: the sentences that have word i are at start[i] to start[i + 1].

    start: int64. row: int32, the sentence, ascending. weight: float64. most: the largest weight of each
    word, 0 when only one sentence has it, for it cannot match another.
    """

    start: np.ndarray
    row: np.ndarray
    weight: np.ndarray
    most: np.ndarray


@dataclass(frozen=True)
class Bm25Index:
    """Word counts and BM25 weights of n sentences; words are numbered from the rarest on.

    empty: how many sentences have no words. best_shared_idf: the largest idf of a word that occurs in
    two or more sentences, None when there is no such word.
    """

    n: int
    empty: int
    best_shared_idf: float | None
    rows: Rows
    postings: Postings

    def scores(self, start: int, stop: int) -> np.ndarray:
        """BM25 of sentences start … stop − 1 as queries against all sentences, shape (stop − start, n)."""
        rows, shape = self.rows, (self.n, len(self.postings.most))
        counts = csr_array((rows.times, rows.word, rows.start), shape=shape)
        weights = csr_array((rows.weight, rows.word, rows.start), shape=shape)
        scores: np.ndarray = (counts[start:stop] @ weights.T).toarray()
        return scores


def build_index(
    tokens: Sequence[Sequence[str]],
    variant: str = "okapi",
    k1: float | None = None,
    b: float | None = None,
) -> Bm25Index:
    """Count and weigh the words of tokenized sentences.

    "okapi" gives the scores of rank_bm25's BM25Okapi to 1e-9, negative idf floored as there. "lucene"
    has idf ln(1 + (N − n + 0.5) / (n + 0.5)), which is always positive, and no constant factor k1 + 1,
    as Lucene since version 8. k1 and b default to the variant's own values.
    """
    k1, b = _checked_parameters(variant, k1, b)
    n = len(tokens)
    lengths = np.fromiter(map(len, tokens), dtype=np.int64, count=n)
    counts = _count_words(tokens, lengths)
    documents_with = np.diff(counts.indptr)
    idf = _idf(documents_with, n, variant)
    shared = idf[documents_with > 1]

    norm = k1 * (1 - b + b * lengths / max(lengths.mean(), 1e-300)) if n else np.empty(0)
    weights = np.repeat(idf, documents_with) * counts.data
    weights *= k1 + 1 if variant == "okapi" else 1
    weights /= counts.data + norm[counts.indices]
    # Through the columns and back, the words of every row come out sorted.
    rows = counts.tocsr()
    row_weights = csc_array((weights, counts.indices, counts.indptr), shape=counts.shape).tocsr()
    starts = counts.indptr.astype(np.int64)
    return Bm25Index(
        n=n,
        empty=int(np.sum(lengths == 0)),
        best_shared_idf=float(shared.max()) if len(shared) else None,
        rows=Rows(
            rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data, row_weights.data
        ),
        postings=Postings(
            starts, counts.indices.astype(np.int32), weights, _largest(weights, starts)
        ),
    )


def _largest(weights: np.ndarray, starts: np.ndarray) -> np.ndarray:
    if len(starts) < 2:
        return np.empty(0)
    return np.where(np.diff(starts) > 1, np.maximum.reduceat(weights, starts[:-1]), 0.0)


def _count_words(tokens: Sequence[Sequence[str]], lengths: np.ndarray) -> csc_array:
    """How often each sentence (row) has each word (column, the rarest word first)."""
    flat = list(chain.from_iterable(tokens))
    vocabulary = dict.fromkeys(flat)
    width = len(vocabulary)
    numbers = dict(zip(vocabulary, range(width), strict=True))
    words = np.fromiter(map(numbers.__getitem__, flat), dtype=np.int64, count=len(flat))
    # One number per occurrence, so that equal ones are one word of one sentence.
    occurrences = np.repeat(np.arange(len(tokens)) * width, lengths) + words
    occurrences.sort()
    starts = np.flatnonzero(np.diff(occurrences, prepend=-1))
    counts = np.diff(starts, append=len(occurrences)).astype(np.float64)
    rows, words = np.divmod(occurrences[starts], max(width, 1))
    rarest_first = np.argsort(np.bincount(words, minlength=width), kind="stable")
    number = np.empty(width, dtype=np.int64)
    number[rarest_first] = np.arange(width)
    return csr_array((counts, (rows, number[words])), shape=(len(tokens), width)).tocsc()


def _idf(documents_with: np.ndarray, n: int, variant: str) -> np.ndarray:
    if variant == "lucene":
        lucene: np.ndarray = np.log1p((n - documents_with + 0.5) / (documents_with + 0.5))
        return lucene
    idf: np.ndarray = np.log(n - documents_with + 0.5) - np.log(documents_with + 0.5)
    if len(idf):
        # An exact sum, so that the order of the sentences has no influence at all.
        idf[idf < 0] = _IDF_FLOOR * math.fsum(idf.tolist()) / len(idf)
    return idf


def _checked_parameters(variant: str, k1: float | None, b: float | None) -> tuple[float, float]:
    if variant not in VARIANTS:
        names = " or ".join(VARIANTS)
        raise WorkbenchError(f"BM25 variant {variant!r} is not known. Choose {names}.")
    own_k1, own_b = VARIANTS[variant]
    k1 = own_k1 if k1 is None else k1
    b = own_b if b is None else b
    if not 0 <= k1 < float("inf"):
        raise WorkbenchError(f"BM25 k1 is {k1:g}. Give 0 or more, usually 1.2 to 2.")
    if not 0 <= b <= 1:
        raise WorkbenchError(f"BM25 b is {b:g}. Give a value from 0 to 1, usually 0.75.")
    return k1, b
