"""What each annotator's scores tell, where they part, and the one score they give together.

A score table is a float array (annotators, pairs), NaN where an annotator has not scored a pair.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from augsbert_core.metrics.correlation import spearman

MERGES = ("mean", "median")

# Differences below this are rounding, and must not decide which pair is worse.
_ORDER_DECIMALS = 12


def score_table(scores: np.ndarray) -> np.ndarray:
    """Scores as a float table (annotators, pairs); ValueError for another shape or an infinite score."""
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"scores has shape {table.shape}, not (annotators, pairs)")
    if np.isinf(table).any():
        raise ValueError("scores must be finite, or NaN where there is none")
    return table


def distinct_pairs(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different ways in which pairs were scored, and how many pairs were scored in each.

    scores: (annotators, pairs), NaN where not scored. Returns (annotators, ways) and (ways,).
    """
    table = score_table(scores)
    places, _, times = distinct_columns(coded_scores(table)[1])
    return table[:, places], times


def coded_scores(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different scores of a score table, ascending, and for each of its cells the place of its score, -1 for none."""
    given = ~np.isnan(table)
    values, codes = np.unique(table[given], return_inverse=True)
    coded = np.full(table.shape, -1)
    coded[given] = codes
    return values, coded


def distinct_columns(coded: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where each different column is met first, which of them each column is, and how often each occurs.

    coded: whole numbers from -1. The columns are in the order of their first rows, then of the next.
    """
    base = int(coded.max(initial=0)) + 2
    if base ** len(coded) < 2**62:
        # One number instead of each column is sorted ten times as quickly.
        columns = np.zeros(coded.shape[1], dtype=np.int64)
        for row in coded:
            columns = columns * base + row + 1
    else:
        columns = coded.T
    _, places, which, times = np.unique(
        columns, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    return places, which.reshape(-1), times


@dataclass(frozen=True)
class RankAgreement:
    """How alike two annotators rank the pairs that both scored. first, second: their rows in the table."""

    first: int
    second: int
    n_shared: int
    spearman: float | None


def mean_pairwise_spearman(
    scores: np.ndarray, *, min_shared: int = 3
) -> tuple[float | None, list[RankAgreement]]:
    """The mean rank correlation of all twos of annotators, and that of each two, in table order.

    scores: (annotators, pairs), NaN where not scored. Twos with fewer than min_shared common pairs are not
    listed. Of a two one of whom gave every common pair the same score, the correlation is None and does not
    enter the mean. The mean is None when none is defined. Source: Spearman (1904); ties at their average rank.
    """
    table = score_table(scores)
    given = ~np.isnan(table)
    each = []
    for first, second in combinations(range(len(table)), 2):
        shared = given[first] & given[second]
        n_shared = int(shared.sum())
        if n_shared >= min_shared:
            rho = spearman(table[first, shared], table[second, shared])
            each.append(RankAgreement(first, second, n_shared, rho))
    defined = [two.spearman for two in each if two.spearman is not None]
    return (float(np.mean(defined)) if defined else None), each


@dataclass(frozen=True)
class AnnotatorBias:
    """One annotator against the others on the pairs they share, in units of the scores.

    bias: mean of (own score − mean of the others' scores), above 0 for one who scores high; None without a
    shared pair. spread: standard deviation of these differences (n − 1); None for fewer than two shared pairs.
    """

    bias: float | None
    spread: float | None
    n_shared: int


def annotator_bias_and_spread(scores: np.ndarray) -> list[AnnotatorBias]:
    """How much higher than the others each annotator scores, and how evenly, one entry for each row.

    scores: (annotators, pairs), NaN where not scored. Only pairs that someone else scored too count. The
    differences are those of Bland and Altman (1986), with the mean of the others as the second method.
    """
    table = score_table(scores)
    given = ~np.isnan(table)
    n_others = given.sum(axis=0) - 1
    found = []
    for own, scored in zip(table, given, strict=True):
        shared = scored & (n_others > 0)
        # Differences first: annotators who agree are then exactly 0 apart.
        apart = np.nansum(own[shared] - table[:, shared], axis=0) / n_others[shared]
        n = len(apart)
        bias = float(apart.mean()) if n else None
        found.append(AnnotatorBias(bias, float(apart.std(ddof=1)) if n > 1 else None, n))
    return found


@dataclass(frozen=True)
class PairSpread:
    """How far the annotators of each pair are apart, in units of the scores.

    spread: standard deviation (n − 1) of each pair's scores; width: highest minus lowest; both (pairs,), NaN
    for fewer than two scores. count: scores of each pair. worst_first: positions of the pairs with two scores
    or more, largest spread first, then largest width, then table order.
    """

    spread: np.ndarray
    width: np.ndarray
    count: np.ndarray
    worst_first: np.ndarray


def disagreement(scores: np.ndarray) -> PairSpread:
    """Where annotators disagree, the worst pair first. scores: (annotators, pairs), NaN where not scored."""
    table = score_table(scores)
    count = np.sum(~np.isnan(table), axis=0)
    several = np.flatnonzero(count >= 2)
    chosen = table[:, several]
    above = chosen - np.nanmin(chosen, axis=0) if len(several) else chosen
    spread, width = np.full(len(count), np.nan), np.full(len(count), np.nan)
    if len(several):
        # From the lowest score up, so that equal scores have a spread of exactly 0.
        spread[several] = np.nanstd(above, axis=0, ddof=1)
        width[several] = np.nanmax(above, axis=0)
    order = np.lexsort(
        (-np.round(width[several], _ORDER_DECIMALS), -np.round(spread[several], _ORDER_DECIMALS))
    )
    return PairSpread(spread, width, count, several[order])


def merge(scores: np.ndarray, how: str = "mean") -> tuple[np.ndarray, np.ndarray]:
    """One score for each pair from all its annotators, and the number of scores behind it.

    scores: (annotators, pairs), NaN where not scored. how: "mean" or "median" (of an even number, half-way
    between the middle two). Returns (pairs,) scores, NaN where nobody scored, and (pairs,) counts. Where
    annotators agree, the merged score is exactly theirs. ValueError for another how.
    """
    if how not in MERGES:
        raise ValueError(f"how is {how!r}, not {' or '.join(MERGES)}")
    table = score_table(scores)
    count = np.sum(~np.isnan(table), axis=0)
    merged = np.full(len(count), np.nan)
    scored = np.flatnonzero(count)
    # NaN sorts last, so the first `count` rows are the scores.
    ordered, n = np.sort(table[:, scored], axis=0), count[scored]
    if how == "median":
        columns = np.arange(len(scored))
        low, high = ordered[(n - 1) // 2, columns], ordered[n // 2, columns]
        merged[scored] = low + (high - low) / 2.0
    elif len(scored):
        lowest = ordered[0]
        merged[scored] = lowest + np.nansum(ordered - lowest, axis=0) / n
    return merged, count
