"""Which pairs an annotation task may choose from: candidates, silver or gold pairs, read as arrays."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from augsbert_core.pairs import pair_codes
from augsbert_core.storage.database import Workspace, columns, reading, writing
from augsbert_core.storage.sentences import rows_of_ids
from augsbert_core.storage.silver_student import read_scores

UNKNOWN = "9e999"  # SQLite's infinity; NULLs do not fit into arrays


@dataclass(frozen=True)
class TaskPool:
    """Pairs as parallel arrays, in the order of their sentence ids, none twice.

    first, second: int64 sentence ids, first ≤ second. source_ids: int64 ids of the silver or gold pairs; None for
    candidates. scores, sampler_scores, order_gaps, spreads: float64, NaN where not known.
    """

    first: np.ndarray
    second: np.ndarray
    source_ids: np.ndarray | None = None
    scores: np.ndarray | None = None
    sampler_scores: np.ndarray | None = None
    order_gaps: np.ndarray | None = None
    spreads: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.first)

    def take(self, rows: np.ndarray) -> "TaskPool":
        """These rows alone. rows: places, or a bool per row."""
        return TaskPool(
            self.first[rows],
            self.second[rows],
            *(
                None if values is None else values[rows]
                for values in (
                    self.source_ids,
                    self.scores,
                    self.sampler_scores,
                    self.order_gaps,
                    self.spreads,
                )
            ),
        )

    @property
    def codes(self) -> np.ndarray:
        """`pairs.pair_codes` of the pairs."""
        return pair_codes(self.first, self.second)


def candidate_pool(workspace: Workspace, set_id: int) -> TaskPool:
    """The pairs of a candidate set. A sampler's score is known where its semantic search found the pair, or where
    there is no such rank to tell."""
    with reading(workspace) as db:
        found = columns(
            db,
            f"SELECT sentence1_id, sentence2_id, coalesce(sampler_score, {UNKNOWN}),"
            " bm25_rank IS NOT NULL AND semantic_rank IS NULL"
            " FROM candidate_pair WHERE candidate_set_id = ? ORDER BY sentence1_id, sentence2_id",
            [set_id],
            np.float64,
        )
    scores = np.where((found[3] == 0) & np.isfinite(found[2]), found[2], np.nan)
    return TaskPool(*_ids(found), sampler_scores=scores)


def silver_pool(workspace: Workspace, set_id: int, *, with_rejected: bool = False) -> TaskPool:
    """The pairs of a silver set with the labeler's scores; those that people rejected when asked for alone."""
    with reading(workspace) as db:
        found = columns(
            db,
            f"SELECT sentence1_id, sentence2_id, id, score, coalesce(order_gap, {UNKNOWN}),"
            f" coalesce(label_spread, {UNKNOWN}) FROM silver_pair"
            " WHERE silver_set_id = ? AND (? OR status <> 'rejected')"
            " ORDER BY sentence1_id, sentence2_id",
            [set_id, with_rejected],
            np.float64,
        )
    return TaskPool(
        *_ids(found),
        source_ids=found[2].astype(np.int64),
        scores=found[3],
        order_gaps=_known(found[4]),
        spreads=_known(found[5]),
    )


def gold_pool(workspace: Workspace, project_id: int, split: str = "") -> TaskPool:
    """The gold pairs of a split, of all when it is "". Of a pair that is there several times, the first row."""
    with reading(workspace) as db:
        found = columns(
            db,
            "SELECT sentence1_id, sentence2_id, min(id) FROM gold_pair WHERE project_id = ?1"
            " AND (?2 = '' OR split = ?2) GROUP BY sentence1_id, sentence2_id"
            " ORDER BY sentence1_id, sentence2_id",
            [project_id, split],
            np.float64,
        )
    return TaskPool(*_ids(found), source_ids=found[2].astype(np.int64))


def codes_in_open_tasks(workspace: Workspace, project_id: int) -> np.ndarray:
    """The `pairs.pair_codes` of all pairs of a project's tasks that are not closed."""
    with reading(workspace) as db:
        (codes,) = columns(
            db,
            "SELECT (sentence1_id << 31) | sentence2_id FROM annotation_item JOIN annotation_task"
            " ON annotation_task.id = task_id WHERE project_id = ? AND NOT closed",
            [project_id],
            np.int64,
        )
    return codes


def blank_sentences(workspace: Workspace, project_id: int) -> np.ndarray:
    """The ids of sentences of white space alone."""
    with reading(workspace) as db:
        (ids,) = columns(
            db, "SELECT id FROM sentence WHERE project_id = ? AND key = ''", [project_id], np.int64
        )
    return ids


def pair_texts(workspace: Workspace, pool: TaskPool) -> tuple[list[str], np.ndarray]:
    """The distinct sentences of a pool, and the places of each pair's two among them: int64, (2, pairs)."""
    with reading(workspace) as db:
        rows = rows_of_ids(db, np.stack([pool.first, pool.second]), np.zeros(len(pool)))
    return rows.texts, rows.places


@dataclass(frozen=True)
class Corrections:
    """What people corrected in a project's silver sets, the largest corrections first."""

    first: np.ndarray
    second: np.ndarray
    labels: np.ndarray
    corrections: np.ndarray
    sentences1: list[str]
    sentences2: list[str]


CORRECTED_SQL = """
SELECT sentence1_id, sentence2_id, score, correction, one.text, other.text FROM silver_pair
JOIN sentence AS one ON one.id = sentence1_id JOIN sentence AS other ON other.id = sentence2_id
WHERE silver_set_id = ? AND status = 'corrected' AND correction IS NOT NULL
ORDER BY abs(correction - score) DESC, silver_pair.id LIMIT ?
"""


def corrected_pairs(workspace: Workspace, set_ids: Sequence[int], limit: int) -> Corrections:
    """The largest corrections in these silver sets, each pair once."""
    found: dict[tuple[int, int], tuple[float, float, str, str]] = {}
    with reading(workspace) as db:
        for set_id in set_ids:
            for row in db.execute(CORRECTED_SQL, [set_id, limit]):
                found.setdefault((row[0], row[1]), (row[2], row[3], row[4], row[5]))
    ordered = sorted(found.items(), key=lambda item: -abs(item[1][1] - item[1][0]))[:limit]
    ids = np.array([key for key, _ in ordered], dtype=np.int64).reshape(-1, 2)
    return Corrections(
        ids[:, 0],
        ids[:, 1],
        np.array([row[0] for _, row in ordered], dtype=np.float64),
        np.array([row[1] for _, row in ordered], dtype=np.float64),
        [row[2] for _, row in ordered],
        [row[3] for _, row in ordered],
    )


def _ids(found: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return found[0].astype(np.int64), found[1].astype(np.int64)


def _known(values: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(values), values, np.nan)


def metrics_of_task(workspace: Workspace, run_id: int) -> dict[str, Any] | None:
    """What the run of a task said about it, None when the run has made no task yet."""
    with reading(workspace) as db:
        row = db.execute(
            "SELECT metrics FROM run JOIN annotation_task ON run_id = run.id WHERE run.id = ?",
            [run_id],
        ).fetchone()
    return json.loads(row[0]) if row else None


def forget_run(workspace: Workspace, run_id: int) -> None:
    """Remove the run of a task that could not be stored."""
    with writing(workspace) as db:
        db.execute("DELETE FROM run WHERE id = ? AND state <> 'done'", [run_id])


def stored_student(workspace: Workspace, set_id: int, student: str) -> str | None:
    """Under which name this bi-encoder ("run:7", or a model's name) has scored a whole silver set; None: it has not."""
    with reading(workspace) as db:
        row = db.execute(
            "SELECT model FROM silver_student JOIN silver_set ON silver_set.id = silver_set_id"
            " WHERE silver_set_id = :set AND model IN (:student, 'model:' || :student)"
            " AND silver_student.n_pairs = silver_set.n_pairs",
            {"set": set_id, "student": student},
        ).fetchone()
    return str(row[0]) if row else None


def stored_student_scores(
    workspace: Workspace, set_id: int, model: str, source_ids: np.ndarray
) -> np.ndarray:
    """What such a model said about these silver pairs: float64, NaN for pairs that it has not seen."""
    with reading(workspace) as db:
        scores = read_scores(db, set_id, model)
        (ids,) = columns(
            db, "SELECT id FROM silver_pair WHERE silver_set_id = ?", [set_id], np.int64
        )
    ids = np.sort(ids)[: len(scores)]
    places = np.minimum(np.searchsorted(ids, source_ids), max(len(ids) - 1, 0))
    return np.where(ids[places] == source_ids, scores[places], np.nan).astype(np.float64)
