"""Import on the Gold page: choose, look before anything is written, then import."""

from collections import Counter
from collections.abc import Sequence
from itertools import islice

import pandas as pd
import streamlit as st

from augsbert_core.exporting.files import rejected_csv
from augsbert_core.importing.columns import KINDS
from augsbert_core.importing.rows import Rejected
from augsbert_core.options import ImportOptions
from augsbert_core.pairs import SPLITS
from augsbert_core.progress import stretch
from augsbert_core.steps.import_data import ImportReport, import_file
from augsbert_core.steps.import_plan import ImportPlan
from augsbert_core.storage.projects import count_project
from augsbert_core.storage.records import Project
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.checklist import many
from augsbert_core.ui.import_options import choose_options
from augsbert_core.ui.import_sources import Source, choose_sources, forget_sources, plan_of
from augsbert_core.ui.widgets import as_text, bar_report, flash, user_errors

PREVIEW_ROWS = 20
SHOWN_REJECTS = 1_000
EXAMPLES = {
    "pairs": "A man plays a guitar.\tSomeone is playing music.\t3.4\nThe cat sleeps.\tIt rains.\t0",
    "sentences": "How do I reset my password?\nThe parcel arrived a day late.",
    "unlabelled-pairs": "How do I reset my password?\tI forgot my password.",
    "nli": "A man plays a guitar.\tSomeone makes music.\tentailment\n"
    "A man plays a guitar.\tThe man sleeps.\tcontradiction",
    "triplets": "A man plays a guitar.\tSomeone makes music.\tA man eats a pear.",
}
NOUNS = {
    "pairs": "gold pair",
    "sentences": "sentence",
    "unlabelled-pairs": "candidate pair",
    "nli": "NLI pair",
    "triplets": "triplet",
}
KINDS_WITHOUT_SCORES = {
    "sentences": "Sentences",
    "unlabelled-pairs": "Pairs without scores",
    "nli": "NLI pairs",
    "triplets": "Triplets",
}
WHAT_FOR = {
    "sentences": "More sentences to draw candidate pairs from, for example of a new domain.",
    "unlabelled-pairs": "Pairs of your own choice become a candidate set, ready to be labelled.",
    "nli": "A premise, a hypothesis, and whether the one entails or contradicts the other or neither; a "
    "recipe of the bi-encoder can begin with them, and nothing is sampled from them.",
    "triplets": "An anchor, a sentence close to it and one that is not; a recipe of the bi-encoder can begin "
    "with them, and nothing is sampled from them.",
}
"""Kind of content → its name and use, for the tab of text without scores."""


def import_panel(bench: Bench, project: Project, kind: str) -> None:
    """Everything needed to import one kind of content, from the choice of files to the report."""
    sources = choose_sources(kind, EXAMPLES[kind])
    if not sources:
        return
    has_gold = count_project(bench.workspace, project.id).gold > 0
    with user_errors():
        choices = choose_options(sources, kind, project if has_gold else None)
        if choices is None:
            return
        chosen = [(source, choices.of(source)) for source in sources]
        plans = [plan_of(source, options) for source, options in chosen]
        preview(sources, plans)
        total = sum(len(plan.rows or plan.texts) for plan in plans)
        if st.button(
            f"Import {many(total, NOUNS[kind])}",
            type="primary",
            icon=":material/download_done:",
            key=f"{kind}-import",
        ):
            _import(bench, project, chosen, kind)


def preview(sources: Sequence[Source], plans: Sequence[ImportPlan]) -> None:
    """What would come in: counts, the first rows, how the files were read, and what is rejected."""
    st.subheader("Before anything is written", anchor=False)
    _counts(plans)
    names = [source.name for source in sources]
    number = 0
    if len(plans) > 1:
        number = st.selectbox("Preview of", range(len(plans)), format_func=names.__getitem__)
    plan = plans[number]
    st.dataframe(
        preview_frame(plan), hide_index=True, height="content" if len(plan.rows) < 8 else 320
    )
    st.caption(
        f"The first {min(PREVIEW_ROWS, len(plan.rows or plan.texts))} rows of {as_text(names[number])}."
    )
    if plan.notes:
        with st.expander("How the file was read", icon=":material/description:"):
            for note in plan.notes:
                st.text(note)
    rejected = [
        (name, row) for name, plan in zip(names, plans, strict=True) for row in plan.rejected
    ]
    show_rejected([row for _, row in rejected], "preview")


def _counts(plans: Sequence[ImportPlan]) -> None:
    kept = sum(len(plan.rows or plan.texts) for plan in plans)
    rejected = sum(len(plan.rejected) for plan in plans)
    collapsed = sum(plan.collapsed for plan in plans)
    repeated = sum(plan.repeats.n_rows_repeated for plan in plans)
    conflicts = sum(plan.repeats.n_conflicting for plan in plans)
    splits: Counter[str] = Counter()
    for plan in plans:
        splits.update(plan.splits)
    with st.container(horizontal=True):
        st.metric("Rows read", f"{sum(plan.rows_read for plan in plans):,}", border=True)
        st.metric("Kept", f"{kept:,}", border=True)
        st.metric("Rejected", f"{rejected:,}", border=True)
    if plans[0].kind == "pairs":
        shares = " · ".join(f"{splits[split]:,} {split}" for split in SPLITS)
        st.markdown(f":material/call_split: {shares}")
    if repeated:
        merged = f" {many(collapsed, 'row')} will be merged or left out." if collapsed else ""
        st.markdown(
            f":material/info: {many(repeated, 'row')} repeat a pair of the same file; "
            f"{many(conflicts, 'pair')} have differing scores.{merged}"
        )


def preview_frame(plan: ImportPlan) -> pd.DataFrame:
    """The first rows as they would be kept."""
    if plan.kind == "pairs":
        return pd.DataFrame(
            {
                "Line": row.line,
                "Score": row.raw_score,
                "Sentence 1": row.sentence1,
                "Sentence 2": row.sentence2,
                "Split": row.split,
            }
            for row in islice(plan.rows, PREVIEW_ROWS)
        )
    names = [what.capitalize() for what in KINDS[plan.kind]]
    return pd.DataFrame(plan.texts[:PREVIEW_ROWS], columns=names)


def show_rejected(rejected: Sequence[Rejected], key: str) -> None:
    """The rejected rows with line and reason, and all of them as CSV."""
    if not rejected:
        return
    with st.expander(f"{many(len(rejected), 'rejected row')}", icon=":material/block:"):
        st.dataframe(
            pd.DataFrame(
                {"Line": row.line, "Reason": row.reason, "Row": row.text}
                for row in rejected[:SHOWN_REJECTS]
            ),
            hide_index=True,
        )
        if len(rejected) > SHOWN_REJECTS:
            st.caption(f"The first {SHOWN_REJECTS:,} are shown; the file has all of them.")
        st.download_button(
            "Download as CSV",
            rejected_csv(rejected),
            file_name="rejected-rows.csv",
            mime="text/csv",
            icon=":material/download:",
            key=f"rejected-{key}",
            on_click="ignore",
        )


def _import(
    bench: Bench, project: Project, chosen: Sequence[tuple[Source, ImportOptions]], kind: str
) -> None:
    bar = st.progress(0.0, text="Reading")
    told: list[tuple[str, ImportReport]] = st.session_state.setdefault("import-reports", [])
    told.clear()
    for number, (source, options) in enumerate(chosen):
        report = stretch(bar_report(bar), number / len(chosen), (number + 1) / len(chosen))
        done = import_file(
            bench.workspace, project.id, source.data, source.name, options, report=report
        )
        told.append((source.name, done))
    forget_sources(kind)
    kept = sum(report.pairs_kept for _, report in told)
    flash(f"Imported {many(kept, NOUNS[kind])}")
    st.session_state["gold-tab-next"] = "Gold pairs" if kind == "pairs" else "Imports"
    st.rerun()


def show_reports() -> None:
    """What the last import of this session brought in, until it is put away."""
    told: list[tuple[str, ImportReport]] = st.session_state.get("import-reports", [])
    if not told:
        return
    with st.container(border=True, gap="xsmall", key="import-reports"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(":green[:material/check_circle:] **Imported**", width="stretch")
            if st.button("Put away", type="tertiary", icon=":material/close:"):
                del st.session_state["import-reports"]
                st.rerun()
        for number, (name, report) in enumerate(told):
            st.markdown(
                f"**{as_text(name)}**: {report.rows_read:,} rows read, {report.pairs_kept:,} kept, "
                f"{len(report.rejected):,} rejected."
            )
            if report.notes:
                st.caption(as_text(" ".join(report.notes)))
            show_rejected(report.rejected, f"report-{number}")
