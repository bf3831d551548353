"""Find the silver pairs of a page without walking past those of earlier pages.

A cell is the pairs of one bin (and, where ranks matter, one rank) that pass a filter. Their numbers are
stored, except for the two bins that a bound of the score range cuts through. So the cells tell how many
pairs there are in all, and in which cell a page begins.
"""

from dataclasses import dataclass

import numpy as np
from sqlite_utils import Database

from augsbert_core.storage.silver_bins import SCORE_BINS, STATUSES
from augsbert_core.storage.silver_filters import SilverFilter, rank_condition, status_condition

Pair = tuple[int, int]
"""The sentence ids of a silver pair."""


@dataclass(frozen=True)
class Cells:
    """Parallel int64 arrays. ranks: 0 for pairs without one, and everywhere when ranks were not asked for."""

    ranks: np.ndarray
    bins: np.ndarray
    counts: np.ndarray


def filter_cells(
    db: Database, set_id: int, chosen: SilverFilter, *, by_rank: bool = False
) -> Cells:
    """The cells of a filter (its text is not looked at) that hold any pairs, each once.

    by_rank: tell the ranks apart.
    """
    first = max(int(chosen.start * SCORE_BINS), 0)
    last = min(int(chosen.end * SCORE_BINS), SCORE_BINS - 1)
    cut = {at for at in (first, last) if not _is_whole(at, chosen)}
    rows = db.execute(STORED_SQL, {"set": set_id, "first": first, "last": last}).fetchall()
    found = [tuple(row) for row in rows if row[2] not in cut]
    for at in sorted(cut):
        found += _count_cut_bin(db, set_id, chosen, at, by_rank or chosen.has_ranks)
    statuses = chosen.statuses or STATUSES
    low = max(chosen.min_rank or 0, 1 if chosen.has_ranks else 0)
    high = MAX_RANK if chosen.max_rank is None else chosen.max_rank
    kept = [
        (rank if by_rank else 0, at, count)
        for status, rank, at, count in found
        if status in statuses and low <= rank <= high
    ]
    return _merged(np.array(kept, dtype=np.int64).reshape(-1, 3))


MAX_RANK = 2**40

STORED_SQL = """
SELECT status, rank, bin, n_pairs FROM silver_bin
WHERE silver_set_id = :set AND bin BETWEEN :first AND :last
"""


def _is_whole(at: int, chosen: SilverFilter) -> bool:
    """Whether all scores of a bin pass; the last bin holds 1.0 too."""
    ends = chosen.end > 1.0 if at == SCORE_BINS - 1 else chosen.end >= (at + 1) / SCORE_BINS
    return ends and chosen.start <= at / SCORE_BINS


def _merged(rows: np.ndarray) -> Cells:
    keys, where = np.unique(rows[:, 0] * SCORE_BINS + rows[:, 1], return_inverse=True)
    counts = np.zeros(len(keys), dtype=np.int64)
    np.add.at(counts, where, rows[:, 2])
    kept = counts > 0
    return Cells(keys[kept] // SCORE_BINS, keys[kept] % SCORE_BINS, counts[kept])


def _bounds(at: int, chosen: SilverFilter) -> dict[str, float]:
    """The scores of a bin that pass the filter: from start to just below end."""
    end = 2.0 if at == SCORE_BINS - 1 else (at + 1) / SCORE_BINS
    return {"start": max(chosen.start, at / SCORE_BINS), "end": min(chosen.end, end)}


def _count_cut_bin(
    db: Database, set_id: int, chosen: SilverFilter, at: int, by_rank: bool
) -> list[tuple[str, int, int, int]]:
    """(status, rank, bin, number) of the pairs in one bin that pass the score range."""
    rank = "coalesce(rank, 0)" if by_rank else "0"
    within = "silver_set_id = :set AND final_score >= :start AND final_score < :end"
    values = {"set": set_id, **_bounds(at, chosen)}
    all_pairs = db.execute(
        f"SELECT 'unreviewed', {rank}, {at}, count(*) FROM silver_pair INDEXED BY silver_pair_by_score"
        f" WHERE {within} GROUP BY 2",
        values,
    )
    found = [tuple(row) for row in all_pairs]
    reviewed = db.execute(
        f"SELECT status, {rank}, {at}, count(*) FROM silver_pair INDEXED BY silver_pair_reviewed"
        f" WHERE {within} AND status IN ('corrected', 'accepted', 'rejected', 'flagged')"
        " AND status <> 'unreviewed' GROUP BY 1, 2",
        values,
    )
    for status, its_rank, _, count in reviewed:
        found += [(status, its_rank, at, count), ("unreviewed", its_rank, at, -count)]
    return found


def walk(
    db: Database,
    set_id: int,
    chosen: SilverFilter,
    order: str,
    offset: int,
    limit: int,
) -> list[Pair]:
    """The pairs of a page, unreviewed ones included in the filter. order: "high", "low" or "rank" first.

    Pairs of one score are told apart by their sentences, so that every pair is on exactly one page.
    """
    by_rank = order == "rank"
    cells = filter_cells(db, set_id, chosen, by_rank=by_rank)
    unranked_last = np.where(cells.ranks == 0, MAX_RANK, cells.ranks)
    sequence = np.lexsort((cells.bins if order == "low" else -cells.bins, unranked_last))
    before = np.cumsum(cells.counts[sequence]) - cells.counts[sequence]
    pairs: list[Pair] = []
    start = max(int(np.searchsorted(before, offset, side="right")) - 1, 0)
    for position in range(start, len(sequence)):
        at = sequence[position]
        skipped = max(offset - int(before[position]), 0)
        rank = int(cells.ranks[at]) if by_rank else None
        pairs += _pairs_of_cell(
            db, set_id, chosen, int(cells.bins[at]), rank, order, limit - len(pairs), skipped
        )
        if len(pairs) >= limit:
            break
    return pairs


def _pairs_of_cell(
    db: Database,
    set_id: int,
    chosen: SilverFilter,
    at: int,
    rank: int | None,
    order: str,
    limit: int,
    offset: int,
) -> list[Pair]:
    clause, values = rank_condition(chosen)
    values |= {"set": set_id, "limit": limit, "offset": offset, **_bounds(at, chosen)}
    if rank is not None:
        clause, values["rank"] = " AND rank IS :rank", rank or None
    clause += status_condition(chosen, values)
    down = "" if order == "low" else " DESC"
    rows = db.execute(
        "SELECT sentence1_id, sentence2_id FROM silver_pair INDEXED BY silver_pair_by_score"
        f" WHERE silver_set_id = :set AND final_score >= :start AND final_score < :end{clause}"
        f" ORDER BY final_score{down}, sentence1_id{down}, sentence2_id{down}"
        " LIMIT :limit OFFSET :offset",
        values,
    )
    return [tuple(row) for row in rows]
