"""The review of a silver set: filters, the pairs in a table or one by one, decisions, undo, and their log."""

import streamlit as st

from augsbert_core.storage import edits, silver_pages
from augsbert_core.storage.records import Project, SilverSet
from augsbert_core.storage.silver_bins import silver_status_counts
from augsbert_core.ui import identity, silver_filters, silver_table, silver_walk
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.data_export import silver_export
from augsbert_core.ui.edit_panel import edit_buttons, edit_log_panel, overwritten_notice
from augsbert_core.ui.job_panel import job_panel
from augsbert_core.ui.last_job import needs_a_look
from augsbert_core.ui.notices import show_notice
from augsbert_core.ui.silver_bulk import bulk_panel
from augsbert_core.ui.silver_detail import drawn_anew, review_one_by_one
from augsbert_core.ui.silver_walk import Path
from augsbert_core.ui.widgets import as_text


def mode_key(set_id: int) -> str:
    """The state key of how pairs are shown: one by one, or in a table."""
    return f"silver-mode-{set_id}"


def silver_review(bench: Bench, project: Project, found: SilverSet) -> None:
    """Find silver pairs, read them, and decide on them; everything is saved at once and can be undone."""
    workspace, scope = bench.workspace, edits.Scope.silver(found.id)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.subheader("Review", anchor=False, width="stretch")
        actor = _person()
        export_place = st.container(width="content")
        silver_table.delete_set_button(workspace, found.id, found.n_pairs)
    if needs_a_look(bench, "student-scores"):
        job_panel(bench, ["student-scores"])
    counts = silver_status_counts(workspace, found.id)
    chosen, sort = silver_filters.filter_inputs(bench, project, found, counts)
    path = Path(workspace, found.id, chosen, sort)
    total = silver_pages.count_silver(workspace, found.id, chosen)
    with st.container(horizontal=True, vertical_alignment="center"):
        one_by_one = _one_by_one(found.id)
        bulk_panel(workspace, project, found.id, chosen, total, actor=actor, tell=drawn_anew)
        if not one_by_one:
            edit_buttons(workspace, scope, actor, drawn_anew)
    if one_by_one:
        review_one_by_one(workspace, project, path, actor)
    else:
        show_notice()
        overwritten_notice(workspace, scope, actor, drawn_anew)

        def opened(offset: int, row: int) -> None:
            silver_walk.start_at(path, offset, row)
            st.session_state[mode_key(found.id)] = True

        silver_table.review_table(workspace, project, path, total, actor=actor, on_open=opened)
    edit_log_panel(workspace, scope, f"silver-{found.id}")
    with export_place:
        silver_export(bench, project, found, chosen)


def _person() -> str:
    """Who decides; a button shows the name, behind it it can be changed."""
    name = identity.person()
    with st.popover(
        as_text(name),
        icon=":material/person:",
        help="Decisions are kept under this name.",
        key="person",
    ):
        return identity.name_input()


def _one_by_one(set_id: int) -> bool:
    """Whether pairs are gone through one by one.

    Asked for by a plain button: a switch or a row of choices takes keys for itself as long as it has the focus.
    """
    key = mode_key(set_id)
    is_on = bool(st.session_state.setdefault(key, False))
    label, icon = (
        ("Back to the table", ":material/table_rows:")
        if is_on
        else ("Review one by one", ":material/keyboard:")
    )
    with st.container(width="stretch"):
        st.button(
            label,
            icon=icon,
            key=f"{key}-switch",
            on_click=st.session_state.__setitem__,
            args=(key, not is_on),
            help="All that is known of a pair, and a key for every decision."
            if not is_on
            else None,
        )
    return is_on
