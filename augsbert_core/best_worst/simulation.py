"""Best-worst studies with a known truth: how many tuples does it take, with judges as unsure as this?"""

from dataclasses import dataclass

import numpy as np

from augsbert_core.best_worst.design import TUPLE_SIZE, design
from augsbert_core.best_worst.reliability import split_half_reliability
from augsbert_core.best_worst.scoring import score
from augsbert_core.metrics import spearman

_BISECTIONS = 20
_CLOSE_ENOUGH = 0.002
_LARGEST_NOISE = 64.0
_COMPANIES = 400


@dataclass(frozen=True)
class Study:
    """A simulated study. truth: shape (pairs,); one row of the rest is one answer, as in `score`."""

    truth: np.ndarray
    tuples: np.ndarray
    judges: np.ndarray
    best: np.ndarray
    worst: np.ndarray


def simulate(
    n_pairs: int,
    tuples_per_pair: float,
    judges: int,
    noise: float,
    rng: np.random.Generator,
    truth: np.ndarray | None = None,
) -> Study:
    """A study in which every judge answers every tuple of a fresh design.

    A judge perceives a pair's true similarity plus Gaussian noise of standard deviation `noise`, drawn anew each
    time it is shown, and picks the highest and the lowest. truth: uniform on [0, 1] unless given, shape (n_pairs,).
    """
    truth = rng.random(n_pairs) if truth is None else np.asarray(truth, dtype=np.float64)
    if truth.shape != (n_pairs,):
        raise ValueError(f"truth has shape {truth.shape}, but there are {n_pairs} pairs")
    return _answer(design(n_pairs, tuples_per_pair, rng), truth, judges, noise, rng)


def recovery(study: Study) -> float | None:
    """Spearman's correlation of a study's scores with its truth."""
    scores = score(study.tuples, study.best, study.worst, len(study.truth))
    scored = np.isfinite(scores)
    return spearman(study.truth[scored], scores[scored])


def find_noise(
    target_reliability: float = 0.66,
    *,
    n_pairs: int = 200,
    tuples_per_pair: float = 2,
    judges: int = 4,
    seed: int = 0,
    studies: int = 4,
    n_splits: int = 20,
) -> float:
    """The judges' noise at which split-half reliability, averaged over some studies, meets the target.

    Found by bisection; every noise is tried on the same designs with the same draws. ValueError for a target that
    is not between 0 and 1, or that no noise reaches.
    """
    if not 0 < target_reliability < 1:
        raise ValueError(f"a reliability between 0 and 1 is needed, not {target_reliability}")
    if judges < 2:
        raise ValueError(f"reliability needs at least 2 judges, not {judges}")
    rngs = [np.random.default_rng((seed, number)) for number in range(studies)]
    laid_out = [(design(n_pairs, tuples_per_pair, rng), rng.random(n_pairs)) for rng in rngs]

    def reliability(noise: float) -> float:
        found = []
        for number, (tuples, truth) in enumerate(laid_out):
            rng = np.random.default_rng((seed, studies + number))
            told = _answer(tuples, truth, judges, noise, rng)
            answers = (told.tuples, told.judges, told.best, told.worst)
            result = split_half_reliability(*answers, n_pairs, rng, n_splits)
            found.append(0.0 if result is None else result.mean)
        return float(np.mean(found))

    low, high = 0.0, 0.25
    while reliability(high) > target_reliability:
        low, high = high, 2 * high
        if high > _LARGEST_NOISE:
            raise ValueError(f"no noise brings the reliability down to {target_reliability}")
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        apart = reliability(middle) - target_reliability
        if abs(apart) < _CLOSE_ENOUGH:
            return middle
        low, high = (middle, high) if apart > 0 else (low, middle)
    return (low + high) / 2


def expected_recovery(
    truth: np.ndarray,
    tuples_per_pair: float,
    judges: int,
    noise: float,
    rng: np.random.Generator,
    repeats: int = 40,
) -> float | None:
    """The Spearman correlation with the truth that counting allows, from the expected scores and their variance.

    One answer counts 1, 0 or −1 for a pair. Its expected value and its variance, split into chance of the company
    (shared by the judges of a tuple) and chance of the judge, are estimated from random company for each pair. A
    score is the mean over size × tuples_per_pair companies and all judges: the expected value with a normal error.
    As no pair is met twice, the chance of the company shrinks with the share of all pairs already met. No design is
    drawn and nothing is scored here, so that it can be held against `recovery`.
    """
    truth = np.asarray(truth, dtype=np.float64)
    first, second = _outcomes(truth, noise, rng)
    expected = (first.mean(axis=0) + second.mean(axis=0)) / 2
    # Two judges of the same company share its chance and nothing else.
    company = np.maximum(np.mean((first - expected) * (second - expected), axis=0), 0.0)
    whole = (first.var(axis=0) + second.var(axis=0)) / 2
    judge = np.maximum(whole - company, 0.0)
    tuples = TUPLE_SIZE * tuples_per_pair
    unmet = max(1.0 - tuples * (TUPLE_SIZE - 1) / (len(truth) - 1), 0.0)
    variance = (company * unmet + judge / judges) / tuples
    # The estimate of the expected value has an error of its own, which is a part of what is to be added.
    spread = np.sqrt(np.maximum(variance - (company + judge / 2) / _COMPANIES, 0.0))
    drawn = (expected + spread * rng.standard_normal(len(truth)) for _ in range(repeats))
    values = [value for scores in drawn if (value := spearman(truth, scores)) is not None]
    return float(np.mean(values)) if values else None


def _outcomes(
    truth: np.ndarray, noise: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """What each pair gets in random company from two judges: 1, 0 or −1, shape (companies, pairs) each."""
    company = _companies(len(truth), rng)

    def judged() -> np.ndarray:
        seen = truth[company] + noise * rng.standard_normal(company.shape)
        return (seen.argmax(axis=-1) == 0).astype(np.float64) - (seen.argmin(axis=-1) == 0)

    return judged(), judged()


def _companies(n_pairs: int, rng: np.random.Generator) -> np.ndarray:
    """Random tuples that begin with each pair in turn, shape (companies, pairs, size)."""
    own = np.broadcast_to(np.arange(n_pairs), (_COMPANIES, n_pairs))
    members = [own]
    for taken in range(1, TUPLE_SIZE):
        drawn = rng.integers(0, n_pairs - taken, own.shape)
        # The number of the drawn pair among those not yet taken: step over the taken ones, lowest first.
        for earlier in np.sort(members, axis=0):
            drawn += drawn >= earlier
        members.append(drawn)
    return np.stack(members, axis=-1)


def _answer(
    tuples: np.ndarray, truth: np.ndarray, judges: int, noise: float, rng: np.random.Generator
) -> Study:
    """Every judge's answer to every tuple."""
    shown = np.repeat(tuples, judges, axis=0)
    seen = truth[shown] + noise * rng.standard_normal(shown.shape)
    rows = np.arange(len(shown))
    return Study(
        truth=truth,
        tuples=shown,
        judges=np.tile(np.arange(judges), len(tuples)),
        best=shown[rows, seen.argmax(axis=1)],
        worst=shown[rows, seen.argmin(axis=1)],
    )
