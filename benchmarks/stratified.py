"""Stratified KDE against plain KDE on STS Benchmark sentences: labels spent, pairs kept, distance to gold.

    python benchmarks/stratified.py [--data DIR] [--labeler FOLDER] [--gold 1000] [--pool 60000] [--json]

The labeler is a cross-encoder trained on --gold pairs of the train split (a seeded shuffle; 4 minutes on two
CPU cores unless --labeler names one). Gold density: the scores of these pairs. Pairs are drawn among all
training sentences; no pair with a human score in the train file is drawn. Plain KDE labels --pool random pairs
and keeps by Q_c; for each --c the stratified pool is drawn to keep as many pairs with c = 1, using the
bundled bi-encoder as proxy. KL(gold‖kept) is taken alike for both: 257 points, floor 1e-6, kernel density with
the robust bandwidth of the kept scores.

Read the passes beside `least`, the share of its pool that plain KDE keeps: to keep as many pairs, at least as
many must be labelled, so no method can spend a smaller part of plain KDE's passes.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from augsbert_core.density import bandwidth, density, kl_divergence, unit_grid  # noqa: E402
from augsbert_core.models.labeling import label_batches, load_labeler  # noqa: E402
from augsbert_core.models.search import embed_texts  # noqa: E402
from augsbert_core.options import BUNDLED_MODEL, CrossEncoderOptions, SampleOptions  # noqa: E402
from augsbert_core.pairs import ScoredPairs, pair_codes, sentence_key  # noqa: E402
from augsbert_core.sampling import Corpus  # noqa: E402
from augsbert_core.sampling.kde import c_that_keeps, joining_c, sample_kde  # noqa: E402
from augsbert_core.sampling.strata import Strata, stratify  # noqa: E402
from augsbert_core.sampling.stratified import Goal, Target, next_draw  # noqa: E402

PILOT, ROUNDS = 500, 4


class Labels:
    """Scores of pairs of positions by a labeler, each pair scored once."""

    def __init__(self, texts: list[str], folder: str) -> None:
        self._texts, self._labeler = texts, load_labeler(folder, "cpu")
        self._known: dict[int, float] = {}
        self.seconds, self.passes = 0.0, 0

    def __call__(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        codes = pair_codes(first, second).tolist()
        new = [place for place, code in enumerate(codes) if code not in self._known]
        begun = time.perf_counter()
        for positions, _, scores in label_batches(
            self._labeler,
            [self._texts[first[place]] for place in new],
            [self._texts[second[place]] for place in new],
        ):
            self._known |= {
                codes[new[position]]: float(score)
                for position, score in zip(positions, scores, strict=True)
            }
        self.seconds += time.perf_counter() - begun
        self.passes += len(new)
        return np.array([self._known[code] for code in codes])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data" / "stsb")
    parser.add_argument(
        "--labeler", help="folder of a cross-encoder trained on the same --gold pairs"
    )
    parser.add_argument("--gold", type=int, default=1000)
    parser.add_argument("--pool", type=int, default=60_000)
    parser.add_argument("--c", type=float, nargs="+", default=[1.0, 0.2, 0.1])
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    if not asked.data.is_dir():
        sys.exit(f"The STS Benchmark files are not at {asked.data}; name their folder with --data.")
    with tempfile.TemporaryDirectory() as folder:
        rows = compare(asked, Path(folder))
    if asked.json:
        print(json.dumps(rows))
        return
    print(f"{'':12} {'c':>5} {'passes':>8} {'kept':>7} {'KL':>8}")
    for row in rows:
        for name in ("plain", "stratified"):
            side = row[name]
            print(
                f"{name:12} {side['c']:5.2f} {side['passes']:8,} {side['kept']:7,} {side['kl']:8.4f}"
            )
        print(
            f"{'':12} passes {row['passes_ratio']:.1%} of plain (least {row['least']:.1%}), "
            f"KL 1/{1 / max(row['kl_ratio'], 1e-9):.0f}"
        )


def compare(asked: argparse.Namespace, folder: Path) -> list[dict]:
    """For each c: what both methods spent and kept, and the ratios stratified / plain."""
    train = read_pairs(asked.data / "sts-train.tsv")
    lines = list(range(len(train)))
    random.Random(asked.seed).shuffle(lines)
    gold = [train[line] for line in lines[: asked.gold]]
    labeler = asked.labeler or train_labeler(
        gold, read_pairs(asked.data / "sts-dev.tsv"), folder, asked.seed
    )
    texts = list(dict.fromkeys(text for pair in train for text in pair[:2]))
    place = {text: position for position, text in enumerate(texts)}
    first, second = np.array([(place[a], place[b]) for a, b, _ in train]).T
    corpus = Corpus(texts, np.arange(len(texts)), pair_codes(first, second))
    grid, scores = unit_grid(257), np.array([score for *_, score in gold])
    width = bandwidth("robust", scores)
    target = Target(grid, density(scores, grid, width), width)
    labels = Labels(texts, labeler)
    pool = sample_kde(corpus, SampleOptions(strategy="kde", n_pairs=asked.pool, seed=asked.seed))
    say(f"Labelling {len(pool):,} random pairs")
    pool_scores = labels(pool.first, pool.second)
    say(f"{labels.passes / labels.seconds:.0f} pairs/s; embedding {len(texts):,} sentences")
    embeddings = embed_texts(BUNDLED_MODEL, texts, "cpu")
    strata = stratify(corpus, embeddings, per_bin=asked.pool, seed=asked.seed)
    rows = []
    for c in asked.c:
        codes = pair_codes(pool.first, pool.second)
        plain = keep(pool_scores, codes, target, c, len(pool), asked.seed)
        ours = run_stratified(strata, labels, target, plain["kept"], asked.seed)
        rows.append(
            {
                "plain": plain,
                "stratified": ours,
                "passes_ratio": ours["passes"] / plain["passes"],
                "least": plain["kept"] / plain["passes"],
                "kl_ratio": ours["kl"] / plain["kl"],
            }
        )
        say(json.dumps(rows[-1]))
    return rows


def run_stratified(strata: Strata, labels: Labels, target: Target, n_keep: int, seed: int) -> dict:
    """Draw and label in rounds until Q_1 keeps n_keep pairs."""
    goal = Goal(n_keep, 1.0, max_passes=len(strata.codes), pilot=PILOT, rounds=ROUNDS)
    is_drawn = np.zeros(len(strata.codes), dtype=bool)
    scores = np.zeros(len(is_drawn))
    bins = strata.bins_of(strata.cosine)
    kept: dict = {"kept": 0}
    for round_number in range(goal.rounds + 10):
        counts = next_draw(
            bins[is_drawn], scores[is_drawn], strata.free_counts(is_drawn), target, goal,
            round_number, kept["kept"],
        )  # fmt: skip
        if not counts.any():
            break
        chosen = strata.draw(is_drawn, counts)
        scores[chosen] = labels(strata.first[chosen], strata.second[chosen])
        is_drawn[chosen] = True
        codes = strata.codes[is_drawn]
        kept = keep(scores[is_drawn], codes, target, 1.0, n_keep, seed)
        say(f"  round {round_number}: {is_drawn.sum():,} passes, {kept['kept']:,} kept")
    return kept


def keep(
    scores: np.ndarray, codes: np.ndarray, target: Target, c: float, at_most: int, seed: int
) -> dict:
    """What Q_c keeps of scored pairs, with a smaller c where that keeps more than at_most."""
    pool = density(scores, target.grid, bandwidth("robust", scores))
    joining = joining_c(scores, codes, target.grid, target.gold, pool, seed)
    c = min(c, c_that_keeps(joining, at_most))
    kept = scores[joining < c]
    found = density(kept, target.grid, bandwidth("robust", kept))
    kl = kl_divergence(target.gold, found, target.grid)
    return {"passes": len(scores), "kept": len(kept), "c": c, "kl": kl}


def read_pairs(path: Path) -> list[tuple[str, str, float]]:
    """An STS-B file (tab-separated, no quoting): both sentences and the score in [0, 1]."""
    lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line]
    return [(sentence_key(line[5]), sentence_key(line[6]), float(line[4]) / 5) for line in lines]


def train_labeler(gold: list, dev: list, folder: Path, seed: int) -> str:
    """Train the cross-encoder with its default options; returns its folder."""
    from augsbert_core.models.cross_encoder import train_cross_encoder

    say(f"Training the labeler on {len(gold):,} pairs")
    pairs = [
        ScoredPairs([a for a, *_ in side], [b for _, b, _ in side], np.array([s for *_, s in side]))
        for side in (gold, dev)
    ]
    train_cross_encoder(
        *pairs, CrossEncoderOptions(seed=seed), folder, task="regression", device="cpu"
    )
    return str(folder / "model")


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
