"""What files would bring in, worked out before anything is written."""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.columns import (
    KINDS,
    Columns,
    choose_columns,
    find_column,
    guess_columns,
)
from augsbert_core.importing.file_names import shown_name
from augsbert_core.importing.leaks import Leak, drop_leaks, find_leaks, leaks_with
from augsbert_core.importing.pair_rows import PairRows, join_rows
from augsbert_core.importing.presets import Preset, recognise
from augsbert_core.importing.reading import read_table
from augsbert_core.importing.repeats import (
    NO_REPEATS,
    RepeatedRow,
    Repeats,
    apply_repeats_policy,
    find_repeats,
    list_repeats,
)
from augsbert_core.importing.rows import (
    Rejected,
    limit_rows,
    nli_rows,
    pair_rows,
    require_rows,
    sentence_rows,
    triplet_rows,
    unlabelled_rows,
)
from augsbert_core.importing.scores import (
    guess_range,
    known_labels,
    labels_on,
    parse_scores,
    read_labels,
)
from augsbert_core.importing.splitting import split_rows
from augsbert_core.importing.subsample import subsample
from augsbert_core.importing.table import Table
from augsbert_core.importing.triplets_from_nli import triplets_from_nli
from augsbert_core.options import ImportOptions
from augsbert_core.pairs import SPLITS, ScoreRange

LISTED_REPEATS = 1_000
"""So many rows of repeated pairs are listed."""

NUMBERED_LABELS = (
    "Labels 0, 1 and 2 were read as entailment, neutral and contradiction, as in SNLI and AllNLI. If the file "
    "counts otherwise, write the labels as words."
)


@dataclass(frozen=True)
class SourceFile:
    """One file to import, with its own options."""

    name: str
    data: bytes
    options: ImportOptions


@dataclass(frozen=True)
class FilePlan:
    """How one file was understood.

    guessed_range: the scale that its scores fit, to be offered. labels: word → score, where scores are words.
    rows: gold rows; texts: the rows of the other kinds, and lines: where each one starts.
    """

    name: str
    content_hash: str
    options: ImportOptions
    table: Table
    columns: Columns
    preset: Preset | None = None
    guessed_range: ScoreRange | None = None
    labels: dict[str, float] = field(default_factory=dict)
    rows: PairRows = field(default_factory=PairRows.empty)
    texts: list[tuple[str, ...]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def rows_read(self) -> int:
        return len(self.table.rows)


@dataclass(frozen=True)
class ImportPlan:
    """What files would bring in together.

    score_range: as declared, or None; then `rows` were read with `guessed_range`, for the preview only. rows: the
    gold rows of all files with their splits. repeated: rows of pairs that occur more than once. collapsed: rows merged or dropped as repeats; left_out: rows not
    chosen by a subsample; leaked: rows left out because a later split holds their pair or sentence. leaks: what
    splits still share; held_leaks: what they share with other splits of the gold that is there already.
    """

    kind: str
    files: list[FilePlan]
    task: str = "regression"
    score_range: ScoreRange | None = None
    guessed_range: ScoreRange | None = None
    rows: PairRows = field(default_factory=PairRows.empty)
    repeats: Repeats = NO_REPEATS
    repeated: list[RepeatedRow] = field(default_factory=list)
    collapsed: int = 0
    left_out: int = 0
    leaked: int = 0
    leaks: list[Leak] = field(default_factory=list)
    held_leaks: list[Leak] = field(default_factory=list)
    joint_notes: list[str] = field(default_factory=list)

    @property
    def table(self) -> Table:
        """The first file's table."""
        return self.files[0].table

    @property
    def columns(self) -> Columns:
        """The first file's columns."""
        return self.files[0].columns

    @property
    def texts(self) -> list[tuple[str, ...]]:
        return [row for file in self.files for row in file.texts]

    @property
    def lines(self) -> list[int]:
        return [line for file in self.files for line in file.lines]

    @property
    def rejected(self) -> list[Rejected]:
        return [row for file in self.files for row in file.rejected]

    @property
    def notes(self) -> list[str]:
        return [*(note for file in self.files for note in file.notes), *self.joint_notes]

    @property
    def rows_read(self) -> int:
        return sum(file.rows_read for file in self.files)

    @property
    def n_kept(self) -> int:
        return (
            len(self.rows) if self.kind == "pairs" else sum(len(file.texts) for file in self.files)
        )

    @property
    def splits(self) -> dict[str, int]:
        """Rows by split, in the order train, dev, test."""
        counts = np.bincount(self.rows.splits, minlength=len(SPLITS)) if len(self.rows) else [0] * 3
        return {split: int(n) for split, n in zip(SPLITS, counts, strict=True) if n}


def plan_import(data: bytes, name: str, options: ImportOptions) -> ImportPlan:
    """Read one file as `options` say, guessing what they leave open; writes nothing.

    WorkbenchError: the file, the columns or every row is unusable.
    """
    return plan_files([SourceFile(name, data, options)])


def plan_files(sources: Sequence[SourceFile]) -> ImportPlan:
    """Read files that come in together: repeats, splits and leaks are looked for across all of them.

    The files are of one kind; what is not about a single file is taken from the options of the first.
    WorkbenchError: a file, its columns or every row of it is unusable.
    """
    return join_plans([read_source(source) for source in sources])


def read_source(source: SourceFile) -> FilePlan:
    """How one file is understood under its options. WorkbenchError: it cannot be used."""
    source = replace(source, name=shown_name(source.name))
    options = source.options
    if options.kind not in KINDS:
        raise WorkbenchError(f"{options.kind!r} is none of {', '.join(KINDS)}.")
    with ThreadPoolExecutor(1) as pool:
        digest = pool.submit(hashlib.sha256, source.data)
        table = read_table(source.data, source.name, options)
    return plan_table(table, source.name, digest.result().hexdigest(), options)


def plan_table(table: Table, name: str, content_hash: str, options: ImportOptions) -> FilePlan:
    """How a table is understood under its options. WorkbenchError: it cannot be used."""
    if options.subsample == "first":
        table = limit_rows(table, options.limit)
    preset = recognise(table, options.kind)
    try:
        columns = used_columns(table, options, preset)
    except WorkbenchError as error:
        raise WorkbenchError(f"{name}: {error}") from None
    if preset and preset.columns.told != columns.told:
        preset = None  # Other columns than the format's are another thing, on another scale.
    plan = FilePlan(name, content_hash, options, table, columns, preset, notes=list(table.notes))
    if preset:
        plan.notes.append(f"Recognised as {preset.title}.")
    if options.kind == "pairs":
        return _read_pairs(plan)
    texts, rejected = READERS[options.kind](table, columns)
    require_rows(texts, rejected, name)
    if options.kind == "triplets" and columns.label is not None:
        texts, made = triplets_from_nli(texts, name)
        plan.notes.extend(made)
    if columns.label is not None and _has_numbered_labels(table, columns):
        plan.notes.append(NUMBERED_LABELS)
    return replace(
        plan,
        texts=[tuple(row[1:]) for row in texts],
        lines=[row[0] for row in texts],
        rejected=rejected,
    )


Reader = Callable[[Table, Columns], tuple[Sequence[tuple], list[Rejected]]]
READERS: dict[str, Reader] = {
    "sentences": sentence_rows,
    "unlabelled-pairs": unlabelled_rows,
    "nli": nli_rows,
    "triplets": triplet_rows,
}


def _has_numbered_labels(table: Table, columns: Columns) -> bool:
    place = columns.label or 0
    return any(len(row) > place and row[place].strip() in ("0", "1", "2") for row in table.rows)


def used_columns(table: Table, options: ImportOptions, preset: Preset | None) -> Columns:
    """The columns as told, else as the format has them, else as guessed."""
    if options.columns:
        columns = choose_columns(table, options.columns, options.kind)
    else:
        columns = preset.columns if preset else guess_columns(table, options.kind)
    for what, told in (
        ("split", options.split_column),
        ("group", options.group_column),
        ("source_id", options.id_column),
    ):
        if told is not None:
            position = find_column(table, told) if told else None
            columns = replace(columns, **{what: position})  # type: ignore[arg-type]
    return columns


def _read_pairs(plan: FilePlan) -> FilePlan:
    options, table, columns = plan.options, plan.table, plan.columns
    at = columns.score or 0
    cells = [row[at] for row in table.rows if len(row) > at]
    labels = (
        read_labels(options.labels)
        or (dict(plan.preset.labels) if plan.preset else {})
        or known_labels(cells)
    )
    if options.score_range and not options.labels and not (plan.preset and plan.preset.labels):
        # A well-known word says an end of the scale, whichever scale that is.
        labels = labels_on(labels, ScoreRange(*options.score_range))
    guessed = plan.preset.score_range if plan.preset else None
    guessed = guessed or guess_range(parse_scores(cells, labels).values)
    scale = ScoreRange(*options.score_range) if options.score_range else guessed
    if scale is None:
        raise WorkbenchError(
            f"The scores in {plan.name} fit none of the usual scales. Say from where to where they can run, "
            "for example 0:10 (--score-range), or choose another score column."
        )
    rows, rejected = pair_rows(table, columns, scale, labels)
    require_rows(rows, rejected, plan.name)
    notes = list(plan.notes)
    if rows.labels is not None and columns.word is None:
        used = ", ".join(f"{word} = {labels[word]:g}" for word in sorted(labels))
        notes.append(f"Scores that are words were read as: {used}.")
    return replace(
        plan, guessed_range=guessed, labels=labels, rows=rows, rejected=rejected, notes=notes
    )


def join_plans(files: Sequence[FilePlan], held: Mapping[str, Set[str]] | None = None) -> ImportPlan:
    """What files that were read would bring in together. WorkbenchError: they do not fit together.

    held: split → `sentence_key`s of the gold that is there already, to look for leaks.
    """
    options = files[0].options
    if options.kind != "pairs":
        return ImportPlan(options.kind, list(files))
    declared = ScoreRange(*options.score_range) if options.score_range else _range_of_words(files)
    guesses = [file.guessed_range for file in files if file.guessed_range]
    guessed = (
        ScoreRange(min(guess.low for guess in guesses), max(guess.high for guess in guesses))
        if guesses
        else None
    )
    whole = [file.rows.from_source(number) for number, file in enumerate(files)]
    joined = join_rows(
        [
            split_rows(rows, file.options)[0] if file.options.split else rows
            for rows, file in zip(whole, files, strict=True)
        ]
    )
    task = _task(joined, files, declared or guessed)
    chosen, notes = subsample(joined, options)
    repeats = find_repeats(chosen)
    kept = apply_repeats_policy(chosen, options.repeats)
    if options.repeats == "mean" and declared:
        # From the mean raw score, as a file that has it would be read: equal to the last digit.
        unit = (kept.raw_scores - declared.low) / (declared.high - declared.low)
        kept = kept.with_scores(kept.raw_scores, unit, kept.labels)
    if task == "classification" and _not_binary(kept) is not None:
        raise WorkbenchError(
            "The mean of conflicting labels is neither 0 nor 1. Choose another policy for repeated "
            "pairs: keep, first or drop."
        )
    split, split_notes = split_rows(kept, replace(options, split=""))
    tight, leaked = drop_leaks(split, options.leaks, held)
    return ImportPlan(
        kind=options.kind,
        files=list(files),
        task=task,
        score_range=declared,
        guessed_range=guessed,
        rows=tight,
        repeats=repeats,
        repeated=list_repeats(chosen, LISTED_REPEATS) if repeats.n_rows_repeated else [],
        collapsed=len(chosen) - len(kept),
        left_out=len(joined) - len(chosen),
        leaked=leaked,
        leaks=find_leaks(tight),
        held_leaks=leaks_with(tight, held) if held else [],
        joint_notes=[*notes, *split_notes, *_task_notes(options, task), *_leak_notes(leaked)],
    )


def _range_of_words(files: Sequence[FilePlan]) -> ScoreRange | None:
    """0:1 when all scores are well-known words, which say what they are on that scale; else nothing."""
    for file in files:
        words = file.rows.labels if file.columns.word is None else None
        if not len(file.rows) or words is None or not all(words):
            return None
        if file.options.labels or any(not 0 <= score <= 1 for score in file.labels.values()):
            return None
    return ScoreRange(0, 1)


def _task(rows: PairRows, files: Sequence[FilePlan], scale: ScoreRange | None) -> str:
    # Scores of 0 and 1 alone on a wider scale are ratings that happen to be low, not labels.
    wrong = _not_binary(rows)
    guessed = "classification" if wrong is None and scale == ScoreRange(0, 1) else "regression"
    task = files[0].options.task or guessed
    if task == "classification" and wrong is not None:
        row = rows[wrong]
        raise WorkbenchError(
            f"Classification needs scores of 0 or 1, but line {row.line} of {files[rows.sources[wrong]].name} has "
            f"{row.raw_score:g}. Choose regression instead."
        )
    return task


def _task_notes(options: ImportOptions, task: str) -> list[str]:
    if options.task is None and task == "classification":
        return [
            "All scores are 0 or 1, so the task is classification: models are measured by F1 at a threshold chosen "
            "on dev. Choose regression if these are graded scores that happen to be low."
        ]
    return []


def _leak_notes(leaked: int) -> list[str]:
    if not leaked:
        return []
    rows = "1 row was" if leaked == 1 else f"{leaked:,} rows were"
    return [f"{rows} left out, as asked: a later split has the same pair or sentence."]


def _not_binary(rows: PairRows) -> int | None:
    """The place of the first row whose score is neither 0 nor 1."""
    wrong = np.flatnonzero((rows.scores != 0) & (rows.scores != 1))
    return int(wrong[0]) if len(wrong) else None


def count_by_source(plan: ImportPlan) -> list[Counter[str]]:
    """For each file how many of its gold rows are kept in each split."""
    counts: list[Counter[str]] = [Counter() for _ in plan.files]
    for number, counter in enumerate(counts):
        splits = plan.rows.splits[plan.rows.sources == number]
        counter.update({split: int((splits == at).sum()) for at, split in enumerate(SPLITS)})
    return counts
