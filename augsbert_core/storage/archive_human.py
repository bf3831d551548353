"""What people did in a project that moves: edits, annotation tasks with their scores, best-worst answers.

Left behind: who has a pair on the screen at this moment, and scores that a model can give again (`silver_student`).
The numbers of these rows stand in other rows of theirs alone, in columns of `REFERENCES`, in `PAIRS` (a silver or a gold
pair, by the kind of its owner) and as a JSON list in `best_worst_answer.shown`.
"""

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from augsbert_core.errors import WorkbenchError
from augsbert_core.options.annotating import AUDIT_QUEUE
from augsbert_core.person_names import LONGEST_PERSON, LONGEST_SUMMARY, clean_line
from augsbert_core.scales import LONGEST_LABEL, RESERVED_KEYS, custom_levels
from augsbert_core.storage.annotation_replay import ANNOTATION_COLUMNS, REPLAY_SQL, disagreement
from augsbert_core.storage.annotation_tasks import LONGEST_NAME, MOST_SCORES, MOST_STRATUM
from augsbert_core.storage.annotation_turns import MOST_SECONDS
from augsbert_core.storage.archive_options import WORDS
from augsbert_core.storage.archive_shapes import Shape, is_score, is_text, list_of, record_of
from augsbert_core.storage.archive_values import broken, foreign
from augsbert_core.storage.edit_changes import GOLD_KINDS, LOGGED_KINDS, SILVER_KINDS
from augsbert_core.storage.silver_bins import STATUSES

TABLES = (
    "edit", "edit_change", "annotation_task", "annotation_item", "annotation_event", "annotation",
    "best_worst_tuple", "best_worst_answer", "out_of_fold",
)  # fmt: skip
"""In an order in which each refers to earlier ones alone."""

WITH_IDS = (
    "edit", "annotation_task", "annotation_item", "annotation_event", "best_worst_tuple", "best_worst_answer",
)  # fmt: skip

ORDERS = {
    "edit_change": "edit_id, pair_id",
    "annotation": "item_id, annotator",
    "out_of_fold": "run_id, gold_pair_id",
}

REFERENCES = {
    "edit_id": "edit", "target_edit_id": "edit", "task_id": "annotation_task", "item_id": "annotation_item",
    **{f"item{number}_id": "annotation_item" for number in range(1, 5)},
    "best_item_id": "annotation_item", "worst_item_id": "annotation_item", "undone_event_id": "annotation_event",
    "tuple_id": "best_worst_tuple", "gold_pair_id": "gold_pair",
}  # fmt: skip
"""Column → the table whose row it names."""

PAIRS = {
    "edit_change": ("edit_id", "pair_id", "SELECT id, subject FROM edit"),
    "annotation_item": (
        "task_id", "source_pair_id", "SELECT id, source || '_pair' FROM annotation_task",
    ),
}  # fmt: skip
"""Table → the column that names the owner, the one that names a pair, and whose pairs they are by owner."""


# --- out -------------------------------------------------------------------------------------------


def _is_there(table: str, column: str) -> str:
    return f"+{column} IN (SELECT id FROM main.{table})"


def leaving(sets: str, runs: str) -> dict[str, tuple[str, dict[str, str]]]:
    """Which rows of these tables leave, and what stands in a column instead; as `archives.OUT`.

    sets, runs: SQL of the silver sets and runs that leave. The pairs and sentences that leave are in place.
    """
    both = f"{_is_there('sentence', 'sentence1_id')} AND {_is_there('sentence', 'sentence2_id')}"
    source = "(SELECT source FROM main.annotation_task AS task WHERE task.id = task_id)"
    return {
        "edit": (
            f"project_id = :project AND (silver_set_id IS NULL OR silver_set_id IN {sets})",
            {},
        ),
        "edit_change": (
            "edit_id IN (SELECT id FROM main.edit) AND CASE (SELECT subject FROM main.edit WHERE edit.id = edit_id)"
            f" WHEN 'gold_pair' THEN {_is_there('gold_pair', 'pair_id')}"
            f" ELSE {_is_there('silver_pair', 'pair_id')} END",
            {},
        ),
        "annotation_task": (
            f"project_id = :project AND run_id IN {runs}",
            {"silver_set_id": f"CASE WHEN silver_set_id IN {sets} THEN silver_set_id END"},
        ),
        "annotation_item": (
            f"{_is_there('annotation_task', 'task_id')} AND {both}",
            {
                "source_pair_id": f"CASE {source}"
                f" WHEN 'gold' THEN iif({_is_there('gold_pair', 'source_pair_id')}, source_pair_id, NULL)"
                f" WHEN 'silver' THEN iif({_is_there('silver_pair', 'source_pair_id')}, source_pair_id, NULL) END"
            },
        ),
        "annotation_event": (_is_there("annotation_item", "item_id"), {}),
        # Who has a pair on the screen is left behind: the rows are made anew, of the events that leave.
        "annotation": ("0", {}),
        "best_worst_tuple": (
            " AND ".join(
                _is_there("annotation_item", f"item{number}_id") for number in range(1, 5)
            ),
            {},
        ),
        "best_worst_answer": (_is_there("best_worst_tuple", "tuple_id"), {}),
        "out_of_fold": (f"run_id IN {runs} AND {_is_there('gold_pair', 'gold_pair_id')}", {}),
    }


REPLAY_ANNOTATIONS_SQL = (
    f"INSERT INTO main.annotation ({', '.join(ANNOTATION_COLUMNS)}) {REPLAY_SQL}"
)
"""Written when all other rows of these tables have left."""


# --- what must hold ----------------------------------------------------------------------------------


def _one_of(column: str, words: Sequence[str]) -> str:
    return f"{column} IN ({', '.join(repr(word) for word in words)})"


def _is_name(column: str, longest: int = LONGEST_PERSON) -> str:
    return f"length({column}) BETWEEN 1 AND {longest}"


def _flags(*columns: str) -> str:
    return " AND ".join(f"{column} IN (0, 1)" for column in columns)


def _decision(side: str) -> str:
    return f"({side}_score IS NULL OR {side}_score BETWEEN 0 AND 1) AND {_one_of(f'{side}_status', STATUSES)}"


def _on_scale(side: str) -> str:
    scale = "(SELECT score_low FROM project) AND (SELECT score_high FROM project)"
    return f"{side}_score BETWEEN {scale} AND length({side}_status) <= 10000"


SECONDS = f"(seconds IS NULL OR seconds BETWEEN 0 AND {MOST_SECONDS!r})"
OF_ITEM = "task_id = (SELECT task_id FROM annotation_item AS item WHERE item.id = item_id)"
OF_TUPLE = """
  SELECT 1 FROM best_worst_tuple AS tuple WHERE tuple.id = tuple_id AND tuple.task_id = best_worst_answer.task_id
    AND (best_item_id IS NULL OR (best_item_id IN (item1_id, item2_id, item3_id, item4_id)
      AND worst_item_id IN (item1_id, item2_id, item3_id, item4_id)))
"""

CONDITIONS = {
    "edit": f"length(actor) <= {LONGEST_PERSON} AND length(summary) <= {LONGEST_SUMMARY} AND n_changes BETWEEN 0 AND 1000000000"
    " AND (subject = 'silver_pair') = (silver_set_id IS NOT NULL)"
    f" AND CASE WHEN state = 'logged' THEN {_one_of('kind', LOGGED_KINDS)} AND target_edit_id < id AND EXISTS ("
    "SELECT 1 FROM edit AS target WHERE target.id = edit.target_edit_id AND target.subject = edit.subject"
    " AND target.silver_set_id IS edit.silver_set_id AND target.actor = edit.actor AND target.state <> 'logged')"
    " ELSE target_edit_id IS NULL AND CASE subject"
    f" WHEN 'silver_pair' THEN {_one_of('kind', SILVER_KINDS)} ELSE {_one_of('kind', GOLD_KINDS)} END END",
    "edit_change": "CASE (SELECT subject FROM edit WHERE edit.id = edit_id AND state <> 'logged')"
    f" WHEN 'silver_pair' THEN before_unit IS NULL AND {_decision('before')} AND {_decision('after')}"
    " AND (SELECT silver_set_id FROM silver_pair WHERE silver_pair.id = pair_id)"
    " = (SELECT silver_set_id FROM edit WHERE edit.id = edit_id)"
    f" WHEN 'gold_pair' THEN before_unit BETWEEN 0 AND 1 AND {_on_scale('before')} AND {_on_scale('after')}"
    " AND EXISTS (SELECT 1 FROM gold_pair WHERE gold_pair.id = pair_id) ELSE 0 END",
    "annotation_task": f"{_is_name('name', LONGEST_NAME)} AND {_one_of('queue', sorted(WORDS['queue']))}"
    f" AND {_one_of('scale', sorted(WORDS['scale']))} AND n_scores BETWEEN 1 AND {MOST_SCORES} AND {_flags('closed')}"
    f" AND seed >= 0 AND (purpose <> 'audit' OR (source = 'silver' AND kind = 'scores' AND queue = '{AUDIT_QUEUE}'))"
    " AND 'annotate' = (SELECT step FROM run WHERE run.id = run_id)",
    "annotation_item": "position >= 0 AND length(reason) <= 10000 AND (suggestion IS NULL OR suggestion BETWEEN 0 AND 1)"
    f" AND (stratum IS NULL OR stratum BETWEEN 0 AND {MOST_STRATUM}) AND (stratum_size IS NULL OR stratum_size BETWEEN 1 AND 1000000000)"
    " AND ((stratum IS NOT NULL AND suggestion IS NOT NULL)"
    " OR 'audit' <> (SELECT purpose FROM annotation_task AS task WHERE task.id = task_id))"
    " AND (stratum IS NULL) = (stratum_size IS NULL) AND (adjudicated_score IS NULL) = (adjudicator IS NULL)"
    f" AND (adjudicator IS NULL OR ({_is_name('adjudicator')} AND adjudicated_score BETWEEN 0 AND 1))"
    " AND (source_pair_id IS NULL OR CASE (SELECT source FROM annotation_task AS task WHERE task.id = task_id)"
    " WHEN 'gold' THEN EXISTS (SELECT 1 FROM gold_pair WHERE gold_pair.id = source_pair_id)"
    " WHEN 'silver' THEN EXISTS (SELECT 1 FROM silver_pair WHERE silver_pair.id = source_pair_id) ELSE 0 END)",
    "annotation_event": f"{OF_ITEM} AND {_is_name('annotator')} AND {SECONDS}"
    f" AND {_flags('flagged', 'swapped', 'suggestion_seen')} AND (score IS NULL OR score BETWEEN 0 AND 1)"
    " AND CASE action WHEN 'score' THEN score IS NOT NULL WHEN 'adjudicate' THEN 1"
    " ELSE action IN ('skip', 'flag', 'undo') AND score IS NULL END"
    " AND CASE action WHEN 'undo' THEN undone_event_id < id AND EXISTS (SELECT 1 FROM annotation_event AS undone"
    " WHERE undone.id = annotation_event.undone_event_id AND undone.item_id = annotation_event.item_id"
    " AND undone.annotator = annotation_event.annotator) ELSE undone_event_id IS NULL END",
    "annotation": f"{OF_ITEM} AND {_is_name('annotator')} AND {SECONDS}"
    f" AND {_flags('flagged', 'swapped', 'suggestion_seen')} AND (score IS NULL OR score BETWEEN 0 AND 1)"
    " AND (state = 'scored') = (score IS NOT NULL) AND (state = 'claimed') = (at = '')"
    " AND (state <> 'claimed' OR flagged)",
    "best_worst_tuple": "position >= 0 AND (SELECT kind FROM annotation_task AS task WHERE task.id = task_id) = 'best-worst'"
    " AND 4 = (SELECT count(*) FROM annotation_item AS item WHERE item.task_id = best_worst_tuple.task_id"
    " AND item.id IN (item1_id, item2_id, item3_id, item4_id))",
    "best_worst_answer": f"{_is_name('annotator')} AND {SECONDS} AND (best_item_id IS NULL) = (worst_item_id IS NULL)"
    f" AND (best_item_id IS NULL OR best_item_id <> worst_item_id) AND EXISTS ({OF_TUPLE})"
    " AND CASE action WHEN 'answer' THEN best_item_id IS NOT NULL WHEN 'skip' THEN best_item_id IS NULL"
    " ELSE action = 'undo' END",
    "out_of_fold": "fold BETWEEN 0 AND 1000 AND gold_score BETWEEN 0 AND 1 AND score BETWEEN 0 AND 1"
    " AND 'label-errors' = (SELECT step FROM run WHERE run.id = run_id)"
    " AND EXISTS (SELECT 1 FROM gold_pair WHERE gold_pair.id = gold_pair_id)",
}
"""What must hold for each row of these tables; as `archive_source.CONDITIONS`."""


ODD_STRATUM_SQL = """
SELECT 1 FROM annotation_item WHERE stratum IS NOT NULL GROUP BY task_id, stratum
HAVING min(stratum_size) < max(stratum_size) OR count(*) > min(stratum_size) LIMIT 1
"""


def check_rows(source: sqlite3.Connection) -> None:
    """WorkbenchError: rows of these tables, each of which may be, contradict one another."""
    if source.execute(ODD_STRATUM_SQL).fetchone():
        raise foreign("a stratum of a task has two sizes, or fewer pairs than were drawn from it")
    if (found := disagreement(source)) is not None:
        raise foreign(found)


# --- in --------------------------------------------------------------------------------------------

NewIds = Callable[[list[Any]], list[Any]]
"""Old ids to new ones. WorkbenchError: one is not in the archive."""


def renumber(
    source: sqlite3.Connection,
    table: str,
    values: dict[str, list[Any]],
    new_ids: Mapping[str, NewIds],
) -> None:
    """Give rows of these tables the new numbers of what they speak of; new_ids: by table."""
    if table in PAIRS:
        owner, column, query = PAIRS[table]
        kinds = dict(source.execute(query).fetchall())
        owners = [kinds[one] for one in values[owner]]
        for pairs in set(owners) & new_ids.keys():
            places = [at for at, kind in enumerate(owners) if kind == pairs]
            found = _with_gaps(new_ids[pairs], [values[column][at] for at in places])
            for at, new in zip(places, found, strict=True):
                values[column][at] = new
    for column in PERSONS & values.keys():
        if any(name and clean_line(name, LONGEST_PERSON) != name for name in values[column]):
            raise foreign("a person has a name that cannot be read")
    for column, named in REFERENCES.items():
        if column in values:
            values[column] = _with_gaps(new_ids[named], values[column])
    if table == "best_worst_answer":
        values["shown"] = [_shown(text, new_ids["annotation_item"]) for text in values["shown"]]


PERSONS = {"actor", "annotator", "adjudicator"}


def _with_gaps(new_ids: NewIds, values: list[Any]) -> list[Any]:
    """New ids of those values that are some."""
    found = iter(new_ids([value for value in values if value is not None]))
    return [None if value is None else next(found) for value in values]


def _shown(text: str, new_ids: NewIds) -> str:
    """The order in which pairs were on the screen, in new ids."""
    found = _json(text)
    if (
        not isinstance(found, list)
        or len(found) not in (0, 4)
        or not all(type(item) is int and 0 < item < 2**53 for item in found)
        or len(set(found)) < len(found)
    ):
        raise foreign("the order of four pairs is none")
    return json.dumps(new_ids(found))


LEVELS = list_of(record_of({"label": is_text, "score": is_score, "key": is_text}), 2, 101)


def as_levels(text: str, scale: str) -> str:
    """The levels of a scale, each with a word, a score in [0, 1] and a key of the keyboard. WorkbenchError: none."""
    found = _json(text)
    if not _are_levels(found, LEVELS):
        raise foreign("the levels of a scale are none")
    levels = [{name: level[name] for name in ("label", "score", "key")} for level in found]
    if scale == "custom":
        try:
            made = custom_levels([(level["label"], level["score"]) for level in levels])
        except WorkbenchError as error:
            raise foreign("the levels of a scale are none") from error
        if [asdict(level) for level in made] != levels:
            raise foreign("the levels of a scale are not in order")
    return json.dumps(levels)


def _are_levels(found: Any, shape: Shape) -> bool:
    if not shape(found):
        return False
    keys = [level["key"] for level in found]
    return len(set(keys)) == len(keys) and all(
        0 < len(level["label"]) <= LONGEST_LABEL
        and level["label"].isprintable()
        and 0 <= level["score"] <= 1
        and len(level["key"]) == 1
        and level["key"].isascii()
        and level["key"].isalnum()
        and level["key"].lower() not in RESERVED_KEYS
        for level in found
    )


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise broken("what should be a JSON list is none") from error
