"""The pairs of a corpus by cosine: how many there are in each cosine bin, and some of each to draw from."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from augsbert_core.pairs import pair_codes
from augsbert_core.progress import Report, ShouldStop, never, silent, stop_if
from augsbert_core.sampling.corpus import Corpus
from augsbert_core.sampling.kde import pair_uniforms
from augsbert_core.sampling.random import draw_distinct, pair_numbers, unrank_pairs

N_BINS = 40
MAX_PAIRS = 64_000_000
"""Up to so many pairs each one is looked at; beyond, SAMPLED_PAIRS of them and the nearest neighbours."""

SAMPLED_PAIRS = 4_000_000

_CHUNK = 1 << 20  # cosines held at a time
_PROBE = 20_000  # random pairs that tell where the bins should begin
_SALT = 0x5D1E_57A7  # so that who is drawn first says nothing about who is kept under the same seed


@dataclass(frozen=True)
class Strata:
    """Cosine bins and a random draw of each bin's pairs.

    edges: float64 (bins + 1,), ascending. counts: int64 (bins,), how many pairs exist; is_exact: counted,
    not estimated from a sample. first, second (int64 sentence ids, first < second), cosine (float32): the
    pairs that can be drawn, bin by bin, those of a bin in random order. starts: int64 (bins + 1,), where
    each bin's pairs lie among them.
    """

    edges: np.ndarray
    counts: np.ndarray
    is_exact: bool
    first: np.ndarray
    second: np.ndarray
    cosine: np.ndarray
    starts: np.ndarray

    @property
    def codes(self) -> np.ndarray:
        """`pairs.pair_codes` of the pairs that can be drawn."""
        return pair_codes(self.first, self.second)

    def __len__(self) -> int:
        return len(self.first)

    def without(self, codes: np.ndarray) -> "Strata":
        """The same strata with these pairs no longer to be drawn; counts stay as they are."""
        stays = ~np.isin(self.codes, codes)
        starts = np.concatenate([[0], np.cumsum(stays)])[self.starts]
        return replace(
            self,
            first=self.first[stays],
            second=self.second[stays],
            cosine=self.cosine[stays],
            starts=starts,
        )

    def bins_of(self, cosines: np.ndarray) -> np.ndarray:
        """The bin of each cosine; what lies outside the edges belongs to the bin at that end."""
        return _bins_of(np.asarray(cosines), self.edges)

    def free_counts(self, is_drawn: np.ndarray) -> np.ndarray:
        """How many pairs of each bin are left. is_drawn: bool, one per pair."""
        left = np.concatenate([[0], np.cumsum(~is_drawn)])
        return np.diff(left[self.starts])

    def draw(self, is_drawn: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Positions of the next counts[b] undrawn pairs of each bin b, fewer where a bin has fewer."""
        parts = []
        for start, stop, count in zip(self.starts[:-1], self.starts[1:], counts, strict=True):
            parts.append(start + np.flatnonzero(~is_drawn[start:stop])[: int(count)])
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def stratify(
    corpus: Corpus,
    embeddings: np.ndarray,
    *,
    per_bin: int,
    seed: int,
    neighbours: tuple[np.ndarray, np.ndarray] | None = None,
    n_bins: int = N_BINS,
    max_pairs: int = MAX_PAIRS,
    sampled_pairs: int = SAMPLED_PAIRS,
    report: Report = silent,
    should_stop: ShouldStop = never,
) -> Strata:
    """Sort the pairs of the corpus that are not excluded into cosine bins; keep `per_bin` of each at random.

    embeddings: unit rows, float32, one per sentence. The bins are equally wide, from a cosine that nearly
    all pairs exceed up to 1. More than `max_pairs` pairs are not all looked at: a random sample is, and the
    pairs in `neighbours` (positions of each sentence and of its nearest ones), because similar pairs are
    too scarce to be met by chance. Memory grows with the chunk, the sample, n_bins · per_bin and the
    excluded pairs. The result depends on ids and seed, not on the order of the sentences.
    """
    order = np.argsort(corpus.ids)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    ids, rows = np.asarray(corpus.ids, dtype=np.int64)[order], embeddings[order]
    first, second = corpus.excluded_positions()
    excluded = np.sort(pair_numbers(place[first], place[second]))
    n_pairs = len(ids) * (len(ids) - 1) // 2
    edges = _choose_edges(rows, n_pairs, n_bins, seed)
    reservoir = _Reservoir(n_bins, per_bin)
    is_exact = n_pairs <= max_pairs
    if is_exact:
        chunks, total = _all_pairs(rows, excluded), n_pairs
    else:
        drawn = np.sort(draw_distinct(np.random.default_rng(seed), n_pairs, sampled_pairs))
        near = place[np.stack(neighbours)] if neighbours is not None else np.zeros((2, 0), np.int64)
        near = near[:, near[0] != near[1]]
        numbers = np.union1d(drawn, pair_numbers(*near))
        numbers = numbers[~_is_in(numbers, excluded)]
        chunks, total = _listed_pairs(rows, numbers), len(numbers)
    met = np.zeros(n_bins, dtype=np.int64)
    by_chance = np.zeros(n_bins, dtype=np.int64)
    done = 0
    for low, high, cosine in chunks:
        stop_if(should_stop)
        bins = _bins_of(cosine, edges)
        met += np.bincount(bins, minlength=n_bins)
        if not is_exact:
            random_ones = _is_in(pair_numbers(low, high), drawn)
            by_chance += np.bincount(bins[random_ones], minlength=n_bins)
        reservoir.add(
            bins, pair_uniforms(pair_codes(ids[low], ids[high]), seed ^ _SALT), low, high, cosine
        )
        done += len(cosine)
        report(min(done / max(total, 1), 1.0), f"Compared {done:,} of {total:,} pairs")
    if not is_exact:
        met = np.maximum(met, np.rint(by_chance * (n_pairs / sampled_pairs)).astype(np.int64))
    bins, low, high, cosine = reservoir.pairs()
    starts = np.searchsorted(bins, np.arange(n_bins + 1))
    return Strata(edges, met, is_exact, ids[low], ids[high], cosine, starts)


def _choose_edges(rows: np.ndarray, n_pairs: int, n_bins: int, seed: int) -> np.ndarray:
    """Equal bins from the cosine that 99 of 100 random pairs exceed up to 1."""
    lowest = 0.0
    if n_pairs:
        rng = np.random.default_rng(seed ^ _SALT)
        low, high = unrank_pairs(draw_distinct(rng, n_pairs, min(n_pairs, _PROBE)))
        lowest = float(np.quantile(np.einsum("ij,ij->i", rows[low], rows[high]), 0.01))
    # Cosines that are all the same still need bins of some width.
    return np.linspace(min(lowest, 0.99), 1.0, n_bins + 1)


def _bins_of(cosines: np.ndarray, edges: np.ndarray) -> np.ndarray:
    n_bins = len(edges) - 1
    scale = n_bins / (edges[-1] - edges[0])
    return np.clip((cosines - edges[0]) * scale, 0, n_bins - 1).astype(np.int64)


Chunk = tuple[np.ndarray, np.ndarray, np.ndarray]


def _all_pairs(rows: np.ndarray, excluded: np.ndarray) -> Iterator[Chunk]:
    """All pairs low < high that are not excluded, with their cosines, some rows at a time."""
    n = len(rows)
    holes_low, holes_high = unrank_pairs(excluded)
    start = 1
    while start < n:
        stop = min(n, start + max(1, _CHUNK // n))
        cosines = rows[start:stop] @ rows[:stop].T
        wanted = np.arange(stop) < np.arange(start, stop)[:, None]
        here = slice(*np.searchsorted(holes_high, [start, stop]))  # numbers ascend with `high`
        wanted[holes_high[here] - start, holes_low[here]] = False
        high, low = np.nonzero(wanted)
        yield low, high + start, cosines[wanted]
        start = stop


def _listed_pairs(rows: np.ndarray, numbers: np.ndarray) -> Iterator[Chunk]:
    """The pairs with these numbers, with their cosines, some at a time."""
    at_once = max(1, _CHUNK * 16 // rows.shape[1])
    for start in range(0, len(numbers), at_once):
        low, high = unrank_pairs(numbers[start : start + at_once])
        yield low, high, np.einsum("ij,ij->i", rows[low], rows[high])


def _is_in(values: np.ndarray, ascending: np.ndarray) -> np.ndarray:
    if not len(ascending):
        return np.zeros(len(values), dtype=bool)
    places = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    return ascending[places] == values


class _Reservoir:
    """The `per_bin` pairs of each bin that have the smallest keys, whatever the order they come in."""

    def __init__(self, n_bins: int, per_bin: int) -> None:
        self._per_bin = per_bin
        self._limit = np.full(n_bins, np.inf)
        self._parts: list[tuple[np.ndarray, ...]] = []
        self._size = 0

    def add(self, bins: np.ndarray, keys: np.ndarray, *columns: np.ndarray) -> None:
        wanted = np.flatnonzero(keys <= self._limit[bins])
        self._parts.append(tuple(column[wanted] for column in (bins, keys, *columns)))
        self._size += len(wanted)
        if self._size > max(2 * self._per_bin * len(self._limit), _CHUNK // 4):
            self._prune()

    def pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Bins (ascending), low and high positions and cosines; within a bin by key."""
        if not self._parts:
            empty = np.zeros(0, dtype=np.int64)
            return empty, empty, empty, np.zeros(0, dtype=np.float32)
        self._prune()
        bins, _, low, high, cosine = self._parts[0]
        return bins, low, high, cosine

    def _prune(self) -> None:
        columns = [np.concatenate(column) for column in zip(*self._parts, strict=True)]
        bins, keys = columns[0], columns[1]
        order = np.lexsort((keys, bins))
        starts = np.searchsorted(bins[order], np.arange(len(self._limit) + 1))
        rank = np.arange(len(order)) - starts[bins[order]]
        order = order[rank < self._per_bin]
        self._parts = [tuple(column[order] for column in columns)]
        self._size = len(order)
        full = np.flatnonzero(np.diff(starts) >= self._per_bin)
        kept_starts = np.searchsorted(bins[order], full)
        self._limit[full] = keys[order][kept_starts + self._per_bin - 1]
