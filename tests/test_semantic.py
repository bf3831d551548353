"""Semantic sampling, alone and joined with BM25: what it must find, and what it must never return."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.models.search import exact_neighbours
from augsbert_core.options import SampleOptions
from augsbert_core.pairs import pair_codes
from augsbert_core.sampling import SAMPLERS, Corpus
from augsbert_core.sampling.bm25 import sample_bm25
from augsbert_core.sampling.semantic import sample_semantic
from augsbert_core.sampling.union import sample_bm25_semantic

TEXTS = ["a cat", "a kitten", "the dog runs", "the dog jogs", "rain", "snow falls", "a dog"]

SENTENCES = st.lists(
    st.one_of(
        st.lists(st.sampled_from(["cat", "dog", "猫", "👍", "é"]), max_size=5).map(" ".join),
        st.text(max_size=6),
    ),
    max_size=10,
)


def letters_search(texts, top_k, *, tie_keys=None, excluded=None, **callbacks):
    """A search whose embeddings count letters: like texts are near, and no model is needed."""
    embeddings = np.array(
        [np.bincount([ord(c) % 31 for c in text] or [31], minlength=32) for text in texts],
        dtype=np.float32,
    )
    embeddings /= np.linalg.norm(embeddings, axis=1, keepdims=True)
    return exact_neighbours(embeddings, top_k, tie_keys=tie_keys, excluded=excluded, **callbacks)


def corpus_of(texts, excluded=(), first_id=100, **fields):
    ids = np.arange(first_id, first_id + len(texts), dtype=np.int64)
    pairs = np.array(excluded, dtype=np.int64).reshape(-1, 2) + first_id
    codes = pair_codes(pairs[:, 0], pairs[:, 1])
    return Corpus(texts, ids, codes, search=letters_search, **fields)


def as_dict(candidates, values):
    keys = zip(candidates.first.tolist(), candidates.second.tolist(), strict=True)
    return dict(zip(keys, values.tolist(), strict=True))


def test_every_sentence_finds_its_nearest_neighbours():
    found = sample_semantic(corpus_of(TEXTS), SampleOptions(top_k=1))
    ranks = as_dict(found, found.rank)
    assert ranks[102, 103] == 1  # the dog runs, the dog jogs
    assert found.rank.dtype == np.int32
    assert ((found.score >= -1) & (found.score <= 1 + 1e-6)).all()
    assert {position for pair in ranks for position in pair} == set(range(100, 107))
    assert found.notices == ["Exact search: all 7 sentences were compared with each other."]


def test_gold_pairs_are_left_out_before_top_k_is_counted_and_counted_themselves():
    found = sample_semantic(corpus_of(TEXTS, excluded=[(3, 2)]), SampleOptions(top_k=2))
    ranks = as_dict(found, found.rank)
    assert (102, 103) not in ranks
    assert found.gold_left_out == 1
    assert sum(102 in pair for pair in ranks) >= 2


def test_pairs_of_excluded_silver_sets_do_not_count_as_gold():
    corpus = corpus_of(TEXTS, excluded=[(2, 3)], gold=np.empty(0, dtype=np.int64))
    assert sample_semantic(corpus, SampleOptions(top_k=2)).gold_left_out == 0


def test_empty_sentences_are_skipped_and_counted():
    found = sample_semantic(
        corpus_of(["", *TEXTS, "  "], excluded=[(0, 1), (3, 4)]), SampleOptions(top_k=3)
    )
    assert not np.isin([100, 108], [found.first, found.second]).any()
    assert found.notices[0] == "2 empty sentences were skipped."
    assert found.gold_left_out == 1


def test_top_k_is_clamped_and_checked():
    found = sample_semantic(corpus_of(TEXTS), SampleOptions(top_k=50))
    assert len(found) == 21
    assert found.notices[0].startswith("Top-k was lowered from 50 to 6")
    with pytest.raises(WorkbenchError, match="Top-k is 0"):
        sample_semantic(corpus_of(TEXTS), SampleOptions(top_k=0))


def test_without_a_search_it_is_the_programmers_mistake():
    ids = np.arange(2, dtype=np.int64)
    with pytest.raises(ValueError, match="without a search"):
        sample_semantic(Corpus(["a", "b"], ids, ids[:0]), SampleOptions())


def test_the_union_keeps_both_ranks_and_the_better_one():
    corpus = corpus_of(TEXTS, excluded=[(2, 3)])
    options = SampleOptions(top_k=2)
    words, meaning = sample_bm25(corpus, options), sample_semantic(corpus, options)
    both = sample_bm25_semantic(corpus, options)
    word_ranks, meaning_ranks = as_dict(words, words.rank), as_dict(meaning, meaning.rank)
    assert as_dict(both, both.rank).keys() == word_ranks.keys() | meaning_ranks.keys()
    assert word_ranks.keys() - meaning_ranks.keys()  # so that there is something to tell apart
    for pair, rank in as_dict(both, both.bm25_rank).items():
        assert rank == word_ranks.get(pair, 0)
    for pair, rank in as_dict(both, both.semantic_rank).items():
        assert rank == meaning_ranks.get(pair, 0)
    for pair, rank in as_dict(both, both.rank).items():
        assert rank == min(word_ranks.get(pair, 99), meaning_ranks.get(pair, 99))
    cosines = as_dict(meaning, meaning.score)
    for pair, score in as_dict(both, both.score).items():
        assert score == cosines.get(pair, 0.0)
    assert both.gold_left_out == 1
    assert both.notices == [
        "Semantic: Exact search: all 7 sentences were compared with each other."
    ]


def test_what_both_searches_say_is_said_once():
    notices = sample_bm25_semantic(corpus_of(TEXTS), SampleOptions(top_k=50)).notices
    assert sum("Top-k was lowered" in notice for notice in notices) == 1


def test_progress_of_the_union_never_runs_backwards():
    fractions = []
    sample_bm25_semantic(
        corpus_of(TEXTS), SampleOptions(), lambda fraction, message, *_: fractions.append(fraction)
    )
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1


@pytest.mark.parametrize("strategy", ["semantic", "bm25+semantic"])
@given(SENTENCES, st.integers(1, 6), st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9))))
def test_no_self_no_gold_no_duplicate_and_always_the_same(strategy, texts, top_k, gold):
    corpus = corpus_of(texts, excluded=[pair for pair in gold if pair[0] != pair[1]])
    options = SampleOptions(strategy=strategy, top_k=top_k)
    found = SAMPLERS[strategy](corpus, options)
    codes = pair_codes(found.first, found.second)
    assert (found.first < found.second).all()
    assert len(np.unique(codes)) == len(codes)
    assert not np.isin(codes, corpus.excluded).any()
    assert np.isin([found.first, found.second], corpus.ids).all()
    assert ((found.rank >= 1) & (found.rank <= top_k)).all()
    assert found.gold_left_out <= len(np.unique(corpus.excluded))
    again = SAMPLERS[strategy](corpus, options)
    assert np.array_equal(pair_codes(again.first, again.second), codes)
    assert np.array_equal(again.rank, found.rank)
