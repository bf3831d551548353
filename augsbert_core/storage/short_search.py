"""Find the sentences that hold one or two letters: for so little an index does not pay, so texts are kept at hand.

The texts of one project, in lower case, stay in memory after the first search. They take about 100 bytes a sentence
and its letters.
"""

import json
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sqlite_utils import Database

from augsbert_core.storage.database import Workspace

MOST_SENTENCES = 1_000_000
"""Of a larger project all texts are read at each search."""

PROBES = 64
"""So many sentences are compared with the database before what is at hand is believed."""


@dataclass(frozen=True)
class _Texts:
    """Sentences of a project: their ids, ascending, and their texts in lower case."""

    ids: np.ndarray
    lowered: list[str]

    @property
    def last(self) -> int:
        return int(self.ids[-1]) if len(self.ids) else 0

    def holding(self, needle: str) -> np.ndarray:
        holds = np.fromiter((needle in text for text in self.lowered), bool, len(self.lowered))
        found: np.ndarray = self.ids[holds]
        return found


_lock = threading.Lock()
_at_hand: dict[tuple[Path, int], _Texts] = {}
"""The project that was searched last in this process."""


def sentences_with(workspace: Workspace, db: Database, project_id: int, needle: str) -> np.ndarray:
    """The ids of the sentences of a project whose text in lower case holds a text: int64, ascending.

    Sentences that have been deleted since the last search may be among them.
    """
    key = (workspace.home, project_id)
    known = _at_hand.get(key)
    if known is None or not _are_the_same(db, project_id, known):
        known = _Texts(np.zeros(0, dtype=np.int64), [])
    new = _read(db, project_id, known.last)
    if len(new.ids):
        known = _Texts(np.concatenate([known.ids, new.ids]), known.lowered + new.lowered)
    with _lock:
        _at_hand.clear()
        if len(known.ids) <= MOST_SENTENCES:
            _at_hand[key] = known
    return known.holding(needle)


def _read(db: Database, project_id: int, after: int) -> _Texts:
    """The sentences with higher ids; those of a project have neighbouring ids."""
    rows = db.conn.cursor()
    rows.row_factory = None
    rows.execute(
        "SELECT id, text FROM sentence WHERE id > ? AND +project_id = ? ORDER BY id",
        [after, project_id],
    )
    found = rows.fetchall()
    ids = np.fromiter((row_id for row_id, _ in found), np.int64, len(found))
    return _Texts(ids, [text.lower() for _, text in found])


PROBES_SQL = """
SELECT sentence.id, text FROM json_each(?) AS wanted CROSS JOIN sentence ON sentence.id = wanted.value
WHERE project_id = ?
"""


def _are_the_same(db: Database, project_id: int, known: _Texts) -> bool:
    """Whether some sentences, evenly spread from the first to the last, are in the database as they are at hand.

    New ones always have higher ids; but a backup may have been put in the place of the database.
    """
    if not len(known.ids):
        return True
    places = np.unique(np.linspace(0, len(known.ids) - 1, PROBES).astype(np.int64)).tolist()
    told = [json.dumps([int(known.ids[place]) for place in places]), project_id]
    stored = {row_id: text.lower() for row_id, text in db.execute(PROBES_SQL, told)}
    return stored == {int(known.ids[place]): known.lowered[place] for place in places}
