"""How the silver scores are spread beside the gold ones: figure, distance and shares (paper, fig. 4)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from augsbert_core import charts
from augsbert_core.density import density, kl_divergence, silverman_bandwidth, unit_grid
from augsbert_core.pairs import ScoreRange
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.gold import gold_scores
from augsbert_core.storage.records import Project
from augsbert_core.storage.silver import silver_score_counts

FLOOR = 1e-6
GRID_POINTS = 257


@dataclass(frozen=True)
class ScoreOverlay:
    """Gold and silver scores on one figure. kl: KL(gold‖silver) in nats, None where it says nothing.

    gold_high, silver_high: the share of scores at or above the middle of the scale, None without scores.
    """

    figure: go.Figure
    kl: float | None
    n_gold: int
    n_silver: int
    gold_high: float | None
    silver_high: float | None
    note: str
    selectable: bool


def score_overlay(
    gold: np.ndarray, silver_counts: np.ndarray, score_range: ScoreRange
) -> ScoreOverlay:
    """Lay the silver scores over the gold ones.

    gold: scores in [0, 1]. silver_counts: pairs per equal bin of [0, 1], so that a million stay quick.
    Scores without a smooth density (one value, 0/1 labels) become a histogram with a note.
    """
    bins = len(silver_counts)
    centres = (np.arange(bins) + 0.5) / bins
    counts = silver_counts.astype(np.int64)
    note = _why_no_density(gold, counts)
    if note:
        samples = {
            "Gold (train)": (gold, np.ones(len(gold)), "gold"),
            "Silver": (centres, counts.astype(np.float64), "silver"),
        }
        figure, kl = charts.shares_figure(samples, score_range), None
    else:
        grid = unit_grid(GRID_POINTS)
        spread = silverman_bandwidth(np.repeat(centres, counts))
        gold_density = density(gold, grid)
        silver_density = density(centres, grid, bandwidth=spread, weights=counts)
        kl = kl_divergence(gold_density, silver_density, grid, FLOOR)
        curves = {"Gold (train)": (gold_density, "gold"), "Silver": (silver_density, "silver")}
        figure = charts.density_figure(grid, curves, score_range, selectable=True)
    total = int(counts.sum())
    return ScoreOverlay(
        figure=figure,
        kl=kl,
        n_gold=len(gold),
        n_silver=total,
        gold_high=float(np.mean(gold >= 0.5)) if len(gold) else None,
        silver_high=float(counts[bins // 2 :].sum() / total) if total else None,
        note=note,
        selectable=not note,
    )


def _why_no_density(gold: np.ndarray, counts: np.ndarray) -> str:
    if len(gold) == 0:
        return "There are no gold training pairs to lay the silver scores over."
    if np.count_nonzero(counts) < 2:
        return (
            "All silver scores are the same, so there is no density to draw. "
            "A labeler that cannot tell pairs apart needs more, or more varied, gold pairs."
        )
    if len(np.unique(gold)) <= 2:
        return (
            "The gold scores take only two values or fewer, so shares are shown in place of a density, "
            "and KL(gold‖silver) is left out."
        )
    return ""


def score_panel(
    workspace: Workspace, project: Project, set_id: int, on_range: Callable[[float, float], None]
) -> None:
    """The overlay with its facts; dragging over it calls `on_range` with a range of raw scores."""
    overlay = score_overlay(
        gold_scores(workspace, project.id, ["train"]),
        silver_score_counts(workspace, set_id),
        project.score_range,
    )
    left, right = st.columns([3, 1], gap="medium")
    with right, st.container(border=True, height="stretch"):
        _facts(overlay, project.score_range)
    with left, st.container(border=True):
        if overlay.note:
            st.info(overlay.note, icon=":material/info:")
        key = f"silver-scores-{set_id}"
        alt = "Density of gold and silver scores over the scale of the project"
        if overlay.selectable:
            st.plotly_chart(
                overlay.figure,
                key=key,
                alt=alt,
                selection_mode="box",
                on_select=lambda: _selected(key, project.score_range, on_range),
                config={"displaylogo": False},
            )
        else:
            st.plotly_chart(overlay.figure, key=key, alt=alt, config={"displaylogo": False})
        st.caption(_caption(overlay))


def _selected(key: str, scale: ScoreRange, on_range: Callable[[float, float], None]) -> None:
    boxes = st.session_state[key]["selection"]["box"]
    if boxes:
        low, high = sorted(float(value) for value in boxes[0]["x"])
        on_range(max(low, scale.low), min(high, scale.high))
    else:
        on_range(scale.low, scale.high)


def _facts(overlay: ScoreOverlay, scale: ScoreRange) -> None:
    st.metric(
        "KL(gold‖silver)",
        "–" if overlay.kl is None else f"{overlay.kl:.2f}",
        help="How far the silver scores are from the gold ones, in nats. 0: equal. Large: parts of the scale "
        "that gold pairs cover have hardly any silver pairs.",
    )
    middle = scale.to_raw(0.5)
    st.metric(
        f"Scores ≥ {middle:g}",
        _share(overlay.silver_high),
        delta=f"gold {_share(overlay.gold_high)}",
        delta_color="off",
        delta_arrow="off",
        help="The share of silver pairs in the upper half of the scale, and the share among gold pairs.",
    )
    st.metric(
        "Silver pairs",
        f"{overlay.n_silver:,}",
        delta=f"gold {overlay.n_gold:,}",
        delta_color="off",
        delta_arrow="off",
        help="Rejected pairs are left out.",
    )


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def _caption(overlay: ScoreOverlay) -> str:
    if overlay.kl is None:
        return (
            "Share of pairs per twentieth of the scale. Corrections count, rejected pairs do not."
        )
    return (
        "Drag over the plot to see those pairs below; double-click to see all. Gaussian kernels with "
        "Silverman's bandwidth, reflected at both ends of the scale. KL in nats on a grid of "
        f"{GRID_POINTS} points, densities raised to at least 10⁻⁶. Corrections count, rejected pairs do not."
    )
