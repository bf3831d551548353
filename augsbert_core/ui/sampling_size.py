"""How much a strategy has to choose from, and how many pairs and passes it comes to."""

from collections.abc import Callable

import streamlit as st

from augsbert_core.options import SampleOptions, StratifiedOptions
from augsbert_core.sampling import HAS_TOP_K
from augsbert_core.ui.widgets import duration_text


def expected_pairs(options: SampleOptions, corpus_size: int) -> int:
    """How many candidates there can be at most: a pair found from both sides counts once."""
    most = corpus_size * (corpus_size - 1) // 2
    if options.strategy in HAS_TOP_K:
        per_sentence = min(options.top_k, max(corpus_size - 1, 0))
        searches = 2 if options.strategy == "bm25+semantic" else 1
        return min(most, searches * corpus_size * per_sentence)
    return min(most, options.n_pairs) if options.n_pairs else most


def size_panel(
    options: SampleOptions | StratifiedOptions | None,
    corpus_size: Callable[[bool], int],
    pairs_per_second: float | None,
) -> None:
    """What the strategy has to choose from, and what it can come to.

    corpus_size: asked (use_unlabelled). pairs_per_second: the newest labeler's on this machine, if known.
    """
    size = corpus_size(options.use_unlabelled if options else False)
    st.metric(
        "Sentences to pair",
        f"{size:,}",
        help="Training sentences, and unlabelled ones if chosen. Sentences of dev and test never take part.",
    )
    if isinstance(options, SampleOptions):
        passes = expected_pairs(options, size)
        st.metric(
            "Pairs at most",
            f"{passes:,}",
            help="Gold pairs are left out, and a pair that is found from both sides counts once.",
        )
    elif options:
        passes = min(options.n_keep, options.max_passes or options.n_keep)
        st.metric(
            "Passes at least",
            f"{passes:,}",
            help="Every kept pair costs a pass. Usually a tenth more is enough; where pairs that fit are scarce it "
            "takes more, up to your limit.",
        )
    if options and pairs_per_second:
        bound = "most" if isinstance(options, SampleOptions) else "least"
        st.metric(
            f"Labelling at {bound}",
            duration_text(passes / pairs_per_second),
            help=f"At {pairs_per_second:,.0f} pairs per second, which your newest labeler reached on this device, and "
            "some seconds to load it.",
        )
