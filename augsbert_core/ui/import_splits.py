"""How rows come into train, dev and test, and which rows come in at all."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pandas as pd
import streamlit as st

from augsbert_core.importing.file_names import split_in_name
from augsbert_core.importing.subsample import NO_GROUP
from augsbert_core.importing.table import Table
from augsbert_core.options import ImportOptions
from augsbert_core.pairs import SPLITS
from augsbert_core.ui.import_sources import Source
from augsbert_core.ui.widgets import as_text

WAYS = {"column": "By column", "whole": "By file", "dealt": "Deal out"}
DEALT_BY = {
    "auto": "Linked sentences together where possible",
    "components": "Linked sentences always together",
    "pairs": "By pair",
    "stratified": "By pair, scores alike in each",
    "groups": "Whole groups",
}
DEALT_HELP = (
    "**Linked sentences always together**: no sentence is in two splits, as the paper did for Quora; two pairs are "
    "linked when they share a sentence. **By pair**: repeats of a pair stay together, but sentences may be in two "
    "splits. **Scores alike in each**: low and high scores in the same shares everywhere. **Whole groups**: test "
    "topics are then new to the models. **Where possible**: linked sentences stay together when the shares can then be met, else repeats alone."
)
REPEATS = {
    "keep": "Keep every row",
    "mean": "Keep one, with the mean score",
    "first": "Keep the first",
    "drop": "Leave the pair out",
}
SUBSAMPLES = {
    "first": "The first rows",
    "random": "At random",
    "balanced": "As many of each score",
    "groups": "As many of each group",
}
LEAKS = {
    "keep": "Keep them",
    "pairs": "Leave out rows whose pair is held out",
    "sentences": "Leave out rows with a held-out sentence",
}
MOST_GROUPS = 200


@dataclass(frozen=True)
class SplitChoices:
    """How rows are split. by_source: the split of each file that is one whole. column: leave split columns as chosen.

    ready: False while something needed is missing.
    """

    options: ImportOptions
    by_source: dict[str, str] = field(default_factory=dict)
    uses_column: bool = False
    ready: bool = True


def choose_splits(
    sources: Sequence[Source],
    options: ImportOptions,
    has_column: bool,
    groups: Counter[str],
    prefix: str,
) -> SplitChoices:
    """Ask how pairs come into train, dev and test. groups: of the rows, with how many rows each has."""
    in_names = [split_in_name(source.name) for source in sources]
    preset = "column" if has_column else "whole" if any(in_names) else "dealt"
    way = st.segmented_control(
        "Train, dev and test",
        list(WAYS),
        default=preset,
        required=True,
        format_func=WAYS.__getitem__,
        key=f"{prefix}-split-way-{preset}",
        help="Train teaches the models, dev picks the best checkpoint, test measures at the end.",
        persist_state="session",
    )
    if way == "whole":
        return SplitChoices(options, _whole(sources, in_names, prefix))
    if way == "column":
        if not has_column:
            st.info("Choose the column that says train, dev or test above.", icon=":material/info:")
        else:
            st.caption("Rows whose cell is blank are dealt out, 80 : 10 : 10.")
        return SplitChoices(options, uses_column=True, ready=has_column)
    return SplitChoices(_deal(options, groups, prefix))


def _whole(
    sources: Sequence[Source], in_names: Sequence[str | None], prefix: str
) -> dict[str, str]:
    splits = {}
    for number, (source, guess) in enumerate(zip(sources, in_names, strict=True)):
        splits[source.key] = st.selectbox(
            f"All of {as_text(source.name)} is",
            SPLITS,
            index=SPLITS.index(guess or "train"),
            key=f"{prefix}-whole-{number}-{source.key}",
            persist_state="session",
            help="Train teaches the models, dev picks the best checkpoint, test measures at the end. Names such "
            "as dev.csv are recognised.",
        )
    return splits


def _deal(options: ImportOptions, groups: Counter[str], prefix: str) -> ImportOptions:
    way = st.selectbox(
        "How",
        [way for way in DEALT_BY if way != "groups" or groups],
        format_func=DEALT_BY.__getitem__,
        key=f"{prefix}-dealt-by",
        help=DEALT_HELP,
        persist_state="session",
    )
    shares = [
        cell.number_input(
            f"{split.capitalize()} %",
            0.0,
            100.0,
            preset,
            5.0,
            format="%g",
            key=f"{prefix}-share-{split}",
            persist_state="session",
            help="The share of the pairs for this split; only the proportions matter. 80, 10 and 10 are usual.",
        )
        for cell, split, preset in zip(st.columns(len(SPLITS)), SPLITS, options.ratios, strict=True)
    ]
    fixed = _group_editor(groups, prefix) if way == "groups" else ()
    return replace(
        options,
        split_way=str(way),
        ratios=(shares[0], shares[1], shares[2]),
        group_splits=fixed,
    )


def _group_editor(groups: Counter[str], prefix: str) -> tuple[str, ...]:
    """A split for some groups; the others are dealt whole."""
    shown = groups.most_common(MOST_GROUPS)
    frame = pd.DataFrame(
        {
            "Group": [group for group, _ in shown],
            "Rows": [count for _, count in shown],
            "Split": ["dealt"] * len(shown),
        }
    )
    edited = st.data_editor(
        frame,
        hide_index=True,
        disabled=["Group", "Rows"],
        height=min(38 + 35 * len(shown), 220),
        key=f"{prefix}-groups-{hash(tuple(groups))}",
        column_config={
            "Rows": st.column_config.NumberColumn(format="localized", width="small"),
            "Split": st.column_config.SelectboxColumn(
                options=["dealt", *SPLITS], required=True, width="small"
            ),
        },
        alt="Split of each group, can be edited",
    )
    if len(groups) > MOST_GROUPS:
        st.caption(f"The {MOST_GROUPS} largest of {len(groups):,} groups; the others are dealt.")
    told = zip(edited["Group"], edited["Split"], strict=True)
    return tuple(f"{group}={split}" for group, split in told if split in SPLITS)


def groups_of(tables: Sequence[Table], positions: Sequence[int | None]) -> Counter[str]:
    """The groups of the rows, with how many rows each has."""
    found: Counter[str] = Counter()
    for table, at in zip(tables, positions, strict=True):
        if at is not None:
            found.update(row[at].strip() or NO_GROUP for row in table.rows if len(row) > at)
    return found


# --- which rows ---------------------------------------------------------------------------------------


def choose_rows(options: ImportOptions, has_groups: bool, prefix: str) -> ImportOptions:
    """Ask how many rows come in, and what happens to repeats; what happens to leaks is asked with their report."""
    scored = options.kind == "pairs"
    ways = [way for way in SUBSAMPLES if scored or way == "first"]
    ways = [way for way in ways if way != "groups" or has_groups]
    repeats, seed = options.repeats, options.seed
    with st.container(horizontal=True):
        limit = st.number_input(
            "Rows at most",
            min_value=1,
            value=None,
            step=1000,
            placeholder="All",
            key=f"{prefix}-limit",
            width=140,
            help="Leave it empty to import every row. The paper took 10,000 pairs of Quora.",
            persist_state="session",
        )
        way = "first"
        if limit is not None and len(ways) > 1:
            way = st.selectbox(
                "Which",
                ways,
                format_func=SUBSAMPLES.__getitem__,
                key=f"{prefix}-subsample",
                width=220,
                persist_state="session",
                help="The first rows keep the order of the file. As many of each score gives rare scores more "
                "room than they have in the file.",
            )
        if scored:
            repeats = st.selectbox(
                "A pair that occurs more than once",
                list(REPEATS),
                format_func=REPEATS.__getitem__,
                key=f"{prefix}-repeats",
                width=280,
                help="In either direction. Keeping every row is how the STS Benchmark is used.",
                persist_state="session",
            )
            seed = st.number_input(
                "Seed",
                0,
                2**31 - 1,
                options.seed,
                key=f"{prefix}-seed",
                width=130,
                help="Of everything that is drawn: the same seed deals and draws the same rows.",
                persist_state="session",
            )
    options = replace(options, limit=None if limit is None else int(limit), subsample=way)
    if not scored:
        return options
    leaks = st.session_state.get(f"{prefix}-leaks", "keep")
    return replace(options, repeats=repeats, leaks=leaks, seed=int(seed))


def choose_leaks(prefix: str) -> None:
    """Ask what happens to rows that leak. Drawn beside the leak report; `choose_rows` has read it by then."""
    st.selectbox(
        "Rows that share something with a later split",
        list(LEAKS),
        format_func=LEAKS.__getitem__,
        key=f"{prefix}-leaks",
        help="Test scores look better than they are when train has seen the same pairs or sentences. Rows are left "
        "out of train (and dev), never of test.",
        width=380,
        persist_state="session",
    )
