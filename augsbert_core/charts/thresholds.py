"""What each decision threshold would give."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from augsbert_core.charts.look import COLORS, FAINT, finish

LINES = (
    ("f1", "F1", COLORS["silver"], "solid"),
    ("precision", "Precision", COLORS["silver3"], "dash"),
    ("recall", "Recall", COLORS["silver2"], "dot"),
)


def threshold_figure(curve: Mapping[str, Sequence[float]], chosen: float | None) -> go.Figure:
    """F1, precision and recall against the threshold, times 100, with the chosen threshold as a line.

    curve: "threshold", "f1", "precision" and "recall", parallel, thresholds ascending.
    """
    figure = go.Figure()
    for key, name, color, dash in LINES:
        figure.add_scatter(
            x=curve["threshold"],
            y=[100 * value for value in curve[key]],
            name=name,
            mode="lines",
            line={"color": color, "width": 3 if key == "f1" else 2, "dash": dash},
            hovertemplate=name + " %{y:.1f} from %{x:.3f} on",
        )
    if chosen is not None:
        figure.add_vline(
            x=chosen,
            line={"dash": "dash", "width": 1.5, "color": COLORS["gold"]},
            annotation={
                "text": f"chosen: {chosen:.3f}",
                "font": {"size": 12},
            },
            annotation_position="top right",
        )
    figure.update_xaxes(title="A pair is positive from this score on", gridcolor=FAINT)
    figure.update_yaxes(title="On dev × 100", range=[0, 102])
    return finish(figure, height=380, hover="x unified")
