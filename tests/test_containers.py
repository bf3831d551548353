"""Files inside files: gzip and zip archives are read within bounds, and their names are never paths."""

import gzip
import io
import warnings
import zipfile

import pytest

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing import containers
from augsbert_core.importing.containers import expand, members, unpack
from augsbert_core.importing.reading import cut_head, read_table
from augsbert_core.options import ImportOptions

CSV = b"sentence1,sentence2,score\nA dog runs.,A dog is running.,4.5\nA cat sleeps.,It rains.,0\n"
TSV = b"sentence1\tsentence2\tscore\nOne.\tTwo.\t3\n"


def zipped(files: dict[str, bytes], how: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", how) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def test_a_file_that_is_no_archive_comes_back_as_it_is() -> None:
    assert unpack(CSV, "pairs.csv.gz") == (CSV, "pairs.csv.gz", [], [], "", None)
    assert members(CSV) == []
    assert expand(CSV, "pairs.csv") == [("pairs.csv", CSV)]


def test_archives_are_known_by_their_bytes_not_by_their_name() -> None:
    assert read_table(gzip.compress(CSV), "pairs.csv").rows == read_table(CSV, "x").rows
    table = read_table(zipped({"inner.csv": CSV}), "pairs.csv")
    assert len(table.rows) == 2
    assert (table.sheet, table.sheets) == ("inner.csv", ("inner.csv",))
    assert "inner.csv was read from the zip archive." in table.notes


@pytest.mark.parametrize("how", [zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_every_usual_way_of_packing_is_read(how: int) -> None:
    assert unpack(zipped({"a.csv": CSV}, how), "a.zip").data == CSV


def test_gzip_in_several_pieces_is_read_whole() -> None:
    assert unpack(gzip.compress(CSV[:40]) + gzip.compress(CSV[40:]) + b"\0" * 8, "a.gz").data == CSV


def test_the_only_file_that_can_hold_a_table_is_taken() -> None:
    data = zipped(
        {
            "README.txt": b"About these data",
            "LICENSE": b"MIT",
            "__MACOSX/._pairs.csv": b"\0\5",
            "data/.DS_Store": b"\0",
            "data/pairs.csv": CSV,
            "data/picture.png": b"\x89PNG",
        }
    )
    found = unpack(data, "all.zip")
    assert (found.data, found.name) == (CSV, "all.zip/data/pairs.csv")
    assert members(data) == ["data/pairs.csv"]


def test_several_files_are_listed_and_one_is_chosen_by_name() -> None:
    data = zipped({"d/train.csv": CSV, "d/dev.tsv": TSV, "readme.md": b"hi"})
    assert members(data) == ["d/train.csv", "d/dev.tsv"]
    with pytest.raises(
        WorkbenchError, match=r"all\.zip holds 2 files: d/train\.csv, d/dev\.tsv\. Choose one"
    ):
        read_table(data, "all.zip")
    table = read_table(data, "all.zip", ImportOptions(sheet="d/dev.tsv"))
    assert table.rows == [["One.", "Two.", "3"]]
    assert (table.sheet, table.sheets) == ("d/dev.tsv", ("d/train.csv", "d/dev.tsv"))
    assert "d/dev.tsv was read from the zip archive; d/train.csv was not." in table.notes
    assert read_table(data, "all.zip", ImportOptions(sheet="DEV.tsv")).rows == table.rows
    with pytest.raises(WorkbenchError, match=r"all\.zip holds no file 'test', but d/train\.csv"):
        read_table(data, "all.zip", ImportOptions(sheet="test"))


def test_expanding_gives_each_file_as_a_source_of_its_own() -> None:
    data = zipped({"train.csv": CSV, "dev.tsv": TSV, "README": b"hi"})
    assert expand(data, "all.zip") == [("train.csv", CSV), ("dev.tsv", TSV)]
    assert expand(gzip.compress(TSV), "one.tsv.gz") == [("one.tsv", TSV)]


def test_names_of_members_never_lead_out_of_a_folder() -> None:
    data = zipped(
        {
            "../../etc/one.csv": CSV,
            "C:\\temp\\two.csv": CSV,
            "/three.csv": CSV,
            "a/x.csv": CSV,
            "b/x.csv": TSV,
            "new\nline\x1b.csv": CSV,
        }
    )
    names = [name for name, _ in expand(data, "all.zip")]
    assert names == ["one.csv", "two.csv", "three.csv", "a-x.csv", "b-x.csv", "new?line?.csv"]
    assert unpack(data, "all.zip", "../../etc/one.csv").data == CSV


def test_flat_names_never_collide() -> None:
    names = [
        name for name, _ in expand(zipped({"a/b.csv": CSV, "c/b.csv": CSV, "a-b.csv": CSV}), "z")
    ]
    assert names == ["a-b.csv", "c-b.csv", "2-a-b.csv"]


# What is wrong with an archive is said in one sentence, and memory stays bounded


def encrypted(data: bytes) -> bytes:
    """A zip archive whose first member claims to be encrypted."""
    marked = bytearray(data)
    marked[6] |= 1
    marked[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(marked)


def corrupted(data: bytes) -> bytes:
    """A zip archive with a damaged byte in the middle of its first member."""
    marked = bytearray(data)
    marked[30 + len("a.csv") + 20] ^= 0xFF
    return bytes(marked)


BROKEN = {
    "truncated gzip": (gzip.compress(CSV)[:-10], "ends too early"),
    "corrupt gzip": (
        gzip.compress(CSV)[:20] + b"\xff\xff\xff" + gzip.compress(CSV)[23:],
        "damaged",
    ),
    "gzip with a tail": (gzip.compress(CSV) + b"tail", "damaged gzip"),
    "truncated zip": (zipped({"a.csv": CSV})[:-30], "damaged zip"),
    "corrupt member": (corrupted(zipped({"a.csv": CSV})), r"a\.csv cannot be unpacked"),
    "password": (encrypted(zipped({"a.csv": CSV})), "password"),
    "empty zip": (zipped({}), "without any file"),
    "zip of folders": (zipped({"a/": b"", "b/": b""}), "without any file"),
    "gzip in gzip": (gzip.compress(gzip.compress(CSV)), "another archive"),
    "gzip in zip": (zipped({"a.csv.gz": gzip.compress(CSV)}), "another archive"),
    "zip in zip": (zipped({"b.zip": zipped({"a.csv": CSV})}), "another archive"),
    "zip in gzip": (gzip.compress(zipped({"a.csv": CSV})), "another archive"),
}


@pytest.mark.parametrize(("data", "what"), BROKEN.values(), ids=BROKEN)
def test_a_broken_archive_gives_one_clear_sentence(data: bytes, what: str) -> None:
    for read in (unpack, expand, read_table):
        with pytest.raises(WorkbenchError, match=what) as caught:
            read(data, "sent.bin")  # type: ignore[operator]
        assert str(caught.value).startswith("sent.bin")
    members(data)


def test_a_bomb_is_stopped_long_before_it_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "_HARMLESS_BYTES", 2_000_000)
    spent: list[int] = []
    spend = containers._Budget.spend
    monkeypatch.setattr(
        containers._Budget, "spend", lambda self, n: (spent.append(n), spend(self, n))[1]
    )
    nothing = bytes(30_000_000)
    for data in (
        gzip.compress(nothing),
        zipped({"a.csv": nothing}),
        zipped({"a.csv": b"x", "b.csv": nothing}),
    ):
        spent.clear()
        with pytest.raises(WorkbenchError, match="200 times its size"):
            expand(data, "bomb")
        assert sum(spent) < 10_000_000


def test_an_archive_may_not_unpack_to_more_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "UNPACKED_LIMIT", 50)
    with pytest.raises(WorkbenchError, match="unpacks to more than"):
        unpack(gzip.compress(CSV), "a.gz")


def test_a_table_that_repeats_itself_is_no_bomb() -> None:
    data = b"A cat sleeps.\tA cat is asleep.\t4\n" * 500_000
    assert unpack(gzip.compress(data), "a.gz").data == data


@pytest.mark.parametrize(
    ("files", "what"),
    [
        ({"[Content_Types].xml": b"", "word/document.xml": b""}, "Word document"),
        ({"[Content_Types].xml": b"", "ppt/presentation.xml": b""}, "PowerPoint"),
        ({"[Content_Types].xml": b"", "xl/workbook.bin": b""}, r"\.xlsb"),
        ({"mimetype": b"application/vnd.oasis", "content.xml": b""}, "OpenDocument"),
    ],
)
def test_other_office_documents_are_named(files: dict[str, bytes], what: str) -> None:
    with pytest.raises(WorkbenchError, match=rf"table\.xlsx cannot be read: it is .*{what}"):
        read_table(zipped(files), "table.xlsx")


def test_a_workbook_is_left_to_the_reader_of_workbooks() -> None:
    data = zipped({"[Content_Types].xml": b"", "xl/workbook.xml": b""})
    assert unpack(data, "t.xlsx").data == data
    assert members(data) == []
    assert expand(data, "t.xlsx") == [("t.xlsx", data)]
    assert unpack(gzip.compress(data), "t.xlsx.gz").data == data
    found = unpack(zipped({"t.xlsx": data}), "t.zip", "Sheet 2")
    assert (found.data, found.member, found.sheet) == (data, "t.xlsx", "Sheet 2")
    found = unpack(zipped({"d/t.xlsx": data, "u.csv": CSV}), "t.zip", "T.xlsx")
    assert (found.data, found.member, found.sheet) == (data, "d/t.xlsx", None)


def test_a_workbook_can_be_a_bomb_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "_HARMLESS_BYTES", 1_000_000)
    data = zipped({"[Content_Types].xml": b"", "xl/workbook.xml": bytes(5_000_000)})
    for read in (unpack, expand):
        with pytest.raises(WorkbenchError, match="200 times its size"):
            read(data, "t.xlsx")


# A preview looks at the beginning only


def test_a_preview_reads_whole_lines_up_to_a_limit_and_says_so() -> None:
    data = b"sentence1,sentence2,score\n" + b"A dog.,A cat.,1\n" * 100_000
    table = read_table(data, "big.csv", head_bytes=1_000_000)
    assert 60_000 < len(table.rows) < 62_500
    assert all(row == ["A dog.", "A cat.", "1"] for row in table.rows)
    assert "Only the first 1.0 MB were looked at for this preview." in table.notes
    whole = read_table(data, "big.csv", head_bytes=10_000_000)
    assert len(whole.rows) == 100_000
    assert not any("preview" in note for note in whole.notes)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_preview_is_never_cut_inside_a_character(encoding: str) -> None:
    text = "Größe ਊ\tĊ\t1\n" * 200
    data = text.encode(encoding)
    for limit in range(300, 340):
        head = cut_head(data, limit)
        assert 200 < len(head) <= limit
        assert text.startswith(head.decode(encoding))
        assert head.decode(encoding).endswith("\n")


def test_a_preview_is_not_cut_inside_a_quoted_cell_nor_where_no_line_ends() -> None:
    row = b'"First\nsecond","third\nfourth",1\n'
    head = cut_head(row * 50, len(row) * 3 + 20)
    assert head == row * 3
    assert cut_head(b"one\rtwo\rthree", 9) == b"one\rtwo\r"
    assert cut_head(b"x" * 100, 10) == b"x" * 100


def with_twins_and_link() -> bytes:
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w") as archive:
        warnings.simplefilter("ignore")
        archive.writestr("a.csv", "first")
        archive.writestr("a.csv", "second")
        link = zipfile.ZipInfo("latest.csv")
        link.create_system, link.external_attr = 3, 0o120777 << 16
        archive.writestr(link, "../secret.csv")
    return buffer.getvalue()


def test_two_members_of_one_name_are_both_there_and_links_are_not_followed() -> None:
    data = with_twins_and_link()
    assert members(data) == ["a.csv", "a (2).csv"]
    assert expand(data, "x.zip") == [("a.csv", b"first"), ("a (2).csv", b"second")]
    assert unpack(data, "x.zip", "a (2).csv").data == b"second"
    with pytest.raises(WorkbenchError, match=r"2 files: a.csv, a \(2\).csv"):
        unpack(data, "x.zip")
    assert "latest.csv is a link and was not followed." in unpack(data, "x.zip", "a.csv").notes


def test_documents_of_apple_are_named() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("Index/Document.iwa", b"x")
    with pytest.raises(WorkbenchError, match="Apple Numbers"):
        unpack(buffer.getvalue(), "pairs.numbers")


def test_a_name_that_is_no_text_is_written_out_in_names_errors_and_notes() -> None:
    assert expand(b"a,b,1", "lat\udcff.csv") == [("lat\\xff.csv", b"a,b,1")]
    with pytest.raises(WorkbenchError) as caught:
        read_table(b"", "lat\udcff.csv", ImportOptions())
    assert str(caught.value).startswith("lat\\xff.csv is empty.")
