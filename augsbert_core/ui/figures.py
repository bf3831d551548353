"""The one way in which a figure comes onto a page: never without words for those who cannot see it."""

from typing import Any

import plotly.graph_objects as go
import streamlit as st

from augsbert_core.charts.describe import numbers_of


def draw(figure: go.Figure, *, key: str, alt: str, **how: Any) -> Any:
    """Draw a figure; alt says what it shows, and its main numbers are added to that by themselves.

    how: as `st.plotly_chart` takes it.
    """
    return st.plotly_chart(figure, key=key, alt=alt_text(figure, alt), **how)


def alt_text(figure: go.Figure, alt: str) -> str:
    """What a figure shows, and its main numbers."""
    numbers = numbers_of(figure)
    says = alt.strip().rstrip(".")
    return f"{says}. {numbers}." if numbers else f"{says}."
