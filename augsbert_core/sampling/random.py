"""Random pairs: a uniform draw from all pairs of the corpus, by unranking pair numbers.

The pair of positions i < j has the number j·(j − 1)/2 + i, so n sentences have exactly the numbers
0 … n(n − 1)/2 − 1 and no list of pairs is ever built.
"""

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import SampleOptions
from augsbert_core.progress import Report, ShouldStop, never, silent, stop_if
from augsbert_core.sampling.corpus import Candidates, Corpus, gather_candidates


def sample_random(
    corpus: Corpus,
    options: SampleOptions,
    report: Report = silent,
    should_stop: ShouldStop = never,
) -> Candidates:
    """`options.n_pairs` pairs, uniformly without replacement from all pairs but the excluded ones.

    Without n_pairs, top_k per sentence are drawn. rank is the order of drawing, so the first m ranks
    are a uniform draw of m; score is 0. Memory grows with the number drawn and excluded, not with n².
    """
    n = len(corpus)
    asked = options.n_pairs if options.n_pairs is not None else options.top_k * n
    if asked < 0:
        raise WorkbenchError(f"The number of pairs is {asked}. Give 0 or more.")
    stop_if(should_stop)
    report(0.0, "Drawing random pairs")
    excluded = np.sort(pair_numbers(*_sorted_positions(corpus)))
    available = n * (n - 1) // 2 - len(excluded)
    count = min(asked, available)
    notices = []
    if count < asked:
        notices.append(
            f"The number of pairs was lowered from {asked:,} to {count:,}: the {n:,} sentences have "
            "no more pairs that are neither gold nor excluded."
        )
    drawn = draw_distinct(np.random.default_rng(options.seed), available, count)
    first, second = unrank_pairs(_skip(drawn, excluded))
    ids = np.sort(np.asarray(corpus.ids, dtype=np.int64))
    ranks = np.arange(1, count + 1)
    report(1.0, f"{count:,} random pairs drawn")
    return gather_candidates(ids[first], ids[second], ranks, np.zeros(count), notices)


def pair_numbers(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The number of each pair of positions, in whichever order the two are given."""
    low = np.minimum(first, second).astype(np.int64)
    high = np.maximum(first, second).astype(np.int64)
    return high * (high - 1) // 2 + low


def unrank_pairs(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The inverse of `pair_numbers`: positions (low, high), exact up to 2**31 sentences."""
    numbers = np.asarray(numbers, dtype=np.int64)
    high = ((1.0 + np.sqrt(1.0 + 8.0 * numbers)) / 2.0).astype(np.int64)
    # The square root is rounded, so the row can be one off on either side.
    high -= high * (high - 1) // 2 > numbers
    high += high * (high + 1) // 2 <= numbers
    return numbers - high * (high - 1) // 2, high


def draw_distinct(rng: np.random.Generator, population: int, count: int) -> np.ndarray:
    """`count` distinct numbers of range(population) in random order, every sequence equally likely.

    Memory grows with count only (`Generator.choice` may hold up to 50 numbers for each one drawn).
    """
    if not 0 <= count <= population:
        raise ValueError(f"cannot draw {count} distinct numbers from {population}")
    if 2 * count > population:
        return rng.permutation(population)[:count]
    drawn = np.empty(0, dtype=np.int64)
    while len(drawn) < count:
        missing = count - len(drawn)
        more = rng.integers(0, population, size=missing + missing // 4 + 8)
        drawn = np.concatenate([drawn, more])
        _, earliest = np.unique(drawn, return_index=True)
        drawn = drawn[np.sort(earliest)]
    return drawn[:count]


def _sorted_positions(corpus: Corpus) -> tuple[np.ndarray, np.ndarray]:
    """The excluded pairs as positions in the order of the ids, so that file order has no influence."""
    rank_of_position = np.empty(len(corpus), dtype=np.int64)
    rank_of_position[np.argsort(corpus.ids)] = np.arange(len(corpus))
    first, second = corpus.excluded_positions()
    return rank_of_position[first], rank_of_position[second]


def _skip(numbers: np.ndarray, holes: np.ndarray) -> np.ndarray:
    """Count `numbers` along the integers that are not in `holes` (sorted, distinct)."""
    return numbers + np.searchsorted(holes - np.arange(len(holes)), numbers, side="right")
