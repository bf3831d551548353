"""An annotation task in a spreadsheet: its pairs out, the scores back in."""

import math
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.exporting.tables import COUNT, Column
from augsbert_core.importing.reading import read_table
from augsbert_core.pairs import text_pair_key
from augsbert_core.person_names import checked_person
from augsbert_core.scales import level_labels
from augsbert_core.storage import annotations
from augsbert_core.storage.annotation_tasks import get_task
from augsbert_core.storage.annotation_turns import is_swapped
from augsbert_core.storage.annotations import GivenScore
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import AnnotationTask

SAME = 1e-6
"""A number this near to a level was written for it: people round thirds."""

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
    task, name = get_task(workspace, task_id), checked_person(annotator)
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
    """Save the scores of a table with a header, all or none; returns how many of whom.

    Columns: item (its number in the task) or sentence1 and sentence2 in any order; score: a level of the task's scale,
    by its label or as its number; annotator, where none is given here; seconds, if known. Rows without a score are passed
    over. WorkbenchError: the file cannot be read, a column is there twice, or a row says nothing that the task knows or
    scores a pair again for the same annotator; then nothing is saved.
    """
    task = get_task(workspace, task_id)
    try:
        data = path.expanduser().read_bytes()
    except OSError as error:
        raise WorkbenchError(f"{path} cannot be read ({error}).") from error
    table = read_table(data, path.name)
    header = _checked_header(path.name, table.header or [])
    known = _item_numbers(workspace, task_id)
    given: dict[str, list[GivenScore]] = {}
    lines: dict[tuple[str, int], int] = {}
    for cells, line in zip(table.rows, table.line_numbers, strict=True):
        row = dict(zip(header, (cell.strip() for cell in cells), strict=False))
        if not row.get("score"):
            continue
        where = f"{path.name}, line {line}"
        name = _name_of(annotator or row.get("annotator", ""), where)
        item = _item_of(row, known, where)
        first = lines.setdefault((name, item), line)
        if first != line:
            raise WorkbenchError(
                f"{where}: {name} scores this pair in line {first} already. Leave one of the two. Nothing was saved."
            )
        one = GivenScore(item, _score_of(task, row["score"], where), _seconds(row))
        given.setdefault(name, []).append(one)
    return annotations.add_score_table(workspace, task_id, given)


COLUMNS = ("item", "sentence1", "sentence2", "score", "annotator", "seconds")


def _checked_header(file: str, names: Sequence[str]) -> list[str]:
    header = [name.strip().casefold() for name in names]
    for column in COLUMNS:
        places = [str(place) for place, name in enumerate(header, 1) if name == column]
        if len(places) > 1:
            raise WorkbenchError(
                f"{file}, line 1: there are {len(places)} columns named {column}, at {' and '.join(places)}. Leave one. "
                "Nothing was saved."
            )
    if "score" not in header or not (
        {"item"} <= set(header) or {"sentence1", "sentence2"} <= set(header)
    ):
        raise WorkbenchError(
            f"{file}: a header with score, and item or sentence1 and sentence2, is needed. "
            f"It has: {', '.join(names) or 'none'}."
        )
    return header


def _name_of(name: str, where: str) -> str:
    if not name:
        raise WorkbenchError(f"{where}: no annotator. Add the column, or name one for the file.")
    try:
        return checked_person(name)
    except WorkbenchError as error:
        raise WorkbenchError(f"{where}: {error} Nothing was saved.") from error


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
    """The level of the scale that a label or a number on the raw scale names, in [0, 1]."""
    labels = level_labels(task.scale, task.levels, task.score_range)
    for level, label in zip(task.levels, labels, strict=True):
        if label.casefold() == text.casefold():
            return level.score
    with suppress(ValueError):
        unit = task.score_range.to_unit(float(text))
        for level in task.levels:
            if abs(level.score - unit) < SAME:
                return level.score
    numbers = [f"{round(task.score_range.to_raw(level.score), 6):g}" for level in task.levels]
    both = [
        label if label == number else f"{label} ({number})"
        for label, number in zip(labels, numbers, strict=True)
    ]
    raise WorkbenchError(
        f"{where}: {text!r} is no score of this task. Give one of {', '.join(both)}. Nothing was saved."
    )


def _seconds(row: dict[str, str]) -> float | None:
    try:
        value = float(row.get("seconds") or "nan")
    except ValueError:
        return None
    return value if math.isfinite(value) else None
