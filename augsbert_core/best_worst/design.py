"""Which pairs are judged together, and in what order one judge sees the tuples.

Pairs are numbers from 0. A design is drawn as rounds of shuffled pairs cut into tuples, then improved by exchanging
single pairs between tuples until no two pairs meet more often than they must.
"""

import math
from collections.abc import Collection, Iterator
from itertools import combinations

import numpy as np

TUPLE_SIZE = 4

# Exchanges are tried a fixed number of times, never for a fixed time: a design is the same on every machine.
_PASSES = 30
_TRIES_PER_TUPLE = 60
_MOST_TRIES = 150_000


def count_tuples(n_pairs: int, tuples_per_pair: float, size: int = TUPLE_SIZE) -> int:
    """How many tuples a design has: `tuples_per_pair` times the pairs, but no more than there are.

    Each pair then appears in about `size` × `tuples_per_pair` tuples, and always in at least one. ValueError for
    fewer pairs than a tuple holds, a tuple of fewer than two, or a number that is not positive and finite.
    """
    if size < 2:
        raise ValueError(f"a tuple needs at least 2 pairs, not {size}")
    if n_pairs < size:
        raise ValueError(f"tuples of {size} need at least {size} pairs, not {n_pairs}")
    if not (math.isfinite(tuples_per_pair) and tuples_per_pair > 0):
        raise ValueError(f"tuples per pair must be a positive number, not {tuples_per_pair}")
    # Rounded first, because 0.1 × 30 is a little more than 3.
    wanted = max(math.ceil(round(n_pairs * tuples_per_pair, 9)), math.ceil(n_pairs / size))
    return min(wanted, math.comb(n_pairs, size))


def design(
    n_pairs: int, tuples_per_pair: float, rng: np.random.Generator, size: int = TUPLE_SIZE
) -> np.ndarray:
    """Tuples in which all pairs appear equally often and two pairs meet as rarely as can be arranged.

    Returns pair numbers of shape (`count_tuples`, size). How often pairs appear differs by at most 1, no pair is twice
    in a tuple and no two tuples hold the same pairs; the order inside a tuple is random. The same generator state gives
    the same design. ValueError as in `count_tuples`.
    """
    n_tuples = count_tuples(n_pairs, tuples_per_pair, size)
    if 2 * n_tuples > math.comb(n_pairs, size):
        every = np.array(list(combinations(range(n_pairs), size)), dtype=np.int64)
        rows = rng.permutation(every)[:n_tuples].tolist()
    else:
        rows = _replace_repeats(_rounds(n_pairs, n_tuples, size, rng), n_pairs, rng).tolist()
    _Exchange(rows, n_pairs, rng).improve()
    return rng.permuted(np.array(rows, dtype=np.int64), axis=1)


def tuple_order(n_tuples: int, rng: np.random.Generator) -> np.ndarray:
    """The order in which one judge sees the tuples: their row numbers, shuffled; the same for the same generator."""
    return rng.permutation(n_tuples)


def remaining_tuples(order: np.ndarray, answered: Collection[int]) -> np.ndarray:
    """The tuples of a judge's order that are not answered yet, in that order."""
    order = np.asarray(order, dtype=np.int64)
    return order[~np.isin(order, np.fromiter(answered, np.int64, len(answered)))]


def next_tuple(order: np.ndarray, answered: Collection[int]) -> int | None:
    """The tuple a judge sees next; None when all are answered."""
    left = remaining_tuples(order, answered)
    return int(left[0]) if len(left) else None


def _rounds(n_pairs: int, n_tuples: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Shuffles of all pairs, one after the other, cut into tuples; no pair is twice in one."""
    cells = n_tuples * size
    stream = np.empty(cells + n_pairs, dtype=np.int64)
    for start in range(0, cells, n_pairs):
        shuffled = rng.permutation(n_pairs)
        begun = stream[start - start % size : start]
        if len(begun):
            # This tuple began in the round before: its pairs wait until it is full.
            meets = np.isin(shuffled, begun)
            fill = np.flatnonzero(~meets)[: size - len(begun)]
            shuffled = np.concatenate([shuffled[fill], np.delete(shuffled, fill)])
        stream[start : start + n_pairs] = shuffled
    return stream[:cells].reshape(n_tuples, size)


def _replace_repeats(tuples: np.ndarray, n_pairs: int, rng: np.random.Generator) -> np.ndarray:
    """The tuples with each that repeats an earlier one drawn anew. At most half of all tuples may be there."""
    seen: set[tuple[int, ...]] = set()
    for place, row in enumerate(np.sort(tuples, axis=1).tolist()):
        key = tuple(row)
        while key in seen:
            drawn = rng.choice(n_pairs, tuples.shape[1:], replace=False)
            tuples[place], key = drawn, tuple(sorted(drawn.tolist()))
        seen.add(key)
    return tuples


class _Exchange:
    """Improves tuples in place, keeping them all different. rows: pair numbers of each tuple."""

    def __init__(self, rows: list[list[int]], n_pairs: int, rng: np.random.Generator) -> None:
        self.rows = rows
        self.n_pairs = n_pairs
        self.rng = rng
        self.known = {frozenset(row) for row in rows}
        self.meetings = _meetings(np.array(rows, dtype=np.int64), n_pairs)
        self.limit = 0

    def improve(self) -> None:
        """Equal appearances first, then meetings as even as the tries allow."""
        self._equalise()
        tries = _MOST_TRIES
        draws = self._draws()
        for limit in self._limits():
            self.limit = limit
            for _ in range(_PASSES):
                crowded = [place for place in range(len(self.rows)) if self._crowded(place)]
                if not crowded or tries <= 0:
                    break
                for place in crowded:
                    tries -= self._relieve(place, draws, min(_TRIES_PER_TUPLE, tries))

    def _limits(self) -> list[int]:
        """How often two pairs may meet: the mean rounded up, then down, unless most never need to meet."""
        all_meetings = len(self.rows) * math.comb(len(self.rows[0]), 2)
        possible = math.comb(self.n_pairs, 2)
        down, up = all_meetings // possible, -(-all_meetings // possible)
        return [up, down] if 0 < down < up else [up]

    def _equalise(self) -> None:
        """Replace the most by the least frequent pair, one tuple at a time, until they differ by at most 1.

        It always ends: of the tuples with the one pair and not the other, more than the other has can make the
        replacement without repeating a tuple.
        """
        counts = np.bincount(np.array(self.rows).reshape(-1), minlength=self.n_pairs)
        while counts.max() - counts.min() > 1:
            often, seldom = int(counts.argmax()), int(counts.argmin())
            for place, row in enumerate(self.rows):
                changed = frozenset(row) - {often} | {seldom}
                if often in row and seldom not in row and changed not in self.known:
                    self._replace(place, row.index(often), seldom)
                    break
            counts[often] -= 1
            counts[seldom] += 1

    def _draws(self) -> Iterator[tuple[int, int, int]]:
        """An endless run of random tuples to exchange with, and of places in both tuples."""
        size = len(self.rows[0])
        while True:
            others = self.rng.integers(0, len(self.rows), 4096).tolist()
            yield from zip(others, *self.rng.integers(0, size, (2, 4096)).tolist(), strict=True)

    def _relieve(self, place: int, draws: Iterator[tuple[int, int, int]], tries: int) -> int:
        """Exchange pairs of a crowded tuple with random others where that is no worse. Returns the tries taken."""
        own = self.rows[place]
        worst = self._crowded(place)
        for tried in range(tries):
            if not worst:
                return tried
            other, at, other_at = next(draws)
            if own[at] in worst and self._exchange(place, at, other, other_at):
                worst = self._crowded(place)
        return tries

    def _exchange(self, place: int, at: int, other_place: int, other_at: int) -> bool:
        """Exchange two pairs between two tuples unless meetings get more uneven or a tuple is repeated."""
        own, other = self.rows[place], self.rows[other_place]
        mine, theirs = own[at], other[other_at]
        if mine in other or theirs in own:
            return False
        # Whoever is in both tuples meets the same pairs before and after.
        near = [pair for pair in own if pair != mine and pair not in other]
        far = [pair for pair in other if pair != theirs and pair not in own]
        met = self._met
        before = sum(met(mine, pair) for pair in near) + sum(met(theirs, pair) for pair in far)
        after = sum(met(theirs, pair) for pair in near) + sum(met(mine, pair) for pair in far)
        # The sum of squares changes by 2 · (after − before) + 2 for each pair that moves to new company.
        if after - before + len(near) + len(far) > 0:
            return False
        changed = frozenset(own) - {mine} | {theirs}
        other_changed = frozenset(other) - {theirs} | {mine}
        if changed in self.known or other_changed in self.known:
            return False
        self._replace(place, at, theirs)
        self._replace(other_place, other_at, mine)
        return True

    def _replace(self, place: int, at: int, new: int) -> None:
        row = self.rows[place]
        self.known.remove(frozenset(row))
        old = row[at]
        for pair in row:
            if pair != old:
                self.meetings[self._key(old, pair)] -= 1
                key = self._key(new, pair)
                self.meetings[key] = self.meetings.get(key, 0) + 1
        row[at] = new
        self.known.add(frozenset(row))

    def _crowded(self, place: int) -> set[int]:
        """The pairs of a tuple that meet another one of it more often than the limit."""
        crowded: set[int] = set()
        for first, second in combinations(self.rows[place], 2):
            if self._met(first, second) > self.limit:
                crowded |= {first, second}
        return crowded

    def _met(self, first: int, second: int) -> int:
        return self.meetings.get(self._key(first, second), 0)

    def _key(self, first: int, second: int) -> int:
        return first * self.n_pairs + second if first < second else second * self.n_pairs + first


def _meetings(tuples: np.ndarray, n_pairs: int) -> dict[int, int]:
    """How often two pairs share a tuple, by lower number × n_pairs + higher number."""
    ordered = np.sort(tuples, axis=1)
    keys = [
        ordered[:, i] * n_pairs + ordered[:, j] for i, j in combinations(range(tuples.shape[1]), 2)
    ]
    found, counts = np.unique(np.concatenate(keys), return_counts=True)
    return dict(zip(found.tolist(), counts.tolist(), strict=True))
