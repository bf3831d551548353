"""The review of a silver set: filters, the pairs in a table or one by one, decisions, undo, and their log."""

import streamlit as st

from augsbert_core.storage import edits, silver_pages
from augsbert_core.storage.records import Project, SilverSet
from augsbert_core.ui import silver_filters, silver_table, silver_walk
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.data_export import silver_export
from augsbert_core.ui.edit_panel import edit_buttons, edit_log_panel, overwritten_notice
from augsbert_core.ui.identity import name_button
from augsbert_core.ui.job_panel import job_panel
from augsbert_core.ui.last_job import needs_a_look
from augsbert_core.ui.notices import show_notice
from augsbert_core.ui.silver_bulk import bulk_panel
from augsbert_core.ui.silver_detail import drawn_anew, review_one_by_one
from augsbert_core.ui.silver_walk import Path


def mode_key(set_id: int) -> str:
    """The state key of how pairs are shown: one by one, or in a table."""
    return f"silver-mode-{set_id}"


def is_one_by_one(set_id: int) -> bool:
    """Whether the pairs of a set are gone through one by one: the page then makes room for them."""
    return bool(st.session_state.get(mode_key(set_id), False))


def silver_review(bench: Bench, project: Project, found: SilverSet) -> None:
    """Find silver pairs, read them, and decide on them; everything is saved at once and can be undone."""
    workspace, scope = bench.workspace, edits.Scope.silver(found.id)
    one_by_one = is_one_by_one(found.id)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if one_by_one:
            _mode_switch(found.id, one_by_one)
        else:
            st.subheader("Review", anchor=False, width="stretch")
        actor = name_button()
        export_place = st.container(width="content")
        silver_table.delete_set_button(workspace, found.id, found.n_pairs)
    if needs_a_look(bench, "student-scores"):
        job_panel(bench, ["student-scores"])
    filter_place = (
        st.expander("Filters and order", icon=":material/filter_alt:")
        if one_by_one
        else st.container()
    )
    with filter_place:
        # One by one, the numbers stand beside the pair, where every key brings them up to date.
        chosen, sort = silver_filters.filter_inputs(
            bench, project, found, with_counts=not one_by_one
        )
    path = Path(workspace, found.id, chosen, sort)
    if one_by_one:
        _to_the_top(found.id)
        review_one_by_one(workspace, project, path, actor)
    else:
        _table(bench, project, path, actor)
    edit_log_panel(workspace, scope, f"silver-{found.id}", project.score_range)
    with export_place:
        silver_export(bench, project, found, chosen)


def _table(bench: Bench, project: Project, path: Path, actor: str) -> None:
    """The pairs in a table, and what can be done to all that pass the filter."""
    workspace, set_id = bench.workspace, path.set_id
    scope = edits.Scope.silver(set_id)
    st.session_state.pop(AT_TOP, None)
    total = silver_pages.count_silver(workspace, set_id, path.chosen)
    with st.container(horizontal=True, vertical_alignment="center"):
        _mode_switch(set_id, False)
        bulk_panel(workspace, project, set_id, path.chosen, total, actor=actor, tell=drawn_anew)
        edit_buttons(workspace, scope, actor, drawn_anew)
    show_notice()
    overwritten_notice(workspace, scope, actor, drawn_anew)

    def opened(offset: int, row: int) -> None:
        silver_walk.start_at(path, offset, row)
        st.session_state[mode_key(set_id)] = True

    silver_table.review_table(workspace, project, path, total, actor=actor, on_open=opened)


AT_TOP = "silver-at-top"
TO_THE_TOP = "<script>document.querySelector('[data-testid=\"stMain\"]')?.scrollTo(0, 0)</script>"


def _to_the_top(set_id: int) -> None:
    """Pairs are opened from far down the page; once, the page goes to where they are shown."""
    if st.session_state.get(AT_TOP) != set_id:
        st.session_state[AT_TOP] = set_id
        st.html(TO_THE_TOP, unsafe_allow_javascript=True)


def _mode_switch(set_id: int, is_on: bool) -> None:
    """The button between going through pairs one by one and the table.

    A plain button: a switch or a row of choices takes keys for itself as long as it has the focus.
    """
    key = mode_key(set_id)
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
            else "The pairs as rows again; filters and decisions stay.",
        )
