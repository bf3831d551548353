"""The best matches of every sentence: what a top-k search returns, and what all of them share."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.progress import Report, ShouldStop, never, silent


def _no_hits() -> np.ndarray:
    return np.empty(0, dtype=bool)


@dataclass(frozen=True)
class Neighbours:
    """Ranked matches, parallel arrays ordered by query and rank.

    query, neighbour: int64 positions. rank: int32, 1 is best. score: float64, the larger the better.
    excluded_hit: bool, parallel to the excluded pairs that the search was given: whether the pair would
    have been among the top-k of one of its two sentences, that is, whether its score is at least that
    of the last match kept there (or fewer than top-k were kept). Empty when none were excluded.
    notices: plain sentences for the user.
    """

    query: np.ndarray
    neighbour: np.ndarray
    rank: np.ndarray
    score: np.ndarray
    excluded_hit: np.ndarray = field(default_factory=_no_hits)
    notices: list[str] = field(default_factory=list)

    @property
    def excluded_hits(self) -> int:
        """How many excluded pairs would have been among somebody's top-k."""
        return int(np.count_nonzero(self.excluded_hit))


class Search(Protocol):
    """The top-k search of a bi-encoder, bound to its model: texts in, neighbours out.

    tie_keys: one uint64 per text, the order among equal scores (positions when None). excluded:
    positions of pairs that may not match in either direction and do not use up the top-k.
    """

    def __call__(
        self,
        texts: Sequence[str],
        top_k: int,
        *,
        tie_keys: np.ndarray | None = None,
        excluded: tuple[np.ndarray, np.ndarray] | None = None,
        report: Report = silent,
        should_stop: ShouldStop = never,
    ) -> Neighbours: ...


class ExcludedPairs(NamedTuple):
    """Excluded pairs by sentence: those of sentence i are at starts[i] to starts[i + 1].

    other: int64 position of the other sentence, ascending within a sentence. pair: int64, which of the
    given pairs it is.
    """

    starts: np.ndarray
    other: np.ndarray
    pair: np.ndarray


def excluded_by_sentence(excluded: tuple[np.ndarray, np.ndarray] | None, n: int) -> ExcludedPairs:
    """The excluded pairs seen from both of their sentences, for n sentences."""
    if excluded is None:
        none = np.empty(0, dtype=np.int64)
        return ExcludedPairs(np.zeros(n + 1, dtype=np.int64), none, none)
    first, second = (np.asarray(positions, dtype=np.int64) for positions in excluded)
    own = np.concatenate([first, second])
    other = np.concatenate([second, first])
    order = np.lexsort((other, own))
    starts = np.searchsorted(own[order], np.arange(n + 1))
    return ExcludedPairs(starts, other[order], order % max(len(first), 1))


def clamp_top_k(top_k: int, n: int) -> tuple[int, list[str]]:
    """The number of neighbours that n sentences can have, and what to tell the user; 0 when n < 2.

    WorkbenchError: top_k below 1.
    """
    if top_k < 1:
        raise WorkbenchError(f"Top-k is {top_k}. Give 1 or more.")
    if n < 2:
        return 0, [f"Nothing to pair: the corpus has {n} sentence{'s' * (n != 1)}, two are needed."]
    if top_k < n:
        return top_k, []
    return n - 1, [
        f"Top-k was lowered from {top_k:,} to {n - 1:,}: the corpus has only {n:,} sentences."
    ]


def text_hashes(texts: Sequence[str], seed: int) -> np.ndarray:
    """One uint64 per text that depends on the text and the seed only: the tie keys of a search."""
    digests = b"".join(
        hashlib.blake2b(f"{seed}:{text}".encode(errors="surrogatepass"), digest_size=8).digest()
        for text in texts
    )
    return np.frombuffer(digests, dtype="<u8")


def concatenate(
    parts: Sequence[Neighbours],
    excluded_hit: np.ndarray | None = None,
    notices: Sequence[str] = (),
) -> Neighbours:
    """The matches of consecutive blocks of queries as one; no parts give no matches."""

    def joined(name: str, dtype: type) -> np.ndarray:
        arrays: list[np.ndarray] = [np.asarray(getattr(part, name), dtype) for part in parts]
        return np.concatenate(arrays) if arrays else np.empty(0, dtype=dtype)

    return Neighbours(
        query=joined("query", np.int64),
        neighbour=joined("neighbour", np.int64),
        rank=joined("rank", np.int32),
        score=joined("score", np.float64),
        excluded_hit=_no_hits() if excluded_hit is None else excluded_hit,
        notices=list(notices),
    )
