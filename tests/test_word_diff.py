"""Two sentences, word for word."""

import time
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from augsbert_core.word_diff import Span, common_places, tokens_of, word_diff

TEXTS = st.text(max_size=60) | st.lists(
    st.sampled_from(
        [
            "a ",
            "A",
            "cat",
            " ",
            "\n",
            "猫",
            "は",
            "don't",
            "3.5",
            "👩‍👩‍👧",
            "🇩🇪",
            "é",
            "e\u0301",
            ".",
        ]
    ),
    max_size=20,
).map("".join)
WORDS = st.lists(st.sampled_from("abcd"), max_size=12)


def marked(text1: str, text2: str) -> tuple[str, str]:
    """Both sentences with what differs in brackets."""
    one, two = (
        "".join(span.text if span.same else f"[{span.text}]" for span in side)
        for side in word_diff(text1, text2)
    )
    return one, two


def test_words_that_one_sentence_has_alone_are_found() -> None:
    assert marked("A man is playing a guitar.", "A woman is playing the guitar!") == (
        "A [man] is playing [a] guitar[.]",
        "A [woman] is playing [the] guitar[!]",
    )


def test_neighbours_that_differ_are_one_span() -> None:
    assert word_diff("one two three", "one")[0] == [Span("one ", True), Span("two three", False)]


@pytest.mark.parametrize(
    ("text1", "text2", "expected"),
    [
        ("The cat", "the  cat", "The cat"),  # neither case nor white space counts
        ("cafe\u0301", "caf\u00e9", "cafe\u0301"),  # nor how an accent is written
        ("don't", "don’t", "[don't]"),
        ("a well-known fact", "a known fact", "a [well-known] fact"),
        ("it cost 3.50 dollars", "it cost 3.60 dollars", "it cost [3.50] dollars"),
        ("我喜欢猫", "我讨厌猫", "我[喜欢]猫"),
        ("彼はアメリカ人", "彼はイギリス人", "彼は[アメ]リ[カ]人"),
        ("ok 👩‍👩‍👧!", "ok 👩‍👧!", "ok [👩‍👩‍👧]!"),
        ("👍🏽 yes", "👍🏿 yes", "[👍🏽] yes"),
        ("🇩🇪🇫🇷", "🇩🇪🇮🇹", "🇩🇪[🇫🇷]"),
        ("हिन्दी भाषा", "हिन्दी लिपि", "हिन्दी [भाषा]"),
        ("אני אוהב", "אני שונא", "אני [אוהב]"),
        ("", "anything", ""),
        ("", "", ""),
    ],
)
def test_what_a_word_is(text1: str, text2: str, expected: str) -> None:
    assert marked(text1, text2)[0] == expected


@given(TEXTS, TEXTS)
def test_the_spans_are_the_texts_and_what_is_shared_is_shared(text1: str, text2: str) -> None:
    one, two = word_diff(text1, text2)
    assert "".join(span.text for span in one) == text1
    assert "".join(span.text for span in two) == text2
    for side in (one, two):
        assert all(left.same != right.same for left, right in pairwise(side))
        assert all(span.text for span in side)
    assert [span.same for span in word_diff(text1, text1)[0]] == [True] * bool(text1)


@given(TEXTS)
def test_tokens_are_the_text(text: str) -> None:
    assert "".join(tokens_of(text)) == text


@given(WORDS, WORDS)
def test_as_many_words_are_shared_as_can_be(words1: list[str], words2: list[str]) -> None:
    found = common_places(words1, words2)
    assert all(words1[one] == words2[two] for one, two in found)
    assert found == sorted(found)
    for side in zip(*found, strict=True):
        assert len(set(side)) == len(side)
    assert len(found) == longest_common(words1, words2)


def longest_common(words1: list[str], words2: list[str]) -> int:
    """The textbook table."""
    table = [[0] * (len(words2) + 1) for _ in range(len(words1) + 1)]
    for one, two in product(range(len(words1)), range(len(words2))):
        table[one + 1][two + 1] = (
            table[one][two] + 1
            if words1[one] == words2[two]
            else max(table[one][two + 1], table[one + 1][two])
        )
    return table[-1][-1]


@pytest.mark.parametrize("n_words", [1, 50, 5_000])
def test_long_texts_are_compared_in_bounded_time(n_words: int) -> None:
    text1 = " ".join(f"w{number * number % 7919 % n_words}" for number in range(5_000))
    text2 = " ".join(f"w{number * number % 7907 % n_words}" for number in range(4_990))
    began = time.process_time()
    one, two = word_diff(text1, text2)
    assert time.process_time() - began < 5  # a table of all words against all takes far longer
    assert "".join(span.text for span in one) == text1
    assert "".join(span.text for span in two) == text2
    assert any(span.same for span in one)


def test_texts_of_any_length_are_compared() -> None:
    one, two = word_diff("犬" + "猫" * 30_000, "鳥" + "馬" * 30_000)
    assert [span.same for span in one] == [False]
    assert sum(len(span.text) for span in two) == 30_001
