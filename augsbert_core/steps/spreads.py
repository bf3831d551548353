"""Spreads of scores in numbers: densities, fallbacks, and distances to gold."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from augsbert_core import charts
from augsbert_core import density as densities
from augsbert_core.density import KL_FLOOR
from augsbert_core.options import KeepOptions
from augsbert_core.steps.keep import (
    GRID_POINTS,
    bandwidth_in_force,
    divergence,
    score_density,
)
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import SilverSet
from augsbert_core.storage.silver_bins import silver_score_counts

GOLD_NAME = "Gold (train)"

GRID = densities.unit_grid(GRID_POINTS)

STATED = (
    f"KL in nats on a grid of {GRID_POINTS} points, densities raised to at least "
    f"10{str(round(math.log10(KL_FLOOR))).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}."
)
"""Two KL values can be compared only when both were taken like this."""


@dataclass(frozen=True)
class Spread:
    """How the scores of one set lie. scores, counts: distinct scores in [0, 1] and how often each occurs.

    heights: the density on GRID with this bandwidth; None, with a note why, where there is none. key: the
    silver set's id, None for gold. passes: cross-encoder passes that the set cost.
    """

    name: str
    color: str
    scores: np.ndarray
    counts: np.ndarray
    heights: np.ndarray | None = None
    bandwidth: float | None = None
    note: str = ""
    dash: bool = False
    key: int | None = None
    passes: int | None = None

    @property
    def n(self) -> int:
        return int(self.counts.sum())

    @property
    def high_share(self) -> float | None:
        """The share of scores at or above the middle of the scale, None without scores."""
        return float(self.counts[self.scores >= 0.5 - 1e-9].sum() / self.n) if self.n else None

    def curve(self) -> charts.Curve:
        return charts.Curve(
            self.name, self.color, self.scores, self.counts, self.heights, self.dash
        )


@dataclass(frozen=True)
class Distances:
    """From gold to a set: KL(gold‖set) in nats, Wasserstein in [0, 1], KS in [0, 1]; None: not defined."""

    kl: float | None
    wasserstein: float | None
    ks: float | None


def spread(
    name: str,
    color: str,
    scores: np.ndarray,
    counts: np.ndarray,
    settings: KeepOptions,
    *,
    dash: bool = False,
    key: int | None = None,
    passes: int | None = None,
) -> Spread:
    """A spread with its density, estimated as the settings say, or a note why there is none."""
    counts = np.asarray(counts, dtype=np.float64)
    there = counts > 0
    bare = Spread(name, color, scores[there], counts[there], dash=dash, key=key, passes=passes)
    note = why_no_density(name, bare.counts)
    if note:
        return replace(bare, note=note)
    # Found once: cross-validation takes longer than the density itself.
    width = bandwidth_in_force(bare.scores, settings, bare.counts)
    heights = score_density(bare.scores, replace(settings, bandwidth=width), GRID, bare.counts)
    return replace(bare, heights=heights, bandwidth=width)


def gold_spread(name: str, gold: np.ndarray, settings: KeepOptions, **more: object) -> Spread:
    """The spread of gold scores, each with its real value."""
    scores, counts = np.unique(gold, return_counts=True)
    color = str(more.pop("color", charts.COLORS["gold"]))
    return spread(name, color, scores, counts, settings, **more)  # type: ignore[arg-type]


def silver_spread(
    workspace: Workspace, found: SilverSet, name: str, color: str, settings: KeepOptions
) -> Spread:
    """The spread of a silver set, from its stored score bins: a million pairs cost no more than ten."""
    counts = silver_score_counts(workspace, found.id)
    centres = bin_centres(len(counts))
    return spread(name, color, centres, counts, settings, key=found.id, passes=found.passes)


def bin_centres(bins: int) -> np.ndarray:
    """Where the scores of stored bins are drawn."""
    return (np.arange(bins) + 0.5) / bins


def why_no_density(name: str, counts: np.ndarray) -> str:
    """Why these scores have no smooth density: too few different ones. Empty when they have one."""
    total, distinct = int(counts.sum()), int(np.count_nonzero(counts))
    if total == 0:
        return f"{name}: there are no pairs to draw."
    if total == 1:
        return f"{name}: a single pair has no density, so it is a spike."
    if distinct == 1:
        return (
            f"{name}: all {total:,} scores are the same, so there is no density and a spike is drawn. A labeler "
            "that cannot tell pairs apart needs more, or more varied, gold pairs."
        )
    if distinct == 2:
        return (
            f"{name}: the scores take only two values, so spikes show the share of pairs in place of a density, "
            "and KL is left out."
        )
    return ""


def distances(gold: Spread, other: Spread) -> Distances:
    """How far a set lies from gold; KL needs a density on both sides."""
    if not gold.n or not other.n:
        return Distances(None, None, None)
    both = (gold.scores, gold.counts, other.scores, other.counts)
    kl = (
        divergence(gold.heights, other.heights, GRID)
        if gold.heights is not None and other.heights is not None
        else None
    )
    return Distances(
        kl, float(densities.wasserstein_distance(*both)), float(densities.ks_distance(*both))
    )


def notes_of(found: Sequence[Spread]) -> list[str]:
    """Why some of them are drawn as spikes."""
    return [one.note for one in found if one.note]
