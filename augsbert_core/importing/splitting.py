"""Train, dev and test for rows that come without a split."""

import math
from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.pair_rows import NO_SPLIT, PairRows
from augsbert_core.options import ImportOptions
from augsbert_core.pairs import SPLITS

_TOLERANCE = 0.05


def split_rows(rows: PairRows, options: ImportOptions) -> tuple[PairRows, list[str]]:
    """Every row with its split: the one asked for, the file's own, or one that is dealt; and how that was done.

    Equal rows, options and seed give equal splits.
    """
    if options.split:
        if options.split not in SPLITS:
            raise WorkbenchError(f"{options.split!r} is not a split; choose train, dev or test.")
        return rows.with_splits(np.full(len(rows), SPLITS.index(options.split))), []
    open_places = np.flatnonzero(rows.splits == NO_SPLIT)
    if not len(open_places):
        return rows, []
    check_ratios(options.ratios)
    splits = rows.splits.copy()
    splits[open_places], notes = _auto(rows, open_places, options)
    return rows.with_splits(splits), notes


def _auto(
    rows: PairRows, places: np.ndarray, options: ImportOptions
) -> tuple[np.ndarray, list[str]]:
    rng = np.random.default_rng(options.seed)
    by_pair = _in_order(rows.codes[places])
    by_component = _in_order(components(rows.numbered.places[:, places], len(rows.numbered.keys)))
    dealt, is_close = deal(np.bincount(by_component), options.ratios, rng)
    if is_close or by_component.max() == by_pair.max():
        return dealt[by_component], ["Split at random so that no sentence is in two splits."]
    largest = int(np.bincount(by_component).max())
    dealt, _ = deal(np.bincount(by_pair), options.ratios, np.random.default_rng(options.seed))
    note = (
        f"Split at random by pair: repeats of a pair stay together, but a sentence can be in two "
        f"splits, because {largest:,} of {len(places):,} rows are linked by shared sentences and would "
        "have to be in one."
    )
    return dealt[by_pair], [note]


def components(places: np.ndarray, n_sentences: int) -> np.ndarray:
    """For each pair the number of its connected component of shared sentences. places: shape (2, pairs)."""
    first, second = places
    links = coo_array((np.ones(len(first), dtype=np.int8), (first, second)), (n_sentences,) * 2)
    _, labels = connected_components(links, directed=False)
    return np.asarray(labels)[first]


def check_ratios(ratios: Sequence[float]) -> None:
    """WorkbenchError: they are not three numbers of at least 0 that add up to something."""
    shown = ":".join(f"{ratio:g}" for ratio in ratios)
    if len(ratios) != len(SPLITS):
        raise WorkbenchError(f"Ratios {shown} are not three. Give train:dev:test, as in 80:10:10.")
    if (
        not all(math.isfinite(ratio) and ratio >= 0 for ratio in ratios)
        or not 0 < sum(ratios) < 1e9
    ):
        raise WorkbenchError(
            f"Ratios {shown} cannot be used. Give three numbers of at least 0, as in 80:10:10."
        )


def _in_order(keys: np.ndarray) -> np.ndarray:
    """0 for the first key and all equal to it, 1 for the next, and so on."""
    _, firsts, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(firsts, kind="stable"), kind="stable")[inverse]


def deal(
    sizes: np.ndarray, ratios: Sequence[float], rng: np.random.Generator
) -> tuple[np.ndarray, bool]:
    """A split for each group, and whether all splits are within 5 points of their ratio.

    Largest groups first, each to the split that it fills least: every split gets groups of all sizes.
    """
    total = int(sizes.sum())
    targets = [total * ratio / sum(ratios) for ratio in ratios]
    wanted = [split for split, target in enumerate(targets) if target > 0]
    shuffled = rng.permutation(len(sizes))
    order = shuffled[np.argsort(-sizes[shuffled], kind="stable")].tolist()
    filled = [0] * len(targets)
    counts = [0] * len(targets)
    dealt = np.zeros(len(sizes), dtype=np.int8)
    for group, size in zip(order, sizes[order].tolist(), strict=True):
        split = min(wanted, key=lambda split: (filled[split] + size) / targets[split])
        dealt[group] = split
        filled[split] += size
        counts[split] += 1
    for split in wanted:
        # Few rows would all go to train: the smallest groups give every split at least one.
        if filled[split]:
            continue
        donor = next((g for g in reversed(order) if counts[dealt[g]] > 1), None)
        if donor is not None:
            for at, sign in ((dealt[donor], -1), (split, 1)):
                filled[at] += sign * int(sizes[donor])
                counts[at] += sign
            dealt[donor] = split
    off = max((abs(f - t) for f, t in zip(filled, targets, strict=True)), default=0.0)
    return dealt, off <= max(_TOLERANCE * total, 1.0)
