"""Files in: columns are found or told, every row becomes a pair or is listed with its reason."""

from dataclasses import replace
from pathlib import Path

import pytest

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.rows import (
    Columns,
    Table,
    choose_columns,
    find_column,
    find_repeats,
    gold_rows,
    guess_columns,
    guess_score_range,
    guess_task,
    limit_rows,
    read_table,
    require_rows,
    sentence_rows,
    unlabelled_rows,
)
from augsbert_core.pairs import ScoreRange

STS = ScoreRange(0, 5)
STSB = Path(__file__).parents[2] / "shared" / "data" / "stsb"
needs_stsb = pytest.mark.skipif(
    not STSB.is_dir(), reason="the STS Benchmark files are not beside this checkout"
)
HEADER = "sentence1,sentence2,score\n"


def read(text: str, name: str = "pairs.csv", **how) -> Table:
    return read_table(text.encode(), name, **how)


def gold(text: str, score_range: ScoreRange = STS):
    table = read(text)
    kept, rejected = gold_rows(table, guess_columns(table, "pairs"), score_range)
    assert len(kept) + len(rejected) == len(table.rows)
    return kept, rejected


# Real files


@needs_stsb
@pytest.mark.parametrize(("split", "n_rows"), [("train", 5749), ("dev", 1500), ("test", 1379)])
def test_sts_benchmark_gives_every_row(split, n_rows):
    table = read_table((STSB / f"sts-{split}.tsv").read_bytes(), f"sts-{split}.tsv")
    columns = guess_columns(table, "pairs")
    kept, rejected = gold_rows(table, columns, STS)
    assert (len(kept), rejected) == (n_rows, [])
    assert [row.line for row in kept] == list(range(1, n_rows + 1))
    assert columns == Columns(sentence1=5, sentence2=6, score=4, group=0)
    assert {row.group for row in kept} == {
        "main-captions",
        "main-forums",
        "main-forum",
        "main-news",
    } & {row.group for row in kept}
    assert (table.quoting, table.header, table.delimiter) == (False, None, "\t")
    assert guess_score_range(table, columns) == STS
    assert guess_task(kept) == "regression"


@needs_stsb
def test_sts_benchmark_train_has_the_known_repeats_and_says_what_quoting_would_lose():
    table = read_table((STSB / "sts-train.tsv").read_bytes(), "sts-train.tsv")
    kept, _ = gold_rows(table, guess_columns(table, "pairs"), STS)
    repeats = find_repeats(
        [(row.sentence1, row.sentence2) for row in kept], [row.raw_score for row in kept]
    )
    assert (repeats.n_rows_repeated, repeats.n_conflicting) == (57, 13)
    assert any("5749 rows" in note and "5711" in note for note in table.notes)


# Columns


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        ("sentence1,sentence2,label", Columns(0, 1, 2)),
        ("score,sentence_1,sentence_2,split", Columns(1, 2, 0, split=3)),
        ("id,qid1,qid2,question1,question2,is_duplicate", Columns(3, 4, 5)),
        ("pair_ID,sentence_A,sentence_B,relatedness_score,entailment_judgment", Columns(1, 2, 3)),
        ("Quality,#1 ID,#2 ID,#1 String,#2 String", Columns(3, 4, 0)),
        ("text1,text2,similarity,genre", Columns(0, 1, 2, group=3)),
        ("S1,S2,Wert", Columns(0, 1, 2)),
    ],
)
def test_columns_are_known_by_name(header, columns):
    row = ",".join("1" if index == columns.score else f"some text {index}" for index in range(6))
    row = ",".join(row.split(",")[: header.count(",") + 1])
    assert guess_columns(read(f"{header}\n{row}\n{row}\n", header=True), "pairs") == columns


@pytest.mark.parametrize(
    ("line", "columns"), [("A b,C d,1", Columns(0, 1, 2)), ("0.5,A b,C d", Columns(1, 2, 0))]
)
def test_three_columns_without_header_are_known_by_shape(line, columns):
    assert guess_columns(read(line), "pairs") == columns


def test_columns_that_cannot_be_guessed_are_named_with_the_remedy():
    table = read("alpha,beta,gamma,delta\nx,y,z,w\n", header=True)
    with pytest.raises(
        WorkbenchError, match=r"0 'alpha', 1 'beta'.*--columns SENTENCE1,SENTENCE2,SCORE"
    ):
        guess_columns(table, "pairs")
    with pytest.raises(WorkbenchError, match="imported as unlabelled-pairs"):
        guess_columns(read("A b.,C d.\nE f.,G h.\n"), "pairs")


def test_columns_can_be_named_or_counted():
    table = read("wie,was,sim,text\nx,y,1,z\n", header=True)
    assert choose_columns(table, ["was", "3", "SIM"], "pairs") == Columns(1, 3, 2)
    assert choose_columns(table, ["was"], "sentences") == Columns(1)
    assert find_column(table, " Text ") == 3
    for names, what in [
        (["was", "wer", "sim"], "no column 'wer'"),
        (["was", "4", "sim"], "no column '4'"),
        (["was", "was", "sim"], "given twice"),
        (["was", "wie"], "2 columns were given"),
    ]:
        with pytest.raises(WorkbenchError, match=what):
            choose_columns(table, names, "pairs")


def test_a_column_name_that_occurs_twice_is_chosen_by_position():
    table = read("text,text,score\na,b,1\n")
    with pytest.raises(WorkbenchError, match="Give its position instead: 0 or 1"):
        find_column(table, "text")
    assert choose_columns(table, ["0", "1", "score"], "pairs") == Columns(0, 1, 2)


# Rows


def test_scores_are_divided_by_the_declared_range_only():
    kept, _ = gold(HEADER + "a b,c d,0.8\ne f,g h,4\n")
    assert [(row.raw_score, row.score) for row in kept] == [(0.8, 0.16), (4.0, 0.8)]


def test_words_for_missing_values_are_sentences():
    kept, rejected = gold(HEADER + "None,NA,1\nnan,null,2\n")
    assert [(row.sentence1, row.sentence2) for row in kept] == [("None", "NA"), ("nan", "null")]
    assert rejected == []


def test_every_unusable_row_is_listed_with_line_reason_and_text():
    bad = [
        "a,b,x",
        "a,b,nan",
        "a,b,inf",
        "a,b,6",
        "a,b,-0.1",
        "a,b,",
        " ,b,1",
        "a,,1",
        "a,b",
        "a,b,1,c",
        "a,b,1_0",
    ]
    kept, rejected = gold(HEADER + "good,row,1\n" + "\n".join(bad) + "\ngood,row,2,,\n")
    assert [row.line for row in kept] == [2, 14]
    assert [row.line for row in rejected] == list(range(3, 14))
    assert [row.text for row in rejected] == bad
    assert [row.reason for row in rejected] == [
        "Score is not a number: 'x'",
        "Score is not a number: 'nan'",
        "Score is not a number: 'inf'",
        "Score is outside 0:5: 6",
        "Score is outside 0:5: -0.1",
        "Score is missing: ''",
        "Sentence 1 is blank: ' '",
        "Sentence 2 is blank: ''",
        "Row does not have 3 columns: 2",
        "Row does not have 3 columns: 4",
        "Score is not a number: '1_0'",
    ]


def test_sts_benchmark_rows_may_lack_the_extra_columns_unless_one_of_them_is_used():
    short = "main-news\tMSRpar\t2012\t1\t2.5\tA dog runs.\tA cat runs."
    table = read(f"{short}\tsource\tlicence\n" * 3 + short, "sts.tsv")
    columns = guess_columns(table, "pairs")
    assert len(gold_rows(table, columns, STS)[0]) == 4
    with_extra = replace(columns, group=find_column(table, "8"))
    kept, rejected = gold_rows(table, with_extra, STS)
    assert [row.group for row in kept] == ["licence"] * 3
    assert [row.reason for row in rejected] == ["Row has no column 8 (counted from 0): 7 columns"]


def test_the_text_of_a_rejected_row_is_cut():
    _, (rejected,) = gold(HEADER + "good,row,1\n" + "y" * 9000 + ",b,c\n")
    assert rejected.text == "y" * 200


def test_splits_come_from_their_column_and_unknown_ones_are_rejected():
    text = "sentence1,sentence2,score,split\n"
    kept, rejected = gold(
        text + "a,b,1,Train\nc,d,1,validation\ne,f,1,test\ng,h,1,\ni,j,1,holdout\n"
    )
    assert [row.split for row in kept] == ["train", "dev", "test", ""]
    assert [(row.line, row.reason) for row in rejected] == [
        (6, "Split is none of train, dev, test: 'holdout'")
    ]


def test_decimal_commas_of_a_semicolon_file():
    kept, _ = gold("sentence1;sentence2;score\na, so;b;4,5\nc;d;0,25\n")
    assert [row.raw_score for row in kept] == [4.5, 0.25]


def test_a_file_without_a_usable_row_is_a_user_error():
    kept, rejected = gold(HEADER + "a,b,80\nc,d,90\ne,,1\n")
    with pytest.raises(
        WorkbenchError,
        match=r"No row of p\.csv .* 2 of 3 rows .* on line 2: Score is outside 0:5: 80",
    ):
        require_rows(kept, rejected, "p.csv")
    require_rows(["a row"], rejected, "p.csv")


def test_sentences_and_unlabelled_pairs():
    table = read("sentence\nOne.\n \nTwo.\n")
    kept, rejected = sentence_rows(table, guess_columns(table, "sentences"))
    assert kept == [(2, "One."), (4, "Two.")]
    assert [row.reason for row in rejected] == ["Sentence is blank: ' '"]
    table = read("text1,text2\nOne.,Two.\nThree.,\n")
    pairs, rejected = unlabelled_rows(table, guess_columns(table, "unlabelled-pairs"))
    assert pairs == [(2, "One.", "Two.")]
    assert [row.line for row in rejected] == [3]
    with pytest.raises(WorkbenchError, match="a file of pairs, not of single sentences"):
        guess_columns(table, "sentences")


@pytest.mark.parametrize(
    ("scores", "offered"),
    [
        ("0 1 1", "0:1"), ("0.2 0.8", "0:1"), ("-1 0.3", "-1:1"), ("1 3 5", "1:5"), ("0 3 4", "0:4"),
        ("0 4.8", "0:5"), ("0 3.8", "0:5"), ("0 100", None), ("-3 1", None), ("2 nan 4", "1:5"),
    ],
)  # fmt: skip
def test_the_score_range_offered_fits_the_observed_scores(scores, offered):
    table = read(HEADER + "".join(f"a b,c d,{score}\n" for score in scores.split()))
    guessed = guess_score_range(table, guess_columns(table, "pairs"))
    assert guessed == (offered and ScoreRange.parse(offered))


def test_the_task_follows_the_raw_scores():
    assert guess_task(gold(HEADER + "a,b,0\nc,d,1\n")[0]) == "classification"
    assert guess_task(gold(HEADER + "a,b,0\nc,d,0.5\n")[0]) == "regression"
    assert guess_task([]) == "regression"


def test_a_limit_takes_the_first_rows_and_says_so():
    table = limit_rows(read(HEADER + "a,b,1\nc,d,2\n"), 1)
    assert (table.rows, table.line_numbers) == ([["a", "b", "1"]], [2])
    assert "Only the first 1 of 2 rows were read, as asked." in table.notes
    assert limit_rows(table, None) is table
    with pytest.raises(WorkbenchError, match="Limit 0"):
        limit_rows(table, 0)
