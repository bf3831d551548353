"""Folders of data files: datasets saved by Hugging Face `datasets`, and folders laid out as on their hub.

Only data is read; scripts in such a folder are never run.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.arrow_reading import check_size
from augsbert_core.importing.arrow_sizes import written_bytes
from augsbert_core.importing.dataset_shards import File, is_data_file, join_shards, parquet_bytes
from augsbert_core.importing.file_names import shorten, shown_name
from augsbert_core.importing.parquet import read_arrow

if TYPE_CHECKING:
    import pyarrow as pa

_SPLITS, _STATE, _INFO = "dataset_dict.json", "state.json", "dataset_info.json"
_MAX_DEPTH = 4
_MAX_ENTRIES = 20_000
_MAX_BYTES = 4 * 1024**3


def read_dataset_folder(path: Path) -> list[File]:
    """(name, content) of each split of a folder, its shards put together.

    A dataset saved with `save_to_disk` gives Parquet for each split, named "folder/train.parquet". Any other folder
    gives its Parquet, Arrow, JSON, JSON Lines, CSV and TSV files by name. WorkbenchError: no data files, files that
    are missing, damaged or outside the folder, or more than can be read at once.
    """
    try:
        if not path.is_dir():
            raise WorkbenchError(f"{path} is no folder. Give the folder that holds the dataset.")
        return _read_folder(path)
    except WorkbenchError as error:
        raise WorkbenchError(shown_name(str(error))) from None
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise WorkbenchError(
            f"{shorten(str(path))} cannot be read: {why} ({shorten(str(error.filename or path))}). "
            "Check the names and permissions of its files."
        ) from None


def _read_folder(path: Path) -> list[File]:
    root, name = _boundary(path), path.absolute().name
    if (path / _SPLITS).is_file():
        splits = _read_json(path / _SPLITS).get("splits")
        if not _are_names(splits) or not splits:
            raise WorkbenchError(
                f"{path / _SPLITS} names no splits: {shorten(repr(splits))}. Save the dataset again."
            )
        folders = [(split, _inside(path, split, root)) for split in splits]
        tables = [(split, _saved_split(folder, root)) for split, folder in folders]
        # An empty split is no reason to refuse the others.
        full = [one for one in tables if one[1].num_rows] or tables
        return [(f"{name}/{split}.parquet", parquet_bytes(table)) for split, table in full]
    if _is_saved(path):
        split = _read_json(path / _STATE).get("_split")
        split = split if isinstance(split, str) and re.fullmatch(r"[\w.-]+", split) else "data"
        return [(f"{name}/{split}.parquet", parquet_bytes(_saved_split(path, root)))]
    return join_shards(_read_files(path, root))


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) and one for one in value)


def _is_saved(path: Path) -> bool:
    return (path / _SPLITS).is_file() or (path / _STATE).is_file()


def _boundary(path: Path) -> Path:
    """The real folder that files may come from.

    The cache of the hub keeps a repository's files beside its snapshots, and the snapshots link to them.
    """
    real = path.resolve()
    for folder in real.parents:
        if folder.name == "snapshots" and (folder.parent / "blobs").is_dir():
            return folder.parent
    return real


def _inside(folder: Path, name: str, root: Path) -> Path:
    """The path of a file that a dataset names; WorkbenchError when it leaves the dataset."""
    path = folder / name
    try:
        is_inside = "\0" not in name and path.resolve().is_relative_to(root)
    except (OSError, RuntimeError):  # a link that points at itself
        is_inside = False
    if not is_inside:
        raise WorkbenchError(
            f"The dataset in {folder} names a file outside of its folder ({shorten(name)!r}), so it was not read. "
            "Save the dataset again, without links."
        )
    return path


def _read_json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        why = " ".join(str(error).split())[:150]
        raise WorkbenchError(f"{path} cannot be read: {why}. Save the dataset again.") from None
    if not isinstance(found, dict):
        raise WorkbenchError(f"{path} is no JSON object. Save the dataset again.")
    return found


def _saved_split(folder: Path, root: Path) -> "pa.Table":
    """The rows of one saved split, in the order that its indices say."""
    import pyarrow as pa

    state = _read_json(_inside(folder, _STATE, root))
    shards = _read_arrow_files(folder, state.get("_data_files"), root)
    if not shards:
        raise WorkbenchError(
            f"{folder / _STATE} names no data files, so the split has no rows. Save the dataset again."
        )
    try:
        table = pa.concat_tables(shards)
        indices = state.get("_indices_files") or state.get("_indices_data_files")
        if mapping := _read_arrow_files(folder, indices, root):
            table = _take(table, pa.concat_tables(mapping), folder)
        return _with_features(table, folder, root)
    except (pa.ArrowException, IndexError) as error:
        why = " ".join(str(error).split())[:150]
        raise WorkbenchError(
            f"The dataset in {folder} is damaged: {why}. Save or download it again."
        ) from None


def _read_arrow_files(folder: Path, files: Any, root: Path) -> "list[pa.Table]":
    """The Arrow files of a list [{"filename": …}], as the state of a dataset names them."""
    files = [] if files is None else files
    is_list = isinstance(files, list) and all(isinstance(file, dict) for file in files)
    names = [file.get("filename") for file in files] if is_list else None
    if not _are_names(names):
        raise WorkbenchError(
            f"{folder / _STATE} does not name its data files: {shorten(repr(files))}. Save the dataset again."
        )
    tables = []
    n_bytes = n_unpacked = 0
    for name in names or []:
        path = _inside(folder, name, root)
        if not path.is_file():
            raise WorkbenchError(f"{path} is missing. Save or download the dataset again.")
        n_bytes += path.stat().st_size
        _check_size(folder, n_bytes)
        tables.append(read_arrow(path.read_bytes(), str(path)))
        n_unpacked += tables[-1].nbytes
        _check_size(folder, n_unpacked)
    return tables


def _take(table: "pa.Table", mapping: "pa.Table", folder: Path) -> "pa.Table":
    if mapping.num_columns != 1:
        raise IndexError("its indices are no single column")
    places = mapping.column(0).to_numpy()
    if not np.issubdtype(places.dtype, np.integer):
        raise IndexError("its indices are no whole numbers")
    if len(places) and not 0 <= int(places.min()) <= int(places.max()) < table.num_rows:
        raise IndexError("its indices are beyond its rows")
    # A row can be named a million times.
    counts = np.bincount(places.astype(np.int64), minlength=table.num_rows)
    try:
        n_bytes = sum(written_bytes(column, counts) for column in table.columns)
    except ValueError as error:
        raise IndexError(str(error)) from None
    check_size(str(folder), len(places), table.num_columns, n_bytes)
    return table.take(mapping.column(0))


def _with_features(table: "pa.Table", folder: Path, root: Path) -> "pa.Table":
    """The table with the dataset's features (class names among them) in its schema."""
    metadata = dict(table.schema.metadata or {})
    if b"huggingface" in metadata or not (folder / _INFO).is_file():
        return table
    features = _read_json(_inside(folder, _INFO, root)).get("features")
    metadata[b"huggingface"] = json.dumps({"info": {"features": features}}).encode()
    return table.replace_schema_metadata(metadata)


def _check_size(folder: Path, n_bytes: int) -> None:
    if n_bytes > _MAX_BYTES:
        raise WorkbenchError(
            f"{folder} holds more than {_MAX_BYTES / 1024**3:.0f} GB of data, too much to be read at once. "
            "Give a folder of the files that are needed."
        )


def _data_files(path: Path) -> Iterator[Path]:
    """Data files below a folder, those that describe the dataset and hidden ones aside."""
    n_entries = 0
    for folder, folders, files in os.walk(path):
        depth = len(Path(folder).relative_to(path).parts)
        folders[:] = sorted(name for name in folders if name[0] not in "._" and depth < _MAX_DEPTH)
        n_entries += len(files) + len(folders)
        if n_entries > _MAX_ENTRIES:
            raise WorkbenchError(
                f"{path} holds more than {_MAX_ENTRIES:,} files. Give the folder of one dataset."
            )
        for name in sorted(files):
            if is_data_file(name):
                yield Path(folder) / name


def _read_files(path: Path, root: Path) -> list[File]:
    files = []
    n_bytes = 0
    for found in _data_files(path):
        relative = found.relative_to(path).as_posix()
        inside = _inside(path, relative, root)
        if not inside.is_file():
            raise WorkbenchError(f"{found} is missing or no file. Save or download it again.")
        n_bytes += inside.stat().st_size
        _check_size(path, n_bytes)
        files.append((f"{path.absolute().name}/{relative}", inside.read_bytes()))
    if not files:
        raise WorkbenchError(
            f"{path} holds no data files. Give a folder of Parquet, Arrow, JSON, JSON Lines, CSV or TSV files, or one "
            "that `save_to_disk` made."
        )
    return files
