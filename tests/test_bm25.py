"""BM25 top-k against rank_bm25, and what a sampler must never do."""

import math
import threading
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from augsbert_core.errors import Stopped, WorkbenchError
from augsbert_core.options import SampleOptions
from augsbert_core.pairs import pair_codes
from augsbert_core.sampling import Corpus, bm25, bm25_kernel
from augsbert_core.sampling.bm25 import build_index, neighbours, sample_bm25
from augsbert_core.sampling.neighbours import text_hashes
from augsbert_core.sampling.tokenize import tokenize

PLANES = [
    "A plane is taking off.",
    "An air plane is taking off.",
    "A man is playing a flute, a large flute.",
    "A man plays the flute.",
    "Three men are playing chess.",
    "Two men play chess in the park.",
    "A woman slices an onion.",
    "Somebody is slicing onions.",
    "The dog runs through the park.",
]

SENTENCES = st.lists(
    st.one_of(
        st.lists(
            st.sampled_from(["a", "b", "c", "plane", "dog", "我喜欢", "猫", "👍", "é"]), max_size=6
        ).map(" ".join),
        st.text(max_size=8),
    ),
    max_size=12,
)


def corpus_of(texts, excluded=(), first_id=100):
    ids = np.arange(first_id, first_id + len(texts), dtype=np.int64)
    pairs = np.array(excluded, dtype=np.int64).reshape(-1, 2) + first_id
    return Corpus(texts, ids, pair_codes(pairs[:, 0], pairs[:, 1]))


def as_set(candidates):
    return set(zip(candidates.first.tolist(), candidates.second.tolist(), strict=True))


@st.composite
def corpora(draw):
    texts = draw(SENTENCES)
    if len(texts) < 2:
        return corpus_of(texts)
    position = st.integers(0, len(texts) - 1)
    pairs = draw(st.lists(st.tuples(position, position).filter(lambda p: p[0] != p[1]), max_size=9))
    return corpus_of(texts, pairs)


def zipf_tokens(n):
    """n sentences whose words are as unevenly frequent as those of a language."""
    rng = np.random.default_rng(7)
    shares = 1 / np.arange(1, 901)
    draws = rng.choice([f"w{i}" for i in range(900)], size=(n, 15), p=shares / shares.sum())
    return [row[: rng.integers(1, 16)].tolist() for row in draws]


def some_pairs(found):
    """Distinct pairs of sentences, some of them near neighbours and some not."""
    near = np.stack([found.query[::9], found.neighbour[::9]])
    far = np.stack([np.arange(0, 1400, 7), np.arange(3, 1403, 7)])
    return tuple(np.unique(np.sort(np.concatenate([near, far], axis=1), axis=0), axis=1))


def brute_force(texts, top_k, excluded):
    """Per query, the sorted scores of its best neighbours, straight from BM25Okapi."""
    tokens = tokenize(texts)
    peer = BM25Okapi(tokens)
    best = []
    for query, words in enumerate(tokens):
        scores = peer.get_scores(words)
        allowed = [
            score
            for other, score in enumerate(scores)
            if other != query and (min(query, other), max(query, other)) not in excluded
        ]
        best.append(sorted((score for score in allowed if score > 1e-9), reverse=True)[:top_k])
    return best


# --- scores -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("k1", "b"), [(None, None), (0.9, 0.4), (2.0, 1.0), (1.2, 0.0)])
def test_okapi_scores_are_those_of_rank_bm25(k1, b):
    texts = [*PLANES, "", "chess chess chess chess", "the the plane plane onion"]
    tokens = tokenize(texts)
    ours = build_index(tokens, "okapi", k1, b).scores(0, len(texts))
    peer = BM25Okapi(tokens, k1=1.5 if k1 is None else k1, b=0.75 if b is None else b)
    with np.errstate(invalid="ignore"):
        expected = np.array([peer.get_scores(words) for words in tokens])
    # With b = 1 the peer divides zero by zero for a sentence without words; it scores nothing.
    expected = np.nan_to_num(expected)
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-9)


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=9), min_size=1, max_size=12))
def test_okapi_scores_equal_rank_bm25_with_repeated_words_and_negative_idf(tokens):
    if not any(tokens):
        return  # rank_bm25 divides by zero
    peer = BM25Okapi(tokens)
    expected = np.array([peer.get_scores(words) for words in tokens])
    np.testing.assert_allclose(
        build_index(tokens).scores(0, len(tokens)), expected, rtol=0, atol=1e-9
    )


def test_frequent_and_rare_words_together_equal_rank_bm25():
    tokens = zipf_tokens(700)
    index = build_index(tokens)
    peer = BM25Okapi(tokens)
    for query in range(0, 700, 35):
        np.testing.assert_allclose(
            index.scores(query, query + 1)[0], peer.get_scores(tokens[query]), rtol=0, atol=1e-9
        )


def test_lucene_scores_follow_its_formula():
    tokens = [["a", "b", "a"], ["a", "c"], ["d"]]
    idf_a = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    idf_c = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    norm = 1.2 * (1 - 0.75 + 0.75 * 2 / 2)
    scores = build_index(tokens, "lucene").scores(0, 3)
    assert scores[0, 1] == pytest.approx(2 * idf_a * 1 / (1 + norm))  # "a" twice in the query
    assert scores[1, 1] == pytest.approx((idf_a + idf_c) * 1 / (1 + norm))
    assert scores[0, 2] == 0


@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (0.9, 0.4), (2.0, 1.0)])
def test_lucene_scores_are_those_of_bm25s(k1, b):
    bm25s = pytest.importorskip("bm25s")
    tokens = tokenize([*PLANES, "chess chess chess chess", "the the plane plane onion"])
    peer = bm25s.BM25(method="lucene", k1=k1, b=b, dtype="float64")
    peer.index(tokens, show_progress=False)
    expected = np.array([peer.get_scores(words) for words in tokens])
    ours = build_index(tokens, "lucene", k1, b).scores(0, len(tokens))
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-6)


# --- neighbours ---------------------------------------------------------------------------------------


@settings(deadline=None)
@given(corpora(), st.integers(1, 6))
def test_the_best_neighbours_are_those_of_a_plain_loop(corpus, top_k):
    if not any(tokenize(corpus.texts)):
        return
    first, second = corpus.excluded_positions()
    excluded = {(min(p), max(p)) for p in zip(first.tolist(), second.tolist(), strict=True)}
    found = neighbours(build_index(tokenize(corpus.texts)), top_k, excluded=(first, second))
    for query, expected in enumerate(brute_force(corpus.texts, top_k, excluded)):
        mine = found.query == query
        np.testing.assert_allclose(found.score[mine], expected, rtol=0, atol=1e-9)
        assert found.rank[mine].tolist() == list(range(1, len(expected) + 1))


@pytest.mark.parametrize("top_k", [1, 5, 40])
def test_cutting_the_rows_short_loses_no_neighbour(top_k):
    """Few words that are all frequent, so that nearly every sentence is seen, and many blocks."""
    rng = np.random.default_rng(3)
    tokens = [rng.choice(list("abcdefghijklmnopqrst"), 6).tolist() for _ in range(3000)]
    index = build_index(tokens)
    found = neighbours(index, top_k)
    assert len(found.query) == 3000 * top_k
    for query in range(0, 3000, 250):
        scores = index.scores(query, query + 1)[0]
        scores[query] = 0
        expected = np.sort(scores)[::-1][:top_k]
        np.testing.assert_allclose(found.score[found.query == query], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("variant", ["okapi", "lucene"])
@pytest.mark.parametrize("top_k", [1, 5, 60])
def test_leaving_frequent_words_unread_loses_no_neighbour(variant, top_k):
    """Words as frequent as in a language, where most long lists of sentences are never walked."""
    tokens = zipf_tokens(1500)
    index = build_index(tokens, variant)
    keys = text_hashes([" ".join(words) for words in tokens], seed=1)
    barred = some_pairs(neighbours(index, 3))
    found = neighbours(index, top_k, tie_keys=keys, excluded=barred)
    scores = index.scores(0, len(tokens))
    np.fill_diagonal(scores, 0)
    hits = scores[barred], scores.T[barred]
    scores[barred] = scores.T[barred] = 0
    order = np.lexsort((np.broadcast_to(keys, scores.shape), -np.round(scores / 1e-9)), axis=1)
    expected = order[:, :top_k]
    best = np.take_along_axis(scores, expected, axis=1)
    np.testing.assert_array_equal(found.neighbour, expected[best > 1e-9])
    np.testing.assert_allclose(found.score, best[best > 1e-9], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(found.rank, np.nonzero(best > 1e-9)[1] + 1)
    last = np.where(best[:, -1] > 1e-9, np.round(best[:, -1] / 1e-9), 2)
    reached = [
        np.round(score / 1e-9) >= last[side] for score, side in zip(hits, barred, strict=True)
    ]
    np.testing.assert_array_equal(found.excluded_hit, reached[0] | reached[1])
    assert 0 < found.excluded_hits < len(barred[0])


def test_the_number_of_threads_does_not_change_the_result(monkeypatch):
    index = build_index(zipf_tokens(2000))
    found = []
    for n in (1, 3):
        monkeypatch.setattr(bm25, "_n_processors", lambda n=n: n)
        found.append(neighbours(index, 5))
    for name in ("query", "neighbour", "rank", "score"):
        np.testing.assert_array_equal(getattr(found[0], name), getattr(found[1], name))


def test_stopping_in_the_middle_ends_the_threads():
    told = []
    index = build_index(zipf_tokens(3000))
    before = threading.active_count()
    with pytest.raises(Stopped):
        neighbours(
            index,
            5,
            report=lambda fraction, *_, **__: told.append(fraction),
            should_stop=lambda: bool(told),
        )
    assert len(told) == 1
    assert 0 < told[0] < 1
    assert threading.active_count() == before


def test_a_folder_that_cannot_be_written_to_costs_the_cache_only(monkeypatch):
    import numba

    plain = numba.njit

    def without_folder(function=None, *, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return plain(function, **options)

    monkeypatch.setattr(numba, "njit", without_folder)
    assert bm25_kernel.compiled_best_matches.__wrapped__().py_func is bm25_kernel.best_matches


def test_memory_stays_far_below_the_full_table_of_scores():
    rng = np.random.default_rng(5)
    tokens = [rng.choice(list("abcdefghijklmnopqrst"), 6).tolist() for _ in range(4000)]
    index = build_index(tokens)
    tracemalloc.start()
    neighbours(index, 5)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4000 * 4000 * 8 / 4


def test_gold_pairs_do_not_use_up_the_top_k():
    without = sample_bm25(corpus_of(PLANES), SampleOptions(top_k=1))
    gold = sorted((a - 100, b - 100) for a, b in as_set(without))
    second_best = sample_bm25(corpus_of(PLANES, gold), SampleOptions(top_k=1))
    assert as_set(second_best).isdisjoint(as_set(without))
    assert len(second_best) > 0


def test_a_pair_found_from_both_sides_keeps_the_better_rank_and_the_larger_score():
    texts = ["red apple", "red apple pie crust", "red wine", *PLANES]
    scores = build_index(tokenize(texts)).scores(0, len(texts))
    candidates = sample_bm25(corpus_of(texts), SampleOptions(top_k=11))
    where = (candidates.first == 100) & (candidates.second == 101)
    assert candidates.score[where] == pytest.approx(max(scores[0, 1], scores[1, 0]))
    assert scores[0, 1] != pytest.approx(scores[1, 0])
    assert candidates.rank[where] == 1


def test_ties_are_broken_by_text_and_seed_not_by_file_order():
    texts = [f"common filler{i}" for i in range(40)] + [f"other{i}" for i in range(60)]
    reversed_corpus = Corpus(
        texts[::-1], np.arange(100, dtype=np.int64)[::-1], np.empty(0, np.int64)
    )
    corpus = Corpus(texts, np.arange(100, dtype=np.int64), np.empty(0, dtype=np.int64))
    by_seed = [as_set(sample_bm25(corpus, SampleOptions(top_k=2, seed=seed))) for seed in (1, 2)]
    assert by_seed[0] != by_seed[1]
    assert as_set(sample_bm25(reversed_corpus, SampleOptions(top_k=2, seed=1))) == by_seed[0]


def test_text_hashes_depend_on_text_and_seed_only():
    first = text_hashes(["a", "b", "\ud83d"], seed=1)
    assert first.tolist() == text_hashes(["a", "b", "\ud83d"], seed=1).tolist()
    assert len(set(first.tolist()) | set(text_hashes(["a", "b"], seed=2).tolist())) == 5


# --- small and odd corpora, notices, errors --------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_sentences_give_no_pairs_and_say_so(n):
    candidates = sample_bm25(corpus_of(PLANES[:n]), SampleOptions())
    assert len(candidates) == 0
    assert "two are needed" in candidates.notices[0]


@pytest.mark.parametrize("n", [2, 3, 4])
def test_tiny_corpora_give_every_pair_that_shares_a_word_with_lucene(n):
    texts = ["red plane", "red dog", "red onion", "red chess"][:n]
    candidates = sample_bm25(corpus_of(texts), SampleOptions(variant="lucene"))
    assert len(candidates) == n * (n - 1) // 2
    assert candidates.notices == [
        f"Top-k was lowered from 5 to {n - 1}: the corpus has only {n} sentences."
    ]


@pytest.mark.parametrize("n", [2, 3, 4])
def test_okapi_on_a_tiny_corpus_recommends_lucene(n):
    texts = ["red plane", "red plane", "red plane", "red plane"][:n]
    candidates = sample_bm25(corpus_of(texts), SampleOptions(variant="okapi"))
    assert len(candidates) == 0
    assert "Choose the lucene variant." in candidates.notices[-1]


def test_sentences_that_share_nothing_are_said_to():
    candidates = sample_bm25(corpus_of(["red", "green", "blue"]), SampleOptions(top_k=1))
    assert len(candidates) == 0
    assert candidates.notices == ["No two sentences share a word, so there is no pair to return."]


def test_sentences_without_words_are_skipped_and_counted():
    candidates = sample_bm25(corpus_of([*PLANES, "", "👍", "?!"]), SampleOptions(top_k=2))
    assert candidates.notices == ["3 sentences have no words and were skipped."]
    assert candidates.second.max() < 100 + len(PLANES)


def test_sentences_of_stop_words_alone_are_skipped_and_counted():
    texts = ["the of and", "it is", *PLANES]
    candidates = sample_bm25(corpus_of(texts), SampleOptions(top_k=2, stop_words="english"))
    assert candidates.first.min() >= 102
    assert candidates.notices == [
        "13 stop words were left out (english).",
        "2 sentences have no words besides stop words and were skipped.",
    ]


def test_frequent_words_are_left_out_from_twenty_sentences_on():
    texts = [f"the word{i} extra{i // 2}" for i in range(20)]
    with_them = sample_bm25(corpus_of(texts), SampleOptions(variant="lucene", top_k=3))
    without = sample_bm25(
        corpus_of(texts), SampleOptions(variant="lucene", top_k=3, stop_words="frequent")
    )
    assert len(with_them) > 10
    assert as_set(without) == {(100 + i, 101 + i) for i in range(0, 20, 2)}
    assert without.notices == ["1 stop word was left out (frequent)."]
    few = sample_bm25(corpus_of(texts[:19]), SampleOptions(top_k=3, stop_words="frequent"))
    assert few.notices == []


def test_character_bigrams_are_said_to_be_used():
    texts = [*PLANES, "我喜欢吃苹果", "他喜欢吃苹果派"]
    candidates = sample_bm25(corpus_of(texts), SampleOptions(top_k=1))
    assert candidates.notices == [
        "2 sentences in scripts without spaces were cut into character bigrams, not words."
    ]


def test_chinese_and_emoji_sentences_find_their_neighbours():
    texts = [
        "我喜欢吃苹果",
        "他喜欢吃苹果派",
        "今天下雨了",
        "明天会下雨了",
        "苹果 👍👍",
        "👍",
        "x",
        "y",
    ]
    candidates = sample_bm25(corpus_of(texts), SampleOptions(top_k=1))
    assert {(100, 101), (102, 103)} <= as_set(candidates)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (SampleOptions(top_k=0), "Top-k is 0"),
        (SampleOptions(variant="plus"), "'plus' is not known. Choose okapi or lucene"),
        (SampleOptions(k1=-1.0), "k1 is -1"),
        (SampleOptions(k1=math.inf), "k1 is inf"),
        (SampleOptions(b=1.5), "b is 1.5"),
        (SampleOptions(stop_words="german"), "'german' are not known. Choose one of none, english"),
    ],
)
def test_impossible_options_name_the_value_and_the_remedy(options, part):
    with pytest.raises(WorkbenchError, match=part):
        sample_bm25(corpus_of(PLANES), options)


def test_progress_is_told_and_stopping_is_heeded():
    told = []
    sample_bm25(
        corpus_of(PLANES), SampleOptions(), report=lambda fraction, *_, **__: told.append(fraction)
    )
    assert told[0] == 0
    assert told[-1] == 1
    with pytest.raises(Stopped):
        sample_bm25(corpus_of(PLANES), SampleOptions(), should_stop=lambda: True)


def test_a_corpus_refuses_ids_that_cannot_be_told_apart():
    nothing = np.empty(0, dtype=np.int64)
    with pytest.raises(ValueError, match="unique"):
        Corpus(["a", "b"], np.array([1, 1]), nothing)
    with pytest.raises(ValueError, match="2 texts but 1 ids"):
        Corpus(["a", "b"], np.array([1]), nothing)
    with pytest.raises(ValueError, match=r"2\*\*31"):
        Corpus(["a"], np.array([2**31]), nothing)


def test_exclusions_outside_the_corpus_do_no_harm():
    corpus = Corpus(
        ["a b", "a c"], np.array([7, 3]), pair_codes(np.array([3, 7, 9]), np.array([4, 9, 10]))
    )
    assert [len(positions) for positions in corpus.excluded_positions()] == [0, 0]
    one = Corpus(["a b", "a c"], np.array([7, 3]), pair_codes(np.array([7]), np.array([3])))
    assert {int(positions[0]) for positions in one.excluded_positions()} == {0, 1}
