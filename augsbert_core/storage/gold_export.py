"""Gold pairs as rows of a file, with the split that each of them is in."""

from collections.abc import Iterator
from typing import Any

from augsbert_core.storage.database import Workspace, reading
from augsbert_core.storage.gold import ORDERED_SQL

COLUMNS = ("sentence1", "sentence2", "score", "split", "group")


def gold_export_rows(workspace: Workspace, project_id: int) -> Iterator[tuple[Any, ...]]:
    """All gold pairs in the order and direction of their files, scores on the raw scale.

    In this order a training script draws the same part of them as the workbench.
    """
    with reading(workspace) as db:
        for row in db.execute(
            f"SELECT sentence1, sentence2, raw_score, split, group_name FROM ({ORDERED_SQL}) ORDER BY id",
            {"project": project_id},
        ):
            yield (*tuple(row)[:4], row[4] or None)
