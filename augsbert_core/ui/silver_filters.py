"""Which silver set is open, and which of its pairs the table shows."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import streamlit as st

from augsbert_core.options import KeepOptions, SampleOptions, from_json
from augsbert_core.pairs import ScoreRange
from augsbert_core.sampling import HAS_TOP_K
from augsbert_core.steps import rule_label, strategy_label
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project, SilverSet
from augsbert_core.storage.silver_bins import STATUSES
from augsbert_core.storage.silver_columns import student_of
from augsbert_core.storage.silver_exports import known_uncertainty
from augsbert_core.storage.silver_filters import SilverFilter
from augsbert_core.storage.silver_pages import SORTS, count_statuses
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.more_filters import MORE, filter_key, more_filters

STATUS_ICONS = {
    "unreviewed": ":material/radio_button_unchecked:",
    "corrected": ":material/edit:",
    "accepted": ":material/check_circle:",
    "rejected": ":material/block:",
    "flagged": ":material/flag:",
}


def set_title(found: SilverSet) -> str:
    """One line that tells a silver set from the others."""
    state = "" if found.is_complete else f" of {found.n_candidates:,}, incomplete"
    origin = (
        f"labelled by {found.labeler.replace('run:', 'run ')}"
        if found.rule is None
        else kept_from(found)
    )
    return (
        f"Silver set {found.id} · {sampled_by(found)} · {found.n_pairs:,} pairs{state} · {origin}"
    )


def short_title(found: SilverSet) -> str:
    """A silver set in a legend or a list: number, strategy, and the rule it was kept by."""
    rule = "" if found.rule is None else f"; {kept_by(found)}"
    return f"Silver set {found.id} ({sampled_by(found)}{rule})"


def sampled_by(found: SilverSet) -> str:
    """The strategy behind a silver set with the parameter that matters, "BM25 top-5"."""
    return strategy_label(found.strategy, from_json(SampleOptions, found.sampled_with))


def kept_by(found: SilverSet) -> str:
    """The rule that a kept set was kept by, "KDE, c = 0.3"."""
    return rule_label(from_json(KeepOptions, found.made_with))


def kept_from(found: SilverSet) -> str:
    """How and from where a kept set was kept; its pool may have been deleted since."""
    pool = "a deleted set" if found.pool_set_id is None else f"set {found.pool_set_id}"
    seed = f", seed {from_json(KeepOptions, found.made_with).seed}" if found.rule == "kde" else ""
    return f"{kept_by(found)}{seed}, from {pool}"


def set_key(sets: Sequence[SilverSet]) -> str:
    """The state key of the open set; another one as soon as a set is new, which is then open."""
    return f"silver-set-{sets[0].id}"


def choose_set(sets: Sequence[SilverSet]) -> SilverSet:
    """Pick one of the silver sets; the newest at first, and whenever a new one has come."""
    by_id = {found.id: found for found in sets}
    set_id = st.selectbox(
        "Silver set",
        list(by_id),
        format_func=lambda number: set_title(by_id[number]),
        key=set_key(sets),
        help="One labelling run and its pairs; all views of this page show it.",
    )
    return by_id[set_id]


VIEWS = {
    "densities": ":material/area_chart: Densities",
    "keep": ":material/filter_alt: Keep (KDE)",
    "top-k": ":material/format_list_numbered: Top-k",
    "strategies": ":material/table_chart: Strategies",
}


def choose_view(project: Project) -> str:
    """Which part of the lab is open; only that one is computed."""
    key = f"silver-view-{project.id}"
    st.session_state.setdefault(key, "densities")
    chosen = st.segmented_control(
        "View",
        list(VIEWS),
        format_func=VIEWS.__getitem__,
        required=True,
        key=key,
        persist_state="session",
        label_visibility="collapsed",
        width="stretch",
    )
    return chosen or "densities"


def range_key(set_id: int) -> str:
    """The state key of the score range, which the plot sets too."""
    return f"silver-range-{set_id}"


def set_range(set_id: int, scale: ScoreRange, low: float, high: float) -> None:
    """Show the pairs in this range of raw scores; for a callback."""
    step = (scale.high - scale.low) / 100
    low, high = (scale.low + round((value - scale.low) / step) * step for value in (low, high))
    st.session_state[range_key(set_id)] = (low, high)


@st.cache_data(show_spinner=False, max_entries=100)
def _known_uncertainty(home: str, set_id: int, n_pairs: int) -> tuple[str, ...]:
    """That a million pairs have no order gap takes a while to find out; n_pairs: looks again when a set has grown."""
    return known_uncertainty(Workspace(Path(home)), set_id)


def filter_inputs(
    bench: Bench, project: Project, found: SilverSet, *, with_counts: bool = True
) -> tuple[SilverFilter, str]:
    """The filters above the table and the order of its rows.

    with_counts: each status says how many pairs of it pass the other filters.
    """
    scale = project.score_range
    st.session_state.setdefault(range_key(found.id), (scale.low, scale.high))
    has_ranks = found.strategy in HAS_TOP_K
    known = _known_uncertainty(str(bench.workspace.home), found.id, found.n_pairs)
    student = student_of(bench.workspace, found.id)
    first, second, *third, fourth = st.columns([3, 2, 1.3, 2] if has_ranks else [3, 3.3, 2])
    with first:
        st.slider(
            "Score",
            scale.low,
            scale.high,
            step=(scale.high - scale.low) / 100,
            key=range_key(found.id),
            persist_state="session",
            help="On the project's own scale, corrections included. Dragging over the plot sets it too.",
        )
    with second:
        text = st.text_input(
            "Text",
            placeholder="in either sentence",
            key=f"silver-text-{found.id}",
            persist_state="session",
            help="Pairs that have this piece of text in either sentence, whatever the capitals.",
        )
    max_rank = None
    if has_ranks:
        max_rank = third[0].number_input(
            "Rank up to",
            1,
            value=None,
            placeholder="all",
            key=f"silver-rank-{found.id}",
            persist_state="session",
            help="The sampler's rank: 1 is the closest neighbour of its sentence.",
        )
    with fourth:
        sort = st.selectbox(
            "Order",
            sorts_of(has_ranks, known, student is not None),
            key=f"silver-sort-{found.id}",
            persist_state="session",
            help="Which pairs come first, here and when they are reviewed one by one. Where scorers disagree, "
            "errors are found soonest.",
        )
    low, high = st.session_state[range_key(found.id)]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        status_place = st.container(width="content")
        more = more_filters(bench, project, found, known, student)
        clear_place = st.container(width="content")
    rest = replace(
        more,
        low=scale.to_unit(min(max(low, scale.low), scale.high)),
        high=scale.to_unit(min(max(high, scale.low), scale.high)),
        max_rank=max_rank,
        text=text,
    )
    counts = count_statuses(bench.workspace, found.id, rest) if with_counts else None
    with status_place:
        chosen = replace(rest, statuses=status_input(found.id, counts))
    clear_place.button(
        "Clear filters",
        icon=":material/filter_alt_off:",
        type="tertiary",
        disabled=chosen == SilverFilter(),
        key=f"silver-clear-{found.id}",
        on_click=clear_filters,
        args=(found.id, scale),
        help="Shows all pairs of the set again; decisions stay.",
    )
    return chosen, sort


def sorts_of(has_ranks: bool, known: Sequence[str], has_student: bool) -> list[str]:
    """The orders that mean something for a set: those by what nothing is known of are left out."""
    there = {
        "rank": has_ranks,
        "order_gap": "order_gap" in known,
        "label_spread": "label_spread" in known,
        "student": has_student,
    }
    return [sort for sort, column in SORTS.items() if there.get(column, True)]


def status_input(set_id: int, counts: dict[str, int] | None) -> tuple[str, ...]:
    """Choose statuses, each shown with its number of pairs where it is known; none chosen means all."""

    def label(status: str) -> str:
        number = "" if counts is None else f" {counts[status]:,}"
        return f"{STATUS_ICONS[status]} {status}{number}"

    chosen = st.pills(
        "Status",
        STATUSES,
        selection_mode="multi",
        format_func=label,
        key=f"silver-status-{set_id}",
        persist_state="session",
        help="What people have decided: unreviewed pairs count with the labeler's score, rejected ones are left "
        "out of training. None chosen shows all.",
    )
    return tuple(chosen or ())


def clear_filters(set_id: int, scale: ScoreRange) -> None:
    """Show all pairs again; for a callback."""
    st.session_state[range_key(set_id)] = (scale.low, scale.high)
    st.session_state[filter_key(set_id, "text")] = ""
    st.session_state[filter_key(set_id, "rank")] = None
    st.session_state[filter_key(set_id, "status")] = []
    for name, off in MORE.items():
        st.session_state[filter_key(set_id, name)] = off


def filter_words(chosen: SilverFilter, scale: ScoreRange) -> str:
    """A filter in a few words, "scores 2.50 to 5.00, unreviewed, with “dog”"; "all pairs" when it has no bound."""
    width = scale.high - scale.low
    parts = []
    if (chosen.low, chosen.high) != (0.0, 1.0):
        parts.append(f"scores {scale.to_raw(chosen.low):.2f} to {scale.to_raw(chosen.high):.2f}")
    if chosen.statuses:
        parts.append(" or ".join(chosen.statuses))
    parts += _bounds("ranks", chosen.min_rank, chosen.max_rank)
    parts += _bounds("words", chosen.min_words, chosen.max_words)
    parts += _bounds("word overlap", chosen.min_overlap, chosen.max_overlap)
    for name, bound in (
        ("order gap", chosen.min_gap),
        ("spread", chosen.min_spread),
        ("labeler and student apart", chosen.min_disagreement),
    ):
        parts += _bounds(name, None if bound is None else round(bound * width, 4), None)
    if chosen.edited_by:
        parts.append(f"decided by {chosen.edited_by}")
    if chosen.text.strip():
        parts.append(f"with “{chosen.text.strip()}”")
    return ", ".join(parts) or "all pairs"


def _bounds(name: str, low: float | None, high: float | None) -> list[str]:
    if low is None and high is None:
        return []
    if high is None:
        return [f"{name} from {low:g}"]
    return [f"{name} up to {high:g}" if low is None else f"{name} {low:g} to {high:g}"]
