"""Measure models on a split: trained runs, untrained models by name, and word overlap."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from augsbert_core import metrics
from augsbert_core.errors import WorkbenchError
from augsbert_core.models import evaluation
from augsbert_core.options import EvaluateOptions
from augsbert_core.pairs import SPLITS, ScoredPairs
from augsbert_core.progress import stop_if
from augsbert_core.steps.compare import comparison
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.models import run_model, run_number
from augsbert_core.steps.verdict import statistic
from augsbert_core.storage import gold, runs
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project

RESAMPLES = 1_000
"""Bootstrap resamples behind every interval."""


@dataclass(frozen=True)
class Target:
    """A thing that scores pairs. kind: "bi_encoder", "cross_encoder" or "jaccard"."""

    text: str
    kind: str
    location: str | None = None
    layers: int | None = None


def parse_target(workspace: Workspace, project: Project, text: str) -> Target:
    """Read "run:ID", "model:NAME", "model:NAME@layers=N" or "jaccard". WorkbenchError otherwise."""
    if text == "jaccard":
        return Target(text, "jaccard")
    location = run_model(workspace, project, text)
    if location is not None:
        step = runs.get_run(workspace, run_number(text) or 0).step
        return Target(
            text, "cross_encoder" if step == "train-cross-encoder" else "bi_encoder", location
        )
    kind, _, name = text.partition(":")
    if kind != "model" or not name:
        raise WorkbenchError(
            f"{text!r} is not something to evaluate. Use run:ID, model:NAME or jaccard."
        )
    name, _, layers = name.partition("@layers=")
    if layers and not layers.isdigit():
        raise WorkbenchError(f"{layers!r} is not a number of layers.")
    return Target(text, "bi_encoder", name, int(layers) if layers else None)


def check_evaluation(workspace: Workspace, project: Project, options: EvaluateOptions) -> None:
    """WorkbenchError: no such split, nothing in it, nothing to choose a threshold on, or no such model."""
    if options.split not in SPLITS:
        raise WorkbenchError(f"{options.split!r} is not a split; choose train, dev or test.")
    if not len(gold.scored_pairs(workspace, project.id, options.split)):
        raise WorkbenchError(
            f"Project {project.name!r} has no gold pairs in the {options.split} split to measure on."
        )
    if project.task == "classification" and not len(
        gold.scored_pairs(workspace, project.id, "dev")
    ):
        raise WorkbenchError(
            "Classification needs dev pairs: the decision threshold is chosen on them. "
            "Import some into the dev split."
        )
    for target in options.targets:
        parse_target(workspace, project, target)


def evaluate(context: StepContext, options: EvaluateOptions) -> dict[str, Any]:
    """Score the split with every target and store the metric with its 95 % bootstrap interval.

    Regression: Spearman. Classification: F1 at the threshold that is best on dev (for dev itself, the
    same threshold, so that figure is optimistic).
    """
    check_evaluation(context.workspace, context.project, options)
    pairs = gold.scored_pairs(context.workspace, context.project.id, options.split)
    targets = (
        options.targets or comparison(context.workspace, context.project.id, options.split).missing
    )
    parsed = [parse_target(context.workspace, context.project, text) for text in targets]
    dev = None
    if context.project.task == "classification" and options.split != "dev":
        dev = gold.scored_pairs(context.workspace, context.project.id, "dev")
    rows = []
    for number, target in enumerate(parsed):
        stop_if(context.should_stop)
        context.report(number / len(parsed), f"Measuring {target.text} on {options.split}")
        rows.append(_evaluate_one(context, options, target, pairs, dev))
    return {"rows": rows, "split": options.split}


def _evaluate_one(
    context: StepContext,
    options: EvaluateOptions,
    target: Target,
    pairs: ScoredPairs,
    dev: ScoredPairs | None,
) -> dict[str, Any]:
    begun = time.monotonic()
    predictions = _score(context, target, pairs)
    seconds = time.monotonic() - begun
    metric, threshold = "spearman", None
    if context.project.task == "classification":
        metric = "f1"
        threshold = _dev_threshold(context, target, dev) if dev else None
        if dev is None:
            _, threshold = metrics.f1_best_threshold(pairs.scores, predictions)
    measure = statistic(metric, threshold)
    value = measure(pairs.scores, predictions)
    interval = (
        metrics.bootstrap_interval(
            measure, pairs.scores, predictions, resamples=RESAMPLES, seed=options.seed
        )
        if value is not None
        else None
    )
    runs.add_evaluation(
        context.workspace,
        context.project.id,
        context.run.id,
        target=target.text,
        target_run_id=run_number(target.text),
        split=options.split,
        metric=metric,
        value=value,
        interval=interval,
        threshold=threshold,
        seconds=seconds,
        data_hash=gold.data_hash(pairs),
        predictions=predictions,
    )
    low, high = interval or (None, None)
    return {
        "target": target.text,
        "split": options.split,
        "metric": metric,
        "value": value,
        "low": low,
        "high": high,
        "n_pairs": len(pairs),
    }


def _dev_threshold(context: StepContext, target: Target, dev: ScoredPairs) -> float | None:
    _, threshold = metrics.f1_best_threshold(dev.scores, _score(context, target, dev))
    return threshold


def _score(context: StepContext, target: Target, pairs: ScoredPairs) -> np.ndarray:
    return evaluation.score_pairs(
        target.kind,
        target.location,
        (pairs.sentences1, pairs.sentences2),
        device=context.device,
        layers=target.layers,
        should_stop=context.should_stop,
    )
