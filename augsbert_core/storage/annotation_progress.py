"""How far annotators are, and how fast."""

from dataclasses import dataclass

import numpy as np

from augsbert_core.storage.annotation_turns import COUNT_OPEN_SQL, COUNT_SKIPPED_SQL, Turn, turn
from augsbert_core.storage.database import Workspace, columns, reading

LONGEST_SECONDS = 300.0
"""A pair counts with no more than this: whoever takes a break does not work."""


@dataclass(frozen=True)
class Progress:
    """How far one annotator is in a task, and all together.

    done, skipped, flagged: pairs of this annotator; left: pairs that would still come to them as things are. all_done of
    all_wanted: scores of everyone. pairs_per_hour: over the time at work, in which a pair counts with
    `LONGEST_SECONDS` at most; median_seconds: per pair; both None before the first pair with a time.
    """

    n_items: int
    done: int
    left: int
    skipped: int
    flagged: int
    all_done: int
    all_wanted: int
    pairs_per_hour: float | None
    median_seconds: float | None


@dataclass(frozen=True)
class AnnotatorProgress:
    """What one annotator has done in a task; figures as in `Progress`.
    last_at: when they were last at it."""

    annotator: str
    scored: int
    skipped: int
    flagged: int
    pairs_per_hour: float | None
    median_seconds: float | None
    last_at: str


def progress(
    workspace: Workspace, task_id: int, annotator: str, *, at: str | None = None
) -> Progress:
    """How far this annotator is. WorkbenchError: the task is gone."""
    with reading(workspace) as db:
        mine = turn(db, task_id, annotator, at)
        own = {state: _own(mine, state) for state in ("scored", "skipped", "claimed")}
        counts = dict(db.execute(COUNTS_SQL, mine.values).fetchall())
        n_items = db.execute(N_ITEMS_SQL, mine.values).fetchone()[0]
        if len(counts.keys() - {mine.annotator}) < mine.task["n_scores"]:
            # No pair can have enough scores of others, so none needs to be looked at.
            left = n_items - len(own["scored"].seconds) - len(own["skipped"].seconds)
        else:
            left = db.execute(COUNT_OPEN_SQL, mine.values).fetchone()[0]
        left += db.execute(COUNT_SKIPPED_SQL, mine.values).fetchone()[0]
    per_hour, median = pace(own["scored"].seconds, own["skipped"].seconds)
    return Progress(
        n_items=n_items,
        done=len(own["scored"].seconds),
        left=left,
        skipped=len(own["skipped"].seconds),
        flagged=sum(part.n_flagged for part in own.values()),
        all_done=sum(counts.values()),
        all_wanted=n_items * mine.task["n_scores"],
        pairs_per_hour=per_hour,
        median_seconds=median,
    )


COUNTS_SQL = """
SELECT annotator, sum(state = 'scored') FROM annotation WHERE task_id = :task GROUP BY annotator
"""

N_ITEMS_SQL = "SELECT count(*) FROM annotation_item WHERE task_id = :task"


@dataclass(frozen=True)
class _Own:
    """What one annotator has in one state. seconds: one per pair, NaN where it was not timed."""

    seconds: np.ndarray
    n_flagged: int


def _own(mine: Turn, state: str) -> _Own:
    rows = columns(mine.db, OWN_SQL, {**mine.values, "state": state}, np.float64)
    return _Own(np.where(rows[0] < 0, np.nan, rows[0]), int(rows[1].sum()))


OWN_SQL = """
SELECT coalesce(seconds, -1), flagged FROM annotation
WHERE task_id = :task AND annotator = :annotator AND state = :state
"""


def annotators(workspace: Workspace, task_id: int) -> list[AnnotatorProgress]:
    """Everyone who has scored, skipped or marked a pair of the task, by name."""
    with reading(workspace) as db:
        names = [row[0] for row in db.execute(NAMES_SQL, [task_id])]
        return [
            _of_annotator(turn(db, task_id, name))
            for name in sorted(names, key=lambda name: (name.casefold(), name))
        ]


NAMES_SQL = """
SELECT DISTINCT annotator FROM annotation WHERE task_id = ? AND (state <> 'claimed' OR flagged)
"""


def _of_annotator(mine: Turn) -> AnnotatorProgress:
    own = {state: _own(mine, state) for state in ("scored", "skipped", "claimed")}
    per_hour, median = pace(own["scored"].seconds, own["skipped"].seconds)
    last = mine.db.execute(
        "SELECT at FROM annotation_event WHERE task_id = :task AND annotator = :annotator ORDER BY id DESC LIMIT 1",
        mine.values,
    ).fetchone()
    return AnnotatorProgress(
        annotator=mine.annotator,
        scored=len(own["scored"].seconds),
        skipped=len(own["skipped"].seconds),
        flagged=sum(part.n_flagged for part in own.values()),
        pairs_per_hour=per_hour,
        median_seconds=median,
        last_at=last["at"] if last else "",
    )


def pace(scored: np.ndarray, skipped: np.ndarray) -> tuple[float | None, float | None]:
    """Scored pairs per hour of work, and the median of their seconds; NaN: not timed. None where nothing was.

    Time spent on pairs that were skipped is work, too.
    """
    timed, lost = scored[~np.isnan(scored)], skipped[~np.isnan(skipped)]
    if not len(timed):
        return None, None
    work = sum(float(np.minimum(part, LONGEST_SECONDS).sum()) for part in (timed, lost))
    return len(timed) * 3600.0 / work if work > 0 else None, float(np.median(timed))
