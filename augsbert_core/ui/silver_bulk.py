"""One decision on every silver pair that passes the filter, after the exact number was confirmed."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.pairs import ScoreRange
from augsbert_core.storage import reviews, silver_pages
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project
from augsbert_core.storage.silver_filters import SilverFilter
from augsbert_core.ui.edit_panel import Tell
from augsbert_core.ui.notices import Refused
from augsbert_core.ui.silver_filters import filter_words
from augsbert_core.ui.widgets import as_text, bar_for_long_work


@dataclass(frozen=True)
class Action:
    """Something that can be done to many pairs. status: what becomes of them, "" when their scores change."""

    label: str
    icon: str
    verb: str
    done: str
    status: str
    help: str


ACTIONS = {
    "accept": Action(
        "Accept",
        ":material/check_circle:",
        "Accept",
        "Accepted",
        "accepted",
        "The labeler's score stands; typed scores are taken back.",
    ),
    "reject": Action(
        "Reject",
        ":material/block:",
        "Reject",
        "Rejected",
        "rejected",
        "They are left out of training.",
    ),
    "flag": Action(
        "Flag", ":material/flag:", "Flag", "Flagged", "flagged", "To be looked at again."
    ),
    "unreviewed": Action(
        "Back to unreviewed",
        ":material/radio_button_unchecked:",
        "Put back",
        "Put back",
        "unreviewed",
        "Every decision on them is taken back, and so is every typed score.",
    ),
    "rescale": Action(
        "Rescale",
        ":material/linear_scale:",
        "Rescale",
        "Rescaled",
        "",
        "The labeler's scores are mapped in a straight line onto another range; each pair becomes corrected. "
        "Rejected pairs stay as they are.",
    ),
}


def bulk_panel(
    workspace: Workspace,
    project: Project,
    set_id: int,
    chosen: SilverFilter,
    total: int,
    *,
    actor: str,
    tell: Tell,
) -> None:
    """Accept, reject, flag, put back or rescale all pairs that pass the filter, as one edit that can be undone.

    total: how many they are.
    """
    panel = st.popover(
        "No pairs" if not total else f"All {pairs(total)}" if total > 1 else "The one pair",
        icon=":material/done_all:",
        key=f"silver-bulk-{set_id}",
        on_change="rerun",
        disabled=not total,
        help="Accept, reject, flag or rescale all pairs that pass the filters.",
    )
    if not (panel.open and total):
        return
    with panel:
        scale = project.score_range
        st.markdown(f"**{pairs(total)}** · {as_text(filter_words(chosen, scale))}")
        name = st.segmented_control(
            "What to do",
            list(ACTIONS),
            format_func=lambda name: f"{ACTIONS[name].icon} {ACTIONS[name].label}",
            key=f"silver-bulk-action-{set_id}",
            help="One decision for all pairs that pass the filters.",
        )
        if name is None:
            st.caption("Choose what becomes of them. One press of Undo takes it back.")
            return
        action = ACTIONS[name]
        st.caption(action.help)
        target = _range_input(scale, set_id) if not action.status else None
        ids = silver_pages.filtered_ids(workspace, set_id, chosen)
        total = len(ids)
        # Another filter, action or choice of pairs is another box: what was confirmed is what is done.
        sure = st.checkbox(
            f"I mean {'the one pair' if total == 1 else f'all {pairs(total)}'}",
            key=f"silver-bulk-sure-{set_id}-{name}-{total}-{abs(hash((ids.tobytes(), target)))}",
            help="Asked anew whenever the filters or the decision change.",
        )
        st.button(
            f"{action.verb} {pairs(total)}",
            type="primary",
            icon=action.icon,
            disabled=not sure,
            key=f"silver-bulk-go-{set_id}",
            on_click=do_all,
            args=(workspace, set_id, chosen, scale, name, ids, target, actor, tell),
            help="Written as one edit: a single press of Undo takes it back.",
        )


def _range_input(scale: ScoreRange, set_id: int) -> tuple[float, float]:
    left, right = st.columns(2)
    step = (scale.high - scale.low) / 50
    low, high = (
        place.number_input(
            label,
            scale.low,
            scale.high,
            value=value,
            step=step,
            format="%.2f",
            key=f"silver-bulk-{name}-{set_id}",
            help=f"Where the labeler's {value:g} goes.",
        )
        for place, label, value, name in (
            (left, "Lowest becomes", scale.low, "low"),
            (right, "Highest becomes", scale.high, "high"),
        )
    )
    return low, high


def do_all(
    workspace: Workspace,
    set_id: int,
    chosen: SilverFilter,
    scale: ScoreRange,
    name: str,
    confirmed: np.ndarray,
    target: tuple[float, float] | None,
    actor: str,
    tell: Tell,
) -> None:
    """Carry out what was confirmed, if the filter still has those pairs; for the callback of a button.

    confirmed: the ids of the pairs, ascending.
    """
    action = ACTIONS[name]
    try:
        ids = silver_pages.filtered_ids(workspace, set_id, chosen)
        if not np.array_equal(ids, confirmed):
            now = (
                "others"
                if len(ids) == len(confirmed)
                else f"{pairs(len(ids))}, not {len(confirmed):,}"
            )
            raise WorkbenchError(
                f"The filter has {now} by now: someone else is at work on this set. Nothing was changed. Look again and "
                "confirm anew."
            )
        # The log counts by itself, so that it is right for an edit that was cut short too.
        words = filter_words(chosen, scale)
        if target is None:
            to = ""
            changed = reviews.review_many(
                workspace,
                set_id,
                ids,
                status=action.status,
                actor=actor,
                summary=f"{action.done}: {words}",
                report=bar_for_long_work(),
            )
        else:
            low, high = target
            if low >= high:
                raise WorkbenchError(
                    f"The lowest score must lie below the highest; {low:g} and {high:g} do not."
                )
            to = f" to {low:g} – {high:g}"
            changed = reviews.rescale_many(
                workspace,
                set_id,
                ids,
                low=scale.to_unit(low),
                high=scale.to_unit(high),
                actor=actor,
                summary=f"{action.done}{to}: {words}",
                report=bar_for_long_work(),
            )
        kept = len(ids) - changed
        told = f"{action.done} {pairs(len(ids))}{to}: {words}"
        tell(told + (f" · {kept:,} of them stayed as they were" if kept else ""))
    except WorkbenchError as error:
        tell(Refused(error))


def pairs(number: int) -> str:
    """A number of pairs in words."""
    return f"{number:,} pair{'' if number == 1 else 's'}"
