"""Measure models on a split: trained runs, models by name, and answers that need no model."""

import time
from typing import Any

import numpy as np

from augsbert_core import metrics
from augsbert_core.errors import WorkbenchError
from augsbert_core.models import evaluation
from augsbert_core.models.labeling import LabelerPart
from augsbert_core.options import EvaluateOptions
from augsbert_core.pairs import SPLITS, ScoredPairs
from augsbert_core.progress import stop_if
from augsbert_core.steps.compare import comparison
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.figures import (
    MAJORITY_THRESHOLD,
    Figures,
    classification_figures,
    regression_figures,
)
from augsbert_core.steps.models import labeler_parts, run_number
from augsbert_core.steps.targets import Target, parse_target
from augsbert_core.storage import evaluations, gold, triplets
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project

MOST_TRIPLETS = 2_000
"""Of more triplets, so many are drawn with the seed."""

Sentences = tuple[list[str], list[str]]


def check_evaluation(workspace: Workspace, project: Project, options: EvaluateOptions) -> None:
    """WorkbenchError: no such split, nothing in it, or no such model."""
    if options.split not in SPLITS:
        raise WorkbenchError(f"{options.split!r} is not a split; choose train, dev or test.")
    if not len(gold.scored_pairs(workspace, project.id, options.split)):
        raise WorkbenchError(
            f"Project {project.name!r} has no gold pairs in the {options.split} split to measure on."
        )
    for target in options.targets:
        parse_target(workspace, project, target)


def evaluate(context: StepContext, options: EvaluateOptions) -> dict[str, Any]:
    """Score the split with every target and store the metric, its 95 % bootstrap interval and further figures.

    Regression: Spearman. Classification: F1 at the threshold that is best on dev (for dev itself, the
    same threshold, so that figure is optimistic). Triplets of the project are judged by the way.
    """
    workspace, project = context.workspace, context.project
    check_evaluation(workspace, project, options)
    pairs = gold.scored_pairs(workspace, project.id, options.split)
    targets = options.targets or comparison(workspace, project.id, options.split).missing
    parsed = [parse_target(workspace, project, text) for text in targets]
    measure = _Measure(context, options, pairs)
    rows = []
    for number, target in enumerate(parsed):
        stop_if(context.should_stop)
        context.report(number / len(parsed), f"Measuring {target.text} on {options.split}")
        rows.append(measure(target))
    return {"rows": rows, "split": options.split, "notices": measure.notices}


NO_THRESHOLD = (
    "Without dev pairs no decision threshold can be chosen, so F1 and accuracy are undefined. Average precision "
    "and AUC(0.05) need none."
)


class _Measure:
    """Measures one target after the other on the same pairs, and stores what it finds."""

    def __init__(self, context: StepContext, options: EvaluateOptions, pairs: ScoredPairs) -> None:
        self.context, self.options, self.pairs = context, options, pairs
        self.data_hash = gold.data_hash(pairs)
        self.notices: list[str] = []
        self.dev = pairs
        if context.project.task == "classification" and options.split != "dev":
            self.dev = gold.scored_pairs(context.workspace, context.project.id, "dev")
            if not len(self.dev):
                self.notices.append(NO_THRESHOLD)
        self.triplets = self._draw_triplets()

    def __call__(self, target: Target) -> dict[str, Any]:
        begun = time.monotonic()
        predictions = self._score(target, _sentences(self.pairs))
        seconds = time.monotonic() - begun
        found = self._figures(target, predictions)
        found.details.update(self._triplet_figures(target))
        evaluations.add_evaluation(
            self.context.workspace,
            self.context.project.id,
            self.context.run.id,
            target=target.text,
            target_run_id=run_number(target.text),
            split=self.options.split,
            metric=found.metric,
            value=found.value,
            interval=found.interval,
            threshold=found.threshold,
            seconds=seconds,
            data_hash=self.data_hash,
            predictions=predictions,
            details=found.details,
        )
        low, high = found.interval or (None, None)
        shown = {name: value for name, value in found.details.items() if name != "dev_curve"}
        return {
            "target": target.text,
            "split": self.options.split,
            "metric": found.metric,
            "value": found.value,
            "low": low,
            "high": high,
            "threshold": found.threshold,
            "n_pairs": len(self.pairs),
            "details": shown,
        }

    def _figures(self, target: Target, predictions: np.ndarray) -> Figures:
        scores, seed = self.pairs.scores, self.options.seed
        if self.context.project.task != "classification":
            return regression_figures(scores, predictions, seed=seed)
        dev = predictions
        if self.dev is not self.pairs:
            dev = self._score(target, _sentences(self.dev))
        return classification_figures(
            scores,
            predictions,
            (self.dev.scores, dev),
            threshold=MAJORITY_THRESHOLD if target.kind == "majority" else None,
            seed=seed,
        )

    def _score(self, target: Target, sentences: Sentences) -> np.ndarray:
        workspace, project = self.context.workspace, self.context.project
        if target.kind == "majority":
            train = gold.gold_scores(workspace, project.id, ["train"])
            return np.full(len(sentences[0]), _majority(project.task, train))
        return evaluation.score_pairs(
            target.kind,
            target.location,
            sentences,
            device=self.context.device,
            layers=target.layers,
            parts=self._parts(target),
            should_stop=self.context.should_stop,
        )

    def _parts(self, target: Target) -> list[LabelerPart]:
        if target.kind != "labeler":
            return []
        return labeler_parts(self.context.workspace, self.context.project, target.text)

    def _draw_triplets(self) -> tuple[list[str], ...] | None:
        """Anchors, positives and negatives, at most `MOST_TRIPLETS`; None when the project has none."""
        rows = triplets.triplet_training_rows(self.context.workspace, self.context.project.id)
        if not len(rows):
            return None
        drawn = np.arange(len(rows))
        if len(rows) > MOST_TRIPLETS:
            rng = np.random.default_rng(self.options.seed)
            drawn = np.sort(rng.choice(len(rows), MOST_TRIPLETS, replace=False))
            self.notices.append(
                f"Triplet accuracy is measured on {MOST_TRIPLETS:,} of {len(rows):,} triplets, drawn with seed "
                f"{self.options.seed}."
            )
        return tuple([rows.texts[place] for place in column[drawn]] for column in rows.places)

    def _triplet_figures(self, target: Target) -> dict[str, Any]:
        if self.triplets is None or target.kind == "majority":
            return {}
        anchors, positives, negatives = self.triplets
        scores = self._score(target, (anchors + anchors, positives + negatives))
        near, far = scores[: len(anchors)], scores[len(anchors) :]
        return {
            "triplet_accuracy": metrics.triplet_accuracy(near, far),
            "n_triplets": len(anchors),
        }


def _majority(task: str, train: np.ndarray) -> float:
    """What a model that reads nothing answers: the more frequent class, or the mean score."""
    if not len(train):
        return 0.5
    if task == "classification":
        return metrics.majority_class(train) or 0.0
    return float(np.mean(train))


def _sentences(pairs: ScoredPairs) -> Sentences:
    return pairs.sentences1, pairs.sentences2
