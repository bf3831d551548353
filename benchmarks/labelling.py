"""Labelling speed: ours against CrossEncoder.predict at its defaults, on the same pairs and the same model.

    python benchmarks/labelling.py [--labeler FOLDER] [--pairs 1000] [--rounds 5] [--cpu-time] [--json]

Both take turns in one process, the order turning round, so that both meet the same machine. The ratio is that
of the fastest rounds, as other programs can only slow a round down; the median ratio of neighbouring rounds
is printed beside it. On a busy machine, --cpu-time counts CPU seconds of one thread instead. The machine's
peak is the fastest product of two float32 matrices in the same run, and the work of the model is counted for
real tokens, not for padding. Without a labeler, the bundled model gets a new head: its scores mean nothing,
but take as long. Goal: 1.4 times the pairs per second, scores within 0.01, Spearman at least 0.999.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from augsbert_core.metrics import spearman  # noqa: E402
from augsbert_core.models import catalog  # noqa: E402
from augsbert_core.models.labeling import Labeler, label_batches, load_labeler  # noqa: E402
from augsbert_core.models.tokens import tokenize_rows  # noqa: E402
from augsbert_core.options import BUNDLED_MODEL  # noqa: E402

STSB = ROOT / "../shared/data/stsb/sts-train.tsv"
PEAK_SIZE = 2048

Pairs = list[tuple[str, str]]
Clock = Callable[[], float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--labeler", help="a trained cross-encoder: name or folder")
    parser.add_argument("--data", type=Path, default=STSB)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--cpu-time", action="store_true", help="CPU seconds of one thread")
    arguments = parser.parse_args()
    if not arguments.data.exists():
        sys.exit(f"{arguments.data} is not there. Name the STS-B train file with --data.")
    clock = time.perf_counter
    if arguments.cpu_time:
        import torch

        torch.set_num_threads(1)
        clock = time.process_time
    pairs = read_pairs(arguments.data, arguments.pairs)
    with tempfile.TemporaryDirectory() as folder:
        labeler = arguments.labeler or untrained_labeler(folder)
        result = compare(labeler, pairs, arguments.rounds, clock)
    if arguments.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:40} {value}")


def untrained_labeler(folder: str) -> str:
    """Save the bundled model with a new head to a folder, and return it."""
    model = catalog.load_cross_encoder(BUNDLED_MODEL, "cpu", for_training=True)
    model.save_pretrained(folder, create_model_card=False)
    return folder


def read_pairs(path: Path, limit: int) -> Pairs:
    """STS Benchmark pairs, that many drawn with seed 0."""
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        (rows[i][5], rows[i][6]) for i in np.random.default_rng(0).permutation(len(rows))[:limit]
    ]


def compare(location: str, pairs: Pairs, rounds: int, clock: Clock) -> dict:
    """Speeds, agreement and the share of the machine's peak."""
    import torch

    labeler = load_labeler(location, "cpu")
    plain = catalog.load_cross_encoder(location, "cpu")
    ways = {"predict": lambda: plain.predict(pairs), "ours": lambda: label(labeler, pairs)}
    for score in ways.values():
        score()
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    scores: dict[str, np.ndarray] = {}
    peak = 0.0
    for number in range(rounds):
        peak = max(peak, product_flops(clock))
        for name in ways if number % 2 == 0 else reversed(ways):
            start = clock()
            scores[name] = ways[name]()
            seconds[name].append(clock() - start)
    best = {name: min(times) for name, times in seconds.items()}
    work = model_flops(labeler.model, pairs)
    ratios = np.array(seconds["predict"]) / np.array(seconds["ours"])
    return {
        "pairs": len(pairs),
        "threads": torch.get_num_threads(),
        "predict_pairs_per_second": round(len(pairs) / best["predict"], 1),
        "our_pairs_per_second": round(len(pairs) / best["ours"], 1),
        "ratio": round(best["predict"] / best["ours"], 2),
        "ratio_of_rounds_median": round(float(np.median(ratios)), 2),
        "largest_score_difference": float(np.abs(scores["predict"] - scores["ours"]).max()),
        "spearman": spearman(scores["predict"], scores["ours"]),
        "peak_gflops": round(peak / 1e9, 1),
        "our_share_of_peak": round(work / best["ours"] / peak, 3),
        "predict_share_of_peak": round(work / best["predict"] / peak, 3),
    }


def label(labeler: Labeler, pairs: Pairs) -> np.ndarray:
    """Our scores, in the order of the pairs."""
    scores = np.zeros(len(pairs), dtype=np.float32)
    first, second = (list(column) for column in zip(*pairs, strict=True))
    for positions, _, values in label_batches(labeler, first, second):
        scores[positions] = values
    return scores


def product_flops(clock: Clock) -> float:
    """Floating-point operations per second of a large matrix product, the best of three."""
    import torch

    matrix = torch.randn(PEAK_SIZE, PEAK_SIZE)
    times = []
    for _ in range(3):
        start = clock()
        torch.mm(matrix, matrix)
        times.append(clock() - start)
    return 2 * PEAK_SIZE**3 / min(times)


def model_flops(model: Any, pairs: Pairs) -> float:
    """Operations of the matrix products that a BERT-like encoder needs for these pairs."""
    config = model.transformers_model.config
    hidden, inner = config.hidden_size, config.intermediate_size
    lengths = tokenize_rows(model, pairs).lengths.astype(float)
    per_token = 2 * (4 * hidden * hidden + 2 * hidden * inner)
    attention = 4 * hidden * np.sum(lengths**2)
    return config.num_hidden_layers * (per_token * lengths.sum() + attention)


if __name__ == "__main__":
    main()
