"""A project's rows on their way out, into a database of their own."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from augsbert_core.errors import WorkbenchError
from augsbert_core.progress import Report, silent
from augsbert_core.storage import projects
from augsbert_core.storage.archive_human import REPLAY_ANNOTATIONS_SQL, leaving
from augsbert_core.storage.archive_references import json_object, places_in
from augsbert_core.storage.archive_source import stored_columns
from augsbert_core.storage.database import Database, Workspace
from augsbert_core.storage.schema import migrate, migrations

# Runs that are done; besides them those that ended otherwise but left something that is in use: a silver set with
# all its scores, the candidates of such a set, a measurement.
KEPT_SQL = """
CREATE TEMP TABLE kept_set AS
SELECT silver_set.id, silver_set.run_id, candidate_set_id, candidate_set.run_id AS sampling_run_id
FROM home.silver_set AS silver_set
JOIN home.candidate_set AS candidate_set ON candidate_set.id = candidate_set_id
JOIN home.run AS run ON run.id = silver_set.run_id
WHERE silver_set.project_id = :project AND NOT silver_set.deleting AND NOT candidate_set.deleting
  AND (run.state = 'done' OR (run.state <> 'started' AND silver_set.rule IS NULL
    AND candidate_set.n_pairs > 0 AND silver_set.n_pairs >= candidate_set.n_pairs));

CREATE TEMP TABLE kept_run AS
SELECT id FROM home.run AS run WHERE project_id = :project AND (
  (state = 'done' AND id NOT IN (SELECT run_id FROM home.silver_set WHERE deleting)
    AND id NOT IN (SELECT run_id FROM home.candidate_set WHERE deleting))
  OR id IN (SELECT run_id FROM kept_set UNION SELECT sampling_run_id FROM kept_set)
  OR id IN (SELECT run_id FROM home.evaluation WHERE project_id = :project));

CREATE TEMP TABLE kept_candidates AS
SELECT id FROM home.candidate_set AS candidate_set WHERE project_id = :project AND NOT deleting
  AND (id IN (SELECT candidate_set_id FROM kept_set)
    OR run_id IN (SELECT id FROM kept_run INTERSECT SELECT id FROM home.run WHERE state = 'done'))
"""

RUNS, SETS = "(SELECT id FROM temp.kept_run)", "(SELECT id FROM temp.kept_set)"
OWN_RUNS = f"project_id = :project AND run_id IN {RUNS}"


def _both(first: str, second: str) -> str:
    """Whether the sentences of a pair are there; SQLite does not see to it.

    The plus keeps SQLite from walking an index of pairs once for every two sentences.
    """
    return f"+{first} IN (SELECT id FROM main.sentence) AND +{second} IN (SELECT id FROM main.sentence)"


OUT: dict[str, tuple[str, dict[str, str]]] = {
    "project": ("id = :project", {"deleting": "0"}),
    "run": (
        f"id IN {RUNS}",
        {
            "state": "CASE state WHEN 'started' THEN 'interrupted' ELSE state END",
            "model_path": "NULL",
            "parent_run_id": f"CASE WHEN parent_run_id IN {RUNS} THEN parent_run_id END",
            "options": "place_json(options)",
            "metrics": "place_json(metrics)",
            "name": "place_text(name)",
        },
    ),
    "sentence": (
        "project_id = :project",
        {"unlabelled_run_id": f"CASE WHEN unlabelled_run_id IN {RUNS} THEN unlabelled_run_id END"},
    ),
    "gold_pair": (f"{OWN_RUNS} AND {_both('sentence1_id', 'sentence2_id')}", {}),
    "nli_pair": (f"{OWN_RUNS} AND {_both('premise_id', 'hypothesis_id')}", {}),
    "triplet": (f"{OWN_RUNS} AND {_both('anchor_id', 'positive_id')}", {}),
    "import_reject": (f"run_id IN {RUNS}", {}),
    "metric": (f"run_id IN {RUNS}", {}),
    "candidate_set": (
        "id IN (SELECT id FROM temp.kept_candidates)",
        {"deleting": "0", "notices": "place_text(notices)"},
    ),
    "candidate_pair": (
        "candidate_set_id IN (SELECT id FROM temp.kept_candidates)"
        f" AND {_both('sentence1_id', 'sentence2_id')}",
        {},
    ),
    "silver_set": (
        f"id IN {SETS}",
        {
            "deleting": "0",
            "labeler": "place_text(labeler)",
            "labeler_run_id": f"CASE WHEN labeler_run_id IN {RUNS} THEN labeler_run_id END",
            "pool_set_id": f"CASE WHEN pool_set_id IN {SETS} THEN pool_set_id END",
        },
    ),
    "silver_pair": (f"silver_set_id IN {SETS} AND {_both('sentence1_id', 'sentence2_id')}", {}),
    "silver_bin": (f"silver_set_id IN {SETS}", {}),
    "evaluation": (
        OWN_RUNS,
        {
            "target": "place_text(target)",
            "target_run_id": f"CASE WHEN target_run_id IN {RUNS} THEN target_run_id END",
        },
    ),
    **leaving(SETS, RUNS),
}
"""Which rows of a table leave, and what stands in a column instead of its value."""


def copy_project_out(
    workspace: Workspace, project_id: int, target: Path, report: Report = silent
) -> None:
    """Write all rows of a project, of one moment, into a new database with the workbench's schema.

    Left behind: jobs, runs that are at work, models, and the folders in the names of models and files.
    WorkbenchError: there is no such project.
    """
    try:
        with closing(sqlite3.connect(target, isolation_level=None)) as connection:
            _copy(connection, workspace, project_id, report)
    except sqlite3.Error as error:
        raise WorkbenchError(f"The project could not be copied ({error}).") from error


def _copy(
    connection: sqlite3.Connection, workspace: Workspace, project_id: int, report: Report
) -> None:
    db = Database(connection, execute_plugins=False)
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("BEGIN")
    migrate(db)
    connection.execute("COMMIT")
    connection.execute("PRAGMA journal_mode = MEMORY")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("ATTACH ? AS home", [str(workspace.database)])
    connection.execute("BEGIN")
    told = {"project": project_id}
    query = "SELECT 1 FROM home.project WHERE id = ? AND NOT deleting"
    if connection.execute(query, [project_id]).fetchone() is None:
        raise WorkbenchError(f"Project {project_id} does not exist (any more). Choose another one.")
    for statement in KEPT_SQL.split(";\n\n"):
        connection.execute(statement, told)
    _leave_places_behind(connection, project_id)
    for number, table in enumerate(OUT):
        report(number / len(OUT), f"Copying {table.replace('_', ' ')} rows")
        connection.execute(_copy_sql(connection, table), told)
    connection.execute(REPLAY_ANNOTATIONS_SQL)
    connection.execute("COMMIT")


def _copy_sql(connection: sqlite3.Connection, table: str) -> str:
    where, instead = OUT[table]
    names = stored_columns(connection, table)
    values = ", ".join(instead.get(name, name) for name in names)
    return (
        f"INSERT INTO main.{table} ({', '.join(names)}) SELECT {values} FROM home.{table}"
        f" WHERE {where}"
    )


def _leave_places_behind(connection: sqlite3.Connection, project_id: int) -> None:
    """Make the SQL functions that take folders out of texts, before anything is written to the new file."""
    rows = connection.execute(
        f"SELECT options, metrics FROM home.run WHERE id IN {RUNS}"
    ).fetchall()
    told = [found for row in rows for text in row if (found := json_object(text)) is not None]
    texts = connection.execute(
        "SELECT labeler FROM home.silver_set WHERE project_id = ?1"
        " UNION SELECT target FROM home.evaluation WHERE project_id = ?1",
        [project_id],
    ).fetchall()
    places = places_in(told, [text for (text,) in texts])

    def place_json(text: str) -> str:
        found = json_object(text)
        changed = places.in_json(found)
        return text if changed == found else json.dumps(changed, sort_keys=True)

    connection.create_function("place_json", 1, place_json, deterministic=True)
    connection.create_function("place_text", 1, places.in_text, deterministic=True)


def fold_up(path: Path) -> None:
    """Bring a database that was read back into one file, without a log beside it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")


def applied_migrations() -> tuple[str, ...]:
    """The migrations that a database of this version has, in order."""
    return tuple(migration.name for migration in migrations._migrations)


def project_bytes(workspace: Workspace, project_id: int) -> int:
    """About how many bytes an archive of a project takes."""
    counts = projects.count_project(workspace, project_id)
    return 60 * counts.silver_pairs + 200 * (counts.gold + counts.unlabelled_sentences)
