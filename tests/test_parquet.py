"""Parquet, Feather and Arrow files: the right rows, or one clear sentence."""

import datetime as dt
import decimal
import io
import json
import random

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing import parquet
from augsbert_core.importing.parquet import looks_like_parquet, read_parquet
from augsbert_core.importing.table import Table
from augsbert_core.options import ImportOptions


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
    monkeypatch.setattr(parquet, "_MAX_BYTES", 10_000_000)
    places = pa.array(np.zeros(1000, np.int32))
    data = as_parquet(pa.table({"a": pa.DictionaryArray.from_arrays(places, ["x" * 100_000])}))
    assert len(data) < 100_000
    with pytest.raises(WorkbenchError, match="too large"):
        read(data)


def test_too_many_cells_are_refused(monkeypatch):
    monkeypatch.setattr(parquet, "MAX_CELLS", 100)
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
