"""What the scores of a task amount to, kept in memory: who has decided on which pair, for how far one is and what is next.

Counting anew at every key would take seconds' parts that people feel in tasks of 100,000 pairs. Decisions come with an
event each, in the same transaction, so that only the pairs of new events need to be read again. Claims come without one,
and are read each time: a person has one at most.
"""

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock

import numpy as np
from sqlite_utils import Database

from augsbert_core.storage.annotation_turns import STANDING_EVENT, Turn
from augsbert_core.storage.database import columns

NOTHING, SCORED, SKIPPED = 0, 1, 2

MOST_TASKS = 8
"""So many tasks are kept."""

MOST_CHANGES = 2_000
"""After more new decisions than this, reading all is quicker than reading pair by pair."""


class Own:
    """What one annotator has decided, an entry per pair of the task. state: `NOTHING`, `SCORED` or `SKIPPED`.

    seconds: NaN where it was not timed. skips: how often they have skipped a pair that they skipped last.
    """

    def __init__(self, n_items: int) -> None:
        self.state = np.zeros(n_items, dtype=np.int8)
        self.seconds = np.full(n_items, np.nan)
        self.flagged = np.zeros(n_items, dtype=bool)
        self.skips = np.zeros(n_items, dtype=np.int32)

    def put(self, place: int, state: int, seconds: float | None, flagged: int, skips: int) -> None:
        """What is decided on one pair."""
        self.state[place], self.flagged[place], self.skips[place] = state, bool(flagged), skips
        self.seconds[place] = np.nan if seconds is None else seconds


@dataclass
class Standing:
    """One task. ids, positions: of its pairs, by position. n_scored: scores of everyone. last_event: the last one read."""

    ids: np.ndarray
    positions: np.ndarray
    n_scored: np.ndarray
    last_event: int
    people: dict[str, Own] = field(default_factory=dict)
    places: dict[int, int] = field(default_factory=dict)

    def own(self, annotator: str) -> Own:
        """Of someone who has decided nothing yet, too."""
        return self.people.get(annotator) or Own(len(self.ids))


@dataclass(frozen=True)
class Outlook:
    """What is before an annotator now, an entry per pair. is_open: it may come to them; is_back: it was skipped, and comes
    back after all others."""

    ids: np.ndarray
    positions: np.ndarray
    is_open: np.ndarray
    is_back: np.ndarray
    own: Own
    n_scored: np.ndarray

    @property
    def n_left(self) -> int:
        """So many pairs would still come."""
        return int(self.is_open.sum() + self.is_back.sum())

    def first(self, start: int) -> int | None:
        """The first open pair from a position on, then the first before it, then a skipped one."""
        after = self.positions >= start
        for part in (self.is_open & after, self.is_open, self.is_back):
            place = int(part.argmax()) if len(part) else 0
            if len(part) and part[place]:
                return int(self.ids[place])
        return None


_known: "OrderedDict[tuple[str, int], Standing]" = OrderedDict()
_lock = Lock()


def outlook(mine: Turn, changed: int | None = None, standing: Standing | None = None) -> Outlook:
    """What is before an annotator at this moment.

    In a transaction that has written: standing as it was before, and the pair that the annotator has changed in it.
    """
    with _lock:
        if standing is None:
            standing = _current(mine)
        own, n_scored = _copy(standing.own(mine.annotator)), standing.n_scored.copy()
    places = standing.places
    if changed is not None:
        n_scored[places[changed]] -= own.state[places[changed]] == SCORED
        own.put(places[changed], *_decided(mine.db, changed, mine.annotator))
        n_scored[places[changed]] += own.state[places[changed]] == SCORED
    others = n_scored - (own.state == SCORED)
    decided = own.state.copy()
    for item_id, annotator, at in mine.db.execute(CLAIMS_SQL, mine.values):
        if annotator != mine.annotator:
            others[places[item_id]] += at > mine.fresh_since
        elif at:
            decided[places[item_id]] = NOTHING
    wanted = others < mine.task["n_scores"]
    return Outlook(
        ids=standing.ids,
        positions=standing.positions,
        is_open=(decided == NOTHING) & wanted,
        is_back=(decided == SKIPPED) & (own.skips == 1) & wanted,
        own=_with_state(own, decided),
        n_scored=n_scored,
    )


def current(mine: Turn) -> Standing:
    """The standing of a task as the transaction of this turn sees it; to be asked before it writes."""
    with _lock:
        return _current(mine)


# Each annotator's claims, found by the index without going through their scores.
CLAIMS_SQL = """
WITH RECURSIVE who(name) AS (
  SELECT min(annotator) FROM annotation WHERE task_id = :task
  UNION ALL
  SELECT (SELECT min(annotator) FROM annotation WHERE task_id = :task AND annotator > name) FROM who
  WHERE name IS NOT NULL)
SELECT item_id, annotator, at FROM who CROSS JOIN annotation
ON task_id = :task AND annotator = name AND state = 'claimed'
"""


def _copy(own: Own) -> Own:
    made = Own(0)
    made.state, made.seconds = own.state.copy(), own.seconds.copy()
    made.flagged, made.skips = own.flagged.copy(), own.skips.copy()
    return made


def _with_state(own: Own, state: np.ndarray) -> Own:
    own.state = state
    return own


def _current(mine: Turn) -> Standing:
    path = mine.db.execute("PRAGMA database_list").fetchone()[2]
    key = (path, int(mine.task["id"]))
    last = mine.db.execute("SELECT coalesce(max(id), 0) FROM annotation_event").fetchone()[0]
    standing = _known.get(key)
    if standing is None or not _caught_up(mine.db, key[1], standing, last):
        standing = _known[key] = _read(mine.db, key[1], last)
    _known.move_to_end(key)
    while len(_known) > MOST_TASKS:
        _known.popitem(last=False)
    return standing


def _caught_up(db: Database, task_id: int, standing: Standing, last: int) -> bool:
    """Take in the events since; False: it has to be read anew."""
    if last == standing.last_event:
        return True
    if last < standing.last_event:  # another database by now, or this transaction began before
        return False
    rows = db.execute(CHANGED_SQL, [standing.last_event, task_id, MOST_CHANGES + 1]).fetchall()
    if len(rows) > MOST_CHANGES:
        return False
    for item_id, annotator in rows:
        place = standing.places[item_id]
        own = standing.people.setdefault(annotator, Own(len(standing.ids)))
        standing.n_scored[place] -= own.state[place] == SCORED
        own.put(place, *_decided(db, item_id, annotator))
        standing.n_scored[place] += own.state[place] == SCORED
    standing.last_event = last
    return True


CHANGED_SQL = """
SELECT DISTINCT item_id, annotator FROM annotation_event
WHERE id > ? AND +task_id = ? AND action <> 'adjudicate' LIMIT ?
"""


def _decided(db: Database, item_id: int, annotator: str) -> tuple[int, float | None, int, int]:
    """State, seconds, mark and skips of one pair; a claim on it counts for nothing."""
    row = db.execute(
        "SELECT state, seconds, flagged FROM annotation WHERE item_id = ? AND annotator = ?",
        [item_id, annotator],
    ).fetchone()
    skips = db.execute(SKIPS_SQL, [item_id, annotator]).fetchone()[0]
    if row is None:
        return NOTHING, None, 0, 0
    if row["state"] == "scored":
        return SCORED, row["seconds"], row["flagged"], 0
    # Whoever has a skipped pair before them again has skipped it all the same, until they decide.
    return (SKIPPED if skips else NOTHING), row["seconds"], row["flagged"], skips


SKIPS_SQL = f"""
SELECT count(*) FROM annotation_event AS event
WHERE item_id = ? AND annotator = ? AND action = 'skip' AND {STANDING_EVENT}
"""


def _read(db: Database, task_id: int, last: int) -> Standing:
    found = columns(
        db,
        "SELECT id, position FROM annotation_item WHERE task_id = ? ORDER BY position",
        [task_id],
        np.int64,
    )
    n_items = found.shape[1]
    standing = Standing(found[0], found[1], np.zeros(n_items, dtype=np.int32), last)
    standing.places = {item_id: place for place, item_id in enumerate(found[0].tolist())}
    order = np.argsort(found[0])
    names = [row[0] for row in db.execute(NAMES_SQL, [task_id])]
    for name in names:
        own = standing.people[name] = Own(n_items)
        for state, code in (("scored", SCORED), ("skipped", SKIPPED), ("claimed", NOTHING)):
            ids, flagged, seconds = columns(db, OWN_SQL, [task_id, name, state], np.float64)
            places = order[np.searchsorted(found[0], ids.astype(np.int64), sorter=order)]
            own.state[places], own.flagged[places] = code, flagged > 0
            own.seconds[places] = np.where(seconds < 0, np.nan, seconds)
            if code == SCORED:
                standing.n_scored[places] += 1
            else:
                for item_id in ids.astype(np.int64).tolist():
                    own.put(standing.places[item_id], *_decided(db, item_id, name))
    return standing


NAMES_SQL = "SELECT DISTINCT annotator FROM annotation WHERE task_id = ?"

OWN_SQL = """
SELECT item_id, flagged, coalesce(seconds, -1) FROM annotation
WHERE task_id = ? AND annotator = ? AND state = ?
"""
