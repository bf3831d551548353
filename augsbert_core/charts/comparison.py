"""The compare table as dots with intervals."""

import pandas as pd
import plotly.graph_objects as go

from augsbert_core.charts.look import COLORS, FAINT, KIND_COLORS, finish, plain


def comparison_figure(rows: pd.DataFrame, metric: str) -> go.Figure:
    """One dot per model with its 95 % interval, times 100; the untrained model is a dashed line through all.

    rows: name, kind, value (None when undefined), low, high, comparable. Undefined values have no dot. Rows
    that are not comparable are drawn hollow. metric: its name for the axis.
    """
    shown = rows[rows["value"].notna()]
    figure = go.Figure()
    for kind in dict.fromkeys(shown["kind"]):
        part = shown[shown["kind"] == kind]
        values = 100 * part["value"].astype(float)
        color = KIND_COLORS.get(kind, COLORS["silver2"])
        figure.add_scatter(
            x=values,
            y=[plain(name) for name in part["name"]],
            name=plain(kind),
            mode="markers",
            marker={
                "size": 13,
                "color": color,
                "symbol": [_symbol(kind, bool(fit)) for fit in part["comparable"]],
                "line": {"width": 2, "color": color},
            },
            error_x={
                "type": "data",
                "array": (100 * part["high"].astype(float) - values).fillna(0.0),
                "arrayminus": (values - 100 * part["low"].astype(float)).fillna(0.0),
                "thickness": 2,
                "width": 6,
                "color": color,
            },
            hovertemplate="%{y}: %{x:.1f}",
        )
    for value in shown.loc[shown["kind"] == "untrained", "value"].head(1):
        figure.add_vline(
            x=100 * float(value),
            line={"dash": "dash", "width": 1.5, "color": COLORS["neutral"]},
            annotation={"text": "untrained", "font": {"color": COLORS["neutral"], "size": 12}},
            annotation_position="top",
        )
    order = [plain(name) for name in shown["name"]]
    figure.update_yaxes(
        categoryorder="array", categoryarray=order[::-1], automargin=True, gridcolor=FAINT
    )
    figure.update_xaxes(title=f"{metric} × 100", gridcolor=FAINT, zeroline=False)
    finish(figure, height=130 + 38 * max(len(order), 2), hover="closest")
    return figure.update_layout(showlegend=False, margin={"t": 30})


def _symbol(kind: str, comparable: bool) -> str:
    shape = {"gold-only, equal steps": "diamond", "cross-encoder": "square"}.get(kind, "circle")
    return shape if comparable else f"{shape}-open"
