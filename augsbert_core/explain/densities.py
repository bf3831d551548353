"""How silver scores lie beside gold, and what keeping a part of them does, in plain sentences."""

from collections.abc import Sequence

import numpy as np

from augsbert_core.explain.phrases import hundred, known, many, number, share
from augsbert_core.pairs import ScoreRange

Thirds = tuple[float, float, float]

NAMES = ("lower", "middle", "upper")

CLOSE = 0.05
"""Shares of a third that differ by less look alike."""

ALL_ALIKE = 0.95
"""A third that holds so much of a set leaves nothing for the others."""

FEW = 200
"""Of fewer pairs a density says little."""

FROM_GOLD = 0.02
"""A share of positives so far from gold's has missed it."""

REMEDY = {
    "upper": "More similar pairs come from BM25 or semantic search.",
    "middle": "Fewer of the middle than in gold often means a labeler that pushes scores to the ends; more gold, or the "
    "mean of several labelers, softens that.",
    "lower": "Unlike pairs are cheap: a random sample is full of them.",
}
"""Third of which silver has too little → where more of it comes from."""

NO_REMEDY = {
    "upper": "These pairs are nearest neighbours already: either the corpus has few pairs as similar as gold's, or the "
    "labeler shies away from high scores. An audit tells which.",
    "lower": "These pairs were drawn at random already, so the labeler seems to score unlike pairs too high. An audit "
    "tells.",
}
"""The same, of a set whose strategy was meant to bring them."""

MEANT = {
    "upper": ("bm25", "semantic", "bm25+semantic"),
    "lower": ("random", "kde"),
}
"""Third → strategies that bring in such pairs."""


def thirds(scores: np.ndarray, counts: np.ndarray) -> Thirds | None:
    """The shares of scores in [0, 1] in the lower, middle and upper third; None without scores."""
    total = float(np.sum(counts))
    if not total > 0:
        return None
    place = np.clip((np.asarray(scores, dtype=np.float64) * 3 + 1e-9).astype(int), 0, 2)
    low, middle, high = np.bincount(place, weights=counts, minlength=3) / total
    return float(low), float(middle), float(high)


def silver_density(
    *,
    n_silver: int,
    gold: Thirds | None,
    silver: Thirds | None,
    scale: ScoreRange,
    strategy: str = "",
) -> tuple[str, ...]:
    """Where silver has too many and too few pairs (paper, figure 4), and what helps."""
    if gold is None or silver is None:
        return (
            "There is nothing to compare: one of the two has no scored pair.",
            "Gold training pairs come from the Gold page, silver pairs from a labelling on the Sample page.",
        )
    gaps = [ours - theirs for ours, theirs in zip(silver, gold, strict=True)]
    lack, surplus = gaps.index(min(gaps)), gaps.index(max(gaps))
    blind = (
        "The curves do not show whether the scores are right: a labeler may follow gold's density and still be wrong "
        "pair by pair. An audit shows that."
    )
    widest = max(abs(gap) for gap in gaps)
    by_chance = n_silver < FEW if widest < CLOSE else widest**2 * n_silver < 1
    few = f" With {many(n_silver, 'silver pair')} this may be chance." if by_chance else ""
    if widest < CLOSE:
        return (
            "Silver covers the scale much as gold does: in each third of it, the shares of pairs differ by less than "
            f"{share(CLOSE)}.{few}",
            blind,
            "Next, train on gold and these pairs, and on gold alone for as many steps.",
        )
    return (
        f"What silver lacks most is in the {_third(lack, scale)}: {share(silver[lack])} against {share(gold[lack])} "
        f"of gold; what it has most in excess is in the {_third(surplus, scale)}: {share(silver[surplus])} against "
        f"{share(gold[surplus])}.{few}",
        _remedy(NAMES[lack], strategy, max(silver)),
        "A student that sees the scale so unevenly learns little where pairs are missing, which is why the paper matches "
        "densities (§3.1).",
        blind,
    )


def _remedy(lack: str, strategy: str, most: float) -> str:
    """What helps. most: the share of silver in its fullest third."""
    if most >= ALL_ALIKE:
        return (
            "Nearly all silver scores lie in one third, so the labeler hardly tells pairs apart: it needs more gold pairs, "
            "or more steps, before it labels."
        )
    text = (NO_REMEDY if strategy in MEANT.get(lack, ()) else REMEDY)[lack]
    return f"{text} What is too much, Keep takes away."


def _third(place: int, scale: ScoreRange) -> str:
    low, high = (scale.to_raw(end / 3) for end in (place, place + 1))
    return f"{NAMES[place]} third of the scale ({low:.3g} to {high:.3g})"


def kept_by_density(
    *,
    n_kept: int,
    n_pool: int,
    kl: float | None,
    pool_kl: float | None,
    short: float | None,
) -> tuple[str, ...]:
    """What the KDE rule leaves. short: the share of gold's density at which the pool has too few pairs, all kept."""
    if not n_kept:
        none = (
            "The 1 pair would not" if n_pool == 1 else f"None of the {many(n_pool, 'pair')} would"
        )
        return (
            f"{none} stay: where the pool has pairs, gold has hardly any.",
            "Raise c, or label a larger pool of another strategy.",
        )
    now, before = known(kl), known(pool_kl)
    if now is None or before is None:
        closer = f"{n_kept:,} of {many(n_pool, 'pair')} would stay; a distance to gold is not defined here."
    elif now < before:
        n_gone = n_pool - n_kept
        whose = "is one of those" if n_gone == 1 else "are those"
        closer = (
            f"The {many(n_gone, 'pair')} that would go {whose} of which the pool has too many: without "
            f"{'it' if n_gone == 1 else 'them'} KL(gold‖set) falls from {number(before, 3)} to {number(now, 3)}."
        )
    else:
        closer = (
            f"Keeping a part does not bring the pool closer to gold here, KL {number(before, 3)} before and {number(now, 3)} after: "
            "with this c rather keep all of it."
        )
    gap = known(short)
    room = []
    if gap is not None and gap >= 0.01:
        room = [
            f"On {share(min(gap, 1.0))} of gold's density the pool has too few pairs even so: all of them stay, and gaps "
            "remain. A larger pool, or a smaller c, closes them."
        ]
    elif gap is not None:
        room = [
            "The pool has pairs enough on the whole scale, so what is left apart from gold is chance."
        ]
    return (
        closer,
        *room,
        "Scores alone decide who stays, so wrong labels stay wrong, and a smaller set also teaches less.",
        "Whether it pays, Compare tells: train on the pool and on the kept set, for as many steps.",
    )


def kept_by_class(
    *, n_kept: int, positives: int, gold_share: float, threshold: str
) -> tuple[str, ...]:
    """What the rule for classes leaves."""
    if not n_kept:
        return (
            "No pair would stay, as the pool has none at all.",
            "Label a candidate set on the Sample page.",
        )
    ours = positives / n_kept
    if not positives:
        text = f"No pair reaches {threshold}, so a student would see negatives only. Lower the threshold, or sample by BM25."
    elif abs(ours - gold_share) <= FROM_GOLD:
        text = (
            f"Of the kept pairs, {share(ours)} are positives, as in gold with {share(gold_share)}: the student meets both "
            "classes as often as people gave them."
        )
    else:
        text = (
            f"Of the kept pairs, {share(ours)} are positives, and {share(gold_share)} of gold: the pool has too few of the "
            "other class. Random pairs bring in negatives, BM25 positives."
        )
    return (
        text,
        f"A pair counts as positive from {threshold} on by the labeler's word alone; an audit tells how many are wrong.",
    )


def top_k(
    *, rows: Sequence[tuple[int, int, float | None]], gold_high: float | None, middle: str
) -> tuple[str, ...]:
    """What a larger top-k brings in. rows: (k, pairs, share at or above the middle), k rising."""
    there = [(k, n, high) for k, n, each in rows if (high := known(each)) is not None]
    if len(there) < 2:
        return (
            "The set was sampled with so small a k that there is only one to look at.",
            "Sample with a larger k: pairs that the labeler has scored are not scored again.",
        )
    (k1, n1, high1), (k2, n2, high2) = there[0], there[-1]
    course = (
        "less similar ones come in"
        if high2 < high1 - FROM_GOLD / 2
        else "the new ones are as similar"
        if high2 <= high1 + FROM_GOLD / 2
        else "the new ones are more similar, which is unusual: look at some"
    )
    said = [
        f"From k = {k1} to k = {k2} the set grows from {n1:,} to {many(n2, 'pair')}, and the share at {middle} or more goes from "
        f"{share(high1)} to {share(high2)}: {course}.",
    ]
    gold = known(gold_high)
    if gold is not None:
        k, _, high = min(there, key=lambda row: abs(row[2] - gold))
        said.append(f"Gold has {share(gold)} there; k = {k} comes closest with {share(high)}.")
    said.append(
        "Every further pair has cost a pass of the labeler; whether it is worth one, only two students tell, trained on a "
        "small and a large k for as many steps."
    )
    return tuple(said)


def strategies(*, n_sets: int, scored: Sequence[tuple[int, float, int]]) -> tuple[str, ...]:
    """Which strategy was worth its cost. scored: (silver set, student's test score, passes), scores in [-1, 1]."""
    known_ones = [(number, value, passes) for number, each, passes in scored
                  if (value := known(each)) is not None]  # fmt: skip
    if n_sets == 1:
        return (
            "There is one silver set so far, and nothing to weigh it against.",
            "Sample with another strategy, let the same labeler score those pairs, and train a student on each for as many "
            "steps.",
        )
    if len(known_ones) < 2:
        return (
            f"Of {many(n_sets, 'silver set')}, {len(known_ones):,} {'has' if len(known_ones) == 1 else 'have'} a student "
            "measured on test, so that their worth cannot be compared yet.",
            "KL says how a set covers the scale, not what it teaches. Train a student on two sets for as many steps, then "
            "measure both on Compare.",
        )
    best = max(known_ones, key=lambda row: row[1])
    cheap = min(known_ones, key=lambda row: (row[2], -row[1]))
    if best[0] == cheap[0]:
        first = (
            f"Set {best[0]} has the highest score, {hundred(best[1])}, and cost the fewest passes, {best[2]:,}: nothing "
            "speaks for the dearer ones."
        )
    else:
        first = (
            f"Set {best[0]} has the highest score, {hundred(best[1])} for {many(best[2], 'pass')}; set {cheap[0]}, the "
            f"cheapest, has {hundred(cheap[1])} for {cheap[2]:,}."
        )
    return (
        first,
        "Each score is of one student with one seed: where intervals overlap, the order may be luck.",
        "Next, repeat the best two with further seeds on Experiments.",
    )
