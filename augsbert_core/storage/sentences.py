"""Sentences: one row per text of a project, however many pairs it occurs in."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from sqlite_utils import Database

from augsbert_core.pairs import sentence_key
from augsbert_core.storage.database import Workspace, reading, writing
from augsbert_core.storage.runs import ImportRecord, insert_finished_run


def intern_sentences(db: Database, project_id: int, texts: Iterable[str]) -> dict[str, int]:
    """Give every text its sentence id, adding those that are new; returns `sentence_key` → id.

    The first spelling of a sentence is the one kept for display.
    """
    spelling: dict[str, str] = {}
    for text in texts:
        spelling.setdefault(sentence_key(text), text.strip())
    db.conn.executemany(
        "INSERT OR IGNORE INTO sentence (project_id, key, text) VALUES (?, ?, ?)",
        ((project_id, key, text) for key, text in spelling.items()),
    )
    rows = db.execute("SELECT key, id FROM sentence WHERE project_id = ?", [project_id])
    return {key: row_id for key, row_id in rows if key in spelling}


def add_unlabelled_sentences(
    workspace: Workspace,
    project_id: int,
    texts: Sequence[str],
    *,
    record: ImportRecord,
    metrics: Mapping[str, Any],
) -> tuple[int, int]:
    """Add sentences for sampling, all or none; returns the import's run id and how many were new."""
    with writing(workspace) as db:
        run_id = insert_finished_run(db, project_id, record, metrics)
        ids = set(intern_sentences(db, project_id, texts).values())
        before = _count_unlabelled(db, project_id)
        db.conn.executemany(
            "UPDATE sentence SET unlabelled_run_id = ? WHERE id = ? AND unlabelled_run_id IS NULL",
            ((run_id, row_id) for row_id in ids),
        )
        new = _count_unlabelled(db, project_id) - before
    return run_id, new


def _count_unlabelled(db: Database, project_id: int) -> int:
    return int(
        db.execute(
            "SELECT count(*) FROM sentence WHERE project_id = ? AND is_unlabelled",
            [project_id],
        ).fetchone()[0]
    )


def sampling_corpus(
    workspace: Workspace, project_id: int, *, use_unlabelled: bool
) -> tuple[np.ndarray, list[str]]:
    """What may be sampled from: training sentences and, if asked, unlabelled ones; never dev or test.

    Returns ids (int64, ascending) and texts. A sentence of dev or test stays out even when it also
    occurs in train or among the unlabelled sentences.
    """
    with reading(workspace) as db:
        rows = db.execute(
            CORPUS_SQL, {"project": project_id, "unlabelled": use_unlabelled}
        ).fetchall()
    return np.array([row[0] for row in rows], dtype=np.int64), [row[1] for row in rows]


CORPUS_SQL = """
WITH used AS (
  SELECT sentence1_id AS id, split FROM gold_pair WHERE project_id = :project
  UNION SELECT sentence2_id, split FROM gold_pair WHERE project_id = :project
)
SELECT id, text FROM sentence
WHERE project_id = :project
  AND (id IN (SELECT id FROM used WHERE split = 'train') OR (:unlabelled AND is_unlabelled))
  AND id NOT IN (SELECT id FROM used WHERE split IN ('dev', 'test'))
ORDER BY id
"""


def corpus_size(workspace: Workspace, project_id: int, *, use_unlabelled: bool) -> int:
    """How many sentences `sampling_corpus` returns."""
    with reading(workspace) as db:
        row = db.execute(
            f"SELECT count(*) FROM ({CORPUS_SQL})",
            {"project": project_id, "unlabelled": use_unlabelled},
        ).fetchone()
    return int(row[0])
