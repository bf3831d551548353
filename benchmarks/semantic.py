"""Semantic search: exact top-5 of all STS Benchmark training sentences, and what FAISS finds of it.

    python benchmarks/semantic.py [--data FILE] [--top-k 5] [--rounds 5] [--json]

The peer is sentence_transformers.util.semantic_search at its defaults on the same embeddings; it is asked
for one neighbour more, as it counts the sentence itself. Both take turns, and the fastest round of each
counts. Embedding is not timed. The neighbours count as the same when every rank has the same cosine to 1e-5.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from augsbert_core.models.search import (  # noqa: E402
    ann_neighbours,
    embed_texts,
    exact_neighbours,
)
from augsbert_core.options import BUNDLED_MODEL  # noqa: E402
from augsbert_core.sampling.neighbours import Neighbours  # noqa: E402
from benchmarks.bm25 import read_sentences  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/data/stsb/sts-train.tsv")
    parser.add_argument("--top-k", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if not arguments.data.exists():
        sys.exit(f"{arguments.data} is not there. Name the STS-B train file with --data.")
    result = compare(read_sentences(arguments.data), arguments.top_k, arguments.rounds)
    if arguments.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:40} {value}")
    if result["queries_with_same_cosines"] < result["sentences"]:
        sys.exit("The neighbours differ.")


def compare(texts: list[str], top_k: int, rounds: int) -> dict:
    """Seconds of both searches in turns, and how far they agree."""
    import torch
    from sentence_transformers.util import semantic_search

    embeddings = embed_texts(BUNDLED_MODEL, texts, "cpu")
    tensor = torch.from_numpy(embeddings)
    seconds: dict[str, list[float]] = {"peer": [], "ours": []}
    for _ in range(rounds):
        start = time.perf_counter()
        theirs = semantic_search(tensor, tensor, top_k=top_k + 1)
        seconds["peer"].append(time.perf_counter() - start)
        start = time.perf_counter()
        found = exact_neighbours(embeddings, top_k)
        seconds["ours"].append(time.perf_counter() - start)
    start = time.perf_counter()
    approximate = ann_neighbours(embeddings, top_k)
    ann_seconds = time.perf_counter() - start
    return {
        "sentences": len(texts),
        "top_k": top_k,
        "peer_seconds": round(min(seconds["peer"]), 3),
        "exact_seconds": round(min(seconds["ours"]), 3),
        "ratio": round(min(seconds["peer"]) / min(seconds["ours"]), 2),
        "queries_with_same_cosines": same_cosines(found, theirs, top_k),
        "faiss_seconds_with_index_and_check": round(ann_seconds, 3),
        "faiss_recall": round(recall(approximate, found, len(texts)), 4),
        "faiss_notice": approximate.notices[0],
    }


def same_cosines(found: Neighbours, theirs: list[list[dict]], top_k: int) -> int:
    """For how many sentences the peer finds the same cosines, the sentence itself left out."""
    expected = np.array(
        [
            [hit["score"] for hit in hits if hit["corpus_id"] != query][:top_k]
            for query, hits in enumerate(theirs)
        ]
    )
    close = np.isclose(found.score.reshape(-1, top_k), expected, rtol=0, atol=1e-5)
    return int(close.all(axis=1).sum())


def recall(approximate: Neighbours, exact: Neighbours, n: int) -> float:
    """The share of all exact matches that the approximate search found."""
    wanted = exact.query * n + exact.neighbour
    return float(np.isin(wanted, approximate.query * n + approximate.neighbour).mean())


if __name__ == "__main__":
    main()
