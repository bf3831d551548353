"""How long training on a million silver pairs takes to begin, and how much memory the pairs need.

    python benchmarks/million_pairs.py [--pairs N] [--sentences N] [--kind KIND ...] [--loss NAME] [--home DIR]

A workspace with so many pairs over so many sentences is generated (kept in --home, else thrown away). A fresh
process then reads the silver set and trains a tiny model on it until the first optimiser step begins; imports and
loading the model are part of the time. CPU seconds are given beside it, which other programs lengthen less. The
memory is the peak of that process less the peak of one that trains on two pairs. Goals: 30 s and 2 GB.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

GOAL_SECONDS, GOAL_BYTES = 30.0, 2e9
FEW = 2
KINDS = ("bi_encoder", "cross_encoder")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--sentences", type=int, default=100_000)
    parser.add_argument("--kind", choices=KINDS, nargs="+", default=list(KINDS))
    parser.add_argument("--loss", help="of the bi-encoder; default cosine")
    parser.add_argument("--home", type=Path, help="where the workspace is kept for another time")
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure is not None:
        print(json.dumps(measure(arguments, arguments.measure)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        arguments.home = arguments.home or Path(temporary)
        if not (arguments.home / "silver.json").is_file():
            make_workspace(arguments)
        missed = [kind for kind in arguments.kind if not compare(arguments, kind)]
    if missed:
        sys.exit(f"Slower than {GOAL_SECONDS:g} s or larger than {GOAL_BYTES / 1e9:g} GB: {missed}")


def make_workspace(arguments: argparse.Namespace) -> None:
    """A workspace with a complete silver set, and a tiny model that knows its words."""
    from augsbert_core.storage.database import open_workspace
    from augsbert_core.storage.projects import create_project
    from tests.big import WORDS, big_silver_set
    from tests.tiny import tiny_bert

    began = time.perf_counter()
    workspace = open_workspace(arguments.home)
    project = create_project(workspace, "Million")
    set_id = big_silver_set(workspace, project, arguments.pairs, arguments.sentences)
    tiny_bert(arguments.home / "tiny", [*WORDS, "number 0 1 2 3 4 5 6 7 8 9 , ."])
    (arguments.home / "silver.json").write_text(json.dumps(set_id))
    print(f"workspace made in {time.perf_counter() - began:.0f} s", flush=True)


def compare(arguments: argparse.Namespace, kind: str) -> bool:
    """Measure one kind of encoder in processes of its own, print it, and say whether the goals are met."""
    few, many = (in_own_process(arguments, kind, n) for n in (FEW, arguments.pairs))
    grown = many["peak"] - few["peak"]
    for measured in (few, many):
        print(
            f"{kind:14} {measured['pairs']:11,} pairs  read in {measured['read']:5.1f} s"
            f"  first step after {measured['first_step']:5.1f} s ({measured['cpu']:.1f} s of CPU)",
            flush=True,
        )
    print(f"{kind:14} memory of the pairs {grown / 1e6:,.0f} MB", flush=True)
    return many["first_step"] <= GOAL_SECONDS and grown <= GOAL_BYTES


def in_own_process(arguments: argparse.Namespace, kind: str, n_pairs: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--measure", str(n_pairs), "--kind", kind]
    command += ["--home", str(arguments.home)]
    command += ["--loss", arguments.loss] if arguments.loss else []
    made = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(made.stdout.splitlines()[-1])


def measure(arguments: argparse.Namespace, n_pairs: int) -> dict[str, float]:
    """Train on all pairs of the silver set, or on two of our own, as far as the beginning of the first step."""
    began = time.perf_counter()
    from augsbert_core.pairs import ScoredPairs, TrainingRows
    from augsbert_core.storage import silver_sets
    from augsbert_core.storage.database import open_workspace

    workspace = open_workspace(arguments.home)
    set_id = json.loads((arguments.home / "silver.json").read_text())
    if n_pairs == FEW:
        rows = TrainingRows.from_pairs(
            ScoredPairs(["a dog", "a cat"], ["one dog", "no dog"], np.array([1.0, 0.0]))
        )
    else:
        rows = silver_sets.silver_training_rows(workspace, set_id)
    read = time.perf_counter() - began
    train_to_first_step(arguments, rows)
    return {
        "pairs": len(rows),
        "read": read,
        "first_step": time.perf_counter() - began,
        "cpu": time.process_time(),
        # Kilobytes on Linux.
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


class FirstStep(Exception):
    """The first optimiser step has begun."""


def train_to_first_step(arguments: argparse.Namespace, rows: Any) -> None:
    from augsbert_core.models.bi_encoder import train_bi_encoder
    from augsbert_core.models.cross_encoder import train_cross_encoder
    from augsbert_core.models.progress_callback import ProgressCallback
    from augsbert_core.options import BiEncoderOptions, CrossEncoderOptions
    from augsbert_core.pairs import ScoredPairs

    def stop(self: Any, *args: Any, **kwargs: Any) -> None:
        raise FirstStep

    ProgressCallback.on_step_begin = stop
    base = str(arguments.home / "tiny")
    no_dev = ScoredPairs([], [], np.zeros(0))
    with tempfile.TemporaryDirectory() as folder:
        told: dict[str, Any] = {"task": "regression", "device": "cpu"}
        try:
            if arguments.kind == ["bi_encoder"]:
                options = BiEncoderOptions(base=base, loss=arguments.loss or "cosine")
                train_bi_encoder(rows, no_dev, options, Path(folder), **told)
            else:
                labeler = CrossEncoderOptions(base=base)
                train_cross_encoder(rows, no_dev, labeler, Path(folder), **told)
        except FirstStep:
            return
    raise RuntimeError("training ended before its first step")


if __name__ == "__main__":
    main()
