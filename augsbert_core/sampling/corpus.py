"""What a sampler sees and what it returns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from augsbert_core.options import SampleOptions
from augsbert_core.pairs import pair_codes
from augsbert_core.progress import Report, ShouldStop, never, silent
from augsbert_core.sampling.neighbours import Neighbours, Search

_ID_BITS = 31
_ID_MASK = (1 << _ID_BITS) - 1

Embed = Callable[[Sequence[str], Report, ShouldStop], np.ndarray]
"""Texts → their unit-length embeddings by a bi-encoder: float32, shape (texts, dimensions)."""


@dataclass(frozen=True)
class Corpus:
    """The sentences that may be paired, and the pairs that may not be returned.

    texts: sentence texts, none from dev or test. ids: int64, same order, unique, in [0, 2**31).
    excluded: int64 `pairs.pair_codes`; codes of sentences outside the corpus do no harm. search: the
    bi-encoder's top-k search, for the semantic samplers. gold: the codes of the gold pairs among
    `excluded`; None when all of them are gold. embed: the same bi-encoder's embeddings, for samplers that need the
    cosine of any pair.
    """

    texts: list[str]
    ids: np.ndarray
    excluded: np.ndarray
    search: Search | None = None
    gold: np.ndarray | None = None
    embed: Embed | None = None

    def __post_init__(self) -> None:
        if len(self.texts) != len(self.ids):
            raise ValueError(f"{len(self.texts)} texts but {len(self.ids)} ids")
        if len(np.unique(self.ids)) != len(self.ids):
            raise ValueError("sentence ids must be unique")
        if len(self.ids) and not 0 <= np.min(self.ids) <= np.max(self.ids) <= _ID_MASK:
            raise ValueError("sentence ids must lie in [0, 2**31)")

    def __len__(self) -> int:
        return len(self.texts)

    def excluded_positions(self) -> tuple[np.ndarray, np.ndarray]:
        """The excluded pairs as positions into `texts`, each once, those within the corpus only."""
        _, first, second = self._excluded_pairs()
        return first, second

    def excluded_is_gold(self) -> np.ndarray:
        """Which pairs of `excluded_positions` are gold, a bool array parallel to them."""
        codes, _, _ = self._excluded_pairs()
        return np.ones(len(codes), dtype=bool) if self.gold is None else np.isin(codes, self.gold)

    def _excluded_pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        codes = np.unique(np.asarray(self.excluded, dtype=np.int64))
        ids = np.asarray(self.ids, dtype=np.int64)
        order = np.argsort(ids)
        first, first_known = _find(ids[order], codes >> _ID_BITS)
        second, second_known = _find(ids[order], codes & _ID_MASK)
        usable = first_known & second_known & (first != second)
        return codes[usable], order[first[usable]], order[second[usable]]


@dataclass(frozen=True)
class Candidates:
    """Candidate pairs, none twice, ordered by (first, second).

    first, second: int64 sentence ids with first < second. rank: int32, 1 is best. score: float64, the
    sampler's own score (0 where it has none). notices: plain sentences for the user. bm25_rank,
    semantic_rank: int32, the rank by each sampler of a union, 0 where it did not find the pair; None
    outside a union. gold_left_out: how many gold pairs would have been among somebody's top-k; None
    where there is no top-k.
    """

    first: np.ndarray
    second: np.ndarray
    rank: np.ndarray
    score: np.ndarray
    notices: list[str] = field(default_factory=list)
    bm25_rank: np.ndarray | None = None
    semantic_rank: np.ndarray | None = None
    gold_left_out: int | None = None

    def __len__(self) -> int:
        return len(self.first)


class Sampler(Protocol):
    """A function that chooses candidate pairs of a corpus, the same ones for the same options."""

    def __call__(
        self,
        corpus: Corpus,
        options: SampleOptions,
        report: Report = silent,
        should_stop: ShouldStop = never,
    ) -> Candidates: ...


def gather_neighbours(corpus: Corpus, found: Neighbours, notices: Sequence[str]) -> Candidates:
    """The matches of a search over `corpus.texts` as pairs of sentence ids, its own notices last.

    found: made with `corpus.excluded_positions()`, so that the gold pairs among its hits are counted.
    """
    ids = np.asarray(corpus.ids, dtype=np.int64)
    hit = found.excluded_hit
    gold_left_out = int(np.count_nonzero(hit & corpus.excluded_is_gold())) if len(hit) else 0
    return gather_candidates(
        ids[found.query],
        ids[found.neighbour],
        found.rank,
        found.score,
        [*notices, *found.notices],
        gold_left_out=gold_left_out,
    )


def gather_candidates(
    first: np.ndarray,
    second: np.ndarray,
    rank: np.ndarray,
    score: np.ndarray,
    notices: list[str],
    *,
    gold_left_out: int | None = None,
) -> Candidates:
    """Pairs in any order and direction as `Candidates`.

    A pair that was found from both of its sides keeps the better rank and the larger score.
    """
    codes = pair_codes(np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64))
    order = np.argsort(codes, kind="stable")
    unique, starts = np.unique(codes[order], return_index=True)
    if not len(unique):
        empty = np.empty(0, dtype=np.int64)
        return Candidates(
            empty, empty, np.empty(0, np.int32), np.empty(0), notices, gold_left_out=gold_left_out
        )
    return Candidates(
        first=unique >> _ID_BITS,
        second=unique & _ID_MASK,
        rank=np.minimum.reduceat(np.asarray(rank)[order], starts).astype(np.int32),
        score=np.maximum.reduceat(np.asarray(score, dtype=np.float64)[order], starts),
        notices=notices,
        gold_left_out=gold_left_out,
    )


def _find(sorted_ids: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions of `wanted` in `sorted_ids`, and which of them are there at all."""
    if not len(sorted_ids):
        return np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=bool)
    positions = np.minimum(np.searchsorted(sorted_ids, wanted), len(sorted_ids) - 1)
    return positions, sorted_ids[positions] == wanted
