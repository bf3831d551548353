"""The silver table: counts and pages of filtered pairs, quick with a million of them.

Which pairs are on a page is found in an index first; texts are read for those alone.
"""

import pandas as pd
from sqlite_utils import Database

from augsbert_core.storage.database import Workspace, reading
from augsbert_core.storage.silver_cells import Pair, filter_cells, walk
from augsbert_core.storage.silver_filters import SilverFilter, conditions, off_score_index
from augsbert_core.storage.silver_text import TextSearch

SORTS = {
    "Score, high to low": "final_score DESC, sentence1_id DESC, sentence2_id DESC",
    "Score, low to high": "final_score, sentence1_id, sentence2_id",
    "Sampler rank": "rank IS NULL, rank, final_score DESC, sentence1_id DESC, sentence2_id DESC",
    "Order of sampling": "sentence1_id, sentence2_id",
}
HIGH_FIRST, LOW_FIRST, BY_RANK, AS_SAMPLED = SORTS

SORTED_PAIRS = 100_000
"""Up to this many pairs are put in order by sentence; of more, the set is read as it lies, in that order."""


def count_silver(workspace: Workspace, set_id: int, chosen: SilverFilter) -> int:
    """How many silver pairs pass the filter."""
    with reading(workspace) as db:
        if chosen.text.strip():
            return TextSearch(db, set_id, chosen).count()
        return int(filter_cells(db, set_id, chosen).counts.sum())


def silver_page(
    workspace: Workspace,
    set_id: int,
    chosen: SilverFilter,
    *,
    sort: str = HIGH_FIRST,
    offset: int = 0,
    limit: int = 100,
) -> pd.DataFrame:
    """One page of silver pairs with their texts; sort: a key of SORTS.

    Columns: id, sentence1, sentence2, score, correction, final_score, raw_score, status, rank,
    sampler_score, order_gap, label_spread, bm25_rank, semantic_rank; none at all when there is no pair on the page.
    """
    with reading(workspace) as db:
        pairs = _pairs_of_page(db, set_id, chosen, sort, offset, limit)
        rows = [dict(db.execute(ROW_SQL, [set_id, *pair]).fetchone()) for pair in pairs]
    return pd.DataFrame(rows)


ROW_SQL = """
SELECT silver_pair.id, first.text AS sentence1, second.text AS sentence2, score, correction,
  final_score, raw_score, status, silver_pair.rank, silver_pair.sampler_score, order_gap, label_spread,
  bm25_rank, semantic_rank
FROM silver_pair
JOIN silver_set ON silver_set.id = silver_set_id
JOIN sentence AS first ON first.id = silver_pair.sentence1_id
JOIN sentence AS second ON second.id = silver_pair.sentence2_id
LEFT JOIN candidate_pair ON candidate_pair.candidate_set_id = silver_set.candidate_set_id
  AND candidate_pair.sentence1_id = silver_pair.sentence1_id
  AND candidate_pair.sentence2_id = silver_pair.sentence2_id
WHERE silver_set_id = ? AND silver_pair.sentence1_id = ? AND silver_pair.sentence2_id = ?
"""


def _pairs_of_page(
    db: Database, set_id: int, chosen: SilverFilter, sort: str, offset: int, limit: int
) -> list[Pair]:
    if chosen.text.strip():
        return TextSearch(db, set_id, chosen).pairs(SORTS[sort], offset, limit)
    if chosen.only_reviewed:
        table = "silver_pair INDEXED BY silver_pair_reviewed"
        return _sorted_pairs(db, set_id, chosen, table, SORTS[sort], offset, limit)
    if sort == AS_SAMPLED:
        return _pairs_as_sampled(db, set_id, chosen, offset, limit)
    order = {HIGH_FIRST: "high", LOW_FIRST: "low", BY_RANK: "rank"}[sort]
    return walk(db, set_id, chosen, order, offset, limit)


def _sorted_pairs(
    db: Database,
    set_id: int,
    chosen: SilverFilter,
    table: str,
    order: str,
    offset: int,
    limit: int,
) -> list[Pair]:
    where, values = conditions(set_id, chosen)
    if "INDEXED" not in table:
        where = off_score_index(where)
    rows = db.execute(
        f"SELECT sentence1_id, sentence2_id FROM {table} WHERE {where} ORDER BY {order}"
        " LIMIT :limit OFFSET :offset",
        {**values, "limit": limit, "offset": offset},
    )
    return [tuple(row) for row in rows]


def _pairs_as_sampled(
    db: Database, set_id: int, chosen: SilverFilter, offset: int, limit: int
) -> list[Pair]:
    """Pairs in the order of their sentences; a page behind the middle is found from the end."""
    total = int(filter_cells(db, set_id, chosen).counts.sum())
    few = total <= SORTED_PAIRS
    table = "silver_pair INDEXED BY silver_pair_by_score" if few else "silver_pair"
    if offset < total // 2:
        return _sorted_pairs(db, set_id, chosen, table, SORTS[AS_SAMPLED], offset, limit)
    limit = max(min(limit, total - offset), 0)
    from_end = "sentence1_id DESC, sentence2_id DESC"
    return _sorted_pairs(db, set_id, chosen, table, from_end, total - offset - limit, limit)[::-1]
