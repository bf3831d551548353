"""Random pairs: distinct, uniform, never excluded, and cheap for a million sentences."""

import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augsbert_core.errors import Stopped, WorkbenchError
from augsbert_core.options import SampleOptions
from augsbert_core.pairs import pair_codes
from augsbert_core.sampling import Corpus
from augsbert_core.sampling.random import draw_distinct, pair_numbers, sample_random, unrank_pairs


def corpus_of(n, excluded=(), ids=None):
    ids = np.arange(n, dtype=np.int64) if ids is None else np.asarray(ids, dtype=np.int64)
    pairs = np.array(excluded, dtype=np.int64).reshape(-1, 2)
    return Corpus([f"s{i}" for i in ids], ids, pair_codes(pairs[:, 0], pairs[:, 1]))


def draw(corpus, n_pairs, seed=42):
    return sample_random(corpus, SampleOptions(strategy="random", n_pairs=n_pairs, seed=seed))


def as_set(candidates):
    return set(zip(candidates.first.tolist(), candidates.second.tolist(), strict=True))


@given(st.integers(0, 12), st.integers(0, 80), st.data())
def test_exactly_as_many_pairs_as_asked_or_as_there_are(n, n_pairs, data):
    all_pairs = list(combinations(range(n), 2))
    gold = data.draw(st.lists(st.sampled_from(all_pairs), max_size=30)) if all_pairs else []
    flipped = [(b, a) for a, b in gold]
    candidates = draw(corpus_of(n, flipped), n_pairs)
    available = set(all_pairs) - set(gold)
    assert len(candidates) == len(as_set(candidates)) == min(n_pairs, len(available))
    assert as_set(candidates) <= available
    assert sorted(candidates.rank.tolist()) == list(range(1, len(candidates) + 1))
    assert bool(candidates.notices) == (n_pairs > len(available))


def test_asking_for_more_than_there_is_says_so():
    candidates = draw(corpus_of(4, [(0, 1)]), 50)
    assert as_set(candidates) == set(combinations(range(4), 2)) - {(0, 1)}
    assert candidates.notices == [
        "The number of pairs was lowered from 50 to 5: the 4 sentences have no more pairs that are "
        "neither gold nor excluded."
    ]


@pytest.mark.parametrize("n_pairs", [2, 7])  # few of the pairs, and more than half of them
def test_every_pair_is_drawn_equally_often(n_pairs):
    excluded = [(0, 3), (2, 1)]
    times = 3000
    counts: dict[tuple[int, int], int] = {}
    for seed in range(times):
        for pair in as_set(draw(corpus_of(5, excluded), n_pairs, seed)):
            counts[pair] = counts.get(pair, 0) + 1
    expected = times * n_pairs / 8
    assert len(counts) == 8
    deviation = np.sqrt(times * (n_pairs / 8) * (1 - n_pairs / 8))
    assert max(abs(count - expected) for count in counts.values()) < 4.5 * deviation


def test_the_draw_depends_on_the_seed_but_not_on_the_order_of_the_file():
    ids = [40, 7, 99, 3, 12, 55]
    forward = draw(corpus_of(6, [(7, 99)], ids), 6)
    backward = draw(corpus_of(6, [(7, 99)], ids[::-1]), 6)
    assert as_set(forward) == as_set(backward)
    assert (7, 99) not in as_set(forward)
    assert any(as_set(draw(corpus_of(6, (), ids), 6, seed)) != as_set(forward) for seed in (1, 2))


def test_the_first_ranks_are_a_draw_of_their_own():
    """Not the pairs with the smallest ids: the ranks are shuffled over the pairs."""
    candidates = draw(corpus_of(100), 1000)
    best = candidates.first[candidates.rank <= 100]
    assert 20 < best.mean() < 46  # the mean smaller id of a random pair is 33


def test_without_a_number_top_k_per_sentence_are_drawn():
    assert len(sample_random(corpus_of(50), SampleOptions(strategy="random", top_k=3))) == 150


def test_a_million_sentences_cost_memory_for_the_drawn_pairs_only():
    corpus = corpus_of(3, [(0, 1)])
    ids = np.arange(1_000_000, dtype=np.int64)
    large = Corpus(["s"] * len(ids), ids, corpus.excluded)
    tracemalloc.start()
    candidates = draw(large, 200_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(as_set(candidates)) == 200_000
    assert candidates.second.max() > 990_000
    assert peak < 100e6


def test_pair_numbers_count_all_pairs_once():
    pairs = list(combinations(range(9), 2))
    first, second = (np.array(column) for column in zip(*pairs, strict=True))
    numbers = pair_numbers(second, first)
    assert sorted(numbers.tolist()) == list(range(36))
    low, high = unrank_pairs(numbers)
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == pairs


@given(st.integers(1, 2**31 - 1), st.integers(0, 2**31 - 1))
def test_unranking_is_exact_for_the_largest_corpora(high, low):
    low = low % high
    number = pair_numbers(np.array([low]), np.array([high]))
    assert [int(column[0]) for column in unrank_pairs(number)] == [low, high]


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 5))
def test_draw_distinct_gives_distinct_numbers_in_range(population, count, seed):
    rng = np.random.default_rng(seed)
    if count > population:
        with pytest.raises(ValueError, match="cannot draw"):
            draw_distinct(rng, population, count)
        return
    drawn = draw_distinct(rng, population, count)
    assert len(set(drawn.tolist())) == count
    assert all(0 <= number < population for number in drawn.tolist())


def test_a_negative_number_is_a_user_error_and_stopping_is_heeded():
    with pytest.raises(WorkbenchError, match="number of pairs is -1"):
        draw(corpus_of(5), -1)
    with pytest.raises(Stopped):
        sample_random(corpus_of(5), SampleOptions(n_pairs=3), should_stop=lambda: True)
