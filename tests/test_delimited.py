"""Text files to tables: any bytes give the right rows, or one clear sentence."""

import bz2
import csv
import io
import lzma
import random
import tarfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.columns import guess_columns
from augsbert_core.importing.delimited import read_delimited
from augsbert_core.importing.reading import read_table
from augsbert_core.importing.rows import pair_rows
from augsbert_core.importing.table import Table
from augsbert_core.importing.texts import is_blank
from augsbert_core.options import ImportOptions
from augsbert_core.pairs import ScoreRange

STS = ScoreRange(0, 5)
HEADER = "sentence1,sentence2,score\n"
PAIRS = [["A dog runs.", "A dog is running.", "4.5"], ["A cat sleeps.", "The sun shines.", "0"]]


def read(text: str, name: str = "pairs.csv", **how) -> Table:
    return read_delimited(text.encode(), name, **how)


# Delimiter, header, quoting


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
@pytest.mark.parametrize("header", [True, False])
def test_delimiter_and_header_are_found(delimiter, header):
    lines = ["sentence1,sentence2,score"] * header + [",".join(row) for row in PAIRS]
    table = read("\n".join(lines).replace(",", delimiter))
    assert table.rows == PAIRS
    assert table.header == (["sentence1", "sentence2", "score"] if header else None)
    assert table.delimiter == delimiter
    assert table.line_numbers == ([2, 3] if header else [1, 2])


def test_a_single_row_is_cut_where_a_score_appears():
    assert read("A dog, a cat, a cow;One, two;0.8").rows == [
        ["A dog, a cat, a cow", "One, two", "0.8"]
    ]


def test_a_header_in_unknown_words_is_told_from_rows_and_noted():
    table = read(
        "links,rechts,wert\nEin Hund läuft,Ein Hund rennt,4\nEine Katze,Die Sonne scheint,0\n"
    )
    assert table.header == ["links", "rechts", "wert"]
    assert "The first line was read as the header: links, rechts, wert." in table.notes


def test_a_bad_score_in_the_first_row_is_no_header():
    table = read("A dog runs.,A dog walks.,n/a\nA cat sits.,A cat sleeps.,3\nA man.,A boy.,2\n")
    assert table.header is None
    assert len(table.rows) == 3


def test_quoted_commas_and_newlines_of_a_real_csv():
    table = read(HEADER + '"A dog, running","He said ""hi""\nand left",3\nA cat,"B, C",1\n')
    assert table.quoting
    assert table.rows == [["A dog, running", 'He said "hi"\nand left', "3"], ["A cat", "B, C", "1"]]
    assert table.line_numbers == [2, 4]


def test_stray_quotes_in_a_tsv_are_text():
    rows = [
        ["1", '"We won', "He left"],
        ["2", "All is well", '"Yes" he said'],
        ["3", '"No"', "Never"],
    ]
    table = read("\n".join("\t".join(row) for row in rows), "pairs.tsv")
    assert table.rows == rows
    assert not table.quoting
    assert any("part of the text" in note for note in table.notes)


def test_quoting_can_be_told():
    text = '"a b"\t"c d"\t1\n'
    assert read(text, quoting=False).rows == [['"a b"', '"c d"', "1"]]
    assert read(text, quoting=True).rows == [["a b", "c d", "1"]]


def test_a_quote_that_is_never_closed_costs_one_row_only():
    good = '"A dog, running","A cat",3\n'
    table = read(HEADER + good * 5 + 'A bird,"A plane,2\n' + good * 20)
    kept, rejected = pair_rows(table, guess_columns(table, "pairs"), STS)
    assert len(kept) == 25
    assert [(row.line, row.text) for row in rejected] == [(7, "A bird,A plane,2")]
    assert any("line 7 is misplaced or never closed" in note for note in table.notes)


def test_a_quote_that_is_never_closed_among_few_rows_is_a_slip():
    text = HEADER + '"A dog, a cat","B",4\n"C","D",0\nE,"F,2\n"G","H",4\n'
    table = read(text)
    assert table.rows == [
        ["A dog, a cat", "B", "4"],
        ["C", "D", "0"],
        ["E", "F,2"],
        ["G", "H", "4"],
    ]
    assert table.line_numbers == [2, 3, 4, 5]


def test_columns_of_one_sentence_file_are_not_cut_at_commas():
    sentences = ["A dog, a cat.", "One.", "So, it, ends.", "Fine."]
    assert [row for (row,) in read("\n".join(sentences), "s.txt").rows] == sentences
    assert [row for (row,) in read("text\n" + "\n".join(sentences)).rows] == sentences
    quoted = "text\n" + "\n".join(f'"{sentence}"' for sentence in sentences)
    assert [row for (row,) in read(quoted).rows] == sentences


def test_delimiters_can_be_told_by_name_and_nonsense_is_refused():
    assert read("a;b\tc", delimiter="tab").rows == [["a;b", "c"]]
    with pytest.raises(WorkbenchError, match="'--' cannot be used"):
        read("a--b", delimiter="--")


# Encodings and broken bytes

NAIVE = [["Ein Mann läuft – schnell", "Ein Mann rennt", "4"], ["Café “Nord”", "Der Zug", "0.5"]]
NAIVE_TEXT = HEADER + "".join(",".join(row) + "\n" for row in NAIVE)


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (NAIVE_TEXT.encode("utf-8"), "utf-8"),
        (NAIVE_TEXT.encode("utf-8-sig"), "utf-8-sig"),
        (NAIVE_TEXT.encode("utf-16"), "utf-16"),
        (b"\xfe\xff" + NAIVE_TEXT.encode("utf-16-be"), "utf-16"),
        (NAIVE_TEXT.encode("utf-16-le"), "utf-16-le"),
        (NAIVE_TEXT.encode("utf-16-be"), "utf-16-be"),
        (NAIVE_TEXT.encode("utf-32"), "utf-32"),
        (NAIVE_TEXT.encode("cp1252"), "cp1252"),
    ],
)
def test_encodings_are_found_and_can_be_told(data, encoding):
    table = read_table(data, "pairs.csv")
    assert table.rows == NAIVE
    assert table.header == ["sentence1", "sentence2", "score"]
    assert table.encoding == encoding
    assert read_table(data, "pairs.csv", ImportOptions(encoding=encoding)).rows == NAIVE


def test_nul_bytes_are_removed_and_counted():
    table = read(HEADER + "A\0 dog,A cat,1\nB\0,C,2\n")
    assert table.rows == [["A dog", "A cat", "1"], ["B", "C", "2"]]
    assert "2 NUL bytes were removed." in table.notes


def test_a_few_broken_bytes_do_not_turn_utf8_into_cp1252():
    data = (HEADER + "Größe,Straße,1\nÄrger,Übung,2\nx?,y,3\n").encode().replace(b"x?", b"x\xff")
    table = read_table(data, "pairs.csv")
    assert table.rows[0] == ["Größe", "Straße", "1"]
    assert table.rows[2][0] == "x\ufffd"
    assert any("the first on line 4" in note for note in table.notes)


@pytest.mark.parametrize("encoding", ["utf-9", "ascii"])
def test_a_wrong_encoding_is_a_clear_error(encoding):
    with pytest.raises(WorkbenchError, match=encoding):
        read_table(NAIVE_TEXT.encode(), "pairs.csv", ImportOptions(encoding=encoding))


WESTERN = [
    "Ein Mann läuft schnell. Größe zählt.",
    "L’été à Nîmes, où l’on chante “Noël”…",
    "¿Dónde está la niña? ¡Mañana, señor!",
    "Ação e reação: a criança não comeu pão.",
    "Ræven går på øen, Åsa är här.",
    "Tyttö syö jäätelöä.",
    "Maðurinn þvær bílinn og les bók í húsi.",
    "È una città. Perché no?",
    "Prices are £5 and €6, 10 × 20 ± 3 µm, 5 °C, ½ cup, © 2020 Company™.",
    "Het meisje zei: “ja” – en één coöperatie.",
]


@pytest.mark.parametrize("sentence", WESTERN)
@pytest.mark.parametrize("times", [1, 50])
def test_western_european_text_is_cp1252_whatever_else_it_could_be(sentence, times):
    data = f"{sentence}\t{sentence}\t3\n".encode("cp1252") * times
    table = read_table(data, "pairs.tsv")
    assert (table.encoding, table.rows[0][0]) == ("cp1252", sentence)


@pytest.mark.parametrize(
    ("encoding", "sentence"),
    [
        ("cp1250", "Žena řídí auto a kočka spí na posteli, pes běží přes louku."),
        ("cp1250", "A lány énekel, a nő az őszi erdőben űrhajót épít, és sétál."),
        ("cp1255", "גבר מנגן בגיטרה בפארק, ילדה שרה שיר."),
        ("cp1256", "رجل يعزف على الجيتار في الحديقة. فتاة تغني أغنية."),
        ("cp850", "Ein Mann läuft schnell über die Straße. Das Mädchen hört zu."),
        ("mac_roman", "Ein Mann läuft schnell über die Straße. Das Mädchen hört zu."),
    ],
)
def test_other_older_encodings_are_told_from_cp1252(encoding, sentence):
    table = read_table(f"{sentence}\t{sentence}\t3\n".encode(encoding) * 3, "pairs.tsv")
    assert (table.encoding, table.rows[0][0]) == (encoding, sentence)
    assert any("If letters look wrong, choose another encoding." in note for note in table.notes)


def test_the_encoding_of_a_large_file_is_judged_by_the_places_that_tell():
    ascii_rows = b"A dog runs.\tA dog walks.\t3\n" * 50_000
    row = "Кошка спит на кровати.\tСобака бежит по полю.\t1\n"
    assert read_table(ascii_rows + row.encode("cp1251"), "p.tsv").encoding == "cp1251"
    one_line = ("男が公園でギターを弾いている。" * 30_000).encode("cp932")
    assert read_table(one_line, "p.txt").encoding == "cp932"
    broken = (
        row.encode("euc_kr", "ignore")
        + "한 남자가 공원에서 기타를 친다\tb\t1\n".encode("cp949") * 9
    )
    assert "broken" not in "".join(read_table(broken, "p.tsv").notes)


def test_a_broken_character_in_an_older_encoding_is_shown_and_counted():
    data = "男が公園でギターを弾いている。\t猫がベッドで寝ている。\t1\n".encode("cp932") * 20
    table = read_table(data + b"x\x81\ty\t2\n", "pairs.tsv")
    assert (table.encoding, table.rows[-1]) == ("cp932", ["x\ufffd", "y", "2"])
    assert any("1 character is broken" in note for note in table.notes)


def test_surrogates_that_make_a_pair_become_one_character_and_lone_ones_go():
    text = "A \ud83d\ude00 face\tB \ud83d dog\t1\n"
    table = read_table(text.encode("utf-8", "surrogatepass"), "pairs.tsv")
    assert table.rows == [["A 😀 face", "B  dog", "1"]]
    assert "1 lone surrogate was removed." in table.notes


def test_utf16_with_half_a_character_at_its_end_is_read():
    table = read_table("a b\tc d\t1\n".encode("utf-16-le") * 9 + b"x", "pairs.tsv")
    assert table.rows == [["a b", "c d", "1"]] * 9
    assert any("half a character" in note for note in table.notes)


@pytest.mark.parametrize(
    "encoding",
    [
        "utf-7",
        "unicode_escape",
        "raw_unicode_escape",
        "idna",
        "punycode",
        "rot13",
        "hex",
        "zip",
        "é",
        "a\0b",
        "",
        "undefined",
        "utf-8-sig",
    ],
)
def test_any_name_of_an_encoding_gives_rows_or_a_workbench_error(encoding):
    for data in (b"a\tb\t1\n", b"\\ud800\\n \xc3\xa4\tb\t1", b"+2AA-\tb\t1"):
        try:
            table = read_table(data, "pairs.tsv", ImportOptions(encoding=encoding))
        except WorkbenchError:
            continue
        "".join(cell for row in table.rows for cell in row).encode()


# Shape: lines, blank lines, ragged rows, nothing at all


def test_mixed_line_ends_and_blank_lines():
    table = read("a b\tc\t1\r\nd\te f\t2\rg\th\t3\n\n\r\ni\tj\u2028k\x0cl\t4", "pairs.tsv")
    assert table.rows == [
        ["a b", "c", "1"],
        ["d", "e f", "2"],
        ["g", "h", "3"],
        ["i", "j\u2028k\x0cl", "4"],
    ]
    assert table.line_numbers == [1, 2, 3, 6]
    assert "2 blank lines were skipped." in table.notes


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf", b" \n\n\t\n", b"\0\0\0"])
def test_an_empty_file_says_so(data):
    with pytest.raises(WorkbenchError, match=r"empty\.csv is empty"):
        read_table(data, "empty.csv")


def test_a_file_of_only_a_header_says_so():
    with pytest.raises(
        WorkbenchError, match=r"no rows below its header \(sentence1, sentence2, score\)"
    ):
        read(HEADER)


def test_a_long_line_is_read_at_once():
    long = "word " * 2_000_000
    assert read(HEADER + f'"{long}",short,1\n').rows == [[long, "short", "1"]]
    with pytest.raises(WorkbenchError, match="1 column:"):
        guess_columns(read(long), "pairs")
    with pytest.raises(WorkbenchError, match="2000001 columns"):
        guess_columns(read("a," * 2_000_000 + "a"), "pairs")


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"PK\x03\x04" + b"x" * 50, "zip archive"),
        (b"\x1f\x8b\x08" + b"x" * 50, "gzip"),
        (b"PAR1" + b"x" * 50 + b"PAR1", "Parquet"),
        (b"\x7fELF" + b"\0\1\2\3" * 500, "control codes"),
        (random.Random(5).randbytes(20_000), "control codes"),
        (b"abc \x81 def", "byte 0x81 on line 1"),
    ],
)
def test_what_is_not_text_is_named(data, what):
    with pytest.raises(WorkbenchError, match=what):
        read_table(data, "junk.csv")


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400), st.sampled_from(["", HEADER, "a\tb\t1\n" * 3, '"x","y",1\n']))
def test_any_bytes_give_rows_or_a_workbench_error(junk, start):
    try:
        table = read_table(start.encode() + junk, "junk.csv")
        columns = guess_columns(table, "pairs")
    except WorkbenchError:
        return
    kept, rejected = pair_rows(table, columns, STS)
    assert len(kept) + len(rejected) == len(table.rows)


# Any table comes back as it was written

TEXT = st.text(st.characters(exclude_characters="\0\ufeff", exclude_categories=["Cs"]), max_size=20)
ROWS = st.lists(st.tuples(TEXT, TEXT, st.floats(0, 5)), min_size=1, max_size=8)


@settings(max_examples=200, deadline=None)
@given(ROWS, st.sampled_from([",", ";", "|"]))
def test_what_csv_writer_writes_comes_back_equal(rows, delimiter):
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=delimiter).writerows([("sentence1", "sentence2", "score"), *rows])
    table = read_table(file.getvalue().encode(), "pairs.csv")
    assert table.delimiter == delimiter
    assert [(a, b, float(score)) for a, b, score in table.rows] == rows
    kept, rejected = pair_rows(table, guess_columns(table, "pairs"), STS)
    assert len(kept) + len(rejected) == len(rows)
    assert len(kept) == sum(not (is_blank(a) or is_blank(b)) for a, b, _ in rows)


@settings(max_examples=200, deadline=None)
@given(ROWS)
def test_an_unquoted_tsv_comes_back_equal(rows):
    rows = [tuple(" ".join(str(c).split("\t")) for c in row) for row in rows]
    rows = [tuple(c.replace("\n", " ").replace("\r", " ") for c in row) for row in rows]
    text = "".join("\t".join(row) + "\n" for row in rows)
    table = read(text, "pairs.tsv", quoting=False, header=False, delimiter="\t")
    assert [tuple(row) for row in table.rows] == rows
    assert table.line_numbers == list(range(1, len(rows) + 1))


GOOD = "A dog runs,A cat sits,3.5\n"
TOP = "sentence1,sentence2,score\n"


@pytest.mark.parametrize("blank", ["   \n" * 30, "\n" * 300_000, " \r\n\t\r\n" * 30])
@pytest.mark.parametrize("header", [TOP, ""])
def test_blank_lines_do_not_hide_the_delimiter(blank, header):
    for text in (header + GOOD + blank + GOOD * 4, blank + header + GOOD * 5):
        table = read_delimited(text.encode(), "pairs.csv")
        assert table.delimiter == ","
        assert table.rows == [GOOD.strip().split(",")] * 5
        assert table.notes[0] == f"{len(blank.splitlines())} blank lines were skipped."
        lines = text.splitlines()
        assert all(lines[at - 1] == GOOD.strip() for at in table.line_numbers)


def test_lines_of_one_word_below_a_header_do_not_hide_the_delimiter():
    table = read_delimited((TOP + GOOD + "word\n" * 30 + GOOD * 4).encode(), "pairs.csv")
    assert table.delimiter == ","
    assert table.header == ["sentence1", "sentence2", "score"]
    assert len(table.rows) == 35


def test_lines_of_white_space_are_rows_where_each_line_is_a_sentence():
    table = read_delimited(b"One sentence\n  \nAnother one\n", "corpus.txt")
    assert table.rows == [["One sentence"], ["  "], ["Another one"]]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", ":"])
@pytest.mark.parametrize("hint", ["sep={}\n", "SEP={}\r\n", '"sep={}"\r\n', "\ufeffsep={}\r"])
def test_the_hint_for_excel_is_followed_and_no_row(delimiter, hint):
    rows = (TOP + GOOD * 2).replace(",", delimiter)
    table = read_delimited((hint.format(delimiter) + rows).encode(), "pairs.csv")
    assert (table.delimiter, table.header) == (delimiter, TOP.strip().split(","))
    assert table.rows == [GOOD.strip().split(",")] * 2
    assert list(table.line_numbers) == [3, 4]
    assert any("sep=" in note.lower() for note in table.notes)
    assert not any("blank" in note for note in table.notes)


def test_a_delimiter_that_is_told_counts_more_than_the_hint():
    table = read_delimited(f"sep=;\n{TOP}{GOOD}".encode(), "pairs.csv", delimiter=",")
    assert table.rows == [GOOD.strip().split(",")]
    assert read_delimited(b"sep=x\nsep=y\n", "corpus.txt").rows == [["sep=x"], ["sep=y"]]


@pytest.mark.parametrize("n", [1, 3, 10])
def test_comments_above_a_table_are_skipped(n):
    comments = "".join(f"# made by A, B and C, on day {day}, at home\r\n" for day in range(n))
    table = read_delimited((comments + TOP + GOOD * 3).encode(), "pairs.csv")
    assert table.header == TOP.strip().split(",")
    assert list(table.line_numbers) == [n + 2, n + 3, n + 4]
    begin = "1 line that begins with # above the table was skipped."
    assert table.notes[0] == (
        begin if n == 1 else f"{n} lines that begin with # above the table were skipped."
    )
    assert len(table.notes) == 2


def test_what_begins_with_a_hash_and_is_no_comment_is_kept():
    rows = "#run,#walk,3\n#sit,#stand,1\n"
    assert len(read_delimited((rows + GOOD * 3).encode(), "pairs.csv").rows) == 5
    head = read_delimited(("# of mine\n#first,second,rated\n" + GOOD * 3).encode(), "pairs.csv")
    assert head.header == ["#first", "second", "rated"]
    assert len(read_delimited(b"#one\n#two\nthree\nfour\n", "corpus.txt").rows) == 4
    many = "# a comment\n" * 11 + TOP + GOOD * 30
    assert len(read_delimited(many.encode(), "pairs.csv").rows) >= 41


def tar_without_a_mark() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        info = tarfile.TarInfo("pairs.csv")
        info.size = len(GOOD)
        archive.addfile(info, io.BytesIO(GOOD.encode()))
    data = bytearray(buffer.getvalue())
    data[257:265] = bytes(8)
    data[148:156] = b" " * 8
    data[148:156] = f"{sum(data[:512]):06o}\0 ".encode()
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (bz2.compress(GOOD.encode()), "bzip2 archive"),
        (bz2.compress(b""), "bzip2 archive"),
        (lzma.compress(GOOD.encode()), "xz archive"),
        (lzma.compress(GOOD.encode(), lzma.FORMAT_ALONE), "LZMA archive"),
        (b"7z\xbc\xaf\x27\x1c\0\4" + bytes(50), "7z archive"),
        (b"Rar!\x1a\x07\x01\0" + bytes(50), "RAR archive"),
        (tar_without_a_mark(), "tar archive"),
        (b'<?xml version="1.0"?>\n<office:document xmlns:x="y">', "spreadsheet saved as XML"),
        (
            b'<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?>',
            "spreadsheet saved as XML",
        ),
    ],
)
def test_archives_and_spreadsheets_of_other_kinds_are_named(data, what):
    with pytest.raises(WorkbenchError, match=f"pairs.csv cannot be read: it is an? {what}"):
        read_delimited(data, "pairs.csv")


@pytest.mark.parametrize("bad", ["0,5", "", "n/a", "wort", "4.5/5"])
def test_one_odd_score_does_not_change_the_delimiter(bad: str) -> None:
    rows = [f"{i % 5},{i % 9};Der Hund läuft, {i};Ein Hund, schnell {i}" for i in range(30)]
    rows[4] = f"{bad};{rows[4].partition(';')[2]}"
    table = read_table("\n".join(["bewertung;satz a;satz b", *rows]).encode(), "eu.csv")
    assert (table.delimiter, table.header) == (";", ["bewertung", "satz a", "satz b"])
    assert len(table.rows) == 30
