"""Sentences: one row per text of a project, however many pairs it occurs in."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from sqlite_utils import Database

from augsbert_core.importing.texts import Numbered, number_sentences
from augsbert_core.pairs import TrainingRows, sentence_key
from augsbert_core.progress import Report, ShouldStop, never, silent, stop_if
from augsbert_core.storage.bulk import adding_rows
from augsbert_core.storage.database import Workspace, joining, reading
from augsbert_core.storage.runs import ImportRecord, insert_finished_run

CHUNK = 20_000
"""So many sentences are written between two looks at whether to stop."""


def intern_sentences(db: Database, project_id: int, texts: Iterable[str]) -> dict[str, int]:
    """Give every text its sentence id, adding those that are new; returns `sentence_key` → id.

    The first spelling of a sentence is the one kept for display.
    """
    known = number_sentences([list(texts)])
    ids = number_to_id(db, project_id, known)
    return dict(zip(known.keys, ids.tolist(), strict=True))


def number_to_id(
    db: Database,
    project_id: int,
    known: Numbered,
    *,
    report: Report = silent,
    should_stop: ShouldStop = never,
) -> np.ndarray:
    """The id of each numbered sentence as int64, those that are new added in their order.

    Ids are given out here, not by SQLite, so that none has to be read back.
    """
    stored = dict(
        map(tuple, db.execute("SELECT key, id FROM sentence WHERE project_id = ?", [project_id]))
    )
    row = db.execute("SELECT max(seq) FROM sqlite_sequence WHERE name = 'sentence'").fetchone()
    first = (row[0] or 0) + 1
    new = (
        [number for number, key in enumerate(known.keys) if key not in stored]
        if stored
        else range(len(known.keys))
    )
    with adding_rows(db, "sentence", len(new)):
        for start in range(0, len(new), CHUNK):
            stop_if(should_stop)
            part = new[start : start + CHUNK]
            db.conn.executemany(
                "INSERT INTO sentence (id, project_id, key, text) VALUES (?, ?, ?, ?)",
                zip(
                    range(first + start, first + start + len(part)),
                    [project_id] * len(part),
                    [known.keys[number] for number in part],
                    [known.spellings[number] for number in part],
                    strict=True,
                ),
            )
            report(
                (start + len(part)) / len(new),
                f"{start + len(part):,} of {len(new):,} sentences written",
            )
    if not stored:
        return np.arange(first, first + len(new))
    ids = np.array([stored.get(key, 0) for key in known.keys], dtype=np.int64)
    ids[np.asarray(new, dtype=np.int64)] = np.arange(first, first + len(new))
    return ids


def add_unlabelled_sentences(
    store: Workspace | Database,
    project_id: int,
    texts: Sequence[str],
    *,
    record: ImportRecord,
    metrics: Mapping[str, Any],
) -> tuple[int, int]:
    """Add sentences for sampling, all or none; returns the import's run id and how many were new."""
    with joining(store) as db:
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


def add_sentence_rows(
    store: Workspace | Database,
    project_id: int,
    insert_sql: str,
    rows: Sequence[tuple[str, ...]],
    lines: Sequence[int],
    *,
    n_texts: int,
    record: ImportRecord,
    metrics: Mapping[str, Any],
) -> int:
    """Write one import of rows of sentences, all of its rows or none; returns its run's id.

    n_texts: so many columns of a row are sentences, the rest is stored as it is. insert_sql: takes the project, the
    run, the ids of the sentences, the rest and the line.
    """
    with joining(store) as db:
        run_id = insert_finished_run(db, project_id, record, metrics)
        ids = intern_sentences(db, project_id, (text for row in rows for text in row[:n_texts]))
        db.conn.executemany(
            insert_sql,
            (
                (
                    project_id,
                    run_id,
                    *(ids[sentence_key(text)] for text in row[:n_texts]),
                    *row[n_texts:],
                    line,
                )
                for row, line in zip(rows, lines, strict=True)
            ),
        )
    return run_id


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
