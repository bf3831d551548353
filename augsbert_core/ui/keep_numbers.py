"""What keeping a part of a pool would give, from stored scores: nothing is labelled, nothing is stored."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import streamlit as st

from augsbert_core import charts
from augsbert_core.options import KeepOptions, from_json, to_json
from augsbert_core.sampling import kde
from augsbert_core.steps.keep import KeepPlan
from augsbert_core.steps.spreads import GRID
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import SilverSet
from augsbert_core.storage.silver_bins import SilverScores, silver_scores

LOWEST_C = 0.01

CS = tuple(float(f"{c:.3g}") for c in np.geomspace(LOWEST_C, 1.0, 41))
"""The values of the slider."""

REALISED_CS = (0.01, 0.018, 0.032, 0.056, 0.1, 0.18, 0.32, 0.56, 1.0)
"""Where the path shows what chance gave, not only what it should give."""


@st.cache_data(max_entries=4, show_spinner="Reading the scores of the set …")
def _read(home: Path, set_id: int, revision: int) -> SilverScores:
    return silver_scores(Workspace(home), set_id)


def pool_scores(workspace: Workspace, pool: SilverSet) -> SilverScores:
    """The scores of a silver set, read again only when it has changed."""
    return _read(workspace.home, pool.id, pool.revision)


def exact_c(plan: KeepPlan) -> float:
    """The c at which the kept density would equal gold everywhere, in [0, 1]; 0 when there is none."""
    return float(min(max(kde.exact_match_c(plan.gold, plan.pool), 0.0), 1.0))


def short_share(plan: KeepPlan, c: float) -> float | None:
    """The share of gold's density at which the pool has fewer pairs than c asks for, so that all stay; None without."""
    total = float(plan.gold.sum())
    if not total > 0:
        return None
    return float(plan.gold[(plan.gold > 0) & (c * plan.gold > plan.pool)].sum()) / total


def expected_path(plan: KeepPlan, n_pool: int, c: float) -> charts.Path:
    """What to expect along c, from the smallest of interest to 1."""
    cs = np.geomspace(max(min(LOWEST_C, c), 1e-6), 1.0, 80)
    fractions, kls = kde.expected_path(plan.gold, plan.pool, GRID, cs)
    return charts.Path(cs, n_pool * np.asarray(fractions), np.asarray(kls))


def realised_path(
    workspace: Workspace,
    pool: SilverSet,
    scores: SilverScores,
    plan: KeepPlan,
    options: KeepOptions,
) -> charts.Path:
    """What this seed keeps at a few c. scores: those of the pool, as `pool_scores` reads them."""
    anyhow = to_json(replace(options, c=1.0))
    which = (workspace.home, pool.id, pool.revision)
    return _realised(plan.gold, plan.pool, plan.bandwidth, anyhow, which, scores)


@st.cache_data(max_entries=32, show_spinner=False)
def _realised(
    gold: np.ndarray,
    pool: np.ndarray,
    bandwidth: float,
    options_json: str,
    which: tuple[Path, int, int],
    _scores: SilverScores,
) -> charts.Path:
    """gold, pool: densities on GRID. bandwidth: the pool's, as for what is expected of its density.

    which: workspace, silver set and revision, which tell the scores from all others; hashing a million is slow.
    """
    options = from_json(KeepOptions, options_json)
    joining = kde.joining_c(_scores.scores, _scores.codes, GRID, gold, pool, options.seed)
    cs = np.array(REALISED_CS)
    fractions, kls = kde.realised_path(
        _scores.scores,
        joining,
        gold,
        GRID,
        cs,
        bandwidth=bandwidth,
        kernel=options.kernel,
        reflect=options.reflect,
    )
    return charts.Path(cs, np.round(fractions * len(_scores)), kls)
