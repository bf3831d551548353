"""Files that belong together line by line, as SemEval and SICK are distributed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.column_names import is_number
from augsbert_core.importing.parallel import join_parallel_files
from augsbert_core.importing.reading import read_table

PAIRS = "A dog\tA cat\nWe\tYou\n"
SCORES = "4.5\n\n"
JOINED = (
    b'{"score": "4.5", "sentence1": "A dog", "sentence2": "A cat"}\n'
    b'{"score": "", "sentence1": "We", "sentence2": "You"}\n'
)


def join(*files: tuple[str, str]) -> list[tuple[str, bytes]]:
    return join_parallel_files([(name, text.encode()) for name, text in files])


@pytest.mark.parametrize(
    ("sentences", "scores"),
    [
        ("STS.input.MSRpar.txt", "STS.gs.MSRpar.txt"),
        ("STS.input.txt", "STS.gs.txt"),
        ("sts/2016/STS2016.input.answer-answer.txt", "sts/2016/STS2016.gs.answer-answer.txt"),
        ("headlines.input", "headlines.gs"),
        ("dev.sentences.txt", "dev.scores.txt"),
        ("mine.txt", "yours.txt"),
    ],
)
def test_sentences_and_their_scores_become_one_file(sentences, scores):
    assert join((sentences, PAIRS), (scores, SCORES)) == [(f"{sentences} + {scores}", JOINED)]
    assert join((scores, SCORES), (sentences, PAIRS)) == [(f"{sentences} + {scores}", JOINED)]


def test_several_sets_and_other_files_keep_their_order():
    found = join(
        ("STS.input.A.txt", PAIRS),
        ("readme.txt", "Read me\n"),
        ("STS.gs.B.txt", "1\n2\n"),
        ("pairs.csv", "a,b,1\n"),
        ("STS.gs.A.txt", SCORES),
        ("STS.input.B.txt", PAIRS),
    )
    assert [name for name, _ in found] == [
        "STS.input.A.txt + STS.gs.A.txt",
        "readme.txt",
        "STS.input.B.txt + STS.gs.B.txt",
        "pairs.csv",
    ]


def test_three_files_of_one_sentence_a_line():
    files = [("a.toks", "A dog\nWe\n"), ("b.toks", "A cat\nYou\n"), ("sim.txt", "4.5\n\n")]
    assert join(*files) == [("a.toks + b.toks + sim.txt", JOINED)]
    folders = [(f"{folder}/{name}", text) for folder in ("train", "test") for name, text in files]
    assert [name for name, _ in join(*folders)] == [
        "train/a.toks + train/b.toks + train/sim.txt",
        "test/a.toks + test/b.toks + test/sim.txt",
    ]
    by_shape = [("first lines", "A dog\nWe\n"), ("numbers", "4.5\n\n"), ("more", "A cat\nYou\n")]
    assert join(*by_shape) == [("first lines + more + numbers", JOINED)]


def test_line_numbers_stay_those_of_the_parts():
    (_, data), *_ = join(("x.input.txt", PAIRS), ("x.gs.txt", SCORES))
    table = read_table(data, "x")
    assert table.rows == [["4.5", "A dog", "A cat"], ["", "We", "You"]]
    assert list(table.line_numbers) == [1, 2]


def test_a_few_broken_scores_do_not_part_what_the_names_join():
    (name, data), *_ = join(("x.input.txt", PAIRS * 2), ("x.gs.txt", "1\n2\nthree\n4\n"))
    assert name == "x.input.txt + x.gs.txt"
    assert read_table(data, name).rows[2] == ["three", "A dog", "A cat"]


def test_unequal_numbers_of_lines_are_told():
    with pytest.raises(WorkbenchError, match=r"STS\.input\.A\.txt has 2, STS\.gs\.A\.txt has 3"):
        join(("STS.input.A.txt", PAIRS), ("STS.gs.A.txt", "1\n2\n3\n"))


@pytest.mark.parametrize(
    "files",
    [
        [("train.tsv", PAIRS), ("test.tsv", PAIRS)],
        [("a.txt", "A dog\nWe\n"), ("b.txt", "A cat\nYou\n")],
        [("mine.txt", PAIRS), ("numbers.txt", "1\n2\n3\n")],
        [("pairs.csv", PAIRS), ("scores.csv", SCORES)],
        [("input.txt", PAIRS), ("scores.json", "1\n2\n")],
        [("x.input.txt", PAIRS), ("x.gs.txt", "good\nbad\n")],
        [("x.input.txt", PAIRS), ("y.gs.txt", SCORES), ("z.txt", "Else\n")],
        [("x.input.txt", "\0\1\2" * 50), ("x.gs.txt", SCORES)],
        [("s1.tsv", PAIRS), ("s2.tsv", PAIRS), ("z.tsv", "1\n2\n")],
        [("STS.input.A.txt", PAIRS)],
        [],
    ],
)
def test_files_that_do_not_belong_together_stay_as_they_are(files):
    assert join(*files) == [(name, text.encode()) for name, text in files]


LINE = st.text(st.characters(blacklist_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1).filter(
    lambda text: text.strip() and not is_number(text)
)


@given(
    rows=st.lists(st.tuples(st.floats(0, 5).map(repr), LINE, LINE), min_size=1, max_size=6),
    apart=st.booleans(),
)
def test_any_sentences_survive(rows, apart):
    scores, firsts, seconds = (list(column) for column in zip(*rows, strict=True))
    if apart:
        files = [("s1.txt", "\n".join(firsts)), ("s2.txt", "\n".join(seconds))]
    else:
        pairs = [f"{one}\t{two}" for one, two in zip(firsts, seconds, strict=True)]
        files = [("x.input.txt", "\n".join(pairs))]
    (_, data), *rest = join(*files, ("scores.txt" if apart else "x.gs.txt", "\n".join(scores)))
    assert not rest
    assert [tuple(row) for row in read_table(data, "joined").rows] == rows
