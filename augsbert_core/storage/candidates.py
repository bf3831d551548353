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
from augsbert_core.storage import deletion
from augsbert_core.storage.database import Workspace, columns, joining, now, reading, writing
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
    bm25_rank: np.ndarray | None = None,
    semantic_rank: np.ndarray | None = None,
    gold_left_out: int | None = None,
    notices: Sequence[str] = (),
) -> int:
    """Store one sampler's pairs (ids with first < second, none twice) in one transaction.

    rank, bm25_rank, semantic_rank: 0 where a sampler did not find the pair; stored as unknown.
    """
    ranks = [_known(ranks, len(first)) for ranks in (rank, bm25_rank, semantic_rank)]
    scores = [None] * len(first) if sampler_score is None else sampler_score.tolist()
    rows = zip(first.tolist(), second.tolist(), ranks[0], scores, *ranks[1:], strict=True)
    used = np.unique(np.concatenate([first, second]))
    with writing(workspace) as db:
        _refuse_unknown(db, project_id, used)
        set_id = _insert_set(db, project_id, run_id, strategy, corpus_size, len(first), notices)
        db.execute(
            "UPDATE candidate_set SET gold_left_out = ?, rank_counts = ? WHERE id = ?",
            [gold_left_out, _rank_counts(rank), set_id],
        )
        db.conn.executemany(INSERT_SQL, ((set_id, *row) for row in rows))
    shared_candidates(workspace, set_id)  # counted now, where it is waited for anyway
    return set_id


INSERT_SQL = """
INSERT INTO candidate_pair (candidate_set_id, sentence1_id, sentence2_id, rank, sampler_score, bm25_rank,
  semantic_rank) VALUES (?, ?, ?, ?, ?, ?, ?)
"""


def _known(ranks: np.ndarray | None, n_pairs: int) -> list[int | None]:
    if ranks is None:
        return [None] * n_pairs
    return [rank or None for rank in ranks.tolist()]


def _rank_counts(rank: np.ndarray | None) -> str:
    """JSON: rank → how many pairs have it."""
    if rank is None:
        return "{}"
    ranks, counts = np.unique(rank[rank > 0], return_counts=True)
    return json.dumps(dict(zip(ranks.tolist(), counts.tolist(), strict=True)))


def _refuse_unknown(db: Database, project_id: int, sentence_ids: np.ndarray) -> None:
    (known,) = columns(db, "SELECT id FROM sentence WHERE project_id = ?", [project_id], np.int64)
    if not np.isin(sentence_ids, known).all():
        raise WorkbenchError(
            "Sentences were removed from the project while pairs were sampled. Sample again."
        )


def append_candidates(
    workspace: Workspace,
    set_id: int,
    first: np.ndarray,
    second: np.ndarray,
    rank: np.ndarray | None = None,
    sampler_score: np.ndarray | None = None,
) -> int:
    """Add another round's pairs to a candidate set; returns its new size. Pairs it has already are left out."""
    scores = [None] * len(first) if sampler_score is None else sampler_score.tolist()
    rows = zip(first.tolist(), second.tolist(), _known(rank, len(first)), scores, strict=True)
    used = np.unique(np.concatenate([first, second]))
    with writing(workspace) as db:
        row = db.execute(
            "SELECT project_id FROM candidate_set WHERE id = ? AND NOT deleting", [set_id]
        ).fetchone()
        if row is None:
            raise WorkbenchError(f"There is no candidate set {set_id} (any more). Sample again.")
        _refuse_unknown(db, row[0], used)
        db.conn.executemany(
            INSERT_SQL.replace("INSERT", "INSERT OR IGNORE"),
            ((set_id, *row, None, None) for row in rows),
        )
        db.execute(RECOUNT_SQL, {"set": set_id})
        row = db.execute("SELECT n_pairs FROM candidate_set WHERE id = ?", [set_id]).fetchone()
    return int(row[0])


RECOUNT_SQL = """
UPDATE candidate_set SET
  n_pairs = (SELECT count(*) FROM candidate_pair WHERE candidate_set_id = :set),
  rank_counts = (SELECT json_group_object(rank, n) FROM (SELECT rank, count(*) AS n FROM candidate_pair
    WHERE candidate_set_id = :set AND rank IS NOT NULL GROUP BY rank))
WHERE id = :set
"""


def add_uploaded_pairs(
    store: Workspace | Database,
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
    with joining(store) as db:
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
        db.conn.executemany(INSERT_SQL, ((set_id, *key, None, None, None, None) for key in kept))
    if not isinstance(store, Database):
        shared_candidates(store, set_id)
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
            "SELECT * FROM candidate_set WHERE project_id = ? AND NOT deleting ORDER BY id DESC",
            [project_id],
        )
        return [record_of(CandidateSet, row) for row in rows]


def get_candidate_set(workspace: Workspace, set_id: int) -> CandidateSet:
    """The candidate set with this id. WorkbenchError when there is none."""
    with reading(workspace) as db:
        row = db.execute(
            "SELECT * FROM candidate_set WHERE id = ? AND NOT deleting", [set_id]
        ).fetchone()
    if row is None:
        raise WorkbenchError(f"There is no candidate set {set_id}. Sample pairs first.")
    return record_of(CandidateSet, row)


def candidate_set_of_run(workspace: Workspace, run_id: int) -> CandidateSet | None:
    """The set that a sampling run has stored, if it came that far."""
    with reading(workspace) as db:
        row = db.execute(
            "SELECT * FROM candidate_set WHERE run_id = ? AND NOT deleting", [run_id]
        ).fetchone()
    return record_of(CandidateSet, row) if row else None


def rank_counts(workspace: Workspace, set_id: int, ks: Sequence[int]) -> list[int]:
    """How many candidates a set has at each top-k: those of rank ≤ k."""
    with reading(workspace) as db:
        row = db.execute("SELECT rank_counts FROM candidate_set WHERE id = ?", [set_id]).fetchone()
    counts = {int(rank): count for rank, count in json.loads(row[0] if row else "{}").items()}
    return [sum(count for rank, count in counts.items() if rank <= k) for k in ks]


def random_candidates(
    workspace: Workspace, set_id: int, n_pairs: int, seed: int
) -> tuple[list[str], list[str]]:
    """The texts of n_pairs candidates drawn without replacement, of all when there are fewer."""
    with reading(workspace) as db:
        (codes,) = columns(
            db,
            "SELECT (sentence1_id << 31) | sentence2_id FROM candidate_pair WHERE candidate_set_id = ?"
            " ORDER BY sentence1_id, sentence2_id",
            [set_id],
            np.int64,
        )
        drawn = np.random.default_rng(seed).choice(codes, min(n_pairs, len(codes)), replace=False)
        ids = {*(drawn >> 31).tolist(), *(drawn & 0x7FFFFFFF).tolist()}
        texts = dict(
            db.execute(
                "SELECT id, text FROM sentence WHERE id IN (SELECT value FROM json_each(?))",
                [json.dumps(sorted(ids))],
            )
        )
    return (
        [texts[row] for row in (drawn >> 31).tolist()],
        [texts[row] for row in (drawn & 0x7FFFFFFF).tolist()],
    )


LABELLED_SQL = """
SELECT 1 FROM silver_set WHERE candidate_set_id = ? AND NOT deleting AND n_pairs > 0 LIMIT 1
"""


def delete_candidate_set(workspace: Workspace, set_id: int) -> None:
    """Remove a candidate set. WorkbenchError: it has silver labels, or a job may need it.

    It is out of sight at once; of a large set, `deletion.sweep` removes the rest bit by bit.
    """
    with writing(workspace) as db:
        row = db.execute("SELECT project_id FROM candidate_set WHERE id = ?", [set_id]).fetchone()
        if row is not None:
            refuse_while_at_work(db, row[0], "delete the candidates")
        if db.execute(LABELLED_SQL, [set_id]).fetchone():
            raise WorkbenchError(
                "These candidates have silver labels. Delete the silver set first, then the candidates."
            )
        deletion.hide_silver_sets(db, "candidate_set_id = ?", [set_id])
        deletion.hide_candidate_sets(db, "id = ?", [set_id])
    deletion.sweep(workspace, deletion.AT_ONCE_SECONDS)


PAGE_SQL = """
SELECT page.rank, page.sampler_score, bm25_rank, semantic_rank, first.text AS sentence1,
  second.text AS sentence2
FROM (SELECT * FROM candidate_pair WHERE candidate_set_id = :set
  ORDER BY sentence1_id, sentence2_id LIMIT :limit OFFSET :offset) AS page
JOIN sentence AS first ON first.id = sentence1_id
JOIN sentence AS second ON second.id = sentence2_id
ORDER BY sentence1_id, sentence2_id
"""


def candidate_page(
    workspace: Workspace, set_id: int, *, offset: int = 0, limit: int = 100
) -> pd.DataFrame:
    """One page of candidate pairs with their texts and ranks."""
    with reading(workspace) as db:
        rows = db.execute(PAGE_SQL, {"set": set_id, "limit": limit, "offset": offset})
        return pd.DataFrame([dict(row) for row in rows])


# What is stored counts as long as neither set has grown since.
STORED_OVERLAP_SQL = """
SELECT sibling.id, n_shared FROM candidate_set AS mine
JOIN candidate_set AS sibling ON sibling.project_id = mine.project_id AND sibling.id <> mine.id
LEFT JOIN candidate_overlap ON first_set_id = min(mine.id, sibling.id)
  AND second_set_id = max(mine.id, sibling.id)
  AND first_n_pairs = CASE WHEN mine.id < sibling.id THEN mine.n_pairs ELSE sibling.n_pairs END
  AND second_n_pairs = CASE WHEN mine.id < sibling.id THEN sibling.n_pairs ELSE mine.n_pairs END
WHERE mine.id = ? AND NOT sibling.deleting ORDER BY sibling.id DESC
"""

COUNT_SHARED_SQL = """
SELECT count(*) FROM candidate_pair AS small CROSS JOIN candidate_pair AS large
  ON large.candidate_set_id = :large AND large.sentence1_id = small.sentence1_id
  AND large.sentence2_id = small.sentence2_id
WHERE small.candidate_set_id = :small
"""


def shared_candidates(workspace: Workspace, set_id: int) -> dict[int, int]:
    """With which other sets of its project a candidate set has pairs in common: set id → how many.

    Counted once for two sets, and stored.
    """
    with reading(workspace) as db:
        rows = db.execute(STORED_OVERLAP_SQL, [set_id]).fetchall()
        missing = [row["id"] for row in rows if row["n_shared"] is None]
        counted = [_count_shared(db, set_id, other) for other in missing]
    if counted:
        with writing(workspace) as db:
            db.conn.executemany(
                "INSERT OR REPLACE INTO candidate_overlap SELECT ?, ?, ?, ?, ? WHERE ? = (SELECT count(*)"
                " FROM candidate_set WHERE id IN (?, ?))",
                [(*row, 2, *row[:2]) for row in counted],
            )
    found = {row["id"]: row["n_shared"] for row in rows}
    found |= {other: row[-1] for other, row in zip(missing, counted, strict=True)}
    return {other: n_shared for other, n_shared in found.items() if n_shared}


def _count_shared(db: Database, one: int, other: int) -> tuple[int, int, int, int, int]:
    """A row of candidate_overlap, counted by looking up each pair of the smaller set in the larger."""
    ids = sorted((one, other))
    sizes = [
        db.execute("SELECT n_pairs FROM candidate_set WHERE id = ?", [at]).fetchone()[0]
        for at in ids
    ]
    small, large = ids if sizes[0] <= sizes[1] else ids[::-1]
    n_shared = db.execute(COUNT_SHARED_SQL, {"small": small, "large": large}).fetchone()[0]
    return (ids[0], ids[1], sizes[0], sizes[1], n_shared)
