"""Stratified KDE: draw pairs by cosine, label them, estimate, draw again; then keep by Q_c."""

import os
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from augsbert_core.density import bandwidth, density, unit_grid
from augsbert_core.errors import WorkbenchError
from augsbert_core.models import labeling
from augsbert_core.models.search import MOST_EXACT, ann_neighbours, embed_texts, exact_neighbours
from augsbert_core.options import KeepOptions, StratifiedOptions, to_json
from augsbert_core.progress import Report, stop_if, stretch
from augsbert_core.sampling.corpus import Corpus
from augsbert_core.sampling.kde import c_that_keeps, joining_c
from augsbert_core.sampling.strata import MAX_PAIRS, SAMPLED_PAIRS, Strata, stratify
from augsbert_core.sampling.stratified import Goal, Target, next_draw
from augsbert_core.steps.context import StepContext
from augsbert_core.steps.keep import GRID_POINTS, KeepPlan, plan_keep
from augsbert_core.steps.models import (
    labeler_members,
    normal_labeler,
    passes_per_pair,
    run_model,
    run_number,
)
from augsbert_core.steps.names import describe
from augsbert_core.steps.sample import sampling_corpus
from augsbert_core.steps.scoring import open_labeler, score_pending, take_over_scores
from augsbert_core.steps.stratified_limits import (
    check_stratified,
    max_passes,
    nothing_kept_notice,
    pilot_notices,
    pilot_pairs,
    shortfall_notices,
)
from augsbert_core.storage import (
    candidates,
    follow_ups,
    gold,
    runs,
    sentences,
    silver_sets,
)
from augsbert_core.storage.silver_bins import SilverScores, silver_scores

MOST_PER_BIN = 40_000
"""So many pairs of a cosine bin can be drawn at most: 40 bins then hold 45 MB."""

NEIGHBOURS = 20
"""In a corpus of too many pairs to look at each, every sentence's nearest ones are sure to be there."""

EMBEDDED = 0.1
"""The share of the job's progress that ends when the pairs are sorted by cosine."""


def sample_stratified(context: StepContext, options: StratifiedOptions) -> dict[str, Any]:
    """Score a pool that follows the gold density of the training split, then keep `n_keep` pairs of it.

    Two silver sets come out: the pool (this run's) and the kept pairs (a run of the step `keep`, with
    options that give the same pairs again). Candidates carry the round as rank (1 is the pilot) and the
    cosine as sampler score. Stopped or killed, it goes on from the stored rounds and scores, as it would
    have without; no pair is scored twice. When the rule keeps nothing, the pool alone comes out:
    silver_set_id is None, and a notice says what to do.
    """
    check_stratified(
        context.workspace, context.project, options, is_resumed=_strata_path(context).exists()
    )
    gold_scores = gold.gold_scores(context.workspace, context.project.id, ["train"])
    strata, notices = _strata(context, options)
    if not len(strata):
        raise WorkbenchError(
            "All pairs of these sentences are gold or excluded already. Import unlabelled sentences and "
            "sample from those too (--unlabelled)."
        )
    pool_id = _score_pool(context, options, strata, gold_scores, notices)
    pool = silver_scores(context.workspace, pool_id)
    context.report(0.97, "Keeping pairs by density")
    keeping = _keeping(pool_id, pool, gold_scores, options)
    plan = plan_keep(gold_scores, pool, keeping)
    set_id = None
    if plan.n_kept:
        notices += shortfall_notices(options, plan.n_kept, len(pool))
        set_id = _store_kept(context, pool, keeping, plan)
    else:
        notices.append(nothing_kept_notice(pool_id, len(pool)))
    _strata_path(context).unlink(missing_ok=True)
    chosen = silver_sets.get_silver_set(context.workspace, pool_id)
    metrics = runs.get_run(context.workspace, context.run.id).metrics
    return {
        "candidate_set_id": chosen.candidate_set_id,
        "pool_set_id": pool_id,
        "silver_set_id": set_id,
        "n_pool": chosen.n_pairs,
        "n_passes": chosen.passes,
        "least_passes": options.n_keep,
        "n_reused": int(metrics.get("n_reused", 0)),
        "n_kept": plan.n_kept,
        "c": keeping.c,
        "kl": plan.kl,
        "pool_kl": plan.pool_kl,
        "rounds": int(pool.ranks.max(initial=0)),
        "seconds": float(metrics.get("seconds", 0.0)),
        "labeler": options.labeler,
        "bin_edges": strata.edges.round(4).tolist(),
        "pairs_per_bin": strata.counts.tolist(),
        "notices": notices,
    }


# --- the proxy -------------------------------------------------------------------------------------


def _strata_path(context: StepContext) -> Path:
    return context.folder / "strata.npz"


def _strata(context: StepContext, options: StratifiedOptions) -> tuple[Strata, list[str]]:
    """The pairs of the corpus by cosine, and what to tell about them.

    They lie in the run's folder, so that a resumed run embeds nothing again and draws the same pairs.
    """
    context.report(0.0, "Reading the corpus")
    corpus = sampling_corpus(context.workspace, context.project.id, options)
    path = _strata_path(context)
    if path.exists():
        with np.load(path) as stored:
            columns = {field.name: stored[field.name] for field in fields(Strata)}
        strata = Strata(**columns | {"is_exact": bool(columns["is_exact"])})
        # Pairs may have become gold since.
        strata = strata.without(corpus.excluded)
    else:
        strata = _sort_by_cosine(context, options, corpus)
        unfinished = path.with_name("strata.part.npz")
        np.savez(
            unfinished, **{field.name: getattr(strata, field.name) for field in fields(Strata)}
        )
        os.replace(unfinished, path)
    notices = ["Gold density: that of the training split, from which the labeler has learnt too."]
    notices += pilot_notices(options)
    if not strata.is_exact:
        notices.append(
            f"The {len(corpus):,} sentences have too many pairs to compare each: {SAMPLED_PAIRS:,} "
            f"random ones were, and the {NEIGHBOURS} nearest neighbours of every sentence."
        )
    return strata, notices


def _sort_by_cosine(context: StepContext, options: StratifiedOptions, corpus: Corpus) -> Strata:
    report: Report = context.report
    trained = run_model(context.workspace, context.project, options.encoder, "train-bi-encoder")
    embeddings = embed_texts(
        trained or options.encoder,
        corpus.texts,
        context.device,
        report=stretch(report, 0.0, 0.7 * EMBEDDED),
        should_stop=context.should_stop,
    )
    near = None
    if len(corpus) * (len(corpus) - 1) // 2 > MAX_PAIRS:
        find = exact_neighbours if len(corpus) <= MOST_EXACT else ann_neighbours
        found = find(
            embeddings,
            NEIGHBOURS,
            excluded=corpus.excluded_positions(),
            device=context.device,
            report=stretch(report, 0.7 * EMBEDDED, 0.9 * EMBEDDED),
            should_stop=context.should_stop,
        )
        near = (found.query, found.neighbour)
    return stratify(
        corpus,
        embeddings,
        per_bin=min(max_passes(options), MOST_PER_BIN),
        seed=options.seed,
        neighbours=near,
        report=stretch(report, 0.9 * EMBEDDED, EMBEDDED),
        should_stop=context.should_stop,
    )


# --- the pool --------------------------------------------------------------------------------------


def gold_target(gold_scores: np.ndarray) -> Target:
    """The gold density on the grid of the step `keep`, with the robust bandwidth as there by default."""
    grid, width = unit_grid(GRID_POINTS), bandwidth("robust", gold_scores)
    return Target(grid, density(gold_scores, grid, width), width)


def _score_pool(
    context: StepContext,
    options: StratifiedOptions,
    strata: Strata,
    gold_scores: np.ndarray,
    notices: list[str],
) -> int:
    """Draw and label in rounds until enough would be kept; returns the pool's silver set id."""
    goal = Goal(
        options.n_keep, options.c, max_passes(options), pilot_pairs(options), options.rounds
    )
    target = gold_target(gold_scores)
    pool_id = _open_pool(context, options)
    labeler: labeling.Labeler | None = None
    while True:
        if pool_id is not None:
            labeler = _label_round(context, options, pool_id, labeler)
        scored = None if pool_id is None else silver_scores(context.workspace, pool_id)
        counts, is_drawn, done = _next_counts(scored, strata, gold_scores, target, goal, options)
        if not counts.any():
            break
        stop_if(context.should_stop)
        if not _store_round(
            context, options, strata, strata.draw(is_drawn, counts), done + 1, notices
        ):
            break
        pool_id = _open_pool(context, options)
    if pool_id is None:
        raise ValueError("a pilot without pairs")
    return pool_id


def _next_counts(
    scored: SilverScores | None,
    strata: Strata,
    gold_scores: np.ndarray,
    target: Target,
    goal: Goal,
    options: StratifiedOptions,
) -> tuple[np.ndarray, np.ndarray, int]:
    """Pairs to draw per cosine bin, which pairs have been drawn, and how many rounds there were."""
    is_drawn = np.zeros(len(strata), dtype=bool)
    n_kept, done = 0, 0
    bins, scores = np.zeros(0, dtype=np.int64), np.zeros(0)
    if scored is not None and len(scored):
        order = np.argsort(strata.codes)
        places = np.searchsorted(strata.codes[order], scored.codes)
        places = order[np.minimum(places, len(order) - 1)]
        known = strata.codes[places] == scored.codes
        is_drawn[places[known]] = True
        bins, scores = strata.bins_of(strata.cosine[places[known]]), scored.scores[known]
        keeping = _keeping(0, scored, gold_scores, options)
        n_kept = plan_keep(gold_scores, scored, keeping).n_kept
        done = int(scored.ranks.max())
    counts = next_draw(bins, scores, strata.free_counts(is_drawn), target, goal, done, n_kept)
    return counts, is_drawn, done


def _open_pool(context: StepContext, options: StratifiedOptions) -> int | None:
    """The pool's silver set, None before the first round is stored."""
    chosen = candidates.candidate_set_of_run(context.workspace, context.run.id)
    if chosen is None:
        return None
    members = labeler_members(context.workspace, context.project, options.labeler)
    return silver_sets.open_silver_set(
        context.workspace,
        context.project.id,
        context.run.id,
        candidate_set_id=chosen.id,
        labeler=normal_labeler(options.labeler),
        labeler_run_id=run_number(options.labeler),
        passes_per_pair=passes_per_pair(members),
    )


def _store_round(
    context: StepContext,
    options: StratifiedOptions,
    strata: Strata,
    chosen: np.ndarray,
    rank: int,
    notices: list[str],
) -> bool:
    """Add the chosen pairs to the run's candidate set; False when it had them all."""
    existing = candidates.candidate_set_of_run(context.workspace, context.run.id)
    columns = {
        "first": strata.first[chosen],
        "second": strata.second[chosen],
        "rank": np.full(len(chosen), rank),
        "sampler_score": strata.cosine[chosen].astype(np.float64),
    }
    if existing is not None:
        size = candidates.append_candidates(context.workspace, existing.id, **columns)
        return size > existing.n_pairs
    corpus_size = sentences.corpus_size(
        context.workspace, context.project.id, use_unlabelled=options.use_unlabelled
    )
    candidates.add_candidate_set(
        context.workspace,
        context.project.id,
        context.run.id,
        strategy="stratified-kde",
        corpus_size=corpus_size,
        notices=notices,
        **columns,
    )
    return True


def _label_round(
    context: StepContext,
    options: StratifiedOptions,
    pool_id: int,
    labeler: labeling.Labeler | None,
) -> labeling.Labeler | None:
    """Score what the pool still lacks; returns the labeler, loaded only if it was needed."""
    workspace = context.workspace
    take_over_scores(context, options.labeler, pool_id)
    found = silver_sets.get_silver_set(workspace, pool_id)
    if found.n_pairs >= found.n_candidates:
        return labeler
    if labeler is None:
        context.report(EMBEDDED, "Loading the labeler")
        labeler = open_labeler(context, options.labeler)
    expected = max(min(options.n_keep / options.c, max_passes(options)), found.n_candidates)
    end = EMBEDDED + (0.97 - EMBEDDED) * found.n_candidates / expected
    score_pending(
        context,
        labeler,
        pool_id,
        found.n_candidates,
        batch_size=options.batch_size,
        span=(EMBEDDED, end),
    )
    return labeler


# --- what is kept ----------------------------------------------------------------------------------


def _keeping(
    pool_id: int, pool: SilverScores, gold_scores: np.ndarray, options: StratifiedOptions
) -> KeepOptions:
    """Keep by Q_c with the c asked for, or the smaller one that keeps n_keep pairs: it matches better."""
    target = gold_target(gold_scores)
    found = density(pool.scores, target.grid, bandwidth("robust", pool.scores))
    joining = joining_c(pool.scores, pool.codes, target.grid, target.gold, found, options.seed)
    c = options.c
    if np.any(joining < np.inf):
        c = min(c, c_that_keeps(joining, options.n_keep))
    return KeepOptions(silver_set_id=pool_id, rule="kde", c=c, seed=options.seed)


def _store_kept(
    context: StepContext, pool: SilverScores, keeping: KeepOptions, plan: KeepPlan
) -> int:
    """Store the kept pairs as the silver set of a `keep` run; done twice, the first set stands."""
    run_id = follow_ups.open_follow_up(
        context.workspace,
        context.run.id,
        step="keep",
        name=describe("keep", keeping),
        options=to_json(keeping),
        seed=keeping.seed,
    )
    set_id = silver_sets.add_kept_set(
        context.workspace,
        context.project.id,
        run_id,
        keeping.silver_set_id,
        rule="kde",
        pair_ids=pool.ids[plan.mask],
    )
    follow_ups.close_follow_up(
        context.workspace,
        run_id,
        {
            "silver_set_id": set_id,
            "pool_set_id": keeping.silver_set_id,
            "n_kept": plan.n_kept,
            "n_pool": len(pool),
            "n_passes": len(pool),
            "expected_fraction": plan.expected.fraction if plan.expected else None,
            "kl": plan.kl,
            "expected_kl": plan.expected.kl if plan.expected else None,
            "pool_kl": plan.pool_kl,
        },
    )
    return set_id
