"""Live computations of the guided demo: both kinds of model timed, the five samplers, and neighbours of a sentence."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from augsbert_core.models.catalog import load_bi_encoder, load_cross_encoder
from augsbert_core.models.devices import resolve_device
from augsbert_core.models.inference import embed_rows
from augsbert_core.models.labeling import Labeler, Scorer, label_batches, load_labeler
from augsbert_core.models.search import embed_texts, exact_neighbours
from augsbert_core.models.tokens import tokenize_rows
from augsbert_core.options import BUNDLED_MODEL
from augsbert_core.progress import Report, ShouldStop, never, silent
from augsbert_core.sampling import SAMPLERS, Corpus
from augsbert_core.sampling.bm25 import find_bm25
from augsbert_core.sampling.neighbours import Neighbours, Search
from augsbert_core.steps import learn_recipe as recipe
from augsbert_core.steps.models import run_model
from augsbert_core.steps.sample import sampling_corpus
from augsbert_core.steps.try_it import Shelf
from augsbert_core.storage import runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project

MANY = 10_000
N_ALL_PAIRS = MANY * (MANY - 1) // 2
"""All pairs of 10,000 sentences: the paper of Sentence-BERT counts them too."""

TIMED_PAIRS = 96
"""So many pairs are scored by either model for the clock: a few seconds on a slow laptop."""

SECONDS_TO_TIME = 8.0
"""The slow model is stopped after this long; what it has scored by then gives its speed."""


@dataclass(frozen=True)
class Times:
    """Both kinds of model on this machine. cosine: of the pair. score: the cross-encoder's, None when it is untrained.

    pair_bi, pair_cross: seconds for one pair. sentences_per_second: embedded by the bi-encoder. pairs_per_second: read
    by the cross-encoder. compare_seconds: the cosines of all pairs of 10,000 embeddings, measured in full.
    """

    cosine: float
    score: float | None
    pair_bi: float
    pair_cross: float
    sentences_per_second: float
    pairs_per_second: float
    compare_seconds: float
    n_timed: int
    device: str

    @property
    def all_bi(self) -> float:
        """Seconds for all pairs of 10,000 sentences by the bi-encoder: each embedded once, then all cosines."""
        return MANY / self.sentences_per_second + self.compare_seconds

    @property
    def all_cross(self) -> float:
        """Seconds for all pairs of 10,000 sentences by the cross-encoder, at the measured speed."""
        return N_ALL_PAIRS / self.pairs_per_second

    @property
    def times(self) -> float:
        return self.all_cross / self.all_bi


def time_encoders(
    workspace: Workspace,
    project: Project,
    sentence1: str,
    sentence2: str,
    report: Report = silent,
    *,
    seed: int = 42,
) -> Times:
    """Score one pair and then many with both kinds of model, on the clock.

    The cross-encoder is the project's newest labeler; before there is one, the same network with an untrained head,
    which is as fast but says nothing, so `score` is None.
    """
    device = resolve_device("auto")
    report(0.05, "Loading both models")
    bi = load_bi_encoder(BUNDLED_MODEL, device)
    trained = next(iter(runs.runs_with_model(workspace, project.id, "train-cross-encoder")), None)
    if trained is not None:
        labeler = load_labeler(
            run_model(workspace, project, f"run:{trained.id}") or BUNDLED_MODEL, device
        )
    else:
        body = load_cross_encoder(BUNDLED_MODEL, device, for_training=True, seed=seed)
        labeler = Labeler((Scorer(BUNDLED_MODEL, body),), device)
    _, texts = _corpus_texts(workspace, project)
    rng = np.random.default_rng(seed)
    chosen = [texts[place] for place in rng.permutation(len(texts))[: 2 * TIMED_PAIRS]]
    first, second = chosen[::2], chosen[1::2]
    report(0.2, "One pair")
    _embed(bi, chosen[:8])  # the first batch of a process is slow
    _scores(labeler, first[:4], second[:4])
    begun = time.perf_counter()
    one, other = _embed(bi, [sentence1, sentence2])
    pair_bi = time.perf_counter() - begun
    begun = time.perf_counter()
    score = float(_scores(labeler, [sentence1], [sentence2])[0])
    pair_cross = time.perf_counter() - begun
    report(0.3, f"{len(chosen)} sentences by the bi-encoder")
    begun = time.perf_counter()
    _embed(bi, chosen)
    sentences_per_second = len(chosen) / (time.perf_counter() - begun)
    report(0.5, f"{len(first)} pairs by the cross-encoder")
    n_timed, pairs_per_second = _read_pairs(labeler, first, second)
    report(0.8, f"The cosines of all pairs of {MANY:,} embeddings")
    return Times(
        cosine=float(one @ other),
        score=score if trained is not None else None,
        pair_bi=pair_bi,
        pair_cross=pair_cross,
        sentences_per_second=sentences_per_second,
        pairs_per_second=pairs_per_second,
        compare_seconds=_compare_all(one.shape[0], rng),
        n_timed=n_timed,
        device=device,
    )


def _corpus_texts(workspace: Workspace, project: Project) -> tuple[np.ndarray, list[str]]:
    corpus = sampling_corpus(workspace, project.id, recipe.sample_options("bm25"))
    return corpus.ids, corpus.texts


def _embed(model: object, texts: Sequence[str]) -> np.ndarray:
    return embed_rows(model, tokenize_rows(model, texts))


def _scores(labeler: Labeler, first: list[str], second: list[str]) -> np.ndarray:
    scores = np.zeros(len(first))
    for places, _, values in label_batches(labeler, first, second):
        scores[places] = values
    return scores


def _read_pairs(labeler: Labeler, first: list[str], second: list[str]) -> tuple[int, float]:
    """How many pairs were read, and how many a second; a slow machine reads fewer."""
    begun, done = time.perf_counter(), 0
    for start in range(0, len(first), 32):
        done += len(_scores(labeler, first[start : start + 32], second[start : start + 32]))
        if time.perf_counter() - begun > SECONDS_TO_TIME:
            break
    return done, done / (time.perf_counter() - begun)


def _compare_all(dimensions: int, rng: np.random.Generator, block: int = 1000) -> float:
    """Seconds for the cosines of all pairs of 10,000 unit vectors, block by block, so that memory stays small."""
    vectors = rng.standard_normal((MANY, dimensions), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    begun = time.perf_counter()
    for start in range(0, MANY, block):
        _ = vectors[start : start + block] @ vectors[start:].T
    return time.perf_counter() - begun


@dataclass(frozen=True)
class Sampled:
    """What one sampler chose. pool: pairs that must be labelled first, of which the KDE rule keeps a part."""

    strategy: str
    n_pairs: int
    seconds: float
    pool: bool = False


@dataclass(frozen=True)
class Sampling:
    """The five samplers on one corpus. n_possible: pairs that could be made of its sentences."""

    n_sentences: int
    n_possible: int
    embed_seconds: float
    found: tuple[Sampled, ...]


def run_samplers(workspace: Workspace, project: Project, report: Report = silent) -> Sampling:
    """Run the recipe's five samplers on the project's training sentences; nothing is stored.

    The sentences are embedded once, for both strategies that need it.
    """
    corpus = _searchable(workspace, project, report)
    n = len(corpus)
    begun = time.perf_counter()
    if corpus.search is not None:
        corpus.search(corpus.texts, 1)
    embed_seconds = time.perf_counter() - begun
    found = []
    for place, strategy in enumerate(recipe.STRATEGIES):
        report(0.4 + 0.6 * place / len(recipe.STRATEGIES), f"Sampling: {strategy}")
        begun = time.perf_counter()
        chosen = SAMPLERS[strategy](corpus, recipe.sample_options(strategy))
        seconds = time.perf_counter() - begun
        found.append(Sampled(strategy, len(chosen), seconds, strategy == "kde"))
    return Sampling(n, n * (n - 1) // 2, embed_seconds, tuple(found))


@dataclass(frozen=True)
class Near:
    """A neighbour of a sentence, with the search's own score."""

    text: str
    score: float


def neighbours_of(
    workspace: Workspace, project: Project, sentence: str, top_k: int = 5, report: Report = silent
) -> tuple[list[Near], list[Near]]:
    """The best BM25 and the best semantic neighbours of a sentence of the corpus, gold pairs left out."""
    corpus = _searchable(workspace, project, report)
    options = replace(recipe.sample_options("bm25"), top_k=top_k)
    at = corpus.texts.index(sentence)
    by_words = find_bm25(corpus, options)
    search = corpus.search
    by_meaning = (
        search(corpus.texts, top_k, excluded=corpus.excluded_positions()) if search else by_words
    )
    return tuple(  # type: ignore[return-value]
        [
            Near(corpus.texts[other], float(score))
            for query, other, score in zip(
                found.query.tolist(), found.neighbour.tolist(), found.score.tolist(), strict=True
            )
            if query == at
        ]
        for found in (by_words, by_meaning)
    )


def corpus_sentences(workspace: Workspace, project: Project) -> list[str]:
    """The sentences that the samplers may pair."""
    return _corpus_texts(workspace, project)[1]


def _searchable(workspace: Workspace, project: Project, report: Report) -> Corpus:
    """The corpus with a semantic search whose embeddings are made once."""
    options = recipe.sample_options("bm25+semantic")
    corpus = sampling_corpus(workspace, project.id, options)
    return replace(corpus, search=_search(options.encoder, resolve_device("auto"), report))


_embeddings: Shelf[np.ndarray] = Shelf(2)


def _search(location: str, device: str, report: Report) -> Search:
    """`models.search.bound_search` for several samplers in a row: the embeddings of the same texts are kept."""

    def search(
        texts: Sequence[str],
        top_k: int,
        *,
        tie_keys: np.ndarray | None = None,
        excluded: tuple[np.ndarray, np.ndarray] | None = None,
        report: Report = report,
        should_stop: ShouldStop = never,
    ) -> Neighbours:
        key = (location, device, tuple(texts))
        made = _embeddings.get(key, lambda: embed_texts(location, texts, device, report=report))
        return exact_neighbours(
            made,
            top_k,
            tie_keys=tie_keys,
            excluded=excluded,
            device=device,
            should_stop=should_stop,
        )

    return search
