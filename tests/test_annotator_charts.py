"""Figures about annotators: what is drawn where, in the units that people read."""

import numpy as np
import pytest

from augsbert_core.charts import annotators as figures
from augsbert_core.pairs import ScoreRange

STS = ScoreRange(0, 5)


def test_coefficients_with_and_without_an_interval() -> None:
    figure = figures.coefficients_figure(
        [figures.Coefficient("α", 0.7, (0.6, 0.75)), figures.Coefficient("κ", -0.2)]
    )
    (dots,) = figure.data
    assert dict(zip(dots.y, dots.x, strict=True)) == {"α": 0.7, "κ": -0.2}
    assert dots.error_x.arrayminus == pytest.approx((0.0, 0.1))
    assert dots.error_x.array == pytest.approx((0.0, 0.05))
    assert figure.layout.xaxis.range[0] < -0.2


def test_bubbles_are_as_large_as_the_share_of_a_score() -> None:
    scores = np.array([[0.0, 0.0, 0.0, 1.0], [0.5, np.nan, np.nan, np.nan]])
    ann, ann_mean, bea, bea_mean = figures.scores_by_annotator_figure(
        ["Ann", "Bea"], scores, STS
    ).data
    assert list(ann.x) == [0, 5]
    assert [tuple(row) for row in ann.customdata] == [(3, 75), (1, 25)]
    assert ann.marker.size[0] > ann.marker.size[1]
    assert (ann_mean.x[0], bea_mean.x[0], list(bea.x)) == (1.25, 2.5, [2.5])


def test_a_bias_is_drawn_on_the_raw_scale_and_an_unknown_one_not_at_all() -> None:
    (dots,) = figures.bias_figure(["Ann", "Bea"], [0.1, None], [0.2, None], STS).data
    assert list(dots.x) == [0.5]
    assert list(dots.error_x.array) == [1.0]
    assert list(dots.y) == ["Ann"]


def test_two_annotators_are_counted_where_both_scored() -> None:
    first, second = np.array([0.2, 0.2, 0.4, np.nan]), np.array([0.4, 0.4, 0.4, 0.0])
    _, dots = figures.two_annotators_figure(first, second, ("Ann", "Bea"), STS).data
    assert list(zip(dots.x, dots.y, dots.customdata, strict=True)) == [(1, 2, 2), (2, 2, 1)]


def test_appearances_are_counted() -> None:
    (bars,) = figures.appearances_figure(np.array([4, 4, 3, 4])).data
    assert dict(zip(bars.x, bars.y, strict=True)) == {3: 1, 4: 3}


def test_long_names_stay_apart_and_are_no_markup() -> None:
    labels = figures.labels_of(["a" * 40 + "1", "a" * 40 + "2", "<b>Ann</b>"])
    assert len(set(labels)) == 3
    assert labels[2] == "&lt;b&gt;Ann&lt;/b&gt;"
