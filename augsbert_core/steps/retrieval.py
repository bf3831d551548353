"""The first stage of retrieval: which sentences are nearest to which, by words or by a frozen bi-encoder."""

from collections.abc import Sequence

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.models.search import bound_search
from augsbert_core.options import SampleOptions
from augsbert_core.pairs import pair_codes
from augsbert_core.progress import Report, ShouldStop, never, silent
from augsbert_core.sampling import Corpus
from augsbert_core.sampling.bm25 import find_bm25
from augsbert_core.sampling.neighbours import Neighbours
from augsbert_core.steps.models import run_model, run_number
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project

BM25 = "bm25"


def encoder_location(workspace: Workspace, project: Project, target: str) -> str:
    """The folder or name of the bi-encoder "run:ID" or "model:NAME". WorkbenchError: it is neither."""
    return _location(workspace, project, target, "train-bi-encoder", "bi-encoder")


def reranker_location(workspace: Workspace, project: Project, target: str) -> str:
    """The folder or name of the cross-encoder "run:ID" or "model:NAME". WorkbenchError: it is neither."""
    return _location(workspace, project, target, "train-cross-encoder", "cross-encoder")


def _location(workspace: Workspace, project: Project, target: str, step: str, what: str) -> str:
    if run_number(target) is not None:
        return run_model(workspace, project, target, step) or ""
    kind, _, name = target.partition(":")
    if kind != "model" or not name:
        raise WorkbenchError(
            f"{target!r} is no {what}. Give run:ID of one trained here, or model:NAME."
        )
    return name


def check_source(workspace: Workspace, project: Project, source: str) -> None:
    """WorkbenchError: the source of neighbours is neither "bm25" nor a bi-encoder."""
    if source != BM25:
        encoder_location(workspace, project, source)


def nearest(
    workspace: Workspace,
    project: Project,
    source: str,
    texts: Sequence[str],
    depth: int,
    *,
    excluded: tuple[np.ndarray, np.ndarray] | None = None,
    seed: int = 42,
    device: str = "cpu",
    report: Report = silent,
    should_stop: ShouldStop = never,
) -> Neighbours:
    """The `depth` nearest other sentences of each text, as positions, best first.

    source: "bm25", "run:ID" or "model:NAME" of a bi-encoder. excluded: positions of pairs that do not
    match and do not use up the depth. BM25 finds no sentence that shares no word.
    """
    ids = np.arange(len(texts), dtype=np.int64)
    if source == BM25:
        first, second = excluded if excluded is not None else (ids[:0], ids[:0])
        corpus = Corpus(list(texts), ids, pair_codes(first, second))
        told = SampleOptions(top_k=depth, seed=seed)
        return find_bm25(corpus, told, report, should_stop)
    search = bound_search(encoder_location(workspace, project, source), device)
    return search(
        texts,
        min(depth, max(len(texts) - 1, 0)),
        excluded=excluded,
        report=report,
        should_stop=should_stop,
    )
