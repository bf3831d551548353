"""Densities of gold and silver scores over each other, and how far apart they are (paper, figs. 4 and 5)."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from augsbert_core import charts, explain
from augsbert_core.options import KeepOptions
from augsbert_core.pairs import ScoreRange
from augsbert_core.steps.spreads import (
    GOLD_NAME,
    GRID,
    STATED,
    Distances,
    Spread,
    distances,
    gold_spread,
    notes_of,
    silver_spread,
)
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.gold import gold_scores
from augsbert_core.storage.projects import list_projects
from augsbert_core.storage.records import Project, SilverSet
from augsbert_core.ui.bench import Bench
from augsbert_core.ui.density_controls import density_inputs, settings_text
from augsbert_core.ui.downloads import show_figure
from augsbert_core.ui.recipes import keep
from augsbert_core.ui.silver_filters import short_title
from augsbert_core.ui.what_happened import what_happened
from augsbert_core.ui.widgets import as_text

PAGE = "density"
KL_CAUTION = "KL reacts strongly to a single pair where silver has none or gold has few; Wasserstein and KS below hardly do."
DRAWINGS = {"fill": "Fill", "histogram": "Histogram", "rug": "Rug"}


def density_lab(
    bench: Bench,
    project: Project,
    found: SilverSet,
    sets: Sequence[SilverSet],
    on_range: Callable[[float, float], None],
) -> None:
    """Figure and controls side by side, then the distances of every chosen set to gold."""
    gold = gold_scores(bench.workspace, project.id, ["train"])
    left, right = st.columns([2, 1], gap="medium")
    with right, st.container(border=True, height="stretch", gap="small"):
        others = _others_input(project, found, sets)
        golds = _golds_input(bench, project)
        settings = density_inputs(project, gold)
        drawing = _drawing_input(project)
    hues = charts.SILVER_HUES
    silver = [
        silver_spread(bench.workspace, one, short_title(one), hues[place % len(hues)], settings)
        for place, one in enumerate([found, *others])
    ]
    base = gold_spread(GOLD_NAME, gold, settings)
    foreign = [other_gold(bench.workspace, one, place, settings) for place, one in enumerate(golds)]
    shown = [base, *silver, *foreign]
    with left, st.container(border=True, height="stretch", gap="small"):
        show_figure(
            charts.overlay_figure(
                GRID,
                [one.curve() for one in shown if one.n],
                project.score_range,
                fill="fill" in drawing,
                histogram="histogram" in drawing,
                rug="rug" in drawing,
                selectable=True,
                height=430,
            ),
            key=f"silver-scores-{found.id}",
            title="How the scores are spread",
            name=f"densities-silver-set-{found.id}",
            alt="Density of gold and silver scores over the scale of the project",
            on_range=on_range,
            scale=project.score_range,
        )
        for note in notes_of(shown):
            st.caption(f":material/info: {as_text(note)}")
        st.caption(
            ":material/drag_pan: Drag over the plot to see those pairs below; double-click to see all. "
            f"{settings_text(settings)} Corrections count, rejected pairs do not."
        )
    with st.container(border=True, gap="small"):
        _facts(base, silver[0], project.score_range)
        distance_table(base, [*silver, *foreign], project.score_range)
        ours = silver[0]
        what_happened(
            explain.silver_density(
                n_silver=ours.n,
                gold=explain.thirds(base.scores, base.counts),
                silver=explain.thirds(ours.scores, ours.counts),
                scale=project.score_range,
                strategy=found.strategy,
            ),
            "density",
        )


def other_gold(workspace: Workspace, project: Project, place: int, settings: KeepOptions) -> Spread:
    """The gold scores of another project, dashed; scores are compared as shares of each scale."""
    shades = charts.OTHER_GOLDS
    return gold_spread(
        f"Gold of {project.name}",
        gold_scores(workspace, project.id, ["train"]),
        settings,
        color=shades[place % len(shades)],
        dash=True,
    )


def _others_input(project: Project, found: SilverSet, sets: Sequence[SilverSet]) -> list[SilverSet]:
    by_id = {one.id: one for one in sets if one.id != found.id}
    if not by_id:
        st.caption(
            "Other silver sets of this project can be laid over this one, once there are any."
        )
        return []
    chosen = st.multiselect(
        "Compare with",
        list(by_id),
        format_func=lambda number: short_title(by_id[number]),
        placeholder="other silver sets",
        key=f"{PAGE}-{project.id}-sets-{found.id}",
        persist_state="session",
        help="Lay other silver sets of this project over the open one (paper, fig. 4).",
    )
    return [by_id[number] for number in chosen]


def _golds_input(bench: Bench, project: Project) -> list[Project]:
    by_id = {one.id: one for one in list_projects(bench.workspace) if one.id != project.id}
    if not by_id:
        return []
    chosen = st.multiselect(
        "Gold of other projects",
        list(by_id),
        format_func=lambda number: by_id[number].name,
        placeholder="none",
        help="Lay the gold scores of other tasks over this one (paper, fig. 5). Their scales are stretched to "
        "this project's: lowest on lowest, highest on highest.",
        **keep(PAGE, project, "golds", []),
    )
    return [by_id[number] for number in chosen if number in by_id]


def _drawing_input(project: Project) -> set[str]:
    chosen = st.pills(
        "Draw",
        list(DRAWINGS),
        selection_mode="multi",
        format_func=DRAWINGS.__getitem__,
        help="Histogram: bars of equal area, a twentieth of the scale wide. Rug: up to 200 pairs of each curve as "
        "ticks, evenly spaced in the order of scores.",
        **keep(PAGE, project, "drawing", ["fill"]),
    )
    return set(chosen or ())


def _facts(gold: Spread, silver: Spread, scale: ScoreRange) -> None:
    """The open set in four numbers."""
    found = distances(gold, silver)
    with st.container(horizontal=True):
        st.metric(
            "Silver pairs",
            f"{silver.n:,}",
            delta=f"gold {gold.n:,}",
            delta_color="off",
            delta_arrow="off",
            help="Rejected pairs are left out.",
        )
        st.metric(
            f"Scores ≥ {scale.to_raw(0.5):g}",
            share_text(silver.high_share),
            delta=f"gold {share_text(gold.high_share)}",
            delta_color="off",
            delta_arrow="off",
            help="The share of silver pairs in the upper half of the scale, and the share among gold pairs.",
        )
        st.metric(
            "KL(gold‖silver)",
            "–" if found.kl is None else f"{found.kl:.2f}",
            delta="0 = the same",
            delta_color="off",
            delta_arrow="off",
            help="How far the silver scores are from the gold ones, in nats. Large: parts of the scale "
            f"that gold pairs cover have hardly any silver pairs. {STATED}",
        )
        st.metric(
            "Cross-encoder passes",
            "–" if silver.passes is None else f"{silver.passes:,}",
            help="What this set cost: pairs that the labeler scored, those not kept included.",
        )
    st.caption(KL_CAUTION)


def distance_table(gold: Spread, others: Sequence[Spread], scale: ScoreRange) -> None:
    """One row per curve: size, share at or above the middle, distances to gold, passes."""
    rows = [_distance_row(gold, Distances(None, None, None), scale)]
    rows += [_distance_row(one, distances(gold, one), scale) for one in others]
    frame = pd.DataFrame(rows)
    colors = [one.color for one in (gold, *others)]
    middle = f"≥ {scale.to_raw(0.5):g}, %"
    frame = frame.rename(columns={"high": middle})
    st.dataframe(
        frame.style.apply(lambda _: [f"color: {color}" for color in colors], subset=[""]),
        hide_index=True,
        placeholder="–",
        height=38 + 35 * len(frame),
        column_config={
            "": st.column_config.TextColumn(width=20),
            "Scores": st.column_config.TextColumn(width=230),
            "Pairs": st.column_config.NumberColumn(format="localized"),
            middle: st.column_config.NumberColumn(
                format="%.1f", help="The share of pairs in the upper half of the scale."
            ),
            "KL": st.column_config.NumberColumn(
                "KL(gold‖set)",
                format="%.3f",
                help=f"In nats; 0 is the same density. {STATED}",
            ),
            "Wasserstein": st.column_config.NumberColumn(
                f"Wasserstein, on {scale.low:g}–{scale.high:g}",
                format="%.3f",
                help="How far scores must move on average to turn one set into the other, in points of the scale "
                f"{scale.low:g} to {scale.high:g}.",
            ),
            "KS": st.column_config.NumberColumn(
                format="%.3f",
                help="Kolmogorov–Smirnov: the largest difference of the two shares of pairs up to some score.",
            ),
            "Passes": st.column_config.NumberColumn(
                format="localized", help="Cross-encoder passes that the set cost."
            ),
        },
        alt="Distance of each silver set to gold",
    )
    st.caption(f"Distances are from {GOLD_NAME.lower()}; silver scores in 512 bins. {STATED}")


def _distance_row(one: Spread, found: Distances, scale: ScoreRange) -> dict[str, object]:
    width = scale.high - scale.low
    return {
        "": "●",
        "Scores": one.name,
        "Pairs": one.n,
        "high": np.nan if one.high_share is None else 100 * one.high_share,
        "KL": found.kl,
        "Wasserstein": None if found.wasserstein is None else width * found.wasserstein,
        "KS": found.ks,
        "Passes": one.passes,
    }


def share_text(value: float | None) -> str:
    """A share in per cent, a dash when it is not known."""
    return "–" if value is None else f"{value:.0%}"
