"""The popovers that take gold pairs, silver pairs, corrections and the comparison table away as files."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from augsbert_core.explain.phrases import many
from augsbert_core.exporting.formats import EXCEL_ROWS, write_table
from augsbert_core.exporting.tables import KINDS, typed_columns
from augsbert_core.steps.compare import Comparison, Grouped
from augsbert_core.steps.export_data import (
    SILVER_KINDS,
    export_corrections,
    export_gold,
    export_silver,
)
from augsbert_core.storage.correction_export import count_corrections
from augsbert_core.storage.gold import GoldFilter
from augsbert_core.storage.records import Project, SilverSet
from augsbert_core.storage.silver_filters import SilverFilter
from augsbert_core.storage.silver_pages import count_silver
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.compare_view import table_rows
from augsbert_core.ui.downloads import made_or_told, show_told

LARGE = 300_000
"""From so many rows on, the command line is the better way: the browser's copy is held in memory."""

COMPARE_KINDS = ("csv", "jsonl", "parquet")

SAFE_HELP = (
    "Texts that begin with = + - @ or a tab get a ' before them, so that a spreadsheet shows them and runs "
    "nothing. Switch it off for programs: they then get every text as it is."
)

Write = Callable[[Path, str, bool | None], object]
"""Writes a file: path, kind, whether it is safe for spreadsheets."""


def gold_export(bench: Bench, project: Project, chosen: GoldFilter, n_pairs: int) -> None:
    """Download the gold pairs that the table shows."""
    key = f"export-gold-{project.id}"
    popover = _popover(key)
    if not popover.open:
        return

    def write(path: Path, kind: str, safe: bool | None) -> None:
        export_gold(bench.workspace, project.id, path, chosen=chosen, kind=kind, safe=safe)

    with popover:
        st.caption(_how_many(n_pairs, "gold pair", chosen != GoldFilter()))
        _download(key, "gold", tuple(KINDS), n_pairs, write)
        if n_pairs >= LARGE:
            _by_command(f"gold --project '{project.name}' --output gold.csv")


def silver_export(bench: Bench, project: Project, found: SilverSet, chosen: SilverFilter) -> None:
    """Download the silver pairs that the table shows, and what people have changed."""
    key = f"export-silver-{found.id}"
    popover = _popover(key)
    if not popover.open:
        return

    def write(path: Path, kind: str, safe: bool | None) -> None:
        export_silver(bench.workspace, found.id, path, chosen=chosen, kind=kind, safe=safe)

    with popover:
        n_pairs = count_silver(bench.workspace, found.id, chosen)
        st.caption(_how_many(n_pairs, "silver pair", chosen != SilverFilter()))
        _download(key, f"silver-set-{found.id}", SILVER_KINDS, n_pairs, write)
        if n_pairs >= LARGE:
            _by_command(f"silver --silver {found.id} --output silver.csv")
        _corrections(bench, project)


def _corrections(bench: Bench, project: Project) -> None:
    """The log of human decisions, of all silver sets of the project."""
    n_edits = count_corrections(bench.workspace, project.id)
    if not n_edits:
        return

    def write(path: Path, kind: str, safe: bool | None) -> None:
        export_corrections(bench.workspace, project.id, path, kind=kind, safe=safe)

    st.divider()
    st.markdown("**Corrections**")
    st.caption(
        f"{many(n_edits, 'decision')} of people in this project: the score before and after, who and when."
    )
    _download(f"export-corrections-{project.id}", "corrections", tuple(KINDS), n_edits, write)


def compare_export(table: Comparison, found: Grouped) -> None:
    """Download the comparison table."""
    key = "export-compare"
    popover = _popover(key)
    if not popover.open:
        return
    with popover:
        st.caption("Every figure of the table, scores from 0 to 1.")
        write = partial(write_comparison, table, found)
        _download(key, f"compare-{table.split}", COMPARE_KINDS, len(found.rows), write)


def write_comparison(
    table: Comparison, found: Grouped, path: Path, kind: str, safe: bool | None = None
) -> int:
    """Write the comparison table to a new file."""
    names, rows = table_rows(table, found)
    return write_table(path, typed_columns(names, rows), rows, kind, safe)


def _popover(key: str) -> Any:
    """Open, it computes; closed, it costs nothing."""
    return st.popover(
        "Export",
        icon=":material/download:",
        key=key,
        on_change="rerun",
        help="Takes the rows that the table shows, filters included, out of the workbench as a file.",
    )


def _how_many(n_pairs: int, what: str, is_filtered: bool) -> str:
    which = "With the filters of the table" if is_filtered else "All of them"
    return f"{which}: {many(n_pairs, what)}."


ARCHIVE = "CSV and JSON lines with a data card (.zip)"


def _kind_label(kind: str) -> str:
    return ARCHIVE if kind == "zip" else f"{KINDS[kind].label}, {KINDS[kind].what_for}"


def _download(key: str, stem: str, kinds: Sequence[str], n_rows: int, write: Write) -> None:
    """Choose a format, and download a file that is made when the button is pressed."""
    kind = st.selectbox(
        "Format",
        kinds,
        format_func=_kind_label,
        key=f"{key}-kind",
        help="The rows are the same in each. For another program take TSV, JSON lines or Parquet, which keep "
        "every character.",
    )
    safe = None
    if kind in KINDS:
        # A switch of its own for each format, since each has its usual place.
        safe = st.toggle(
            "Safe for spreadsheets", KINDS[kind].safe, key=f"{key}-safe-{kind}", help=SAFE_HELP
        )
    zipped = kind in ("zip", "dataset")
    name = f"{stem}-dataset.zip" if kind == "dataset" else f"{stem}.{kind}"
    told: list[str] = []
    too_many = kind == "xlsx" and n_rows > EXCEL_ROWS

    def made(path: Path) -> object:
        return write(path, kind, safe)

    st.download_button(
        "Download",
        partial(made_or_told, made, name, told),
        file_name=name,
        mime="application/zip" if zipped else KINDS[kind].mime,
        icon=":material/download:",
        type="primary",
        on_click="ignore",
        key=f"{key}-{kind}-{safe}",
        width="stretch",
        disabled=too_many,
        help=f"An Excel sheet holds {EXCEL_ROWS:,} rows. Choose another format."
        if too_many
        else f"{name}, made when you press.",
    )
    show_told(told)


def _by_command(rest: str) -> None:
    st.caption(f"That is much for a browser. `augsbert export {rest}` writes it to the disk.")
