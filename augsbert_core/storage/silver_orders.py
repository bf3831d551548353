"""Which places of a silver view pass a filter, and which of those are on a page."""

from collections.abc import Callable

import numpy as np

from augsbert_core.storage.silver_bins import STATUSES
from augsbert_core.storage.silver_filters import TOLERANCE, SilverFilter
from augsbert_core.storage.silver_view import SilverView

Keys = list[np.ndarray]
"""What to sort by, the most important first, ascending. Places that tie stay as they were."""


def passing(
    view: SilverView,
    chosen: SilverFilter,
    *,
    sentences: np.ndarray | None = None,
    edited: np.ndarray | None = None,
) -> np.ndarray:
    """The places of the pairs that pass a filter, ascending: int64.

    sentences: ids of the sentences that hold its text. edited: ids of the pairs that its person has decided on. Both
    None where the filter does not ask for them.
    """
    known = view.columns
    passes = (view.finals >= chosen.start) & (view.finals < chosen.end)
    if chosen.statuses:
        wanted = np.array([status in chosen.statuses for status in STATUSES])
        passes &= wanted[view.statuses]
    if chosen.has_ranks:
        passes &= known.ranks > 0
    for values, low, high in (
        (known.ranks, chosen.min_rank, chosen.max_rank),
        (known.words, chosen.min_words, chosen.max_words),
        (known.overlaps, chosen.min_overlap, chosen.max_overlap),
        (known.order_gaps, chosen.min_gap, None),
        (known.label_spreads, chosen.min_spread, None),
    ):
        _bound(passes, values, low, high)
    if chosen.min_disagreement is not None:
        _bound(passes, view.disagreements, chosen.min_disagreement, None)
    if sentences is not None:
        passes &= _holds(known.first, sentences) | _holds(known.second, sentences)
    if edited is not None:
        by_person = np.zeros(len(known), dtype=bool)
        by_person[known.places_of(edited)] = True
        passes &= by_person
    return np.flatnonzero(passes)


def _bound(passes: np.ndarray, values: np.ndarray, low: float | None, high: float | None) -> None:
    """What is not known (NaN) passes no bound."""
    if low is not None:
        passes &= values >= low - TOLERANCE
    if high is not None:
        passes &= values <= high + TOLERANCE


def _holds(ids: np.ndarray, sentences: np.ndarray) -> np.ndarray:
    """Whether each id is one of the sentences."""
    is_found = np.zeros(int(ids.max(initial=0)) + 1, dtype=bool)
    is_found[sentences[sentences < len(is_found)]] = True
    found: np.ndarray = is_found[ids]
    return found


def in_order(
    view: SilverView, places: np.ndarray, sort: str, offset: int, limit: int
) -> np.ndarray:
    """The places of one page: limit of them from offset on, in the order `sort`, a key of ORDERS.

    places: ascending. Pairs that tie are told apart by their sentences, so that every pair is on exactly one page.
    """
    backwards, keys_of = ORDERS[sort]
    ordered = places[::-1] if backwards else places
    keys = [np.where(np.isnan(key), np.inf, key) for key in keys_of(view, ordered)]
    end = max(min(offset + limit, len(ordered)), 0)
    if keys and 0 < end < len(ordered) // 8:
        # Only what comes up to the end of the page has to be put in order.
        last = np.partition(keys[0], end - 1)[end - 1]
        first_ones = np.flatnonzero(keys[0] <= last)
        ordered, keys = ordered[first_ones], [key[first_ones] for key in keys]
    if keys:
        ordered = ordered[np.lexsort(keys[::-1])]
    return ordered[max(offset, 0) : end]


def _by_rank(view: SilverView, places: np.ndarray) -> Keys:
    ranks = view.columns.ranks[places].astype(np.float64)
    return [np.where(ranks == 0, np.inf, ranks), -view.finals[places]]


ORDERS: dict[str, tuple[bool, Callable[[SilverView, np.ndarray], Keys]]] = {
    "Score, high to low": (True, lambda view, places: [-view.finals[places]]),
    "Score, low to high": (False, lambda view, places: [view.finals[places]]),
    "Sampler rank": (True, _by_rank),
    "Order of sampling": (False, lambda view, places: []),
    "Longest first": (False, lambda view, places: [-view.columns.words[places].astype(float)]),
    "Shortest first": (False, lambda view, places: [view.columns.words[places].astype(float)]),
    "Least word overlap": (False, lambda view, places: [view.columns.overlaps[places]]),
    "Most word overlap": (False, lambda view, places: [-view.columns.overlaps[places]]),
    "Largest order gap": (False, lambda view, places: [-view.columns.order_gaps[places]]),
    "Largest spread": (False, lambda view, places: [-view.columns.label_spreads[places]]),
    "Largest disagreement": (False, lambda view, places: [-view.disagreements[places]]),
}
"""Order → whether ties go from the last pair to the first, and what is sorted by. What is not known comes last."""
