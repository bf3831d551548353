"""Sentences into the words that samplers, overlaps and filters compare."""

import re
import sys
import unicodedata
from collections.abc import Iterable
from functools import cache

# Scripts written without spaces between words: no word can be cut out without a dictionary.
_UNSPACED_RANGES = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),  # ideographic iteration mark and zero
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x31F0, 0x31FF),  # Katakana extensions
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x323AF),
)

# The same words as the general pattern below, several times faster.
_ASCII_WORD = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*")


def tokenize(texts: Iterable[str]) -> list[list[str]]:
    """Each text as lower-cased Unicode words, stop words included.

    Runs of scripts without spaces (Han, kana, Thai, Lao, Khmer, Myanmar) give overlapping character
    bigrams, a lone character gives itself. Apostrophes inside a word belong to it, underscores do
    not. Texts are compared after NFKC, so full-width letters equal plain ones. Punctuation and emoji
    give no token, so a text can have none.
    """
    return [_words(text) for text in texts]


def count_unspaced(texts: Iterable[str]) -> int:
    """How many texts have letters of scripts without spaces, so that `tokenize` makes bigrams of them."""
    _, unspaced = _patterns()
    return sum(
        not text.isascii() and bool(unspaced.search(unicodedata.normalize("NFKC", text)))
        for text in texts
    )


def _words(text: str) -> list[str]:
    text = unicodedata.normalize("NFKC", text).lower().replace("\u2019", "'")
    if text.isascii():
        return _ASCII_WORD.findall(text)
    word, unspaced = _patterns()
    tokens: list[str] = word.findall(text)
    if unspaced.search(text):
        tokens = [part for token in tokens for part in _split_unspaced(token, unspaced)]
    return tokens


def _split_unspaced(token: str, unspaced: re.Pattern[str]) -> list[str]:
    """The token's spaced stretches as they are, its unspaced ones as bigrams."""
    parts: list[str] = []
    end = 0
    for run in unspaced.finditer(token):
        parts.append(token[end : run.start()])
        characters = run.group()
        parts += [characters[i : i + 2] for i in range(max(len(characters) - 1, 1))]
        end = run.end()
    parts.append(token[end:])
    return [part for part in parts if part]


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A word, and a run of letters of a script without spaces."""
    # Vowel signs and other combining marks continue a word, but Python's \w leaves them out.
    marks = "".join(
        re.escape(chr(code))
        for start, stop in ((0x300, 0x3100), (0xA000, 0xFFFF), (0x10000, 0x12000))
        for code in range(start, min(stop, sys.maxunicode))
        if unicodedata.category(chr(code)).startswith("M") and not 0xFE00 <= code <= 0xFE0F
    )
    letter = rf"(?:[^\W_][{marks}]*)"
    word = re.compile(rf"{letter}+(?:'{letter}+)*")
    spans = "".join(f"{chr(first)}-{chr(last)}" for first, last in _UNSPACED_RANGES)
    return word, re.compile(f"[{spans}]+")
