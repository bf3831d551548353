"""Stratified KDE: nothing drawn that must not be, a pool like gold, and far fewer labels than plain KDE."""

import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augsbert_core.density import bandwidth, density, kl_divergence, unit_grid
from augsbert_core.errors import Stopped
from augsbert_core.pairs import pair_codes
from augsbert_core.sampling import Corpus
from augsbert_core.sampling import strata as strata_module
from augsbert_core.sampling.kde import c_that_keeps, joining_c, pair_uniforms
from augsbert_core.sampling.strata import Strata, stratify
from augsbert_core.sampling.stratified import (
    SCORE_BINS,
    Goal,
    Target,
    next_draw,
    pilot_draw,
    plan_pool,
    score_densities,
    score_shares,
)

GRID = unit_grid()


def corpus_of(n, excluded=(), ids=None):
    ids = np.arange(n) if ids is None else np.asarray(ids)
    codes = pair_codes(*np.array(excluded, dtype=np.int64).reshape(-1, 2).T)
    return Corpus([f"sentence {i}" for i in ids], ids, codes)


def unit_rows(n, dimensions=8, seed=0):
    rows = np.random.default_rng(seed).normal(size=(n, dimensions)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def target_of(gold_scores):
    width = bandwidth("robust", gold_scores)
    return Target(GRID, density(gold_scores, GRID, width), width)


def keep(scores, codes, target, c, at_most, seed=1):
    """Which pairs Q_c keeps, at most so many, and KL(gold‖kept)."""
    pool = density(scores, GRID, bandwidth("robust", scores))
    joining = joining_c(scores, codes, GRID, target.gold, pool, seed)
    if not np.any(joining < np.inf):
        return 0, np.nan
    kept = scores[joining < min(c, c_that_keeps(joining, at_most))]
    found = density(kept, GRID, bandwidth("robust", kept))
    return len(kept), kl_divergence(target.gold, found, GRID)


def draw_pool(strata, labeler, target, goal):
    """Draw and label until nothing more is asked for; which pairs are drawn, and all of their scores."""
    is_drawn, scores = np.zeros(len(strata), dtype=bool), np.zeros(len(strata))
    bins = strata.bins_of(strata.cosine)
    n_kept, sizes = 0, []
    while True:
        free = strata.free_counts(is_drawn)
        counts = next_draw(bins[is_drawn], scores[is_drawn], free, target, goal, len(sizes), n_kept)
        assert (counts >= 0).all()
        assert (counts <= free).all()
        if not counts.any():
            return is_drawn, scores, sizes
        chosen = strata.draw(is_drawn, counts)
        assert len(chosen) == counts.sum()
        scores[chosen] = labeler(strata.codes[chosen], strata.cosine[chosen])
        is_drawn[chosen] = True
        sizes.append(len(chosen))
        n_kept, _ = keep(scores[is_drawn], strata.codes[is_drawn], target, goal.c, goal.n_keep)


# --- the pairs by cosine ---------------------------------------------------------------------------


@given(
    n=st.integers(0, 12),
    per_bin=st.integers(1, 80),
    exclude=st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=20),
    seed=st.integers(0, 5),
    is_sampled=st.booleans(),
)
@settings(max_examples=60)
def test_every_pair_is_counted_once_and_none_is_self_excluded_or_double(
    n, per_bin, exclude, seed, is_sampled
):
    corpus = corpus_of(n, exclude, ids=np.arange(n) * 3 + 1)
    allowed = {
        (int(a), int(b))
        for a, b in combinations(corpus.ids, 2)
        if pair_codes(a, b) not in corpus.excluded
    }
    n_pairs = n * (n - 1) // 2
    found = stratify(
        corpus,
        unit_rows(n),
        per_bin=per_bin,
        seed=seed,
        n_bins=7,
        max_pairs=0 if is_sampled else n_pairs,
        sampled_pairs=n_pairs,
    )
    pairs = list(zip(found.first.tolist(), found.second.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    assert set(pairs) <= allowed
    assert found.counts.sum() == len(allowed)
    assert np.array_equal(np.diff(found.starts), np.minimum(found.counts, per_bin))
    assert np.array_equal(
        found.bins_of(found.cosine), np.repeat(np.arange(7), np.diff(found.starts))
    )
    place = {int(row): position for position, row in enumerate(corpus.ids)}
    for first, second, cosine in zip(found.first, found.second, found.cosine, strict=True):
        rows = unit_rows(n)[[place[int(first)], place[int(second)]]]
        assert cosine == pytest.approx(float(rows[0] @ rows[1]), abs=1e-5)


def test_file_order_does_not_matter_but_the_seed_does():
    shuffled = np.random.default_rng(3).permutation(60)
    rows = unit_rows(60)
    first = stratify(corpus_of(60), rows, per_bin=5, seed=1)
    again = stratify(corpus_of(60, ids=shuffled), rows[shuffled], per_bin=5, seed=1)
    other = stratify(corpus_of(60), rows, per_bin=5, seed=2)
    assert np.array_equal(first.codes, again.codes)
    assert np.array_equal(first.counts, again.counts)
    assert np.array_equal(first.counts, other.counts)
    assert not np.array_equal(first.codes, other.codes)


def test_a_bins_reservoir_is_a_uniform_draw_in_random_order():
    """All cosines are equal, so there is one bin; each pair is drawn first about equally often."""
    rows = np.ones((6, 4), dtype=np.float32) / 2
    firsts = [
        stratify(corpus_of(6), rows, per_bin=3, seed=seed, n_bins=4).codes[0] for seed in range(600)
    ]
    _, counts = np.unique(firsts, return_counts=True)
    assert len(counts) == 15
    assert counts.max() < 40 + 5 * np.sqrt(40)
    assert counts.min() > 40 - 5 * np.sqrt(40)


def test_who_is_drawn_first_says_nothing_about_who_is_kept():
    """The reservoir and Q_c both choose by a number of the pair; with one number the kept would be biased."""
    found = stratify(corpus_of(300), unit_rows(300), per_bin=50, seed=7)
    assert len(found) > 1000
    assert np.mean(pair_uniforms(found.codes, 7)) == pytest.approx(0.5, abs=0.03)


def test_many_chunks_give_what_one_chunk_gives(monkeypatch):
    whole = stratify(corpus_of(80, [(0, 5), (7, 3)]), unit_rows(80), per_bin=6, seed=0)
    monkeypatch.setattr(strata_module, "_CHUNK", 100)
    parts = stratify(corpus_of(80, [(0, 5), (7, 3)]), unit_rows(80), per_bin=6, seed=0)
    assert np.array_equal(whole.codes, parts.codes)
    assert np.array_equal(whole.counts, parts.counts)


def test_in_a_large_corpus_neighbours_bring_in_the_scarce_similar_pairs():
    """2,000 sentences, each with one near twin: 1,000 twins among 2 million pairs, of which 1 % is looked at."""
    rng = np.random.default_rng(0)
    rows = np.repeat(unit_rows(1000, 32), 2, axis=0) + rng.normal(0, 0.02, (2000, 32))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    twins = (np.arange(2000), np.arange(2000) ^ 1)
    settings = {"per_bin": 5000, "seed": 1, "max_pairs": 10, "sampled_pairs": 20_000}
    corpus = corpus_of(2000, [(0, 1)])
    found = stratify(corpus, rows, neighbours=twins, **settings)
    exact = stratify(corpus, rows, per_bin=5000, seed=1)
    assert exact.is_exact
    assert not found.is_exact
    assert np.count_nonzero(found.cosine > 0.95) == np.count_nonzero(exact.cosine > 0.95) == 999
    common = exact.counts > 50_000
    assert common.sum() > 5
    np.testing.assert_allclose(found.counts[common], exact.counts[common], rtol=0.15)
    alone = stratify(corpus, rows, **settings)
    assert np.count_nonzero(alone.cosine > 0.95) < 100


def test_memory_does_not_grow_with_the_pairs():
    """4,000 sentences have 8 million pairs: their cosines and codes alone would take 96 MB."""
    rows = unit_rows(4000, 8)
    tracemalloc.start()
    found = stratify(corpus_of(4000), rows, per_bin=100, seed=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.counts.sum() == 4000 * 3999 // 2
    assert peak < 110e6


def test_stopping_takes_effect_between_chunks(monkeypatch):
    monkeypatch.setattr(strata_module, "_CHUNK", 100)
    told = []
    with pytest.raises(Stopped):
        stratify(
            corpus_of(80),
            unit_rows(80),
            per_bin=5,
            seed=0,
            report=lambda fraction, *_: told.append(fraction),
            should_stop=lambda: len(told) >= 3,
        )
    assert len(told) == 3


def test_pairs_that_became_gold_can_be_taken_out():
    found = stratify(corpus_of(20), unit_rows(20), per_bin=50, seed=0)
    fewer = found.without(found.codes[::3])
    assert len(fewer) == len(found) - len(found.codes[::3])
    assert not np.isin(found.codes[::3], fewer.codes).any()
    assert np.array_equal(
        fewer.bins_of(fewer.cosine), np.repeat(np.arange(len(found.counts)), np.diff(fewer.starts))
    )


# --- the estimate and the plan ---------------------------------------------------------------------


@given(st.lists(st.integers(0, 50), min_size=1, max_size=20), st.integers(0, 400))
def test_the_pilot_is_spread_evenly_over_the_bins(free, n_pairs):
    free = np.array(free)
    counts = pilot_draw(free, n_pairs)
    assert counts.sum() == min(n_pairs, free.sum())
    assert (counts <= free).all()
    open_bins = counts < free
    assert not open_bins.any() or counts.max() <= counts[open_bins].min() + 1


def test_shares_follow_the_scores_and_empty_bins_ask_their_neighbours():
    bins = np.repeat([0, 4], 200)
    scores = np.concatenate([np.full(200, 0.1), np.full(200, 0.9)])
    shares = score_shares(bins, scores, 6)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    centres = (np.arange(SCORE_BINS) + 0.5) / SCORE_BINS
    means = shares @ centres
    assert means[0] == pytest.approx(0.1, abs=0.04)
    assert means[4] == pytest.approx(0.9, abs=0.04)
    assert means[0] < means[1] < means[3] < means[4]
    assert means[5] > means[3]


def test_without_scores_every_score_is_as_likely():
    none = np.zeros(0, dtype=np.int64)
    assert np.all(score_shares(none, none.astype(float), 3) == 1 / SCORE_BINS)


def test_a_far_bin_still_has_an_estimate():
    shares = score_shares(np.zeros(5, dtype=np.int64), np.full(5, 0.5), 2000)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert shares[1999].argmax() == SCORE_BINS // 2


def test_the_plan_mixes_the_bins_into_gold_and_respects_what_exists():
    """Three bins with scores around 0.2, 0.5 and 0.8; gold is one half, none, one half."""
    shares = np.zeros((3, SCORE_BINS))
    shares[np.arange(3), (np.array([0.2, 0.5, 0.8]) * SCORE_BINS).astype(int)] = 1
    target = target_of(np.repeat([0.2, 0.8], 200) + np.tile([-0.02, 0.02], 200))
    densities = score_densities(shares, GRID, target.bandwidth)
    goal = Goal(n_keep=100, c=1.0, max_passes=10_000, pilot=10, rounds=2)
    drawn, many = np.array([5, 5, 5]), np.array([1000, 1000, 1000])
    plan = plan_pool(densities, target, drawn, many, goal, 100)
    assert plan.counts[1] == pytest.approx(5, abs=0.5)
    assert plan.counts[0] == pytest.approx(plan.counts[2], rel=0.05)
    assert 100 <= plan.kept < plan.counts.sum() < 135
    scarce = plan_pool(densities, target, drawn, np.array([1000, 1000, 20]), goal, 100)
    assert scarce.counts[2] == pytest.approx(20)
    assert scarce.counts.sum() > plan.counts.sum()


# --- the whole draw --------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("score", [0.0, 0.37, 1.0])
def test_a_few_sentences_are_scored_each_pair_once(n, score):
    strata = stratify(corpus_of(n), unit_rows(n), per_bin=10, seed=0)
    target = target_of(np.array([0.1, 0.5, 0.9]))
    is_drawn, _, _ = draw_pool(
        strata, lambda codes, _: np.full(len(codes), score), target, Goal(50, 1.0, 1000, 5, 2)
    )
    assert is_drawn.all()


def test_equal_cosines_still_give_a_pool():
    rows = np.tile(np.float32([[1, 0]]), (30, 1))
    strata = stratify(corpus_of(30), rows, per_bin=500, seed=0)
    target = target_of(np.random.default_rng(0).beta(2, 2, 500))
    is_drawn, scores, _ = draw_pool(
        strata, lambda codes, _: pair_uniforms(codes, 5), target, Goal(60, 1.0, 400, 20, 3)
    )
    kept, kl = keep(scores[is_drawn], strata.codes[is_drawn], target, 1.0, 60)
    assert kept == 60
    assert is_drawn.sum() < 120
    assert kl < 0.2


def test_a_labeler_that_contradicts_the_proxy_costs_passes_but_is_followed():
    """The more alike by cosine, the lower the score: the estimate learns it."""
    strata = stratify(corpus_of(400), unit_rows(400, 4), per_bin=5000, seed=0)
    target = target_of(np.random.default_rng(0).beta(2, 2, 500))

    def contrary(codes, cosine):
        return np.clip(0.5 - 0.5 * cosine + 0.05 * (pair_uniforms(codes, 3) - 0.5), 0, 1)

    is_drawn, scores, _ = draw_pool(strata, contrary, target, Goal(500, 1.0, 5000, 200, 4))
    kept, kl = keep(scores[is_drawn], strata.codes[is_drawn], target, 1.0, 500)
    assert kept == 500
    assert kl < 0.05
    assert is_drawn.sum() < 900


def test_a_labeler_with_one_answer_ends_at_max_passes():
    strata = stratify(corpus_of(100), unit_rows(100), per_bin=5000, seed=0)
    target = target_of(np.full(50, 0.9))
    is_drawn, _, _ = draw_pool(
        strata, lambda codes, _: np.full(len(codes), 0.1), target, Goal(200, 1.0, 777, 50, 3)
    )
    assert is_drawn.sum() <= 777


@given(
    n_keep=st.integers(1, 300),
    pilot=st.integers(1, 100),
    rounds=st.integers(1, 5),
    max_passes=st.integers(1, 600),
    c=st.sampled_from([0.2, 0.7, 1.0]),
)
@settings(max_examples=15)
def test_no_goal_makes_it_overstep_its_bounds(n_keep, pilot, rounds, max_passes, c):
    """(`draw_pool` checks each round that no bin gives more than it has.)"""
    strata = stratify(corpus_of(40), unit_rows(40, 3), per_bin=30, seed=0)
    target = target_of(np.random.default_rng(0).beta(2, 2, 100))
    is_drawn, _, sizes = draw_pool(
        strata, lambda codes, _: pair_uniforms(codes, 9), target, Goal(n_keep, c, max_passes, pilot, rounds)
    )  # fmt: skip
    assert 1 <= is_drawn.sum() <= max_passes
    assert sizes[0] <= max(pilot, 1)
    assert len(sizes) <= rounds + 4


def test_on_a_skewed_population_it_needs_a_fraction_of_the_passes_and_of_the_kl():
    """A simulation: 2,000 sentences in 400 topics, a labeler that is a noisy logistic of the cosine.

    Plain KDE keeps 4 % of 20,000 random pairs. Stratified, keeping as many takes at most 8 % of these
    passes, and KL(gold‖kept) is at most a quarter.
    """
    rng = np.random.default_rng(0)
    topics = np.repeat(unit_rows(400, 64), 5, axis=0)
    rows = topics + rng.normal(0, 1, (2000, 64)) * rng.uniform(0.01, 0.15, (2000, 1))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    def labeler(codes, cosine):
        noise = np.sqrt(-2 * np.log1p(-pair_uniforms(codes, 3)))
        noise = noise * np.cos(2 * np.pi * pair_uniforms(codes, 4))
        return 1 / (1 + np.exp(-(9 * (cosine - 0.55) + 0.7 * noise)))

    target = target_of(rng.beta(1.5, 1.2, 1000))
    strata = stratify(corpus_of(2000), rows, per_bin=5000, seed=0)
    everything = stratify(corpus_of(2000), rows, per_bin=10**7, seed=0, n_bins=1)
    random_ones = slice(20_000)
    codes = everything.codes[random_ones]
    n_plain, kl_plain = keep(
        labeler(codes, everything.cosine[random_ones]), codes, target, 1.0, 20_000
    )
    is_drawn, scores, _ = draw_pool(strata, labeler, target, Goal(n_plain, 1.0, 20_000, 200, 4))
    n_ours, kl_ours = keep(scores[is_drawn], strata.codes[is_drawn], target, 1.0, n_plain)
    assert n_ours == n_plain
    assert is_drawn.sum() <= 0.08 * 20_000
    assert kl_ours <= 0.25 * kl_plain


def test_the_same_scores_give_the_same_pool():
    strata: Strata = stratify(corpus_of(100), unit_rows(100, 4), per_bin=500, seed=0)
    target = target_of(np.random.default_rng(0).beta(2, 2, 500))
    runs = [
        draw_pool(
            strata, lambda codes, _: pair_uniforms(codes, 9), target, Goal(200, 1.0, 2000, 50, 3)
        )[0]
        for _ in range(2)
    ]
    assert np.array_equal(*runs)
