"""Try models on texts that one types: the scores of a pair, and the nearest sentences of the corpus.

Models stay loaded in the process that asks, a few at a time. Nothing is written to the store.
"""

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.models.catalog import load_bi_encoder, resolve_model
from augsbert_core.models.inference import embed_rows, pair_cosines
from augsbert_core.models.labeling import label_batches, load_labeler
from augsbert_core.models.tokens import tokenize_rows
from augsbert_core.options import BUNDLED_MODEL, BiEncoderOptions, from_json
from augsbert_core.progress import Report, silent
from augsbert_core.steps.names import model_label
from augsbert_core.steps.targets import parse_target
from augsbert_core.storage import runs, sentences
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project, Run

MOST_MODELS = 4
"""Models that stay loaded; the one that was asked longest ago goes first."""

MOST_CORPORA = 4
MOST_SENTENCES = 20_000
"""A search looks at so many sentences of the corpus at most: what can be embedded while one waits."""

UNCALIBRATED = (
    "A cosine says which pairs a bi-encoder finds more alike than others; it is no calibrated score, and on the "
    "project's scale it is only cut off at 0."
)

Kept = TypeVar("Kept")


class Shelf(Generic[Kept]):
    """The last few things that were made, by key; made once, even when several threads ask at a time."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._lock = threading.Lock()
        self._kept: OrderedDict[Any, tuple[threading.Lock, list[Kept]]] = OrderedDict()

    def get(self, key: Any, make: Callable[[], Kept]) -> Kept:
        with self._lock:
            lock, box = self._kept.setdefault(key, (threading.Lock(), []))
            self._kept.move_to_end(key)
            while len(self._kept) > self.most:
                self._kept.popitem(last=False)
        with lock:
            if not box:
                box.append(make())
            return box[0]

    def __contains__(self, key: Any) -> bool:
        with self._lock:
            return bool(self._kept.get(key, (None, []))[1])

    def __len__(self) -> int:
        return len(self._kept)


@dataclass(frozen=True)
class Loaded:
    """A model in memory, used by one thread at a time. kind: "bi_encoder" or "cross_encoder"."""

    key: tuple
    kind: str
    model: Any
    lock: threading.Lock = field(default_factory=threading.Lock)


_models: Shelf[Loaded] = Shelf(MOST_MODELS)
_embeddings: Shelf[np.ndarray] = Shelf(MOST_CORPORA)


@dataclass(frozen=True)
class Choice:
    """A model that can be tried. target: as `steps.targets.parse_target` reads it."""

    target: str
    kind: str
    label: str


@dataclass(frozen=True)
class PairScore:
    """What one model says about a pair.

    raw: a cosine, or a cross-encoder's logit. score: in [0, 1]; a cosine is only cut off at 0, not calibrated.
    """

    target: str
    kind: str
    raw: float
    score: float
    seconds: float


@dataclass(frozen=True)
class Hit:
    """One sentence found. reranked: the cross-encoder's score in [0, 1], None when none was asked."""

    text: str
    cosine: float
    reranked: float | None = None


@dataclass(frozen=True)
class Found:
    """What a search found, best first, and what it took.

    corpus_seconds: to embed the corpus, 0 when its embeddings were at hand. n_left_out: sentences past
    `MOST_SENTENCES`.
    """

    hits: list[Hit]
    n_sentences: int
    n_left_out: int
    query_seconds: float
    search_seconds: float
    corpus_seconds: float
    rerank_seconds: float = 0.0


def choices(workspace: Workspace, project: Project) -> list[Choice]:
    """The models that can be tried, newest first, the untrained base last; never empty."""
    found = []
    for step, kind in (
        ("train-bi-encoder", "bi_encoder"),
        ("train-cross-encoder", "cross_encoder"),
    ):
        found += [
            Choice(f"run:{run.id}", kind, f"Run {run.id} · {run.name}")
            for run in runs.runs_with_model(workspace, project.id, step)
        ]
    layers = f"@layers={project.student_layers}" if project.student_layers else ""
    cut = f", {project.student_layers} layers" if project.student_layers else ""
    untrained = f"Untrained {model_label(BUNDLED_MODEL)}{cut}"
    return [*found, Choice(f"model:{BUNDLED_MODEL}{layers}", "bi_encoder", untrained)]


def gold_only(workspace: Workspace, project: Project) -> Run | None:
    """The newest bi-encoder that was trained on gold alone."""
    for run in runs.runs_with_model(workspace, project.id, "train-bi-encoder"):
        told = from_json(BiEncoderOptions, run.options)
        if told.silver_set_id is None and told.use_gold:
            return run
    return None


def score_pair(
    workspace: Workspace,
    project: Project,
    targets: Sequence[str],
    sentence1: str,
    sentence2: str,
    *,
    device: str = "cpu",
) -> list[PairScore]:
    """What each model says about two sentences, in the order asked. WorkbenchError: a sentence is blank."""
    if not sentence1.strip() or not sentence2.strip():
        raise WorkbenchError("Type two sentences: one of them is empty.")
    scores = []
    for target in targets:
        model = _load(workspace, project, target, device)
        begun = time.monotonic()
        with model.lock:
            if model.kind == "bi_encoder":
                raw = float(pair_cosines(model.model, [sentence1], [sentence2])[0])
                score = min(max(raw, 0.0), 1.0)
            else:
                raw, score = (float(values[0]) for values in _ask(model, [sentence1], [sentence2]))
        scores.append(PairScore(target, model.kind, raw, score, time.monotonic() - begun))
    return scores


def search(
    workspace: Workspace,
    project: Project,
    target: str,
    query: str,
    *,
    top: int = 10,
    rerank: str | None = None,
    device: str = "cpu",
    report: Report = silent,
) -> Found:
    """The sentences of the corpus (training and unlabelled) nearest to a query, by one bi-encoder.

    rerank: a cross-encoder that puts those `top` in a new order. WorkbenchError: the query is blank, the corpus
    is empty, or a model is of the wrong kind.
    """
    if not query.strip():
        raise WorkbenchError("Type a query: it is empty.")
    if not 1 <= top <= 1000:
        raise WorkbenchError(f"The number of sentences is {top}. Give 1 to 1000.")
    texts = sentences.sampling_corpus(workspace, project.id, use_unlabelled=True)[1]
    if not texts:
        raise WorkbenchError(
            "There are no sentences to search. Import gold training pairs or unlabelled sentences first."
        )
    shown = texts[:MOST_SENTENCES]
    model = _load(workspace, project, target, device, kind="bi_encoder")
    corpus, corpus_seconds = _corpus_embeddings(model, shown, report)
    begun = time.monotonic()
    with model.lock:
        asked = embed_rows(model.model, tokenize_rows(model.model, [query]))[0]
    query_seconds = time.monotonic() - begun
    begun = time.monotonic()
    cosines = corpus @ asked
    best = np.argsort(-cosines, kind="stable")[:top]
    search_seconds = time.monotonic() - begun
    hits = [Hit(shown[at], float(cosines[at])) for at in best.tolist()]
    begun = time.monotonic()
    if rerank:
        hits = _reranked(
            _load(workspace, project, rerank, device, kind="cross_encoder"), query, hits
        )
    return Found(
        hits,
        n_sentences=len(shown),
        n_left_out=len(texts) - len(shown),
        query_seconds=query_seconds,
        search_seconds=search_seconds,
        corpus_seconds=corpus_seconds,
        rerank_seconds=time.monotonic() - begun if rerank else 0.0,
    )


def times_text(found: Found) -> str:
    """How long a search took and how much it looked at, in one line."""
    parts = [f"{found.n_sentences:,} sentences"]
    if found.corpus_seconds:
        parts.append(f"embedded in {found.corpus_seconds:.1f} s, once")
    parts.append(f"query embedded in {1000 * found.query_seconds:.0f} ms")
    parts.append(f"searched in {1000 * found.search_seconds:.1f} ms")
    if found.rerank_seconds:
        parts.append(f"reranked in {1000 * found.rerank_seconds:.0f} ms")
    if found.n_left_out:
        parts.append(f"{found.n_left_out:,} more were not looked at")
    return " · ".join(parts)


def _reranked(model: Loaded, query: str, hits: Sequence[Hit]) -> list[Hit]:
    with model.lock:
        raw, scores = _ask(model, [query] * len(hits), [hit.text for hit in hits])
    order = np.argsort(-raw, kind="stable").tolist()
    return [Hit(hits[at].text, hits[at].cosine, float(scores[at])) for at in order]


def _ask(model: Loaded, first: list[str], second: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Logits and scores of a cross-encoder, in the order of the pairs."""
    raw, scores = np.zeros(len(first)), np.zeros(len(first))
    for places, logits, values in label_batches(model.model, first, second):
        raw[places], scores[places] = logits, values
    return raw, scores


def _corpus_embeddings(
    model: Loaded, texts: Sequence[str], report: Report
) -> tuple[np.ndarray, float]:
    """The embeddings of the corpus, from the last search where model and texts are the same; and the seconds."""
    digest = hashlib.blake2b("\x1f".join(texts).encode(errors="surrogatepass"), digest_size=16)
    key = (model.key, digest.digest())

    def make() -> np.ndarray:
        with model.lock:
            return embed_rows(model.model, tokenize_rows(model.model, texts), report=report)

    begun = time.monotonic()
    was_there = key in _embeddings
    found = _embeddings.get(key, make)
    return found, 0.0 if was_there else time.monotonic() - begun


def _load(
    workspace: Workspace, project: Project, text: str, device: str, kind: str | None = None
) -> Loaded:
    """The model of a target, loaded once as long as its files stay the same."""
    target = parse_target(workspace, project, text)
    if target.kind not in ("bi_encoder", "cross_encoder") or target.location is None:
        raise WorkbenchError(f"{text!r} is no single model. Give run:ID or model:NAME.")
    if kind is not None and target.kind != kind:
        wanted, found = kind.replace("_", "-"), target.kind.replace("_", "-")
        raise WorkbenchError(f"{text!r} is a {found}; here a {wanted} is needed.")
    location = resolve_model(target.location).location
    key = (target.kind, location, _changed(Path(location)), target.layers, device)

    def make() -> Loaded:
        if target.kind == "bi_encoder":
            return Loaded(key, target.kind, load_bi_encoder(location, device, layers=target.layers))
        return Loaded(key, target.kind, load_labeler(location, device))

    return _models.get(key, make)


def _changed(folder: Path) -> int:
    """When the newest weights in a model folder were written, in nanoseconds."""
    return max((file.stat().st_mtime_ns for file in folder.rglob("*.safetensors")), default=0)
