"""What another model says about every pair of a silver set, to be held against the labeler."""

from dataclasses import dataclass

import numpy as np
from sqlite_utils import Database

from augsbert_core.errors import WorkbenchError
from augsbert_core.pairs import TrainingRows
from augsbert_core.storage.database import Workspace, columns, reading, writing
from augsbert_core.storage.sentences import rows_of_ids


@dataclass(frozen=True)
class Student:
    """A model that has scored a silver set. model: a target, "run:7". n_pairs: those with the lowest ids."""

    model: str
    run_id: int
    n_pairs: int


def newest_student(db: Database, set_id: int) -> Student | None:
    """The model that scored the set last, None when none has."""
    row = db.execute(
        "SELECT model, run_id, n_pairs FROM silver_student WHERE silver_set_id = ?"
        " ORDER BY run_id DESC LIMIT 1",
        [set_id],
    ).fetchone()
    return Student(*row) if row else None


def read_scores(db: Database, set_id: int, model: str) -> np.ndarray:
    """A model's scores in [0, 1], float32, in the order of the ids of the pairs; ValueError: there are none."""
    row = db.execute(
        "SELECT scores FROM silver_student WHERE silver_set_id = ? AND model = ?", [set_id, model]
    ).fetchone()
    if row is None:
        raise ValueError(f"{model} has not scored silver set {set_id}")
    return np.frombuffer(row[0], dtype="<f4")


def pairs_to_score(workspace: Workspace, set_id: int) -> tuple[np.ndarray, TrainingRows]:
    """The pairs of a silver set in the order of their ids: ids (int64), and their sentences, each text once.

    Rejected pairs are among them; labels: the labeler's own scores.
    """
    with reading(workspace) as db:
        ids, first, second, scores = columns(
            db,
            "SELECT id, sentence1_id, sentence2_id, score FROM silver_pair WHERE silver_set_id = ?",
            [set_id],
            np.float64,
        )
        order = np.argsort(ids)
        pairs = np.stack([first[order], second[order]]).astype(np.int64)
        return ids[order].astype(np.int64), rows_of_ids(db, pairs, scores[order])


def save_scores(
    workspace: Workspace, set_id: int, model: str, run_id: int, scores: np.ndarray
) -> None:
    """Keep a model's scores of a set, in place of those that it gave before.

    scores: in [0, 1], in the order of `pairs_to_score`. WorkbenchError: the set was deleted meanwhile.
    """
    values = scores.astype("<f4").tobytes()
    with writing(workspace) as db:
        written = db.execute(
            "INSERT OR REPLACE INTO silver_student (silver_set_id, model, run_id, n_pairs, scores)"
            " SELECT id, ?, ?, ?, ? FROM silver_set WHERE id = ? AND NOT deleting",
            [model, run_id, len(scores), values, set_id],
        ).rowcount
    if written < 1:
        raise WorkbenchError(f"Silver set {set_id} was deleted meanwhile. Choose another one.")
