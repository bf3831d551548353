"""JSON in whatever shape: the right rows, or one clear sentence."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing import json_records
from augsbert_core.importing.cells import as_text
from augsbert_core.importing.json_tables import looks_like_json, read_json
from augsbert_core.importing.table import Table
from augsbert_core.options import ImportOptions
from augsbert_core.steps.import_plan import plan_import

NAMES = ["sentence1", "sentence2", "score"]
ROWS = [["A dog runs.", "A dog is running.", "4.5"], ["A cat", "None", "0"]]
OBJECTS = [
    {"sentence1": "A dog runs.", "sentence2": "A dog is running.", "score": 4.5},
    {"sentence1": "A cat", "sentence2": "None", "score": 0},
]
SHAPES = {
    "objects": OBJECTS,
    "arrays": [NAMES, *(list(row.values()) for row in OBJECTS)],
    "columns": {name: [row[name] for row in OBJECTS] for name in NAMES},
    "columns of pandas": {
        name: {str(place): row[name] for place, row in enumerate(OBJECTS)} for name in NAMES
    },
    "split of pandas": {
        "columns": NAMES,
        "index": [0, 1],
        "data": [list(row.values()) for row in OBJECTS],
    },
    "index of pandas": {str(place): row for place, row in enumerate(OBJECTS)},
    "a list inside": {"version": 1, "data": OBJECTS},
    "arrays inside": {"data": [NAMES, *(list(row.values()) for row in OBJECTS)]},
    "dataset viewer": {
        "features": [{"feature_idx": 0, "name": "sentence1"}],
        "rows": [
            {"row_idx": place, "row": row, "truncated_cells": []}
            for place, row in enumerate(OBJECTS)
        ],
        "num_rows_total": 2,
    },
}


def read(text: str, name: str = "pairs.json", **options) -> Table:
    return read_json(text.encode(), name, ImportOptions(**options))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("indent", [None, 1])
def test_every_shape_gives_the_same_rows(shape, indent):
    table = read(json.dumps(SHAPES[shape], indent=indent))
    assert (table.header, table.rows) == (NAMES, ROWS)
    assert table.format == "json"


def test_lines_keep_their_numbers_and_blank_lines_count():
    lines = [json.dumps(OBJECTS[0]), "", json.dumps(OBJECTS[1]), ""]
    table = read("\n".join(lines), "pairs.jsonl")
    assert (table.header, table.rows, list(table.line_numbers)) == (NAMES, ROWS, [1, 3])


def test_records_of_an_array_are_counted():
    assert list(read(json.dumps(OBJECTS, indent=2)).line_numbers) == [1, 2]
    assert list(read(json.dumps(SHAPES["arrays"])).line_numbers) == [2, 3]


def test_arrays_on_lines_and_a_header_as_told():
    text = '["a b", "c d", 1]\n["e f", "g h", 2]\n'
    assert read(text).rows == [["a b", "c d", "1"], ["e f", "g h", "2"]]
    assert read(text, header=True).header == ["a b", "c d", "1"]
    assert read(json.dumps(SHAPES["arrays"]), header=False).header is None


def test_objects_that_follow_each_other_without_commas():
    text = "\n".join(json.dumps(row, indent=2) for row in OBJECTS)
    table = read(text)
    assert (table.rows, list(table.line_numbers)) == (ROWS, [1, 6])


def test_keys_are_joined_in_order_of_appearance():
    table = read('[{"a": 1}, {"b": 2, "a": 3}, {"c": null}]')
    assert table.header == ["a", "b", "c"]
    assert table.rows == [["1", "", ""], ["3", "2", ""], ["", "", ""]]


def test_nested_objects_are_flattened_and_lists_are_json():
    table = read('[{"a": {"b": {"c": 1}, "d": {}}, "tags": ["x", "ü", 1]}]')
    assert table.header == ["a.b.c", "a.d", "tags"]
    assert table.rows == [["1", "{}", '["x", "ü", 1]']]


def test_keys_that_meet_when_flattened_are_both_kept():
    table = read('[{"a.b": 1, "a": {"b": 2}}]')
    assert dict(zip(table.header, table.rows[0], strict=True)) == {"a.b": "1", "a.b'": "2"}


def test_lists_of_two_texts_are_two_columns():
    table = read('{"set": ["A dog", "A cat"]}\n{"set": ["We", "You"]}\n')
    assert table.header == ["set.0", "set.1"]
    assert table.rows == [["A dog", "A cat"], ["We", "You"]]
    longer = read('{"set": ["a", "b"]}\n{"set": ["c", "d", "e"]}\n')
    assert longer.rows == [['["a", "b"]'], ['["c", "d", "e"]']]


def test_a_single_object_is_one_row_and_a_list_of_texts_one_column():
    assert read('{"sentence1": "a", "sentence2": "b"}').rows == [["a", "b"]]
    assert read('["A dog", "A cat"]').rows == [["A dog"], ["A cat"]]
    assert read('{"sentences": ["A dog", "A cat", "A cow"]}').header == ["sentences"]


def test_one_of_several_lists_is_chosen():
    text = json.dumps({"train": OBJECTS, "test": OBJECTS[:1]})
    table = read(text)
    assert (table.sheet, table.sheets, len(table.rows)) == ("train", ("train", "test"), 2)
    assert any("not read: test" in note for note in table.notes)
    assert len(read(text, sheet="test").rows) == 1
    with pytest.raises(WorkbenchError, match="It has: train, test"):
        read(text, sheet="dev")


def test_missing_is_empty_and_words_for_missing_are_text():
    table = read('[{"a": null, "b": "null", "c": "NA", "d": "None", "e": true, "f": NaN}]')
    assert table.rows == [["", "null", "NA", "None", "true", "NaN"]]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_encodings(encoding):
    text = '[{"sentence1": "Müller says", "sentence2": "é à ü", "score": 1}]'
    table = read_json(text.encode(encoding), "pairs.json", ImportOptions())
    assert table.rows == [["Müller says", "é à ü", "1"]]


def test_nul_and_lone_surrogates_are_removed_and_counted():
    table = read(r'[{"a": "x\u0000y", "b": "\ud800z\ud83d\ude00"}]')
    assert table.rows == [["xy", "z😀"]]
    assert "1 NUL character was removed." in table.notes
    assert any("1 half of a character was removed" in note for note in table.notes)


def test_repeated_keys_are_told():
    table = read('[{"a": 1, "a": 2}]')
    assert table.rows == [["2"]]
    assert any("key more than once" in note for note in table.notes)


def test_a_broken_line_is_a_ragged_row():
    good = '{"a": "x", "b": "y"}'
    table = read(f'{good}\n{{"a": "x", "b"\n{good}\n[1]\n', "pairs.jsonl")
    assert table.rows == [["x", "y"], ['{"a": "x", "b"'], ["x", "y"], ["[1]"]]
    assert any("the first is line 2" in note for note in table.notes)
    # Where one cell is a whole row, a broken line has two.
    assert read('"a"\n"b"\n"c\n', "s.jsonl").rows == [["a"], ["b"], ['"c', ""]]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[{"a": 1},\n {"a": 2', "line 2, column"),
        ('[{"a": 1}, {"a": }]', "line 1, column"),
        ('{"a": 1}\n{"a"\n{"b"\n', "2 of its 3 lines are broken"),
        ("[]", "has no rows"),
        ("{}", "has no rows"),
        ('{"rows": []}', "has no rows"),
        ("3", "single value"),
        ('"text"', "single value"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": ' * 100_000, "nested too deeply"),
        ('[{"a": ' + "1" * 5000 + "}]", "several thousand digits"),
        ('{"a": ' + "1" * 5000 + '}\n{"a": ' + "2" * 5000 + "}", "several thousand digits"),
        (" \n ", "is empty"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_told_in_one_sentence(text, told):
    with pytest.raises(WorkbenchError, match=told) as caught:
        read(text)
    assert "pairs.json" in str(caught.value)


def test_objects_with_too_many_different_keys_are_refused(monkeypatch):
    monkeypatch.setattr(json_records, "MAX_COLUMNS", 50)
    rows = [{f"id{place}": place} for place in range(60)]
    with pytest.raises(WorkbenchError, match="more than 50 different keys"):
        read(json.dumps(rows))


def test_deep_objects_stay_json_below_a_depth():
    text = '{"a": ' * 20 + "1" + "}" * 20
    table = read(f"[{text}]")
    assert table.header == ["a." * 8 + "a"]
    assert table.rows[0][0].startswith('{"a": ')


@pytest.mark.parametrize(
    ("text", "is_json"),
    [
        ('[{"a": 1}]', True),
        ('{"a": 1}\n{"a": 2}\n', True),
        ('\ufeff {\n "a": 1', True),
        ("broken\n" + '{"a": 1}\n' * 5, True),
        ('["a", "b"]\n["c", "d"]\n', True),
        ("{}", True),
        ("[NAME] left\tHe left\t3\n", False),
        ("[1] says so,It says,4\n", False),
        ("{sic} he wrote\tHe wrote\t3\n", False),
        ('["a"]\tthe letter a\t3\n', False),
        ("sentence1,sentence2\na,b\n", False),
        ('"a","b"\n', False),
        ("3\n4\n", False),
        ("", False),
    ],
)
def test_json_is_told_from_text(text, is_json):
    assert looks_like_json(text.encode()) is is_json
    if text:
        assert looks_like_json(text.encode("utf-16")) is is_json


TEXTS = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"))
WORDS = st.sampled_from(["None", "NA", "nan", "null", "", ' "', "a\nb", "\u2028", "true", "1"])


@settings(max_examples=100, deadline=None)
@given(
    rows=st.lists(st.lists(TEXTS | WORDS, min_size=3, max_size=3), min_size=1, max_size=8),
    way=st.sampled_from(["objects", "lines", "pretty", "columns"]),
    ascii_only=st.booleans(),
)
def test_any_texts_survive(rows, way, ascii_only):
    objects = [dict(zip(NAMES, row, strict=True)) for row in rows]
    if way == "lines":
        text = "\n".join(json.dumps(row, ensure_ascii=ascii_only) for row in objects)
    elif way == "columns":
        columns = {name: [row[name] for row in objects] for name in NAMES}
        text = json.dumps(columns, ensure_ascii=ascii_only)
    else:
        text = json.dumps(objects, ensure_ascii=ascii_only, indent=2 if way == "pretty" else None)
    table = read(text)
    assert (table.header, table.rows) == (NAMES, rows)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(value=JSON_VALUES)
def test_any_json_gives_text_cells_or_a_clear_sentence(value):
    try:
        table = read(json.dumps(value))
    except WorkbenchError:
        return
    assert table.rows
    assert len(table.rows) == len(table.line_numbers)
    assert all(isinstance(cell, str) for row in table.rows for cell in row)
    if table.header is not None:
        assert {len(row) for row in table.rows} <= {len(table.header), 1, 2}


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=60) | st.text(alphabet='{}[]",:a1\n ', max_size=40).map(str.encode))
def test_any_bytes_give_rows_or_a_clear_sentence(data):
    looks_like_json(data)
    try:
        table = read_json(data, "x.json", ImportOptions())
    except WorkbenchError:
        return
    assert table.rows


@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_written_as_they_can_be_read_back(value):
    assert float(as_text(value)) == value


@pytest.mark.parametrize("kind", ["sentences", "pairs"])
def test_a_broken_line_is_rejected_by_what_it_is_and_never_taken_for_a_sentence(kind: str) -> None:
    good = (
        {"sentence": "a b"}
        if kind == "sentences"
        else {"sentence1": "a", "sentence2": "b", "score": 1}
    )
    lines = [json.dumps(good), json.dumps(good)[:-1], *[json.dumps(good)] * 3]
    plan = plan_import("\n".join(lines).encode(), "x.jsonl", ImportOptions(kind=kind))
    assert plan.n_kept == 4
    (rejected,) = plan.rejected
    assert rejected.line == 2
    assert rejected.reason.startswith("Line is no JSON: '{\"sentence")
