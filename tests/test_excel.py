"""Excel workbooks: the right rows, or one clear sentence."""

import datetime as dt
import io
import zipfile

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing import xlsx_archive
from augsbert_core.importing.excel import looks_like_excel, read_excel
from augsbert_core.importing.table import Table
from augsbert_core.options import ImportOptions

HEADER = ["sentence1", "sentence2", "score"]
SHEET = "xl/worksheets/sheet1.xml"


def saved(workbook: openpyxl.Workbook) -> bytes:
    buffer = io.BytesIO()
    workbook.save(buffer)
    return buffer.getvalue()


def workbook_of(*rows, merge: str = "", **sheets) -> bytes:
    workbook = openpyxl.Workbook()
    for row in rows:
        workbook.active.append(row)
    if merge:
        workbook.active.merge_cells(merge)
    for title, others in sheets.items():
        sheet = workbook.create_sheet(title)
        for row in others:
            sheet.append(row)
    return saved(workbook)


def changed(data: bytes, change, member: str = SHEET) -> bytes:
    """The workbook with one of its files changed."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as old,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            new.writestr(name, change(old.read(name)) if name == member else old.read(name))
    return buffer.getvalue()


def read(data: bytes, **options) -> Table:
    return read_excel(data, "pairs.xlsx", ImportOptions(**options))


def test_a_sheet_with_a_header():
    table = read(workbook_of(HEADER, ["A dog", "None", 4.5], ["A cat", "NA", 3]))
    assert table.header == HEADER
    assert table.rows == [["A dog", "None", "4.5"], ["A cat", "NA", "3"]]
    assert list(table.line_numbers) == [2, 3]
    assert (table.format, table.sheet, table.sheets) == ("excel", "Sheet", ("Sheet",))


def test_the_header_as_told():
    data = workbook_of(["A dog", "A cat", 1], ["We", "You", 2])
    assert read(data).header is None
    assert len(read(data).rows) == 2
    assert read(data, header=True).header == ["A dog", "A cat", "1"]
    assert read(workbook_of(HEADER, ["a", "b", 1]), header=False).rows[0] == HEADER


def test_values_as_text():
    row = ["x", True, dt.date(2024, 1, 2), dt.datetime(2024, 1, 2, 3, 4), dt.time(5, 6), "#N/A"]
    table = read(workbook_of(["a", "b", "c", "d", "e", "f"], row), header=True)
    assert table.rows == [
        ["x", "true", "2024-01-02", "2024-01-02T03:04:00", "05:06:00", "#N/A"]
    ]  # fmt: skip


def test_cells_that_are_empty_and_rows_that_are_empty():
    data = workbook_of(HEADER, ["a", "b"], [], ["c", None, 3], ["d", "e", 1, None, "more"])
    table = read(data)
    assert table.rows == [["a", "b", ""], ["c", "", "3"], ["d", "e", "1", "", "more"]]
    assert list(table.line_numbers) == [2, 4, 5]
    assert "1 empty row was skipped." in table.notes


def test_a_table_that_begins_further_down_and_right():
    data = workbook_of([], [], [None, *HEADER], [None, "a", "b", 1])
    table = read(data)
    assert (table.header, table.rows) == (HEADER, [["a", "b", "1"]])
    assert list(table.line_numbers) == [4]
    assert "The table begins in row 3." in table.notes


def test_a_title_above_the_table_is_left_out_with_a_note():
    data = workbook_of(["Ratings of 2024"], HEADER, ["a", "b", 1], ["c", "d", 2], merge="A1:C1")
    table = read(data)
    assert (table.header, len(table.rows)) == (HEADER, 2)
    assert "Row 1 stands above the table and was left out: Ratings of 2024" in table.notes


def test_formulas_without_a_result_are_empty_and_counted():
    data = workbook_of(HEADER, ["a", "b", "=1+1"], ["c", "d", "=2+2"])
    table = read(data)
    assert table.rows == [["a", "b", ""], ["c", "d", ""]]
    assert any("2 cells hold formulas whose result was never saved" in note for note in table.notes)
    # A spreadsheet program saves the results beside the formulas.
    computed = changed(
        data, lambda xml: xml.replace(b"<f>1+1</f><v />", b"<f>1+1</f><v>2</v>")
                             .replace(b"<f>1+1</f><v></v>", b"<f>1+1</f><v>2</v>")
                             .replace(b"<f>1+1</f><v/>", b"<f>1+1</f><v>2</v>")
    )  # fmt: skip
    assert read(computed).rows[0] == ["a", "b", "2"]


def test_merged_cells_are_filled():
    rows = [["topic", *HEADER], ["cats", "a", "b", 1], [None, "c", "d", 2], ["dogs", "e", "f", 3]]
    table = read(workbook_of(*rows, merge="A2:A3"))
    assert [row[0] for row in table.rows] == ["cats", "cats", "dogs"]
    assert any("1 in all" in note for note in table.notes)


def test_a_merged_range_down_to_the_last_row_of_all():
    data = workbook_of(HEADER, ["a", "b", 1], ["c", "d"], merge="C2:C3")
    table = read(changed(data, lambda xml: xml.replace(b"C2:C3", b"C2:XFD1048576")))
    assert table.rows == [["a", "b", "1"], ["c", "d", "1"]]


def test_which_sheet():
    data = workbook_of(["Read me"], Pairs=[HEADER, ["a", "b", 1]], Other=[["x", "y"], ["z", "w"]])
    table = read(data)
    assert (table.sheet, table.sheets) == ("Pairs", ("Sheet", "Pairs", "Other"))
    assert "Sheet 'Pairs' was read; the others are Sheet, Other." in table.notes
    assert read(data, sheet="other").sheet == "Other"
    with pytest.raises(WorkbenchError, match="Its sheets are: Sheet, Pairs, Other"):
        read(data, sheet="Nowhere")


def test_hidden_sheets_are_read_only_when_named():
    workbook = openpyxl.Workbook()
    for row in (HEADER, ["a", "b", 1]):
        workbook.active.append(row)
    workbook.active.sheet_state = "hidden"
    sheet = workbook.create_sheet("Shown")
    for row in (HEADER, ["c", "d", 2]):
        sheet.append(row)
    assert read(saved(workbook)).rows == [["c", "d", "2"]]
    assert read(saved(workbook), sheet="Sheet").rows == [["a", "b", "1"]]


def test_text_in_several_styles_and_written_in_the_cell():
    workbook = openpyxl.Workbook()
    rich = CellRichText("A ", TextBlock(InlineFont(b=True), "bold"), " dog")
    for row in (HEADER, [rich, "b", 1]):
        workbook.active.append(row)
    data = saved(workbook)
    assert read(data).rows == [["A bold dog", "b", "1"]]
    inline = b'<c r="B2" t="inlineStr"><is><t>in place</t></is></c>'

    def put_in_place(xml: bytes) -> bytes:
        start = xml.index(b'<c r="B2"')
        return xml[:start] + inline + xml[xml.index(b"</c>", start) + 4 :]

    assert read(changed(data, put_in_place)).rows == [["A bold dog", "in place", "1"]]


def test_characters_that_the_format_escapes():
    table = read(workbook_of(HEADER, ["a_x000A_b", "x_x0000__xD800_y", 1], ["a", "b_x", 2]))
    assert table.rows == [["a\nb", "xy", "1"], ["a", "b_x", "2"]]
    assert "1 NUL character was removed." in table.notes


GOOD = workbook_of(HEADER, ["a", "b", 1])
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 100


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (GOOD[:-30], "damaged or incomplete"),
        (GOOD[:400], "damaged or incomplete"),
        (changed(GOOD, lambda xml: xml[: len(xml) // 2]), "damaged or incomplete"),
        (changed(GOOD, lambda xml: b""), "damaged or incomplete"),
        (changed(GOOD, lambda xml: xml.replace(b'<row r="2"', b'<row r="2000000000"')), "damaged"),
        (changed(GOOD, lambda xml: b"<x/>", "xl/workbook.xml"), "damaged|no sheets"),
        (changed(GOOD, lambda xml: b'<!DOCTYPE a [<!ENTITY b "c">]>' + xml), "entity"),
        (changed(GOOD, lambda xml: xml.decode().encode("utf-16")), "rare encoding"),
        (changed(GOOD, lambda _: "<?xml version='1.0' encoding='cp037'?>".encode("cp037")), "."),
        (OLE + "EncryptedPackage".encode("utf-16-le") + b"\0\0", "protected with a password"),
        (OLE + "Workbook".encode("utf-16-le") + b"\0\0", "old kind"),
        (workbook_of(), "has no rows"),
        (workbook_of(HEADER), "no rows below its header"),
    ],
)
def test_what_cannot_be_read_is_told_in_one_sentence(data, told):
    with pytest.raises(WorkbenchError, match=told) as caught:
        read(data)
    assert "pairs.xlsx" in str(caught.value)


def test_other_archives_are_no_workbooks():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("pairs.csv", "a,b\n")
    assert not looks_like_excel(buffer.getvalue())
    assert looks_like_excel(GOOD)
    assert looks_like_excel(GOOD[:-30])
    assert not looks_like_excel(b"PK\x03\x04")
    with pytest.raises(WorkbenchError, match="no Excel workbook"):
        read(buffer.getvalue())


def test_a_workbook_that_unpacks_to_gigabytes_is_not_opened(monkeypatch):
    monkeypatch.setattr(xlsx_archive, "_MAX_BYTES", 5_000_000)
    bomb = changed(GOOD, lambda xml: xml + b" " * 6_000_000)
    assert len(bomb) < 100_000
    with pytest.raises(WorkbenchError, match="not opened"):
        read(bomb)
    monkeypatch.undo()
    monkeypatch.setattr(xlsx_archive, "_RATIO_FROM", 5_000_000)
    with pytest.raises(WorkbenchError, match="not opened"):
        read(bomb)


@pytest.mark.parametrize("declared", [b"UTF-8", b"utf-8"])
def test_usual_encodings_pass(declared):
    head = b'<?xml version="1.0" encoding="' + declared + b'" standalone="yes"?>\n'
    assert read(changed(GOOD, lambda xml: head + xml)).rows == [["a", "b", "1"]]


# What XML cannot hold is left out, and "_x" because the format reads it as an escape.
TEXTS = st.text(
    st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters="_\ufffe\uffff"),
    min_size=1,
).filter(lambda text: not text.startswith("="))
WORDS = st.sampled_from(["None", "NA", "nan", "null", '"a"', "a\nb", "'a", "1", "TRUE", "\u2028x"])


@settings(max_examples=40, deadline=None)
@given(rows=st.lists(st.lists(TEXTS | WORDS, min_size=3, max_size=3), min_size=1, max_size=5))
def test_any_texts_survive(rows):
    table = read(workbook_of(HEADER, *rows), header=True)
    assert (table.header, table.rows) == (HEADER, rows)
