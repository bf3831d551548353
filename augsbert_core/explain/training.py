"""Trained labelers and students, the gate between them, and the study of seeds, in plain sentences."""

from collections.abc import Sequence

from augsbert_core.explain.phrases import (
    apart,
    hundred,
    known,
    many,
    metric_name,
    number,
    pairs_for,
    reach,
    share,
    shown,
)

FELL = 0.01
"""A dev score that is lower by so much at the end has clearly fallen."""

AGREES = 0.8
"""A correlation of two orders of seeds from which the first may stand for the second."""

FEW_SEEDS = 10

TINY = 0.001
"""Nobody needs to be sure of a smaller difference."""


def labeler(
    *,
    metric: str,
    dev_score: float | None,
    n_dev: int,
    curve: Sequence[tuple[int, float]],
    n_steps: int,
    best_step: int,
) -> tuple[str, ...]:
    """What the training of a cross-encoder has brought. curve: (step, dev score) of its checkpoints."""
    last = (
        "Whether its labels can teach is not to be seen here: the gate below compares it with a student trained on "
        "gold alone."
    )
    score = known(dev_score)
    if score is None:
        return (
            "This run has no dev score: dev has too few pairs of different scores, or the model gave all of them the "
            "same one. So no checkpoint was chosen, and the last one was kept.",
            last,
        )
    return (
        _agrees(metric, score),
        _sure(metric, score, n_dev, len(curve)),
        _course(score, curve, n_steps, best_step),
        last,
    )


def _agrees(metric: str, score: float) -> str:
    if metric == "f1":
        return (
            f"On the dev pairs its {metric_name(metric)} is {hundred(score)}: high only when it finds most positives and "
            "is mostly right where it says so; 100 is without a mistake."
        )
    return (
        f"On the dev pairs its order and people's agree with a {metric_name(metric)} of {hundred(score)}: 100 is the "
        "same order, 0 none in common."
    )


def _sure(metric: str, score: float, n_dev: int, n_checkpoints: int) -> str:
    chosen = (
        f"as the best of {n_checkpoints:,} checkpoints on these very pairs it flatters"
        if n_checkpoints > 1
        else "it is from one seed, and another may end points away"
    )
    half = reach(score, n_dev) if metric == "spearman" else None
    if half is None:
        return f"{chosen.capitalize()}; the test split is for the end."
    return (
        f"With {many(n_dev, 'dev pair')} its 95 % interval is about ± {hundred(half)} points, and {chosen}; the test "
        "split is for the end."
    )


def _course(score: float, curve: Sequence[tuple[int, float]], n_steps: int, best_step: int) -> str:
    end = known(curve[-1][1]) if curve else None
    if end is None:
        return f"It was kept as it was after step {best_step:,} of {n_steps:,}."
    if best_step >= curve[-1][0]:
        return f"It was best at the very end, after {many(n_steps, 'step')}: more epochs may help."
    fell = max(score - end, 0.0)
    if fell >= FELL:
        return (
            f"It was best at step {best_step:,} of {n_steps:,} and ended {hundred(fell)} points lower: longer training "
            "would not help, more gold pairs would."
        )
    return (
        f"It was best at step {best_step:,} of {n_steps:,} and then stayed about level: it has learnt what these pairs "
        "can teach it."
    )


def gate(
    *,
    verdict: str,
    n_pairs: int,
    split: str,
    difference: float | None,
    low: float | None,
    high: float | None,
    labeler_score: float | None,
    untrained_score: float | None,
) -> tuple[str, ...]:
    """Why the gate matters, and what to do about it. verdict, difference, low, high: of the best labeler."""
    what = "A student learns from silver pairs at most what the labeler knows and gold alone does not teach."
    if verdict == "no student":
        return (
            what,
            "Without a student trained on gold alone nothing can be said about that: train one on the Train page, then "
            "check the labelers again.",
        )
    said = [
        what,
        _gate_verdict(verdict, known(difference), known(low), known(high), n_pairs, split),
    ]
    best, untrained = known(labeler_score), known(untrained_score)
    if best is not None and untrained is not None and untrained > best:
        said.append(
            f"The untrained base scores {hundred(untrained)} on these pairs, more than the best labeler with "
            f"{hundred(best)}: so few gold pairs have spoilt more than they taught."
        )
    said.append(_gate_remedy(verdict))
    return tuple(said)


def _gate_verdict(
    verdict: str,
    difference: float | None,
    low: float | None,
    high: float | None,
    n_pairs: int,
    split: str,
) -> str:
    if difference is None or low is None or high is None:
        return "Here a score is undefined, so that this is not known."
    if verdict == "better":
        return (
            f"Here that is about {hundred(difference)} points, {hundred(low)} at the low end: so much there is to teach, "
            "and a student takes over only a part of it."
        )
    if verdict == "not better":
        return (
            f"Here the best labeler is {apart(difference)} that student, and at the high end of the interval "
            f"{apart(high)} it: there is nothing to teach, so AugSBERT will hardly help."
        )
    half = (high - low) / 2
    text = (
        f"Here the interval reaches from {hundred(low)} to {hundred(high)} points: the labeler may know more, or "
        f"nothing more"
    )
    needed = pairs_for(half, n_pairs, abs(difference)) if abs(difference) >= TINY else 0
    if n_pairs < needed < 1_000 * n_pairs:
        return f"{text}. To be sure of such a difference takes about {needed:,} {split} pairs."
    return f"{text}."


def _gate_remedy(verdict: str) -> str:
    if verdict == "better":
        return "Next, sample candidate pairs and let this labeler score them; Compare tells whether the student gains."
    return (
        "What can change it: more gold pairs, a larger base for the labeler, the best of several seeds, or a smaller "
        "student, to which even this labeler has something to teach."
    )


def student(
    *,
    run: int,
    n_gold: int,
    n_silver: int,
    dev_score: float | None,
    twin: int | None = None,
    twin_score: float | None = None,
    gate_verdict: str = "",
    gate_difference: float | None = None,
) -> tuple[str, ...]:
    """What the newest student has brought.

    twin: the run on gold alone with as many steps, where there is one. gate_verdict, gate_difference: of the best
    labeler when the labelers were last checked, "" before that.
    """
    score, other = known(dev_score), known(twin_score)
    if score is None:
        return (
            f"Run {run} has no dev score: dev has too few pairs of different scores, or the model gave all of them the "
            "same one.",
            "Its last checkpoint was kept. Measure it on Compare, or put more pairs into dev.",
        )
    if not n_silver:
        return (
            f"Run {run} has learnt from {many(n_gold, 'gold pair')} alone: it is the lower bound, and a student with "
            "silver pairs has to beat it with as many steps.",
            "Its dev score chose its checkpoint and is of one seed, so small differences to other runs mean nothing.",
            "Next, sample candidate pairs, let the labeler score them, and train on both.",
        )
    if twin is None or other is None:
        return (
            f"Run {run} has learnt from {many(n_silver, 'silver pair')}"
            f"{_and_gold(n_gold)}, and no run on gold alone has taken as many steps.",
            "More pairs mean more steps, and those alone raise a score: without that twin, a gain cannot be put down to "
            "silver.",
            "Next, train the gold-only baseline with as many steps, then measure both on Compare.",
        )
    return (
        f"On dev, run {run} with {many(n_silver, 'silver pair')} is {apart(shown(score) - shown(other))} run {twin}, which took as many "
        "steps on gold alone.",
        "These are single seeds, on the pairs that chose the checkpoints: only Compare, on test and with an interval, "
        "can say whether silver helped.",
        _why(score > other, gate_verdict, known(gate_difference)),
    )


def _and_gold(n_gold: int) -> str:
    return f" and {n_gold:,} gold {'one' if n_gold == 1 else 'ones'}" if n_gold else " alone"


def _why(is_ahead: bool, verdict: str, difference: float | None) -> str:
    by = "" if difference is None else f" ({apart(difference)} it on dev)"
    if verdict == "not better":
        if is_ahead:
            return f"Be careful: when last checked, no labeler was better than a gold-only student{by}, so this may be luck."
        return (
            f"A likely reason: when last checked, no labeler was better than a gold-only student{by}, so its labels had "
            "nothing to teach."
        )
    if is_ahead:
        return "If test agrees, repeat both with further seeds on Experiments."
    if verdict == "better":
        return (
            f"The labeler was better than a gold-only student when last checked{by}, so look at the pairs: do their "
            "scores cover the scale as gold does (Silver page), and does an audit find them right?"
        )
    if verdict == "unclear":
        return "When last checked, the labeler could not be told apart from a gold-only student: it may have had nothing to teach."
    return (
        "Whether the labeler knows more than such a student, without which silver cannot help, is for the gate on the "
        "Cross-encoder page."
    )


def seed_study(
    *,
    fractions: Sequence[float],
    spearman: Sequence[float | None],
    regret: Sequence[float],
    finals: Sequence[float],
) -> tuple[str, ...]:
    """What a study of seeds has found. fractions: with the end as 1; regret: lost score; finals: dev scores."""
    ends = [value for value in map(known, finals) if value is not None]
    if len(ends) < 2:
        return (
            "Fewer than two seeds have a final score, so there is no spread to see.",
            "Study three seeds or more.",
        )
    low, high = min(ends), max(ends)
    said = [
        f"With the same recipe and the same pairs, {len(ends):,} seeds ended between {hundred(low)} and {hundred(high)}, "
        f"{hundred(shown(high) - shown(low))} points apart: a smaller difference between two single runs may be luck.",
        _early(fractions, spearman, regret),
    ]
    if len(ends) < FEW_SEEDS:
        said.append(f"{len(ends):,} seeds tell this roughly: see how wide the bands are.")
    return (
        *said,
        "It holds for this recipe on these dev pairs; another recipe needs a study of its own.",
    )


def _early(
    fractions: Sequence[float], spearman: Sequence[float | None], regret: Sequence[float]
) -> str:
    points = [
        (at, value, lost)
        for at, each, lost in zip(fractions, spearman, regret, strict=False)
        if at < 1 and (value := known(each)) is not None
    ]
    if not points:
        return "Before the end no order of the seeds is defined, so nothing can be said about stopping early."
    first = next((point for point in points if point[1] >= AGREES), None)
    if first is not None:
        at, value, lost = first
        return (
            f"At {share(at)} of the steps their order already is much like the final one (Spearman {number(value)}), and "
            f"going on with the leader would have cost {hundred(known(lost) or 0.0)} points: trials can stop there."
        )
    at, value, lost = max(points, key=lambda point: point[1])
    return (
        f"At no earlier point is their order much like the final one, at best at {share(at)} of the steps (Spearman "
        f"{number(value)}): stopping trials early hardly picks the right seed here."
    )
