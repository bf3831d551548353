"""A silver set as it is at a moment: its columns, people's decisions, and another model's scores beside them."""

import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from sqlite_utils import Database

from augsbert_core.pairs import pair_codes
from augsbert_core.storage.database import Workspace, columns
from augsbert_core.storage.silver_bins import SCORE_BINS, STATUSES
from augsbert_core.storage.silver_columns import MOST_SETS, SilverColumns, columns_of
from augsbert_core.storage.silver_student import Student, newest_student, read_scores

FEW_CHANGES = 20_000
"""Up to so many changed pairs are read one by one; of more, all that people have decided on are read anew."""


@dataclass(frozen=True)
class SilverView:
    """columns, and parallel to them: statuses (uint8, places in STATUSES), finals (corrected scores), and
    students, the scores of `student` (float32, NaN for pairs that it has not scored; None without a student).

    revision: of the set, another one after each change. newest_edit: id of the last entry in the log of the set.
    """

    columns: SilverColumns
    revision: int
    newest_edit: int
    statuses: np.ndarray
    finals: np.ndarray
    student: Student | None = None
    students: np.ndarray | None = None

    @property
    def disagreements(self) -> np.ndarray:
        """|labeler - student| of each pair, NaN where it is not known."""
        if self.students is None:
            return np.full(len(self.columns), np.nan)
        return np.abs(self.columns.scores - self.students)


def view_of(workspace: Workspace, db: Database, set_id: int) -> SilverView:
    """A silver set as it is in this transaction; empty when there is no such set.

    What has not changed since the last time is taken over.
    """
    known = columns_of(workspace, db, set_id)
    revision, newest_edit = db.execute(STATE_SQL, {"set": set_id}).fetchone()
    student = newest_student(db, set_id)
    key = (workspace.home, set_id)
    with _lock:
        view = _at_hand.get(key)
        if view is None or view.columns is not known:
            decisions = _all_decisions(db, set_id, known)
            students = _students(db, set_id, known, student)
            view = SilverView(known, revision, newest_edit, *decisions, student, students)
        if (view.revision, view.newest_edit) != (revision, newest_edit):
            statuses, finals = _decisions_since(db, set_id, view)
            view = replace(
                view,
                revision=revision,
                newest_edit=newest_edit,
                statuses=statuses,
                finals=finals,
            )
        if view.student != student:
            students = _students(db, set_id, known, student)
            view = replace(view, student=student, students=students)
        _at_hand[key] = view
        _at_hand.move_to_end(key)
        while len(_at_hand) > MOST_SETS:
            _at_hand.popitem(last=False)
        return view


_lock = threading.Lock()
_at_hand: OrderedDict[tuple[Path, int], SilverView] = OrderedDict()

STATE_SQL = """
SELECT coalesce((SELECT revision FROM silver_set WHERE id = :set), 0),
  coalesce((SELECT max(id) FROM edit WHERE silver_set_id = :set), 0)
"""

# Only the pairs that people have looked at are read.
DECISIONS_SQL = """
SELECT sentence1_id, sentence2_id, final_score FROM silver_pair INDEXED BY silver_pair_reviewed
WHERE silver_set_id = ? AND status = ? AND status <> 'unreviewed'
"""

Decisions = tuple[np.ndarray, np.ndarray]
"""statuses and finals"""


def _all_decisions(db: Database, set_id: int, known: SilverColumns) -> Decisions:
    statuses = np.zeros(len(known), dtype=np.uint8)
    finals = np.array(known.scores)
    for number, status in enumerate(STATUSES):
        if status != "unreviewed":
            first, second, scores = columns(db, DECISIONS_SQL, [set_id, status], np.float64)
            codes = pair_codes(first.astype(np.int64), second.astype(np.int64))
            places = known.places_of_codes(codes)
            statuses[places], finals[places] = number, scores
    return statuses, finals


# An undo or redo has the changes of the edit that it speaks of.
CHANGED_SQL = """
SELECT DISTINCT pair_id FROM edit JOIN edit_change ON edit_id = coalesce(target_edit_id, edit.id)
WHERE silver_set_id = :set AND edit.id > :after LIMIT :limit
"""

PAIR_SQL = "SELECT status, final_score FROM silver_pair WHERE id = ? AND silver_set_id = ?"


def _decisions_since(db: Database, set_id: int, view: SilverView) -> Decisions:
    """The decisions as they are now: a single one is not worth reading all others again.

    What changed is in the log of edits. Should it not be, the stored counts of statuses and scores show it.
    """
    told = {"set": set_id, "after": view.newest_edit, "limit": FEW_CHANGES + 1}
    (changed,) = columns(db, CHANGED_SQL, told, np.int64)
    if len(changed) > FEW_CHANGES:
        return _all_decisions(db, set_id, view.columns)
    statuses, finals = view.statuses.copy(), view.finals.copy()
    for place in view.columns.places_of(changed).tolist():
        row = db.execute(PAIR_SQL, [int(view.columns.ids[place]), set_id]).fetchone()
        if row is not None:
            statuses[place], finals[place] = STATUSES.index(row[0]), row[1]
    if not _is_as_counted(db, set_id, statuses, finals):
        return _all_decisions(db, set_id, view.columns)
    return statuses, finals


def _is_as_counted(db: Database, set_id: int, statuses: np.ndarray, finals: np.ndarray) -> bool:
    """Whether so many pairs have each status and bin of the score as `silver_bin` says."""
    stored = np.zeros((len(STATUSES), SCORE_BINS), dtype=np.int64)
    for status, place, count in db.execute(
        "SELECT status, bin, sum(n_pairs) FROM silver_bin WHERE silver_set_id = ? GROUP BY 1, 2",
        [set_id],
    ):
        stored[STATUSES.index(status), place] = count
    bins = np.minimum((finals * SCORE_BINS).astype(np.int64), SCORE_BINS - 1)
    counted = np.bincount(statuses * np.int64(SCORE_BINS) + bins, minlength=stored.size)
    return bool((counted == stored.ravel()).all())


def _students(
    db: Database, set_id: int, known: SilverColumns, student: Student | None
) -> np.ndarray | None:
    """Scores of the first n pairs by id; those that the set got later have none."""
    if student is None:
        return None
    scores = np.full(len(known), np.nan, dtype=np.float32)
    n_pairs = min(student.n_pairs, len(known))
    scores[known.by_id[:n_pairs]] = read_scores(db, set_id, student.model)[:n_pairs]
    return scores


EDITED_SQL = """
SELECT pair_id FROM edit JOIN edit_change ON edit_id = edit.id
WHERE silver_set_id = ? AND subject = 'silver_pair' AND actor = ? AND state = 'applied'
"""


def edited_by(db: Database, set_id: int, actor: str) -> np.ndarray:
    """The ids of the pairs of a set that a person has decided on; what was taken back does not count."""
    (found,) = columns(db, EDITED_SQL, [set_id, actor], np.int64)
    return found
