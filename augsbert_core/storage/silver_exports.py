"""A silver set as files: rows for every format, and the counts that its card states."""

from collections.abc import Generator
from typing import Any

import numpy as np
from sqlite_utils import Database

from augsbert_core.exporting.tables import COUNT, NUMBER, Column
from augsbert_core.pairs import ScoreRange
from augsbert_core.storage.correction_export import reviewers
from augsbert_core.storage.database import Workspace, reading
from augsbert_core.storage.silver_bins import SCORE_BINS
from augsbert_core.storage.silver_filters import SilverFilter, conditions, off_score_index
from augsbert_core.storage.silver_pages import filtered_pairs

UNCERTAINTY = ("order_gap", "label_spread")
SAMPLER_RANKS = ("bm25_rank", "semantic_rank")
EXTRAS = ("sampler_score", *SAMPLER_RANKS, *UNCERTAINTY)
"""Columns of a set that no pair may have; an export then leaves them out."""

COLUMNS = (
    Column("sentence1"),
    Column("sentence2"),
    Column("score", NUMBER),
    Column("scaled_score", NUMBER),
    Column("labeler_score", NUMBER),
    Column("status"),
    Column("correction", NUMBER),
    Column("rank", COUNT),
    Column("sampler_score", NUMBER),
    Column("bm25_rank", COUNT),
    Column("semantic_rank", COUNT),
    Column("strategy"),
    Column("labeler"),
    Column("order_gap", NUMBER),
    Column("label_spread", NUMBER),
    Column("annotator"),
    Column("reviewed_at"),
)


def known_extras(workspace: Workspace, set_id: int) -> tuple[str, ...]:
    """Which of `EXTRAS` any pair of the set has."""
    with reading(workspace) as db:
        return tuple(name for name in EXTRAS if _is_known(db, set_id, name))


def known_uncertainty(workspace: Workspace, set_id: int) -> tuple[str, ...]:
    """Which of "order_gap" and "label_spread" any pair of the set has."""
    with reading(workspace) as db:
        return tuple(name for name in UNCERTAINTY if _is_known(db, set_id, name))


def _is_known(db: Database, set_id: int, name: str) -> bool:
    query = (
        "SELECT 1 FROM candidate_pair WHERE candidate_set_id ="
        f" (SELECT candidate_set_id FROM silver_set WHERE id = ?) AND {name} IS NOT NULL LIMIT 1"
        if name in SAMPLER_RANKS
        else f"SELECT 1 FROM silver_pair WHERE silver_set_id = ? AND {name} IS NOT NULL LIMIT 1"
    )
    return db.execute(query, [set_id]).fetchone() is not None


def silver_columns(workspace: Workspace, set_id: int) -> tuple[Column, ...]:
    """The columns of an export of the set: those of `EXTRAS` only where something is known."""
    known = known_extras(workspace, set_id)
    return tuple(column for column in COLUMNS if column.name not in EXTRAS or column.name in known)


def silver_export_rows(
    workspace: Workspace,
    set_id: int,
    scale: ScoreRange,
    *,
    strategy: str,
    labeler: str,
    chosen: SilverFilter | None = None,
) -> Generator[tuple[Any, ...]]:
    """The pairs of a set that a filter lets through (None: all), in the order of `silver_columns`.

    Scores are on the raw scale but for scaled_score. The rows of a large set are read as they are taken, so write
    them before the set changes.
    """
    names = [column.name for column in silver_columns(workspace, set_id)]
    query = WITH_RANKS_SQL if set(SAMPLER_RANKS) & set(names) else ROWS_SQL
    constant = {"strategy": strategy, "labeler": labeler}
    chosen = chosen or SilverFilter()
    codes = None if chosen.is_plain else filtered_pairs(workspace, set_id, chosen)
    with reading(workspace) as db:
        where, values = _conditions(db, set_id, chosen, codes)
        known = reviewers(db, set_id)
        for row in db.execute(query.format(where=where), values):
            cells = dict(row) | constant
            reviewed = row["status"] != "unreviewed"
            pair = (row["sentence1_id"], row["sentence2_id"])
            cells["annotator"], cells["reviewed_at"] = (
                known.get(pair, (None, None)) if reviewed else (None, None)
            )
            cells["score"] = _short(scale.to_raw(row["scaled_score"]))
            cells["labeler_score"] = _short(scale.to_raw(row["labeler_score"]))
            if row["correction"] is not None:
                cells["correction"] = _short(scale.to_raw(row["correction"]))
            for name in UNCERTAINTY:
                cells[name] = None if row[name] is None else _short(row[name])
            yield tuple(cells[name] for name in names)


def _conditions(
    db: Database, set_id: int, chosen: SilverFilter, codes: np.ndarray | None
) -> tuple[str, dict[str, Any]]:
    """A WHERE clause on silver_pair for a filter; codes: of the pairs that pass one that is not plain."""
    if codes is None:
        where, values = conditions(set_id, chosen)
        return off_score_index(where), values
    db.execute("CREATE TEMP TABLE passing (code INTEGER PRIMARY KEY)")
    db.conn.executemany("INSERT INTO temp.passing VALUES (?)", ((code,) for code in codes.tolist()))
    return f"silver_set_id = :set AND {CODE} IN (SELECT code FROM temp.passing)", {"set": set_id}


CODE = "(sentence1_id << 31 | sentence2_id)"
"""As `pairs.pair_codes`."""

# The set is read as it lies, in the order of its sentences.
ROWS_SQL = """
SELECT pair.sentence1_id, pair.sentence2_id, first.text AS sentence1, second.text AS sentence2,
  final_score AS scaled_score, score AS labeler_score, status, correction, pair.rank, pair.sampler_score,
  order_gap, label_spread
FROM (SELECT * FROM silver_pair WHERE {where}) AS pair
JOIN sentence AS first ON first.id = pair.sentence1_id
JOIN sentence AS second ON second.id = pair.sentence2_id
ORDER BY pair.sentence1_id, pair.sentence2_id
"""

WITH_RANKS_SQL = ROWS_SQL.replace("label_spread\n", "label_spread, bm25_rank, semantic_rank\n").replace(
    "ORDER BY",
    """LEFT JOIN candidate_pair AS candidate
  ON candidate.candidate_set_id = (SELECT candidate_set_id FROM silver_set WHERE id = :set)
  AND candidate.sentence1_id = pair.sentence1_id AND candidate.sentence2_id = pair.sentence2_id
ORDER BY""",
)  # fmt: skip


def score_histogram(workspace: Workspace, set_id: int, bins: int = 16) -> list[int]:
    """How many pairs have a score in each of so many equal parts of the scale, rejected ones included.

    bins: a divisor of SCORE_BINS, so that the stored counts add up exactly.
    """
    if SCORE_BINS % bins:
        raise ValueError(f"bins must divide {SCORE_BINS}, not be {bins}")
    counts = np.zeros(SCORE_BINS, dtype=np.int64)
    with reading(workspace) as db:
        for place, count in db.execute(
            "SELECT bin, sum(n_pairs) FROM silver_bin WHERE silver_set_id = ? GROUP BY bin",
            [set_id],
        ):
            counts[place] = count
    return [int(count) for count in counts.reshape(bins, -1).sum(axis=1)]


def _short(value: float) -> float:
    """Scores come from float32: more digits say nothing."""
    return float(f"{value:.7g}")
