"""The Top-k view: densities in a ramp, sizes along k, and a table (paper, tables 9 and 10)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from augsbert_core import charts, explain
from augsbert_core.options import KeepOptions
from augsbert_core.sampling import HAS_TOP_K
from augsbert_core.steps.spreads import (
    GOLD_NAME,
    GRID,
    STATED,
    Spread,
    distances,
    gold_spread,
    notes_of,
)
from augsbert_core.steps.top_k import KRow, k_rows, sampled_top_k
from augsbert_core.storage.gold import gold_scores
from augsbert_core.storage.records import Project, SilverSet
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.density_controls import density_inputs, settings_text
from augsbert_core.ui.downloads import show_figure
from augsbert_core.ui.job_panel import launch
from augsbert_core.ui.recipes import fill
from augsbert_core.ui.silver_filters import set_key, short_title
from augsbert_core.ui.what_happened import what_happened
from augsbert_core.ui.widgets import as_text, page_link

PAGE = "top-k"


def topk_lab(bench: Bench, project: Project, found: SilverSet, sets: Sequence[SilverSet]) -> None:
    """Densities in a ramp, pairs and share of high scores along k, and a table with all of it."""
    top_k = sampled_top_k(bench.workspace, found)
    if top_k is None:
        _no_ranks(found, sets)
        return
    gold = gold_scores(bench.workspace, project.id, ["train"])
    left, right = st.columns([2, 1], gap="medium")
    with right, st.container(border=True, height="stretch", gap="small"):
        place = st.container(gap="small")
        settings = density_inputs(project, gold)
    base = gold_spread(GOLD_NAME, gold, settings)
    rows = k_rows(bench.workspace, found, top_k, settings)
    there = [row.found for row in rows if row.found is not None]
    with place:
        _keep_inputs(bench, project, found, [row for row in rows if row.found is not None])
    with left, st.container(border=True, height="stretch", gap="small"):
        show_figure(
            charts.top_k_figure(
                GRID,
                base.heights,
                {
                    row.k: row.found.heights
                    for row in rows
                    if row.found is not None and row.found.heights is not None
                },
                project.score_range,
            ),
            key=f"silver-topk-{found.id}",
            title="Scores of the k nearest neighbours",
            name=f"top-k-silver-set-{found.id}",
            alt="Density of the silver scores for each top-k over the gold density",
        )
        for note in notes_of([base, *there]):
            st.caption(f":material/info: {as_text(note)}")
        st.caption(f"Pairs of rank ≤ k, pale to deep. {settings_text(settings)}")
    with st.container(border=True, gap="small"):
        _table(project, base, rows, top_k, found.strategy)
    middle = project.score_range.to_raw(0.5)
    with st.container(border=True, gap="small"):
        show_figure(
            charts.top_k_panels(
                [row.k for row in rows if row.found is not None],
                [one.n for one in there],
                [one.high_share for one in there],
                middle,
                base.high_share,
            ),
            key=f"silver-topk-sizes-{found.id}",
            title="More neighbours, less similar ones",
            name=f"top-k-sizes-silver-set-{found.id}",
            alt="Pairs and share of high scores for each top-k",
        )
        what_happened(
            explain.top_k(
                rows=[(row.k, row.found.n, row.found.high_share) for row in rows if row.found],
                gold_high=base.high_share,
                middle=f"{middle:g}",
            ),
            "top-k",
        )


def _no_ranks(found: SilverSet, sets: Sequence[SilverSet]) -> None:
    """What top-k is, and which sets have one."""
    others = [one for one in sets if one.strategy in HAS_TOP_K]
    with st.container(border=True, gap="small"):
        st.markdown(
            ":material/format_list_numbered: **These pairs have no rank.** "
            "BM25 and semantic search order the neighbours of each sentence, and top-k says how many of "
            "them are taken: a larger k gives more pairs, and less similar ones (paper, tables 9 and 10)."
        )
        if others:
            with st.container(horizontal=True):
                for one in others[:3]:
                    st.button(
                        f"Open {as_text(short_title(one))}",
                        key=f"{PAGE}-open-{one.id}",
                        on_click=lambda key, number: st.session_state.update({key: number}),
                        args=(set_key(sets), one.id),
                        help="Its pairs have ranks, so this view can show what each k would have kept.",
                    )
        else:
            st.markdown("Sample with BM25 or semantic search, and this view fills by itself.")
            page_link("sample", "Sample with BM25")


def _keep_inputs(bench: Bench, project: Project, found: SilverSet, rows: Sequence[KRow]) -> None:
    """Choose a k and make its pairs a silver set."""
    ks = [row.k for row in rows]
    key = f"{PAGE}-{project.id}-k-{found.id}"
    if st.session_state.get(key) not in ks:
        st.session_state[key] = 5 if 5 in ks else ks[0]
    k = (
        st.select_slider(
            "Keep rank up to",
            ks,
            key=key,
            persist_state="session",
            disabled=len(ks) < 2,
            help="Rank 1 is the closest neighbour of its sentence. Choose a smaller k than the set was sampled with.",
        )
        if len(ks) > 1
        else ks[0]
    )
    n = next(row.found.n for row in rows if row.k == k and row.found is not None)
    smaller = n < found.n_pairs
    if st.button(
        f"Keep rank ≤ {k} as a silver set: {n:,} pairs",
        key=f"{PAGE}-launch",
        type="primary",
        icon=":material/filter_alt:",
        width="stretch",
        disabled=not smaller or not n or not found.is_complete,
        help="Copies these pairs with their scores into a set of its own; nothing is scored. To undo, delete it.",
    ):
        launch(bench, "keep", KeepOptions(found.id, rule="top-k", max_rank=k))
    st.caption(
        "Nothing is scored. To undo a kept set, delete it."
        if smaller
        else f"k = {k} is the whole set; choose a smaller k to keep a part of it."
    )


def _table(project: Project, gold: Spread, rows: Sequence[KRow], top_k: int, strategy: str) -> None:
    middle = f"≥ {project.score_range.to_raw(0.5):g}, %"
    frame = pd.DataFrame([_row(row, gold, middle) for row in rows])
    st.dataframe(
        frame,
        hide_index=True,
        placeholder="–",
        height=38 + 35 * len(frame),
        column_config={
            "k": st.column_config.NumberColumn(
                format="%d", width=60, help="Neighbours per sentence."
            ),
            "Pairs": st.column_config.NumberColumn(format="localized"),
            middle: st.column_config.NumberColumn(
                format="%.1f", help="The share of pairs in the upper half of the scale."
            ),
            "KL": st.column_config.NumberColumn(
                "KL(gold‖k)", format="%.3f", help=f"In nats; 0 is the same density. {STATED}"
            ),
            "Note": st.column_config.TextColumn(width="large"),
        },
        alt="What each top-k gives",
    )
    beyond = [row.k for row in rows if row.found is None]
    if beyond:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(
                f"This set was sampled with k = {top_k}. Sampled anew with a larger k and labelled by the same "
                "labeler, only the pairs that are new are scored."
            )
            if st.button(
                f"Sample with k = {beyond[-1]}",
                key=f"{PAGE}-more",
                icon=":material/casino:",
                on_click=fill,
                args=("sample", project, {"strategy": strategy, "top_k": beyond[-1]}),
                help="Opens the Sample page with this strategy and k set; nothing is sampled yet.",
            ):
                st.switch_page("pages/sample.py")


def _row(row: KRow, gold: Spread, middle: str) -> dict[str, object]:
    one = row.found
    if one is None:
        return {"k": row.k, "Pairs": None, middle: np.nan, "KL": None,
                "Note": f"sample with k = {row.k} to see"}  # fmt: skip
    return {
        "k": row.k,
        "Pairs": one.n,
        middle: np.nan if one.high_share is None else 100 * one.high_share,
        "KL": distances(gold, one).kl,
        "Note": "",
    }
