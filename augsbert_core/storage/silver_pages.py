"""The silver table: counts and pages of filtered pairs, quick with a million of them.

There are two ways to a page. Filters by score, status and rank alone, in one of the first four orders, are answered by
the indexes of the database (silver_cells): the first look at a large set takes 0.3 s. Everything else goes by the
columns of the set (silver_columns), which take seconds to compute when nobody has asked for them before. Either way
texts are read for the pairs of the page alone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sqlite_utils import Database

from augsbert_core.errors import WorkbenchError
from augsbert_core.storage import sentence_search
from augsbert_core.storage.database import Workspace, columns, reading
from augsbert_core.storage.silver_bins import STATUSES, silver_status_counts
from augsbert_core.storage.silver_cells import Pair, filter_cells, walk
from augsbert_core.storage.silver_columns import SENTENCE_BITS
from augsbert_core.storage.silver_filters import SilverFilter, conditions, off_score_index
from augsbert_core.storage.silver_orders import in_order, passing
from augsbert_core.storage.silver_student import newest_student
from augsbert_core.storage.silver_view import SilverView, edited_by, view_of
from augsbert_core.storage.silver_words import WordSets, longer_lengths, overlaps

PLAIN_SORTS = {
    "Score, high to low": "final_score DESC, sentence1_id DESC, sentence2_id DESC",
    "Score, low to high": "final_score, sentence1_id, sentence2_id",
    "Sampler rank": "rank IS NULL, rank, final_score DESC, sentence1_id DESC, sentence2_id DESC",
    "Order of sampling": "sentence1_id, sentence2_id",
}
HIGH_FIRST, LOW_FIRST, BY_RANK, AS_SAMPLED = PLAIN_SORTS

SORTS: dict[str, str] = {
    HIGH_FIRST: "score",
    LOW_FIRST: "score",
    BY_RANK: "rank",
    AS_SAMPLED: "",
    "Longest first": "words",
    "Shortest first": "words",
    "Least word overlap": "overlap",
    "Most word overlap": "overlap",
    "Largest order gap": "order_gap",
    "Largest spread": "label_spread",
    "Largest disagreement": "student",
}
"""Order → the column that it sorts by. Pairs for which there is no such number come last."""

SORTED_PAIRS = 100_000
"""Up to this many pairs are put in order by sentence; of more, the set is read as it lies, in that order."""


def count_silver(workspace: Workspace, set_id: int, chosen: SilverFilter) -> int:
    """How many silver pairs pass the filter."""
    if not chosen.is_plain:
        return len(_found(workspace, set_id, chosen)[1])
    with reading(workspace) as db:
        return int(filter_cells(db, set_id, chosen).counts.sum())


def count_statuses(workspace: Workspace, set_id: int, chosen: SilverFilter) -> dict[str, int]:
    """How many pairs of each status pass the rest of a filter: its own statuses are not looked at."""
    rest = replace(chosen, statuses=())
    if not rest.is_plain:
        view, places = _found(workspace, set_id, rest)
        counts = np.bincount(view.statuses[places], minlength=len(STATUSES))
        return dict(zip(STATUSES, counts.tolist(), strict=True))
    if rest == SilverFilter():
        return silver_status_counts(workspace, set_id)
    with reading(workspace) as db:
        return {
            status: int(filter_cells(db, set_id, replace(rest, statuses=(status,))).counts.sum())
            for status in STATUSES
        }


def silver_page(
    workspace: Workspace,
    set_id: int,
    chosen: SilverFilter,
    *,
    sort: str = HIGH_FIRST,
    offset: int = 0,
    limit: int = 100,
) -> pd.DataFrame:
    """One page of silver pairs with their texts; sort: a key of SORTS.

    Columns: id, sentence1, sentence2, score, correction, final_score, raw_score, status, rank,
    sampler_score, order_gap, label_spread, bm25_rank, semantic_rank, words (of the longer sentence), overlap (shared
    words over all words), student (see `silver_columns.student_of`; None where there is no such score); none at all
    when there is no pair on the page.
    """
    if chosen.is_plain and sort in PLAIN_SORTS:
        with reading(workspace) as db:
            pairs = _pairs_of_page(db, set_id, chosen, sort, offset, limit)
    else:
        view, places = _found(workspace, set_id, chosen)
        codes = view.columns.codes[in_order(view, places, sort, offset, limit)]
        pairs = [(code >> 31, code & SENTENCE_BITS) for code in codes.tolist()]
    with reading(workspace) as db:
        found = (db.execute(PAGE_SQL, [set_id, *pair]).fetchone() for pair in pairs)
        rows = [dict(row) for row in found if row is not None]
        _add_derived(workspace, db, set_id, rows)
    return pd.DataFrame(rows)


def filtered_ids(workspace: Workspace, set_id: int, chosen: SilverFilter) -> np.ndarray:
    """The ids of all silver pairs that pass a filter: int64, ascending."""
    if not chosen.is_plain:
        view, places = _found(workspace, set_id, chosen)
        return np.sort(view.columns.ids[places])
    where, values = conditions(set_id, chosen)
    with reading(workspace) as db:
        (ids,) = columns(db, f"SELECT id FROM silver_pair WHERE {where}", values, np.int64)
    return np.sort(ids)


def filtered_pairs(workspace: Workspace, set_id: int, chosen: SilverFilter) -> np.ndarray:
    """The `pairs.pair_codes` of all pairs of a set that pass a filter, ascending: int64."""
    view, places = _found(workspace, set_id, chosen)
    return view.columns.codes[places]


@dataclass(frozen=True)
class SilverDetail:
    """Everything that is known about one silver pair.

    sentence1, sentence2: as they are stored. score: the labeler's, in [0, 1]; raw_score: its own number, a
    cross-encoder's logit or a bi-encoder's cosine. correction: a person's score, final_score: what counts. order_gap,
    label_spread, rank, sampler_score, bm25_rank, semantic_rank: None where they are not known. words: of the longer
    sentence. overlap: shared words over all words. student: the score of the model `student_model`.
    """

    id: int
    set_id: int
    project_id: int
    sentence1: str
    sentence2: str
    score: float
    raw_score: float
    correction: float | None
    final_score: float
    status: str
    rank: int | None
    sampler_score: float | None
    bm25_rank: int | None
    semantic_rank: int | None
    order_gap: float | None
    label_spread: float | None
    words: int
    overlap: float
    student: float | None
    student_model: str | None
    labeler: str
    strategy: str


def silver_detail(workspace: Workspace, pair_id: int) -> SilverDetail:
    """Everything about one silver pair. WorkbenchError: there is none with this id (any more)."""
    with reading(workspace) as db:
        row = db.execute(DETAIL_SQL, [pair_id]).fetchone()
        if row is None:
            raise WorkbenchError(
                f"There is no silver pair {pair_id} (any more). Choose another one."
            )
        known = dict(row)
        _add_derived(workspace, db, known["set_id"], [known])
        student = newest_student(db, known["set_id"])
    return SilverDetail(student_model=student.model if student else None, **known)


ROW_COLUMNS = """
silver_pair.id, first.text AS sentence1, second.text AS sentence2, score, correction,
  final_score, raw_score, status, silver_pair.rank, silver_pair.sampler_score, order_gap, label_spread,
  bm25_rank, semantic_rank
"""

JOINS = """
FROM silver_pair
JOIN silver_set ON silver_set.id = silver_set_id
JOIN sentence AS first ON first.id = silver_pair.sentence1_id
JOIN sentence AS second ON second.id = silver_pair.sentence2_id
LEFT JOIN candidate_pair ON candidate_pair.candidate_set_id = silver_set.candidate_set_id
  AND candidate_pair.sentence1_id = silver_pair.sentence1_id
  AND candidate_pair.sentence2_id = silver_pair.sentence2_id
"""

PAGE_SQL = f"""
SELECT {ROW_COLUMNS} {JOINS}
WHERE silver_set_id = ? AND silver_pair.sentence1_id = ? AND silver_pair.sentence2_id = ?
"""

DETAIL_SQL = f"""
SELECT {ROW_COLUMNS}, silver_set_id AS set_id, silver_set.project_id, labeler, strategy {JOINS}
JOIN candidate_set ON candidate_set.id = silver_set.candidate_set_id
WHERE silver_pair.id = ? AND NOT silver_set.deleting
"""


def _add_derived(
    workspace: Workspace, db: Database, set_id: int, rows: list[dict[str, Any]]
) -> None:
    """What no table holds: words, overlap and the student's score of each row."""
    first, second = np.arange(2 * len(rows)).reshape(2, -1)
    sets = WordSets.of([row[side] for side in ("sentence1", "sentence2") for row in rows])
    students: list[float | None] = [None] * len(rows)
    if newest_student(db, set_id) is not None:
        students = _student_scores(view_of(workspace, db, set_id), [row["id"] for row in rows])
    for row, words, overlap, student in zip(
        rows,
        longer_lengths(sets, first, second).tolist(),
        overlaps(sets, first, second).tolist(),
        students,
        strict=True,
    ):
        row.update(words=words, overlap=overlap, student=student)


def _student_scores(view: SilverView, ids: Sequence[int]) -> list[float | None]:
    if view.students is None:
        return [None] * len(ids)
    places = view.columns.places_of(np.array(ids, dtype=np.int64))
    scores = dict(
        zip(view.columns.ids[places].tolist(), view.students[places].tolist(), strict=True)
    )
    known = [scores.get(number, math.nan) for number in ids]
    return [None if math.isnan(score) else score for score in known]


def _found(
    workspace: Workspace, set_id: int, chosen: SilverFilter
) -> tuple[SilverView, np.ndarray]:
    """A set as it is now, and the places of the pairs that pass a filter; counted and shown, it is asked for twice."""
    with reading(workspace) as db:
        view = view_of(workspace, db, set_id)
        last = _last_found.get((workspace.home, set_id))
        if last is not None and last[0] is view and last[1] == chosen:
            return view, last[2]
        edited = edited_by(db, set_id, chosen.edited_by) if chosen.edited_by else None
        row = db.execute("SELECT project_id FROM silver_set WHERE id = ?", [set_id]).fetchone()
    sentences = None
    if text := chosen.text.strip():
        project_id = int(row[0]) if row else 0
        sentences = sentence_search.matching_sentences(workspace, project_id, text, strict=False)
    places = passing(view, chosen, sentences=sentences, edited=edited)
    _last_found.clear()
    _last_found[workspace.home, set_id] = view, chosen, places
    return view, places


_last_found: dict[tuple[Path, int], tuple[SilverView, SilverFilter, np.ndarray]] = {}
"""The last filter that was asked for in this process; one for all sets."""


def _pairs_of_page(
    db: Database, set_id: int, chosen: SilverFilter, sort: str, offset: int, limit: int
) -> list[Pair]:
    """The pairs of a page of a plain filter, in a plain order."""
    if chosen.only_reviewed:
        table = "silver_pair INDEXED BY silver_pair_reviewed"
        return _sorted_pairs(db, set_id, chosen, table, PLAIN_SORTS[sort], offset, limit)
    if sort == AS_SAMPLED:
        return _pairs_as_sampled(db, set_id, chosen, offset, limit)
    order = {HIGH_FIRST: "high", LOW_FIRST: "low", BY_RANK: "rank"}[sort]
    return walk(db, set_id, chosen, order, offset, limit)


def _sorted_pairs(
    db: Database,
    set_id: int,
    chosen: SilverFilter,
    table: str,
    order: str,
    offset: int,
    limit: int,
) -> list[Pair]:
    where, values = conditions(set_id, chosen)
    if "INDEXED" not in table:
        where = off_score_index(where)
    rows = db.execute(
        f"SELECT sentence1_id, sentence2_id FROM {table} WHERE {where} ORDER BY {order}"
        " LIMIT :limit OFFSET :offset",
        {**values, "limit": limit, "offset": offset},
    )
    return [tuple(row) for row in rows]


def _pairs_as_sampled(
    db: Database, set_id: int, chosen: SilverFilter, offset: int, limit: int
) -> list[Pair]:
    """Pairs in the order of their sentences; a page behind the middle is found from the end."""
    total = int(filter_cells(db, set_id, chosen).counts.sum())
    few = total <= SORTED_PAIRS
    table = "silver_pair INDEXED BY silver_pair_by_score" if few else "silver_pair"
    order = PLAIN_SORTS[AS_SAMPLED]
    if offset < total // 2:
        return _sorted_pairs(db, set_id, chosen, table, order, offset, limit)
    limit = max(min(limit, total - offset), 0)
    from_end = "sentence1_id DESC, sentence2_id DESC"
    return _sorted_pairs(db, set_id, chosen, table, from_end, total - offset - limit, limit)[::-1]
