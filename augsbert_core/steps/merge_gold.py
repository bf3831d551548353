"""A merge held against the gold that is there: what is new, what changes, and in which splits new pairs go."""

from collections.abc import Set
from dataclasses import dataclass

import numpy as np
import pandas as pd

from augsbert_core.importing.leaks import find_leaks, leaks_with
from augsbert_core.importing.pair_rows import GoldRow, PairRows, join_rows
from augsbert_core.importing.splitting import split_rows
from augsbert_core.options import ImportOptions
from augsbert_core.pairs import SPLITS, text_pair_key
from augsbert_core.steps.merged_scores import ROUNDING, count
from augsbert_core.storage import gold
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import AnnotationTask, Project


@dataclass(frozen=True)
class GoldChange:
    """A gold pair that gets another score. before, after: raw scores."""

    gold_id: int
    sentence1: str
    sentence2: str
    before: float
    after: float


def against_gold(
    rows: list[GoldRow],
    items: pd.DataFrame,
    there: pd.DataFrame,
    task: AnnotationTask,
    replace_gold: bool,
    by_hand: Set[int],
    left_out: dict[str, int],
) -> tuple[list[GoldRow], tuple[GoldChange, ...], list[str]]:
    """The rows that are new, the gold pairs that change, and what there is to say; left_out is added to."""
    if task.source == "gold":
        changes = _changes(rows, items, there, by_hand, left_out) if replace_gold else ()
        if not replace_gold:
            count(left_out, "are gold already, and gold keeps its scores", len(rows))
        return [], changes, []
    known: dict[tuple[str, str], float] = {}
    if len(there):
        columns = (there[name].tolist() for name in ("sentence1", "sentence2", "raw_score"))
        for first, second, raw in zip(*columns, strict=True):
            known.setdefault(text_pair_key(first, second), raw)
    new, n_other = [], 0
    for row in rows:
        before = known.get(text_pair_key(row.sentence1, row.sentence2))
        if before is None:
            new.append(row)
        else:
            n_other += abs(before - row.raw_score) > ROUNDING
    count(left_out, "are gold already", len(rows) - len(new))
    notes = []
    if n_other:
        notes.append(
            f"{n_other:,} of the pairs that are gold already have another score there, and keep it. To change gold, "
            "take the earlier merge back on the Gold page and merge again, or make a task of gold pairs."
        )
    return new, (), notes


def _changes(
    rows: list[GoldRow],
    items: pd.DataFrame,
    there: pd.DataFrame,
    by_hand: Set[int],
    left_out: dict[str, int],
) -> tuple[GoldChange, ...]:
    now = dict(zip(there["id"], there["raw_score"], strict=True)) if len(there) else {}
    found, n_same, n_gone, n_by_hand = [], 0, 0, 0
    for row, source in zip(rows, items["source_pair_id"].tolist(), strict=True):
        before = None if pd.isna(source) else now.get(int(source))
        if before is None:
            n_gone += 1
        elif abs(before - row.raw_score) <= ROUNDING:
            n_same += 1
        elif int(source) in by_hand:
            n_by_hand += 1
        else:
            found.append(
                GoldChange(int(source), row.sentence1, row.sentence2, before, row.raw_score)
            )
    count(left_out, "have this score in gold already", n_same)
    count(left_out, "are no longer in gold", n_gone)
    count(
        left_out,
        "were set or confirmed by hand after they were annotated, and gold keeps those scores",
        n_by_hand,
    )
    return tuple(found)


def deal(rows: PairRows, there: pd.DataFrame, options: ImportOptions) -> tuple[PairRows, list[str]]:
    """A split for each row; gold that is there decides where rows go that belong with some of it."""
    if options.split or not len(there):
        return split_rows(rows, options)
    together, notes = split_rows(join_rows([_gold_rows(there), rows]), options)
    dealt = together.splits[len(there) :]
    # The order of the words: "the file" of these notes is the gold that is there.
    return rows.with_splits(dealt), [note.replace("the file", "gold") for note in notes]


def _gold_rows(there: pd.DataFrame) -> PairRows:
    numbers = {split: number for number, split in enumerate(SPLITS)}
    n_rows = len(there)
    return PairRows(
        np.zeros(n_rows, dtype=np.int64),
        there["sentence1"].tolist(),
        there["sentence2"].tolist(),
        there["raw_score"].to_numpy(dtype=np.float64),
        there["score"].to_numpy(dtype=np.float64),
        there["split"].map(numbers).to_numpy(dtype=np.int8),
        np.zeros(n_rows, dtype=np.int32),
    )


def leak_notes(workspace: Workspace, project: Project, rows: PairRows) -> list[str]:
    """What the new pairs share between splits, among themselves and with gold."""
    shared = sum(leak.rows_by_sentence for leak in find_leaks(rows))
    held = sum(
        leak.rows_by_sentence for leak in leaks_with(rows, gold.split_keys(workspace, project.id))
    )
    notes = []
    if shared:
        notes.append(
            f"{shared:,} of the new pairs share a sentence with a new pair of a later split."
        )
    if held:
        notes.append(f"{held:,} times a new pair shares a sentence with gold of another split.")
    if notes:
        notes.append(
            "Test scores may then look better than on new sentences. Splitting by components of shared sentences "
            "avoids it, and training can leave such pairs out."
        )
    return notes
