"""Triplets: an anchor, a sentence that is close to it, and one that is not."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sqlite_utils import Database

from augsbert_core.pairs import TrainingRows, sentence_key
from augsbert_core.storage.database import Workspace, columns, reading, writing
from augsbert_core.storage.runs import ImportRecord, insert_finished_run
from augsbert_core.storage.sentences import intern_sentences

INSERT_SQL = """
INSERT INTO triplet (project_id, run_id, anchor_id, positive_id, negative_id, source_line)
VALUES (?, ?, ?, ?, ?, ?)
"""


def add_triplets(
    workspace: Workspace,
    project_id: int,
    rows: Sequence[tuple[str, ...]],
    lines: Sequence[int],
    *,
    record: ImportRecord,
    metrics: Mapping[str, Any],
) -> int:
    """Write one import, all of its rows or none; returns its run's id. rows: (anchor, positive, negative)."""
    with writing(workspace) as db:
        run_id = insert_finished_run(db, project_id, record, metrics)
        ids = intern_sentences(db, project_id, (text for row in rows for text in row))
        db.conn.executemany(
            INSERT_SQL,
            (
                (project_id, run_id, *(ids[sentence_key(text)] for text in row), line)
                for row, line in zip(rows, lines, strict=True)
            ),
        )
    return run_id


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


def rows_of_ids(db: Database, found: np.ndarray, labels: np.ndarray) -> TrainingRows:
    """Training rows from sentence ids, each sentence read once. found: int64, shape (columns, rows)."""
    ids, places = np.unique(found, return_inverse=True)
    if not len(ids):
        return TrainingRows([], found.reshape(len(found), 0), labels)
    db.execute("CREATE TEMP TABLE wanted (id INTEGER PRIMARY KEY)")
    db.conn.executemany("INSERT INTO temp.wanted VALUES (?)", ((row,) for row in ids.tolist()))
    cursor = db.execute("SELECT text FROM temp.wanted JOIN sentence USING (id) ORDER BY id")
    texts = [text for (text,) in cursor]
    if len(texts) != len(ids):
        raise ValueError(f"{len(ids) - len(texts)} sentences of training rows are not in the store")
    return TrainingRows(texts, places.reshape(found.shape).astype(np.int64), labels)
