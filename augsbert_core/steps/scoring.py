"""The labeler at work on a silver set: open it, take over what it has scored before, score the rest."""

import time
from typing import Any

from augsbert_core.models import labeling
from augsbert_core.options.exporting import AGAIN
from augsbert_core.progress import never, stop_if
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.models import (
    calibration_hash,
    calibrations,
    labeler_members,
    labeler_parts,
)
from augsbert_core.storage import known_scores, runs, silver_sets

COMMIT_SECONDS = 3.0
"""Scores are committed this often, so a crash costs at most these seconds of labelling."""


def open_labeler(
    context: StepContext, text: str, *, max_length: int | None = None, both_orders: bool = False
) -> labeling.Labeler:
    """Load a labeler by its text (`steps.models.split_labeler`), bi-encoders calibrated on gold."""
    parts = labeler_parts(context.workspace, context.project, text)
    return labeling.load_labeler(parts, context.device, max_length, both_orders)


def calibration_facts(context: StepContext, text: str) -> dict[str, Any]:
    """What a run records of its labeler's calibration: member, split and number of pairs, and their fingerprint.

    Both are None when no bi-encoder labels.
    """
    members = labeler_members(context.workspace, context.project, text)
    found = calibrations(context.workspace, members)
    facts = [
        {"member": one.member.text, "split": one.split, "n_pairs": len(one.pairs)} for one in found
    ]
    return {"calibration": facts or None, "calibration_hash": calibration_hash(found)}


def take_over_scores(context: StepContext, text: str, set_id: int) -> int:
    """Copy what this labeler has scored before in the same way; returns how many pairs of the run this is.

    A run that is carried out again, to see whether it gives the same scores, takes none over.
    """
    facts = calibration_facts(context, text)
    runs.update_run(context.workspace, context.run.id, metrics=facts)
    is_again = context.run.child_key == AGAIN
    copied = 0 if is_again else known_scores.copy_known_scores(context.workspace, set_id)
    before = int(runs.get_run(context.workspace, context.run.id).metrics.get("n_reused", 0))
    runs.update_run(context.workspace, context.run.id, metrics={"n_reused": before + copied})
    return before + copied


def score_pending(
    context: StepContext,
    labeler: labeling.Labeler,
    set_id: int,
    n_pairs: int,
    *,
    batch_size: int,
    span: tuple[float, float] = (0.0, 1.0),
) -> float:
    """Score the candidates of a silver set that have no score yet, chunk by chunk.

    n_pairs: how many the set has in all. span: the stretch of the job's progress that this is. Returns the
    seconds spent scoring by the whole run, earlier attempts and rounds included. Stopped: after a commit,
    so no finished score is thrown away.
    """
    spent_before = float(
        runs.get_run(context.workspace, context.run.id).metrics.get("seconds", 0.0)
    )
    done = done_before = silver_sets.get_silver_set(context.workspace, set_id).n_pairs
    begun = last_commit = time.monotonic()
    while pending := silver_sets.unscored_pairs(context.workspace, set_id):
        rows: list[silver_sets.SilverRow] = []
        for batch in labeling.score_batches(
            labeler,
            pending.sentences1,
            pending.sentences2,
            batch_size=batch_size,
            should_stop=never,
        ):
            rows.extend(_silver_rows(pending, batch))
            done += len(batch.positions)
            elapsed = time.monotonic() - begun
            if time.monotonic() - last_commit > COMMIT_SECONDS or context.should_stop():
                _commit(context, set_id, rows, spent_before + elapsed)
                rows, last_commit = [], time.monotonic()
                stop_if(context.should_stop)
            _report_speed(context, done, n_pairs, (done - done_before) / elapsed, span)
        _commit(context, set_id, rows, spent_before + time.monotonic() - begun)
    return spent_before + time.monotonic() - begun


def _silver_rows(
    pending: silver_sets.Unscored, batch: labeling.ScoredBatch
) -> list[silver_sets.SilverRow]:
    """The scores of a batch as the store takes them."""
    unknown = [None] * len(batch.positions)
    columns = (
        batch.positions.tolist(),
        batch.scores.tolist(),
        batch.raw.tolist(),
        unknown if batch.order_gaps is None else batch.order_gaps.tolist(),
        unknown if batch.spreads is None else batch.spreads.tolist(),
    )
    return [
        (*pending.ids[position], *pending.origin[position], *values)
        for position, *values in zip(*columns, strict=True)
    ]


def _commit(
    context: StepContext, set_id: int, rows: list[silver_sets.SilverRow], seconds: float
) -> None:
    silver_sets.add_silver_scores(context.workspace, set_id, rows)
    runs.update_run(context.workspace, context.run.id, metrics={"seconds": seconds})


def _report_speed(
    context: StepContext, done: int, total: int, per_second: float, span: tuple[float, float]
) -> None:
    low, high = span
    remaining = (total - done) / per_second if per_second else 0.0
    context.report(
        low + (high - low) * done / max(total, 1),
        f"Labelled {done:,} of {total:,} pairs · {per_second:,.0f} pairs/s · {remaining:,.0f} s left",
        {"pairs_per_second": per_second},
        done,
    )
