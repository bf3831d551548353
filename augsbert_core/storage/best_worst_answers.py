"""Best-worst answers: which of four pairs is the most similar, and which the least, saved one by one.

Every judge goes through the tuples of a task in an order of their own and sees the four pairs of each in an order of
their own. A tuple is given to a judge while fewer than n_scores others have answered it; one that was skipped comes
back once, after all others. `best_worst_answer` only grows: a row of the action "undo" holds the answer that counts
again, or none.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.storage.annotation_progress import pace
from augsbert_core.storage.annotation_turns import known_seconds, refuse_closed, turn
from augsbert_core.storage.best_worst_desk import (
    MEMBERS,
    STANDING_SQL,
    Row,
    TupleItem,
    TuplePair,
    desk_of,
)
from augsbert_core.storage.database import Workspace, reading, writing

__all__ = [
    "Answers",
    "TupleItem",
    "TuplePair",
    "TupleProgress",
    "answers",
    "get_tuple",
    "neighbour_tuple",
    "next_tuple",
    "save_answer",
    "skip_tuple",
    "tuple_progress",
    "undo_answer",
]


@dataclass(frozen=True)
class TupleProgress:
    """How far one judge is, and all together; fields as in `annotation_progress.Progress`, of tuples."""

    n_tuples: int
    done: int
    left: int
    skipped: int
    all_done: int
    all_wanted: int
    tuples_per_hour: float | None
    median_seconds: float | None


def next_tuple(workspace: Workspace, task_id: int, annotator: str) -> TupleItem | None:
    """The tuple that this judge is to answer now; None: none is left, or the task is closed."""
    with reading(workspace) as db:
        desk = desk_of(turn(db, task_id, annotator, kind="best-worst"))
        return None if desk.turn.task["closed"] else desk.next()


def save_answer(
    workspace: Workspace,
    task_id: int,
    tuple_id: int,
    annotator: str,
    best_item_id: int,
    worst_item_id: int,
    *,
    seconds: float | None = None,
    at: str | None = None,
) -> TupleItem | None:
    """Save which pair of a tuple is best and which is worst, and return the next tuple; None: none is left.

    Saved again for a tuple, the later answer counts. WorkbenchError: both are the same pair, one is not in the tuple,
    or the task is closed or gone; nothing is saved.
    """
    if best_item_id == worst_item_id:
        raise WorkbenchError("The most and the least similar pair must be two different ones.")
    with writing(workspace) as db:
        desk = desk_of(turn(db, task_id, annotator, at, kind="best-worst"))
        refuse_closed(desk.turn)
        if not {best_item_id, worst_item_id} <= set(desk.members(tuple_id)):
            raise WorkbenchError("The answer names a pair that is not in this tuple.")
        desk.append(Row(tuple_id, "answer", best_item_id, worst_item_id, known_seconds(seconds)))
        return desk.next()


def skip_tuple(
    workspace: Workspace,
    task_id: int,
    tuple_id: int,
    annotator: str,
    *,
    seconds: float | None = None,
    at: str | None = None,
) -> TupleItem | None:
    """Put a tuple off and return the next one; it comes back once, after all others. WorkbenchError: closed or gone."""
    with writing(workspace) as db:
        desk = desk_of(turn(db, task_id, annotator, at, kind="best-worst"))
        refuse_closed(desk.turn)
        desk.members(tuple_id)
        desk.append(Row(tuple_id, "skip", seconds=known_seconds(seconds)))
        return desk.next()


def undo_answer(
    workspace: Workspace, task_id: int, annotator: str, *, at: str | None = None
) -> TupleItem | None:
    """Take back this judge's last answer or skip and return its tuple, as it was before; None: nothing is left.

    Unlimited, also after a restart, and of their own answers alone. WorkbenchError: the task is closed or gone.
    """
    with writing(workspace) as db:
        desk = desk_of(turn(db, task_id, annotator, at, kind="best-worst"))
        refuse_closed(desk.turn)
        if not desk.standing:
            return None
        tuple_id = desk.standing.pop().tuple_id
        before = desk.latest.get(tuple_id)
        restored = Row(tuple_id, "undo")
        if before is not None:
            restored = Row(tuple_id, "undo", before.best, before.worst, before.seconds)
        desk.write(restored)
        return desk.show(tuple_id)


def get_tuple(workspace: Workspace, task_id: int, annotator: str, tuple_id: int) -> TupleItem:
    """A tuple as this judge meets it; nothing changes. WorkbenchError: it is gone."""
    with reading(workspace) as db:
        desk = desk_of(turn(db, task_id, annotator, kind="best-worst"))
        desk.members(tuple_id)
        return desk.show(tuple_id)


def neighbour_tuple(
    workspace: Workspace, task_id: int, annotator: str, tuple_id: int, step: int
) -> TupleItem | None:
    """The tuple so many steps on (back, when step < 0) among those the judge has met and those open to them."""
    with reading(workspace) as db:
        desk = desk_of(turn(db, task_id, annotator, kind="best-worst"))
        desk.members(tuple_id)
        met = {tuple_id, *desk.latest}
        order = [one for one in desk.order if one in met or not desk.is_full(one)]
        place = order.index(tuple_id) + step
        return desk.show(order[place]) if 0 <= place < len(order) else None


def tuple_progress(workspace: Workspace, task_id: int, annotator: str) -> TupleProgress:
    """How far this judge is. WorkbenchError: the task is gone."""
    with reading(workspace) as db:
        desk = desk_of(turn(db, task_id, annotator, kind="best-worst"))
    answered = [row for row in desk.latest.values() if row.action == "answer"]
    skipped = [row for row in desk.latest.values() if row.action == "skip"]
    per_hour, median = pace(_seconds(answered), _seconds(skipped))
    return TupleProgress(
        n_tuples=len(desk.order),
        done=len(answered),
        left=len(desk.open()) + len(desk.skipped_once()),
        skipped=len(skipped),
        all_done=sum(desk.others.values()) + len(answered),
        all_wanted=len(desk.order) * desk.turn.task["n_scores"],
        tuples_per_hour=per_hour,
        median_seconds=median,
    )


@dataclass(frozen=True)
class Answers:
    """Every answer that stands, as `best_worst.score` and `best_worst.split_half_reliability` take them.

    item_ids: the pairs of the task, by position; all other numbers are places in it. tuples: shape (answers, 4);
    judges: names; best, worst: shape (answers,).
    """

    item_ids: list[int]
    tuples: np.ndarray
    judges: np.ndarray
    best: np.ndarray
    worst: np.ndarray

    def __len__(self) -> int:
        return len(self.best)


def answers(workspace: Workspace, task_id: int) -> Answers:
    """The answers of all judges; of a judge and a tuple the last one that was not taken back."""
    with reading(workspace) as db:
        items = [
            row[0]
            for row in db.execute(
                "SELECT id FROM annotation_item WHERE task_id = ? ORDER BY position", [task_id]
            )
        ]
        rows = db.execute(ANSWERS_SQL, {"task": task_id}).fetchall()
    place = {item_id: number for number, item_id in enumerate(items)}
    numbers = np.array(
        [[place[row[key]] for key in ANSWER_COLUMNS] for row in rows], dtype=np.int64
    ).reshape(-1, len(ANSWER_COLUMNS))
    return Answers(
        item_ids=items,
        tuples=numbers[:, :4],
        judges=np.array([row["annotator"] for row in rows], dtype=object),
        best=numbers[:, 4],
        worst=numbers[:, 5],
    )


ANSWER_COLUMNS = (*MEMBERS, "best_item_id", "worst_item_id")

ANSWERS_SQL = f"""
SELECT answer.*, {", ".join(MEMBERS)} FROM ({STANDING_SQL}) AS answer
JOIN best_worst_tuple ON best_worst_tuple.id = tuple_id ORDER BY position, answer.id
"""


def _seconds(rows: Sequence[Row]) -> np.ndarray:
    """How long each took, NaN where it was not timed."""
    known = [math.nan if row.seconds is None else row.seconds for row in rows]
    return np.array(known, dtype=np.float64)
