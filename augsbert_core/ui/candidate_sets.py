"""The candidate sets of a project: table, overlaps, pairs, and how their number grows with top-k."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from augsbert_core import explain
from augsbert_core.options import SampleOptions, from_json
from augsbert_core.sampling import HAS_TOP_K
from augsbert_core.steps import strategy_label
from augsbert_core.steps.top_k import KS
from augsbert_core.storage import candidates
from augsbert_core.storage.records import CandidateSet, SilverSet
from augsbert_core.storage.runs import get_run
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.what_happened import what_happened
from augsbert_core.ui.widgets import as_text, flash, table_pager, time_text, user_errors

PAGE = "sample"
PREVIEW_ROWS = 25


def sampling_options(bench: Bench, chosen: CandidateSet) -> SampleOptions:
    """What the sampler of a set was told."""
    return from_json(SampleOptions, get_run(bench.workspace, chosen.run_id).options)


def describe(bench: Bench, chosen: CandidateSet) -> str:
    """The strategy of a set with the parameter that matters."""
    return strategy_label(chosen.strategy, sampling_options(bench, chosen))


def set_label(bench: Bench, chosen: CandidateSet) -> str:
    """One line that tells a candidate set from the others."""
    return f"Set {chosen.id} · {describe(bench, chosen)} · {chosen.n_pairs:,} pairs"


def candidate_table(
    bench: Bench, sets: Sequence[CandidateSet], silver_sets: Sequence[SilverSet]
) -> None:
    """All candidate sets of the project, newest first."""
    labelled = {found.candidate_set_id for found in silver_sets}
    rows = [
        {
            "Set": chosen.id,
            "Strategy": describe(bench, chosen),
            "Pairs": chosen.n_pairs,
            "Gold left out": chosen.gold_left_out,
            "Corpus": chosen.corpus_size,
            "Labelled": chosen.id in labelled,
            "Made": time_text(chosen.created_at),
        }
        for chosen in sets
    ]
    known = any(chosen.gold_left_out is not None for chosen in sets)
    st.dataframe(
        pd.DataFrame(rows).drop(columns=[] if known else "Gold left out"),
        hide_index=True,
        placeholder="–",
        column_config={
            "Set": st.column_config.NumberColumn(format="%d", width=50),
            "Pairs": st.column_config.NumberColumn(format="localized"),
            "Gold left out": st.column_config.NumberColumn(
                format="localized",
                help="The overlap with gold: pairs that the strategy would have chosen, but that people have "
                "scored already.",
            ),
            "Labelled": st.column_config.CheckboxColumn(
                help="Whether a labeler has scored these pairs, in whole or in part."
            ),
            "Corpus": st.column_config.NumberColumn(
                format="localized", help="Sentences that could be paired."
            ),
        },
        alt="Candidate sets",
    )


def show_notices(chosen: CandidateSet) -> None:
    """What the sampler had to say about a set."""
    if chosen.notices:
        said = " ".join(as_text(notice) for notice in chosen.notices)
        st.caption(f":material/info: Set {chosen.id}: {said}")


def explain_newest(sets: Sequence[CandidateSet], silver_sets: Sequence[SilverSet]) -> None:
    """What the newest sampling has done, in plain sentences."""
    newest = sets[0]
    what_happened(
        explain.candidates(
            strategy=newest.strategy,
            n_pairs=newest.n_pairs,
            corpus_size=newest.corpus_size,
            gold_left_out=newest.gold_left_out,
            is_labelled=any(found.candidate_set_id == newest.id for found in silver_sets),
        ),
        "candidates",
    )


def candidate_details(bench: Bench, sets: Sequence[CandidateSet]) -> None:
    """Look into one set: overlaps, size against top-k, its pairs page by page, and a way to delete it."""
    by_id = {chosen.id: chosen for chosen in sets}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        set_id = st.selectbox(
            "Look into",
            list(by_id),
            format_func=lambda number: set_label(bench, by_id[number]),
            key=f"{PAGE}-preview-set-{sets[0].id}",  # a new set is shown at once
            help="Its pairs, overlaps with gold and other sets, and size at each top-k are shown below.",
        )
        _delete_button(bench, by_id[set_id])
    chosen = by_id[set_id]
    if chosen is not sets[0]:
        show_notices(chosen)
    shared = candidates.shared_candidates(bench.workspace, set_id)
    if shared:
        told = ", ".join(
            f"{count:,} ({count / chosen.n_pairs:.0%}) in set {other}"
            for other, count in shared.items()
        )
        st.caption(f"Pairs that other sets hold too: {told}.")
    if chosen.strategy in HAS_TOP_K:
        _sizes_by_top_k(bench, chosen)
    offset = table_pager(chosen.n_pairs, f"sample-pager-{set_id}", PREVIEW_ROWS)
    page = candidates.candidate_page(bench.workspace, set_id, offset=offset, limit=PREVIEW_ROWS)
    ranks = ["bm25_rank", "semantic_rank"] if chosen.strategy == "bm25+semantic" else ["rank"]
    st.dataframe(
        page,
        hide_index=True,
        height=min(38 + 35 * len(page), 420),
        column_order=["sentence1", "sentence2", *ranks, "sampler_score"],
        column_config={
            "sentence1": st.column_config.TextColumn("Sentence 1", width=280),
            "sentence2": st.column_config.TextColumn("Sentence 2", width=280),
            "rank": _rank_column("Rank", "1 is the closest neighbour of its sentence."),
            "bm25_rank": _rank_column("BM25 rank", "Empty: BM25 did not find this pair."),
            "semantic_rank": _rank_column(
                "Semantic rank", "Empty: the bi-encoder did not find this pair."
            ),
            "sampler_score": st.column_config.NumberColumn(
                "Sampler score",
                format="%.2f",
                width="small",
                help="What the strategy scored. Not a label.",
            ),
        },
        alt="Candidate pairs of the chosen set",
    )


def _rank_column(title: str, help_text: str) -> Any:
    return st.column_config.NumberColumn(title, format="%d", width="small", help=help_text)


def _sizes_by_top_k(bench: Bench, chosen: CandidateSet) -> None:
    """How many pairs each smaller k would have given: free, since every pair knows its rank."""
    sampled = sampling_options(bench, chosen).top_k
    ks = [k for k in KS if k <= sampled]
    if len(ks) < 2 and sampled >= KS[-1]:
        return
    counts = dict(zip(ks, candidates.rank_counts(bench.workspace, chosen.id, ks), strict=True))
    with st.container(horizontal=True):
        for k in KS:
            st.metric(f"k = {k}", f"{counts[k]:,}" if k in counts else "–", width="content")
    st.caption(
        "Pairs at each top-k, counted from the ranks without sampling again (paper, tables 9 and 10)."
        + (
            f" This set was sampled with k = {sampled}; sample with k = {KS[-1]} to see the rest. Pairs that "
            "a labeler of yours has scored once are not scored again."
            if sampled < KS[-1]
            else ""
        )
    )


def _delete_button(bench: Bench, chosen: CandidateSet) -> None:
    with st.popover(
        "Delete",
        icon=":material/delete:",
        help="Asks first. Candidates that have silver labels cannot go before their silver set.",
    ):
        st.write(f"Delete set {chosen.id} with its {chosen.n_pairs:,} candidate pairs?")
        if st.button(
            "Yes, delete it",
            key=f"delete-candidates-{chosen.id}",
            type="primary",
            help="The pairs go for good; the same options and seed draw them again.",
        ):
            with user_errors():
                candidates.delete_candidate_set(bench.workspace, chosen.id)
                flash(f"Candidate set {chosen.id} deleted", ":material/delete:")
                st.rerun()
