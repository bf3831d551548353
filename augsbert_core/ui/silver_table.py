"""Review silver pairs: a filtered, paged table in which every edit is saved at once.

The editor keeps its own edits and lays them over the frame that it is given. So the rows of the frame
stay fixed until the filter changes; edits are applied to the store by pair id, and what follows from
them (a typed score makes a pair "corrected") is written back into the frame's other columns.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import streamlit as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.pairs import ScoreRange
from augsbert_core.storage import reviews, silver_bins, silver_pages, silver_sets
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project
from augsbert_core.ui.notices import Refused, tell
from augsbert_core.ui.silver_walk import PAGE_ROWS, Path
from augsbert_core.ui.widgets import table_pager, user_errors

ROW_PIXELS = 66
"""Room for three lines, so that most sentences can be read whole; text wraps in rows above 64 pixels."""
VIEW = "silver-view"
CLICKED = "silver-open"

ROW_COLUMNS = ["open", "sentence1", "sentence2", "shown", "status", "labeler"]
EDITED = ("shown", "status")
UNION_RANKS = ["bm25_rank", "semantic_rank"]
"""Both ranks of a pair, for sets that two samplers have found."""
DOUBTS = ["order_gap", "label_spread"]
"""How unsure the labeler was, for sets whose labels were made in both orders or by several scorers."""


@dataclass
class View:
    """The page of pairs on the screen. state: id → (correction, status) as the store has it."""

    signature: tuple
    frame: pd.DataFrame
    state: dict[int, tuple[float | None, str]]
    version: int
    applied: dict[int, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Decision:
    """What becomes of a pair."""

    correction: float | None
    status: str
    notice: str = ""


def decide(
    changed: dict[str, Any], correction: float | None, status: str, scale: ScoreRange
) -> Decision:
    """What an edit means. changed: the edited cells, "shown" (a score as typed) or "status".

    Typing a score corrects the pair. "unreviewed" and "accepted" go back to the labeler's score; "flagged"
    and "rejected" keep a correction. WorkbenchError: the score is not on the scale.
    """
    typed = (changed.get("shown") or "").strip()
    if typed:
        try:
            # A decimal comma is read as one: the browser's own number cell would make 0,5 a 5.
            return Decision(scale.to_unit(float(typed.replace(",", "."))), "corrected")
        except ValueError:
            raise WorkbenchError(
                f"A score is a number from {scale.low:g} to {scale.high:g}; {typed!r} is not. "
                "Nothing was saved."
            ) from None
    if "shown" in changed:
        return Decision(None, "unreviewed")
    wanted = changed.get("status") or "unreviewed"
    if wanted == "corrected" and correction is None:
        return Decision(None, status, "To correct a pair, type another score in its row.")
    return Decision(None if wanted in ("unreviewed", "accepted") else correction, wanted)


def review_table(
    workspace: Workspace,
    project: Project,
    path: Path,
    total: int,
    *,
    actor: str,
    on_open: Callable[[int, int], None],
) -> None:
    """One page of silver pairs; scores and statuses can be edited, and each edit is saved at once.

    total: pairs that pass the filter. actor: who decides. on_open: called with the offset of the page and the row of
    the pair to look at.
    """
    if not total:
        nothing_passes()
        return
    offset = table_pager(total, f"silver-pager-{path.set_id}", PAGE_ROWS)
    view = _view(project, path, offset)
    key = f"silver-editor-{view.version}"

    def opened() -> None:
        on_open(offset, int(st.session_state[CLICKED]["row"]))

    st.data_editor(
        view.frame,
        key=key,
        hide_index=True,
        height=min(40 + ROW_PIXELS * len(view.frame), 600),
        row_height=ROW_PIXELS,
        disabled=[name for name in view.frame.columns if name not in EDITED],
        column_order=_order(view.frame, path),
        column_config=_columns(project.score_range, opened),
        on_change=save_edits,
        args=(workspace, project.score_range, key, actor),
        alt="Silver pairs, scores can be edited",
    )


def nothing_passes() -> None:
    """Say that the filters leave no pair."""
    st.info("No pair passes these filters. Widen the score range, or clear the filters.")


def _view(project: Project, path: Path, offset: int) -> View:
    """The view on the screen, read anew only when another page, filter or order is asked for."""
    signature = (*path.signature, offset)
    view: View | None = st.session_state.get(VIEW)
    if view is None or view.signature != signature:
        page = path.page(offset)
        version = st.session_state.get("silver-version", 0) + 1
        st.session_state["silver-version"] = version
        view = View(signature, _frame(page, project.score_range), _states(page), version)
        st.session_state[VIEW] = view
    return view


def _frame(page: pd.DataFrame, scale: ScoreRange) -> pd.DataFrame:
    width = scale.high - scale.low
    frame = page.assign(
        open=":material/open_in_full:",
        shown=[score_cell(scale.to_raw(score)) for score in page["final_score"]],
        labeler=[round(scale.to_raw(score), 4) for score in page["score"]],
        student=scale.low + page["student"].astype(float) * width,
        words=page["words"].astype("Int64"),
        overlap=page["overlap"].astype(float),
        **{name: page[name].astype("Int64") for name in ("rank", *UNION_RANKS)},
        **{name: page[name].astype(float) * width for name in DOUBTS},
    )
    shown = [*ROW_COLUMNS, "student", "words", "overlap", "rank", *UNION_RANKS, *DOUBTS]
    return frame.set_index("id")[shown]


def _order(frame: pd.DataFrame, path: Path) -> list[str]:
    """The columns on the screen: what is known of the pairs, and what they are filtered or sorted by."""
    chosen, sorted_by = path.chosen, silver_pages.SORTS[path.sort]
    shown = [*ROW_COLUMNS]
    shown += [name for name in ("student", *DOUBTS) if frame[name].notna().any()]
    if sorted_by == "words" or (chosen.min_words, chosen.max_words) != (None, None):
        shown.append("words")
    if sorted_by == "overlap" or (chosen.min_overlap, chosen.max_overlap) != (
        None,
        None,
    ):
        shown.append("overlap")
    if frame[UNION_RANKS].notna().any(axis=None):
        return [*shown, *UNION_RANKS]
    return [*shown, "rank"] if frame["rank"].notna().any() else shown


def score_cell(raw: float) -> str:
    """A score as the table shows it."""
    return f"{raw:.2f}"


def _states(page: pd.DataFrame) -> dict[int, tuple[float | None, str]]:
    return {
        int(row["id"]): (
            None if pd.isna(row["correction"]) else float(row["correction"]),
            str(row["status"]),
        )
        for row in page.to_dict("records")
    }


def save_edits(workspace: Workspace, scale: ScoreRange, key: str, actor: str) -> None:
    """Apply what has changed since the last call; the editor reports all its edits every time."""
    view: View = st.session_state[VIEW]
    try:
        for position, cells in st.session_state[key]["edited_rows"].items():
            pair_id = int(view.frame.index[int(position)])
            known = view.applied.get(pair_id, {})
            changed = {name: value for name, value in cells.items() if known.get(name, "") != value}
            if changed:
                view.applied[pair_id] = dict(cells)
                _save_one(workspace, scale, view, pair_id, changed, actor)
    except WorkbenchError as error:
        tell(Refused(error))
        reload_view()


def _save_one(
    workspace: Workspace,
    scale: ScoreRange,
    view: View,
    pair_id: int,
    changed: dict[str, Any],
    actor: str,
) -> None:
    decision = decide(changed, *view.state[pair_id], scale)
    reviews.review_silver_pair(
        workspace,
        pair_id,
        correction=decision.correction,
        status=decision.status,
        actor=actor,
        seen=view.state[pair_id],
    )
    labeler = float(view.frame["labeler"][pair_id])
    final = labeler if decision.correction is None else scale.to_raw(decision.correction)
    view.state[pair_id] = (decision.correction, decision.status)
    view.frame.at[pair_id, "shown"] = score_cell(final)
    view.frame.at[pair_id, "status"] = decision.status
    start = str(view.frame["sentence1"][pair_id])
    tell(decision.notice or saved_text(decision, labeler, final, start))
    # The editor goes on showing its own edit; where that is not what was saved, it has to start afresh.
    cells = view.applied[pair_id]
    is_shown = cells.get("shown", score_cell(final)) == score_cell(final)
    if not is_shown or cells.get("status", decision.status) != decision.status:
        reload_view()


def reload_view() -> None:
    """Read the page anew at the next run."""
    st.session_state.pop(VIEW, None)


def saved_text(decision: Decision, labeler: float, final: float, sentence: str) -> str:
    """What was saved, in words. labeler, final: raw scores."""
    what = decision.status
    if decision.correction is not None and decision.status == "corrected":
        what = f"corrected from {labeler:.2f} to {final:.2f}"
    return f"Saved: {what} · {sentence[:60]}"


def _columns(scale: ScoreRange, opened: Callable[[], None]) -> dict[str, Any]:
    return {
        "open": st.column_config.ButtonColumn(
            "",
            width=36,
            type="tertiary",
            help="Open the pair: models, nearest gold pairs, history.",
            on_click=opened,
            key=CLICKED,
        ),
        "sentence1": st.column_config.TextColumn("Sentence 1", width=235),
        "sentence2": st.column_config.TextColumn("Sentence 2", width=235),
        "shown": st.column_config.TextColumn(
            "Score",
            width=75,
            max_chars=12,
            help=f"Type a score from {scale.low:g} to {scale.high:g} to correct the labeler.",
        ),
        "status": st.column_config.SelectboxColumn(
            "Status",
            options=list(silver_bins.STATUSES),
            width=105,
            help="Rejected pairs are left out of training. Unreviewed goes back to the labeler's score.",
        ),
        "labeler": st.column_config.NumberColumn(
            "Labeler", format="%.2f", width=75, help="What the labeler said."
        ),
        "order_gap": st.column_config.NumberColumn(
            "Order gap",
            format="%.2f",
            width=75,
            help="How far apart the scores of (A, B) and (B, A) are: large where the labeler is unsure.",
        ),
        "label_spread": st.column_config.NumberColumn(
            "Spread",
            format="%.2f",
            width=75,
            help="Standard deviation between the scorers whose mean is the label.",
        ),
        "student": st.column_config.NumberColumn(
            "Student",
            format="%.2f",
            width=75,
            help="What the student says that was asked for its scores.",
        ),
        "words": st.column_config.NumberColumn(
            "Words", format="%d", width=60, help="Words of the longer sentence."
        ),
        "overlap": st.column_config.NumberColumn(
            "Overlap",
            format="%.2f",
            width=70,
            help="Words that both sentences have, as a share of all their words.",
        ),
        "rank": st.column_config.NumberColumn("Rank", format="%d", width=50),
        "bm25_rank": st.column_config.NumberColumn(
            "BM25",
            format="%d",
            width=50,
            help="Rank by BM25; empty where it did not find the pair.",
        ),
        "semantic_rank": st.column_config.NumberColumn(
            "Sem.",
            format="%d",
            width=50,
            help="Rank by semantic search; empty where it did not find the pair.",
        ),
    }


def delete_set_button(workspace: Workspace, set_id: int, n_pairs: int) -> None:
    """Delete a silver set after asking once more."""
    with st.popover(
        "Delete set",
        icon=":material/delete:",
        help="Remove it with its decisions, after asking once more; sets that were kept of it stay.",
    ):
        st.write(f"Delete silver set {set_id} with its {n_pairs:,} labels and all corrections?")
        if st.button(
            "Yes, delete it",
            key=f"delete-silver-{set_id}",
            type="primary",
            help="There is no way back: corrections are people's work, so export them first.",
        ):
            with user_errors():
                silver_sets.delete_silver_set(workspace, set_id)
                reload_view()
                st.rerun()
