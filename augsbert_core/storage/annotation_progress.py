"""How far annotators are, and how fast."""

from dataclasses import dataclass

import numpy as np

from augsbert_core.storage.annotation_standing import SCORED, SKIPPED, Own, outlook
from augsbert_core.storage.annotation_turns import Turn, turn
from augsbert_core.storage.database import Workspace, reading

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
        now = outlook(mine)
    own, n_items = now.own, len(now.ids)
    per_hour, median = own_pace(own)
    return Progress(
        n_items=n_items,
        done=int((own.state == SCORED).sum()),
        left=now.n_left,
        skipped=int((own.state == SKIPPED).sum()),
        flagged=int(own.flagged.sum()),
        all_done=int(now.n_scored.sum()),
        all_wanted=n_items * mine.task["n_scores"],
        pairs_per_hour=per_hour,
        median_seconds=median,
    )


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
    own = outlook(mine).own
    per_hour, median = own_pace(own)
    last = mine.db.execute(
        "SELECT at FROM annotation_event WHERE task_id = :task AND annotator = :annotator ORDER BY id DESC LIMIT 1",
        mine.values,
    ).fetchone()
    return AnnotatorProgress(
        annotator=mine.annotator,
        scored=int((own.state == SCORED).sum()),
        skipped=int((own.state == SKIPPED).sum()),
        flagged=int(own.flagged.sum()),
        pairs_per_hour=per_hour,
        median_seconds=median,
        last_at=last["at"] if last else "",
    )


def own_pace(own: Own) -> tuple[float | None, float | None]:
    """As `pace`, of what one annotator has decided."""
    return pace(own.seconds[own.state == SCORED], own.seconds[own.state == SKIPPED])


def pace(scored: np.ndarray, skipped: np.ndarray) -> tuple[float | None, float | None]:
    """Scored pairs per hour of work, and the median of their seconds; NaN: not timed. None where nothing was.

    Time spent on pairs that were skipped is work, too.
    """
    timed, lost = scored[~np.isnan(scored)], skipped[~np.isnan(skipped)]
    if not len(timed):
        return None, None
    work = sum(float(np.minimum(part, LONGEST_SECONDS).sum()) for part in (timed, lost))
    return len(timed) * 3600.0 / work if work > 0 else None, float(np.median(timed))
