"""Compare what two runs have put into the store: silver scores, candidates."""

from dataclasses import dataclass

from augsbert_core.storage.database import Workspace, reading

SILVER_SQL = """
SELECT count(*), max(abs(here.score - there.score)), sum(here.score <> there.score)
FROM silver_pair AS here
JOIN silver_pair AS there ON there.silver_set_id = :second
  AND there.sentence1_id = here.sentence1_id AND there.sentence2_id = here.sentence2_id
WHERE here.silver_set_id = :first
"""

CANDIDATES_SQL = """
SELECT count(*)
FROM candidate_pair AS here
JOIN candidate_pair AS there ON there.candidate_set_id = :second
  AND there.sentence1_id = here.sentence1_id AND there.sentence2_id = here.sentence2_id
WHERE here.candidate_set_id = :first
"""


@dataclass(frozen=True)
class PairsDifference:
    """How two sets of pairs differ. n_common: pairs in both.

    largest: difference of the labelers' scores of a pair in both; None where there is none, or no scores.
    n_different: pairs in both with other scores.
    """

    n_first: int
    n_second: int
    n_common: int
    largest: float | None = None
    n_different: int = 0


def silver_difference(workspace: Workspace, first_id: int, second_id: int) -> PairsDifference:
    """Two silver sets, pair by pair; corrections are left aside."""
    asked = {"first": first_id, "second": second_id}
    with reading(workspace) as db:
        sizes = [
            db.execute("SELECT count(*) FROM silver_pair WHERE silver_set_id = ?", [one]).fetchone()
            for one in (first_id, second_id)
        ]
        n_common, largest, n_different = db.execute(SILVER_SQL, asked).fetchone()
    return PairsDifference(sizes[0][0], sizes[1][0], n_common, largest, n_different or 0)


def candidate_difference(workspace: Workspace, first_id: int, second_id: int) -> PairsDifference:
    """Two candidate sets, pair by pair."""
    asked = {"first": first_id, "second": second_id}
    with reading(workspace) as db:
        sizes = [
            db.execute(
                "SELECT count(*) FROM candidate_pair WHERE candidate_set_id = ?", [one]
            ).fetchone()
            for one in (first_id, second_id)
        ]
        n_common = db.execute(CANDIDATES_SQL, asked).fetchone()[0]
    return PairsDifference(sizes[0][0], sizes[1][0], n_common)
