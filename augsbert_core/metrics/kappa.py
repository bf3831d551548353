"""Agreement on categories beyond chance: Cohen's κ for two annotators, Fleiss' κ for many."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from augsbert_core.metrics.annotators import score_table

WEIGHTS = ("linear", "quadratic")


def cohen_kappa(
    a: np.ndarray,
    b: np.ndarray,
    weights: str | None = None,
    *,
    categories: Sequence[Any] | np.ndarray | None = None,
) -> float | None:
    """How far two annotators agree on categories beyond what their own habits would give by chance.

    a, b: the category of each pair, numbers or words; a pair where either is NaN is left out. weights: None
    (every disagreement counts the same), "linear" or "quadratic" in how many categories lie between.
    categories: all of them, lowest first; by default those in use, sorted, so that unused levels of a scale do
    not widen a distance. None without a common pair, or when both used one and the same category only.
    ValueError for different lengths, a value outside categories or unknown weights.
    Source: Cohen (1960), A Coefficient of Agreement for Nominal Scales; weighted: Cohen (1968).
    """
    a, b = np.asarray(a), np.asarray(b)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"a has shape {a.shape}, b {b.shape}: both need one value for each pair")
    if weights is not None and weights not in WEIGHTS:
        raise ValueError(f"weights is {weights!r}, not None, {' or '.join(WEIGHTS)}")
    # Only NaN differs from itself.
    both = (a == a) & (b == b)
    a, b = a[both], b[both]
    if not len(a):
        return None
    used = _categories(np.concatenate([a, b]), categories)
    size = len(used)
    first, second = _positions(a, used), _positions(b, used)
    found = np.bincount(first * size + second, minlength=size**2).reshape(size, size)
    chance = np.outer(found.sum(axis=1), found.sum(axis=0)) / len(a)
    apart = np.abs(np.arange(size)[:, None] - np.arange(size))
    cost = {None: apart > 0, "linear": apart, "quadratic": apart**2}[weights]
    expected = float(np.sum(cost * chance))
    return 1.0 - float(np.sum(cost * found)) / expected if expected > 0 else None


def fleiss_kappa(counts: np.ndarray) -> float | None:
    """How far many annotators agree on categories beyond chance, whoever scored which pair.

    counts: (pairs, categories), how many annotators put a pair into a category, as `category_counts` gives
    them. Where pairs have different numbers of annotators, each pair weighs the same; pairs with one score tell
    only how common the categories are, pairs without any are left out. None when no pair has two scores, or
    when only one category is in use. ValueError for another shape, or for counts that are negative or not whole.
    Source: Fleiss (1971), Measuring Nominal Scale Agreement Among Many Raters; different numbers:
    Gwet (2014), Handbook of Inter-Rater Reliability, 4th edition.
    """
    counts = np.asarray(counts, dtype=np.float64)
    if counts.ndim != 2:
        raise ValueError(f"counts has shape {counts.shape}, not (pairs, categories)")
    if not np.all((counts >= 0) & (counts == np.floor(counts)) & np.isfinite(counts)):
        raise ValueError("counts must be whole numbers, 0 or more")
    counts = counts[counts.sum(axis=1) > 0]
    sizes = counts.sum(axis=1)
    several = sizes >= 2
    if not several.any() or np.count_nonzero(counts.sum(axis=0)) < 2:
        return None
    alike = np.sum(counts * (counts - 1.0), axis=1)[several]
    agreed = float(np.mean(alike / (sizes * (sizes - 1.0))[several]))
    shares = np.mean(counts / sizes[:, None], axis=0)
    by_chance = float(shares @ shares)
    return (agreed - by_chance) / (1.0 - by_chance)


def weighted_fleiss_kappa(weights: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Fleiss' κ of populations in which each pair occurs `weights` times.

    weights: (populations, pairs). counts: (pairs, categories), two scores or more of each pair. Whole weights give what
    repeating the pairs would. NaN: only one category is in use.
    """
    counts = np.asarray(counts, dtype=np.float64)
    sizes = counts.sum(axis=1)
    alike = np.sum(counts * (counts - 1.0), axis=1) / (sizes * (sizes - 1.0))
    total = weights.sum(axis=1)
    agreed = weights @ alike / total
    shares = (weights @ (counts / sizes[:, None])) / total[:, None]
    by_chance = np.sum(shares**2, axis=1)
    several = np.count_nonzero(shares, axis=1) > 1
    found = np.full(len(weights), np.nan)
    return np.divide(agreed - by_chance, 1.0 - by_chance, out=found, where=several)


def category_counts(
    scores: np.ndarray, categories: Sequence[float] | np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The categories of a score table, ascending, and how many annotators put each pair into each.

    scores: (annotators, pairs), NaN where not scored. categories: all levels, by default those in use. Returns
    (categories,) and (pairs, categories). ValueError for a score outside categories.
    """
    table = score_table(scores)
    given = ~np.isnan(table)
    used = _categories(table[given], categories)
    counts = np.zeros((table.shape[1], len(used)), dtype=np.int64)
    np.add.at(counts, (np.nonzero(given)[1], _positions(table[given], used)), 1)
    return used, counts


def _categories(values: np.ndarray, categories: Sequence[Any] | np.ndarray | None) -> np.ndarray:
    found = np.unique(values)
    if categories is None:
        return found
    named = np.asarray(categories)
    unknown = found[~np.isin(found, named)]
    if len(unknown):
        raise ValueError(f"{unknown.tolist()[0]!r} is not one of the categories {named.tolist()}")
    if len(np.unique(named)) < len(named):
        raise ValueError(f"a category is named twice in {named.tolist()}")
    return named


def _positions(values: np.ndarray, categories: np.ndarray) -> np.ndarray:
    """Where each value stands in categories, in whatever order those are."""
    order = np.argsort(categories)
    return order[np.searchsorted(categories, values, sorter=order)]
