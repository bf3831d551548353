"""What an import has found and done: lines for people, one record for programs."""

import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from augsbert_core.errors import WorkbenchError
from augsbert_core.exporting.files import check_new_file, expanded, rejected_csv, to_csv
from augsbert_core.importing.columns import KINDS
from augsbert_core.steps.import_plan import count_by_source

if TYPE_CHECKING:
    from augsbert_core.importing.leaks import Leak
    from augsbert_core.importing.rows import Rejected
    from augsbert_core.steps.import_data import ImportReport
    from augsbert_core.steps.import_plan import FilePlan, ImportPlan

SHOWN_LINES = 5
"""Lines of rejected rows that are named for each reason."""
SHOWN_ROWS = 5
"""Rows that a dry run shows to people; programs get PREVIEW_ROWS."""
PREVIEW_ROWS = 20
CELL_WIDTH = 48
DELIMITER_NAMES = {
    "\t": "tab-separated", ",": "comma-separated", ";": "semicolon-separated", "|": "pipe-separated",
    "": "one sentence per line",
}  # fmt: skip
FORMAT_NAMES = {
    "json": "JSON", "parquet": "Parquet", "excel": "Excel", "dataset": "Hugging Face dataset",
}  # fmt: skip


# --- for programs ----------------------------------------------------------------------------------


def as_record(
    plan: "ImportPlan", done: "ImportReport | None", project: str | None
) -> dict[str, Any]:
    """All that is known about an import, as JSON holds it; `done` is None after a dry run."""
    from augsbert_core.steps.import_data import overview_of

    files = _file_records(plan, done)
    return {
        "project": project,
        "dry_run": done is None,
        "kind": plan.kind,
        "task": plan.task if plan.kind == "pairs" else None,
        "score_range": str(plan.score_range) if plan.score_range else None,
        "guessed_range": str(plan.guessed_range) if plan.guessed_range else None,
        "run_id": done.run_id if done else None,
        "files": files,
        "rows_read": plan.rows_read,
        "pairs_kept": done.pairs_kept if done else plan.n_kept,
        "rejected": len(plan.rejected),
        "rejected_by_reason": [
            {
                "reason": reason,
                "rows": len(rows),
                "lines": [{"file": name, "line": row.line} for name, row in rows],
            }
            for reason, rows in _by_reason(plan).items()
        ],
        "rejected_rows": [
            {"file": file.name, "line": row.line, "reason": row.reason, "text": row.text}
            for file in plan.files
            for row in file.rejected
        ],
        "collapsed": plan.collapsed,
        "left_out": plan.left_out,
        "leaked": plan.leaked,
        "repeated_rows": plan.repeats.n_rows_repeated,
        "conflicting_pairs": plan.repeats.n_conflicting,
        "repeats": asdict(plan.repeats),
        "repeated_pairs": [
            {**asdict(row), "source": plan.files[row.source].name} for row in plan.repeated
        ],
        "splits": plan.splits,
        "leaks": [asdict(leak) for leak in plan.leaks],
        "overview": done.overview if done else overview_of(plan),
        "preview": [] if done else preview(plan, PREVIEW_ROWS),
        "notes": done.notes if done else plan.notes,
    }


def _file_records(plan: "ImportPlan", done: "ImportReport | None") -> list[dict[str, Any]]:
    kept, counts = _kept(plan, done), _splits(plan)
    return [
        {
            "name": file.name,
            "run_id": done.files[number].run_id if done else None,
            "format": file.table.format,
            "encoding": file.table.encoding,
            "delimiter": file.table.delimiter,
            "header": file.table.header,
            "quoting": file.table.quoting,
            "sheet": file.table.sheet,
            "preset": file.preset.name if file.preset else None,
            "columns": _columns(file),
            "labels": file.labels,
            "rows_read": file.rows_read,
            "kept": kept[number],
            "rejected": len(file.rejected),
            "splits": {split: n for split, n in counts[number].items() if n},
            "content_hash": file.content_hash,
            "notes": file.notes,
        }
        for number, file in enumerate(plan.files)
    ]


def _kept(plan: "ImportPlan", done: "ImportReport | None") -> list[int]:
    if done:
        return [file.kept for file in done.files]
    if plan.kind == "pairs":
        return [counter.total() for counter in count_by_source(plan)]
    return [len(file.texts) for file in plan.files]


def _splits(plan: "ImportPlan") -> Sequence[Counter[str]]:
    return count_by_source(plan) if plan.kind == "pairs" else [Counter() for _ in plan.files]


def preview(plan: "ImportPlan", n_rows: int) -> list[dict[str, Any]]:
    """The first rows that would come in, by the names of their parts."""
    if plan.kind == "pairs":
        return [
            {
                "sentence1": row.sentence1,
                "sentence2": row.sentence2,
                "score": row.raw_score,
                "split": row.split,
                "group": row.group,
            }
            for row in islice(plan.rows, n_rows)
        ]
    names = [name.replace(" ", "") for name in KINDS[plan.kind]]
    return [dict(zip(names, row, strict=False)) for row in plan.texts[:n_rows]]


def _by_reason(plan: "ImportPlan") -> dict[str, list[tuple[str, "Rejected"]]]:
    """File and row of all rejected rows by what is wrong with them, the commonest fault first."""
    found: dict[str, list[tuple[str, Rejected]]] = {}
    for file in plan.files:
        for row in file.rejected:
            found.setdefault(row.reason.partition(": ")[0], []).append((file.name, row))
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def json_bytes(record: dict[str, Any]) -> bytes:
    """The record as a JSON file."""
    from augsbert_core.worker import plain

    return (json.dumps(plain(record), indent=2, ensure_ascii=False) + "\n").encode("utf-8")


def rejects_csv(plan: "ImportPlan") -> bytes:
    """The rejected rows as spreadsheet-safe CSV; a column tells files apart where there are several."""
    if len(plan.files) == 1:
        return rejected_csv(plan.rejected)
    return to_csv(
        ("file", "line", "reason", "text"),
        (
            (file.name, row.line, row.reason, row.text)
            for file in plan.files
            for row in file.rejected
        ),
    )


# --- for people ------------------------------------------------------------------------------------


def lines_for_people(
    plan: "ImportPlan", done: "ImportReport | None", project: str | None, *, hint: bool = True
) -> list[str]:
    """What was understood, what came in (or would), what did not and why, and what to do about it.

    hint: say how to get all rejected rows.
    """
    lines = [line for file in plan.files for line in understood(file)]
    kept = done.pairs_kept if done else plan.n_kept
    name = project or "Dry run"
    counts = f"{plan.rows_read:,} rows read, {kept:,} kept, {len(plan.rejected):,} rejected"
    for count, what in (
        (plan.left_out, "not chosen"),
        (plan.collapsed, "collapsed"),
        (plan.leaked, "left out as leaks"),
    ):
        counts += f", {count:,} {what}" if count else ""
    lines.append(f"{name}: {counts}.")
    if plan.splits:
        lines.append(", ".join(f"{split} {count:,}" for split, count in plan.splits.items()))
    lines += plan.joint_notes
    known = set(plan.notes)
    lines += [note for note in (done.notes if done else ()) if note not in known]
    lines += _repeat_lines(plan)
    lines += [leak_line(leak) for leak in plan.leaks]
    lines += [held_leak_line(leak) for leak in plan.held_leaks]
    lines += _reject_lines(plan)
    if plan.rejected and hint:
        lines.append("  --rejects FILE writes them all; with --dry-run, before anything comes in.")
    if done is None:
        lines += _dry_lines(plan)
    return [_printable(line) for line in lines]


def understood(file: "FilePlan") -> list[str]:
    """How a file was read: format, columns, and the notes about it."""
    table = file.table
    if table.format == "text":
        header = "header" if table.header is not None else "no header"
        how = [DELIMITER_NAMES.get(table.delimiter, f"separated by {table.delimiter!r}"), header]
        how += ["quoted cells"] if table.quoting else []
        how += [table.encoding] if table.encoding else []
    else:
        how = [FORMAT_NAMES.get(table.format, table.format)]
    if table.sheet:
        how.append(f"of it {table.sheet}")
    columns = ", ".join(f"{part} = {name}" for part, name in _columns(file).items())
    return [f"{file.name}: {', '.join(how)}", f"  {columns}", *(f"  {note}" for note in file.notes)]


def _columns(file: "FilePlan") -> dict[str, str]:
    """The name (or "column 3", counted from 0) of the column of each part of a row."""
    columns, header = file.columns, file.table.header
    parts = dict(zip(KINDS[file.options.kind], columns.told, strict=False))
    parts |= {"split": columns.split, "group": columns.group, "id": columns.source_id}
    return {
        part: header[at] if header and at < len(header) else f"column {at}"
        for part, at in parts.items()
        if at is not None
    }


def _repeat_lines(plan: "ImportPlan") -> list[str]:
    repeats, policy = plan.repeats, plan.files[0].options.repeats
    lines = []
    if repeats.n_rows_repeated:
        done = (
            "all are kept (--repeats mean, first or drop collapses them)"
            if policy == "keep"
            else f"--repeats {policy} took {_count(plan.collapsed, 'row', 'rows')} out"
        )
        lines.append(
            f"{_count(repeats.n_rows_repeated, 'row repeats', 'rows repeat')} an earlier pair, "
            f"{_count(repeats.n_conflicting, 'pair has', 'pairs have')} differing scores: {done}."
        )
    if repeats.n_identical:
        lines.append(f"{_count(repeats.n_identical, 'row is', 'rows are')} a sentence with itself.")
    return lines


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def held_leak_line(leak: "Leak") -> str:
    """What new rows share with another split of the gold that is there already."""
    rows = _count(leak.rows_by_sentence, "new row has", "new rows have")
    return (
        f"{rows} a sentence that the project's gold has in the other of {leak.earlier} and {leak.later} "
        f"(--leaks sentences leaves those of {leak.earlier} out)."
    )


def leak_line(leak: "Leak") -> str:
    """What two splits share, and the options that leave it out."""
    cures = [f"--leaks sentences leaves {leak.rows_by_sentence:,} rows of {leak.earlier} out"]
    if leak.pairs:
        cures.insert(0, f"--leaks pairs {leak.rows_by_pair:,}")
    return (
        f"{leak.earlier} and {leak.later} share {_count(leak.pairs, 'pair', 'pairs')} and "
        f"{_count(leak.sentences, 'sentence', 'sentences')} ({', '.join(reversed(cures))})."
    )


def _reject_lines(plan: "ImportPlan") -> list[str]:
    several = len(plan.files) > 1
    lines = []
    for reason, rows in _by_reason(plan).items():
        places = []
        for name, row in rows[:SHOWN_LINES]:
            value = row.reason.partition(": ")[2]
            place = f"{name} line {row.line}" if several else f"line {row.line}"
            places.append(f"{place} ({value})" if value else place)
        more = f" and {len(rows) - SHOWN_LINES:,} more" if len(rows) > SHOWN_LINES else ""
        lines.append(f"  {len(rows):,} rejected. {reason}: {', '.join(places)}{more}")
    return lines


def _dry_lines(plan: "ImportPlan") -> list[str]:
    lines = ["The first rows:"]
    for row in preview(plan, SHOWN_ROWS):
        cells = [_cell(value) for value in row.values() if value not in ("", None)]
        lines.append(f"  {' | '.join(cells)}")
    if plan.kind == "pairs" and plan.score_range is None:
        lines.append(
            f"The scores look like {plan.guessed_range}. An import needs to be told: "
            f"--score-range {plan.guessed_range}"
        )
    return [*lines, "Nothing was written."]


def _cell(value: object) -> str:
    text = f"{value:g}" if isinstance(value, float) else " ".join(str(value).split())
    return text if len(text) <= CELL_WIDTH else text[: CELL_WIDTH - 1] + "…"


def _printable(line: str) -> str:
    """Without the line ends of a file's cells, and without codes that a terminal would obey."""
    return "".join(c if c.isprintable() else "\ufffd" for c in line)


# --- the files that are asked for ------------------------------------------------------------------


def new_files(rejects: Path | None, report: Path | None) -> tuple[Path | None, Path | None]:
    """The files to write after the import, with ~ read. WorkbenchError, before it: one of them cannot be written."""
    targets = [expanded(target) if target is not None else None for target in (rejects, report)]
    places = []
    for target in targets:
        if target is not None:
            check_new_file(target)
            places.append(Path(os.path.normcase(os.path.realpath(target))))
    if len(places) == 2:
        first, second = places
        if first == second:
            raise WorkbenchError(f"--rejects and --report both name {report}. Name two files.")
        if first in second.parents or second in first.parents:
            raise WorkbenchError(
                f"Of --rejects {rejects} and --report {report} one would be a folder for the other. Name two files."
            )
    return targets[0], targets[1]
