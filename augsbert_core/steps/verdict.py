"""Did silver help? The plain sentence under the compare table."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from augsbert_core import metrics
from augsbert_core.steps.compare import Comparison, Grouped, grouped
from augsbert_core.steps.figures import statistic
from augsbert_core.storage.database import Workspace

__all__ = ["Verdict", "paired_interval", "statistic", "verdicts"]

JUDGED = ("augsbert", "adapted")


@dataclass(frozen=True)
class Verdict:
    """Did silver help? difference: with silver minus without, with its 95 % paired bootstrap interval and p.

    n_seeds: of the row with silver.
    """

    sentence: str
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    n_seeds: int = 1


def verdicts(
    workspace: Workspace, project_id: int, table: Comparison, rows: Grouped | None = None
) -> list[Verdict]:
    """One plain sentence per row with silver: does it beat gold-only at equal steps?

    Newest first, at least one. rows: the grouped table, where the caller has it already. The interval resamples
    the pairs, both sides on the same ones; it holds for the seeds that were trained.
    """
    found = (rows or grouped(workspace, project_id, table)).as_json()
    ours = [
        row
        for row in found
        if row["kind"] in JUDGED and row["comparable"] and row["value"] is not None
    ]
    if not ours:
        return [Verdict("No model trained with silver pairs has been measured on this split yet.")]
    by_name = {row["name"]: row for row in found}
    ours.sort(key=lambda row: -max(row["runs"]))
    return [_verdict(row, by_name.get(row["reference"] or ""), table) for row in ours]


def _verdict(ours: dict[str, Any], theirs: dict[str, Any] | None, table: Comparison) -> Verdict:
    name = ours["name"]
    if theirs is None:
        return Verdict(f"{name} has no gold-only model to be compared with. Train one on its base.")
    difference, low, high, p = (
        ours[key] for key in ("difference", "difference_low", "difference_high", "p")
    )
    if difference is None or low is None or high is None:
        return Verdict(f"{name}: the difference is undefined; too few pairs.", difference)
    shown = (
        f"{difference * 100:+.1f} points (95 % interval {low * 100:+.1f} to {high * 100:+.1f}, "
        f"{p_text(p)}) against {_against(ours, theirs)}"
    )
    seeds = _seeds(ours["n_seeds"], theirs["n_seeds"])
    if low > 0:
        sentence = f"{name} helped on {table.split}: {shown}, {seeds}."
    elif high < 0:
        sentence = f"{name} hurt on {table.split}: {shown}, {seeds}."
    else:
        sentence = (
            f"{name} made no clear difference: {shown}, {seeds}. "
            f"{table.n_pairs:,} {table.split} pairs cannot tell the two apart."
        )
    return Verdict(sentence, difference, low, high, p, ours["n_seeds"])


def _against(ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    baseline = "the source-only model" if theirs["kind"] == "source only" else "gold-only training"
    if ours["equal_steps"]:
        return f"{baseline} with as many steps"
    return f"{baseline}, which took {theirs['n_steps']:,} steps, not {ours['n_steps']:,}"


def _seeds(ours: int, theirs: int) -> str:
    if ours == theirs == 1:
        return "one seed each"
    if ours == theirs:
        return f"mean of {ours} seeds each"
    return f"mean of {ours} seed{'' if ours == 1 else 's'} against {theirs}"


def p_text(p: float | None) -> str:
    """A p value as papers write it: "p = 0.03", "p < 0.001"."""
    if p is None:
        return "p undefined"
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}" if p < 0.1 else f"p = {p:.2f}"


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
