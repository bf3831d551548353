"""A silver set as files: rows for CSV and JSONL, and the counts that its card states."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from augsbert_core.pairs import ScoreRange
from augsbert_core.storage.database import Workspace, reading
from augsbert_core.storage.silver_bins import SCORE_BINS

COLUMNS = ("sentence1", "sentence2", "score", "labeler_score", "status", "rank", "strategy")
UNCERTAINTY = ("order_gap", "label_spread")

ROWS_SQL = """
SELECT first.text, second.text, final_score, score, status, rank, order_gap, label_spread
FROM silver_pair
JOIN sentence AS first ON first.id = sentence1_id
JOIN sentence AS second ON second.id = sentence2_id
WHERE silver_set_id = ? ORDER BY sentence1_id, sentence2_id
"""


def known_uncertainty(workspace: Workspace, set_id: int) -> tuple[str, ...]:
    """Which of "order_gap" and "label_spread" any pair of the set has."""
    with reading(workspace) as db:
        found = db.execute(
            "SELECT max(order_gap IS NOT NULL), max(label_spread IS NOT NULL) FROM silver_pair"
            " WHERE silver_set_id = ?",
            [set_id],
        ).fetchone()
    return tuple(name for name, known in zip(UNCERTAINTY, found, strict=True) if known)


def silver_columns(workspace: Workspace, set_id: int) -> tuple[str, ...]:
    """The columns of an export of the set: uncertainty only where it is known."""
    return (*COLUMNS, *known_uncertainty(workspace, set_id))


def silver_export_rows(
    workspace: Workspace, set_id: int, scale: ScoreRange, strategy: str
) -> Iterator[tuple[Any, ...]]:
    """All pairs of a set in the order of `silver_columns`, scores on the raw scale.

    The rows of a large set are read as they are taken, so write them before the set changes.
    """
    uncertain = known_uncertainty(workspace, set_id)
    with reading(workspace) as db:
        for row in db.execute(ROWS_SQL, [set_id]):
            extra = tuple(row[name] for name in uncertain)
            yield (
                row[0],
                row[1],
                _short(scale.to_raw(row["final_score"])),
                _short(scale.to_raw(row["score"])),
                row["status"],
                row["rank"],
                strategy,
                *(None if value is None else _short(value) for value in extra),
            )


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
