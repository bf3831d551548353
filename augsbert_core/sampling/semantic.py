"""Semantic top-k: for every sentence the k sentences nearest to it by a bi-encoder (paper, section 3.1)."""

import numpy as np

from augsbert_core.options import SampleOptions
from augsbert_core.progress import Report, ShouldStop, never, silent, stop_if
from augsbert_core.sampling.corpus import Candidates, Corpus, gather_neighbours
from augsbert_core.sampling.neighbours import Neighbours, clamp_top_k, concatenate, text_hashes


def sample_semantic(
    corpus: Corpus,
    options: SampleOptions,
    report: Report = silent,
    should_stop: ShouldStop = never,
) -> Candidates:
    """The `options.top_k` nearest neighbours of every sentence by cosine, as pairs without direction.

    The sentence itself and excluded pairs are left out before top-k is counted; a neighbour is one
    however small its cosine; ties are broken by a hash of the texts and the seed. score: the cosine.
    """
    return gather_neighbours(corpus, find_semantic(corpus, options, report, should_stop), [])


def find_semantic(
    corpus: Corpus,
    options: SampleOptions,
    report: Report = silent,
    should_stop: ShouldStop = never,
) -> Neighbours:
    """What `sample_semantic` makes pairs of: positions into the corpus, hits and notices.

    Sentences of white space alone are skipped: every such sentence has the same embedding, which is near to
    short sentences of any meaning. ValueError: the corpus has no search. WorkbenchError: impossible top_k.
    """
    if corpus.search is None:
        raise ValueError("a corpus without a search cannot be sampled by meaning")
    stop_if(should_stop)
    filled = np.flatnonzero([bool(text.strip()) for text in corpus.texts])
    top_k, notices = clamp_top_k(options.top_k, len(filled))
    n_empty = len(corpus) - len(filled)
    if n_empty:
        sentences = "1 empty sentence was" if n_empty == 1 else f"{n_empty:,} empty sentences were"
        notices.append(f"{sentences} skipped.")
    first, second = corpus.excluded_positions()
    place = np.full(len(corpus), -1, dtype=np.int64)
    place[filled] = np.arange(len(filled))
    usable = (place[first] >= 0) & (place[second] >= 0)
    hit = np.zeros(len(first), dtype=bool)
    if not top_k:
        return concatenate([], hit, notices)
    texts = [corpus.texts[position] for position in filled]
    found = corpus.search(
        texts,
        top_k,
        tie_keys=text_hashes(texts, options.seed),
        excluded=(place[first[usable]], place[second[usable]]),
        report=report,
        should_stop=should_stop,
    )
    hit[usable] = found.excluded_hit
    return Neighbours(
        filled[found.query],
        filled[found.neighbour],
        found.rank,
        found.score,
        excluded_hit=hit,
        notices=[*notices, *found.notices],
    )
