"""Measured models side by side in plain sentences: did silver help, and why or why not?"""

from collections.abc import Sequence
from dataclasses import dataclass

from augsbert_core.explain.phrases import apart, hundred, known, many, pairs_for, share, shown

FINE = 0.01
"""To be sure of one point is what a comparison is asked for most."""


def compared(
    *,
    split: str,
    n_pairs: int,
    difference: float | None,
    low: float | None,
    high: float | None,
    silver_score: float | None,
    gold_score: float | None,
    labeler_score: float | None,
    untrained_score: float | None,
) -> tuple[str, ...]:
    """Why silver helped or not. difference, low, high: of the newest model with silver against gold-only.

    labeler_score: of the best cross-encoder on the same pairs. untrained_score: of the student before training.
    """
    ours, gold, teacher = known(silver_score), known(gold_score), known(labeler_score)
    gain = known(difference)
    if ours is None or gold is None or gain is None:
        return (
            "There is no model with silver beside one on gold alone yet, so the question of the page is open: what stands "
            "here are the bounds.",
            _bounds(gold, teacher),
            "Next, train a student on gold and silver with its gold-only twin on the Train page, and measure both.",
        )
    gap = None if teacher is None else shown(teacher) - shown(gold)
    said = [_gap(gap, gain, teacher, gold)]
    ends = known(low), known(high)
    if ends[0] is not None and ends[1] is not None:
        said.append(_precision((ends[1] - ends[0]) / 2, n_pairs, split))
    untrained = known(untrained_score)
    if untrained is not None and untrained > ours:
        said.append(
            f"Before any training the student scored {hundred(untrained)}, more than now with {hundred(ours)}: on so few "
            "gold pairs, training itself has done harm."
        )
    said.append(_next(gain, ends, gap))
    return tuple(said)


def _bounds(gold: float | None, teacher: float | None) -> str:
    if gold is None or teacher is None:
        return "Silver can bring a student from the gold-only model, the lower bound, towards its labeler, the upper bound."
    return (
        f"Silver can bring a student from gold alone, {hundred(gold)}, towards the best cross-encoder, {hundred(teacher)}: "
        + (
            f"{hundred(shown(teacher) - shown(gold))} points at most."
            if teacher > gold
            else "here there is nothing to gain that way."
        )
    )


def _gap(gap: float | None, gain: float, teacher: float | None, gold: float) -> str:
    if gap is None or teacher is None:
        return (
            "No cross-encoder has been measured on these pairs, so it is not known how much there was to gain: a labeler "
            "can hardly teach more than it knows."
        )
    if gap <= 0:
        return (
            f"The best cross-encoder scores {hundred(teacher)} on these pairs, no more than gold alone with {hundred(gold)}: "
            "its labels had nothing to teach, and that is where AugSBERT does not help."
        )
    if gain > 0:
        return (
            f"Between gold alone, {hundred(gold)}, and the best cross-encoder, {hundred(teacher)}, lie {hundred(gap)} points; "
            f"silver has closed {share(gain / gap)} of that."
        )
    return (
        f"Between gold alone, {hundred(gold)}, and the best cross-encoder, {hundred(teacher)}, lie {hundred(gap)} points: "
        "there was something to teach, but these silver pairs did not bring it over."
    )


def _precision(half: float, n_pairs: int, split: str) -> str:
    text = f"With {many(n_pairs, f'{split} pair')} this difference is certain to about ± {hundred(half)} points"
    if half <= FINE:
        return f"{text}, other seeds aside."
    return f"{text}, other seeds aside; ± 1 point would take about {many(pairs_for(half, n_pairs, FINE), 'pair')}."


def _next(gain: float, ends: tuple[float | None, float | None], gap: float | None) -> str:
    low, high = ends
    if low is not None and low > 0:
        return "Next, repeat both sides with further seeds, and try another strategy, or fewer pairs: are all of them needed?"
    if gap is not None and gap <= 0:
        return "What can change it: a better labeler (more gold pairs, a larger base, several seeds), or a smaller student."
    if high is not None and high < 0:
        return (
            "Look for the cause on the Silver page: does silver cover the scale as gold does, and does an audit find it "
            "right? Training on silver first and on gold last lets people have the last word."
        )
    return (
        "No clear difference is no proof that there is none: more seeds and more pairs to measure on would tell. Another "
        "strategy, or more silver, may make it larger."
    )


@dataclass(frozen=True)
class Group:
    """Runs of one model with different seeds. mean, deviation: of their scores in [-1, 1]; deviation None for one."""

    name: str
    n: int
    mean: float | None
    deviation: float | None = None


def two_groups(*, first: Group, second: Group, split: str) -> tuple[str, ...]:
    """How one group of an experiment stands to another, beside the luck of seeds."""
    ours, theirs = known(first.mean), known(second.mean)
    if ours is None or theirs is None:
        return (
            "One of the two models that matter has no score yet, so nothing can be said about their difference.",
            "It shows here as soon as its runs are measured.",
        )
    gap = shown(ours) - shown(theirs)
    said = [f"On {split}, “{first.name}” is {apart(gap)} “{second.name}”."]
    deviations = known(first.deviation), known(second.deviation)
    if deviations[0] is None or deviations[1] is None or min(first.n, second.n) < 2:
        said.append(
            "With one seed on a side the luck of the seed cannot be told from a difference: repeat it with three or more."
        )
    else:
        error = (deviations[0] ** 2 / first.n + deviations[1] ** 2 / second.n) ** 0.5
        said.append(
            f"With {first.n} and {second.n} seeds, luck alone moves such a difference by about ± {hundred(2 * error)} "
            f"points, so this one is {'more than that' if abs(gap) > 2 * error else 'within that'}."
        )
    said.append(
        "Dev chose the checkpoints, so it flatters all of them: measure on test before you report."
        if split == "dev"
        else "Seeds are one source of luck, the test pairs the other: Compare gives an interval over these."
    )
    return tuple(said)


def learning_curve(
    *, points: Sequence[tuple[str, int, float]], split: str, with_silver: str, without: str
) -> tuple[str, ...]:
    """What silver adds at each size of gold. points: (series, gold pairs, score)."""
    by_size: dict[int, dict[str, float]] = {}
    for series, n_gold, each in points:
        if (value := known(each)) is not None:
            by_size.setdefault(n_gold, {})[series] = shown(value)
    sizes = sorted(
        size for size, found in by_size.items() if with_silver in found and without in found
    )
    alone = sorted(size for size, found in by_size.items() if without in found)
    said = []
    if len(alone) >= 2:
        small, large = alone[0], alone[-1]
        more = by_size[large][without] - by_size[small][without]
        said.append(
            f"From {small:,} to {large:,} gold pairs, gold alone "
            + (
                f"gains {hundred(more)} points on {split}: {'more scores by people still pay' if more >= FINE else 'further ones hardly pay'}."
                if more > 0
                else f"gains nothing on {split}: further ones hardly pay."
            )
        )
    if not sizes:
        said.append(
            "No size of gold has been trained both with and without silver, so the curve does not show what silver adds."
        )
    else:
        gains = [by_size[size][with_silver] - by_size[size][without] for size in sizes]
        told = f"With {many(sizes[0], 'gold pair')}, silver is {apart(gains[0])} gold alone"
        if len(sizes) > 1:
            told += f", with {sizes[-1]:,} it is {apart(gains[-1])} it"
            if gains[0] > gains[-1] and gains[0] > 0:
                told += ": it does most where gold is scarce"
        said.append(f"{told}.")
    said.append("A curve of single seeds jumps: trust its course, not single points.")
    return tuple(said)


def reranked(
    *,
    n_queries: int,
    depth: int,
    recall: float | None,
    difference: float | None,
    low: float | None,
    high: float | None,
) -> tuple[str, ...]:
    """What reranking has brought. difference, low, high: nDCG of the best trained cross-encoder to the first stage."""
    found = known(recall)
    said = []
    if found is not None:
        said.append(
            f"The first stage has {share(found)} of the relevant sentences among its {many(depth, 'candidate')}; a reranker "
            "only puts these in order, and cannot bring in the rest."
        )
    gain, ends = known(difference), (known(low), known(high))
    if gain is None or ends[0] is None or ends[1] is None:
        said.append(
            "How much the order gains is not defined here; judge a cross-encoder on more queries."
        )
    elif ends[0] > 0:
        said.append(
            f"The best cross-encoder improves their order by {hundred(gain)} points of nDCG over {_queries(n_queries)}"
            ": the pass per candidate buys something."
        )
    elif ends[1] < 0:
        said.append(
            f"Even the best cross-encoder makes their order worse, by {hundred(-gain)} points of nDCG: use the first stage "
            "alone, or train on pairs like these."
        )
    else:
        said.append(
            f"{_queries(n_queries)} cannot tell whether the best cross-encoder improves their order: the interval "
            "holds 0."
        )
    said.append(
        "The queries are sentences of gold pairs, which are longer and cleaner than what people type, and the interval is "
        "over them alone: another seed, or other queries, may say otherwise."
    )
    return tuple(said)


def _queries(count: int) -> str:
    return f"{count:,} {'query' if count == 1 else 'queries'}"
