"""Annotation tasks with scores that are written down as a table, for tests that read them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from augsbert_core.options import TaskOptions, to_json
from augsbert_core.scales import Level, scale_levels
from augsbert_core.storage import annotation_tasks, annotations, best_worst_answers, runs, sentences
from augsbert_core.storage.annotation_tasks import ItemRows
from augsbert_core.storage.database import Workspace, reading, writing
from augsbert_core.storage.records import AnnotationTask, Project

NONE = None
"""No score of this annotator for this pair."""


def made_up_pairs(count: int) -> list[tuple[str, str]]:
    """So many pairs without a common sentence."""
    return [(f"A cat sleeps on sofa {n}.", f"On sofa {n} there is a cat.") for n in range(count)]


def sentence_ids(
    workspace: Workspace, project: Project, pairs: Sequence[tuple[str, str]]
) -> tuple[np.ndarray, np.ndarray]:
    """The ids of the sentences of pairs, which are written where they are new."""
    from augsbert_core.importing.texts import number_sentences

    columns = [[pair[0] for pair in pairs], [pair[1] for pair in pairs]]
    known = number_sentences(columns)
    with writing(workspace) as db:
        ids = sentences.number_to_id(db, project.id, known)
    first, second = ids[known.places]
    return first, second


def add_task(
    workspace: Workspace,
    project: Project,
    pairs: Sequence[tuple[str, str]],
    *,
    scale: str = "0-5",
    levels: Sequence[Level] = (),
    tuples: np.ndarray | None = None,
    **told: Any,
) -> AnnotationTask:
    """A task of these pairs, scored by nobody yet. told: more of `TaskOptions`."""
    source_ids = told.pop("source_pair_ids", None)
    suggestions = told.pop("suggestions", None)
    options = TaskOptions(
        kind="scores" if tuples is None else "best-worst", scale=scale, levels=tuple(levels), **told
    )
    first, second = sentence_ids(workspace, project, pairs)
    run_id = runs.add_run(workspace, project.id, "annotate", "Task", to_json(options), options.seed)
    task_id = annotation_tasks.create_task(
        workspace,
        project.id,
        run_id,
        options,
        scale_levels(scale, levels),
        ItemRows(first, second, source_ids, suggestions),
        tuples,
    )
    return annotation_tasks.get_task(workspace, task_id)


def item_ids(workspace: Workspace, task: AnnotationTask) -> list[int]:
    """The pairs of a task, in their order."""
    return [int(item) for item in annotations.score_matrix(workspace, task.id).items["item_id"]]


def give(
    workspace: Workspace,
    task: AnnotationTask,
    scores: Mapping[str, Sequence[float | None]],
    *,
    seen: Sequence[str] = (),
) -> None:
    """Save the raw scores of each annotator, pair by pair. seen: who looked at the suggestions."""
    items = item_ids(workspace, task)
    for name, own in scores.items():
        for item, raw in zip(items, own, strict=True):
            if raw is not None:
                annotations.save(
                    workspace,
                    task.id,
                    item,
                    name,
                    score=task.score_range.to_unit(raw),
                    suggestion_seen=name in seen,
                )


def answer_all(
    workspace: Workspace, task: AnnotationTask, judge: str, truth: Mapping[int, float]
) -> None:
    """Answer every tuple that is left for a judge, by what is true of each item."""
    shown = best_worst_answers.next_tuple(workspace, task.id, judge)
    while shown is not None:
        ordered = sorted((pair.item_id for pair in shown.pairs), key=truth.__getitem__)
        shown = best_worst_answers.save_answer(
            workspace, task.id, shown.id, judge, ordered[-1], ordered[0]
        )


def gold_ids(workspace: Workspace, project: Project) -> list[int]:
    """The ids of all gold pairs."""
    with reading(workspace) as db:
        return [
            int(row[0])
            for row in db.execute(
                "SELECT id FROM gold_pair WHERE project_id = ? ORDER BY id", [project.id]
            )
        ]
