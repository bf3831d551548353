"""Copies of gold pairs with words replaced, stored as a candidate set and its silver set at once."""

import json
from collections.abc import Sequence

from sqlite_utils import Database

from augsbert_core.pairs import pair_key, sentence_key
from augsbert_core.storage.database import Workspace, now, reading, writing
from augsbert_core.storage.sentences import intern_sentences
from augsbert_core.storage.silver_bins import count_in, unreviewed_counts
from augsbert_core.storage.silver_sets import NEXT_ID_SQL

STRATEGY = "nlpaug"

SILVER_SQL = """
INSERT INTO silver_pair (silver_set_id, sentence1_id, sentence2_id, id, score, raw_score, final_score)
VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?5)
"""


def augmented_set_of_run(workspace: Workspace, run_id: int) -> int | None:
    """The silver set that a run has made, if it came that far."""
    with reading(workspace) as db:
        row = db.execute("SELECT id FROM silver_set WHERE run_id = ?", [run_id]).fetchone()
    return int(row[0]) if row else None


def add_augmented_set(
    workspace: Workspace,
    project_id: int,
    run_id: int,
    copies: Sequence[tuple[str, str, float]],
    *,
    model: str,
    notices: Sequence[str] = (),
) -> int:
    """Store the copies, all or none; returns the silver set's id.

    copies: sentences and score in [0, 1], no pair twice (in either order) and none of a sentence with itself.
    No labeler was asked, so the set rests on no pass.
    """
    with writing(workspace) as db:
        ids = intern_sentences(db, project_id, (text for copy in copies for text in copy[:2]))
        rows = sorted(
            (*pair_key(ids[sentence_key(first)], ids[sentence_key(second)]), float(score))
            for first, second, score in copies
        )
        candidate_set = _insert_candidates(db, project_id, run_id, rows, len(ids), notices)
        cursor = db.execute(
            "INSERT INTO silver_set (project_id, run_id, candidate_set_id, labeler, n_passes, created_at)"
            " VALUES (?, ?, ?, ?, 0, ?)",
            [project_id, run_id, candidate_set, f"{STRATEGY}:{model}", now()],
        )
        silver_set = int(cursor.lastrowid or 0)
        first_id = db.execute(NEXT_ID_SQL).fetchone()[0]
        db.conn.executemany(
            SILVER_SQL,
            (
                (silver_set, first, second, number, score)
                for number, (first, second, score) in enumerate(rows, first_id)
            ),
        )
        scores = [score for _, _, score in rows]
        count_in(db, silver_set, unreviewed_counts([None] * len(rows), scores))
    return silver_set


def _insert_candidates(
    db: Database,
    project_id: int,
    run_id: int,
    rows: Sequence[tuple[int, int, float]],
    n_sentences: int,
    notices: Sequence[str],
) -> int:
    cursor = db.execute(
        "INSERT INTO candidate_set (project_id, run_id, strategy, corpus_size, n_pairs, notices,"
        " created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [project_id, run_id, STRATEGY, n_sentences, len(rows), json.dumps(list(notices)), now()],
    )
    set_id = int(cursor.lastrowid or 0)
    db.conn.executemany(
        "INSERT INTO candidate_pair (candidate_set_id, sentence1_id, sentence2_id) VALUES (?, ?, ?)",
        ((set_id, first, second) for first, second, _ in rows),
    )
    return set_id
