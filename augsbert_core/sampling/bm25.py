"""BM25 top-k: for every sentence the k sentences that share the most telling words (paper, section 3.1)."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from augsbert_core.options import SampleOptions
from augsbert_core.progress import Report, ShouldStop, never, silent, stop_if
from augsbert_core.sampling.bm25_index import VARIANTS, Bm25Index, build_index
from augsbert_core.sampling.bm25_kernel import SCORE_TOLERANCE, compiled_for
from augsbert_core.sampling.corpus import Candidates, Corpus, gather_neighbours
from augsbert_core.sampling.neighbours import (
    Neighbours,
    clamp_top_k,
    concatenate,
    excluded_by_sentence,
    text_hashes,
)
from augsbert_core.sampling.tokenize import count_unspaced, leave_out_stop_words, tokenize

__all__ = ["VARIANTS", "Bm25Index", "build_index", "find_bm25", "neighbours", "sample_bm25"]

_QUERIES_PER_BLOCK = 256
_CELLS_PER_BLOCK = 1 << 20  # matches held at a time by one thread: 16 MiB
_MAX_THREADS = 16

Block = tuple[int, int]  # from this query up to, not including, that one
Found = tuple[np.ndarray, np.ndarray, np.ndarray]  # what `bm25_kernel.best_matches` returns


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
    return gather_neighbours(corpus, find_bm25(corpus, options, report, should_stop), [])


def find_bm25(
    corpus: Corpus,
    options: SampleOptions,
    report: Report = silent,
    should_stop: ShouldStop = never,
) -> Neighbours:
    """What `sample_bm25` makes pairs of: positions into the corpus, hits and notices.

    WorkbenchError: an impossible top_k, variant, k1, b or stop_words.
    """
    stop_if(should_stop)
    report(0.0, "Counting words")
    top_k, notices = clamp_top_k(options.top_k, len(corpus))
    tokens, left_out = leave_out_stop_words(tokenize(corpus.texts), options.stop_words)
    index = build_index(tokens, options.variant, options.k1, options.b)
    notices += _word_notices(corpus.texts, left_out, options.stop_words)
    notices += _corpus_notices(index, options)
    report(0.0, "Preparing the search (the first time on a machine takes a few seconds)")
    found = neighbours(
        index,
        top_k,
        tie_keys=text_hashes(corpus.texts, options.seed),
        excluded=corpus.excluded_positions(),
        report=report,
        should_stop=should_stop,
    )
    return concatenate([found], found.excluded_hit, notices)


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
    excluded: positions of pairs that may not match in either direction. Memory beside the result grows
    with the words of the sentences and, for each thread, with n. Threads do not change the result.
    """
    barred = excluded_by_sentence(excluded, index.n)
    hit = np.zeros(len(barred.pair) // 2, dtype=bool)
    if top_k < 1 or index.n < 2:
        return concatenate([], hit)
    keys = np.arange(index.n) if tie_keys is None else tie_keys
    fixed = (
        top_k,
        index.rows,
        index.postings,
        # Where a weight is negative (okapi on a handful of sentences), sums of the largest are no bound.
        bool(np.all(index.postings.weight >= 0)),
        np.array(keys, dtype=np.uint64),
        barred,
        hit,
    )
    rows = max(1, min(_QUERIES_PER_BLOCK, _CELLS_PER_BLOCK // top_k))
    blocks = [(start, min(start + rows, index.n)) for start in range(0, index.n, rows)]
    find = compiled_for([*blocks[0], *fixed])
    parts = []
    for start, stop, found in _in_threads(lambda block: find(*block, *fixed), blocks):
        stop_if(should_stop)
        parts.append(_as_neighbours(start, *found))
        if stop == index.n or start * 100 // index.n < stop * 100 // index.n:
            report(stop / index.n, f"BM25: {stop:,} of {index.n:,} sentences")
    return concatenate(parts, hit)


def _as_neighbours(
    start: int, counts: np.ndarray, found: np.ndarray, scores: np.ndarray
) -> Neighbours:
    """One block's matches, row i being those of query start + i, without the unused places."""
    places = np.arange(found.shape[1])
    used = places < counts[:, None]
    return Neighbours(
        query=np.repeat(np.arange(start, start + len(counts)), counts),
        neighbour=found[used],
        rank=np.broadcast_to(places + 1, used.shape)[used].astype(np.int32),
        score=scores[used],
    )


def _in_threads(
    work: Callable[[Block], Found], blocks: Sequence[Block]
) -> Iterator[tuple[int, int, Found]]:
    """Do the work on all processor cores; the blocks come back in order, few of them held at a time."""
    n_threads = min(_n_processors(), _MAX_THREADS, len(blocks))
    with ThreadPoolExecutor(n_threads) as pool:
        waiting = [pool.submit(work, block) for block in blocks[: 2 * n_threads]]
        try:
            for number, (start, stop) in enumerate(blocks):
                found = waiting.pop(0).result()
                if number + 2 * n_threads < len(blocks):
                    waiting.append(pool.submit(work, blocks[number + 2 * n_threads]))
                yield start, stop, found
        finally:
            pool.shutdown(cancel_futures=True)


def _n_processors() -> int:
    """How many processor cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _word_notices(texts: Sequence[str], left_out: int, stop_words: str) -> list[str]:
    """How the sentences were cut into words, as far as it is not a matter of course."""
    notices = []
    n_unspaced = count_unspaced(texts)
    if n_unspaced:
        subject = "1 sentence" if n_unspaced == 1 else f"{n_unspaced:,} sentences"
        verb = "was" if n_unspaced == 1 else "were"
        notices.append(
            f"{subject} in scripts without spaces {verb} cut into character bigrams, not words."
        )
    if left_out:
        subject = "1 stop word was" if left_out == 1 else f"{left_out:,} stop words were"
        notices.append(f"{subject} left out ({stop_words}).")
    return notices


def _corpus_notices(index: Bm25Index, options: SampleOptions) -> list[str]:
    """Why sentences or all of them stay without neighbours."""
    notices = []
    if index.empty:
        subject = "1 sentence has" if index.empty == 1 else f"{index.empty:,} sentences have"
        verb = "was" if index.empty == 1 else "were"
        besides = "" if options.stop_words == "none" else " besides stop words"
        notices.append(f"{subject} no words{besides} and {verb} skipped.")
    if index.n < 2:
        return notices
    if index.best_shared_idf is None:
        notices.append("No two sentences share a word, so there is no pair to return.")
    elif index.best_shared_idf <= SCORE_TOLERANCE:
        notices.append(
            f"No pair has a positive score: in a corpus of {index.n:,} sentences {options.variant} "
            "idf gives no shared word a positive weight. Choose the lucene variant."
        )
    return notices
