"""Seed optimisation (paper §3.1): several seeds begin, the best on dev is trained to the end.

With little gold the seed alone moves the result by points, and early dev scores tell which seeds are good. Every
trial follows the schedule of the whole training and pauses; the chosen one goes on from its checkpoint, so it
ends with the weights of an uninterrupted training with its seed.
"""

import json
import math
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from augsbert_core.files import write_whole
from augsbert_core.models.training import TrainingResult
from augsbert_core.progress import Report, stop_if, stretch
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.training_data import TrainingOptions

TRIALS = "seed-trials"


class TrainOne(Protocol):
    """Train with one seed in a folder, to the end or to the share `stop_at` of the steps."""

    def __call__(
        self, seed: int, folder: Path, report: Report, stop_at: float | None
    ) -> TrainingResult: ...


@dataclass(frozen=True)
class Trial:
    """How a seed stood on dev when all were stopped. points: its curves so far, (step, values)."""

    seed: int
    dev_score: float | None
    seconds: float
    points: tuple[tuple[int, dict[str, float]], ...] = ()


def optimise_seeds(
    context: StepContext, options: TrainingOptions, key: str, train_one: TrainOne
) -> tuple[TrainingResult, dict[str, Any]]:
    """Try `options.seeds` seeds, train the best one to the end, and say which it was.

    key: a fingerprint of data and options; trials of another key are made anew. The model is saved to
    folder/"model"; what the other seeds left is removed. Returns the result of the whole training, whose seconds
    count every trial, and the facts "seed_trials" and "chosen_seed".
    """
    seeds = range(options.seed, options.seed + options.seeds)
    trials: list[Trial] = []
    for seed in seeds:
        trials.append(_trial(context, options, key, seed, train_one))
        chosen = best_trial(trials)
        for trial in trials:
            if (
                trial.seed != chosen.seed
            ):  # its checkpoint is not needed any more, so the disk holds two
                shutil.rmtree(_folder(context, trial.seed), ignore_errors=True)
    begun, title = _share(options, len(trials)), f"Seed {chosen.seed} goes on"
    for step, values in chosen.points:
        context.report(begun, title, values, step)
    # The trainer's own fraction begins at the checkpoint.
    report = stretch(context.report, begun - options.seed_stop / _whole(options), 1.0, title=title)
    result = train_one(chosen.seed, _folder(context, chosen.seed), report, None)
    model = context.folder / "model"
    shutil.rmtree(model, ignore_errors=True)
    os.replace(_folder(context, chosen.seed) / "model", model)
    shutil.rmtree(_folder(context, chosen.seed))
    shutil.rmtree(context.folder / TRIALS)
    others = sum(trial.seconds for trial in trials if trial.seed != chosen.seed)
    told = {
        "seed_trials": [{"seed": t.seed, "dev_score": t.dev_score} for t in trials],
        "chosen_seed": chosen.seed,
        "seconds": result.seconds + others,
    }
    return result, told


def best_trial(trials: Sequence[Trial]) -> Trial:
    """The trial with the best dev score; of equal ones the first. An undefined score is the worst."""
    return max(trials, key=lambda trial: -math.inf if trial.dev_score is None else trial.dev_score)


def _trial(
    context: StepContext, options: TrainingOptions, key: str, seed: int, train_one: TrainOne
) -> Trial:
    """One seed up to the stop; one that was finished before is read."""
    record = context.folder / TRIALS / f"{seed}.json"
    if record.is_file():
        stored = json.loads(record.read_text(encoding="utf-8"))
        if stored.pop("key") == key:
            curves = tuple((step, values) for step, values in stored.pop("points"))
            return Trial(**stored, points=curves)
    stop_if(context.should_stop)
    number = seed - options.seed
    points: list[tuple[int, dict[str, float]]] = []
    report = stretch(
        context.report,
        _share(options, number),
        _share(options, number + 1),
        title=f"Seed {seed}, {number + 1} of {options.seeds}",
        points=points,
    )
    result = train_one(seed, _folder(context, seed), report, options.seed_stop)
    score = result.dev_curve[-1][1] if result.dev_curve else None
    trial = Trial(seed, score, result.seconds, tuple(points))
    record.parent.mkdir(exist_ok=True)
    write_whole(record, json.dumps({"key": key, **asdict(trial)}))
    return trial


def _folder(context: StepContext, seed: int) -> Path:
    return context.folder / f"seed-{seed}"


def _whole(options: TrainingOptions) -> float:
    """All steps of all seeds, in units of one whole training."""
    return options.seeds * options.seed_stop + 1.0 - options.seed_stop


def _share(options: TrainingOptions, n_trials: int) -> float:
    """How far the whole is after so many trials."""
    return n_trials * options.seed_stop / _whole(options)
