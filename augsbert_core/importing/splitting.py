"""Train, dev and test for rows that come without a split."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.pair_rows import NO_SPLIT, PairRows, number_in_order
from augsbert_core.importing.subsample import groups_of
from augsbert_core.options import ImportOptions
from augsbert_core.options.importing import SPLIT_WAYS
from augsbert_core.pairs import SPLITS

_TOLERANCE = 0.05
_NAMED = 12

Dealt = tuple[np.ndarray, list[str]]
"""The split of every row, and what there is to say about it."""


def split_rows(rows: PairRows, options: ImportOptions) -> tuple[PairRows, list[str]]:
    """Every row with its split: the one asked for, the file's own, or one that is dealt; and how that was done.

    Only rows without a split are dealt, by ratio. What must stay together (a pair, a component of shared sentences,
    a group) goes where the file put some of it; if that is several splits, where it put the most of it. Equal rows,
    options and seed give equal splits. WorkbenchError: an unknown split or way, ratios that cannot be used, groups
    that are not there or too few.
    """
    if options.split:
        if options.split not in SPLITS:
            raise WorkbenchError(f"{options.split!r} is not a split; choose train, dev or test.")
        return rows.with_splits(np.full(len(rows), SPLITS.index(options.split))), []
    if options.split_way not in SPLIT_WAYS:
        raise WorkbenchError(
            f"Way to split {options.split_way!r} is none of {', '.join(SPLIT_WAYS)}."
        )
    if not (rows.splits == NO_SPLIT).any():
        return rows, []
    check_ratios(options.ratios)
    splits, notes = _WAYS[options.split_way](rows, options)
    return rows.with_splits(splits), notes


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


# --- ways to split ----------------------------------------------------------------------------------


def _auto(rows: PairRows, options: ImportOptions) -> Dealt:
    """By component where the ratios can then be met, else by pair."""
    linked = row_components(rows)
    splits, notes, is_close = _deal_whole(rows, linked, options)
    if is_close or linked.max() == rows.pairs.max():
        return splits, [f"Split at random {_together(notes)}.", *notes]
    largest, n_open = _largest(rows, linked)
    splits, notes, _ = _deal_whole(rows, rows.pairs, options)
    note = (
        f"Split at random by pair: repeats of a pair stay together, but a sentence can be in two "
        f"splits, because {largest:,} of {n_open:,} rows are linked by shared sentences and would "
        "have to be in one."
    )
    return splits, [note, *notes]


def _by_component(rows: PairRows, options: ImportOptions) -> Dealt:
    linked = row_components(rows)
    splits, notes, is_close = _deal_whole(rows, linked, options)
    note = f"Split at random {_together(notes)}: {_shares(rows, splits, options)}."
    largest, n_open = _largest(rows, linked)
    if not is_close and largest > 1:
        note += (
            f" The ratios cannot be met: {largest:,} of {n_open:,} rows are linked by shared sentences and stay in "
            'one split. To come closer, split by "pairs" and leave out the rows that leak "sentences".'
        )
    return splits, [note, *notes]


def _by_pair(rows: PairRows, options: ImportOptions) -> Dealt:
    splits, notes, _ = _deal_whole(rows, rows.pairs, options)
    note = f"Split at random by pair: {_shares(rows, splits, options)}. A sentence can be in two splits."
    return splits, [note, *notes]


def _stratified(rows: PairRows, options: ImportOptions) -> Dealt:
    """Pairs in the order of their mean scores, dealt block by block, each block by ratio."""
    homes, notes = _given_homes(rows, rows.pairs)
    sizes = np.bincount(rows.pairs)
    means = np.bincount(rows.pairs, weights=rows.scores) / sizes
    free = np.flatnonzero(homes == NO_SPLIT)
    homes[free] = deal_evenly(means[free], options.ratios, np.random.default_rng(options.seed))
    splits = _filled(rows, homes[rows.pairs])
    dealt = rows.splits == NO_SPLIT
    spread = ", ".join(
        f"{split} {rows.scores[mine].mean():.2f}"
        for number, split in enumerate(SPLITS)
        if (mine := dealt & (splits == number)).any()
    )
    note = (
        f"Split by pair, with scores alike in all splits: {_shares(rows, splits, options)}; "
        f"mean score from 0 to 1: {spread}. A sentence can be in two splits."
    )
    return splits, [note, *notes]


def _by_group(rows: PairRows, options: ImportOptions) -> Dealt:
    """Each group whole: where it was told to be, where the file has it, or dealt."""
    groups, names = groups_of(rows)
    homes, _ = _given_homes(rows, groups)
    for name, split in _read_group_splits(options.group_splits, names).items():
        homes[names.index(name)] = split
    is_open = np.bincount(groups[rows.splits == NO_SPLIT], minlength=len(names)) > 0
    free = [name for name, home, dealt in zip(names, homes, is_open, strict=True)
            if dealt and home == NO_SPLIT]  # fmt: skip
    wanted = [split for split, ratio in enumerate(options.ratios) if ratio > 0]
    unmet = [
        SPLITS[split]
        for split in wanted
        if not (homes[is_open] == split).any() and not (rows.splits == split).any()
    ]
    if free and len(free) < len(unmet):
        raise WorkbenchError(
            f"There are too few groups for {' and '.join(unmet)}: only {_listed(free)} can be dealt. Give a split that "
            "is not needed the ratio 0, as in 80:0:20, or split in another way."
        )
    splits, notes, _ = _deal_whole(rows, groups, options, homes)
    lists = []
    for number, called in enumerate(SPLITS):
        mine = np.unique(groups[(rows.splits == NO_SPLIT) & (splits == number)])
        if len(mine):
            lists.append(f"{called} has {_listed([names[at] for at in mine.tolist()])}")
    note = f"Split by group, {_shares(rows, splits, options)}: {'; '.join(lists)}."
    return splits, [note, *notes]


_WAYS: dict[str, Callable[[PairRows, ImportOptions], Dealt]] = {
    "auto": _auto,
    "components": _by_component,
    "pairs": _by_pair,
    "stratified": _stratified,
    "groups": _by_group,
}


def _read_group_splits(told: Sequence[str], names: Sequence[str]) -> dict[str, int]:
    """ "group=split" of each as a mapping to positions in SPLITS. WorkbenchError names what cannot be."""
    homes: dict[str, int] = {}
    for text in told:
        group, equals, split = (part.strip() for part in text.rpartition("="))
        if not equals or split.lower() not in SPLITS:
            raise WorkbenchError(
                f"{text!r} does not say where a group goes. Write the group, an equals sign and train, dev or test, "
                "for example travel=test."
            )
        if group not in names:
            raise WorkbenchError(f"There is no group {group!r}. The groups are: {_listed(names)}.")
        home = SPLITS.index(split.lower())
        if homes.setdefault(group, home) != home:
            raise WorkbenchError(
                f"Group {group!r} is to be in {SPLITS[homes[group]]} and in {SPLITS[home]}. Choose one of them."
            )
    return homes


def row_components(rows: PairRows) -> np.ndarray:
    """For each row the number of its connected component of shared sentences, in order of first appearance."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    first, second = rows.numbered.places
    ones = np.ones(len(rows), dtype=np.int32)
    links = coo_array((ones, (first, second)), (len(rows.numbered.keys),) * 2)
    _, labels = connected_components(links, directed=False)
    return number_in_order(np.asarray(labels)[first])


# --- dealing ----------------------------------------------------------------------------------------


def _deal_whole(
    rows: PairRows, keys: np.ndarray, options: ImportOptions, homes: np.ndarray | None = None
) -> tuple[np.ndarray, list[str], bool]:
    """The split of each row, rows with one key in one; what to say; and whether the ratios are met.

    homes: of each key the split that it must have, or NO_SPLIT; found from the rows' own splits when not given.
    """
    given, notes = _given_homes(rows, keys)
    fixed = given if homes is None else homes
    sizes = np.bincount(keys[rows.splits == NO_SPLIT], minlength=len(fixed))
    # What has no row to deal stays out of the count.
    at = np.flatnonzero(sizes)
    dealt, is_close = deal(
        sizes[at], options.ratios, np.random.default_rng(options.seed), fixed[at]
    )
    fixed = fixed.copy()
    fixed[at] = dealt
    return _filled(rows, fixed[keys]), notes, is_close


def _given_homes(rows: PairRows, keys: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Of each key the split that most of its rows come with, the earlier of two; NO_SPLIT where none has any."""
    n_keys = int(keys.max()) + 1
    given = rows.splits != NO_SPLIT
    if not given.any():
        return np.full(n_keys, NO_SPLIT, dtype=np.int64), []
    votes = np.stack(
        [np.bincount(keys[rows.splits == at], minlength=n_keys) for at in range(len(SPLITS))]
    )
    torn = (votes > 0).sum(axis=0) > 1
    homes = np.where(votes.any(axis=0), votes.argmax(axis=0), NO_SPLIT)
    n_torn = int(torn[keys[~given]].sum())
    if not n_torn:
        return homes, []
    return homes, [
        f"{n_torn:,} of the rows without a split belong with rows that the file puts in several splits; they went to "
        "the one that has the most of these."
    ]


def _filled(rows: PairRows, dealt: np.ndarray) -> np.ndarray:
    """The splits of the file, and those dealt where it has none."""
    return np.where(rows.splits == NO_SPLIT, dealt, rows.splits)


def deal(
    sizes: np.ndarray,
    ratios: Sequence[float],
    rng: np.random.Generator,
    fixed: np.ndarray | None = None,
) -> tuple[np.ndarray, bool]:
    """A split for each group, and whether all splits are within 5 points of their ratio.

    Largest groups first, each to the split that it fills least: every split gets groups of all sizes, and at least one
    while there are enough. fixed: the split that a group must have, or NO_SPLIT. sizes: at least 1 each.
    """
    total = int(sizes.sum())
    targets = [total * ratio / sum(ratios) for ratio in ratios]
    wanted = [split for split, target in enumerate(targets) if target > 0]
    dealt = np.full(len(sizes), NO_SPLIT, dtype=np.int64) if fixed is None else fixed.copy()
    filled = [int(sizes[dealt == split].sum()) for split in range(len(targets))]
    shuffled = rng.permutation(len(sizes))
    shuffled = shuffled[dealt[shuffled] == NO_SPLIT]
    order = shuffled[np.argsort(-sizes[shuffled], kind="stable")]
    bounds = [*np.flatnonzero(np.diff(sizes[order], prepend=-1)).tolist(), len(order)]
    for start, end in pairwise(bounds):
        size, count = int(sizes[order[start]]), end - start
        # Of equal groups the next always goes where the fill is least: the splits' fills, merged in order.
        steps = np.arange(1, count + 1) * size
        fills = np.concatenate([(filled[split] + steps) / targets[split] for split in wanted])
        turns = np.argsort(fills, kind="stable")[:count] // count
        dealt[order[start:end]] = np.array(wanted)[turns]
        for place, split in enumerate(wanted):
            filled[split] += size * int((turns == place).sum())
    counts = np.bincount(dealt, minlength=len(targets))
    for split in wanted:
        # Few rows would all go to train: the smallest groups give every split at least one.
        if counts[split]:
            continue
        donor = next((group for group in order[::-1].tolist() if counts[dealt[group]] > 1), None)
        if donor is not None:
            for at, sign in ((int(dealt[donor]), -1), (split, 1)):
                filled[at] += sign * int(sizes[donor])
                counts[at] += sign
            dealt[donor] = split
    off = max((abs(f - t) for f, t in zip(filled, targets, strict=True)), default=0.0)
    return dealt, off <= max(_TOLERANCE * total, 1.0)


def deal_evenly(
    values: np.ndarray, ratios: Sequence[float], rng: np.random.Generator
) -> np.ndarray:
    """A split for each value, so that each split has its share of low, middling and high ones.

    In the order of the values, blocks of `block_size` are dealt by ratio, at random inside a block; what rounding
    leaves over is made up in the next. Every split with a ratio gets one value while there are enough.
    """
    n_values, size = len(values), block_size(ratios)
    # The last block takes what is left, so that none is smaller than the others unless it is the only one.
    blocks = np.minimum(np.arange(n_values) // size, max(n_values // size - 1, 0))
    sorted_places = np.lexsort((rng.random(n_values), values))
    places = sorted_places[np.lexsort((rng.random(n_values), blocks))]
    ends = np.append(np.flatnonzero(np.diff(blocks)) + 1, n_values)
    starts = np.append(0, ends[:-1])
    bounds = np.cumsum(ratios)
    bounds = bounds / bounds[-1]
    # Cumulative counts up to each block's end, per split and all before it; their differences fill the block.
    until = np.floor(np.outer(bounds, np.append(0, ends)) + 0.5).astype(np.int64)
    upper = np.diff(until, axis=1)[:, blocks]
    rank = np.arange(n_values) - starts[blocks]
    dealt = np.empty(n_values, dtype=np.int64)
    dealt[places] = (rank >= upper).sum(axis=0)
    if n_values < size:
        _give_each_one(dealt, places, ratios)
    return dealt


def block_size(ratios: Sequence[float]) -> int:
    """The fewest values of which every split with a ratio has one: 10 for 80:10:10."""
    smallest = min(ratio for ratio in ratios if ratio > 0)
    return math.ceil(sum(ratios) / smallest - 1e-9)


def _give_each_one(dealt: np.ndarray, places: np.ndarray, ratios: Sequence[float]) -> None:
    """Move values from splits that have more than one to splits with a ratio that have none."""
    counts = np.bincount(dealt, minlength=len(ratios))
    for split, ratio in enumerate(ratios):
        donor = int(counts.argmax())
        if ratio > 0 and not counts[split] and counts[donor] > 1:
            dealt[next(place for place in places if dealt[place] == donor)] = split
            counts[[donor, split]] += [-1, 1]


# --- words ------------------------------------------------------------------------------------------


def _together(torn: Sequence[str]) -> str:
    """What splitting by component promises: less where the file itself has torn some apart."""
    if torn:
        return "with rows that share sentences together"
    return "so that no sentence is in two splits"


def _largest(rows: PairRows, keys: np.ndarray) -> tuple[int, int]:
    """How many rows without a split the largest key has, and how many there are."""
    mine = keys[rows.splits == NO_SPLIT]
    return int(np.bincount(mine).max()), len(mine)


def _shares(rows: PairRows, splits: np.ndarray, options: ImportOptions) -> str:
    """The real shares of the rows dealt: "train 80 %, dev 10 %, test 10 % of 1,000 rows (80:10:10 was asked for)"."""
    mine = splits[rows.splits == NO_SPLIT]
    parts = [
        f"{split} {100 * float((mine == number).mean()):.3g} %"
        for number, split in enumerate(SPLITS)
        if options.ratios[number] > 0 or (mine == number).any()
    ]
    asked = ":".join(f"{ratio:g}" for ratio in options.ratios)
    return f"{', '.join(parts)} of {len(mine):,} rows ({asked} was asked for)"


def _listed(names: Sequence[str]) -> str:
    """Names in a row, the first few when there are a great many."""
    shown = ", ".join(name[:40] for name in names[:_NAMED])
    more = len(names) - _NAMED
    return f"{shown} and {more:,} more" if more > 0 else shown
