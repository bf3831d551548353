"""Score a few candidates by way of trial: what the silver scores will look like, and how long they take."""

import time
from typing import Any

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.metrics import share_interval
from augsbert_core.models import labeling
from augsbert_core.options import PreviewOptions
from augsbert_core.progress import stop_if
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.label import check_labelling
from augsbert_core.steps.models import run_model
from augsbert_core.storage import candidates

WARM_UP_PAIRS = 32
"""Scored first and not timed: the first batches of a process are slow."""


def preview(context: StepContext, options: PreviewOptions) -> dict[str, Any]:
    """Score a random draw of a candidate set; the scores stay with the run and make no silver set.

    Returns scores in [0, 1] in the order drawn, the share of them in the upper half of the scale with its
    95 % interval, and pairs per second of the labeler on this device.
    """
    chosen = check_labelling(context.workspace, context.project, options)
    if options.n_pairs < 1:
        raise WorkbenchError(f"The number of pairs is {options.n_pairs}. Give 1 or more.")
    context.report(0.0, "Loading the labeler")
    trained = run_model(context.workspace, context.project, options.labeler, "train-cross-encoder")
    labeler = labeling.load_labeler(trained or options.labeler, context.device)
    first, second = candidates.random_candidates(
        context.workspace, chosen.id, options.n_pairs, options.seed
    )
    if not first:
        raise WorkbenchError(f"Candidate set {chosen.id} has lost its sentences. Sample again.")
    stop_if(context.should_stop)
    context.report(0.3, f"Scoring {len(first):,} pairs")
    _score(context, options, labeler, first[:WARM_UP_PAIRS], second[:WARM_UP_PAIRS])
    begun = time.monotonic()
    scores = _score(context, options, labeler, first, second)
    seconds = time.monotonic() - begun
    share, low, high = share_interval(int(np.sum(scores >= 0.5)), len(scores))
    return {
        "candidate_set_id": chosen.id,
        "labeler": options.labeler,
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
