"""What training a cross-encoder and a bi-encoder have in common: steps, dev scores, checkpoints, resuming."""

import hashlib
import math
import os
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from augsbert_core import metrics
from augsbert_core.errors import Stopped, WorkbenchError
from augsbert_core.models.checkpoints import Checkpoints
from augsbert_core.models.devices import autocast_dtype
from augsbert_core.models.vocabulary import TrainedVocabulary
from augsbert_core.options import BiEncoderOptions, CrossEncoderOptions, to_json
from augsbert_core.pairs import ScoredPairs
from augsbert_core.progress import Report, ShouldStop

CHECKPOINT_SECONDS = 30.0
DEV_SCORES = (3, 10)
METRICS = {"regression": "spearman", "classification": "f1"}


@dataclass(frozen=True)
class TrainingResult:
    """What a training run came to.

    dev_score: of the model that was kept; None without a dev set or when the metric is undefined.
    metric: "spearman" or "f1". threshold: the score from which a pair counts as positive (f1 only).
    n_steps: optimiser steps. best_step: the step of the kept model. seconds: all in all, including what
    went before an interruption. examples_per_second: while training, dev scores left out.
    """

    dev_score: float | None
    metric: str
    threshold: float | None
    n_steps: int
    seconds: float
    examples_per_second: float
    best_step: int
    device: str


@dataclass(frozen=True)
class TrainingTask:
    """One model to train, put together by cross_encoder.py or bi_encoder.py.

    lengths: one number per training pair to group batches by. predict: what the model says about the dev
    pairs, float array. fingerprint: tells whether a checkpoint belongs to this very training.
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


def check_training(train: ScoredPairs, task: str) -> str:
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


def fingerprint(options: CrossEncoderOptions | BiEncoderOptions, *data: ScoredPairs) -> str:
    """A digest of options and pairs: equal exactly when a training would be the same."""
    digest = hashlib.sha256(to_json(options).encode())
    for pairs in data:
        for text in (*pairs.sentences1, *pairs.sentences2):
            digest.update(text.encode() + b"\0")
        digest.update(np.asarray(pairs.scores, dtype=np.float64).tobytes())
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


def run_training(
    task: TrainingTask,
    options: CrossEncoderOptions | BiEncoderOptions,
    folder: Path,
    *,
    device: str,
    report: Report,
    should_stop: ShouldStop,
    checkpoint_seconds: float,
) -> TrainingResult:
    """Train, keep the model that does best on dev, and save it to folder/"model".

    Resumes from the last complete checkpoint in folder/"checkpoints" that belongs to the same training.
    Raises Stopped, after a checkpoint, when should_stop() says so.
    """
    from augsbert_core.models.progress_callback import ProgressCallback

    n_pairs = len(task.lengths)
    n_steps = count_steps(n_pairs, options)
    pairs_per_step = n_pairs / math.ceil(n_pairs / options.batch_size)
    checkpoints = Checkpoints(folder / "checkpoints", task.fingerprint)
    if checkpoints.started_over:
        report(0.0, "Pairs or options have changed since this training stopped: it starts over")
    resumed = checkpoints.latest()
    with _own_randomness():
        callback = ProgressCallback(
            task, checkpoints, n_steps, pairs_per_step, report, should_stop, checkpoint_seconds
        )
        trainer = _make_trainer(task, options, checkpoints.folder, n_steps, device, callback)
        trainer.train(resume_from_checkpoint=str(resumed) if resumed else None)
    if callback.stopped:
        raise Stopped
    best = checkpoints.best()
    if best is not None:
        checkpoints.load_best(task.model)
    task.vocabulary.restore()
    _save_model(task.model, folder / "model")
    checkpoints.remove()
    return TrainingResult(
        dev_score=best.score if best else None,
        metric=task.metric,
        threshold=best.threshold if best else None,
        n_steps=n_steps,
        seconds=callback.seconds(),
        examples_per_second=callback.examples_per_second(),
        best_step=best.step if best else n_steps,
        device=device,
    )


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
        batch_sampler=partial(LengthGroupedBatchSampler, lengths=task.lengths),
        # The callback decides when to log, to score the dev set and to save.
        logging_strategy="no",
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
