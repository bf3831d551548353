"""Silver pairs that people vouch for, to be trained on as gold: corrected ones and accepted ones."""

from dataclasses import dataclass

import numpy as np

from augsbert_core.pairs import ScoredPairs, pair_codes
from augsbert_core.storage.database import Workspace, reading

VOUCHED = "status <> 'unreviewed' AND (status = 'corrected' OR status = 'accepted')"
"""As in the condition of the index of reviewed pairs, which SQLite takes only when it finds it word for word."""

VOUCHED_SQL = f"""
SELECT sentence1_id, sentence2_id, first.text AS sentence1, second.text AS sentence2, final_score, status,
  (SELECT max(CASE split WHEN 'train' THEN 1 ELSE 2 END) FROM gold_pair
    WHERE gold_pair.project_id = silver_set.project_id AND gold_pair.sentence1_id = pair.sentence1_id
      AND gold_pair.sentence2_id = pair.sentence2_id) AS in_gold
FROM silver_pair AS pair
JOIN silver_set ON silver_set.id = silver_set_id
JOIN sentence AS first ON first.id = pair.sentence1_id
JOIN sentence AS second ON second.id = pair.sentence2_id
WHERE silver_set_id = ? AND {VOUCHED}
ORDER BY sentence1_id, sentence2_id
"""


@dataclass(frozen=True)
class Vouched:
    """The corrected and accepted pairs of a silver set.

    pairs, codes: those that can be trained on as gold, with their `pair_codes`; corrected: a flag for each, else it
    was accepted. all_codes: of every vouched pair.
    n_corrected, n_accepted: among pairs. n_leaks: left out because dev or test gold holds the pair; n_known: left out
    because the gold training pairs do.
    """

    pairs: ScoredPairs
    codes: np.ndarray
    corrected: np.ndarray
    all_codes: np.ndarray
    n_leaks: int = 0
    n_known: int = 0

    @property
    def n_corrected(self) -> int:
        return int(self.corrected.sum())

    @property
    def n_accepted(self) -> int:
        return len(self.corrected) - self.n_corrected


def vouched_pairs(workspace: Workspace, set_id: int) -> Vouched:
    """What people corrected or accepted in a silver set, in the order of its pairs."""
    with reading(workspace) as db:
        rows = db.execute(VOUCHED_SQL, [set_id]).fetchall()
    first, second = (np.array([row[column] for row in rows], dtype=np.int64) for column in range(2))
    codes = pair_codes(first, second)
    taken = [row for row in rows if row["in_gold"] is None]
    kept = np.array([row["in_gold"] is None for row in rows], dtype=bool)
    return Vouched(
        ScoredPairs(
            [row["sentence1"] for row in taken],
            [row["sentence2"] for row in taken],
            np.array([row["final_score"] for row in taken], dtype=np.float64),
        ),
        codes[kept],
        np.array([row["status"] == "corrected" for row in taken], dtype=bool),
        codes,
        n_leaks=sum(row["in_gold"] == 2 for row in rows),
        n_known=sum(row["in_gold"] == 1 for row in rows),
    )
