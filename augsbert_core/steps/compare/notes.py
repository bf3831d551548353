"""What a reader of the compare table must keep in mind."""

from collections.abc import Sequence
from typing import Any

from augsbert_core import metrics

MANY_DIFFERENCES = 5
"""From so many differences on, one of them is likely to look real by chance alone."""


def run_notes(rows: Sequence[dict[str, Any]], split: str) -> list[str]:
    """Notes on which models are there, and how far they can be trusted."""
    notes = []
    kinds = {row["kind"] for row in rows if row["comparable"]}
    if "augsbert" in kinds and "gold-only, equal steps" not in kinds:
        notes.append(
            "No gold-only model was trained for as many steps as the AugSBERT one. "
            "Part of the difference may come from the number of steps alone."
        )
    if "augsbert" in kinds and not kinds & {"gold-only", "gold-only, equal steps"}:
        notes.append("The gold-only bi-encoder, the lower bound, is missing.")
    if "adapted" in kinds and "source only" not in kinds:
        notes.append(
            "The lower bound of domain adaptation, a bi-encoder trained on the source project alone, is missing. "
            "Measure it here as run:ID."
        )
    notes += _upper_bound(rows, kinds)
    if split == "dev":
        notes.append(
            "Checkpoints were chosen on dev, so these scores are optimistic. Report test scores."
        )
    return notes


BELOW_IT = {
    "untrained": "the untrained model",
    "off the shelf": "its base with all layers, untrained",
}
"""Kind of a row that should lie below the cross-encoder → its name."""


def _upper_bound(rows: Sequence[dict[str, Any]], kinds: set[str]) -> list[str]:
    best = {
        kind: max(row["value"] for row in rows if row["kind"] == kind and row["value"] is not None)
        for kind in kinds
        if any(row["kind"] == kind and row["value"] is not None for row in rows)
    }
    notes = []
    better = [kind for kind in BELOW_IT if best.get(kind, -1.0) > best.get("cross-encoder", 1.0)]
    if better:
        notes.append(
            f"The cross-encoder scores below {BELOW_IT[better[0]]}, so it is no upper bound here, and its labels could "
            "not teach that model anything. A longer training of the cross-encoder may help; a smaller student may still "
            "learn from it."
        )
    if "cross-encoder" not in kinds:
        notes.append("The cross-encoder, the upper bound, is missing.")
    return notes


def group_notes(rows: Sequence[dict[str, Any]], split: str, n_pairs: int) -> list[str]:
    """Notes on seeds, on the number of differences, and on the resamples behind them."""
    notes = []
    trained = [row for row in rows if row["runs"] and row["comparable"]]
    single = [row for row in trained if row["n_seeds"] == 1]
    if single:
        which = (
            "Every model here was trained with one seed."
            if len(single) == len(trained)
            else "Some rows rest on one seed."
        )
        notes.append(
            f"{which} Another seed can move a score by points on small gold sets (paper, section 3.1), and the "
            "intervals do not contain that: train the same recipe with several seeds."
        )
    tested = [row for row in rows if row["p_adjusted"] is not None]
    if len(tested) >= MANY_DIFFERENCES:
        left = sum(row["p_adjusted"] < 0.05 for row in tested)
        notes.append(
            f"{len(tested)} differences are tested on the same {n_pairs:,} {split} pairs, and of 20 true zeros "
            f"about one looks real by chance. After Holm's correction {left} of {len(tested)} remain below 0.05."
        )
    resamples = metrics.resamples_for(n_pairs)
    if tested and resamples < metrics.RESAMPLES:
        notes.append(
            f"With {n_pairs:,} pairs, intervals and p come from {resamples:,} resamples instead of "
            f"{metrics.RESAMPLES:,}."
        )
    return notes
