"""Did silver help? The plain sentence under the compare table."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from augsbert_core import metrics
from augsbert_core.steps.compare import Comparison, as_json_rows
from augsbert_core.storage import gold, runs
from augsbert_core.storage.database import Workspace


@dataclass(frozen=True)
class Verdict:
    """Did silver help? difference: AugSBERT minus gold-only, with its 95 % paired bootstrap interval."""

    sentence: str
    difference: float | None = None
    low: float | None = None
    high: float | None = None


def verdicts(workspace: Workspace, project_id: int, table: Comparison) -> list[Verdict]:
    """One plain sentence per silver set: does its newest AugSBERT model beat gold-only at equal steps?

    Newest first, at least one. The interval resamples test pairs, both models on the same ones; it says
    nothing about other seeds.
    """
    rows = [row for row in as_json_rows(table) if row["comparable"] and row["value"] is not None]
    newest = {row["silver_set_id"]: row for row in rows if row["kind"] == "augsbert"}
    if not newest:
        return [Verdict("No AugSBERT model has been measured on this split yet.")]
    measured = {
        evaluation["target"]: evaluation
        for evaluation in runs.list_evaluations(workspace, project_id, table.split)
    }
    scores = gold.scored_pairs(workspace, project_id, table.split).scores
    ours = sorted(newest.values(), key=lambda row: -row["run_id"])
    return [_verdict(row, rows, measured, scores, table) for row in ours]


def _verdict(
    ours: dict[str, Any],
    rows: list[dict[str, Any]],
    measured: dict[str, dict[str, Any]],
    scores: np.ndarray,
    table: Comparison,
) -> Verdict:
    name = f"AugSBERT with silver set {ours['silver_set_id']} (run {ours['run_id']})"
    baseline, wording = _baseline(rows, ours)
    if baseline is None:
        return Verdict(f"{name} has no gold-only model to be compared with. Train one on its base.")
    interval = paired_interval(
        table.metric, scores, measured[ours["target"]], measured[baseline["target"]]
    )
    difference = ours["value"] - baseline["value"]
    if interval is None:
        return Verdict(f"{name}: the difference is undefined; too few pairs.", difference)
    low, high = interval
    shown = f"{difference * 100:+.1f} points (95 % interval {low * 100:+.1f} to {high * 100:+.1f})"
    if low > 0:
        sentence = f"{name} helped on {table.split}: {shown} against {wording}."
    elif high < 0:
        sentence = f"{name} hurt on {table.split}: {shown} against {wording}."
    else:
        sentence = (
            f"{name} made no clear difference: {shown} against {wording}. "
            f"{table.n_pairs:,} {table.split} pairs cannot tell the two apart."
        )
    return Verdict(sentence, difference, low, high)


def _baseline(
    rows: list[dict[str, Any]], ours: dict[str, Any]
) -> tuple[dict[str, Any] | None, str]:
    """The fairest gold-only row there is: as many steps first, else the one with the most steps."""
    lower = [
        row
        for row in rows
        if row["kind"] in ("gold-only", "gold-only, equal steps")
        and (row["base"], row["layers"]) == (ours["base"], ours["layers"])
    ]
    if not lower:
        return None, ""
    twins = [row for row in lower if row["n_steps"] == ours["n_steps"]]
    if twins:
        return max(twins, key=lambda row: row["run_id"]), "gold-only training with as many steps"
    best = max(lower, key=lambda row: row["n_steps"])
    return (
        best,
        f"gold-only training, which took {best['n_steps']:,} steps, not {ours['n_steps']:,}",
    )


def paired_interval(
    metric: str, scores: np.ndarray, first: dict[str, Any], second: dict[str, Any]
) -> tuple[float, float] | None:
    """The 95 % bootstrap interval of first minus second, both measured on the same resampled pairs."""
    return metrics.paired_bootstrap_interval(
        (statistic(metric, first["threshold"]), statistic(metric, second["threshold"])),
        scores,
        (first["predictions"], second["predictions"]),
        seed=42,
    )


def statistic(metric: str, threshold: float | None) -> metrics.Statistic:
    """The function behind a metric's name; "f1" classifies at the threshold."""
    if metric == "spearman":
        return metrics.spearman
    return partial(metrics.f1_at, threshold=0.5 if threshold is None else threshold)
