"""Fewer rows than the file has."""

from itertools import pairwise

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.pair_rows import PairRows
from augsbert_core.options import ImportOptions
from augsbert_core.options.importing import SUBSAMPLES

N_PARTS = 5
"""Graded scores are balanced over so many equal parts of the scale."""
NO_GROUP = "(none)"
"""What rows without a group are called."""
_NAMED = 12


def subsample(rows: PairRows, options: ImportOptions) -> tuple[PairRows, list[str]]:
    """At most `limit` rows, chosen as `subsample` says, in the order of the file; and what was done.

    The "first" rows of a file are taken when it is read; here nothing is left out for them. Where a class or group
    has too few rows, the others make up for it. WorkbenchError: the limit is below 1, the way is unknown, or no
    row has a group.
    """
    way, limit = options.subsample, options.limit
    if way not in SUBSAMPLES:
        raise WorkbenchError(f"Subsample {way!r} is none of {', '.join(SUBSAMPLES)}.")
    if limit is not None and limit < 1:
        raise WorkbenchError(f"Limit {limit} leaves no rows. Give a number of at least 1.")
    if limit is None or way == "first" or len(rows) <= limit:
        return rows, []
    rng = np.random.default_rng(options.seed)
    kept = f"Kept {limit:,} of {len(rows):,} rows"
    if way == "random":
        chosen = np.sort(rng.choice(len(rows), limit, replace=False))
        return rows.take(chosen), [f"{kept}, drawn at random."]
    if way == "balanced":
        classes, names = _score_classes(rows.scores)
        what = "score" if len(names) == 2 else f"part of the scale from 0 to 1 ({N_PARTS} parts)"
    else:
        classes, names = groups_of(rows)
        what = "group"
    sizes = np.bincount(classes, minlength=len(names))
    shares = fair_shares(sizes, limit)
    chosen = _draw(classes, sizes, shares, rng)
    note = f"{kept}, equally many of each {what}: {_told(names, shares)}."
    if ((shares == sizes) & (shares < shares.max() - 1)).any():
        note += " Where there were too few, the others make up for it."
    return rows.take(chosen), [note]


def groups_of(rows: PairRows) -> tuple[np.ndarray, list[str]]:
    """The number of each row's group, in order of first appearance, and the names; see NO_GROUP.

    WorkbenchError: no row has a group.
    """
    if rows.groups is None:
        raise WorkbenchError(
            "No row has a group. Choose the column that holds the groups (--group-column), or another way."
        )
    numbers: dict[str, int] = {}
    for name in dict.fromkeys(rows.groups):
        numbers.setdefault(name or NO_GROUP, len(numbers))
    names = list(numbers)
    numbers[""] = numbers.get(NO_GROUP, 0)
    groups = np.fromiter(map(numbers.__getitem__, rows.groups), dtype=np.int64, count=len(rows))
    return groups, names


def fair_shares(sizes: np.ndarray, limit: int) -> np.ndarray:
    """How many of each class make `limit` in all: equally many, to one, of those classes that have enough.

    sizes: how many each class has; limit: at most their sum.
    """
    shares = np.zeros(len(sizes), dtype=np.int64)
    left = limit
    for done, smallest in enumerate(np.argsort(sizes, kind="stable").tolist()):
        shares[smallest] = min(int(sizes[smallest]), left // (len(sizes) - done))
        left -= int(shares[smallest])
    return shares


def _score_classes(scores: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """The class of each row, the score where all are 0 or 1, else the part of the scale; and their names."""
    if ((scores == 0) | (scores == 1)).all():
        return scores.astype(np.int64), ["0", "1"]
    edges = [f"{part / N_PARTS:g}" for part in range(N_PARTS + 1)]
    names = [f"{low}–{high}" for low, high in pairwise(edges)]
    return np.minimum((scores * N_PARTS).astype(np.int64), N_PARTS - 1), names


def _draw(
    classes: np.ndarray, sizes: np.ndarray, shares: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Places of so many of each class, drawn without replacement, in ascending order."""
    shuffled = rng.permutation(len(classes))
    by_class = shuffled[np.argsort(classes[shuffled], kind="stable")]
    rank = np.arange(len(classes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(by_class[rank < np.repeat(shares, sizes)])


def _told(names: list[str], shares: np.ndarray) -> str:
    """How many of each, or from how many to how many when there are a great many."""
    if len(names) > _NAMED:
        fewest, most = f"{shares.min():,}", f"{shares.max():,}"
        span = most if fewest == most else f"{fewest} to {most}"
        return f"{span} of each of {len(names):,}"
    parts = zip(names, shares.tolist(), strict=True)
    return ", ".join(f"{share:,} of {name}" for name, share in parts)
