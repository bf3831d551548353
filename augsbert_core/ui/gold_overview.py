"""What the gold pairs of a project look like: counts, scores, warnings, the table, the imports."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from augsbert_core import charts, explain
from augsbert_core.explain.phrases import many
from augsbert_core.pairs import SPLITS
from augsbert_core.storage.gold import (
    GoldFilter,
    GoldReport,
    gold_page,
    gold_report,
    gold_scores,
    remove_import,
)
from augsbert_core.storage.nli import count_nli
from augsbert_core.storage.projects import ProjectCounts, count_project
from augsbert_core.storage.records import Project, Run
from augsbert_core.storage.runs import list_runs
from augsbert_core.storage.triplets import count_triplets
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.data_export import gold_export
from augsbert_core.ui.figures import draw
from augsbert_core.ui.import_report import show_report
from augsbert_core.ui.what_happened import what_happened
from augsbert_core.ui.widgets import (
    as_text,
    empty_state,
    flash,
    table_pager,
    time_text,
    user_errors,
)

PAGE_ROWS = 50
SPLIT_MEANING = {
    "train": "what the models learn from",
    "dev": "picks the best checkpoint and threshold",
    "test": "measures, used by nothing else",
}


def overview(bench: Bench, project: Project) -> None:
    """Counts and score histogram of the gold pairs, what is odd about them, and all of them in a table."""
    counts = count_project(bench.workspace, project.id)
    if not counts.gold:
        place = empty_state(
            "No gold pairs yet. Gold pairs are sentence pairs that people have scored: the labeler learns from them, "
            "and every model is measured on them. Some hundred are enough to begin with.",
            page="annotate",
            label="Score pairs by hand",
        )
        with place:
            _import_button()
        return
    _counts(counts)
    report = gold_report(bench.workspace, project.id)
    chart, facts = st.columns([3, 2], gap="medium")
    with chart:
        values = _histogram(bench, project)
    with facts:
        _facts(project, counts, report)
    learnt = values["train"]
    what_happened(
        explain.gold_pairs(
            n_train=counts.train,
            n_test=counts.test,
            high_share=float((learnt >= 0.5).mean()) if len(learnt) else None,
            middle=f"{project.score_range.to_raw(0.5):g}",
            task=project.task,
            all_alike=len(learnt) > 1 and bool((learnt == learnt[0]).all()),
        ),
        "gold",
    )
    st.subheader("All gold pairs", anchor=False)
    _table(bench, project)


def _counts(counts: ProjectCounts) -> None:
    with st.container(horizontal=True):
        for split in SPLITS:
            value = getattr(counts, split)
            st.metric(
                f"{split.capitalize()} pairs", f"{value:,}", border=True, help=SPLIT_MEANING[split]
            )
        st.metric(
            "Unlabelled sentences",
            f"{counts.unlabelled_sentences:,}",
            border=True,
            help="Extra sentences from which candidate pairs may be sampled.",
        )


def _histogram(bench: Bench, project: Project) -> dict[str, np.ndarray]:
    """Draw the scores of each split, and return them."""
    values = {split: gold_scores(bench.workspace, project.id, (split,)) for split in SPLITS}
    present = {split: scores for split, scores in values.items() if len(scores)}
    draw(
        charts.histogram_figure(present, project.score_range),
        key="gold-histogram",
        alt="How many gold pairs have which score, by split",
        config={"displayModeBar": False},
    )
    return values


def report_sentences(counts: ProjectCounts, report: GoldReport) -> list[tuple[str, str]]:
    """(level, sentence) for everything worth knowing before training; level: warning or info."""
    told: list[tuple[str, str]] = []
    missing = [split for split in SPLITS if not getattr(counts, split)]
    for split in missing:
        told.append(("warning", f"There are no {split} pairs: {_without(split)}."))
    if report.sentences_in_two_splits:
        told.append(
            (
                "warning",
                f"{report.sentences_in_two_splits:,} of {many(report.sentences, 'sentence')} occur in more than "
                "one split, so test scores may look better than they would be on new sentences. Sampling "
                "leaves those of dev and test out.",
            )
        )
    if report.conflicting_pairs:
        told.append(
            (
                "info",
                f"Pairs with more than one score: {report.conflicting_pairs:,}. Models then learn something in "
                "between; the repeats policy of the import can average them.",
            )
        )
    if report.repeated_rows:
        told.append(
            (
                "info",
                f"Rows that repeat an earlier pair, in either direction: {report.repeated_rows:,}.",
            )
        )
    if report.identical_sentences:
        told.append(
            ("info", f"Rows that pair a sentence with itself: {report.identical_sentences:,}.")
        )
    return told


def _without(split: str) -> str:
    return {
        "train": "nothing can be trained",
        "dev": "training cannot pick its best checkpoint",
        "test": "models cannot be compared fairly",
    }[split]


def _facts(project: Project, counts: ProjectCounts, report: GoldReport) -> None:
    low, high = project.score_range.low, project.score_range.high
    st.markdown(
        f"**{many(report.sentences, 'sentence')}** in {many(counts.gold, 'gold pair')}, "
        f"scored **{low:g} to {high:g}**."
    )
    told = report_sentences(counts, report)
    for level, sentence in told:
        if level == "warning":
            st.warning(sentence, icon=":material/warning:")
        else:
            st.markdown(f":small[:material/info: {sentence}]")
    if not told:
        st.markdown(
            ":green[:material/check_circle:] No repeats, no conflicts, no shared sentences."
        )


def _table(bench: Bench, project: Project) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = st.text_input(
            "Search",
            key="gold-search",
            placeholder="Words in either sentence",
            icon=":material/search:",
            help="Pairs in which either sentence has this piece of text, whatever the capitals.",
        )
        splits = st.pills(
            "Split",
            SPLITS,
            selection_mode="multi",
            key="gold-splits",
            help="Train teaches models, dev chooses among checkpoints, test is for the final number. None chosen "
            "shows all.",
        )
        export_place = st.container(width="content")
    low, high = project.score_range.low, project.score_range.high
    chosen = GoldFilter(splits=tuple(splits), text=text)
    _, total = gold_page(bench.workspace, project.id, chosen, limit=1)
    if not total:
        empty_state("No gold pair matches. Search for fewer words, or choose other splits.")
        return
    with export_place:
        gold_export(bench, project, chosen, total)
    table = st.container()
    offset = table_pager(total, "gold-page", PAGE_ROWS)
    page, _ = gold_page(bench.workspace, project.id, chosen, offset=offset, limit=PAGE_ROWS)
    page["source"] = page["source_file"] + ", line " + page["source_line"].astype(str)
    table.dataframe(
        page,
        alt="Gold pairs",
        hide_index=True,
        column_order=("raw_score", "sentence1", "sentence2", "split", "source"),
        column_config={
            "raw_score": st.column_config.ProgressColumn(
                "Score", min_value=low, max_value=high, format="%.2f", width=110, color="yellow"
            ),
            "sentence1": st.column_config.TextColumn("Sentence 1", width=270),
            "sentence2": st.column_config.TextColumn("Sentence 2", width=270),
            "split": st.column_config.TextColumn("Split", width=60),
            "source": st.column_config.TextColumn("From", width=150),
        },
    )


def imports(bench: Bench, project: Project) -> None:
    """The imports of a project with their reports; each file of them can be taken back."""
    runs = list_runs(bench.workspace, project.id, step="import")
    if not runs:
        place = empty_state(
            "Nothing was imported yet. Each import is listed here with its file, what was rejected and why, and can be "
            "taken back as a whole."
        )
        with place:
            _import_button()
        return
    _beside_gold(bench, project)
    for together in came_together(runs):
        with st.container(border=True, gap="xsmall", key=f"import-{together[0].id}"):
            for run in together:
                with st.container(horizontal=True, wrap=False, vertical_alignment="center"):
                    st.markdown(
                        f"**{as_text(run.name)}**  \n:small[:gray[{import_facts(run)}]]",
                        width="stretch",
                    )
                    _remove(bench, run)
            _report(bench, together)


def came_together(runs: Sequence[Run]) -> list[list[Run]]:
    """Runs, newest first, as imports: those of files that came in together are one, in the order of the files."""
    groups: list[list[Run]] = []
    for run in runs:
        files = run.metrics.get("files") or []
        group = groups[-1] if groups else []
        if (
            len(files) > 1
            and group
            and group[0].metrics.get("files") == files
            and group[0].metrics.get("joint") == run.metrics.get("joint")
            and run.id == group[0].id - 1
            and len(group) < len(files)
        ):
            group.insert(0, run)
        else:
            groups.append([run])
    return groups


def _report(bench: Bench, together: Sequence[Run]) -> None:
    key = f"report-{together[0].id}"
    # Read only when it is open: there may be many imports, with many rejected rows each.
    report = st.expander("Report", icon=":material/lab_profile:", key=key, on_change="rerun")
    if report.open:
        with report, user_errors():
            show_report(bench, together, key)


def _beside_gold(bench: Bench, project: Project) -> None:
    """How many NLI pairs and triplets there are, when there are any."""
    labels = count_nli(bench.workspace, project.id)
    parts = []
    if n_nli := sum(labels.values()):
        shares = ", ".join(f"{count:,} {label}" for label, count in labels.items())
        parts.append(f"{many(n_nli, 'NLI pair')} ({shares})")
    if n_triplets := count_triplets(bench.workspace, project.id):
        parts.append(many(n_triplets, "triplet"))
    if parts:
        st.markdown(f":material/account_tree: Beside gold: {' and '.join(parts)}.")


IMPORTED = {
    "sentences": "sentences",
    "unlabelled-pairs": "candidate pairs",
    "nli": "NLI pairs",
    "triplets": "triplets",
}
"""Kind of import → what its rows are called; gold pairs go without saying."""


def import_facts(run: Run) -> str:
    """When an import was made, how many rows it kept, and how it was told to read them."""
    metrics: dict[str, Any] = run.metrics
    parts = [time_text(run.created_at).replace(":", "\\:")]
    if "pairs_kept" in metrics:
        what = IMPORTED.get(metrics.get("kind", ""), "")
        parts.append(f"{metrics['pairs_kept']:,} {what} kept".replace("  ", " "))
    rejected = metrics.get("rejected")
    if isinstance(rejected, int) and rejected:
        parts.append(f"{rejected:,} rejected")
    options = json.loads(run.options)
    if options.get("score_range"):
        low, high = options["score_range"]
        parts.append(f"scores {low:g} to {high:g}")
    if options.get("split"):
        parts.append(options["split"])
    return " · ".join(parts)


def _import_button() -> None:
    st.button(
        "Import gold pairs",
        type="primary",
        icon=":material/upload_file:",
        on_click=st.session_state.update,
        args=({"gold-tab-next": "Import gold pairs"},),
        help="Opens the tab for files with two sentences and a score per row.",
    )


def _remove(bench: Bench, run: Run) -> None:
    with (
        st.popover(
            "Remove", icon=":material/undo:", help="Take this import back, after asking once more."
        ),
        user_errors(),
    ):
        st.markdown(
            "Its rows go, and sentences that nothing else uses. Models that were trained on them stay, but "
            "their scores no longer belong to the gold pairs you then have."
        )
        if st.button(
            "Remove for good",
            type="primary",
            key=f"remove-import-{run.id}",
            help="To have these rows again, import the file again.",
        ):
            remove_import(bench.workspace, run.id)
            flash(f"Removed {run.name}", ":material/undo:")
            st.rerun()
