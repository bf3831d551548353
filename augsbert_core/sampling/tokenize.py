"""The words that BM25 compares: without stop words where that is wished for."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain

from augsbert_core.errors import WorkbenchError
from augsbert_core.words import count_unspaced, tokenize

__all__ = ["STOP_WORDS", "count_unspaced", "leave_out_stop_words", "tokenize"]

_FEWEST_FOR_FREQUENT = 20  # in fewer sentences than this, a tenth of them says nothing about a word


def leave_out_stop_words(
    tokens: Sequence[list[str]], stop_words: str
) -> tuple[Sequence[list[str]], int]:
    """The sentences without their stop words, and how many different words were left out.

    stop_words: a name in `STOP_WORDS`. WorkbenchError: another name.
    """
    if stop_words not in STOP_WORDS:
        names = ", ".join(STOP_WORDS)
        raise WorkbenchError(f"Stop words {stop_words!r} are not known. Choose one of {names}.")
    unwanted = STOP_WORDS[stop_words](tokens)
    if not unwanted:
        return tokens, 0
    kept = [[word for word in words if word not in unwanted] for words in tokens]
    return kept, len(unwanted.intersection(chain.from_iterable(tokens)))


def _no_words(_tokens: Sequence[list[str]]) -> frozenset[str]:
    return frozenset()


def _english_words(_tokens: Sequence[list[str]]) -> frozenset[str]:
    """The list of scikit-learn's text module."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return frozenset(ENGLISH_STOP_WORDS)


def _frequent_words(tokens: Sequence[list[str]]) -> frozenset[str]:
    """The words of more than a tenth of the sentences; none in a handful of sentences."""
    if len(tokens) < _FEWEST_FOR_FREQUENT:
        return frozenset()
    sentences_with = Counter(word for words in tokens for word in set(words))
    return frozenset(word for word, n in sentences_with.items() if n * 10 > len(tokens))


STOP_WORDS: dict[str, Callable[[Sequence[list[str]]], frozenset[str]]] = {
    "none": _no_words,
    "english": _english_words,
    "frequent": _frequent_words,
}
