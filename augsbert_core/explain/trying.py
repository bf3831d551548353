"""What models say about sentences that a user typed, in plain sentences."""

from collections.abc import Sequence

from augsbert_core.explain.phrases import known, many, number
from augsbert_core.pairs import ScoreRange

CLOSE = 0.1
"""Scores that differ by less of the scale say much the same."""


def tried_pair(*, scores: Sequence[tuple[str, float]], scale: ScoreRange) -> tuple[str, ...]:
    """Why models differ about one pair. scores: ("bi_encoder" or "cross_encoder", score in [0, 1])."""
    students = [value for kind, each in scores if kind == "bi_encoder" and (value := known(each)) is not None]  # fmt: skip
    judges = [value for kind, each in scores if kind == "cross_encoder" and (value := known(each)) is not None]  # fmt: skip
    last = (
        "One pair shows how models work, not which is better: on which they are right more often, the Compare page "
        "measures."
    )
    if not students or not judges:
        return (
            "A cross-encoder reads both sentences together, a bi-encoder each on its own; with one of each you would see "
            "how they differ about this pair.",
            last,
        )
    gap = students[0] - judges[0]
    both = f"{number(scale.to_raw(students[0]))} and {number(scale.to_raw(judges[0]))}"
    how = (
        "say much the same"
        if abs(gap) < CLOSE
        else f"are far apart, the bi-encoder {'higher' if gap > 0 else 'lower'}"
    )
    return (
        f"Bi-encoder and cross-encoder {how}: {both} on {scale.low:g} to {scale.high:g}.",
        "The cross-encoder saw both sentences at once and can weigh a negation or a swapped role; the bi-encoder had to put "
        "each sentence into one vector without knowing the other.",
        last,
    )


def searched(
    *,
    n_sentences: int,
    n_hits: int,
    search_seconds: float,
    rerank_seconds: float,
) -> tuple[str, ...]:
    """What a search has cost, and what a cross-encoder alone would have."""
    last = (
        "Nobody has scored these hits, so the lists do not show which model finds more; the rerankers on the Compare page "
        "measure that on gold pairs."
    )
    first = (
        f"{many(n_sentences, 'sentence')} had {'its vector' if n_sentences == 1 else 'their vectors'} ready, so that one query took "
        f"{1000 * max(known(search_seconds) or 0.0, 0.0):.0f} ms of search."
    )
    paced = known(rerank_seconds) or 0.0
    if paced <= 0 or not n_hits:
        return (
            first,
            "A cross-encoder has no vectors: it would read the query with every sentence anew.",
            last,
        )
    whole = paced / n_hits * n_sentences
    return (
        first,
        f"The cross-encoder read only the {many(n_hits, 'hit')}; at that pace all sentences would take about "
        f"{_time(whole)}, for every query anew.",
        last,
    )


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 0.1):.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:,.0f} min" if seconds < 5400 else f"{seconds / 3600:,.0f} h"
