"""Carry a project to another workspace: one archive out, the same project in.

What goes: gold, unlabelled sentences, candidates, silver with its corrections, NLI pairs, triplets, finished runs
with their options and results, measurements. What stays: models, logs, uploads, jobs.
"""

import shutil
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import partial
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from augsbert_core import __version__
from augsbert_core.cards import data_card
from augsbert_core.errors import WorkbenchError
from augsbert_core.exporting.archive_files import (
    DATABASE,
    Manifest,
    Source,
    read_manifest,
    unpack_database,
    unpacked_size,
    write_archive,
)
from augsbert_core.exporting.files import check_new_file, size_text
from augsbert_core.options import ImportOptions, from_json
from augsbert_core.progress import Report, ShouldStop, never, silent, stretch
from augsbert_core.steps.card_facts import KINDS, silver_facts
from augsbert_core.steps.export import recipe_text
from augsbert_core.storage import archive_rows, archives, gold, projects, runs, silver_sets
from augsbert_core.storage.archive_folders import working_folder
from augsbert_core.storage.archive_source import check_migrations
from augsbert_core.storage.database import Workspace, now

WHAT = """# {name}

A project of the AugSBERT Workbench {version}, exported on {date}.

Open it in another workspace with `augsbert import-project FILE.zip`, or on the Start page with
"Import a project".

- `project.db`: an SQLite database with the sentences, gold pairs, candidates, silver pairs with their corrections
  and who made them, NLI pairs, triplets, finished runs and measurements
- `recipes/`: what each training was told, as TOML
- `cards/`: how gold and each silver set came about
- `manifest.json`: version, counts and the SHA-256 of every file

Trained models, logs, uploaded files and jobs are not in it: runs show their results, but their models stay where they
were trained. Folders of models and files are left out of names and options.

{counts}
"""


@dataclass(frozen=True)
class Imported:
    """What an import of a project has made."""

    project_id: int
    name: str
    counts: dict[str, int]


def export_project(
    workspace: Workspace, project_id: int, target: Path, report: Report = silent
) -> Manifest:
    """Write a project into a new .zip archive, whole or not at all, as it is at one moment.

    WorkbenchError: there is no such project, or the target is there already or cannot be written.
    """
    check_new_file(target)
    name = projects.get_project(workspace, project_id).name
    with working_folder(workspace, ".export-") as folder:
        copy = Workspace(folder)
        archives.copy_project_out(workspace, project_id, copy.database, stretch(report, 0.0, 0.5))
        report(0.5, "Writing cards and recipes")
        counts = _counts(copy, project_id)
        manifest = Manifest(name, __version__, now(), archives.applied_migrations(), counts)
        members: dict[str, Path | bytes] = {
            "README.md": _readme(manifest).encode("utf-8"),
            **_recipes(copy, project_id),
            **_cards(copy, project_id),
        }
        archives.fold_up(copy.database)
        report(0.6, "Packing the archive")
        write_archive(target, manifest, {**members, DATABASE: copy.database})
    report(1.0, "Done")
    return manifest


def _counts(copy: Workspace, project_id: int) -> dict[str, int]:
    counts = asdict(projects.count_project(copy, project_id))
    gold_pairs = sum(counts.pop(split) for split in ("train", "dev", "test"))
    n_runs = len(runs.list_runs(copy, project_id, state=None))
    return {"gold_pairs": gold_pairs, **counts, "runs": n_runs}


def count_lines(manifest: Manifest) -> list[str]:
    """What an archive holds, in words: "1,234 gold pairs"."""
    return [
        f"{number:,} {_noun(name, number)}"
        for name, number in manifest.counts.items()
        if number and str(name).isprintable()
    ]


def _noun(name: str, number: int) -> str:
    """ "cross_encoders" as people write it, for one or for many."""
    words = name.replace("augmented_bi_encoders", "bi-encoders_trained_with_silver")
    words = words.replace("cross_encoder", "cross-encoder").replace("bi_encoder", "bi-encoder")
    words = words.replace("nli", "NLI").replace("_", " ")
    if number != 1:
        return words
    head, _, rest = words.partition(" trained")
    return f"{head.removesuffix('s')}{' trained' if rest else ''}{rest}"


def _readme(manifest: Manifest) -> str:
    counts = "\n".join(f"- {line}" for line in count_lines(manifest))
    return WHAT.format(
        name=manifest.project,
        version=manifest.workbench_version,
        date=manifest.created_at[:10],
        counts=counts,
    )


def _recipes(copy: Workspace, project_id: int) -> dict[str, bytes]:
    trained = [run for step in KINDS for run in runs.list_runs(copy, project_id, step)]
    return {
        f"recipes/run-{run.id}.toml": recipe_text(copy, run.id).encode("utf-8") for run in trained
    }


def _cards(copy: Workspace, project_id: int) -> dict[str, bytes]:
    cards = {"cards/gold.md": _gold_card(copy, project_id).encode("utf-8")}
    for found in silver_sets.list_silver_sets(copy, project_id):
        if found.n_pairs:
            card = data_card(silver_facts(copy, found.id))
            cards[f"cards/silver-{found.id}.md"] = card.encode("utf-8")
    return cards


def _gold_card(copy: Workspace, project_id: int) -> str:
    """Counts and scale of the gold pairs; no sentence."""
    project = projects.get_project(copy, project_id)
    lines = [
        f"# Gold pairs of {project.name}",
        "",
        f"Scored by people from {project.score_range}; in `project.db` from 0 to 1, the raw score beside it.",
        "",
        "| Split | Pairs | Mean score |",
        "|---|---:|---:|",
    ]
    for split in ("train", "dev", "test"):
        scores = gold.gold_scores(copy, project_id, [split])
        mean = f"{project.score_range.to_raw(float(scores.mean())):.3g}" if len(scores) else ""
        lines.append(f"| {split} | {len(scores):,} | {mean} |")
    lines += ["", "Language, domain and licence of the sentences are not recorded here.", ""]
    return "\n".join(lines)


# --- in --------------------------------------------------------------------------------------------


def look_into(source: Source) -> Manifest:
    """What an archive says of itself, before anything is unpacked or written.

    WorkbenchError: it is no project archive, damaged, made to do harm, or of a newer version.
    """
    manifest = read_manifest(source)
    check_migrations(manifest.migrations)
    return manifest


def import_project(
    workspace: Workspace,
    source: Source,
    name: str | None = None,
    report: Report = silent,
    should_stop: ShouldStop = never,
) -> Imported:
    """Bring the project of an archive into the workspace, all of it or nothing.

    It gets new numbers throughout. name: in place of its own, to which " (2)" is added when it is taken.
    WorkbenchError: the archive cannot be trusted or is of a newer version, or the name is taken.
    """
    look_into(source)
    _check_room(workspace, unpacked_size(source))
    with working_folder(workspace, ".import-") as folder:
        path = folder / DATABASE
        unpack_database(source, path, stretch(report, 0.0, 0.3), should_stop)
        report(0.3, "Checking the database")
        project_id = archive_rows.copy_project_in(
            workspace, path, check_run, name, stretch(report, 0.3, 1.0), should_stop
        )
    project = projects.get_project(workspace, project_id)
    return Imported(project_id, project.name, _counts(workspace, project_id))


def _check_room(workspace: Workspace, n_bytes: int) -> None:
    """The unpacked database and its rows in the workspace must both fit."""
    free = shutil.disk_usage(workspace.home).free
    if 2 * n_bytes > free:
        raise WorkbenchError(
            f"The project takes about {size_text(2 * n_bytes)} while it is imported, and {workspace.home} has "
            f"{size_text(free)} left. Make room first."
        )


def check_run(step: str, options: str) -> None:
    """WorkbenchError: there is no such step, or it cannot be told this (JSON)."""
    from augsbert_core.steps import STEPS

    known = ImportOptions if step == "import" else getattr(STEPS.get(step), "options_class", None)
    if known is None:
        raise WorkbenchError(
            f"The archive has a run of step {step[:40]!r}, which this workbench does not know. Update it."
        )
    try:
        told: Any = from_json(known, options)
        fits = _fits(told, known)
    except (TypeError, ValueError, AttributeError):
        fits = False
    if not fits:
        raise WorkbenchError(
            f"The archive has a run of step {step!r} with options that this workbench cannot read. Nothing was "
            "imported."
        )
    if step == "seed-study":
        check_run(f"train-{told.model}", told.recipe)
    elif step == "import-files":
        for file in told.files:
            check_run("import", file.options)


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value is of a type as options declare them."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, part) for part in parts)
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if parts[-1] is Ellipsis:
            return all(map(partial(_fits, hint=parts[0]), value))
        return len(value) == len(parts) and all(map(_fits, value, parts))
    if is_dataclass(hint):
        types = get_type_hints(hint)
        return isinstance(value, hint) and all(  # type: ignore[arg-type]
            _fits(getattr(value, one.name), types[one.name]) for one in fields(hint)
        )
    if hint in (None, NoneType):
        return value is None
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, hint)
