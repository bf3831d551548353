"""What one judge of a best-worst task has before them: their order of the tuples, and what they have said so far."""

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.storage.annotation_turns import Turn, stable_number


@dataclass(frozen=True)
class TuplePair:
    """One pair of a tuple."""

    item_id: int
    sentence1: str
    sentence2: str


@dataclass(frozen=True)
class TupleItem:
    """A tuple as one judge meets it. pairs: in the order on their screen. number: its place, from 1, in their order.

    state: "open", "answered" or "skipped"; best_item_id, worst_item_id: their own answer, None without one.
    """

    id: int
    task_id: int
    number: int
    pairs: tuple[TuplePair, ...]
    state: str
    best_item_id: int | None = None
    worst_item_id: int | None = None


MEMBERS = ("item1_id", "item2_id", "item3_id", "item4_id")

STANDING_SQL = """
SELECT * FROM best_worst_answer WHERE best_item_id IS NOT NULL AND id IN
  (SELECT max(id) FROM best_worst_answer WHERE task_id = :task GROUP BY tuple_id, annotator)
"""


@dataclass(frozen=True)
class Row:
    """One row of the log. best, worst: item ids, None for a skip."""

    tuple_id: int
    action: str
    best: int | None = None
    worst: int | None = None
    seconds: float | None = None


STATES = {"answer": "answered", "skip": "skipped"}


@dataclass
class Desk:
    """The tuples of a task for one judge.

    order: tuple ids as they come to this judge. tuples: their pairs in the order of the design. standing: the judge's
    own answers and skips that were not taken back, oldest first. others: tuple id → how many others answered it.
    """

    turn: Turn
    order: list[int]
    tuples: dict[int, tuple[int, ...]]
    standing: list[Row]
    others: Counter[int]

    @property
    def latest(self) -> dict[int, Row]:
        """What stands of this judge about each tuple that they have met."""
        return {row.tuple_id: row for row in self.standing}

    def members(self, tuple_id: int) -> tuple[int, ...]:
        """The item ids of a tuple. WorkbenchError: the task has no such tuple."""
        if tuple_id not in self.tuples:
            raise WorkbenchError(f"Tuple {tuple_id} is not (any more) in {self.turn.task['name']}.")
        return self.tuples[tuple_id]

    def shown(self, tuple_id: int) -> list[int]:
        """The item ids of a tuple in the order on this judge's screen, always the same."""
        seed, name = self.turn.task["seed"], self.turn.annotator
        return sorted(
            self.tuples[tuple_id], key=lambda item: stable_number(seed, name, tuple_id, item)
        )

    def is_full(self, tuple_id: int) -> bool:
        """Whether enough others have answered a tuple."""
        return self.others[tuple_id] >= int(self.turn.task["n_scores"])

    def open(self) -> list[int]:
        """The tuples that this judge has not met and others leave to them, in order."""
        met = self.latest
        return [one for one in self.order if one not in met and not self.is_full(one)]

    def skipped_once(self) -> list[int]:
        """The tuples that come back to this judge, in order."""
        skips = Counter(row.tuple_id for row in self.standing if row.action == "skip")
        latest = self.latest
        return [
            one
            for one in self.order
            if skips[one] == 1 and latest[one].action == "skip" and not self.is_full(one)
        ]

    def next(self) -> TupleItem | None:
        """The tuple that comes next."""
        waiting = self.open() or self.skipped_once()
        return self.show(waiting[0]) if waiting else None

    def show(self, tuple_id: int) -> TupleItem:
        """A tuple with its sentences."""
        shown = self.shown(tuple_id)
        rows = {
            row["id"]: row
            for row in self.turn.db.execute(PAIRS_SQL.format(", ".join("?" * len(shown))), shown)
        }
        row = self.latest.get(tuple_id)
        return TupleItem(
            id=tuple_id,
            task_id=self.turn.task["id"],
            number=self.order.index(tuple_id) + 1,
            pairs=tuple(
                TuplePair(item, rows[item]["sentence1"], rows[item]["sentence2"]) for item in shown
            ),
            state="open" if row is None else STATES[row.action],
            best_item_id=row.best if row else None,
            worst_item_id=row.worst if row else None,
        )

    def append(self, row: Row) -> None:
        """Add an answer or a skip."""
        self.write(row)
        self.standing.append(row)

    def write(self, row: Row) -> None:
        """Add a row to the log."""
        self.turn.db.execute(
            "INSERT INTO best_worst_answer (task_id, tuple_id, annotator, at, action, best_item_id, worst_item_id,"
            " shown, seconds) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                self.turn.task["id"], row.tuple_id, self.turn.annotator, self.turn.at, row.action,
                row.best, row.worst, json.dumps(self.shown(row.tuple_id)), row.seconds,
            ],
        )  # fmt: skip


PAIRS_SQL = """
SELECT item.id, first.text AS sentence1, second.text AS sentence2
FROM annotation_item AS item
JOIN sentence AS first ON first.id = sentence1_id
JOIN sentence AS second ON second.id = sentence2_id
WHERE item.id IN ({})
"""


def desk_of(mine: Turn) -> Desk:
    """The desk of a judge as it is in this transaction."""
    rows = mine.db.execute(
        f"SELECT id, {', '.join(MEMBERS)} FROM best_worst_tuple WHERE task_id = ? ORDER BY position",
        [mine.task["id"]],
    ).fetchall()
    tuples = {row["id"]: tuple(row[key] for key in MEMBERS) for row in rows}
    ids = list(tuples)
    # As `best_worst.tuple_order`, with a generator of the judge's own.
    rng = np.random.default_rng(stable_number(mine.task["seed"], mine.annotator))
    others = mine.db.execute(
        f"SELECT tuple_id, count(*) FROM ({STANDING_SQL}) WHERE annotator <> :annotator GROUP BY tuple_id",
        mine.values,
    )
    return Desk(
        turn=mine,
        order=[ids[place] for place in rng.permutation(len(ids)).tolist()],
        tuples=tuples,
        standing=_standing(mine),
        others=Counter(dict(others.fetchall())),
    )


def _standing(mine: Turn) -> list[Row]:
    """What this judge has said and not taken back, oldest first."""
    rows: list[Row] = []
    for row in mine.db.execute(
        "SELECT * FROM best_worst_answer WHERE task_id = :task AND annotator = :annotator ORDER BY id",
        mine.values,
    ):
        if row["action"] == "undo":
            rows.pop()
        else:
            rows.append(_row(row))
    return rows


def _row(row: Any) -> Row:
    return Row(
        row["tuple_id"], row["action"], row["best_item_id"], row["worst_item_id"], row["seconds"]
    )
