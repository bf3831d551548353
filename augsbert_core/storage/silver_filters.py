"""Which silver pairs the table shows, and what that means in SQL."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from augsbert_core.storage.silver_bins import STATUSES

TOLERANCE = 1e-9
"""A score this close to a bound is inside: bounds come from sliders, by way of another scale."""


@dataclass(frozen=True)
class SilverFilter:
    """Which silver pairs the table shows. Bounds are inclusive; None is no bound.

    low, high: of the corrected score in [0, 1]. statuses: () means all. min_rank, max_rank: pairs without a rank
    pass neither. text: in either sentence, upper and lower case alike. min_words, max_words: words of the longer
    sentence. min_overlap, max_overlap: shared words over all words of the two sentences, in [0, 1]. min_gap: of the
    scores of both orders; min_spread: between the scorers of an averaged labeler; min_disagreement: |labeler -
    student|, see `silver_columns.student_of`; all three in [0, 1], and pairs for which there is no such number pass
    none of them. edited_by: pairs that a decision of this person stands for.
    """

    low: float = 0.0
    high: float = 1.0
    statuses: tuple[str, ...] = ()
    max_rank: int | None = None
    text: str = ""
    min_rank: int | None = None
    min_words: int | None = None
    max_words: int | None = None
    min_overlap: float | None = None
    max_overlap: float | None = None
    min_gap: float | None = None
    min_spread: float | None = None
    min_disagreement: float | None = None
    edited_by: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether score, status and rank alone decide: the indexes of the database answer that."""
        others = (self.min_words, self.max_words, self.min_overlap, self.max_overlap)
        doubts = (self.min_gap, self.min_spread, self.min_disagreement)
        is_bound = any(bound is not None for bound in (*others, *doubts))
        return not (self.text.strip() or self.edited_by or is_bound)

    @property
    def has_ranks(self) -> bool:
        return self.min_rank is not None or self.max_rank is not None

    @property
    def start(self) -> float:
        """Scores from here ..."""
        return self.low - TOLERANCE

    @property
    def end(self) -> float:
        """... to just below here are inside."""
        return math.nextafter(self.high + TOLERANCE, math.inf)

    @property
    def only_reviewed(self) -> bool:
        """Whether no unreviewed pair can pass; the others are few, and have an index of their own."""
        return bool(self.statuses) and "unreviewed" not in self.statuses


def conditions(set_id: int, chosen: SilverFilter) -> tuple[str, dict[str, Any]]:
    """A WHERE clause on silver_pair and its values, for a plain filter.

    It asks for columns alone that silver_pair_by_score and _by_second hold, or, when only reviewed pairs can
    pass, for those of silver_pair_reviewed.
    """
    clause, values = rank_condition(chosen)
    values |= {"set": set_id, "start": chosen.start, "end": chosen.end}
    clause = "silver_set_id = :set AND final_score >= :start AND final_score < :end" + clause
    return clause + status_condition(chosen, values), values


def off_score_index(where: str) -> str:
    """The same conditions, written so that SQLite does not take the index by score for them."""
    return where.replace("final_score", "+final_score")


def rank_condition(chosen: SilverFilter) -> tuple[str, dict[str, Any]]:
    """The ranks of a filter, to be put after a WHERE clause, and their values."""
    clause, values = "", {}
    for name, sign, bound in (
        ("min_rank", ">=", chosen.min_rank),
        ("max_rank", "<=", chosen.max_rank),
    ):
        if bound is not None:
            clause += f" AND rank {sign} :{name}"
            values[name] = bound
    return clause, values


def status_condition(chosen: SilverFilter, values: dict[str, Any]) -> str:
    """The statuses of a filter, to be put after a WHERE clause; adds to values (with set, start and end).

    Where unreviewed pairs pass, the pairs that do not are left out by name.
    """
    if chosen.only_reviewed:
        return " AND status <> 'unreviewed'" + _any_of(chosen.statuses, values)
    others = [status for status in STATUSES if status not in (chosen.statuses or STATUSES)]
    if not others:
        return ""
    return (
        " AND (sentence1_id, sentence2_id) NOT IN (SELECT sentence1_id, sentence2_id FROM silver_pair"
        " INDEXED BY silver_pair_reviewed WHERE silver_set_id = :set AND status <> 'unreviewed'"
        f"{_any_of(others, values)} AND final_score >= :start AND final_score < :end)"
    )


def _any_of(statuses: Sequence[str], values: dict[str, Any]) -> str:
    names = {f"status{number}": status for number, status in enumerate(statuses)}
    values |= names
    return f" AND status IN ({', '.join(':' + name for name in names)})"
