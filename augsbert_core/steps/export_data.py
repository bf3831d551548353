"""Take gold pairs, silver sets and human corrections out of the workbench as files."""

from collections.abc import Generator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from augsbert_core.cards import data_card
from augsbert_core.errors import WorkbenchError
from augsbert_core.exporting.files import (
    Entry,
    write_csv,
    write_folder,
    write_json_lines,
    write_zip,
)
from augsbert_core.exporting.formats import refuse_rows, write_table
from augsbert_core.exporting.tables import KINDS, kind_of
from augsbert_core.steps.card_facts import labeler_name, silver_facts, strategy_name
from augsbert_core.storage import correction_export, gold_export, projects, silver_exports
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.gold import GoldFilter
from augsbert_core.storage.silver_filters import SilverFilter
from augsbert_core.storage.silver_pages import count_silver
from augsbert_core.storage.silver_sets import get_silver_set

CARD = "README.md"

BOM = "\ufeff"
"""Excel reads UTF-8 only with a byte order mark."""

ALL_GOLD = GoldFilter()

SILVER_KINDS = (*KINDS, "zip")
"""What a silver set can be written as; "zip": CSV and JSON lines with a data card, in a zip file or a folder."""


def export_gold(
    workspace: Workspace,
    project_id: int,
    target: Path,
    *,
    chosen: GoldFilter = ALL_GOLD,
    kind: str | None = None,
    safe: bool | None = None,
) -> int:
    """Write the gold pairs that a filter lets through to a new file or folder; returns their number.

    kind: "csv", "tsv", "jsonl", "parquet", "xlsx" or "dataset" (a folder for `datasets.load_from_disk`); None goes
    by the ending of the target. safe: see `write_table`. WorkbenchError: the target is there already, or the kind
    is unknown.
    """
    projects.get_project(workspace, project_id)
    kind = kind_of(target, kind)
    if kind == "xlsx":
        refuse_rows(kind, gold_export.count_gold(workspace, project_id, chosen))
    with closing(gold_export.gold_export_rows(workspace, project_id, chosen)) as rows:
        return write_table(target, gold_export.COLUMNS, rows, kind, safe)


def export_silver(
    workspace: Workspace,
    set_id: int,
    target: Path,
    *,
    chosen: SilverFilter | None = None,
    kind: str | None = None,
    safe: bool | None = None,
) -> int:
    """Write the pairs of a silver set that a filter lets through (None: all); returns their number.

    kind: as of `export_gold`, or "zip" for CSV and JSON lines with a data card: a zip file, or such a folder when
    the target does not end in .zip. None goes by the ending of the target; no ending is a folder with a card.
    WorkbenchError: there is no such set, the target is there already, or the kind is unknown.
    """
    get_silver_set(workspace, set_id)
    if kind is None and not target.suffix:
        kind = "zip"
    kind = kind_of(target, kind, SILVER_KINDS)
    n_pairs = count_silver(workspace, set_id, chosen or SilverFilter())
    if kind == "zip":
        if safe is not None:
            raise WorkbenchError(
                "The archive holds a CSV that is escaped and JSON lines that are not. "
                "Leave the switch out, or choose another format."
            )
        write = write_zip if target.suffix.lower() == ".zip" else write_folder
        write(silver_entries(workspace, set_id, chosen), target)
        return n_pairs
    refuse_rows(kind, n_pairs)
    columns = silver_exports.silver_columns(workspace, set_id)
    with closing(_silver_rows(workspace, set_id, chosen)) as rows:
        return write_table(target, columns, rows, kind, safe)


def _silver_rows(
    workspace: Workspace, set_id: int, chosen: SilverFilter | None
) -> Generator[tuple[Any, ...]]:
    found = get_silver_set(workspace, set_id)
    scale = projects.get_project(workspace, found.project_id).score_range
    return silver_exports.silver_export_rows(
        workspace,
        set_id,
        scale,
        strategy=strategy_name(found),
        labeler=labeler_name(found.labeler),
        chosen=chosen,
    )


def silver_entries(
    workspace: Workspace, set_id: int, chosen: SilverFilter | None = None
) -> list[Entry]:
    """The files of an exported silver set: card, CSV for spreadsheets, JSON lines for programs.

    The card is about the whole set, and says how many of its pairs are in the files.
    """
    n_pairs = count_silver(workspace, set_id, chosen or SilverFilter())
    facts = silver_facts(workspace, set_id)
    card = data_card(facts)
    if n_pairs != facts.n_pairs:
        heading, blank, rest = card.partition("\n\n## Columns\n")
        card = (
            f"{heading}\n\nThe files beside this card hold {n_pairs:,} of them, chosen with a filter; "
            f"the counts below are those of the whole set.{blank}{rest}"
        )
    return [
        Entry(CARD, card.encode("utf-8")),
        Entry("silver.csv", partial(write_silver, workspace, set_id, "csv", chosen=chosen)),
        Entry("silver.jsonl", partial(write_silver, workspace, set_id, "jsonl", chosen=chosen)),
    ]


def write_silver(
    workspace: Workspace,
    set_id: int,
    kind: str,
    file: TextIO,
    *,
    chosen: SilverFilter | None = None,
) -> None:
    """Write the pairs of a set to an open text file as "csv", safe for spreadsheets, or "jsonl"."""
    header = [column.name for column in silver_exports.silver_columns(workspace, set_id)]
    with closing(_silver_rows(workspace, set_id, chosen)) as rows:
        if kind == "csv":
            file.write(BOM)
            write_csv(file, header, rows)
        else:
            write_json_lines(file, header, rows)


def export_corrections(
    workspace: Workspace,
    project_id: int,
    target: Path,
    *,
    annotator: str = "",
    since: str = "",
    kind: str | None = None,
    safe: bool | None = None,
) -> int:
    """Write every human decision on the silver pairs of a project, one a row, oldest first; returns their number.

    annotator, since: see `correction_rows`. kind, safe: as of `export_gold`. WorkbenchError: the target is there
    already, the kind is unknown, or since is no day or moment.
    """
    scale = projects.get_project(workspace, project_id).score_range
    correction_export.moment(since)
    rows = correction_export.correction_rows(
        workspace, project_id, scale, annotator=annotator, since=since
    )
    with closing(rows):
        return write_table(target, correction_export.COLUMNS, rows, kind, safe)
