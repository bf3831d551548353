"""Which pairs people see, and why: what every queue promises, and what each is for."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augsbert_core.density import density, kl_divergence, unit_grid
from augsbert_core.errors import WorkbenchError
from augsbert_core.pairs import ScoreRange
from augsbert_core.queues import QUEUES, Mistake, Pool, choose, word_likeness
from augsbert_core.queues.simple import N_STRATA, equal_shares

UNKNOWN = float("nan")
SCORES = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.2, 0.5, 1.0, UNKNOWN]))

NEEDED_ARRAYS = {"scores": "scores", "students": "students", "order_gaps": "order_gaps", "spreads": "spreads"}  # fmt: skip


@st.composite
def pools(draw):
    size = draw(st.integers(1, 40))

    def column():
        return np.array(draw(st.lists(SCORES, min_size=size, max_size=size)))

    likeness = np.array(draw(st.lists(st.floats(0, 1), min_size=2 * size, max_size=2 * size)))
    return Pool(
        size,
        scores=column(),
        students=column(),
        order_gaps=column(),
        spreads=column(),
        reference=np.array(draw(st.lists(st.floats(0, 1), max_size=9))),
        threshold=draw(st.floats(0, 1)),
        mistakes=[Mistake("a", 0.9, 0.2), Mistake("b", 0.1, 0.4)],
        similarity=likeness.reshape(size, 2),
    )


@pytest.mark.parametrize("name", QUEUES)
@settings(max_examples=60)
@given(pool=pools(), n=st.integers(1, 60), seed=st.integers(0, 99))
def test_every_queue_keeps_its_promises(name, pool, n, seed):
    queue = QUEUES[name]
    usable = np.ones(pool.size, dtype=bool)
    for need in queue.needs:
        if need in NEEDED_ARRAYS:
            usable &= np.isfinite(getattr(pool, need))
    if name == "like-corrected":
        usable &= pool.similarity.max(axis=1) > 0
    if not usable.any():
        with pytest.raises(WorkbenchError, match="found no pair"):
            choose(queue, pool, n, np.random.default_rng(seed))
        return
    chosen = choose(queue, pool, n, np.random.default_rng(seed))
    assert chosen.positions.dtype == np.int64
    assert len(chosen) == min(n, np.count_nonzero(usable))
    assert len(np.unique(chosen.positions)) == len(chosen)
    assert usable[chosen.positions].all()  # in range, and never a pair with a NaN that counts
    assert len(chosen.reasons) == len(chosen)
    assert all(isinstance(reason, str) and reason for reason in chosen.reasons)
    assert any("lowered" in said for said in chosen.notices) == (len(chosen) < n)

    again = choose(queue, pool, n, np.random.default_rng(seed))
    np.testing.assert_array_equal(again.positions, chosen.positions)
    assert (again.reasons, again.notices) == (chosen.reasons, chosen.notices)


@pytest.mark.parametrize("name", QUEUES)
def test_ties_are_broken_by_the_generator_and_not_by_the_order_of_the_pool(name):
    same = np.full(60, 0.4)
    pool = Pool(
        60, scores=same, students=same - 0.1, order_gaps=same, spreads=same, threshold=0.5,
        mistakes=[Mistake("a", 0.9, 0.2)], similarity=np.ones((60, 1)),
    )  # fmt: skip
    one, other = (
        set(choose(QUEUES[name], pool, 5, np.random.default_rng(seed)).positions.tolist())
        for seed in (1, 2)
    )
    assert one != other
    assert max(one | other) > 15


def test_what_a_queue_lacks_is_said():
    for name, queue in QUEUES.items():
        if name == "random":
            continue
        with pytest.raises(WorkbenchError, match=f"The queue '{queue.title}' needs"):
            choose(queue, Pool(3), 2, np.random.default_rng(1))
    with pytest.raises(WorkbenchError, match="The number of pairs is 0"):
        choose(QUEUES["random"], Pool(3), 0, np.random.default_rng(1))
    with pytest.raises(ValueError, match="2 scores for 3 pairs"):
        Pool(3, scores=np.zeros(2))


def test_reasons_are_in_plain_words_and_on_the_scale_of_the_project():
    pool = Pool(
        3,
        scores=np.array([0.91, 0.5, 0.2]),
        students=np.array([0.30, 0.5, 0.2]),
        order_gaps=np.array([0.31, UNKNOWN, 0.0]),
        spreads=np.array([0.1, 0.2, 0.0]),
        threshold=0.55,
        mistakes=[Mistake("How do I …", 0.9, 0.2)],
        similarity=np.array([[0.8], [0.0], [0.1]]),
    )

    def first(name, pool=pool):
        return choose(QUEUES[name], pool, 1, np.random.default_rng(1)).reasons[0]

    assert first("disagreement") == "labeler 0.91, bi-encoder 0.30"
    assert first("order-gap") == "order gap 0.31"
    assert first("seed-spread") == "the labeler's members spread by 0.20"
    assert first("threshold") == "0.05 from the threshold 0.55"
    assert first("like-corrected") == "like 'How do I …', which was corrected from 0.90 to 0.20"
    on_five = replace(pool, scale=ScoreRange(0, 5))
    assert first("disagreement", on_five) == "labeler 4.55, bi-encoder 1.50"
    assert first("order-gap", on_five) == "order gap 1.55"


def test_the_largest_comes_first():
    gaps = np.random.default_rng(3).random(500)
    chosen = choose(QUEUES["order-gap"], Pool(500, order_gaps=gaps), 20, np.random.default_rng(1))
    np.testing.assert_array_equal(chosen.positions, np.argsort(-gaps)[:20])


def test_a_small_correction_is_no_mistake_to_look_for_when_there_are_large_ones():
    mistakes = [Mistake("small", 0.5, 0.55), Mistake("large", 0.9, 0.1)]
    likeness = np.array([[1.0, 0.0], [0.0, 0.3], [0.9, 0.2]])
    pool = Pool(3, mistakes=mistakes, similarity=lambda rows: likeness[rows])
    chosen = choose(QUEUES["like-corrected"], pool, 3, np.random.default_rng(1))
    assert chosen.positions.tolist() == [1, 2]
    assert all("large" in reason for reason in chosen.reasons)


# --- density gaps ---------------------------------------------------------------------------------


def flatness(scores):
    """KL(uniform‖density): 0 for scores that are spread evenly."""
    grid = unit_grid()
    return kl_divergence(np.ones(len(grid)), density(scores, grid, 0.05), grid)


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), shape=st.sampled_from([(1, 5), (5, 1), (2, 2), (0.5, 0.5)]))
def test_density_gap_flattens_where_random_does_not(seed, shape):
    rng = np.random.default_rng(seed)
    scores = rng.beta(*shape, size=5000)
    drawn = [
        choose(QUEUES[name], Pool(5000, scores=scores), 300, np.random.default_rng(seed)).positions
        for name in ("density-gap", "random")
    ]
    by_gap, by_chance = (flatness(scores[positions]) for positions in drawn)
    assert by_gap < by_chance


def test_density_gap_fills_the_valleys_of_gold():
    rng = np.random.default_rng(7)
    gold = np.clip(np.concatenate([rng.normal(0.2, 0.06, 300), rng.normal(0.85, 0.06, 300)]), 0, 1)
    scores = rng.beta(1, 4, size=20_000)
    pool = Pool(20_000, scores=scores, reference=gold, reference_name="gold", pool_name="silver")
    by_gap = choose(QUEUES["density-gap"], pool, 200, np.random.default_rng(1))
    by_chance = choose(QUEUES["random"], pool, 200, np.random.default_rng(1))
    chosen = scores[by_gap.positions]
    assert np.mean((chosen > 0.35) & (chosen < 0.7)) > 0.8
    together = [
        flatness(np.concatenate([gold, scores[found.positions]])) for found in (by_gap, by_chance)
    ]
    assert together[0] < together[1]
    place = int(np.argmin(np.abs(chosen - 0.55)))
    held = np.mean((gold >= 0.5) & (gold < 0.6))
    own = np.mean((scores >= 0.5) & (scores < 0.6))
    assert by_gap.reasons[place] == (
        f"score region 0.5–0.6 holds {'under 1 %' if 0 < held < 0.01 else f'{100 * held:.0f} %'} of gold but "
        f"{100 * own:.0f} % of silver"
    )


def test_density_gap_without_gold_speaks_of_the_pool_alone():
    pool = Pool(4, scores=np.array([0.1, 0.1, 0.1, 0.95]), pool_name="the candidates")
    chosen = choose(QUEUES["density-gap"], pool, 4, np.random.default_rng(1))
    by_place = dict(zip(chosen.positions.tolist(), chosen.reasons, strict=True))
    assert by_place[3] == "score region 0.9–1 holds 25 % of the candidates"


# --- strata ---------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(
    scores=st.lists(st.floats(0, 1), min_size=1, max_size=200),
    n=st.integers(1, 60),
    seed=st.integers(0, 99),
)
def test_score_strata_draw_equally_from_every_region_that_has_pairs(scores, n, seed):
    scores = np.array(scores)
    pool = Pool(len(scores), scores=scores)
    chosen = choose(QUEUES["score-strata"], pool, n, np.random.default_rng(seed))
    n_strata = min(N_STRATA, n, len(scores))
    region = np.minimum((scores * n_strata).astype(int), n_strata - 1)
    sizes = np.bincount(region, minlength=n_strata)
    np.testing.assert_array_equal(chosen.strata, region[chosen.positions])
    np.testing.assert_array_equal(chosen.stratum_sizes, sizes[chosen.strata])
    drawn = np.bincount(chosen.strata, minlength=n_strata)
    assert (drawn[sizes > 0] >= 1).all()
    not_emptied = drawn[drawn < sizes]
    assert len(not_emptied) == 0 or (
        not_emptied.max() - not_emptied.min() <= 1 and drawn.max() <= not_emptied.min() + 1
    )


def test_reasons_of_an_audit_do_not_tell_the_score():
    pool = Pool(100, scores=np.linspace(0, 1, 100))
    chosen = choose(QUEUES["score-strata"], pool, 50, np.random.default_rng(1))
    assert len(set(chosen.reasons)) == 1
    assert np.bincount(chosen.strata).tolist() == [10] * 5
    assert np.count_nonzero(np.diff(chosen.strata)) > 20  # nor does the order


@given(sizes=st.lists(st.integers(0, 30), min_size=1, max_size=8), share=st.floats(0, 1))
def test_equal_shares_use_up_what_is_asked(sizes, share):
    sizes = np.array(sizes)
    n = int(share * sizes.sum())
    shares = equal_shares(sizes, n)
    assert shares.sum() == n
    assert (shares <= sizes).all()


# --- likeness -------------------------------------------------------------------------------------


def test_pairs_are_alike_by_the_words_of_both_sentences():
    texts = ["how do i cook rice", "cook rice how", "the red plane", "?!", "ich koche", "米饭"]
    places = np.array([[0, 2, 3, 1], [1, 4, 3, 2]])
    likeness = word_likeness(
        texts, places, [("how do i cook rice", "cook rice how"), ("米饭", "rice")]
    )
    found = likeness(np.arange(4))
    assert found.shape == (4, 2)
    assert found[0, 0] == pytest.approx(1.0, abs=1e-6)
    assert found[1, 0] == 0.0
    assert found[2].tolist() == [0.0, 0.0]
    assert 0.0 < found[3, 0] < found[0, 0]
    np.testing.assert_allclose(likeness(np.array([3])), found[3:4])
