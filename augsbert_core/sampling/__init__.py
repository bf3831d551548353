"""Which pairs are worth a label: one sampler per file, all with one signature."""

from augsbert_core.sampling.bm25 import sample_bm25
from augsbert_core.sampling.corpus import Candidates, Corpus, Sampler
from augsbert_core.sampling.random import sample_random

SAMPLERS: dict[str, Sampler] = {"bm25": sample_bm25, "random": sample_random}
STRATEGY_NAMES: dict[str, str] = {"bm25": "BM25 top-k", "random": "Random pairs"}

__all__ = ["SAMPLERS", "STRATEGY_NAMES", "Candidates", "Corpus", "Sampler"]
