"""Candidate sets: sampled pairs with where they came from."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sqlite_utils import Database

from augsbert_core.errors import WorkbenchError
from augsbert_core.pairs import pair_key, sentence_key
from augsbert_core.storage.database import Workspace, now, reading, writing
from augsbert_core.storage.queue import refuse_while_at_work
from augsbert_core.storage.records import CandidateSet
from augsbert_core.storage.records import record as record_of
from augsbert_core.storage.runs import ImportRecord, insert_finished_run
from augsbert_core.storage.sentences import intern_sentences


def add_candidate_set(
    workspace: Workspace,
    project_id: int,
    run_id: int,
    *,
    strategy: str,
    corpus_size: int,
    first: np.ndarray,
    second: np.ndarray,
    rank: np.ndarray | None = None,
    sampler_score: np.ndarray | None = None,
    notices: Sequence[str] = (),
) -> int:
    """Store one sampler's pairs (ids with first < second, none twice) in one transaction."""
    n_pairs = len(first)
    ranks = [None] * n_pairs if rank is None else rank.tolist()
    scores = [None] * n_pairs if sampler_score is None else sampler_score.tolist()
    with writing(workspace) as db:
        set_id = _insert_set(db, project_id, run_id, strategy, corpus_size, n_pairs, notices)
        rows = zip(first.tolist(), second.tolist(), ranks, scores, strict=True)
        db.conn.executemany(
            "INSERT INTO candidate_pair VALUES (?, ?, ?, ?, ?)",
            ((set_id, *row) for row in rows),
        )
        if db.execute(UNKNOWN_SQL, {"set": set_id, "project": project_id}).fetchone():
            raise WorkbenchError(
                "Sentences were removed from the project while pairs were sampled. Sample again."
            )
    return set_id


def add_uploaded_pairs(
    workspace: Workspace,
    project_id: int,
    pairs: Sequence[tuple[str, str]],
    *,
    record: ImportRecord,
    metrics: Mapping[str, Any],
) -> tuple[int, int, list[str]]:
    """Store a file's unlabelled pairs as one candidate set; returns its run id, its size and notices.

    Left out, and counted in the notices: repeats in either order, a sentence with itself, gold pairs, and
    pairs with a sentence of dev or test.
    """
    with writing(workspace) as db:
        ids = intern_sentences(db, project_id, (text for pair in pairs for text in pair))
        gold = {
            tuple(row)
            for row in db.execute(
                "SELECT sentence1_id, sentence2_id FROM gold_pair WHERE project_id = ?",
                [project_id],
            )
        }
        held_out = {row[0] for row in db.execute(HELD_OUT_SQL, {"project": project_id})}
        kept: dict[tuple[int, int], None] = {}
        left_out: Counter[str] = Counter()
        for first, second in pairs:
            key = pair_key(ids[sentence_key(first)], ids[sentence_key(second)])
            if key[0] == key[1]:
                left_out["pair a sentence with itself"] += 1
            elif key in gold:
                left_out["are gold pairs"] += 1
            elif held_out.intersection(key):
                left_out["have a sentence of the dev or test split"] += 1
            elif key in kept:
                left_out["repeat an earlier pair"] += 1
            else:
                kept[key] = None
        notices = [f"{count:,} pairs {why} and were left out." for why, count in left_out.items()]
        if not kept:
            raise WorkbenchError("None of the pairs can be used. " + " ".join(notices))
        metrics = {**metrics, "pairs_kept": len(kept), "notices": notices}
        run_id = insert_finished_run(db, project_id, record, metrics)
        size = len({sentence for key in kept for sentence in key})
        set_id = _insert_set(db, project_id, run_id, "uploaded", size, len(kept), notices)
        db.conn.executemany(
            "INSERT INTO candidate_pair VALUES (?, ?, ?, NULL, NULL)",
            ((set_id, *key) for key in kept),
        )
    return run_id, len(kept), notices


HELD_OUT_SQL = """
SELECT sentence1_id FROM gold_pair WHERE project_id = :project AND split IN ('dev', 'test')
UNION SELECT sentence2_id FROM gold_pair WHERE project_id = :project AND split IN ('dev', 'test')
"""


def _insert_set(
    db: Database,
    project_id: int,
    run_id: int,
    strategy: str,
    corpus_size: int,
    n_pairs: int,
    notices: Sequence[str],
) -> int:
    cursor = db.execute(
        "INSERT INTO candidate_set (project_id, run_id, strategy, corpus_size, n_pairs, notices,"
        " created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [project_id, run_id, strategy, corpus_size, n_pairs, json.dumps(list(notices)), now()],
    )
    return int(cursor.lastrowid or 0)


def list_candidate_sets(workspace: Workspace, project_id: int) -> list[CandidateSet]:
    """A project's candidate sets, newest first."""
    with reading(workspace) as db:
        rows = db.execute(
            "SELECT * FROM candidate_set WHERE project_id = ? ORDER BY id DESC",
            [project_id],
        )
        return [record_of(CandidateSet, row) for row in rows]


def get_candidate_set(workspace: Workspace, set_id: int) -> CandidateSet:
    """The candidate set with this id. WorkbenchError when there is none."""
    with reading(workspace) as db:
        row = db.execute("SELECT * FROM candidate_set WHERE id = ?", [set_id]).fetchone()
    if row is None:
        raise WorkbenchError(f"There is no candidate set {set_id}. Sample pairs first.")
    return record_of(CandidateSet, row)


def candidate_set_of_run(workspace: Workspace, run_id: int) -> CandidateSet | None:
    """The set that a sampling run has stored, if it came that far."""
    with reading(workspace) as db:
        row = db.execute("SELECT * FROM candidate_set WHERE run_id = ?", [run_id]).fetchone()
    return record_of(CandidateSet, row) if row else None


LABELLED_SQL = """
SELECT 1 FROM silver_set JOIN silver_pair ON silver_set_id = silver_set.id
WHERE candidate_set_id = ? LIMIT 1
"""

UNKNOWN_SQL = """
SELECT 1 FROM candidate_pair LEFT JOIN sentence AS first ON first.id = sentence1_id
LEFT JOIN sentence AS second ON second.id = sentence2_id
WHERE candidate_set_id = :set
  AND (first.project_id IS NOT :project OR second.project_id IS NOT :project) LIMIT 1
"""


def _refuse_while_at_work(db: Database, set_id: int) -> None:
    row = db.execute("SELECT project_id FROM candidate_set WHERE id = ?", [set_id]).fetchone()
    if row is not None:
        refuse_while_at_work(db, row[0], "delete the candidates")


def delete_candidate_set(workspace: Workspace, set_id: int) -> None:
    """Remove a candidate set. WorkbenchError: it has silver labels, or a job may need it."""
    with writing(workspace) as db:
        _refuse_while_at_work(db, set_id)
        if db.execute(LABELLED_SQL, [set_id]).fetchone():
            raise WorkbenchError(
                "These candidates have silver labels. Delete the silver set first, then the candidates."
            )
        db.execute(
            "DELETE FROM run WHERE id = (SELECT run_id FROM candidate_set WHERE id = ?)",
            [set_id],
        )


PAGE_SQL = """
SELECT rank, sampler_score, first.text AS sentence1, second.text AS sentence2
FROM candidate_pair
JOIN sentence AS first ON first.id = sentence1_id
JOIN sentence AS second ON second.id = sentence2_id
WHERE candidate_set_id = :set
ORDER BY sentence1_id, sentence2_id LIMIT :limit OFFSET :offset
"""


def candidate_page(
    workspace: Workspace, set_id: int, *, offset: int = 0, limit: int = 100
) -> pd.DataFrame:
    """One page of candidate pairs with their texts."""
    with reading(workspace) as db:
        rows = db.execute(PAGE_SQL, {"set": set_id, "limit": limit, "offset": offset})
        return pd.DataFrame([dict(row) for row in rows])


SHARED_SQL = """
SELECT other.candidate_set_id, count(*)
FROM candidate_pair AS mine
JOIN candidate_set AS sibling ON sibling.project_id = :project AND sibling.id <> :set
JOIN candidate_pair AS other ON other.candidate_set_id = sibling.id
  AND other.sentence1_id = mine.sentence1_id AND other.sentence2_id = mine.sentence2_id
WHERE mine.candidate_set_id = :set
GROUP BY other.candidate_set_id ORDER BY other.candidate_set_id DESC
"""


def shared_candidates(workspace: Workspace, set_id: int) -> dict[int, int]:
    """With which other sets of its project a candidate set has pairs in common: set id → how many."""
    with reading(workspace) as db:
        project_id = db.execute(
            "SELECT project_id FROM candidate_set WHERE id = ?", [set_id]
        ).fetchone()
        if project_id is None:
            return {}
        rows = db.execute(SHARED_SQL, {"project": project_id[0], "set": set_id})
        return dict(rows)
