"""How files are read: columns, score range, task, split and repeats, preset with what was guessed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.columns import KINDS, Columns, choose_columns, guess_columns
from augsbert_core.importing.scores import ParsedScores, guess_range, known_labels, parse_scores
from augsbert_core.importing.table import Table
from augsbert_core.options import ImportOptions
from augsbert_core.pairs import SPLITS, TASKS, ScoreRange
from augsbert_core.storage.records import Project
from augsbert_core.ui.import_sources import Source, split_in_name, table_of
from augsbert_core.ui.widgets import as_text

REPEATS = {
    "keep": "Keep every row",
    "mean": "Keep one, with the mean score",
    "first": "Keep the first",
    "drop": "Leave the pair out",
}
SPLIT_WAYS = {"column": "By a column", "whole": "Whole file", "random": "At random"}


@dataclass(frozen=True)
class Choices:
    """Options common to all sources, and the split of each source where whole files are one split."""

    options: ImportOptions
    splits: dict[str, str]

    def of(self, source: Source) -> ImportOptions:
        return replace(self.options, split=self.splits.get(source.key, ""))


def choose_options(sources: Sequence[Source], kind: str, locked: Project | None) -> Choices | None:
    """Ask how to read the sources; None while something needed is missing.

    locked: the project when it holds gold pairs already, which fix the task and the score range.
    """
    table = table_of(sources[0])
    prefix = f"{kind}-{sources[0].key}"
    guess = _guess(table, kind)
    names = column_names(table)
    with st.container(border=True):
        st.markdown("**Columns**")
        columns = _columns(kind, names, guess, prefix)
    if columns is None:
        return None
    options = ImportOptions(kind=kind, columns=tuple(str(position) for position in columns))
    options = replace(options, columns=_unambiguous(table, columns))
    if kind != "pairs":
        return Choices(options, {})
    with st.container(border=True):
        left, right = st.columns(2, gap="medium")
        with left:
            chosen = choose_columns(table, options.columns or (), kind)
            scale = _score_range(sources, chosen, locked, prefix)
            task = _task(table, chosen, scale, locked, prefix)
            repeats = st.selectbox(
                "A pair that occurs more than once",
                list(REPEATS),
                format_func=REPEATS.__getitem__,
                key=f"{prefix}-repeats",
                help="In either direction. Keeping every row is how the STS Benchmark is used.",
            )
        with right:
            split = _split(sources, names, chosen, options, prefix)
    if scale is None or split is None:
        return None
    options, splits = split
    options = replace(
        options, score_range=(scale.low, scale.high), task=task, repeats=repeats or "keep"
    )
    return Choices(options, splits)


def _guess(table: Table, kind: str) -> Columns | None:
    try:
        return guess_columns(table, kind)
    except WorkbenchError:
        return None


def column_names(table: Table) -> list[str]:
    """What each column is called on the screen: its name, or its number and the first cell."""
    width = max((len(row) for row in table.rows[:1000]), default=0)
    header, first = table.header or [], table.rows[0]
    names = []
    for position in range(max(width, len(header))):
        example = first[position] if position < len(first) else ""
        named = header[position] if position < len(header) and header[position] else ""
        names.append(named or f"Column {position + 1} ({example[:24]})")
    return names


def _unambiguous(table: Table, positions: Sequence[int]) -> tuple[str, ...]:
    """Header names where they name one column only, else positions: right for every file with the header."""
    lowered = [name.lower() for name in table.header or []]
    return tuple(
        table.header[position]
        if table.header
        and position < len(lowered)
        and lowered.count(lowered[position]) == 1
        and lowered[position]
        else str(position)
        for position in positions
    )


def _columns(
    kind: str, names: list[str], guess: Columns | None, prefix: str
) -> tuple[int, ...] | None:
    """A selector per needed column, preset with the guess."""
    guessed = guess.told if guess else (None, None, None)
    chosen: list[int | None] = []
    for cell, what, preset in zip(st.columns(len(KINDS[kind])), KINDS[kind], guessed, strict=False):
        chosen.append(
            cell.selectbox(
                what.capitalize(),
                range(len(names)),
                index=preset,
                format_func=names.__getitem__,
                placeholder="Choose",
                key=f"{prefix}-{what}",
            )
        )
    positions = tuple(position for position in chosen if position is not None)
    if len(positions) < len(chosen):
        st.info("The columns were not recognised. Choose them above.", icon=":material/info:")
        return None
    if len(set(positions)) < len(positions):
        st.error("One column is chosen twice.", icon=":material/error:")
        return None
    return positions


def _score_range(
    sources: Sequence[Source], columns: Columns, locked: Project | None, prefix: str
) -> ScoreRange | None:
    if locked is not None:
        scale = locked.score_range
        st.markdown(
            f"Scores run from **{scale.low:g} to {scale.high:g}**, like the gold pairs already here."
        )
        return scale
    guesses = [_guessed_range(table_of(source), columns) for source in sources]
    found = [guess for guess in guesses if guess is not None]
    offered = (
        ScoreRange(min(guess.low for guess in found), max(guess.high for guess in found))
        if found
        else None
    )
    st.markdown(
        f"Scores look like **{offered.low:g} to {offered.high:g}**."
        if offered
        else "Scores fit none of the usual scales."
    )
    with st.container(horizontal=True):
        low = st.number_input(
            "Lowest possible score",
            value=offered.low if offered else None,
            key=f"{prefix}-low",
            help="What the scale allows, not the lowest score that happens to occur.",
        )
        high = st.number_input(
            "Highest possible score",
            value=offered.high if offered else None,
            key=f"{prefix}-high",
            help="What the scale allows, not the highest score that happens to occur.",
        )
    if low is None or high is None:
        st.info("Say from where to where scores can run.", icon=":material/info:")
        return None
    return ScoreRange(float(low), float(high))


def _task(
    table: Table,
    columns: Columns,
    scale: ScoreRange | None,
    locked: Project | None,
    prefix: str,
) -> str:
    names = {"regression": "Graded scores", "classification": "Yes or no (0 or 1)"}
    if locked is not None:
        st.markdown(f"Task: **{names[locked.task]}**")
        return locked.task
    guess = (
        "classification"
        if scale == ScoreRange(0, 1) and _is_binary(table, columns)
        else "regression"
    )
    task = st.segmented_control(
        "Task",
        TASKS,
        default=guess,
        required=True,
        format_func=names.__getitem__,
        key=f"{prefix}-task-{guess}",
        help="Graded scores are measured by Spearman's ρ, yes or no by F1.",
    )
    return str(task)


def _split(
    sources: Sequence[Source],
    names: list[str],
    columns: Columns,
    options: ImportOptions,
    prefix: str,
) -> tuple[ImportOptions, dict[str, str]] | None:
    """How pairs come into train, dev and test; None while the column is not chosen."""
    in_names = [split_in_name(source.name) for source in sources]
    ways = list(SPLIT_WAYS)
    preset = "column" if columns.split is not None else "whole" if any(in_names) else "random"
    way = st.segmented_control(
        "Train, dev and test",
        ways,
        default=preset,
        required=True,
        format_func=SPLIT_WAYS.__getitem__,
        key=f"{prefix}-split",
    )
    if way == "whole":
        splits = {}
        for number, (source, guess) in enumerate(zip(sources, in_names, strict=True)):
            splits[source.key] = st.selectbox(
                f"All of {as_text(source.name)} is",
                SPLITS,
                index=SPLITS.index(guess or "train"),
                key=f"{prefix}-whole-{number}-{source.key}",
            )
        return options, splits
    if way == "column":
        position = st.selectbox(
            "Column that says train, dev or test",
            range(len(names)),
            index=columns.split,
            format_func=names.__getitem__,
            placeholder="Choose",
            key=f"{prefix}-split-column",
        )
        if position is None:
            return None
        (column,) = _unambiguous(table_of(sources[0]), [position])
        return replace(options, split_column=column), {}
    return _ratios(options, prefix), {}


def _ratios(options: ImportOptions, prefix: str) -> ImportOptions:
    with st.container(horizontal=True):
        shares = [
            st.number_input(
                f"{split.capitalize()} %",
                0.0,
                100.0,
                preset,
                5.0,
                format="%g",
                key=f"{prefix}-share-{split}",
            )
            for split, preset in zip(SPLITS, options.ratios, strict=True)
        ]
        seed = st.number_input("Seed", 0, 2**31 - 1, options.seed, key=f"{prefix}-seed")
    st.caption("Pairs that share a sentence stay in one split where the shares allow it.")
    # "" leaves a split column that the file may have unread.
    return replace(
        options, split_column="", ratios=(shares[0], shares[1], shares[2]), seed=int(seed)
    )


def _scores(table: Table, columns: Columns) -> ParsedScores:
    at = columns.score or 0
    cells = [row[at] for row in table.rows if len(row) > at]
    return parse_scores(cells, known_labels(cells))


def _guessed_range(table: Table, columns: Columns) -> ScoreRange | None:
    return guess_range(_scores(table, columns).values)


def _is_binary(table: Table, columns: Columns) -> bool:
    values = _scores(table, columns).values
    return bool(((values == 0) | (values == 1) | (values != values)).all())
