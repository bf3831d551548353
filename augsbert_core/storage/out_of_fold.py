"""Gold pairs with the scores of models that were not trained on them: the base of the search for label errors."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from augsbert_core.storage.database import Workspace, reading, writing
from augsbert_core.storage.gold import ORDERED_SQL
from augsbert_core.storage.records import Run
from augsbert_core.storage.runs import list_runs

WITHOUT_FOLD = 0
"""The fold of pairs of dev and test, which no model was trained on."""


@dataclass(frozen=True)
class GoldRows:
    """All gold pairs of a project as parallel columns, in the order and direction of their files.

    ids, first, second: int64; scores: float64 in [0, 1].
    """

    ids: np.ndarray
    first: np.ndarray
    second: np.ndarray
    sentences1: list[str]
    sentences2: list[str]
    scores: np.ndarray
    splits: list[str]

    def __len__(self) -> int:
        return len(self.ids)


def gold_rows(workspace: Workspace, project_id: int) -> GoldRows:
    """The gold pairs of every split."""
    with reading(workspace) as db:
        rows = db.execute(
            "SELECT page.id, gold_pair.sentence1_id, gold_pair.sentence2_id, sentence1, sentence2, page.score,"
            f" page.split FROM ({ORDERED_SQL}) AS page JOIN gold_pair USING (id) ORDER BY page.id",
            {"project": project_id},
        ).fetchall()
    numbers = np.array([row[:3] for row in rows], dtype=np.int64).reshape(-1, 3)
    return GoldRows(
        numbers[:, 0],
        numbers[:, 1],
        numbers[:, 2],
        [row[3] for row in rows],
        [row[4] for row in rows],
        np.array([row[5] for row in rows], dtype=np.float64),
        [row[6] for row in rows],
    )


def save_scores(
    workspace: Workspace,
    run_id: int,
    gold_pair_ids: np.ndarray,
    folds: np.ndarray,
    gold_scores: np.ndarray,
    scores: np.ndarray,
) -> None:
    """Keep what models that have not seen these pairs say about them; said again, the new score stands.

    folds: from 1; `WITHOUT_FOLD` for the mean of all models. gold_scores: those that the models were trained beside.
    """
    columns = (gold_pair_ids, folds, gold_scores, np.clip(scores, 0.0, 1.0))
    rows = zip(*(np.asarray(column).tolist() for column in columns), strict=True)
    with writing(workspace) as db:
        db.conn.executemany(
            "INSERT OR REPLACE INTO out_of_fold (run_id, gold_pair_id, fold, gold_score, score)"
            " VALUES (?, ?, ?, ?, ?)",
            ((run_id, *row) for row in rows),
        )


READ_SQL = f"""
SELECT gold_pair_id, fold, out_of_fold.gold_score, out_of_fold.score AS model_score, page.score, raw_score, raw_label,
  split, source_file, source_line, sentence1, sentence2
FROM out_of_fold JOIN ({ORDERED_SQL}) AS page ON page.id = gold_pair_id
WHERE out_of_fold.run_id = :run ORDER BY gold_pair_id
"""


def read_scores(workspace: Workspace, run: Run) -> pd.DataFrame:
    """What a run has found so far, one row per gold pair that is still there.

    Columns: gold_pair_id, fold, gold_score (when it was scored) and model_score, score and raw_score (now), raw_label,
    split, source_file, source_line, sentence1, sentence2.
    """
    with reading(workspace) as db:
        cursor = db.execute(READ_SQL, {"run": run.id, "project": run.project_id})
        names = [column[0] for column in cursor.description]
        return pd.DataFrame([tuple(row) for row in cursor], columns=names)


def newest_search(workspace: Workspace, project_id: int) -> Run | None:
    """The last finished search for label errors, None when there was none."""
    return next(iter(list_runs(workspace, project_id, "label-errors")), None)


def present_scores(
    workspace: Workspace, gold_pair_ids: Sequence[int]
) -> dict[int, tuple[float, str]]:
    """Raw score and raw label of these gold pairs as they are now; those that are gone are left out."""
    with reading(workspace) as db:
        rows = db.execute(
            "SELECT id, raw_score, raw_label FROM gold_pair WHERE id IN (SELECT value FROM json_each(?))",
            [json.dumps([int(number) for number in gold_pair_ids])],
        )
        return {int(row[0]): (float(row[1]), str(row[2])) for row in rows}
