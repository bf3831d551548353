"""A workspace as large as the workbench is made for, written through the store's own functions."""

import numpy as np

from augsbert_core.options import ImportOptions, LabelOptions, SampleOptions, to_json
from augsbert_core.storage import candidates, runs, sentences, silver_sets
from augsbert_core.storage.database import Workspace, writing
from augsbert_core.storage.records import Project

BATCH = 250_000
Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Ids of first and second sentences, and ranks."""

WORDS = [
    "a",
    "the",
    "one",
    "some",
    "no",
    "old",
    "young",
    "small",
    "red",
    "tall",
    "man",
    "woman",
    "dog",
    "cat",
    "child",
    "train",
    "market",
    "river",
    "office",
    "guitar",
    "plays",
    "sees",
    "buys",
    "sells",
    "follows",
    "paints",
    "cooks",
    "near",
    "under",
    "behind",
    "inside",
    "at",
    "home",
    "today",
    "again",
    "slowly",
]


def add_sentences(
    workspace: Workspace, project: Project, n_sentences: int, seed: int = 7
) -> np.ndarray:
    """Unlabelled sentences of six to twelve words, no two alike; returns their ids."""
    rng = np.random.default_rng(seed)
    chosen = rng.integers(0, len(WORDS), (n_sentences, 12))
    lengths = rng.integers(6, 13, n_sentences)
    texts = [
        " ".join(WORDS[word] for word in row[:length]) + f", number {number}."
        for number, (row, length) in enumerate(zip(chosen.tolist(), lengths.tolist(), strict=True))
    ]
    record = runs.ImportRecord("big.txt", to_json(ImportOptions(kind="sentences")), seed, "big")
    sentences.add_unlabelled_sentences(workspace, project.id, texts, record=record, metrics={})
    ids, _ = sentences.sampling_corpus(workspace, project.id, use_unlabelled=True)
    return ids


def draw_pairs(ids: np.ndarray, n_pairs: int, top_k: int, seed: int = 7) -> Pairs:
    """Distinct pairs as a top-k sampler finds them: every sentence with top_k others, ranks 1 to top_k.

    Returns ids with first < second, and ranks; in the order of the ids.
    """
    rng = np.random.default_rng(seed)
    size = len(ids)
    query = np.repeat(np.arange(size), top_k)
    other = (query + rng.integers(1, size, len(query))) % size
    rank = np.tile(np.arange(1, top_k + 1), size)
    low, high = np.minimum(query, other), np.maximum(query, other)
    _, places = np.unique(low * size + high, return_index=True)
    places = np.sort(rng.permutation(places)[:n_pairs])
    order = places[np.lexsort((high[places], low[places]))]
    return ids[low[order]], ids[high[order]], rank[order]


def add_candidates(workspace: Workspace, project: Project, pairs: Pairs, seed: int = 7) -> int:
    """Store drawn pairs as a candidate set; returns its id."""
    first, second, rank = pairs
    options = SampleOptions(top_k=int(rank.max()), use_unlabelled=True, seed=seed)
    run_id = runs.add_run(workspace, project.id, "sample", "sample", to_json(options), seed)
    set_id = candidates.add_candidate_set(
        workspace,
        project.id,
        run_id,
        strategy="bm25",
        corpus_size=len(np.union1d(first, second)),
        first=first,
        second=second,
        rank=rank,
        sampler_score=20.0 / rank,
    )
    _finish(workspace, run_id)
    return set_id


def open_set(workspace: Workspace, project: Project, candidate_set_id: int, seed: int = 7) -> int:
    """A silver set with no score yet; returns its id."""
    options = LabelOptions(candidate_set_id, "labeler", seed=seed)
    run_id = runs.add_run(workspace, project.id, "label", "label", to_json(options), seed)
    _finish(workspace, run_id)
    return silver_sets.open_silver_set(
        workspace,
        project.id,
        run_id,
        candidate_set_id=candidate_set_id,
        labeler="labeler",
        labeler_run_id=None,
    )


def label_all(
    workspace: Workspace, set_id: int, pairs: Pairs, seed: int = 7, *, doubts: bool = False
) -> None:
    """Give pairs scores as a cross-encoder does: most near 0, some near 1, in batches of BATCH.

    doubts: an order gap and a spread for every pair, too.
    """
    first, second, rank = pairs
    rng = np.random.default_rng(seed)
    logits = np.where(
        rng.random(len(first)) < 0.7, rng.normal(-4, 1.5, len(first)), rng.normal(0, 2, len(first))
    )
    scores = (1 / (1 + np.exp(-logits))).astype(np.float32).astype(np.float64)
    columns = [
        first.tolist(),
        second.tolist(),
        rank.tolist(),
        (20.0 / rank).tolist(),
        scores.tolist(),
        logits.tolist(),
    ]
    if doubts:
        columns += [rng.beta(1, 12, len(first)).tolist() for _ in range(2)]
    rows = list(zip(*columns, strict=True))
    for start in range(0, len(rows), BATCH):
        silver_sets.add_silver_scores(workspace, set_id, rows[start : start + BATCH])


def big_silver_set(
    workspace: Workspace,
    project: Project,
    n_pairs: int = 1_000_000,
    n_sentences: int = 100_000,
    *,
    doubts: bool = False,
) -> int:
    """A complete silver set of n_pairs; returns its id. doubts: with an order gap and a spread for every pair."""
    ids = add_sentences(workspace, project, n_sentences)
    top_k = 1 + n_pairs * 11 // (10 * n_sentences)
    pairs = draw_pairs(ids, n_pairs, top_k)
    set_id = open_set(workspace, project, add_candidates(workspace, project, pairs))
    indexes = _drop_indexes(workspace)
    label_all(workspace, set_id, pairs, doubts=doubts)
    with writing(workspace) as db:
        for statement in indexes:
            db.execute(statement)
    return set_id


def _drop_indexes(workspace: Workspace) -> list[str]:
    """Half the time of a million inserts goes into indexes, which are quickly built anew; returns how."""
    with writing(workspace) as db:
        found = db.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'silver_pair'"
            " AND name IN ('silver_pair_by_score', 'silver_pair_by_second')"
        ).fetchall()
        for name, _ in found:
            db.execute(f"DROP INDEX {name}")
    return [statement for _, statement in found]


def _finish(workspace: Workspace, run_id: int) -> None:
    with writing(workspace) as db:
        db.execute("UPDATE run SET state = 'done' WHERE id = ?", [run_id])
