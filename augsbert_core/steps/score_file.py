"""An annotation task in a spreadsheet: its pairs out, the scores back in."""

import math
from pathlib import Path

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.exporting.tables import COUNT, Column
from augsbert_core.importing.reading import read_table
from augsbert_core.pairs import text_pair_key
from augsbert_core.storage import annotations
from augsbert_core.storage.annotation_tasks import get_task
from augsbert_core.storage.annotation_turns import checked_annotator, is_swapped
from augsbert_core.storage.annotations import GivenScore
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import AnnotationTask

SHEET_COLUMNS = (
    Column("item", COUNT),
    Column("sentence1"),
    Column("sentence2"),
    Column("score"),
    Column("annotator"),
)


def sheet_rows(
    workspace: Workspace, task_id: int, annotator: str
) -> list[tuple[int, str, str, None, str]]:
    """The pairs of a task that someone has not scored yet, in the order of `SHEET_COLUMNS`, to be filled in.

    The sentences are in the order that is recorded with the annotator's scores. WorkbenchError: the task is gone.
    """
    task, name = get_task(workspace, task_id), checked_annotator(annotator)
    matrix = annotations.score_matrix(workspace, task_id)
    done = np.zeros(len(matrix.items), dtype=bool)
    if name in matrix.annotators:
        done = ~np.isnan(matrix.scores[matrix.annotators.index(name)])
    left = matrix.items[~done]
    columns = (left[key].tolist() for key in ("item_id", "sentence1", "sentence2"))
    return [
        (item, second, first, None, name)
        if is_swapped(task.seed, name, item)
        else (item, first, second, None, name)
        for item, first, second in zip(*columns, strict=True)
    ]


def add_score_file(
    workspace: Workspace, task_id: int, path: Path, annotator: str = ""
) -> dict[str, int]:
    """Save the scores of a table with a header; returns how many of whom. A person's scores are all saved, or none.

    Columns: item (its number in the task) or sentence1 and sentence2 in any order; score: a label of the task's scale,
    or a number on its raw scale; annotator, where none is given here; seconds, if known. Rows without a score are passed
    over. WorkbenchError: the file cannot be read, or a row says nothing that the task knows; then nothing is saved.
    """
    task = get_task(workspace, task_id)
    try:
        data = path.expanduser().read_bytes()
    except OSError as error:
        raise WorkbenchError(f"{path} cannot be read ({error}).") from error
    table = read_table(data, path.name)
    header = [name.strip().casefold() for name in table.header or []]
    if "score" not in header or not (
        {"item"} <= set(header) or {"sentence1", "sentence2"} <= set(header)
    ):
        raise WorkbenchError(
            f"{path.name}: a header with score, and item or sentence1 and sentence2, is needed. "
            f"It has: {', '.join(table.header or []) or 'none'}."
        )
    known = _item_numbers(workspace, task_id)
    given: dict[str, list[GivenScore]] = {}
    for cells, line in zip(table.rows, table.line_numbers, strict=True):
        row = dict(zip(header, (cell.strip() for cell in cells), strict=False))
        if not row.get("score"):
            continue
        where = f"{path.name}, line {line}"
        name = annotator or row.get("annotator", "")
        if not name:
            raise WorkbenchError(
                f"{where}: no annotator. Add the column, or name one for the file."
            )
        one = GivenScore(
            _item_of(row, known, where), _score_of(task, row["score"], where), _seconds(row)
        )
        given.setdefault(name, []).append(one)
    return {
        name: annotations.add_scores(workspace, task_id, name, scores)
        for name, scores in given.items()
    }


def _item_numbers(workspace: Workspace, task_id: int) -> dict[object, int]:
    """The pairs of a task by their number and by their texts."""
    items = annotations.score_matrix(workspace, task_id).items
    columns = (items[name].tolist() for name in ("item_id", "sentence1", "sentence2"))
    found: dict[object, int] = {}
    for item_id, first, second in zip(*columns, strict=True):
        found[str(item_id)] = found[text_pair_key(first, second)] = item_id
    return found


def _item_of(row: dict[str, str], known: dict[object, int], where: str) -> int:
    by_text = text_pair_key(row.get("sentence1", ""), row.get("sentence2", ""))
    item = known.get(row["item"] if row.get("item") else by_text)
    if item is None:
        said = f"item {row['item']}" if row.get("item") else f"{by_text[0]!r} with {by_text[1]!r}"
        raise WorkbenchError(f"{where}: {said} is not in this task. Nothing was saved.")
    return item


def _score_of(task: AnnotationTask, text: str, where: str) -> float:
    """A label of the scale, or a number on it, in [0, 1]."""
    for level in task.levels:
        if level.label.casefold() == text.casefold() and task.scale != "0-1":
            return level.score
    try:
        return task.score_range.to_unit(float(text))
    except ValueError:
        labels = ", ".join(level.label for level in task.levels)
        raise WorkbenchError(
            f"{where}: {text!r} is no score of this task. Give a number on {task.score_range}, or one of {labels}. "
            "Nothing was saved."
        ) from None


def _seconds(row: dict[str, str]) -> float | None:
    try:
        value = float(row.get("seconds") or "nan")
    except ValueError:
        return None
    return value if math.isfinite(value) else None
