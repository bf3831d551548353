"""Gold pairs as rows of a file: all that was imported of them, in the order and direction of their files."""

from collections.abc import Generator
from typing import Any

from augsbert_core.exporting.tables import COUNT, NUMBER, Column
from augsbert_core.storage.database import Workspace, reading
from augsbert_core.storage.gold import ORDERED_SQL, GoldFilter, conditions

COLUMNS = (
    Column("sentence1"),
    Column("sentence2"),
    Column("score", NUMBER, "on the project's own scale"),
    Column("scaled_score", NUMBER, "the same from 0 to 1, as models learn it"),
    Column("split", meaning="train, dev or test"),
    Column("group", meaning="genre or topic, where the file had one"),
    Column("label", meaning="the score as the file wrote it, where that was a word"),
    Column("source_id", meaning="the file's own name of the row"),
    Column("source_file"),
    Column("source_line", COUNT),
)


def gold_export_rows(
    workspace: Workspace, project_id: int, chosen: GoldFilter | None = None
) -> Generator[tuple[Any, ...]]:
    """The gold pairs that a filter lets through (None: all), in the order of `COLUMNS`; None where nothing is known.

    In the order of their files a training script draws the same part of them as the workbench. Rows are read
    as they are taken.
    """
    where, values = conditions(chosen or GoldFilter())
    with reading(workspace) as db:
        for row in db.execute(ROWS_SQL.format(where=where), values | {"project": project_id}):
            texts = (cell or None for cell in row[5:8])
            yield (*row[:5], *texts, *row[8:])


ROWS_SQL = f"""
SELECT sentence1, sentence2, raw_score, score, split, group_name, raw_label, source_id, source_file, source_line
FROM ({ORDERED_SQL}) WHERE {{where}} ORDER BY id
"""


def count_gold(workspace: Workspace, project_id: int, chosen: GoldFilter) -> int:
    """How many gold pairs a filter lets through."""
    where, values = conditions(chosen)
    with reading(workspace) as db:
        found = db.execute(
            f"SELECT count(*) FROM ({ORDERED_SQL}) WHERE {where}", values | {"project": project_id}
        )
        return int(found.fetchone()[0])
