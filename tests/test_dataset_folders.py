"""Dataset folders and datasets of the hub: every split as one file, and nothing from outside."""

import io
import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing import arrow_reading, dataset_folders, dataset_hub
from augsbert_core.importing.dataset_folders import read_dataset_folder
from augsbert_core.importing.dataset_hub import hub_dataset_files
from augsbert_core.importing.dataset_shards import join_shards
from augsbert_core.importing.parquet import read_parquet
from augsbert_core.options import ImportOptions

PAIRS = {"sentence1": ["A dog", "We"], "sentence2": ["None", "You"], "score": [0.5, 1.0]}
ROWS = [["A dog", "None", "0.5"], ["We", "You", "1.0"]]


def as_parquet(columns: dict) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


def write_arrow(path: Path, columns: dict) -> None:
    table = pa.table(columns)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)


def save_split(folder: Path, *shards: dict, **state) -> Path:
    """A split as `save_to_disk` lays it out."""
    folder.mkdir(parents=True)
    names = [f"data-{place:05}-of-{len(shards):05}.arrow" for place in range(len(shards))]
    for name, columns in zip(names, shards, strict=True):
        write_arrow(folder / name, columns)
    state = {"_data_files": [{"filename": name} for name in names], **state}
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "dataset_info.json").write_text(json.dumps({"features": {}}))
    return folder


def rows(data: bytes) -> list[list[str]]:
    return read_parquet(data, "x.parquet", ImportOptions()).rows


def write(folder: Path, **files: bytes | str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


# Saved datasets


def test_what_the_datasets_library_saves_is_read(tmp_path):
    """Made with the library itself: two splits, shards, class names, and rows chosen by an index."""
    datasets = pytest.importorskip("datasets")
    features = datasets.Features(
        {"sentence1": datasets.Value("string"), "label": datasets.ClassLabel(names=["no", "yes"])}
    )
    train = datasets.Dataset.from_dict(
        {"sentence1": [f"Sentence {place}" for place in range(10)], "label": [0, 1] * 5}, features
    )
    both = datasets.DatasetDict({"train": train, "test": train.select([7, 2])})
    both.save_to_disk(tmp_path / "saved", num_shards={"train": 3, "test": 1})
    files = read_dataset_folder(tmp_path / "saved")
    assert [name for name, _ in files] == ["saved/train.parquet", "saved/test.parquet"]
    assert rows(files[0][1])[:2] == [["Sentence 0", "no"], ["Sentence 1", "yes"]]
    assert len(rows(files[0][1])) == 10
    assert rows(files[1][1]) == [["Sentence 7", "yes"], ["Sentence 2", "no"]]
    train.save_to_disk(tmp_path / "one")
    [(name, data)] = read_dataset_folder(tmp_path / "one")
    assert name in ("one/data.parquet", "one/train.parquet")
    assert len(rows(data)) == 10


def test_shards_follow_each_other_and_the_split_gives_the_name(tmp_path):
    folder = save_split(tmp_path / "saved", PAIRS, PAIRS, _split="validation")
    [(name, data)] = read_dataset_folder(folder)
    assert (name, rows(data)) == ("saved/validation.parquet", ROWS + ROWS)


@pytest.mark.parametrize("key", ["_indices_files", "_indices_data_files"])
def test_rows_come_in_the_order_of_the_indices(tmp_path, key):
    folder = save_split(tmp_path / "saved", PAIRS, **{key: [{"filename": "indices.arrow"}]})
    write_arrow(folder / "indices.arrow", {"indices": pa.array([1, 1, 0], pa.uint64())})
    [(_, data)] = read_dataset_folder(folder)
    assert rows(data) == [ROWS[1], ROWS[1], ROWS[0]]
    write_arrow(folder / "indices.arrow", {"indices": pa.array([5], pa.uint64())})
    with pytest.raises(WorkbenchError, match="is damaged"):
        read_dataset_folder(folder)


def test_class_names_from_the_description(tmp_path):
    folder = save_split(tmp_path / "saved", {"label": [1]})
    features = {"label": {"names": ["no", "yes"], "_type": "ClassLabel"}}
    (folder / "dataset_info.json").write_text(json.dumps({"features": features}))
    assert rows(read_dataset_folder(folder)[0][1]) == [["yes"]]


def test_an_empty_split_does_not_stand_in_the_way(tmp_path):
    folder = tmp_path / "saved"
    save_split(folder / "train", PAIRS)
    save_split(folder / "test", {name: pa.array([], pa.string()) for name in PAIRS})
    (folder / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    assert [name for name, _ in read_dataset_folder(folder)] == ["saved/train.parquet"]


@pytest.mark.parametrize(
    "name", ["../secret.arrow", "../../etc/passwd", "/etc/passwd", "x/../../secret.arrow", "a\0b"]
)
def test_files_outside_of_the_folder_are_refused(tmp_path, name):
    write_arrow(tmp_path / "secret.arrow", PAIRS)
    folder = save_split(tmp_path / "saved", PAIRS, _data_files=[{"filename": name}])
    with pytest.raises(WorkbenchError, match="outside of its folder"):
        read_dataset_folder(folder)


def test_links_that_lead_outside_are_refused(tmp_path):
    write_arrow(tmp_path / "secret.arrow", PAIRS)
    folder = save_split(tmp_path / "saved", PAIRS)
    (folder / "data-00000-of-00001.arrow").unlink()
    (folder / "data-00000-of-00001.arrow").symlink_to(tmp_path / "secret.arrow")
    with pytest.raises(WorkbenchError, match="outside of its folder"):
        read_dataset_folder(folder)
    plain = write(tmp_path / "plain")
    (plain / "train.csv").symlink_to("/etc/hostname")
    with pytest.raises(WorkbenchError, match="outside of its folder"):
        read_dataset_folder(plain)
    (folder / "data-00000-of-00001.arrow").unlink()
    (folder / "data-00000-of-00001.arrow").symlink_to("data-00000-of-00001.arrow")
    with pytest.raises(WorkbenchError, match=r"outside of its folder|missing"):
        read_dataset_folder(folder)


def test_a_split_outside_of_the_folder_is_refused(tmp_path):
    save_split(tmp_path / "other", PAIRS)
    folder = write(tmp_path / "saved", **{"dataset_dict.json": '{"splits": ["../other"]}'})
    with pytest.raises(WorkbenchError, match="outside of its folder"):
        read_dataset_folder(folder)


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ("{", "cannot be read"),
        ("[]", "no JSON object"),
        ("{}", "no data files"),
        ('{"_data_files": [{"filename": "gone.arrow"}]}', "is missing"),
        ('{"_data_files": [{"filename": "state.json"}]}', "damaged"),
    ],
)
def test_a_damaged_dataset_is_told(tmp_path, state, told):
    folder = write(tmp_path / "saved", **{"state.json": state})
    with pytest.raises(WorkbenchError, match=told):
        read_dataset_folder(folder)


@pytest.mark.parametrize(
    "state",
    [
        {"_data_files": 7},
        {"_data_files": "data.arrow"},
        {"_data_files": ["data.arrow"]},
        {"_data_files": {"filename": "data.arrow"}},
        {"_data_files": [{"filename": 7}]},
        {"_data_files": [{}]},
        {"_indices_files": 7},
        {"_indices_data_files": [[]]},
    ],
)
def test_a_state_that_names_no_files_is_told(tmp_path, state):
    folder = save_split(tmp_path / "saved", PAIRS, **state)
    with pytest.raises(WorkbenchError, match="does not name its data files"):
        read_dataset_folder(folder)


@pytest.mark.parametrize("splits", [7, "train", [7], [["train"]], {"train": 1}, [""], None])
def test_a_dataset_that_names_no_splits_is_told(tmp_path, splits):
    content = json.dumps({"splits": splits})
    folder = write(tmp_path / "saved", **{"dataset_dict.json": content})
    with pytest.raises(WorkbenchError, match="names no splits"):
        read_dataset_folder(folder)


def test_names_that_no_file_can_have_are_told(tmp_path):
    folder = save_split(tmp_path / "saved", PAIRS, _data_files=[{"filename": "x" * 400}])
    with pytest.raises(WorkbenchError, match="cannot be read"):
        read_dataset_folder(folder)
    both = write(tmp_path / "both", **{"dataset_dict.json": json.dumps({"splits": ["x" * 400]})})
    with pytest.raises(WorkbenchError, match="cannot be read"):
        read_dataset_folder(both)
    with pytest.raises(WorkbenchError, match="cannot be read"):
        read_dataset_folder(tmp_path / ("x" * 400))


@pytest.mark.parametrize("indices", [[0] * 1000, pa.array([0.5]), pa.array(["0"]), [-1], [None]])
def test_indices_that_cannot_be_are_told(tmp_path, indices, monkeypatch):
    """One row named a thousand times would swell as an archive does."""
    monkeypatch.setattr(arrow_reading, "MAX_BYTES", 10_000_000)
    state = {"_indices_files": [{"filename": "indices.arrow"}]}
    folder = save_split(tmp_path / "saved", {"a": ["x" * 100_000]}, **state)
    write_arrow(folder / "indices.arrow", {"indices": indices})
    with pytest.raises(WorkbenchError, match=r"too large|damaged"):
        read_dataset_folder(folder)


def test_shards_that_unpack_to_too_much_together_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(dataset_folders, "_MAX_BYTES", 1_500_000)
    folder = save_split(tmp_path / "saved", *[{"a": ["x" * 1000] * 400}] * 4)
    for path in folder.glob("*.arrow"):
        table = pa.ipc.open_stream(path.read_bytes()).read_all()
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        file = io.BytesIO()
        with pa.ipc.new_stream(file, table.schema, options=options) as writer:
            writer.write_table(table)
        path.write_bytes(file.getvalue())
    with pytest.raises(WorkbenchError, match="too much to be read at once"):
        read_dataset_folder(folder)


def test_shards_on_the_hub_that_unpack_to_too_much_together_are_refused(monkeypatch):
    monkeypatch.setattr(arrow_reading, "MAX_BYTES", 1_500_000)
    texts = [f"{place} " + "x" * 1000 for place in range(1000)]
    parts = [(f"d/{n:05}.parquet", as_parquet({"a": texts})) for n in range(2)]
    with pytest.raises(WorkbenchError, match=r"d\.parquet is too large"):
        join_shards(parts)


def test_shards_of_lists_objects_and_bytes_are_put_together(tmp_path):
    columns = {"set": [["A dog", "We"]], "it": [{"t": "x"}], "b": [b"y"], "n": [None]}
    parts = [(f"d/{n:05}.parquet", as_parquet(columns)) for n in range(2)]
    [(name, data)] = join_shards(parts)
    assert (name, rows(data)) == ("d.parquet", [["A dog", "We", "x", "y", ""]] * 2)


def test_a_folder_whose_name_is_no_text_is_named_all_the_same(tmp_path):
    with pytest.raises(WorkbenchError, match=r"lat\\xff is no folder") as caught:
        read_dataset_folder(tmp_path / "lat\udcff")
    str(caught.value).encode("utf-8")


# Folders of data files


def test_a_folder_as_on_the_hub(tmp_path):
    folder = write(
        tmp_path / "stsb",
        **{
            "data/train-00001-of-00002.parquet": as_parquet({"a": ["3"]}),
            "data/train-00000-of-00002.parquet": as_parquet({"a": ["1", "2"]}),
            "data/test-00000-of-00001-0a1b2c.parquet": as_parquet({"a": ["4"]}),
            "dev.jsonl": '{"a": 1}\n',
            "README.md": "# Read me",
            "dataset_infos.json": "{}",
            "stsb.py": "raise SystemExit",
            ".cache/x.csv": "a\n",
            "_made/y.csv": "a\n",
        },
    )
    files = dict(read_dataset_folder(folder))
    assert list(files) == ["stsb/dev.jsonl", "stsb/data/test.parquet", "stsb/data/train.parquet"]
    assert rows(files["stsb/data/train.parquet"]) == [["1"], ["2"], ["3"]]
    assert files["stsb/dev.jsonl"] == b'{"a": 1}\n'


def test_numbered_files_alone_in_the_folder_of_a_split(tmp_path):
    folder = write(
        tmp_path / "x",
        **{
            "default/train/0001.parquet": as_parquet({"a": ["2"]}),
            "default/train/0000.parquet": as_parquet({"a": ["1"]}),
        },
    )
    [(name, data)] = read_dataset_folder(folder)
    assert (name, rows(data)) == ("x/default/train.parquet", [["1"], ["2"]])


def test_text_shards_are_put_together():
    csv = [("train-00000-of-00002.csv", b"\xef\xbb\xbfa,b\n1,2"), ("train-00001-of-00002.csv", b"a,b\n3,4\n")]  # fmt: skip
    assert join_shards(csv) == [("train.csv", b"a,b\n1,2\n3,4\n")]
    lines = [("t-00000-of-00002.jsonl", b'{"a": 1}'), ("t-00001-of-00002.jsonl", b'{"a": 2}\n\n')]
    assert join_shards(lines) == [("t.jsonl", b'{"a": 1}\n{"a": 2}\n')]
    other = [("t-00000-of-00002.csv", b"a,b\n1,2\n"), ("t-00001-of-00002.csv", b"b,a\n3,4\n")]
    assert join_shards(other) == other
    wide = [(name, "a\n1\n".encode("utf-16")) for name, _ in csv]
    assert join_shards(wide) == wide


def test_a_missing_shard_and_shards_of_different_columns_are_told():
    first = ("train-00000-of-00003.parquet", as_parquet({"a": ["1"]}))
    with pytest.raises(WorkbenchError, match=r"of its 3 parts, number 1 is missing and 1 more"):
        join_shards([first])
    parts = [
        ("train-00000-of-00002.parquet", as_parquet({"a": ["1"]})),
        ("train-00001-of-00002.parquet", as_parquet({"a": [{"b": 1}]})),
    ]
    with pytest.raises(WorkbenchError, match="columns of different kinds"):
        join_shards(parts)


def test_what_is_no_dataset_folder(tmp_path, monkeypatch):
    with pytest.raises(WorkbenchError, match="holds no data files"):
        read_dataset_folder(tmp_path)
    with pytest.raises(WorkbenchError, match="is no folder"):
        read_dataset_folder(tmp_path / "nowhere")
    write(tmp_path, **{f"{place}.csv": "a,b\n" for place in range(5)})
    monkeypatch.setattr(dataset_folders, "_MAX_BYTES", 10)
    with pytest.raises(WorkbenchError, match="too much to be read at once"):
        read_dataset_folder(tmp_path)
    monkeypatch.setattr(dataset_folders, "_MAX_ENTRIES", 3)
    with pytest.raises(WorkbenchError, match="holds more than 3 files"):
        read_dataset_folder(tmp_path)


def test_links_inside_the_cache_of_the_hub_are_followed(tmp_path):
    snapshot = write(tmp_path / "datasets--a--b/snapshots/0a1b")
    blobs = write(tmp_path / "datasets--a--b/blobs", abc="a,b\n1,2\n")
    (snapshot / "train.csv").symlink_to(blobs / "abc")
    assert read_dataset_folder(snapshot) == [("0a1b/train.csv", b"a,b\n1,2\n")]


TEXTS = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"))
WORDS = st.sampled_from(["None", "NA", "nan", "", '"', "a\r\nb"])
TABLE = st.lists(st.lists(TEXTS | WORDS, min_size=2, max_size=2), min_size=1, max_size=5)


@settings(max_examples=25, deadline=None)
@given(shards=st.lists(TABLE, min_size=1, max_size=3))
def test_any_texts_survive(tmp_path_factory, shards):
    folder = tmp_path_factory.mktemp("any") / "saved"
    columns = [
        dict(zip(["s1", "s2"], map(list, zip(*shard, strict=True)), strict=True))
        for shard in shards
    ]
    save_split(folder, *columns)
    [(_, data)] = read_dataset_folder(folder)
    assert rows(data) == [row for shard in shards for row in shard]
    shutil.rmtree(folder)


# The hub


class Hub:
    """A hub of one dataset: its files by branch, and what was asked of it."""

    def __init__(self, tmp_path: Path, branches: dict[str | None, dict[str, bytes]]) -> None:
        self.tmp_path = tmp_path
        self.branches = branches
        self.downloads: list[dict] = []

    def dataset_info(self, name, revision=None, **_):
        files = self.branches[revision].items()
        siblings = [SimpleNamespace(rfilename=path, size=len(data)) for path, data in files]
        return SimpleNamespace(siblings=siblings, sha=f"sha of {revision}")

    def snapshot_download(self, name, *, revision, allow_patterns, local_files_only, **_):
        self.downloads.append({"revision": revision, "patterns": allow_patterns})
        if local_files_only and self.branches:
            raise FileNotFoundError("not in the cache")
        branch = next(one for one in self.branches if f"sha of {one}" == revision)
        files = {path: self.branches[branch][path] for path in allow_patterns}
        return str(write(self.tmp_path / "snapshot", **files))


@pytest.fixture
def hub(tmp_path, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)

    def make(branches) -> Hub:
        made = Hub(tmp_path, branches)
        monkeypatch.setattr(huggingface_hub, "HfApi", lambda: made)
        monkeypatch.setattr(huggingface_hub, "snapshot_download", made.snapshot_download)
        return made

    return make


def test_the_data_files_of_a_dataset_are_downloaded_and_nothing_else(hub):
    files = {
        "data/train-00000-of-00001.parquet": as_parquet(PAIRS),
        "data/test-00000-of-00001.parquet": as_parquet(PAIRS),
        "README.md": b"# Read me",
        "stsb.py": b"raise SystemExit",
        "dataset_infos.json": b"{}",
    }
    made = hub({None: files})
    found = hub_dataset_files("owner/stsb")
    assert [name for name, _ in found] == [
        "owner/stsb/data/test.parquet",
        "owner/stsb/data/train.parquet",
    ]
    assert rows(found[0][1]) == ROWS
    assert made.downloads[0]["revision"] == "sha of None"
    assert made.downloads[0]["patterns"] == sorted(files)[1:3]


def test_a_dataset_that_is_a_script_comes_from_the_conversion(hub):
    made = hub(
        {
            None: {"stsb.py": b"raise SystemExit"},
            "refs/convert/parquet": {"default/train/0000.parquet": as_parquet(PAIRS)},
        }
    )
    [(name, data)] = hub_dataset_files("stsb")
    assert (name, rows(data)) == ("stsb/default/train.parquet", ROWS)
    assert made.downloads[0]["revision"] == "sha of refs/convert/parquet"
    with pytest.raises(WorkbenchError, match="without running its script"):
        hub({"v1": {"stsb.py": b""}}) and hub_dataset_files("stsb", "v1")


def test_one_of_several_configurations_is_named(hub):
    files = {
        f"{name}/train-00000-of-00001.parquet": as_parquet({"a": [name]})
        for name in ("mrpc", "qqp")
    }
    hub({None: files})
    with pytest.raises(WorkbenchError, match=r"several configurations: mrpc, qqp\. Name one"):
        hub_dataset_files("nyu/glue")
    [(name, data)] = hub_dataset_files("nyu/glue/qqp")
    assert (name, rows(data)) == ("nyu/glue/qqp/train.parquet", [["qqp"]])
    with pytest.raises(WorkbenchError, match="no folder 'cola'"):
        hub_dataset_files("nyu/glue/cola")


def test_folders_named_after_splits_are_one_dataset(hub):
    files = {f"{split}/pairs.csv": b"a,b\n1,2\n" for split in ("train", "test")}
    hub({None: files})
    assert len(hub_dataset_files("owner/name")) == 2


@pytest.mark.parametrize("repo", ["", "a b", "../x", "a/../b", "-x", "a--b/c", "a/b\0"])
def test_what_is_no_dataset_name(hub, repo):
    hub({})
    with pytest.raises(WorkbenchError, match="is no dataset of the hub"):
        hub_dataset_files(repo)


def test_too_much_data_is_not_downloaded(hub, monkeypatch):
    monkeypatch.setattr(dataset_hub, "_MAX_BYTES", 3)
    made = hub({None: {"train.csv": b"a,b\n"}})
    with pytest.raises(WorkbenchError, match="more than the"):
        hub_dataset_files("owner/name")
    assert not made.downloads


def test_a_failed_connection_is_told(hub):
    made = hub({})
    made.dataset_info = lambda *_, **__: (_ for _ in ()).throw(OSError("no route to the hub"))
    with pytest.raises(WorkbenchError, match="could not be downloaded: no route to the hub"):
        hub_dataset_files("owner/name")


def test_offline_only_an_earlier_download_is_taken(hub, monkeypatch, tmp_path):
    made = hub({None: {"train.csv": b"a,b\n"}})
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(WorkbenchError, match="offline"):
        hub_dataset_files("owner/name")
    assert made.downloads == [{"revision": None, "patterns": None}]
    earlier = write(tmp_path / "earlier", **{"train.csv": "a,b\n1,2\n"})
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda *_, **__: str(earlier))
    assert hub_dataset_files("owner/name") == [("owner/name/train.csv", b"a,b\n1,2\n")]
