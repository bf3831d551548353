"""Files in: columns are found or told, every row becomes a pair or is listed with its reason."""

from dataclasses import replace
from pathlib import Path

import pytest

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.columns import Columns, choose_columns, find_column, guess_columns
from augsbert_core.importing.pair_rows import PairRows
from augsbert_core.importing.reading import read_table
from augsbert_core.importing.repeats import find_repeats
from augsbert_core.importing.rows import (
    Rejected,
    limit_rows,
    nli_rows,
    pair_rows,
    require_rows,
    sentence_rows,
    triplet_rows,
    unlabelled_rows,
)
from augsbert_core.importing.scores import guess_range
from augsbert_core.importing.table import Table
from augsbert_core.options import ImportOptions
from augsbert_core.pairs import ScoreRange

STS = ScoreRange(0, 5)
STSB = Path(__file__).parents[2] / "shared" / "data" / "stsb"
needs_stsb = pytest.mark.skipif(
    not STSB.is_dir(), reason="the STS Benchmark files are not beside this checkout"
)
HEADER = "sentence1,sentence2,score\n"


def read(text: str, name: str = "pairs.csv", **how) -> Table:
    return read_table(text.encode(), name, ImportOptions(**how))


def gold(text: str, score_range: ScoreRange = STS) -> tuple[PairRows, list[Rejected]]:
    table = read(text)
    kept, rejected = pair_rows(table, guess_columns(table, "pairs"), score_range)
    assert len(kept) + len(rejected) == len(table.rows)
    return kept, rejected


# Real files


@needs_stsb
@pytest.mark.parametrize(("split", "n_rows"), [("train", 5749), ("dev", 1500), ("test", 1379)])
def test_sts_benchmark_gives_every_row(split, n_rows):
    table = read_table((STSB / f"sts-{split}.tsv").read_bytes(), f"sts-{split}.tsv")
    columns = guess_columns(table, "pairs")
    kept, rejected = pair_rows(table, columns, STS)
    assert (len(kept), rejected) == (n_rows, [])
    assert [row.line for row in kept] == list(range(1, n_rows + 1))
    assert columns == Columns(sentence1=5, sentence2=6, score=4, group=0, source_id=3)
    assert {row.group for row in kept} <= {
        "main-captions",
        "main-forums",
        "main-forum",
        "main-news",
    }
    assert len({row.group for row in kept}) == 3
    assert kept[0].source_id == {"train": "0001", "dev": "0000", "test": "0024"}[split]
    assert (table.quoting, table.header, table.delimiter) == (False, None, "\t")
    assert guess_range(kept.raw_scores) == STS


@needs_stsb
def test_sts_benchmark_train_has_the_known_repeats_and_says_what_quoting_would_lose():
    table = read_table((STSB / "sts-train.tsv").read_bytes(), "sts-train.tsv")
    kept, _ = pair_rows(table, guess_columns(table, "pairs"), STS)
    repeats = find_repeats(kept)
    assert (repeats.n_rows_repeated, repeats.n_conflicting) == (57, 13)
    assert any("5749 rows" in note and "5711" in note for note in table.notes)


# Columns


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        ("sentence1,sentence2,label", Columns(0, 1, 2)),
        ("score,sentence_1,sentence_2,split", Columns(1, 2, 0, split=3)),
        ("id,qid1,qid2,question1,question2,is_duplicate", Columns(3, 4, 5, source_id=0)),
        (
            "pair_ID,sentence_A,sentence_B,relatedness_score,entailment_judgment",
            Columns(1, 2, 3, source_id=0),
        ),
        ("Quality,#1 ID,#2 ID,#1 String,#2 String", Columns(3, 4, 0)),
        ("text1,text2,similarity,genre", Columns(0, 1, 2, group=3)),
        ("S1,S2,Wert", Columns(0, 1, 2)),
        ("Index,UID,question1,question2,label", Columns(2, 3, 4, source_id=1)),
        ("topic,text,text,score", Columns(1, 2, 3, group=0)),
    ],
)
def test_columns_are_known_by_name(header, columns):
    row = ",".join("1" if index == columns.score else f"some text {index}" for index in range(6))
    row = ",".join(row.split(",")[: header.count(",") + 1])
    assert guess_columns(read(f"{header}\n{row}\n{row}\n", header=True), "pairs") == columns


@pytest.mark.parametrize(
    ("line", "columns"),
    [
        ("A b,C d,1", Columns(0, 1, 2)),
        ("0.5,A b,C d", Columns(1, 2, 0)),
        ("A b,not_duplicate,C d", Columns(0, 2, 1)),
    ],
)
def test_three_columns_without_header_are_known_by_shape(line, columns):
    assert guess_columns(read(line), "pairs") == columns


def test_columns_that_cannot_be_guessed_are_named_with_the_remedy():
    table = read("alpha,beta,gamma,delta\nx,y,z,w\n", header=True)
    with pytest.raises(
        WorkbenchError, match=r"0 'alpha', 1 'beta'.*--columns SENTENCE1,SENTENCE2,SCORE"
    ):
        guess_columns(table, "pairs")
    with pytest.raises(WorkbenchError, match="--kind unlabelled-pairs"):
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


def test_a_header_that_names_the_sentences_elsewhere_is_no_sts_benchmark():
    """GLUE and sentence-transformers files have eight or nine tab columns and a number in the fifth, too."""
    text = "split\tgenre\tdataset\tyear\tsid\tscore\tsentence1\tsentence2\n"
    row = "train\tmain-news\tMSRpar\t2012train\t0001\t2.5\tA dog runs.\tA cat runs.\n"
    table = read(text + row * 2, "stsbenchmark.tsv")
    expected = Columns(6, 7, score=5, split=0, group=1, source_id=4)
    assert guess_columns(table, "pairs") == expected
    unnamed = read(row * 2, "stsbenchmark.tsv")
    with pytest.raises(WorkbenchError, match="not recognised"):
        guess_columns(unnamed, "pairs")


def test_sts_benchmark_columns_are_found_below_a_header_in_unknown_words():
    text = "Art\tQuelle\tJahr\tNummer\tWert\tSatz eins\tSatz zwei\n"
    row = "main-news\tMSRpar\t2012\t1\t2.5\tA dog runs.\tA cat runs.\n"
    for header in (True, False, None):
        table = read(text + row * 20, "sts.tsv", header=header)
        columns = guess_columns(table, "pairs")
        assert columns == Columns(5, 6, score=4, group=0, source_id=3)
        kept, rejected = pair_rows(table, columns, STS)
        assert len(kept) == 20
        assert [row.reason for row in rejected] == (
            [] if table.header else ["Score is not a number: 'Wert'"]
        )


def test_a_first_line_of_data_that_was_called_a_header_leaves_the_columns_as_they_are():
    row = "main-news\tMSRpar\t2012\t1\t2.5\tA dog runs.\tA cat runs.\n"
    table = read(row * 3, "sts.tsv", header=True)
    assert guess_columns(table, "pairs") == Columns(5, 6, score=4, group=0, source_id=3)
    assert len(table.rows) == 2


def test_tweets_with_tags_are_no_sts_benchmark():
    row = "1\tEJ Manuel\tEJ is first\tManuel goes first\t4\tEJ/B-p/NNP/B-NP/O is/O/VBZ/O/O\tManuel/B-p/NNP/B-NP/O\n"
    with pytest.raises(WorkbenchError, match="not recognised"):
        guess_columns(read(row * 5, "test.data"), "pairs")


def test_pairs_without_a_score_among_scored_ones_leave_the_columns_known():
    table = read("4.2\tA b c\tD e f\n" + "\tG h i\tJ k l\n" * 9, "sts2016.tsv")
    columns = guess_columns(table, "pairs")
    assert columns == Columns(1, 2, 0)
    kept, rejected = pair_rows(table, columns, STS)
    assert len(kept) == 1
    assert {row.reason for row in rejected} == {"Score is missing: ''"}


def test_triplets_are_looked_for_in_nli_files_too():
    labels = ("entailment", "neutral", "contradiction")
    text = "".join(f"A man eats.\tSomeone eats {n}.\t{label}\n" for n, label in enumerate(labels))
    nli = Columns(0, 1, label=2)
    table = read(text, "nli.tsv")
    assert guess_columns(table, "triplets") == nli
    assert choose_columns(table, ["0", "1", "2"], "triplets") == nli
    assert triplet_rows(table, nli) == nli_rows(table, nli)
    named = read("premise\thypothesis\tgold\n" + text, "nli.tsv", header=True)
    assert guess_columns(named, "triplets") == nli


def test_a_yes_or_no_is_no_nli_label_when_triplets_are_looked_for():
    table = read("a,sentence1,sentence2,label\nx y,a b,c d,0\nx y,e f,g h,1\n")
    with pytest.raises(WorkbenchError, match="--columns ANCHOR,POSITIVE,NEGATIVE"):
        guess_columns(table, "triplets")
    assert guess_columns(read("a b,c d,e f\ng h,i j,k l\n"), "triplets") == Columns(
        0, 1, negative=2
    )


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
    assert len(pair_rows(table, columns, STS)[0]) == 4
    with_extra = replace(columns, group=find_column(table, "8"))
    kept, rejected = pair_rows(table, with_extra, STS)
    assert [row.group for row in kept] == ["licence"] * 3
    assert [row.reason for row in rejected] == ["Row has no column 8 (counted from 0): 7 columns"]


def test_the_text_of_a_rejected_row_is_cut():
    _, (rejected,) = gold(HEADER + "good,row,1\n" + "y" * 9000 + ",b,c\n")
    assert rejected.text == "y" * 200


def test_splits_come_from_their_column_and_unknown_ones_are_rejected():
    text = "sentence1,sentence2,score,split\n"
    kept, rejected = gold(
        text + "a,b,1,Train\nc,d,1,validation\ne,f,1,test\ng,h,1,\nk,l,1,TRIAL\ni,j,1,holdout\n"
    )
    assert [row.split for row in kept] == ["train", "dev", "test", "", "dev"]
    assert [(row.line, row.reason) for row in rejected] == [
        (7, "Split is none of train, dev, test: 'holdout'")
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


def test_the_id_of_a_row_is_kept_as_text():
    kept, _ = gold("id,sentence1,sentence2,score\n007,a,b,1\n ,c,d,2\n")
    assert [row.source_id for row in kept] == ["007", ""]


def test_a_limit_takes_the_first_rows_and_says_so():
    table = limit_rows(read(HEADER + "a,b,1\nc,d,2\n"), 1)
    assert (table.rows, table.line_numbers) == ([["a", "b", "1"]], [2])
    assert "Only the first 1 of 2 rows were read, as asked." in table.notes
    assert limit_rows(table, None) is table
    with pytest.raises(WorkbenchError, match="Limit 0"):
        limit_rows(table, 0)


@pytest.mark.parametrize("score", ["5.0000000001", "5.5", "-1e-12", "1e+300", "6"])
def test_a_score_outside_of_the_scale_is_shown_with_the_digits_that_tell(score):
    _, [rejected] = gold(f"{HEADER}A dog,A cat,4\nWe,You,{score}\n")
    assert rejected.reason == f"Score is outside 0:5: {score}"


def test_columns_of_bytes_are_named_as_the_reason():
    table = Table(
        [["", "We", "4"], ["A dog", "", "4"]],
        [1, 2],
        ["image", "sentence2", "score"],
        no_text=frozenset([0]),
    )
    _, rejected = pair_rows(table, Columns(sentence1=0, sentence2=1, score=2), STS)
    assert [row.reason for row in rejected] == [
        "Sentence 1 is no text, its column holds bytes: 'image'",
        "Sentence 2 is blank: ''",
    ]
    _, rejected = unlabelled_rows(table, Columns(sentence1=1, sentence2=0))
    assert rejected[0].reason == "Sentence 2 is no text, its column holds bytes: 'image'"
    _, rejected = sentence_rows(table, Columns(sentence1=0))
    assert [row.reason for row in rejected] == [
        "Sentence is no text, its column holds bytes: 'image'"
    ]
    scored = Table([["A dog", "We", ""]], [1], ["a", "b", "raw"], no_text=frozenset([2]))
    _, [rejected] = pair_rows(scored, Columns(sentence1=0, sentence2=1, score=2), STS)
    assert rejected.reason == "Score is no text, its column holds bytes: 'raw'"


def test_a_column_that_stands_in_the_first_row_asks_for_the_header() -> None:
    table = read_table(b"1;satz a;satz b\n2;x;y\n", "x.csv", ImportOptions(header=False))
    with pytest.raises(WorkbenchError, match="--header"):
        find_column(table, "satz a")
