"""Files out: spreadsheets run nothing, programs get every value back."""

import io

import pytest

from augsbert_core.exporting.files import rejected_csv, safe_cell, to_csv, write_csv
from augsbert_core.importing.reading import read_table
from augsbert_core.importing.rows import Rejected
from augsbert_core.options import ImportOptions

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx"]


@pytest.mark.parametrize("text", FORMULAS)
def test_texts_that_look_like_formulas_are_escaped(text):
    assert safe_cell(text) == "'" + text
    assert read_table(to_csv(["text", "score"], [[text, -0.5]]), "out.csv").rows == [
        ["'" + text, "-0.5"]
    ]


def test_texts_that_do_not_are_left_alone():
    assert [safe_cell(text) for text in ["", "a=b", "3-1", " =x", "'x"]] == [
        "",
        "a=b",
        "3-1",
        " =x",
        "'x",
    ]


def test_files_for_programs_come_back_equal():
    rows = [[text, 'He said "hi", then\nleft'] for text in FORMULAS] + [["Füße", "漢字"]]
    data = to_csv(["sentence1", "sentence2"], rows, safe=False)
    assert read_table(data, "out.csv").rows == rows
    assert not data.startswith(b"\xef\xbb\xbf")


def test_spreadsheets_get_a_byte_order_mark_and_empty_cells_for_what_is_no_number():
    data = to_csv(["a", "b", "c"], [[None, float("nan"), 0.1]])
    assert data == b"\xef\xbb\xbfa,b,c\r\n,,0.1\r\n"


def test_rows_are_written_as_they_come_and_counted():
    file = io.StringIO(newline="")
    assert write_csv(file, ["n"], ([n] for n in range(3)), delimiter="\t") == 3
    assert file.getvalue() == "n\r\n0\r\n1\r\n2\r\n"


def test_rejected_rows_can_be_downloaded():
    table = read_table(
        rejected_csv([Rejected(7, "Score is not a number: 'x'", "=a,b,x")]),
        "r.csv",
        ImportOptions(header=True),
    )
    assert table.header == ["line", "reason", "text"]
    assert table.rows == [["7", "Score is not a number: 'x'", "'=a,b,x"]]
