"""Would other judges give the same order? Split-half reliability of best-worst scores."""

from dataclasses import dataclass

import numpy as np

from augsbert_core.best_worst.scoring import checked_answers, score
from augsbert_core.metrics import spearman


@dataclass(frozen=True)
class Reliability:
    """How well two halves of the judges agree.

    mean, deviation: of Spearman's correlation over the splits. corrected: the mean carried over to all judges
    (`spearman_brown`); report it apart, as published values are uncorrected (0.66 on average for the argument pairs
    of Thakur et al., 2021). tuples_used had two judges or more; tuples_left_out had one and say nothing here.
    """

    mean: float
    deviation: float
    corrected: float | None
    splits: int
    tuples_used: int
    tuples_left_out: int
    pairs_used: int


def split_half_reliability(
    tuples: np.ndarray,
    judges: np.ndarray,
    best: np.ndarray,
    worst: np.ndarray,
    n_pairs: int,
    rng: np.random.Generator,
    n_splits: int = 100,
) -> Reliability | None:
    """Spearman's correlation between the scores of two random halves of each tuple's judges, over many splits.

    One row is one answer, as in `score`; judges: who gave it, numbers or names. Rows with the same pairs, in any
    order, are one tuple. Of an odd number of judges, chance decides which half gets one more. A pair counts where
    both halves score it. None when no tuple has two judges or no split has a defined correlation. ValueError as
    in `score`, when a judge answers a tuple twice, or for fewer than one split.
    """
    if n_splits < 1:
        raise ValueError(f"at least one split is needed, not {n_splits}")
    tuples, best, worst = checked_answers(tuples, best, worst, n_pairs)
    if not len(tuples):
        return None
    _, tuple_of = np.unique(np.sort(tuples, axis=1), axis=0, return_inverse=True)
    tuple_of = tuple_of.reshape(-1)
    _check_judges(tuple_of, judges)
    judges_of = np.bincount(tuple_of)
    used = judges_of[tuple_of] > 1
    tuples, best, worst = tuples[used], best[used], worst[used]
    kept, tuple_of = np.unique(tuple_of[used], return_inverse=True)
    values = []
    for _ in range(n_splits if len(kept) else 0):
        first = _first_half(tuple_of, judges_of[kept], rng)
        one, other = (score(tuples[h], best[h], worst[h], n_pairs) for h in (first, ~first))
        both = np.isfinite(one) & np.isfinite(other)
        value = spearman(one[both], other[both])
        if value is not None:
            values.append(value)
    if not values:
        return None
    mean = float(np.mean(values))
    return Reliability(
        mean=mean,
        deviation=float(np.std(values)),
        corrected=spearman_brown(mean),
        splits=len(values),
        tuples_used=len(kept),
        tuples_left_out=len(judges_of) - len(kept),
        pairs_used=len(np.unique(tuples)),
    )


def spearman_brown(half: float) -> float | None:
    """The reliability of all judges together, from that of half of them: 2r / (1 + r); None below 0."""
    return 2.0 * half / (1.0 + half) if half >= 0 else None


def _first_half(
    tuple_of: np.ndarray, judges_of: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Which answers fall into the first half: half of each tuple's, drawn at random."""
    # Tuple numbers are whole and the draws below 1, so one sort shuffles inside every tuple.
    order = np.argsort(tuple_of + rng.random(len(tuple_of)))
    starts = np.cumsum(judges_of) - judges_of
    place = np.empty(len(tuple_of), dtype=np.int64)
    place[order] = np.arange(len(tuple_of)) - starts[tuple_of[order]]
    sizes = (judges_of + rng.integers(0, 2, len(judges_of))) // 2
    return place < sizes[tuple_of]


def _check_judges(tuple_of: np.ndarray, judges: np.ndarray) -> None:
    names, judge_of = np.unique(np.asarray(judges), return_inverse=True)
    if judge_of.shape != tuple_of.shape:
        raise ValueError(f"{len(tuple_of)} answers, but {len(judge_of)} judges")
    answers, counts = np.unique(tuple_of * len(names) + judge_of, return_counts=True)
    if counts.max() > 1:
        name = names[answers[counts.argmax()] % len(names)]
        raise ValueError(f"judge {name} answered one tuple {counts.max()} times")
