"""Open the database of an archive without trusting it: its schema and the type of every value are checked first.

The file may come from anyone. It is opened on its own, never attached to the workspace's database, with SQLite's
defences up; nothing but plain tables and indexes that this workbench itself would have made is accepted.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from augsbert_core.errors import WorkbenchError
from augsbert_core.storage import archive_human
from augsbert_core.storage.archive_shapes import LARGEST
from augsbert_core.storage.database import Database
from augsbert_core.storage.projects import LONGEST_GUIDELINE
from augsbert_core.storage.schema import migrate, migrations

MAGIC = b"SQLite format 3\0"
LONGEST_VALUE = 256 << 20
MOST_RANK = 1_000_000
"""A rank is a place among the neighbours of a sentence, or a round."""

COPIED = (
    "project", "run", "metric", "import_reject", "sentence", "gold_pair", "nli_pair", "triplet",
    "candidate_set", "candidate_pair", "silver_set", "silver_pair", "evaluation",
    *archive_human.TABLES,
)  # fmt: skip
"""The tables that an import reads, in an order in which each refers to earlier ones alone."""

CONDITIONS = {
    "project": f"deleting = 0 AND length(guideline) <= {LONGEST_GUIDELINE}",
    "run": "state <> 'started' AND (parent_run_id IS NULL OR parent_run_id < id)",
    "candidate_set": "deleting = 0 AND corpus_size >= 0 AND n_pairs >= 0"
    " AND (strategy <> 'stratified-kde' OR (SELECT step FROM run WHERE run.id = run_id) IN ('sample-stratified', 'draw'))",
    "metric": "step >= 0",
    "candidate_pair": f"(rank IS NULL OR rank BETWEEN 0 AND {MOST_RANK})",
    "silver_set": "deleting = 0 AND (pool_set_id IS NULL OR pool_set_id < id) AND passes_per_pair >= 0"
    " AND (n_passes IS NULL OR n_passes >= 0)"
    " AND CASE WHEN rule IS NULL THEN pool_set_id IS NULL ELSE rule = (SELECT coalesce("
    "json_extract(iif(json_valid(options), options, '{}'), '$.rule'), 'kde') FROM run WHERE run.id = run_id AND step = 'keep') END",
    "silver_pair": f"(rank IS NULL OR rank BETWEEN 0 AND {MOST_RANK})",
    "evaluation": "split IN ('train', 'dev', 'test') AND metric IN ('spearman', 'f1')"
    " AND n_pairs > 0 AND length(predictions) = 4 * n_pairs AND seconds BETWEEN 0 AND 1e12"
    " AND (value IS NULL OR abs(value) <= 10) AND (low IS NULL) = (high IS NULL) AND (low IS NULL OR value IS NOT NULL)"
    " AND (low IS NULL OR low BETWEEN -10 AND high) AND (high IS NULL OR high <= 10)"
    " AND (threshold IS NULL OR abs(threshold) <= 1e6)",
    **archive_human.CONDITIONS,
}
"""What must hold for each row, besides the rules that the workspace's own tables enforce."""

TYPES = {"INTEGER": "integer", "TEXT": "text", "REAL": "real", "BLOB": "blob"}

NO_FAULT_OF_THE_ARCHIVE = {
    sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM,
}  # fmt: skip

LARGEST_NUMBER = 2**53
"""Larger whole numbers are no ids, counts or seeds."""


def check_migrations(applied: Sequence[str]) -> None:
    """WorkbenchError: an archive has migrations that this workbench does not know, or not in order."""
    known = [migration.name for migration in migrations._migrations]
    unknown = [name for name in applied if name not in known]
    if unknown:
        raise WorkbenchError(
            f"The archive was made by a newer version of the workbench (it knows {unknown[0][:60]!r}). "
            "Update the workbench, then import it."
        )
    if not applied or list(applied) != known[: len(applied)]:
        raise _damaged("its migrations are not in order")


@contextmanager
def open_source(path: Path) -> Iterator[sqlite3.Connection]:
    """The database of an archive, checked, brought up to date and then closed to writing.

    WorkbenchError: it is no database of one project, damaged, or of a newer version.
    """
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise _damaged("it is no SQLite database")
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            _defend(connection)
            _check_schema(connection)
            (state,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if state != "ok":
                raise _damaged(str(state))
            _bring_up_to_date(connection)
            connection.execute("PRAGMA query_only = ON")
            _check_rows(connection)
            archive_human.check_rows(connection)
            yield connection
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in NO_FAULT_OF_THE_ARCHIVE:
            raise WorkbenchError(
                f"The project could not be written ({error}). Nothing was imported; make room, or wait for other "
                "writers, and try again."
            ) from error
        raise _damaged(str(error)) from error
    except UnicodeDecodeError as error:
        raise _damaged("a text in it is not UTF-8") from error


def _damaged(why: str) -> WorkbenchError:
    return WorkbenchError(
        f"The database in the archive cannot be used: {why}. Nothing was imported; export the project again."
    )


def _defend(connection: sqlite3.Connection) -> None:
    """No function, trigger or view of the file's own is ever run, and no value is larger than any could be."""
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.execute("PRAGMA mmap_size = 0")
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA synchronous = OFF")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)


# --- the schema ------------------------------------------------------------------------------------


def _check_schema(connection: sqlite3.Connection) -> None:
    """WorkbenchError: something in it is not what the same migrations make here."""
    found = _schema(connection)
    for kind, name in found:
        if kind not in ("table", "index"):
            raise _damaged(f"it holds a {kind} named {name[:60]!r}, which no project archive does")
    if ("table", "_sqlite_migrations") not in found:
        raise _damaged("it is no database of the workbench")
    mine = _expected("")
    # Before anything is read from it, the table that says what the others should be must be the real one.
    if found["table", "_sqlite_migrations"] != mine["table", "_sqlite_migrations"]:
        raise _damaged("its list of migrations is not the workbench's")
    rows = connection.execute(
        "SELECT name FROM _sqlite_migrations WHERE migration_set = ? ORDER BY id", [migrations.name]
    ).fetchall()
    applied = [str(name) for (name,) in rows]
    check_migrations(applied)
    expected = _expected(applied[-1])
    for key in sorted(found.keys() | expected.keys()):
        if key not in expected:
            raise _damaged(
                f"it holds a {key[0]} named {key[1][:60]!r}, which no project archive does"
            )
        if found.get(key) != expected[key]:
            raise _damaged(f"its {key[0]} {key[1]!r} is not as the workbench makes it")


def _schema(connection: sqlite3.Connection) -> dict[tuple[str, str], str]:
    """Every object by kind and name: its SQL without what differs between versions of SQLite."""
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master")
    return {
        (str(kind), str(name)): f"{table} {' '.join(str(sql or '').replace(chr(34), '').split())}"
        for kind, name, table, sql in rows
    }


def _expected(last: str) -> dict[tuple[str, str], str]:
    """The schema after the migrations up to and including `last`; "" makes the list of migrations alone."""
    names = [migration.name for migration in migrations._migrations]
    later = names[names.index(last) + 1 :] if last else names
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        db = Database(connection, execute_plugins=False)
        connection.execute("BEGIN")
        migrations.apply(db, stop_before=later or None)
        connection.execute("COMMIT")
        return _schema(connection)


def _bring_up_to_date(connection: sqlite3.Connection) -> None:
    db = Database(connection, execute_plugins=False)
    connection.execute("BEGIN")
    migrate(db)
    connection.execute("COMMIT")


# --- the rows --------------------------------------------------------------------------------------


def stored_columns(connection: sqlite3.Connection, table: str) -> list[str]:
    """The columns of a table that are written, in their order; generated ones are not."""
    return [row[1] for row in connection.execute(f"PRAGMA table_xinfo({table})") if not row[6]]


def _check_rows(connection: sqlite3.Connection) -> None:
    """WorkbenchError: a value has another type than its column, or a row belongs to no project or to another one.

    SQLite itself takes any value in any column.
    """
    projects = connection.execute("SELECT id FROM project").fetchall()
    if len(projects) != 1:
        raise _damaged(f"it holds {len(projects)} projects instead of one")
    for table in COPIED:
        wrong = [f"({condition}) IS NOT TRUE" for condition in _conditions(connection, table)]
        query = f"SELECT 1 FROM {table} WHERE {' OR '.join(wrong)} LIMIT 1"
        if connection.execute(query).fetchone():
            raise _damaged(f"a row of its table {table!r} holds what cannot be")


def _conditions(connection: sqlite3.Connection, table: str) -> Iterator[str]:
    for _, name, declared, not_null, _, is_key, hidden in connection.execute(
        f"PRAGMA table_xinfo({table})"
    ):
        if hidden:
            continue
        kind = TYPES[declared]
        right = f"typeof({name}) = '{kind}'"
        if kind == "real":
            right += f" AND abs({name}) <= {LARGEST!r}"
        elif kind == "integer":
            right += f" AND {name} BETWEEN -{LARGEST_NUMBER} AND {LARGEST_NUMBER}"
            if name == "id" or name.endswith("_id"):
                right += f" AND {name} > 0"
        yield right if not_null or is_key else f"{name} IS NULL OR ({right})"
        if name == "project_id":
            yield "project_id = (SELECT id FROM project)"
    if table in CONDITIONS:
        yield CONDITIONS[table]
