"""Files of labelled texts: one text, its class, and perhaps the split it belongs to."""

from dataclasses import dataclass
from pathlib import Path

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.column_names import SPLIT_WORDS, tidy
from augsbert_core.importing.columns import find_column
from augsbert_core.importing.reading import read_table
from augsbert_core.importing.table import Table

TEXT_NAMES = ("text", "sentence", "sentence1", "question", "query", "review", "content")
LABEL_NAMES = ("label", "labels", "class", "category", "target", "score", "y")
SPLIT_NAMES = ("split", "set", "subset", "partition")


@dataclass(frozen=True)
class LabelledTexts:
    """Parallel columns. splits: "train", "dev" or "test" for each text, empty when the file names none."""

    texts: list[str]
    labels: list[str]
    splits: list[str]

    def __len__(self) -> int:
        return len(self.texts)


def read_labelled_texts(path: Path, text_column: str = "", label_column: str = "") -> LabelledTexts:
    """Read a CSV or TSV file of labelled texts.

    text_column, label_column: names or 0-based positions; "" takes a column of a usual name, else the first and the
    second. WorkbenchError: no such file or column, an empty cell, fewer than two classes.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise WorkbenchError(f"{path} cannot be read: {error.strerror}.") from None
    table = read_table(data, path.name)
    text = _position(table, text_column, TEXT_NAMES, 0)
    label = _position(table, label_column, LABEL_NAMES, 1)
    split = next(
        (i for i, name in enumerate(table.header or []) if tidy(name) in SPLIT_NAMES), None
    )
    found = LabelledTexts([], [], [])
    for row, line in zip(table.rows, table.line_numbers, strict=True):
        if len(row) <= max(text, label) or not row[text].strip() or not row[label].strip():
            raise WorkbenchError(
                f"{path.name}, line {line}: a text and a label are needed. Mend or remove the line."
            )
        found.texts.append(row[text].strip())
        found.labels.append(row[label].strip())
        if split is not None:
            found.splits.append(_split(row[split] if split < len(row) else "", path.name, line))
    _check(found, path.name)
    return found


def _position(table: Table, name: str, usual: tuple[str, ...], otherwise: int) -> int:
    if name:
        return find_column(table, name)
    header = [tidy(column) for column in table.header or []]
    return next((header.index(one) for one in usual if one in header), otherwise)


def _split(cell: str, name: str, line: int) -> str:
    word = SPLIT_WORDS.get(cell.strip().lower())
    if word is None:
        raise WorkbenchError(f"{name}, line {line}: {cell!r} is no split. Use train, dev or test.")
    return word


def _check(found: LabelledTexts, name: str) -> None:
    if len(set(found.labels)) < 2:
        raise WorkbenchError(
            f"All texts of {name} have the label {found.labels[0]!r}. Two classes or more are needed."
        )
    if found.splits and not {"train", "test"} <= set(found.splits):
        raise WorkbenchError(
            f"{name} has a split column without train or without test rows. Remove the column to cross-validate."
        )
