"""Keep a subset of a scored pool as a silver set of its own: KDE, the rule for classes, or rank ≤ k."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from augsbert_core import density as densities
from augsbert_core.density import KL_FLOOR
from augsbert_core.errors import WorkbenchError
from augsbert_core.options import KeepOptions
from augsbert_core.sampling import HAS_TOP_K, kde
from augsbert_core.steps.context import StepContext
from augsbert_core.storage import gold, runs, silver_sets
from augsbert_core.storage.database import Workspace
from augsbert_core.storage.records import Project, SilverSet
from augsbert_core.storage.silver_bins import SilverScores, silver_scores

RULES = ("kde", "classification", "top-k")

GRID_POINTS = 257
"""Densities and KL are taken on this many points from 0 to 1, KL with both raised to at least KL_FLOOR."""


@dataclass(frozen=True)
class KeepPlan:
    """What a rule keeps of a pool, and how close that comes to gold.

    mask: which pairs are kept. grid, gold, pool, kept: densities; kept is that of the kept pairs, None
    when there are none; under the KDE rule it has the pool's bandwidth, so that it is comparable with what
    is expected of the pool's density. bandwidth: the pool's. expected: what chance should give (KDE rule only). kl, pool_kl: KL(gold‖kept) and
    KL(gold‖pool) in nats, None where there is nothing to compare. threshold: the one in force
    (classification only).
    """

    mask: np.ndarray
    grid: np.ndarray
    gold: np.ndarray
    pool: np.ndarray
    kept: np.ndarray | None
    expected: kde.Expected | None
    kl: float | None
    pool_kl: float | None
    bandwidth: float
    threshold: float | None = None

    @property
    def n_kept(self) -> int:
        return int(self.mask.sum())


def plan_keep(
    gold_scores: np.ndarray,
    pool: SilverScores,
    options: KeepOptions,
    *,
    labeler_threshold: float | None = None,
) -> KeepPlan:
    """Apply a rule to stored scores; nothing is labelled and nothing is stored.

    gold_scores: those of the training split, in [0, 1]. labeler_threshold: used by "classification" when
    the options name none. WorkbenchError: an unknown rule, or the rule lacks what it needs.
    """
    threshold = _check_rule(options, gold_scores, labeler_threshold)
    grid = densities.unit_grid(GRID_POINTS)
    gold_density = score_density(gold_scores, options, grid)
    width = bandwidth_in_force(pool.scores, options)
    with_width = replace(options, bandwidth=width)
    pool_density = score_density(pool.scores, with_width, grid)
    expected = None
    if options.rule == "kde":
        expected = kde.expected_kept(gold_density, pool_density, options.c, grid)
        mask = kde.keep_by_density(
            pool.scores, pool.codes, grid, gold_density, pool_density, options.c, options.seed
        )
    elif threshold is not None:
        positive_share = float(np.mean(gold_scores >= 0.5))
        mask = kde.keep_by_class(pool.scores, pool.codes, threshold, positive_share, options.seed)
    else:
        mask = (pool.ranks > 0) & (pool.ranks <= (options.max_rank or 0))
    # A rule gives the fewer kept pairs a wider bandwidth, which would show as a distance of its own.
    estimated = with_width if options.rule == "kde" else options
    kept = score_density(pool.scores[mask], estimated, grid) if mask.any() else None
    return KeepPlan(
        mask=mask,
        grid=grid,
        gold=gold_density,
        pool=pool_density,
        kept=kept,
        expected=expected,
        kl=divergence(gold_density, kept, grid),
        pool_kl=divergence(gold_density, pool_density, grid),
        bandwidth=width,
        threshold=threshold,
    )


def score_density(
    scores: np.ndarray, options: KeepOptions, grid: np.ndarray, weights: np.ndarray | None = None
) -> np.ndarray:
    """The density of scores as the options say it is estimated, each with a bandwidth of its own.

    weights: how often each score occurs.
    """
    bandwidth = bandwidth_in_force(scores, options, weights)
    return densities.density(scores, grid, bandwidth, weights, options.kernel, options.reflect)


def bandwidth_in_force(
    scores: np.ndarray, options: KeepOptions, weights: np.ndarray | None = None
) -> float:
    """The bandwidth, in [0, 1]: the number that was set, or what the rule makes of these scores."""
    if options.bandwidth is not None:
        return options.bandwidth
    return densities.bandwidth(
        options.bandwidth_rule, scores, weights, options.kernel, options.reflect
    )


def divergence(gold: np.ndarray, other: np.ndarray | None, grid: np.ndarray) -> float | None:
    """KL(gold‖other) in nats with KL_FLOOR, None when one of them has no mass."""
    if other is None:
        return None
    value = densities.kl_divergence(gold, other, grid, KL_FLOOR)
    return None if np.isnan(value) else value


def labeler_threshold(workspace: Workspace, found: SilverSet) -> float | None:
    """The decision threshold that a set's labeler was given on the dev split, None when it has none."""
    if found.labeler_run_id is None:
        return None
    value = runs.get_run(workspace, found.labeler_run_id).metrics.get("threshold")
    return None if value is None else float(value)


def check_keeping(workspace: Workspace, project: Project, options: KeepOptions) -> SilverSet:
    """The pool. WorkbenchError: it is missing, another project's, not labelled in full, or the rule lacks
    what it needs.
    """
    pool = silver_sets.get_silver_set(workspace, options.silver_set_id)
    if pool.project_id != project.id:
        raise WorkbenchError(f"Silver set {pool.id} belongs to another project.")
    if not pool.is_complete and pool.n_pairs >= pool.n_candidates > 0:
        raise WorkbenchError(
            f"Silver set {pool.id} is still at work. Wait for its job on the Jobs page to end."
        )
    if not pool.is_complete:
        raise WorkbenchError(
            f"Silver set {pool.id} is only labelled in part ({pool.n_pairs:,} of "
            f"{pool.n_candidates:,} pairs). Resume its job on the Jobs page first."
        )
    gold_scores = gold.gold_scores(workspace, project.id, ["train"])
    _check_rule(options, gold_scores, labeler_threshold(workspace, pool))
    if options.rule == "top-k" and pool.strategy not in HAS_TOP_K:
        raise WorkbenchError(
            f"Silver set {pool.id} has no ranks: only BM25 and semantic sampling order neighbours."
        )
    return pool


def _check_rule(
    options: KeepOptions, gold_scores: np.ndarray, labeler_threshold: float | None
) -> float | None:
    """The threshold in force ("classification" only). WorkbenchError: the rule lacks what it needs."""
    if options.rule not in RULES:
        raise WorkbenchError(
            f"There is no rule {options.rule!r} to keep pairs by. Choose {', '.join(RULES)}."
        )
    if options.rule == "top-k":
        if options.max_rank is None or options.max_rank < 1:
            raise WorkbenchError("Name the largest rank to keep, 1 or more.")
        return None
    if not len(gold_scores):
        raise WorkbenchError(
            "There are no gold training pairs to match. Import some on the Gold page first."
        )
    if options.rule == "kde":
        if not 0 < options.c <= 1:
            raise WorkbenchError(f"c is {options.c:g}. Give a value above 0, at most 1.")
        return None
    threshold = options.threshold if options.threshold is not None else labeler_threshold
    if threshold is None:
        raise WorkbenchError(
            "The labeler has no decision threshold from dev pairs. Name one: the score from which "
            "a pair counts as positive."
        )
    return threshold


def keep(context: StepContext, options: KeepOptions) -> dict[str, Any]:
    """Store what a rule keeps of a pool as a silver set; done twice for one run, the first set stands."""
    workspace = context.workspace
    pool = check_keeping(workspace, context.project, options)
    context.report(0.1, "Reading the scores of the pool")
    scores = silver_scores(workspace, pool.id)
    plan = plan_keep(
        gold.gold_scores(workspace, context.project.id, ["train"]),
        scores,
        options,
        labeler_threshold=labeler_threshold(workspace, pool),
    )
    if not plan.n_kept:
        raise WorkbenchError(
            f"The rule keeps none of the {len(scores.scores):,} pairs of silver set {pool.id}. "
            "Raise c, or label a larger pool."
        )
    context.report(0.5, f"Keeping {plan.n_kept:,} of {len(scores.scores):,} pairs")
    set_id = silver_sets.add_kept_set(
        workspace,
        context.project.id,
        context.run.id,
        pool.id,
        rule=options.rule,
        pair_ids=scores.ids[plan.mask],
    )
    return {
        "silver_set_id": set_id,
        "pool_set_id": pool.id,
        "n_kept": plan.n_kept,
        "n_pool": len(scores.scores),
        "n_passes": pool.passes,
        "expected_fraction": plan.expected.fraction if plan.expected else None,
        "kl": plan.kl,
        "expected_kl": plan.expected.kl if plan.expected else None,
        "pool_kl": plan.pool_kl,
    }
