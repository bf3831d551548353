"""Find silver pairs by a text in either sentence: the sentences first, then their pairs."""

from typing import Any

from sqlite_utils import Database

from augsbert_core.storage.silver_cells import Pair, filter_cells
from augsbert_core.storage.silver_filters import SilverFilter, conditions, off_score_index

FEW_PAIRS = 50_000
"""Up to about so many pairs are looked up and sorted; of more, an index is read in the order wanted."""

MANY = 0.4
"""From this share of the sentences on, the others are the shorter way."""

LONGEST = 1000
"""Longer texts are cut: no sentence is told from another by what comes later."""


class TextSearch:
    """The sentences of a set that hold the text of a filter, upper and lower case alike."""

    def __init__(self, db: Database, set_id: int, chosen: SilverFilter) -> None:
        self.db, self.set_id, self.chosen = db, set_id, chosen
        text = chosen.text.strip()[:LONGEST]
        db.execute("CREATE TEMP TABLE found (id INTEGER PRIMARY KEY)")
        extent = dict(db.execute(EXTENT_SQL, {"set": set_id}).fetchone())
        n_sentences, n_pairs = extent.pop("n_sentences"), extent.pop("n_pairs")
        db.execute(*_find_sql(db, text, extent))
        n_found = db.execute("SELECT count(*) FROM temp.found").fetchone()[0]
        self.share = n_found / max(n_sentences, 1)
        self.expected_pairs = n_pairs * (1 - (1 - self.share) ** 2)

    def count(self) -> int:
        """How many pairs have one of the sentences and pass the rest of the filter.

        When many sentences are found, it is quicker to count the pairs that have none of them.
        """
        where, values = conditions(self.set_id, self.chosen)
        if self.chosen.only_reviewed:
            table = f"silver_pair INDEXED BY silver_pair_reviewed WHERE {where} AND {EITHER}"
        elif self.share < MANY:
            table = LOOKED_UP_SQL.format(where=off_score_index(where))
        else:
            self.db.execute(OTHERS_SQL, {"set": self.set_id})
            table = NEITHER_SQL.format(where=off_score_index(where))
        counted = int(self.db.execute(f"SELECT count(*) FROM {table}", values).fetchone()[0])
        if self.chosen.only_reviewed or self.share < MANY:
            return counted
        return int(filter_cells(self.db, self.set_id, self.chosen).counts.sum()) - counted

    def pairs(self, order: str, offset: int, limit: int) -> list[Pair]:
        """Their sentence ids, in order (SQL): limit of them from offset on."""
        if self.chosen.only_reviewed:
            table = f"silver_pair INDEXED BY silver_pair_reviewed WHERE {{where}} AND {EITHER}"
        elif self.expected_pairs <= FEW_PAIRS:
            table = LOOKED_UP_SQL
        elif order.startswith("rank"):
            return self._pairs_by_rank(order, offset, limit)
        else:
            table = _in_order(order)
        return self._page(table, "", {}, order, offset, limit)

    def _pairs_by_rank(self, order: str, offset: int, limit: int) -> list[Pair]:
        """Rank by rank, each in the order of its scores, for which there is an index."""
        within = order.removeprefix("rank IS NULL, rank, ")
        counts = self._count_by_rank() if offset else {}
        cells = filter_cells(self.db, self.set_id, self.chosen, by_rank=True)
        pairs: list[Pair] = []
        for rank in sorted({rank or None for rank in cells.ranks.tolist()}, key=_unranked_last):
            if offset >= counts.get(rank, 1):
                offset -= counts[rank]
            elif len(pairs) < limit:
                told = {"rank": rank}
                more = " AND rank IS :rank"
                pairs += self._page(
                    _in_order(within), more, told, within, offset, limit - len(pairs)
                )
                offset = 0
        return pairs

    def _page(
        self, table: str, more: str, told: dict[str, Any], order: str, offset: int, limit: int
    ) -> list[Pair]:
        where, values = conditions(self.set_id, self.chosen)
        if "by_score" not in table:
            where = off_score_index(where)
        rows = self.db.execute(
            f"SELECT sentence1_id, sentence2_id FROM {table.format(where=where + more)}"
            f" ORDER BY {order} LIMIT :limit OFFSET :offset",
            {**values, **told, "limit": limit, "offset": offset},
        )
        return [tuple(row) for row in rows]

    def _count_by_rank(self) -> dict[int | None, int]:
        where, values = conditions(self.set_id, self.chosen)
        table = LOOKED_UP_SQL.format(where=off_score_index(where))
        return dict(self.db.execute(f"SELECT rank, count(*) FROM {table} GROUP BY rank", values))


def _unranked_last(rank: int | None) -> tuple[bool, int]:
    return (rank is None, rank or 0)


EITHER = (
    "(sentence1_id IN (SELECT id FROM temp.found) OR sentence2_id IN (SELECT id FROM temp.found))"
)

EXTENT_SQL = """
SELECT project_id AS project, n_pairs,
  (SELECT count(*) FROM sentence WHERE project_id = silver_set.project_id) AS n_sentences,
  (SELECT min(sentence1_id) FROM silver_pair WHERE silver_set_id = :set) AS first,
  (SELECT max(sentence2_id) FROM silver_pair WHERE silver_set_id = :set) AS last
FROM silver_set WHERE id = :set
"""

# Sentences are read in the order in which they lie (hence the +): a project's have neighbouring ids.
FIND_SQL = """
INSERT INTO temp.found SELECT id FROM sentence
WHERE id BETWEEN :first AND :last AND +project_id = :project AND {holds}
"""

OTHERS_SQL = """
CREATE TEMP TABLE others AS SELECT id FROM sentence
WHERE project_id = (SELECT project_id FROM silver_set WHERE id = :set) AND id NOT IN (SELECT id FROM temp.found)
"""

LOOKED_UP_SQL = """(
SELECT silver_set_id, sentence1_id, sentence2_id, final_score, rank FROM temp.found CROSS JOIN silver_pair
  ON silver_set_id = :set AND sentence1_id = found.id WHERE {where}
UNION ALL
SELECT silver_set_id, sentence1_id, sentence2_id, final_score, rank FROM temp.found CROSS JOIN silver_pair
  INDEXED BY silver_pair_by_second ON silver_set_id = :set AND sentence2_id = found.id
WHERE {where} AND sentence1_id NOT IN (SELECT id FROM temp.found))
"""

NEITHER_SQL = """
temp.others CROSS JOIN silver_pair ON silver_set_id = :set AND sentence1_id = others.id
WHERE {where} AND sentence2_id NOT IN (SELECT id FROM temp.found)
"""


def _find_sql(db: Database, text: str, values: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """SQLite ignores the case of ASCII alone; for other texts Python does."""
    if not text.isascii():
        db.conn.create_function("lower", 1, lambda value: value.lower(), deterministic=True)
        return FIND_SQL.format(holds="instr(lower(text), :text)"), {**values, "text": text.lower()}
    for special in ("\\", "%", "_"):
        text = text.replace(special, "\\" + special)
    return FIND_SQL.format(holds="text LIKE :text ESCAPE '\\'"), {**values, "text": f"%{text}%"}


def _in_order(order: str) -> str:
    """silver_pair, read in this order."""
    if order.startswith("final_score"):
        return f"silver_pair INDEXED BY silver_pair_by_score WHERE {{where}} AND {EITHER}"
    return f"silver_pair WHERE {{where}} AND {EITHER}"
