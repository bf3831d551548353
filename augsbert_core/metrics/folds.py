"""Folds for out-of-fold scores: pairs that share a sentence belong together."""

from dataclasses import dataclass

import numpy as np

from augsbert_core.pairs import pair_codes

LARGEST_SHARE = 1.5
"""Up to so many times an equal share of the pairs, a group of pairs that hang together still fits into a fold."""


@dataclass(frozen=True)
class Folds:
    """fold: int64 from 0, one for each pair. by: "sentences" (no sentence is in two folds), or "pairs" (only rows of the
    same pair are kept together). largest: the share of pairs that sentences connect with each other at most."""

    fold: np.ndarray
    by: str
    largest: float


def grouped_folds(
    first: np.ndarray, second: np.ndarray, n_folds: int, rng: np.random.Generator
) -> Folds:
    """Deal pairs into folds of about one size so that no sentence is in two of them, where that can be done.

    Where sentences connect too many pairs, the folds keep only repeats of a pair together. first, second: sentence
    ids. ValueError: fewer pairs than folds, or fewer than two folds.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    n_pairs = len(first)
    if not 2 <= n_folds <= n_pairs:
        raise ValueError(f"{n_pairs} pairs cannot be dealt into {n_folds} folds")
    ids, places = np.unique(np.concatenate([first, second]), return_inverse=True)
    one, other = places[:n_pairs], places[n_pairs:]
    links = coo_matrix((np.ones(n_pairs), (one, other)), shape=(len(ids), len(ids)))
    _, component = connected_components(links, directed=False)
    _, groups = np.unique(component[one], return_inverse=True)
    largest = float(np.bincount(groups).max()) / n_pairs
    by = "sentences"
    if largest > LARGEST_SHARE / n_folds or groups.max() + 1 < n_folds:
        by = "pairs"
        _, groups = np.unique(pair_codes(first, second), return_inverse=True)
    sizes = np.bincount(groups)
    order = rng.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    filled = np.zeros(n_folds, dtype=np.int64)
    home = np.zeros(len(sizes), dtype=np.int64)
    for group in order.tolist():  # the largest first, each to the emptiest fold
        home[group] = int(filled.argmin())
        filled[home[group]] += sizes[group]
    return Folds(home[groups], by, largest)
