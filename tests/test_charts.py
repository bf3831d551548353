"""Figures are built from plain arrays and frames, and can be checked without a browser."""

import numpy as np
import pandas as pd
import pytest

from augsbert_core import charts
from augsbert_core.pairs import ScoreRange

STS = ScoreRange(0.0, 5.0)


def test_histogram_figure_counts_every_pair_once_and_stacks_splits() -> None:
    values = {"train": np.array([0.0, 0.5, 1.0]), "test": np.array([0.5])}
    figure = charts.histogram_figure(values, STS)
    assert [sum(trace.y) for trace in figure.data] == [3, 1]
    assert figure.layout.barmode == "stack"
    assert figure.data[0].x[np.flatnonzero(figure.data[0].y)].tolist() == [0.0, 2.5, 5.0]
    assert [trace.marker.color for trace in figure.data] == [
        charts.GOLD_SHADES["train"],
        charts.GOLD_SHADES["test"],
    ]


@pytest.mark.parametrize("half", range(11))
def test_a_bar_stands_on_the_score_that_people_gave(half: int) -> None:
    """Halves of a 0 to 5 scale, divided by 5, are binary fractions: none may slip to its neighbour."""
    figure = charts.histogram_figure({"train": np.array([half / 2 / 5] * 7)}, STS)
    (place,) = np.flatnonzero(figure.data[0].y)
    assert figure.data[0].x[place] == pytest.approx(half / 2)
    assert figure.data[0].y[place] == 7


def test_curves_figure_puts_loss_before_the_dev_score_and_leaves_the_learning_rate_out() -> None:
    steps = np.array([1, 2, 3])
    figure = charts.curves_figure(
        {
            "learning_rate": (steps, steps * 1e-5),
            "dev_score": (steps, steps / 10),
            "loss": (steps, 1 / steps),
        }
    )
    assert [trace.name for trace in figure.data] == ["Training loss", "Score on dev × 100"]
    assert figure.data[1].y.tolist() == pytest.approx([10, 20, 30])


def test_labelling_speed_runs_along_pairs_not_optimiser_steps() -> None:
    figure = charts.curves_figure(
        {"pairs_per_second": (np.array([64, 128]), np.array([90.0, 95.0]))}
    )
    assert figure.layout.xaxis.title.text == "Pairs labelled"


def test_curves_figure_without_points_is_an_empty_figure() -> None:
    assert len(charts.curves_figure({}).data) == 0
    assert len(charts.curves_figure({"loss": (np.array([]), np.array([]))}).data) == 0


def comparison_rows() -> pd.DataFrame:
    columns = ["name", "kind", "value", "low", "high", "comparable"]
    return pd.DataFrame(
        [
            ["Untrained <b>base</b>", "untrained", 0.56, 0.52, 0.60, True],
            ["Gold only", "gold-only", 0.70, 0.67, 0.73, True],
            ["AugSBERT", "augsbert", 0.73, 0.70, 0.76, True],
            ["Broken", "augsbert", None, None, None, True],
            ["Other seed", "augsbert", 0.71, None, None, False],
        ],
        columns=columns,
    )


def test_comparison_figure_draws_values_with_intervals_and_no_dot_for_undefined() -> None:
    figure = charts.comparison_figure(comparison_rows(), "Spearman")

    names = [name for trace in figure.data for name in trace.y]
    assert "Broken" not in names
    gold = next(trace for trace in figure.data if trace.name == "gold-only")
    assert gold.x[0] == pytest.approx(70.0)
    assert gold.error_x.array[0] == pytest.approx(3.0)
    assert gold.marker.color == charts.COLORS["gold"]
    silver = next(trace for trace in figure.data if trace.name == "augsbert")
    assert list(silver.marker.symbol) == ["circle", "circle-open"]
    assert figure.layout.shapes[0].x0 == pytest.approx(56.0)


def test_names_of_models_and_files_are_never_markup() -> None:
    figure = charts.comparison_figure(comparison_rows(), "Spearman")
    assert figure.data[0].y[0] == "Untrained &lt;b&gt;base&lt;/b&gt;"


def test_comparison_figure_of_undefined_values_only_is_empty() -> None:
    rows = comparison_rows().query("name == 'Broken'")
    assert len(charts.comparison_figure(rows, "Spearman").data) == 0


def test_comparison_figure_writes_mean_and_spread_and_marks_the_reference() -> None:
    rows = comparison_rows().assign(sd=[None, 0.01, None, None, None])
    figure = charts.comparison_figure(rows, "Spearman", reference=0.70)
    spread = next(trace for trace in figure.data if trace.name == "gold-only ± sd")
    assert spread.error_x.array[0] == pytest.approx(1.0)
    written = [note.text for note in figure.layout.annotations]
    assert "70.0 ± 1.0" in written
    assert "73.0" in written
    assert sorted(shape.x0 for shape in figure.layout.shapes) == pytest.approx([56.0, 70.0])


def test_agreement_figure_draws_few_points_and_the_means_of_all() -> None:
    rng = np.random.default_rng(0)
    gold = rng.random(5000)
    figure = charts.agreement_figure(gold, gold**2, STS)
    points, line = figure.data
    assert len(points.x) == charts.MOST_POINTS
    assert len(line.x) == 10
    assert np.all(np.diff(line.y) > 0), "a perfect order gives a line that only climbs"
    assert line.y[-1] == pytest.approx(5 * np.mean(np.sort(gold)[-500:]))
    assert len(charts.agreement_figure(gold[:4], gold[:4], STS).data) == 1, "too few for a line"


def test_threshold_figure_marks_the_chosen_threshold() -> None:
    curve = {"threshold": [0.1, 0.5], "f1": [0.4, 0.8], "precision": [0.3, 0.9], "recall": [1, 0.7]}
    figure = charts.threshold_figure(curve, 0.45)
    assert [trace.name for trace in figure.data] == ["F1", "Precision", "Recall"]
    assert list(figure.data[0].y) == [40.0, 80.0]
    assert figure.layout.shapes[0].x0 == 0.45
    assert not charts.threshold_figure(curve, None).layout.shapes


def curve(name: str, role: str, heights: np.ndarray | None, **more: object) -> charts.Curve:
    scores, counts = np.array([0.0, 0.25, 1.0]), np.array([50.0, 30.0, 20.0])
    return charts.Curve(name, charts.COLORS[role], scores, counts, heights, **more)


def test_overlay_shows_the_raw_scale_with_area_one() -> None:
    grid = np.linspace(0, 1, 257)
    curves = [curve("gold", "gold", np.ones(257)), curve("silver", "silver", 2 * grid)]

    figure = charts.overlay_figure(grid, curves, STS)

    for trace in figure.data:
        assert (trace.x[0], trace.x[-1]) == (0.0, 5.0)
        assert np.trapezoid(trace.y, trace.x) == pytest.approx(1.0)
    assert figure.data[0].line.color == charts.COLORS["gold"]
    assert figure.data[1].line.color == charts.COLORS["silver"]
    assert figure.layout.paper_bgcolor == "rgba(0,0,0,0)"


def test_overlay_can_be_dragged_over() -> None:
    grid = np.linspace(0, 1, 5)
    curves = [curve("gold", "gold", np.ones(5))]
    assert charts.overlay_figure(grid, curves, STS, selectable=True).layout.dragmode == "select"
    assert charts.overlay_figure(grid, curves, STS).layout.dragmode is None


def test_overlay_draws_curves_on_one_axis_and_golds_of_others_dashed() -> None:
    grid = np.linspace(0, 1, 257)
    shown = [
        curve("gold", "gold", np.ones(257)),
        curve("silver", "silver", 2 * (1 - grid)),
        curve("Gold of <i>B</i>", "gold", 2 * grid, dash=True),
    ]
    figure = charts.overlay_figure(grid, shown, STS)
    assert [trace.name for trace in figure.data] == [
        "gold",
        "silver",
        "Gold of &lt;i&gt;B&lt;/i&gt;",
    ]
    assert [trace.line.dash for trace in figure.data] == ["solid", "solid", "dash"]
    assert all(np.trapezoid(trace.y, trace.x) == pytest.approx(1.0) for trace in figure.data)
    assert all(trace.fill == "tozeroy" for trace in figure.data)
    assert {trace.fill for trace in charts.overlay_figure(grid, shown, STS, fill=False).data} == {
        None
    }


def test_overlay_draws_spikes_on_an_axis_of_their_own_beside_densities() -> None:
    grid = np.linspace(0, 1, 257)
    spiky = curve("labels", "silver", None)
    figure = charts.overlay_figure(grid, [curve("gold", "gold", np.ones(257)), spiky], STS)
    assert figure.data[1].x.tolist() == [0.0, 1.25, 5.0]
    assert figure.data[1].y.tolist() == [50.0, 30.0, 20.0]
    assert figure.data[1].yaxis == "y3"
    assert "Share" in figure.layout.yaxis3.title.text
    alone = charts.overlay_figure(grid, [spiky], STS)
    assert alone.data[0].yaxis == "y"
    assert "Share" in alone.layout.yaxis.title.text


def test_histogram_bars_inside_the_scale_have_area_one() -> None:
    grid = np.linspace(0, 1, 257)
    figure = charts.overlay_figure(
        grid, [curve("gold", "gold", np.ones(257))], STS, histogram=True, bins=20
    )
    bars = figure.data[0]
    width = np.full(21, 5 / 20)
    width[[0, -1]] /= 2  # half of these two bars lies outside the axis
    assert bars.type == "bar"
    assert np.sum(bars.y * width) == pytest.approx(1.0)


def test_the_rug_shows_a_bounded_number_of_pairs_in_proportion() -> None:
    grid = np.linspace(0, 1, 257)
    many = charts.Curve(
        "silver", charts.COLORS["silver"], np.array([0.2, 0.8]), np.array([750_000, 250_000]), grid
    )
    few = charts.Curve("gold", charts.COLORS["gold"], np.array([0.5]), np.array([3]), grid)
    figure = charts.overlay_figure(grid, [many, few], STS, rug=True)
    rugs = [trace for trace in figure.data if trace.yaxis == "y2"]
    sizes = {trace.name: len(trace.x) for trace in rugs}
    assert sizes == {"silver": 200, "gold": 3}
    silver = next(trace for trace in rugs if trace.name == "silver")
    assert np.count_nonzero(silver.x == 1.0) == 150


def test_keep_figure_shows_what_is_kept_above_the_chance_of_being_kept() -> None:
    grid = np.linspace(0, 1, 257)
    gold, pool = np.ones(257), 2 * (1 - grid)
    chance = np.minimum(1, 0.5 * gold / np.maximum(pool, 1e-9))
    figure = charts.keep_figure(grid, gold, pool, gold, pool, chance, STS, selectable=True)
    by_name = {trace.name: trace for trace in figure.data}
    assert np.trapezoid(by_name["Pool"].y, by_name["Pool"].x) == pytest.approx(1.0)
    assert by_name["Kept, expected"].line.dash == "dot"
    assert by_name["Chance of being kept"].yaxis == "y2"
    assert by_name["Chance of being kept"].y.max() == 1.0
    assert figure.layout.dragmode == "select"
    nothing = charts.keep_figure(grid, gold, pool, gold, None, chance, STS)
    assert "Kept" not in {trace.name for trace in nothing.data}


def test_class_figure_marks_the_threshold_on_the_raw_scale() -> None:
    pool = (np.array([0.0, 0.4, 0.8]), np.array([90, 8, 2]))
    kept = (np.array([0.0, 0.8]), np.array([4, 2]))
    figure = charts.class_figure(pool, kept, 0.6, STS)
    assert figure.layout.shapes[0].x0 == pytest.approx(3.0)
    assert [int(trace.y.sum()) for trace in figure.data] == [100, 6]
    assert figure.layout.barmode == "overlay"


def test_path_figure_has_a_panel_for_closeness_and_one_for_size() -> None:
    cs = np.array([0.01, 0.1, 1.0])
    expected = charts.Path(cs, np.array([10.0, 100.0, 900.0]), np.array([0.01, 0.1, 0.5]))
    realised = charts.Path(cs, np.array([0, 98, 903]), np.array([np.nan, 0.12, 0.5]))
    present = charts.Path(np.array([0.1]), np.array([98]), np.array([0.12]))
    figure = charts.path_figure(expected, realised, present, 2.0)
    assert [trace.meta for trace in figure.data] == 3 * ["KL(gold‖kept), nats"] + 3 * ["Pairs kept"]
    rings = [trace for trace in figure.data if trace.name.startswith("Realised")]
    assert [list(trace.x) for trace in rings] == [[0.1, 1.0], [0.1, 1.0]], "no point for nothing"
    assert figure.layout.shapes[0].y0 == 2.0
    assert figure.layout.xaxis.type == figure.layout.xaxis2.type == "log"


def test_top_k_goes_from_pale_to_deep_silver_over_gold() -> None:
    grid = np.linspace(0, 1, 257)
    figure = charts.top_k_figure(grid, np.ones(257), {3: np.ones(257), 5: 2 * grid}, STS)
    assert [trace.name for trace in figure.data] == ["k = 3", "k = 5", "Gold (train)"]
    assert [trace.line.color for trace in figure.data[:2]] == charts.ramp(2)
    panels = charts.top_k_panels([3, 5], [30, 50], [0.5, None], 2.5, 0.6)
    assert list(panels.data[0].y) == [30, 50]
    assert list(panels.data[1].y) == [50.0, None]
    assert "≥ 2.5" in panels.layout.annotations[1].text


def _contrast(color: str, other: str) -> float:
    def luminance(text: str) -> float:
        parts = np.array([int(text[start : start + 2], 16) / 255 for start in (1, 3, 5)])
        linear = np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    light, dark = sorted([luminance(color), luminance(other)], reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("color", [*charts.SILVER_HUES, *charts.OTHER_GOLDS])
def test_every_hue_of_gold_and_silver_is_visible_on_white_and_on_near_black(color: str) -> None:
    assert _contrast(color, "#FFFFFF") >= 2.3
    assert _contrast(color, "#14171C") >= 3.0


@pytest.mark.parametrize("role", sorted(charts.COLORS))
def test_every_colour_is_readable_on_white_and_on_near_black(role: str) -> None:
    assert _contrast(charts.COLORS[role], "#FFFFFF") >= 2.4
    assert _contrast(charts.COLORS[role], "#14171C") >= 3.0
