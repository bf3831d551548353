"""Files in: planned first (`import_plan`), then written at once."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.leaks import Leak
from augsbert_core.importing.overview import describe_rows
from augsbert_core.importing.reading import without_cycles
from augsbert_core.importing.repeats import Repeats
from augsbert_core.importing.rows import Rejected
from augsbert_core.importing.texts import number_sentences
from augsbert_core.options import ImportOptions, to_json
from augsbert_core.progress import Report, ShouldStop, never, silent, stop_if, stretch
from augsbert_core.steps.import_plan import (
    FilePlan,
    ImportPlan,
    SourceFile,
    count_by_source,
    join_plans,
    plan_import,
    read_source,
)
from augsbert_core.storage import candidates, gold, nli, runs, sentences, triplets
from augsbert_core.storage.database import Database, Workspace, writing

__all__ = [
    "ImportReport",
    "SourceFile",
    "import_file",
    "import_files",
    "import_plan",
    "overview_of",
    "plan_import",
]


MOST_ROWS = 3_000_000
"""Writing so many rows takes about half of the time that others wait for their turn to write."""


@dataclass(frozen=True)
class FileReport:
    """What one file has brought in. rows_read = kept + rejected + collapsed, left out or leaked."""

    run_id: int
    name: str
    rows_read: int
    kept: int
    rejected: list[Rejected]
    splits: dict[str, int]


@dataclass(frozen=True)
class ImportReport:
    """What an import has brought in. overview: see `describe_rows`."""

    files: list[FileReport]
    kind: str
    collapsed: int
    left_out: int
    leaked: int
    repeats: Repeats
    leaks: list[Leak]
    overview: dict[str, Any]
    notes: list[str] = field(default_factory=list)

    @property
    def run_id(self) -> int:
        """The run of the first file."""
        return self.files[0].run_id

    @property
    def rows_read(self) -> int:
        return sum(file.rows_read for file in self.files)

    @property
    def pairs_kept(self) -> int:
        return sum(file.kept for file in self.files)

    @property
    def rejected(self) -> list[Rejected]:
        return [row for file in self.files for row in file.rejected]

    @property
    def splits(self) -> dict[str, int]:
        """Rows by split, in the order train, dev, test."""
        total: dict[str, int] = {}
        for file in self.files:
            for split, count in file.splits.items():
                total[split] = total.get(split, 0) + count
        return total


def import_file(
    workspace: Workspace,
    project_id: int,
    data: bytes,
    name: str,
    options: ImportOptions,
    report: Report = silent,
) -> ImportReport:
    """Import one file; see `import_files`."""
    return import_files(workspace, project_id, [SourceFile(name, data, options)], report)


def import_files(
    workspace: Workspace,
    project_id: int,
    sources: Sequence[SourceFile],
    report: Report = silent,
    should_stop: ShouldStop = never,
    parent_run_id: int | None = None,
) -> ImportReport:
    """Plan and write files in one transaction: all of their usable rows come in, or none.

    parent_run_id: the run of the background job that does it.

    WorkbenchError: see `plan_files`; also when the score range was not declared, a file is in the project already,
    or its scores do not fit those of the project. Stopped: nothing was written.
    """
    with without_cycles():
        plans: list[FilePlan] = []
        for number, source in enumerate(sources):
            stop_if(should_stop)
            report(0.35 * number / len(sources), f"Reading {source.name}")
            plans.append(read_source(source))
        stop_if(should_stop)
        report(0.35, "Looking for repeats and leaks")
        plan = join_plans(plans, gold.split_keys(workspace, project_id))
        report(0.45, f"Writing {plan.n_kept:,} rows")
        writing_rows = stretch(report, 0.45, 1.0)
        return import_plan(workspace, project_id, plan, writing_rows, should_stop, parent_run_id)


def import_plan(
    workspace: Workspace,
    project_id: int,
    plan: ImportPlan,
    report: Report = silent,
    should_stop: ShouldStop = never,
    parent_run_id: int | None = None,
) -> ImportReport:
    """Write what was planned in one transaction; errors as for `import_files`."""
    if plan.n_kept > MOST_ROWS:
        raise WorkbenchError(
            f"{plan.n_kept:,} rows are too many for one import: at most {MOST_ROWS:,} come in at once, because "
            "nobody else can write meanwhile. Take a part of them (limit, subsample), or import parts of the file."
        )
    refuse_known_files(workspace, project_id, plan)
    stop_if(should_stop)
    done = _write(workspace, project_id, plan, report, should_stop, parent_run_id)
    report(1.0, "Imported")
    return done


def refuse_known_files(workspace: Workspace, project_id: int, plan: ImportPlan) -> None:
    """WorkbenchError: a file is in the project already, or is there twice among those to be imported."""
    seen: set[str] = set()
    for file in plan.files:
        runs.refuse_known_file(workspace, project_id, file.content_hash)
        if file.content_hash in seen:
            raise WorkbenchError(
                f"{file.name} has the same content as another of these files. Choose it once."
            )
        seen.add(file.content_hash)


def _write(
    workspace: Workspace,
    project_id: int,
    plan: ImportPlan,
    report: Report,
    should_stop: ShouldStop,
    parent_run_id: int | None,
) -> ImportReport:
    """Store what was planned."""
    records = [
        runs.ImportRecord(
            file.name,
            to_json(file.options),
            file.options.seed,
            file.content_hash,
            file.rejected,
            parent_run_id,
        )
        for file in plan.files
    ]
    counts = count_by_source(plan)
    kept = (
        [sum(counter.values()) for counter in counts]
        if plan.kind == "pairs"
        else [len(file.texts) for file in plan.files]
    )
    overview = overview_of(plan)
    metrics = [
        {
            "kind": plan.kind,
            "rows_read": file.rows_read,
            "pairs_kept": n_kept,
            "rejected": len(file.rejected),
            "splits": {split: n for split, n in counter.items() if n},
            "preset": file.preset.name if file.preset else None,
            "files": [other.name for other in plan.files],
            "notes": [*file.notes, *plan.joint_notes],
            "joint": {
                "collapsed": plan.collapsed,
                "left_out": plan.left_out,
                "leaked": plan.leaked,
                "repeats": asdict(plan.repeats),
                "leaks": [asdict(leak) for leak in plan.leaks],
                "overview": overview,
            },
        }
        for file, n_kept, counter in zip(plan.files, kept, counts, strict=True)
    ]
    told = _Writing(plan, records, metrics, kept, report, should_stop)
    write = _write_gold if plan.kind == "pairs" else _write_others
    run_ids, kept, notes = write(workspace, project_id, told)
    return ImportReport(
        files=[
            FileReport(
                run_id,
                file.name,
                file.rows_read,
                n_kept,
                file.rejected,
                {split: n for split, n in counter.items() if n},
            )
            for run_id, file, n_kept, counter in zip(run_ids, plan.files, kept, counts, strict=True)
        ],
        kind=plan.kind,
        collapsed=plan.collapsed,
        left_out=plan.left_out,
        leaked=plan.leaked,
        repeats=plan.repeats,
        leaks=plan.leaks,
        overview=overview,
        notes=[*plan.notes, *notes],
    )


def overview_of(plan: ImportPlan) -> dict[str, Any]:
    """Histograms and repeated sentences of what would come in; see `describe_rows`."""
    if plan.kind == "pairs":
        return describe_rows(plan.rows.numbered, plan.rows.scores)
    n_texts = {"nli": 2, "unlabelled-pairs": 2, "triplets": 3}.get(plan.kind, 1)
    columns = [[row[place] for row in plan.texts] for place in range(n_texts)]
    return describe_rows(number_sentences(columns), None)


Written = tuple[list[int], list[int], list[str]]
"""The run of each file, how many rows of each were kept, and what there is to say about the rest."""


@dataclass(frozen=True)
class _Writing:
    """What is to be written. records, metrics, kept: of each file."""

    plan: ImportPlan
    records: list[runs.ImportRecord]
    metrics: list[dict[str, Any]]
    kept: list[int]
    report: Report
    should_stop: ShouldStop


def _write_gold(workspace: Workspace, project_id: int, told: _Writing) -> Written:
    plan = told.plan
    if plan.score_range is None:
        offer = f" They look like {plan.guessed_range}." if plan.guessed_range else ""
        raise WorkbenchError(
            f"Say from where to where the scores of {told.records[0].name} can run.{offer} "
            f"(Command line: --score-range {plan.guessed_range or 'LO:HI'})"
        )
    run_ids = gold.add_gold_rows(
        workspace,
        project_id,
        plan.rows,
        records=told.records,
        metrics=told.metrics,
        task=plan.task,
        score_range=plan.score_range,
        report=told.report,
        should_stop=told.should_stop,
    )
    return run_ids, told.kept, []


def _write_others(workspace: Workspace, project_id: int, told: _Writing) -> Written:
    """Rows of sentences, file by file, in one transaction."""
    files = told.plan.files
    run_ids, numbers, notes = [], [], []
    with writing(workspace) as db:
        for done, (file, record, metrics) in enumerate(
            zip(files, told.records, told.metrics, strict=True)
        ):
            stop_if(told.should_stop)
            told.report(done / len(files), f"Writing {file.name}")
            run_id, n_kept, said = ADDERS[told.plan.kind](db, project_id, file, record, metrics)
            run_ids.append(run_id)
            numbers.append(n_kept)
            notes += said
    return run_ids, numbers, notes


def _add_sentences(
    db: Database, project_id: int, file: FilePlan, record: runs.ImportRecord, told: dict[str, Any]
) -> tuple[int, int, list[str]]:
    run_id, new = sentences.add_unlabelled_sentences(
        db, project_id, [text for (text,) in file.texts], record=record, metrics=told
    )
    repeated = len(file.texts) - new
    note = (
        f"{repeated:,} rows repeat a sentence of this file or of an earlier one; each sentence is "
        "kept once."
    )
    return run_id, new, [note] if repeated else []


def _add_pairs(
    db: Database, project_id: int, file: FilePlan, record: runs.ImportRecord, told: dict[str, Any]
) -> tuple[int, int, list[str]]:
    pairs = [(pair[0], pair[1]) for pair in file.texts]
    return candidates.add_uploaded_pairs(db, project_id, pairs, record=record, metrics=told)


def _add_nli(
    db: Database, project_id: int, file: FilePlan, record: runs.ImportRecord, told: dict[str, Any]
) -> tuple[int, int, list[str]]:
    run_id = nli.add_nli_pairs(db, project_id, file.texts, file.lines, record=record, metrics=told)
    return run_id, len(file.texts), []


def _add_triplets(
    db: Database, project_id: int, file: FilePlan, record: runs.ImportRecord, told: dict[str, Any]
) -> tuple[int, int, list[str]]:
    run_id = triplets.add_triplets(
        db, project_id, file.texts, file.lines, record=record, metrics=told
    )
    return run_id, len(file.texts), []


ADDERS: dict[str, Callable[..., tuple[int, int, list[str]]]] = {
    "sentences": _add_sentences,
    "unlabelled-pairs": _add_pairs,
    "nli": _add_nli,
    "triplets": _add_triplets,
}
