"""Parquet, Feather and Arrow files: the right rows, or one clear sentence."""

import datetime as dt
import decimal
import io
import json
import random
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing import arrow_reading
from augsbert_core.importing.columns import Columns
from augsbert_core.importing.parquet import looks_like_parquet, read_parquet
from augsbert_core.importing.rows import pair_rows
from augsbert_core.importing.table import Table
from augsbert_core.options import ImportOptions
from augsbert_core.pairs import ScoreRange


def as_parquet(table: pa.Table, **how) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **how)
    return buffer.getvalue()


def as_feather(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pyarrow.feather.write_feather(table, buffer)
    return buffer.getvalue()


def as_stream(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    with pa.ipc.new_stream(buffer, table.schema) as writer:
        writer.write_table(table)
    return buffer.getvalue()


WRITERS = {"parquet": as_parquet, "feather": as_feather, "stream": as_stream}


def read(data: bytes | pa.Table) -> Table:
    data = as_parquet(data) if isinstance(data, pa.Table) else data
    return read_parquet(data, "pairs.parquet", ImportOptions())


def column(array, name: str = "a") -> dict[str, list[str]]:
    """The columns that a single column of a file becomes, as name → cells."""
    table = read(pa.table({name: array}))
    return dict(zip(table.header, map(list, zip(*table.rows, strict=True)), strict=True))


@pytest.mark.parametrize("writer", WRITERS)
def test_every_container_gives_the_same_rows(writer):
    data = WRITERS[writer](pa.table({"sentence1": ["A dog", "None"], "score": [4.0, 2.5]}))
    assert looks_like_parquet(data)
    table = read(data)
    assert table.header == ["sentence1", "score"]
    assert table.rows == [["A dog", "4.0"], ["None", "2.5"]]
    assert list(table.line_numbers) == [1, 2]
    assert table.format == "parquet"


@pytest.mark.parametrize(
    ("array", "cells"),
    [
        (pa.array(["a", None, "NA"]), ["a", "", "NA"]),
        (pa.array(["a", "b"], pa.large_string()), ["a", "b"]),
        (pa.array([1, None, -1]), ["1", "", "-1"]),
        (pa.array([0.1, None, 4.0]), ["0.1", "", "4.0"]),
        (pa.array([0.8, None, 4.0], pa.float32()), ["0.8", "", "4.0"]),
        (pa.array(np.array([0.1], np.float16)), ["0.1"]),
        (pa.array([float("nan"), float("inf")]), ["NaN", "Infinity"]),
        (pa.array([True, None, False]), ["true", "", "false"]),
        (pa.array(["x", None, "x"]).dictionary_encode(), ["x", "", "x"]),
        (pa.array([decimal.Decimal("4.50")]), ["4.50"]),
        (pa.array([dt.date(2024, 1, 2)]), ["2024-01-02"]),
        (pa.array([1], pa.timestamp("ns")), ["1970-01-01T00:00:00"]),
        (pa.array([b"text", None]), ["text", ""]),
        (pa.array([["a"], [], None]), ['["a"]', "[]", ""]),
        (pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())), ['[["a", 1]]']),
        (pa.nulls(2), ["", ""]),
    ],
)
def test_values_as_text(array, cells):
    assert column(array) == {"a": cells}


def test_structs_are_flattened():
    array = pa.array([{"x": 1, "y": {"z": "q"}}, None, {"x": 2, "y": None}])
    assert column(array) == {"a.x": ["1", "", "2"], "a.y.z": ["q", "", ""]}


def test_lists_of_two_texts_are_two_columns():
    array = pa.array([["A dog", "A cat"], None, ["We", "You"]])
    assert column(array, "set") == {"set.0": ["A dog", "", "We"], "set.1": ["A cat", "", "You"]}


def test_binary_columns_are_left_empty_with_a_note():
    table = read(pa.table({"image": [b"\xff\xd8\xff"], "caption": ["A dog"]}))
    assert table.rows == [["", "A dog"]]
    assert any("image holds binary data" in note for note in table.notes)


def test_class_labels_are_written_as_words():
    features = {
        "label": {"names": ["entailment", "neutral", "contradiction"], "_type": "ClassLabel"},
        "stars": {"names": ["0", "1", "2"], "_type": "ClassLabel"},
        "n": {"dtype": "int64", "_type": "Value"},
    }
    table = pa.table({"label": [2, 0, -1], "stars": [2, 1, 0], "n": [0, 1, 2]})
    metadata = {b"huggingface": json.dumps({"info": {"features": features}}).encode()}
    found = read(table.replace_schema_metadata(metadata))
    assert found.rows == [["contradiction", "2", "0"], ["entailment", "1", "1"], ["-1", "0", "2"]]
    assert found.notes == [
        "Column label was written as the names of its classes: 0 = entailment, 1 = neutral, 2 = contradiction."
    ]


@pytest.mark.parametrize("metadata", [b"{", b"[]", b'{"info": null}', b'{"info": {"features": 3}}'])
def test_odd_metadata_is_passed_over(metadata):
    table = pa.table({"label": [1]}).replace_schema_metadata({b"huggingface": metadata})
    assert read(table).rows == [["1"]]


def test_row_numbers_of_pandas_are_left_out():
    table = read(pa.table({"a": ["x"], "__index_level_0__": [7]}))
    assert table.header == ["a"]
    assert any("__index_level_0__" in note for note in table.notes)


def test_columns_of_the_same_name_are_all_kept():
    arrays = [pa.array(["x"]), pa.array(["y"])]
    table = read(as_stream(pa.Table.from_arrays(arrays, names=["a", "a"])))
    assert (table.header, table.rows) == (["a", "a (2)"], [["x", "y"]])


def test_nul_is_removed_and_counted():
    table = read(pa.table({"a": ["x\0y"]}))
    assert table.rows == [["xy"]]
    assert table.notes == ["1 NUL character was removed."]


WHOLE = as_parquet(pa.table({"a": ["x"]}))


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (WHOLE[:-6], "damaged or incomplete"),
        (b"PAR1", "damaged or incomplete"),
        (b"PAR1" + b"x" * 50 + b"PAR1", "damaged or incomplete"),
        (b"ARROW1\0\0abcd", "damaged or incomplete"),
        (as_stream(pa.table({"a": ["x"]}))[:100], "damaged or incomplete"),
        (b"PAREabcdPARE", "encrypted"),
        (as_parquet(pa.table({"a": pa.array([], pa.string())})), "no rows"),
        (as_parquet(pa.table({})), "no rows"),
    ],
)
def test_what_cannot_be_read_is_told_in_one_sentence(data, told):
    with pytest.raises(WorkbenchError, match=told) as caught:
        read(data)
    assert "pairs.parquet" in str(caught.value)


def test_texts_that_swell_when_written_out_are_refused(monkeypatch):
    """A long text repeated a thousand times takes a few bytes in the file."""
    monkeypatch.setattr(arrow_reading, "MAX_BYTES", 10_000_000)
    places = pa.array(np.zeros(1000, np.int32))
    data = as_parquet(pa.table({"a": pa.DictionaryArray.from_arrays(places, ["x" * 100_000])}))
    assert len(data) < 100_000
    with pytest.raises(WorkbenchError, match="too large"):
        read(data)


BIG = "x" * 100_000
MANY = {
    "large text": pa.array([BIG] * 1000, pa.large_string()),
    "struct": pa.array([{"t": BIG}] * 1000),
    "list": pa.array([[BIG]] * 1000),
    "list in one row": pa.array([[BIG] * 1000]),
    "binary": pa.array([BIG.encode()] * 1000),
    "map": pa.array([[("k", BIG)]] * 1000, pa.map_(pa.string(), pa.string())),
}


POOLS: list[pa.MemoryPool] = []
"""Kept, as Arrow's threads give memory back to them later."""


def most_bytes(data: bytes, monkeypatch) -> int:
    """The most that Arrow asked for while a file was read, which must be refused."""
    before = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(before)
    POOLS.append(pool)
    pa.set_memory_pool(pool)
    tracemalloc.start()
    try:
        with pytest.raises(WorkbenchError, match=r"too large|times its size"):
            read(data)
        return (pool.max_memory() or 0) + tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(before)


@pytest.mark.parametrize("kind", MANY)
@pytest.mark.parametrize("encoding", ["RLE_DICTIONARY", "DELTA_BYTE_ARRAY", "PLAIN"])
def test_a_text_that_stands_once_in_the_file_does_not_fill_the_memory(kind, encoding, monkeypatch):
    """100 MB in texts of 100 kB, from a file of some kilobytes, whatever the column is made of."""
    monkeypatch.setattr(arrow_reading, "MAX_BYTES", 10_000_000)
    monkeypatch.setattr(arrow_reading, "_HARMLESS_BYTES", 10_000_000)
    monkeypatch.setattr(arrow_reading, "_BATCH_BYTES", 1_000_000)
    table = pa.table({"a": MANY[kind]})
    how = {} if encoding == "RLE_DICTIONARY" else {"column_encoding": encoding}
    data = as_parquet(table, compression="zstd", use_dictionary=not how, **how)
    assert len(data) < 300_000
    assert most_bytes(data, monkeypatch) < 40_000_000


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
def test_compressed_arrow_files_do_not_fill_the_memory(codec, monkeypatch):
    table = pa.table({"a": [BIG] * 1000})
    monkeypatch.setattr(arrow_reading, "_HARMLESS_BYTES", 10_000_000)
    options = pa.ipc.IpcWriteOptions(compression=codec)
    for new in (pa.ipc.new_file, pa.ipc.new_stream):
        buffer = io.BytesIO()
        with new(buffer, table.schema, options=options) as writer:
            writer.write_table(table)
        if len(buffer.getvalue()) * 200 < 100_000_000:
            assert most_bytes(buffer.getvalue(), monkeypatch) < 10_000_000
        else:  # LZ4 cannot pack so much better
            assert len(read(buffer.getvalue()).rows) == 1000


@pytest.mark.parametrize("kind", ["string", "views"])
def test_arrow_files_that_name_a_text_again_and_again(kind, monkeypatch):
    monkeypatch.setattr(arrow_reading, "MAX_BYTES", 10_000_000)
    places = pa.array(np.zeros(1000, np.int32))
    array = pa.DictionaryArray.from_arrays(places, [BIG])
    if kind == "views":
        view = np.frombuffer(
            np.array([len(BIG)], np.int32).tobytes() + b"xxxx" + bytes(8), np.uint8
        )
        buffers = [None, pa.py_buffer(np.tile(view, 1000).tobytes()), pa.py_buffer(BIG.encode())]
        array = pa.Array.from_buffers(pa.string_view(), 1000, buffers)
    table = pa.table({"a": pa.StructArray.from_arrays([array], ["t"])})
    table = table if kind == "views" else pa.table({"a": pa.array([[0]] * 1000), "b": table["a"]})
    assert most_bytes(as_stream(table), monkeypatch) < 2_000_000


def test_text_views_and_ordinary_repetition_are_read():
    array = pa.array(["short", None, "a text that is longer than twelve bytes"], pa.string_view())
    assert read(as_stream(pa.table({"a": array}))).rows == [
        ["short"],
        [""],
        ["a text that is longer than twelve bytes"],
    ]
    again = pa.table({"a": ["The same sentence.", "Another."] * 50_000, "b": [0.0, 1.0] * 50_000})
    assert len(read(again).rows) == 100_000


@pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", "PLAIN"])
def test_every_way_to_encode_texts_is_read(encoding):
    texts = [f"Sentence number {place}" for place in range(3000)]
    data = as_parquet(pa.table({"a": texts}), use_dictionary=False, column_encoding=encoding)
    assert read(data).rows == [[text] for text in texts]


@pytest.mark.parametrize(
    "array",
    [
        pa.array([2**62, 0], pa.timestamp("us")),
        pa.array([2**30, 0], pa.date32()),
        pa.array([2**62, 0], pa.duration("s")),
    ],
)
@pytest.mark.parametrize("nested", [False, True])
def test_a_date_that_no_calendar_has_costs_its_own_cell_only(array, nested):
    if nested:
        array = pa.ListArray.from_arrays([0, 1, 2], array)
    table = read(as_stream(pa.table({"sentence1": ["A dog", "We"], "when": array})))
    assert [row[0] for row in table.rows] == ["A dog", "We"]
    assert table.rows[0][1] == ""
    assert table.rows[1][1] != ""
    assert any(note.startswith("1 cell of column when was left empty") for note in table.notes)


def test_days_and_times_that_are_not_as_they_should_be_do_no_harm():
    days, times = pa.array([86_400_001], pa.date64()), pa.array([432_000], pa.time32("s"))
    table = read(as_stream(pa.table({"sentence1": ["A dog"], "day": days, "time": times})))
    assert table.rows[0][:2] == ["A dog", "1970-01-02"]


@pytest.mark.parametrize("repeated", [False, True])
def test_one_broken_text_among_bytes_costs_its_own_cell_only(repeated):
    array = pa.array([b"A dog", b"\xff\xfe", b"We", None])
    table = read(pa.table({"a": array.dictionary_encode() if repeated else array}))
    assert table.rows == [["A dog"], [""], ["We"], [""]]
    assert table.no_text == {0}
    assert table.notes == [
        "Column a holds binary data that is no text in 1 of its cells; it was left empty."
    ]


def test_sentences_that_are_bytes_are_named_as_the_reason_in_the_end():
    table = read(pa.table({"a": [b"\xff\xfe"], "b": ["We"], "score": [0.5]}))
    _, [row] = pair_rows(table, Columns(sentence1=0, sentence2=1, score=2), ScoreRange(0, 1))
    assert row.reason == "Sentence 1 is no text, its column holds bytes: 'a'"


def test_too_many_cells_are_refused(monkeypatch):
    monkeypatch.setattr(arrow_reading, "MAX_CELLS", 100)
    with pytest.raises(WorkbenchError, match="101 rows of 1 columns"):
        read(pa.table({"a": [0] * 101}))


def test_damage_anywhere_gives_rows_or_a_clear_sentence():
    table = pa.table(
        {"a": ["x", None, "y"], "b": [1, 2, None], "c": [["a", "b"], None, ["c", "d"]]}
    )
    rng = random.Random(0)
    for writer in (as_parquet, as_stream, as_feather):
        whole = writer(table)
        for _ in range(150):
            data = bytearray(whole)
            for _ in range(rng.randint(1, 4)):
                data[rng.randrange(len(data))] = rng.randrange(256)
            try:
                read(bytes(data))
            except WorkbenchError:
                continue


TEXTS = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"))
WORDS = st.sampled_from(["None", "NA", "nan", "null", "", '"', "a\r\nb", "\u2028"])


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.lists(TEXTS | WORDS, min_size=2, max_size=2), min_size=1, max_size=8),
    writer=st.sampled_from(sorted(WRITERS)),
)
def test_any_texts_survive(rows, writer):
    columns = [list(column) for column in zip(*rows, strict=True)]
    table = read(WRITERS[writer](pa.table(dict(zip(["s1", "s2"], columns, strict=True)))))
    assert (table.header, table.rows) == (["s1", "s2"], rows)
