"""What training a cross-encoder and a bi-encoder have in common: steps, dev scores, checkpoints, resuming."""

import hashlib
import math
import os
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from augsbert_core import metrics
from augsbert_core.errors import Stopped, WorkbenchError
from augsbert_core.models.checkpoints import Checkpoints, step_of
from augsbert_core.models.devices import autocast_dtype
from augsbert_core.models.vocabulary import TrainedVocabulary
from augsbert_core.options import BiEncoderOptions, CrossEncoderOptions, to_json
from augsbert_core.pairs import ScoredPairs, TrainingRows
from augsbert_core.progress import Report, ShouldStop

DEV_SCORES = (3, 10)
METRICS = {"regression": "spearman", "classification": "f1"}


@dataclass(frozen=True)
class TrainingResult:
    """What a training run came to.

    dev_score: of the model that was kept, or reached at the step of stop_at; None without a dev set or when
    the metric is undefined.
    metric: "spearman" or "f1". threshold: the score from which a pair counts as positive (f1 only).
    n_steps: optimiser steps taken. best_step: the step of the kept model. seconds: all in all, including what
    went before an interruption. examples_per_second: while training, dev scores left out.
    dev_curve: (step, dev score), in order. n_rows: rows that were trained on.
    """

    dev_score: float | None
    metric: str
    threshold: float | None
    n_steps: int
    seconds: float
    examples_per_second: float
    best_step: int
    device: str
    dev_curve: tuple[tuple[int, float], ...] = ()
    n_rows: int = 0


@dataclass(frozen=True)
class TrainingTask:
    """One model to train, put together by cross_encoder.py or bi_encoder.py.

    lengths: one number per training row to group batches by. predict: what the model says about the dev
    pairs, float array. fingerprint: tells whether a checkpoint belongs to this very training.
    batch_sampler: makes the batches of (dataset, batch_size, seed=…), always so many as rows ÷ batch size,
    rounded up; None takes `LengthGroupedBatchSampler`.
    """

    trainer_class: type
    arguments_class: type
    model: Any
    loss: Any
    collator: Callable[[list[dict]], dict[str, Any]]
    lengths: np.ndarray
    vocabulary: TrainedVocabulary
    predict: Callable[[ShouldStop], np.ndarray]
    dev_scores: np.ndarray
    metric: str
    fingerprint: str
    batch_sampler: Callable[..., Any] | None = None


@dataclass(frozen=True)
class TrainingPlan:
    """How long a training goes on, and when the dev pairs are scored.

    n_steps: of the whole schedule, which the learning rate follows. end: the step it ends at, earlier when it
    only pauses (stop_at). patience: it ends after so many dev scores without a better one; 0 for never.
    """

    n_steps: int
    end: int
    pauses: bool
    pairs_per_step: float
    dev_steps: frozenset[int]
    patience: int = 0

    def is_over(self, step: int, dev_curve: Sequence[tuple[int, float]]) -> bool:
        """Whether nothing is left to train after a step, given the dev scores so far."""
        # A pause may score in between: that must not change when an uninterrupted training ends.
        scores = [score for at, score in dev_curve if at in self.dev_steps]
        waited = len(scores) - 1 - int(np.argmax(scores)) if scores else 0
        return step >= self.end or 0 < self.patience <= waited


def check_training(train: ScoredPairs | TrainingRows, task: str) -> str:
    """The metric of a task; WorkbenchError when there is nothing to train on."""
    if task not in METRICS:
        raise ValueError(f"task must be one of {', '.join(METRICS)}, not {task!r}")
    if not len(train):
        raise WorkbenchError(
            "There are no training pairs. Import gold pairs with a train split first."
        )
    return METRICS[task]


def dev_score(
    metric: str, gold: np.ndarray, predicted: np.ndarray
) -> tuple[float | None, float | None]:
    """(score, threshold) of predictions on the dev pairs; None where undefined, never NaN."""
    if not len(gold):
        return None, None
    if metric == "f1":
        return metrics.f1_best_threshold((gold >= 0.5).astype(np.int64), predicted)
    return metrics.spearman(gold, predicted), None


# What may differ between two calls that go on with one training.
NOT_OF_THE_TRAINING = ("checkpoint_seconds", "stages", "first_stage", "seeds", "seed_stop")


def fingerprint(
    options: CrossEncoderOptions | BiEncoderOptions, *data: ScoredPairs | TrainingRows
) -> str:
    """A digest of options and rows: equal exactly when a training would be the same."""
    defaults = type(options)()
    told = {name: getattr(defaults, name) for name in NOT_OF_THE_TRAINING if hasattr(options, name)}
    digest = hashlib.sha256(to_json(replace(options, **told)).encode())
    for part in data:
        rows = part if isinstance(part, TrainingRows) else TrainingRows.from_pairs(part)
        for text in rows.texts:
            digest.update(text.encode() + b"\0")
        digest.update(rows.places.astype(np.int64).tobytes())
        digest.update(rows.labels.astype(np.float64).tobytes())
        digest.update(b"" if rows.weights is None else rows.weights.astype(np.float64).tobytes())
    return digest.hexdigest()


def count_steps(n_pairs: int, options: CrossEncoderOptions | BiEncoderOptions) -> int:
    """Optimiser steps of a run: max_steps when given, else the epochs' worth."""
    if options.max_steps is not None:
        return max(options.max_steps, 1)
    return max(options.epochs, 1) * math.ceil(n_pairs / options.batch_size)


def dev_steps(n_steps: int, pairs_per_step: float, n_dev: int) -> set[int]:
    """The steps after which the dev set is scored: evenly spread, the last one included.

    10 times; fewer, but at least 3 times, when that would score more pairs than are trained on, since
    a large dev set would then take longer than the training itself. Empty without dev pairs.
    """
    if not n_dev:
        return set()
    affordable = int(n_steps * pairs_per_step / n_dev)
    times = min(max(affordable, DEV_SCORES[0]), DEV_SCORES[1], n_steps)
    return {round(n_steps * (index + 1) / times) for index in range(times)}


def plan_training(
    n_rows: int,
    n_dev: int,
    options: CrossEncoderOptions | BiEncoderOptions,
    stop_at: float | None = None,
) -> TrainingPlan:
    """The plan of a training; stop_at: the share of the steps at which it pauses, in (0, 1)."""
    if stop_at is not None and not 0 < stop_at < 1:
        raise ValueError(f"stop_at must lie between 0 and 1, not {stop_at}")
    n_steps = count_steps(n_rows, options)
    pairs_per_step = n_rows / math.ceil(n_rows / options.batch_size)
    # Rounded first: 0.07 × 100 is a little more than 7 in binary.
    end = n_steps if stop_at is None else math.ceil(round(stop_at * n_steps, 6))
    return TrainingPlan(
        n_steps=n_steps,
        end=end,
        pauses=stop_at is not None,
        pairs_per_step=pairs_per_step,
        dev_steps=frozenset(dev_steps(n_steps, pairs_per_step, n_dev)),
        patience=options.patience,
    )


def run_training(
    task: TrainingTask,
    options: CrossEncoderOptions | BiEncoderOptions,
    folder: Path,
    *,
    device: str,
    report: Report,
    should_stop: ShouldStop,
    checkpoint_seconds: float | None = None,
    stop_at: float | None = None,
) -> TrainingResult:
    """Train, keep the model that does best on dev, and save it to folder/"model".

    Resumes from the last complete checkpoint in folder/"checkpoints" that belongs to the same training.
    checkpoint_seconds: None takes that of the options. options.patience ends it early.
    stop_at: pause after this share of the steps, leaving a checkpoint and no model; called again without it,
    the training goes on and ends with the weights of an uninterrupted one.
    Raises Stopped, after a checkpoint, when should_stop() says so; WorkbenchError when the disk is too small.
    """
    plan = plan_training(len(task.lengths), len(task.dev_scores), options, stop_at)
    checkpoints = Checkpoints(folder / "checkpoints", task.fingerprint)
    checkpoints.make_room(*_sizes(task))
    if checkpoints.started_over:
        report(0.0, "Pairs or options have changed since this training stopped: it starts over")
    callback = _train(
        task,
        options,
        checkpoints,
        plan,
        device,
        report,
        should_stop,
        options.checkpoint_seconds if checkpoint_seconds is None else checkpoint_seconds,
    )
    if callback.stopped:
        raise Stopped
    best = checkpoints.best()
    result = TrainingResult(
        dev_score=best.score if best else None,
        metric=task.metric,
        threshold=best.threshold if best else None,
        n_steps=callback.step,
        seconds=callback.seconds(),
        examples_per_second=callback.examples_per_second(),
        best_step=best.step if best else callback.step,
        device=device,
        dev_curve=tuple(callback.dev_curve),
        n_rows=len(task.lengths),
    )
    if plan.pauses:
        return _paused(result, plan, callback.threshold)
    if best is not None:
        checkpoints.load_best(task.model)
    task.vocabulary.restore()
    _save_model(task.model, folder / "model")
    checkpoints.remove()
    return result


def _train(
    task: TrainingTask,
    options: CrossEncoderOptions | BiEncoderOptions,
    checkpoints: Checkpoints,
    plan: TrainingPlan,
    device: str,
    report: Report,
    should_stop: ShouldStop,
    checkpoint_seconds: float,
) -> Any:
    """Train to the end of the plan, or as far as a checkpoint says; returns the callback."""
    from transformers import TrainerControl

    from augsbert_core.models.progress_callback import ProgressCallback

    resumed = checkpoints.latest()
    callback = ProgressCallback(task, checkpoints, plan, report, should_stop, checkpoint_seconds)
    with _own_randomness():
        trainer = _make_trainer(task, options, checkpoints.folder, plan.n_steps, device, callback)
        if resumed and plan.is_over(step_of(resumed), checkpoints.dev_curve(step_of(resumed))):
            # The Trainer would take one more step before it looks whether it is done.
            trainer.load_weights(resumed)
            callback.begin(step_of(resumed), TrainerControl())
            callback.on_train_end(None, None, None)
        else:
            trainer.train(resume_from_checkpoint=str(resumed) if resumed else None)
    return callback


def _paused(result: TrainingResult, plan: TrainingPlan, threshold: float | None) -> TrainingResult:
    """The result of a training that pauses: what counts is the last dev score, not the best."""
    scored = [(step, score) for step, score in result.dev_curve if step <= plan.end]
    step, score = scored[-1] if scored else (result.n_steps, None)
    return replace(result, dev_score=score, best_step=step, threshold=threshold)


def _sizes(task: TrainingTask) -> tuple[int, int]:
    """(bytes of the whole model, bytes of the weights that are trained)."""
    trained = sum(weight.numel() * weight.element_size() for weight in task.model.parameters())
    return trained + task.vocabulary.n_bytes_left_out, trained


def _make_trainer(
    task: TrainingTask,
    options: CrossEncoderOptions | BiEncoderOptions,
    folder: Path,
    n_steps: int,
    device: str,
    callback: Any,
) -> Any:
    from datasets import Dataset
    from transformers import PrinterCallback

    from augsbert_core.models.trainer import LengthGroupedBatchSampler

    schedule = getattr(options, "schedule", "warmup")
    arguments = task.arguments_class(
        output_dir=str(folder),
        per_device_train_batch_size=options.batch_size,
        max_steps=n_steps,
        learning_rate=options.learning_rate,
        lr_scheduler_type="constant" if schedule == "constant" else "linear",
        warmup_steps=0 if schedule == "constant" else math.ceil(options.warmup_ratio * n_steps),
        weight_decay=options.weight_decay,
        optim="adamw_torch_fused" if device != "mps" else "adamw_torch",
        seed=options.seed,
        bf16=autocast_dtype(device) is not None,
        use_cpu=device == "cpu",
        batch_sampler=task.batch_sampler
        or partial(LengthGroupedBatchSampler, lengths=task.lengths),
        # The callback decides when to log, to score the dev set and to save.
        logging_strategy="no",
        # A loss that is no number is news, not to be smoothed over.
        logging_nan_inf_filter=False,
        save_strategy="no",
        save_total_limit=2,
        report_to="none",
        disable_tqdm=True,
        dataloader_pin_memory=device.startswith("cuda"),
    )
    trainer = task.trainer_class(
        model=task.model,
        args=arguments,
        train_dataset=Dataset.from_dict({"row": np.arange(len(task.lengths))}),
        loss=task.loss,
        data_collator=task.collator,
        callbacks=[callback],
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def _save_model(model: Any, folder: Path) -> None:
    """Write the whole model beside its place, then move it there: a half-written one is never found."""
    partial_folder = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial_folder, ignore_errors=True)
    model.save_pretrained(str(partial_folder), create_model_card=False, safe_serialization=True)
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(partial_folder, folder)


@contextmanager
def _own_randomness() -> Iterator[None]:
    """Let the Trainer seed the global generators, and give them back as they were."""
    import torch

    states = random.getstate(), np.random.get_state(), torch.random.get_rng_state()
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
        torch.random.set_rng_state(states[2])
