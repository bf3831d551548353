"""Which pairs are worth a label: one sampler per file, all with one signature."""

from augsbert_core.sampling.bm25 import sample_bm25
from augsbert_core.sampling.corpus import Candidates, Corpus, Sampler
from augsbert_core.sampling.cosine_strata import sample_cosine_strata
from augsbert_core.sampling.kde import sample_kde
from augsbert_core.sampling.random import sample_random
from augsbert_core.sampling.semantic import sample_semantic
from augsbert_core.sampling.union import sample_bm25_semantic

SAMPLERS: dict[str, Sampler] = {
    "bm25": sample_bm25,
    "semantic": sample_semantic,
    "bm25+semantic": sample_bm25_semantic,
    "cosine-strata": sample_cosine_strata,
    "kde": sample_kde,
    "random": sample_random,
}
"""Stratified KDE is no sampler: it needs the labeler between its draws (steps/stratified.py)."""

STRATEGY_NAMES: dict[str, str] = {
    "bm25": "BM25 top-k",
    "semantic": "Semantic top-k",
    "bm25+semantic": "BM25 + semantic top-k",
    "cosine-strata": "Stratified on cosine",
    "kde": "KDE pool",
    "stratified-kde": "Stratified KDE",
    "random": "Random pairs",
}
"""How each strategy is called on the screen, in the order in which it is offered."""

NEEDS_ENCODER = ("semantic", "bm25+semantic", "cosine-strata")

HAS_TOP_K = ("bm25", "semantic", "bm25+semantic")

COSINE_SCORES = ("semantic", "bm25+semantic", "cosine-strata", "stratified-kde")
"""Strategies whose stored sampler scores are cosines of a bi-encoder."""

__all__ = [
    "COSINE_SCORES",
    "HAS_TOP_K",
    "NEEDS_ENCODER",
    "SAMPLERS",
    "STRATEGY_NAMES",
    "Candidates",
    "Corpus",
    "Sampler",
]
