"""Sentences into words."""

import pytest

from augsbert_core.errors import WorkbenchError
from augsbert_core.sampling.tokenize import (
    STOP_WORDS,
    count_unspaced,
    leave_out_stop_words,
    tokenize,
)


def words(text: str) -> list[str]:
    return tokenize([text])[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A plane is taking off.", ["a", "plane", "is", "taking", "off"]),
        ("The 2nd flight, at 9:30", ["the", "2nd", "flight", "at", "9", "30"]),
        ("ÜBER Straße naïve", ["über", "straße", "naïve"]),
        ("snake_case __ words", ["snake", "case", "words"]),
        ("Привет, мир!", ["привет", "мир"]),
        ("", []),
        (" \t\n", []),
        ("?! … 👍🏽 ❤️", []),
        ("great 👍 work", ["great", "work"]),
    ],
)
def test_words_are_lower_cased_and_punctuation_and_emoji_fall_away(text, expected):
    assert words(text) == expected


def test_stop_words_stay_in():
    assert words("to be or not to be") == ["to", "be", "or", "not", "to", "be"]


@pytest.mark.parametrize("apostrophe", ["'", "’"])
def test_an_apostrophe_inside_a_word_belongs_to_it(apostrophe):
    assert words(f"I don{apostrophe}t; 'quoted' é") == ["i", "don't", "quoted", "é"]


def test_scripts_without_spaces_give_character_bigrams():
    assert words("我喜欢猫") == ["我喜", "喜欢", "欢猫"]
    assert words("ネコが好き。") == ["ネコ", "コが", "が好", "好き"]
    assert words("แมวดำ")[:2] == ["แม", "มว"]


def test_a_lone_character_gives_itself():
    assert words("猫") == ["猫"]


def test_mixed_text_keeps_its_latin_words_whole():
    assert words("我用Python写代码 every day") == ["我用", "python", "写代", "代码", "every", "day"]


def test_vowel_signs_do_not_cut_words():
    assert words("हिन्दी भाषा") == ["हिन्दी", "भाषा"]


def test_composed_and_decomposed_letters_are_one_word():
    assert words("cafe\u0301") == words("café") == ["café"]
    assert words("ＡＢＣ") == ["abc"]


def test_the_quick_way_for_plain_ascii_agrees_with_the_general_one():
    text = "Don't stop 3rd_party o'clock's 'end'"
    assert words(text) == words(text + " é")[:-1]


def test_sentences_with_a_script_without_spaces_are_counted():
    assert count_unspaced(["plain", "", "naïve", "猫", "I like 猫", "ﾈｺ", "แมว"]) == 4


def test_english_stop_words_leave_and_are_counted_once():
    tokens = tokenize(["The cat is on the mat", "THE dog", "purr"])
    assert leave_out_stop_words(tokens, "english") == ([["cat", "mat"], ["dog"], ["purr"]], 3)
    assert leave_out_stop_words(tokens, "none") == (tokens, 0)


def test_frequent_words_are_those_of_more_than_a_tenth_of_the_sentences():
    tokens = [
        ["all", "all", "two" if i < 2 else f"w{i}", "three" if i < 3 else "x"] for i in range(20)
    ]
    kept, n_words = leave_out_stop_words(tokens, "frequent")
    assert kept[0] == kept[1] == ["two"]  # two of twenty are not more than a tenth
    assert kept[2] == ["w2"]
    assert n_words == 3  # all, three, x
    assert leave_out_stop_words(tokens[:19], "frequent") == (tokens[:19], 0)


def test_unknown_stop_words_name_what_there_is():
    assert list(STOP_WORDS) == ["none", "english", "frequent"]
    with pytest.raises(WorkbenchError, match="'french' are not known"):
        leave_out_stop_words([], "french")
