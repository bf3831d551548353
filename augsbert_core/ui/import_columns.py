"""Which column holds what: preset with what was recognised, and looked at in the rows themselves."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from augsbert_core.importing.columns import KINDS, Columns
from augsbert_core.importing.table import Table
from augsbert_core.ui.import_plans import Guess

OPTIONAL = {
    "pairs": ("split", "group", "source_id"),
    "unlabelled-pairs": (),
    "sentences": (),
    "nli": (),
    "triplets": (),
}
TITLES = {"split": "Split", "group": "Group", "source_id": "Row name"}
HELP = {
    "sentence 1": "The first sentence of each pair. A pair has no direction: which is first does not matter.",
    "sentence 2": "The second sentence of each pair.",
    "score": "How alike people found the two: a number, or a word such as duplicate.",
    "sentence": "One sentence in each row.",
    "premise": "The sentence that is taken to be true.",
    "hypothesis": "The sentence that may follow from it.",
    "label": "entailment, neutral or contradiction, or 0, 1, 2 in this order.",
    "anchor": "The sentence that the other two are compared with.",
    "positive": "A sentence close to the anchor.",
    "negative": "A sentence that is not.",
    "split": "Says train, dev or test for each row.",
    "group": "A genre, topic or source. Splits can keep groups whole, so that test topics are new ones.",
    "source_id": "The file's own name of each row, such as pair_ID. It is kept for looking rows up.",
}
STORED = {"split": "split_column", "group": "group_column", "source_id": "id_column"}


@dataclass(frozen=True)
class Roles:
    """The column of each role of a kind, by position; None where none is chosen."""

    needed: tuple[int | None, ...]
    optional: dict[str, int | None]

    def fault(self) -> str:
        """Why these columns cannot be used yet; "" when they can."""
        if None in self.needed:
            return "The columns were not recognised. Choose them above."
        taken = [at for at in (*self.needed, *self.optional.values()) if at is not None]
        twice = [at for at, count in Counter(taken).items() if count > 1]
        return "One column is chosen twice." if twice else ""

    def titles(self, kind: str) -> dict[int, str]:
        """What each column in use is, for the head of the preview."""
        named = [(at, what.capitalize()) for at, what in zip(self.needed, KINDS[kind], strict=True)]
        named += [(at, TITLES[what]) for what, at in self.optional.items()]
        return {at: title for at, title in named if at is not None}

    def as_columns(self, kind: str) -> Columns:
        """These roles as columns; all needed ones are chosen."""
        first, second, third = (*self.needed, None, None)[:3]
        if first is None:
            raise ValueError("the columns are not chosen yet")
        beside = {"pairs": "score", "nli": "label", "triplets": "negative"}.get(kind)
        return Columns(first, second, **({beside: third} if beside else {}), **self.optional)


def choose_roles(kind: str, table: Table, guess: Guess, prefix: str) -> Roles:
    """A selector per column that is needed or of use, preset with the guess."""
    names = column_names(table)
    guessed = guess.columns.told if guess.columns else (None, None, None)
    needed: list[int | None] = []
    for cell, what, preset in zip(st.columns(len(KINDS[kind])), KINDS[kind], guessed, strict=False):
        needed.append(
            cell.selectbox(
                what.capitalize(),
                range(len(names)),
                index=preset if preset is not None and preset < len(names) else None,
                format_func=names.__getitem__,
                placeholder="Choose",
                key=f"{prefix}-{what}",
                help=HELP[what],
                persist_state="session",
            )
        )
    optional: dict[str, int | None] = {}
    if OPTIONAL[kind]:
        for cell, what in zip(st.columns(len(OPTIONAL[kind])), OPTIONAL[kind], strict=True):
            preset = getattr(guess.columns, what) if guess.columns else None
            choice = cell.selectbox(
                TITLES[what],
                [-1, *range(len(names))],
                index=0 if preset is None else preset + 1,
                format_func=lambda at: "None" if at < 0 else names[at],
                key=f"{prefix}-{what}",
                help=HELP[what],
                persist_state="session",
            )
            optional[what] = None if choice is None or choice < 0 else choice
    return Roles(tuple(needed), optional)


def column_names(table: Table, examples: bool = True) -> list[str]:
    """What each column is called on the screen: its name, or its number; no two are alike.

    examples: show the first cell beside a number.
    """
    width = max((len(row) for row in table.rows[:1000]), default=0)
    header, first = table.header or [], table.rows[0]
    names: list[str] = []
    for position in range(max(width, len(header))):
        named = header[position] if position < len(header) and header[position].strip() else ""
        name = named or f"Column {position + 1}"
        if not named and examples and position < len(first):
            name += f" ({first[position][:24]})"
        names.append(f"{name} [{position + 1}]" if name in names else name)
    return names


def unambiguous(table: Table, positions: Sequence[int]) -> tuple[str, ...]:
    """Header names where they name one column only, else positions: right for every file with the header."""
    lowered = [name.lower() for name in table.header or []]
    return tuple(
        table.header[position]
        if table.header
        and position < len(lowered)
        and lowered.count(lowered[position]) == 1
        and lowered[position].strip()
        else str(position)
        for position in positions
    )


def told_roles(kind: str, table: Table, guess: Guess, prefix: str) -> Roles:
    """The roles of a file whose selectors are not drawn now: as chosen before, else as guessed."""
    guessed = guess.columns.told if guess.columns else (None, None, None)
    needed = tuple(
        st.session_state.get(f"{prefix}-{what}", preset)
        for what, preset in zip(KINDS[kind], guessed, strict=False)
    )
    optional = {}
    for what in OPTIONAL[kind]:
        preset = getattr(guess.columns, what) if guess.columns else None
        choice = st.session_state.get(f"{prefix}-{what}", -1 if preset is None else preset)
        optional[what] = None if choice is None or choice < 0 else choice
    return Roles(needed, optional)
