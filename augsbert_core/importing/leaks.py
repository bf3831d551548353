"""What splits have in common, and how to leave it out."""

from dataclasses import dataclass

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.pair_rows import PairRows
from augsbert_core.options.importing import LEAKS
from augsbert_core.pairs import SPLITS


@dataclass(frozen=True)
class Leak:
    """What two splits share. pairs, sentences: distinct ones in both. rows_by_pair, rows_by_sentence: rows of the
    earlier split that would have to go for no pair, or no sentence, to be shared."""

    earlier: str
    later: str
    pairs: int
    sentences: int
    rows_by_pair: int
    rows_by_sentence: int


def find_leaks(rows: PairRows) -> list[Leak]:
    """What every two of train, dev and test share; splits that share nothing are left out."""
    found = []
    for earlier in range(len(SPLITS)):
        for later in range(earlier + 1, len(SPLITS)):
            one, two = rows.splits == earlier, rows.splits == later
            if not one.any() or not two.any():
                continue
            places = rows.numbered.places
            pairs = np.intersect1d(rows.codes[one], rows.codes[two])
            sentences = np.intersect1d(places[:, one], places[:, two])
            if len(sentences):
                by_pair = np.isin(rows.codes[one], pairs).sum()
                by_sentence = np.isin(places[:, one], sentences).any(axis=0).sum()
                found.append(
                    Leak(SPLITS[earlier], SPLITS[later], len(pairs), len(sentences), int(by_pair), int(by_sentence))
                )  # fmt: skip
    return found


def drop_leaks(rows: PairRows, policy: str) -> tuple[PairRows, int]:
    """The rows without those of train (and dev) that share a pair or a sentence with a later split; how many went.

    policy: "keep" leaves all, "pairs", or "sentences". Test is never touched.
    """
    if policy not in LEAKS:
        raise WorkbenchError(f"Leak policy {policy!r} is none of {', '.join(LEAKS)}.")
    if policy == "keep":
        return rows, 0
    gone = np.zeros(len(rows), dtype=bool)
    for earlier in reversed(range(len(SPLITS) - 1)):
        mine, later = rows.splits == earlier, (rows.splits > earlier) & ~gone
        if policy == "pairs":
            gone |= mine & np.isin(rows.codes, rows.codes[later])
        else:
            held_out = np.unique(rows.numbered.places[:, later])
            gone |= mine & np.isin(rows.numbered.places, held_out).any(axis=0)
    return rows.take(np.flatnonzero(~gone)), int(gone.sum())
