"""Every decision that stands in a task, as rows for a file: raw scores of each annotator, never averaged."""

import json
from collections.abc import Iterator
from typing import Any

from augsbert_core.storage.annotation_tasks import get_task
from augsbert_core.storage.database import Workspace, reading

SCORE_COLUMNS = (
    "item", "position", "annotator", "state", "score", "label", "flagged", "order", "seconds",
    "suggestion", "suggestion_seen", "at", "reason", "sentence1", "sentence2",
)  # fmt: skip
PLACES = (1, 2, 3, 4)
ANSWER_COLUMNS = (
    "tuple", "position", "annotator", "action", "best_item", "worst_item", "best", "worst", "shown", "seconds", "at",
    *(f"pair{place}_sentence{side}" for place in PLACES for side in (1, 2)),
)  # fmt: skip


def raw_rows(workspace: Workspace, task_id: int) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """The header and the rows of a task: its scores, or, of a best-worst task, its answers.

    score: in [0, 1]; label: the level that it is. order: "2-1" where the second sentence was shown first. shown: item
    numbers in the order on the screen; best, worst: places in it, from 1, as are the numbers of the pairs. WorkbenchError:
    the task is gone.
    """
    task = get_task(workspace, task_id)
    labels = {level.score: level.label for level in task.levels}
    with reading(workspace) as db:
        if task.kind == "best-worst":
            texts = {row[0]: (row[1], row[2]) for row in db.execute(TEXTS_SQL, [task_id])}
            answers = db.execute(ANSWERS_SQL, [task_id])
            return ANSWER_COLUMNS, list(_with_sentences(answers, texts))
        rows = db.execute(SCORES_SQL, [task_id])
        return SCORE_COLUMNS, list(_with_labels(rows, labels))


def _with_labels(rows: Any, labels: dict[float, str]) -> Iterator[tuple[Any, ...]]:
    for row in rows:
        head, tail = tuple(row)[:5], tuple(row)[5:]
        yield (*head, labels.get(row["score"], ""), *tail)


def _with_sentences(rows: Any, texts: dict[int, tuple[str, str]]) -> Iterator[tuple[Any, ...]]:
    for row in rows:
        head, tail = tuple(row)[:6], tuple(row)[6:]
        shown = json.loads(row["shown"])
        places = (
            shown.index(row[key]) + 1 if row[key] in shown else None
            for key in ("best_item_id", "worst_item_id")
        )
        sentences = (text for item in shown for text in texts[item])
        yield (*head, *places, *tail, *sentences)


TEXTS_SQL = """
SELECT item.id, first.text, second.text FROM annotation_item AS item
JOIN sentence AS first ON first.id = sentence1_id JOIN sentence AS second ON second.id = sentence2_id
WHERE task_id = ?
"""

SCORES_SQL = """
SELECT item.id, position + 1, annotator, state, score, flagged, CASE WHEN swapped THEN '2-1' ELSE '1-2' END, seconds,
  suggestion, suggestion_seen, at, reason, first.text, second.text
FROM annotation JOIN annotation_item AS item ON item.id = item_id
JOIN sentence AS first ON first.id = sentence1_id JOIN sentence AS second ON second.id = sentence2_id
WHERE annotation.task_id = ? AND (state <> 'claimed' OR flagged) ORDER BY position, annotator
"""

# Of a tuple and a judge the last row counts.
ANSWERS_SQL = """
SELECT tuple.id, position + 1, annotator, action, best_item_id, worst_item_id, shown, seconds, at
FROM best_worst_answer AS answer JOIN best_worst_tuple AS tuple ON tuple.id = tuple_id
WHERE answer.id IN (SELECT max(id) FROM best_worst_answer WHERE task_id = ? GROUP BY tuple_id, annotator)
  AND (best_item_id IS NOT NULL OR action = 'skip') ORDER BY position, annotator
"""
