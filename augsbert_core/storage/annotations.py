"""Scores that people give to pairs: saved one by one as they are given, and taken back one by one.

`annotation_event` only grows. `annotation` holds what the events of a pair and an annotator amount to, and is written in
the same transaction; so is the claim on the pair that comes next.
"""

from dataclasses import dataclass
from typing import Any

from augsbert_core.errors import WorkbenchError
from augsbert_core.storage.annotation_batches import (
    GivenScore,
    add_score_table,
    add_scores,
    not_in_task,
)
from augsbert_core.storage.annotation_progress import (
    AnnotatorProgress,
    Progress,
    annotators,
    progress,
)
from augsbert_core.storage.annotation_standing import Standing, current, outlook
from augsbert_core.storage.annotation_turns import (
    CLAIM_MINUTES,
    OTHERS,
    STANDING_EVENT,
    Turn,
    checked_score,
    is_swapped,
    known_seconds,
    refuse_closed,
    turn,
)
from augsbert_core.storage.database import Workspace, reading, writing
from augsbert_core.storage.score_matrices import ScoreMatrix, adjudicate, score_matrix

__all__ = [
    "CLAIM_MINUTES",
    "AnnotatorProgress",
    "Decision",
    "GivenScore",
    "Item",
    "Progress",
    "ScoreMatrix",
    "add_score_table",
    "add_scores",
    "adjudicate",
    "annotators",
    "get_item",
    "last_decision",
    "neighbour",
    "next_item",
    "progress",
    "save",
    "score_matrix",
    "undo",
]

ACTIONS = ("score", "skip", "flag")


@dataclass(frozen=True)
class Item:
    """A pair as one annotator meets it, with their own score and nobody else's.

    sentence1, sentence2: in stored order; swapped: the second is shown first. suggestion: a model's score in [0, 1],
    to be shown on demand only. state: "open", "scored" or "skipped". n_scores: how many people are to score it.
    """

    id: int
    task_id: int
    position: int
    sentence1: str
    sentence2: str
    swapped: bool
    reason: str
    suggestion: float | None
    state: str
    score: float | None
    flagged: bool
    n_scores: int

    @property
    def shown(self) -> tuple[str, str]:
        """Both sentences in the order on the screen."""
        first, second = self.sentence1, self.sentence2
        return (second, first) if self.swapped else (first, second)


def next_item(
    workspace: Workspace, task_id: int, annotator: str, *, at: str | None = None
) -> Item | None:
    """The pair that this annotator is to score now, kept for them for `CLAIM_MINUTES`; None: none is left, or closed.

    Asked again, it is the same pair. at: the moment, as `database.now` gives it; None: now.
    """
    with writing(workspace) as db:
        mine = turn(db, task_id, annotator, at)
        return None if mine.task["closed"] else _claim_next(mine, current(mine), 0)


def save(
    workspace: Workspace,
    task_id: int,
    item_id: int,
    annotator: str,
    *,
    action: str = "score",
    score: float | None = None,
    seconds: float | None = None,
    suggestion_seen: bool = False,
    seen: tuple[str, float | None] | None = None,
    at: str | None = None,
) -> Item | None:
    """Save what an annotator decided on a pair and claim the next one, which is returned; None: none is left.

    action: "score" (in [0, 1]); "skip"; or "flag", which sets a mark beside the score, or takes it away, and returns
    the same pair. Saved again for a pair, the later score replaces the earlier; both stay in the log. seconds: how long
    the pair was on the screen. suggestion_seen: says nothing of a pair that no model has scored. seen: state and score of the
    pair as they were on the screen. WorkbenchError: the task is closed or gone, the score lies outside, or the pair is no
    longer as it was seen; nothing is saved.
    """
    if action not in ACTIONS:
        raise ValueError(f"action must be one of {ACTIONS}, not {action!r}")
    given = GivenScore(item_id, checked_score(score) if action == "score" else None, seconds)
    with writing(workspace) as db:
        mine = turn(db, task_id, annotator, at)
        refuse_closed(mine)
        item, standing = _stored_item(mine, item_id), current(mine)
        if seen is not None and seen != (_state(item), item["score"]):
            raise WorkbenchError(
                "You have decided on this pair in another window meanwhile. Nothing was changed; go back to it to change it."
            )
        _append(mine, action, given, suggestion_seen and item["suggestion"] is not None)
        if action == "flag":
            return _item(mine, item_id)
        return _claim_next(mine, standing, item["position"], item_id)


def undo(
    workspace: Workspace, task_id: int, annotator: str, *, at: str | None = None
) -> Item | None:
    """Take back the annotator's last decision in a task and return its pair, as it was before; None: nothing is left.

    Undoing is itself an event. Unlimited, also after a restart, and of their own decisions alone. A pair that is open
    again is claimed. WorkbenchError: the task is closed or gone.
    """
    with writing(workspace) as db:
        mine = turn(db, task_id, annotator, at)
        refuse_closed(mine)
        event = db.execute(LAST_EVENT_SQL, mine.values).fetchone()
        if event is None:
            return None
        item_id = int(event["item_id"])
        db.execute(
            "INSERT INTO annotation_event (task_id, item_id, annotator, at, action, swapped, undone_event_id)"
            " VALUES (?, ?, ?, ?, 'undo', ?, ?)",
            [task_id, item_id, mine.annotator, mine.at, event["swapped"], event["id"]],
        )
        _restore(mine, item_id)
        item = _item(mine, item_id)
        if item.state == "open":
            _claim(mine, item_id)
        return item


@dataclass(frozen=True)
class Decision:
    """One thing that an annotator decided on a pair. action: as in `save`; score: in [0, 1], None without one."""

    item_id: int
    action: str
    score: float | None


def last_decision(workspace: Workspace, task_id: int, annotator: str) -> Decision | None:
    """What `undo` would take back now; None: nothing."""
    with reading(workspace) as db:
        event = db.execute(LAST_EVENT_SQL, turn(db, task_id, annotator).values).fetchone()
    return None if event is None else Decision(event["item_id"], event["action"], event["score"])


LAST_EVENT_SQL = f"""
SELECT * FROM annotation_event AS event
WHERE task_id = :task AND annotator = :annotator AND action IN ('score', 'skip', 'flag') AND {STANDING_EVENT}
ORDER BY id DESC LIMIT 1
"""


def get_item(workspace: Workspace, task_id: int, annotator: str, item_id: int) -> Item:
    """A pair as this annotator meets it; nothing changes. WorkbenchError: it is gone."""
    with reading(workspace) as db:
        return _item(turn(db, task_id, annotator), item_id)


def neighbour(
    workspace: Workspace,
    task_id: int,
    annotator: str,
    item_id: int,
    step: int,
    *,
    at: str | None = None,
) -> Item | None:
    """The pair so many steps on (back, when step < 0) among those the annotator has met and those open to them.

    In the order of positions; None beyond the first and the last. Nothing changes: the pair is not claimed.
    """
    with reading(workspace) as db:
        mine = turn(db, task_id, annotator, at)
        here = _stored_item(mine, item_id)
        if step == 0:
            return _item(mine, item_id)
        query = NEIGHBOUR_SQL.format(*(">", "ASC") if step > 0 else ("<", "DESC"))
        values = {**mine.values, "here": here["position"], "steps": abs(step) - 1}
        row = db.execute(query, values).fetchone()
        return None if row is None else _item(mine, int(row[0]))


NEIGHBOUR_SQL = f"""
SELECT item.id FROM annotation_item AS item
WHERE task_id = :task AND position {{}} :here AND ({OTHERS} < :n
  OR EXISTS (SELECT 1 FROM annotation WHERE item_id = item.id AND annotator = :annotator AND state <> 'claimed'))
ORDER BY position {{}} LIMIT 1 OFFSET :steps
"""


# --- one pair ------------------------------------------------------------------------------------------


def _stored_item(mine: Turn, item_id: int) -> Any:
    row = mine.db.execute(ITEM_SQL, {**mine.values, "item": item_id}).fetchone()
    if row is None:
        raise not_in_task(mine, item_id)
    return row


ITEM_SQL = """
SELECT item.*, first.text AS sentence1, second.text AS sentence2, state, score, flagged
FROM annotation_item AS item
JOIN sentence AS first ON first.id = sentence1_id
JOIN sentence AS second ON second.id = sentence2_id
LEFT JOIN annotation ON item_id = item.id AND annotator = :annotator
WHERE item.id = :item AND item.task_id = :task
"""


def _item(mine: Turn, item_id: int) -> Item:
    row = _stored_item(mine, item_id)
    return Item(
        id=item_id,
        task_id=mine.task["id"],
        position=row["position"],
        sentence1=row["sentence1"],
        sentence2=row["sentence2"],
        swapped=is_swapped(mine.task["seed"], mine.annotator, item_id),
        reason=row["reason"],
        suggestion=row["suggestion"],
        state=_state(row),
        score=row["score"],
        flagged=bool(row["flagged"]),
        n_scores=mine.task["n_scores"],
    )


def _state(row: Any) -> str:
    return "open" if row["state"] in (None, "claimed") else str(row["state"])


def _append(mine: Turn, action: str, given: GivenScore, suggestion_seen: bool) -> None:
    """Add an event, and bring what the pair amounts to up to date."""
    values = {
        **mine.values,
        "item": given.item_id,
        "at": mine.at,
        "action": action,
        "score": given.score,
        "swapped": is_swapped(mine.task["seed"], mine.annotator, given.item_id),
        "seen": suggestion_seen,
        "seconds": known_seconds(given.seconds),
    }
    mine.db.execute(APPEND_SQL, values)
    _restore(mine, given.item_id)


# Once a suggestion was seen it stays seen, whatever is taken back or scored anew.
APPEND_SQL = """
INSERT INTO annotation_event (task_id, item_id, annotator, at, action, score, flagged, swapped, suggestion_seen, seconds)
SELECT :task, :item, :annotator, :at, :action, :score,
  CASE :action WHEN 'flag' THEN NOT flagged ELSE flagged END, :swapped, max(:seen, seen), :seconds
FROM (SELECT
  coalesce((SELECT flagged FROM annotation WHERE item_id = :item AND annotator = :annotator), 0) AS flagged,
  EXISTS (SELECT 1 FROM annotation_event WHERE item_id = :item AND annotator = :annotator AND suggestion_seen) AS seen)
"""


def _restore(mine: Turn, item_id: int) -> None:
    """Make a pair what the standing events of the annotator say it is.

    A claim on a pair that is open stays.
    """
    events = mine.db.execute(STANDING_SQL, {**mine.values, "item": item_id}).fetchall()
    flagged = bool(events[-1]["flagged"]) if events else False
    decided = next((event for event in reversed(events) if event["action"] != "flag"), None)
    if decided is not None:
        state = "scored" if decided["action"] == "score" else "skipped"
        keys = ("score", "swapped", "suggestion_seen", "seconds", "at")
        row = [state, flagged, *(decided[key] for key in keys)]
    else:
        swapped = is_swapped(mine.task["seed"], mine.annotator, item_id)
        claimed = mine.db.execute(
            "SELECT at FROM annotation WHERE item_id = ? AND annotator = ? AND state = 'claimed'",
            [item_id, mine.annotator],
        ).fetchone()
        row = ["claimed", flagged, None, swapped, 0, None, claimed["at"] if claimed else ""]
    _put(mine, item_id, row)


STANDING_SQL = f"""
SELECT * FROM annotation_event AS event
WHERE item_id = :item AND annotator = :annotator AND action IN ('score', 'skip', 'flag') AND {STANDING_EVENT}
ORDER BY id
"""


def _put(mine: Turn, item_id: int, row: list[Any]) -> None:
    """row: from state on. One that says nothing is not kept."""
    mine.db.execute(
        "INSERT OR REPLACE INTO annotation (task_id, item_id, annotator, state, flagged, score, swapped,"
        " suggestion_seen, seconds, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [mine.task["id"], item_id, mine.annotator, *row],
    )
    mine.db.execute(
        "DELETE FROM annotation WHERE item_id = ? AND annotator = ? AND state = 'claimed' AND at = ''"
        " AND NOT flagged",
        [item_id, mine.annotator],
    )


# --- claims --------------------------------------------------------------------------------------------


def _claim_next(
    mine: Turn, standing: Standing, start: int, changed: int | None = None
) -> Item | None:
    """The pair that the annotator has before them already, else the first open one from a position on.

    standing: as it was before this transaction changed a pair.
    """
    own = mine.db.execute(OWN_CLAIM_SQL, mine.values).fetchone()
    found = int(own[0]) if own else outlook(mine, changed, standing).first(start)
    if found is None:
        _release(mine, None)
        return None
    _claim(mine, found)
    return _item(mine, found)


# A claim that got stale may have passed to others meanwhile.
OWN_CLAIM_SQL = f"""
SELECT item.id FROM annotation AS own JOIN annotation_item AS item ON item.id = own.item_id
WHERE own.task_id = :task AND own.annotator = :annotator AND own.state = 'claimed' AND own.at <> '' AND {OTHERS} < :n
"""


def _claim(mine: Turn, item_id: int) -> None:
    """Keep a pair for the annotator, and let go of any other that was."""
    _release(mine, item_id)
    flagged = mine.db.execute(
        "SELECT flagged FROM annotation WHERE item_id = ? AND annotator = ?",
        [item_id, mine.annotator],
    ).fetchone()
    swapped = is_swapped(mine.task["seed"], mine.annotator, item_id)
    _put(
        mine, item_id,
        ["claimed", flagged[0] if flagged else 0, None, swapped, 0, None, mine.at],
    )  # fmt: skip


def _release(mine: Turn, but: int | None) -> None:
    """Let go of the pairs that are kept for the annotator, all but one: they are what their events say."""
    claimed = mine.db.execute(
        "SELECT item_id FROM annotation WHERE task_id = :task AND annotator = :annotator AND state = 'claimed'"
        " AND at <> '' AND item_id IS NOT :but",
        {**mine.values, "but": but},
    ).fetchall()
    for (item_id,) in claimed:
        mine.db.execute(
            "UPDATE annotation SET at = '' WHERE item_id = ? AND annotator = ?",
            [item_id, mine.annotator],
        )
        _restore(mine, item_id)
