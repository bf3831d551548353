"""The compare table as dots with intervals."""

import pandas as pd
import plotly.graph_objects as go

from augsbert_core.charts.look import COLORS, FAINT, KIND_COLORS, finish, plain

ROW_HEIGHT = 36
LONGEST_NAME = 58


def comparison_figure(
    rows: pd.DataFrame, metric: str, *, reference: float | None = None
) -> go.Figure:
    """One dot per row with its 95 % interval, times 100; the untrained model is a dashed line through all.

    rows: name, kind, value (None when undefined), low, high, comparable, and where there are several seeds sd,
    drawn as a thick bar and written beside the dot. Undefined values have no dot. Rows that are not comparable are
    drawn hollow. metric: its name for the axis. reference: the score that all are held against, a dotted line.
    """
    shown = rows[rows["value"].notna()]
    figure = go.Figure()
    for kind in dict.fromkeys(shown["kind"]):
        part = shown[shown["kind"] == kind]
        figure.add_trace(_dots(part, kind))
    for kind in dict.fromkeys(shown["kind"]):
        part = shown[shown["kind"] == kind]
        if "sd" in part and part["sd"].notna().any():
            figure.add_trace(_spreads(part[part["sd"].notna()], kind))
    untrained = shown.loc[shown["kind"] == "untrained", "value"].head(1).astype(float).tolist()
    # Away from each other, or their labels would overlap.
    is_left = reference is not None and bool(untrained) and untrained[0] <= reference
    for value in untrained:
        _line(figure, 100 * value, "untrained", COLORS["neutral"], "dash", is_left)
    if reference is not None:
        _line(figure, 100 * reference, "gold only", COLORS["gold"], "dot", not is_left)
    _write_scores(figure, shown)
    order = [_short(name) for name in shown["name"]]
    figure.update_yaxes(
        categoryorder="array", categoryarray=order[::-1], automargin=True, gridcolor=FAINT
    )
    figure.update_xaxes(title=f"{metric} × 100", gridcolor=FAINT, zeroline=False)
    finish(figure, height=120 + ROW_HEIGHT * max(len(order), 2), hover="closest")
    return figure.update_layout(showlegend=False, margin={"t": 34, "r": 92})


def _dots(part: pd.DataFrame, kind: str) -> go.Scatter:
    values = 100 * part["value"].astype(float)
    color = KIND_COLORS.get(kind, COLORS["silver2"])
    return go.Scatter(
        x=values,
        y=[_short(name) for name in part["name"]],
        name=plain(kind),
        mode="markers",
        marker={
            "size": 12,
            "color": color,
            "symbol": [_symbol(kind, bool(fit)) for fit in part["comparable"]],
            "line": {"width": 2, "color": color},
        },
        error_x={
            "type": "data",
            "array": (100 * part["high"].astype(float) - values).fillna(0.0),
            "arrayminus": (values - 100 * part["low"].astype(float)).fillna(0.0),
            "thickness": 1.5,
            "width": 5,
            "color": color,
        },
        hovertemplate="%{y}: %{x:.1f}",
    )


def _spreads(part: pd.DataFrame, kind: str) -> go.Scatter:
    """Mean ± standard deviation between seeds: a thick bar under the thin interval."""
    return go.Scatter(
        x=100 * part["value"].astype(float),
        y=[_short(name) for name in part["name"]],
        name=f"{plain(kind)} ± sd",
        mode="markers",
        marker={"size": 1, "opacity": 0},
        error_x={
            "type": "data",
            "array": 100 * part["sd"].astype(float),
            "thickness": 7,
            "width": 0,
            "color": KIND_COLORS.get(kind, COLORS["silver2"]),
        },
        opacity=0.45,
        hoverinfo="skip",
    )


def _line(figure: go.Figure, x: float, text: str, color: str, dash: str, label_left: bool) -> None:
    figure.add_vline(
        x=x,
        line={"dash": dash, "width": 1.5, "color": color},
        annotation={
            "text": text,
            "font": {"size": 12},
            "y": 1.0,
            "yanchor": "bottom",
            "xanchor": "right" if label_left else "left",
        },
    )


def _write_scores(figure: go.Figure, shown: pd.DataFrame) -> None:
    """The numbers at the right edge, so that the figure can be read without the table."""
    for row in shown.to_dict("records"):
        sd = row.get("sd")
        spread = "" if sd is None or pd.isna(sd) else f" ± {100 * sd:.1f}"
        figure.add_annotation(
            x=1.0,
            xref="paper",
            xanchor="left",
            xshift=8,
            y=_short(row["name"]),
            text=f"{100 * float(row['value']):.1f}{spread}",
            showarrow=False,
            font={"size": 13},
        )


def _short(name: str) -> str:
    text = str(name)
    return plain(text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…")


def _symbol(kind: str, comparable: bool) -> str:
    shape = {
        "gold-only, equal steps": "diamond",
        "cross-encoder": "square",
        "cross-encoder student": "square",
        "labelers": "square",
    }.get(kind, "circle")
    return shape if comparable else f"{shape}-open"
