"""Find the sentences that hold a text, in any script, upper and lower case alike.

An index of all three-character pieces (SQLite's FTS5 with its trigram tokenizer) lies in `cache/search.db` of the
workspace, apart from the database, which it neither locks nor lets grow. It is brought up to date when somebody
searches or a silver set is labelled; sentences that it does not have yet are read. So whatever happens to the file,
what is found is the same: those sentences whose `text.lower()` holds the other `text.lower()`.
"""

import contextlib
import json
import sqlite3
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
from sqlite_utils import Database

from augsbert_core.progress import Report, silent
from augsbert_core.storage.database import Workspace, columns, reading
from augsbert_core.storage.short_search import sentences_with

FORMAT = 1
"""Another number whenever the tables below, or what is put into them, change."""

SHORTEST = 3
"""The index knows pieces of so many characters; shorter texts are looked for in every sentence (short_search)."""

LONGEST = 200
"""Of longer texts the beginning is looked up, and the whole of them in what was found."""

FEW = 2_000
"""So many new sentences are read at each search rather than indexed."""

BATCH = 2_500
AT_ONCE_SECONDS = 0.1
"""About how long a search goes on indexing new sentences before it reads those that are left."""

CHECKED = 5_000
"""Up to so many sentences are compared with the text once more."""

PROBES = 64
"""So many sentences are compared with the index before it is believed."""

BUSY_SECONDS = 0.1
"""Nobody waits for another process that is indexing: one reads the sentences instead."""

STRANGE = "\0\ufffd\ufffe\uffff"
"""Characters that SQLite's tokenizer takes for others, or for the end of the text."""


def matching_sentences(
    workspace: Workspace, project_id: int, text: str, *, strict: bool = True
) -> np.ndarray:
    """The ids of the sentences of a project that hold a text, upper and lower case alike: int64, ascending.

    strict: False is quicker for texts that many sentences hold; ids of other projects' and of deleted sentences may
    then be among them.
    """
    needle = text.lower()
    if 0 < len(needle) < SHORTEST:
        with reading(workspace) as db:
            hits = sentences_with(workspace, db, project_id, needle)
            return _living(db, project_id, needle, hits) if strict else hits
    indexed = len(needle) >= SHORTEST and not set(needle) & set(STRANGE)
    if indexed:
        _go_on_indexing(workspace, AT_ONCE_SECONDS, few=FEW)
    with reading(workspace) as db:
        found, last = None, 0
        if indexed:
            found, last = _look_up(workspace, db, project_id, needle, strict)
        rest = _scan(db, project_id, needle, last)
    return rest if found is None else np.concatenate([found, rest])


def bring_up_to_date(workspace: Workspace, *, report: Report = silent) -> None:
    """Index every sentence that is not indexed yet; nothing happens when another process is at it."""
    _go_on_indexing(workspace, None, few=0, report=report)


def _scan(db: Database, project_id: int, needle: str, after: int) -> np.ndarray:
    """The sentences with higher ids, read one by one; those of a project have neighbouring ids."""
    rows = db.conn.cursor()
    rows.row_factory = None
    rows.execute(
        "SELECT id, text FROM sentence WHERE id > ? AND +project_id = ?", [after, project_id]
    )
    return np.array([row_id for row_id, text in rows if needle in text.lower()], dtype=np.int64)


# --- the index -------------------------------------------------------------------------------------

TABLES = """
CREATE TABLE mark (id INTEGER PRIMARY KEY, checksum INTEGER NOT NULL);

CREATE VIRTUAL TABLE piece USING fts5(text, content='', columnsize=0, tokenize='trigram case_sensitive 1')
"""


def _path(workspace: Workspace) -> Path:
    return workspace.home / "cache" / "search.db"


@contextmanager
def _index(workspace: Workspace) -> Iterator[sqlite3.Connection]:
    """A connection to the index. What is no database is removed; sqlite3.Error is left to the caller."""
    path = _path(workspace)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with closing(sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)) as index:
            index.execute("PRAGMA journal_mode = WAL")
            index.execute("PRAGMA synchronous = NORMAL")
            yield index
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError:
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                path.with_name(path.name + suffix).unlink(missing_ok=True)
        raise


def _is_made(index: sqlite3.Connection) -> bool:
    return bool(index.execute("PRAGMA user_version").fetchone()[0] == FORMAT)


def _make(index: sqlite3.Connection) -> None:
    """Begin with an empty index, inside a transaction."""
    for table in ("mark", "piece"):
        index.execute(f"DROP TABLE IF EXISTS {table}")
    for statement in TABLES.split(";"):
        index.execute(statement)
    index.execute(f"PRAGMA user_version = {FORMAT}")


def _mark(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def _go_on_indexing(
    workspace: Workspace, seconds: float | None, *, few: int, report: Report = silent
) -> None:
    """Index new sentences for about so many seconds (None: to the end), unless there are only few."""
    begun = time.monotonic()
    with contextlib.suppress(sqlite3.Error, OSError), _index(workspace) as index:
        while True:
            with reading(workspace) as db:
                newest = int(db.execute("SELECT coalesce(max(id), 0) FROM sentence").fetchone()[0])
                last = _known_to(db, index)
            is_late = seconds is not None and time.monotonic() - begun > seconds
            if is_late or last + few >= newest:
                return
            report(last / newest, f"Indexing sentences for the search: {last:,} of {newest:,}")
            index.execute("BEGIN IMMEDIATE")
            try:
                _index_batch(workspace, index)
                index.execute("COMMIT")
            except BaseException:
                index.execute("ROLLBACK")
                raise


def _index_batch(workspace: Workspace, index: sqlite3.Connection) -> None:
    with reading(workspace) as db:
        last = _known_to(db, index)
        if not last:
            _make(index)
        rows = db.execute(
            "SELECT id, text FROM sentence WHERE id > ? ORDER BY id LIMIT ?", [last, BATCH]
        ).fetchall()
    index.executemany("INSERT INTO mark VALUES (?, ?)", ((row[0], _mark(row[1])) for row in rows))
    index.executemany(
        "INSERT INTO piece (rowid, text) VALUES (?, ?)",
        ((row[0], row[1].lower().replace("\0", "\ufffd")) for row in rows),
    )


PROBES_SQL = """
SELECT id, text FROM sentence WHERE id IN (SELECT id FROM sentence WHERE id <= :last ORDER BY id DESC LIMIT :probes)
UNION
SELECT sentence.id, text FROM json_each(:spread) AS wanted JOIN sentence ON sentence.id = wanted.value
WHERE sentence.id <= :last
"""


def _known_to(db: Database, index: sqlite3.Connection) -> int:
    """Sentences up to this id are indexed; new ones always have higher ids. 0: there is no index to go by.

    Some of them, evenly spread, and the newest are compared with it: the file may be another workspace's.
    """
    if not _is_made(index):
        return 0
    last = int(index.execute("SELECT coalesce(max(id), 0) FROM mark").fetchone()[0])
    spread = np.unique(np.linspace(1, max(last, 1), PROBES).astype(np.int64))
    told = {"last": last, "probes": PROBES, "spread": json.dumps(spread.tolist())}
    for row_id, text in db.execute(PROBES_SQL, told).fetchall():
        known = index.execute("SELECT checksum FROM mark WHERE id = ?", [row_id]).fetchone()
        if known is None or known[0] != _mark(text):
            return 0
    return last


def _look_up(
    workspace: Workspace, db: Database, project_id: int, needle: str, strict: bool
) -> tuple[np.ndarray | None, int]:
    """The sentences that hold a text by the index, and up to which id they are known; (None, 0) without one."""
    try:
        with _index(workspace) as index:
            index.execute("BEGIN")  # one state of the index, whoever writes
            last = _known_to(db, index)
            if not last:
                return None, 0
            phrase = '"' + needle[:LONGEST].replace('"', '""') + '"'
            cursor = index.execute("SELECT rowid FROM piece WHERE piece MATCH ?", [phrase])
            hits = np.array([row_id for (row_id,) in cursor], dtype=np.int64)
    except (sqlite3.Error, OSError):
        return None, 0
    if strict or len(hits) <= CHECKED or len(needle) > LONGEST:
        hits = _living(db, project_id, needle, hits)
    return hits, last


TEXTS_SQL = """
SELECT sentence.id, sentence.text FROM json_each(?) AS wanted CROSS JOIN sentence ON sentence.id = wanted.value
WHERE project_id = ?
"""


def _living(db: Database, project_id: int, needle: str, hits: np.ndarray) -> np.ndarray:
    """Those hits that are sentences of the project: the index knows deleted ones and those of others, too."""
    if len(hits) <= CHECKED or len(needle) > LONGEST:
        rows = db.execute(TEXTS_SQL, [json.dumps(hits.tolist()), project_id])
        held = [row_id for row_id, text in rows if needle in text.lower()]
        return np.sort(np.array(held, dtype=np.int64))
    (own,) = columns(db, "SELECT id FROM sentence WHERE project_id = ?", [project_id], np.int64)
    found: np.ndarray = np.intersect1d(hits, own, assume_unique=True)
    return found
