"""Rows that an import could not use, all of them, for as long as the import is there."""

from collections.abc import Iterator, Sequence

from sqlite_utils import Database

from augsbert_core.importing.rows import Rejected
from augsbert_core.storage.database import Workspace, reading


def add_rejects(db: Database, run_id: int, rejected: Sequence[Rejected]) -> None:
    """Store the rejected rows of an import, inside the transaction that writes its other rows."""
    db.conn.executemany(
        "INSERT INTO import_reject (run_id, line, reason, text) VALUES (?, ?, ?, ?)",
        ((run_id, row.line, row.reason, row.text) for row in rejected),
    )


def import_rejects(workspace: Workspace, run_id: int) -> Iterator[Rejected]:
    """The rejected rows of an import, in the order of its file; none when it was made before they were kept."""
    with reading(workspace) as db:
        for row in db.execute(
            "SELECT line, reason, text FROM import_reject WHERE run_id = ? ORDER BY id", [run_id]
        ):
            yield Rejected(*row)
