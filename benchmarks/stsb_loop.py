"""The whole loop on STS Benchmark files, with few gold pairs: the compare table as Markdown.

Usage: python benchmarks/stsb_loop.py [--data ../shared/data/stsb] [--gold 600] [--seed 42] [--random]
Takes about 10 minutes on two CPU cores; --random adds as many random silver pairs, and 5 minutes. The training pairs are the first --gold rows of a seeded shuffle.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from augsbert_core.cli.markdown import as_markdown  # noqa: E402


def augsbert(home: str, *words: object) -> dict:
    """Run one command of the command line and return its JSON."""
    result = subprocess.run(
        [sys.executable, "-m", "augsbert_core.cli", "--home", home, *map(str, words), "--json"],
        cwd=ROOT,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if result.returncode:
        sys.exit(result.returncode)
    return json.loads(result.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data" / "stsb")
    parser.add_argument("--gold", type=int, default=600)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--random", action="store_true")
    asked = parser.parse_args()
    if not asked.data.is_dir():
        sys.exit(f"The STS Benchmark files are not at {asked.data}; name their folder with --data.")
    with tempfile.TemporaryDirectory() as home:
        print(run_loop(home, asked))


def run_loop(home: str, asked: argparse.Namespace) -> str:
    common = ("--project", "STS-B")
    lines = (asked.data / "sts-train.tsv").read_text(encoding="utf-8").splitlines()
    random.Random(asked.seed).shuffle(lines)
    few = Path(home) / "train.tsv"
    few.write_text("\n".join(lines[: asked.gold]) + "\n", encoding="utf-8")
    for split, path in (
        ("train", few),
        ("dev", asked.data / "sts-dev.tsv"),
        ("test", asked.data / "sts-test.tsv"),
    ):
        augsbert(home, "import", path, *common, "--score-range", "0:5", "--split", split)
    seed, layers = ("--seed", asked.seed), ("--layers", asked.layers)
    labeler = augsbert(home, "train", "cross-encoder", *common, *seed)
    augmented = []
    sizes = {}
    for words in (("bm25", "--top-k", 5), *([("random",)] if asked.random else [])):
        extra = ("--n-pairs", sizes["bm25"]) if words[0] == "random" else ()
        chosen = augsbert(home, "sample", *common, "--strategy", *words, *extra, *seed)
        sizes[words[0]] = chosen["n_candidates"]
        silver = augsbert(
            home, "label", *common, "--candidates", chosen["candidate_set_id"],
            "--labeler", labeler["run_id"],
        )  # fmt: skip
        augmented.append(
            augsbert(
                home, "train", "bi-encoder", *common, *layers, *seed,
                "--silver", silver["silver_set_id"],
            )
        )  # fmt: skip
    augsbert(home, "train", "bi-encoder", *common, *layers, *seed)
    augsbert(home, "train", "bi-encoder", *common, "--equal-steps", augmented[0]["run_id"])
    return as_markdown(augsbert(home, "compare", *common))


if __name__ == "__main__":
    main()
