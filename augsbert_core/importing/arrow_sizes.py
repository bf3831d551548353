"""How many bytes the values of Arrow arrays take when each is written out.

An array can hold a text once and name it a million times; made into texts of cells, it would fill the memory.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

_VALUE_BYTES = 32
"""What a number or a list takes in memory, roughly."""


def written_bytes(column: "pa.ChunkedArray", counts: np.ndarray | None = None) -> int:
    """About how many bytes the values of a column take. counts: how often each is written, once when None.

    ValueError: its kind is one that no program saves tables in (run-end encoded, union, list view).
    """
    if counts is None:
        counts = np.ones(len(column), dtype=np.int64)
    total, start = 0, 0
    for chunk in column.chunks:
        total += _bytes_of(chunk, counts[start : start + len(chunk)])
        start += len(chunk)
    return total


def _bytes_of(array: "pa.Array", counts: np.ndarray) -> int:
    import pyarrow as pa

    is_a, kind = pa.types, array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _bytes_of(array.storage, counts)
    own = _VALUE_BYTES * int(counts.sum())
    if _is_text(kind):
        return own + int(_lengths(array) @ counts)
    if is_a.is_dictionary(kind):
        places = array.indices.fill_null(0).to_numpy(zero_copy_only=False)
        if not len(array.dictionary):
            return own
        used = np.bincount(places.astype(np.int64), weights=counts, minlength=len(array.dictionary))
        return own + _bytes_of(array.dictionary, used.astype(np.int64))
    if is_a.is_struct(kind):
        return own + sum(_bytes_of(array.field(place), counts) for place in range(kind.num_fields))
    if is_a.is_fixed_size_list(kind):
        first = array.offset * kind.list_size
        inner = array.values[first : first + len(array) * kind.list_size]
        return own + _bytes_of(inner, np.repeat(counts, kind.list_size))
    if is_a.is_list(kind) or is_a.is_large_list(kind) or is_a.is_map(kind):
        return own + _bytes_in_lists(array, counts)
    if is_a.is_nested(kind) or is_a.is_run_end_encoded(kind):
        raise ValueError(f"values of the kind {kind} are not read")
    return own


def _bytes_in_lists(array: Any, counts: np.ndarray) -> int:
    import pyarrow as pa

    offsets = array.offsets.to_numpy()[: len(array) + 1]
    first, last = int(offsets[0]), int(offsets[-1])
    repeated = np.repeat(counts, np.diff(offsets))
    parts = [array.keys, array.items] if pa.types.is_map(array.type) else [array.values]
    return sum(_bytes_of(part[first:last], repeated) for part in parts)


def _is_text(kind: "pa.DataType") -> bool:
    import pyarrow as pa

    is_a = pa.types
    return any(
        test(kind)
        for test in (
            is_a.is_string,
            is_a.is_large_string,
            is_a.is_string_view,
            is_a.is_binary,
            is_a.is_large_binary,
            is_a.is_binary_view,
            is_a.is_fixed_size_binary,
        )
    )


def _lengths(array: "pa.Array") -> np.ndarray:
    """The length in bytes of each text; 0 where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    if pa.types.is_fixed_size_binary(kind):
        return np.full(len(array), kind.byte_width, dtype=np.int64)
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        # A view of 16 bytes begins with the length.
        views = array.buffers()[1]
        if views is None:
            return np.zeros(len(array), dtype=np.int64)
        every = np.frombuffer(views, dtype=np.int32)[::4]
        return every[array.offset : array.offset + len(array)].astype(np.int64)
    return pc.binary_length(array).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
