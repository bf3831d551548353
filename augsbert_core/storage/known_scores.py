"""Scores that a labeler has given already: what a new labelling can take over."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from sqlite_utils import Database

from augsbert_core.storage.database import Workspace, reading
from augsbert_core.storage.silver_sets import add_silver_scores

# A kept set repeats scores of its pool, so it need not be asked.
SAME_LABELER_SQL = """
SELECT silver_set.id FROM silver_set JOIN run ON run.id = silver_set.run_id
WHERE silver_set.project_id = (SELECT project_id FROM candidate_set WHERE id = :candidates)
  AND silver_set.labeler = :labeler AND silver_set.rule IS NULL AND NOT silver_set.deleting
  AND json_extract(run.options, '$.max_length') IS :max_length
  AND coalesce(json_extract(run.options, '$.both_orders'), 0) = :both_orders
  AND json_extract(run.metrics, '$.calibration_hash') IS :calibration_hash
ORDER BY silver_set.id DESC
"""

KNOWN_PAIRS_SQL = """
SELECT count(*) FROM candidate_pair AS candidate
WHERE candidate_set_id = :candidates AND EXISTS (
  SELECT 1 FROM silver_pair AS known
  WHERE known.silver_set_id IN (SELECT value FROM json_each(:sets))
    AND known.sentence1_id = candidate.sentence1_id AND known.sentence2_id = candidate.sentence2_id)
"""

OWN_SQL = """
SELECT candidate_set_id, labeler, json_extract(run.options, '$.max_length') AS max_length,
  coalesce(json_extract(run.options, '$.both_orders'), 0) AS both_orders,
  json_extract(run.metrics, '$.calibration_hash') AS calibration_hash
FROM silver_set JOIN run ON run.id = silver_set.run_id WHERE silver_set.id = ?
"""

KNOWN_SQL = """
SELECT candidate.sentence1_id, candidate.sentence2_id, candidate.rank, candidate.sampler_score,
  known.score, known.raw_score, known.order_gap, known.label_spread
FROM candidate_pair AS candidate
CROSS JOIN silver_pair AS known ON known.silver_set_id = :known
  AND known.sentence1_id = candidate.sentence1_id AND known.sentence2_id = candidate.sentence2_id
WHERE candidate.candidate_set_id = :candidates
  AND NOT EXISTS (SELECT 1 FROM silver_pair AS done WHERE done.silver_set_id = :set
    AND done.sentence1_id = candidate.sentence1_id AND done.sentence2_id = candidate.sentence2_id)
LIMIT 50000
"""


@dataclass(frozen=True)
class LabelingAsked:
    """What must agree for a score to be the same score.

    calibration_hash: of the gold pairs that a bi-encoder's cosines are calibrated on, None without one.
    """

    candidate_set_id: int
    labeler: str
    max_length: int | None = None
    both_orders: bool = False
    calibration_hash: str | None = None


def never_changes(labeler: str) -> bool:
    """Whether a labeler consists of runs alone; behind a name or a folder there may be other weights tomorrow."""
    return all(part.startswith("run:") for part in labeler.split(" + "))


def count_known_scores(
    workspace: Workspace,
    candidate_set_id: int,
    labeler: str,
    max_length: int | None = None,
    both_orders: bool = False,
    calibration_hash: str | None = None,
) -> int:
    """How many pairs of a candidate set `copy_known_scores` would fill, for a labeler in this use."""
    asked = LabelingAsked(candidate_set_id, labeler, max_length, both_orders, calibration_hash)
    with reading(workspace) as db:
        sets = _same_labeler(db, asked)
        if not sets:
            return 0
        told = {"candidates": candidate_set_id, "sets": json.dumps(sets)}
        return int(db.execute(KNOWN_PAIRS_SQL, told).fetchone()[0])


def copy_known_scores(workspace: Workspace, set_id: int) -> int:
    """Give a silver set the scores that its labeler has given to its pairs before; returns how many.

    Taken from sets of this project whose labeler is the same and consists of runs, read texts up to the same
    length in the same orders, and was calibrated on the same gold; what was uncertain comes along.
    Corrections are not taken: they belong to their set. The set's run must hold its `calibration_hash`
    already.
    """
    with reading(workspace) as db:
        own = LabelingAsked(**dict(db.execute(OWN_SQL, [set_id]).fetchone()))
        others = [known for known in _same_labeler(db, own) if known != set_id]
    n_copied = 0
    for known in others:
        while True:
            with reading(workspace) as db:
                told = {"set": set_id, "known": known, "candidates": own.candidate_set_id}
                rows = db.execute(KNOWN_SQL, told).fetchall()
            if not rows:
                break
            add_silver_scores(workspace, set_id, (tuple(row) for row in rows))
            n_copied += len(rows)
    return n_copied


def _same_labeler(db: Database, asked: LabelingAsked) -> list[int]:
    if not never_changes(asked.labeler):
        return []
    told: dict[str, Any] = asdict(asked)
    told["candidates"] = told.pop("candidate_set_id")
    return [row[0] for row in db.execute(SAME_LABELER_SQL, told)]
