"""Triplets: an anchor, a sentence that is close to it, and one that is not."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sqlite_utils import Database

from augsbert_core.pairs import TrainingRows
from augsbert_core.storage.database import Workspace, columns, reading
from augsbert_core.storage.runs import ImportRecord
from augsbert_core.storage.sentences import add_sentence_rows, rows_of_ids

INSERT_SQL = """
INSERT INTO triplet (project_id, run_id, anchor_id, positive_id, negative_id, source_line)
VALUES (?, ?, ?, ?, ?, ?)
"""


def add_triplets(
    store: Workspace | Database,
    project_id: int,
    rows: Sequence[tuple[str, ...]],
    lines: Sequence[int],
    *,
    record: ImportRecord,
    metrics: Mapping[str, Any],
) -> int:
    """Write one import, all of its rows or none; returns its run's id. rows: (anchor, positive, negative)."""
    return add_sentence_rows(
        store, project_id, INSERT_SQL, rows, lines, n_texts=3, record=record, metrics=metrics
    )


def triplet_training_rows(workspace: Workspace, project_id: int) -> TrainingRows:
    """All triplets of a project, in the order of their import: three columns, every label 0."""
    with reading(workspace) as db:
        found = columns(
            db,
            "SELECT anchor_id, positive_id, negative_id FROM triplet WHERE project_id = ? ORDER BY id",
            [project_id],
            np.int64,
        )
        return rows_of_ids(db, found, np.zeros(found.shape[1], dtype=np.float32))


def count_triplets(workspace: Workspace, project_id: int) -> int:
    """How many triplets a project has."""
    with reading(workspace) as db:
        row = db.execute("SELECT count(*) FROM triplet WHERE project_id = ?", [project_id])
        return int(row.fetchone()[0])
