"""The Try page: two sentences scored by several models, and a query searched by two of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from augsbert_core import explain
from augsbert_core.progress import stretch
from augsbert_core.steps import try_it
from augsbert_core.steps.try_it import Choice, Found, PairScore
from augsbert_core.storage.records import Project
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.what_happened import what_happened
from augsbert_core.ui.widgets import as_text, bar_report, user_errors

NOBODY = ""
"""In place of a model: none."""


def pair_section(bench: Bench, project: Project, choices: Sequence[Choice]) -> None:
    """Type two sentences, see what the models say about them, side by side."""
    bi_encoders, cross_encoders = by_kind(choices)
    with st.form("try-pair"):
        left, right = st.columns(2)
        first = left.text_input(
            "Sentence 1",
            placeholder="A man plays a guitar.",
            help="Any text, also one that the project does not know.",
        )
        second = right.text_input(
            "Sentence 2",
            placeholder="Someone makes music.",
            help="The sentence it is compared with; which of the two comes first should not matter.",
        )
        encoder = left.selectbox(
            "Bi-encoder",
            list(bi_encoders),
            format_func=bi_encoders.__getitem__,
            help="One vector per sentence, compared by cosine: fast enough for millions of sentences.",
        )
        labeler = right.selectbox(
            "Cross-encoder",
            [*cross_encoders, NOBODY],
            format_func=lambda target: cross_encoders.get(target, "None"),
            help="Reads both sentences together: slower, and usually the better judge.",
        )
        asked = st.form_submit_button(
            "Score",
            type="primary",
            icon=":material/scale:",
            help="Scores the pair with both; a model that is used for the first time is loaded first.",
        )
    key = f"try-{project.id}-scores"
    if asked:
        st.session_state.pop(key, None)
        gold = try_it.gold_only(bench.workspace, project)
        targets = [encoder, *([f"run:{gold.id}"] if gold else []), labeler]
        with user_errors(), st.spinner("Scoring (a model is loaded at its first use)"):
            st.session_state[key] = try_it.score_pair(
                bench.workspace,
                project,
                [target for target in dict.fromkeys(targets) if target],
                first,
                second,
            )
    if scores := st.session_state.get(key):
        show_scores(project, {choice.target: choice.label for choice in choices}, scores)


def show_scores(project: Project, labels: Mapping[str, str], scores: Sequence[PairScore]) -> None:
    """One card per model: the score on the project's scale, and what the model itself said."""
    scale = project.score_range
    for cell, score in zip(st.columns(len(scores)), scores, strict=True):
        what = "cosine" if score.kind == "bi_encoder" else "logit"
        with cell.container(border=True):
            st.metric(
                as_text(labels.get(score.target, score.target)),
                f"{scale.to_raw(score.score):.2f}",
                help=f"On the project's scale, {scale.low:g} to {scale.high:g}.",
            )
            st.caption(f"{what} {score.raw:.3f} · {1000 * score.seconds:.0f} ms")
    st.caption(f":material/info: {try_it.UNCALIBRATED}")
    what_happened(
        explain.tried_pair(scores=[(one.kind, one.score) for one in scores], scale=scale), "pair"
    )


def search_section(bench: Bench, project: Project, choices: Sequence[Choice]) -> None:
    """Type a query, see the nearest sentences of the corpus by two models, side by side."""
    bi_encoders, cross_encoders = by_kind(choices)
    with st.form("try-search"):
        query = st.text_input(
            "Query",
            placeholder="music in the street",
            help="A sentence or some words, compared with every sentence of the project.",
        )
        cells = st.columns(4)
        first = cells[0].selectbox(
            "Bi-encoder A",
            list(bi_encoders),
            format_func=bi_encoders.__getitem__,
            help="Fills the list on the left.",
        )
        second = cells[1].selectbox(
            "Bi-encoder B",
            [*list(bi_encoders)[::-1], NOBODY],
            format_func=lambda target: bi_encoders.get(target, "None"),
            help="Fills a second list beside the first, to compare, say, gold only with gold and silver.",
        )
        rerank = cells[2].selectbox(
            "Rerank by",
            [NOBODY, *cross_encoders],
            format_func=lambda target: cross_encoders.get(target, "No cross-encoder"),
            help="A cross-encoder puts what was found in a new order.",
        )
        top = cells[3].number_input(
            "Sentences",
            1,
            100,
            10,
            help="How many of the nearest each list shows, and how many are reranked.",
        )
        asked = st.form_submit_button(
            "Search",
            type="primary",
            icon=":material/search:",
            help="Embeds the sentences of the project at the first search; later ones take a moment.",
        )
    key = f"try-{project.id}-found"
    if asked:
        st.session_state.pop(key, None)
        targets = [target for target in dict.fromkeys((first, second)) if target]
        with user_errors():
            st.session_state[key] = _search_all(
                bench, project, targets, query, top=int(top), rerank=rerank or None
            )
    if found := st.session_state.get(key):
        for cell, (target, hits) in zip(st.columns(len(found)), found.items(), strict=True):
            with cell:
                show_hits(project, bi_encoders.get(target, target), hits)
        shown = next(iter(found.values()))
        what_happened(
            explain.searched(
                n_sentences=shown.n_sentences,
                n_hits=len(shown.hits),
                search_seconds=shown.query_seconds + shown.search_seconds,
                rerank_seconds=shown.rerank_seconds,
            ),
            "search",
        )


def _search_all(
    bench: Bench, project: Project, targets: Sequence[str], query: str, **told: Any
) -> dict[str, Found]:
    bar = st.progress(0.0, text="Loading the model")
    found: dict[str, Found] = {}
    for number, target in enumerate(targets):
        report = stretch(bar_report(bar), number / len(targets), (number + 1) / len(targets))
        found[target] = try_it.search(
            bench.workspace, project, target, query, report=report, **told
        )
    bar.empty()
    return found


def show_hits(project: Project, label: str, found: Found) -> None:
    """What one model found, and the times."""
    scale = project.score_range
    st.markdown(f"**{as_text(label)}**")
    frame = pd.DataFrame(
        {
            "Cosine": hit.cosine,
            "Reranked": None if hit.reranked is None else scale.to_raw(hit.reranked),
            "Sentence": hit.text,
        }
        for hit in found.hits
    )
    shown = ["Cosine", "Reranked", "Sentence"] if found.rerank_seconds else ["Cosine", "Sentence"]
    st.dataframe(
        frame,
        hide_index=True,
        column_order=shown,
        height="content" if len(frame) <= 12 else 460,
        column_config={
            "Cosine": st.column_config.NumberColumn(format="%.3f", width=70),
            "Reranked": st.column_config.NumberColumn(
                f"{scale.low:g} to {scale.high:g}",
                format="%.2f",
                width=70,
                help="By the cross-encoder.",
            ),
            "Sentence": st.column_config.TextColumn(width="large"),
        },
        alt="Sentences found, best first",
    )
    st.caption(as_text(try_it.times_text(found)))


def by_kind(choices: Sequence[Choice]) -> tuple[dict[str, str], dict[str, str]]:
    """Bi-encoders and cross-encoders: target → label."""
    kinds: dict[str, dict[str, str]] = {"bi_encoder": {}, "cross_encoder": {}}
    for choice in choices:
        kinds[choice.kind][choice.target] = choice.label
    return kinds["bi_encoder"], kinds["cross_encoder"]
