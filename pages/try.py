"""Try the models on sentences of your own."""

import streamlit as st

from augsbert_core import ui
from augsbert_core.steps import try_it
from augsbert_core.storage.sentences import corpus_size
from augsbert_core.ui.try_view import pair_section, search_section

bench = ui.open_bench()
ui.page_header(
    "Try",
    "What the models say about sentences that you type: a bi-encoder, the one that saw gold alone, and the "
    "cross-encoder, side by side. Nothing is stored, and the models compute on the CPU of this machine.",
)
project = ui.need_project(bench)
ui.tell_missing_models(bench, project)
choices = try_it.choices(bench.workspace, project)
if len(choices) == 1:
    ui.empty_state(
        "Nothing is trained yet, so there is only the untrained base to try. Train a bi-encoder to compare.",
        page="train",
        label="Train a bi-encoder",
    )

st.subheader("Two sentences", anchor=False)
pair_section(bench, project, choices)

st.subheader("Search", anchor=False)
n_sentences = corpus_size(bench.workspace, project.id, use_unlabelled=True)
if n_sentences:
    st.caption(
        f"In {n_sentences:,} sentences of training pairs and unlabelled text"
        + (
            f", of which the first {try_it.MOST_SENTENCES:,} are looked at."
            if n_sentences > try_it.MOST_SENTENCES
            else "."
        )
    )
    search_section(bench, project, choices)
else:
    ui.empty_state(
        "There are no sentences to search yet. A bi-encoder finds the nearest of the sentences that a project knows: "
        "import gold training pairs or unlabelled sentences.",
        page="gold",
        label="Import sentences",
    )
