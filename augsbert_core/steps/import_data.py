"""Files in: gold pairs, unlabelled text, NLI pairs or triplets, planned first, then written at once."""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing import rows as tables
from augsbert_core.importing.rows import Columns, GoldRow, Rejected, Repeats, Table
from augsbert_core.options import ImportOptions, to_json
from augsbert_core.pairs import SPLITS, ScoreRange
from augsbert_core.progress import Report, silent
from augsbert_core.storage import candidates, gold, nli, runs, sentences, triplets
from augsbert_core.storage.database import Workspace

KEPT_REJECTS = 1_000
"""So many rejected rows are stored with an import; the report of the import itself lists all."""

NUMBERED_LABELS = (
    "Labels 0, 1 and 2 were read as entailment, neutral and contradiction, as in SNLI and AllNLI. If the file "
    "counts otherwise, write the labels as words."
)

NO_REPEATS = Repeats(0, 0, 0, 0, [])


@dataclass(frozen=True)
class ImportPlan:
    """What a file would bring in, before anything is written.

    score_range: as declared, or None; then `rows` were read with `guessed_range`, for the preview only.
    rows: gold rows with their split; texts: the rows of the other kinds, and lines: where each one starts.
    """

    kind: str
    table: Table
    columns: Columns
    score_range: ScoreRange | None
    guessed_range: ScoreRange | None
    task: str
    rows: list[GoldRow] = field(default_factory=list)
    texts: list[tuple[str, ...]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    repeats: Repeats = NO_REPEATS
    collapsed: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def rows_read(self) -> int:
        return len(self.table.rows)

    @property
    def splits(self) -> dict[str, int]:
        """Rows by split, in the order train, dev, test."""
        counts = Counter(row.split for row in self.rows)
        return {split: counts[split] for split in SPLITS if counts[split]}


@dataclass(frozen=True)
class ImportReport:
    """What an import has brought in. rows_read = pairs_kept + rejected + collapsed + left out (in notes)."""

    run_id: int
    rows_read: int
    pairs_kept: int
    rejected: list[Rejected]
    collapsed: int
    repeats: Repeats
    splits: dict[str, int]
    notes: list[str]


def plan_import(data: bytes, name: str, options: ImportOptions) -> ImportPlan:
    """Read a file as `options` say, guessing what they leave open; writes nothing.

    WorkbenchError: the file, the columns or every row is unusable.
    """
    if options.kind not in tables.KINDS:
        raise WorkbenchError(f"{options.kind!r} is none of {', '.join(tables.KINDS)}.")
    table = tables.limit_rows(tables.read_table(data, name), options.limit)
    columns = _columns(table, options)
    if options.kind == "pairs":
        return _plan_gold(table, columns, name, options)
    texts, rejected = READERS[options.kind](table, columns)
    tables.require_rows(texts, rejected, name)
    notes = list(table.notes)
    if options.kind == "nli" and _has_numbered_labels(table, columns):
        notes.append(NUMBERED_LABELS)
    return ImportPlan(
        kind=options.kind,
        table=table,
        columns=columns,
        score_range=None,
        guessed_range=None,
        task="regression",
        texts=[tuple(row[1:]) for row in texts],
        lines=[row[0] for row in texts],
        rejected=rejected,
        notes=notes,
    )


Reader = Callable[[Table, Columns], tuple[Sequence[tuple], list[Rejected]]]
READERS: dict[str, Reader] = {
    "sentences": tables.sentence_rows,
    "unlabelled-pairs": tables.unlabelled_rows,
    "nli": tables.nli_rows,
    "triplets": tables.triplet_rows,
}


def _has_numbered_labels(table: Table, columns: Columns) -> bool:
    place = columns.label or 0
    return any(len(row) > place and row[place].strip() in ("0", "1", "2") for row in table.rows)


def _columns(table: Table, options: ImportOptions) -> Columns:
    columns = (
        tables.choose_columns(table, options.columns, options.kind)
        if options.columns
        else tables.guess_columns(table, options.kind)
    )
    if options.split_column is not None:
        position = tables.find_column(table, options.split_column) if options.split_column else None
        columns = replace(columns, split=position)
    if options.group_column is not None:
        columns = replace(columns, group=tables.find_column(table, options.group_column))
    return columns


def _plan_gold(table: Table, columns: Columns, name: str, options: ImportOptions) -> ImportPlan:
    declared = ScoreRange(*options.score_range) if options.score_range else None
    guessed = tables.guess_score_range(table, columns)
    scale = declared or guessed
    if scale is None:
        raise WorkbenchError(
            f"The scores in {name} fit none of the usual scales. Say from where to where they can run, "
            "for example 0:10 (--score-range), or choose another score column."
        )
    rows, rejected = tables.gold_rows(table, columns, scale)
    tables.require_rows(rows, rejected, name)
    # Scores of 0 and 1 alone on a wider scale are ratings that happen to be low, not labels.
    guessed_task = tables.guess_task(rows) if scale == ScoreRange(0, 1) else "regression"
    task = options.task or guessed_task
    if task == "classification" and (wrong := _not_binary(rows)):
        raise WorkbenchError(
            f"Classification needs scores of 0 or 1, but line {wrong.line} of {name} has "
            f"{wrong.raw_score:g}. Choose regression instead."
        )
    repeats = tables.find_repeats(
        [(row.sentence1, row.sentence2) for row in rows], [row.raw_score for row in rows]
    )
    kept = tables.apply_repeats_policy(rows, options.repeats)
    if task == "classification" and _not_binary(kept):
        raise WorkbenchError(
            "The mean of conflicting labels is neither 0 nor 1. Choose another policy for repeated "
            "pairs: keep, first or drop."
        )
    kept, note = _with_splits(kept, options)
    return ImportPlan(
        kind=options.kind,
        table=table,
        columns=columns,
        score_range=declared,
        guessed_range=guessed,
        task=task,
        rows=kept,
        rejected=rejected,
        repeats=repeats,
        collapsed=len(rows) - len(kept),
        notes=[*table.notes, *([note] if note else [])],
    )


def _not_binary(rows: Sequence[GoldRow]) -> GoldRow | None:
    return next((row for row in rows if row.score not in (0.0, 1.0)), None)


def _with_splits(
    rows: Sequence[GoldRow], options: ImportOptions
) -> tuple[list[GoldRow], str | None]:
    """Every row with its split: the one asked for, the file's own, or a random one by ratio."""
    if options.split:
        if options.split not in SPLITS:
            raise WorkbenchError(f"{options.split!r} is not a split; choose train, dev or test.")
        return [replace(row, split=options.split) for row in rows], None
    open_rows = [row for row in rows if not row.split]
    if not open_rows:
        return list(rows), None
    keys = [tables.text_pair_key(row.sentence1, row.sentence2) for row in open_rows]
    drawn, note = tables.split_by_ratio(keys, options.ratios, options.seed)
    splits = iter(drawn)
    return [row if row.split else replace(row, split=next(splits)) for row in rows], note


def import_file(
    workspace: Workspace,
    project_id: int,
    data: bytes,
    name: str,
    options: ImportOptions,
    report: Report = silent,
) -> ImportReport:
    """Plan and write one import: all of its usable rows, or none.

    WorkbenchError: see `plan_import`; also when the score range was not declared, the same file is in
    the project already, or its scores do not fit those of the project.
    """
    report(0.0, f"Reading {name}")
    plan = plan_import(data, name, options)
    content_hash = hashlib.sha256(data).hexdigest()
    if (earlier := runs.find_import(workspace, project_id, content_hash)) is not None:
        raise WorkbenchError(
            f"This file is in the project already (imported as {earlier.name!r}, {earlier.created_at[:10]}). "
            "Remove that import on the Gold page to import it in another way."
        )
    record = runs.ImportRecord(name, to_json(options), options.seed, content_hash)
    metrics = {
        "kind": plan.kind,
        "rows_read": plan.rows_read,
        "pairs_kept": len(plan.rows or plan.texts),
        "rejected": len(plan.rejected),
        "rejects": [[row.line, row.reason, row.text] for row in plan.rejected[:KEPT_REJECTS]],
        "collapsed": plan.collapsed,
        "splits": plan.splits,
    }
    report(0.5, f"Writing {len(plan.rows or plan.texts):,} rows")
    run_id, kept, notes = _write(workspace, project_id, plan, record, metrics)
    report(1.0, "Imported")
    return ImportReport(
        run_id=run_id,
        rows_read=plan.rows_read,
        pairs_kept=kept,
        rejected=plan.rejected,
        collapsed=plan.collapsed,
        repeats=plan.repeats,
        splits=plan.splits,
        notes=[*plan.notes, *notes],
    )


def _write(
    workspace: Workspace,
    project_id: int,
    plan: ImportPlan,
    record: runs.ImportRecord,
    metrics: dict,
) -> tuple[int, int, list[str]]:
    """Store what was planned: (run id, rows kept, what there is to say about the rest)."""
    if plan.kind == "pairs":
        run_id = _write_gold(workspace, project_id, plan, record, metrics)
        return run_id, len(plan.rows), []
    if plan.kind == "unlabelled-pairs":
        pairs = [(pair[0], pair[1]) for pair in plan.texts]
        return candidates.add_uploaded_pairs(
            workspace, project_id, pairs, record=record, metrics=metrics
        )
    if plan.kind in ADDERS:
        add = ADDERS[plan.kind]
        run_id = add(workspace, project_id, plan.texts, plan.lines, record=record, metrics=metrics)
        return run_id, len(plan.texts), []
    run_id, new = sentences.add_unlabelled_sentences(
        workspace, project_id, [text for (text,) in plan.texts], record=record, metrics=metrics
    )
    repeated = len(plan.texts) - new
    note = (
        f"{repeated:,} rows repeat a sentence of this file or of an earlier one; each sentence is "
        "kept once."
    )
    return run_id, new, [note] if repeated else []


ADDERS: dict[str, Callable[..., int]] = {
    "nli": nli.add_nli_pairs,
    "triplets": triplets.add_triplets,
}


def _write_gold(
    workspace: Workspace,
    project_id: int,
    plan: ImportPlan,
    record: runs.ImportRecord,
    metrics: dict,
) -> int:
    if plan.score_range is None:
        offer = f" They look like {plan.guessed_range}." if plan.guessed_range else ""
        raise WorkbenchError(
            f"Say from where to where the scores of {record.name} can run.{offer} "
            f"(Command line: --score-range {plan.guessed_range or 'LO:HI'})"
        )
    return gold.add_gold_rows(
        workspace,
        project_id,
        plan.rows,
        record=record,
        metrics=metrics,
        task=plan.task,
        score_range=plan.score_range,
    )
