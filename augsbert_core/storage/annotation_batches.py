"""Many scores at once, as a file holds them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from augsbert_core.errors import WorkbenchError
from augsbert_core.person_names import checked_person
from augsbert_core.storage.annotation_turns import (
    Turn,
    checked_score,
    is_swapped,
    known_seconds,
    refuse_closed,
    turn,
)
from augsbert_core.storage.database import Workspace, writing


@dataclass(frozen=True)
class GivenScore:
    """A score in [0, 1] for a pair of a task. seconds: how long it took, None where that is not known."""

    item_id: int
    score: float | None
    seconds: float | None = None


def add_scores(
    workspace: Workspace,
    task_id: int,
    annotator: str,
    scores: Iterable[GivenScore],
    *,
    at: str | None = None,
) -> int:
    """Save many scores of one annotator, all or none, as if given one after the other; returns how many.

    WorkbenchError: as in `annotations.save`.
    """
    return sum(add_score_table(workspace, task_id, {annotator: list(scores)}, at=at).values())


def add_score_table(
    workspace: Workspace,
    task_id: int,
    given: Mapping[str, Sequence[GivenScore]],
    *,
    at: str | None = None,
) -> dict[str, int]:
    """Save the scores of several annotators, all or none; returns how many of whom. WorkbenchError: as in `annotations.save`."""
    for score in chain.from_iterable(given.values()):
        checked_score(score.score)
    names = {annotator: checked_person(annotator) for annotator in given}
    with writing(workspace) as db:
        for annotator, scores in given.items():
            mine = turn(db, task_id, annotator, at)
            refuse_closed(mine)
            _add_many(mine, scores)
    return {names[annotator]: len(scores) for annotator, scores in given.items()}


def _add_many(mine: Turn, scores: Sequence[GivenScore]) -> None:
    """What `annotations.save` does for one score, with a statement for all."""
    db = mine.db
    db.execute(
        "CREATE TEMP TABLE IF NOT EXISTS given (number INTEGER PRIMARY KEY, item_id, score, swapped, seconds)"
    )
    db.execute("DELETE FROM temp.given")
    seed, name = mine.task["seed"], mine.annotator
    db.conn.executemany(
        "INSERT INTO temp.given (item_id, score, swapped, seconds) VALUES (?, ?, ?, ?)",
        (
            (
                one.item_id,
                one.score,
                is_swapped(seed, name, one.item_id),
                known_seconds(one.seconds),
            )
            for one in scores
        ),
    )
    strange = db.execute(STRANGE_SQL, mine.values).fetchone()
    if strange is not None:
        raise not_in_task(mine, strange[0])
    values = {**mine.values, "at": mine.at}
    db.execute(ADD_EVENTS_SQL, values)
    db.execute(ADD_ANNOTATIONS_SQL, values)


STRANGE_SQL = """
SELECT item_id FROM temp.given
WHERE NOT EXISTS (SELECT 1 FROM annotation_item AS item WHERE item.id = given.item_id AND task_id = :task) LIMIT 1
"""

# Events first: a suggestion that was seen is read from those that were there before.
ADD_EVENTS_SQL = """
INSERT INTO annotation_event (task_id, item_id, annotator, at, action, score, flagged, swapped, suggestion_seen, seconds)
SELECT :task, given.item_id, :annotator, :at, 'score', given.score, coalesce(old.flagged, 0), given.swapped,
  EXISTS (SELECT 1 FROM annotation_event AS event WHERE event.item_id = given.item_id
    AND event.annotator = :annotator AND event.suggestion_seen), given.seconds
FROM temp.given LEFT JOIN annotation AS old ON old.item_id = given.item_id AND old.annotator = :annotator
ORDER BY number
"""

ADD_ANNOTATIONS_SQL = """
INSERT OR REPLACE INTO annotation (task_id, item_id, annotator, state, flagged, score, swapped, suggestion_seen, seconds, at)
SELECT :task, given.item_id, :annotator, 'scored', coalesce(old.flagged, 0), given.score, given.swapped,
  EXISTS (SELECT 1 FROM annotation_event AS event WHERE event.item_id = given.item_id
    AND event.annotator = :annotator AND event.suggestion_seen), given.seconds, :at
FROM temp.given LEFT JOIN annotation AS old ON old.item_id = given.item_id AND old.annotator = :annotator
ORDER BY number
"""


def not_in_task(mine: Turn, item_id: int) -> WorkbenchError:
    """What to raise for a pair that a task does not have."""
    return WorkbenchError(f"Pair {item_id} is not (any more) in {mine.task['name']}.")
