"""File names that say which split they are, and file names that only look so."""

import pytest

from augsbert_core.importing.file_names import shorten, shown_name, split_in_name


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("sts-train.tsv", "train"),
        ("sts-dev.tsv", "dev"),
        ("validation.csv.gz", "dev"),
        ("val.csv", "dev"),
        ("devset1.txt", "dev"),
        ("my_test.txt", "test"),
        ("stsTest.csv", "test"),
        ("SICK_annotated_test.txt", "test"),
        ("held_out.csv", "test"),
        ("v1.0-train.jsonl", "train"),
        ("train_and_test.csv", None),
        ("train/pairs.csv", None),
        ("pairs.csv", None),
        ("latest.csv", None),
        ("contest.csv", None),
        ("retrieval.csv", None),
        ("interval.csv", None),
        ("devices.csv", None),
        ("constraints.csv", None),
        ("", None),
    ],
)
def test_splits_are_read_off_file_names(name: str, split: str | None) -> None:
    assert split_in_name(name) == split


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("pairs.csv", "pairs.csv"),
        ("Sätze, größer.csv", "Sätze, größer.csv"),
        ("lat\udcff.csv", "lat\\xff.csv"),
        ("half\ud83d.csv", "half\\ud83d.csv"),
        ("two\nlines.csv", "two\\x0alines.csv"),
    ],
)
def test_every_name_can_be_shown_and_stored(name: str, shown: str) -> None:
    assert shown_name(name) == shown
    shown_name(name).encode("utf-8")


def test_long_names_are_shown_by_their_ends() -> None:
    assert shorten("a" * 300 + ".csv", 20) == "aaaaaaaaaa…aaaaaa.csv"
    assert shorten("pairs.csv") == "pairs.csv"
