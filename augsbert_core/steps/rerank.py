"""Judge cross-encoders as rerankers: the same candidates in a new order, against the order they came in."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.metrics import ranking
from augsbert_core.models.reranking import NewHead, score_candidates
from augsbert_core.options import CrossEncoderOptions, RerankOptions, from_json
from augsbert_core.pairs import SPLITS, ScoredPairs, sentence_key
from augsbert_core.progress import stretch
from augsbert_core.sampling.neighbours import Neighbours
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.models import run_number
from augsbert_core.steps.retrieval import check_source, nearest, reranker_location
from augsbert_core.storage import gold, runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project

CUT_OFF = 10
"""nDCG@10: what stands below the tenth place counts for nothing."""

NO_QUERIES = (
    "No first sentence of the {split} split has a gold pair scored {score:g} or more, so there is no query with "
    "a right answer. Lower the score from which a pair is relevant, or choose another split."
)
UNJUDGED = (
    "{share:.0%} of the candidates have no gold score and count as irrelevant. A reranker that finds good "
    "sentences which nobody has judged is not rewarded, so all nDCG and MRR are lower bounds."
)
RECALL_STAYS = "Recall is that of the first stage: reranking changes the order of its candidates, never which they are."


@dataclass(frozen=True)
class Collection:
    """Sentences of a split with what gold says about them.

    queries: positions in texts. gains: for each query, position of another sentence → gold score in [0, 1].
    """

    texts: list[str]
    queries: list[int]
    gains: list[dict[int, float]]


@dataclass(frozen=True)
class Order:
    """What a ranking is worth per query: two float arrays, in the order of the queries."""

    ndcg: np.ndarray
    reciprocal: np.ndarray


def check_reranking(workspace: Workspace, project: Project, options: RerankOptions) -> None:
    """WorkbenchError: no such split or model, nothing to rerank, or no query with a right answer."""
    if options.split not in SPLITS:
        raise WorkbenchError(f"{options.split!r} is not a split; choose train, dev or test.")
    if not options.rerankers:
        raise WorkbenchError("There is no cross-encoder to judge. Train one first, or name one.")
    if not 1 <= options.depth <= 10_000:
        raise WorkbenchError(f"Depth is {options.depth}. Give a number from 1 to 10000.")
    for target in options.rerankers:
        reranker_location(workspace, project, target)
    check_source(workspace, project, options.first_stage)
    pairs = gold.scored_pairs(workspace, project.id, options.split)
    if not collect(pairs, options.relevant_from).queries:
        score = project.score_range.to_raw(options.relevant_from)
        raise WorkbenchError(NO_QUERIES.format(split=options.split, score=score))


def collect(pairs: ScoredPairs, relevant_from: float) -> Collection:
    """The distinct sentences of gold pairs, and as queries the first sentences that have a relevant pair.

    A pair has no direction: it judges either sentence for the other. Repeats of a pair count with their mean.
    """
    places: dict[str, int] = {}
    texts: list[str] = []

    def place(text: str) -> int:
        key = sentence_key(text)
        if key not in places:
            places[key] = len(texts)
            texts.append(text)
        return places[key]

    scores: dict[int, dict[int, list[float]]] = {}
    firsts: dict[int, None] = {}
    for one, two, score in zip(pairs.sentences1, pairs.sentences2, pairs.scores, strict=True):
        first, second = place(one), place(two)
        firsts.setdefault(first)
        if first != second:
            scores.setdefault(first, {}).setdefault(second, []).append(float(score))
            scores.setdefault(second, {}).setdefault(first, []).append(float(score))
    queries, gains = [], []
    for query in firsts:
        judged = {at: float(np.mean(found)) for at, found in scores.get(query, {}).items()}
        if any(gain >= relevant_from for gain in judged.values()):
            queries.append(query)
            gains.append(judged)
    return Collection(texts, queries, gains)


def rerank(context: StepContext, options: RerankOptions) -> dict[str, Any]:
    """Order each query's fixed candidates by the first stage, by each cross-encoder and by an untrained one.

    nDCG@10 with gold scores as gains (no gold score: 0) and MRR, with 95 % bootstrap intervals over queries,
    and the paired difference to the first stage's own order.
    """
    workspace, project = context.workspace, context.project
    check_reranking(workspace, project, options)
    pairs = gold.scored_pairs(workspace, project.id, options.split)
    found = collect(pairs, options.relevant_from)
    begun = time.monotonic()
    near = nearest(
        workspace,
        project,
        options.first_stage,
        found.texts,
        options.depth,
        seed=options.seed,
        device=context.device,
        report=stretch(context.report, 0.0, 0.1),
        should_stop=context.should_stop,
    )
    lists = candidate_lists(near, found.queries)
    own = judge(found, lists, options.relevant_from)
    rows = [_row(options, options.first_stage, "first stage", own, own, time.monotonic() - begun)]
    rows[0]["recall"] = _recall(found, lists, options.relevant_from)
    judges = _judges(context, options)
    for number, (target, kind, told) in enumerate(judges):
        low, high = (0.1 + 0.9 * (number + step) / len(judges) for step in (0, 1))
        begun = time.monotonic()
        scores = _scores(context, told, target, kind, found, lists, (low, high))
        order = judge(found, reordered(lists, scores), options.relevant_from)
        rows.append(_row(options, target, kind, order, own, time.monotonic() - begun))
    n_pairs = sum(map(len, lists))
    judged = sum(
        int(at in gains) for gains, listed in zip(found.gains, lists, strict=True) for at in listed
    )
    unjudged = 1 - judged / n_pairs if n_pairs else 0.0
    return {
        "rows": rows,
        "split": options.split,
        "data_hash": gold.data_hash(pairs),
        "n_queries": len(found.queries),
        "n_sentences": len(found.texts),
        "n_reranked": n_pairs,
        "unjudged": unjudged,
        "notices": [UNJUDGED.format(share=unjudged), RECALL_STAYS, *near.notices],
    }


def candidate_lists(near: Neighbours, queries: Sequence[int]) -> list[np.ndarray]:
    """For each query the positions that the first stage found, best first. near: ordered by query."""
    starts = np.searchsorted(near.query, queries, side="left")
    ends = np.searchsorted(near.query, queries, side="right")
    return [near.neighbour[start:end] for start, end in zip(starts, ends, strict=True)]


def reordered(lists: Sequence[np.ndarray], scores: np.ndarray) -> list[np.ndarray]:
    """The lists by falling score; among equals the first stage's order stays. scores: of all lists, end to end."""
    ends = np.cumsum([len(listed) for listed in lists])[:-1]
    return [
        listed[np.argsort(-part, kind="stable")]
        for listed, part in zip(lists, np.split(scores, ends), strict=True)
    ]


def judge(found: Collection, lists: Sequence[np.ndarray], relevant_from: float) -> Order:
    """What an order is worth for each query."""
    values = []
    for gains, listed in zip(found.gains, lists, strict=True):
        ranked = np.array([gains.get(int(at), 0.0) for at in listed])
        best = np.array(list(gains.values()))
        value = ranking.ndcg(ranked, best, CUT_OFF) or 0.0
        values.append((value, ranking.reciprocal_rank(ranked >= relevant_from)))
    columns = np.array(values, dtype=np.float64).reshape(-1, 2).T
    return Order(columns[0], columns[1])


def _recall(found: Collection, lists: Sequence[np.ndarray], relevant_from: float) -> float:
    values = []
    for gains, listed in zip(found.gains, lists, strict=True):
        relevant = {at for at, gain in gains.items() if gain >= relevant_from}
        hits = np.array([int(at) in relevant for at in listed], dtype=bool)
        values.append(ranking.recall(hits, len(relevant)) or 0.0)
    return float(np.mean(values))


def _judges(context: StepContext, options: RerankOptions) -> list[tuple[str, str, str | NewHead]]:
    """(target, kind, model) of each cross-encoder, and of the untrained one that it came from."""
    trained: list[tuple[str, str, str | NewHead]] = []
    untrained: dict[NewHead, str] = {}
    for target in dict.fromkeys(options.rerankers):
        location = reranker_location(context.workspace, context.project, target)
        trained.append((target, "reranker", location))
        run_id = run_number(target)
        if run_id is not None:
            run = runs.get_run(context.workspace, run_id)
            told = from_json(CrossEncoderOptions, run.options)
            head = NewHead(told.base, told.layers, told.hidden, told.max_length, options.seed)
            untrained.setdefault(head, f"model:{told.base}")
    return trained + [(target, "untrained", head) for head, target in untrained.items()]


def _scores(
    context: StepContext,
    told: str | NewHead,
    target: str,
    kind: str,
    found: Collection,
    lists: Sequence[np.ndarray],
    span: tuple[float, float],
) -> np.ndarray:
    context.report(span[0], f"Reranking with {target}")
    queries = [
        found.texts[query]
        for query, listed in zip(found.queries, lists, strict=True)
        for _ in listed
    ]
    return score_candidates(
        told,
        queries,
        [found.texts[int(at)] for listed in lists for at in listed],
        device=context.device,
        report=stretch(context.report, *span),
        should_stop=context.should_stop,
    )


def _row(
    options: RerankOptions, target: str, kind: str, order: Order, own: Order, seconds: float
) -> dict[str, Any]:
    """One line of the table. difference: nDCG to the first stage's own order, None for that itself."""
    row: dict[str, Any] = {"target": target, "kind": kind, "seconds": seconds, "recall": None}
    for name, values in (("ndcg", order.ndcg), ("mrr", order.reciprocal)):
        mean = ranking.query_mean(values, seed=options.seed)
        row[name] = mean.value if mean else None
        row[f"{name}_low"] = mean.low if mean else None
        row[f"{name}_high"] = mean.high if mean else None
    gap = None
    if order is not own:
        gap = ranking.query_difference(order.ndcg, own.ndcg, seed=options.seed)
    for name in ("difference", "low", "high", "p"):
        key = name if name in ("difference", "p") else f"difference_{name}"
        row[key] = getattr(gap, name) if gap else None
    return row
