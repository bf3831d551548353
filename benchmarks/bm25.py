"""BM25 all-pairs top-5 on the STS Benchmark training sentences against a loop over BM25Okapi.get_scores.

    python benchmarks/bm25.py [--data FILE] [--top-k 5] [--quick] [--json]

Both sides start from the same tokens and time index and retrieval. The neighbours count as the same when
every rank has the same score to 1e-9 and differs in the sentence only among equal scores.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
from rank_bm25 import BM25Okapi

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from augsbert_core.pairs import sentence_key  # noqa: E402
from augsbert_core.sampling.bm25 import Neighbours, build_index, neighbours  # noqa: E402
from augsbert_core.sampling.tokenize import tokenize  # noqa: E402

QUICK_QUERIES = 150
REPEATS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/data/stsb/sts-train.tsv")
    parser.add_argument("--top-k", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="loop over a sample and extrapolate")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if not arguments.data.exists():
        sys.exit(f"{arguments.data} is not there. Name the STS-B train file with --data.")

    texts = read_sentences(arguments.data)
    tokens = tokenize(texts)
    ours = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        found = neighbours(build_index(tokens), arguments.top_k)
        ours.append(time.perf_counter() - start)

    queries = np.arange(len(tokens))
    if arguments.quick:
        queries = np.random.default_rng(0).choice(queries, QUICK_QUERIES, replace=False)
    loop_seconds, same = time_loop(tokens, queries, found, arguments.top_k)
    result = {
        "sentences": len(texts),
        "top_k": arguments.top_k,
        "loop_seconds": round(loop_seconds, 2),
        "loop_is_extrapolated": arguments.quick,
        "product_seconds_first": round(ours[0], 3),
        "product_seconds_median": round(float(np.median(ours)), 3),
        "ratio": round(loop_seconds / float(np.median(ours)), 1),
        "queries_compared": len(queries),
        "queries_with_same_neighbours_up_to_ties": same,
    }
    if arguments.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:40} {value}")
    if same < len(queries):
        sys.exit("The neighbours differ.")


def read_sentences(path: Path) -> list[str]:
    """The distinct sentences of an STS-B file: tab-separated, no quoting, sentences in columns 6 and 7."""
    unique: dict[str, None] = {}
    for line in path.read_text(encoding="utf-8").split("\n"):
        for text in line.rstrip("\r").split("\t")[5:7]:
            unique[sentence_key(text)] = None
    return list(unique)


def time_loop(
    tokens: list[list[str]], queries: np.ndarray, found: Neighbours, top_k: int
) -> tuple[float, int]:
    """Seconds that the loop takes for all sentences, and for how many queries it agrees with `found`."""
    start = time.perf_counter()
    peer = BM25Okapi(tokens)
    index_seconds = time.perf_counter() - start
    query_seconds = 0.0
    same = 0
    bounds = np.searchsorted(found.query, np.arange(len(tokens) + 1))
    for query in queries:
        start = time.perf_counter()
        scores = peer.get_scores(tokens[query])
        scores[query] = 0.0
        best = np.argsort(scores)[::-1][:top_k]
        query_seconds += time.perf_counter() - start
        mine = slice(bounds[query], bounds[query + 1])
        same += agrees(scores, best, found.neighbour[mine], found.score[mine])
    return index_seconds + query_seconds * len(tokens) / len(queries), same


def agrees(scores: np.ndarray, best: np.ndarray, neighbour: np.ndarray, score: np.ndarray) -> bool:
    """Whether our neighbours of one query are the peer's best positive ones, up to ties."""
    expected = scores[best][scores[best] > 1e-9]
    return (
        len(expected) == len(neighbour) == len(np.unique(neighbour))
        and np.allclose(score, expected, rtol=0, atol=1e-9)
        and np.allclose(scores[neighbour], expected, rtol=0, atol=1e-9)
    )


if __name__ == "__main__":
    main()
