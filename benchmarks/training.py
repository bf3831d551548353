"""Training speed: ours against the plain sentence-transformers trainers with their default arguments.

    python benchmarks/training.py [--quick] [--seeds N] [--cpu-time]

Same model, pairs, batch size and number of steps, in one process and in turns, so that both meet the
same machine. The plain trainers get no evaluator and write no checkpoint; ours runs without a dev set, so
only training is timed, from the end of the first step to the end of the last. The fastest round of each
counts, as other programs can only slow a round down; on a busy machine, --cpu-time counts CPU seconds of
one thread instead. Both are trained with the same seeds, one per round, and scored on the same dev pairs: mean ±
standard deviation over the seeds. Goal: 1.8 times the examples per second with dev Spearman within noise.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from augsbert_core.metrics import spearman
from augsbert_core.models import catalog
from augsbert_core.models.bi_encoder import train_bi_encoder
from augsbert_core.models.cross_encoder import train_cross_encoder
from augsbert_core.models.evaluation import score_pairs
from augsbert_core.options import BUNDLED_MODEL, BiEncoderOptions, CrossEncoderOptions
from augsbert_core.pairs import ScoredPairs

STSB = Path(__file__).resolve().parents[2] / "shared/data/stsb"
BATCH_SIZE = 16
FIRST_SEED = 42


@dataclass(frozen=True)
class Setting:
    """One model to train: kind of encoder, kept layers (None: all), learning rate."""

    name: str
    kind: str
    layers: int | None
    learning_rate: float


SETTINGS = (
    Setting("bi-encoder, 2 layers", "bi_encoder", 2, 2e-5),
    Setting("bi-encoder, 6 layers", "bi_encoder", None, 2e-5),
    Setting("cross-encoder, 6 layers", "cross_encoder", None, 1e-4),
)


def read_stsb(split: str, limit: int | None = None) -> ScoredPairs:
    """STS Benchmark pairs, scores divided by 5; `limit` draws that many with seed 0."""
    lines = (STSB / f"sts-{split}.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    if limit is not None:
        rows = [rows[i] for i in np.random.default_rng(0).permutation(len(rows))[:limit]]
    scores = np.array([float(row[4]) / 5 for row in rows])
    return ScoredPairs([row[5] for row in rows], [row[6] for row in rows], scores)


class Stopwatch:
    """Notes on the given clock when steps end."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.ends: dict[int, float] = {}

    def step_ended(self, step: int) -> None:
        self.ends.setdefault(step, self.clock())

    def examples_per_second(self) -> float:
        """From the end of the first noted step to the end of the last."""
        first, last = min(self.ends), max(self.ends)
        return (last - first) * BATCH_SIZE / (self.ends[last] - self.ends[first])


def train_plain(
    setting: Setting, train: ScoredPairs, steps: int, seed: int, folder: Path, watch: Stopwatch
) -> None:
    """Train with the plain trainer and default arguments; saves to folder/"model"."""
    from datasets import Dataset
    from sentence_transformers import CrossEncoderTrainer, SentenceTransformerTrainer
    from sentence_transformers.cross_encoder import CrossEncoderTrainingArguments
    from sentence_transformers.cross_encoder.losses import BinaryCrossEntropyLoss
    from sentence_transformers.sentence_transformer.losses import CosineSimilarityLoss
    from sentence_transformers.sentence_transformer.training_args import (
        SentenceTransformerTrainingArguments,
    )
    from transformers import PrinterCallback, TrainerCallback

    columns = {"sentence1": train.sentences1, "sentence2": train.sentences2}
    dataset = Dataset.from_dict(columns | {"label": train.scores})
    if setting.kind == "bi_encoder":
        model = catalog.load_bi_encoder(BUNDLED_MODEL, "cpu", layers=setting.layers)
        trainer_class, arguments_class = (
            SentenceTransformerTrainer,
            SentenceTransformerTrainingArguments,
        )
        loss = CosineSimilarityLoss(model)
    else:
        model = catalog.load_cross_encoder(BUNDLED_MODEL, "cpu", for_training=True, seed=seed)
        trainer_class, arguments_class = CrossEncoderTrainer, CrossEncoderTrainingArguments
        loss = BinaryCrossEntropyLoss(model)
    arguments = arguments_class(
        output_dir=str(folder / "plain"),
        per_device_train_batch_size=BATCH_SIZE,
        max_steps=steps,
        seed=seed,
        learning_rate=setting.learning_rate,
        # The one departure from the defaults besides the steps: no timing of disk writes or bars.
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        use_cpu=True,
    )
    trainer = trainer_class(model=model, args=arguments, train_dataset=dataset, loss=loss)
    trainer.remove_callback(PrinterCallback)

    class StepEnds(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            watch.step_ended(state.global_step)

    trainer.add_callback(StepEnds())
    trainer.train()
    model.save_pretrained(str(folder / "model"), create_model_card=False)


def train_ours(
    setting: Setting, train: ScoredPairs, steps: int, seed: int, folder: Path, watch: Stopwatch
) -> None:
    """Train with ours under the same learning-rate schedule; saves to folder/"model"."""
    no_dev = ScoredPairs([], [], np.zeros(0))
    common = {
        "max_steps": steps,
        "seed": seed,
        "batch_size": BATCH_SIZE,
        "learning_rate": setting.learning_rate,
        "warmup_ratio": 0.0,
        "weight_decay": 0.0,
    }

    def report(
        fraction: float,
        message: str,
        metrics: dict[str, float] | None = None,
        step: int | None = None,
    ) -> None:
        if step is not None:
            watch.step_ended(step)

    if setting.kind == "bi_encoder":
        bi_options = BiEncoderOptions(layers=setting.layers, schedule="warmup", **common)
        train_bi_encoder(
            train, no_dev, bi_options, folder, task="regression", device="cpu", report=report
        )
    else:
        options = CrossEncoderOptions(**common)
        train_cross_encoder(
            train, no_dev, options, folder, task="regression", device="cpu", report=report
        )


def dev_spearman(setting: Setting, folder: Path, dev: ScoredPairs) -> float:
    """Spearman x 100 of a trained model on the dev pairs."""
    pairs = (dev.sentences1, dev.sentences2)
    predicted = score_pairs(setting.kind, str(folder / "model"), pairs, device="cpu")
    return 100 * (spearman(dev.scores, predicted) or 0.0)


def compare(
    setting: Setting,
    train: ScoredPairs,
    dev: ScoredPairs,
    steps: int,
    rounds: int,
    seeds: int,
    clock: Callable[[], float],
) -> float:
    """Print both speeds and dev scores; return the ratio of the speeds."""
    speeds: dict[str, list[float]] = {"plain": [], "ours": []}
    scores: dict[str, list[float]] = {"plain": [], "ours": []}
    trainings = {"plain": train_plain, "ours": train_ours}
    for number in range(max(rounds, seeds)):
        seed = FIRST_SEED + number % seeds
        # The order turns round, so that neither always meets the warmer machine.
        for name in ("plain", "ours") if number % 2 == 0 else ("ours", "plain"):
            with tempfile.TemporaryDirectory() as temporary:
                folder = Path(temporary)
                watch = Stopwatch(clock)
                trainings[name](setting, train, steps, seed, folder, watch)
                speeds[name].append(watch.examples_per_second())
                if number < seeds:
                    scores[name].append(dev_spearman(setting, folder, dev))
    ratio = max(speeds["ours"]) / max(speeds["plain"])
    for name in ("plain", "ours"):
        print(
            f"{setting.name:24} {name:6} {max(speeds[name]):7.1f} examples/s"
            f"   dev Spearman {told(scores[name])} after {steps} steps"
        )
    print(
        f"{setting.name:24} ratio  {ratio:7.2f}   (best of {max(rounds, seeds)} rounds)", flush=True
    )
    return ratio


def told(scores: list[float]) -> str:
    """Mean ± standard deviation over the seeds, or the one score."""
    if len(scores) == 1:
        return f"{scores[0]:5.1f}"
    return f"{np.mean(scores):5.1f} ± {np.std(scores, ddof=1):.2f} ({len(scores)} seeds)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few steps, part of the dev pairs")
    parser.add_argument("--steps", type=int, help="optimiser steps per training")
    parser.add_argument("--rounds", type=int, help="how often both trainings take turns")
    parser.add_argument("--seeds", type=int, default=1, help="score models of so many seeds")
    parser.add_argument(
        "--only", choices=["bi_encoder", "cross_encoder"], help="one kind of encoder"
    )
    parser.add_argument("--cpu-time", action="store_true", help="CPU seconds of one thread")
    arguments = parser.parse_args()
    if not STSB.is_dir():
        raise SystemExit(f"The STS Benchmark files are not at {STSB}.")
    steps = arguments.steps or (20 if arguments.quick else 100)
    rounds = arguments.rounds or (2 if arguments.quick else 3)
    if arguments.cpu_time:
        import torch

        torch.set_num_threads(1)
    clock = time.process_time if arguments.cpu_time else time.perf_counter
    train = read_stsb("train")
    dev = read_stsb("dev", 300 if arguments.quick else None)
    for setting in SETTINGS:
        if arguments.only in (None, setting.kind):
            compare(setting, train, dev, steps, rounds, arguments.seeds, clock)


if __name__ == "__main__":
    main()
