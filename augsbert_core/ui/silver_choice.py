"""How a training takes people's decisions on silver pairs: the inputs of both train pages."""

from typing import Any

import streamlit as st

from augsbert_core.options import BiEncoderOptions
from augsbert_core.storage.records import Project
from augsbert_core.storage.silver_bins import silver_status_counts
from augsbert_core.ui.audit_panel import audit_caption
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.recipes import keep
from augsbert_core.ui.widgets import as_text

DEFAULTS = BiEncoderOptions()

SCORES = {"corrected": "Corrected", "raw": "As the labeler gave them"}


def silver_choice_inputs(
    bench: Bench, page: str, project: Project, set_id: int | None, *, may_promote: bool
) -> dict[str, Any]:
    """Raw or corrected scores, rejected pairs, and corrections as gold; nothing to ask without decisions.

    may_promote: the recipe may train on gold, so that there is something for corrections to join.
    """
    if set_id is None:
        return {}
    if audited := audit_caption(bench.workspace, project, set_id):
        st.caption(f":material/fact_check: {as_text(audited)}")
    counts = silver_status_counts(bench.workspace, set_id)
    if not counts["corrected"] + counts["accepted"] + counts["rejected"]:
        return {}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        scores = st.segmented_control(
            "Silver scores",
            list(SCORES),
            format_func=SCORES.__getitem__,
            required=True,
            help="Corrected takes people's scores where there are any. The labeler's own show what the corrections add.",
            **keep(page, project, "silver_scores", DEFAULTS.silver_scores),
        )
        rejected = st.checkbox(
            "Keep rejected pairs",
            disabled=not counts["rejected"],
            help="Train on pairs that people rejected as well, to see what leaving them out adds.",
            **keep(page, project, "keep_rejected", DEFAULTS.keep_rejected),
        )
        promote = may_promote and st.checkbox(
            "Corrections count as gold",
            disabled=not counts["corrected"] + counts["accepted"],
            help="People vouch for corrected and accepted pairs, so they join the gold pairs, with their weight, "
            "repeats and stages, and are not read as silver too. Pairs that dev or test gold holds are left out.",
            **keep(page, project, "promote", DEFAULTS.promote),
        )
    st.caption(f":material/rate_review: In this set: {decisions_text(counts)}.")
    return {
        "silver_scores": scores or DEFAULTS.silver_scores,
        "keep_rejected": bool(rejected and counts["rejected"]),
        "promote": bool(promote and counts["corrected"] + counts["accepted"]),
    }


def corrections_input(
    bench: Bench, page: str, project: Project, sets: dict[int, Any]
) -> int | None:
    """Which set's corrected and accepted pairs join the gold pairs of a labeler; not asked where there are none.

    sets: the complete silver sets by id.
    """
    counts = {number: silver_status_counts(bench.workspace, number) for number in sets}
    choices = [0, *(n for n, each in counts.items() if each["corrected"] + each["accepted"])]
    kept = keep(page, project, "corrections_of", 0)
    if st.session_state[kept["key"]] not in choices:
        st.session_state[kept["key"]] = 0
    if len(choices) == 1:
        return None
    chosen = st.selectbox(
        "Corrections that join gold",
        choices,
        format_func=lambda number: (
            f"Silver set {number}: {counts[number]['corrected']:,} corrected, "
            f"{counts[number]['accepted']:,} accepted"
            if number
            else "None"
        ),
        help="What people corrected and accepted in a silver set is as good as gold: the labeler learns from it. Pairs "
        "that gold holds already are left out.",
        **kept,
    )
    return chosen or None


def decisions_text(counts: dict[str, int]) -> str:
    """ "37 corrected, 12 accepted, 80 rejected"."""
    return ", ".join(
        f"{counts[status]:,} {status}" for status in ("corrected", "accepted", "rejected")
    )
