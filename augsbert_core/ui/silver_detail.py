"""One silver pair with all that is known of it, and decisions by keyboard: the review of pairs one by one."""

import html
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.pairs import ScoreRange
from augsbert_core.scales import SCALES, Level
from augsbert_core.steps.nearest_gold import NearGold, nearest_gold
from augsbert_core.storage import edits, reviews, silver_pages
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.edit_details import edit_details
from augsbert_core.storage.records import Project
from augsbert_core.storage.silver_pages import SilverDetail
from augsbert_core.ui import silver_walk
from augsbert_core.ui.edit_panel import Tell, edit_buttons, overwritten_notice
from augsbert_core.ui.notices import Refused, show_notice, tell
from augsbert_core.ui.pair_view import show_pair
from augsbert_core.ui.score_strip import ROLES, Mark, strip_html
from augsbert_core.ui.silver_filters import STATUS_ICONS, filter_words
from augsbert_core.ui.silver_table import Decision, nothing_passes, reload_view, saved_text
from augsbert_core.ui.silver_walk import Path, Walk
from augsbert_core.ui.widgets import as_text, time_text

HOW_TO = "A accepts, X rejects, F flags, B puts back, arrows move. Every decision is saved at once."
DECISIONS = {
    "accepted": ("Accept", "a", "The labeler's score stands."),
    "rejected": ("Reject", "x", "The pair is left out of training."),
    "flagged": ("Flag", "f", "To be looked at again."),
    "unreviewed": ("Put back", "b", "Back to unreviewed, with the labeler's score."),
}
"""Status → word on its button, key, what it means."""

COLORS = {
    "unreviewed": "gray",
    "corrected": "blue",
    "accepted": "green",
    "rejected": "red",
    "flagged": "orange",
}
"""Status → the colour of its badge."""

NEAR = 5
LIST_ROWS = 11


@st.fragment
def review_one_by_one(workspace: Workspace, project: Project, path: Path, actor: str) -> None:
    """The list of the filtered pairs beside the one that is open; only this part is drawn anew at a key."""
    walk = silver_walk.present_walk(path)
    if walk is None:
        nothing_passes()
        return
    try:
        detail = silver_pages.silver_detail(workspace, walk.pair_id)
    except WorkbenchError as error:
        st.warning(as_text(str(error)), icon=":material/block:")
        return
    near = nearest_gold(workspace, project, detail.sentence1, detail.sentence2, top=NEAR)
    tell_there = partial(drawn_at_the_pair, path, actor)
    _moves(workspace, path, walk, actor, tell_there, detail.status)
    show_notice(HOW_TO)
    overwritten_notice(workspace, edits.Scope.silver(path.set_id), actor, tell_there)
    left, right = st.columns([1, 2.5], gap="small")
    with left:
        _list(walk, project.score_range)
    with right, st.container(border=True):
        show_pair(detail.sentence1, detail.sentence2)
        st.html(strip_html(project.score_range, marks(detail, near, project.score_range)))
        decide = partial(decide_on, project.score_range, path, actor, detail)
        _decisions(detail, decide)
        _levels(project.score_range, detail, decide)
        st.caption(as_text(facts(detail, project.score_range)))
    _counts(walk, path, project.score_range)
    below, beside = st.columns([2.5, 1], gap="medium")
    with below:
        _near(near)
    with beside:
        _history(workspace, project.score_range, detail.id)


# The list


def _list(walk: Walk, scale: ScoreRange) -> None:
    """The pairs around the open one; a click opens another.

    Plain buttons: a table with a selection reports late, and what it reports of the place before would be taken for a
    click that opens another pair between a key and its decision.
    """
    first = max(min(walk.at - LIST_ROWS // 2, len(walk.page) - LIST_ROWS), 0)
    around = walk.page.iloc[first : first + LIST_ROWS]
    with st.container(gap=None, key="silver-walk-list"):
        for at, row in enumerate(around.itertuples(index=False), start=first):
            st.button(
                row_label(row, scale),
                key=f"silver-walk-row-{row.id}",
                type="primary" if at == walk.at else "tertiary",
                width="stretch",
                wrap=False,
                on_click=_open,
                args=(walk, at),
                help=both_sentences(row),
            )


def row_label(row: Any, scale: ScoreRange) -> str:
    """Score, status and both sentences of a pair in one line."""
    score = f"{scale.to_raw(row.final_score):.2f} {STATUS_MARKS[row.status]}".strip()
    return f"**{score}** {both_sentences(row)}"


def both_sentences(row: Any) -> str:
    """A pair in one line."""
    return f"{as_text(row.sentence1)} ⟷ {as_text(row.sentence2)}"


def _open(walk: Walk, at: int) -> None:
    walk.at = at


STATUS_MARKS = {
    "unreviewed": "",
    "corrected": "✎",
    "accepted": "✓",
    "rejected": "✕",
    "flagged": "⚑",
}


def _counts(walk: Walk, path: Path, scale: ScoreRange) -> None:
    """Pairs of each status, as they are after the last key, and the filter that they are counted in."""
    rest = replace(path.chosen, statuses=())
    told = " · ".join(
        f"{STATUS_ICONS[status]} {status} {number:,}" for status, number in walk.counts.items()
    )
    st.caption(f"{told} · of {as_text(filter_words(rest, scale))}")


def _moves(
    workspace: Workspace, path: Path, walk: Walk, actor: str, tell_there: Tell, status: str
) -> None:
    """Where one is, and the buttons that move and take back."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        badge = f":{COLORS[status]}-badge[{STATUS_ICONS[status]} {status}]"
        st.markdown(f"**Pair {walk.place:,}** of {walk.total:,} {badge}", width="stretch")
        for label, key, by in (("Previous", "left", -1), ("Next", "right", 1)):
            st.button(
                label,
                key=f"silver-walk-{key}",
                shortcut=key,
                on_click=_move,
                args=(path, walk.pair_id, by),
                help="Moves through the pairs that pass the filters; nothing is decided by it.",
            )
        scope = edits.Scope.silver(path.set_id)
        edit_buttons(workspace, scope, actor, tell_there, keys=True)


def _move(path: Path, pair_id: int, by: int) -> None:
    walk = silver_walk.present_walk(path)
    if walk is None or walk.pair_id != pair_id:
        return  # a second key, pressed before the next pair was shown
    if not silver_walk.step(path, by):
        tell("That was the last pair of this filter." if by > 0 else "This is the first pair.")


def drawn_anew(text: str) -> None:
    """Tell what was done and read the pairs anew: for undo, redo and decisions on many pairs."""
    tell(text)
    reload_view()
    silver_walk.reload_walk()


def drawn_at_the_pair(path: Path, actor: str, text: str) -> None:
    """As `drawn_anew`, and open the pair that was undone or redone, where it is one that passes the filter."""
    drawn_anew(text)
    if isinstance(text, Refused) or not text:
        return
    scope = edits.Scope.silver(path.set_id)
    latest = edits.edit_log(path.workspace, scope, actor=actor, limit=1)
    details = edit_details(path.workspace, scope, [row.id for row in latest])
    for one in details.values():
        if not silver_walk.go_to(path, one.pair_id):
            drawn_anew(f"{text} · it does not pass this filter, or is far from here")


# Decisions


def _decisions(detail: SilverDetail, decide: Any) -> None:
    with st.container(horizontal=True, gap="small"):
        for status, (label, key, help_text) in DECISIONS.items():
            st.button(
                label,
                icon=STATUS_ICONS[status],
                key=f"silver-walk-{status}",
                shortcut=key,
                type="primary" if status == detail.status != "unreviewed" else "secondary",
                on_click=decide,
                args=(status, None),
                help=help_text,
            )


def _levels(scale: ScoreRange, detail: SilverDetail, decide: Any) -> None:
    """A button per level of the project's scale: the pair gets this score."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.markdown("Correct to", width="content")
        for level in levels_of(scale):
            chosen = detail.correction is not None and abs(detail.correction - level.score) < 1e-9
            st.button(
                level.label,
                key=f"silver-walk-level-{level.label}",
                shortcut=level.key,
                type="primary" if chosen else "secondary",
                on_click=decide,
                args=("corrected", level.score),
            )


def levels_of(scale: ScoreRange) -> tuple[Level, ...]:
    """What a pair can be corrected to by a key: half steps from 0 to 5, on other scales eleven even steps."""
    if scale == SCALES["0-5"][0]:
        return SCALES["0-5"][1]
    taken = {key for _, key, _ in DECISIONS.values()}
    return tuple(
        Level(
            f"{scale.to_raw(level.score):g}", level.score, TEN if level.key in taken else level.key
        )
        for level in SCALES["0-1"][1]
    )


TEN = "t"
"""The key of the highest of eleven levels, where X is taken: it rejects."""


def decide_on(
    scale: ScoreRange,
    path: Path,
    actor: str,
    detail: SilverDetail,
    status: str,
    correction: float | None,
) -> None:
    """Save a decision on the pair that was on the screen, and go on to the next one."""
    walk = silver_walk.present_walk(path)
    if walk is None or walk.pair_id != detail.id:
        # A second key, pressed before the next pair was shown: it was not meant for that one.
        return
    if status in ("rejected", "flagged"):
        correction = detail.correction
    try:
        reviews.review_silver_pair(
            path.workspace,
            detail.id,
            correction=correction,
            status=status,
            actor=actor,
            seen=(detail.correction, detail.status),
        )
    except WorkbenchError as error:
        drawn_anew(Refused(error))
        return
    final = detail.score if correction is None else correction
    chosen = path.chosen
    walk.note(detail.id, correction, status, passes=chosen.start <= final < chosen.end)
    decision = Decision(correction, status)
    saved = saved_text(decision, scale.to_raw(detail.score), scale.to_raw(final), detail.sentence1)
    tell(saved if silver_walk.step(path, 1) else f"{saved} · that was the last pair of this filter")
    reload_view()


# What is known


def marks(detail: SilverDetail, near: Sequence[NearGold], scale: ScoreRange) -> list[Mark]:
    """The scores of a pair and of its nearest gold pairs, as the strip shows them."""
    shown = [Mark("Labeler", detail.score, "labeler")]
    if detail.student is not None:
        shown.append(Mark("Student", detail.student, "student"))
    if detail.correction is not None:
        shown.append(Mark("Corrected", detail.correction, "correction"))
    labels = ["Nearest gold pairs", *[""] * len(near)]
    return shown + [
        Mark(label, scale.to_unit(one.raw_score), "gold", is_tick=True)
        for label, one in zip(labels, near, strict=False)
    ]


def facts(detail: SilverDetail, scale: ScoreRange) -> str:
    """What else is known of a pair, in one line."""
    width = scale.high - scale.low
    parts = []
    if detail.order_gap is not None:
        parts.append(f"the two orders differ by {width * detail.order_gap:.2f}")
    if detail.label_spread is not None:
        parts.append(f"spread {width * detail.label_spread:.2f}")
    if detail.student is not None:
        apart = width * abs(detail.student - detail.score)
        parts.append(f"labeler and student are {apart:.2f} apart")
    if detail.rank is not None:
        parts.append(f"sampler rank {detail.rank:,}")
    if detail.bm25_rank is not None:
        parts.append(f"BM25 rank {detail.bm25_rank:,}")
    if detail.semantic_rank is not None:
        parts.append(f"semantic rank {detail.semantic_rank:,}")
    if detail.sampler_score is not None:
        parts.append(f"sampler score {detail.sampler_score:.3g}")
    parts += [f"{detail.words:,} words", f"word overlap {detail.overlap:.2f}"]
    line = " · ".join(parts)
    return line[:1].upper() + line[1:]


def _near(near: Sequence[NearGold]) -> None:
    st.markdown(
        "**Nearest gold pairs**",
        help="Training pairs whose words are most like this pair's. Dev and test pairs are not shown, so that "
        "corrections cannot follow them.",
    )
    if not near:
        st.caption("No gold training pair has a word in common with this one.")
        return
    st.html(near_html(near))


def near_html(near: Sequence[NearGold]) -> str:
    """Gold pairs with their scores as a table; texts are escaped."""
    line = "border-top:1px solid color-mix(in srgb, currentColor 14%, transparent)"
    rows = "".join(
        f'<tr><td style="{line};padding:0.35rem 0.8rem 0.35rem 0;vertical-align:top;font-weight:600;'
        f'text-decoration:underline 2px {ROLES["gold"]}">{one.raw_score:.2f}</td>'
        f'<td dir="auto" style="{line};padding:0.35rem 1rem 0.35rem 0;width:50%;vertical-align:top">'
        f"{html.escape(one.sentence1)}</td>"
        f'<td dir="auto" style="{line};padding:0.35rem 0;width:50%;vertical-align:top">'
        f"{html.escape(one.sentence2)}</td></tr>"
        for one in near
    )
    return f'<table style="width:100%;border-collapse:collapse;font-size:0.9rem">{rows}</table>'


def _history(workspace: Workspace, scale: ScoreRange, pair_id: int) -> None:
    st.markdown("**History**")
    rows = edits.pair_history(workspace, "silver_pair", pair_id)
    if not rows:
        st.caption("Nobody has decided on this pair yet.")
    for row in reversed(rows):
        st.caption(as_text(history_text(row, scale)))


def history_text(row: edits.HistoryRow, scale: ScoreRange) -> str:
    """One change of a pair in words."""
    taken_back = ", undone since" if row.state in ("undone", "dropped") else ""
    what = _value(row.after_score, row.after_status, scale)
    how = f"{row.kind}: " if row.kind in ("undo", "redo") else ""
    return f"{time_text(row.at)} · {row.actor} · {how}{what}{taken_back}"


def _value(score: float | None, status: str, scale: ScoreRange) -> str:
    return status if score is None else f"{status} {scale.to_raw(score):.2f}"
