"""What splits have in common, and how to leave it out."""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from itertools import combinations

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
    if not len(rows):
        return []
    places, pairs = rows.numbered.places, rows.pairs
    members = [np.flatnonzero(rows.splits == split) for split in range(len(SPLITS))]
    with_sentence = [_table(places[:, mine], len(rows.numbered.keys)) for mine in members]
    with_pair = [_table(pairs[mine], len(rows)) for mine in members]
    found = []
    for earlier, later in combinations(range(len(SPLITS)), 2):
        sentences = with_sentence[earlier] & with_sentence[later]
        if not sentences.any():
            continue
        shared = with_pair[earlier] & with_pair[later]
        mine = members[earlier]
        found.append(
            Leak(
                SPLITS[earlier],
                SPLITS[later],
                pairs=int(shared.sum()),
                sentences=int(sentences.sum()),
                rows_by_pair=int(shared[pairs[mine]].sum()),
                rows_by_sentence=int(sentences[places[:, mine]].any(axis=0).sum()),
            )
        )
    return found


def leaks_with(rows: PairRows, held: Mapping[str, Set[str]]) -> list[Leak]:
    """What rows would share with other splits of what is there already; splits that share nothing are left out.

    held: split → `sentence_key`s that it has, in any order. Each leak is between rows in either of its two splits
    and what the other one holds. sentences: distinct ones shared; rows_by_sentence: the rows, in whichever of the two
    splits, that have one. Which pairs are there is not known: pairs and rows_by_pair are 0.
    """
    known = rows.numbered
    there = _held_sentences(rows, held)
    found = []
    for earlier, later in combinations(range(len(SPLITS)), 2):
        sentences = np.zeros(len(known.keys), dtype=bool)
        n_rows = 0
        for mine, other in ((earlier, later), (later, earlier)):
            places = known.places[:, rows.splits == mine]
            shared = there[other][places]
            sentences[places[shared]] = True
            n_rows += int(shared.any(axis=0).sum())
        if n_rows:
            n_shared = int(sentences.sum())
            found.append(Leak(SPLITS[earlier], SPLITS[later], 0, n_shared, 0, n_rows))
    return found


def _held_sentences(rows: PairRows, held: Mapping[str, Set[str]]) -> list[np.ndarray]:
    """For each of SPLITS which of the rows' sentences it holds already."""
    keys = rows.numbered.keys
    return [
        np.fromiter(
            map(held.get(split, frozenset()).__contains__, keys), dtype=bool, count=len(keys)
        )
        for split in SPLITS
    ]


def drop_leaks(
    rows: PairRows, policy: str, held: Mapping[str, Set[str]] | None = None
) -> tuple[PairRows, int]:
    """The rows without those of train (and dev) that share a pair or a sentence with a later split; how many went.

    policy: "keep" leaves all, "pairs", or "sentences". held: what is there already, as for `leaks_with`; its
    sentences of later splits hold rows out as well, its pairs are not known. Test is never touched, and what went
    from dev no longer holds rows of train out.
    """
    if policy not in LEAKS:
        raise WorkbenchError(f"Leak policy {policy!r} is none of {', '.join(LEAKS)}.")
    if policy == "keep" or not len(rows):
        return rows, 0
    units = rows.pairs[np.newaxis] if policy == "pairs" else rows.numbered.places
    held_out = np.zeros(2 * len(rows), dtype=bool)
    there = _held_sentences(rows, held) if held and policy == "sentences" else []
    stays = np.ones(len(rows), dtype=bool)
    for split in reversed(range(len(SPLITS))):
        mine = np.flatnonzero(rows.splits == split)
        leaks = held_out[units[:, mine]].any(axis=0)
        stays[mine[leaks]] = False
        held_out[units[:, mine[~leaks]]] = True
        if there:
            held_out[np.flatnonzero(there[split])] = True
    if stays.all():
        return rows, 0
    return rows.take(np.flatnonzero(stays)), int((~stays).sum())


def _table(numbers: np.ndarray, size: int) -> np.ndarray:
    """For each number below size whether it occurs."""
    occurs = np.zeros(size, dtype=bool)
    occurs[numbers] = True
    return occurs
