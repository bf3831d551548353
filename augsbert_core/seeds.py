"""When does the dev score of a seed tell how it will end? Rank agreement along training (paper §5, figure 6)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from augsbert_core.metrics import spearman

MIN_SEEDS = 3


@dataclass(frozen=True)
class RankAgreement:
    """How the order of seeds at each fraction agrees with their final order. Lists run along the fractions.

    spearman, kendall: None where undefined (too few seeds, or all scores equal). *_low, *_high: 95 % intervals
    over resampled seeds, None where too few resamples were defined. regret: how much final score is lost on
    average by going on with the seed that is best at the fraction, in place of the seed that ends best.
    """

    spearman: list[float | None]
    spearman_low: list[float | None]
    spearman_high: list[float | None]
    kendall: list[float | None]
    kendall_low: list[float | None]
    kendall_high: list[float | None]
    regret: list[float]


def rank_agreement(
    scores: np.ndarray, rng: np.random.Generator, n_resamples: int = 1000
) -> RankAgreement:
    """Compare each column of dev scores with the last one. scores: float, shape (seeds, fractions).

    The band is a bootstrap over seeds, the same resamples at every fraction. ValueError: not finite.
    """
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 2 or not np.isfinite(scores).all():
        raise ValueError("scores must be finite, of shape (seeds, fractions)")
    n_seeds, n_fractions = scores.shape
    n_drawn = n_resamples if n_seeds >= MIN_SEEDS else 0
    drawn = rng.integers(n_seeds, size=(n_drawn, n_seeds))
    final = scores[:, -1]
    columns = [scores[:, place] for place in range(n_fractions)]
    bands = {
        name: [_band(statistic, column, final, drawn) for column in columns]
        for name, statistic in (("spearman", spearman), ("kendall", kendall))
    }
    return RankAgreement(
        spearman=[spearman(column, final) for column in columns],
        spearman_low=[low for low, _ in bands["spearman"]],
        spearman_high=[high for _, high in bands["spearman"]],
        kendall=[kendall(column, final) for column in columns],
        kendall_low=[low for low, _ in bands["kendall"]],
        kendall_high=[high for _, high in bands["kendall"]],
        regret=[float(final.max() - final[int(np.argmax(column))]) for column in columns],
    )


def kendall(first: np.ndarray, second: np.ndarray) -> float | None:
    """Kendall's tau-b: of all pairs of seeds, agreeing minus disagreeing ones, ties set aside.

    None for fewer than 3 seeds or a constant column.
    """
    if len(first) < MIN_SEEDS:
        return None
    above = np.triu_indices(len(first), k=1)
    a, b = (np.sign(np.subtract.outer(values, values))[above] for values in (first, second))
    norm = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b / norm) if norm > 0 else None


def _band(
    statistic: Callable[[np.ndarray, np.ndarray], float | None],
    column: np.ndarray,
    final: np.ndarray,
    drawn: np.ndarray,
) -> tuple[float | None, float | None]:
    """The 2.5 % and 97.5 % quantiles over resampled seeds; (None, None) when half are undefined."""
    values = [
        value for rows in drawn if (value := statistic(column[rows], final[rows])) is not None
    ]
    if len(values) * 2 < max(len(drawn), 1):
        return None, None
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)
