"""Which words two sentences share, and which stand in one of them alone."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

MOST_TOKENS = 10_000
"""Of two texts that differ from early on to their ends, so many words are compared; later ones count as differing."""

_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    r"\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"  # Kana, Han
    r"\U00020000-\U0003ffff"
)
_UNSPACED_MARKS = r"[\u0300-\u036f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u102b-\u103e\u17b4-\u17d3\u3099\u309a\ufe00-\ufe0f]"
# Python's \w leaves out vowel signs and accents that are characters of their own.
_MARKS = (
    r"\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    r"\u0900-\u0963\u0966-\u0dff\u0f71-\u0f87\u1dc0-\u1dff\u200c\u200d\u20d0-\u20dc"
)
_LETTER = rf"(?:(?![{_UNSPACED}])[\w{_MARKS}])"
_DRESS = r"[\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*"
_TOKENS = re.compile(
    rf"\s+|[{_UNSPACED}]{_UNSPACED_MARKS}*"
    r"|\d+(?:[.,:]\d+)+"
    rf"|{_LETTER}+(?:['’\-]{_LETTER}+)*"
    r"|[\U0001f1e6-\U0001f1ff]{2}"  # flags
    rf"|.{_DRESS}(?:\u200d.{_DRESS})*",  # other signs; emoji with what joins them
    re.DOTALL,
)


@dataclass(frozen=True)
class Span:
    """A piece of a text. same: the other text has these words too, in the same order."""

    text: str
    same: bool


def word_diff(text1: str, text2: str) -> tuple[list[Span], list[Span]]:
    """Both texts cut where shared words begin and end; the spans of a text put together are the text, exactly.

    As many words as can be in one order in both are shared (longest common subsequence); case and white space do not
    count. A character is a word in scripts without spaces, and so is a sign or an emoji with what is joined to it.
    """
    tokens1, tokens2 = tokens_of(text1), tokens_of(text2)
    words1, words2 = _words(tokens1), _words(tokens2)
    keys1 = [_key(tokens1[place]) for place in words1]
    keys2 = [_key(tokens2[place]) for place in words2]
    shared = common_places(keys1, keys2)
    return (
        _spans(tokens1, {words1[place] for place, _ in shared}),
        _spans(tokens2, {words2[place] for _, place in shared}),
    )


def tokens_of(text: str) -> list[str]:
    """Words, signs and runs of white space; put together they are the text."""
    return _TOKENS.findall(text)


def common_places(keys1: Sequence[str], keys2: Sequence[str]) -> list[tuple[int, int]]:
    """Where the longest common subsequence stands in both, in order; by Hyyrö's bit vectors (2004).

    Equal heads and tails are taken first. Of what is between them, `MOST_TOKENS` are looked at.
    """
    shorter = min(len(keys1), len(keys2))
    head = 0
    while head < shorter and keys1[head] == keys2[head]:
        head += 1
    tail = 0
    while tail < shorter - head and keys1[-1 - tail] == keys2[-1 - tail]:
        tail += 1
    middle1 = keys1[head : len(keys1) - tail][:MOST_TOKENS]
    middle2 = keys2[head : len(keys2) - tail][:MOST_TOKENS]
    return [
        *((place, place) for place in range(head)),
        *((head + one, head + two) for one, two in _middle_places(middle1, middle2)),
        *((len(keys1) - back, len(keys2) - back) for back in range(tail, 0, -1)),
    ]


def _middle_places(keys1: Sequence[str], keys2: Sequence[str]) -> list[tuple[int, int]]:
    if not keys1 or not keys2:
        return []
    where: dict[str, int] = {}
    for place, key in enumerate(keys2):
        where[key] = where.get(key, 0) | 1 << place
    every = (1 << len(keys2)) - 1
    # A zero bit: with this word of the second text, one word more is shared.
    row, rows = every, []
    for key in keys1:
        met = row & where.get(key, 0)
        row = ((row + met) | (row - met)) & every
        rows.append(row)
    places = []
    one, two = len(keys1) - 1, len(keys2) - 1
    while one >= 0 and two >= 0:
        if rows[one] >> two & 1:
            two -= 1
        elif one and not rows[one - 1] >> two & 1:
            one -= 1
        else:
            places.append((one, two))
            one, two = one - 1, two - 1
    return places[::-1]


def _words(tokens: Sequence[str]) -> list[int]:
    return [place for place, token in enumerate(tokens) if not token.isspace()]


def _key(token: str) -> str:
    return unicodedata.normalize("NFC", token).casefold()


def _spans(tokens: Sequence[str], shared: set[int]) -> list[Span]:
    """Neighbours of one kind joined; white space differs only between two words that do."""
    spans: list[Span] = []
    start = 0
    kinds = [
        place in shared
        or (
            token.isspace()
            and not (0 < place < len(tokens) - 1 and not {place - 1, place + 1} & shared)
        )
        for place, token in enumerate(tokens)
    ]
    for place in range(1, len(tokens) + 1):
        if place == len(tokens) or kinds[place] != kinds[start]:
            spans.append(Span("".join(tokens[start:place]), kinds[start]))
            start = place
    return spans
