"""How long the sentences of pairs are, and how many words they share: millions of pairs in seconds.

Every sentence is cut into words once. What two sentences share is then found for many pairs at a time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from augsbert_core.words import tokenize

CHUNK = 100_000
"""So many pairs are compared at once; their words need a few dozen megabytes."""


@dataclass(frozen=True)
class WordSets:
    """The words of sentences. lengths: int64, all words, repeated ones too. codes: the different words of each
    sentence as ascending numbers, end to end; sentence i has those from starts[i] to starts[i + 1].
    """

    lengths: np.ndarray
    starts: np.ndarray
    codes: np.ndarray
    n_words: int

    @classmethod
    def of(cls, texts: Sequence[str]) -> "WordSets":
        """The words of each text, as `words.tokenize` cuts them."""
        numbers: dict[str, int] = {}
        lengths, sizes, codes = [], [], []
        for text in texts:
            (words,) = tokenize([text])
            different = set(words)
            lengths.append(len(words))
            sizes.append(len(different))
            codes += [numbers.setdefault(word, len(numbers)) for word in different]
        n_words = max(len(numbers), 1)
        starts = np.concatenate([[0], np.cumsum(np.array(sizes, dtype=np.int64))])
        owner = np.repeat(np.arange(len(texts)), np.diff(starts))
        keys = np.sort(owner * n_words + np.array(codes, dtype=np.int64))
        return cls(np.array(lengths, dtype=np.int64), starts, keys % n_words, n_words)


def longer_lengths(sets: WordSets, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The words of the longer sentence of each pair: int32. first, second: positions of sentences in sets."""
    longer: np.ndarray = np.maximum(sets.lengths[first], sets.lengths[second])
    return longer.astype(np.int32)


def overlaps(sets: WordSets, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Shared words over all different words of each pair: float64 in [0, 1]; 0 where neither has a word."""
    found = np.zeros(len(first))
    for start in range(0, len(first), CHUNK):
        part = slice(start, start + CHUNK)
        found[part] = _overlaps(sets, first[part], second[part])
    return found


def _overlaps(sets: WordSets, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Both lists of (pair, word) are in ascending order, so one is looked up in the other."""
    keys, wanted = (_pair_words(sets, side) for side in (first, second))
    sizes = np.diff(sets.starts)
    n_all = sizes[first] + sizes[second]
    shared = np.zeros(len(first), dtype=np.int64)
    if len(keys) and len(wanted):
        places = np.searchsorted(keys, wanted)
        places[places == len(keys)] = 0
        hits = wanted[keys[places] == wanted]
        shared = np.bincount(hits // sets.n_words, minlength=len(first))
    return shared / np.maximum(n_all - shared, 1)


def _pair_words(sets: WordSets, sentences: np.ndarray) -> np.ndarray:
    """pair · n_words + word, for every different word of the sentence that each pair has on one side."""
    sizes = np.diff(sets.starts)[sentences]
    pair = np.repeat(np.arange(len(sentences)), sizes)
    begins = np.cumsum(sizes) - sizes
    within = np.arange(len(pair)) - begins[pair]
    keys: np.ndarray = pair * sets.n_words + sets.codes[sets.starts[sentences][pair] + within]
    return keys
