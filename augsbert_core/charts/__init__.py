"""Figures: arrays and frames in, Plotly figures out.

Backgrounds are transparent and text colours are left to the page, so that one figure reads well on a light and on
a dark screen. Gold is always the same amber, silver always the same steel blue.
"""

from augsbert_core.charts.agreement import MOST_POINTS, agreement_figure
from augsbert_core.charts.comparison import comparison_figure
from augsbert_core.charts.experiments import learning_curve_figure, seeds_figure
from augsbert_core.charts.keep import Path, class_figure, keep_figure, path_figure
from augsbert_core.charts.look import (
    COLORS,
    CURVE_TITLES,
    GOLD_SHADES,
    KIND_COLORS,
    OTHER_GOLDS,
    SILVER_HUES,
    ramp,
)
from augsbert_core.charts.scores import histogram_figure
from augsbert_core.charts.spreads import Curve, overlay_figure
from augsbert_core.charts.thresholds import threshold_figure
from augsbert_core.charts.top_k import top_k_figure, top_k_panels
from augsbert_core.charts.training import curves_figure

__all__ = [
    "COLORS",
    "CURVE_TITLES",
    "GOLD_SHADES",
    "KIND_COLORS",
    "MOST_POINTS",
    "OTHER_GOLDS",
    "SILVER_HUES",
    "Curve",
    "Path",
    "agreement_figure",
    "class_figure",
    "comparison_figure",
    "curves_figure",
    "histogram_figure",
    "keep_figure",
    "learning_curve_figure",
    "overlay_figure",
    "path_figure",
    "ramp",
    "seeds_figure",
    "threshold_figure",
    "top_k_figure",
    "top_k_panels",
]
