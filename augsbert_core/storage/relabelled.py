"""The pairs that two silver sets share, with both labelers' scores, as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from augsbert_core.pairs import pair_codes
from augsbert_core.storage.database import Workspace, columns, reading

NONE = -1.0
"""Stands for no correction while rows are read: NULLs do not fit into arrays."""

SCORES_SQL = """
SELECT sentence1_id, sentence2_id, id, score,
  CASE WHEN status = 'corrected' THEN coalesce(correction, score) ELSE -1.0 END, status = 'accepted'
FROM silver_pair WHERE silver_set_id = ? ORDER BY sentence1_id, sentence2_id
"""


@dataclass(frozen=True)
class SharedPairs:
    """Pairs of both sets, in the order of their codes, as columns of one length.

    codes: `pair_codes`. old_ids, new_ids: of the silver pairs. old, new: the labelers' scores in [0, 1]. correction:
    people's score in the old set, NaN without one. accepted: people accepted the old score. n_only_old, n_only_new:
    pairs that the other set lacks.
    """

    codes: np.ndarray
    old_ids: np.ndarray
    new_ids: np.ndarray
    old: np.ndarray
    new: np.ndarray
    correction: np.ndarray
    accepted: np.ndarray
    n_only_old: int
    n_only_new: int


def shared_pairs(workspace: Workspace, old_set_id: int, new_set_id: int) -> SharedPairs:
    """What both sets say about the pairs that they share. A million pairs are read in seconds."""
    with reading(workspace) as db:
        # float64 holds ids exactly, up to 2**53.
        before = columns(db, SCORES_SQL, [old_set_id], np.float64)
        after = columns(db, SCORES_SQL, [new_set_id], np.float64)
    codes, rows_old, rows_new = np.intersect1d(
        _codes(before), _codes(after), assume_unique=True, return_indices=True
    )
    correction = before[4][rows_old]
    return SharedPairs(
        codes,
        before[2][rows_old].astype(np.int64),
        after[2][rows_new].astype(np.int64),
        before[3][rows_old],
        after[3][rows_new],
        np.where(correction == NONE, np.nan, correction),
        before[5][rows_old] > 0,
        before.shape[1] - len(codes),
        after.shape[1] - len(codes),
    )


def _codes(found: np.ndarray) -> np.ndarray:
    return pair_codes(found[0].astype(np.int64), found[1].astype(np.int64))


LATER_SQL = """
SELECT (sentence1_id << 31) | sentence2_id FROM silver_pair WHERE id IN (
  SELECT pair_id FROM edit_change JOIN edit ON edit.id = edit_id
  WHERE silver_set_id = ?1 AND subject = 'silver_pair' GROUP BY pair_id HAVING min(at) > ?2
)
"""


def decided_later(workspace: Workspace, set_id: int, moment: str) -> np.ndarray:
    """The `pair_codes` of the pairs of a set on which nobody had decided at a stored moment, but somebody has since."""
    with reading(workspace) as db:
        (codes,) = columns(db, LATER_SQL, [set_id, moment], np.int64)
    return codes


def pair_texts(workspace: Workspace, pair_ids: Sequence[int]) -> dict[int, tuple[str, str]]:
    """The sentences of a few silver pairs by their id."""
    marks = ", ".join("?" * len(pair_ids))
    with reading(workspace) as db:
        rows = db.execute(
            "SELECT silver_pair.id, first.text, second.text FROM silver_pair"
            " JOIN sentence AS first ON first.id = sentence1_id"
            f" JOIN sentence AS second ON second.id = sentence2_id WHERE silver_pair.id IN ({marks})",
            list(pair_ids),
        )
        return {row[0]: (row[1], row[2]) for row in rows}
