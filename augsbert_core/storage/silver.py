"""Silver sets: candidate pairs with a labeler's score, a human correction, and a status."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from augsbert_core.errors import WorkbenchError
from augsbert_core.pairs import ScoredPairs
from augsbert_core.storage.database import Workspace, now, reading, writing
from augsbert_core.storage.queue import refuse_while_at_work
from augsbert_core.storage.records import SilverSet, record

STATUSES = ("unreviewed", "corrected", "accepted", "rejected", "flagged")

SCORE_BINS = 512
"""Silver scores are counted in this many bins for densities, so that a million pairs stay quick."""

SET_SQL = """
SELECT silver_set.*, candidate_set.strategy, candidate_set.n_pairs AS n_candidates, run.state,
  (SELECT count(*) FROM silver_pair WHERE silver_set_id = silver_set.id) AS n_pairs
FROM silver_set
JOIN candidate_set ON candidate_set.id = candidate_set_id
JOIN run ON run.id = silver_set.run_id
"""


def open_silver_set(
    workspace: Workspace,
    project_id: int,
    run_id: int,
    *,
    candidate_set_id: int,
    labeler: str,
    labeler_run_id: int | None,
) -> int:
    """The silver set of a labelling run: made at its first attempt, found again at later ones."""
    with writing(workspace) as db:
        row = db.execute("SELECT id FROM silver_set WHERE run_id = ?", [run_id]).fetchone()
        if row:
            return int(row[0])
        cursor = db.execute(
            "INSERT INTO silver_set (project_id, run_id, candidate_set_id, labeler, labeler_run_id,"
            " created_at) VALUES (?, ?, ?, ?, ?, ?)",
            [project_id, run_id, candidate_set_id, labeler, labeler_run_id, now()],
        )
        return int(cursor.lastrowid or 0)


UNSCORED_SQL = """
SELECT sentence1_id, sentence2_id, first.text, second.text, candidate.rank, candidate.sampler_score
FROM candidate_pair AS candidate
JOIN sentence AS first ON first.id = sentence1_id
JOIN sentence AS second ON second.id = sentence2_id
WHERE candidate_set_id = (SELECT candidate_set_id FROM silver_set WHERE id = :set)
  AND NOT EXISTS (SELECT 1 FROM silver_pair AS done WHERE done.silver_set_id = :set
    AND done.sentence1_id = candidate.sentence1_id AND done.sentence2_id = candidate.sentence2_id)
ORDER BY sentence1_id, sentence2_id
LIMIT :limit
"""


@dataclass(frozen=True)
class Unscored:
    """Candidates that still lack a silver score, as parallel columns."""

    ids: list[tuple[int, int]]
    sentences1: list[str]
    sentences2: list[str]
    origin: list[tuple[int | None, float | None]]

    def __len__(self) -> int:
        return len(self.ids)


def unscored_pairs(workspace: Workspace, set_id: int, limit: int = 50_000) -> Unscored:
    """The next candidates of a silver set that have no score yet."""
    with reading(workspace) as db:
        rows = db.execute(UNSCORED_SQL, {"set": set_id, "limit": limit}).fetchall()
    return Unscored(
        [(row[0], row[1]) for row in rows],
        [row[2] for row in rows],
        [row[3] for row in rows],
        [(row[4], row[5]) for row in rows],
    )


def add_silver_scores(
    workspace: Workspace,
    set_id: int,
    rows: Iterable[tuple[int, int, int | None, float | None, float, float]],
) -> None:
    """Store (sentence1_id, sentence2_id, rank, sampler_score, score, raw_score) rows in one transaction."""
    with writing(workspace) as db:
        db.conn.executemany(
            "INSERT INTO silver_pair (silver_set_id, sentence1_id, sentence2_id, rank, sampler_score,"
            " score, raw_score) VALUES (?, ?, ?, ?, ?, ?, ?)",
            ((set_id, *row) for row in rows),
        )


def list_silver_sets(workspace: Workspace, project_id: int) -> list[SilverSet]:
    """A project's silver sets, newest first, half-done ones included."""
    with reading(workspace) as db:
        rows = db.execute(
            f"{SET_SQL} WHERE silver_set.project_id = ? ORDER BY silver_set.id DESC",
            [project_id],
        )
        return [record(SilverSet, row) for row in rows]


def get_silver_set(workspace: Workspace, set_id: int) -> SilverSet:
    """The silver set with this id. WorkbenchError when there is none."""
    with reading(workspace) as db:
        row = db.execute(f"{SET_SQL} WHERE silver_set.id = ?", [set_id]).fetchone()
    if row is None:
        raise WorkbenchError(f"There is no silver set {set_id}. Label a candidate set first.")
    return record(SilverSet, row)


def delete_silver_set(workspace: Workspace, set_id: int) -> None:
    """Remove a silver set with its labels and corrections. WorkbenchError: a job may need it."""
    project_id = get_silver_set(workspace, set_id).project_id
    with writing(workspace) as db:
        refuse_while_at_work(db, project_id, "delete the silver set")
        db.execute("DELETE FROM silver_pair WHERE silver_set_id = ?", [set_id])
        db.execute(
            "DELETE FROM run WHERE id = (SELECT run_id FROM silver_set WHERE id = ?)",
            [set_id],
        )


def silver_training_pairs(workspace: Workspace, set_id: int) -> ScoredPairs:
    """What a student learns from: corrections in place of scores, rejected pairs left out."""
    with reading(workspace) as db:
        rows = db.execute(
            "SELECT first.text, second.text, final_score FROM silver_pair"
            " JOIN sentence AS first ON first.id = sentence1_id"
            " JOIN sentence AS second ON second.id = sentence2_id"
            " WHERE silver_set_id = ? AND status <> 'rejected' ORDER BY sentence1_id, sentence2_id",
            [set_id],
        ).fetchall()
    return ScoredPairs(
        [row[0] for row in rows],
        [row[1] for row in rows],
        np.array([row[2] for row in rows], dtype=np.float64),
    )


@dataclass(frozen=True)
class SilverFilter:
    """Which silver pairs the table shows. Bounds are inclusive, on the corrected score in [0, 1]."""

    low: float = 0.0
    high: float = 1.0
    statuses: tuple[str, ...] = ()
    max_rank: int | None = None
    text: str = ""


SORTS = {
    "Score, high to low": "final_score DESC",
    "Score, low to high": "final_score",
    "Sampler rank": "rank, final_score DESC",
    "Order of sampling": "silver_pair.sentence1_id, silver_pair.sentence2_id",
}

PAGE_SQL = """
SELECT silver_pair.id, first.text AS sentence1, second.text AS sentence2, score, correction,
  final_score, raw_score, status, rank, sampler_score
FROM silver_pair
JOIN sentence AS first ON first.id = silver_pair.sentence1_id
JOIN sentence AS second ON second.id = silver_pair.sentence2_id
WHERE {where} ORDER BY {order} LIMIT :limit OFFSET :offset
"""


def _conditions(set_id: int, chosen: SilverFilter) -> tuple[str, dict[str, Any]]:
    clauses = ["silver_set_id = :set", "final_score BETWEEN :low AND :high"]
    values: dict[str, Any] = {
        "set": set_id,
        "low": chosen.low - 1e-9,
        "high": chosen.high + 1e-9,
    }
    if chosen.statuses:
        names = {f"status{number}": status for number, status in enumerate(chosen.statuses)}
        clauses.append(f"status IN ({', '.join(':' + name for name in names)})")
        values |= names
    if chosen.max_rank is not None:
        clauses.append("rank <= :max_rank")
        values["max_rank"] = chosen.max_rank
    if chosen.text.strip():
        clauses.append(
            "EXISTS (SELECT 1 FROM sentence WHERE sentence.id IN"
            " (silver_pair.sentence1_id, silver_pair.sentence2_id)"
            " AND instr(lower(sentence.text), :text))"
        )
        values["text"] = chosen.text.strip().lower()
    return " AND ".join(clauses), values


def silver_page(
    workspace: Workspace,
    set_id: int,
    chosen: SilverFilter,
    *,
    sort: str = "Score, high to low",
    offset: int = 0,
    limit: int = 100,
) -> pd.DataFrame:
    """One page of silver pairs with their texts; sort: a key of SORTS."""
    where, values = _conditions(set_id, chosen)
    values |= {"limit": limit, "offset": offset}
    with reading(workspace) as db:
        rows = db.execute(PAGE_SQL.format(where=where, order=SORTS[sort]), values)
        return pd.DataFrame([dict(row) for row in rows])


def count_silver(workspace: Workspace, set_id: int, chosen: SilverFilter) -> int:
    """How many silver pairs pass the filter."""
    where, values = _conditions(set_id, chosen)
    with reading(workspace) as db:
        return int(
            db.execute(f"SELECT count(*) FROM silver_pair WHERE {where}", values).fetchone()[0]
        )


def silver_score_counts(workspace: Workspace, set_id: int) -> np.ndarray:
    """How many corrected scores fall in each of SCORE_BINS equal bins of [0, 1]; rejected pairs left out."""
    with reading(workspace) as db:
        rows = db.execute(
            f"SELECT min(cast(final_score * {SCORE_BINS} AS INTEGER), {SCORE_BINS - 1}) AS bin, count(*)"
            " FROM silver_pair WHERE silver_set_id = ? AND status <> 'rejected' GROUP BY bin",
            [set_id],
        ).fetchall()
    counts = np.zeros(SCORE_BINS)
    for position, count in rows:
        counts[position] = count
    return counts


def silver_status_counts(workspace: Workspace, set_id: int) -> dict[str, int]:
    """How many pairs of a silver set have each status."""
    with reading(workspace) as db:
        rows = db.execute(
            "SELECT status, count(*) FROM silver_pair WHERE silver_set_id = ? GROUP BY status",
            [set_id],
        )
        return dict.fromkeys(STATUSES, 0) | dict(rows)


def review_silver_pair(
    workspace: Workspace,
    pair_id: int,
    *,
    correction: float | None = None,
    status: str,
    actor: str,
    seen: tuple[float | None, str] | None = None,
) -> None:
    """Save one human decision on one silver pair at once, and log what it replaced.

    correction: in [0, 1], with status "corrected"; None keeps the labeler's score. seen: the correction
    and status that the decision was made on. WorkbenchError: someone has changed them since.
    """
    if status not in STATUSES:
        raise ValueError(f"status must be one of {STATUSES}, not {status!r}")
    if correction is not None and not 0.0 <= correction <= 1.0:
        raise WorkbenchError(f"A corrected score must lie in the scale; {correction:g} does not.")
    with writing(workspace) as db:
        row = db.execute(
            "SELECT silver_pair.correction, silver_pair.status, project_id FROM silver_pair"
            " JOIN silver_set ON silver_set.id = silver_set_id WHERE silver_pair.id = ?",
            [pair_id],
        ).fetchone()
        if row is None:
            raise WorkbenchError("This silver pair does not exist any more: its set was deleted.")
        before = {"correction": row["correction"], "status": row["status"]}
        after = {"correction": correction, "status": status}
        if seen is not None and seen != (row["correction"], row["status"]):
            raise WorkbenchError(
                "This pair was changed in another window meanwhile. Nothing was saved; the table now "
                "shows the pair as it is."
            )
        if before == after:
            return
        db.execute(
            "UPDATE silver_pair SET correction = ?, status = ? WHERE id = ?",
            [correction, status, pair_id],
        )
        db.execute(
            "INSERT INTO event (project_id, at, actor, kind, subject, subject_id, before, after)"
            " VALUES (?, ?, ?, 'review', 'silver_pair', ?, ?, ?)",
            [
                row["project_id"],
                now(),
                actor,
                pair_id,
                json.dumps(before),
                json.dumps(after),
            ],
        )


def undo_last_review(workspace: Workspace, set_id: int, actor: str) -> str | None:
    """Take back this actor's latest decision in a silver set; returns what happened, None when none is left.

    Undoing is itself an event: the log only grows. WorkbenchError: someone has changed the pair since.
    """
    with writing(workspace) as db:
        event = db.execute(LAST_REVIEW_SQL, {"set": set_id, "actor": actor}).fetchone()
        if event is None:
            return None
        before, after = json.loads(event["before"]), json.loads(event["after"])
        current = db.execute(
            "SELECT correction, status FROM silver_pair WHERE id = ?",
            [event["subject_id"]],
        ).fetchone()
        if dict(current) != after:
            raise WorkbenchError(
                "This pair has been changed by someone else since. Correct it in the table instead."
            )
        db.execute(
            "UPDATE silver_pair SET correction = :correction, status = :status WHERE id = :id",
            {**before, "id": event["subject_id"]},
        )
        db.execute(
            "INSERT INTO event (project_id, at, actor, kind, subject, subject_id, before, after)"
            " VALUES (?, ?, ?, 'undo', 'event', ?, ?, ?)",
            [
                event["project_id"],
                now(),
                actor,
                event["id"],
                event["after"],
                event["before"],
            ],
        )
        text = db.execute(
            "SELECT first.text FROM silver_pair JOIN sentence AS first ON first.id = sentence1_id"
            " WHERE silver_pair.id = ?",
            [event["subject_id"]],
        ).fetchone()[0]
    return f"Back to {before['status']}: {text[:60]}"


LAST_REVIEW_SQL = """
SELECT event.* FROM event JOIN silver_pair ON silver_pair.id = event.subject_id
WHERE event.kind = 'review' AND event.subject = 'silver_pair' AND event.actor = :actor
  AND silver_set_id = :set
  AND NOT EXISTS (SELECT 1 FROM event AS undo WHERE undo.kind = 'undo' AND undo.subject = 'event'
    AND undo.subject_id = event.id)
ORDER BY event.id DESC LIMIT 1
"""


def silver_rows(
    workspace: Workspace, set_id: int
) -> Iterator[tuple[str, str, float, float, str, int | None]]:
    """All pairs of a silver set for export: sentences, final and labeler's score in [0, 1], status, rank."""
    with reading(workspace) as db:
        yield from map(
            tuple,
            db.execute(
                "SELECT first.text, second.text, final_score, score, status, rank FROM silver_pair"
                " JOIN sentence AS first ON first.id = sentence1_id"
                " JOIN sentence AS second ON second.id = sentence2_id"
                " WHERE silver_set_id = ? ORDER BY sentence1_id, sentence2_id",
                [set_id],
            ),
        )
