"""BM25 all-pairs top-5 on the STS Benchmark training sentences, against rank_bm25 and bm25s.

    python benchmarks/bm25.py [--data FILE] [--top-k 5] [--quick] [--json]

Every side starts from the same tokens and times index and retrieval, warm, taking turns; the best of its
rounds counts. rank_bm25 is a loop over BM25Okapi.get_scores. bm25s is its lucene method with the numba
backend, at its quicker number of threads. The neighbours count as the same when every rank has the same
score (to 1e-9; to bm25s's float32) and differs in the sentence only among equal scores. Last, the peak
memory of a process that samples 100,000 made-up sentences with a Zipf vocabulary.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from rank_bm25 import BM25Okapi

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from augsbert_core.options import SampleOptions  # noqa: E402
from augsbert_core.pairs import sentence_key  # noqa: E402
from augsbert_core.sampling.bm25 import build_index, neighbours, sample_bm25  # noqa: E402
from augsbert_core.sampling.corpus import Corpus  # noqa: E402
from augsbert_core.sampling.neighbours import Neighbours  # noqa: E402
from augsbert_core.sampling.tokenize import tokenize  # noqa: E402

QUICK_QUERIES = 150
ROUNDS, QUICK_ROUNDS = 7, 3
MEMORY_SENTENCES = 100_000
FLOAT32_TOLERANCE = 1e-4

Tokens = list[list[str]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/data/stsb/sts-train.tsv")
    parser.add_argument("--top-k", type=int, default=5)
    parser.add_argument(
        "--quick",
        action="store_true",
        help="extrapolate the loop from 150 queries, leave out memory",
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--memory-child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.memory_child:
        print(json.dumps(sample_synthetic(MEMORY_SENTENCES)))
        return
    if not arguments.data.exists():
        sys.exit(f"{arguments.data} is not there. Name the STS-B train file with --data.")

    tokens = tokenize(read_sentences(arguments.data))
    result = {"sentences": len(tokens), "top_k": arguments.top_k}
    result |= against_bm25s(tokens, arguments.top_k, arguments.quick)
    result |= against_loop(tokens, arguments.top_k, arguments.quick, result["okapi_seconds"])
    if not arguments.quick:
        child = [sys.executable, __file__, "--memory-child"]
        done = subprocess.run(child, capture_output=True, text=True, check=True)
        result |= json.loads(done.stdout)
    if arguments.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:44} {value}")
    same = (
        ("loop_queries_same_up_to_ties", "loop_queries_compared"),
        (
            "bm25s_queries_same_up_to_ties",
            "sentences",
        ),
    )
    if any(result[one] < result[other] for one, other in same):
        sys.exit("The neighbours differ.")


def read_sentences(path: Path) -> list[str]:
    """The distinct sentences of an STS-B file: tab-separated, no quoting, sentences in columns 6 and 7."""
    unique: dict[str, None] = {}
    for line in path.read_text(encoding="utf-8").split("\n"):
        for text in line.rstrip("\r").split("\t")[5:7]:
            unique[sentence_key(text)] = None
    return list(unique)


def against_bm25s(tokens: Tokens, top_k: int, quick: bool) -> dict[str, float]:
    """Seconds of both sides in turns, the ratio, and for how many queries the neighbours agree."""
    n_cores = os.cpu_count() or 1
    ours: dict[str, list[float]] = {"okapi": [], "lucene": []}
    peer: dict[int, list[float]] = {threads: [] for threads in {1, 1 if quick else n_cores}}
    rounds = QUICK_ROUNDS if quick else ROUNDS
    for _ in range(rounds + 1):
        for variant, seconds in ours.items():
            start = time.perf_counter()
            found = neighbours(build_index(tokens, variant), top_k)
            seconds.append(time.perf_counter() - start)
        for threads, seconds in peer.items():
            start = time.perf_counter()
            bm25s_matches(tokens, top_k, threads)
            seconds.append(time.perf_counter() - start)
    # The first round compiles.
    best = {threads: min(seconds[1:]) for threads, seconds in peer.items()}
    threads = min(best, key=lambda number: best[number])
    okapi, lucene = (min(seconds[1:]) for seconds in ours.values())
    return {
        "rounds": rounds,
        "okapi_seconds": round(okapi, 3),
        "lucene_seconds": round(lucene, 3),
        "first_seconds": round(ours["okapi"][0], 3),
        "bm25s_seconds": round(best[threads], 3),
        "bm25s_threads": threads,
        "ratio_to_bm25s": round(best[threads] / lucene, 2),
        "bm25s_queries_same_up_to_ties": agreement_with_bm25s(tokens, found, top_k),
    }


def bm25s_matches(tokens: Tokens, top_k: int, threads: int) -> tuple[np.ndarray, np.ndarray]:
    """bm25s's best sentences of every sentence, itself among them, and their scores."""
    import bm25s

    vocabulary: dict[str, int] = {}
    ids = [[vocabulary.setdefault(word, len(vocabulary)) for word in words] for words in tokens]
    retriever = bm25s.BM25(method="lucene", k1=1.2, b=0.75, backend="numba", csc_backend="scipy")
    retriever.index((ids, vocabulary), show_progress=False)
    found, scores = retriever.retrieve(ids, k=top_k, show_progress=False, n_threads=threads)
    return found, scores


def agreement_with_bm25s(tokens: Tokens, found: Neighbours, top_k: int) -> int:
    """For how many queries bm25s finds the same scores; it returns the sentence itself, so one more."""
    peers, scores = bm25s_matches(tokens, top_k + 1, 1)
    bounds = np.searchsorted(found.query, np.arange(len(tokens) + 1))
    same = 0
    for query in range(len(tokens)):
        # Where only equal scores push the sentence itself out, the last one stands in for it.
        others = np.flatnonzero(peers[query] != query)[:top_k]
        expected = scores[query][others]
        mine = found.score[bounds[query] : bounds[query + 1]]
        expected = expected[expected > 0]
        same += len(expected) == len(mine) and np.allclose(
            mine, expected, rtol=FLOAT32_TOLERANCE, atol=FLOAT32_TOLERANCE
        )
    return same


def against_loop(tokens: Tokens, top_k: int, quick: bool, seconds: float) -> dict[str, float]:
    """Seconds of the loop over BM25Okapi, the ratio to ours, and for how many queries both agree."""
    found = neighbours(build_index(tokens), top_k)
    queries = np.arange(len(tokens))
    if quick:
        queries = np.random.default_rng(0).choice(queries, QUICK_QUERIES, replace=False)
    loop_seconds, same = time_loop(tokens, queries, found, top_k)
    return {
        "loop_seconds": round(loop_seconds, 2),
        "loop_is_extrapolated": quick,
        "ratio_to_loop": round(loop_seconds / seconds, 1),
        "loop_queries_compared": len(queries),
        "loop_queries_same_up_to_ties": same,
    }


def time_loop(
    tokens: Tokens, queries: np.ndarray, found: Neighbours, top_k: int
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


def sample_synthetic(n: int) -> dict[str, float]:
    """Sample n sentences of 4 to 18 words drawn from a Zipf vocabulary; this process's peak memory."""
    rng = np.random.default_rng(0)
    shares = 1 / np.arange(1, 60_001)
    lengths = rng.integers(4, 19, size=n)
    words = rng.choice(len(shares), size=int(lengths.sum()), p=shares / shares.sum())
    texts = [
        " ".join(f"w{word}" for word in part) for part in np.split(words, np.cumsum(lengths)[:-1])
    ]
    nothing = np.empty(0, dtype=np.int64)
    start = time.perf_counter()
    candidates = sample_bm25(Corpus(texts, np.arange(n), nothing), SampleOptions(top_k=5))
    return {
        "memory_sentences": n,
        "memory_pairs": len(candidates),
        "memory_seconds": round(time.perf_counter() - start, 1),
        "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


if __name__ == "__main__":
    main()
