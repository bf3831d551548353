"""Pairs that occur more than once, in either direction, and what to do with them."""

from dataclasses import dataclass

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.pair_rows import PairRows

POLICIES = ("keep", "mean", "first", "drop")


@dataclass(frozen=True)
class Repeats:
    """How often pairs occur more than once, either way round.

    n_rows_repeated: rows beyond the first of their pair. n_pairs_repeated: distinct pairs with more
    than one row. n_conflicting: those of them whose scores differ. n_identical: rows whose two
    sentences are one sentence.
    """

    n_rows_repeated: int
    n_pairs_repeated: int
    n_conflicting: int
    n_identical: int


NO_REPEATS = Repeats(0, 0, 0, 0)


def find_repeats(rows: PairRows) -> Repeats:
    """Count the pairs that occur more than once."""
    if not len(rows):
        return NO_REPEATS
    order, starts, sizes = _by_pair(rows)
    first, second = rows.numbered.places
    return Repeats(
        n_rows_repeated=len(rows) - len(starts),
        n_pairs_repeated=int((sizes > 1).sum()),
        n_conflicting=int(_differ(rows.raw_scores[order], starts).sum()),
        n_identical=int((first == second).sum()),
    )


@dataclass(frozen=True)
class RepeatedRow:
    """A row of a pair that occurs more than once. pair: numbered from 1. source: the number of its file.

    is_reversed: its sentences stand the other way round than in the pair's first row. differs: not all scores of the
    pair are the same.
    """

    pair: int
    source: int
    line: int
    raw_score: float
    split: str
    sentence1: str
    sentence2: str
    is_reversed: bool
    differs: bool


def list_repeats(rows: PairRows, limit: int) -> list[RepeatedRow]:
    """The rows of pairs that occur more than once, pair by pair, those with differing scores first.

    At most limit rows, of whole pairs where possible.
    """
    if not len(rows):
        return []
    order, starts, sizes = _by_pair(rows)
    differ = _differ(rows.raw_scores[order], starts)
    repeated = np.flatnonzero(sizes > 1)
    repeated = repeated[np.argsort(~differ[repeated], kind="stable")]
    first, second = rows.numbered.places
    found: list[RepeatedRow] = []
    for number, pair in enumerate(repeated.tolist(), 1):
        places = order[starts[pair] : starts[pair] + sizes[pair]].tolist()
        if found and len(found) + len(places) > limit:
            break
        for place in places[:limit]:
            row = rows[place]
            found.append(
                RepeatedRow(
                    number,
                    int(rows.sources[place]),
                    row.line,
                    row.raw_score,
                    row.split,
                    row.sentence1,
                    row.sentence2,
                    is_reversed=bool(
                        first[place] != first[places[0]] and first[place] == second[places[0]]
                    ),
                    differs=bool(differ[pair]),
                )
            )
    return found


def apply_repeats_policy(rows: PairRows, policy: str) -> PairRows:
    """The rows after repeated pairs were handled, in the order of the file.

    policy: "keep" every row; "first": one row a pair, the first; "mean": the first with the mean of
    all scores; "drop": leave out every pair that occurs more than once. A mean of 0 and 1 is neither:
    guess the task before. A pair that is in two splits ends up in that of its first row. A mean that is
    not the score of its first row has no word (`labels`).
    """
    if policy not in POLICIES:
        raise WorkbenchError(f"Repeats policy {policy!r} is none of {', '.join(POLICIES)}.")
    if policy == "keep" or not len(rows):
        return rows
    order, starts, sizes = _by_pair(rows)
    firsts = order[starts]
    if policy == "drop":
        return rows.take(firsts[sizes == 1])
    kept = rows.take(firsts)
    if policy == "first":
        return kept
    raw = _means(rows.raw_scores[order], starts, sizes)
    unit = _means(rows.scores[order], starts, sizes)
    labels = kept.labels
    if labels is not None:
        labels = labels.copy()
        for place in np.flatnonzero(raw != kept.raw_scores).tolist():
            labels[place] = ""
    return kept.with_scores(raw, unit, labels)


def _by_pair(rows: PairRows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rows ordered by pair, each pair's in the order of the file; where each pair starts; how many it has.

    Pairs are numbered as they first occur, so the first rows of all pairs are in the order of the file too.
    """
    sizes = np.bincount(rows.pairs)
    return np.argsort(rows.pairs, kind="stable"), np.cumsum(sizes) - sizes, sizes


def _differ(scores: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Whether the scores of each pair differ."""
    lowest: np.ndarray = np.minimum.reduceat(scores, starts)
    return lowest < np.maximum.reduceat(scores, starts)


def _means(scores: np.ndarray, starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The mean score of each pair. That of equal scores is that score, to the last digit."""
    means = np.add.reduceat(scores, starts) / sizes
    lowest, highest = np.minimum.reduceat(scores, starts), np.maximum.reduceat(scores, starts)
    clipped: np.ndarray = np.clip(means, lowest, highest)
    return clipped
