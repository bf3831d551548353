"""The texts of a project's gold training pairs, and a mark that tells whether they are still the same."""

from dataclasses import dataclass

from sqlite_utils import Database

from augsbert_core.storage.database import Workspace, reading
from augsbert_core.storage.gold import ORDERED_SQL

Mark = tuple[int, int, float, float]


@dataclass(frozen=True)
class GoldTexts:
    """Parallel lists in the order of the ids. Sentences are in the direction of their files."""

    ids: list[int]
    sentences1: list[str]
    sentences2: list[str]


# Sentences never get a number that another one had, so pairs that were exchanged have other sums.
MARK_SQL = """
SELECT count(*), coalesce(max(id), 0), total(sentence1_id), total(sentence2_id) FROM gold_pair
WHERE project_id = ? AND split = 'train'
"""


def texts_mark(workspace: Workspace, project_id: int) -> Mark:
    """Numbers that change whenever gold training pairs come or go; not when a score is corrected."""
    with reading(workspace) as db:
        return _mark(db, project_id)


def _mark(db: Database, project_id: int) -> Mark:
    count, newest, first, second = db.execute(MARK_SQL, [project_id]).fetchone()
    return count, newest, first, second


def gold_texts(workspace: Workspace, project_id: int) -> tuple[Mark, GoldTexts]:
    """The gold training pairs of a project, with the mark of this moment."""
    with reading(workspace) as db:
        rows = db.execute(
            f"SELECT id, sentence1, sentence2 FROM ({ORDERED_SQL}) WHERE split = 'train' ORDER BY id",
            {"project": project_id},
        ).fetchall()
        texts = GoldTexts(*([row[at] for row in rows] for at in range(3)))
        return _mark(db, project_id), texts


def gold_scores_of(workspace: Workspace, ids: list[int]) -> dict[int, float]:
    """The present scores of a few gold pairs by their ids, on the project's scale; those that are gone are left out."""
    found = {}
    with reading(workspace) as db:
        for number in ids:
            row = db.execute("SELECT raw_score FROM gold_pair WHERE id = ?", [number]).fetchone()
            if row is not None:
                found[number] = float(row[0])
    return found
