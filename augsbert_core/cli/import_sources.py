"""The files that an import names: from disk, from an archive, a dataset folder, the hub, or standard input."""

import os
import sys
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.file_names import split_in_name
from augsbert_core.options import ImportOptions
from augsbert_core.progress import Report
from augsbert_core.steps.import_plan import (
    FilePlan,
    ImportPlan,
    SourceFile,
    join_plans,
    read_source,
)

STANDARD_INPUT = "-"
HUB = "hub:"
NamedData = tuple[str, bytes]


@dataclass(frozen=True)
class Given:
    """The files to be read. told: what was unpacked or joined, in plain sentences. sheet: still to be looked for
    inside of each file."""

    files: list[NamedData]
    told: list[str]
    sheet: str | None = None


def open_files(names: Sequence[str], sheet: str | None) -> Given:
    """Every file behind these names: archives unpacked, files that belong together line by line joined.

    sheet: the one part of an archive or dataset that is wanted; None takes all. WorkbenchError: a file cannot be
    read, or there is nothing in it.
    """
    from augsbert_core.importing.parallel import join_parallel_files

    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise WorkbenchError(f"{twice} is named twice. Name each file once.")
    told: list[str] = []
    opened: list[NamedData] = []
    for name in names:
        files = _open(name, _shown(name, names), sheet)
        if len(files) > 1:
            told.append(f"{name} holds {len(files)} files: {_listed(files)}.")
        opened += files
    joined = join_parallel_files(opened) if len(opened) > 1 else opened
    known = {name for name, _ in opened}
    told += [f"Read together, line by line: {name}." for name, _ in joined if name not in known]
    in_files = not any(_is_dataset(name) for name in names)
    return Given(joined, told, sheet if in_files else None)


def _listed(files: Sequence[NamedData]) -> str:
    more = f" and {len(files) - 6} more" if len(files) > 6 else ""
    return ", ".join(name for name, _ in files[:6]) + more


def _shown(name: str, names: Sequence[str]) -> str:
    """A file's name without its folders, where no other has the same."""
    short = PurePath(name).name
    return short if [PurePath(other).name for other in names].count(short) == 1 else name


def _is_dataset(name: str) -> bool:
    return name.startswith(HUB) or (name != STANDARD_INPUT and os.path.isdir(_path(name)))


def _path(name: str) -> Path:
    from augsbert_core.exporting.files import expanded

    return expanded(Path(name))


def _open(name: str, shown: str, sheet: str | None) -> list[NamedData]:
    if name == STANDARD_INPUT:
        return [("standard input", sys.stdin.buffer.read())]
    if name.startswith(HUB):
        return _from_hub(name.removeprefix(HUB), sheet)
    path = _path(name)
    if os.path.isdir(path):
        return _from_folder(path, sheet)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise WorkbenchError(f"{name} cannot be read ({error.strerror}).") from error
    except ValueError as error:  # NUL, or half a character
        raise WorkbenchError(f"{name!r} is no name of a file ({error}).") from error
    return [(shown, data)] if sheet is not None else _unpacked(shown, data)


def _unpacked(name: str, data: bytes) -> list[NamedData]:
    """The files of an archive of several; one file by whatever name is read as it came, so that it is known again."""
    from augsbert_core.importing.containers import expand

    files = expand(data, name)
    return files if len(files) > 1 else [(name, data)]


def _from_hub(name: str, sheet: str | None) -> list[NamedData]:
    from augsbert_core.importing.dataset_hub import hub_dataset_files

    repo, _, revision = name.partition("@")
    return _part(hub_dataset_files(repo, revision or None), name, sheet)


def _from_folder(path: Path, sheet: str | None) -> list[NamedData]:
    from augsbert_core.importing.dataset_folders import read_dataset_folder

    # Files are named after their folder, and "." is no name.
    return _part(read_dataset_folder(path.absolute()), str(path), sheet)


def _part(files: list[NamedData], name: str, sheet: str | None) -> list[NamedData]:
    """The split that was asked for, or all of them."""
    if sheet is None:
        return files
    found = [file for file in files if sheet in (file[0], PurePath(file[0]).stem)]
    if not found:
        raise WorkbenchError(f"{name} has no split or file {sheet!r}, but {_listed(files)}.")
    return found


# --- planning --------------------------------------------------------------------------------------


def plan_given(
    given: Given,
    options: ImportOptions,
    report: Report,
    held: Mapping[str, Set[str]],
    *,
    by_name: bool,
) -> ImportPlan:
    """What the files would bring in together. by_name: file names may say which split a file is.

    held: split → `sentence_key`s of the gold that is there already.
    """
    options = replace(options, sheet=given.sheet)
    plans = []
    for number, (name, data) in enumerate(given.files):
        report(0.75 * number / len(given.files), f"Reading {name}")
        plans.append(read_source(SourceFile(name, data, options)))
    report(0.75, "Looking for repeats and leaks")
    if by_name and options.kind == "pairs" and len(plans) > 1:
        plans = split_by_name(plans)
    plan = join_plans(plans, held)
    return replace(plan, joint_notes=[*given.told, *plan.joint_notes])


def split_by_name(plans: Sequence[FilePlan]) -> list[FilePlan]:
    """Each file as a whole in the split that its name speaks of; files with a split column keep their own."""
    found = []
    for plan in plans:
        split = split_in_name(plan.name)
        if plan.columns.split is None and not plan.options.split and split:
            note = f"All its rows are {split}, as the file's name says."
            told = replace(plan.options, split=split)
            plan = replace(plan, options=told, notes=[*plan.notes, note])
        found.append(plan)
    return found
