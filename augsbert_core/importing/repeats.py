"""Pairs that occur more than once, and splits in which they (and shared sentences) stay together."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.pairs import SPLITS, sentence_key

if TYPE_CHECKING:
    from augsbert_core.importing.rows import GoldRow

POLICIES = ("keep", "mean", "first", "drop")
_TOLERANCE = 0.05


@dataclass(frozen=True)
class Repeats:
    """How often pairs occur more than once, either way round.

    n_rows_repeated: rows beyond the first of their pair. n_pairs_repeated: distinct pairs with more
    than one row. n_conflicting: those of them whose scores differ. n_identical: rows whose two
    sentences are one sentence. groups: for each row the number of its pair, in order of appearance.
    """

    n_rows_repeated: int
    n_pairs_repeated: int
    n_conflicting: int
    n_identical: int
    groups: list[int]


def text_pair_key(sentence1: str, sentence2: str) -> tuple[str, str]:
    """The identity of a pair of texts: `sentence_key`s in sorted order, as a pair has no direction."""
    first, second = sentence_key(sentence1), sentence_key(sentence2)
    return (first, second) if first <= second else (second, first)


def find_repeats(
    pairs: Sequence[tuple[str, str]], scores: Sequence[float] | None = None
) -> Repeats:
    """Count the pairs of texts that occur more than once; scores: None when there are none."""
    if scores is not None and len(scores) != len(pairs):
        raise ValueError("pairs and scores must have one length")
    keys = [text_pair_key(first, second) for first, second in pairs]
    groups = _number(keys)
    n_pairs = max(groups, default=-1) + 1
    n_rows = [0] * n_pairs
    first_score: list[float | None] = [None] * n_pairs
    conflicting: set[int] = set()
    for row, group in enumerate(groups):
        if n_rows[group] and scores is not None and scores[row] != first_score[group]:
            conflicting.add(group)
        elif scores is not None:
            first_score[group] = scores[row]
        n_rows[group] += 1
    return Repeats(
        n_rows_repeated=len(pairs) - n_pairs,
        n_pairs_repeated=sum(n > 1 for n in n_rows),
        n_conflicting=len(conflicting),
        n_identical=sum(first == second for first, second in keys),
        groups=groups,
    )


def apply_repeats_policy(rows: "Sequence[GoldRow]", policy: str) -> "list[GoldRow]":
    """The rows after repeated pairs were handled, in the order of the file.

    policy: "keep" every row; "first": one row a pair, the first; "mean": the first with the mean of
    all scores; "drop": leave out every pair that occurs more than once. A mean of 0 and 1 is neither:
    guess the task before. A pair that is in two splits ends up in that of its first row.
    """
    if policy not in POLICIES:
        raise WorkbenchError(f"Repeats policy {policy!r} is none of {', '.join(POLICIES)}.")
    if policy == "keep":
        return list(rows)
    members: dict[tuple[str, str], list[GoldRow]] = {}
    for row in rows:
        members.setdefault(text_pair_key(row.sentence1, row.sentence2), []).append(row)
    if policy == "drop":
        return [same[0] for same in members.values() if len(same) == 1]
    if policy == "first":
        return [same[0] for same in members.values()]
    return [_mean(same) for same in members.values()]


def split_by_ratio(
    keys: Sequence[tuple[str, str]], ratios: Sequence[float], seed: int
) -> tuple[list[str], str]:
    """A random split ("train", "dev" or "test") for each pair, and a sentence that says how.

    keys: `text_pair_key` of each row. ratios: shares of train, dev and test, in any unit. Pairs that
    share a sentence, directly or through others, go to one split when each split then stays within 5
    points of its ratio; otherwise only the rows of one pair stay together. Equal input and seed give
    equal splits.
    """
    _check_ratios(ratios)
    pairs = [(first, second) if first <= second else (second, first) for first, second in keys]
    by_pair = _number(pairs)
    by_component = _components(pairs)
    largest = max(_sizes(by_component), default=0)
    dealt, is_close = _deal(_sizes(by_component), ratios, np.random.default_rng(seed))
    if is_close or max(by_component, default=0) == max(by_pair, default=0):
        note = "Split at random so that no sentence is in two splits."
        return [SPLITS[dealt[component]] for component in by_component], note
    dealt, _ = _deal(_sizes(by_pair), ratios, np.random.default_rng(seed))
    note = (
        f"Split at random by pair: repeats of a pair stay together, but a sentence can be in two "
        f"splits, because {largest} of {len(keys)} rows are linked by shared sentences and would "
        "have to be in one."
    )
    return [SPLITS[dealt[pair]] for pair in by_pair], note


def _check_ratios(ratios: Sequence[float]) -> None:
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


def _number(keys: Sequence[tuple[str, str]]) -> list[int]:
    """0 for the first key and all equal to it, 1 for the next, and so on."""
    numbers: dict[tuple[str, str], int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def _components(pairs: Sequence[tuple[str, str]]) -> list[int]:
    """For each pair the number of its connected component of shared sentences (union-find)."""
    ids: dict[str, int] = {}
    edges = [
        (ids.setdefault(first, len(ids)), ids.setdefault(second, len(ids)))
        for first, second in pairs
    ]
    parent = list(range(len(ids)))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for first, second in edges:
        low, high = sorted((root(first), root(second)))
        parent[high] = low
    numbers: dict[int, int] = {}
    return [numbers.setdefault(root(first), len(numbers)) for first, _ in edges]


def _sizes(groups: Sequence[int]) -> list[int]:
    sizes = [0] * (max(groups, default=-1) + 1)
    for group in groups:
        sizes[group] += 1
    return sizes


def _deal(
    sizes: Sequence[int], ratios: Sequence[float], rng: np.random.Generator
) -> tuple[list[int], bool]:
    """A split for each group, and whether all splits are within 5 points of their ratio.

    Largest groups first, each to the split that it fills least: every split gets groups of all sizes.
    """
    total = sum(sizes)
    targets = [total * ratio / sum(ratios) for ratio in ratios]
    wanted = [split for split, target in enumerate(targets) if target > 0]
    order = sorted(rng.permutation(len(sizes)).tolist(), key=lambda group: -sizes[group])
    filled = [0] * len(targets)
    dealt = [0] * len(sizes)
    for group in order:
        size = sizes[group]
        split = min(wanted, key=lambda split: (filled[split] + size) / targets[split])
        dealt[group] = split
        filled[split] += size
    for split in wanted:
        # Few rows would all go to train: the smallest groups give every split at least one.
        if filled[split]:
            continue
        donor = next((g for g in reversed(order) if dealt.count(dealt[g]) > 1), None)
        if donor is not None:
            filled[dealt[donor]] -= sizes[donor]
            filled[split] += sizes[donor]
            dealt[donor] = split
    off = max((abs(f - t) for f, t in zip(filled, targets, strict=True)), default=0.0)
    return dealt, off <= max(_TOLERANCE * total, 1.0)


def _mean(same: "list[GoldRow]") -> "GoldRow":
    if len(same) == 1:
        return same[0]
    return replace(
        same[0],
        raw_score=math.fsum(row.raw_score for row in same) / len(same),
        score=math.fsum(row.score for row in same) / len(same),
    )
