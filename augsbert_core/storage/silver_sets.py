"""Silver sets: candidate pairs with a labeler's score, and the subsets that are kept of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlite_utils import Database

from augsbert_core.errors import WorkbenchError
from augsbert_core.pairs import TrainingRows, pair_codes
from augsbert_core.storage import deletion, silver_columns
from augsbert_core.storage.database import Workspace, columns, now, reading, writing
from augsbert_core.storage.queue import refuse_while_at_work
from augsbert_core.storage.records import SilverSet, record
from augsbert_core.storage.sentences import rows_of_ids
from augsbert_core.storage.silver_bins import count_in, unreviewed_counts

SilverRow = tuple[Any, ...]
"""sentence1_id, sentence2_id, rank, sampler_score, score in [0, 1], raw_score, and where they are known order_gap
and label_spread; those two can be left out."""

SET_SQL = """
SELECT silver_set.*, candidate_set.strategy, candidate_set.n_pairs AS n_candidates, run.state,
  sampling.options AS sampled_with, run.options AS made_with
FROM silver_set
JOIN candidate_set ON candidate_set.id = candidate_set_id
JOIN run ON run.id = silver_set.run_id
JOIN run AS sampling ON sampling.id = candidate_set.run_id
WHERE NOT silver_set.deleting
"""


def open_silver_set(
    workspace: Workspace,
    project_id: int,
    run_id: int,
    *,
    candidate_set_id: int,
    labeler: str,
    labeler_run_id: int | None,
    passes_per_pair: int = 1,
) -> int:
    """The silver set of a labelling run: made at its first attempt, found again at later ones.

    passes_per_pair: cross-encoder passes that each label costs, 0 when no cross-encoder labels.
    """
    with writing(workspace) as db:
        row = db.execute("SELECT id FROM silver_set WHERE run_id = ?", [run_id]).fetchone()
        if row:
            return int(row[0])
        cursor = db.execute(
            "INSERT INTO silver_set (project_id, run_id, candidate_set_id, labeler, labeler_run_id,"
            " passes_per_pair, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [project_id, run_id, candidate_set_id, labeler, labeler_run_id, passes_per_pair, now()],
        )
        return int(cursor.lastrowid or 0)


def list_silver_sets(workspace: Workspace, project_id: int) -> list[SilverSet]:
    """A project's silver sets, newest first, half-done ones included."""
    with reading(workspace) as db:
        rows = db.execute(
            f"{SET_SQL} AND silver_set.project_id = ? ORDER BY silver_set.id DESC",
            [project_id],
        )
        return [record(SilverSet, row) for row in rows]


def get_silver_set(workspace: Workspace, set_id: int) -> SilverSet:
    """The silver set with this id. WorkbenchError when there is none."""
    with reading(workspace) as db:
        row = db.execute(f"{SET_SQL} AND silver_set.id = ?", [set_id]).fetchone()
    if row is None:
        raise WorkbenchError(f"There is no silver set {set_id}. Label a candidate set first.")
    return record(SilverSet, row)


def delete_silver_set(workspace: Workspace, set_id: int) -> None:
    """Remove a silver set with its labels and corrections; sets that were kept of it stay.

    It is out of sight at once; of a large set, `deletion.sweep` removes the rest bit by bit. WorkbenchError:
    a job may need it.
    """
    project_id = get_silver_set(workspace, set_id).project_id
    with writing(workspace) as db:
        refuse_while_at_work(db, project_id, "delete the silver set")
        deletion.hide_silver_sets(db, "id = ?", [set_id])
    silver_columns.forget(workspace, set_id)
    deletion.sweep(workspace, deletion.AT_ONCE_SECONDS)


UNSCORED_SQL = """
SELECT sentence1_id, sentence2_id, first.text, second.text, candidate.rank, candidate.sampler_score
FROM candidate_pair AS candidate
JOIN sentence AS first ON first.id = sentence1_id
JOIN sentence AS second ON second.id = sentence2_id
WHERE candidate_set_id = (SELECT candidate_set_id FROM silver_set WHERE id = :set)
  AND NOT EXISTS (SELECT 1 FROM silver_pair AS done WHERE done.silver_set_id = :set
    AND done.sentence1_id = candidate.sentence1_id AND done.sentence2_id = candidate.sentence2_id)
ORDER BY sentence1_id, sentence2_id
LIMIT :limit
"""


@dataclass(frozen=True)
class Unscored:
    """Candidates that still lack a silver score, as parallel columns. origin: (rank, sampler_score)."""

    ids: list[tuple[int, int]]
    sentences1: list[str]
    sentences2: list[str]
    origin: list[tuple[int | None, float | None]]

    def __len__(self) -> int:
        return len(self.ids)


def unscored_pairs(workspace: Workspace, set_id: int, limit: int = 50_000) -> Unscored:
    """The next candidates of a silver set that have no score yet."""
    with reading(workspace) as db:
        rows = db.execute(UNSCORED_SQL, {"set": set_id, "limit": limit}).fetchall()
    return Unscored(
        [(row[0], row[1]) for row in rows],
        [row[2] for row in rows],
        [row[3] for row in rows],
        [(row[4], row[5]) for row in rows],
    )


# No id is given twice: a page that still shows a deleted set must not meet another pair. The highest id of what was
# deleted is kept by `deletion.hide_silver_sets`.
NEXT_ID_SQL = """
SELECT 1 + max(coalesce((SELECT max(id) FROM silver_pair), 0),
  coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = 'silver_pair'), 0))
"""

INSERT_SQL = """
INSERT INTO silver_pair (silver_set_id, sentence1_id, sentence2_id, rank, sampler_score, score, raw_score,
  order_gap, label_spread, id, final_score) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?6)
"""


ROW_LENGTH = 8


def add_silver_scores(workspace: Workspace, set_id: int, rows: Iterable[SilverRow]) -> None:
    """Store scores of a silver set in one transaction, and count them."""
    rows = list(rows)
    if not rows:
        return
    counts = unreviewed_counts([row[2] for row in rows], [row[4] for row in rows])
    with writing(workspace) as db:
        first_id = db.execute(NEXT_ID_SQL).fetchone()[0]
        db.conn.executemany(
            INSERT_SQL,
            (
                (set_id, *row, *(None,) * (ROW_LENGTH - len(row)), number)
                for number, row in enumerate(rows, first_id)
            ),
        )
        count_in(db, set_id, counts)


KEEP_SQL = """
INSERT INTO silver_pair (silver_set_id, sentence1_id, sentence2_id, id, rank, sampler_score, score, raw_score,
  order_gap, label_spread, correction, status, final_score)
SELECT :set, sentence1_id, sentence2_id, :first + row_number() OVER (ORDER BY sentence1_id, sentence2_id),
  rank, sampler_score, score, raw_score, order_gap, label_spread, correction, status, final_score
FROM silver_pair WHERE silver_set_id = :pool AND id IN (SELECT id FROM temp.kept)
ORDER BY sentence1_id, sentence2_id
"""

RECOUNT_SQL = """
SELECT status, coalesce(rank, 0), min(cast(final_score * 512 AS INTEGER), 511), count(*)
FROM silver_pair WHERE silver_set_id = ? GROUP BY 1, 2, 3
"""


def add_kept_set(
    workspace: Workspace,
    project_id: int,
    run_id: int,
    pool_set_id: int,
    *,
    rule: str,
    pair_ids: np.ndarray,
) -> int:
    """Store the named pairs of a pool as a silver set of their own; returns its id.

    Scores, ranks, corrections and statuses are copied in one transaction; the pool stays as it is. Called
    again for the same run, the set that it made is found. pair_ids: distinct ids of silver pairs of the
    pool; ValueError when one is not.
    """
    with writing(workspace) as db:
        row = db.execute("SELECT id FROM silver_set WHERE run_id = ?", [run_id]).fetchone()
        if row:
            return int(row[0])
        set_id = _insert_kept_set(db, project_id, run_id, pool_set_id, rule)
        db.execute("CREATE TEMP TABLE kept (id INTEGER PRIMARY KEY)")
        db.conn.executemany(
            "INSERT INTO temp.kept VALUES (?)", ((row,) for row in pair_ids.tolist())
        )
        first = db.execute(NEXT_ID_SQL).fetchone()[0] - 1
        copied = db.execute(KEEP_SQL, {"set": set_id, "pool": pool_set_id, "first": first}).rowcount
        if copied != len(pair_ids):
            raise ValueError(
                f"{len(pair_ids) - copied} of the ids are no pairs of set {pool_set_id}"
            )
        count_in(db, set_id, [tuple(row) for row in db.execute(RECOUNT_SQL, [set_id])])
    return set_id


def _insert_kept_set(
    db: Database, project_id: int, run_id: int, pool_set_id: int, rule: str
) -> int:
    cursor = db.execute(
        "INSERT INTO silver_set (project_id, run_id, candidate_set_id, labeler, labeler_run_id, created_at,"
        " pool_set_id, rule, passes_per_pair, n_passes) SELECT ?, ?, candidate_set_id, labeler, labeler_run_id,"
        " ?, id, ?, passes_per_pair, coalesce(n_passes, n_pairs * passes_per_pair) FROM silver_set WHERE id = ? AND NOT deleting",
        [project_id, run_id, now(), rule, pool_set_id],
    )
    if not cursor.rowcount:
        raise WorkbenchError(
            f"Silver set {pool_set_id} does not exist (any more). Choose another one."
        )
    return int(cursor.lastrowid or 0)


def silver_pair_codes(workspace: Workspace, set_ids: Sequence[int]) -> np.ndarray:
    """The `pairs.pair_codes` of all pairs of these silver sets, ascending, each once: int64."""
    codes = [np.empty(0, dtype=np.int64)]
    with reading(workspace) as db:
        for set_id in set_ids:
            (found,) = columns(
                db,
                "SELECT (sentence1_id << 31) | sentence2_id FROM silver_pair WHERE silver_set_id = ?",
                [set_id],
                np.int64,
            )
            codes.append(found)
    ordered = np.sort(np.concatenate(codes))  # ten times as fast as np.unique
    return ordered[np.diff(ordered, prepend=-1) > 0]


TRAINING_SQL = """
SELECT sentence1_id, sentence2_id, {score} FROM silver_pair
WHERE silver_set_id = ? {condition} ORDER BY sentence1_id, sentence2_id
"""


def silver_training_rows(
    workspace: Workspace,
    set_id: int,
    *,
    raw: bool = False,
    keep_rejected: bool = False,
    left_out: np.ndarray | None = None,
) -> TrainingRows:
    """What a student learns from: corrections in place of scores, rejected pairs left out, each sentence once.

    raw: the labeler's scores, whatever people said. keep_rejected: rejected pairs too. left_out: `pair_codes` of
    pairs that are not wanted. A million pairs are read in seconds: ids and scores come as arrays, and no text is
    repeated. labels: float32.
    """
    query = TRAINING_SQL.format(
        score="score" if raw else "final_score",
        condition="" if keep_rejected else "AND status <> 'rejected'",
    )
    with reading(workspace) as db:
        # float64 holds ids exactly, up to 2**53.
        found = columns(db, query, [set_id], np.float64)
        ids = found[:2].astype(np.int64)
        if left_out is not None and len(left_out):
            wanted = ~np.isin(pair_codes(ids[0], ids[1]), left_out)
            ids, found = ids[:, wanted], found[:, wanted]
        return rows_of_ids(db, ids, found[2].astype(np.float32))
