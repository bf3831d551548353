"""What the scores of a file mean: words as numbers, the declared range, and the task."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from augsbert_core.importing.column_names import parse_number
from augsbert_core.importing.scores import WORD_SCORES, known_labels, tidy_word
from augsbert_core.importing.table import Table
from augsbert_core.pairs import TASKS, ScoreRange
from augsbert_core.storage.records import Project
from augsbert_core.ui.import_plans import Guess, ScoreFacts, score_facts

TASK_NAMES = {"regression": "Graded scores", "classification": "Yes or no (0 or 1)"}
MOST_WORDS = 40


@dataclass(frozen=True)
class ScoreChoices:
    """What was declared about scores. score_range: None while it is open. labels: () takes well-known words alone."""

    score_range: ScoreRange | None
    task: str
    labels: tuple[str, ...]


@dataclass(frozen=True)
class ScoreColumn:
    """One table, the position of its scores, and what it was recognised as."""

    table: Table
    at: int
    guess: Guess


def choose_scores(
    columns: Sequence[ScoreColumn], locked: Project | None, prefix: str
) -> ScoreChoices:
    """Ask what the scores mean. locked: the project when its gold pairs fix range and task already."""
    words = _words_of(columns)
    labels = _labels(columns, words, prefix)
    facts = [
        score_facts(column.table, column.at, labels or _preset_labels(column)) for column in columns
    ]
    if locked is not None:
        scale = locked.score_range
        st.markdown(
            f"Scores run from **{scale.low:g} to {scale.high:g}**, like the gold pairs already here."
        )
        st.markdown(f"Task: **{TASK_NAMES[locked.task]}**")
        return ScoreChoices(scale, locked.task, _as_options(labels))
    offered = _offered(columns, facts)
    if words:
        st.caption("The scale that the scores of the words are on:")
        declared = _range(offered or ScoreRange(0, 1), prefix)
    else:
        st.markdown(
            f"Scores look like **{offered.low:g} to {offered.high:g}**."
            if offered
            else "Scores fit none of the usual scales."
        )
        declared = _range(offered, prefix)
    task = _task(declared, all(fact.is_binary for fact in facts), prefix)
    return ScoreChoices(declared, task, _as_options(labels))


def _preset_labels(column: ScoreColumn) -> dict[str, float]:
    return dict(column.guess.preset.labels) if column.guess.preset else {}


def _offered(columns: Sequence[ScoreColumn], facts: Sequence[ScoreFacts]) -> ScoreRange | None:
    """The scale that the scores of all files fit."""
    guesses = []
    for column, fact in zip(columns, facts, strict=True):
        preset = column.guess.preset
        # The scale of a format is that of its own score column, not of any other that was chosen instead.
        is_own = preset is not None and preset.columns.score == column.at
        guesses.append((preset.score_range if preset and is_own else None) or fact.guessed)
    found = [guess for guess in guesses if guess is not None]
    if not found:
        return None
    return ScoreRange(min(guess.low for guess in found), max(guess.high for guess in found))


def _range(offered: ScoreRange | None, prefix: str) -> ScoreRange | None:
    # Another column or other words can change the offer; numbers that were typed stay with theirs.
    key = f"{prefix}-range-{offered}"
    with st.container(horizontal=True):
        low = st.number_input(
            "Lowest possible score",
            value=offered.low if offered else None,
            key=f"{key}-low",
            help="What the scale allows, not the lowest score that happens to occur.",
            persist_state="session",
        )
        high = st.number_input(
            "Highest possible score",
            value=offered.high if offered else None,
            key=f"{key}-high",
            help="What the scale allows, not the highest score that happens to occur. Scores are never divided "
            "by the highest one seen: the same sentence pair must mean the same in every file.",
            persist_state="session",
        )
    if low is None or high is None:
        st.info("Say from where to where scores can run.", icon=":material/info:")
        return None
    return ScoreRange(float(low), float(high))


def _task(scale: ScoreRange | None, is_binary: bool, prefix: str) -> str:
    guess = "classification" if scale == ScoreRange(0, 1) and is_binary else "regression"
    task = st.segmented_control(
        "Task",
        TASKS,
        default=guess,
        required=True,
        format_func=TASK_NAMES.__getitem__,
        key=f"{prefix}-task-{guess}",
        help="Graded scores are measured by Spearman's ρ, yes or no by F1.",
        persist_state="session",
    )
    if task == "classification":
        st.caption(
            ":material/info: All scores are 0 or 1: the project becomes one of classification, and models are "
            "judged by F1. Choose graded scores if 0 and 1 are the ends of a scale."
            if guess == "classification"
            else ":material/info: Classification needs scores of 0 and 1 alone."
        )
    return str(task)


# --- words --------------------------------------------------------------------------------------------


def score_words(cells: Sequence[str]) -> Counter[str]:
    """How often each word occurs in a column of scores; empty when the column holds numbers in the main."""
    words = Counter(
        tidy_word(cell) for cell in cells if cell.strip() and parse_number(cell) is None
    )
    n_filled = sum(1 for cell in cells if cell.strip())
    return words if 2 * words.total() >= max(n_filled, 1) else Counter()


def _words_of(columns: Sequence[ScoreColumn]) -> Counter[str]:
    return score_words(
        [row[column.at] for column in columns for row in column.table.rows if len(row) > column.at]
    )


def _labels(columns: Sequence[ScoreColumn], words: Counter[str], prefix: str) -> dict[str, float]:
    """Words of the score column with their scores, as edited; {} when well-known words need no telling."""
    if not words:
        return {}
    if len(words) > MOST_WORDS:
        st.warning(
            f"The score column holds {len(words):,} different words. It may be a column of sentences: choose "
            "another above.",
            icon=":material/warning:",
        )
        return {}
    known: dict[str, float] = {}
    for column in columns:
        known |= _preset_labels(column)
    known = known or known_labels(list(words))
    offered = {word: score for scale in reversed(WORD_SCORES) for word, score in scale.items()}
    key = f"{prefix}-words-{hash(tuple(sorted(words)))}"
    edited = _edit_words(words, {**offered, **known}, key)
    return (
        {} if edited == {word: score for word, score in known.items() if word in words} else edited
    )


def _edit_words(words: Counter[str], known: Mapping[str, float], key: str) -> dict[str, float]:
    st.markdown("The scores are words. What does each say?")
    frame = pd.DataFrame(
        {
            "Word": [word for word, _ in words.most_common()],
            "Rows": [count for _, count in words.most_common()],
            "Score": [known.get(word) for word, _ in words.most_common()],
        }
    ).astype({"Score": "float64"})
    edited = st.data_editor(
        frame,
        hide_index=True,
        disabled=["Word", "Rows"],
        key=key,
        column_config={
            "Word": st.column_config.TextColumn(width="medium"),
            "Rows": st.column_config.NumberColumn(format="localized", width="small"),
            "Score": st.column_config.NumberColumn(
                width="small", help="On the scale below. Rows whose word has no score are rejected."
            ),
        },
        alt="Scores for the words of the file, can be edited",
    )
    missing = int(edited["Score"].isna().sum())
    if missing:
        st.caption(
            f":material/info: {missing} of {len(words)} words have no score yet: their rows would be rejected."
        )
    told = zip(edited["Word"], edited["Score"], strict=True)
    return {str(word): float(score) for word, score in told if not pd.isna(score)}


def _as_options(labels: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(f"{word}={score:g}" for word, score in labels.items())
