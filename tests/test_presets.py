"""Well-known files are known by their header or shape, for what they hold, and for nothing that only looks like it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.column_names import NLI_LABELS
from augsbert_core.importing.columns import KINDS, Columns, guess_columns
from augsbert_core.importing.presets import Preset, recognise
from augsbert_core.importing.reading import read_table
from augsbert_core.importing.rows import nli_rows, pair_rows
from augsbert_core.importing.table import Table
from augsbert_core.options import ImportOptions
from augsbert_core.pairs import ScoreRange
from augsbert_core.steps.import_plan import plan_import

STSB = Path(__file__).parents[2] / "shared" / "data" / "stsb"
FIVE, UNIT = ScoreRange(0, 5), ScoreRange(0, 1)


def read(text: str, name: str = "file.tsv", **how) -> Table:
    return read_table(text.encode(), name, ImportOptions(**how))


def known(text: str, kind: str = "pairs", name: str = "file.tsv", **how) -> Preset:
    """The format of a text, which must have one."""
    table = read(text, name, **how)
    preset = recognise(table, kind)
    assert preset is not None
    assert kind in preset.kinds
    return preset


def unknown(text: str, kind: str = "pairs", name: str = "file.tsv", **how) -> None:
    assert recognise(read(text, name, **how), kind) is None


def tsv(header: str, *rows: str, times: int = 5) -> str:
    """Tab-separated lines, written here with a bar between the cells."""
    return "\n".join([*([header] if header else []), *rows * times]).replace("|", "\t") + "\n"


# STS Benchmark


@pytest.mark.skipif(
    not STSB.is_dir(), reason="the STS Benchmark files are not beside this checkout"
)
@pytest.mark.parametrize(("split", "n_rows"), [("train", 5749), ("dev", 1500), ("test", 1379)])
def test_the_real_sts_benchmark_comes_in_whole(split, n_rows):
    name = f"sts-{split}.tsv"
    plan = plan_import((STSB / name).read_bytes(), name, ImportOptions())
    assert (plan.n_kept, plan.rejected, plan.guessed_range) == (n_rows, [], FIVE)
    assert plan.columns == Columns(5, 6, 4, group=0, source_id=3)
    assert "Recognised as STS Benchmark." in plan.notes
    assert plan.rows[0].group == "main-captions"


STSB_ROW = (
    "main-captions|MSRvid|2012test|0001|%s|A plane is taking off.|An air plane is taking off."
)


@pytest.mark.parametrize("extra", ["", "|source", "|source|licence"])
def test_sts_benchmark_without_a_header(extra):
    text = tsv("", STSB_ROW % "5.000" + extra, STSB_ROW % "0.2" + extra)
    preset = known(text)
    assert (preset.name, preset.title, preset.score_range) == ("stsb", "STS Benchmark", FIVE)
    assert preset.columns == Columns(5, 6, 4, group=0, source_id=3)
    assert known(text, "unlabelled-pairs").columns == Columns(5, 6, group=0, source_id=3)
    for kind in ("nli", "triplets", "sentences"):
        unknown(text, kind)


def test_sts_benchmark_with_a_header_or_with_its_first_line_taken_for_one():
    header = "genre|source|year|id|score|sentence1|sentence2"
    text = tsv(header, STSB_ROW % "5.000", STSB_ROW % "0.2")
    expected = Columns(5, 6, 4, group=0, source_id=3)
    assert known(text).columns == expected
    assert known(text, header=False).columns == expected
    headless = tsv("", STSB_ROW % "5.000", STSB_ROW % "2")
    assert known(headless, header=True).columns == expected


def test_sts_benchmark_as_sentence_transformers_distributes_it():
    header = "split|genre|dataset|year|sid|score|sentence1|sentence2"
    row = "dev|main-news|MSRpar|2012train|0001|%s|A dog runs.|A cat runs."
    preset = known(tsv(header, row % 4.5, row % 0))
    assert preset.columns == Columns(6, 7, 5, split=0, group=1, source_id=4)
    assert (preset.name, preset.score_range) == ("stsb", FIVE)


def test_sts_benchmark_of_glue():
    header = "index|genre|filename|year|old_index|source1|source2|sentence1|sentence2|score"
    row = "7|main-captions|MSRvid|2012test|0001|none|none|A plane is off.|An air plane is off.|%s"
    preset = known(tsv(header, row % "5.000", row % "1.2"))
    assert (preset.name, preset.score_range) == ("stsb-glue", FIVE)
    assert preset.columns == Columns(7, 8, 9, group=1, source_id=0)
    test = tsv(header.removesuffix("|score"), (row % "").removesuffix("|"))
    assert known(test, "unlabelled-pairs").columns == Columns(7, 8, group=1, source_id=0)
    unknown(test)


def test_sts_benchmark_with_commas_is_known_by_its_genres():
    row = 'main-captions,MSRvid,2012test,0001,4.5,"A plane, taking off.","An air plane, taking off."\n'
    assert known(row * 5, name="sts-dev.csv").columns == Columns(5, 6, 4, group=0, source_id=3)
    unknown(row.replace("main-captions", "captions") * 5, name="sts-dev.csv")


def test_scores_that_were_divided_by_five_get_no_range_from_the_format():
    assert known(tsv("", STSB_ROW % "0.96", STSB_ROW % "0.2")).score_range is None


def test_a_format_needs_nine_rows_of_ten():
    good, bad = STSB_ROW % "4.5", STSB_ROW % "n/a"
    assert known(tsv("", *[good] * 9, bad))
    unknown(tsv("", *[good] * 8, bad, bad))
    blank = "main-news|a|b|c|1.5| |Two."
    unknown(tsv("", *[good] * 8, blank, blank))


# Scored pairs of other sources


def test_sick_has_ratings_and_judgements():
    header = "pair_ID|sentence_A|sentence_B|relatedness_score|entailment_judgment"
    text = tsv(
        header, "1|A dog runs.|No dog runs.|3.6|CONTRADICTION", "2|A cat.|An animal.|4.7|ENTAILMENT"
    )
    ratings = known(text)
    assert (ratings.title, ratings.score_range) == ("SICK", ScoreRange(1, 5))
    assert ratings.kinds == ("pairs", "nli", "triplets", "unlabelled-pairs")
    assert ratings.columns == Columns(1, 2, 3, source_id=0)
    judgements = known(text, "nli")
    assert (judgements.columns, judgements.score_range) == (Columns(1, 2, label=4), None)
    kept, rejected = nli_rows(read(text), judgements.columns)
    assert (kept[0], rejected) == ((2, "A dog runs.", "No dog runs.", "contradiction"), [])
    assert known(text, "triplets").columns == Columns(1, 2, label=4)


def test_the_whole_sick_has_splits():
    header = (
        "pair_ID|sentence_A|sentence_B|entailment_label|relatedness_score|entailment_AB|entailment_BA|"
        "sentence_A_original|sentence_B_original|sentence_A_dataset|sentence_B_dataset|SemEval_set"
    )
    rows = [
        f"{n}|A dog.|A cat.|NEUTRAL|4.5|A_neutral_B|B_neutral_A|A dog.|A cat.|FLICKR|FLICKR|{split}"
        for n, split in enumerate(("TRAIN", "TRIAL", "TEST"))
    ]
    text = tsv(header, *rows)
    preset = known(text)
    assert preset.columns == Columns(1, 2, 4, split=11, source_id=0)
    kept, _ = pair_rows(read(text), preset.columns, ScoreRange(1, 5))
    assert [row.split for row in kept][:3] == ["train", "dev", "test"]
    assert known(text, "nli").columns == Columns(1, 2, label=3)


def test_ratings_beyond_those_of_sick_are_not_sick():
    header = "pair_ID|sentence_A|sentence_B|relatedness_score|entailment_judgment"
    unknown(tsv(header, "1|A dog runs.|No dog runs.|0|NEUTRAL", "2|A cat.|A pet.|4.7|NEUTRAL"))


def test_mrpc_is_read_without_quoting():
    row = '%d|702876|702977|Amrozi accused his brother, "the witness".|"The witness," he said.'
    text = "\ufeff" + tsv("Quality|#1 ID|#2 ID|#1 String|#2 String", row % 1, row % 0)
    preset = known(text, name="msr_paraphrase_train.txt")
    assert (preset.name, preset.score_range) == ("mrpc", UNIT)
    assert preset.columns == Columns(3, 4, 0)
    plan = plan_import(text.encode(), "msr_paraphrase_train.txt", ImportOptions())
    assert (plan.n_kept, plan.task, plan.guessed_range) == (10, "classification", UNIT)
    assert plan.rows[0].sentence2 == '"The witness," he said.'


def test_quora_question_pairs():
    header = '"id","qid1","qid2","question1","question2","is_duplicate"\n'
    rows = '"0","1","2","How, then?","What is ""this""?","0"\n"1","3","4","Why?","Why, then?","1"\n'
    preset = known(header + rows * 3, name="train.csv")
    assert (preset.title, preset.score_range) == ("Quora question pairs", UNIT)
    assert preset.columns == Columns(3, 4, 5, source_id=0)
    unknown(header + rows.replace('"1"\n', '"4"\n') * 3, name="train.csv")


@pytest.mark.parametrize("label", ["label", "noisy_label"])
def test_paws(label):
    text = tsv(
        f"id|sentence1|sentence2|{label}", "1|He ran to her .|She ran to him .|0", "2|A b|B a|1"
    )
    preset = known(text)
    assert (preset.name, preset.score_range) == ("paws", UNIT)
    assert preset.columns == Columns(1, 2, 3, source_id=0)


def test_ratings_under_the_header_of_paws_are_not_paws():
    text = tsv("id|sentence1|sentence2|label", "1|A b|B a|0.5", "2|A b|B a|1")
    assert known(text).name == "named-pairs"


def test_best_worst_scaled_arguments_are_grouped_by_topic():
    header = "topic,argument1,argument2,score\n"
    preset = known(header + "Cloning,It is wrong.,It is unsafe.,0.35\n" * 5, name="bws.csv")
    assert (preset.title, preset.score_range) == ("BWS argument similarity", None)
    assert preset.columns == Columns(1, 2, 3, group=0)


def test_ukp_aspect_labels_become_two_classes():
    rows = [
        f"Drones|They are loud.|They are noisy.|{label}" for label in ("DTORCD", "NS", "SS", "HS")
    ]
    text = tsv("topic|sentence_1|sentence_2|label", *rows)
    preset = known(text)
    assert (preset.name, preset.score_range) == ("aspect", UNIT)
    assert preset.columns == Columns(1, 2, 3, group=0)
    kept, rejected = pair_rows(read(text), preset.columns, UNIT, dict(preset.labels))
    assert [row.score for row in kept][:4] == [0, 0, 1, 1]
    assert [row.label for row in kept][:4] == ["DTORCD", "NS", "SS", "HS"]
    assert rejected == []
    graded = text.replace("DTORCD", "0").replace("NS", "1").replace("SS", "2").replace("HS", "3")
    assert known(graded).name == "named-pairs"


def test_tweets_of_pit_2015_have_votes_or_a_rating():
    row = "1|EJ Manuel|EJ is first|Manuel goes first|%s|EJ/B-p/NNP/B-NP/O is/O/VBZ/O/O|Manuel/B-p/NNP/B-NP/O"
    text = tsv("", row % "(4, 1)", row % "(2, 3)", row % "(0, 5)")
    preset = known(text, name="train.data")
    assert (preset.name, preset.columns) == ("pit", Columns(2, 3, 4, group=1))
    kept, rejected = pair_rows(read(text), preset.columns, FIVE, dict(preset.labels))
    assert ([row.raw_score for row in kept][:3], rejected) == ([4, 2, 0], [])
    assert known(tsv("", row % 5, row % 0), name="test.data").name == "pit"
    assert known(text, "unlabelled-pairs").columns == Columns(2, 3, group=1)


def test_semeval_files_have_the_score_first_and_perhaps_not_everywhere():
    preset = known(tsv("", "4.4|A b c|D e f", "0|G h|I j", "|K l|M n"), name="STS.gs.txt")
    assert (preset.name, preset.score_range) == ("semeval", None)
    assert preset.columns == Columns(1, 2, 0)
    unknown(tsv("", "A b c|4.4|D e f"))
    unknown(tsv("", "|K l|M n"))


def test_sentences_and_a_score_without_a_header():
    text = '"A plane, taking off.",An air plane.,5.0\nA man plays.,A man sings.,1.25\n' * 4
    preset = known(text, name="stsb-en-dev.csv")
    assert (preset.name, preset.score_range) == ("stsb-csv", None)
    assert preset.columns == Columns(0, 1, 2)


@pytest.mark.parametrize("score", ["score", "label"])
def test_pairs_as_mteb_and_sentence_transformers_name_them(score):
    text = f"sentence1,sentence2,{score}\nA b,C d,0.25\nE f,G h,4\n"
    preset = known(text, name="x.csv")
    assert (preset.columns, preset.score_range) == (Columns(0, 1, 2), None)
    assert known(
        f"topic,split,id,sentence1,sentence2,{score}\nx,dev,7,A b,C d,0.25\n", name="x.csv"
    ).columns == (Columns(3, 4, 5, split=1, group=0, source_id=2))
    unknown(f"sentence1,sentence2,{score}\nA b,C d,low\nE f,G h,high\n", name="x.csv")


# NLI and triplets


@pytest.mark.parametrize(
    ("header", "row", "columns"),
    [
        ("premise|hypothesis|label", "A b|C d|entailment", Columns(0, 1, label=2)),
        ("label|hypothesis|premise", "2|A b|C d", Columns(2, 1, label=0)),
        ("uid|context|hypothesis|label", "7|A b|C d|c", Columns(1, 2, label=3)),
        (
            "split|dataset|filename|sentence1|sentence2|label",
            "dev|AllNLI|a.txt|A b|C d|contradiction",
            Columns(3, 4, label=5),
        ),
        (
            "gold_label|sentence1_binary_parse|sentence2_binary_parse|sentence1|sentence2|pairID|label1",
            "-|( a b )|( c d )|A b|C d|1r1n|neutral\nneutral|( a b )|( c d )|A b|C d|1r1n|neutral",
            Columns(3, 4, label=0),
        ),
        (
            "language|gold_label|sentence1|sentence2|label1",
            "de|contradictory|A b|C d|neutral",
            Columns(2, 3, label=1),
        ),
    ],
)
def test_nli_files_can_be_nli_pairs_or_triplets(header, row, columns):
    text = tsv(header, row)
    preset = known(text, "nli")
    assert (preset.columns, preset.kinds) == (columns, ("nli", "triplets", "unlabelled-pairs"))
    assert known(text, "triplets").columns == columns


def test_a_yes_or_no_is_no_nli_label():
    unknown(tsv("id|sentence1|sentence2|label", "1|A b|C d|0", "2|A b|C d|1"), "nli")
    unknown(tsv("premise|hypothesis|label", "A b|C d|yes"), "nli")


def test_triplets_are_known_by_their_names():
    text = tsv("anchor|positive|negative", "A b|A c|X y")
    preset = known(text, "triplets")
    assert (preset.columns, preset.kinds) == (Columns(0, 1, negative=2), ("triplets",))
    for kind in ("pairs", "nli", "unlabelled-pairs"):
        unknown(text, kind)
    assert known(tsv("sent0|sent1|hard_neg", "A b|A c|X y"), "triplets").columns == preset.columns


# What a preset must not do


def test_a_column_name_that_occurs_twice_is_not_taken_for_granted():
    unknown(tsv("sentence1|sentence2|score|score", "A b|C d|1|2"))


def test_what_the_user_says_about_the_columns_wins():
    header = "pair_ID|sentence_A|sentence_B|relatedness_score|entailment_judgment|other"
    text = tsv(header, "1|A dog runs.|No dog runs.|3.6|NEUTRAL|0.5").encode()
    own = plan_import(text, "x.tsv", ImportOptions(columns=("1", "2", "other")))
    assert (own.columns.score, own.guessed_range, own.files[0].preset) == (5, UNIT, None)
    same = plan_import(text, "x.tsv", ImportOptions(columns=("1", "2", "3")))
    assert (same.guessed_range, same.files[0].preset and same.files[0].preset.name) == (
        ScoreRange(1, 5),
        "sick",
    )
    labels = ImportOptions(labels=("neutral=0.25",), columns=("1", "2", "4"), score_range=(0, 1))
    assert plan_import(text, "x.tsv", labels).rows[0].score == 0.25


def test_presets_and_guesses_agree_where_both_know_the_columns():
    """A page that guesses shows the columns that an import then uses."""
    texts = [
        tsv("", STSB_ROW % "5.000"),
        tsv("Quality|#1 ID|#2 ID|#1 String|#2 String", "1|5|6|A b|C d", "0|5|6|A b|C d"),
        tsv("id|sentence1|sentence2|label", "1|A b|C d|0", "2|A b|C d|1"),
        tsv("topic|sentence_1|sentence_2|label", "Drones|A b|C d|NS"),
        tsv("", "4.4|A b c|D e f"),
        tsv("premise|hypothesis|label", "A b|C d|entailment"),
    ]
    for text in texts:
        table = read(text)
        for kind in ("pairs", "unlabelled-pairs", "nli", "triplets"):
            preset = recognise(table, kind)
            assert preset is None or preset.columns == guess_columns(table, kind)


NAMES = (
    "sentence1", "Sentence 2", "score", "label", "premise", "hypothesis", "genre", "year", "id", "quality", "#1 String",
    "#2 String", "question1", "question2", "is_duplicate", "anchor", "positive", "negative", "topic", "split", "x", "",
)  # fmt: skip
CELLS = (
    "",
    " ",
    "0",
    "1",
    "2.5",
    "A dog runs.",
    "It rains.",
    "dev",
    "HS",
    "-",
    "(4, 1)",
    *NLI_LABELS,
)


@given(
    st.none() | st.lists(st.sampled_from(NAMES), max_size=9),
    st.lists(st.lists(st.sampled_from(CELLS) | st.text(max_size=3), max_size=9), max_size=5),
    st.sampled_from(["", "\t", ","]),
    st.sampled_from(sorted(KINDS)),
)
def test_any_table_has_a_format_whose_columns_are_there_or_none(header, rows, delimiter, kind):
    table = Table(rows, range(1, len(rows) + 1), header, delimiter)
    preset = recognise(table, kind)
    if preset is not None:
        used = preset.columns.used
        assert len(set(used)) == len(used)
        assert sum(len(row) > used[-1] for row in rows) >= 0.9 * len(rows) > 0
        assert kind in preset.kinds
    try:
        columns = guess_columns(table, kind)
    except WorkbenchError:
        return
    assert len(set(columns.used)) == len(columns.used)
