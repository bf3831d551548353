"""Gold pairs: rows of imported files, exactly as many as were good."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sqlite_utils import Database

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.pair_rows import PairRows
from augsbert_core.pairs import SPLITS, ScoredPairs, ScoreRange
from augsbert_core.progress import Report, ShouldStop, never, silent, stop_if, stretch
from augsbert_core.storage.bulk import adding_rows
from augsbert_core.storage.database import Workspace, reading, writing
from augsbert_core.storage.queue import refuse_while_at_work
from augsbert_core.storage.runs import ImportRecord, insert_finished_run
from augsbert_core.storage.sentences import number_to_id

CHUNK = 20_000
"""So many rows are written between two looks at whether to stop."""


def add_gold_rows(
    workspace: Workspace,
    project_id: int,
    rows: PairRows,
    *,
    records: Sequence[ImportRecord],
    metrics: Sequence[Mapping[str, Any]],
    task: str,
    score_range: ScoreRange,
    report: Report = silent,
    should_stop: ShouldStop = never,
) -> list[int]:
    """Write the files of one import, all of their rows or none; returns the run of each file.

    records, metrics: one per file, in the order that `rows.sources` counts. The first rows of a project
    set its task and score range. WorkbenchError: the project already holds gold pairs of another score range or
    task. Stopped: nothing is written.
    """
    with writing(workspace) as db:
        _declare_scores(db, project_id, task, score_range)
        run_ids = [
            insert_finished_run(db, project_id, record, told)
            for record, told in zip(records, metrics, strict=True)
        ]
        known = rows.numbered
        ids = number_to_id(
            db, project_id, known, report=stretch(report, 0.0, 0.4), should_stop=should_stop
        )
        writing_rows = stretch(report, 0.4, 1.0)
        with adding_rows(db, "gold_pair", len(rows)):
            for start in range(0, len(rows), CHUNK):
                stop_if(should_stop)
                db.conn.executemany(
                    INSERT_SQL, _gold_values(project_id, run_ids, rows, ids, records, start)
                )
                writing_rows(
                    (start + CHUNK) / max(len(rows), CHUNK),
                    f"{start:,} of {len(rows):,} pairs written",
                )
    return run_ids


def _declare_scores(db: Database, project_id: int, task: str, declared: ScoreRange) -> None:
    project = db.execute("SELECT * FROM project WHERE id = ?", [project_id]).fetchone()
    if project is None:
        raise WorkbenchError(f"Project {project_id} does not exist (any more). Choose another one.")
    has_gold = db.execute(
        "SELECT 1 FROM gold_pair WHERE project_id = ? LIMIT 1", [project_id]
    ).fetchone()
    if not has_gold:
        db.execute(
            "UPDATE project SET task = ?, score_low = ?, score_high = ? WHERE id = ?",
            [task, declared.low, declared.high, project_id],
        )
    elif (declared.low, declared.high) != (project["score_low"], project["score_high"]):
        raise WorkbenchError(
            f"This project's scores run from {project['score_low']:g} to {project['score_high']:g}, "
            f"but the file was declared as {declared}. Import it with the same range, or into a "
            "project of its own."
        )
    elif task != project["task"]:
        raise WorkbenchError(
            f"This project is for {project['task']}, but the file was declared as {task}. "
            "Import it with the same task, or into a project of its own."
        )


def _gold_values(
    project_id: int,
    run_ids: Sequence[int],
    rows: PairRows,
    ids: np.ndarray,
    records: Sequence[ImportRecord],
    start: int,
) -> Iterator[tuple[Any, ...]]:
    """The values of `INSERT_SQL` for a chunk of rows."""
    part = slice(start, min(start + CHUNK, len(rows)))
    n_rows = part.stop - part.start
    first, second = ids[rows.numbered.places[:, part]]
    sources = rows.sources[part].tolist()
    names = [record.name for record in records]

    def texts(column: list[str] | None) -> Sequence[str]:
        return [""] * n_rows if column is None else column[part]

    return zip(
        [project_id] * n_rows,
        [run_ids[source] for source in sources],
        np.minimum(first, second).tolist(),
        np.maximum(first, second).tolist(),
        (first > second).tolist(),
        rows.scores[part].tolist(),
        rows.raw_scores[part].tolist(),
        [SPLITS[split] for split in rows.splits[part].tolist()],
        texts(rows.groups),
        [names[source] for source in sources],
        rows.lines[part].tolist(),
        texts(rows.labels),
        texts(rows.source_ids),
        strict=True,
    )


INSERT_SQL = """
INSERT INTO gold_pair (project_id, run_id, sentence1_id, sentence2_id, swapped, score, raw_score,
  split, group_name, source_file, source_line, raw_label, source_id)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


def remove_import(workspace: Workspace, run_id: int) -> int:
    """Take back one import with the sentences that nothing else uses; returns how many rows went.

    Rows: gold pairs, NLI pairs or triplets.

    WorkbenchError: its pairs have been labelled as candidates, or a job of the project is not done.
    """
    with writing(workspace) as db:
        run = db.execute(
            "SELECT project_id FROM run WHERE id = ? AND step = 'import'", [run_id]
        ).fetchone()
        if run is None:
            raise WorkbenchError("This import is gone already.")
        refuse_while_at_work(db, run["project_id"], "remove the import")
        if db.execute(LABELLED_SQL, [run_id]).fetchone():
            raise WorkbenchError(
                "The pairs of this import have silver labels. Delete the silver set first, then the import."
            )
        for statement in SPOKEN_OF_SQL:
            db.execute(statement, {"run": run_id, "project": run["project_id"]})
        removed = sum(
            db.execute(f"DELETE FROM {table} WHERE run_id = ?", [run_id]).rowcount
            for table in ("gold_pair", "nli_pair", "triplet")
        )
        db.execute("DELETE FROM run WHERE id = ?", [run_id])
        db.execute(ORPHANS_SQL, {"project": run["project_id"]})
    return int(removed)


# Numbers of gold pairs come back, so nothing may speak of those that go.
GONE = "(SELECT id FROM gold_pair WHERE run_id = :run)"
GOLD_EDITS = "SELECT id FROM edit WHERE project_id = :project AND subject = 'gold_pair'"
SPOKEN_OF_SQL = (
    f"DELETE FROM edit_change WHERE edit_id IN ({GOLD_EDITS}) AND pair_id IN {GONE}",
    f"DELETE FROM edit WHERE id IN ({GOLD_EDITS} AND state <> 'logged')"
    " AND NOT EXISTS (SELECT 1 FROM edit_change WHERE edit_id = edit.id)",
    f"DELETE FROM out_of_fold WHERE gold_pair_id IN {GONE}",
    "UPDATE annotation_item SET source_pair_id = NULL WHERE source_pair_id IN "
    f"{GONE} AND task_id IN (SELECT id FROM annotation_task WHERE project_id = :project AND source = 'gold')",
)

LABELLED_SQL = """
SELECT 1 FROM silver_set JOIN candidate_set ON candidate_set.id = candidate_set_id
JOIN silver_pair ON silver_set_id = silver_set.id
WHERE candidate_set.run_id = ? AND NOT silver_set.deleting LIMIT 1
"""

# Every silver pair is a candidate pair too.
ORPHANS_SQL = """
DELETE FROM sentence WHERE project_id = :project AND NOT is_unlabelled AND id NOT IN (
  SELECT sentence1_id FROM gold_pair UNION SELECT sentence2_id FROM gold_pair
  UNION SELECT sentence1_id FROM candidate_pair UNION SELECT sentence2_id FROM candidate_pair
  UNION SELECT premise_id FROM nli_pair WHERE project_id = :project
  UNION SELECT hypothesis_id FROM nli_pair WHERE project_id = :project
  UNION SELECT anchor_id FROM triplet WHERE project_id = :project
  UNION SELECT positive_id FROM triplet WHERE project_id = :project
  UNION SELECT negative_id FROM triplet WHERE project_id = :project
  UNION SELECT sentence1_id FROM annotation_item UNION SELECT sentence2_id FROM annotation_item)
"""

ORDERED_SQL = """
SELECT gold_pair.id, gold_pair.score, gold_pair.raw_score, gold_pair.split, group_name,
  source_file, source_line, raw_label, source_id,
  CASE WHEN swapped THEN second.text ELSE first.text END AS sentence1,
  CASE WHEN swapped THEN first.text ELSE second.text END AS sentence2
FROM gold_pair
JOIN sentence AS first ON first.id = sentence1_id
JOIN sentence AS second ON second.id = sentence2_id
WHERE gold_pair.project_id = :project
"""


def scored_pairs(workspace: Workspace, project_id: int, split: str) -> ScoredPairs:
    """The gold pairs of one split in the order and direction of their files."""
    with reading(workspace) as db:
        rows = db.execute(
            f"SELECT sentence1, sentence2, score FROM ({ORDERED_SQL}) WHERE split = :split ORDER BY id",
            {"project": project_id, "split": split},
        ).fetchall()
    return ScoredPairs(
        [row[0] for row in rows],
        [row[1] for row in rows],
        np.array([row[2] for row in rows], dtype=np.float64),
    )


def data_hash(pairs: ScoredPairs) -> str:
    """A short fingerprint of pairs, their direction, order and scores."""
    digest = hashlib.sha256()
    for first, second, score in zip(pairs.sentences1, pairs.sentences2, pairs.scores, strict=True):
        digest.update(f"{first}\x1f{second}\x1f{score:.9g}\x1e".encode())
    return digest.hexdigest()[:16]


@dataclass(frozen=True)
class GoldFilter:
    """Which gold pairs the table shows. text: both sentences are searched, as typed."""

    splits: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 1.0
    text: str = ""


def conditions(chosen: GoldFilter) -> tuple[str, dict[str, object]]:
    """A WHERE clause on the rows of `ORDERED_SQL`, and its values."""
    clauses = ["score BETWEEN :low AND :high"]
    values: dict[str, object] = {"low": chosen.low - 1e-9, "high": chosen.high + 1e-9}
    if chosen.splits:
        names = {f"split{number}": split for number, split in enumerate(chosen.splits)}
        clauses.append(f"split IN ({', '.join(':' + name for name in names)})")
        values |= names
    if chosen.text.strip():
        clauses.append("(instr(lower(sentence1), :text) OR instr(lower(sentence2), :text))")
        values["text"] = chosen.text.strip().lower()
    return " AND ".join(clauses), values


def gold_page(
    workspace: Workspace,
    project_id: int,
    chosen: GoldFilter,
    *,
    offset: int = 0,
    limit: int = 100,
) -> tuple[pd.DataFrame, int]:
    """One page of the gold table and the number of rows in all pages."""
    where, values = conditions(chosen)
    values |= {"project": project_id, "limit": limit, "offset": offset}
    with reading(workspace) as db:
        total = db.execute(f"SELECT count(*) FROM ({ORDERED_SQL}) WHERE {where}", values).fetchone()
        rows = db.execute(
            f"SELECT * FROM ({ORDERED_SQL}) WHERE {where} ORDER BY id LIMIT :limit OFFSET :offset",
            values,
        )
        page = pd.DataFrame([dict(row) for row in rows])
    return page, int(total[0])


def gold_scores(
    workspace: Workspace,
    project_id: int,
    splits: Sequence[str] = ("train", "dev", "test"),
) -> np.ndarray:
    """The scores in [0, 1] of the named splits, for densities and histograms."""
    marks = ", ".join("?" * len(splits))
    with reading(workspace) as db:
        rows = db.execute(
            f"SELECT score FROM gold_pair WHERE project_id = ? AND split IN ({marks})",
            [project_id, *splits],
        ).fetchall()
    return np.array([row[0] for row in rows], dtype=np.float64)


def split_keys(workspace: Workspace, project_id: int) -> dict[str, set[str]]:
    """The `sentence_key`s of the gold pairs of each split; splits without pairs are left out."""
    found: dict[str, set[str]] = {}
    with reading(workspace) as db:
        for split, key in db.execute(SPLIT_KEYS_SQL, {"project": project_id}):
            found.setdefault(split, set()).add(key)
    return found


SPLIT_KEYS_SQL = """
SELECT split, key FROM (
  SELECT split, sentence1_id AS id FROM gold_pair WHERE project_id = :project
  UNION SELECT split, sentence2_id FROM gold_pair WHERE project_id = :project
) JOIN sentence USING (id)
"""


def gold_pair_ids(workspace: Workspace, project_id: int) -> tuple[np.ndarray, np.ndarray]:
    """The sentence ids of all gold pairs, every split: what a sampler must never return."""
    with reading(workspace) as db:
        rows = db.execute(
            "SELECT DISTINCT sentence1_id, sentence2_id FROM gold_pair WHERE project_id = ?",
            [project_id],
        ).fetchall()
    pairs = np.array([tuple(row) for row in rows], dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


@dataclass(frozen=True)
class GoldReport:
    """What is worth knowing about a project's gold pairs before training on them."""

    repeated_rows: int
    conflicting_pairs: int
    identical_sentences: int
    sentences: int
    sentences_in_two_splits: int


def gold_report(workspace: Workspace, project_id: int) -> GoldReport:
    """Count repeats, conflicts and sentences shared between splits."""
    with reading(workspace) as db:
        row = db.execute(REPORT_SQL, {"project": project_id}).fetchone()
    return GoldReport(**dict(row))


REPORT_SQL = """
WITH pair AS (
  SELECT sentence1_id AS a, sentence2_id AS b, count(*) AS n, min(score) < max(score) AS conflict
  FROM gold_pair WHERE project_id = :project GROUP BY a, b
), used AS (
  SELECT sentence1_id AS id, split FROM gold_pair WHERE project_id = :project
  UNION SELECT sentence2_id, split FROM gold_pair WHERE project_id = :project
)
SELECT
  (SELECT coalesce(sum(n - 1), 0) FROM pair) AS repeated_rows,
  (SELECT coalesce(sum(conflict), 0) FROM pair) AS conflicting_pairs,
  (SELECT count(*) FROM gold_pair WHERE project_id = :project AND sentence1_id = sentence2_id)
    AS identical_sentences,
  (SELECT count(DISTINCT id) FROM used) AS sentences,
  (SELECT count(*) FROM (SELECT id FROM used GROUP BY id HAVING count(*) > 1))
    AS sentences_in_two_splits
"""
