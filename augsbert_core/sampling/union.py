"""BM25 + semantic: what either of the two top-k searches finds (paper, section 3.1)."""

import numpy as np

from augsbert_core.options import SampleOptions
from augsbert_core.pairs import pair_codes
from augsbert_core.progress import Report, ShouldStop, never, silent, stretch
from augsbert_core.sampling.bm25 import find_bm25
from augsbert_core.sampling.corpus import Candidates, Corpus, gather_neighbours
from augsbert_core.sampling.semantic import find_semantic


def sample_bm25_semantic(
    corpus: Corpus,
    options: SampleOptions,
    report: Report = silent,
    should_stop: ShouldStop = never,
) -> Candidates:
    """The pairs of `sample_bm25` and those of `sample_semantic`, each pair once, with both ranks.

    bm25_rank, semantic_rank: 0 where that search did not find the pair. rank: the better of those that
    found it. score: the cosine, 0 where only BM25 found the pair, as the two scores share no scale.
    """
    by_words = find_bm25(corpus, options, stretch(report, 0.0, 0.2), should_stop)
    by_meaning = find_semantic(corpus, options, stretch(report, 0.2, 1.0), should_stop)
    words = gather_neighbours(corpus, by_words, [])
    meaning = gather_neighbours(corpus, by_meaning, [])
    word_codes = pair_codes(words.first, words.second)
    meaning_codes = pair_codes(meaning.first, meaning.second)
    codes = np.union1d(word_codes, meaning_codes)
    at_words, at_meaning = (np.searchsorted(codes, part) for part in (word_codes, meaning_codes))
    first, second, bm25_rank, semantic_rank = np.zeros((4, len(codes)), dtype=np.int64)
    score = np.zeros(len(codes))
    for place, part in ((at_words, words), (at_meaning, meaning)):
        first[place], second[place] = part.first, part.second
    bm25_rank[at_words], semantic_rank[at_meaning] = words.rank, meaning.rank
    score[at_meaning] = meaning.score
    is_hit = by_words.excluded_hit | by_meaning.excluded_hit
    found_by_both = np.minimum(bm25_rank, semantic_rank)
    return Candidates(
        first=first,
        second=second,
        rank=np.where(found_by_both > 0, found_by_both, bm25_rank + semantic_rank).astype(np.int32),
        score=score,
        notices=_prefixed(by_words.notices, by_meaning.notices),
        bm25_rank=bm25_rank.astype(np.int32),
        semantic_rank=semantic_rank.astype(np.int32),
        gold_left_out=int(np.count_nonzero(is_hit & corpus.excluded_is_gold())),
    )


def _prefixed(by_words: list[str], by_meaning: list[str]) -> list[str]:
    """The notices of both searches, each saying whose it is; what both say is said once."""
    shared = [notice for notice in by_words if notice in by_meaning]
    own = [f"BM25: {notice}" for notice in by_words if notice not in shared]
    own += [f"Semantic: {notice}" for notice in by_meaning if notice not in shared]
    return [*shared, *own]
