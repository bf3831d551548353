"""Whatever file arrives: the right rows come in, or one sentence says what is wrong, and then nothing has come in."""

import gzip
import io
import json
import random
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.columns import guess_columns
from augsbert_core.importing.reading import read_table
from augsbert_core.options import ImportOptions
from augsbert_core.steps.import_data import ImportReport, import_file
from augsbert_core.storage import gold, projects
from augsbert_core.storage.database import Workspace, open_workspace, reading
from augsbert_core.storage.records import Project

Pair = tuple[str, str, float]

PAIRS: list[Pair] = [
    ("Ein Mann läuft – schnell.", "Ein Mann rennt.", 4.5),
    ("None", "NA", 0.0),
    ('She said "hi", then left; really | truly.', "null", 2.25),
    ("The train is late.", "The train has a delay.", 5.0),
]
PLAIN: list[Pair] = [
    ("A dog runs.", "A dog is running.", 4.5),
    ("A cat sleeps.", "The sun shines.", 0.0),
    ("It rains.", "Rain falls.", 4.0),
]
NAMES = ["sentence1", "sentence2", "score"]
OPTIONS = ImportOptions(score_range=(0.0, 5.0), split="train")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return open_workspace(tmp_path_factory.mktemp("nasty") / "home")


@pytest.fixture
def empty(home: Workspace) -> Project:
    return projects.create_project(home, f"Project {len(projects.list_projects(home))}")


def stored(workspace: Workspace, project: Project) -> list[Pair]:
    pairs = gold.scored_pairs(workspace, project.id, "train")
    scores = [round(float(score) * 5, 9) for score in pairs.scores]
    return list(zip(pairs.sentences1, pairs.sentences2, scores, strict=True))


def count_all(workspace: Workspace) -> list[int]:
    """How many rows each table that an import writes to has."""
    tables = (
        "run",
        "sentence",
        "gold_pair",
        "import_reject",
        "candidate_pair",
        "nli_pair",
        "triplet",
    )
    with reading(workspace) as db:
        return [db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables]


def bring_in(
    workspace: Workspace, project: Project, data: bytes, name: str, options: ImportOptions = OPTIONS
) -> ImportReport:
    report = import_file(workspace, project.id, data, name, options)
    assert report.rows_read == report.pairs_kept + len(report.rejected)
    return report


# Making files


def delimited(delimiter: str = ",", pairs: list[Pair] = PAIRS, end: str = "\n") -> str:
    """A table with a header; cells are quoted where they must be."""

    def cell(text: str) -> str:
        if any(c in text for c in (delimiter, '"', "\n", "\r")):
            return '"' + text.replace('"', '""') + '"'
        return text

    rows = [NAMES, *([a, b, str(score)] for a, b, score in pairs)]
    return "".join(delimiter.join(map(cell, row)) + end for row in rows)


def records(pairs: list[Pair] = PAIRS) -> list[dict[str, object]]:
    return [dict(zip(NAMES, pair, strict=True)) for pair in pairs]


def json_lines() -> bytes:
    return "".join(json.dumps(row) + "\n" for row in records()).encode()


def parquet(columns: dict[str, object] | None = None) -> bytes:
    out = io.BytesIO()
    if columns is None:
        columns = {name: [pair[at] for pair in PAIRS] for at, name in enumerate(NAMES)}
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def workbook(pairs: list[Pair] = PAIRS) -> bytes:
    out, book = io.BytesIO(), openpyxl.Workbook()
    for row in [NAMES, *pairs]:
        book.active.append(row)
    book.save(out)
    return out.getvalue()


def raw_workbook(sheet: str) -> bytes:
    """A workbook as Excel itself writes it, with the values of its formulas; sheet: what is in <worksheet>."""
    types = "http://schemas.openxmlformats.org/package/2006/content-types"
    relations = "http://schemas.openxmlformats.org/package/2006/relationships"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{types}"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
            f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{relations}"><Relationship Id="r1" '
            f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
            "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
            '<sheet name="Pairs" sheetId="1" r:id="r1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{relations}"><Relationship Id="r1" '
            f'Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}">{sheet}</worksheet>',
        }
    )


def cell(place: str, text: str) -> str:
    return f'<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>'


def zipped(files: dict[str, bytes | str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def password_protected(data: bytes) -> bytes:
    """A zip archive whose first member is marked as encrypted."""
    marked = bytearray(data)
    marked[6] |= 1
    marked[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(marked)


# The right rows, however they are packed

FORMATS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "comma": ("pairs.csv", lambda: delimited(",").encode()),
    "tab": ("pairs.tsv", lambda: delimited("\t").encode()),
    "semicolon": ("pairs.csv", lambda: delimited(";").encode()),
    "pipe": ("pairs.txt", lambda: delimited("|").encode()),
    "json": ("pairs.json", lambda: json.dumps(records(), indent=2).encode()),
    "json columns": (
        "pairs.json",
        lambda: json.dumps({n: [p[at] for p in PAIRS] for at, n in enumerate(NAMES)}).encode(),
    ),
    "json around a list": ("pairs.json", lambda: json.dumps({"data": records()}).encode()),
    "json lines": ("pairs.jsonl", json_lines),
    "parquet": ("pairs.parquet", parquet),
    "excel": ("pairs.xlsx", workbook),
}


@pytest.mark.parametrize("packed", ["plain", "gzip", "zip", "wrong name"])
@pytest.mark.parametrize(("name", "make"), FORMATS.values(), ids=FORMATS)
def test_every_format_comes_in_whole_plain_and_packed(
    home: Workspace, empty: Project, name: str, make: Callable[[], bytes], packed: str
) -> None:
    data = make()
    if packed == "gzip":
        data, name = gzip.compress(data), name + ".gz"
    elif packed == "zip":
        data, name = zipped({"folder/" + name: data, "README.md": b"About"}), "pairs.zip"
    elif packed == "wrong name":
        name = "upload"
    report = bring_in(home, empty, data, name)
    assert stored(home, empty) == PAIRS
    assert report.rejected == []


def as_text(encoding: str, text: str = "") -> Callable[[], bytes]:
    return lambda: (text or delimited()).encode(encoding)


def long_line() -> bytes:
    return (delimited(pairs=PLAIN) + f'"{"word " * 2_000_000}",short,1\n').encode()


# name → (file name, bytes, pairs, how many rows are rejected, what a note says)
READABLE: dict[str, tuple[str, Callable[[], bytes], list[Pair], int, str]] = {
    "utf-8 with mark": ("a.csv", as_text("utf-8-sig"), PAIRS, 0, "byte order mark"),
    "utf-16": ("a.csv", as_text("utf-16"), PAIRS, 0, "Read as UTF-16"),
    "utf-16-le without mark": ("a.csv", as_text("utf-16-le"), PAIRS, 0, "Read as UTF-16-LE"),
    "utf-16-be without mark": ("a.csv", as_text("utf-16-be"), PAIRS, 0, "Read as UTF-16-BE"),
    "cp1252": ("a.csv", as_text("cp1252"), PAIRS, 0, "Read as cp1252"),
    "json in utf-16": ("a.json", lambda: json.dumps(records(), ensure_ascii=False).encode("utf-16"), PAIRS, 0, ""),
    "json with mark": ("a.json", lambda: b"\xef\xbb\xbf" + json.dumps(records()).encode(), PAIRS, 0, ""),
    "mixed line ends": (
        "a.tsv",
        lambda: b"A dog runs.\tA dog is running.\t4.5\r\nA cat sleeps.\tThe sun shines.\t0\r\n\rIt rains.\tRain falls.\t4\n\n",
        PLAIN,
        0,
        "2 blank lines were skipped",
    ),
    "old mac line ends": ("a.csv", as_text("utf-8", delimited(end="\r")), PAIRS, 0, ""),
    "nul bytes": (
        "a.csv",
        lambda: delimited(pairs=PLAIN).replace("dog", "d\0og").encode(),
        PLAIN,
        0,
        "2 NUL bytes were removed",
    ),
    "lone surrogates in utf-8": (
        "a.csv",
        lambda: delimited(pairs=PLAIN).replace("dog", "d\ud800og").encode("utf-8", "surrogatepass"),
        PLAIN,
        0,
        "2 lone surrogates were removed",
    ),
    "lone surrogates in json": (
        "a.json",
        lambda: json.dumps(records(PLAIN)).replace("dog", "d\\udc00o\\u0000g").encode(),
        PLAIN,
        0,
        "removed",
    ),
    "ragged rows": (
        "a.csv",
        lambda: (delimited(pairs=PLAIN) + "only one\nA,B\nA,B,1,too many\n").encode(),
        PLAIN,
        3,
        "",
    ),
    "duplicate column names": (
        "a.csv",
        lambda: delimited(pairs=PLAIN).replace("sentence2", "sentence1").encode(),
        PLAIN,
        0,
        "Several columns are called 'sentence1'",
    ),
    "quote never closed": (
        "a.csv",
        lambda: (
            b'sentence1,sentence2,score\n"A dog runs.","A dog is running.",4.5\n"A cat sleeps.","The sun shines.",0\n'
            b'A bird,"A plane,2\n"It rains.","Rain falls.",4\n'
        ),
        PLAIN,
        1,
        "misplaced or never closed",
    ),
    "quotes opened in a tsv": (
        "a.tsv",
        lambda: b'"One day\tOne night\t1\nShe said\t"yes\t2\nA\tB\t3\n"C\tD\t4\n',
        [('"One day', "One night", 1.0), ("She said", '"yes', 2.0), ("A", "B", 3.0), ('"C', "D", 4.0)],
        0,
        "part of the text",
    ),
    "10 MB in a cell": ("a.csv", long_line, [*PLAIN, (("word " * 2_000_000).strip(), "short", 1.0)], 0, ""),
    "nested json": (
        "a.json",
        lambda: json.dumps(
            [{"sentence1": a, "sentence2": b, "score": c, "meta": {"x": [1, {"y": None}]}} for a, b, c in PLAIN]
        ).encode(),
        PLAIN,
        0,
        "",
    ),
    "json lines, one of them broken": (
        "a.jsonl",
        lambda: b"\n".join([json_lines().strip(), b'{"sentence1": "cut of', b""]),
        PAIRS,
        1,
        "",
    ),
    "parquet with lists": (
        "a.parquet",
        lambda: parquet(
            {
                "sentence1": [a for a, _, _ in PLAIN],
                "sentence2": [b for _, b, _ in PLAIN],
                "tokens": [a.split() for a, _, _ in PLAIN],
                "score": [c for _, _, c in PLAIN],
            }
        ),
        PLAIN,
        0,
        "",
    ),
    "parquet with missing values": (
        "a.parquet",
        lambda: parquet({"sentence1": ["A", None], "sentence2": ["B", "C"], "score": [1.5, 2.0]}),
        [("A", "B", 1.5)],
        1,
        "",
    ),
    "excel with formulas and merged cells": (
        "a.xlsx",
        lambda: raw_workbook(
            "<sheetData>"
            f"<row r='1'>{cell('A1', 'sentence1')}{cell('B1', 'sentence2')}{cell('C1', 'score')}{cell('D1', 'genre')}</row>"
            f"<row r='2'>{cell('A2', 'A dog runs.')}{cell('B2', 'A dog is running.')}"
            f"<c r='C2'><f>9/2</f><v>4.5</v></c>{cell('D2', 'pets')}</row>"
            f"<row r='3'>{cell('A3', 'A cat sleeps.')}{cell('B3', 'The sun shines.')}<c r='C3'><v>0</v></c></row>"
            f"<row r='4'>{cell('A4', 'It rains.')}<c r='B4' t='str'><f>\"Rain \"&amp;\"falls.\"</f><v>Rain falls.</v></c>"
            f"<c r='C4'><v>4</v></c>{cell('D4', 'weather')}</row>"
            "</sheetData><mergeCells count='1'><mergeCell ref='D2:D3'/></mergeCells>"
        ),
        PLAIN,
        0,
        "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", READABLE)
def test_a_nasty_file_gives_the_right_rows(home: Workspace, empty: Project, case: str) -> None:
    name, make, pairs, n_rejected, note = READABLE[case]
    report = bring_in(home, empty, make(), name)
    assert stored(home, empty) == pairs
    assert len(report.rejected) == n_rejected
    assert any(note in told for told in report.notes) or not note


CYRILLIC = [
    ("Мужчина играет на гитаре.", "Мужчина играет.", 3.0),
    ("Кошка спит.", "Собака бежит.", 0.5),
]
OLDER: dict[str, list[Pair]] = {
    "cp1250": [("Mężczyzna gra na gitarze.", "Kot śpi na łóżku.", 0.0), ("Dziewczyna śpiewa pieśń.", "Dziewczynka śpiewa.", 4.0)],
    "cp1251": CYRILLIC,
    "koi8_r": CYRILLIC,
    "cp1253": [("Ένας άντρας παίζει κιθάρα.", "Ένα κορίτσι τραγουδά.", 2.0), ("Η γάτα κοιμάται.", "Ο σκύλος τρέχει.", 1.0)],
    "cp1254": [("Bir adam parkta gitar çalıyor.", "Kız şarkı söylüyor.", 1.0), ("Yağmur yağıyor.", "Kedi uyuyor.", 0.0)],
    "cp932": [("男が公園でギターを弾いている。", "女の子が歌を歌っている。", 1.0), ("猫がベッドで寝ている。", "犬が走っている。", 2.0)],
    "euc_jp": [("男が公園でギターを弾いている。", "女の子が歌を歌っている。", 1.0), ("猫がベッドで寝ている。", "犬が走っている。", 2.0)],
    "gb18030": [("一个男人在公园里弹吉他。", "一个女孩在唱歌。", 1.0), ("猫在床上睡觉。", "狗在跑。", 0.0)],
    "big5": [("一個男人在公園裡彈吉他。", "一個女孩在唱歌。", 1.0), ("貓在床上睡覺。", "狗在跑。", 0.0)],
    "cp949": [("한 남자가 공원에서 기타를 치고 있다.", "소녀가 노래를 부르고 있다.", 1.0), ("고양이가 잔다.", "개가 달린다.", 2.0)],
}  # fmt: skip


@pytest.mark.parametrize("encoding", OLDER)
def test_older_encodings_are_found_told_and_can_be_overridden(
    home: Workspace, empty: Project, encoding: str
) -> None:
    data = delimited(pairs=OLDER[encoding]).encode(encoding)
    report = bring_in(home, empty, data, "alt.csv")
    assert stored(home, empty) == OLDER[encoding]
    assert any(f"Read as {encoding} (" in note for note in report.notes)
    other = projects.create_project(home, f"{empty.name} again")
    told = ImportOptions(score_range=(0, 5), split="train", encoding=encoding)
    bring_in(home, other, data, "alt.csv", told)
    assert stored(home, other) == OLDER[encoding]


def test_what_was_found_can_be_overridden(home: Workspace, empty: Project) -> None:
    lines = b'1~"A~B\n2~C~"D\n'
    how = ImportOptions(
        score_range=(0, 5),
        split="train",
        delimiter="~",
        quoting=False,
        header=False,
        columns=("1", "2", "0"),
    )
    bring_in(home, empty, lines, "odd.txt", how)
    assert stored(home, empty) == [('"A', "B", 1.0), ("C", '"D', 2.0)]
    one = ImportOptions(kind="sentences", delimiter="", header=False, quoting=False)
    table = read_table(b"So, a comma.\nA\ttab; and | more.\n", "lines.csv", one)
    assert table.rows == [["So, a comma."], ["A\ttab; and | more."]]


def test_sentences_inside_objects_are_named_by_the_way_to_them(
    home: Workspace, empty: Project
) -> None:
    rows = [{"pair": {"first": a, "second": b}, "gold": {"score": c}} for a, b, c in PLAIN]
    columns = ("pair.first", "pair.second", "gold.score")
    how = ImportOptions(score_range=(0, 5), split="train", columns=columns)
    bring_in(home, empty, json.dumps(rows).encode(), "nested.json", how)
    assert stored(home, empty) == PLAIN


# One sentence, and nothing comes in


def sqlite_file() -> bytes:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE pairs (a, b, score)")
    return bytes(db.serialize())


UNREADABLE: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "0 bytes": ("a.csv", lambda: b"", "is empty"),
    "0 bytes of json": ("a.json", lambda: b"", "is empty"),
    "only a mark": ("a.csv", lambda: b"\xef\xbb\xbf", "is empty"),
    "white space": ("a.csv", lambda: b" \n\t\r\n  ", "is empty"),
    "nul bytes only": ("a.csv", lambda: b"\0" * 64, "a.csv"),
    "header only": ("a.csv", lambda: b"sentence1,sentence2,score\n", "no rows below its header"),
    "header only, Excel": ("a.xlsx", lambda: workbook([]), "no rows"),
    "no rows, JSON": ("a.json", lambda: b"[]", "no rows"),
    "no rows, Parquet": ("a.parquet", lambda: parquet({"a": pa.array([], pa.string())}), "no rows"),
    "one column": ("a.csv", lambda: b"text\nOne.\nTwo.\nThree.\n", "were not recognised"),
    "10 MB in one line": ("a.csv", lambda: b"word " * 2_000_000, "were not recognised"),
    "2,000,001 columns": ("a.csv", lambda: b"a," * 2_000_000 + b"a", "were not recognised"),
    "10 MB of quotes": ("a.csv", lambda: b'"' * 10_000_000, "were not recognised"),
    "truncated gzip": ("a.csv.gz", lambda: gzip.compress(delimited().encode())[:-9], "ends too early"),
    "damaged gzip": ("a.csv.gz", lambda: gzip.compress(delimited().encode())[:-8] + bytes(8), "damaged gzip"),
    "gzip bomb": ("a.csv.gz", lambda: gzip.compress(bytes(68_000_000), 1), "times its size"),
    "zip bomb": ("a.zip", lambda: zipped({"a.csv": bytes(68_000_000)}), "times its size"),
    "nested zip": ("a.zip", lambda: zipped({"b.zip": zipped({"c.csv": delimited()})}), "another archive"),
    "encrypted zip": ("a.zip", lambda: password_protected(zipped({"b.csv": delimited()})), "password"),
    "damaged zip": ("a.zip", lambda: zipped({"b.csv": delimited()})[:-25], "damaged zip"),
    "empty zip": ("a.zip", lambda: zipped({}), "without any file"),
    "zip of several": ("a.zip", lambda: zipped({"b.csv": delimited(), "c.csv": b"x"}), "b.csv, c.csv"),
    "zip of an empty file": ("a.zip", lambda: zipped({"b.csv": b""}), "is empty"),
    "image": ("a.png", lambda: b"\x89PNG\r\n\x1a\n" + bytes(100), "an image"),
    "pdf": ("a.pdf", lambda: b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj", "a PDF document"),
    "sqlite": ("a.db", sqlite_file, "an SQLite database"),
    "old excel": ("a.xls", lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "old Excel"),
    "word": ("a.docx", lambda: zipped({"[Content_Types].xml": "", "word/document.xml": ""}), "Word"),
    "web page": ("a.csv", lambda: b"\n<!DOCTYPE html>\n<html><body>404</body></html>", "a web page"),
    "git lfs pointer": ("a.csv", lambda: b"version https://git-lfs.github.com/spec/v1\noid sha256:4d", "git lfs pull"),
    "tar": ("a.tar", lambda: b"a.csv".ljust(257, b"\0") + b"ustar" + bytes(250), "a tar archive"),
    "random bytes": ("a.bin", lambda: random.Random(5).randbytes(50_000), "control codes"),
    "truncated parquet": ("a.parquet", lambda: parquet()[:-20], "a.parquet"),
    "damaged parquet": ("a.parquet", lambda: b"PAR1" + b"x" * 50 + b"PAR1", "a.parquet"),
    "truncated excel": ("a.xlsx", lambda: workbook()[:-200], "a.xlsx"),
    "excel without sheets": ("a.xlsx", lambda: zipped({"[Content_Types].xml": "", "xl/workbook.xml": ""}), "a.xlsx"),
    "excel bomb": (
        "a.xlsx",
        lambda: zipped({"[Content_Types].xml": "", "xl/workbook.xml": "", "xl/worksheets/sheet1.xml": bytes(68_000_000)}),
        "a.xlsx",
    ),
    "broken json": ("a.json", lambda: json.dumps(records()).encode()[:-40], "a.json is not valid JSON"),
    "json of one value": ("a.json", lambda: b'"just a text"', "a.json"),
    "deep json": ("a.json", lambda: b"[" * 200_000 + b"]" * 200_000, "nested too deeply"),
    "deep json lines": ("a.jsonl", lambda: (b"[" * 5_000 + b"]" * 5_000 + b"\n") * 3, "a.jsonl"),
    "huge integers in json": (
        "a.json",
        lambda: b'[{"sentence1": "A", "sentence2": "B", "score": ' + b"9" * 10_000 + b"}]",
        "a.json",
    ),
    "huge scores in json": ("a.json", lambda: b'[{"sentence1": "A", "sentence2": "B", "score": 1e999}]', "a.json"),
    "unknown scale": ("a.csv", lambda: b"sentence1,sentence2,score\nA,B,high\nC,D,low\n", "No row of a.csv"),
}  # fmt: skip


@pytest.mark.parametrize("case", UNREADABLE)
def test_what_cannot_be_used_gives_one_sentence_and_leaves_nothing(
    home: Workspace, empty: Project, case: str
) -> None:
    name, make, what = UNREADABLE[case]
    before = count_all(home)
    with pytest.raises(WorkbenchError) as caught:
        bring_in(home, empty, make(), name)
    message = str(caught.value)
    assert what in message
    assert name in message
    assert "\n" not in message
    assert len(message) < 600
    assert count_all(home) == before


# Anything at all

SEEDS = {
    "csv": delimited().encode(),
    "tsv": delimited("\t").encode("utf-16-le"),
    "json": json.dumps(records()).encode(),
    "jsonl": json_lines(),
    "csv.gz": gzip.compress(delimited().encode(), mtime=0),
    "zip": zipped({"a.csv": delimited(), "b.txt": "x"}),
    "parquet": parquet(),
    "xlsx": workbook(),
}


def survives(data: bytes, name: str) -> None:
    """Either a table that can be worked with, or a WorkbenchError."""
    try:
        table = read_table(data, name)
        assert len(table.rows) == len(table.line_numbers) > 0
        assert all(type(cell) is str for row in table.rows for cell in row)
        "".join(cell for row in table.rows for cell in row).encode()  # no lone surrogates
        guess_columns(table, "pairs")
    except WorkbenchError:
        return


@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.binary(max_size=300), st.sampled_from(["", "\ufeff", "a\tb\t1\n", '{"a": 1}\n', "[", "PAR1"])
)
def test_any_bytes_give_rows_or_a_sentence(junk: bytes, start: str) -> None:
    for name in ("junk.csv", "junk.json"):
        survives(start.encode() + junk, name)


@st.composite
def damaged(draw: st.DrawFn) -> tuple[bytes, str]:
    """A good file that was truncated, or of which bytes were flipped, doubled or put in."""
    kind = draw(st.sampled_from(sorted(SEEDS)))
    data = bytearray(SEEDS[kind])
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, max(len(data) - 1, 0)))
        match draw(st.sampled_from(["truncate", "flip", "double", "insert", "cut"])):
            case "truncate":
                del data[place:]
            case "flip" if data:
                data[place] ^= 1 << draw(st.integers(0, 7))
            case "double":
                data[place:place] = data[place : place + draw(st.integers(1, 200))]
            case "insert":
                data[place:place] = draw(st.binary(min_size=1, max_size=20))
            case "cut":
                del data[place : place + draw(st.integers(1, 50))]
    return bytes(data), f"damaged.{kind}"


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(damaged())
def test_a_damaged_file_gives_rows_or_a_sentence(file: tuple[bytes, str]) -> None:
    survives(*file)


def test_reading_never_touches_a_file_of_the_machine(tmp_path: Path) -> None:
    """Names of members that look like paths are only names."""
    target = tmp_path / "made.csv"
    data = zipped({str(target): delimited(), "../up.csv": delimited()})
    table = read_table(data, "a.zip", ImportOptions(sheet=str(target)))
    assert len(table.rows) == len(PAIRS)
    assert not target.exists()
