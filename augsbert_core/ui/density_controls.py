"""How densities are estimated, as inputs: one setting for all views of the Silver page."""

import numpy as np
import streamlit as st

from augsbert_core import density as densities
from augsbert_core.options import KeepOptions
from augsbert_core.storage.records import Project
from augsbert_core.ui.recipes import keep

PAGE = "density"

NUMBER = "number"

BANDWIDTHS = {
    "robust": "Robust rule",
    "silverman": "Silverman's rule",
    "scott": "Scott's rule",
    "cross-validated": "Cross-validated",
    NUMBER: "One number",
}

KERNEL_NAMES = {
    "gaussian": "Gaussian",
    "tophat": "Top hat",
    "epanechnikov": "Epanechnikov",
    "exponential": "Exponential",
    "linear": "Linear",
    "cosine": "Cosine",
}

WIDTHS = tuple(float(f"{width:.2g}") for width in np.geomspace(0.005, 0.3, 48))
"""The bandwidths of the slider, as shares of the scale."""


def density_inputs(project: Project, gold: np.ndarray) -> KeepOptions:
    """Bandwidth, kernel and reflection. gold: the gold scores, whose bandwidth the slider shows.

    Moving the slider sets one number for all curves; choosing a rule gives each curve its own.
    """
    kernel_key, reflect_key = f"{PAGE}-{project.id}-kernel", f"{PAGE}-{project.id}-reflect"
    rule_key, width_key = f"{PAGE}-{project.id}-rule", f"{PAGE}-{project.id}-bandwidth"
    kernel = st.session_state.setdefault(kernel_key, "gaussian")
    reflect = st.session_state.setdefault(reflect_key, True)
    rule = st.selectbox(
        "Bandwidth by",
        list(BANDWIDTHS),
        format_func=BANDWIDTHS.__getitem__,
        help="How wide each kernel is: narrow shows every bump, wide hides them. A rule gives each curve its own "
        "bandwidth from its number of pairs n and its spread σ. Robust: 0.9 · min(σ, IQR/1.34) · n^(−1/5). "
        "Silverman: σ · (3n/4)^(−1/5). Scott: σ · n^(−1/5). Cross-validated: the one under which each score "
        "is likeliest given all others.",
        **keep(PAGE, project, "rule", "robust"),
    )
    if rule != NUMBER or width_key not in st.session_state:
        known = "robust" if rule == NUMBER else rule
        st.session_state[width_key] = _nearest(_gold_width(known, gold, kernel, reflect))
    width = st.select_slider(
        "Bandwidth h",
        WIDTHS,
        format_func=lambda value: f"{value:g}",
        key=width_key,
        persist_state="session",
        on_change=lambda: st.session_state.update({rule_key: NUMBER}),
        help="As a share of the scale; by a rule, that of gold. Move it to give all curves this one number.",
    )
    st.selectbox(
        "Kernel",
        densities.KERNELS,
        format_func=lambda name: KERNEL_NAMES.get(name, name),
        key=kernel_key,
        persist_state="session",
        help="The shape that each pair adds to the density: all of scikit-learn's KernelDensity. "
        "It matters far less than the bandwidth.",
    )
    st.toggle(
        "Reflect at the ends",
        key=reflect_key,
        persist_state="session",
        help="Fold what a kernel spills over the ends of the scale back inside. Without it a density "
        "drops at both ends and loses mass there.",
    )
    return KeepOptions(
        silver_set_id=0,
        kernel=st.session_state[kernel_key],
        bandwidth_rule="robust" if rule == NUMBER else rule,
        bandwidth=width if rule == NUMBER else None,
        reflect=st.session_state[reflect_key],
    )


def _gold_width(rule: str, gold: np.ndarray, kernel: str, reflect: bool) -> float:
    scores, counts = np.unique(gold, return_counts=True)
    return densities.bandwidth(rule, scores, counts.astype(np.float64), kernel, reflect)


def _nearest(width: float) -> float:
    return min(WIDTHS, key=lambda value: abs(value - width))


def settings_text(settings: KeepOptions) -> str:
    """The settings in one line, for captions."""
    width = (
        f"bandwidth {settings.bandwidth:g} of the scale"
        if settings.bandwidth is not None
        else f"bandwidth by {_in_text(BANDWIDTHS[settings.bandwidth_rule])}"
    )
    edges = "reflected at both ends of the scale" if settings.reflect else "not reflected"
    return f"{KERNEL_NAMES.get(settings.kernel, settings.kernel)} kernels, {width}, {edges}."


def _in_text(rule: str) -> str:
    return {
        "Robust rule": "the robust rule",
        "Cross-validated": "cross-validation",
    }.get(rule, rule)
