"""All scores of a task side by side, for agreement; and the score that settles a disagreement."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sqlite_utils import Database

from augsbert_core.errors import WorkbenchError
from augsbert_core.person_names import checked_person
from augsbert_core.storage.annotation_turns import checked_score
from augsbert_core.storage.database import Workspace, now, reading, writing

ITEM_COLUMNS = (
    "item_id",
    "position",
    "sentence1_id",
    "sentence2_id",
    "sentence1",
    "sentence2",
    "suggestion",
    "reason",
    "stratum",
    "stratum_size",
    "source_pair_id",
    "adjudicated_score",
    "adjudicator",
    "flags",
)


@dataclass(frozen=True)
class ScoreMatrix:
    """The scores of a task. annotators: names, by name. items: one row per pair, `ITEM_COLUMNS`, by position.

    scores: in [0, 1], shape (annotators, items), NaN where someone has given none. seen: same shape, whether a score was
    given after the model's suggestion was shown. flags: how many marked the pair.
    """

    annotators: list[str]
    items: pd.DataFrame
    scores: np.ndarray
    seen: np.ndarray


def score_matrix(workspace: Workspace, task_id: int) -> ScoreMatrix:
    """Every score that stands, of everyone who has given one; without annotators before the first."""
    with reading(workspace) as db:
        items = pd.DataFrame(_plain_rows(db, ITEMS_SQL, task_id), columns=ITEM_COLUMNS)
        rows = _plain_rows(db, SCORES_SQL, task_id)
    for name in ("suggestion", "adjudicated_score"):
        items[name] = items[name].astype("float64")
    items["adjudicator"] = items["adjudicator"].fillna("").astype(str)
    for name in ("stratum", "stratum_size", "source_pair_id"):
        items[name] = items[name].astype("Int64")
    names = sorted({name for _, name, *_ in rows}, key=lambda name: (name.casefold(), name))
    place = {item_id: number for number, item_id in enumerate(items["item_id"].tolist())}
    line = {name: number for number, name in enumerate(names)}
    scores = np.full((len(names), len(items)), np.nan)
    seen = np.zeros(scores.shape, dtype=bool)
    for item_id, name, score, was_seen in rows:
        cell = line[name], place[item_id]
        scores[cell], seen[cell] = score, was_seen
    return ScoreMatrix(names, items, scores, seen)


ITEMS_SQL = """
SELECT item.id, position, sentence1_id, sentence2_id, first.text, second.text, suggestion, reason, stratum,
  stratum_size, source_pair_id, adjudicated_score, adjudicator,
  (SELECT coalesce(sum(flagged), 0) FROM annotation WHERE item_id = item.id)
FROM annotation_item AS item
JOIN sentence AS first ON first.id = sentence1_id
JOIN sentence AS second ON second.id = sentence2_id
WHERE task_id = ? ORDER BY position
"""


def _plain_rows(db: Database, sql: str, task_id: int) -> list[tuple[Any, ...]]:
    cursor = db.conn.cursor()
    cursor.row_factory = None
    return cursor.execute(sql, [task_id]).fetchall()


# Read pair by pair, as they lie on the disk.
SCORES_SQL = """
SELECT item_id, annotator, score, suggestion_seen FROM annotation_item AS item CROSS JOIN annotation ON item_id = item.id
WHERE item.task_id = ? AND state = 'scored'
"""


def adjudicate(workspace: Workspace, item_id: int, score: float | None, adjudicator: str) -> None:
    """Settle the score of a pair, in [0, 1]; None takes an earlier one back. The annotators' own scores stay.

    A closed task can be adjudicated. WorkbenchError: the pair is gone, or the score lies outside.
    """
    name = checked_person(adjudicator)
    settled = None if score is None else checked_score(score)
    with writing(workspace) as db:
        row = db.execute("SELECT task_id FROM annotation_item WHERE id = ?", [item_id]).fetchone()
        if row is None:
            raise WorkbenchError("This pair does not exist any more: its task was deleted.")
        db.execute(
            "INSERT INTO annotation_event (task_id, item_id, annotator, at, action, score)"
            " VALUES (?, ?, ?, ?, 'adjudicate', ?)",
            [row["task_id"], item_id, name, now(), settled],
        )
        db.execute(
            "UPDATE annotation_item SET adjudicated_score = ?, adjudicator = ? WHERE id = ?",
            [settled, None if settled is None else name, item_id],
        )
