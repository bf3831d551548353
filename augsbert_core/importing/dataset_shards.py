"""Shards of a dataset put together: train-00000-of-00002.parquet and its sister become one file."""

import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from augsbert_core.errors import WorkbenchError
from augsbert_core.importing.arrow_reading import check_size
from augsbert_core.importing.parquet import read_arrow

if TYPE_CHECKING:
    import pyarrow as pa

File = tuple[str, bytes]

_DATA_FILE = re.compile(
    r"\.(parquet|arrow|feather|((jsonl|ndjson|json|csv|tsv)(\.gz)?))$", re.IGNORECASE
)
_ABOUT = re.compile(
    r"(dataset_infos?|dataset_dict|state|config|metadata|package|croissant)\.json", re.IGNORECASE
)

_NUMBERED = re.compile(r"(?P<stem>.*?)[-_.](?P<place>\d{3,5})-of-(?P<count>\d{3,5})(?:-[0-9a-f]+)?")
_PART = re.compile(r"(part-)?\d{4,5}")
_COLUMNAR = (".parquet", ".arrow", ".feather")


def is_data_file(path: str) -> bool:
    """Whether a path names rows: by its ending, hidden files and those that describe the dataset aside."""
    *folders, name = path.split("/")
    is_shown = all(part[:1] not in ("", ".", "_") for part in (*folders, name))
    return is_shown and bool(_DATA_FILE.search(name)) and not _ABOUT.fullmatch(name)


def join_shards(files: Sequence[File]) -> list[File]:
    """Files of one split as one: numbered shards, and numbered files that are alone in their folder.

    The joined file has the name of the split: "data/train-00000-of-00002.parquet" → "data/train.parquet". Shards
    that cannot be put together as they are (compressed, JSON, CSV without a common header) stay files of their own. WorkbenchError: a shard is missing, or shards have different columns.
    """
    groups: dict[str, list[tuple[int, int, File]]] = {}
    for file in files:
        target, place, count = _reading(file[0])
        groups.setdefault(target, []).append((place, count, file))
    joined: list[File] = []
    for target, shards in groups.items():
        shards.sort(key=lambda shard: (shard[0], shard[2][0]))
        _check_complete(target, [place for place, _, _ in shards], max(n for _, n, _ in shards))
        parts = [file for _, _, file in shards]
        joined += [(target, parts[0][1])] if len(parts) == 1 else _join(target, parts)
    return joined


def _reading(name: str) -> tuple[str, int, int]:
    """The file that a shard is part of, its place there, and how many there are (0 when the name does not say)."""
    folder, _, base = name.rpartition("/")
    ending = _DATA_FILE.search(base)
    stem, suffix = (base[: ending.start()], ending[0].lower()) if ending else (base, "")
    if numbered := _NUMBERED.fullmatch(stem):
        target = f"{folder}/{numbered['stem']}{suffix}".lstrip("/")
        return target, int(numbered["place"]), int(numbered["count"])
    if folder and _PART.fullmatch(stem):
        return f"{folder}{suffix}", int(stem.removeprefix("part-")), 0
    return name, 0, 0


def _check_complete(target: str, places: list[int], count: int) -> None:
    missing = sorted(set(range(count)) - set(places))
    if missing:
        raise WorkbenchError(
            f"{target} is incomplete: of its {count} parts, number {missing[0]} is missing"
            f"{f' and {len(missing) - 1} more' if len(missing) > 1 else ''}. Download the dataset again."
        )


def _join(target: str, parts: list[File]) -> list[File]:
    if target.endswith(_COLUMNAR):
        return [(target.rpartition(".")[0] + ".parquet", _join_tables(target, parts))]
    if target.endswith((".jsonl", ".ndjson")):
        texts = [data.removeprefix(b"\xef\xbb\xbf") for _, data in parts]
        if not any(map(_is_wide, texts)):
            return [(target, b"".join(text.rstrip(b"\r\n") + b"\n" for text in texts))]
    if target.endswith((".csv", ".tsv")):
        texts = [data.removeprefix(b"\xef\xbb\xbf") for _, data in parts]
        if not any(map(_is_wide, texts)) and _share_header(texts):
            return [(target, _join_lines(texts))]
    return parts


def _is_wide(data: bytes) -> bool:
    """Whether a text is UTF-16, which cannot be put together byte by byte."""
    return data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data[:4]


def _share_header(texts: list[bytes]) -> bool:
    return len({text.partition(b"\n")[0].rstrip(b"\r") for text in texts}) == 1


def _join_lines(texts: list[bytes]) -> bytes:
    """Texts one after the other; the first line, which all of them share, is their header and stands once."""
    rest = [text.partition(b"\n")[2] for text in texts[1:]]
    ended = [text if text.endswith(b"\n") else text + b"\n" for text in (texts[0], *rest) if text]
    return b"".join(ended)


def _join_tables(target: str, parts: list[File]) -> bytes:
    import pyarrow as pa

    tables = []
    n_rows = n_bytes = 0
    for name, data in parts:
        tables.append(read_arrow(data, name))
        n_rows += tables[-1].num_rows
        n_bytes += tables[-1].nbytes
        check_size(target, n_rows, tables[-1].num_columns, n_bytes)
    try:
        return parquet_bytes(pa.concat_tables(tables, promote_options="permissive"))
    except pa.ArrowException as error:
        why = " ".join(str(error).split())[:150]
        raise WorkbenchError(
            f"The parts of {target} have columns of different kinds and cannot be put together: {why}."
        ) from None


def parquet_bytes(table: "pa.Table") -> bytes:
    """A table as the content of a Parquet file."""
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()
