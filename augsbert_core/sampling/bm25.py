"""BM25 top-k: for every sentence the k sentences that share the most telling words (paper, section 3.1).

All sentences are queries and documents at once, so all scores are one product: word counts of the
queries times word weights of the documents. It is taken in blocks of rows that fit a processor's cache.
The weights of words in many sentences are stored dense and those of the others sparse, and only the few
scores that can be among a row's best k are ever sorted.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import SampleOptions
from augsbert_core.progress import Report, ShouldStop, never, silent, stop_if
from augsbert_core.sampling.corpus import Candidates, Corpus, gather_candidates
from augsbert_core.sampling.tokenize import tokenize

# Name of the variant: its own k1 and b.
VARIANTS: dict[str, tuple[float, float]] = {"okapi": (1.5, 0.75), "lucene": (1.2, 0.75)}

# Scores are exact to about 1e-12: below this a score is zero, and two scores are tied.
SCORE_TOLERANCE = 1e-9

_IDF_FLOOR = 0.25  # rank_bm25's epsilon: negative idf become this share of the mean idf
_CELLS_PER_BLOCK = 1 << 19  # scores held at a time: 4 MiB of float64
_DENSE_SHARE = (
    25  # adding a whole row is cheaper than its cells for words in over 1/25 of the texts
)
_MAX_DENSE_WORDS = 64


@dataclass(frozen=True)
class Neighbours:
    """Ranked matches, parallel arrays ordered by query and rank.

    query, neighbour: int64 positions. rank: int32, 1 is best. score: float64, larger than zero.
    """

    query: np.ndarray
    neighbour: np.ndarray
    rank: np.ndarray
    score: np.ndarray


@dataclass(frozen=True)
class Bm25Index:
    """Word counts and BM25 word weights of n sentences, split into frequent and rare words.

    empty: how many sentences have no words. best_shared_idf: the largest idf of a word that occurs in
    two or more sentences, None when there is no such word.
    """

    n: int
    empty: int
    best_shared_idf: float | None
    frequent_counts: csr_array
    frequent_weights: np.ndarray
    rare_counts: csr_array
    rare_weights: csr_array

    def scores(self, start: int, stop: int) -> np.ndarray:
        """BM25 of sentences start … stop − 1 as queries against all sentences, shape (stop − start, n)."""
        block = self.frequent_counts[start:stop] @ self.frequent_weights
        rest = self.rare_counts[start:stop] @ self.rare_weights
        row_starts = np.arange(stop - start, dtype=np.int64) * self.n
        # A sparse product holds each cell once, so adding through indices loses nothing.
        cells = np.repeat(row_starts, np.diff(rest.indptr)) + rest.indices
        block.reshape(-1)[cells] += rest.data
        return block


def sample_bm25(
    corpus: Corpus,
    options: SampleOptions,
    report: Report = silent,
    should_stop: ShouldStop = never,
) -> Candidates:
    """The `options.top_k` best BM25 neighbours of every sentence, as pairs without direction.

    The sentence itself and excluded pairs are left out before top-k is counted; neighbours without a
    positive score are never returned; ties are broken by a hash of the texts and the seed.
    """
    report(0.0, "Counting words")
    index = build_index(tokenize(corpus.texts), options.variant, options.k1, options.b)
    top_k, notices = _clamp_top_k(options.top_k, len(corpus))
    found = neighbours(
        index,
        top_k,
        tie_keys=text_hashes(corpus.texts, options.seed),
        excluded=corpus.excluded_positions(),
        report=report,
        should_stop=should_stop,
    )
    ids = np.asarray(corpus.ids, dtype=np.int64)
    return gather_candidates(
        ids[found.query],
        ids[found.neighbour],
        found.rank,
        found.score,
        notices + _corpus_notices(index, options.variant),
    )


def build_index(
    tokens: Sequence[Sequence[str]],
    variant: str = "okapi",
    k1: float | None = None,
    b: float | None = None,
) -> Bm25Index:
    """Count words once, so that `scores` and `neighbours` are products.

    "okapi" gives the scores of rank_bm25's BM25Okapi to 1e-9, negative idf floored as there. "lucene"
    has idf ln(1 + (N − n + 0.5) / (n + 0.5)), which is always positive, and no constant factor k1 + 1,
    as Lucene since version 8. k1 and b default to the variant's own values.
    """
    k1, b = _checked_parameters(variant, k1, b)
    n = len(tokens)
    lengths = np.fromiter((len(words) for words in tokens), dtype=np.int64, count=n)
    vocabulary: dict[str, int] = {}
    words = [vocabulary.setdefault(word, len(vocabulary)) for words in tokens for word in words]
    rows = np.repeat(np.arange(n), lengths)
    shape = (n, len(vocabulary))
    counts = csr_array((np.ones(len(words)), (rows, np.array(words, dtype=np.int64))), shape=shape)
    counts.sum_duplicates()
    documents_with = np.bincount(counts.indices, minlength=len(vocabulary))

    idf = _idf(documents_with, n, variant)
    shared = idf[documents_with > 1]
    norm = k1 * (1 - b + b * lengths / max(lengths.mean(), 1e-300)) if n else lengths
    weights = counts.copy()
    weights.data = idf[counts.indices] * counts.data
    weights.data *= k1 + 1 if variant == "okapi" else 1
    weights.data /= counts.data + np.repeat(norm, np.diff(counts.indptr))

    by_frequency = np.argsort(-documents_with, kind="stable")
    n_frequent = min(int(np.sum(documents_with * _DENSE_SHARE > n)), _MAX_DENSE_WORDS)
    frequent, rare = by_frequency[:n_frequent], by_frequency[n_frequent:]
    return Bm25Index(
        n=n,
        empty=int(np.sum(lengths == 0)),
        best_shared_idf=float(shared.max()) if len(shared) else None,
        frequent_counts=counts[:, frequent],
        frequent_weights=np.ascontiguousarray(weights[:, frequent].toarray().T),
        rare_counts=counts[:, rare],
        rare_weights=weights[:, rare].T.tocsr(),
    )


def neighbours(
    index: Bm25Index,
    top_k: int,
    *,
    tie_keys: np.ndarray | None = None,
    excluded: tuple[np.ndarray, np.ndarray] | None = None,
    report: Report = silent,
    should_stop: ShouldStop = never,
) -> Neighbours:
    """The top_k best-scoring other sentences of every sentence, all of them exact.

    tie_keys: one uint64 per sentence, the order among equal scores (positions when None).
    excluded: positions of pairs that may not match in either direction. Memory stays within a few
    blocks of scores, whatever n is, beside the result itself.
    """
    if top_k < 1 or index.n < 2:
        return _concatenate([])
    if tie_keys is None:
        tie_keys = np.arange(index.n, dtype=np.uint64)
    forbidden, forbidden_starts = _both_directions(excluded, index.n)
    parts = []
    for start, stop in _blocks(index.n, report, should_stop):
        scores = index.scores(start, stop)
        own = slice(forbidden_starts[start], forbidden_starts[stop])
        scores.reshape(-1)[forbidden[own] - start * index.n] = 0.0
        np.fill_diagonal(scores[:, start:stop], 0.0)
        parts.append(_best_of_rows(scores, top_k, start, tie_keys))
    return _concatenate(parts)


def text_hashes(texts: Sequence[str], seed: int) -> np.ndarray:
    """One uint64 per text that depends on the text and the seed only."""
    digests = b"".join(
        hashlib.blake2b(f"{seed}:{text}".encode(errors="surrogatepass"), digest_size=8).digest()
        for text in texts
    )
    return np.frombuffer(digests, dtype="<u8")


def _idf(documents_with: np.ndarray, n: int, variant: str) -> np.ndarray:
    if variant == "lucene":
        return np.log1p((n - documents_with + 0.5) / (documents_with + 0.5))
    idf = np.log(n - documents_with + 0.5) - np.log(documents_with + 0.5)
    if len(idf):
        idf[idf < 0] = _IDF_FLOOR * idf.mean()
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


def _clamp_top_k(top_k: int, n: int) -> tuple[int, list[str]]:
    if top_k < 1:
        raise WorkbenchError(f"Top-k is {top_k}. Give 1 or more.")
    if n < 2:
        return 0, [f"Nothing to pair: the corpus has {n} sentence{'s' * (n != 1)}, two are needed."]
    if top_k < n:
        return top_k, []
    return n - 1, [
        f"Top-k was lowered from {top_k:,} to {n - 1:,}: the corpus has only {n:,} sentences."
    ]


def _corpus_notices(index: Bm25Index, variant: str) -> list[str]:
    notices = []
    if index.empty:
        subject = "1 sentence has" if index.empty == 1 else f"{index.empty:,} sentences have"
        verb = "was" if index.empty == 1 else "were"
        notices.append(f"{subject} no words and {verb} skipped.")
    if index.n < 2:
        return notices
    if index.best_shared_idf is None:
        notices.append("No two sentences share a word, so there is no pair to return.")
    elif index.best_shared_idf <= SCORE_TOLERANCE:
        notices.append(
            f"No pair has a positive score: in a corpus of {index.n:,} sentences {variant} idf gives "
            "no shared word a positive weight. Choose the lucene variant."
        )
    return notices


def _blocks(n: int, report: Report, should_stop: ShouldStop) -> Iterator[tuple[int, int]]:
    """Row ranges that cover n queries, with a word to the caller about every hundredth of the way."""
    rows = max(_CELLS_PER_BLOCK // n, 16)
    said = -1
    for start in range(0, n, rows):
        if start * 100 // n > said:
            said = start * 100 // n
            stop_if(should_stop)
            report(start / n, f"BM25: {start:,} of {n:,} sentences")
        yield start, min(start + rows, n)
    report(1.0, f"BM25: {n:,} of {n:,} sentences")


def _both_directions(
    excluded: tuple[np.ndarray, np.ndarray] | None, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Excluded pairs as sorted cell numbers of the n × n scores, and where each row's cells start."""
    if excluded is None:
        return np.empty(0, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    first, second = (np.asarray(positions, dtype=np.int64) for positions in excluded)
    cells = np.sort(np.concatenate([first * n + second, second * n + first]))
    return cells, np.searchsorted(cells, np.arange(n + 1, dtype=np.int64) * n)


def _best_of_rows(scores: np.ndarray, top_k: int, start: int, tie_keys: np.ndarray) -> Neighbours:
    """The best positive scores of each row, by rounded score, then by tie key."""
    least = np.maximum(_row_bounds(scores, top_k) - SCORE_TOLERANCE, SCORE_TOLERANCE)
    cells = np.flatnonzero(scores > least[:, None])
    rows, columns = np.divmod(cells, scores.shape[1])
    values = scores.reshape(-1)[cells]
    order = np.lexsort((tie_keys[columns], -np.round(values / SCORE_TOLERANCE), rows))
    row_starts = np.searchsorted(rows, np.arange(len(scores)))
    place = np.arange(len(cells)) - row_starts[rows]  # rows come sorted, before and after `order`
    chosen = place < top_k
    order = order[chosen]
    return Neighbours(
        query=rows[order] + start,
        neighbour=columns[order],
        rank=(place[chosen] + 1).astype(np.int32),
        score=values[order],
    )


def _row_bounds(scores: np.ndarray, top_k: int) -> np.ndarray:
    """A value per row that at least top_k of its scores reach, close below the k-th best score.

    The columns are dealt out to many more than top_k groups. Each of the top_k best groups holds a
    score as large as the k-th best group maximum; maxima are far cheaper than a partial sort.
    """
    n_rows, n = scores.shape
    n_groups = max(16 * top_k, 128)
    depth = n // n_groups
    if depth > 1:
        dealt = scores[:, : depth * n_groups].reshape(n_rows, depth, n_groups)
        scores = dealt.max(axis=1)
    width = scores.shape[1]
    if top_k >= width:
        return scores.min(axis=1)
    return np.partition(scores, width - top_k, axis=1)[:, width - top_k]


def _concatenate(parts: list[Neighbours]) -> Neighbours:
    if not parts:
        none = np.empty(0, dtype=np.int64)
        return Neighbours(none, none, none.astype(np.int32), np.empty(0))
    return Neighbours(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("query", "neighbour", "rank", "score")
        )
    )
