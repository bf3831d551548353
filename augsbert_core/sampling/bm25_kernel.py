"""The loop of the BM25 search, compiled by numba at its first use.

The functions are plain Python, so that importing this module costs nothing; `compiled_for` hands out the
machine code. A query adds up its words one after the other, the rarest first. As soon as
the words that are left could not lift a sentence without any of the words so far into the top k (the
idea of MaxScore, Turtle and Flood 1995), no sentence is added any more: those that can still win are
scored to the end from their own side. The long lists of sentences with a frequent word stay unread.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np

from augsbert_core.sampling.bm25_index import Postings, Rows
from augsbert_core.sampling.neighbours import ExcludedPairs

# Scores are exact to about 1e-12: below this a score is zero, and two scores are tied.
SCORE_TOLERANCE = 1e-9

_MARGIN = 2 * SCORE_TOLERANCE  # below this much under a score nothing can rank before it
_UNSEEN = -np.inf
# Reading this many postings costs about as much as scoring one sentence, which lies anywhere in memory.
_POSTINGS_PER_ROW = 50


@cache
def compiled_best_matches() -> Callable[..., Any]:
    """`best_matches` to be compiled, kept on disk between processes where that is possible."""
    import numba
    from numba.extending import register_jitable

    searching: tuple[Callable[..., Any], ...] = (_add_up, _add, _drop, _kth_largest, _score)
    ranking: tuple[Callable[..., Any], ...] = (
        _select,
        _mark_hits,
        _keep,
        _is_worse,
        _sift_up,
        _sift_down,
        _unload,
    )
    for helper in searching + ranking:
        register_jitable(helper)
    try:
        return numba.njit(best_matches, cache=True, nogil=True)
    except RuntimeError:  # numba found no folder that it may write its cache to
        return _compiled_without_cache()


@cache
def _compiled_without_cache() -> Callable[..., Any]:
    import numba

    return numba.njit(best_matches, nogil=True)


def compiled_for(arguments: Sequence[Any]) -> Callable[..., Any]:
    """`best_matches` as machine code for arguments of these types; a damaged cache is written anew."""
    import numba

    types = tuple(numba.typeof(argument) for argument in arguments)
    find: Any = compiled_best_matches()
    # What a file cut short makes of reading it can be any error. One of the compiler's own comes again.
    with suppress(Exception):
        find.compile(types)
        return find
    with suppress(Exception):
        find._cache.flush()
        find.compile(types)
        return find
    find = _compiled_without_cache()
    find.compile(types)
    return find


def best_matches(
    start: int,
    stop: int,
    top_k: int,
    rows: Rows,
    postings: Postings,
    may_stop_early: bool,
    tie_keys: np.ndarray,
    excluded: ExcludedPairs,
    excluded_hit: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The best matches of sentences start … stop − 1: how many each has, their positions and scores.

    may_stop_early: no weight is negative. Sets excluded_hit for the excluded pairs that would have been
    among the matches.
    """
    n = len(rows.start) - 1
    sums = np.full(n, _UNSEEN)
    seen = np.empty(n, np.int32)
    in_query = np.zeros(len(postings.most))
    heap, heap_row = np.empty(top_k), np.empty(top_k, np.int64)
    n_found = np.zeros(stop - start, np.int64)
    found, scores = np.empty((stop - start, top_k), np.int64), np.empty((stop - start, top_k))
    for query in range(start, stop):
        words = rows.word[rows.start[query] : rows.start[query + 1]]
        counts = rows.times[rows.start[query] : rows.start[query + 1]]
        in_query[words] = counts
        # A sum that is not a number never becomes one, so these are never seen.
        barred = excluded.other[excluded.starts[query] : excluded.starts[query + 1]]
        sums[query] = np.nan
        sums[barred] = np.nan
        n_seen, least, rest, cut = _add_up(
            words, counts, postings, may_stop_early, sums, seen, heap
        )
        size = _select(
            seen[:n_seen], sums, least, rest, cut, rows, in_query, heap, heap_row, tie_keys
        )
        last = np.round(heap[0] / SCORE_TOLERANCE) if size == top_k else 0.0
        _mark_hits(query, last, rows, in_query, excluded, excluded_hit)
        n_found[query - start] = size
        _unload(heap, heap_row, size, tie_keys, found[query - start], scores[query - start])
        sums[query] = _UNSEEN
        sums[barred] = _UNSEEN
        in_query[words] = 0.0
    return n_found, found, scores


def _add_up(
    words: np.ndarray,
    counts: np.ndarray,
    postings: Postings,
    may_stop_early: bool,
    sums: np.ndarray,
    seen: np.ndarray,
    heap: np.ndarray,
) -> tuple[int, float, float, int]:
    """Add the words of a query to `sums`, as far as that is the quicker way to the best sentences.

    Returns how many sentences can still be among the best; a sum that as many as `heap` has places
    reach; the most that the words left over can add to it; and the first of those words.
    """
    total = 0.0
    for i in range(len(words)):
        total += counts[i] * postings.most[words[i]]
    n_seen, least, rest, is_closed = 0, _UNSEEN, total, False
    for i in range(len(words)):
        word, count = words[i], counts[i]
        if may_stop_early and postings.most[word] == 0.0:
            continue
        first, last = postings.start[word], postings.start[word + 1]
        if may_stop_early and len(heap) <= n_seen < 2 * (last - first) and total - rest > rest:
            least = _kth_largest(sums, seen[:n_seen], heap)
            # From here on a sentence that was not seen yet comes too late.
            is_closed = is_closed or least > rest + _MARGIN
        if is_closed:
            n_seen = _drop(sums, seen[:n_seen], least - rest - _MARGIN)
            if last - first > _POSTINGS_PER_ROW * n_seen:
                return n_seen, least, rest, word
            for j in range(first, last):
                sums[postings.row[j]] += count * postings.weight[j]  # unseen stays unseen
        else:
            n_seen = _add(postings, first, last, count, sums, seen, n_seen)
        rest -= count * postings.most[word]
    if n_seen >= len(heap):
        least = _kth_largest(sums, seen[:n_seen], heap)
        n_seen = _drop(sums, seen[:n_seen], least - _MARGIN)
    return n_seen, least, 0.0, len(postings.most)


def _add(
    postings: Postings,
    first: int,
    last: int,
    count: float,
    sums: np.ndarray,
    seen: np.ndarray,
    n_seen: int,
) -> int:
    """Add one word to the sums of all that have it; returns how many sentences are seen now."""
    for j in range(first, last):
        row = postings.row[j]
        if sums[row] == _UNSEEN:
            sums[row] = 0.0
            seen[n_seen] = row
            n_seen += 1
        sums[row] += count * postings.weight[j]
    return n_seen


def _drop(sums: np.ndarray, seen: np.ndarray, bound: float) -> int:
    """Forget the seen sentences whose sum is below the bound; returns how many are left, in front."""
    n_left = 0
    for i in range(len(seen)):
        row = seen[i]
        if sums[row] >= bound:
            seen[n_left] = row
            n_left += 1
        else:
            sums[row] = _UNSEEN
    return n_left


def _select(
    seen: np.ndarray,
    sums: np.ndarray,
    least: float,
    rest: float,
    cut: int,
    rows: Rows,
    in_query: np.ndarray,
    heap: np.ndarray,
    heap_row: np.ndarray,
    tie_keys: np.ndarray,
) -> int:
    """Put the best of the seen sentences into the heap, and make all unseen; returns how many they are.

    The words from number `cut` on are not in `sums` yet.
    """
    size = 0
    # The likely winners first: against their scores most of the others need not be scored.
    for may_gain in (0.0, rest):
        for i in range(len(seen)):
            row = seen[i]
            if sums[row] == _UNSEEN or sums[row] + may_gain < least - _MARGIN:
                continue
            score = sums[row] + _score(row, cut, rows, in_query)
            sums[row] = _UNSEEN
            if score >= least - _MARGIN:
                # Added up in one order for all, so that equal words give equal scores.
                size = _keep(heap, heap_row, size, _score(row, 0, rows, in_query), row, tie_keys)
                if size == len(heap):
                    least = max(least, heap[0])
    for i in range(len(seen)):
        sums[seen[i]] = _UNSEEN
    return size


def _mark_hits(
    query: int,
    last: float,
    rows: Rows,
    in_query: np.ndarray,
    excluded: ExcludedPairs,
    excluded_hit: np.ndarray,
) -> None:
    """Note which excluded pairs of the query reach its last match, whose rounded score is `last`."""
    for i in range(excluded.starts[query], excluded.starts[query + 1]):
        score = _score(excluded.other[i], 0, rows, in_query)
        if score > SCORE_TOLERANCE and np.round(score / SCORE_TOLERANCE) >= last:
            excluded_hit[excluded.pair[i]] = True


def _score(row: int, cut: int, rows: Rows, in_query: np.ndarray) -> float:
    """What the words from number `cut` on add to the score of one sentence, the most frequent first."""
    score = 0.0
    for i in range(rows.start[row + 1] - 1, rows.start[row] - 1, -1):
        if rows.word[i] < cut:
            break
        score += in_query[rows.word[i]] * rows.weight[i]
    return score


def _kth_largest(sums: np.ndarray, seen: np.ndarray, heap: np.ndarray) -> float:
    """The k-th largest of the sums seen, k being the size of `heap`, which is overwritten."""
    heap[:] = _UNSEEN
    for i in range(len(seen)):
        value = sums[seen[i]]
        if value <= heap[0]:
            continue
        place = 0
        while 2 * place + 1 < len(heap):
            child = 2 * place + 1
            if child + 1 < len(heap) and heap[child + 1] < heap[child]:
                child += 1
            if heap[child] >= value:
                break
            heap[place] = heap[child]
            place = child
        heap[place] = value
    return heap[0]


def _is_worse(score: float, row: int, other: float, other_row: int, tie_keys: np.ndarray) -> bool:
    """Whether the first match ranks behind the second: by rounded score, then tie key, then position."""
    rounded, other_rounded = np.round(score / SCORE_TOLERANCE), np.round(other / SCORE_TOLERANCE)
    if rounded != other_rounded:
        return rounded < other_rounded
    if tie_keys[row] != tie_keys[other_row]:
        return tie_keys[row] > tie_keys[other_row]
    return row > other_row


def _keep(
    heap: np.ndarray,
    heap_row: np.ndarray,
    size: int,
    score: float,
    row: int,
    tie_keys: np.ndarray,
) -> int:
    """Put a match into the heap if it is among the best so far; returns the heap's new size."""
    if score <= SCORE_TOLERANCE:
        return size
    if size < len(heap):
        heap[size], heap_row[size] = score, row
        _sift_up(heap, heap_row, size + 1, tie_keys)
        return size + 1
    if _is_worse(heap[0], heap_row[0], score, row, tie_keys):
        heap[0], heap_row[0] = score, row
        _sift_down(heap, heap_row, size, tie_keys)
    return size


def _sift_up(heap: np.ndarray, heap_row: np.ndarray, size: int, tie_keys: np.ndarray) -> None:
    """Bring the last of a heap, whose root is its worst match, to its place."""
    place = size - 1
    while place:
        parent = (place - 1) // 2
        if not _is_worse(heap[place], heap_row[place], heap[parent], heap_row[parent], tie_keys):
            break
        heap[place], heap[parent] = heap[parent], heap[place]
        heap_row[place], heap_row[parent] = heap_row[parent], heap_row[place]
        place = parent


def _sift_down(heap: np.ndarray, heap_row: np.ndarray, size: int, tie_keys: np.ndarray) -> None:
    """Bring the root of a heap, whose root is its worst match, to its place."""
    place = 0
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and _is_worse(
            heap[child + 1], heap_row[child + 1], heap[child], heap_row[child], tie_keys
        ):
            child += 1
        if not _is_worse(heap[child], heap_row[child], heap[place], heap_row[place], tie_keys):
            break
        heap[place], heap[child] = heap[child], heap[place]
        heap_row[place], heap_row[child] = heap_row[child], heap_row[place]
        place = child


def _unload(
    heap: np.ndarray,
    heap_row: np.ndarray,
    size: int,
    tie_keys: np.ndarray,
    found: np.ndarray,
    scores: np.ndarray,
) -> None:
    """Empty a heap, the worst match first, into `found` and `scores`, the best match first."""
    for left in range(size - 1, -1, -1):
        found[left], scores[left] = heap_row[0], heap[0]
        heap[0], heap_row[0] = heap[left], heap_row[left]
        _sift_down(heap, heap_row, left, tie_keys)
