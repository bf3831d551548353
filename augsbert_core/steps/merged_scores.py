"""One score for each pair of a task, from the scores of all who gave one."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from augsbert_core import metrics
from augsbert_core.steps.best_worst_results import best_worst_results
from augsbert_core.storage import annotations
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import AnnotationTask

WAYS = {
    "mean": "Mean of all scores",
    "median": "Median of all scores",
    "adjudicated": "Adjudicated, else the mean of scores that agree",
}
"""How one score is made of several."""

AGREED = 0.1
"""Scores no further apart than this part of the scale agree: half a step of 0 to 5."""

ROUNDING = 1e-9
"""Scores that are no further apart are one score."""


@dataclass(frozen=True)
class Found:
    """One score in [0, 1] for each row of items, what has none and why, and what there is to say."""

    items: pd.DataFrame
    scores: np.ndarray
    left_out: dict[str, int]
    notes: list[str]


def merged_scores(workspace: Workspace, task: AnnotationTask, how: str, fewest: int) -> Found:
    """The scores of a task merged in one of `WAYS`, of best-worst tasks by counting; see `plan_merge`.

    fewest: pairs with fewer scores (best-worst: times judged) are left out, unless adjudicated.
    """
    if task.kind == "best-worst":
        results = best_worst_results(workspace, task.id)
        return _enough(results.items, results.scores, results.appearances, fewest, {}, [])
    matrix = annotations.score_matrix(workspace, task.id)
    items = matrix.items.reset_index(drop=True)
    table = np.asarray(matrix.scores, dtype=np.float64).reshape(-1, len(items))
    merged, counts = metrics.merge(table, "median" if how == "median" else "mean")
    settled = items["adjudicated_score"].to_numpy(dtype=np.float64)
    given = ~np.isnan(settled)
    left_out: dict[str, int] = {}
    notes: list[str] = []
    if how != "adjudicated":
        if given.any():
            notes.append(
                f"{int(given.sum()):,} adjudicated scores are not used: the {how} of all scores is taken."
            )
        return _enough(items, merged, counts, fewest, left_out, notes)
    width = metrics.disagreement(table).width
    limit = AGREED if len(task.levels) > 2 else 0.0
    apart = ~given & (counts >= fewest) & (np.nan_to_num(width) > limit + ROUNDING)
    count(left_out, "have scores that are apart and no adjudicated one", int(apart.sum()))
    merged = np.where(given, settled, merged)
    # What is adjudicated counts, however few have scored it.
    counts = np.where(given, np.maximum(counts, fewest), counts)
    keep = ~apart
    return _enough(items[keep], merged[keep], counts[keep], fewest, left_out, notes)


def _enough(
    items: pd.DataFrame,
    scores: np.ndarray,
    counts: np.ndarray,
    fewest: int,
    left_out: dict[str, int],
    notes: list[str],
) -> Found:
    """Only the pairs with enough scores."""
    none, few = counts == 0, (counts > 0) & (counts < fewest)
    count(left_out, "have no score yet", int(none.sum()))
    count(left_out, f"have fewer than {fewest} scores", int(few.sum()))
    keep = ~(none | few)
    return Found(items[keep].reset_index(drop=True), scores[keep], left_out, notes)


def count(left_out: dict[str, int], reason: str, n_pairs: int) -> None:
    """Add pairs to those that are left out for a reason."""
    if n_pairs:
        left_out[reason] = left_out.get(reason, 0) + n_pairs
