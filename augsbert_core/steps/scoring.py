"""The labeler at work on a silver set: score what is left, commit often, report the speed."""

import time

from augsbert_core.models import labeling
from augsbert_core.progress import never, stop_if
from augsbert_core.steps.context import StepContext
from augsbert_core.storage import runs, silver_sets

COMMIT_SECONDS = 3.0
"""Scores are committed this often, so a crash costs at most these seconds of labelling."""


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
        rows: list[tuple] = []
        for positions, logits, scores in labeling.label_batches(
            labeler,
            pending.sentences1,
            pending.sentences2,
            batch_size=batch_size,
            should_stop=never,
        ):
            rows.extend(
                (*pending.ids[position], *pending.origin[position], float(score), float(logit))
                for position, logit, score in zip(positions, logits, scores, strict=True)
            )
            done += len(positions)
            elapsed = time.monotonic() - begun
            if time.monotonic() - last_commit > COMMIT_SECONDS or context.should_stop():
                _commit(context, set_id, rows, spent_before + elapsed)
                rows, last_commit = [], time.monotonic()
                stop_if(context.should_stop)
            _report_speed(context, done, n_pairs, (done - done_before) / elapsed, span)
        _commit(context, set_id, rows, spent_before + time.monotonic() - begun)
    return spent_before + time.monotonic() - begun


def _commit(context: StepContext, set_id: int, rows: list[tuple], seconds: float) -> None:
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
