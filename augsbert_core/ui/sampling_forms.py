"""Which pairs to choose: the strategies of the Sample page with their parameters."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from augsbert_core.options import BUNDLED_MODEL, SampleOptions, StratifiedOptions, from_json
from augsbert_core.sampling import HAS_TOP_K, NEEDS_ENCODER, STRATEGY_NAMES
from augsbert_core.steps import model_label
from augsbert_core.steps.labelers import ScorerAtHand
from augsbert_core.storage.records import Project, Run, SilverSet
from augsbert_core.ui.labelling_form import labeler_input
from augsbert_core.ui.recipes import device_input, keep, score_100, whole

PAGE = "sample"

SHORT_NAMES = {
    "bm25": "BM25",
    "semantic": "Semantic",
    "bm25+semantic": "BM25 + semantic",
    "cosine-strata": "Stratified on cosine",
    "kde": "KDE",
    "stratified-kde": "Stratified KDE",
    "random": "Random",
}

STRATEGY_HELP = {
    "bm25": "For each sentence, the k others that share the most telling words with it (BM25). It finds many "
    "similar pairs, which random pairs hardly contain (paper §3.1, §6.1).",
    "semantic": "For each sentence, the k others that a bi-encoder finds most similar. It also finds pairs that "
    "share no word; the paper trains that bi-encoder on gold first (§3.1).",
    "bm25+semantic": "The union of both: pairs that share words and pairs that mean alike. Both ranks are kept "
    "with each pair, so you can see who found it.",
    "cosine-strata": "As many pairs from each of ten bands of a bi-encoder's cosine, so that all degrees of similarity "
    "are met. It needs no gold and no labeler: choose it for pairs that people score by hand.",
    "kde": "Step one of kernel density estimation (paper §3.1): draw a large random pool and label all of it. Then "
    "the Silver page keeps the pairs whose scores follow the gold density, without scoring anything again.",
    "stratified-kde": "Reaches the gold density with far fewer labels than KDE: it labels a pilot, learns which "
    "scores to expect at which cosine of a bi-encoder, and draws where pairs are missing, in rounds.",
    "random": "Any two sentences. Nearly all are unrelated, so the labels pile up near the low end of the scale, "
    "which the paper found to hurt (table 5).",
}

VARIANTS = {
    "okapi": "Okapi (k1 1.5, b 0.75)",
    "lucene": "Lucene (k1 1.2, b 0.75), as the paper's Elasticsearch",
}

USUAL_PAIRS = {"kde": 20_000, "cosine-strata": 500}
"""How many pairs are offered first; of other strategies, 5,000."""

PAIRS_HELP = {
    "cosine-strata": "How many different pairs to draw, as many from each band as from any other. People score some "
    "hundred an hour."
}

STOP_WORDS = {
    "none": "Count all words",
    "english": "Skip English stop words",
    "frequent": "Skip words in over a tenth of the sentences",
}

SEARCHES = {
    "auto": "Automatic",
    "exact": "Exact",
    "ann": "Approximate (FAISS)",
}


def strategy_input(project: Project, *, has_gold: bool) -> str:
    """Choose a strategy, explained in two sentences; without gold, people score first, so the usual one is theirs."""
    strategy = st.pills(
        "Strategy",
        list(STRATEGY_NAMES),
        format_func=SHORT_NAMES.__getitem__,
        required=True,
        help="How pairs are chosen out of all possible ones. It decides which scores silver will have; "
        "the paper found it crucial.",
        **keep(PAGE, project, "strategy", "bm25" if has_gold else "cosine-strata"),
    )
    st.caption(STRATEGY_HELP[strategy])
    return str(strategy)


def strategy_form(
    project: Project,
    n_unlabelled: int,
    labelers: Sequence[ScorerAtHand],
    encoders: Sequence[Run],
    silver_sets: Sequence[SilverSet],
    *,
    has_gold: bool = True,
) -> tuple[str, SampleOptions | StratifiedOptions | None, bool]:
    """Strategy, parameters and button: the step, its options (None until complete), and whether to start.

    has_gold: whether there are training pairs; without any, pairs are made of the unlabelled sentences.
    """
    strategy = strategy_input(project, has_gold=has_gold)
    if strategy != "stratified-kde":
        sampled = sample_inputs(
            project, strategy, n_unlabelled, encoders, silver_sets, has_gold=has_gold
        )
        start = st.button(
            "Sample pairs",
            type="primary",
            icon=":material/casino:",
            help="Queues the sampling; the candidates have no scores until a labeler or people give them.",
        )
        return "sample", sampled, start
    stratified = stratified_inputs(
        project, n_unlabelled, labelers, encoders, silver_sets, has_gold=has_gold
    )
    start = st.button(
        "Sample and label",
        type="primary",
        icon=":material/auto_awesome:",
        disabled=stratified is None,
        help="Queues the rounds as one job, which ends with a silver set.",
    )
    return "sample-stratified", stratified, start


def sample_inputs(
    project: Project,
    strategy: str,
    n_unlabelled: int,
    encoders: Sequence[Run],
    silver_sets: Sequence[SilverSet],
    *,
    has_gold: bool,
) -> SampleOptions:
    """The parameters of a strategy that needs no labeler."""
    told: dict[str, Any] = {"strategy": strategy}
    left, middle, right = st.columns(3)
    if strategy in HAS_TOP_K:
        with left:
            told["top_k"] = whole(
                "Top-k", 1, 100, 1,
                "How many neighbours each sentence brings in. More neighbours give more pairs, and less "
                "similar ones (paper, tables 9 and 10).",
                **keep(PAGE, project, "top_k", 5),
            )  # fmt: skip
        if strategy != "semantic":
            with middle:
                told |= _bm25_inputs(project)
        if strategy in NEEDS_ENCODER:
            with middle if strategy == "semantic" else right:
                told["encoder"] = encoder_input(project, encoders)
            with right if strategy == "semantic" else left:
                told["search"] = _search_input(project)
            with left if strategy == "semantic" else right:
                told["device"] = device_input(PAGE, project)
        elif strategy == "bm25":
            with right:
                told["stop_words"] = _stop_words_input(project)
    else:
        with left:
            told["n_pairs"] = whole(
                "Pool size" if strategy == "kde" else "Number of pairs", 1, 10_000_000, 1000,
                PAIRS_HELP.get(strategy, "How many different pairs to draw at random. Each costs one pass of the "
                "labeler."),
                **keep(PAGE, project, f"{strategy}-n_pairs", USUAL_PAIRS.get(strategy, 5000)),
            )  # fmt: skip
        with middle:
            told["seed"] = seed_input(project)
        if strategy in NEEDS_ENCODER:
            with right:
                told["encoder"] = encoder_input(project, encoders)
            with left:
                told["device"] = device_input(PAGE, project)
    return SampleOptions(
        **told, **corpus_inputs(project, n_unlabelled, silver_sets, has_gold=has_gold)
    )


def stratified_inputs(
    project: Project,
    n_unlabelled: int,
    labelers: Sequence[ScorerAtHand],
    encoders: Sequence[Run],
    silver_sets: Sequence[SilverSet],
    *,
    has_gold: bool,
) -> StratifiedOptions | None:
    """The parameters of stratified KDE, which labels while it samples; None until a labeler is named."""
    left, middle, right = st.columns(3)
    told: dict[str, Any] = {}
    defaults = StratifiedOptions(labeler="")
    with left:
        told["n_keep"] = whole(
            "Silver pairs wanted", 10, 1_000_000, 500,
            "How many pairs to keep in the end. It stops earlier where the corpus has no more that fit.",
            **keep(PAGE, project, "n_keep", defaults.n_keep),
        )  # fmt: skip
    with middle:
        labeler = labeler_input(project, labelers, name="stratified-labeler")
    with right:
        told["encoder"] = encoder_input(
            project,
            encoders,
            label="Proxy bi-encoder",
            help_text="Its cosine tells roughly which score to expect before the labeler is asked. It need not "
            "be good: a poor proxy costs more passes, not accuracy.",
        )
    with left:
        limit = st.number_input(
            "Passes at most",
            100,
            10_000_000,
            value=None,
            step=1000,
            placeholder="no limit of your own",
            help="Never label more pairs than this, whatever is still missing.",
            **keep(PAGE, project, "max_passes", None),
        )
        told["max_passes"] = int(limit) if limit else None
    with middle:
        told["pilot"] = whole(
            "Pilot", 20, 100_000, 100,
            "Pairs in the first round, spread over all cosines, to learn what the labeler gives where. At most half of "
            "the pairs wanted.",
            **keep(PAGE, project, "pilot", defaults.pilot),
        )  # fmt: skip
    with right:
        told["rounds"] = whole(
            "Rounds after it", 1, 20, 1,
            "How often the estimate is updated and pairs are drawn where they are missing.",
            **keep(PAGE, project, "rounds", defaults.rounds),
        )  # fmt: skip
    with left:
        told["device"] = device_input(PAGE, project)
    with middle:
        told["seed"] = seed_input(project)
    told |= corpus_inputs(project, n_unlabelled, silver_sets, has_gold=has_gold)
    return StratifiedOptions(labeler=labeler, **told) if labeler else None


def corpus_inputs(
    project: Project, n_unlabelled: int, silver_sets: Sequence[SilverSet], *, has_gold: bool
) -> dict[str, Any]:
    """Which sentences take part, and which pairs are known already."""
    told: dict[str, Any] = {}
    if not has_gold:
        told["use_unlabelled"] = True
        st.caption(
            f":material/info: Pairs are made of the {n_unlabelled:,} unlabelled sentences: there are no gold training "
            "pairs yet."
        )
    elif n_unlabelled:
        told["use_unlabelled"] = st.toggle(
            f"Also use the {n_unlabelled:,} unlabelled sentences",
            help="Sentences without scores that were imported on the Gold page. Without them, only the "
            "sentences of the gold training pairs are recombined.",
            **keep(PAGE, project, "use_unlabelled", SampleOptions().use_unlabelled),
        )
    if silver_sets:
        ids = [found.id for found in silver_sets]
        kept = keep(PAGE, project, "exclude", [])
        st.session_state[kept["key"]] = [
            number for number in st.session_state[kept["key"]] if number in ids
        ]
        chosen = st.multiselect(
            "Leave out pairs of silver sets",
            ids,
            format_func=lambda number: f"Set {number}",
            placeholder="none",
            help="Pairs that these silver sets hold already are not chosen again. Gold pairs never are.",
            **kept,
        )
        told["exclude_silver_sets"] = tuple(chosen)
    return told


def encoder_input(
    project: Project,
    encoders: Sequence[Run],
    *,
    label: str = "Bi-encoder",
    help_text: str = "Whose cosine decides who is similar: one that you trained on gold (as in the paper), the "
    "pretrained one (as in the official script), or any other by its hub name or folder.",
) -> str:
    """Choose the bi-encoder that measures similarity before the labeler does."""
    names = {f"run:{run.id}": _encoder_label(run) for run in encoders}
    names[BUNDLED_MODEL] = f"Pretrained {model_label(BUNDLED_MODEL)}"
    chosen = st.selectbox(
        label,
        list(names),
        format_func=lambda name: names.get(name, name),
        accept_new_options=True,
        help=help_text,
        **keep(PAGE, project, "encoder", BUNDLED_MODEL),
    )
    return (chosen or BUNDLED_MODEL).strip()


def seed_input(project: Project) -> int:
    """The seed of a draw."""
    return whole(
        "Seed", 0, 2**31 - 1, 1, "The same seed draws the same pairs.",
        **keep(PAGE, project, "seed", 42),
    )  # fmt: skip


def _encoder_label(run: Run) -> str:
    from augsbert_core.options import BiEncoderOptions

    silver = from_json(BiEncoderOptions, run.options).silver_set_id
    data = f"gold + silver set {silver}" if silver else "gold"
    score = score_100(run)
    tail = "" if score is None else f" · dev {score:.1f}"
    return f"Run {run.id}, trained on {data}{tail}"


def _bm25_inputs(project: Project) -> dict[str, Any]:
    variant = st.selectbox(
        "Variant",
        list(VARIANTS),
        format_func=VARIANTS.__getitem__,
        help="How rare words are weighed. They differ little, except on a handful of sentences, "
        "where only Lucene's weights stay positive.",
        **keep(PAGE, project, "variant", "okapi"),
    )
    with st.popover(
        "k1 and b",
        icon=":material/tune:",
        help="The two numbers of BM25: how much repeated words add, and how much long sentences lose.",
    ):
        st.caption("Empty fields take the variant's own values.")
        k1 = st.number_input(
            "k1", 0.0, 10.0, value=None, step=0.1, placeholder="the variant's",
            help="How much a repeated word adds: 0 counts presence only; usual values are 1.2 to 2.",
            **keep(PAGE, project, "k1", None),
        )  # fmt: skip
        b = st.number_input(
            "b", 0.0, 1.0, value=None, step=0.05, placeholder="the variant's",
            help="How much long sentences are marked down: 0 not at all, 1 in proportion to their length.",
            **keep(PAGE, project, "b", None),
        )  # fmt: skip
    return {"variant": variant, "k1": k1, "b": b}


def _stop_words_input(project: Project) -> str:
    return st.selectbox(
        "Stop words",
        list(STOP_WORDS),
        format_func=STOP_WORDS.__getitem__,
        help="BM25 already gives frequent words little weight. Scripts without spaces are cut into "
        "character bigrams automatically.",
        **keep(PAGE, project, "stop_words", "none"),
    )


def _search_input(project: Project) -> str:
    return st.selectbox(
        "Search",
        list(SEARCHES),
        format_func=SEARCHES.__getitem__,
        help="Exact: every sentence is compared with every other, in seconds for ten thousand. Approximate: needs the "
        "extra “ann” and says how many of the exact neighbours it found. Automatic: exact up to 200,000 sentences.",
        **keep(PAGE, project, "search", "auto"),
    )
