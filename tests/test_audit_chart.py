"""The points of an audit stay on their side of the boundaries that they are read against."""

import numpy as np

from augsbert_core.charts.audit import audit_figure
from augsbert_core.pairs import ScoreRange


def test_no_point_is_moved_off_the_scale_or_over_the_threshold() -> None:
    n = 400
    human = np.tile([0.0, 0.5, 1.0, 0.4999], n // 4)
    figure = audit_figure(
        np.full(n, 0.7), human, np.zeros(n, int), [("a", "b")] * n, ScoreRange(0, 5), 0.5, seed=3
    )
    points = next(trace for trace in figure.data if trace.mode == "markers")
    shown, people = np.array(points.x), 5 * human
    assert shown.min() >= 0
    assert shown.max() <= 5
    assert np.array_equal(shown < 2.5, people < 2.5)
    assert len(np.unique(shown[people == 0])) > 50, "they are still told apart"
