"""A database from before decisions on many pairs: single decisions and undos, in a table of events."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from augsbert_core.storage.database import Database
from augsbert_core.storage.schema import migrations

MOMENT = "2025-01-0{}T12:00:00+00:00"


def old_database(path: Path) -> None:
    """One project with a silver set of three pairs: Ada corrected 1, flagged 2 and took that back; Ben rejected 1, 3.

    Scores are 0.25, 0.5 and 0.75; the numbers of the pairs are 11, 12 and 13.
    """
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        migrations.apply(Database(connection, execute_plugins=False), stop_before="human_loop")
        for statement in STATEMENTS.split(";\n"):
            connection.execute(statement)
        connection.executemany(
            "INSERT INTO event (id, project_id, at, actor, kind, subject, subject_id, before, after)"
            " VALUES (?, 5, ?, ?, ?, ?, ?, ?, ?)",
            [
                (number, MOMENT.format(number), actor, kind, subject, subject_id,
                 *(json.dumps({"correction": score, "status": status}) for score, status in (before, after)))
                for number, actor, kind, subject, subject_id, before, after in EVENTS
            ],
        )  # fmt: skip
        connection.execute("COMMIT")


STATEMENTS = f"""
INSERT INTO project (id, name, task, score_low, score_high, created_at)
VALUES (5, 'Old', 'regression', 0, 5, '{MOMENT.format(1)}');
INSERT INTO sentence (id, project_id, key, text) VALUES (1, 5, 'a', 'A'), (2, 5, 'b', 'B'), (3, 5, 'c', 'C');
INSERT INTO run (id, project_id, step, name, options, seed, state, created_at) VALUES
  (1, 5, 'sample', 's', '{{"strategy": "bm25"}}', 1, 'done', '{MOMENT.format(1)}'),
  (2, 5, 'label', 'l', '{{"candidate_set_id": 1, "labeler": "x/y"}}', 1, 'done', '{MOMENT.format(1)}');
INSERT INTO candidate_set (id, project_id, run_id, strategy, corpus_size, n_pairs, created_at)
VALUES (1, 5, 1, 'bm25', 3, 3, '{MOMENT.format(1)}');
INSERT INTO candidate_pair (candidate_set_id, sentence1_id, sentence2_id) VALUES (1, 1, 2), (1, 1, 3), (1, 2, 3);
INSERT INTO silver_set (id, project_id, run_id, candidate_set_id, labeler, n_pairs, created_at)
VALUES (7, 5, 2, 1, 'x/y', 3, '{MOMENT.format(1)}');
INSERT INTO silver_pair (silver_set_id, sentence1_id, sentence2_id, id, score, raw_score, correction, status, final_score)
VALUES (7, 1, 2, 11, 0.25, 0.25, NULL, 'rejected', 0.25), (7, 1, 3, 12, 0.5, 0.5, NULL, 'unreviewed', 0.5),
  (7, 2, 3, 13, 0.75, 0.75, NULL, 'rejected', 0.75);
INSERT INTO silver_bin VALUES (7, 'rejected', 0, 128, 1), (7, 'unreviewed', 0, 256, 1), (7, 'rejected', 0, 384, 1)
"""

FRESH = (None, "unreviewed")
EVENTS = [
    (1, "Ada", "review", "silver_pair", 11, FRESH, (0.5, "corrected")),
    (2, "Ada", "review", "silver_pair", 12, FRESH, (None, "flagged")),
    (3, "Ada", "undo", "event", 2, (None, "flagged"), FRESH),
    (4, "Ben", "review", "silver_pair", 11, (0.5, "corrected"), (None, "rejected")),
    (5, "Ben", "review", "silver_pair", 13, FRESH, (None, "rejected")),
]
