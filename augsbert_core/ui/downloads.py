"""What can be taken away from a page: figures as HTML, data, PNG or SVG, and files that are made when asked for."""

import html
import re
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.exporting.files import to_csv
from augsbert_core.pairs import ScoreRange
from augsbert_core.ui.figures import draw
from augsbert_core.ui.widgets import as_text

FORMAT = "figure-format"
FORMATS = {"png": "PNG", "svg": "SVG"}
IMAGE_WIDTH = 1200
INK, PAPER = "#22282b", "#ffffff"


def made_file(write: Callable[[Path], object], name: str) -> bytes:
    """The content of a file that a function writes to a path; for download buttons that make it when pressed.

    A large file is written bit by bit to the disk, so that it is in memory once only.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(path)
        return path.read_bytes()


def made_or_told(write: Callable[[Path], object], name: str, told: list[str]) -> bytes:
    """As `made_file`; why it fails, in a user's words, goes to `told`, from where `show_told` shows it.

    Streamlit makes such a file outside of the page's run, and says only that it could not.
    """
    told.clear()
    try:
        return made_file(write, name)
    except WorkbenchError as error:
        told.append(str(error))
        raise


@st.fragment(run_every=2.0)
def show_told(told: list[str]) -> None:
    """Below a download button: why its file could not be made, soon after it was pressed."""
    for why in told:
        st.error(as_text(why), icon=":material/error:")


def show_figure(
    figure: go.Figure,
    *,
    key: str,
    title: str,
    name: str,
    alt: str,
    on_range: Callable[[float, float], None] | None = None,
    scale: ScoreRange | None = None,
) -> None:
    """Draw a figure below its title, with a popover to download it.

    name: of the files, without an ending. on_range: called with a range of raw scores of `scale` when
    someone drags over the figure, and with the whole scale at a double click.
    """
    with st.container(horizontal=True, vertical_alignment="center", wrap=False):
        st.markdown(f"**{title}**", width="stretch")
        with st.popover(
            "Figure",
            icon=":material/download:",
            key=f"{key}-figure",
            help="Save this figure: live in a browser, or as an image for a paper or slides.",
        ):
            _downloads(figure, key, name)
    shown = go.Figure(figure).update_layout(paper_bgcolor=_ground())
    config = image_config(name, st.session_state.get(FORMAT, "png"), figure.layout.height)
    if on_range is None or scale is None:
        draw(shown, key=key, alt=alt, config=config)
        return
    draw(
        shown,
        key=key,
        alt=alt,
        selection_mode="box",
        on_select=partial(_selected, key, scale, on_range),
        config=config,
    )


def _selected(key: str, scale: ScoreRange, on_range: Callable[[float, float], None]) -> None:
    boxes = st.session_state[key]["selection"]["box"]
    if boxes:
        low, high = sorted(float(value) for value in boxes[0]["x"])
        on_range(max(low, scale.low), min(high, scale.high))
    else:
        on_range(scale.low, scale.high)


def _downloads(figure: go.Figure, key: str, name: str) -> None:
    st.download_button(
        "HTML, works offline",
        partial(figure_html, figure, name),
        file_name=f"{file_stem(name)}.html",
        mime="text/html",
        icon=":material/html:",
        key=f"{key}-html",
        on_click="ignore",
        width="stretch",
        help="The live figure in one file of about 5 MB; it needs no net.",
    )
    st.download_button(
        "Data as CSV",
        partial(figure_csv, figure),
        file_name=f"{file_stem(name)}.csv",
        mime="text/csv",
        icon=":material/table:",
        key=f"{key}-csv",
        on_click="ignore",
        width="stretch",
        help="Every curve, point by point.",
    )
    st.session_state.setdefault(FORMAT, "png")
    st.segmented_control(
        "The figure's camera button saves",
        list(FORMATS),
        format_func=FORMATS.__getitem__,
        required=True,
        key=f"{key}-format",
        default=st.session_state[FORMAT],
        on_change=lambda: st.session_state.update({FORMAT: st.session_state[f"{key}-format"]}),
        help="Point at the figure: the camera is at its upper right. SVG can be edited and scaled; PNG goes "
        "anywhere.",
    )


def image_config(name: str, image_format: str, height: int | None) -> dict[str, Any]:
    """Plotly's configuration: no logo, few buttons, and pictures large enough for a slide."""
    return {
        "displaylogo": False,
        "modeBarButtonsToRemove": ["lasso2d", "zoomIn2d", "zoomOut2d", "autoScale2d"],
        "toImageButtonOptions": {
            "format": image_format,
            "filename": file_stem(name),
            "width": IMAGE_WIDTH,
            "height": round(1.4 * (height or 340)),
            "scale": 2,
        },
    }


def file_stem(name: str) -> str:
    """A file name without what file systems dislike."""
    return re.sub(r"[^\w.+-]+", "-", name).strip("-.") or "figure"


def figure_html(figure: go.Figure, name: str) -> bytes:
    """The figure as one HTML file with Plotly inside, dark on white."""
    copy = go.Figure(figure).update_layout(
        template="plotly_white",
        paper_bgcolor=PAPER,
        plot_bgcolor=PAPER,
        font={"color": INK, "size": 14, "family": "sans-serif"},
        margin={"l": 60, "r": 30, "t": 60, "b": 60},
        dragmode="zoom",
        height=round(1.4 * (figure.layout.height or 340)),
    )
    text = copy.to_html(
        include_plotlyjs=True, full_html=True, config=image_config(name, "svg", copy.layout.height)
    )
    return text.replace("<head>", f"<head><title>{html.escape(name)}</title>", 1).encode("utf-8")


def figure_csv(figure: go.Figure) -> bytes:
    """Every point of every curve: what it measures, the curve, x and y."""
    return to_csv(("measure", "curve", "x", "y"), figure_rows(figure))


def figure_rows(figure: go.Figure) -> Iterator[tuple[str, str, object, object]]:
    """The points of a figure as rows."""
    for trace in figure.data:
        axis = figure.layout[(trace.yaxis or "y").replace("y", "yaxis", 1)]
        if trace.yaxis == "y2" and trace.hoverinfo == "skip":
            continue  # the rug repeats pairs that the curve has counted
        measure = trace.meta or axis.title.text or ""
        name = html.unescape(str(trace.name or ""))
        for x, y in zip(trace.x, trace.y, strict=True):
            yield str(measure), name, _number(x), _number(y)


def _number(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value


def _ground() -> str:
    """The ground of the page, so that a picture saved from a dark screen keeps its light text readable."""
    theme = st.context.theme.type
    color = st.get_option(f"theme.{theme}.backgroundColor") if theme else None
    return str(color or "rgba(0,0,0,0)")
