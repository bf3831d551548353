"""Colours that can be read and told apart, and words for every figure and table."""

import ast
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from augsbert_core import charts
from augsbert_core.charts import look
from augsbert_core.charts.describe import numbers_of
from augsbert_core.pairs import ScoreRange
from augsbert_core.ui import best_worst_view, style
from augsbert_core.ui.figures import alt_text
from augsbert_core.ui.score_strip import ROLES

ROOT = Path(__file__).parent.parent
TEXT, GRAPHIC = 4.5, 3.0
"""WCAG 2.2 AA: contrast of text, and of large text and what must be seen to understand a figure."""

APART = 20.0
"""CIE76; 2.3 is a difference that is just noticed, side by side."""

THEME: dict[str, Any] = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"]
MODES = ("light", "dark")

SEES = {
    "all colours": np.eye(3),
    # Machado, Oliveira and Fernandes (2009), severity 1.0, for linear RGB.
    "no long waves (protanopia)": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "no middle waves (deuteranopia)": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "no short waves (tritanopia)": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)


def linear(color: str) -> np.ndarray:
    """ "#rrggbb" as linear RGB."""
    parts = np.array([int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(color: str, other: str) -> float:
    """The contrast ratio of WCAG, 1 to 21."""
    dark, light = sorted(float(linear(one) @ TO_XYZ[1]) for one in (color, other))
    return (light + 0.05) / (dark + 0.05)


def mixed(color: str, ground: str, share: float) -> str:
    """A colour of which only a share covers the ground."""
    parts = [
        round(share * int(color[at : at + 2], 16) + (1 - share) * int(ground[at : at + 2], 16))
        for at in (1, 3, 5)
    ]
    return "#" + "".join(f"{part:02x}" for part in parts)


def lab(color: str, sees: str) -> np.ndarray:
    """CIE Lab of a colour as such eyes see it."""
    xyz = TO_XYZ @ np.clip(SEES[sees] @ linear(color), 0, 1) / np.array([0.95047, 1.0, 1.08883])
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def distance(color: str, other: str, sees: str) -> float:
    return float(np.linalg.norm(lab(color, sees) - lab(other, sees)))


def ground(mode: str) -> str:
    return str(THEME[mode]["backgroundColor"])


def test_contrast_and_distance_agree_with_known_values() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert distance("#000000", "#ffffff", "all colours") == pytest.approx(100.0, abs=0.1)
    red_and_green = ("#c04030", "#6a7a20")
    assert distance(*red_and_green, "all colours") > 2 * distance(
        *red_and_green, "no middle waves (deuteranopia)"
    )


@pytest.mark.parametrize("mode", MODES)
def test_texts_of_the_theme_are_readable_on_all_its_grounds(mode: str) -> None:
    theme = THEME[mode]
    for place in (theme, theme["sidebar"]):
        for name in ("backgroundColor", "secondaryBackgroundColor"):
            assert contrast(theme["textColor"], place[name]) >= TEXT
            assert contrast(theme["linkColor"], place[name]) >= TEXT
    assert contrast(theme["primaryColor"], ground(mode)) >= TEXT, "selected tabs, slider values"
    assert contrast(theme["primaryColor"], theme["secondaryBackgroundColor"]) >= GRAPHIC
    assert contrast("#ffffff", theme["primaryColor"]) >= GRAPHIC, "ticks, knobs"


@pytest.mark.parametrize("mode", MODES)
def test_our_own_styles_are_readable(mode: str) -> None:
    text = THEME[mode]["textColor"]
    assert contrast("#ffffff", style.BUTTON) >= TEXT
    assert contrast(style.BUTTON, ground(mode)) >= GRAPHIC
    for name in ("backgroundColor", "secondaryBackgroundColor"):
        assert contrast(style.RING, THEME[mode][name]) >= GRAPHIC, "the ring of the focus"
        assert contrast(style.RING, THEME[mode]["sidebar"][name]) >= GRAPHIC
    opacities = re.findall(r"opacity: (0?\.\d+)", style.STYLE + best_worst_view.STYLE)
    assert opacities
    for opacity in map(float, opacities):
        for name in ("backgroundColor", "secondaryBackgroundColor"):
            below = THEME[mode][name]
            assert contrast(mixed(text, below, opacity), below) >= TEXT, (opacity, name)


def test_white_is_readable_on_every_ground_that_our_html_gives_it() -> None:
    grounds = re.findall(r"color: #fff; background: (#[0-9a-f]{6})", best_worst_view.STYLE)
    assert grounds
    assert all(contrast("#ffffff", found) >= TEXT for found in grounds)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "color",
    sorted(
        {
            *charts.COLORS.values(),
            *charts.GOLD_SHADES.values(),
            *charts.KIND_COLORS.values(),
            *charts.OTHER_GOLDS,
            *charts.SILVER_HUES,
            *charts.ramp(5),
            *ROLES.values(),
        }
    ),
)
def test_every_colour_of_figures_is_seen_on_the_ground(color: str, mode: str) -> None:
    assert contrast(color, ground(mode)) >= GRAPHIC


@pytest.mark.parametrize("mode", MODES)
def test_colours_of_streamlits_own_charts_are_seen_on_the_ground(mode: str) -> None:
    for color in THEME[mode]["chartCategoricalColors"]:
        assert contrast(color, ground(mode)) >= GRAPHIC


@pytest.mark.parametrize("sees", SEES)
def test_gold_and_silver_are_told_apart_by_all_eyes(sees: str) -> None:
    for gold in (*charts.GOLD_SHADES.values(), *charts.OTHER_GOLDS):
        for silver in (*charts.SILVER_HUES, *charts.ramp(5)):
            assert distance(gold, silver, sees) >= APART, (gold, silver)
    for role in ("cross-encoder", "silver2", "silver3", "neutral"):
        assert distance(charts.COLORS["gold"], charts.COLORS[role], sees) >= APART, role


def test_splits_are_told_apart_by_patterns_as_well() -> None:
    values = {name: np.array([0.5]) for name in charts.GOLD_SHADES}
    bars = charts.histogram_figure(values, ScoreRange(0.0, 5.0)).data
    assert len({bar.marker.pattern.shape for bar in bars}) == len(charts.GOLD_SHADES)


def test_texts_in_figures_take_the_colour_of_the_page() -> None:
    """No colour of a line has enough contrast for small text on both grounds."""
    curve = {"threshold": [0.1, 0.5], "f1": [0.4, 0.8], "precision": [0.3, 0.9], "recall": [1, 0.7]}
    figures = [
        charts.threshold_figure(curve, 0.45),
        charts.top_k_panels([3, 5], [30, 50], [0.5, None], 2.5, 0.6),
        charts.class_figure(
            *[(np.array([0.1, 0.9]), np.array([9, 2]))] * 2, 0.5, look.ScoreRange(0, 5)
        ),
    ]
    for figure in figures:
        assert figure.layout.annotations
        assert all(note.font.color is None for note in figure.layout.annotations)


def test_the_words_of_a_figure_name_every_curve_with_its_main_numbers() -> None:
    figure = go.Figure()
    figure.add_bar(x=[0, 2.5, 5], y=[4, 0, 1204], name="train")
    figure.add_scatter(x=np.linspace(0, 5, 101), y=np.linspace(0, 1, 101), name="Gold <i>A</i>")
    figure.add_scatter(
        x=[70.0, 72.5], y=["Gold only", "Silver &lt;b&gt;"], mode="markers", name="Ours"
    )
    figure.add_scatter(x=[1], y=[1], mode="text", text="a note")
    assert numbers_of(figure) == (
        "train: 4 at 0, 0 at 2.5, 1,204 at 5; Gold A: 0 at 0, 1 at 5, highest 1 at 5; "
        "Ours: 70 at Gold only, 72.5 at Silver <b>"
    )


def test_the_words_of_a_figure_stay_short() -> None:
    figure = go.Figure()
    for number in range(20):
        figure.add_bar(x=[0, 1], y=[1, number], name=f"set {number}")
    figure.add_scattergl(x=np.zeros(500), y=np.arange(500.0), mode="markers", name="pairs")
    assert numbers_of(figure).endswith("set 11: 1 at 0, 11 at 1; and 9 more")
    points = go.Figure(figure.data[-1:])
    assert numbers_of(points) == "pairs: 500 points, 0 to 499, on average 250"
    counts = go.Figure(go.Bar(x=np.arange(30), y=np.arange(30), name="dev"))
    assert numbers_of(counts) == "dev: 435 in all, most at 29 (29)"
    grid = go.Figure(go.Heatmap(x=[0, 1], y=[0, 5], z=[[1, 2], [3, 10]]))
    assert numbers_of(grid) == "16 in all, most (10) at 1 and 5"


def test_undefined_values_and_empty_figures_have_no_numbers() -> None:
    assert numbers_of(go.Figure()) == ""
    assert numbers_of(go.Figure(go.Scatter(x=[0, 1], y=[None, float("nan")]))) == ""
    assert numbers_of(go.Figure(go.Scatter(x=[0, 1], y=[None, 0.5], name="a"))) == "a: 0.5 at 1"
    assert alt_text(go.Figure(), "Nothing yet.") == "Nothing yet."
    figure = go.Figure(go.Bar(x=[1], y=[2], name="dev"))
    assert alt_text(figure, "Pairs by score") == "Pairs by score. dev: 2 at 1."


def calls_of(name: str) -> list[tuple[str, ast.Call]]:
    """Every call of a method of this name in pages and ui (of st or of a container), with its place."""
    files = [*(ROOT / "augsbert_core" / "ui").glob("*.py"), *(ROOT / "pages").glob("*.py")]
    return [
        (f"{path.name}:{node.lineno}", node)
        for path in files
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == name
    ]


@pytest.mark.parametrize("name", ["plotly_chart", "dataframe", "data_editor"])
def test_no_figure_and_no_table_is_without_a_name(name: str) -> None:
    found = calls_of(name)
    assert found
    bare = [place for place, call in found if "alt" not in {word.arg for word in call.keywords}]
    assert not bare, f"{name} needs alt=: {', '.join(bare)}"
