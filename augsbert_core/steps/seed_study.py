"""The seed study: train every seed to the end, and see how early their order on dev is the final one.

It answers, for one's own data and recipe, at which share of the steps seed optimisation may stop its trials
(paper §5, figure 6).
"""

import json
import math
import shutil
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.files import write_whole
from augsbert_core.models import bi_encoder, cross_encoder
from augsbert_core.options import (
    BiEncoderOptions,
    CrossEncoderOptions,
    SeedStudyOptions,
    from_json,
)
from augsbert_core.pairs import ScoredPairs
from augsbert_core.progress import stop_if, stretch
from augsbert_core.seeds import MIN_SEEDS, rank_agreement
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.recipes import stage_options, stages_of
from augsbert_core.steps.train import NO_PAIRS, call_trainer, check_training, training_key
from augsbert_core.steps.training_data import TrainingData, read_gold, read_stage
from augsbert_core.storage import gold
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.projects import count_project
from augsbert_core.storage.records import Project

MODELS: dict[str, type] = {"bi-encoder": BiEncoderOptions, "cross-encoder": CrossEncoderOptions}


@dataclass(frozen=True)
class SeedCurve:
    """How one seed went: dev scores by step, to the end."""

    curve: tuple[tuple[int, float], ...]
    n_steps: int
    metric: str
    seconds: float


def recipe_of(options: SeedStudyOptions) -> BiEncoderOptions | CrossEncoderOptions:
    """The options of the training that is studied, for one seed."""
    if options.model not in MODELS:
        raise WorkbenchError(
            f"{options.model!r} is no model to study. Choose one of {', '.join(MODELS)}."
        )
    try:
        is_recipe = isinstance(json.loads(options.recipe), dict)
    except json.JSONDecodeError:
        is_recipe = False
    if not is_recipe:
        raise WorkbenchError("The recipe of the seed study is not the JSON of a model's options.")
    told: BiEncoderOptions | CrossEncoderOptions = from_json(MODELS[options.model], options.recipe)
    return replace(told, seeds=1, seed=options.seed, device=options.device)


def check_seed_study(workspace: Workspace, project: Project, options: SeedStudyOptions) -> None:
    """WorkbenchError: a study of these seeds, fractions and recipe cannot be made."""
    told = recipe_of(options)
    check_training(workspace, project, told)
    if options.seeds < MIN_SEEDS:
        raise WorkbenchError(
            f"{options.seeds} seeds have no order to speak of. Study {MIN_SEEDS} or more; the paper took 5."
        )
    if not options.fractions or not all(0 < each < 1 for each in options.fractions):
        raise WorkbenchError(
            "The fractions of a seed study must lie between 0 and 1, such as 0.1, 0.2, 0.4."
        )
    if isinstance(told, BiEncoderOptions) and len(stages_of(told)) > 1:
        raise WorkbenchError(
            "A seed study needs a recipe of one stage. Take out the stages, or study one of them."
        )
    if not count_project(workspace, project.id).dev:
        raise WorkbenchError(
            "A seed study compares dev scores, and there are no dev pairs. Import some into the dev split."
        )


def seed_study(context: StepContext, options: SeedStudyOptions) -> dict[str, Any]:
    """Train the seeds to the end one after another; no model is kept. A warm start is left out.

    The result holds seeds, fractions (the end as 1), dev (a score per seed and fraction), n_steps, metric,
    seconds, and the fields of `RankAgreement`. WorkbenchError: a dev score was undefined.
    """
    check_seed_study(context.workspace, context.project, options)
    told, data = _recipe_and_data(context, recipe_of(options))
    dev = gold.scored_pairs(context.workspace, context.project.id, "dev")
    fractions = sorted(set(options.fractions))
    results: list[SeedCurve] = []
    for number in range(options.seeds):
        stop_if(context.should_stop)
        results.append(_train_seed(context, options, told, data, dev, fractions, number))
    n_steps = results[0].n_steps
    scores = [_scores_at(result, fractions) for result in results]
    agreement = rank_agreement(np.array(scores), np.random.default_rng(options.seed))
    return {
        "seeds": [options.seed + number for number in range(options.seeds)],
        "fractions": [*fractions, 1.0],
        "dev": scores,
        "metric": results[0].metric,
        "n_steps": n_steps,
        "seconds": sum(result.seconds for result in results),
        **asdict(agreement),
    }


def _recipe_and_data(
    context: StepContext, told: BiEncoderOptions | CrossEncoderOptions
) -> tuple[BiEncoderOptions | CrossEncoderOptions, TrainingData]:
    workspace, project = context.workspace, context.project
    kind = "gold" if told.silver_set_id is None else "gold+silver" if told.use_gold else "silver"
    if isinstance(told, BiEncoderOptions):
        stage = stages_of(told)[0]
        kind = stage.data
        # Early stopping would end seeds at different steps, so that there is no common end.
        told = replace(stage_options(told, stage), patience=0)
    else:
        told = replace(told, patience=0, warm_start="off")
    pairs = read_gold(workspace, project, told) if "gold" in kind.split("+") else NO_PAIRS
    return told, read_stage(workspace, project, told, kind, pairs)


def _train_seed(
    context: StepContext,
    options: SeedStudyOptions,
    told: BiEncoderOptions | CrossEncoderOptions,
    data: TrainingData,
    dev: ScoredPairs,
    fractions: list[float],
    number: int,
) -> SeedCurve:
    """One seed to the end, with a pause at each fraction; one that was finished before is read."""
    seed = options.seed + number
    told = replace(told, seed=seed)
    key = training_key(told, data, dev, json.dumps(fractions))
    record = context.folder / f"seed-{seed}.json"
    if record.is_file():
        stored = json.loads(record.read_text(encoding="utf-8"))
        if stored.pop("key") == key:
            return SeedCurve(**{**stored, "curve": tuple(map(tuple, stored["curve"]))})
    folder = context.folder / f"seed-{seed}"
    folder.mkdir(exist_ok=True)
    ends = [*fractions, None]
    for place, stop_at in enumerate(ends):
        low, high = ((number + each / len(ends)) / options.seeds for each in (place, place + 1))
        title = f"Seed {seed}, {number + 1} of {options.seeds}"
        report = stretch(context.report, low, high, title=title, points=[])
        result = call_trainer(context, _trainer(told), told, data, dev, folder, report, stop_at)
    curve = SeedCurve(result.dev_curve, result.n_steps, result.metric, result.seconds)
    write_whole(record, json.dumps({"key": key, **asdict(curve)}))
    shutil.rmtree(folder)
    return curve


def _trainer(told: BiEncoderOptions | CrossEncoderOptions) -> Any:
    if isinstance(told, BiEncoderOptions):
        return bi_encoder.train_bi_encoder
    return cross_encoder.train_cross_encoder


def _scores_at(result: SeedCurve, fractions: list[float]) -> list[float]:
    """The dev scores of a seed at each fraction and at the end."""
    curve = dict(result.curve)
    steps = [math.ceil(round(each * result.n_steps, 6)) for each in fractions] + [result.n_steps]
    missing = [step for step in steps if step not in curve]
    if missing:
        raise WorkbenchError(
            f"The dev score after step {missing[0]:,} is undefined: all dev pairs got one score, or dev holds one "
            "class. Choose a higher learning rate, later fractions, or more dev pairs."
        )
    return [curve[step] for step in steps]
