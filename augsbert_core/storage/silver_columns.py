"""What never changes about the pairs of a silver set, in a file of its own: filters and orders of a million pairs.

The database answers quickly by score, status, rank and sentence, for which it has indexes. Words, overlap and doubts
are computed here, once per set, and kept in `cache/silver-SET-PAIRS.npy` of the workspace, a column behind the
other. The file can be deleted at any time. One that is broken, or of another workspace, is found out and made anew.
"""

import contextlib
import json
import os
import re
import threading
import zlib
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from sqlite_utils import Database

from augsbert_core.pairs import pair_codes
from augsbert_core.progress import Report, silent
from augsbert_core.storage import sentence_search
from augsbert_core.storage.database import Workspace, columns, reading
from augsbert_core.storage.silver_student import Student, newest_student
from augsbert_core.storage.silver_words import WordSets, longer_lengths, overlaps

FORMAT = 1
"""Another number whenever the columns, or what a word is, change."""

HEAD = {"format": "<i8", "set_id": "<i8", "n_pairs": "<i8", "checksum": "<i8"}

COLUMNS = {
    "ids": "<i8",
    "codes": "<i8",
    "ranks": "<i4",
    "words": "<i4",
    "scores": "<f8",
    "overlaps": "<f8",
    "order_gaps": "<f8",
    "label_spreads": "<f8",
}

SENTENCE_BITS = 2**31 - 1
"""What a code holds of the second sentence."""

PROBES = 32
"""So many pairs of a file are compared with the database before the file is believed."""

MOST_SETS = 4
"""The columns of so many sets stay at hand in a process."""


@dataclass(frozen=True)
class SilverColumns:
    """The pairs of a silver set as parallel arrays, in the order of their sentences.

    ids: int64. codes: `pairs.pair_codes` of the sentence ids, ascending. ranks: int32, 0 where the sampler gave none.
    words: int32, of the longer sentence. scores: the labeler's, in [0, 1]. overlaps: shared words over all words.
    order_gaps, label_spreads: NaN where they are not known.
    """

    ids: np.ndarray
    codes: np.ndarray
    ranks: np.ndarray
    words: np.ndarray
    scores: np.ndarray
    overlaps: np.ndarray
    order_gaps: np.ndarray
    label_spreads: np.ndarray

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def first(self) -> np.ndarray:
        """The ids of the first sentences, ascending."""
        return self.codes >> 31

    @property
    def second(self) -> np.ndarray:
        """The ids of the second sentences."""
        return self.codes & SENTENCE_BITS

    @cached_property
    def by_id(self) -> np.ndarray:
        """The places of the pairs in the order of their ids: int64."""
        return np.argsort(self.ids, kind="stable")

    def places_of(self, pair_ids: np.ndarray) -> np.ndarray:
        """Where the pairs with these ids are; ids of other sets are left out."""
        return _places_of(self.ids[self.by_id], self.by_id, pair_ids)

    def places_of_codes(self, codes: np.ndarray) -> np.ndarray:
        """Where the pairs of these sentences are; pairs that the set does not have are left out."""
        return _places_of(self.codes, np.arange(len(self)), codes)


def _places_of(ascending: np.ndarray, places: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    at = np.searchsorted(ascending, wanted)
    known = at < len(ascending)
    known[known] = ascending[at[known]] == wanted[known]
    found: np.ndarray = places[at[known]]
    return found


def prepare(workspace: Workspace, set_id: int, report: Report = silent) -> None:
    """Make the columns of a silver set and index its sentences now, so that nobody waits for them later."""
    report(0.0, "Counting words for the silver table")
    with reading(workspace) as db:
        columns_of(workspace, db, set_id)
    sentence_search.bring_up_to_date(workspace, report=report)
    report(1.0, "The silver table is ready")


def student_of(workspace: Workspace, set_id: int) -> Student | None:
    """Which model's scores there are besides the labeler's: the newest, None when there are none."""
    with reading(workspace) as db:
        return newest_student(db, set_id)


def columns_of(workspace: Workspace, db: Database, set_id: int) -> SilverColumns:
    """The columns of a silver set as it is in this transaction; empty when there is no such set.

    From memory, from the file, or computed: about 6 s for a million pairs, and for a set that has grown, as long as
    its new pairs take.
    """
    row = db.execute("SELECT n_pairs FROM silver_set WHERE id = ?", [set_id]).fetchone()
    n_pairs = int(row[0]) if row else 0
    key = (workspace.home, set_id)
    with _lock:
        known = _at_hand.get(key)
        if known is None or len(known) != n_pairs:
            known = _read(workspace, db, set_id, n_pairs) or _compute(db, set_id, n_pairs, known)
            if _file(workspace, set_id, n_pairs).name not in _names(workspace):
                _write(workspace, db, set_id, known)
        _at_hand[key] = known
        _at_hand.move_to_end(key)
        while len(_at_hand) > MOST_SETS:
            _at_hand.popitem(last=False)
        return known


_lock = threading.Lock()
_at_hand: OrderedDict[tuple[Path, int], SilverColumns] = OrderedDict()


def forget(workspace: Workspace, set_id: int) -> None:
    """Remove what is kept of a silver set."""
    with _lock:
        _at_hand.pop((workspace.home, set_id), None)
        for name in _names(workspace):
            if _set_in(name) == set_id:
                _remove(_folder(workspace) / name)


# --- the file --------------------------------------------------------------------------------------


def _folder(workspace: Workspace) -> Path:
    return workspace.home / "cache"


def _file(workspace: Workspace, set_id: int, n_pairs: int) -> Path:
    return _folder(workspace) / f"silver-{set_id}-{n_pairs}.npy"


def _names(workspace: Workspace) -> list[str]:
    folder = _folder(workspace)
    return [path.name for path in folder.glob("silver-*.npy")] if folder.is_dir() else []


def _set_in(name: str) -> int | None:
    found = re.fullmatch(r"silver-(\d+)-\d+\.npy", name)
    return int(found.group(1)) if found else None


def _remove(path: Path) -> None:
    """Windows keeps a file that a process has open; it is tried again when another one is written."""
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


def _layout(n_pairs: int) -> np.dtype:
    rows = [(name, kind, (n_pairs,)) for name, kind in COLUMNS.items()]
    return np.dtype([*HEAD.items(), *rows])


def _checksum(table: np.ndarray) -> int:
    """Of the bytes behind the head."""
    start = sum(np.dtype(kind).itemsize for kind in HEAD.values())
    return zlib.crc32(table.view(np.uint8)[start:].data)


def _write(workspace: Workspace, db: Database, set_id: int, made: SilverColumns) -> None:
    """Keep columns in a file, whole or not at all; without room for it, they are computed again another time."""
    table = np.zeros(1, dtype=_layout(len(made)))
    for name in COLUMNS:
        table[name][0] = getattr(made, name)
    table["format"], table["set_id"], table["n_pairs"] = FORMAT, set_id, len(made)
    table["checksum"] = _checksum(table)
    folder = _folder(workspace)
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        half_done = folder / f"silver-{set_id}-{os.getpid()}.new"
        try:
            with half_done.open("wb") as file:
                np.lib.format.write_array(file, table, allow_pickle=False)
            os.replace(half_done, _file(workspace, set_id, len(made)))
        finally:
            _remove(half_done)
        _tidy(workspace, db, set_id, len(made))


def _tidy(workspace: Workspace, db: Database, set_id: int, n_pairs: int) -> None:
    """Remove the files of sets that are gone, and of this one when it was smaller."""
    present = {row[0] for row in db.execute("SELECT id FROM silver_set WHERE NOT deleting")}
    for name in _names(workspace):
        number = _set_in(name)
        is_old = number == set_id and name != _file(workspace, set_id, n_pairs).name
        if number is not None and (number not in present or is_old):
            _remove(_folder(workspace) / name)


def _read(workspace: Workspace, db: Database, set_id: int, n_pairs: int) -> SilverColumns | None:
    """The columns in the file of a set; None where there is none, or one that cannot be believed."""
    path = _file(workspace, set_id, n_pairs)
    if not n_pairs or not path.is_file():
        return None
    table = _table_in(path, _layout(n_pairs))
    if table is not None:
        head = [int(table[name][0]) for name in HEAD]
        if head == [FORMAT, set_id, n_pairs, _checksum(table)]:
            found = SilverColumns(**{name: table[name][0] for name in COLUMNS})
            if _is_of_this_set(db, set_id, found):
                return found
    _remove(path)
    return None


def _table_in(path: Path, layout: np.dtype) -> np.ndarray | None:
    """The one row of a file, in memory: a mapped file that somebody cuts short would take the process with it."""
    with contextlib.suppress(OSError, ValueError, EOFError), path.open("rb") as file:
        if np.lib.format.read_magic(file) == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
            table = np.fromfile(file, dtype=layout, count=1)
            if dtype == layout and shape == (1,) and len(table) == 1:
                return table
    return None


def _is_of_this_set(db: Database, set_id: int, found: SilverColumns) -> bool:
    """Whether some of its pairs, from the first to the last, are in the database exactly so."""
    places = np.unique(np.linspace(0, len(found) - 1, PROBES).astype(np.int64))
    by_pair = f"{STATIC_SQL} AND sentence1_id = ? AND sentence2_id = ?"
    rows = []
    for code in found.codes[places].tolist():
        rows += db.execute(by_pair, [set_id, code >> 31, code & SENTENCE_BITS]).fetchall()
    if len(rows) < len(places):
        return False
    again = _of_rows(db, np.array([tuple(row) for row in rows], dtype=np.float64).T)
    return all(
        np.array_equal(
            getattr(again, name),
            getattr(found, name)[places],
            equal_nan=name in ("order_gaps", "label_spreads"),
        )
        for name in COLUMNS
    )


# --- the columns -----------------------------------------------------------------------------------

STATIC_SQL = """
SELECT id, sentence1_id, sentence2_id, coalesce(rank, 0), score, coalesce(order_gap, -1), coalesce(label_spread, -1)
FROM silver_pair WHERE silver_set_id = ?
"""


def _compute(db: Database, set_id: int, n_pairs: int, known: SilverColumns | None) -> SilverColumns:
    """The columns of a set; those of pairs that are known already are taken over.

    New pairs always have higher ids than those that were there before.
    """
    if known is not None and 0 < len(known) < n_pairs:
        newest = int(known.ids.max())
        rows = columns(db, f"{STATIC_SQL} AND id > ?", [set_id, newest], np.float64)
        if rows.shape[1] == n_pairs - len(known):
            return _joined(known, _of_rows(db, rows))
    return _of_rows(db, columns(db, STATIC_SQL, [set_id], np.float64))


def _of_rows(db: Database, rows: np.ndarray) -> SilverColumns:
    """The columns of rows of `STATIC_SQL`, float64, which holds ids exactly."""
    ids, first, second, ranks, scores, gaps, spreads = rows
    firsts, seconds = first.astype(np.int64), second.astype(np.int64)
    sentence_ids, places = np.unique(np.concatenate([firsts, seconds]), return_inverse=True)
    sets = WordSets.of(_texts(db, sentence_ids))
    one, other = places.reshape(2, -1)
    made = SilverColumns(
        ids=ids.astype(np.int64),
        codes=pair_codes(firsts, seconds),
        ranks=ranks.astype(np.int32),
        words=longer_lengths(sets, one, other),
        scores=scores,
        overlaps=overlaps(sets, one, other),
        order_gaps=np.where(gaps < 0, np.nan, gaps),
        label_spreads=np.where(spreads < 0, np.nan, spreads),
    )
    return _sorted(made)


def _sorted(made: SilverColumns) -> SilverColumns:
    if np.all(np.diff(made.codes) > 0):
        return made
    order = np.argsort(made.codes, kind="stable")
    return SilverColumns(**{name: getattr(made, name)[order] for name in COLUMNS})


def _joined(one: SilverColumns, other: SilverColumns) -> SilverColumns:
    both = {name: np.concatenate([getattr(one, name), getattr(other, name)]) for name in COLUMNS}
    return _sorted(SilverColumns(**both))


TEXTS_SQL = """
SELECT sentence.text FROM json_each(?) AS wanted CROSS JOIN sentence ON sentence.id = wanted.value
ORDER BY wanted.key
"""


def _texts(db: Database, ids: np.ndarray) -> list[str]:
    """The texts of sentences. ids: distinct and ascending. ValueError: one is not in the store."""
    texts = [text for (text,) in db.execute(TEXTS_SQL, [json.dumps(ids.tolist())])]
    if len(texts) != len(ids):
        raise ValueError(f"{len(ids) - len(texts)} sentences of silver pairs are not in the store")
    return texts
