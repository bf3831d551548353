"""The Sample page in parts: which pairs to choose, the sets chosen so far, and who labels them."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from augsbert_core.options import LabelOptions, SampleOptions, from_json
from augsbert_core.sampling import STRATEGY_NAMES
from augsbert_core.storage import candidates, silver
from augsbert_core.storage.records import CandidateSet, Project, Run
from augsbert_core.storage.runs import get_run, list_runs
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.recipes import device_input, keep, score_100, whole
from augsbert_core.ui.widgets import (
    as_text,
    duration_text,
    flash,
    table_pager,
    time_text,
    user_errors,
)

PAGE = "sample"

STRATEGY_HELP = {
    "bm25": "For each sentence, the k others that share the most telling words with it (BM25). It finds many "
    "similar pairs, which random pairs hardly contain (paper §6.1).",
    "random": "Any two sentences. Nearly all are unrelated, so the labels pile up near the low end of the scale.",
}

VARIANTS = {
    "okapi": "Okapi (k1 1.5, b 0.75)",
    "lucene": "Lucene (k1 1.2, b 0.75), as the paper's Elasticsearch",
}

PREVIEW_ROWS = 25


def sample_inputs(project: Project, n_unlabelled: int) -> SampleOptions:
    """The strategy with its parameters."""
    strategy = st.segmented_control(
        "Strategy",
        list(STRATEGY_NAMES),
        format_func=STRATEGY_NAMES.__getitem__,
        required=True,
        **keep(PAGE, project, "strategy", "bm25"),
    )
    st.caption(STRATEGY_HELP.get(strategy, ""))
    left, middle = st.columns([1, 2])
    told: dict[str, Any] = {"strategy": strategy}
    if strategy == "bm25":
        with left:
            told["top_k"] = whole(
                "Top-k", 1, 100, 1,
                "How many neighbours each sentence brings in. More neighbours give more pairs, and less "
                "similar ones (paper, tables 9 and 10).",
                **keep(PAGE, project, "top_k", 5),
            )  # fmt: skip
        with middle:
            told["variant"] = st.selectbox(
                "Variant",
                list(VARIANTS),
                format_func=VARIANTS.__getitem__,
                help="How rare words are weighed. They differ little, except on a handful of sentences, "
                "where only Lucene's weights stay positive.",
                **keep(PAGE, project, "variant", "okapi"),
            )
    else:
        with left:
            told["n_pairs"] = whole(
                "Number of pairs", 1, 10_000_000, 1000,
                "How many different pairs to draw. Each costs one pass of the labeler.",
                **keep(PAGE, project, "n_pairs", 5000),
            )  # fmt: skip
        with middle:
            told["seed"] = whole(
                "Seed", 0, 2**31 - 1, 1, "The same seed draws the same pairs.",
                **keep(PAGE, project, "seed", 42),
            )  # fmt: skip
    if n_unlabelled:
        told["use_unlabelled"] = st.toggle(
            f"Also use the {n_unlabelled:,} unlabelled sentences",
            help="Sentences without scores that were imported on the Gold page. Without them, only the "
            "sentences of the gold training pairs are recombined.",
            **keep(PAGE, project, "use_unlabelled", SampleOptions().use_unlabelled),
        )
    return SampleOptions(**told)


def expected_pairs(options: SampleOptions, corpus_size: int) -> str:
    """How many candidates to expect, in words: an upper bound, since a pair found twice counts once."""
    most = corpus_size * (corpus_size - 1) // 2
    if options.strategy == "bm25":
        most = min(most, corpus_size * min(options.top_k, max(corpus_size - 1, 0)))
    elif options.n_pairs:
        most = min(most, options.n_pairs)
    return f"{most:,}"


def candidate_table(bench: Bench, sets: Sequence[CandidateSet]) -> None:
    """All candidate sets of the project, newest first."""
    silver_sets = silver.list_silver_sets(bench.workspace, sets[0].project_id)
    labelled = {found.candidate_set_id for found in silver_sets}
    rows = [
        {
            "Set": chosen.id,
            "Strategy": describe(bench, chosen),
            "Pairs": chosen.n_pairs,
            "Corpus": chosen.corpus_size,
            "Labelled": chosen.id in labelled,
            "Made": time_text(chosen.created_at),
            "Notices": " ".join(chosen.notices),
        }
        for chosen in sets
    ]
    st.dataframe(
        pd.DataFrame(rows).drop(
            columns=[] if any(chosen.notices for chosen in sets) else "Notices"
        ),
        hide_index=True,
        column_config={
            "Set": st.column_config.NumberColumn(format="%d", width=50),
            "Pairs": st.column_config.NumberColumn(format="localized"),
            "Labelled": st.column_config.CheckboxColumn(
                help="Whether a labeler has scored these pairs, in whole or in part."
            ),
            "Corpus": st.column_config.NumberColumn(
                format="localized", help="Sentences that could be paired."
            ),
            "Notices": st.column_config.TextColumn(width="large"),
        },
    )


def strategy_name(strategy: str) -> str:
    """How a strategy is called on the screen."""
    return "Uploaded pairs" if strategy == "uploaded" else STRATEGY_NAMES.get(strategy, strategy)


def describe(bench: Bench, chosen: CandidateSet) -> str:
    """The strategy of a set with the parameter that matters."""
    name = strategy_name(chosen.strategy)
    told = from_json(SampleOptions, get_run(bench.workspace, chosen.run_id).options)
    return name.replace("top-k", f"top-{told.top_k}")


def set_label(bench: Bench, chosen: CandidateSet) -> str:
    """One line that tells a candidate set from the others."""
    return f"Set {chosen.id} · {describe(bench, chosen)} · {chosen.n_pairs:,} pairs"


def candidate_details(bench: Bench, sets: Sequence[CandidateSet]) -> None:
    """Look into one set: its overlap with the others, its pairs page by page, and a way to delete it."""
    by_id = {chosen.id: chosen for chosen in sets}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        set_id = st.selectbox(
            "Look into",
            list(by_id),
            format_func=lambda number: set_label(bench, by_id[number]),
            key=f"{PAGE}-preview-set-{sets[0].id}",  # a new set is shown at once
        )
        _delete_button(bench, by_id[set_id])
    for other, shared in candidates.shared_candidates(bench.workspace, set_id).items():
        st.caption(
            f"{shared:,} of its pairs ({shared / by_id[set_id].n_pairs:.0%}) are in set {other} too."
        )
    offset = table_pager(by_id[set_id].n_pairs, f"sample-pager-{set_id}", PREVIEW_ROWS)
    page = candidates.candidate_page(bench.workspace, set_id, offset=offset, limit=PREVIEW_ROWS)
    st.dataframe(
        page,
        hide_index=True,
        height=min(38 + 35 * len(page), 420),
        column_order=["sentence1", "sentence2", "rank", "sampler_score"],
        column_config={
            "sentence1": st.column_config.TextColumn("Sentence 1", width=280),
            "sentence2": st.column_config.TextColumn("Sentence 2", width=280),
            "rank": st.column_config.NumberColumn(
                "Rank",
                format="%d",
                width="small",
                help="1 is the closest neighbour of its sentence.",
            ),
            "sampler_score": st.column_config.NumberColumn(
                "Sampler score",
                format="%.2f",
                width="small",
                help="What the strategy scored. Not a label.",
            ),
        },
    )


def _delete_button(bench: Bench, chosen: CandidateSet) -> None:
    with st.popover("Delete", icon=":material/delete:"):
        st.write(f"Delete set {chosen.id} with its {chosen.n_pairs:,} candidate pairs?")
        if st.button("Yes, delete it", key=f"delete-candidates-{chosen.id}", type="primary"):
            with user_errors():
                candidates.delete_candidate_set(bench.workspace, chosen.id)
                flash(f"Candidate set {chosen.id} deleted", ":material/delete:")
                st.rerun()


def label_inputs(
    bench: Bench, project: Project, sets: Sequence[CandidateSet], labelers: Sequence[Run]
) -> LabelOptions | None:
    """Which candidates are scored, by whom; None until a labeler is named."""
    by_id = {chosen.id: chosen for chosen in sets}
    names = {f"run:{run.id}": _labeler_label(run) for run in labelers}
    left, right = st.columns(2)
    with left:
        set_id = st.selectbox(
            "Candidate set",
            list(by_id),
            format_func=lambda number: set_label(bench, by_id[number]),
            key=f"{PAGE}-label-set-{sets[0].id}",
        )
    with right:
        labeler = st.selectbox(
            "Labeler",
            list(names),
            format_func=lambda name: names.get(name, name),
            accept_new_options=True,
            placeholder="Type a cross-encoder's name or folder",
            help="A cross-encoder that you trained, or any with one output: type its name on the hub, for "
            "example cross-encoder/stsb-roberta-base, or its folder.",
            key=f"{PAGE}-{project.id}-labeler-{labelers[0].id if labelers else 0}",
        )
    with left:
        batch_size = whole(
            "Batch size", 1, 1024, 16, "Pairs per forward pass. It changes the speed, not the scores.",
            **keep(PAGE, project, "label-batch", 64),
        )  # fmt: skip
    with right:
        device = device_input(PAGE, project)
    if not labeler or set_id is None:
        return None
    return LabelOptions(
        candidate_set_id=set_id, labeler=labeler.strip(), batch_size=batch_size, device=device
    )


def cost_text(bench: Bench, options: LabelOptions | None, passes: int) -> str:
    """How long labelling will take, from this labeler's speed at its last labelling run."""
    project_id = bench.project.id if bench.project else 0
    for run in list_runs(bench.workspace, project_id, "label") if options else []:
        speed = run.metrics.get("pairs_per_second")
        if speed and options and from_json(LabelOptions, run.options).labeler == options.labeler:
            return f"About {duration_text(passes / speed)} at {speed:,.0f} pairs per second, its speed last time."
    return "How long that takes is known once this labeler has labelled something."


def _labeler_label(run: Run) -> str:
    score = score_100(run)
    tail = "" if score is None else f" · dev {score:.1f}"
    return f"Run {run.id} · {run.name}{tail}"


def show_notices(chosen: CandidateSet) -> None:
    """What the sampler had to say about a set."""
    for notice in chosen.notices:
        st.info(as_text(notice), icon=":material/info:")
