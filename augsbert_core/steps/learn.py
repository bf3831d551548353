"""Live computations of the guided demo: both kinds of model timed, the five samplers, and neighbours of a sentence."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from augsbert_core.models.catalog import load_bi_encoder, load_cross_encoder
from augsbert_core.models.devices import resolve_device
from augsbert_core.models.inference import embed_rows
from augsbert_core.models.labeling import Labeler, Scorer, label_batches, load_labeler
from augsbert_core.models.search import exact_neighbours
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

SEED = 42
FRESH_SECONDS = 120.0
"""The speed of the machine holds for so long: of a class that presses at once, one measures for all, and nobody else
computes meanwhile."""


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


@dataclass(frozen=True)
class Speeds:
    """What was measured of the machine, and when on the monotonic clock; the same for everybody's pairs."""

    pair_bi: float
    pair_cross: float
    sentences_per_second: float
    pairs_per_second: float
    compare_seconds: float
    n_timed: int
    measured: float

    @property
    def is_fresh(self) -> bool:
        return time.monotonic() - self.measured < FRESH_SECONDS


_clock = threading.Lock()
"""Whoever has it measures alone."""

_encoders: Shelf[Any] = Shelf(1)
_untrained: Shelf[Labeler] = Shelf(1)
_speeds: dict[tuple[str, str], Speeds] = {}
"""By labeler and device; those that are no longer fresh go with the next measurement."""


def time_encoders(
    workspace: Workspace,
    project: Project,
    sentence1: str,
    sentence2: str,
    report: Report = silent,
    *,
    seed: int = SEED,
) -> Times:
    """Score one pair and then many with both kinds of model, on the clock.

    The cross-encoder is the project's newest labeler; before there is one, the same network with an untrained head,
    which is as fast but says nothing, so `score` is None. One caller at a time; the speeds of a measurement that is less
    than FRESH_SECONDS old are taken over.
    """
    device = resolve_device("auto")
    trained = next(iter(runs.runs_with_model(workspace, project.id, "train-cross-encoder")), None)
    location = run_model(workspace, project, f"run:{trained.id}") if trained is not None else None
    report(0.02, "Waiting for the machine to be free")
    with _clock:
        report(0.05, "Loading both models")
        bi, labeler = _both_models(location, device, seed)
        key = (location or BUNDLED_MODEL, device)
        for old in [kept for kept, found in _speeds.items() if not found.is_fresh]:
            del _speeds[old]
        speeds = _speeds.get(key) or _measure(
            bi, labeler, sentence1, sentence2, _some_sentences(workspace, project, seed), report
        )
        _speeds[key] = speeds
        one, other = _embed(bi, [sentence1, sentence2])
        score = None
        if location is not None:
            score = float(_scores(labeler, [sentence1], [sentence2])[0])
    return Times(
        cosine=float(one @ other),
        score=score,
        pair_bi=speeds.pair_bi,
        pair_cross=speeds.pair_cross,
        sentences_per_second=speeds.sentences_per_second,
        pairs_per_second=speeds.pairs_per_second,
        compare_seconds=speeds.compare_seconds,
        n_timed=speeds.n_timed,
        device=device,
    )


def get_ready() -> None:
    """Load both models and prepare the samplers before anybody asks: in a class nobody then waits for libraries.

    WorkbenchError: there are no models.
    """
    with _clock:
        _both_models(None, resolve_device("auto"), SEED)
    prepare_samplers()


_preparing = threading.Lock()
_prepared: list[bool] = []


def prepare_samplers() -> None:
    """Have the search by words compiled, which takes seconds at the first use on a machine; at once after that."""
    with _preparing:
        if not _prepared:
            texts = ["A dog runs.", "A dog sleeps.", "Bread is baked."]
            corpus = Corpus(texts, np.arange(len(texts)), np.empty(0, dtype=np.int64))
            SAMPLERS["bm25"](corpus, recipe.sample_options("bm25"))
            _prepared.append(True)


def prepare_samplers_soon() -> None:
    """`prepare_samplers` in the background: it is done while somebody reads and predicts."""
    if not _prepared and not _preparing.locked():
        threading.Thread(target=prepare_samplers, name="prepare-samplers").start()


def _both_models(location: str | None, device: str, seed: int) -> tuple[Any, Labeler]:
    bi = _encoders.get(device, lambda: load_bi_encoder(BUNDLED_MODEL, device))
    if location is not None:
        return bi, load_labeler(location, device)
    return bi, _untrained.get((device, seed), lambda: _untrained_labeler(device, seed))


def _untrained_labeler(device: str, seed: int) -> Labeler:
    body = load_cross_encoder(BUNDLED_MODEL, device, for_training=True, seed=seed)
    return Labeler((Scorer(BUNDLED_MODEL, body),), device)


def _measure(
    bi: object, labeler: Labeler, sentence1: str, sentence2: str, chosen: list[str], report: Report
) -> Speeds:
    first, second = chosen[::2], chosen[1::2]
    report(0.2, "One pair")
    _embed(bi, chosen[:8])  # the first batch of a process is slow
    _scores(labeler, first[:4], second[:4])
    begun = time.perf_counter()
    dimensions = _embed(bi, [sentence1, sentence2]).shape[1]
    pair_bi = time.perf_counter() - begun
    begun = time.perf_counter()
    _scores(labeler, [sentence1], [sentence2])
    pair_cross = time.perf_counter() - begun
    report(0.3, f"{len(chosen)} sentences by the bi-encoder")
    begun = time.perf_counter()
    _embed(bi, chosen)
    sentences_per_second = len(chosen) / (time.perf_counter() - begun)
    report(0.5, f"{len(first)} pairs by the cross-encoder")
    n_timed, pairs_per_second = _read_pairs(labeler, first, second)
    report(0.8, f"The cosines of all pairs of {MANY:,} embeddings")
    return Speeds(
        pair_bi=pair_bi,
        pair_cross=pair_cross,
        sentences_per_second=sentences_per_second,
        pairs_per_second=pairs_per_second,
        compare_seconds=_compare_all(dimensions, np.random.default_rng(SEED)),
        n_timed=n_timed,
        measured=time.monotonic(),
    )


def _some_sentences(workspace: Workspace, project: Project, seed: int) -> list[str]:
    _, texts = _corpus_texts(workspace, project)
    order = np.random.default_rng(seed).permutation(len(texts))
    return [texts[place] for place in order[: 2 * TIMED_PAIRS]]


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

    The sentences are embedded once, for both strategies that need it. Each sampler runs twice, and the second run is
    timed: what is loaded and compiled once in the life of a process says nothing about a way to choose pairs.
    """
    report(0.02, "Preparing the samplers (the first time on a machine takes longer)")
    prepare_samplers()
    corpus = _searchable(workspace, project, report)
    n = len(corpus)
    _, embed_seconds = _embedded(resolve_device("auto"), corpus.texts, report)
    found = []
    for place, strategy in enumerate(recipe.STRATEGIES):
        report(0.4 + 0.6 * place / len(recipe.STRATEGIES), f"Sampling: {strategy}")
        options = recipe.sample_options(strategy)
        SAMPLERS[strategy](corpus, options)
        begun = time.perf_counter()
        chosen = SAMPLERS[strategy](corpus, options)
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
    corpus = sampling_corpus(workspace, project.id, recipe.sample_options("bm25+semantic"))
    return replace(corpus, search=_search(resolve_device("auto"), report))


_embeddings: Shelf[tuple[np.ndarray, float]] = Shelf(2)


def _embedded(device: str, texts: Sequence[str], report: Report) -> tuple[np.ndarray, float]:
    """The embeddings of texts by the bundled model, and the seconds it took, without loading, when they were made."""

    def make() -> tuple[np.ndarray, float]:
        with _clock:
            report(0.1, "Loading the bi-encoder")
            bi = _encoders.get(device, lambda: load_bi_encoder(BUNDLED_MODEL, device))
            _embed(bi, texts[:8])  # the first batch of a process is slow
            report(0.2, f"Embedding {len(texts):,} sentences")
            begun = time.perf_counter()
            return _embed(bi, texts), time.perf_counter() - begun

    return _embeddings.get((device, tuple(texts)), make)


def _search(device: str, report: Report) -> Search:
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
        return exact_neighbours(
            _embedded(device, texts, report)[0],
            top_k,
            tie_keys=tie_keys,
            excluded=excluded,
            device=device,
            should_stop=should_stop,
        )

    return search
