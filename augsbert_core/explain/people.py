"""What people's scores say about gold, about each other and about the labeler, in plain sentences."""

from dataclasses import dataclass

from augsbert_core.explain.phrases import hundred, known, many, number, share
from augsbert_core.pairs import ScoreRange

LOOKED_ENOUGH = 20


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval, None where there is none."""

    value: float | None = None
    low: float | None = None
    high: float | None = None

    def finite(self) -> "Estimate":
        """The same without NaN and infinities."""
        return Estimate(known(self.value), known(self.low), known(self.high))


def label_errors(
    *, folds: int, n_scored: int, spearman: float | None, n_listed: int, n_looked: int
) -> tuple[str, ...]:
    """What a search for label errors has found. n_listed, n_looked: doubtful pairs, and those looked at since."""
    agrees = known(spearman)
    how = (
        f"{'The' if n_scored == 1 else 'Each of the'} {many(n_scored, 'gold pair')} was scored by {'models' if folds != 1 else 'a model'} that had not "
        f"seen it, {many(folds, 'fold')} in all"
    )
    said = [
        f"{how}; over all pairs, their order and gold's agree with a Spearman × 100 of {hundred(agrees)}."
        if agrees is not None
        else f"{how}."
    ]
    if agrees is not None and agrees < 0.5:
        said.append("That is weak: at most places the models will be wrong, and not gold.")
    said.append(
        "A place high up in the list is a doubt, no proof: a hard pair, a rare topic or a weak model stands there beside "
        "real slips."
    )
    waiting = max(n_listed - n_looked, 0)
    said.append(
        f"You have looked at {n_looked:,}, {waiting:,} {'waits' if waiting == 1 else 'wait'}: go on from the top, and stop when slips become rare."
        if n_looked and waiting
        else "Start at the top, and stop when slips become rare."
        if waiting
        else "All of them are looked at: train again with the scores as they are now."
    )
    return tuple(said)


def audit(
    *,
    n_scored: int,
    n_pairs: int,
    mae: Estimate,
    bias: Estimate,
    rank: Estimate,
    scale: ScoreRange,
    is_census: bool = False,
) -> tuple[str, ...]:
    """What an audit says of the silver set. mae, bias: in [0, 1]; bias: labeler minus people; rank: a correlation."""
    error, lean = mae.finite(), bias.finite()
    if error.value is None:
        return (
            "Nobody has scored enough of its pairs for an estimate.",
            "Score the pairs of the audit without looking at the labeler's scores.",
        )
    span = scale.high - scale.low
    basis = (
        "On all its pairs"
        if is_census
        else f"Judging by {many(n_scored, 'pair')}, in the whole set of {n_pairs:,}"
    )
    said = [
        f"{basis} a silver score is {number(span * error.value)} points away from people on average, {share(error.value)} of "
        "the scale; part of that is people's own disagreement, which one person's scores cannot show.",
        _lean(lean, span),
    ]
    said.extend(_order(rank.finite()))
    said.append(
        "Next, correct the largest differences and retrain the labeler with them; what it then says of these same pairs "
        "proves nothing, a new audit does."
    )
    return tuple(said)


def _lean(lean: Estimate, span: float) -> str:
    if lean.value is None:
        return "Whether it scores too high or too low is not known."
    if lean.low is None or lean.high is None or lean.low <= 0 <= lean.high:
        return (
            "It is not clearly too high or too low on the whole: the interval of its bias holds 0."
        )
    direction = "high" if lean.value > 0 else "low"
    return f"It scores too {direction} on the whole, by {number(abs(span * lean.value))} points, and that is more than chance."


def _order(rank: Estimate) -> list[str]:
    """Whether it puts pairs in people's order, in a sentence; nothing where that is not defined."""
    if rank.value is None:
        return []
    if rank.low is not None and rank.low <= 0 and not rank.low == rank.high == rank.value:
        return [
            "Whether it puts pairs in the order that people would is open: the interval of its rank correlation holds 0. "
            "Score more pairs."
        ]
    return [
        f"Its order of pairs and people's agree with {number(rank.value)}: a bias leaves that as it is, and a student "
        "measured by Spearman suffers from wrong order, not from a shift."
    ]


def agreement(
    *,
    n_annotators: int,
    n_shared: int,
    alpha: float | None,
    low: float | None,
    high: float | None,
    spearman: float | None,
) -> tuple[str, ...]:
    """What the agreement of annotators means for gold. alpha: Krippendorff's, interval."""
    value, order = known(alpha), known(spearman)
    if n_annotators < 2 or not n_shared or value is None:
        return (
            "There is no pair yet from which agreement could be told: it takes pairs that two people scored, and scores "
            "that vary.",
            "Let a second person open this task under a name of their own.",
        )
    said = []
    if order is not None and order > 0:
        said.append(
            f"Two people's orders of these pairs agree with a Spearman × 100 of {hundred(order)}: even a model without a fault "
            f"would agree with one of them to about {hundred(min(order, 1.0) ** 0.5)} only, as the rest is that person's noise."
        )
    mean = _of_mean(value, n_annotators)
    if mean is not None:
        said.append(
            f"Where {'both' if n_annotators == 2 else f'all {n_annotators}'} scored a pair, their mean is more reliable than one of them: about {number(mean)} where "
            f"single scores have {number(value)} (Spearman-Brown), which is why gold takes the mean."
        )
    if value <= 0:
        said.append(
            "Single scores are no more alike than by chance, so neither one person's nor a mean can be relied on yet."
        )
    ends = known(low), known(high)
    if ends[0] is not None and ends[1] is not None and ends[1] - ends[0] > 0.2:
        said.append(
            f"From {many(n_shared, 'shared pair')} α is known only to lie between {number(ends[0])} and {number(ends[1])}: score more "
            "pairs twice."
        )
    said.append(
        "Agreement does not show that people are right: all may misread the guideline alike. Talk about the worst pairs "
        "before you merge into gold."
    )
    return tuple(said)


def _of_mean(single: float, n: int) -> float | None:
    """The reliability of the mean of n scores; None where a single score has none."""
    return n * single / (1 + (n - 1) * single) if 0 < single <= 1 and n > 1 else None


def best_worst(*, n_judges: int, n_pairs: int, reliability: float | None) -> tuple[str, ...]:
    """What the answers of a best-worst task amount to."""
    value = known(reliability)
    said = [
        f"Nobody gave a score: {many(n_judges, 'judge')} only picked the most and the least similar of four, and from that "
        f"{many(n_pairs, 'pair')} {'gets its' if n_pairs == 1 else 'get their'} place in an order."
    ]
    if value is None:
        said.append(
            "How far to trust that order is not known until two people have answered the same tuples."
        )
    else:
        said.append(
            f"Two halves of the judges make orders that agree to {number(value)}: pairs far apart in the order differ indeed, "
            "neighbours may have changed places by luck."
        )
    said.append(
        "Scores hold among the pairs of this task alone: 0 is the least similar of them, not unrelated. Do not mix them "
        "with scores of another task."
    )
    return tuple(said)


def relabelled(
    *,
    word: str,
    mean_change: float | None,
    scale: ScoreRange,
    n_fair: int,
    is_audited: bool,
    towards: int,
    away: int,
) -> tuple[str, ...]:
    """What another labelling of the same pairs has changed.

    word: "closer", "farther", "unclear" or "unknown", as the page says above. n_fair: pairs with a human score that no
    labeler was trained on, from an audit if is_audited. towards, away: corrected pairs, training's own included.
    """
    change = known(mean_change)
    said = []
    if change is not None:
        span = scale.high - scale.low
        said.append(
            f"On average a score moved by {number(span * change)} points, {share(change)} of the scale. A change is no "
            "improvement yet: another seed alone moves scores too."
        )
    if towards + away:
        said.append(
            f"That {towards:,} of {many(towards + away, 'corrected pair')} moved towards people is to be expected where "
            "training has seen them."
        )
    said.append(
        f"What counts {'is' if n_fair == 1 else 'are'} the {many(n_fair, 'pair')} that no training has seen"
        + (
            ", drawn at random by the audit."
            if is_audited
            else f", and people picked {'this one because it' if n_fair == 1 else 'these because they'} looked wrong, which "
            "flatters any other labeler."
        )
        if n_fair
        else "No pair with a human score was kept out of training, so whether it came closer to people is not known."
    )
    said.append(
        {
            "closer": "Next, train a student on the new set and hold it against the old one's on Compare.",
            "farther": "Keep the old labels; more corrections, from all score regions, may help the next round.",
            "unclear": "Next, audit more pairs: four times as many halve the interval.",
        }.get(word, "Next, draw an audit of the new set.")
    )
    return tuple(said)
