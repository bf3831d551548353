"""Annotations into gold: one score for each pair from all who scored it, written as one import.

An import, so that it shows among the imports of the Gold page and can be taken back there. The single scores of the
annotators stay as they are.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.leaks import find_leaks
from augsbert_core.importing.overview import describe_rows
from augsbert_core.importing.pair_rows import GoldRow, PairRows
from augsbert_core.importing.repeats import find_repeats
from augsbert_core.options import ImportOptions, to_json
from augsbert_core.pairs import SPLITS, ScoreRange
from augsbert_core.scales import Level
from augsbert_core.steps.merge_gold import GoldChange, against_gold, deal, leak_notes
from augsbert_core.steps.merged_scores import ROUNDING, WAYS, count, merged_scores
from augsbert_core.storage import annotation_tasks, gold, gold_edits, projects
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import AnnotationTask, Project
from augsbert_core.storage.runs import ImportRecord, KnownFile

MERGED = "merged"
"""Where the metrics of a merge's run say which task it came from."""


@dataclass(frozen=True)
class MergePlan:
    """What a merge would do. rows: new gold pairs with their splits; changes: gold pairs scored again.

    task, score_range: what gold is, or becomes with its first pairs. left_out: reason → how many pairs of the task.
    notes: how they are split, and what is to be known before writing.
    """

    annotation_task: AnnotationTask
    how: str
    min_scores: int
    options: ImportOptions
    rows: PairRows
    changes: tuple[GoldChange, ...]
    task: str
    score_range: ScoreRange
    left_out: Mapping[str, int]
    notes: tuple[str, ...]

    @property
    def splits(self) -> dict[str, int]:
        """New pairs by split, in the order train, dev, test."""
        counts = np.bincount(self.rows.splits, minlength=len(SPLITS)).tolist()
        return {split: n for split, n in zip(SPLITS, counts, strict=True) if n}

    @property
    def is_empty(self) -> bool:
        """Whether nothing would be written."""
        return not len(self.rows) and not self.changes


@dataclass(frozen=True)
class MergeResult:
    """What a merge has done. run_id: of the import; None when no pair was new. splits: new pairs by split."""

    run_id: int | None
    n_added: int
    n_changed: int
    splits: Mapping[str, int]
    left_out: Mapping[str, int]
    notes: tuple[str, ...]


def merge(
    workspace: Workspace,
    project: Project,
    task_id: int,
    *,
    how: str = "mean",
    min_scores: int = 1,
    split: str = "",
    split_way: str = "auto",
    ratios: tuple[float, float, float] = (80.0, 10.0, 10.0),
    seed: int = 42,
    replace_gold: bool = True,
    actor: str = "merge",
) -> MergeResult:
    """Make gold pairs of the pairs of a task; arguments as in `plan_merge`. actor: who changes scores of gold.

    Pairs that are gold already are never added again, so merging twice adds only what was scored meanwhile. All changed
    scores of gold are one edit, which is undone at once. WorkbenchError: as in `plan_merge`, or nothing would be written.
    """
    plan = plan_merge(
        workspace,
        project,
        task_id,
        how=how,
        min_scores=min_scores,
        split=split,
        split_way=split_way,
        ratios=ratios,
        seed=seed,
        replace_gold=replace_gold,
    )
    if plan.is_empty:
        told = "; ".join(f"{count:,} {reason}" for reason, count in plan.left_out.items())
        raise WorkbenchError(
            f"Nothing of {plan.annotation_task.name!r} would come into gold: {told or 'it has no pairs'}."
        )
    run_id = _add(workspace, project, plan) if len(plan.rows) else None
    if plan.changes:
        gold_edits.set_gold_scores(
            workspace,
            project.id,
            [change.gold_id for change in plan.changes],
            [change.after for change in plan.changes],
            seen=[change.before for change in plan.changes],
            actor=actor,
            summary=f"Merged {plan.annotation_task.name}",
        )
    return MergeResult(
        run_id, len(plan.rows), len(plan.changes), plan.splits, plan.left_out, plan.notes
    )


def plan_merge(
    workspace: Workspace,
    project: Project,
    task_id: int,
    *,
    how: str = "mean",
    min_scores: int = 1,
    split: str = "",
    split_way: str = "auto",
    ratios: tuple[float, float, float] = (80.0, 10.0, 10.0),
    seed: int = 42,
    replace_gold: bool = True,
) -> MergePlan:
    """What merging a task into gold would do; nothing is written.

    how: one of `WAYS`. "adjudicated" takes the adjudicated score where there is one, else the mean where all scores
    agree (no further apart than `AGREED` of the scale; on a scale of two levels: equal); other pairs are left out.
    Best-worst tasks have counts instead, and how is not used. min_scores: pairs with fewer scores (best-worst: times
    judged) are left out, unless adjudicated. split: put all in one; "" deals them, where pairs that share a sentence
    with each other, or with gold that is there, go as split_way says (`options.importing.ImportOptions`).
    replace_gold: pairs of a task made from gold get the new score, but those that someone set or confirmed by hand
    after they had been annotated; False leaves gold as it is.
    In classification the merged score becomes 0 or 1, whichever is nearer; pairs half-way are left out.
    WorkbenchError: no such task, another project's task, an unknown way, split or ratio.
    """
    task = annotation_tasks.get_task(workspace, task_id)
    # As it is now: its first gold pairs may have come after the caller read it.
    project = projects.get_project(workspace, project.id)
    if task.project_id != project.id:
        raise WorkbenchError(f"Task {task.name!r} belongs to another project. Open that one.")
    if how not in WAYS:
        raise WorkbenchError(f"There is no way {how!r} to merge. Choose {', '.join(WAYS)}.")
    if min_scores < 1:
        raise WorkbenchError(f"At least 1 score is needed for a pair, not {min_scores}.")
    found = merged_scores(workspace, task, how, min_scores)
    there = gold.gold_page(workspace, project.id, gold.GoldFilter(), limit=-1)[0]
    if len(there):
        kind, scale = project.task, project.score_range
    else:
        kind, scale = _kind_of(task), _scale_of(task)
    options = ImportOptions(
        kind="pairs",
        task=kind,
        score_range=(scale.low, scale.high),
        split=split,
        split_way=split_way,
        ratios=ratios,
        seed=seed,
    )
    left_out = dict(found.left_out)
    units, items = found.scores, found.items
    if kind == "classification":
        tied = np.abs(units - 0.5) < ROUNDING
        count(left_out, "are half-way between no and yes", int(tied.sum()))
        units, items = (units[~tied] > 0.5).astype(np.float64), items[~tied]
    rows = list(_rows_of(items, units, scale, _words(task)))
    by_hand = gold_edits.decided_after(workspace, task.id)
    new, changes, notes = against_gold(rows, items, there, task, replace_gold, by_hand, left_out)
    told = [*found.notes, *notes]
    if new:
        dealt, said = deal(PairRows.of(new), there, options)
        told += [*said, *leak_notes(workspace, project, dealt)]
    else:
        dealt = PairRows.empty()
    return MergePlan(
        task, how, min_scores, options, dealt, changes, kind, scale, left_out, tuple(told)
    )


# --- rows -------------------------------------------------------------------------------------------


def _kind_of(task: AnnotationTask) -> str:
    """What gold becomes with the first pairs of a task: two levels, 0 and 1, are classes."""
    levels = {level.score for level in task.levels}
    is_binary = task.kind == "scores" and levels == {0.0, 1.0}
    return "classification" if is_binary else "regression"


def _scale_of(task: AnnotationTask) -> ScoreRange:
    """The scale of gold with the first pairs of a task; best-worst counts have one of their own."""
    return ScoreRange(0.0, 1.0) if task.kind == "best-worst" else task.score_range


def _words(task: AnnotationTask) -> tuple[Level, ...]:
    """The levels whose labels are words, so that gold keeps them beside the scores."""
    return task.levels if task.kind == "scores" and task.scale in ("binary", "custom") else ()


def _rows_of(
    items: pd.DataFrame, units: np.ndarray, scale: ScoreRange, words: tuple[Level, ...]
) -> Iterator[GoldRow]:
    """A row for each item with its score on the raw scale."""
    labels = {level.score: level.label for level in words}
    columns = (items[name].tolist() for name in ("position", "sentence1", "sentence2"))
    for position, first, second, unit in zip(*columns, units.tolist(), strict=True):
        # Twelve digits: what is an even number on the scale must not end in …0001.
        raw = min(max(float(f"{scale.to_raw(unit):.12g}"), scale.low), scale.high)
        yield GoldRow(
            line=int(position) + 1,
            sentence1=first,
            sentence2=second,
            raw_score=raw,
            score=scale.to_unit(raw),
            label=labels.get(unit, ""),
        )


# --- writing ----------------------------------------------------------------------------------------


def _add(workspace: Workspace, project: Project, plan: MergePlan) -> int:
    """Write the new pairs as one finished import; returns its run."""
    rows, task = plan.rows, plan.annotation_task
    record = ImportRecord(
        f"Annotations: {task.name}",
        to_json(plan.options),
        plan.options.seed,
        _fingerprint(plan),
    )
    told: dict[str, Any] = {
        "kind": "pairs",
        "rows_read": len(rows),
        "pairs_kept": len(rows),
        "rejected": 0,
        "splits": plan.splits,
        "preset": None,
        "files": [record.name],
        "notes": [*plan.notes, *(f"{n:,} pairs {why}." for why, n in plan.left_out.items())],
        "joint": {
            "collapsed": 0,
            "left_out": 0,
            "leaked": 0,
            "repeats": asdict(find_repeats(rows)),
            "leaks": [asdict(leak) for leak in find_leaks(rows)],
            "overview": describe_rows(rows.numbered, rows.scores),
        },
        MERGED: {
            "task_id": task.id,
            "task": task.name,
            "how": "best-worst" if task.kind == "best-worst" else plan.how,
            "min_scores": plan.min_scores,
        },
    }
    try:
        (run_id,) = gold.add_gold_rows(
            workspace,
            project.id,
            rows,
            records=[record],
            metrics=[told],
            task=plan.task,
            score_range=plan.score_range,
        )
    except KnownFile:
        raise WorkbenchError(
            f"The scores of {task.name!r} came into gold a moment ago, from another window. Nothing was added twice."
        ) from None
    return run_id


def _fingerprint(plan: MergePlan) -> str:
    """Of the task and its rows: the same merge made twice at once comes in once."""
    digest = hashlib.sha256(f"annotations of task {plan.annotation_task.id}\x1e".encode())
    for row in plan.rows:
        digest.update(f"{row.sentence1}\x1f{row.sentence2}\x1f{row.raw_score:.12g}\x1e".encode())
    return digest.hexdigest()
