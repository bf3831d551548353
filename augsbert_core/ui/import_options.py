"""How files are read: everything an import can be told, preset with what was found out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.explain.phrases import many
from augsbert_core.importing.table import Table
from augsbert_core.options import ImportOptions
from augsbert_core.storage.records import Project
from augsbert_core.ui.import_columns import (
    STORED,
    Roles,
    choose_roles,
    column_names,
    told_roles,
    unambiguous,
)
from augsbert_core.ui.import_plans import Guess, guess_of, table_of
from augsbert_core.ui.import_reading import (
    have_one_shape,
    readable,
    reading_controls,
    told_reading,
    with_reading,
)
from augsbert_core.ui.import_scores import ScoreColumn, choose_scores
from augsbert_core.ui.import_sources import Source
from augsbert_core.ui.import_splits import choose_rows, choose_splits, groups_of
from augsbert_core.ui.widgets import as_text


@dataclass(frozen=True)
class Read:
    """One file as its controls say. guess: what it says about itself."""

    source: Source
    reading: ImportOptions
    table: Table
    guess: Guess
    roles: Roles


@dataclass(frozen=True)
class Choices:
    """What the user has chosen so far. shown: the file that is looked at. place: where its preview belongs.
    prefix: of the keys of what goes for all files.

    options: one per source; None while something needed is missing.
    """

    shown: int
    table: Table
    titles: dict[int, str]
    place: Any
    prefix: str
    options: list[ImportOptions] | None


def choose_options(
    sources: Sequence[Source], kind: str, locked: Project | None, large: bool
) -> Choices | None:
    """Ask how to read the sources; None while one of them cannot be read at all.

    locked: the project when it holds gold pairs already, which fix the task and the score range.
    """
    with st.container(border=True):
        title = st.container(horizontal=True, vertical_alignment="center")
        shown, same = _which(sources, kind, large)
        reads = _read(sources, kind, same, shown, large)
        if reads is None:
            title.markdown("**How the file was read**", width="stretch")
            return None
        _title(title, reads[shown], large)
        fault = reads[shown].roles.fault()
        if fault:
            st.info(fault, icon=":material/info:")
        place = st.container()
    options = None
    if not fault:
        options = _choose_rest(sources, kind, reads, locked, large)
    read = reads[shown]
    prefix = _prefix(kind, sources[0])
    return Choices(shown, read.table, read.roles.titles(kind), place, prefix, options)


def _title(place: Any, read: Read, large: bool) -> None:
    with place:
        st.markdown("**How the file was read**", width="stretch")
        table = read.table
        if not large:
            columns = many(len(column_names(table)), "column")
            st.caption(f"{many(len(table.rows), 'row')} · {columns}", width="content")
        if read.guess.preset is not None:
            st.badge(
                f"Recognised as {as_text(read.guess.preset.title.partition(' (')[0])}",
                icon=":material/verified:",
                color="green",
            )


def _which(sources: Sequence[Source], kind: str, large: bool) -> tuple[int, bool]:
    """The file that is looked at, and whether the choices for the first one go for all."""
    if len(sources) == 1:
        return 0, True
    first = told_reading(_prefix(kind, sources[0]), kind)
    alike = have_one_shape(readable(sources, [first] * len(sources), large))
    names = [source.name for source in sources]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        shown = st.selectbox(
            "File",
            range(len(sources)),
            format_func=names.__getitem__,
            key=f"{kind}-shown-{sources[0].key}",
            width=320,
            persist_state="session",
            help="Its columns, preview and report are shown below.",
        )
        if not alike:
            st.caption(
                "The files differ in their columns: look at each, and say how it is to be read."
            )
            return shown, False
        same = st.toggle(
            f"Same for all {len(sources)} files",
            value=True,
            key=f"{kind}-same-{sources[0].key}",
            help="Their columns agree. Switch it off to read each file in its own way.",
            persist_state="session",
        )
    return shown, same


def _prefix(kind: str, source: Source) -> str:
    return f"{kind}-{source.key}"


def _read(
    sources: Sequence[Source], kind: str, same: bool, shown: int, large: bool
) -> list[Read] | None:
    """Draw the controls of the file that is looked at, and read all of them; None when one cannot be read."""
    prefixes = [_prefix(kind, sources[0] if same else source) for source in sources]
    readings = [told_reading(prefix, kind) for prefix in prefixes]
    tables: list[Table | None] = []
    errors: list[WorkbenchError] = []
    for source, reading in zip(sources, readings, strict=True):
        try:
            tables.append(table_of(source, reading, large, len(sources)))
        except WorkbenchError as error:
            tables.append(None)
            errors.append(error)
    # Drawn even when nothing can be read: a wrong choice must be there to be taken back.
    reading_controls(tables[shown], readings[shown], prefixes[shown])
    for told in errors:
        st.error(as_text(str(told)), icon=":material/error:")
    whole = [table for table in tables if table is not None]
    if errors:
        return None
    guesses = [guess_of(table, kind) for table in whole]
    drawn = 0 if same else shown
    roles = choose_roles(kind, whole[drawn], guesses[drawn], prefixes[drawn])
    return [
        Read(
            source,
            reading,
            table,
            guess,
            roles if same or number == shown else told_roles(kind, table, guess, prefixes[number]),
        )
        for number, (source, reading, table, guess) in enumerate(
            zip(sources, readings, whole, guesses, strict=True)
        )
    ]


def _choose_rest(
    sources: Sequence[Source],
    kind: str,
    reads: Sequence[Read],
    locked: Project | None,
    large: bool,
) -> list[ImportOptions] | None:
    """Scores, splits and which rows, for all files together."""
    for read in reads:
        if fault := read.roles.fault():
            st.info(f"{as_text(read.source.name)}: {fault}", icon=":material/info:")
            return None
    prefix = _prefix(kind, sources[0])
    options = ImportOptions(kind=kind)
    if kind != "pairs":
        with st.expander("Which rows", icon=":material/filter_list:"):
            options = choose_rows(options, False, prefix)
        return [_of(read, options, uses_split=False) for read in reads]
    groups = groups_of(
        [read.table for read in reads], [read.roles.optional.get("group") for read in reads]
    )
    left, right = st.columns(2, gap="medium")
    with left, st.container(border=True, height="stretch"):
        st.markdown("**Scores**")
        scores = choose_scores(
            [ScoreColumn(read.table, read.roles.needed[2] or 0, read.guess) for read in reads],
            locked,
            prefix,
        )
    with right, st.container(border=True, height="stretch"):
        st.markdown("**Splits**")
        splits = choose_splits(sources, options, _has_split(reads), Counter(groups), prefix)
    with st.expander(
        "Which rows come in: how many, and what happens to repeats", icon=":material/filter_list:"
    ):
        options = choose_rows(splits.options, bool(groups), prefix)
    if scores.score_range is None or not splits.ready:
        return None
    options = replace(
        options,
        score_range=(scores.score_range.low, scores.score_range.high),
        task=scores.task,
        labels=scores.labels,
    )
    return [
        replace(
            _of(read, options, uses_split=splits.uses_column),
            split=splits.by_source.get(read.source.key, ""),
        )
        for read in reads
    ]


def _has_split(reads: Sequence[Read]) -> bool:
    return any(read.roles.optional.get("split") is not None for read in reads)


def _of(read: Read, options: ImportOptions, uses_split: bool) -> ImportOptions:
    """The options of one file: those of all, and how it is read."""
    needed = [at for at in read.roles.needed if at is not None]
    optional = dict(read.roles.optional)
    if not uses_split and "split" in optional:
        # "" leaves a split column that the file may have unread.
        optional["split"] = None
    named = {
        STORED[what]: "" if at is None else unambiguous(read.table, [at])[0]
        for what, at in optional.items()
    }
    return replace(
        with_reading(options, read.reading),
        columns=unambiguous(read.table, needed),
        split_column=named.get("split_column"),
        group_column=named.get("group_column"),
        id_column=named.get("id_column"),
    )
