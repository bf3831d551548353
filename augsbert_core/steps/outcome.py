"""Will silver help on this data? What the trial of `steps.plans.will_silver_help` says."""

import math
from typing import Any

from augsbert_core.options import BiEncoderOptions, from_json
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.verdict import paired_interval
from augsbert_core.storage import batches, gold, runs
from augsbert_core.storage.records import Run

SPLIT = "dev"


def silver_outcome(context: StepContext) -> dict[str, Any]:
    """{"outcome": …}: the student with silver against gold-only at equal steps on dev, and what a full run takes.

    difference, low, high: student minus gold-only in units of the metric with the 95 % paired bootstrap
    interval; helps: True or False when the interval leaves out 0, else None. The estimate takes the measured
    seconds per labelled pair and per optimiser step times the numbers of a full run.
    """
    found = {str(run.child_key): run for run in batches.children(context.workspace, context.run.id)}
    measured = {
        one["target"]: one
        for one in runs.list_evaluations(context.workspace, context.project.id, SPLIT)
    }
    student = measured[f"run:{found['student'].id}"]
    twin = measured[f"run:{found['gold'].id}"]
    scores = gold.scored_pairs(context.workspace, context.project.id, SPLIT).scores
    interval = difference = None
    if student["value"] is not None and twin["value"] is not None:
        difference = student["value"] - twin["value"]
        interval = paired_interval(student["metric"], scores, student, twin)
    low, high = interval or (None, None)
    n_silver = int(found["student"].metrics.get("n_silver") or 0)
    helps = None
    if low is not None and high is not None and (low > 0 or high < 0):
        helps = low > 0
    estimate = full_run_estimate(found, _earlier_pace(context, found))
    sentence = outcome_sentence(helps, difference, interval, n_silver, len(scores))
    return {
        "outcome": {
            "helps": helps,
            "sentence": sentence,
            "difference": difference,
            "low": low,
            "high": high,
            "metric": student["metric"],
            "split": SPLIT,
            "n_pairs": len(scores),
            "n_silver": n_silver,
            "student_score": student["value"],
            "gold_only_score": twin["value"],
            "student_run_id": found["student"].id,
            "gold_only_run_id": found["gold"].id,
            "labeler": found["silver"].metrics.get("labeler"),
            "estimate": estimate,
            "estimate_sentence": estimate_sentence(estimate),
        }
    }


def outcome_sentence(
    helps: bool | None,
    difference: float | None,
    interval: tuple[float, float] | None,
    n_silver: int,
    n_pairs: int,
) -> str:
    """The outcome in words."""
    if difference is None or interval is None:
        return "The trial says nothing: a score is undefined, or there are too few dev pairs."
    low, high = (100 * end for end in interval)
    shown = (
        f"with {n_silver:,} silver pairs the student scores {100 * difference:+.1f} points "
        f"(95 % interval {low:+.1f} to {high:+.1f}) against gold-only training with as many steps, "
        f"on {n_pairs:,} dev pairs"
    )
    if helps is None:
        return f"No clear difference: {shown}. More silver pairs or more dev pairs may tell."
    return f"Silver is likely to {'help' if helps else 'hurt'}: {shown}."


def _earlier_pace(context: StepContext, found: dict[str, Run]) -> float | None:
    """Seconds per pair of the newest labelling by the same labeler, for a trial whose pairs were all known."""
    labeler = found["silver"].metrics.get("labeler")
    for run in runs.list_runs(context.workspace, context.project.id, "label"):
        if run.metrics.get("labeler") == labeler and run.metrics.get("pairs_per_second"):
            return 1 / float(run.metrics["pairs_per_second"])
    return None


def full_run_estimate(found: dict[str, Run], earlier: float | None = None) -> dict[str, Any]:
    """What labelling all candidates and training on them would take; seconds None where nothing was measured.

    earlier: seconds per labelled pair, taken when the trial itself labelled none anew.
    """
    labelled, student = found["silver"].metrics, found["student"]
    told = from_json(BiEncoderOptions, student.options)
    n_pairs = int(found["drawn"].metrics["n_whole"])
    n_passes = int(labelled.get("n_scored") or 0) - int(labelled.get("n_reused") or 0)
    label_seconds = labelled.get("seconds") if n_passes > 0 else None
    per_pair = label_seconds / n_passes if label_seconds else earlier
    n_steps = int(student.metrics.get("n_steps") or 0)
    per_step = float(student.metrics.get("seconds") or 0.0) / n_steps if n_steps else None
    rows = int(student.metrics.get("n_gold") or 0) + n_pairs
    full_steps = told.max_steps or told.epochs * math.ceil(rows / told.batch_size)
    known = per_pair is not None and per_step is not None
    return {
        "seconds_per_pass": per_pair,
        "seconds_per_step": per_step,
        "n_pairs": n_pairs,
        "n_steps": full_steps,
        "label_seconds": n_pairs * per_pair if per_pair is not None else None,
        "train_seconds": full_steps * per_step if per_step is not None else None,
        "seconds": n_pairs * (per_pair or 0) + full_steps * (per_step or 0) if known else None,
    }


def estimate_sentence(estimate: dict[str, Any]) -> str:
    """The estimate in words."""
    if estimate["seconds"] is None:
        return "How long a full run takes is not known: no pair was labelled anew in this trial."
    label, train = (max(1, round(estimate[f"{part}_seconds"] / 60)) for part in ("label", "train"))
    return (
        f"All {estimate['n_pairs']:,} candidates would take about {label:,} min to label and "
        f"{train:,} min to train on ({estimate['n_steps']:,} steps), at the speed of this trial."
    )
