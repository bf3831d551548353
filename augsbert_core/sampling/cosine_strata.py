"""Stratified on cosine: as many pairs from each band of the cosine, so that people meet all degrees of similarity.

Random pairs are nearly all dissimilar and nearest neighbours nearly all similar; whoever scores either kind by hand
learns little about the scale. A bi-encoder's cosine needs no gold, so this is how pairs are chosen before there is any.
"""

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.options import SampleOptions
from augsbert_core.progress import Report, ShouldStop, never, silent, stop_if, stretch
from augsbert_core.sampling import strata
from augsbert_core.sampling.corpus import Candidates, Corpus, gather_candidates
from augsbert_core.sampling.stratified import pilot_draw

BANDS = 10
"""Equally wide, from a cosine that nearly all pairs exceed up to 1: models differ in where their cosines begin."""

NEAREST = 10
"""So many neighbours of each sentence join the random pairs of a corpus that is too large to look at every pair."""


def sample_cosine_strata(
    corpus: Corpus,
    options: SampleOptions,
    report: Report = silent,
    should_stop: ShouldStop = never,
) -> Candidates:
    """`options.n_pairs` pairs, as many from each of ten bands of the cosine as from any other, as far as they go.

    Without n_pairs, top_k per sentence are drawn. Excluded pairs and sentences of white space alone are left out. rank
    is the order of drawing, bands mixed, so that the first m ranks hold all degrees of similarity too. score: the
    cosine. Of a large corpus, random pairs and the nearest neighbours of every sentence are drawn from. ValueError: the
    corpus has no bi-encoder.
    """
    if corpus.embed is None or corpus.search is None:
        raise ValueError("a corpus without a search and embeddings cannot be sampled by cosine")
    asked = options.n_pairs if options.n_pairs is not None else options.top_k * len(corpus)
    if asked < 0:
        raise WorkbenchError(f"The number of pairs is {asked}. Give 0 or more.")
    stop_if(should_stop)
    filled, notices = _filled(corpus)
    n = len(filled)
    if n < 2:
        notices.append(
            f"Nothing to pair: the corpus has {n} sentence{'s' * (n != 1)}, two are needed."
        )
        none = np.empty(0, dtype=np.int64)
        return gather_candidates(none, none, none, none, notices)
    found = strata.stratify(
        filled,
        corpus.embed(filled.texts, stretch(report, 0.0, 0.5), should_stop),
        per_bin=max(asked, 1),
        seed=options.seed,
        neighbours=_neighbours(filled, stretch(report, 0.5, 0.7), should_stop),
        n_bins=BANDS,
        max_pairs=strata.MAX_PAIRS,
        sampled_pairs=strata.SAMPLED_PAIRS,
        report=stretch(report, 0.7, 1.0),
        should_stop=should_stop,
    )
    free = np.diff(found.starts)
    drawn = found.draw(np.zeros(len(found), dtype=bool), pilot_draw(free, min(asked, len(found))))
    if len(drawn) < asked:
        notices.append(
            f"The number of pairs was lowered from {asked:,} to {len(drawn):,}: the {n:,} sentences have no more "
            "pairs that are neither gold nor excluded."
        )
    notices += _scarce(found.edges, free, asked)
    order = np.random.default_rng(options.seed).permutation(len(drawn))
    drawn = drawn[order]
    report(1.0, f"{len(drawn):,} pairs drawn")
    return gather_candidates(
        found.first[drawn],
        found.second[drawn],
        np.arange(1, len(drawn) + 1),
        found.cosine[drawn].astype(np.float64),
        notices,
    )


def _filled(corpus: Corpus) -> tuple[Corpus, list[str]]:
    """The corpus without its empty sentences, by ascending id, so that file order has no influence."""
    ids = np.asarray(corpus.ids, dtype=np.int64)
    places = [place for place in np.argsort(ids).tolist() if corpus.texts[place].strip()]
    n_empty = len(corpus) - len(places)
    sentences = "1 empty sentence was" if n_empty == 1 else f"{n_empty:,} empty sentences were"
    filled = Corpus(
        [corpus.texts[place] for place in places],
        ids[places],
        corpus.excluded,
        search=corpus.search,
        gold=corpus.gold,
        embed=corpus.embed,
    )
    return filled, [f"{sentences} skipped."] if n_empty else []


def _neighbours(
    corpus: Corpus, report: Report, should_stop: ShouldStop
) -> tuple[np.ndarray, np.ndarray] | None:
    """The nearest sentences of each, where random pairs alone would hold too few similar ones; else None."""
    n = len(corpus)
    if corpus.search is None or n * (n - 1) // 2 <= strata.MAX_PAIRS:
        return None
    found = corpus.search(corpus.texts, min(NEAREST, n - 1), report=report, should_stop=should_stop)
    return found.query, found.neighbour


def _scarce(edges: np.ndarray, free: np.ndarray, asked: int) -> list[str]:
    """What to know about bands that have fewer pairs than their share."""
    short = np.flatnonzero(free < asked // BANDS)
    if not len(short) or not free.any():
        return []
    told = ", ".join(f"{edges[at]:.2f}–{edges[at + 1]:.2f} ({free[at]:,})" for at in short)
    return [
        f"Cosine bands with fewer pairs than their share, all of which were taken: {told}. Other bands give the rest."
    ]
