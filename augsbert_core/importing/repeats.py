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
    order = np.argsort(rows.codes, kind="stable")
    starts = _starts(rows.codes[order])
    sizes = np.diff(np.append(starts, len(order)))
    scores = rows.raw_scores[order]
    differ = np.minimum.reduceat(scores, starts) < np.maximum.reduceat(scores, starts)
    first, second = rows.numbered.places
    return Repeats(
        n_rows_repeated=len(rows) - len(starts),
        n_pairs_repeated=int((sizes > 1).sum()),
        n_conflicting=int(differ.sum()),
        n_identical=int((first == second).sum()),
    )


def apply_repeats_policy(rows: PairRows, policy: str) -> PairRows:
    """The rows after repeated pairs were handled, in the order of the file.

    policy: "keep" every row; "first": one row a pair, the first; "mean": the first with the mean of
    all scores; "drop": leave out every pair that occurs more than once. A mean of 0 and 1 is neither:
    guess the task before. A pair that is in two splits ends up in that of its first row.
    """
    if policy not in POLICIES:
        raise WorkbenchError(f"Repeats policy {policy!r} is none of {', '.join(POLICIES)}.")
    if policy == "keep" or not len(rows):
        return rows
    order = np.argsort(rows.codes, kind="stable")
    starts = _starts(rows.codes[order])
    sizes = np.diff(np.append(starts, len(order)))
    firsts = order[starts]
    if policy == "drop":
        return rows.take(np.sort(firsts[sizes == 1]))
    places = np.argsort(firsts, kind="stable")
    kept = rows.take(firsts[places])
    if policy == "first":
        return kept
    raw, unit = (
        (np.add.reduceat(scores[order], starts) / sizes)[places]
        for scores in (rows.raw_scores, rows.scores)
    )
    # A mean of equal scores is that score, to the last digit.
    single = (sizes == 1)[places]
    return kept.with_scores(
        np.where(single, kept.raw_scores, raw), np.where(single, kept.scores, np.clip(unit, 0, 1))
    )


def _starts(sorted_codes: np.ndarray) -> np.ndarray:
    """Where each run of equal codes begins."""
    return np.flatnonzero(np.concatenate([[True], sorted_codes[1:] != sorted_codes[:-1]]))
