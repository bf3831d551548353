"""What every sampler must never do, whatever the corpus."""

import hashlib
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augsbert_core.errors import Stopped, WorkbenchError
from augsbert_core.options import SampleOptions
from augsbert_core.pairs import pair_codes
from augsbert_core.progress import never, silent
from augsbert_core.sampling import HAS_TOP_K, NEEDS_ENCODER, SAMPLERS, STRATEGY_NAMES, Corpus
from augsbert_core.sampling.neighbours import Neighbours
from augsbert_core.sampling.tokenize import tokenize

STRATEGIES = sorted(SAMPLERS)
COUNTED = [name for name in STRATEGIES if name not in HAS_TOP_K]

WORDS = ["a", "b", "c", "plane", "dog", "我喜欢", "猫", "👍", "é", "แมวดำ"]
TEXTS = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join),
    st.sampled_from(["", " ", "👍🏽 ❤️", "?!", "猫", "我喜欢猫"]),
    st.text(max_size=8),
)
SENTENCES = st.lists(TEXTS, max_size=12, unique=True)


def embed(texts):
    """Unit vectors that add up one hashed random vector per word: no model, yet alike for alike texts."""
    rows = []
    for text in texts:
        row = np.zeros(16)
        for word in tokenize([text])[0] or [text]:
            digest = hashlib.blake2b(word.encode(errors="surrogatepass"), digest_size=8).digest()
            row += np.random.default_rng(int.from_bytes(digest, "little")).normal(size=16)
        rows.append(row / max(float(np.linalg.norm(row)), 1e-12))
    return np.array(rows).reshape(-1, 16)


def brute_force_search(
    texts, top_k, *, tie_keys=None, excluded=None, report=silent, should_stop=never
):
    """A `Search` in plain numpy: all cosines, sorted."""
    if should_stop():
        raise Stopped
    vectors = embed(texts)
    cosines = np.round(vectors @ vectors.T, 9)
    keys = np.arange(len(texts), dtype=np.uint64) if tie_keys is None else tie_keys
    none = np.empty(0, dtype=np.int64)
    first, second = (none, none) if excluded is None else excluded
    allowed = ~np.eye(len(texts), dtype=bool)
    allowed[first, second] = allowed[second, first] = False
    hit = np.zeros(len(first), dtype=bool)
    query, neighbour, rank = [], [], []
    for row in range(len(texts)):
        order = [i for i in np.lexsort((keys, -cosines[row])) if allowed[row, i]][:top_k]
        query += [row] * len(order)
        neighbour += order
        rank += range(1, len(order) + 1)
        least = cosines[row, order[-1]] if len(order) == top_k else -np.inf
        for one, other in ((first, second), (second, first)):
            hit |= (one == row) & (cosines[row, other] >= least)
    report(1.0, "Compared all")
    query, neighbour = np.array(query, dtype=np.int64), np.array(neighbour, dtype=np.int64)
    rank = np.array(rank, dtype=np.int32)
    return Neighbours(query, neighbour, rank, cosines[query, neighbour], excluded_hit=hit)


def embed_at_once(texts, report=silent, should_stop=never):
    """A `Corpus.embed` without a model."""
    if should_stop():
        raise Stopped
    return embed(texts)


def corpus_of(texts, excluded=(), ids=None, gold=None):
    """A corpus whose excluded pairs, and the gold ones among them, are given as positions."""
    ids = np.arange(100, 100 + len(texts)) if ids is None else np.asarray(ids)
    return Corpus(
        list(texts),
        ids.astype(np.int64),
        codes_of(excluded, ids),
        search=brute_force_search,
        gold=None if gold is None else codes_of(gold, ids),
        embed=embed_at_once,
    )


def codes_of(pairs, ids):
    places = np.array(list(pairs), dtype=np.int64).reshape(-1, 2)
    return pair_codes(ids[places[:, 0]], ids[places[:, 1]])


def as_set(candidates):
    return set(zip(candidates.first.tolist(), candidates.second.tolist(), strict=True))


@st.composite
def corpora(draw):
    texts = draw(SENTENCES)
    pairs = list(combinations(range(len(texts)), 2))
    chosen = draw(st.lists(st.sampled_from(pairs), max_size=9)) if pairs else []
    return corpus_of(texts, [pair[:: draw(st.sampled_from([1, -1]))] for pair in chosen])


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=60)
@given(data=st.data())
def test_every_sampler_keeps_its_promises(strategy, data):
    corpus = data.draw(corpora())
    options = SampleOptions(
        strategy=strategy,
        top_k=data.draw(st.integers(1, 20)),
        variant=data.draw(st.sampled_from(["okapi", "lucene"])),
        stop_words=data.draw(st.sampled_from(["none", "english", "frequent"])),
        n_pairs=data.draw(st.integers(0, 40)),
        seed=data.draw(st.integers(0, 100)),
    )
    candidates = SAMPLERS[strategy](corpus, options)
    codes = pair_codes(candidates.first, candidates.second)
    assert np.all(candidates.first < candidates.second)  # never itself, and one direction only
    assert len(np.unique(codes)) == len(codes)
    assert not np.isin(codes, corpus.excluded).any()
    assert np.isin(candidates.first, corpus.ids).all()
    assert np.isin(candidates.second, corpus.ids).all()
    assert len(candidates.first) == len(candidates.rank) == len(candidates.score)
    assert candidates.first.dtype == candidates.second.dtype == np.int64
    assert candidates.rank.dtype == np.int32
    assert candidates.score.dtype == np.float64
    assert np.all(candidates.rank >= 1)
    if strategy in HAS_TOP_K:
        assert np.all(candidates.rank <= options.top_k)
        assert 0 <= candidates.gold_left_out <= len(corpus.excluded_positions()[0])
    else:
        assert len(candidates) <= options.n_pairs
        assert candidates.gold_left_out is None

    again = SAMPLERS[strategy](corpus, options)
    assert again.notices == candidates.notices
    for name in ("first", "second", "rank", "score", "bm25_rank", "semantic_rank"):
        np.testing.assert_array_equal(getattr(again, name), getattr(candidates, name))


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=40)
@given(data=st.data())
def test_the_order_of_the_file_has_no_influence(strategy, data):
    texts = data.draw(SENTENCES)
    ids = np.arange(50, 50 + len(texts))
    order = np.array(data.draw(st.permutations(range(len(texts)))), dtype=np.int64)
    pairs = [(i, i + 1) for i in range(0, len(texts) - 1, 3)]
    excluded = codes_of(pairs, ids)
    tools = {"search": brute_force_search, "embed": embed_at_once}
    forward = Corpus(texts, ids, excluded, **tools)
    shuffled = Corpus([texts[i] for i in order], ids[order], excluded, **tools)
    options = SampleOptions(strategy=strategy, top_k=2, n_pairs=9, seed=7, variant="lucene")
    one, other = (SAMPLERS[strategy](corpus, options) for corpus in (forward, shuffled))
    for name in ("first", "second", "rank", "bm25_rank", "semantic_rank"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_allclose(one.score, other.score, rtol=0, atol=1e-9)
    assert one.gold_left_out == other.gold_left_out


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    "texts", [[], [""], ["a"], ["", " ", "👍", "?!"], ["我喜欢猫", "我喜欢狗"]]
)
def test_empty_wordless_and_cjk_corpora_are_no_error(strategy, texts):
    options = SampleOptions(strategy=strategy, variant="lucene", n_pairs=3)
    candidates = SAMPLERS[strategy](corpus_of(texts), options)
    assert len(candidates) <= len(texts) * (len(texts) - 1) // 2
    if len(texts) < 2:
        assert candidates.notices
    if texts == ["我喜欢猫", "我喜欢狗"]:
        assert as_set(candidates) == {(100, 101)}


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("strategy", sorted(HAS_TOP_K))
def test_top_k_beyond_a_tiny_corpus_is_clamped_and_said_to_be(strategy, n):
    texts = ["red plane", "red dog", "red onion", "red chess"][:n]
    options = SampleOptions(strategy=strategy, variant="lucene", top_k=9)
    candidates = SAMPLERS[strategy](corpus_of(texts), options)
    assert as_set(candidates) == set(combinations(range(100, 100 + n), 2))
    expected = f"Top-k was lowered from 9 to {n - 1}: the corpus has only {n} sentences."
    assert any(expected in notice for notice in candidates.notices)


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("strategy", COUNTED)
def test_more_pairs_than_there_are_is_clamped_and_said_to_be(strategy, n):
    corpus = corpus_of(["red", "dog", "onion", "chess"][:n])
    candidates = SAMPLERS[strategy](corpus, SampleOptions(strategy=strategy, n_pairs=99))
    assert as_set(candidates) == set(combinations(range(100, 100 + n), 2))
    assert f"lowered from 99 to {n * (n - 1) // 2}" in candidates.notices[0]


@pytest.mark.parametrize("strategy", sorted(HAS_TOP_K))
@settings(max_examples=40)
@given(data=st.data())
def test_gold_left_out_are_the_gold_pairs_that_are_found_when_nothing_is_excluded(strategy, data):
    """With one pair excluded and no ties, it was left out exactly when it is found without exclusion."""
    texts = data.draw(st.lists(TEXTS, min_size=2, max_size=8, unique=True))
    pair = data.draw(st.sampled_from(list(combinations(range(len(texts)), 2))))
    options = SampleOptions(strategy=strategy, top_k=len(texts) - 1, variant="lucene")
    free = SAMPLERS[strategy](corpus_of(texts), options)
    barred = SAMPLERS[strategy](corpus_of(texts, [pair]), options)
    assert barred.gold_left_out == len(free) - len(barred)
    assert free.gold_left_out == 0


@pytest.mark.parametrize("strategy", sorted(HAS_TOP_K))
def test_pairs_of_excluded_silver_sets_do_not_count_as_gold(strategy):
    texts = ["red plane", "red dog", "red onion", "red chess"]
    options = SampleOptions(strategy=strategy, variant="lucene", top_k=3)
    corpus = corpus_of(texts, [(0, 1), (2, 3), (1, 2)], gold=[(0, 1)])
    candidates = SAMPLERS[strategy](corpus, options)
    assert candidates.gold_left_out == 1
    assert len(candidates) == 3


@pytest.mark.parametrize("strategy", sorted(HAS_TOP_K))
def test_a_top_k_below_one_is_a_user_error(strategy):
    with pytest.raises(WorkbenchError, match="Top-k is 0"):
        SAMPLERS[strategy](corpus_of(["a b", "a c"]), SampleOptions(top_k=0))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_progress_reaches_the_end_and_stopping_is_heeded(strategy):
    told = []
    corpus = corpus_of(["red plane", "red dog", "red onion"])
    options = SampleOptions(strategy=strategy, n_pairs=2)
    SAMPLERS[strategy](corpus, options, report=lambda fraction, *_, **__: told.append(fraction))
    assert told == sorted(told)
    assert told[-1] == 1
    with pytest.raises(Stopped):
        SAMPLERS[strategy](corpus, options, should_stop=lambda: True)


@pytest.mark.parametrize("strategy", sorted(NEEDS_ENCODER))
def test_a_semantic_sampler_without_a_search_is_a_programmers_error(strategy):
    corpus = Corpus(["a", "b"], np.array([1, 2]), np.empty(0, dtype=np.int64))
    with pytest.raises(ValueError, match="search"):
        SAMPLERS[strategy](corpus, SampleOptions())


def test_every_strategy_has_a_name_for_the_screen():
    assert STRATEGY_NAMES.keys() == SAMPLERS.keys() | {"stratified-kde"}


def test_stratified_on_cosine_draws_as_many_pairs_from_each_band():
    rng = np.random.default_rng(5)
    words = [f"word{number}" for number in range(12)]
    texts = [" ".join(rng.choice(words, 4, replace=False)) for _ in range(120)]
    corpus = corpus_of(list(dict.fromkeys(texts)))
    drawn = SAMPLERS["cosine-strata"](corpus, SampleOptions(n_pairs=200))
    everything = SAMPLERS["cosine-strata"](corpus, SampleOptions(n_pairs=10**6))
    edges = np.linspace(drawn.score.min() - 1e-9, 1.0, 11)
    drawn_bands = np.histogram(drawn.score, edges)[0]
    random_bands = np.histogram(everything.score, edges)[0] / len(everything) * 200
    assert len(drawn) == 200
    assert drawn_bands.min() >= 6  # 20 each, but for bands whose edges lie a little differently
    assert random_bands.min() < 5
    vectors = embed(corpus.texts)
    places = drawn.first[0] - 100, drawn.second[0] - 100
    np.testing.assert_allclose(drawn.score[0], vectors[places[0]] @ vectors[places[1]], atol=1e-6)


def test_stratified_on_cosine_names_the_bands_that_are_too_small():
    texts = ["red plane", "red dog", "blue onion", "green chess", "old house"]
    drawn = SAMPLERS["cosine-strata"](corpus_of(texts), SampleOptions(n_pairs=100))
    assert any("Cosine bands with fewer pairs than their share" in said for said in drawn.notices)


def test_stratified_on_cosine_finds_similar_pairs_in_a_corpus_too_large_to_look_at_every_pair(
    monkeypatch,
):
    """500 random pairs of this corpus meet two or three of its hundred twins; the nearest neighbours meet all."""
    monkeypatch.setattr("augsbert_core.sampling.strata.MAX_PAIRS", 1000)
    monkeypatch.setattr("augsbert_core.sampling.strata.SAMPLED_PAIRS", 500)
    texts = [f"w{number // 2} v{number // 2} u{number // 2} t{number}" for number in range(200)]
    drawn = SAMPLERS["cosine-strata"](corpus_of(texts), SampleOptions(n_pairs=300))
    twins = drawn.first // 2 == drawn.second // 2
    assert np.count_nonzero(twins) >= 30
