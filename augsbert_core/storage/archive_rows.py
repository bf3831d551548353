"""A project's rows on their way into the workspace, from a database that nobody vouches for."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.pairs import ScoredPairs, ScoreRange
from augsbert_core.progress import Report, ShouldStop, never, silent, stop_if
from augsbert_core.storage import archive_human, projects
from augsbert_core.storage.archive_metrics import wrong_metric
from augsbert_core.storage.archive_options import wrong_option
from augsbert_core.storage.archive_references import (
    NewNumbers,
    Numbers,
    Places,
    json_object,
    places_in,
)
from augsbert_core.storage.archive_source import COPIED, open_source, stored_columns
from augsbert_core.storage.archive_values import (
    as_details,
    as_moment,
    as_object,
    broken,
    foreign,
)
from augsbert_core.storage.database import Database, Workspace, writing
from augsbert_core.storage.gold import ORDERED_SQL, data_hash
from augsbert_core.storage.silver_sets import NEXT_ID_SQL, RECOUNT_SQL

CHUNK = 20_000

LARGEST_SCORE = 1e6
"""No model's raw score comes near; squares of far larger ones are no 32-bit numbers any more."""

MOST_SENTENCES = 2**31 - 1
"""Two sentence ids are one 64-bit pair code."""

CheckRun = Callable[[str, str], None]
"""Called with step and options (JSON) of each run; raises WorkbenchError when no run can have them."""


def copy_project_in(
    workspace: Workspace,
    path: Path,
    check_run: CheckRun,
    name: str | None = None,
    report: Report = silent,
    should_stop: ShouldStop = never,
) -> int:
    """Bring the project of an archive's database into the workspace, all of it or nothing; returns its id.

    name: instead of its own, which gets " (2)" and so on when it is taken. WorkbenchError: the database cannot
    be trusted, or the name is taken.
    """
    with open_source(path) as source, writing(workspace) as db:
        return _Import(source, db, check_run, report, should_stop).carry_out(name)


SENTENCES = {
    "sentence1_id", "sentence2_id", "premise_id", "hypothesis_id", "anchor_id", "positive_id", "negative_id",
}  # fmt: skip

NUMBERED_ANEW = (
    "import_reject", "gold_pair", "nli_pair", "triplet", "evaluation", *archive_human.WITH_IDS,
)  # fmt: skip
"""Tables whose rows get the next free ids, in the order of their old ones."""

ORDERS = {
    "candidate_pair": "candidate_set_id, sentence1_id, sentence2_id",
    "silver_pair": "silver_set_id, sentence1_id, sentence2_id",
    "metric": "run_id, name, step",
    **archive_human.ORDERS,
}

CANDIDATE_COUNTS_SQL = """
UPDATE candidate_set SET
  n_pairs = (SELECT count(*) FROM candidate_pair WHERE candidate_set_id = candidate_set.id),
  rank_counts = (SELECT json_group_object(rank, n) FROM (
    SELECT rank, count(*) AS n FROM candidate_pair
    WHERE candidate_set_id = candidate_set.id AND rank IS NOT NULL GROUP BY rank))
WHERE project_id = ?
"""

N_CHANGES_SQL = """
UPDATE edit SET n_changes = (SELECT count(*) FROM edit_change WHERE edit_id = edit.id)
WHERE project_id = ? AND state <> 'logged'
"""


@dataclass(frozen=True)
class _Ranked:
    """New ids of many rows: the old ones in ascending order become first, first + 1, …"""

    old: np.ndarray
    first: int

    def __call__(self, values: list[Any]) -> list[Any]:
        wanted = np.asarray(values, dtype=np.int64)
        at = np.minimum(np.searchsorted(self.old, wanted), max(len(self.old) - 1, 0))
        if len(wanted) and (not len(self.old) or np.any(self.old[at] != wanted)):
            raise broken("a row speaks of a sentence or a pair that is not in it")
        found: list[Any] = (at + self.first).tolist()
        return found


class _Import:
    """One import: the new numbers, and every table in turn, in the caller's transaction."""

    def __init__(
        self,
        source: sqlite3.Connection,
        db: Database,
        check_run: CheckRun,
        report: Report,
        should_stop: ShouldStop,
    ) -> None:
        self.source, self.db, self.check_run = source, db, check_run
        self.report, self.should_stop = report, should_stop
        self.project = source.execute("SELECT id FROM project").fetchone()[0]
        self.n_rows = sum(_count(source, table) for table in COPIED)
        self.done = 0
        runs, candidate_sets, silver_sets = (
            self._numbers(table) for table in ("run", "candidate_set", "silver_set")
        )
        own = (self.project, self._next("project"))
        self.new = NewNumbers(own, runs, candidate_sets, silver_sets)
        self.sentences = self._ranked("sentence", self._next("sentence"))
        self.silver_pairs = self._ranked("silver_pair", db.execute(NEXT_ID_SQL).fetchone()[0])
        ranked = ("gold_pair", *archive_human.WITH_IDS)
        self.new_ids = {table: self._ranked(table, self._next(table)) for table in ranked}
        self.new_ids["silver_pair"] = self.silver_pairs
        self.present: dict[str, tuple[str, int]] = {}
        self.places = self._places()
        if self.sentences.first + len(self.sentences.old) > MOST_SENTENCES:
            raise WorkbenchError("The workspace has no room for so many sentences. Use a new one.")

    def carry_out(self, name: str | None) -> int:
        """Copy everything, count what is counted, and return the project's new id."""
        for table in COPIED:
            self._copy(table, name)
        for statement in (CANDIDATE_COUNTS_SQL, N_CHANGES_SQL):
            self.db.execute(statement, [self.new.project[1]])
        for set_id in self.new.silver_sets.known.values():
            self._count_silver(set_id)
        for table, numbers in (
            ("run", self.new.runs),
            ("candidate_set", self.new.candidate_sets),
            ("silver_set", self.new.silver_sets),
        ):
            self._keep_free(table, numbers.last)
        return self.new.project[1]

    # --- numbers

    def _next(self, table: str) -> int:
        """The first id of a table that no row has or, where ids never come back, ever had."""
        (last,) = self.db.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()
        query = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?"
        (ever,) = self.db.execute(query, [table]).fetchone()
        return int(max(last, ever)) + 1

    def _numbers(self, table: str) -> Numbers:
        first = self._next(table)
        rows = self.source.execute(f"SELECT id FROM {table} ORDER BY id").fetchall()
        known = {old: first + place for place, (old,) in enumerate(rows)}
        return Numbers(known, first + len(known))

    def _ranked(self, table: str, first: int) -> _Ranked:
        ids = self.source.execute(f"SELECT id FROM {table} ORDER BY id")
        return _Ranked(np.fromiter((row[0] for row in ids), dtype=np.int64), first)

    def _keep_free(self, table: str, last: int) -> None:
        """Numbers of what did not come along are never given to something else."""
        values = [last, table]
        query = "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?"
        if not self.db.execute(query, values).rowcount:
            self.db.execute("INSERT INTO sqlite_sequence (seq, name) VALUES (?, ?)", values)

    def _places(self) -> Places:
        rows = self.source.execute("SELECT options, metrics FROM run").fetchall()
        told = [found for row in rows for text in row if (found := json_object(text)) is not None]
        texts = self.source.execute(
            "SELECT labeler FROM silver_set UNION SELECT target FROM evaluation"
        ).fetchall()
        return places_in(told, [text for (text,) in texts])

    # --- rows

    def _copy(self, table: str, name: str | None) -> None:
        """Copy a table chunk by chunk."""
        columns = stored_columns(self.source, table)
        order = ORDERS.get(table, "id")
        rows = self.source.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY {order}")
        insert = (
            f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' for _ in columns)})"
        )
        first = self._next(table) if table in NUMBERED_ANEW else 0
        while chunk := rows.fetchmany(CHUNK):
            stop_if(self.should_stop)
            self.report(self.done / max(self.n_rows, 1), f"Writing {table.replace('_', ' ')} rows")
            values = dict(zip(columns, map(list, zip(*chunk, strict=True)), strict=True))
            if table in NUMBERED_ANEW:
                values["id"] = list(range(first, first + len(chunk)))
                first += len(chunk)
            self._renumber(table, values)
            self._convert(table, values, name)
            self.db.conn.executemany(insert, zip(*values.values(), strict=True))
            self.done += len(chunk)

    def _renumber(self, table: str, values: dict[str, list[Any]]) -> None:
        """Give the columns that are ids their new ones."""
        if table == "project":
            values["id"] = [self.new.project[1]]
        owners = {
            "run": ("run", self.new.runs), "candidate_set": ("candidate_set", self.new.candidate_sets),
            "silver_set": ("silver_set", self.new.silver_sets),
        }  # fmt: skip
        for column in values:
            kind = column.removesuffix("_id")
            if column == "project_id":
                values[column] = [self.new.project[1]] * len(values[column])
            elif column in SENTENCES:
                values[column] = self.sentences(values[column])
            elif column == "id" and table in owners:
                values[column] = _present(owners[table][1], values[column])
            elif kind != column and kind in owners:
                values[column] = _present(owners[kind][1], values[column])
            elif kind in ("parent_run", "labeler_run", "target_run", "unlabelled_run"):
                values[column] = _present(self.new.runs, values[column])
            elif kind == "pool_set":
                values[column] = _present(self.new.silver_sets, values[column])
        if table == "sentence":
            values["id"] = self.sentences(values["id"])
        elif table == "silver_pair":
            values["id"] = self.silver_pairs(values["id"])
        elif table in archive_human.TABLES:
            archive_human.renumber(self.source, table, values, self.new_ids)

    def _convert(self, table: str, values: dict[str, list[Any]], name: str | None) -> None:
        """Look at every text that is more than a text, and write it anew."""
        for column in ("created_at", "finished_at", "at"):
            if column in values:
                values[column] = [
                    # A mark beside a pair that has no score yet has no time.
                    value if value == "" and table == "annotation" else as_moment(value)
                    for value in values[column]
                ]
        match table:
            case "project":
                self._convert_project(values, name)
            case "run":
                self._convert_runs(values)
            case "candidate_set":
                values["notices"] = [self._notices(text) for text in values["notices"]]
            case "silver_set":
                values["labeler"] = [self._target(text) for text in values["labeler"]]
                values["n_pairs"] = [0] * len(values["labeler"])
            case "evaluation":
                values["target"] = [self._target(text) for text in values["target"]]
                self._check_evaluations(values)
                values["details"] = [as_details(text) for text in values["details"]]
                for predictions in values["predictions"]:
                    # NaN is not below either.
                    if not np.all(np.abs(np.frombuffer(predictions, dtype="<f4")) < LARGEST_SCORE):
                        raise foreign("a prediction is no score")
            case "edit":
                # What else an edit says in words is what someone has written, or a sentence of a pair.
                values["summary"] = [
                    self.new.in_prose(text) if kind == "carry-over" else text
                    for text, kind in zip(values["summary"], values["kind"], strict=True)
                ]
            case "annotation_task":
                values["levels"] = [
                    archive_human.as_levels(text, scale)
                    for text, scale in zip(values["levels"], values["scale"], strict=True)
                ]

    def _target(self, text: str) -> str:
        return self.new.in_target(self.places.in_text(text))

    def _convert_project(self, values: dict[str, list[Any]], name: str | None) -> None:
        values["name"] = [_free_name(self.db, str(values["name"][0]), name)]
        values["is_sample"] = [0]
        try:
            ScoreRange(values["score_low"][0], values["score_high"][0])
        except WorkbenchError as error:
            raise foreign("the scale of its scores is none") from error
        layers = values["student_layers"][0]
        if layers is not None and not 1 <= layers <= 1000:
            raise broken("its student has no possible number of layers")

    def _convert_runs(self, values: dict[str, list[Any]]) -> None:
        values["model_path"] = [None] * len(values["step"])
        for place, step in enumerate(values["step"]):
            named = f"run {values['id'][place]} ({step[:40]})"
            told = as_object(values["options"][place])
            options = self.new.in_json(self.places.in_json(told))
            values["options"][place] = json.dumps(options, sort_keys=True)
            self.check_run(step, values["options"][place])
            if (found := wrong_option(step, told)) is not None:
                raise foreign(f"{named} was never told such {found[:40]!r}")
            metrics = as_object(values["metrics"][place])
            is_done = values["state"][place] == "done"
            if (found := wrong_metric(step, metrics, is_done=is_done)) is not None:
                raise foreign(f"{named} never has such {found[:40]!r} as a result")
            metrics = self.places.in_json(metrics)
            is_import = step in ("import", "import-files")
            metrics = self.new.in_json(metrics, prose=not is_import)
            values["metrics"][place] = json.dumps(metrics)
            values["versions"][place] = json.dumps(
                {name: str(text) for name, text in as_object(values["versions"][place]).items()}
            )
            if not is_import:
                shown = self.places.in_text(values["name"][place])
                values["name"][place] = self.new.in_prose(shown)

    def _check_evaluations(self, values: dict[str, list[Any]]) -> None:
        """What was measured on the present gold pairs has a prediction for each, and the metric of their task."""
        (task,) = self.source.execute("SELECT task FROM project").fetchone()
        metric = "f1" if task == "classification" else "spearman"
        rows = zip(
            *(values[name] for name in ("split", "data_hash", "n_pairs", "metric")), strict=True
        )
        for split, its_hash, n_pairs, its_metric in rows:
            present = self._present_gold(split)
            if its_hash == present[0] and (n_pairs, its_metric) != (present[1], metric):
                raise foreign(f"a measurement does not fit the gold pairs of {split}")

    def _present_gold(self, split: str) -> tuple[str, int]:
        """Fingerprint and number of the gold pairs of a split."""
        if split not in self.present:
            query = f"SELECT sentence1, sentence2, score FROM ({ORDERED_SQL}) WHERE split = :split ORDER BY id"
            told = {"project": self.project, "split": split}
            rows = self.source.execute(query, told).fetchall()
            first, second, scores = ([row[at] for row in rows] for at in range(3))
            pairs = ScoredPairs(first, second, np.array(scores, dtype=np.float64))
            self.present[split] = (data_hash(pairs), len(rows))
        return self.present[split]

    def _notices(self, text: str) -> str:
        found = as_object(f'{{"notices": {text}}}')["notices"]
        if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
            raise broken("its notices are no texts")
        return json.dumps([self.new.in_prose(self.places.in_text(item)) for item in found])

    def _count_silver(self, set_id: int) -> None:
        rows = [(set_id, *row) for row in self.db.execute(RECOUNT_SQL, [set_id])]
        self.db.conn.executemany("INSERT INTO silver_bin VALUES (?, ?, ?, ?, ?)", rows)
        total = sum(row[-1] for row in rows)
        self.db.execute("UPDATE silver_set SET n_pairs = ? WHERE id = ?", [total, set_id])


def _count(source: sqlite3.Connection, table: str) -> int:
    return int(source.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def _present(numbers: Numbers, values: Sequence[int | None]) -> list[int | None]:
    return [None if value is None else numbers.present(value) for value in values]


def _free_name(db: Database, own: str, wanted: str | None) -> str:
    """The name of an imported project. WorkbenchError: it is no name, or the one wished for is taken."""
    name = projects._checked_name(own if wanted is None else wanted)
    for candidate in _names(name):
        taken = db.execute("SELECT 1 FROM project WHERE name = ?", [candidate]).fetchone()
        if taken is None:
            return candidate
        if wanted is not None:
            break
    raise projects._name_taken(name)


def _names(name: str) -> Iterator[str]:
    yield name
    for number in range(2, 1000):
        ending = f" ({number})"
        yield name[: 80 - len(ending)].rstrip() + ending
