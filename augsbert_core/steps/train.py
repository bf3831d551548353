"""Train the labeler and the student: on gold, silver or both, in one stage or several, with one seed or several."""

import hashlib
import json
import math
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from augsbert_core.files import write_whole
from augsbert_core.models import bi_encoder, cross_encoder
from augsbert_core.models.training import TrainingResult
from augsbert_core.options import BiEncoderOptions, CrossEncoderOptions, Stage, to_json
from augsbert_core.pairs import ScoredPairs
from augsbert_core.progress import Report, stretch
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.negatives import check_one_class, with_negatives
from augsbert_core.steps.recipe_checks import (
    check_cross_encoder,
    check_recipe,
    plan,
)
from augsbert_core.steps.recipes import stage_options, stages_of, uses
from augsbert_core.steps.seed_optimisation import optimise_seeds
from augsbert_core.steps.training_data import (
    TrainingData,
    TrainingOptions,
    imported_gold,
    read_gold,
    read_stage,
)
from augsbert_core.steps.warm_start import (
    GOLD_FROM,
    WarmStart,
    forget,
    wants_warm_start,
    warm_start,
)
from augsbert_core.storage import gold, runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project

STAGE_RECORD = "stage.json"

NO_PAIRS = ScoredPairs([], [], np.zeros(0))


@dataclass(frozen=True)
class TrainedStage:
    """What one stage came to, and what it was trained on."""

    stage: Stage
    data: TrainingData
    result: TrainingResult


def check_training(
    workspace: Workspace, project: Project, options: CrossEncoderOptions | BiEncoderOptions
) -> None:
    """WorkbenchError: the data that a training needs is missing, or its options do not go together."""
    if isinstance(options, BiEncoderOptions):
        check_recipe(workspace, project, options)
        begun = stages_of(options)[options.first_stage - 1 :]
        # Ranking needs no second class: what is not a pair is found in the batch.
        needs_classes = any("gold" in stage.data and stage.loss != "mnrl" for stage in begun)
    else:
        check_cross_encoder(workspace, project, options)
        wants_warm_start(options, 0)
        needs_classes = options.use_gold
    if needs_classes and project.task == "classification":
        check_one_class(project, options, read_gold(workspace, project, options))


def train_cross_encoder(context: StepContext, options: CrossEncoderOptions) -> dict[str, Any]:
    """Train on gold, silver or both and keep the best checkpoint on dev; first the warm start, if any."""
    workspace, project = context.workspace, context.project
    check_training(workspace, project, options)
    dev = gold.scored_pairs(workspace, project.id, "dev")
    gold_pairs, n_gold = NO_PAIRS, 0
    gold_hash = _gold_hash(context, options, uses_gold=options.use_gold)
    facts: dict[str, Any] = {}
    if options.use_gold:
        gold_pairs = read_gold(workspace, project, options)
        n_gold = len(gold_pairs)
        gold_pairs, dev, facts = with_negatives(workspace, project, options, gold_pairs, dev)
    kind = "gold" if options.silver_set_id is None else "gold+silver"
    kind = kind if options.use_gold else "silver"
    data = read_stage(workspace, project, options, kind, gold_pairs)
    data = replace(data, n_gold=n_gold)
    begun = None
    if wants_warm_start(options, len(data.rows)):
        begun = warm_start(context, options)
    told = replace(options, base=begun.location) if begun else options
    trainer = cross_encoder.train_cross_encoder
    result, more = _train_one(_after_warm_start(context, options, begun), told, data, dev, trainer)
    forget(context.folder)
    trained = TrainedStage(Stage(kind, options.loss), data, result)
    finished = _finish(context, [trained], gold_hash)
    if begun:
        more |= {"seconds": finished["seconds"] + begun.seconds}
    return finished | facts | more | {"warm_start_pairs": begun.n_pairs if begun else 0}


def _after_warm_start(
    context: StepContext, options: CrossEncoderOptions, begun: WarmStart | None
) -> StepContext:
    """A context that shows gold training after the warm start: later in time, further on its curves."""
    if begun is None:
        return context
    n_rows = begun.n_pairs * (2 if options.both_orders else 1)
    offset = math.ceil(n_rows / options.batch_size)
    return replace(
        context,
        report=stretch(context.report, GOLD_FROM, 1.0, title="Training (2 of 2)", offset=offset),
    )


def train_bi_encoder(context: StepContext, options: BiEncoderOptions) -> dict[str, Any]:
    """Train the student through the stages of its recipe, or the best of several seeds through one."""
    check_training(context.workspace, context.project, options)
    gold_pairs = NO_PAIRS
    if uses(options, "gold"):
        gold_pairs = read_gold(context.workspace, context.project, options)
    stages = stages_of(options)[options.first_stage - 1 :]
    more: dict[str, Any] = {}
    if options.seeds > 1:
        told = replace(stage_options(options, stages[0]), seeds=options.seeds)
        data = _read(context, options, stages[0], gold_pairs)
        trainer = bi_encoder.train_bi_encoder
        result, more = _train_one(context, told, data, _dev(context), trainer)
        trained = [TrainedStage(stages[0], data, result)]
    else:
        trained = _train_stages(context, options, stages, gold_pairs)
    gold_hash = _gold_hash(context, options, uses_gold=uses(options, "gold"))
    finished = _finish(context, trained, gold_hash) | more
    for number in range(1, options.first_stage + len(stages)):
        shutil.rmtree(context.folder / f"stage-{number}", ignore_errors=True)
    return finished


def _train_stages(
    context: StepContext,
    options: BiEncoderOptions,
    stages: Sequence[Stage],
    gold_pairs: ScoredPairs,
) -> list[TrainedStage]:
    """One stage after another, each from the model of the one before; those finished earlier are read."""
    planned = plan(context.workspace, context.project, options)
    whole = max(sum(each.n_steps for each in planned), 1)
    dev, base, key = _dev(context), options.base, ""
    trained: list[TrainedStage] = []
    planned_before = taken_before = 0
    for number, stage in enumerate(stages):
        told = replace(stage_options(options, stage, is_first=number == 0), base=base)
        data = _read(context, options, stage, gold_pairs)
        last = number == len(stages) - 1
        folder = (
            context.folder if last else context.folder / f"stage-{options.first_stage + number}"
        )
        report = stretch(
            context.report,
            planned_before / whole,
            (planned_before + planned[number].n_steps) / whole,
            title=f"Stage {number + 1} of {len(stages)}" if len(stages) > 1 else "",
            offset=taken_before,
        )
        key = training_key(told, data, dev, key)
        result = None if last else _stage_result(folder, key)
        if result is None:
            _forget_after(context, options.first_stage + number, is_last=last)
            trainer = bi_encoder.train_bi_encoder
            result = call_trainer(context, trainer, told, data, dev, folder, report)
            if not last:
                record = json.dumps({"key": key, "result": asdict(result)})
                write_whole(folder / STAGE_RECORD, record)
        trained.append(TrainedStage(stage, data, result))
        planned_before += planned[number].n_steps
        taken_before += result.n_steps
        base = str(folder / "model")
    return trained


def _stage_result(folder: Path, key: str) -> TrainingResult | None:
    """The result of a stage that was finished before, on the same data and with the same options."""
    record = folder / STAGE_RECORD
    if not record.is_file() or not (folder / "model").is_dir():
        return None
    stored = json.loads(record.read_text(encoding="utf-8"))
    if stored["key"] != key:
        return None
    told = stored["result"]
    curve = tuple((int(step), float(score)) for step, score in told["dev_curve"])
    return TrainingResult(**{**told, "dev_curve": curve})


def _forget_after(context: StepContext, number: int, *, is_last: bool) -> None:
    """A stage that is trained anew makes what later ones have done worthless."""
    for path in context.folder.glob("stage-*"):
        if int(path.name.removeprefix("stage-")) > number:
            shutil.rmtree(path, ignore_errors=True)
    if not is_last:
        shutil.rmtree(context.folder / "checkpoints", ignore_errors=True)


def training_key(
    options: TrainingOptions, data: TrainingData, dev: ScoredPairs, before: str = ""
) -> str:
    """A fingerprint of one training and of what came before it."""
    told = (to_json(options), data.data_hash, gold.data_hash(dev), before)
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]


def _train_one(
    context: StepContext,
    options: TrainingOptions,
    data: TrainingData,
    dev: ScoredPairs,
    trainer: Callable[..., TrainingResult],
) -> tuple[TrainingResult, dict[str, Any]]:
    """One stage with one seed, or with the best of several. Returns what is to be added to the result."""
    if options.seeds == 1:
        return call_trainer(
            context, trainer, options, data, dev, context.folder, context.report
        ), {}

    def train_one(seed: int, folder: Path, report: Report, stop_at: float | None) -> TrainingResult:
        told = replace(options, seed=seed, seeds=1)
        return call_trainer(context, trainer, told, data, dev, folder, report, stop_at)

    return optimise_seeds(context, options, training_key(options, data, dev), train_one)


def call_trainer(
    context: StepContext,
    trainer: Callable[..., TrainingResult],
    options: TrainingOptions,
    data: TrainingData,
    dev: ScoredPairs,
    folder: Path,
    report: Report,
    stop_at: float | None = None,
) -> TrainingResult:
    """Hand the rows to a trainer of `models`, with the gold dev pairs and what the context holds."""
    folder.mkdir(parents=True, exist_ok=True)
    return trainer(
        data.rows,
        dev,
        options,
        folder,
        task=context.project.task,
        device=context.device,
        report=report,
        should_stop=context.should_stop,
        stop_at=stop_at,
    )


def _read(
    context: StepContext, options: BiEncoderOptions, stage: Stage, gold_pairs: ScoredPairs
) -> TrainingData:
    return read_stage(context.workspace, context.project, options, stage.data, gold_pairs)


def _dev(context: StepContext) -> ScoredPairs:
    return gold.scored_pairs(context.workspace, context.project.id, "dev")


def _gold_hash(context: StepContext, options: TrainingOptions, *, uses_gold: bool) -> str:
    """Tells later whether gold has changed since: of the imported pairs trained on, else of the training split."""
    workspace, project = context.workspace, context.project
    pairs = imported_gold(workspace, project, options) if uses_gold else NO_PAIRS
    return gold.data_hash(
        pairs if len(pairs) else gold.scored_pairs(workspace, project.id, "train")
    )


def _finish(
    context: StepContext, trained: Sequence[TrainedStage], gold_hash: str
) -> dict[str, Any]:
    """Record the model, and sum up the stages as one training."""
    hashes = [stage.data.data_hash for stage in trained]
    model_path = str((context.folder / "model").relative_to(context.workspace.home))
    runs.update_run(
        context.workspace,
        context.run.id,
        data_hash=hashes[0] if len(hashes) == 1 else _hash_of(hashes),
        device=trained[-1].result.device,
        model_path=model_path,
    )
    return {
        "run_id": context.run.id,
        **asdict(whole_result([stage.result for stage in trained])),
        **{
            name: max(getattr(stage.data, name) for stage in trained)
            for name in ("n_gold", "n_silver", "passes")
        },
        **{
            name: n
            for name in ("n_nli", "n_triplets", "n_corrections", "n_leaks")
            if (n := max(getattr(s.data, name) for s in trained))
        },
        "gold_hash": gold_hash,
        "stages": [
            {
                "data": stage.stage.data,
                "loss": stage.stage.loss,
                "n_rows": stage.result.n_rows or len(stage.data.rows),
                "n_steps": stage.result.n_steps,
                "dev_score": stage.result.dev_score,
            }
            for stage in trained
        ],
    }


def _hash_of(parts: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def whole_result(results: Sequence[TrainingResult]) -> TrainingResult:
    """Stages as one training: the last one's model and score, steps and seconds of all."""
    if len(results) == 1:
        return results[0]
    curve: list[tuple[int, float]] = []
    before = 0
    for result in results:
        curve += [(before + step, score) for step, score in result.dev_curve]
        before += result.n_steps
    last = results[-1]
    busy = sum(result.n_steps / max(result.examples_per_second, 1e-9) for result in results)
    return replace(
        last,
        n_steps=before,
        seconds=sum(result.seconds for result in results),
        # Weighed by steps, as if all batches had one size.
        examples_per_second=before / busy if busy else 0.0,
        best_step=before - last.n_steps + last.best_step,
        dev_curve=tuple(curve),
        n_rows=sum(result.n_rows for result in results),
    )
