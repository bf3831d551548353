"""What the answers of a best-worst task amount to: a score for each pair, and how far to trust it."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from augsbert_core import best_worst
from augsbert_core.storage import annotation_tasks, annotations, best_worst_answers
from augsbert_core.storage.database import Workspace

SEED = 66
N_SPLITS = 100
RECOMMENDED_TUPLES = 4
"""Per pair: the fewest that reach 95 % of the order that endless answers would give (docs/results.md)."""
PAPER_RELIABILITY = 0.66
"""Mean split-half reliability of the best-worst set of Thakur et al. (2021)."""


@dataclass(frozen=True)
class BestWorstResults:
    """One score per pair from all answers so far.

    items: a row per pair, as in `annotations.ScoreMatrix`. scores: in [0, 1], NaN for a pair that nobody judged;
    appearances: how often each was judged. judges: name → answers. reliability: None where reason says why.
    tuples_per_pair: of the design.
    """

    task_id: int
    items: pd.DataFrame
    scores: np.ndarray
    appearances: np.ndarray
    judges: dict[str, int]
    n_tuples: int
    n_answered: int
    reliability: best_worst.Reliability | None
    reason: str

    @property
    def n_answers(self) -> int:
        """Answers of everyone together."""
        return sum(self.judges.values())

    @property
    def tuples_per_pair(self) -> float:
        return self.n_tuples / len(self.items) if len(self.items) else 0.0


def best_worst_results(workspace: Workspace, task_id: int) -> BestWorstResults:
    """Scores, counts and split-half reliability of a best-worst task as it stands; the same whenever asked.

    Reliability needs tuples that two judges have answered.
    """
    given = best_worst_answers.answers(workspace, task_id)
    items = annotations.score_matrix(workspace, task_id).items
    n_pairs = len(items)
    answers = (given.tuples, given.best, given.worst)
    names, counts = np.unique(given.judges.astype(str), return_counts=True)
    n_answered = len(np.unique(np.sort(given.tuples, axis=1), axis=0))
    reliability = best_worst.split_half_reliability(
        given.tuples,
        given.judges.astype(str),
        given.best,
        given.worst,
        n_pairs,
        np.random.default_rng(SEED),
        N_SPLITS,
    )
    return BestWorstResults(
        task_id,
        items,
        best_worst.to_unit(best_worst.score(*answers, n_pairs)),
        best_worst.appearances(given.tuples, n_pairs),
        dict(zip(names.tolist(), counts.tolist(), strict=True)),
        annotation_tasks.get_task(workspace, task_id).n_tuples,
        n_answered,
        reliability,
        "" if reliability is not None else _why(len(names), len(given), n_answered),
    )


def _why(n_judges: int, n_answers: int, n_answered: int) -> str:
    if not n_answers:
        return "Nobody has answered a tuple yet."
    if n_judges < 2:
        return "Only one person has answered. Split-half reliability needs tuples that two people answered."
    if n_answers == n_answered:
        return "No tuple was answered by two people. Split-half reliability needs such tuples."
    return "Too few pairs have scores from both halves of the judges, or their scores do not vary."
