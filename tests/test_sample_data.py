"""The bundled sample is what its README says: natural sentences, sound splits, the stated sizes."""

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "sample_data"


def read(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def five_grams(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"[a-z0-9']+", text.lower())
    return {tuple(words[start : start + 5]) for start in range(len(words) - 4)}


GOLD = read("gold_pairs.csv")
SENTENCES = [row["sentence"] for row in read("computing_sentences.csv")]
QUESTIONS = read("duplicate_questions.csv")
TEXTS = {
    "gold_pairs.csv": [(row["sentence1"], row["sentence2"]) for row in GOLD],
    "computing_sentences.csv": [(text,) for text in SENTENCES],
    "duplicate_questions.csv": [(row["question1"], row["question2"]) for row in QUESTIONS],
}


def test_gold_has_the_promised_sizes() -> None:
    splits = Counter(row["split"] for row in GOLD)
    assert len(GOLD) >= 900
    assert splits["train"] >= 440
    assert splits["dev"] >= 140
    assert splits["test"] >= 300
    assert len({row["topic"] for row in GOLD}) >= 8
    assert {float(row["score"]) for row in GOLD} == {half / 2 for half in range(11)}


def test_every_split_has_every_topic_and_the_whole_scale() -> None:
    for split in ("train", "dev", "test"):
        rows = [row for row in GOLD if row["split"] == split]
        assert {row["topic"] for row in rows} == {row["topic"] for row in GOLD}
        mean = sum(float(row["score"]) for row in rows) / len(rows)
        assert 2.2 < mean < 2.9, (split, mean)


def test_the_second_domain_and_the_questions_have_the_promised_sizes() -> None:
    assert len(SENTENCES) >= 500
    assert len(QUESTIONS) >= 400
    share = sum(row["is_duplicate"] == "1" for row in QUESTIONS) / len(QUESTIONS)
    assert 0.3 < share < 0.6


@pytest.mark.parametrize("name", TEXTS)
def test_no_sentence_occurs_twice_so_none_crosses_splits(name: str) -> None:
    texts = [text.lower() for row in TEXTS[name] for text in row]
    assert len(texts) == len(set(texts))


@pytest.mark.parametrize("name", TEXTS)
def test_sentences_are_not_made_from_templates(name: str) -> None:
    """A five-word sequence comes up in 3 rows at the most; templates would repeat by the dozen."""
    counts = Counter(
        gram for row in TEXTS[name] for gram in set().union(*(five_grams(text) for text in row))
    )
    repeated = {" ".join(gram): count for gram, count in counts.items() if count > 3}
    assert not repeated
    once = sum(count == 1 for count in counts.values())
    assert once / len(counts) > 0.98


def test_the_readme_states_the_counts_of_the_files() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    splits = Counter(row["split"] for row in GOLD)
    assert (
        f"{len(GOLD)} scored pairs: {splits['train']} train, {splits['dev']} dev, {splits['test']} test"
        in text
    )
    assert f"| {len(SENTENCES)} unlabelled sentences" in text
    assert f"| {len(QUESTIONS)} question pairs" in text
    assert "CC BY 4.0" in text
