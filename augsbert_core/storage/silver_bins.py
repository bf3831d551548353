"""Stored counts of silver scores, so that densities and filters of a million pairs stay quick.

Table `silver_bin` holds how many pairs of a set have which status, rank and bin of the corrected score. Whoever
writes silver pairs changes it in the same transaction, so it always equals a recount.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from sqlite_utils import Database

from augsbert_core.pairs import pair_codes
from augsbert_core.storage.database import Workspace, columns, reading

STATUSES = ("unreviewed", "corrected", "accepted", "rejected", "flagged")

SCORE_BINS = 512
"""Scores are counted in this many equal bins of [0, 1]; a power of two, so that bin edges are exact."""


def score_bin(score: float) -> int:
    """The bin of a score in [0, 1]; the last one holds 1.0 too."""
    return min(int(score * SCORE_BINS), SCORE_BINS - 1)


def count_in(db: Database, set_id: int, counted: Iterable[tuple[str, int, int, int]]) -> None:
    """Add (status, rank or 0, bin, number of pairs) to a set's counts; numbers may be negative.

    Brings the set's n_pairs and revision up to date.
    """
    changes = [(set_id, *row) for row in counted]
    db.conn.executemany(
        "INSERT INTO silver_bin VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET n_pairs = n_pairs + excluded.n_pairs",
        changes,
    )
    emptied = [
        (set_id, status, rank, at) for _, status, rank, at, n_pairs in changes if n_pairs < 0
    ]
    db.conn.executemany(
        "DELETE FROM silver_bin WHERE silver_set_id = ? AND status = ? AND rank = ? AND bin = ?"
        " AND n_pairs = 0",
        emptied,
    )
    db.execute(
        "UPDATE silver_set SET n_pairs = n_pairs + ?, revision = revision + 1 WHERE id = ?",
        [sum(change[-1] for change in changes), set_id],
    )


def unreviewed_counts(
    ranks: Sequence[int | None], scores: Sequence[float]
) -> list[tuple[str, int, int, int]]:
    """What `count_in` needs for new pairs with these ranks and scores in [0, 1]."""
    bins = np.minimum(
        (np.asarray(scores, dtype=np.float64) * SCORE_BINS).astype(np.int64), SCORE_BINS - 1
    )
    whole_ranks = np.array([rank or 0 for rank in ranks], dtype=np.int64)
    cells, counts = np.unique(whole_ranks * SCORE_BINS + bins, return_counts=True)
    return [
        ("unreviewed", cell // SCORE_BINS, cell % SCORE_BINS, count)
        for cell, count in zip(cells.tolist(), counts.tolist(), strict=True)
    ]


def silver_score_counts(workspace: Workspace, set_id: int) -> np.ndarray:
    """How many corrected scores fall in each of SCORE_BINS equal bins of [0, 1]; rejected pairs left out."""
    with reading(workspace) as db:
        rows = db.execute(
            "SELECT bin, sum(n_pairs) FROM silver_bin WHERE silver_set_id = ? AND status <> 'rejected'"
            " GROUP BY bin",
            [set_id],
        ).fetchall()
    counts = np.zeros(SCORE_BINS)
    for position, count in rows:
        counts[position] = count
    return counts


def silver_status_counts(workspace: Workspace, set_id: int) -> dict[str, int]:
    """How many pairs of a silver set have each status."""
    with reading(workspace) as db:
        rows = db.execute(
            "SELECT status, sum(n_pairs) FROM silver_bin WHERE silver_set_id = ? GROUP BY status",
            [set_id],
        )
        return dict.fromkeys(STATUSES, 0) | dict(rows)


def rank_score_counts(workspace: Workspace, set_id: int, ks: Sequence[int]) -> np.ndarray:
    """Score counts at several top-k: how many pairs of rank ≤ k fall in each bin; rejected pairs left out.

    Returns shape (len(ks), SCORE_BINS). Pairs without a rank are in none of them.
    """
    counts = np.zeros((len(ks), SCORE_BINS))
    with reading(workspace) as db:
        rows = db.execute(
            "SELECT rank, bin, sum(n_pairs) FROM silver_bin WHERE silver_set_id = ? AND rank BETWEEN 1 AND ?"
            " AND status <> 'rejected' GROUP BY rank, bin",
            [set_id, max(ks, default=0)],
        ).fetchall()
    if rows:
        ranks, bins, numbers = np.array([tuple(row) for row in rows], dtype=np.int64).T
        for row, k in enumerate(ks):
            np.add.at(counts[row], bins[ranks <= k], numbers[ranks <= k])
    return counts


@dataclass(frozen=True)
class SilverScores:
    """The pairs of a silver set that count, as parallel arrays ordered by id.

    codes: `pairs.pair_codes` of the sentence ids. scores: corrected, float64 in [0, 1]. ranks: int64, 0 where
    the sampler gave none.
    """

    ids: np.ndarray
    codes: np.ndarray
    scores: np.ndarray
    ranks: np.ndarray

    def __len__(self) -> int:
        return len(self.ids)


def silver_scores(workspace: Workspace, set_id: int) -> SilverScores:
    """Ids, pair codes, corrected scores and ranks of a silver set; rejected pairs left out."""
    with reading(workspace) as db:
        ids, first, second, scores, ranks = columns(
            db,
            "SELECT id, sentence1_id, sentence2_id, final_score, coalesce(rank, 0) FROM silver_pair"
            " WHERE silver_set_id = ? AND status <> 'rejected'",
            [set_id],
            np.float64,
        )
    order = np.argsort(ids)
    return SilverScores(
        ids=ids[order].astype(np.int64),
        codes=pair_codes(first[order].astype(np.int64), second[order].astype(np.int64)),
        scores=scores[order],
        ranks=ranks[order].astype(np.int64),
    )
