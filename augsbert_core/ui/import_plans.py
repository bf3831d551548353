"""Tables and plans of what is to be imported: read once per change, large files by their head alone."""

import hashlib
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.columns import Columns, guess_columns
from augsbert_core.importing.presets import Preset, recognise
from augsbert_core.importing.reading import read_table
from augsbert_core.importing.scores import guess_range, known_labels, parse_scores
from augsbert_core.importing.table import Table
from augsbert_core.options import ImportOptions, to_json
from augsbert_core.pairs import ScoreRange
from augsbert_core.steps.import_plan import FilePlan, ImportPlan, join_plans, plan_table
from augsbert_core.ui.import_sources import Source, once

LARGE_BYTES = 10_000_000
"""Together; above this the page reads the beginnings alone, and the import is a background job."""

HEAD_BYTES = 1_000_000
HEAD_ROWS = 10_000
PACKED = (".gz", ".zip", ".xlsx", ".parquet")
UNPACKED_SHARE = 6
JOINT = {
    field: getattr(ImportOptions(), field)
    for field in (
        "split", "split_way", "ratios", "group_splits", "leaks", "repeats", "seed", "task", "subsample",
    )
}  # fmt: skip
"""What is about all files together, or about rows that were read: a change of it reads no row again."""


@dataclass(frozen=True)
class Guess:
    """What a table says about itself. columns: None when it says nothing."""

    preset: Preset | None
    columns: Columns | None


def is_large(sources: Sequence[Source]) -> bool:
    """Whether these files are too much to be read at every click. Packed files count for what they may hold."""
    sizes = (
        len(source.data) * (UNPACKED_SHARE if source.name.lower().endswith(PACKED) else 1)
        for source in sources
    )
    return sum(sizes) > LARGE_BYTES


def table_of(source: Source, options: ImportOptions, large: bool, files: int = 1) -> Table:
    """The source as a table, its head alone when large. WorkbenchError when it is none."""
    told = (
        options.encoding,
        options.delimiter,
        options.header,
        options.quoting,
        options.sheet,
        options.kind,
    )

    def read() -> Table:
        if not large:
            return read_table(source.data, source.name, options)
        table = read_table(source.data, source.name, options, head_bytes=HEAD_BYTES)
        # Only text can be read from its head alone; of other formats the first rows are as many.
        rows, lines = table.rows[:HEAD_ROWS], table.line_numbers[:HEAD_ROWS]
        return replace(table, rows=rows, line_numbers=lines)

    return once(f"table {source.key} {told} {large}", read, files)


def guess_of(table: Table, kind: str) -> Guess:
    """The format that a table is recognised as, and its columns."""
    preset = recognise(table, kind)
    if preset is not None:
        return Guess(preset, preset.columns)
    try:
        return Guess(None, guess_columns(table, kind))
    except WorkbenchError:
        return Guess(None, None)


def plan_of(
    sources: Sequence[Source],
    options: Sequence[ImportOptions],
    large: bool,
    gold: str = "",
    read_held: Callable[[], Mapping[str, Set[str]]] = dict,
) -> ImportPlan:
    """What the sources would bring in under these options, each under its own.

    read_held: reads split → `sentence_key`s of the gold that is there already; called only when the plan has to be
    made. gold: a text that changes whenever that gold does. WorkbenchError: a file, its columns or every row of it is unusable.
    """
    files = len(sources)
    key = "plan " + " ".join(
        f"{source.key} {to_json(told)}" for source, told in zip(sources, options, strict=True)
    )
    return once(
        f"{key} {large} {gold}",
        lambda: join_plans(
            [
                _file_plan(source, told, large, files)
                for source, told in zip(sources, options, strict=True)
            ],
            read_held(),
        ),
        files,
    )


def _file_plan(source: Source, options: ImportOptions, large: bool, files: int) -> FilePlan:
    alone = replace(options, **JOINT)
    if options.subsample != "first":
        alone = replace(alone, limit=None)

    def read() -> FilePlan:
        table = table_of(source, options, large, files)
        digest = "" if large else hashlib.sha256(source.data).hexdigest()
        return plan_table(table, source.name, digest, alone)

    return replace(
        once(f"file {source.key} {to_json(alone)} {large}", read, files), options=options
    )


@dataclass(frozen=True)
class ScoreFacts:
    """What a column of scores holds. guessed: the usual scale that it fits. is_binary: all that can be read are 0 or 1."""

    guessed: ScoreRange | None
    is_binary: bool


def score_facts(table: Table, at: int, labels: Mapping[str, float]) -> ScoreFacts:
    """What the scores in a column look like, words read by `labels` or, without any, as well-known ones."""
    cells = [row[at] for row in table.rows if len(row) > at]
    values = parse_scores(cells, labels or known_labels(cells)).values
    finite = values[np.isfinite(values)]
    is_binary = bool(len(finite)) and bool(((finite == 0) | (finite == 1)).all())
    return ScoreFacts(guess_range(values), is_binary)
