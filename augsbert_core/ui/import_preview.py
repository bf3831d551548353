"""A look before anything is written: the first rows as the file has them, and as they would be stored."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any

import pandas as pd
import streamlit as st

from augsbert_core.charts.look import COLORS, fade
from augsbert_core.explain.phrases import many
from augsbert_core.exporting.files import rejected_csv
from augsbert_core.importing.columns import KINDS
from augsbert_core.importing.leaks import Leak
from augsbert_core.importing.rows import Rejected
from augsbert_core.importing.table import Table
from augsbert_core.pairs import SPLITS
from augsbert_core.steps.import_plan import ImportPlan
from augsbert_core.ui.import_columns import column_names
from augsbert_core.ui.import_splits import choose_leaks
from augsbert_core.ui.widgets import as_text

PREVIEW_ROWS = 20
SHOWN_REJECTS = 1_000
SHOWN_CHARACTERS = 500
TABLE_HEIGHT = 213
MOST_COLUMNS = 40
SENTENCE_WIDTH, OTHER_WIDTH = 235, 120
NARROW = {"Line": 60, "Score": 65, "Split": 60}


def show_raw(table: Table, titles: Mapping[int, str]) -> None:
    """The first rows as the file has them; the head says what each chosen column is."""
    st.caption(
        f"As the file has it: the first {min(PREVIEW_ROWS, len(table.rows))} rows, with the columns that are used "
        "in colour."
    )
    frame = raw_frame(table, titles)
    used: list[Hashable] = [raw_title(table, at, titles) for at in titles]
    style = frame.style.set_properties(
        subset=used, **{"background-color": fade(COLORS["gold"], 0.14)}
    )
    # Columns in use come first: in a wide file they would be out of sight.
    order = [str(name) for name in [*used, *(n for n in frame.columns if n not in used)]]
    st.dataframe(
        style,
        hide_index=True,
        height=_height(frame),
        column_order=order,
        column_config={name: _width(name) for name in order},
        alt="First rows of the file, as they stand in it",
    )


def _width(title: str) -> Any:
    """Sentences get room, whatever else there is gets little."""
    texts = ("Sentence", "Premise", "Hypothesis", "Anchor", "Positive", "Negative")
    return st.column_config.TextColumn(
        width=SENTENCE_WIDTH if title.startswith(texts) else OTHER_WIDTH
    )


def raw_title(table: Table, at: int, titles: Mapping[int, str]) -> str:
    """The head of a column of the preview: "Sentence 1 ← text_a" when it is in use."""
    name = column_names(table, examples=False)[at]
    return f"{titles[at]} ← {name}" if at in titles else name


def raw_frame(table: Table, titles: Mapping[int, str]) -> pd.DataFrame:
    """The first rows of a table, cut to what a screen can show."""
    names = column_names(table, examples=False)
    shown = [at for at in range(len(names)) if at < MOST_COLUMNS or at in titles]
    heads = [raw_title(table, at, titles) for at in shown]
    rows = [
        [row[at][:SHOWN_CHARACTERS] if at < len(row) else None for at in shown]
        for row in table.rows[:PREVIEW_ROWS]
    ]
    return pd.DataFrame(rows, columns=heads, dtype=object)


def show_stored(plan: ImportPlan, source: int, n_sources: int) -> None:
    """The first rows of one file as they would be stored."""
    frame = stored_frame(plan, source if n_sources > 1 else None)
    if not len(frame):
        st.caption("No row of this file would be stored.")
        return
    st.caption(f"As it would be stored: the first {len(frame)} rows that are kept.")
    config = {name: _width(name) for name in frame.columns if str(frame[name].dtype) == "object"}
    for name, width in NARROW.items():
        if name in frame:
            config[name] = st.column_config.Column(width=width)
    if "0 to 1" in frame:
        config["0 to 1"] = st.column_config.NumberColumn(
            format="%.3f", width=70, help="The score on the scale that all steps work with."
        )
    st.dataframe(
        frame,
        hide_index=True,
        height=_height(frame),
        column_config=config,
        alt="First pairs, as they would be stored",
    )


def stored_frame(plan: ImportPlan, source: int | None = None) -> pd.DataFrame:
    """The first rows as they would be kept. source: of this file only."""
    if plan.kind != "pairs":
        texts = plan.texts if source is None else plan.files[source].texts
        lines = plan.lines if source is None else plan.files[source].lines
        names = ["Line", *(what.capitalize() for what in KINDS[plan.kind])]
        rows = zip(lines[:PREVIEW_ROWS], texts[:PREVIEW_ROWS], strict=True)
        return pd.DataFrame([[line, *row] for line, row in rows], columns=names)
    places = range(len(plan.rows))
    if source is not None:
        places = (plan.rows.sources == source).nonzero()[0][:PREVIEW_ROWS].tolist()
    shown = [plan.rows[place] for place in islice(places, PREVIEW_ROWS)]
    columns: dict[str, list[object]] = {
        "Line": [row.line for row in shown],
        "Score": [row.raw_score for row in shown],
        "0 to 1": [row.score for row in shown],
        "Sentence 1": [row.sentence1[:SHOWN_CHARACTERS] for row in shown],
        "Sentence 2": [row.sentence2[:SHOWN_CHARACTERS] for row in shown],
        "Split": [row.split for row in shown],
    }
    for title, values in (
        ("Group", [row.group for row in shown]),
        ("Word", [row.label for row in shown]),
        ("Row name", [row.source_id for row in shown]),
    ):
        if any(values):
            columns[title] = list(values)
    return pd.DataFrame(columns)


def _height(frame: pd.DataFrame) -> int:
    return min(TABLE_HEIGHT, 38 + 35 * max(len(frame), 1))


def show_plan(plan: ImportPlan, *, prefix: str, head_only: bool) -> None:
    """What would come in: counts, splits, repeats, leaks, how the files were read, and what is rejected.

    prefix: of the key of the remedy against leaks.
    """
    st.subheader("Before anything is written", anchor=False)
    with st.container(horizontal=True):
        st.metric(
            "Rows looked at, of more" if head_only else "Rows read",
            f"{plan.rows_read:,}",
            border=True,
        )
        st.metric("Kept", f"{plan.n_kept:,}", border=True)
        st.metric("Rejected", f"{len(plan.rejected):,}", border=True)
        for label, count in (
            ("Merged or left out as repeats", plan.collapsed),
            ("Left out by the subsample", plan.left_out),
            ("Left out as leaks", plan.leaked),
        ):
            if count:
                st.metric(label, f"{count:,}", border=True)
    if head_only:
        st.caption(
            ":material/info: These files are large: the numbers are of the first rows alone. The import reads every "
            "row, and its report says what came in."
        )
    if plan.kind == "pairs":
        shares = " · ".join(f"{plan.splits.get(split, 0):,} {split}" for split in SPLITS)
        st.markdown(f":material/call_split: {shares}")
        show_repeats(plan)
        if plan.leaks or plan.held_leaks or plan.leaked or plan.files[0].options.leaks != "keep":
            with show_leaks(plan.leaks, plan.held_leaks):
                choose_leaks(prefix)
    if plan.notes:
        with st.expander(
            f"What was found out and mended: {many(len(plan.notes), 'note')}",
            icon=":material/description:",
        ):
            for file in plan.files:
                if len(plan.files) > 1 and file.notes:
                    st.markdown(f"**{as_text(file.name)}**")
                for note in file.notes:
                    st.text(note)
            for note in plan.joint_notes:
                st.text(note)
    show_rejected(plan.rejected, "preview")


def show_repeats(plan: ImportPlan) -> None:
    """Pairs that occur more than once, and those whose scores differ."""
    told = repeats_words(asdict(plan.repeats))
    if told:
        where = " *Which rows come in*, above, says what happens to repeats."
        st.markdown(f":material/info: {told}{where if plan.repeats.n_rows_repeated else ''}")
    if plan.repeated:
        with st.expander("The repeated pairs", icon=":material/content_copy:"):
            st.dataframe(
                repeated_frame(plan),
                hide_index=True,
                height="content" if len(plan.repeated) < 9 else 320,
                alt="Pairs that occur more than once",
            )
            n_rows = plan.repeats.n_rows_repeated + plan.repeats.n_pairs_repeated
            if n_rows > len(plan.repeated):
                st.caption(
                    f"The first {len(plan.repeated):,} of {n_rows:,} rows, pairs with differing scores first."
                )


def repeated_frame(plan: ImportPlan) -> pd.DataFrame:
    """The rows of pairs that occur more than once, pair by pair."""
    names = [file.name for file in plan.files]
    frame = pd.DataFrame(
        {
            "Pair": row.pair,
            "File": names[row.source],
            "Line": row.line,
            "Score": row.raw_score,
            "Split": row.split,
            "Sentence 1": row.sentence1,
            "Sentence 2": row.sentence2,
            "Reversed": row.is_reversed,
            "Scores differ": row.differs,
        }
        for row in plan.repeated
    )
    hidden = [name for name in ("File", "Split") if frame[name].nunique() < 2]
    return frame.drop(columns=hidden)


def repeats_words(repeats: Mapping[str, int]) -> str:
    """Pairs that occur more than once, in one sentence; "" when none does. repeats: the fields of `Repeats`."""
    told = []
    if count := repeats.get("n_rows_repeated"):
        told.append(f"{many(count, 'row')} {'repeats' if count == 1 else 'repeat'} an earlier pair")
    if count := repeats.get("n_conflicting"):
        told.append(f"{many(count, 'pair')} {'has' if count == 1 else 'have'} differing scores")
    if count := repeats.get("n_identical"):
        told.append(
            f"{many(count, 'row')} {'pairs' if count == 1 else 'pair'} a sentence with itself"
        )
    return f"{'; '.join(told)}." if told else ""


def leak_frame(leaks: Sequence[Leak], held: Sequence[Leak] = ()) -> pd.DataFrame:
    """What each two splits share, and how many rows the two remedies would cost.

    held: what they share with the gold that is there already, where pairs are not looked for.
    """
    found = [(leak, True) for leak in leaks] + [(leak, False) for leak in held]
    return pd.DataFrame(
        {
            "Splits": [
                f"{leak.earlier} and {leak.later}{'' if new else ', with gold already here'}"
                for leak, new in found
            ],
            "Pairs in both": [leak.pairs if new else None for leak, new in found],
            "Sentences in both": [leak.sentences for leak, _ in found],
            "Rows with such a pair": [leak.rows_by_pair if new else None for leak, new in found],
            "Rows with such a sentence": [leak.rows_by_sentence for leak, _ in found],
        }
    )


def show_leaks(leaks: Sequence[Leak], held: Sequence[Leak] = ()) -> Any:
    """The leak report; returns its box, where a remedy may be offered."""
    box = st.container(border=True, gap="small")
    with box:
        if not leaks and not held:
            st.markdown(
                ":green[:material/check_circle:] **Leak report**: nothing is left that was not to be in two splits."
            )
            return box
        st.markdown(":orange[:material/water_drop:] **Leak report**: what splits have in common")
        st.dataframe(
            leak_frame(leaks, held),
            hide_index=True,
            height="content",
            alt="Pairs that would be in two splits",
        )
        st.caption(
            "The last two columns say how many rows of the earlier split would go if no pair, or no sentence, were "
            "shared."
        )
    return box


def show_rejected(rejected: Sequence[Rejected], key: str) -> None:
    """The rejected rows with line and reason, and all of them as CSV."""
    if not rejected:
        return
    with st.expander(f"{many(len(rejected), 'rejected row')}", icon=":material/block:"):
        st.dataframe(
            rejected_frame(rejected),
            hide_index=True,
            alt="Rows that would be rejected, with reasons",
        )
        if len(rejected) > SHOWN_REJECTS:
            st.caption(f"The first {SHOWN_REJECTS:,} are shown; the file has all of them.")
        st.download_button(
            "Download as CSV",
            lambda: rejected_csv(rejected),
            file_name="rejected-rows.csv",
            mime="text/csv",
            icon=":material/download:",
            key=f"rejected-{key}",
            on_click="ignore",
            help="Every row that will not come in with its line and the reason, to be mended and imported.",
        )


def rejected_frame(rejected: Sequence[Rejected]) -> pd.DataFrame:
    """The first rejected rows as a table."""
    return pd.DataFrame(
        {"Line": row.line, "Reason": row.reason, "Row": row.text}
        for row in rejected[:SHOWN_REJECTS]
    )
