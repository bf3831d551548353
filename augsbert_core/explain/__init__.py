"""Results in plain sentences: numbers in, two to four sentences out, for "What happened here?" on every page.

What is undefined is None or NaN, and then the text says so. No function reads a store or computes a result anew.
"""

from augsbert_core.explain.comparing import (
    Group,
    compared,
    learning_curve,
    reranked,
    two_groups,
)
from augsbert_core.explain.data import gold_pairs, imported
from augsbert_core.explain.densities import (
    kept_by_class,
    kept_by_density,
    silver_density,
    strategies,
    thirds,
    top_k,
)
from augsbert_core.explain.people import (
    Estimate,
    agreement,
    audit,
    best_worst,
    label_errors,
    relabelled,
)
from augsbert_core.explain.sampling import candidates, labels
from augsbert_core.explain.training import gate, labeler, seed_study, student
from augsbert_core.explain.trying import searched, tried_pair

__all__ = [
    "Estimate",
    "Group",
    "agreement",
    "audit",
    "best_worst",
    "candidates",
    "compared",
    "gate",
    "gold_pairs",
    "imported",
    "kept_by_class",
    "kept_by_density",
    "label_errors",
    "labeler",
    "labels",
    "learning_curve",
    "relabelled",
    "reranked",
    "searched",
    "seed_study",
    "silver_density",
    "strategies",
    "student",
    "thirds",
    "top_k",
    "tried_pair",
    "two_groups",
]
