"""Score a few pairs by way of trial: what the labeler is, what its scores look like, and how long they take."""

import time
from dataclasses import asdict
from typing import Any

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.metrics import share_interval, spearman
from augsbert_core.models import labeling
from augsbert_core.options import PreviewOptions
from augsbert_core.pairs import ScoredPairs
from augsbert_core.progress import stop_if
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.label import check_labeler, own_candidates
from augsbert_core.steps.models import normal_labeler
from augsbert_core.steps.scoring import calibration_facts, open_labeler
from augsbert_core.storage import candidates, gold
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project

WARM_UP_PAIRS = 32
"""Scored first and not timed: the first batches of a process are slow."""

GOLD_PAIRS = 32
"""So many gold dev pairs show what a labeler's scores are worth here."""


def check_preview(workspace: Workspace, project: Project, options: PreviewOptions) -> None:
    """WorkbenchError: the candidate set is missing or another project's, or the labeler is no model."""
    if options.candidate_set_id is not None:
        own_candidates(workspace, project, options.candidate_set_id)
    check_labeler(workspace, project, options.labeler)
    if options.n_pairs < 1:
        raise WorkbenchError(f"The number of pairs is {options.n_pairs}. Give 1 or more.")


def preview(context: StepContext, options: PreviewOptions) -> dict[str, Any]:
    """Look at a labeler, and score a random draw of a candidate set; the scores stay with the run.

    Returns "facts" of each cross-encoder in the labeler, "gold" (what it says about some gold dev pairs, None
    without any), and for a candidate set: scores in [0, 1] in the order drawn, the share of them in the upper
    half of the scale with its 95 % interval, and pairs per second of the labeler on this device.
    """
    check_preview(context.workspace, context.project, options)
    context.report(0.0, "Loading the labeler")
    labeler = open_labeler(context, options.labeler, both_orders=options.both_orders)
    found: dict[str, Any] = {
        "candidate_set_id": options.candidate_set_id,
        "labeler": normal_labeler(options.labeler),
        "both_orders": options.both_orders,
        "facts": [
            asdict(labeling.labeler_facts(scorer.location, scorer.model))
            for scorer in labeler.scorers
            if scorer.curve is None
        ],
        "calibration": calibration_facts(context, options.labeler)["calibration"],
    }
    context.report(0.2, "Scoring gold dev pairs")
    dev = gold.scored_pairs(context.workspace, context.project.id, "dev")
    found["gold"] = gold_preview(labeler, _drawn(dev, options.seed))
    if options.candidate_set_id is not None:
        found |= _preview_candidates(context, options, labeler, options.candidate_set_id)
    return found


def _drawn(pairs: ScoredPairs, seed: int) -> ScoredPairs:
    """At most 32 of the pairs, drawn with the seed."""
    rows = np.sort(np.random.default_rng(seed).permutation(len(pairs))[:GOLD_PAIRS])
    return ScoredPairs(
        [pairs.sentences1[row] for row in rows],
        [pairs.sentences2[row] for row in rows],
        pairs.scores[rows],
    )


def gold_preview(labeler: labeling.Labeler, pairs: ScoredPairs) -> dict[str, Any] | None:
    """The range of a labeler's raw scores and scores on gold pairs, and Spearman with gold; None without pairs."""
    if not len(pairs):
        return None
    raw, scores = np.zeros(len(pairs)), np.zeros(len(pairs))
    for positions, its_raw, its_scores in labeling.label_batches(
        labeler, pairs.sentences1, pairs.sentences2
    ):
        raw[positions], scores[positions] = its_raw, its_scores
    return {
        "n_pairs": len(pairs),
        "raw": _range(raw),
        "score": _range(scores),
        "spearman": spearman(pairs.scores, raw),
    }


def _range(values: np.ndarray) -> dict[str, float]:
    return {
        "min": float(values.min()),
        "median": float(np.median(values)),
        "max": float(values.max()),
    }


def _preview_candidates(
    context: StepContext, options: PreviewOptions, labeler: labeling.Labeler, set_id: int
) -> dict[str, Any]:
    first, second = candidates.random_candidates(
        context.workspace, set_id, options.n_pairs, options.seed
    )
    if not first:
        raise WorkbenchError(f"Candidate set {set_id} has lost its sentences. Sample again.")
    stop_if(context.should_stop)
    context.report(0.3, f"Scoring {len(first):,} pairs")
    _score(context, options, labeler, first[:WARM_UP_PAIRS], second[:WARM_UP_PAIRS])
    begun = time.monotonic()
    scores = _score(context, options, labeler, first, second)
    seconds = time.monotonic() - begun
    share, low, high = share_interval(int(np.sum(scores >= 0.5)), len(scores))
    return {
        "n_previewed": len(scores),
        "scores": [round(float(score), 5) for score in scores],
        "high_share": share,
        "high_share_interval": [low, high],
        "seconds": seconds,
        "pairs_per_second": len(scores) / seconds if seconds else None,
    }


def _score(
    context: StepContext,
    options: PreviewOptions,
    labeler: labeling.Labeler,
    first: list[str],
    second: list[str],
) -> np.ndarray:
    scores = np.zeros(len(first), dtype=np.float32)
    for positions, _, values in labeling.label_batches(
        labeler, first, second, batch_size=options.batch_size, should_stop=context.should_stop
    ):
        scores[positions] = values
    return scores


def fact_lines(result: dict[str, Any]) -> list[str]:
    """What a look at a labeler has found, line by line."""
    lines = []
    for facts in result["facts"]:
        window = f"{facts['max_length']:,} tokens" if facts["max_length"] else "no limit"
        lines.append(
            f"{facts['location']}: {facts['n_outputs']} output, saved with {facts['activation']} (the sigmoid is "
            f"taken once, whatever it says), reads {window}, {facts['n_parameters']:,} parameters."
        )
    for one in result.get("calibration") or []:
        lines.append(
            f"{one['member']}: cosines calibrated on {one['n_pairs']:,} {one['split']} pairs of gold."
        )
    found = result.get("gold")
    if found is None:
        return [*lines, "There are no gold dev pairs to show its scores on."]
    raw, score = found["raw"], found["score"]
    rho = found.get("spearman")  # nulls inside results are not stored
    spearman = "undefined" if rho is None else f"{100 * rho:.1f}"
    return [
        *lines,
        f"On {found['n_pairs']} gold dev pairs: raw scores {raw['min']:.2f} to {raw['max']:.2f} (median "
        f"{raw['median']:.2f}), scores {score['min']:.2f} to {score['max']:.2f} (median {score['median']:.2f}), "
        f"Spearman with gold {spearman}.",
    ]
