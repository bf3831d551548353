"""What the log of people's scores and answers amounts to: the rows that say so are never trusted without it.

The same is written when someone scores (`annotations`, `best_worst_answers`, `score_matrices`); here it is computed of all
rows of a database at once, for archives.
"""

import sqlite3
from collections.abc import Iterator, Sequence

from augsbert_core.storage.annotation_turns import STANDING_EVENT

ANNOTATION_COLUMNS = (
    "task_id", "item_id", "annotator", "state", "score", "flagged", "swapped", "suggestion_seen", "seconds", "at",
)  # fmt: skip

# Who has a pair on the screen at the moment is no event, and a skipped pair that has come back is still a skipped one.
REPLAY_SQL = f"""
SELECT last.task_id AS task_id, last.item_id AS item_id, last.annotator AS annotator,
  CASE decided.action WHEN 'score' THEN 'scored' WHEN 'skip' THEN 'skipped' ELSE 'claimed' END AS state,
  decided.score AS score, last.flagged AS flagged, coalesce(decided.swapped, last.swapped) AS swapped,
  coalesce(decided.suggestion_seen, 0) AS suggestion_seen, decided.seconds AS seconds, coalesce(decided.at, '') AS at
FROM (
  SELECT max(id) AS last_id, max(iif(action <> 'flag', id, NULL)) AS decided_id
  FROM main.annotation_event AS event
  WHERE action IN ('score', 'skip', 'flag') AND {STANDING_EVENT}
  GROUP BY item_id, annotator)
JOIN main.annotation_event AS last ON last.id = last_id
LEFT JOIN main.annotation_event AS decided ON decided.id = decided_id
WHERE decided_id IS NOT NULL OR last.flagged
"""
"""The rows of `annotation`, `ANNOTATION_COLUMNS`, that the events of the main database amount to."""

SETTLED_SQL = """
SELECT 1 FROM annotation_item AS item LEFT JOIN (
  SELECT item_id, max(id) AS last_id FROM annotation_event WHERE action = 'adjudicate' GROUP BY item_id
) AS last ON last.item_id = item.id LEFT JOIN annotation_event AS event ON event.id = last_id
WHERE item.adjudicated_score IS NOT event.score
  OR item.adjudicator IS NOT iif(event.score IS NULL, NULL, event.annotator) LIMIT 1
"""

BAD_UNDO_SQL = """
SELECT 1 FROM annotation_event AS undo JOIN annotation_event AS undone ON undone.id = undo.undone_event_id
WHERE undone.action NOT IN ('score', 'skip', 'flag') LIMIT 1
"""


def disagreement(db: sqlite3.Connection) -> str | None:
    """Where scores, settled scores or answers of a database are not what its log says; None: nowhere."""
    columns = ", ".join(ANNOTATION_COLUMNS)
    told, stored = f"SELECT {columns} FROM ({REPLAY_SQL})", f"SELECT {columns} FROM main.annotation"
    for first, second in ((told, stored), (stored, told)):
        if db.execute(f"{first} EXCEPT {second} LIMIT 1").fetchone():
            return "the scores of annotators are not what their log says"
    if db.execute(BAD_UNDO_SQL).fetchone():
        return "an annotator took back what was no decision"
    if db.execute(SETTLED_SQL).fetchone():
        return "a settled score is not what the log says"
    rows = db.execute(
        "SELECT task_id, annotator, tuple_id, action, best_item_id, worst_item_id FROM best_worst_answer"
        " ORDER BY task_id, annotator, id"
    )
    return None if _are_answers(rows) else "the answers of a judge do not follow from one another"


Answer = tuple[int | None, int | None]


def _are_answers(rows: Iterator[Sequence[object]]) -> bool:
    """Whether every undo takes back the judge's last answer, and holds the one that counts again."""
    judge: tuple[object, object] | None = None
    standing: list[tuple[object, Answer]] = []
    for task, annotator, tuple_id, action, best, worst in rows:
        if judge != (task, annotator):
            judge, standing = (task, annotator), []
        if action != "undo":
            standing.append((tuple_id, (best, worst)))  # type: ignore[arg-type]
            continue
        if not standing or standing.pop()[0] != tuple_id:
            return False
        before = next((answer for of, answer in reversed(standing) if of == tuple_id), None)
        if (best, worst) != (before or (None, None)):
            return False
    return True
